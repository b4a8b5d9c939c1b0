"""A person's rows, and folds of them: `sum(v.cost for v in p)`, `p.last(by="day").cost`."""

from __future__ import annotations

import ast
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
    LoweredValue,
    PersonRows,
    PersonVariable,
    RecordVariable,
    Scalar,
    static_of,
)
from bayesdp.programs.source.records.group_by import EACH, new_column
from bayesdp.programs.source.records.rows import column_of
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse


def of_rows(value: LoweredValue) -> LoweredValue:
    """A person's rows, where a person stands."""
    if isinstance(value, PersonVariable):
        return PersonRows(TRUE, RecordVariable(value.rows))
    return value


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
    row_filter = over.filter
    if isinstance(over.row, Scalar) and over.row.type.kind == "bool":
        tests = (over.row.expr,) if row_filter == TRUE else (row_filter, over.row.expr)
        row_filter = tests[0] if len(tests) == 1 else Expr("and", tests, (), place(node))
    least = Fraction(1) if row_filter == TRUE else Fraction(0)
    kind = Type("int", least, Fraction(grouping.most))
    return _column("rows", RowFold("count", row_filter, TRUE), kind, node, context)


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
    all_rows = PersonRows(TRUE, Scalar("row", summed.value, Type("real")))
    return folded("mean", all_rows, node, context)


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
    held, type_ = new_column(name, fold, kind, context)
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
