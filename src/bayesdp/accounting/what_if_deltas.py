"""Lists of releases of which some are (epsilon, delta)-DP only (theory 2.8, 3.10).

They are composed at the DP level, by adding up, by advanced composition, and optimally (where
dp-accounting is installed); each result is a curve of which the best point is converted once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import InputError, UnsupportedError
from ..theorems import Question
from .approximate import (
    Approximate,
    ConvertedCurve,
    advanced,
    basic,
    converted_curve,
    converted_point,
    optimal,
)

_SLACKS = 24
"""Advanced composition is tried with this many amounts of further delta, in powers of 2."""


@dataclass(frozen=True, slots=True)
class Composed:
    """What one rule proves of all releases together.

    `point` is its best one; None where the rule doesn't reach the delta that was asked for, or
    needs an extra (`missing` says which).
    """

    rule: str
    point: ConvertedCurve | None
    missing: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        one = self.point
        return {
            "rule": self.rule,
            "dp_epsilon": None if one is None else one.dp_epsilon,
            "dp_delta": None if one is None else one.dp_delta,
            "bdp_epsilon": None if one is None else one.bdp_epsilon,
            "theorem": None if one is None else one.theorem,
            "missing": self.missing or None,
        }


def has_deltas(releases: Sequence[Any]) -> bool:
    """Whether some release of a list states a DP delta."""
    return any(isinstance(one, Mapping) and "dp_delta" in one for one in releases)


def shares(releases: Sequence[Any], delta: float) -> list[float]:
    """The part of `delta` that each release's own level gets: as its delta is to all of them."""
    own = [_delta(one, k) for k, one in enumerate(releases)]
    total = sum(map(Fraction, own))
    if total == 0:
        return [delta / len(own)] * len(own)
    return [float(Fraction(delta) * Fraction(one) / total) for one in own]


def _delta(raw: Any, position: int) -> float:
    """A release's own delta, and that nothing stands beside it that this composition can't read."""
    place = f"releases[{position}]"
    if not isinstance(raw, Mapping):
        return 0.0  # refused with the other shapes of a release
    value = raw.get("dp_delta", 0.0)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0.0 <= value < 1.0:
        raise InputError(f"{place}.dp_delta", value, expected="a probability below 1")
    if "dp_delta" in raw and "dp_epsilon" not in raw:
        raise InputError(f"{place}.dp_delta", value, expected="dp_epsilon beside it")
    for key in ("block", "rho", "bdp_epsilon"):
        if key in raw:
            raise InputError(
                f"{place}.{key}",
                expected="releases on everything with dp_epsilon, in a list where one has dp_delta",
                remedy="Price it on its own, or state dp_epsilon and dp_delta.",
                shown=False,
            )
    return float(value)


def own_level(question: Question, dp_epsilon: float, dp_delta: float, delta: float) -> float:
    """The level of one release alone at this delta. Raises `UnsupportedError` where none is."""
    return _reached(converted_point(question, dp_epsilon, dp_delta, delta), delta).bdp_epsilon


def together(
    events: Sequence[Approximate], question: Question, delta: float
) -> tuple[Composed, ...]:
    """What each rule proves, the best first. Raises `UnsupportedError` where none reaches it."""
    slacks = [2.0**-power for power in range(2, 2 + 3 * _SLACKS, 3)]
    found = [
        Composed("basic", converted_point(question, *basic(events), delta)),
        Composed("advanced", _best([(advanced(events, one)) for one in slacks], question, delta)),
        _optimal(events, question, delta),
    ]
    _reached(next((one.point for one in found if one.point), None), delta)
    return tuple(
        sorted(found, key=lambda one: math.inf if one.point is None else one.point.bdp_epsilon)
    )


def _best(
    pairs: Sequence[tuple[float, float]], question: Question, delta: float
) -> ConvertedCurve | None:
    found = [converted_point(question, *pair, delta) for pair in pairs]
    return min((one for one in found if one), key=lambda one: one.bdp_epsilon, default=None)


def _optimal(events: Sequence[Approximate], question: Question, delta: float) -> Composed:
    try:
        curve = optimal(events)
    except UnsupportedError as error:
        return Composed("optimal", None, str(error.remedy))
    try:
        return Composed("optimal", converted_curve(curve, question, delta))
    except UnsupportedError:
        return Composed("optimal", None)


def _reached(found: ConvertedCurve | None, delta: float) -> ConvertedCurve:
    if found is None:
        raise UnsupportedError(
            "delta",
            delta,
            expected="a delta that some conversion reaches from these releases",
            remedy="Use a larger --delta: groups of dependent records multiply the deltas.",
        )
    return found
