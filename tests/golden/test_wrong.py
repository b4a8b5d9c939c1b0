"""Wrong inputs end with status 1 or 2, one clear message, and nothing released or spent.

The messages are golden texts (see `packed`).
"""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.populations import MODELS
from tests.golden.cases import CASES, DAYS, FILES, PEOPLE, Case
from tests.golden.packed import Packed

MESSAGES = Packed("wrong")


def named(case: Case) -> str:
    """The name of a case's message. What only the curator may know has the same for all."""
    return "data" if case.curator and not case.for_all else case.name


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def write(folder: Path, name: str, content: str | bytes) -> None:
    plain = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(plain)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, content in FILES.items():
        write(tmp_path, name, content)
    return tmp_path


def prepare(folder: Path, case: Case) -> None:
    ledger = folder / "ledger.db"
    for what in case.prepare:
        if what in ("spent", "used up"):
            write(folder, "good.toml", case.base)
            statuses = [
                run("release", "good.toml").exit_code for _ in range(4 if "up" in what else 1)
            ]
            assert statuses == ([0, 0, 0, 1] if "up" in what else [0])
        elif what == "read-only":
            ledger.chmod(0o444)
        elif what == "newer":
            with sqlite3.connect(ledger) as connection:
                connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'version'")
            connection.close()
        else:
            write(folder, "ledger.db", "" if what == "empty" else "my diary")
    for name, content in case.files.items():
        write(folder, name, content)
    study = case.base
    for old, new in case.changes:
        assert old in study
        study = study.replace(old, new, 1)
    write(folder, "study.toml", case.raw if case.raw is not None else study)


def state(folder: Path, *, attempts: bool = False) -> dict[str, object]:
    """Every file. With `attempts` the ledger counts without its list of refused attempts."""
    files: dict[str, object] = {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }
    if attempts:
        shown = json.loads(run("ledger", "show", "--json").stdout)["datasets"]
        files["ledger.db"] = [
            {**dataset, "refusals": None, "analysts": [_spent(who) for who in dataset["analysts"]]}
            for dataset in shown
        ]
    return files


def _spent(analyst: dict[str, object]) -> dict[str, object]:
    """What an analyst spent, without what refused attempts asked for."""
    return {key: value for key, value in analyst.items() if not key.startswith("refused")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_input(case: Case, folder: Path) -> None:
    prepare(folder, case)
    used_up = "used up" in case.prepare  # the ledger then writes down whose attempt it was
    before = state(folder, attempts=used_up)
    result = run(*case.command)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == case.status
    assert result.stdout == ""
    message = result.stderr.replace(str(folder), "FOLDER").replace(", ".join(MODELS), "MODELS")
    message = re.sub(r"since \d{4}-\d\d-\d\dT[\d:]{8}\+00:00", "since TIME", message)
    assert "Traceback" not in message
    MESSAGES.compare(named(case), message)
    assert message.startswith(("Error: ", "Refused: ")[case.status == 1])
    assert message.count("\n") == 1
    assert len(message) < 1500
    # The same for a program: one JSON document, and the message beside it.
    plain = run(*case.command, "--json")
    assert plain.exit_code == case.status
    assert plain.stderr == result.stderr
    document = json.loads(plain.stdout)
    assert document["status"] == case.status
    assert result.stderr == f"{('', 'Refused', 'Error')[case.status]}: {document['error']}\n"
    if case.curator:  # what the table says was told, in a way: that, and only that, is written down
        shown = json.loads(run("ledger", "show", "--json").stdout)
        assert shown["datasets"] == []
        assert [line["study"] for line in shown["refusals"]] == ["study.toml"] * 2
        (folder / "ledger.db").unlink()
    if used_up:  # the attempt that showed it to be used up, and a release with and without --json
        shown = json.loads(run("ledger", "show", "--json").stdout)
        attempts = 3 if case.command[0] == "release" else 1
        assert [line["reason"] for line in shown["refusals"]] == ["budget"] * attempts
    # Nothing released, nothing spent: every file is as it was, and there is no new one.
    assert state(folder, attempts=used_up) == before
    if case.curator:
        curator = run("check", "study.toml", "--data", "--json")
        assert curator.exit_code == 1
        assert case.curator in {
            finding["code"] for finding in json.loads(curator.stdout)["findings"]
        }
        assert "Curator only: " in run("check", "study.toml", "--data").stderr
        assert state(folder) == before


def test_the_unchanged_studies_are_good(folder: Path) -> None:
    for study in (PEOPLE, DAYS):
        write(folder, "study.toml", study)
        assert run("check", "study.toml", "--data").exit_code == 0
        assert run("release", "study.toml").exit_code == 0


def test_every_golden_text_has_its_case() -> None:
    assert set(MESSAGES.texts()) == set(map(named, CASES))
    assert len({case.name for case in CASES}) == len(CASES) > 100
