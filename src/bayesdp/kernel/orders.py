"""Chains of order k: their rows, tuple kernels and start, exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import exact, law, require
from bayesdp.kernel.chains import stationary
from bayesdp.kernel.populations import shape


def read_rows(table: Any, order: int, *, normalise: bool = True) -> list[list[Fraction]]:
    """The rows of a table with `order + 1` axes, one for each tuple of older records."""
    sides = shape(table)
    require(len(sides) == order + 1 and len(set(sides)) == 1 and sides[0] >= 2, "no such table")
    rows = [table]
    for _ in range(order):
        rows = [part for row in rows for part in row]
    if normalise:
        return [law(row, "transition") for row in rows]
    return [[exact(entry, "transition") for entry in row] for row in rows]


def tuple_kernel(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The chain of order 1 on tuples."""
    count, states = len(rows), len(rows[0])
    kernel = [[Fraction(0)] * count for _ in range(count)]
    for here, row in enumerate(rows):
        for new, weight in enumerate(row):
            kernel[here][(here * states + new) % count] = weight
    return kernel


def first_law(population: Any, rows: list[list[Fraction]], order: int) -> list[Fraction]:
    """The law of the first k records."""
    initial = population.get("initial", "stationary")
    if initial == "stationary":
        return stationary(tuple_kernel(rows))
    flat = [initial]
    for _ in range(order):
        flat = [part for row in flat for part in row]
    require(len(flat) == len(rows), "the initial law has another size")
    return law(flat, "initial")
