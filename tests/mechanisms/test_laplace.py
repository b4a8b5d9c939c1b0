"""Discrete Laplace noise: its law, its error and its cost."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.effort import runs


def pmf(scale: float, z: int) -> float:
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(z)


def tail(scale: float, k: int) -> float:
    """P(|Z| > k), by its own series and not by the formula under test."""
    return 2 * sum(pmf(scale, z) for z in range(k + 1, k + 1 + int(60 * scale) + 60))


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
