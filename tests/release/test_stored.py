"""A release that is asked for again with the same key is answered from the ledger, at no cost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bayesdp as bdp
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.log.schema import result_content
from bayesdp.accounting.transaction import Transaction
from bayesdp.cli import app
from bayesdp.release.drawing.stored import StoredRelease
from bayesdp.release.drawing.study_drawing import StudyDrawing
from bayesdp.release.spec.derived import DerivedSpec
from tests.accounting.chains import chain_anew, change
from tests.golden.cases import PEOPLE, PEOPLE_CSV
from tests.release.test_repeats import MEAN, SUM, TABLE, releases, study


def test_the_same_key_gives_the_same_numbers_and_pays_once(tmp_path: Path) -> None:
    first = study(tmp_path, MEAN, SUM).release_once("june")
    assert isinstance(first, bdp.Release)
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
        ('"premises"', '"other"'),
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
    assert study(tmp_path, SUM).check()
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


# -- two calls at the same time --------------------------------------------------------------------


def meanwhile(
    patch: pytest.MonkeyPatch, owner: type, step: str, other: Callable[[], object]
) -> None:
    """Let another call happen right before this one's `step`."""
    original, calls = getattr(owner, step), list[int]()

    def wrapped(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            other()
        return original(*arguments)

    patch.setattr(owner, step, wrapped)


@pytest.mark.parametrize("epsilon", [4.0, 1.0], ids=["room for both", "room for one"])
@pytest.mark.parametrize("step", [(bdp.Study, "_exact"), (Transaction, "debit")])
def test_who_comes_second_pays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[type, str], epsilon: float
) -> None:
    """Another call was debited and stored while this one read the table."""
    first: list[Any] = []
    made = study(tmp_path, epsilon=epsilon)
    meanwhile(
        monkeypatch,
        *step,
        lambda: first.append(study(tmp_path, epsilon=epsilon).release_once("june")),
    )
    answer = made.release_once("june")
    assert isinstance(answer, StoredRelease)
    assert answer.to_dict() == first[0].to_dict()
    assert not answer.paid
    assert "Nothing was spent now." in str(answer)
    assert releases(made) == [first[0].id]


def test_where_both_have_paid_both_have_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other call debits later and stores earlier: it was seen first."""
    first: list[Any] = []
    made = study(tmp_path)
    meanwhile(
        monkeypatch,
        StudyDrawing,
        "draw",
        lambda: first.append(study(tmp_path).release_once("june")),
    )
    answer = made.release_once("june")
    assert isinstance(answer, StoredRelease)
    assert answer.to_dict() == first[0].to_dict()
    assert "both have paid" in str(answer)
    debits = releases(made)
    assert len(debits) == 2
    assert debits[1] == first[0].id
    for _ in range(2):
        again = study(tmp_path).release_once("june")
        assert again.to_dict() == first[0].to_dict()
        assert "Nothing was spent now." in str(again)
    assert releases(made) == debits


def test_a_key_that_another_study_takes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study(tmp_path, SUM)
    meanwhile(monkeypatch, Transaction, "debit", lambda: study(tmp_path, MEAN).release_once("june"))
    with pytest.raises(bdp.InputError, match="declares something else"):
        made.release_once("june")
    assert len(releases(made)) == 1


def test_a_failed_debit_of_the_same_key_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(StudyDrawing, "draw", lambda *_: 1 / 0)
        with pytest.raises(bdp.errors.FailedError):
            study(tmp_path).release_once("june")
    paid = study(tmp_path).release_once("june")
    assert not isinstance(paid, StoredRelease)
    assert len(releases(study(tmp_path))) == 2


# -- another study, another source -----------------------------------------------------------------


def test_a_key_belongs_to_one_source(tmp_path: Path) -> None:
    for month in ("june", "july"):
        (tmp_path / f"{month}.csv").write_text(PEOPLE_CSV)
        text = PEOPLE.replace("people.csv", f"{month}.csv")
        assert text != PEOPLE
        (tmp_path / f"{month}.toml").write_text(text)
    june, july = (bdp.Study.load(tmp_path / f"{month}.toml") for month in ("june", "july"))
    first = june.release_once("report")
    with pytest.raises(bdp.InputError, match=r"with another data\.source"):
        july.release_once("report")
    assert june.release_once("report").to_dict() == first.to_dict()
    request = june.ledger().release(first.id)["request"]
    assert "june.csv" not in json.dumps(request)


def test_a_key_belongs_to_what_is_derived(tmp_path: Path) -> None:
    ratio = {"name": "r", "kind": "ratio", "numerator": "mean", "denominator": "sum"}
    made = derived_study(tmp_path, ratio)
    first = made.release_once("june")
    with pytest.raises(bdp.InputError, match="declares something else"):
        study(tmp_path, MEAN, SUM).release_once("june")
    with pytest.raises(bdp.InputError, match="declares something else"):
        derived_study(tmp_path, ratio | {"name": "other"}).release_once("june")
    assert derived_study(tmp_path, ratio).release_once("june").to_dict() == first.to_dict()


def derived_study(folder: Path, derived: dict[str, Any]) -> bdp.Study:
    made = study(folder, MEAN, SUM)
    made.spec = made.spec.model_copy(update={"derived": (DerivedSpec(**derived),)})
    return made


@pytest.mark.parametrize("key", ["a\x1b[31m", "a\u202e", "a\nb", "a\0"])
def test_a_key_is_one_visible_line(tmp_path: Path, key: str) -> None:
    with pytest.raises(bdp.InputError, match=r"^key is"):
        study(tmp_path).release_once(key)
    assert not (tmp_path / "ledger.db").exists()


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
