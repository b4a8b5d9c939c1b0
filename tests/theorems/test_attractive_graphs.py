"""Graphs of two states without negative couplings: exact levels of up to nine records."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesdp.populations import Graph
from tests.effort import runs
from tests.oracles import attractive, chains, finite
from tests.theorems.test_vectors import BELOW


def random_couplings(rng: np.random.Generator, records: int) -> np.ndarray:
    strength = rng.exponential(rng.choice([0.1, 0.4, 1.0]), (records, records))
    upper = np.triu(strength * (rng.random((records, records)) < rng.choice([0.4, 0.7, 1.0])), 1)
    return upper + upper.T


def population(couplings: np.ndarray, fields: np.ndarray) -> Graph:
    factors = [{"between": [i], "table": [np.exp(-h), np.exp(h)]} for i, h in enumerate(fields)]
    for i, j in np.argwhere(np.triu(couplings) > 0):
        same, other = np.exp(couplings[i, j]), np.exp(-couplings[i, j])
        factors.append({"between": [int(i), int(j)], "table": [[same, other], [other, same]]})
    return Graph(records=len(fields), states=2, factors=factors)


def random_fields(rng: np.random.Generator, records: int) -> np.ndarray:
    return rng.normal(size=records) * rng.choice([0.0, 0.3, 1.0, 3.0])


@pytest.mark.prove
@pytest.mark.parametrize("adversary", ["any", "uninformed"])
def test_a_count_is_the_worst_mechanism(adversary):
    rng = np.random.default_rng([31, len(adversary)])
    for _ in range(runs(120)):
        records = int(rng.integers(2, 5))
        couplings, fields = random_couplings(rng, records), random_fields(rng, records)
        eps = float(10 ** rng.uniform(-2, 0.5))
        law = attractive.weights(couplings, fields).reshape((2,) * records)
        actual = max(
            attractive.level(couplings, fields, i, known, eps)
            for i in range(records)
            for known in attractive.adversaries(records, i)
            if adversary == "any" or not known.any()
        )
        truth = finite.worst_case(law, eps, adversary).level
        assert actual == pytest.approx(truth, rel=1e-7, abs=1e-9), (couplings, fields, eps)


@pytest.mark.prove
def test_no_bound_is_below_on_grids_and_graphs_of_nine_records():
    rng = np.random.default_rng(32)
    for _ in range(runs(60, least=4)):
        couplings = attractive.grid(3, 3, float(rng.uniform(0.02, 0.8)))
        if rng.random() < 0.5:
            couplings = random_couplings(rng, 9)
        fields, eps = random_fields(rng, 9), float(10 ** rng.uniform(-2, 0.7))
        nothing = np.zeros(9, dtype=int)
        truth = max(attractive.level(couplings, fields, i, nothing, eps) for i in range(9))
        for _ in range(10):
            i = int(rng.integers(9))
            known = rng.choice([-1, 0, 1], p=[0.15, 0.7, 0.15], size=9)
            known[i] = 0
            truth = max(truth, attractive.level(couplings, fields, i, known, eps))
        report = population(couplings, fields).leakage(eps)
        assert {"graph-contraction", "graph-fields"} <= {bound.theorem for bound in report.bounds}
        for bound in report.bounds:
            assert bound.epsilon >= truth - BELOW, (bound, couplings, fields, eps, truth)


@pytest.mark.prove
def test_influence_is_largest_without_fields():
    """Ding, Song and Sun (2021), arXiv 2107.09243: at most `eps sum_j <s_i s_j>` at zero field."""
    rng = np.random.default_rng(33)
    for _ in range(runs(400, least=40)):
        records = int(rng.integers(2, 8))
        couplings, fields = random_couplings(rng, records), random_fields(rng, records)
        i, eps = int(rng.integers(records)), float(10 ** rng.uniform(-2, 0.7))
        known = rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=records)
        known[i] = 0
        s = attractive.spins(records)
        sum_of_correlations = attractive.weights(couplings, 0.0 * fields) @ (s * s[:, [i]])
        bound = eps * float(sum_of_correlations.sum())
        assert attractive.level(couplings, fields, i, known, eps) <= bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("eps", [0.1, 1.0])
def test_weak_couplings_without_fields_are_nearly_exact(eps):
    couplings, fields, nothing = attractive.grid(3, 3, 0.05), np.zeros(9), np.zeros(9, dtype=int)
    truth = attractive.level(couplings, fields, 4, nothing, eps)
    for bound in population(couplings, fields).leakage(eps).bounds:
        if bound.theorem in {"graph-contraction", "graph-fields"}:
            assert truth <= bound.epsilon <= truth * 1.015, bound


# -- graph-ferromagnet ------------------------------------------------------------------------


def factor(population: Graph, eps: float = 0.1) -> float | None:
    """The level of `graph-ferromagnet` in units of the cost; `None` where it is refused."""
    bounds = {bound.theorem: bound.epsilon for bound in population.leakage(eps).bounds}
    return bounds["graph-ferromagnet"] / eps if "graph-ferromagnet" in bounds else None


def fields_of(table: np.ndarray, rows: int, columns: int) -> tuple[float, np.ndarray]:
    """The coupling of a grid's table, and the field of each record that its pairs add up to."""
    logs = np.log(table)
    coupling = (logs[0, 0] + logs[1, 1] - logs[0, 1] - logs[1, 0]) / 4
    first, second = (logs[1] - logs[0]).sum() / 4, (logs[:, 1] - logs[:, 0]).sum() / 4
    fields = np.zeros((rows, columns))
    for earlier, later in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        fields[earlier] += first
        fields[later] += second
    return float(coupling), fields.reshape(-1)


def random_grid(rng: np.random.Generator, strongest: float) -> tuple[int, int, np.ndarray]:
    rows, columns = (int(side) for side in rng.integers(1, 4, size=2))
    coupling = rng.uniform(0.0, strongest)
    first, second = rng.normal(size=2) * rng.choice([0.0, 0.2, 1.0])
    s = np.array([-1.0, 1.0])
    return rows, columns, np.exp(coupling * np.outer(s, s) + first * s[:, None] + second * s)


@pytest.mark.prove
def test_no_adversary_of_a_grid_learns_more():
    """Known records, independent evidence about the others, and tables with fields of any sign."""
    rng = np.random.default_rng(34)
    for _ in range(runs(150, least=15)):
        rows, columns, table = random_grid(rng, 1.0)
        population = Graph(grid=(rows, columns), table=table.tolist())
        coupling, fields = fields_of(table, rows, columns)
        couplings, records = attractive.grid(rows, columns, max(coupling, 0.0)), rows * columns
        multiple, truth, least = factor(population), 0.0, 0.0
        for _ in range(8):
            i, eps = int(rng.integers(records)), float(10 ** rng.uniform(-2, 0.7))
            known = rng.choice([-1, 0, 1], p=[0.15, 0.7, 0.15], size=records)
            known[i] = 0
            evidence = rng.normal(size=records) * rng.choice([0.0, 1.0, 4.0])
            level = attractive.level(couplings, fields + evidence, i, known, eps)
            truth = max(truth, level / eps)
        nothing, even = np.zeros(records, dtype=int), np.zeros(records)
        for i in range(records):
            least = max(least, attractive.level(couplings, even, i, nothing, 1e-5) / 1e-5)
        assert multiple is not None
        assert multiple >= max(truth, least) - BELOW, (rows, columns, table)
        assert multiple <= least * (1 + 1e-4), "with even odds and a small cost it is exact"


@pytest.mark.prove
def test_turning_every_second_record_changes_nothing():
    """Couplings below 0 on a grid: the same level, and no mechanism leaks more."""
    rng = np.random.default_rng(35)
    for _ in range(runs(30, least=4)):
        rows, columns, table = random_grid(rng, 0.7)
        turned = Graph(grid=(rows, columns), table=table[:, ::-1].tolist())
        multiple, same = factor(turned), factor(Graph(grid=(rows, columns), table=table.tolist()))
        assert multiple == pytest.approx(same, rel=1e-12)
        if rows * columns > 4:
            continue
        eps = float(10 ** rng.uniform(-1, 0.5))
        spec = turned.spec() | {"model": "graph"}
        truth = finite.worst_case(chains.from_spec(spec), eps).level
        assert multiple * eps >= truth - BELOW


def test_the_level_is_a_multiple_of_the_cost_and_below_contraction_for_small_costs():
    population = Graph(grid=(100, 100), table=[[math.exp(0.6), 1.0], [1.0, math.exp(0.6)]])
    reports = {eps: population.leakage(eps) for eps in (0.01, 0.1, 10.0)}
    assert [report.best.theorem for report in reports.values()] == [
        "graph-ferromagnet", "graph-ferromagnet", "graph-fields"
    ]  # fmt: skip
    multiples = [factor(population, eps) for eps in reports]
    assert multiples == pytest.approx([7.4722] * 3, rel=1e-4)


def test_other_graphs_zeros_and_more_values_are_refused():
    def reason(**spec):
        report = Graph(**spec).leakage(0.1)
        return {no.theorem: no.reason for no in report.refused}.get("graph-ferromagnet")

    two, three = [[2.0, 1.0], [1.0, 2.0]], [[2.0, 1, 1], [1, 2, 1], [1, 1, 2]]
    assert "zero" in reason(grid=(2, 3), table=[[1.0, 1.0], [0.0, 1.0]])
    assert "two possible values" in reason(grid=(2, 3), table=three)
    assert "two possible values" in reason(grid=(2, 3), table=[[1.0]])
    assert "too strong" in reason(grid=(200, 200), table=[[5.0, 1.0], [1.0, 5.0]])
    assert "too strong" in reason(grid=(200, 200), table=[[1.0, 5.0], [5.0, 1.0]])
    for same in (1e9, 1e-9, 1e300, 1e-300):
        assert "above 1e+12" in reason(grid=(1, 2), table=[[same, 1.0], [1.0, same]])
    # An odd loop with a negative coupling can't be turned, and is not a grid.
    loop = [{"between": [i, (i + 1) % 3], "table": [[1.0, 3.0], [3.0, 1.0]]} for i in range(3)]
    triple = [{"between": [0, 1, 2], "table": [[[1.0, 2.0], [2.0, 1.0]]] * 2}]
    for factors in (loop, triple):
        population = Graph(records=3, states=2, factors=factors)
        assert factor(population) is None
        assert reason(records=3, states=2, factors=factors) is None  # not asked at all
    assert factor(Graph(records=2, edges=np.array([[0, 1]]), table=two)) is None
