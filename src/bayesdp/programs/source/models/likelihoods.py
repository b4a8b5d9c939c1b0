"""Likelihoods and priors beside the first five pairs: their calls."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import bind, positive_number, public_number
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    LoweredValue,
    ModelObject,
    static_number,
    static_of,
)
from bayesdp.programs.source.models.standard import likelihood_of, prior_of
from bayesdp.programs.source.syntax.diagnostics import place, refuse

MOST_PARTS, BINS, MOST_BINS = 4, 24, 200


def call_logistic(node: ast.Call, context: Context) -> LoweredValue:
    """`logistic`: a likelihood of rows (features..., truth value) with unknown coefficients."""
    bind(node, [], needed=0)
    return likelihood_of("logistic", node, ())


def call_poisson_regression(node: ast.Call, context: Context) -> LoweredValue:
    """`poisson_regression`: a likelihood of rows (features..., count) with a rate for each."""
    bind(node, [], needed=0)
    return likelihood_of("poisson_regression", node, ())


def call_geometric(node: ast.Call, context: Context) -> LoweredValue:
    """`geometric`: a likelihood of failures before the first success, of unknown chance."""
    bind(node, [], needed=0)
    return likelihood_of("negative_binomial", node, (static_number(Fraction(1), node),))


def call_negative_binomial(node: ast.Call, context: Context) -> LoweredValue:
    """`negative_binomial(r=)`: a likelihood of failures before r successes of unknown chance."""
    bound = bind(node, ["r"], needed=1)
    return likelihood_of(
        "negative_binomial", node, (positive_number(bound.given["r"], context, "r"),)
    )


def call_exponential_time(node: ast.Call, context: Context) -> LoweredValue:
    """`exponential_time`: a likelihood of times, or of times with whether the event came."""
    bind(node, [], needed=0)
    return likelihood_of("exponential_time", node, ())


def call_markov_chain(node: ast.Call, context: Context) -> LoweredValue:
    """`markov_chain`: a likelihood of noisy counts of transitions, with unknown chances."""
    bind(node, [], needed=0)
    return likelihood_of("markov_chain", node, ())


def call_normal_inverse_gamma(node: ast.Call, context: Context) -> LoweredValue:
    """`normal_inverse_gamma(mean, strength, shape, scale)`: a prior of a mean and a variance."""
    names = ["mean", "strength", "shape", "scale"]
    bound = bind(node, names, needed=4)
    mean = public_number(bound.given["mean"], context, "The prior")
    rest = [
        positive_number(bound.given[name], context, f"normal_inverse_gamma's {name}")
        for name in names[1:]
    ]
    return prior_of("normal_inverse_gamma", node, (mean, *rest))


def call_mixture(node: ast.Call, context: Context) -> LoweredValue:
    """`mixture(normal(sd=1), normal(sd=3)[, bins=])`: numbers from one of several normal laws.

    Which law a record is from is unknown, as are the laws' means and shares.
    """
    call = ast.Call(node.func, [], node.keywords)
    bound = bind(ast.copy_location(call, node), [], needed=0, keyword=["bins"])
    parts = [context.value(argument) for argument in node.args]
    normal = [part for part in parts if isinstance(part, ModelObject) and part.family == "normal"]
    written = [part for part in normal if part.kind == "likelihood"]
    if len(written) < len(parts) or not 2 <= len(parts) <= MOST_PARTS:
        raise refuse(
            "arguments",
            node,
            f"A mixture is of 2 to {MOST_PARTS} normal laws with their standard deviations.",
            "mixture(normal(sd=1), normal(sd=3))",
        )
    bins = static_of(context.value(bound.given["bins"])) if bound.given else Fraction(BINS)
    if not isinstance(bins, Fraction) or bins.denominator != 1 or not 4 <= bins <= MOST_BINS:
        raise refuse(
            "arguments", bound.given["bins"], f"bins= is a whole number from 4 to {MOST_BINS}."
        )
    deviations = tuple(part.expr.args[0] for part in written)
    expr = Expr("likelihood", deviations, ("mixture",), place(node))
    released = any(part.released for part in written)
    return ModelObject("likelihood", expr, "mixture", (static_number(bins, node),), released)
