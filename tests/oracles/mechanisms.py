"""Random populations and private channels on small domains (axes: records, then the outcome)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tests.oracles.finite import distances

FAMILIES = ("exponential", "randomized response", "extremal")


def random_joint(rng: np.random.Generator, shape: Sequence[int], zeros: float = 0.0) -> np.ndarray:
    """A random law; every cell is impossible with probability `zeros` (one cell always stays)."""
    weights = rng.gamma(rng.choice([0.3, 1.0, 3.0]), size=tuple(shape)) + 1e-4
    keep = rng.random(tuple(shape)) >= zeros
    keep.flat[rng.integers(keep.size)] = True
    weights = weights * keep
    return weights / weights.sum()


def random_lipschitz_integers(
    rng: np.random.Generator, shape: Sequence[int], centres: int = 3
) -> np.ndarray:
    """Random integers that change by at most one with one record (an envelope of cones)."""
    apart = distances(tuple(shape))
    chosen = rng.integers(len(apart), size=centres)
    heights = rng.integers(0, len(shape) + 1, size=centres)
    envelope = np.min(heights[:, None] + apart[chosen], axis=0)
    return (envelope if rng.random() < 0.5 else -envelope).reshape(tuple(shape))


def exponential(
    rng: np.random.Generator, shape: Sequence[int], eps: float, outcomes: int = 3
) -> np.ndarray:
    """Exponential mechanism with random utilities of sensitivity one: weights `e^(eps u / 2)`."""
    utilities = []
    for _ in range(outcomes):
        apart = distances(tuple(shape))
        heights = rng.uniform(0, len(shape), size=4)
        cones = heights[:, None] + apart[rng.integers(len(apart), size=4)]
        utilities.append(np.min(cones, axis=0).reshape(tuple(shape)))
    weights = np.exp(eps / 2 * np.stack(utilities, axis=-1))
    return weights / weights.sum(axis=-1, keepdims=True)


def randomized_response(shape: Sequence[int], eps: float | Sequence[float]) -> np.ndarray:
    """Every record kept with odds `e^eps` against each other value; all answers are shown."""
    costs = [eps] * len(shape) if isinstance(eps, (int, float)) else list(eps)
    tables = []
    for size, cost in zip(shape, costs, strict=True):
        table = np.ones((size, size)) + (math.exp(cost) - 1) * np.eye(size)
        tables.append(table / table.sum(axis=1, keepdims=True))
    cells = list(itertools.product(*map(range, shape)))
    channel = [
        [math.prod(t[x, y] for t, x, y in zip(tables, row, col, strict=True)) for col in cells]
        for row in cells
    ]
    return np.array(channel).reshape(*shape, len(cells))


def two_outcomes(weight: np.ndarray, eps: float) -> np.ndarray:
    """The eps-DP mechanism `P[1 | x] = c g(x)`, `g` log-Lipschitz, `c = (1 - e^-eps) / max g`."""
    hit = -math.expm1(-eps) * weight / weight.max()
    return np.stack([1.0 - hit, hit], axis=-1)


def extremal(rng: np.random.Generator, shape: Sequence[int], eps: float) -> np.ndarray:
    """A two-outcome mechanism at a vertex: one outcome has probability `c e^(eps k(x))`."""
    return two_outcomes(np.exp(eps * random_lipschitz_integers(rng, shape)), eps)


def random_channel(
    rng: np.random.Generator, shape: Sequence[int], eps: float, family: str | None = None
) -> np.ndarray:
    """A random eps-DP channel of one of the families (a random one if none is named)."""
    chosen = family or FAMILIES[rng.integers(len(FAMILIES))]
    if chosen == "exponential":
        return exponential(rng, shape, eps, outcomes=int(rng.integers(2, 5)))
    if chosen == "randomized response":
        return randomized_response(shape, eps)
    return extremal(rng, shape, eps)
