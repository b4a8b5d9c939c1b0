"""Gaussian records of any number with a known precision matrix that is walk-summable.

Statement (theory 3.8 c). Let `Q` be the precision (inverse covariance) of jointly Gaussian records
and `Qc` its comparison matrix: the same diagonal, `-|Q_jk|` beside it. If `Qc` is positive
definite, then with `S = Qc^-1`, under the hypotheses of theory 3.8 b (Lipschitz mechanism, secrets
in the clipping interval), the level is at most `eps max_i sum_j min(S_ij / S_ii, 1)`. Any
symmetric matrix with the signs of `Qc` that is nowhere above it may stand in its place.

Proof. Let `i` be the target, `K` known, `U` the others. The regression of `X_U` on `X_i` given `K`
is `beta = -(Q_UU)^-1 Q_Ui`. `Qc` is a symmetric M-matrix, and so is its block `Qc_UU`: with the
diagonal `D` of `Q_UU` and `R = D - Q_UU`, `(Q_UU)^-1 = sum_k (D^-1 R)^k D^-1`, each term of which
is at most its twin for `|R|`, so `|(Q_UU)^-1| <= (Qc_UU)^-1` entry by entry and
`|beta| <= (Qc_UU)^-1 |Q_Ui|`. Let `W` be all records but `i`. By Schur's complement the block
`((Qc_WW)^-1)_UU` is the inverse of a matrix that is nowhere above `Qc_UU`, and inverses of
M-matrices reverse the order, so `|beta| <= ((Qc_WW)^-1 |Q_Wi|)_U`, which is `S_Ui / S_ii` by block
inversion: whoever knows nothing is the worst adversary. The rest is the shift coupling of theory
3.8 b. A smaller `Qc` raises `(Qc_WW)^-1` and `|Q_Wi|`.

Evidence. A vector `s > 0` with `Qc s >= 1` proves that `Qc` is an M-matrix, hence positive
definite, and the row sums `S 1 <= S Qc s = s`. Up to 2000 records every entry of `S` is then
enclosed by a residual; above, the factor is `max_i s_i / (lower bound of S_ii)`. `S_ii` is the sum
over all closed walks from `i` of products of `|Q_jk|` and `1 / Q_jj`, none of them negative; those
walks that retrace their steps are summed by recursion, which gives, at depth one,
`S_ii >= 1 / (Q_ii - sum_j Q_ij^2 / Q_jj)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bayesdp.leakage.walk import covariance_factor, walk_factor
from bayesdp.notions import Cost
from bayesdp.populations import Gaussian
from bayesdp.populations.gaussian import Rows
from bayesdp.populations.precision import Precision
from bayesdp.theorems.gaussian import NO_COVARIANCE, ClusterTheorem


class GaussianWalkSummable(ClusterTheorem):
    """Factor `max_i sum_j min(S_ij / S_ii, 1)`, `S` the inverse comparison matrix (3.8 c)."""

    name = "gaussian-walk-summable"
    statement = "walk-summable precision: at most eps times the largest row sum of S_ij / S_ii"
    source = "bayesdp; theory 3.8 c"
    uses = "the sizes of all partial correlations, for any number of records"
    ignores = "the signs of partial correlations, which can cancel; and who is known"

    def failed(self, population: Gaussian, cost: Cost) -> str | None:
        """A covariance or precision, and a vector that proves it walk-summable."""
        if population.covariance is None and population.precision is None:
            return NO_COVARIANCE
        if _factor(population) is None:
            return (
                "the precision matrix is not walk-summable: no vector s > 0 with Qc s >= 1 was "
                "found, Qc its comparison matrix"
            )
        return None

    def factor(self, population: Gaussian) -> tuple[float, dict[str, Any]]:
        """The factor, and the vector (or its digest)."""
        factor = _factor(population)
        assert factor is not None
        return factor


def _factor(population: Gaussian) -> tuple[float, dict[str, Any]] | None:
    if population.precision is not None:
        return _from_precision(population.precision)
    assert population.covariance is not None
    return _from_covariance(population.covariance)


@lru_cache(maxsize=4)
def _from_precision(precision: Precision) -> tuple[float, dict[str, Any]] | None:
    return walk_factor(precision)


@lru_cache(maxsize=16)
def _from_covariance(covariance: Rows) -> tuple[float, dict[str, Any]] | None:
    return covariance_factor(covariance)
