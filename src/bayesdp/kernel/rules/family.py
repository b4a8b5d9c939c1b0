"""A family of populations: the largest level over its members (theory 1).

The premises are one conversion step for each member, in order, of the same adversary, secrets and
cost, each about that member as declared. (A release has the composition of its DP costs among the
premises too.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, ball, require
from bayesdp.kernel.composition import Cost, counted, declared_cost
from bayesdp.kernel.core import Conversion, conversion_level, read_conversion
from bayesdp.statements.populations import Family


def bound(conversion: Conversion) -> arb:
    """Each member's level is derived again from its own step."""
    population = conversion.population
    require(isinstance(population, Family), "the population is not a family")
    members = population.members
    premises = conversion.premises
    first = premises[0]["rule"] == "sequential-composition" if premises else False
    steps = premises[1:] if first else premises
    require(len(steps) == len(members) > 0, "not one step for each member")
    cost = Cost(
        conversion.any,
        conversion.lipschitz,
        conversion.slack,
        conversion.columns,
        conversion.rho_any,
        conversion.rho_lipschitz,
        conversion.rho_slack,
    )
    best = ball(conversion.total)
    for number, (member, step) in enumerate(zip(members, steps, strict=True)):
        try:
            best = best.max(_level(conversion, member, step, cost))
        except InvalidError as found:
            found.step = f"family: member {number}" + (f": {found.step}" if found.step else "")
            raise
    return best


def _level(conversion: Conversion, member: Any, step: Mapping[str, Any], cost: Cost) -> arb:
    part = replace(read_conversion(step, cost, zcdp=conversion.zcdp), alone=conversion.alone)
    require(part.population == member, "about another population")
    require(part.adversary == conversion.adversary, "about another adversary")
    require(part.secrets == conversion.secrets, "about other secrets")
    due = conversion.zcdp if counted(step) == "zcdp" else cost
    require(due is not None and declared_cost(step).is_close(due), "about another cost")
    require(part.delta <= conversion.delta, "of a larger delta")
    return conversion_level(step, part)
