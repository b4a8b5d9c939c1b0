"""onehot of whole numbers: front end, rules and interpreter say the same."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.programs.levels import Scope, whole_row
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range
from bayesdp.kernel.programs.reading import read_program
from bayesdp.programs.check.checker import check
from bayesdp.programs.checked_files import confirmed
from bayesdp.programs.ir import Expr, plain
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError
from tests.programs.run.helpers import IMPORTS, accepted, done, rng

TEXT = """
@helper
def band(a):
    if a < 18:
        found = 0
    elif a < 65:
        found = 1
    else:
        found = 2
    return found

@program
def f(db: Database[TYPE]) -> Private[Vector]:
    return laplace(sum(onehot(VALUE) for a in db), epsilon=1)
"""
GOOD = [
    ("Int[1, 5]", "clip(a - 1, 0, 4), 5", 5, lambda a: a - 1),
    ("Int[1, 5]", "a - 1, 5", 5, lambda a: a - 1),
    ("Int[0, 120]", "band(a), 3", 3, lambda a: 0 if a < 18 else 1 if a < 65 else 2),
    ("Int[0, 120]", "0 if a < 18 else 1, 2", 2, lambda a: int(a >= 18)),
    ("Int[0, 9]", "min(a, 4), 5", 5, lambda a: min(a, 4)),
    ("Int[0, 9]", "max(a, 2) + 1, 11", 11, lambda a: max(a, 2) + 1),
    ("Int[-3, 3]", "abs(a), 4", 4, abs),
    ("Int[-3, 0]", "-a, 4", 4, lambda a: -a),
    ("Int[0, 9]", "a * a, 82", 82, lambda a: a * a),
    ("Int[0, 9]", "a, 20", 20, lambda a: a),
    ("Int[0, 9]", "(a > 3) + (a > 5), 3", 3, lambda a: (a > 3) + (a > 5)),
    ("Int[0, 9]", "clip(a, 0, 3), 4", 4, lambda a: min(a, 3)),
    ("Int[0, 700]", "min(a, 600), 601", 601, lambda a: min(a, 600)),
    ("Bool", "1 if a else 0, 2", 2, int),
]


@pytest.mark.parametrize(
    ("kind", "value", "cells", "place"), GOOD, ids=[f"{item[0]} {item[1]}" for item in GOOD]
)
def test_whole_numbers_have_their_cells(kind: str, value: str, cells: int, place: object) -> None:
    core, verdict = accepted(TEXT.replace("TYPE", kind).replace("VALUE", value))
    assert confirmed(core, verdict).verdict == "ACCEPTED"
    if kind == "Bool":
        rows = [True, False, True]
    else:
        low, high = (int(part) for part in kind[4:-1].split(","))
        rows = [low, high, *rng(3).integers(low, high + 1, 60).tolist()]
    counted = Counter(place(row) for row in rows)  # type: ignore[operator]
    actual = done(core, verdict, rows).value
    assert list(actual) == [counted.get(i, 0) for i in range(cells)]


@pytest.mark.parametrize(
    ("kind", "value", "code", "said"),
    [
        ("Int[0, 9]", "a, 5", "bounds", "clip(value, 0, 4)"),
        ("Int[0, 9]", "a - 1, 10", "bounds", "lies in -1 to 8"),
        ("Int[0, 9]", "a + 1, 10", "bounds", "lies in 1 to 10"),
        ("Int[0, 9]", "-a, 10", "bounds", "clip(value, 0, 9)"),
        ("Int[0, 9]", "min(a, 4)", "arguments", "onehot(value, k)"),
        ("Int[0, 9]", "a, 2.5", "arguments", "onehot(value, k)"),
        ("Int[0, 9]", "a - 1, 0", "arguments", "onehot(value, k)"),
        ("Int[0, 9]", "a / 1, 10", "type", "conditions"),
        ("Int[0, 9]", "a, 5000", "size", "Merge"),
        ("Real[0, 9]", "clip(a, 0, 3), 4", "type", "whole numbers"),
        ("Real[0, 9]", "0 if a > 3 else 0.5, 2", "type", "whole numbers"),
        ("Bool", "a, 3", "type", "k=2"),
    ],
)
def test_numbers_without_a_cell_are_refused(kind: str, value: str, code: str, said: str) -> None:
    text = IMPORTS + TEXT.replace("TYPE", kind).replace("VALUE", value)
    try:
        verdict = check(core_of(read_text(text, "test"), None, {}))
        assert verdict.verdict == "REJECTED"
        assert verdict.where is not None
        where = (verdict.code, f"{verdict.reason} {verdict.accepted}")
    except ProgramError as error:
        where = (error.diagnostic.code, str(error))
    assert where[0] == code
    assert said in where[1]


def test_a_number_that_may_be_broken_is_not_a_cell() -> None:
    """Hand-made, as no front end makes it: half of a column, a Real, a clip at 1/2."""
    core, _ = accepted(TEXT.replace("TYPE", "Int[0, 4]").replace("VALUE", "a"))
    program = read_program(plain(core))
    context = AdjacencyContext(program, Range(), "replace-one")
    two = Expr("const", (), (Fraction(2),))
    field = Expr("field", (), ("",))
    for value, whole in (
        (field, True),
        (Expr("add", (field, two)), True),
        (Expr("div", (field, two)), False),
        (Expr("if", (Expr("lt", (field, two)), Expr("div", (field, two)), two)), False),
        (Expr("if", (Expr("lt", (Expr("div", (field, two)), two)), field, two)), True),
        (Expr("clip", (field, Expr("div", (two, field)), two)), False),
    ):
        assert whole_row(value, context) is whole


def test_hand_made_cells_that_there_are_not() -> None:
    """The rules rely on no front end."""
    core, _ = accepted(TEXT.replace("TYPE", "Int[0, 4]").replace("VALUE", "a"))
    program = read_program(plain(core))
    scope = Scope(AdjacencyContext(program, Range(), "replace-one"), {}, step=True)
    field, two = Expr("field", (), ("",)), Expr("const", (), (Fraction(2),))
    assert scope.row(Expr("onehot", (field,), (Fraction(5),))).size == 5
    for value, cells in (
        (field, 4),
        (Expr("sub", (field, two)), 5),
        (Expr("div", (field, two)), 5),
        (Expr("add", (field, Expr("acc"))), 5),
    ):
        with pytest.raises(InvalidError):
            scope.row(Expr("onehot", (value,), (Fraction(cells),)))
