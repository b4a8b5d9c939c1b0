"""What a certificate says of a program's arguments and answer is what the program says."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bayesdp import kernel
from tests.kernel.mutations import sealed
from tests.release.program_studies import PEOPLE, asks, study
from tests.release.test_program_certificates import of_program, step_of

MORE = """

@program
def chosen(people: Database[Person]) -> Private[tuple[Int, Int, Beta]]:
    first = laplace(count(p for p in people if p.smokes), epsilon=1 / 4)
    second = 0
    if first > 3:
        second = laplace(sum(p.smokes for p in people), epsilon=1 / 4)
    model = observe((p.smokes for p in people), bernoulli, prior=beta(1, 1))
    return first, second, noise_aware(laplace(statistics(model), epsilon=1 / 4))
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    budget = {"epsilon": 8.0, "delta": 1e-5}
    asked = asks("both", parameters={"level": 0.5})
    done = study(tmp_path_factory.mktemp("both"), asked, budget=budget).release()
    document: dict[str, Any] = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = study(tmp_path_factory.mktemp("chosen"), asks("chosen"), text=PEOPLE + MORE).release()
    document: dict[str, Any] = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


def with_change(document: dict[str, Any], change: Any) -> kernel.Verdict:
    changed = copy.deepcopy(document)
    change(changed)
    assert json.dumps(changed) != json.dumps(document)
    return kernel.check(sealed(changed))


def arguments(**given: Any) -> Any:
    return lambda d: step_of(d)["evidence"]["query"].update(parameters=given)


def renamed(document: dict[str, Any]) -> None:
    step_of(document)["evidence"]["query"]["program"] = "other.py:harmless"
    document["programs"][0]["program"] = "other.py:harmless"


def fixed(document: dict[str, Any], value: Any) -> None:
    of_program(document)["program"]["parameters"][0][2] = value


ARGUMENTS: dict[str, Any] = {
    "another value": arguments(level=0.25),
    "nearly the value": arguments(level=0.5000000000000001),
    "a text": arguments(level="0.5"),
    "a truth value": arguments(level=True),
    "a parameter that there isn't": arguments(level=0.5, x=1),
    "a list": lambda d: step_of(d)["evidence"]["query"].update(parameters=["level"]),
    "another program": renamed,
    "no file": lambda d: step_of(d)["evidence"]["query"].update(program="both"),
    "a value outside its type": lambda d: fixed(d, {"number": "1000"}),
    "a type that there isn't": lambda d: of_program(d)["program"].update(
        return_types=["public, no noise", "Int"]
    ),
}


@pytest.mark.parametrize("lie", ARGUMENTS)
def test_arguments(both: dict[str, Any], lie: str) -> None:
    assert with_change(both, ARGUMENTS[lie]).verdict == "INVALID"


def test_arguments_that_are_the_defaults_may_be_left_out(both: dict[str, Any]) -> None:
    def silent(document: dict[str, Any]) -> None:
        del step_of(document)["evidence"]["query"]["parameters"]

    assert with_change(both, silent).verdict == "VALID ASSUMING"


def result(document: dict[str, Any]) -> dict[str, Any]:
    actual: dict[str, Any] = document["results"][-1]
    return actual


def output(place: int, **more: Any) -> Any:
    return lambda d: result(d)["outputs"][place].update(more)


def both_places(document: dict[str, Any], value: Any) -> None:
    """The first release and the output that it is."""
    result(document)["releases"]["laplace_1"] = value
    result(document)["outputs"][0]["value"] = value


FAILED = (
    "The rest of the program failed (ValueError). What it released until then has been paid for, "
    "and is kept."
)


def failed(*before: Any, words: str = FAILED) -> Any:
    def change(document: dict[str, Any]) -> None:
        query, names = result(document)["query"], [*result(document)["releases"], "more", "yet"]
        released = [
            {"type": "released", "value": item, "name": f"{query}, {name}"}
            for name, item in zip(names, before, strict=False)
        ]
        result(document)["outputs"] = [*released, {"type": "failure", "value": words}]

    return change


ANSWERS: dict[str, Any] = {
    "a release more": lambda d: result(d)["releases"].update(nobody=1.0),
    "a release less": lambda d: result(d)["releases"].pop("laplace_1"),
    "no releases": lambda d: result(d).update(releases=[]),
    "half a count": lambda d: both_places(d, 3.5),
    "a count in words": lambda d: both_places(d, "three"),
    "a count that is true": lambda d: both_places(d, True),
    "a count that is a distribution": lambda d: both_places(d, {"family": "beta"}),
    "an output less": lambda d: result(d)["outputs"].pop(),
    "an output more": lambda d: result(d)["outputs"].append({"type": "Int", "value": 1}),
    "another type": output(0, type="Beta"),
    "another value": output(0, value=10**6),
    "a key that means nothing": output(0, checked=True),
    "a unit that is not a text": output(0, unit=1),
    "an error with more to it": output(0, error={"confidence": 0.95, "value": 0, "proved": True}),
    "a distribution with a value": output(2, value=3),
    "a name that turns": output(0, name="n\u202e"),
    "a unit of two lines": output(0, unit="cm\nnothing assumed"),
    "a cell that hides": output(0, cells=["a", "b\u200b"]),
    "a note of two lines": output(2, notes=["fine\nlevel 0"]),
    "a release that hides": lambda d: result(d)["releases"].update({"a\u200b": 1.0}),
    "a failure of two lines": lambda d: failed(*result(d)["releases"].values(), words="No.\nOK")(d),
    "outputs that are not list": lambda d: result(d).update(outputs={}),
    "a failure without the releases": failed(),
    "a failure with others": failed(1, 2, 3),
}


@pytest.mark.parametrize("lie", ANSWERS)
def test_answers(chosen: dict[str, Any], lie: str) -> None:
    assert with_change(chosen, ANSWERS[lie]).verdict == "INVALID"


def test_a_failure_tells_what_was_released(chosen: dict[str, Any]) -> None:
    said = with_change(chosen, failed(*result(chosen)["releases"].values()))
    assert said.verdict == "VALID ASSUMING", said
    said = with_change(chosen, failed(*result(chosen)["releases"].values(), words="All is well."))
    assert "not in the words" in said.reason


def test_a_release_of_the_other_side_may_be_missing(chosen: dict[str, Any]) -> None:
    """Which side was taken is not computed anew."""
    releases = result(chosen)["releases"]
    (inside,) = [item for item in of_program(chosen)["program"]["body"] if "if" in item]
    of_a_side = {item.get("release") for side in ("then", "else") for item in inside[side]} - {None}
    assert of_a_side
    assert len(set(releases) - of_a_side) == 2
    for name in of_a_side & set(releases):
        said = with_change(chosen, lambda d, name=name: result(d)["releases"].pop(name))
        assert said.verdict == "VALID ASSUMING", said


def test_what_the_interpreter_computes_is_said_to_be_unchecked(chosen: dict[str, Any]) -> None:
    said = [
        assumption
        for assumption in kernel.check(chosen).assuming
        if "no number of it is checked" in assumption
    ]
    assert len(said) == 1


COLUMNS: dict[str, Any] = {
    "a region that the program doesn't know": ("region", {"states": ["north", "south", "west"]}),
    "numbers for texts": ("region", {"states": [0, 1]}),
    "bounds for texts": ("region", {"states": None, "bounds": [0, 1]}),
    "numbers for truth values": ("smokes", {"states": [0, 1, 2]}),
    "texts for truth values": ("smokes", {"states": ["no", "yes"]}),
    "bounds for truth values": ("smokes", {"states": None, "bounds": [0, 1]}),
}


@pytest.fixture(scope="module")
def northern(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = study(tmp_path_factory.mktemp("northern"), asks("northern")).release()
    document: dict[str, Any] = json.loads(done.certificate.to_json())
    return document


@pytest.mark.parametrize("lie", COLUMNS)
def test_a_columns_values_are_those_of_the_record(northern: dict[str, Any], lie: str) -> None:
    name, more = COLUMNS[lie]
    column = {"region": {"public": True}, "smokes": {}}[name] | more

    def change(document: dict[str, Any]) -> None:
        given = {key: item for key, item in column.items() if item is not None}
        document["columns"][name] = given

    said = with_change(northern, change)
    assert said.verdict == "INVALID"
    assert said.step == f"program: northern: {name}"
