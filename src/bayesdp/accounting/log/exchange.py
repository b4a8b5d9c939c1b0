"""Ledgers as JSON lines: an entry a line, to keep, to read elsewhere, and to restore.

A line has the fields of its entry; `content` is an object, and `result` the text of a result's
entry. Nothing is left out, so that the chain of the lines is that of the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.log.contents import decoded
from bayesdp.accounting.log.entries import Entry, LedgerFault, chain_faults, entry_in
from bayesdp.accounting.log.schema import Log, result_content
from bayesdp.errors import InputError
from bayesdp.strict_json import each_key_once, no_number

FIELDS = Entry.__slots__
LONGEST_LINE = 100_000_000
"""The most letters of a line: no result is as long."""


def lines_of(log: Log) -> Iterator[str]:
    """A line for each entry, in their order. Raises `UndecodedError` for a text that is another."""
    for entry in log.entries:
        plain: dict[str, Any] = {name: getattr(entry, name) for name in FIELDS}
        plain["content"] = decoded(json.loads, entry.content)
        if entry.kind == "result":
            plain["result"] = log.result(entry)
        yield decoded(_as_line, plain)


def _as_line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=True, allow_nan=False)


def entries_of(lines: Iterable[str]) -> tuple[list[Entry], dict[int, str]]:
    """The entries that lines hold, and the texts of results by the number of their entry.

    Raises `InputError` naming the first line that is not an entry, and the first fault of the
    chain. What entries say is not looked at here.
    """
    entries, texts = list[Entry](), dict[int, str]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry, text = _entry_of(line, f"line {number}")
        entries.append(entry)
        if text is not None:
            texts[entry.sequence] = text
    rows = [[getattr(entry, name) for name in FIELDS] for entry in entries]
    for fault in chain_faults(rows):
        raise not_an_export(fault)
    return entries, texts


def limited(file: TextIO) -> Iterator[str]:
    """The lines of a file, of which none is read that is longer than any ledger writes."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line


def not_an_export(fault: LedgerFault) -> InputError:
    """The error for lines that have this fault."""
    return _wrong(fault.place, f"an export as it was written ({fault.problem})")


def _entry_of(line: str, place: str) -> tuple[Entry, str | None]:
    """The entry of a line, and the text of its result. Raises `InputError` at its `place`."""
    if len(line) > LONGEST_LINE:
        raise _wrong(place, f"at most {LONGEST_LINE} letters")
    try:
        plain = json.loads(line, object_pairs_hook=each_key_once, parse_constant=no_number)
        content = canonical_json(plain["content"])
        fields = [content if name == "content" else plain[name] for name in FIELDS]
        text = plain.get("result")
        expected_fields = {*FIELDS, "result"} if plain["kind"] == "result" else set(FIELDS)
        types = [int, *[str] * (len(FIELDS) - 1)]
        if set(plain) != expected_fields or [type(item) for item in fields] != types:
            raise ValueError("other fields than an entry has")
        "".join([*fields[1:], text or ""]).encode()  # a ValueError for half a letter
        if text is not None and result_content(text) != content:
            raise ValueError("the text of its result is another")
        return entry_in(fields), text
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _wrong(place, f"an entry of a ledger as JSON ({str(error)[:200]})") from None


def _wrong(place: str, expected: str) -> InputError:
    return InputError(
        place,
        expected=expected,
        remedy="Import what `bayesdp ledger export` wrote, unchanged. Nothing was imported.",
        shown=False,
    )
