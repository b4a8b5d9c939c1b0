"""Groups of at most m dependent records: m times the DP cost, m^2 times zCDP (3.2, 3.10)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.populations import group_size


def bound(conversion: Conversion) -> arb:
    """`m eps`, or `m eps + alpha m^2 rho`; `m` is the most records that depend on each other."""
    return ball(conversion.of_group(group_size(conversion.population)))
