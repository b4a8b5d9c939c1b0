"""Grids of several columns whose values are multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from bayesdp.tables.queries.grid import Grid


@dataclass(frozen=True)
class Grids:
    """A plain grid for each column, all of `2**bits` steps."""

    parts: tuple[Grid, ...]

    @classmethod
    def alike(cls, grids: Sequence[Grid]) -> Grids:
        """The `grids` with as many steps each as the coarsest of them has."""
        bits = min(grid.bits for grid in grids)
        return cls(tuple(Grid(grid.lo, grid.hi, bits, masked=False) for grid in grids))

    @property
    def bits(self) -> int:
        """The binary logarithm of the number of steps."""
        return self.parts[0].bits

    @property
    def sensitivity(self) -> int:
        """The steps of each grid: the most by which a replaced row moves a sum on it."""
        return int(2**self.bits)


def codeviation(rows: int, sums: Sequence[int], product: int) -> int:
    """The sum of products of deviations from two means, over `rows`, rounded down; 0 of no rows.

    From the exact `sums` of both columns, and that of their `product`.

    >>> codeviation(3, [3, 6], 1 * 4 + 2 * 2), codeviation(2, [1, 1], 0)
    (2, -1)
    """
    return (rows * product - sums[0] * sums[1]) // rows if rows else 0


def centred_moments(
    rows: int, sums: Sequence[int], products: Sequence[int], steps: int
) -> tuple[int, ...]:
    """The sums of columns and of their products about the middles of their grids of K `steps`.

    From the exact `sums` of the steps z of each column over `rows`, and those of the `products` of
    each column with itself and all later ones. With `w = 2 z - K`, which is between -K and K: the
    sums of `K w` of each column, then those of `w w'`, in the order of the products.

    >>> centred_moments(2, [0 + 4, 4 + 1], [16, 4, 17], 4)
    (0, 8, 32, -24, 20)
    """
    pairs = combinations_with_replacement(range(len(sums)), 2)
    return (
        *(steps * (2 * total - steps * rows) for total in sums),
        *(
            4 * product - 2 * steps * (sums[i] + sums[j]) + rows * steps * steps
            for (i, j), product in zip(pairs, products, strict=True)
        ),
    )
