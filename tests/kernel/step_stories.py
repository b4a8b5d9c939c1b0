"""Steps for each hypothesis of each rule: one that just meets it, and one that just doesn't.

A step that proves a level is told with its level; of one that proves none the kernel says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayesdp.kernel.rules.markov_count import count_mechanism
from bayesdp.leakage.merged_factors import merged_factors
from bayesdp.leakage.state_fields import StateMessages, states_level
from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import Graph
from tests.kernel import test_rules_contexts
from tests.kernel.all_kinds import POPULATIONS, TABLE_OF_TWO
from tests.kernel.leaves import at, leaves, put
from tests.kernel.steps import make_step
from tests.kernel.test_witnesses import honest

Document = dict[str, Any]
ANY, SHIFTED, NONE = Cost(any=0.5), Cost(lipschitz=0.5), Cost()
CHAIN, ORDER_2 = POPULATIONS["chain"], POPULATIONS["order 2"]
COVARIANCE, TREE = POPULATIONS["covariance"], POPULATIONS["tree"]
HARD, EVEN = [1.0, 0.0], [0.5, 0.5]
LONG = 10**4
"""A longer chain takes seconds where its witness doesn't hold."""
THREE = [[0.2, 0.6, 0.2], [0.4, 0.3, 0.3], [0.4, 0.2, 0.4]]
VECTORS: Document = {
    "model": "gaussian", "size": 2, "columns": ["x", "y"], "bounds": [[0.0, 1.0], [0.0, 2.0]],
    "covariance": [
        [1.0, 0.2, 0.3, 0.0], [0.2, 1.0, 0.0, 0.3], [0.3, 0.0, 1.0, 0.2], [0.0, 0.3, 0.2, 1.0],
    ],
}  # fmt: skip
ALTERNATING: Document = {
    "model": "markov", "transition": [[0.3, 0.7], [0.6, 0.4]], "length": 9, "complete": True,
}  # fmt: skip
WITNESSED = (
    "two states", "tuples", "window", "factors", "a zero", "three values", "factors of three",
    "a large grid of three values",
)  # fmt: skip
RULES = (
    "independent", "cluster-size", "family", "finite-law", "tree-recursion", "graph-contraction",
    "graph-ferromagnet", "graph-fields", "graph-influence", "markov-ratio", "markov-contraction",
    "markov-threshold", "markov-recursion",
    "markov-window", "markov-influence", "markov-contexts",
    "markov-count", "panel-contraction", "panel-blocks", "gaussian-covariance",
    "gaussian-equal-variances", "gaussian-max-correlation", "gaussian-regression",
    "gaussian-walk-summable", "autoregressive",
)  # fmt: skip
OTHERS: dict[str, Document] = POPULATIONS | {
    "vectors": VECTORS,
    "alternating": ALTERNATING,
    "three states": {"model": "markov", "transition": THREE, "length": 9},
    "two classes": {"model": "markov", "transition": [HARD, [0.0, 1.0]], "length": 9,
                    "initial": EVEN},
    "a zero": {"model": "markov", "transition": [[0.9, 0.1], HARD], "length": 9},
    "a start": CHAIN | {"initial": [0.9, 0.1]},
    "a start with a zero": CHAIN | {"initial": HARD},
    "order 2 with a zero": ORDER_2 | {"transition": [[EVEN, [0.6, 0.4]], [HARD, [0.3, 0.7]]]},
    "order 2 in one corner": ORDER_2
    | {"transition": [[HARD, HARD], [EVEN, [0.3, 0.7]]], "initial": [HARD, [0.0, 0.0]]},
    "order 2 from a start": ORDER_2 | {"initial": [EVEN, [0.0, 0.0]]},
    "order 2 from a law": ORDER_2 | {"initial": [[0.3, 0.2], [0.4, 0.1]]},
    "strong order 2": ORDER_2 | {"transition": [[[0.99, 0.01], EVEN], [EVEN, [0.01, 0.99]]]},
    "short order 2": ORDER_2 | {"length": 2},
    "strong chain": CHAIN | {"transition": [[0.999, 0.001], [0.001, 0.999]]},
    "an open panel": {"model": "panel", "series": 3, "length": 2, "own_previous": 4.0,
                      "others_previous": 1.0},
    "a panel of one step": {"model": "panel", "series": 3, "length": 1, "own_previous": 1.0,
                            "others_previous": 1.0, "others_now": 2.0},
    "an open state": {"model": "panel", "series": 1, "length": 5, "own_previous": 4.0,
                      "shared_previous": 2.0},
    "equal variances": {"model": "gaussian", "covariance": [[2.0, 0.5], [0.5, 2.0]]},
    "other variances": {"model": "gaussian", "covariance": [[2.0, 0.5], [0.5, 1.0]]},
    "nearly equal": {"model": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0 + 1e-12]]},
    "not definite": {"model": "gaussian", "covariance": [[1.0, 2.0], [2.0, 1.0]]},
    "a covariance of 17": {"model": "gaussian", "covariance": [
        [1.0 if i == j else 0.01 for j in range(17)] for i in range(17)
    ]},
    "not definite either": {"model": "gaussian", "precision": [[1.0, 2.0], [2.0, 1.0]]},
    "a correlation too large": {"model": "gaussian", "size": 5, "max_correlation": 0.4},
    "a correlation nearly too large": {"model": "gaussian", "size": 5, "max_correlation": 0.33},
    "a cycle": {"model": "graph", "records": 3, "states": 2, "factors": [
        {"between": [i, j], "table": TABLE_OF_TWO} for i, j in ((0, 1), (1, 2), (0, 2))
    ]},
    "strong ties": {"model": "graph", "records": 3, "states": 2, "factors": [
        {"between": [i, j], "table": [[40.0, 1.0], [1.0, 40.0]]}
        for i, j in ((0, 1), (1, 2), (0, 2))
    ]},
    "a tie that excludes": {"model": "graph", "records": 2, "states": 2, "factors": [
        {"between": [0, 1], "table": [[1.0, 0.0], [0.0, 1.0]]}
    ]},
    "three": {"model": "finite", "probabilities": [[[0.2, 0.1], [0.1, 0.1]],
                                                   [[0.1, 0.1], [0.1, 0.2]]]},
    "wide": {"model": "finite", "probabilities": [[0.1, 0.2, 0.1], [0.2, 0.1, 0.3]]},
    "two parents": {"model": "network", "nodes": [
        {"name": "a", "states": 2, "table": [0.4, 0.6]},
        {"name": "b", "states": 2, "table": [0.4, 0.6]},
        {"name": "c", "states": 2, "parents": ["a", "b"], "table": [[EVEN, HARD], [HARD, EVEN]]},
    ]},
}  # fmt: skip


def documents() -> Iterator[Document]:
    """The steps: every rule of every population, then those of one rule alone."""
    for rule in RULES:
        cost = SHIFTED if rule.startswith("gaussian") or rule == "autoregressive" else ANY
        for spec in OTHERS.values():
            plain = {key: value for key, value in spec.items() if key != "source"}
            if rule == "finite-law" and "length" in plain:
                plain["length"] = 4
            for adversary in ("any", "uninformed", "informed"):
                yield make_step(
                    rule, plain, cost, adversary=adversary, details=_details(rule, spec)
                )
    for case in WITNESSED:
        for adversary in ("any", "uninformed"):
            step = honest(case)
            step["conclusion"]["adversary"] = adversary
            yield step
    yield from _gaussian()
    yield from _counts()
    yield from _witnesses()
    yield from _contexts()
    yield from _fields()
    yield from _states()
    yield from _boxes()
    yield from _divergences()
    yield from _impossible()


def _details(rule: str, spec: Document) -> Document:
    if rule == "markov-count":
        return {"mechanism": count_mechanism(spec.get("length", 9))}
    return {}


def _gaussian() -> Iterator[Document]:
    """Costs of all kinds, for secrets in the intervals or anywhere."""
    columns = (ColumnCost(column="x", width=1.0, dp_epsilon=0.5, slack=0.01),)
    strange = (ColumnCost(column="z", width=1.0, dp_epsilon=0.5),)
    costs = (
        ANY, SHIFTED, NONE, Cost(any=0.1, lipschitz=0.5, slack=0.01), Cost(by_column=columns),
        Cost(by_column=strange), Cost(lipschitz=0.5, by_column=columns), Cost(slack=0.1),
    )  # fmt: skip
    rules = (
        "gaussian-covariance", "gaussian-equal-variances", "gaussian-max-correlation",
        "gaussian-walk-summable", "gaussian-vector", "autoregressive", "independent",
    )  # fmt: skip
    names = ("covariance", "precision", "max correlation", "autoregressive", "vectors")
    for rule in rules:
        for name in names:
            for cost in costs:
                for secrets in ("bounded", "unbounded"):
                    yield make_step(rule, OTHERS[name], cost, secrets=secrets)


def _counts() -> Iterator[Document]:
    """One mechanism, on a chain of two states that is not positively correlated."""
    level = [[0.5, 0.5], [0.5, 0.5]]
    correlated = [[0.5001, 0.4999], [0.5, 0.5]]
    for more in (
        {}, {"complete": False}, {"transition": level}, {"transition": correlated},
        {"transition": THREE}, {"length": 8}, {"initial": HARD},
    ):  # fmt: skip
        for mechanism in (count_mechanism(9), "discrete-laplace", None):
            details = {} if mechanism is None else {"mechanism": mechanism}
            yield make_step("markov-count", ALTERNATING | more, ANY, details=details)
    ordered = {"order": 2, "transition": ORDER_2["transition"]}
    details = {"mechanism": count_mechanism(9)}
    yield make_step("markov-count", ALTERNATING | ordered, ANY, details=details)


def _witnesses() -> Iterator[Document]:
    """Witnesses of another shape, in another place, and on chains that need none."""
    four = [[0.0, 2.0], [2.0, 0.0]]
    shapes: tuple[Any, ...] = (
        [four, four], [four], [four, four, four], [[four[0]], four], [[[0.0], [0.0]], four],
        [[[0.0, 1e-3], [1e-3, 0.0]]] * 2, [[[0.0, 1e6], [1e6, 0.0]]] * 2,
    )  # fmt: skip
    for rule in ("markov-recursion", "markov-threshold"):
        for name in ("chain", "a start", "two classes", "a zero", "a start with a zero"):
            for length in (1, 9, 60, 10**6):
                for shape in (None, *(shapes if length < LONG else shapes[:5])):
                    details = {} if shape is None else {"closed": shape}
                    yield make_step(rule, OTHERS[name] | {"length": length}, ANY, details=details)
        for steps in (0, 1, 7, 30, 70):
            details = {"closed": shapes[0], "steps": steps}
            yield make_step(rule, CHAIN | {"length": 60}, ANY, details=details)
    for guesses in (None, [1.0] * 3, [4.0] * 3, [4.0] * 2, [None, 4.0, None], [0.01] * 3):
        details = {} if guesses is None else {"closed": guesses}
        yield make_step("markov-window", ORDER_2, ANY, details=details)
    for messages in ([], [0.5], [1.0], [0.1], [0.5, 0.5], [0.5] * 6, [0.2] * 6, [2.0] * 6, [9.0]):
        for name in ("graph", "a cycle", "grid", "edges", "strong ties", "tree", "network"):
            yield make_step("graph-contraction", OTHERS[name], ANY, details={"messages": messages})
    for messages in ([0.0] * 6, [0.5] * 6, [2.0] * 6, [2.0] * 5, [1.1, 0.2, 0.4, 0.4, 0.4, 0.7]):
        for name in ("panel", "an open panel", "a panel of one step", "an open state"):
            yield make_step("panel-contraction", OTHERS[name], ANY, details={"messages": messages})
    for sums in ([1.0, 1.0], [1.0] * 3):
        yield make_step("graph-influence", OTHERS["graph"], ANY, details={"row_sums": sums})
        yield make_step("gaussian-walk-summable", COVARIANCE, SHIFTED, details={"row_sums": sums})
    yield from _proofs()


def _contexts() -> Iterator[Document]:
    """The recursion over contexts: a target, matrices, words and chains that are others."""
    made = test_rules_contexts.honest()
    for adversary in ("any", "uninformed", "informed"):
        yield put(made, ("conclusion", "adversary"), adversary)
    details = ("evidence", "details")
    stated = made["evidence"]["details"]
    for factor in (0.0, 0.5, 0.999, 1.001, 2.0):
        yield put(made, (*details, "target"), stated["target"] * factor)
        for side in (0, 1):
            lower = [[entry * factor for entry in matrix] for matrix in stated["closed"][side]]
            yield put(made, (*details, "closed", side), lower)
    for side in (0, 1):
        yield put(made, (*details, "closed", side), stated["closed"][side][:-1])
    for path in leaves(stated):
        if isinstance(at(stated, path), list) and len(path) == 1:
            entries = at(stated, path)
            for changed in (entries[1:], entries[:-1], [*entries, entries[-1]], []):
                yield put(made, (*details, *path), changed)
    yield from _other_contexts(made)
    population = ("evidence", "population")
    for transition in ([[[0.6, 0.4], [0.45, 0.55]], [EVEN, [0.0, 1.0]]], ORDER_2["transition"]):
        yield put(made, (*population, "transition"), transition)
    for key, value in (("initial", [[0.25] * 2] * 2), ("length", 5), ("length", 10**9)):
        yield put(made, population, made["evidence"]["population"] | {key: value})
    yield put(made, population, CHAIN)
    for cost in (0.1, 0.5 * 1.05, 3.0):
        yield put(made, ("evidence", "cost", "any"), cost)


def _other_contexts(made: Document) -> Iterator[Document]:
    """A context that is part of another, more of them than need be, and other chains."""
    details = ("evidence", "details")
    words = made["evidence"]["details"]["contexts"][0]
    assert "10" in words
    longer = [word for word in words if word != "10"] + ["100", "10*", "1011", "101*"]
    yield put(made, (*details, "contexts", 0), sorted([*words, "100"]))
    yield put(made, (*details, "contexts", 0), sorted([*longer, "1010"]))
    large: Document = {"contexts": [["0", "1", "*"]] * 2, "closed": [[[20.0] * 4]] * 2}
    first = put(made, ("evidence", "population"), CHAIN)
    yield put(first, details, large | {"target": 300.0})
    states = put(made, ("evidence", "population", "transition"), [THREE] * 3)
    yield put(states, details, large | {"closed": [[[20.0] * 81]] * 2, "target": 300.0})


def _fields() -> Iterator[Document]:
    """Pairs of two values: rare ones, zeros, known records, and what is not of two values."""
    rare = {"between": [1], "table": [1.0, 0.03]}
    tables = ([[4.0, 1.0], [1.0, 0.5]], [[1.0, 2.0], [5.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]])
    pairs = [{"between": [j, j + 1], "table": table} for j, table in enumerate(tables)]
    loop, turned = {"between": [0, 3], "table": tables[1]}, {"between": [1, 0], "table": tables[1]}
    known = {"between": [0], "table": [0.0, 1.0]}
    triple = {"between": [0, 1, 2], "table": [[[1.0, 1.0], [1.0, 0.5]], [[2.0, 1.0], [1.0, 1.0]]]}
    wide = {"between": [4, 0], "table": [[2.0, 1.0], [1.0, 2.0], [3.0, 1.0]]}
    two = {"between": [4], "table": [2.0, 0.0, 1.0]}
    for factors in (
        pairs, pairs[:1], [rare, *pairs], [rare, *pairs, loop], [*pairs[:2], turned],
        [known, *pairs],
        [rare, *pairs[:2], triple], [*pairs, wide], [*pairs, wide, two], [*pairs[::2], loop],
        [{"between": [0, 1], "table": [[0.0, 1.0], [1.0, 0.0]]}, *pairs[1:2]],
        [{"between": [0, 1], "table": [[0.0, 1.0], [1.0, 1.0]]}, rare],
        [{"between": [1, 2], "table": [[1.0, 3.0], [0.0, 1.0]]}, rare, pairs[2]],
    ):  # fmt: skip
        states = [2, 2, 2, 2, 3] if wide in factors else [2] * 5
        law = {"model": "graph", "records": 5, "states": states, "factors": factors}
        for cost in (0.05, 0.5, 4.0, 900.0):
            yield make_step("graph-fields", law, Cost(any=cost))
    for sides in ([1, 6000], [80, 90], [3, 3]):
        for table in (tables[0], [[3.0, 1.0], [1.0, 3.0]]):
            grid = {"model": "graph", "grid": sides, "table": table}
            yield make_step("graph-fields", grid, ANY)


def _states() -> Iterator[Document]:
    """Any values and factors: the least messages, and each of them a little lower.

    Rare values, zeros of all kinds, known records, factors within others, large ones, several
    components, and a grid that is known by its corner.
    """
    triple = [[[1.0, 3.0], [2.0, 0.5]], [[0.4, 1.0], [1.0, 1.5]], [[0.1, 0.2], [3.0, 0.3]]]
    hard = [[[1.0, 0.0], [2.0, 0.5]], [[0.0, 0.0], [1.0, 1.5]], [[0.1, 0.2], [0.0, 0.3]]]
    tables: list[Any] = [
        [[4.0, 1.0, 0.5], [1.0, 0.5, 2.0], [0.2, 1.0, 1.0]],
        [[1.0, 2.0, 3.0], [5.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 2.0], [2.0, 3.0, 0.0]],
    ]
    rare, wide = {"between": [1], "table": [1.0, 0.03, 0.2]}, [3, 3, 3]
    path = [{"between": [j, j + 1], "table": tables[0]} for j in range(2)]
    known = {"between": [2], "table": [0.0, 1.0, 0.0]}
    few = {"between": [1], "table": [1.0, 0.03]}
    apart = {"between": [3, 4], "table": [[1.0, 2.0], [0.5, 3.0]]}
    pair = {"between": [1, 0], "table": [[1.0, 2.0], [0.5, 0.2], [1.0, 1.0]]}
    last = {"between": [1, 2], "table": [[1.0, 2.0], [0.5, 0.2], [1.0, 1.0]]}
    together = [  # both leave record 2 its last value, their product does not
        {"between": [1, 2], "table": [[1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [3.0, 1.0, 0.0]]},
        {"between": [2, 1], "table": [[1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [0.0, 0.0, 1.0]]},
    ]
    laws: list[tuple[Any, list[Any], bool]] = [
        (wide, path, False), (wide, [rare, *path], False), (wide, [rare, *path], True),
        (wide, [rare, path[0], {"between": [1, 2], "table": tables[1]}], False),
        (wide, [rare, {"between": [2, 1], "table": tables[2]}], False),
        (wide, [*path, known, {"between": [0, 2], "table": tables[0]}], False),
        ([3, 3, 3, 2, 2], [*path, apart], False), ([3, 3, 3, 2, 2], [path[0], apart], True),
        ([2, 3, 2], [{"between": [1, 0, 2], "table": triple}], False),
        ([2, 3, 2], [{"between": [1, 0, 2], "table": triple}, pair], False),
        ([2, 3, 2], [{"between": [1, 0, 2], "table": hard}, pair], False),
        ([2, 3, 2], [{"between": [1, 0, 2], "table": triple}, last], False),
        ([3] * 4, [path[0], {"between": [2, 3], "table": tables[0]}], False),
        (wide, [rare, path[0], *together], False),
        ([3] * 5, [{"between": [j, j + 1], "table": tables[0]} for j in range(4)], False),
        ([2, 2], [{"between": [0, 1], "table": [[20.0, 1.0], [3.0, 1.0]]}], False),
        ([2, 2, 2, 2, 2, 2], [{"between": [*range(6)], "table": _even(6)}, few], False),
    ]  # fmt: skip
    for states, factors, shared in laws:
        law = {"model": "graph", "records": len(states), "states": states, "factors": factors}
        merged = merged_factors(Graph(**law).factor_graph, False, 1000)
        assert not isinstance(merged, str)
        yield from _with_messages(law, StateMessages(merged, shared))
    for sides in ([1, 2], [2, 300], [1, 500]):
        grid = {"model": "graph", "grid": sides, "table": tables[0]}
        large = sides[0] * sides[1] > 400
        merged = merged_factors(
            Graph(**grid | {"grid": [min(n, 4) for n in sides]}).factor_graph, False, 1000
        )
        assert not isinstance(merged, str)
        component = sides[0] * sides[1] if large else None
        yield from _with_messages(grid, StateMessages(merged, large, component))
        yield make_step(
            "graph-fields", grid | {"table": tables[1]}, ANY, details={"messages": [9.0] * 24}
        )


def _even(records: int) -> Any:
    """A table that tells whether many of the records are 1."""

    def part(left: int, ones: int) -> Any:
        return [part(left - 1, ones + v) for v in (0, 1)] if left else 1.0 + (ones > records / 2)

    return part(records, 0)


def _with_messages(law: Document, messages: StateMessages) -> Iterator[Document]:
    def with_witness(cost: float, witness: list[float]) -> Document:
        return make_step("graph-fields", law, Cost(any=cost), details={"messages": witness})

    yield with_witness(4.0, states_level(messages, 4.0)[1])
    least = states_level(messages, 0.3)[1]
    yield with_witness(0.3, least)
    yield with_witness(0.3, [*least, 0.1])
    lowered = [place for place, own in enumerate(least) if own]
    for place in lowered[:: -(len(lowered) // 8 + 1)]:
        yield with_witness(0.3, [y * (1 - 1e-5 * (n == place)) for n, y in enumerate(least)])


def _boxes() -> Iterator[Document]:
    """Boxes of every radius on grids that are smaller, as wide, and larger; tables that are not."""
    calm = [[1.2, 1.0], [0.9, 1.1]]
    tables = (
        calm, [[1.0, 1.2], [1.1, 0.9]], [[1.0, 1.0], [1.0, 1.0]], [[3.0, 1.0], [1.0, 3.0]],
        [[1.0, 1.0], [0.0, 1.0]], [[1.0]], [[1.2, 1.0, 1.0]] * 3,
    )  # fmt: skip
    for sides in ([1, 1], [1, 9], [3, 3], [4, 3], [5, 90], [90, 90]):
        for table in tables:
            grid = {"model": "graph", "grid": sides, "table": table}
            for radius in (0, 1, 2):
                details = {"radius": radius}
                yield make_step("graph-ferromagnet", grid, ANY, details=details)
    grid = {"model": "graph", "grid": [90, 90], "table": calm}
    for details in ({}, {"radius": 6}, {"radius": 10**9}):
        yield make_step("graph-ferromagnet", grid, ANY, details=details)
    for sides, radius in (([9, 9], 4), ([1, 90], 5)):
        details = {"radius": radius}
        yield make_step("graph-ferromagnet", grid | {"grid": sides}, ANY, details=details)
    line = {"model": "graph", "records": 3, "edges": [[0, 1], [1, 2]], "table": calm}
    yield make_step("graph-ferromagnet", line, ANY, details={"radius": 1})


def _proofs() -> Iterator[Document]:
    """Flows of a finite law: between neighbours, none negative, of questions that it asks."""
    question: Document = {"i": 0, "K": [], "x_K": [], "x_i": 0, "x_i'": 1}
    for multiplier in (1.0, 1.5, 3.0):
        for flows in ([], [[0, 1, 0.05]], [[0, 3, 0.05]], [[0, 1, -0.05]], [[1, 0, 0.05]]):
            proof = question | {"multiplier": multiplier, "flows": flows}
            yield make_step("finite-law", OTHERS["three"], ANY, details={"proofs": [proof]})
    other = question | {"x_i": 7, "multiplier": 1.0, "flows": []}
    yield make_step("finite-law", OTHERS["three"], ANY, details={"proofs": [other]})


def _impossible() -> Iterator[Document]:
    """Values that never occur, influences without end, and laws that are none."""
    half = [0.5, 0.5, 0.0]
    uneven = [0.125, 0.125, 0.0625]
    never = {"model": "markov", "order": 2, "length": 9, "transition": [[half] * 3] * 3}
    start = {"initial": [[0.125] * 3, uneven, uneven]}
    yield make_step("markov-influence", never | start, ANY)
    second = ORDER_2 | {"initial": [[0.0, 0.5], [0.0, 0.5]]}
    yield make_step("markov-influence", second, ANY)
    tiny = 1e-300
    of_newest = [[[1.0, tiny], [tiny, 1.0]]] * 2
    of_oldest = [[[1.0, tiny]] * 2, [[tiny, 1.0]] * 2]
    for transition in (of_newest, of_oldest):
        for length in (2, 3, 200):
            certain = ORDER_2 | {"transition": transition, "length": length}
            yield make_step("markov-influence", certain, ANY)
    yield make_step("markov-influence", OTHERS["strong order 2"] | {"length": 200}, ANY)
    once = {"model": "markov", "length": 5, "transition": [half, half, [0.9, 0.1, 0.0]]}
    for adversary in ("any", "uninformed"):
        yield make_step("markov-recursion", once | {"initial": half}, ANY, adversary=adversary)
    yield make_step("graph-contraction", OTHERS["graph"], ANY, details={"messages": [2.0]})
    covariance = [list(row) for row in VECTORS["covariance"]]
    covariance[2][0] = covariance[0][2] = 3.0
    vectors = VECTORS | {"covariance": covariance}
    yield make_step("gaussian-vector", vectors, ANY, adversary="informed")
    rows = [[float(i == j) for j in range(100)] for i in range(100)]
    rows[98][99] = rows[99][98] = 2.0
    large = {"model": "gaussian", "covariance": rows}
    yield make_step("gaussian-covariance", large, ANY, adversary="informed")
    yield from _at_the_limit()


def _at_the_limit() -> Iterator[Document]:
    """Bounds that leave no room, the largest matrix that is inverted, and numbers too low."""
    low, high = [EVEN, [0.25, 0.5]], [[0.75, 0.75], [0.5, 0.75]]
    tight = {"model": "markov", "transition_lower": low, "transition_upper": high, "length": 9}
    yield make_step("markov-contraction", tight, ANY)
    edges = [[place, place + 1] for place in range(149)]
    line = {"model": "graph", "records": 150, "states": 2, "edges": edges, "table": TABLE_OF_TWO}
    yield make_step("graph-influence", line, ANY)
    low_guess = {"closed": [1e-6, None, None]}
    yield make_step("markov-window", ORDER_2, ANY, details=low_guess)
    proofs = [
        {
            "i": i,
            "K": [],
            "x_K": [],
            "x_i": value,
            "x_i'": 1 - value,
            "multiplier": 1.0,
            "flows": [],
        }
        for i in (0, 1)
        for value in (0, 1)
    ]
    two = {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]}
    yield make_step("finite-law", two, ANY, details={"proofs": proofs})


def _divergences() -> Iterator[Document]:
    """Levels at a delta, by a divergence or by a point of the mechanism's curve."""
    for rule in RULES:
        name = {"independent": "independent", "finite-law": "law", "tree-recursion": "tree"}
        by_word = {"markov": "chain", "graph": "graph", "gaussian": "covariance", "panel": "panel"}
        model = name.get(rule) or by_word.get(rule.split("-")[0], "autoregressive")
        spec = {key: value for key, value in OTHERS[model].items() if key != "source"}
        cost = SHIFTED if rule.startswith("gaussian") or rule == "autoregressive" else ANY
        for alpha in (
            [2, 1],
            [1, 1],
            [5, 2],
            [10**18, 1],
            [10**18 + 1, 1],
            [10**9 + 1, 10**9],
            [10**10 + 1, 10**10],
        ):
            for delta in (1e-6, 0.5):
                yield _at_delta(rule, spec, cost, delta, way="renyi", alpha=alpha)
        for dp_epsilon in (0.1, 0.5, 3.0):
            for dp_delta in (1e-9, 1e-7, 1e-3):
                point = {"dp_epsilon": dp_epsilon, "dp_delta": dp_delta}
                yield _at_delta(rule, spec, ANY, 1e-6, way="stated", **point)
                yield _at_delta(rule, spec, ANY, 1e-6, way="point", alpha=[20, 1], **point)
        yield _at_delta(rule, spec, NONE, 1e-6, way="renyi", alpha=[2, 1])


def _at_delta(rule: str, spec: Document, cost: Cost, delta: float, **proof: Any) -> Document:
    step = make_step(rule, spec, cost, details=_details(rule, spec))
    step["conclusion"]["delta"] = delta
    step["evidence"]["delta"] = {"counted": "pure", **proof}
    return step
