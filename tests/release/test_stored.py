"""A release that is asked for again with the same key is answered from the ledger, at no cost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.schema import result_content
from bayesdp.cli import app
from bayesdp.release.stored import StoredRelease
from tests.accounting.chains import chain_anew, change
from tests.golden.cases import PEOPLE, PEOPLE_CSV
from tests.release.test_repeats import MEAN, SUM, TABLE, releases, study


def test_the_same_key_gives_the_same_numbers_and_pays_once(tmp_path: Path) -> None:
    first = study(tmp_path, MEAN, SUM).release_once("june")
    assert isinstance(first, bdp.release.released.Release)
    other_table = study(tmp_path, MEAN, SUM, table=TABLE[:3])  # nobody looks at it
    stored = other_table.release_once("june")
    assert isinstance(stored, StoredRelease)
    assert stored.to_dict() == first.to_dict() == json.loads(json.dumps(first.to_dict()))
    assert (stored.id, stored.level) == (first.id, first.level)
    assert bdp.verify(stored.certificate)
    assert stored["mean"][0]["value"] == first["mean"].value
    with pytest.raises(KeyError, match="mean, sum"):
        stored["other"]
    assert repr(stored) == f"StoredRelease({first.id[:8]}: 2 results)"
    said = str(stored)
    assert f"mean: {first['mean'].value!r} +- " in said
    assert "under the key 'june'" in said
    assert "Nothing was spent now." in said
    assert releases(other_table) == [first.id]


def test_another_key_and_none_are_other_releases(tmp_path: Path) -> None:
    ids = [study(tmp_path, SUM).release_once(key).id for key in ("june", "july", "june")]
    assert ids[0] == ids[2] != ids[1]
    study(tmp_path, SUM).release(again=True)
    assert len(releases(study(tmp_path))) == 3


def test_a_key_belongs_to_one_study_of_its_data_set(tmp_path: Path) -> None:
    study(tmp_path, SUM).release_once("june")
    other = study(tmp_path, MEAN)
    with pytest.raises(bdp.InputError, match="as it was then, which declares"):
        other.release_once("june")
    assert len(releases(other)) == 1
    study(tmp_path, MEAN, dataset="others").release_once("june")  # another budget


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ('"results"', '"other"'),
        ('"query"', '"other"'),
        ('"notion"', '"other"'),
        ('"level"', '"other"'),
    ],
)
def test_a_stored_release_that_no_release_has_stored(tmp_path: Path, part: str, other: str) -> None:
    """Its hashes fit. It was a traceback; the study is still released, and still paid for."""
    study(tmp_path, SUM).release_once("june")
    path = study(tmp_path).ledger().path
    change(path, f"UPDATE results SET result = replace(result, '{part}', '{other}')")
    rehash(path)
    with pytest.raises(bdp.BayesdpError):
        study(tmp_path, SUM).release_once("june")
    study(tmp_path, SUM).release(again=True)
    assert len(releases(study(tmp_path))) == 2


def rehash(path: Path) -> None:
    """Give the entries of results the hashes of the texts that are there, and chain them anew."""
    with sqlite3.connect(path) as connection:
        for entry, text in connection.execute("SELECT entry, result FROM results").fetchall():
            content = result_content(text)
            connection.execute(
                "UPDATE entries SET content = ? WHERE sequence = ?", (content, entry)
            )
    connection.close()
    chain_anew(path)


@pytest.mark.parametrize("key", ["", "  ", "x" * 201, 7, None])
def test_a_key_is_a_text(tmp_path: Path, key: Any) -> None:
    with pytest.raises(bdp.InputError, match=r"^key is"):
        study(tmp_path).release_once(key)
    assert not (tmp_path / "ledger.db").exists()


def test_what_was_debited_without_a_result_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise bdp.errors.LedgerError("ledger", "l", expected="a disk that takes what is written")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "store_text", full)
        with pytest.raises(bdp.errors.FailedError, match="is lost"):
            study(tmp_path).release_once("june")
    assert len(releases(study(tmp_path))) == 1
    paid = study(tmp_path).release_once("june")
    assert releases(study(tmp_path))[1:] == [paid.id]
    assert study(tmp_path).release_once("june").id == paid.id
    assert study(tmp_path).ledger().show()[0]["spent"] >= 1.99


def test_an_edited_result_is_not_handed_out(tmp_path: Path) -> None:
    study(tmp_path).release_once("june")
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("UPDATE results SET result = replace(result, '1', '2')")
    connection.close()
    with pytest.raises(bdp.errors.LedgerError, match="the text of its result is another"):
        study(tmp_path).release_once("june")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    Path("people.csv").write_text(PEOPLE_CSV)
    Path("study.toml").write_text(PEOPLE)

    def ask(*options: str) -> Any:
        result = CliRunner().invoke(app, ["release", "study.toml", "--key", "june", *options])
        assert result.exit_code == 0, result.output
        return result

    first = ask("--json")
    (certificate,) = Path().glob("*.certificate.json")
    text = certificate.read_text()
    certificate.unlink()  # as if the first call had died before
    assert json.loads(ask("--json").stdout) == json.loads(first.stdout)
    assert certificate.read_text() == text
    again = ask("--report", "r.html")
    assert "Nothing was spent now." in again.stdout
    assert "No report was written" in again.stderr
    assert not Path("r.html").exists()
    assert len(releases(bdp.Study.load("study.toml"))) == 1
