"""What a population means: every form as its joint law, by three readers that share nothing.

The oracle multiplies the spec out itself, the package reads its own classes, and the kernel the
plain data of a certificate.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from bayesdp.kernel.joints import parts
from bayesdp.populations import parse
from bayesdp.populations.joint import joint_of
from bayesdp.statements import read_population
from tests.effort import runs
from tests.oracles import chains

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
    return {"model": "markov", "transition": rows, "length": 4}


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


DISCRETE = (markov, stationary, finite, graph, edges, grid, tree, network)


def by_the_kernel(spec: dict[str, Any]) -> np.ndarray:
    """The law of all records, from its independent parts: all of them, as none are equal here."""
    kept = parts(read_population(spec))
    pieces = [np.zeros(sizes) for _, sizes, _ in kept]
    for piece, (_, _, cells) in zip(pieces, kept, strict=True):
        for cell, weight in cells.items():
            piece[cell] = float(weight)
    places = [place for records, _, _ in kept for place in records]
    return np.transpose(chains.product(*pieces), np.argsort(places))


@pytest.mark.prove
@pytest.mark.parametrize("form", DISCRETE, ids=lambda form: form.__name__)
def test_three_readers_have_one_joint_law(form: Any) -> None:
    rng = np.random.default_rng(20)
    compared = 0
    for _ in range(runs(300)):
        spec = form(rng)
        truth = chains.from_spec(copy.deepcopy(spec))
        read_population(spec)
        made: Any = parse(spec)
        np.testing.assert_allclose(joint_of(made, CELLS), truth, rtol=1e-9, atol=1e-15)
        for plain in (spec, made.spec()):
            kept = parts(read_population(plain))
            if sum(len(records) for records, _, _ in kept) == truth.ndim:
                law_of_kernel = by_the_kernel(plain)
                np.testing.assert_allclose(law_of_kernel, truth, rtol=1e-9, atol=1e-15)
                compared += 1
    assert compared > runs(300) // 4
