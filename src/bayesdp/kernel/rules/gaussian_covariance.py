"""Known covariance: the largest sum of clipped regressions over all adversaries (theory 3.8 b)."""

from __future__ import annotations

from typing import Any

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import UnknownError, ball, require
from bayesdp.kernel.gaussian import Triangle, conditionals, level, matrix_declared, symmetric
from bayesdp.kernel.judgement import Conversion

MOST_RECORDS = 16


def bound(conversion: Conversion) -> arb:
    """`1 + max sum_j min(|V_ji| / V_ii, 1)`, `V` the covariance of `i` and the unknown given K."""
    is_covariance, content = matrix_declared(conversion)
    if len(content) > MOST_RECORDS:
        raise UnknownError(f"more than {MOST_RECORDS} records are not enumerated")
    best = arb(0)
    for matrix in conditionals(_covariance(is_covariance, content)):
        for moved in _sums(matrix):
            if not bool(moved <= best):
                best = best.max(moved)
    size = len(content)
    return level(conversion, (1 + best).min(arb(size)), size)


def _covariance(is_covariance: bool, content: Any) -> Triangle:
    rows = [[ball(entry) for entry in row] for row in symmetric(content)]
    places = range(len(rows))
    if not is_covariance:
        try:
            inverse = arb_mat(rows).inv()
        except ZeroDivisionError:
            require(False, "the matrix is not positive definite")
        return [[inverse[i, j] for j in range(i + 1)] for i in places]
    return [rows[i][: i + 1] for i in places]


def _sums(matrix: Triangle) -> list[arb]:
    """For each record as the target, what the others move by when it moves by 1.

    A minimum is at most either of its two; doubles choose the smaller one.
    """
    variances = [row[i] for i, row in enumerate(matrix)]
    floats = [float(variance) for variance in variances]
    sums = [arb(0)] * len(matrix)
    for i, row in enumerate(matrix):
        for j in range(i):
            size = abs(row[j])
            nearly = float(size)
            sums[i] += size if nearly < floats[i] else variances[i]
            sums[j] += size if nearly < floats[j] else variances[j]
    return [total / variance for total, variance in zip(sums, variances, strict=True)]
