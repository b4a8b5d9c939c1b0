"""Joins, wide tables and caps, as every engine must compute them: stories for each engine's tests.

`both` of these functions opens the same cells in DuckDB and in another engine.
"""

from __future__ import annotations

import datetime as dates
import random
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from bayesdp.errors import TableError, UnsupportedError
from bayesdp.tables.cells.joins import joined, parse_joins
from bayesdp.tables.cells.wide import melted, parse_wide
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import Cap, CountQuery, DataQuery, HistogramQuery, SumQuery
from bayesdp.tables.source import Table
from bayesdp.tables.sums.scan import _Scan, run

Cells = Mapping[str, tuple[str, list[Any]]]
Both = Callable[[Cells], tuple[Table, Table]]
NAN, INF = float("nan"), float("inf")
NUMBERS = [0.5, -0.0, 0.0, 1e308, NAN, INF, 5e-324, 0.1, 2.0**53, -7.0, None]
TEXTS = ["A1", " A1", "A1 ", "a1", "Ä1", "A\u03081", "🙂", "O'Brien", "back\\slash", "{x}", "NULL"]
GRID = Grid(-10.0, 10.0, 30)


def _scanned(table: Table, columns: Any, plan: list[DataQuery]) -> list[Any]:
    return sorted(_Scan(table, columns, plan).rows(), key=repr)


def joins_are_the_same(both: Both, folder: Path, rows: int = 400) -> None:
    """Keys of texts, whole numbers, doubles, dates and times; cells of every kind."""
    rng = random.Random(5)
    texts = [text for text in TEXTS if text.strip() == text]
    days = [dates.date(1969, 12, 31), dates.date(2024, 2, 29), dates.date(2024, 3, 1)]
    times = [dates.datetime(2024, 3, 31, 1, 0, 0, 1), dates.datetime(1900, 1, 1)]
    number = len(texts)
    public = pa.table(
        {
            "text": texts,
            "whole": pa.array(range(number), pa.int16()),
            "double": [float(i) / 2 for i in range(number)],
            "value": pa.array([NUMBERS[i % len(NUMBERS)] for i in range(number)], pa.float64()),
            "single": pa.array([0.1 * i for i in range(number)], pa.float32()),
            "money": pa.array([Decimal(i) / 4 for i in range(number)], pa.decimal128(12, 2)),
            "state": [rng.choice([*TEXTS, None]) for _ in range(number)],
            "truth": [rng.choice([True, False, None]) for _ in range(number)],
            "born": [rng.choice([*days, None]) for _ in range(number)],
            "seen": pa.array([rng.choice(times) for _ in range(number)], pa.timestamp("ns")),
            "region": [rng.choice(["n", "s"]) for _ in range(number)],
        }
    )
    by_day = pa.table({"day": days, "holiday": [True, None, False]})
    pyarrow.parquet.write_table(public, folder / "public.parquet")
    pyarrow.parquet.write_table(by_day, folder / "days.parquet")
    cells: Cells = {
        "text": ("text", [rng.choice([*TEXTS, "absent", "", None]) for _ in range(rows)]),
        "whole": ("int8", [rng.choice([*range(number), 2**60, None]) for _ in range(rows)]),
        "double": ("float8", [rng.choice([0.5, -0.0, 1.0, NAN, INF, None]) for _ in range(rows)]),
        "day": ("date", [rng.choice([*days, dates.date(2000, 1, 1), None]) for _ in range(rows)]),
        "x": ("float8", [rng.uniform(-12, 12) for _ in range(rows)]),
    }
    columns = parse_columns(
        {
            "x": {"bounds": [-10, 10]},
            "value": {"bounds": [-10, 10], "missing": {"impute": 1.0}},
            "single": {"bounds": [-10, 10], "missing": {"impute": 1.0}},
            "money": {"bounds": [-10, 10], "missing": {"impute": 1.0}},
            "state": {"states": TEXTS, "missing": {"impute": "A1"}},
            "truth": {"states": [True, False], "missing": {"impute": True}},
            "born": {"bounds": ["1950-01-01", "2030-01-01"], "missing": {"impute": "2000-01-01"}},
            "seen": {"bounds": ["1890-01-01", "2030-01-01"], "missing": {"impute": "2000-01-01"}},
            "region": {"public": True, "states": ["n", "s", "?"], "missing": {"impute": "?"}},
            "holiday": {"states": [True, False], "missing": {"impute": False}},
        }
    )
    plan: list[DataQuery] = [
        *(SumQuery(name, name, GRID, by="region") for name in ("x", "value", "single", "money")),
        *(HistogramQuery(name, name, by="region") for name in ("state", "truth", "holiday")),
        CountQuery("born", Predicate.parse("born < '2024-03-01'", columns), "region"),
        CountQuery("seen", Predicate.parse("seen < '2024-03-31 01:00:00'", columns), "region"),
    ]
    taken = [name for name in public.column_names if name in columns]
    for key in ("text", "whole", "double"):
        for unmatched in ("missing", "refuse"):
            wanted = parse_joins(
                [
                    {"table": "public.parquet", "on": key, "columns": taken},
                    {"table": "days.parquet", "on": "day", "columns": ["holiday"]},
                ]
            )
            wanted = tuple(join.model_copy(update={"unmatched": unmatched}) for join in wanted)
            tables = [joined(table, wanted, columns, folder) for table in both(cells)]
            known, same = (_scanned(table, columns, plan) for table in tables)
            assert known == same
            findings = [inspect(table, columns, Structure(n=rows), plan) for table in tables]
            assert findings[0] == findings[1]
            refused = any("Keys in" in finding.message for finding in findings[0])
            assert refused == (unmatched == "refuse")


def wide_tables_are_the_same(both: Both, rows: int = 300) -> None:
    """Cells of several types and none at all, in every reading of an empty record."""
    rng = random.Random(7)
    cells: Cells = {
        "pair": ("int8", list(range(rows))),
        "xa": ("float8", [rng.choice(NUMBERS) for _ in range(rows)]),
        "xb": ("int4", [rng.choice([*range(9), None]) for _ in range(rows)]),
        "sa": ("text", [rng.choice(["f", "m", "", None]) for _ in range(rows)]),
        "sb": ("text", [rng.choice(["f", "m", " m", None]) for _ in range(rows)]),
    }
    columns = parse_columns(
        {
            "x": {"bounds": [-10, 10], "missing": {"impute": 0.5}},
            "s": {"states": ["f", "m"], "missing": {"impute": "f"}},
            "member": {"public": True, "states": ["a", "b"]},
            "pair": {"role": "cluster"},
        }
    )
    plan: list[DataQuery] = [SumQuery("x", "x", GRID, by="member"), HistogramQuery("s", "s")]
    for empty in ("refuse", "skip", "keep"):
        wide = parse_wide(
            {
                "records": {"x": ["xa", "xb"], "s": ["sa", "sb"]},
                "position": {"name": "member", "values": ["a", "b"]},
                "empty": empty,
            }
        )
        tables = [melted(table, wide, columns) for table in both(cells)]
        known, same = (_scanned(table, columns, plan) for table in tables)
        assert known == same
        expected = Structure(cluster_size=2)
        findings = [inspect(table, columns, expected, plan) for table in tables]
        assert findings[0] == findings[1]


def what_cannot_be_sent_is_refused(both: Both, folder: Path) -> None:
    """More rows than a query can carry, and cells that no other engine has."""
    there = both({"k": ("int8", [1, 2])})[1]
    columns = parse_columns({"b": {"states": ["x"]}})

    def look_up(**cells: Any) -> None:
        pyarrow.parquet.write_table(pa.table(cells), folder / "public.parquet")
        join = {"table": "public.parquet", "on": "k", "columns": ["b"]}
        joined(there, parse_joins([join]), columns, folder)

    look_up(k=[1, 2], b=["x", "y"])
    with pytest.raises(UnsupportedError, match="at most 100000 rows, which are sent to"):
        look_up(k=range(100_001), b=["x"] * 100_001)
    with pytest.raises(UnsupportedError, match=r"'b'.*numbers, texts, truth values"):
        look_up(k=[1], b=[["x"]])
    with pytest.raises(TableError, match="several have it"):
        look_up(k=[1, 1], b=["x", "y"])


def the_same_rows_count(both: Both, rows: int = 200) -> None:
    """Which ones is decided by a hash, of texts that all engines write alike."""
    rng = random.Random(3)
    cells: Cells = {
        "p": ("int8", [rng.randrange(40) for _ in range(rows)]),
        "x": (
            "float8",
            [rng.choice([0.1, -0.0, 5e-324, rng.uniform(-9, 99)]) for _ in range(rows)],
        ),
        "w": ("text", [rng.choice(["a", "ä", "🙂"]) for _ in range(rows)]),
        "d": ("date", [dates.date(2024, 1, rng.randint(1, 31)) for _ in range(rows)]),
        "r": ("text", [rng.choice(["north", "south"]) for _ in range(rows)]),
    }
    columns = parse_columns(
        {
            "x": {"bounds": [0, 50]},
            "w": {"states": ["a", "ä", "🙂"]},
            "d": {"bounds": ["2024-01-01", "2024-02-01"]},
            "r": {"public": True, "states": ["north", "south"]},
        }
    )
    grid = Grid.plan(0.0, 50.0, rows, dp_epsilon=1.0, masked=True)
    plan: list[DataQuery] = [
        SumQuery("s", "x", grid),
        SumQuery("t", "x", grid, cap=Cap(rows=1, total_bounds=(0.0, 60.0))),
        CountQuery("c", None, "r", Cap(groups=1, rows_in_group=1)),
        HistogramQuery("h", "w", None, None, "r"),
    ]
    expected = Structure(n=len(set(cells["p"][1])), unit="p", max_rows=2, dataset="d")
    duck, there = both(cells)
    known = run(duck, columns, plan, expected)
    assert run(there, columns, plan, expected) == known
    assert sum(sum(held) for held in known["h"].values.values()) < rows
