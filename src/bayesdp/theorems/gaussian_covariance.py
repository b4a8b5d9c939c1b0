"""Gaussian clusters with a known covariance.

Statement (theory 3.8 b). For clusters of jointly Gaussian records with a known covariance, for
mechanisms that are `eps`-Lipschitz in the l1 distance of the records clipped to `[a, b]`
(`eps = (b - a) eps_l1` their DP cost) and secrets in `[a, b]`, the level is at most
`eps (1 + max over (i, K) of sum_j min(|beta_j|, 1))`, `beta` the regression coefficients of the
unknown records on record `i` given the known records `K`.

Proof (shift coupling). Given `x_K`, changing the secret from `x_i` to `x_i'` adds
`beta (x_i' - x_i)` to the mean of the unknown records and leaves their covariance alone. So a draw
of them for one secret, shifted by that vector, is a draw for the other. Clipping is 1-Lipschitz and
moves no record by more than `b - a`, so unknown record `j` moves by at most
`min(|beta_j|, 1) (b - a)` after clipping and the target by at most `b - a`. The density of every
output changes by at most `exp(eps_l1 * total)` pointwise along the coupling, hence on average.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bayesdp.leakage.normal import LARGEST_ENUMERATED, precision_shift_factor, shift_factor
from bayesdp.notions import Cost
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

    def factor(self, population: Gaussian) -> tuple[float, dict[str, Any]]:
        """The factor, and the adversary that attains it."""
        if population.precision is not None:
            return precision_shift_factor(population.precision.matrix.toarray())
        assert population.covariance is not None
        return _cached_factor(population.covariance)


@lru_cache(maxsize=32)
def _cached_factor(
    covariance: tuple[tuple[float, ...], ...],
) -> tuple[float, dict[str, Any]]:
    return shift_factor(covariance)
