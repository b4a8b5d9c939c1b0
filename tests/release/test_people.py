"""Studies whose data sets share people: one budget, one certificate of everything, and warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesdp import Study, verify
from bayesdp.certificate import Certificate
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, InputError, UnsupportedError
from bayesdp.report.explain import explain
from bayesdp.report.promise import PromiseStatus, of_document

TABLE = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "pair": [1, 1, 2, 2], "y": [4.0, 3.0, 2.0, 1.0]})
PAIR = {"pair": {"role": "cluster"}}


def study(ledger: Path, dataset: str, column: str = "x", **other: Any) -> Study:
    made: dict[str, Any] = {
        "dataset": dataset,
        "n": 4,
        "columns": PAIR | {column: {"bounds": [0, 5]}},
        "population": {"model": "clusters", "size": 2, "covers": [column]},
        "budget": {"epsilon": 3.0, "spend": 1.0},
        "queries": [{"name": "sum", "kind": "sum", "column": column}],
        "people": "cohort",
        "ledger": str(ledger),
    }
    return Study(TABLE, **(made | other))


def test_two_tables_of_the_same_people_have_one_budget(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    study(ledger, "jan").release()
    later = study(ledger, "feb", "y")
    assert later.spends()[0].dataset == "jan"
    release = later.release()
    state = release.certificate.body["data_set"]
    assert (state["level"], state["total"]) == (pytest.approx(2.0), 3.0)
    assert release.level == pytest.approx(1.0)
    answer = verify(release.certificate)
    assert answer
    assert "all releases of all data sets of the people 'cohort' so far have" in str(answer)
    too_much = study(ledger, "mar", budget={"epsilon": 3.0, "spend": 1.5})
    assert "people 'cohort'" in str(too_much.check().preview.refusal)
    with pytest.raises(BudgetExceededError, match="1 of 3 is left"):
        too_much.release()
    fits = study(ledger, "mar").release()
    assert fits.certificate.body["data_set"]["level"] == pytest.approx(3.0)
    assert study(ledger, "jan").ledger().faults({"mar": fits.certificate.to_dict()}) == []


def test_a_persons_rows_and_a_row_a_person_add_up(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    dp = {"population": None, "budget": {"notion": "dp", "epsilon": 3.0, "spend": 1.0}}
    study(ledger, "jan", **dp).release()
    visits = study(
        ledger, "visits", "y", **dp, unit="pair", rows_per_unit=2, n=2,
        columns={"pair": {"public": True}, "y": {"bounds": [0, 5]}},
    )  # fmt: skip
    certificate = visits.release().certificate
    assert verify(certificate)
    assert certificate.body["data_set"]["level"] == pytest.approx(2.0)
    said = certificate.body["assumptions"]
    assert "a record is all rows with the same pair, at most 2" in said


def test_explanations_speak_of_the_people(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    study(ledger, "jan").release()
    planned = str(explain(study(ledger, "feb", "y")))
    assert "shares the people 'cohort' with others" in planned
    assert "1 earlier query of data sets of the same people" in planned
    document = study(ledger, "feb", "y").release().certificate.to_dict()
    promise = of_document(document, PromiseStatus("VALID ASSUMING"))
    assert (promise.people, promise.earlier) == ("cohort", 1)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"columns": {"x": {"bounds": [0, 5]}, "pair": {"role": "series"}}}, "data.unit"),
        ({"columns": {"x": {"bounds": [0, 5]}, "y": {"role": "order", "step": 1}}}, "data.unit"),
        ({"people": " cohort"}, "data.people"),
        ({"people": ""}, "data.people"),
        ({"people": "a\u202eb"}, "data.people"),
        ({"people": 7}, "data.people"),
    ],
)
def test_what_does_not_go_with_people(changes: dict[str, Any], key: str, tmp_path: Path) -> None:
    dp = {"population": None, "budget": {"notion": "dp", "epsilon": 3.0}}
    with pytest.raises(InputError) as caught:
        study(tmp_path / "l.db", "jan", **(dp | changes))
    assert caught.value.key == key


def test_parts_of_rows_are_several_records_of_a_person(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a person has several records"):
        study(
            tmp_path / "l.db", "jan", n=8,
            wide={"records": {"x": ["x", "y"]}, "position": {"name": "at", "values": ["a", "b"]}},
        )  # fmt: skip


def test_a_law_of_one_table_is_refused_with_what_to_do(tmp_path: Path) -> None:
    gaussian = {"model": "gaussian", "size": 2, "max_correlation": 0.2, "covers": ["x"]}
    with pytest.raises(UnsupportedError, match='Write model = "clusters"') as caught:
        study(tmp_path / "l.db", "jan", population=gaussian)
    assert caught.value.key == "population.model"
    dp = {"notion": "dp", "epsilon": 3.0}
    study(tmp_path / "l.db", "jan", population=gaussian, budget=dp)  # it says nothing there


def test_a_stored_key_is_that_of_the_study_before_it_had_people(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first = study(ledger, "jan", people=None).release_once("june")
    study(ledger, "jan", people=None).ledger().share_people("cohort", ["jan"])
    again = study(ledger, "jan").release_once("june")
    assert again.id == first.id
    assert len(study(ledger, "jan").spends()) == 1


# -- look-alike extracts ---------------------------------------------------------------------------


def test_extracts_that_name_no_people_are_noticed(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    lone = {"people": None}
    assert study(ledger, "wages-2026-01", **lone).extract == ""  # no ledger yet
    study(ledger, "wages-2026-01", **lone).release()
    heard: list[str] = []
    study(ledger, "wages-2026-02", **lone, n=4).release(warn=heard.append)
    (words,) = [text for text in heard if "the same people" in text]
    assert "the same columns as 'wages-2026-01'" in words
    assert 'people = "..."' in words
    assert "'wages-2026-01'" in study(ledger, "other", **lone).extract  # as many records
    assert study(ledger, "other", **lone, n="from data").extract == ""
    assert study(ledger, "wages-2026-03", "y", **lone).extract == ""  # other columns
    study(ledger, "wages-2026-01", **lone).ledger().share_people("cohort", ["wages-2026-01"])
    assert 'people = "cohort"' in study(ledger, "wages-2026-04", **lone).extract
    assert "wages-2026-02" in study(ledger, "wages-2026-04").extract
    assert study(ledger, "wages-2026-02", **lone).extract != ""
    study(ledger, "wages-2026-01").ledger().share_people("cohort", ["wages-2026-02"])
    assert study(ledger, "wages-2026-04").extract == ""
    assert study(ledger, "wages-2026-04", people="others").extract == ""  # on purpose


def test_people_that_are_named_after_an_extract_are_noticed(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    study(ledger, "wages-2026-01", people="staff 2026-01").release()
    words = study(ledger, "wages-2026-02", people="staff 2026-02").extract
    assert "let both name the same people" in words
    assert 'people = "staff 2026-01"' in words
    assert study(ledger, "wages-2026-02", people="staff 2026-01").extract == ""
    assert study(ledger, "wages-2026-02", people="others 2026-02").extract == ""


# -- commands --------------------------------------------------------------------------------------

FILE = """[data]
source = "table.csv"
dataset = "NAME"
n = 4
people = "cohort"
[data.columns]
x = { bounds = [0, 5] }
pair = { role = "cluster" }
[population]
model = "clusters"
size = 2
covers = ["x"]
[budget]
epsilon = 3.0
spend = 1.0
[[query]]
name = "sum"
kind = "sum"
column = "x"
"""


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == status, result.output
    return " ".join((result.stdout + result.stderr).split())


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    for name in ("jan", "feb"):
        Path(f"{name}.toml").write_text(FILE.replace("NAME", name))
    lone = FILE.replace("NAME", "bonus").replace('people = "cohort"\n', "")
    Path("bonus.toml").write_text(lone)
    run("release", "jan.toml")
    run("ledger", "register", "feb.toml")
    assert "Budget of the people 'cohort' (1 release since" in run("check", "feb.toml")
    run("release", "feb.toml")
    assert "the same columns as" not in run("check", "feb.toml")
    assert "has the same columns as 'jan'" in run("release", "bonus.toml")
    said = run("ledger", "people", "cohort", "bonus")
    assert "The people 'cohort' have one budget for 'bonus', 'jan', 'feb': 3 releases" in said
    assert "data.people" in run("check", "bonus.toml", status=2)
    Path("bonus.toml").write_text(FILE.replace("NAME", "bonus"))
    assert "Nothing fits" in run("check", "bonus.toml", status=1)
    document = json.loads(run("ledger", "people", "cohort", "jan", "--json"))
    assert document["datasets"] == ["jan", "feb", "bonus"]
    shown = run("ledger", "show")
    assert "jan (one record: row, with all data sets of the people 'cohort'): 3 releases" in shown
    assert "people shared bonus" in run("ledger", "trail")
    assert "The ledger is as it was written" in run("ledger", "verify", "--against", ".")
    (path,) = Path().glob("feb-*.certificate.json")
    certificate, intact = Certificate.load(path)
    assert intact
    assert certificate.body["people"] == "cohort"
    assert "all data sets of the people 'cohort'" in run("verify", str(path))


def test_a_ledger_that_was_deleted_is_noticed_by_certificates_of_the_same_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    for name in ("jan", "feb"):
        Path(f"{name}.toml").write_text(FILE.replace("NAME", name))
    run("release", "jan.toml")
    Path("ledger.db").unlink()
    words = run("check", "feb.toml")
    assert "another data set of the people 'cohort'" in words
    assert "is not counted here" in words
    alone = FILE.replace("NAME", "feb").replace('"cohort"', '"others"')
    Path("feb.toml").write_text(alone)
    assert "is not counted here" not in run("check", "feb.toml")
