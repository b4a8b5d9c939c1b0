"""What a population means: every form as its joint law, by three readers that share nothing.

The oracle multiplies the spec out itself, the package reads its own classes, and the kernel the
plain data of a certificate. A form that allows several laws has a level that none of them exceeds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.kernel.models.joints import parts
from bayesdp.kernel.models.populations import group_size
from bayesdp.notions import ADVERSARIES
from bayesdp.populations import parse
from bayesdp.populations.joint import joint_of
from bayesdp.statements import read_population
from bayesdp.statements.populations import Population, Single
from tests.effort import runs
from tests.oracles import chains, populations

Rng = np.random.Generator
CELLS = 2**10


def law(rng: Rng, *shape: int) -> list[Any]:
    """Random laws along the last axis, some of whose entries are 0."""
    weights = rng.gamma(1.0, size=shape) * (rng.random(shape) < 0.85)
    weights[..., 0] += 1e-3
    made: list[Any] = (weights / weights.sum(axis=-1, keepdims=True)).tolist()
    return made


def weights(rng: Rng, *shape: int) -> list[Any]:
    table: list[Any] = (rng.gamma(1.0, size=shape) + 1e-3).tolist()
    return table


def markov(rng: Rng) -> dict[str, Any]:
    order, states = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    spec: dict[str, Any] = {"model": "markov", "length": int(rng.integers(1, 6))}
    spec["transition"] = law(rng, *([states] * (order + 1)))
    if order > 1 or rng.random() < 0.5:
        spec["order"] = order
    first = np.asarray(law(rng, states**order)).reshape([states] * order)
    return spec | {"initial": first.tolist()}


def stationary(rng: Rng) -> dict[str, Any]:
    """Of order 1: it starts in its only stationary law."""
    rows = weights(rng, 3, 3)
    rows = [(np.asarray(row) / np.sum(row)).tolist() for row in rows]
    return {"model": "markov", "transition": rows, "length": int(rng.integers(2, 5))}


def finite(rng: Rng) -> dict[str, Any]:
    shape = rng.integers(1, 4, size=rng.integers(1, 5))
    table = np.asarray(law(rng, int(np.prod(shape)))).reshape(shape)
    return {"model": "finite", "probabilities": table.tolist()}


def graph(rng: Rng) -> dict[str, Any]:
    records = int(rng.integers(2, 6))
    states = rng.integers(1, 4, size=records).tolist()
    factors = []
    for _ in range(int(rng.integers(0, 5))):
        between = rng.permutation(records)[: rng.integers(1, 4)].tolist()
        table = weights(rng, *(states[record] for record in between))
        factors.append({"between": between, "table": table})
    return {"model": "graph", "records": records, "states": states, "factors": factors}


def edges(rng: Rng) -> dict[str, Any]:
    pairs = [[0, 1], [2, 1], [3, 0]][: int(rng.integers(1, 4))]
    return {"model": "graph", "records": 4, "edges": pairs, "table": weights(rng, 2, 2)}


def grid(rng: Rng) -> dict[str, Any]:
    sides = rng.integers(1, 4, size=2).tolist()
    return {"model": "graph", "grid": sides, "table": weights(rng, 2, 2)}


def tree(rng: Rng) -> dict[str, Any]:
    sizes = rng.integers(1, 4, size=rng.integers(1, 6)).tolist()
    nodes: list[dict[str, Any]] = []
    for number, size in enumerate(sizes):
        if number == 0 or rng.random() < 0.2:
            nodes.append({"name": f"r{number}", "law": law(rng, size)})
            continue
        parent = int(rng.integers(number))
        rows = law(rng, sizes[parent], size)
        nodes.append({"name": f"r{number}", "parent": nodes[parent]["name"], "transition": rows})
    return {"model": "tree", "nodes": [nodes[k] for k in rng.permutation(len(nodes))]}


def network(rng: Rng) -> dict[str, Any]:
    sizes = rng.integers(1, 4, size=rng.integers(1, 6)).tolist()
    nodes: list[dict[str, Any]] = []
    for number, size in enumerate(sizes):
        parents = rng.permutation(number)[: rng.integers(0, 3)].tolist()
        table = law(rng, *(sizes[parent] for parent in parents), size)
        named = [f"v{k}" for k in range(size)] if rng.random() < 0.5 else size
        node = {"name": f"n{number}", "states": named, "table": table}
        nodes.append(node | ({"parents": [f"n{k}" for k in parents]} if parents else {}))
    return {"model": "network", "nodes": [nodes[k] for k in rng.permutation(len(nodes))]}


# ------------------------------------------------------ laws that stand in files


def network_file(rng: Rng) -> dict[str, Any]:
    nodes = network(rng)["nodes"]
    values = {
        node["name"]: node["states"]
        if isinstance(node["states"], list)
        else [f"s{k}" for k in range(node["states"])]
        for node in nodes
    }
    text = "network drawn {\n}\n"
    for name, listed in values.items():
        text += f"variable {name} {{\n  type discrete [ {len(listed)} ] {{ {', '.join(listed)} }};"
        text += "\n}\n"
    for node in nodes:
        above = node.get("parents", [])
        lines = []
        table = np.asarray(node["table"])
        for cell in np.ndindex(table.shape[:-1]):
            given = ", ".join(values[parent][k] for parent, k in zip(above, cell, strict=True))
            start = f"({given})" if above else "table"
            lines.append(f"  {start} {', '.join(map(repr, table[cell].tolist()))};\n")
        given = f" | {', '.join(above)}" if above else ""
        text += f"probability ( {node['name']}{given} ) {{\n{''.join(lines)}}}\n"
    Path("drawn.bif").write_text(text)
    return {"model": "network", "bif": "drawn.bif"}


def edges_file(rng: Rng) -> dict[str, Any]:
    spec = edges(rng)
    lines = ["a,b", *(f"{a},{b}" for a, b in spec["edges"])]
    Path("drawn.csv").write_text("\n".join(lines) + "\n")
    return spec | {"edges": "drawn.csv"}


SINGLE: dict[str, tuple[Callable[[Rng], dict[str, Any]], ...]] = {
    "markov": (markov, stationary),
    "finite": (finite,),
    "graph factors": (graph,),
    "graph edges": (edges, edges_file),
    "graph grid": (grid,),
    "tree": (tree,),
    "network nodes": (network,),
    "network file": (network_file,),
}
"""The forms that state a single law of finitely many cells."""


# ------------------------------------------------------ normal laws, and forms that allow several


def sized(model: str, key: str) -> Callable[[Rng], dict[str, Any]]:
    return lambda rng: {"model": model, key: int(rng.integers(1, 4))}


def independent(rng: Rng) -> dict[str, Any]:
    return {"model": "independent"}


def intervals(rng: Rng) -> dict[str, Any]:
    order = int(rng.integers(1, 3))
    middle = 0.8 * np.asarray(law(rng, *([2] * (order + 1)))) + 0.1
    slack = rng.uniform(0.0, 0.2, size=middle.shape)
    spec: dict[str, Any] = {"model": "markov", "length": int(rng.integers(1, 4))}
    spec |= {
        "transition_lower": np.maximum(middle - slack, 0.0).tolist(),
        "transition_upper": np.minimum(middle + slack, 1.0).tolist(),
    }
    first = np.full([2] * order, 0.5**order).tolist()
    return spec | ({"order": order} if order > 1 else {}) | {"initial": first}


def autoregressive(rng: Rng) -> dict[str, Any]:
    phi = float(rng.uniform(-0.9, 0.9))
    return {"model": "autoregressive", "coefficient": phi, "length": int(rng.integers(1, 6))}


def panel(rng: Rng) -> dict[str, Any]:
    """Every second one with a shared state, and every second one open within a step."""
    series = int(rng.integers(1, 4))
    spec: dict[str, Any] = {
        "model": "panel",
        "series": series,
        "length": int(rng.integers(1, 4 // series + 1)),
        "own_previous": float(rng.uniform(1.0, 9.0)),
        "others_previous": float(rng.uniform(1.0, 3.0)),
    }
    if rng.random() < 0.5:
        spec["others_now"] = float(rng.uniform(1.0, 9.0))
    if rng.random() < 0.5:
        spec["shared_previous"] = float(rng.uniform(1.0, 9.0))
        spec["shared_now"] = float(rng.uniform(1.0, 9.0))
    return spec


def positive(rng: Rng, size: int) -> np.ndarray:
    root = rng.normal(size=(size, size)) + rng.uniform(0.0, 3.0) * np.eye(size)
    return np.asarray(root @ root.T + 0.05 * np.eye(size))


def covariance(rng: Rng) -> dict[str, Any]:
    return {"model": "gaussian", "covariance": positive(rng, int(rng.integers(1, 5))).tolist()}


def vectors(rng: Rng) -> dict[str, Any]:
    size, columns = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    lows, widths = rng.normal(size=columns), rng.uniform(0.5, 4.0, size=columns)
    return {
        "model": "gaussian",
        "covariance": positive(rng, size * columns).tolist(),
        "size": size,
        "columns": [f"c{k}" for k in range(columns)],
        "bounds": np.stack([lows, lows + widths], axis=1).tolist(),
    }


def precision(rng: Rng) -> dict[str, Any]:
    return {"model": "gaussian", "precision": positive(rng, int(rng.integers(1, 5))).tolist()}


def precision_file(rng: Rng) -> dict[str, Any]:
    matrix = positive(rng, int(rng.integers(1, 5)))
    cells = [(i, j, matrix[i, j]) for i in range(len(matrix)) for j in range(i + 1)]
    lines = ["%%MatrixMarket matrix coordinate real symmetric"]
    lines += [f"{len(matrix)} {len(matrix)} {len(cells)}"]
    lines += [f"{i + 1} {j + 1} {float(entry)!r}" for i, j, entry in cells]
    Path("drawn.mtx").write_text("\n".join(lines) + "\n")
    return {"model": "gaussian", "precision": "drawn.mtx"}


def correlation(rng: Rng) -> dict[str, Any]:
    size = int(rng.integers(1, 5))
    return {"model": "gaussian", "size": size, "max_correlation": float(rng.uniform(0.0, 0.9))}


def regression(rng: Rng) -> dict[str, Any]:
    size = int(rng.integers(1, 5))
    return {"model": "gaussian", "size": size, "max_regression_sum": float(rng.uniform(0.0, 3.0))}


def family(rng: Rng) -> dict[str, Any]:
    return {"model": "family", "members": [stationary(rng), intervals(rng), independent(rng)]}


OTHERS: dict[str, tuple[Callable[[Rng], dict[str, Any]], ...]] = {
    "independent": (independent,),
    "clusters": (sized("clusters", "size"),),
    "unknown": (sized("unknown", "records"),),
    "markov intervals": (intervals,),
    "autoregressive": (autoregressive,),
    "panel": (panel,),
    "gaussian covariance": (covariance,),
    "gaussian vectors": (vectors,),
    "gaussian precision": (precision, precision_file),
    "gaussian correlation": (correlation,),
    "gaussian regression": (regression,),
    "family": (family,),
}
DISCRETE = [made for forms in SINGLE.values() for made in forms]
ALL = [(form, made) for form, listed in (SINGLE | OTHERS).items() for made in listed]
NAMES = [made.__name__.replace("<lambda>", form) for form, made in ALL]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tags(choice: Any) -> set[str]:
    """The names of the classes between which a discriminated union chooses."""
    union = get_args(choice)[0]
    return {get_args(member)[-1].tag for member in get_args(union)}


def test_every_form_of_statement_has_an_oracle() -> None:
    forms = tags(Single) | (tags(Population) - {"single"})
    assert set(populations.ORACLES) == forms
    assert {form for form, _ in ALL} == forms
    rng = np.random.default_rng(0)
    for form, made in ALL:
        assert populations.form_of(made(rng)) == form


@pytest.mark.prove
@pytest.mark.parametrize(("form", "made"), ALL, ids=NAMES)
def test_no_law_that_is_allowed_leaks_more_than_the_level(form: str, made: Any) -> None:
    rng = np.random.default_rng(21)
    compared = 0
    for _ in range(runs(200)):
        spec = made(rng)
        population: Any = parse(spec)
        allowed = populations.a_law(rng, spec)
        if isinstance(allowed, populations.Discrete) and allowed.joint.size > 27:
            continue
        dp_epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        kind = "lipschitz" if isinstance(allowed, populations.Normal) else "any"
        for adversary in ADVERSARIES:
            report = bdp.leakage(population, dp_epsilon, adversary=adversary, kind=kind)
            leaks = allowed.leaks(dp_epsilon, adversary)
            assert report.best.epsilon >= leaks * (1.0 - 1e-9) - 1e-12, (spec, adversary)
        compared += 1
    assert compared > runs(200) // 8


@pytest.mark.parametrize(("form", "made"), ALL, ids=NAMES)
def test_as_many_records_may_depend_as_the_form_says(form: str, made: Any) -> None:
    """The number of records of one law, for the kernel too; of a graph its largest part."""
    rng = np.random.default_rng(22)
    for _ in range(20):
        spec = made(rng)
        population: Any = parse(spec)
        records = populations.a_law(rng, spec).records
        if not isinstance(spec.get("bif", spec.get("edges", spec.get("precision"))), str):
            assert group_size(read_population(population.spec())) == population.group_size
        if form.startswith(("graph", "tree", "network")):
            assert population.group_size <= records
        elif form == "independent":
            assert population.group_size == 1
        elif form == "family":
            assert population.group_size >= records or records == 2  # two independent ones
        else:
            assert population.group_size == records


def by_the_kernel(spec: dict[str, Any]) -> np.ndarray:
    """The law of all records, from its independent parts: all of them, as none are equal here."""
    kept = parts(read_population(spec))
    pieces = [np.zeros(sizes) for _, sizes, _ in kept]
    for piece, (_, _, cells) in zip(pieces, kept, strict=True):
        for cell, weight in cells.items():
            piece[cell] = float(weight)
    places = [place for records, _, _ in kept for place in records]
    return np.transpose(chains.product(*pieces), np.argsort(places))


def stated(*specs: dict[str, Any]) -> list[dict[str, Any]]:
    """Those specs that the kernel reads: all but those whose numbers stand in a file."""
    return [
        spec
        for spec in specs
        if "bif" not in spec and isinstance(spec.get("edges", []), list | tuple)
    ]


@pytest.mark.prove
@pytest.mark.parametrize("form", DISCRETE, ids=lambda form: form.__name__)
def test_three_readers_have_one_joint_law(form: Any) -> None:
    rng = np.random.default_rng(20)
    compared = 0
    for _ in range(runs(300)):
        spec = form(rng)
        law = populations.a_law(rng, copy.deepcopy(spec))
        assert isinstance(law, populations.Discrete)
        truth = law.joint
        made: Any = parse(spec)
        np.testing.assert_allclose(joint_of(made, CELLS), truth, rtol=1e-9, atol=1e-15)
        for plain in stated(spec, made.spec()):
            kept = parts(read_population(plain))
            if sum(len(records) for records, _, _ in kept) == truth.ndim:
                law_of_kernel = by_the_kernel(plain)
                np.testing.assert_allclose(law_of_kernel, truth, rtol=1e-9, atol=1e-15)
                compared += 1
    assert compared > runs(300) // 4 or form is edges_file
