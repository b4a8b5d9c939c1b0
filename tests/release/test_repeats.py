"""A study is released a second time in one session on purpose only."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.cli import app
from tests.golden.cases import FILES, PEOPLE

TABLE = pd.DataFrame({"height": [150.0, 165, 182, 121, 168, 171]})
MEAN = {"name": "mean", "kind": "mean", "column": "height"}
SUM = {"name": "sum", "kind": "sum", "column": "height"}


def study(folder: Path, *queries: dict[str, Any], table: Any = TABLE, **changes: Any) -> Any:
    budget = {"epsilon": 4.0, "spend": 1.0, "ledger": str(folder / "ledger.db")}
    given = {
        "dataset": "people",
        "n": 6,
        "columns": {"height": {"bounds": [120, 220], "unit": "cm"}},
        "population": bdp.Independent(covers=["height"]),
    } | {key: changes.pop(key) for key in ("dataset", "columns", "population") if key in changes}
    return bdp.Study(table, **given, budget=budget | changes, queries=list(queries) or [MEAN])


def releases(made: Any) -> list[str]:
    return [item["id"] for kept in made.ledger().show() for item in kept["releases"]]


def test_running_a_cell_again_spends_nothing_and_says_what_was_released(tmp_path: Path) -> None:
    first = study(tmp_path, MEAN, SUM).release()
    again = study(tmp_path, MEAN, SUM)  # the same cell, so another object
    for _ in range(2):
        with pytest.raises(bdp.Refusal) as refused:
            again.release()
    words = str(refused.value)
    for word in ("'mean', 'sum'", "'people'", first.id, "DP cost 1,", "release(again=True)"):
        assert word in words
    assert "Nothing was released and nothing was spent." in words
    assert releases(again) == [first.id]
    assert again.ledger().refusals() == []  # a slip, and not an attempt on the budget
    kept = again.ledger().release(first.id)["result"]["results"]
    assert [item["value"] for item in kept] == [result.value for result in first]
    second = again.release(again=True)
    assert releases(again) == [first.id, second.id]
    with pytest.raises(bdp.Refusal, match=second.id):  # the last of them is told
        again.release()


@pytest.mark.parametrize(
    "same",
    [
        {"table": TABLE[::-1].reset_index(drop=True)},
        {"analyst": "Ada"},
    ],
    ids=["table", "analyst"],
)
def test_a_study_is_identical_whatever_table_and_analyst_it_has(
    same: dict[str, Any], tmp_path: Path
) -> None:
    study(tmp_path).release()
    with pytest.raises(bdp.Refusal, match="identical study was released before"):
        study(tmp_path, **same).release()


@pytest.mark.parametrize(
    "other",
    [
        {"dataset": "others"},
        {"spend": 0.5},
        {"columns": {"height": {"bounds": [110, 220], "unit": "cm"}}},
    ],
    ids=["data set", "budget", "columns"],
)
def test_another_study_is_not_a_repeat(other: dict[str, Any], tmp_path: Path) -> None:
    study(tmp_path).release()
    study(tmp_path, **other).release()
    study(tmp_path, SUM).release()
    study(tmp_path, MEAN, SUM).release()


def test_another_ledger_has_not_released_it(tmp_path: Path) -> None:
    study(tmp_path).release()
    (tmp_path / "other").mkdir()
    study(tmp_path / "other").release()
    with pytest.raises(bdp.Refusal, match="identical"):
        study(tmp_path).release()
    # A copy of a ledger has its releases; one that was deleted has none.
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy")
    with pytest.raises(bdp.Refusal, match="identical"):
        study(tmp_path / "copy").release()
    (tmp_path / "ledger.db").unlink()
    study(tmp_path).release()


def test_what_was_not_paid_for_may_be_tried_again(tmp_path: Path) -> None:
    with pytest.raises(bdp.TableMismatchError):
        study(tmp_path, table=TABLE[:5]).release()
    study(tmp_path).release()


def test_what_was_paid_for_and_failed_is_not_paid_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr("bayesdp.release.drawing.study_drawing.certify", fail)
        with pytest.raises(bdp.FailedError):
            study(tmp_path).release()
    with pytest.raises(bdp.Refusal, match="'mean' of the data set 'people'"):
        study(tmp_path).release()
    study(tmp_path).release(again=True)


def test_a_command_is_typed_on_purpose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(PEOPLE)
    Path("people.csv").write_text(str(FILES["people.csv"]))
    for _ in range(2):
        assert CliRunner().invoke(app, ["release", "people.toml"]).exit_code == 0
    loaded = bdp.Study.load("people.toml")
    with pytest.raises(bdp.Refusal, match="identical"):  # this process has released it
        loaded.release()


# -- what the ledger knows of other processes ------------------------------------------------------


def test_a_check_says_that_the_study_was_released_and_what_a_repeat_costs(tmp_path: Path) -> None:
    made = study(tmp_path, analyst="Ada")
    assert made.check().released == ()
    assert made.check().repeat == ""
    first = made.release()
    same = study(tmp_path, analyst="Bo", table=None)
    (known,) = same.check().released
    assert (known.id, known.analyst, known.certificate) == (first.id, "Ada", "")
    words = same.check().repeat
    assert words.startswith(f"This study was released at {known.time[:19]}+00:00 by Ada (")
    assert f"(certificate: in the ledger as release {first.id})" in words
    assert words.endswith("costs as much again: DP cost 1.")
    for shown in (str(same.check()), same.check()._repr_html_()):
        assert words in shown
    second = made.release(again=True)
    assert [release.id for release in same.check().released] == [first.id, second.id]
    assert f"released 2 times, the last one at {second.time[:10]}" in same.check().repeat
    explained = bdp.explain(same)
    assert explained.title.startswith("What another release from 'people' would promise")
    assert first.id not in explained.text(10**4)
    assert second.id in explained.section("status").paragraphs[0]
    assert explained.facts["repeats"] == same.check().repeat
    assert "nothing has been released yet" not in explained.text(10**4)
    study(tmp_path, SUM).release()  # two of a total of 4 are spent on the same, and one is left
    assert len(same.check().released) == 2
    made.release(again=True)
    refused = bdp.explain(same)
    assert refused.verdict == "REFUSED"
    assert "a second release would be refused" in refused.section("status").title


@pytest.mark.parametrize(
    "other",
    [
        {"spend": 0.5},
        {"population": bdp.Independent(covers=["height"], source="a census")},
        {"columns": {"height": {"bounds": [120, 220], "unit": "in"}}},
        {"where": "height > 150"},
        {"adversary": "uninformed"},
        {"delta": 1e-6},
        {"name": "average"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_study_was_not_released(other: dict[str, Any], tmp_path: Path) -> None:
    query = {"name": "mean", "kind": "count", "where": "height > 160"}
    study(tmp_path, query).release()
    changed = query | {key: other[key] for key in ("where", "name") if key in other}
    budget = {key: value for key, value in other.items() if key not in ("where", "name")}
    if {"adversary", "delta"} & other.keys():  # another reading of the same data set
        study(tmp_path, query, **other).register()
    assert study(tmp_path, changed, **budget).check().released == ()
    assert len(study(tmp_path, query).check().released) == 1


@pytest.mark.parametrize(
    "budget", [{"delta": 1e-6, "noise": "gaussian"}, {"notion": "dp"}], ids=["delta", "dp"]
)
def test_releases_of_every_kind_are_known_again(budget: dict[str, Any], tmp_path: Path) -> None:
    given = {"notion": budget["notion"], "population": None} if "notion" in budget else budget
    asked = study(tmp_path, MEAN, SUM, **given)
    done = asked.release()
    assert [release.id for release in asked.check().released] == [done.id]


def test_a_study_file_says_where_the_certificate_of_its_release_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)
    Path("people.toml").write_text(PEOPLE.replace("n = 6", 'n = "from data"'))
    runner = CliRunner()
    assert runner.invoke(app, ["release", "people.toml"]).exit_code == 0
    (certificate,) = Path().glob("people-*.certificate.json")
    shown = " ".join(runner.invoke(app, ["check", "people.toml"]).stdout.split())
    assert shown.startswith("This study was released at 20")
    assert f"(certificate: {certificate.name})." in shown
    listed = json.loads(runner.invoke(app, ["check", "people.toml", "--json"]).stdout)["released"]
    assert [release["certificate"] for release in listed] == [certificate.name]
    certificate.unlink()
    shown = " ".join(runner.invoke(app, ["check", "people.toml"]).stdout.split())
    assert "(certificate: in the ledger as release " in shown
