"""Names that say nothing are seen wherever they are bound, and no room binds them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.check_names import PACKAGE, bindings, bindings_of, shared_names

BINDING = [
    "one = 1",
    "one: int = 1",
    "one += 1",
    "row.one = 1",
    "first, *one = rows",
    "print(one := 1)",
    "for one in rows: pass",
    "for row, (one, other) in rows: pass",
    "[row for one in rows for row in one]",
    "{one: 1 for one in rows}",
    "any(one for one in rows)",
    "def f(one): pass",
    "def f(*one): pass",
    "def f(**one): pass",
    "def f(*, one=1): pass",
    "lambda one: 1",
    "def one(): pass",
    "async def one(): pass",
    "class one: pass",
    "with open(path) as one: pass",
    "with lock as (one, other): pass",
    "try: pass\nexcept ValueError as one: pass",
    "import one",
    "import one.part",
    "import rows as one",
    "from rows import one",
    "match row:\n case one: pass",
    "match row:\n case [*one]: pass",
    "match row:\n case {**one}: pass",
    "match row:\n case Row(level=one): pass",
]
OTHERS = [
    "row = one",
    "f(one=1)",
    "row.found",
    "one_row = 1",
    "'one'",
    "rows['found']",
    "import rows.one",
    "def f(row=one): pass",
    "class Cost:\n @classmethod\n def of(cls, epsilon): pass",
    "class Parts:\n of: tuple[str, ...]",
]


@pytest.mark.parametrize("name", ["one", "found", "told", "of"])
@pytest.mark.parametrize("text", BINDING)
def test_each_way_to_bind_a_name_is_seen_once(text: str, name: str) -> None:
    tree = ast.parse(text.replace("one", name))
    assert [bound for _, bound in bindings(tree)] == [name]


@pytest.mark.parametrize("text", OTHERS)
def test_what_binds_no_empty_name_is_left_alone(text: str) -> None:
    assert list(bindings(ast.parse(text))) == []


def test_only_members_of_classes_are_called_of() -> None:
    text = "class Cost:\n of: float\n def of(self, of):\n  of = [of for of in self.of]\n"
    assert [line for line, _ in bindings(ast.parse(text))] == [3, 4, 4]


def test_a_binding_is_seen_in_its_room_and_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "report" / "rows.py").write_text("row = 1\nfound = row\n")
    (tmp_path / "tables" / "cells.py").write_text("cell = 1\n")
    places = ["report/rows.py:2 binds 'found'"]
    assert bindings_of(tmp_path) == bindings_of(tmp_path, "report") == places
    assert bindings_of(tmp_path, "report/rows.py") == places
    assert bindings_of(tmp_path, "tables") == []


def test_no_room_binds_an_empty_name() -> None:
    assert bindings_of(PACKAGE) == []


def test_a_name_of_two_things_is_seen_across_rooms(tmp_path: Path) -> None:
    for room in ("kernel", "report", "statements", "tables"):
        (tmp_path / room).mkdir()
    (tmp_path / "report" / "cells.py").write_text("Cell = str\nROWS = 1\nclass _Cell: pass\n")
    (tmp_path / "tables" / "rows.py").write_text("class Row: pass\nROWS = 2\n")
    (tmp_path / "kernel" / "rows.py").write_text("Row = int\n")
    (tmp_path / "statements" / "rows.py").write_text("class Row: pass\n")
    assert shared_names(tmp_path) == []
    (tmp_path / "tables" / "cells.py").write_text("Cell: type = int\nclass _Cell: pass\n")
    (tmp_path / "kernel" / "tables.py").write_text("class Row: pass\n")
    assert shared_names(tmp_path) == [
        "'Cell' is the name of several things, in report/cells.py, tables/cells.py",
        "'Row' is the name of several things, in kernel/rows.py, kernel/tables.py",
    ]


def test_a_name_means_one_thing() -> None:
    assert shared_names(PACKAGE) == []
