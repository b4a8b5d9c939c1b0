"""What the tests of engines share: hostile cells, and plans that ask all of them."""

from __future__ import annotations

import datetime as dates
import random
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa

from bayesdp.statements.queries import interval_of_products
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids
from bayesdp.tables.queries.query import (
    CountQuery,
    DataQuery,
    DeviationQuery,
    HistogramQuery,
    ProductQuery,
    SumQuery,
)
from bayesdp.tables.source import Table
from bayesdp.tables.sums.scan import _Scan

ARROW = {
    "float8": pa.float64(),
    "float4": pa.float32(),
    "int8": pa.int64(),
    "int4": pa.int32(),
    "bool": pa.bool_(),
    "text": pa.string(),
    "varchar(40)": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "numeric(27,6)": pa.decimal128(27, 6),
    "numeric": pa.decimal128(38, 10),
}
Cells = Mapping[str, tuple[str, list[Any]]]


def scanned(table: Table, columns: Mapping[str, Column], plan: list[DataQuery]) -> list[Any]:
    """Every integer of the scan behind a plan, also where cells are wrong."""
    return sorted(_Scan(table, columns, plan).rows(), key=repr)


def findings(
    table: Table, columns: Mapping[str, Column], expected: Structure, plan: list[DataQuery]
) -> list[str]:
    return [finding.message for finding in inspect(table, columns, expected, plan)]


def plan_of(columns: Mapping[str, Column], rows: int, by: str = "r") -> list[DataQuery]:
    """Every kind of query over every column, plain, masked, with conditions, and by groups."""
    plan: list[DataQuery] = []
    for name, column in columns.items():
        if column.is_public:
            continue
        if column.interval is not None and column.bounds is not None:
            low, high = column.interval
            plain = Grid.plan(low, high, rows, dp_epsilon=1.0)
            masked = Grid.plan(low, high, rows, dp_epsilon=1.0, masked=True)
            where = Predicate.parse(f"{name} > {low / 2 + high / 2}", columns)
            squares = Grid.plan(low, high, rows, dp_epsilon=1.0, squares=True)
            plan += [
                DeviationQuery(f"squares {name}", name, squares, None, by),
                SumQuery(f"sum {name}", name, plain),
                SumQuery(f"masked {name}", name, masked, where, by),
                HistogramQuery(f"bins {name}", name, (low, low / 2 + high / 2, high), where, by),
            ]
        else:
            plan.append(HistogramQuery(f"states {name}", name))
    if {"half", "truth"} <= columns.keys():
        plan.append(HistogramQuery("two ways", ("half", "truth"), None, None, by))
    plan += products_of(columns, rows, by)
    return [*plan, CountQuery("count", None, by), CountQuery("all")]


def products_of(columns: Mapping[str, Column], rows: int, by: str) -> list[DataQuery]:
    """Weighted sums, covariances and moments of `columns` of numbers next to each other.

    In a table of so many `rows`, plain and by the groups `by`.
    """
    plan: list[DataQuery] = []
    intervals = {
        name: column.interval
        for name, column in columns.items()
        if not column.is_public and column.interval is not None and column.bounds is not None
    }
    grids = {
        name: Grid.plan(*interval, rows, dp_epsilon=1.0, squares=True)
        for name, interval in intervals.items()
    }
    for names in pairwise(intervals):
        grids_of_pair = Grids.alike([grids[name] for name in names])
        plan.append(ProductQuery(f"covariance {names}", names, grids_of_pair, False, None, by))
        ends = interval_of_products(*(intervals[name] for name in names))
        if max(map(abs, ends)) < 1e300:
            grid = Grid.plan(*ends, rows, dp_epsilon=1.0, masked=True)
            where = Predicate.parse(f"{names[0]} > 0", columns)
            for left, right in (names, names[::-1]):
                title = f"{left} weighted by {right}"
                plan += [
                    SumQuery(title, left, grid, weighted_by=right),
                    SumQuery(f"{title}, some", left, grid, where, by, weighted_by=right),
                ]
    if len(grids) > 1:
        alike = Grids.alike(list(grids.values()))
        plan.append(ProductQuery("moments", tuple(grids), alike, True))
    return plan


NAN, INF = float("nan"), float("inf")
HOSTILE = [
    *(NAN, INF, -INF, -0.0, 0.0, 5e-324, -5e-324, 2.2250738585072014e-308, -1e-310, None),
    *(1e308, -1e308, 1.7976931348623157e308, 0.5, -0.5, 1.5, 2.5, 0.49999999999999994),
    *(4503599627370497.5, 100.0, -100.0, 99.99999999999999),
]


def hostile_cells(rows: int, seed: int) -> Cells:
    rng = random.Random(seed)
    step = float(Grid.plan(-100.0, 100.0, rows, dp_epsilon=1.0).step)

    def column(kind: str, *draws: Callable[[], Any]) -> tuple[str, list[Any]]:
        return kind, [rng.choice(draws)() for _ in range(rows)]

    def listed(*values: Any) -> Callable[[], Any]:
        return lambda: rng.choice(values)

    def time() -> dates.datetime:
        year = rng.choice([1, 1582, 1900, 1969, 1970, 2024, 2024, 9999])
        clock = rng.randrange(24), rng.randrange(60), rng.randrange(60)
        parts = rng.choice([0, 1, 999_999, rng.randrange(10**6)])
        return dates.datetime(year, rng.randint(1, 12), rng.randint(1, 28), *clock, parts)

    def zoned() -> dates.datetime:
        hours = rng.choice([-11, 0, 2, 14])
        zone = dates.timezone(dates.timedelta(hours=hours))
        return time().replace(year=rng.choice([1969, 2024]), tzinfo=zone)

    return {
        "x": column(
            "float8",
            listed(*HOSTILE),
            lambda: rng.uniform(-120, 120),
            lambda: -100 + (rng.randrange(2**30) + 0.5) * step,
        ),
        "wide": column("float8", listed(*HOSTILE), lambda: rng.uniform(-1e308, 1e308)),
        "single": column(
            "float4", listed(NAN, 1e-45, 3.4028234663852886e38, -0.0, None), rng.random
        ),
        "whole": column("int8", listed(None, 0, 1, 2, 2**53, 2**53 + 1, -(2**63), 2**63 - 1)),
        "decimal": column(
            "numeric(27,6)",
            listed(None, Decimal("-0.000001"), Decimal("12345678901234.567890")),
            lambda: Decimal(rng.randrange(10**20)).scaleb(-6),
        ),
        "truth": column("bool", listed(None, True, False)),
        "word": column(
            "text",
            listed("a", "b", " a", "a ", "ä", "a\u0308", "Ä", "ß", "日本", "🙂", "NA", "A", None),
        ),
        "time": column("timestamp", time, listed(None)),
        "day": column(
            "date",
            lambda: time().date(),
            listed(None, dates.date(1, 1, 1), dates.date(9999, 12, 31)),
        ),
        "zoned": column("timestamptz", zoned, listed(None)),
        "cluster": column("text", lambda: f"{rng.randrange(rows)}", listed("\u2003x", "x", "X")),
        "r": column("text", listed("north", "south")),
    }


HOSTILE_COLUMNS = parse_columns(
    {
        "x": {
            "bounds": [-100, 100],
            "missing": {"codes": [-100, 99.99999999999999], "impute": 0.5},
        },
        "wide": {"bounds": [-8e307, 8e307]},
        "single": {"bounds": [-1, 1e38], "missing": {"codes": [0], "impute": 1}},
        "whole": {"states": [0, 1, 2]},
        "decimal": {"bounds": [0, 1e13]},
        "truth": {"states": [False, True]},
        "word": {
            "states": ["a", "ä", "日本", "🙂", "A"],
            "missing": {"codes": ["NA", "ß"], "impute": "a"},
        },
        "time": {"bounds": ["2000-01-01", "2026-01-01"]},
        "day": {"bounds": ["1900-01-01", "2026-01-01"]},
        "zoned": {"bounds": ["1900-01-01", "2026-01-01 10:00:00"]},
        "cuts": {"from": "x", "cuts": [-5e-324, 0.5, 50]},
        "half": {"from": "x", "where": "x > 0.5"},
        "cluster": {"role": "cluster"},
        "r": {"public": True, "states": ["north", "south"]},
    }
)


TIMES = [
    *("2024-07-01", "2024-7-1", "2024/7/1", "2024-07/01", "2024-07-01T1:30", "2024-02-29T10:00"),
    *("2024-07-01  1:30:59.9999999", "2024-07-01 24:00:00", "2024-07-01 24:00:01", "2024-02-30"),
    *("2024-07-01 23:59:60", "2023-02-29", "0000-01-01", "0001-01-01", "2024-13-01", "x", "", "NA"),
    *("9999-12-31 23:59:59.9999999", "2024-07-01T00:30:00+02:00", "2024-07-01 00:30Z", None),
    *("2024-07-01 00:30 UTC", "2024-07-01 00:30-0330", "2024-07-01 00:30+16:00", "2100-02-29"),
    *("2024-07-01 10:00 CET", "2024-07-01\n", "9999-12-31 23:59:59-15:00", "2000-02-29"),
    *("0001-01-01 00:00+15:00", " 2024-07-01 ", "0000-02-29", "2024-00-01", "2024-01-00"),
]
DURATIONS = [
    *("1:30:00", "2 days 01:30:00", "PT1H30M", "P", "PT", "P1DT2.5S", "0:00:00.0000001", "PT0.1S"),
    *(
        "99999999:00:00",
        "1 day 0:00:00",
        "-1:00:00",
        "",
        None,
        "NA",
        "P3D",
        "00:59:60",
        "00:59:59.9",
    ),
]
FORMATTED = [
    *("01.02.2024", "1.2.2024", "31.02.2024", "2024-01-01", "", None, "29.02.2023", "00.01.2024"),
]


ORDERS: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    "numbers": ("int4", {"step": 2}, [0, 2, 4, 5, None, 2, 10]),
    "days": (
        "date",
        {"step": "1 day"},
        [dates.date(2024, 2, day) for day in (1, 2, 3, 9, 1, 4, 5)],
    ),
    "months": (
        "date",
        {"step": "1 month"},
        [dates.date(2024, m, 5) for m in (1, 2, 3, 9, 1, 4, 5)],
    ),
    "times": (
        "timestamptz",
        {"step": "15 minutes"},
        [
            dates.datetime(2024, 10, 27, 0, minute, tzinfo=dates.timezone(dates.timedelta(hours=h)))
            for h, minute in ((2, 0), (1, 0), (1, 15), (0, 1), (2, 30), (2, 45), (2, 0))
        ],
    ),
    "texts": (
        "text",
        {"step": "1 day"},
        ["2024-02-01", "2024-02-02", "x", "2024-02-02 01:00", "2024-02-09", "2024-02-05", None],
    ),
}
