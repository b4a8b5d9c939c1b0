"""Chains of many states: the recursion with one cost for all pairs (theory 3.6t)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import Recursion, chain_of
from bayesdp.kernel.steps.ratios import threshold


def bound(conversion: Conversion) -> arb:
    """`eps` and the largest `ln C_left + ln C_right`, with one cost for all pairs of states."""
    recursion = Recursion(chain_of(conversion), uninformed=conversion.adversary == "uninformed")
    level = recursion.level(
        conversion.total, lambda _, p, q, cost: threshold(p, q, cost), conversion.details
    )
    return ball(conversion.total) + level
