"""Chains of any number of states: the recursion, its threshold variant (theory 3.5m, 3.6t).

As in `chain`, but one step is a small linear program for each ordered pair of values (or, in the
threshold variant, a closed form). The laws of the next record given the evidence do not depend on
the DP cost, so they are computed once for a chain and kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.closing import closed, lowered
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.lipschitz import LipschitzRatios, threshold_value
from bayesdp.leakage.stationary import (
    elimination_error,
    limit_error,
    second_eigenvalue,
    stationary_law,
)
from bayesdp.numbers import UNIT, UpperBound, largest, up

MAX_STEPS = 2_000
"""The longest run followed record by record for more than two states."""

_SETTLED = 1e-11
"""Evidence this close to its limit, relative to it, has settled; until then levels are widened by
how far it may still be off."""
_STEADY = 1e-10
"""A tail is tried to be closed once a step moves the values by no larger share. Speed only."""
_LARGEST_EXPONENT = 600.0
"""Chains are refused where `e^eps` over a few records would be larger than `e` to this."""
_SMALLEST = 1e-200
"""Possible evidence below it may round to 0: the chain is refused."""
_SECONDS_PER_PROGRAM = 1.5e-3
"""About what a linear program takes; only the time limit depends on it."""
_SECONDS_PER_REUSE = 2.5e-5
"""About what it takes to check an earlier solution again; only the time limit depends on it."""
_SECONDS_PER_THRESHOLD = 4e-7
"""About what a threshold takes for a state; only the time limit depends on it."""
_PROGRAMS_PER_PAIR = 3
"""About how many linear programs a pair of states needs; only the time limit depends on it."""
_FEW_ROUNDS = 60
"""The rounds for closing a tail early; where they are too few, the run is followed further."""
_DEARER = 8.0
"""The factor between costs at which a tail is looked for from above."""
_LARGEST_COST = 50.0
"""No tail is looked for at a larger cost: the chain is then refused."""


_Step = Callable[[float, Floats], Floats]
"""From the cost `e^eps` and `C` to the `C` of one more record."""


@dataclass(frozen=True, slots=True)
class StatesLevel:
    """An upper bound on the level in nats, how far runs were followed, how the tail was closed.

    `tail` holds the logarithms that close both sides; `None` where the whole chain was followed.
    """

    epsilon: UpperBound
    steps: int
    settled: bool
    tail: tuple[Floats, Floats] | None = None

    @property
    def followed(self) -> int:
        """The steps that runs must be followed before the tail closes them; 0 if unknown."""
        return self.steps if self.settled else 0

    @property
    def closed(self) -> list[list[list[float]]] | None:
        """The tail as plain lists: for the right side and the left one."""
        return None if self.tail is None else [side.tolist() for side in self.tail]


@dataclass(slots=True)
class _Laws:
    """The laws of one step, for every run and ordered pair: shape `(runs, pairs, S)`.

    `up_p` and `up_q` are the same, sorted by falling `p / q` and cumulated. `possible` says where
    the evidence agrees with both values; `error` bounds the relative error of all laws, `spread`
    how far the evidence of this and every later step is from its limit, as a factor.
    """

    p: Floats
    q: Floats
    up_p: Floats
    up_q: Floats
    possible: NDArray[np.bool_]
    error: float
    spread: float


@dataclass(slots=True)
class _Run:
    """One side and one kind of end: the base kernel, and the evidence `h` on the next record."""

    kernel: Floats
    evidence: Floats
    limit: Floats
    moves: bool
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class _Memory:
    solvers: dict[str, LipschitzRatios] = field(default_factory=dict)


class StateChain:
    """A chain of `S` states with everything that doesn't depend on the DP cost.

    `transition` is `(S, S)`, `start` the law of the first record, `length` the number of records.
    `mixes` says whether the evidence forgets the past: one aperiodic class of all states.
    """

    def __init__(
        self, transition: Floats, start: Floats, *, stationary: bool, length: int, uninformed: bool
    ) -> None:
        self.transition = transition
        self.start = start
        self.length = length
        self.uninformed = uninformed
        self.states = len(transition)
        self.stationary = stationary
        self.limit = stationary_law(transition)
        mixing = limit_error(transition, self.limit)
        self.mixes = math.isfinite(mixing)
        self.limit_error = min(mixing, elimination_error(self.states))
        self.pairs = np.array(
            [(u, v) for u in range(self.states) for v in range(self.states) if u != v]
        )
        self.right, self.left = self._runs()
        self.laws: list[_Laws] = []
        self.settled_at: int | None = None
        self.lost_at: int | None = None
        self.memory = _Memory()
        self.deadline = NEVER

    # -- what does not depend on the cost ---------------------------------------------------------

    @property
    def reversible(self) -> bool:
        """Whether detailed balance holds exactly enough for both sides to be the same."""
        if self.limit is None or not self.stationary or not self.mixes:
            return False
        flow = self.limit[:, None] * self.transition
        allowed = (32 * UNIT + self.limit_error) * np.maximum(flow, flow.T)
        return bool((np.abs(flow - flow.T) <= allowed).all())

    def steps_needed(self) -> int:
        """About how many steps until the evidence has settled."""
        if not self.mixes:
            return self.length - 1
        rate = max(second_eigenvalue(self.transition), 1e-6)
        return min(self.length - 1, math.ceil(math.log(_SETTLED * 0.1) / math.log(rate)) + 4)

    def seconds(self, method: str) -> float:
        """A deterministic estimate of the time that one evaluation takes."""
        count = (len(self.right) + len(self.left)) * len(self.pairs)
        steps = self.steps_needed()
        if method == "threshold":
            return count * steps * self.states * _SECONDS_PER_THRESHOLD
        return count * (_PROGRAMS_PER_PAIR * _SECONDS_PER_PROGRAM + steps * _SECONDS_PER_REUSE)

    def _runs(self) -> tuple[list[_Run], list[_Run]]:
        forward, backward = self.transition, self.transition.T
        ones = np.ones(self.states)
        limit = self.limit if self.limit is not None else ones
        right = [_Run(forward, ones, ones, False)]
        settled = self.stationary and self.mixes
        left = [_Run(backward, limit if settled else self.start, limit, not settled)]
        left[0].error = self.limit_error if self.stationary else 0.0
        if not self.uninformed:
            right += [_Run(forward, forward[:, b], ones, True) for b in range(self.states)]
            left += [_Run(backward, forward[b, :], limit, True) for b in range(self.states)]
        if self.reversible:
            left = []
        return right, left

    def _extend(self, step: int) -> _Laws:
        while len(self.laws) < step:
            self.laws.append(self._next_laws())
        return self.laws[step - 1]

    def _next_laws(self) -> _Laws:
        runs = [*self.right, *self.left]
        laws = self._make_laws(runs)
        if self.settled_at is None and laws.spread <= 1.0 + _SETTLED:
            self.settled_at = len(self.laws)
        for run in runs:
            if run.moves:
                following = run.kernel @ run.evidence
                following /= following.sum() or 1.0
                if self.lost_at is None and _underflows(run, following):
                    self.lost_at = len(self.laws)
                run.evidence = following
                run.error += 2.0 * (self.states + 2) * UNIT
                if self.reversible:  # the other side's kernel is the same, up to that error
                    run.error += 32.0 * UNIT + 2.0 * self.limit_error
        return laws

    def _make_laws(self, runs: list[_Run]) -> _Laws:
        rows = np.stack([run.kernel * run.evidence[None, :] for run in runs])
        totals = rows.sum(axis=2)
        possible = totals > 0.0
        rows /= np.where(possible, totals, 1.0)[:, :, None]
        u, v = self.pairs[:, 0], self.pairs[:, 1]
        both = (possible[:, u] & possible[:, v])[:, :, None]
        p, q = (np.where(both, rows[:, end], 1.0 / self.states) for end in (u, v))
        up_p, up_q = _sorted_and_cumulated(p, q)
        error = largest(*(run.error for run in runs)) + 2.0 * (self.states + 4) * UNIT
        if self.reversible:
            error += 32.0 * UNIT + 2.0 * self.limit_error
        spread = largest(*(_spread(run) for run in runs)) * (1.0 + 8.0 * self.limit_error)
        return _Laws(p, q, up_p, up_q, possible[:, u] & possible[:, v], error, spread)

    # -- one evaluation ---------------------------------------------------------------------------

    def level(
        self, dp_epsilon: float, method: str, deadline: Deadline = NEVER
    ) -> StatesLevel | None:
        """The level by `"program"` or `"threshold"`; `None` where no tail could be closed.

        Also `None` where evidence becomes too small for a double: it must not count as 0.
        Raises `OutOfTimeError` at the deadline.
        """
        if dp_epsilon * min(self.length, 8) > _LARGEST_EXPONENT:
            return None
        cost = math.exp(dp_epsilon) * (1.0 + 4 * UNIT)
        count = len(self.right) + len(self.left)
        current = np.ones((count, self.states, self.states))
        history = [self._matrix_log(current, None)]
        last = min(self.length - 1, MAX_STEPS)
        moved, next_try = math.inf, 1
        self.deadline = deadline
        for step in range(1, last + 1):
            deadline.check()
            laws = self._extend(step)
            if self.lost_at is not None and step > self.lost_at:
                return None
            if moved <= _STEADY and step >= next_try and self._may_close(step):
                next_try = step + 1 + step // 4
                tail = self._close(current, cost, method, step, _FEW_ROUNDS)
                if tail is not None:
                    return StatesLevel(self._long(history, tail, dp_epsilon), step, True, tail)
            before, current = current, self._step(current, laws, cost, method, ("run", step))
            moved = float(np.abs(current / before - 1.0).max())
            if not np.isfinite(current).all() or current.max() > 1e250:
                return None
            history.append(self._matrix_log(current, laws.possible))
        if last == self.length - 1:
            return StatesLevel(self._exhaustive(history, dp_epsilon), last, True)
        if not self.mixes:
            return None
        tail = self._close(current, cost, method, last + 1)
        if tail is not None:
            return StatesLevel(self._long(history, tail, dp_epsilon), last, False, tail)
        tail = self._close_from_above(current, dp_epsilon, method, last + 1)
        if tail is None:
            return None
        return StatesLevel(self._long(history, tail, dp_epsilon), last, False, tail)

    def _may_close(self, step: int) -> bool:
        settled = self.settled_at is not None and step > self.settled_at
        return settled and 2 * step + 8 < self.length and self.mixes

    def _step(
        self, current: Floats, laws: _Laws, cost: float, method: str, key: tuple[str, int]
    ) -> Floats:
        """`C_l` from `C_{l-1}` for every run and pair; 1 where the evidence excludes a value."""
        costs = self._costs(current, cost)
        count, pairs, states = laws.p.shape
        if method == "threshold":
            largest = costs.max(axis=(1, 2))[:, None]
            values = threshold_value(laws.up_p, laws.up_q, np.broadcast_to(largest, (count, pairs)))
        else:
            kind, at = key
            solver = self.memory.solvers.setdefault(kind, LipschitzRatios(count * pairs, states))
            spread = np.repeat(costs, pairs, axis=0)
            flat = (count * pairs, states)
            values = solver.upper(
                laws.p.reshape(flat), laws.q.reshape(flat), spread, at, self.deadline
            )
            values = values.reshape(count, pairs)
        values = np.where(laws.possible, values * (1.0 + 4.0 * laws.error), 1.0)
        following = np.ones_like(current)
        following[:, self.pairs[:, 0], self.pairs[:, 1]] = values
        return following

    def _costs(self, current: Floats, cost: float) -> Floats:
        costs = current * cost
        diagonal = np.arange(self.states)
        costs[:, diagonal, diagonal] = 1.0
        return costs

    def _matrix_log(self, current: Floats, possible: NDArray[np.bool_] | None) -> Floats:
        """`ln C` rounded up, with `-inf` where the evidence excludes one of the two values."""
        logs = np.log(current)
        logs += np.abs(logs) * 4 * UNIT + 2 * UNIT
        if possible is not None:
            mask = np.ones(current.shape, dtype=bool)
            mask[:, self.pairs[:, 0], self.pairs[:, 1]] = possible
            logs = np.where(mask, logs, -np.inf)
        diagonal = np.arange(self.states)
        logs[:, diagonal, diagonal] = 0.0
        return logs

    def _sides(self, logs: Floats) -> tuple[Floats, Floats]:
        count = len(self.right)
        return logs[:count], (logs[count:] if self.left else logs[:count])

    def _close(
        self, current: Floats, cost: float, method: str, step: int, rounds: int = MAX_STEPS
    ) -> tuple[Floats, Floats] | None:
        """For each side `C+ >= C_R` with `F(C+) <= C+`; `F` covers all evidence from here on."""
        tails = []
        for values, apply in self._endings(current, method, step):
            pair = closed(values, partial(apply, cost), rounds)
            if pair is None:
                return None
            tails.append(self._matrix_log(pair, None)[0])
        return (tails[0], tails[-1]) if tails else None

    def _close_from_above(
        self, current: Floats, dp_epsilon: float, method: str, step: int
    ) -> tuple[Floats, Floats] | None:
        """Like `_close`, from a larger cost: what no step raises there, no step raises here.

        Where states are nearly never left, a tail grows by `eps` at every record for very long.
        From below it is reached only at a larger cost; from there the steps come down again.
        """
        tails = []
        for values, apply in self._endings(current, method, step):
            pair, dearer = None, dp_epsilon
            while pair is None and dearer < _LARGEST_COST:
                dearer = min(dearer * _DEARER, _LARGEST_COST)
                cost = math.exp(dearer) * (1.0 + 4 * UNIT)
                pair = closed(values, partial(apply, cost), MAX_STEPS)
            if pair is None:
                return None
            cost = math.exp(dp_epsilon) * (1.0 + 4 * UNIT)
            pair = lowered(pair, values, partial(apply, cost), MAX_STEPS)
            tails.append(self._matrix_log(pair, None)[0])
        return (tails[0], tails[-1]) if tails else None

    def _endings(self, current: Floats, method: str, step: int) -> list[tuple[Floats, _Step]]:
        """For each side `C_R`, and the `F` that covers all later evidence or `None`."""
        spread = self._extend(step).spread
        if not math.isfinite(spread):
            return []
        inflation = spread * spread * (1.0 + 8 * UNIT)
        sides = [(self.right, current[: len(self.right)])]
        if self.left:
            sides.append((self.left, current[len(self.right) :]))
        diagonal = np.arange(self.states)

        def ending(number: int, runs: list[_Run]) -> _Step:
            last = [_Run(runs[0].kernel, runs[0].limit, runs[0].limit, False, runs[0].error)]
            laws = self._make_laws(last)

            def apply(cost: float, inner: Floats) -> Floats:
                self.deadline.check()
                following = self._step(inner, laws, cost, method, (f"tail {number}", 0))
                following = following * inflation
                following[:, diagonal, diagonal] = 1.0
                return following

            return apply

        return [
            (values.max(axis=0, keepdims=True), ending(number, runs))
            for number, (runs, values) in enumerate(sides)
        ]

    def _long(
        self, history: list[Floats], tail: tuple[Floats, Floats], dp_epsilon: float
    ) -> UpperBound:
        right_best, left_best = tail
        for logs in history:
            right, left = self._sides(logs)
            right_best = np.maximum(right_best, right.max(axis=0))
            left_best = np.maximum(left_best, left.max(axis=0))
        return UpperBound(up(dp_epsilon + largest(0.0, right_best + left_best), 4))

    def _exhaustive(self, history: list[Floats], dp_epsilon: float) -> UpperBound:
        """Every target, every pair of ends that fits the length."""
        reachable = self._reachable()
        rights = [self._sides(logs)[0] for logs in history]
        lefts = [self._sides(logs)[1] for logs in history]
        right_known = _running_max([r[1:] for r in rights], self.states)
        ever = [left[1:][reachable[-1]] for left in lefts] if not self.uninformed else []
        left_known = _running_max(ever, self.states)
        best = 0.0
        for position in range(1, self.length + 1):
            self.deadline.check()
            records = self.length - position
            right = rights[records][0]
            if records >= 1 and not self.uninformed:
                right = np.maximum(right, right_known[records - 1])
            left = self._left_options(lefts, left_known, position, reachable)
            here = reachable[min(position, len(reachable)) - 1]
            allowed = here[:, None] & here[None, :]
            total = np.where(allowed, right + left, -np.inf)
            best = largest(best, total)
        return UpperBound(up(dp_epsilon + best, 4))

    def _left_options(
        self,
        lefts: list[Floats],
        known: list[Floats],
        position: int,
        reachable: list[NDArray[np.bool_]],
    ) -> Floats:
        """The largest of a free end and all known boundaries with possible values."""
        best: Floats = lefts[position - 1][0]
        if self.uninformed:
            return best
        early = len(reachable) - 1
        if position - 1 - early >= 1:
            best = np.maximum(best, known[position - 2 - early])
        for boundary in range(1, min(early, position - 1) + 1):
            run = lefts[position - 1 - boundary][1:]
            values = reachable[boundary - 1]
            if values.any():
                best = np.maximum(best, run[values].max(axis=0))
        return best

    def _reachable(self) -> list[NDArray[np.bool_]]:
        """The values that each record can take; the last entry serves for all later records."""
        here: NDArray[np.bool_] = self.start > 0.0
        moves = self.transition > 0.0
        supports = [here]
        for _ in range(min(self.length - 1, 4 * self.states)):
            here = np.asarray((moves & here[:, None]).any(axis=0))
            supports.append(here)
        return [*supports, np.asarray(np.array(supports).any(axis=0))]


def _underflows(run: _Run, following: Floats) -> bool:
    """Whether possible evidence has become so small that it may round to 0."""
    possible = ((run.kernel > 0.0) & (run.evidence > 0.0)[None, :]).any(axis=1)
    return bool((following[possible] < _SMALLEST).any())


def _spread(run: _Run) -> float:
    """The distance of evidence from its limit, as a factor >= 1; infinite where it has zeros."""
    if run.evidence.min() <= 0.0 or run.limit.min() <= 0.0:
        return math.inf
    with np.errstate(over="ignore"):
        ratio = run.evidence / run.limit
        widest = float(ratio.max() / ratio.min())
    return widest * (1.0 + 2.0 * run.error + 16 * UNIT)


def _sorted_and_cumulated(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p > 0.0, p / q, np.where(q > 0.0, 0.0, -1.0))
    order = np.argsort(-ratio, axis=-1)
    return (
        np.cumsum(np.take_along_axis(p, order, -1), axis=-1),
        np.cumsum(np.take_along_axis(q, order, -1), axis=-1),
    )


def _running_max(values: list[Floats], states: int) -> list[Floats]:
    best: list[Floats] = []
    current = np.full((states, states), -np.inf)
    for value in values:
        if len(value):
            current = np.maximum(current, value.max(axis=0))
        best.append(current)
    return best
