"""A table on Spark gives the integers and the findings that DuckDB gives, bit for bit."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from bayesdp.errors import TableError, TableMismatchError, UnsupportedError
from bayesdp.release.drawing.table import StudyTable
from bayesdp.tables.cells.joins import parse_joins
from bayesdp.tables.cells.wide import parse_wide
from bayesdp.tables.checks.findings import count_records
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.engines import spark_engine
from bayesdp.tables.engines.spark_urls import parse_connect
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import SumQuery
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, check_source, open_table
from bayesdp.tables.sums.rows import read_columns
from bayesdp.tables.sums.scan import run
from tests.effort import in_full, runs
from tests.tables.engines import (
    ARROW,
    DURATIONS,
    FORMATTED,
    HOSTILE_COLUMNS,
    ORDERS,
    TIMES,
    Cells,
    findings,
    hostile_cells,
    plan_of,
    scanned,
)
from tests.tables.far_times import far_times, texts_of_times
from tests.tables.joined_tables import (
    joins_are_the_same,
    the_same_rows_count,
    what_cannot_be_sent_is_refused,
    wide_tables_are_the_same,
)

pytestmark = [  # the library of Spark leaves sockets open when it has fetched rows
    pytest.mark.filterwarnings("ignore:.*socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]
TOKEN = "a-secret-token"
needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="needs Java and pip install -r requirements-spark.lock (as .ci/run does)",
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark on this machine with two workers, which also serves Spark Connect at `connect`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        few = {
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.port": str(port),
            "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        }
        patch.setattr(spark_engine, "_LOCAL", spark_engine._LOCAL | few)
        context = spark_engine._started()
        context.connect = f"sc://127.0.0.1:{port}"
        yield context
        context.stop()


Opened = Callable[[Cells], tuple[Table, Table]]


@pytest.fixture
def both(spark: Any, tmp_path: Path) -> Opened:
    """The same cells in DuckDB and in Spark."""

    def opened(cells: Cells) -> tuple[Table, Table]:
        arrow = {name: pa.array(held, ARROW[kind]) for name, (kind, held) in cells.items()}
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pyarrow.parquet.write_table(pa.table(arrow), path)
        return open_table(str(path)), open_table(f"pyspark:///{path}")

    return opened


@needs_spark
def test_hostile_values_become_the_same_integers_and_findings(both: Opened) -> None:
    rows = runs(1_000_000, least=3000) if in_full() else 3000
    duck, there = both(hostile_cells(rows, seed=1))
    plan = plan_of(HOSTILE_COLUMNS, rows)
    assert scanned(there, HOSTILE_COLUMNS, plan) == scanned(duck, HOSTILE_COLUMNS, plan)
    expected = Structure(n=rows + 1, cluster_size=2)
    known = findings(duck, HOSTILE_COLUMNS, expected, plan)
    assert findings(there, HOSTILE_COLUMNS, expected, plan) == known
    assert len(known) > 13


@needs_spark
def test_texts_are_the_same_times_and_durations(both: Opened) -> None:
    texts = {"t": TIMES, "u": DURATIONS, "f": FORMATTED}
    rows = max(map(len, texts.values()))
    cells: Cells = {name: ("text", [*held, *held * rows][:rows]) for name, held in texts.items()}
    columns = parse_columns(
        {
            "t": {"bounds": ["1900-01-01", "2026-01-01 10:00:00"]},
            "u": {"bounds": ["0 minutes", "90 minutes"]},
            "f": {"bounds": ["1900-01-01", "2026-01-01"], "format": "%d.%m.%Y"},
        }
    )
    duck, there = both(cells)
    wanted: Any = {name: (name, "number") for name in columns}
    known, same = (read_columns(table, columns, wanted) for table in (duck, there))
    for name in columns:
        assert sorted(map(str, same[name].to_pylist())) == sorted(map(str, known[name].to_pylist()))
    assert findings(there, columns, Structure(), []) == findings(duck, columns, Structure(), [])


@needs_spark
@pytest.mark.parametrize("order", ORDERS)
def test_series_and_panels_have_the_same_findings(both: Opened, order: str) -> None:
    kind, declared, times = ORDERS[order]
    columns = parse_columns(
        {
            "s": {"role": "series"},
            "o": {"role": "order", **declared},
            "c": {"role": "cluster"},
            "x": {"states": [0, 1]},
        }
    )
    duck, there = both(
        {
            "s": ("text", ["a", "a", "b", "b", "B", "ß", "a"]),
            "c": ("text", ["k", "k", " k", "l", "l", "", "k\u3000"]),
            "o": (kind, times),
            "x": ("bool", [True, False, True, True, False, False, True]),
        }
    )
    for expected in (
        Structure(n=7, series_length=2, several_series=False, cluster_size=1),
        Structure(n=7, panels=((1, 2),), cluster_size=2),
    ):
        known = [f for f in findings(duck, columns, expected, []) if "After a row" not in f]
        assert findings(there, columns, expected, []) == known
        assert known


@needs_spark
def test_records_of_several_rows_are_the_same(both: Opened) -> None:
    cells: Cells = {
        "person": ("numeric", [Decimal(2**53), Decimal(2**53 + 1), Decimal(1), Decimal(1), None]),
        "c": ("bool", [True, False, True, False, None]),
        "x": ("float8", [1.0, 2.0, 3.0, 4.0, 5.0]),
    }
    columns = parse_columns({"c": {"role": "cluster"}, "x": {"bounds": [0, 10]}})
    duck, there = both(cells)
    assert count_records(there, "person") == count_records(duck, "person") == 4
    for most in (1, 2):
        expected = Structure(n=4, unit="person", rows_per_unit=most, cluster_size=1)
        assert findings(there, columns, expected, []) == findings(duck, columns, expected, [])


@needs_spark
def test_the_same_rows_of_a_record_count(both: Opened) -> None:
    the_same_rows_count(both)


@needs_spark
def test_joins_are_the_same(both: Opened, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    joins_are_the_same(both, tmp_path / "public")


@needs_spark
def test_what_cannot_be_sent_is_refused(both: Opened, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    what_cannot_be_sent_is_refused(both, tmp_path / "public")


@needs_spark
def test_wide_tables_are_the_same(both: Opened) -> None:
    wide_tables_are_the_same(both)


@needs_spark
def test_texts_of_a_study_are_texts_to_spark(both: Opened) -> None:
    """Spark would put the values of variables, and its own escapes, into them."""
    words = ["${spark.sql.ansi.enabled}", "a\\nb", "it's", "`", "a ", "A", "%", "\u00e9"]
    columns = parse_columns({"w": {"states": words}})
    duck, there = both({"w": ("text", words)})
    assert findings(there, columns, Structure(n=8), []) == []
    assert scanned(there, columns, plan_of(columns, 8)[:-2]) == scanned(
        duck, columns, plan_of(columns, 8)[:-2]
    )


@needs_spark
def test_the_end_of_a_pattern_is_the_end_of_the_text(both: Opened) -> None:
    for table in both({"w": ("text", ["a", "a\n", "$"])}):
        query = table.expression
        ends = query.w.re_search("^a$"), query.w.re_search("\\$")
        assert table.numbers(query, *(query.count(where=end) for end in ends)) == (1, 1)


@needs_spark
def test_what_is_not_known_to_agree_is_refused(both: Opened) -> None:
    _, there = both({"x": ("float8", [1.0, 2.0]), "i": ("int8", [2**63 - 1, 1])})
    table = there.expression
    for foreign in (table.x.exp(), table.x.cast("string"), table.x.cast("int64")):
        with pytest.raises(UnsupportedError, match="computed there"):
            there.rows(table.select(y=foreign))
    with pytest.raises(UnreadableCellsError):  # and no sum that wraps around
        there.numbers(table, table.i.sum())


@needs_spark
def test_a_frame_is_copied_once(spark: Any) -> None:
    """Its rows may differ each time that they are computed."""
    from pyspark.sql import SparkSession

    session = SparkSession(spark)
    frame = session.range(1000).selectExpr(
        "id", "rand() AS x", "collate('A', 'UTF8_LCASE') AS w", "CAST(NULL AS VOID) AS v"
    )
    table = open_table(frame)
    query = table.expression.order_by("id")
    assert table.rows(query) == table.rows(query) == list(table.each_row(query))
    same_letter = table.expression.count(where=table.expression.w == "a")
    assert table.numbers(table.expression, same_letter) == (0,)
    assert table.hollow == {"v"}
    assert not session.catalog.listTables()
    with pytest.raises(TableError, match="capital letters"):
        open_table(session.range(2).selectExpr("id", "id AS ID"))


@needs_spark
def test_far_times_have_the_same_texts(spark: Any, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(far_times(), tmp_path / "far.parquet")
    there = open_table("pyspark:///far.parquet", tmp_path)
    assert texts_of_times(there) == texts_of_times(open_table(far_times()))


@needs_spark
def test_only_columns_that_are_read_are_copied(spark: Any) -> None:
    from pyspark.sql import SparkSession

    wide = {
        "records": {"x": ["x a", "x`b"]},
        "position": {"name": "member", "values": [1, 2]},
    }
    join = {"table": "regions.csv", "on": {"left": "zip", "right": "code"}, "columns": ["region"]}
    columns = parse_columns(
        {
            "x": {"bounds": [0, 10]},
            "high": {"from": "x", "cuts": [5]},
            "member": {"public": True, "states": [1, 2]},
            "region": {"public": True, "states": ["n", "s"]},
            "zip": {"public": True},
            "made": {"role": "order", "from": ["day", "clock"], "step": "1 hour",
                     "format": "%Y-%m-%d %H:%M"},
        }
    )  # fmt: skip
    data = SimpleNamespace(unit="person", wide=parse_wide(wide), join=parse_joins(join))
    spec: Any = SimpleNamespace(data=data, columns=columns)
    names = ["person", "zip", "x a", "x`b", "day", "clock"]
    session = SparkSession(spark)
    frame = session.createDataFrame([(1, 1, 0.5, 1.5, "2024-01-01", "10:00", "secret")],
                                    [*names, "diary"])  # fmt: skip
    asked = StudyTable(spec, frame, Path(), has_file=False)
    table = open_table(frame, read=asked._read())
    assert sorted(table.names) == sorted(names)
    assert table.numbers(table.expression, table.expression.count()) == (1,)
    engine: Any = table.engine
    assert sorted(engine._frame.columns) == sorted(names)
    assert len(open_table(frame, read={"none of them"}).names) == 7


@pytest.fixture
def meters(tmp_path: Path) -> Path:
    path = tmp_path / "meters.parquet"
    cells = {"x": [i % 11 / 1.0 for i in range(400)], "c": [i // 4 for i in range(400)]}
    pyarrow.parquet.write_table(pa.table(cells), path)
    return path


@needs_spark
def test_one_table_in_three_places(spark: Any, meters: Path) -> None:
    from pyspark.sql import SparkSession

    columns = parse_columns({"x": {"bounds": [0, 10]}, "c": {"role": "cluster"}})
    plan = [SumQuery("sum", "x", Grid.plan(0.0, 10.0, 400, dp_epsilon=1.0))]
    expected = Structure(n=400, cluster_size=4)
    sources = [
        str(meters),
        f"pyspark:///{meters}",
        f"{spark.connect}/?table=parquet.`{meters}`",
        SparkSession(spark).read.parquet(str(meters)),
    ]
    totals = [run(open_table(source), columns, plan, expected) for source in sources]
    assert all(total == totals[0] for total in totals)
    for source in sources:
        with pytest.raises(TableMismatchError):
            run(open_table(source), columns, plan, Structure(n=400, cluster_size=3))


@needs_spark
def test_a_file_that_changes_meanwhile_is_refused(spark: Any, meters: Path) -> None:
    table = open_table(f"pyspark:///{meters}")
    os.utime(meters, ns=(1, 1))
    for ask in (table.rows, table.arrow, lambda query: list(table.each_row(query))):
        with pytest.raises(UnreadableCellsError) as raised:
            ask(table.expression)
        assert raised.value.finding.code == "changed"
    meters.unlink()
    with pytest.raises(UnreadableCellsError):
        table.rows(table.expression)


@needs_spark
def test_files_that_spark_would_pass_over_or_mix_are_refused(spark: Any, tmp_path: Path) -> None:
    single = pa.table({"x": [1.0]})
    for name in ("a.parquet", "_b.parquet", "c[1].parquet"):
        pyarrow.parquet.write_table(single, tmp_path / name)
    for name in ("_b.parquet", "[a_]*.parquet", "c[[]1].parquet"):
        with pytest.raises(TableError, match="that Spark"):
            open_table(f"pyspark:///{name}", tmp_path)
    pyarrow.parquet.write_table(pa.table({"x": [1]}), tmp_path / "a2.parquet")
    with pytest.raises(TableError, match="same names and types"):
        open_table("pyspark:///a*.parquet", tmp_path)
    times = pa.array([0], pa.timestamp("ns"))
    pyarrow.parquet.write_table(pa.table({"x": times}), tmp_path / "n.parquet")
    with pytest.raises(TableError, match=r"not timestamp\[ns\]"):
        open_table("pyspark:///n.parquet", tmp_path)


@needs_spark
def test_spark_prints_nothing(spark: Any, meters: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its errors may quote cells."""
    java = spark._gateway.proc.pid
    assert {os.readlink(f"/proc/{java}/fd/{output}") for output in (1, 2)} == {"/dev/null"}
    table = open_table(f"pyspark:///{meters}")
    with pytest.raises(UnreadableCellsError):
        table.engine.reading(lambda: table.engine.fetch("SELECT CAST('a-cell' AS INT) / 0"))
    assert capfd.readouterr() == ("", "")


@needs_spark
def test_a_token_is_never_shown(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_TOKEN", TOKEN)
    monkeypatch.setattr(spark_engine, "_MOST_RETRIES", 0)
    source = "sc://127.0.0.1:1/;token=${SPARK_TOKEN}?table=t"
    with pytest.raises(TableError) as raised:
        open_table(source)
    assert TOKEN not in f"{raised.value!r} {raised.value} {raised.value.__context__}"
    assert "${SPARK_TOKEN}" in str(raised.value)
    assert TOKEN not in repr(parse_connect(source))


@pytest.mark.parametrize(
    "source",
    [
        f"sc://host:1/;token={TOKEN}?table=t",
        f"sc://host:1/;use_ssl=true;x-key={TOKEN}?table=t",
        f"sc://user:{TOKEN}@host:1/?table=t",
        f"sc://host:1/{TOKEN}?table=t",
    ],
)
def test_a_token_in_a_url_is_refused(source: str) -> None:
    with pytest.raises(TableError) as raised:
        check_source(source)
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    "source",
    ["sc://host", "sc://host/?table=", "sc:///?table=t", "sc://host/?table=t&x=1"],
)
def test_a_url_without_a_place_or_a_table_is_refused(source: str) -> None:
    with pytest.raises(TableError, match="sc://host:15002"):
        check_source(source)


@pytest.mark.parametrize("source", ["pyspark:///a.csv", "pyspark://a.parquet", "pyspark:///"])
def test_only_parquet_is_read_by_spark(source: str) -> None:
    with pytest.raises(TableError, match="Parquet files"):
        check_source(source)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_TOKEN", raising=False)
    with pytest.raises(TableError, match="Set SPARK_TOKEN"):
        parse_connect("sc://host/;token=${SPARK_TOKEN}?table=t").url()


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_the_library_the_extra_is_named(meters: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"bayesdp\[spark\]"):
        open_table(f"pyspark:///{meters}")
