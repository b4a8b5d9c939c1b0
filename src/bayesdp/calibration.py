"""From a target to the DP budget: the inverse of the conversion (theory 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayesdp.errors import InputError
from bayesdp.notions import Adversary, Cost, Kind, Secrets
from bayesdp.populations import Population
from bayesdp.theorems import Question, leakage, report

_PRECISION = 1e-12
_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Calibration:
    """The largest DP budget found whose certified level is at most `target`.

    `noise_multiplier` is `target / dp_epsilon`: how much more noise than for independent records.
    It is at least 1, because a DP mechanism leaks at least its DP level (theory 2.1).
    """

    target: float
    dp_epsilon: float
    certified_epsilon: float
    theorem: str

    @property
    def noise_multiplier(self) -> float:
        """`target / dp_epsilon`."""
        return self.target / self.dp_epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp calibrate --json` prints it."""
        return {
            "target": self.target,
            "dp_epsilon": self.dp_epsilon,
            "certified_epsilon": self.certified_epsilon,
            "noise_multiplier": self.noise_multiplier,
            "theorem": self.theorem,
        }


def calibrate(
    population: Population,
    bdp_epsilon: float,
    *,
    adversary: Adversary = "any",
    kind: Kind = "any",
    secrets: Secrets = "bounded",
) -> Calibration:
    """The DP budget for a BDP target: the largest `dp_epsilon` with `L(dp_epsilon) <= bdp_epsilon`.

    The answer is checked by the same certifying bounds that `leakage` reports, so the certified
    level never exceeds the target. Both are in nats. Errors: `InputError` naming the argument.

    >>> from bayesdp.populations import Clusters
    >>> round(calibrate(Clusters(size=4), 1.0).dp_epsilon, 6)
    0.25
    """
    if not (isinstance(bdp_epsilon, int | float) and 0.0 < bdp_epsilon < math.inf):
        raise InputError("bdp_epsilon", bdp_epsilon, expected="a finite number of nats above 0")
    leakage(population, 0.0, adversary=adversary, kind=kind, secrets=secrets)
    question = Question(population, adversary, secrets)
    dp_epsilon = largest_within(
        lambda eps: report(question, Cost.of(eps, kind)).best.epsilon, float(bdp_epsilon)
    )
    if dp_epsilon == 0.0:
        raise InputError(
            "bdp_epsilon",
            bdp_epsilon,
            expected="a target for which a positive DP budget can be represented",
            remedy="With so many dependent records it is below the smallest number there is.",
        )
    best = report(question, Cost.of(dp_epsilon, kind)).best
    return Calibration(float(bdp_epsilon), dp_epsilon, best.epsilon, best.theorem)


def largest_within(level: Callable[[float], float], target: float) -> float:
    """The largest `x` in `[0, target]` found with `level(x) <= target`; 0.0 where none is.

    `level` is increasing with `level(x) >= x`. The returned point was itself evaluated. Works on
    logarithms by interpolation safeguarded with bisection: levels are nearly linear at both ends.
    """
    if level(target) <= target:
        return target
    low, high = _bracket(level, target)
    if low == 0.0:
        return 0.0
    log_target = math.log(target)
    at_low, at_high = math.log(level(low)) - log_target, math.log(level(high)) - log_target
    log_low, log_high = math.log(low), math.log(high)
    step = _PRECISION
    for round_number in range(_ROUNDS):
        if log_high - log_low <= step:
            break
        middle = _interpolate(log_low, log_high, at_low, at_high, round_number, step)
        value = level(math.exp(middle))
        if value <= target:
            low, log_low, at_low = math.exp(middle), middle, math.log(value) - log_target
        else:
            log_high, at_high = middle, math.log(value) - log_target
    return low


def _bracket(level: Callable[[float], float], target: float) -> tuple[float, float]:
    """`low < high` with `level(low) <= target < level(high)`; `(0.0, high)` where none is found."""
    high = target
    low = high * min(0.5, target / level(high)) if math.isfinite(level(high)) else high / 2.0
    while low > 0.0:
        value = level(low)
        if value <= target:
            return low, high
        low, high = low * min(0.5, 0.999 * target / value), low
    return 0.0, high


def _interpolate(
    log_low: float, log_high: float, at_low: float, at_high: float, round_number: int, step: float
) -> float:
    """A point strictly inside: secant, nudged so that both ends close in; each third bisects."""
    width = log_high - log_low
    if round_number % 3 == 2 or at_high <= at_low:
        return log_low + width / 2.0
    middle = log_low + width * (-at_low) / (at_high - at_low)
    nudge = 0.25 * step
    middle += -nudge if round_number % 2 else nudge
    return min(max(middle, log_low + 0.1 * step), log_high - 0.1 * step)
