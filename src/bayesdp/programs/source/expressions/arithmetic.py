"""Arithmetic on values: one operand or two, numbers, vectors and tuples."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Type
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    BOOL,
    INT,
    REAL,
    DataLevel,
    Items,
    LoweredValue,
    Scalar,
    check_numeric,
    combined,
    highest,
    number_of,
    operation,
    scalar,
    static,
    static_of,
    unmixed,
)
from bayesdp.programs.source.expressions.conditions import check_truth_value
from bayesdp.programs.source.expressions.functions import floored
from bayesdp.programs.source.records.person_rows import mean_of
from bayesdp.programs.source.syntax.diagnostics import refuse
from bayesdp.programs.source.syntax.literals import arithmetic

MOST_ENTRIES = 20_000
POWERS = tuple(Fraction(power) for power in range(2, 7))
"""Powers of what is not a literal: products that are written out."""
OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}


def unary(node: ast.UnaryOp, context: Context) -> LoweredValue:
    """`not a`, `-a`, `+a`."""
    operand = scalar(context.value(node.operand), node.operand)
    if isinstance(node.op, ast.Not):
        check_truth_value(operand, node.operand)
        if operand.level == "static":
            return static(not operand.expr.data[0], node)
        return Scalar(operand.level, operation("not", node, operand), BOOL, operand.released)
    check_numeric(operand, node.operand)
    if isinstance(node.op, ast.UAdd):
        return operand
    if operand.level == "static" and operand.type.kind != "vector":
        return static(-number_of(operand), node)
    return replace(
        operand,
        level=_computed(operand.level),
        expr=operation("neg", node, operand),
        type=_loose(operand.type),
    )


def binary(node: ast.BinOp, context: Context) -> LoweredValue:
    """`a + b` and the like: of tuples, of literals, or of numbers that are computed later."""
    left, right = context.value(node.left), context.value(node.right)
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        if len(left.items) + len(right.items) > MOST_ENTRIES:
            raise refuse("size", node, f"A tuple of more than {MOST_ENTRIES} entries.")
        return Items(left.items + right.items, left.changes)
    if isinstance(node.op, ast.Add | ast.Sub) and _tuple_and_number(left, right):
        raise refuse(
            "type", node, "A tuple and a number are not added.", "(a, b) + (c,) is one tuple."
        )
    if isinstance(node.op, ast.Mult):
        repeated = _repeated(left, right, node) or _repeated(right, left, node)
        if repeated is not None:
            return repeated
    if isinstance(node.op, ast.Mod) and _is_text(left):
        raise refuse(
            "effect", node, "A text made from values is a way out for them.", "Return values."
        )
    a, b = scalar(left, node.left), scalar(right, node.right)
    check_numeric(a, node.left)
    check_numeric(b, node.right)
    if a.level == b.level == "static" and "vector" not in (a.type.kind, b.type.kind):
        return static(arithmetic(node, number_of(a), number_of(b)), node)
    if type(node.op) not in OPERATIONS:
        power = static_of(right)
        if isinstance(node.op, ast.Pow) and power in POWERS:
            result = calculated("mul", node, a, a, context)
            for _ in range(POWERS.index(power)):
                result = calculated("mul", node, result, a, context)
            return result
        vectors = "vector" in (a.type.kind, b.type.kind)
        if isinstance(node.op, ast.FloorDiv) and a.level != "private" and not vectors:
            return floored(calculated("div", node, a, b, context), node)
        raise refuse(
            "construct",
            node,
            "On data and released values the operations are + - * / // and powers of 2 to 6.",
            "Release it first; or divide each row's value, inside the sum."
            if isinstance(node.op, ast.FloorDiv)
            else "There are sqrt, log and exp of rows and of released values.",
        )
    return calculated(OPERATIONS[type(node.op)], node, a, b, context)


def calculated(op: str, node: ast.AST, a: Scalar, b: Scalar, context: Context) -> Scalar:
    """The value of `a op b`, under the rules about private factors and divisors."""
    unmixed([a.level, b.level], node)
    if op == "mul" and a.level == b.level == "private":
        raise refuse(
            "nonlinear",
            node,
            "A product of two private values has no bounded sensitivity rule here.",
            "Release one of them first, or multiply inside the row.",
        )
    if op == "div" and b.level == "private":
        raise refuse(
            "nonlinear",
            node,
            "This divides by a private value of all records.",
            "Divide by a public or released value, or release both and divide afterwards.",
        )
    if op == "div" and b.type.kind == "bool":
        raise refuse("division", node, "This divides by a truth value, which may be 0.")
    if op == "div" and (mean := mean_of(a, b, node, context)) is not None:
        return mean
    kinds = (a.type.kind, b.type.kind)
    if kinds == ("vector", "vector") and len(a.type.items) != len(b.type.items):
        raise refuse("type", node, "Two vectors of different lengths.", "")
    if kinds == ("vector", "vector") and op in ("mul", "div") and a.level != "public":
        raise refuse("nonlinear", node, "Vectors are added, or scaled by one public number.")
    level = _computed(highest(a.level, b.level))
    kind = combined(op, a.type, b.type)
    return Scalar(level, operation(op, node, a, b), kind, a.released or b.released)


def _tuple_and_number(left: LoweredValue, right: LoweredValue) -> bool:
    kinds = (isinstance(left, Items), isinstance(right, Items))
    vectors = [isinstance(x, Scalar) and x.type.kind == "vector" for x in (left, right)]
    return any(kinds) and not all(kinds) and not any(vectors)


def _repeated(items: LoweredValue, times: LoweredValue, node: ast.AST) -> Items | None:
    """(1,) * 6 as in Python: six entries."""
    count = static_of(times)
    if not isinstance(items, Items) or not isinstance(count, Fraction) or count.denominator != 1:
        return None
    if len(items.items) * count > MOST_ENTRIES:
        raise refuse("size", node, f"A tuple of more than {MOST_ENTRIES} entries.")
    return Items(items.items * int(count))


def _is_text(value: LoweredValue) -> bool:
    return isinstance(value, Scalar) and value.type.kind == "text"


def _computed(level: DataLevel) -> DataLevel:
    """The level of what is left to compute: static values are literals."""
    return "public" if level == "static" else level


def _loose(kind: Type) -> Type:
    if kind.kind == "vector":
        return Type("vector", items=tuple(_loose(entry) for entry in kind.items))
    return REAL if kind.kind == "real" else INT
