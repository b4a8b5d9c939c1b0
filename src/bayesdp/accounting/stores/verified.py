"""What this process has verified of its ledgers, so that a transaction reads what came since.

The first transaction of a process verifies the whole chain, and what it has read stays in memory.
Later ones verify that the last entry is still there, and read and verify what follows it. So what
is counted as spent always comes from entries whose chain this process has verified: whoever edits
older ones meanwhile changes nothing of it, and whoever cuts them off or writes them anew is found.
A file that was written to without a new entry is verified whole again, as is each ledger by
`ledger verify` and `ledger export`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from bayesdp.accounting.log import schema
from bayesdp.accounting.log.contents import Book
from bayesdp.accounting.log.entries import Entry, EntryRow, LedgerFault, chain_faults, entry_in
from bayesdp.accounting.log.schema import Log
from bayesdp.errors import LedgerError

MOST_LEDGERS = 8
"""So many ledgers are remembered, those that were used last."""


@dataclass
class Remembered:
    """Entries whose chain was verified, what they say, and the `state` of the file after them."""

    entries: list[Entry]
    book: Book | None
    state: object

    def forgotten(self, there: EntryRow | None) -> LedgerFault | None:
        """That a ledger no longer has the last of these entries; `there` is what it has instead."""
        last = self.entries[-1]
        if there is not None and list(there) == _fields(last):
            return None
        return LedgerFault(
            f"entry {last.sequence}",
            "it is not the one that this process has seen there: the last ones were cut off, "
            "the history was written anew, or an older copy was put back",
        )


_KNOWN: dict[str, Remembered] = {}
"""What is known of ledgers by their places. A transaction takes it away while it lasts."""


def read(
    connection: Connection,
    place: str,
    state: object = None,
    *,
    whole: bool = False,
    require_sound: Callable[[], None] = lambda: None,
) -> Log:
    """The entries of the ledger at this `place`, whose chain holds.

    `connection` is in a transaction, which ends with `keep` or `let_go`. `state` is that of the
    ledger's file, if it has one, `require_sound` a look at all of it before it is read whole, which
    `whole` asks for. Raises `ValueError` naming the first fault.
    """
    known = _KNOWN.pop(place, None)
    try:
        if known is not None and not _is_same(connection, known):
            known = None
        if known is not None and not whole:
            new = _since(connection, known)
            if new is not None and (new or known.state == state):
                known.entries += new
                known.state = state
                return Log(connection, list(known.entries), known=known)
        require_sound()
        log = schema.read(connection)
        if known is not None:
            number = len(known.entries)
            there = log.entries[number - 1] if number <= len(log.entries) else None
            _require(known.forgotten(None if there is None else _fields(there)))
    except BaseException:
        if known is not None:
            _put(place, known)
        raise
    log.known = Remembered(list(log.entries), None if known is None else known.book, state)
    return log


def keep(place: str, log: Log, state: object = None) -> None:
    """Remember what a transaction has read and written, once that is durable.

    `log` is the ledger's at this `place`, and `state` that of its file now.
    """
    known: Remembered | None = log.known
    if known is not None:
        known.entries += log.entries[len(known.entries) :]
        known.state = state
        _put(place, known)


def let_go(place: str, log: Log) -> None:
    """Remember what a transaction has read; what it has written was undone, or may have been."""
    known: Remembered | None = log.known
    if known is not None:
        if known.book is not None and known.book.number > len(known.entries):
            known.book = None  # it was told of entries that are not there
        _put(place, known)


def book_of(log: Log) -> Book:
    """What the entries say, at the beginning of a transaction. Raises `UndecodedError`."""
    known: Remembered | None = log.known
    if known is None:
        return Book(log.entries)
    # Without it, should an entry be one that can't be read.
    book, known.book = known.book or Book(()), None
    book.take_all(log.entries[book.number :])
    known.book = book
    return book


def faults(place: str, rows: Sequence[EntryRow]) -> list[LedgerFault]:
    """What the ledger at this `place`, with these `rows`, no longer has of what was seen there."""
    known = _KNOWN.get(place)
    if known is None or not rows or rows[0][-1] != known.entries[0].hash:
        return []
    number = len(known.entries)
    fault = known.forgotten(rows[number - 1] if number <= len(rows) else None)
    return [] if fault is None else [fault]


def require_seen(
    place: str, connection: Connection, error: Callable[[str, str], LedgerError]
) -> None:
    """Raises `error` where a ledger is put back at this `place` without what was seen there.

    `connection` is in the transaction that writes it. Later debits would be refused, and those that
    it doesn't have would not be counted.
    """
    for fault in faults(place, schema.rows_of(connection)):
        raise error(
            f"everything that this process has seen of this ledger there; {fault.place} is not in "
            "what is put back, and what was spent since would not be counted",
            "Put a later export back. Without one, import this export under another name, hold it "
            "against all certificates (`bayesdp ledger verify --against`), and release nothing "
            "more of the data sets of those that it names.",
        )


def forget() -> None:
    """Remember nothing, as a new process."""
    _KNOWN.clear()


def _put(place: str, known: Remembered) -> None:
    other = _KNOWN.pop(place, None)  # of a thread that was quicker, and may have seen more
    if other is not None and other.entries[0] == known.entries[0]:
        known = max(known, other, key=lambda remembered: len(remembered.entries))
    _KNOWN[place] = known
    while len(_KNOWN) > MOST_LEDGERS:
        _KNOWN.pop(next(iter(_KNOWN)), None)


def _is_same(connection: Connection, known: Remembered) -> bool:
    """Whether the ledger begins with the same entry; else it is another one."""
    first = select(schema.entries.c.hash).where(schema.entries.c.sequence == 1)
    return bool(connection.scalar(first) in (None, known.entries[0].hash))


def _since(connection: Connection, known: Remembered) -> list[Entry] | None:
    """The entries after those that are known; `None` where the last of these isn't there.

    Raises `ValueError` for a fault of theirs.
    """
    last = known.entries[-1]
    rows = schema.rows_of(connection, last.sequence)
    if not rows or known.forgotten(rows[0]) is not None:
        return None
    for fault in chain_faults(rows[1:], last):
        _require(fault)
    return [entry_in(row) for row in rows[1:]]


def _require(fault: LedgerFault | None) -> None:
    if fault is not None:
        raise ValueError(fault.words())


def _fields(entry: Entry) -> list[object]:
    return [getattr(entry, name) for name in Entry.__slots__]
