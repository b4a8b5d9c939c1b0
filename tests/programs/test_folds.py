"""Folds of whole numbers are whole, and are announced as such."""

from __future__ import annotations

import pytest

from bayesdp.programs.checked_files import confirmed
from bayesdp.programs.source import core_of, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done

TEXT = """
@helper
def step(acc, x):
    return STEP

@program
def f(db: Database[TYPE]) -> Private[Int]:
    return laplace(fold(db, START, step), epsilon=1)
"""


def _text(kind: str, start: str, step: str) -> str:
    return TEXT.replace("TYPE", kind).replace("START", start).replace("STEP", step)


@pytest.mark.parametrize(
    ("kind", "start", "step", "rows", "total"),
    [
        ("Bool", "0", "acc + (1 if x else 0)", [True, False, True], 2),
        ("Bool", "0", "clip(acc + (1 if x else 0), 0, 2)", [True] * 5, 2),
        ("Int[0, 9]", "3", "acc + clip(x, 0, 3)", [9, 1, 0], 7),
        ("Int[0, 9]", "0", "max(acc, x)", [2, 8, 1], 8),
        ("Bool", "0", "clip(acc + (2 if x else -1), 0, 100)", [True, True, False, True], 5),
    ],
)
def test_whole_steps(kind: str, start: str, step: str, rows: list[int], total: int) -> None:
    core, verdict = accepted(_text(kind, start, step))
    assert confirmed(core, verdict).verdict == "ACCEPTED"
    value = done(core, verdict, rows, Noted(shift=1)).value
    assert type(value) is int
    assert value == total + 1


@pytest.mark.parametrize(
    ("kind", "start", "step"),
    [
        ("Bool", "1 / 2", "acc + (1 if x else 0)"),
        ("Bool", "0", "acc + (1 / 2 if x else 0)"),
        ("Real[0, 9]", "0", "acc + clip(x, 0, 3)"),
        ("Int[0, 9]", "0", "(acc + x) / 2"),
    ],
)
def test_broken_steps_are_no_whole_numbers(kind: str, start: str, step: str) -> None:
    with pytest.raises(ProgramError, match=r"kind real is returned as Int"):
        core_of(read_text(IMPORTS + _text(kind, start, step), "test"), None, {})
