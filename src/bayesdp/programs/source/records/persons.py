"""Records of several rows: `group_by(visits, by="person", most=5)`, and folds of a person's rows.

A fold of a person's rows, `sum(v.cost for v in p)`, becomes a column of the program's record: the
program that is checked is one over these columns, and reads no row. So the database itself has no
other use in such a program. Which rows are folded, and how, is known before anything is released.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.programs.ranges import Range
from bayesdp.programs.ir import Expr, RowFold, Type
from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.grouping import RowGrouping
from bayesdp.programs.source.drafts.values import (
    BOOL,
    TRUE,
    Data,
    Items,
    LoweredValue,
    PersonRows,
    PersonVariable,
    RecordVariable,
    Scalar,
    static_of,
)
from bayesdp.programs.source.expressions.conditions import truth
from bayesdp.programs.source.records.rows import column_of
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.literals import Literal, literal
from bayesdp.programs.source.syntax.source_file import SourceFile

NAME = "group_by"
WRITTEN = 'people = group_by(visits, by="person", most=5)'
EACH = "Fold each person's rows inside a generator: (sum(v.cost for v in p) for p in people)."
MOST_ROWS = 10_000
"""The most rows of a person that count."""
_ENDED = "is one row of a person, inside its generator only."


# -- the grouping itself -----------------------------------------------------------------------


def grouping_of(
    source: SourceFile,
    function: ast.FunctionDef,
    database: str,
    columns: tuple[tuple[str, Type], ...],
    chosen: Mapping[str, Literal],
) -> RowGrouping | None:
    """How a program groups the rows of its `database` with these `columns`; None if it doesn't.

    `chosen` are its public arguments, `function` is a program of `source`.
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
    constants = dict(source.constants) | dict(chosen)
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
    given = node.args[0] if node.args else None
    return isinstance(given, ast.Name) and given.id == context.draft.database


def _shared(grouping: RowGrouping, context: Context) -> tuple[tuple[str, Type], ...]:
    """The public columns of rows: all rows of a person have one value, which is the person's."""
    columns = []
    for name, kind in grouping.rows:
        if kind.public:
            fold = RowFold("same", TRUE, Expr("field", (), (name,)))
            columns.append(_new_column(name, fold, kind, context))
    return tuple(columns)


def _new_column(name: str, fold: RowFold, kind: Type, context: Context) -> tuple[str, Type]:
    grouping = context.draft.grouping
    assert grouping is not None
    column = grouping.column(name, fold, kind)
    context.draft.add_column(*column)
    return column


# -- a person's rows ------------------------------------------------------------------------


def of_rows(value: LoweredValue) -> LoweredValue:
    """A person's rows, where a person stands."""
    if isinstance(value, PersonVariable):
        return PersonRows(TRUE, RecordVariable(value.rows))
    return value


def mapped(node: ast.GeneratorExp | ast.ListComp, over: PersonRows, context: Context) -> PersonRows:
    """A generator over a person's rows, or some of them."""
    part = node.generators[0]
    if len(node.generators) != 1:
        raise refuse("construct", node, "One `for` over a person's rows.", "")
    if not isinstance(part.target, ast.Name):
        raise refuse("construct", part.target, "A generator names one row at a time.")
    inner = context.inside(context.scope.inside_rows({part.target.id: over.row}))
    tests = [over.filter] if over.filter != TRUE else []
    with context.draft.without_release(node, "A release inside a generator is not possible."):
        for condition in part.ifs:
            test = truth(condition, inner)
            if test.level != "static" or not test.expr.data[0]:
                tests.append(test.expr)
        value = inner.value(node.elt)
    context.scope.ended(part.target, _ENDED)
    kept = TRUE if not tests else tests[0]
    if len(tests) > 1:
        kept = Expr("and", tuple(tests), (), place(node))
    if not isinstance(value, Scalar | RecordVariable | Items):
        raise refuse("type", node.elt, "A row's value is a number or a truth value.", "")
    return PersonRows(kept, value)


def first_or_last(node: ast.Call, person: PersonVariable, op: str, context: Context) -> PersonRows:
    """`p.last(by="day")`: the row of a person with the largest value of a column."""
    bound = bind(node, ["by"], needed=1)
    name = static_of(context.value(bound.given["by"]))
    if not isinstance(name, str):
        raise refuse("arguments", node, f'p.{op}(by="day") names a column of the rows.', "")
    key = column_of(RecordVariable(person.rows), name, bound.given["by"])
    if key.type.kind not in ("int", "real"):
        raise refuse("type", bound.given["by"], f"{op} goes by a column of numbers.", "")
    return PersonRows(TRUE, RecordVariable(person.rows), (op, key.expr))


def column_of_chosen(owner: PersonRows, name: str, node: ast.AST, context: Context) -> Scalar:
    """A column of a person's first or last row."""
    assert isinstance(owner.row, RecordVariable)
    if owner.chosen is None:
        raise refuse("attribute", node, f"A person's rows have no '.{name}'.", EACH)
    value = column_of(owner.row, name, node)
    op, key = owner.chosen
    fold = RowFold(op, TRUE, value.expr, key)
    kind = Type(value.type.kind, value.type.low, value.type.high, value.type.labels)
    return _column(f"{op} {name}", fold, kind, node, context)


# -- folds ------------------------------------------------------------------------------------


def folded(
    op: str,
    over: PersonRows,
    node: ast.AST,
    context: Context,
    default: ast.expr | None = None,
) -> Scalar:
    """What `op` makes of a person's rows: a value of the person.

    `default` is what `min` and `max` are of no rows; `over` are the rows, or values of them.
    """
    grouping = context.draft.grouping
    assert grouping is not None
    if over.chosen is not None:
        raise refuse("type", node, "This is one row of a person.", "Take a column of it.")
    if op == "count":
        return _counted(over, grouping, node, context)
    value = over.row
    if not isinstance(value, Scalar) or value.type.kind not in ("bool", "int", "real"):
        raise refuse("type", node, f"{op} takes a number of each row: {op}(v.cost for v in p).", "")
    if op in ("any", "all"):
        if value.type.kind != "bool":
            raise refuse("type", node, f"{op} takes truth values: {op}(v.ill for v in p).", "")
        return _column(_named(op, value), RowFold(op, over.filter, value.expr), BOOL, node, context)
    low, high = _ends(grouping, value, node)
    extra = None
    if op == "sum":
        most = grouping.most
        least = Fraction(0) if over.filter != TRUE else Fraction(1)
        low, high = min(least * low, most * low), max(least * high, most * high)
    elif over.filter != TRUE or default is not None:
        number = None if default is None else static_of(context.value(default))
        if not isinstance(number, Fraction):
            raise refuse(
                "bounds",
                node,
                f"A person may have no such row, and then there is no {op}.",
                f"{op}((v.cost for v in p if v.ill), default=0)"
                if op != "mean"
                else "sum(...) / max(count(...), 1)",
            )
        low, high = min(low, number), max(high, number)
        extra = Expr("const", (), (number,), place(node))
    whole = value.type.kind in ("int", "bool") and op != "mean"
    whole = whole and low.denominator == high.denominator == 1
    kind = Type("int" if whole else "real", low, high)
    fold = RowFold(op, over.filter, value.expr, extra)
    return _column(_named(op, value), fold, kind, node, context)


def _counted(over: PersonRows, grouping: RowGrouping, node: ast.AST, context: Context) -> Scalar:
    kept = over.filter
    if isinstance(over.row, Scalar) and over.row.type.kind == "bool":
        tests = (over.row.expr,) if kept == TRUE else (kept, over.row.expr)
        kept = tests[0] if len(tests) == 1 else Expr("and", tests, (), place(node))
    least = Fraction(1) if kept == TRUE else Fraction(0)
    kind = Type("int", least, Fraction(grouping.most))
    return _column("rows", RowFold("count", kept, TRUE), kind, node, context)


def mean_of(total: Scalar, size: Scalar, node: ast.AST, context: Context) -> Scalar | None:
    """`sum(v.cost for v in p) / len(p)`: the mean, which lies inside the bounds of a row's value.

    `total` over `size` at `node`; None for any other quotient.
    """
    grouping = context.draft.grouping
    if grouping is None or not total.expr.op == size.expr.op == "field":
        return None
    summed, counted = (grouping.folds.get(str(part.expr.data[0])) for part in (total, size))
    if summed is None or counted is None or (summed.op, counted.op) != ("sum", "count"):
        return None
    if summed.filter != TRUE or counted.filter != TRUE:
        return None
    kept = PersonRows(TRUE, Scalar("row", summed.value, Type("real")))
    return folded("mean", kept, node, context)


def _ends(grouping: RowGrouping, value: Scalar, node: ast.AST) -> tuple[Fraction, Fraction]:
    _check_own(value.expr, node)
    try:
        held = grouping.range_of(value.expr)
    except InvalidError:
        held = Range()
    if not held.finite:
        raise refuse(
            "bounds",
            node,
            "This value of a row has no bounds, or may have no value.",
            "clip(value, low, high); or max(value, 1) inside a logarithm or a divisor.",
        )
    return Fraction(held.low), Fraction(held.high)


def _check_own(expr: Expr, node: ast.AST) -> None:
    """Refuse what is not of one row: rows are folded before anything is released."""
    if any(part.op == "public" for part in expr.walk()):
        raise refuse(
            "static",
            node,
            "A person's rows are folded before anything is released.",
            "Use literals and public arguments; decide on the released value outside the fold.",
        )


def _column(name: str, fold: RowFold, kind: Type, node: ast.AST, context: Context) -> Scalar:
    for part in fold.parts:
        _check_own(part, node)
        _check_tests(part, node, context)
    held, type_ = _new_column(name, fold, kind, context)
    return Scalar("row", Expr("field", (), (held,), place(node)), type_)


def _check_tests(expr: Expr, node: ast.AST, context: Context) -> None:
    """Refuse functions inside conditions that may have no value."""
    grouping = context.draft.grouping
    assert grouping is not None
    for part in expr.walk():
        if part.op in ("sqrt", "log", "exp", "div"):
            try:
                finite = grouping.range_of(part).finite
            except InvalidError:
                finite = False
            if not finite:
                raise _no_value(node)


def _no_value(node: ast.AST) -> ProgramError:
    return refuse(
        "bounds",
        node,
        "Inside these rows stands a function or a quotient that may have no value.",
        "max(value, 1) inside a logarithm, or as a divisor.",
    )


def _named(op: str, value: Scalar) -> str:
    """A name for a column, such as `sum of cost`."""
    return f"{op} of {value.expr.data[0]}" if value.expr.op == "field" else f"{op} of rows"


__all__ = [
    "RowGrouping",
    "call_group_by",
    "column_of_chosen",
    "first_or_last",
    "folded",
    "grouping_of",
    "mapped",
    "mean_of",
    "of_rows",
]
