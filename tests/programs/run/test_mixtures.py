"""Mixtures from noisy histograms: their density by brute force, calibration, and any noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bayesdp.programs.run.numerics import ensemble
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import mixtures
from bayesdp.programs.run.results import distributions
from tests.effort import runs
from tests.programs.run.helpers import rng

PRIOR = distributions.single("normal", 5, 2)


def histogram(x: np.ndarray, bins: int) -> np.ndarray:
    return np.bincount(np.minimum((x / 10 * bins).astype(int), bins - 1), minlength=bins)


def source(counts: list[float], kind: str, scale: float, n: int) -> Noisy:
    exact = tuple(Fraction(float(count)) for count in counts)
    return Noisy(exact, AddedNoise(kind, scale), n)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_density_is_that_of_its_definition(kind: str) -> None:
    """Poisson counts of every bin, summed over all counts that there can be; prior and shares."""
    n, seen = 30, [3.2, 8.9, 14.1, 5.5]
    law = mixtures.NoisyMixture(source(seen, kind, 2.0, n), [0, 2.5, 0.8, 1.6], PRIOR, True)

    def due(means: tuple[float, float], share: float) -> float:
        edges = [-np.inf, 2.5, 5.0, 7.5, np.inf]
        total = stats.norm(5, 2).logpdf(means).sum() + np.log(share * (1 - share))
        counts = np.arange(n + 1)
        for j, y in enumerate(seen):
            chance = sum(
                w * np.diff(stats.norm(m, sd).cdf(edges[j : j + 2]))[0]
                for w, m, sd in ((share, means[0], 0.8), (1 - share, means[1], 1.6))
            )
            noise = (stats.laplace if kind == "laplace" else stats.norm)(0, 2).pdf(y - counts)
            total += np.log((stats.poisson(n * chance).pmf(counts) * noise).sum())
        return float(total)

    points = [((4.0, 6.0), 0.3), ((2.0, 7.0), 0.8), ((6.0, 3.0), 0.5)]
    at = np.asarray([[*means, np.log(share / (1 - share))] for means, share in points])
    actual = law(at)
    wanted = [due(*point) for point in points]
    assert np.diff(actual) == pytest.approx(np.diff(wanted), abs=2e-3)


@pytest.mark.prove
@pytest.mark.usefixtures("few_draws")
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    r, many, inside, sds = rng(5), runs(160, 3), [], np.asarray([0.5, 1.5])
    for _ in range(many):
        means, share = r.normal(5, 2, 2), r.random()
        part = (r.random(800) > share).astype(int)
        x = np.clip(r.normal(means[part], sds[part]), 0, 10)
        noisy = histogram(x, 24) + r.laplace(0, 2, 24)
        law = mixtures.posterior(source(noisy, "laplace", 2.0, 800), [0, 10 / 24, *sds], PRIOR)
        truth = np.asarray([*means, share, 1 - share])
        inside.append((law.draws <= truth).mean(axis=0))
    for column in np.asarray(inside).T:
        for level in (0.5, 0.9):
            held = int((np.abs(column - 0.5) <= level / 2).sum())
            assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


@pytest.mark.usefixtures("few_draws")
def test_parts_of_one_deviation_are_in_order_and_found_again() -> None:
    r = rng(1)
    x = np.clip(np.concatenate([r.normal(3, 0.6, 700), r.normal(7, 0.6, 300)]), 0, 10)
    counts = source(list(histogram(x, 40)), "laplace", 0.5, 1000)
    for aware in (True, False):
        law = mixtures.posterior(counts, [0, 0.25, 0.6, 0.6], PRIOR, aware)
        assert law.names == ("mean 1", "mean 2", "share 1", "share 2")
        assert law.mean == pytest.approx((3, 7, 0.7, 0.3), abs=0.1)
        assert np.all(law.draws[:, 0] <= law.draws[:, 1])
        assert max(about["r_hat"] for about in law.diagnostics.values()) < 1.05


@pytest.mark.parametrize("value", [-1e6, 1e6])
def test_any_noise_has_a_posterior(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "KEPT", 4)
    for n in (0, 20):
        for aware in (True, False):
            noisy = source([value] * 5, "laplace", 50.0, n)
            law = mixtures.posterior(noisy, [0, 2, 1, 2], PRIOR, aware)
            assert np.all(np.isfinite(law.draws))
