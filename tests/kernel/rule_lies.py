"""Lies about small programs, each consistent but for one thing: see `construct_lies`.

They are told to the checks of what may stand where, of bounds, sensitivities, solvers, commands
and the certificate itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.kernel.mutations import sealed
from tests.kernel.program_lies import column, evidence, number_of, release_of
from tests.kernel.rule_stories import (
    ILL,
    OF_THE_ILL,
    SIZE,
    TEXT,
    VISITS,
    Document,
    Expression,
    branch,
    counted,
    derived,
    entering,
    expr,
    field,
    folded,
    gaussian,
    noisy,
    partition,
    public,
    rows,
    total,
    written,
)

Lie = Callable[[], Document]
ONE, TWO, THREE = map(number_of, "123")
SHOWN = public("laplace_1")
FIRST_COUNT = noisy(counted(ILL))
"""What other commands of a lie use."""


# -- what may stand where ------------------------------------------------------------------------


def _of_rows(value: Expression) -> Lie:
    """A count of rows with this value, which a count doesn't read."""
    return lambda: written(noisy(counted(value=value)))


def _kept(test: Expression, *more: str) -> Lie:
    """A count of the rows that pass this."""
    return lambda: written(noisy(counted(test)), more=more)


def _noisy(value: Expression, moved: str | Expression = "1", **parts: Any) -> Lie:
    """Noise on this value."""
    return lambda: written(noisy(value, moved), **parts)


def _after(value: Expression, kind: str = "Real") -> Lie:
    """A value that is made of a released count, and returned."""
    return lambda: written(FIRST_COUNT, returns=[value], return_types=[kind])


def _second(value: Expression, moved: str) -> Lie:
    """Noise on a value that a released count has to do with."""
    return lambda: written(FIRST_COUNT, noisy(value, moved, "laplace_2"), epsilon="2")


LABELS = expr("cross", *[field("arm")] * 8)
PAIR, TRIPLE = expr("tuple", ONE, TWO), expr("tuple", ONE, TWO, THREE)
NEAR_ZERO = expr("clip", SHOWN, number_of("-1"), ONE)
PLACES: dict[str, Lie] = {
    "what is so far, in a row": _of_rows(expr("acc")),
    "a sum in a row": _of_rows(OF_THE_ILL),
    "a cross of thousands of cells": _kept(expr("eq", LABELS, TEXT)),
    "two cells of one name": _kept(
        expr("eq", expr("cross", field("left"), field("right")), TEXT), "left", "right"
    ),
    "moments of a one-hot vector": _noisy(
        total(expr("moments", expr("onehot", field("arm"), data=[{"number": "3"}]))), "6"
    ),
    "moments of ninety numbers": _noisy(total(expr("moments", expr("tuple", *[ILL] * 91))), "9999"),
    "a cell between two cells": _noisy(
        total(expr("onehot", field("score"), data=[{"number": "11"}])), "2"
    ),
    "a cell beyond the last": _noisy(total(expr("onehot", VISITS, data=[{"number": "5"}])), "2"),
    "a piece that there is not": _noisy(counted(pieces=[["arm", "z"]])),
    "a divisor in a row that may be 0": _of_rows(expr("div", ONE, VISITS)),
    "a sum of labels": lambda: written(noisy(total(field("site")), "0"), more=("site",)),
    "a comparison of private values": _noisy(expr("eq", counted(ILL), ONE)),
    "a value of one side of a branch": lambda: written(
        FIRST_COUNT,
        branch(expr("gt", SHOWN, ONE), [derived("k_1", ONE)]),
        returns=[public("k_1")], return_types=["Real"],
    ),
    "a column, returned": _after(VISITS),
    "a number that is true": _kept(expr("and", VISITS, ILL)),
    "a label like a number": _kept(expr("eq", field("arm"), ONE)),
    "a choice by a number": _noisy(total(expr("if", VISITS, ONE, number_of("0")))),
    "a choice between labels": _of_rows(expr("if", ILL, field("arm"), ONE)),
    "a vector of labels": _of_rows(expr("tuple", field("arm"))),
    "an entry that there is not": _of_rows(
        expr("item", expr("tuple", ONE), data=[{"number": "5"}])
    ),
    "a label below a number": _kept(expr("lt", field("arm"), ONE)),
    "the mean of a number": _after(
        expr("summary", SHOWN, data=["mean", {"number": "0"}, {"number": "0"}])
    ),
    "the floor of a label": _of_rows(expr("floor", field("arm"))),
    "a logarithm of what may be below 0": _of_rows(
        expr("log", expr("sub", VISITS, number_of("5")))
    ),
    "a list of points as a number": _of_rows(expr("linspace", ONE, ONE, ONE)),
    "a label and a number": _of_rows(expr("add", field("arm"), ONE)),
    "vectors of two lengths": _of_rows(expr("add", PAIR, TRIPLE)),
    "how far a vector is from 0": _of_rows(expr("abs", PAIR)),
    "a cross of numbers": _kept(expr("eq", expr("cross", ONE), TEXT)),
    "divided by a vector that may be 0": _of_rows(
        expr("div", ONE, expr("tuple", ONE, VISITS))
    ),
    "an exponential without end": _after(expr("exp", SHOWN)),
    "transitions of a number": lambda: written(
        noisy(expr("transitions", rows(THREE), field("month")), "4")
    ),
}  # fmt: skip
"""Expressions out of place."""

# -- how far values move ---------------------------------------------------------------------------

SMALL_TABLES = expr("le", SIZE, THREE)
NO_TABLE = expr("ge", SIZE, number_of("11/5")), expr("le", SIZE, number_of("14/5"))
THIRD_OF_VISITS = expr("div", VISITS, THREE)
HUGE = ONE
for _ in range(64):
    HUGE = expr("mul", HUGE, number_of("1" + "0" * 119))
PER_RECORD = expr("div", OF_THE_ILL, SIZE)
MOVES: dict[str, Lie] = {
    "a clip at a private value": _noisy(
        expr("clip", counted(ILL), number_of("0"), counted(field("ill"), VISITS, [["arm", "a"]]))
    ),
    "over a private number": _noisy(expr("div", counted(ILL), expr("add", ONE, counted(ILL)))),
    "over a released number that may be 0": _second(
        expr("div", counted(ILL), expr("clip", SHOWN, number_of("-1"), number_of("5"))), "1"
    ),
    "a product of two counts": _noisy(
        expr("mul", counted(ILL), counted(ILL)), "3", requires=[SMALL_TABLES]
    ),
    "a factor that may have no value": _second(
        expr("mul", counted(ILL), expr("clip", expr("div", ONE, NEAR_ZERO), number_of("0"), TWO)),
        "2",
    ),
    "a value without bounds": _second(total(expr("add", VISITS, SHOWN)), "99"),
    "a condition that was released, as if it never held": lambda: written(
        FIRST_COUNT,
        derived("k_1", expr("gt", SHOWN, ONE)),
        noisy(total(VISITS, public("k_1")), "0", "laplace_2"),
        epsilon="2",
    ),
    "two halves by what doubles decide": _noisy(
        expr(
            "add",
            total(field("score"), expr("le", THIRD_OF_VISITS, number_of("1/3"))),
            total(field("score"), expr("gt", THIRD_OF_VISITS, number_of("1/3"))),
        ),
        "10",
    ),
    "numbers of thousands of digits": _noisy(
        expr("mul", counted(ILL), HUGE), expr("mul", ONE, HUGE)
    ),
    "less for many records": _noisy(
        PER_RECORD, expr("div", number_of("1000"), expr("mul", SIZE, SIZE))
    ),
    "a move over nothing": _noisy(
        PER_RECORD, expr("div", number_of("1000"), expr("sub", SIZE, SIZE)), requires=NO_TABLE
    ),
    "a move that is rounded down": _noisy(
        PER_RECORD, expr("floor", expr("div", number_of("10"), SIZE))
    ),
}  # fmt: skip
"""What moves further than is stated, or without limit."""

# -- commands --------------------------------------------------------------------------------------


def _changed(document: Document, change: Callable[[Document], object]) -> Document:
    change(document)
    return sealed(document)


def _node(document: Document, place: int = 0) -> Any:
    return evidence(document)["derivation"]["sequence"][place]


def _piece(label: str, name: str, **node: Any) -> tuple[str, list[Any]]:
    kept = [["arm", label]]
    return label, [noisy(counted(ILL, pieces=kept), "1", name, **({"entering": "1"} | node))]


ARMS = tuple(_piece(label, f"laplace_{i}") for i, label in enumerate("abc"))
SITES = tuple(
    (label, [noisy(counted(ILL, pieces=[["site", label]]), "1", f"laplace_{i}", entering="1")])
    for i, label in enumerate("ns")
)
TWICE = (
    SITES[0],
    ("n", [noisy(counted(ILL, pieces=[["site", "n"]]), "1", "laplace_1", entering="1")]),
)


def _of_pieces(**parts: Any) -> Lie:
    """The pieces of a private column, of which the node says something else."""
    return lambda: _changed(
        written(partition("arm", False, *ARMS), epsilon="2"),
        lambda document: _node(document)["parts"].update(parts),
    )


def _costs_less_in_branches() -> Document:
    """The cost of one record that leaves a piece, where what it costs to enter is not known."""
    arms = [_piece("a", "laplace_0", entering=None), *ARMS[1:]]
    return written(partition("arm", False, *arms), epsilon="2")


COMMANDS: dict[str, Lie] = {
    "a derived value twice": lambda: written(
        FIRST_COUNT, derived("k_1", SHOWN), derived("k_1", ONE)
    ),
    "a branch where a value is derived": lambda: _changed(
        written(FIRST_COUNT, derived("k_1", SHOWN)),
        lambda d: evidence(d)["derivation"]["sequence"].__setitem__(
            1, {"branch": [{"sequence": []}, {"sequence": []}]}
        ),
    ),
    "another value that is derived": lambda: _changed(
        written(FIRST_COUNT, derived("k_1", SHOWN)), lambda d: _node(d, 1).update(derive="k_2")
    ),
    "a branch by a number": lambda: written(FIRST_COUNT, branch(SHOWN, [derived("k_1", ONE)])),
    "a partition by no column": lambda: written(partition("none", False, ("a", []))),
    "a piece twice": lambda: written(partition("site", True, *TWICE), more=("site",)),
    "pieces of a private column as public ones": lambda: written(partition("arm", True, *ARMS)),
    "pieces of another column": _of_pieces(column="left"),
    "private pieces, called public": _of_pieces(public=True),
    "pieces that read all rows": _of_pieces(confined=False),
    "a piece that costs what nobody knows": _costs_less_in_branches,
    "one release on both sides": lambda: written(
        FIRST_COUNT,
        branch(expr("gt", SHOWN, ONE), *[[noisy(counted(ILL), "1", "laplace_2")]] * 2),
        epsilon="2",
    ),
    "a release here and a value there": lambda: written(
        FIRST_COUNT,
        branch(
            expr("gt", SHOWN, ONE), [noisy(counted(ILL), "1", "laplace_2")],
            [derived("laplace_2", ONE)],
        ),
        epsilon="2",
    ),
    "the number of records, derived": lambda: written(FIRST_COUNT, derived("db.size", ONE)),
    "a parameter, derived": lambda: written(
        FIRST_COUNT, derived("k", ONE),
        parameters=[
            ["k", {"kind": "int", "low": {"number": "1"}, "high": {"number": "9"}, "labels": [],
                   "public": True}, {"number": "2"}]
        ],
    ),
    "deltas of 1 together": lambda: written(
        *(gaussian(counted(ILL), "1/2", f"gaussian_{i}") for i in range(2)),
        epsilon="2", delta="1",
    ),
}  # fmt: skip
"""Commands that add up otherwise."""

# -- the certificate -------------------------------------------------------------------------------


def _claimed(change: Callable[[Document], object], *steps: Any) -> Lie:
    """Another claim, in both places."""
    return lambda: _changed(
        written(*(steps or (FIRST_COUNT,))),
        lambda d: [change(claim) for claim in (d["claim"], d["derivation"]["conclusion"])],
    )


def _of_private_size() -> Document:
    document = entering(written(noisy(counted(ILL))))
    evidence(document)["n"] = 20
    document["assumptions"].insert(1, "the table has exactly 20 records")
    return sealed(document)


CLIPPED = noisy(total(VISITS), "9", kind="lipschitz", column="visits", interval=["0", "9"])
DOCUMENTS: dict[str, Lie] = {
    "a conclusion that is dearer than the claim": lambda: _changed(
        written(FIRST_COUNT),
        lambda d: d["derivation"]["conclusion"].update(
            epsilon=2.0, exact={"epsilon": "2", "delta": "0"}
        ),
    ),
    "no number of records": lambda: written(
        FIRST_COUNT, requires=[expr("ge", SIZE, number_of("5")), expr("le", SIZE, THREE)]
    ),
    "a private number of records, fixed": _of_private_size,
    "a precondition that is a number": lambda: written(
        FIRST_COUNT, requires=[expr("add", SIZE, ONE)]
    ),
    "a precondition that has no value": lambda: written(
        FIRST_COUNT, n=8,
        requires=[expr("ge", expr("div", ONE, expr("sub", SIZE, number_of("8"))), number_of("0"))],
    ),
    "a double above the exact number": _claimed(lambda claim: claim.update(epsilon=1.0000001)),
    "any kind, of a column": _claimed(lambda claim: claim.update(column="visits")),
    "another column": _claimed(
        lambda claim: claim.update(kind="lipschitz", column="score", interval=["0", "9"]), CLIPPED
    ),
    "a narrower interval": _claimed(
        lambda claim: claim.update(kind="lipschitz", column="visits", interval=["0", "8"]), CLIPPED
    ),
}  # fmt: skip
"""What the document says of itself."""

# -- solvers ---------------------------------------------------------------------------------------


def _fold(change: Callable[[Document], object], name: str = "doses") -> Lie:
    return lambda: _changed(folded(name), change)


def _step(document: Document) -> Expression:
    step: Expression = release_of(document, 0)["args"][0][1]
    return step


def _asked(change: Callable[[str], str]) -> Lie:
    """What solvers were asked in other words."""
    return _fold(
        lambda d: [item.update(text=change(item["text"])) for item in evidence(d)["obligations"]]
    )


def _over_itself(document: Document) -> None:
    """Each dose divided by the dose of a column that may be 0, also where solvers were asked."""
    _step(document)[1][1][1] = expr("div", field("dose"), field("dose"))
    column(document, "dose").update(low={"number": "0"})
    for item in evidence(document)["obligations"]:
        text = item["text"]
        for name in ("v2", "v3"):
            text = text.replace(f"(/ 1.0 2.0)) {name})", f"(/ 1.0 2.0)) (/ {name} {name}))")
            text = text.replace(f"(assert (>= {name} 1.0))", f"(assert (>= {name} 0.0))")
        item["text"] = text


def _moves_below_0(document: Document) -> None:
    moved = evidence(document)["obligations"][1]
    words = moved["what"].rpartition(" ")
    moved.update(
        what=f"{words[0]} -{words[2]}",
        text=moved["text"].replace(" 3.0))", " (- 3.0)))"),
    )


SOLVED: dict[str, Lie] = {
    "a fold of rows that can't be read": _fold(
        lambda d: _step(d)[0][1].__setitem__(1, expr("acc"))
    ),
    "a step that is a label": _fold(lambda d: _step(d).__setitem__(1, TEXT)),
    "a step over what may be 0": _fold(_over_itself),
    "labels in another order": _fold(
        lambda d: column(d, "then").update(labels=["v", "u"]), "changes"
    ),
    "a fold of a piece": _fold(lambda d: _step(d)[0].__setitem__(2, [[["region", "n"]]])),
    "a fold where records enter": lambda: entering(folded("changes")),
    "a name of two kinds": _asked(
        lambda text: text.replace("(declare-const v1 Real)", "(declare-const v1 Real Real)")
    ),
    "a name twice": _asked(lambda text: f"(declare-const v1 Real)\n{text}"),
    "an assumption in the place of an assertion": _asked(
        lambda text: text.replace("(assert (<= v2", "(assume (<= v2")
    ),
    "brackets by the hundred": _asked(lambda text: f"{text}\n(assert {'(' * 450}x{')' * 451}"),
    "a bracket that is open": _asked(lambda text: f"{text}\n("),
    "a move below 0": _fold(_moves_below_0),
}  # fmt: skip
"""Folds, and what solvers were asked of them."""

LIES: dict[str, Lie] = {**PLACES, **MOVES, **COMMANDS, **DOCUMENTS, **SOLVED}
"""Each lie, and the certificate that tells it."""
