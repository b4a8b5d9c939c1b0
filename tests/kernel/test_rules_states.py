"""The rule for graphs of any values and factors: against the package, brute force and evidence."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.models import thresholds as of_kernel
from bayesdp.kernel.models.graphs import read_model
from bayesdp.kernel.models.state_fields import StateFields
from bayesdp.leakage import state_fields
from bayesdp.leakage import thresholds as of_engine
from bayesdp.leakage.merged_factors import merged_factors
from bayesdp.leakage.state_fields import StateMessages, states_level
from bayesdp.notions import Cost
from bayesdp.populations import Graph, Network
from bayesdp.statements.graphs import GraphFactors
from tests.effort import runs
from tests.kernel.steps import agreed, bare, make_step, refused
from tests.leakage.test_fields import BELOW, graph_of, random_epsilon
from tests.leakage.test_state_fields import (
    THREE,
    of_states,
    pairs_of_rows,
    random_evidence,
    random_states,
)
from tests.oracles import finite

RULE = "graph-fields"


def agrees(population: Graph | Network, dp_epsilon: float) -> float:
    return agreed(population, Cost(any=dp_epsilon), {RULE})[RULE]


@pytest.mark.prove
def test_random_graphs_agree_with_the_package_and_no_mechanism_leaks_more() -> None:
    rng = np.random.default_rng(3721)
    for _ in range(runs(400)):
        graph, eps = random_states(rng), random_epsilon(rng)
        joint = of_states(graph)
        if joint is not None:
            truth = max(finite.worst_case(joint, eps).level, eps)
            assert agrees(graph, eps) >= truth - BELOW, (graph.spec(), eps)


def random_network(rng: np.random.Generator) -> Network:
    """Four records, up to three parents, rows that repeat, and zeros."""
    nodes: list[dict[str, Any]] = []
    sizes: list[int] = []
    for number in range(4):
        parents = [p for p in range(number) if rng.random() < 0.6]
        size = int(rng.integers(2, 4))
        rows = rng.dirichlet(np.ones(size), size=3)
        rows[0] = np.eye(size)[0] if rng.random() < 0.2 else np.round(rows[0], 1)
        rows[0] /= rows[0].sum()
        table = rows[rng.integers(3, size=[sizes[p] for p in parents])]
        names = {"parents": [f"n{p}" for p in parents]} if parents else {}
        nodes.append({"name": f"n{number}", "states": size, "table": table.tolist()} | names)
        sizes.append(size)
    return Network(nodes=nodes)


def test_networks_whose_rows_repeat_agree_with_the_package() -> None:
    rng = np.random.default_rng(3722)
    for _ in range(runs(100, least=6)):
        agreed(random_network(rng), Cost(any=random_epsilon(rng)), {RULE, "graph-contraction"})


def test_merged_factors_known_records_and_large_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).uniform(0.2, 3.0, (2, 3, 2, 2))
    table[..., 1] = 0.0
    pair = [[1.0, 2.0], [0.5, 0.3], [1.0, 4.0]]
    graph = graph_of(
        4, ([1, 2, 0, 3], table.transpose(1, 2, 0, 3).tolist()), ([1, 0], pair),
        ([3, 1], [[1.0, 2.0, 3.0], [1.0] * 3]), ([2], [1.0, 0.01]), states=[2, 3, 2, 2],
    )  # fmt: skip
    sharp = agrees(graph, 0.6)
    for module in (of_kernel, of_engine):
        monkeypatch.setattr(module, "MOST_SETTINGS", 3)
    again = Graph(**{key: value for key, value in graph.spec().items() if key != "model"})
    assert agrees(again, 0.6) > sharp


def test_like_messages_share_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [8, 9]]
    each = agrees(Graph(records=10, edges=edges, table=THREE), 0.3)
    monkeypatch.setattr(state_fields, "MOST_THRESHOLDS", 0)
    assert agrees(Graph(records=10, edges=edges, table=THREE), 0.3) >= each * (1 - 1e-12)


@pytest.mark.parametrize("small_first", [True, False])
def test_like_messages_of_components_of_two_sizes_are_capped_by_the_larger(
    small_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    strong = [[math.exp(6.0) if a == b else 1.0 for b in range(3)] for a in range(3)]
    sizes, edges, start = (3, 6) if small_first else (6, 3), [], 0
    for size in sizes:
        edges += [[start + i, start + (i + 1) % size] for i in range(size)]
        start += size
    monkeypatch.setattr(state_fields, "MOST_THRESHOLDS", 0)
    graph = Graph(records=9, edges=edges, table=strong)
    assert agrees(graph, 0.3) == pytest.approx(6 * 0.3)


def test_a_large_grid_has_every_kind_of_pair_in_a_corner() -> None:
    mild = [[1.3, 1.0, 0.3], [1.0, 1.2, 0.2], [0.3, 0.25, 0.1]]
    for sides in ((21, 20), (2, 300), (1, 500)):
        inside = agrees(Graph(grid=(min(sides[0], 12), 12), table=mild), 0.3)
        assert agrees(Graph(grid=sides, table=mild), 0.3) >= inside * (1 - 1e-9)
    hard = [[1.3, 1.0, 0.0], [1.0, 1.2, 0.2], [0.3, 0.25, 0.1]]
    step = make_step(
        RULE, bare(Graph(grid=(21, 20), table=hard)), Cost(any=0.3), details={"messages": [1.0]}
    )
    assert "a zero among its weights" in refused(step)


def test_what_nothing_depends_on_costs_nothing() -> None:
    for graph in (
        graph_of(2, ([0], [1.0, 2.0, 3.0]), states=3),
        graph_of(2, ([0, 1], [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), states=[2, 3]),
    ):
        assert agrees(graph, 0.7) == 0.7
    loose = graph_of(2, ([0], [1.0, 2.0, 3.0]), states=3)
    assert certified_level(make_step(RULE, bare(loose), Cost(any=0.7))) == 0.7


def test_a_message_that_is_a_little_too_low_is_refused() -> None:
    graph = Graph(grid=(1, 3), table=THREE)
    prepared = state_fields.state_messages(graph.factor_graph)
    assert not isinstance(prepared, str)
    witness = state_fields.states_level(prepared, 0.4)[1]
    for place in range(len(witness)):
        lower = [y * (1 - 1e-6 * (n == place)) for n, y in enumerate(witness)]
        details = {"messages": lower}
        assert "raises it" in refused(make_step(RULE, bare(graph), Cost(any=0.4), details=details))


def test_each_step_is_the_same_in_doubles_and_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message, by messages of all sizes; also where small factors are taken for large."""
    rng = np.random.default_rng(3724)
    for case in range(runs(400, least=40)):
        graph, eps = random_states(rng), random_epsilon(rng)
        with monkeypatch.context() as patched:
            for module in (of_kernel, of_engine):
                patched.setattr(module, "MOST_SETTINGS", 2 if case % 4 == 0 else 27)
            merged = merged_factors(graph.factor_graph, False, 1000)
            if isinstance(merged, str):
                continue
            engine = StateMessages(merged, shared := case % 3 == 0)
            witness = states_level(engine, eps)[1]
            exact = read_model(GraphFactors.model_validate(bare(graph)))
            whole = 3 if shared else None
            rule = StateFields(exact, Fraction(eps), [eps * 2] * len(witness), whole)
            for _ in range(3):
                y = rng.uniform(0.0, 2.0, size=len(witness)) * eps * rng.choice([0.01, 1.0])
                expected = engine.step(y, eps, np.full(len(y), 2 * eps))
                steps = rule._step([arb(entry) for entry in y], rule._steps())
                assert [float(entry) for entry in steps] == pytest.approx(
                    np.minimum(expected, [float(cap) for cap in rule.caps]), rel=1e-9, abs=1e-13
                ), (graph.spec(), eps)


def test_steps_are_above_what_random_evidence_makes() -> None:
    rng = np.random.default_rng(3723)
    for _ in range(runs(600, least=60)):
        for (alpha, beta), apart in pairs_of_rows(rng):
            exact = [[Fraction(weight) for weight in row] for row in (alpha, beta)]
            bounds = [[arb(number).exp() for number in row] for row in apart.tolist()]
            pair = of_kernel._Pair(*exact, bounds)
            s = float(10 ** rng.uniform(-2.0, 1.0))
            for above, below in pair.parts():
                step = pair.step(above, below)
                assert step is not None
                most = float(step.passed(arb(s)))
                for _ in range(6):
                    nu = np.exp(random_evidence(rng, apart))
                    raised = np.where(np.isin(np.arange(len(nu)), above), math.exp(s), 1.0)
                    first, second = (
                        (row * nu * raised).sum() / (row * nu).sum() for row in (alpha, beta)
                    )
                    assert math.log(first / second) <= most + 1e-9


def test_what_is_impossible_in_both_rows_is_left_out_if_others_are_more_likely() -> None:
    zero, even, near, none = Fraction(0), Fraction(1), arb(2), None
    first, second = [even, zero, zero, even], [zero, even, zero, zero]
    for known, left_out in (
        ([near, near, arb(1), near], True),
        ([near, near, arb(1), none], True),
        ([none, near, arb(1), near], True),
        ([near, none, arb(1), near], False),
        ([none, near, arb(1), none], False),
        ([none, none, arb(1), none], False),
    ):
        pair = of_kernel._Pair(first, second, [[near] * 4, [near] * 4, known, [near] * 4])
        assert (2 in pair.order) is not left_out
        apart = [
            [math.inf if bound is None else float(bound.log()) for bound in row]
            for row in pair.most
        ]
        by_engine = of_engine._Pair(first, second, [(z,) for z in range(4)], apart)
        assert by_engine.order == pair.order


def test_zeros_order_settings_and_make_bounds_infinite() -> None:
    """Two rows of four settings: with a zero in one row, in both, and against endless evidence."""
    zero, even = Fraction(0), Fraction(1)
    near, none = arb(2), None
    first, second = [even, even * 2, zero, zero], [zero, even, even, zero]
    pair = of_kernel._Pair(first, second, [[near] * 4 for _ in range(4)])
    assert list(pair.parts()) == [([0], [1, 2]), ([0, 1], [2])]  # the last is left out
    pair = of_kernel._Pair(first, second, [[none] * 4 for _ in range(4)])
    assert list(pair.parts()) == [([0], [1, 3, 2]), ([0, 1], [3, 2]), ([0, 1, 3], [2])]
    step = pair.step([0], [1, 3, 2])
    assert step is not None
    assert float(step.passed(arb(2.0))) == pytest.approx(2.0)  # nothing but the cost bounds it
    only = of_kernel._Pair([zero, zero], [even, even * 2], [[near] * 2 for _ in range(2)])
    assert list(only.parts()) == [([0], [1])]


def test_a_factor_of_a_known_record_is_read_alike_where_zeros_decide() -> None:
    """Record 0 is known by the factor of 1 and 0: what is impossible goes before factors merge."""
    tables: list[tuple[list[int], Any]] = [
        ([0], [1.0, 54.6]), ([2], [0.59, 0.46, 2.95]), ([3], [6.2, 0.39]),
        ([1, 0], [[0.0, 0.0], [54.6, 0.018]]),
        ([2, 1], [[5.5, 0.23], [0.0, 20.8], [1.17, 0.81]]),
        ([2, 1, 0], [[[0.0, 0.0], [0.0082, 4.57]], [[0.062, 0.19], [0.0, 5.68]],
                     [[0.002, 13.6], [5.86, 2.92]]]),
        ([0, 2, 3], [[[1.09, 1.6], [0.0, 0.85], [0.91, 0.0]],
                     [[1.36, 0.64], [1.59, 0.0], [0.88, 0.96]]]),
        ([3, 2, 1], [[[0.018, 1.0], [0.00034, 0.018], [2981.0, 0.0]],
                     [[1.0, 54.6], [1.0, 0.0], [0.0, 1.0]]]),
    ]  # fmt: skip
    factors = [{"between": members, "table": table} for members, table in tables]
    graph = Graph(records=4, states=[2, 2, 3, 2], factors=factors)
    joint = of_states(graph)
    assert joint is not None
    assert agrees(graph, 0.2867) >= finite.worst_case(joint, 0.2867).level * BELOW
