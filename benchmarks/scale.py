"""A release over many rows: against hand-written SQL, per row, and for one query or ten.

    python benchmarks/scale.py                    10^6, 10^7 and 10^8 rows: needs 2 GB of disk
    python benchmarks/scale.py 1000000            only so many rows (several numbers: each)
    python benchmarks/scale.py 1000000 --spark    on Spark, if it is installed

The table, the study and the SQL are those of `speed.py`: a sum, a mean by region and a count over
heights, states and households of four, all cells and household sizes checked. Without the clusters
the pass is also told as a multiple of a bare sum. Times are of the clock on the wall, what is
compared is run in turn. Each size has a process of its own, whose memory is stated.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import speed
from speed import CLUSTER, REGIONS, Row, medians

import bayesdp as bdp

SIZES = (10**6, 10**7, 10**8)
HAND_LIMIT = 1.5
SPARK_LIMIT = 1.3
MEMORY_LIMIT = 4.0
TEN_LIMIT = 2.0
BARE_LIMIT = 15.0
FLAT_LIMIT = 1.25
"""The cost per row may grow by so much from ten million rows to the most; fewer rows cost more."""


def ten_queries(path: Path, rows: int, *, clusters: bool, number: int) -> bdp.Study:
    """The first so many of ten queries over the same table, of one cluster size or of none."""
    queries: list[dict[str, Any]] = [
        {"kind": "sum", "column": "height"},
        {"kind": "mean", "column": "height", "by": "region"},
        {"kind": "count", "where": "activity == 1"},
        {"kind": "histogram", "column": "activity"},
        {"kind": "histogram", "column": "height", "bins": [120, 140, 160, 180, 200, 220]},
        {"kind": "count", "where": "height > 180", "by": "region"},
        {"kind": "sum", "column": "height", "where": "activity == 2"},
        {"kind": "proportion", "where": "activity == 0"},
        {"kind": "count", "where": "height < 150 and activity == 1"},
        {"kind": "histogram", "column": "activity", "by": "region"},
    ]
    columns: dict[str, Any] = {
        "height": {"bounds": [120, 220], "unit": "cm"},
        "activity": {"states": [0, 1, 2]},
        "region": {"public": True, "states": list(REGIONS)},
    }
    population: dict[str, Any] = {"model": "independent", "covers": ["height", "activity"]}
    if clusters:
        columns["household"] = {"role": "cluster"}
        population |= {"model": "clusters", "size": CLUSTER}
    return bdp.Study(
        str(path),
        dataset="benchmark",
        n=rows,
        columns=columns,
        population=population,
        budget={"epsilon": 1.0},
        queries=[{"name": f"q{i}", **query} for i, query in enumerate(queries[:number])],
        ledger=str(path.parent / f"{time.perf_counter_ns()}.db"),
    )


def releases(path: Path, rows: int) -> Iterator[Row]:
    """All that is claimed of one table."""
    import duckdb

    plan = speed.study(path, rows).check().plan
    connection = duckdb.connect()
    connection.read_parquet(str(path)).create_view("people")
    main, sizes = speed.by_hand(plan.queries[0].grid)

    def hand() -> list[tuple[Any, ...]]:
        answer = connection.execute(main).fetchall()
        assert connection.execute(sizes).fetchall() == [(CLUSTER, 0)]
        return answer

    if rows <= 10**7:
        speed.require_same(hand(), path, plan)
    ours, theirs, bare, alone, first, ten = medians(
        lambda: speed.study(path, rows).release(),
        hand,
        lambda: connection.execute("SELECT sum(height) FROM people").fetchall(),
        pass_over(path, rows),
        lambda: ten_queries(path, rows, clusters=False, number=1).release(),
        lambda: ten_queries(path, rows, clusters=False, number=10).release(),
        repeats=3,
    )
    claimed = rows >= 10**7  # the fixed cost of a release is most of that of fewer rows
    yield Row(f"release over {rows:,} rows", ours, "s")
    yield Row("  a million rows of it", ours / rows * 1e6, "s")
    yield Row("  against hand-written SQL", ours / theirs, "x", HAND_LIMIT if claimed else None)
    yield Row("  bare sum(height)", bare, "s")
    yield Row("  the pass without clusters, against it", alone / bare, "x",
              BARE_LIMIT if claimed else None)  # fmt: skip
    yield Row("  ten queries against the first of them", ten / first, "x",
              TEN_LIMIT if claimed else None)  # fmt: skip
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Row("  memory of this process", memory, "GiB", MEMORY_LIMIT)


def pass_over(path: Path, rows: int) -> Callable[[], object]:
    """The one pass over the table that three queries need, with all checks of cells."""
    from bayesdp.tables.source import open_table
    from bayesdp.tables.sums.scan import run

    plan = ten_queries(path, rows, clusters=False, number=3).check().plan
    queries = [query.table_query() for query in plan.queries]
    table = open_table(str(path))
    return lambda: run(table, plan.study.columns, queries)


def by_hand_in_spark(grid: Any) -> str:
    """The SQL of `speed.py` without the households, in Spark's words."""
    finite = "NOT isnan(height) AND height < double('inf') AND height > double('-inf')"
    clipped = f"least(greatest(height, {grid.lo}D), {grid.hi}D)"
    steps = f"CAST(floor(({clipped} - {grid.lo}D) * {grid.factor!r}D) AS BIGINT)"
    return f"""
        SELECT
            region,
            count(*),
            count_if(
                height IS NULL OR NOT ({finite}) OR activity IS NULL OR activity NOT IN (0, 1, 2)
                OR region IS NULL OR region NOT IN {REGIONS}
            ),
            sum(CASE WHEN {finite} THEN least(greatest({steps}, 0), {2**grid.bits}) END),
            count_if(activity = 1)
        FROM people
        GROUP BY region
    """


def on_spark(path: Path, rows: int) -> Iterator[Row]:
    """The same pass on Spark, ours against SQL by hand."""
    from pyspark.sql import SparkSession

    from bayesdp.tables.source import open_table
    from bayesdp.tables.sums.scan import run

    plan = ten_queries(path, rows, clusters=False, number=3).check().plan
    queries = [query.table_query() for query in plan.queries]
    table = open_table(f"pyspark:///{path}")  # four slashes: absolute
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    session.read.parquet(str(path)).createOrReplaceTempView("people")
    hand = by_hand_in_spark(plan.queries[0].grid)
    ours, theirs = medians(
        lambda: run(table, plan.study.columns, queries),
        lambda: session.sql(hand).collect(),
        repeats=3,
    )
    yield Row(f"pass over {rows:,} rows on Spark", ours, "s")
    yield Row("  against SQL by hand in Spark", ours / theirs, "x", SPARK_LIMIT)


def measured(rows: int, spark: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        speed.write_table(path, rows)
        return list(on_spark(path, rows) if spark else releases(path, rows))


def in_process(rows: int, spark: bool) -> list[Row]:
    """The rows of a process of its own, so that its memory is that of this size."""
    command = [sys.executable, __file__, str(rows), "--json", *(["--spark"] if spark else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of rows")
    parser.add_argument("--spark", action="store_true", help="on Spark, on this machine")
    parser.add_argument("--json", action="store_true", help="one size, for the other processes")
    arguments = parser.parse_args()
    if arguments.spark and importlib.util.find_spec("pyspark") is None:
        print("pyspark is not installed here: nothing is measured")
        return 0
    sizes = arguments.sizes or SIZES
    if arguments.json:
        print(json.dumps([vars(row) for row in measured(sizes[0], arguments.spark)]))
        return 0
    holds, per_row = True, {}
    for size in sizes:
        for row in in_process(size, arguments.spark):
            print(row.text(), flush=True)
            holds = holds and row.holds
            if "a million rows" in row.what:
                per_row[size] = row.value
    large = [value for size, value in per_row.items() if size >= 10**7]
    if len(large) > 1:
        row = Row("the cost of a row, the most rows against ten million",
                  large[-1] / large[0], "x", FLAT_LIMIT)  # fmt: skip
        print(row.text())
        holds = holds and row.holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
