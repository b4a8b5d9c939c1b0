"""From a target to the DP budget: the inverse of the conversion (theory 4).

**Calibration** inverts `L`: for a BDP target, the largest DP budget `eps` whose certified level is
at most the target. Every bound above is monotone in `eps`, so it is found in closed form or by
bisection; then the level of the `eps` that was found is computed again by the certifying route, and
only an `eps` that passes is returned. The **noise multiplier** is `target / eps`: how much more
noise correlation costs, compared with independent records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bayesdp import notebook
from bayesdp.errors import InputError, UnsupportedError, finite_number, inner_probability
from bayesdp.leakage.correlated_deltas import growth
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta, smallest_sigma
from bayesdp.mechanisms.randomized_response import RandomizedResponse
from bayesdp.notions import (
    Adversary,
    ApproxDP,
    Bound,
    Calibration,
    Cost,
    Kind,
    Refused,
    Secrets,
    left_out_for_time,
    left_out_words,
)
from bayesdp.numbers import LowerBound, UpperBound
from bayesdp.populations import Population
from bayesdp.statements.base import exact_text
from bayesdp.theorems import Question, best_bound, check_seconds, delta_at, require_question

_PRECISION = 1e-12
"""A search ends where the logarithms of a good budget and of a bad one are this close: the answer,
the good one, may be lower by this share."""
_ROUNDS = 200
"""The most levels in one search; the answer is then the largest good budget so far."""
_PATIENCE = 5
"""After so many points that did not halve the bracket, its middle is tried. Speed only."""
LEAST_DELTA = 2.0**-48
"""Smaller deltas are refused: they are lost in the rounding of the noise's tail."""
_POINTS, _SHRINK, _HOPELESS = 24, 0.8, 1.3
"""How many points of the curve are tried, the next at which share of the last, and by which factor
the noise is above the least where that ends. Only how little noise is found depends on them: each
point is certified."""
MOST_LEVELS = 60
"""A search takes at most this many times `seconds`, the limit of a theorem for one level."""


def calibrate(
    population: Population,
    bdp_epsilon: float,
    *,
    adversary: Adversary = "any",
    kind: Kind = "any",
    secrets: Secrets = "bounded",
    seconds: float = 1.0,
) -> Calibration:
    """The DP budget for a BDP target: the largest `dp_epsilon` with `L(dp_epsilon) <= bdp_epsilon`.

    The answer is checked by the same certifying bounds that `leakage` reports, so the certified
    level never exceeds the target. `seconds` is the time that a theorem may take for one of the
    dozen levels that are tried; the whole search takes at most `MOST_LEVELS` (60) times that, and
    then answers with the largest budget found so far, by theorems that need no time if by no other.
    What was left out for time is listed. Both epsilons are in nats. Raises `InputError` naming the
    argument.

    >>> from bayesdp.populations import Clusters
    >>> round(calibrate(Clusters(size=4), 1.0).dp_epsilon, 6)
    0.25
    """
    target = finite_number("bdp_epsilon", bdp_epsilon, expected="a finite number of nats above 0")
    require_question(0.0, adversary, kind, secrets)
    seconds = check_seconds(seconds)
    within = Deadline(MOST_LEVELS * seconds)
    question = Question(population, adversary, secrets, seconds, within)
    good: dict[float, Bound] = {}
    refused: list[Refused] = []

    def level(dp_epsilon: float) -> UpperBound:
        here: list[Refused] = []
        bound = best_bound(question, Cost.of(dp_epsilon, kind), note=here.append)
        if bound.tight != "exact":  # else no theorem could have done better
            refused.extend(here)
        if bound.epsilon <= target:
            good[dp_epsilon] = bound
        return bound.epsilon

    dp_epsilon = largest_within(level, target, within)
    if dp_epsilon == 0.0:
        raise InputError(
            "bdp_epsilon",
            bdp_epsilon,
            expected="a target for which a positive DP budget can be represented",
            remedy="With so many dependent records it is below the smallest number there is.",
        )
    # Not asked again: there may be no time left.
    best = good[dp_epsilon]
    left_out = left_out_for_time(refused)
    return Calibration(target, LowerBound(dp_epsilon), best.epsilon, best.theorem, left_out)


def calibrate_randomized_response(
    population: Population,
    bdp_epsilon: float,
    states: Sequence[Hashable],
    *,
    adversary: Adversary = "any",
    seconds: float = 1.0,
) -> RandomizedResponse:
    """Randomized response on every record, with the least flipping that keeps to the target.

    `bdp_epsilon` and `seconds` are as in `calibrate`; `states` are the values that a record can
    take, at least two. All perturbed records are published. For a chain of two states randomized
    response attains the conversion (theory 3.9 c), so that less flipping would break the target.
    Raises `InputError` naming the argument.

    >>> from bayesdp.populations import MarkovChain
    >>> chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100_000)
    >>> round(calibrate_randomized_response(chain, 1.0, (0, 1)).flip, 6)
    0.47114
    """
    budget = calibrate(population, bdp_epsilon, adversary=adversary, seconds=seconds)
    return RandomizedResponse.for_cost(tuple(states), budget.dp_epsilon)


def largest_within(
    level: Callable[[float], float], target: float, deadline: Deadline = NEVER
) -> float:
    """The largest `x` in `[0, target]` found with `level(x) <= target`; 0 where there is none.

    `level` is increasing with `level(x) >= x`. The returned point was itself evaluated: that it
    keeps to the target is as certain as `level` is. Works on logarithms, by secants inside a
    bracket: levels are nearly linear at both ends. At the deadline the largest point so far is
    returned; levels are then expected to be quick, if worse.
    """
    first = level(target)
    if first <= target:
        return target
    low, high, at_low, at_high = _bracket(level, target, first)
    if low == 0.0:
        return 0.0
    log_target = math.log(target)
    bracket = _Bracket(
        _Tried(math.log(low), math.log(at_low) - log_target),
        _Tried(math.log(high), math.log(at_high) - log_target),
    )
    for _ in range(_ROUNDS):
        if bracket.width <= _PRECISION or deadline.passed:
            break
        middle = bracket.next()
        x = math.exp(middle)
        value = level(x)
        if value <= target:
            low = x
        bracket.add(_Tried(middle, math.log(value) - log_target))
    return low


def _bracket(
    level: Callable[[float], float], target: float, first: float
) -> tuple[float, float, float, float]:
    """`low < high`, `level(low) <= target < level(high)`, and both levels; `low = 0` if none."""
    high, at_high = target, first
    low = high * min(0.5, target / at_high) if math.isfinite(at_high) else high / 2.0
    while low > 0.0:
        value = level(low)
        if value <= target:
            return low, high, value, at_high
        low, high, at_high = low * min(0.5, 0.999 * target / value), low, value
    return 0.0, high, 0.0, at_high


@dataclass(frozen=True, slots=True)
class _Tried:
    """A budget that was tried: its logarithm, and that of its level over the target.

    The excess is at most 0 where the budget keeps to the target.
    """

    log_budget: float
    log_excess: float


class _Bracket:
    """Two points around the target and the two newest ones, through which secants go."""

    def __init__(self, low: _Tried, high: _Tried) -> None:
        self.low, self.high = low, high
        self.newest = (low, high)
        self.since_halved = 0
        self.halved = self.width

    @property
    def width(self) -> float:
        return self.high.log_budget - self.low.log_budget

    def next(self) -> float:
        """A point strictly inside: the secant's, or the middle where that leaves or is slow.

        The secant's is moved by a hair towards the further end, so that this end closes in too.
        """
        before, last = self.newest
        low, high = self.low.log_budget, self.high.log_budget
        middle = low + self.width / 2.0
        rise = last.log_excess - before.log_excess
        if self.since_halved >= _PATIENCE or not 0.0 < abs(rise) < math.inf:
            return middle
        run = last.log_budget - before.log_budget
        point = last.log_budget - last.log_excess * run / rise
        if not low < point < high:
            return middle
        hair = 0.25 * _PRECISION
        point += hair if point < middle else -hair
        return min(max(point, low + hair), high - hair)

    def add(self, point: _Tried) -> None:
        """Take in a budget that was tried."""
        self.newest = (self.newest[1], point)
        if point.log_excess <= 0.0:
            self.low = point
        else:
            self.high = point
        self.since_halved += 1
        if self.width <= self.halved / 2.0:
            self.halved, self.since_halved = self.width, 0


@dataclass(frozen=True, slots=True)
class GaussianCalibration:
    """Discrete Gaussian noise for an `(epsilon, delta)` target under a population.

    The noise is certified to have the level `(certified_epsilon, certified_delta)`, by `theorem`;
    neither is above the target. `(dp_epsilon, dp_delta)` is the point of the noise's DP curve that
    the conversion used. `sigma` is the noise's parameter in integer steps, for released integers
    that change by `sensitivity` steps when one record is replaced; `noise_multiplier` compares it
    with independent records. `refused` are the theorems that were left out for time alone: with
    their `seconds` there may be less noise.
    """

    target: float
    target_delta: float
    dp_epsilon: float
    dp_delta: UpperBound
    certified_epsilon: UpperBound
    certified_delta: UpperBound
    sigma: float
    sensitivity: int
    noise_multiplier: float
    theorem: str
    refused: tuple[Refused, ...] = ()

    def _repr_html_(self) -> str:
        """What a notebook shows: the noise for the target, and what was left out for time."""
        columns = ("certified level", "delta", "sigma", "times the noise", "theorem")
        row = (
            repr(self.certified_epsilon),
            repr(self.certified_delta),
            f"{self.sigma:.6g}",
            f"{self.noise_multiplier:.6g}",
            self.theorem,
        )
        title = f"Discrete Gaussian noise for a target of {exact_text(self.target)} at "
        title += f"{exact_text(self.target_delta)}"
        return notebook.table(title, columns, [row]) + left_out_words(self.refused)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp calibrate --delta --json` prints it."""
        return asdict(self) | {"refused": [refusal.to_dict() for refusal in self.refused]}


def calibrate_gaussian(
    population: Population,
    bdp_epsilon: float,
    bdp_delta: float,
    *,
    sensitivity: int = 1,
    adversary: Adversary = "any",
    seconds: float = 1.0,
) -> GaussianCalibration:
    """Discrete Gaussian noise for a target `(bdp_epsilon, bdp_delta)`: the least of a search.

    It minimises the noise's `sigma` over one number, the `dp_epsilon` of a point of the noise's DP
    curve. A `dp_epsilon` is admitted if `L <= bdp_epsilon`, `L` the best theorem's level of every
    mechanism of that pure cost. The target then leaves it `dp_delta = bdp_delta (e^dp_epsilon - 1)
    / (e^L - 1)` (theory 3.10), and its `sigma` is the smallest with `discrete_gaussian_delta` of at
    most `dp_delta`, to a millionth. Tried are the largest admitted `dp_epsilon`, 0.8 of it, 0.8 of
    that and so on, until the noise is 30 % above the least, then points within 16 % of the best: a
    minimum over a grid. Proofs that don't convert a point (Rényi divergences, theory 2.5; a shift
    of Gaussian records, theory 3.8 e) are not asked, and may allow less noise. The delta of the
    least `sigma` is evaluated anew; `certified_epsilon` is its `L`, which may lie below the target.

    `sensitivity` is the change of a released integer, in steps, when one record is replaced.
    `adversary` and `seconds` are as in `calibrate`. Raises `InputError` naming the argument, and
    `UnsupportedError` where no noise reaches the target, or none was found in time.
    """
    inner_probability("bdp_delta", bdp_delta, example="1e-6")
    if bdp_delta <= LEAST_DELTA:
        raise InputError(
            "bdp_delta",
            bdp_delta,
            expected=f"a probability above {LEAST_DELTA:.3g}: smaller ones are lost in the "
            "rounding of the noise's tail",
            remedy="Use pure DP noise (no delta).",
        )
    target = finite_number("bdp_epsilon", bdp_epsilon, expected="a finite number of nats above 0")
    question = Question(population, adversary, seconds=check_seconds(seconds))
    search = _GaussianSearch(question, target, float(bdp_delta), sensitivity)
    best = search.run()
    if best is None:
        raise UnsupportedError(
            "bdp_epsilon",
            bdp_epsilon,
            expected="a target that Gaussian noise with this delta can reach for this population",
            remedy="Use pure DP noise (no delta), or a population that says more.",
        )
    return best


class _GaussianSearch:
    """Over `dp_epsilon` on a logarithmic grid, then finer around the best point."""

    def __init__(
        self, question: Question, target: float, target_delta: float, sensitivity: int
    ) -> None:
        self.seconds = MOST_LEVELS * question.seconds
        self.deadline = question.deadline.within(self.seconds)
        self.question = question
        self.target = target
        self.target_delta = target_delta
        self.sensitivity = sensitivity
        self.sigmas: dict[float, float] = {}
        self.levels: dict[float, Bound] = {}
        self.refused: list[Refused] = []

    def run(self) -> GaussianCalibration | None:
        high = largest_within(self._epsilon, self.target, self.deadline.within(self.seconds / 2.0))
        if high <= 0.0:
            return None
        best = high
        for power in range(1, _POINTS):
            point = high * _SHRINK**power
            if self._sigma(point) < self._sigma(best):
                best = point
            elif self._sigma(point) > _HOPELESS * self._sigma(best):
                break
        for width in (0.08, 0.025, 0.008):
            around = [best * (1.0 + width * step) for step in (-2, -1, 0, 1, 2)]
            best = min([p for p in around if p <= high], key=self._sigma)
        sigma = self._sigma(best)
        return self._certified(best, sigma) if math.isfinite(sigma) else None

    def _level(self, dp_epsilon: float) -> Bound:
        """The lowest level of all mechanisms of this cost."""
        if dp_epsilon not in self.levels:
            self._check_time()
            here: list[Refused] = []
            bound = best_bound(self.question, Cost.of(dp_epsilon), note=here.append)
            if bound.tight != "exact":  # else no theorem could have done better
                self.refused += here
            self.levels[dp_epsilon] = bound
        return self.levels[dp_epsilon]

    def _epsilon(self, dp_epsilon: float) -> UpperBound:
        return self._level(dp_epsilon).epsilon

    def _sigma(self, dp_epsilon: float) -> float:
        if dp_epsilon not in self.sigmas:
            if self.deadline.passed and any(sigma < math.inf for sigma in self.sigmas.values()):
                return math.inf  # what was found so far is good, if not the best
            self._check_time()
            dp_delta = self._largest_delta(dp_epsilon)
            sigma = math.inf
            if dp_delta > LEAST_DELTA:
                sigma = smallest_sigma(self.sensitivity, dp_epsilon, dp_delta, precision=1e-6)
            self.sigmas[dp_epsilon] = sigma
        return self.sigmas[dp_epsilon]

    def _check_time(self) -> None:
        if self.deadline.passed:
            raise UnsupportedError(
                "seconds",
                self.question.seconds,
                expected=f"a population whose levels are found within {self.seconds:g} s in all",
                remedy="Give it more seconds, or use fewer states, or pure DP noise (no delta).",
            )

    def _largest_delta(self, dp_epsilon: float) -> float:
        """The largest delta that the conversion leaves for the mechanism, 0 above the target."""
        level = self._level(dp_epsilon).epsilon
        if not level <= self.target:
            return 0.0
        return self.target_delta / growth(level, dp_epsilon) * (1.0 - 1e-9)

    def _certified(self, dp_epsilon: float, sigma: float) -> GaussianCalibration | None:
        dp_delta = discrete_gaussian_delta(sigma, self.sensitivity, dp_epsilon)
        best = self._level(dp_epsilon)
        delta = delta_at(self.question, best.epsilon, ApproxDP(UpperBound(dp_epsilon), dp_delta))
        if not (best.epsilon <= self.target and delta <= self.target_delta):
            return None
        alone = smallest_sigma(self.sensitivity, self.target, self.target_delta, precision=1e-6)
        return GaussianCalibration(
            target=self.target,
            target_delta=self.target_delta,
            dp_epsilon=dp_epsilon,
            dp_delta=UpperBound(dp_delta),
            certified_epsilon=best.epsilon,
            certified_delta=delta,
            sigma=sigma,
            sensitivity=self.sensitivity,
            noise_multiplier=sigma / alone,
            theorem=best.theorem,
            refused=left_out_for_time(self.refused),
        )
