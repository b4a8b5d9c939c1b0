"""Spends on blocks of a public column: which one a query reads, and what one record pays.

A record lies in one cell of each public column, whatever its private values: it pays what is spent
on its own cells (theory 2.3 a). Only columns with declared states count, as a table with other
values is refused, and only where a record is one row: several may lie in several cells. The cells
have to be the table's own: what a study looks up in another table, makes of several columns or
reads by a format may be another cell of the same record in the next study.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bayesdp.kernel.arithmetic import exact, require, watched
from bayesdp.kernel.costs.queries import condition
from bayesdp.statements.columns import Discrete, Group, Impute, Member, Position
from bayesdp.statements.conditions import ConditionTree, Joined
from bayesdp.statements.spends import Block

Cell = tuple[str, Any]
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( (?!00:00:00)[0-9]{2}:[0-9]{2}:[0-9]{2})?")

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def cell(value: object) -> Cell:
    """The cell of a value. Texts that some engine may take for equal are one cell.

    The one text of a date or time is of a kind of its own: a study may read the cells of a column
    as times, and another one as the texts that stand there.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", float(exact(value)))
    require(isinstance(value, str), f"{value!r} is not a value of a column", "block")
    if _TIME.fullmatch(str(value)):
        return ("time", value)
    plain = unicodedata.normalize("NFKD", str(value)).casefold()
    letters = (c for c in plain if not unicodedata.combining(c) and not c.isspace())
    return ("text", "".join(letters))


def cells_of(block: Block | None) -> tuple[str, frozenset[Cell]] | None:
    """The column of a spend's block and its cells; `None` for a spend on all records."""
    return None if block is None else (block.column, frozenset(map(cell, block.values)))


def heaviest(costs: Sequence[tuple[Block | None, Fraction]]) -> Fraction:
    """The most that one record pays: on each column its cell's costs, and those on all records.

    Columns whose values are of several kinds don't count: the text "1" and the number 1 may be one
    cell.
    """
    places = [cells_of(block) for block, _ in costs]
    kinds: dict[str, set[str]] = {}
    for place in places:
        if place is not None:
            kinds.setdefault(place[0], set()).update(kind for kind, _ in place[1])
    of_all: list[Fraction] = []
    paid: dict[str, dict[Cell, Fraction]] = {}
    for (_, cost), place in zip(costs, places, strict=True):
        if place is None or len(kinds[place[0]]) > 1:
            of_all.append(cost)
            continue
        of_column = paid.setdefault(place[0], {})
        for own in place[1]:
            of_column[own] = added([of_column.get(own, Fraction(0)), cost])
    return added([*of_all, *(max(cells.values()) for cells in paid.values())])


def added(costs: Sequence[Fraction]) -> Fraction:
    """The sum. Most parts of a cost are 0, which is quicker seen than added."""
    rest = [cost for cost in costs if cost]
    return sum(rest[1:], rest[0]) if rest else Fraction(0)


def check_block(
    block: Block | None, where: str | None, columns: Mapping[str, Any], query: str
) -> None:
    """`InvalidError` unless a query with this condition reads no record outside of the block."""
    place = cells_of(block)
    if place is None:
        return
    name, cells = place
    require(
        where is not None and name in columns,
        "the query's condition does not keep to this block",
        query,
    )
    column = columns[name]
    plain = isinstance(column, Discrete | Group | Member | Position) and not column.is_private
    imputed = isinstance(column.missing, Impute)
    formatted = isinstance(column, Position) and column.format is not None
    require(plain and not imputed and not formatted, f"{name!r} divides no records", query)
    require(bool(column.levels), f"{name!r} has no states", query)
    tree = condition(where or "")
    for state in column.levels:
        if truth(tree, name, state) is not False:
            require(cell(state) in cells, f"the query reads {state!r} too", query)


def truth(tree: ConditionTree, name: str, value: object) -> bool | None:
    """Whether the condition holds where the column has this value.

    `None` if other columns decide.
    """
    if isinstance(tree, Joined):
        parts = [truth(part, name, value) for part in tree.parts]
        if tree.how == "not":
            return None if parts[0] is None else not parts[0]
        decides = tree.how == "or"
        if decides in parts:
            return decides
        return None if None in parts else not decides
    if tree.column != name:
        return None
    if tree.operator in _COMPARED:
        return _compared(value, _COMPARED[tree.operator], tree.values[0])
    among = _among(value, tree.values)
    return among if tree.operator == "in" or among is None else not among


def _among(value: Any, items: tuple[Any, ...]) -> bool | None:
    # 1 and True are equal as keys of a cache, and are values of different kinds.
    kinds, known, cells = _listed(items, tuple(map(type, items)))
    kind = _kind(value)
    if kinds == {kind} and kind == "number":
        return float(value) in known
    if kinds == {kind} and (value in known or cell(value) not in cells):
        return value in known
    equal = [_compared(value, operator.eq, item) for item in items]
    return True if True in equal else None if None in equal else False


@lru_cache(maxsize=256)
def _listed(
    items: tuple[Any, ...], types: tuple[type, ...]
) -> tuple[set[str], frozenset[Any], frozenset[Cell]]:
    """The kinds, values (numbers as doubles) and cells of a list, which is read once."""
    kinds = {_kind(item) for item in items}
    values = map(float, items) if kinds == {"number"} else items
    return kinds, frozenset(values), frozenset(map(cell, items))


def _compared(value: Any, compare: Callable[[Any, Any], bool], other: Any) -> bool | None:
    """As the data engine compares: numbers as doubles, texts and booleans for equality only."""
    watched()
    kind = _kind(value)
    if kind != _kind(other) or kind == "":
        return None
    if kind == "number":
        return compare(float(value), float(other))
    if compare not in (operator.eq, operator.ne) or (value != other and cell(value) == cell(other)):
        return None
    return compare(value, other)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "text" if isinstance(value, str) else ""
