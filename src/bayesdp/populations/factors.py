"""A discrete graphical model in arrays: what the theorems about graphs compute with (theory 3.7).

The law is proportional to a product of factors. Factors with tables of the same shape form a group
whose members and tables are one array each, so that a million of them cost a few arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats, Ints

_MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class FactorGroup:
    """Factors of one shape: `members` of shape `(count, arity)`, and their tables.

    `tables` has shape `(count, s_1, ..., s_arity)`, or `(1, s_1, ..., s_arity)` if all share one.
    """

    members: Ints
    tables: Floats

    @property
    def count(self) -> int:
        """The number of factors."""
        return len(self.members)

    @property
    def arity(self) -> int:
        """How many records each factor is about."""
        return int(self.members.shape[1])


def component_sizes(records: int, first: Ints, second: Ints) -> Ints:
    """For each of so many records how many are tied to it by chains of links, with itself.

    A link ties a record of `first` to the one at the same place of `second`.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), (records, records))
    _, labels = connected_components(links, directed=False)
    sizes: Ints = np.bincount(labels)[labels]
    return sizes


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """Records with `states[i]` values each, and factors. Compared by identity, so a fit key."""

    states: Ints
    groups: tuple[FactorGroup, ...]

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.states)

    @cached_property
    def tied(self) -> Ints:
        """The records that some factor ties to others, in order."""
        members = [group.members.ravel() for group in self.groups if group.arity > 1]
        return np.unique(np.concatenate(members)) if members else np.zeros(0, dtype=np.int64)

    @cached_property
    def component_sizes(self) -> Ints:
        """For each record, how many records its connected component has."""
        first = [np.repeat(g.members[:, 0], g.arity - 1) for g in self.groups if g.arity > 1]
        second = [g.members[:, 1:].ravel() for g in self.groups if g.arity > 1]
        if not first:
            return np.ones(self.records, dtype=np.int64)
        return component_sizes(self.records, np.concatenate(first), np.concatenate(second))

    @cached_property
    def possible(self) -> NDArray[np.bool_] | None:
        """The values that single factors allow each record; `None` if they allow all.

        Shape `(records, largest number of states)`. A value is dropped if some factor gives it
        weight 0 beside all values of its other members that aren't dropped yet. This is repeated,
        at most a hundred times. A value that is kept may still be impossible.
        """
        if all(bool(np.all(group.tables > 0.0)) for group in self.groups):
            return None
        allowed = np.arange(int(self.states.max()))[None, :] < self.states[:, None]
        for _ in range(_MOST_ROUNDS):
            before = int(allowed.sum())
            for group in self.groups:
                _restrict(allowed, group)
            if int(allowed.sum()) == before:
                break
        return allowed


def _restrict(allowed: NDArray[np.bool_], group: FactorGroup) -> None:
    """Drop the values that no allowed cell of a factor's table supports."""
    support = live_cells(group, allowed)
    if support is None:
        return
    for position in range(group.arity):
        size = group.tables.shape[1 + position]
        others = tuple(axis for axis in range(1, group.arity + 1) if axis != 1 + position)
        alive = np.broadcast_to(support.any(axis=others), (group.count, size))
        records = group.members[:, position]
        dead, value = np.nonzero(~alive)
        allowed[records[dead], value] = False


def live_cells(group: FactorGroup, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """The cells of positive weight whose values are all allowed; `None` if every value is."""
    if allowed is None:
        return None
    support = group.tables > 0.0
    for position in range(group.arity):
        size = group.tables.shape[1 + position]
        mask = allowed[group.members[:, position], :size]
        if mask.all():
            continue
        shape = [group.count] + [1] * group.arity
        shape[1 + position] = size
        support = support & mask.reshape(shape)
    return support


def group_factors(factors: Iterable[tuple[Sequence[int], Floats]]) -> tuple[FactorGroup, ...]:
    """Groups from single factors, each the records that it is about and its table."""
    members: dict[tuple[int, ...], list[Sequence[int]]] = {}
    tables: dict[tuple[int, ...], list[Floats]] = {}
    for between, table in factors:
        members.setdefault(table.shape, []).append(between)
        tables.setdefault(table.shape, []).append(table)
    return tuple(
        FactorGroup(np.asarray(members[shape], dtype=np.int64), np.stack(tables[shape]))
        for shape in members
    )


def shared_table(records: int, members: Ints, table: Floats) -> FactorGraph:
    """A graph in which one table belongs to every pair in `members`."""
    states = np.full(records, table.shape[0], dtype=np.int64)
    return FactorGraph(states, (FactorGroup(members, table[None]),))


def grid_edges(rows: int, columns: int) -> Ints:
    """The pairs of neighbours of a grid whose records are numbered row by row."""
    cells = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    along = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    return np.concatenate([across, along])
