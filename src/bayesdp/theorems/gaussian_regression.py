"""Gaussian clusters of which only the sums of regression coefficients are bounded.

#### b2. A bound on regressions (new)

**Statement** (theorem `gaussian-regression`). Under the hypotheses of 3.8 (a mechanism that is
Lipschitz in the clipped values, secrets in the clipping interval), if for every record `i` of a
cluster and every set `K` of known records `sum_j min(|beta_j|, 1) <= R`, the sum over the unknown
records `j` of the sizes of their regression coefficients on record `i` given `K`, then `L(eps) <=
eps min(1 + R, m)`, `m` the largest size of a cluster.

**Proof.** For each law with such regressions the factor of b is at most `1 + R`. It is at most `m`,
because the sum has at most `m - 1` terms, none above 1. A cluster with fewer records has fewer
terms in each sum. ∎ Variances may differ between the records of a cluster, and nothing else about
the law is used: so a region of laws, such as one that was fitted to public data, is declared by the
largest `R` in it.
"""

from __future__ import annotations

from typing import Any

from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Gaussian
from bayesdp.theorems.gaussian import ClusterTheorem


class GaussianRegression(ClusterTheorem):
    """Factor `min(1 + R, m)`, `R` the declared largest sum of regressions (theory 3.8 b2)."""

    name = "gaussian-regression"
    statement = "sums of clipped regressions <= R: at most min(1 + R, m) eps"
    source = "bayesdp; theory 3.8 b2"
    uses = "the declared largest sum of regressions, and the size of a cluster"
    ignores = "everything else about the covariance"

    def applies(self, population: Gaussian) -> bool:
        """Clusters of which the largest sum of regressions is declared."""
        return population.max_regression_sum is not None

    def factor(self, population: Gaussian) -> tuple[UpperBound, dict[str, Any]]:
        """`min(1 + R, m)`, and `R`."""
        largest = population.max_regression_sum
        assert largest is not None
        factor = min(up(1.0 + largest, 1), float(population.group_size))
        return UpperBound(factor), {"max_regression_sum": largest}
