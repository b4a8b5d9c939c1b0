"""The curve of Gaussian noise: an upper bound in the last digit, also where formulas cancel."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from bayesdp.leakage.normal_curve import normal_delta
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta
from bayesdp.populations import Gaussian
from bayesdp.theorems.gaussian_noise import gaussian_noise
from tests.effort import runs
from tests.oracles.exact_normal import linear_query_curve

BITS = 2000
SMALLEST = math.ulp(0.0)


def in_thousands_of_digits(distance: Fraction, epsilon: Fraction) -> flint.arb:
    """Second route: the difference of two densities, `phi(a) (m(a) - m(b))` with Mills' ratio m.

    `a = e/d - d/2`, `b = e/d + d/2` and `e^e phi(b) = phi(a)`, where one subtraction is left.
    """
    before, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        d, e = (flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in (distance, epsilon))
        a, b = e / d - d / 2, e / d + d / 2

        def density(x: flint.arb) -> flint.arb:
            return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()

        def mills(x: flint.arb) -> flint.arb:
            return (x / flint.arb(2).sqrt()).erfc() / 2 / density(x)

        return density(a) * (mills(a) - mills(b))
    finally:
        flint.ctx.prec = before


def check(value: float, truth: flint.arb, relative: float = 1e-9) -> None:
    assert value == 1.0 or flint.arb(value) >= truth, (value, truth)
    assert flint.arb(value) <= truth * (1 + relative) + 2 * SMALLEST, (value, truth)


def test_the_values_of_the_report() -> None:
    """Sigma 1e9 at epsilon 4e-9, where a formula in doubles says 7.145172e-15."""
    assert f"{normal_delta(1e-9, 4e-9):.6e}" == "7.145258e-15"
    item = Gaussian(covariance=[[1.0]])
    assert f"{gaussian_noise(item, 1e9, 1.0, 4e-9).delta:.6e}" == "7.145258e-15"
    check(gaussian_noise(item, 6e14, 1.0, 1e-15).delta, in_thousands_of_digits(
        Fraction(1) / Fraction(6e14), Fraction(1e-15)))  # fmt: skip
    curve = linear_query_curve([[1.0]], [1.0], sigma=1e9, difference=1.0).delta(4e-9)
    truth = in_thousands_of_digits(Fraction(1, 10**9), Fraction(4e-9))
    assert abs(flint.arb(curve.value) - truth) <= curve.error
    assert curve.error < 1e-9 * curve.value


@pytest.mark.prove
def test_never_below_the_truth_and_hardly_above() -> None:
    rng = np.random.default_rng(901)
    item = Gaussian(covariance=[[1.0]])
    between = 0
    for _ in range(runs(4000)):
        sigma, epsilon = 10.0 ** rng.uniform(-6, 15), 10.0 ** rng.uniform(-12, math.log10(50))
        if rng.random() < 0.5:  # near the edge, where delta is neither 0 nor 1
            sigma = min(max(rng.uniform(0, 35) / epsilon, 1e-6), 1e15)
        value = gaussian_noise(item, sigma, 1.0, epsilon).delta
        truth = in_thousands_of_digits(1 / Fraction(sigma), Fraction(epsilon))
        check(value, truth)
        between += 0.0 < value < 1.0
    assert between > runs(4000) / 3


def test_the_ends() -> None:
    assert normal_delta(0.0, 1.0) == 0.0
    assert normal_delta(math.inf, 1.0) == 1.0
    assert normal_delta(1e-20, 1.0) == SMALLEST  # above the truth, which is not 0
    assert normal_delta(1.0, math.inf) == 0.0
    assert normal_delta(100.0, 1.0) == 1.0
    for distance, epsilon in ((1e-300, 0.0), (1e5, 5e9), (1e-150, 1e-150)):
        check(normal_delta(distance, epsilon), in_thousands_of_digits(
            Fraction(distance), Fraction(epsilon)))  # fmt: skip
    check(normal_delta(1e13, 5e25), flint.arb(0.4999049573), 1e-8)  # Phi(edge): 4e-11 above
    monotone = [normal_delta(d, 1e-6) for d in np.geomspace(1e-9, 30, 400)]
    assert monotone == sorted(monotone)


@pytest.mark.prove
def test_the_discrete_law_summed_in_balls() -> None:
    """The sum over the law itself in 300 bits; 2^-100 is what is added for what is cut off."""
    rng = np.random.default_rng(902)
    for _ in range(runs(300)):
        sigma, shift = float(10.0 ** rng.uniform(-1, 2)), int(rng.integers(1, 20))
        epsilon = float(10.0 ** rng.uniform(-12, 1.7))
        if rng.random() < 0.6:
            epsilon = float(rng.uniform(0, 8)) * shift / sigma
        value = discrete_gaussian_delta(sigma, shift, epsilon)
        truth = discrete_in_balls(Fraction(sigma), shift, Fraction(epsilon))
        assert value == 1.0 or flint.arb(value) >= truth, (sigma, shift, epsilon)
        assert flint.arb(value) <= truth * (1 + flint.arb(1e-9)) + 2.0**-99, (sigma, shift, epsilon)


def discrete_in_balls(sigma: Fraction, shift: int, epsilon: Fraction) -> flint.arb:
    before, flint.ctx.prec = flint.ctx.prec, 300
    try:
        variance = sigma * sigma

        def ball(x: Fraction) -> flint.arb:
            return flint.arb(flint.fmpq(x.numerator, x.denominator))

        def weight(k: int) -> flint.arb:
            return (-ball(k * k / (2 * variance))).exp()

        edge = variance * epsilon / shift + Fraction(shift, 2)  # the loss at k exceeds epsilon
        reach = math.ceil(20 * sigma) + shift + 5
        first = max(math.floor(edge) + 1, -reach)
        growth, above = ball(epsilon).exp(), flint.arb(0)
        for k in range(first, max(first, 0) + reach + shift):
            above += weight(k - shift) - growth * weight(k)
        return above / sum((weight(k) for k in range(-reach, reach + 1)), flint.arb(0))
    finally:
        flint.ctx.prec = before
