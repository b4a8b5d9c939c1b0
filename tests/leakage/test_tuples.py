"""Order-k chains: cross ratios from multiplied-out laws, influences, the recursion on tuples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayesdp.leakage import tuples
from bayesdp.leakage.states import StateChain
from bayesdp.leakage.stationary import stationary_law
from bayesdp.leakage.tuples import (
    block_interval_ratio,
    block_ratio,
    influence_level,
    influences,
    tuple_kernel,
)
from tests.effort import runs
from tests.oracles import chains, finite

ACTIVITY = [[0.09046, 0.62085], [0.32124, 0.72792]]


def binary(ones: object) -> np.ndarray:
    """The table of a chain of zeros and ones from the probabilities of a one."""
    item = np.asarray(ones, dtype=float)
    return np.stack([1 - item, item], axis=-1)


def random_table(rng: np.random.Generator, order: int, states: int = 2) -> np.ndarray:
    table = rng.dirichlet(np.full(states, 1.5), size=(states,) * order) + 0.02
    return table / table.sum(axis=-1, keepdims=True)


def largest_cross_ratio(joint: np.ndarray, item: list[int], other: list[int]) -> float:
    """Of two groups of records, given all the rest."""
    rest = [axis for axis in range(joint.ndim) if axis not in item and axis not in other]
    size = joint.shape[0]
    rows = np.transpose(joint, [*rest, *item, *other]).reshape(
        -1, size ** len(item), size ** len(other)
    )
    logs = np.log(rows)
    widest = 0.0
    for u, v in itertools.combinations(range(logs.shape[1]), 2):
        gaps = logs[:, u] - logs[:, v]
        widest = max(widest, float((gaps.max(axis=1) - gaps.min(axis=1)).max()))
    return math.exp(widest)


def test_tuple_kernel_by_hand() -> None:
    kernel = tuple_kernel(binary([[0.1, 0.2], [0.3, 0.4]]))
    np.testing.assert_allclose(
        kernel, [[0.9, 0.1, 0, 0], [0, 0, 0.8, 0.2], [0.7, 0.3, 0, 0], [0, 0, 0.6, 0.4]]
    )


@pytest.mark.parametrize(("order", "states"), [(1, 3), (2, 2), (3, 2), (2, 3)])
def test_block_ratios(order: int, states: int) -> None:
    rng = np.random.default_rng([1, order, states])
    for _ in range(5):
        table = random_table(rng, order, states)
        joint = chains.joint(table, "stationary", 2 * order)
        truth = largest_cross_ratio(joint, list(range(order)), list(range(order, 2 * order)))
        assert block_ratio(table) == pytest.approx(truth, rel=1e-9)
        assert block_ratio(table) >= truth * (1 - 1e-12)


def test_block_ratios_with_zeros() -> None:
    assert block_ratio(binary([[0.0, 0.5], [0.5, 0.5]])) == math.inf
    assert block_ratio(binary([[0.0, 0.0], [0.0, 0.0]])) == pytest.approx(1.0)


def test_block_intervals_cover_what_lies_between() -> None:
    rng = np.random.default_rng(2)
    for _ in range(runs(200)):
        middle = random_table(rng, 2)
        width = float(10 ** rng.uniform(-4, -1.3))
        low, high = np.maximum(middle - width, 0.0), np.minimum(middle + width, 1.0)
        bound = block_interval_ratio(low, high)
        assert bound >= block_ratio(middle) * (1 - 1e-9)
        for _ in range(5):
            move = width * rng.choice([-1.0, 1.0], size=(2, 2))
            move = np.clip(move, -middle[..., 1], middle[..., 0])
            inside = middle + np.stack([-move, move], axis=-1)
            assert bound >= block_ratio(np.clip(inside, 0.0, 1.0)) * (1 - 1e-9)
    assert block_interval_ratio(middle, middle) == pytest.approx(block_ratio(middle), rel=1e-9)


# -- influences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "states", "length"), [(1, 3, 4), (2, 2, 8), (3, 2, 10)])
def test_influences_are_the_largest_over_all_positions(order, states, length) -> None:
    rng = np.random.default_rng([3, order])
    for given in (False, True):
        table = random_table(rng, order, states)
        if given:
            start = rng.dirichlet(np.ones(states**order)).reshape((states,) * order)
            joint = chains.joint(table, start, length)
        else:
            law = stationary_law(tuple_kernel(table))
            assert law is not None
            start = law.reshape((states,) * order)
            joint = chains.joint(table, "stationary", length)
        actual = influences(table, start)
        assert len(actual) == order
        for distance in range(1, order + 2):
            pairs = [(j, j + distance) for j in range(length - distance)]
            truth = max(largest_cross_ratio(joint, [a], [b]) for a, b in pairs)
            due = math.tanh(math.log(truth) / 4)
            if distance > order:
                assert due < 1e-9
            else:
                assert actual[distance - 1] == pytest.approx(due, abs=1e-9)
                assert actual[distance - 1] >= due - 1e-12


def test_an_uncertain_start_widens_influences() -> None:
    table = random_table(np.random.default_rng(4), 2)
    law = stationary_law(tuple_kernel(table))
    assert law is not None
    start = law.reshape(2, 2)
    plain, wide = influences(table, start), influences(table, start, 1e-3)
    assert all(w >= p + 1e-5 for p, w in zip(plain, wide, strict=True))


def test_zeros_have_infinite_ratios() -> None:
    table = binary([[0.0, 0.5], [0.4, 0.5]])
    start = np.full((2, 2), 0.25)
    assert max(influences(table, start)) == 1.0


@pytest.mark.parametrize("length", [1, 2, 5, 30])
def test_influence_levels_by_inversion(length: int) -> None:
    """A line without ends, seen from inside: `sum_j S_ij / S_ii` on the window around a record."""
    for kappa in ([0.2], [0.2, 0.1], [0.05, 0.2, 0.1], [0.4]):
        records = max(length, len(kappa))  # the first k records carry paths, read or not
        size = 2 * (records - 1) + 1
        matrix = np.zeros((size, size))
        for distance, value in enumerate(kappa, start=1):
            for i in range(max(size - distance, 0)):
                matrix[i, i + distance] = matrix[i + distance, i] = value
        s = np.linalg.inv(np.eye(size) - matrix)
        due = s[records - 1].sum() / s[records - 1, records - 1]
        reached = influence_level(kappa, length)
        assert reached is not None
        assert due * (1 - 1e-14) <= reached <= due * (1 + 1e-9)


def test_influence_level_of_a_long_line_in_closed_form() -> None:
    """One neighbour on each side: hops decay as the small root of `x = kappa (1 + x^2)`."""
    kappa = 0.3
    root = (1 - math.sqrt(1 - 4 * kappa**2)) / (2 * kappa)
    reached = influence_level([kappa], 10**6)
    assert reached is not None
    due = 1 + 2 * root / (1 - root)
    assert due <= reached <= due * (1 + 1e-7)
    endless = influence_level([kappa], 2**53)
    assert endless is not None
    assert due <= endless <= due * (1 + 1e-7)
    assert influence_level([0.5], 10**6) is None
    assert influence_level([0.3, 0.25], 10**6) is None
    # In a short line even 0.6 dies out: paths have nowhere to go. (Seen from between two others.)
    assert influence_level([0.6], 2) == pytest.approx(2.2)
    assert influence_level([0.9], 40) is None


@pytest.mark.prove
def test_influence_levels_are_never_below_the_search_over_all_mechanisms() -> None:
    rng = np.random.default_rng(5)
    applied = 0
    for _ in range(runs(150)):
        table = 0.5 + (random_table(rng, 2) - 0.5) * float(rng.uniform(0.1, 0.7))
        length, eps = int(rng.integers(2, 6)), float(10 ** rng.uniform(-2, 0.5))
        start = rng.dirichlet(np.ones(4) * 3).reshape(2, 2)
        factor = influence_level(influences(table, start), length)
        if factor is None:
            continue
        applied += 1
        truth = finite.worst_case(chains.joint(table, start, length), eps, "any")
        assert factor * eps >= truth.level - 1e-9, (table, start, length, eps)
    assert applied > runs(150) / 4


# -- uninformed adversaries ------------------------------------------------------------------------


def uninformed_tuple_level(table: np.ndarray, dp_epsilon: float) -> float | None:
    reached = tuples.uninformed_tuple_level(table, dp_epsilon)
    return None if reached is None else reached.epsilon


@pytest.mark.parametrize(("eps", "due"), [(0.1, 0.5614), (1.0, 3.5913)])
def test_the_activity_series_of_order_two(eps: float, due: float) -> None:
    reached = uninformed_tuple_level(binary(ACTIVITY), eps)
    assert reached is not None
    assert round(reached, 4) == due


def test_order_one_is_the_recursion_on_states() -> None:
    rng = np.random.default_rng(6)
    for _ in range(5):
        table = random_table(rng, 1, 3)
        law = stationary_law(table)
        assert law is not None
        chain = StateChain(table, law, stationary=True, length=10**7, uninformed=True)
        for eps in (0.05, 0.8):
            item, other = uninformed_tuple_level(table, eps), chain.level(eps, "program")
            assert item is not None
            assert other is not None
            assert item == pytest.approx(other.epsilon, rel=1e-6)


def test_a_first_order_chain_as_one_of_order_two() -> None:
    """Older records without influence: the level is that of order one."""
    rows = np.array([[0.8, 0.2], [0.3, 0.7]])
    for eps in (0.1, 1.0):
        item = uninformed_tuple_level(rows, eps)
        two = uninformed_tuple_level(np.stack([rows, rows]), eps)
        assert item is not None
        assert two is not None
        assert item - 1e-9 <= two <= item * 1.25


@pytest.mark.prove
def test_uninformed_order_two_up_to_seven_records() -> None:
    rng = np.random.default_rng(7)
    for number in range(runs(150)):
        table = random_table(rng, 2)
        length, eps = int(rng.integers(2, 8)), float(10 ** rng.uniform(-1.5, 0.5))
        truth = finite.worst_case(chains.joint(table, "stationary", length), eps, "uninformed")
        reached = uninformed_tuple_level(table, eps)
        assert reached is not None
        assert reached >= truth.level - 1e-9, (number, table, length, eps)
        assert reached >= eps


@pytest.mark.prove
def test_uninformed_order_three() -> None:
    rng = np.random.default_rng(8)
    for _ in range(runs(20)):
        table = random_table(rng, 3)
        eps = float(10 ** rng.uniform(-1, 0.3))
        truth = finite.worst_case(chains.joint(table, "stationary", 6), eps, "uninformed")
        reached = uninformed_tuple_level(table, eps)
        assert reached is not None
        assert reached >= truth.level - 1e-9, (table, eps)


def test_tuple_levels_grow_with_the_cost() -> None:
    table = random_table(np.random.default_rng(9), 2)
    actual = [uninformed_tuple_level(table, eps) for eps in (1e-9, 1e-3, 0.1, 1.0, 5.0)]
    numbers = [item for item in actual if item is not None]
    assert len(numbers) == 5
    assert numbers == sorted(numbers)
    assert uninformed_tuple_level(table, 200.0) is None
    assert uninformed_tuple_level(binary([[0.0, 1.0], [0.0, 1.0]]), 0.1) is None
