"""What populations rule out, compared with their joint laws, multiplied out."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from bayesdp.populations import Clusters, Family, Finite, Graph, MarkovChain, Network, Tree
from bayesdp.populations.support import (
    ChainSupport,
    ClusterSupport,
    Fault,
    RecordSupport,
    supports,
)
from tests.effort import runs


def random_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Laws along the last axis, with zeros."""
    weights = rng.random(shape) * (rng.random(shape) < 0.5)
    weights[..., 0] += (weights.sum(axis=-1) == 0.0) * 1.0
    return weights / weights.sum(axis=-1, keepdims=True)


def possible_series(start: Any, transition: Any, order: int, length: int) -> set[tuple[int, ...]]:
    """The series of this length that have a positive probability, each looked at."""
    states = len(transition)
    start, transition = np.asarray(start), np.asarray(transition)
    return {
        series
        for series in product(range(states), repeat=length)
        if start[series[:order]] > 0
        and all(transition[series[i : i + order + 1]] > 0 for i in range(length - order))
    }


@pytest.mark.parametrize("number", range(runs(200)))
def test_a_chain_rules_out_what_has_probability_0(number: int) -> None:
    """Every choice of records of a series, and every value of them."""
    rng = np.random.default_rng(number)
    order, states = (1, 2, 3)[number % 3], (3, 2, 2)[number % 3]
    length = order + 3
    start = random_rows(rng, (states**order,)).reshape((states,) * order)
    transition = random_rows(rng, (states,) * (order + 1))
    chain = MarkovChain(
        transition=transition.tolist(), initial=start.tolist(), order=order, length=length
    )
    series = possible_series(start, transition, order, length)
    excluded = supports(chain)
    for size in range(1, length + 1):
        for later in combinations(range(1, length), size - 1):
            places = (0, *later)
            made = {tuple(records[place] for place in places) for records in series}
            for values in product(range(states), repeat=size):
                rows = list(zip(places, values, strict=True))
                faults = excluded[0].impossible(rows) if excluded else Counter()
                assert (not faults) == (values in made)


def test_chains_say_what_is_impossible() -> None:
    dies = MarkovChain(
        transition=[[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]],
        initial=[0.9, 0.1, 0.0],
        length=30,
    )
    (support,) = supports(dies)
    assert isinstance(support, ChainSupport)
    assert not support.impossible([(0, 0), (1, 1), (4, 2), (0, 1), (29, 1)])
    rows = [(0, 2), (1, 2), (2, 0), (5, 1), (0, 0), (1, 2), (2, 2), (0, 0), (2, 2)]
    assert support.impossible(rows) == {
        Fault(2): 1,
        Fault(0, 2, 1): 1,
        Fault(2, 0, 1): 1,
    }


def test_a_long_gap_is_no_long_search() -> None:
    turns = MarkovChain(
        transition=[[0, 1, 0], [0, 0, 1], [1, 0, 0]], length=2**53, initial=[1, 0, 0]
    )
    (support,) = supports(turns)
    assert isinstance(support, ChainSupport)
    far = 3 * 10**15
    assert not support.impossible([(0, 0), (far, 0), (far + 1, 1)])
    assert support.impossible([(0, 0), (far + 1, 0)]) == {Fault(0, 0, far + 1): 1}


def test_bounds_rule_out_what_no_chain_between_them_can_do() -> None:
    def excluded(lower: Any, upper: Any) -> tuple[Any, ...]:
        return supports(
            MarkovChain(
                transition_lower=lower, transition_upper=upper, initial=[0.5, 0.5], length=3
            )
        )

    assert excluded([[0, 0.1], [0.2, 0.3]], [[0.9, 1], [0.7, 0.8]]) == ()
    (support,) = excluded([[0.0, 0.5], [0.2, 0.3]], [[0.0, 1.0], [0.7, 0.8]])
    assert support.impossible([(0, 0), (1, 0)]) == {Fault(0, 0, 1): 1}
    assert not support.impossible([(0, 0), (1, 1), (2, 1)])


def test_nothing_is_ruled_out_by_positive_laws() -> None:
    assert supports(MarkovChain(transition=[[0.9, 0.1], [0.3, 0.7]], length=3)) == ()
    assert supports(Finite(probabilities=[[0.25, 0.25], [0.25, 0.25]])) == ()
    assert supports(Clusters(size=3)) == ()
    assert supports(Graph(grid=(2, 2), table=[[2, 1], [1, 2]])) == ()


def test_a_family_rules_out_what_all_members_do() -> None:
    stays = {"model": "markov", "transition": [[1, 0], [0, 1]], "initial": [0.5, 0.5], "length": 4}
    turns = stays | {"transition": [[0, 1], [1, 0]]}
    free = stays | {"transition": [[0.5, 0.5], [0.5, 0.5]]}
    assert len(supports(Family(members=[stays, turns]))) == 2
    assert supports(Family(members=[stays, free])) == ()


@pytest.mark.parametrize("number", range(runs(100)))
@pytest.mark.parametrize("named", [True, False])
def test_a_cluster_rules_out_what_has_probability_0(number: int, named: bool) -> None:
    rng = np.random.default_rng(number)
    states, size = (2, 3)[number % 2], (4, 3)[number % 2]
    cells = rng.random((states,) * size) * (rng.random((states,) * size) < 0.1)
    cells.ravel()[number % cells.size] += 1.0
    law = Finite(
        probabilities=(cells / cells.sum()).tolist(),
        roles=[f"r{i}" for i in range(size)] if named else None,
    )
    (support,) = supports(law)
    assert isinstance(support, ClusterSupport)
    for count in range(1, size + 1):
        for values in product(range(states), repeat=count):
            for axes in (
                [tuple(range(size))[:count]] if not named else permutations(range(size), count)
            ):
                tried = [axes] if named else permutations(range(size), count)
                due = any(
                    all(cell[axis] == value for axis, value in zip(places, values, strict=True))
                    for places in tried
                    for cell in np.argwhere(cells > 0)
                )
                assert support.possible(list(zip(axes, values, strict=True))) == due


def test_graphs_say_how_many_records_can_have_a_state() -> None:
    tree = Tree(
        nodes=[
            {"name": "a", "law": [1.0, 0.0, 0.0]},
            {"name": "b", "parent": "a", "transition": [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]]},
            {"name": "c", "parent": "b", "transition": [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]},
        ]
    )
    (support,) = supports(tree)
    assert isinstance(support, RecordSupport)
    assert support.most.tolist() == [3, 2, 0]
    gate: dict[str, Any] = {"table": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]], "parents": ["a", "b"]}
    network = Network(
        nodes=[
            {"name": "a", "states": 2, "table": [0.5, 0.5]},
            {"name": "b", "states": 2, "table": [1.0, 0.0]},
            {"name": "c", "states": 2, **gate},
        ]
    )
    (support,) = supports(network)
    assert support.most.tolist() == [3, 1]
