"""Random causal models, and the same as nodes for the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesdp.causal import CausalModel
from tests.oracles.causal import Node


def random_model(rng: np.random.Generator, *, records: int = 3, zeros: bool = True) -> CausalModel:
    """Up to two latent causes, up to three attributes that may cause each other, data points."""
    nodes: list[dict[str, Any]] = []
    for role, count in (
        ("latent", int(rng.integers(0, 3))),
        ("attribute", int(rng.integers(1, 4))),
        ("data", records),
    ):
        for k in range(count):
            open_to = [n for n in nodes if n["role"] != "data"]
            chosen = rng.permutation(len(open_to))[: int(rng.integers(0, 3))]
            parents = [open_to[i] for i in chosen]
            size = int(rng.integers(1, 4)) if role == "data" else 2
            shape = (*(p["states"] for p in parents), size)
            table = rng.dirichlet(np.full(size, 0.7), size=shape[:-1])
            if zeros and rng.random() < 0.4:
                table = np.eye(size)[rng.integers(0, size, size=shape[:-1])]
            nodes.append(
                {
                    "name": f"{role} {k}",
                    "role": role,
                    "states": size,
                    "parents": [p["name"] for p in parents],
                    "table": table.tolist(),
                }
            )
    order = rng.permutation(len(nodes))
    data = [n for n in nodes if n["role"] == "data"]
    rest = iter(n for n in (nodes[i] for i in order) if n["role"] != "data")
    mixed = [data.pop(0) if nodes[i]["role"] == "data" else next(rest) for i in order]
    return CausalModel(nodes=mixed)


def oracle_nodes(model: CausalModel) -> list[Node]:
    return [Node(node.name, node.size, node.parents, node.table) for node in model.nodes]


def random_channel(rng: np.random.Generator, sizes: tuple[int, ...]) -> np.ndarray:
    """Two to four outcomes, some of them impossible for some databases."""
    channel = rng.dirichlet(np.full(int(rng.integers(2, 5)), 0.8), size=sizes)
    if rng.random() < 0.3:
        channel = np.where(rng.random(channel.shape) < 0.2, 0.0, channel)
        channel[..., -1] += 0.1
        channel /= channel.sum(axis=-1, keepdims=True)
    return channel


def relatives(count: int, prevalence: float = 0.1, copies: float = 1.0) -> CausalModel:
    """Relatives who have a disease if the family's gene is there (`copies` 1: all or none)."""
    ill = prevalence
    table = [
        [1 - (1 - copies) * ill, (1 - copies) * ill],
        [(1 - copies) * (1 - ill), copies + (1 - copies) * ill],
    ]
    nodes: list[dict[str, Any]] = [
        {"name": "gene", "role": "latent", "states": ["no", "yes"], "table": [1 - ill, ill]}
    ]
    for k in range(count):
        person = {"name": f"person {k}", "role": "attribute", "states": ["well", "ill"]}
        nodes.append(person | {"parents": ["gene"], "table": table})
        nodes.append({"name": f"record {k}", "role": "data", "parents": [f"person {k}"]})
    return CausalModel(nodes=nodes, mechanism={"count": "ill", "epsilon": 1.0})
