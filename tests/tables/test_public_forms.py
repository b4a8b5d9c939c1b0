"""Public files in the forms that people have them in, from the file to the integers of a release.

Small and made up here, but of the form of a published file. What is released is checked before
noise: `integers` has the sums and counts that the study's queries make of the file.
Others are in tests/release/test_files_as_they_are.py: a table of neighbours saved by a spreadsheet,
a network with rounded tables, ratings with an absorbing default, names with dots and spaces.
"""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError, TableError
from bayesdp.release import Study
from bayesdp.tables.source import open_table
from tests.release.integers import Integers, integers_of


@pytest.fixture
def integers(monkeypatch: pytest.MonkeyPatch) -> Integers:
    return integers_of(monkeypatch)


def study_of(folder: Path, text: str) -> Study:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return Study.load(folder / "study.toml")


HOUSEHOLDS = """
[population]
model = "clusters"
size = 2
covers = [COVERS]

[budget]
epsilon = 4.0
"""

# A European CSV ------------------------------------------------------------------------------

INCOMES = (
    """
[data]
source = "einkommen.csv"
dataset = "incomes"
n = 4

[data.csv]
separator = ";"
decimal = ","
thousands = "."
encoding = "latin-1"

[data.columns]
Haushalt = { role = "cluster" }
"Einkommen (€)" = { bounds = [0, 4000], unit = "EUR" }
"Größe" = { from = "Größe in m", cuts = [1.65, 1.8] }
Kreis = { public = true, states = ["Köln", "Düren"] }
"""
    + HOUSEHOLDS.replace("COVERS", '"Einkommen (€)", "Größe"')
    + """
[[query]]
name = "sum"
kind = "sum"
column = "Einkommen (€)"

[[query]]
name = "above"
kind = "count"
where = "`Einkommen (€)` > 1234.5"
by = "Kreis"

[[query]]
name = "heights"
kind = "histogram"
column = "Größe"
"""
)
EINKOMMEN = (
    "Haushalt;Einkommen (€);Größe in m;Kreis\r\n"
    "1;1.234,50;1,65;Köln\r\n"
    '1;"2.000";1,8;"Köln"\r\n'
    "2;;1,649;Düren\r\n"
    "3;1234,51;1,7;Düren\r\n"
)


def test_a_european_csv(tmp_path: Path, integers: Integers) -> None:
    text = INCOMES.replace("latin-1", "windows-1252")  # Latin-1 has no euro sign
    (tmp_path / "einkommen.csv").write_bytes(EINKOMMEN.encode("windows-1252"))
    assert "missing" in study_of(tmp_path, text).inspect()[0].message
    text = text.replace('unit = "EUR"', 'unit = "EUR", missing = { impute = 1000 }')
    study = study_of(tmp_path, text)
    totals = integers(study)
    grid = study.check().plan.queries[0].grid
    assert grid is not None
    incomes = (1234.5, 2000.0, 1000.0, 1234.51)
    assert totals["sum"] == {None: (sum(map(grid.index, incomes)),)}
    assert totals["above"] == {"Köln": (1,), "Düren": (1,)}
    assert totals["heights"] == {None: (1, 2, 1)}
    plain = EINKOMMEN.replace(".", "").replace(",", ".")
    (tmp_path / "einkommen.csv").write_text(plain, encoding="utf-8", newline="")
    start, end = text.index("[data.csv]"), text.index("[data.columns]")
    usual = study_of(tmp_path, (text[:start] + text[end:]).replace("incomes", "plain"))
    assert integers(usual) == totals


# Codes of missing values ---------------------------------------------------------------------

SURVEY = (
    """
[data]
source = "survey.csv"
dataset = "survey"
n = 6

[data.columns]
hh = { role = "cluster" }
age = { bounds = [0, 110], missing = { codes = [-9, 98, 999], impute = 40 } }
smokes = { states = [1, 2], missing = { codes = [9], impute = 2 } }
"""
    + HOUSEHOLDS.replace("COVERS", '"age", "smokes"')
    + """
[[query]]
name = "old"
kind = "count"
where = "age >= 90"

[[query]]
name = "ages"
kind = "histogram"
column = "age"
bins = [0, 40, 41, 110]

[[query]]
name = "smokers"
kind = "histogram"
column = "smokes"
"""
)


def test_codes_minus_9_and_999(tmp_path: Path, integers: Integers) -> None:
    (tmp_path / "survey.csv").write_text(
        "hh,age,smokes\n1,-9,1\n1,999,9\n2,98,2\n2,99,9.0\n3,-9.0,1\n4,,2\n"
    )
    totals = integers(study_of(tmp_path, SURVEY))
    assert totals["old"] == {None: (1,)}
    assert totals["ages"] == {None: (0, 5, 1)}
    assert totals["smokers"] == {None: (2, 4)}


# A panel by quarter --------------------------------------------------------------------------

PANEL = """
[data]
source = "panel.csv"
dataset = "panel"
n = 6

[data.columns]
firm = { role = "series" }
period = { role = "order", step = "1 quarter", from = ["Jahr", "Quartal"], format = "%Y Q%q" }
late = { states = ["no", "yes"] }

[population]
model = "markov"
transition = [[0.9, 0.1], [0.4, 0.6]]
length = 4
covers = ["late"]

[budget]
epsilon = 4.0

[[query]]
name = "late"
kind = "count"
where = "late == 'yes' and period >= '2025-10-01'"

[[query]]
name = "both"
kind = "histogram"
column = "late"
"""
QUARTERS = """firm,Jahr,Quartal,late
1,2025,Q3,yes
1,2025,Q4,yes
1,2026,Q1,no
2,2025,Q4,no
2,2026,Q1,yes
2,2026,Q2,yes
"""


def test_a_panel_by_quarter(tmp_path: Path, integers: Integers) -> None:
    (tmp_path / "panel.csv").write_text(QUARTERS)
    totals = integers(study_of(tmp_path, PANEL))
    assert totals == {"late": {None: (3,)}, "both": {None: (2, 4)}}
    (tmp_path / "panel.csv").write_text(QUARTERS.replace("2,2026,Q2", "2,2027,Q1"))
    messages = [finding.message for finding in study_of(tmp_path, PANEL).inspect()]
    assert messages == ["A series spans 6 steps, and at most 4 are declared."]


# Hours across the end of summer time ---------------------------------------------------------

HOURS = """
[data]
source = "meter.csv"
dataset = "meter"
n = 4

[data.csv]
separator = ";"
decimal = ","

[data.columns]
Zeit = { role = "order", step = "1 hour" }
on = { from = "kWh", cuts = [0.5] }

[population]
model = "markov"
transition = [[0.9, 0.1], [0.4, 0.6]]
length = 4
covers = ["on"]

[budget]
epsilon = 4.0

[[query]]
name = "on"
kind = "count"
where = "on == 1 and Zeit >= '2025-10-26 01:00:00'"
"""
METER = """Zeit;kWh
2025-10-26T01:00:00+02:00;0,7
2025-10-26T02:00:00+02:00;0,5
2025-10-26T02:00:00+01:00;0,49
2025-10-26T03:00:00+01:00;1,25
"""


def test_hours_across_a_clock_change(tmp_path: Path, integers: Integers) -> None:
    """The hour from 2 to 3 comes twice; in UTC the hours are 23, 0, 1 and 2."""
    (tmp_path / "meter.csv").write_text(METER)
    assert integers(study_of(tmp_path, HOURS)) == {"on": {None: (1,)}}
    local = METER.replace("+02:00", "").replace("+01:00", "")
    (tmp_path / "meter.csv").write_text(local)
    codes = [finding.code for finding in study_of(tmp_path, HOURS).inspect()]
    assert "duplicate-order" in codes


# Files of statistics programs and spreadsheets ------------------------------------------------

LABELLED = (
    """
[data]
source = "survey.dta"
dataset = "labelled"
n = 5

[data.columns]
hh = { role = "cluster" }
smokes = { states = ["no", "yes"], missing = { codes = ["refused"], impute = "no" } }
birth = { bounds = ["1900-01-01", "2026-01-01"], missing = { impute = "1970-01-01" } }
weight = { bounds = [0, 200], missing = { codes = [98.6], impute = 70 } }
sex = { public = true, states = [1, 2] }
"""
    + HOUSEHOLDS.replace("COVERS", '"smokes", "birth", "weight"')
    + """
[[query]]
name = "smokers"
kind = "histogram"
column = "smokes"

[[query]]
name = "older"
kind = "count"
where = "birth < '1970-01-01'"
by = "sex"

[[query]]
name = "weights"
kind = "histogram"
column = "weight"
bins = [0, 70, 71, 200]
"""
)
SURVEYED: dict[str, list[Any]] = {
    "hh": [1, 1, 2, 2, 3],
    "smokes": [0, 1, 9, 1, None],
    "birth": [date(1969, 12, 31), date(1970, 1, 1), None, date(1890, 5, 1), date(1999, 1, 1)],
    "weight": [70.5, 98.6, None, 98.5, 69.9],
    "sex": [1, 2, 1, 2, 2],
}
LABELS = {"smokes": {0: "no", 1: "yes", 9: "refused"}, "sex": {1: "male", 2: "female"}}


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav"])
def test_value_labels_are_states(suffix: str, tmp_path: Path, integers: Integers) -> None:
    """Labels are read where states are texts, codes where they are numbers."""
    pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'bayesdp[formats]'")
    frame = pd.DataFrame(SURVEYED)
    if suffix == ".dta":
        pyreadstat.write_dta(frame, tmp_path / "survey.dta", variable_value_labels=LABELS)
    else:
        packed = {"compress": True} if suffix == ".zsav" else {}
        file = tmp_path / f"survey{suffix}"
        pyreadstat.write_sav(frame, file, variable_value_labels=LABELS, **packed)
    totals = integers(study_of(tmp_path, LABELLED.replace(".dta", suffix)))
    assert totals["smokers"] == {None: (3, 2)}
    assert totals["older"] == {1: (1,), 2: (1,)}
    assert totals["weights"] == {None: (1, 3, 1)}


def test_a_spreadsheet(tmp_path: Path, integers: Integers) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="pip install 'bayesdp[formats]'")
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    sheet = book.create_sheet("Survey 2026")
    rows = zip(*SURVEYED.values(), strict=True)
    sheet.append(list(SURVEYED))
    for hh, smokes, birth, weight, sex in rows:
        label = None if smokes is None else LABELS["smokes"][smokes]
        sheet.append([hh, label, birth and datetime.combine(birth, time()), weight, sex])
    sheet.append([])
    book.save(tmp_path / "survey.xlsx")
    text = LABELLED.replace("survey.dta", "survey.xlsx::Survey 2026")
    totals = integers(study_of(tmp_path, text))
    assert totals["smokers"] == {None: (3, 2)}
    assert totals["older"] == {1: (1,), 2: (1,)}
    assert totals["weights"] == {None: (1, 3, 1)}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("survey.xls", "Save it as .xlsx or CSV"),
        ("survey.ods", "Save it as .xlsx or CSV"),
        ("survey.jsonl", "Write it as Parquet"),
        ("survey.txt", "rename it to .csv"),
        ("survey.rds", "arrow::write_parquet"),
        ("survey.db", "file.duckdb::table"),
        ("survey.dta::x", "Write survey.dta alone"),
        ("survey.xlsx::", "Write survey.xlsx alone"),
        ("*.sav", "one file, not a pattern"),
    ],
)
def test_other_files_are_refused_with_what_to_do(source: str, words: str, tmp_path: Path) -> None:
    """By the check of the study file already, if the name says it."""
    if "*" not in source:
        with pytest.raises(InputError, match=words):
            study_of(tmp_path, LABELLED.replace("survey.dta", source))
    with pytest.raises(TableError, match=words):
        open_table(source, tmp_path)
