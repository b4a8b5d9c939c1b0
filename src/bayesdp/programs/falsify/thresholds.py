"""The law of the first query above a noisy threshold, by integration.

Given the threshold's noise the queries are independent: the chance of a place is an integral over
that noise of a product of Laplace distribution functions. These are exponentials between the
points where a query meets the threshold, so that Gauss's rule is nearly exact in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

NODES = 24
REACH = 60.0
"""How many scales beyond the outermost point are looked at: a share of e^-60 lies beyond."""


def first_above(gaps: Sequence[float], of_threshold: float, of_query: float) -> tuple[float, ...]:
    """The logarithm of the chance of each place, the last for no query.

    `gaps` are the queries less the threshold, the others the scales of the two kinds of noise.
    """
    x, weights = _panels(sorted({0.0, *gaps}), of_threshold)
    density = -np.abs(x) / of_threshold - np.log(2 * of_threshold) + np.log(weights)
    below = density
    chances = []
    for gap in gaps:
        # Above where gap + noise >= x.
        chances.append(float(np.logaddexp.reduce(below + _log_tail((x - gap) / of_query))))
        below = below + _log_tail((gap - x) / of_query)
    return (*chances, float(np.logaddexp.reduce(below)))


def _log_tail(x: Floats) -> Floats:
    """The logarithm of the chance that Laplace noise of scale 1 is above x."""
    with np.errstate(divide="ignore", over="ignore"):
        inside = np.log1p(-np.exp(np.minimum(x, 0.0)) / 2)
    return np.asarray(np.where(x > 0, -x - np.log(2), inside))


def _panels(points: list[float], scale: float) -> tuple[Floats, Floats]:
    """Nodes and weights on pieces that end at the points, short near each of them."""
    grown = scale * 0.5 * (2.0 ** np.arange(8) - 1)
    ends: list[float] = []
    for low, high in pairwise(points):
        middle = (low + high) / 2
        ends += [low + step for step in grown if low + step < middle]
        ends += [high - step for step in grown[::-1] if high - step > middle]
    edges = np.unique([*(points[0] - grown), *ends, *(points[-1] + grown)])
    nodes, weights = _gauss()
    half = np.diff(edges) / 2
    x = (edges[:-1] + half)[:, None] + half[:, None] * nodes[None, :]
    return x.ravel(), (half[:, None] * weights[None, :]).ravel()


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return np.asarray(nodes), np.asarray(weights)
