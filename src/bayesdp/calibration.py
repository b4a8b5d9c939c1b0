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
_PATIENCE = 5


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
    logarithms, by secants inside a bracket: levels are nearly linear at both ends.
    """
    first = level(target)
    if first <= target:
        return target
    low, high, at_low, at_high = _bracket(level, target, first)
    if low == 0.0:
        return 0.0
    log_target = math.log(target)
    bracket = _Bracket(
        (math.log(low), math.log(at_low) - log_target),
        (math.log(high), math.log(at_high) - log_target),
    )
    for _ in range(_ROUNDS):
        if bracket.width <= _PRECISION:
            break
        middle = bracket.next()
        x = math.exp(middle)
        value = level(x)
        if value <= target:
            low = x
        bracket.add((middle, math.log(value) - log_target))
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


_Point = tuple[float, float]
"""A logarithm of the budget, and the logarithm of its level over the target."""


class _Bracket:
    """Two points around the target and the two newest ones, through which secants go."""

    def __init__(self, low: _Point, high: _Point) -> None:
        self.low, self.high = low, high
        self.newest = (low, high)
        self.since_halved = 0
        self.halved = self.width

    @property
    def width(self) -> float:
        return self.high[0] - self.low[0]

    def next(self) -> float:
        """A point strictly inside: the secant's, or the middle where that leaves or is slow.

        The secant's is moved by a hair towards the further end, so that this end closes in too.
        """
        (x0, y0), (x1, y1) = self.newest
        middle = self.low[0] + self.width / 2.0
        if self.since_halved >= _PATIENCE or not 0.0 < abs(y1 - y0) < math.inf:
            return middle
        point = x1 - y1 * (x1 - x0) / (y1 - y0)
        if not self.low[0] < point < self.high[0]:
            return middle
        hair = 0.25 * _PRECISION
        point += hair if point < middle else -hair
        return min(max(point, self.low[0] + hair), self.high[0] - hair)

    def add(self, point: _Point) -> None:
        """Take in an evaluated point."""
        self.newest = (self.newest[1], point)
        if point[1] <= 0.0:
            self.low = point
        else:
            self.high = point
        self.since_halved += 1
        if self.width <= self.halved / 2.0:
            self.halved, self.since_halved = self.width, 0
