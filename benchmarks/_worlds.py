"""What `programs.py` measures: programs, their counterparts without noise, and their worlds.

In every world the truth is drawn from the program's prior and the data from its model, except where
a method says that it claims nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import data
import numpy as np

from bayesdp.populations import Gaussian, Population

Data = tuple[tuple[float, ...], dict[str, Any]]


@dataclass(frozen=True)
class Method:
    """A private program, its counterpart without noise, and the world that both assume."""

    title: str
    program: str
    plain: str
    draw: Callable[[np.random.Generator, int], Data]
    names: tuple[str, ...]
    claims: bool = True
    """Whether its intervals are claimed to hold the truth as often as they say."""
    population: Population | None = None
    """What `dependence="declared"` counts on."""
    wide: bool = False
    """Whether its counterpart's intervals hold the truth more often than they say."""


def tosses(rng: np.random.Generator, n: int) -> Data:
    truth = rng.random()
    return (truth,), {"": rng.random(n) < truth}


def values(rng: np.random.Generator, n: int) -> Data:
    truth = rng.normal(0.0, 0.5)
    return (truth,), {"": np.clip(rng.normal(truth, 1.0, n), -7.0, 7.0)}


def pairs(rng: np.random.Generator, n: int) -> Data:
    line, x = rng.normal(0.0, 0.1, 2), rng.uniform(-1.0, 1.0, n)
    y = line[0] + line[1] * x + rng.normal(0.0, 0.1, n)
    return tuple(line.tolist()), {"x": x, "y": np.clip(y, -3.0, 3.0)}


def cases(rng: np.random.Generator, n: int) -> Data:
    line, x = rng.normal(0.0, 1.0, 2), rng.uniform(-1.0, 1.0, n)
    chance = 1 / (1 + np.exp(-line[0] - line[1] * x))
    return tuple(line.tolist()), {"x": x, "ill": rng.random(n) < chance}


MOST_EVENTS = 20


def events(rng: np.random.Generator, n: int) -> Data:
    line, x = rng.normal(0.0, 1.0, 2), rng.uniform(-1.0, 1.0, n)
    counts = rng.poisson(np.exp(line[0] + line[1] * x))
    return tuple(line.tolist()), {"x": x, "events": np.minimum(counts, MOST_EVENTS)}


def parts(rng: np.random.Generator, n: int) -> Data:
    means, share = rng.normal(5.0, 2.0, 2), rng.random()
    wide = (rng.random(n) > share).astype(np.int64)
    x = rng.normal(means[wide], np.asarray((0.5, 1.5))[wide])
    return (*means.tolist(), share, 1 - share), {"": np.clip(x, 0.0, 10.0)}


def visitors(rng: np.random.Generator, n: int) -> Data:
    center, spread = rng.normal(-1.0, 1.0), abs(rng.normal(0.0, 0.5))
    chances = 1 / (1 + np.exp(-rng.normal(center, spread, 3)))
    site = rng.choice(3, size=n, p=(0.6, 0.3, 0.1))
    return (*chances.tolist(), center, spread), {"site": site, "ill": rng.random(n) < chances[site]}


CLUSTER, CORRELATION = 4, 0.5


def clusters(rng: np.random.Generator, n: int) -> Data:
    truth = rng.normal(0.0, 0.5)
    shared = np.repeat(rng.normal(size=n // CLUSTER), CLUSTER) * math.sqrt(CORRELATION)
    x = truth + shared + rng.normal(size=n) * math.sqrt(1 - CORRELATION)
    return (truth,), {"": np.clip(x, -7.0, 7.0)}


@lru_cache(maxsize=1)
def two_sisters() -> Any:
    """The heights of two daughters of each of Galton's families, with mean 0 and variance 1.

    None where the data set is absent.
    """
    import pandas as pd

    file = data.folder() / "galton_heights" / "galton_children.csv"
    if not file.is_file():
        return None
    children = pd.read_csv(file)
    daughters = children[children.sex == "F"].groupby("family").height_cm.apply(list)
    heights = np.asarray([some[:2] for some in daughters if len(some) > 1])
    return (heights - heights.mean()) / heights.std()


def sisters(rng: np.random.Generator, n: int) -> Data:
    """Families drawn with replacement, of daughters whose mean is moved to the truth."""
    heights, truth = two_sisters(), rng.normal(0.0, 0.5)
    drawn = heights[rng.integers(len(heights), size=n // 2)].ravel()
    return (truth,), {"": np.clip(truth + drawn, -7.0, 7.0)}


PERSISTENCE = 0.9


def series(chances: Any, rng: np.random.Generator, n: int) -> Data:
    """A series of n truth values that begins with either, in runs of geometric lengths."""
    state, runs, total = int(rng.integers(2)), [], 0
    while total < n:
        many = min(int(rng.geometric(chances[state, 1 - state])), n)
        runs.append((state, many))
        total += many
        state = 1 - state
    states = np.repeat([held for held, _ in runs], [many for _, many in runs])[:n] == 1
    share = chances[0, 1] / (chances[0, 1] + chances[1, 0])
    truth = (*chances.ravel().tolist(), 1 - share, share)
    return truth, {"t": np.arange(1.0, n + 1), "on": states}


def chains(rng: np.random.Generator, n: int) -> Data:
    return series(rng.dirichlet(np.ones(2), size=2), rng, n)


def persistent(rng: np.random.Generator, n: int) -> Data:
    leaves = 1 - PERSISTENCE
    return series(np.array([[PERSISTENCE, leaves], [leaves, PERSISTENCE]]), rng, n)


def persistent_share(rng: np.random.Generator, n: int) -> Data:
    truth, columns = persistent(rng, n)
    return truth[-1:], columns


COIN, MEAN, LINE = ("bias",), ("mean",), ("intercept", "slope")
STATES = ("0 -> 0", "0 -> 1", "1 -> 0", "1 -> 1", "share of 0", "share of 1")
PARTS = ("mean of narrow", "mean of wide", "share of narrow", "share of wide")
SITES = ("large site", "middle site", "small site", "centre", "spread")
METHODS = {
    "candidates": Method(
        "coin: exponential mechanism over posteriors", "coin_candidates", "", tosses, COIN, False
    ),
    "answers": Method("coin: randomized response", "coin_answers", "coin_plain", tosses, COIN),
    "count": Method("coin: noisy count", "coin_count", "coin_plain", tosses, COIN),
    "mean": Method("normal mean: noisy sum", "mean_aware", "mean_plain", values, MEAN),
    "clusters": Method(
        'clusters of four: dependence="declared"',
        "clusters_aware",
        "clusters_plain",
        clusters,
        MEAN,
        True,
        Gaussian(size=CLUSTER, max_correlation=CORRELATION),
    ),
    "ignored": Method(
        "clusters of four: without it",
        "mean_aware",
        "clusters_plain",
        clusters,
        MEAN,
        False,
        Gaussian(size=CLUSTER, max_correlation=CORRELATION),
    ),
    "sisters": Method(
        'Galton\'s sisters: dependence="declared"',
        "clusters_aware",
        "mean_plain",
        sisters,
        MEAN,
        False,
        Gaussian(size=2, max_correlation=0.5),
    ),
    "chain": Method("chain: noisy transitions", "chain_aware", "chain_plain", chains, STATES),
    "persistent": Method(
        "chain of persistence 0.9: noisy transitions",
        "chain_aware",
        "chain_plain",
        persistent,
        STATES,
        False,
    ),
    "forgotten": Method(
        "chain of persistence 0.9: noisy count",
        "share_aware",
        "share_plain",
        persistent_share,
        ("share of 1",),
        False,
    ),
    "held": Method(
        "regression: noisy moments, X'X held", "line_held", "line_plain", pairs, LINE, False
    ),
    "odds": Method("logistic regression: noisy moments", "odds_aware", "odds_plain", cases, LINE),
    "rates": Method(
        "Poisson regression: noisy moments", "rates_aware", "rates_plain", events, LINE, wide=True
    ),
    "parts": Method("mixture of two: noisy histogram", "parts_aware", "parts_plain", parts, PARTS),
    "sites": Method(
        "hierarchy: noisy sums of sites", "sites_aware", "sites_plain", visitors, SITES
    ),
    "line": Method("regression: noisy moments, NUTS", "line_nuts", "line_plain", pairs, LINE),
}
