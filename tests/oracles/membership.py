"""Lemma 1 of Zhao (2019): the likelihood ratios that membership privacy allows at one belief."""

from __future__ import annotations

import math


def largest_ratio(level: float, belief: float) -> float:
    """Lemma 1 of Zhao (2019): the largest `rho` that the level allows at this belief, `g(b)`.

    `(1 - b) / (e^-level - b)` for `b <= 1 / (1 + e^level)`, `(e^level - 1 + b) / b` above.
    """
    assert level >= 0.0
    assert 0.0 < belief < 1.0
    if belief <= 1.0 / (1.0 + math.exp(min(level, 700.0))):
        return (1.0 - belief) / (math.exp(-level) - belief)
    return (math.expm1(level) + belief) / belief if level < 700.0 else math.inf


def level_of(ratio: float, belief: float) -> float:
    """The smallest level that allows `rho = ratio` at this belief: the inverse of `largest_ratio`.

    0 for a ratio of at most 1: the two conditions bound only what speaks for `x_i`.
    """
    assert ratio >= 0.0
    assert 0.0 < belief < 1.0
    if ratio <= 1.0:
        return 0.0
    if math.isinf(ratio):
        return math.inf
    mean = belief * ratio + (1.0 - belief)
    return max(math.log(ratio / mean), math.log(mean))
