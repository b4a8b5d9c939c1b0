"""CSV files as other programs and countries write them: declared in `[data.csv]`, never guessed."""

from __future__ import annotations

import gzip
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError, TableError
from bayesdp.release.reading.study_files import parse_study
from bayesdp.tables.cells.reading import read
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.files.csv_dialect import USUAL, CsvDialect
from bayesdp.tables.refusals import Finding, UnreadableCellsError
from bayesdp.tables.source import Table, check_source, open_table

EUROPEAN: dict[str, Any] = {
    "separator": ";",
    "decimal": ",",
    "thousands": ".",
    "encoding": "latin-1",
}
COLUMNS: dict[str, Any] = {
    "größe": {"bounds": [-1e6, 1e6]},
    "ort": {"states": ["Köln", "Ulm"]},
}


def values(table: Table, columns: dict[str, Column]) -> list[tuple[Any, ...]]:
    readings = {name: read(table, columns, name).value for name in columns}
    return table.rows(table.expression.select(**readings))


def findings(table: Table, columns: dict[str, Column]) -> list[Finding]:
    return inspect(table, columns, Structure())


def saved(path: Path, text: str, encoding: str = "utf-8") -> Path:
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16", "utf-16-be", "UTF-8"])
@pytest.mark.parametrize("name", ["heights.csv", "heights.csv.gz"])
def test_a_file_is_read_in_its_encoding(encoding: str, name: str, tmp_path: Path) -> None:
    text = 'größe;ort\r\n1.234,5;Köln\r\n"-0,25";"Ulm"\r\n12;Köln\r\n'
    saved(tmp_path / name, text, encoding)
    table = open_table(name, tmp_path, csv=CsvDialect.of(EUROPEAN | {"encoding": encoding}))
    columns = parse_columns(COLUMNS)
    assert values(table, columns) == [(1234.5, "Köln"), (-0.25, "Ulm"), (12.0, "Köln")]
    assert findings(table, columns) == []


def test_no_copy_of_a_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine reads a copy in UTF-8; once the table is open there is none."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    saved(tmp_path / "a.csv", "größe;ort\n1;Köln\n", "latin-1")
    saved(tmp_path / "b.csv", "größe;ort\n2;Köln;more\n", "latin-1")
    dialect = CsvDialect.of(EUROPEAN)
    table = open_table("a.csv", tmp_path, csv=dialect)
    assert os.listdir(folder) == []
    assert values(table, parse_columns(COLUMNS)) == [(1.0, "Köln")]
    with pytest.raises(UnreadableCellsError):
        open_table("b.csv", tmp_path, csv=dialect)
    assert os.listdir(folder) == []


def test_several_files_of_one_encoding(tmp_path: Path) -> None:
    saved(tmp_path / "part1.csv", "größe;ort\n1,5;Köln\n", "latin-1")
    saved(tmp_path / "part2.csv", "ort;größe\nUlm;2,5\n", "latin-1")
    table = open_table("part*.csv", tmp_path, csv=CsvDialect.of(EUROPEAN))
    assert values(table, parse_columns(COLUMNS)) == [(1.5, "Köln"), (2.5, "Ulm")]


@pytest.mark.parametrize(
    ("encoding", "content", "line"),
    [
        ("utf-8", b"x;s\n1;a\n2;K\xf6ln\n3;a\n", 3),
        ("windows-1252", b"x;s\n1;a\n2;a\n3;\x81\n", 4),
        ("utf-16", "x;s\n1;a\n".encode("utf-16-le")[:-2].join([b"\xff\xfe", b"\x00\xd8\n\x00"]), 2),
        ("utf-16-le", "x;s\n1;a\n".encode("utf-16-le") + b"\n", 3),
        ("iso-8859-3", b"x;s\n1;a\n" + b"2;a\n" * 300_000 + b"3;\xa5\n", 300_003),
    ],
)
def test_bytes_of_another_encoding_are_refused_with_their_line(
    encoding: str, content: bytes, line: int, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(UnreadableCellsError) as error:
        open_table("t.csv", tmp_path, csv=CsvDialect.of({"encoding": encoding}))
    message = error.value.finding.message
    assert message.startswith(f"t.csv is not {encoding.upper()} text: line {line} is not.")
    assert 'Declare its encoding, such as "windows-1252" ([data.csv] of a study' in message


def test_utf_16_needs_its_mark(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("x\n1\n".encode("utf-16-be"))
    with pytest.raises(TableError, match=r"a byte order mark at the start of t.csv\. Declare"):
        open_table("t.csv", tmp_path, csv=CsvDialect.of({"encoding": "utf-16"}))
    table = open_table("t.csv", tmp_path, csv=CsvDialect.of({"encoding": "utf-16-be"}))
    assert values(table, parse_columns({"x": {"bounds": [0, 2]}})) == [(1.0,)]


# How numbers are written ----------------------------------------------------------------------

READ = {
    (",", ""): {"1,5": 1.5, "-1,": -1.0, "+,25": 0.25, "1e2": 100.0, "1,5E-1": 0.15, " 7 ": 7.0},
    (",", "."): {"1.234,5": 1234.5, "1.234.567": 1234567.0, "1234,5": 1234.5, "1.234": 1234.0},
    (".", ","): {"1,234.5": 1234.5, "1,234,567": 1234567.0, ".5": 0.5, "-1,000": -1000.0},
    (",", " "): {"1 234,5": 1234.5, "1\u202f234": 1234.0, "1\u00a0234\u00a0567": 1234567.0},
    (".", "'"): {"1'234.5": 1234.5},
    (".", "\u2019"): {"1\u2019234.5": 1234.5},
}
REFUSED = {
    (",", ""): [
        "1.5",
        "1.234,5",
        "1,2,3",
        ",",
        "1_000,5",
        "0x1,5",
        "1,5e",
        "",
        "nan",
        "inf",
        "--1",
    ],
    (",", "."): ["1.5", "12.34,5", "1.2345", ".123", "1.234.56", "1,234.5", "1..234", "1234.567"],
    (".", ","): ["1,5", "1.234,5", "12,34", "1,2345", "1,,234"],
    (",", " "): ["1 23", "1  234", "1.234"],
    (".", "'"): ["1'2", "1,5", "1\u2019234"],
}


@pytest.mark.parametrize(("decimal", "thousands"), READ)
def test_numbers_are_read_as_declared_and_others_are_none(
    decimal: str, thousands: str, tmp_path: Path
) -> None:
    good = READ[decimal, thousands]
    bad = REFUSED.get((decimal, thousands), [])
    pd.DataFrame({"x": [*good, *bad], "y": "a"}).to_csv(tmp_path / "t.csv", index=False, sep="|")
    dialect = CsvDialect.of({"decimal": decimal, "thousands": thousands, "separator": "|"})
    table = open_table("t.csv", tmp_path, csv=dialect)
    columns = parse_columns({"x": {"bounds": [-1e9, 1e9]}})
    assert [x for (x,) in values(table, columns)] == [*good.values(), *([None] * len(bad))]


def test_the_same_doubles_whichever_sign_is_written(tmp_path: Path) -> None:
    """A number written with a decimal comma is the double of the same text with a point."""
    chosen = random.Random(13)
    numbers = [chosen.uniform(-1, 1) * 10 ** chosen.randint(-20, 14) for _ in range(500)]
    columns = parse_columns({"x": {"bounds": [-1e15, 1e15]}})
    for decimal in ".,":
        lines = [repr(number).replace(".", decimal) for number in numbers]
        saved(tmp_path / "t.csv", "x;y\n" + "".join(f"{line};\n" for line in lines))
        table = open_table("t.csv", tmp_path, csv=CsvDialect.of({"decimal": decimal}))
        assert values(table, columns) == [(number,) for number in numbers]


def test_a_quoted_decimal_comma_between_commas(tmp_path: Path) -> None:
    """As an online spreadsheet of a German account saves it; a bare one is a line too long."""
    saved(tmp_path / "t.csv", 'x,s\n"1,5",a\n2,b\n')
    columns = parse_columns({"x": {"bounds": [0, 9]}, "s": {"states": ["a", "b"]}})
    dialect = CsvDialect.of({"decimal": ","})
    assert values(open_table("t.csv", tmp_path, csv=dialect), columns) == [(1.5, "a"), (2.0, "b")]
    saved(tmp_path / "t.csv", "x,s\n1,5,a\n2,b\n")
    with pytest.raises(UnreadableCellsError):
        open_table("t.csv", tmp_path, csv=dialect)


def test_dates_and_positions(tmp_path: Path) -> None:
    """Dates have no decimals; positions are numbers as all others."""
    saved(tmp_path / "t.csv", "tag;nr;wann\n01.02.2026;1,5;2026-02-01\n02.02.2026;2;2026-02-02\n")
    columns = parse_columns(
        {
            "tag": {"bounds": ["2026-01-01", "2026-12-31"], "format": "%d.%m.%Y"},
            "nr": {"role": "order", "step": 0.5},
        }
    )
    dialect = CsvDialect.of({"decimal": ",", "thousands": "."})
    table = open_table("t.csv", tmp_path, csv=dialect)
    assert findings(table, columns) == []
    assert values(table, parse_columns({"tag": columns["tag"]})) == [(20485.0,), (20486.0,)]
    table = open_table("t.csv", tmp_path)
    assert [finding.code for finding in findings(table, columns)] == ["order-key"]


# What is not declared --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "remedies"),
    [
        ("1,5", [{"decimal": ","}]),
        ("1,000", [{"thousands": ","}]),
        ("1.234,56", [{"decimal": ","}, {"thousands": "."}]),
        ("1 234,5", [{"decimal": ","}, {"thousands": " "}]),
    ],
)
def test_the_curator_is_told_how_numbers_seem_to_be_written(
    cell: str, remedies: list[dict[str, str]], tmp_path: Path
) -> None:
    """And once it is declared, nothing is wrong."""
    saved(tmp_path / "t.csv", f"x;y\n1;a\n{cell};a\n")
    columns = parse_columns({"x": {"bounds": [0, 9]}})
    declared: dict[str, str] = {}
    for remedy in remedies:
        table = open_table("t.csv", tmp_path, csv=CsvDialect.of(declared))
        (finding,) = findings(table, columns)
        assert finding.code == "not-a-number"
        assert "below [data.csv]" in finding.message
        for key in remedy:
            assert f'{key} = "' in finding.message
        declared |= remedy
    assert findings(open_table("t.csv", tmp_path, csv=CsvDialect.of(declared)), columns) == []


def test_other_texts_have_no_such_remedy(tmp_path: Path) -> None:
    saved(tmp_path / "t.csv", "x;y\n1;a\nseven;a\n")
    for declared in ({}, {"decimal": ","}, {"thousands": ","}):
        table = open_table("t.csv", tmp_path, csv=CsvDialect.of(declared))
        (finding,) = findings(table, parse_columns({"x": {"bounds": [0, 9]}}))
        assert finding.message.endswith("in 1 row.")


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"separator": ";;"}, r"csv\.separator is ';;': expected the character between two cells"),
        ({"separator": "a"}, "the character between"),
        ({"separator": '"'}, "the character between"),
        ({"separator": " "}, "the character between"),
        ({"separator": 1}, r"data\.csv\.separator is 1: expected a text"),
        ({"decimal": ";"}, r"csv\.decimal is ';': expected '\.' or ','"),
        ({"decimal": ",", "thousands": ","}, "other than the decimal sign"),
        ({"thousands": "-"}, r"csv\.thousands is '-'"),
        ({"encoding": "utf8mb4"}, r"csv\.encoding is 'utf8mb4'"),
        ({"encoding": "windows-1522"}, "Did you mean 'windows-1252'"),
        ({"encoding": "rot13"}, "save the file as UTF-8"),
        ({"seperator": ";"}, r"data\.csv\.seperator.*Did you mean 'separator'"),
        (";", r"data\.csv is ';': expected a table such as"),
    ],
)
def test_what_no_file_is_written_with(declared: Any, words: str) -> None:
    study = {
        "data": {"dataset": "d", "n": 2, "csv": declared, "columns": {"x": {"states": [0, 1]}}},
        "population": {"model": "independent", "covers": ["x"]},
        "budget": {"epsilon": 1.0},
        "query": [{"name": "ones", "kind": "count", "where": "x == 1"}],
    }
    with pytest.raises(InputError, match=words) as error:
        parse_study(study)
    assert error.value.key.startswith("data.csv")
    study["data"]["csv"] = {"separator": ";", "encoding": "Latin-1"}
    assert parse_study(study).data.csv.encoding == "Latin-1"


@pytest.mark.parametrize("source", ["t.parquet", "t.db::x", "duckdb:///t.db?table=x"])
def test_only_csv_files_have_a_dialect(source: str) -> None:
    check_source(source, USUAL)
    with pytest.raises(TableError, match=r"data\.csv.*Leave \[data\.csv\] out"):
        check_source(source, CsvDialect.of({"decimal": ","}))
    url = "postgresql://me:secretly@host/db?table=x"
    with pytest.raises(TableError, match=r"Leave \[data\.csv\] out") as error:
        check_source(url, CsvDialect.of({"decimal": ","}))
    assert "secretly" not in str(error.value)
    with pytest.raises(TableError, match=r"Leave \[data\.csv\] out"):
        open_table(pd.DataFrame({"x": [1]}), csv=CsvDialect.of({"decimal": ","}))
