"""Tables as programs declare them: what is clamped, what is refused, and who is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesdp.errors import InputError, TableError, TableMismatchError, UnsupportedError
from bayesdp.programs.run import inspect_table, load, prepared
from tests.programs.run.helpers import Noted, accepted, done, run_on

PERSON = """
@record
class Person:
    height: Real[50, 250]
    age: Int[0, 110]
    smoker: Bool
    sex: Category["f", "m", "missing"]
    region: Public[Category["north", "south"]]
@program
def f(db: Database[Person]) -> Private[Int]:
    return laplace(count(r for r in db if r.smoker), epsilon=1)
"""
GOOD = {
    "height": [170.5, 20.0, 300.0],
    "age": [30, -4, 200],
    "smoker": [True, False, True],
    "sex": ["f", None, "m"],
    "region": ["north", "south", "south"],
}


def _check(rows: object) -> None:
    columns = rows.columns  # type: ignore[attr-defined]
    assert columns["height"].tolist() == [170.5, 50.0, 250.0]
    assert columns["age"].tolist() == [30.0, 0.0, 110.0]
    assert columns["smoker"].tolist() == [True, False, True]
    assert columns["sex"].tolist() == [0, 2, 1]
    assert columns["region"].tolist() == [0, 1, 1]


def test_every_kind_of_table_gives_the_same_rows(tmp_path: Path) -> None:
    core, _ = accepted(PERSON)
    frame = pd.DataFrame(GOOD)
    records = [dict(zip(GOOD, row, strict=True)) for row in zip(*GOOD.values(), strict=True)]
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    import ibis

    categorical = frame.astype({"region": "category"})
    for source in (
        GOOD, frame, categorical, records, pl.DataFrame(GOOD), pa.table(GOOD), path,
        str(tmp_path / "people.parquet"), ibis.memtable(pl.DataFrame(GOOD)),
    ):  # fmt: skip
        _check(load(core, source))


@pytest.mark.parametrize(
    ("column", "cells", "code"),
    [
        ("height", [1.0, float("nan"), 2.0], "number"),
        ("height", [1.0, float("inf"), 2.0], "number"),
        ("height", [1.0, None, 2.0], "missing"),
        ("age", [1.0, 2.5, 3.0], "whole"),
        ("age", ["1", "x", "3"], "type"),
        ("smoker", [0, 1, 2], "bool"),
        ("smoker", [True, None, True], "missing"),
        ("sex", ["f", "m", "x"], "label"),
        ("region", ["north", None, "south"], "missing"),
        ("height", [1.0, "two", 3.0], "mixed-cells"),
    ],
)
def test_cells_that_don_t_fit_are_refused_in_one_voice(
    column: str, cells: list[object], code: str
) -> None:
    core, verdict = accepted(PERSON)
    table = {**GOOD, column: cells}
    with pytest.raises(TableMismatchError) as caught:
        load(core, table)
    with pytest.raises(TableMismatchError) as other:
        load(core, {**GOOD, "sex": ["?", "?", "?"]})
    assert str(caught.value) == str(other.value)
    assert caught.value.__context__ is None or "table" not in str(caught.value.__context__)
    (finding,) = inspect_table(core, table)
    assert finding.code == code
    del verdict


def test_what_names_show_is_told_to_everybody() -> None:
    core, _ = accepted(PERSON)
    table = pa.table(GOOD)
    with pytest.raises(TableError, match="sex"):
        load(core, table.drop_columns(["sex"]))
    with pytest.raises(TableError, match="at least one row"):
        load(core, table.slice(0, 0))


def test_types_are_told_to_the_curator_only_for_cells_may_have_given_them() -> None:
    core, _ = accepted(PERSON)
    table = pa.table(GOOD).set_column(0, "height", pa.array([date(2020, 1, 1)] * 3))
    complexes = pd.DataFrame({**GOOD, "height": np.asarray([1.0, 2.0, 3j])})
    for source in (table, complexes):
        with pytest.raises(TableMismatchError):
            load(core, source)
        assert [item.code for item in inspect_table(core, source)] == ["type"]


def test_scalar_records() -> None:
    core, verdict = accepted("""
@program
def f(obs: Database[Bool]) -> Private[Int]:
    return laplace(count(obs), epsilon=1)
""")
    for source in (
        [True, False, True], [1, 0, 1], np.asarray([True, False, True]), pd.Series([1, 0, 1]),
        {"x": [True, False, True]}, pl.DataFrame({"obs": [1, 0, 1], "other": [1, 2, 3]}),
    ):  # fmt: skip
        assert done(core, verdict, source).value == 2
    with pytest.raises(TableError, match="one column"):
        load(core, {"a": [1], "b": [0]})


def test_bounds_hold_exactly_after_clamping() -> None:
    """0.1 is not a double, and the nearest one lies outside: the clamp is to the next inside."""
    core, _ = accepted("""
@program
def f(db: Database[Real[-0.1, 0.1]]) -> Private[Real]:
    return laplace(sum(db), epsilon=1)
""")
    rows = load(core, [-5.0, 5.0])
    from fractions import Fraction

    low, high = (Fraction(item) for item in rows.columns[""].tolist())
    assert -Fraction(1, 10) <= low < high <= Fraction(1, 10)
    assert float(high) == pytest.approx(0.1)


def test_preconditions_hold_before_anything_is_released() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Real]:
    require(db.size >= 3)
    return laplace(count(db) / db.size, epsilon=1)
""")
    noted = Noted()
    with pytest.raises(InputError, match="preconditions"):
        run_on(core, verdict, load(core, [True, False]), samplers=noted)
    assert noted.seen == []
    assert done(core, verdict, [True, False, True, True]).value == 0.75
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Int]:
    return laplace(count(db), epsilon=1)
""", n=3)  # fmt: skip
    with pytest.raises(InputError, match="3 rows"):
        done(core, verdict, [True])


def test_numbers_that_doubles_can_t_hold_are_refused_at_once() -> None:
    core, _ = accepted("""
@program
def f(db: Database[Int[0, 100000000000000000000]]) -> Private[Int]:
    return laplace(sum(clip(x, 0, 9) for x in db), epsilon=1)
""")
    with pytest.raises(UnsupportedError, match="2\\^53"):
        prepared(core)


def test_nothing_private_shows() -> None:
    core, verdict = accepted(PERSON)
    rows = load(core, GOOD)
    from bayesdp.programs.run import Machine, OpenDP

    machine = Machine(core, verdict, rows, OpenDP())
    for item in (rows, machine, machine.values, machine.private, machine.values.row_values):
        assert "170" not in repr(item)
        assert "Rows(" not in repr(item)
