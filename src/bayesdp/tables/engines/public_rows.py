"""Rows of a public table on their way to an engine that holds the study's own table.

Public names: `MOST_ROWS`, `sendable`.
"""

from __future__ import annotations

from typing import Any

from bayesdp.errors import UnsupportedError

MOST_ROWS = 100_000
"""The most rows that are sent to another engine: each query carries them."""
_KEY = "data.join"


def sendable(data: Any, engine: str) -> Any:
    """The Arrow table `data` in types that every engine has, with equal values.

    Whole numbers are of 64 bits, or decimals where they may not fit; other numbers are doubles or
    decimals; times are of microseconds. `engine` is where they go, for errors. Raises
    `UnsupportedError` for more than `MOST_ROWS` rows, and for columns of other types.
    """
    import pyarrow as pa

    if len(data) > MOST_ROWS:
        raise UnsupportedError(
            _KEY,
            f"{len(data)} rows",
            expected=f"a public table of at most {MOST_ROWS} rows, which are sent to {engine}",
            remedy="Name a view that joins the tables there as data.source.",
        )
    columns = {}
    for field in data.schema:
        kind = _kind(pa, field.type)
        if kind is None:
            raise UnsupportedError(
                f"{_KEY}.columns",
                field.name,
                expected=f"numbers, texts, truth values, dates or times, which {engine} is sent",
                remedy="Leave it out, or store it as one of these.",
            )
        columns[field.name] = data.column(field.name).cast(kind)
    return pa.table(columns)


def _kind(pa: Any, kind: Any) -> Any:
    """The type that a column of this one is sent as; `None` if it can't be."""
    types = pa.types
    if types.is_dictionary(kind):
        return _kind(pa, kind.value_type)
    if types.is_boolean(kind) or types.is_date32(kind) or types.is_decimal128(kind):
        return kind
    if types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if types.is_integer(kind):
        return pa.int64()
    if types.is_floating(kind):
        return pa.float64()
    if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
        return pa.string()
    if types.is_timestamp(kind):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    return None
