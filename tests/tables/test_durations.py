"""Durations as values: numbers of the unit of their bounds, however they are stored."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import InputError, TableError
from bayesdp.release import Study
from bayesdp.release.spec.study import describe_column
from bayesdp.tables.cells import reading
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import open_table
from bayesdp.verification import verify

WAIT: dict[str, Any] = {"wait": {"bounds": ["0 minutes", "120 minutes"]}}
WAITS = [dt.timedelta(minutes=7, seconds=30), None, dt.timedelta(days=1, hours=1)]
IMPUTED = {"wait": {**WAIT["wait"], "missing": {"impute": "15 minutes"}}}


def read(source: Any, folder: Path, columns: dict[str, Any]) -> tuple[list[Any], list[str]]:
    table, parsed = open_table(source, folder), parse_columns(columns)
    value = reading.read(table, parsed, "wait").value
    cells = value.name("cells").as_table().to_pyarrow()["cells"].to_pylist()
    return cells, [finding.code for finding in inspect(table, parsed, Structure())]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_every_unit_and_library(unit: str, tmp_path: Path) -> None:
    column = pa.array(WAITS, pa.duration(unit)) if unit != "s" else None
    whole = [wait and round(wait.total_seconds()) for wait in WAITS]
    column = pa.array(whole, pa.duration("s")) if column is None else column
    table = pa.table({"wait": column})
    pq.write_table(table, tmp_path / "w.parquet")
    for source in (table, "w.parquet", table.to_pandas(), pl.from_arrow(table)):
        assert read(source, tmp_path, IMPUTED) == ([7.5, 15.0, 120.0], [])
        assert read(source, tmp_path, WAIT)[1] == ["missing"]


TEXTS = {
    "0:07:30": 7.5,
    "00:07:30.5": 7.5 + 0.5 / 60.0,
    " 1:30:00 ": 90.0,
    "0 days 01:30:00": 90.0,
    "1 day 00:00:00": 120.0,
    "90:00:00": 120.0,
    "PT1H30M": 90.0,
    "PT90S": 1.5,
    "P0DT0.6S": 0.01,
    "P1D": 120.0,
    **dict.fromkeys(["1:30", "0:60:00", "-0:07:30", "90", "7.5", "P", "PT", "P1M", "1h", "x"]),
}


def test_durations_that_are_texts(tmp_path: Path) -> None:
    """Two numbers with a colon may be hours and minutes, or minutes and seconds."""
    frame = pd.DataFrame({"wait": list(TEXTS)})
    frame.to_csv(tmp_path / "w.csv", index=False)
    for source in (frame, "w.csv"):
        cells, codes = read(source, tmp_path, WAIT)
        assert cells == [pytest.approx(value) if value else None for value in TEXTS.values()]
        assert codes == ["not-a-duration"]
    (tmp_path / "w.csv").write_text("wait,x\n0:07:30,1\nNA,1\n,1\n")
    assert read("w.csv", tmp_path, IMPUTED) == ([7.5, 15.0, 15.0], [])


@pytest.mark.parametrize(
    ("most", "value"), [("9999999 seconds", 5400.0), ("2 hours", 1.5), ("3 days", 0.0625)]
)
def test_the_unit_is_that_of_the_bounds(most: str, value: float, tmp_path: Path) -> None:
    columns = {"wait": {"bounds": [f"0 {most.split()[1]}", most]}}
    for source in ({"wait": ["1:30:00"]}, {"wait": pd.to_timedelta(["1:30:00"])}):
        assert read(pd.DataFrame(source), tmp_path, columns) == ([value], [])


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ({"bounds": ["0 minutes", "2 hours"]}, "bounds"),
        ({"bounds": ["0 minutes", 90]}, "bounds"),
        ({"bounds": ["0 minutes", "2024-01-01"]}, "bounds"),
        ({"bounds": ["2 hours", "1 hour"]}, "bounds"),
        ({"bounds": ["0 months", "3 months"]}, "bounds"),
        ({"bounds": ["0 hours", "1 hour"], "unit": "h"}, "unit"),
        ({"bounds": ["0 hours", "1 hour"], "missing": {"impute": "30 minutes"}}, "missing"),
        ({"bounds": ["0 hours", "1 hour"], "missing": {"impute": "3 hours"}}, "missing"),
        ({"bounds": ["0 hours", "1 hour"], "format": "%H"}, "format"),
        ({"bounds": [0, 1], "is_duration": True}, "is_duration"),
    ],
)
def test_what_are_no_bounds_of_durations(declared: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=rf"data\.columns\.wait\.{key}"):
        parse_columns({"wait": declared})


def test_columns_of_other_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="durations in the table in memory, or bounds that are"):
        read(pd.DataFrame({"wait": [7.5]}), tmp_path, WAIT)
    numbers = {"wait": {"bounds": [0, 120]}}
    with pytest.raises(TableError, match=r"\['0 minutes', '90 minutes'\]"):
        read(pd.DataFrame({"wait": pd.to_timedelta([7], unit="m")}), tmp_path, numbers)
    with duckdb.connect(str(tmp_path / "w.duckdb")) as made:  # a month has no length
        made.execute("create table w as select interval '1 month' as wait")
    with pytest.raises(TableError, match="durations in"):
        read("w.duckdb::w", tmp_path, WAIT)


def test_files_with_durations_of_other_units_are_refused(tmp_path: Path) -> None:
    for i, kind in enumerate([pa.duration("s"), pa.duration("ms"), pa.int64()]):
        pq.write_table(pa.table({"wait": pa.array([60], kind)}), tmp_path / f"{i}.parquet")
    for pair in ("[01]", "[02]", "[12]"):
        with pytest.raises(TableError, match=r"the same types, and 'wait' is DURATION\["):
            open_table(f"{pair}.parquet", tmp_path)


def test_a_mean_of_durations_is_released_and_verified(tmp_path: Path) -> None:
    made = Study(
        pd.DataFrame({"wait": pd.to_timedelta([30, 60], unit="m")}),
        dataset="waits",
        n=2,
        columns=WAIT | {"long": {"from": "wait", "cuts": [45]}},
        population={"model": "independent", "covers": ["wait", "long"]},
        budget={"epsilon": 1000.0},
        queries=[
            {"name": "mean", "kind": "mean", "column": "wait"},
            {"name": "long", "kind": "count", "where": "wait > 45 and long == 1"},
        ],
        ledger=str(tmp_path / "ledger.db"),
    )
    assert describe_column(made.spec.columns["wait"]) == {"bounds": [0.0, 120.0], "unit": "minutes"}
    released = made.release()
    assert released["mean"].value == pytest.approx(45.0, abs=5)
    assert released["mean"].unit == "minutes"
    assert released["long"].value == pytest.approx(1.0, abs=1)
    assert verify(released.certificate).verdict == "VALID ASSUMING"
