"""Files of Stata, SPSS and SAS: value labels, missing values of all kinds, dates and durations."""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import TableError, TableMismatchError, UnsupportedError
from bayesdp.fitting import fit_finite
from bayesdp.programs.run.tables.loading import load
from bayesdp.programs.source import core_of, read_text
from bayesdp.tables.cells.joins import joined, parse_joins
from bayesdp.tables.cells.reading import read
from bayesdp.tables.cells.wide import melted, parse_wide
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.files import statistics_files
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table

pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'bayesdp[formats]'")

WRITERS = {".dta": "write_dta", ".sav": "write_sav", ".xpt": "write_xport"}


def write(path: Path, cells: dict[str, Any], **options: Any) -> str:
    getattr(pyreadstat, WRITERS[path.suffix])(pd.DataFrame(cells), path, **options)
    return path.name


def values(source: str, folder: Path, columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    declared, table = parse_columns(columns), open_table(source, folder)
    return table.rows(
        table.expression.select(**{name: read(table, declared, name).value for name in declared})
    )


def codes(source: str, folder: Path, columns: dict[str, Any]) -> list[str]:
    table = open_table(source, folder)
    return [finding.code for finding in inspect(table, parse_columns(columns), Structure())]


LABELS = {1: "yes ", 2: "no"}
TEXTS = {"q": {"states": ["yes", "no"]}}
NUMBERS = {"q": {"states": [1, 2]}}


@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_labels_where_texts_are_declared_and_codes_where_numbers_are(
    suffix: str, tmp_path: Path
) -> None:
    options = {"variable_value_labels": {"q": LABELS}}
    source = write(tmp_path / f"t{suffix}", {"q": [1, 2, 2], "x": [5.0, 6, 7]}, **options)
    assert values(source, tmp_path, TEXTS) == [("yes",), ("no",), ("no",)]
    assert values(source, tmp_path, NUMBERS) == [(1.0,), (2.0,), (2.0,)]
    assert codes(source, tmp_path, TEXTS) == codes(source, tmp_path, NUMBERS) == []
    assert codes(source, tmp_path, {"q": {"states": ["yes", "maybe"]}}) == ["undeclared"]
    with pytest.raises(TableError, match="a column of texts"):
        codes(source, tmp_path, {"x": {"states": ["yes", "no"]}})
    unlabelled = write(tmp_path / f"u{suffix}", {"q": [1, 2, 3]}, **options)
    assert codes(unlabelled, tmp_path, TEXTS) == ["unlabelled"]
    assert codes(unlabelled, tmp_path, {"q": {"states": [1, 2, 3]}}) == []
    imputed = {"q": {"states": ["yes", "no"], "missing": {"codes": ["3"], "impute": "no"}}}
    assert codes(unlabelled, tmp_path, imputed) == ["unlabelled"]


@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_two_codes_of_one_label_are_not_told_apart(suffix: str, tmp_path: Path) -> None:
    labels = {"variable_value_labels": {"q": {1: "yes", 2: "yes "}}}
    source = write(tmp_path / f"t{suffix}", {"q": [1, 2]}, **labels)
    with pytest.raises(TableError, match=r"tell the column's codes apart\. Declare the codes"):
        codes(source, tmp_path, TEXTS)
    assert codes(source, tmp_path, NUMBERS) == []


def test_labels_of_texts(tmp_path: Path) -> None:
    labels = {"variable_value_labels": {"s": {"m": "male", "f": "female"}}}
    source = write(tmp_path / "t.sav", {"s": ["m", "f", ""]}, **labels)
    sex = {"s": {"states": ["male", "female"], "missing": {"impute": "male"}}}
    assert values(source, tmp_path, sex) == [("male",), ("female",), ("male",)]


def test_missing_values_of_spss_are_those_that_the_file_declares(tmp_path: Path) -> None:
    cells = {"x": [1.0, 9, 98, np.nan, 5], "s": ["a", "zz", "b", "", "a"]}
    source = write(
        tmp_path / "t.sav", cells, missing_ranges={"x": [9, {"lo": 90, "hi": 99}], "s": ["zz"]}
    )
    declared = {
        "x": {"bounds": [0, 100], "missing": {"impute": 50}},
        "s": {"states": ["a", "b"], "missing": {"impute": "b"}},
    }
    assert values(source, tmp_path, declared) == [
        *((1.0, "a"), (50.0, "b"), (50.0, "b"), (50.0, "b"), (5.0, "a")),
    ]
    refused = {"x": {"bounds": [0, 100]}, "s": {"states": ["a", "b"]}}
    assert codes(source, tmp_path, refused) == ["missing", "missing"]


def test_missing_values_of_stata_are_all_of_them(tmp_path: Path) -> None:
    """The letters .a to .z, which have labels of their own, are missing and no codes."""
    cells = {"x": [1.0, "a", "z", np.nan]}
    source = write(
        tmp_path / "t.dta",
        cells,
        missing_user_values={"x": ["a", "z"]},
        variable_value_labels={"x": {1: "yes", "a": "refused"}},
    )
    assert values(source, tmp_path, {"x": {"bounds": [0, 9], "missing": {"impute": 5}}}) == [
        *((1.0,), (5.0,), (5.0,), (5.0,)),
    ]
    labelled = {"x": {"states": ["yes", "no"], "missing": {"impute": "no"}}}
    assert values(source, tmp_path, labelled) == [("yes",), ("no",), ("no",), ("no",)]


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".xpt"])
def test_dates_and_times_are_such(suffix: str, tmp_path: Path) -> None:
    cells = {
        "day": [date(2026, 2, 1), None, date(1899, 12, 31)],
        "at": [datetime(2026, 2, 1, 12), datetime(2026, 2, 2), None],
    }
    days = {"bounds": ["1900-01-01", "2026-12-31"], "missing": {"impute": "1970-01-01"}}
    source = write(tmp_path / f"t{suffix}", cells)
    assert values(source, tmp_path, {"day": days, "at": days}) == [
        *((20485.0, 20485.5), (0.0, 20486.0), (-25567.0, 0.0)),
    ]


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_clocks_are_durations_of_any_length(suffix: str, tmp_path: Path) -> None:
    """The library alone would make 6 hours of 30."""
    formats = {".sav": "TIME8", ".xpt": "TIME8", ".dta": "%tcHH:MM:SS"}
    unit = 1000 if suffix == ".dta" else 1
    seconds = [108_000.0 * unit, 90.0 * unit, np.nan]
    options = {"variable_format": {"h": formats[suffix]}}
    source = write(tmp_path / f"t{suffix}", {"h": seconds, "x": [1.0, 2, 3]}, **options)
    took = {"h": {"bounds": ["0 minutes", "2000 minutes"], "missing": {"impute": "7 minutes"}}}
    assert values(source, tmp_path, took) == [(1800.0,), (1.5,), (7.0,)]
    with pytest.raises(TableError, match="duration"):
        codes(source, tmp_path, {"h": {"bounds": [0, 9]}})


def test_codes_of_missing_values_in_stata_s_floats(tmp_path: Path) -> None:
    """98.6 as a float is not the double of this text, and still the code."""
    frame = pd.DataFrame({"x": np.array([98.6, 37.2], dtype="float32")})
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    assert str(open_table("t.dta", tmp_path).expression.x.type()) == "float32"
    column = {"x": {"bounds": [0, 200], "missing": {"codes": [98.6], "impute": 50}}}
    assert values("t.dta", tmp_path, column)[0] == (50.0,)


PROGRAM = """
from bayesdp.programs import Category, Database, Int, Private, count, laplace, program, record

@record
class Person:
    q: Category["no", "yes", "missing"]

@program
def yes(people: Database[Person]) -> Private[Int]:
    return laplace(count(p for p in people if p.q == "yes"), epsilon=1)
"""


def test_programs_and_fits_read_labels_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"variable_value_labels": {"q": LABELS}}
    cells = {"q": [1, 2, 2, 1, 2, None], "pair": [1, 1, 2, 2, 3, 3]}
    source = write(tmp_path / "t.dta", cells, **options)
    core = core_of(read_text(PROGRAM, "p.py"), "yes", {})
    rows = load(core, source, tmp_path)
    assert rows.columns["q"].tolist() == [1, 0, 0, 1, 0, 2]
    unlabelled = write(tmp_path / "u.dta", {"q": [1, 3]}, **options)
    with pytest.raises(TableMismatchError):
        load(core, unlabelled, tmp_path)
    fitted = fit_finite(source, "q", "pair", states=["no", "yes"], size=2, confidence=None)
    numbers = fit_finite(source, "q", "pair", states=[2, 1], size=2, confidence=None)
    assert fitted.population == numbers.population


@pytest.mark.parametrize("suffix", statistics_files.SUFFIXES)
def test_files_that_are_not_read(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"t{suffix}").write_text("secretly")
    with pytest.raises(TableError, match=f"a {suffix} file that can be read") as error:
        open_table(f"t{suffix}", tmp_path)
    assert "secretly" not in str(error.value)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'bayesdp\[formats\]'"):
        open_table(f"t{suffix}", tmp_path)


def test_large_and_damaged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "t.sav", {"x": [1.0, 2.0] * 500, "s": ["a", "bc"] * 500})
    content = (tmp_path / "t.sav").read_bytes()
    (tmp_path / "half.sav").write_bytes(content[: len(content) // 2])
    with pytest.raises(UnreadableCellsError) as damaged:
        open_table("half.sav", tmp_path)
    assert damaged.value.finding.code == "unreadable"
    monkeypatch.setattr(statistics_files, "MOST_CELLS", 1999)
    with pytest.raises(UnreadableCellsError) as large:
        open_table(source, tmp_path)
    assert large.value.finding.code == "too-large"


def test_a_column_without_a_name(tmp_path: Path) -> None:
    write(tmp_path / "t.xpt", {"height": [1.0, 2.0], "weight": [3.0, 4.0]})
    content = (tmp_path / "t.xpt").read_bytes()
    (tmp_path / "t.xpt").write_bytes(content.replace(b"weight", b"      "))
    with pytest.raises(TableError, match="with a column without a name"):
        open_table("t.xpt", tmp_path)


def test_labels_of_a_wide_file(tmp_path: Path) -> None:
    wide = {
        "records": {"q": ["q1", "q2"]},
        "position": {"name": "part", "values": ["a", "b"]},
    }
    cells = {"q1": [1, 2], "q2": [2, 2]}
    same = {"variable_value_labels": {"q1": LABELS, "q2": LABELS}}
    other = {"variable_value_labels": {"q1": LABELS, "q2": {1: "no", 2: "yes"}}}
    half = {"variable_value_labels": {"q1": LABELS}}

    def made_long(options: dict[str, Any]) -> Table:
        source = write(tmp_path / "t.dta", cells, **options)
        return melted(open_table(source, tmp_path), parse_wide(wide), parse_columns(TEXTS))

    table, declared = made_long(same), parse_columns(TEXTS)
    rows = table.rows(table.expression.select(q=read(table, declared, "q").value))
    assert [value for (value,) in rows] == ["yes", "no", "no", "no"]
    for options in (other, half):
        with pytest.raises(TableError, match="columns with the same value labels"):
            made_long(options)


def test_labels_of_a_public_table(tmp_path: Path) -> None:
    source = write(
        tmp_path / "p.dta", {"k": [1, 2], "q": [2, 1]}, variable_value_labels={"q": LABELS}
    )
    declared = parse_columns(
        {"k": {"public": True}, "q": {"public": True, "states": ["yes", "no"]}}
    )
    people = open_table(pd.DataFrame({"k": [1, 1, 2]}), tmp_path)
    table = joined(
        people, parse_joins({"table": source, "on": "k", "columns": ["q"]}), declared, tmp_path
    )
    rows = table.rows(table.expression.select(q=read(table, declared, "q").value))
    assert sorted(value for (value,) in rows) == ["no", "no", "yes"]
