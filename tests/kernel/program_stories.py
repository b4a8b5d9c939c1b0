"""Forged releases of programs: arguments, labels and costs that the program's derivation denies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.kernel.test_forgeries import composed, renewed
from tests.kernel.test_keys import plain
from tests.release import program_studies
from tests.release.program_studies import asks

Document = dict[str, Any]
Change = Callable[[Document], object]
TEXT = """

@program
def chosen(
    people: Database[Person],
    *,
    tall: Public[Bool] = True,
    side: Public[Category["north", "south"]] = "north",
    times: Public[Int[1, 9]] = 2,
) -> Private[Int]:
    return laplace(sum(times if p.smokes else 0 for p in people), epsilon=1 / 4)


@program
def regions(people: Database[Person]) -> Private[Vector]:
    return laplace(sum(onehot(p.region) for p in people if p.smokes), epsilon=1 / 4)
"""


@cache
def _text() -> str:
    given = {"tall": False, "side": "south", "times": 3}
    study = program_studies.study(
        Path(mkdtemp(prefix="bayesdp-programs-")),
        asks("chosen", parameters=given),
        asks("regions"),
        text=program_studies.PEOPLE + TEXT,
    )
    return json.dumps(plain(study.release().certificate))


def honest() -> Document:
    """The certificate of a program with arguments, and of another one that releases a table."""
    document: Document = json.loads(_text())
    return document


def _argument(name: str, value: object) -> Change:
    def change(document: Document) -> None:
        composed(document)["premises"][0]["evidence"]["query"]["parameters"][name] = value

    return change


def _cells(*labels: str) -> Change:
    def change(document: Document) -> None:
        (output,) = document["results"][1]["outputs"]
        output["cells"] = list(labels)

    return change


FORGED: dict[str, Change] = {
    "an argument that is true and not false": _argument("tall", True),
    "a truth value that is a number": _argument("tall", 0),
    "another label": _argument("side", "north"),
    "a number that is a text": _argument("times", "3"),
    "a number that is a truth value": _argument("times", True),
    "another number": _argument("times", 2),
    "cells that are exchanged": _cells("south", "north"),
    "cells of other labels": _cells("east", "west"),
    "a cell too few": _cells("north"),
}
"""What a certificate says of a program that was run otherwise."""


def forged() -> Iterator[Document]:
    """The forgeries."""
    for change in FORGED.values():
        document = honest()
        change(document)
        yield renewed(document)
