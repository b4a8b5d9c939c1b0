"""Whether Gaussian noise of a stated standard deviation has the stated delta (theory 8.5).

**Gaussian** (`gaussian`). `S^2` is in the square of l2. `(e, d)` is one point of the curve of the
noise that is drawn. A smaller move has a smaller delta at the same epsilon, so `(e, d)` also bounds
the cost of entering when `A <= S`. An asserted `sigma` is held against the curve: for one whole
number that moves by at most `s` (whole), with `w(k) = exp(-k^2 / (2 sigma^2))`, `W` their sum over
the integers and `k0` the least `k >= sigma^2 e / s - s / 2`,

```text
delta(s) = ( sum of w over k0 ... k0 + s - 1  -  (exp(e) - 1) sum of w from k0 + s on ) / W
```

since `w(k) > exp(e) w(k + s)` for exactly the `k` above that edge. It grows with `s`: for noise `Z`
with a log-concave law the best test between `Z` and `Z + s` asks whether a threshold `t` is passed,
and `P[Z + s >= t] - exp(e) P[Z >= t]` grows with `s` for each `t`. So the largest `s` is the worst.
Ending the second sum early makes delta larger, and so does `W >= sigma sqrt(2 pi) (1 + 2 exp(-2
pi^2 sigma^2))`, all terms of Poisson's summation formula being positive: both are on the safe side.
Every other asserted `sigma` is held against the conversion of `rho = S^2 / (2 sigma^2)` zCDP at
many orders (2.5), each of which is a bound. The classical formula is not used: at epsilon 10 it has
twice the delta that it states.

Where `sigma` is left out, the interpreter takes the least that it can prove, from what is known
before the release (the ledger is debited by it). Besides the sum above, for one whole number, and
the conversion, which holds everywhere, there are two sharper laws:

*Cells of a table* (the rule `onehot`). One count falls by 1 and another grows by 1. With `T = Z_i -
Z_j`, the difference of two independent noises, the log-density ratio is `(T + 1) / sigma^2`, so
that

```text
delta = sum over t >= sigma^2 e - 1 of
            m(t) ( exp(-t^2 / (4 sigma^2)) - exp(e) exp(-(t + 2)^2 / (4 sigma^2)) )
```

where `P[T = t] = m(t) exp(-t^2 / (4 sigma^2))`: from `x^2 + (x - t)^2 = t^2 / 2 + 2 (x - t / 2)^2`,
the mass `m(t)` is the sum of `exp(-(x - t / 2)^2 / sigma^2)` over the integers `x`, by `W^2`, and
depends on the parity of `t` only. By Poisson's summation it is at most `(1 + 4 exp(-pi^2 sigma^2))
/ (2 sigma sqrt(pi))` for `sigma >= 2`. All terms are positive, so larger masses are on the safe
side. A record that only enters or leaves moves one of the two entries: leaving out the other entry
is post-processing.

*Fine grids.* Real values move by `d` steps in `k` entries, `s` their l2 norm, `sigma` being many
steps. For every `t > 0`,

```text
delta(e)  <=  exp(k (t / (2 sigma) + 1 / (8 sigma^2)))  *  D(e - s sqrt(k) / (2 sigma^2))
              +  2 k exp(-t^2 / 2)
D(e)       =  F(s / (2 sigma) - e sigma / s)  -  exp(e) F(-s / (2 sigma) - e sigma / s)
```

with `F` the normal distribution function and `D` the delta of continuous noise (Balle & Wang, ICML
2018).

*Proof.* Let `X` be the discrete noise and `Y = X + U`, `U` uniform on the cube of side 1 around 0.
With `x` the point of the grid next to `y`, the density of `Y` is `exp(-|x|^2 / (2 sigma^2)) / W^k`,
and `W >= sigma sqrt(2 pi)`. So its ratio to the continuous density is at most `exp((|y|^2 - |x|^2)
/ (2 sigma^2))`; each entry of `|y|^2 - |x|^2` is `2 x u + u^2 <= |x| + 1/4`, and where all `|x_i|
<= t sigma` the exponent is at most that of the first factor. Elsewhere the discrete noise has mass
`2 k exp(-t^2 / 2)` at most, as its moment generating function is at most that of the continuous
noise. The log-density ratio at `x` is `(|d|^2 - 2 <x, d>) / (2 sigma^2)`; at `y` it differs by `<u,
d> / sigma^2`, at most `|d|_1 / (2 sigma^2) <= s sqrt(k) / (2 sigma^2)`. Since `delta(e)` is the
mean of `max(0, 1 - exp(e - ratio))`, which grows with the ratio, both together give the bound. ∎

The bound falls as `sigma` and `s` grow together. The interpreter uses a grid with `s >= 2^24` steps
and `t = 20`: at (1, 1e-5) it needs 3.73063 times the move, as continuous noise does, and the
conversion 4.048 times ([measured](benchmarks.md#gaussian-noise-in-programs)).
"""

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
