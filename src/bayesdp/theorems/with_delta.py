"""Levels of pure and Gaussian costs together: an epsilon at a given delta (theory 2.5).

Two ways lead from the costs `(eps, rho)` of everything, composed, to a level:

* `renyi`: a theorem bounds the Rényi divergence that a secret makes, and that is converted;
* `point`: the costs are converted to a point `(dp_epsilon, dp_delta)` of their DP curve, and a
  theorem of 3.10 converts the point.

Pure costs enter as they are, or as zCDP of `eps^2 / 2` (`counted`): whichever gives less.

For costs that were fixed beforehand any Rényi order may be chosen, and the best one is. Where
somebody chooses costs after having seen answers, as with a ledger, the orders must have been fixed
first, each with its share of delta: `modes_for` fixes them by the total alone (theory 2.6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.leakage.deadline import NEVER, OutOfTimeError
from bayesdp.leakage.zcdp import group_renyi, largest_rho, least_epsilon, reserve
from bayesdp.notions import Bound, Cost, Refused
from bayesdp.numbers import down, up
from bayesdp.populations import Family, Graph, MarkovChain, Network, Tree
from bayesdp.theorems import REGISTRY, LeakageReport, approximate, limited, out_of_time, report
from bayesdp.theorems.base import Question, Theorem

Counted = Literal["pure", "zcdp"]
APPROXIMATE_DP = "approximate-dp"
"""The rule of a step that converts costs to DP with a delta."""
SOURCE = "Canonne, Kamath & Steinke, NeurIPS 2020, Proposition 12; theory 2.5"
COSTS_NOT_SPLIT = "its bound is for pure costs: Gaussian noise has none"
SHARES = (29.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0, 1.0 / 32.0)
"""How delta is divided between a total's orders; exact in doubles, and 1 together."""
_ROOM = 1e-10
"""What a point's delta is kept below its share by: the kernel rounds in its own way."""
_POINTS = 40
_SHRINK = 0.8


@dataclass(frozen=True, slots=True)
class Mode:
    """One Rényi order with its share of delta; for the way `point` also the DP delta of the point.

    `theorem` names the one that converts the point, and is None for the way `renyi`.
    """

    alpha: float
    delta: float
    theorem: str | None = None
    dp_delta: float = 0.0


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
    beforehand. Source: theory 2.5, 2.6, 3.10.
    """
    if not (isinstance(delta, int | float) and 0.0 < delta < 1.0):
        raise InputError("delta", delta, expected="a probability between 0 and 1")
    ways: list[tuple[Counted, Cost]] = [("pure", cost)]
    if zcdp_cost is not None and not cost.is_zero:
        ways.append(("zcdp", zcdp_cost))
    bounds: list[Bound] = []
    reasons: dict[str, str] = {}
    if cost.rho == 0.0:
        plain = report(question, cost)
        bounds += plain.bounds
        reasons = {one.theorem: one.reason for one in plain.refused}
        ways = ways[1:]
    if isinstance(question.population, Family):
        bounds += _of_family(question, cost, delta, zcdp_cost, total)
        if total is not None:
            # Members have orders of their own, which use up the delta: no others stand beside them.
            ways = []
    modes = None if total is None else modes_for(question, total, delta)
    for counted, spent in ways:
        for theorem in REGISTRY:
            if not theorem.concerns(question.population) or theorem.name == "family":
                continue
            speaks = _speaks_of_delta(theorem)
            levels: list[Bound] = []
            try:
                timed = limited(theorem, question)
                found = (theorem.refusal(timed, spent) if speaks else None) or COSTS_NOT_SPLIT
                if speaks and found is COSTS_NOT_SPLIT:
                    levels = _levels(theorem, question, spent, delta, modes)
            except OutOfTimeError:
                found = out_of_time(question)
            if levels:
                bounds.append(min(_as_counted(levels, counted), key=lambda one: one.epsilon))
            else:
                reasons.setdefault(theorem.name, found)
    held = {bound.theorem for bound in bounds}
    refused = tuple(Refused(name, why) for name, why in reasons.items() if name not in held)
    bounds.sort(key=lambda bound: (bound.epsilon, bound.tight != "exact"))
    return LeakageReport(
        cost, question.adversary, question.secrets, tuple(bounds), refused, delta, zcdp_cost
    )


def stated_report(question: Question, dp_epsilon: float, dp_delta: float) -> LeakageReport:
    """`theorems.approximate` as a report that a certificate can be made from.

    Its delta is that of the bound with the lowest epsilon; bounds with a larger one are left out.
    """
    found = approximate(question, dp_epsilon, dp_delta)
    if not found.bounds:
        raise Refusal(
            f"No theorem says what ({dp_epsilon:g}, {dp_delta:g})-DP means for this population: "
            "delta grows to 1 and more."
        )
    if isinstance(question.population, Family):
        raise UnsupportedError(
            "population.model", "family", expected="one of its members: each has its own levels"
        )
    delta = found.best.delta
    proof = {"way": "stated", "counted": "pure", "dp_epsilon": dp_epsilon, "dp_delta": dp_delta}
    bounds = tuple(
        Bound(one.theorem, one.epsilon, "upper", one.source, {}, delta, proof)
        for one in found.bounds
        if one.delta <= delta
    )
    cost = Cost(any=dp_epsilon)
    adversary, secrets = question.adversary, question.secrets
    return LeakageReport(cost, adversary, secrets, bounds, found.refused, delta)


def _speaks_of_delta(theorem: Theorem) -> bool:
    kind = type(theorem)
    return kind.renyi is not Theorem.renyi or kind.approximate is not Theorem.approximate


def _as_counted(levels: list[Bound], counted: Counted) -> list[Bound]:
    return [
        Bound(
            b.theorem,
            b.epsilon,
            b.tight,
            b.source,
            b.evidence,
            b.delta,
            {"counted": counted} | dict(b.proof),
        )
        for b in levels
    ]


def _levels(
    theorem: Theorem, question: Question, cost: Cost, delta: float, modes: tuple[Mode, ...] | None
) -> list[Bound]:
    """The theorem's levels; none where it says nothing of Gaussian noise."""
    if modes is None:
        free = [_free_renyi(theorem, question, cost, delta)]
        if theorem.renyi(question, cost, 2.0) is None:
            free = [_free_point(theorem, question, cost, delta)]
        return [one for one in free if one is not None]
    levels = []
    for mode in modes:
        tau = theorem.renyi(question, cost, mode.alpha) if not mode.theorem else None
        if tau is not None:
            epsilon = up(tau + reserve(mode.alpha, mode.delta), 1)
            levels.append(_by_renyi(theorem, question, cost, epsilon, mode.delta, mode.alpha))
    ours = [mode for mode in modes if mode.theorem == theorem.name]
    return levels or ([_of_points(theorem, question, cost, ours)] if ours else [])


def _of_points(theorem: Theorem, question: Question, cost: Cost, modes: list[Mode]) -> Bound:
    """The level by the point with the least epsilon whose delta fits: levels grow with it."""
    points = sorted((dp_level(cost, mode.alpha, mode.dp_delta), k) for k, mode in enumerate(modes))
    for dp_epsilon, place in points:
        mode = modes[place]
        found = _by_point(theorem, question, dp_epsilon, mode.dp_delta, mode.delta, mode.alpha)
        if found is not None:
            return found
    # Such costs are beyond the total: each point was chosen so that all within it fits.
    return Bound(theorem.name, math.inf, "upper", theorem.source, {}, modes[0].delta)


def _free_renyi(theorem: Theorem, question: Question, cost: Cost, delta: float) -> Bound | None:
    if theorem.renyi(question, cost, 2.0) is None:
        return None

    def tau(alpha: float) -> float:
        found = theorem.renyi(question, cost, alpha)
        return math.inf if found is None else found

    epsilon, alpha = least_epsilon(tau, delta)
    return _by_renyi(theorem, question, cost, epsilon, delta, alpha)


def _by_renyi(
    theorem: Theorem, question: Question, cost: Cost, epsilon: float, delta: float, alpha: float
) -> Bound:
    # What a theorem tells of a population (its factor, its evidence) is in its pure bound.
    evidence = theorem.bound(question, cost).evidence
    proof = {"way": "renyi", "alpha": alpha}
    return Bound(theorem.name, epsilon, "upper", theorem.source, evidence, delta, proof)


def dp_level(cost: Cost, alpha: float, dp_delta: float) -> float:
    """The DP epsilon of everything at `dp_delta` by one Rényi order, rounded up."""
    return up(group_renyi(1, cost, alpha) + reserve(alpha, dp_delta), 1)


def dp_bounds(
    cost: Cost, delta: float, counted: Counted = "pure", total: float | None = None
) -> list[Bound]:
    """The DP levels of everything at `delta`: the best order's, or those of a total's orders."""
    if total is None:
        found = [(*dp_at(cost, delta), delta)]
    else:
        found = [
            (dp_level(cost, mode.alpha, mode.delta), mode.alpha, mode.delta)
            for mode in dp_modes(float(total), float(delta))
        ]
    return [
        Bound(
            APPROXIMATE_DP,
            epsilon,
            "upper",
            SOURCE,
            {},
            part,
            {"counted": counted, "way": "renyi", "alpha": alpha},
        )
        for epsilon, alpha, part in found
    ]


def dp_at(cost: Cost, delta: float) -> tuple[float, float]:
    """The least DP epsilon of everything at `delta`, and the Rényi order that shows it."""
    return least_epsilon(lambda alpha: group_renyi(1, cost, alpha), delta)


def _by_point(
    theorem: Theorem,
    question: Question,
    dp_epsilon: float,
    dp_delta: float,
    delta: float,
    alpha: float,
) -> Bound | None:
    pair = theorem.approximate(limited(theorem, question), dp_epsilon, dp_delta)
    proof = {"way": "point", "alpha": alpha, "dp_epsilon": dp_epsilon, "dp_delta": dp_delta}
    if pair is None or not pair[1] <= delta * (1.0 - _ROOM):
        return None
    epsilon = max(pair[0], dp_epsilon)
    return Bound(theorem.name, epsilon, "upper", theorem.source, {}, delta, proof)


def _free_point(theorem: Theorem, question: Question, cost: Cost, delta: float) -> Bound | None:
    """The least level over the points of the costs' DP curve that keep to `delta`.

    Levels grow with the point's epsilon. Its delta falls faster than what a conversion makes of it
    grows, if at all: so the points are tried upwards, and the first that fits is refined.
    """

    def at(dp_delta: float) -> Bound | None:
        dp_epsilon, alpha = dp_at(cost, dp_delta)
        # Rounded up twice: the stated point is certainly above the curve.
        return _by_point(theorem, question, dp_epsilon, dp_delta, delta, alpha)

    logs = [math.log(delta) - 0.05 * (1.35**k - 1.0) for k in range(_POINTS)]
    fits = next((k for k, log in enumerate(logs) if log > -690.0 and at(math.exp(log))), None)
    if fits is None:
        return None
    high, low = logs[fits], logs[fits - 1] if fits else logs[0]
    for _ in range(24):
        middle = (low + high) / 2.0
        low, high = (low, middle) if at(math.exp(middle)) is not None else (middle, high)
    return at(math.exp(high))


# -- costs that depend on earlier answers ------------------------------------------------


def modes_for(question: Question, total: float, delta: float) -> tuple[Mode, ...]:
    """The Rényi orders for a total, and their shares of delta; they depend on nothing else.

    The first is the best one where all costs are those of Gaussian noise. The others, with 2, 4 and
    8 times its `alpha - 1`, are for totals of which pure costs take about 1/2, 3/4 and 7/8.
    """
    # A ledger's orders depend on nothing else, so on no clock either.
    timeless = replace(question, deadline=NEVER)
    return _modes(timeless, float(total), float(delta))


@lru_cache(maxsize=64)
def dp_modes(total: float, delta: float) -> tuple[Mode, ...]:
    """The orders where a Rényi divergence is converted at the end: those of DP itself too."""
    parts = [down(share * delta, 1) for share in SHARES]
    alpha = _rounded(largest_rho(total, parts[0])[1] - 1.0)
    return tuple(Mode(1.0 + alpha * 2.0**k, part) for k, part in enumerate(parts))


def _rounded(value: float) -> float:
    """Three digits: the last bits of another machine must not change the orders of a ledger."""
    return float(f"{value:.3g}")


@lru_cache(maxsize=64)
def _modes(question: Question, total: float, delta: float) -> tuple[Mode, ...]:
    parts = [down(share * delta, 1) for share in SHARES]
    size = 1 if question.adversary == "informed" else question.population.group_size
    best = largest_rho(total, parts[0])[0] / size**2
    alpha, theorem, dp_delta = 2.0, "", 0.0
    if isinstance(question.population, MarkovChain | Graph | Tree | Network) and size > 1:
        for one in REGISTRY:
            found = _best_point(one, question, total, parts[0])
            if found is not None and found[0] > best:
                (best, alpha, dp_delta), theorem = found, one.name
    if not theorem:
        return dp_modes(total, delta)
    return tuple(
        Mode(
            1.0 + _rounded(alpha - 1.0) * 2.0**k,
            part,
            theorem,
            down(_rounded(0.995 * dp_delta) * share / SHARES[0], 3),
        )
        for k, (part, share) in enumerate(zip(parts, SHARES, strict=True))
    )


def _best_point(
    theorem: Theorem, question: Question, total: float, delta: float
) -> tuple[float, float, float] | None:
    """The largest zCDP cost by a theorem of 3.10, its order, and the DP delta of its point."""
    if (
        not theorem.concerns(question.population)
        or type(theorem).approximate is Theorem.approximate
        or theorem.renyi(question, Cost(), 2.0) is not None
    ):
        return None
    cost = Cost(any=total)
    if theorem.refusal(question, cost) is not None:
        return None
    best: tuple[float, float, float] | None = None
    trial = delta * 2.0**-20
    for power in range(_POINTS):
        dp_epsilon = total * _SHRINK**power
        pair = theorem.approximate(question, dp_epsilon, trial)
        if pair is None or not pair[0] <= total:
            continue
        # The converted delta is linear in the point's.
        dp_delta = down(min(delta, trial * (delta / max(pair[1], trial)) * (1.0 - 1e-9)), 4)
        rho, alpha = largest_rho(dp_epsilon, dp_delta)
        if best is None or rho > best[0]:
            best = (rho, alpha, dp_delta)
        elif rho < best[0] / 4.0:
            break
    return best


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
    return [Bound("family", epsilon, "upper", "theory 1", {"members": members}, delta)]
