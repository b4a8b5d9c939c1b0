"""Functions of data: sums, counts, lengths, pieces, columns and folds."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import bind, single
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    REAL,
    TRUE,
    Data,
    Dictionary,
    Items,
    LoweredValue,
    Named,
    Parted,
    PersonRows,
    RecordVariable,
    Scalar,
    check_numeric,
    combined,
    described,
    number_of,
    scalar,
    static_number,
    static_of,
)
from bayesdp.programs.source.expressions.arithmetic import calculated
from bayesdp.programs.source.expressions.helpers import applied
from bayesdp.programs.source.records.person_rows import folded, of_rows
from bayesdp.programs.source.records.rows import (
    BY_A_MODEL,
    ONE,
    column_of,
    data_expr,
    is_answers,
    private_data,
    row_value,
    size_of,
    summed,
)
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.suggestions import INSTEAD

MOST_LISTED = 6


def call_sum(node: ast.Call, context: Context) -> LoweredValue:
    """`sum(data)`: private, unless only public columns are read; of a static tuple: a number."""
    over = of_rows(context.value(single(node, "data")))
    if isinstance(over, PersonRows):
        return folded("sum", over, node, context)
    if isinstance(over, Items):
        parts = [scalar(part, node) for part in over.items]
        for part in parts:
            check_numeric(part, node)
        return _added(node, parts, context)
    if isinstance(over, Scalar) and over.type.kind == "vector" and over.level != "row":
        parts = [
            replace(over, expr=Expr("item", (over.expr,), (Fraction(i),)), type=kind)
            for i, kind in enumerate(over.type.items)
        ]
        return _added(node, parts, context)
    if not isinstance(over, Data):
        answers = BY_A_MODEL if is_answers(over) else ""
        raise refuse("type", node, f"{described(over).capitalize()} has no sum.", answers)
    mapped, kind = row_value(over, node)
    check_numeric(Scalar("row", mapped, kind), node)
    return summed(over, mapped, kind, node, context)


def call_any(node: ast.Call, context: Context) -> LoweredValue:
    """`any(rows of a person)`: whether one of them is true."""
    return _whether("any", node, context)


def call_all(node: ast.Call, context: Context) -> LoweredValue:
    """`all(rows of a person)`: whether each of them is true."""
    return _whether("all", node, context)


def _whether(op: str, node: ast.Call, context: Context) -> LoweredValue:
    over = of_rows(context.value(single(node, "rows")))
    if isinstance(over, PersonRows):
        return folded(op, over, node, context)
    raise refuse(
        "name",
        node,
        f"{op} is of the rows of one person, that group_by gives.",
        INSTEAD[op] if isinstance(over, Data) else "Write a or b, a and b.",
    )


def _added(node: ast.AST, parts: list[Scalar], context: Context) -> LoweredValue:
    total = static_number(Fraction(0))
    for part in parts:
        if total.level == part.level == "static":
            total = static_number(number_of(total) + number_of(part), node)
        else:
            total = calculated("add", node, total, part, context)
    return total


def call_count(node: ast.Call, context: Context) -> LoweredValue:
    """`count(data)`: how many rows; of truth values: how many are true."""
    over = of_rows(context.value(single(node, "data")))
    if isinstance(over, PersonRows):
        return folded("count", over, node, context)
    data = private_data(single(node, "data"), context)
    # The kept rows of a filtered Database[Bool] are rows: (x for x in obs if not x).
    rows = isinstance(data.row, Scalar) and data.row.expr.data == ("",) and data.filter != TRUE
    if isinstance(data.row, Scalar) and data.row.type.kind == "bool" and not rows:
        return summed(data, data.row.expr, INT, node, context)
    return size_of(data, node, context)


def call_len(node: ast.Call, context: Context) -> LoweredValue:
    """`len(tuple)`, which is static. A database has `.size` instead."""
    items = of_rows(context.value(single(node, "items")))
    if isinstance(items, PersonRows):
        return folded("count", items, node, context)
    if isinstance(items, Items):
        return static_number(Fraction(len(items.items)), node)
    if isinstance(items, Dictionary):
        return static_number(Fraction(len(items.keys)), node)
    if isinstance(items, Scalar) and items.type.kind == "vector":
        return static_number(Fraction(len(items.type.items)), node)
    if isinstance(items, Data):
        return size_of(items, node, context)
    raise refuse("type", node, f"{described(items).capitalize()} has no length.")


def call_partition(node: ast.Call, context: Context) -> LoweredValue:
    """`partition(db, by="column")`: the pieces, one for each label of the column."""
    bound = bind(node, ["data", "by"], needed=2)
    data = private_data(bound.given["data"], context)
    column = static_of(context.value(bound.given["by"]))
    if not isinstance(data.row, RecordVariable) or not isinstance(column, str):
        raise refuse(
            "arguments",
            node,
            "partition takes a database of records and the name of one column.",
            'partition(people, by="region").',
        )
    kind = column_of(data.row, column, bound.given["by"]).type
    if kind.kind == "category":
        labels = kind.labels
    elif kind.kind == "bool":
        labels = ("False", "True")
    else:
        raise _unlisted(column, kind, node)
    return Parted(data, column, labels, kind.public)


def _unlisted(column: str, kind: Type, node: ast.AST) -> ProgramError:
    """The refusal of pieces by numbers; a short list of whole numbers can become labels."""
    if kind.kind != "int" or kind.low is None or kind.high is None:
        return refuse(
            "type",
            node,
            f"'{column}' has no declared list of values.",
            "Partition by a Category or a Bool column: pieces must not depend on the data.",
        )
    low, high = int(kind.low), int(kind.high)
    ends = range(low, high + 1) if high - low < MOST_LISTED else (low, low + 1)
    labels = ", ".join(f'"{label}"' for label in ends)
    labels += "" if high - low < MOST_LISTED else ", ..."
    new = f"Category[{labels}]"
    return refuse(
        "type",
        node,
        f"'{column}' holds whole numbers, and pieces are of a Category or a Bool column.",
        f"Declare {column}: {f'Public[{new}]' if kind.public else new} (a column of whole numbers "
        f"is read as labels), or release one vector: laplace(tuple(count(p for p in people if "
        f"p.{column} == k) for k in range({low}, {high + 1})), epsilon=...).",
    )


def call_field(node: ast.Call, context: Context) -> LoweredValue:
    """`field(row, "name")`: a column by its name."""
    bound = bind(node, ["row", "name"], needed=2)
    row = context.value(bound.given["row"])
    name = static_of(context.value(bound.given["name"]))
    if not isinstance(row, RecordVariable) or not isinstance(name, str):
        raise refuse("arguments", node, 'field takes a row and a name: field(row, "height").')
    return column_of(row, name, node)


def call_fold(node: ast.Call, context: Context) -> LoweredValue:
    """`fold(data, start, step)`: step is a @helper of the value so far and one row."""
    bound = bind(node, ["data", "start", "step"], needed=3)
    data = private_data(bound.given["data"], context)
    start = static_of(context.value(bound.given["start"]))
    if not isinstance(start, Fraction):
        raise refuse("static", bound.given["start"], "fold starts from a literal number.")
    step = context.value(bound.given["step"]) if isinstance(bound.given["step"], ast.Name) else None
    if not isinstance(step, Named) or step.kind != "helper":
        raise refuse("arguments", bound.given["step"], "fold's step is the name of a @helper.")
    # Whole numbers stay whole if a step makes a whole number of one.
    counted = INT if start.denominator == 1 else REAL
    so_far = Scalar("row", Expr("acc", (), (), place(node)), counted)
    stepped = scalar(applied(step.name, [so_far, data.row], node, context), node)
    if stepped.type.kind == "vector":
        raise refuse("type", node, "fold's step gives one number.")
    folded = data_expr(data, ONE, node)
    kind = combined("add", counted, stepped.type)
    return Scalar("private", Expr("fold", (folded, stepped.expr), (start,), place(node)), kind)
