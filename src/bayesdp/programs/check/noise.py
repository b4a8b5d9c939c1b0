"""The delta of discrete Gaussian noise, an upper bound in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any


def gaussian_delta(sigma: Fraction, squared: Fraction, epsilon: Fraction, whole: bool) -> Fraction:
    """Delta at epsilon of noise with this sigma on a value that moves by sqrt(squared) in l2.

    `whole`: one whole number moved by a whole distance; then the sum over the discrete law itself.
    Otherwise the conversion of its zCDP cost, `rho = squared / (2 sigma^2)` (Canonne, Kamath &
    Steinke 2020), which holds on every grid and for vectors.
    """
    root = isqrt(squared.numerator)
    if whole and squared.denominator == 1 and root * root == squared.numerator:
        return _exact(sigma, root, epsilon)
    return zcdp_delta(squared / (2 * sigma * sigma), epsilon)


def _exact(sigma: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """Sum over k of max(P(k) - e^epsilon P(k - shift), 0)."""
    arb = _balls()
    variance = sigma * sigma
    half = arb(1) / (2 * arb(variance))
    # P(k) > e^eps P(k + shift) iff k > variance eps / shift - shift / 2: a tail on one side.
    edge = variance * epsilon / shift - Fraction(shift, 2)
    start = -(-edge.numerator // edge.denominator)
    reach = int(40 * float(sigma)) + shift + 10
    if reach > 200_000:
        return zcdp_delta(Fraction(shift * shift) / (2 * variance), epsilon)
    total = weight = arb(0)
    for k in range(-reach, reach + 1):
        weight += (-(arb(k * k)) * half).exp()
    factor = arb(epsilon).exp()
    # The mass beyond the reach is below twice its first term over (1 - ratio), far below 1e-200.
    for k in range(max(start, -reach), reach + 1):
        total += (-(arb(k * k)) * half).exp() - factor * (-(arb((k + shift) ** 2)) * half).exp()
    upper = total / weight + arb(10) ** -200
    return _up(upper)


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Delta at epsilon of a rho-zCDP mechanism: the best of many orders alpha."""
    arb = _balls()
    best = arb(1)
    r, e = float(rho), float(epsilon)
    if r <= 0:
        return Fraction(0)
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
    mantissa, exponent = value.upper().mid().man_exp()
    return min(Fraction(int(mantissa)) * Fraction(2) ** int(exponent), Fraction(1))


def _balls() -> Any:
    from flint import arb, ctx, fmpq

    ctx.prec = max(ctx.prec, 128)

    def ball(value: Fraction | int) -> Any:
        exact = Fraction(value)
        return arb(fmpq(exact.numerator, exact.denominator))

    return ball
