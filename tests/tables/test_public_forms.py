"""Public files in the forms that people have them in, from the file to the integers of a release.

Small and made up here, but of the form of a published file. What is released is checked before
noise: `integers` has the sums and counts that the study's queries make of the file.
Others are in tests/release/test_files_as_they_are.py: a table of neighbours saved by a spreadsheet,
a network with rounded tables, ratings with an absorbing default, names with dots and spaces.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayesdp.release import Study
from bayesdp.tables.sums import Totals, run
from bayesdp.verification import verify

Integers = Callable[[Study], dict[str, Any]]


@pytest.fixture
def integers(monkeypatch: pytest.MonkeyPatch) -> Integers:
    """The integers of each query of a release before noise; the table is as declared."""
    seen: list[Totals] = []

    def watched(*given: Any) -> Totals:
        seen.append(run(*given))
        return seen[-1]

    monkeypatch.setattr("bayesdp.release.study.run", watched)

    def released(study: Study) -> dict[str, Any]:
        assert study.inspect() == []
        release = study.release()
        assert verify(release.certificate).verdict in ("VALID", "VALID ASSUMING")
        return {query.name: dict(seen[-1][query.name].values) for query in study.spec.queries}

    return released


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
