"""Entries of a ledger: what may only be added to, each chained to the one before it.

An entry's hash is the SHA-256 of everything it says and of the hash of the entry before it. So an
entry that is changed, left out, moved or put in later no longer fits, and the last hash, the
*head*, stands for the whole history. Nothing here is secret: whoever can write the ledger can
write another history and chain it anew. Heads that others keep (each certificate has that of its
debit) are what tells the two apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

EntryKind = Literal[
    "ledger",
    "dataset",
    "columns",
    "reading",
    "release",
    "result",
    "refusal",
    "share",
    "frozen",
    "people",
]
"""What an entry is about: the ledger itself (its first entry), a data set and its protected unit,
columns that studies have declared, a reading with its total, a debit, the result of a debit, a
refused attempt, the share of an analyst, a data set that is frozen or no longer is, the people that
a data set shares with others."""

START = ""
"""What the first entry has in the place of a hash before it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `content` is canonical JSON, `time` in ISO 8601.

    `dataset` and `release` are empty where the entry is about none. `previous` is the hash of the
    entry before, empty for the first, and `hash` its own.
    """

    sequence: int
    kind: str
    dataset: str
    release: str
    time: str
    content: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """The number and the hash of an entry, as certificates carry them."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """What is wrong with a ledger, and where: an entry, a table or a certificate."""

    place: str
    problem: str

    def words(self) -> str:
        """Both in one line."""
        return f"{self.place}: {self.problem}"

    def to_dict(self) -> dict[str, str]:
        """Plain data, as `bayesdp ledger verify --json` prints it."""
        return {"place": self.place, "problem": self.problem}


class UndecodedError(Exception):
    """An entry, or the text of a result, that no ledger has written, though the chain holds."""


def hash_of(parts: Sequence[object]) -> str:
    """The hash of an entry: of all its `parts` but that hash, in the order of `Entry`.

    Raises `TypeError` for parts that aren't texts and numbers: no ledger has written those.
    """
    text = json.dumps(list(parts), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def following(
    last: Entry | None,
    kind: EntryKind,
    *,
    dataset: str = "",
    release: str = "",
    time: str,
    content: str,
) -> Entry:
    """The entry of this `kind` that follows the `last` one, or the first of a ledger.

    `dataset` and `release` are what it is about, `time` when, `content` what it says.
    """
    sequence, previous = (1, START) if last is None else (last.sequence + 1, last.hash)
    parts = (sequence, kind, dataset, release, time, content, previous)
    return Entry(*parts, hash=hash_of(parts))


EntryRow = Sequence[object]
"""The fields of an entry in their order, as a table or a file has them: of any type."""


def entry_in(row: EntryRow) -> Entry:
    """The entry in a row whose fields were looked at: a number, and texts."""
    return Entry(*row)  # type: ignore[arg-type]  # `chain_faults` has none to tell of other types


def chain_faults(rows: Iterable[EntryRow], last: Entry | None = None) -> Iterator[LedgerFault]:
    """Where the chain of all entries, in the order of their numbers, is broken.

    With a `last` one, that of the entries which follow it. After a break the check goes on from
    what stands there, so that each fault is named once.
    """
    number, previous = (0, START) if last is None else (last.sequence, last.hash)
    for row in rows:
        sequence, own = row[0], row[-1]
        if type(sequence) is not int:
            yield LedgerFault(f"entry after {number}", "it has no number")
            continue
        place = f"entry {sequence}"
        if sequence <= number:
            yield LedgerFault(place, "an entry of this number or a later one stands before it")
        elif sequence > number + 1:
            yield LedgerFault(_missing(number + 1, sequence), "it is not there")
        elif row[-2] != previous:
            yield LedgerFault(place, "it doesn't follow from the entry before it")
        if _hash_or_none(row) != own:
            yield LedgerFault(place, "it is not what was written: its hash doesn't fit")
        number, previous = sequence, str(own)
    if number == 0:
        yield LedgerFault("entry 1", "it is not there")


def _missing(first: int, after: int) -> str:
    return f"entry {first}" if after == first + 1 else f"entries {first} to {after - 1}"


def _hash_or_none(row: EntryRow) -> str | None:
    """The hash that a row must have; `None` where its fields aren't those of an entry."""
    if not all(isinstance(field, str) for field in row[1:]):
        return None
    return hash_of(row[:-1])
