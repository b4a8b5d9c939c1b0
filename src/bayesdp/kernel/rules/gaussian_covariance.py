"""Known covariance: the largest sum of clipped regressions over all adversaries (theory 3.8 b)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import (
    Triangle,
    conditionals,
    inverse,
    level,
    matrix_declared,
    symmetric,
    triangle,
)

MOST_RECORDS = 16
"""Certificates of larger clusters are UNKNOWN: all sets of known records are enumerated."""


def bound(conversion: Conversion) -> arb:
    """The level by the factor `1 + max sum_j min(|V_ji| / V_ii, 1)`, at most `m`.

    `V` is the covariance of the target `i` and the unknown records, given the known ones.
    """
    is_covariance, content = matrix_declared(conversion)
    if len(content) > MOST_RECORDS:
        raise UnknownError(f"more than {MOST_RECORDS} records are not enumerated")
    best = arb(0)
    rows = symmetric(content)
    covariance = triangle(rows)
    if not is_covariance:
        inverted = inverse(rows)
        covariance = [[inverted[i, j] for j in range(i + 1)] for i in range(len(rows))]
    for matrix in conditionals(covariance):
        for moved in _sums(matrix):
            if not bool(moved <= best):
                best = best.max(moved)
    size = len(content)
    return level(conversion, (1 + best).min(arb(size)), size)


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
