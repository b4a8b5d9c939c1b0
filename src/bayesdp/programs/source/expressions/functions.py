"""Functions of one number: floor, round, sqrt, log, exp and lgamma.

They are of a row's value, or of what is public or released; a private sum is released first.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import single
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    REAL,
    DataLevel,
    LoweredValue,
    Scalar,
    check_numeric,
    constant,
    number_of,
    operation,
    scalar,
    static_number,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse

HALF = Fraction(1, 2)


def call_sqrt(node: ast.Call, context: Context) -> LoweredValue:
    """`sqrt(value)`: the square root of a number that is at least 0."""
    return _applied("sqrt", node, context)


def call_log(node: ast.Call, context: Context) -> LoweredValue:
    """`log(value)`: the natural logarithm of a number above 0.

    Of a public quotient it is a difference: how near to 0 a quotient may come is seldom known.
    """
    value = _number(node, "log", context)
    if value.expr.op != "div" or value.level != "public":
        return _function("log", value, node)
    parts = (_function("log", replace(value, expr=part), node) for part in value.expr.args)
    return Scalar("public", operation("sub", node, *parts), REAL, value.released)


def call_exp(node: ast.Call, context: Context) -> LoweredValue:
    """`exp(value)`: the exponential of a number from -700 to 700."""
    return _applied("exp", node, context)


def call_lgamma(node: ast.Call, context: Context) -> LoweredValue:
    """`lgamma(value)`: the logarithm of the gamma function, of a public or released number."""
    value = _number(node, "lgamma", context)
    if value.level == "row":
        raise refuse(
            "construct", node, "lgamma is of public and released numbers.", "Release a sum first."
        )
    return _applied("lgamma", node, context)


def call_floor(node: ast.Call, context: Context) -> LoweredValue:
    """`floor(value)`: the largest whole number that is not above the value."""
    return floored(_number(node, "floor", context), node)


def call_round(node: ast.Call, context: Context) -> LoweredValue:
    """`round(value)`: the nearest whole number; of halves the upper one."""
    value = _number(node, "round", context)
    if value.level == "static":
        return floored(static_number(number_of(value) + HALF, node), node)
    more = Expr("add", (value.expr, constant(HALF, node)), (), place(node))
    return floored(Scalar(value.level, more, REAL, value.released), node)


def floored(value: Scalar, node: ast.AST) -> Scalar:
    """The largest whole number that is not above a value: of a literal, a literal."""
    if value.level == "static":
        number = number_of(value)
        return static_number(Fraction(number.numerator // number.denominator), node)
    return Scalar(value.level, Expr("floor", (value.expr,), (), place(node)), INT, value.released)


def _applied(op: str, node: ast.Call, context: Context) -> Scalar:
    return _function(op, _number(node, op, context), node)


def _function(op: str, value: Scalar, node: ast.Call) -> Scalar:
    level: DataLevel = "public" if value.level == "static" else value.level
    return Scalar(level, Expr(op, (value.expr,), (), place(node)), REAL, value.released)


def _number(node: ast.Call, name: str, context: Context) -> Scalar:
    at = single(node, "value")
    value = scalar(context.value(at), at)
    check_numeric(value, at)
    if value.type.kind == "vector":
        raise refuse("type", node, f"{name} takes one number.", f"Take {name} of the entries.")
    if value.level == "private":
        raise refuse(
            "nonlinear",
            node,
            f"{name} of a private value has no bounded sensitivity rule here.",
            f"Release the value first, and take {name} of what is released; or of each row's "
            "value, inside the sum.",
        )
    return value
