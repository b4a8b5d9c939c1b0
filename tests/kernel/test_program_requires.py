"""Preconditions: what a number of records decides, and that no cost rests on one that is false."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.kernel.programs.document import assumptions_of
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from tests.kernel.program_lies import evidence, lied, program_of
from tests.kernel.program_texts import HEAD, SUMS


def number(value: int) -> list[Any]:
    return ["const", [], [{"number": str(value)}]]


def op(name: str, *args: Any) -> list[Any]:
    return [name, list(args), []]


SIZE: Any = ["public", [], ["db.size"]]
TEXT = ["const", [], ["a"]]
YES, NO = ["const", [], [True]], ["const", [], [False]]
SQUARE = op("mul", SIZE, SIZE)
ITEM = ["item", [op("tuple", number(1), number(2))], [{"number": "0"}]]
SOUTH = op("eq", ["field", [], ["region"]], ["const", [], ["s"]])
PUBLIC = ["count", [["data", [SOUTH, number(1)], [[]]]], []]
"""How many rows have a public value: nothing that a certificate knows."""

TRUE_AT_12 = [
    op("lt", ITEM, number(3)),
    op("eq", TEXT, TEXT),
    op("eq", op("lt", number(1), number(2)), YES),
    op("eq", SQUARE, number(144)),
    op("not", op("eq", SQUARE, number(2))),
    op("or", op("lt", SIZE, number(5)), op("ge", SIZE, number(12))),
    op("if", op("ge", SIZE, number(12)), YES, NO),
    op("le", op("clip", number(50), number(9), number(5)), number(5)),
    op("or", op("gt", PUBLIC, number(3)), YES),
    op("gt", PUBLIC, number(3)),
]
FALSE_AT_12 = [
    op("ge", SIZE, number(10**6)),
    op("eq", SQUARE, number(2)),
    op("not", op("le", number(0), SIZE)),
    op("not", op("not", op("eq", SQUARE, number(2)))),
    op("or", NO, op("lt", SIZE, number(5))),
    op("and", YES, op("lt", SIZE, number(5))),
    op("and", op("gt", PUBLIC, number(3)), op("lt", SIZE, number(5))),
    op("ne", TEXT, TEXT),
    op("not", op("lt", ITEM, number(3))),
]
NEITHER = [
    op("lt", op("div", number(1), op("sub", SIZE, number(12))), number(5)),
    op("not", op("lt", op("div", number(1), op("sub", SIZE, number(12))), number(5))),
]


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    text = SUMS.replace("    require(people.size >= 10)\n", "").replace(
        "    total = ", "    require(people.size == 12)\n    total = "
    )
    program = core_of(read_text(HEAD + text, "sums"), None, {})
    document: dict[str, Any] = json.loads(
        program_certificate(program, check(program, 12)).to_json()
    )
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


def verdict(honest: dict[str, Any], raw: Any, n: int | None = 12) -> kernel.Verdict:
    def change(document: dict[str, Any]) -> None:
        program_of(document)["requires"] = [raw]
        evidence(document)["n"] = n
        with suppress(kernel.InvalidError):
            document["assumptions"] = assumptions_of(document["derivation"])

    return kernel.check(lied(honest, change))


@pytest.mark.parametrize("raw", TRUE_AT_12, ids=str)
def test_true(honest: dict[str, Any], raw: Any) -> None:
    assert verdict(honest, raw).verdict == "VALID ASSUMING"


@pytest.mark.parametrize("raw", FALSE_AT_12, ids=str)
def test_false(honest: dict[str, Any], raw: Any) -> None:
    said = verdict(honest, raw)
    assert said.verdict == "INVALID"
    assert said.step in ("n", "requires")


@pytest.mark.parametrize("raw", NEITHER, ids=str)
def test_undecided(honest: dict[str, Any], raw: Any) -> None:
    said = verdict(honest, raw)
    assert (said.verdict, said.step) == ("UNKNOWN", "requires")


@pytest.mark.parametrize("raw", [op("gt", PUBLIC, number(3)), op("eq", SQUARE, number(2))], ids=str)
def test_what_is_left_to_the_interpreter_is_said(honest: dict[str, Any], raw: Any) -> None:
    n = 12 if raw[1][0] == PUBLIC else None
    said = verdict(honest, raw, n)
    assert said.verdict == "VALID ASSUMING", said
    assert any(
        "the preconditions of the program hold" in assumption for assumption in said.assuming
    )
