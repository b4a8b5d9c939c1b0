"""What a population rules out: values, moves and combinations that have probability 0.

A level is a claim about laws of the declared population. A table that has probability 0 under all
of them is outside of every such claim. Each `Support` below says which tables those are, as far as
the population tells which record a row is.

Public names: `Support`, `ChainSupport`, `Fault`, `ClusterSupport`, `RecordSupport`, `supports`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Ints
from bayesdp.populations.base import Population
from bayesdp.populations.family import Family
from bayesdp.populations.finite import Finite
from bayesdp.populations.graph import Graph
from bayesdp.populations.markov import MarkovChain
from bayesdp.populations.network import Network
from bayesdp.populations.tree import Tree
from bayesdp.statements.chains import possible_moves, widest_moves

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Fault:
    """A record that is impossible in its `state`, some `steps` after one in the state `before`.

    Without `before` it is the first of its series.
    """

    state: int
    before: int | None = None
    steps: int = 0


@dataclass(frozen=True, eq=False)
class ChainSupport:
    """The series that a chain of order k can make, with or without gaps.

    A run of k records is numbered in base `states`, its oldest record first. `start` says which
    runs a series may begin with, shape `(states ** order,)`; the chain moves from the run
    `sources[i]` to the run `targets[i]` with its next record, and in no other way.
    """

    order: int
    states: int
    start: Flags
    sources: Ints
    targets: Ints

    def impossible(self, rows: Iterable[tuple[int, int]]) -> Counter[Fault]:
        """The records that have probability 0 after those before them, and how often each occurs.

        `rows` are `(place, state)` pairs, series after series, ordered within each; places are
        counted from 0, the first record of a series. A record behind an impossible one is judged by
        what is possible after that one's state.
        """
        walk, faults = _Walk(self), Counter[Fault]()
        before: int | None = None
        for place, state in rows:
            gone = place - walk.place
            if walk.is_impossible(place, state):
                faults[Fault(state, before, gone) if place else Fault(state)] += 1
            before = state
        return faults

    @cached_property
    def digits(self) -> Ints:
        """The states of each run, shape `(states ** order, order)`."""
        numbers = np.arange(len(self.start))
        powers = self.states ** np.arange(self.order - 1, -1, -1)
        digits: Ints = numbers[:, None] // powers % self.states
        return digits

    def moved(self, runs: Flags) -> Flags:
        """The runs that are possible one record later."""
        after = np.zeros(len(runs), dtype=bool)
        after[self.targets[runs[self.sources]]] = True
        return after

    def later(self, runs: Flags, steps: int) -> Flags:
        """The runs that are possible some steps later. Sets that come again repeat from there."""
        history, first_at = [runs], {runs.tobytes(): 0}
        while len(history) <= steps:
            after = self.moved(history[-1])
            back = first_at.setdefault(after.tobytes(), len(history))
            if back < len(history):
                return history[back + (steps - back) % (len(history) - back)]
            history.append(after)
        return history[steps]


@dataclass(eq=False)
class _Walk:
    """The runs that are possible, record after record; sets that were met before are kept."""

    chain: ChainSupport
    place: int = 0
    here: int = 0
    sets: list[Flags] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    next_of: dict[tuple[int, int, int, int], tuple[int, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.here = self._number(self.chain.start)

    def is_impossible(self, place: int, state: int) -> bool:
        """Whether the next record, in this place and state, can't follow those before it."""
        last = self.chain.order - 1
        if place == 0:
            self.here, self.place = 0, 0
        # The first k records are one run, of which more and more is known.
        steps = max(place - last, 0) - max(self.place - last, 0)
        key = self.here, steps, min(place, last), state
        if key not in self.next_of:
            self.next_of[key] = self._after(*key)
        self.here, impossible = self.next_of[key]
        self.place = place
        return impossible

    def _after(self, here: int, steps: int, digit: int, state: int) -> tuple[int, bool]:
        allowed = self.chain.digits[:, digit] == state
        reachable = self.chain.later(self.sets[here], steps) & allowed
        impossible = not reachable.any()
        return self._number(allowed if impossible else reachable), impossible

    def _number(self, runs: Flags) -> int:
        number = self.numbers.setdefault(runs.tobytes(), len(self.sets))
        if number == len(self.sets):
            self.sets.append(runs)
        return number


@dataclass(frozen=True, eq=False)
class ClusterSupport:
    """The clusters that a finite law can make: `cells` is true where it has a positive probability.

    `cells` has one axis for each record. Where the law has no `roles`, any record of a cluster may
    be any axis.
    """

    cells: Flags
    roles: tuple[str, ...] | None

    def possible(self, members: Sequence[tuple[int, int]]) -> bool:
        """Whether a cluster of these records is possible: `(axis, state)` of each.

        The axes count only if there are roles; axes without a record may have any state.
        """
        if self.roles is not None:
            place: list[int | slice] = [slice(None)] * self.cells.ndim
            for axis, state in members:
                place[axis] = state
            return bool(self.cells[tuple(place)].any())
        enough = np.ones(len(self._values), dtype=bool)
        for state, times in Counter(state for _, state in members).items():
            enough &= (self._values == state).sum(axis=1) >= times
        return bool(enough.any())

    @cached_property
    def _values(self) -> Ints:
        """The states of each positive cell, sorted, each combination once."""
        values: Ints = np.unique(np.sort(np.argwhere(self.cells), axis=1), axis=0)
        return values


@dataclass(frozen=True, eq=False)
class RecordSupport:
    """How many records of a graphical model can have each state: `most`, by state.

    Which row is which record is not declared, so nothing else can be held against a table.
    """

    most: Ints


Support = ChainSupport | ClusterSupport | RecordSupport


def supports(population: Population) -> tuple[Support, ...]:
    """What each member of the population rules out: one for a population that is not a family.

    Empty where some member rules nothing out that could be seen in a table.
    """
    members = population.members if isinstance(population, Family) else (population,)
    excluded = tuple(support for member in members if (support := _support(member)) is not None)
    return excluded if len(excluded) == len(members) else ()


def _support(population: Population) -> Support | None:
    if isinstance(population, MarkovChain):
        return _of_chain(population)
    if isinstance(population, Finite):
        cells = population.array > 0.0
        return None if cells.all() else ClusterSupport(cells, population.roles)
    if isinstance(population, Graph | Tree | Network):
        graph = population.factor_graph
        if graph.possible is None or population.common_states is None:
            return None
        most = graph.possible[:, : population.common_states].sum(axis=0)
        return None if (most == graph.records).all() else RecordSupport(most)
    return None  # every value is possible beside all others


def _of_chain(chain: MarkovChain) -> ChainSupport | None:
    order, states = chain.order, chain.states
    if chain.transition is not None:
        moves = possible_moves(chain.transition, order)
    else:
        moves = widest_moves(chain.transition_lower, chain.transition_upper, order)
    if chain.initial == "stationary":  # which is positive everywhere, or it would be refused
        start = np.ones(states**order, dtype=bool)
    else:
        start = np.asarray(chain.initial).ravel() > 0.0
    sources = np.repeat(np.arange(len(moves)), [len(row) for row in moves])
    targets = np.asarray([target for row in moves for target in row], dtype=np.int64)
    if start.all() and len(targets) == states ** (order + 1):
        return None
    return ChainSupport(order, states, start, sources, targets)
