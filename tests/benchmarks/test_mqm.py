"""The Markov quilt mechanism that the benchmark compares with, held against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import bayesdp as bdp
from benchmarks.mqm import scale, stationary, tuple_kernel


@pytest.mark.parametrize(("stay", "due"), [(0.5, 1.0), (0.7, 6.7236), (0.9, 31.738)])
def test_reference_values(stay: float, due: float) -> None:
    actual = scale([[stay, 1 - stay], [1 - stay, stay]], 100, 1.0)
    assert actual == pytest.approx(due, rel=2e-5)


def by_enumeration(table: np.ndarray, length: int, epsilon: float) -> float:
    """Every sequence, every quilt, from the definition."""
    states, order = len(table), table.ndim - 1
    law = stationary(tuple_kernel(table)).reshape((states,) * order)
    joint = np.zeros((states,) * length)
    for x in itertools.product(range(states), repeat=length):
        weight = law[x[:order]]
        for i in range(order, length):
            weight *= table[x[i - order : i + 1]]
        joint[x] = weight

    def influence(i: int, quilt: list[int]) -> float:
        kept = [i, *quilt]
        marginal = joint.sum(axis=tuple(j for j in range(length) if j not in kept))
        marginal = np.moveaxis(marginal, sorted(kept).index(i), 0).reshape(states, -1)
        given = marginal / marginal.sum(axis=1, keepdims=True)
        return float(np.log(given.max(axis=0) / given.min(axis=0)).max())

    worst = 0.0
    for i in range(length):
        options = [length / epsilon]
        lefts = [None, *range(i - order, -1, -1)]  # where a tuple on the left begins
        rights = [None, *range(i + 1, length - order + 1)]
        for left, right in itertools.product(lefts, rights):
            if left is None and right is None:
                continue
            quilt = [] if left is None else list(range(left, left + order))
            quilt += [] if right is None else list(range(right, right + order))
            first = 0 if left is None else left + order
            last = length - 1 if right is None else right - 1
            room = epsilon - influence(i, quilt)
            options.append((last - first + 1) / room if room > 0 else math.inf)
        worst = max(worst, min(options))
    return worst


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("states", "order", "length"), [(2, 1, 7), (3, 1, 6), (2, 2, 8)])
def test_against_the_definition(seed: int, states: int, order: int, length: int) -> None:
    draw = np.random.default_rng(seed)
    table = draw.dirichlet(np.full(states, 4.0), size=(states,) * order)
    for epsilon in (0.3, 1.0, 4.0):
        actual = scale(table, length, epsilon)
        assert actual == pytest.approx(by_enumeration(table, length, epsilon), rel=1e-9)


@pytest.mark.parametrize("target", [0.2, 1.0, 5.0])
def test_a_long_chain_is_as_a_search_over_all_its_quilts(target: float) -> None:
    table = [[0.8, 0.2], [0.4, 0.6]]
    # 40 records fit into the first reach or not; both routes look at every quilt that can win.
    assert scale(table, 400, target) >= scale(table, 40, target) * (1 - 1e-12)
    assert scale(table, 400, target) == pytest.approx(scale(table, 4000, target), rel=1e-9)


@pytest.mark.parametrize("stay", [0.6, 0.7, 0.9])
@pytest.mark.parametrize("target", [0.5, 1.0, 8.0])
def test_its_noise_is_never_less_than_the_sharp_one(stay: float, target: float) -> None:
    """It is a sound mechanism against uninformed adversaries, and so can't beat an exact level."""
    table = [[stay, 1 - stay], [1 - stay, stay]]
    chain = bdp.MarkovChain(transition=table, length=100)
    sharp = bdp.calibrate(chain, target, adversary="uninformed").noise_multiplier
    assert target * scale(table, 100, target) >= sharp * (1 - 1e-9)
