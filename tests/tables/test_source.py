"""What can't be opened or read, with one clear message that shows no cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import InputError, TableError
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.refusals import UnreadableCellsError, mismatch
from bayesdp.tables.source import open_table

NUMBER = {"x": {"bounds": [0, 10]}}


def look(source: Any, base: Path, columns: dict[str, Any]) -> list[str]:
    table = open_table(source, base)
    return [finding.code for finding in inspect(table, parse_columns(columns), Structure())]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.csv").write_text("x,s\n1,a\n2,b\n")
    (tmp_path / "header.csv").write_text("x,s\n")
    (tmp_path / "nothing.csv").write_text("")
    (tmp_path / "fake.csv.gz").write_text("not zipped")
    (tmp_path / "fake.parquet").write_text("not parquet at all")
    (tmp_path / "fake.db").write_text("not a database, secretly")
    (tmp_path / "blank.csv").write_text("\nx,s\n1,a\n")
    (tmp_path / "open.csv").write_text('"x,s\n1,secretly\n')
    (tmp_path / "twice.csv").write_text("secretly,secretly\n1,a\n")
    (tmp_path / "similar.csv").write_text("x,X\n1,2\n")
    pd.DataFrame({"x": [1], "X": [2]}).to_parquet(tmp_path / "similar.parquet")
    (tmp_path / "notes.txt").write_text("x\n1\n")
    (tmp_path / "folder.csv").mkdir()
    pa_table = pa.table({"x": ["1", "2"], "n": [1, 2], "when": [1.0, 2.0]})
    pd.DataFrame(pa_table.to_pandas()).to_parquet(tmp_path / "text.parquet")
    with duckdb.connect(str(tmp_path / "good.db")) as connection:
        connection.execute("create table things as select 1.5 as x")
        connection.execute("create table hollow as select 1.5 as x limit 0")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("missing.csv", "a file that exists"),
        ("missing/*.parquet", "files that match"),
        ("nothing.csv", "a header line"),
        ("fake.csv.gz", "readable"),
        ("fake.parquet", "can be read"),
        ("similar.csv", "more than capital letters"),
        ("similar.parquet", "more than capital letters"),
        (pd.DataFrame({"x": [1], "X": [2]}), "more than capital letters"),
        ("notes.txt", r"\.csv"),
        ("folder.csv", "a file"),
        ("", "a file"),
        ("fake.db::things", "can be read"),
        ("good.db::thing", "Did you mean 'things'"),
        ("good.db::", "the name of a table"),
        ("absent.db::things", "a file that exists"),
        ("duckdb:///good.db", "the name of a table"),
        ("duckdb:///good.db?table=things&limit=1", "no other options"),
        ("postgresql://host/db", "the name of a table"),
        ("duckdb://[bad?table=x", "duckdb:///file.db"),
        ("p" * 5000 + ".csv", "a file that exists"),
        ("[" + "p" * 5000 + "].csv", "files that match"),
        ("p" * 5000 + "::t", "a file that exists"),
        ("a\0b.csv", "a file that exists"),
        ("blank.csv", "a header line"),
        ("twice.csv", "each column once"),
        ("open.csv", "a header line"),
        ([1, 2, 3], "a pandas or Polars data frame"),
        (None, "a pandas or Polars data frame"),
        (pd.DataFrame(), "column"),
        (pd.DataFrame({0: [1]}), "columns named by texts"),
        (pd.Series([1.0]), "data frame"),
    ],
    ids=lambda value: str(value)[:25].replace("\n", " "),
)
def test_unusable_sources(folder: Path, source: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        look(source, folder, NUMBER)
    assert error.value.key == "data.source"
    assert "secretly" not in str(error.value)


@pytest.mark.parametrize(
    "source", ["header.csv", "good.db::hollow", pd.DataFrame({"x": []})], ids=str
)
def test_a_table_without_rows_is_refused_as_cells_are(folder: Path, source: Any) -> None:
    """With the words of every other refusal: how many rows there are may be private."""
    with pytest.raises(UnreadableCellsError) as error:
        look(source, folder, NUMBER)
    assert error.value.finding.code == "empty"
    assert str(error.value) == str(mismatch())


@pytest.mark.parametrize(
    ("columns", "words", "key"),
    [
        ({"x": {"bounds": [0, 1]}}, "a column of numbers", "data.columns.x"),
        ({"n": {"states": ["1", "2"]}}, "without quotes", "data.columns.n"),
        ({"n": {"states": [True, False]}}, "a column of booleans", "data.columns.n"),
        ({"d": {"from": "x", "cuts": [1]}}, "a column of numbers", "data.columns.d.from"),
        ({"n": {"role": "order", "step": "1 day"}}, "a step for", "data.columns.n.step"),
    ],
)
def test_columns_of_another_type(
    folder: Path, columns: dict[str, Any], words: str, key: str
) -> None:
    with pytest.raises(TableError, match=words) as error:
        look("text.parquet", folder, columns)
    assert error.value.key == key


def test_csv_numbers_are_never_silently_texts(folder: Path) -> None:
    rows = "".join(f"{i % 10}\n" for i in range(30_000))
    (folder / "late.csv").write_text("x\n" + rows + "seven\n")
    assert look("late.csv", folder, NUMBER) == ["not-a-number"]
    assert look("good.csv", folder, NUMBER) == []


def test_a_byte_order_mark_and_semicolons_are_understood(folder: Path) -> None:
    (folder / "excel.csv").write_bytes("\ufeffx;s\n1;a\n2;b\n".encode())
    columns = {**NUMBER, "s": {"states": ["a", "b"]}}
    assert look("excel.csv", folder, columns) == []


def test_csv_cells_are_kept_as_written(folder: Path) -> None:
    """Codes with leading zeros stay texts, and NA is missing unless it is declared."""
    (folder / "codes.csv").write_text("code,land\n007,NA\n7,DE\n")
    states = {"code": {"states": ["007", "7"]}, "land": {"states": ["NA", "DE"]}}
    assert look("codes.csv", folder, states) == []
    states["land"] = {"states": ["DE", "FR"]}
    assert look("codes.csv", folder, states) == ["missing"]


def test_a_duckdb_file_is_opened_read_only(folder: Path) -> None:
    before = (folder / "good.db").read_bytes()
    assert look("good.db::things", folder, NUMBER) == []
    assert (folder / "good.db").read_bytes() == before


@pytest.mark.parametrize("cell", ["1_000", "0x10", "1,000", "1 000", "\uff11"])
def test_only_plain_numbers_are_numbers(folder: Path, cell: str) -> None:
    """The engine alone would take an underscore for nothing."""
    (folder / "cells.csv").write_text(f'x\n1\n"{cell}"\n', encoding="utf-8")
    assert look("cells.csv", folder, {"x": {"bounds": [0, 2000]}}) == ["not-a-number"]
    assert look("cells.csv", folder, {"x": {"role": "order", "step": 1}}) != []


@pytest.mark.parametrize("cell", [2**53, 2**53 + 1, -(2**53) - 1])
def test_whole_numbers_that_doubles_take_for_one_another_are_no_states(
    folder: Path, cell: int
) -> None:
    with pytest.raises(InputError, match=r"below 2\^53"):
        parse_columns({"x": {"states": [0, 2**53]}})
    state = 2**53 - 1
    columns = {"x": {"states": [0, state]}}
    frame = pd.DataFrame({"x": [0, cell]})
    frame.to_csv(folder / "large.csv", index=False)
    frame.to_parquet(folder / "large.parquet")
    for source in (frame, frame.astype("Int64"), "large.csv", "large.parquet"):
        assert look(source, folder, columns) == ["not-a-number"]
    assert look(pd.DataFrame({"x": [0, state]}), folder, columns) == []


def test_a_line_without_anything_is_not_a_row(folder: Path) -> None:
    """In no file, whether of one column or of several."""
    (folder / "narrow.csv").write_text("x\n1\n\n2\n\n\n")
    (folder / "wide.csv").write_text("x,s\n1,a\n\n2,b\n\n\n")
    (folder / "cell.csv").write_text('x\n1\n""\n2\n')
    for source in ("narrow.csv", "wide.csv"):
        table = open_table(source, folder)
        assert table.numbers(table.expression, table.expression.count()) == (2,)
        assert look(source, folder, NUMBER) == []
    assert look("cell.csv", folder, NUMBER) == ["missing"]


def test_durations_are_no_numbers(folder: Path) -> None:
    """The engine would read microseconds; an interval of its own it can't add up."""
    times = pa.table({"x": pa.array([7, 8], pa.duration("us"))})
    pq.write_table(times, folder / "times.parquet")
    for source in (times, "times.parquet"):
        with pytest.raises(TableError, match=r"duration|interval"):
            look(source, folder, NUMBER)
        with pytest.raises(TableError, match=r"a step for|a column of numbers"):
            look(source, folder, {"x": {"role": "order", "step": 1}})


def test_a_column_without_a_type_holds_missing_values(folder: Path) -> None:
    nothing = pa.table({"x": pa.nulls(2), "n": [1, 2]})
    pq.write_table(nothing, folder / "nothing.parquet")
    for source in (nothing, "nothing.parquet"):
        assert look(source, folder, NUMBER) == ["missing"]
        assert look(source, folder, {"x": {"states": ["a", "b"]}}) == ["missing"]


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_files_that_change_while_a_table_is_open_are_refused(tmp_path: Path, name: str) -> None:
    """Checks and sums are of one table, so a file that another takes the place of is refused."""

    def save(numbers: list[int], file: Path) -> None:
        frame = pd.DataFrame({"x": numbers})
        _ = frame.to_csv(file, index=False) if name == "x.csv" else frame.to_parquet(file)

    save([1, 2, 3], tmp_path / name)
    table = open_table(name, tmp_path)
    assert len(table.rows(table.expression)) == 3
    save([4, 5, 6], tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / name)
    ways: list[Any] = [table.rows, table.arrow, table.kept, lambda q: list(table.each_row(q))]
    for read in ways:
        with pytest.raises(UnreadableCellsError) as raised:
            read(table.expression)
        assert raised.value.finding.code == "changed"
    (tmp_path / name).unlink()
    with pytest.raises(UnreadableCellsError):
        table.rows(table.expression)


def test_a_view_of_duckdb_is_computed_once(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x\n1\n2\n")
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("CREATE VIEW drawn AS SELECT random() AS x FROM range(5)")
        connection.execute(f"CREATE VIEW file AS SELECT x FROM read_csv('{tmp_path}/x.csv')")
    drawn, file = (open_table(f"a.db::{name}", tmp_path) for name in ("drawn", "file"))
    assert drawn.rows(drawn.expression) == drawn.rows(drawn.expression)
    (tmp_path / "x.csv").write_text("x\n3\n4\n")
    assert file.rows(file.expression) == [(1,), (2,)]
