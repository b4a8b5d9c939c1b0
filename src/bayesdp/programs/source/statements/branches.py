"""Conditions: static ones are decided, the rest becomes branches, whose values are joined."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bayesdp.programs.ir import Branch, Command, Derive, Expr, names_of
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    TEXT,
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
    combined,
    scalar,
)
from bayesdp.programs.source.expressions.conditions import truth, value_by_condition
from bayesdp.programs.source.models.standard import prior_of
from bayesdp.programs.source.statements.joins import alike_priors, is_private, is_word, unjoined
from bayesdp.programs.source.syntax.diagnostics import place, refuse
from bayesdp.programs.whole_numbers import is_whole


def condition(statement: ast.If, context: Context) -> None:
    """An `if` statement: decided now where its test is static, else a branch."""
    test = truth(statement.test, context)
    if test.level == "static":
        context.run(statement.body if test.expr.data[0] else statement.orelse)
        return
    bodies = (statement.body, statement.orelse)
    branch(statement, test, [partial(Context.run, statements=body) for body in bodies], context)


def branch(
    statement: ast.If,
    test: Scalar,
    bodies: Sequence[Callable[[Context], None]],
    context: Context,
) -> None:
    """A branch on `test`, whose sides `bodies` lower; the names after it are those of both."""
    sides = []
    for body in bodies:
        inner = context.scope.copied()
        with context.draft.branch() as commands:
            body(context.inside(inner))
        sides.append((commands, inner.names))
    _join(statement, test, sides, context)


def _join(
    statement: ast.If,
    test: Scalar,
    sides: Sequence[tuple[list[Command], dict[str, LoweredValue]]],
    context: Context,
) -> None:
    """After a branch a name has one value, whichever way was taken; else it is unknown."""
    (then, first), (otherwise, second) = sides
    before = context.scope.names
    if test.level == "row" and (then or otherwise):
        raise refuse(
            "private-control",
            statement,
            "Whether this releases something depends on one record.",
            "Release outside the row's function.",
        )
    names = dict.fromkeys((*first, *second))
    changed = [
        name for name in names if not first.get(name) is second.get(name) is before.get(name)
    ]
    for name in changed:
        a, b = first.get(name), second.get(name)
        if a is None or b is None:
            context.scope.lose(
                name,
                f"has a value on one side of the condition in line "
                f"{statement.lineno} only: give it one on both sides.",
            )
            continue
        joined = _joined(statement, test, name, (a, b), (then, otherwise), context)
        if joined is None:
            context.scope.lose(name, unjoined(a, b, f"the condition in line {statement.lineno}"))
        else:
            context.scope.bind(name, joined)
    if then or otherwise:
        context.draft.commands.append(
            Branch(test.expr, tuple(then), tuple(otherwise), place(statement))
        )


def choice(node: ast.IfExp, context: Context) -> LoweredValue:
    """A conditional expression: `a if test else b`."""
    test = truth(node.test, context)
    if test.level == "static":
        return context.value(node.body if test.expr.data[0] else node.orelse)
    return _either(node, test, context)


def _either(node: ast.IfExp, test: Scalar, context: Context) -> LoweredValue:
    """A choice between two values; between two commands where a side releases something."""
    sides, values = [], []
    for side in (node.body, node.orelse):
        with context.draft.branch() as commands:
            values.append(context.value(side))
        sides.append(commands)
    both = (values[0], values[1])
    words = all(is_word(value) for value in both) and test.level == "public"
    objects = all(isinstance(value, ModelObject) for value in both) and test.level != "row"
    if not (sides[0] or sides[1] or words or objects):
        return value_by_condition(node, test, both)
    if test.level == "row":
        raise refuse(
            "private-control", node, "Whether this releases something depends on one record."
        )
    joined = _joined(node, test, "chosen", both, (sides[0], sides[1]), context)
    if joined is None:
        private = is_private(both[0]) or is_private(both[1])
        raise refuse(
            "private-control" if private else "type",
            node,
            f"This {unjoined(*both, 'the condition')}",
        )
    if sides[0] or sides[1]:
        then, otherwise = (tuple(side) for side in sides)
        context.draft.commands.append(Branch(test.expr, then, otherwise, place(node)))
    return joined


def _joined(
    node: ast.If | ast.IfExp,
    test: Scalar,
    name: str,
    values: tuple[LoweredValue, LoweredValue],
    sides: tuple[list[Command], list[Command]],
    context: Context,
) -> LoweredValue | None:
    a, b = values
    if a is b or a == b:
        return a
    if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
        parts = [
            _joined(node, test, name, both, sides, context)
            for both in zip(a.items, b.items, strict=True)
        ]
        joined_parts = tuple(part for part in parts if part is not None)
        return Items(joined_parts) if len(joined_parts) == len(parts) else None
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        if "private" in (a.level, b.level):
            return None
        rows = "row" in (a.level, b.level, test.level)
        words = is_word(a) and is_word(b)
        if rows or not (sides[0] or sides[1] or words):
            return value_by_condition(node, test, (a, b))
        if len(a.type.items) != len(b.type.items) or is_word(a) != is_word(b):
            return None
        kind = TEXT if words else a.type
        if kind != b.type and not words:
            kind = combined("add", a.type, b.type)
        return Scalar("public", _named(name, (a.expr, b.expr), sides, context), kind, True)
    if (
        isinstance(a, ModelObject)
        and isinstance(b, ModelObject)
        and a.kind == b.kind
        and a.family == b.family
        and a.kind in ("released-posterior", "samples")
        and test.level != "row"
    ):
        named = _named(name, (a.expr, b.expr), sides, context)
        return ModelObject(a.kind, named, a.family, (), True)
    if isinstance(a, ModelObject) and isinstance(b, ModelObject) and alike_priors(a, b, test):
        numbers = _joined(node, test, name, (Items(a.about), Items(b.about)), sides, context)
        if isinstance(numbers, Items):
            scalars = [scalar(number, node) for number in numbers.items]
            placed = (replace(g, expr=replace(g.expr, where=place(node))) for g in scalars)
            return prior_of(a.family, node, tuple(placed))
    return None


def _named(
    name: str,
    values: tuple[Expr, Expr],
    sides: tuple[list[Command], list[Command]],
    context: Context,
) -> Expr:
    """One name for a value that each side of a branch derives."""
    shared = context.draft.fresh(name)
    if all(names_of(value) & {*context.draft.models, *context.draft.joined} for value in values):
        context.draft.joined.add(shared)
    for value, side in zip(values, sides, strict=True):
        side.append(Derive(shared, value))
    if any(names_of(value) & context.draft.several for value in values):
        context.draft.several.add(shared)
    if all(is_whole(value, context.draft.columns, context.draft.whole) for value in values):
        context.draft.whole.add(shared)
    return Expr("public", (), (shared,))
