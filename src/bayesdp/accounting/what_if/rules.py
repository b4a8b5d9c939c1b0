"""Lists of releases of which some are (epsilon, delta)-DP only (theory 2.8, 3.10).

They are composed at the DP level, by adding up, by advanced composition, and optimally (where
dp-accounting is installed); each result is a curve of which the best point is converted once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp.accounting.costs.delta_composition import (
    Approximate,
    ConvertedCurve,
    advanced,
    basic,
    converted_curve,
    converted_point,
    optimal,
)
from bayesdp.accounting.what_if.releases import StatedRelease
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.notions import ApproxDP, PureDP
from bayesdp.numbers import UpperBound
from bayesdp.theorems import Question

_SLACKS = 24
"""Advanced composition is tried with this many amounts of further delta, in powers of 2."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What one rule proves of all releases together.

    `point` is its best point; None where the rule doesn't reach the delta that was asked for, or
    needs an extra (`missing` says which).
    """

    rule: str
    point: ConvertedCurve | None
    missing: str = ""

    @property
    def level(self) -> UpperBound:
        """The level of the best point; infinite where there is none."""
        return UpperBound(math.inf) if self.point is None else self.point.bdp_epsilon

    def to_dict(self) -> dict[str, Any]:
        """The rule and its best point as plain data for JSON."""
        point = self.point
        return {
            "rule": self.rule,
            "dp_epsilon": None if point is None else point.dp_epsilon,
            "dp_delta": None if point is None else point.dp_delta,
            "bdp_epsilon": None if point is None else point.bdp_epsilon,
            "theorem": None if point is None else point.theorem,
            "missing": self.missing or None,
        }


def have_deltas(releases: Iterable[StatedRelease]) -> bool:
    """Whether some release of a list states a DP delta."""
    return any(isinstance(release.cost, ApproxDP) for release in releases)


def shares(releases: Sequence[StatedRelease], delta: float) -> list[float]:
    """The part of `delta` that each release's own level gets, so that they add up to it.

    In proportion to the releases' own deltas; equal parts where there are none.
    """
    costs = [release.cost for release in releases]
    own = [Fraction(cost.delta if isinstance(cost, ApproxDP) else 0.0) for cost in costs]
    total = sum(own)
    if total == 0:
        return [delta / len(own)] * len(own)
    return [float(Fraction(delta) * part / total) for part in own]


def own_level(question: Question, cost: ApproxDP, delta: float) -> UpperBound:
    """The level at `delta` of one release alone, whose DP cost is `cost`, rounded up.

    Raises `UnsupportedError` where no level holds at that delta.
    """
    point = converted_point(question, cost, delta)
    if point is None:
        raise _not_reached(delta)
    return point.bdp_epsilon


def together(
    releases: Iterable[StatedRelease], question: Question, delta: float
) -> tuple[RuleResult, ...]:
    """What each rule proves about all `releases` at `delta`, the best first.

    Raises `UnsupportedError` where none reaches it, `InputError` for a release without a DP cost.
    """
    events = [_event(release) for release in releases]
    slacks = [2.0**-power for power in range(2, 2 + 3 * _SLACKS, 3)]
    points = [converted_point(question, advanced(events, slack), delta) for slack in slacks]
    reached = [point for point in points if point is not None]
    results = [
        RuleResult("basic", converted_point(question, basic(events), delta)),
        RuleResult("advanced", min(reached, key=lambda point: point.bdp_epsilon, default=None)),
        _optimal(events, question, delta),
    ]
    if all(result.point is None for result in results):
        raise _not_reached(delta)
    return tuple(sorted(results, key=lambda result: result.level))


def _event(release: StatedRelease) -> Approximate:
    match release.cost:
        case ApproxDP(epsilon, delta):
            return Approximate(epsilon, delta)
        case PureDP(epsilon):
            return Approximate(epsilon)
    raise InputError(
        "releases",
        release.name,
        expected="a DP cost for every release, in a list where one has dp_delta",
        remedy="State its dp_epsilon, and its dp_delta unless that is 0.",
    )


def _optimal(events: Sequence[Approximate], question: Question, delta: float) -> RuleResult:
    try:
        curve = optimal(events)
    except UnsupportedError as error:
        return RuleResult("optimal", None, str(error.remedy))
    try:
        return RuleResult("optimal", converted_curve(curve, question, delta))
    except UnsupportedError:
        return RuleResult("optimal", None)


def _not_reached(delta: float) -> UnsupportedError:
    return UnsupportedError(
        "delta",
        delta,
        expected="a delta that some conversion reaches from these releases",
        remedy="Use a larger --delta: groups of dependent records multiply the deltas.",
    )
