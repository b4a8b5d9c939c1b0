"""The certificate of a release with programs, and what the kernel finds in false ones."""

from __future__ import annotations

import copy
import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.kernel.programs.noise import louder
from bayesdp.kernel.reading import as_invalid, stated_columns
from bayesdp.kernel.releases.program_queries import Asked, costs, program_query
from bayesdp.programs.certificate import derivation_of
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.run.draws.gaussian import multiple, number_scale
from bayesdp.programs.source import core_of, read_text
from bayesdp.statements.base import Reader
from bayesdp.statements.costs import ProgramStep
from tests.kernel.mutations import sealed
from tests.release.program_studies import (
    HEAD,
    PEOPLE,
    asks,
    changed,
    study,
)


def step_of(document: dict[str, Any]) -> dict[str, Any]:
    composition = document["derivation"]["premises"][0]["premises"][0]
    step: dict[str, Any] = composition["premises"][-1]
    return step


def cheaper(document: dict[str, Any]) -> None:
    for item in (step_of(document)["evidence"]["spends"][0], step_of(document)["conclusion"]):
        item["dp_epsilon" if "dp_epsilon" in item else "epsilon"] *= 0.999


def of_program(document: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = step_of(document)["premises"][0]["evidence"]
    return inside


def wider(document: dict[str, Any]) -> None:
    """The program clips less than its noise is for."""
    text = json.dumps(of_program(document)["program"])
    assert '"190"' in text
    of_program(document)["program"] = json.loads(text.replace('"190"', '"210"'))


LIES: dict[str, Any] = {
    "a lower cost": cheaper,
    "a wider clip": wider,
    "another column": lambda d: step_of(d)["evidence"]["fields"].update(height="smokes"),
    "a column that is not read": lambda d: step_of(d)["evidence"]["fields"].update(smokes="smokes"),
    "no column": lambda d: step_of(d)["evidence"]["fields"].clear(),
    "reads nothing": lambda d: step_of(d)["evidence"]["spends"][0].update(reads=[]),
    "another data set": lambda d: step_of(d)["evidence"]["spends"][0].update(dataset="other"),
    "a block": lambda d: step_of(d)["evidence"]["spends"][0].update(
        block={"column": "region", "values": ["north"]}
    ),
    "another mechanism": lambda d: step_of(d)["evidence"]["spends"][0].update(
        mechanism="discrete-laplace"
    ),
    "a narrower interval": lambda d: step_of(d)["evidence"]["spends"][0].update(
        interval=[155.0, 190.0]
    ),
    "no slack": lambda d: step_of(d)["evidence"]["spends"][0].update(slack=0.0),
    "another n": lambda d: of_program(d).update(n=9),
    "for every n, with assumptions for one": lambda d: of_program(d).update(n=None),
    "another adjacency": lambda d: of_program(d)["program"].update(adjacency="add-remove"),
    "another text": lambda d: of_program(d)["program"].update(source="sha256:00"),
    "a text that is told differently": lambda d: d["programs"][0].update(source="sha256:00"),
    "no word of the program": lambda d: d.pop("programs"),
    "a sentence less": lambda d: d["programs"][0]["assuming"].pop(),
    "a result's lower cost": lambda d: d["results"][-1].update(dp_epsilon=0.4),
    "a result less": lambda d: d["results"].pop(),
    "another query's result": lambda d: d["results"][-1].update(query="tall"),
    "a key that means nothing": lambda d: d["results"][-1].update(private=True),
    "two derivations": lambda d: step_of(d)["premises"].append(step_of(d)["premises"][0]),
    "height is public": lambda d: of_program(d)["program"]["record"][0][1].update(public=True),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("released")
    law = {"model": "gaussian", "size": 2, "max_correlation": 0.3, "covers": ["height"]}
    count = {"name": "tall", "kind": "count", "where": "height > 175"}
    columns = changed(smokes=None)
    done = study(folder, count, asks("height"), columns=columns, population=law).release()
    document: dict[str, Any] = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    assert step_of(document)["conclusion"]["kind"] == "lipschitz"
    return document


@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_says_more_is_invalid(released: dict[str, Any], lie: str) -> None:
    document = copy.deepcopy(released)
    LIES[lie](document)
    assert kernel.check(sealed(document)).verdict == "INVALID"


def spend_of(step: dict[str, Any]) -> dict[str, Any]:
    spend: dict[str, Any] = step["evidence"]["spends"][0]
    return spend


SHARP: dict[str, tuple[Any, str]] = {
    "a cost": (lambda s, b: spend_of(s).update(dp_epsilon=0.4999), "0.4999 is claimed"),
    "a conclusion": (lambda s, b: s["conclusion"].update(epsilon=0.4999), "is claimed"),
    "n": (lambda s, b: b.update(n=9), "n: 9 is stated, 8 is due"),
    "the unit": (lambda s, b: b.update(unit="home"), "unit: 'home' is stated, 'row' is due"),
    "a field that is not read": (
        lambda s, b: s["evidence"]["fields"].update(unread="region"),
        "fields: ['height', 'unread'] is stated, ['height'] is due",
    ),
    "no such column": (
        lambda s, b: s["evidence"]["fields"].update(height="width"),
        "is not declared",
    ),
    "reads": (lambda s, b: spend_of(s).update(reads=["region"]), "reads"),
    "a public column": (
        lambda s, b: b["columns"].update(height={"bounds": [150, 190], "public": True}),
        "nothing that is protected",
    ),
    "the interval": (lambda s, b: spend_of(s).update(interval=[155.0, 190.0]), "interval"),
    "the column": (lambda s, b: spend_of(s).update(column="region"), "reads other columns"),
    "slack": (lambda s, b: spend_of(s).update(slack=spend_of(s)["slack"] * 0.99), "is claimed"),
    "an imputed column": (
        lambda s, b: b["columns"]["height"].update(missing={"impute": 170}),
        "not the one that the program reads",
    ),
    "a derived column": (
        lambda s, b: b["columns"].update({"height": {"from": "x", "where": "x > 3"}}),
        "reads",
    ),
    "kind any with a column": (
        lambda s, b: (spend_of(s).update(kind="any"), s["conclusion"].update(kind="any")),
        "belong to the kind lipschitz",
    ),
    "zCDP beside it": (lambda s, b: spend_of(s).update(rho=1e-9), "not exactly one cost"),
    "a second spend": (
        lambda s, b: s["evidence"]["spends"].append(copy.deepcopy(spend_of(s))),
        "not one spend for the pure cost",
    ),
    "a conclusion in zCDP": (
        lambda s, b: s["conclusion"].update(rho=0.0),
        "without Gaussian noise",
    ),
    "a Gaussian release that isn't": (
        lambda s, b: s["evidence"].update(gaussian={"laplace_1": "0"}),
        "Gaussian releases: ['laplace_1'] is stated, [] is due",
    ),
    "a lower claim": (
        lambda s, b: s["premises"][0]["conclusion"]["exact"].update(epsilon="49/100"),
        "is claimed",
    ),
    "no derivation": (lambda s, b: s["premises"].clear(), "it is missing"),
}


@pytest.mark.parametrize("change", SHARP)
def test_each_check_of_a_programs_step_bites(released: dict[str, Any], change: str) -> None:
    """Called alone: in a whole certificate another check may be first."""
    document = copy.deepcopy(released)
    step = step_of(document)
    asked(step, document, ["height"])
    SHARP[change][0](step, document)
    with pytest.raises(kernel.InvalidError, match=re.escape(SHARP[change][1])):
        asked(step, document, ["height"])


def asked(step: dict[str, Any], document: dict[str, Any], covers: list[str]) -> Asked:
    """What the kernel says of one step, in the certificate that its body is from."""
    with as_invalid():
        stated = Reader(ProgramStep).read(step, "step")
    keys = ("unit", "n", "dataset")
    unit = {
        "protected_unit": document["unit"],
        "rows_per_record": document["rows_per_unit"] or 1,
    }
    body: Any = SimpleNamespace(**{key: document[key] for key in keys}, **unit)
    return program_query(stated, body, stated_columns(document["columns"]), covers, [])


def test_what_the_program_takes_for_public_is_public_in_the_study(tmp_path: Path) -> None:
    done = study(tmp_path, asks("northern")).release()
    document = json.loads(done.certificate.to_json())
    step = step_of(document)
    assert step["evidence"]["fields"] == {"region": "region", "smokes": "smokes"}
    asked(step, document, ["height", "smokes"])
    document["columns"]["region"] = {"states": ["north", "south"]}
    with pytest.raises(kernel.InvalidError, match="is protected, not public"):
        asked(step, document, ["height", "region", "smokes"])


def test_the_ledgers_costs_are_for_replacing_a_record(tmp_path: Path) -> None:
    """An add-remove program has an honest derivation, which is not a cost of a study."""
    text = """@record
class Person:
    smokes: Bool


@program(adjacency="add-remove")
def smokers(people: Database[Person]) -> Private[Int]:
    return laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1 / 4)
"""
    done = study(tmp_path, asks("smokers"), text=text.replace("add-remove", "replace-one"))
    document = json.loads(done.release().certificate.to_json())
    source = read_text(HEAD + text, "people.py")
    verdict = verdict_in(source, "smokers")
    assert verdict.verdict == "ACCEPTED"
    step = step_of(document)
    step["premises"] = [derivation_of(core_of(source, "smokers", {}), verdict).to_dict()]
    with pytest.raises(kernel.InvalidError, match="adjacency: 'add-remove' is stated"):
        asked(json.loads(json.dumps(step)), document, ["height", "smokes"])


def test_gaussian_costs_can_not_be_understated(tmp_path: Path) -> None:
    budget = {"epsilon": 8.0, "delta": 1e-5}
    done = study(tmp_path, asks("both"), budget=budget).release()
    honest = json.loads(done.certificate.to_json())
    assert kernel.check(honest).verdict == "VALID ASSUMING"
    lies: list[Any] = [
        lambda s: s["evidence"]["spends"][1].update(rho=s["evidence"]["spends"][1]["rho"] * 0.999),
        lambda s: s["evidence"]["spends"].pop(),
        lambda s: s["evidence"]["spends"].pop(0),
        lambda s: s["evidence"].pop("gaussian"),
        lambda s: s["evidence"]["gaussian"].update(gaussian_1="1/100000"),
        lambda s: s["evidence"]["gaussian"].update(laplace_1="0"),
        lambda s: s["conclusion"].update(rho=0.0),
        lambda s: s["evidence"]["spends"][0].update(dp_delta=1e-7),
    ]
    for lie in lies:
        document = copy.deepcopy(honest)
        lie(step_of(document))
        assert kernel.check(sealed(document)).verdict == "INVALID"


def test_gaussian_noise_is_never_free_or_cheap(tmp_path: Path) -> None:
    budget = {"epsilon": 8.0, "delta": 1e-5}
    done = study(tmp_path, asks("both"), budget=budget).release()
    step = step_of(json.loads(done.certificate.to_json()))
    premise, honest = step["premises"][0], Fraction(step["evidence"]["gaussian"]["gaussian_1"])
    for rho in (honest, 2 * honest):
        assert costs(premise, {"gaussian_1": rho}) == (Fraction(1, 4), rho)
    for rho in (honest * 9 / 10, honest * 3 / 4, honest / 1000, Fraction(0)):
        with pytest.raises(kernel.InvalidError, match="noise with this epsilon and delta"):
            costs(premise, {"gaussian_1": rho})


def test_calibrated_noise_on_a_number_is_never_held_for_too_loud() -> None:
    """The least noise by either law, over many costs; and a tenth less than its cost is."""
    for cost in product(("1/100", "1/2", "2", "4", "10", "30", "100"), ("1/10", "1/1000", "1e-9")):
        epsilon, delta = map(Fraction, cost)
        for shift in (1, 2, 40):
            scales = number_scale(Fraction(shift**2), epsilon, delta), multiple(epsilon, delta, 1)
            number, fine = Fraction(scales[0]), Fraction(scales[1]) * shift
            for sigma in (number, fine):
                rho = shift**2 / (2 * sigma**2)
                assert not louder(rho, shift, epsilon, delta), (cost, shift)
            rho = shift**2 / (2 * max(number, fine) ** 2)
            if shift == 40:  # where steps are coarse the two laws are far apart
                assert louder(rho * Fraction(9, 10), shift, epsilon, delta), cost


def test_a_stated_sigma_has_its_cost(tmp_path: Path) -> None:
    text = """@program
def noisy(people: Database[Person]) -> Private[Real]:
    return gaussian(count(p for p in people if p.smokes), epsilon=1, delta=1e-4, sigma=4)
"""
    budget = {"epsilon": 9.0, "delta": 1e-6}
    done = study(tmp_path, asks("noisy"), text=PEOPLE + text, budget=budget).release()
    step = step_of(json.loads(done.certificate.to_json()))
    assert step["evidence"]["gaussian"] == {"gaussian_1": "1/32"}
    for rho in (Fraction(1, 33), Fraction(1, 32) - Fraction(1, 10**12)):
        with pytest.raises(kernel.InvalidError, match="lower than that of noise with this sigma"):
            costs(step["premises"][0], {"gaussian_1": rho})


def test_a_program_of_large_tables_says_nothing_of_small_ones(tmp_path: Path) -> None:
    """The noise of a mean over 10^6 people, in a study of 8."""
    text = """@program
def mean(people: Database[Person]) -> Private[Real]:
    total = sum(clip(p.height, 150, 190) for p in people)
    return laplace(total / people.size, epsilon=1 / 2, sensitivity=40 / people.size)
"""
    done = study(tmp_path, asks("mean"), text=PEOPLE + text).release()
    document = json.loads(done.certificate.to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    size, many = ["public", [], ["db.size"]], ["const", [], [{"number": "1000000"}]]
    inside, two = of_program(document), ["const", [], [{"number": "2"}]]
    inside["n"] = None
    small: Any = ["const", [], [{"number": "1/25000"}]]
    for raw in (["eq", [["mul", [size, size], []], two], []], ["ge", [size, many], []]):
        inside["program"]["requires"] = [raw]
        if raw[0] == "ge":
            inside["program"]["body"][0]["options"]["sensitivity"] = small
            inside["derivation"]["sequence"][0]["sensitivity"].update(value=small, by="sum of box")
            inside["derivation"]["sequence"][0]["entering"] = None
        assumed = kernel.program_assumptions(step_of(document)["premises"][0])
        document["programs"][0]["assuming"] = assumed
        document["assumptions"] = kernel.assumptions(document)
        said = kernel.check(sealed(document))
        assert (said.verdict, said.step) == ("INVALID", "requires")


def test_a_programs_result_is_no_other_querys(released: dict[str, Any]) -> None:
    """As a mean with no error it would be shown like a checked number."""
    document = copy.deepcopy(released)
    made_up = {"query": "height", "kind": "mean", "value": 123.456, "unit": "", "rows": 1}
    document["results"][-1] = {**document["results"][0], **made_up, "dp_epsilon": 0.5}
    document["results"][-1]["error"] = {"confidence": 0.999, "value": 0.0}
    said = kernel.check(sealed(document))
    assert (said.verdict, said.reason) == ("INVALID", "kind: 'mean' is stated, 'program' is due")
