"""Neighbouring tables are met with the same outcome, whatever engine holds them.

What a table holds, and whether it holds anything, decides nothing that may be seen but the one
refusal that is always in the same words and leaves a trace in the ledger.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from bayesdp.accounting import Ledger
from bayesdp.accounting.costs.composition import level
from bayesdp.errors import BayesdpError, TableError, TableMismatchError
from bayesdp.programs.ir import Program
from bayesdp.programs.run import inspect_table, load, run
from bayesdp.programs.run.machine.readiness import ready
from tests.effort import runs
from tests.programs.run.helpers import accepted, seen

KINDS = {
    "height": "Real[50, 250]",
    "age": "Int[0, 110]",
    "smokes": "Bool",
    "sex": 'Category["f", "m"]',
    "wave": 'Category["1", "2"]',
    "asthma": 'Category["no", "yes", "missing"]',
    "visit": 'Category["1", "2", "missing"]',
}
FITTING: dict[str, Sequence[Any]] = {
    "height": (170, 170.5, 20, 1e9, -3.25),
    "age": (30, -4, 200, 31.0),
    "smokes": (True, False),
    "sex": ("f", "m"),
    "wave": (1, 2),
    "asthma": ("no", "yes", None),
    "visit": (1, 2, None),
}
STRANGE = (
    None, math.nan, math.inf, 2.5, 7, "x", "", "NA", "1", 2**70, -(2**63), True, date(2020, 1, 1),
    b"f", [1], {"a": 1}, "\ud800", Decimal("1.5"), Decimal("NaN"), 1j, np.float32(3.5),
)  # fmt: skip
Row = dict[str, Any]
_NUMBERS = itertools.count()


def _program(names: Sequence[str], adjacency: str) -> Program:
    fields = "\n".join(f"    {name}: {KINDS[name]}" for name in names)
    return accepted(f"""
@record
class R:
{fields}
@program(adjacency="{adjacency}")
def f(db: Database[R]) -> Private[Int]:
    return laplace(count(r for r in db), epsilon=1)
""")[0]  # fmt: skip


def _columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def _csv(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Path:
    # Quoted: an empty line of a file with one column would be no record.
    cells = [["" if row[name] is None else row[name] for name in names] for row in rows]
    lines = [",".join(names), *(",".join(f'"{item}"' for item in line) for line in cells)]
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def _parquet(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(_columns(rows, names)), folder / "t.parquet")
    return folder / "t.parquet"


def _duckdb(rows: Sequence[Row], names: Sequence[str], folder: Path) -> str:
    import duckdb

    path = folder / f"{next(_NUMBERS)}.duckdb"
    held = pa.table(_columns(rows, names))
    with duckdb.connect(str(path)) as connection:
        connection.register("held", held)
        connection.execute("CREATE TABLE t AS SELECT * FROM held")
    return f"{path}::t"


def _ibis(rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    import ibis

    return ibis.memtable(pa.table(_columns(rows, names)))


Make = Callable[[Sequence[Row], Sequence[str], Path], Any]
ENGINES: dict[str, Make] = {
    "csv": _csv,
    "parquet": _parquet,
    "duckdb": _duckdb,
    "ibis": _ibis,
    "records": lambda rows, names, _: [dict(row) for row in rows],
    "columns": lambda rows, names, _: _columns(rows, names),
    "pandas": lambda rows, names, _: pd.DataFrame(_columns(rows, names)),
    "pandas, by records": lambda rows, names, _: pd.DataFrame(list(rows), columns=list(names)),
    "pandas, objects": lambda rows, names, _: pd.DataFrame(_columns(rows, names), dtype=object),
    "polars": lambda rows, names, _: pl.DataFrame(_columns(rows, names), strict=False),
    "polars, lazy": lambda rows, names, _: pl.DataFrame(_columns(rows, names), strict=False).lazy(),
    "arrow": lambda rows, names, _: pa.table(_columns(rows, names)),
    "numpy": lambda rows, names, _: {
        name: np.asarray(cells) for name, cells in _columns(rows, names).items()
    },
}


def _outcome(program: Program, table: object, folder: Path) -> tuple[str, ...]:
    try:
        rows = load(program, table, folder)
    except BayesdpError as error:
        return type(error).__name__, str(error)
    return ("runs", *(f"{name}: {cells.dtype}" for name, cells in rows.columns.items()))


def _made(make: Make, rows: Sequence[Row], names: Sequence[str], folder: Path) -> Any:
    """The table, or None where the library has none with these cells."""
    try:
        return make(rows, names, folder)
    except (Exception, pl.exceptions.PanicException):  # there is no such table
        return None


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_fit_are_read_alike_by_all_engines(
    engine: str, adjacency: str, tmp_path: Path
) -> None:
    """With any number of rows, none among them: same arrays, same types."""
    rng = random.Random(7)
    empty = {"height": "float64", "age": "float64", "smokes": "bool"}
    for turn in range(runs(150)):
        names = rng.sample(sorted(KINDS), rng.randint(1, 3))
        program = _program(names, adjacency)
        n = rng.choice((0, 1, 1, 2, 3)) if turn else 0
        rows = [{name: rng.choice(FITTING[name]) for name in names} for _ in range(n)]
        table = ENGINES[engine](rows, names, tmp_path)
        if n == 0 and adjacency == "replace-one":
            with pytest.raises(TableError, match="at least one row"):
                load(program, table, tmp_path)
            continue
        loaded = load(program, table, tmp_path)
        assert loaded.size == n
        wanted = load(program, rows).columns
        for name in names:
            assert loaded.columns[name].dtype == np.dtype(empty.get(name, "int64"))
            assert sorted(loaded.columns[name].tolist()) == sorted(wanted[name].tolist())


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("engine", ENGINES)
def test_strange_cells_change_nothing_but_the_one_refusal(
    engine: str, adjacency: str, tmp_path: Path
) -> None:
    rng = random.Random(8)
    make = ENGINES[engine]
    refused = _outcome(_program(["age"], adjacency), [{"age": None}], tmp_path)
    assert refused[0] == "TableMismatchError"
    met = 0
    for _ in range(runs(400)):
        names = rng.sample(sorted(KINDS), rng.randint(1, 2))
        program = _program(names, adjacency)
        rows = [{name: rng.choice(FITTING[name]) for name in names} for _ in range(3)]
        runs_ = _outcome(program, make(rows, names, tmp_path), tmp_path)
        assert runs_[0] == "runs"
        rows[rng.randrange(3)][rng.choice(names)] = rng.choice(STRANGE)
        table = _made(make, rows, names, tmp_path)
        if table is not None:
            actual = _outcome(program, table, tmp_path)
            assert actual in (runs_, refused), (rows, actual)
            met += actual == refused
    assert met


def test_a_record_that_lacks_a_field_is_refused_like_any_other() -> None:
    program = _program(["age", "sex"], "replace-one")
    good = {"age": 3, "sex": "f"}
    for row in ({"age": 3}, {}, (3, "f"), None, "f"):
        table = [good, row]
        with pytest.raises(TableMismatchError):
            load(program, table)
        assert [item.code for item in inspect_table(program, table)] == ["record"]
    with pytest.raises(TableMismatchError):
        load(program, {"age": [1, 2], "sex": ["f"]})


def test_one_missing_cell_is_told_before_the_type_that_it_gives_the_column() -> None:
    """In pandas a missing cell makes doubles of whole numbers."""
    for table in (pd.DataFrame({"wave": [1, None]}), [{"wave": 1}, {"wave": None}]):
        (finding,) = inspect_table(_program(["wave"], "replace-one"), table)
        assert finding.code == "missing"
    rows = load(_program(["visit"], "replace-one"), pd.DataFrame({"visit": [1, None, 2]}))
    assert rows.columns["visit"].tolist() == [0, 2, 1]
    for cells in ([1.5, 2.0], [math.inf, 1.0], [1e300, 1.0]):
        frame = pd.DataFrame({"visit": cells})
        with pytest.raises(TableMismatchError):
            load(_program(["visit"], "replace-one"), frame)


SCALAR = """
@program(adjacency="add-remove")
def f(db: Database[KIND]) -> Private[Real]:
    return laplace(VALUE, epsilon=1)
"""


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("Bool", "count(x for x in db if x)", True),
        ("Int[0, 9]", "sum(db)", 3),
        ("Real[0, 1]", "sum(db)", 0.5),
        ('Category["a", "b"]', 'count(x for x in db if x == "a")', "a"),
    ],
)
def test_no_row_and_one_row_run_alike(kind: str, value: str, cell: Any, tmp_path: Path) -> None:
    """Through the whole way: debited, run, stored; and the noise's scale is the same."""
    core, verdict = accepted(SCALAR.replace("KIND", kind).replace("VALUE", value))
    kept: dict[str, Any] = {"ledger": tmp_path / "l.db", "dataset": "d", "dp_epsilon": 1e6}
    for engine, make in ENGINES.items():
        laws = []
        for rows in ([], [{"db": cell}]):
            table = make(rows, ["db"], tmp_path)
            if engine == "records":
                table = [row["db"] for row in rows]
            run(core, verdict, table, **kept)
            loaded = load(core, table)
            ready(core, verdict, loaded)
            laws.append([(name, scale) for name, _, scale in seen(core, verdict, table)])
        assert laws[0] == laws[1]
    assert len(Ledger(str(tmp_path / "l.db"), level=level).refusals()) == 0
