"""Panels: no bound below the search over all mechanisms, and the same as the graph of pairs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.populations import Graph, MarkovChain, Panel, parse
from tests.effort import runs
from tests.oracles import chains, finite
from tests.oracles.populations import a_law
from tests.theorems.test_vectors import BELOW

Rng = np.random.Generator
RULES = ("panel-contraction", "panel-blocks")


def levels(population: Any, dp_epsilon: float, adversary: str = "any") -> dict[str, float]:
    report = population.leakage(dp_epsilon, adversary=adversary)
    return {bound.theorem: bound.epsilon for bound in report.bounds}


SHAPES = ((2, 2), (1, 4), (3, 1), (2, 2), (2, 3), (4, 1), (1, 3), (3, 2))


def random_panel(rng: Rng, series: int, length: int) -> dict[str, Any]:
    """Odds ratios from none to large ones; a state and pairs within a step may be left open."""
    own, later, now, state, shown = (1.0 + rng.gamma(0.5, 4.0, size=5)).tolist()
    spec = {"model": "panel", "series": series, "length": length, "own_previous": own}
    spec["others_previous"] = later if rng.random() < 0.6 else 1.0
    if rng.random() < 0.7:
        spec["others_now"] = now
    if rng.random() < 0.4:
        spec["shared_previous"] = state
        if rng.random() < 0.7:
            spec["shared_now"] = shown
    return spec


def test_no_level_is_below_brute_force() -> None:
    rng = np.random.default_rng(20)
    for case in range(runs(240, least=8)):
        spec = random_panel(rng, *SHAPES[case % len(SHAPES)])
        law = a_law(rng, spec).joint
        dp_epsilon = float(rng.choice([0.01, 0.2, 1.0, 3.0]))
        truth = finite.worst_case(law, dp_epsilon, "any").level  # no less than the uninformed's
        for rule, level in levels(parse(spec), dp_epsilon).items():
            assert level >= truth - BELOW, (rule, spec, dp_epsilon)


def test_clusters_of_fewer_members_and_steps_and_gaps_are_covered() -> None:
    rng = np.random.default_rng(21)
    for _ in range(runs(200, least=8)):
        spec = random_panel(rng, 2, 3)
        smaller = spec | {"series": int(rng.integers(1, 3)), "length": int(rng.integers(1, 3))}
        laws = [a_law(rng, smaller).joint, a_law(rng, spec).joint.sum(axis=int(rng.integers(6)))]
        dp_epsilon = float(rng.choice([0.05, 1.0]))
        reached = levels(parse(spec), dp_epsilon)
        for law in laws:
            truth = finite.worst_case(law, dp_epsilon, "any").level
            assert min(reached.values()) >= truth - BELOW, (spec, smaller, dp_epsilon)


def test_steps_that_nobody_lists_count() -> None:
    """The cluster began before the first listed step and goes on after the last."""
    rng = np.random.default_rng(23)
    for _ in range(runs(200, least=6)):
        listed = int(rng.integers(1, 3))
        spec = random_panel(rng, 2 if listed == 1 else 1, listed + 2)
        members = spec["series"]
        law = a_law(rng, spec).joint
        hidden = [*range(members), *range(law.ndim - members, law.ndim)]
        dp_epsilon = float(rng.choice([0.05, 0.3, 1.0]))
        truth = finite.worst_case(law.sum(axis=tuple(hidden)), dp_epsilon, "any").level
        for rule, level in levels(parse(spec | {"length": listed}), dp_epsilon).items():
            assert level >= truth - BELOW, (rule, spec, dp_epsilon)


def test_a_single_step_between_others() -> None:
    """Two members, and `R_p` from one step to the next: 1.4787 by the search over mechanisms."""
    panel = Panel(series=2, length=1, own_previous=10.0, others_previous=3.0, others_now=1.0)
    assert levels(panel, 1.0)["panel-contraction"] >= 1.4787


def test_records_of_three_values() -> None:
    """Tables whose largest cross ratio is the declared one; the fourth record is missing."""
    rng = np.random.default_rng(22)
    for _ in range(runs(100, least=4)):
        spec = {"model": "panel", "series": 2, "length": 2}
        drawn = (1.0 + rng.gamma(1.0, 4.0, size=2)).tolist()
        ratios = {"own_previous": drawn[0], "others_previous": 1.0, "others_now": drawn[1]}
        factors = [
            {"between": pair, "table": table_of_three(rng, ratios[key])}
            for pair, key in (
                ([0, 1], "others_now"),
                ([0, 2], "own_previous"),
            )
        ]
        law = chains.factor_graph(3, 3, factors)
        dp_epsilon = float(rng.choice([0.1, 1.0]))
        truth = finite.worst_case(law, dp_epsilon, "any").level
        for level in levels(parse(spec | ratios), dp_epsilon).values():
            assert level >= truth - BELOW, (ratios, dp_epsilon)


def regression_on_the_past(own: Any, later: Any, start: Any) -> np.ndarray:
    """Two members, two steps: the second step's records are independent given the first's."""
    law = np.zeros((2,) * 4)
    for a, b, c, d in itertools.product((0, 1), repeat=4):
        odds = [own[0] * a + later[0] * b, own[1] * b + later[1] * a]
        chances = [1.0 / (1.0 + math.exp(-odd + 1.0)) for odd in odds]
        law[a, b, c, d] = start[a][b] * np.prod(
            [p if v else 1.0 - p for p, v in zip(chances, (c, d), strict=True)]
        )
    return law


def test_regressions_on_the_past_depend_within_steps() -> None:
    """Members that are independent given the last step have the level of whole steps."""
    rng = np.random.default_rng(24)
    for _ in range(runs(200, least=10)):
        own, later = rng.normal(scale=2.0, size=2), rng.normal(scale=2.0, size=2)
        law = regression_on_the_past(own, later, rng.dirichlet(np.ones(4)).reshape(2, 2))
        ratios = {
            "own_previous": math.exp(max(abs(own))),
            "others_previous": math.exp(max(abs(later))),
        }
        panel, dp_epsilon = Panel(series=2, length=2, **ratios), float(rng.choice([0.1, 1.0]))
        truth = finite.worst_case(law, dp_epsilon, "any").level
        assert levels(panel, dp_epsilon)["panel-blocks"] >= truth - BELOW


def test_as_if_nothing_tied_members_within_a_step_their_level_is_too_low() -> None:
    """So a regression on the past leaves `others_now` open."""
    start = [[0.0042, 0.2051], [0.7887, 0.002]]
    law = regression_on_the_past([-1.7537, 1.8144], [-0.2135, 0.2256], start)
    ratios = {"own_previous": math.exp(1.8144), "others_previous": math.exp(0.2256)}
    open_panel = Panel(series=2, length=2, **ratios)
    tied = levels(open_panel, 3.0)["panel-blocks"]
    untied = levels(open_panel.model_copy(update={"others_now": 1.0}), 3.0)["panel-contraction"]
    assert untied + 0.5 < finite.worst_case(law, 3.0, "any").level < tied


def table_of_three(rng: Rng, ratio: float) -> list[list[float]]:
    logs = rng.normal(size=(3, 3))
    widest = max(
        np.ptp(logs[first] - logs[second]) for first, second in itertools.combinations(range(3), 2)
    )
    return np.exp(logs * math.log(ratio) / widest + rng.normal(size=3)).tolist()


def expanded(panel: Panel) -> Graph:
    """The panel as a graph of pairs of two values, its state records too."""
    series, records = panel.series, panel.group_size
    pairs: list[tuple[int, int, float]] = []
    for step, member in itertools.product(range(panel.length), range(series)):
        record = step * series + member
        for other in range(member + 1, series):
            pairs.append((record, step * series + other, panel.others_now or 1.0))
        for other in range(series if step + 1 < panel.length else 0):
            ratio = panel.own_previous if other == member else panel.others_previous
            pairs.append((record, (step + 1) * series + other, ratio))
        if panel.shared_previous is not None:
            pairs.append((record, records + step, panel.shared_now or 1.0))
    if panel.shared_previous is not None:
        steps = range(records, records + panel.length - 1)
        pairs += [(step, step + 1, panel.shared_previous) for step in steps]
    states = panel.length if panel.shared_previous is not None else 0
    factors = [
        {"between": [first, second], "table": [[ratio, 1.0], [1.0, 1.0]]}
        for first, second, ratio in pairs
    ]
    return Graph(records=records + states, states=2, factors=factors)


@pytest.mark.parametrize("dp_epsilon", [0.01, 0.3, 2.0])
@pytest.mark.parametrize(
    "spec",
    [
        {"series": 2, "own_previous": 4.0, "others_previous": 1.0, "others_now": 2.0},
        {"series": 3, "own_previous": 2.0, "others_now": 1.3, "others_previous": 1.2},
        {"series": 1, "own_previous": 9.0},
    ],
)
def test_a_long_panel_has_the_level_of_its_graph(spec, dp_epsilon) -> None:
    """In the middle of 40 steps nothing is felt of the ends."""
    panel = Panel(length=40, **spec)
    level = levels(panel, dp_epsilon)["panel-contraction"]
    of_graph = levels(expanded(panel), dp_epsilon)["graph-contraction"]
    assert of_graph * (1.0 - 1e-9) <= level <= of_graph * (1.0 + 1e-4)


def test_a_state_costs_nothing_of_its_own() -> None:
    """As a record of a graph it costs, so the level of the panel is a little lower."""
    panel = Panel(
        series=2,
        length=20,
        own_previous=3.0,
        others_previous=1.0,
        others_now=1.5,
        shared_previous=2.0,
        shared_now=1.2,
    )
    level = levels(panel, 0.1)["panel-contraction"]
    of_graph = levels(expanded(panel), 0.1)["graph-contraction"]
    assert 0.9 * of_graph < level < of_graph


@pytest.mark.parametrize("dp_epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_one_member_is_a_chain(dp_epsilon) -> None:
    chain = MarkovChain([[0.9, 0.1], [0.2, 0.8]], length=60)
    panel = Panel(series=1, length=60, own_previous=36.0)
    reached = levels(panel, dp_epsilon)
    for rule in RULES:
        closed = levels(chain, dp_epsilon)["markov-contraction"]
        assert reached[rule] == pytest.approx(closed, rel=1e-7)


def test_by_hand() -> None:
    """Two members at one step, odds ratio 9, cost ln 4: f(4; 9) = (7 / 5)^2."""
    panel = Panel(series=2, length=1, own_previous=1.0, others_previous=1.0, others_now=9.0)
    level = levels(panel, math.log(4.0))["panel-contraction"]
    assert level == pytest.approx(math.log(4.0) + 2.0 * math.log(7.0 / 5.0), rel=1e-12)
    # Two members over many steps, R = 4^2: sinh(L / 4) = 4 sinh(2 eps / 4).
    long = Panel(series=2, length=500, own_previous=4.0, others_previous=1.0)
    level = levels(long, 1.0)["panel-blocks"]
    assert level == pytest.approx(4.0 * math.asinh(4.0 * math.sinh(0.5)), rel=1e-12)
    # Three members: R = 4^3 1.5^6 7, of three own pairs, six of others, and the state.
    three = Panel(series=3, length=500, own_previous=4.0, others_previous=1.5, shared_previous=7.0)
    ratio = 4.0**3 * 1.5**6 * 7.0
    level = levels(three, 0.1)["panel-blocks"]
    assert level == pytest.approx(4.0 * math.asinh(ratio**0.5 * math.sinh(0.075)), rel=1e-12)


def test_many_members_under_one_weather() -> None:
    """A level that does not grow with the number of meters, where their steps have no bound."""
    meters = {"length": 365, "own_previous": 3.0, "others_previous": 1.0, "others_now": 1.0}
    weather = {"shared_previous": 5.0, "shared_now": 2.0}
    few, many = (levels(Panel(series=n, **meters, **weather), 0.5) for n in (10, 100_000))
    alone = levels(Panel(series=100_000, **meters), 0.5)["panel-contraction"]
    assert alone < few["panel-contraction"] < many["panel-contraction"]
    assert many["panel-contraction"] < alone + math.log(2.0) * 1.8


def test_large_numbers_stay_finite() -> None:
    panel = Panel(series=10**6, length=10**6, own_previous=1e300, others_previous=1e300)
    assert levels(panel, 1e-3)["panel-blocks"] == pytest.approx(1e9)
    assert levels(panel, 1e300)["panel-blocks"] < math.inf


@pytest.mark.parametrize(
    ("wrong", "key", "words"),
    [
        ({"own_previous": 0.5}, "own_previous", "counts as its inverse: 2"),
        ({"others_now": 0.0}, "others_now", "its inverse"),
        ({"shared_now": 2.0}, "shared_previous", "shared_previous = 1"),
        ({"series": 2**30, "length": 2**30}, "length", "series times length"),
    ],
)
def test_wrong_panels_are_refused(wrong, key, words) -> None:
    right = {"series": 2, "length": 5, "own_previous": 2.0, "others_previous": 1.0}
    with pytest.raises(InputError, match=rf"population\.{key}.*{words}"):
        Panel(**(right | wrong))
