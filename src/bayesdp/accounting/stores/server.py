"""A ledger on a PostgreSQL server: one schema, of which nothing else is a part.

Everything that is particular to PostgreSQL is in this module. Writers come one by one: each takes
an advisory lock before its transaction begins, which the server frees when the connection ends,
however that happens. The transaction is serialisable besides, and an entry's number can be given
once, so that nobody who doesn't know of the lock can come in between.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from bayesdp.accounting.log import schema
from bayesdp.accounting.log.contents import ledger_content
from bayesdp.accounting.log.entries import LedgerFault, chain_faults
from bayesdp.accounting.log.schema import Log
from bayesdp.accounting.stores import verified
from bayesdp.accounting.stores.damage import damaged
from bayesdp.accounting.stores.roles import REFUSED, rule_faults
from bayesdp.accounting.stores.server_addresses import LedgerAddress, parse
from bayesdp.errors import LedgerError, UnsupportedError

CONNECT_SECONDS = 10
_LOST = ("08", "57P")
"""How the codes of errors begin that end a connection."""


class LedgerServer:
    """A ledger in a schema of a PostgreSQL database. One connection per transaction.

    `busy_seconds` is how long to wait for another process, `now` the time of a new ledger. Raises
    `LedgerError` for a URL that is none of a ledger, `UnsupportedError` without psycopg.
    """

    path: Path | None = None
    files: tuple[Path, ...] = ()

    def __init__(self, url: str, *, busy_seconds: float, now: Callable[[], str]) -> None:
        self._address: LedgerAddress = parse(url)
        self._busy_seconds, self._now = busy_seconds, now
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise UnsupportedError(
                "ledger",
                self.place,
                expected="a file, as psycopg is not installed",
                remedy="Install the extra: pip install 'bayesdp[postgresql]'.",
            ) from None

    @property
    def place(self) -> str:
        """The ledger's name for people: its URL without a password."""
        return self._address.place

    @property
    def user(self) -> str | None:
        """The login on the server, as far as its URL or the environment says it."""
        return self._address.server.user or os.environ.get("PGUSER") or None

    def exists(self) -> bool:
        """Whether the ledger is there. Raises `LedgerError` for a server that doesn't answer."""
        with self._transaction(_READ) as connection:
            return self._is_there(connection)

    @contextmanager
    def reading(self, *, whole: bool = False) -> Iterator[Log]:
        """A consistent view of the ledger in which nothing can be written.

        With `whole` all of it is verified, though this process may have done so before.
        """
        with self._transaction(_READ) as connection:
            log = self._log(connection, whole=whole)
            try:
                yield log
            finally:
                verified.let_go(self.place, log)

    @contextmanager
    def writing(self, *, create: bool) -> Iterator[Log]:
        """A transaction that is durable once the block has been left without an exception.

        What was read inside still holds at the commit: the lock was taken before.
        """
        with self._transaction(_WRITE, lock=True) as connection:
            if create and not self._is_there(connection):
                self._make(connection)
                first = ledger_content(uuid.uuid4().hex)
                Log(connection, []).append("ledger", self._now(), first)
            log = self._log(connection)
            try:
                yield log
            except BaseException:
                verified.let_go(self.place, log)
                raise
        verified.keep(self.place, log)

    def restore(self, fill: Callable[[Connection], None]) -> None:
        """Make the ledger with what `fill` writes; where that raises, there is none.

        Raises `LedgerError` where there is one already, and where this process has seen more of the
        same ledger there.
        """
        with self._transaction(_WRITE, lock=True) as connection:
            if self._is_there(connection):
                raise self._error(
                    "the name of a ledger that is not there yet",
                    "A ledger is imported whole, into a new one: name another schema.",
                )
            self._make(connection)
            fill(connection)
            verified.require_seen(self.place, connection, self._error)

    def faults(self) -> list[LedgerFault]:
        """Everything that is wrong with the tables and the chain, instead of the first of it.

        Raises `LedgerError` for a schema that can't be read as a ledger of this version.
        """
        with self._transaction(_READ) as connection:
            self._require_version(connection)
            wrong = list(structure_faults(connection, self._address.schema))
            if any(fault.place.startswith("table") for fault in wrong):
                return wrong  # the entries may be anywhere
            rows = schema.rows_of(connection)
            wrong += chain_faults(rows)
            return wrong or verified.faults(self.place, rows)

    def _is_there(self, connection: Connection) -> bool:
        table = f'"{self._address.schema}".meta'
        return connection.exec_driver_sql("SELECT to_regclass(%s)", (table,)).scalar() is not None

    def _require_there(self, connection: Connection) -> None:
        if not self._is_there(connection):
            raise self._error(
                "a ledger; there is none in this schema, or it may not be read",
                "The first release of a study makes one.",
            )

    def _require_version(self, connection: Connection) -> None:
        self._require_there(connection)
        version = schema.version_of(connection, self.place, there=True)
        if version != schema.VERSION:  # the older ones were files
            raise self.damaged(f"it says that it is of version {version}")

    def _make(self, connection: Connection) -> None:
        name = self._address.schema
        there = connection.exec_driver_sql("SELECT to_regnamespace(%s)", (f'"{name}"',)).scalar()
        if there is None:
            connection.exec_driver_sql(f'CREATE SCHEMA "{name}"')
        else:  # an administrator has made it, perhaps for a role of several curators
            owner = connection.exec_driver_sql(_OWNER, (name,)).scalar()
            if owner is not None:
                connection.exec_driver_sql(f"SET LOCAL ROLE {owner}")
        schema.create(connection, f'"{name}".')

    def _log(self, connection: Connection, *, whole: bool = False) -> Log:
        """All entries, after a look at what is around them."""
        self._require_version(connection)
        try:
            for fault in structure_faults(connection, self._address.schema):
                raise ValueError(fault.words())
            return verified.read(connection, self.place, whole=whole)
        except LedgerError:
            raise
        except (ValueError, TypeError) as error:
            raise self.damaged(str(error)) from error

    @contextmanager
    def _transaction(self, begin: str, *, lock: bool = False) -> Iterator[Connection]:
        with self._guard(), self._engine.connect() as connection:
            connection = connection.execution_options(ledger_begin=begin, ledger_lock=lock)
            with connection.begin():
                yield connection

    @cached_property
    def _engine(self) -> Engine:
        """What makes connections. None is kept open, so that it may be shared after a fork."""

        def connect() -> Any:
            import psycopg

            arguments: dict[str, Any] = dict(self._address.arguments())
            try:
                # autocommit: the transaction is begun below, in the words of this module.
                return psycopg.connect(
                    **arguments,
                    autocommit=True,
                    connect_timeout=CONNECT_SECONDS,
                    client_encoding="UTF8",
                    application_name="bayesdp",
                )
            except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
                raise self._unreachable(str(error)) from None

        def prepare(connection: Any, _record: object) -> None:
            wait = max(1, round(self._busy_seconds * 1000))
            # A commit that was answered is on the disk, whatever the server's own setting is.
            connection.execute(
                f"SET lock_timeout = {wait}; SET synchronous_commit = on; "
                f'SET search_path TO "{self._address.schema}", pg_temp'
            )

        def started(connection: Connection) -> None:
            options = connection.get_execution_options()
            if options["ledger_lock"]:
                # Before the transaction: its view of the ledger begins after the wait.
                key = lock_key(self._address.schema)
                connection.exec_driver_sql(f"SELECT pg_advisory_lock({key})")
            connection.exec_driver_sql(options["ledger_begin"])

        engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
        event.listen(engine, "connect", prepare, insert=True)
        event.listen(engine, "begin", started)
        return engine

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._explained(error) from None

    def _explained(self, error: DBAPIError) -> LedgerError:
        code = str(getattr(error.orig, "sqlstate", None) or "")
        words = " ".join(str(error.orig).split())[:200]
        if code == "55P03":
            return self._error(
                f"a ledger that is free; another process has held it for {self._busy_seconds:g} s",
                "Wait for that process or end it, then try again.",
            )
        if code in ("40001", "40P01", "23505"):
            return self._error(
                "a ledger that nobody else changes meanwhile", "Nothing was written: try again."
            )
        if code.startswith("53"):
            return self._error(
                f"a server that takes what is written ({words})", "Make room and try again."
            )
        if code in ("42501", "25006"):
            return self._error(f"a ledger that this user may use so ({words})", self._right(words))
        if code == REFUSED:
            message = error.orig.diag  # type: ignore[union-attr]  # psycopg's own error, which has one
            return self._error(str(message.message_primary), str(message.message_hint))
        if code.startswith(_LOST) or not code:
            return self._error(
                f"a connection that holds ({words})",
                "Whether the last entry was written can't be told from here: `bayesdp ledger show` "
                "says so. A debit that was written is spent.",
            )
        return self.damaged(words)

    def _right(self, words: str) -> str:
        """Who gives the right that a login lacks; `words` are the server's."""
        name = self._address.schema
        if "for database" in words:
            return (
                "There is no ledger yet, and this login may not make one. Let an administrator of "
                f'the database make its schema: CREATE SCHEMA "{name}" AUTHORIZATION the login of '
                "the curator, who then registers a study."
            )
        if words.startswith("permission denied"):
            return (
                "Let the curator make this login an analyst, with what `bayesdp ledger grants "
                "LOGIN` prints, or an administrator make it a curator."
            )
        return "Allow it: a budget that can't be debited can't be spent."

    def _unreachable(self, words: str) -> LedgerError:
        return self._error(
            f"a server that can be reached ({' '.join(words.split())[:300]})",
            "Check the address, the user and the password, which comes from the environment.",
        )

    def damaged(self, problem: str) -> LedgerError:
        """The error for content that no ledger writes."""
        return damaged(self.place, problem)

    def _error(self, expected: str, remedy: str) -> LedgerError:
        return LedgerError("ledger", self.place, expected=expected, remedy=remedy)


_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL SERIALIZABLE"


def lock_key(name: str) -> int:
    """The advisory lock of the schema of this name: a whole number of 64 bits with its sign."""
    digest = hashlib.sha256(f"bayesdp-ledger {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


_OWNER = """
SELECT quote_ident(pg_get_userbyid(nspowner)) FROM pg_namespace
  WHERE nspname = %s AND pg_has_role(session_user, nspowner, 'MEMBER')
    AND nspowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
"""
"""The owner of a schema, where the login is a member of that role and is another."""
_COLUMNS = {
    table: [
        (words.split()[0], {"TEXT": "text", "INTEGER": "integer"}[words.split()[1]])
        for words in text.strip("()").split(", ")
    ]
    for table, text in schema.DEFINITIONS.items()
}
"""The columns of each table with their types, in their order: none may be null."""
_CONSTRAINTS = {
    ("meta", "PRIMARY KEY (key)"),
    ("entries", "PRIMARY KEY (sequence)"),
    ("entries", "UNIQUE (previous)"),
    ("entries", "UNIQUE (hash)"),
    ("results", "PRIMARY KEY (entry)"),
}
_THINGS = """
WITH ours AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = %s)
SELECT 'relation', relname, relkind::text, '' FROM ours WHERE NOT (relkind = 'i' AND EXISTS (
    SELECT FROM pg_constraint k WHERE k.conindid = ours.oid))
UNION ALL SELECT 'odd', relname, '', '' FROM ours WHERE relkind = 'r' AND (relpersistence <> 'p'
    OR relispartition OR relhasrules OR relrowsecurity OR relhassubclass)
UNION ALL (SELECT 'column', relname, attname, format_type(atttypid, atttypmod)
    || CASE WHEN attnotnull AND NOT atthasdef THEN '' ELSE ' odd' END
    FROM ours JOIN pg_attribute a ON a.attrelid = ours.oid
    WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped ORDER BY relname, attnum)
UNION ALL SELECT 'constraint', relname, pg_get_constraintdef(k.oid), ''
    FROM ours JOIN pg_constraint k ON k.conrelid = ours.oid WHERE contype NOT IN ('n', 't')
"""
"""Everything in a schema but triggers, in one answer: kind, relation, and what more there is."""
_KINDS = {"r": "table", "v": "view", "m": "view", "i": "index", "S": "sequence", "p": "table"}


def structure_faults(connection: Connection, name: str) -> Iterator[LedgerFault]:
    """What the schema of this `name` has beside a ledger's tables, or in the place of one."""
    things: dict[str, list[tuple[str, ...]]] = {}
    for kind, *thing in connection.exec_driver_sql(_THINGS, (name,)):
        things.setdefault(kind, []).append(tuple(thing))
    faults, indexes = rule_faults(connection, name)
    missing = dict(_COLUMNS)
    odd = {relation for relation, *_ in things.get("odd", ())}
    for relation, kind, _ in sorted(things.get("relation", ())):
        if kind == "i" and relation in indexes:
            continue
        columns = missing.pop(relation, None) if kind == "r" else None
        written = [(n, t) for table, n, t in things.get("column", ()) if table == relation]
        if columns is None:
            word = _KINDS.get(kind, "relation")
            yield LedgerFault(f"{word} {relation}", "a ledger has none: remove it")
        elif relation in odd or written != columns:
            yield LedgerFault(f"table {relation}", "it is not as a ledger makes it")
    for relation in missing:
        yield LedgerFault(f"table {relation}", "it is not there")
    constraints = {(relation, text) for relation, text, _ in things.get("constraint", ())}
    for relation, text in sorted(constraints ^ _CONSTRAINTS):
        yield LedgerFault(f"table {relation}", f"its constraints are other ones: {text}")
    yield from faults


__all__ = ["LedgerServer", "lock_key", "structure_faults"]
