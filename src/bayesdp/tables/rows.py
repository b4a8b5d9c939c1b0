"""Whole columns of a table, read as the study declares them, for programs.

Values are those that sums read: imputed where that is declared, then clipped to the study's bounds.
They are private. `sums.run` has to check the table against its declaration first; a cell of a
column that is not declared may still be NULL here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bayesdp.statements.conditions import Reads
from bayesdp.tables import reading
from bayesdp.tables.columns import Column
from bayesdp.tables.source import Table

Wanted = Literal["number", "text", "truth"]


def read_columns(
    table: Table, columns: Mapping[str, Column], wanted: Mapping[str, tuple[str, Wanted]]
) -> Any:
    """The wanted columns as an Arrow table.

    `wanted` maps each column of the result to a declared column and its type. Raises `TableError`
    where a column is missing or of another type.
    """
    chosen = {}
    for name, (column, kind) in wanted.items():
        value: Any = reading.read(table, columns, column, _reads(table, kind)).value
        if kind == "truth" and value.type().is_numeric():
            value = value.cast("int64")
        elif kind == "text" and not value.type().is_string():
            value = value.cast("string")
        chosen[name] = value
    query = table.expression.select(**chosen)
    return table.arrow(query)


def _reads(table: Table, kind: Wanted) -> Reads | None:
    """How cells of a column that is not declared are read."""
    if kind == "truth":
        return "boolean" if table.text_cells else None
    return kind
