"""What follows a release: posteriors from noisy statistics. It is free."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Branch, Command, Derive, Expr, names_of
from bayesdp.programs.source.drafts.arguments import (
    BoundArguments,
    bind,
    check_not_private,
    fixed_number,
)
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import LoweredValue, ModelObject, Scalar
from bayesdp.programs.source.models.families import SEVERAL
from bayesdp.programs.source.models.hypotheses import HYPOTHESES
from bayesdp.programs.source.models.models import parts_of
from bayesdp.programs.source.models.perturbed_answers import parts_after
from bayesdp.programs.source.posteriors.over_hypotheses import check_after
from bayesdp.programs.source.syntax.diagnostics import place, refuse


def call_plug_in(node: ast.Call, context: Context) -> LoweredValue:
    """`plug_in(noisy)`: the posterior as if the noisy statistics were true."""
    return _after("plug-in", bind(node, ["noisy"], needed=1), context, ())


def call_noise_aware(node: ast.Call, context: Context) -> LoweredValue:
    """`noise_aware(noisy)`: the posterior given what was released, noise included."""
    return _after("noise-aware", bind(node, ["noisy"], needed=1), context, ())


def call_nuts(node: ast.Call, context: Context) -> LoweredValue:
    """`nuts(noisy, draws=)`: samples of the noise-aware posterior."""
    for option in node.keywords:
        if option.arg not in ("noisy", None):
            check_not_private(option.value, context, str(option.arg))
    bound = bind(node, ["noisy", "draws"], needed=2)
    draws = fixed_number(bound, "draws", context)
    number = draws.data[0]
    assert isinstance(number, Fraction)
    if number.denominator != 1 or not 1 <= number <= 10**6:
        raise refuse("arguments", bound.given["draws"], "draws is a whole number up to 10^6.")
    return _after("nuts", bound, context, (number,))


def _after(
    op: str, bound: BoundArguments, context: Context, data: tuple[Fraction, ...]
) -> LoweredValue:
    node = bound.given["noisy"]
    noisy = context.value(node)
    if isinstance(noisy, ModelObject) and noisy.kind in ("model", "posterior"):
        raise refuse(
            "private-output",
            node,
            f"This {noisy.kind} is of private data that nothing has been added to.",
            f"Release its statistics first: {op.replace('-', '_')}(laplace(statistics(model), "
            "epsilon=...)).",
        )
    if isinstance(noisy, ModelObject) and noisy.kind == "noisy-model":
        _, prior = parts_of(noisy)
        if noisy.family == "markov_chain":
            prior = replace(prior, family=noisy.family)
        return _derived(op, bound.node, parts_after(op, noisy, node), prior, data, context)
    model = None
    if isinstance(noisy, Scalar) and noisy.level == "public" and noisy.expr.op == "public":
        model = context.draft.models.get(str(noisy.expr.data[0]))
    if model is None or not isinstance(noisy, Scalar):
        if isinstance(noisy, Scalar) and names_of(noisy.expr) & context.draft.joined:
            either = _in_branches(context.draft.commands, noisy.expr, op, bound.node, data, context)
            if either is not None:
                return either
            raise refuse(
                "type",
                node,
                "This is one of two noisy statistics, as a condition has it.",
                f"Put {op.replace('-', '_')} into both branches; what they give is one "
                "posterior afterwards.",
            )
        raise refuse(
            "type",
            node,
            "This is not the noisy statistics of a model.",
            "Release laplace(statistics(model), epsilon=...) and hand that on as it is.",
        )
    return _of_statistics(op, bound.node, noisy.expr, model, data, context)


def _of_statistics(
    op: str,
    node: ast.Call,
    noisy: Expr,
    model: ModelObject,
    data: tuple[Fraction, ...],
    context: Context,
) -> ModelObject:
    likelihood, prior = parts_of(model)
    where = place(node.args[0] if node.args else node)
    about = Expr("observe", (Expr("nothing"), likelihood.expr, prior.expr), (), where)
    return _derived(op, node, (noisy, about), prior, data, context)


def _in_branches(
    commands: list[Command],
    noisy: Expr,
    op: str,
    node: ast.Call,
    data: tuple[Fraction, ...],
    context: Context,
) -> ModelObject | None:
    """The posterior from noisy statistics that a branch chose, derived inside that branch.

    Each side derives its own, under a name that both share. None where that is not possible.
    """
    if noisy.op != "public":
        return None
    name = str(noisy.data[0])
    if name in context.draft.models:
        with context.draft.apart(commands):
            return _of_statistics(op, node, noisy, context.draft.models[name], data, context)
    for i, branch in enumerate(commands):
        if not isinstance(branch, Branch):
            continue
        sides = [list(branch.then), list(branch.otherwise)]
        each = [_value_of(name, side) for side in sides]
        if None in each:
            continue
        first, second = (
            None if value is None else _in_branches(side, value, op, node, data, context)
            for side, value in zip(sides, each, strict=True)
        )
        if first is None or second is None or first.family != second.family:
            return None
        both = Expr("public", (), (context.draft.fresh(op.replace("-", "_")),), place(node))
        if {str(side.expr.data[0]) for side in (first, second)} & context.draft.several:
            context.draft.several.add(str(both.data[0]))
        for side, value in zip(sides, (first.expr, second.expr), strict=True):
            side.append(Derive(str(both.data[0]), value, place(node)))
        commands[i] = Branch(branch.test, tuple(sides[0]), tuple(sides[1]), branch.where)
        return ModelObject(first.kind, both, first.family, (), True)
    return None


def _derived(
    op: str,
    node: ast.Call,
    args: tuple[Expr, ...],
    prior: ModelObject,
    data: tuple[Fraction, ...],
    context: Context,
) -> ModelObject:
    check_after(op, args[-1], node)
    name = context.draft.fresh(op.replace("-", "_"))
    context.draft.commands.append(Derive(name, Expr(op, args, data, place(node)), place(node)))
    if args[-1].args[1].data[0] in SEVERAL:
        context.draft.several.add(name)
    kind = "samples" if op == "nuts" else "released-posterior"
    about = prior.about if prior.family == HYPOTHESES else ()
    return ModelObject(kind, Expr("public", (), (name,), place(node)), prior.family, about, True)


def _value_of(name: str, commands: list[Command]) -> Expr | None:
    """The value that a side of a branch derives under a name."""
    for command in commands:
        if isinstance(command, Derive) and command.name == name:
            return command.value
    return None
