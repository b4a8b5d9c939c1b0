"""Numbers about a released posterior: its mean, standard deviation, quantiles and probabilities.

They follow from what was released, so they are free. They are of posteriors of one number.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Constant, Expr
from bayesdp.programs.source.drafts.arguments import bind, fixed_number
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import REAL, LoweredValue, ModelObject, Scalar, constant
from bayesdp.programs.source.models.hypotheses import HYPOTHESES
from bayesdp.programs.source.posteriors.distributions import is_law
from bayesdp.programs.source.posteriors.over_hypotheses import check_numbered
from bayesdp.programs.source.syntax.diagnostics import place, refuse

NUMBERS = ("mean", "sd")
METHODS = ("quantile", "probability")
EXAMPLES = {
    "quantile": "quantile(0.975)",
    "probability": "probability(0.2, 0.5)",
    "samples": "samples(1000)",
}
ZERO = Fraction(0)
SUPPORT = {"beta": (ZERO, Fraction(1)), "gamma": (ZERO, None)}
"""Where the values of a posterior lie, by its family; anywhere for any other."""


def is_summary(owner: LoweredValue, name: str) -> bool:
    """Whether a value has a number of this name: a released posterior's mean, for example."""
    posterior = isinstance(owner, ModelObject) and owner.kind == "released-posterior"
    return (posterior or is_law(owner)) and name in (*NUMBERS, *METHODS, "samples")


def number_about(owner: ModelObject, node: ast.Attribute, context: Context) -> LoweredValue:
    """`posterior.mean` and `posterior.sd`. `owner` is the posterior that `node` is about."""
    if owner.family == HYPOTHESES:
        check_numbered(owner, node.attr, node)
    if node.attr in (*METHODS, "samples"):
        example = EXAMPLES[node.attr]
        raise refuse("arguments", node, f"{node.attr} takes numbers.", f"posterior.{example}")
    return _summary(owner, node.attr, (ZERO, ZERO), node, context)


def called_number(owner: ModelObject, name: str, node: ast.Call, context: Context) -> LoweredValue:
    """`posterior.quantile(p)` and `posterior.probability(low, high)`.

    `owner` is the posterior, `name` the method that `node` calls.
    """
    if owner.family == HYPOTHESES:
        check_numbered(owner, name, node)
    if name in NUMBERS:
        raise refuse("arguments", node, f"{name} is a number.", f"Write posterior.{name}.")
    if name == "quantile":
        bound = bind(node, ["p"], needed=1)
        p = _fixed(fixed_number(bound, "p", context))
        if not 0 < p < 1:
            raise refuse("arguments", node, "A quantile's p lies between 0 and 1.", "0.5")
        return _summary(owner, name, (p, ZERO), node, context)
    bound = bind(node, ["low", "high"], needed=2)
    low, high = (_fixed(fixed_number(bound, end, context, positive=False)) for end in bound.given)
    if not low < high:
        raise refuse("arguments", node, "The lower end lies below the upper one.", "(0.2, 0.5)")
    return _summary(owner, name, (low, high), node, context)


def _fixed(expr: Expr) -> Fraction:
    value = expr.data[0]
    assert isinstance(value, Fraction)
    return value


def _summary(
    owner: ModelObject,
    what: str,
    numbers: tuple[Fraction, Fraction],
    node: ast.expr,
    context: Context,
) -> Scalar:
    """The number, held inside the bounds that it always has: that changes nothing."""
    if owner.family == "dirichlet" or str(owner.expr.data[0]) in context.draft.several:
        raise refuse(
            "type",
            node,
            f"This is a posterior of several numbers, and {what} is one.",
            "Return it as it is: the result has the mean and interval of each.",
        )
    data: tuple[Constant, ...] = (what, *numbers)
    expr = Expr("summary", (owner.expr,), data, place(node))
    low, high = SUPPORT.get(owner.family, (None, None))
    if what == "probability":
        low, high = ZERO, Fraction(1)
    elif what == "sd":
        low = ZERO
    if low is not None and high is not None:
        expr = Expr("clip", (expr, constant(low), constant(high)), (), place(node))
    elif low is not None:
        expr = Expr("max", (expr, constant(low)), (), place(node))
    return Scalar("public", expr, REAL, released=True)
