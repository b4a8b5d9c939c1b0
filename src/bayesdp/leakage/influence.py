"""Influence matrices: how far a change of one record moves the law of another (theory 3.7b).

`kappa[j, k] = tanh(ln R_jk / 4)`, where `R_jk` is the largest cross ratio of the records `j` and
`k` given all others. Where Gibbs updates that contract by `kappa` die out, the level is linear in
the DP cost, with the factor `max_i (1 + sum_j w_j)`, `w = kappa_iU (I - kappa_UU)^-1` over the
others.

No solver is trusted: a positive vector `t` with `(I - kappa) t >= 1`, checked with outward
rounding, proves that the inverse exists, is non-negative and has row sums of at most `t`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesdp.arrays import Floats, Ints
from bayesdp.numbers import UNIT, UpperBound
from bayesdp.populations.factors import FactorGraph, FactorGroup, live_cells
from bayesdp.populations.precision import dominating_vector

LARGEST_DENSE = 1500
"""Up to this many records every record's factor is computed by itself; above, from the row sums."""

_LARGEST_SQUARE = 40_000_000
"""Where the square of the influences takes more products, `S_ii` is bounded by fewer powers: the
factor is higher."""
_POWER_STEPS = 30
"""The steps of a power iteration that only tells when not to solve at all."""


def influence_matrix(graph: FactorGraph) -> sparse.csr_array:
    """`kappa` of a factor graph, rounded up; 1 where a cross ratio is infinite.

    Factors that hold both records multiply their cross ratios, each the largest over the values of
    its other members.
    """
    rows: list[Ints] = []
    columns: list[Ints] = []
    values: list[Floats] = []
    for group in graph.groups:
        if group.count == 0:
            continue
        for first, second in itertools.combinations(range(group.arity), 2):
            ratio = _log_pair_ratio(group, graph.possible, first, second)
            rows.append(group.members[:, first])
            columns.append(group.members[:, second])
            values.append(np.broadcast_to(ratio, (group.count,)))
    size = (graph.records, graph.records)
    if not rows:
        return sparse.csr_array(size)
    j, k, logs = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    total = sparse.coo_array((np.r_[logs, logs], (np.r_[j, k], np.r_[k, j])), shape=size).tocsr()
    total.sum_duplicates()
    with np.errstate(invalid="ignore"):
        total.data = np.minimum(np.tanh(total.data / 4.0) * (1.0 + 64.0 * UNIT), 1.0)
    total.eliminate_zeros()
    return total


def _log_pair_ratio(
    group: FactorGroup, allowed: NDArray[np.bool_] | None, first: int, second: int
) -> Floats:
    """`ln` of the largest cross ratio of two members, for each factor of the group, rounded up.

    Infinite unless, given the other members, all allowed pairs of values are possible or none is.
    """
    axes = (1 + first, 1 + second)
    p, q = (group.tables.shape[axis] for axis in axes)
    live = live_cells(group, allowed)
    with np.errstate(divide="ignore"):
        logs = np.moveaxis(np.log(group.tables), axes, (1, 2)).reshape(len(group.tables), p, q, -1)
    count = len(logs) if live is None else len(live)
    infinite = np.zeros(count, dtype=bool)
    if live is not None:
        assert allowed is not None
        cells = np.moveaxis(live, axes, (1, 2)).reshape(len(live), p, q, -1)
        reachable = cells.any(axis=(1, 2), keepdims=True)
        mine = allowed[group.members[:, first], :p][:, :, None, None]
        other = allowed[group.members[:, second], :q][:, None, :, None]
        infinite = np.asarray((mine & other & reachable & ~cells).any(axis=(1, 2, 3)))
        logs = np.where(cells, logs, np.nan)
    largest = np.zeros(count)
    for u, v in itertools.combinations(range(p), 2):
        gap = logs[:, u] - logs[:, v]
        high = np.max(np.where(np.isnan(gap), -np.inf, gap), axis=1)
        low = np.min(np.where(np.isnan(gap), np.inf, gap), axis=1)
        spread = np.where(high > low, high - low, 0.0).max(axis=-1)
        largest = np.maximum(largest, spread)
    size = np.abs(np.where(np.isfinite(logs), logs, 0.0)).max(axis=(1, 2, 3))
    uneven = np.where(largest > 0.0, largest + 160.0 * UNIT * size, _uneven(group) * size)
    return np.where(infinite, np.inf, uneven)


def _uneven(group: FactorGroup) -> float:
    """The error of a cross ratio that is computed as 1, in units of the largest logarithm."""
    flat = group.tables.reshape(len(group.tables), -1)
    return 0.0 if bool(np.all(flat == flat[:, :1])) else 160.0 * UNIT


def influence_factor(kappa: Any) -> tuple[UpperBound, dict[str, Any]] | None:
    """The factor of the DP cost for a matrix of influences, rounded up, with its evidence.

    The evidence holds the `row_sums` of `(I - kappa)^-1`, or numbers above them.

    `kappa` is a square scipy sparse matrix (or array) with entries in `[0, 1]` and a zero diagonal,
    at least the true influences. `None` where no vector proves that the updates die out: the
    spectral radius is not below 1, or too close to it. Source: theory 3.7b.

    >>> from scipy import sparse
    >>> pair = sparse.csr_array([[0.0, 0.5], [0.5, 0.0]])
    >>> factor, _ = influence_factor(pair)
    >>> round(factor, 9)
    1.5
    """
    kappa = sparse.csr_array(kappa)
    records = int(kappa.shape[0])
    if kappa.nnz == 0:
        return UpperBound(1.0), {"records": records, "row_sums": np.ones(records)}
    if _radius_reaches_one(kappa):
        return None
    if records <= LARGEST_DENSE:
        solved = _dense(kappa.toarray())
        if solved is not None:
            factors, sums = solved
            record = int(np.argmax(factors))
            evidence: dict[str, Any] = {"records": records, "record": record, "row_sums": sums}
            if records <= 200:
                evidence["vector"] = sums.tolist()
            return UpperBound(factors[record]), evidence
    vector = dominating_vector(sparse.csr_array(sparse.eye_array(records) - kappa))
    if vector is None:
        return None
    factors = vector / _returns(kappa) * (1.0 + 8.0 * UNIT)
    record = int(np.argmax(factors))
    return UpperBound(factors[record]), {"records": records, "record": record, "row_sums": vector}


def _radius_reaches_one(kappa: sparse.csr_array) -> bool:
    """Whether a Rayleigh quotient of a symmetric matrix reaches 1: then solving is hopeless."""
    if abs(kappa - kappa.T).max() > 1e-12:
        return False
    vector = np.ones(kappa.shape[0])
    for _ in range(_POWER_STEPS):
        onward = kappa @ vector
        size = float(np.linalg.norm(onward))
        if size == 0.0:
            return False
        if float(vector @ onward) >= float(vector @ vector):
            return True
        vector = onward / size
    return False


def _dense(kappa: Floats) -> tuple[Floats, Floats] | None:
    """The factor of each record, and the row sums of `S = (I - kappa)^-1`.

    For record `i` the vector `t = S 1 - S_.i (S 1)_i / S_ii` solves `(I - kappa_UU) t = 1` on the
    others. Divided by its least row it is certified, and the factor is `1 + kappa_iU t`.
    """
    records = len(kappa)
    try:
        inverse = np.linalg.inv(np.eye(records) - kappa)
    except np.linalg.LinAlgError:
        return None
    diagonal = inverse.diagonal().copy()
    if not (np.all(np.isfinite(inverse)) and np.all(diagonal >= 0.5)):
        return None
    sums = inverse.sum(axis=1)
    vectors = sums[:, None] - inverse * (sums / diagonal)[None, :]
    np.fill_diagonal(vectors, 0.0)
    passed = kappa @ vectors
    error = 2.0 * (records + 4) * UNIT
    rows = vectors - passed - error * (np.abs(vectors) + np.abs(passed))
    np.fill_diagonal(rows, np.inf)
    least = rows.min(axis=0)
    positive = vectors.copy()
    np.fill_diagonal(positive, 1.0)
    if not (np.all(least > 0.5) and np.all(positive > 0.0)):
        return None
    factors = 1.0 + passed.diagonal() / least * (1.0 + 2.0 * error)
    return factors * (1.0 + 4.0 * UNIT), sums


def _returns(kappa: sparse.csr_array) -> Floats:
    """A lower bound on `S_ii`: `1 + (kappa^2)_ii`, and the next two powers where they are cheap."""
    once = np.asarray(kappa.multiply(kappa.T).sum(axis=1)).ravel()
    total = 1.0 + once
    degree = np.diff(kappa.indptr)
    if float((kappa.astype(bool).astype(float) @ degree.astype(float)).sum()) <= _LARGEST_SQUARE:
        square = sparse.csr_array(kappa @ kappa)
        total = total + np.asarray(square.multiply(kappa.T).sum(axis=1)).ravel()
        total = total + np.asarray(square.multiply(square.T).sum(axis=1)).ravel()
    longest = float(np.max(degree))
    lower: Floats = total * (1.0 - 16.0 * (longest * longest + 8.0) * UNIT)
    return np.maximum(lower, 1.0)
