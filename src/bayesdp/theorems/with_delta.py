"""Levels of pure and Gaussian costs together: an epsilon at a given delta (theory 2.5).

Two ways lead from the costs `(eps, rho)` of everything, composed, to a level:

* `renyi`: a theorem bounds the Rényi divergence that a secret makes, and that is converted;
* `point`: the costs are converted to a point `(dp_epsilon, dp_delta)` of their DP curve, and any
  theorem's level of pure mechanisms of cost `dp_epsilon` is one with a delta (theory 3.10).

Pure costs enter as they are, or as zCDP of `eps^2 / 2` (`counted`): whichever gives less.

For costs that were fixed beforehand any Rényi order may be chosen, and the best one is. Where
somebody chooses costs after having seen answers, as with a ledger, the orders must have been fixed
first, each with its share of delta: `orders_for` fixes them by the total alone (theory 2.6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bayesdp.errors import InputError, Refusal
from bayesdp.leakage.deadline import OutOfTimeError
from bayesdp.leakage.zcdp import group_renyi, least_epsilon, reserve
from bayesdp.notions import ApproxDP, Bound, Cost, Refused
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Family
from bayesdp.theorems import (
    LeakageReport,
    approximate,
    check_own_delta,
    delta_at,
    limited,
    out_of_time,
    pure_level,
    quickest_first,
    report,
)
from bayesdp.theorems.base import AnyTheorem, Question
from bayesdp.theorems.family import FamilyOfPopulations
from bayesdp.theorems.renyi_orders import (
    LEAST_DELTA,
    RenyiOrder,
    bounds_divergence,
    dp_orders,
    orders_for,
)

Counted = Literal["pure", "zcdp"]
CountedCosts = Sequence[tuple[Counted, Cost]]
"""Costs, and how their pure parts are counted: what holds is any of them."""

APPROXIMATE_DP = "approximate-dp"
"""The rule of a step that converts costs to DP with a delta."""
SOURCE = "Canonne, Kamath & Steinke, NeurIPS 2020, Proposition 12; theory 2.5"
_ROOM = 1e-8
"""What a point's delta is kept below its share by: the kernel rounds in its own way."""
_TRIES = 24
"""The most levels in the search for one point; only the sharpness depends on it."""
_CLOSE = 1e-4
"""The search for a point ends where this share of delta is not used."""
_LEAST_LOG = -690.0
"""The search for a point ends below this logarithm of a delta: the doubles end there."""
NO_DIVERGENCE = "the ledger's orders are those of Rényi divergences, which it doesn't bound"
_BEYOND = "at this delta no point of the costs' DP curve has a level by it"


def report_with_delta(
    question: Question,
    cost: Cost,
    delta: float,
    *,
    zcdp_cost: Cost | None = None,
    total: float | None = None,
) -> LeakageReport:
    """Every theorem's level at `delta`, lowest first: `report` with Gaussian noise in it.

    `zcdp_cost` are the same costs with every pure one counted as zCDP. `total` is what the level is
    kept to by a ledger, whose costs may depend on earlier answers; without it the costs were fixed
    beforehand. Raises `InputError` unless `1e-290 <= delta < 1`. Source: theory 2.5, 2.6, 3.10.
    """
    if not (isinstance(delta, int | float) and LEAST_DELTA <= delta < 1.0):
        raise InputError("delta", delta, expected=f"a probability from {LEAST_DELTA:g} to below 1")
    check_own_delta(cost)
    counted_costs: list[tuple[Counted, Cost]] = [("pure", cost)]
    if zcdp_cost is not None and zcdp_cost != cost:
        counted_costs.append(("zcdp", zcdp_cost))
    bounds: list[Bound] = []
    reasons: dict[str, str] = {}
    if cost.rho == 0.0:
        plain = report(question, cost)
        bounds += plain.bounds
        reasons = {refused.theorem: refused.reason for refused in plain.refused}
        counted_costs = counted_costs[1:]
    if isinstance(question.population, Family):
        bounds += _of_family(question, cost, delta, zcdp_cost, total)
        if total is not None:
            # Members have orders of their own, which use up the delta: no others stand beside them.
            counted_costs = []
    orders = None if total is None else orders_for(question, total, delta)
    start = math.log(delta)
    for theorem in quickest_first(question) if counted_costs else ():
        if theorem.asks_others:
            continue
        for answer in _answers(theorem, question, counted_costs, delta, orders, start):
            if isinstance(answer, Refused):
                reasons.setdefault(theorem.name, answer.reason)
                continue
            bounds.append(answer)
            # A sharper theorem's point has a larger delta: its search starts from here.
            start = math.log(answer.proof.get("dp_delta", math.exp(start)))
    held = {bound.theorem for bound in bounds}
    refused = tuple(Refused(name, why) for name, why in reasons.items() if name not in held)
    bounds.sort(key=lambda bound: (bound.epsilon, bound.tight != "exact"))
    return LeakageReport(
        cost, question.adversary, question.secrets, tuple(bounds), refused, delta, zcdp_cost
    )


def _answers(
    theorem: AnyTheorem,
    question: Question,
    counted_costs: CountedCosts,
    delta: float,
    orders: tuple[RenyiOrder, ...] | None,
    start: float,
) -> list[Bound | Refused]:
    """What a theorem says of the costs: by the orders of a ledger, or by the best point.

    `start` is the logarithm of the delta from which the search for the best point starts.
    """
    points = orders is not None and orders[0].dp_delta > 0.0
    if bounds_divergence(theorem) and not points:
        return [
            _by_divergence(theorem, question, counted_cost, delta, orders)
            for counted_cost in counted_costs
        ]
    if orders is None:
        return [_free_point(theorem, question, counted_costs, delta, start)]
    if points:
        return [_point_of(theorem, question, counted_costs, orders)]
    return [Refused(theorem.name, NO_DIVERGENCE)]


def stated_report(question: Question, stated: ApproxDP) -> LeakageReport:
    """`theorems.approximate` as a report that a certificate can be made from.

    Each bound has a delta of its own; the report's is that of the best. Raises `InputError` as
    there, and `Refusal` where every delta grows to 1 or more.
    """
    answer = approximate(question, stated)
    if not answer.bounds:
        raise Refusal(
            f"No theorem says what ({stated.epsilon:g}, {stated.delta:g})-DP means for this "
            "population: delta grows to 1 and more."
        )
    proof = {
        "way": "stated",
        "counted": "pure",
        "dp_epsilon": stated.epsilon,
        "dp_delta": stated.delta,
    }
    bounds = tuple(
        Bound(
            bound.theorem, bound.epsilon, "upper", bound.source, bound.evidence, bound.delta, proof
        )
        for bound in answer.bounds
    )
    cost = Cost(any=stated.epsilon)
    adversary, secrets = question.adversary, question.secrets
    return LeakageReport(cost, adversary, secrets, bounds, answer.refused, bounds[0].delta)


# -- Rényi divergences ----------------------------------------------------------------------


def _by_divergence(
    theorem: AnyTheorem,
    question: Question,
    counted_cost: tuple[Counted, Cost],
    delta: float,
    orders: tuple[RenyiOrder, ...] | None,
) -> Bound | Refused:
    """The theorem's level of the costs, as they are counted: the least over the orders."""
    counted, cost = counted_cost
    try:
        timed = limited(theorem, question)
        reason = theorem.refusal(timed, cost)
        if reason is not None:
            return Refused(theorem.name, reason)

        def tau(alpha: float) -> UpperBound:
            divergence = theorem.renyi(timed, cost, alpha)
            return UpperBound(math.inf) if divergence is None else divergence

        best = min(_levels(tau, delta, orders))
        # What a theorem tells of a population (its factor, its evidence) is in its pure bound.
        evidence = theorem.bound(timed, cost).evidence
    except OutOfTimeError:
        return Refused(theorem.name, out_of_time(question))
    proof = {"counted": counted, "way": "renyi", "alpha": best.alpha}
    return Bound(theorem.name, best.epsilon, "upper", theorem.source, evidence, best.delta, proof)


@dataclass(frozen=True, slots=True, order=True)
class _LevelAtDelta:
    """A level at a `delta`, and the Rényi order `alpha` that shows it; lower levels are less."""

    epsilon: UpperBound
    alpha: float
    delta: UpperBound


def _levels(
    tau: Callable[[float], UpperBound], delta: float, orders: Sequence[RenyiOrder] | None
) -> list[_LevelAtDelta]:
    """The levels that the Rényi divergences `tau` show: of the best order, or of all `orders`."""
    if orders is None:
        best = least_epsilon(tau, delta)
        return [_LevelAtDelta(best.epsilon, best.alpha, UpperBound(delta))]
    return [
        _LevelAtDelta(
            UpperBound(up(tau(order.alpha) + reserve(order.alpha, order.delta), 1)),
            order.alpha,
            UpperBound(order.delta),
        )
        for order in orders
    ]


def dp_level(cost: Cost, alpha: float, dp_delta: float) -> UpperBound:
    """The DP epsilon of everything at `dp_delta` by one Rényi order, rounded up."""
    return UpperBound(up(group_renyi(1, cost, alpha) + reserve(alpha, dp_delta), 1))


def dp_bounds(
    cost: Cost, delta: float, counted: Counted = "pure", total: float | None = None
) -> list[Bound]:
    """The DP levels of everything at `delta`: the best order's, or those of a total's orders."""
    orders = None if total is None else dp_orders(float(total), float(delta))
    return [
        Bound(
            APPROXIMATE_DP,
            level.epsilon,
            "upper",
            SOURCE,
            {},
            level.delta,
            {"counted": counted, "way": "renyi", "alpha": level.alpha},
        )
        for level in _levels(lambda alpha: group_renyi(1, cost, alpha), delta, orders)
    ]


# -- points of the DP curve -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class _CurvePoint:
    """A point `(dp_epsilon, dp_delta)` of the costs' DP curve, and the Rényi order that shows it.

    `counted` says how pure costs were counted. Points with a lower epsilon are less.
    """

    dp_epsilon: UpperBound
    alpha: float
    counted: Counted
    dp_delta: float


def _best_of_curve(cost: Cost, dp_delta: float, counted: Counted) -> _CurvePoint:
    """The point with the least epsilon at this delta."""
    best = least_epsilon(lambda alpha: group_renyi(1, cost, alpha), dp_delta)
    return _CurvePoint(best.epsilon, best.alpha, counted, dp_delta)


def _free_point(
    theorem: AnyTheorem, question: Question, counted_costs: CountedCosts, delta: float, start: float
) -> Bound | Refused:
    """The theorem's least level over the points of the costs' DP curve that keep to `delta`.

    Levels grow with the point's epsilon, so it is the largest `dp_delta` that fits that is wanted;
    it is searched from `start`, on logarithms.
    """
    refused = Refused(theorem.name, _BEYOND)

    def at(log: float) -> tuple[float, Bound | None]:
        nonlocal refused
        dp_delta = min(math.exp(log), delta)
        points = [_best_of_curve(cost, dp_delta, counted) for counted, cost in counted_costs]
        gap, answer = _at_point(theorem, question, min(points), delta)
        if isinstance(answer, Refused):
            refused = answer
            return math.inf, None
        return gap, answer

    bound = _largest_that_fits(at, start, math.log(delta))
    return refused if bound is None else bound


def _largest_that_fits(
    at: Callable[[float], tuple[float, Bound | None]], start: float, top: float
) -> Bound | None:
    """The bound at the largest argument up to `top` that is found to have a gap of at most 0.

    The gap at an argument is how far the logarithm of the converted delta is above what is allowed.
    Where it is above 0, a step down by a little more than it; where it is below, up; and once there
    are both, secants between them.
    """
    fits: tuple[float, float] | None = None
    over: tuple[float, float] | None = None
    best, point = None, start
    for _ in range(_TRIES):
        gap, bound = at(point)
        if gap <= 0.0:
            if fits is not None and over is not None:
                over = (over[0], over[1] / 2.0)
            fits, best = (point, gap), bound
            if gap >= -_CLOSE or point >= top:
                break
        elif math.isfinite(gap):
            if fits is not None and over is not None:
                fits = (fits[0], fits[1] / 2.0)
            over = (point, gap)
        elif fits is None and over is None and point < top:
            point = top  # a level may exist where the point's epsilon is smaller
            continue
        else:
            break
        if fits is not None and over is not None:
            point = fits[0] + (over[0] - fits[0]) * -fits[1] / (over[1] - fits[1])
        elif fits is not None:
            point = min(top, point - 1.2 * gap)
        else:
            point -= 1.2 * gap
        if point < _LEAST_LOG:
            break
    return best


def _at_point(
    theorem: AnyTheorem, question: Question, point: _CurvePoint, delta: float
) -> tuple[float, Bound | Refused]:
    """The theorem's level by a point of the curve, and by how much its delta is too large."""
    answer = pure_level(theorem, question, point.dp_epsilon)
    if isinstance(answer, Refused):
        return math.inf, answer
    stated = ApproxDP(point.dp_epsilon, UpperBound(point.dp_delta))  # at this very delta
    converted = delta_at(question, answer.epsilon, stated)
    if not math.isfinite(converted):
        return math.inf, Refused(theorem.name, _BEYOND)
    room = _ROOM * (1.0 + answer.epsilon)
    gap = math.log(converted) - math.log(delta) + room
    proof = {
        "counted": point.counted,
        "way": "point",
        "alpha": point.alpha,
        "dp_epsilon": point.dp_epsilon,
        "dp_delta": point.dp_delta,
    }
    return gap, replace(answer, tight="upper", delta=UpperBound(delta), proof=proof)


def _point_of(
    theorem: AnyTheorem,
    question: Question,
    counted_costs: CountedCosts,
    orders: tuple[RenyiOrder, ...],
) -> Bound | Refused:
    """The level by the point with the least epsilon whose delta fits: levels grow with it."""
    points = sorted(
        (dp_level(cost, order.alpha, order.dp_delta), place, counted)
        for counted, cost in counted_costs
        for place, order in enumerate(orders)
    )
    for dp_epsilon, place, counted in points:
        order = orders[place]
        point = _CurvePoint(dp_epsilon, order.alpha, counted, order.dp_delta)
        gap, answer = _at_point(theorem, question, point, order.delta)
        if isinstance(answer, Refused) and answer.reason != _BEYOND:
            return answer
        if gap <= 0.0:
            return answer
    # Such costs are beyond the total: each point was chosen so that all within it fits.
    _, place, counted = points[0]
    beyond, at_delta = UpperBound(math.inf), UpperBound(orders[place].delta)
    proof = {"counted": counted}
    return Bound(theorem.name, beyond, "upper", theorem.source, {}, at_delta, proof)


# -- families -----------------------------------------------------------------------------


def _of_family(
    question: Question, cost: Cost, delta: float, zcdp_cost: Cost | None, total: float | None
) -> list[Bound]:
    """The largest of the members' best levels."""
    family = question.population
    assert isinstance(family, Family)
    best = [
        report_with_delta(
            replace(question, population=member),
            cost,
            delta,
            zcdp_cost=zcdp_cost,
            total=total,
        ).best
        for member in family.members
    ]
    members: list[Mapping[str, Any]] = [{"theorem": b.theorem, "epsilon": b.epsilon} for b in best]
    epsilon = max(bound.epsilon for bound in best)
    name, source = FamilyOfPopulations.name, FamilyOfPopulations.source
    return [Bound(name, epsilon, "upper", source, {"members": members}, UpperBound(delta))]
