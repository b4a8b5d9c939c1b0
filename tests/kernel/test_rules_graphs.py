"""Rules for graphs, trees and families, and the ratios of averages under the trees' recursion."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import linprog

from bayesdp.kernel.arithmetic import PRECISION, InvalidError, UnknownError
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.models.graphs import read_model
from bayesdp.kernel.reading import stated_population
from bayesdp.kernel.steps.ratios import ratio_bound, threshold
from bayesdp.leakage.contraction import graph_level
from bayesdp.notions import Cost
from bayesdp.populations import Family, Graph, Network, Tree
from bayesdp.theorems import Question, report
from tests.effort import runs
from tests.kernel.steps import ROUNDING, agreed, bare, derive, make_step, read_of, refused
from tests.oracles import chains, finite
from tests.theorems.test_graphs_and_trees import joint_of, random_graph, random_tree

RULES = {"graph-contraction", "graph-fields", "graph-influence", "tree-recursion"}
BELOW = 1e-9


@pytest.fixture(autouse=True)
def _precision() -> None:
    """The kernel sets it when it reads its first number; some tests here begin further inside."""
    ctx.prec = PRECISION


def random_epsilon(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-2, 0.6))


# ------------------------------------------------------ ratios of averages


def closed_costs(rng: np.random.Generator, states: int) -> np.ndarray:
    logs = rng.exponential(rng.choice([0.1, 1.0, 4.0]), size=(states, states))
    np.fill_diagonal(logs, 0.0)
    for k in range(states):
        logs = np.minimum(logs, logs[:, [k]] + logs[[k], :])
    return np.exp(logs)


def random_laws(rng: np.random.Generator, states: int) -> tuple[list[arb], list[arb]]:
    laws = []
    for _ in range(2):
        weights = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0])))
        if rng.random() < 0.3 and states > 1:
            weights[rng.integers(states)] = 0.0
        balls = [arb(float(weight)) for weight in weights]
        total = sum(balls, arb(0))
        laws.append([ball / total for ball in balls])
    return laws[0], laws[1]


def by_program(p: list[arb], q: list[arb], cost: np.ndarray) -> float:
    states = len(p)
    rows = []
    for v, w in itertools.permutations(range(states), 2):
        row = np.zeros(states)
        row[v], row[w] = 1.0, -cost[v, w]
        rows.append(row / max(1.0, cost[v, w]))
    fp, fq = np.array([float(x) for x in p]), np.array([float(x) for x in q])
    solution = linprog(
        -fp, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=fq[None], b_eq=[1.0]
    )
    return -solution.fun


@pytest.mark.parametrize("states", [2, 3, 4, 7, 10])
def test_ratios_are_those_of_the_linear_program(states):
    rng = np.random.default_rng([61, states])
    for _ in range(runs(60)):
        p, q = random_laws(rng, states)
        cost = closed_costs(rng, states)
        balls = [[arb(float(c)) for c in row] for row in cost]
        bound, tree = ratio_bound(p, q, balls)
        assert float(bound) == pytest.approx(by_program(p, q, cost), rel=1e-6)
        assert float(bound.rad()) < 1e-30 * float(bound)
        again, _ = ratio_bound(p, q, balls, tree)
        assert float(again) == pytest.approx(float(bound), rel=1e-14)
        least = float(threshold(p, q, balls))
        assert least >= float(bound) * (1 - 1e-14)


def test_any_hint_and_any_costs_prove_a_true_bound():
    rng = np.random.default_rng(62)
    for _ in range(runs(200)):
        states = int(rng.integers(3, 6))
        p, q = random_laws(rng, states)
        cost = np.exp(rng.exponential(size=(states, states)))  # the triangle inequality fails
        np.fill_diagonal(cost, 1.0)
        balls = [[arb(float(c)) for c in row] for row in cost]
        hint = tuple(
            tuple(map(int, rng.integers(-1, states + 1, size=2))) for _ in range(states - 1)
        )
        bound, _ = ratio_bound(p, q, balls, hint)
        assert float(bound) >= by_program(p, q, cost) * (1 - 1e-6)


def test_flows_that_are_not_optimal_still_prove_something(monkeypatch):
    """Whatever tree is the last, what it proves is true."""
    rng = np.random.default_rng(63)
    for _ in range(runs(200, least=80)):
        states = int(rng.integers(3, 6))
        p, q = random_laws(rng, states)
        cost = closed_costs(rng, states)
        balls = [[arb(float(c)) for c in row] for row in cost]

        def bad(p, q, cost, alive):
            order = rng.permutation(alive).tolist()
            tree = [(v, order[int(rng.integers(i))]) for i, v in enumerate(order) if i]
            return tuple(e if rng.random() < 0.5 else e[::-1] for e in tree)

        monkeypatch.setattr("bayesdp.kernel.steps.ratios._start", bad)
        monkeypatch.setattr("bayesdp.kernel.steps.ratios.MOST_PIVOTS", int(rng.integers(2)))
        bound, _ = ratio_bound(p, q, balls)
        assert not float(bound) < by_program(p, q, cost) * (1 - 1e-6)


# ------------------------------------------------------ graphs and trees


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_graphs(zeros):
    rng = np.random.default_rng([64, int(10 * zeros)])
    seen = set()
    for _ in range(runs(200)):
        graph = random_graph(rng, zeros=zeros)
        joint = joint_of(graph)
        if joint is None:
            continue
        eps = random_epsilon(rng)
        answer = agreed(graph, Cost(any=eps), RULES, str(rng.choice(["any", "uninformed"])))
        truth = max(finite.worst_case(joint, eps).level, eps)
        assert all(level >= truth - BELOW for level in answer.values())
        seen |= set(answer)
    assert seen == RULES - {"tree-recursion"}


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("states", [2, 4])
def test_trees(states, zeros):
    rng = np.random.default_rng([65, states, zeros])
    for _ in range(runs(100)):
        tree = Tree(nodes=random_tree(rng, int(rng.integers(1, 9)), states, zeros))
        cost = Cost(any=random_epsilon(rng))
        assert "graph-contraction" in agreed(tree, cost, RULES)
        # With more states the package keeps a tree of flows that is good up to 1e-9.
        assert "tree-recursion" in agreed(tree, cost, RULES, "uninformed", 1e-7)


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [False, True])
def test_trees_against_brute_force(zeros):
    rng = np.random.default_rng([66, zeros])
    for states, records in [(2, 6), (3, 4)]:
        for _ in range(runs(100, least=10)):
            nodes = random_tree(rng, int(rng.integers(1, records)), states, zeros)
            tree, eps = Tree(nodes=nodes), random_epsilon(rng)
            actual = agreed(tree, Cost(any=eps), RULES, "uninformed", 1e-7)["tree-recursion"]
            truth = max(finite.worst_case(chains.tree(nodes), eps, "uninformed").level, eps)
            assert actual >= truth - BELOW
            if states == 2:
                assert actual <= truth * (1 + 1e-9)


def test_large_models():
    rng = np.random.default_rng(67)
    table = [[1.5, 1.0], [1.0, 1.5]]
    cost = Cost(any=0.5)
    for sides in [(1, 1), (1, 40), (12, 12), (150, 150)]:
        agreed(
            Graph(grid=sides, table=table), cost, {"graph-contraction", "graph-fields"}, close=1e-7
        )
    agreed(Graph(grid=(10, 12), table=[[1.2, 1], [1, 1.2]]), cost, RULES)
    pairs = np.stack([np.arange(1999), np.arange(1, 2000)], axis=1)
    agreed(Graph(records=2000, edges=pairs, table=table), cost, {"graph-contraction"})
    agreed(Tree(nodes=random_tree(rng, 300, 2, True)), cost, RULES, "uninformed")
    agreed(Tree(nodes=random_tree(rng, 40, 6, False)), cost, RULES, "uninformed", 1e-7)


def test_a_grid_too_large_to_walk_through_is_bounded_by_its_inside():
    table = [[2.0, 1.0], [1.0, 2.0]]
    graph, cost = Graph(grid=(100, 100), table=table), Cost(any=0.3)
    walked = agreed(graph, cost, {"graph-contraction"})
    level = graph_level(graph.factor_graph, 0.3)
    step = make_step(
        "graph-contraction",
        {"model": "graph", "grid": [1000, 1000], "table": table},
        cost,
        details={"messages": level.messages},
    )
    inside = certified_level(step)
    assert walked["graph-contraction"] <= inside * (1 + 1e-12)
    assert inside == pytest.approx(walked["graph-contraction"], rel=1e-6)


def test_a_network_of_many_records_is_proved_record_by_record():
    """One number for all messages would be that of the record with most children."""
    laws = [[0.8, 0.2], [0.75, 0.25]]
    nodes: list[dict[str, Any]] = [{"name": "n0", "states": 2, "table": [0.7, 0.3]}]
    for i in range(1, 20_400):
        parent = 0 if i <= 30 else i - 30  # a star that goes on in lines
        nodes.append({"name": f"n{i}", "states": 2, "parents": [f"n{parent}"], "table": laws})
    network, cost, proved = Network(nodes=nodes), Cost(any=0.01), set()
    for bound in report(Question(network), cost).bounds:
        if bound.theorem in ("graph-contraction", "graph-influence"):
            step = make_step(bound.theorem, bare(network), cost, details=read_of(bound))
            level = certified_level(step)
            assert bound.epsilon * 0.99 <= level <= bound.epsilon * (1 + ROUNDING)
            proved.add(bound.theorem)
    assert len(proved) == 2


# ------------------------------------------------------ what is refused

GRID = {"model": "graph", "grid": [2, 3], "table": [[2.0, 1.0], [1.0, 2.0]]}
PAIR = {
    "model": "graph",
    "records": 2,
    "states": 2,
    "factors": [{"between": [0, 1], "table": [[2.0, 1.0], [1.0, 2.0]]}],
}
ROOT = {"name": "a", "law": [0.5, 0.5]}
CHILD = {"name": "b", "parent": "a", "transition": [[0.9, 0.1], [0.2, 0.8]]}
TREE = {"model": "tree", "nodes": [ROOT, CHILD]}


def factors(*tables: dict) -> dict:
    return PAIR | {"factors": list(tables)}


@pytest.mark.parametrize(
    "population",
    [
        {"model": "independent"},
        GRID | {"factors": PAIR["factors"]},
        GRID | {"records": 7},
        GRID | {"states": 3},
        GRID | {"table": [[2.0, 1.0], [1.0, -2.0]]},
        GRID | {"table": [[0.0, 0.0], [0.0, 0.0]]},
        GRID | {"table": [[2.0, 1.0]]},
        GRID | {"table": [[2.0], [1.0, 2.0]]},
        PAIR | {"states": 3},
        PAIR | {"states": [2]},
        PAIR | {"records": 1},
        factors({"between": [0, 0], "table": [[2.0, 1.0], [1.0, 2.0]]}),
        factors({"between": [0, 2], "table": [[2.0, 1.0], [1.0, 2.0]]}),
        factors(  # no database is possible
            {"between": [0], "table": [1.0, 0.0]}, {"between": [0], "table": [0.0, 1.0]}
        ),
        {"model": "graph", "records": 2, "edges": [[0, 2]], "table": GRID["table"]},
        {"model": "graph", "records": 2, "edges": [[1, 1]], "table": GRID["table"]},
        TREE | {"nodes": [CHILD | {"parent": "b"}]},  # a cycle
        TREE | {"nodes": [ROOT, ROOT]},
        TREE | {"nodes": [ROOT, CHILD | {"law": [0.5, 0.5]}]},
        TREE | {"nodes": [ROOT, CHILD | {"transition": [[0.9, 0.1]]}]},
        TREE | {"nodes": [ROOT, CHILD | {"transition": [[0.9, 0.1], [1.0]]}]},
        TREE | {"nodes": [ROOT, CHILD | {"transition": [[0.9, 0.2], [0.2, 0.8]]}]},
    ],
)
def test_refusals(population):
    for rule in ("graph-contraction", "graph-ferromagnet", "graph-fields", "graph-influence"):
        refused(make_step(rule, population, Cost(any=0.5)))


def test_the_recursion_is_about_trees_and_the_uninformed():
    step = make_step("tree-recursion", TREE, Cost(any=0.5), adversary="uninformed")
    assert certified_level(step) > 0.5
    refused(make_step("tree-recursion", TREE, Cost(any=0.5)))
    refused(make_step("tree-recursion", PAIR, Cost(any=0.5), adversary="uninformed"))


def test_strong_couplings_have_no_influence_matrix():
    strong = GRID | {"grid": [9, 9], "table": [[9.0, 1.0], [1.0, 9.0]]}
    assert "no vector" in refused(make_step("graph-influence", strong, Cost(any=0.5)))
    hard = factors({"between": [0, 1], "table": [[1.0, 0.0], [0.0, 1.0]]})
    refused(make_step("graph-influence", hard, Cost(any=0.5)))
    assert certified_level(make_step("graph-contraction", hard, Cost(any=0.5))) == 1.0


def test_edges_in_files_are_unknown():
    filed = {"model": "graph", "records": 9, "edges": {"file": "e.csv", "sha256": "0" * 64}}
    for rule in ("graph-contraction", "graph-fields", "graph-influence"):
        refused(make_step(rule, filed | {"table": GRID["table"]}, Cost(any=0.5)), UnknownError)


def test_extreme_weights_and_costs():
    wild = factors({"between": [0, 1], "table": [[1e300, 1e-300], [1e-300, 1e300]]})
    for eps in (1e-30, 0.1, 50.0, 1e6):
        level = certified_level(make_step("graph-contraction", wild, Cost(any=eps)))
        assert eps <= level <= 2 * eps * (1 + 1e-15) + 1e-50
    for eps in (1e-6, 200.0, 1e5):
        step = make_step("tree-recursion", TREE, Cost(any=eps), adversary="uninformed")
        assert eps <= certified_level(step) <= 2 * eps


# ------------------------------------------------------ families

MEMBERS = (
    {"model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 5},
    {"model": "independent"},
    {"model": "clusters", "size": 3},
    {"model": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]},
)


def family_step(members, cost: Cost, adversary: str = "any") -> dict:
    """A step in which each member has its best theorem, among those with a sure rule."""
    family = Family(members=list(members))
    steps = []
    for member in family.members:
        rules = {"independent", "cluster-size", "gaussian-covariance"}
        bounds = report(Question(member, adversary), cost).bounds
        best = min((b for b in bounds if b.theorem in rules), key=lambda b: b.epsilon)
        step = make_step(best.theorem, bare(member), cost, adversary=adversary)
        step["conclusion"]["epsilon"] = certified_level(step)
        steps.append(step)
    return make_step("family", bare(family), cost, adversary=adversary, premises=steps)


def test_a_family_has_the_largest_level():
    step = family_step(MEMBERS[1:3], Cost(any=0.4))
    assert certified_level(step) == pytest.approx(1.2, rel=1e-15)
    gaussians = family_step([MEMBERS[3], MEMBERS[2] | {"size": 2}], Cost(lipschitz=1.0))
    assert certified_level(gaussians) == pytest.approx(2.0)
    alone = family_step([MEMBERS[3]], Cost(lipschitz=1.0))
    assert certified_level(alone) == pytest.approx(1.5)


@pytest.mark.parametrize(
    "damage",
    [
        lambda step: step["premises"].pop(),
        lambda step: step["premises"].reverse(),
        lambda step: step["premises"].append(step["premises"][0]),
        lambda step: step["premises"][1]["conclusion"].update(epsilon=1.1999),
        lambda step: step["premises"][1]["conclusion"].update(adversary="informed"),
        lambda step: step["premises"][1]["evidence"]["population"].update(size=2),
        lambda step: step["premises"][1]["evidence"]["cost"].update(any=0.3),
        lambda step: step["premises"][1]["evidence"].update(secrets="unbounded"),
        lambda step: step["premises"][1].update(rule="independent"),
        lambda step: step["evidence"]["population"]["members"][1].update(size=4),
        lambda step: step["evidence"].update(population=MEMBERS[2]),
    ],
)
def test_damaged_families_are_refused(damage):
    step = json.loads(json.dumps(family_step(MEMBERS[1:3], Cost(any=0.4))))
    damage(step)
    assert refused(step)


def test_a_member_of_an_unknown_rule_is_unknown():
    step = family_step(MEMBERS[1:3], Cost(any=0.4))
    step["premises"][1]["rule"] = "astrology"
    refused(step, UnknownError)


def test_a_claim_below_the_level_is_refused():
    step = make_step("graph-contraction", PAIR, Cost(any=1.0))
    step["conclusion"]["epsilon"] = level = certified_level(step)
    derive(step)
    step["conclusion"]["epsilon"] = math.nextafter(level, 0.0)
    with pytest.raises(InvalidError):
        derive(step)


# ---------------------------------------------------------------------- networks

VEE = (
    {"name": "c", "states": 2, "parents": ["a", "b"],
     "table": [[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.2, 0.8]], [[0.5, 0.5], [0.6, 0.4]]]},
    {"name": "a", "states": ["low", "middle", "high"], "table": [0.2, 0.3, 0.5]},
    {"name": "b", "states": 2, "parents": ["a"], "table": [[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]]},
)  # fmt: skip


def as_factors(nodes) -> Graph:
    """The same law as a graph: each family a factor."""
    place = {node["name"]: i for i, node in enumerate(nodes)}
    sizes = [np.asarray(node["table"]).shape[-1] for node in nodes]
    ties = [[*(place[p] for p in node.get("parents", ())), place[node["name"]]] for node in nodes]
    tables = [node["table"] for node in nodes]
    factors = [{"between": t, "table": w} for t, w in zip(ties, tables, strict=True)]
    return Graph(records=len(nodes), states=sizes, factors=factors)


@pytest.mark.parametrize("eps", [0.02, 0.5, 3.0])
def test_networks_are_the_graphs_of_their_families(eps):
    answer = agreed(Network(nodes=VEE), Cost(any=eps), RULES)
    assert answer == pytest.approx(agreed(as_factors(VEE), Cost(any=eps), RULES), rel=1e-12)
    assert set(answer) >= {"graph-contraction"}


def test_a_network_without_two_parents_is_a_tree():
    nodes = [
        VEE[1],
        VEE[2],
        {"name": "c", "states": 2, "parents": ["b"], "table": VEE[0]["table"][0]},
    ]
    network = Network(nodes=nodes)
    tree = network.as_tree
    assert tree is not None
    cost = Cost(any=0.7)
    answer = agreed(network, cost, RULES, "uninformed", 1e-7)
    assert answer == pytest.approx(agreed(tree, cost, RULES, "uninformed", 1e-7), rel=1e-12)
    assert "tree-recursion" in answer
    step = make_step("tree-recursion", bare(Network(nodes=VEE)), cost, adversary="uninformed")
    assert "not a tree" in refused(step)


@pytest.mark.parametrize(
    ("node", "change"),
    [
        (0, {"table": VEE[0]["table"][:2]}),
        (0, {"parents": ["b", "a"]}),
        (0, {"parents": ["a"]}),
        (0, {"parents": ["a", "a"]}),
        (0, {"parents": ["a", "z"]}),
        (0, {"states": 3}),
        (0, {"name": "a"}),
        (1, {"states": ["low", "high"]}),
        (1, {"table": [0.2, 0.3, 0.6]}),
        (1, {"table": [0.2, -0.3, 1.1]}),
        (1, {"parents": ["c"], "table": [[0.2, 0.3, 0.5]] * 2}),
    ],
)
def test_damaged_networks_are_refused(node, change):
    population = bare(Network(nodes=VEE))
    population["nodes"][node] |= change
    for rule in ("graph-contraction", "graph-fields", "graph-influence"):
        step = make_step(rule, population, Cost(any=0.5))
        with pytest.raises((InvalidError, LookupError)):
            certified_level(step)


def test_records_that_state_one_law_share_its_table() -> None:
    """In a pedigree most records do: it is read, and its fractions are made, once."""
    law = [0.25, 0.5, 0.25]
    child = [[law, law, law]] * 3
    nodes: list[dict[str, Any]] = [
        {"name": "a", "states": ["x", "y", "z"], "table": law},
        {"name": "b", "states": ["x", "y", "z"], "table": law},
        {"name": "c", "states": ["x", "y", "z"], "parents": ["a", "b"], "table": child},
        {"name": "d", "states": ["x", "y", "z"], "parents": ["a", "b"], "table": child},
        {"name": "e", "states": ["x", "y", "z"], "table": [0.25, 0.25, 0.5]},
    ]
    model = read_model(stated_population({"model": "network", "nodes": nodes}))
    tables = [table for _, table in model.factors]
    assert tables[0] is tables[1]
    assert tables[2] is tables[3]
    assert tables[4].weights == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
