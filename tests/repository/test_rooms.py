"""The rooms that the documents name are those that the package has, and the tests mirror them."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bayesdp"
NO_ROOMS = {"__init__", "__main__", "demo_data", "py.typed"}
ROOMS = {
    path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.name != "__pycache__"
} - NO_ROOMS


def test_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paragraph = next(part for part in text.split("\n\n") if part.startswith("**Where things go.**"))
    rooms = re.findall(r"`([a-z_]+)`", paragraph)
    assert set(rooms) == ROOMS


def test_the_table_of_rooms_is_the_tree() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in text.split("\n") if line.startswith("| `")]
    rooms = [name for first, _ in rows for name in re.findall(r"`([^`]+)`", first)]
    assert len(set(rooms)) == len(rooms)
    assert {name.removesuffix("/").removesuffix(".py") for name in rooms} == ROOMS
    for first, inside in rows:
        room = PACKAGE / re.findall(r"`([^`]+)`", first)[0]
        for name in [*re.findall(r"`([^`]+)`", first)]:
            assert (PACKAGE / name).is_dir() == name.endswith("/"), name
        for name in re.findall(r"`(\w+(?:/|\.py))`", inside):
            assert (room / name).exists(), f"{room.name}/ has no {name}"


MAPPED = (
    "accounting",
    "accounting/accounts",
    "accounting/costs",
    "accounting/expressions",
    "accounting/log",
    "accounting/sharing",
    "accounting/stores",
    "accounting/what_if",
    "audit",
    "fitting",
    "kernel",
    "leakage",
    "populations",
    "kernel/conversions",
    "kernel/costs",
    "kernel/models",
    "kernel/programs",
    "kernel/releases",
    "kernel/steps",
    "programs/check",
    "programs/falsify",
    "programs/run",
    "programs/run/draws",
    "programs/run/machine",
    "programs/run/numerics",
    "programs/run/posteriors",
    "programs/run/results",
    "programs/run/tables",
    "programs/run/values",
    "programs/source",
    "programs/source/drafts",
    "programs/source/expressions",
    "programs/source/models",
    "programs/source/posteriors",
    "programs/source/records",
    "programs/source/releases",
    "programs/source/statements",
    "programs/source/syntax",
    "release",
    "release/certificates",
    "release/checking",
    "release/derived",
    "release/drawing",
    "release/price",
    "release/private_fits",
    "release/programs",
    "release/queries",
    "release/reading",
    "release/results",
    "release/spec",
    "report",
    "statements",
    "synthetic",
    "tables",
    "tables/cells",
    "tables/checks",
    "tables/columns",
    "tables/engines",
    "tables/files",
    "tables/queries",
    "tables/sums",
)


@pytest.mark.parametrize("room", MAPPED)
def test_a_large_room_begins_with_its_map(room: str) -> None:
    """Each of its files and rooms is named where a newcomer enters."""
    folder = PACKAGE / room
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    inside = {path.name.removesuffix(".py") for path in folder.iterdir()}
    named = set(re.findall(r"`(\w+)/?`", text))
    assert inside - {"__init__", "__pycache__"} <= named


TESTS = ROOT / "tests"


def other_folders() -> set[str]:
    """The folders of tests that are explained, as they belong to no room."""
    lines = (TESTS / "README.md").read_text(encoding="utf-8").splitlines()
    return {name for line in lines for name in re.findall(r"^\| `(\w+)/` \|", line)}


def folders_of_tests() -> set[Path]:
    """Every folder below `tests/` that holds a file, relative to it."""
    files = (path for path in TESTS.rglob("*") if path.is_file())
    return {path.parent.relative_to(TESTS) for path in files if "__pycache__" not in path.parts} - {
        Path()
    }


def test_every_folder_of_tests_is_a_room_or_explained() -> None:
    others = other_folders()
    assert {folder.parts[0] for folder in folders_of_tests()} >= others
    assert not others & ROOMS
    for folder in folders_of_tests():
        assert folder.parts[0] in others or (PACKAGE / folder).is_dir(), folder


def test_every_room_has_its_tests() -> None:
    single = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    assert single <= ROOMS
    for room in ROOMS:
        folder = TESTS / room
        assert (PACKAGE / room).is_dir() == folder.is_dir(), room
        assert any(folder.glob("test_*.py")) if folder.is_dir() else room in single, room


@pytest.mark.parametrize("folder", ["kernel", "programs", "release"])
def test_a_large_folder_of_tests_begins_with_its_map(folder: str) -> None:
    """Each file that tests share is named there, and each name there is a file or a room."""
    map_ = ast.get_docstring(
        ast.parse((TESTS / folder / "__init__.py").read_text(encoding="utf-8"))
    )
    named = set(re.findall(r"`(\w+\*?)`", map_ or ""))
    inside = {path.name.removesuffix(".py") for path in (TESTS / folder).iterdir()}
    inside -= {"__init__", "__pycache__"}
    assert {name for name in inside if not name.startswith("test_")} <= named
    for name in named:
        assert any(fnmatchcase(file, name) for file in inside), name
