"""Functions of numbers: floor, and square roots, logarithms and exponentials to 64 bits.

Each has a domain that the rules hold its argument to, so that it always has a value. A value is a
fraction that every machine computes alike. It is off by a relative 2^-62 at most, or by 2^-180 (a
logarithm near 0); the bounds of a value allow for more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import floor, inf

from flint import arb

from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.programs.effort import bounded

FUNCTIONS = ("floor", "sqrt", "log", "exp", "lgamma")
"""The names of the functions."""

MOST_EXPONENT = 700
"""Exponentials are of numbers from minus this to this: others are nearly 0, or beyond doubles."""
KEPT_BITS = 64
"""How many bits a value has."""
MARGIN, TINY = Fraction(1, 2**40), Fraction(1, 2**160)
"""What the bounds of a value are moved outwards by: relative to it, and for logarithms besides."""

_BALLS: Mapping[str, Callable[[arb], arb]] = {
    "sqrt": lambda x: x.sqrt(),
    "log": lambda x: x.log(),
    "exp": lambda x: x.exp(),
    "lgamma": lambda x: x.lgamma(),
}


def in_domain(op: str, low: Fraction | float, high: Fraction | float) -> bool:
    """Whether a function has a value at all numbers from `low` to `high`.

    `op` is the function's name; the ends may be infinite.
    """
    if op == "floor":
        return True
    if op == "exp":
        return low >= -MOST_EXPONENT and high <= MOST_EXPONENT
    return low >= 0 if op == "sqrt" else low > 0


def function_value(op: str, x: Fraction) -> Fraction:
    """The value of a function inside its domain; of `floor` exactly."""
    if op == "floor":
        return Fraction(floor(x))
    middle = _BALLS[op](ball(x)).mid()
    mantissa, exponent = middle.man_exp()
    whole, shift = int(mantissa), int(exponent)
    spare = max(0, abs(whole).bit_length() - KEPT_BITS)
    whole, shift = round(Fraction(whole, 2**spare)), shift + spare
    return bounded(Fraction(whole) * Fraction(2) ** shift)


def function_range(
    op: str, low: Fraction | float, high: Fraction | float
) -> tuple[Fraction | float, Fraction | float]:
    """Where the values of a function lie for arguments from `low` to `high`, in its domain.

    `op` is the function's name. All but `lgamma` grow with their argument; that is convex, and
    nowhere below -1/8.
    """
    ends = [function_value(op, end) if isinstance(end, Fraction) else end for end in (low, high)]
    if op == "floor":
        return ends[0], ends[1]
    if op == "lgamma":
        return Fraction(-1, 8), _above(max(ends), TINY)
    more = TINY if op == "log" else Fraction(0)  # the others are never close to 0 by cancellation
    return _below(ends[0], more), _above(ends[1], more)


def _below(value: Fraction | float, more: Fraction) -> Fraction | float:
    return value - abs(value) * MARGIN - more if isinstance(value, Fraction) else -inf


def _above(value: Fraction | float, more: Fraction) -> Fraction | float:
    return value + abs(value) * MARGIN + more if isinstance(value, Fraction) else inf
