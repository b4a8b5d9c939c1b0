"""Factor graphs: the contraction messages and a proof that they are large enough (theory 3.7).

One message for each factor `a` and member `i`: the log `y` of the influence `F` that the factor
passes on when `i` changes. With `s` the sum, over the other members `k`, of `eps` and of the
messages into `k` from its other factors, `Phi(y) = ln f(e^s; R)`, where `R` is the largest cross
ratio of the factor seen from `i` and

    sqrt f = 1 + (sqrt c - 1)(sqrt R - 1) / (sqrt c + sqrt R).

Iterating from 0 comes up to the least fixed point from below, so what is reported is a
*super-solution*: messages `y` with `Phi(y) <= y`, checked with every rounding outward. Phi is
increasing and concave in `y`, so a good guess scaled up a little passes the check. Messages are
also capped: by `ln R`, and by `eps` for each other record of the component. Where no guess passes,
the caps themselves are a super-solution, and stay one when Phi is applied to them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats, Ints
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UNIT, UpperBound, up
from bayesdp.populations.factors import FactorGraph, FactorGroup, live_cells

_LOG_ERROR = 40.0 * UNIT
"""Above the error of a logarithm relative to its size; log ratios are raised by it."""
_STEP_ERROR = 96.0 * UNIT
"""Above the relative error of a step; steps are raised by it."""
_LARGE = 15_000
"""With more messages than this only steps downwards are taken: each of them is a proof."""

MOST_WRITTEN = 20_000
"""With more messages than this the witness of a certificate is one number for all of them."""

MOST_WRITTEN_OF_NODES = 100_000
"""The same where each record is spelt out as a node: the population is longer than the witness."""

_MOST_ROUNDS = 1500
"""The most rounds of a search; a larger level is proved where it ends early."""
_FEW_ROUNDS = 8
"""The rounds of a look from below, whether another theorem's level can be reached at all."""
_HOPELESS = 1e4
"""A search whose messages move by more is given up; messages then come from above."""
_TINY = 1e-280
"""Costs up to it are not searched for: each record of a component counts in full."""


# --------------------------------------------------------------------------- cross ratios


def log_cross_ratios(group: FactorGroup, allowed: NDArray[np.bool_] | None) -> Floats:
    """`ln R` for each position and factor, shape `(arity, count)`, rounded up.

    Cells that are 0 in both rows are left out, and so are impossible values; a zero that only one
    of two rows has makes it infinite. Shape `(arity, 1)` where the factors share a table.
    """
    live = live_cells(group, allowed)
    with np.errstate(divide="ignore"):
        logs = np.log(group.tables)
    return np.stack([_rows_apart(logs, live, position) for position in range(group.arity)])


def _rows_apart(logs: Floats, live: NDArray[np.bool_] | None, position: int) -> Floats:
    """The largest range of `ln(row u / row u')` over pairs of values of one member."""
    states = logs.shape[1 + position]
    rows = np.moveaxis(logs, 1 + position, 1).reshape(len(logs), states, -1)
    if live is None:
        return _widest(rows, None)
    cells = np.moveaxis(live, 1 + position, 1).reshape(len(live), states, -1)
    return _widest(rows, cells)


def _widest(rows: Floats, cells: NDArray[np.bool_] | None) -> Floats:
    count = len(rows) if cells is None else len(cells)
    largest = np.zeros(count)
    for u, v in itertools.combinations(range(rows.shape[1]), 2):
        if cells is None:
            gap = rows[:, u] - rows[:, v]
            high, low = gap.max(axis=-1), gap.min(axis=-1)
            unshared = None
        else:
            both = cells[:, u] & cells[:, v]
            with np.errstate(invalid="ignore"):
                gap = np.where(both, rows[:, u] - rows[:, v], np.nan)
            high = np.max(np.where(both, gap, -np.inf), axis=-1)
            low = np.min(np.where(both, gap, np.inf), axis=-1)
            alive = cells[:, u].any(axis=-1) & cells[:, v].any(axis=-1)
            unshared = alive & (cells[:, u] != cells[:, v]).any(axis=-1)
        spread = np.where(high > low, high - low, 0.0)
        same = (high == 0.0) & (low == 0.0)
        spread = np.where(same | (high < low), 0.0, spread + _log_error(rows[:, u], rows[:, v]))
        if unshared is not None:
            spread = np.where(unshared, np.inf, spread)
        largest = np.maximum(largest, spread)
    return largest


def _log_error(first: Floats, second: Floats) -> Floats:
    """The rounding error of two logarithms and their difference."""
    size = np.abs(np.where(np.isfinite(first), first, 0.0)).max(axis=-1)
    other = np.abs(np.where(np.isfinite(second), second, 0.0)).max(axis=-1)
    return np.asarray(_LOG_ERROR * 2.0 * (size + other))


# --------------------------------------------------------------------------- messages


@dataclass(frozen=True)
class _Weights:
    """The forms of `R` in a step: `1 - 1/sqrt R` rounded up and `1/sqrt R` rounded down."""

    excess: Floats
    rest: Floats

    @classmethod
    def of(cls, log_ratio: Floats) -> _Weights:
        half = -0.5 * np.asarray(log_ratio, dtype=float)
        return cls(-np.expm1(half) * (1.0 + 16.0 * UNIT), np.exp(half) * (1.0 - 16.0 * UNIT))


def _contract(s: Floats, weights: _Weights, ceiling: Floats) -> Floats:
    """`min(ln f(e^s; R), s, ceiling)`, rounded up. The arguments stay as they are."""
    step = np.multiply(s, -0.5)
    np.expm1(step, out=step)
    below = step + (1.0 - 16.0 * UNIT)
    below += weights.rest
    lost = below <= 1e-300
    below[lost] = 1.0
    np.negative(step, out=step)
    step *= weights.excess
    step /= below
    np.log1p(step, out=step)
    step *= 2.0 * (1.0 + _STEP_ERROR)
    step[lost] = np.inf  # R, or all of it that doubles can tell, is infinite: f is at most c
    np.minimum(step, s, out=step)
    np.minimum(step, ceiling, out=step)
    return step


@dataclass(frozen=True, slots=True)
class FactorBlock:
    """A group inside the arrays: position `p` of factor `f` is at `start + p count + f`."""

    start: int
    count: int
    arity: int


class Messages:
    """The messages of one graph. Keeps the last solution, which is a guess for the next cost."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self.blocks: list[FactorBlock] = []
        self._slots: list[tuple[FactorGroup, Ints]] = []
        record: list[Ints] = []
        ratio: list[Floats] = []
        start = 0
        for group in graph.groups:
            if group.arity < 2 or group.count == 0:
                continue
            ratios = log_cross_ratios(group, graph.possible)
            members = group.members.T
            matter: NDArray[np.bool_] = np.ones(group.count, dtype=bool)
            if ratios.shape[1] == group.count > 1:
                matter = np.asarray(ratios.any(axis=0))
                ratios, members = ratios[:, matter], members[:, matter]
            if not ratios.any():
                self._slots.append((group, np.full(group.members.T.shape, -1)))
                continue
            count = members.shape[1]
            slots = np.full(group.members.T.shape, -1)
            slots[:, matter] = start + np.arange(members.size).reshape(members.shape)
            self._slots.append((group, slots))
            self.blocks.append(FactorBlock(start, count, group.arity))
            record.append(members.ravel())
            ratio.append(np.broadcast_to(ratios, members.shape).ravel())
            start += count * group.arity
        self.size = start
        self.record = np.concatenate(record) if record else np.zeros(0, dtype=np.int64)
        self.log_ratio = np.concatenate(ratio) if ratio else np.zeros(0)
        self.weights = _Weights.of(self.log_ratio)
        self.degree = np.bincount(self.record, minlength=graph.records)
        self._guess: tuple[float, Floats] | None = None
        self._solved: tuple[float, SuperSolution] | None = None

    @cached_property
    def _order(self) -> Ints:
        """Where each number of a witness stands in `y`: factors by members; -1 where there is none.

        Groups hold factors in the order in which they were declared, and equal members are in one.
        """
        factors = [
            (tuple(group.members[number].tolist()), slots[:, number])
            for group, slots in self._slots
            for number in range(group.count)
        ]
        factors.sort(key=lambda factor: factor[0])
        return np.concatenate([places for _, places in factors])

    def witness(self, solution: SuperSolution, most: int) -> list[float] | None:
        """The messages for the kernel: all, or a number above them; `None` for their caps."""
        if sum(slots.size for _, slots in self._slots) <= most:
            return [float(value) for value in np.append(solution.y, 0.0)[self._order]]
        return [solution.uniform] if math.isfinite(solution.uniform) else None

    def step(self, y: Floats, dp_epsilon: float, ceiling: Floats) -> Floats:
        """`min(Phi(y), ceiling)`, rounded up."""
        return self._step(y, self._totals(y, dp_epsilon), ceiling)

    def _step(self, y: Floats, totals: Floats, ceiling: Floats) -> Floats:
        """The same, where the `_totals` of the messages are at hand."""
        onward = totals[self.record]
        onward -= y
        return _contract(self.others(onward), self.weights, ceiling)

    def _totals(self, y: Floats, dp_epsilon: float) -> Floats:
        """`eps` and all messages into each record, rounded up enough to subtract a message."""
        into = np.bincount(self.record, weights=y, minlength=self.graph.records)
        total: Floats = into.astype(np.float64, copy=False) + dp_epsilon
        total += total * (self.degree + 8) * (2.0 * UNIT)
        return total

    def others(self, onward: Floats) -> Floats:
        """For each message the sum of `onward` over the other members of its factor."""
        sums = np.empty_like(onward)
        for block in self.blocks:
            stop = block.start + block.count * block.arity
            values = onward[block.start : stop].reshape(block.arity, block.count)
            out = sums[block.start : stop].reshape(block.arity, block.count)
            if block.arity == 2:
                out[0], out[1] = values[1], values[0]
                continue
            for position in range(block.arity):
                rest = [p for p in range(block.arity) if p != position]
                out[position] = values[rest].sum(axis=0) * (1.0 + 2.0 * block.arity * UNIT)
        return sums

    def ceiling(self, dp_epsilon: float) -> Floats:
        """`min(ln R, eps for each other record of the component)`: itself a super-solution."""
        others = (self.graph.component_sizes - 1) * dp_epsilon * (1.0 + 4.0 * UNIT)
        least: Floats = np.minimum(self.log_ratio, others[self.record])
        return least

    def uniform(self, dp_epsilon: float) -> float:
        """A number that is a super-solution if it stands for every message, or infinity.

        The fixed point for the largest `R`, the largest factor and the most incoming messages: what
        the inside of a regular graph has.
        """
        incoming = self.others((self.degree[self.record] - 1).astype(float))
        arity = max(block.arity for block in self.blocks)
        most = round(float(np.max(incoming)))  # a count, whichever way it was rounded
        ratio = self.log_ratio.max(keepdims=True)
        weights = _Weights.of(ratio)
        y = ratio if math.isfinite(ratio[0]) else np.full(1, 1e6 * dp_epsilon)
        for _ in range(5000):
            s = (most * y + (arity - 1) * dp_epsilon) * (1.0 + 8.0 * UNIT)
            following = _contract(s, weights, ratio)
            if not following[0] <= y[0]:
                return math.inf if not math.isfinite(ratio[0]) else float(y[0])
            if following[0] >= y[0] * (1.0 - 1e-15):
                break
            y = following
        return float(y[0])

    def solve(
        self, dp_epsilon: float, *, deadline: Deadline = NEVER, beaten: float = math.inf
    ) -> SuperSolution:
        """Verified messages for this cost.

        At the deadline the messages that the way down has reached are returned: they are proven,
        only not the least. The last cost is solved once: a plan, its preview and its debit ask the
        same. Where no messages of a large graph have a level below `beaten`, those from which the
        way down begins are returned at once.
        """
        if self._solved is not None and self._solved[0] == dp_epsilon:
            return self._solved[1]
        ceiling = self.ceiling(dp_epsilon)
        uniform = self.uniform(dp_epsilon)
        y = np.minimum(ceiling, uniform)
        rounds, inflation = 0, math.inf
        if self.size >= _LARGE and self._reaches(beaten, dp_epsilon, ceiling):
            return SuperSolution(y, rounds, inflation, uniform)
        if self.size < _LARGE:
            guess, rounds, change = self._iterate(dp_epsilon, ceiling, deadline)
            verified = self._verify(guess, change, dp_epsilon, ceiling)
            if verified is not None:
                y, inflation = np.minimum(y, verified[0]), verified[1]
            self._guess = (dp_epsilon, y)
        if inflation > 1e-10:
            y, more = self._descend(y, dp_epsilon, ceiling, deadline)
            rounds += more
        solution = SuperSolution(y, rounds, inflation, uniform)
        if not deadline.passed:  # else more time may find less
            self._solved = (dp_epsilon, solution)
        return solution

    def _reaches(self, level: float, dp_epsilon: float, ceiling: Floats) -> bool:
        """Whether the level of every solution is certainly at least `level`.

        Iterates from 0 lie below every solution. Nothing rests on it but time.
        """
        y = np.zeros(self.size)
        for _ in range(_FEW_ROUNDS if math.isfinite(level) else 0):
            y = self.step(y, dp_epsilon, ceiling)
            if float(np.max(self.levels(y, dp_epsilon))) >= level:
                return True
        return False

    def _iterate(
        self, dp_epsilon: float, ceiling: Floats, deadline: Deadline
    ) -> tuple[Floats, int, float]:
        """A guess at the fixed point: iteration from 0, or from the last solution.

        Returns it with the number of rounds and its last relative change. Proves nothing.
        """
        y = np.zeros(self.size)
        if self._guess is not None and 0.1 < dp_epsilon / self._guess[0] < 10.0:
            y = np.minimum(self._guess[1] * (dp_epsilon / self._guess[0]), ceiling)
        change, rounds = math.inf, 0
        while rounds < _MOST_ROUNDS and not deadline.passed:
            rounds += 1
            following = self.step(y, dp_epsilon, ceiling)
            largest = float(np.max(np.abs(following - y), initial=0.0))
            change = largest / max(float(np.max(following, initial=0.0)), _TINY)
            y = following
            if change <= 1e-13 or largest > _HOPELESS:
                break
        return y, rounds, change

    def _verify(
        self, guess: Floats, change: float, dp_epsilon: float, ceiling: Floats
    ) -> tuple[Floats, float] | None:
        """The guess, scaled up by as little as passes the check, and by how much."""
        inflation = 0.0
        following = max(4.0 * change, 1e-13)
        while inflation < 2.0:
            raised = np.minimum(guess * (1.0 + inflation), ceiling)
            if bool(np.all(self.step(raised, dp_epsilon, ceiling) <= raised)):
                return raised, inflation
            inflation, following = following, following * 6.0
        return None

    def _descend(
        self, y: Floats, dp_epsilon: float, ceiling: Floats, deadline: Deadline
    ) -> tuple[Floats, int]:
        """A lower super-solution: each step makes another from the last (theory 3.7).

        Stops where the level has stood still for some rounds, or at the deadline; counts them.
        """
        level, still, rounds = math.inf, 0, 0
        totals = self._totals(y, dp_epsilon)
        while rounds < (_MOST_ROUNDS if self.size < _LARGE else 60):
            rounds += 1
            y = np.minimum(self._step(y, totals, ceiling), y)
            totals = self._totals(y, dp_epsilon)
            before, level = level, float(np.max(self._capped(totals, dp_epsilon)))
            still = still + 1 if level >= before * (1.0 - 1e-10) else 0
            if still >= 4 or deadline.passed:
                break
        return y, rounds

    def levels(self, y: Floats, dp_epsilon: float) -> Floats:
        """For each record `eps` and its messages; capped by `eps` for all of its component."""
        return self._capped(self._totals(y, dp_epsilon), dp_epsilon)

    def _capped(self, totals: Floats, dp_epsilon: float) -> Floats:
        """`levels`, from the `_totals` of the messages."""
        total: Floats = np.where(self.degree == 0, dp_epsilon, totals)
        sizes = self.graph.component_sizes
        whole = np.where(sizes == 1, dp_epsilon, sizes * dp_epsilon * (1.0 + 4.0 * UNIT))
        least: Floats = np.minimum(total, whole)
        return least


@dataclass(frozen=True, slots=True)
class SuperSolution:
    """A super-solution: messages `y`, the rounds it took, how far a guess was inflated.

    `inflation` is infinite where no guess was made or none passed the check: then the messages
    come from above. No message need be above `uniform`.
    """

    y: Floats
    rounds: int
    inflation: float
    uniform: float


@dataclass(frozen=True, slots=True)
class GraphLevel:
    """The level of a graph, the record that has it, what the search took, and the witness."""

    epsilon: UpperBound
    record: int
    rounds: int
    inflation: float
    largest_log_ratio: float
    messages: list[float] | None = None


_KNOWN: WeakKeyDictionary[FactorGraph, Messages] = WeakKeyDictionary()


def messages_of(graph: FactorGraph) -> Messages:
    """The messages of a graph, prepared once."""
    if graph not in _KNOWN:
        _KNOWN[graph] = Messages(graph)
    return _KNOWN[graph]


def graph_level(
    graph: FactorGraph,
    dp_epsilon: float,
    deadline: Deadline = NEVER,
    most_written: int = MOST_WRITTEN,
    beaten: float = math.inf,
) -> GraphLevel:
    """`eps + max_i sum_a ln F_(a -> i)` with verified messages, in nats, rounded up.

    At the deadline by messages that are proven, only not the least. A witness of more than
    `most_written` messages is one number. A level that can't be below `beaten` may be higher than
    it need be. Source: theory 3.7.
    """
    messages = messages_of(graph)
    widest = float(np.max(messages.log_ratio, initial=0.0))
    if dp_epsilon <= _TINY or messages.size == 0:
        size = int(graph.component_sizes.max()) if messages.size else 1
        level = UpperBound(dp_epsilon if size == 1 else up(size * dp_epsilon, 4))
        return GraphLevel(level, 0, 0, 0.0, widest)
    solution = messages.solve(dp_epsilon, deadline=deadline, beaten=beaten)
    levels = messages.levels(solution.y, dp_epsilon)
    record = int(np.argmax(levels))
    return GraphLevel(
        UpperBound(np.nextafter(levels[record], np.inf)),
        record,
        solution.rounds,
        solution.inflation,
        widest,
        messages.witness(solution, most_written),
    )
