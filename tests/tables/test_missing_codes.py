"""Codes that stand for missing values: seen alike by everything that reads a column."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesdp.errors import InputError
from bayesdp.release import Study
from bayesdp.release.spec.study import describe_column
from bayesdp.statements import StatementError, label, read_columns
from bayesdp.statements.column_sets import check_law
from bayesdp.tables.cells.reading import read
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import CountQuery, HistogramQuery, SumQuery
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.rows import read_columns as read_rows
from bayesdp.tables.sums.scan import run
from bayesdp.verification import verify

CODES: list[Any] = [-9, 98.5, "999", "k.A."]
COLUMNS: dict[str, Any] = {
    "x": {"bounds": [-20, 200], "missing": {"codes": CODES, "impute": 170}},
    "tall": {"from": "x", "where": "x > 100"},
    "s": {"states": ["a", "b"], "missing": {"codes": ["9", "k.A."], "impute": "b"}},
    "n": {"states": [0, 1], "missing": {"codes": [9], "impute": 1}},
    "y": {"from": "z", "cuts": [5], "missing": {"codes": [99], "impute": 7}},
}
CELLS: dict[str, dict[str, Any]] = {
    "x": {
        **dict.fromkeys(["-9", "-9.0", " -9 ", "98.5", "9.85e1", "999", " k.A. ", "", "NA"], 170.0),
        "-8.999": -8.999,
        "98": 98.0,
        "1000": 200.0,
        "9": 9.0,
    },
    "s": {"a": "a", "b": "b", "9": "b", " k.A.": "b", "": "b", "NA": "b"},
    "n": {"0": 0.0, "1": 1.0, "9": 1.0, "9.00": 1.0, "": 1.0},
    "z": {"4": 4.0, "6": 6.0, "99": 7.0, "99.0": 7.0, "": 7.0, "98": 98.0},
}
"""By column, texts of cells and what they are read as."""


def read_all(table: Table, columns: dict[str, Column]) -> list[tuple[Any, ...]]:
    return table.rows(
        table.expression.select(**{name: read(table, columns, name).value for name in columns})
    )


def test_every_reader_sees_a_code_as_missing(tmp_path: Path) -> None:
    """Sums, counts, cells, conditions and rows for programs against a reader by hand."""
    chosen = random.Random(7)
    rows = [{name: chosen.choice(list(cells)) for name, cells in CELLS.items()} for _ in range(300)]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    table, columns = open_table("t.csv", tmp_path), parse_columns(COLUMNS)
    assert inspect(table, columns, Structure()) == []
    truth = [{name: CELLS[name][cell] for name, cell in row.items()} for row in rows]
    for row in truth:
        row |= {"tall": int(row["x"] > 100), "y": int(row["z"] >= 5)}
    grid = Grid.plan(-20, 200, len(rows), dp_epsilon=1.0)
    where = Predicate.parse("x >= 98 and s == 'b' and n == 1 and tall == 1", columns)
    totals = run(
        table,
        columns,
        [
            SumQuery("sum", "x", grid),
            CountQuery("count", where),
            HistogramQuery("cells", "s"),
            HistogramQuery("bins", "x", (-20.0, 0.0, 98.0, 99.0, 200.0)),
            HistogramQuery("cut", "y"),
        ],
    )
    assert totals["sum"].values[None] == (sum(grid.index(row["x"]) for row in truth),)
    held = [row["x"] > 100 and row["s"] == "b" and row["n"] == 1 for row in truth]
    assert totals["count"].values[None] == (sum(held),)
    states = Counter(row["s"] for row in truth)
    assert totals["cells"].values[None] == (states["a"], states["b"])
    x = [row["x"] for row in truth]
    bins = [sum(a <= v < b for v in x) for a, b in ((-20, 0), (0, 98), (98, 99), (99, 1000))]
    assert totals["bins"].values[None] == tuple(bins)
    upper = sum(row["y"] for row in truth)
    assert totals["cut"].values[None] == (len(rows) - upper, upper)
    wanted: Any = {"x": ("x", "number"), "s": ("s", "text"), "n": ("n", "number")}
    held_rows = read_rows(table, columns, wanted).to_pylist()
    assert held_rows == [{name: row[name] for name in wanted} for row in truth]


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "decimal128", "object", "null"])
def test_cells_of_every_type_are_held_against_codes(kind: str, tmp_path: Path) -> None:
    """A float32 holds 98.6 only nearly: what is stored for the code is the code."""
    declared = {"x": {"bounds": [-20, 200], "missing": {"codes": [-9, 98.6], "impute": 170}}}
    cells: list[Any] = [-9, 98.6, 98, None, 5]
    expected = [170.0, 170.0, 98.0, 170.0, 5.0]
    if kind == "int64":
        cells, expected = [-9, 98, 5], [170.0, 98.0, 5.0]
    if kind == "null":
        cells, expected = [None], [170.0]
    types = {"decimal128": pa.float64(), "object": pa.float64(), "null": pa.null()}
    array = pa.array(cells, types[kind] if kind in types else getattr(pa, kind)())
    if kind == "decimal128":
        array = array.cast(pa.decimal128(19, 2))
    columns = parse_columns(declared)
    pq.write_table(pa.table({"x": array}), tmp_path / "t.parquet")
    frame = pd.DataFrame({"x": pd.Series(cells, dtype="object")})
    for source in ("t.parquet", frame if kind == "object" else pa.table({"x": array})):
        table = open_table(source, tmp_path)
        assert inspect(table, columns, Structure()) == []
        assert [x for (x,) in read_all(table, columns)] == expected


def test_codes_of_dates_durations_and_booleans(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "day,when,took,ok\n31.12.2025,2025-01-01,1:00:00,true\n"
        "99.99.9999,9999-12-31,99:99,k.A.\n31.12.1899, 9999-12-31 00:00,PT600M,false\n"
    )
    declared: dict[str, Any] = {
        "day": {"bounds": ["2020-01-01", "2026-12-31"], "format": "%d.%m.%Y"},
        "when": {"bounds": ["2020-01-01", "2026-12-31"]},
        "took": {"bounds": ["0 hours", "9 hours"]},
        "ok": {"states": [True, False]},
    }
    imputed = {"day": "2020-01-01", "when": "2020-01-01", "took": "2 hours", "ok": True}
    codes = {
        "day": ["99.99.9999", "1899-12-31"],
        "when": ["9999-12-31"],
        "took": ["99:99", 10],
        "ok": ["k.A."],
    }
    for name, spec in declared.items():
        spec["missing"] = {"impute": imputed[name], "codes": codes[name]}
    columns = parse_columns(declared)
    table = open_table("t.csv", tmp_path)
    assert inspect(table, columns, Structure()) == []
    assert read_all(table, columns) == [
        (20453.0, 20089.0, 1.0, True),
        (18262.0, 18262.0, 2.0, True),
        (18262.0, 18262.0, 2.0, False),
    ]
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2025-01-01", "9999-12-31"]).astype("datetime64[s]")}
    )
    assert read_all(open_table(frame), {"when": columns["when"]}) == [(20089.0,), (18262.0,)]
    whole = parse_columns(
        {
            "d": {
                "bounds": ["2020-01-01", "2026-12-31"],
                "format": "%Y%m%d",
                "missing": {"codes": [99999999], "impute": "2020-01-01"},
            }
        }
    )
    numbers = open_table(pd.DataFrame({"d": [20250101, 99999999]}))
    assert read_all(numbers, whole) == [(20089.0,), (18262.0,)]


def test_codes_that_are_not_imputed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,s\n1,a\n-9.0,a\n7,9\n,b\n")
    columns = parse_columns(
        {
            "x": {"bounds": [-20, 9], "missing": {"codes": [-9]}},
            "s": {"states": ["a", "b"], "missing": {"codes": ["9"]}},
        }
    )
    table = open_table("t.csv", tmp_path)
    messages = [finding.message for finding in inspect(table, columns, Structure())]
    assert messages == [
        "Column 'x': missing values that are not imputed in 2 rows.",
        "Column 's': missing values that are not imputed in 1 row.",
    ]
    assert read_all(table, columns) == [(1.0, "a"), (None, "a"), (7.0, None), (None, "b")]


def test_what_is_neither_a_value_nor_a_code_is_a_fault(tmp_path: Path) -> None:
    """Imputed codes hide no other cell: not a text, not NaN, not a value that is no state."""
    (tmp_path / "t.csv").write_text("x,s,n,d\nseven,c,2,x\nnan,a,0,2026-02-01\n,a,0,\n")
    declared = {
        "x": {"bounds": [0, 9], "missing": {"codes": [-9, "k.A."], "impute": 5}},
        "s": {"states": ["a", "b"], "missing": {"codes": ["9"], "impute": "a"}},
        "n": {"states": [0, 1], "missing": {"codes": [9], "impute": 1}},
        "d": {
            "bounds": ["2020-01-01", "2026-12-31"],
            "missing": {"codes": ["9999-12-31"], "impute": "2021-01-01"},
        },
    }
    columns = parse_columns(declared)
    table = open_table("t.csv", tmp_path)
    codes = [finding.code for finding in inspect(table, columns, Structure())]
    assert codes == ["not-a-number", "not-finite", "undeclared", "undeclared", "not-a-time"]
    assert read_all(table, columns) == [
        (None, None, None, None),
        (None, "a", 0.0, 20485.0),
        (5.0, "a", 0.0, 18628.0),
    ]


def test_records_are_held_against_the_population_as_they_are_read(tmp_path: Path) -> None:
    """State 1 never follows itself; the code 9 is imputed as 1."""
    (tmp_path / "t.csv").write_text("day,n\n1,0\n2,1\n3,9\n")
    study = made(tmp_path, "t.csv", {"states": [0, 1], "missing": {"codes": [9], "impute": 1}})
    assert any("1 step after 1" in finding.message for finding in study.inspect())
    study = made(tmp_path, "t.csv", {"states": [0, 1], "missing": {"codes": [9], "impute": 0}})
    assert study.inspect() == []


def made(folder: Path, source: str, column: dict[str, Any]) -> Study:
    return Study(
        str(folder / source),
        dataset="d",
        n=3,
        columns={"day": {"role": "order", "step": 1}, "n": column},
        population={
            "model": "markov",
            "transition": [[0.5, 0.5], [1, 0]],
            "initial": [0.5, 0.5],
            "length": 3,
            "covers": ["n"],
        },
        budget={"epsilon": 1.0},
        queries=[{"name": "ones", "kind": "count", "where": "n == 1"}],
        ledger=str(folder / "ledger.db"),
    )


def test_certificates_state_the_codes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("day,n\n1,0\n2,1\n3,9\n")
    study = made(tmp_path, "t.csv", {"states": [0, 1], "missing": {"codes": ["9"], "impute": 0}})
    release = study.release()
    stated = json.loads(release.certificate.to_json())["columns"]["n"]["missing"]
    assert stated == {"impute": 0, "codes": [9]}
    assert verify(release.certificate).verdict == "VALID ASSUMING"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"bounds": [0, 9], "missing": {"codes": []}}, "at least one code"),
        ({"bounds": [0, 9], "missing": {"codes": 9}}, "at least one code"),
        ({"bounds": [0, 9], "missing": {"code": [9]}}, r"'refuse', \{ impute = value \}"),
        ({"bounds": [0, 9], "missing": {}}, r"'refuse', \{ impute = value \}"),
        ({"bounds": [0, 9], "missing": {"codes": ["-9", -9.0]}}, "each code once"),
        ({"bounds": [0, 9], "missing": {"codes": [" "]}}, "an empty cell is missing anyway"),
        ({"bounds": [0, 9], "missing": {"codes": [True]}}, "a number"),
        ({"bounds": [0, 9], "missing": {"codes": [float("nan")]}}, "a finite number"),
        ({"bounds": [0, 9], "missing": {"codes": [2**53]}}, r"below 2\^53"),
        ({"bounds": [0, 9], "missing": {"codes": [str(2**53)]}}, r"below 2\^53"),
        ({"bounds": [0, 9], "missing": {"codes": ["-9,5"]}}, r"Write it as in codes = \[-9\.5\]"),
        ({"bounds": [0, 9], "missing": {"codes": ["1 000"]}}, "Write it as in"),
        ({"bounds": [0, 9], "missing": {"codes": ["5.0"], "impute": 5}}, "another value than"),
        ({"states": [0, 9], "missing": {"codes": ["9.0"]}}, "no declared state"),
        ({"states": ["a", "b "], "missing": {"codes": [" b"]}}, "no declared state"),
        ({"states": [True, False], "missing": {"codes": ["true"]}}, "no declared state"),
        ({"states": ["a", "b"], "missing": {"codes": [9]}}, 'Write "9"'),
        ({"role": "cluster", "missing": {"codes": [9]}}, "no codes: only columns with bounds"),
        ({"public": True, "missing": {"codes": [9]}}, "no codes: only columns with bounds"),
    ],
)
def test_what_no_code_can_be(column: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        parse_columns({"x": column})
    assert error.value.key.startswith("data.columns.x.missing")


@pytest.mark.parametrize("column", [column for name, column in COLUMNS.items() if name != "tall"])
def test_declarations_are_statements(column: dict[str, Any]) -> None:
    columns = parse_columns({"x": column})
    plain = {name: describe_column(column) for name, column in columns.items()}
    (stated,) = read_columns(plain).values()
    assert stated.codes == columns["x"].codes
    assert parse_columns(plain) == columns
    assert label("x", stated)


@pytest.mark.parametrize(
    ("cut", "where"), [([5], None), (None, "x == 5"), (None, "x in [5, 5.0]"), ([3, 5], None)]
)
def test_a_state_that_only_codes_have_is_impossible(
    cut: list[float] | None, where: str | None
) -> None:
    """Between the bounds 1 and 5 only 5 itself reaches the cut at 5."""
    derived = {"from": "x", "cuts": cut} if cut else {"from": "x", "where": where}
    for codes, possible in (([4], True), ([5], False)):
        columns = read_columns(
            {"x": {"bounds": [1, 5], "missing": {"codes": codes}}, "high": derived}
        )
        if possible:
            check_law(("high",), columns, "covers")
        else:
            with pytest.raises(StatementError, match="no value of 'x' has the state"):
                check_law(("high",), columns, "covers")
    columns = read_columns(
        {"x": {"bounds": [1, 5], "missing": {"codes": [3]}}, "y": {"from": "x", "cuts": [2, 4]}}
    )
    check_law(("y",), columns, "covers")  # 3 alone is a code: 2.5 has the state 1
