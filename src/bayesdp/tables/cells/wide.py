"""Wide tables made long: each row of the table becomes a row for each of its records.

`Wide` is what a study declares in `[data.wide]`. `melted` reads an opened table so. All cells of a
row are taken from that row within each query, so that the records of a row are never put together
from several rows, in whatever order the engine reads.

Public names: `Wide`, `parse_wide`, `melted`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from bayesdp.errors import (
    InputError,
    TableError,
    UnsupportedError,
    closest,
    did_you_mean,
    require_shown,
    unknown_key,
)
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import DEFINED_AS, Value
from bayesdp.statements.conditions import value_kind
from bayesdp.tables.cells.stored import is_missing, missing_texts, type_words, wrong_type
from bayesdp.tables.columns.column import Column
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Mark, Table, require_free

if TYPE_CHECKING:
    import ibis.expr.types as ir

KEY = "data.wide"
_EMPTY = ("refuse", "skip", "keep")
_ALL_EMPTY = "empty-record"
_PLACE, _ROW, _NOTHING = "bayesdp_part", "bayesdp_row", "bayesdp_empty"
"""Columns of queries, which are not columns of a table."""


class Wide(BaseModel):
    """Which columns of a wide table hold the same thing of several records.

    `records` maps each new column to the columns of the table that it is made from: one for each
    record of a row, in the order of `values`, which the new column `position` holds. `row`, if it
    is given, is a new column with a value of its own for each row of the table. `empty` says what
    a record is whose cells are all empty: refused, not there ("skip"), or a record whose values
    are missing ("keep").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    records: dict[str, tuple[str, ...]]
    position: str
    values: tuple[Value, ...]
    row: str | None = None
    empty: Literal["refuse", "skip", "keep"] = "refuse"

    @property
    def parts(self) -> int:
        """How many records a row of the table holds."""
        return len(self.values)

    @property
    def made(self) -> tuple[str, ...]:
        """The columns that are new: those of the records, the position and the row."""
        return (*self.records, self.position, *([] if self.row is None else [self.row]))

    @property
    def used(self) -> tuple[str, ...]:
        """The columns of the wide table that are made into others, and are then gone."""
        return tuple(cell for cells in self.records.values() for cell in cells)


# -- what a study declares -----------------------------------------------------------------


def parse_wide(raw: object) -> Wide:
    """What `[data.wide]` declares, from plain data. Raises `InputError` naming the key."""
    if isinstance(raw, Wide):
        return raw
    keys = ("records", "position", "row", "empty")
    table_keys = _keys_of(raw, KEY, keys, 'a table with the keys "records" and "position"')
    records = _records(table_keys.get("records"))
    position, values = _position(table_keys.get("position"), records)
    row, empty = table_keys.get("row"), table_keys.get("empty", "refuse")
    if row is not None:
        row = _new_name(row, f"{KEY}.row")
    if row == "row":
        raise InputError(
            f"{KEY}.row",
            row,
            expected='another name: unit = "row" means something else',
            remedy="For example what a row holds, such as pair or family.",
        )
    if empty not in _EMPTY:
        raise InputError(
            f"{KEY}.empty",
            empty,
            expected='"refuse", "skip" or "keep"',
            remedy=closest(str(empty), _EMPTY),
        )
    wide = Wide(records=records, position=position, values=values, row=row, empty=empty)
    if len({name.lower() for name in wide.made}) < len(wide.made):
        raise InputError(
            KEY,
            list(wide.made),
            expected="new columns whose names differ in more than capital letters",
            remedy="Rename the position, the row, or a column of the records.",
        )
    return wide


def _keys_of(raw: object, key: str, known: Sequence[str], expected: str) -> Mapping[str, Any]:
    """The table `raw`, which has no other keys than the `known` ones."""
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected=expected)
    for name in raw:
        if name not in known:
            raise unknown_key(key, name, known)
    return raw


def _records(raw: object) -> dict[str, tuple[str, ...]]:
    """Each new column with the columns that it is made from."""
    key, expected = f"{KEY}.records", "a table of lists of columns, one list for each new column"
    remedy = 'For example { height = ["height_a", "height_b"] }.'
    if not isinstance(raw, Mapping) or not raw:
        raise InputError(key, raw, expected=expected, remedy=remedy, shown=raw is not None)
    records: dict[str, tuple[str, ...]] = {}
    for name, cells in raw.items():
        here = f"{key}.{_new_name(name, key)}"
        texts = isinstance(cells, list | tuple) and all(isinstance(c, str) and c for c in cells)
        if not texts or len(cells) < 2:
            raise InputError(here, cells, expected="a list of two or more columns", remedy=remedy)
        records[name] = tuple(cells)
    first = next(iter(records))
    for name, cells in records.items():
        if len(cells) != len(records[first]):
            raise InputError(
                f"{key}.{name}",
                list(cells),
                expected=f"{len(records[first])} columns, as many as '{first}' is made from",
                remedy="Each record of a row has one cell of each new column.",
            )
    used = [cell for cells in records.values() for cell in cells]
    repeated = [cell for cell in used if used.count(cell) > 1]
    if repeated:
        raise InputError(
            key,
            repeated[0],
            expected="each column of the table once",
            remedy="A cell belongs to one record.",
        )
    return records


def _position(raw: object, records: Mapping[str, tuple[str, ...]]) -> tuple[str, tuple[Value, ...]]:
    """The new column that says which of its row a record is, and its values."""
    key = f"{KEY}.position"
    number = len(next(iter(records.values())))
    expected = "a table with a name and a list of values"
    if raw is None:
        raise InputError(
            key,
            expected=f"{expected}, one for each of the {number} records of a row",
            remedy='For example { name = "member", values = ["a", "b"] }.',
            shown=False,
        )
    position_keys = _keys_of(raw, key, ("name", "values"), expected)
    name, values = _new_name(position_keys.get("name"), f"{key}.name"), position_keys.get("values")
    here = f"{key}.values"
    if not isinstance(values, list | tuple) or len(values) != number:
        raise InputError(
            here,
            values,
            expected=f"a list of {number} values, one for each record of a row",
            remedy="They stand in the order of the columns.",
        )
    kinds = {value_kind(value) if isinstance(value, int | float | str) else "" for value in values}
    if kinds not in ({"text"}, {"number"}) or len(set(values)) < len(values):
        raise InputError(here, list(values), expected="different texts, or different numbers")
    for value in values:
        if isinstance(value, str):
            require_shown(value, here)
            if value != value.strip() or value in missing_texts():
                raise InputError(here, value, expected="a text without spaces around it, not NA")
        elif abs(value) >= 2**53 or value != value:
            raise InputError(here, value, expected="numbers below 2^53")
    return name, tuple(values)


def _new_name(name: object, key: str) -> str:
    """The name of a new column."""
    if not isinstance(name, str) or not name.strip() or DEFINED_AS in name:
        raise InputError(
            key,
            name,
            expected=f"the name of a new column, without '{DEFINED_AS}' in it",
            shown=name is not None,
        )
    require_shown(name, key)
    return name


# -- the long table ------------------------------------------------------------------------


def melted(table: Table, wide: Wide, columns: Mapping[str, Column]) -> Table:
    """The long table: for each row of `table`, and each position in it, a row of its own.

    Its columns are the new ones and those of the table that are not made into others, whose cells
    are repeated. Rows stand in the order of the table, and within it in that of the positions.
    `columns` are those that the study declares for the long table: a declared state `NA` is not an
    empty cell.

    Raises `TableError` where a new column has a name that the table has, or is made from columns of
    different types; where those depend on cells, and where the table lacks a column,
    `UnreadableCellsError`; and `UnsupportedError` where the engine can't number rows.
    """
    import ibis

    if wide.row is not None and not table.engine.numbers_rows:
        raise UnsupportedError(
            f"{KEY}.row",
            wide.row,
            expected=f"no new column for rows of {table.engine.name}, which have no numbers",
            remedy="Leave it out, and declare a column of the table that tells its rows apart.",
        )
    cells = _cells(table, wide)
    other_names = [name for name in table.names if name not in wide.used]
    _check_new_names(other_names, wide)
    kinds = {name: _common_type(table, name, raw) for name, raw in cells.items()}
    rows: Any = table.expression
    if wide.row is not None:
        rows = rows.mutate(**{_ROW: ibis.row_number()})
    each = rows.mutate(**{_PLACE: ibis.array(list(range(wide.parts))).unnest()})
    expressions: dict[str, Any] = {name: each[name] for name in other_names}
    for name, kind in kinds.items():
        parts = [each[cell].cast(kind) if kind else each[cell] for cell in wide.records[name]]
        expressions[name] = _part(each[_PLACE], parts)
    expressions[wide.position] = _part(each[_PLACE], _literals(table, wide.values))
    if wide.row is not None:
        expressions[wide.row] = each[_ROW].cast("string") if table.text_cells else each[_ROW]
    long = each.select(**expressions)
    empty = reduce(and_, (_is_empty(table, long[name], columns.get(name)) for name in wide.records))
    marks: tuple[Mark, ...] = ()
    if wide.empty == "skip":
        long = long.filter(~empty)
    elif wide.empty == "refuse":
        words = "Records whose cells are all empty, and [data.wide] does not say what they are"
        marks = (Mark(_ALL_EMPTY, _NOTHING, words),)
        long = long.mutate(**{_NOTHING: empty})
    return replace(_described(table, wide), expression=long, marks=marks, parts=wide.parts)


def _cells(table: Table, wide: Wide) -> dict[str, list[ir.Column]]:
    """The columns of the table that each new one is made from."""
    require_free(table, (_PLACE, _ROW, _NOTHING))
    for name in wide.used:
        if name not in table.names:
            message = f"Column '{name}' is not there. {did_you_mean(name, table.names)}"
            raise UnreadableCellsError("no-column", message)
    return {
        name: [table.expression[cell] for cell in cells] for name, cells in wide.records.items()
    }


def _check_new_names(kept: Sequence[str], wide: Wide) -> None:
    """New columns have names of their own, and so have those of our queries."""
    there = {name.lower() for name in kept} | {_PLACE, _ROW, _NOTHING}
    keys = {name: f"{KEY}.records" for name in wide.records}
    keys |= {wide.position: f"{KEY}.position.name", str(wide.row): f"{KEY}.row"}
    for name in wide.made:
        if name.lower() in there:
            raise TableError(
                keys[name],
                name,
                expected="a name that no other column of the table has",
                remedy="Choose another name, and declare it below [data.columns].",
            )


def _common_type(table: Table, name: str, cells: Sequence[Any]) -> Any:
    """The type to read the cells of a new column as; `None` where they have it already.

    Numbers of several types are read as doubles, and whole ones as whole, as in several files.
    """
    typed = [raw for raw in cells if raw.get_name() not in table.hollow]
    lengths = {table.durations.get(raw.get_name()) for raw in typed}
    kinds = list(dict.fromkeys(raw.type().copy(nullable=True) for raw in typed))
    if not kinds:
        return cells[0].type().copy(nullable=True)
    if len(lengths) == 1 and len(kinds) == 1:
        return None if len(typed) == len(cells) else kinds[0]
    numbers = all(kind.is_numeric() and not kind.is_boolean() for kind in kinds)
    if lengths == {None} and numbers:
        whole = all(kind.is_integer() and not kind.is_uint64() for kind in kinds)
        return "int64" if whole else "float64"
    words = ["duration" if raw.get_name() in table.durations else type_words(raw.type())
             for raw in typed]  # fmt: skip
    error = TableError(
        f"{KEY}.records.{name}",
        list(dict.fromkeys(words)),
        expected=f"columns of one type in {table.description}",
        remedy="Store the same thing of all records in one way.",
    )
    raise next(
        (wrong_type(table, raw, error) for raw in typed if raw.get_name() in table.inferred), error
    )


def _part(place: Any, parts: Sequence[Any], first: int = 0) -> Any:
    """The one of `parts` that stands at `place`, found by bisection; that of `first` is first."""
    import ibis

    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    below = place < ibis.literal(first + half)
    before, after = _part(place, parts[:half], first), _part(place, parts[half:], first + half)
    return ibis.ifelse(below, before, after)


def _literals(table: Table, values: Sequence[Value]) -> list[Any]:
    """The positions as cells: as texts where all cells of the table are, written as they are."""
    import ibis

    if isinstance(values[0], str):
        return [ibis.literal(value) for value in values]
    if table.text_cells:
        decimal = table.csv.decimal
        return [ibis.literal(exact_text(float(value)).replace(".", decimal)) for value in values]
    whole = all(isinstance(value, int) for value in values)
    return [ibis.literal(v, "int64") if whole else ibis.literal(float(v)) for v in values]


def _is_empty(table: Table, raw: Any, column: Column | None) -> Any:
    """Whether a cell is empty; a declared state `NA` is not."""
    return is_missing(table, raw, None if column is None else column.states)


def _described(table: Table, wide: Wide) -> Table:
    """The table, with what is known of the types of the new columns in the place of the used."""

    def renewed(names: frozenset[str], made: Any) -> frozenset[str]:
        new = {name for name, cells in wide.records.items() if made(c in names for c in cells)}
        return (names - set(wide.used)) | new

    durations = {n: length for n, length in table.durations.items() if n not in wide.used}
    durations |= {
        name: table.durations[cell]
        for name, cells in wide.records.items()
        for cell in cells
        if cell in table.durations
    }
    labels = {name: texts for name, texts in table.labels.items() if name not in wide.used}
    labels |= {
        name: table.labels[cells[0]]
        for name, cells in wide.records.items()
        if _one_labelling(table, name, cells)
    }
    return replace(
        table,
        hollow=renewed(table.hollow, all),
        inferred=renewed(table.inferred, any),
        durations=durations,
        labels=labels,
        file=None,
        place=None,
        numbered=wide.row,
    )


def _one_labelling(table: Table, name: str, cells: Sequence[str]) -> bool:
    """Whether these columns have value labels, which are then the same; else `TableError`."""
    labellings = [table.labels.get(cell) for cell in cells]
    if any(labels != labellings[0] for labels in labellings):
        raise TableError(
            f"{KEY}.records.{name}",
            list(cells),
            expected="columns with the same value labels",
            remedy="Label the codes of all records in one way, or none of them.",
        )
    return labellings[0] is not None
