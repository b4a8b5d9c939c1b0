"""Preconditions that compare what isn't numbers of records: a verdict, never an exception."""

from __future__ import annotations

from typing import Any

import pytest

from bayesdp.kernel.programs.document import _truth
from bayesdp.kernel.programs.reading import Reader


def number(value: int) -> list[Any]:
    return ["const", [], [{"number": str(value)}]]


TEXT = ["const", [], ["a"]]
YES = ["const", [], [True]]
CASES = [
    ["lt", [["item", [["tuple", [number(1), number(2)], []]], [{"number": "0"}]], number(3)], []],
    ["eq", [TEXT, TEXT], []],
    ["eq", [["lt", [number(1), number(2)], []], YES], []],
]


@pytest.mark.parametrize("raw", CASES)
def test_what_is_not_decided_is_let_stand(raw: Any) -> None:
    assert _truth(Reader().node(raw), 5) is True


def test_what_is_decided_is_decided() -> None:
    size: Any = ["public", [], ["db.size"]]
    assert not _truth(Reader().node(["lt", [size, number(5)], []]), 5)
    assert _truth(Reader().node(["le", [size, number(5)], []]), 5)
