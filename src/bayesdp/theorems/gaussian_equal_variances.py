"""Gaussian clusters with equal variances and a largest correlation: the sharper constant.

Statement (theory 3.8 a, new). Clusters of `m` jointly Gaussian records with equal variances and no
|correlation| above `rho < 1`: the level is at most

    eps (1 + max over 1 <= s <= m - 1 of (m - s) min(1, 1 / (1/rho - s + 1))),

the minimum being 1 where `1/rho <= s - 1`, for mechanisms that are Lipschitz in the clipped values
and secrets inside the clipping interval. Where `(m - 1) rho <= 1` it is `1 + (m - 1) rho`, and
equal correlations attain that factor.

Proof. By the shift coupling of theory 3.8 b the factor is 1 plus the largest sum of
`min(|beta_j|, 1)`, with `s - 1` known records, `s` conditioning ones and `m - s` unknown. Let the
variances be 1, `I + E` the covariance of the conditioning records, `r` their covariances with
`X_j`. The coefficients satisfy `c = r - E c`, so the largest in size, `B`, has
`B <= rho + rho (s - 1) B`, that is `B <= 1 / (1/rho - s + 1)` where that is positive. There are
`m - s` unknown records, none of which moves by more than the width of the interval.
"""

from __future__ import annotations

from bayesdp.leakage.normal import equal_variances_factor
from bayesdp.theorems.gaussian import EqualVariancesTheorem


class GaussianEqualVariances(EqualVariancesTheorem):
    """The largest sum of clipped regressions that a largest correlation allows (theory 3.8 a)."""

    name = "gaussian-equal-variances"
    statement = "equal variances, |correlation| <= rho: 1 + max_s (m - s) min(1, 1/(1/rho - s + 1))"
    source = "bayesdp; theory 3.8 a"

    def constant(self, size: int, rho: float) -> float:
        """`1 + max over s of (m - s) min(1, 1 / (1/rho - s + 1))`."""
        return equal_variances_factor(size, rho)
