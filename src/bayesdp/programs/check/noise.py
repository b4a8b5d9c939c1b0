"""The delta of discrete Gaussian noise, an upper bound in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

MOST_TERMS, FAR, SMALLEST = 100_000, 10**6, 2000


def gaussian_delta(sigma: Fraction, squared: Fraction, epsilon: Fraction, whole: bool) -> Fraction:
    """Delta at epsilon of noise with this sigma on a value that moves by sqrt(squared) in l2.

    `whole`: one whole number moved by a whole distance; then the sum over the discrete law itself.
    Otherwise the conversion of its zCDP cost, `rho = squared / (2 sigma^2)` (Canonne, Kamath &
    Steinke 2020), which holds on every grid and for vectors.
    """
    if squared == 0:
        return Fraction(0)
    root = isqrt(squared.numerator)
    if whole and squared.denominator == 1 and root * root == squared.numerator:
        return _exact(sigma, root, epsilon)
    return zcdp_delta(squared / (2 * sigma * sigma), epsilon)


def _exact(sigma: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """Sum over k of max(P(k) - e^epsilon P(k + shift), 0): the largest shift is the worst (8.5)."""
    arb = _balls()
    variance = sigma * sigma
    half = arb(1) / (2 * arb(variance))
    # P(k) > e^eps P(k + shift) iff k > variance eps / shift - shift / 2: a tail on one side.
    edge = variance * epsilon / shift - Fraction(shift, 2)
    start = -(-edge.numerator // edge.denominator)
    reach = 20 * -(-sigma.numerator // sigma.denominator) + shift + 10
    if reach > MOST_TERMS:
        return zcdp_delta(Fraction(shift * shift) / (2 * variance), epsilon)
    total = arb(0)
    # The weights add up to at least sigma sqrt(2 pi) (Poisson's summation), and to some of them.
    weight = (2 * arb(1).atan() * 4 * arb(variance)).sqrt()
    near = 1 + 2 * sum(((-(half * k * k)).exp() for k in range(1, 10)), arb(0))
    weight = weight.max(near)
    factor = arb(epsilon).exp()
    # Beyond twenty sigma lies less than 2 exp(-200) of the mass.
    first = max(start, -reach)
    here, there = _Weights(first, half), _Weights(first + shift, half)
    for _ in range(first, reach + 1):
        total += here.next() - factor * there.next()
    upper = total / weight + arb(10) ** -80
    return _up(upper)


class _Weights:
    """exp(-k^2 half) for k, k + 1, ...: each is the one before times a ratio."""

    def __init__(self, k: int, half: Any) -> None:
        self.value = (-(half * k * k)).exp()
        self.ratio = (-(half * (2 * k + 1))).exp()
        self.factor = (-(half * 2)).exp()

    def next(self) -> Any:
        value = self.value
        self.value = value * self.ratio
        self.ratio = self.ratio * self.factor
        return value


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Delta at epsilon of a rho-zCDP mechanism: the best of many orders alpha."""
    arb = _balls()
    best = arb(1)
    if rho <= 0:
        return Fraction(0)
    if rho > FAR or epsilon > FAR:
        return Fraction(1)
    # Orders are only proposed in floats; the bound of each is computed in balls.
    r, e = max(float(rho), 1e-12), float(epsilon)
    middle = max((e + r) / (2 * r), 1.01)
    for step in range(-30, 61):
        alpha = Fraction(1 + (middle - 1) * 1.1**step).limit_denominator(10**6)
        if alpha <= 1:
            continue
        a = arb(alpha)
        log = (a - 1) * (a * arb(rho) - arb(epsilon)) + a * (1 - 1 / a).log() - (a - 1).log()
        value = log.exp()
        if value.upper() < best.upper():
            best = value
    return _up(best)


def _up(value: Any) -> Fraction:
    if value.upper() < _balls()(Fraction(1, 2**SMALLEST)):
        return Fraction(1, 2**SMALLEST)
    mantissa, exponent = value.upper().mid().man_exp()
    return min(Fraction(int(mantissa)) * Fraction(2) ** int(exponent), Fraction(1))


def _balls() -> Any:
    from flint import arb, ctx, fmpq

    ctx.prec = max(ctx.prec, 128)

    def ball(value: Fraction | int) -> Any:
        exact = Fraction(value)
        return arb(fmpq(exact.numerator, exact.denominator))

    return ball
