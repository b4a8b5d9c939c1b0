"""Distributions of released numbers, and draws: of a released posterior, or of new records.

All of it follows from what was released, so it is free.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Constant, Derive, Expr
from bayesdp.programs.source.drafts.arguments import bind, fixed_number, needed
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import LoweredValue, ModelObject, constant, described
from bayesdp.programs.source.models.models import model_object
from bayesdp.programs.source.syntax.diagnostics import place, refuse
from bayesdp.programs.source.syntax.suggestions import LIKELIHOODS
from bayesdp.statements import program_models

EXPECTS: dict[str, tuple[str, tuple[Constant, ...]]] = {
    "beta": ("bernoulli", ()),
    "dirichlet": ("categorical", ()),
    "gamma": ("poisson", (Fraction(1),)),
    "normal": ("normal", (Fraction(1),)),
}
"""A model of nothing for each family: what is known after it is the prior. Its scale is unused."""

PREDICTED = ("bernoulli", "categorical", "normal", "poisson")
MOST_DRAWS, MOST_JOINT_DRAWS = 10**5, 10**4
"""The most draws: of one number, and of several numbers each."""


def is_law(value: LoweredValue) -> bool:
    """Whether a value is a distribution whose numbers are written out, such as `beta(1, n)`."""
    if not isinstance(value, ModelObject) or value.kind != "prior":
        return False
    return value.expr.op == "prior" and value.family in EXPECTS


def law_of(value: ModelObject, node: ast.AST, context: Context) -> ModelObject:
    """A distribution as what is returned and asked for numbers: a name that stands for it.

    `value` is a distribution whose numbers are written out at `node`, or a released posterior.
    """
    if value.kind == "released-posterior":
        return value
    where = place(node)
    name = context.draft.fresh("law")
    family, parameters = EXPECTS[value.family]
    ones = tuple(constant(parameter) for parameter in parameters)
    likelihood = Expr("likelihood", ones, (family,), where)
    about = Expr("observe", (Expr("nothing"), likelihood, value.expr), (), where)
    context.draft.commands.append(Derive(name, Expr("law", (about,), (), where), where))
    reference = Expr("public", (), (name,), where)
    return ModelObject("released-posterior", reference, value.family, (), True)


def drawn(owner: ModelObject, node: ast.Call, context: Context) -> LoweredValue:
    """`posterior.samples(draws)`: independent draws. `owner` is the posterior."""
    bound = bind(replace_name(node, "samples"), ["draws"], needed=1)
    many = _draws(owner, bound.given["draws"], fixed_number(bound, "draws", context))
    return _samples("draws", owner.expr, owner.family, many, node, context)


def replace_name(node: ast.Call, name: str) -> ast.Call:
    """The call with a plain name in the place of its method, as messages write it."""
    func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
    return ast.copy_location(ast.Call(func, node.args, node.keywords), node)


def call_predictive(node: ast.Call, context: Context) -> LoweredValue:
    """`predictive(posterior, likelihood, draws=)`: new records, as the posterior expects them."""
    bound = bind(node, ["posterior", "likelihood"], needed=2, keyword=["draws"])
    at = bound.given["posterior"]
    posterior = context.value(at)
    if isinstance(posterior, ModelObject) and posterior.kind in ("model", "posterior"):
        raise refuse(
            "private-output",
            at,
            f"This {posterior.kind} is of private data that nothing has been added to.",
            "Release its statistics first: noise_aware(laplace(statistics(model), epsilon=...)).",
        )
    known = isinstance(posterior, ModelObject) and posterior.kind == "released-posterior"
    if not (known or is_law(posterior)):
        raise refuse(
            "type",
            at,
            f"predictive takes a released posterior, and here stands {described(posterior)}.",
            "predictive(noise_aware(...), bernoulli, draws=100)",
        )
    assert isinstance(posterior, ModelObject)
    likelihood = model_object(bound.given["likelihood"], context, "likelihood")
    if likelihood.family not in PREDICTED or str(posterior.expr.data[0]) in context.draft.several:
        raise refuse(
            "type",
            node,
            "New records are drawn of one number or label each.",
            "By bernoulli, categorical, normal(sd=) or poisson(exposure=).",
        )
    if posterior.family != program_models.LIKELIHOODS[likelihood.family][0]:
        raise refuse(
            "prior",
            bound.given["likelihood"],
            f"{likelihood.family} records are not drawn from a {posterior.family} posterior.",
            LIKELIHOODS,
        )
    many = _draws(None, needed(bound, "draws"), fixed_number(bound, "draws", context))
    law = law_of(posterior, node, context)
    about = Expr("observe", (Expr("nothing"), likelihood.expr, law.expr), (), place(node))
    return _samples("predictive", about, likelihood.family, many, node, context)


def _draws(owner: ModelObject | None, node: ast.expr, expr: Expr) -> Fraction:
    """How many draws: a whole number within the limit."""
    number = expr.data[0]
    assert isinstance(number, Fraction)
    several = owner is not None and owner.family == "dirichlet"
    most = MOST_JOINT_DRAWS if several else MOST_DRAWS
    if number.denominator != 1 or not 1 <= number <= most:
        raise refuse(
            "arguments",
            node,
            f"draws is a whole number from 1 to {most:,}.",
            "Draw the rest from the result, which has samples(k).",
        )
    return number


def _samples(
    op: str,
    part: Expr,
    family: str,
    many: Fraction,
    node: ast.Call,
    context: Context,
) -> ModelObject:
    where, name = place(node), context.draft.fresh(op)
    context.draft.commands.append(Derive(name, Expr(op, (part,), (many,), where), where))
    return ModelObject("samples", Expr("public", (), (name,), where), family, (), True)
