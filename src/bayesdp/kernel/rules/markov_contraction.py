"""Chains: `4 asinh( sqrt(R) sinh(k eps / 4) )`, `R` the largest cross ratio (theory 3.6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, ball, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.orders import exact_rows
from bayesdp.statements.chains import MarkovChain, MarkovIntervals
from bayesdp.statements.tables import rows as rows_below

Rows = Sequence[Sequence[Fraction]]


def bound(conversion: Conversion) -> arb:
    """`R` of the rows, of the chain on blocks of k records, or between interval bounds."""
    require(conversion.alpha is None, "it is no bound on a divergence")
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


def blocks(rows: Rows, order: int) -> list[list[Fraction]]:
    """The kernel from k-tuples to the next k records: products of k transitions."""
    states, count = len(rows[0]), len(rows)
    found = []
    for here in range(count):
        line = []
        for block in product(range(states), repeat=order):
            watched()
            weight, current = Fraction(1), here
            for new in block:
                weight *= rows[current][new]
                current = (current * states + new) % count
            line.append(weight)
        found.append(line)
    return found


def cross_ratio(low: Rows, high: Rows) -> Fraction:
    """The largest cross ratio of two rows; columns that are 0 in both carry no evidence."""
    worst = Fraction(1)
    for first in range(len(low)):
        for second in range(len(low)):
            if first == second:
                continue
            watched()
            ups, downs = [], []
            for column in range(len(low[0])):
                watched()
                if high[first][column] == 0 and high[second][column] == 0:
                    continue
                if low[first][column] == 0 or low[second][column] == 0:
                    raise InvalidError("a zero that is not in all rows: R is infinite")
                ups.append(high[first][column] / low[second][column])
                downs.append(high[second][column] / low[first][column])
            if len(ups) > 1:
                worst = max(worst, _apart(ups, downs))
    return worst


def _apart(ups: list[Fraction], downs: list[Fraction]) -> Fraction:
    """The largest product of two entries at different places: one of two best pairs."""
    places = range(len(ups))
    first = sorted(places, key=lambda i: ups[i], reverse=True)[:2]
    second = sorted(places, key=lambda i: downs[i], reverse=True)[:2]
    return max(ups[i] * downs[j] for i in first for j in second if i != j)


def _tightened(low: Rows, high: Rows) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
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
