"""How one declared column is read: its clean value, and what is wrong with a row.

A value is read as a double, a text or a boolean, missing values imputed where that is declared, and
clipped to the bounds; dates and times are texts whose order is theirs. It is NULL exactly in the
rows that one of the `faults` marks. NaN and infinities are never imputed or clipped: they are
faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from bayesdp.errors import TableError
from bayesdp.statements.conditions import Reads
from bayesdp.statements.times import SECONDS, Format
from bayesdp.tables.columns import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.missing_codes import marked
from bayesdp.tables.predicates import Predicate
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table
from bayesdp.tables.text_numbers import number_of
from bayesdp.tables.value_labels import ValueLabels, label_of, require_distinct

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

    Whole numbers are texts too, and `SPACES` around a text are no part of it. Raises `TableError`
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
        text = text.nullif("NA").fill_null("")
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


@dataclass(frozen=True)
class _Cells:
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


def _cells(table: Table, raw: Any, kind: Reads, key: str, column: Column) -> _Cells:
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


def _stored_cells(table: Table, raw: Any, kind: Reads, key: str, column: Column) -> _Cells:
    if column.is_dated or column.is_date:
        return _time_cells(table, raw, column)
    if column.is_duration:
        return _duration_cells(table, raw, column)
    if table.text_cells:
        return _text_cells(table, raw, kind, column)
    stored = raw.type()
    if raw.get_name() in table.hollow:
        return _Cells(raw.cast(_TYPES[kind]), raw.isnull(), None)
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
    return _Cells(value, missing, unreadable, kind == "number" and infinite)


def _labelled_cells(raw: Any, labels: ValueLabels, key: str) -> _Cells:
    """The labels of a column's codes; a code without one can't be read."""
    require_distinct(labels, key)
    value = label_of(raw, labels)
    missing = raw.isnull()
    return _Cells(value, missing, ~missing & value.isnull(), texts=value, fault=UNLABELLED)


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


def _time_cells(table: Table, raw: Any, column: Column) -> _Cells:
    """Each time as its standard text, which sort like the times, or as a number of days."""
    import ibis

    missing = raw.isnull()
    if raw.type().is_string():
        missing = missing | raw.strip().isin(("", "NA"))
    time = time_of(table, raw, column)
    known = time.year().between(1, 9999).fill_null(False)
    if column.is_date:
        days = time.epoch_seconds().cast("float64") / literal(86400.0)
        return _Cells(ibis.cases((known, days)), missing, ~missing & ~known)
    # Without the clock at the start of a day, and always without parts of a second.
    text = time.strftime("%Y-%m-%d %H:%M:%S.%f")
    text = text.re_replace(" 00:00:00[.]0+$", "").re_replace("[.][0-9]+$", "")
    return _Cells(ibis.cases((known, text)), missing, ~missing & ~known)


_CLOCK = "^(?:([0-9]+) days? )?([0-9]+):([0-5][0-9]):([0-5][0-9](?:[.][0-9]+)?)$"
"""Days, hours, minutes and seconds, as in 90:00:00 or 2 days 01:30:00."""
_ISO = "^P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.][0-9]+)?)S)?)?$"
"""The same as ISO 8601 writes it, such as PT1H30M."""
_PARTS = (86400.0, 3600.0, 60.0, 1.0)
"""The seconds of each part."""


def _duration_cells(table: Table, raw: Any, column: Column) -> _Cells:
    """Each duration as a number of the column's unit, which is that of its bounds."""
    import ibis

    missing, kind, name = raw.isnull(), raw.type(), raw.get_name()
    if name in table.hollow:
        seconds = raw.cast("float64")
    elif kind.is_string():
        text = raw.strip()
        missing = missing | text.isin(("", "NA"))
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
    return _Cells(value, missing, ~missing & value.isnull())


def _seconds(text: Any, pattern: str) -> Any:
    """The seconds of a text of this pattern: a part that is left out counts 0."""
    parts = (
        text.re_extract(pattern, i + 1).try_cast("float64").fill_null(0.0) * literal(size)
        for i, size in enumerate(_PARTS)
    )
    return reduce(add, parts)


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


_TYPES = {"number": "float64", "text": "string", "boolean": "boolean"}
_REMEDIES: dict[str, str] = {
    "number": "Declare states for texts, or store numbers.",
    "text": "Write states that are numbers without quotes.",
    "boolean": "Declare the states that the table holds.",
}
"""The remedy for a wrong type, by the kind of values that the column is declared to hold."""
_DURATIONS = "Durations have bounds such as ['0 minutes', '90 minutes']."
_BOOLEANS = "The column holds booleans: declare states = [true, false] or [0, 1], without quotes."


SPACES = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""White space in Unicode, and characters of no width: spreadsheets and web pages add both."""


def key_of(raw: Any) -> Any:
    """The cells of a column that tells records, clusters or series apart, as an expression.

    `SPACES` around a text are no part of it: a household must not fall into two because of them.
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
    def trim(text, characters):  # type: ignore[no-untyped-def]
        """Text without these characters at its ends."""

    return trim


def is_missing(table: Table, raw: Any) -> Any:
    """Whether a cell of a column without declared states is missing, as an expression."""
    return raw.isnull() | raw.strip().isin(("", "NA")) if table.text_cells else raw.isnull()


def _text_cells(table: Table, raw: Any, kind: Reads, column: Column) -> _Cells:
    """CSV: everything is text. Empty is missing, and so is NA unless it is a declared state."""
    import ibis

    trimmed = raw.strip() if kind != "text" else raw
    marks = ("",) if "NA" in (column.states or ()) else ("", "NA")
    missing = raw.isnull() | trimmed.isin(marks)
    text = ibis.cases((~missing, trimmed))
    if kind == "text":
        return _Cells(text, missing, None)
    if kind == "boolean":
        value = text.try_cast("boolean")
        return _Cells(value, missing, ~missing & value.isnull())
    value = number_of(table.csv, text)
    if column.states is not None:
        value = _told_apart(value)
    return _Cells(value, missing, ~missing & value.isnull(), True)


def _finished(cells: _Cells, column: Column) -> ReadColumn:
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
        declared = value.isin([literal(state) for state in column.states])
        if column.other is not None:  # NULL stays, for what is missing is no other text
            value = ibis.cases((declared | value.isnull(), value), else_=literal(column.other))
            declared = value.notnull()
        sound = declared
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
