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

from typing import Any

from bayesdp.leakage.normal import equal_variances_factor
from bayesdp.populations import Gaussian, Population
from bayesdp.theorems.base import Question
from bayesdp.theorems.gaussian import GaussianTheorem
from bayesdp.theorems.gaussian_max_correlation import largest_correlation


class GaussianEqualVariances(GaussianTheorem):
    """The largest sum of clipped regressions that a largest correlation allows (theory 3.8 a)."""

    name = "gaussian-equal-variances"
    statement = "equal variances, |correlation| <= rho: 1 + max_s (m - s) min(1, 1/(1/rho - s + 1))"
    source = "bayesdp; theory 3.8 a"
    uses = "the size of a cluster and its largest correlation"
    ignores = "all other correlations, and who is known"

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this model at all."""
        return isinstance(population, Gaussian) and population.columns is None

    def hypothesis(self, question: Question) -> str | None:
        """Equal variances."""
        population = question.population
        assert isinstance(population, Gaussian)
        if population.precision is not None:
            return "the precision is declared, not the correlations"
        if not largest_correlation(population)[2]:
            return "the variances differ: the bound is false then (theory 3.8 a)"
        return None

    def factor(self, question: Question) -> tuple[float, dict[str, Any]]:
        """The constant, and the `rho` in it."""
        population = question.population
        assert isinstance(population, Gaussian)
        size, rho, _ = largest_correlation(population)
        return equal_variances_factor(size, rho), {"max_correlation": rho}
