"""A family of populations: the largest level over its members (theory 3.11).

The premises are one conversion step for each member, in order, of the same adversary, secrets and
cost, each about that member as declared. (A release has the composition of its DP costs among the
premises too.)
"""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, ball
from bayesdp.kernel.judgement import Conversion, OfMember
from bayesdp.statements.populations import Family


def bound(conversion: Conversion, of_member: OfMember) -> arb:
    """The largest level of a member, each derived again from the member's own step."""
    population = conversion.declared(Family, "no family is declared")
    members, steps = population.members, conversion.members
    best = ball(conversion.total)
    for number, (member, step) in enumerate(zip(members, steps, strict=True)):
        try:
            best = best.max(of_member(conversion, member, step))
        except InvalidError as error:
            error.step = f"family: member {number}" + (f": {error.step}" if error.step else "")
            raise
    return best
