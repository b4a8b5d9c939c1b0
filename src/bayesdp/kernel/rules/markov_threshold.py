"""Chains of many states: the recursion with one cost for all pairs (theory 3.6, threshold)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.chains import Recursion, threshold
from bayesdp.kernel.judgement import Conversion


def bound(conversion: Conversion) -> arb:
    """Followed for at least as many steps as the evidence says, then the tail is closed."""
    recursion = Recursion(conversion.population, uninformed=conversion.adversary == "uninformed")
    return ball(conversion.total) + recursion.level(conversion.total, threshold, conversion.details)
