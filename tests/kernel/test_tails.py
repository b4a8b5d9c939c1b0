"""The kernel's bounds on noise: never below the truth, and hardly above it."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import pytest

from bayesdp.kernel import arithmetic
from bayesdp.kernel.steps.tails import gaussian_tail, laplace_tail
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.effort import runs
from tests.mechanisms.test_discrete_gaussian import true_tail
from tests.mechanisms.test_laplace import tail


@pytest.mark.parametrize("case", range(runs(100)))
def test_gaussian_tails(case: int) -> None:
    rng = random.Random(case)
    scale = 10 ** rng.uniform(-1, 1.9)
    k = int(rng.uniform(0, 5) * scale)
    actual, truth = gaussian_tail(Fraction(scale), k), true_tail(scale, k)
    assert actual.upper() >= truth.lower()
    # a step of the integral's is at most a few hundredths of a scale
    assert actual <= truth * (1 + flint.arb(1e-20 if scale < 16 else 3e-2))


def test_gaussian_tails_far_out_and_of_large_scales() -> None:
    far = gaussian_tail(Fraction(100), 4000)
    assert float(far) == pytest.approx(float(flint.arb("40.005").__truediv__(2**0.5).erfc()))
    assert float(gaussian_tail(Fraction(2**61), 0)) == pytest.approx(1.0)
    assert float(gaussian_tail(Fraction(1, 2**20), 0)) == 0.0


FINE = 12_000
"""Bits at which what the kernel's own precision hides is seen."""


def _in_full(sigma: Fraction, k: int) -> flint.arb:
    """The tail, with so many terms that the others are below any of these bits."""
    rate = flint.arb(flint.fmpq(*(1 / (2 * sigma * sigma)).as_integer_ratio()))
    furthest = k + 10 + round(140 * sigma)
    masses = [(-rate * (z * z)).exp() for z in range(furthest)]
    above = sum(masses[k + 1 :], flint.arb(0))
    return 2 * above / (2 * sum(masses, flint.arb(0)) - masses[0])


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(15.9)])
@pytest.mark.parametrize("k", [0, 1, 5, 40])
def test_the_terms_that_no_sum_has_are_bounded(
    monkeypatch: pytest.MonkeyPatch, sigma: Fraction, k: int
) -> None:
    """At the kernel's precision they are below a rounding error; here each of them counts."""
    monkeypatch.setattr(flint.ctx, "prec", FINE)
    monkeypatch.setattr(arithmetic, "PRECISION", FINE)
    actual, truth = gaussian_tail(sigma, k), _in_full(sigma, k)
    assert truth < actual < truth * (1 + flint.arb(2) ** -140)
    left_out = actual / truth - 1
    assert left_out < flint.arb(2) ** (1 - 192), "hidden at the kernel's precision"


def test_laplace_tails() -> None:
    for scale, k in ((0.3, 0), (1.0, 2), (12.5, 30)):
        assert float(laplace_tail(Fraction(scale), k)) == pytest.approx(tail(scale, k), rel=1e-9)


@pytest.mark.parametrize("case", range(runs(100)))
def test_every_honest_error_is_accepted_and_hardly_less(case: int) -> None:
    """The package's error, in the kernel's words: two implementations of one law."""
    rng = random.Random(1000 + case)
    scale, confidence = 10 ** rng.uniform(-1, 15), rng.choice([0.6, 0.95, 1 - 1e-6])
    beta = flint.arb(flint.fmpq(*(1 - Fraction(confidence)).as_integer_ratio()))
    for noise, law in (
        (DiscreteGaussian(scale), gaussian_tail),
        (DiscreteLaplace(scale), laplace_tail),
    ):
        k = noise.quantile(confidence)
        assert law(Fraction(scale), k) <= beta
        assert k == 0 or not law(Fraction(scale), k - 1) <= beta
