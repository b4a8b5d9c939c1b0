"""One changed record in the window of an order-k chain: ratios, the step, and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesdp.leakage.tuples import block_ratio
from bayesdp.leakage.windows import WindowRatios, contracted, window_ratios
from bayesdp.leakage.windows import window_level as solved
from bayesdp.theorems.markov_contraction import contraction_level
from tests.effort import runs
from tests.leakage.test_tuples import binary, largest_cross_ratio, random_table
from tests.oracles import chains, finite


def ratios_of(table: np.ndarray) -> WindowRatios:
    return window_ratios(table, block_ratio(table))


def f(c: float, ratio: float) -> float:
    return ((1 + math.sqrt(c * ratio)) / (math.sqrt(c) + math.sqrt(ratio))) ** 2


def test_the_step_is_the_two_point_worst_case() -> None:
    rng = np.random.default_rng(1)
    for _ in range(runs(1000)):
        c, ratio = np.exp(10 ** rng.uniform(-4, 1, size=2))
        actual = math.exp(contracted(math.log(c), math.log(ratio)))
        assert actual == pytest.approx(f(c, ratio), rel=1e-9)
        # odds q and R q, a function of 1 and c: no choice of q gives more
        q = rng.random(200)
        p = ratio * q / (1 - q + ratio * q)
        assert actual >= float(((1 - p + c * p) / (1 - q + c * q)).max()) * (1 - 1e-12)
    assert contracted(0.0, 3.0) == 0.0
    assert contracted(3.0, 0.0) == 0.0
    assert contracted(3.0, math.inf) == 3.0
    assert contracted(2000.0, 3.0) == pytest.approx(3.0)
    assert contracted(3.0, 2000.0) == pytest.approx(3.0)


@pytest.mark.parametrize(("order", "states"), [(1, 3), (2, 2), (2, 3), (3, 2)])
def test_window_ratios_from_multiplied_out_laws(order: int, states: int) -> None:
    """The first k records of the window follow their stationary law: it cancels."""
    rng = np.random.default_rng([2, order, states])
    table = random_table(rng, order, states)
    actual = ratios_of(table)
    for age in range(order):
        # the tuple and the next k - age records; the changed one at k - 1 - age
        joint = chains.joint(table, "stationary", 2 * order - age)
        new = list(range(order, 2 * order - age))
        due = math.log(largest_cross_ratio(joint, [order - 1 - age], new))
        assert actual.right[age] == pytest.approx(due, abs=1e-9)
        assert actual.right[age] >= due - 1e-12
        # and backwards: k - age records, then the tuple with the changed one at its place `age`
        old = list(range(order - age))
        due = math.log(largest_cross_ratio(joint, [order], old))
        assert actual.left[age] == pytest.approx(due, abs=1e-9)
        assert actual.left[age] >= due - 1e-12
    if states ** (2 * order + 1) < 300:
        joint = chains.joint(table, "stationary", 2 * order + 1)
        around = [place for place in range(2 * order + 1) if place != order]
        due = math.log(largest_cross_ratio(joint, [order], around))
        assert actual.full == pytest.approx(due, abs=1e-9)
    assert actual.block == pytest.approx(math.log(block_ratio(table)))


def window_level(ratios: WindowRatios, dp_epsilon: float) -> float:
    return solved(ratios, dp_epsilon).epsilon


def test_order_one_is_the_contraction_bound() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        table = random_table(rng, 1, int(rng.integers(2, 5)))
        for eps in (1e-3, 0.2, 3.0):
            due = contraction_level(block_ratio(table), eps)
            assert window_level(ratios_of(table), eps) == pytest.approx(due, rel=1e-8)


def by_statement(r: WindowRatios, eps: float) -> float:
    """Theory 3.5w in plain floats: fixed points by iteration from below."""
    order, g, block = len(r.right), math.exp(eps), 1.0
    ratios = [[math.exp(log) for log in side] for side in (r.right, r.left)]
    for _ in range(5000):
        block = f(g**order * block, math.exp(r.block))
    sides = []
    for side in ratios:
        reach = [1.0] * (order + 1)
        for _ in range(5000):
            for age in reversed(range(order)):
                single = f(g * reach[0], side[age]) * reach[age + 1]
                reach[age] = min(single, f(g ** (order - age) * block, side[age]))
        sides.append(reach)
    inside = max(sides[0][age] * sides[1][order - 1 - age] for age in range(order))
    step, full = inside, math.exp(r.full)
    for _ in range(order - 1):
        step = f(g * step, full) * step
    return eps + math.log(min(step, f(g ** (order - 1) * block**2, full) * inside))


def test_levels_are_those_of_the_statement() -> None:
    """For any ratios, also such that no chain has: then the two directions differ much."""
    rng = np.random.default_rng(7)
    for _ in range(runs(300)):
        order = int(rng.integers(1, 4))
        size = 10 ** rng.uniform(-1.5, 0.7)
        right, left = np.sort(size * rng.random((2, order)), axis=1)[:, ::-1]
        ratios = WindowRatios(
            tuple(right.tolist()),
            tuple(left.tolist()),
            float(size * rng.uniform(1, 2)),
            float(size * rng.uniform(1, 3)),
        )
        eps = float(10 ** rng.uniform(-2, 0.5))
        due, actual = by_statement(ratios, eps), window_level(ratios, eps)
        assert due * (1 - 1e-9) <= actual <= due * 1.02, (ratios, eps)


def test_independent_records() -> None:
    table = np.full((2, 2, 2), 0.5)
    assert window_level(ratios_of(table), 0.7) == pytest.approx(0.7, abs=1e-9)


def test_weakly_coupled_chains_gain_over_blocks_and_strongly_coupled_ones_do_not() -> None:
    weak = binary([[0.45, 0.52], [0.50, 0.55]])
    blocks = contraction_level(block_ratio(weak), 0.2)
    assert window_level(ratios_of(weak), 0.1) < 0.8 * blocks
    activity = binary([[0.09046, 0.62085], [0.32124, 0.72792]])
    blocks = contraction_level(block_ratio(activity), 0.2)
    assert window_level(ratios_of(activity), 0.1) > blocks


@pytest.mark.prove
@pytest.mark.parametrize("weak", [True, False])
def test_any_adversary_up_to_six_records(weak: bool) -> None:
    rng = np.random.default_rng([4, weak])
    for number in range(runs(120)):
        table = random_table(rng, 2)
        if weak:
            table = 0.5 + (table - 0.5) * float(rng.uniform(0.05, 0.6))
        length = 6 if number % 8 == 0 else int(rng.integers(2, 6))
        eps = float(10 ** rng.uniform(-2, 0.6))
        truth = finite.worst_case(chains.joint(table, "stationary", length), eps, "any")
        actual = window_level(ratios_of(table), eps)
        assert actual >= truth.level - 1e-9, (number, table, length, eps)
        assert actual >= eps


@pytest.mark.prove
def test_any_adversary_of_order_three() -> None:
    rng = np.random.default_rng(5)
    for _ in range(runs(20)):
        table = 0.5 + (random_table(rng, 3) - 0.5) * float(rng.uniform(0.05, 0.5))
        eps = float(10 ** rng.uniform(-1.5, 0.3))
        truth = finite.worst_case(chains.joint(table, "stationary", 5), eps, "any")
        assert window_level(ratios_of(table), eps) >= truth.level - 1e-9, (table, eps)


def test_window_levels_grow_with_the_cost() -> None:
    ratios = ratios_of(random_table(np.random.default_rng(6), 2))
    numbers = [window_level(ratios, eps) for eps in (1e-12, 1e-6, 0.01, 0.5, 3.0, 40.0, 400.0)]
    assert numbers == sorted(numbers)
    assert all(level >= eps for level, eps in zip(numbers, (1e-12, 1e-6, 0.01), strict=False))
