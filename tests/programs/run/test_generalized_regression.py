"""Logistic and Poisson regressions: moments of responses, the grid, brute force, calibration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesdp.programs.run.numerics import ensemble
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import generalized_regression
from bayesdp.programs.run.posteriors.generalized_regression import RegressionRows
from bayesdp.programs.run.results import distributions
from tests.effort import in_full, runs
from tests.programs.run.helpers import rng

PRIOR = distributions.single("normal", 0.0, 1.0)


def noisy_moments(
    x: np.ndarray, w: np.ndarray, kind: str, scale: float, r: np.random.Generator
) -> Noisy:
    rows = np.c_[np.ones(len(w)), x, w]
    seen = (rows.T @ rows)[np.triu_indices(rows.shape[1])]
    seen = seen + scale * (r.laplace if kind == "laplace" else r.normal)(size=len(seen))
    return Noisy(tuple(Fraction(float(y)) for y in seen), AddedNoise(kind, scale), len(w))


@pytest.mark.parametrize("most", [1, 2, 3, 12, 900])
def test_means_and_variances_of_clipped_counts_are_those_of_their_sums(most: int) -> None:
    design = RegressionRows("poisson_regression", most, ())
    predictor = np.asarray([-3.0, 0.0, 1.0, 2.5])
    mean, variance = design.response(predictor)
    for eta, m, v in zip(predictor, mean, variance, strict=True):
        k = np.arange(2000)
        p = stats.poisson(np.exp(eta)).pmf(k)
        w = 2 * np.minimum(k, most) / most - 1
        assert m == pytest.approx(p @ w, abs=1e-9)
        assert v == pytest.approx(p @ (w - p @ w) ** 2, abs=1e-9)


def test_truth_values_are_counts_up_to_one() -> None:
    mean, variance = RegressionRows("logistic", 1, ()).response(np.asarray([-1.0, 0.0, 2.0]))
    p = expit([-1.0, 0.0, 2.0])
    assert mean == pytest.approx(2 * p - 1)
    assert variance == pytest.approx(4 * p * (1 - p))


def test_the_grid_has_the_values_of_features_with_few() -> None:
    design = RegressionRows.of("logistic", [1, 0, 1, 2, 1, 1, 1, 18, 90, 0])
    assert design.names == ("b0", "b1", "b2")
    points, scaled = design.grid
    assert set(points[:, 0]) == {0.0, 1.0}
    assert set(points[:, 1]) == {1.0}
    assert points[:, 2].min() == 18
    assert scaled[:, 0].tolist() == [1.0] * len(points)
    assert set(scaled[:, 1]) == {-1.0, 1.0}
    assert scaled[:, 2] == pytest.approx((points[:, 2] - 54) / 36)


@pytest.mark.parametrize("features", [1, 2, 3, 4])
def test_even_laws_of_features_have_their_moments(features: int) -> None:
    """So many records tell the second from the fourth moment: one of equal weights is off there."""
    about = [1.0, 1, 1, 1] + [-1, 1, 0] * features
    design = RegressionRows.of("logistic", about)
    weights, (points, _) = np.exp(design.even), design.grid
    assert weights.sum() == pytest.approx(1)
    for column in points.T[1:]:
        for power in (1, 2, 3, 4):
            due = 1 / (power + 1) if power % 2 == 0 else 0.0
            assert weights @ column**power == pytest.approx(due, abs=1e-12)
        assert {column.min(), column.max()} == {-1.0, 1.0}
    few = RegressionRows.of("logistic", [1, 1, 1, 1, 0, 1, 2])
    assert np.exp(few.even) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("most", [1, 20, 900])
def test_what_is_looked_up_is_the_response(most: int) -> None:
    design = RegressionRows("poisson_regression", most, ())
    predictor = np.concatenate([[-40.0, -30.0, 30.0, 40.0], rng(1).uniform(-12, 12, 400)])
    mean, variance = design.response(predictor)
    quick = design.looked_up(predictor)
    assert quick[0] + 1 == pytest.approx(mean + 1, rel=2e-5, abs=1e-12)
    assert quick[1] == pytest.approx(variance, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("features", [1, 2])
def test_a_density_is_that_of_its_definition(features: int) -> None:
    """Of each point for itself, by sums over the grid and SciPy's normal density."""
    r, n, scale = rng(6), 300, 4.0
    x = r.uniform(-1, 1, (n, features))
    w = np.where(r.random(n) < expit(x.sum(axis=1)), 1.0, -1.0)
    rows = np.c_[np.ones(n), x, w]
    whole = rows.T @ rows
    seen = whole[np.triu_indices(features + 2)]
    noisy = Noisy(tuple(Fraction(float(y)) for y in seen), AddedNoise("gaussian", scale), n)
    design = RegressionRows.of("logistic", [1, 1, 1, 1] + [-1, 1, 0] * features)
    target = generalized_regression.NoisyRegression(
        noisy, design, np.zeros(features + 1), np.ones(features + 1), None
    )
    points, even = design.grid[0], np.exp(design.even)
    pairs = [(i, j) for i in range(features + 1) for j in range(i, features + 1) if j]
    moments = np.stack([points[:, i] * points[:, j] for i, j in pairs], axis=1)
    at = 0.3 * r.normal(size=(4, len(pairs) + features + 1))

    def due(t: np.ndarray, b: np.ndarray) -> float:
        law = even * np.exp(moments @ t)
        law = law / law.sum()
        mean = law @ moments
        spread = sum(p * np.outer(m - mean, m - mean) for p, m in zip(law, moments, strict=True))
        off = [whole[pair] for pair in pairs] - n * mean
        logs = np.log(np.linalg.det(spread)) - (off**2).sum() / (2 * scale**2) - b @ b / 2
        chance = expit(points @ b)
        centre = n * (law * (2 * chance - 1)) @ points
        covariance = scale**2 * np.eye(features + 1) + n * sum(
            p * 4 * c * (1 - c) * np.outer(u, u)
            for p, c, u in zip(law, chance, points, strict=True)
        )
        # What of the means is not linear in the moments, by weighted least squares.
        root = np.sqrt(law)[:, None]
        linear = np.c_[np.ones(len(law)), moments]
        means = points * (2 * chance - 1)[:, None]
        left = root * (means - linear @ np.linalg.lstsq(root * linear, root * means)[0])
        covariance = covariance + n * left.T @ left
        return float(logs + stats.multivariate_normal(centre, covariance).logpdf(whole[:-1, -1]))

    wanted = [due(point[: len(pairs)], point[len(pairs) :]) for point in at]
    assert np.diff(target(at)) == pytest.approx(np.diff(wanted), rel=1e-6)


def test_sums_over_features_of_known_moments_vary_as_is_said() -> None:
    """Features at random; of the sum of u E[w], what their moments don't tell."""
    r, n, b = rng(8), 400, np.asarray([0.3, 2.2])
    design = RegressionRows.of("poisson_regression", [20, 1, 1, 1, -1, 1, 0])
    x = r.uniform(-1, 1, (runs(20_000, least=4000), n))
    mean, _ = design.response(b[0] + b[1] * x)
    sums = np.c_[mean.sum(axis=1), (mean * x).sum(axis=1)]
    moments = np.c_[np.ones(len(x)), x.sum(axis=1), (x**2).sum(axis=1)]
    left = sums - moments @ np.linalg.lstsq(moments, sums)[0]
    wanted = left.T @ left / len(x)
    seen = (0.0,) * 6
    noisy = Noisy(tuple(Fraction(y) for y in seen), AddedNoise("gaussian", 1.0), n)
    target = generalized_regression.NoisyRegression(noisy, design, np.zeros(2), np.ones(2), None)
    law = target.law(np.zeros((1, 2)))
    off = law @ target.moments - target.middle
    spread = (law @ target.products).reshape(-1, 2, 2) - off[:, :, None] * off[:, None, :]
    _, whole = target.sums(law, b[None], off, spread)
    _, variance = design.response(design.grid[0] @ b)
    of_responses = n * ((law * variance) @ target.squares).reshape(2, 2)
    assert whole[0] - of_responses == pytest.approx(wanted, rel=0.15)
    assert (whole[0] - of_responses)[1, 1] > 0.1 * of_responses[1, 1]  # not to be left out


@pytest.mark.parametrize("family", ["logistic", "poisson_regression"])
def test_many_records_have_the_coefficients_that_made_them(family: str) -> None:
    """200,000 records with a feature that is even in its bounds, hardly any noise, a steep line."""
    r, many, b = rng(4), 200_000, np.asarray([0.4, -2.7])
    most = 1 if family == "logistic" else 20
    x = r.uniform(-1, 1, many)
    eta = b[0] + b[1] * x
    y = r.random(many) < expit(eta) if most == 1 else np.minimum(r.poisson(np.exp(eta)), most)
    noisy = noisy_moments(x, 2 * y / most - 1, "gaussian", 5.0, r)
    law = generalized_regression.posterior(noisy, family, [most, 1, 1, 1, -1, 1, 0], PRIOR)
    off = (np.asarray(law.mean) - b) / np.asarray(law.sd)
    assert np.all(np.abs(off) < 4.5)  # 6 and more on a grid of equal weights


def test_without_noise_the_posterior_is_that_of_brute_force() -> None:
    """A two-valued feature: the likelihood of both coefficients on a grid, by its definition."""
    r = rng(2)
    x = np.repeat([0.0, 1.0], [300, 200])
    y = (r.random(500) < expit(-0.5 + 1.2 * x)).astype(float)
    noisy = noisy_moments(2 * x - 1, 2 * y - 1, "gaussian", 0.3, r)
    law = generalized_regression.posterior(noisy, "logistic", [1, 1, 1, 1, 0, 1, 2], PRIOR)
    a, b = np.meshgrid(np.linspace(-2, 1, 121), np.linspace(-0.5, 3, 121), indexing="ij")
    logs = -(a**2 + b**2) / 2
    for at in (0.0, 1.0):
        p, here = expit(a + b * at), y[x == at]
        logs += here.sum() * np.log(p) + (len(here) - here.sum()) * np.log1p(-p)
    weight = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    means = (weight * a).sum(), (weight * b).sum()
    spreads = [np.sqrt((weight * (z - m) ** 2).sum()) for z, m in zip((a, b), means, strict=True)]
    assert law.names == ("intercept", "b1")
    assert law.mean == pytest.approx(means, abs=0.05)
    assert law.sd == pytest.approx(spreads, rel=0.12)


@pytest.mark.prove
@pytest.mark.parametrize("family", ["logistic", "poisson_regression"])
def test_intervals_hold_the_truth_as_often_as_they_say(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_full():
        monkeypatch.setattr(ensemble, "KEPT", 32)  # with fewer steps not all chains agree
    r, many, inside = rng(7), runs(200, 3), []
    most = 1 if family == "logistic" else 20
    for turn in range(many):
        kind, scale = ("gaussian", 10.0) if turn % 2 else ("laplace", 6.0)
        b, x = r.normal(0, 1, 2), r.uniform(-1, 1, 1000)
        eta = b[0] + b[1] * x
        y = r.random(1000) < expit(eta) if most == 1 else np.minimum(r.poisson(np.exp(eta)), most)
        noisy = noisy_moments(x, 2 * y / most - 1, kind, scale, r)
        law = generalized_regression.posterior(noisy, family, [most, 1, 1, 1, -1, 1, 0], PRIOR)
        assert isinstance(law, distributions.Samples)
        assert max(about["r_hat"] for about in law.diagnostics.values()) < 1.05
        inside.append((law.draws <= b).mean(axis=0))
    for column in np.asarray(inside).T:
        for level in (0.5, 0.9):
            held = int((np.abs(column - 0.5) <= level / 2).sum())
            assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


@pytest.mark.parametrize("value", [-1e8, 1e8])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_any_noise_has_a_posterior(
    value: float, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensemble, "KEPT", 4)
    for n in (0, 1, 50):
        for aware in (True, False):
            noisy = Noisy((Fraction(value),) * 6, AddedNoise(kind, 40.0), n)
            law = generalized_regression.posterior(
                noisy, "logistic", [1, 1, 1, 1, -1, 1, 0], PRIOR, aware
            )
            assert np.all(np.isfinite(law.mean))
