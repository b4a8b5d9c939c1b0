"""Populations: the package and `statements` read the same specs, and no spec in two ways."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel import InvalidError
from bayesdp.kernel.models import described
from bayesdp.populations import parse
from bayesdp.statements import StatementError, read_population
from bayesdp.statements.tables import parents_first
from tests.effort import runs

CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 9}
LOWER, UPPER = [[0.8, 0.0], [0.1, 0.7]], [[1.0, 0.2], [0.3, 0.9]]
INTERVALS = {"model": "markov", "transition_lower": LOWER, "transition_upper": UPPER, "length": 9}
ORDER_2 = {
    "model": "markov",
    "order": 2,
    "transition": [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.3, 0.7]]],
    "initial": [[0.25, 0.25], [0.25, 0.25]],
    "length": 5,
}
COVARIANCE = [[1.0, 0.5], [0.5, 1.0]]
CLOSE = np.full((4, 4), 0.99) + 0.01 * np.eye(4)
VECTORS = {
    "model": "gaussian",
    "covariance": CLOSE.tolist(),
    "size": 2,
    "columns": ["x", "y"],
    "bounds": [[0, 1], [0, 2]],
}
EDGE = [[2.0, 1.0], [1.0, 2.0]]
GRAPH = {
    "model": "graph",
    "records": 3,
    "states": 2,
    "factors": [{"between": [0, 1], "table": EDGE}, {"between": [2], "table": [1, 2]}],
}
ROOT = {"name": "a", "law": [0.5, 0.5]}
CHILD = {"name": "b", "parent": "a", "transition": [[0.9, 0.1], [0.2, 0.8]]}
NODE = {"name": "a", "states": 2, "table": [0.5, 0.5]}
TWO_PARENTS = {
    "name": "c",
    "states": ["no", "yes"],
    "parents": ["a", "b"],
    "table": [[[0.5, 0.5], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]],
}
NETWORK = {"model": "network", "nodes": [NODE, NODE | {"name": "b"}, TWO_PARENTS]}
GOOD: list[dict[str, Any]] = [
    {"model": "independent", "source": "a census", "covers": ["x"]},
    {"model": "clusters", "size": 3},
    {"model": "unknown", "records": 10},
    CHAIN,
    CHAIN | {"initial": [0.5, 0.5], "complete": True, "order": 1},
    {"model": "markov", "transition": [[0, 1], [1, 0]], "length": 4},
    {"model": "markov", "transition": [[0, 1, 0], [0, 0.5, 0.5], [1, 0, 0]], "length": 4},
    INTERVALS,
    ORDER_2,
    {"model": "autoregressive", "coefficient": -0.5, "length": 100},
    {"model": "panel", "series": 4, "length": 52, "own_previous": 3, "others_previous": 1.0},
    {
        "model": "panel",
        "series": 4,
        "length": 52,
        "own_previous": 3,
        "others_previous": 1.1,
        "others_now": 1,
        "shared_previous": 5.0,
        "shared_now": 2.0,
    },
    {"model": "gaussian", "covariance": COVARIANCE, "roles": ["mother", "child"]},
    {"model": "gaussian", "precision": COVARIANCE},
    {"model": "gaussian", "size": 3, "max_correlation": 0.3},
    VECTORS,
    {"model": "finite", "probabilities": [[0.4, 0.1, 0.1], [0.1, 0.2, 0.1]], "roles": ["a", "b"]},
    GRAPH,
    {"model": "graph", "records": 3, "edges": [[0, 1], [1, 2]], "table": EDGE},
    {"model": "graph", "grid": [2, 3], "table": EDGE, "states": 2},
    {"model": "tree", "nodes": [ROOT, CHILD]},
    NETWORK,
    {"model": "family", "members": [CHAIN, ORDER_2, {"model": "independent"}]},
]


@pytest.mark.parametrize("spec", GOOD)
def test_what_the_package_reads_is_a_statement(spec: dict[str, Any]) -> None:
    read_population(spec)
    read_population(parse(spec).spec())


def changed(spec: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return copy.deepcopy(spec) | changes


BAD: list[dict[str, Any]] = [
    changed(CHAIN, transition_lower=LOWER, transition_upper=UPPER),
    changed(CHAIN, transition=[[1, 0], [0, 1]]),
    changed(CHAIN, transition=[[1, 0, 0], [0, 1, 0], [0.5, 0.25, 0.25]]),
    changed(CHAIN, transition=[[0.9, 0.1], [0.2, 0.7]]),
    changed(CHAIN, transition=[[0.9, 0.1], [0.2]]),
    changed(CHAIN, transition=[[True, 0], [0.2, 0.8]]),
    changed(CHAIN, transition=[[10**400, 0], [0.2, 0.8]]),
    changed(CHAIN, transition=[[1.0]]),
    changed(CHAIN, initial=[0.9, 0.9]),
    changed(CHAIN, initial=[0.2, 0.3, 0.5]),
    changed(CHAIN, initial="nonsense"),
    changed(CHAIN, complete="perhaps"),
    changed(CHAIN, length=0),
    changed(CHAIN, length=10**400),
    changed(CHAIN, order=2),
    changed(INTERVALS, initial={"any": "thing"}),
    changed(INTERVALS, transition_lower=[[0.9, 0.3], [0.1, 0.7]]),
    changed(INTERVALS, transition_upper=[[0.8, 0.1], [0.3, 0.9]]),
    {"model": "markov", "transition_lower": LOWER, "length": 9},
    {"model": "autoregressive", "coefficient": 1.0, "length": 9},
    {"model": "panel", "series": 4, "length": 52},
    {"model": "panel", "series": 4, "length": 52, "own_previous": 0.9, "others_previous": 1.0},
    {"model": "panel", "series": 0, "length": 52, "own_previous": 2},
    {"model": "panel", "series": 2, "length": 52, "own_previous": 2},
    {
        "model": "panel",
        "series": 4,
        "length": 52,
        "own_previous": 2,
        "others_previous": 1.0,
        "shared_now": 2,
    },
    {"model": "gaussian", "covariance": CLOSE.tolist(), "size": 1},
    {"model": "gaussian", "covariance": COVARIANCE, "precision": COVARIANCE},
    {"model": "gaussian", "covariance": COVARIANCE, "max_correlation": 0.9, "size": 2},
    {"model": "gaussian", "covariance": [[1]], "roles": ["a", "b", "c"]},
    {"model": "gaussian", "covariance": [[1, True], [True, 1]]},
    {"model": "gaussian", "covariance": [[1, 0.5], [0.4, 1]]},
    {"model": "gaussian", "covariance": [[0.0]]},
    {"model": "gaussian", "precision": COVARIANCE, "size": 1},
    {"model": "gaussian", "max_correlation": 1.0, "size": 2},
    changed(VECTORS, size=1),
    changed(VECTORS, columns=["x", "x"]),
    changed(VECTORS, bounds=[[0, 1]]),
    changed(VECTORS, bounds=[[0, 1], [2, 0]]),
    changed(VECTORS, covers=["x", "z"]),
    {"model": "finite", "probabilities": [[0.4, 0.1], [0.1]]},
    {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.3]]},
    {"model": "finite", "probabilities": 1.0},
    changed(GRAPH, edges=[]),
    changed(GRAPH, edges={"file": "e.csv", "sha256": "0" * 64}),
    changed(GRAPH, grid=[1, 3]),
    changed(GRAPH, table=EDGE),
    changed(GRAPH, records=2),
    changed(GRAPH, states=3),
    changed(GRAPH, states=[2, 2]),
    changed(GRAPH, factors=[{"between": [0, 0], "table": EDGE}]),
    changed(GRAPH, factors=[{"between": [0, 1], "table": EDGE, "weight": 2}]),
    {"model": "graph", "grid": [2, 3], "table": EDGE, "records": 5},
    {"model": "graph", "records": 3, "edges": [[0, 3]], "table": EDGE},
    {"model": "graph", "records": 3, "edges": [[0, 0]], "table": EDGE},
    {"model": "graph", "records": 3, "edges": [[0, 1]], "table": [[0, 0], [0, 0]]},
    {"model": "tree", "nodes": [ROOT, CHILD | {"law": [0.5, 0.5]}]},
    {"model": "tree", "nodes": [ROOT, {"name": "b", "law": [0.5, 0.5], "parents": ["a"]}]},
    {"model": "tree", "nodes": [ROOT, CHILD | {"transition": [[0.9, 0.1]]}]},
    {"model": "tree", "nodes": [CHILD | {"parent": "b"}]},
    {"model": "tree", "nodes": [ROOT, ROOT]},
    {"model": "network", "nodes": [NODE, {"name": "b", "states": 2, "parent": "a", "table": EDGE}]},
    # The same table again, where the parents have other values.
    {
        "model": "network",
        "nodes": [
            NODE,
            {"name": "b", "states": 2, "parents": ["a"], "table": [[0.5, 0.5]] * 2},
            {"name": "c", "states": 3, "table": [0.5, 0.25, 0.25]},
            {"name": "d", "states": 2, "parents": ["c"], "table": [[0.5, 0.5]] * 2},
        ],
    },
    {"model": "network", "nodes": [NODE], "bif": "asia.bif"},
    {"model": "network", "nodes": [{"name": "a", "states": 2, "table": [[0.5, 0.5], [0.1, 0.9]]}]},
    {"model": "network", "nodes": [NODE | {"states": ["x", "x"]}]},
    {"model": "network", "nodes": [NODE | {"parents": ["a"], "table": [[0.5, 0.5]] * 2}]},
    {"model": "family", "members": []},
    {"model": "family", "members": [{"model": "family", "members": [CHAIN]}]},
    {"model": "family", "members": [CHAIN | {"covers": ["x"]}]},
    {"model": "family", "members": [CHAIN, {"model": "clusters", "size": 2}]},
    {"model": "clusters", "size": True},
    {"model": "clusters", "size": 2, "records": 3},
    {"model": "clusters", "size": 2, "source": "a\nb"},
    {"model": "clusters"},
    {"model": "weather"},
    {"model": ["markov"]},
    {},
]


@pytest.mark.parametrize("spec", BAD)
def test_what_is_no_population_is_refused_by_both(spec: dict[str, Any]) -> None:
    with pytest.raises(StatementError):
        read_population(spec)
    with pytest.raises(InputError):
        parse(spec)


def leaves(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = plain.items() if isinstance(plain, dict) else enumerate(plain)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


def read_all(spec: dict[str, Any]) -> None:
    """As the kernel reads a population whose numbers no rule needs: positive definite, too."""
    described.check_numbers(read_population(spec))


ODD: list[Any] = [None, True, -1, 0, 1, 2, 0.5, 1e308, 10**400, "", "a", [], {}, [0.5, 0.5], [[1]]]


def mutated(rng: np.random.Generator, spec: dict[str, Any]) -> dict[str, Any]:
    """One leaf or part changed, dropped, repeated, or taken from another spec."""
    made = copy.deepcopy(spec)
    paths = list(leaves(made))
    path = paths[rng.integers(len(paths))]
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    kind = rng.integers(4)
    if kind == 0 and isinstance(holder, dict):
        del holder[path[-1]]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
    elif kind == 2:
        other = GOOD[rng.integers(len(GOOD))]
        name = list(other)[rng.integers(len(other))]
        made[name] = copy.deepcopy(other[name])
    else:
        holder[path[-1]] = copy.deepcopy(ODD[rng.integers(len(ODD))])
    return made


@pytest.mark.prove
def test_no_changed_spec_is_read_by_one_and_refused_by_the_other() -> None:
    """The package may turn values into other types; its own spec of what it read must be stated."""
    rng = np.random.default_rng(9)
    both = 0
    for _ in range(runs(20_000)):
        spec = mutated(rng, GOOD[rng.integers(len(GOOD))])
        try:
            made = parse(spec)
        except InputError:
            with pytest.raises((StatementError, InvalidError)):
                read_all(spec)
            continue
        read_population(made.spec())
        both += 1
    assert both > runs(20_000) // 20


def test_nodes_come_after_their_parents_and_cycles_are_left_out() -> None:
    assert parents_first([[1], [], [0, 1], []]) == [1, 3, 0, 2]
    # 1 and 2 are each other's parents, 3 is behind them; 0 and 4 are not.
    assert parents_first([[], [2], [1, 0], [2], [0]]) == [0, 4]
    assert parents_first([[0]]) == []
    assert parents_first([]) == []
