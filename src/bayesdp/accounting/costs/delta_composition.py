"""Composition of (epsilon, delta) mechanisms at the DP level, converted once (theory 2.8, 3.10).

Three rules: *basic* (costs and deltas add up), *advanced* (Kairouz, Oh & Viswanath, IEEE
Transactions on Information Theory 2017, Theorem 3.5), and *optimal* (the privacy loss distribution
of all mechanisms together, by Google's dp-accounting; Koskela, Jaelkoe & Honkela, AISTATS 2020;
Doroshenko et al., PoPETs 2022). All hold for mechanisms that are chosen adaptively, as long as
their parameters don't depend on answers.

A composition has a whole curve of `(epsilon, delta)`: each point may be converted through the
population, and the best one is. Nothing here is certified by the kernel: the optimal curve rests on
dp-accounting's arithmetic in doubles, rounded up by a margin. A ledger doesn't use it.

### 2.8 (epsilon, delta) mechanisms: basic, advanced, optimal

For mechanisms with fixed `(eps_t, delta_t)`, each chosen in view of earlier answers:

* *basic:* `(sum eps_t, sum delta_t)`;
* *advanced* (Kairouz, Oh & Viswanath 2017, Theorem 3.5): for `0 < s < 1`, `epsilon = sum eps_t
  tanh(eps_t / 2) + sqrt(2 ln(1/s) sum eps_t^2)` and `delta = 1 - (1 - s) prod (1 - delta_t)`;
* *optimal:* the whole curve `delta(epsilon)` of the pair of laws that dominates each mechanism,
  composed: for `(eps, delta)` the pair that tells the answer with probability delta and else
  answers by randomized response. Google's dp-accounting computes it, with losses rounded up to a
  grid; bayesdp adds `1e-13` for each mechanism to what it says.

**One conversion.** Each point `(eps, delta(eps))` of the curve is a valid pair for everything
together, so 3.10 may be applied to any: bayesdp searches for the point with the least `epsilon'` at
the wanted `delta'`. Converting mechanism by mechanism and adding up is not justified (2.2). Nothing
here is certified: ledgers and certificates use 2.5.

*Checked:* against the closed form of Kairouz, Oh & Viswanath for equal mechanisms (within 1 %,
never below), against the discrete Gaussian curve of 3.10, and against exact processes on clusters.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bayesdp.errors import InputError, UnsupportedError, whole_number
from bayesdp.notions import ApproxDP, Cost
from bayesdp.numbers import UpperBound, float_above, largest, up
from bayesdp.theorems import Question, best_bound, delta_at

INTERVAL = 1e-4
"""The grid of privacy losses, in nats; losses are rounded up to it."""

_ERROR = 1e-13
"""The largest error of Fourier transforms of probabilities, for each mechanism."""

_GRID = 40
MOST_LEVELS = 60
"""A whole search may take this many times the seconds of one level."""


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any `(dp_epsilon, dp_delta)`-DP mechanism, run `times` times.

    Raises `InputError` unless `dp_epsilon` is a finite number of nats >= 0, `dp_delta` a
    probability below 1, and `times` a whole number >= 1.
    """

    dp_epsilon: float
    dp_delta: float = 0.0
    times: int = 1

    def __post_init__(self) -> None:
        _require("dp_epsilon", self.dp_epsilon, 0.0 <= self.dp_epsilon < math.inf, "at least 0")
        _require("dp_delta", self.dp_delta, 0.0 <= self.dp_delta < 1.0, "a probability below 1")
        object.__setattr__(self, "times", whole_number("times", self.times))


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Gaussian noise, run `times` times; `sigma` is its standard deviation over the l2 sensitivity.

    The continuous law. For discrete Gaussian noise on integers use `DiscreteGaussianEvent`. Raises
    `InputError` for a `sigma` that is not finite and above 0.
    """

    sigma: float
    times: int = 1

    def __post_init__(self) -> None:
        _require("sigma", self.sigma, 0.0 < self.sigma < math.inf, "a number above 0")
        object.__setattr__(self, "times", whole_number("times", self.times))


@dataclass(frozen=True, slots=True)
class DiscreteGaussianEvent:
    """Discrete Gaussian noise on one integer, run `times` times.

    `sigma` is the law's parameter and `sensitivity` how far replacing a record moves the integer,
    both in steps of 1. Raises `InputError` for a `sigma` that is not finite and above 0, and for a
    `sensitivity` below 1.
    """

    sigma: float
    sensitivity: int = 1
    times: int = 1

    def __post_init__(self) -> None:
        _require("sigma", self.sigma, 0.0 < self.sigma < math.inf, "a number above 0")
        object.__setattr__(self, "sensitivity", whole_number("sensitivity", self.sensitivity))
        object.__setattr__(self, "times", whole_number("times", self.times))


Event = Approximate | GaussianEvent | DiscreteGaussianEvent


def _require(key: str, value: object, holds: bool, expected: str) -> None:
    if not holds:
        raise InputError(key, value, expected=expected)


def basic(events: Sequence[Approximate]) -> ApproxDP:
    """Basic composition: costs and deltas add up. Rounded up; no events cost nothing."""
    epsilon = sum((Fraction(event.dp_epsilon) * event.times for event in events), Fraction(0))
    delta = sum((Fraction(event.dp_delta) * event.times for event in events), Fraction(0))
    return ApproxDP(float_above(epsilon), UpperBound(min(1.0, float_above(delta))))


def advanced(events: Sequence[Approximate], slack: float) -> ApproxDP:
    """Advanced composition, with `slack` more delta; never above the sum of the costs.

    `epsilon = sum eps tanh(eps / 2) + sqrt(2 ln(1 / slack) sum eps^2)` and `delta = 1 - (1 - slack)
    product (1 - delta)`, rounded up. Raises `InputError` for a `slack` that is not between 0 and 1.
    Source: Kairouz, Oh & Viswanath 2017, Theorem 3.5.
    """
    _require("slack", slack, 0.0 < slack < 1.0, "a probability above 0 and below 1")
    drift = math.fsum(e.times * e.dp_epsilon * math.tanh(e.dp_epsilon / 2) for e in events)
    square = math.fsum(e.times * e.dp_epsilon**2 for e in events)
    epsilon = UpperBound(up(drift + math.sqrt(2.0 * math.log(1.0 / slack) * square), 32))
    log_no_failure = math.fsum(e.times * math.log1p(-e.dp_delta) for e in events)
    delta = -math.expm1(math.log1p(-slack) + log_no_failure)
    return ApproxDP(min(epsilon, basic(events).epsilon), UpperBound(min(1.0, up(delta, 64))))


@dataclass(frozen=True)
class Curve:
    """The privacy curve of a composition: delta at each epsilon, rounded up, not increasing."""

    delta: Callable[[float], UpperBound]
    words: str

    def at(self, epsilon: float) -> ApproxDP:
        """The curve's point at this epsilon, in nats."""
        return ApproxDP(UpperBound(epsilon), self.delta(epsilon))

    def epsilon(self, delta: float) -> float:
        """The least epsilon of the search with at most this delta; infinite where none has it."""
        high = 1.0
        while self.delta(high) > delta:
            high *= 2.0
            if high > 1e6:
                return math.inf
        low = 0.0
        if self.delta(0.0) <= delta:
            return 0.0
        while high - low > 1e-6 * high:
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def optimal(events: Sequence[Event], *, interval: float = INTERVAL) -> Curve:
    """The curve of all mechanisms together, from their privacy loss distributions.

    Losses are rounded up to a grid of `interval` nats: a finer one gives a lower curve and takes
    longer. Raises `InputError` for an empty list, and `UnsupportedError` naming the extra where
    dp-accounting isn't installed.
    """
    if not events:
        raise InputError("events", [], expected="at least one mechanism")
    library, common = _library()
    joined: Any = None
    for event in events:
        losses = _distribution(library, common, event, interval)
        losses = losses.self_compose(event.times) if event.times > 1 else losses
        joined = losses if joined is None else joined.compose(losses)
    error = _ERROR * sum(event.times for event in events)

    @lru_cache(maxsize=1024)
    def delta(epsilon: float) -> UpperBound:
        at_epsilon = float(joined.get_delta_for_epsilon(epsilon))
        return UpperBound(min(1.0, largest(0.0, at_epsilon) * (1.0 + 1e-9) + error))

    return Curve(delta, "the privacy loss distribution of all mechanisms together")


def _library() -> tuple[Any, Any]:
    try:
        library = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
        common = importlib.import_module("dp_accounting.pld.common")
    except ImportError:
        raise UnsupportedError(
            "composition",
            "optimal",
            expected="basic or advanced, where dp-accounting isn't installed",
            remedy="Install the extra: pip install 'bayesdp[accounting]'.",
        ) from None
    return library, common


def _distribution(library: Any, common: Any, event: Event, interval: float) -> Any:
    grid = {"value_discretization_interval": interval}
    if isinstance(event, Approximate):
        parameters = common.DifferentialPrivacyParameters(
            float(event.dp_epsilon), float(event.dp_delta)
        )
        return library.from_privacy_parameters(parameters, **grid)
    if isinstance(event, GaussianEvent):
        return library.from_gaussian_mechanism(event.sigma, **grid)
    return library.from_discrete_gaussian_mechanism(
        event.sigma, sensitivity=event.sensitivity, **grid
    )


@dataclass(frozen=True, slots=True)
class ConvertedCurve:
    """The best level of a curve at a delta: the point of the curve, the theorem, the level."""

    bdp_epsilon: UpperBound
    bdp_delta: UpperBound
    dp_epsilon: UpperBound
    dp_delta: UpperBound
    theorem: str


def converted_curve(curve: Curve, question: Question, delta: float) -> ConvertedCurve:
    """The least level at this delta that is reached from some point of the curve (theory 3.10).

    Every point is a valid pair of its own; a grid of them is tried, then finer ones around the
    best. All together take at most `MOST_LEVELS` (60) times the question's seconds; then only quick
    theorems are asked. Raises `UnsupportedError` where no theorem reaches the delta, and
    `InputError` for a delta that is not between 0 and 1.
    """
    _require("delta", delta, 0.0 < delta < 1.0, "a probability above 0 and below 1")
    low = curve.epsilon(delta)
    deadline = question.deadline.within(MOST_LEVELS * question.seconds)
    question = replace(question, deadline=deadline)
    tried: dict[float, ConvertedCurve | None] = {}

    def at(epsilon: float) -> float:
        if epsilon not in tried:
            tried[epsilon] = converted_point(question, curve.at(epsilon), delta)
        point = tried[epsilon]
        return math.inf if point is None else point.bdp_epsilon

    if math.isfinite(low):
        start = max(low, 0.02)
        points = [low, *(start * 1.15**step for step in range(_GRID))]
        best = min(points, key=at)
        for width in (0.06, 0.02, 0.006, 0.002):
            around = [best * (1.0 + width * step) for step in (-2, -1, 0, 1, 2)]
            best = min(around, key=at)
    good = [point for point in tried.values() if point is not None]
    if not good:
        raise UnsupportedError(
            "delta",
            delta,
            expected="a delta that some conversion reaches from this composition",
            remedy="Use a larger one, more noise, or pure costs.",
        )
    return min(good, key=lambda point: point.bdp_epsilon)


def converted_point(question: Question, cost: ApproxDP, delta: float) -> ConvertedCurve | None:
    """The least level of mechanisms of this cost; `None` where its delta would be above `delta`."""
    if not cost.delta < 1.0:
        return None
    best = best_bound(question, Cost(any=cost.epsilon))
    converted = delta_at(question, best.epsilon, cost)
    if not (converted <= delta and math.isfinite(best.epsilon)):
        return None
    return ConvertedCurve(best.epsilon, converted, cost.epsilon, cost.delta, best.theorem)
