"""What populations show, as verdicts: one relation that needs a hypothesis, which nobody declares.

Such a certificate is valid if and only if the population shows the hypothesis. Where it is declared
after all, which is an assumption more, it is valid if and only if the population leaves it open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from bayesdp import kernel
from bayesdp.kernel import ROUNDING
from bayesdp.kernel.conversions.hypotheses import Facts
from bayesdp.populations import parse
from bayesdp.theorems.relations.hypotheses import HYPOTHESES
from tests.kernel import honest
from tests.kernel.all_kinds import POPULATIONS
from tests.theorems.test_implied import SUPPORT

Document = dict[str, Any]
LEVEL = 0.5


class Relation(NamedTuple):
    """A relation that needs this hypothesis alone, and its conclusion at `LEVEL`."""

    premise: str
    conclusion: str
    level: float = LEVEL


NEEDING = {
    "full-support": Relation("bdp", "dp"),
    "mutual-independence": Relation("independent-bdp", "bdp"),
    "default-possible": Relation("bsp", "bdp", 4.0),
    "default-in-domain": Relation("dp", "sp"),
    "groups-within-size": Relation("group-dp", "bdp"),
}
PARAMETERS = ({"size": 2, "default": 0}, {"size": 1, "default": 1}, {"size": 4, "default": 2.5})
HALVES = [0.5, 0.5]
APART, TOGETHER, ANY = [[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]]


def _chain(rows: Any, **more: Any) -> Document:
    return {"model": "markov", "transition": rows, "length": 4, **more}


def _between(low: Any, high: Any, **more: Any) -> Document:
    rows = {"transition_lower": low, "transition_upper": high}
    return {"model": "markov", "length": 4, **rows, **more}


def _graph(records: int, *factors: Any, states: int = 2) -> Document:
    stated = [{"between": list(tie), "table": table} for tie, table in factors]
    return {"model": "graph", "records": records, "states": states, "factors": stated}


def _order_2(*rows: Any, **more: Any) -> Document:
    return _chain([[rows[0], rows[1]], [rows[2], rows[3]]], order=2, **more)


ONE_OR_TWO = [[1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [1.0, 1.0, 2.0]]
TWO_OR_ONE = [[2.0 / weight for weight in row] for row in ONE_OR_TWO]
FREE, HARD, EVEN = [0.6, 0.4], [1.0, 0.0], [[2.0, 4.0], [1.0, 2.0]]
SPECS: tuple[Document, ...] = (
    *(_chain(APART, **more) for more in ({}, {"initial": HARD}, {"initial": HALVES})),
    *(_chain([HARD, HARD], initial=start) for start in (HARD, HALVES)),
    *(_chain([FREE, FREE], **more) for more in ({}, {"initial": HARD}, {"initial": HALVES})),
    _chain([FREE, [0.6 + 1e-10, 0.4 - 1e-10]]),
    _chain([FREE, [0.6 + 1e-8, 0.4 - 1e-8]]),
    _chain([FREE, HARD]),
    _chain([HARD, FREE], initial=HALVES),
    _chain([FREE, HARD], length=1),
    _chain([[0.0, 1.0], FREE], initial=HARD),
    _chain([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], initial=[0.5, 0.5, 0.0]),
    _chain([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], initial=[0.25, 0.25, 0.5]),
    _chain([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], initial=[0.5, 0.5, 0.0]),
    _chain([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]),
    _order_2(FREE, FREE, FREE, FREE),
    _order_2(FREE, FREE, HARD, FREE),
    _order_2(HARD, FREE, FREE, FREE, initial=[[0.25, 0.25], [0.25, 0.25]]),
    _order_2(HARD, HARD, HARD, HARD, initial=[[1.0, 0.0], [0.0, 0.0]]),
    _order_2(FREE, FREE, FREE, FREE, initial=[[0.36, 0.24], [0.24, 0.16]]),
    _order_2(FREE, FREE, FREE, FREE, initial=[[0.25, 0.25], [0.25, 0.25]]),
    _order_2(FREE, FREE, FREE, FREE, initial=[[0.5, 0.0], [0.0, 0.5]]),
    _order_2(FREE, FREE, FREE, HARD, initial=[[0.5, 0.5], [0.0, 0.0]]),
    _order_2(HARD, HARD, FREE, FREE, initial=[[1.0, 0.0], [0.0, 0.0]]),
    _order_2(FREE, [0.5, 0.5], FREE, [0.5, 0.5], length=2),
    _order_2(FREE, [0.5, 0.5], FREE, [0.5, 0.5], length=1),
    _order_2(FREE, [0.5, 0.5], FREE, [0.5, 0.5], length=3),
    _order_2(FREE, FREE, FREE, FREE, length=2),
    _order_2(HARD, [0.0, 1.0], HARD, FREE, length=2, initial=[[0.5, 0.0], [0.0, 0.5]]),
    _order_2(FREE, FREE, FREE, FREE, length=1, initial=[[0.5, 0.5], [0.0, 0.0]]),
    _order_2(FREE, FREE, FREE, FREE, length=1, initial=[[0.5, 0.0], [0.5, 0.0]]),
    _between([[0.0, 0.2], [0.3, 0.1]], [[0.8, 1.0], [0.9, 0.7]]),
    _between([[0.1, 0.2], [0.3, 0.1]], [[0.8, 0.9], [0.9, 0.7]], initial=HARD),
    _between([FREE, FREE], [FREE, FREE]),
    _between([[FREE, FREE], [[0.1, 0.2], FREE]], [[FREE, FREE], [[0.8, 0.9], FREE]],
             order=2, length=2),
    _between([FREE, [0.3, 0.7]], [FREE, [0.3, 0.7]]),
    _between([[0.6, 0.4], [0.0, 0.0]], [[1.0, 1.0], [0.6, 0.4]]),
    _between([[0.0, 0.0], [0.2, 0.2]], [[1.0, 0.0], [0.8, 0.8]], initial=HALVES),
    _between([[0.0, 1.0], [0.2, 0.2]], [[1.0, 1.0], [0.8, 0.8]]),
    _between([[0.0, 0.0], [0.0, 0.0]], [[1.0, 1e-10], [1.0, 1.0]]),
    _between([[0.0, 0.0, 0.5], [0.1] * 3, [0.1] * 3], [[0.5, 0.0, 0.5], [0.8] * 3, [0.8] * 3]),
    _between([[0.0, 0.1], [0.0, 0.1]], [[0.9, 1.0], [0.9, 1.0]], initial=HALVES, length=2),
    _between([[0.0, 0.1], [0.0, 0.1]], [[0.9, 1.0], [0.9, 1.0]], initial=HARD, length=1),
    {"model": "finite", "probabilities": [[0.24, 0.36], [0.16, 0.24]]},
    {"model": "finite", "probabilities": [[0.24, 0.36], [0.16 + 1e-12, 0.24 - 1e-12]]},
    {"model": "finite", "probabilities": [[0.6, 0.4], [0.0, 0.0]]},
    {"model": "finite", "probabilities": [[0.3, 0.3], [0.4, 0.0]]},
    {"model": "finite", "probabilities": [[0.3, 0.3], [0.0, 0.4]]},
    {"model": "finite", "probabilities": [0.0, 0.4, 0.6]},
    {"model": "finite", "probabilities": [0.5, 0.5]},
    _graph(2, ((0, 1), EVEN)),
    _graph(3, ((0, 1), EVEN), ((1, 2), [[2.0, 1.0], [1.0, 2.0]])),
    _graph(3, ((0, 1), [[2.0, 1.0], [1.0, 2.0]]), ((1, 0), [[1.0, 2.0], [2.0, 1.0]])),
    _graph(3, ((0, 1, 2), [[[1.0, 2.0], [2.0, 4.0]], [[3.0, 6.0], [6.0, 12.0]]])),
    _graph(3, ((0, 1, 2), [[[1.0, 2.0], [2.0, 4.0]], [[3.0, 6.0], [6.0, 13.0]]])),
    _graph(2, ((0,), [1.0, 0.0]), ((0, 1), [[2.0, 1.0], [1.0, 2.0]])),
    _graph(2, ((0,), [0.0, 1.0]), ((0, 1), [[2.0, 1.0], [0.0, 2.0]])),
    _graph(3, ((0, 1), ANY), ((1, 2), ANY), ((0, 2), ANY)),
    _graph(3, ((0, 1), TOGETHER), ((1, 2), TOGETHER), ((0, 2), TOGETHER)),
    _graph(2, ((0, 1), TOGETHER)),
    _graph(2, ((0, 1), [[1.0, 1.0], [0.0, 1.0]])),
    _graph(2, ((0, 1), [[1.0, 1.0], [1.0, 0.0]]), ((1,), [1.0, 0.0])),
    _graph(1, ((0,), [1.0, 1.0])),
    _graph(2, ((0,), [0.0, 1.0, 1.0]), ((0, 1), ONE_OR_TWO), ((0, 1), TWO_OR_ONE), states=3),
    {"model": "gaussian", "covariance": [[1e-6, 1e-10], [1e-10, 1e-6]]},
    {"model": "gaussian", "size": 2, "columns": ["x", "y"], "bounds": [[0.0, 1.0], [0.0, 2.0]],
     "covariance": [[1.0, 0.3, 0.0, 0.0], [0.3, 1.0, 0.0, 0.0],
                    [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.3, 1.0]]},
    {"model": "graph", "grid": [2, 2], "states": 2, "table": TOGETHER},
    {"model": "graph", "grid": [2, 2], "states": 2, "table": [[1.0, 2.0], [2.0, 4.0]]},
    {"model": "graph", "grid": [1, 1], "states": 2, "table": [[1.0, 2.0], [2.0, 1.0]]},
    {"model": "network", "nodes": [
        {"name": "a", "states": 2, "table": [1.0, 0.0]},
        {"name": "b", "states": 2, "parents": ["a"], "table": [FREE, HARD]},
    ]},
    {"model": "network", "nodes": [
        {"name": "a", "states": 2, "table": FREE},
        {"name": "b", "states": 2, "parents": ["a"], "table": [HALVES, HALVES]},
        {"name": "c", "states": 2, "parents": ["a", "b"], "table": [[HALVES] * 2] * 2},
    ]},
    {"model": "tree", "nodes": [
        {"name": "a", "law": HALVES}, {"name": "b", "parent": "a", "transition": [FREE, FREE]},
    ]},
    {"model": "tree", "nodes": [{"name": "a", "law": HARD}, {"name": "b", "law": HALVES}]},
    {"model": "gaussian", "covariance": [[1.0, 0.0], [0.0, 2.0]]},
    {"model": "gaussian", "covariance": [[1.0, 1e-12], [1e-12, 2.0]]},
    {"model": "gaussian", "precision": [[1.0, 0.0], [0.0, 2.0]]},
    {"model": "gaussian", "precision": [[1.0, 1e-12], [1e-12, 2.0]]},
    {"model": "gaussian", "size": 3, "max_correlation": 0.0},
    {"model": "gaussian", "size": 1, "max_correlation": 0.5},
    {"model": "gaussian", "size": 3, "max_regression_sum": 0.0},
    {"model": "gaussian", "size": 3, "max_regression_sum": 0.5},
    {"model": "gaussian", "size": 3, "max_regression_sum": 1.0},
    {"model": "gaussian", "size": 1, "max_regression_sum": 1.0},
    {"model": "autoregressive", "coefficient": 0.0, "length": 3},
    {"model": "autoregressive", "coefficient": 0.5, "length": 1},
    {"model": "clusters", "size": 1},
    {"model": "unknown", "records": 1},
    {"model": "family", "members": [{"model": "clusters", "size": 1}, {"model": "independent"}]},
    {"model": "family", "members": [
        {"model": "finite", "probabilities": HALVES}, {"model": "finite", "probabilities": HARD},
    ]},
)  # fmt: skip
"""Where zeros stand, numbers that agree or nearly do, and records that can be what others leave."""
RANDOM = (
    honest.any_chain, honest.pairs_chain, honest.interval_chain, honest.graph, honest.network,
    honest.tree, honest.finite, honest.covariance, honest.precision,
)  # fmt: skip


def specs() -> Iterator[Document]:
    """The populations that are asked."""
    rng = np.random.default_rng(95)
    yield from SPECS
    yield from POPULATIONS.values()
    yield from (population.spec() for population, _ in SUPPORT)
    yield from (make(rng) for make in RANDOM)


def _document(spec: Document, name: str, parameters: Document, declared: list[str]) -> Document:
    relation = NEEDING[name]
    given: Document = {
        "rule": "given",
        "conclusion": {"notion": relation.premise, "level": LEVEL},
        "evidence": {},
        "premises": [],
    }
    reached = {"notion": relation.conclusion, "level": relation.level}
    step = {
        "rule": f"relation:{relation.premise}-to-{relation.conclusion}",
        "conclusion": reached,
        "evidence": {"hypotheses": [name]},
        "premises": [given],
    }
    document: Document = {
        "format": "bayesdp-certificate",
        "version": 1,
        "software": "bayesdp 0.1.0",
        "rounding": ROUNDING,
        "claim": {"claims": [reached], "parameters": parameters},
        "population": spec,
        "declared": declared,
        "assumptions": [],
        "derivation": {
            "rule": "relations",
            "conclusion": {"claims": [reached]},
            "evidence": {},
            "premises": [step],
        },
        "digest": "",
    }
    return document


def documents() -> Iterator[tuple[Document, bool]]:
    """Each certificate, and whether it is valid, held against the package's own reading."""
    for spec in specs():
        plain = {key: value for key, value in spec.items() if key != "source"}
        population = parse(spec)
        for name in NEEDING:
            derive = HYPOTHESES[name].derive
            assert derive is not None
            for parameters in PARAMETERS:
                shown = derive(population, parameters["default"], parameters["size"])
                bare = _assuming(_document(plain, name, parameters, []), True)
                valid = bool(kernel.check(bare))
                assert valid or not shown, (name, plain)
                yield bare, valid
                declared = _assuming(_document(plain, name, parameters, [name]), None)
                assert bool(kernel.check(declared)) == (shown is None), (name, plain)
                yield declared, shown is None


def _assuming(document: Document, shown: bool | None) -> Document:
    """With the assumptions that it has where the population shows this of its hypothesis."""
    with patch.object(Facts, "_shown", return_value=shown):
        return document | {"assumptions": kernel.relation_assumptions(document)}
