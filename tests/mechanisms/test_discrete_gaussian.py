"""Discrete Gaussian noise: its law, its error and its cost."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import flint
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian
from bayesdp.mechanisms.gaussian import _measurement
from tests.chance import discrete_gaussian
from tests.effort import runs


def true_tail(scale: float, k: int) -> flint.arb:
    """P(|Z| > k) from the definition, in 160-bit balls (what it leaves out is below 1e-30)."""
    flint.ctx.prec, before = 160, flint.ctx.prec
    try:
        rate = -1 / (2 * flint.arb(scale) ** 2)
        reach = math.ceil(13 * scale) + 10
        mass = [(rate * z * z).exp() for z in range(k + reach)]
        return 2 * sum(mass[k + 1 :], flint.arb(0)) / (2 * sum(mass[1:], flint.arb(0)) + 1)
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize("case", range(runs(100)))
def test_quantile_is_the_least_error(case: int) -> None:
    rng = random.Random(case)
    scale = 10 ** rng.uniform(-1, 1.9)
    confidence = rng.choice([0.01, 0.5, 0.6, 0.9, 0.95, 0.999, 1 - 1e-9])
    k, beta = DiscreteGaussian(scale).quantile(confidence), 1 - Fraction(confidence)
    bound = flint.arb(flint.fmpq(beta.numerator, beta.denominator))
    assert true_tail(scale, k) <= bound
    slack = 0 if scale < 16 else 1  # above, one step more is allowed
    assert k <= slack or not true_tail(scale, k - 1 - slack) <= bound


@pytest.mark.parametrize(
    ("confidence", "due"), [(0.5, 0.674490), (0.95, 1.959964), (1 - 1e-12, 7.130509)]
)
def test_large_scales_have_the_normal_quantiles(confidence: float, due: float) -> None:
    for scale in (1e6, 1e12, 2.0**60):
        error = DiscreteGaussian(scale).quantile(confidence)
        assert error / scale == pytest.approx(due, rel=1e-5)
    assert DiscreteGaussian(2.0**-20).quantile(confidence) == 0


def test_pinned_quantiles() -> None:
    """P(|Z| > 19) = .0511 and P(|Z| > 20) = .0404 for scale 10; the normal law would say 19.6."""
    assert DiscreteGaussian(10.0).quantile(0.95) == 20
    assert float(true_tail(10.0, 19)) == pytest.approx(0.0511, abs=1e-4)
    # weights 1, .13534, .00034: P(Z != 0) = .21357
    assert DiscreteGaussian(0.5).quantile(0.786) == 0
    assert DiscreteGaussian(0.5).quantile(0.787) == 1


def test_wanted_error_then_scale_round_trip() -> None:
    for k in (0, 1, 5, 30, 31, 32, 1000, 10**12, 2**62):
        for confidence in (0.6, 0.95, 1 - 1e-6):
            scale = DiscreteGaussian.scale_for_error(k, confidence)
            assert DiscreteGaussian(scale).quantile(confidence) <= k
            if scale < 2.0**62:
                above = math.nextafter(scale, math.inf)
                assert DiscreteGaussian(above).quantile(confidence) > k
    assert DiscreteGaussian.scale_for_error(2**62, 0.5) == 2.0**62


@pytest.mark.prove
def test_the_cost_is_exact_rounded_up_and_never_above_opendps() -> None:
    rng = random.Random(7)
    for _ in range(runs(500)):
        squared = rng.choice([1, 2, 3, 2 * 2**40, 2**80, rng.randrange(1, 2**60)])
        rho = 10 ** rng.uniform(-6, 2)
        noise = DiscreteGaussian.for_cost(squared, rho)
        exact = squared / (2 * Fraction(noise.scale) ** 2)
        cost = noise.cost(squared)
        assert exact <= Fraction(cost) <= Fraction(rho)
        assert Fraction(math.nextafter(cost, 0.0)) < exact
        assert DiscreteGaussian(math.nextafter(noise.scale, 0)).cost(squared) > rho
        # the vetted map, of a sensitivity rounded up, agrees
        root = math.nextafter(math.sqrt(squared), math.inf)
        assert _measurement(noise.scale).map(root) == pytest.approx(cost, rel=1e-14)
        assert _measurement(noise.scale).map(root) >= exact


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("shift", [(1,), (2,), (1, -1), (1, 2)])
@pytest.mark.parametrize("order", [1.01, 2.0, 8.0])
def test_true_channel(scale: float, shift: tuple[int, ...], order: float) -> None:
    """The Renyi divergence of the exact law from its shift is at most order times rho.

    Attained at integer orders; by the exact law, coordinate by coordinate.
    """
    law = discrete_gaussian(scale)
    total = 0.0
    for s in shift:
        terms = [
            law[z] * math.exp((order - 1) * ((z - s) ** 2 - z**2) / (2 * scale**2))
            for z in law
            if abs(z) < 11 * scale
        ]
        total += math.log(math.fsum(terms)) / (order - 1)
    squared = sum(s * s for s in shift)
    claimed = order * DiscreteGaussian(scale).cost(squared)
    assert total <= claimed * (1 + 1e-9)
    if order == 2.0:
        assert total == pytest.approx(claimed, rel=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: DiscreteGaussian(0.0),
        lambda: DiscreteGaussian(math.nan),
        lambda: DiscreteGaussian(2.0**63),
        lambda: DiscreteGaussian.for_cost(1, 0.0),
        lambda: DiscreteGaussian.for_cost(1, math.nan),
        lambda: DiscreteGaussian.for_cost(1, 1e-300),
        lambda: DiscreteGaussian.for_cost(0, 1.0),
        lambda: DiscreteGaussian.for_cost(2**126, 1.0),
        lambda: DiscreteGaussian.for_cost(True, 1.0),
        lambda: DiscreteGaussian(1.0).quantile(1.0),
        lambda: DiscreteGaussian(1.0).quantile(0.0),
        lambda: DiscreteGaussian.scale_for_error(-1, 0.95),
        lambda: DiscreteGaussian(1.0).cost(1.5),  # type: ignore[arg-type]
        lambda: DiscreteGaussian(1.0).release([2**63]),
    ],
)
def test_wrong_arguments_are_refused(call: object) -> None:
    with pytest.raises(InputError):
        call()  # type: ignore[operator]


def test_a_private_value_is_not_shown_in_an_error() -> None:
    with pytest.raises(InputError) as error:
        DiscreteGaussian(1.0).release([2**63 + 12345])
    assert "9223372036854788153" not in str(error.value)


def test_scales_around_the_change_of_method_agree() -> None:
    """At 16 the summed tail gives way to the integral: errors go on as before."""
    for confidence in (0.5, 0.9, 0.99, 1 - 1e-9):
        below = DiscreteGaussian(math.nextafter(16.0, 0)).quantile(confidence)
        assert DiscreteGaussian(16.0).quantile(confidence) - below in (0, 1)
    sizes = [DiscreteGaussian(s).quantile(0.95) for s in (15.0, 15.9, 16.1, 17.0)]
    assert all(a <= b for a, b in itertools.pairwise(sizes))
