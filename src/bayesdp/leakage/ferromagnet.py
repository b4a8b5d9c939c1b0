"""Ising models on grids without fields: how far a record's correlations with all others add up.

The law of the spins `s = -1, 1` is proportional to `exp(J sum s_u s_v)` over neighbours, `J >= 0`.
The susceptibility of a record `i` is `sum_v <s_i s_v>`, itself included. It is bounded by a box of
records around `i` (theory 3.7r); correlations in the box are summed exactly, column by column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.numbers import UNIT, UpperBound, down, float_above, up

MOST_RADIUS = 5
"""The largest box has 11 x 11 records."""
MOST_WORK = 1_200_000
"""The most sums, about, with the record in question anywhere in the box: as the kernel has it."""
LARGEST_RATIO = 1e12
"""Larger cross ratios leave the range of doubles."""

_NEARLY = 1.002
"""The smallest box is taken whose bound is within this factor of the least."""


@dataclass(frozen=True)
class Susceptibility:
    """An upper bound on the largest susceptibility, and the radius of the box that shows it."""

    value: UpperBound
    radius: int


@lru_cache(maxsize=64)
def susceptibility(grid: tuple[int, int], ratio: Fraction) -> Susceptibility | None:
    """A bound on the largest susceptibility of a record of a grid, rounded up.

    `grid` is rows and columns, `ratio = e^(4 J)` the cross ratio of a pair, from 1 to
    `LARGEST_RATIO`. `None` if no box shows that correlations die out. Source: theory 3.7r.

    >>> pair = susceptibility((1, 2), Fraction(9))
    >>> round(pair.value, 9)
    1.5
    """
    coupled = math.nextafter(math.sqrt(float_above(ratio)), math.inf)  # at least e^(2 J)
    unequal = math.nextafter(1.0 / coupled, 0.0)  # at most e^(-2 J): a weaker tie has a lower sum
    weight = 1.0 if ratio == 1 else unequal
    bounds = [
        Susceptibility(_Box.of(grid, radius).bound(weight), radius)
        for radius in range(1, MOST_RADIUS + 1)
    ]
    least = min(bound.value for bound in bounds)
    best = next(bound for bound in bounds if bound.value <= least * _NEARLY)
    return best if math.isfinite(best.value) else None


@dataclass(frozen=True)
class _Box:
    """`rows <= columns` of records; `cut_rows`: the grid goes on above and below, and so on.

    Where the grid goes on, the record in question is in the middle; otherwise it may be anywhere.
    """

    rows: int
    columns: int
    cut_rows: bool
    cut_columns: bool

    @classmethod
    def of(cls, grid: tuple[int, int], radius: int) -> _Box:
        """The box of this radius, from the record in the middle to a side."""
        side, (short, long) = 2 * radius + 1, sorted(grid)
        rows, columns = min(short, side), min(long, side)
        places = (rows if rows == short else 1) * (columns if columns == long else 1)
        if (rows * columns << rows) * places > MOST_WORK:
            return cls(side, side, True, True)  # as in a larger grid, whose sums are larger
        return cls(rows, columns, rows < short, columns < long)

    @property
    def _places(self) -> Iterator[tuple[int, int]]:
        """The rows and columns of the record in question, up to reflections."""
        middle = self.rows // 2, self.columns // 2
        rows = range(middle[0] if self.cut_rows else 0, (self.rows + 1) // 2)
        columns = range(middle[1] if self.cut_columns else 0, (self.columns + 1) // 2)
        return product(rows, columns)

    def bound(self, unequal: float) -> UpperBound:
        """`max_i S_i / (1 - phi_i)`, infinite if some `phi_i` isn't below 1; rounded up.

        `unequal` is the weight of neighbours that differ, `e^(-2 J)`, where equal ones weigh 1.
        """
        sweep = _Sweep(self.rows, self.columns, unequal)
        tanh = up((1.0 - unequal) / (1.0 + unequal), 4)
        worst = 1.0
        for row, column in self._places:
            onward = sweep.correlations(row, column)
            back = sweep.correlations(row, self.columns - 1 - column)
            sums = np.concatenate([back[:0:-1], onward])
            edges = [sums[:, [0, -1]]] * self.cut_rows + [sums[[0, -1]]] * self.cut_columns
            left = 1.0 - up(tanh * math.fsum(float(edge.sum()) for edge in edges), 4 * len(sums))
            if left <= 0.0:
                return UpperBound(math.inf)
            worst = max(worst, up(up(float(sums.sum()), sums.size) / down(left, 1), 1))
        return UpperBound(worst)


class _Sweep:
    """The weights of the states of a column, by what stands before it.

    A state of a column is a number whose bits are the spins. `before[c]` is proportional to the
    weights of all columns before `c`, given the state of `c`; by reflection, so it is behind.
    """

    def __init__(self, rows: int, columns: int, unequal: float) -> None:
        states = np.arange(2**rows)
        self.up = (states[:, None] >> np.arange(rows)) & 1 == 1
        self._unequal, self._columns = unequal, columns
        self._inner = unequal ** (self.up[:, 1:] != self.up[:, :-1]).sum(axis=1)
        # Relative errors of sums of products of positive numbers add; twice for a quotient.
        roundings = columns * (2 * rows + 8) + 2**rows + 4
        self._error = 4.0 * roundings * UNIT
        self._before = [np.ones(2**rows)]
        for _ in range(1, columns):
            self._before.append(self._stepped(self._before[-1] * self._inner))

    def _stepped(self, weights: Floats) -> Floats:
        """From a column to the next, a row at a time. Scaled, which changes no probability."""
        sides = weights.reshape((2,) * self.up.shape[1])
        for axis in range(sides.ndim):
            sides = sides + self._unequal * np.flip(sides, axis)
        stepped: Floats = sides.reshape(-1) / sides.max()
        return stepped

    def correlations(self, row: int, column: int) -> Floats:
        """With the records of this column and the later ones, an array of columns, rounded up."""
        weights = self._before[column] * self._inner * self.up[:, row]
        rows = []
        for later in range(column, self._columns):
            given_up = weights * self._before[self._columns - 1 - later]
            rows.append(2.0 * (given_up @ self.up) / given_up.sum() - 1.0 + self._error)
            weights = self._stepped(weights) * self._inner
        columns: Floats = np.minimum(np.array(rows), 1.0)
        return columns
