"""Types, parameters and deltas in a program's certificate: anything unexpected is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.errors import BayesdpError
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import plain
from bayesdp.programs.source import core_of, read_text
from tests.kernel.program_lies import lied, program_of
from tests.kernel.program_texts import HEAD

TYPED = """
@record
class Person:
    age: Int[0, 100]
    smokes: Bool
    arm: Category["a", "b", "c"]

@program
def typed(people: Database[Person], *, level: Public[Real[0, 1]] = 0.5, top: Public[Int[1, 9]] = 3,
          arm: Public[Category["a", "b"]] = "a", yes: Public[Bool] = True) -> Private[Real]:
    return laplace(count(p for p in people if p.smokes and p.arm == arm and p.age > top),
        epsilon=level)
"""
NUMBERS: list[Any] = [None, {"number": "2"}, {"number": "-1"}, "0", True, 0]


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    program = core_of(read_text(HEAD + TYPED, "typed"), None, {})
    read_back: dict[str, Any] = json.loads(program_certificate(program, check(program)).to_json())
    assert kernel.check(read_back).verdict == "VALID ASSUMING"
    return read_back


def column(document: dict[str, Any], name: str) -> dict[str, Any]:
    actual: dict[str, Any] = dict(program_of(document)["record"])[name]
    return actual


@pytest.mark.parametrize("raw", [*NUMBERS, {"number": "1/0"}, {"number": "０x1"}, "1/0", []])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("name", ["smokes", "arm", "age"])
def test_ends_that_are_none(honest: dict[str, Any], name: str, end: str, raw: Any) -> None:
    if name == "arm" and end == "high" and raw == {"number": "2"}:
        pytest.skip("that is the one")
    if name == "age" and isinstance(raw, dict) and raw["number"] in ("2", "-1"):
        pytest.skip("other bounds are another program")
    said = kernel.check(lied(honest, lambda d: column(d, name).update({end: raw})))
    assert said.verdict == "INVALID"
    assert said.step != "digest"


def parameter(document: dict[str, Any], place: int) -> list[Any]:
    actual: list[Any] = program_of(document)["parameters"][place]
    return actual


LEVEL, TOP, ARM, YES = range(4)
CHANGES: dict[str, Any] = {
    "the size": lambda d: parameter(d, LEVEL).__setitem__(0, "db.size"),
    "no name": lambda d: parameter(d, LEVEL).__setitem__(0, ""),
    "a name that hides": lambda d: parameter(d, LEVEL).__setitem__(0, "lev\u202eel"),
    "a name twice": lambda d: parameter(d, LEVEL).__setitem__(0, "top"),
    "above": lambda d: parameter(d, LEVEL).__setitem__(2, {"number": "3/2"}),
    "below": lambda d: parameter(d, TOP).__setitem__(2, {"number": "0"}),
    "no whole number": lambda d: parameter(d, TOP).__setitem__(2, {"number": "3/2"}),
    "a truth value": lambda d: parameter(d, TOP).__setitem__(2, True),
    "a text": lambda d: parameter(d, LEVEL).__setitem__(2, "1/2"),
    "another label": lambda d: parameter(d, ARM).__setitem__(2, "c"),
    "no label": lambda d: parameter(d, ARM).__setitem__(2, None),
    "a label for a truth value": lambda d: parameter(d, YES).__setitem__(2, "True"),
    "a number for a truth value": lambda d: parameter(d, YES).__setitem__(2, {"number": "1"}),
    "a private one": lambda d: parameter(d, YES)[1].update(public=False),
    "a part less": lambda d: parameter(d, YES).pop(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_parameters_that_are_none(honest: dict[str, Any], name: str) -> None:
    said = kernel.check(lied(honest, CHANGES[name]))
    assert said.verdict == "INVALID"
    assert said.step != "digest"


TWICE = """
@program{}
def twice(people: Database[Bool]) -> Private[tuple[Real, Real]]:
    one = gaussian(count(p for p in people if p), epsilon=1, delta=0.5)
    two = gaussian(count(p for p in people if p), epsilon=1, delta={})
    return one, two
"""


@pytest.mark.parametrize("options", ["", "(epsilon=2, delta=0.99)"])
@pytest.mark.parametrize("second", ["0.5", "0.6"])
def test_deltas_that_add_up_to_one_promise_nothing(options: str, second: str) -> None:
    program = core_of(read_text(HEAD + TWICE.format(options, second), "t"), None, {})
    verdict = check(program)
    assert (verdict.verdict, verdict.code) == ("REJECTED", "budget")
    if not options:
        assert "promises nothing" in verdict.reason


def test_the_kernel_adds_deltas_up_itself() -> None:
    program = core_of(read_text(HEAD + TWICE.format("", "0.49"), "t"), None, {})
    verdict = check(program)
    document = json.loads(program_certificate(program, verdict).to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"

    def raised(d: dict[str, Any]) -> None:
        more = core_of(read_text(HEAD + TWICE.format("", "0.5"), "t"), None, {})
        d["derivation"]["evidence"]["program"] = json.loads(json.dumps(plain(more)))
        d["derivation"]["evidence"]["derivation"]["sequence"][1]["delta"] = "1/2"
        for claim in (d["claim"], d["derivation"]["conclusion"]):
            claim["exact"]["delta"], claim["delta"] = "1", 1.0

    said = kernel.check(lied(document, raised))
    assert (said.verdict, said.step) == ("INVALID", "delta")


SAMPLED = """
from bayesdp.programs import normal
@program{options}
def sampled(db: Database[Int[0, 5]]) -> Private[Real]:
    model = observe(db, normal(sd=5), prior=normal(1, sd=1))
    return posterior_sample(model, grid=(0.5, 1, 2), log_likelihood=(-4, 0))
"""


@pytest.mark.parametrize(
    ("options", "verdict"), [("", "VALID ASSUMING"), ('(adjacency="add-remove")', "INVALID")]
)
def test_records_share_an_exposure_only_if_their_number_is_public(
    options: str, verdict: str
) -> None:
    """The same program with a poisson model in the place of the normal one."""
    program = core_of(read_text(HEAD + SAMPLED.format(options=options), "sampled"), None, {})
    honest: dict[str, Any] = json.loads(program_certificate(program, check(program)).to_json())
    assert kernel.check(honest).verdict == "VALID ASSUMING"

    def swapped(document: dict[str, Any]) -> None:
        model = program_of(document)["body"][0]["args"][0]
        assert [item[2] for item in model[1][1:]] == [["normal"], ["normal"]]
        model[1][1][2], model[1][2][2] = ["poisson"], ["gamma"]

    actual = kernel.check(lied(honest, swapped))
    assert actual.verdict == verdict
    assert actual.step != "digest"


@pytest.mark.parametrize("name", ["a\u202eb", "a\u200bb", "a\nb"])
def test_labels_and_names_are_shown_as_they_stand(honest: dict[str, Any], name: str) -> None:
    def of_a_column(document: dict[str, Any]) -> None:
        column(document, "arm")["labels"][0] = name

    def of_a_release(document: dict[str, Any]) -> None:
        program_of(document)["body"][0]["release"] = name

    def of_the_program(document: dict[str, Any]) -> None:
        program_of(document)["name"] = name

    for change in (of_a_column, of_a_release, of_the_program):
        said = kernel.check(lied(honest, change))
        assert (said.verdict, said.step) != ("INVALID", "digest")
        assert "shown" in said.reason or "hidden" in said.reason, said
    with pytest.raises(BayesdpError, match="visible letters"):
        core_of(read_text(HEAD + TYPED.replace('"c"', repr(name)), "typed"), None, {})
