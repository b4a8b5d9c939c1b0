"""Columns that hold cells of several types: read as what they are, or refused, never converted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import TableError
from bayesdp.tables.cells import order_keys, reading
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table

CEST = dt.timezone(dt.timedelta(hours=2))
NAIVE = dt.datetime(2024, 7, 1, 5)
AWARE = dt.datetime(2024, 7, 1, 5, tzinfo=CEST)
DAY = dt.date(2024, 7, 2)
ZONED = pa.timestamp("us", "Europe/Berlin")


def files(folder: Path, *columns: Any) -> Table:
    """Parquet files of one column `t` each, opened together."""
    for i, column in enumerate(columns):
        pq.write_table(pa.table({"t": column}), folder / f"{i}.parquet")
    return open_table("*.parquet", folder)


def cells(table: Table, name: str = "t") -> list[Any]:
    cells: list[Any] = table.expression.to_pyarrow()[name].to_pylist()
    return cells


@pytest.mark.parametrize(
    "columns",
    [
        ([NAIVE], pa.array([AWARE], ZONED)),
        (pa.array([DAY], pa.date32()), [NAIVE]),
        (pa.array([DAY], pa.date32()), ["2024-07-01T05:00:00+02:00"]),
        ([NAIVE], ["2024-07-01T05:00:00+02:00"]),
        ([1], ["1"]),
        ([0, 1], [True]),
        ([1], [None], ["1"]),
    ],
)
def test_files_with_other_types_are_refused(columns: Sequence[Any], tmp_path: Path) -> None:
    for folder, ordered in (("ab", columns), ("ba", columns[::-1])):
        (tmp_path / folder).mkdir()
        with pytest.raises(TableError, match=r"the same types, and 't' is [A-Z ]+ in 0.parquet, "):
            files(tmp_path / folder, *ordered)


@pytest.mark.parametrize(
    ("columns", "read"),
    [
        (([5], [6.5], [7]), [5.0, 6.5, 7.0]),
        (([6.5], [2**40]), [6.5, 2.0**40]),
        ((pa.array([5], pa.int8()), [2**40]), [5, 2**40]),
        ((pa.array([0.5], pa.float32()), [0.1]), [0.5, 0.1]),
        ((["a"], pa.nulls(1), ["b"]), ["a", None, "b"]),
        ((pa.nulls(1), ["b"]), [None, "b"]),
        ((pa.nulls(1), [6.5]), [None, 6.5]),
        ((["a"], pa.array(["b"]).dictionary_encode()), ["a", "b"]),
        (
            (pa.array([NAIVE], pa.timestamp("ns")), pa.array([NAIVE], pa.timestamp("ms"))),
            [NAIVE, NAIVE],
        ),
    ],
)
def test_files_with_like_types_are_read(
    columns: Sequence[Any], read: list[Any], tmp_path: Path
) -> None:
    assert cells(files(tmp_path, *columns)) == read


def test_a_column_that_one_file_lacks(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": [1], "x": [1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"t": [1]}), tmp_path / "1.parquet")
    with pytest.raises(TableError, match="the same columns: one has no 'x'"):
        open_table("*.parquet", tmp_path)
    pq.write_table(pa.table({"more": [1], "x": [2.5], "t": [2]}), tmp_path / "1.parquet")
    with pytest.raises(TableError, match="the same columns: one has no 'more'"):
        open_table("*.parquet", tmp_path)
    pq.write_table(pa.table({"x": [2.5], "t": [2]}), tmp_path / "1.parquet")
    table = open_table("*.parquet", tmp_path)
    assert (cells(table, "t"), cells(table, "x")) == ([1, 2], [1.0, 2.5])


def test_durations_beside_a_file_without_any(tmp_path: Path) -> None:
    table = files(tmp_path, pa.array([90, 1], pa.duration("s")), pa.nulls(1))
    assert cells(table) == [90, 1, None]
    assert table.durations == {"t": 1}


@pytest.mark.parametrize(
    ("mixed", "words"),
    [
        ([NAIVE, AWARE], "times with a zone beside times without a zone"),
        ([AWARE, None, NAIVE], "times with a zone beside times without a zone"),
        ([pd.Timestamp(NAIVE), pd.Timestamp(AWARE)], "times with a zone beside times without"),
        ([DAY, NAIVE], "dates beside times without a zone"),
        ([DAY, pd.Timestamp(NAIVE)], "dates beside times without a zone"),
        ([dt.timedelta(1), 5], "durations beside other values"),
        ([dt.time(5), dt.time(6, tzinfo=CEST)], "times of day with a zone beside times of day"),
    ],
)
def test_times_of_several_kinds_in_a_data_frame(mixed: list[Any], words: str) -> None:
    """Arrow finds a type for them: it drops clocks, or takes times without a zone for UTC."""
    for cells in (pd.Series(mixed, dtype=object), pd.Categorical(pd.Series(mixed, dtype=object))):
        with pytest.raises(UnreadableCellsError) as error:
            open_table(pd.DataFrame({"t": cells}))
        assert error.value.finding.code == "mixed-cells"
        assert words in error.value.finding.message or "mixes types" in error.value.finding.message


def test_times_of_one_kind_in_a_data_frame() -> None:
    later = dt.datetime(2024, 7, 1, 5, tzinfo=dt.UTC)
    for same in ([AWARE, later], [NAIVE, pd.NaT, NAIVE], [DAY, None, DAY]):
        table = open_table(pd.DataFrame({"t": pd.Series(same, dtype=object)}))
        read = [cell for cell in cells(table) if cell is not None]
        assert read == [cell for cell in same if not pd.isna(cell)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_times_of_every_unit(unit: str, zone: str | None, kind: str, tmp_path: Path) -> None:
    moments = [dt.datetime(2024, 10, 27, hour, tzinfo=dt.UTC) for hour in (0, 1)]
    plain = [moment.replace(tzinfo=None) for moment in moments]
    column = pa.array(moments if zone else plain, pa.timestamp(unit, zone))
    pq.write_table(pa.table({"t": column}), tmp_path / "t.parquet")
    table = open_table(pa.table({"t": column}) if kind == "arrow" else "t.parquet", tmp_path)
    columns = parse_columns({"t": {"role": "order", "step": "1 hour"}})
    assert inspect(table, columns, Structure(n=2, series_length=2)) == []
    read = reading.read(table, columns, "t").value.name("t").as_table().to_pyarrow()["t"]
    assert read.to_pylist() == ["2024-10-27", "2024-10-27 01:00:00"]


def test_periods_of_a_data_frame_are_their_first_days() -> None:
    """They are stored as numbers of quarters since 1970, which nobody means."""
    frame = pd.DataFrame({"t": pd.period_range("2023Q3", periods=3, freq="Q"), "x": [1, 2, 3]})
    columns = parse_columns({"t": {"role": "order", "step": "1 quarter"}})
    table = open_table(frame)
    assert inspect(table, columns, Structure(n=3, series_length=3)) == []
    keys = order_keys.order_key(table, columns["t"]).name("t").as_table().to_pyarrow()["t"]
    assert keys.to_pylist() == [2023 * 4 + 2, 2023 * 4 + 3, 2024 * 4]
    assert str(frame.t.dtype).startswith("period")
