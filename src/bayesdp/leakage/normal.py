"""Gaussian clusters: by how much the others move when one record does (theory 3.8 b)."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesdp.leakage.rounding import UNIT, up

LARGEST_ENUMERATED = 16
"""Clusters up to this size are enumerated: every target with every set of known records."""


def shift_factor(covariance: tuple[tuple[float, ...], ...]) -> tuple[float, dict[str, object]]:
    """`1 + max over (i, K) of sum_j min(|beta_j|, 1)`, rounded up, and where it is attained.

    `beta` is the regression of the unknown records on record `i` given the known ones, in the
    records' own units. It is read off the inverse of a block of the precision matrix: with `A` the
    unknown records and `i`, `V = (Q_AA)^-1` is their covariance given `K`, and
    `beta_j = V[j, i] / V[i, i]`.
    """
    matrix = np.asarray(covariance, dtype=float)
    size = len(matrix)
    spread = np.sqrt(np.diag(matrix))
    correlation = matrix / np.outer(spread, spread)
    precision = np.linalg.inv(correlation)
    units = spread[:, None] / spread[None, :]
    best, target, unknown = 0.0, 0, ()  # type: tuple[float, int, tuple[int, ...]]
    for count in range(2, size + 1):
        subsets = np.array(list(combinations(range(size), count)))
        for chunk in np.array_split(subsets, max(1, len(subsets) // 4096)):
            value, row, column = _largest(precision, units, chunk)
            if value > best:
                best, target = value, int(chunk[row][column])
                unknown = tuple(int(j) for j in chunk[row] if j != target)
    condition = float(np.linalg.cond(correlation))
    relative = 64.0 * size * size * UNIT * condition
    if relative > 1e-6:
        return float(size), {"reason": "ill-conditioned: no better than the size of the cluster"}
    factor = min(float(size), 1.0 + up(best * (1.0 + relative)))
    return factor, {"record": target, "unknown": list(unknown), "condition": condition}


def _largest(
    precision: NDArray[np.float64], units: NDArray[np.float64], subsets: NDArray[np.int64]
) -> tuple[float, int, int]:
    """The largest sum of clipped regression coefficients over subsets and targets in them."""
    blocks = precision[subsets[:, :, None], subsets[:, None, :]]
    conditional = np.linalg.inv(blocks)
    variances = np.diagonal(conditional, axis1=1, axis2=2)
    scale = units[subsets[:, :, None], subsets[:, None, :]]
    beta = np.abs(conditional) / variances[:, None, :] * scale
    sums = np.minimum(beta, 1.0).sum(axis=1) - 1.0
    row, column = np.unravel_index(int(np.argmax(sums)), sums.shape)
    return float(sums[row, column]), int(row), int(column)


def max_correlation_factor(size: int, rho: float) -> float | None:
    """`1 + m^2 / (4 (1/rho - m + 2))` (theory 3.8 a), or `None` where `rho (m - 2) >= 1`."""
    if rho == 0.0 or size == 1:
        return 1.0
    room = up(rho) * (size - 2)
    if room >= 1.0:
        return None
    return up(1.0 + size * size * rho / (4.0 * (1.0 - rho * (size - 2))), 64)


def autoregressive_factor(coefficient: float, length: int) -> float:
    """The largest sum of `|coefficient|^|i - j|` over the records `j` of a series, rounded up.

    For a long series `(1 + |phi|) / (1 - |phi|)`; a short one has fewer neighbours.
    """
    phi = abs(coefficient)
    left, right = (length - 1) // 2, length - 1 - (length - 1) // 2
    gap = 1.0 - phi

    def one_side(records: int) -> float:
        if phi == 0.0 or records == 0:
            return 0.0
        return phi * -math.expm1(records * math.log(phi)) / gap

    return up(1.0 + one_side(left) + one_side(right), 64)
