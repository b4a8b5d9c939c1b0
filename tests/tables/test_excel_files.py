"""Sheets of Excel files: cells as texts, results of formulas, and what is refused."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from bayesdp.errors import TableError, UnsupportedError
from bayesdp.tables.cells.reading import read
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.files import excel_files
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table

openpyxl = pytest.importorskip("openpyxl", reason="pip install 'bayesdp[formats]'")


def book(path: Path, rows: list[list[Any]], *more: str) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for name in more:
        made.create_sheet(name).append([name])
    made.save(path)
    return path


def edited(path: Path, part: str, change: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(path) as parts:
        contents = {name: parts.read(name) for name in parts.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for name, content in contents.items():
            parts.writestr(name, change(content) if name == part else content)


def cells(table: Table) -> list[tuple[Any, ...]]:
    return table.rows(table.expression)


SHEET = "xl/worksheets/sheet1.xml"


def test_each_cell_is_a_text_that_reads_as_the_same(tmp_path: Path) -> None:
    values: dict[Any, str | None] = {
        1: "1",
        2.0: "2",
        1 / 3: "0.3333333333333333",
        1e300: "1e+300",
        -3.5: "-3.5",
        "007": "007",
        "7 ": "7 ",
        datetime(2026, 2, 1): "2026-02-01",
        datetime(2026, 2, 1, 8, 15): "2026-02-01 08:15:00",
        time(8, 15): "08:15:00",
        timedelta(hours=30, minutes=5, seconds=1.5): "30:05:01.500000",
        "NA": "NA",
        None: None,
    }
    rows = [[value, "a"] for value in [*values, True, False]]
    book(tmp_path / "t.xlsx", [["x", "s"], *rows])
    table = open_table("t.xlsx", tmp_path)
    assert table.text_cells
    assert [x for x, _ in cells(table)] == [*values.values(), "true", "false"]


def test_cells_of_several_types_are_held_against_the_declaration(tmp_path: Path) -> None:
    """A number that is written as a text is a number, as in a CSV file; a date is none."""
    book(tmp_path / "t.xlsx", [["x", "d", "took"], [1, datetime(2026, 2, 1), timedelta(hours=25)]])
    columns = parse_columns(
        {
            "x": {"bounds": [0, 9], "missing": {"codes": ["#N/A"], "impute": 5}},
            "d": {"bounds": ["2020-01-01", "2026-12-31"]},
            "took": {"bounds": ["0 hours", "40 hours"]},
        }
    )
    readings = [(1.0, 20485.0, 25.0)]
    table = open_table("t.xlsx", tmp_path)
    assert inspect(table, columns, Structure()) == []
    query = table.expression.select(**{n: read(table, columns, n).value for n in columns})
    assert table.rows(query) == readings
    bad = [["2", "2026-02-02", "1:30:00"], ["#N/A", 46054, 5], [datetime(2026, 1, 1), "x", True]]
    book(tmp_path / "t.xlsx", [["x", "d", "took"], *bad])
    codes = [
        finding.code for finding in inspect(open_table("t.xlsx", tmp_path), columns, Structure())
    ]
    assert codes == ["not-a-number", "not-a-time", "not-a-duration"]


def test_rows_and_names(tmp_path: Path) -> None:
    book(tmp_path / "t.xlsx", [["x", None, "s"], [1], [None, None, None], [2, 3, "b"], [None] * 3])
    table = open_table("t.xlsx", tmp_path)
    assert table.names == ("x", "column1", "s")
    assert cells(table) == [("1", None, None), ("2", "3", "b")]
    edited(  # what the file says of its size is not believed
        tmp_path / "t.xlsx", SHEET, lambda xml: xml.replace(b'ref="A1:C5"', b'ref="A1:A2"')
    )
    assert cells(open_table("t.xlsx", tmp_path)) == [("1", None, None), ("2", "3", "b")]
    book(tmp_path / "t.xlsx", [["x"], [1, "beside"]])
    with pytest.raises(UnreadableCellsError) as error:
        open_table("t.xlsx", tmp_path)
    assert error.value.finding.message.startswith("Row 2 has cells beside the columns")
    for header in ([], [None], ["x", "x"], [None, "x"]):
        book(tmp_path / "t.xlsx", [header, ["secretly"]] if header else [])
        if header == [None, "x"]:
            assert open_table("t.xlsx", tmp_path).names == ("column0", "x")
            continue
        with pytest.raises(TableError, match="a first row that names each column once") as refusal:
            open_table("t.xlsx", tmp_path)
        assert "secretly" not in str(refusal.value)


def test_a_sheet_is_named_or_the_first(tmp_path: Path) -> None:
    book(tmp_path / "t.xlsx", [["x"], [1]], "Part two")
    assert open_table("t.xlsx::Part two", tmp_path, empty=True).names == ("Part two",)
    assert open_table("t.xlsx", tmp_path).names == open_table("t.xlsx::Sheet", tmp_path).names
    with pytest.raises(TableError, match=r"a sheet of t\.xlsx\. Did you mean 'Part two'"):
        open_table("t.xlsx::Part too", tmp_path)


def test_results_of_formulas_are_read_and_never_computed(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", [["x", "s"], [1, "=A2+1"], [5, "=A3"]])
    with pytest.raises(UnreadableCellsError) as error:
        open_table("t.xlsx", tmp_path)
    assert error.value.finding.message.startswith("Row 2 has a formula without a stored result")

    def stored(*results: bytes) -> None:
        left = list(results)

        def change(xml: bytes) -> bytes:
            for result in left:
                xml = (
                    xml.replace(b"<v />", result, 1)
                    if b"<v />" in xml
                    else xml.replace(b"<v/>", result, 1)
                )
            return xml

        edited(path, SHEET, change)

    stored(b"<v>2</v>", b"<v>7.5</v>")
    assert cells(open_table("t.xlsx", tmp_path)) == [("1", "2"), ("5", "7.5")]
    edited(
        path,
        SHEET,
        lambda xml: xml.replace(b"<v>7.5</v>", b"<v></v>").replace(b'r="B3"', b'r="B3" t="str"'),
    )
    assert cells(open_table("t.xlsx", tmp_path)) == [("1", "2"), ("5", None)]  # an empty text


def test_files_that_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fake.xlsx").write_text("x,s\nsecretly,1\n")
    with pytest.raises(TableError, match=r"an Excel file .* without a password") as error:
        open_table("fake.xlsx", tmp_path)
    assert "secretly" not in str(error.value)
    path = book(tmp_path / "t.xlsx", [["x"], [1]])
    edited(path, SHEET, lambda xml: xml[:-40])
    with pytest.raises(UnreadableCellsError) as damaged:
        open_table("t.xlsx", tmp_path)
    assert damaged.value.finding.code == "unreadable"
    book(path, [["x"], [1]])
    edited(path, SHEET, lambda xml: xml.replace(b'<row r="2"', b'<row r="99999999999"'))
    with pytest.raises(UnreadableCellsError) as endless:
        open_table("t.xlsx", tmp_path)
    assert endless.value.finding.code in ("too-large", "unreadable")
    book(path, [["x"], [1]])
    monkeypatch.setattr(excel_files, "MOST_BYTES", 100_000)
    edited(path, "docProps/app.xml", lambda xml: xml + b" " * 100_000)
    assert path.stat().st_size < 20_000
    with pytest.raises(UnreadableCellsError) as bomb:
        open_table("t.xlsx", tmp_path)
    assert bomb.value.finding.code == "too-large"


def damaged_cells(content: bytearray) -> None:
    start = content.index(SHEET.encode()) + len(SHEET)
    content[start + 20 : start + 60] = b"\xff" * 40


def damaged_name(content: bytearray) -> None:
    """The first part's name is said to be UTF-8, and is not."""
    entry = content.index(b"PK\x01\x02")
    content[entry + 9] |= 0x08
    content[entry + 46] = 0xFF


@pytest.mark.parametrize("damage", [damaged_cells, damaged_name])
def test_a_damaged_pack_is_one_clear_error(
    damage: Callable[[bytearray], None], tmp_path: Path
) -> None:
    path = book(tmp_path / "t.xlsx", [["x"], *([i] for i in range(99))])
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"an Excel file .* without a password"):
        open_table("t.xlsx", tmp_path)


def test_the_library_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book(tmp_path / "t.xlsx", [["x"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'bayesdp\[formats\]'"):
        open_table("t.xlsx", tmp_path)
