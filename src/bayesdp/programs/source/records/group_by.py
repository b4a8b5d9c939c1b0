"""Records of several rows: `group_by(visits, by="person", most=5)`.

A fold of a person's rows, `sum(v.cost for v in p)`, becomes a column of the program's record: the
program that is checked is one over these columns, and reads no row. So the database itself has no
other use in such a program. Which rows are folded, and how, is known before anything is released.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from bayesdp.programs.ir import Expr, RowFold, Type
from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.grouping import RowGrouping
from bayesdp.programs.source.drafts.values import (
    TRUE,
    Data,
    LoweredValue,
    PersonVariable,
)
from bayesdp.programs.source.syntax.diagnostics import refuse
from bayesdp.programs.source.syntax.literals import Literal, literal
from bayesdp.programs.source.syntax.source_file import SourceFile

NAME = "group_by"
WRITTEN = 'people = group_by(visits, by="person", most=5)'
EACH = "Fold each person's rows inside a generator: (sum(v.cost for v in p) for p in people)."
MOST_ROWS = 10_000
"""The most rows of a person that count."""


def grouping_of(
    source: SourceFile,
    function: ast.FunctionDef,
    database: str,
    columns: tuple[tuple[str, Type], ...],
    arguments: Mapping[str, Literal],
) -> RowGrouping | None:
    """How a program groups the rows of its `database` with these `columns`; None if it doesn't.

    `arguments` are its public ones, `function` is a program of `source`.
    """
    if NAME not in source.surface:
        return None
    calls = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == NAME
    ]
    if not calls:
        return None
    constants = dict(source.constants) | dict(arguments)
    groupings = [_read(call, database, constants) for call in calls]
    for call, grouping in zip(calls, groupings, strict=True):
        if grouping != groupings[0]:
            raise refuse(
                "arguments", call, "All rows are grouped in one way.", "Group them once, by a name."
            )
    grouped = {id(call.args[0]) for call in calls if call.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == database and id(node) not in grouped:
            raise refuse(
                "type",
                node,
                f"'{database}' holds several rows of a person, and is grouped here: what is "
                "protected is a person, not a row.",
                f"Use what {NAME} gives. " + EACH,
            )
    if columns[0][0] == "":
        raise refuse("type", calls[0], "Rows that are one value name no person.", "A @record.")
    by, most = groupings[0]
    if any(name == by and not kind.public for name, kind in columns):
        raise refuse(
            "private-parameter",
            calls[0],
            f"'{by}' is private, and how many persons there are is public.",
            f"Group by what tells persons apart. If '{by}' does, leave it out of the record, or "
            f"declare {by}: Public[...].",
        )
    return RowGrouping(by, most, columns)


def _read(node: ast.Call, database: str, constants: Mapping[str, Literal]) -> tuple[str, int]:
    bound = bind(node, ["rows", "by", "most"], needed=3)
    rows = bound.given["rows"]
    if not (node.args and isinstance(rows, ast.Name) and rows.id == database):
        raise refuse("arguments", rows, f"{NAME} takes the database as it is.", WRITTEN)
    by = literal(bound.given["by"], constants)
    most = literal(bound.given["most"], constants)
    if not isinstance(by, str) or not by:
        raise refuse("arguments", bound.given["by"], "by is the name of a column.", WRITTEN)
    if not isinstance(most, Fraction) or most.denominator != 1 or not 1 <= most <= MOST_ROWS:
        raise refuse(
            "arguments",
            bound.given["most"],
            f"most is how many rows of a person count, from 1 to {MOST_ROWS}.",
            WRITTEN,
        )
    return by, int(most)


def call_group_by(node: ast.Call, context: Context) -> LoweredValue:
    """`group_by(rows, by="person", most=5)`: the persons, each with at most so many rows."""
    grouping = context.draft.grouping
    if grouping is None or not _is_database(node, context):
        raise refuse("arguments", node, f"{NAME} takes the program's database.", WRITTEN)
    return Data((), TRUE, PersonVariable(_shared(grouping, context), grouping.rows))


def _is_database(node: ast.Call, context: Context) -> bool:
    first_argument = node.args[0] if node.args else None
    return isinstance(first_argument, ast.Name) and first_argument.id == context.draft.database


def _shared(grouping: RowGrouping, context: Context) -> tuple[tuple[str, Type], ...]:
    """The public columns of rows: all rows of a person have one value, which is the person's."""
    columns = []
    for name, kind in grouping.rows:
        if kind.public:
            fold = RowFold("same", TRUE, Expr("field", (), (name,)))
            columns.append(new_column(name, fold, kind, context))
    return tuple(columns)


def new_column(name: str, fold: RowFold, kind: Type, context: Context) -> tuple[str, Type]:
    """The column that a `fold` of each person's rows is: one of before, or a new one.

    `kind` is its type; a new column has this `name`, or one like it where that is taken.
    """
    grouping = context.draft.grouping
    assert grouping is not None
    column = grouping.column(name, fold, kind)
    context.draft.add_column(*column)
    return column
