"""Releases of programs with the newest constructs: the study's side of their certificates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

from bayesdp.kernel.releases.program_queries import remaining
from bayesdp.release import Study
from tests.kernel import construct_stories
from tests.kernel.test_forgeries import composed, renewed
from tests.kernel.test_keys import plain
from tests.release.program_studies import asks

Document = dict[str, Any]
Change = Callable[[Document], object]
ASKED = {
    "compared": "compared",
    "mean": "perturbed mean",
    "rate": "perturbed rate",
    "line": "perturbed line",
    "shares": "candidates",
    "chain": "chain",
    "likeliest": "likeliest",
}
"""The programs that are asked, by the names of their texts."""
LIKELIEST = """
@program
def likeliest(people: Database[Person]) -> Private[tuple[Category["a", "b", "c"], Vector]]:
    arm = exponential(score=lambda c: count(p for p in people if p.arm == c),
        candidates=("a", "b", "c"), epsilon=1)
    return arm, randomized_response((p.ill for p in people), epsilon=1)
"""
TABLE = pd.DataFrame(
    {
        "score": [1.5, 6.0, 2.25, 9.0, 8.0, 5.5, 0.0, 6.0],
        "visits": [0, 2, 9, 4, 1, 1, 3, 5],
        "ill": [True, False, False, True, False, False, True, False],
        "arm": list("abcabcaa"),
        "month": range(1, 9),
    }
)
COLUMNS: Document = {
    "score": {"bounds": [0, 10], "unit": "cm"},
    "visits": {"bounds": [0, 9]},
    "ill": {"states": [False, True]},
    "arm": {"states": ["a", "b", "c"]},
    "month": {"public": True},
}
PRIVATE = ["arm", "ill", "score", "visits"]


@cache
def _text() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-constructs-"))
    texts = construct_stories.CONSTRUCTS | {"likeliest": LIKELIEST}
    file = folder / "people.py"
    body = "\n".join(texts[name] for name in ASKED.values())
    file.write_text(construct_stories.HEAD + construct_stories.RECORD + body, encoding="utf-8")
    queries = [asks(name) | {"program": f"{file}:{name}"} for name in ASKED]
    study = Study(
        TABLE,
        dataset="people",
        n=8,
        columns=COLUMNS,
        population={"model": "independent", "covers": PRIVATE, "source": "made up"},
        budget={"epsilon": 20.0},
        queries=queries,
        ledger=str(folder / "ledger.db"),
    )
    return json.dumps(plain(study.release().certificate))


def honest() -> Document:
    """The certificate of one release of all of them."""
    document: Document = json.loads(_text())
    return document


# -- lies ------------------------------------------------------------------------------------------


def _result(name: str) -> Callable[[Document], Document]:
    place = list(ASKED).index(name)
    return lambda document: document["results"][place]


def _step(name: str) -> Callable[[Document], Document]:
    place = list(ASKED).index(name)
    return lambda document: composed(document)["premises"][place]


def _release_of(name: str, value: Any) -> Change:
    """Another value of the last release of a program."""

    def change(document: Document) -> None:
        releases = _result(name)(document)["releases"]
        releases[list(releases)[-1]] = value

    return change


def _output(name: str, **keys: Any) -> Change:
    return lambda document: _result(name)(document)["outputs"][0].update(keys)


def _instead(name: str, **keys: Any) -> Change:
    """An output of another form."""

    def change(document: Document) -> None:
        outputs = _result(name)(document)["outputs"]
        kept = {key: part for key, part in outputs[0].items() if key in ("type", "name")}
        outputs[0] = kept | keys

    return change


def _cheaper(name: str) -> Change:
    """A lower cost of one program, wherever it stands but in the program's own derivation."""

    def change(document: Document) -> None:
        step = _step(name)(document)
        step["evidence"]["spends"][0]["dp_epsilon"] = step["conclusion"]["epsilon"] = 0.5
        _result(name)(document)["dp_epsilon"] = 0.5

    return change


def _column(name: str, **keys: Any) -> Change:
    return lambda document: document["columns"].update({name: keys})


def _concludes_less(document: Document) -> None:
    """Than is spent: by the step of one program, and by its result."""
    _step("compared")(document)["conclusion"]["epsilon"] = 0.5
    _result("compared")(document)["dp_epsilon"] = 0.5


def _of_more_records(document: Document) -> None:
    """The cost of tables of ten records and more, for one of eight."""
    (own,) = _step("compared")(document)["premises"]
    ten = ["const", [], [{"number": "10"}]]
    own["evidence"]["n"] = None
    own["evidence"]["program"]["requires"] = [["ge", [["public", [], ["db.size"]], ten], []]]
    document["programs"][0]["assuming"] = remaining(own)


def _of_other_numbers_of_records(document: Document) -> None:
    """The cost of all tables but those of eight records, for one of eight."""
    (own,) = _step("compared")(document)["premises"]
    eight = ["const", [], [{"number": "8"}]]
    own["evidence"]["n"] = None
    own["evidence"]["program"]["requires"] = [["ne", [["public", [], ["db.size"]], eight], []]]
    document["programs"][0]["assuming"] = remaining(own)


def _another_name(document: Document) -> None:
    query = _step("compared")(document)["evidence"]["query"]
    query["program"] = document["programs"][0]["program"] = "people.py:chain"


def _failed_otherwise(document: Document) -> None:
    """A program that failed, and hands over what it did not release."""
    stated = _result("compared")(document)
    ((name, value),) = stated["releases"].items()
    words = "The rest of the program failed (X). What it released until then has been paid for, "
    stated["outputs"] = [
        {"type": "released", "value": value + 1, "name": f"compared, {name}"},
        {"type": "failure", "value": f"{words}and is kept."},
    ]


A_GAMMA = {"family": "gamma", "mean": 3.0, "sd": 0.5, "interval95": [2.0, 4.0]}
FORGED: dict[str, Change] = {
    "a posterior where records answered": _release_of("rate", A_GAMMA),
    "a number where records answered": _release_of("rate", 5.0),
    "answers where counts had noise": _release_of("compared", {"answers": [1.0], "labels": []}),
    "answers where a law was chosen": _release_of("shares", {"answers": [1.0], "labels": []}),
    "a vector that is a number": _instead("compared", value=0.5),
    "a law of shares that is a number": _instead("shares", value=0.5),
    "a law of shares that is a rate's": _output("shares", family="gamma"),
    "a law of shares that was not chosen": _output("shares", parameters=[4.0, 6.0, 2.0]),
    "a law that is announced otherwise": _output("shares", type="Samples"),
    "a rate that is a share": _output("rate", family="beta"),
    "a line that is a vector": _instead("line", value=[1.0, 2.0]),
    "cells of a vector that nobody counted": _output("compared", cells=["a", "b", "c"]),
    "a label that is a number": _output("likeliest", value=1),
    "an error of a label": _output("likeliest", error={"confidence": 0.95, "value": 0.0}),
    "a result of another query": lambda document: _result("compared")(document).update(query="x"),
    "a release that is missing": lambda document: _result("compared")(document).update(releases={}),
    "a failure with another number": _failed_otherwise,
    "a conclusion for less": _concludes_less,
    "tables of more records": _of_more_records,
    "all other tables": _of_other_numbers_of_records,
    "the cost of another program": _another_name,
    "hypotheses for less": _cheaper("compared"),
    "answers for less": _cheaper("mean"),
    "a law of shares for less": _cheaper("shares"),
    "a chain for less": _cheaper("chain"),
    "a chain that reads the answers of others": lambda document: _step("chain")(document)[
        "evidence"
    ]["spends"][0].update(reads=["ill"]),
    "an order that is protected": lambda document: document["columns"]["month"].pop("public"),
    "a line of one column": lambda document: _step("line")(document)["evidence"]["fields"].pop(
        "visits"
    ),
    "truth values that are not": _column("ill", states=[0, 2]),
    "labels that are not the program's": _column("arm", states=["a", "b", "d"]),
    "halves where visits are counted": _column("visits", states=[0.5, 1.5]),
    "scores between other bounds": _column("score", bounds=[11, 12], unit="cm"),
}
"""What is said of a program that was run otherwise."""


def forged() -> Iterator[Document]:
    """All of the lies."""
    for name, change in FORGED.items():
        document = honest()
        change(document)
        assert document != honest(), name
        yield renewed(document)
