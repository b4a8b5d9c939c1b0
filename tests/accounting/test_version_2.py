"""Ledgers of version 2, as that version wrote them: read as they are, and brought up to date."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bayesdp.accounting import Ledger, Reading, Spend
from bayesdp.accounting.costs.composition import level
from bayesdp.errors import LedgerError
from tests.accounting.helpers import debit

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "version_2.json").read_text(encoding="utf-8"))
"""What the version that wrote the ledger said of it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    run(path, (HERE / "version_2.sql").read_text(encoding="utf-8"))
    return path


def run(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def said(book: Ledger) -> dict[str, Any]:
    names = ("heights", "walks")
    answers = {
        "show": book.show(),
        "refusals": book.refusals(),
        "releases": [book.releases(name) for name in names],
        "spends": [[spend.to_dict() for spend in book.spends(name)] for name in names],
    }
    of_shown = [release for shown in answers["show"] for release in shown["releases"]]
    for release in [*of_shown, *(item for items in answers["releases"] for item in items)]:
        del release["sequence"], release["head"]  # which version 2 had not
        release.pop("stored", None)
    for shown in answers["show"]:
        assert (shown.pop("shares"), shown.pop("frozen"), shown.pop("people")) == ({}, None, None)
    return answers


def test_it_says_the_same_before_and_after(path: Path) -> None:
    book, before = Ledger(path, level=level), path.read_bytes()
    assert said(book) == EXPECTED
    assert path.read_bytes() == before
    (fault,) = book.faults()
    assert "no chain" in fault.problem
    book.register("other", "row", Reading("dp", 1.0))  # the first that writes
    assert path.read_bytes() != before
    assert book.faults() == []
    after = said(book)
    assert after.pop("show")[0::2] == EXPECTED["show"]
    assert after == {key: value for key, value in EXPECTED.items() if key != "show"}
    tables = sqlite3.connect(path)
    names = tables.execute("SELECT name FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    tables.close()
    assert sorted(names) == [("entries",), ("meta",), ("results",)]


def test_a_result_can_be_stored_that_was_missing(path: Path) -> None:
    book = Ledger(path, level=level)
    (missing,) = [item for item in book.releases("heights") if item["status"] == "debited"]
    book.store(missing["id"], {"late": True})
    assert book.release(missing["id"])["result"] == {"late": True}
    assert book.faults() == []


def test_a_refused_first_writer_leaves_it_as_it_is(path: Path) -> None:
    book, before = Ledger(path, level=level), path.read_bytes()
    with pytest.raises(LedgerError, match="can't raise a total"):
        book.register("heights", "row", Reading("dp", 3.0, delta=1e-6))
    assert path.read_bytes() == before


def test_the_copies_of_two_users_are_two_ledgers(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    heads = set()
    for place in (path, copy):
        book = Ledger(place, level=level)
        book.register("d", "row", Reading("dp", 1.0))
        debit(book)
        heads.add(book.show()[0]["releases"][0]["head"])
    assert len(heads) == 2


def test_before_tables_that_came_later(path: Path) -> None:
    """The first ledgers of version 2 had neither Gaussian noise nor costs of refused attempts."""
    run(path, "DROP TABLE refused_costs; DELETE FROM spends WHERE sequence IN (SELECT spend FROM "
              "extras); DROP TABLE extras;")  # fmt: skip
    book = Ledger(path, level=level)
    assert [row["dp_epsilon"] for row in book.refusals()] == [None, None]
    assert [spend.rho for spend in book.spends("heights")] == [0.0, 0.0]
    heights = Spend("heights", "row", "q", "any", 0.0, reads=("height",), rho=0.001)
    book.debit("heights", "row", [heights], study="s", request={})
    assert [spend.rho for spend in book.spends("heights")] == [0.0, 0.0, 0.001]


EDITS = {
    "cost below 0": "UPDATE spends SET dp_epsilon = -1",
    "cost as text": "UPDATE spends SET dp_epsilon = 'x'",
    "no list": "UPDATE spends SET reads = 'null'",
    "no json": "UPDATE readings SET reading = '{'",
    "another reading": "UPDATE readings SET reading = replace(reading, '2', '3')",
    "another json": "UPDATE readings SET reading = '5'",
    "no costs of Gaussian noise": "DELETE FROM extras",
    "no release": "DELETE FROM releases WHERE sequence = 1",
    "no spend": "DELETE FROM spends WHERE sequence = 3",
    "no data set": "DELETE FROM datasets",
    "no table": "DROP TABLE spends",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON spends BEGIN DELETE FROM spends; END",
    "a view": "CREATE VIEW entries AS SELECT * FROM spends",
    "a flag of another type": "UPDATE columns SET private = 'x'",
    "a time of another type": "UPDATE datasets SET time = x'00'",
    "a request that is a list": "UPDATE releases SET request = '[]' WHERE sequence = 1",
    "a request that is nothing": "UPDATE releases SET request = 'null' WHERE sequence = 1",
    "a result that is no JSON": "UPDATE results SET result = '2026-01-01'",
    "a deep reading": "UPDATE readings SET reading = '" + "[" * 100_000 + "'",
}


@pytest.mark.parametrize("name", EDITS)
def test_what_that_version_never_wrote_is_refused(path: Path, name: str) -> None:
    run(path, EDITS[name])
    book, before = Ledger(path, level=level), path.read_bytes()
    calls = (book.show, lambda: book.register("x", "row", Reading("dp", 1.0)))
    for call in calls:
        with pytest.raises(LedgerError, match="damaged"):
            call()
    assert path.read_bytes() == before
