"""The factors of a graph in exact numbers: merged, and with possible values only.

Which settings of a factor are as likely as others decides about thresholds (theory 3.7c), so
weights are fractions here: what a double is, and of a law its share of the row's exact sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Ints
from bayesdp.populations.factors import FactorGraph, component_sizes

Weights = NDArray[Any]
"""A table of fractions, one axis for each member."""


@dataclass(frozen=True, eq=False)
class MergedFactors:
    """Factors by their members, which are in order and have two or more possible values each.

    `values` has how many each record has; `components` how many records are tied to it, itself
    included. Equal tables are one object. Factors are in the order of their members.
    """

    values: list[int]
    factors: dict[tuple[int, ...], Weights]
    components: Ints


def merged_factors(graph: FactorGraph, laws: bool, most_cells: int) -> MergedFactors | str:
    """The merged factors of a graph of at most so many cells; in words why it has none.

    With `laws` the rows of every table are laws, which are rescaled exactly.
    """
    cells = sum(group.count * int(group.tables[0].size) for group in graph.groups if group.count)
    if cells > most_cells:
        return f"its factors have more than {most_cells:,} weights"
    same = _Same()
    values: list[int] = graph.states.tolist()
    factors, merged = list(_exact(graph, laws, same)), None
    while True:
        left = _possible(factors, values)
        if not all(left):
            return "the factors leave a record no value"
        fewer = [len(rest) < count for rest, count in zip(left, values, strict=True)]
        if merged is not None and not any(fewer):
            return MergedFactors(values, merged, _components(len(values), merged))
        # What is impossible goes first: then a factor of a known record is one of fewer members.
        for place, (members, table) in enumerate(factors):
            if any(fewer[record] for record in members):
                rows = np.ix_(*(left[record] for record in members))
                factors[place] = members, same.of(table[rows])
        values = [len(rest) for rest in left]
        merged = _merged(factors, values, same)
        factors = list(merged.items())


class _Same:
    """Equal tables are made one object, so that what is worked out from them is so once."""

    def __init__(self) -> None:
        self._made: dict[Any, Weights] = {}

    def of(self, table: Weights) -> Weights:
        """The first table that was equal to this one."""
        return self._made.setdefault((table.shape, tuple(table.ravel().tolist())), table)


def _exact(
    graph: FactorGraph, laws: bool, same: _Same
) -> Iterable[tuple[tuple[int, ...], Weights]]:
    """All factors, each table as fractions."""
    first_equal: dict[bytes, Weights] = {}
    for group in graph.groups:
        shared = len(group.tables) < group.count
        for number, members in enumerate(group.members.tolist()):
            plain = np.ascontiguousarray(group.tables[0 if shared else number])
            key = repr(plain.shape).encode() + plain.tobytes()
            if key not in first_equal:
                flat = [Fraction(weight) for weight in plain.ravel().tolist()]
                exact = np.array(flat, dtype=object).reshape(plain.shape)
                first_equal[key] = same.of(
                    exact / exact.sum(axis=-1, keepdims=True) if laws else exact
                )
            yield tuple(members), first_equal[key]


def _merged(
    factors: list[tuple[tuple[int, ...], Weights]], values: list[int], same: _Same
) -> dict[tuple[int, ...], Weights]:
    """One factor for each set of members, those with one value left out; sorted by members."""
    products: dict[tuple[int, ...], Weights] = {}
    turned: dict[tuple[int, tuple[int, ...]], Weights] = {}
    for members, table in factors:
        free = [place for place, record in enumerate(members) if values[record] > 1]
        free.sort(key=lambda place: members[place])
        if free:
            rest = [place for place in range(len(members)) if place not in free]
            tie = tuple(members[place] for place in free)
            key = id(table), tuple(free)
            if key not in turned:
                shape = [table.shape[place] for place in free]
                turned[key] = same.of(table.transpose(free + rest).reshape(shape))
            factor = turned[key]
            products[tie] = same.of(products[tie] * factor) if tie in products else factor
    return _into_larger(products, same)


def _into_larger(
    products: dict[tuple[int, ...], Weights], same: _Same
) -> dict[tuple[int, ...], Weights]:
    """Each factor of two or more members multiplied into the first that has these and others."""
    first: dict[tuple[int, ...], tuple[int, ...]] = {}
    for tie in sorted(products):
        for size in range(2, len(tie)):
            for smaller in combinations(tie, size):
                if smaller in products:
                    first.setdefault(smaller, tie)
    for smaller in sorted(first, key=len):
        tie, table = first[smaller], products.pop(smaller)
        shape = [products[tie].shape[p] if r in smaller else 1 for p, r in enumerate(tie)]
        products[tie] = same.of(products[tie] * table.reshape(shape))
    return dict(sorted(products.items()))


def _different(factors: list[tuple[tuple[int, ...], Weights]]) -> Iterable[Weights]:
    """Each table once."""
    return {id(table): table for _, table in factors}.values()


def _possible(factors: list[tuple[tuple[int, ...], Weights]], values: list[int]) -> list[list[int]]:
    """The values of each record that no factor excludes, round by round."""
    allowed = [np.ones(count, dtype=bool) for count in values]
    positive = {id(table): np.asarray(table > 0, dtype=bool) for table in _different(factors)}
    zeros = {key for key, cells in positive.items() if not cells.all()}
    live = [(tie, positive[id(table)].copy()) for tie, table in factors if id(table) in zeros]
    changed = True
    while changed:
        changed = False
        for tie, cells in live:
            for place, record in enumerate(tie):
                cells &= allowed[record].reshape([-1 if p == place else 1 for p in range(len(tie))])
            for place, record in enumerate(tie):
                others = tuple(p for p in range(len(tie)) if p != place)
                rest = np.asarray(cells.any(axis=others))
                changed = changed or not rest[allowed[record]].all()
                allowed[record] &= rest
    return [np.nonzero(rest)[0].tolist() for rest in allowed]


def _components(records: int, factors: Iterable[tuple[int, ...]]) -> Ints:
    """For each record how many records it is tied to, directly or through others, with itself."""
    links = [(tie[0], other) for tie in factors for other in tie[1:]]
    first, second = np.array(links, dtype=np.int64).reshape(-1, 2).T
    return component_sizes(records, first, second)
