"""Messages that know the odds of each record: against brute force, and against a slow loop."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from bayesdp.leakage import rising
from bayesdp.leakage.contraction import graph_level
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.fields import (
    FieldMessages,
    field_messages,
    fields_level,
    pairs_of,
    uniform_level,
)
from bayesdp.populations import Graph, parse
from tests.effort import runs
from tests.oracles import chains, finite
from tests.theorems.test_vectors import vectors

BELOW = 1e-9


def messages_of(graph: Graph) -> FieldMessages:
    prepared = field_messages(graph.factor_graph)
    assert isinstance(prepared, FieldMessages), prepared
    return prepared


def level(graph: Graph, dp_epsilon: float) -> float:
    return fields_level(messages_of(graph), dp_epsilon).epsilon


def random_pairs(rng: np.random.Generator, largest: int = 4) -> Graph:
    """Rare values, loops, pairs with two factors, and in some models zeros."""
    records = int(rng.integers(2, largest + 1))
    zeros = float(rng.choice([0.0, 0.0, 0.1, 0.3]))
    share = float(rng.choice([0.4, 0.8, 1.0]))
    factors: list[dict[str, Any]] = []
    for record in range(records):
        odds = math.exp(float(rng.normal() * rng.choice([0.5, 2.0, 4.0])))
        factors.append({"between": [record], "table": [1.0, odds]})
    for pair in itertools.permutations(range(records), 2):
        if rng.random() < share * (0.7 if pair[0] < pair[1] else 0.25):
            table = np.exp(rng.normal(size=(2, 2)) * rng.choice([0.3, 1.0, 2.0]))
            table *= rng.random((2, 2)) >= zeros
            factors.append({"between": list(pair), "table": (table + ~table.any()).tolist()})
    return Graph(records=records, states=2, factors=factors)


def joint_of(graph: Graph) -> np.ndarray | None:
    """The law multiplied out, or nothing where the factors contradict each other."""
    assert graph.factors is not None
    plain = [{"between": factor.between, "table": factor.table} for factor in graph.factors]
    with np.errstate(invalid="ignore"):
        law = chains.factor_graph(graph.records, graph.states, plain)
    return law if np.isfinite(law).all() else None


def random_epsilon(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-2.0, 0.7))


@pytest.mark.parametrize("case", vectors("fields.json"), ids=lambda case: case["name"])
def test_reference_values(case: dict[str, Any]) -> None:
    reached = level(parse(case["population"]), case["dp_epsilon"])
    assert case.get("at_least", 0.0) - BELOW <= reached <= case.get("at_most", math.inf)
    assert reached == pytest.approx(case["fields"], rel=1e-10)
    assert reached <= case["plain"] * (1 + 1e-10)


@pytest.mark.prove
def test_no_mechanism_leaks_more_and_contraction_is_never_lower() -> None:
    rng = np.random.default_rng(371)
    lower = tried = 0
    for _ in range(runs(2000)):
        graph, eps = random_pairs(rng), random_epsilon(rng)
        joint = joint_of(graph)
        if joint is None:
            continue
        tried += 1
        reached = level(graph, eps)
        truth = max(finite.worst_case(joint, eps).level, eps)
        plain = graph_level(graph.factor_graph, eps).epsilon
        assert truth - BELOW <= reached <= plain * (1 + 1e-10), (graph.spec(), eps)
        lower += reached < plain * (1 - 1e-6)
    assert lower > tried / 2


@pytest.mark.prove
def test_no_mechanism_leaks_more_about_five_records() -> None:
    rng = np.random.default_rng(372)
    for _ in range(runs(60)):
        graph, eps = random_pairs(rng, 5), random_epsilon(rng)
        joint = joint_of(graph)
        if joint is not None:
            truth = max(finite.worst_case(joint, eps).level, eps)
            assert level(graph, eps) >= truth - BELOW, (graph.spec(), eps)


# ------------------------------------------------------ by a slow loop


def passed(adds: np.ndarray, low: float, high: float, up: float, down: float, u: int) -> float:
    """The largest `ln (1 - p + x p) / (1 - q + x q)`, by trying odds; `adds` are `r(0), r(1)`."""
    finite = adds[np.isfinite(adds)]
    centre = -finite.sum() / max(len(finite), 1)
    trials = np.clip(
        centre + np.concatenate([[-np.inf, np.inf], np.linspace(-40, 40, 2001)]), low, high
    )
    p, q = chances(trials, adds[u]), chances(trials, adds[1 - u])
    gains = [np.log1p(p * math.expm1(s)) - np.log1p(q * math.expm1(s)) for s in (up, -down)]
    return max(0.0, float(np.nanmax(gains)))


def chances(places: np.ndarray, added: float) -> np.ndarray:
    """The probability of the second value at these log odds, nothing for infinity less infinity."""
    with np.errstate(invalid="ignore"):
        return 0.5 * (1.0 + np.tanh((places + added) / 2.0))


def test_messages_are_super_solutions_by_a_slow_loop() -> None:
    rng = np.random.default_rng(373)
    sharp = 0
    for _ in range(runs(300)):
        graph, eps = random_pairs(rng, 5), random_epsilon(rng)
        prepared = field_messages(graph.factor_graph)
        if isinstance(prepared, str) or not prepared.size:
            continue
        y, _ = prepared.solve(eps)
        pairs = prepared.pairs
        influence: dict[tuple[int, int, int], float] = {}
        adds: dict[tuple[int, int], np.ndarray] = {}
        for number, (i, k) in enumerate(pairs.ends.tolist()):
            influence |= {(*ends, u): 0.0 for ends in ((i, k), (k, i)) for u in (0, 1)}
            adds[i, k] = pairs.logs[number, :, 1] - pairs.logs[number, :, 0]
            adds[k, i] = pairs.logs[number, 1, :] - pairs.logs[number, 0, :]
        for number, pair in enumerate(pairs.ends[prepared.live].tolist()):
            half = prepared.edges // 2
            for d, back in itertools.product((0, 1), (0, 1)):
                place = d * prepared.edges + back * half + number
                influence[(*(pair[::-1] if back else pair), 1 - d)] = float(y[place])
        most = (prepared.graph.component_sizes.max() - 1) * eps
        for (i, k, u), stated in influence.items():
            others = [j for (source, j) in adds if source == k and j != i]
            low = pairs.odds[k] + sum(adds[j, k].min() for j in others)
            high = pairs.odds[k] + sum(adds[j, k].max() for j in others)
            up, down = (eps + sum(influence[k, j, d] for j in others) for d in (1, 0))
            due = passed(adds[i, k], low, high, up, down, u)
            assert min(due, most) <= stated * (1 + 1e-11) + 1e-15, (graph.spec(), eps, i, k, u)
            sharp += stated < due * (1 + 1e-3)
    assert sharp > 20


def test_a_step_is_rounded_up_at_all_sizes() -> None:
    """Against balls of many bits: weak, strong, rare, cheap and dear."""
    rng = np.random.default_rng(374)
    for _ in range(runs(2000, least=200)):
        scale = float(10.0 ** rng.uniform(-9, 2.5))
        odds, table = np.exp(rng.normal(size=2) * 3.0), np.exp(rng.normal(size=(2, 2)) * scale / 9)
        table *= float(rng.choice([1.0, 731.7]))  # which makes all logarithms less exact
        graph = graph_of(2, ([0], [1.0, odds[0]]), ([1], [1.0, odds[1]]), ([0, 1], table.tolist()))
        prepared, s = messages_of(graph), float(10.0 ** rng.uniform(-12, 2.5))
        if not prepared.size:
            continue
        actual = prepared.steps.passed(np.full(4, s))
        with ctx.workprec(2000):
            for number, (k, u) in enumerate([(1, 1), (0, 1), (1, 0), (0, 0)]):
                laws = []
                for row in table if k == 1 else table.T:
                    second = arb(row[1]) * arb(float(odds[k]))
                    laws.append(second / (arb(row[0]) + second))
                p, q = laws[u], laws[1 - u]
                x = (arb(s) if bool(p > q) else -arb(s)).exp()
                exact = ((1 - p + x * p) / (1 - q + x * q)).log()
                slack = 1e-9 + 1e-12 / float(prepared.ratio[number])
                assert bool(exact <= arb(float(actual[number])))
                assert float(actual[number]) <= float(exact) * (1 + slack) + 1e-290


def test_intervals_of_odds_are_rounded_outward() -> None:
    """A record with many neighbours, some of which are known, and weights of all sizes."""
    rng = np.random.default_rng(375)
    for case in range(runs(100, least=8)):
        records = int(rng.integers(3, 60)) if case > 3 else 1500
        tables = np.exp(rng.normal(size=(records - 1, 2, 2)) * 60.0)
        known = rng.random(records - 1) < (rng.choice([0.5, 0.95]) if case > 3 else 1.0)
        known[0] = False
        factors = [([0, j + 1], table.tolist()) for j, table in enumerate(tables)]
        factors += [([j + 1], [1.0, 0.0]) for j in np.nonzero(known)[0].tolist()]
        prepared = messages_of(graph_of(records, *factors))
        with ctx.workprec(300):
            adds = [[(arb(float(b)) / arb(float(a))).log() for a, b in table.T] for table in tables]
            fixed = sum((adds[j][0] for j in np.nonzero(known)[0].tolist()), arb(0))
            others = np.nonzero(~known)[0].tolist()
            for edge, j in enumerate(others):
                ends = [fixed, fixed]
                for other in others:
                    if other != j:
                        pair = adds[other]
                        ends = [ends[0] + pair[0].min(pair[1]), ends[1] + pair[0].max(pair[1])]
                message = prepared.edges // 2 + edge  # from the neighbour to the hub
                turned = prepared.total_at[message] >= records
                least, most = prepared.steps.least[message], prepared.steps.most[message]
                low, high = (-most, -least) if turned else (least, most)
                assert bool(arb(float(low)) <= ends[0])
                assert bool(arb(float(high)) >= ends[1])
                assert float(ends[0]) - low + high - float(ends[1]) < 1e-5


# ------------------------------------------------------ what is merged, left out, or not covered


def graph_of(records: int, *factors: tuple[list[int], Any], states: Any = 2) -> Graph:
    made = [{"between": between, "table": table} for between, table in factors]
    return Graph(records=records, states=states, factors=made)


PLAIN = graph_of(
    3, ([1], [1.0, 0.2]), ([0, 1], [[3.0, 2.0], [1.0, 4.0]]), ([1, 2], [[2, 1], [1, 3]])
)


def test_factors_of_a_pair_are_merged_whichever_way_round() -> None:
    split = graph_of(
        3,
        ([1], [1.0, 0.2]),
        ([1, 0], [[1.5, 1.0], [1.0, 2.0]]),
        ([2, 1], [[2, 1], [1, 3]]),
        ([0, 1], [[2.0, 2.0], [1.0, 2.0]]),
    )
    assert level(split, 0.7) == pytest.approx(level(PLAIN, 0.7), rel=1e-9)
    assert graph_level(split.factor_graph, 0.7).epsilon > level(split, 0.7)


def test_a_third_value_that_is_impossible_and_a_known_record_are_left_out() -> None:
    three = graph_of(
        4,
        ([1], [0.0, 1.0, 0.1]),
        ([0, 1], [[7.0, 3.0, 2.0], [7.0, 1.0, 4.0]]),
        ([1, 2], [[5, 5], [2, 1], [1, 3]]),
        ([3], [0.0, 1.0]),
        ([3, 1], [[0.1, 9.0, 1.0], [5.0, 1.0, 2.0]]),
        states=[2, 3, 2, 2],
    )
    assert level(three, 0.7) == pytest.approx(level(PLAIN, 0.7), rel=1e-9)


def test_values_that_only_merged_factors_exclude_are_left_out() -> None:
    """Each factor leaves both values of record 0 possible; together they leave it one."""
    two = (([0, 1], [[1.0, 0.0], [1.0, 1.0]]), ([0, 1], [[0.0, 1.0], [1.0, 1.0]]))
    graph = graph_of(3, *two, ([1, 2], [[2.0, 1.0], [1.0, 2.0]]))
    alone = graph_of(2, ([0, 1], [[2.0, 1.0], [1.0, 2.0]]))
    assert level(graph, 0.4) == pytest.approx(level(alone, 0.4), rel=1e-9)
    contradiction = graph_of(
        3,
        ([0, 1], [[1.0, 0.0], [0.0, 1.0]]),
        ([1, 0], [[0.0, 1.0], [1.0, 0.0]]),
        ([1, 2], [[2.0, 1.0], [1.0, 2.0]]),
    )
    assert pairs_of(contradiction.factor_graph) == "the factors leave a record no value"


def test_what_is_not_covered_says_why() -> None:
    triple = graph_of(3, ([0, 1, 2], [[[1.0, 2.0], [2.0, 1.0]]] * 2))
    assert "three or more records" in str(pairs_of(triple.factor_graph))
    several = graph_of(2, ([0, 1], [[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]]), states=[2, 3])
    assert "three or more possible values" in str(pairs_of(several.factor_graph))
    several = graph_of(
        2, ([1], [1.0, 1.0, 1.0, 0.0]), ([0, 1], [[1, 2, 3, 1], [2, 1, 1, 1]]), states=[2, 4]
    )
    assert "three or more possible values" in str(pairs_of(several.factor_graph))


# ------------------------------------------------------ large graphs, small costs, little time


def test_a_hub_of_rare_contacts_costs_what_the_reference_says() -> None:
    """30 contacts at base rate .02: 18.6 eps at eps .05, and 24.7 eps by contraction alone."""
    (case,) = (
        c for c in vectors("fields.json") if c["dp_epsilon"] == 0.05 and "31-0.02" in c["name"]
    )
    assert level(parse(case["population"]), 0.05) / 0.05 == pytest.approx(18.6, abs=0.05)


def test_large_graphs_agree_with_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = np.stack([np.arange(399), np.arange(1, 400)], axis=1)
    for make in (
        lambda: Graph(grid=(12, 15), table=[[9.0, 1.0], [1.0, 0.7]]),
        lambda: Graph(records=400, edges=edges, table=[[9.0, 1.0], [1.0, 0.7]]),
    ):
        small = level(make(), 0.6)
        with monkeypatch.context() as patched:
            patched.setattr(rising, "_LARGE", 0)
            assert small * (1 - 1e-11) <= level(make(), 0.6) <= small * (1 + 1e-6)
            patched.setattr(rising, "_MOST_ROUNDS_OF_LARGE", 12)
            down = level(make(), 0.6)
        assert small * (1 - 1e-11) <= down <= graph_level(make().factor_graph, 0.6).epsilon * 1.1


def test_two_numbers_are_a_super_solution_for_all_messages() -> None:
    prepared = messages_of(Graph(grid=(7, 9), table=[[9.0, 1.0], [1.0, 0.7]]))
    numbers, _ = prepared.uniform(0.6, 63)
    y = np.repeat(numbers, prepared.edges)
    assert (prepared.step(y, 0.6, prepared.ceiling(0.6)) <= y).all()
    assert (prepared.solve(0.6)[0] <= y * (1 + 1e-9)).all()
    assert len(prepared._kinds) < prepared.size / 4
    inside = uniform_level(prepared, 0.6, 63).epsilon
    assert inside == pytest.approx(0.6 + 4 * max(numbers), rel=1e-12)
    assert inside >= fields_level(prepared, 0.6).epsilon * (1 - 1e-9)
    corner = messages_of(Graph(grid=(3, 3), table=[[9.0, 1.0], [1.0, 0.7]]))
    assert uniform_level(corner, 0.6, 63).epsilon == pytest.approx(inside, rel=1e-12)


def test_levels_for_larger_costs_start_from_lower_ones() -> None:
    costs = np.geomspace(0.01, 8.0, 9)
    rising = messages_of(Graph(grid=(4, 4), table=[[9.0, 1.0], [1.0, 0.7]]))
    actual = [fields_level(rising, eps).epsilon for eps in costs]
    afresh = [level(Graph(grid=(4, 4), table=[[9.0, 1.0], [1.0, 0.7]]), eps) for eps in costs]
    assert actual == pytest.approx(afresh, rel=1e-10)
    assert [fields_level(rising, eps).epsilon for eps in costs[::-1]] == pytest.approx(
        afresh[::-1], rel=1e-10
    )


def test_small_and_large_costs() -> None:
    for eps in (1e-300, 1e-100, 1e-9):
        assert level(PLAIN, eps) / eps == pytest.approx(level(PLAIN, 1e-6) / 1e-6, rel=2e-6) or (
            eps == 1e-300 and level(PLAIN, eps) == pytest.approx(3 * eps)
        )
    weights = graph_level(PLAIN.factor_graph, 1e5).epsilon
    assert 1e5 + 1.0 < level(PLAIN, 1e5) <= weights * (1 + 1e-12)


def test_without_time_the_caps_stand() -> None:
    ticks = itertools.count()
    over = Deadline(0.5, clock=lambda: float(next(ticks)))
    graph = Graph(grid=(4, 4), table=[[9.0, 1.0], [1.0, 0.7]])
    prepared = messages_of(graph)
    actual = fields_level(prepared, 0.3, over).epsilon
    assert level(Graph(grid=(4, 4), table=[[9.0, 1.0], [1.0, 0.7]]), 0.3) <= actual
    y = prepared.uniform(0.3, 16)[0]
    assert actual == pytest.approx(0.3 + 4 * float(y.max()), rel=1e-9)
