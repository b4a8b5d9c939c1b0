"""A ledger that somebody edited is found out, and where."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Ledger
from bayesdp.accounting.log.entries import Entry, chain_faults, following, hash_of
from bayesdp.cli import app
from bayesdp.errors import LedgerError
from tests.accounting.chains import chain_anew, change, filled
from tests.accounting.helpers import DP, debit, ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def book(path: Path) -> Ledger:
    return filled(path)


def words(book: Ledger) -> str:
    return "; ".join(fault.words() for fault in book.faults())


def test_a_ledger_as_it_was_written_has_no_fault(book: Ledger, path: Path) -> None:
    assert book.faults() == []
    connection = sqlite3.connect(path)
    kinds = [kind for (kind,) in connection.execute("SELECT kind FROM entries ORDER BY sequence")]
    connection.close()
    debits = ["release", "result"] * 5
    last = ["refusal", "dataset", "reading"]
    assert kinds == ["ledger", "refusal", "dataset", "columns", "reading", *debits, *last]
    assert book.head().sequence == len(kinds)


def test_a_hash_is_of_everything_that_an_entry_says() -> None:
    first = following(None, "ledger", time="t", content="{}")
    second = following(first, "dataset", dataset="d", release="r", time="u", content="{}")
    parts = [getattr(second, name) for name in Entry.__slots__]
    assert parts[-1] == hash_of(parts[:-1])
    for position, part in enumerate(parts[:-1]):
        other = part + 1 if isinstance(part, int) else f"{part}x"
        assert hash_of([*parts[:position], other, *parts[position + 1 : -1]]) != second.hash
    # What two fields say together isn't what others could say.
    assert following(first, "dataset", dataset="ab", time="u", content="{}").hash != (
        following(first, "dataset", dataset="a", release="b", time="u", content="{}").hash
    )
    # By hand: SHA-256 of [1,"ledger","","","t","{}",""].
    assert first.hash == "f2211c975a7586fe8dd0bca2143b8786015eb6a76fd078aa123f72be172ddf6c"


EDITS = {
    "a halved spend": (
        "UPDATE entries SET content = replace(content, '0.125', '0.0625') WHERE sequence = 6",
        "entry 6: it is not what was written",
    ),
    "a deleted spend": ("DELETE FROM entries WHERE sequence = 8", "entry 8: it is not there"),
    "two deleted": ("DELETE FROM entries WHERE sequence IN (8, 9)", "entries 8 to 9: it is"),
    "the first one deleted": ("DELETE FROM entries WHERE sequence = 1", "entry 1: it is not there"),
    "all deleted": ("DELETE FROM entries", "entry 1: it is not there"),
    "reordered": (
        "UPDATE entries SET sequence = CASE sequence WHEN 6 THEN -8 ELSE -6 END "
        "WHERE sequence IN (6, 8)",
        "entry -8",
    ),
    "another data set": ("UPDATE entries SET dataset = 'z' WHERE sequence = 6", "entry 6"),
    "another time": ("UPDATE entries SET time = '2026' WHERE sequence = 6", "entry 6"),
    "another kind": ("UPDATE entries SET kind = 'refusal' WHERE sequence = 6", "entry 6"),
    "another hash": ("UPDATE entries SET hash = 'x' WHERE sequence = 6", "entry 7: it doesn't"),
    "another link": ("UPDATE entries SET previous = 'x' WHERE sequence = 6", "entry 6: it doesn't"),
    "another type": ("UPDATE entries SET content = x'00' WHERE sequence = 6", "entry 6: it is not"),
    "one put in": (
        "INSERT INTO entries VALUES (19, 'refusal', 'd', '', 't', '{}', 'x', 'y')",
        "entry 19: it doesn't follow",
    ),
    "a result changed": (
        "UPDATE results SET result = '{}' WHERE entry = 7",
        "entry 7: the text of its result is another",
    ),
    "a result deleted": ("DELETE FROM results WHERE entry = 7", "entry 7: the text of its result"),
    "a result of none": ("INSERT INTO results VALUES (8, '{}')", "a result of entry 8"),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "trigger t: a ledger has none on the table entries",
    ),
    "a view beside": ("CREATE VIEW v AS SELECT * FROM entries", "view v: a ledger has none"),
    "a table beside": ("CREATE TABLE more (x)", "table more: a ledger has none"),
    "an index": ("CREATE INDEX i ON entries (time)", "index i: a ledger has none on the table"),
    "a column more": ("ALTER TABLE entries ADD COLUMN x", "table entries: it is not as"),
    "a table less": ("DROP TABLE results", "table results: it is not there"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_and_named(book: Ledger, path: Path, name: str) -> None:
    edit, expected = EDITS[name]
    change(path, edit)
    assert expected in words(book)
    of_results = name.startswith("a result")
    if not of_results:  # those are read where they are asked for
        with pytest.raises(LedgerError, match="damaged"):
            debit(book)
    else:
        debit(book)


def test_a_view_in_the_place_of_the_table(book: Ledger, path: Path) -> None:
    """It hides a release, and looks like the table to whoever reads."""
    change(
        path,
        "ALTER TABLE entries RENAME TO hidden",
        "CREATE VIEW entries AS SELECT * FROM hidden WHERE sequence < 8",
    )
    assert "view entries: a ledger has none" in words(book)
    with pytest.raises(LedgerError, match="damaged"):
        book.show()


def test_rows_in_another_order_are_read_in_theirs(book: Ledger, path: Path) -> None:
    """Where rows lie in the file means nothing: their numbers say the order."""
    change(
        path,
        "CREATE TEMP TABLE t AS SELECT * FROM entries ORDER BY sequence DESC",
        "DELETE FROM entries",
        "INSERT INTO entries SELECT * FROM t",
    )
    assert book.faults() == []


def test_swapped_entries_are_found(book: Ledger, path: Path) -> None:
    change(
        path,
        "UPDATE entries SET sequence = 100 WHERE sequence = 6",
        "UPDATE entries SET sequence = 6 WHERE sequence = 8",
        "UPDATE entries SET sequence = 8 WHERE sequence = 100",
    )
    found_at = {fault.place for fault in book.faults()}
    assert {"entry 6", "entry 8"} <= found_at


def test_the_check_goes_on_after_a_break(book: Ledger, path: Path) -> None:
    change(
        path,
        "UPDATE entries SET time = '2026' WHERE sequence = 6",
        "DELETE FROM entries WHERE sequence = 10",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT 1; END",
    )
    assert [fault.place for fault in book.faults()] == ["trigger t", "entry 6", "entry 10"]


ANEW = {
    "a release of no data set": (
        "DELETE FROM entries WHERE kind = 'dataset' AND dataset = 'd'",
        "its data set is not in the ledger",
    ),
    "a result of no release": ("DELETE FROM entries WHERE sequence = 6", "entry 6: "),
    "two results": (
        "UPDATE entries SET release = (SELECT release FROM entries WHERE sequence = 7) "
        "WHERE sequence = 9",
        "its release had a result before",
    ),
    "a result of other data": ("UPDATE entries SET dataset = 'e' WHERE sequence = 7", "other data"),
    "two debits of one name": (
        "UPDATE entries SET release = (SELECT release FROM entries WHERE sequence = 6) "
        "WHERE sequence = 8",
        "the release was there before",
    ),
    "a kind of nobody": ("UPDATE entries SET kind = 'x' WHERE sequence = 2", "writes 'x'"),
    "a cost below 0": (
        "UPDATE entries SET content = replace(content, '0.125', '-1') WHERE sequence = 6",
        "dp_epsilon",
    ),
    "no JSON": ("UPDATE entries SET content = '{' WHERE sequence = 6", "ledger: "),
    "a reading that isn't of its key": (
        "UPDATE entries SET content = replace(content, '\"total\":1', '\"total\":9') "
        "WHERE sequence = 5",
        "doesn't match its key",
    ),
    "a total that is passed": (
        "UPDATE entries SET content = replace(content, '0.125', '0.75') WHERE sequence = 6",
        "data set 'd': the releases are at 1.25",
    ),
    "a second beginning": ("UPDATE entries SET kind = 'ledger' WHERE sequence = 2", "begins here"),
    "no beginning": ("DELETE FROM entries WHERE sequence = 1", "no ledger begins here"),
    "of another version": (
        "UPDATE entries SET content = replace(content, '\"3\"', '\"4\"') WHERE sequence = 1",
        "another format or version",
    ),
}


@pytest.mark.parametrize("name", ANEW)
def test_what_does_not_go_together_is_found_in_a_whole_chain(
    book: Ledger, path: Path, name: str
) -> None:
    edit, expected = ANEW[name]
    change(path, edit)
    chain_anew(path)
    assert expected in words(book)
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()
    connection.close()
    assert list(chain_faults(rows)) == []
    if name != "a total that is passed":  # that one refuses all releases anyway
        with pytest.raises(LedgerError, match="damaged"):
            book.show()


def test_a_data_set_that_lost_its_readings_is_not_debited(book: Ledger, path: Path) -> None:
    change(path, "DELETE FROM entries WHERE kind = 'reading' AND dataset = 'd'")
    chain_anew(path)
    with pytest.raises(LedgerError, match="a registered reading"):
        debit(book)


def test_edits_at_a_thousand_places_are_found(book: Ledger, path: Path) -> None:
    """Any sign of any field of any row, changed, left out or put in."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()
    connection.close()
    assert list(chain_faults(rows)) == []
    rng, made = random.Random(1), 0
    while made < 1000:
        number, column = rng.randrange(len(rows)), rng.randrange(8)
        row = list(rows[number])
        row[column] = edited(rng, row[column])
        if row[column] != rows[number][column]:
            made += 1
            edited_rows = sorted([*rows[:number], row, *rows[number + 1 :]], key=lambda r: r[0])
            assert list(chain_faults(edited_rows)), (number, column, row[column])
    for number in range(len(rows) - 1):
        assert list(chain_faults(rows[:number] + rows[number + 1 :]))
        swapped = [*rows[:number], rows[number + 1], rows[number], *rows[number + 2 :]]
        assert list(chain_faults(swapped))


def edited(rng: random.Random, value: object) -> object:
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 1000])
    text = str(value)
    place = rng.randrange(len(text) + 1)
    put_in = rng.choice(["", "0", "1", "x", "\u0000", " "])
    return text[:place] + put_in + text[place + rng.randrange(2) :]


# -- the command -----------------------------------------------------------------------------------


def verify(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ledger", "verify", *arguments])
    return result.exit_code, " ".join(result.output.split())


def test_the_command_says_whether_and_where(
    book: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    status, output = verify()
    assert status == 0
    assert output == f"The ledger is as it was written: 18 entries, head {book.head().hash}"
    status, output = verify("--json")
    assert (status, json.loads(output)) == (
        0,
        {"entries": 18, "head": book.head().hash, "faults": []},
    )
    change(path, "DELETE FROM entries WHERE sequence = 8")
    status, output = verify("--ledger", "sqlite:///ledger.db")
    assert status == 1
    assert "entry 8: it is not there Restore the ledger from a copy" in output
    status, output = verify("--json")
    assert status == 1
    assert json.loads(output) == {"faults": [{"place": "entry 8", "problem": "it is not there"}]}
    assert verify("--ledger", "no.db")[0] == 2


def test_a_new_ledger_is_chained_from_the_start(path: Path) -> None:
    book = ledger(path)
    book.ensure("d", "row", DP)
    other = ledger(path.with_name("other.db"))
    other.ensure("d", "row", DP)
    assert book.faults() == other.faults() == []
    assert book.head() != other.head()
