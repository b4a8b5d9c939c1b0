"""Private data: rows, columns, sizes and sums over all rows."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Expr, Type, columns
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    TRUE,
    Data,
    DataLevel,
    LoweredValue,
    ModelObject,
    PersonVariable,
    RecordVariable,
    Scalar,
    constant,
    described,
    scalar,
    whole_or_real,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse

BY_A_MODEL = (
    "Noisy answers are observed, observe(answers, bernoulli, prior=...), or returned one by one as "
    "Private[Vector]; sums and counts are taken of what is returned."
)
ONE = constant(Fraction(1))


def private_data(node: ast.expr, context: Context) -> Data:
    """An argument that is a sequence of private rows."""
    data = context.value(node)
    if isinstance(data, Data):
        return data
    raise refuse(
        "type",
        node,
        f"Here stands {described(data)}, and private data is wanted.",
        BY_A_MODEL
        if is_answers(data)
        else "Write the database or a generator over it: (row.height for row in people).",
    )


def row_value(data: Data, node: ast.AST) -> tuple[Expr, Type]:
    """The value of a row as an expression with its type. Rows of whole records are refused."""
    if isinstance(data.row, RecordVariable):
        raise refuse(
            "type",
            node,
            "A record is not a number.",
            "Take a column: (row.height for row in people).",
        )
    value = scalar(data.row, node)
    return value.expr, value.type


def column_of(row: RecordVariable, name: str, node: ast.AST) -> Scalar:
    """A column of a record."""
    fields = dict(row.fields)
    if isinstance(row, PersonVariable) and name in dict(row.rows) and name not in fields:
        raise refuse(
            "attribute",
            node,
            f"A person has several rows, each with a '{name}'.",
            f'Fold them: sum(v.{name} for v in p), any(...), max(...), or p.last(by="day").{name}.',
        )
    if name not in fields or name == "":
        raise refuse(
            "attribute",
            node,
            f"The record has no column '{name}'.",
            did_you_mean(name, sorted(column for column in fields if column))
            or "A scalar record is used as it is.",
        )
    return Scalar("row", Expr("field", (), (name,), place(node)), fields[name])


def size_of(data: Data, node: ast.AST, context: Context) -> Scalar:
    """The number of rows: public under replace-one unless a private column decides it."""
    if context.draft.adjacency == "replace-one" and not data.pieces and data.filter == TRUE:
        return Scalar("public", Expr("public", (), ("db.size",), place(node)), INT)
    counted = Expr("count", (data_expr(data, ONE, node),), (), place(node))
    level: DataLevel = "public" if is_public_data(data, ONE, context) else "private"
    return Scalar(level, counted, INT, reads_released(counted))


def is_public_data(data: Data, mapped: Expr, context: Context) -> bool:
    """Whether a sum over this data is the same on neighbouring tables."""
    if context.draft.adjacency != "replace-one":
        return False
    public = context.draft.public_columns
    return (
        all(column in public for column, _ in data.pieces)
        and columns(data.filter) <= public
        and columns(mapped) <= public
    )


def data_expr(data: Data, mapped: Expr, node: ast.AST) -> Expr:
    """The `data` expression of a sequence with this row value."""
    return Expr("data", (data.filter, mapped), (data.pieces,), place(node))


def summed(data: Data, mapped: Expr, kind: Type, node: ast.AST, context: Context) -> Scalar:
    """The sum of a row value over data."""
    total = Expr("sum", (data_expr(data, mapped, node),), (), place(node))
    level: DataLevel = "public" if is_public_data(data, mapped, context) else "private"
    type_ = whole_or_real(kind)
    if kind.kind == "vector":
        type_ = Type("vector", items=tuple(whole_or_real(entry) for entry in kind.items))
    return Scalar(level, total, type_)


def check_all_rows(data: Data, node: ast.AST, context: Context) -> None:
    """Refuse an answer for each record where the number of records is private."""
    if not is_public_data(data, ONE, context):
        raise refuse(
            "private-output",
            node,
            "One answer for each record tells how many records there are, and that is private "
            "here.",
            "Answer about every record of the database (replace-one, no private filter).",
        )


def reads_released(expr: Expr) -> bool:
    """Whether a released or derived value stands in an expression."""
    if expr.op == "public" and expr.data[0] != "db.size":
        return True
    return any(reads_released(part) for part in expr.args)


def is_answers(value: LoweredValue) -> bool:
    """Whether a value is a list of noisy answers, which look like data."""
    return isinstance(value, ModelObject) and value.kind == "noisy-data"
