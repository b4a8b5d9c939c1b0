"""Steps that show a check which no other step shows: asked in any battery, however small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from bayesdp import kernel
from bayesdp.leakage.merged_factors import merged_factors
from bayesdp.leakage.state_fields import StateMessages, states_level
from bayesdp.notions import Cost
from bayesdp.populations import Graph, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.theorems import Question, report
from tests.kernel.steps import make_step

Document = dict[str, Any]
NEVER = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
"""Two values that are never side by side."""


def documents() -> Iterator[Document]:
    """Each of a population that its theorem is not about, or with a proof that hardly fails."""
    yield _left_never()
    yield _corner_with_zeros()
    yield json.loads(_a_flow_hardly_too_small())


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


UNIT = 2**-205.0
"""Flows are tuned in steps far below the last bit of what they are taken from."""
NEEDS_FLOWS = [[[0.0, 0.05], [0.15, 0.1]], [[0.4, 0.2], [0.1, 0.0]]]
"""A law whose level is 1.9207 by flows, at a DP cost of 1, and above 1.99 without each of them."""
ABOVE = 1.921
"""A level that hardly more than these flows would prove."""
BLURRED = 300
"""So many flows are too small to be taken off exactly: each leaves a rounding error."""


@cache
def _a_flow_hardly_too_small() -> str:
    """A level that follows from a flow, but for less than the rounding errors of its proof.

    The kernel refuses it: what may be missing counts in full. A kernel that took the least of what
    may be missing would accept it.
    """
    population = parse({"model": "finite", "probabilities": NEEDS_FLOWS})
    document = json.loads(
        conversion_certificate(population, report(Question(population), Cost(any=1.0))).to_json()
    )
    step = document["derivation"]
    assert kernel.certified_level(step) < ABOVE
    document["claim"]["epsilon"] = step["conclusion"]["epsilon"] = ABOVE
    decisive = _decisive(step)
    others = decisive["flows"][1:]
    source, target, amount = decisive["flows"][0]

    def accepted(steps: int) -> bool:
        """Whether the level follows, with the first flow so many steps above 0."""
        parts = [(steps >> place & 2**50 - 1) * (UNIT * 2.0**place) for place in range(0, 250, 50)]
        parts += [UNIT / 3] * BLURRED
        decisive["flows"] = [[source, target, part] for part in parts if part] + others
        return bool(kernel.check(document))

    low, high = 0, int(amount / UNIT)
    assert accepted(high)
    assert not accepted(low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepted(middle) else (middle, high)
    assert not accepted(low)
    return json.dumps(document)


def _decisive(step: Document) -> Document:
    """The proof without whose first flow the level is higher."""
    for proof in step["evidence"]["details"]["proofs"]:
        if not proof["flows"]:
            continue
        first = proof["flows"].pop(0)
        decides = kernel.certified_level(step) > ABOVE
        proof["flows"].insert(0, first)
        if decides:
            chosen: Document = proof
            return chosen
    raise AssertionError("no flow decides")
