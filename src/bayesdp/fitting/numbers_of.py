"""How fits read columns of a table of public or past data."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.arrays import Ints
from bayesdp.errors import InputError, did_you_mean, inner_probability
from bayesdp.statements.conditions import Reads
from bayesdp.tables.cells.order_keys import offset_findings, order_key
from bayesdp.tables.cells.reading import MISSING, read
from bayesdp.tables.cells.stored import SPACES, is_missing, key_of, raw_cells
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Table, open_table

Numbers = NDArray[np.float64]


def complete_rows(
    source: object, reads: Mapping[str, Reads], time: Column | None = None
) -> tuple[tuple[NDArray[Any], ...], int]:
    """The columns of the rows in which none of them is missing, and how many others there are.

    `reads` says whether each column holds numbers or texts; the column `time` comes last, in the
    unit of its step (`order_step`). Raises `InputError` for cells that can't be read as such.
    """
    with public_data():
        return _complete_rows(source, reads, time)


def _complete_rows(
    source: object, reads: Mapping[str, Reads], time: Column | None
) -> tuple[tuple[NDArray[Any], ...], int]:
    table = open_table(source)
    for name in reads:
        require_column(table, name, name)
    columns = {name: _public_column(table, name, kind) for name, kind in reads.items()}
    readings = {name: read(table, columns, name, kind) for name, kind in reads.items()}
    for name, reading in readings.items():
        for fault, rows in reading.faults.items():
            wrong = 0 if fault == MISSING else table.numbers(table.expression, rows.sum())[0]
            if wrong:
                raise InputError(
                    name,
                    f"{wrong} cells",
                    expected=f"a column of finite {reads[name]}s",
                    remedy="Correct these cells, or leave them empty.",
                )
    values = [reading.value for reading in readings.values()]
    if time is not None:
        values.append(_times_as_numbers(table, time))
    selected = table.expression.select(**{f"c{i}": value for i, value in enumerate(values)})
    rows = table.rows(selected)
    complete = [row for row in rows if None not in row]
    arrays = tuple(np.array([row[i] for row in complete]) for i in range(len(values)))
    return arrays, len(rows) - len(complete)


def _public_column(table: Table, name: str, kind: Reads) -> Column:
    """The declaration of a column of public data; bounds that hold all numbers, if it has codes."""
    if name not in table.codes:
        return Column(name=name, public=True)
    if kind != "number":
        raise InputError("codes", name, expected="codes of a column of numbers")
    everything = (-sys.float_info.max, sys.float_info.max)
    declaration = {"bounds": everything, "missing": {"codes": table.codes[name]}}
    try:
        return parse_columns({name: declaration})[name]
    except InputError as error:
        raise error.at("codes") from None


def _times_as_numbers(table: Table, time: Column) -> Any:
    """The times as numbers. Raises `InputError` for cells that are neither empty nor a time."""
    require_column(table, time.name, "time")
    for finding in offset_findings(table, time):
        raise InputError("time", time.name, expected=f"one kind. {finding.message}")
    key, raw = order_key(table, time), raw_cells(table, time)
    wrong = table.numbers(table.expression, (key.isnull() & ~is_missing(table, raw)).sum())[0]
    if wrong:
        raise InputError(
            "time",
            f"{wrong} cells",
            expected="a column of times",
            remedy='The step of numbers is a number, that of dates a text such as "1 day".',
        )
    return key


def require_column(table: Table, name: str, key: str) -> None:
    """Raises `InputError` at `key`, with a name that the table has, where it has no such column."""
    if name not in table.names:
        raise InputError(
            key,
            name,
            expected=f"a column of {table.description}",
            remedy=did_you_mean(name, table.names),
        )


def time_column(time: str, step: float | str | None, time_format: str | None = None) -> Column:
    """The column of times, whose neighbours are a `step` apart: a number, or such as "1 day".

    `time_format` is how dates are written, as in a study: `%d.%m.%Y`. Raises `InputError` for a
    step that is missing or can't be read, and for what is not a format of dates.
    """
    if step is None:
        raise InputError(
            "step",
            step,
            expected="the time between two records of a series, so that a gap is seen as one",
            remedy="For example 1 where times are numbers, and '1 day' where they are dates.",
        )
    try:
        declaration = {"role": "order", "step": step, "format": time_format}
        return parse_columns({time: declaration})[time]
    except InputError as error:
        keys = {"step": "step", "format": "time_format"}
        raise error.at(keys.get(error.key.rpartition(".")[2], "time")) from None


@contextmanager
def public_data() -> Iterator[None]:
    """Where a table can't be read, say why: the data are public, and no study is asked about.

    Raises `InputError` in place of the refusal that depends on nothing.
    """
    try:
        yield
    except UnreadableCellsError as error:
        reason = error.finding.message
    except InputError as error:
        raise (error.at("table") if error.key == "data.source" else error) from None
    else:
        return
    raise InputError("table", expected="a table that can be read", remedy=reason, shown=False)


def known_key(table: Table, raw: Any) -> Any:
    """A column of names as texts, without spaces around them; none where a cell is missing."""
    return known(table, key_of(raw.cast("string")))


def known_text(table: Table, raw: Any) -> Any:
    """A column as texts, none where a cell is missing."""
    return known(table, raw.cast("string"))


def known(table: Table, raw: Any) -> Any:
    """A column, none where a cell is missing."""
    import ibis

    return ibis.cases((~is_missing(table, raw), raw))


def numbered_clusters(names: NDArray[Any]) -> tuple[int, Ints]:
    """How many names there are, and the number of each row's, from 0 in order of appearance.

    Spaces around a name are not part of it.
    """
    trimmed = np.char.strip(names.astype(str), SPACES)
    _, first, inverse = np.unique(trimmed, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return len(first), numbers[inverse]


def refuse_unreadable(column: str, rows: int) -> None:
    """Raises `InputError` about the `column` where so many `rows` of it hold no declared state."""
    if rows:
        raise InputError(
            "column",
            column,
            expected="a column in which every cell is empty or has a state: "
            f"{rows} rows are not so",
            remedy="Correct these cells or leave them empty; list all states.",
        )


def check_columns(**columns: str) -> None:
    """Raises `InputError` where two arguments, such as `value` and `cluster`, name one column."""
    named: dict[str, str] = {}
    for argument, column in columns.items():
        other = named.setdefault(column, argument)
        if other != argument:
            raise InputError(argument, column, expected=f"another column than that of {other}")


def between_words(lower: float, upper: float) -> str:
    """Both ends of a region in six digits, rounded outward."""
    return f"between {-float(up_words(-lower)):g} and {up_words(upper)}"


def check_confidence(confidence: float) -> None:
    """Raises `InputError` unless it lies between 0 and 1."""
    inner_probability("confidence", confidence)


def confidence_words(confidence: float) -> str:
    """The confidence in all its digits: a shorter one could say more."""
    return repr(float(confidence))
