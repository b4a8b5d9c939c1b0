"""Certificates of programs that were forged once and taken for valid: each must be found out."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.kernel.programs import distances
from bayesdp.kernel.programs.obligations import moves_at_most, never_widens
from bayesdp.kernel.programs.ranges import AdjacencyContext, admitted
from bayesdp.kernel.programs.reading import read_program
from bayesdp.kernel.programs.sensitivities import _furthest
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.check.derive import rounded_up
from bayesdp.programs.source import core_of
from bayesdp.programs.source import read_text as read_program_text
from bayesdp.statements.program import const
from tests.kernel.all_kinds import certificate
from tests.kernel.program_lies import (
    evidence,
    first_arg,
    lied,
    node_at,
    program_of,
    release_of,
)
from tests.kernel.program_texts import HEAD, TEXTS

Document = dict[str, Any]
SIZE = ["public", [], ["db.size"]]


def number(value: str) -> list[Any]:
    return ["const", [], [{"number": value}]]


@pytest.fixture(scope="module")
def honest() -> dict[str, Document]:
    made = {}
    for name, text in TEXTS.items():
        program = core_of(read_program_text(HEAD + text, name), None, {})
        made[name] = json.loads(program_certificate(program, check(program)).to_json())
        assert kernel.check(made[name]).verdict == "VALID ASSUMING"
    return made


def refused(document: Document, change: Any) -> kernel.Verdict:
    """The verdict on a changed document, which isn't valid, and not for its digest's sake."""
    made = lied(document, change)
    said = kernel.check(made)
    assert made != document
    assert said.verdict in ("INVALID", "UNKNOWN")
    assert said.step != "digest"
    return said


@pytest.mark.parametrize(
    "scale",
    [
        ["mul", [number("100"), SIZE], []],
        ["max", [number("100"), ["abs", [["sub", [SIZE, number("500")], []]], []]], []],
    ],
)
def test_noise_is_not_scaled_by_a_private_number(honest: Any, scale: Any) -> None:
    def private(document: Document) -> None:
        node = node_at(document, "laplace_1")
        node["sensitivity"]["value"], node["entering"] = scale, None

    assert "number of records is private" in refused(honest["enters"], private).reason


def test_noise_is_not_scaled_by_the_data(honest: Any) -> None:
    def private(document: Document) -> None:
        node_at(document, "laplace_1")["sensitivity"]["value"] = first_arg(document, 0)

    assert "without a release" in refused(honest["sums"], private).reason


def test_a_column_is_not_another_row(honest: Any) -> None:
    """A public column whose name looks like a private column's place in a row."""
    real: dict[str, Any] = {"kind": "real", "low": {"number": "0"}, "high": {"number": "9"}}
    step = ["add", [["acc", [], []], ["field", [], ["x"]]], []]
    step = ["sub", [step, ["field", [], ["x of row"]]], []]

    def forged(document: Document) -> None:
        program, inside = program_of(document), evidence(document)
        program["record"] = [
            ["x", real | {"labels": [], "public": False}],
            ["x of row", real | {"labels": [], "public": True}],
        ]
        first_arg(document, 0)[1][1] = step
        node_at(document, "laplace")["sensitivity"]["value"] = number("1/1000")
        for item in inside["obligations"]:
            item["what"] = item["what"].replace("at most 4", "at most 1/1000")

    document = lied(honest["folded"], forged)
    read = read_program(program_of(document))
    context, fold = AdjacencyContext(read, admitted(()), "replace-one"), read.body[0].args[0]  # type: ignore
    problems = [never_widens(fold, context), moves_at_most(fold, Fraction(1, 1000), context)]
    for problem, fields in zip(problems, (2, 3), strict=True):
        accumulators = 2 if fields == 2 else 1
        assert len(problem.variables) == fields + accumulators


@pytest.mark.parametrize("name", ["db.size", "laplace_2"])
def test_a_release_has_its_own_name(honest: Any, name: str) -> None:
    def named(document: Document) -> None:
        release_of(document, 0)["release"] = name
        node_at(document, "laplace_1")["release"] = name
        program_of(document)["returns"][0] = ["public", [], [name]]

    assert refused(honest["sums"], named).step == "name"


def test_sides_of_a_branch_have_their_own_releases(honest: Any) -> None:
    """Costs of Gaussian noise are stated by name: one name would give two the smaller cost."""

    def shared(document: Document) -> None:
        body = program_of(document)["body"]
        nodes = evidence(document)["derivation"]["sequence"]
        place = next(i for i, item in enumerate(body) if "if" in item)
        body[place]["else"] = [*body[place]["then"][:1]]
        nodes[place]["branch"][1] = {"sequence": nodes[place]["branch"][0]["sequence"][:1]}

    assert "two releases" in refused(honest["parts"], shared).reason


@pytest.mark.parametrize("digits", [10, 50, 120])
def test_a_huge_prior_is_answered_at_once(honest: Any, digits: int) -> None:
    """Balls around such numbers are so wide that their ends would be fractions without end."""

    def huge(document: Document) -> None:
        for place in (0, 1):
            model = first_arg(document, place)[1][0][1][0]
            model[1][2][1][0] = number("9" * digits)

    kernel.check(lied(honest["filtered"], huge))


def test_the_checker_answers_about_a_huge_prior_at_once() -> None:
    for digits in (60, 72, 120):
        far = distances.of_labels([Fraction(10**digits), Fraction(1)], True)
        assert rounded_up(far) == const(Fraction(1))
    near = rounded_up(distances.of_labels([Fraction(10**20), Fraction(1)], True))
    assert near.data[0] < 1  # type: ignore[operator]


BOOL = {"kind": "bool", "low": {"number": "0"}, "high": {"number": "1"}, "labels": []}


def many_releases(document: Document, count: int, column: Any, value: Any, stated: Any) -> None:
    """Only so many Laplace releases, of `value(i)` with the sensitivity `stated(i)`."""
    program, inside = program_of(document), evidence(document)
    program.update(record=[["a", column | {"public": False}]], requires=[], returns=[])
    program.update(return_types=[], declared=[None, None], adjacency="replace-one")
    program["body"] = [
        {"release": f"r{i}", "op": "laplace", "args": [value(i)], "options": {"epsilon": ONE}}
        for i in range(count)
    ]
    node = {"rule": "laplace", "epsilon": "1", "delta": "0", "entering": None, "kind": "any"}
    inside["derivation"] = {
        "sequence": [
            {
                **node, "release": f"r{i}", "column": None, "interval": None,
                "sensitivity": {"norm": "l1", "value": stated(i)[0], "by": stated(i)[1]},
            }
            for i in range(count)
        ]
    }  # fmt: skip
    inside["n"] = None


ONE = number("1")


def added(value: Any) -> list[Any]:
    return ["sum", [["data", [["const", [], [True]], value], [[]]]], []]


def test_all_numbers_of_records_of_a_certificate_are_counted(honest: Any) -> None:
    """A sensitivity that is tried for 19,000 numbers of records, again and again."""
    field = ["field", [], ["a"]]
    shrinks = ["add", [ONE, ["div", [number("19000"), SIZE], []]], []]
    wider = ["add", [shrinks, ["div", [ONE, ["mul", [SIZE, SIZE], []]], []]], []]

    def value(i: int) -> Any:
        return ["mul", [shrinks, added(["mul", [field, number(str(i + 1))], []])], []]

    def stated(i: int) -> Any:
        return ["mul", [wider, number(str(i + 1))], []], "one record"

    def slow(document: Document) -> None:
        many_releases(document, 30, BOOL, value, stated)

    assert "numbers of records would" in refused(honest["enters"], slow).reason


def test_all_pairs_of_rows_of_a_certificate_are_counted(honest: Any) -> None:
    field = ["field", [], ["a"]]
    whole = {"kind": "int", "low": {"number": "0"}, "high": {"number": "180"}, "labels": []}

    def value(i: int) -> Any:
        scaled = added(["mul", [field, number(str(i + 2))], []])
        return ["tuple", [added(["mul", [field, field], []]), scaled], []]

    def stated(i: int) -> Any:
        return number(str(180 * 180 + 180 * (i + 2))), "enumerated"

    def slow(document: Document) -> None:
        many_releases(document, 40, whole, value, stated)

    assert "pairs of rows would" in refused(honest["enters"], slow).reason


def test_numbers_have_an_end(honest: Any) -> None:
    rng = random.Random(1)
    pairs = [(rng.getrandbits(390), rng.getrandbits(390) | 1) for _ in range(128)]
    terms = [number(str(Fraction(*pair))) for pair in pairs]
    while len(terms) > 1:
        terms = [["add", [a, b], []] for a, b in zip(terms[::2], terms[1::2], strict=True)]

    def huge(document: Document) -> None:
        value = ["mul", [terms[0], added(["field", [], ["a"]])], []]
        many_releases(document, 1, BOOL, lambda i: value, lambda i: (ONE, "box"))

    assert "bits" in refused(honest["enters"], huge).reason


def test_furthest_is_exact() -> None:
    """Against the definition, with fractions that have no denominator in common."""
    rng = random.Random(2)
    some, others = (
        {tuple(Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(3)) for _ in range(9)}
        for _ in range(2)
    )
    context = AdjacencyContext(read_program(json.loads(BARE)), admitted(()), "replace-one")
    l1 = max(sum(abs(a - b) for a, b in zip(x, y, strict=True)) for x in some for y in others)
    l2 = max(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x in some for y in others)
    assert _furthest(some, others, "l1", context) == l1
    assert _furthest(some, others, "l2", context) == l2


BARE = json.dumps(
    {
        "name": "m", "adjacency": "replace-one", "record": [["", BOOL | {"public": False}]],
        "scalar": True, "parameters": [], "requires": [], "body": [], "returns": [],
        "return_types": [], "declared": [None, None], "source": "",
    }
)  # fmt: skip


@pytest.mark.parametrize("old", ["8", "20"])
@pytest.mark.parametrize("new", ["0", "-1"])
def test_a_model_that_does_not_exist_is_refused(old: str, new: str) -> None:
    """The noise's or the prior's standard deviation is 0 or less: there is no such law."""
    document = certificate("program")
    derived = document["derivation"]["evidence"]["program"]["body"][1]["value"]
    text = json.dumps(derived)
    assert text.count(f'{{"number": "{old}"}}') == 1
    changed = json.loads(text.replace(f'{{"number": "{old}"}}', f'{{"number": "{new}"}}'))
    document["derivation"]["evidence"]["program"]["body"][1]["value"] = changed
    verdict = kernel.check(document | {"digest": digest(content_of(document))})
    assert not verdict
    assert "0 or less" in str(verdict.reason)


def test_false_is_not_a_delta_of_0() -> None:
    document = certificate("program")
    document["derivation"]["conclusion"]["delta"] = False
    verdict = kernel.check(document | {"digest": digest(content_of(document))})
    assert (verdict.verdict, verdict.reason) == ("INVALID", "a truth value where a number is due")


def _larger_claim(document: Document) -> None:
    document["claim"] |= {"epsilon": 8.0, "exact": document["claim"]["exact"] | {"epsilon": "8"}}


def _another_value(document: Document) -> None:
    nodes = evidence(document)["derivation"]["sequence"]
    (node,) = (node for node in nodes if "derive" in node)
    node["derive"] += "_other"


def _not_confined(document: Document) -> None:
    nodes = evidence(document)["derivation"]["sequence"]
    pieces, *_ = (node["parts"] for node in nodes if "parts" in node)
    pieces["confined"] = not pieces["confined"]


@pytest.mark.parametrize(
    ("program", "change", "reason"),
    [
        ("sums", _larger_claim, "the claim is not the conclusion of the derivation"),
        ("height", _another_value, "the step is not that of the command"),
        ("parts", _not_confined, "whether each part reads its piece only"),
    ],
)
def test_what_is_stated_beside_the_cost_is_what_is_derived(
    honest: Any, program: str, change: Any, reason: str
) -> None:
    """No less is claimed by it, but a certificate says nothing that isn't so."""
    document = certificate("program") if program == "height" else honest[program]
    assert refused(document, change).reason == reason
