"""Joins with public tables: each row of the study's table takes cells of one row of another table.

`Join` is what a study declares in `[[data.join]]`. `joined` reads an opened table so. The other
table is public: nothing in it may depend on who is in the study's table, and what is wrong with it
is told to everybody. What the study's own keys lack in it is private, as its cells are.

Public names: `Join`, `parse_joins`, `joined`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from bayesdp.errors import (
    InputError,
    TableError,
    closest,
    did_you_mean,
    require_shown,
    unknown_key,
)
from bayesdp.tables.cells.reading import is_finite
from bayesdp.tables.cells.stored import NOT_AVAILABLE, is_missing, key_of, type_words, wrong_type
from bayesdp.tables.cells.text_numbers import number_of
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.files.csv_dialect import USUAL, is_csv
from bayesdp.tables.files.value_labels import label_of, require_distinct
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import UnreadableCellsError
from bayesdp.tables.source import Mark, Table, check_source, open_table, require_free

T = TypeVar("T")

KEY = "data.join"
_UNMATCHED = ("refuse", "missing")
_MATCHED, _ORDER, _KEYS = "bayesdp_matched", "bayesdp_order", "bayesdp_key"
"""Columns of queries, which are not columns of a table."""


class Join(BaseModel):
    """A public table whose `columns` are joined by keys.

    The cells of the columns `left` of the study's table are looked up in the columns `right` of
    `table`, a source as `data.source` is one. `unmatched` says what becomes of a row whose keys are
    not there: refused, or its joined cells are missing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    table: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    columns: tuple[str, ...]
    unmatched: Literal["refuse", "missing"] = "refuse"


# -- what a study declares -----------------------------------------------------------------


def parse_joins(raw: object) -> tuple[Join, ...]:
    """What `[data.join]` or `[[data.join]]` declares. Raises `InputError` naming the key."""
    if isinstance(raw, list | tuple):
        joins = tuple(_parse(entry, f"{KEY}[{i}]") for i, entry in enumerate(raw))
    else:
        joins = (_parse(raw, KEY),)
    names = [name for join in joins for name in join.columns]
    if len({name.lower() for name in names}) < len(names):
        raise InputError(
            KEY,
            names,
            expected="columns whose names differ in more than capital letters",
            remedy="Join each column once, and rename columns of the public tables.",
        )
    return joins


def _parse(raw: object, key: str) -> Join:
    if isinstance(raw, Join):
        return raw
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected='a table with the keys "table", "on" and "columns"')
    known = ("table", "on", "columns", "unmatched")
    for name in raw:
        if name not in known:
            raise unknown_key(key, name, known)
    table = raw.get("table")
    if not isinstance(table, str):
        raise InputError(
            f"{key}.table", table, expected="a file or URL of a public table", shown="table" in raw
        )
    try:
        check_source(table)
    except InputError as error:
        raise error.at(f"{key}.table") from None
    require_shown(table, f"{key}.table")
    on = raw.get("on")
    sides = [on, on]
    if isinstance(on, Mapping) and set(on) == {"left", "right"}:
        sides = [on["left"], on["right"]]
    left, right = (_names(side, f"{key}.on", several=False) for side in sides)
    if len(left) != len(right):
        raise InputError(f"{key}.on", on, expected="as many columns on the left as on the right")
    columns = _names(raw.get("columns"), f"{key}.columns", several=True)
    unmatched = raw.get("unmatched", "refuse")
    if unmatched not in _UNMATCHED:
        raise InputError(
            f"{key}.unmatched",
            unmatched,
            expected='"refuse" or "missing"',
            remedy=closest(str(unmatched), _UNMATCHED),
        )
    return Join(table=table, left=left, right=right, columns=columns, unmatched=unmatched)


def _names(raw: object, key: str, *, several: bool) -> tuple[str, ...]:
    """A list of names; a single one may stand alone, unless there are usually `several`."""
    names: list[Any] = [raw] if isinstance(raw, str) and not several else []
    if isinstance(raw, list | tuple):
        names = list(raw)
    texts = all(isinstance(name, str) and name.strip() for name in names)
    if not texts or not names or len(set(names)) < len(names):
        raise InputError(
            key,
            raw,
            expected="a list of columns of the public table, each once"
            if several
            else 'a column that both tables have, or { left = "zip", right = "code" }',
            shown=raw is not None,
        )
    for name in names:
        require_shown(name, key)
    return tuple(names)


# -- the joined table ----------------------------------------------------------------------


def joined(
    table: Table, joins: Sequence[Join], columns: Mapping[str, Column], base_dir: Path | str = "."
) -> Table:
    """The `table` with the columns of all `joins`, each looked up in what stands before it.

    `columns` are those that the study declares; paths are relative to `base_dir`, and CSV files are
    written as the study's own, if that is one. Keys that are
    texts are trimmed as those of clusters are; numbers are compared as numbers, also with texts of
    a CSV file. Raises `TableError` for a public table that can't be read, lacks a column, or has a
    key twice; and `UnreadableCellsError` where the study's own table lacks a key column.
    """
    for i, join in enumerate(joins):
        key = KEY if len(joins) == 1 else f"{KEY}[{i}]"
        table = _joined(table, join, columns, base_dir, key)
    return table


def _joined(
    table: Table, join: Join, columns: Mapping[str, Column], base_dir: Path | str, key: str
) -> Table:
    import ibis

    _check_names(table, join, key)
    dialect = table.csv if is_csv(join.table) else USUAL
    public = _public(
        lambda: open_table(join.table, base_dir, csv=dialect), f"{key}.table", join.table
    )
    _require_columns(public, join, key)
    compared = [
        _comparable(table, left, public, right, key)
        for left, right in zip(join.left, join.right, strict=True)
    ]
    keys = _key_names(join)
    matched = _matched(table)
    cells: dict[str, Any] = dict(zip(keys, (theirs for _, theirs in compared), strict=True))
    cells |= {name: _cell(table, public, name, columns, key) for name in join.columns}
    query = public.expression.select(**cells, **{matched: ibis.literal(True)})
    # It is read once: what is checked is what is joined.
    rows = _public(lambda: public.arrow(query), f"{key}.table", join.table)
    other: Any = table.beside(rows)
    _check_keys(table, other, join, key)
    ours: Any = table.expression if table.place is None else table.expression.drop(table.place)
    if table.ordered:
        ours = ours.mutate(**{_ORDER: ibis.row_number()})
    our_columns = ours.columns
    ours = ours.mutate(**dict(zip(keys, (cell for cell, _ in compared), strict=True)))
    both = ours.left_join(other, [ours[name] == other[name] for name in keys])
    long = both.select(
        **{name: ours[name] for name in our_columns},
        **{name: other[name] for name in join.columns},
        **{matched: other[matched].isnull()},
    )
    marks = table.marks
    if join.unmatched == "refuse":
        listed = ", ".join(f"'{name}'" for name in join.left)
        words = f"Keys in {listed} that '{join.table}' doesn't have"
        marks = (*marks, Mark("unmatched", matched, words))
    else:
        long = long.drop(matched)
    durations = {name: number for name, number in public.durations.items() if name in join.columns}
    labels = {name: texts for name, texts in public.labels.items() if name in join.columns}
    return replace(
        table,
        expression=long,
        labels={**table.labels, **labels},
        ordered=False,  # the engine joins in any order
        order=_ORDER if table.ordered else table.order,
        marks=marks,
        hollow=table.hollow | (public.hollow & set(join.columns)),
        durations={**table.durations, **durations},
        file=None,
        place=None,
    )


def _key_names(join: Join) -> list[str]:
    """The names of the compared keys in queries."""
    return [f"{_KEYS}{i}" for i in range(len(join.left))]


def _matched(table: Table) -> str:
    """The name of what says that a row has its key in the next public table."""
    return f"{_MATCHED}{len(table.marks)}"


def _check_names(table: Table, join: Join, key: str) -> None:
    """The study's table has the keys, and none of the new columns."""
    for name in join.left:
        if name not in table.names:
            message = f"Column '{name}' is not there. {did_you_mean(name, table.names)}"
            raise UnreadableCellsError("no-column", message)
    for name in join.columns:
        if name.lower() in map(str.lower, table.names):
            raise TableError(
                f"{key}.columns",
                name,
                expected="a name that no column of the study's table has",
                remedy="Rename it in the public table.",
            )
    order = [] if table.order else [_ORDER]
    require_free(table, [_matched(table), *_key_names(join), *order])


def _public(action: Callable[[], T], key: str, table: str) -> T:
    """Run an action on a public table: everybody may know what is wrong with its cells."""
    try:
        return action()
    except UnreadableCellsError as error:
        finding = error.finding
    except TableError as error:
        raise error.at(key) if error.key == "data.source" else error from None
    raise TableError(key, table, expected="a public table that can be read", remedy=finding.message)


def _require_columns(public: Table, join: Join, key: str) -> None:
    for name, part in [(n, "on") for n in join.right] + [(n, "columns") for n in join.columns]:
        if name not in public.names:
            raise TableError(
                f"{key}.{part}",
                name,
                expected=f"a column of the public table '{join.table}'",
                remedy=did_you_mean(name, public.names),
            )


def _comparable(table: Table, left: str, public: Table, right: str, key: str) -> tuple[Any, Any]:
    """The cells of both key columns in a form that can be compared; NULL is not a key."""
    ours: Any = table.expression[left]
    theirs: Any = public.expression[right]
    kinds = ours.type(), theirs.type()
    plain = left not in table.durations and right not in public.durations
    if all(kind.is_string() for kind in kinds):
        return _text_key(ours), _text_key(theirs)
    if plain and all(kind.is_integer() for kind in kinds):
        return ours, theirs
    numbers = [_is_number(kind) or text for kind, text in
               zip(kinds, (table.text_cells, public.text_cells), strict=True)]  # fmt: skip
    if plain and all(numbers):
        return _number_key(table, ours), _number_key(public, theirs)
    if plain and kinds[0].copy(nullable=True) == kinds[1].copy(nullable=True):
        return ours, theirs
    error = TableError(
        f"{key}.on",
        [f"{type_words(kinds[0])} '{left}'", f"{type_words(kinds[1])} '{right}'"],
        expected="keys of one type in both tables",
        remedy="Store both as texts, or both as whole numbers.",
    )
    raise wrong_type(table, ours, error)


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric() and not kind.is_boolean())


def _text_key(raw: Any) -> Any:
    return key_of(raw).nullif("")


def _number_key(table: Table, raw: Any) -> Any:
    """A number as a double, which tells it from all others; NULL where it can't."""
    import ibis

    text = raw.type().is_string()
    value = number_of(table.csv, raw.strip()) if text else raw.cast("float64")
    exact = is_finite(value) & (value.abs() < literal(2.0**53))
    return ibis.cases((exact, value))


def _check_keys(table: Table, other: Any, join: Join, key: str) -> None:
    """Each row of the public table `other` has a key, and no row has that of another.

    Else a record would stand in several rows, and count several times.
    """
    keys = _key_names(join)
    listed = ", ".join(f"'{name}'" for name in join.right)
    without = other.filter(reduce(or_, (other[name].isnull() for name in keys)))
    number = table.numbers(without, without.count())[0]
    if number:
        raise TableError(
            f"{key}.table",
            join.table,
            expected=f"a key in each row, and {number} have none in {listed}",
            remedy="A key is a text, or a number below 2^53 where the other table has numbers.",
        )
    groups = other.group_by(keys).aggregate(size=lambda t: t.count())
    repeated = groups.filter(groups["size"] > 1).order_by(keys).select(*keys)
    for values in table.rows(repeated, limit=1):
        raise TableError(
            f"{key}.on",
            _shown(values[0]) if len(keys) == 1 else list(map(_shown, values)),
            expected=f"a key that one row of '{join.table}' has in {listed}, and several have it",
            remedy="A record takes its cells from one row: keep one row for each key.",
        )


def _shown(key: Any) -> Any:
    """A key as people write it: whole numbers without a point."""
    return int(key) if isinstance(key, float) and key.is_integer() else key


def _cell(table: Table, public: Table, name: str, columns: Mapping[str, Column], key: str) -> Any:
    """A joined column as cells of the study's table: texts, where all of its cells are."""
    import ibis

    raw: Any = public.expression[name]
    if table.text_cells == public.text_cells:
        return raw
    if table.text_cells:
        if name in public.durations:
            raise TableError(
                f"{key}.columns",
                name,
                expected="no durations, which a CSV file can't be joined with",
                remedy="Store them as numbers.",
            )
        if name in public.labels and _wants_texts(name, columns):
            return _labelled(public, raw, key)
        text = raw.cast("string")
        if raw.type().is_floating():  # whole numbers as CSV files have them
            text = text.re_replace("[.]0$", "")
        return text.replace(".", table.csv.decimal) if raw.type().is_numeric() else text
    kind = _wanted(name, columns)
    if kind == "text" and name in columns and NOT_AVAILABLE in (columns[name].states or ()):
        return raw.nullif("")
    missing = is_missing(public, raw)
    if kind == "text":
        return ibis.cases((~missing, raw))
    text = raw.strip()
    value = number_of(public.csv, text) if kind == "number" else text.try_cast("boolean")
    number = _count(public, ~missing & value.isnull(), key)
    if number:
        raise TableError(
            f"{key}.columns",
            name,
            expected=f"a {kind} in each cell, as the study declares, and {number} are none",
            remedy="Write missing cells as empty ones.",
        )
    return ibis.cases((~missing, value))


def _labelled(public: Table, raw: Any, key: str) -> Any:
    """The labels of a column's codes, each of which has one."""
    name = raw.get_name()
    labels = public.labels[name]
    require_distinct(labels, f"{key}.columns")
    text = label_of(raw, labels)
    number = _count(public, raw.notnull() & text.isnull(), key)
    if number:
        raise TableError(
            f"{key}.columns",
            name,
            expected=f"a value label for each code, as the study declares texts, and {number} "
            "cells have none",
            remedy="Declare the codes as states, or label all codes in the file.",
        )
    return text


def _count(public: Table, wrong: Any, key: str) -> int:
    """How many cells of the public table are `wrong`."""
    cells = public.expression.select(wrong=wrong)
    count = cells.count(where=cells.wrong)
    number: int = _public(
        lambda: public.numbers(cells, count)[0], f"{key}.table", public.description
    )
    return number


def _wants_texts(name: str, columns: Mapping[str, Column]) -> bool:
    """Whether the study speaks of a column's cells as texts: in its states, or in a condition."""
    column = columns.get(name)
    if column is not None:
        return column.states is not None and column.reads == "text"
    return any(derived.source == name for derived in columns.values()) and (
        _wanted(name, columns) == "text"
    )


def _wanted(name: str, columns: Mapping[str, Column]) -> str:
    """What the study reads a column as: numbers, texts (dates too) or booleans."""
    column = columns.get(name)
    if column is not None:
        dated = column.is_date or column.is_duration or column.is_dated
        return "text" if dated else column.reads or "text"
    for derived in columns.values():
        if derived.source != name:
            continue
        if derived.where is None:
            return "number"
        origin = Column(name=name, public=True)
        return Predicate.parse(derived.where, {name: origin}).reads[0][1] or "text"
    return "text"
