"""Discrete Laplace noise: its law, its error, its cost, and the sampler that is really run.

The noise can't be seeded. Every statistical check uses exact binomial tails, and its false-alarm
probability is below 1e-8 (the whole file: below 1e-6).
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.effort import runs

ALARM = 1e-8


def pmf(scale: float, z: int) -> float:
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(z)


def tail(scale: float, k: int) -> float:
    """P(|Z| > k), by its own series and not by the formula under test."""
    return 2 * sum(pmf(scale, z) for z in range(k + 1, k + 1 + int(60 * scale) + 60))


def looks_like(successes: int, n: int, p: float, alarm: float = ALARM) -> bool:
    """Two-sided exact binomial check."""
    low, high = stats.binom.cdf(successes, n, p), stats.binom.sf(successes - 1, n, p)
    return bool(min(low, high) > alarm / 2)


def has_scale(sample: list[int], scale: float) -> bool:
    """Whether the sample's share within one scale is that of the claimed law."""
    within = int(scale)
    inside = sum(abs(z) <= within for z in sample)
    return looks_like(inside, len(sample), 1 - tail(scale, within))


def has_law(sample: list[int], scale: float) -> bool:
    """Cell by cell, the parity and the sign, each at its share of the alarm."""
    counts, n, cells = Counter(sample), len(sample), range(-6, 7)
    even = sum(count for z, count in counts.items() if z % 2 == 0)
    p_even = sum(pmf(scale, z) for z in range(-400, 402, 2))
    checks = [looks_like(even, n, p_even, ALARM / 16)]
    checks.append(looks_like(sum(z > 0 for z in sample), n, tail(scale, 0) / 2, ALARM / 16))
    checks += [looks_like(counts[z], n, pmf(scale, z), ALARM / 16) for z in cells]
    return all(checks)


def test_pinned_quantile() -> None:
    assert DiscreteLaplace(1.0).quantile(1 - 0.04979) == 3


@pytest.mark.parametrize("scale", [0.2, 0.5, 1.0, 3.7, 40.0])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_quantile_is_the_least_error(scale: float, confidence: float) -> None:
    k = DiscreteLaplace(scale).quantile(confidence)
    assert tail(scale, k) <= 1 - confidence + 1e-12
    assert k == 0 or tail(scale, k - 1) > 1 - confidence - 1e-12


@pytest.mark.parametrize("scale", [2.0**-20, 1e-3, 1e5, 1e12, 1e15, 2.0**62])
@pytest.mark.parametrize("confidence", [1e-6, 0.5, 0.95, 1 - 1e-12])
def test_quantile_at_extreme_scales(scale: float, confidence: float) -> None:
    k = DiscreteLaplace(scale).quantile(confidence)
    # Independent of ball arithmetic: 60-digit decimals.
    from decimal import Decimal, getcontext

    getcontext().prec = 60
    a = (Decimal(-1) / Decimal(scale)).exp()
    beta = 1 - Decimal(confidence)
    assert 2 * a ** (k + 1) / (1 + a) <= beta
    assert k == 0 or 2 * a**k / (1 + a) > beta


def test_quantile_exactly_at_the_boundary() -> None:
    """The largest scale with error k, and its neighbour above, straddle k."""
    for k in (0, 1, 3, 1000, 10**12):
        for confidence in (0.05, 0.5, 0.95):
            scale = DiscreteLaplace.scale_for_error(k, confidence)
            assert DiscreteLaplace(scale).quantile(confidence) <= k
            above = DiscreteLaplace(math.nextafter(scale, math.inf))
            assert above.quantile(confidence) > k


@pytest.mark.prove
def test_cost_is_an_upper_bound_and_for_cost_is_the_smallest_scale() -> None:
    rng = random.Random(7)
    for _ in range(runs(500)):
        sensitivity = rng.choice([1, 2, 3, 2**20, 2**40, rng.randrange(1, 2**40)])
        epsilon = 10 ** rng.uniform(-4, 2)
        noise = DiscreteLaplace.for_cost(sensitivity, epsilon)
        exact = Fraction(sensitivity) / Fraction(noise.scale)
        assert exact <= Fraction(noise.cost(sensitivity)) <= Fraction(epsilon)
        below = DiscreteLaplace(math.nextafter(noise.scale, 0))
        assert below.cost(sensitivity) > epsilon


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 20.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_true_channel(scale: float, shift: int) -> None:
    """The largest log ratio of the exact law under a shift is shift/scale, and so is the cost."""
    ratios = [
        math.log(pmf(scale, z)) - math.log(pmf(scale, z - shift)) for z in range(-12, shift + 13)
    ]
    assert max(ratios) == pytest.approx(shift / scale, rel=1e-9)
    assert DiscreteLaplace(scale).cost(shift) == pytest.approx(max(ratios), rel=1e-9)


def test_released_noise_has_the_right_scale_and_no_other() -> None:
    sample = DiscreteLaplace(50.0).release([0] * 20_000)
    assert has_scale(sample, 50.0)
    assert not has_scale(sample, 50.0 * 1.3)
    assert not has_scale(sample, 50.0 * 0.77)


@pytest.mark.parametrize("wrong", [1.3, 0.77])
def test_a_wrong_sampler_would_be_seen(wrong: float) -> None:
    assert not has_scale(DiscreteLaplace(50.0 * wrong).release([0] * 20_000), 50.0)


def test_released_noise_has_the_discrete_law() -> None:
    assert has_law(DiscreteLaplace(1.0).release([0] * 60_000), 1.0)


def test_other_laws_on_the_integers_are_seen() -> None:
    """Rounded continuous noise (wrong mass at zero), even noise, and one-sided noise all fail."""
    rng = random.Random(3)
    continuous = [rng.expovariate(1.0) * rng.choice((-1, 1)) for _ in range(60_000)]
    assert not has_law([round(z) for z in continuous], 1.0)
    assert not has_law([2 * round(z / 2) for z in continuous], 1.0)
    assert not has_law([math.floor(z) for z in continuous], 1.0)


def test_noise_is_centred_on_the_value_and_independent_between_calls() -> None:
    noise = DiscreteLaplace(1e6)
    first, second = noise.release([2**40, -(2**40)]), noise.release([2**40, -(2**40)])
    assert first != second  # equal with probability below 1e-11
    for released in (first, second):
        assert abs(released[0] - 2**40) < 1e8
        assert abs(released[1] + 2**40) < 1e8
    assert noise.release([]) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: DiscreteLaplace(0.0),
        lambda: DiscreteLaplace(math.nan),
        lambda: DiscreteLaplace(2.0**63),
        lambda: DiscreteLaplace.for_cost(1, 0.0),
        lambda: DiscreteLaplace.for_cost(1, math.nan),
        lambda: DiscreteLaplace.for_cost(1, 1e-300),
        lambda: DiscreteLaplace.for_cost(0, 1.0),
        lambda: DiscreteLaplace.for_cost(2**63, 1.0),
        lambda: DiscreteLaplace.for_cost(True, 1.0),
        lambda: DiscreteLaplace(1.0).quantile(1.0),
        lambda: DiscreteLaplace(1.0).quantile(0.0),
        lambda: DiscreteLaplace.scale_for_error(-1, 0.95),
        lambda: DiscreteLaplace(1.0).cost(1.5),  # type: ignore[arg-type]
        lambda: DiscreteLaplace(1.0).release([2**63]),
    ],
)
def test_wrong_arguments_are_refused(call: object) -> None:
    with pytest.raises(InputError):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("noise", [DiscreteGaussian, DiscreteLaplace])
@pytest.mark.parametrize(
    "scale", [0.0, -1.0, math.nextafter(2.0**-20, 0), math.nextafter(2.0**62, math.inf), math.nan]
)
def test_scales_that_make_no_noise_are_refused(
    noise: type[DiscreteGaussian | DiscreteLaplace], scale: float
) -> None:
    for allowed in (2.0**-20, 2.0**62):
        assert noise(allowed).scale == allowed
    with pytest.raises(InputError, match=r"scale between 2\^-20 and 2\^62.*less extreme"):
        noise(scale)
    for cost in (1e-300, 1e300):
        with pytest.raises(InputError, match="less extreme"):
            noise.for_cost(1, cost)


def test_a_private_value_is_not_shown_in_an_error() -> None:
    with pytest.raises(InputError) as error:
        DiscreteLaplace(1.0).release([2**63 + 12345])
    assert "9223372036854788153" not in str(error.value)


def test_wanted_error_then_cost_round_trip() -> None:
    for steps, confidence in itertools.product((0, 5, 10**6), (0.5, 0.95)):
        scale = DiscreteLaplace.scale_for_error(steps, confidence)
        cost = DiscreteLaplace(scale).cost(3)
        assert DiscreteLaplace.for_cost(3, cost).quantile(confidence) <= steps
