"""A table in PostgreSQL gives the integers and the findings that DuckDB gives, bit for bit."""

from __future__ import annotations

import datetime as dates
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest

from bayesdp.errors import TableError, TableMismatchError, UnsupportedError
from bayesdp.fitting.counting import Chains
from bayesdp.fitting.states import read_states
from bayesdp.populations.support import ChainSupport, ClusterSupport, RecordSupport, Support
from bayesdp.tables.checks.findings import count_records, inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.checks.supports import RuledOut
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import (
    CountQuery,
    HistogramQuery,
    SumQuery,
)
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.rows import read_columns
from bayesdp.tables.sums.scan import run
from tests.effort import in_full, runs
from tests.postgres_server import PASSWORD, Server
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
from tests.tables.joined_tables import (
    joins_are_the_same,
    the_same_rows_count,
    what_cannot_be_sent_is_refused,
    wide_tables_are_the_same,
)


def both(postgres: Server, cells: Cells) -> tuple[Table, Table]:
    """The same cells in DuckDB and in PostgreSQL."""
    arrow = {name: pa.array(held, ARROW[kind]) for name, (kind, held) in cells.items()}
    types = {name: kind for name, (kind, _) in cells.items()}
    url = postgres.load(types, {name: held for name, (_, held) in cells.items()})
    return open_table(pa.table(arrow)), open_table(url)


@pytest.mark.prove
def test_hostile_values_become_the_same_integers_and_findings(postgres: Server) -> None:
    rows = runs(1_000_000, least=3000) if in_full() else 3000
    duck, there = both(postgres, hostile_cells(rows, seed=1))
    plan = plan_of(HOSTILE_COLUMNS, rows)
    assert scanned(there, HOSTILE_COLUMNS, plan) == scanned(duck, HOSTILE_COLUMNS, plan)
    expected = Structure(n=rows + 1, cluster_size=2)
    known = findings(duck, HOSTILE_COLUMNS, expected, plan)
    assert findings(there, HOSTILE_COLUMNS, expected, plan) == known
    assert len(known) > 12


def test_texts_are_the_same_times_and_durations(postgres: Server) -> None:
    texts = {"t": TIMES, "u": DURATIONS, "f": FORMATTED}
    rows = max(map(len, texts.values()))
    cells: Cells = {
        name: ("text", [*held, *held * rows][:rows]) for name, held in texts.items()
    } | {"i": ("int8", list(range(rows)))}
    columns = parse_columns(
        {
            "t": {"bounds": ["1900-01-01", "2026-01-01 10:00:00"]},
            "u": {"bounds": ["0 minutes", "90 minutes"]},
            "f": {"bounds": ["1900-01-01", "2026-01-01"], "format": "%d.%m.%Y"},
        }
    )
    duck, there = both(postgres, cells)
    wanted = {name: (name, "number") for name in columns}
    known = read_columns(duck, columns, wanted)  # type: ignore[arg-type]
    same = read_columns(there, columns, wanted)  # type: ignore[arg-type]
    for name in columns:
        assert same[name].to_pylist() == known[name].to_pylist(), name
    assert findings(there, columns, Structure(), []) == findings(duck, columns, Structure(), [])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("panel", [False, True])
def test_series_units_and_panels_have_the_same_findings(
    postgres: Server, order: str, panel: bool
) -> None:
    kind, declared, times = ORDERS[order]
    columns = parse_columns(
        {
            "s": {"role": "series"},
            "o": {"role": "order", **declared},
            "c": {"role": "cluster"},
            "x": {"states": [0, 1]},
        }
    )
    cells: Cells = {
        "s": ("text", ["a", "a", "b", "b", "B", "ß", "a"]),
        "c": ("text", ["k", "k", " k", "l", "l", "", "k"]),
        "o": (kind, times),
        "x": ("bool", [True, False, True, True, False, False, True]),
    }
    duck, there = both(postgres, cells)
    duck = replace(duck, ordered=False)  # rows of a database have no order
    expected = Structure(n=7, series_length=2, several_series=False, cluster_size=1)
    if panel:
        expected = Structure(n=7, panels=((1, 2),), cluster_size=2)
    known = findings(duck, columns, expected, [])
    assert findings(there, columns, expected, []) == known
    assert known


@pytest.mark.parametrize("drop", [False, True])
def test_windows_of_series_are_the_same(postgres: Server, drop: bool) -> None:
    """A database does not promise that rows which were sorted stay so."""
    rng = random.Random(7)
    places = [(f"p{i % 5}", dates.date(2024, 1, 1 + i // 5)) for i in range(100) if i % 17]
    rng.shuffle(places)
    states = [rng.choice(["no", "yes", "yes", None]) for _ in places]
    cells: Cells = {
        "s": ("text", [series for series, _ in places]),
        "o": ("date", [day for _, day in places]),
        "x": ("text", states),
    }
    time = parse_columns({"o": {"role": "order", "step": "1 day"}})["o"]
    tables = both(postgres, cells)
    duck, there = (
        Chains(table, read_states(table, "x", STATES), ("s",), time, drop=drop).count(2)
        for table in tables
    )
    assert [part.tolist() for part in there.tables] == [part.tolist() for part in duck.tables]
    assert (there.runs, there.missing) == (duck.runs, duck.missing)
    assert duck.runs > 5


STATES = {"states": ["no", "yes"], "cuts": None, "where": None}


def test_records_of_several_rows_are_the_same(postgres: Server) -> None:
    cells: Cells = {
        "person": ("numeric", [Decimal(2**53), Decimal(2**53 + 1), Decimal(1), Decimal(1), None]),
        "c": ("bool", [True, False, True, False, None]),
        "x": ("float8", [1.0, 2.0, 3.0, 4.0, 5.0]),
    }
    columns = parse_columns({"c": {"role": "cluster"}, "x": {"bounds": [0, 10]}})
    duck, there = both(postgres, cells)
    assert count_records(there, "person") == count_records(duck, "person") == 4
    for most in (1, 2):
        expected = Structure(n=4, unit="person", rows_per_unit=most, cluster_size=1)
        assert findings(there, columns, expected, []) == findings(duck, columns, expected, [])


def test_the_same_rows_of_a_record_count(postgres: Server) -> None:
    the_same_rows_count(lambda cells: both(postgres, cells))


def test_joins_are_the_same(postgres: Server, tmp_path: Path) -> None:
    joins_are_the_same(lambda cells: both(postgres, cells), tmp_path)


def test_what_cannot_be_sent_is_refused(postgres: Server, tmp_path: Path) -> None:
    what_cannot_be_sent_is_refused(lambda cells: both(postgres, cells), tmp_path)
    with pytest.raises(TableError, match="character of number 0"):
        open_table(postgres.load({"k": "int8"}, {"k": [1]})).beside(pa.table({"b": ["x\0"]}))


def test_wide_tables_are_the_same(postgres: Server) -> None:
    wide_tables_are_the_same(lambda cells: both(postgres, cells))


@pytest.mark.parametrize("kind", ["series", "clusters", "records"])
def test_impossible_records_are_the_same(postgres: Server, kind: str) -> None:
    """What a population rules out is held against the table on both engines."""
    cells: Cells = {
        "s": ("text", ["a", "a", "a", "b", "b", "b"]),
        "o": ("int4", [1, 2, 3, 1, 3, 4]),
        "x": ("int4", [0, 1, 0, 1, 1, 0]),
    }
    role = {"role": "cluster" if kind == "clusters" else "series"}
    declared = {"s": role, "x": {"states": [0, 1]}}
    if kind != "clusters":
        declared["o"] = {"role": "order", "step": 1}
    columns = parse_columns(declared)
    never = np.array([0, 0, 1]), np.array([0, 1, 1])  # from 1 back to 0
    support: Support = {
        "series": ChainSupport(1, 2, np.array([True, False]), *never),
        "clusters": ClusterSupport(np.arange(8).reshape(2, 2, 2) % 7 == 0, None),
        "records": RecordSupport(np.array([2, 6])),
    }[kind]
    size = 3 if kind == "clusters" else None
    expected = Structure(n=6, cluster_size=size, ruled_out=RuledOut(("x",), (support,)))
    duck, there = both(postgres, cells)
    known = findings(duck, columns, expected, [])
    assert findings(there, columns, expected, []) == known
    assert "Impossible" in "".join(known)


def test_a_decimal_without_a_scale_may_not_be_a_number(postgres: Server) -> None:
    """NaN would else be clipped to the upper bound: it is the largest number there."""
    columns = parse_columns({"x": {"bounds": [0, 10]}})
    for wrong in ("NaN", "Infinity"):
        url = postgres.load({"x": "numeric"}, {"x": ["1.5", wrong, "2.25"]})
        (finding,) = inspect(open_table(url), columns, Structure(n=3))
        assert finding.code == "not-finite"
        with pytest.raises(TableMismatchError):
            run(open_table(url), columns, [CountQuery("n")], Structure(n=3))


def test_a_decimal_is_rounded_once(postgres: Server) -> None:
    columns = parse_columns({"x": {"bounds": [0, 10]}})
    digits = ["0.1", "1.00000000000000011102230246251565", "1.0000000000000001110223024625156541"]
    url = postgres.load({"x": "numeric"}, {"x": digits})
    read = read_columns(open_table(url), columns, {"x": ("x", "number")})
    assert read["x"].to_pylist() == list(map(float, digits))


def test_texts_are_told_apart_by_their_bytes(postgres: Server) -> None:
    """Whatever the database's language takes for the same, or sorts in another way."""
    postgres.run(
        "DROP COLLATION IF EXISTS loose CASCADE",
        "CREATE COLLATION loose (provider=icu, locale='und-u-ks-level1', deterministic=false)",
    )
    words = ["a", "A", "ä", "á", "a"]
    url = postgres.load({"w": "text COLLATE loose", "s": "char(4)"}, {"w": words, "s": words})
    columns = parse_columns({"w": {"states": ["a", "A", "ä", "á"]}, "s": {"role": "cluster"}})
    totals = run(open_table(url), columns, [HistogramQuery("h", "w")], Structure(n=5))
    assert totals["h"].values == {None: (2, 1, 1, 1)}
    (finding,) = inspect(open_table(url), columns, Structure(n=5, cluster_size=1))
    assert "the largest has 2 records" in finding.message


def test_types_of_the_database_are_read_or_refused(postgres: Server) -> None:
    postgres.run(
        "DROP TABLE IF EXISTS kinds",
        "DROP DOMAIN IF EXISTS height, tall CASCADE",
        "DROP TYPE IF EXISTS mood CASCADE",
        "CREATE DOMAIN height AS float8",
        "CREATE DOMAIN tall AS height",
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "CREATE TABLE kinds (h tall, m mood, j json, k uuid)",
        "INSERT INTO kinds VALUES (1.5, 'bad', '{}', gen_random_uuid())",
    )
    table = open_table(postgres.url("kinds"))
    columns = parse_columns(
        {"h": {"bounds": [0, 3]}, "m": {"states": ["good", "bad"]}, "k": {"role": "cluster"}}
    )
    assert not inspect(table, columns, Structure(n=1, cluster_size=1))
    with pytest.raises(TableError, match="json"):
        inspect(table, parse_columns({"j": {"bounds": [0, 1]}}), Structure())
    with pytest.raises(UnsupportedError, match="PostgreSQL"):
        inspect(table, parse_columns({"j": {"role": "cluster"}}), Structure(cluster_size=1))


def test_one_state_of_the_table_is_read(postgres: Server) -> None:
    """A row that comes between check and sums is in neither."""
    url = postgres.load({"x": "float8"}, {"x": [1.0, 2.0]}, "moving")
    table = open_table(url)
    columns = parse_columns({"x": {"bounds": [0, 10]}})
    assert not inspect(table, columns, Structure(n=2))
    postgres.run("INSERT INTO moving VALUES (3.0)", "UPDATE moving SET x = 'NaN' WHERE x = 1")
    totals = run(table, columns, [SumQuery("s", "x", Grid(0.0, 10.0, 10))], Structure(n=2))
    assert (totals.rows, totals["s"].values[None]) == (2, (102 + 204,))
    assert count_records(open_table(url)) == 3


def test_rows_that_differ_from_query_to_query_are_refused(postgres: Server) -> None:
    postgres.run(
        "CREATE FOREIGN DATA WRAPPER nobody",
        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER nobody",
        "CREATE FOREIGN TABLE far (x int) SERVER elsewhere",
        "CREATE VIEW of_far AS SELECT x FROM far",
        "CREATE VIEW of_view AS SELECT x FROM of_far",
        "CREATE TABLE parts (x int) PARTITION BY RANGE (x)",
        "CREATE FOREIGN TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9) SERVER elsewhere",
        "CREATE TABLE near (x int)",
        "INSERT INTO near VALUES (1)",
        "CREATE VIEW drawn AS SELECT x, random() AS u FROM near",
        "CREATE VIEW of_drawn AS SELECT u FROM drawn",
        "CREATE VIEW sampled AS SELECT x FROM near TABLESAMPLE BERNOULLI (50)",
        "CREATE VIEW plain AS SELECT x, now() AS t, 'random' AS random FROM near",
        "CREATE MATERIALIZED VIEW stored AS SELECT u FROM drawn",
        "CREATE FUNCTION noisy(x float8) RETURNS float8 LANGUAGE sql AS 'SELECT x + random()'",
        "CREATE FUNCTION halved(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT x / 2'",
        "CREATE FUNCTION near_to(float8, float8) RETURNS bool LANGUAGE sql "
        "AS 'SELECT $1 < $2 + random()'",
        "CREATE OPERATOR <~ (FUNCTION = near_to, LEFTARG = float8, RIGHTARG = float8)",
        "CREATE VIEW with_function AS SELECT noisy(x) AS x FROM near",
        "CREATE VIEW of_function AS SELECT x FROM with_function",
        "CREATE VIEW with_operator AS SELECT x FROM near WHERE x <~ 1.5",
        "CREATE VIEW of_halves AS SELECT halved(x) AS x FROM near",
        "CREATE VIEW of_stored AS SELECT u FROM stored",
    )
    changing = ["far", "of_far", "of_view", "parts", "drawn", "of_drawn", "sampled"]
    for name in (*changing, "with_function", "of_function", "with_operator"):
        with pytest.raises(TableError, match="the same in all queries"):
            open_table(postgres.url(name))
    for name in ("near", "plain", "stored", "of_stored", "of_halves"):
        table = open_table(postgres.url(name))
        assert table.rows(table.expression) == table.rows(table.expression)
        table.close()


def test_nothing_can_be_written(postgres: Server) -> None:
    url = postgres.load({"x": "float8"}, {"x": [1.0]}, "kept")
    engine = open_table(url).engine
    with pytest.raises(UnreadableCellsError):
        engine.reading(lambda: engine.fetch("DELETE FROM public.kept RETURNING x"))
    assert count_records(open_table(url)) == 1


def test_rows_that_a_policy_hides_are_an_error(postgres: Server) -> None:
    """A smaller table would pass for the whole one."""
    postgres.load({"x": "float8"}, {"x": [1.0, 2.0]}, "guarded")
    postgres.run(
        "DROP ROLE IF EXISTS analyst",
        f"CREATE ROLE analyst LOGIN PASSWORD '{PASSWORD}'",
        "GRANT SELECT ON guarded TO analyst",
        "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY low ON guarded USING (x < 1.5)",
    )
    with pytest.raises(TableMismatchError):
        open_table(postgres.url("guarded", user="analyst"))


def test_what_a_user_has_set_makes_no_difference(postgres: Server) -> None:
    """Functions of others that would fit better are not called, and times are read as UTC."""
    url = postgres.load({"x": "float4", "t": "timestamptz"}, {"x": [1.5], "t": ["2024-07-01"]})
    postgres.run(
        "CREATE FUNCTION public.abs(real) RETURNS real AS 'SELECT 7::real' LANGUAGE sql",
        "DROP ROLE IF EXISTS traveller",
        f"CREATE ROLE traveller LOGIN SUPERUSER PASSWORD '{PASSWORD}'",
        "ALTER ROLE traveller SET search_path = public, pg_catalog",
        "ALTER ROLE traveller SET TimeZone = 'Asia/Tokyo'",
        "ALTER ROLE traveller SET DateStyle = 'German'",
        "ALTER ROLE traveller SET extra_float_digits = -10",
    )
    engine = open_table(url.replace("curator@", "traveller@")).engine
    time = "'2024-07-01 10:00+00'::timestamptz::timestamp::text"
    assert engine.fetch(f"SELECT abs('-1.5'::real), {time}, 0.1::float8 * 3") == [
        (1.5, "2024-07-01 10:00:00", 0.1 * 3)
    ]


def test_a_lost_connection_is_told_as_such(postgres: Server) -> None:
    url = postgres.load({"x": "float8"}, {"x": [1.0]})
    table = open_table(url)
    pid = table.connection.con.info.backend_pid
    postgres.run(f"SELECT pg_terminate_backend({pid}, 5000)")
    with pytest.raises(TableError, match="It was lost"):
        count_records(table)


@pytest.mark.parametrize("answer", [2.0, Decimal(2), True, "2"])
def test_an_engine_that_rounds_whole_numbers_is_refused(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(pa.table({"x": [1.0, 2.0]}))
    columns = parse_columns({"x": {"bounds": [0, 10]}})
    monkeypatch.setattr(type(table.engine), "fetch", lambda self, sql: [(answer, answer, answer)])
    with pytest.raises(UnreadableCellsError) as caught:
        run(table, columns, [SumQuery("s", "x", Grid(0.0, 10.0, 10))])
    assert caught.value.finding.code == "inexact"


def test_what_is_not_known_to_agree_is_refused(postgres: Server) -> None:
    url = postgres.load({"x": "float8", "w": "text"}, {"x": [2.5], "w": ["a"]})
    table = open_table(url)
    x, w = table.expression.x, table.expression.w
    for strange in (
        x.mean(),
        x.sum(),
        x.lag(),
        ibis.row_number(),
        x.sqrt(),
        x.cast("string"),
        x.cast("int64"),
        w.upper(),
    ):
        query = strange.name("strange").as_table()
        with pytest.raises(UnsupportedError, match="PostgreSQL"):
            table.rows(query)
    engine: Engine = table.engine
    assert engine.rows(x.round().name("y").as_table()) == [(3,)]
