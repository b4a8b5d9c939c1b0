"""What the rules for Gaussian populations share: reading the declaration, and the level."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball, exact, require, whole
from bayesdp.kernel.core import Conversion

Triangle = list[list[arb]]
"""The entries of a symmetric matrix on and below its diagonal."""

ASYMMETRY = Fraction(1, 10**9)


def level(conversion: Conversion, factor: arb, size: int) -> arb:
    """`factor * lipschitz + (m - 1) * slack + m * any` (theory 3.8, 6); with zCDP costs, 3.8 e."""
    require(not conversion.columns, "costs by column are for vector records")
    moved = factor * ball(conversion.lipschitz)
    pure = moved + ball((size - 1) * conversion.slack + size * conversion.any)
    if conversion.alpha is None:
        return pure
    rho = shifted(factor, conversion.rho_lipschitz, (size - 1), conversion.rho_slack)
    return pure + ball(conversion.alpha) * (rho + ball(size**2 * conversion.rho_any))


def shifted(factor: arb, rho: Fraction, others: int, slack: Fraction) -> arb:
    """`(factor sqrt(rho) + others sqrt(slack))^2`: zCDP grows with the square of a shift."""
    return (factor * ball(rho).sqrt() + others * ball(slack).sqrt()) ** 2


def declared(conversion: Conversion) -> tuple[str, Any]:
    """Which of `covariance`, `precision`, `max_correlation` declares numbers, and its content."""
    population = conversion.population
    require(population.get("model") == "gaussian", "the population is not Gaussian")
    require("columns" not in population and "bounds" not in population, "records are vectors")
    forms = [k for k in ("covariance", "precision", "max_correlation") if k in population]
    require(len(forms) == 1, "not exactly one of covariance, precision and max_correlation")
    require(("size" in population) == (forms[0] == "max_correlation"), "size is out of place")
    return forms[0], population[forms[0]]


def symmetric(matrix: Any) -> list[list[Fraction]]:
    """A nested array as exact fractions: the mean of it and its transpose, which must be close."""
    if not isinstance(matrix, list):
        raise UnknownError("the matrix is in a file that the kernel does not read")
    require(len(matrix) > 0 and all(len(row) == len(matrix) for row in matrix), "it is not square")
    rows = [[exact(entry, "matrix") for entry in row] for row in matrix]
    places = range(len(rows))
    require(all(rows[i][i] > 0 for i in places), "a diagonal entry is not above 0")
    for i in places:
        for j in range(i):
            off = rows[i][j] - rows[j][i]
            if off:
                allowed = ASYMMETRY**2 * rows[i][i] * rows[j][j]
                require(off * off <= allowed, "the matrix is not symmetric")
                rows[i][j] = rows[j][i] = (rows[i][j] + rows[j][i]) / 2
    return rows


def group(conversion: Conversion) -> tuple[int, Fraction, arb]:
    """`m`, the largest |correlation| `rho`, and by how much standard deviations differ at most."""
    form, content = declared(conversion)
    require(form != "precision", "the precision is declared, not the correlations")
    if form == "max_correlation":
        rho = exact(content, "max_correlation")
        require(0 <= rho < 1, "no such correlation")
        return whole(conversion.population["size"], "size", 1), rho, arb(1)
    rows = symmetric(content)
    lower_triangle_positive([[ball(rows[i][j]) for j in range(i + 1)] for i in range(len(rows))])
    variances = [rows[i][i] for i in range(len(rows))]
    spread = max(variances) / min(variances)
    require(spread <= 1 + Fraction(1, 10**11), "the variances differ: the bound is false then")
    off = [abs(rows[i][j]) for i in range(len(rows)) for j in range(i)]
    rho = max(off, default=Fraction(0)) / min(variances)
    return len(rows), rho, ball(spread).sqrt() if spread > 1 else arb(1)


def lower_triangle_positive(matrix: Triangle) -> None:
    """`InvalidError` unless the matrix is positive definite: all pivots are above 0."""
    while matrix:
        matrix = conditioned(matrix, len(matrix) - 1)


def conditioned(matrix: Triangle, known: int) -> Triangle:
    """The covariance of the other numbers, given the one at place `known`."""
    pivot = matrix[known][known]
    require(bool(pivot > 0), "the matrix is not positive definite")
    column = [*matrix[known][:known], *(row[known] for row in matrix[known + 1 :])]
    slopes = [entry / pivot for entry in column]
    rest = [*matrix[:known], *(row[:known] + row[known + 1 :] for row in matrix[known + 1 :])]
    return [
        [entry - one * slope for entry, slope in zip(row, slopes, strict=False)]
        for row, one in zip(rest, column, strict=True)
    ]


def conditionals(matrix: Triangle, width: int = 1) -> Iterator[Triangle]:
    """The conditional covariance of every set of two or more records, given all others.

    A record is `width` rows. Proves on the way that the matrix is positive definite.
    """
    lower_triangle_positive(matrix)
    stack = [(matrix, 0)]
    while stack:
        here, kept = stack.pop()
        if len(here) < 2 * width:
            continue
        if kept == len(here):
            yield here
            continue
        stack.append((here, kept + width))
        for _ in range(width):
            here = conditioned(here, kept)
        stack.append((here, kept))
