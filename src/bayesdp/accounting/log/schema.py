"""The ledger's tables, and the entries in them. Nothing here knows which database it is.

There is one table of `entries`, which only grows: no statement of the ledger ever updates or
deletes what is written. The texts of results, which may be long, stand in a table of their own;
the entry of a result has the SHA-256 of its text. `meta` says which format this is, so that other
versions of bayesdp can say so too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, inspect, select

from bayesdp.accounting.log.entries import (
    Entry,
    EntryKind,
    EntryRow,
    UndecodedError,
    chain_faults,
    entry_in,
    following,
)
from bayesdp.errors import InputError, LedgerError

FORMAT = "bayesdp-ledger"
VERSION = "3"
MIGRATED = "2"
"""The version that is brought up to this one where it is met."""

metadata = MetaData()
meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
entries = Table(
    "entries",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("release", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)
results = Table(
    "results",
    metadata,
    Column("entry", Integer, primary_key=True),
    Column("result", Text, nullable=False),
)

DEFINITIONS = {
    "meta": "(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    "entries": (
        "(sequence INTEGER NOT NULL PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, "
        "release TEXT NOT NULL, time TEXT NOT NULL, content TEXT NOT NULL, "
        "previous TEXT NOT NULL UNIQUE, hash TEXT NOT NULL UNIQUE)"
    ),
    "results": "(entry INTEGER NOT NULL PRIMARY KEY, result TEXT NOT NULL)",
}
"""The tables as both databases are told to make them, and as they must still be."""


def definition(table: str, schema: str = "") -> str:
    """The statement that makes a `table`; `schema` is a quoted name with its point, or empty."""
    return f"CREATE TABLE {schema}{table} {DEFINITIONS[table]}"


def create(connection: Connection, schema: str = "") -> None:
    """Make the tables of a ledger, without entries; `schema` as in `definition`."""
    for table in DEFINITIONS:
        connection.exec_driver_sql(definition(table, schema))
    rows = [{"key": "format", "value": FORMAT}, {"key": "version", "value": VERSION}]
    connection.execute(meta.insert(), rows)


def version_of(connection: Connection, where: str, *, there: bool | None = None) -> str:
    """The version of a ledger: this one, or the one that is brought up to it.

    Raises `LedgerError` for a database that is not a ledger, or is of another version; `where`
    names it in the message, and `there` says whether it has the table `meta`, if that is known.
    """
    meta_values: dict[str, str] = {}
    if inspect(connection).has_table("meta") if there is None else there:
        meta_values = {str(key): str(value) for key, value in connection.execute(select(meta))}
    if meta_values.get("format") != FORMAT:
        raise LedgerError(
            "ledger",
            where,
            expected="a bayesdp ledger; this database is something else",
            remedy="Name the ledger's own file, or one that doesn't exist yet.",
        )
    version = meta_values.get("version", "")
    if version not in (VERSION, MIGRATED):
        raise LedgerError(
            "ledger",
            where,
            expected=f"a ledger of version {VERSION}; this one has {meta_values.get('version')!r}",
            remedy="Use the version of bayesdp that wrote it. Nothing was changed.",
        )
    return version


@dataclass
class Log:
    """The entries of a ledger in one transaction.

    In a transaction that writes, `append` and `append_result` add to them. `texts` are the results
    by the number of their entry, where the entries are in memory only, else `None`. `known` is what
    `verified` remembers of the ledger, while the transaction lasts.
    """

    connection: Connection
    entries: list[Entry]
    texts: Mapping[int, str] | None = None
    known: Any = None

    @property
    def head(self) -> Entry:
        """The last entry, whose hash stands for all."""
        return self.entries[-1]

    def append(
        self, kind: EntryKind, time: str, content: str, *, dataset: str = "", release: str = ""
    ) -> Entry:
        """Write the next entry of this `kind`; its `time`, `content` and so on as in `Entry`.

        Raises `InputError` for names that could not be read again.
        """
        _require_letters(dataset, content)
        last = self.entries[-1] if self.entries else None
        entry = following(last, kind, dataset=dataset, release=release, time=time, content=content)
        insert(self.connection, [entry])
        self.entries.append(entry)
        return entry

    def append_result(self, time: str, text: str, *, dataset: str, release: str) -> Entry:
        """Write the `text` of a result of a `release` of a `dataset`, and its entry at `time`."""
        content = result_content(text)
        entry = self.append("result", time, content, dataset=dataset, release=release)
        self.connection.execute(results.insert(), {"entry": entry.sequence, "result": text})
        return entry

    def result(self, entry: Entry) -> str:
        """The text of a result's entry. Raises `UndecodedError` where it is another."""
        if self.texts is not None:
            text = self.texts.get(entry.sequence)
        else:
            query = select(results.c.result).where(results.c.entry == entry.sequence)
            text = self.connection.scalar(query)
        if not isinstance(text, str) or result_content(text) != entry.content:
            raise UndecodedError(f"entry {entry.sequence}: the text of its result is another")
        return text


_SURROGATE = re.compile(r"\\ud[89a-f]")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""Where content, which is JSON in ASCII, may have half a letter, or has NUL."""


def _require_letters(dataset: str, content: str) -> None:
    """Raises `InputError` for a text that no reader, or no server, takes.

    A ledger with it would be damaged for everybody, and for good.
    """
    texts = (
        json.dumps(json.loads(content), ensure_ascii=False) if _SURROGATE.search(content) else ""
    )
    try:
        f"{dataset}{texts}".encode()
    except UnicodeEncodeError:
        odd = "half a letter (a surrogate)"
    else:
        if "\0" not in dataset and not _NUL.search(content):
            return
        odd = "a NUL character"
    raise InputError(
        "an entry of the ledger",
        expected=f"names of data sets, columns, queries, studies and analysts without {odd}",
        remedy="Give it another name. Nothing was written.",
        shown=False,
    )


def result_content(text: str) -> str:
    """What the entry of a result says of its text: the SHA-256 in hex, as JSON."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f'{{"sha256":"{digest}"}}'


FIELDS = tuple(entries.c[name] for name in Entry.__slots__)


def rows_of(connection: Connection, first: int | None = None) -> Sequence[EntryRow]:
    """The rows of all entries, in the order of their numbers and as they stand there.

    With a `first` number only those from there on.
    """
    query = select(*FIELDS).order_by(entries.c.sequence)
    if first is not None:
        query = query.where(entries.c.sequence >= first)
    return connection.execute(query).all()


def read(connection: Connection) -> Log:
    """All entries, whose chain holds. Raises `ValueError` naming the first fault."""
    rows = rows_of(connection)
    for fault in chain_faults(rows):
        raise ValueError(fault.words())
    return Log(connection, [entry_in(row) for row in rows])


def insert(
    connection: Connection, new: Sequence[Entry], texts: Mapping[int, str] | None = None
) -> None:
    """Write `new` entries as they are, and the `texts` of results by the number of their entry.

    `connection` is in a transaction of the ledger.
    """
    rows = [{name: getattr(entry, name) for name in Entry.__slots__} for entry in new]
    connection.execute(entries.insert(), rows)
    if texts:
        written = [{"entry": number, "result": text} for number, text in texts.items()]
        connection.execute(results.insert(), written)
