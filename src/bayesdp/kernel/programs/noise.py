"""Whether Gaussian noise of a stated standard deviation has the stated delta (theory 8.5)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from flint import arb

from bayesdp.kernel.arithmetic import ball

MOST_TERMS = 120_000
"""Sums over the support of the noise have at most about so many terms; where more would be needed,
the move is not covered."""
MOST_EPSILON, LEAST_DELTA = 100, Fraction(1, 10**30)
"""Noise for a larger epsilon, or for a smaller delta, is not certainly louder than asked for."""
LESS, SCALED = Fraction(97, 100), 10**6
"""Noise must be loud enough at this share of its sigma, which is rounded down in steps of one in
`SCALED`."""


def delta_at_most(
    sigma: Fraction, squared: Fraction, epsilon: Fraction, delta: Fraction, whole: bool
) -> bool:
    """Whether a move of `sqrt(squared)` is covered by (epsilon, delta), certainly.

    `whole`: one whole number that moves by whole distances.
    """
    if squared == 0 or by_zcdp(squared / (2 * sigma * sigma), epsilon) <= ball(delta):
        return True
    shift = isqrt(squared.numerator // squared.denominator)
    if not whole or squared.denominator > 1 or shift == 0 or sigma * 30 + shift > MOST_TERMS:
        return False
    return bool(discrete_delta(sigma, shift, epsilon) <= ball(delta))


def louder(rho: Fraction, shift: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether noise of this cost on one number is certainly louder than (epsilon, delta) asks for.

    That is: with 3 % less, a move of `shift` steps has the delta by the continuous law and by the
    discrete one too. The interpreter takes the least noise by one of them, at most a millionth
    above; the two agree where sigma is thousands of steps.
    """
    if rho <= 0 or epsilon > MOST_EPSILON or delta < LEAST_DELTA:
        return False
    ratio = (2 * ball(rho)).sqrt() / ball(LESS)
    if not bool(_smooth(ratio, epsilon) <= ball(delta)):
        return False
    sigma = Fraction(isqrt(int(shift * shift * SCALED**2 / (2 * rho)))) / SCALED * LESS
    if sigma * 30 + shift > MOST_TERMS / 3:
        return True
    return sigma > 0 and bool(discrete_delta(sigma, shift, epsilon) <= ball(delta))


def _smooth(ratio: arb, epsilon: Fraction) -> arb:
    """The delta of continuous noise for a move of `ratio` sigmas (Balle & Wang 2018)."""

    def tail(x: arb) -> arb:
        return (x / ball(2).sqrt()).erfc() / 2

    middle = ball(epsilon) / ratio
    return tail(middle - ratio / 2) - ball(epsilon).exp() * tail(middle + ratio / 2)


def discrete_delta(sigma: Fraction, shift: int, epsilon: Fraction) -> arb:
    """Not below the delta of the discrete Gaussian for shifts of 1 to `shift` (the largest counts).

    With `w(k) = exp(-k^2 / (2 sigma^2))`, W their sum and k0 the first k from which the density
    ratio exceeds e^epsilon: `(sum of w over k0 ... k0 + shift - 1, less (e^epsilon - 1) times the
    sum from k0 + shift on) / W`. Sums that end early make this larger.
    """
    variance = sigma * sigma
    edge = variance * epsilon / shift - Fraction(shift, 2)
    first = -((-edge.numerator) // edge.denominator)
    rate = -1 / (2 * ball(variance))

    def weight(k: int) -> arb:
        return (rate * (k * k)).exp()

    near = sum((weight(k) for k in range(first, first + shift)), arb(0))
    last = max(first + shift, 0) + int(15 * sigma) + 15
    far = sum((weight(k) for k in range(first + shift, last)), arb(0))
    return ((near - (ball(epsilon).exp() - 1) * far) / _total(sigma)).max(arb(0))


def _total(sigma: Fraction) -> arb:
    """A lower bound on the sum of all weights, close to it."""
    if sigma < 2:
        rate = -1 / (2 * ball(sigma * sigma))
        return 1 + 2 * sum(((rate * (k * k)).exp() for k in range(1, 40)), arb(0))
    # Poisson's summation formula; the terms left out are positive.
    ball(0)
    other = (-2 * arb.pi() ** 2 * ball(sigma * sigma)).exp()
    return ball(sigma) * (2 * arb.pi()).sqrt() * (1 + 2 * other)


def by_zcdp(rho: Fraction, epsilon: Fraction) -> arb:
    """Not below the delta of a rho-zCDP mechanism: the best of some orders, each of them valid."""
    best = ball(1)
    if rho == 0:
        return ball(0)
    middle = max((epsilon + rho) / (2 * rho), Fraction(101, 100))
    for step in range(-30, 61):
        factor = Fraction(round(Fraction(11, 10) ** step * 10**6), 10**6)
        order = Fraction(1 + (middle - 1) * factor).limit_denominator(10**9)
        if order <= 1:
            continue
        a = ball(order)
        log = (a - 1) * (a * ball(rho) - ball(epsilon)) + a * (1 - 1 / a).log() - (a - 1).log()
        delta = log.exp()
        if delta.upper() < best.upper():
            best = delta
    return best
