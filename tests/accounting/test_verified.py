"""A process reads what came since it last looked: what it counts, and what it finds."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.log import entries
from bayesdp.accounting.log.contents import release_content
from bayesdp.accounting.log.entries import Entry, following
from bayesdp.accounting.stores import verified
from bayesdp.errors import BudgetExceededError, LedgerError
from tests.accounting.chains import chain_anew
from tests.accounting.helpers import debit, ledger, spend

CHEAPER = "UPDATE entries SET content = replace(content, '0.125', '0.0625') WHERE kind = 'release'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def book(path: Path) -> Ledger:
    """Five releases at 0.125 each, of a total of 1."""
    made = ledger(path)
    made.ensure("d", "row", Reading("dp", 1.0), private=["x"])
    for _ in range(5):
        made.store(debit(made, 0.125), {"value": 7})
    return made


def edit(path: Path, *statements: str, new: bool = False) -> None:
    """Edit the file while this process goes on; with a `new` entry, as another process adds one."""
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
        if new:
            row = connection.execute("SELECT * FROM entries ORDER BY sequence DESC LIMIT 1")
            content = '{"analyst":"Bo","reason":"table","study":"s"}'
            time = "2026-11-30T12:00:00.000000+00:00"
            last = Entry(*row.fetchone())
            add(connection, following(last, "refusal", dataset="d", time=time, content=content))
    connection.close()


def add(connection: Any, entry: Entry) -> None:
    fields = [getattr(entry, name) for name in Entry.__slots__]
    connection.execute("INSERT INTO entries VALUES (?,?,?,?,?,?,?,?)", fields)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (CHEAPER, "it is not what was written"),
        ("DELETE FROM entries WHERE sequence BETWEEN 4 AND 9", "entries 4 to 9: it is not there"),
        ("DELETE FROM entries WHERE sequence = 1", "entry 1: it is not there"),
    ],
)
def test_what_is_edited_behind_new_entries_is_still_counted(
    book: Ledger, path: Path, statement: str, fault: str
) -> None:
    """The honest ledger refuses, and so does this one."""
    edit(path, statement, new=True)
    with pytest.raises(BudgetExceededError, match=r"now at 0\.625"):
        debit(book, 0.5)
    debit(book, 0.375)
    assert book.show()[0]["spent"] == 1.0
    assert fault in "; ".join(damage.words() for damage in book.faults())
    verified.forget()
    with pytest.raises(LedgerError, match="damaged"):
        debit(book, 0.001)


@pytest.mark.parametrize("statement", [CHEAPER, "DELETE FROM entries WHERE sequence = 5"])
def test_a_file_that_changed_without_a_new_entry_is_read_whole(
    book: Ledger, path: Path, statement: str
) -> None:
    state = path.stat()
    edit(path, statement)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 10**7))  # of a clock that is coarse
    for _ in range(2):
        with pytest.raises(LedgerError, match="damaged"):
            debit(book, 0.001)


def test_a_file_that_was_only_touched_is_read_whole_and_goes_on(book: Ledger, path: Path) -> None:
    os.utime(path)
    debit(book, 0.375)
    assert book.faults() == []


def forged_cut(path: Path) -> None:
    edit(path, "DELETE FROM entries WHERE sequence > 6", "DELETE FROM results WHERE entry > 6")


def forged_anew(path: Path) -> None:
    known = dict(verified._KNOWN)
    edit(path, CHEAPER)
    chain_anew(path)
    verified._KNOWN.update(known)


def cut_and_grown(path: Path) -> None:
    forged_cut(path)
    for _ in range(12):
        edit(path, new=True)


@pytest.mark.parametrize("change", [forged_cut, forged_anew, cut_and_grown])
def test_a_history_that_is_another_one_is_refused(book: Ledger, path: Path, change: Any) -> None:
    """A process that begins after it can't know, without certificates."""
    change(path)
    for _ in range(2):
        for call in (lambda: debit(book, 0.001), book.show, book.export):
            with pytest.raises(LedgerError, match="an older copy was put back"):
                call()
        (fault,) = book.faults()
        assert "this process has seen" in fault.problem
    verified.forget()
    assert book.faults() == []
    debit(book, 0.001)


def test_an_older_copy_is_refused(book: Ledger, path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy.db")
    debit(book, 0.25)
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerError, match="an older copy was put back"):
        debit(book, 0.25)


@pytest.mark.parametrize("where", ["file", "link"])
def test_an_export_without_what_was_seen_is_not_put_back(
    book: Ledger, path: Path, tmp_path: Path, where: str
) -> None:
    """It would be refused at the next debit, with the words for a damaged ledger."""
    lines = book.export()
    debit(book, 0.25)
    newest = book.export()
    path.unlink()
    (tmp_path / "folder").symlink_to(tmp_path)
    place = ledger(path if where == "file" else tmp_path / "folder" / path.name)
    with pytest.raises(LedgerError, match="and what was spent since would not be counted") as no:
        place.restore(lines)
    assert f"entry {len(newest)} is not in what is put back" in str(no.value)
    assert list(tmp_path.glob("*.db*")) == []
    elsewhere = ledger(tmp_path / "elsewhere.db")
    elsewhere.restore(lines)
    debit(elsewhere, 0.25)
    place.restore(newest)  # and on it goes
    with pytest.raises(BudgetExceededError):
        debit(book, 0.25)
    debit(book, 0.125)
    path.unlink()
    verified.forget()
    place.restore(lines)
    debit(place, 0.25)


def test_another_ledger_of_the_same_name_is_another_one(book: Ledger, path: Path) -> None:
    path.unlink()
    book.ensure("d", "row", Reading("dp", 1.0))
    debit(book, 1.0)
    assert book.show()[0]["spent"] == 1.0


@pytest.mark.parametrize("part", [0, 6, 7])
def test_a_new_entry_that_does_not_follow_is_refused(book: Ledger, path: Path, part: int) -> None:
    edit(path, new=True)
    wrong = ("sequence = sequence + 1", "previous = 'x'", "hash = 'x'")[{0: 0, 6: 1, 7: 2}[part]]
    edit(path, f"UPDATE entries SET {wrong} WHERE kind = 'refusal'")
    with pytest.raises(LedgerError, match="damaged"):
        debit(book, 0.001)


def test_a_new_entry_that_can_not_be_read_is_refused_again_and_again(
    book: Ledger, path: Path
) -> None:
    head = book.head()
    with book._store.reading() as log:
        odd = following(log.head, "share", dataset="d", time="t", content="{}")
    connection = sqlite3.connect(path)
    with connection:
        add(connection, odd)
    connection.close()
    for _ in range(3):
        with pytest.raises(LedgerError, match=f"entry {head.sequence + 1}"):
            debit(book, 0.001)


def test_what_was_undone_is_not_remembered(book: Ledger) -> None:
    before = book.export()
    with pytest.raises(RuntimeError), book._writing(create=False) as (log, _):  # noqa: PT012
        log.append("refusal", "t", "{}", dataset="d")
        raise RuntimeError
    assert book.export() == before
    debit(book, 0.375)
    with pytest.raises(BudgetExceededError):
        debit(book, 0.125)
    assert book.faults() == []


def test_a_book_that_was_told_of_what_was_undone_is_not_remembered(book: Ledger) -> None:
    def undone() -> None:
        with book._writing(create=False) as (log, said):
            content = '{"by":"Bo","frozen":true,"reason":""}'
            time = "2026-11-30T12:00:00.000000+00:00"
            said.take(log.append("frozen", time, content, dataset="d"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    debit(book, 0.375)  # it isn't frozen
    assert book.faults() == []


def test_a_book_that_was_told_of_what_is_written_takes_it_once(book: Ledger) -> None:
    with book._writing(create=False) as (log, said):
        content = release_content(analyst="a", study="s", request={}, spends=[spend(0.25)])
        time = "2026-11-30T12:00:00.000000+00:00"
        said.take(log.append("release", time, content, dataset="d", release="7" * 32))
    assert book.show()[0]["spent"] == 0.875
    debit(book, 0.125)
    assert book.faults() == []


def test_threads_of_one_ledger(path: Path) -> None:
    book = ledger(path)
    book.ensure("d", "row", Reading("dp", 1.0))
    refused: list[int] = []

    def take() -> None:
        for _ in range(4):
            try:
                debit(book, 0.125)
            except BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 8
    assert book.show()[0]["spent"] == 1.0
    assert book.faults() == []


def test_of_two_threads_the_one_that_has_seen_more_is_remembered(book: Ledger, path: Path) -> None:
    place = os.path.realpath(path)
    with book._store.reading() as log:
        slow = verified.Remembered(list(log.entries), None, log.known.state)
    debit(book, 0.125)
    log.known = slow  # of one that had begun before the debit
    verified.let_go(place, log)
    edit(path, "DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)")
    with pytest.raises(LedgerError, match="the last ones were cut off"):
        debit(book, 0.125)


@pytest.mark.parametrize("name", ["link.db", "folder/../ledger.db"])
def test_a_file_is_remembered_whichever_path_leads_to_it(
    book: Ledger, path: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.db").symlink_to(path)
    shutil.copy(path, tmp_path / "older.db")
    debit(book, 0.375)
    shutil.copy(tmp_path / "older.db", path)
    with pytest.raises(LedgerError, match="an older copy was put back"):
        debit(ledger(tmp_path / name), 0.375)


def test_a_debit_hashes_what_is_new(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[object] = []
    hash_of = entries.hash_of
    monkeypatch.setattr(entries, "hash_of", lambda parts: hashed.append(parts[0]) or hash_of(parts))
    debit(book, 0.125)
    assert len(hashed) == 1
    verified.forget()
    debit(book, 0.125)
    assert len(hashed) > 10


def test_so_many_ledgers_are_remembered(tmp_path: Path) -> None:
    for number in range(verified.MOST_LEDGERS + 3):
        ledger(tmp_path / f"{number}.db").ensure("d", "row", Reading("dp", 1.0))
    assert len(verified._KNOWN) == verified.MOST_LEDGERS
    assert os.path.realpath(tmp_path / "0.db") not in verified._KNOWN


def test_a_file_with_two_names_is_one_ledger_and_is_named(
    book: Ledger, path: Path, tmp_path: Path
) -> None:
    os.link(path, tmp_path / "other.db")
    other = ledger(tmp_path / "other.db")
    debit(other, 0.25)
    with pytest.raises(BudgetExceededError):
        debit(book, 0.25)
    (fault,) = book.faults()
    assert "it has 2 names" in fault.problem
    (tmp_path / "other.db").unlink()
    assert book.faults() == []
    (tmp_path / "link.db").symlink_to(path)
    assert ledger(tmp_path / "link.db").faults() == []


def test_copies_are_two_ledgers_that_certificates_tell_apart(
    book: Ledger, path: Path, tmp_path: Path
) -> None:
    shutil.copy(path, tmp_path / "copy.db")
    copy = ledger(tmp_path / "copy.db")
    release = debit(book, 0.25)
    debit(copy, 0.25)
    head = book.debited(release)
    certificate = {"release": release, "ledger": {"sequence": head.sequence, "head": head.hash}}
    assert copy.faults() == []
    (fault,) = copy.faults({"c": certificate})
    assert "with another hash" in fault.problem
