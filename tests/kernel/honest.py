"""Honest certificates: each theorem on random populations that it is about, and random releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesdp import kernel
from bayesdp.errors import BudgetExceededError, TableMismatchError
from bayesdp.kernel.judgement import RULES
from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import Population, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.theorems import LeakageReport, Question, report
from tests.release.studies import random_study
from tests.release.test_mechanism import study as counting_study
from tests.theorems.test_graphs_and_trees import random_graph, random_tree

Rng = np.random.Generator
FILES = Path(kernel.__file__).parent / "rules"
PRESENT = sorted(rule for rule in RULES if (FILES / f"{rule.replace('-', '_')}.py").exists())
OF_A_RELEASE = "markov-count"
"""It speaks of one mechanism, which only a release shows."""
ADVERSARIES = ("any", "uninformed", "informed")
SECONDS = 2.0


@dataclass(frozen=True)
class Honest:
    """A certificate as plain data; for a conversion alone, what it was made from."""

    document: dict[str, Any]
    population: Population | None = None
    report: LeakageReport | None = None

    @property
    def rule(self) -> str:
        return str(conversion(self.document)["rule"])

    @property
    def level(self) -> float:
        return float(self.document["claim"]["epsilon"])


def conversion(document: dict[str, Any]) -> dict[str, Any]:
    """The step from DP to BDP (of a DP release: its composition)."""
    root = document["derivation"]
    return root["premises"][0] if root["rule"] == "release" else root


# -- populations ------------------------------------------------------------------------


def chain(rng: Rng, states: int | None = None, **other: Any) -> dict[str, Any]:
    states = int(states or rng.integers(2, 4))
    spec: dict[str, Any] = {"model": "markov", "length": int(rng.integers(1, 40))}
    rows = 0.5 * rng.dirichlet(np.ones(states), size=states) + 0.5 / states
    return spec | {"transition": rows.tolist()} | other


def any_chain(rng: Rng) -> dict[str, Any]:
    made = chain(rng)
    if rng.random() < 0.2:
        made["initial"] = rng.dirichlet(np.ones(len(made["transition"]))).tolist()
    return made


def interval_pair(rng: Rng) -> dict[str, Any]:
    """Two states between bounds."""
    return interval_chain(rng, states=2)


def interval_chain(rng: Rng, states: int | None = None) -> dict[str, Any]:
    made = chain(rng, states)
    rows = np.array(made.pop("transition"))
    width = float(rng.uniform(0.0, 0.05))
    return made | {
        "transition_lower": np.maximum(rows - width, 0.0).tolist(),
        "transition_upper": np.minimum(rows + width, 1.0).tolist(),
    }


def pairs_chain(rng: Rng) -> dict[str, Any]:
    """A chain of order 2."""
    table = 0.4 * rng.dirichlet(np.ones(2), size=(2, 2)) + 0.3
    length = int(rng.integers(2, 40))
    return {"model": "markov", "order": 2, "length": length, "transition": table.tolist()}


def calm_chain(rng: Rng) -> dict[str, Any]:
    """One of order 2 whose influences die out."""
    table = 0.2 * rng.dirichlet(np.ones(2), size=(2, 2)) + 0.4
    return pairs_chain(rng) | {"transition": table.tolist()}


def tree(rng: Rng) -> dict[str, Any]:
    nodes = random_tree(rng, int(rng.integers(1, 7)), int(rng.integers(2, 4)), False)
    return {"model": "tree", "nodes": nodes}


def graph(rng: Rng) -> dict[str, Any]:
    if rng.random() < 0.7:
        return dict(random_graph(rng).spec())
    coupling = float(np.exp(rng.uniform(0.0, 0.4)))
    sides = [int(rng.integers(2, 4)), int(rng.integers(2, 4))]
    table = [[coupling, 1.0], [1.0, coupling]]
    return {"model": "graph", "grid": sides, "states": 2, "table": table}


def calm_graph(rng: Rng) -> dict[str, Any]:
    records = int(rng.integers(2, 6))
    factors = [
        {"between": [j, j + 1], "table": np.exp(rng.uniform(0.0, 0.3, (2, 2))).tolist()}
        for j in range(records - 1)
    ]
    return {"model": "graph", "records": records, "states": 2, "factors": factors}


def calm_grid(rng: Rng) -> dict[str, Any]:
    """Two values, no zeros, and a cross ratio near 1 on either side.

    Up to 144 records: of more than 150 the kernel bounds influences by fewer walks than the engine.
    """
    sides = rng.integers(1, 13, size=2).tolist()
    table = np.exp(rng.uniform(-0.3, 0.3, (2, 2)))
    return {"model": "graph", "grid": sides, "states": 2, "table": table.tolist()}


def network(rng: Rng) -> dict[str, Any]:
    def table(*shape: int) -> Any:
        return (0.6 * rng.dirichlet(np.ones(2), size=shape) + 0.2).tolist()

    nodes = [
        {"name": "a", "states": 2, "table": table()},
        {"name": "b", "states": 2, "parents": ["a"], "table": table(2)},
        {"name": "c", "states": 2, "parents": ["a", "b"], "table": table(2, 2)},
    ]
    return {"model": "network", "nodes": nodes}


def finite(rng: Rng) -> dict[str, Any]:
    shape = (2,) * int(rng.integers(1, 4))
    law = rng.dirichlet(np.ones(int(np.prod(shape)))).reshape(shape)
    return {"model": "finite", "probabilities": law.tolist()}


def covariance(rng: Rng, size: int | None = None) -> dict[str, Any]:
    size = int(size or rng.integers(1, 5))
    loadings = rng.normal(size=(size, size + 2))
    cov = loadings @ loadings.T
    return {"model": "gaussian", "covariance": ((cov + cov.T) / 2).tolist()}


def precision(rng: Rng) -> dict[str, Any]:
    """Diagonally dominant, hence walk-summable."""
    size = int(rng.integers(1, 6))
    off = np.triu(rng.uniform(-0.9, 0.9, (size, size)) / size, 1)
    return {"model": "gaussian", "precision": (np.eye(size) + off + off.T).tolist()}


def equal_variances(rng: Rng) -> dict[str, Any]:
    size = int(rng.integers(2, 5))
    off = np.triu(rng.uniform(-0.2, 0.2, (size, size)), 1)
    return {"model": "gaussian", "covariance": (2.5 * (np.eye(size) + off + off.T)).tolist()}


def max_correlation(rng: Rng) -> dict[str, Any]:
    size, rho = int(rng.integers(1, 6)), float(rng.uniform(0.0, 0.3))
    return {"model": "gaussian", "size": size, "max_correlation": rho}


def regressions(rng: Rng) -> dict[str, Any]:
    size, largest = int(rng.integers(1, 6)), float(rng.uniform(0.0, 3.0))
    return {"model": "gaussian", "size": size, "max_regression_sum": largest}


def vectors(rng: Rng) -> dict[str, Any]:
    size = int(rng.integers(1, 3))
    named = {"size": size, "covers": ["a", "b"], "bounds": [[0.0, 2.0], [1.0, 6.5]]}
    return covariance(rng, 2 * size) | named


def autoregressive(rng: Rng) -> dict[str, Any]:
    phi = float(rng.uniform(-0.9, 0.9))
    return {"model": "autoregressive", "coefficient": phi, "length": int(rng.integers(1, 50))}


def panel(rng: Rng) -> dict[str, Any]:
    """With every odds ratio, and now and then a shared state."""
    made = open_panel(rng)
    if "shared_previous" in made:
        made["shared_now"] = float(rng.uniform(1.0, 4.0))
    return made | {"others_now": float(rng.uniform(1.0, 3.0))}


def open_panel(rng: Rng) -> dict[str, Any]:
    """With nothing said about what happens within a step."""
    made = {
        "model": "panel",
        "series": int(rng.integers(1, 5)),
        "length": int(rng.integers(1, 40)),
        "own_previous": float(rng.uniform(1.0, 9.0)),
    }
    if made["series"] > 1 or rng.random() < 0.5:
        made["others_previous"] = float(rng.choice([1.0, rng.uniform(1.0, 1.5)]))
    if rng.random() < 0.3:
        made["shared_previous"] = float(rng.uniform(1.0, 5.0))
    return made


def independent(rng: Rng) -> dict[str, Any]:
    return {"model": "independent"}


def clusters(rng: Rng) -> dict[str, Any]:
    if rng.random() < 0.3:
        return {"model": "unknown", "records": int(rng.integers(1, 9))}
    return {"model": "clusters", "size": int(rng.integers(1, 9))}


def family(rng: Rng) -> dict[str, Any]:
    kinds = [any_chain, chain] if rng.random() < 0.5 else [covariance, max_correlation]
    members = [kinds[int(rng.integers(2))](rng) for _ in range(int(rng.integers(1, 4)))]
    return {"model": "family", "members": members}


Kind = Callable[[Rng], dict[str, Any]]
ABOUT: dict[str, tuple[Kind, ...]] = {
    "autoregressive": (autoregressive,),
    "cluster-size": (clusters, any_chain, graph, covariance),
    "family": (family,),
    "finite-law": (finite, network),
    "gaussian-covariance": (covariance, precision),
    "gaussian-equal-variances": (equal_variances,),
    "gaussian-max-correlation": (max_correlation,),
    "gaussian-regression": (regressions,),
    "gaussian-vector": (vectors,),
    "gaussian-walk-summable": (precision, equal_variances),
    "graph-contraction": (graph, tree, network),
    "graph-ferromagnet": (calm_grid,),
    "graph-fields": (calm_graph, tree, graph, network),
    "graph-influence": (calm_graph,),
    "independent": (independent,),
    "markov-contexts": (pairs_chain,),
    "markov-contraction": (chain, interval_chain, pairs_chain),
    "markov-influence": (calm_chain,),
    "markov-intervals": (interval_pair,),
    "markov-ratio": (chain,),
    "markov-recursion": (any_chain, pairs_chain),
    "markov-threshold": (any_chain,),
    "markov-window": (pairs_chain,),
    "panel-blocks": (panel, open_panel),
    "panel-contraction": (panel,),
    "tree-recursion": (tree,),
}


def random_cost(rng: Rng, population: Population) -> Cost:
    """Kinds mixed for Gaussian populations, `any` for others, which know no other."""
    eps = float(10 ** rng.uniform(-1.5, 0.6))
    spec = population.spec()
    member = spec["members"][0] if "members" in spec else spec
    if member["model"] not in ("gaussian", "autoregressive") or rng.random() < 0.1:
        return Cost(any=eps)
    other = float(rng.uniform(0, 0.5)) if rng.random() < 0.4 else 0.0
    if spec.get("bounds") is not None:
        spent = [ColumnCost("a", 2.0, eps, eps * 2.0**-20), ColumnCost("b", 5.5, eps / 3, 0.0)]
        return Cost(any=other, by_column=tuple(spent))
    return Cost(any=other, lipschitz=eps, slack=eps * 2.0**-20 if rng.random() < 0.5 else 0.0)


def bound_by(rule: str, question: Question, cost: Cost) -> LeakageReport | None:
    """The report with the bound by this rule alone, if it applies and is finite."""
    full = report(question, cost)
    bounds = tuple(b for b in full.bounds if b.theorem == rule and np.isfinite(b.epsilon))
    return replace(full, bounds=bounds) if bounds else None


def conversion_by(rng: Rng, rule: str) -> Honest:
    """A certificate of a conversion by this rule, of a random population, cost and adversary."""
    for _ in range(100):
        kinds = ABOUT[rule]
        population = parse(kinds[int(rng.integers(len(kinds)))](rng))
        adversary: Any = ADVERSARIES[int(rng.choice(3, p=(0.5, 0.4, 0.1)))]
        secrets: Any = "bounded" if rng.random() < 0.9 else "unbounded"
        cost = random_cost(rng, population)
        alone = bound_by(rule, Question(population, adversary, secrets, SECONDS), cost)
        if alone is not None:
            certificate = conversion_certificate(population, alone)
            assert certificate.derivation.rule == rule
            return Honest(json.loads(certificate.to_json()), population, alone)
    raise AssertionError(f"{rule} applied to none of 100 populations")


# -- releases ---------------------------------------------------------------------------


def released(rng: Rng, folder: Path, number: int) -> Honest:
    """A certificate of a random study's first or second release."""
    if number % 60 == 8:
        folder.joinpath(f"c{number}").mkdir()
        return Honest(
            json.loads(counting_study(folder / f"c{number}").release().certificate.to_json())
        )
    while True:
        ledger = folder / f"{number}-{rng.integers(2**60)}.db"
        study = random_study(rng, ledger)
        try:
            done = study.release()
            if rng.random() < 0.3:
                done = study.release(again=True)
        except (BudgetExceededError, TableMismatchError):
            continue  # wanted errors cost too much, or a mean of no rows
        return Honest(json.loads(done.certificate.to_json()))
