"""Exact integer sums: equal to the reference arithmetic, whatever the floats, order and source."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import CountQuery, HistogramQuery, SumQuery
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums import scan
from bayesdp.tables.sums.scan import run
from tests.effort import runs


def reference(grid: Grid, values: list[float]) -> int:
    """The prescribed arithmetic in fractions, rounded to double after each operation."""
    total = 0
    for x in values:
        clipped = min(max(Fraction(x), Fraction(grid.lo)), Fraction(grid.hi))
        offset = Fraction(0) if grid.masked else Fraction(grid.lo)
        distance = Fraction(float(clipped - offset))
        product = Fraction(float(distance * Fraction(grid.factor)))
        total += min(max(math.floor(product), grid.least), grid.most)
    return total


def adversarial(lo: float, hi: float, size: int, rng: random.Random) -> list[float]:
    ends = [lo, hi, math.nextafter(lo, math.inf), math.nextafter(hi, -math.inf)]
    ends += [math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf), 0.0, -0.0]
    extremes = [1e16, -1e16, 1e-16, -1e-16, 1e308, -1e308, 5e-324, 0.1 + 0.2, 1 / 3]
    return [rng.choice([*ends, *extremes, rng.uniform(lo, hi)]) for _ in range(size)]


@pytest.mark.prove
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("lo", "hi"), [(0, 1), (-3.3, 7.7), (0.1, 0.7), (1e-16, 1e16), (-1e16, 1e-16), (120, 220)]
)
def test_adversarial_floats_are_summed_exactly(lo: float, hi: float, masked: bool) -> None:
    rng = random.Random(f"{lo} {hi} {masked}")
    columns = parse_columns({"x": {"bounds": [lo, hi]}})
    low, high = columns["x"].bounds or (0.0, 0.0)
    for _ in range(runs(30)):
        values = adversarial(low, high, 3000, rng)
        grid = Grid.plan(low, high, len(values), dp_epsilon=0.7, masked=masked)
        totals = []
        for _ in range(2):
            table = open_table(pa.table({"x": values}))
            totals.append(run(table, columns, [SumQuery("s", "x", grid)])["s"].values[None])
            rng.shuffle(values)
        assert totals[0] == totals[1] == (reference(grid, values),)
        assert totals[0] == (sum(map(grid.index, values)),)


ROWS = [
    {"x": x, "k": k, "s": s, "b": b}
    for i, (x, k, s, b) in enumerate(
        (round(0.37 * i % 11 - 2, 6), "uv w"[i % 4], i % 3, i % 5 < 2) for i in range(400)
    )
]
COLUMNS = parse_columns(
    {
        "x": {"bounds": [-1, 8]},
        "k": {"public": True, "states": ["u", "v", " ", "w"]},
        "s": {"states": [0, 1, 2]},
        "b": {"states": [True, False]},
        "deep": {"from": "x", "cuts": [0, 2.5, 5]},
    }
)
GRID = Grid.plan(-1.0, 8.0, 400, dp_epsilon=0.5)
ANCHORED = Grid.plan(-1.0, 8.0, 400, dp_epsilon=0.5, masked=True)
PRIVATE = Predicate.parse("s >= 1 and b == True", COLUMNS)
PUBLIC = Predicate.parse("k in ['u', 'v']", COLUMNS)
OF_GROUPS = Predicate.parse("k in ['u', 'v'] and s >= 1", COLUMNS)  # by columns of the GROUP BY
EDGES = (0.0, 1.0, 4.0, 6.0)
PLAN = [
    SumQuery("sum", "x", GRID),
    SumQuery("sum by", "x", GRID, by="k"),
    SumQuery("sum where", "x", ANCHORED, where=PRIVATE),
    SumQuery("sum public", "x", GRID, where=PUBLIC),
    CountQuery("count", PRIVATE),
    CountQuery("count by", PRIVATE, by="k"),
    HistogramQuery("states", "s"),
    HistogramQuery("bins", "x", EDGES, by="k"),
    HistogramQuery("derived", "deep", where=PRIVATE),
    SumQuery("sum of groups", "x", ANCHORED, where=OF_GROUPS),
    CountQuery("count of groups", OF_GROUPS, by="k"),
]


def clip(x: float) -> float:
    return min(max(x, -1.0), 8.0)


def expected() -> dict[str, dict[Any, tuple[int, ...]]]:
    """Every total by plain Python loops."""
    keys = ["u", "v", " ", "w"]
    hit = [r for r in ROWS if PRIVATE.holds({**r, "x": clip(r["x"])})]

    in_groups = [r for r in ROWS if OF_GROUPS.holds(r)]

    def bins(rows: list[dict[str, Any]]) -> tuple[int, ...]:
        cells = [0, 0, 0]
        for r in rows:
            cells[min(max(sum(e <= clip(r["x"]) for e in EDGES) - 1, 0), 2)] += 1
        return tuple(cells)

    def depth(r: dict[str, Any]) -> int:
        return sum(cut <= clip(r["x"]) for cut in (0, 2.5, 5))

    rows_of = {key: [r for r in ROWS if r["k"] == key] for key in keys}
    return {
        "sum": {None: (sum(GRID.index(r["x"]) for r in ROWS),)},
        "sum by": {key: (sum(GRID.index(r["x"]) for r in rows_of[key]),) for key in keys},
        "sum where": {None: (sum(ANCHORED.index(r["x"]) for r in hit),)},
        "sum public": {None: (sum(GRID.index(r["x"]) for r in rows_of["u"] + rows_of["v"]),)},
        "count": {None: (len(hit),)},
        "count by": {key: (sum(r["k"] == key for r in hit),) for key in keys},
        "states": {None: tuple(sum(r["s"] == s for r in ROWS) for s in range(3))},
        "bins": {key: bins(rows_of[key]) for key in keys},
        "derived": {None: tuple(sum(depth(r) == d for r in hit) for d in range(4))},
        "sum of groups": {None: (sum(ANCHORED.index(r["x"]) for r in in_groups),)},
        "count of groups": {key: (sum(r["k"] == key for r in in_groups),) for key in keys},
    }


def sources(tmp: Path) -> dict[str, Any]:
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp / "t.csv", index=False)
    frame.to_csv(tmp / "t.csv.gz", index=False)
    frame.to_csv(tmp / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp / "t.parquet")
    frame[:150].to_parquet(tmp / "part[1].parquet")
    frame[150:].to_parquet(tmp / "part[2].parquet")
    with duckdb.connect(str(tmp / "t.db")) as connection:
        connection.execute("create table things as select * from frame")
    category = frame.astype({"k": "category", "s": "int8", "x": "float64"})
    return {
        "csv": "t.csv",
        "gz": "t.csv.gz",
        "tsv": "t.tsv",
        "parquet": "t.parquet",
        "path": tmp / "t.parquet",
        "glob": "part*.parquet",
        "duckdb url": "duckdb:///t.db?table=things",
        "duckdb absolute": f"duckdb:///{tmp / 't.db'}?table=things",
        "duckdb short": "t.db::things",
        "pandas": frame,
        "pandas shuffled": frame.sample(frac=1, random_state=4),
        "categories": category,
        "polars": pl.DataFrame(ROWS),
        "polars lazy": pl.DataFrame(ROWS).lazy(),
        "arrow": pa.Table.from_pylist(ROWS),
        "batch": pa.RecordBatch.from_pylist(ROWS),
    }


def test_each_source_gives_the_same_integers(tmp_path: Path) -> None:
    want = expected()
    for name, source in sources(tmp_path).items():
        totals = run(open_table(source, tmp_path), COLUMNS, PLAN, Structure(n=400))
        assert (totals.rows, totals.records) == (400, 400), name
        for query, values in want.items():
            assert dict(totals[query].values) == values, (name, query)
        assert dict(totals["sum by"].sizes) == dict.fromkeys("uv w", 100)
        assert dict(totals["sum public"].sizes) == {None: 200}
        assert dict(totals["count"].sizes) == {None: 400}, "a private count is not a public size"


def test_many_histograms_are_counted_in_scans_of_their_own() -> None:
    table = open_table(pa.Table.from_pylist(ROWS))
    fine = [
        HistogramQuery(f"h{j}", "x", tuple(j + i / 40 for i in range(81)), where=PRIVATE, by="k")
        for j in range(4)
    ]
    scans = scan.queries_by_scan(COLUMNS, [*PLAN, *fine])
    assert [len(queries) for queries in scans] == [12, 2, 1]
    together = run(table, COLUMNS, fine)
    for query in fine:
        alone = run(table, COLUMNS, [query])[query.name]
        assert together[query.name].values == alone.values
        assert sum(map(sum, alone.values.values())) == expected()["count"][None][0]


def test_sums_are_wider_than_64_bits_inside() -> None:
    """The engine's integers don't wrap, even where a plan was made for fewer rows."""
    columns = parse_columns({"x": {"bounds": [0, 1]}})
    grid = Grid(0.0, 1.0, 62)
    total = run(open_table(pa.table({"x": [1.0] * 8})), columns, [SumQuery("s", "x", grid)])
    assert total["s"].values[None] == (8 * 2**62,)


BAD_ROWS: dict[str, dict[str, Any]] = {
    "nan": {"x": math.nan},
    "infinity": {"x": math.inf},
    "minus infinity": {"x": -math.inf},
    "missing": {"x": None},
    "undeclared state": {"s": 7},
    "undeclared group": {"k": "z"},
    "missing group": {"k": None},
    "missing boolean": {"b": None},
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_cells_refuse_with_the_same_words(name: str) -> None:
    table = open_table(pa.Table.from_pylist([*ROWS, {**ROWS[0], **BAD_ROWS[name]}]))
    with pytest.raises(TableMismatchError) as error:
        run(table, COLUMNS, PLAN)
    with pytest.raises(TableMismatchError) as other:
        run(open_table(pa.Table.from_pylist(ROWS)), COLUMNS, PLAN, Structure(n=401))
    assert str(error.value) == str(other.value)


def test_imputed_values_are_read_by_sums_and_predicates() -> None:
    columns = parse_columns(
        {
            "x": {"bounds": [0, 10], "missing": {"impute": 4}},
            "s": {"states": ["a", "b"], "missing": {"impute": "b"}},
        }
    )
    grid = Grid.plan(0.0, 10.0, 4, dp_epsilon=1.0)
    where = Predicate.parse("x == 4 and s == 'b'", columns)
    plan = [SumQuery("sum", "x", grid), CountQuery("count", where), HistogramQuery("h", "s")]
    data = {"x": [1.0, None, None, 12.0], "s": ["a", None, "b", None]}
    for source in (pa.table(data), pd.DataFrame(data), pl.DataFrame(data)):
        totals = run(open_table(source), columns, plan)
        assert totals["sum"].values[None] == (sum(map(grid.index, [1, 4, 4, 10])),)
        assert totals["count"].values[None] == (2,)
        assert totals["h"].values[None] == (1, 3)
    with pytest.raises(TableMismatchError):  # NaN is not imputed where it isn't 'missing'
        run(open_table(pa.table({"x": [math.nan], "s": ["a"]})), columns, plan)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (SumQuery("q", "y", GRID), "query.q.column"),
        (SumQuery("q", "b", GRID), "query.q.column"),
        (SumQuery("q", "x", Grid(0.0, 8.0, 30)), "query.q.column"),
        (SumQuery("q", "x", GRID, by="s"), "query.q.by"),
        (CountQuery("q", PRIVATE, by="y"), "query.q.by"),
        (HistogramQuery("q", "x"), "query.q.column"),
        (HistogramQuery("q", "b", (0.0, 1.0)), "query.q.column"),
        (HistogramQuery("q", "x", (0.0,)), "query.q.bins"),
        (HistogramQuery("q", "x", (1.0, 0.0)), "query.q.bins"),
        (HistogramQuery("q", "x", (0.0, math.nan)), "query.q.bins"),
    ],
)
def test_queries_that_cannot_be_asked(query: Any, key: str) -> None:
    with pytest.raises(InputError) as error:
        run(open_table(pa.Table.from_pylist(ROWS)), COLUMNS, [query])
    assert error.value.key == key


def test_overflow_is_refused_before_any_query_runs() -> None:
    with pytest.raises(InputError, match="64-bit"):
        Grid.plan(0.0, 1.0, 2**61, dp_epsilon=1.0)


def test_a_plan_scans_once_and_sums_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million rows are read once for the queries and once for the clusters, not more."""
    columns = parse_columns(
        {"x": {"bounds": [0, 1]}, "g": {"public": True, "states": ["a", "b"]}}
        | {"c": {"role": "cluster"}}
    )
    table = open_table(pa.table({"x": [0.25, 0.5, 0.75], "g": ["a", "b", "a"], "c": [1, 1, 2]}))
    sent: list[str] = []
    rows = Table.rows

    def listening(self: Table, query: Any, limit: int | None = None) -> list[tuple[Any, ...]]:
        sent.append(self.connection.compile(query))
        return rows(self, query, limit)

    monkeypatch.setattr(Table, "rows", listening)
    grid = Grid(0.0, 1.0, 10)
    plan = [
        SumQuery("all", "x", grid),
        SumQuery("each", "x", grid, by="g"),
        SumQuery("of a group", "x", grid, where=Predicate.parse("g == 'b'", columns)),
    ]
    totals = run(table, columns, plan, Structure(n=3, cluster_size=2))
    assert totals["all"].values == {None: (1536,)}
    assert totals["each"].values == {"a": (1024,), "b": (512,)}
    assert totals["of a group"].values == {None: (512,)}
    assert len(sent) == 2
    assert sent[0].count("SUM(") == 1
