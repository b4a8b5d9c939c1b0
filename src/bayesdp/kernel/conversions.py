"""Steps from DP to BDP: reading one, and the level that its rule proves at its delta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flint import arb

from bayesdp.kernel.approximate import RULE as DP_RULE
from bayesdp.kernel.approximate import dp_level, level
from bayesdp.kernel.arithmetic import (
    MOST_SECONDS,
    UnknownError,
    at_least,
    double_up,
    exact,
    limited,
    require,
)
from bayesdp.kernel.bounds import bounded
from bayesdp.kernel.composition import Cost, counted, declared_cost
from bayesdp.kernel.judgement import RULES, Conversion
from bayesdp.kernel.stated import stated_population
from bayesdp.statements.steps import ADVERSARIES, COMPOSITION


def read_conversion(
    step: Mapping[str, Any],
    cost: Cost,
    mechanism: str | None = None,
    zcdp: Cost | None = None,
) -> Conversion:
    """The step with this cost, its statements checked against each other.

    `zcdp` is the cost with every pure part counted as zCDP, for steps that count so.
    """
    rule, evidence, conclusion = step["rule"], step["evidence"], step["conclusion"]
    if rule not in RULES:
        raise UnknownError("no rule of this name", str(rule))
    require(conclusion["notion"] == "bdp", "another notion than BDP", rule)
    require(conclusion["adversary"] in ADVERSARIES, "no such adversary", rule)
    require(evidence["secrets"] in ("bounded", "unbounded"), "no such secrets", rule)
    spent = cost
    if counted(step) == "zcdp":
        require(zcdp is not None and zcdp.total == 0, "costs are not at hand as zCDP", rule)
        spent = zcdp or cost
    population = stated_population(evidence["population"])
    composed = sum(premise["rule"] == COMPOSITION for premise in step["premises"])
    members = getattr(population, "members", ()) if rule == "family" else ()
    whole = len(step["premises"]) - composed == len(members)
    require(whole, "a premise too many or too few", rule)
    return Conversion(
        rule,
        population,
        conclusion["adversary"],
        evidence["secrets"],
        spent,
        evidence.get("details", {}),
        tuple(step["premises"]),
        mechanism,
        exact(conclusion.get("delta", 0.0), "delta"),
        evidence.get("delta"),
        zcdp=zcdp,
        beside=bool(evidence.get("independent")),
    )


def conversion_level(step: Mapping[str, Any], conversion: Conversion) -> arb:
    """The level that the rule proves; the step must not claim less."""
    derived = proved(conversion)
    at_least(step["conclusion"]["epsilon"], derived, conversion.rule)
    return derived


def proved(conversion: Conversion) -> arb:
    """The level that follows, at the conversion's delta."""
    if conversion.proof is not None:
        return level(conversion, _of_member)
    # Under a family, each member's step has its own proof.
    without = conversion.rho == 0 or conversion.rule == "family"
    require(without, "Gaussian noise has no level without a delta", conversion.rule)
    return bounded(conversion, _of_member)


def _of_member(conversion: Conversion, member: Any, step: Mapping[str, Any]) -> arb:
    """The level of a family's member: a step of the same adversary, secrets and cost."""
    cost = conversion.cost
    part = replace(read_conversion(step, cost, zcdp=conversion.zcdp), alone=conversion.alone)
    require(part.population == member, "about another population")
    require(part.adversary == conversion.adversary, "about another adversary")
    require(part.secrets == conversion.secrets, "about other secrets")
    due = conversion.zcdp if counted(step) == "zcdp" else cost
    require(due is not None and declared_cost(step).is_close(due), "about another cost")
    require(part.delta <= conversion.delta, "of a larger delta")
    return conversion_level(step, part)


def certified_level(step: Mapping[str, Any]) -> float:
    """The level of a conversion step, as a double that is certainly not below the proved one.

    For the package, which states this number. `InvalidError` where a hypothesis fails, and
    `TooSlowError` where a verdict would be UNKNOWN because its proof takes too long.
    """
    with limited(MOST_SECONDS * 0.6):  # a whole certificate has several steps
        return _certified_level(step)


def _certified_level(step: Mapping[str, Any]) -> float:
    cost, zcdp = declared_cost(step), None
    under = [step, *step["premises"]] if step["rule"] == "family" else [step]
    for one in under:
        zcdp = declared_cost(one) if counted(one) == "zcdp" else zcdp
    if step["rule"] == DP_RULE:
        return double_up(dp_level(step, cost, zcdp))
    mechanism = step["evidence"].get("details", {}).get("mechanism")
    conversion = read_conversion(step, cost, mechanism, zcdp)
    return double_up(proved(replace(conversion, alone=True)))


def check_delta(claimed: object, step: Mapping[str, Any]) -> None:
    """A claim's delta is a probability below 1, and not below the one that the step derives."""
    number, derived = exact(claimed, "delta"), exact(step["conclusion"].get("delta", 0.0), "delta")
    require(0 <= derived <= number < 1, "delta is below what is derived, or no delta", "claim")
    none = number == 0 or "delta" in step["conclusion"]
    require(none, "a delta is claimed, and none is derived", "claim")
