"""Whole columns of a table, read as the study declares them, for programs.

Values are those that sums read: imputed where that is declared, then clipped to the study's bounds.
They are private. `sums.run` has to check the table against its declaration first; a cell of a
column that is not declared may still be NULL here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bayesdp.statements.conditions import Reads
from bayesdp.tables.cells import reading
from bayesdp.tables.checks.record_rows import RowOrder
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.source import Table

Wanted = Literal["number", "text", "truth"]


UNIT, PLACE = "the unit", "the place"
"""Columns of rows that are read with their record: its key, and a row's place in it, from 0."""


def read_columns(
    table: Table,
    columns: Mapping[str, Column],
    wanted: Mapping[str, tuple[str, Wanted]],
    records: Structure | None = None,
    numbers: str | None = None,
) -> Any:
    """The wanted columns as an Arrow table.

    `wanted` maps each column of the result to a declared column and its type. Where a record is
    several rows, `records` says which; `UNIT` and `PLACE` are columns then. `numbers` is a column
    that numbers the rows, and so is none of a record's own cells: no order depends on it. Raises
    `TableError` where a column is missing or of another type.
    """
    expressions = {}
    for name, (column, kind) in wanted.items():
        value: Any = reading.read(table, columns, column, _reads(table, kind)).value
        if kind == "truth" and value.type().is_numeric():
            value = value.cast("int64")
        elif kind == "text" and not value.type().is_string():
            value = value.cast("string")
        expressions[name] = value
    if records is None:
        return table.arrow(table.expression.select(**expressions))
    own = {name: column for name, column in columns.items() if name != numbers}
    order = RowOrder(table, own, records)
    names = {name: f"value{i}_" for i, name in enumerate(expressions)}
    values = {names[name]: value for name, value in expressions.items()}
    placed = order.with_order(table.expression.select(**values, **order.cells()))
    arrays = {name: placed[place] for name, place in names.items()}
    return table.arrow(placed.select(**arrays, **{UNIT: placed.unit_, PLACE: placed.place_}))


def _reads(table: Table, kind: Wanted) -> Reads | None:
    """How cells of a column that is not declared are read."""
    if kind == "truth":
        return "boolean" if table.text_cells else None
    return kind
