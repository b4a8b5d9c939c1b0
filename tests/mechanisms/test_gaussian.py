"""The privacy curve of discrete Gaussian noise: from its definition, and against references."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest
from scipy.special import ndtr

from bayesdp.accounting.costs.delta_composition import DiscreteGaussianEvent
from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta, smallest_sigma
from bayesdp.tables.queries.grid import Grid
from tests.effort import runs


def by_definition(sigma: float, shift: int, eps: float) -> flint.arb:
    """`sum of (P[X = x - s] - e^eps P[X = x])+` in 200-bit balls."""
    flint.ctx.prec, before = 200, flint.ctx.prec
    try:
        reach = math.ceil(30 * sigma) + shift + 10
        twice = 2 * flint.arb(sigma) ** 2
        weight = {x: (-flint.arb(x * x) / twice).exp() for x in range(-reach - shift, reach + 1)}
        total = sum(weight.values(), flint.arb(0))
        growth = flint.arb(eps).exp()
        delta = flint.arb(0)
        for x in range(-reach, reach + 1):
            gain = weight[x - shift] - growth * weight[x]
            if gain > 0:
                delta += gain
        return delta / total
    finally:
        flint.ctx.prec = before


SIGMAS = [0.2, 0.5, 1.0, 3.73063, 12.0]


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("eps", [0.0, 1e-6, 0.1, 1.0, 4.0])
def test_against_the_definition(sigma: float, shift: int, eps: float) -> None:
    actual = discrete_gaussian_delta(sigma, shift, eps)
    truth = by_definition(sigma, shift, eps)
    assert not flint.arb(actual) < truth
    assert actual <= float(truth) * (1 + 1e-9) + 1e-25


def test_reference_values() -> None:
    """On integers 3.73063 just misses 1e-5: the continuous curve is not the discrete one's."""
    assert discrete_gaussian_delta(3.73063, 1, 1.0) == pytest.approx(1.03457e-5, rel=1e-5)
    assert _balle_wang(3.73063, 1.0, 1.0) <= 1.00001e-5
    assert smallest_sigma(1, 1.0, 1e-5, precision=1e-9) > 3.73063


@pytest.mark.parametrize(("eps", "due"), [(0.1, 30.750), (0.5, 7.0318)])
def test_fine_grids_have_the_continuous_sigma(eps: float, due: float) -> None:
    sigma = smallest_sigma(200, eps, 1e-5, precision=1e-7) / 200
    assert sigma == pytest.approx(due, rel=3e-5)
    assert discrete_gaussian_delta(sigma * 200, 200, eps) <= 1e-5


def _balle_wang(sigma: float, shift: float, eps: float) -> float:
    a, b = shift / (2 * sigma), eps * sigma / shift
    return float(ndtr(a - b) - math.exp(eps) * ndtr(-a - b))


@pytest.mark.parametrize("eps", [0.01, 0.3, 2.0])
def test_the_curve_of_a_large_sigma_is_the_continuous_one(eps: float) -> None:
    for sigma, shift in ((300.0, 100), (300.0, 700), (2000.0, 1000)):
        due = _balle_wang(sigma, shift, eps)
        # the sum is a Riemann sum of a function with kinks: off by about one part in sigma^2
        assert discrete_gaussian_delta(sigma, shift, eps) == pytest.approx(due, rel=2e-3)


def test_less_noise_a_larger_shift_or_a_smaller_epsilon_cost_more() -> None:
    base = discrete_gaussian_delta(2.0, 3, 0.7)
    assert discrete_gaussian_delta(1.7, 3, 0.7) > base
    assert discrete_gaussian_delta(2.0, 4, 0.7) > base
    assert discrete_gaussian_delta(2.0, 3, 0.6) > base
    assert discrete_gaussian_delta(2.0, 3, 1000.0) <= 1e-29


@pytest.mark.parametrize("case", range(runs(60)))
def test_the_smallest_sigma_fits_and_hardly_less_does(case: int) -> None:
    import numpy as np

    rng = np.random.default_rng(case)
    shift, eps = int(rng.integers(1, 40)), float(10 ** rng.uniform(-1, 1))
    delta = float(10 ** rng.uniform(-9, -2))
    sigma = smallest_sigma(shift, eps, delta, precision=1e-6)
    assert discrete_gaussian_delta(sigma, shift, eps) <= delta
    assert discrete_gaussian_delta(sigma * (1 - 1e-5), shift, eps) > delta


def test_noise_of_too_many_steps_is_not_found() -> None:
    assert smallest_sigma(10**6, 1e-3, 1e-9) == math.inf
    assert smallest_sigma(1, 1e-9, 1e-12) == math.inf


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1, 1.0), "sigma"),
        ((math.inf, 1, 1.0), "sigma"),
        ((math.nan, 1, 1.0), "sigma"),
        ((1.0, 0, 1.0), "sensitivity"),
        ((1.0, 1.5, 1.0), "sensitivity"),
        ((1.0, True, 1.0), "sensitivity"),
        ((1e9, 1, 1.0), "sigma"),
        ((1.0, 1, -0.1), "dp_epsilon"),
        ((1.0, 1, math.nan), "dp_epsilon"),
    ],
)
def test_wrong_arguments_are_named(arguments, name: str) -> None:
    with pytest.raises(InputError, match=name):
        discrete_gaussian_delta(*arguments)


@pytest.mark.parametrize("number", [1, 9, 100])
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8])
def test_numpy_integers_are_whole_numbers_without_a_width(number: int, kind: type) -> None:
    given = kind(number)
    for scale in (0.5, 1.5, 100.5, 1000.3):
        noise, laplace = DiscreteGaussian(scale), DiscreteLaplace(scale)
        assert noise.cost(given) == noise.cost(number)
        assert laplace.cost(given) == laplace.cost(number)
    assert DiscreteGaussian.for_cost(given, 0.3) == DiscreteGaussian.for_cost(number, 0.3)
    assert DiscreteLaplace.for_cost(given, 0.3) == DiscreteLaplace.for_cost(number, 0.3)
    assert discrete_gaussian_delta(10.0, given, 0.5) == discrete_gaussian_delta(10.0, number, 0.5)
    event = DiscreteGaussianEvent(20.0, given, given)
    assert (type(event.sensitivity), type(event.times)) == (int, int)
    assert Grid.plan(0.0, 1.0, given, dp_epsilon=0.1) == Grid.plan(0.0, 1.0, number, dp_epsilon=0.1)


def test_large_numpy_integers_do_not_overflow() -> None:
    noise = DiscreteGaussian(100.5)
    assert noise.cost(np.int64(10**6)) == noise.cost(10**6)
    assert noise.cost(np.int64(5 * 10**18)) == noise.cost(5 * 10**18) > 0.0
    many = np.int64(2**40)
    assert Grid.plan(0.0, 100.0, many, dp_epsilon=0.1) == Grid.plan(
        0.0, 100.0, 2**40, dp_epsilon=0.1
    )
    with pytest.raises(InputError):
        Grid.plan(0.0, 100.0, np.int64(2**55), dp_epsilon=0.1)
    with pytest.raises(InputError):
        DiscreteGaussianEvent(20.0, 1.5)  # type: ignore[arg-type]
