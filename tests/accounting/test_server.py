"""A ledger on a PostgreSQL server: the same as in a file, and what is particular to a server."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from typer.testing import CliRunner

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.stores import server as server_module
from bayesdp.accounting.stores import verified
from bayesdp.accounting.stores.server import lock_key
from bayesdp.accounting.stores.server_addresses import parse
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, LedgerError, UnsupportedError
from tests.accounting.chains import filled
from tests.accounting.helpers import DP, debit, ledger, spend
from tests.accounting.test_durability import start
from tests.golden.cases import PEOPLE, PEOPLE_CSV
from tests.postgres_server import PASSWORD, Server


def schema_of(book: Ledger) -> str:
    return book.place.partition("schema=")[2]


def change(server: Server, book: Ledger, *statements: str) -> None:
    server.run(*(text.replace("LEDGER", schema_of(book)) for text in statements))
    verified.forget()  # as the next command finds it


@pytest.fixture
def book(postgres: Server) -> Ledger:
    return filled(postgres.ledger())  # type: ignore[arg-type]


def test_it_is_the_same_as_in_a_file(book: Ledger, postgres: Server, tmp_path: Path) -> None:
    assert book.path is None
    assert book.files == ()
    assert book.faults() == []
    lines = book.export()
    copy = ledger(tmp_path / "copy.db")
    assert copy.restore(lines) == book.head()
    assert (copy.show(), copy.refusals()) == (book.show(), book.refusals())
    other = ledger(postgres.ledger())
    assert not other.exists()
    with pytest.raises(LedgerError, match="there is none in this schema"):
        other.show()
    assert other.restore(copy.export()) == book.head()
    assert other.exists()
    assert other.export() == lines
    with pytest.raises(LedgerError, match="not there yet"):
        other.restore(lines)
    for kept in (book, copy, other):
        with pytest.raises(BudgetExceededError):
            debit(kept, 0.5)
        debit(kept, 0.25)
        kept.store(debit(kept, 0.125), {"ü\u0000": [0.1, None]})
        assert kept.show()[0]["releases"][-1]["result"] == {"ü\u0000": [0.1, None]}


def test_a_refused_import_makes_nothing(book: Ledger, postgres: Server) -> None:
    lines = book.export()
    other = ledger(postgres.ledger(), level=lambda *_: 9.0)
    with pytest.raises(Exception, match=r"the releases are at 9"):
        other.restore(lines)
    assert not other.exists()


def test_an_export_without_what_was_seen_is_not_put_back(book: Ledger, postgres: Server) -> None:
    lines = book.export()
    debit(book, 0.125)
    newest = book.export()
    postgres.run(f"DROP SCHEMA {schema_of(book)} CASCADE")
    with pytest.raises(LedgerError, match="what was spent since would not be counted"):
        book.restore(lines)
    assert not book.exists()
    book.restore(newest)
    debit(book, 0.125)
    assert book.faults() == []


EDITS = {
    "a halved spend": (
        "UPDATE LEDGER.entries SET content = replace(content, '0.125', '0.0625') WHERE sequence=6",
        "entry 6: it is not what was written",
    ),
    "a deleted spend": ("DELETE FROM LEDGER.entries WHERE sequence = 8", "entry 8: it is not"),
    "a result changed": ("UPDATE LEDGER.results SET result = '{}'", "the text of its result"),
    "another version": ("UPDATE LEDGER.meta SET value = '2' WHERE key = 'version'", "version 2"),
    "a trigger": (
        "CREATE FUNCTION public.LEDGERf() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RETURN NULL; END'; CREATE TRIGGER t BEFORE INSERT ON LEDGER.entries FOR EACH ROW "
        "EXECUTE FUNCTION public.LEDGERf()",
        "trigger t: a ledger has none on the table entries",
    ),
    "a rule": (
        "CREATE RULE r AS ON INSERT TO LEDGER.entries DO INSTEAD NOTHING",
        "table entries: it is not as a ledger makes it",
    ),
    "hidden rows": (
        "ALTER TABLE LEDGER.entries ENABLE ROW LEVEL SECURITY",
        "table entries: it is not as",
    ),
    "a table that a crash empties": (
        "ALTER TABLE LEDGER.entries SET UNLOGGED",
        "table entries: it is not as",
    ),
    "a child of the table": (
        "CREATE TABLE public.LEDGERc () INHERITS (LEDGER.entries)",
        "table entries: it is not as",
    ),
    "a column more": ("ALTER TABLE LEDGER.entries ADD COLUMN x text", "table entries: it is not"),
    "another type": (
        "ALTER TABLE LEDGER.entries ALTER COLUMN time TYPE varchar(10) USING ''",
        "table entries: it is not as",
    ),
    "a default": (
        "ALTER TABLE LEDGER.entries ALTER COLUMN time SET DEFAULT 'x'",
        "table entries: it is not as",
    ),
    "no key": (
        "ALTER TABLE LEDGER.entries DROP CONSTRAINT entries_pkey",
        "table entries",
    ),
    "a condition": (
        "ALTER TABLE LEDGER.entries ADD CHECK (sequence < 100)",
        "its constraints are other ones: CHECK",
    ),
    "a view in the place of the table": (
        "ALTER TABLE LEDGER.entries RENAME TO hidden; "
        "CREATE VIEW LEDGER.entries AS SELECT * FROM LEDGER.hidden WHERE sequence < 8",
        "view entries: a ledger has none",
    ),
    "an index": ("CREATE INDEX i ON LEDGER.entries (time)", "index i: a ledger has none"),
    "a table beside": ("CREATE TABLE LEDGER.more (x int)", "table more: a ledger has none"),
    "a table less": ("DROP TABLE LEDGER.results", "table results: it is not there"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_and_named(book: Ledger, postgres: Server, name: str) -> None:
    edit, expected = EDITS[name]
    change(postgres, book, edit)
    if name == "another version":
        with pytest.raises(LedgerError, match=expected):
            book.faults()
    else:
        assert expected in "; ".join(fault.words() for fault in book.faults())
    if name != "a result changed":  # those are read where they are asked for
        with pytest.raises(LedgerError, match="damaged"):
            debit(book)


def test_other_schemas_are_left_alone(postgres: Server) -> None:
    postgres.run("CREATE SCHEMA mine", "CREATE TABLE mine.diary (x text)")
    with pytest.raises(LedgerError, match="table diary: a ledger has none"):
        ledger(postgres.ledger("mine")).ensure("d", "row", DP)
    with postgres.connect() as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'mine'")
        assert tables.fetchall() == [("diary",)]  # what was begun is undone
    postgres.run("CREATE TABLE mine.meta (key text, value text)")
    with pytest.raises(LedgerError, match="something else"):
        ledger(postgres.ledger("mine")).ensure("d", "row", DP)


# -- several processes -----------------------------------------------------------------------------


def test_processes_never_spend_more_than_the_total(postgres: Server) -> None:
    url = postgres.ledger()
    workers = [start("ensure", url, "0.015625") for _ in range(3)]
    printed = [line for worker in workers for line in worker.communicate(timeout=120)[0].split()]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    (shown,) = ledger(url).show()
    assert shown["spent"] == 1.0
    assert sorted(printed) == sorted(line["id"] for line in shown["releases"])
    assert len(printed) == 64
    assert ledger(url).faults() == []


def test_a_locked_ledger_is_waited_for_and_then_named(book: Ledger, postgres: Server) -> None:
    holder = postgres.connect()
    holder.execute(f"SELECT pg_advisory_lock({lock_key(schema_of(book))})")
    busy = ledger(postgres.ledger(schema_of(book)), busy_seconds=0.3)
    with pytest.raises(LedgerError, match=r"another process has held it for 0\.3 s"):
        debit(busy)
    assert busy.show()  # who reads doesn't wait
    holder.close()
    debit(busy)


def test_somebody_who_knows_of_no_lock_comes_in_between_in_vain(
    book: Ledger, postgres: Server
) -> None:
    """Both have seen the same entries, and one of them is refused."""
    spent = book.show()[0]["spent"]

    def level(_reading: Reading, _spends: object) -> float:
        if not asked:
            asked.append(True)
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(server_module, "lock_key", lambda _: 1)
                debit(ledger(postgres.ledger(schema_of(book))), 0.25)
        return 0.0

    asked: list[bool] = []
    with pytest.raises(LedgerError, match="Nothing was written: try again"):
        debit(ledger(postgres.ledger(schema_of(book)), level=level), 0.25)
    assert book.show()[0]["spent"] == spent + 0.25
    assert book.faults() == []


def test_debits_wait_for_each_other(book: Ledger, postgres: Server) -> None:
    """What was read under the lock is the newest there is."""
    url, refused = postgres.ledger(schema_of(book)), []

    def take() -> None:
        try:
            debit(ledger(url), 0.25)
        except BudgetExceededError:
            refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    assert book.show()[0]["spent"] == 0.875


# -- connections that end --------------------------------------------------------------------------


class Broken:
    """Ends the connection of a transaction at its statement that begins so, then or after it."""

    def __init__(self, server: Server, begins: str, *, restart: bool = False) -> None:
        self.server, self.begins, self.restart, self.done = server, begins, restart, False

    def __enter__(self) -> Broken:
        event.listen(Engine, "after_cursor_execute", self._after)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(Engine, "after_cursor_execute", self._after)

    def _after(self, connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if self.done or not statement.startswith(self.begins):
            return
        self.done = True
        if self.restart:
            self.server.restart()
            return
        pid = connection.connection.dbapi_connection.info.backend_pid  # type: ignore[attr-defined]
        self.server.run(f"SELECT pg_terminate_backend({pid}, 5000)")


@pytest.mark.parametrize("restart", [False, True], ids=["ended", "restarted"])
@pytest.mark.parametrize("begins", ["SELECT pg_advisory_lock", "BEGIN", "INSERT INTO entries"])
def test_a_connection_that_is_lost_in_a_debit(
    book: Ledger, postgres: Server, begins: str, restart: bool
) -> None:
    before = book.export()
    with Broken(postgres, begins, restart=restart), pytest.raises(LedgerError) as lost:
        debit(book)
    assert "Whether the last entry was written can't be told from here" in str(lost.value)
    assert book.export() == before
    assert book.faults() == []
    debit(book)


def test_a_commit_whose_answer_is_lost_is_spent(
    book: Ledger, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    commit, before = psycopg.Connection.commit, book.show()[0]["spent"]

    def unanswered(connection: psycopg.Connection) -> None:
        commit(connection)
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "commit", unanswered)
        with pytest.raises(LedgerError, match="A debit that was written is spent"):
            debit(book, 0.25)
    assert book.show()[0]["spent"] == before + 0.25


def test_a_result_that_can_not_be_stored_is_an_error(book: Ledger, postgres: Server) -> None:
    release = debit(book, 0.25)
    with Broken(postgres, "INSERT INTO results"), pytest.raises(LedgerError):
        book.store(release, {"value": 7})
    assert book.release(release)["status"] == "debited"
    book.store(release, {"value": 7})


def test_what_is_committed_survives_a_restart(book: Ledger, postgres: Server) -> None:
    release = debit(book, 0.25)
    postgres.restart()
    assert book.show()[0]["releases"][-1]["id"] == release
    assert book.faults() == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("53100", "a server that takes what is written"),
        ("53300", "a server that takes what is written"),
        ("42501", "a ledger that this user may use so"),
        ("40001", "Nothing was written: try again"),
        ("XX001", "damaged"),
    ],
)
def test_what_a_server_refuses_is_one_clear_error(book: Ledger, code: str, words: str) -> None:
    """A full disk, too many connections, no right, another writer, a damaged page."""
    before = book.export()
    raising = f"DO $$ BEGIN RAISE 'no' USING ERRCODE = '{code}'; END $$"

    def write() -> None:
        with book._store.writing(create=False) as log:
            log.append("refusal", "t", "{}", dataset="d")
            log.connection.exec_driver_sql(raising)

    with pytest.raises(LedgerError, match=words):
        write()
    assert book.export() == before


# -- settings, rights and addresses ----------------------------------------------------------------


def test_commits_are_on_the_disk_and_serialisable(book: Ledger, postgres: Server) -> None:
    postgres.run("ALTER ROLE curator SET synchronous_commit = off")
    with book._store.writing(create=False) as log:
        actual = [
            log.connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("synchronous_commit", "transaction_isolation", "lock_timeout")
        ]
    postgres.run("ALTER ROLE curator RESET synchronous_commit")
    assert actual == ["on", "serializable", "30s"]
    with book._store.reading() as log, pytest.raises(Exception, match="read-only"):
        log.connection.exec_driver_sql("DELETE FROM entries")


def test_a_user_who_may_only_read(book: Ledger, postgres: Server) -> None:
    name = schema_of(book)
    postgres.run(
        f"CREATE ROLE reader{name} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT USAGE ON SCHEMA {name} TO reader{name}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO reader{name}",
    )
    reader = ledger(postgres.ledger(name, f"reader{name}"))
    assert reader.show() == book.show()
    assert reader.faults() == []
    with pytest.raises(LedgerError, match=r"may use so .*permission denied"):
        debit(reader)
    with pytest.raises(LedgerError, match="permission denied"):
        ledger(postgres.ledger(user=f"reader{name}")).ensure("d", "row", DP)


def test_a_user_who_may_add_entries_and_nothing_else(book: Ledger, postgres: Server) -> None:
    """A ledger never updates or deletes, so nobody needs the right to."""
    name = schema_of(book)
    postgres.run(
        f"CREATE ROLE adder{name} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT USAGE ON SCHEMA {name} TO adder{name}",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {name} TO adder{name}",
    )
    adder = ledger(postgres.ledger(name, f"adder{name}"))
    adder.store(debit(adder, 0.25), {})
    adder.register("f", "row", DP)
    assert adder.faults() == []


def test_secrets_are_shown_nowhere(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    written = postgres.ledger().replace("curator@", f"curator:{PASSWORD}@")
    with pytest.raises(LedgerError, match="no password in the URL") as caught:
        ledger(written)
    assert PASSWORD not in str(caught.value)
    named = postgres.ledger().replace("curator@", "curator:${LEDGER_WORD}@")
    monkeypatch.delenv("PGPASSWORD")
    book = ledger(named)
    for show in (repr, str, lambda it: it.place, lambda it: repr(it._store._address)):
        assert PASSWORD not in show(book)
        assert "LEDGER_WORD" not in show(book)
    with pytest.raises(LedgerError, match="Set LEDGER_WORD where bayesdp runs"):
        book.exists()
    monkeypatch.setenv("LEDGER_WORD", "wrong" + PASSWORD)
    with pytest.raises(LedgerError, match="a server that can be reached") as caught:
        book.exists()
    assert PASSWORD not in str(caught.value)
    assert caught.value.__cause__ is None
    monkeypatch.setenv("LEDGER_WORD", PASSWORD)
    book.ensure("d", "row", DP)
    assert spend().dataset == "d"
    assert PASSWORD not in "".join(book.export())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://u:p@w@h/d", "no password"),
        ("postgresql://h/d?schema=a&schema=b", "each once"),
        ("postgresql://h/d?password=secret", "no options but"),
        ("postgresql://h/d?schema=Public", "small letters"),
        ("postgresql://h/d?schema=pg_catalog", "small letters"),
        ("postgresql://h/d?schema=", "small letters"),
        ("postgresql://h/d?sslmode=x", "an sslmode"),
        ("postgresql://h", "a database on a server"),
        ("postgresql://h:x/d", "a database on a server"),
        ("postgresql://h/d/e", "a database on a server"),
        ("postgresql://h/d#x", "a database on a server"),
    ],
)
def test_wrong_addresses(url: str, words: str) -> None:
    with pytest.raises(LedgerError, match=words) as caught:
        ledger(url)
    assert "secret" not in str(caught.value)
    assert "w@h" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:ada:secret@h/d",
        "postgresql:/ada:secret@h/d",
        "/a/folder/postgresql:/ada:secret@h/d",  # as beside a study
        " Postgres:\\\\ada:secret@h\\d",
        "host=h user=ada password=secret",
    ],
)
def test_what_looks_like_a_server_is_not_the_name_of_a_file(url: str) -> None:
    """A budget would begin anew in it, and its name would show a password."""
    with pytest.raises(LedgerError, match="looks like a server") as caught:
        ledger(url)
    assert "secret" not in str(caught.value)


def test_addresses() -> None:
    address = parse("postgresql://ada@[::1]:5433/heights?schema=s&sslmode=require")
    assert address.arguments() == {
        "user": "ada", "host": "::1", "port": "5433", "dbname": "heights", "sslmode": "require",
    }  # fmt: skip
    assert parse("postgresql:///d").schema == "bayesdp_ledger"
    assert parse("postgresql://%2Ftmp/d").server.host == "/tmp"


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    book = ledger(f"postgresql://{str(tmp_path).replace('/', '%2F')}/d")
    for call in (book.exists, book.show, lambda: debit(book)):
        with pytest.raises(LedgerError, match="a server that can be reached"):
            call()


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(UnsupportedError, match=r"bayesdp\[postgresql\]"):
        ledger("postgresql://h/d")


# -- a study ---------------------------------------------------------------------------------------


def test_a_study_is_released_from_a_ledger_on_a_server(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    url = postgres.ledger()
    Path("people.csv").write_text(PEOPLE_CSV)
    Path("s.toml").write_text(PEOPLE.replace("[budget]", f'[budget]\nledger = "{url}"'))

    def ask(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == 0, result.output
        assert PASSWORD not in result.output
        return result.output

    assert "A new ledger: postgresql://curator@" in ask("check", "s.toml")
    assert "A new ledger: postgresql://curator@" in ask("release", "s.toml", "--key", "june")
    assert "A new ledger" not in ask("check", "s.toml")
    assert "Nothing was spent now" in ask("release", "s.toml", "--key", "june")
    shown = json.loads(ask("ledger", "show", "--ledger", url, "--json"))
    assert [item["status"] for item in shown["datasets"][0]["releases"]] == ["released"]
    said = ask("ledger", "verify", "--ledger", url, "--against", ".")
    assert "It has the debits of 1 certificate" in said
    assert not Path("ledger.db").exists()
    for name in ("s.toml", "people.csv"):
        assert CliRunner().invoke(app, ["ledger", "export", name, "--ledger", url]).exit_code == 2
    ask("ledger", "export", "backup.jsonl", "--ledger", url)
    ask("ledger", "import", "backup.jsonl", "--ledger", postgres.ledger())
    missing = CliRunner().invoke(app, ["ledger", "show", "--ledger", postgres.ledger()])
    assert missing.exit_code == 2


def test_data_sets_of_the_same_people_do_not_both_get_the_rest(postgres: Server) -> None:
    url = postgres.ledger()
    book = ledger(url)
    for name in ("a", "b"):
        book.ensure(name, "row", DP, people="P")
    done: list[str] = []
    start_together = threading.Barrier(2)

    def take(name: str) -> None:
        asked = [spend(0.625, dataset=name, people="P")]
        own = ledger(url)
        start_together.wait()
        try:
            own.debit(name, "row", asked, study="s", request={})
            done.append(name)
        except BudgetExceededError:
            pass

    threads = [threading.Thread(target=take, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert [shown["spent"] for shown in book.show()] == [0.625, 0.625]
    assert book.faults() == []
