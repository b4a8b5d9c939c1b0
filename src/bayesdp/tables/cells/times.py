"""Dates, times and durations as a table stores them, read with the engine's own functions.

Each is NULL for a cell that isn't one. Times with an offset are converted to UTC.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from bayesdp.errors import TableError
from bayesdp.statements.times import SECONDS, Format
from bayesdp.tables.cells.stored import StoredCells, missing_texts, type_words, wrong_type
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table

_DAY = "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"
_TIME = _DAY + r"(?:T| +)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?"
_WITH_OFFSET = f"^({_TIME}) *(?:Z|z|UTC|([+-])(0[0-9]|1[0-5])(?::?([0-5][0-9]))?)$"
"""The time, and of an offset that is not 0 its sign, its hours and its minutes."""
_WITHOUT_OFFSET = f"^(?:{_DAY}|{_TIME})$"
"""Nothing else may stand before, between or after: engines would make something of it."""


def time_of(table: Table, raw: Any, column: Column) -> Any:
    """An order column of dates or times as a timestamp; NULL for a text that is not a time.

    Times with an offset ("2024-07-01T00:30:00+02:00", "... Z") are converted to UTC. A text with
    another zone's name is not a time: its offset is not known here. Raises `TableError` for a
    column of another type.
    """
    kind = raw.type()
    if (form := column.time_format) is not None:
        if not kind.is_string() and not kind.is_integer() and raw.get_name() not in table.hollow:
            raise wrong_type(table, raw, _no_format(column, kind))
        return _formatted(raw.cast("string").strip(), form)
    if kind.is_string():
        # Trimmed as all cells are; without it DuckDB 2.0 moves the cast into its CSV reader, where
        # a failing TRY_CAST is an error.
        return _utc(raw.strip())
    if kind.is_date() or kind.is_timestamp() or raw.get_name() in table.hollow:
        return raw.try_cast("timestamp")
    raise wrong_step(table, raw, column)


def _no_format(column: Column, kind: Any) -> TableError:
    return TableError(
        f"data.columns.{column.name}.format",
        column.format,
        expected=f"no format for a column of type {type_words(kind)}",
        remedy="Formats are those of texts and whole numbers.",
    )


def _formatted(text: Any, form: Format) -> Any:
    """The time that a text of this format says; NULL for other texts and for days that aren't."""
    import ibis

    parts = {
        name: text.re_extract(form.pattern, i + 1).lpad(2, "0")
        if name != "%Y"
        else text.re_extract(form.pattern, i + 1)
        for i, name in enumerate(form.parts)
    }
    if "%q" in parts:
        months = zip(("01", "02", "03", "04"), ("01", "04", "07", "10"), strict=True)
        parts["%m"] = ibis.cases(*((parts["%q"] == quarter, month) for quarter, month in months))
    day = parts["%Y"] + "-" + parts.get("%m", "01") + "-" + parts.get("%d", "01")
    zero = ibis.literal("00")
    clock = parts.get("%H", zero) + ":" + parts.get("%M", zero) + ":" + parts.get("%S", zero)
    standard = day + " " + clock
    return standard.try_cast("timestamp")  # a text of another form has no year here


def has_offset(raw: Any) -> Any:
    """Whether a text is a date and a time of day with an offset from UTC, as an expression."""
    return raw.strip().re_search(_WITH_OFFSET)


def _utc(text: Any) -> Any:
    import ibis

    local = text.re_extract(_WITH_OFFSET, 1).try_cast("timestamp")
    sign = ibis.ifelse(text.re_extract(_WITH_OFFSET, 2) == "-", -1, 1)
    # An expression that is used several times stands in the query as often, so these are short.
    hours, minutes = (
        text.re_extract(_WITH_OFFSET, group).try_cast("int64").fill_null(0) for group in (3, 4)
    )
    shift = sign * (hours * 60 + minutes)
    return ibis.cases(
        (text.re_search(_WITH_OFFSET), local - shift.as_interval("m")),
        (text.re_search(_WITHOUT_OFFSET), text.try_cast("timestamp")),
    )


def wrong_step(table: Table, raw: Any, column: Column) -> TableError | UnreadableCellsError:
    """The error for cells `raw` that don't fit the column's step, or hold no dates where it has."""
    words = "duration" if raw.get_name() in table.durations else type_words(raw.type())
    if column.is_date:
        expected = f"dates or times in {table.description}, or bounds that are numbers"
        key = f"data.columns.{column.name}"
        return wrong_type(table, raw, TableError(key, words, expected=expected))
    return wrong_type(
        table,
        raw,
        TableError(
            f"data.columns.{column.name}.step",
            column.step,
            expected=f"a step for a column of type {words}",
            remedy="A number for numbers, a text such as '1 day' for dates and times.",
        ),
    )


def time_cells(table: Table, raw: Any, column: Column) -> StoredCells:
    """The cells `raw` of a `table`: each time as its standard text, or as a number of days.

    Standard texts sort as the times do. The `column` says which of the two is read.
    """
    import ibis

    missing = raw.isnull()
    if raw.type().is_string():
        missing = missing | raw.strip().isin(missing_texts())
    time = time_of(table, raw, column)
    known = time.year().between(1, 9999).fill_null(False)
    if column.is_date:
        days = time.epoch_seconds().cast("float64") / literal(86400.0)
        return StoredCells(ibis.cases((known, days)), missing, ~missing & ~known)
    # Without the clock at the start of a day, and always without parts of a second.
    text = time.strftime("%Y-%m-%d %H:%M:%S.%f")
    text = text.re_replace(" 00:00:00[.]0+$", "").re_replace("[.][0-9]+$", "")
    return StoredCells(ibis.cases((known, text)), missing, ~missing & ~known)


_CLOCK = "^(?:([0-9]+) days? )?([0-9]+):([0-5][0-9]):([0-5][0-9](?:[.][0-9]+)?)$"
"""Days, hours, minutes and seconds, as in 90:00:00 or 2 days 01:30:00."""
_ISO = "^P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.][0-9]+)?)S)?)?$"
"""The same as ISO 8601 writes it, such as PT1H30M."""
_PARTS = (86400.0, 3600.0, 60.0, 1.0)
"""The seconds of each part."""


def duration_cells(table: Table, raw: Any, column: Column) -> StoredCells:
    """The cells `raw` of a `table`: durations as numbers of the unit of the `column`'s bounds."""
    import ibis

    missing, kind, name = raw.isnull(), raw.type(), raw.get_name()
    if name in table.hollow:
        seconds = raw.cast("float64")
    elif kind.is_string():
        text = raw.strip()
        missing = missing | text.isin(missing_texts())
        some_part = text.re_search("[0-9]")
        seconds = ibis.cases(
            (text.re_search(_CLOCK), _seconds(text, _CLOCK)),
            (text.re_search(_ISO) & some_part, _seconds(text, _ISO)),
        )
    elif name in table.durations:
        seconds = raw.cast("float64") / literal(float(table.durations[name]))
    else:
        expected = f"durations in {table.description}, or bounds that are numbers"
        error = TableError(f"data.columns.{column.name}", type_words(kind), expected=expected)
        raise wrong_type(table, raw, error)
    value = seconds / literal(float(SECONDS[str(column.unit)]))
    return StoredCells(value, missing, ~missing & value.isnull())


def _seconds(text: Any, pattern: str) -> Any:
    """The seconds of a text of this pattern: a part that is left out counts 0."""
    parts = (
        text.re_extract(pattern, i + 1).try_cast("float64").fill_null(0.0) * literal(size)
        for i, size in enumerate(_PARTS)
    )
    return reduce(add, parts)
