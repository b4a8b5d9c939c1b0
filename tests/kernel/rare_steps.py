"""Steps that show a check which no other step shows: asked in any battery, however small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayesdp.leakage.merged_factors import merged_factors
from bayesdp.leakage.state_fields import StateMessages, states_level
from bayesdp.notions import Cost
from bayesdp.populations import Graph
from tests.kernel.steps import make_step

Document = dict[str, Any]
NEVER = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
"""Two values that are never side by side."""


def documents() -> Iterator[Document]:
    """Each of a population that its theorem is not about."""
    yield _left_never()
    yield _corner_with_zeros()


def _left_never() -> Document:
    """A chain between bounds, a state of which may never be left."""
    low, high = [[0.5, 0.0], [0.2, 0.3]], [[1.0, 0.5], [0.7, 0.8]]
    chain = {"model": "markov", "transition_lower": low, "transition_upper": high, "length": 9}
    cost, details = Cost(any=0.01), {"target": 1.0}
    return make_step("markov-intervals", chain, cost, adversary="uninformed", details=details)


def _corner_with_zeros() -> Document:
    """A large grid with a zero among its weights, and a witness for its corner."""
    grid: Document = {"model": "graph", "states": 3, "table": NEVER}
    merged = merged_factors(Graph(**grid, grid=[4, 4]).factor_graph, False, 1000)
    assert not isinstance(merged, str)
    witness = states_level(StateMessages(merged, True, 420), 0.5)[1]
    details = {"messages": witness}
    return make_step("graph-fields", grid | {"grid": [21, 20]}, Cost(any=0.5), details=details)
