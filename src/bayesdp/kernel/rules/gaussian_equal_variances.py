"""Equal variances, |correlation| <= rho: `1 + max_s (m - s) min(1, 1/(1/rho - s + 1))` (3.8 a2)."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import group, level


def bound(conversion: Conversion) -> arb:
    """The level by the largest factor over `s` from 1 to m - 1."""
    size, rho, spread = group(conversion)
    if size == 1 or rho == 0:
        return level(conversion, arb(1), size)
    cut = math.ceil(1 / rho)
    ends = {1, cut - 1, cut, size - 1}
    moved = max(_moved(size, rho, s) for s in ends if 1 <= s <= size - 1)
    return level(conversion, (1 + spread * ball(moved)).min(arb(size)), size)


def _moved(size: int, rho: Fraction, conditioning: int) -> Fraction:
    room = 1 - rho * (conditioning - 1)
    each = min(Fraction(1), rho / room) if room > 0 else Fraction(1)
    return (size - conditioning) * each
