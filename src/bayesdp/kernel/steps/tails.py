"""How likely noise is to be larger than a number of steps: upper bounds in balls."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball

_LARGE = 16
"""From this scale on the terms of a discrete Gaussian law lie close to their integrals."""

FURTHEST = 64
"""Scales away from which no more is said of a tail: less than any share that a double can miss."""


def within(scale: Fraction, k: int) -> int:
    """No more steps than tails are computed for: an error beyond is a true one of more steps."""
    return min(k, math.ceil(FURTHEST * scale) + FURTHEST)


def laplace_tail(scale: Fraction, k: int) -> arb:
    """`P(|Z| > k) = 2 a^(k+1) / (1 + a)`, `a = e^(-1/scale)`; at `k` scales an upper bound."""
    k = within(scale, k)
    return 2 * (-ball(Fraction(k + 1) / scale)).exp() / (1 + (-ball(1 / scale)).exp())


def choice_tail(distribution: str, candidates: int, scale: Fraction, k: int) -> arb:
    """An upper bound on the probability to choose a score more than `k` below the best.

    Of so many candidates, by noise of a scale in steps of the scores. With
    `w = (candidates - 1) e^(-(k + 1) / scale)` it is `w / 2` for permute-and-flip, where the noise
    of one of the others must exceed that of the best by `k + 1`; and `w / (1 + w)` for the
    exponential mechanism, whose weight of the best is 1 (theory 4).
    """
    others = (candidates - 1) * (-ball(Fraction(within(scale, k) + 1) / scale)).exp()
    return others / 2 if distribution == "permute-and-flip" else others / (1 + others)


def gaussian_tail(sigma: Fraction, k: int) -> arb:
    """An upper bound on `P(|Z| > k)` where `z` has a mass proportional to `e^(-z^2 / (2 sigma^2))`.

    For large `sigma` an integral (theory 4). For small `sigma` the terms themselves: from some
    point on, each is at most a fixed share of the one before.
    """
    k = within(sigma, k)
    rate = 1 / (2 * sigma * sigma)
    if sigma >= _LARGE:
        missed = 4 * (-(arb.pi() ** 2) / ball(rate)).exp()
        return (ball(Fraction(2 * k + 1, 2)) * ball(rate).sqrt()).erfc() + missed
    terms = 8 + math.ceil(_LARGE * sigma)
    last, falls = k + 1 + terms, -ball(rate)

    def mass(z: int) -> arb:
        return (falls * (z * z)).exp()

    above = sum((mass(z) for z in range(k + 1, last)), arb(0))
    above += mass(last) / (1 - (falls * (2 * last + 1)).exp())
    # Terms that are left out of the whole would only make the share smaller.
    return 2 * above / (1 + 2 * sum((mass(z) for z in range(1, last)), arb(0)))
