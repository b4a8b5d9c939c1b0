"""Steps from DP to BDP: reading one, and the level that its rule proves at its delta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from sys import float_info
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import (
    MOST_SECONDS,
    agree,
    at_least,
    check_clock,
    double_up,
    limited,
    require,
)
from bayesdp.kernel.conversions.approximate import dp_level, level
from bayesdp.kernel.conversions.bounds import bounded
from bayesdp.kernel.costs.composition import Cost, declared_cost
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.reading import stated_population, stated_step
from bayesdp.statements import conversions, steps
from bayesdp.statements.populations import Family, Population

Counting = conversions.Conversion | steps.ApproximateStep
"""A step that counts pure costs as such or as zCDP."""


def counted(step: Counting) -> str:
    """How a step counts pure costs: as `pure`, or as `zcdp`."""
    proof = step.evidence.delta
    return "pure" if proof is None else proof.counted


def read_conversion(
    step: conversions.Conversion,
    cost: Cost,
    mechanism: str | None = None,
    zcdp: Cost | None = None,
) -> Conversion:
    """The step with this cost.

    `zcdp` is the cost with every pure part counted as zCDP, for steps that count so.
    """
    population = stated_population(step.evidence.population)
    of_family = step.rule == "family"
    members = population.members if of_family and isinstance(population, Family) else ()
    agree(len(step.members), len(members), "number of members' steps", step.rule)
    return Conversion(
        step.rule,
        population,
        step.conclusion.adversary,
        step.evidence.secrets,
        _spent(step, cost, zcdp),
        step.evidence.details,
        step.members,
        mechanism,
        Fraction(step.conclusion.delta),
        step.evidence.delta,
        zcdp=zcdp,
        has_other_values=bool(step.evidence.independent),
    )


def _spent(step: Counting, cost: Cost, zcdp: Cost | None) -> Cost:
    """The cost that the step counts."""
    if counted(step) == "pure":
        return cost
    require(zcdp is not None and zcdp.total == 0, "costs are not at hand as zCDP", step.rule)
    return zcdp or cost


def conversion_level(step: conversions.Conversion, conversion: Conversion) -> arb:
    """The level that the rule proves; the step must not claim less."""
    derived = proved(conversion)
    at_least(step.conclusion.epsilon, derived, conversion.rule)
    return derived


def proved(conversion: Conversion) -> arb:
    """The level that follows, at the conversion's delta."""
    if conversion.proof is not None:
        return level(conversion, _of_member)
    # Under a family, each member's step has its own proof.
    without = conversion.rho == 0 or conversion.rule == "family"
    require(without, "Gaussian noise has no level without a delta", conversion.rule)
    return bounded(conversion, _of_member)


def _of_member(conversion: Conversion, member: Population, step: conversions.Conversion) -> arb:
    """The level of a family's member: a step of the same adversary, secrets and cost."""
    part = replace(
        read_conversion(step, conversion.cost, zcdp=conversion.zcdp),
        for_any_mechanism=conversion.for_any_mechanism,
        has_other_values=conversion.has_other_values,
    )
    reason = "population: the member's step is about another one than the family declares"
    require(part.population == member, reason)
    agree(part.adversary, conversion.adversary, "adversary of the member's step")
    agree(part.secrets, conversion.secrets, "secrets of the member's step")
    close = declared_cost(step.evidence.cost).is_close(part.cost)
    require(close, "cost: the member's step converts another one than the family's step does")
    most = float(conversion.delta)
    reason = f"delta: {float(part.delta)!r} is the member's, and the family's is {most!r}"
    require(part.delta <= conversion.delta, reason)
    return conversion_level(step, part)


def certified_level(plain: Mapping[str, Any]) -> float:
    """The level of a conversion step, as a double that is certainly not below the proved one.

    For the package, which states this number. `InvalidError` where a hypothesis fails, and
    `TooSlowError` where a verdict would be UNKNOWN because its proof takes too long.
    """
    with limited(MOST_SECONDS * 0.6):  # a whole certificate has several steps
        level = _certified_level(plain)
        check_clock()
        return level


def _certified_level(plain: Mapping[str, Any]) -> float:
    # The level is what is asked for: the largest double stands in its place.
    sought = {**plain["conclusion"], "epsilon": float_info.max}
    step = stated_step({**plain, "conclusion": sought})
    cost, zcdp = declared_cost(step.evidence.cost), None
    if isinstance(step, steps.ApproximateStep):
        return double_up(dp_level(step, cost))  # as it counts: pure costs beside deltas stay
    for member in (step, *step.members):
        zcdp = declared_cost(member.evidence.cost) if counted(member) == "zcdp" else zcdp
    conversion = read_conversion(step, cost, step.evidence.details.get("mechanism"), zcdp)
    return double_up(proved(replace(conversion, for_any_mechanism=True)))


def check_delta(claimed: float, derived: float) -> None:
    """A claim's delta is not below the one that a step derives, and 0 where none is derived."""
    reason = f"delta: {claimed!r} is claimed, and {derived!r} is what follows"
    require(derived <= claimed and (claimed == 0 or derived > 0), reason, "claim")
