"""The joint law of small discrete populations, multiplied out: one axis for each record.

What the exact engines compute with (theory 3.3 and 3.9 a). Every cell is a product of declared
probabilities or factors, so its relative rounding error is some units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.populations.base import Population
from bayesdp.populations.finite import Finite
from bayesdp.populations.graph import Graph
from bayesdp.populations.markov import MarkovChain, stationary_law
from bayesdp.populations.network import Network
from bayesdp.populations.tree import Tree

if TYPE_CHECKING:
    from bayesdp.populations.factors import FactorGraph


MOST_PARTS = 1000
"""The most mutually independent parts of a graph that are computed."""

_MOST_AXES = 60
_MOST_RECORDS = 100_000


class NoJointError(ValueError):
    """A population has no joint law that could be multiplied out; the message says why."""


def sizes_of(population: Population) -> tuple[int, ...]:
    """The number of values of each record; `NoJointError` for laws that are not finite."""
    if isinstance(population, Finite):
        return population.sizes
    if isinstance(population, MarkovChain):
        if population.transition is None:
            raise NoJointError("the transitions are given as intervals, which fix no law")
        if population.length > _MOST_AXES:
            raise NoJointError(f"it has {population.length} records")
        return (population.states,) * population.length
    if isinstance(population, Tree | Graph | Network):
        states = population.factor_graph.states
        if len(states) > _MOST_AXES:
            raise NoJointError(f"it has {len(states)} records")
        return tuple(int(size) for size in states)
    raise NoJointError("the population is not a finite law")


def joint_of(population: Population, most_cells: int) -> Floats:
    """The law of all records; `NoJointError` where it would have more than `most_cells` cells."""
    sizes = sizes_of(population)
    _require_small(math.prod(sizes), most_cells)
    if isinstance(population, Finite):
        return population.array
    if isinstance(population, MarkovChain):
        return _chain(population)
    assert isinstance(population, Tree | Graph | Network)
    return _multiplied(population.factor_graph, range(len(sizes)))


@lru_cache(maxsize=32)
def parts_of(population: Population, most_cells: int) -> tuple[tuple[tuple[int, ...], Floats], ...]:
    """Mutually independent groups of records that together are all records, each with its law.

    Groups with the same law are listed once. `NoJointError` where a group is too large.
    """
    if not isinstance(population, Tree | Graph | Network):
        joint = joint_of(population, most_cells)
        return ((tuple(range(joint.ndim)), joint),)
    graph = population.factor_graph
    if graph.records > _MOST_RECORDS:
        raise NoJointError(f"it has {graph.records} records")
    if int(graph.component_sizes.max()) > math.log2(most_cells) and bool(np.all(graph.states > 1)):
        # Two values each, at least: known before the parts are told apart.
        _require_small(2 ** int(graph.component_sizes.max()), most_cells, "at least ")
    labels = component_labels(graph)
    count = int(labels.max()) + 1
    if count > MOST_PARTS:
        raise NoJointError(f"it falls into {count} independent parts, of at most {MOST_PARTS}")
    parts: dict[tuple[tuple[int, ...], bytes], tuple[tuple[int, ...], Floats]] = {}
    for label in range(count):
        records = np.flatnonzero(labels == label)
        _require_small(math.prod(int(s) for s in graph.states[records]), most_cells)
        joint = _multiplied(graph, records.tolist())
        parts.setdefault((joint.shape, joint.tobytes()), (tuple(records.tolist()), joint))
    return tuple(parts.values())


def _require_small(cells: int, most_cells: int, bound: str = "") -> None:
    if cells > most_cells:
        size_words = (
            str(cells) if cells < 10**9 else f"{cells:.1e}" if cells < 10**300 else "countless"
        )
        size_words = size_words if size_words == "countless" else bound + size_words
        raise NoJointError(f"a joint law of {size_words} cells, of at most {most_cells}")


def component_labels(graph: FactorGraph) -> NDArray[np.int64]:
    """The number of each record's connected component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = [np.repeat(g.members[:, 0], g.arity - 1) for g in graph.groups if g.arity > 1]
    second = [g.members[:, 1:].ravel() for g in graph.groups if g.arity > 1]
    rows = np.concatenate(first) if first else np.zeros(0, dtype=np.int64)
    columns = np.concatenate(second) if second else np.zeros(0, dtype=np.int64)
    links = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), (graph.records,) * 2)
    labels: NDArray[np.int64] = connected_components(links, directed=False)[1].astype(np.int64)
    return labels


def _multiplied(graph: FactorGraph, records: Sequence[int]) -> Floats:
    """The law of these records; no factor links them to other records."""
    place = {record: axis for axis, record in enumerate(records)}
    shape = [int(graph.states[record]) for record in records]
    joint = np.ones(shape)
    possible = np.ones(shape, dtype=bool)
    for group in graph.groups:
        for index, members in enumerate(group.members.tolist()):
            if not members or members[0] not in place:
                continue
            table = group.tables[index if len(group.tables) > 1 else 0]
            axes = [place[record] for record in members]
            order = np.argsort(axes)
            wide = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
            joint = joint * np.transpose(table, order).reshape(wide)
            possible = possible & (np.transpose(table, order).reshape(wide) > 0.0)
            largest = joint.max()
            if not 0.0 < largest < math.inf:
                raise NoJointError("its factors leave no database possible")
            joint = joint / largest
    return _lawful(joint, possible)


_TINY = 1e-290


def _lawful(joint: Floats, possible: NDArray[np.bool_]) -> Floats:
    """The law, rescaled. `NoJointError` if a possible cell is so rare that it may round to 0."""
    if bool((joint[possible] < _TINY).any()):
        raise NoJointError("some possible cells are too rare for double precision")
    total = float(joint.sum())
    if not total > 0.0:
        raise NoJointError("its factors leave no database possible")
    return joint / total


def _chain(population: MarkovChain) -> Floats:
    table = np.asarray(population.transition, dtype=float)
    order, states = population.order, population.states
    if population.initial != "stationary":
        law = np.asarray(population.initial, dtype=float).reshape((states,) * order)
    elif order == 1:
        law = np.asarray(population.start)
    else:
        law = _stationary_tuples(table, order, states)
    possible = law > 0.0
    for _ in range(population.length - order):
        wide = table.reshape((1,) * (law.ndim - order) + table.shape)
        law, possible = law[..., None] * wide, possible[..., None] & (wide > 0.0)
    while law.ndim > population.length:
        law, possible = law.sum(axis=-1), np.asarray(possible.any(axis=-1))
    return _lawful(law, possible)


def _stationary_tuples(table: Floats, order: int, states: int) -> Floats:
    """The stationary law of the first `order` records."""
    size = states**order
    kernel = np.zeros((size, size))
    for past in range(size):
        onto = (past * states) % size
        kernel[past, onto : onto + states] = table.reshape(size, states)[past]
    rows = tuple(tuple(row) for row in kernel.tolist())
    return np.asarray(stationary_law(rows)).reshape((states,) * order)
