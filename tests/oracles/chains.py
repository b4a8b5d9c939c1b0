"""Joint laws of small structured populations, multiplied out: one array axis per record."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def stationary(transition: np.ndarray) -> np.ndarray:
    """The stationary law; exact zeros at transient states; several closed classes are refused.

    States are eliminated one by one (Grassmann, Taksar & Heyman 1985): no subtraction, so no tiny
    negative values.
    """
    transition = np.asarray(transition, dtype=float)
    n = len(transition)
    reach = np.linalg.matrix_power((transition > 0).astype(int) + np.eye(n, dtype=int), n) > 0
    recurrent = [u for u in range(n) if all(reach[v, u] for v in range(n) if reach[u, v])]
    if any(not reach[u, v] for u in recurrent for v in recurrent):
        raise ValueError("several closed classes: the stationary law is not unique")
    work = transition[np.ix_(recurrent, recurrent)].copy()
    m = len(recurrent)
    for last in range(m - 1, 0, -1):
        work[:last, last] /= work[last, :last].sum()
        work[:last, :last] += np.outer(work[:last, last], work[last, :last])
    weight = np.zeros(m)
    weight[0] = 1.0
    for state in range(1, m):
        weight[state] = weight[:state] @ work[:state, state]
    law = np.zeros(n)
    law[recurrent] = weight / weight.sum()
    return law


def joint(transition: Any, initial: Any, n: int) -> np.ndarray:
    """Law of the first `n` records of a chain; a table with k + 1 axes is a chain of order k.

    `initial` is "stationary" or the law of the first record (of the first k records, with k axes).
    """
    transition = np.asarray(transition, dtype=float)
    order, states = transition.ndim - 1, transition.shape[-1]
    if isinstance(initial, str):
        law = stationary(_on_tuples(transition)).reshape((states,) * order)
    else:
        law = np.asarray(initial, dtype=float).reshape((states,) * order)
    for _ in range(n - order):
        law = law[..., None] * transition.reshape((1,) * (law.ndim - order) + transition.shape)
    while law.ndim > n:
        law = law.sum(axis=-1)
    return law


def _on_tuples(transition: np.ndarray) -> np.ndarray:
    """The chain of the last k records, from the table of an order-k chain (older records first)."""
    order, states = transition.ndim - 1, transition.shape[-1]
    if order == 1:
        return transition
    size = states**order
    kernel = np.zeros((size, size))
    for index, past in enumerate(itertools.product(range(states), repeat=order)):
        for new in range(states):
            onto = np.ravel_multi_index((*past[1:], new), (states,) * order)
            kernel[index, onto] = transition[(*past, new)]
    return kernel


def inhomogeneous(kernels: Sequence[Any], initial: Any) -> np.ndarray:
    """Law of a chain with a kernel of its own for every step."""
    law = np.asarray(initial, dtype=float)
    for kernel in kernels:
        kernel = np.asarray(kernel, dtype=float)
        law = law[..., None] * kernel.reshape((1,) * (law.ndim - 1) + kernel.shape)
    return law


def tree(nodes: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Law of a tree given as in a spec: a root has a `law`, others `parent` and `transition`."""
    place = {node["name"]: index for index, node in enumerate(nodes)}
    sizes = [len(node["law"]) if "law" in node else len(node["transition"][0]) for node in nodes]
    law = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        weight = 1.0
        for index, node in enumerate(nodes):
            row = node["law"] if "law" in node else node["transition"][cell[place[node["parent"]]]]
            weight *= row[cell[index]]
        law[cell] = weight
    return law


def factor_graph(
    records: int, states: int | Sequence[int], factors: Sequence[Mapping[str, Any]]
) -> np.ndarray:
    """Law proportional to a product of factors `{"between": records, "table": nested array}`."""
    sizes = [states] * records if isinstance(states, int) else list(states)
    law = np.ones(sizes)
    for factor in factors:
        between = list(factor["between"])
        table = np.asarray(factor["table"], dtype=float)
        order = np.argsort(between)
        shape = [sizes[j] if j in between else 1 for j in range(records)]
        law = law * np.transpose(table, order).reshape(shape)
    return law / law.sum()


def product(*joints: np.ndarray) -> np.ndarray:
    """Law of mutually independent groups of records, side by side."""
    law = np.ones(())
    for joint in joints:
        law = np.multiply.outer(law, np.asarray(joint, dtype=float))
    return law


def copies(ndarray: np.ndarray, times: int) -> np.ndarray:
    """Law of several independent copies of one group."""
    return product(*[ndarray] * times)


def network(nodes: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Law of a Bayesian network: each node's table has an axis for each parent, and one for it."""
    names = [node["name"] for node in nodes]
    sizes = [s if isinstance(s, int) else len(s) for s in (node["states"] for node in nodes)]
    law = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        weight = 1.0
        for index, node in enumerate(nodes):
            row = node["table"]
            for parent in node.get("parents", ()):
                row = row[cell[names.index(parent)]]
            weight *= row[cell[index]]
        law[cell] = weight
    return law


def grid_pairs(rows: int, columns: int) -> list[tuple[int, int]]:
    """Neighbours in a grid whose records are numbered row by row."""
    at = np.arange(rows * columns).reshape(rows, columns)
    across = zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)
    down = zip(at[:-1].ravel(), at[1:].ravel(), strict=True)
    return [(int(a), int(b)) for a, b in (*across, *down)]


def from_spec(population: Mapping[str, Any]) -> np.ndarray:
    """Law of a small discrete population given by its spec; `ValueError` for other models."""
    model = population["model"]
    if model == "finite":
        return np.asarray(population["probabilities"], dtype=float)
    if model == "markov" and "transition" in population:
        initial = population.get("initial", "stationary")
        return joint(population["transition"], initial, population["length"])
    if model == "tree":
        return tree(population["nodes"])
    if model == "network":
        return network(population["nodes"])
    if model == "graph" and "factors" in population:
        return factor_graph(population["records"], population["states"], population["factors"])
    if model == "graph":
        grid, table = population.get("grid"), population["table"]
        pairs = grid_pairs(*grid) if grid else population["edges"]
        records = grid[0] * grid[1] if grid else population["records"]
        factors = [{"between": pair, "table": table} for pair in pairs]
        return factor_graph(records, len(table), factors)
    raise ValueError(f"no joint law for model {model!r}")
