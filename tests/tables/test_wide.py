"""A wide table reads as the same table that was made long by hand: in sums and in findings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError, TableError, TableMismatchError, UnsupportedError
from bayesdp.tables.cells.wide import melted, parse_wide
from bayesdp.tables.checks.findings import count_records, inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.engines.duckdb_engine import DuckDBEngine
from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.files.csv_dialect import CsvDialect
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import CountQuery, HistogramQuery, SumQuery
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table
from bayesdp.tables.sums.scan import run
from tests.effort import runs

Folder = Path
Frame = pd.DataFrame

RECORDS = {"height": ["height_a", "height_b", "height_c"], "smokes": ["s_a", "s_b", "s_c"]}
POSITION = {"name": "year", "values": [2019, 2020, 2022]}
DECLARED: dict[str, Any] = {"records": RECORDS, "position": POSITION, "row": "home"}
COLUMNS: dict[str, Any] = {
    "home": {"role": "cluster"},
    "person": {"role": "series"},
    "year": {"role": "order", "step": 1, "states": [2019, 2020, 2022]},
    "region": {"public": True, "states": ["n", "s"]},
    "height": {"bounds": [100, 200], "missing": {"impute": 150}},
    "smokes": {"states": ["yes", "no"], "missing": {"impute": "no"}},
    "tall": {"from": "height", "cuts": [160.0]},
}


def wide_frame(rng: np.random.Generator, rows: int) -> Frame:
    frame = Frame({"region": rng.choice(["n", "s"], rows), "person": rng.integers(0, 9, rows)})
    for place in "abc":
        heights = rng.uniform(90, 210, rows).round(1)
        frame[f"height_{place}"] = np.where(rng.random(rows) < 0.1, np.nan, heights)
        frame[f"s_{place}"] = rng.choice(np.array(["yes", "no", None], dtype=object), rows)
    return frame[["s_b", "height_a", "region", "s_a", "height_c", "person", "s_c", "height_b"]]


def by_hand(frame: Frame, *, skip: bool = False) -> Frame:
    """The long table, row by row, in plain Python."""
    rows = []
    for number, row in enumerate(frame.to_dict("records")):
        for place, year in enumerate(POSITION["values"]):  # type: ignore[arg-type]  # a list
            cells = {name: row[names[place]] for name, names in RECORDS.items()}
            if skip and all(pd.isna(cell) for cell in cells.values()):
                continue
            shared = {"region": row["region"], "person": row["person"], "home": number}
            rows.append({**shared, "year": year, **cells})
    return Frame(rows)


def in_memory(frame: Frame, folder: Folder) -> Any:
    del folder
    return frame


def csv(frame: Frame, folder: Folder) -> str:
    frame.to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def parquet(frame: Frame, folder: Folder) -> str:
    frame.to_parquet(folder / "t.parquet", row_group_size=5)
    return str(folder / "t.parquet")


def several(frame: Frame, folder: Folder) -> str:
    for i in range(3):
        part = frame.iloc[i * len(frame) // 3 : (i + 1) * len(frame) // 3]
        part.to_parquet(folder / f"part{i}.parquet")
    return str(folder / "part*.parquet")


def database(frame: Frame, folder: Folder) -> str:
    with duckdb.connect(str(folder / "t.db")) as connection:
        connection.register("frame", frame)
        connection.execute("create table people as select * from frame")
    return f"{folder}/t.db::people"


SOURCES: list[Callable[[Frame, Folder], Any]] = [in_memory, csv, parquet, several, database]


def opened(frame: Frame, folder: Folder, store: Any = in_memory, **changes: Any) -> Table:
    table = open_table(store(frame, folder))
    return melted(table, parse_wide({**DECLARED, **changes}), parse_columns(COLUMNS))


GRID = Grid(100.0, 200.0, 20)


def plan() -> list[Any]:
    columns = parse_columns(COLUMNS)

    def where(text: str) -> Predicate:
        return Predicate.parse(text, columns)

    return [
        SumQuery("sum", "height", GRID),
        SumQuery("by year", "height", GRID, by="year"),
        SumQuery("some", "height", GRID, where=where("smokes == 'yes'"), by="region"),
        CountQuery("late", where=where("year > 2019 and tall == 1"), by="region"),
        HistogramQuery("states", "smokes", by="year"),
        HistogramQuery("bins", "height", edges=(100.0, 120.0, 160.5, 200.0)),
        HistogramQuery("derived", "tall"),
    ]


def answers(table: Table, structure: Structure) -> tuple[Any, list[str]]:
    columns = parse_columns(COLUMNS)
    findings = [
        f"{finding.code}: {finding.message}" for finding in inspect(table, columns, structure)
    ]
    totals = run(table, columns, plan())
    kept = {name: (total.values, total.sizes) for name, total in totals.totals.items()}
    return (totals.rows, kept), findings


STRUCTURES = [
    Structure(cluster_size=3),
    Structure(cluster_size=2, series_length=3),
    Structure(n=3),
    Structure(series_length=4, several_series=False),
]


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_the_same_as_a_table_made_long_by_hand(number: int, tmp_path: Path) -> None:
    rng, store = np.random.default_rng(number), SOURCES[number]
    for trial in range(number, number + runs(20)):
        folder = tmp_path / str(trial)
        folder.mkdir()
        frame = wide_frame(rng, int(rng.integers(3, 30)))
        empty = "skip" if trial % 2 else "keep"
        long = by_hand(frame, skip=empty == "skip")
        structure = STRUCTURES[trial % len(STRUCTURES)]
        due = answers(open_table(csv(long, folder) if store is csv else long), structure)
        table = opened(frame, folder, store, empty=empty)
        totals, findings = answers(table, structure)
        assert totals == due[0]
        without = [f.replace(" [data.wide] makes 3 records of each row.", "") for f in findings]
        ordered = [f for f in due[1] if not (store is database and f.startswith("misordered"))]
        assert without == ordered
        assert count_records(table) == len(long)


def test_cells_of_a_row_stay_together_on_many_processors(tmp_path: Path) -> None:
    size = 300_000
    whole = pd.Series(range(size), dtype="int64")
    frame = Frame({"a": whole, "b": whole + size, "c": whole + 2 * size})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=10_000)
    wide = parse_wide(
        {
            "records": {"x": ["a", "b", "c"]},
            "position": {"name": "at", "values": ["a", "b", "c"]},
            "row": "home",
        }
    )
    table = melted(open_table(tmp_path / "t.parquet"), wide, {})
    homes = table.expression.group_by("home").aggregate(
        size=lambda t: t.count(), low=lambda t: t.x.min(), high=lambda t: t.x.max()
    )
    whole_homes = (homes["size"] == 3) & (homes.high == homes.low + 2 * size)
    assert table.numbers(homes, homes.count(), homes.count(where=whole_homes)) == (size, size)
    columns = parse_columns(
        {"home": {"role": "cluster"}, "x": {"bounds": [0, 9]}, "at": {"public": True}}
    )
    assert inspect(table, columns, Structure(n=3 * size, cluster_size=3)) == []


def test_records_without_any_cell_have_to_be_declared(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = wide_frame(rng, 6).astype(object)
    frame.loc[:, :] = frame.assign(
        height_a=150.0, height_b=160.0, height_c=170.0, s_a="no", s_b="no", s_c="no"
    )
    frame.loc[2, ["height_b", "s_b"]] = None
    frame.loc[4, "s_c"] = None
    for store in (in_memory, csv):
        table = opened(frame, tmp_path, store)
        assert table.names == ("region", "person", "height", "smokes", "year", "home")
        (finding,) = [
            f
            for f in inspect(table, parse_columns(COLUMNS), Structure())
            if f.code == "empty-record"
        ]
        assert finding.message.startswith("Records whose cells are all empty")
        assert finding.message.endswith(": 1 row.")
        with pytest.raises(TableMismatchError):  # though missing cells would be imputed
            run(table, parse_columns(COLUMNS), [])
        assert count_records(opened(frame, tmp_path, store, empty="skip")) == 17
        assert count_records(opened(frame, tmp_path, store, empty="keep")) == 18


def test_a_declared_state_na_is_a_cell(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nNA,x\n NA ,\n")
    wide = parse_wide(
        {"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": ["1", "2"]}}
    )
    for states, codes in ((["x", "NA"], 1), (["x"], 3)):
        columns = parse_columns({"v": {"states": states, "missing": {"impute": "x"}}})
        table = melted(open_table(tmp_path / "t.csv"), wide, columns)
        marked = table.expression[table.marks[0].column]
        assert table.numbers(table.expression, table.expression.count(where=marked)) == (codes,)


NS = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (([1, 2], [1, 2]), "int64"),
        (([1, 2], [0.5, None]), "float64"),
        (([1, 2], [None, None]), "int64"),
        (([True, False], [False, None]), "boolean"),
        ((["a", "b"], [None, None]), "string"),
        (([NS, NS], [NS, NS]), "int64"),
        (([datetime(2026, 1, 1)] * 2, [datetime(2026, 1, 2)] * 2), "timestamp"),
        (([date(2026, 1, 1)] * 2, [date(2026, 1, 2)] * 2), "date"),
    ],
)
def test_cells_of_one_type(cells: Any, kind: str) -> None:
    frame = Frame({"a": cells[0], "b": cells[1]})
    wide = parse_wide({"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": [1, 2]}})
    table = melted(open_table(frame), wide, {})
    assert str(table.expression.v.type()).startswith(kind)
    assert ("v" in table.durations) == (cells[0][0] is NS)
    values = [None if v is None or v != v else v for v in cells[0][:1] + cells[1][:1]]
    if kind not in ("int64", "timestamp") or cells[0][0] == 1:
        assert [row[0] for row in table.rows(table.expression.select("v"), limit=2)] == values


def test_cells_of_several_types_are_refused(tmp_path: Path) -> None:
    wide = parse_wide({"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": [1, 2]}})
    times = Frame({"a": [NS, NS], "b": [1, 2]})
    for frame in (times, Frame({"a": [True, False], "b": [1, 2]})):
        with pytest.raises(TableError, match=r"data\.wide\.records\.v is .*columns of one type"):
            melted(open_table(frame), wide, {})
    by_cells = Frame({"a": [1, 2], "b": ["1", "2"]})
    with pytest.raises(UnreadableCellsError):  # pandas takes the types from the cells
        melted(open_table(by_cells), wide, {})
    by_cells.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="columns of one type"):
        melted(open_table(tmp_path / "t.parquet"), wide, {})


def test_rows_that_have_no_numbers_get_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDBEngine, "numbers_rows", property(Engine.numbers_rows.fget))
    table = open_table(Frame({"a": [1], "b": [2]}))
    melted(table, parse_wide(TWO), {})
    with pytest.raises(UnsupportedError, match=r"data\.wide\.row is 'home': .*rows of DuckDB"):
        melted(table, parse_wide({**TWO, "row": "home"}), {})


def test_positions_are_written_as_the_file_writes_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;1.000,25\n")
    european = CsvDialect.of({"decimal": ",", "thousands": ".", "separator": ";"})
    wide = {"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": [0.5, 1000.5]}}
    columns = parse_columns(
        {"at": {"public": True, "states": [0.5, 1000.5]}, "v": {"bounds": [0, 2000]}}
    )
    table = melted(open_table(tmp_path / "t.csv", csv=european), parse_wide(wide), columns)
    totals = run(table, columns, [SumQuery("v", "v", Grid(0.0, 2000.0, 20), by="at")])
    plain = open_table(Frame({"at": [0.5, 1000.5], "v": [1.5, 1000.25]}))
    assert (
        totals["v"]
        == run(plain, columns, [SumQuery("v", "v", Grid(0.0, 2000.0, 20), by="at")])["v"]
    )


def test_hollow_cells_stay_hollow() -> None:
    frame = Frame({"a": [None, None], "b": [None, None], "v": [1, 2]})
    wide = parse_wide({"records": {"w": ["a", "b"]}, "position": {"name": "at", "values": [1, 2]}})
    assert melted(open_table(frame), wide, {}).hollow == {"w"}


def test_a_new_column_may_have_the_name_of_a_column_that_is_used() -> None:
    frame = Frame({"x": [1, 2], "x2": [3, 4]})
    wide = parse_wide(
        {"records": {"x": ["x", "x2"]}, "position": {"name": "x2", "values": ["a", "b"]}}
    )
    table = melted(open_table(frame), wide, {})
    assert table.rows(table.expression.select("x", "x2")) == [
        (1, "a"),
        (3, "b"),
        (2, "a"),
        (4, "b"),
    ]


@pytest.mark.parametrize(
    ("frame", "changes", "words"),
    [
        ({"a": [1], "b": [2], "V": [3]}, {}, r"data\.wide\.records is 'v'"),
        ({"a": [1], "b": [2], "at": [3]}, {}, r"data\.wide\.position\.name is 'at'"),
        ({"a": [1], "b": [2], "home": [3]}, {"row": "home"}, r"data\.wide\.row is 'home'"),
        ({"a": [1], "b": [2], "bayesdp_part": [3]}, {}, "no column with the name 'bayesdp_part'"),
    ],
)
def test_names_that_are_taken(frame: Any, changes: Any, words: str) -> None:
    declared = {"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": [1, 2]}}
    with pytest.raises(TableError, match=words):
        melted(open_table(Frame(frame)), parse_wide(declared | changes), {})


def test_a_column_that_is_not_there_is_told_to_the_curator() -> None:
    wide = parse_wide(
        {"records": {"v": ["aa", "bb"]}, "position": {"name": "at", "values": [1, 2]}}
    )
    with pytest.raises(UnreadableCellsError) as caught:
        melted(open_table(Frame({"aa": [1], "b": [2]})), wide, {})
    assert caught.value.finding.code == "no-column"
    assert "'bb' is not there. Did you mean 'b'?" in caught.value.finding.message


TWO: dict[str, Any] = {"records": {"v": ["a", "b"]}, "position": {"name": "at", "values": [1, 2]}}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("pairs", r"data\.wide is 'pairs': expected a table"),
        ({**TWO, "column": "x"}, r"data\.wide\.column"),
        ({"position": TWO["position"]}, r"data\.wide\.records: expected a table of lists"),
        ({**TWO, "records": {}}, r"data\.wide\.records is \{\}"),
        ({**TWO, "records": {"v": ["a"]}}, r"data\.wide\.records\.v is \['a'\]"),
        ({**TWO, "records": {"v": "ab"}}, r"data\.wide\.records\.v is 'ab'"),
        ({**TWO, "records": {"v": ["a", 2]}}, r"data\.wide\.records\.v"),
        ({**TWO, "records": {"": ["a", "b"]}}, r"data\.wide\.records is ''"),
        ({**TWO, "records": {"v = w": ["a", "b"]}}, "without ' = ' in it"),
        ({**TWO, "records": {"v": ["a", "b"], "w": ["c", "d", "e"]}}, "2 columns, as many as 'v'"),
        ({**TWO, "records": {"v": ["a", "b"], "w": ["c", "a"]}}, "each column of the table once"),
        ({"records": TWO["records"]}, r"data\.wide\.position: expected .* each of the 2 records"),
        ({**TWO, "position": {"name": "at", "states": [1, 2]}}, r"data\.wide\.position\.states"),
        ({**TWO, "position": {"values": [1, 2]}}, r"data\.wide\.position\.name: expected the name"),
        ({**TWO, "position": {"name": "at", "values": [1]}}, "a list of 2 values"),
        ({**TWO, "position": {"name": "at", "values": [1, "b"]}}, "different texts, or different"),
        ({**TWO, "position": {"name": "at", "values": [1, 1.0]}}, "different texts, or different"),
        ({**TWO, "position": {"name": "at", "values": [True, False]}}, "different texts"),
        ({**TWO, "position": {"name": "at", "values": ["a", " b"]}}, "without spaces"),
        ({**TWO, "position": {"name": "at", "values": ["a", "NA"]}}, "not NA"),
        ({**TWO, "position": {"name": "at", "values": ["a", "b\n"]}}, "visible letters"),
        ({**TWO, "position": {"name": "at", "values": [1, float("nan")]}}, "numbers below 2"),
        ({**TWO, "position": {"name": "at", "values": [1, 2**53]}}, "numbers below 2"),
        ({**TWO, "row": "row"}, 'unit = "row" means something else'),
        ({**TWO, "row": ""}, r"data\.wide\.row is ''"),
        ({**TWO, "row": "V"}, "differ in more than capital letters"),
        ({**TWO, "empty": "absent"}, r'data\.wide\.empty is .absent.: expected "refuse"'),
    ],
)
def test_what_is_no_declaration_is_refused(raw: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_wide(raw)
