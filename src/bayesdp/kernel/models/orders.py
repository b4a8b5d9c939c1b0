"""Chains of order k, exact: their rows, tuple kernels, start, windows and cross ratios."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import product

from bayesdp.kernel.arithmetic import InvalidError, law, watched
from bayesdp.kernel.models.chains import stationary
from bayesdp.statements.chains import STATIONARY, MarkovChain, MarkovIntervals
from bayesdp.statements.tables import cells
from bayesdp.statements.tables import rows as rows_below

ExactRows = Sequence[Sequence[Fraction]]
Windows = dict[tuple[int, ...], Fraction]


def exact_rows(chain: MarkovChain) -> list[list[Fraction]]:
    """The rows of its table, one for each tuple of older records, exact."""
    return [law(row, "transition") for row in rows_below(chain.transition, chain.order)]


def interval_rows(chain: MarkovIntervals) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """The lower and the upper bounds of its rows, exact and narrowed."""
    low, high = (
        [[Fraction(entry) for entry in row] for row in rows_below(end, chain.order)]
        for end in (chain.transition_lower, chain.transition_upper)
    )
    return _tightened(low, high)


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


def tuple_kernel(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The chain of order 1 on tuples."""
    count, states = len(rows), len(rows[0])
    kernel = [[Fraction(0)] * count for _ in range(count)]
    for here, row in enumerate(rows):
        for new, weight in enumerate(row):
            kernel[here][(here * states + new) % count] = weight
    return kernel


def first_law(chain: MarkovChain, rows: list[list[Fraction]]) -> list[Fraction]:
    """The law of the first k records."""
    if chain.initial == STATIONARY:
        return stationary(tuple_kernel(rows))
    return law(list(cells(chain.initial)), "initial")


def windows(
    rows: ExactRows, order: int, length: int, start: Sequence[Fraction] | None = None
) -> Windows:
    """The weight of every run of `length` values, in order: the product of its transitions.

    Times the weight of its first `order` values, where `start` has the law of those.
    """
    states = len(rows[0])
    weights = {}
    for values in product(range(states), repeat=length):
        watched()
        index = 0
        for value in values[:order]:
            index = index * states + value
        weight = Fraction(1) if start is None else start[index]
        for new in values[order:]:
            weight *= rows[index][new]
            index = (index * states + new) % len(rows)
        weights[values] = weight
    return weights


def blocks(rows: ExactRows, order: int) -> list[list[Fraction]]:
    """The kernel from k-tuples to the next k records: products of k transitions."""
    count = len(rows)
    weights = list(windows(rows, order, 2 * order).values())
    return [weights[first : first + count] for first in range(0, count**2, count)]


def window_ratio(weights: Windows, place: int, others: Collection[int]) -> Fraction:
    """The largest cross ratio of the record at `place` with `others`, given all that remain."""
    tables: dict[tuple[int, ...], dict[int, list[Fraction]]] = {}
    for values, weight in weights.items():
        given = tuple(v for i, v in enumerate(values) if i != place and i not in others)
        tables.setdefault(given, {}).setdefault(values[place], []).append(weight)
    lines = [list(table.values()) for table in tables.values()]
    return max(cross_ratio(line, line) for line in lines)


def cross_ratio(low: ExactRows, high: ExactRows) -> Fraction:
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
                worst = max(worst, _largest_product(ups, downs))
    return worst


def _largest_product(ups: list[Fraction], downs: list[Fraction]) -> Fraction:
    """The largest product of an entry of each list, at different places.

    The two largest entries of each list are tried.
    """
    places = range(len(ups))
    first = sorted(places, key=lambda i: ups[i], reverse=True)[:2]
    second = sorted(places, key=lambda i: downs[i], reverse=True)[:2]
    return max(ups[i] * downs[j] for i in first for j in second if i != j)
