"""Stationary two-state chains without zeros: the recursion of `chain` in plain arithmetic.

The same sequences as in `chain` (theory 3.5), written for `x = C[0, 1] - 1` and `y = C[1, 0] - 1`:
one step is `x' = gap u / (1 + near u)` with `u = e^eps (1 + x) - 1`, and `y'` likewise; where the
determinant is negative they change places. Without zeros nothing overflows, small levels keep their
relative precision, and the weights of the steps don't depend on `eps`, so that a calibration
computes them once.

Rounding: every step is increasing in `x` and `y` and is widened by a bound on its own error, so the
computed values stay above the true ones. Tail: as in `chain`, by a super-solution; it is found as a
root of a quadratic, and then checked. It is tried early too: where it lies below what some shorter
run reaches, longer runs can't matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import NOT_NEGATIVE, UNIT, LowerBound

Pair = tuple[float, float]
"""Such as `(ln C[0, 1], ln C[1, 0])`."""

Kernel = tuple[Pair, Pair]

_MOST_EPSILON = 100.0
"""Chains at a larger cost are left to the general method."""
_LEAST_ENTRY = 1e-100
"""Chains with a smaller transition probability are left to the general method."""
_SETTLED = 1e-13
"""Evidence this close to its limit, relative to it, has settled; until then the level is only
looser."""
_FIRST_CHECK = 16
"""The tail is tried to be closed after so many steps first. Speed only."""
_ROUNDED = 64 * UNIT
"""Above the relative error of a step, weights included: about thirty rounded operations."""


@dataclass(frozen=True, slots=True)
class PositiveLevel:
    """`ln C_left + ln C_right` at its largest (not rounded up yet); the rest as in `ChainLevel`.

    `attained` is a lower bound on the same sum: what runs that fit certainly reach.
    """

    sides: float
    steps: int
    tail: Pair | None
    attained: LowerBound
    settled: bool = True


StepWeights = tuple[float, float, float, float]
"""The weights `gap`, `near` of `x'`, `near` of `y'`, and the factor that widens the results."""


def _determinant(kernel: Kernel) -> Pair:
    """The determinant and a bound on its rounding error."""
    (a, b), (c, d) = kernel
    return a * d - b * c, 4 * UNIT * (a * d + b * c)


def fits(kernel: Kernel, dp_epsilon: float) -> bool:
    """Whether the chain has no zeros or near-zeros, is not iid, and `eps` is not extreme."""
    determinant, rounding = _determinant(kernel)
    positive = min(map(min, kernel)) >= _LEAST_ENTRY
    return positive and abs(determinant) > rounding and dp_epsilon <= _MOST_EPSILON


def _weights(kernel: Kernel, odds: float, error: float) -> StepWeights:
    """The step whose next record carries evidence `odds = h(0) / h(1)`, known up to `error`."""
    (a, b), (c, d) = kernel
    determinant, rounding = _determinant(kernel)
    p_norm, q_norm = a * odds + b, c * odds + d
    gap = (abs(determinant) + rounding) * (odds / p_norm) / q_norm
    p0, p1, q0, q1 = a * odds / p_norm, b / p_norm, c * odds / q_norm, d / q_norm
    near_x, near_y = (q0, p1) if determinant > 0.0 else (q1, p0)
    return gap, near_x, near_y, 1.0 + 5.0 * error + _ROUNDED


class _Evidence:
    """The steps of runs that end at a known value, independent of `eps`; grown on demand."""

    def __init__(self, kernel: Kernel, end: int) -> None:
        self.kernel = kernel
        self.steps: list[StepWeights] = []
        self.spreads: list[float] = []
        self._odds = self._powers((kernel[0][end], kernel[1][end]))

    def _powers(self, column: Pair) -> Iterator[Pair]:
        """Odds of `h, K h, K K h, ...` for `h = column`, each with its accumulated error."""
        (a, b), (c, d) = self.kernel
        h0, h1 = column
        error = 0.0
        while True:
            yield h0 / h1, error
            h0, h1 = a * h0 + b * h1, c * h0 + d * h1
            total = h0 + h1
            h0, h1 = h0 / total, h1 / total
            error += 8 * UNIT

    def grow(self, steps: int) -> None:
        """Compute steps until there are at least `steps`."""
        while len(self.steps) < steps:
            odds, error = next(self._odds)
            self.steps.append(_weights(self.kernel, odds, error))
            self.spreads.append(max(odds, 1.0 / odds) * (1.0 + error + 8 * UNIT))

    def is_settled(self, steps: int) -> bool:
        """Whether the evidence equals its limit, up to rounding."""
        error = (self.steps[steps - 1][3] - 1.0 - _ROUNDED) / 5.0
        return self.spreads[steps - 1] <= 1.0 + _SETTLED + 2.0 * error


@lru_cache(maxsize=4)
def _evidence(kernel: Kernel) -> tuple[_Evidence, _Evidence]:
    return _Evidence(kernel, 0), _Evidence(kernel, 1)


class _Run:
    """The values of `x` and of `y` after 0, 1, 2, ... unknown records."""

    def __init__(self) -> None:
        self.xs = [0.0]
        self.ys = [0.0]

    def __len__(self) -> int:
        return len(self.xs)

    @property
    def last(self) -> Pair:
        return self.xs[-1], self.ys[-1]

    def follow(self, steps: list[StepWeights], growth: float, start: float, crossed: bool) -> None:
        """Append one value for each step; written for speed."""
        x, y = self.last
        add_x, add_y = self.xs.append, self.ys.append
        for gap, near_x, near_y, widening in steps:
            u, v = start + growth * x, start + growth * y
            if crossed:
                u, v = v, u
            x = gap * u / (1.0 + near_x * u) * widening
            y = gap * v / (1.0 + near_y * v) * widening
            add_x(x)
            add_y(y)


class _Chain:
    def __init__(self, kernel: Kernel, dp_epsilon: float, uninformed: bool) -> None:
        self.growth, self.start = math.exp(dp_epsilon), math.expm1(dp_epsilon)
        self.kernel = kernel
        self.crossed = _determinant(kernel)[0] < 0.0
        self.limit = _weights(kernel, 1.0, 0.0)
        self.known = () if uninformed else _evidence(kernel)
        self.free = _Run()
        self.runs = [_Run() for _ in self.known]
        self.best: Pair = (0.0, 0.0)

    def _follow(self, run: _Run, steps: list[StepWeights]) -> None:
        run.follow(steps, self.growth, self.start, self.crossed)

    def step(self, inner: Pair) -> Pair:
        """`(x', y')` from `(x, y)`, where the evidence is at its limit."""
        run = _Run()
        run.xs, run.ys = [inner[0]], [inner[1]]
        self._follow(run, [self.limit])
        return run.last

    def advance(self, steps: int) -> None:
        """Follow the runs that end at a known value up to that many unknown records."""
        for evidence, run in zip(self.known, self.runs, strict=True):
            evidence.grow(steps)
            before = len(run)
            self._follow(run, evidence.steps[before - 1 : steps])
            self.best = (
                max(self.best[0], max(run.xs[before:], default=0.0)),
                max(self.best[1], max(run.ys[before:], default=0.0)),
            )

    def follow_free(self, steps: int) -> None:
        """Follow the run with a free end, whose evidence is at its limit throughout."""
        free = self.free
        while len(free) <= steps:
            before, missing = free.last, steps + 1 - len(free)
            self._follow(free, [self.limit] * min(missing, _FIRST_CHECK))
            if free.last == before:  # a fixed point: later steps don't change it
                missing = steps + 1 - len(free)
                free.xs += [before[0]] * missing
                free.ys += [before[1]] * missing

    def error(self, most: float, steps: int = 0) -> float:
        """How far above the truth `x` and `y` may be after so many steps, relative to them.

        Without `steps`: free ends, however long. Each step is off by `wide` and passes on at most
        the share `g x / (s + g x)` of an error, `s = e^eps - 1` and `g = e^eps`; no run is above
        `most`.
        """
        determinant, rounding = _determinant(self.kernel)
        factors = [self.limit[3], *(run.steps[steps - 1][3] for run in self.known if steps)]
        wide = 2.0 * (max(factors) - 1.0 + rounding / abs(determinant))
        return wide * min(float(steps or math.inf), 1.0 + self.growth * most / self.start)

    def free_reached(self, steps: int) -> Pair:
        """A lower bound on what free ends reach within that many records: nearly the fixed point.

        The distance to it falls by `rate` at every step, and because of where the other fixed point
        is, it starts from no more than `(1 + x^2 near g / (gap s))` times the value.
        """
        root = self._fixed_point(1.0)
        gap, near_x, near_y, _ = self.limit
        rate, most = self._rate(root)[0], max(root)
        start = 1.0 + most * most * max(near_x, near_y) * self.growth / (gap * self.start)
        left = rate**steps * start * start + self.error(most) + 1e-12
        return (max(0.0, root[0] * (1.0 - left)), max(0.0, root[1] * (1.0 - left)))

    def free_end(self, steps: int) -> Pair | None:
        """The limit of free ends from below, if they reach it within that many records."""
        root = self._fixed_point(1.0)
        rate, start = self._rate(root)
        if not rate**steps * start < _SETTLED:
            return None
        return self._super_solution(root, (0.0, 0.0), 1.0)

    def _rate(self, root: Pair) -> Pair:
        """The factor by which the distance to the root shrinks at every step, and a constant."""
        x, y = root
        gap, near_x, near_y, _ = self.limit
        if self.crossed:
            x, y = y, x
        bases = [
            1.0 + near * (self.start + self.growth * value)
            for near, value in ((near_x, x), (near_y, y))
        ]
        rates = [gap * self.growth / (base * base) for base in bases]
        rate = math.sqrt(rates[0] * rates[1]) if self.crossed else max(rates)
        return rate, max(1.0, gap / near_x, gap / near_y)

    def is_settled(self, steps: int) -> bool:
        """Whether longer runs would not change the evidence."""
        return all(evidence.is_settled(steps) for evidence in self.known)

    def close(self, steps: int) -> Pair | None:
        """A super-solution: at least every run of `steps` and more unknown records."""
        spread = max((evidence.spreads[steps - 1] for evidence in self.known), default=1.0)
        inflation = spread * spread * (1.0 + 4 * UNIT) if self.known else 1.0
        if not inflation < 1e20:
            return None
        ends = [run.last for run in self.runs]
        least = (
            max((x for x, _ in ends), default=0.0),
            max((y for _, y in ends), default=0.0),
        )
        return self._super_solution(self._fixed_point(inflation), least, inflation)

    def _super_solution(self, root: Pair, least: Pair, inflation: float) -> Pair | None:
        """A pair of at least `least` that no inflated step raises; `root` is a guess at it."""
        for widen in (1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9):
            pair = (
                max(least[0], root[0] * (1.0 + widen)),
                max(least[1], root[1] * (1.0 + widen)),
            )
            stepped = self.step(pair)
            above = [(z * inflation + (inflation - 1.0)) * (1.0 + 8 * UNIT) for z in stepped]
            if above[0] <= pair[0] and above[1] <= pair[1]:
                return pair
        return None

    def _fixed_point(self, inflation: float) -> Pair:
        """Approximately the fixed point of an inflated step at the limit; to be checked."""
        gap, near_x, near_y, widening = self.limit
        gap, more = gap * widening * inflation, inflation - 1.0

        def moebius(near: float) -> tuple[float, float, float, float]:
            scale, base = near * self.growth, 1.0 + near * self.start
            return gap * self.growth + more * scale, gap * self.start + more * base, scale, base

        first, second = moebius(near_x), moebius(near_y)
        if self.crossed:
            first, second = _product(first, second), _product(second, first)
        return _positive_root(first), _positive_root(second)


def _product(
    p: tuple[float, float, float, float], q: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    return (
        p[0] * q[0] + p[1] * q[2],
        p[0] * q[1] + p[1] * q[3],
        p[2] * q[0] + p[3] * q[2],
        p[2] * q[1] + p[3] * q[3],
    )


def _positive_root(m: tuple[float, float, float, float]) -> float:
    """The fixed point `x > 0` of `(a x + b) / (c x + d)`."""
    a, b, c, d = m
    half = (d - a) / 2.0
    root = math.sqrt(half * half + b * c)
    return b / (half + root) if half > 0.0 else (root - half) / c


def positive_level(
    kernel: Kernel,
    length: int,
    dp_epsilon: float,
    *,
    uninformed: bool,
    most_steps: int,
    deadline: Deadline = NEVER,
) -> PositiveLevel | None:
    """Both sides' part of the sharp level of a stationary chain that `fits`.

    `None` where neither the whole chain can be followed within `most_steps` nor the tail be closed.
    Arguments as in `chain.two_state_level`; raises `OutOfTimeError` at the deadline.
    """
    chain = _Chain(kernel, dp_epsilon, uninformed)
    last = min((length - 9) // 2, most_steps)
    free = chain.free_end(last) if last >= _FIRST_CHECK else None
    steps = min(_FIRST_CHECK, last)
    while free is not None:
        deadline.check()
        chain.advance(steps)
        tail = chain.close(steps)
        reached = (max(free[0], chain.best[0]), max(free[1], chain.best[1]))
        if tail is not None and (_covers(reached, tail) or chain.is_settled(steps)):
            return _long(chain, steps, reached, tail, chain.free_reached(last))
        if steps == last:
            break
        steps = min(steps + steps // 2, last)
    if length - 1 <= most_steps:
        return _exhaustive(chain, length)
    chain.advance(most_steps)
    tail = chain.close(most_steps)
    return _long(chain, most_steps, chain.best, tail, None) if tail is not None else None


def _covers(reached: Pair, tail: Pair) -> bool:
    return all(t <= r * (1.0 + _SETTLED) for r, t in zip(reached, tail, strict=True))


def _log(value: float) -> float:
    return math.log1p(value) * (1.0 + 4 * UNIT)


def _long(chain: _Chain, steps: int, reached: Pair, tail: Pair, free: Pair | None) -> PositiveLevel:
    """Both sides' part for a chain too long to be followed, its tail closed by `tail`.

    `free` is what free ends certainly reach; `None` where it is not known which runs fit.
    """
    best = max(2.0 * _log(max(r, t)) for r, t in zip(reached, tail, strict=True))
    attained = NOT_NEGATIVE
    if free is not None:
        error = chain.error(max(*chain.best, *free), steps)
        runs = [max(run * (1.0 - error), end) for run, end in zip(chain.best, free, strict=True)]
        both = 2.0 * max(math.log1p(max(run, 0.0)) for run in runs)
        attained = LowerBound(both * (1.0 - 8 * UNIT))
    closed = (_log(tail[0]), _log(tail[1]))
    return PositiveLevel(best, steps, closed, attained, settled=free is not None)


def _exhaustive(chain: _Chain, length: int) -> PositiveLevel:
    """Every target with every fitting pair of ends; both sides have the same runs."""
    chain.advance(length - 1)
    chain.follow_free(length - 1)
    best = 0.0
    for which in ("xs", "ys"):
        known = [getattr(run, which) for run in chain.runs]
        inside = list(accumulate(map(max, zip(*known, strict=True)), max))
        free = getattr(chain.free, which)
        dearest = [free[0], *map(max, free[1:], inside)] if known else free
        logs = [_log(value) for value in dearest]
        both = zip(logs, reversed(logs), strict=True)
        best = max(best, max(left + right for left, right in both))
    error = chain.error(max(*chain.best, *chain.free.xs, *chain.free.ys), length - 1)
    return PositiveLevel(best, length - 1, None, LowerBound(best * (1.0 - error - 16 * UNIT)))
