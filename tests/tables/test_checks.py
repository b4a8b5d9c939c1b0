"""Every check of a table is seen passing and failing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.tables.checks.findings import count_records, inspect, structure_findings
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import CountQuery, SumQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run

COLUMNS = {
    "x": {"bounds": [0, 10]},
    "s": {"states": ["a", "b"]},
    "g": {"public": True, "states": ["u", "v"]},
    "c": {"role": "cluster"},
    "p": {"role": "series"},
    "t": {"role": "order", "step": 2},
}
GOOD: dict[str, list[Any]] = {
    "x": [1.0, 2.0, 30.0, -4.0, 5.0, 6.0],
    "s": ["a", "b", "a", "b", "a", "b"],
    "g": ["u", "v", "u", "v", "u", "v"],
    "c": [1, 1, 1, 2, 2, 2],
    "p": ["i", "i", "i", "j", "j", "j"],
    "t": [0, 2, 6, 1, 3, 5],
}
EXPECTED = Structure(n=6, cluster_size=3, series_length=4)


def codes(
    changes: dict[str, list[Any]], expected: Structure = EXPECTED, plan: Any = ()
) -> set[str]:
    table = open_table(pa.table({**GOOD, **changes}))
    columns = parse_columns(COLUMNS)
    actual = {finding.code for finding in inspect(table, columns, expected, plan)}
    if actual:  # whatever the curator sees, a release refuses
        with pytest.raises(TableMismatchError):
            run(table, columns, plan, expected)
    else:
        run(table, columns, plan, expected)
    return actual


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("space", [" ", "  ", "\t", "\u00a0", "\u200b", " \ufeff\u3000"])
def test_spaces_around_a_key_make_no_other_group(tmp_path: Path, suffix: str, space: str) -> None:
    """Clusters and series would be smaller, and records more, than they are."""
    path = tmp_path / f"a.{suffix}"
    frame = pd.DataFrame(
        {
            "person": ["u", f"u{space}", "v", f"{space}v"],
            "c": ["A", f"A{space}", f"{space}A", "B"],
            "p": ["i", f"{space}i", "j", "j"],
            "t": [0, 2, 0, 2],
        }
    )
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    table = open_table(str(path))
    alone = parse_columns({"c": COLUMNS["c"]})
    (finding,) = inspect(table, alone, Structure(n=4, cluster_size=2))
    assert finding.message == "Above the declared size of 2: 1 cluster; the largest has 3 records."
    assert inspect(table, alone, Structure(n=4, cluster_size=3)) == []
    series = parse_columns({"p": COLUMNS["p"], "t": COLUMNS["t"]})
    (finding,) = inspect(table, series, Structure(n=4, series_length=1))[:1]
    assert finding.message == "A series has 2 records, and at most 1 are declared."
    assert count_records(table, "person") == 2
    assert inspect(table, {}, Structure(n=2, unit="person", rows_per_unit=2)) == []
    (finding,) = inspect(table, {}, Structure(n=2, unit="person", rows_per_unit=1))
    assert finding.code == "unit-rows"


def test_a_good_table_passes_gaps_and_values_out_of_bounds_included() -> None:
    assert codes({}) == set()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"x": [1.0, None, 3.0, 4.0, 5.0, 6.0]}, "missing"),
        ({"x": [1.0, math.nan, 3.0, 4.0, 5.0, 6.0]}, "not-finite"),
        ({"x": [1.0, math.inf, 3.0, 4.0, 5.0, 6.0]}, "not-finite"),
        ({"s": ["a", "b", "c", "b", "a", "b"]}, "undeclared"),
        ({"s": ["a", "b", None, "b", "a", "b"]}, "missing"),
        ({"g": ["u", "v", "w", "v", "u", "v"]}, "undeclared"),
        ({"c": [1, 1, 1, 1, 2, 2]}, "cluster-size"),
        ({"c": [1, 1, None, 2, 2, 2]}, "missing"),
        ({"p": ["i", "i", None, "j", "j", "j"]}, "missing"),
        ({"t": [0, 2, 8, 1, 3, 5]}, "series-span"),
        ({"t": [0, 2, 2, 1, 3, 5]}, "duplicate-order"),
        ({"t": [0, 2, 3, 1, 3, 5]}, "off-step"),
        ({"t": [0, 6, 2, 1, 3, 5]}, "misordered"),
        ({"t": [0, 2, None, 1, 3, 5]}, "missing"),
    ],
)
def test_what_is_wrong_in_the_cells(changes: dict[str, list[Any]], code: str) -> None:
    assert code in codes(changes)


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        (Structure(n=7), "n"),
        (Structure(n=5), "n"),
        (Structure(cluster_size=2), "cluster-size"),
        (Structure(series_length=3), "series-span"),
        (Structure(series_length=2), "series-length"),
        (Structure(series_length=4, several_series=False), "several-series"),
    ],
)
def test_what_is_wrong_in_the_structure(expected: Structure, code: str) -> None:
    assert code in codes({}, expected)
    assert codes({}, Structure()) == set()


def test_a_declared_group_without_rows_is_counted_as_0() -> None:
    changes = {"g": ["u"] * 6}
    assert codes(changes) == set()
    plan = [CountQuery("q", by="g"), SumQuery("s", "x", Grid(0.0, 10.0, 4), by="g")]
    assert codes(changes, EXPECTED, plan) == set()
    totals = run(open_table(pa.table({**GOOD, **changes})), parse_columns(COLUMNS), plan, EXPECTED)
    assert totals["q"].values == {"u": (6,), "v": (0,)}
    assert totals["q"].sizes == {"u": 6, "v": 0}
    assert totals["s"].values["v"] == (0,)


def test_without_cluster_or_series_column_the_table_is_one() -> None:
    table = open_table(pa.table({"x": [1.0, 2.0, 3.0]}))
    columns = parse_columns({"x": {"bounds": [0, 10]}})
    assert inspect(table, columns, Structure(cluster_size=3, series_length=3)) == []
    inspection = inspect(table, columns, Structure(cluster_size=2, series_length=2))
    assert [finding.code for finding in inspection] == ["cluster-size", "series-length"]


UNITS = {
    "x": {"bounds": [0, 10]},
    "c": {"role": "cluster"},
    "t": {"role": "order", "step": 1},
}


def test_records_of_several_rows() -> None:
    data: dict[str, list[Any]] = {
        "person": ["a", "a", "b", "b", "d"],
        "x": [1.0] * 5,
        "c": [1, 1, 1, 1, 2],
        "t": [1, 1, 2, 2, 3],
    }
    columns = parse_columns(UNITS)
    expected = Structure(n=3, unit="person", rows_per_unit=2, cluster_size=2, series_length=3)

    def findings(changes: dict[str, list[Any]], structure: Structure = expected) -> set[str]:
        table = open_table(pa.table({**data, **changes}))
        return {finding.code for finding in inspect(table, columns, structure)}

    assert findings({}) == set()
    totals = run(open_table(pa.table(data)), columns, [], expected)
    assert (totals.rows, totals.records) == (5, 3)
    assert findings({}, Structure(n=5, unit="person")) == {"n"}
    assert findings({}, Structure(unit="person", rows_per_unit=1)) == {"unit-rows"}
    assert findings({}, Structure(unit="person", cluster_size=1)) == {"cluster-size"}
    assert findings({"c": [1, 2, 1, 1, 2]}) == {"unit-cluster"}
    assert findings({"t": [1, 2, 2, 2, 3]}) >= {"unit-order"}
    assert findings({"t": [1, 1, 1, 1, 3]}) == {"duplicate-order"}
    assert "unit-missing" in findings({"person": ["a", "a", "b", "b", None]})
    assert findings({}, Structure(unit="persn")) == {"no-column"}


def test_dates_and_times_as_order_keys(tmp_path: Path) -> None:
    columns = parse_columns({"when": {"role": "order", "step": "15 minutes"}})
    times = pd.to_datetime(["2024-01-01 00:00", "2024-01-01 00:15", "2024-01-01 01:00"])
    frame = pd.DataFrame({"when": times})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(when=times.tz_localize("UTC")).to_parquet(tmp_path / "t.parquet")
    for source in (frame, "t.csv", "t.parquet"):
        table = open_table(source, tmp_path)
        assert inspect(table, columns, Structure(series_length=5)) == []
        inspection = inspect(table, columns, Structure(series_length=4))
        assert [finding.code for finding in inspection] == ["series-span"]
    days = parse_columns({"when": {"role": "order", "step": "1 day"}})
    inspection = inspect(open_table("t.csv", tmp_path), days, Structure())
    assert {finding.code for finding in inspection} >= {"off-step"}
    (tmp_path / "bad.csv").write_text("when\n2024-01-01\nyesterday\n")
    inspection = inspect(open_table("bad.csv", tmp_path), days, Structure())
    assert [finding.code for finding in inspection] == ["not-a-time", "order-key"]


def test_findings_never_show_values() -> None:
    table = open_table(pa.table({**GOOD, "s": ["a", "b", "secretly", "b", "a", "b"]}))
    findings = inspect(table, parse_columns(COLUMNS), EXPECTED)
    assert findings
    assert not any("secretly" in finding.message for finding in findings)


def test_two_columns_of_one_role_are_refused() -> None:
    columns = parse_columns({"a": {"role": "cluster"}, "b": {"role": "cluster"}})
    with pytest.raises(InputError, match="one column at most"):
        inspect(open_table(pa.table({"a": [1], "b": [1]})), columns, Structure())


def test_a_column_compared_as_two_types_is_refused() -> None:
    from bayesdp.tables.columns.predicates import Predicate

    columns = parse_columns({"site": {"public": True}})
    plan = [
        CountQuery("a", Predicate.parse("site == 'x'", columns)),
        CountQuery("b", Predicate.parse("site == 1", columns)),
    ]
    with pytest.raises(InputError, match="one type"):
        run(open_table(pa.table({"site": ["x"]})), columns, plan)


def test_records_are_counted_once_for_each_unit() -> None:
    frame = pd.DataFrame({"person": ["a", "a", None, "b", None], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    table = open_table(frame)
    assert count_records(table) == 5
    assert count_records(table, "person") == 3
    columns = parse_columns({"person": {"public": True}, "x": {"bounds": [0, 9]}})
    actual, records = structure_findings(
        table, columns, Structure(unit="person", rows_per_unit=2), rows=5
    )
    assert records == 3
    assert [finding.code for finding in actual] == ["unit-missing"]


@pytest.mark.parametrize("cell", ["", '""', "NA", "  "])
def test_rows_of_nobody_are_no_record_of_a_file(cell: str, tmp_path: Path) -> None:
    """However nothing is written, such rows belong to no record, and not to one together."""
    (tmp_path / "visits.csv").write_text(f"pid,x\na,0\na,1\n{cell},1\n{cell},0\n")
    table = open_table("visits.csv", tmp_path)
    columns = parse_columns({"pid": {"public": True}, "x": {"states": [0, 1]}})
    inspection = inspect(table, columns, Structure(n=2, unit="pid", rows_per_unit=2))
    assert "unit-missing" in {finding.code for finding in inspection}
