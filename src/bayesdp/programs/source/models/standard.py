"""The standard likelihoods and priors: of chances, counts, rates and means."""

from __future__ import annotations

import ast

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import (
    BoundArguments,
    bind,
    positive_number,
    positive_scalar,
    public_number,
)
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
    check_numeric,
    entries_of,
    number_of,
    scalar,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse

NEEDS = {"poisson": "exposure", "linear_model": "noise_sd", "negative_binomial": "r"}
"""What likelihoods can't do without."""


def call_bernoulli(node: ast.Call, context: Context) -> LoweredValue:
    """`bernoulli`: a likelihood of truth values, each true with an unknown chance."""
    bind(node, [], needed=0)
    return likelihood_of("bernoulli", node, ())


def call_categorical(node: ast.Call, context: Context) -> LoweredValue:
    """`categorical`: a likelihood of labels with unknown chances.

    With `exposure=(...)`, one number for each label, chances are proportional to exposure times
    rate, and the rates' shares are what the prior and the posterior are about.
    """
    bound = bind(node, ["exposure"], needed=0)
    if "exposure" not in bound.given:
        return likelihood_of("categorical", node, ())
    at = bound.given["exposure"]
    listed = context.value(at)
    if not isinstance(listed, Items) or len(listed.items) < 2:
        raise refuse("arguments", at, "exposure= is a tuple of numbers, one for each label.")
    places: list[ast.expr] = [at] * len(listed.items)
    if isinstance(at, ast.Tuple | ast.List) and len(at.elts) == len(places):
        places = at.elts
    parts = [
        positive_scalar(scalar(entry, where), where, "An exposure")
        for entry, where in zip(listed.items, places, strict=True)
    ]
    return likelihood_of("categorical_exposed", node, tuple(parts))


def call_poisson(node: ast.Call, context: Context) -> LoweredValue:
    """`poisson(exposure=)`: a likelihood of counts with an unknown rate; the exposure is public."""
    bound = bind(node, ["exposure"], needed=1)
    at = bound.given["exposure"]
    value = scalar(context.value(at), at)
    if value.of_records:
        raise refuse(
            "private-parameter",
            at,
            "The exposure depends on private data.",
            "Use a literal, a public or a released value. Private times are observed by "
            "exponential_time, as rows (time, whether the event came).",
        )
    exposure = positive_scalar(value, at, "The exposure")
    return likelihood_of("poisson", node, (exposure,))


def call_linear_model(node: ast.Call, context: Context) -> LoweredValue:
    """`linear_model(noise_sd=)`: rows (features..., response) with unknown coefficients."""
    bound = bind(node, ["noise_sd"], needed=1)
    noise = positive_number(bound.given["noise_sd"], context, "The noise's standard deviation")
    return likelihood_of("linear_model", node, (noise,))


def call_normal(node: ast.Call, context: Context) -> LoweredValue:
    """`normal(sd=)`, a likelihood with unknown mean; or `normal(mean, sd=)`, a prior.

    `normal` alone is a likelihood with unknown mean and unknown standard deviation.
    """
    bound = bind(node, ["mean", "sd"], needed=0)
    if not bound.given:
        return likelihood_of("normal_unknown", node, ())
    if "sd" not in bound.given:
        raise refuse("arguments", node, "normal needs sd.", "normal(sd=7) or normal(170, sd=15)")
    spread = positive_number(bound.given["sd"], context, "The standard deviation")
    if "mean" not in bound.given:
        return likelihood_of("normal", node, (spread,))
    mean = public_number(bound.given["mean"], context, "The prior")
    return prior_of("normal", node, (mean, spread))


def call_beta(node: ast.Call, context: Context) -> LoweredValue:
    """`beta(a, b)`: a prior of a chance."""
    bound = bind(node, ["a", "b"], needed=2)
    return _positives("beta", bound, ("a", "b"), context)


def call_gamma(node: ast.Call, context: Context) -> LoweredValue:
    """`gamma(shape, rate=)`: a prior of a rate."""
    bound = bind(node, ["shape", "rate"], needed=2)
    return _positives("gamma", bound, ("shape", "rate"), context)


def call_dirichlet(node: ast.Call, context: Context) -> LoweredValue:
    """`dirichlet(a1, a2, ...)`: a prior of several chances."""
    args: list[LoweredValue] = [context.value(argument) for argument in node.args]
    if len(args) == 1 and isinstance(args[0], Items):
        args = list(args[0].items)
    elif len(args) == 1 and isinstance(args[0], Scalar):
        args = list(entries_of(args[0], place(node))) or args
    if node.keywords or len(args) < 2:
        raise refuse("arguments", node, "dirichlet takes one number for each category.")
    parts = []
    for value in args:
        number = scalar(value, node)
        if number.of_records:
            raise refuse(
                "private-parameter",
                node,
                "The prior depends on private data.",
                "Use literals, public or released values.",
            )
        check_numeric(number, node)
        if number.type.kind == "vector":
            raise refuse("type", node, "A Dirichlet prior has one number for each category.")
        if number.level == "static" and number_of(number) <= 0:
            raise refuse("prior", node, "The numbers of a Dirichlet prior are above 0.")
        parts.append(number)
    return prior_of("dirichlet", node, tuple(parts))


def _positives(
    family: str, bound: BoundArguments, names: tuple[str, ...], context: Context
) -> ModelObject:
    parts = [positive_number(bound.given[n], context, f"{family}'s {n}") for n in names]
    return prior_of(family, bound.node, tuple(parts))


def likelihood_of(family: str, node: ast.AST, parts: tuple[Scalar, ...]) -> ModelObject:
    """A likelihood of this family with these parameters."""
    expr = Expr("likelihood", tuple(part.expr for part in parts), (family,), place(node))
    return ModelObject("likelihood", expr, family, parts)


def prior_of(family: str, node: ast.AST, parts: tuple[Scalar, ...]) -> ModelObject:
    """A prior of this family with these parameters."""
    expr = Expr("prior", tuple(part.expr for part in parts), (family,), place(node))
    return ModelObject("prior", expr, family, parts, any(part.released for part in parts))
