"""Gaussian clusters: how far the other records move when a record does (theory 3.8 b)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesdp.numbers import UNIT, UpperBound, largest, up

LARGEST_ENUMERATED = 16
"""Clusters up to this size are enumerated: every target with every set of known records."""


def shift_factor(covariance: tuple[tuple[float, ...], ...]) -> tuple[UpperBound, dict[str, object]]:
    """`1 + max over (i, K) of sum_j min(|beta_j|, 1)`, rounded up, and where it is attained.

    `beta` is the regression of the unknown records on record `i` given the known ones, in the
    records' own units. `covariance` has one row a record of the cluster, positive definite. All
    adversaries `(i, K)` are enumerated. Source: theory 3.8 b.
    """
    spread, precision, condition = _scaled(np.asarray(covariance, dtype=float))
    return _shift_factor(spread, precision, condition)


def precision_shift_factor(precision: NDArray[np.float64]) -> tuple[UpperBound, dict[str, object]]:
    """Like `shift_factor`, for a precision matrix."""
    root = np.sqrt(np.diag(precision))
    scaled = precision / np.outer(root, root)
    return _shift_factor(1.0 / root, scaled, float(np.linalg.cond(scaled)))


def _scaled(
    covariance: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Standard deviations, the inverse of the correlation matrix, and its condition number."""
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(spread, spread)
    return spread, np.linalg.inv(correlation), float(np.linalg.cond(correlation))


def _shift_factor(
    spread: NDArray[np.float64], precision: NDArray[np.float64], condition: float
) -> tuple[UpperBound, dict[str, object]]:
    """The factor, from the inverse of blocks of the precision matrix.

    With `A` the unknown records and `i`, `V = (Q_AA)^-1` is their covariance given `K`, and
    `beta_j = V[j, i] / V[i, i]`.
    """
    size = len(spread)
    units = spread[:, None] / spread[None, :]
    relative = _relative_error(size, condition)
    if relative is None:
        reason = "ill-conditioned: no better than the size of the cluster"
        return UpperBound(size), {"reason": reason}
    best, target, unknown = 0.0, 0, ()  # type: tuple[float, int, tuple[int, ...]]
    for count in range(2, size + 1):
        subsets = np.array(list(combinations(range(size), count)))
        for chunk in np.array_split(subsets, max(1, len(subsets) // 4096)):
            value, row, column = _largest(precision, units, chunk, relative)
            if largest(value) > best:
                best, target = value, int(chunk[row][column])
                unknown = tuple(int(j) for j in chunk[row] if j != target)
    factor = UpperBound(min(float(size), 1.0 + up(best * (1.0 + relative), 4)))
    return factor, {"record": target, "unknown": list(unknown), "condition": condition}


def _relative_error(size: int, condition: float) -> float | None:
    """The allowance for rounding in a regression; `None` where that is too large.

    Both absolutely and relative to the coefficient, in units in which the variances are 1.
    """
    relative = 64.0 * size * size * UNIT * condition
    return relative if relative <= 1e-6 else None


def _largest(
    precision: NDArray[np.float64],
    units: NDArray[np.float64],
    subsets: NDArray[np.int64],
    error: float,
) -> tuple[float, int, int]:
    """The largest sum of clipped regression coefficients over subsets and targets in them."""
    blocks = precision[subsets[:, :, None], subsets[:, None, :]]
    conditional = np.linalg.inv(blocks)
    variances = np.diagonal(conditional, axis1=1, axis2=2)
    scale = units[subsets[:, :, None], subsets[:, None, :]]
    beta = (np.abs(conditional) / variances[:, None, :] + error) * scale
    sums = np.minimum(beta, 1.0).sum(axis=1) - 1.0
    row, column = np.unravel_index(int(np.argmax(sums)), sums.shape)
    return float(sums[row, column]), int(row), int(column)


def vector_movements(
    covariance: tuple[tuple[float, ...], ...], columns: int, widths: tuple[float, ...]
) -> NDArray[np.float64] | None:
    """By how much each column of each unknown record can move, for every adversary (theory 3.8 f).

    Records are vectors of `columns` numbers; the secrets of column c differ by at most
    `widths[c]`. Entry `[a, j, c]` is `sum_c' |B_(jc)(ic')| widths[c']` for the adversary `a`, that
    is a target `i` and a set of known records: rounded up, not clipped, and 0 for the target and
    the known records. `None` where the covariance is too ill-conditioned for a certain answer.
    """
    spread, precision, condition = _scaled(np.asarray(covariance, dtype=float))
    size = len(spread) // columns
    error = _relative_error(len(spread), condition)
    if error is None:
        return None
    places = np.arange(size * columns).reshape(size, columns)
    reach = np.asarray(widths, dtype=float)
    rows = [np.zeros((size, columns))]
    for count in range(2, size + 1):
        for subset in combinations(range(size), count):
            block = places[list(subset)].ravel()
            conditional = np.linalg.inv(precision[np.ix_(block, block)])
            for position, target in enumerate(subset):
                own = slice(position * columns, (position + 1) * columns)
                slopes = np.linalg.solve(conditional[own, own], conditional[own, :]).T
                unit = spread[block][:, None] / spread[places[target]][None, :]
                bound = (np.abs(slopes) * (1.0 + error) + error) * unit
                moved = np.zeros((size, columns))
                moved[list(subset)] = (bound @ reach).reshape(count, columns)
                moved[target] = 0.0
                rows.append(moved * (1.0 + 8.0 * (columns + 4) * UNIT))
    return np.stack(rows)


def max_correlation_factor(size: int, rho: float) -> UpperBound | None:
    """`1 + m^2 / (4 (1/rho - m + 2))` (theory 3.8 a), or `None` where `rho (m - 2) >= 1`."""
    if rho == 0.0 or size == 1:
        return UpperBound(1.0)
    exact = Fraction(rho)
    room = 1 - exact * (size - 2)
    if room <= 0:
        return None
    return _factor_up(size * size * exact / (4 * room))


def equal_variances_factor(size: int, rho: float) -> UpperBound:
    """`1 + max_s (m - s) min(1, 1 / (1/rho - s + 1))` (theory 3.8 a2), rounded up.

    The terms grow with `s` up to the first that is cut to 1, so at most three of them matter.
    """
    if rho == 0.0 or size == 1:
        return UpperBound(1.0)
    exact = Fraction(rho)
    cut = math.floor(1 / exact)  # from s = 1/rho on, 1 / (1/rho - s + 1) is at least 1
    candidates = {1, size - 1, cut - 1, cut, cut + 1}
    best = max(_moved(size, exact, s) for s in candidates if 1 <= s <= size - 1)
    return UpperBound(min(float(size), _factor_up(best)))


def _moved(size: int, rho: Fraction, conditioning: int) -> Fraction:
    room = 1 - rho * (conditioning - 1)
    share = min(Fraction(1), rho / room) if room > 0 else Fraction(1)
    return (size - conditioning) * share


def _factor_up(moved: Fraction) -> UpperBound:
    """1 plus how far the others move, with room for variances that agree only up to 1e-12."""
    return UpperBound(up(float(1 + moved * (1 + Fraction(1, 10**12))), 2))


def autoregressive_factor(coefficient: float, length: int) -> UpperBound:
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

    return UpperBound(up(1.0 + one_side(left) + one_side(right), 64))
