"""What a wrong rule of laws, finite models and pooling is shown by: see `construct_probes`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit

from tests.programs.run.helpers import Noted, accepted, done
from tests.programs.test_laws import TABLE, program

# -- laws and finite models ------------------------------------------------------------------------


def after(kind: str, *lines: str) -> str:
    """A program that makes something of released counts `noisy` and a released number `n`."""
    return program(kind, *lines)


def drawn(posterior: str, likelihood: str, mean: float, variance: float) -> None:
    """New records have the mean and variance that integration gives."""
    core, verdict = accepted(
        after("Samples", f"return predictive({posterior}, {likelihood}, draws=40000)")
    )
    (answers,) = done(core, verdict, TABLE).outputs
    values = np.asarray(answers.values, dtype=float)
    assert abs(values.mean() - mean) < 6 * (variance / 40000) ** 0.5
    assert abs(values.var() / variance - 1) < 0.1


def labels_drawn() -> None:
    """Labels come with their own shares."""
    core, verdict = accepted(
        after("Samples", "return predictive(dirichlet(1 + n, 3, 1), categorical, draws=40000)")
    )
    (answers,) = done(core, verdict, TABLE).outputs
    shares = np.bincount(answers.values, minlength=3) / 40000
    assert np.abs(shares - np.asarray([4, 3, 1]) / 8).max() < 0.02


def laws_are_as_written() -> None:
    """Mean, spread and quantiles of distributions with released numbers, from SciPy."""
    core, verdict = accepted(
        after(
            "tuple[Real, Real, Real, Real]",
            "rate, waits = beta(1 + n, 2 + db.size - n), gamma(2 + n, rate=4)",
            "return rate.mean, rate.quantile(0.9), waits.mean, waits.sd",
        )
    )
    value = done(core, verdict, TABLE).value
    first, second = stats.beta(4, 5), stats.gamma(5, scale=1 / 4)
    due = [first.mean(), first.ppf(0.9), second.mean(), second.std()]
    assert np.allclose(value, due, rtol=1e-6)


MODELS = """
@record
class P:
    b: Bool
    g: Category["a", "b", "c"]

@program
def f(people: Database[P]) -> Private[Vector]:
    prior = hypotheses({"u": 3, "v": 1})
    r = {release}
    return noise_aware(observe(r, {likelihood}, prior=prior))
"""
TABLES = {"u": (0.2, 0.3, 0.5), "v": (0.6, 0.3, 0.1)}


def finite_model(release: str, likelihood: str) -> str:
    """A program that observes what a release gave, with two hypotheses."""
    return MODELS.replace("{release}", release).replace("{likelihood}", likelihood)


def counts_have_the_posterior_of_the_definition(epsilon: float = 1.0) -> None:
    """A sum over all tables of counts, with the noise that each of them would have needed."""
    rows = [{"b": True, "g": label} for label in "aabccc"]
    core, verdict = accepted(
        finite_model(
            f"laplace(sum(onehot(p.g) for p in people), epsilon={epsilon})", f"chances({TABLES})"
        )
    )
    value = done(core, verdict, rows, Noted(shift=1)).value
    scale = 2 / epsilon  # what is shown is 3, 2 and 4
    due = {}
    for name, weight in (("u", 3.0), ("v", 1.0)):
        law = stats.multinomial(6, TABLES[name])
        due[name] = weight * sum(
            law.pmf((i, j, 6 - i - j))
            * np.exp(-(abs(3 - i) + abs(2 - j) + abs(4 - (6 - i - j))) / scale)
            for i in range(7)
            for j in range(7 - i)
        )
    assert np.allclose(value, np.asarray([due["u"], due["v"]]) / sum(due.values()), rtol=1e-6)


def answers_have_the_posterior_of_the_definition() -> None:
    """Truth values, each kept with a chance of e / (1 + e)."""
    rows = [{"b": b, "g": "a"} for b in (True, True, True, False)]
    core, verdict = accepted(
        finite_model(
            "randomized_response((p.b for p in people), epsilon=1)",
            'chances({"u": 0.2, "v": 0.9})',
        )
    )
    kept = np.e / (1 + np.e)
    weights = []
    for weight, chance in ((3, 0.2), (1, 0.9)):
        yes = chance * kept + (1 - chance) * (1 - kept)
        weights.append(weight * yes**3 * (1 - yes))
    value = done(core, verdict, rows).value
    assert np.allclose(value, np.asarray(weights) / sum(weights), rtol=1e-9)


HYPOTHETICAL = """
@record
class P:
    b: Bool
    g: Category["a", "b", "c"]

@program
def f(people: Database[P]) -> Private[Real]:
    r = laplace(count(p for p in people if p.b), epsilon=1)
    m = observe({rows}, {likelihood}, prior={prior})
    noisy = laplace(statistics(m), epsilon=1)
    return r
"""


def hypothetical(likelihood: str, prior: str, rows: str = "people.g") -> str:
    """A program with a finite model of single records."""
    return HYPOTHETICAL.format(rows=rows, likelihood=likelihood, prior=prior)


# -- partial pooling -------------------------------------------------------------------------------

POOLED = """
@record
class P:
    b: Bool
    k: Int[0, 4]
    x: Real[-3, 5]
    g: Category["n", "m"]
    s: Public[Category["n", "m"]]

@program
def f(people: Database[P]) -> Private[Samples]:
    m = observe(({value} for p in people), {likelihood}, prior=partial_pooling({centre},
        spread={spread}, by="s"))
    return {op}(laplace(statistics(m), epsilon={epsilon}))
"""
POOLED_UNEVENLY = """
@record
class P:
    x: Real[0, 5]
    s: Public[Category["n", "m"]]

@program
def f(people: Database[P]) -> Private[Vector]:
    m = observe((p.x for p in people), normal(sd=2), prior=partial_pooling(normal(0, sd=1),
        spread=1, by="s"))
    k = statistics(m)
    return laplace((k[0], 9 * k[1]), epsilon=1)
"""
"""Statistics of groups, one of which counts more."""
CENTRE, SPREAD = (-0.2, 0.7), 0.5


def pooled(
    value: str = "p.b", likelihood: str = "bernoulli", epsilon: object = 1, op: str = "noise_aware"
) -> str:
    """A program that pools the groups of the public column `s`."""
    return POOLED.format(
        value=value, likelihood=likelihood, epsilon=epsilon, op=op, spread=SPREAD,
        centre=f"normal({CENTRE[0]}, sd={CENTRE[1]})",
    )  # fmt: skip


def _pooled_means(likelihoods: list[Any], scale: Callable[[Any], Any]) -> list[float]:
    """The posterior mean of each group, from its likelihood on one grid: by the definition."""
    t, center = np.linspace(-6, 6, 301), np.linspace(-3.7, 3.3, 71)
    weights = np.zeros((2, len(t)))
    for s in np.linspace(0.01, 2.4, 60):
        law = stats.norm(center[:, None], s).pdf(t[None, :])
        law /= law.sum(axis=1, keepdims=True)
        hyper = stats.norm(*CENTRE).pdf(center) * np.exp(-0.5 * (s / SPREAD) ** 2)
        each = [law * likelihood for likelihood in likelihoods]
        totals_ = [side.sum(axis=1) for side in each]
        weights[0] += ((hyper * totals_[1])[:, None] * each[0]).sum(axis=0)
        weights[1] += ((hyper * totals_[0])[:, None] * each[1]).sum(axis=0)
    means = (weights * scale(t)).sum(axis=1) / weights.sum(axis=1)
    return [float(mean) for mean in means]


@cache
def _due(family: str, epsilon: float) -> tuple[float, ...]:
    """What `pooled_groups_are_those_of_the_definition` compares with."""
    t = np.linspace(-6, 6, 301)
    likelihoods = []
    for n, total in ((6, 1), (12, 9)):
        if family == "normal":
            noise = stats.laplace(0, 8 / epsilon)
            sums = np.linspace(-400, 400, 8001)
            laws = [stats.norm(n * x, 2 * n**0.5).pdf(sums) for x in t]
        else:
            noise = stats.laplace(0, {"bernoulli": 1, "poisson": 4}[family] / epsilon)
            sums = np.arange(n + 1 if family == "bernoulli" else 120)
            laws = [
                stats.binom(n, expit(x)).pmf(sums)
                if family == "bernoulli"
                else stats.poisson(3 * n / 18 * np.exp(x)).pmf(sums)
                for x in t
            ]
        likelihoods.append(np.asarray([(law * noise.pdf(total - sums)).sum() for law in laws]))
    scale = {"bernoulli": expit, "poisson": np.exp, "normal": lambda x: x}[family]
    return tuple(_pooled_means(likelihoods, scale))


def pooled_groups_are_those_of_the_definition(family: str, epsilon: float = 1.0) -> None:
    """Six and twelve records, with sums of one and nine, through a run without actual noise."""
    observed = {"bernoulli": "p.b", "poisson": "p.k", "normal": "p.x"}[family]
    likelihood = {"bernoulli": "bernoulli", "poisson": "poisson(exposure=3)",
                  "normal": "normal(sd=2)"}[family]  # fmt: skip
    core, verdict = accepted(pooled(observed, likelihood, epsilon))
    rows = []
    for group, n, total in (("n", 6, 1), ("m", 12, 9)):
        for i in range(n):
            value = int(i < total)
            rows.append({"b": bool(value), "k": value, "x": value, "g": "n", "s": group})
    law = done(core, verdict, rows).value
    assert law.names[:2] == ("n", "m")
    tolerance = {"bernoulli": 0.008, "poisson": 0.05, "normal": 0.03}[family]
    apart = np.abs(np.asarray(law.mean[:2]) - np.asarray(_due(family, epsilon)))
    assert apart.max() < tolerance, (law.mean, _due(family, epsilon))
