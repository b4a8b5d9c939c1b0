"""The worst case over all mechanisms: against brute force, and proved again without the solver."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from bayesdp.leakage.domain import ENUMERATED, Domain
from bayesdp.leakage.linear_program import by_enumeration, by_program, one_record, prove
from bayesdp.leakage.worst_case import FiniteWorstCase
from bayesdp.populations import Finite, Graph, Network, Tree
from bayesdp.theorems import leakage
from bayesdp.theorems.finite_law import dual_certificates
from tests.effort import runs
from tests.oracles import chains, finite, mechanisms
from tests.theorems.test_vectors import ask, vectors

BELOW, EXACT = 1e-10, 1e-9

SHAPES = [(2,), (5,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (3, 2, 2), (2, 4, 2), (3, 3, 2), (2,) * 4]


def random_law(rng: np.random.Generator) -> np.ndarray:
    shape = SHAPES[rng.integers(len(SHAPES))]
    return mechanisms.random_joint(rng, shape, zeros=float(rng.choice([0.0, 0.0, 0.4, 0.7])))


@pytest.mark.prove
def test_levels_are_those_of_brute_force():
    rng = np.random.default_rng(33)
    for run in range(runs(600)):
        joint = random_law(rng)
        eps = float(10 ** rng.uniform(-2, 0.7))
        for adversary in ("any", "uninformed", "informed"):
            truth = finite.worst_case(joint, eps, adversary)
            reached = FiniteWorstCase(joint, adversary).level(eps)
            case = (run, joint.tolist(), eps, adversary, truth, reached)
            assert reached.epsilon - reached.attained <= 1e-8 * max(1.0, reached.epsilon), case
            assert reached.attained <= truth.upper + 1e-9, case
            assert truth.level - BELOW * eps <= reached.epsilon, case
            assert reached.epsilon <= truth.upper + EXACT * max(1.0, eps), case
            assert reached.attained <= reached.epsilon, case
            assert (reached.attack is None) == (truth.attack is None), case


@pytest.mark.prove
def test_six_binary_records_by_linear_programs():
    """Domains too large to be listed: both routes solve programs, of different kinds."""
    rng = np.random.default_rng(34)
    for _ in range(runs(40)):
        joint = mechanisms.random_joint(rng, (2,) * 6, zeros=0.2)
        eps = float(rng.uniform(0.1, 2.0))
        truth = finite.worst_case(joint, eps, "uninformed")
        reached = FiniteWorstCase(joint, "uninformed").level(eps)
        assert reached.programs > 0
        assert truth.level - BELOW <= reached.epsilon <= truth.upper + EXACT


@pytest.mark.prove
def test_programs_agree_with_lists_of_vertices():
    rng = np.random.default_rng(35)
    for shape in ENUMERATED:
        domain = Domain(shape)
        for _ in range(runs(60)):
            p, q = (mechanisms.random_joint(rng, (domain.cells,), zeros=0.3) for _ in range(2))
            eps = float(10 ** rng.uniform(-2, 0.8))
            listed = float(by_enumeration(p[None], q[None], domain, eps)[0])
            solved = by_program(p, q, domain, eps)
            assert solved.attained == pytest.approx(listed, rel=1e-12)
            assert listed * (1 - 1e-14) <= solved.upper <= listed * (1 + 1e-8)
            cheap = float(one_record(p[None], q[None], len(shape) * eps)[0])
            assert listed <= cheap * (1 + 1e-13)


def test_the_lists_of_vertices_are_complete():
    for shape, count in ENUMERATED.items():
        actual = Domain(shape).vertices
        assert len(actual) == count
        assert set(map(tuple, actual.tolist())) == set(map(tuple, finite.vertices(shape).tolist()))


def test_flows_prove_whatever_they_are():
    """Any flows give a valid bound: wrong ones a worse one, never a bound below the truth."""
    rng = np.random.default_rng(36)
    domain = Domain((2, 2, 3))
    edges = len(domain.edges[0])
    for _ in range(runs(500)):
        p, q = (mechanisms.random_joint(rng, (12,), zeros=0.3) for _ in range(2))
        eps = float(rng.uniform(0.1, 2.0))
        truth = float(by_enumeration(p[None], q[None], domain, eps)[0])
        flows = rng.exponential(0.1, size=edges) * (rng.random(edges) < 0.3)
        bound, _ = prove(p, q, domain, eps, flows, float(rng.uniform(0.5, 3.0)))
        assert bound >= truth * (1 - 1e-13)
        best = by_program(p, q, domain, eps)
        nudged = best.flows * (1 + rng.normal(scale=1e-7, size=edges))
        bound, _ = prove(p, q, domain, eps, nudged, best.multiplier)
        assert truth * (1 - 1e-13) <= bound <= truth * (1 + 1e-3)


@pytest.mark.prove
def test_bounds_by_revealing_a_record_hold():
    """Every attack's cheap bound against its own sup, zeros included."""
    rng = np.random.default_rng(37)
    for _ in range(runs(300)):
        joint = random_law(rng)
        eps = float(10 ** rng.uniform(-1.5, 0.6))
        engine = FiniteWorstCase(joint, "any")
        for batch, ratios in engine.bounds(eps, enumerate_small=False):
            shape = batch.domain.shape
            for place in range(len(batch.p)):
                p, q = batch.p[place], batch.q[place]
                if finite.enumerable(shape):
                    truth = finite.ratio_by_enumeration(p, q, shape, eps)
                else:
                    truth, _ = finite.ratio_by_program(p, q, shape, eps)
                assert ratios[place] >= truth * (1 - 1e-12)


# ------------------------------------------------------ certificates, without any of the engine


def check_certificates(joint: np.ndarray, eps: float, adversary: str) -> int:
    """Prove the level of `finite-law` again: exact fractions and balls, plain loops."""
    population = Finite(probabilities=joint)
    report = leakage(population, eps, adversary=adversary)
    claimed = next(b.epsilon for b in report.bounds if b.theorem == "finite-law")
    proofs = dual_certificates(population, eps, adversary)
    law = {
        cell: Fraction(float(population.array[cell]))
        for cell in itertools.product(*map(range, joint.shape))
    }
    factor = arb(eps).exp()
    limit = (arb(claimed) - arb(eps)).exp() * (1.0 + 1e-10)
    proved = set()
    for proof in proofs:
        known = dict(zip(proof["K"], proof["x_K"], strict=True))
        unknown = [j for j in range(joint.ndim) if j != proof["i"] and j not in known]
        sizes = [joint.shape[j] for j in unknown]
        cells = list(itertools.product(*map(range, sizes)))
        p, q = (
            conditional(law, {**known, proof["i"]: proof[side]}, unknown, cells)
            for side in ("x_i", "x_i'")
        )
        bound = certified(p, q, cells, proof["flows"], Fraction(proof["multiplier"]), factor)
        assert bound <= limit, (proof, bound, limit)
        proved.add((proof["i"], *sorted(known.items()), proof["x_i"], proof["x_i'"]))
    revealed = dismissed(law, joint.shape, float(eps), adversary)
    for attack, ratio in revealed.items():
        if attack not in proved:
            assert math.log(ratio) + eps <= claimed + 1e-12, (attack, ratio, claimed)
    return len(json.dumps(proofs))


def conditional(law, fixed, unknown, cells) -> list[Fraction]:
    weights = []
    for cell in cells:
        place = {**fixed, **dict(zip(unknown, cell, strict=True))}
        weights.append(law[tuple(place[j] for j in sorted(place))])
    total = sum(weights)
    return [weight / total for weight in weights]


def certified(p, q, cells, flows, multiplier, factor) -> arb:
    leaving, entering = [Fraction(0)] * len(cells), [Fraction(0)] * len(cells)
    for v, w, y in flows:
        assert sum(a != b for a, b in zip(cells[v], cells[w], strict=True)) == 1
        assert y > 0.0
        leaving[v] += Fraction(y)
        entering[w] += Fraction(y)
    bound = ball(multiplier)
    for v, cell in enumerate(cells):
        need = ball(p[v] - multiplier * q[v] - leaving[v]) + factor * ball(entering[v])
        if not need <= 0:
            mean = arb(0)
            for w, other in enumerate(cells):
                apart = sum(a != b for a, b in zip(cell, other, strict=True))
                mean += ball(q[w]) / factor**apart
            bound += need.upper().max(arb(0)) / mean
    return bound


def ball(value: Fraction) -> arb:
    return arb(value.numerator) / arb(value.denominator)


def dismissed(law, shape, eps, adversary) -> dict:
    """The cheap bounds of all attacks, from few unknown records to many, in plain loops."""
    n = len(shape)
    chance = {}

    def weight(fixed: tuple) -> float:
        if fixed not in chance:
            wanted = dict(fixed)
            chance[fixed] = float(
                sum(m for cell, m in law.items() if all(cell[j] == v for j, v in wanted.items()))
            )
        return chance[fixed]

    def also(fixed: tuple, j: int, v: int) -> tuple:
        return tuple(sorted((*fixed, (j, v))))

    actual: dict = {}
    sizes = {"any": range(n - 1, -1, -1), "uninformed": (0,), "informed": ()}[adversary]
    for size in sizes:
        for known in itertools.combinations(range(n), size):
            for values in itertools.product(*(range(shape[j]) for j in known)):
                fixed = tuple(zip(known, values, strict=True))
                for i in (j for j in range(n) if j not in known):
                    for v, w in itertools.permutations(range(shape[i]), 2):
                        first, second = also(fixed, i, v), also(fixed, i, w)
                        if weight(first) == 0.0 or weight(second) == 0.0:
                            continue
                        unknown = [j for j in range(n) if j != i and j not in known]
                        options = [threshold_over(law, first, second, unknown, shape, eps)]
                        for k in unknown if adversary == "any" else ():
                            p = [weight(also(first, k, u)) / weight(first) for u in range(shape[k])]
                            q = [
                                weight(also(second, k, u)) / weight(second) for u in range(shape[k])
                            ]
                            if any(a > 0.0 and b == 0.0 for a, b in zip(p, q, strict=True)):
                                continue
                            more = [
                                a * actual[(i, *also(fixed, k, u), v, w)] if a > 0.0 else 0.0
                                for u, a in enumerate(p)
                            ]
                            cost = {
                                (u, t): math.exp(eps) * actual.get((k, *second, u, t), 1.0)
                                for u, t in itertools.permutations(range(shape[k]), 2)
                            }
                            options.append(small_sup(more, q, cost))
                        actual[(i, *fixed, v, w)] = min(options)
    return actual


def threshold_over(law, first, second, unknown, shape, eps) -> float:
    cells = list(itertools.product(*(range(shape[j]) for j in unknown)))
    p, q = (conditional(law, dict(fixed), unknown, cells) for fixed in (first, second))
    excess = math.exp(len(unknown) * eps) - 1.0
    order = sorted(range(len(cells)), key=lambda c: -(p[c] / q[c] if q[c] else math.inf))
    best, a, b = 1.0, 0.0, 0.0
    for cell in order:
        a, b = a + float(p[cell]), b + float(q[cell])
        best = max(best, (1.0 + excess * a) / (1.0 + excess * b))
    return best if unknown else 1.0


def small_sup(more, q, cost) -> float:
    if len(q) == 2:
        ends = [(cost[0, 1], 1.0), (1.0, cost[1, 0])]
        return max((more[0] * a + more[1] * b) / (q[0] * a + q[1] * b) for a, b in ends)
    largest = max(cost.values())
    best = sum(more) / sum(q)
    for picked in itertools.product((1.0, largest), repeat=len(q)):
        best = max(
            best,
            sum(m * c for m, c in zip(more, picked, strict=True))
            / sum(r * c for r, c in zip(q, picked, strict=True)),
        )
    return best


@pytest.mark.prove
def test_certificates_prove_the_level_again():
    rng = np.random.default_rng(38)
    for run in range(runs(60)):
        joint = random_law(rng) if run % 3 else mechanisms.random_joint(rng, (2,) * 5)
        adversary = ("any", "any", "uninformed", "informed")[run % 4]
        check_certificates(joint, float(10 ** rng.uniform(-1, 0.5)), adversary)


def test_a_certificate_that_says_too_little_is_noticed():
    """Cheap bounds alone don't prove the level, and every attack that they leave has its flows."""
    joint = mechanisms.random_joint(np.random.default_rng(3), (3, 3, 3))
    population = Finite(probabilities=joint)
    law = {cell: Fraction(float(population.array[cell])) for cell in np.ndindex(3, 3, 3)}
    level = leakage(population, 0.7, adversary="uninformed").best.epsilon
    cheap = dismissed(law, joint.shape, 0.7, "uninformed")
    missing = {a for a, ratio in cheap.items() if math.log(ratio) + 0.7 > level + 1e-6}
    assert missing
    proved = {
        (
            dual_certificate["i"],
            *sorted(zip(dual_certificate["K"], dual_certificate["x_K"], strict=True)),
            dual_certificate["x_i"],
            dual_certificate["x_i'"],
        )
        for dual_certificate in dual_certificates(population, 0.7, "uninformed")
    }
    assert missing <= proved


@pytest.mark.prove
def test_certificates_of_256_cells_stay_small():
    laws = [
        chains.joint([[0.9, 0.1], [0.1, 0.9]], "stationary", 8),
        *(mechanisms.random_joint(np.random.default_rng(s), (2,) * 8) for s in range(4)),
        *(mechanisms.random_joint(np.random.default_rng(s), (4,) * 4) for s in range(4)),
    ]
    for joint in laws[: runs(len(laws))]:
        proofs = dual_certificates(Finite(probabilities=joint), 1.0)
        assert len(json.dumps(proofs)) < 200_000


# ------------------------------------------------------ the theorem


@pytest.mark.parametrize(
    "vector",
    [
        vector
        for name in ("finite.json", "trees.json", "graphs.json")
        for vector in vectors(name)
        if "exact" in vector
    ],
    ids=lambda v: f"{v['name']}-{v['dp_epsilon']}",
)
def test_reference_values_through_the_command_line(vector):
    answer = ask(
        "leakage",
        json.dumps(vector["population"]),
        "--epsilon",
        repr(vector["dp_epsilon"]),
        "--adversary",
        vector["adversary"],
    )
    bounds = {bound["theorem"]: bound for bound in answer["bounds"]}
    assert bounds["finite-law"]["tight"] == "exact"
    assert vector["exact"] <= bounds["finite-law"]["epsilon"] <= vector["exact"] + 1e-7
    assert answer["best"]["epsilon"] == pytest.approx(vector["exact"], abs=1e-7)
    assert answer["best"]["epsilon"] >= vector["exact"]
    if "contraction" in vector:
        assert bounds["graph-contraction"]["epsilon"] >= vector["contraction"] * (1 - 1e-9)


def test_what_is_refused_and_how_to_allow_more():
    rng = np.random.default_rng(39)
    nine = Finite(probabilities=mechanisms.random_joint(rng, (2,) * 9))
    report = leakage(nine, 0.5)
    (refused,) = report.refused
    assert refused.theorem == "finite-law"
    assert "512 cells, of at most 256" in refused.reason
    assert "finite-law" in {b.theorem for b in leakage(nine, 0.5, adversary="uninformed").bounds}
    (slow,) = leakage(nine, 0.5, adversary="uninformed", seconds=0.01).refused
    assert "--seconds" in slow.reason
    (extreme,) = leakage(nine, 400.0, adversary="uninformed").refused
    assert "double precision" in extreme.reason


def test_independent_parts_are_searched_one_by_one():
    """Twelve records in four parts: far more cells together than the search could take."""
    table = [[0.9, 0.1], [0.1, 0.9]]
    factors = []
    for part in range(4):
        first = 3 * part
        factors += [{"between": [first, first + 1], "table": table}]
        factors += [{"between": [first + 1, first + 2], "table": table}]
    many = Graph(records=12, states=2, factors=factors)
    item = Graph(records=3, states=2, factors=factors[:2])
    for eps in (0.3, 2.0):
        actual, alone = leakage(many, eps), leakage(item, eps)
        assert actual.best.theorem == "finite-law"
        assert actual.best.epsilon == pytest.approx(alone.best.epsilon, rel=1e-12)
    # the worst part counts, wherever it is, and its records keep their numbers
    factors[-1] = {"between": [10, 11], "table": [[0.99, 0.01], [0.01, 0.99]]}
    worse = leakage(Graph(records=12, states=2, factors=factors), 0.3)
    assert worse.best.epsilon > leakage(item, 0.3).best.epsilon
    assert worse.best.evidence["attack"]["record"] >= 9


def test_certificates_number_records_as_the_population_does():
    table = [[0.9, 0.1], [0.1, 0.9]]
    factors = [{"between": [0, 1], "table": [[1.0, 1.0], [1.0, 1.0]]}]
    factors += [{"between": [j, j + 1], "table": table} for j in range(2, 6)]
    proofs = dual_certificates(Graph(records=7, states=2, factors=factors), 0.5)
    assert proofs
    assert all(min([proof["i"], *proof["K"]]) >= 2 for proof in proofs)


def test_equal_records_leak_together():
    """Nobody who knows the others is left in doubt, everybody else learns all of them at once."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0] = joint[1, 1, 1] = 0.5
    assert leakage(Finite(probabilities=joint), 0.5).best.epsilon == pytest.approx(1.5, abs=1e-11)


def test_networks_and_trees_say_the_same():
    rows = [[0.8, 0.2], [0.3, 0.7]]
    tree = Tree(
        nodes=[
            {"name": "a", "law": [0.6, 0.4]},
            {"name": "b", "parent": "a", "transition": rows},
            {"name": "c", "parent": "a", "transition": rows},
        ]
    )
    network = Network(
        nodes=[
            {"name": "a", "states": 2, "table": [0.6, 0.4]},
            {"name": "b", "states": 2, "parents": ["a"], "table": rows},
            {"name": "c", "states": 2, "parents": ["a"], "table": rows},
        ]
    )
    for adversary in ("any", "uninformed"):
        first, second = (leakage(item, 0.8, adversary=adversary) for item in (tree, network))
        levels = [{b.theorem: b.epsilon for b in item.bounds} for item in (first, second)]
        assert levels[0] == levels[1]
    assert "tree-recursion" in levels[0]
    assert levels[0]["tree-recursion"] == pytest.approx(levels[0]["finite-law"], abs=1e-10)
