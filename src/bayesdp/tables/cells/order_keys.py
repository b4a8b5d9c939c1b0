"""What places the records of a series: the order column as a number, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from bayesdp.tables.cells.stored import raw_cells
from bayesdp.tables.cells.text_numbers import number_of
from bayesdp.tables.cells.times import has_offset, time_of, wrong_step
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import Finding, counted
from bayesdp.tables.source import Table

STEP_TOLERANCE = 1e-6
"""How far an order key may be off its place, in steps."""
_MOST_STEPS = 2.0**53  # from 0 to an order key: beyond, doubles don't tell steps apart


def order_key(table: Table, column: Column) -> Any:
    """The order column as a double: the number itself, or microseconds or periods of a time.

    NULL where it can't be read, or is so large that doubles don't tell the steps apart.
    """
    import ibis

    raw: Any = raw_cells(table, column)
    if (step := column.time_step) is not None:
        time = time_of(table, raw, column)
        number = time.epoch_seconds().cast("float64") * 1e6
        if step.periods:
            inside = ((time.month() - 1) * step.in_a_year / 12).floor()
            number = (time.year() * step.in_a_year + inside).cast("float64")
    elif table.text_cells:
        number = number_of(table.csv, raw.strip())
    elif column.name in table.hollow or (
        raw.type().is_numeric() and column.name not in table.durations
    ):
        number = raw.cast("float64")
    else:
        raise wrong_step(table, raw, column)
    exact = (number / literal(order_step(column))).abs() < _MOST_STEPS
    return ibis.cases((exact & ~number.isnan(), number))


def stored_ends(table: Table, column: Column) -> tuple[float, float] | None:
    """The least and the greatest order key of stored numbers; `None` where each cell must be read.

    The engine knows the ends of a file's columns without reading it. Numbers between two that have
    an order key have one too.
    """
    raw: Any = raw_cells(table, column)
    kind = raw.type()
    if column.time_step is not None or not (kind.is_integer() or kind.is_floating()):
        return None
    if column.name in table.durations:
        return None
    first, last = table.numbers(table.expression, raw.min(), raw.max())
    ends = float("nan" if first is None else first), float("nan" if last is None else last)
    exact = all(abs(end / order_step(column)) < _MOST_STEPS for end in ends)
    return ends if exact else None


def order_step(column: Column) -> float:
    """The declared step, in the unit of the order key."""
    if (step := column.time_step) is not None:
        return float(step.periods or step.seconds * 1e6)
    return float(column.step or 1)


def offset_findings(table: Table, column: Column) -> list[Finding]:
    """Times with an offset from UTC, beside times without: their order is not known."""
    raw: Any = raw_cells(table, column)
    if column.format is not None or not raw.type().is_string():
        return []
    cells = raw.name("cells").as_table()
    with_offset = has_offset(cells.cells)
    is_time = time_of(table, cells.cells, column).notnull()
    offset, plain = table.numbers(
        cells, cells.count(where=with_offset), cells.count(where=is_time & ~with_offset)
    )
    if not offset or not plain:
        return []
    message = (
        f"Column '{column.name}': {counted(offset, 'time')} with an offset from UTC beside "
        f"{plain} without. Write all with an offset, or none."
    )
    return [Finding("mixed-offsets", message)]


def holds_dates(table: Table, column: Column) -> bool:
    """Whether the step of an order column is a number, and its cells are dates."""
    if column.is_dated or not table.text_cells:
        return False
    cells: Any = table.require(column.name, f"data.columns.{column.name}").strip()
    kept = cells.name("cells").as_table()
    dated = kept.cells.try_cast("timestamp").notnull() & number_of(table.csv, kept.cells).isnull()
    return bool(table.numbers(kept, kept.count(where=dated))[0])
