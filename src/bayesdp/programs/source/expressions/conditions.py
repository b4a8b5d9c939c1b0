"""Truth values: comparisons, and/or/not; what a condition chooses between."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    BOOL,
    INT,
    Dictionary,
    Items,
    LoweredValue,
    Scalar,
    combined,
    constant,
    described,
    highest,
    operation,
    scalar,
    static,
    unmixed,
    whole_or_real,
)
from bayesdp.programs.source.expressions.labels import is_choice, other_label, same_label
from bayesdp.programs.source.expressions.sequences import sequence
from bayesdp.programs.source.syntax.diagnostics import refuse

COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
PRIVATE_BRANCH = "Release it first (laplace, gaussian, ...), then decide on the released value."


def compare(node: ast.Compare, context: Context) -> LoweredValue:
    """A comparison, or a chain of them: `0 < x < 1`."""
    operands = [node.left, *node.comparators]
    listed = {i + 1 for i, op in enumerate(node.ops) if isinstance(op, ast.In | ast.NotIn)}
    compared_values = [
        _looked_through(operand, context) if i in listed else context.value(operand)
        for i, operand in enumerate(operands)
    ]
    parts = [
        _among(op, node, compared_values[i], compared_values[i + 1])
        if isinstance(op, ast.In | ast.NotIn)
        else comparison(
            COMPARISONS[type(op)],
            node,
            scalar(compared_values[i], operands[i]),
            scalar(compared_values[i + 1], operands[i + 1]),
        )
        for i, op in enumerate(node.ops)
    ]
    return parts[0] if len(parts) == 1 else _connected("and", node, parts)


def _looked_through(node: ast.expr, context: Context) -> LoweredValue:
    """The list that `in` looks through: a range is written out, as in a loop."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name) and function.id == "range":
        steps = sequence(node, context)
        assert isinstance(steps, tuple)
        return Items(steps)
    return context.value(node)


def _among(op: ast.cmpop, node: ast.Compare, item: LoweredValue, listed: LoweredValue) -> Scalar:
    """`a in (b, c)`: one comparison after the other, of a list that is known beforehand."""
    if isinstance(listed, Dictionary):
        listed = Items(tuple(static(key, node) for key in listed.keys))
    if not isinstance(listed, Items):
        raise refuse(
            "construct",
            node,
            f"`in` looks through a tuple or a range of literals; here stands {described(listed)}.",
            'p.answer in ("yes", "no")',
        )
    left = scalar(item, node)
    parts = [comparison("eq", node, left, scalar(entry, node)) for entry in listed.items]
    among = _connected("or", node, parts) if parts else Scalar("static", constant(False), BOOL)
    if isinstance(op, ast.In):
        return among
    if among.level == "static":
        return Scalar("static", constant(not among.expr.data[0], node), BOOL)
    return Scalar(among.level, operation("not", node, among), BOOL, among.released)


def comparison(op: str, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
    """The comparison `op` of two values that are not private."""
    level = highest(a.level, b.level)
    if level == "private":
        raise refuse(
            "private-control",
            node,
            "A comparison with a private value is private, and nothing may depend on it.",
            PRIVATE_BRANCH,
        )
    if "vector" in (a.type.kind, b.type.kind):
        raise refuse("type", node, "Vectors are not compared.", "Compare their entries.")
    choices = [(x, y) for x, y in ((a, b), (b, a)) if is_choice(x)]
    if choices:
        if op not in ("eq", "ne"):
            raise refuse("type", node, "A label is compared with a label, by == or !=.")
        return (same_label if op == "eq" else other_label)(*choices[0], node)
    labels = [side for side in (a, b) if side.type.kind in ("category", "text")]
    if labels:
        if op not in ("eq", "ne") or len(labels) < 2:
            raise refuse("type", node, "A label is compared with a label, by == or !=.")
        _known_label(a, b, node)
    if level == "static":
        return _static_comparison(op, node, a, b)
    return Scalar(level, operation(op, node, a, b), BOOL, a.released or b.released)


def _known_label(a: Scalar, b: Scalar, node: ast.AST) -> None:
    for side, other in ((a, b), (b, a)):
        if side.type.kind == "category" and other.level == "static":
            label = str(other.expr.data[0])
            if label not in side.type.labels:
                raise refuse(
                    "type",
                    node,
                    f"{label!r} is not a label of this column.",
                    did_you_mean(label, side.type.labels)
                    or f"Its labels are {', '.join(side.type.labels)}.",
                )


def _static_comparison(op: str, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
    x, y = a.expr.data[0], b.expr.data[0]
    if isinstance(x, str) or isinstance(y, str):
        truth = (x == y) == (op == "eq")
    else:
        assert isinstance(x, bool | Fraction)
        assert isinstance(y, bool | Fraction)
        u, v = Fraction(x), Fraction(y)
        truth = {
            "lt": u < v, "le": u <= v, "gt": u > v, "ge": u >= v, "eq": u == v, "ne": u != v
        }[op]  # fmt: skip
    return Scalar("static", constant(truth, node), BOOL)


def boolean(node: ast.BoolOp, context: Context) -> LoweredValue:
    """`a and b`, `a or b`."""
    parts = []
    for operand in node.values:
        part = scalar(context.value(operand), operand, "a truth value")
        check_truth_value(part, operand)
        parts.append(part)
    return _connected("and" if isinstance(node.op, ast.And) else "or", node, parts)


def _connected(op: str, node: ast.AST, parts: list[Scalar]) -> Scalar:
    level = highest(*(part.level for part in parts))
    if level == "static":
        truths = [bool(part.expr.data[0]) for part in parts]
        return Scalar("static", constant(all(truths) if op == "and" else any(truths)), BOOL)
    return Scalar(level, operation(op, node, *parts), BOOL, any(p.released for p in parts))


def check_truth_value(value: Scalar, node: ast.AST) -> None:
    """Refuse what is private, or not a truth value."""
    if value.level == "private":
        raise refuse(
            "private-control",
            node,
            "The truth of a private value is private, and nothing may depend on it.",
            PRIVATE_BRANCH,
        )
    if value.type.kind != "bool":
        raise refuse(
            "type",
            node,
            "A truth value is wanted; numbers and labels have none here.",
            "Write the comparison: x != 0.",
        )


def truth(node: ast.expr, context: Context) -> Scalar:
    """The value of a condition: a truth value that is not private."""
    value = scalar(context.value(node), node, "a truth value")
    check_truth_value(value, node)
    return value


def _weighed(node: ast.AST, test: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """A choice by a public `test` of which a side is private: each side times a public 0 or 1."""
    kinds = [side.type.kind for side in (a, b)]
    if any(kind not in ("int", "real", "bool") for kind in kinds):
        raise refuse(
            "private-control",
            node,
            "A condition chooses between private values that are not single numbers.",
            "Release first; or put the condition inside the row.",
        )
    taken, left = (Scalar("static", constant(Fraction(i), node), INT) for i in (1, 0))
    parts = []
    for side, sides in ((a, (taken, left)), (b, (left, taken))):
        if side.level == "static" and not side.expr.data[0]:
            continue
        factor = Scalar("public", operation("if", node, test, *sides), INT, test.released)
        product = operation("mul", node, factor, side)
        parts.append(Scalar(side.level, product, whole_or_real(side.type)))
    total = parts[0].expr if len(parts) == 1 else operation("add", node, *parts)
    return Scalar("private", total, whole_or_real(a.type, b.type))


def value_by_condition(
    node: ast.IfExp | ast.If, test: Scalar, sides: tuple[LoweredValue, LoweredValue]
) -> Scalar:
    """The value of one side or the other, by a condition that is not private."""
    if isinstance(node, ast.IfExp):
        a, b = scalar(sides[0], node.body), scalar(sides[1], node.orelse)
    else:
        a, b = scalar(sides[0], node), scalar(sides[1], node)
    unmixed([highest(a.level, b.level), test.level], node)
    if "private" in (a.level, b.level):
        return _weighed(node, test, a, b)
    if a.type.kind == "vector" or b.type.kind == "vector":
        raise refuse("type", node, "A condition chooses between numbers, not vectors.")
    level = highest(test.level, a.level, b.level)
    if any(side.type.kind in ("category", "text") for side in (a, b)):
        raise refuse(
            "type",
            node,
            "A condition chooses between numbers or truth values here.",
            "Compare instead: categorical and cross take truth values too.",
        )
    both = a.type.kind == b.type.kind == "bool"
    kind = BOOL if both else combined("add", a.type, b.type)
    released = test.released or a.released or b.released
    return Scalar(level, operation("if", node, test, a, b), kind, released)
