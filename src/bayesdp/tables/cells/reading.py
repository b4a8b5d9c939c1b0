"""How one declared column is read: its clean value, and what is wrong with a row.

A value is read as a double, a text or a boolean, missing values imputed where that is declared, and
clipped to the bounds; dates and times are texts whose order is theirs. It is NULL exactly in the
rows that one of the `faults` marks. NaN and infinities are never imputed or clipped: they are
faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from bayesdp.errors import TableError
from bayesdp.statements.conditions import Reads
from bayesdp.tables.cells.stored import (
    NOT_AVAILABLE,
    StoredCells,
    key_of,
    missing_texts,
    raw_cells,
    type_words,
    wrong_type,
)
from bayesdp.tables.cells.text_numbers import number_of
from bayesdp.tables.cells.times import duration_cells, time_cells
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.missing_codes import marked
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.files.value_labels import ValueLabels, label_of, require_distinct
from bayesdp.tables.literals import literal
from bayesdp.tables.source import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


MISSING, NOT_A_NUMBER, NOT_A_TIME, NOT_A_DURATION, NOT_FINITE, UNDECLARED, UNLABELLED = (
    "missing",
    "not-a-number",
    "not-a-time",
    "not-a-duration",
    "not-finite",
    "undeclared",
    "unlabelled",
)


@dataclass(frozen=True)
class ReadColumn:
    """The `value` that is read, and by fault code the expression that marks the faulty rows."""

    value: ir.Value
    faults: Mapping[str, ir.BooleanValue]


def read(
    table: Table, columns: Mapping[str, Column], name: str, reads: Reads | None = None
) -> ReadColumn:
    """The reading of the declared column `name`; `reads` decides for plain public columns.

    Raises `TableError` where the table has no such column or one of another type.
    """
    column = columns[name]
    if column.is_derived:
        return _derived(table, columns, column)
    raw = raw_cells(table, column)
    if column.groups is not None:
        return _group_names(table, raw, name)
    kind = column.reads or reads or _natural(table, raw)
    cells = _cells(table, raw, kind, f"data.columns.{name}", column)
    return _finished(cells, column)


def _group_names(table: Table, raw: Any, name: str) -> ReadColumn:
    """The texts of a column whose groups are found in the data; empty for a missing cell.

    Whole numbers are texts too, and `SPACES` around a text are not part of it. Raises `TableError`
    for a column of another type.
    """
    key, stored = f"data.columns.{name}", raw.type()
    if raw.get_name() in table.labels:
        require_distinct(table.labels[raw.get_name()], key)
        raw = label_of(raw, table.labels[raw.get_name()])
    elif raw.get_name() in table.hollow or (
        stored.is_integer() and raw.get_name() not in table.durations
    ):
        raw = raw.cast("string")
    elif not stored.is_string():
        raise wrong_type(
            table,
            raw,
            TableError(
                key,
                type_words(stored),
                expected=f"texts or whole numbers in {table.description}, as names of groups",
                remedy="Store them as texts, or declare the column in another way.",
            ),
        )
    text = key_of(raw).fill_null("")
    if table.text_cells:
        text = text.nullif(NOT_AVAILABLE).fill_null("")
    return ReadColumn(text, {})


def _natural(table: Table, raw: Any) -> Reads:
    if table.text_cells:
        return "text"
    kind = raw.type()
    return "number" if kind.is_numeric() else "boolean" if kind.is_boolean() else "text"


def _derived(table: Table, columns: Mapping[str, Column], column: Column) -> ReadColumn:
    import ibis

    source = str(column.source)
    origin = columns.get(source) or Column(name=source, public=True)
    predicate = Predicate.parse(column.where, {source: origin}) if column.where else None
    kind: Reads = origin.reads or (predicate.reads[0][1] if predicate else "number")
    if source in columns:
        reading = read(table, columns, source, kind)
    else:
        raw = table.require(source, f"data.columns.{column.name}.from")
        cells = _cells(table, raw, kind, f"data.columns.{column.name}.from", column)
        reading = _finished(cells, column)
    value = reading.value
    if predicate is not None:
        state: Any = predicate.to_ibis({source: value}).cast("int8")
    else:
        cuts = column.cuts or ()
        state = table.engine.bin_index(value, cuts)
    return ReadColumn(ibis.cases((value.notnull(), state)), reading.faults)


def _cells(table: Table, raw: Any, kind: Reads, key: str, column: Column) -> StoredCells:
    """The cells of a column; those that are one of its codes are missing and have no value."""
    import ibis

    cells = _stored_cells(table, raw, kind, key, column)
    stored = raw if cells.texts is None else cells.texts
    coded = marked(stored, cells.value, column.codes, dates=column.is_date)
    if coded is None:
        return cells
    return replace(
        cells,
        value=ibis.cases((~coded, cells.value)),
        missing=cells.missing | coded,
        unreadable=None if cells.unreadable is None else cells.unreadable & ~coded,
    )


def _stored_cells(table: Table, raw: Any, kind: Reads, key: str, column: Column) -> StoredCells:
    if column.is_dated or column.is_date:
        return time_cells(table, raw, column)
    if column.is_duration:
        return duration_cells(table, raw, column)
    if table.text_cells:
        return _text_cells(table, raw, kind, column)
    stored = raw.type()
    if raw.get_name() in table.hollow:
        return StoredCells(raw.cast(_TYPES[kind]), raw.isnull(), None)
    if kind == "text" and raw.get_name() in table.labels:
        return _labelled_cells(raw, table.labels[raw.get_name()], key)
    duration = raw.get_name() in table.durations
    if stored.is_boolean() and column.states is not None and set(column.states) <= {0, 1}:
        raw, stored = (raw, stored) if kind == "boolean" else _numbered(raw)
    fits = {
        "number": stored.is_numeric() and not stored.is_boolean() and not duration,
        "text": stored.is_string() or (column.is_public and column.states is None),
        "boolean": stored.is_boolean(),
    }[kind]
    if not fits:
        raise wrong_type(
            table,
            raw,
            TableError(
                key,
                "duration" if duration else type_words(stored),
                expected=f"a column of {kind}s in {table.description}",
                remedy=_DURATIONS
                if duration
                else _BOOLEANS
                if stored.is_boolean()
                else _REMEDIES[kind],
            ),
        )
    value = raw.cast("float64") if kind == "number" and not stored.is_float64() else raw
    if kind == "text" and not stored.is_string():
        value = raw.cast("string")
    missing, unreadable = raw.isnull(), None
    if kind == "number" and column.states is not None and not _is_exact(stored):
        value = _told_apart(value)
        unreadable = ~missing & value.isnull()
    # Decimals of PostgreSQL may be NaN or infinite too.
    infinite = stored.is_floating() or stored.is_decimal()
    return StoredCells(value, missing, unreadable, kind == "number" and infinite)


def _labelled_cells(raw: Any, labels: ValueLabels, key: str) -> StoredCells:
    """The labels of a column's codes; a code without one can't be read."""
    require_distinct(labels, key)
    value = label_of(raw, labels)
    missing = raw.isnull()
    return StoredCells(value, missing, ~missing & value.isnull(), texts=value, fault=UNLABELLED)


def _numbered(raw: Any) -> tuple[Any, Any]:
    """Booleans as the numbers 0 and 1, and their type."""
    numbers = raw.cast("int8").name(raw.get_name())
    return numbers, numbers.type()


def _is_exact(stored: Any) -> bool:
    """Whether each value of this type is a double of its own."""
    return bool(stored.is_floating() or (stored.is_integer() and stored.nbytes < 8))


def _told_apart(value: Any) -> Any:
    """NULL for numbers so large that several whole numbers are one double: it could be a state."""
    import ibis

    return ibis.cases((~is_finite(value) | (value.abs() < literal(2.0**53)), value))


_TYPES = {"number": "float64", "text": "string", "boolean": "boolean"}
_REMEDIES: dict[str, str] = {
    "number": "Declare states for texts, or store numbers.",
    "text": "Write states that are numbers without quotes.",
    "boolean": "Declare the states that the table holds.",
}
"""The remedy for a wrong type, by the kind of values that the column is declared to hold."""
_DURATIONS = "Durations have bounds such as ['0 minutes', '90 minutes']."
_BOOLEANS = "The column holds booleans: declare states = [true, false] or [0, 1], without quotes."


def _text_cells(table: Table, raw: Any, kind: Reads, column: Column) -> StoredCells:
    """CSV: everything is text. Empty is missing, and so is NA unless it is a declared state."""
    import ibis

    trimmed = raw.strip() if kind != "text" else raw
    missing = raw.isnull() | trimmed.isin(missing_texts(column.states))
    text = ibis.cases((~missing, trimmed))
    if kind == "text":
        return StoredCells(text, missing, None)
    if kind == "boolean":
        value = text.try_cast("boolean")
        return StoredCells(value, missing, ~missing & value.isnull())
    value = number_of(table.csv, text)
    if column.states is not None:
        value = _told_apart(value)
    return StoredCells(value, missing, ~missing & value.isnull(), True)


def _finished(cells: StoredCells, column: Column) -> ReadColumn:
    """The reading of cells: finiteness is checked first, then come imputation, states and clip."""
    import ibis

    value, faults = cells.value, {}
    sound = None  # holds in the rows whose value is not NULL
    if cells.unreadable is not None:
        faults[cells.fault or _unreadable(column)] = cells.unreadable
    if column.imputed is None:
        faults[MISSING] = cells.missing
    else:  # NaN and infinities are not missing, and stay
        value = ibis.cases((cells.missing, literal(column.imputed)), else_=value)
    if cells.may_be_infinite:
        sound = is_finite(value)
        faults[NOT_FINITE] = ~sound
    if column.states is not None:
        value = value if sound is None else ibis.cases((sound, value))
        valid = value.isin([literal(state) for state in column.states])
        if column.other is not None:  # NULL stays, for what is missing is no other text
            value = ibis.cases((valid | value.isnull(), value), else_=literal(column.other))
            valid = value.notnull()
        sound = valid
        faults[UNDECLARED] = ~sound
    if column.bounds is not None:
        # LEAST and GREATEST skip NULL, and a NULL here must stay one.
        sound = value.notnull() if sound is None and faults else sound
        low, high = (literal(bound) for bound in column.bounds)
        value = ibis.least(ibis.greatest(value, low), high)
    if sound is not None:
        value = ibis.cases((sound, value))
    return ReadColumn(value, faults)


def _unreadable(column: Column) -> str:
    """The code of a fault: what a cell of the column is not."""
    if column.is_dated or column.is_date:
        return NOT_A_TIME
    return NOT_A_DURATION if column.is_duration else NOT_A_NUMBER


def is_finite(value: Any) -> Any:
    """Whether a number is neither NaN nor infinite; NULL for NULL."""
    return _isfinite()(value)


@cache
def _isfinite() -> Any:
    import ibis

    def isfinite(x: float) -> bool:  # type: ignore[empty-body]  # the engine's own function
        ...

    return ibis.udf.scalar.builtin(isfinite)
