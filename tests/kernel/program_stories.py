"""Forged releases of programs: arguments, labels and costs that the program's derivation denies."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from bayesdp.kernel.releases.program_queries import gaussian_assumptions, remaining
from tests.kernel import construct_releases
from tests.kernel.all_kinds import certificate
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


@record
class Placed:
    smokes: Bool
    region: Public[Category["north", "south"]]
    home: Public[Int[1, 9]]


@program
def moved(people: Database[Placed]) -> Private[Vector]:
    return laplace(transition_counts(people.smokes, order="home", by="region"), epsilon=1 / 4)
"""


@cache
def _text() -> str:
    given = {"tall": False, "side": "south", "times": 3}
    study = program_studies.study(
        Path(mkdtemp(prefix="bayesdp-programs-")),
        asks("chosen", parameters=given),
        asks("regions"),
        asks("moved"),
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


def _cells(*labels: str, result: int = 1) -> Change:
    def change(document: Document) -> None:
        (output,) = document["results"][result]["outputs"]
        output["cells"] = list(labels)

    return change


def _half_a_transition(document: Document) -> None:
    result = document["results"][2]
    (output,) = result["outputs"]
    output["value"][0] += 0.5
    (name,) = result["releases"]
    result["releases"][name][0] += 0.5


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
    "transitions the other way round": _cells(
        "False -> False", "True -> False", "False -> True", "True -> True", result=2
    ),
    "transitions of states alone": _cells("False", "True", result=2),
    "half a transition": _half_a_transition,
}
"""What a certificate says of a program that was run otherwise."""


# -- programs alone ------------------------------------------------------------------------------


ALONE = """@record
class Person:
    height: Real[100, 230]
    smokes: Bool
    region: Public[Category["north", "south"]]
    visits: Int[0, 9]


@program
def northern(people: Database[Person]) -> Private[Int]:
    return laplace(count(p for p in people if p.region == "north" and p.smokes), epsilon=1 / 4)


@program
def visits(people: Database[Person]) -> Private[Int]:
    return laplace(sum(p.visits for p in people), epsilon=1 / 4)


@program
def answers(people: Database[Person]) -> Private[Int]:
    noisy = randomized_response((p.smokes for p in people), epsilon=1 / 8)
    return laplace(count(p for p in people if p.smokes), epsilon=1 / 8)


@program
def steady(people: Database[Person]) -> Private[Int]:
    return gaussian(count(p for p in people if p.smokes), epsilon=1, delta=1e-4, sigma=8)


@program
def quiet(people: Database[Person]) -> Private[Int]:
    return gaussian(count(p for p in people if p.smokes), epsilon=1 / 2, delta=1e-7)


@program
def quieter(people: Database[Person]) -> Private[Int]:
    return gaussian(count(p for p in people if p.smokes), epsilon=1 / 4, delta=1e-7)


@program
def added(people: Database[Person]) -> Private[Int]:
    smoking = count(p for p in people if p.smokes)
    return gaussian(smoking + sum(p.visits for p in people), epsilon=1 / 4, delta=1e-7)


@program
def pieces(people: Database[Person]) -> Private[Int]:
    for piece in partition(people, by="region"):
        first = gaussian(count(p for p in piece if p.smokes), epsilon=1 / 4, delta=1e-7)
    return 1
"""


@cache
def _alone(name: str) -> str:
    study = program_studies.study(
        Path(mkdtemp(prefix="bayesdp-programs-")),
        asks(name),
        text=ALONE,
        table=program_studies.TABLE | {"visits": list(range(1, 9))},
        columns=program_studies.changed(visits={"bounds": [0, 9]}),
        population=program_studies.POPULATION | {"covers": ["height", "smokes", "visits"]},
        budget={"epsilon": 9.0, "delta": 1e-6},
    )
    return json.dumps(plain(study.release().certificate))


def alone(name: str) -> Document:
    """The honest certificate of one of these programs."""
    document: Document = json.loads(_alone(name))
    return document


GROUPED = """@record
class Visit:
    height: Real[100, 230]
    smokes: Bool
    region: Public[Category["north", "south"]]


@program
def often(visits: Database[Visit]) -> Private[Int]:
    people = group_by(visits, by="person", most=2)
    return laplace(count(p for p in people if p.region == "north" and
        any(v.smokes for v in p)), epsilon=1 / 4)
"""


@cache
def _grouped() -> str:
    study = program_studies.study(
        Path(mkdtemp(prefix="bayesdp-programs-")),
        asks("often"),
        text=GROUPED,
        table=program_studies.TABLE
        | {"person": [1, 2, 1, 2, 3, 4, 3, 4], "region": ["north", "south"] * 4},
        columns=program_studies.changed(home=None, person={"public": True}),
        population={"model": "independent", "covers": ["height", "smokes"], "source": "made up"},
        n=4,
        unit="person",
        rows_per_unit=2,
    )
    return json.dumps(plain(study.release().certificate))


def grouped() -> Document:
    """The honest certificate of a program about persons with several rows."""
    document: Document = json.loads(_grouped())
    return document


def _other_persons(change: Change) -> Change:
    """Another program, and what its cost rests on then."""

    def changed(document: Document) -> None:
        (own,) = _asked(document)["premises"]
        change(own["evidence"]["program"])
        with suppress(Exception):
            document["programs"][0]["assuming"] = remaining(own)

    return changed


FORGED_GROUPED: tuple[Change, ...] = (
    _other_persons(lambda program: program.pop("persons")),
    _other_persons(lambda program: program["persons"].update(by="region")),
    _other_persons(lambda program: dict(program["persons"]["rows"])["smokes"].update(public=True)),
    _other_persons(lambda program: program["persons"]["folds"].pop()),
    _other_persons(
        lambda program: dict(program["persons"]["rows"])["smokes"].update(
            kind="category", labels=["yes", "no"]
        )
    ),
    lambda document: document.update(unit="region"),
    lambda document: document.update(rows_per_unit=1),
    lambda document: _asked(document)["evidence"]["fields"].pop("smokes"),
    lambda document: _asked(document)["evidence"]["fields"].update(height="height"),
    lambda document: _spend(document).update(reads=["height"]),
    lambda document: _spend(document).update(unit="row"),
)
"""What is said of another record than a person with several rows."""


def _asked(document: Document) -> Document:
    """The step of the first program."""
    step: Document = composed(document)["premises"][0]
    return step


def _spend(document: Document) -> Document:
    spend: Document = _asked(document)["evidence"]["spends"][0]
    return spend


def _instead(node: Any, old: float, new: float) -> None:
    """One number for another, wherever it stands."""
    for key, part in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(part, dict | list):
            _instead(part, old, new)
        elif isinstance(part, float) and part == old:
            node[key] = new


def _cheaper(document: Document) -> None:
    """Every cost and level is lower, but that of the program's own derivation."""
    own = copy.deepcopy(_asked(document)["premises"])
    _instead(document, 0.25, 0.2)
    _instead(document, 0.5, 0.4)
    _asked(document)["premises"] = own


def _less_sigma(document: Document) -> None:
    step, eight = _asked(document), '"sigma": ["const", [], [{"number": "8"}]]'
    text = json.dumps(step["premises"])
    assert eight in text
    step["premises"] = json.loads(text.replace(eight, eight.replace("8", "4")))


def _louder(document: Document) -> None:
    """The noise that a smaller epsilon asks for, and the program that asks for a larger one."""
    _asked(document)["premises"] = _asked(alone("quiet"))["premises"]
    _asked(document)["evidence"]["query"]["program"] = "people.py:quiet"
    document["programs"][0]["program"] = "people.py:quiet"


def _a_little_louder(document: Document) -> None:
    """By less than an analysis in zCDP leaves open: one number needs less than that."""
    evidence = _asked(document)["evidence"]
    ((name, stated),) = evidence["gaussian"].items()
    rho = Fraction(stated) * Fraction(93, 100)
    evidence["gaussian"][name] = str(rho)
    _instead(document, evidence["spends"][0]["rho"], float(rho) * (1 + 1e-15))
    described = document["programs"][0]
    assuming = [words for words in described["assuming"] if "a variance of" not in words]
    described["assuming"] = [*assuming, *gaussian_assumptions({name: rho})]


def _of_homes(document: Document) -> None:
    """Everything is about homes of two rows, but the program, whose cost is that of one row."""
    _instead_of("unit", "row", "home", document)
    document["rows_per_unit"] = 2


def _instead_of(key: str, old: str, new: str, node: Any) -> None:
    """One text for another, wherever it stands under this key."""
    for place, part in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(part, dict | list):
            _instead_of(key, old, new, part)
        elif place == key and part == old:
            node[place] = new


def _bounds(*bounds: float) -> Change:
    return lambda document: document["columns"]["visits"].update(bounds=list(bounds))


def _words(document: Document) -> None:
    document["columns"]["height"] = {"states": ["short", "tall"], "unit": "cm"}


def _covers(document: Document, *names: str) -> None:
    document["population"]["covers"] = list(names)
    for step in document["derivation"]["premises"]:
        step["evidence"]["covers"] = list(names)


def _protected_region(document: Document) -> None:
    del document["columns"]["region"]["public"]
    _covers(document, "height", "region", "smokes", "visits")
    _spend(document)["reads"] = ["region", "smokes"]


def _nothing_protected(document: Document) -> None:
    document["columns"]["smokes"]["public"] = True
    _covers(document, "height", "visits")
    _spend(document)["reads"] = []


def _one_enters(document: Document) -> None:
    """A cost for records that enter or leave, whose number is private."""
    (own,) = _asked(document)["premises"]
    own["evidence"]["n"] = None
    own["conclusion"]["adjacency"] = own["evidence"]["program"]["adjacency"] = "add-remove"
    described = document["programs"][0]
    described["assuming"] = [words for words in described["assuming"] if "exactly" not in words]


def _released(value: Any) -> Change:
    """What was released, and what is handed over of it."""

    def change(document: Document) -> None:
        (result,) = document["results"]
        (name,), (output,) = result["releases"], result["outputs"]
        result["releases"][name] = value
        kept = {key: part for key, part in output.items() if key not in ("value", "error")}
        said = value if isinstance(value, dict) else {"value": value}
        result["outputs"] = [kept | copy.deepcopy(said)]

    return change


def _no_answer(document: Document) -> None:
    """An answer that is none of the labels, which is not handed over."""
    releases = document["results"][0]["releases"]
    (noisy,) = (value for value in releases.values() if isinstance(value, dict))
    noisy["answers"][0] = 7


FORGED_ALONE: tuple[tuple[str, Change], ...] = (
    ("northern", _cheaper),
    ("northern", _protected_region),
    ("northern", _nothing_protected),
    ("northern", _one_enters),
    ("northern", lambda document: document.update(unit="home", rows_per_unit=1)),
    ("northern", _of_homes),
    ("northern", lambda document: _spend(document).update(column="smokes")),
    ("northern", _released(True)),
    ("northern", _released({"answers": [1.0], "labels": []})),
    ("visits", _bounds(0.0, 8.5)),
    ("visits", _bounds(10.0, 18.0)),
    ("visits", lambda document: _asked(document)["evidence"]["fields"].update(region="region")),
    ("answers", _no_answer),
    ("steady", _less_sigma),
    ("quieter", _louder),
    ("quieter", lambda document: _asked(document)["evidence"]["gaussian"].update(another="0")),
    ("added", _a_little_louder),
)


def valid() -> Iterator[Document]:
    """The honest certificates."""
    yield honest()
    for name in ("northern", "visits", "answers", "steady", "quieter", "added", "pieces"):
        yield alone(name)
    yield grouped()
    yield construct_releases.honest()


def forged() -> Iterator[Document]:
    """The forgeries."""
    for change in FORGED.values():
        document = honest()
        change(document)
        yield renewed(document)
    for name, change in FORGED_ALONE:
        document = alone(name)
        change(document)
        assert document != alone(name), name
        yield renewed(document)
    for change in FORGED_GROUPED:
        document = grouped()
        change(document)
        assert document != grouped()
        yield renewed(document)
    yield from construct_releases.forged()
    words = certificate("program release")
    _words(words)
    yield renewed(words)
