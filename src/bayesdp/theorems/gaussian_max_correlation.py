"""Gaussian clusters with equal variances and a largest correlation.

#### a. Maximum correlation (corrected)

**Statement** (theorem `gaussian-max-correlation`). Under the hypotheses of 3.8 (a mechanism that is
Lipschitz in the clipped values, secrets in the clipping interval), if the records of a cluster have
**equal variances**, no correlation exceeds `rho` in size, and `rho (m - 2) < 1`, then `L(eps) <=
eps (1 + m^2 / (4 (1/rho - m + 2)))`.

**Proof.** By 3.8 b it is enough to bound `sum_j |beta_j|`, for `s = 1 + |K|` conditioning records
and `m - s` unknown ones. Let the variances be 1, `I + E` the covariance of the conditioning
records, `r` their covariances with `X_j`, and `c` the coefficients of the regression of `X_j` on
them: `c = r - E c`. All entries of `r` and (off the zero diagonal) `E` are at most `rho` in size,
so `B = max
|c|` satisfies `B <= rho + rho (s - 1) B`, that is `B <= 1 / (1/rho - s + 1)`. Hence

```text
sum_j |beta_j| <= (m - s) / (1/rho - s + 1),   1 <= s <= m - 1.
```

This is monotone in `s`, so it is at most the larger of `(m - 1) rho` (at `s = 1`) and `1 / (1/rho -
m + 2)` (at `s = m - 1`). Both are at most `m^2 / (4 (1/rho - m + 2))`: the second because `m >= 2`;
the first because, with `v = 1/rho`, `4 (m - 1)(v - m + 2) <= m^2 v` is `-v (m - 2)^2 <= 4 (m -
1)(m - 2)`. ∎

*Corrected:* Lange et al. (PVLDB 2025) don't ask for equal variances. With correlation 0.3 and
variances 1 and 100 the factor would be 1.3, but at eps 1 the leakage is 1.6243 (secrets at the ends
of [-3, 3]).
"""

from __future__ import annotations

from bayesdp.leakage.normal import max_correlation_factor
from bayesdp.numbers import UpperBound
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

    def constant(self, size: int, rho: float) -> UpperBound:
        """`1 + m^2 / (4 (1/rho - m + 2))`."""
        factor = max_correlation_factor(size, rho)
        assert factor is not None
        return factor
