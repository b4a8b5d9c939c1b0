"""The Rényi orders of a ledger: fixed by its total, before any cost is chosen (theory 2.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from bayesdp.leakage.deadline import NEVER
from bayesdp.leakage.zcdp import largest_rho
from bayesdp.notions import ApproxDP, Cost
from bayesdp.numbers import UpperBound, down
from bayesdp.populations import Family
from bayesdp.theorems import delta_at, quickest_first
from bayesdp.theorems.base import AnyTheorem, Question, Theorem

SHARES = (29.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0)
"""How delta is divided between a total's orders; exact in doubles, and 1 together."""
QUICK = 0.1
"""A ledger's points are chosen by theorems that take fewer seconds for a level."""
_POINTS = 40
"""How many costs are tried for the point of a total; each is proved, and more could only allow
more."""
_SHRINK = 0.8
"""The next cost that is tried is this share of the last; only the sharpness depends on it."""
LEAST_DELTA = 1e-290
"""Smaller deltas are refused: shares of them are beyond the doubles."""


@dataclass(frozen=True, slots=True)
class RenyiOrder:
    """One Rényi order with its share of delta.

    A `dp_delta` above 0 is that of the point that is converted (the way `point`): all orders of a
    total have one, or none has.
    """

    alpha: float
    delta: float
    dp_delta: float = 0.0


def bounds_divergence(theorem: AnyTheorem) -> bool:
    """Whether the theorem bounds Rényi divergences: it then converts zCDP costs directly."""
    return type(theorem).renyi is not Theorem.renyi


def orders_for(question: Question, total: float, delta: float) -> tuple[RenyiOrder, ...]:
    """The Rényi orders for a total, and their shares of delta; they depend on nothing else.

    The first is the best one where all costs are those of Gaussian noise. The others, with 2, 4 and
    8 times its `alpha - 1`, are for totals of which pure costs take about 1/2, 3/4 and 7/8.
    """
    # A ledger's orders depend on nothing else, so on no clock either.
    timeless = replace(question, deadline=NEVER, seconds=1.0, stop_after=None)
    return _orders(timeless, float(total), float(delta))


@lru_cache(maxsize=64)
def dp_orders(total: float, delta: float) -> tuple[RenyiOrder, ...]:
    """The orders where a Rényi divergence is converted at the end: those of DP itself too."""
    parts = [down(share * delta, 1) for share in SHARES]
    alpha = _rounded(largest_rho(total, parts[0]).alpha - 1.0)
    return tuple(RenyiOrder(1.0 + alpha * 2.0**k, part) for k, part in enumerate(parts))


def _rounded(value: float) -> float:
    """Three digits: the last bits of another machine must not change the orders of a ledger."""
    return float(f"{value:.3g}")


@lru_cache(maxsize=64)
def _orders(question: Question, total: float, delta: float) -> tuple[RenyiOrder, ...]:
    parts = [down(share * delta, 1) for share in SHARES]
    size = question.group_size
    best = _LargestCost(largest_rho(total, parts[0]).rho.value / size**2, 2.0, 0.0)
    if size > 1 and not isinstance(question.population, Family):
        for theorem in quickest_first(question):
            if not bounds_divergence(theorem) and theorem.expected_seconds(question) < QUICK:
                best = max(best, _best_point(theorem, question, total, parts[0], best.rho))
    if best.dp_delta == 0.0:
        return dp_orders(total, delta)
    return tuple(
        RenyiOrder(
            1.0 + _rounded(best.alpha - 1.0) * 2.0**k,
            part,
            down(_rounded(0.995 * best.dp_delta) * share / SHARES[0], 3),
        )
        for k, (part, share) in enumerate(zip(parts, SHARES, strict=True))
    )


@dataclass(frozen=True, slots=True, order=True)
class _LargestCost:
    """The largest zCDP cost that a total allows, its Rényi order, and the DP delta of its point.

    The DP delta is 0 where no point of the DP curve is behind it. Larger costs are more.
    """

    rho: float
    alpha: float
    dp_delta: float


def _best_point(
    theorem: AnyTheorem, question: Question, total: float, delta: float, least: float
) -> _LargestCost:
    """The largest zCDP cost by a theorem.

    Not looked for below `least`: what another theorem or group privacy allows.
    """
    best = _LargestCost(0.0, 2.0, 0.0)
    for power in range(_POINTS):
        dp_epsilon = total * _SHRINK**power
        if largest_rho(dp_epsilon, delta).rho.value < max(least, best.rho):
            break
        answer = _level_of(theorem, question, dp_epsilon)
        if answer is None or not answer <= total:
            continue
        grown = delta_at(question, answer, ApproxDP(UpperBound(dp_epsilon), UpperBound(1.0)))
        dp_delta = down(min(delta, delta / grown * (1.0 - 1e-6)), 4)
        if not dp_delta * SHARES[-1] > LEAST_DELTA:
            continue  # the level is so large that no point's delta is left
        allowed = largest_rho(dp_epsilon, dp_delta)
        best = max(best, _LargestCost(allowed.rho.value, allowed.alpha, dp_delta))
    return best


def _level_of(theorem: AnyTheorem, question: Question, dp_epsilon: float) -> float | None:
    """The theorem's level of all mechanisms of this cost, however long it takes."""
    cost = Cost.of(dp_epsilon)
    if theorem.refusal(question, cost) is not None:
        return None
    return max(theorem.bound(question, cost).epsilon, dp_epsilon)
