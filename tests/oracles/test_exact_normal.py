"""Gaussian mechanisms on Gaussian records: closed curves, and quadrature against other routes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage.normal_curve import normal_delta
from bayesdp.populations import Autoregressive, Clusters, Gaussian
from bayesdp.theorems.gaussian_noise import gaussian_noise
from tests.effort import runs
from tests.oracles import gaussian as oracle
from tests.oracles.exact_normal import clipped_sum_level, linear_query_curve


def random_covariance(rng, size):
    factor = rng.normal(size=(size, size + 2))
    return factor @ factor.T / size


def test_the_curve_of_two_normal_laws_by_integration():
    for distance, epsilon in itertools.product((0.05, 0.7, 3.0), (0.0, 0.3, 2.0)):
        integral = quad(
            lambda y, d=distance, e=epsilon: max(
                norm.pdf(y, d) - math.exp(e) * norm.pdf(y), 0.0
            ),
            -12, 16, points=[min(distance / 2 + epsilon / distance, 15.0)], epsabs=1e-14, limit=400,
        )[0]  # fmt: skip
        assert normal_delta(distance, epsilon) == pytest.approx(integral, abs=1e-10)


@pytest.mark.prove
def test_linear_queries_by_the_joint_law_of_records_and_outcome():
    """Second route: the covariance of (records, outcome), conditioned by Schur complements."""
    rng = np.random.default_rng(41)
    for _ in range(runs(200)):
        size = int(rng.integers(1, 5))
        cov, weights = random_covariance(rng, size), rng.normal(size=size)
        sigma, gap = float(rng.uniform(0.2, 3)), float(rng.uniform(0.1, 4))
        joint = np.zeros((size + 1, size + 1))
        joint[:size, :size], joint[size, :size] = cov, cov @ weights
        joint[:size, size], joint[size, size] = cov @ weights, weights @ cov @ weights + sigma**2
        best = 0.0
        for record in range(size):
            others = [j for j in range(size) if j != record]
            for count in range(size):
                for known in itertools.combinations(others, count):
                    slope, left = oracle.conditional(joint, [size], [record, *known])
                    best = max(best, abs(slope[0, 0]) * gap / math.sqrt(left[0, 0]))
        curve = linear_query_curve(cov, weights, sigma, gap)
        assert curve.distance == pytest.approx(best, rel=1e-9)
        delta = curve.delta(0.8)
        assert abs(delta.value - normal_delta(best, 0.8)) <= delta.error + 1e-12
        if 1e-9 < delta.value < 0.5:
            assert curve.epsilon(delta.value).value == pytest.approx(0.8, abs=1e-6)


def test_by_hand():
    """Two records, correlation .5: the mean moves by 1.5, the variance is .75 + 4."""
    curve = linear_query_curve([[1, 0.5], [0.5, 1]], [1, 1], 2.0, 1.0, adversary="uninformed")
    assert curve.distance == pytest.approx(1.5 / math.sqrt(4.75), rel=1e-12)
    informed = linear_query_curve([[1, 0.5], [0.5, 1]], [1, 1], 2.0, 1.0, adversary="informed")
    assert informed.distance == pytest.approx(0.5, rel=1e-12)


def test_reference_values_of_laplace_noise():
    """Theory 3.8: the same pair of records, secrets inside, outside and far outside."""
    cov = [[1.0, 0.1], [0.1, 1.0]]
    for secrets, level in (((-3, 3), 1.3196), ((6, -6), 1.4388), ((30, -30), 2.2404)):
        reached = clipped_sum_level(cov, [0, 0], (-3, 3), 1.2, record=0, secrets=secrets)
        assert round(reached.value, 4) == level
        assert reached.error < 1e-5


@pytest.mark.prove
def test_two_records_against_a_fine_grid():
    rng = np.random.default_rng(42)
    for _ in range(runs(20)):
        cov, mean = random_covariance(rng, 2), rng.normal(size=2)
        eps = float(rng.uniform(0.2, 2))
        there = oracle.laplace_sum_leakage(cov, mean, -1.0, 2.0, eps, adversary="uninformed")
        best = max(
            (
                clipped_sum_level(cov, mean, (-1.0, 2.0), eps, record=i, secrets=(-1.0, 2.0))
                for i in (0, 1)
            ),
            key=lambda item: item.value,
        )
        assert best.value + best.error >= there.level - 1e-9
        assert best.value - best.error <= there.upper


def test_three_records_by_simulated_draws():
    """Common draws on both sides; the factor of 3.8 b is never exceeded."""
    rng = np.random.default_rng(43)
    cov = np.array([[1.0, 0.275, 0.275], [0.275, 1.0, 0.275], [0.275, 0.275, 1.0]])
    reached = clipped_sum_level(cov, [0, 0, 0], (-1, 1), 1.0, record=1, secrets=(-1, 1))
    assert reached.value + reached.error <= oracle.shift_factor(cov, "uninformed")
    slope, left = oracle.conditional(cov, [0, 2], [1])
    noise = rng.multivariate_normal([0, 0], left, size=400_000)
    logs = []
    for value in (-1.0, 1.0):
        sums = np.clip(noise + slope[:, 0] * value, -1, 1).sum(axis=1) + value
        logs.append(
            np.log([np.mean(np.exp(-np.abs(y - sums) / 2.0)) for y in (-3.0, -1.0, 1.0, 3.0)])
        )
    gaps = np.abs(logs[0] - logs[1])
    assert gaps.max() == pytest.approx(reached.value, abs=5e-3)


def test_known_records_and_wrong_input():
    cov = np.eye(3) * 0.5 + 0.5
    level = clipped_sum_level(
        cov, [0, 0, 0], (0, 1), 0.7, record=0, secrets=(0, 1), known={1: 3.0, 2: -1.0}
    )
    assert level.value == pytest.approx(0.7, abs=1e-8)
    with pytest.raises(InputError, match="two records"):
        clipped_sum_level(np.eye(4), [0] * 4, (0, 1), 1.0, record=0, secrets=(0, 1))
    with pytest.raises(InputError, match="sigma"):
        linear_query_curve([[1.0]], [1.0], 0.0, 1.0)


@pytest.mark.prove
def test_gaussian_noise_on_a_clipped_sum_is_never_above_its_curve():
    """Two records: the true hockey-stick divergence of the clipped sum by integration."""
    rng = np.random.default_rng(44)
    for _ in range(runs(60)):
        cov, mean = random_covariance(rng, 2), rng.normal(size=2)
        sigma, epsilon = float(rng.uniform(0.5, 4)), float(rng.uniform(0, 2))
        bound = gaussian_noise(Gaussian(covariance=cov.tolist()), sigma, 2.0, epsilon).delta
        for item, other in ((-1.0, 1.0), (1.0, -1.0)):
            assert _divergence(cov, mean, sigma, epsilon, item, other) <= bound + 1e-9


def _divergence(cov, mean, sigma, epsilon, item, other):
    slope, left = oracle.conditional(cov, [1], [0])
    z, weight = np.polynomial.hermite_e.hermegauss(120)
    weight = weight / weight.sum()
    y = np.linspace(-2 - 10 * sigma, 2 + 10 * sigma, 4001)
    densities = []
    for value in (item, other):
        draws = mean[1] + slope[0, 0] * (value - mean[0]) + math.sqrt(left[0, 0]) * z
        sums = value + np.clip(draws, -1, 1)
        densities.append(norm.pdf(y[:, None], sums, sigma) @ weight)
    excess = np.maximum(densities[0] - math.exp(epsilon) * densities[1], 0.0)
    return float(excess.sum() * (y[1] - y[0]))


def test_gaussian_noise_values_and_refusals():
    pair = Gaussian(covariance=[[1.0, 0.4483], [0.4483, 1.0]])
    actual = gaussian_noise(pair, 4.0, 1.0, 1.0)
    assert actual.delta == pytest.approx(normal_delta(1.4483 / 4.0, 1.0), rel=1e-9)
    assert gaussian_noise(pair, 4.0, 1.0, 1.0, adversary="informed").delta == pytest.approx(
        normal_delta(0.25, 1.0), rel=1e-9
    )
    fine = gaussian_noise(pair, 4096.0, 1024.0, 1.0, discrete=True)
    assert actual.delta < fine.delta < actual.delta * 1.03
    series = gaussian_noise(Autoregressive(coefficient=0.5, length=1000), 12.0, 1.0, 1.0)
    assert series.delta == pytest.approx(normal_delta(3.0 / 12.0, 1.0), rel=1e-6)
    with pytest.raises(UnsupportedError, match="Gaussian"):
        gaussian_noise(Clusters(size=2), 1.0, 1.0, 1.0)
    with pytest.raises(InputError, match="whole number"):
        gaussian_noise(pair, 4.0, 1.5, 1.0, discrete=True)
