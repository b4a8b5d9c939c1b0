"""The domain of the unknown records: cells, adjacency, and functions that change by `e^eps`.

A product of finitely many values for each of a few records; two cells are adjacent if they differ
in one record. Cells are numbered in row-major order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats, Ints

ENUMERATED: dict[tuple[int, ...], int] = {
    (2, 2): 6,
    (2, 2, 2): 38,
    (2, 2, 2, 2): 990,
    (2, 3): 54,
    (3, 3): 534,
    (2, 2, 3): 4014,
    (2, 4): 282,
    (3, 4): 4722,
    (2, 5): 1230,
}
"""Domains whose vertices are listed rather than searched, and how many there are."""


@dataclass(frozen=True)
class Domain:
    """`shape` holds the number of values of each record."""

    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Tails and heads of all ordered pairs of adjacent cells."""
        cells = np.arange(self.cells).reshape(self.shape)
        tails, heads = [], []
        for axis, size in enumerate(self.shape):
            moved = np.moveaxis(cells, axis, 0).reshape(size, -1)
            for value in range(size):
                others = np.delete(moved, value, axis=0)
                tails.append(np.broadcast_to(moved[value], others.shape).ravel())
                heads.append(others.ravel())
        if not tails:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate(tails), np.concatenate(heads)

    def smallest_mean(self, laws: Floats, dp_epsilon: float) -> Floats:
        """For each cell `v` the sum of `law(w) e^(-eps d(v, w))`; `laws` of shape `(.., cells)`.

        It is the smallest average of an admissible `h` with `h(v) = 1`, so `h(v)` is at most the
        average of `h` over it.
        """
        lead = laws.shape[:-1]
        out = laws.reshape(*lead, *self.shape)
        less = math.exp(-dp_epsilon)
        for axis in range(len(lead), out.ndim):
            out = (1.0 - less) * out + less * out.sum(axis=axis, keepdims=True)
        return out.reshape(*lead, self.cells)

    def lower_envelope(self, heights: Ints) -> Ints:
        """The largest integer function below `heights` that changes by at most 1 along edges."""
        out = heights.reshape(self.shape)
        for axis in range(out.ndim):
            out = np.minimum(out, out.min(axis=axis, keepdims=True) + 1)
        return out.ravel()

    @property
    def enumerable(self) -> bool:
        """Whether `vertices` is a short list."""
        return tuple(sorted(self.shape)) in ENUMERATED

    @cached_property
    def vertices(self) -> Ints:
        """Every integer function, 0 in the first cell, whose tight edges connect all cells.

        An edge is tight if the function changes by exactly 1 along it. Shape `(count, cells)`.
        """
        tails, heads = self.edges
        # Two values for every record: each edge joins an even and an odd cell, so all are tight.
        steps = (-1, 1) if set(self.shape) == {2} else (-1, 0, 1)
        functions = np.zeros((1, 1), dtype=np.int64)
        for cell in range(1, self.cells):
            near = heads[(tails == cell) & (heads < cell)]
            grown = []
            for step in steps:
                value = functions[:, near[0]] + step
                fits = np.isin(functions[:, near] - value[:, None], steps).all(axis=1)
                grown.append(np.column_stack([functions[fits], value[fits]]))
            functions = np.concatenate(grown)
        return functions[_connected(functions, tails, heads)]


def _connected(functions: Ints, tails: Ints, heads: Ints) -> NDArray[np.bool_]:
    """Which of the functions have tight edges that connect all cells."""
    tight = functions[:, tails] != functions[:, heads]
    reached = np.zeros(functions.shape, dtype=bool)
    reached[:, 0] = True
    for _ in range(functions.shape[1]):
        before = reached.copy()
        for edge, (tail, head) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
            reached[:, tail] |= reached[:, head] & tight[:, edge]
        if np.array_equal(before, reached):
            break
    whole: NDArray[np.bool_] = np.all(reached, axis=1)
    return whole


@lru_cache(maxsize=256)
def domain_of(shape: tuple[int, ...]) -> Domain:
    """The domain of a shape, from a cache."""
    return Domain(shape)
