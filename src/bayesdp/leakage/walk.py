"""Walk-summable Gaussian populations of any size (theory 3.8 c).

Everything here starts from a *lower bound* `Qc` of the comparison matrix of the precision: smaller
on the diagonal, further from zero beside it. With `S = Qc^-1` the theorem's factor is
`max_i sum_j min(S_ij / S_ii, 1)`, and it only grows as `Qc` gets smaller, so rounding `Qc` down is
the safe direction.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.numbers import UNIT, UpperBound, up
from bayesdp.populations.precision import LARGEST_DENSE, MOST_WRITTEN, Precision, least_row

if TYPE_CHECKING:
    from scipy.sparse import csr_array


SHOWN = 50
"""Up to this many records the evidence holds the vector itself, above it its digest."""
_ROUNDS = 12
"""How deep closed walks are followed: with less depth the bound is higher."""
_INVERTED = 150
"""Up to this size the kernel inverts the matrix itself, and certificates need no witness."""


def walk_factor(precision: Precision) -> tuple[UpperBound, dict[str, Any]] | None:
    """The factor for a precision matrix, rounded up, and its evidence; `None` where there is none.

    The evidence is a vector `s` with `Qc s >= 1`. Up to 2000 records all entries of `S` are
    enclosed; above, `sum_j S_ij <= s_i` and a lower bound of `S_ii` serve.
    """
    vector = precision.vector
    if vector is None:
        return None
    comparison = precision.comparison
    factor = None
    if precision.records <= LARGEST_DENSE:
        factor = dense_factor(comparison.toarray())
    if factor is None:
        factor = sparse_factor(comparison, vector)
    return factor, _evidence(comparison, vector)


def covariance_factor(
    covariance: tuple[tuple[float, ...], ...],
) -> tuple[UpperBound, dict[str, Any]] | None:
    """The factor for a covariance, whose inverse is enclosed first, and its evidence.

    As `walk_factor`; `None` where the inverse can't be enclosed, too.
    """
    from scipy.sparse import csr_array

    from bayesdp.populations.precision import dominating_vector

    lower = comparison_of_inverse(np.asarray(covariance, dtype=float))
    if lower is None:
        return None
    sparse = csr_array(lower)
    vector = dominating_vector(sparse)
    factor = dense_factor(lower)
    if vector is None or factor is None:
        return None
    return factor, _evidence(sparse, vector)


def _evidence(comparison: csr_array, vector: Floats) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "vector_entries": len(vector),
        "vector_sha256": hashlib.sha256(vector.astype("<f8").tobytes()).hexdigest(),
        "vector_range": [float(vector.min()), float(vector.max())],
        "least_row": least_row(comparison, vector),
    }
    fields |= {"vector": vector.tolist()} if len(vector) <= SHOWN else {}
    return fields | row_sums(vector)


def row_sums(vector: Floats, most: int = MOST_WRITTEN) -> dict[str, Any]:
    """The witness of a certificate; none where the kernel inverts the matrix itself."""
    is_written = _INVERTED < len(vector) <= most
    return {"row_sums": vector.tolist()} if is_written else {}


def dense_factor(comparison: Floats) -> UpperBound | None:
    """`max_i sum_j min(S_ij / S_ii, 1)`, rounded up, from an enclosure of every entry of `S`.

    `X` is a floating-point inverse and `E = I - Qc X` its residual, so `S - X = S E`, and since `S`
    has no negative entry `|S - X|_ij <= (row sum of S)_i * max_k |E_kj|`. The row sums are bounded
    by a vector: `Qc v >= m > 0` gives `S 1 <= v / m`. `None` where no vector is found.
    """
    n = len(comparison)
    root = np.sqrt(np.diag(comparison))
    # In units in which the diagonal is 1; rounded down, so that scaling doesn't raise an entry.
    scaled = comparison / root[:, None] / root[None, :]
    scaled = -np.abs(scaled) * (1.0 + 8.0 * UNIT)
    np.fill_diagonal(scaled, 1.0 - 8.0 * UNIT)
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    product_error = 2.0 * (n + 4) * UNIT
    size = np.abs(scaled)
    row_sums = inverse.sum(axis=1)
    if not (np.all(np.isfinite(row_sums)) and np.all(row_sums > 0.0)):
        return None
    least = float(np.min(scaled @ row_sums - product_error * (size @ row_sums)))
    if not least > 0.0:
        return None
    residual = np.abs(np.eye(n) - scaled @ inverse) + product_error * (
        np.eye(n) + size @ np.abs(inverse)
    )
    error = np.outer(row_sums / least, residual.max(axis=0)) * (1.0 + 16.0 * UNIT)
    diagonal = np.diag(inverse) - np.diag(error)
    diagonal = diagonal * (1.0 - 4.0 * UNIT)
    if not np.all(diagonal > 0.0):
        return None
    above = np.maximum(inverse + error, 0.0)
    # Back to the records' own units: S_ij / S_ii scales by root_i / root_j.
    ratio = above / diagonal[:, None] * (root[:, None] / root[None, :]) * (1.0 + 16.0 * UNIT)
    np.fill_diagonal(ratio, 1.0)
    sums = np.minimum(ratio, 1.0).sum(axis=1)
    return UpperBound(min(float(n), up(float(sums.max()), n + 4)))


def sparse_factor(comparison: csr_array, vector: Floats) -> UpperBound:
    """`max_i s_i / (lower bound of S_ii)`, rounded up and at most n; linear in the entries."""
    below = diagonal_reciprocal(comparison)
    factor = up(float(np.max(vector * below)), 4)
    return UpperBound(max(1.0, min(float(len(vector)), factor)))


def diagonal_reciprocal(comparison: csr_array, rounds: int = _ROUNDS) -> Floats:
    """Upper bounds of `1 / S_ii` by backtracking walks, rounded up.

    `T_i = Q_ii - sum_j Q_ij^2 / P_(j->i)`, where `P_(j->i)` is the same with `j` for `i`, without
    the neighbour `i`, down to `P = Q_jj`. `1 / T_i` is the weight of those closed walks from `i`
    that the tree of depth `rounds` unrolled at `i` holds, and `S_ii` that of all closed walks, none
    of which has a negative weight (theory 3.8 c). With no rounds, `P_(j->i) = Q_jj`.
    """
    n = int(comparison.shape[0])
    diagonal = np.asarray(comparison.diagonal(), dtype=float)
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(comparison.indptr))
    off = np.flatnonzero(comparison.indices != rows)
    rows, columns = rows[off], np.asarray(comparison.indices, dtype=np.int32)[off]
    if not len(rows):
        return diagonal
    weight = np.square(np.asarray(comparison.data)[off]) * (1.0 - 4.0 * UNIT)
    reverse = _reverse(rows, columns, n)
    degree = int(np.max(np.bincount(rows, minlength=n)))
    slack = 16.0 * (degree + 4) * UNIT * diagonal
    message = diagonal[columns]
    total = diagonal
    for count in range(rounds + 1):
        term = weight / message
        before = total
        total = np.minimum(diagonal - np.bincount(rows, weights=term, minlength=n) + slack, before)
        if count == rounds or float(np.max((before - total) / total)) < 1e-6:
            break
        message = np.minimum(total[columns] + term[reverse] + slack[columns], message)
    result: Floats = total
    return result


def _reverse(rows: NDArray[np.int32], columns: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """The position of the entry `(k, j)`, for each entry `(j, k)` of a symmetric pattern."""
    from scipy.sparse import csr_array

    numbered = csr_array((np.arange(1, len(rows) + 1), (rows, columns)), shape=(n, n))
    turned = csr_array(numbered.T)
    turned.sort_indices()
    return np.asarray(turned.data, dtype=np.int64) - 1


def comparison_of_inverse(covariance: Floats) -> Floats | None:
    """A lower bound of the comparison matrix of `covariance^-1`; `None` where none is certified.

    In units in which the variances are 1, with `X` a floating-point inverse and `E = I - R X`:
    `R^-1 - X = X (E + E^2 + ...)`, so where `e`, the largest row sum of `|E|`, is below 1,
    `|R^-1 - X|_ij <= (row sum of |X|)_i * e / (1 - e)`.
    """
    n = len(covariance)
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / spread[:, None] / spread[None, :]
    try:
        inverse = np.linalg.inv(correlation)
    except np.linalg.LinAlgError:
        return None
    inverse = (inverse + inverse.T) / 2.0
    size = np.abs(correlation) @ np.abs(inverse)
    residual = np.abs(np.eye(n) - correlation @ inverse) + 2.0 * (n + 12) * UNIT * (
        size + np.eye(n)
    )
    largest = float(np.max(residual.sum(axis=1))) * (1.0 + 2.0 * (n + 4) * UNIT)
    if not largest < 0.5:
        return None
    error = np.abs(inverse).sum(axis=1) * (largest / (1.0 - largest)) * (1.0 + 4.0 * n * UNIT)
    error = np.minimum(error[:, None], error[None, :])
    lower = -(np.abs(inverse) + error)
    np.fill_diagonal(lower, np.diag(inverse) - np.diag(error))
    lower = lower / spread[:, None] / spread[None, :]
    lower = lower - 8.0 * UNIT * np.abs(lower)
    return lower if bool(np.all(np.diag(lower) > 0.0)) else None
