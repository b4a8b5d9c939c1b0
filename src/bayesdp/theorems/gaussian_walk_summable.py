"""Gaussian records of any number with a known precision matrix that is walk-summable.

#### c. Known precision, any number of records (new)

**Statement** (theorem `gaussian-walk-summable`). Under the hypotheses of 3.8 (a mechanism that is
Lipschitz in the clipped values, secrets in the clipping interval): let `Q` be the precision, the
inverse of the covariance of all records, and `Qc` its comparison matrix: the same diagonal, and
`-|Q_jk|` beside it. If `Qc` is positive definite (the field is then called *walk-summable*), then
with `S = Qc^-1`

```text
L(eps) <= eps * max_i sum_j min(S_ij / S_ii, 1).
```

**Proof.** Let `i` be attacked, `K` known, `U` unknown, and `W` all records but `i`. The regression
of `X_U` on `X_i` given `X_K` has the coefficients `beta = -(Q_UU)^-1 Q_Ui`.

1. `Qc` is positive definite with no positive entry beside the diagonal, an M-matrix, and so is
   every principal block. With `D` the diagonal of `Q_UU` and `R = D - Q_UU`, the series
   `(Qc_UU)^-1 = sum_k (D^-1 |R|)^k D^-1` converges, and term by term it bounds `(Q_UU)^-1 = sum_k
   (D^-1 R)^k D^-1`. So `|beta| <= (Qc_UU)^-1 |Q_Ui|`, entry by entry.
2. By Schur's complement the block `((Qc_WW)^-1)_UU` is the inverse of a matrix that is nowhere
   above `Qc_UU`, so it is nowhere below `(Qc_UU)^-1` (the series again). Hence `|beta| <=
   ((Qc_WW)^-1 |Q_Wi|)_U`: whoever knows nothing is the worst adversary of the attractive field.
3. By block inversion `S_Wi / S_ii = (Qc_WW)^-1 |Q_Wi|`.

So `sum_j min(|beta_j|, 1) <= sum over j in W of min(S_ij / S_ii, 1)`, and the shift coupling of 3.8
b does the rest. ∎ If `Q` is known up to rounding, take its smallest diagonal and its largest sizes
beside it: by 1 and 2 the bound only grows. So any symmetric matrix with the signs of `Qc` that is
nowhere above it may stand in its place. Equality with 3.8 b where all partial correlations are
positive.

**The evidence** is a vector. *If `s > 0` and `Qc s >= 1` in every row, then `Qc` is positive
definite and the row sums of `S` are at most `s`*: with `D^-1 |R|` as above for all records, `D^-1
|R| s < s`, so its spectral radius is below 1, `Qc` is an M-matrix, `S` has no negative entry, and
`S 1 <= S Qc s = s`. bayesdp finds `s` in floating point, by a direct solution or by conjugate
gradients, and checks it with outward rounding; only the check counts. Up to 2000 records all of `S`
is enclosed: for any approximation `X` with residual `E = I - Qc X`, `S - X = S E`, so `|S - X|_ij
<= s_i max_k |E_kj|`. Above, the factor is `max_i s_i / l_i` with a lower bound `l_i <= S_ii`: by
the series `S_ii` is the sum, over all closed walks from `i`, of products of `|Q_jk|` along the
edges and `1 / Q_jj` at the stations. No term is negative, so any set of walks gives a lower bound.
The walks that turn back along every edge they used, to a given depth, live on the tree that the
graph unrolls to, and are summed by recursion: `T_i = Q_ii - sum_j Q_ij^2 / P_(j->i)`, where
`P_(j->i)` is the same for `j` without the neighbour `i`, and `1 / T_i <= S_ii`. At depth one `S_ii
>= 1 / (Q_ii - sum_j Q_ij^2 / Q_jj)`. On a tree this is exact in the limit, so a long AR(1) has its
factor `(1 + |phi|) / (1 - |phi|)`; on a square grid it costs a few per cent.

**In a table** the rows are some of the records of the matrix. Which row is which doesn't matter for
the level, as 3.8 g explains.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bayesdp.leakage.walk import covariance_factor, walk_factor
from bayesdp.notions import Cost
from bayesdp.numbers import UpperBound
from bayesdp.populations import Gaussian
from bayesdp.populations.gaussian import MatrixRows
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

    def factor(self, population: Gaussian) -> tuple[UpperBound, dict[str, Any]]:
        """The factor, and the vector (or its digest)."""
        factor = _factor(population)
        assert factor is not None
        return factor


def _factor(population: Gaussian) -> tuple[UpperBound, dict[str, Any]] | None:
    if population.precision is not None:
        return _from_precision(population.precision)
    assert population.covariance is not None
    return _from_covariance(population.covariance)


@lru_cache(maxsize=4)
def _from_precision(precision: Precision) -> tuple[UpperBound, dict[str, Any]] | None:
    return walk_factor(precision)


@lru_cache(maxsize=16)
def _from_covariance(covariance: MatrixRows) -> tuple[UpperBound, dict[str, Any]] | None:
    return covariance_factor(covariance)
