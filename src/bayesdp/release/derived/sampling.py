"""Intervals for the population that the rows are a sample of: noise and sampling together.

Only on request, since it rests on what no certificate says: that the rows were drawn at random. The
sampling variance is estimated from released numbers alone, so nothing is paid for it.

**Sampling.** On request, for rows drawn at random from a large population: a released number is
`T + S + X` with the number `T` of the population, a sampling error `S`, taken as normal, and the
noise `X`. Kept are the `T` for which `P[|S + X| >= |released - T|]` is at least `beta`, with the
variance of `S` that this `T` gives: `n p (1 - p)` for a count among n rows, `p (1 - p) / n` for a
proportion, and no more than `T` for a count whose number of rows is private. That of a mean is the
released variance, with its error at `beta / 10` added, over `n - 1`, and 9/10 of `beta` are left. A
design effect multiplies it: of groups of at most m rows the variance of a sum is at most m times
the sum of the variances (Cauchy-Schwarz). For Gaussian noise `S + X` is taken as normal. For
Laplace noise of scale `b`, with `s = sigma / b` and a distance of `z` standard deviations, the
probability is `2 Q(z) + e^(s^2 / 2) (e^(-s z) Q(s - z) - e^(s z) Q(s + z))` with the normal tail
`Q`; a step of the noise is taken off the distance, as for ratios. It is an approximation and no
certificate has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bayesdp.errors import inner_probability
from bayesdp.mechanisms import DiscreteGaussian
from bayesdp.release.derived.numbers import NoisyNumber

SAMPLED = ("count", "proportion", "mean")
"""Kinds of queries that may have such an interval."""

_ROUNDS = 48
_SHARE_OF_SPREAD = 0.1
"""The share of the probability of being wrong that the noise of the variance may use up."""


def sampling_interval(
    number: NoisyNumber,
    confidence: float,
    *,
    rows: int | None,
    effect: float,
    spread: NoisyNumber | None = None,
) -> tuple[float, float]:
    """Between which numbers that of the whole population lies, at about this confidence.

    `number` is a released count, proportion or mean over `rows` rows (of a count, those that were
    looked at; `None` where that is not public). `effect` multiplies the variance of independent
    rows. `spread` is the released variance of the values, which a mean needs. The values that are
    kept are those at which a distance as large as the observed one is likely enough, for the
    number's noise and a normal sampling error (theory 4, "Sampling"). Raises `InputError` unless
    `confidence` lies between 0 and 1.
    """
    allowed = 1.0 - inner_probability("confidence", confidence)
    if number.kind == "mean":
        assert spread is not None
        assert rows is not None
        margin = spread.error(1.0 - _SHARE_OF_SPREAD * allowed)
        variance = effect * (max(spread.value, 0.0) + margin) / max(rows - 1, 1)
        allowed *= 1.0 - _SHARE_OF_SPREAD
        reach = number.error(1.0 - allowed / 2.0) + 40.0 * math.sqrt(variance)
        ends = number.value - reach, number.value + reach
        return _kept(number, allowed, lambda _: variance, ends)
    if number.kind == "proportion":
        assert rows is not None
        return _kept(number, allowed, lambda p: effect * p * (1.0 - p) / rows, (0.0, 1.0))
    if rows is None:  # no more than that of a Poisson count
        reach = max(number.value, 0.0) + number.error(1.0 - allowed / 2.0)
        top = 2.0 * reach + 200.0 * effect
        return _kept(number, allowed, lambda count: effect * count, (0.0, top))

    def of_a_count(count: float) -> float:
        return effect * count * (1.0 - count / rows)

    return _kept(number, allowed, of_a_count, (0.0, float(rows)))


def _kept(
    number: NoisyNumber,
    allowed: float,
    variance: Callable[[float], float],
    ends: tuple[float, float],
) -> tuple[float, float]:
    """The first and the last value between the ends that is not too far from the released one."""
    start = min(max(number.value, ends[0]), ends[1])

    def likely(value: float) -> bool:
        distance = abs(value - number.value)
        return _beyond(number, distance, math.sqrt(max(variance(value), 0.0))) >= allowed

    return _last(likely, start, ends[0]), _last(likely, start, ends[1])


def _last(likely: Callable[[float], bool], start: float, end: float) -> float:
    """Where values on the way from `start` to `end` stop to be likely, rounded outward."""
    if likely(end):
        return end
    for _ in range(_ROUNDS):
        middle = (start + end) / 2.0
        start, end = (middle, end) if likely(middle) else (start, middle)
    return end


def _beyond(number: NoisyNumber, distance: float, deviation: float) -> float:
    """The probability that noise and a normal error of this deviation are beyond a distance.

    Noise in steps is within a step of continuous noise of its scale.
    """
    scale = number.noise.scale * number.noise_unit
    distance = max(distance - number.noise_unit, 0.0)
    if isinstance(number.noise, DiscreteGaussian):
        return math.erfc(distance / math.hypot(scale, deviation) / math.sqrt(2.0))
    if deviation == 0.0:
        return math.exp(-distance / scale)
    return _laplace_and_normal(distance / deviation, deviation / scale)


def _laplace_and_normal(distance: float, share: float) -> float:
    """The probability that a normal error and Laplace noise together are beyond a distance.

    In standard deviations of the normal error, which is `share` times the scale of the noise. The
    integral of the normal density over the tails, with what is scaled by `e^(z^2 / 2)` in one.
    """
    from scipy.special import erfcx

    root = math.sqrt(2.0)
    density = math.exp(-0.5 * distance * distance)
    beside = share - distance
    if beside >= 0.0:
        near = 0.5 * density * float(erfcx(beside / root))
    else:
        near = 0.5 * math.exp(share * (0.5 * share - distance)) * math.erfc(beside / root)
    far = 0.5 * density * float(erfcx((share + distance) / root))
    return math.erfc(distance / root) + near - far
