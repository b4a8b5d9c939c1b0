"""Vector records: what all records together move, column by column (theory 3.8 f)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import UnknownError, ball, largest, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import Triangle, conditionals, shifted, symmetric, triangle
from bayesdp.statements.gaussian import GaussianVectors

MOST_RECORDS = 10
"""Certificates of larger clusters are UNKNOWN: all sets of known records are enumerated."""


def bound(conversion: Conversion) -> arb:
    """The largest `sum_e eps_e (1 + sum_j min(movement_j / M_e, 1))` over adversaries."""
    population = conversion.declared(GaussianVectors, "the records are not vectors")
    columns, size = population.columns, population.size
    require(
        all(spent.name in columns for spent in conversion.cost.columns),
        "a cost is of a column that the population does not have",
    )
    rows = symmetric(population.covariance)
    if size > MOST_RECORDS:
        raise UnknownError(f"more than {MOST_RECORDS} records are not enumerated")
    widths = [ball(Fraction(high) - Fraction(low)) for low, high in population.bounds]
    slack = conversion.cost.slack + sum(spent.slack for spent in conversion.cost.columns)
    rest = ball((size - 1) * slack + size * conversion.cost.any)
    if conversion.alpha is not None:
        rest += ball(conversion.alpha * size**2 * conversion.cost.rho_any)
    reads = [
        (columns.index(spent.name), ball(spent.width), spent) for spent in conversion.cost.columns
    ]
    matrix = triangle(rows)

    best = arb(0)
    for conditional in conditionals(matrix, len(columns)):
        for moved in _movements(conditional, widths):
            total = arb(0)
            for column, width, spent in reads:
                units = _units(moved, column, width)
                total += ball(spent.pure) * units
                total += _zcdp(conversion, units, (spent.rho, spent.rho_slack), size)
            if conversion.cost.lipschitz + conversion.cost.rho_lipschitz > 0:
                each = [_units(moved, c, width) for c, width in enumerate(widths)]
                worst = largest(each)
                rhos = (conversion.cost.rho_lipschitz, conversion.cost.rho_slack)
                total += ball(conversion.cost.lipschitz) * worst
                total += _zcdp(conversion, worst, rhos, size)
            best = best.max(total)
    if size == 1:  # nobody else moves, and `conditionals` has nothing to say
        return ball(conversion.of_group(1))
    return best + rest


def _zcdp(conversion: Conversion, units: arb, rhos: tuple[Fraction, Fraction], size: int) -> arb:
    """`alpha` times what a zCDP cost becomes where all records move; nothing at a pure level."""
    if conversion.alpha is None:
        return arb(0)
    return ball(conversion.alpha) * shifted(units, rhos[0], size - 1, rhos[1])


def _units(moved: Sequence[Sequence[arb]], column: int, width: arb) -> arb:
    """`1 + sum_j min(movement_j / width, 1)`."""
    return sum(((record[column] / width).min(arb(1)) for record in moved), arb(1))


def _movements(matrix: Triangle, widths: list[arb]) -> Iterator[list[list[arb]]]:
    """For each target, how far each column of each unknown record moves at most.

    The regression on the target's columns is `V_jt V_tt^-1`, `V` the conditional covariance.
    """
    width = len(widths)
    places = range(width)

    def entry(i: int, j: int) -> arb:
        return matrix[i][j] if j <= i else matrix[j][i]

    for target in range(0, len(matrix), width):
        inverse = arb_mat([[entry(target + i, target + j) for j in places] for i in places]).inv()
        moved = []
        for other in range(0, len(matrix), width):
            if other != target:
                block = [[entry(other + i, target + j) for j in places] for i in places]
                slopes = arb_mat(block) * inverse
                moved.append(
                    [sum((abs(slopes[i, j]) * widths[j] for j in places), arb(0)) for i in places]
                )
        yield moved
