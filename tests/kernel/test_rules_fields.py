"""The rule for graphs of two values: against the package, brute force, and what it must refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy.special import expit

from bayesdp.kernel.arithmetic import InvalidError, TooSlowError, limited
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.rules import graph_fields
from bayesdp.kernel.steps import fixed_points
from bayesdp.kernel.steps.fixed_points import ascended
from bayesdp.kernel.steps.odds_steps import Step
from bayesdp.notions import Cost
from bayesdp.populations import Graph, Tree, parse
from tests.effort import runs
from tests.kernel.steps import agreed, bare, make_step, refused
from tests.leakage.test_fields import BELOW, graph_of, joint_of, random_epsilon, random_pairs
from tests.oracles import finite
from tests.theorems.test_graphs_and_trees import random_tree
from tests.theorems.test_vectors import vectors

RULE = "graph-fields"


def proved(graph: Graph | Tree, dp_epsilon: float) -> float:
    return certified_level(make_step(RULE, bare(graph), Cost(any=dp_epsilon)))


@pytest.mark.parametrize("case", vectors("fields.json"), ids=lambda case: case["name"])
def test_reference_values(case: dict[str, Any]) -> None:
    level = proved(parse(case["population"]), case["dp_epsilon"])
    assert level == pytest.approx(case["fields"], rel=1e-10)
    assert case.get("at_least", 0.0) - BELOW <= level <= case.get("at_most", math.inf)


@pytest.mark.prove
def test_random_graphs_agree_with_the_package_and_no_mechanism_leaks_more() -> None:
    rng = np.random.default_rng(381)
    for _ in range(runs(600)):
        graph, eps = random_pairs(rng, 4), random_epsilon(rng)
        joint = joint_of(graph)
        if joint is not None:
            level = agreed(graph, Cost(any=eps), {RULE})[RULE]
            assert level >= max(finite.worst_case(joint, eps).level, eps) - BELOW


@pytest.mark.prove
def test_random_trees_agree_with_the_package() -> None:
    rng = np.random.default_rng(382)
    for _ in range(runs(200)):
        tree = Tree(nodes=random_tree(rng, int(rng.integers(1, 9)), 2, True))
        agreed(tree, Cost(any=random_epsilon(rng)), {RULE, "graph-contraction"})


def test_other_values_and_known_records() -> None:
    """A third value that is impossible, a record with one value, and a pair in two factors."""
    plain = graph_of(
        3, ([1], [1.0, 0.2]), ([0, 1], [[3.0, 2.0], [1.0, 4.0]]), ([1, 2], [[2, 1], [1, 3]])
    )
    other = graph_of(
        4,
        ([1], [0.0, 1.0, 0.1]),
        ([1, 0], [[7.0, 7.0], [3.0, 1.0], [2.0, 2.0]]),
        ([0, 1], [[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]]),
        ([1, 2], [[5, 5], [2, 1], [1, 3]]),
        ([3], [0.0, 1.0]),
        ([3, 1], [[0.1, 9.0, 1.0], [5.0, 1.0, 2.0]]),
        states=[2, 3, 2, 2],
    )
    assert proved(other, 0.7) == pytest.approx(proved(plain, 0.7), rel=1e-12)
    assert proved(plain, 0.7) < 0.7 + 0.9 * (
        certified_level(make_step("graph-contraction", bare(plain), Cost(any=0.7))) - 0.7
    )


def test_what_nothing_depends_on_costs_nothing() -> None:
    assert proved(graph_of(2, ([0, 1], [[1.0, 2.0], [3.0, 6.0]])), 0.7) == 0.7
    assert proved(graph_of(2, ([0], [1.0, 2.0])), 0.7) == 0.7
    constant = graph_of(2, ([0], [0.0, 2.0]), ([0, 1], [[1.0, 2.0], [3.0, 1.0]]))
    assert proved(constant, 0.7) == 0.7


@pytest.mark.parametrize(
    ("table", "own", "due"),
    [
        # Two records, one step from s = eps: ln (1 - p + x p) / (1 - q + x q) by hand.
        ([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.1], lambda e: 2 * e),
        ([[1.0, 0.0], [1.0, 1.0]], [1.0, 1.0], lambda e: e + math.log((1 + math.exp(e)) / 2)),
        (
            [[3.0, 1.0], [1.0, 3.0]],
            [1.0, 1.0],
            lambda e: e + math.log((1 + 3 * math.exp(e)) / (3 + math.exp(e))),
        ),
    ],
)
def test_two_records_by_hand(table: Any, own: Any, due: Any) -> None:
    for eps in (0.01, 0.7, 0.9):
        pair = graph_of(2, ([1], own), ([0, 1], table))
        assert proved(pair, eps) == pytest.approx(due(eps), rel=1e-12)


def test_a_large_grid_of_more_values_needs_a_witness() -> None:
    three = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    grid = Graph(grid=(80, 80), table=three)
    assert "three or more possible values" in refused(make_step(RULE, bare(grid), Cost(any=0.5)))


def test_a_contradiction_that_only_merged_factors_show_is_refused() -> None:
    apart = graph_of(2, ([0, 1], [[1.0, 0.0], [0.0, 1.0]]), ([1, 0], [[0.0, 1.0], [1.0, 0.0]]))
    assert "no values" in refused(make_step(RULE, bare(apart), Cost(any=0.5)))


def test_large_grids_are_bounded_by_their_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [[9.0, 1.0], [1.0, 0.7]]
    for sides, max_degree in (((4, 7), 4), ((1, 9), 2), ((2, 6), 3)):
        whole = proved(Graph(grid=sides, table=table), 0.4)
        with monkeypatch.context() as patched:
            patched.setattr(graph_fields, "MOST_PAIRS", 3)
            inside = proved(Graph(grid=sides, table=table), 0.4)
        ratio = math.log(9.0 * 0.7)
        plain = 0.4 + max_degree * ratio
        assert whole * (1 - 1e-12) <= inside <= plain
    for table in ([[1.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]]):
        for sides in ((5, 6), (1, 9)):
            hard = Graph(grid=sides, table=table)
            step = make_step(RULE, bare(hard), Cost(any=0.4))
            sharp = certified_level(step)
            with monkeypatch.context() as patched:
                patched.setattr(graph_fields, "MOST_PAIRS", 3)
                assert certified_level(step) >= sharp * (1 - 1e-12)


def test_many_pairs_have_two_numbers_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub of many, where what each value passes on is not the same."""
    rng = np.random.default_rng(383)
    for _ in range(runs(100)):
        graph, eps = random_pairs(rng, 5), random_epsilon(rng)
        if joint_of(graph) is None:
            continue
        sharp = proved(graph, eps)
        with monkeypatch.context() as patched:
            patched.setattr(graph_fields, "MOST_PAIRS", 0)
            assert proved(graph, eps) >= sharp * (1 - 1e-11)
            patched.setattr(fixed_points, "_MOST_UPDATES", 0)  # then by caps alone
            assert proved(graph, eps) >= sharp * (1 - 1e-11)


def test_a_guess_that_is_too_low_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(3, ([0, 1], [[3.0, 2.0], [1.0, 4.0]]), ([1, 2], [[2, 1], [1, 3]]))
    right = proved(graph, 0.7)

    def scaled(factor: float) -> Any:
        def guess(step: Any, caps: Any) -> list[float]:
            return [entry * factor for entry in ascended(step, caps) or ()]

        return guess

    for factor in (0.5, 1 - 1e-6):
        monkeypatch.setattr(graph_fields, "ascended", scaled(factor))
        with pytest.raises(InvalidError, match="a step raises it"):
            proved(graph, 0.7)
    monkeypatch.setattr(graph_fields, "ascended", scaled(1.0))
    assert proved(graph, 0.7) == right


def test_guesses_are_a_hair_above_and_end() -> None:
    y = ascended(lambda y: [1 + y[0] / 2, y[0]], [9.0, 1.5])
    assert y is not None
    assert 2.0 <= y[0] <= 2.0 * (1 + 1e-11)
    assert y[1] == 1.5
    assert ascended(lambda y: [1 + y[0]], [1e9]) is None
    assert ascended(lambda y: [1 + y[0]], [7.5]) == [7.5]


def test_guesses_end_when_the_time_is_over() -> None:
    with limited(0.0), pytest.raises(TooSlowError):
        ascended(lambda y: [1 + y[0]], [1e9])


def test_steps_in_doubles_and_in_balls_are_the_same() -> None:
    rng = np.random.default_rng(384)
    for _ in range(200):
        high, low = sorted(rng.normal(size=2) * 3, reverse=True)
        least, most = sorted(rng.normal(size=2) * 4)
        ends = [arb(x) if rng.random() < 0.8 else None for x in (high, low, least, most)]
        step, s = Step.of(*ends), float(10 ** rng.uniform(-3, 2.0))
        by_ball = step.passed(arb(s))
        assert step.passed(s) == pytest.approx(float(by_ball), rel=1e-9)
        assert float(by_ball) <= s * (1 + 1e-15)
        trials = np.clip(
            np.linspace(-200, 200, 8001),
            -np.inf if ends[2] is None else least,
            np.inf if ends[3] is None else most,
        )
        p = 1.0 if ends[0] is None else expit(trials + high)
        q = 0.0 if ends[1] is None else expit(trials + low)
        gained = np.log1p(p * math.expm1(s)) - np.log1p(q * math.expm1(s))
        largest = float(np.max(gained))
        assert largest <= float(by_ball) * (1 + 1e-9)
        assert float(by_ball) <= largest * (1 + 1e-2) + 1e-9
