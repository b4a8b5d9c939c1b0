"""Whether the records of a population are mutually independent, where its declaration decides it.

Where several laws meet a declaration, independence has to hold under all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    MarkovChain,
    Network,
    Population,
    Tree,
    Unknown,
)
from bayesdp.populations.factors import FactorGraph, live_cells
from bayesdp.populations.joint import component_labels
from bayesdp.theorems.relations.supports import ROUNDING, Past, Series, series

Tables = dict[tuple[int, ...], Fraction]

MOST_CELLS = 2**12
"""The largest law, in cells, that is compared with a product."""

MOST_TUPLES = 64
"""The most tuples for which a stationary law is solved."""

MOST_RECORDS = 12
"""The most records of a part whose joint law is multiplied out."""

MOST_LOOKED_AT = 10**6
"""The most factors that are searched, in all, for those that link two records."""

CLOSE = Fraction(1, 10**9)
"""Numbers that differ by a larger share are different; nearer ones that are not equal decide
nothing."""


def independent(population: Population) -> bool | None:
    """Whether all records are mutually independent; `None` where that is not decided."""
    if population.group_size == 1:
        return True
    if isinstance(population, Family):
        return of_all(independent(member) for member in population.members)
    if isinstance(population, Clusters | Unknown):
        return False
    if isinstance(population, Finite):
        joint = population.array
        if joint.size > MOST_CELLS:
            return None
        return product_law({cell: Fraction(float(joint[cell])) for cell in np.ndindex(joint.shape)})
    if isinstance(population, Autoregressive):
        return population.coefficient == 0.0
    if isinstance(population, Gaussian):
        return _gaussian(population)
    if isinstance(population, MarkovChain):
        return _chain(series(population))
    if isinstance(population, Tree | Network):
        return _directed(population)
    return _graph(population.factor_graph) if isinstance(population, Graph) else None


def of_all(answers: Iterable[bool | None]) -> bool | None:
    """The answer for a family: `False` if any member's answer is."""
    listed = list(answers)
    if all(listed):
        return True
    return False if any(answer is False for answer in listed) else None


def product_law(weights: Tables) -> bool | None:
    """Whether the margins multiply to the cells; `None` where they do only up to rounding."""
    total = sum(weights.values(), Fraction(0))
    cells = {cell: weight / total for cell, weight in weights.items()}
    margins: list[dict[int, Fraction]] = [{} for _ in next(iter(cells))]
    for cell, weight in cells.items():
        for axis, value in enumerate(cell):
            margins[axis][value] = margins[axis].get(value, Fraction(0)) + weight
    expected = {
        cell: math.prod(margins[axis][value] for axis, value in enumerate(cell)) for cell in cells
    }
    return _agree((weight, expected[cell]) for cell, weight in cells.items())


def _agree(pairs: Iterable[tuple[Any, Any]]) -> bool | None:
    """Whether the pairs are equal; `None` where they are only up to rounding."""
    exactly = True
    for first, other in pairs:
        if abs(first - other) > CLOSE * max(first, other):
            return False
        exactly = exactly and first == other
    return True if exactly else None


def _rows_agree(rows: NDArray[np.float64]) -> bool | None:
    different = np.abs(rows - rows[0]) > ROUNDING * np.maximum(rows, rows[0])
    if bool(different.any()):
        return False
    return True if bool((rows == rows[0]).all()) else None


def _gaussian(population: Gaussian) -> bool | None:
    """Whether all is 0 off the diagonal, or off the diagonal blocks of vector records."""
    if population.max_correlation is not None:
        return population.max_correlation == 0.0
    if population.max_regression_sum is not None:
        return population.max_regression_sum == 0.0
    if population.precision is not None:
        matrix = population.precision.matrix.tocoo()
        root = np.sqrt(population.precision.matrix.diagonal())
        rows, columns, entries = matrix.row, matrix.col, matrix.data
    else:
        dense = np.asarray(population.covariance)
        root = np.sqrt(dense.diagonal())
        rows, columns = np.nonzero(dense)
        entries = dense[rows, columns]
    width = len(population.columns or (0,))
    outside = (rows // width != columns // width) & (entries != 0.0)
    if not outside.any():
        return True
    scaled = np.abs(entries[outside]) / root[rows[outside]] / root[columns[outside]]
    return False if bool((scaled > ROUNDING).any()) else None


# -- chains -------------------------------------------------------------------------------------


def _chain(moves: Series) -> bool | None:
    """Whether the next record's law is the same after every possible past."""
    here, before, later = moves.starts, set(), []
    for _ in range(moves.length - moves.order):
        if here in before:
            break
        before.add(here)
        later.append(_same_row(moves, here))
        if later[-1] is False:
            return False
        here = moves.after(here)
    if moves.begin is not None:
        return of_all((*later, _first_records(moves, moves.begin)))
    if any(row is None for row in moves.rows.values()):
        return None
    alike = _same_row(moves, moves.starts)
    if alike is not False:
        return alike
    if len(moves.rows) > MOST_TUPLES:
        return None
    return _first_records(moves, _stationary(moves))


def _same_row(moves: Series, pasts: frozenset[Past]) -> bool | None:
    listed = [moves.rows[past] for past in sorted(pasts)]
    if len(listed) == 1:
        return True
    if any(row is None for row in listed):
        return False
    return _rows_agree(np.asarray(listed, dtype=float))


def _first_records(moves: Series, begin: Any) -> bool | None:
    if moves.order == 1:
        return True
    if len(begin) > MOST_CELLS:
        return None
    joint: Tables = {}
    for past, weight in begin.items():
        first = past[: moves.length]
        joint[first] = joint.get(first, Fraction(0)) + Fraction(weight)
    return product_law(joint)


def _stationary(moves: Series) -> Tables:
    """The stationary law of tuples, by elimination of tuples (Grassmann, Taksar & Heyman)."""
    inside = sorted(moves.starts)
    work: dict[tuple[Past, Past], Fraction] = {}
    for past in inside:
        row = [Fraction(x) for x in moves.rows[past] or ()]
        for value in moves.wide[past]:
            work[past, (*past, value)[1:]] = row[value] / sum(row)
    for number in range(len(inside) - 1, 0, -1):
        last, rest = inside[number], inside[:number]
        out = sum((work.get((last, other), Fraction(0)) for other in rest), Fraction(0))
        for past in rest:
            into = work.get((past, last), Fraction(0)) / out
            if into == 0:
                continue
            work[past, last] = into
            for other in rest:
                onward = work.get((last, other), Fraction(0))
                if onward:
                    work[past, other] = work.get((past, other), Fraction(0)) + into * onward
    weights = {inside[0]: Fraction(1)}
    for number in range(1, len(inside)):
        state = inside[number]
        weights[state] = sum(
            (weights[p] * work.get((p, state), Fraction(0)) for p in inside[:number]), Fraction(0)
        )
    return {past: weights.get(past, Fraction(0)) for past in moves.rows}


# -- trees and networks -------------------------------------------------------------------------


def _directed(population: Tree | Network) -> bool | None:
    """Whether each record's rows agree for all values of its parents, independent so far."""
    values: dict[str, list[int]] = {}
    answers = []
    waiting: list[Any] = list(population.nodes)
    while waiting:
        later = []
        for node in waiting:
            parents, table = _family(node)
            if any(parent not in values for parent in parents):
                later.append(node)
                continue
            sub_table = table[np.ix_(*(values[p] for p in parents), range(table.shape[-1]))]
            rows = sub_table.reshape(-1, table.shape[-1])
            answers.append(_rows_agree(rows))
            if answers[-1] is False:
                return False
            values[node.name] = np.flatnonzero(rows[0]).tolist()
        waiting = later
    return of_all(answers)


def _family(node: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if hasattr(node, "table"):
        return node.parents, np.asarray(node.table, dtype=float)
    if node.parent is None:
        return (), np.asarray(node.law, dtype=float)
    return (node.parent,), np.asarray(node.transition, dtype=float)


# -- graphs -------------------------------------------------------------------------------------


class _Factor:
    """A factor whose members depend on each other, its table cut to values that are possible."""

    def __init__(self, members: tuple[int, ...], table: NDArray[np.float64]) -> None:
        self.members, self.table = members, table

    def weights(self, axes: list[int]) -> Any:
        """Its table in exact fractions, with the axes of these records, to be multiplied."""
        order = sorted(range(len(self.members)), key=lambda i: axes.index(self.members[i]))
        exact = np.vectorize(Fraction, otypes=[object])(self.table.transpose(order))
        sides = dict(zip((self.members[i] for i in order), exact.shape, strict=True))
        return exact.reshape([sides.get(record, 1) for record in axes])


def _graph(graph: FactorGraph) -> bool | None:
    loose = []
    for factor in _cut(graph):
        if factor is None:
            excludes = acyclic(graph) and settled(graph)  # each value singly is possible
            return False if excludes else of_parts(graph, product_law)
        if factor.members:
            loose.append(factor)
    return _pairs(loose)


def _cut(graph: FactorGraph) -> Iterator[_Factor | None]:
    """The factors that link records; `None` for a factor that excludes possible cells."""
    possible = graph.possible
    for group in graph.groups:
        shared = len(group.tables) == 1 and possible is None
        ties = group.arity > 1 and (not shared or not _separable(group.tables[0]))
        if shared and not ties:
            continue
        for index, members in enumerate(group.members.tolist()):
            table = group.tables[index if len(group.tables) > 1 else 0]
            if possible is not None:
                inside = [np.flatnonzero(possible[record, :side]) for record, side in
                          zip(members, table.shape, strict=True)]  # fmt: skip
                table = table[np.ix_(*inside)]
                if not bool((table > 0.0).all()):
                    yield None
                    return
            if ties and (shared or not _separable(table)):
                yield _Factor(tuple(members), table)


def _separable(table: NDArray[np.float64]) -> bool:
    """Whether a positive table is a product of one function of each axis, exactly."""
    exact = np.vectorize(Fraction, otypes=[object])(table)
    for axis in range(table.ndim - 1):
        rows = np.moveaxis(exact, axis, 0).reshape(table.shape[axis], -1)
        if (rows * rows[0, 0] != rows[:, :1] * rows[:1]).any():
            return False
    return True


def _pairs(loose: list[_Factor]) -> bool | None:
    """Whether any two records are independent given the others; the law is positive."""
    pairs: set[tuple[int, int]] = set()
    answers: list[bool | None] = []
    for factor in loose:
        for pair in combinations(sorted(factor.members), 2):
            if pair in pairs:
                continue
            if pairs and (len(pairs) + 1) * len(loose) > MOST_LOOKED_AT + len(loose):
                return None
            pairs.add(pair)
            answers.append(_conditionally(pair, [f for f in loose if {*pair} <= {*f.members}]))
            if answers[-1] is False:
                return False
    return of_all(answers)


def _conditionally(pair: tuple[int, int], factors: list[_Factor]) -> bool | None:
    others = sorted({record for factor in factors for record in factor.members} - {*pair})
    axes = [*pair, *others]
    sides = {r: n for f in factors for r, n in zip(f.members, f.table.shape, strict=True)}
    if math.prod(sides[record] for record in axes) > MOST_CELLS:
        return None
    joint: Any = np.full([1] * len(axes), Fraction(1), dtype=object)
    for factor in factors:
        joint = joint * factor.weights(axes)
    straight, crossed = joint * joint[:1, :1], joint[:, :1] * joint[:1]
    return _agree(zip(straight.ravel(), crossed.ravel(), strict=True))


def acyclic(graph: FactorGraph) -> bool:
    """Whether records and factors form trees: then each value that factors leave is possible."""
    links = sum(group.count * group.arity for group in graph.groups)
    nodes = graph.records + sum(group.count for group in graph.groups)
    return links == nodes - int(component_labels(graph).max()) - 1


def settled(graph: FactorGraph) -> bool:
    """Whether `possible` is final, because another round would drop no value."""
    for group in graph.groups:
        live = live_cells(group, graph.possible)
        if live is None or graph.possible is None:
            continue
        for axis in range(1, group.arity + 1):
            others = tuple({*range(1, group.arity + 1)} - {axis})
            allowed = graph.possible[group.members[:, axis - 1], : live.shape[axis]]
            if bool((allowed & ~live.any(axis=others)).any()):
                return False
    return True


def of_parts(graph: FactorGraph, answer: Any) -> bool | None:
    """The answer for all independent parts, by `answer` of each part's exact joint law."""
    if int(graph.component_sizes.max()) > MOST_RECORDS:
        return None
    labels = component_labels(graph)
    parts: dict[int, list[int]] = {}
    for record, label in enumerate(labels.tolist()):
        parts.setdefault(label, []).append(record)
    if any(math.prod(graph.states[records].tolist()) > MOST_CELLS for records in parts.values()):
        return None
    inside: dict[int, list[_Factor]] = {}
    for group in graph.groups:
        for index, members in enumerate(group.members.tolist()):
            table = group.tables[index if len(group.tables) > 1 else 0]
            inside.setdefault(int(labels[members[0]]), []).append(_Factor(tuple(members), table))
    answers = []
    for label, records in parts.items():
        joint: Any = np.full(graph.states[records].tolist(), Fraction(1), dtype=object)
        for factor in inside.get(label, []):
            joint = joint * factor.weights(records)
        answers.append(answer({cell: joint[cell] for cell in np.ndindex(joint.shape)}))
    return of_all(answers)
