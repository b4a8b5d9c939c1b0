"""Chains: `4 asinh( sqrt(R) sinh(k eps / 4) )`, `R` the largest cross ratio (theory 3.6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.orders import ExactRows, blocks, cross_ratio, exact_rows
from bayesdp.statements.chains import MarkovChain, MarkovIntervals
from bayesdp.statements.tables import rows as rows_below


def bound(conversion: Conversion) -> arb:
    """`R` of the rows, of the chain on blocks of k records, or between interval bounds."""
    ratio, order = largest_ratio(conversion.population)
    quarter = ball(Fraction(order) * conversion.total / 4)
    return 4 * (ball(ratio).sqrt() * quarter.sinh()).asinh()


def largest_ratio(population: Any) -> tuple[Fraction, int]:
    """`R`, and how many records a block has."""
    if isinstance(population, MarkovChain):
        low = high = blocks(exact_rows(population), population.order)
    else:
        require(isinstance(population, MarkovIntervals), "the population is not a Markov chain")
        ends = (population.transition_lower, population.transition_upper)
        exact = [
            [[Fraction(entry) for entry in row] for row in rows_below(end, population.order)]
            for end in ends
        ]
        low, high = (blocks(rows, population.order) for rows in _tightened(*exact))
    return cross_ratio(low, high), population.order


def _tightened(
    low: ExactRows, high: ExactRows
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Bounds, narrowed by what the row's other entries leave.

    Where no row between them sums to 1 exactly, but only nearly, they stay as they are.
    """
    lower, upper = [], []
    for first, second in zip(low, high, strict=True):
        if not sum(first) <= 1 <= sum(second):
            lower.append(list(first))
            upper.append(list(second))
            continue
        lower.append([max(a, 1 - (sum(second) - b)) for a, b in zip(first, second, strict=True)])
        upper.append([min(b, 1 - (sum(first) - a)) for a, b in zip(first, second, strict=True)])
    return lower, upper
