"""What more knowledge would buy: promises are kept, limits are not exceeded, nothing is made up."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.cli import app
from bayesdp.notions import Cost
from bayesdp.populations import Population
from bayesdp.theorems import LeakageReport, Question, report
from bayesdp.theorems.advice import LEAST, Advice, advice

ACTIVITY = ((0.88241, 0.11759), (0.30471, 0.69529))
ORDER_2 = (((0.90954, 0.09046), (0.37915, 0.62085)), ((0.67876, 0.32124), (0.27208, 0.72792)))


def asked(population: Population, dp_epsilon: float = 0.5, **options: Any) -> tuple[Advice, ...]:
    return advice(population, population.leakage(dp_epsilon, **options))


def named(offers: tuple[Advice, ...], part: str) -> Advice:
    (actual,) = [offer for offer in offers if part in offer.knowledge]
    return actual


def require_kept(
    offer: Advice,
    leakage_report: LeakageReport,
    better: Population,
    cost: Any = Cost.of,
    **options: Any,
) -> None:
    """The promised budget has the level, and one with 0.3 % less noise has not."""
    eps, level = leakage_report.cost.dp_epsilon, leakage_report.best.epsilon

    def at(less_noise: float) -> float:
        question = Question(better, seconds=30.0, **options)
        return report(question, cost(eps / (1.0 - less_noise))).best.epsilon

    assert not offer.at_best
    assert at(offer.less_noise) <= level * (1 + 1e-12)
    assert at(offer.less_noise + 0.003) > level


def lipschitz(dp_epsilon: float) -> Cost:
    return Cost(lipschitz=dp_epsilon)


@pytest.mark.parametrize("eps", [0.1, 0.5, 2.0])
def test_an_adversary_who_knows_nothing(eps: float) -> None:
    chain = bdp.MarkovChain(transition=ORDER_2, order=2, length=1000)
    report = chain.leakage(eps)
    offer = named(advice(chain, report), "--adversary uninformed")
    require_kept(offer, report, chain, adversary="uninformed")


@pytest.mark.parametrize("eps", [0.1, 1.0])
def test_the_middle_of_intervals_and_a_lower_order(eps: float) -> None:
    bounds = bdp.MarkovChain(
        transition_lower=[[0.8, 0.1], [0.2, 0.6]],
        transition_upper=[[0.9, 0.2], [0.4, 0.8]],
        length=500,
    )
    report = bounds.leakage(eps)
    middle = bdp.MarkovChain(transition=[[0.85, 0.15], [0.3, 0.7]], length=500)
    require_kept(named(advice(bounds, report), "middle"), report, middle)

    chain = bdp.MarkovChain(transition=ORDER_2, order=2, length=1000)
    report = chain.leakage(eps)
    # The first-order chain by a long walk through the tuples, another route than the linear system.
    pairs = np.full((2, 2), 0.25)
    for _ in range(2000):
        pairs = np.einsum("ij,ijk->jk", pairs, np.array(ORDER_2))
    first = bdp.MarkovChain(transition=pairs / pairs.sum(axis=1, keepdims=True), length=1000)
    require_kept(named(advice(chain, report), "order 1"), report, first)


def test_clusters_and_unknown_dependence() -> None:
    unknown = bdp.Unknown(records=1000)
    offers = asked(unknown)
    assert named(offers, "clusters of at most 10").less_noise == 0.99
    assert named(offers, "a model of").to_dict() == {
        "knowledge": "a model of who depends on whom, and how strongly",
        "less_noise": 0.999,
        "at_best": True,
    }
    clusters = bdp.Clusters(size=4)
    report = clusters.leakage(0.5)
    offers = advice(clusters, report)
    gaussian = bdp.Gaussian(size=4, max_correlation=0.1)
    require_kept(named(offers, "jointly Gaussian"), report, gaussian, lipschitz)
    assert named(offers, "a model of").less_noise == 0.75
    assert offers[-1].at_best  # what is certain comes first
    assert "at most 75.0% less noise, perhaps none" in offers[-1].words()


def test_a_member_of_a_family() -> None:
    family = bdp.Family(members=[{"model": "clusters", "size": n} for n in (4, 2, 4)])
    offers = asked(family)
    assert [(o.knowledge.split()[-1], o.less_noise, o.at_best) for o in offers] == [
        ("1", 0.5, False)
    ]


def test_the_covariance_instead_of_the_largest_correlation() -> None:
    """Where equal correlations are not the worst: m = 7, .45 (they would give 1 + 6 * .45)."""
    known = bdp.Gaussian(size=7, max_correlation=0.45)
    report = known.leakage(0.5, kind="lipschitz")
    offers = advice(known, report)
    equal = bdp.Gaussian(covariance=(np.full((7, 7), 0.45) + 0.55 * np.eye(7)).tolist())
    require_kept(named(offers, "all are equal"), report, equal, lipschitz)
    limit = named(offers, "one pair only")
    assert limit.at_best
    pair = np.eye(7)
    pair[0, 1] = pair[1, 0] = 0.45
    level = bdp.Gaussian(covariance=pair.tolist()).leakage(0.5, kind="lipschitz").best.epsilon
    assert limit.less_noise == pytest.approx(1.0 - level / report.best.epsilon, abs=0.001)


@pytest.mark.parametrize("seed", range(40))
def test_no_covariance_beats_the_limit(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 6))
    factors = draw.normal(size=(size, size + 1)) * draw.uniform(0.2, 2.0)
    raw = factors @ factors.T + np.eye(size)
    spread = np.sqrt(np.diag(raw))
    correlation = raw / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    rho = float(np.abs(correlation - np.eye(size)).max())
    known = bdp.Gaussian(size=size, max_correlation=rho)
    report = known.leakage(1.0, kind="lipschitz")
    limits = [o for o in advice(known, report) if "one pair only" in o.knowledge]
    limit = limits[0].less_noise if limits else LEAST
    better = bdp.Gaussian(covariance=((correlation + correlation.T) / 2).tolist())
    level = better.leakage(1.0, kind="lipschitz").best.epsilon
    assert 1.0 - level / report.best.epsilon <= limit + 1e-9


def test_the_mechanism_and_the_secrets() -> None:
    pair = bdp.Gaussian(size=2, max_correlation=0.4)
    report = pair.leakage(1.0)
    offer = named(advice(pair, report), "--kind lipschitz")
    require_kept(offer, report, pair, lipschitz)
    assert offer.less_noise == 0.3
    assert "--secrets" not in offer.knowledge
    assert "--secrets" in named(asked(pair, secrets="unbounded"), "--kind").knowledge
    report = pair.leakage(1.0, kind="lipschitz", secrets="unbounded")
    require_kept(named(advice(pair, report), "--secrets bounded"), report, pair, lipschitz)


def test_nothing_is_offered_where_nothing_is_to_be_had() -> None:
    assert asked(bdp.Independent()) == ()
    assert asked(bdp.Clusters(size=4), adversary="informed") == ()
    assert asked(bdp.Clusters(size=4), 0.0) == ()
    # An exact level: knowing more about the population is no use, only another adversary is.
    chain = bdp.MarkovChain(transition=ACTIVITY, length=1000)
    assert {o.at_best for o in asked(chain, 3.0)} <= {False}
    assert asked(chain, 3.0, adversary="uninformed") == ()


@pytest.mark.parametrize(
    "population",
    [
        bdp.MarkovChain(transition=np.full((5, 5), 0.1) + 0.5 * np.eye(5), length=10**6),
        bdp.Graph(grid=(4, 4), table=[[2, 1], [1, 2]]),
        bdp.Autoregressive(coefficient=0.5, length=100),
        bdp.Gaussian(covariance=[[1.0, 0.3], [0.3, 9.0]]),
        bdp.Clusters(size=2**50),
    ],
)
def test_every_limit_is_that_of_an_informed_adversary(population: Population) -> None:
    report = population.leakage(0.5, kind="any")
    for offer in advice(population, report):
        assert LEAST <= offer.less_noise <= math.ceil(1e3 - 500 / report.best.epsilon) / 1e3 + 1e-9


def test_the_command_line_says_it() -> None:
    spec = json.dumps({"model": "clusters", "size": 4})
    runner = CliRunner()
    read_back = json.loads(runner.invoke(app, ["leakage", spec, "--epsilon", "1", "--json"]).stdout)
    assert set(read_back) == {"dp_epsilon", "adversary", "bounds", "refused", "best", "advice"}
    assert [set(item) for item in read_back["advice"]] == [
        {"knowledge", "less_noise", "at_best"}
    ] * 2
    shown = runner.invoke(app, ["leakage", spec, "--epsilon", "1"]).stdout
    flat = " ".join(shown.replace("│", " ").split())
    assert "uses how many records may depend on each other" in flat
    assert "protects a record as well as a DP cost of 4 would if records were independent" in flat
    assert "If the declared population is right" in flat
    assert "What more knowledge would buy" in flat
    assert "at most 75.0% less noise, perhaps none" in flat
    assert "class 'any' (they may know any of the other records exactly, none, some or all)" in flat
    assert (
        "Other classes: 'uninformed' (they know the population, and none of the records)," in flat
    )
    spec = json.dumps({"model": "gaussian", "size": 3, "max_correlation": 0.3})
    shown = runner.invoke(app, ["leakage", spec, "--epsilon", "1"]).stdout
    assert shown.count("doesn't apply") == 1  # one row for theorems with the same reason
    flat = " ".join(shown.replace("│", " ").split())
    assert "known about these records, at best that they are independent: at most" in flat


def test_a_limit_that_rounds_to_all_of_the_noise_says_that_nothing_is_known() -> None:
    limit = Advice("any other knowledge", 1.0, at_best=True)
    assert limit.words() == "any other knowledge: it is not known how much less noise, if any"
    almost = Advice("any other knowledge", 0.999, at_best=True)
    assert almost.words() == "any other knowledge: at most 99.9% less noise, perhaps none"
    assert Advice("equal correlations", 0.5).words() == "equal correlations: 50.0% less noise"
