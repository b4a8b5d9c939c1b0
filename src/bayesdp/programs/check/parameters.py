"""Parameters of models: what must be above 0 is shown to be, before anything is released.

Privacy doesn't hang on it; but a prior that doesn't exist would be met after the cost was paid.
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.kernel.programs.ranges import AdjacencyContext, Range
from bayesdp.programs.check.refusals import Rejected
from bayesdp.programs.ir import Expr
from bayesdp.programs.number_text import decimal
from bayesdp.statements.program_models import ABOVE, ANYWHERE, AT_LEAST, LIKELIHOODS, PRIORS

NAMES = {
    "beta": ("beta's a", "beta's b"),
    "gamma": ("gamma's shape", "gamma's rate"),
    "normal": ("The mean", "The standard deviation"),
    "dirichlet": ("A Dirichlet prior's number",),
    "normal_inverse_gamma": ("The mean", "The strength", "The shape", "The scale"),
    "partial_pooling": ("The mean", "The standard deviation", "The spread"),
    "hypotheses": ("A hypothesis' weight",),
}
"""What the parameters of priors are called; the last name is also that of all others."""
LIKELIHOOD_NAMES = {
    "normal": ("The standard deviation",),
    "linear_model": ("The standard deviation",),
    "poisson": ("The exposure",),
    "negative_binomial": ("r",),
    "categorical_exposed": ("An exposure",),
    "pooled_bernoulli": ("A number of records",),
    "pooled_poisson": ("The exposure", "A number of records"),
    "pooled_normal": ("The standard deviation", "A number of records"),
}
"""What those of likelihoods are called."""


LEAST, MOST = Fraction(1, 10**12), Fraction(10**12)
"""The parameters for which posteriors are computed: no nearer to 0, and no larger."""
MOST_SHAPE = Fraction(10**6)
"""Sums over counts take as many terms as the shape of a gamma prior is large."""


def check_parameters(expr: Expr, context: AdjacencyContext) -> None:
    """Refuse a `prior` or `likelihood` with a parameter that may lie where the law has none.

    An exposure may be 0: then the posterior is the prior. Any other is above 0, but for means.
    Raises `Rejected`.
    """
    family = str(expr.data[0])
    of_prior = expr.op == "prior"
    shape = PRIORS[family] if of_prior else LIKELIHOODS[family][1]
    names = (NAMES if of_prior else LIKELIHOOD_NAMES).get(family, ("A parameter",))
    for i, (parameter, where) in enumerate(
        zip(expr.args, shape.of(len(expr.args)) or (), strict=True)
    ):
        name, place = names[min(i, len(names) - 1)], context.range(parameter)
        low = place.low
        at_zero = where == AT_LEAST
        if where != ANYWHERE and (low < 0 or (low == 0 and not at_zero)):
            raise Rejected(
                "prior",
                f"{name} may be {'below 0' if at_zero else '0 or less'} here.",
                parameter,
                f"Write max(x, {0 if at_zero else 1}) for this x, or hold the number of records by "
                "require(...).",
            )
        _check_size(expr, parameter, name, place, where)
    if family == "normal" and expr.op == "prior":
        _check_narrow(expr, context)


def _check_size(expr: Expr, parameter: Expr, name: str, place: Range, where: str) -> None:
    """Refuse a parameter that is known to be, or to be able to be, beyond what is computed."""
    least = LEAST if where == ABOVE else -MOST
    most = MOST_SHAPE if name == "gamma's shape" else MOST
    far = [end for end in (place.low, place.high) if isinstance(end, Fraction)]
    beyond = [end for end in far if not least <= end <= most]
    if not beyond:
        return
    verb = "is" if place.low == place.high else "may be"
    raise Rejected(
        "prior",
        f"{name} {verb} {decimal(beyond[0])} here, and posteriors are computed for "
        f"{decimal(least)} to {decimal(most)}.",
        parameter if parameter.where is not None else expr,
        "Measure in another unit, or clip a released value to what is plausible.",
    )


def _check_narrow(prior: Expr, context: AdjacencyContext) -> None:
    """Refuse a normal prior so narrow that doubles don't tell its values apart."""
    mean, spread = (context.range(parameter) for parameter in prior.args)
    ends = [abs(end) for end in (mean.low, mean.high) if isinstance(end, Fraction)]
    if not ends or spread.low >= max(ends) * LEAST:
        return
    raise Rejected(
        "prior",
        f"The standard deviation may be {decimal(Fraction(spread.low))} here at a mean of "
        f"{decimal(max(ends))}: numbers don't tell such values apart.",
        prior.args[1] if prior.args[1].where is not None else prior,
        "Take a wider prior, or measure from another origin.",
    )
