"""Tables in memory, through Arrow. The library is recognised by the module of the table's type.

None of the libraries is imported unless its table is given. Their errors are never passed on, for
they may quote cells: what depends on types only becomes `TableError`, and what depends on cells
`UnreadableCellsError`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from bayesdp.errors import TableError
from bayesdp.tables.refusals import UnreadableCellsError, check_header

_KEY = "data.source"
_BY_CELLS = ("object", "category", "str", "string")


class ForeignTypesError(TableError):
    """A column has a type that Arrow doesn't have."""


def to_arrow(source: object) -> tuple[Any, frozenset[str]]:
    """The Arrow table, and the columns whose types were inferred from their cells.

    Raises `TableError` for anything but a table, without columns, with names that repeat, or with
    types that Arrow doesn't have, and `UnreadableCellsError` for what depends on cells.
    """
    library = type(source).__module__.partition(".")[0]
    data: Any = source
    inferred: frozenset[str] = frozenset()
    if library == "polars":
        data = _from_polars(source)
    elif library == "pandas" and hasattr(source, "dtypes") and hasattr(source, "columns"):
        data, inferred = _from_pandas(source)
    elif library != "pyarrow":
        data = None
    if type(data).__name__ == "RecordBatch":
        import pyarrow

        data = pyarrow.Table.from_batches([data])
    if type(data).__name__ != "Table":
        raise TableError(
            _KEY,
            type(source).__name__,
            expected="a path, an engine URL, a pandas or Polars data frame, or an Arrow table",
        )
    if data.num_columns == 0:
        raise TableError(
            _KEY,
            "the table in memory",
            expected="at least one column",
            remedy="Give it the columns that the study declares.",
        )
    _require_distinct(data.column_names)
    return data, inferred


def _from_polars(frame: Any) -> Any:
    if type(frame).__name__ == "LazyFrame":
        _attempt(frame.collect_schema, lambda: _unusable("a lazy frame that can be collected"))
        frame = _attempt(frame.collect, lambda: _unreadable("The lazy frame can't be collected."))
    if not hasattr(frame, "to_arrow") or not hasattr(frame, "columns"):
        return None
    if any(str(dtype) == "Object" for dtype in frame.dtypes):
        raise _foreign("no column of Python objects")
    return _attempt(frame.to_arrow, lambda: _foreign("columns of types that Arrow has"))


def _from_pandas(frame: Any) -> tuple[Any, frozenset[str]]:
    import pyarrow

    if not all(isinstance(name, str) for name in frame.columns):
        raise _unusable("columns named by texts")
    _require_distinct(list(frame.columns))
    types = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    by_cells = [name for name, dtype in types.items() if dtype in _BY_CELLS]
    plain = [name for name in frame.columns if name not in by_cells]

    starts = {
        name: frame[name].dt.to_timestamp()
        for name in frame.columns
        if types[name].startswith("period[")  # stored as whole numbers otherwise
    }
    if starts:
        frame = frame.assign(**starts)

    def convert(part: Any) -> Any:
        return pyarrow.Table.from_pandas(part, preserve_index=False)

    _attempt(
        lambda: convert(frame[plain].iloc[:0]),
        lambda: _foreign("columns of types that Arrow has"),
    )
    for name in by_cells:
        _attempt(partial(convert, frame[[name]]), partial(_mixed, name))
    # Without rows the columns could be converted, so it isn't their types but the cells.
    table = _attempt(lambda: convert(frame), lambda: _unreadable("A column can't be stored."))
    for name in by_cells:
        stored = table.schema.field(name).type
        if str(stored).startswith("decimal256"):
            raise _mixed(name)
        if pyarrow.types.is_temporal(getattr(stored, "value_type", stored)):
            _require_like_times(frame[name])
    return table, frozenset(by_cells)


def _require_like_times(cells: Any) -> None:
    """Refuse times of several kinds in a column, for which Arrow finds a type all the same.

    It would take times without a zone for UTC beside others with one, and drop the clock of a time
    beside a date.
    """
    known = cells.cat.categories if str(cells.dtype) == "category" else cells.dropna()
    kinds = {_time_kind(cell) for cell in known}
    if len(kinds) > 1:
        listed = " beside ".join(sorted(kinds))
        raise UnreadableCellsError(
            "mixed-cells",
            f"Column '{cells.name}' of the data frame holds {listed}. Store all in one way.",
        )


def _time_kind(cell: object) -> str:
    """What a cell is, so that times of one kind have an order."""
    if isinstance(cell, datetime | time):
        kind = "times" if isinstance(cell, datetime) else "times of day"
        return f"{kind} {'without' if cell.tzinfo is None else 'with'} a zone"
    if isinstance(cell, date):
        return "dates"
    return "durations" if isinstance(cell, timedelta) else "other values"


def _require_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise _unusable("each column's name once")
    check_header(names, "the table in memory")


def _attempt(action: Callable[[], Any], refusal: Callable[[], Exception]) -> Any:
    """Run the action; raise the refusal where the library raises anything."""
    try:
        return action()
    except Exception:  # foreign code: the types that it raises have no common base
        pass
    raise refusal()


def _unusable(expected: str) -> TableError:
    return TableError(_KEY, "the table in memory", expected=expected)


def _foreign(expected: str) -> TableError:
    return ForeignTypesError(_KEY, "the table in memory", expected=expected)


def _unreadable(message: str) -> UnreadableCellsError:
    return UnreadableCellsError("unreadable", message)


def _mixed(name: str) -> UnreadableCellsError:
    return UnreadableCellsError(
        "mixed-cells",
        f"Column '{name}' of the data frame can't be stored as one type: it mixes types, or holds "
        "numbers out of range or texts that are not Unicode.",
    )
