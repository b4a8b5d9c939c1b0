"""The theorem through the public calls: who is refused and why, what is told, what it buys."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.populations import Gaussian
from bayesdp.theorems import REGISTRY
from tests.effort import runs
from tests.oracles import gaussian

NAME = "gaussian-walk-summable"


def ask(*arguments: str) -> dict:
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def bound(population: Gaussian, **options) -> float | None:
    report = population.leakage(1.0, kind="lipschitz", **options)
    return next((b.epsilon for b in report.bounds if b.theorem == NAME), None)


def test_through_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 3000
    band = sp.diags_array(
        [np.full(n - 1, -0.4), np.full(n, 1.16), np.full(n - 1, -0.4)], offsets=[-1, 0, 1]
    )
    mmwrite("field.mtx", band, symmetry="symmetric")
    spec = '{"model": "gaussian", "precision": "field.mtx"}'
    answer = ask("leakage", spec, "--epsilon", "0.5", "--kind", "lipschitz")
    assert answer["best"]["theorem"] == NAME
    factor = 1.4 / 0.6  # AR(1) with coefficient .4 and a stationary inside
    assert answer["best"]["epsilon"] == pytest.approx(0.5 * factor, rel=1e-4)
    assert answer["best"]["epsilon"] >= 0.5 * factor * (1 - 1e-9)
    budget = ask("calibrate", spec, "--target", "1", "--kind", "lipschitz")
    assert budget["certified_epsilon"] <= 1.0
    assert budget["noise_multiplier"] == pytest.approx(factor, rel=1e-4)
    anything = ask("leakage", spec, "--epsilon", "0.5")
    assert anything["best"]["theorem"] == "cluster-size"
    assert anything["best"]["epsilon"] == pytest.approx(1500.0)
    assert {r["theorem"] for r in anything["refused"]} >= {NAME}


def test_evidence_is_a_vector_that_anybody_can_check():
    precision = np.array([[2.0, -0.5, 0.3], [-0.5, 1.0, 0.1], [0.3, 0.1, 1.5]])
    report = Gaussian(precision=precision).leakage(1.0, kind="lipschitz")
    evidence = next(b.evidence for b in report.bounds if b.theorem == NAME)
    vector = np.array(evidence["vector"])
    comparison = -np.abs(precision) + 2 * np.diag(np.diag(precision))
    assert np.all(vector > 0)
    assert np.all(comparison @ vector >= 1 - 1e-12)
    exact = np.linalg.inv(comparison)
    assert np.all(exact.sum(axis=1) <= vector * (1 + 1e-12))


def test_refusals_name_the_hypothesis():
    frustrated = (np.full((3, 3), -0.45) + 1.45 * np.eye(3)).tolist()
    for population, words in (
        (Gaussian(covariance=frustrated), "not walk-summable"),
        (Gaussian(size=3, max_correlation=0.2), "only a bound on correlations"),
    ):
        report = population.leakage(1.0, kind="lipschitz")
        assert bound(population) is None
        assert any(words in r.reason for r in report.refused if r.theorem == NAME)
    pair = Gaussian(precision=[[1, 0.1], [0.1, 1]])
    assert bound(pair, secrets="unbounded") is None
    assert bound(pair) == pytest.approx(1.1)


def test_a_small_precision_matrix_is_enumerated_too():
    rng = np.random.default_rng(1)
    for _ in range(runs(100)):
        size = int(rng.integers(1, 6))
        root = rng.normal(size=(size, size)) + 2 * np.eye(size)
        precision = root @ root.T
        precision = (precision + precision.T) / 2
        needed = gaussian.shift_factor(np.linalg.inv(precision))
        report = Gaussian(precision=precision).leakage(1.0, kind="lipschitz")
        bounds = {b.theorem: b.epsilon for b in report.bounds}
        assert all(value >= needed - 1e-9 for value in bounds.values())
        if np.linalg.cond(precision) < 1e4:
            assert bounds["gaussian-covariance"] <= needed * (1 + 1e-6)


def test_clusters_too_large_to_enumerate():
    size, rho = 40, 0.01
    cov = (np.full((size, size), rho) + (1 - rho) * np.eye(size)).tolist()
    population = Gaussian(covariance=cov)
    # Equal positive correlations are attractive: the factor is 1 + (m - 1) rho, sharp.
    assert bound(population) == pytest.approx(1 + (size - 1) * rho, rel=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "gaussian-covariance",
        "gaussian-max-correlation",
        "gaussian-walk-summable",
        "gaussian-vector",
        "autoregressive",
    ],
)
def test_each_theorem_says_what_it_knows_and_what_it_ignores(name):
    theorem = next(theorem for theorem in REGISTRY if theorem.name == name)
    words = {
        "gaussian-covariance": ("covariance", "mechanism"),
        "gaussian-max-correlation": ("largest correlation", "other correlations"),
        "gaussian-walk-summable": ("partial correlations", "signs"),
        "gaussian-vector": ("columns", "mechanism"),
        "autoregressive": ("coefficient", "mechanism"),
    }[name]
    assert words[0] in theorem.uses
    assert words[1] in theorem.ignores
    assert theorem.source.startswith(("bayesdp; theory 3.8", "Lange et al."))


def test_what_a_theorem_ignores_costs_something():
    """The signs that 3.8 c ignores, and the single correlations that 3.8 a ignores."""
    cov = np.array([[1, 0.275, -0.2], [0.275, 1, 0.1], [-0.2, 0.1, 1]])
    report = Gaussian(covariance=cov.tolist()).leakage(1.0, kind="lipschitz")
    level = {b.theorem: b.epsilon for b in report.bounds}
    assert level["gaussian-covariance"] < level["gaussian-walk-summable"] - 1e-3
    assert level["gaussian-covariance"] < level["gaussian-max-correlation"] - 1e-3
