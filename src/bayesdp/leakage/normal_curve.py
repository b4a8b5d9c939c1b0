"""The `(epsilon, delta)` curve of Gaussian noise, rounded outward (Balle & Wang, ICML 2018).

Statement. For normal laws of equal variance whose means are `d` standard deviations apart, the
least `delta` with `P(S) <= e^e Q(S) + delta` for all events `S` is

    delta = Phi(d/2 - e/d) - e^e Phi(-d/2 - e/d).

It grows with `d` and falls with `e`. Where `d` is small the two terms agree in nearly all digits,
so no formula in doubles is trusted: the difference is taken in ball arithmetic, with ever more
digits until what is left is known to one part in 2^60.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from bayesdp.numbers import ZERO, UpperBound

_SMALLEST = math.ulp(0.0)
_FAR = 39
"""`Phi(-39)` is below the smallest double above 0."""
_NEAR = 10
"""`Phi(-10)` is below 1e-23, so 1 minus that rounds to 1."""
_WIDE = 10**12
"""From this distance on the second term is below 1e-10 of the first one, where neither is tiny."""
_FIRST_BITS, _MOST_BITS, _KEPT_BITS = 128, 1 << 16, 60
"""The bits of the first balls and of the last, and the bits of a delta that are asked for: balls
that stay wide are replaced by a bound from above."""


def normal_delta(distance: float, epsilon: float) -> UpperBound:
    """The least `delta` at `epsilon` of normal laws `distance` sigmas apart, rounded up.

    At most one double above the truth, but for distances from 1e12 on, where it is within 1e-10,
    and where it differs from 1 by less than 1e-22. `distance` and `epsilon` are taken as exact.

    >>> normal_delta(1e-9, 4e-9)
    7.145258...e-15
    """
    if not distance > 0.0:
        return ZERO
    if math.isinf(distance):
        return UpperBound(1.0) if math.isfinite(epsilon) else ZERO
    if math.isinf(epsilon):
        return ZERO
    d, e = Fraction(distance), Fraction(epsilon)
    edge = d / 2 - e / d
    if edge < -_FAR:
        return UpperBound(_SMALLEST)
    if edge > _NEAR:
        return UpperBound(1.0)
    return _double_above(_first_term(edge) if d > _WIDE else _difference(d, e))


def _first_term(edge: Fraction) -> Any:
    return _in_balls(_FIRST_BITS, lambda ball, tail: tail(-ball(edge)))


def _difference(d: Fraction, e: Fraction) -> Any:
    """A ball around delta that is narrow against it."""

    def both(ball: Any, tail: Any) -> Any:
        return tail(ball(e / d - d / 2)) - ball(e).exp() * tail(ball(e / d + d / 2))

    bits = _FIRST_BITS
    while bits < _MOST_BITS:
        delta = _in_balls(bits, both)
        if delta.rel_accuracy_bits() >= _KEPT_BITS:
            return delta
        bits *= 2
    return _first_term(d / 2 - e / d)  # doubles don't get here; the first term is a bound


def _in_balls(bits: int, formula: Any) -> Any:
    """The formula with so many bits, called with `ball` (of a fraction) and the normal tail."""
    import flint

    def ball(value: Fraction) -> Any:
        return flint.arb(flint.fmpq(value.numerator, value.denominator))

    def tail(x: Any) -> Any:
        return (x / flint.arb(2).sqrt()).erfc() / 2

    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        return formula(ball, tail)
    finally:
        flint.ctx.prec = before


def _double_above(value: Any) -> UpperBound:
    """The least double that is not below a positive ball, and at most 1."""
    import flint

    upper = value.upper()
    nearest = min(float(upper), 1.0)
    while not flint.arb(nearest) >= upper:
        if nearest == 1.0:
            return UpperBound(1.0)
        nearest = math.nextafter(nearest, 1.0)
    return UpperBound(max(nearest, _SMALLEST))
