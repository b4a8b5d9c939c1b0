"""Numbers that say what they are, and rounding in double precision with its direction in the name.

An upper bound stays an upper bound: levels that are promised are rounded up, budgets down.
`UpperBound` is a number that is at least the true one, `LowerBound` one that is at most the true
one, `Exact` one that is right up to an error, `Estimate` one that proves nothing. The first three
are doubles, to be compared, shown and written as such; adding numbers of two types is a
`TypeError`.

**Rounding of levels.** A reported level is an upper bound including rounding: computed in double
precision and rounded up. On a certificate "every level is re-proved in ball arithmetic and rounded
up", by the kernel.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

UNIT = 2.0**-53
"""Half the spacing of doubles at 1: the relative error of one rounded operation."""


def up(value: float, operations: int) -> float:
    """A double that is not below the true result, if `value` took so many rounded `operations`.

    Infinities and NaN stay as they are. Only for sums and products of non-negative numbers and for
    monotone functions of them, where relative errors add.

    A plain number, for it is often a step of a longer computation: as an `UpperBound` a NaN would
    be infinite before `largest` sees it. Whoever returns it as a bound says so.
    """
    if not math.isfinite(value):
        return value
    widened = value + abs(value) * operations * UNIT
    return math.nextafter(widened, math.inf)


def plain_number(value: float) -> float | None:
    """A number as JSON can hold it: `None` for an infinite level."""
    return value if math.isfinite(value) else None


def float_above(exact: Fraction) -> UpperBound:
    """The smallest double that is not below an exact number.

    Raises `OverflowError` for a number beyond the doubles.
    """
    nearest = float(exact)
    above = Fraction(nearest) >= exact
    return UpperBound(nearest if above else math.nextafter(nearest, math.inf))


def float_below(exact: Fraction) -> LowerBound:
    """The largest double that is not above an exact number: the mirror image of `float_above`.

    Raises `OverflowError` for a number beyond the doubles.
    """
    nearest = float(exact)
    below = Fraction(nearest) <= exact
    return LowerBound(nearest if below else math.nextafter(nearest, -math.inf))


def sum_above(*parts: float) -> UpperBound:
    """The exact sum of numbers >= 0, rounded up; infinite beyond the doubles.

    `math.fsum` rounds the exact sum to the nearest double, and so tells what is left beyond it.
    """
    try:
        nearest = math.fsum(parts)
    except OverflowError:
        return UpperBound(math.inf)
    if not math.isfinite(nearest):
        return UpperBound(nearest)
    rest = math.fsum([*parts, -nearest])
    return UpperBound(nearest if rest <= 0.0 else math.nextafter(nearest, math.inf))


def times_above(count: int, value: float) -> UpperBound:
    """The product, rounded up: itself where doubles hold it exactly, infinite beyond them."""
    if not math.isfinite(value):
        return UpperBound(value)
    try:
        return float_above(Fraction(value) * count)
    except OverflowError:
        return UpperBound(math.inf)


def as_upper_bound(value: Any) -> UpperBound:
    """A number that somebody states, taken at its word as an upper bound.

    Doubles stay as they are. Whole numbers, fractions and others that no double equals are rounded
    up, to infinity beyond the doubles. Raises `TypeError` for a lower bound or an exact number,
    which say that they are something else.
    """
    if type(value) is UpperBound:
        return value
    if isinstance(value, _Known):
        raise TypeError(
            f"{_article(value)} is not an upper bound: an exact number's `upper` is one, and "
            "`float(...)` makes a number that is taken at its word, such as a budget that is spent"
        )
    if isinstance(value, float):
        return UpperBound(value)
    try:
        number = float(value)
    except OverflowError:
        return UpperBound(math.inf)
    return UpperBound(number if number >= value else math.nextafter(number, math.inf))


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


def up_words(value: float, error: float = 0.0) -> str:
    """Six digits that never say less than the value.

    A value that was computed up to an `error` is the same as any number within that: so 3 is
    written as 3, though a computer found 3.0000000000000004. Certified levels have no such error.
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.6g}")
    if abs(rounded - value) <= error:
        value = rounded
    step = sixth_digit(value)
    digits = math.ceil(shortest(value) / step) * step
    return f"{float(digits):.6g}" if digits <= sys.float_info.max else "1.8e+308"


def sixth_digit(value: float) -> Fraction:
    """One unit of the sixth significant digit of a value other than 0."""
    return Fraction(10) ** (math.floor(math.log10(abs(value))) - 5)


def shortest(value: float) -> Fraction:
    """The shortest decimal that names the double: 0.1 is written as 0.1, not as 0.100001."""
    return Fraction(repr(float(value)))


def down(value: float, operations: int) -> LowerBound:
    """A double that is not above the true result: the mirror image of `up`."""
    if not math.isfinite(value):
        return LowerBound(value)
    return LowerBound(math.nextafter(value - abs(value) * operations * UNIT, -math.inf))


class _Known(float):
    """A double that says on which side of the true number it lies, or how close to it."""

    __slots__ = ()

    def _sum(self, other: Self) -> float:
        """The sum with a number of the same type."""
        raise NotImplementedError

    def __add__(self, other: Any) -> float:
        if isinstance(other, _Known):
            if type(other) is not type(self):
                raise TypeError(
                    f"{_article(self)} and {_article(other)} don't add up: say which of the two "
                    "the sum is to be (an exact number's `upper` is an upper bound; `float(...)` "
                    "makes a number that claims nothing)"
                )
            return self._sum(other)
        if type(other) is int and other == 0:  # where `sum` begins
            return self
        return super().__add__(other)

    __radd__ = __add__


def _article(number: _Known) -> str:
    if isinstance(number, Exact):
        return "an exact number"
    return "an upper bound" if isinstance(number, UpperBound) else "a lower bound"


class UpperBound(_Known):
    """A number that is at least the true one, possibly infinite: what is proved of a level.

    Two of them add up to an upper bound, rounded up. Any other arithmetic gives a plain number that
    claims nothing: whoever knows that it is an upper bound again says so. A bound that came out as
    NaN is infinite: nothing is known.

    >>> UpperBound(0.1) + UpperBound(0.2) > 0.3
    True
    """

    __slots__ = ()

    def __new__(cls, value: float = 0.0) -> Self:
        """The number as it stands: the caller has rounded it up."""
        return super().__new__(cls, math.inf if math.isnan(value) else value)

    def _sum(self, other: Self) -> UpperBound:
        return sum_above(self, other)


ZERO = UpperBound(0.0)
"""The level of what tells nothing about any record."""


class LowerBound(_Known):
    """A number that is at most the true one: what is left of a budget, what is certainly leaked.

    Two of them add up to a lower bound, rounded down. Any other arithmetic gives a plain number. A
    bound that came out as NaN is `-inf`: nothing is known.

    >>> LowerBound(0.1) + LowerBound(0.7) < 0.8
    True
    """

    __slots__ = ()

    def __new__(cls, value: float = 0.0) -> Self:
        """The number as it stands: the caller has rounded it down."""
        return super().__new__(cls, -math.inf if math.isnan(value) else value)

    def _sum(self, other: Self) -> LowerBound:
        total = float(self) + float(other)
        if not (math.isfinite(self) and math.isfinite(other)):
            return LowerBound(total)
        if not math.isfinite(total):  # the largest double is below what is beyond the doubles
            return LowerBound(math.nextafter(total, 0.0) if total > 0.0 else total)
        return float_below(Fraction(self) + Fraction(other))


NOT_NEGATIVE = LowerBound(0.0)
"""0 as a lower bound of a number that can't be negative and of which nothing more is known."""


class Exact(_Known):
    """A number known up to `error` on either side; with an error of 0 it is the number itself.

    It may be infinite. Two of them add up to an exact number whose error covers both and the
    rounding. Any other arithmetic gives a plain number.

    >>> (Exact(0.5, 0.0) + Exact(0.25, 1e-9)).error
    1e-09
    """

    __slots__ = ("_error",)
    _error: float

    def __new__(cls, value: float, error: float) -> Self:
        """The number `value`, right up to `error`, which is at least 0."""
        number = super().__new__(cls, value)
        number._error = error
        return number

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]  # a float has one argument
        return self.value, self.error

    def _sum(self, other: Self) -> Exact:
        total = self.value + other.value
        rounded = 0.0
        if math.isfinite(total):
            exact = Fraction(self.value) + Fraction(other.value)
            rounded = float_above(abs(exact - Fraction(total)))
        return Exact(total, sum_above(self.error, other.error, rounded))

    @property
    def value(self) -> float:
        """The number without its error, as a plain double."""
        return float(self)

    @property
    def error(self) -> float:
        """How far the true number may be off, on either side."""
        return self._error

    @property
    def upper(self) -> UpperBound:
        """At least the true number, rounded up; the error itself where the value came out as 0."""
        return UpperBound(self.error if self == 0.0 else up(self.value + self.error, 4))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number computed from data or by simulation, which proves nothing.

    `standard_error` is in the unit of `value`, `None` where it is not known.
    """

    value: float
    standard_error: float | None = None
