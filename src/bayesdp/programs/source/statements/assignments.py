"""Statements: assignments, preconditions, and what only stands on a line of its own."""

from __future__ import annotations

import ast

from bayesdp.programs.ir import nodes
from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context, not_a_statement
from bayesdp.programs.source.drafts.values import Items, LoweredValue, ModelObject, Scalar
from bayesdp.programs.source.expressions.conditions import truth
from bayesdp.programs.source.expressions.sequences import assign
from bayesdp.programs.source.models.models import POSTERIOR
from bayesdp.programs.source.syntax.diagnostics import ProgramError, refuse, written


def assignment(statement: ast.Assign, context: Context) -> None:
    """`x = value`, `x, y = values`, `x = y = value`."""
    value = context.value(statement.value)
    for target in statement.targets:
        assign(target, value, context)


def annotated(statement: ast.AnnAssign, context: Context) -> None:
    """`x: Real = value`. The annotation must hold as it stands."""
    if statement.value is None:
        raise not_a_statement(statement)
    value = context.value(statement.value)
    _check_annotated(statement, value)
    assign(statement.target, value, context)


def _check_annotated(statement: ast.AnnAssign, value: LoweredValue) -> None:
    """An annotation inside a function clamps nothing, so it must be true as it stands."""
    node = statement.annotation
    if isinstance(node, ast.Name) and isinstance(value, Scalar) and value.level != "row":
        fits = {"Bool": ("bool",), "Int": ("int", "bool"), "Real": ("real", "int", "bool")}
        if value.type.kind in fits.get(node.id, ()):
            return
    if (
        isinstance(node, ast.Name)
        and isinstance(value, ModelObject)
        and value.released
        and POSTERIOR.get(value.family) == node.id
    ):
        return
    raise refuse(
        "annotation",
        node,
        f"Nothing makes this value {written(node)}: an annotation inside a program clamps nothing.",
        "Leave it out; clip(value, low, high) gives bounds.",
    )


def augmented(statement: ast.AugAssign, context: Context) -> None:
    """`x += 1` means `x = x + 1`, of numbers: a Python list would change under its other names."""
    target = statement.target
    if not isinstance(target, ast.Name):
        raise refuse(
            "effect",
            statement,
            "Only a name is changed by += and the like.",
            "Give the new value a name.",
        )
    before = context.scope.look_up(_loaded(target))
    if isinstance(before, Items) and before.changes:
        raise refuse(
            "effect",
            statement,
            "A list would change under all its names.",
            f"Write {target.id} = {target.id} + [...], or use tuples.",
        )
    both = ast.copy_location(ast.BinOp(_loaded(target), statement.op, statement.value), statement)
    assign(target, context.value(both), context)


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def expression(statement: ast.Expr, context: Context) -> None:
    """A line of its own: a text, or a precondition; any other value would be lost."""
    node = statement.value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require":
        _require(node, context)
        return
    context.value(node)  # what is wrong with it is said first
    raise refuse("construct", statement, "This value is not used.", "Assign or return it.")


def call_require(node: ast.Call, context: Context) -> LoweredValue:
    """Refuse `require(...)` inside an expression: it has no value."""
    raise refuse("construct", node, "require(...) stands on a line of its own.", "")


def _require(node: ast.Call, context: Context) -> None:
    """require(condition on public values)."""
    context.scope.look_up(ast.copy_location(ast.Name("require", ast.Load()), node))
    bound = bind(node, ["condition"], needed=1)
    condition = _stated(bound.given["condition"], context)
    if condition.level not in ("static", "public") or condition.released:
        raise refuse(
            "private-control",
            node,
            "A precondition is about public values only: failing it would tell about others.",
            "require(db.size >= 10)",
        )
    if context.draft.branches:
        raise refuse(
            "construct",
            node,
            "This precondition stands in a branch, and holds whichever way is taken.",
            "Write it before the `if`: require(...) of both conditions, joined by `or`.",
        )
    if context.draft.commands:
        raise refuse(
            "construct",
            node,
            "Preconditions stand before the first release.",
            "Move it above the first release.",
        )
    for part in nodes(condition.expr):
        if part.op in ("sum", "count"):
            raise refuse(
                "static",
                part.where or node,
                "A precondition holds numbers, public arguments and db.size: a sum of public "
                "columns, as the size of a public piece, is known with the table only.",
                "Leave it out, and divide by max(part.size, 1); what must not be released for "
                "an empty piece stands inside `if part.size > 0:`.",
            )
    context.draft.requires.append(condition.expr)


def _stated(node: ast.expr, context: Context) -> Scalar:
    try:
        return truth(node, context)
    except ProgramError as error:
        diagnostic = error.diagnostic
        if diagnostic.code != "private-control":
            raise
        raise refuse(
            "private-control",
            diagnostic.where,
            "Only public values stand in a precondition: whether a private one holds would "
            "tell about the data.",
            "require(db.size >= 10), where the number of records is public.",
        ) from None


def early_return(statement: ast.Return, context: Context) -> None:
    """Refuse a return that isn't the last statement."""
    raise refuse(
        "return",
        statement,
        "A return before the end would tell which way the program went.",
        "Assign the value, and return it on the last line.",
    )


def nothing(statement: ast.Pass, context: Context) -> None:
    """`pass`, which does nothing."""
