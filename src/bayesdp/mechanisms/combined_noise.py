"""Error bars of a weighted sum of independent noise: how far `w z` may be off.

`W` is the norm of the weights `w`, all at most 1 in size, of independent discrete noise of one
scale. The bounds hold for all such weights, whatever they are (proved below):

* Gaussian, scale `s`: `P(|w z| > x W) <= 2 e^(-x^2 / (2 s^2))`, since the law is sub-Gaussian. And
  with a normal variable of deviation `t` beside each entry the density is at most `1 + eps` times
  that of a normal one, `eps = 4 e^(-v)`, `v = 2 pi^2 s^2 t^2 / (s^2 + t^2)` at least 1, so that
  `P(|w z| > x W) <= (1 + eps)^m erfc((x - c t) / sqrt(2 (s^2 + t^2))) / Phi(c)`, for `m` entries.
* Laplace, scale `b`: with a uniform variable beside each entry it is more peaked than a continuous
  law of the scale `B = coth(1 / 2b) / 2`, a mixture of normal ones, so that
  `P(|w z| > x W) <= 2 B^2 / (3 (x - 1)^2 (1 - e^-6))`. And
  `P(|w z| > x W) <= 2 e^(-u x / b + u^2 / (1 - u^2 r^2))` for `u r < 1`, all weights at most `r W`.

**Errors of series.** Let `W = |w|` and all `|w_i| <= r W`. *Gaussian, scale s*: `E e^(uZ) <= e^(s^2
u^2 / 2)` ("Ratios" below), so `P[|w z| > x W] <= 2 e^(-x^2 / (2 s^2))`. And let `N` be normal with
deviation `t`: the density of `Z + N` at `y` is the normal one of variance `s^2 + t^2` times a sum
over integers of a normal density of variance `q = s^2 t^2 / (s^2 + t^2)`, over one that is at least
1; by Poisson's formula the former is at most `1 + 4 e^(-2 pi^2 q)` where the exponent is at
least 1. With `m` entries that is the factor's `m`-th power for all, and `P[w z > x W] P[w N >= -c t
W] <= P[w (z + N) >= (x - c t) W]`. *Laplace, scale b*: let `U` be uniform between -1/2 and 1/2, and
`1/B = 2 tanh(1/(2b))`, at most `1/b`. For `y = k + f`, `|f| <= 1/2`, `P[|Z + U| > y] = e^(-k/b)
(1 - f/B) <= e^(-y/B)`: `Z + U` is more peaked than a continuous Laplace law of scale `B`, both are
symmetric and unimodal, so `w (z + U)` is more peaked than `w Y` (Birnbaum 1948). Given exponential
`E_i`, `w Y` is normal with the variance `V = 2 B^2 sum w_i^2 E_i`, so `P[|w Y| > y] = E P[|N| > y /
sqrt(V)] <= E V / (3 y^2) = 2 B^2 W^2 / (3 y^2)`, since `x P[|N| > sqrt(x)] < 1/3` for all `x`. `w
U` is below `-W` with probability `e^-6` at most. And `E e^(uZ) = 1 / (1 - (cosh u - 1) /
(cosh(1/b) - 1)) <= 1 / (1 - b^2 u^2)`, whence `P[|w z| > x W] <= 2 e^(-u x / b + u^2 / (1 - u^2
r^2))` for `u r < 1`. The least of these over fixed `t`, `c` and `u` is used. All answers at once:
`1 - beta` over their number. ∎
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from bayesdp.mechanisms.gaussian import DiscreteGaussian
from bayesdp.mechanisms.laplace import DiscreteLaplace, allowed_failure

SMOOTHINGS = (1.0, 1.5, 2.0)
SHIFTS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
RATES = tuple(i / 32 for i in range(1, 32))
"""The numbers `t`, `c` and `u r` that the bounds are tried with."""

SLACK = 1e-10
"""What is added to a multiple, relative to it: more than the roundings of doubles."""


def share_of(weight: float) -> float:
    """An upper bound on the largest weight beside the norm `weight`: a power of `2^-1/2`.

    No weight is larger than 1. Few different shares, so that error bars are computed a few times.
    """
    if weight <= 1.0:
        return 1.0
    return float(2.0 ** (-math.floor(2.0 * math.log2(weight) * (1 - SLACK)) / 2.0))


def tail(noise: DiscreteLaplace | DiscreteGaussian, x: float, share: float, entries: int) -> float:
    """An upper bound on `P(|w z| > x W)`, in doubles: of so many `entries`, none above `share` W.

    `noise` is the law of each, in steps.
    """
    scale = noise.scale
    if isinstance(noise, DiscreteGaussian):
        bounds = [2.0 * math.exp(-x * x / (2.0 * scale * scale))]
        for width in SMOOTHINGS:
            both = scale * scale + width * width
            inner = 2.0 * (math.pi * scale * width) ** 2 / both
            if inner < 1.0:
                continue
            missed = math.exp(min(entries * 4.0 * math.exp(-inner), 700.0))
            for shift in SHIFTS:
                above = math.erfc((x - shift * width) / math.sqrt(2.0 * both))
                bounds.append(missed * above / (1.0 - math.erfc(shift / math.sqrt(2.0)) / 2.0))
        return min(bounds)
    wider = 0.5 / math.tanh(0.5 / scale)
    bounds = [1.0]
    if x > 1.0:
        bounds.append(2.0 * wider * wider / (3.0 * (x - 1.0) ** 2 * (1.0 - math.exp(-6.0))))
    for rate in RATES:
        u = rate / share
        bounds.append(2.0 * math.exp(min(-u * x / scale + u * u / (1.0 - rate * rate), 0.0)))
    return min(bounds)


@lru_cache(maxsize=4096)
def multiple(
    noise: DiscreteLaplace | DiscreteGaussian, failure: Fraction, share: float, entries: int
) -> float:
    """A number `x` with `P(|w z| > x W) <= failure`, close to the least that the bounds give.

    `share` and `entries` as in `tail`. In steps of the noise.
    """
    allowed = float(failure) * (1.0 - SLACK)
    low, high = 0.0, noise.scale + 1.0
    while tail(noise, high, share, entries) > allowed:
        low, high = high, 2.0 * high
    while high - low > SLACK * high:
        middle = (low + high) / 2.0
        if tail(noise, middle, share, entries) > allowed:
            low = middle
        else:
            high = middle
    return high * (1.0 + SLACK)


def margin(
    noise: DiscreteLaplace | DiscreteGaussian,
    confidence: float,
    squared_weight: float,
    entries: int,
    *,
    answers: int = 1,
) -> float:
    """How far an answer may be off at this confidence, in steps; or that many `answers` at once.

    `squared_weight` is the sum of squares of the weights of so many `entries` of the noise. Raises
    `InputError` unless `0 < confidence < 1`.
    """
    failure = allowed_failure(confidence) / answers
    weight = math.sqrt(squared_weight)
    return multiple(noise, failure, share_of(weight), entries) * weight * (1.0 + SLACK)
