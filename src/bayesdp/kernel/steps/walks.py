"""Row sums of the inverse of a symmetric matrix with no positive entry off its diagonal.

Such a matrix `C` is a nonsingular M-matrix if and only if some vector `s > 0` has `C s > 0`. Then
`S = C^-1` has no negative entry, and `C s >= least` proves that the row sums of `S` are at most
`s / least`. Up to 150 rows `S` is computed; above, the vector is a witness on the certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb, arb_mat

from bayesdp.kernel.arithmetic import InvalidError, balls, require

SparseRows = list[dict[int, arb]]
"""The entries of each row by column. The diagonal is among them."""

LARGEST_DENSE = 150
"""Matrices up to this size are inverted; larger ones need the vector that is their witness."""
_MOST_TERMS = 200_000
"""Depth times entries when closed walks are followed; with less depth the bound is higher."""
_REFUSED = "no vector s > 0 with C s > 0 is shown, C the comparison matrix"
WITNESS = "row_sums"


def largest_row(rows: SparseRows, details: Mapping[str, Any], *, clipped: bool) -> arb:
    """At least `max_i sum_j S_ij / S_ii`, terms clipped to 1 where `clipped`.

    That number itself up to 150 rows, and above `max_i (row sum) / (lower bound of S_ii)`.
    `InvalidError` where no vector shows that `S` has no negative entry.
    """
    size = len(rows)
    witness = details.get(WITNESS)
    if size <= LARGEST_DENSE:
        require(witness is None, "row sums are stated that the rule does not need", WITNESS)
        factor = _dense(rows, clipped)
    else:
        require(isinstance(witness, list) and len(witness) == size, _REFUSED, WITNESS)
        factor = _sparse(rows, balls(witness or (), WITNESS))
    return factor.min(arb(size)) if clipped else factor


def _dense(rows: SparseRows, clipped: bool) -> arb:
    size = len(rows)
    places = range(size)
    zero, best = arb(0), arb(1)
    matrix = arb_mat([[row.get(j, zero) for j in places] for row in rows])
    try:
        inverse = matrix.inv()
    except ZeroDivisionError:
        raise InvalidError(_REFUSED) from None
    entries = [[inverse[i, j] for j in places] for i in places]
    vector = arb_mat([[sum(row, zero).mid()] for row in entries])
    image = matrix * vector
    require(all(bool(vector[i, 0] > 0) and bool(image[i, 0] > 0) for i in places), _REFUSED)
    for i in places:
        ratios = (entry / entries[i][i] for entry in entries[i])
        if clipped:
            ratios = (ratio if float(ratio) < 1.0 else arb(1) for ratio in ratios)
        best = best.max(sum(ratios, zero))
    return best


def _sparse(rows: SparseRows, vector: list[arb]) -> arb:
    images = [sum((entry * vector[j] for j, entry in row.items()), arb(0)) for row in rows]
    least = images[0]
    for image in images[1:]:
        least = least.min(image)
    require(bool(least > 0) and all(bool(entry > 0) for entry in vector), _REFUSED)
    best = arb(1)
    for entry, reciprocal in zip(vector, _diagonal_reciprocals(rows), strict=True):
        best = best.max(entry * reciprocal / least)
    return best


def _diagonal_reciprocals(rows: SparseRows) -> list[arb]:
    """Upper bounds of `1 / S_ii`, from the closed walks that retrace their steps.

    `S_ii` is the sum over closed walks from `i` of products of `|C_jk|` and `1 / C_jj`; those on
    the tree of a depth unrolled at `i` add up to the reciprocal of `C_ii - sum_j C_ij^2 / P_ji`,
    `P_ji` being the same for `j` without the neighbour `i`, and `C_jj` at the end.
    """
    squares = [{j: x * x for j, x in row.items() if j != i} for i, row in enumerate(rows)]
    diagonal = [rows[i][i] for i in range(len(rows))]
    entries = sum(map(len, squares))
    beyond = diagonal
    through: list[dict[int, arb]] = [{j: diagonal[j] for j in row} for row in squares]
    parts: list[dict[int, arb]] = []
    for depth in range(max(1, min(12, _MOST_TERMS // max(entries, 1)))):
        if depth:
            # In `through[i]` the entry j is P_ji: what j has, and the part that goes to i.
            through = [{j: beyond[j] + parts[j][i] for j in row} for i, row in enumerate(squares)]
        parts = [
            {j: x / above[j] for j, x in row.items()}
            for row, above in zip(squares, through, strict=True)
        ]
        beyond = [
            whole - sum(row.values(), arb(0)) for whole, row in zip(diagonal, parts, strict=True)
        ]
    return beyond
