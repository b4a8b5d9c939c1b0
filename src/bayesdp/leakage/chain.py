"""Two-state Markov chains: the sharp recursion, its tail closed (theory 3.5).

Given what the adversary knows, only the nearest known record on either side of the target matters,
and the two sides are independent given the target. For one side and a run of `l` unknown records,
`C_l[u, u']` is the largest ratio of the expectations of a log-Lipschitz function given `u` and
given `u'`. For two states one step is a Moebius map; here it is written for logarithms, so that
nothing overflows and small levels keep their relative precision.

Rounding: every step is widened by a bound on its own error. `ln C_l` moves by at most as much as
`ln C_{l-1}` moves, so the widened values stay above the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.positive_chain import Kernel, Pair, fits, positive_level
from bayesdp.numbers import NOT_NEGATIVE, UNIT, ZERO, LowerBound, UpperBound, down, largest, up

MAX_STEPS = 20_000
"""The longest run followed record by record. Longer ones are closed by a super-solution."""

_SETTLED = 1e-13
"""Evidence has settled where steps change it by no larger share; tails that were closed earlier are
only looser."""
_TINY = 1e-280
"""Evidence that is possible and smaller is not followed: the chain is refused, as doubles lose
digits."""
_FAR = 1e5
"""Above the logarithm of any ratio of two doubles."""
_ATTEMPTS = 2_000
"""The most steps towards a closed tail; without one the chain is refused."""
_PATIENCE = 500
"""After so many steps the fixed point is guessed by bisection, and checked. Speed only."""
_BISECTIONS = 200
"""The most bisections for a guess, which is checked."""
_ASK_EVERY = 64
"""The deadline is checked once in so many steps."""


@dataclass(frozen=True, slots=True)
class ChainLevel:
    """The level in nats, how far the recursion was followed, and what closes the tail.

    `tail` is a super-solution, `None` where the whole chain was followed. `attained`, rounded down,
    is what some mechanism certainly leaks: it leaves out the tail, and what rounding may have added
    to the runs. `settled` is false where the tail was closed before the evidence had settled: the
    level may then be loose.
    """

    epsilon: UpperBound
    steps: int
    tail: Pair | None
    attained: LowerBound
    settled: bool = True


class _Side:
    """A direction: `kernel[u][w]` is the weight of the next record `w`, apart from evidence.

    Evidence on the next record enters as odds `s = h(0) / h(1)`, known up to the factor
    `1 +- error`.
    """

    def __init__(self, kernel: Kernel, dp_epsilon: float) -> None:
        self.kernel = kernel
        self.dp_epsilon = dp_epsilon
        self.determinant = kernel[0][0] * kernel[1][1] - kernel[0][1] * kernel[1][0]
        self.rounding = 4 * UNIT * (kernel[0][0] * kernel[1][1] + kernel[0][1] * kernel[1][0])

    def possible(self, odds: float) -> bool:
        """Whether both values of the target agree with the evidence."""
        (a, b), (c, d) = self.kernel
        if odds == math.inf:
            return a > 0.0 and c > 0.0
        return not (a * odds + b <= 0.0 or c * odds + d <= 0.0)

    def step(self, inner: Pair, odds: float, error: float) -> Pair:
        """`C_l` from `C_{l-1}`, widened for rounding and for the error of the odds."""
        (a, b), (c, d) = self.kernel
        if odds == math.inf:
            odds, b, d = 1.0, 0.0, 0.0
        p_norm, q_norm = a * odds + b, c * odds + d
        if (p_norm < _TINY and (b > 0.0 or a > 0.0 < odds)) or (
            q_norm < _TINY and (d > 0.0 or c > 0.0 < odds)
        ):
            raise _UnsettledError
        if p_norm <= 0.0 or q_norm <= 0.0:
            return (0.0, 0.0)
        p0, p1 = a * odds / p_norm, b / p_norm
        q0, q1 = c * odds / q_norm, d / q_norm
        if b == 0.0 and d == 0.0:
            return (0.0, 0.0)
        gap = (abs(self.determinant) + self.rounding) * odds / (p_norm * q_norm)
        high = self.dp_epsilon + inner[0]
        low = self.dp_epsilon + inner[1]
        first = second = 0.0
        if not self.determinant < -self.rounding:
            first, second = grow(gap, high, q0, q1), grow(gap, low, p1, p0)
        if not self.determinant > self.rounding:
            first = largest(first, grow(gap, low, q1, q0))
            second = largest(second, grow(gap, high, p0, p1))
        widening = 1.0 + 5.0 * error + (40 + 4 * max(high, low)) * UNIT
        return (first * widening, second * widening)


def grow(gap: float, exponent: float, near: float, far: float) -> float:
    """One step of a two-state side, in logarithms: how far its ratio grows.

    `ln(1 + gap (t - 1) / (near t + far))` at `t = e^exponent`, and never above `exponent`.
    """
    shrunk = math.exp(-exponent)
    weight = near + far * shrunk
    if weight <= 0.0:
        return exponent
    return min(exponent, math.log1p(gap * -math.expm1(-exponent) / weight))


def _odds_of_powers(kernel: Kernel, column: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Odds of `h, K h, K K h, ...` for `h = column`, each with its accumulated relative error."""
    h0, h1 = column
    error = 0.0
    possible = (h0 > 0.0, h1 > 0.0)
    while True:
        if any(here and h < _TINY for here, h in zip(possible, (h0, h1), strict=True)):
            raise _UnsettledError
        yield (h0 / h1 if h1 > 0.0 else math.inf), error
        h0, h1 = kernel[0][0] * h0 + kernel[0][1] * h1, kernel[1][0] * h0 + kernel[1][1] * h1
        total = h0 + h1
        if total <= 0.0:
            h0, h1 = 0.0, 1.0
        else:
            h0, h1 = h0 / total, h1 / total
        possible = (
            any(here and k > 0.0 for here, k in zip(possible, kernel[0], strict=True)),
            any(here and k > 0.0 for here, k in zip(possible, kernel[1], strict=True)),
        )
        error += 8 * UNIT


class _UnsettledError(ArithmeticError):
    """The odds left the range of doubles: follow another route."""


def _transpose(kernel: Kernel) -> Kernel:
    return ((kernel[0][0], kernel[1][0]), (kernel[0][1], kernel[1][1]))


class _Runs:
    """The sequences `C_l` of one side, for one kind of end, grown on demand."""

    def __init__(self, side: _Side, evidence: Iterator[tuple[float, float]]) -> None:
        self.side = side
        self.evidence = evidence
        self.values: list[Pair | None] = [(0.0, 0.0)]
        self.inner: Pair = (0.0, 0.0)
        self.odds = 1.0
        self.error = 0.0

    def advance(self) -> None:
        """Append `C_l` for the next `l`: `None` where the evidence excludes a value."""
        self.odds, self.error = next(self.evidence)
        self.inner = self.side.step(self.inner, self.odds, self.error)
        self.values.append(self.inner if self.side.possible(self.odds) else None)

    def stands(self) -> bool:
        """Whether the last step changed the values by a share of at most `_SETTLED`."""
        before, after = self.values[-2], self.values[-1]
        if before is None or after is None:
            return False
        return all(abs(y - x) <= _SETTLED * y for x, y in zip(before, after, strict=True))

    def spread(self, limit: float) -> float:
        """The distance of the evidence from its limit, as a factor >= 1."""
        if not (0.0 < self.odds < math.inf and 0.0 < limit < math.inf):
            return math.inf
        ratio = max(self.odds / limit, limit / self.odds)
        return ratio * (1.0 + self.error + 8 * UNIT)


def two_state_level(
    transition: Kernel,
    start: tuple[float, float],
    *,
    stationary: bool,
    length: int,
    dp_epsilon: float,
    uninformed: bool,
    deadline: Deadline = NEVER,
) -> ChainLevel | None:
    """The sharp `L(dp_epsilon)` of a two-state chain of `length` records, in nats, rounded up.

    `transition[u][v]` is the probability of `v` after `u`, `start` the law of the first record;
    `stationary` says that it is the chain's own. `uninformed` is for adversaries who know no
    record, else any set may be known. Raises `OutOfTimeError` at the deadline.
    `None` where neither the whole chain could be followed (`length` above `MAX_STEPS`) nor the
    tail be closed: periodic and absorbing chains. Stationary chains without zeros take the fast
    route of `positive_chain`.
    """
    if dp_epsilon == 0.0:
        return ChainLevel(ZERO, 0, None, NOT_NEGATIVE)
    if length - 1 > MAX_STEPS and not _mixes(transition):
        return None
    if stationary and fits(transition, dp_epsilon):
        positive = positive_level(
            transition,
            length,
            dp_epsilon,
            uninformed=uninformed,
            most_steps=MAX_STEPS,
            deadline=deadline,
        )
        if positive is None:
            return None
        epsilon = UpperBound(up(dp_epsilon + positive.sides, 4))
        attained = down(dp_epsilon + max(0.0, positive.attained), 4)
        return ChainLevel(epsilon, positive.steps, positive.tail, attained, positive.settled)
    try:
        chain = _Chain(transition, start, stationary, length, dp_epsilon, uninformed)
        return chain.level(deadline)
    except _UnsettledError:
        return None


def _mixes(transition: Kernel) -> bool:
    up_rate, down_rate = transition[0][1], transition[1][0]
    return up_rate > 0.0 and down_rate > 0.0 and up_rate + down_rate < 2.0


class _Chain:
    def __init__(
        self,
        transition: Kernel,
        start: tuple[float, float],
        stationary: bool,
        length: int,
        dp_epsilon: float,
        uninformed: bool,
    ) -> None:
        self.length = length
        self.dp_epsilon = dp_epsilon
        self.start = start
        self.transition = transition
        up_rate, down_rate = transition[0][1], transition[1][0]
        self.reversible = up_rate > 0.0 and down_rate > 0.0
        self.limit = down_rate / up_rate if self.reversible else math.nan
        right = _Side(transition, dp_epsilon)
        left = _Side(_transpose(transition), dp_epsilon)
        ones = iter(_constant_one, None)
        self.right_free = _Runs(right, ones)
        if stationary and self.reversible:
            self.left_free = self.right_free
        else:
            self.left_free = _Runs(left, _odds_of_powers(_transpose(transition), start))
        self.right_known: list[_Runs] = []
        self.left_known: list[_Runs] = []
        if not uninformed:
            columns = [(transition[0][b], transition[1][b]) for b in (0, 1)]
            self.right_known = [_Runs(right, _odds_of_powers(transition, c)) for c in columns]
            if self.reversible:
                self.left_known = self.right_known
            else:
                backward = _transpose(transition)
                self.left_known = [
                    _Runs(left, _odds_of_powers(backward, transition[b])) for b in (0, 1)
                ]

    @property
    def _distinct(self) -> list[_Runs]:
        runs = [self.right_free, self.left_free, *self.right_known, *self.left_known]
        return list({id(run): run for run in runs}.values())

    def level(self, deadline: Deadline = NEVER) -> ChainLevel | None:
        """The level; stops at the deadline, with `OutOfTimeError`."""
        runs = self._distinct
        last = min(self.length - 1, MAX_STEPS)
        steps = 0
        while steps < last:
            if steps % _ASK_EVERY == 0:
                deadline.check()
            for run in runs:
                run.advance()
            steps += 1
            if 2 * steps + 8 < self.length and self.reversible and self._settled():
                tail = self._close()
                if tail is not None:
                    return self._long(steps, tail)
        if steps == self.length - 1:
            return self._exhaustive(steps)
        tail = self._close() if self.reversible else None
        return self._long(steps, tail, fits=False) if tail is not None else None

    def _attained(self, sides: float, steps: int) -> LowerBound:
        """What is left of both sides' sum without what rounding may have added to it.

        In logarithms a step is off by `wide` times its value, and passes on at most the share
        `tanh(ln R / 4)` of an error, R being the cross ratio of the rows.
        """
        (a, b), (c, d) = self.transition
        values = [v for run in self._distinct for v in run.values if v is not None]
        most = largest(*(side for pair in values for side in pair))
        evidence = largest(*(run.error for run in self._distinct))
        wide = 2.0 * (5.0 * evidence + (40 + 4 * (most + self.dp_epsilon)) * UNIT)
        determinant = abs(self.right_free.side.determinant)
        wide += 4.0 * self.right_free.side.rounding / determinant if determinant > 0.0 else 1.0
        off = math.sqrt(a * d) + math.sqrt(b * c)
        share = abs(math.sqrt(a * d) - math.sqrt(b * c)) / off if off > 0.0 else 1.0
        grown = wide * most * min(float(steps), 1.0 / (1.0 - share) if share < 1.0 else math.inf)
        return down(self.dp_epsilon + max(0.0, sides * (1.0 - 8 * UNIT) - 2.0 * grown), 4)

    # -- short chains: every target, every fitting pair of ends --------------------------------

    def _exhaustive(self, steps: int) -> ChainLevel:
        support = _supports(self.transition, self.start, self.length)
        right_best = _running_max(self.right_known, steps)
        left_best = _running_max(self.left_known, steps)
        best = 0.0
        for position in range(1, self.length + 1):
            if not all(support[min(position, len(support)) - 1]):
                continue
            right = self._options(self.right_free, right_best, self.length - position)
            left = self._left_options(left_best, position, support)
            for orientation in (0, 1):
                best = largest(best, left[orientation] + right[orientation])
        epsilon = UpperBound(up(self.dp_epsilon + best, 4))
        return ChainLevel(epsilon, steps, None, self._attained(best, steps))

    def _options(self, free: _Runs, known: list[Pair], records: int) -> Pair:
        """The larger of a free end (all `records` unknown) and every known boundary that fits."""
        end = free.values[records] or (0.0, 0.0)
        inside = known[records - 1] if known and records >= 1 else (0.0, 0.0)
        return (max(end[0], inside[0]), max(end[1], inside[1]))

    def _left_options(
        self, known: list[Pair], position: int, support: list[tuple[bool, bool]]
    ) -> Pair:
        """Like `_options`, but only with boundary values that the record can take."""
        end = self.left_free.values[position - 1] or (0.0, 0.0)
        first, second = end
        if not self.left_known:
            return end
        settled = len(support)
        if position - 1 - settled >= 1:
            inside = known[position - 2 - settled]
            first, second = max(first, inside[0]), max(second, inside[1])
        for boundary in range(1, min(settled, position - 1) + 1):
            for value in (0, 1):
                here = self.left_known[value].values[position - 1 - boundary]
                if support[boundary - 1][value] and here is not None:
                    first, second = max(first, here[0]), max(second, here[1])
        return (first, second)

    # -- long chains: a tail certified by a super-solution --------------------------------------

    def _settled(self) -> bool:
        """Whether longer runs would change neither the evidence nor the free ends."""
        return (
            self.right_free.stands()
            and self.left_free.stands()
            and all(
                run.spread(self._limit_of(run)) <= 1.0 + _SETTLED + 2.0 * run.error
                for run in self._distinct
            )
        )

    def _limit_of(self, run: _Runs) -> float:
        """The odds that the evidence of this run tends to."""
        if run is self.right_free or any(run is known for known in self.right_known):
            return 1.0
        return self.limit

    def _close(self) -> Pair | None:
        """`C+ >= C_R` with `F(C+) <= C+`, where `F` covers all evidence at distance R or more."""
        runs = self._distinct
        spread = largest(*(run.spread(self._limit_of(run)) for run in runs))
        if not math.isfinite(spread):
            return None
        slack = 2.0 * math.log(spread)
        side = self.right_free.side

        def inflated(pair: Pair) -> Pair:
            stepped = side.step(pair, 1.0, 0.0)
            return (stepped[0] + slack, stepped[1] + slack)

        pair = (
            largest(*(run.inner[0] for run in runs)),
            largest(*(run.inner[1] for run in runs)),
        )
        widen = 1.0 + 1e-14
        for attempt in range(_ATTEMPTS):
            following = inflated(pair)
            if following[0] <= pair[0] and following[1] <= pair[1]:
                return pair
            pair = (max(pair[0], following[0] * widen), max(pair[1], following[1] * widen))
            if min(pair) > self.dp_epsilon * self.length:
                return None
            if attempt == _PATIENCE:
                pair = self._fixed_point(inflated, pair)
        return None

    def _fixed_point(self, step: Callable[[Pair], Pair], least: Pair) -> Pair:
        """Approximately the fixed point of a step above `least`, by bisection; to be checked.

        If values nearly never change, a run grows by `eps` at every record, up to the logarithm of
        how rarely they change: too many records to follow. Each entry depends on itself alone, or
        on the other entry if the determinant is negative. Both dependences are increasing and
        concave, so a step raises nothing that lies above the fixed point.
        """
        crossed = self.right_free.side.determinant < 0.0

        def other(x: float) -> float:
            return max(least[1], step((x, 0.0))[1])

        def first(x: float) -> float:
            return step((x, other(x)) if crossed else (x, 0.0))[0]

        x = _above(first, least[0])
        return x, (other(x) if crossed else _above(lambda y: step((0.0, y))[1], least[1]))

    def _long(self, steps: int, tail: Pair, *, fits: bool = True) -> ChainLevel:
        """The level of a chain that is too long to be followed, with its tail closed.

        `fits`: every run of so many records fits on both sides of some target.
        """
        best = self._both_sides(tail)
        attained = self._attained(self._both_sides((0.0, 0.0)), steps) if fits else NOT_NEGATIVE
        epsilon = UpperBound(up(self.dp_epsilon + best, 4))
        return ChainLevel(epsilon, steps, tail, attained, fits)

    def _both_sides(self, tail: Pair) -> float:
        best = 0.0
        for orientation in (0, 1):
            right = self._side_best([self.right_free, *self.right_known], tail, orientation)
            left = self._side_best([self.left_free, *self.left_known], tail, orientation)
            best = largest(best, left + right)
        return best

    @staticmethod
    def _side_best(runs: list[_Runs], tail: Pair, orientation: int) -> float:
        inside = (v[orientation] for run in runs for v in run.values if v is not None)
        return largest(tail[orientation], *inside)


def _above(step: Callable[[float], float], least: float) -> float:
    """Approximately the least number from `least` on that a rising, concave step does not raise."""
    low, high = least, max(2.0 * least, _TINY)
    while not step(high) <= high and high < _FAR:
        low, high = high, 2.0 * high
    for _ in range(_BISECTIONS):
        middle = low + (high - low) / 2.0
        if high - low <= 1e-14 * high:
            break
        low, high = (low, middle) if step(middle) <= middle else (middle, high)
    return high


def _constant_one() -> tuple[float, float]:
    return (1.0, 0.0)


def _supports(
    transition: Kernel, start: tuple[float, float], length: int
) -> list[tuple[bool, bool]]:
    """The possible values of the first records; the last entry holds for all later records.

    In a chain that stays random all values are possible from the third record on. Otherwise it
    doesn't matter: a record with one possible value has no secret.
    """
    here = (start[0] > 0.0, start[1] > 0.0)
    supports = [here]
    for _ in range(min(length - 1, 3)):
        here = (
            any(here[u] and transition[u][0] > 0.0 for u in (0, 1)),
            any(here[u] and transition[u][1] > 0.0 for u in (0, 1)),
        )
        supports.append(here)
    return supports


def _running_max(runs: list[_Runs], steps: int) -> list[Pair]:
    """For each `l`, the largest `C` over known boundaries with at most `l` unknown records."""
    if not runs:
        return []
    best: list[Pair] = []
    first = second = 0.0
    for position in range(steps + 1):
        for run in runs:
            value = run.values[position]
            if value is not None:
                first, second = max(first, value[0]), max(second, value[1])
        best.append((first, second))
    return best
