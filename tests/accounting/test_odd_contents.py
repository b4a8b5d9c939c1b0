"""Entries whose hashes fit, and that say what no ledger has ever written."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bayesdp.accounting import Ledger
from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.log.entries import hash_of
from bayesdp.accounting.log.schema import result_content
from bayesdp.accounting.stores.version_2 import TABLES
from bayesdp.errors import InputError, LedgerError
from tests.accounting.chains import chain_anew, change, filled
from tests.accounting.helpers import ledger
from tests.accounting.test_version_2 import run as run_script

HALF = "\ud800"
"""Half of a letter, which is printed nowhere and kept by no database."""

ODD: list[tuple[str, tuple[str, ...], Any]] = [
    ("ledger", ("time",), "yesterday"),
    ("dataset", ("time",), "yesterday"),
    ("dataset", ("time",), "2026-11-30T10:00:00"),
    ("dataset", ("content", "unit"), 5),
    ("dataset", ("content", "by"), HALF),
    ("columns", ("content", "columns"), ["x"]),
    ("columns", ("content", "columns", "x"), 0),
    ("columns", ("content", "columns", "x"), "yes"),
    ("reading", ("content", "by"), {}),
    ("reading", ("content", "reading", "total"), 10**400),
    ("release", ("time",), ""),
    ("release", ("dataset",), HALF),
    ("release", ("content", "analyst"), 5),
    ("release", ("content", "study"), None),
    ("release", ("content", "request"), []),
    ("release", ("content", "spends"), 0),
    ("refusal", ("time",), HALF),
    ("refusal", ("content", "analyst"), None),
    ("refusal", ("content", "study"), {"a": 1}),
    ("share", ("content", "by"), []),
    ("refusal", ("content", "reason"), HALF),
    ("refusal", ("content", "reason"), "s.toml"),
    ("refusal", ("content", "dp_epsilon"), 10**400),
    ("refusal", ("content", "dp_rho"), None),
    ("result", ("content",), "sha256"),
    ("result", ("content", "sha256"), 7),
    ("result", ("result",), "[]"),
    ("result", ("result",), "7"),
    ("result", ("result",), '{"certificate":7}'),
    ("result", ("result",), '{"certificate":{"claim":"dp"}}'),
    ("result", ("result",), '{"certificate":{"claim":{"notion":7}}}'),
    ("result", ("result",), '{"level":"1"}'),
    ("result", ("result",), '{"level":-1}'),
    ("result", ("result",), f'{{"level":{10**400}}}'),
    ("result", ("result",), '{"delta":[1]}'),
    ("share", ("content", "analyst"), 0.5),
    ("share", ("content", "share"), 10**400),
    ("share", ("content", "share"), -1),
    ("share", ("content", "share"), 1.5),
    ("share", ("content", "share"), True),
    ("frozen", ("content", "frozen"), "yes"),
    ("frozen", ("content", "frozen"), 1),
    ("frozen", ("content", "reason"), 5),
]
"""The last entry of a kind, a place in it, and what stands there."""


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    made = filled(tmp_path / "ledger.db")
    made.share("d", "Ada", 0.5)
    made.freeze("d", "consent is reviewed")
    return made


def with_odd(lines: list[str], kind: str, place: tuple[str, ...], value: Any) -> list[str]:
    """The lines of an export with a `value` at a `place` of an entry of a `kind`, chained anew."""
    entries = [json.loads(line) for line in lines]
    part: Any = next(entry for entry in reversed(entries) if entry["kind"] == kind)
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    previous = ""
    for entry in entries:
        said = [entry[name] for name in ("sequence", "kind", "dataset", "release", "time")]
        entry["previous"] = previous
        if place == ("result",) and entry is part:
            entry["content"] = json.loads(result_content(value))
        previous = entry["hash"] = hash_of([*said, canonical_json(entry["content"]), previous])
    return [json.dumps(entry) for entry in entries]


@pytest.mark.parametrize(
    ("kind", "place", "value"), ODD, ids=[f"{kind}: {place[-1]}" for kind, place, _ in ODD]
)
def test_it_is_not_imported(
    book: Ledger, tmp_path: Path, kind: str, place: tuple[str, ...], value: Any
) -> None:
    copy = ledger(tmp_path / "copy.db")
    with pytest.raises(InputError, match="Nothing was imported") as caught:
        copy.restore(with_odd(book.export(), kind, place, value))
    assert len(str(caught.value)) < 500
    assert not copy.exists()


def test_the_same_lines_without_an_edit_are_imported(book: Ledger, tmp_path: Path) -> None:
    lines = book.export()
    time = json.loads(lines[1])["time"]
    assert ledger(tmp_path / "copy.db").restore(with_odd(lines, "ledger", ("time",), time))


IN_FILES = [(kind, place, value) for kind, place, value in ODD if place[0] == "content"]
"""What a file may say, too: its texts are JSON, which escapes half a letter."""


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    IN_FILES,
    ids=[f"{kind}: {place[-1]}" for kind, place, _ in IN_FILES],
)
def test_a_file_with_it_is_damaged_or_is_shown(
    book: Ledger, kind: str, place: tuple[str, ...], value: Any
) -> None:
    """No command ends in a traceback, and what is not refused is plain data of the stated types."""
    connection = sqlite3.connect(book.path)
    with connection:
        ((sequence, content),) = connection.execute(
            "SELECT max(sequence), content FROM entries WHERE kind = ?", (kind,)
        ).fetchall()
        said: Any = {"content": json.loads(content)}
        part = said
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = value
        connection.execute(
            "UPDATE entries SET content = ? WHERE sequence = ?",
            (json.dumps(said["content"]), sequence),
        )
    connection.close()
    chain_anew(book.path)
    refused = 0
    for call in (book.trail, book.show, book.refusals, book.export):
        try:
            call()
        except LedgerError as error:
            refused += "damaged" in str(error)
        else:
            lines = book.trail() if call == book.trail else []
            texts = [line[name] for line in lines for name in ("analyst", "study", "detail")]
            assert {type(text) for text in texts} <= {str, type(None)}
    assert refused
    assert book.faults()


def test_a_file_that_says_neither_frozen_nor_thawed_is_damaged(book: Ledger) -> None:
    """It was taken for a thaw."""
    change(
        book.path,
        """UPDATE entries SET content = replace(content, 'true', '"true"')
        WHERE kind = 'frozen'""",
    )
    chain_anew(book.path)
    with pytest.raises(LedgerError, match="neither true nor false"):
        book.show()
    assert "neither true nor false" in book.faults()[0].problem


def test_a_file_with_content_that_is_no_document_is_not_exported(book: Ledger) -> None:
    change(book.path, "UPDATE entries SET content = 'yes' WHERE kind = 'refusal'")
    chain_anew(book.path)
    with pytest.raises(LedgerError, match="damaged"):
        book.export()


def test_a_file_with_a_result_that_says_nothing_has_no_trail(book: Ledger) -> None:
    change(book.path, "UPDATE entries SET content = '7' WHERE kind = 'result'")
    chain_anew(book.path)
    with pytest.raises(LedgerError, match="damaged"):
        book.trail()


def test_an_empty_ledger_of_version_2_has_a_trail_since_a_day(tmp_path: Path) -> None:
    """Its first entry has no time."""
    path = tmp_path / "old.db"
    run_script(path, Path(__file__).with_name("version_2.sql").read_text(encoding="utf-8"))
    change(path, *(f'DELETE FROM "{table}"' for table in TABLES))
    book = ledger(path)
    assert [line["event"] for line in book.trail(until=date(2030, 1, 1))] == ["ledger begun"]
    assert book.trail(since="2020-01-01") == []
