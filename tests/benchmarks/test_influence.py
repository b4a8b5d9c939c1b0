"""The least that an influence curve can be, held against its definition."""

from __future__ import annotations

import importlib
import itertools
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import bayesdp as bdp
from benchmarks import mqm

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"

SHAPES = [(2, 1, 5), (3, 1, 4), (2, 2, 5)]  # states, order, records


@pytest.fixture
def influence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("influence")


def joint(table: np.ndarray, length: int) -> np.ndarray:
    """The law of the stationary chain, an axis for each record."""
    states, order = len(table), table.ndim - 1
    law = mqm.stationary(mqm.tuple_kernel(table)).reshape((states,) * order)
    weights = np.zeros((states,) * length)
    for x in itertools.product(range(states), repeat=length):
        weights[x] = law[x[:order]] * math.prod(
            table[x[i - order : i + 1]] for i in range(order, length)
        )
    return weights


def by_definition(weights: np.ndarray, changes: int) -> float:
    """`a(b)` by linear programs over all pairs `(y, y')`, for every record and pair of values."""
    states, length = len(weights), weights.ndim
    words = np.array(list(np.ndindex((states,) * (length - 1))))
    near = (words[:, None, :] != words[None, :, :]).sum(axis=-1) <= changes
    rows, columns = np.nonzero(near)
    pairs, size = len(rows), len(words)
    place = np.arange(pairs)
    start = coo_array((np.ones(pairs), (rows, place)), shape=(size, pairs + 1))
    largest = 0.0
    for i in range(length):
        given = np.moveaxis(weights, i, 0).reshape(states, -1)
        given = given / given.sum(axis=1, keepdims=True)
        for u, v in itertools.permutations(range(states), 2):
            entries = np.concatenate([np.ones(pairs), -given[v]])
            where = (
                np.concatenate([columns, np.arange(size)]),
                np.concatenate([place, np.full(size, pairs)]),
            )
            actual = linprog(
                np.eye(pairs + 1)[-1],
                A_ub=coo_array((entries, where), shape=(size, pairs + 1)).tocsr(),
                b_ub=np.zeros(size),
                A_eq=start.tocsr(),
                b_eq=given[u],
            )
            assert actual.status == 0
            largest = max(largest, math.log(actual.fun))
    return largest


def by_events(weights: np.ndarray, order: int, changes: int) -> float:
    """The same by the events that `curve` looks at, one sequence after another."""
    states, length = len(weights), weights.ndim
    i = max(order, (length + 1) // 2) - 1
    largest = 0.0
    for first, last in itertools.product(range(i - order + 2), range(i, length)):
        left, right = i - order + 1 - first, last - i
        ends = (first == 0 and right > left) or (last == length - 1 and left > right)
        if not (ends or abs(left - right) <= 1):
            continue
        window = [j for j in range(first, last + 1) if j != i]
        for u, v in itertools.permutations(range(states), 2):
            mine, other = np.zeros(length), np.zeros(length)
            for x in itertools.product(range(states), repeat=length):
                differ = sum(x[j] != u for j in window)
                mine[differ] += weights[x] * (x[i] == u)
                other[differ] += weights[x] * (x[i] == v)
            mine, other = (law.cumsum() / law.sum() for law in (mine, other))
            for c in range(len(window) + 1 - changes):
                largest = max(largest, math.log(mine[c] / other[c + changes]))
    return largest


def tables(states: int, order: int) -> list[np.ndarray]:
    draw = np.random.default_rng(100 * states + order)
    return list(draw.dirichlet(np.full(states, 3.0), size=(2,) + (states,) * order))


@pytest.mark.parametrize(("states", "order", "length"), SHAPES)
def test_no_curve_is_below(influence: ModuleType, states: int, order: int, length: int) -> None:
    for table in tables(states, order):
        weights = joint(table, length)
        least = influence.curve(table, length, length)
        assert least[-1] == 0.0
        assert all(a >= 0.0 for a in least)
        for b in range(length):
            actual = least[b] if b < len(least) else 0.0
            assert actual <= by_definition(weights, b) + 1e-7


@pytest.mark.parametrize(("states", "order", "length"), [*SHAPES, (2, 1, 6), (2, 1, 7), (2, 2, 6)])
def test_the_events_are_counted_right(
    influence: ModuleType, states: int, order: int, length: int
) -> None:
    for table in tables(states, order):
        weights = joint(table, length)
        least = influence.curve(table, length, length)
        for b, actual in enumerate(least):
            assert actual == pytest.approx(by_events(weights, order, b), abs=1e-12)


@pytest.mark.parametrize("stay", [0.6, 0.95])
def test_it_is_nearly_the_curve_of_a_short_chain_that_stays(
    influence: ModuleType, stay: float
) -> None:
    table = np.array([[stay, 1 - stay], [1 - stay, stay]])
    weights = joint(table, 5)
    for b, actual in enumerate(influence.curve(table, 5, 5)):
        assert actual == pytest.approx(by_definition(weights, b), abs=1e-6)


def test_a_value_by_hand(influence: ModuleType) -> None:
    """One neighbour on each side, no change allowed: (.9 / .1) twice."""
    table = np.array([[0.9, 0.1], [0.1, 0.9]])
    least = influence.curve(table, 3, 3)
    assert least[0] == pytest.approx(2 * math.log(9.0))
    # All of two neighbours 0 against at most one of them not 0: .81 / (1 - .81).
    assert least[1] == pytest.approx(math.log(0.81 / 0.19))
    assert influence.scale(table, 3, 5.0) == pytest.approx(
        min(1 / (5.0 - least[0]), 2 / (5.0 - least[1]), 3 / 5.0)
    )


@pytest.mark.parametrize("target", [0.5, 5.0, 10.0])
@pytest.mark.parametrize(("down", "up"), [(0.12, 0.31), (0.31, 0.24), (0.05, 0.08)])
def test_exact_noise_below_it_and_quilts_above(
    influence: ModuleType, down: float, up: float, target: float
) -> None:
    table = np.array([[1 - down, down], [up, 1 - up]])
    least = influence.scale(table, 2000, target)
    chain = bdp.MarkovChain(transition=table.tolist(), length=2000)
    ours = bdp.calibrate(chain, target, adversary="uninformed").noise_multiplier
    assert ours <= target * least * (1 + 1e-9)
    assert least <= mqm.scale(table, 2000, target) * (1 + 1e-9)


def test_a_chain_shorter_than_its_order_is_refused(influence: ModuleType) -> None:
    with pytest.raises(ValueError, match="a chain of order 2 needs more"):
        influence.curve(np.full((2, 2, 2), 0.5), 2, 4)
