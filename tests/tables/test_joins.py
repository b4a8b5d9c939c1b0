"""Joins with public tables: the same as a table joined by hand, and no record counts twice."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayesdp.errors import InputError, TableError, TableMismatchError
from bayesdp.tables.cells.joins import joined, parse_joins
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.files.csv_dialect import CsvDialect
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import CountQuery, HistogramQuery, SumQuery
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.scan import run
from tests.effort import runs

Frame = pd.DataFrame
GRID = Grid(0.0, 100.0, 20)
COLUMNS = parse_columns(
    {
        "zip": {"public": True},
        "sex": {"states": ["f", "m"]},
        "household": {"role": "cluster"},
        "region": {"public": True, "states": ["n", "s"]},
        "income": {"bounds": [0, 100]},
        "rural": {"states": [True, False]},
        "old": {"from": "built", "cuts": [1950]},
        "flat": {"from": "height", "where": "height < 100.5"},
    }
)
JOIN = {
    "table": "zips.csv",
    "on": "zip",
    "columns": ["region", "income", "rural", "built", "height"],
}


def plan() -> list[Any]:
    rich = Predicate.parse("income > 30.5 and old == 1 or flat == 1", COLUMNS)
    return [
        SumQuery("sum", "income", GRID, by="region"),
        CountQuery("count", where=rich, by="region"),
        HistogramQuery("rural", "rural"),
    ]


def store(frame: Frame, folder: Path, name: str, kind: str) -> str:
    path = folder / f"{name}.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute(f"create table {name} as select * from frame")
        return f"{path}::{name}"
    return str(path)


def look_up(source: Any, folder: Path, *joins: dict[str, Any], columns: Any = COLUMNS) -> Table:
    return joined(open_table(source, folder), parse_joins(list(joins)), columns, folder)


def tables(rng: np.random.Generator) -> tuple[Frame, Frame]:
    number = int(rng.integers(2, 8))
    zips = Frame(
        {
            "income": rng.uniform(-10, 110, number).round(2),
            "zip": rng.permutation(20)[:number],
            "region": rng.choice(["n", "s"], number),
            "rural": rng.random(number) < 0.5,
            "built": rng.integers(1900, 2000, number),
            "height": rng.uniform(0, 200, number).round(1),
            "notes": "not joined",
        }
    )
    rows = int(rng.integers(1, 30))
    people = Frame({"zip": rng.choice(zips.zip, rows), "household": rng.integers(0, 5, rows)})
    return people.assign(sex=rng.choice(["f", "m"], rows)), zips


@pytest.mark.parametrize(
    ("kind", "public"), [("csv", "csv"), ("csv", "parquet"), ("parquet", "csv"), ("db", "db")]
)
def test_the_same_as_a_table_joined_by_hand(kind: str, public: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    for trial in range(runs(20)):
        folder = tmp_path / str(trial)
        folder.mkdir()
        people, zips = tables(rng)
        by_hand = people.merge(zips.drop(columns="notes"), on="zip", how="left", validate="m:1")
        source = store(people, folder, "people", kind)
        table = look_up(source, folder, JOIN | {"table": store(zips, folder, "zips", public)})
        assert inspect(table, COLUMNS, Structure()) == []
        due = run(open_table(by_hand), COLUMNS, plan())
        got = run(table, COLUMNS, plan())
        assert (got.rows, dict(got.totals)) == (due.rows, dict(due.totals))
        assert set(table.names) == set(by_hand.columns)


def people(**cells: Any) -> Frame:
    return Frame(cells)


ZIPS = Frame({"zip": ["1", "2"], "region": ["n", "s"]})
REGION = {"table": "zips.csv", "on": "zip", "columns": ["region"]}
PUBLIC = parse_columns({"zip": {"public": True}, "region": {"public": True, "states": ["n", "s"]}})


def regions(source: Any, folder: Path, **changes: Any) -> list[Any]:
    table = look_up(source, folder, REGION | changes, columns=PUBLIC)
    query = table.expression
    if table.order:
        query = query.order_by(table.order)
    return [row[0] for row in table.rows(query.select("region"))]


def test_keys_are_trimmed_as_those_of_clusters(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text("zip,region\n1 ,n\n\u200b2,s\n")
    assert regions(people(zip=["\ufeff2", "1", " 1\t", "01"]), tmp_path) == ["s", "n", "n", None]


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([2, 1, None], pa.int64()),
        pa.array([2, 1, 7], pa.uint8()),
        pa.array([2.0, 1.0, float("nan")]),
        pa.array([2.0, 1.0, float("inf")], pa.float32()),
        pa.array(["2", " 1", ""]),
        pa.array(["2", "1", "NA"]),
    ],
    ids=lambda keys: str(keys.type),
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_are_compared_as_numbers(keys: Any, kind: str, tmp_path: Path) -> None:
    zips = ZIPS if pa.types.is_string(keys.type) else ZIPS.astype({"zip": "int64"})
    named = store(zips, tmp_path, "zips", kind)
    assert regions(pa.table({"zip": keys}), tmp_path, table=named) == ["s", "n", None]


def test_zeros_and_large_numbers(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text("zip,region\n0,n\n9007199254740991,s\n")
    given = pa.array([-0.0, 9007199254740991.0, 9007199254740992.0])
    assert regions(pa.table({"zip": given}), tmp_path) == ["n", "s", None]
    (tmp_path / "zips.csv").write_text("zip,region\n0,n\n-0.0,s\n")
    with pytest.raises(TableError, match="several have it"):
        regions(pa.table({"zip": given}), tmp_path)
    (tmp_path / "zips.csv").write_text("zip,region\n0,n\n9007199254740993,s\n")
    with pytest.raises(TableError, match="a key in each row, and 1 have none"):
        regions(pa.table({"zip": given}), tmp_path)


def test_dates_are_keys_where_both_are_dates(tmp_path: Path) -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    Frame({"zip": days, "region": ["n", "s"]}).to_parquet(tmp_path / "zips.parquet")
    table = pa.table({"zip": pa.array(days[::-1])})
    assert regions(table, tmp_path, table="zips.parquet") == ["s", "n"]


@pytest.mark.parametrize("keys", [[True, False], [date(2026, 1, 1)], [timedelta(1)]])
def test_keys_of_other_types_are_refused(keys: list[Any], tmp_path: Path) -> None:
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    with pytest.raises(TableError, match=r"data\.join\[?0?\]?\.on is .*keys of one type"):
        regions(pa.table({"zip": pa.array(keys)}), tmp_path)
    ZIPS.to_parquet(tmp_path / "zips.parquet")
    with pytest.raises(TableError, match="keys of one type"):
        regions(pa.table({"zip": pa.array([1, 2])}), tmp_path, table="zips.parquet")
    with pytest.raises(UnreadableCellsError):  # the type is that of the cells
        regions(Frame({"zip": [True]}, dtype=object), tmp_path)


@pytest.mark.parametrize(
    ("text", "keys", "twice"),
    [
        ("zip,region\n1,n\n2,s\n1,n\n", ["1"], "'1'"),
        ("zip,region\n1,n\n 1 ,s\n", ["1"], "'1'"),
        ("zip,region\n1,n\n1.0,s\n", [1], "1"),
        ("zip,region\n1,n\n01,s\n", [1], "1"),
    ],
)
def test_a_key_that_repeats_is_named(
    text: str, keys: list[Any], twice: str, tmp_path: Path
) -> None:
    (tmp_path / "zips.csv").write_text(text)
    with pytest.raises(TableError, match=rf"\.on is {twice}: .*several have it"):
        regions(people(zip=keys), tmp_path)


def test_a_public_row_without_a_key_is_refused(tmp_path: Path) -> None:
    for text in ("zip,region\n1,n\n,s\n", "zip,region\n1,n\n  ,s\n"):
        (tmp_path / "zips.csv").write_text(text)
        with pytest.raises(TableError, match="a key in each row, and 1 have none in 'zip'"):
            regions(people(zip=["1"]), tmp_path)


def test_several_keys_and_other_names(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text("state,code,region\nx,1,n\nx,2,s\ny,1,s\n")
    on = {"left": ["land", "zip"], "right": ["state", "code"]}
    rows = people(land=["y", "x", "x", "y"], zip=[1, 2, 1, 2])
    assert regions(rows, tmp_path, on=on) == ["s", "s", "n", None]
    (tmp_path / "zips.csv").write_text("state,code,region\nx,1,n\nx,1,s\n")
    with pytest.raises(TableError, match=r"is \['x', 1\]: .* in 'state', 'code'"):
        regions(rows, tmp_path, on=on)


def test_keys_that_are_not_there(tmp_path: Path) -> None:
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    rows = people(zip=["1", "3", "2", None])
    table = look_up(rows, tmp_path, REGION, columns=PUBLIC)
    codes = {f.code: f.message for f in inspect(table, PUBLIC, Structure(n=4))}
    assert codes["unmatched"] == "Keys in 'zip' that 'zips.csv' doesn't have: 2 rows."
    assert table.names == ("zip", "region")
    imputed = {"states": ["n", "s"], "missing": {"impute": "n"}}
    columns = parse_columns({"zip": {"public": True}, "region": imputed})
    with pytest.raises(TableMismatchError):  # though a missing region would be imputed
        run(look_up(rows, tmp_path, REGION, columns=columns), columns, [])
    table = look_up(rows, tmp_path, REGION | {"unmatched": "missing"}, columns=PUBLIC)
    assert [f.code for f in inspect(table, PUBLIC, Structure(n=4))] == ["missing"]
    totals = run(table, columns, [HistogramQuery("h", "region")])
    assert totals["h"].values == {None: (3, 1)}


def test_one_table_after_another(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("household,zip\n7,1\n8,2\n9,2\n")
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    rows = people(person=[1, 2, 3, 4], household=["9", "7", "7", "6"])
    homes = {"table": "homes.csv", "on": "household", "columns": ["zip"], "unmatched": "missing"}
    table = look_up(rows, tmp_path, homes, REGION, columns=PUBLIC)
    query = table.expression.order_by("person").select("person", "zip", "region")
    assert table.rows(query) == [(1, "2", "s"), (2, "1", "n"), (3, "1", "n"), (4, None, None)]
    assert [f.code for f in inspect(table, PUBLIC, Structure())] == ["unmatched", "missing"]


def test_rows_keep_their_order(tmp_path: Path) -> None:
    size = 3000
    codes = pd.Series(range(size)).sample(frac=1.0, random_state=1).reset_index(drop=True)
    Frame({"zip": codes, "region": "n"}).to_csv(tmp_path / "zips.csv", index=False)
    columns = parse_columns(
        {"zip": {"public": True}, "day": {"role": "order", "step": 1}, "region": {"public": True}}
    )
    days = pd.Series(range(size))
    for rows, late in ((days, []), (days[::-1].reset_index(drop=True), ["misordered"])):
        store(Frame({"zip": codes[::-1].to_numpy(), "day": rows}), tmp_path, "people", "csv")
        table = look_up("people.csv", tmp_path, REGION, columns=columns)
        assert [f.code for f in inspect(table, columns, Structure())] == late
        assert not table.ordered


def test_a_database_has_no_order_and_gets_none(tmp_path: Path) -> None:
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    source = store(people(zip=["2", "1"]), tmp_path, "people", "db")
    table = look_up(source, tmp_path, REGION, columns=PUBLIC)
    assert (table.ordered, table.order, table.names) == (False, None, ("zip", "region"))


def test_cells_of_a_public_csv_file_are_what_is_declared(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text(
        "zip,region,income,rural,built,height\n1,NA,,maybe,1900,99.5\n2,s,3,false,NA,101\n"
    )
    rows = people(zip=["1", "2"])
    with pytest.raises(
        TableError, match=r"is 'rural': expected a boolean in each cell.* 1 are none"
    ):
        look_up(rows, tmp_path, JOIN)
    (tmp_path / "zips.csv").write_text((tmp_path / "zips.csv").read_text().replace("maybe", "true"))
    table = look_up(rows, tmp_path, JOIN)
    cells = table.expression.order_by("zip").select("region", "income", "rural", "built", "height")
    assert table.rows(cells) == [(None, None, True, 1900.0, 99.5), ("s", 3.0, False, None, 101.0)]
    with_na = parse_columns({"region": {"states": ["NA", "s"]}})
    table = look_up(rows, tmp_path, REGION, columns=with_na)
    assert table.rows(table.expression.order_by("zip").select("region")) == [("NA",), ("s",)]


@pytest.mark.parametrize("public", ["csv", "parquet"])
def test_numbers_are_those_of_the_files_dialect(public: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("zip;n\n1.000,5;1\n2;2\n")
    european = CsvDialect.of({"decimal": ",", "thousands": ".", "separator": ";"})
    Frame({"zip": [1000.5, 2.0], "income": [3.5, 4.0]}).to_parquet(tmp_path / "zips.parquet")
    (tmp_path / "zips.csv").write_text("zip;income\n1.000,5;3,5\n2;4\n")
    table = open_table(tmp_path / "people.csv", csv=european)
    join = {"table": f"zips.{public}", "on": "zip", "columns": ["income"]}
    columns = parse_columns({"income": {"bounds": [0, 100]}})
    long = joined(table, parse_joins(join), columns, tmp_path)
    assert inspect(long, columns, Structure(n=2)) == []
    plain = open_table(Frame({"income": [3.5, 4.0]}))
    query = [SumQuery("i", "income", GRID)]
    assert run(long, columns, query)["i"] == run(plain, columns, query)["i"]


def test_durations_of_a_public_table(tmp_path: Path) -> None:
    zips = pa.table({"zip": ["1"], "travel": pa.array([timedelta(hours=1)])})
    pa.parquet.write_table(zips, tmp_path / "zips.parquet")
    travel = REGION | {"table": "zips.parquet", "columns": ["travel"]}
    columns = parse_columns({"travel": {"bounds": ["0 minutes", "90 minutes"]}})
    table = look_up(people(zip=["1"]), tmp_path, travel, columns=columns)
    query = [SumQuery("t", "travel", Grid(0.0, 90.0, 10))]
    assert run(table, columns, query)["t"] == run(open_table(zips), columns, query)["t"]
    store(people(zip=["1"]), tmp_path, "people", "csv")
    with pytest.raises(TableError, match="no durations"):
        look_up("people.csv", tmp_path, travel, columns=columns)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"table": "none.csv"}, r"data\.join\.table is 'none.csv': expected a file that exists"),
        ({"table": "header.csv"}, r"data\.join\.table .*The table has no rows"),
        ({"table": "latin.csv"}, r"data\.join\.table .*line 2 is not"),
        ({"on": {"left": "zip", "right": "zap"}}, r"data\.join\.on is 'zap': .*Did you mean 'zip'"),
        ({"columns": ["area"]}, r"data\.join\.columns is 'area': expected a column of the public"),
        ({"columns": ["zip"]}, r"data\.join\.columns is 'zip': .* no column of the study's table"),
    ],
)
def test_what_is_wrong_with_a_public_table_is_told(
    changes: Any, words: str, tmp_path: Path
) -> None:
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    (tmp_path / "header.csv").write_text("zip,region\n")
    (tmp_path / "latin.csv").write_bytes(b"zip,region\n1,\xe9\n")
    with pytest.raises(TableError, match=words):
        regions(people(zip=["1"]), tmp_path, **changes)


def test_what_the_studys_own_table_lacks_is_for_the_curator(tmp_path: Path) -> None:
    ZIPS.to_csv(tmp_path / "zips.csv", index=False)
    with pytest.raises(UnreadableCellsError) as caught:
        regions(people(zap=["1"]), tmp_path)
    assert caught.value.finding.code == "no-column"
    with pytest.raises(TableError, match="no column with the name 'bayesdp_key0'"):
        regions(people(zip=["1"], bayesdp_key0=["1"]), tmp_path)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("zips.csv", r"data\.join is 'zips.csv': expected a table"),
        ([REGION, 7], r"data\.join\[1\] is 7"),
        ({**REGION, "key": "zip"}, r"data\.join\.key"),
        ({**REGION, "table": 7}, r"data\.join\.table is 7"),
        ({"on": "zip", "columns": ["region"]}, r"data\.join\.table: expected a file"),
        ({**REGION, "table": "zips.txt"}, r"data\.join\.table is 'zips.txt': .*\.csv"),
        ({**REGION, "on": []}, r"data\.join\.on is \[\]"),
        ({**REGION, "on": ["zip", "zip"]}, r"data\.join\.on"),
        ({**REGION, "on": {"left": "zip"}}, r"data\.join\.on"),
        ({**REGION, "on": {"left": ["a", "b"], "right": "c"}}, "as many columns on the left"),
        ({**REGION, "on": {"left": "zip", "right": 7}}, r"data\.join\.on is 7"),
        ({**REGION, "columns": "region"}, r"data\.join\.columns is 'region': expected a list"),
        ({**REGION, "columns": []}, r"data\.join\.columns is \[\]"),
        ({**REGION, "columns": ["region\n"]}, "visible letters"),
        ({**REGION, "unmatched": "skip"}, r'data\.join\.unmatched is .skip.: expected "refuse"'),
        ([REGION, {**REGION, "columns": ["Region"]}], "differ in more than capital letters"),
    ],
)
def test_what_is_no_declaration_is_refused(raw: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_joins(raw)


def test_whole_numbers_of_a_public_file_are_those_of_a_csv_file(tmp_path: Path) -> None:
    """Statistics programs store whole numbers as doubles: a code 1 is not the text 1.0."""
    store(pd.DataFrame({"zip": ["a", "b", "c"]}), tmp_path, "people", "csv")
    codes = pd.DataFrame({"zip": ["a", "b", "c"], "code": [1.0, 2.5, None]})
    store(codes, tmp_path, "codes", "parquet")
    (tmp_path / "sexes.csv").write_text("code,sex\n1,f\n2.5,m\n")
    table = look_up(
        "people.csv",
        tmp_path,
        {"table": "codes.parquet", "on": "zip", "columns": ["code"]},
        {"table": "sexes.csv", "on": "code", "columns": ["sex"], "unmatched": "missing"},
    )
    assert sorted(table.rows(table.expression.select("zip", "code", "sex"))) == [
        ("a", "1", "f"),
        ("b", "2.5", "m"),
        ("c", None, None),
    ]


def test_value_labels_of_a_public_file_beside_a_csv_file(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'bayesdp[formats]'")

    store(pd.DataFrame({"zip": [1, 2, 3]}), tmp_path, "people", "csv")
    codes = pd.DataFrame({"zip": [1, 2, 3], "region": [1.0, 2.0, None], "income": [1.0, 2.0, 7.0]})
    labels = {name: {1: "n", 2: "s"} for name in ("region", "income")}
    pyreadstat.write_sav(codes, tmp_path / "zips.sav", variable_value_labels=labels)
    join = {"table": "zips.sav", "on": "zip", "columns": ["region", "income"]}
    table = look_up("people.csv", tmp_path, join)
    assert sorted(table.rows(table.expression.select("zip", "region", "income"))) == [
        ("1", "n", "1"),  # texts are declared, and numbers
        ("2", "s", "2"),
        ("3", None, "7"),
    ]
    texts = parse_columns({"income": {"public": True, "states": ["n", "s"]}})
    with pytest.raises(TableError, match=r"a value label for each code.* and 1 cells have none"):
        look_up("people.csv", tmp_path, {**join, "columns": ["income"]}, columns=texts)
