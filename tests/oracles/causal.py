"""Seeing and doing by enumeration: the second route to every number of `causal/`.

Straight from the definitions, over any acyclic network, also one that the package refuses. All
settings of all nodes are listed; setting a node drops its table from the product (the truncated
factorisation), learning it conditions on it. Nothing is eliminated, nothing is a convolution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Node:
    """`law(parents' values)` gives the probabilities of this node's values."""

    name: str
    size: int
    parents: tuple[str, ...]
    table: Any

    def probability(self, setting: Mapping[str, int]) -> float:
        row = self.table
        for parent in self.parents:
            row = row[setting[parent]]
        return row[setting[self.name]]


def settings(nodes: Sequence[Node]) -> Iterator[dict[str, int]]:
    for values in itertools.product(*(range(node.size) for node in nodes)):
        yield dict(zip((node.name for node in nodes), values, strict=True))


def output_law(
    nodes: Sequence[Node],
    data: Sequence[str],
    outcome: Callable[..., Sequence[float]],
    target: str,
    value: int,
    how: str,
) -> np.ndarray | None:
    """The law of the output with `target` set to, or learned to be, `value`; None if it can't be.

    `outcome(x_1, ..., x_n)` gives the probabilities of the outcomes for a database.
    """
    total, mass = 0.0, 0.0
    for setting in settings(nodes):
        if setting[target] != value:
            continue
        weight = math.prod(
            node.probability(setting) for node in nodes if how == "see" or node.name != target
        )
        if weight > 0.0:
            mass += weight
            total = total + weight * np.asarray(outcome(*(setting[name] for name in data)))
    return None if mass == 0.0 else total / mass


def level(
    nodes: Sequence[Node],
    data: Sequence[str],
    outcome: Callable[..., Sequence[float]],
    target: str,
    how: str,
) -> float:
    """The largest log ratio of the output's laws between two values of `target`."""
    (size,) = (node.size for node in nodes if node.name == target)
    actual = [output_law(nodes, data, outcome, target, value, how) for value in range(size)]
    laws = [law for law in actual if law is not None]
    worst = 0.0
    for a, b in itertools.permutations(laws, 2):
        for p, q in zip(a, b, strict=True):
            if p > 0.0:
                worst = max(worst, math.log(p / q) if q > 0.0 else math.inf)
    return worst


def noisy_total(
    scores: Sequence[Sequence[int]], epsilon: float, reach: int = 60
) -> Callable[..., Sequence[float]]:
    """Discrete Laplace noise on a sum of scores, on outcomes `reach` steps beyond its range."""
    sensitivity = max(max(row) - min(row) for row in scores)
    a = math.exp(-epsilon / sensitivity)
    low, high = sum(map(min, scores)) - reach, sum(map(max, scores)) + reach

    def outcome(*values: int) -> list[float]:
        total = sum(row[value] for row, value in zip(scores, values, strict=True))
        return [(1 - a) / (1 + a) * a ** abs(y - total) for y in range(low, high + 1)]

    return outcome


def conditionally_independent(joint: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Each two records are independent given all the others."""
    n = joint.ndim
    for i, j in itertools.combinations(range(n), 2):
        moved = np.moveaxis(joint, (i, j), (-2, -1))
        total = moved.sum(axis=(-2, -1), keepdims=True)
        product = moved.sum(axis=-1, keepdims=True) * moved.sum(axis=-2, keepdims=True)
        if np.abs(moved * total - product).max() > tolerance:
            return False
    return True


def mutually_independent(joint: np.ndarray, tolerance: float = 1e-12) -> bool:
    """The joint law is the product of its marginals."""
    product = np.ones(())
    for i in range(joint.ndim):
        product = product[..., None] * joint.sum(axis=tuple(j for j in range(joint.ndim) if j != i))
    return bool(np.abs(joint - product).max() <= tolerance)
