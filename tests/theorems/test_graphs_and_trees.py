"""Graphical models and trees: no bound below the search over all mechanisms, and what is exact."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy import sparse

from bayesdp.leakage import influence
from bayesdp.leakage.contraction import _contract, _Weights, graph_level, messages_of
from bayesdp.leakage.deadline import Deadline
from bayesdp.leakage.influence import influence_factor, influence_matrix
from bayesdp.leakage.tree import tree_level
from bayesdp.notions import ApproxDP, Cost
from bayesdp.populations import Graph, MarkovChain, Tree
from bayesdp.theorems import Question, approximate, best_bound, report
from tests.effort import runs
from tests.oracles import chains, finite
from tests.theorems.test_against_brute_force import check, random_epsilons
from tests.theorems.test_vectors import BELOW, EXACT, ask, vectors


def levels(population, dp_epsilon: float, adversary: str = "any") -> dict[str, float]:
    report = population.leakage(dp_epsilon, adversary=adversary)
    return {bound.theorem: bound.epsilon for bound in report.bounds}


# ------------------------------------------------------ random models


def random_graph(rng: np.random.Generator, *, largest: int = 4, zeros: float = 0.0) -> Graph:
    """A model of 1 to `largest` records with factors of up to three, in loops as often as not."""
    records = int(rng.integers(1, largest + 1))
    sizes = rng.integers(2, 4 if records <= 3 else 3, size=records)
    factors = []
    for _ in range(int(rng.integers(1, records + 3))):
        arity = int(rng.integers(1, min(records, 3) + 1))
        between = rng.choice(records, size=arity, replace=False)
        table = np.exp(rng.normal(size=[sizes[j] for j in between]) * rng.choice([0.2, 0.8, 2.0]))
        if rng.random() < 0.5:
            table *= rng.random(table.shape) >= zeros
        table = table if table.any() else np.ones_like(table)
        factors.append({"between": between.tolist(), "table": table.tolist()})
    return Graph(records=records, states=sizes.tolist(), factors=factors)


def joint_of(graph: Graph) -> np.ndarray | None:
    """The law multiplied out, or nothing where the factors contradict each other."""
    factors = [{"between": factor.between, "table": factor.table} for factor in graph.factors]
    with np.errstate(invalid="ignore"):
        law = chains.factor_graph(graph.records, graph.states, factors)
    return law if np.isfinite(law).all() else None


def random_law(rng: np.random.Generator, states: int, zeros: bool) -> list[float]:
    law = rng.dirichlet(np.full(states, rng.choice([0.4, 1.0, 4.0])))
    if zeros and rng.random() < 0.4:
        law[rng.integers(states)] = 0.0
    return (law / law.sum()).tolist()


def random_tree(rng: np.random.Generator, records: int, states: int, zeros: bool) -> list[dict]:
    """Nodes of a tree, or now and then of a forest, with 2 to `states` states."""
    sizes = rng.integers(2, states + 1, size=records)
    nodes = []
    for i in range(records):
        if i == 0 or rng.random() < 0.1:
            nodes.append({"name": f"n{i}", "law": random_law(rng, sizes[i], zeros)})
            continue
        parent = int(rng.integers(i))
        rows = [random_law(rng, sizes[i], zeros) for _ in range(sizes[parent])]
        nodes.append({"name": f"n{i}", "parent": f"n{parent}", "transition": rows})
    return nodes


# ------------------------------------------------------ against brute force


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_graphs_are_never_below_brute_force(zeros):
    rng = np.random.default_rng([21, int(10 * zeros)])
    tried = 0
    for _ in range(runs(500)):
        graph = random_graph(rng, zeros=zeros)
        joint = joint_of(graph)
        if joint is not None:
            tried += 1
            check(graph, joint, random_epsilons(rng))
    assert tried >= runs(500) / 3


@pytest.mark.prove
def test_graphs_of_five_records():
    rng = np.random.default_rng(22)
    for _ in range(runs(30)):
        between = [[0, 1, 2], [2, 3], [3, 4], [4, 0], [1, 3]]
        factors = [
            {"between": item, "table": np.exp(rng.normal(size=(2,) * len(item))).tolist()}
            for item in between
        ]
        graph = Graph(records=5, states=2, factors=factors)
        check(graph, joint_of(graph), [float(rng.uniform(0.05, 2.0))])


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("states", [2, 3])
def test_trees_are_never_below_brute_force(states, zeros):
    rng = np.random.default_rng([23, states, zeros])
    for _ in range(runs(200)):
        nodes = random_tree(rng, int(rng.integers(1, 5 if states == 2 else 4)), states, zeros)
        check(Tree(nodes=nodes), chains.tree(nodes), random_epsilons(rng))


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [False, True])
def test_trees_of_two_states_are_exact_against_the_uninformed(zeros):
    rng = np.random.default_rng([24, zeros])
    for _ in range(runs(300)):
        nodes = random_tree(rng, int(rng.integers(1, 6)), 2, zeros)
        eps = float(10 ** rng.uniform(-3, 0.6))
        truth = finite.worst_case(chains.tree(nodes), eps, "uninformed").level
        actual = levels(Tree(nodes=nodes), eps, "uninformed")["tree-recursion"]
        assert max(truth, eps) - BELOW <= actual <= max(truth, eps) * (1 + 1e-9), nodes


# ------------------------------------------------------ reference values, through the command line


@pytest.mark.parametrize("case", vectors("graphs.json"), ids=lambda c: c["name"])
def test_reference_graphs(case):
    answer = ask(
        "leakage",
        json.dumps(case["population"]),
        "--epsilon",
        str(case["dp_epsilon"]),
        "--adversary",
        case["adversary"],
    )
    actual = {bound["theorem"]: bound["epsilon"] for bound in answer["bounds"]}
    assert actual["graph-contraction"] == pytest.approx(case["contraction"], abs=EXACT)
    if "exact" in case:
        assert all(value >= case["exact"] - BELOW for value in actual.values())


@pytest.mark.parametrize("case", vectors("fields.json"), ids=lambda c: c["name"])
def test_reference_fields(case):
    epsilon = str(case["dp_epsilon"])
    answer = ask("leakage", json.dumps(case["population"]), "--epsilon", epsilon)
    actual = {bound["theorem"]: bound["epsilon"] for bound in answer["bounds"]}
    assert actual["graph-contraction"] == pytest.approx(case["plain"], rel=1e-9)
    assert case.get("at_least", 0.0) - BELOW <= actual["graph-fields"] <= case.get("at_most", 1e9)
    assert actual["graph-fields"] == pytest.approx(case["fields"], rel=1e-9)


@pytest.mark.parametrize("case", vectors("trees.json"), ids=lambda c: c["name"])
def test_reference_trees(case):
    answer = ask(
        "leakage",
        json.dumps(case["population"]),
        "--epsilon",
        str(case["dp_epsilon"]),
        "--adversary",
        case["adversary"],
    )
    assert all(bound["epsilon"] >= case["exact"] - BELOW for bound in answer["bounds"])
    assert answer["best"]["epsilon"] <= 1.1 * case["exact"]


# ------------------------------------------------------ the messages


def contraction(c: float, ratio: float) -> float:
    """`f(c; R)`, from the logarithms that the engine takes."""
    log_c, log_ratio = np.array([math.log(c)]), np.array([math.log(ratio)])
    return float(np.exp(_contract(log_c, _Weights.of(log_ratio), log_ratio)[0]))


def test_the_contraction_function_by_its_definition():
    for c, ratio in [(1.5, 4.0), (10.0, 1.1), (3.0, 100.0)]:
        by_hand = ((1 + math.sqrt(c * ratio)) / (math.sqrt(c) + math.sqrt(ratio))) ** 2
        assert contraction(c, ratio) == pytest.approx(by_hand, rel=1e-12)
        odds = np.exp(np.linspace(-8, 8, 4001))  # the two-point worst case by search
        p, q = ratio * odds / (1 + ratio * odds), odds / (1 + odds)
        assert contraction(c, ratio) >= np.max((1 + (c - 1) * p) / (1 + (c - 1) * q))
    assert contraction(5.0, math.inf) == pytest.approx(5.0, rel=1e-12)


def test_where_a_ratio_is_infinite_any_cost_passes_on():
    logs = np.array([1.0, 60.0, 1000.0, 2000.0, 1e5])
    for log_ratio in (math.inf, 1415.0):
        ratios = np.full(5, log_ratio)
        passed = _contract(logs, _Weights.of(ratios), ratios)
        if log_ratio == math.inf:
            assert np.array_equal(passed, logs)
        else:
            assert np.all(passed >= 0.999 * np.minimum(logs, log_ratio))
    graph = Graph(grid=(4, 4), table=((1.0, 0.5), (0.5, 0.0)))
    assert levels(graph, 1e5)["graph-contraction"] == pytest.approx(16e5, rel=1e-12)


def test_contraction_keeps_its_precision_at_small_levels():
    graph = Graph(records=2, states=2, factors=[{"between": [0, 1], "table": [[2, 1], [1, 2]]}])
    # ln R = 2 ln 2, so 1 + tanh(ln R / 4) = 4 / 3 as eps tends to 0
    for eps in (1e-3, 1e-8, 1e-30, 1e-200):
        assert levels(graph, eps)["graph-contraction"] == pytest.approx(eps * 4 / 3, rel=1e-6)


def test_messages_are_super_solutions_by_an_independent_step():
    rng = np.random.default_rng(26)
    for _ in range(runs(200)):
        graph = random_graph(rng, largest=4, zeros=float(rng.choice([0.0, 0.3])))
        messages = messages_of(graph.factor_graph)
        if not messages.size:
            continue
        eps = float(10 ** rng.uniform(-3, 0.7))
        y = messages.solve(eps).y
        for block in messages.blocks:
            for f in range(block.count):
                slots = [block.start + p * block.count + f for p in range(block.arity)]
                for slot in slots:
                    others = [s for s in slots if s != slot]
                    log_c = 0.0
                    for other in others:
                        into = messages.record == messages.record[other]
                        log_c += eps + y[into].sum() - y[other]
                    more, less = math.expm1(log_c / 2), -math.expm1(-messages.log_ratio[slot] / 2)
                    log_f = 2 * math.log1p(more * less / (1 + (1 + more) * (1 - less)))
                    cap = (graph.factor_graph.component_sizes[messages.record[slot]] - 1) * eps
                    assert min(log_f, cap) <= y[slot] * (1 + 1e-12)


def test_a_beaten_theorem_stops_early_with_a_proven_level() -> None:
    """Messages of a large graph are not searched for where no solution is below a known level."""
    weak = Graph(grid=(90, 90), table=[[1.1, 1.0], [1.0, 1.1]])
    least = graph_level(weak.factor_graph, 0.5).epsilon
    messages = messages_of(weak.factor_graph)
    for beaten, early in ((0.99 * least, True), (1.01 * least, False), (math.inf, False)):
        messages._solved = None
        level = graph_level(weak.factor_graph, 0.5, beaten=beaten)
        assert level.epsilon >= least * (1 - 1e-9)
        assert (level.rounds == 0) == early
        ceiling = messages.ceiling(0.5)
        y = messages.solve(0.5, beaten=beaten).y
        assert (messages.step(y, 0.5, ceiling) <= y * (1 + 1e-12)).all()  # so it is proved
        if early:
            assert messages._solved is None  # else the theorem's own level would be lost
            assert level.epsilon >= beaten
    # What is proved when the time is over is not kept: there may be less.
    stopped = messages.solve(0.25, deadline=Deadline(0.0))
    assert messages._solved is None or messages._solved[0] != 0.25
    assert stopped.y.max() >= messages.solve(0.25).y.max()
    assert messages.solve(0.25) is messages.solve(0.25)
    question = Question(weak)
    for eps in (0.01, 0.5, 3.0):  # the best level is the same, whichever theorem has it
        full = report(question, Cost(any=eps)).best
        messages._solved = None
        quick = report(question, Cost(any=eps), search=True)
        messages._solved = None
        assert (quick.best.theorem, quick.best.epsilon) == (full.theorem, full.epsilon)
        contraction = next(each for each in quick.bounds if each.theorem == "graph-contraction")
        # It is asked after the theorem that may beat it, so that it can stop early.
        assert (contraction.evidence["rounds"] == 0) == (full.theorem != "graph-contraction")
        assert best_bound(question, Cost(any=eps)).epsilon == full.epsilon


def test_a_chain_as_a_graph_gives_the_closed_form_of_long_chains():
    flip = 0.1
    table = [[1 - flip, flip], [flip, 1 - flip]]
    edges = np.stack([np.arange(2999), np.arange(1, 3000)], axis=1)
    graph = Graph(records=3000, edges=edges, table=table)
    chain = MarkovChain(transition=table, length=3000)
    for eps in (0.01, 1.0, 5.0):
        closed = levels(chain, eps)["markov-contraction"]
        assert levels(graph, eps)["graph-contraction"] == pytest.approx(closed, rel=1e-9)


def test_a_tree_that_is_a_chain_gives_the_recursion_of_chains():
    nodes = [{"name": "0", "law": [0.5, 0.5]}]
    rows = [[0.8, 0.2], [0.3, 0.7]]
    nodes += [{"name": str(i), "parent": str(i - 1), "transition": rows} for i in range(1, 9)]
    chain = MarkovChain(transition=rows, initial=(0.5, 0.5), length=9)
    for eps in (0.01, 1.0, 4.0):
        exact = levels(chain, eps, "uninformed")["markov-recursion"]
        assert tree_level(Tree(nodes=nodes), eps) == pytest.approx(exact, rel=1e-12)


def test_many_states_agree_with_two_where_states_are_doubled():
    # each state split into two that behave alike: the same level, through linear programs
    def double(row):
        return [value / 2 for value in row for _ in range(2)]

    plain = [{"name": "a", "law": [0.3, 0.7]}]
    split = [{"name": "a", "law": double([0.3, 0.7])}]
    for child, rows in (("b", [[0.9, 0.1], [0.2, 0.8]]), ("c", [[0.4, 0.6], [0.7, 0.3]])):
        plain.append({"name": child, "parent": "a", "transition": rows})
        doubled = [double(row) for row in rows for _ in range(2)]
        split.append({"name": child, "parent": "a", "transition": doubled})
    for eps in (0.1, 1.5):
        exact = tree_level(Tree(nodes=plain), eps)
        assert tree_level(Tree(nodes=split), eps) == pytest.approx(exact, rel=1e-9)


def test_levels_rise_with_the_cost_on_a_large_grid():
    graph = Graph(grid=(100, 100), table=[[1.5, 1.0], [1.0, 1.5]])
    actual = [graph_level(graph.factor_graph, eps).epsilon for eps in np.geomspace(1e-4, 10, 12)]
    assert all(a < b for a, b in itertools.pairwise(actual))
    small = Graph(grid=(50, 50), table=[[1.5, 1.0], [1.0, 1.5]])  # by the other route
    for eps in (0.01, 1.0):
        big = graph_level(graph.factor_graph, eps).epsilon
        assert graph_level(small.factor_graph, eps).epsilon == pytest.approx(big, rel=1e-5)


def test_impossible_values_and_shared_zeros_do_no_harm():
    table = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]  # the third value never happens
    graph = Graph(records=2, states=3, factors=[{"between": [0, 1], "table": table}])
    plain = Graph(records=2, states=2, factors=[{"between": [0, 1], "table": [[2, 1], [1, 2]]}])
    assert levels(graph, 0.7) == pytest.approx(levels(plain, 0.7), rel=1e-9)
    hard = Graph(records=2, states=2, factors=[{"between": [0, 1], "table": [[1, 0], [0, 1]]}])
    assert levels(hard, 0.7)["graph-contraction"] == pytest.approx(1.4, rel=1e-12)
    assert "graph-influence" not in levels(hard, 0.7)


def test_a_factor_of_independence_costs_nothing():
    graph = Graph(records=2, states=2, factors=[{"between": [0, 1], "table": [[1, 1], [1, 1]]}])
    assert levels(graph, 0.7)["graph-contraction"] == 0.7
    best = approximate(Question(graph), ApproxDP(0.7, 1e-6)).best
    assert (best.epsilon, best.delta) == (0.7, 1e-6)


# ------------------------------------------------------ the influence matrix


def test_influence_factors_by_the_inverse():
    rng = np.random.default_rng(27)
    for _ in range(runs(100)):
        n = int(rng.integers(2, 30))
        kappa = np.triu(rng.uniform(0, 1, size=(n, n)) * (rng.random((n, n)) < 0.3), 1)
        kappa += kappa.T
        kappa *= rng.uniform(0.2, 0.98) / max(np.abs(np.linalg.eigvalsh(kappa)).max(), 0.1)
        kappa = np.minimum(kappa, 1.0)
        inverse = np.linalg.inv(np.eye(n) - kappa)
        exact = np.max(inverse.sum(axis=1) / inverse.diagonal())
        factor, _ = influence_factor(sparse.csr_array(kappa))
        assert exact * (1 - 1e-12) <= factor <= exact * (1 + 1e-8)


def test_influence_factors_of_large_matrices_are_above_the_exact_ones(monkeypatch):
    graph = Graph(grid=(12, 12), table=[[1.2, 1.0], [1.0, 1.2]])
    kappa = influence_matrix(graph.factor_graph)
    exact, _ = influence_factor(kappa)
    monkeypatch.setattr(influence, "LARGEST_DENSE", 0)
    quick, _ = influence_factor(kappa)
    assert exact <= quick <= 1.01 * exact


@pytest.mark.parametrize("radius", [1.0, 1.2])
def test_strong_influences_are_refused(radius):
    ring = sparse.csr_array(np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0))
    assert influence_factor(ring * (radius / 2)) is None


def test_pairs_in_several_factors_multiply():
    tables = [[[2, 1], [1, 2]], [[3, 1], [1, 1]]]
    factors = [{"between": [0, 1], "table": t} for t in tables]
    kappa = influence_matrix(Graph(records=2, states=2, factors=factors).factor_graph).toarray()
    assert kappa[0, 1] == pytest.approx(math.tanh(math.log(4 * 3) / 4), rel=1e-12)
    assert kappa[0, 1] == kappa[1, 0]
