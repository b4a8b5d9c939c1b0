"""Gaussian clusters with equal variances and a largest correlation.

Statement (theory 3.8 a; Lange et al., PVLDB 2025, corrected). Clusters of `m` jointly Gaussian
records with **equal variances** and no |correlation| above `rho`, `rho (m - 2) < 1`: the level is
at most `eps (1 + m^2 / (4 (1/rho - m + 2)))`, for mechanisms that are Lipschitz in the clipped
values and secrets inside the clipping interval.

The equal variances are missing in the publication, and without them the bound is false:
correlation 0.3 and variances 1 and 100 would give the factor 1.3, but leak 1.6243 at eps = 1,
because the second record moves by 3 units when the first moves by one.

Proof. By `gaussian_equal_variances` the sum of the |regression coefficients| of the unknown records
is at most `(m - s) / (1/rho - s + 1)` with `s` conditioning records. That is monotone in `s`, so at
most the larger of `(m - 1) rho` and `1 / (1/rho - m + 2)`, and both are at most the constant: the
second because `m >= 2`, the first because `-v (m - 2)^2 <= 4 (m - 1)(m - 2)` with `v = 1/rho`.
"""

from __future__ import annotations

from bayesdp.leakage.normal import max_correlation_factor
from bayesdp.theorems.gaussian import EqualVariancesTheorem


class GaussianMaxCorrelation(EqualVariancesTheorem):
    """Factor `1 + m^2 / (4 (1/rho - m + 2))` for equal variances (theory 3.8 a)."""

    name = "gaussian-max-correlation"
    statement = "equal variances, |correlation| <= rho: at most (1 + m^2/(4(1/rho - m + 2))) eps"
    source = "Lange et al., PVLDB 2025, with the missing hypothesis; theory 3.8 a"

    bound_in_words = "the published bound"

    def no_constant(self, size: int, rho: float) -> str | None:
        """Needs `rho (m - 2) < 1`."""
        if max_correlation_factor(size, rho) is not None:
            return None
        return f"the largest correlation {rho:.6g} is not below 1/(m - 2) = {1 / (size - 2):.6g}"

    def constant(self, size: int, rho: float) -> float:
        """`1 + m^2 / (4 (1/rho - m + 2))`."""
        factor = max_correlation_factor(size, rho)
        assert factor is not None
        return factor
