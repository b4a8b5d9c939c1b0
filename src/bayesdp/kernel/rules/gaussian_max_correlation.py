"""Equal variances and a largest correlation: `1 + m^2 / (4 (1/rho - m + 2))` (theory 3.8 a)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import ball, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import group, level


def bound(conversion: Conversion) -> arb:
    """The level by the factor `1 + m^2 / (4 (1/rho - m + 2))`.

    What the others move is raised by the ratio of standard deviations, which is about 1.
    """
    size, rho, spread = group(conversion)
    if size == 1 or rho == 0:
        return level(conversion, arb(1), size)
    room = 1 - rho * (size - 2)
    require(room > 0, "the largest correlation is not below 1/(m - 2)")
    return level(conversion, 1 + spread * ball(size * size * rho / (4 * room)), size)
