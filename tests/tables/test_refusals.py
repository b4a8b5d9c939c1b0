"""No refusal quotes a cell, and none that everybody sees depends on what the cells hold."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import TableError, TableMismatchError
from bayesdp.tables.checks.findings import inspect, mismatch
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.queries.query import CountQuery
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.scan import run

NUMBER = {"x": {"bounds": [0, 10]}}
DAYS = {**NUMBER, "t": {"role": "order", "step": 1}}
DATES = {**NUMBER, "t": {"role": "order", "step": "1 day"}}
SERIES = Structure(series_length=50)
GENERIC = str(mismatch())


def release(source: Any, base: Path, columns: dict[str, Any] = NUMBER) -> None:
    plan = [CountQuery("rows")]
    run(open_table(source, base), parse_columns(columns), plan, SERIES)


def curator(source: Any, base: Path, columns: dict[str, Any] = NUMBER) -> dict[str, str]:
    """What `check --data` finds: codes and messages."""
    try:
        table = open_table(source, base)
    except UnreadableCellsError as error:
        return {error.finding.code: error.finding.message}
    return {f.code: f.message for f in inspect(table, parse_columns(columns), SERIES)}


def refused(source: Any, base: Path, columns: dict[str, Any] = NUMBER) -> dict[str, str]:
    """Everybody sees the generic words, no other error lies behind; the curator's findings."""
    with pytest.raises(TableMismatchError) as error:
        release(source, base, columns)
    assert str(error.value) == GENERIC
    assert "secretly" not in "".join(traceback.format_exception(error.value))
    assert error.value.__context__ is None
    actual = curator(source, base, columns)
    assert actual
    assert not any("secretly" in message for message in actual.values())
    return actual


GOOD = "".join(f"{i % 10},a\n" for i in range(3000))


@pytest.mark.parametrize(
    ("cells", "code", "words"),
    [
        ("2,é\n".encode("latin-1"), "not-utf8", "line 3002"),
        ("2,é".encode()[:-1], "not-utf8", "line 3002"),
        (b"7,secretly,b,c\n", "unreadable", "line 3002"),
        (b"secretly\n", "unreadable", "line 3002"),
        (b"7,secretly\rb\n", "unreadable", "line ends"),
        (b"7,secretly\r\n", "unreadable", "line ends"),
        (b'7,"secretly\n', "unreadable", "quote"),
        (b"7," + b"secretly" * 400_000 + b"\n", "unreadable", "2 MB"),
        (b"secretly,a\n", "not-a-number", "1 row"),
    ],
    ids=["latin", "cut", "more", "fewer", "cr", "crlf", "quote", "long", "text"],
)
@pytest.mark.parametrize("first", [True, False], ids=["near the header", "deep in the file"])
def test_what_a_csv_file_holds_is_told_to_the_curator_only(
    cells: bytes, code: str, words: str, first: bool, tmp_path: Path
) -> None:
    cells += b"" if cells.endswith(b"\n") else b"\n"
    content = b"x,s\n" + (cells + b"1,a\n" if first else GOOD.encode() + cells)
    (tmp_path / "t.csv").write_bytes(content)
    refusal = refused("t.csv", tmp_path)
    assert code in refusal
    assert words.replace("3002", "2" if first else "3002") in refusal[code]


@pytest.mark.parametrize("key", ["1e308", "-1e308", "9223372036854775808", "inf", "nan", "x"])
def test_an_order_key_out_of_range_is_unreadable(key: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"x,t\n1,1\n2,2\n3,{key}\n")
    assert "order-key" in refused("t.csv", tmp_path, DAYS)


@pytest.mark.parametrize("key", ["infinity", "-infinity", "200000-01-01", "2024-13-01"])
def test_a_date_out_of_range_is_unreadable(key: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"x,t\n1,2024-01-01\n2,2024-01-02\n3,{key}\n")
    assert refused("t.csv", tmp_path, DATES).keys() & {"order-key", "series-span"}


def test_numbers_and_times_in_memory_out_of_range(tmp_path: Path) -> None:
    for keys in (pa.array([1, 2**63, 2], pa.uint64()), pa.array([1.0, 1e308, 2.0])):
        assert "order-key" in refused(pa.table({"x": [1.0] * 3, "t": keys}), tmp_path, DAYS)
    late = pa.table({"x": [1.0] * 2, "t": pa.array([1, 2**62], pa.timestamp("s"))})
    assert "order-key" in refused(late, tmp_path, DATES)


@pytest.mark.parametrize("columns", [NUMBER, {"x": {"states": ["a"]}}, {"x": {"states": [True]}}])
def test_a_column_that_holds_nothing_has_missing_values(
    columns: dict[str, Any], tmp_path: Path
) -> None:
    for frame in (pa.table({"x": pa.nulls(3)}), pd.DataFrame({"x": [None] * 3}, dtype=object)):
        assert refused(frame, tmp_path, columns).keys() == {"missing"}
    filled = {"x": {**columns["x"], "missing": {"impute": columns["x"].get("states", [5])[0]}}}
    release(pa.table({"x": pa.nulls(3)}), tmp_path, filled)


def test_an_order_column_that_holds_nothing(tmp_path: Path) -> None:
    for columns in (DAYS, DATES):
        refusal = refused(pa.table({"x": [1.0, 2.0], "t": pa.nulls(2)}), tmp_path, columns)
        assert refusal.keys() >= {"missing", "order-key"}


def lazy(value: Any) -> Any:
    return pl.DataFrame({"x": [value]}).lazy().select(pl.col("x").cast(pl.Int64))


@pytest.mark.parametrize(
    "make",
    [
        lambda: lazy("secretly"),
        lambda: pd.DataFrame({"x": ["\ud800", "secretly"]}, dtype=object),
        lambda: pd.DataFrame({"x": [10**30, 1]}),
        lambda: pd.DataFrame({"x": [Decimal("Infinity"), Decimal(1)]}),
        lambda: pd.DataFrame({"x": [Decimal("1e40"), Decimal(1)]}),
        lambda: pd.DataFrame({"x": [1, "secretly", None]}, dtype=object),
        lambda: pd.DataFrame({"x": ["secretly", "1"]}, dtype=object),
        lambda: pd.DataFrame({"x": [{"secretly": 1}]}),
    ],
)
def test_cells_of_a_frame_that_arrow_has_no_type_for(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    refused(make(), tmp_path)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.DataFrame({"secretly": [1]}).lazy().select("x"),
        lambda: pl.scan_csv("secretly.csv"),
        lambda: pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int128)}),
        lambda: pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}),
        lambda: pd.DataFrame({"x": pd.arrays.SparseArray([1.0, 2.0])}),
        lambda: pd.DataFrame({"x": np.array([1j, 2])}),
        lambda: pd.DataFrame({"x": np.array([1, 2], dtype=np.longdouble)}),
        lambda: pd.DataFrame([[1, 2]], columns=["secretly", "secretly"]),
        lambda: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("x", 1), ("x", 2)])),
        lambda: pa.table([[1], [2]], names=["secretly", "secretly"]),
        lambda: pa.table({"x": [{"secretly": 1}]}),
    ],
)
def test_types_that_arrow_does_not_have(make: Callable[[], Any], tmp_path: Path) -> None:
    with pytest.raises(TableError) as error:
        release(make(), tmp_path)
    assert "secretly" not in "".join(traceback.format_exception(error.value))


def test_the_names_of_a_table_are_for_the_curator_only(tmp_path: Path) -> None:
    """Without a header line, the first record would be taken for the names."""
    (tmp_path / "t.csv").write_text("secretly,150\nb,160\n")
    (tmp_path / "near.csv").write_text("xs,ys\n1,2\n")
    table = pa.table({"secretly": [1], "150": [2]})
    derived = {"d": {"from": "x", "cuts": [1]}}
    for columns in (NUMBER, derived):
        for source in ("t.csv", table):
            with pytest.raises(TableError) as error:
                release(source, tmp_path, columns)
            assert "check STUDY --data" in str(error.value)
            assert not any(name in str(error.value) for name in ("secretly", "150"))
            assert "Known: 150, secretly" in curator(source, tmp_path, columns)["no-column"]
    assert "Did you mean 'xs'?" in curator("near.csv", tmp_path)["no-column"]
    inspection = inspect(open_table("near.csv", tmp_path), {}, Structure(unit="y"))
    assert [finding.code for finding in inspection] == ["no-column"]


def some(table: Table, *names: str) -> list[tuple[Any, ...]]:
    return table.rows(table.expression.select(*names))


def test_csv_files_are_put_together_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,h\n1,5\n2,6\n")
    (tmp_path / "b.csv").write_text("h,id\n7,3\n8,4\n")
    (tmp_path / "c.csv").write_text("id;h\n5;9\n")
    wanted = [("1", "5"), ("2", "6"), ("3", "7"), ("4", "8"), ("5", "9")]
    assert some(open_table("[abc].csv", tmp_path), "id", "h") == wanted


def test_parquet_files_are_put_together_by_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "h": [5, 6]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"h": [7, 8], "id": [3, 4]}), tmp_path / "b.parquet")
    wanted = [(1, 5), (2, 6), (3, 7), (4, 8)]
    assert some(open_table("*.parquet", tmp_path), "id", "h") == wanted


@pytest.mark.parametrize("second", ["3,7\n8,4\n", "id\n3\n", "id,h,z\n3,7,1\n", "id,H\n3,7\n"])
def test_csv_files_of_other_columns_are_not_put_together(second: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,h\n1,5\n2,6\n")
    (tmp_path / "b.csv").write_text(second)
    with pytest.raises(TableError) as error:
        open_table("*.csv", tmp_path)
    message = (
        "data.source is ['a.csv', 'b.csv']: expected files with the same names in their header "
        "lines. Read files of other columns as tables of their own."
    )
    assert str(error.value) == message


def test_names_of_a_header_that_are_empty_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",n,m\n1,2,3\n")
    table = open_table("t.csv", tmp_path)
    assert table.names == ("column0", "n", "m")
    assert some(table, *table.names) == [("1", "2", "3")]


def test_undeclared_columns_are_not_read(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1.0 AS x, to_days(1999999999) AS extra, "
            "'101'::BIT AS bits, union_value(a := 1) AS either"
        )
    assert open_table("p.duckdb::t", tmp_path).names == ("x", "extra", "bits", "either")
    release("p.duckdb::t", tmp_path)
    assert curator("p.duckdb::t", tmp_path) == {}


def test_broken_and_failing_views(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'secretly' AS x")
        connection.execute("CREATE VIEW failing AS SELECT x::DOUBLE AS x FROM t")
        connection.execute("CREATE TABLE u AS SELECT 1.0 AS x")
        connection.execute("CREATE VIEW broken AS SELECT * FROM u")
        connection.execute("DROP TABLE u")
    with pytest.raises(TableError, match="broken view"):
        release("p.duckdb::broken", tmp_path)
    assert "unreadable" in refused("p.duckdb::failing", tmp_path)


def test_no_connection_fetches_code(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1.0 AS x")
        connection.execute("CREATE TABLE shapes (x DOUBLE, place GEOMETRY)")
    (tmp_path / "t.csv").write_text("x\n1\n")
    settings = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
    for source in ("p.duckdb::t", "t.csv", pa.table({"x": [1]})):
        connection = open_table(source, tmp_path).connection.con
        assert connection.execute(settings).fetchall() == [("false",), ("false",)]
        with pytest.raises(duckdb.Error, match="local extension"):
            connection.execute("INSTALL spatial")
    with pytest.raises(TableError):  # Ibis installs "spatial" for it
        open_table("p.duckdb::shapes", tmp_path)
