"""Certificates of small programs, written command by command: what `rule_lies` changes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from tests.kernel.construct_stories import certified, honest
from tests.kernel.mutations import sealed
from tests.kernel.program_lies import claimed, evidence, number_of, program_of

Document = dict[str, Any]
Expression = list[Any]
YES: Expression = ["const", [], [True]]
TEXT: Expression = ["const", [], ["a"]]
SIZE: Expression = ["public", [], ["db.size"]]
HOLD = (
    "the preconditions of the program hold: they are checked before anything is released, and "
    "nothing is said of other tables"
)
"""What a certificate rests on where there are preconditions."""


def field(name: str) -> Expression:
    """A column of the row."""
    return ["field", [], [name]]


def public(name: str) -> Expression:
    """A value that was released."""
    return ["public", [], [name]]


def expr(op: str, *args: Expression, data: Sequence[Any] = ()) -> Expression:
    """An operation on these arguments."""
    return [op, list(args), list(data)]


def rows(value: Expression, kept: Expression = YES, pieces: Sequence[Any] = ()) -> Expression:
    """The value of each row that is kept, in these pieces."""
    return ["data", [kept, value], [list(pieces)]]


def total(value: Expression, kept: Expression = YES, pieces: Sequence[Any] = ()) -> Expression:
    """The sum of a value of the rows that are kept."""
    return expr("sum", rows(value, kept, pieces))


def counted(
    kept: Expression = YES, value: Expression | None = None, pieces: Sequence[Any] = ()
) -> Expression:
    """How many rows are kept, whatever value of theirs is named."""
    return expr("count", rows(number_of("1") if value is None else value, kept, pieces))


def column(kind: str, low: str, high: str, *labels: str, shared: bool = False) -> Document:
    """The type of a column."""
    ends = {"low": {"number": low}, "high": {"number": high}}
    return {"kind": kind, **ends, "labels": list(labels), "public": shared}


COLUMNS: dict[str, Document] = {
    "score": column("real", "0", "10"),
    "visits": column("int", "0", "9"),
    "ill": column("bool", "0", "1"),
    "arm": column("category", "0", "2", "a", "b", "c"),
    "month": column("int", "1", "12", shared=True),
}
"""The columns of a record; those of `MORE` stand in it where they are asked for."""
MORE: dict[str, Document] = {
    "site": column("category", "0", "1", "n", "s", shared=True),
    "left": column("category", "0", "1", "a", "a|b"),
    "right": column("category", "0", "1", "b|c", "c"),
}
ILL = field("ill")
VISITS = field("visits")
OF_THE_ILL = total(field("score"), ILL)
"""A sum that moves by 10, of a filter: its kind is `any`."""

Step = tuple[Document, Document]
"""A command, and its node in the derivation."""


def noisy(
    value: Expression, moved: str | Expression = "1", name: str = "laplace_1", **node: Any
) -> Step:
    """Laplace noise for a move of `moved`; `node` has what its node states otherwise."""
    command = {
        "release": name, "op": "laplace", "args": [value], "options": {"epsilon": number_of("1")}
    }  # fmt: skip
    stated = {
        "release": name, "rule": "laplace", "epsilon": "1", "delta": "0",
        "sensitivity": {
            "norm": "l1", "by": "sum of box",
            "value": number_of(moved) if isinstance(moved, str) else moved,
        },
        "entering": None, "kind": "any", "column": None, "interval": None,
    }  # fmt: skip
    return command, stated | node


def gaussian(value: Expression, delta: str, name: str) -> Step:
    """Gaussian noise for a move of 1."""
    command, node = noisy(value, "1", name, delta=delta)
    command["op"] = node["rule"] = "gaussian"
    command["options"]["delta"] = number_of(delta)
    node["sensitivity"]["norm"] = "l2"
    return command, node


def derived(name: str, value: Expression) -> Step:
    """A value that is made of released ones."""
    return {"derive": name, "value": value}, {"derive": name}


def branch(test: Expression, then: Sequence[Step], otherwise: Sequence[Step] = ()) -> Step:
    """One of two lists of commands."""
    command = {"if": test, "then": [c for c, _ in then], "else": [c for c, _ in otherwise]}
    sides = ([node for _, node in then], [node for _, node in otherwise])
    return command, {"branch": [{"sequence": side} for side in sides]}


def partition(by: str, shared: bool, *parts: tuple[str, Sequence[Step]]) -> Step:
    """A list of commands for each label."""
    command = {
        "parts": by,
        "public": shared,
        "of": [[k, [c for c, _ in part]] for k, part in parts],
    }
    nodes = [{"sequence": [node for _, node in part]} for _, part in parts]
    stated = {"column": by, "public": shared, "confined": True, "of": nodes}
    return command, {"parts": stated}


def written(
    *steps: Step,
    epsilon: str = "1",
    delta: str = "0",
    more: Sequence[str] = (),
    n: int | None = None,
    requires: Sequence[Expression] = (),
    **parts: Any,
) -> Document:
    """The certificate of a program of these commands, which returns nothing.

    `epsilon` and `delta` are claimed, `more` are columns of `MORE`, `parts` are parts of the
    program besides.
    """
    document = honest("near")
    columns = COLUMNS | {name: MORE[name] for name in more}
    program_of(document).update(
        copy.deepcopy(
            {
                "record": [[name, kind] for name, kind in columns.items()],
                "body": [command for command, _ in steps],
                "requires": list(requires), "returns": [], "return_types": [], **parts,
            }
        )
    )  # fmt: skip
    evidence(document).update(
        n=n, derivation=copy.deepcopy({"sequence": [node for _, node in steps]})
    )
    said = document["assumptions"]
    shared = ", ".join(name for name, kind in columns.items() if kind["public"])
    said[1] = f"not protected, because declared public: {shared}"
    if n is not None:
        said.insert(2, f"the table has exactly {n} records")
    elif requires:
        said.insert(2, HOLD)
    claimed(document, epsilon=epsilon, delta=delta)
    return sealed(document)


def entering(document: Document) -> Document:
    """The same where a record enters or leaves."""
    program_of(document)["adjacency"] = "add-remove"
    claimed(document, adjacency="add-remove")
    document["assumptions"] = [
        "adjacency is: one record enters or leaves; the number of records is private",
        *(said for said in document["assumptions"][1:] if not said.startswith("not protected")),
    ]
    return sealed(document)


# -- folds -----------------------------------------------------------------------------------------

FOLDS = """
@record
class Person:
    dose: Real[1, 4]
    first: Category["u", "v"]
    then: Category["u", "v"]
    region: Public[Category["n", "s"]]

@helper
def halved(so_far, row):
    return so_far * 0.5 + row.dose

@helper
def changed(so_far, row):
    return so_far * 0.5 + (1 if row.first == row.then else 0)

@program
def doses(people: Database[Person]) -> Private[Real]:
    require(people.size >= 2)
    return laplace(fold(people, 0, halved), epsilon=1)

@program
def changes(people: Database[Person]) -> Private[Real]:
    return laplace(fold(people, 0, changed), epsilon=1)
"""


@cache
def _folds() -> dict[str, str]:
    return {name: certified(FOLDS, name) for name in ("doses", "changes")}


def folded(name: str) -> Document:
    """The certificate of a fold: of `doses`, with a precondition, or of `changes` of labels."""
    document: Document = json.loads(_folds()[name])
    return document


def valid() -> Iterator[Document]:
    """Certificates that are right, and need what a check would lose."""
    yield from map(folded, ("doses", "changes"))
    yield written(noisy(OF_THE_ILL, "10"))
    yield written(noisy(total(VISITS), "9", kind="lipschitz", column="visits", interval=["0", "9"]))
    factor = derived("k_1", number_of("2")), derived("k_1", number_of("3"))
    yield written(
        noisy(counted(ILL)),
        branch(expr("gt", public("laplace_1"), number_of("1")), factor[:1], factor[1:]),
        noisy(expr("mul", counted(ILL), public("k_1")), "3", "laplace_2"),
        epsilon="2",
    )
    held = expr("clip", public("laplace_1"), number_of("0"), SIZE)
    yield written(
        noisy(counted(ILL)),
        derived("k_1", expr("log", expr("add", number_of("1"), expr("sub", SIZE, held)))),
        derived("k_2", expr("exp", expr("max", expr("sub", held, SIZE), number_of("-5")))),
    )
    two = expr("clip", public("laplace_1"), number_of("0"), number_of("2"))
    yield written(
        noisy(counted(ILL)),
        noisy(
            total(
                expr(
                    "add",
                    expr("if", ILL, two, number_of("0")),
                    expr("if", expr("not", ILL), two, number_of("0")),
                )
            ),
            "2",
            "laplace_2",
        ),
        epsilon="2",
    )
    arms = expr("onehot", field("arm"), data=[{"number": "3"}])
    second = expr("item", public("laplace_1"), data=[{"number": "1"}])
    held = expr("clip", second, number_of("0"), number_of("3"))
    yield written(
        noisy(total(arms), "2"),
        noisy(expr("mul", counted(ILL), held), "3", "laplace_2"),
        epsilon="2",
    )
