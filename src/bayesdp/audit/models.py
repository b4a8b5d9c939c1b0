"""Populations as what attackers compute with: chains, forests, and small joint laws.

Every finite population is one of three. A `ChainLaw` has a window of the last k records as its
state, a `ForestLaw` has single records and pairs without a loop, and a `JointLaw` is multiplied
out. Records hold states 0, 1, ...
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.errors import UnsupportedError
from bayesdp.populations import (
    Clusters,
    Finite,
    Graph,
    MarkovChain,
    Network,
    Population,
    Tree,
    Unknown,
)
from bayesdp.populations.joint import NoJointError, joint_of, sizes_of

if TYPE_CHECKING:
    from bayesdp.populations.factors import FactorGraph

MOST_CELLS = 2**20
"""The largest joint law, in cells, that is multiplied out for an attack."""

MOST_ATTACKED = 100_000
"""The most records of a population that is attacked."""


@dataclass(frozen=True, eq=False)
class ChainLaw:
    """A chain of `length` records in which the last `order` of them are the state.

    `start` has `order` axes and is the law of the first records; `table` has one axis more, of the
    next record. `order` is at most `length`.
    """

    start: Floats
    table: Floats
    length: int

    @property
    def order(self) -> int:
        """How many records back the next one depends on."""
        return self.start.ndim

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each record."""
        return (self.start.shape[0],) * self.length


@dataclass(frozen=True, eq=False)
class ForestLaw:
    """A law proportional to `single[i][x_i]` times `pairs[i, j][x_i, x_j]`, without a loop.

    `pairs` has each neighbour of a record under both orders.
    """

    single: tuple[Floats, ...]
    pairs: dict[int, dict[int, Floats]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each record."""
        return tuple(len(weights) for weights in self.single)


@dataclass(frozen=True, eq=False)
class JointLaw:
    """A law multiplied out: one axis for each record."""

    joint: Floats

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each record."""
        return self.joint.shape


AttackedLaw = ChainLaw | ForestLaw | JointLaw


def law_of(population: Population, *, records: int | None = None, states: int = 2) -> AttackedLaw:
    """The law of the population's records, or of the first `records` of a series.

    Where a population allows a class of laws, it is the member that an attacker would choose: of
    `clusters` and `unknown` records that are all equal, each of so many `states` being as likely;
    of a chain with intervals a table between them. Whatever is shown about this member holds for
    the class. Raises `UnsupportedError` for a population that is not a finite law of at most
    `MOST_ATTACKED` records, or has loops and too many cells for its joint law.
    """
    if isinstance(population, MarkovChain):
        return _chain(population, min(population.length, records or population.length))
    if isinstance(population, Clusters | Unknown):
        size = min(population.group_size, records or population.group_size)
        _require_few(population, size)
        return ChainLaw(np.full(states, 1.0 / states), np.eye(states), size)
    if isinstance(population, Tree | Graph | Network):
        _require_few(population, population.factor_graph.records)
        forest = _forest(population.factor_graph)
        if forest is not None:
            return forest
    if isinstance(population, Finite | Tree | Graph | Network):
        return _joint(population)
    raise UnsupportedError(
        "population",
        population.model,
        expected="a chain, a tree, a graph, a network, a finite law or clusters, to attack records "
        "with finitely many states",
    )


def _require_few(population: Population, records: int) -> None:
    if records > MOST_ATTACKED:
        raise UnsupportedError(
            "population",
            f"{records} records",
            expected=f"at most {MOST_ATTACKED} records that depend on each other, to attack one",
            remedy="Attack a smaller population of the same kind.",
        )


def _chain(population: MarkovChain, length: int) -> ChainLaw:
    _require_few(population, length)
    order = population.order
    table = np.asarray(
        population.transition if population.transition is not None else _between(population),
        dtype=float,
    )
    if population.initial != "stationary":
        start = np.asarray(population.initial, dtype=float)
    else:
        start = _stationary(table, order)
    if order > length:  # the law of the first records alone
        start = start.sum(axis=tuple(range(length, order)))
        table = np.full((start.shape[0],) * (length + 1), 1.0 / start.shape[0])
    return ChainLaw(start, table, length)


def _between(population: MarkovChain) -> Floats:
    """A table whose rows lie between the bounds: as far up from the lower ones as sums to 1."""
    low = np.asarray(population.transition_lower, dtype=float)
    high = np.asarray(population.transition_upper, dtype=float)
    room = (high - low).sum(axis=-1, keepdims=True)
    missing = 1.0 - low.sum(axis=-1, keepdims=True)
    share = np.divide(missing, room, out=np.zeros_like(room), where=room > 0.0)
    table: Floats = low + np.clip(share, 0.0, 1.0) * (high - low)
    return table


def _stationary(table: Floats, order: int) -> Floats:
    """The stationary law of the first `order` records."""
    from bayesdp.populations.markov import stationary_law

    states = table.shape[0]
    size = states**order
    kernel = np.zeros((size, size))
    rows = table.reshape(size, states)
    for past in range(size):
        onto = (past * states) % size
        kernel[past, onto : onto + states] = rows[past]
    law = stationary_law(tuple(tuple(row) for row in kernel.tolist()))
    return np.asarray(law).reshape((states,) * order)


def _forest(graph: FactorGraph) -> ForestLaw | None:
    """The graph as single records and pairs; `None` where it has loops or larger factors."""
    if any(group.arity > 2 for group in graph.groups):
        return None
    single = [np.ones(int(size)) for size in graph.states]
    pairs: dict[int, dict[int, Floats]] = {}
    for group in graph.groups:
        for place, members in enumerate(group.members.tolist()):
            table = group.tables[place if len(group.tables) > 1 else 0]
            if len(members) == 1:
                single[members[0]] = single[members[0]] * table
                continue
            if len(members) == 2:
                first, second = members
                known = pairs.get(first, {}).get(second)
                table = table if known is None else known * table
                pairs.setdefault(first, {})[second] = table
                pairs.setdefault(second, {})[first] = table.T
    law = ForestLaw(tuple(single), pairs)
    edges = sum(map(len, pairs.values())) // 2
    trees = sum(1 for _ in components(law))
    return law if edges == len(single) - trees else None


def components(law: ForestLaw, *, first: int = 0) -> list[Ints]:
    """The records of each tree, parents before children; that of the record `first` comes first."""
    seen = np.zeros(len(law.single), dtype=bool)
    trees = []
    for root in (first, *range(len(law.single))):
        if seen[root]:
            continue
        seen[root] = True
        order = [root]
        for record in order:
            for other in law.pairs.get(record, {}):
                if not seen[other]:
                    seen[other] = True
                    order.append(other)
        trees.append(np.asarray(order, dtype=np.int64))
    return trees


def _joint(population: Population) -> JointLaw:
    try:
        cells = math.prod(sizes_of(population))
        if cells > MOST_CELLS:
            raise NoJointError(f"the joint law has {cells:.3g} cells")
        return JointLaw(joint_of(population, MOST_CELLS))
    except NoJointError as error:
        raise UnsupportedError(
            "population",
            population.model,
            expected=f"no loops, or a joint law of at most {MOST_CELLS} cells",
            remedy=f"Here {error}. Attack a part of it that is independent of the rest.",
        ) from None
