"""Walk-summable precision: sums of `min(S_ij / S_ii, 1)`, `S` as in `walks` (theory 3.8 c)."""

from __future__ import annotations

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.gaussian import inverse, level, matrix_declared, symmetric
from bayesdp.kernel.steps.walks import SparseRows, largest_row

LARGEST_COVARIANCE = 200
"""Certificates of a larger covariance are UNKNOWN: it is inverted."""


def bound(conversion: Conversion) -> arb:
    """The level by the largest row sum of `min(S_ij / S_ii, 1)`.

    `S` is the inverse of the comparison matrix: the diagonal of the precision, and `-|Q_ij|`
    beside it.
    """
    is_covariance, content = matrix_declared(conversion)
    matrix = symmetric(content)
    size = len(matrix)
    rows: SparseRows
    if not is_covariance:
        rows = [{j: ball(x) for j, x in enumerate(row) if x} for row in matrix]
    else:
        if size > LARGEST_COVARIANCE:
            raise UnknownError(f"a covariance of more than {LARGEST_COVARIANCE} rows")
        precision = inverse(matrix)
        rows = [{j: precision[i, j] for j in range(size)} for i in range(size)]
    compared = [{j: x if i == j else -abs(x) for j, x in row.items()} for i, row in enumerate(rows)]
    return level(conversion, largest_row(compared, conversion.details, clipped=True), size)
