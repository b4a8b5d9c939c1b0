"""The delta of discrete Gaussian noise, upper bounds in ball arithmetic (theory 8.5)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

MOST_TERMS, FAR, SMALLEST = 100_000, 10**6, 2000
MOST_COUNTED = 1000
"""Up to this sigma, in counts, the discrete law itself is summed."""
FINE = 24
"""Fine grids have at least 2^24 steps in the distance that a value moves by."""
_TAIL = 20
"""How many standard deviations count: beyond lies less than 2 exp(-200)."""


def gaussian_delta(sigma: Fraction, squared: Fraction, epsilon: Fraction, whole: bool) -> Fraction:
    """Delta at epsilon of noise with this sigma on a value that moves by sqrt(squared) in l2.

    `whole`: a whole number that moves by a whole distance; then the sum over the discrete law
    itself. Otherwise the conversion of its zCDP cost, `rho = squared / (2 sigma^2)` (Canonne,
    Kamath & Steinke 2020), which holds on every grid and for vectors.
    """
    if squared == 0:
        return Fraction(0)
    root = isqrt(squared.numerator)
    if whole and squared.denominator == 1 and root * root == squared.numerator:
        return _exact(sigma, root, epsilon)
    return zcdp_delta(squared / (2 * sigma * sigma), epsilon)


def counts_delta(sigma: Fraction, squared: int, epsilon: Fraction) -> Fraction:
    """Delta of noise on whole counts of which one falls by 1 and another grows by 1.

    `squared` is 2; or 1, where only one count moves. The sum over the discrete law itself.
    """
    if squared == 1:
        return _exact(sigma, 1, epsilon)
    assert squared == 2
    if sigma > MOST_COUNTED:
        return fine_delta(sigma, Fraction(2), epsilon, 2)
    arb = _balls()
    # The loss depends on the difference T of two noises: it is (T + 1) / sigma^2, so that terms
    # from an edge on count. P(T = t) is exp(-t^2 / (4 sigma^2)) times a mass of t's parity.
    quarter = 1 / (4 * arb(sigma * sigma))
    edge = sigma * sigma * epsilon - 1
    reach = reach_of(2 * sigma)
    first = max(-(-edge.numerator // edge.denominator), -reach)
    here, there = _Weights(first, quarter), _Weights(first + 2, quarter)
    factor, sums = arb(epsilon).exp(), [arb(0), arb(0)]
    for t in range(first, reach + 1):
        sums[t % 2] += here.next() - factor * there.next()
    even, odd = _parities(sigma)
    return _up(even * sums[0] + odd * sums[1] + arb(10) ** -80)


def reach_of(sigma: Fraction) -> int:
    """A distance beyond which noise of at most this deviation has mass below 2 exp(-200)."""
    return _TAIL * -(-sigma.numerator // sigma.denominator) + 10


def _parities(sigma: Fraction) -> tuple[Any, Any]:
    """Not below `sum over x of exp(-(x - c)^2 / sigma^2) / W^2` for c = 0 and c = 1/2.

    W is the sum of all weights. Where sigma is 2 or more, by Poisson's summation.
    """
    arb = _balls()
    if sigma >= 2:
        pi = arb(1).atan() * 4
        even = (1 + 4 * (-pi * pi * arb(sigma * sigma)).exp()) / (2 * arb(sigma) * pi.sqrt())
        return even, 1 / (2 * arb(sigma) * pi.sqrt())
    rate, tiny = 1 / arb(sigma * sigma), arb(10) ** -80
    weights = 1 + 2 * sum(((-(rate * x * x / 2)).exp() for x in range(1, 50)), arb(0))
    even = 1 + 2 * sum(((-(rate * x * x)).exp() for x in range(1, 50)), arb(0))
    odd = 2 * sum(((-(rate * (2 * x + 1) ** 2 / 4)).exp() for x in range(50)), arb(0))
    return (even + tiny) / (weights * weights), (odd + tiny) / (weights * weights)


def fine_delta(sigma: Fraction, squared: Fraction, epsilon: Fraction, entries: int) -> Fraction:
    """Delta of noise on a vector of whole numbers that moves by sqrt(squared) in l2: fine grids.

    Where sigma is many steps, the discrete law is close to the continuous one, whose delta is
    known (Balle & Wang 2018), with a proved bound on the difference. `entries` is the length of the
    vector. Units of `sigma` are steps.
    """
    arb = _balls()
    size, move, many = arb(sigma), arb(squared).sqrt(), arb(entries)
    ratio = move / size
    # The density is at most exp(bent) times the continuous one, the loss at most `more` larger.
    bent = many * (arb(_TAIL) / (2 * size) + 1 / (8 * size * size))
    more = ratio * many.sqrt() / (2 * size)
    below = arb(epsilon) - more
    two = arb(2).sqrt()

    def tail(x: Any) -> Any:
        return (x / two).erfc() / 2

    smooth = tail(below / ratio - ratio / 2) - below.exp() * tail(below / ratio + ratio / 2)
    return _up(bent.exp() * smooth + 2 * many * arb(-(_TAIL**2) // 2).exp())


def _exact(sigma: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """Sum over k of max(P(k) - e^epsilon P(k + shift), 0): the largest shift is the worst (8.5)."""
    arb = _balls()
    variance = sigma * sigma
    half = arb(1) / (2 * arb(variance))
    # P(k) > e^eps P(k + shift) iff k > variance eps / shift - shift / 2: a tail on one side.
    edge = variance * epsilon / shift - Fraction(shift, 2)
    start = -(-edge.numerator // edge.denominator)
    reach = reach_of(sigma) + shift
    if reach > MOST_TERMS:
        moved = Fraction(shift * shift)
        return min(
            fine_delta(sigma, moved, epsilon, 1), zcdp_delta(moved / (2 * variance), epsilon)
        )
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
    if not value.upper() < 1:
        return Fraction(1)  # nothing is known, or no probability
    if value.upper() < _balls()(Fraction(1, 2**SMALLEST)):
        return Fraction(1, 2**SMALLEST)
    mantissa, exponent = value.upper().mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _balls() -> Any:
    from flint import arb, ctx, fmpq

    ctx.prec = max(ctx.prec, 128)

    def ball(value: Fraction | int) -> Any:
        exact = Fraction(value)
        return arb(fmpq(exact.numerator, exact.denominator))

    return ball
