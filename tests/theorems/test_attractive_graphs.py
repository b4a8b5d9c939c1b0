"""Graphs of two states without negative couplings: exact levels of up to nine records."""

from __future__ import annotations

import numpy as np
import pytest

from bayesdp.populations import Graph
from tests.effort import runs
from tests.oracles import attractive, finite
from tests.theorems.test_vectors import BELOW


def random_couplings(rng: np.random.Generator, records: int) -> np.ndarray:
    strength = rng.exponential(rng.choice([0.1, 0.4, 1.0]), (records, records))
    upper = np.triu(strength * (rng.random((records, records)) < rng.choice([0.4, 0.7, 1.0])), 1)
    return upper + upper.T


def grid(side: int, coupling: float) -> np.ndarray:
    places = [(x, y) for x in range(side) for y in range(side)]
    apart = np.array([[abs(a - c) + abs(b - d) for c, d in places] for a, b in places])
    return coupling * (apart == 1)


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
        couplings = grid(3, float(rng.uniform(0.02, 0.8)))
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
    couplings, fields, nothing = grid(3, 0.05), np.zeros(9), np.zeros(9, dtype=int)
    truth = attractive.level(couplings, fields, 4, nothing, eps)
    for bound in population(couplings, fields).leakage(eps).bounds:
        if bound.theorem in {"graph-contraction", "graph-fields"}:
            assert truth <= bound.epsilon <= truth * 1.015, bound
