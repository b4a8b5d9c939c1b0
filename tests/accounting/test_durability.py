"""Several processes, killed processes, and files that can't be used."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.stores import storage as storage_module
from bayesdp.accounting.stores.storage import path_of
from bayesdp.errors import LedgerError, UnsupportedError
from tests.accounting.helpers import BDP, DP, debit, ledger, spend


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def book(path: Path) -> Ledger:
    item = ledger(path)
    item.register("d", "row", DP)
    return item


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.accounting.helpers", *arguments]
    root = Path(__file__).parents[2]
    search = os.pathsep.join([str(root / "src"), str(root)])
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": search},
    )


# --- several processes ------------------------------------------------------------------------


def test_two_processes_never_spend_more_than_the_total(path: Path) -> None:
    # Both make the file, both register, both spend 1/64 as often as they are let: 64 times in all.
    workers = [start("ensure", str(path), "0.015625") for _ in range(2)]
    printed = [worker.communicate(timeout=120)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    (shown,) = ledger(path).show()
    assert shown["spent"] == 1.0
    assert len(shown["releases"]) == 64
    # No debit is lost and none is told twice.
    assert sorted(printed[0] + printed[1]) == sorted(line["id"] for line in shown["releases"])
    assert [item.name for item in path.parent.iterdir()] == ["ledger.db"]


def test_the_lock_is_taken_before_the_spends_are_read(book: Ledger, path: Path) -> None:
    """Between reading and inserting, nobody else can write: the level is asked under the lock."""

    def level(_reading: Reading, _spends: object) -> float:
        other = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()
        asked.append(True)
        return 0.0

    asked: list[bool] = []
    debit(ledger(path, level=level))
    assert asked == [True]


def test_a_locked_ledger_is_waited_for_and_then_named(book: Ledger, path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"another process has held it for 0\.3 s"):
        debit(ledger(path, busy_seconds=0.3))
    holder.execute("ROLLBACK")
    holder.close()
    debit(book)
    with ledger(path, busy_seconds=0.3)._store.writing(create=False) as log:
        waits = log.connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
    assert waits == 300  # milliseconds: Python waits 5 s if it isn't told


def test_a_commit_that_readers_hold_up_is_no_debit(book: Ledger, path: Path) -> None:
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM meta").fetchone()
    with pytest.raises(LedgerError, match="another process"):
        debit(ledger(path, busy_seconds=0.1))
    reader.execute("COMMIT")
    reader.close()
    assert book.spends("d") == []


# --- killed processes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "when", "printed", "status"),
    [
        ("1", "before", [], None),  # before the debit: nothing is spent
        ("1", "after", [], "debited"),  # spent, and nothing was shown
        ("2", "before", ["debited"], "debited"),  # noise drawn, result not kept
        ("2", "after", ["debited"], "released"),  # kept, not yet shown
    ],
)
def test_a_crash_loses_budget_and_never_a_debit(
    book: Ledger, path: Path, number: str, when: str, printed: list[str], status: str | None
) -> None:
    worker = start("crash", str(path), number, when)
    assert worker.communicate(timeout=60)[0].split() == printed
    assert worker.returncode == -signal.SIGKILL
    (shown,) = book.show()
    assert [line["status"] for line in shown["releases"]] == ([status] if status else [])
    assert shown["spent"] == (0.25 if status else 0.0)
    debit(book, 0.75)  # and the ledger goes on


def test_killing_at_any_moment_loses_no_debit(path: Path) -> None:
    ledger(path).register("d", "row", Reading("dp", 1000.0))
    for delay in (0.0, 0.013, 0.037):
        worker = start("debit", str(path), "0.015625")
        assert worker.stdout is not None
        first = worker.stdout.readline()
        time.sleep(delay)
        worker.kill()
        printed = [first.strip(), *worker.communicate(timeout=60)[0].split()]
        kept = {item["id"] for item in ledger(path).show()[0]["releases"]}
        assert set(printed) <= kept
    shown = ledger(path).show()[0]
    assert shown["spent"] == len(shown["releases"]) / 64


def test_a_half_written_commit_is_undone(book: Ledger, path: Path) -> None:
    """A power loss in the middle of a commit leaves a journal; the next opening rolls it back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN IMMEDIATE")
    # More than the cache holds, so that half the transaction is in the file already.
    connection.execute("CREATE TABLE big (x)")
    connection.executemany("INSERT INTO big VALUES (?)", [("x" * 3000,)] * 100)
    journal = path.with_name("ledger.db-journal")
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(journal, copy.with_name("copy.db-journal"))
    connection.execute("ROLLBACK")
    connection.close()
    assert copy.stat().st_size > path.stat().st_size
    assert ledger(copy).show() == book.show()
    debit(ledger(copy))


def test_commits_are_synchronised_with_the_disk(book: Ledger) -> None:
    with book._store.writing(create=False) as log:
        actual = {
            name: log.connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("synchronous", "journal_mode", "fullfsync", "foreign_keys")
        }
    extra = 3  # FULL is 2; EXTRA is FULL and a sync of the folder as well
    assert actual == {
        "synchronous": extra,
        "journal_mode": "delete",
        "fullfsync": 1,
        "foreign_keys": 1,
    }


def test_a_reading_connection_can_not_write(book: Ledger) -> None:
    with pytest.raises(LedgerError), book._store.reading() as log:
        log.connection.exec_driver_sql("DELETE FROM entries")
    assert len(book.show()[0]["readings"]) == 1


# --- files that can't be used -----------------------------------------------------------------


def change(statement: str) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(statement)
        connection.close()

    return apply


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10_000])


def scribble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 : 4096 + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))


def miscount(path: Path) -> None:
    """Damage that reading doesn't stumble over: the bytes lost to fragments on page 2."""
    data = bytearray(path.read_bytes())
    data[4096 + 7] += 1
    path.write_bytes(bytes(data))


def no_text(path: Path) -> None:
    """A keyword of the schema gets a byte that is not UTF-8, and SQLite's own message quotes it."""
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE", b"CREATE TABL\xff", 1))


def other_database(path: Path) -> None:
    path.unlink()
    change("CREATE TABLE meta (key, value)")(path)


def edit(kind: str, old: str, new: str) -> Callable[[Path], None]:
    """Changes what the last entry of a kind says, and leaves its hash."""
    return change(
        f"UPDATE entries SET content = replace(content, '{old}', '{new}') WHERE sequence = "
        f"(SELECT max(sequence) FROM entries WHERE kind = '{kind}')"
    )


DAMAGES = {
    "newer": (change("UPDATE meta SET value = '4' WHERE key = 'version'"), "version 3.*'4'"),
    "older": (change("UPDATE meta SET value = '1' WHERE key = 'version'"), "version 3.*'1'"),
    "no version": (change("DELETE FROM meta WHERE key = 'version'"), "version 3.*None"),
    "other": (other_database, "something else"),
    "no format": (change("UPDATE meta SET value = 'x' WHERE key = 'format'"), "something else"),
    "text": (lambda path: path.write_text("not a database" * 500), "is not a SQLite database"),
    "short text": (lambda path: path.write_text("x"), "something else"),
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "cut": (cut, "damaged"),
    "scribbled": (scribble, "damaged"),
    "miscounted": (miscount, "damaged .*Fragmentation"),
    "a schema of other bytes": (no_text, "damaged .*not UTF-8"),
    "no table": (change("DROP TABLE entries"), "damaged .*table entries: it is not there"),
    "said to be of version 2": (
        change("UPDATE meta SET value = '2' WHERE key = 'version'"),
        "damaged",
    ),
    "edited": (edit("reading", "1", "2"), "damaged .*entry 3: it is not what was written"),
    "half a cost": (edit("release", "0.25", "0.125"), "damaged .*entry 4: it is not what"),
    "another type": (change("UPDATE entries SET dataset = x'00'"), "damaged .*entry 1"),
    "a number lower": (change("UPDATE entries SET sequence = 0 WHERE sequence = 4"), "damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_ledger_is_one_clear_error(book: Ledger, path: Path, name: str) -> None:
    debit(book)
    damage, words = DAMAGES[name]
    damage(path)
    before = path.read_bytes()
    calls: list[Callable[[], object]] = [
        lambda: debit(book),
        lambda: book.ensure("d", "row", DP),
        lambda: book.register("d", "row", BDP),
        lambda: book.preview("d", "row", DP, [spend()]),
        book.show,
        lambda: book.spends("d"),
    ]
    for call in calls:
        with pytest.raises(LedgerError, match=words) as caught:
            call()
        assert caught.value.value == str(path)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    change("CREATE TABLE people (name)")(path)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="something else"):
        ledger(path).ensure("d", "row", DP)
    assert path.read_bytes() == before


def test_a_read_only_file_can_be_read_only(book: Ledger, path: Path) -> None:
    """Also for root, whom the operating system would let write."""
    release = debit(book)
    path.chmod(0o444)
    before = path.read_bytes()
    for call in (
        lambda: debit(book),
        lambda: book.register("d", "row", BDP),
        lambda: book.store(release, {}),
    ):
        with pytest.raises(LedgerError, match="the file is read-only"):
            call()
    assert path.read_bytes() == before
    assert book.show()[0]["spent"] == 0.25
    assert book.preview("d", "row", DP, [spend()]).refusal is None


def test_a_read_only_folder(book: Ledger, path: Path) -> None:
    path.parent.chmod(0o555)
    try:
        with pytest.raises(LedgerError, match="the folder is read-only"):
            debit(book)
        with pytest.raises(LedgerError, match="the folder is read-only"):
            ledger(path.with_name("new.db")).ensure("d", "row", DP)
        assert [item.name for item in path.parent.iterdir()] == ["ledger.db"]
    finally:
        path.parent.chmod(0o755)


def test_what_sqlite_finds_read_only_itself(book: Ledger, path: Path) -> None:
    """As on a disk mounted read-only, which no permission shows."""
    with (
        pytest.raises(LedgerError, match="is read-only"),
        book._store._transaction(
            book._store._engine(path, "rw", begin="BEGIN IMMEDIATE", read_only=True)
        ) as connection,
    ):
        connection.exec_driver_sql("INSERT INTO meta VALUES ('a', 'b')")


def test_missing_folder_file_and_a_folder_for_a_file(tmp_path: Path) -> None:
    nowhere = ledger(tmp_path / "no" / "ledger.db")
    for call in (
        nowhere.show,
        lambda: nowhere.ensure("d", "row", DP),
        lambda: nowhere.preview("d", "row", DP, [spend()]),
    ):
        with pytest.raises(LedgerError, match="Create the folder"):
            call()
    with pytest.raises(LedgerError, match="this is a folder"):
        ledger(tmp_path).ensure("d", "row", DP)
    missing = ledger(tmp_path / "ledger.db")
    for call in (missing.show, lambda: debit(missing), lambda: missing.spends("d")):
        with pytest.raises(LedgerError, match="no such file"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_without_hard_links_a_ledger_is_made_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(storage_module.os, "link", link)
    book = ledger(path)
    book.ensure("d", "row", DP)
    debit(book)
    assert [item.name for item in path.parent.iterdir()] == ["ledger.db"]


def test_the_loser_of_a_race_to_make_the_file_keeps_the_winners(
    book: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debit(book)
    for link in (os.link, _no_link):
        monkeypatch.setattr(storage_module.os, "link", link)
        book._store._create(book._store._begin)
        assert book.show()[0]["spent"] == 0.25
    assert [item.name for item in path.parent.iterdir()] == ["ledger.db"]


def _no_link(*_: object) -> None:
    raise PermissionError("no hard links here")


def test_a_file_that_can_not_be_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(storage_module.os, "link", refuse)
    monkeypatch.setattr(storage_module.os, "replace", refuse)
    with pytest.raises(LedgerError, match="may make files"):
        ledger(path).ensure("d", "row", DP)


# --- addresses --------------------------------------------------------------------------------


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert path_of("sqlite:///a.db") == tmp_path / "a.db"
    assert path_of("a.db") == path_of(Path("a.db")) == tmp_path / "a.db"
    assert path_of(f"sqlite:///{tmp_path}/a.db") == tmp_path / "a.db"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://host/ledger",
        "sqlite+pysqlite:///a.db",
        "https://host/a.db",
        "sqlite://",
        "sqlite:///",
        "sqlite://a.db",
        "sqlite:///:memory:",
        ":memory:",
        "sqlite:///a.db?mode=ro",
        "",
    ],
)
def test_other_addresses_name_what_is_accepted(url: str) -> None:
    with pytest.raises(UnsupportedError, match="sqlite:///PATH or a path"):
        ledger(url)


def test_odd_file_names(tmp_path: Path) -> None:
    for name in ("a b.db", "100%25.db", "what?mode=ro.db", "hash#.db", "ü.db"):
        book = ledger(tmp_path / name)
        book.ensure("d", "row", DP)
        debit(book)
        assert (tmp_path / name).is_file()
        assert book.show()[0]["spent"] == 0.25
