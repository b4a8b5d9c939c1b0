"""Numbers that say what they are, and rounding in double precision with its direction in the name.

An upper bound stays an upper bound: everything that is promised is rounded up. The type of a proven
bound on a level is `notions.Bound`; a number that is right up to an error, and one that proves
nothing, have types of their own here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

UNIT = 2.0**-53
"""Half the spacing of doubles at 1: the relative error of one rounded operation."""


def up(value: float, operations: int = 4) -> float:
    """A double that is not below the true result, if `value` took so many rounded `operations`.

    Infinities and NaN stay as they are. Only for sums and products of non-negative numbers and for
    monotone functions of them, where relative errors add.
    """
    if not math.isfinite(value):
        return value
    widened = value + abs(value) * operations * UNIT
    return math.nextafter(widened, math.inf)


def float_above(exact: Fraction) -> float:
    """The smallest double that is not below an exact number.

    Raises `OverflowError` for a number beyond the doubles.
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def float_below(exact: Fraction) -> float:
    """The largest double that is not above an exact number: the mirror image of `float_above`.

    Raises `OverflowError` for a number beyond the doubles.
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def times(count: int, value: float) -> float:
    """The product, rounded up: itself where doubles hold it exactly, infinite beyond them."""
    if not math.isfinite(value):
        return value
    try:
        return float_above(Fraction(value) * count)
    except OverflowError:
        return math.inf


class NotANumberError(ArithmeticError):
    """A bound came out as NaN: 0/0 or `inf - inf` where somebody expected a number."""


def largest(*bounds: Any) -> float:
    """The largest of upper bounds, each a number or an array of them; infinite ones count.

    Python's `max` keeps the other number where one is NaN, and the bound behind the NaN is lost:
    here it raises `NotANumberError`. An array without entries raises `ValueError`: whoever knows
    what no bound at all means says so by a further number.
    """
    best = -math.inf
    for bound in bounds:
        value = float(bound if isinstance(bound, int | float) else bound.max())
        if math.isnan(value):
            raise NotANumberError("a bound is not a number, so nothing is known about the level")
        best = max(best, value)
    return best


def down(value: float, operations: int = 4) -> float:
    """A double that is not above the true result: the mirror image of `up`."""
    if not math.isfinite(value):
        return value
    return math.nextafter(value - abs(value) * operations * UNIT, -math.inf)


@dataclass(frozen=True, slots=True)
class Exact:
    """A number known up to `error` on either side; with an error of 0 it is the number itself.

    It may be infinite.
    """

    value: float
    error: float

    @property
    def upper(self) -> float:
        """At least the true number, rounded up; the error itself where the value came out as 0."""
        return self.error if self.value == 0.0 else up(self.value + self.error)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number computed from data or by simulation, which proves nothing.

    `standard_error` is in the unit of `value`, `None` where it is not known.
    """

    value: float
    standard_error: float | None = None
