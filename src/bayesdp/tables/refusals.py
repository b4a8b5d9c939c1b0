"""Refusals of tables that can't be used: what everybody learns, and what only the curator learns.

A refusal that depends on what the cells hold is private. A release raises `mismatch()`, with the
same words whatever was found; `UnreadableCellsError` says no more, and carries a `Finding` for the
curator. An error of the data engine is never passed on: its text may quote cells. The errors here
are raised outside of the handlers, so that no traceback leads to the engine's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bayesdp.errors import TableError, TableMismatchError

T = TypeVar("T")

BY_COMMAND = "run 'bayesdp check STUDY --data'"
"""How the curator sees the findings, for a study in a file."""
BY_CALL = "call study.inspect()"
"""How the curator sees the findings, for a study that was made in Python, without a file."""

_WORDS = (
    "The table is not as the study declares it: nothing was released and nothing was spent. "
    "What was found depends on private values and is told to the curator only: "
    f"{BY_COMMAND}."
)
_LINE = re.compile(r"CSV Error on Line: (\d{1,18})\b")


@dataclass(frozen=True)
class Finding:
    """A difference between table and declaration: a stable code, and words.

    The words hold counts, and names and states that the study declares; no cells.
    """

    code: str
    message: str


class UnreadableCellsError(TableMismatchError):
    """The table has cells that can't be read. The curator may see `finding`, others the message.

    Releases raise `mismatch()` in its place, as its kind tells something about the cells.
    """

    def __init__(self, code: str, message: str) -> None:
        self.finding = Finding(code, message)
        super().__init__(_WORDS)


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun, such as "1 row" or "2 rows"; `plural` where that is not noun + s."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def mismatch() -> TableMismatchError:
    """The refusal that everybody may see: it is the same whatever is wrong with the table."""
    return TableMismatchError(_WORDS)


MOST_COLUMNS = 5000
"""The engine's time grows faster than the number of columns: with 20,000 it took a minute."""


def check_header(names: Sequence[str], description: str) -> None:
    """Refuse too many names, and names that differ in capital letters only.

    The engine takes such names for the same column. Raises `TableError`, which does not repeat the
    names: without a header line they are a record.
    """
    if len(names) > MOST_COLUMNS:
        raise TableError(
            "data.source",
            description,
            expected=f"at most {MOST_COLUMNS} columns, and there are {len(names)}",
            remedy="Keep the columns that the study declares.",
        )
    if len({name.lower() for name in names}) < len(names):
        raise TableError(
            "data.source",
            description,
            expected="names of columns that differ in more than capital letters",
            remedy="Rename columns in the table: the engine takes such names for the same column.",
        )


_INTERRUPTED = "Query interrupted"
"""What DuckDB raises where somebody types Ctrl+C while a query runs."""

Errors = type[Exception] | tuple[type[Exception], ...]
"""The types of what an engine raises; DuckDB's where none are given."""


def engine(action: Callable[[], T], errors: Errors = ()) -> T:
    """Run an action that reads cells. The engine's `errors` become `UnreadableCellsError`.

    Raises `KeyboardInterrupt` where somebody types Ctrl+C meanwhile.
    """
    errors = errors or _errors_of_duckdb()
    try:
        return action()
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise
    except errors as error:
        line = _LINE.search(str(error))
        kind = type(error).__name__
    where = f" at line {line[1]} of a file" if line else ""
    raise UnreadableCellsError(
        "unreadable",
        f"The data engine gave up{where} ({kind}): look for a line with too many or too few "
        "cells, a quote without its pair, line ends of two kinds, a cell above 2 MB, a number "
        "beyond its type, or a damaged file.",
    )


def _errors_of_duckdb() -> Errors:
    import duckdb

    return duckdb.Error


def opening(action: Callable[[], T], key: str, description: str, errors: Errors = ()) -> T:
    """Run an action that reads names and types only.

    The engine's `errors` become a `TableError` at `key`, about the table of this `description`.
    """
    from ibis.common.exceptions import IbisError, TableNotFound

    errors = errors or _errors_of_duckdb()
    refused = errors if isinstance(errors, tuple) else (errors,)
    try:
        return action()
    except (*refused, IbisError, TableNotFound) as error:
        kind = type(error).__name__
    raise TableError(
        key,
        description,
        expected="a table that can be read",
        remedy=f"The data engine gave up with {kind}; look for a damaged file, a broken view, "
        "or another process that holds the file.",
    )
