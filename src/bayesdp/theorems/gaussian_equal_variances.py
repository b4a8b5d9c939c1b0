"""Gaussian clusters with equal variances and a largest correlation: the sharper constant.

#### a2. Equal variances, a sharper constant (new)

**Statement** (theorem `gaussian-equal-variances`). The hypotheses and the proof are those of a.
Movements are capped at `M`, so `1 + max over s of (m - s) min(1, 1 / (1/rho - s + 1))`, the minimum
being 1 where `1/rho <= s - 1`, is a valid factor, for every `rho < 1`. Where `(m - 1) rho <= 1` it
is `1 + (m - 1) rho`, attained by equal correlations: 1.55 instead of 1.8534 for `m = 3`, `rho =
0.275`.
"""

from __future__ import annotations

from bayesdp.leakage.normal import equal_variances_factor
from bayesdp.numbers import UpperBound
from bayesdp.theorems.gaussian import EqualVariancesTheorem


class GaussianEqualVariances(EqualVariancesTheorem):
    """The largest sum of clipped regressions that a largest correlation allows (theory 3.8 a2)."""

    name = "gaussian-equal-variances"
    statement = "equal variances, |correlation| <= rho: 1 + max_s (m - s) min(1, 1/(1/rho - s + 1))"
    source = "bayesdp; theory 3.8 a2"

    def constant(self, size: int, rho: float) -> UpperBound:
        """`1 + max over s of (m - s) min(1, 1 / (1/rho - s + 1))`."""
        return equal_variances_factor(size, rho)
