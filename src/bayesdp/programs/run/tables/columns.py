"""The columns that a program reads, as arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bayesdp.arrays import Bools, Floats, Ints
from bayesdp.errors import InputError
from bayesdp.programs.ir import Type

CellValues = Floats | Bools | Ints
"""A column: numbers as doubles, truth values, or the codes of labels."""


@dataclass(frozen=True, repr=False, eq=False)
class Rows:
    """Private rows by column: numbers as doubles, truth values as bool, categories as codes."""

    columns: Mapping[str, CellValues]
    size: int

    def __repr__(self) -> str:
        return "<private rows>"


def inside(kind: Type) -> tuple[float, float]:
    """The largest interval of doubles inside the declared bounds.

    Raises `InputError` where no double lies between them.
    """
    assert kind.low is not None
    assert kind.high is not None
    low, high = float(kind.low), float(kind.high)
    if Fraction(low) < kind.low:
        low = float(np.nextafter(low, np.inf))
    if Fraction(high) > kind.high:
        high = float(np.nextafter(high, -np.inf))
    if not low <= high:
        raise InputError(
            "record",
            expected="bounds with a double between them",
            remedy="Use wider bounds.",
            shown=False,
        )
    return low, high
