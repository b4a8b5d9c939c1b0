"""Partial pooling: calibrated with noise, against brute force without, and pulled together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import partial_pooling
from tests.effort import runs
from tests.programs.run.helpers import rng

SIZES = (10, 40, 80, 0, 25)
PRIOR = (-0.5, 0.8, 0.6)


def source(values: list[float], kind: str, scale: float) -> Noisy:
    exact = tuple(Fraction(value) for value in values)
    return Noisy(exact, AddedNoise(kind, scale), sum(SIZES), tuple("abcde"))


def about(family: str) -> list[float]:
    first = {"pooled_bernoulli": [], "pooled_poisson": [2.0 * sum(SIZES)], "pooled_normal": [2.0]}
    return [*first[family], *map(float, SIZES)]


def drawn(family: str, r: np.random.Generator) -> tuple[list[float], list[float]]:
    """Truths (groups, centre, spread) from the prior, and the groups' sums."""
    mean, sd, scale = PRIOR
    center, spread = r.normal(mean, sd), abs(r.normal(0, scale))
    t = r.normal(center, spread, len(SIZES))
    n = np.asarray(SIZES)
    if family == "pooled_bernoulli":
        return [*expit(t), center, spread], list(map(float, r.binomial(n, expit(t))))
    if family == "pooled_poisson":
        return [*np.exp(t), center, spread], list(map(float, r.poisson(2 * n * np.exp(t))))
    sums = r.normal(n * t, 2 * np.sqrt(n))
    return [*t, center, spread], list(map(float, sums))


@pytest.mark.prove
@pytest.mark.parametrize("family", ["pooled_bernoulli", "pooled_poisson", "pooled_normal"])
def test_intervals_hold_the_truth_as_often_as_they_say(family: str) -> None:
    r, many, inside = rng(len(family)), runs(400, 30), []
    for turn in range(many):
        kind = ("laplace", "gaussian")[turn % 2]
        truth, sums = drawn(family, r)
        noise = (r.laplace if kind == "laplace" else r.normal)(0, 3.0, len(sums))
        noisy = source([float(y) for y in np.asarray(sums) + noise], kind, 3.0)
        law = partial_pooling.posterior(noisy, family, about(family), PRIOR)
        inside.append((law.draws <= np.asarray(truth)).mean(axis=0))
    for column in np.asarray(inside).T:
        for level in (0.5, 0.9):
            held = int((np.abs(column - 0.5) <= level / 2).sum())
            assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


@pytest.mark.parametrize("aware", [True, False])
def test_two_groups_without_noise_are_those_of_brute_force(aware: bool) -> None:
    """All of centre, spread and both logits on one grid."""
    t = np.linspace(-4, 4, 121)
    center = np.linspace(-3.5, 3.5, 71)
    spread = np.linspace(0.02, 2.4, 60)
    mean, sd, scale = -0.2, 0.7, 0.5
    first, second = (stats.binom(n, expit(t)).pmf(k) for n, k in ((20, 4), (30, 15)))
    weights = np.zeros((2, len(t)))
    for s in spread:
        kernel = stats.norm(center[:, None], s).pdf(t[None, :])
        kernel /= kernel.sum(axis=1, keepdims=True)
        hyper = stats.norm(mean, sd).pdf(center) * np.exp(-0.5 * (s / scale) ** 2)
        each = kernel * first, kernel * second
        totals = [side.sum(axis=1) for side in each]
        weights[0] += ((hyper * totals[1])[:, None] * each[0]).sum(axis=0)
        weights[1] += ((hyper * totals[0])[:, None] * each[1]).sum(axis=0)
    due = (weights * expit(t)).sum(axis=1) / weights.sum(axis=1)
    noisy = Noisy((Fraction(4), Fraction(15)), AddedNoise("laplace", 1e-2), 50, ("a", "b"))
    law = partial_pooling.posterior(noisy, "pooled_bernoulli", [20, 30], (mean, sd, scale), aware)
    assert law.mean[:2] == pytest.approx(tuple(due), abs=0.006)
    assert law.names == ("a", "b", "center", "spread")


def test_small_groups_are_pulled_towards_the_others_and_empty_ones_are_predicted() -> None:
    noisy = source([10.0, 8.0, 16.0, 0.0, 5.0], "gaussian", 0.01)
    law = partial_pooling.posterior(
        noisy, "pooled_bernoulli", about("pooled_bernoulli"), (0.0, 2.0, 0.5)
    )
    assert law.mean[0] < 0.9 < 1.0  # ten of ten
    assert law.mean[1] == pytest.approx(0.22, abs=0.05)
    assert law.sd[3] > law.sd[1]


@pytest.mark.parametrize("value", [-1e9, 1e9])
def test_any_noise_has_a_posterior(value: float) -> None:
    for family in ("pooled_bernoulli", "pooled_poisson", "pooled_normal"):
        for aware in (True, False):
            noisy = source([value] * 5, "laplace", 50.0)
            law = partial_pooling.posterior(noisy, family, about(family), PRIOR, aware)
            assert np.all(np.isfinite(law.draws))


def test_groups_may_be_called_as_centre_and_spread_are() -> None:
    noisy = Noisy((Fraction(1), Fraction(2)), AddedNoise("laplace", 1.0), 9, ("center", "x"))
    law = partial_pooling.posterior(noisy, "pooled_bernoulli", [4, 5], PRIOR)
    assert law.names == ("center", "x", "center of groups", "spread of groups")


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_groups_likelihood_is_that_of_its_definition(kind: str) -> None:
    """The law of every true sum with the law of the noise, added up."""
    t, seen, n = np.asarray([-2.0, -0.5, 0.3, 1.5]), 6.3, 12
    noise = AddedNoise(kind, 2.0)
    law = (stats.laplace if kind == "laplace" else stats.norm)(0, 2.0)
    k = np.arange(400)
    about = {
        "pooled_bernoulli": (0.0, [stats.binom(n, expit(x)).pmf(k) for x in t]),
        "pooled_poisson": (3.0, [stats.poisson(3 * np.exp(x)).pmf(k) for x in t]),
    }
    for family, (each, chances) in about.items():
        actual = partial_pooling.log_likelihood(family, seen, (n, each), noise, t, True)
        due = np.log([(chance * law.pdf(seen - k)).sum() for chance in chances])
        assert np.diff(actual) == pytest.approx(np.diff(due), abs=1e-8)
    sums = np.linspace(-80, 120, 20001)
    actual = partial_pooling.log_likelihood("pooled_normal", seen, (n, 1.5), noise, t, True)
    due = [
        np.log((stats.norm(n * x, 1.5 * n**0.5).pdf(sums) * law.pdf(seen - sums)).sum()) for x in t
    ]
    assert np.diff(actual) == pytest.approx(np.diff(due), abs=1e-3)
