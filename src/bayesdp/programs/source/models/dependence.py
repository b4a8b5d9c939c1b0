"""`observe(..., dependence="declared")`: a model that counts on the study's population.

The likelihood of a mean is then that of records with a larger standard deviation, by a factor that
the study's population gives (`programs.dependence`). It is written out as a constant, so checker,
kernel and interpreter see nothing new. Where no study gives the factor it is 1, and such a program
can be checked but not run. The model of a chain has its dependence itself; with
`dependence="declared"` the study's population must be such a chain.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import BoundArguments
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import ModelObject
from bayesdp.programs.source.syntax.diagnostics import place, refuse

DECLARED = "declared"


def with_dependence(
    likelihood: ModelObject, bound: BoundArguments, context: Context
) -> ModelObject:
    """The likelihood of one record, widened if `observe` has `dependence="declared"`.

    `bound` are the arguments of `observe`.
    """
    node = bound.given.get("dependence")
    if node is None:
        if likelihood.family != "markov_chain":
            context.draft.apart_from_dependence = True
        return likelihood
    if not (isinstance(node, ast.Constant) and node.value == DECLARED):
        raise refuse(
            "arguments",
            node,
            "dependence is what the population of a study declares.",
            'dependence="declared", or leave it out: records are then taken for independent.',
        )
    if likelihood.family == "markov_chain":
        context.draft.chained = True
        _check_apart(node, context)
        return likelihood
    if likelihood.family != "normal":
        raise refuse(
            "prior",
            node,
            f"How {likelihood.family} records depend on each other is not part of a posterior.",
            "The mean of numbers can: normal(sd=...); and the states of a series, by "
            "markov_chain on noisy transition_counts(...), whose posterior has the share of each "
            "state. Without dependence the posterior takes records for independent, and says so "
            "where they are not.",
        )
    context.draft.dependent = True
    _check_apart(node, context)
    factor = Expr("const", (), (context.draft.inflation,), place(node))
    widened = Expr("mul", (likelihood.expr.args[0], factor), (), place(node))
    return replace(likelihood, expr=replace(likelihood.expr, args=(widened,)))


def _check_apart(node: ast.expr, context: Context) -> None:
    """A study's population is a chain, or it bounds correlations: none is both."""
    if context.draft.dependent and context.draft.chained:
        raise refuse(
            "arguments",
            node,
            "One model counts on a chain, and another on correlations: no population has both.",
            'Leave dependence="declared" out of one of them.',
        )
