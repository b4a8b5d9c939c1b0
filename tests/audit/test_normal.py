"""Attacks on Gaussian records against quadrature, against theory, and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import bayesdp as bdp
from bayesdp.audit import attack_normal
from bayesdp.audit.draws import draw_normal
from bayesdp.audit.normal import covariance_of
from bayesdp.errors import InputError, UnsupportedError
from tests.effort import runs

Rng = np.random.Generator


def covariance(rng: Rng, size: int) -> np.ndarray:
    loadings = rng.normal(size=(size, size))
    return np.asarray(loadings @ loadings.T + 0.3 * np.eye(size))


@pytest.mark.prove
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_success_is_half_of_what_overlaps_not(noise: str) -> None:
    """The release's law given each value, by quadrature: the best guess takes the larger one."""
    for seed in range(runs(40, least=4)):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 5))
        matrix, weights = covariance(rng, size), rng.normal(size=size)
        record, scale = int(rng.integers(size)), float(rng.uniform(0.3, 3.0))
        known = [j for j in range(size) if j != record and rng.random() < 0.4]
        values = float(rng.normal()), float(rng.normal())
        seen = attack_normal(
            bdp.Gaussian(matrix.tolist()),
            record,
            values,
            scale=scale,
            noise=noise,  # type: ignore[arg-type]
            known=known,
            weights=weights,
        )
        # By hand: the joint law of the record, the known records and the sum of the others.
        given = [record, *known]
        others = [j for j in range(size) if j not in given]
        inverse = np.linalg.inv(matrix[np.ix_(given, given)])
        slope = (matrix[np.ix_(others, given)] @ inverse)[:, 0]
        shift = abs((weights[record] + weights[others] @ slope) * (values[1] - values[0]))
        left = matrix[np.ix_(others, others)] - (
            matrix[np.ix_(others, given)] @ inverse @ matrix[np.ix_(given, others)]
        )
        spread = math.sqrt(max(float(weights[others] @ left @ weights[others]), 0.0))
        assert seen.shift == pytest.approx(shift)
        assert seen.spread == pytest.approx(spread, abs=1e-7)

        def density(z: float, spread: float = spread, scale: float = scale) -> float:
            if noise == "gaussian":
                return float(norm.pdf(z, scale=math.hypot(spread, scale)))
            if spread < 1e-9:
                return math.exp(-abs(z) / scale) / (2 * scale)
            inner = quad(
                lambda u: norm.pdf(z - u, scale=spread) * math.exp(-abs(u) / scale) / (2 * scale),
                z - 9 * spread,
                z + 9 * spread,
                points=[0.0] if abs(z) < 9 * spread else None,
            )
            return float(inner[0])

        overlap = 2 * quad(density, shift / 2, shift / 2 + 60 * (scale + spread), limit=200)[0]
        assert seen.success == pytest.approx(1.0 - overlap / 2, abs=2e-5)
        if noise == "gaussian":
            assert seen.level == math.inf
            continue
        assert seen.level == pytest.approx(shift / scale)
        if spread > 1e-3:
            far = shift + 12 * spread + 9 * spread**2 / scale  # where the ratio is its largest
            ratio = math.log(density(far - shift) / density(far))
            assert ratio == pytest.approx(seen.level, rel=2e-2)


def test_the_level_is_that_of_theory() -> None:
    """Equal correlations: the shift is 1 + (m - 1) rho, and no record known is best."""
    population = bdp.Gaussian(size=4, correlation=0.3)
    seen = attack_normal(population, 0, (-1.0, 1.0), scale=2.0)
    assert seen.level == pytest.approx(1.9)
    level = population.leakage(1.0, kind="lipschitz").best.epsilon
    assert seen.level <= level * (1 + 1e-9)
    knowing = attack_normal(population, 0, (-1.0, 1.0), scale=2.0, known=[1, 2, 3])
    assert knowing.level == pytest.approx(1.0)
    assert knowing.spread == 0.0


def test_simulated_guesses_are_as_often_right() -> None:
    rng, number = np.random.default_rng(4), 40_000
    population = bdp.Autoregressive(0.6, 8)
    seen = attack_normal(population, 3, (0.0, 1.5), scale=2.0)
    right = 0
    for value in (0.0, 1.5):
        drawn = draw_normal(covariance_of(population), number, {3: value}, rng)
        release = drawn.sum(axis=1) + rng.laplace(scale=2.0, size=number)
        middle = 1.5 / 2 * seen.shift / 1.5  # the means are 0 and the shift
        right += int(((release > middle) == (value > 0.0)).sum())
    sigma = math.sqrt(seen.success * (1 - seen.success) / (2 * number))
    assert abs(right / (2 * number) - seen.success) < 4 * sigma


def test_draws_have_the_conditional_law() -> None:
    rng = np.random.default_rng(9)
    matrix = covariance(rng, 3)
    drawn = draw_normal(matrix, 200_000, {1: 0.7}, rng)
    assert (drawn[:, 1] == 0.7).all()
    rest = [0, 2]
    slopes = matrix[rest, 1] / matrix[1, 1]
    assert drawn[:, rest].mean(axis=0) == pytest.approx(slopes * 0.7, abs=0.03)
    due = matrix[np.ix_(rest, rest)] - np.outer(slopes, slopes) * matrix[1, 1]
    assert np.cov(drawn[:, rest].T) == pytest.approx(due, rel=0.03, abs=0.03)


def test_covariances_of_all_forms() -> None:
    assert covariance_of(bdp.Gaussian(size=3, max_correlation=0.2))[0].tolist() == [1.0, 0.2, 0.2]
    precision = [[2.0, -1.0], [-1.0, 2.0]]
    inverse = covariance_of(bdp.Gaussian(precision=precision))
    assert inverse @ np.array(precision) == pytest.approx(np.eye(2))
    series = covariance_of(bdp.Autoregressive(0.5, 10**6), records=3)
    assert series[0].tolist() == [1.0, 0.5, 0.25]
    with pytest.raises(UnsupportedError, match="at most 2000 Gaussian records"):
        covariance_of(bdp.Autoregressive(0.5, 10**6))
    with pytest.raises(UnsupportedError, match="one column"):
        covariance_of(bdp.Gaussian(size=3, max_regression_sum=0.2))
    with pytest.raises(UnsupportedError, match="a Gaussian population"):
        covariance_of(bdp.Clusters(2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"record": 4}, "record is 4: expected a record of the population: 0 to 3"),
        ({"known": [0]}, "known"),
        ({"known": [9]}, "known"),
        ({"scale": 0.0}, "scale is 0"),
        ({"weights": [1.0]}, "weights: expected 4 numbers"),
    ],
)
def test_wrong_arguments_are_named(changes: dict[str, object], message: str) -> None:
    given = {"record": 0, "values": (0.0, 1.0), "scale": 1.0} | changes
    with pytest.raises(InputError, match=message):
        attack_normal(bdp.Gaussian(size=4, correlation=0.3), **given)  # type: ignore[arg-type]
