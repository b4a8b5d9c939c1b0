"""Gaussian clusters with a known covariance.

#### b. Known covariance (new)

**Statement** (theorem `gaussian-covariance`). Under the hypotheses of 3.8 (a mechanism that is
Lipschitz in the clipped values, secrets in the clipping interval), `L(eps) <= eps (1 + max over (i,
K) of sum_j min(|beta_j|, 1))` within a cluster, where `beta_j` is the coefficient of `x_i` in the
regression of the unknown `X_j` on record `i` and the records in `K`. All `K` are enumerated, so
clusters up to about 16.

**Proof** (shift coupling). Given `x_i, x_K` the unknown records of the cluster are Gaussian, with a
covariance that doesn't depend on these values and a mean that is affine in `x_i` with slope `beta`.
So if `X_U` has their law given `x_i`, then `X_U' = X_U + beta (x_i' - x_i)` has their law given
`x_i'`. Under this coupling record `i` moves by at most `M`, as do all clipped records, and the
clipped `X_j` moves by at most `min(|beta_j| M, M)`, since clipping is 1-Lipschitz. Hence `ln P[y |
x]` changes by at most `eps_l1 M (1 + sum_j min(|beta_j|, 1))`, pointwise, and the averages by no
more. Records outside the cluster keep their law. ∎ With clipping widths that differ between records
the level is at most `eps_l1 (M_i + sum_j min(|beta_j| M_i, M_j))`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bayesdp.leakage.normal import LARGEST_ENUMERATED, precision_shift_factor, shift_factor
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound
from bayesdp.populations import Gaussian
from bayesdp.theorems.gaussian import NO_COVARIANCE, ClusterTheorem


class GaussianCovariance(ClusterTheorem):
    """Factor `1 + max sum_j min(|beta_j|, 1)` by enumeration (theory 3.8 b)."""

    name = "gaussian-covariance"
    statement = "known covariance: at most (1 + the largest sum of clipped regressions) eps"
    source = "bayesdp; theory 3.8 b"
    uses = "the whole covariance, and every set of records that may be known"
    ignores = "nothing but the shape of the mechanism"

    def failed(self, population: Gaussian, cost: Cost) -> str | None:
        """A covariance, of a cluster small enough to enumerate."""
        if population.covariance is None and population.precision is None:
            return NO_COVARIANCE
        if population.group_size > LARGEST_ENUMERATED:
            return (
                f"the cluster has {population.group_size} records: all sets of known records "
                f"are enumerated up to {LARGEST_ENUMERATED}"
            )
        return None

    def factor(self, population: Gaussian) -> tuple[UpperBound, dict[str, Any]]:
        """The factor, and the adversary that attains it."""
        if population.precision is not None:
            return precision_shift_factor(population.precision.matrix.toarray())
        assert population.covariance is not None
        return _cached_factor(population.covariance)


@lru_cache(maxsize=32)
def _cached_factor(
    covariance: tuple[tuple[float, ...], ...],
) -> tuple[UpperBound, dict[str, Any]]:
    return shift_factor(covariance)
