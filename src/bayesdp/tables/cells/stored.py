"""Cells as a table stores them: what is missing, what tells records apart, wrong types."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from bayesdp.errors import TableError
from bayesdp.tables.columns.column import Column
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table


@dataclass(frozen=True)
class StoredCells:
    """A column before imputation: its typed value, where it is missing, where it can't be read.

    `texts` are the cells as codes of missing values are compared with them; as they are stored if
    it is `None`. `fault` is the code of what can't be read, if it isn't that of the column's kind.
    """

    value: Any
    missing: Any
    unreadable: Any | None
    may_be_infinite: bool = False
    texts: Any | None = None
    fault: str = ""


def raw_cells(table: Table, column: Column) -> Any:
    """The cells that a declared column is read from: several joined by a space, if it says so.

    Raises `TableError` where the table has no such column.
    """
    key = f"data.columns.{column.name}"
    if column.parts is None:
        return table.require(column.name, key)
    texts = [table.require(part, f"{key}.from").cast("string").strip() for part in column.parts]
    joined = texts[0]
    for text in texts[1:]:
        joined = joined + " " + text
    return joined.name(column.name)


def wrong_type(table: Table, raw: Any, error: TableError) -> TableError | UnreadableCellsError:
    """The `error`, for everybody; for the curator only where the type of `raw` depends on cells."""
    if raw.get_name() not in table.inferred:
        return error
    return UnreadableCellsError("wrong-type", str(error))


def type_words(kind: Any) -> str:
    """The type's name for people, without the names of fields within it."""
    if kind.is_unknown() and kind.raw_type:
        return str(kind.raw_type)
    plain = kind.is_primitive() or kind.is_decimal() or kind.is_string() or kind.is_temporal()
    return str(kind) if plain else type(kind).__name__.lower()


SPACES = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""White space in Unicode, and characters of no width: spreadsheets and web pages add both."""


def key_of(raw: Any) -> Any:
    """The cells of a column that tells records, clusters or series apart, as an expression.

    `SPACES` around a text are not part of it: a household must not fall into two because of them.
    """
    import ibis

    if not raw.type().is_string():
        return raw
    # Few texts have any, and to trim one takes several times as long as to look at its ends.
    at_an_end = raw.re_search(f"^[{SPACES}]|[{SPACES}]$")
    return ibis.cases((at_an_end, _trim()(raw, SPACES)), else_=raw)


@cache
def _trim() -> Any:
    """The engine's function that trims a text by these characters."""
    import ibis

    @ibis.udf.scalar.builtin(name="trim", signature=(("string", "string"), "string"))
    def trim(text, characters):  # type: ignore[no-untyped-def]  # the engine's own function
        """Text without these characters at its ends."""

    return trim


NOT_AVAILABLE = "NA"
"""What stands for a missing cell in files that have only texts, beside nothing at all."""


def missing_texts(states: Collection[object] | None = None) -> tuple[str, ...]:
    """The texts of cells that are missing: the empty one, and `NA` unless it is one of `states`."""
    return ("",) if NOT_AVAILABLE in (states or ()) else ("", NOT_AVAILABLE)


def is_missing(table: Table, raw: Any, states: Collection[object] | None = None) -> Any:
    """Whether a cell of `raw`, a column of the `table` with these `states`, is missing.

    The answer is an expression. A text that is one of the `states` is not missing.
    """
    if not table.text_cells:
        return raw.isnull()
    return raw.isnull() | raw.strip().isin(missing_texts(states))
