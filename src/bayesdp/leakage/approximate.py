"""Approximate DP under correlation: affine maps instead of factors (theory 3.10).

A pair `(C, D)` stands for `G <= C G' + D`. A mechanism that is `(eps, delta)`-DP gives the pair
`(e^eps, delta)` for the change of one record. Pairs chain to `(C1 C2, D1 + C1 D2)`; both orders are
valid, so the smaller is taken. Here `C` is carried as its logarithm.
"""

from __future__ import annotations

import math
from itertools import permutations

from bayesdp import numbers
from bayesdp.numbers import UNIT, largest, times

Pair = tuple[float, float]
"""`(ln C, D)`."""

_ROUNDS = 200_000


def up(value: float, operations: int = 4) -> float:
    """Rounded up, but nothing stays nothing: a delta of 0 is exact."""
    return 0.0 if value == 0.0 else numbers.up(value, operations)


def chain(first: Pair, second: Pair) -> Pair:
    """The smaller of the two ways to do one change after the other, rounded up."""
    together = up(first[0] + second[0], 1)
    one = first[1] + _times(first[0], second[1])
    other = second[1] + _times(second[0], first[1])
    return (together, up(min(one, other), 4))


def best_order(pairs: tuple[Pair, ...]) -> Pair:
    """The best of all orders of up to three changes."""
    totals = []
    for order in permutations(pairs):
        logs, delta = 0.0, 0.0
        for log_c, d in order:
            delta += _times(logs, d)
            logs += log_c
        totals.append((up(logs, 4), up(delta, 8)))
    return (largest(*(t[0] for t in totals)), min(t[1] for t in totals))


def _times(log_c: float, delta: float) -> float:
    if delta == 0.0:
        return 0.0
    return up(math.exp(up(log_c, 8)) * delta, 8) if log_c <= 700.0 else math.inf


def group(size: int, dp_epsilon: float, dp_delta: float) -> Pair:
    """`size` records at once: `(m eps, delta (e^(m eps) - 1) / (e^eps - 1))`, rounded up."""
    epsilon = times(size, dp_epsilon)
    if dp_epsilon == 0.0:
        return (0.0, up(size * dp_delta))
    if epsilon > 700.0:
        return (epsilon, math.inf if dp_delta > 0.0 else 0.0)
    growth = math.expm1(epsilon) / math.expm1(dp_epsilon)
    return (epsilon, up(growth * dp_delta, 16))


def influence(change: Pair, ratio: float) -> Pair:
    """What a reweighting with odds ratio `R` passes on of a change: `(f(c; R), d h)`."""
    log_c, delta = change
    if math.isinf(ratio):
        return change
    root = math.sqrt(ratio)
    if ratio == 1.0 or (log_c == 0.0 and delta == 0.0):
        return (0.0, 0.0)
    if log_c > 600.0:
        shrunk = math.exp(-log_c / 2.0)
        passed = 2.0 * math.log1p((1.0 - shrunk) * (root - 1.0) / (1.0 + root * shrunk))
    else:
        excess = math.expm1(log_c / 2.0)
        passed = 2.0 * math.log1p(excess * (root - 1.0) / (1.0 + excess + root))
    passed = min(up(passed, 64), log_c)
    return (passed, up(delta * _hockey_stick(ratio, passed), 64))


def _hockey_stick(ratio: float, log_c: float) -> float:
    """`(sqrt R - sqrt C)^2 / (R - 1)`: decreasing in `C`, so a `C` rounded up is paired with it."""
    gap = max(math.log(ratio) / 2.0 - log_c / 2.0, 0.0) + 16 * UNIT
    top = math.sqrt(ratio) * -math.expm1(-gap)
    return min(1.0, top * top / (ratio - 1.0))


def chain_level(ratio: float, dp_epsilon: float, dp_delta: float, records: int) -> Pair | None:
    """A Markov chain of `records` records with cross ratio `ratio`, every adversary.

    `None` where delta grows past 1. Both sides are iterated from nothing; for long chains until a
    pair is verified to reproduce itself from below.
    """
    own = (dp_epsilon, dp_delta)
    side: Pair = (0.0, 0.0)
    for _ in range(min(records - 1, _ROUNDS)):
        following = influence(chain(own, side), ratio)
        if following[0] <= side[0] and following[1] <= side[1]:
            break
        side = (
            largest(side[0], following[0] * (1.0 + 1e-13)),
            largest(side[1], following[1] * (1.0 + 1e-13)),
        )
        if not side[1] < 1.0:
            return None
    else:
        if records - 1 > _ROUNDS:
            return None
    total = best_order((own, side, side))
    return total if total[1] < 1.0 else None
