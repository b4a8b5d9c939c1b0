"""`transition_counts`: how often which value follows which, over rows that public columns order."""

from __future__ import annotations

import ast

from bayesdp.programs.ir import Expr, Type, columns
from bayesdp.programs.source.drafts.arguments import BoundArguments, bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import INT, Data, LoweredValue, Scalar, static_of
from bayesdp.programs.source.expressions.categories import indicated
from bayesdp.programs.source.records.rows import data_expr, private_data, row_value
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse

CALL = 'transition_counts(people.state, order="month")'
MOST_VALUES = 32
"""The most values whose transitions are counted: 1,024 counts, as of other tables."""


def call_transition_counts(node: ast.Call, context: Context) -> LoweredValue:
    """`transition_counts(rows, order=[, by=])`: a private vector, a count for each pair of values.

    Rows follow each other whose public column `order` is one apart, within one value of `by`.
    """
    bound = bind(node, ["rows"], needed=1, keyword=["order", "by"])
    at = bound.given["rows"]
    data = private_data(at, context)
    mapped, kind = row_value(data, at)
    hot = Scalar("row", mapped, kind)
    if context.draft.adjacency == "add-remove":
        raise refuse(
            "unproved",
            node,
            "Transitions are counted where the number of records is public, and so is their order.",
            "Leave adjacency out of @program.",
        )
    if "order" not in bound.given:
        raise _no_order(node, context)
    _check_filter(data, at, context)
    keys = [_key(bound, name, context) for name in ("order", "by") if name in bound.given]
    if mapped.op != "onehot":
        hot = indicated(hot, None, node)
    values = len(hot.type.items)
    if values > MOST_VALUES:
        raise refuse(
            "size",
            at,
            f"Transitions of {values} values are {values**2} counts.",
            f"Merge some values: at most {MOST_VALUES}.",
        )
    counted = Expr("transitions", (data_expr(data, hot.expr, node), *keys), (), place(node))
    return Scalar("private", counted, Type("vector", items=(INT,) * values**2))


def _no_order(node: ast.Call, context: Context) -> ProgramError:
    whole = [name for name, kind in context.draft.columns.items() if kind.kind == "int" and name]
    public = [name for name in whole if name in context.draft.public_columns]
    if public:
        remedy = f'Write order="{public[0]}".'
    elif whole:
        remedy = f'Declare {whole[0]}: Public[Int[...]], and write order="{whole[0]}".'
    else:
        remedy = f"Give the record a column month: Public[Int[1, 240]], and write {CALL}."
    return refuse(
        "arguments",
        node,
        "order= is missing: a public column of whole numbers that says which record follows which.",
        remedy,
    )


def _key(bound: BoundArguments, name: str, context: Context) -> Expr:
    """The public column that `order` or `by` names."""
    at = bound.given[name]
    column = static_of(context.value(at))
    kind = context.draft.columns.get(column) if isinstance(column, str) else None
    if kind is None or not column:
        known = ", ".join(sorted(key for key in context.draft.columns if key)) or "none"
        raise refuse(
            "arguments", at, f"{name} is the name of a column of the record: {known}.", CALL
        )
    if not kind.public:
        raise refuse(
            "private-parameter",
            at,
            f"'{column}' is private: with it a record would change which records follow which.",
            f"If it is not to be protected, declare {column}: Public[...].",
        )
    if name == "order" and kind.kind != "int":
        raise refuse(
            "type",
            at,
            f"'{column}' doesn't hold whole numbers, and steps are whole.",
            f"Declare {column}: Public[Int[low, high]].",
        )
    return Expr("field", (), (str(column),), place(at))


def _check_filter(data: Data, node: ast.expr, context: Context) -> None:
    read = columns(data.filter) | {column for column, _ in data.pieces}
    private = sorted(read - context.draft.public_columns)
    if private:
        raise refuse(
            "private-parameter",
            node,
            f"'{private[0]}' is private and decides which records are here, and so which follow "
            "which.",
            "Count all transitions, and take the entries that matter; or filter by public columns.",
        )
