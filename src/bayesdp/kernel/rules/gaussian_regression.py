"""A declared largest sum of clipped regressions: `1 + R` (theory 3.8 b2)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import level
from bayesdp.statements.gaussian import GaussianRegression


def bound(conversion: Conversion) -> arb:
    """The level by the factor `min(1 + R, m)`: no record moves by more than the target does."""
    population = conversion.declared(GaussianRegression, "no sum of regressions is declared")
    factor = min(1 + Fraction(population.max_regression_sum), Fraction(population.size))
    return level(conversion, ball(factor), population.size)
