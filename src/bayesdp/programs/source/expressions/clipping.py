"""Functions of numbers: clip, abs, min and max."""

from __future__ import annotations

import ast
from dataclasses import replace

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import bind, single
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    Data,
    Items,
    LoweredValue,
    PersonRows,
    Scalar,
    check_numeric,
    constant,
    entries_of,
    highest,
    number_of,
    scalar,
    whole_or_real,
)
from bayesdp.programs.source.records.person_rows import folded
from bayesdp.programs.source.syntax.diagnostics import place, refuse


def call_clip(node: ast.Call, context: Context) -> LoweredValue:
    """`clip(value, low, high)`: a number, held inside two ends that are not private."""
    bound = bind(node, ["value", "low", "high"], needed=3)
    value = scalar(context.value(bound.given["value"]), bound.given["value"])
    ends = [scalar(context.value(bound.given[name]), node) for name in ("low", "high")]
    for end, at in zip(ends, ("low", "high"), strict=True):
        if end.of_records:
            raise refuse(
                "private-parameter",
                bound.given[at],
                "The ends of a clip depend on private data.",
                "Use literals, public or released values.",
            )
        check_numeric(end, bound.given[at])
    check_numeric(value, bound.given["value"])
    low, high = ends
    if "vector" in (value.type.kind, low.type.kind, high.type.kind):
        raise refuse("type", node, "clip takes one number.", "Clip the entries.")
    if low.level == high.level == "static" and number_of(low) > number_of(high):
        raise refuse("bounds", node, "The lower end of the clip lies above the upper one.")
    level = highest(value.level, low.level, high.level)
    kind = whole_or_real(value.type, low.type, high.type)
    if kind == INT and low.level == high.level == "static":
        kind = Type("int", number_of(low), number_of(high))
    released = value.released or low.released or high.released
    if level == "static":
        clipped = min(max(number_of(value), number_of(low)), number_of(high))
        return Scalar("static", constant(clipped, node), kind)
    expr = Expr("clip", (value.expr, low.expr, high.expr), (), place(node))
    return Scalar(level, expr, kind, released)


def call_abs(node: ast.Call, context: Context) -> LoweredValue:
    """`abs(value)`: the absolute value of a number."""
    value = scalar(context.value(single(node, "value")), node)
    check_numeric(value, node)
    if value.type.kind == "vector":
        raise refuse("type", node, "abs takes one number.")
    if value.level == "static":
        return Scalar("static", constant(abs(number_of(value)), node), whole_or_real(value.type))
    return replace(
        value, expr=Expr("abs", (value.expr,), (), place(node)), type=whole_or_real(value.type)
    )


def call_min(node: ast.Call, context: Context) -> LoweredValue:
    """`min(a, b, ...)`: the least of several numbers."""
    return _extreme("min", node, context)


def call_max(node: ast.Call, context: Context) -> LoweredValue:
    """`max(a, b, ...)`: the largest of several numbers."""
    return _extreme("max", node, context)


def _extreme(op: str, node: ast.Call, context: Context) -> LoweredValue:
    operands = [context.value(argument) for argument in node.args]
    if len(operands) == 1 and isinstance(operands[0], PersonRows):
        default = bind(node, ["rows"], needed=1, keyword=["default"]).given.get("default")
        return folded(op, operands[0], node, context, default)
    if node.keywords or not node.args:
        raise refuse("arguments", node, f"{op} takes the values: {op}(a, b).")
    if len(operands) == 1 and isinstance(operands[0], Items) and operands[0].items:
        operands = list(operands[0].items)
    elif len(operands) == 1 and isinstance(operands[0], Scalar) and operands[0].type.items:
        operands = list(entries_of(operands[0], place(node)))
    elif len(operands) == 1 and not isinstance(operands[0], Data):
        raise refuse("arguments", node, f"{op} takes two values or more: {op}(a, b).", "")
    if len(operands) == 1 and isinstance(operands[0], Data):
        raise refuse(
            "bounds",
            node,
            f"The {op} over all records can move by the whole range when one record changes.",
            "Use a score: exponential(score=..., candidates=..., epsilon=...).",
        )
    values = [scalar(part, node) for part in operands]
    for value in values:
        check_numeric(value, node)
        if value.type.kind == "vector":
            raise refuse("type", node, f"{op} takes numbers.")
    level = highest(*(value.level for value in values))
    if {"row", "private"} <= {value.level for value in values}:
        raise refuse("nonlinear", node, "This mixes one record's value with a private sum.")
    kind = whole_or_real(*(value.type for value in values))
    if level == "static":
        extreme = (min if op == "min" else max)(number_of(value) for value in values)
        return Scalar("static", constant(extreme, node), kind)
    expr = Expr(op, tuple(value.expr for value in values), (), place(node))
    return Scalar(level, expr, kind, any(value.released for value in values))
