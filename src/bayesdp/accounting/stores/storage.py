"""The file behind a ledger: opening it, transactions that survive a power loss, clear errors.

Everything that is particular to SQLite is in this module, but for the migration of old files.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from bayesdp.accounting.log import schema
from bayesdp.accounting.log.contents import NOT_WRITTEN, ledger_content
from bayesdp.accounting.log.entries import LedgerFault, chain_faults
from bayesdp.accounting.log.schema import Log
from bayesdp.accounting.stores import verified, version_2
from bayesdp.accounting.stores.damage import damaged
from bayesdp.errors import LedgerError, UnsupportedError

LONGEST_NAME = 200
LONGEST_PATH = 1000
_SERVER = re.compile(r"(.*/)?\s*postgres(ql)?:(?!//)|.*\bpassword\s*=", re.I | re.S)
"""What is meant for a server and may have a password, in a folder or not, but isn't its URL."""
ACCEPTED = "sqlite:///PATH or a path, or postgresql://HOST/DATABASE"


def path_of(url: str | os.PathLike[str]) -> Path:
    """The file that a ledger's URL names. A relative path is relative to the working directory.

    Raises `UnsupportedError` for another scheme, a database in memory or options, and `LedgerError`
    for a path that no file can have.
    """
    text = os.fspath(url)
    if _SERVER.match(text):
        raise LedgerError(
            "ledger",
            expected=f"{ACCEPTED}; this looks like a server, and would be the name of a file",
            remedy="Write postgresql://USER@HOST/DATABASE, without a password, or another name.",
            shown=False,
        )
    scheme, colon, rest = text.partition("://")
    if colon and scheme != "sqlite":
        raise UnsupportedError(
            "ledger", text, expected=ACCEPTED, remedy="Other databases are not supported so far."
        )
    # sqlite:///a is the relative path a, sqlite:////a the absolute path /a.
    name = rest.removeprefix("/") if colon else text
    if (colon and not rest.startswith("/")) or not name.strip() or name == ":memory:":
        raise UnsupportedError(
            "ledger",
            text,
            expected=f"{ACCEPTED}: a file, because a budget must outlive the process",
            remedy="Name a file, such as sqlite:///ledger.db; it need not exist yet.",
        )
    if "?" in name and colon:
        raise UnsupportedError("ledger", text, expected=f"{ACCEPTED}, without options")
    if "\0" in name:
        raise LedgerError("ledger", text, expected=f"{ACCEPTED}, without a NUL character")
    path = Path(name).absolute()
    # Beside the ledger stand its journal and, while it is made, a draft with a longer name.
    if len(os.fsencode(path.name)) > LONGEST_NAME or len(os.fsencode(path)) > LONGEST_PATH:
        raise LedgerError(
            "ledger",
            text,
            expected=f"a file name of at most {LONGEST_NAME} bytes, in a path of at most "
            f"{LONGEST_PATH}",
            remedy="Use a shorter name, or a folder with a shorter path.",
        )
    return path


class LedgerFile:
    """A ledger's SQLite file. One connection per transaction; none is kept open in between.

    `busy_seconds` is how long to wait for another process, `now` the time of a new ledger. Raises
    `LedgerError` for an address that isn't such a file's, `UnsupportedError` for another database.
    """

    user: str | None = None
    """Files have no logins."""

    def __init__(
        self, url: str | os.PathLike[str], *, busy_seconds: float, now: Callable[[], str]
    ) -> None:
        self.path = path_of(url)
        self._now = now
        self._engines: dict[str, Engine] = {}
        self._busy_seconds = busy_seconds

    def exists(self) -> bool:
        """Whether the file is there. Raises `LedgerError` if its folder isn't."""
        if not os.path.isdir(self.path.parent):
            raise self._error("a file in a folder that exists", "Create the folder first.")
        if os.path.isdir(self.path):
            raise self._error("a file; this is a folder", "Name a file inside it.")
        if os.path.islink(self.path) and not os.path.exists(self.path):
            raise self._error(
                "a file; this is a link to one that is not there",
                "Restore what it links to, or remove the link if nothing was ever released.",
            )
        return os.path.exists(self.path)

    @property
    def files(self) -> tuple[Path, ...]:
        """The ledger and its journal."""
        return self.path, self.path.with_name(self.path.name + "-journal")

    @property
    def place(self) -> str:
        """The ledger's name for people: the whole path of its file."""
        return str(self.path)

    @property
    def _known_as(self) -> str:
        """What is remembered of the file is remembered under one name, whichever path led to it."""
        return os.path.realpath(self.path)

    @contextmanager
    def reading(self, *, whole: bool = False) -> Iterator[Log]:
        """A consistent view of the ledger in which nothing can be written.

        With `whole` all of it is verified, though this process may have done so before.
        """
        self._check_there()
        engine = self._own_engine("BEGIN", read_only=True)
        with self._transaction(engine) as connection:
            log = self._log(connection, version_2.read, whole=whole)
            try:
                yield log
            finally:
                verified.let_go(self._known_as, log)

    @contextmanager
    def writing(self, *, create: bool) -> Iterator[Log]:
        """A transaction that is durable once the block has been left without an exception.

        BEGIN IMMEDIATE takes the write lock before the first read, so what was read inside still
        holds at the commit whatever other processes do. A ledger of version 2 becomes one of this
        version.
        """
        if create and not self.exists():
            self._check_writable(self.path.parent)
            self._create(self._begin)
        self._check_there()
        self._check_writable(self.path.parent)
        self._check_writable(self.path)
        engine = self._own_engine("BEGIN IMMEDIATE", read_only=False)
        with self._transaction(engine) as connection:
            log = self._log(connection, version_2.migrate)
            try:
                yield log
            except BaseException:
                verified.let_go(self._known_as, log)
                raise
        verified.keep(self._known_as, log, self._state())

    def _state(self) -> object:
        """What changes whenever something is written to the file. It is not opened for that.

        Closing it would free the locks that SQLite holds in this process.
        """
        stat = self.path.stat()
        return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _log(
        self, connection: Connection, old: Callable[[Connection, str], Log], *, whole: bool = False
    ) -> Log:
        """All entries, after a look at what is around them; `old` makes them of version 2's."""
        try:
            if schema.version_of(connection, self.place) != schema.VERSION:
                self._require_sound(connection)
                return old(connection, uuid.uuid4().hex)
            for fault in structure_faults(connection):
                raise ValueError(fault.words())
            return verified.read(
                connection,
                self._known_as,
                self._state(),
                whole=whole,
                require_sound=lambda: self._require_sound(connection),
            )
        except LedgerError:
            raise
        except NOT_WRITTEN as error:
            raise self.damaged(str(error)) from error

    def faults(self) -> list[LedgerFault]:
        """Everything that is wrong with the tables and the chain, instead of the first of it.

        Raises `LedgerError` for a file that can't be read as a ledger of this version.
        """
        self._check_there()
        engine = self._own_engine("BEGIN", read_only=True)
        with self._transaction(engine) as connection:
            self._require_sound(connection)
            version = schema.version_of(connection, self.place)
            if version != schema.VERSION:
                words = f"it is of version {version}, which has no chain: the next release makes it"
                return [LedgerFault("ledger", words)]
            wrong = list(structure_faults(connection))
            if any(fault.place.startswith("table") for fault in wrong):
                return wrong  # the entries may be anywhere
            rows = schema.rows_of(connection)
            wrong += chain_faults(rows)
            return wrong or [*verified.faults(self._known_as, rows), *self._other_names()]

    def _other_names(self) -> Iterator[LedgerFault]:
        """That the file has several names: what a killed process left half done is beside one."""
        number = self.path.stat().st_nlink
        if number > 1:
            words = (
                f"it has {number} names (hard links). What a killed process left half done stands "
                "beside the name that it used, and nobody finds it under another: remove the others"
            )
            yield LedgerFault("file", words)

    def _check_there(self) -> None:
        if not self.exists():
            raise self._error(
                "a ledger; there is no such file", "The first release of a study makes one."
            )
        if self.path.stat().st_size == 0:
            # SQLite would take it for a new database, and the budget would start afresh.
            raise self._error(
                "a ledger; this file is empty",
                "Restore it from a copy; if nothing was ever released with it, delete it.",
            )

    def _check_writable(self, path: Path) -> None:
        """Respect a read-only mark even where the user (root) could write all the same."""
        marked = path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) == 0
        if marked or not os.access(path, os.W_OK):
            raise self._read_only("folder" if path.is_dir() else "file")

    def restore(self, fill: Callable[[Connection], None]) -> None:
        """Make the ledger with what `fill` writes; where that raises, there is none.

        Raises `LedgerError` where there is one already, and where this process has seen more of the
        same ledger there.
        """

        def checked(connection: Connection) -> None:
            fill(connection)
            verified.require_seen(self._known_as, connection, self._error)

        if self.exists() or not self._create(checked):
            raise self._error(
                "the name of a ledger that is not there yet",
                "A ledger is imported whole, into a new one: name another, or move this one away.",
            )

    def _begin(self, connection: Connection) -> None:
        first = ledger_content(uuid.uuid4().hex)
        Log(connection, []).append("ledger", self._now(), first)

    def _create(self, fill: Callable[[Connection], None]) -> bool:
        """Make a ledger with what `fill` writes under another name and link it into place.

        Nobody ever sees a ledger without its tables, and of two processes that make one at the
        same time one wins and both go on with the winner's: whether this one won.
        """
        draft = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}.new")
        try:
            with self._guard(), self._engine(draft, "rwc", begin="BEGIN IMMEDIATE").begin() as it:
                schema.create(it)
                fill(it)
            try:
                os.link(draft, self.path)
            except FileExistsError:
                return False
            except OSError:
                return self._move_into_place(draft)
            return True
        finally:
            draft.unlink(missing_ok=True)

    def _move_into_place(self, draft: Path) -> bool:
        """For file systems without hard links: reserve the name, then replace it."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL))
            os.replace(draft, self.path)
            return True
        except FileExistsError:
            return False
        except OSError as error:
            raise self._no_access() from error

    def _own_engine(self, begin: str, *, read_only: bool) -> Engine:
        """What makes connections to the ledger. None is kept open: it may be shared after a fork.

        What it has compiled once is at hand for the next transaction that begins so.
        """
        if begin not in self._engines:
            engine = self._engine(self.path, "rw", begin=begin, read_only=read_only)
            self._engines[begin] = engine
        return self._engines[begin]

    def _engine(
        self, path: Path, mode: Literal["rw", "rwc"], *, begin: str, read_only: bool = False
    ) -> Engine:
        # "rw" never makes a file; SQLite turns it into read-only where it can't write, whereas
        # "ro" couldn't finish what a killed process left half done.
        address = f"{path.as_uri()}?mode={mode}"

        def connect() -> sqlite3.Connection:
            # isolation_level=None: Python's own implicit BEGIN would come too late.
            return sqlite3.connect(
                address, uri=True, timeout=self._busy_seconds, isolation_level=None
            )

        def prepare(connection: Any, _record: object) -> None:
            # One rollback journal, no side file that a copy of the ledger could miss (as with
            # WAL). A commit is the removal of the journal, and EXTRA is FULL plus a sync of the
            # folder after that removal: with FULL alone a power loss could bring the journal
            # back and undo a debit whose result is already out. fullfsync is for macOS.
            for pragma in ("journal_mode=DELETE", "synchronous=EXTRA", "fullfsync=ON"):
                connection.execute(f"PRAGMA {pragma}").close()
            connection.execute("PRAGMA foreign_keys=ON").close()
            connection.execute(f"PRAGMA query_only={'ON' if read_only else 'OFF'}").close()

        engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
        event.listen(engine, "connect", prepare)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        with self._guard(), engine.begin() as connection:
            yield connection

    def _require_sound(self, connection: Connection) -> None:
        verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if verdict != "ok":
            raise self.damaged(str(verdict))

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._explained(error) from error
        except UnicodeDecodeError as error:  # the reason why SQLite refuses it quotes its bytes
            raise self.damaged("names in it are not UTF-8") from error

    def _explained(self, error: DBAPIError) -> LedgerError:
        code = str(getattr(error.orig, "sqlite_errorname", ""))
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return self._error(
                f"a ledger that is free; another process has held it for {self._busy_seconds:g} s",
                "Wait for that process or end it, then try again.",
            )
        if code.startswith("SQLITE_READONLY"):
            return self._read_only("file or its folder")
        if code.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
            return self._no_access()
        if code.startswith("SQLITE_NOTADB"):
            return self._error(
                "a ledger; this file is not a SQLite database",
                "Name the ledger's own file, or one that doesn't exist yet.",
            )
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return self._error(
                f"a disk that takes what is written ({error.orig})", "Make room and try again."
            )
        return self.damaged(str(error.orig))

    def _no_access(self) -> LedgerError:
        return self._error(
            "a file that this user may read and write, in a folder where it may make files",
            "Change the permissions, or name another ledger.",
        )

    def _read_only(self, place: str) -> LedgerError:
        return self._error(
            f"a ledger that can be written; the {place} is read-only",
            "Allow writing: a budget that can't be debited can't be spent.",
        )

    def damaged(self, problem: str) -> LedgerError:
        """The error for content that no ledger writes."""
        return damaged(str(self.path), problem)

    def _error(self, expected: str, remedy: str) -> LedgerError:
        return LedgerError("ledger", str(self.path), expected=expected, remedy=remedy)


def structure_faults(connection: Connection) -> Iterator[LedgerFault]:
    """What a ledger's file has beside its tables, such as a trigger, or in the place of one."""
    definitions = {name: schema.definition(name) for name in schema.DEFINITIONS}
    items = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master")
    for kind, name, table, text in items:
        if kind == "table" and name in definitions:
            if text != definitions[name]:
                yield LedgerFault(f"table {name}", "it is not as a ledger makes it")
            del definitions[name]
        elif not (kind == "index" and name.startswith("sqlite_autoindex_") and text is None):
            about = f" on the table {table}" if table != name else ""
            yield LedgerFault(f"{kind} {name}", f"a ledger has none{about}: remove it")
    for name in definitions:
        yield LedgerFault(f"table {name}", "it is not there")
