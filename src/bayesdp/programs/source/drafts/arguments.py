"""The arguments of a call by name, and the kinds of arguments that many functions take."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Scalar,
    check_numeric,
    number_of,
    scalar,
    static_of,
)
from bayesdp.programs.source.syntax.diagnostics import refuse


@dataclass(frozen=True)
class BoundArguments:
    """The arguments of one call, by name."""

    node: ast.Call
    given: dict[str, ast.expr]


def bind(
    node: ast.Call, names: Sequence[str], *, needed: int, keyword: Sequence[str] = ()
) -> BoundArguments:
    """The arguments of a call by name: positional ones in the order of `names`, then keywords."""
    call = node.func.id if isinstance(node.func, ast.Name) else "this"
    if len(node.args) > len(names):
        raise refuse(
            "arguments",
            node,
            f"{call} takes {len(names)} positional argument{'s' * (len(names) != 1)}.",
            f"They are {', '.join(names) or 'none'}"
            + (f"; by keyword {', '.join(keyword)}." if keyword else "."),
        )
    by_name: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    known = (*names, *keyword)
    for argument in node.keywords:
        if argument.arg is None:
            raise refuse(
                "construct",
                argument,
                "Starred arguments are not part of the language.",
                "List them.",
            )
        if argument.arg not in known:
            raise refuse(
                "arguments",
                argument,
                f"{call} has no argument {argument.arg!r}.",
                did_you_mean(str(argument.arg), known) or f"It has {', '.join(known)}.",
            )
        if argument.arg in by_name:
            raise refuse("arguments", argument, f"{call} is given {argument.arg} twice.")
        by_name[argument.arg] = argument.value
    for name in names[:needed]:
        if name not in by_name:
            raise refuse("arguments", node, f"{call} needs {name}.", f"{call}({', '.join(names)})")
    return BoundArguments(node, by_name)


def single(node: ast.Call, name: str) -> ast.expr:
    """The only argument of a function that takes no other."""
    return bind(node, [name], needed=1).given[name]


def needed(bound: BoundArguments, name: str) -> ast.expr:
    """An argument that must be given, by a keyword."""
    if name not in bound.given:
        raise refuse("arguments", bound.node, f"{name}= is missing.", "")
    return bound.given[name]


def public_number(node: ast.expr, context: Context, name: str) -> Scalar:
    """A public number for the parameter called `name`."""
    return public_scalar(scalar(context.value(node), node), node, name)


def public_scalar(value: Scalar, node: ast.expr, name: str) -> Scalar:
    """A value that must be a public number: the parameter called `name`."""
    if value.of_records:
        raise refuse(
            "private-parameter",
            node,
            f"{name} depends on private data.",
            "Use a literal, a public or a released value.",
        )
    check_numeric(value, node)
    if value.type.kind == "vector":
        raise refuse("type", node, f"{name} is one number.", "")
    return value


def positive_number(node: ast.expr, context: Context, name: str) -> Scalar:
    """A public number for the parameter called `name`; above 0, where that is known already."""
    return positive_scalar(scalar(context.value(node), node), node, name)


def positive_scalar(value: Scalar, node: ast.expr, name: str) -> Scalar:
    """A value that must be a public number above 0: the parameter called `name`."""
    value = public_scalar(value, node, name)
    if value.level == "static" and number_of(value) <= 0:
        raise refuse("prior", node, f"{name} must be above 0.", "")
    return value


def check_not_private(node: ast.expr, context: Context, name: str) -> None:
    """Refuse private data in an argument, before what is wrong with its form is said."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    for part in parts:
        value = context.scope.names.get(part.id)
        if isinstance(value, Scalar) and value.of_records:
            raise refuse(
                "private-parameter",
                node,
                f"{name} depends on private data, so its value would tell about them.",
                "Use a literal or a public parameter.",
            )


def fixed_number(
    bound: BoundArguments, name: str, context: Context, *, positive: bool = True
) -> Expr:
    """A number that is known before the data is read."""
    node = bound.given[name]
    check_not_private(node, context, name)
    number = scalar(context.value(node), node)
    if number.of_records:
        raise refuse(
            "private-parameter",
            node,
            f"{name} depends on private data, so its value would tell about them.",
            "Use a literal or a public parameter.",
        )
    if number.level != "static" or number.type.kind not in ("int", "real"):
        raise refuse(
            "static",
            node,
            f"{name} must be a number that is known before anything is released.",
            "Use a literal or a public parameter"
            + ("; or an `if` with one release in each branch." if number.released else "."),
        )
    value = number.expr.data[0]
    assert isinstance(value, Fraction)
    if positive and value <= 0:
        raise refuse("arguments", node, f"{name} must be above 0.", "")
    return number.expr


def epsilon_of(bound: BoundArguments, context: Context) -> Expr:
    """The privacy cost that a release states."""
    if "epsilon" not in bound.given:
        raise refuse(
            "arguments",
            bound.node,
            "A release states what it costs.",
            "epsilon=0.5, for example.",
        )
    return fixed_number(bound, "epsilon", context)


def asserted(bound: BoundArguments, name: str, context: Context) -> dict[str, Expr]:
    """The assertion `sensitivity=` or `sigma=`: a public number, held against the derived one."""
    if name not in bound.given:
        return {}
    check_not_private(bound.given[name], context, name)
    number = public_number(bound.given[name], context, name)
    if number.released:
        raise refuse(
            "static",
            bound.given[name],
            f"{name} must not depend on a released value.",
            "Leave it out, or use a literal or a public argument.",
        )
    value = static_of(number)
    if isinstance(value, Fraction) and (value < 0 or (name == "sigma" and value == 0)):
        code = "noise" if name == "sigma" else "sensitivity"
        least = "above 0" if name == "sigma" else "at least 0"
        raise refuse(code, bound.given[name], f"{name} is {least}.", "Leave it out.")
    return {name: number.expr}
