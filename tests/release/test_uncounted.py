"""A ledger that was cut, replaced by an older copy, deleted or written anew: certificates tell."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.accounting.stores import verified
from bayesdp.certificate import content_of, digest
from bayesdp.cli import app
from bayesdp.release import Study
from bayesdp.verification import verify
from tests.accounting.chains import chain_anew, change
from tests.golden.cases import PEOPLE, PEOPLE_CSV

WARNING = "doesn't have the release of study-"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    (tmp_path / "people.csv").write_text(PEOPLE_CSV)
    (tmp_path / "study.toml").write_text(PEOPLE)
    return tmp_path


def ask(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def release(*options: str) -> str:
    status, output = ask("release", "study.toml", *options)
    assert status == 0, output
    return output


def certificates() -> list[str]:
    return sorted(path.name for path in Path().glob("*.certificate.json"))


def against(*paths: str) -> tuple[int, str]:
    return ask("ledger", "verify", "--against", *paths)


def test_a_certificate_has_the_entry_of_its_debit(folder: Path) -> None:
    release()
    (name,) = certificates()
    document = json.loads(Path(name).read_text())
    (shown,) = Study.load("study.toml").ledger().show()
    (kept,) = shown["releases"]
    assert document["ledger"] == {"sequence": kept["sequence"], "head": kept["head"]}
    said = ask("verify", name)[1]
    assert f"its debit is entry {kept['sequence']} of its ledger, with the head" in said
    assert kept["head"] in said
    assert against(name) == against(".")
    status, words = against(".")
    assert status == 0
    assert "It has the debits of 1 certificate." in words
    assert WARNING not in ask("check", "study.toml")[1]


def test_one_from_before_is_valid_and_looked_for_by_its_name(folder: Path) -> None:
    release()
    (name,) = certificates()
    document = json.loads(Path(name).read_text())
    del document["ledger"]
    document["assumptions"] = [
        words for words in document["assumptions"] if not words.startswith("its debit is entry")
    ]
    document["digest"] = digest(content_of(document))
    Path(name).write_text(json.dumps(document))
    assert verify(name)
    status, words = against(name)
    assert (status, "keeps another certificate" in words) == (1, True)  # it was changed, after all
    assert WARNING not in ask("check", "study.toml")[1]
    Path("ledger.db").unlink()
    assert WARNING in ask("check", "study.toml")[1]


def cut_tail() -> None:
    """The last release is gone, with all that followed."""
    last = "(SELECT max(sequence) FROM entries WHERE kind = 'release')"
    change(
        Path("ledger.db"),
        f"DELETE FROM results WHERE entry >= {last}",
        f"DELETE FROM entries WHERE sequence >= {last}",
    )


def restore() -> None:
    shutil.copy("backup.db", "ledger.db")


def rewrite() -> None:
    """Another time of the first entry, in a chain without a fault."""
    change(
        Path("ledger.db"),
        "UPDATE entries SET time = '2020-01-01T00:00:00+00:00' WHERE sequence = 1",
    )
    chain_anew(Path("ledger.db"))


@pytest.mark.parametrize(
    ("forget", "expected"),
    [
        (cut_tail, "the last ones were cut off, or an older copy was put back"),
        (restore, "the last ones were cut off, or an older copy was put back"),
        (rewrite, "with another hash"),
    ],
)
def test_what_a_ledger_forgot_is_known_to_its_certificates(
    folder: Path, forget: Callable[[], None], expected: str
) -> None:
    release()
    shutil.copy("ledger.db", "backup.db")
    release()
    assert against(*certificates())[0] == 0
    forget()
    verified.forget()  # this process has seen more than another one would
    assert ask("ledger", "verify")[0] == 0  # alone it doesn't show
    status, words = against(*certificates())
    assert status == 1
    assert expected in words
    assert WARNING in ask("check", "study.toml")[1]
    assert WARNING in " ".join(Study.load("study.toml").release(again=True).remarks)


def test_a_deleted_ledger_and_another_one(folder: Path) -> None:
    release()
    Path("ledger.db").rename("old.db")
    assert WARNING in ask("check", "study.toml")[1]
    assert WARNING in release()
    status, words = ask("ledger", "verify", "--against", ".", "--ledger", "old.db")
    assert (status, "another ledger" in words) == (1, True)
    for path in Path().glob("*.certificate.json"):
        path.unlink()
    assert WARNING not in release()


def test_other_data_sets_and_broken_files_do_not_warn(folder: Path) -> None:
    release()
    Path("ledger.db").unlink()
    Path("half.certificate.json").write_text('{"format": ')
    Path("other.certificate.json").write_text("[]")
    text = PEOPLE.replace('dataset = "people"', 'dataset = "others"')
    assert text != PEOPLE
    Path("other.toml").write_text(text)
    assert WARNING not in ask("check", "other.toml")[1]
    assert WARNING in ask("check", "study.toml")[1]


def test_a_release_without_its_result_and_one_with_another(folder: Path) -> None:
    release()
    (name,) = certificates()
    shutil.copy("ledger.db", "backup.db")
    change(
        Path("ledger.db"),
        "DELETE FROM results",
        "DELETE FROM entries WHERE kind = 'result'",
    )
    assert "debit and no result" in against(name)[1]
    shutil.copy("backup.db", "ledger.db")
    document = json.loads(Path(name).read_text())
    document["results"][0]["value"] += document["results"][0]["noise"]["step"]
    document["digest"] = digest(content_of(document))
    Path("forged.certificate.json").write_text(json.dumps(document))
    assert "keeps another certificate" in against("forged.certificate.json")[1]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.json": "{}"}, "a bayesdp certificate"),
        ({}, "No such file"),
        ({"a.json/x.txt": ""}, "a folder with certificates"),
    ],
)
def test_what_is_no_certificate_is_refused(
    folder: Path, files: dict[str, str], expected: str
) -> None:
    release()
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    status, words = against("a.json")
    assert status == 2
    assert "--against" in words
    assert expected in words
    (name,) = certificates()
    document = json.loads(Path(name).read_text())
    Path("changed.json").write_text(json.dumps(document | {"n": 7}))
    assert against("changed.json")[0] == 2


def test_pipes_among_the_certificates_are_not_waited_for(folder: Path) -> None:
    release()
    os.mkfifo("pipe.certificate.json")
    assert WARNING not in release()  # whoever reads a pipe waits for ever
    status, output = against(".")
    assert status == 0
    assert "2 certificates" in output


@pytest.mark.parametrize("text", ["{}", "[]", '{"a": 1}'])
def test_a_file_that_is_no_certificate_is_named(folder: Path, text: str) -> None:
    release()
    Path("notes.certificate.json").write_text(text)
    status, output = against(".")
    assert status == 2
    assert "--against is 'notes.certificate.json'" in output
