"""Functions of categories: onehot and cross."""

from __future__ import annotations

import ast
from fractions import Fraction
from math import prod

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    LoweredValue,
    Scalar,
    indicators,
    scalar,
    static_of,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse
from bayesdp.programs.source.syntax.literals import Literal

MOST_CELLS = 1024


def call_onehot(node: ast.Call, context: Context) -> LoweredValue:
    """`onehot(i, k)`: k zeros with a one at i."""
    bound = bind(node, ["value", "k"], needed=1)
    value = scalar(context.value(bound.given["value"]), node)
    size = static_of(context.value(bound.given["k"])) if "k" in bound.given else None
    if value.level != "row":
        raise refuse("type", node, "onehot is of a value of one record.")
    hot = indicated(value, size, node)
    labels = len(hot.type.items)
    if "k" in bound.given and size != Fraction(labels):
        raise refuse("type", node, f"There are {labels} values.", f"Write k={labels}, or no k.")
    return hot


def indicated(value: Scalar, size: Literal | None, node: ast.AST) -> Scalar:
    """The one-hot vector of a row's `value`, of `size` cells for whole numbers, at `node`."""
    labels = len(value.type.labels) if value.type.kind == "category" else None
    if value.type.kind == "bool":
        labels = 2
    if value.type.kind == "int":
        labels = _cells(value.type, size, node)
    if labels is not None and labels > MOST_CELLS:
        raise refuse("size", node, f"This has more than {MOST_CELLS} cells.", "Merge some values.")
    if labels is None:
        raise refuse(
            "type",
            node,
            "onehot takes a Category, a Bool or whole numbers from 0 to k - 1.",
            "Merge values by conditions: onehot(0 if x < 18 else 1, 2).",
        )
    expr = Expr("onehot", (value.expr,), (Fraction(labels),), place(node))
    return Scalar("row", expr, indicators(labels))


def _cells(kind: Type, size: Literal | None, node: ast.AST) -> int:
    """How many cells whole numbers have. That they lie in them is shown by the checker."""
    known = kind.low == 0 and kind.high is not None
    if size is None and known:
        assert kind.high is not None
        return int(kind.high) + 1
    if not isinstance(size, Fraction) or size.denominator != 1 or size < 1:
        raise refuse(
            "arguments",
            node,
            "How many cells these whole numbers have must be written.",
            "onehot(value, k) for values from 0 to k - 1.",
        )
    return int(size)


def call_cross(node: ast.Call, context: Context) -> LoweredValue:
    """`cross(c1, c2, ...)`: all columns as one category, the last running fastest."""
    if node.keywords or len(node.args) < 2:
        raise refuse("arguments", node, "cross takes two or more categories: cross(a, b).")
    parts = [scalar(context.value(argument), argument) for argument in node.args]
    for part, at in zip(parts, node.args, strict=True):
        if part.level != "row" or part.type.kind not in ("category", "bool"):
            raise refuse("type", at, "cross takes Category or Bool columns of a row.")
    lists = [part.type.labels or ("False", "True") for part in parts]
    if prod(len(column_labels) for column_labels in lists) > MOST_CELLS:
        raise refuse("size", node, f"This has more than {MOST_CELLS} cells.", "Merge some labels.")
    labels = [""]
    for names in lists:
        labels = [f"{a}|{b}" if a else b for a in labels for b in names]
    public = all(part.type.public for part in parts)
    kind = Type("category", Fraction(0), Fraction(len(labels) - 1), tuple(labels), public=public)
    return Scalar("row", Expr("cross", tuple(p.expr for p in parts), (), place(node)), kind)
