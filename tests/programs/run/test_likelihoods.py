"""Posteriors of more likelihoods: against brute force without noise, and calibrated with it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesdp.programs.ir import Expr
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import normal_records
from bayesdp.programs.run.posteriors.from_releases import derived
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.run.results.distributions import Distribution, Joint, Samples
from tests.effort import in_full, runs
from tests.programs.run.helpers import rng

Table = tuple[tuple[float, ...], list[float], int]


class NoValues:
    """Parameters that are literals."""

    def number(self, expr: Expr) -> Fraction:
        value = expr.data[0]
        assert isinstance(value, Fraction)
        return value


def likelihood(family: str, *numbers: float) -> Expr:
    parts = tuple(Expr("const", (), (Fraction(number),)) for number in numbers)
    return Expr("likelihood", parts, (family,))


def failures(r: np.random.Generator, n: int) -> Table:
    chance = r.beta(2, 3)
    return (chance,), [float(r.negative_binomial(2, chance, n).sum())], n


def times(r: np.random.Generator, n: int) -> Table:
    rate = r.gamma(3, 1 / 30)
    return (rate,), [float(r.exponential(1 / rate, n).sum() / 200)], n


def censored(r: np.random.Generator, n: int) -> Table:
    rate, end = r.gamma(3, 1 / 30), r.uniform(5, 30, n)
    full = r.exponential(1 / rate, n)
    return (rate,), [float((full <= end).sum()), float(np.minimum(full, end).sum() / 30)], n


def heights(r: np.random.Generator, n: int) -> Table:
    variance = 1 / r.gamma(4, 1 / 300)
    mean = r.normal(160, np.sqrt(variance / 2))
    u = (r.normal(mean, np.sqrt(variance), n) - 150) / 100
    return (mean, np.sqrt(variance)), [float(n), float(u.sum()), float((u**2).sum())], n


def hours(r: np.random.Generator, n: int) -> Table:
    shares = r.dirichlet([1, 2, 3])
    chances = shares * np.asarray([8.0, 2.0, 1.0])
    return tuple(shares), list(map(float, r.multinomial(n, chances / chances.sum()))), n


CASES: dict[str, tuple[Callable[..., Table], Expr, Distribution]] = {
    "failures": (failures, likelihood("negative_binomial", 2), d.single("beta", 2, 3)),
    "times": (times, likelihood("exponential_time", 200), d.single("gamma", 3, 30)),
    "censored": (censored, likelihood("exponential_time", 30), d.single("gamma", 3, 30)),
    "heights": (
        heights,
        likelihood("normal_unknown", 150, 100),
        normal_records.prior_of((160, 2, 4, 300)),
    ),
    "hours": (
        hours,
        likelihood("categorical_exposed", 8, 2, 1),
        d.dirichlet(np.asarray([1.0, 2.0, 3.0]), ("a", "b", "c")),
    ),
}


def posterior(case: str, table: Table, noise: AddedNoise, op: str = "noise-aware") -> Any:
    _, seen, n = table
    values = tuple(Fraction(value) for value in seen)
    _, about, prior = CASES[case]
    source = Noisy(values, noise, n, ("a", "b", "c") if case == "hours" else ())
    return derived(op, source, about, prior, NoValues())  # type: ignore[arg-type]


def places(law: Any, truth: tuple[float, ...]) -> list[float]:
    if isinstance(law, Samples):
        return list((law.draws <= np.asarray(truth)).mean(axis=0))
    if isinstance(law, Joint):
        return [float(part.cdf(t)) for part, t in zip(law.marginals, truth, strict=True)]
    return [float(law.cdf(truth[0]))]


@pytest.mark.prove
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_truth_as_often_as_they_say(case: str) -> None:
    """Truths from the prior, noise of about the records' own spread, of either kind by turns."""
    draw, *_ = CASES[case]
    many = runs(400) if in_full() else 100 if case in ("failures", "heights") else 20
    r, inside = rng(len(case)), []
    scale = {"failures": 12.0, "times": 1.0, "censored": 6.0, "heights": 2.0, "hours": 6.0}[case]
    for turn in range(many):
        kind = ("laplace", "gaussian")[turn % 2]
        truth, seen, n = draw(r, 150)
        noise = r.laplace if kind == "laplace" else r.normal
        noisy = [value + float(noise(0.0, scale)) for value in seen]
        law = posterior(case, (truth, noisy, n), AddedNoise(kind, scale))
        inside.append(places(law, truth))
    for column in np.asarray(inside).T:
        for level in (0.5, 0.9):
            held = int((np.abs(column - 0.5) <= level / 2).sum())
            assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


EXACT: dict[str, tuple[list[float], int, tuple[float, ...]]] = {
    "failures": ([40.0], 10, (22 / 65,)),  # Beta(2 + 20, 3 + 40)
    "times": ([2.0], 10, (13 / 430,)),  # Gamma(3 + 10, 30 + 400)
    "censored": ([7.0, 5.0], 10, (10 / 180,)),  # Gamma(3 + 7, 30 + 150)
}


@pytest.mark.parametrize("case", EXACT)
@pytest.mark.parametrize("op", ["plug-in", "noise-aware"])
def test_without_noise_the_posterior_is_conjugate(case: str, op: str) -> None:
    seen, n, due = EXACT[case]
    law = posterior(case, ((), seen, n), AddedNoise("gaussian", 1e-3), op)
    assert law.mean == pytest.approx(due[0], rel=2e-3)


def test_a_mean_and_its_spread_are_the_textbooks() -> None:
    """Against the closed form: a Student law of the mean, an inverse gamma of the variance."""
    u = np.linspace(-0.3, 0.5, 40)
    seen = [40.0, float(u.sum()), float((u**2).sum())]
    x = 150 + 100 * u
    k, a = 42.0, 4 + 20.0
    mean = (2 * 160 + x.sum()) / k
    b = 300 + ((x - x.mean()) ** 2).sum() / 2 + 2 * 40 * (x.mean() - 160) ** 2 / (2 * k)
    for op in ("plug-in", "noise-aware"):
        law = posterior("heights", ((), seen, 40), AddedNoise("laplace", 1e-4), op)
        assert law.names == ("mean", "sd")
        assert law.mean[0] == pytest.approx(mean, abs=4 * law.sd[0] / 120)
        assert law.sd[0] ** 2 == pytest.approx(b / k / (a - 1), rel=0.05)
        assert (law.draws[:, 1] ** 2).mean() == pytest.approx(b / (a - 1), rel=0.02)


def test_shares_of_rates_are_those_of_brute_force() -> None:
    """Two labels: the density of the first share on a grid, by its definition."""
    x = np.linspace(0.0005, 0.9995, 2000)
    first, second = 5 * x, 1 - x
    logs = 6 * np.log(first) + 9 * np.log(second) - 15 * np.log(first + second)
    logs += stats.beta(2, 3).logpdf(x)
    weight = np.exp(logs - logs.max())
    source = Noisy((Fraction(6), Fraction(9)), AddedNoise("gaussian", 1e-3), 15, ("a", "b"))
    prior = d.dirichlet(np.asarray([2.0, 3.0]), ("a", "b"))
    about = likelihood("categorical_exposed", 5, 1)
    for op in ("plug-in", "noise-aware"):
        law: Any = derived(op, source, about, prior, NoValues())  # type: ignore[arg-type]
        assert law.mean[0] == pytest.approx(float(x @ weight / weight.sum()), abs=0.005)


@pytest.mark.parametrize("case", CASES)
def test_without_records_the_posterior_is_the_prior(case: str) -> None:
    seen = {"heights": [0.0, 3.0, 2.0], "hours": [4.0, 1.0, -2.0], "censored": [1.0, 2.0]}
    law = posterior(case, ((), seen.get(case, [5.0]), 0), AddedNoise("laplace", 3.0))
    prior = CASES[case][2]
    if case == "heights":
        assert law.mean[0] == pytest.approx(160, abs=0.3)
        return
    assert law.mean == pytest.approx(prior.mean, abs=0.01)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_spread_behind_much_noise_is_that_of_weighted_prior_draws(kind: str) -> None:
    """Mean and variance from the prior, sums from the model, each weighted by the noise's law."""
    r, n, many, scale = rng(11), 6, 400_000, 0.8
    variance = 300 / r.gamma(4, size=many)
    mean = r.normal(160, np.sqrt(variance / 2))
    total = r.normal(n * mean, np.sqrt(n * variance))
    squares = variance * r.chisquare(n - 1, many) + total**2 / n
    u = (total - 150 * n) / 100
    second = (squares - 300 * total + 150**2 * n) / 100**2
    seen = [float(n), 1.1, 0.9]
    law = (stats.laplace if kind == "laplace" else stats.norm)(0, scale)
    weight = law.pdf(seen[1] - u) * law.pdf(seen[2] - second)
    weight *= (np.abs(u) <= n) & (second <= n)
    weight /= weight.sum()
    actual = posterior("heights", ((), seen, n), AddedNoise(kind, scale))
    assert actual.mean[0] == pytest.approx(weight @ mean, abs=0.4)
    assert actual.mean[1] == pytest.approx(weight @ np.sqrt(variance), abs=0.25)
