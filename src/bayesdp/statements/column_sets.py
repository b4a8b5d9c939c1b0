"""All declared columns together: their names, roles, labels, what they derive from each other."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from bayesdp.statements.base import (
    Name,
    Reader,
    StatementError,
)
from bayesdp.statements.columns import (
    DEFINED_AS,
    AnyColumn,
    Columns,
    Condition,
    Cut,
    Derived,
    Found,
    Group,
    Impute,
    Member,
    Numeric,
    Position,
    kind_of,
)
from bayesdp.statements.conditions import (
    Operand,
    comparisons,
    holds,
    parse,
    value_kind,
)

_COLUMNS: Reader[dict[str, AnyColumn]] = Reader(dict[Name, AnyColumn])


def read_columns(plain: object, place: str = "columns") -> dict[str, AnyColumn]:
    """The declared columns by name, each as one of the classes above.

    Raises `StatementError` naming the first problem.
    """
    columns = _COLUMNS.read(plain, place)
    roles: set[str] = set()
    derived: dict[str, bool] = {}
    definitions: set[str] = set()
    for name, column in columns.items():
        if DEFINED_AS in name:
            raise StatementError(f"{place}.{name}", "a name that reads like a definition")
        if isinstance(column, Group | Member | Position):
            if column.role in roles:
                raise StatementError(f"{place}.{name}", "two columns of one role")
            roles.add(column.role)
        for part in (isinstance(column, Position) and column.parts) or ():
            if part == name or DEFINED_AS in part or not _is_public_cell(part, columns):
                raise StatementError(
                    f"{place}.{name}", "a date is put together from a column that is not public"
                )
        if isinstance(column, Derived):
            _check_source(name, column, columns, f"{place}.{name}")
            definition = label("", column)
            if definition in definitions:
                raise StatementError(f"{place}.{name}", "two columns of one definition")
            definitions.add(definition)
            if derived.setdefault(column.source, column.is_private) != column.is_private:
                raise StatementError(
                    f"{place}.{name}", "a private and a public column are computed from one column"
                )
    return columns


def _is_public_cell(name: str, columns: Columns) -> bool:
    """Whether a column of the table is public as far as is declared: nothing private reads it."""
    readers = [column for column in columns.values() if getattr(column, "source", None) == name]
    stated = columns.get(name)
    is_cell = stated is None or not isinstance(stated, Derived | Position)
    declared = readers if stated is None else [*readers, stated]
    return is_cell and not any(column.is_private for column in declared)


def _check_source(name: str, column: Derived, columns: Columns, place: str) -> None:
    source = columns.get(column.source)
    if column.source == name or DEFINED_AS in column.source:
        raise StatementError(place, "it isn't computed from another column of the table")
    if source is None:
        return
    if isinstance(source, Derived):
        raise StatementError(place, "it is computed from a derived column")
    if isinstance(column.missing, Impute):
        raise StatementError(place, "missing values belong to the column that it is computed from")
    if source.is_private and not column.is_private:
        raise StatementError(place, "a public column is computed from a private one")
    if not source.is_private and column.is_private:
        raise StatementError(place, "a private column is computed from a public one")
    values = source.levels or ()
    dated = isinstance(source, Position) and isinstance(source.step, str)
    if isinstance(column, Cut) and (
        dated or not all(kind_of(value) == "number" for value in values)
    ):
        raise StatementError(place, "cuts of values that are not numbers")


def check_law(covers: tuple[str, ...], columns: Columns, place: str) -> None:
    """Refuse a law of the covered columns' states in which some state is impossible.

    That is so where two columns hold values of one column of the table, themselves or computed from
    it, and where no value of its declared source has some state of a derived column. Raises
    `StatementError`.
    """
    sources = [getattr(columns[name], "source", name) for name in covers]
    for name, source in zip(covers, sources, strict=True):
        if sources.count(source) > 1:
            reason = f"there are two columns with values of '{source}', and a law of both"
            raise StatementError(place, reason)
        column = columns[name]
        if isinstance(column, Derived) and source in columns:
            missed = sorted(set(column.levels or ()) - _reached(column, columns[source]))
            if missed:
                raise StatementError(place, f"no value of '{source}' has the state {missed[0]}")


def _reached(column: Cut | Condition, source: AnyColumn) -> set[Any]:
    """The states of a derived column that values of its source have."""
    tree = None if isinstance(column, Cut) else parse(column.where)
    values: list[Any] = list(source.levels or ())
    if isinstance(source, Numeric):
        literals: Iterable[Any] = (
            column.cuts
            if isinstance(column, Cut)
            else [value for test in comparisons(parse(column.where)) for value in test.values]
        )
        marks = [float(value) for value in literals if not isinstance(value, str)]
        low, high = source.bounds
        missing = {float(code) for code in source.codes if not isinstance(code, str)}
        inside = (mark for mark in (*marks, *missing) if low <= mark <= high)
        ends = sorted({low, high, *inside})
        values = [*ends, *((a + b) / 2 for a, b in pairwise(ends))]
        values = [value for value in values if value not in missing]
    if not values:
        return set(column.levels)
    if isinstance(column, Cut):
        return {sum(cut <= value for cut in column.cuts) for value in values}
    tree = parse(column.where)
    return {int(holds(tree, {column.source: value})) for value in values}


def roles_of(columns: Columns) -> dict[str, Group | Member | Position]:
    """The columns with a role, by their roles."""
    with_roles = (
        column for column in columns.values() if isinstance(column, Group | Member | Position)
    )
    return {column.role: column for column in with_roles}


def operand(column: AnyColumn) -> Operand:
    """The facts about a column that conditions on it depend on."""
    dated = isinstance(column, Position) and isinstance(column.step, str)
    levels = column.levels
    if isinstance(column, Found):
        return Operand("text")
    if isinstance(column, Numeric | Derived):
        return Operand("number", levels, indicator=isinstance(column, Condition))
    if dated:
        return Operand("text", levels, dated=True)
    return Operand(None if levels is None else value_kind(levels[0]), levels)


def label(name: str, column: AnyColumn) -> str:
    """The name of a column in spends: with its definition, where it is derived."""
    cuts = column.cuts if isinstance(column, Cut) else None
    where = column.where if isinstance(column, Condition) else None
    return name_in_spends(name, getattr(column, "source", None), cuts, where)


def name_in_spends(
    name: str, source: str | None, cuts: Iterable[float] | None, where: str | None
) -> str:
    """The name of a column in spends, after which the ledger knows it.

    That of a column cut at `cuts` from the column `source`, or of one that says whether the
    condition `where` on `source` holds, has its definition in it: another definition is another
    column. An argument is `None` where the column has no such part.
    """
    if cuts is not None:
        return f"{name}{DEFINED_AS}{source} cut at {list(cuts)}"
    if where is not None:
        return f"{name}{DEFINED_AS}({where}) of {source}"
    return name
