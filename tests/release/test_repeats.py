"""A study is released a second time in one session on purpose only."""

from __future__ import annotations

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
        broken.setattr("bayesdp.release.drawing.certify", fail)
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
