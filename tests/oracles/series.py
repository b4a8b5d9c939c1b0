"""Series by brute force: the matrix of a strategy, all neighbours, and least squares by numpy."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
ROOT_STEPS = 2**16


def matrix_of(strategy: str, periods: int) -> list[list[int]]:
    """The sums that get noise, a row of whole numbers for each."""
    if strategy == "square-root":
        entries = [comb(2 * k, k) * ROOT_STEPS // 4**k for k in range(periods)]
        return [[entries[i - j] if i >= j else 0 for j in range(periods)] for i in range(periods)]
    rows = []
    width = 1
    while True:
        for first in range(0, periods, width):
            rows.append([int(first <= j < first + width) for j in range(periods)])
        if strategy == "identity" or width >= periods:
            return rows
        width *= 2


def estimates_of(strategy: str, periods: int, answers: str) -> Matrix:
    """The weights of the noisy sums in each least-squares answer; for ranges in all of them."""
    inverse = np.linalg.pinv(np.array(matrix_of(strategy, periods), dtype=float))
    if answers == "periods":
        return inverse
    if answers == "cumulative":
        return np.cumsum(inverse, axis=0)
    return np.array(
        [
            inverse[first:last].sum(axis=0)
            for first in range(periods)
            for last in range(first + 1, periods + 1)
        ]
    )


@cache
def furthest(
    strategy: str,
    periods: int,
    ends: tuple[int, int],
    rows: int = 1,
    in_period: int = 1,
    stays: bool = False,
) -> tuple[int, int]:
    """How far a record can be from another one: in l1, and the square in l2; by trying all.

    Each row adds one of the `ends`, or nothing, to a period: distances are largest at the ends.
    With `stays` it is one row, and the other record has its row in the same period.
    """
    matrix = np.array(matrix_of(strategy, periods), dtype=object)
    entries = [(period, value) for period in range(periods) for value in {*ends, 0}]
    records: dict[tuple[int, ...], set[int]] = {}
    for chosen in combinations_with_replacement(entries, rows):
        where = [period for period, _ in chosen]
        if max(map(where.count, where)) > in_period:
            continue
        numbers = [0] * periods
        for period, value in chosen:
            numbers[period] += value
        records.setdefault(tuple(numbers), set()).update(where if stays else [0])
    most, most_squared = 0, 0
    for old, at in records.items():
        for new, there in records.items():
            if at & there:
                moved = [int(x) for x in matrix @ (np.array(new) - np.array(old))]
                most = max(most, sum(map(abs, moved)))
                most_squared = max(most_squared, sum(x * x for x in moved))
    return most, most_squared
