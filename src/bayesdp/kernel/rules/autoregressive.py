"""A stationary AR(1) series: the largest sum of `|phi|^|i - j|` over its records (theory 3.8 d)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import level
from bayesdp.statements.chains import Autoregressive


def bound(conversion: Conversion) -> arb:
    """The level by the factor `sum_j |phi|^|i - j|` for the record `i` in the middle: the largest.

    It is 1 and two geometric series, one for each side.
    """
    population = conversion.declared(Autoregressive, "no AR(1) is declared")
    phi, length = abs(Fraction(population.coefficient)), population.length
    root, factor = ball(phi), arb(1)
    for side in ((length - 1) // 2, length // 2):
        factor += root * (1 - root**side) / (1 - root)
    return level(conversion, factor, length)
