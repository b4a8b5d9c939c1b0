"""Conjugate posteriors of small databases, and how far two of them are apart.

Distances are in closed form from Gamma functions of both posteriors, in ball arithmetic: whatever
two members of a family are compared, and not only neighbours as in the checker's lemmas.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import exp, lgamma, log, sqrt

from bayesdp.programs.falsify.values import Evaluator, Opaque
from bayesdp.programs.ir import Expr

ConjugatePosterior = tuple[str, tuple[Fraction, ...]]
"""A family and its parameters; those of a normal law are its mean and variance."""


def posterior(model: Expr, at: Evaluator, database: Sequence[int]) -> ConjugatePosterior:
    """The exact posterior. Raises `Opaque` where the prior was released."""
    data, likelihood, prior = model.args
    if prior.op != "prior":
        raise Opaque("a released prior")
    family = str(likelihood.data[0])
    known = [at.numbers(parameter, database)[0] for parameter in prior.args]
    if family == "categorical":
        cells = Expr("onehot", (data.args[1],), (Fraction(len(known)),))
        counts = at.total(_summed(data, cells), database)
        return "dirichlet", tuple(a + c for a, c in zip(known, counts, strict=True))
    many = at.total(Expr("count", (data,)), database)[0]
    total = at.total(_summed(data, data.args[1]), database)[0]
    if family == "bernoulli":
        return "dirichlet", (known[0] + total, known[1] + many - total)
    if family == "poisson":
        exposure = at.numbers(likelihood.args[0], database)[0]
        return "gamma", (known[0] + total, known[1] + exposure)
    if family == "normal":
        within, before = at.numbers(likelihood.args[0], database)[0] ** 2, known[1] ** 2
        precision = 1 / before + many / within
        return "normal", ((known[0] / before + total / within) / precision, 1 / precision)
    raise Opaque(family)


@lru_cache(maxsize=4096)
def _summed(data: Expr, mapped: Expr) -> Expr:
    return Expr("sum", (Expr("data", (data.args[0], mapped), data.data),))


def prior_of(expr: Expr, at: Evaluator) -> list[Fraction]:
    """The parameters of a known prior. Raises `Opaque` for a released prior."""
    if expr.op != "prior":
        raise Opaque("a released prior")
    return [at.numbers(parameter, ())[0] for parameter in expr.args]


RoundedPosterior = tuple[str, tuple[float, ...], float]
"""A family, its parameters, and half the log-integral that its densities are divided by."""


def floats(posterior: ConjugatePosterior) -> RoundedPosterior:
    """The parameters of a posterior in doubles."""
    family, parameters = posterior[0], tuple(float(value) for value in posterior[1])
    if family == "normal":
        return family, parameters, 0.0
    if family == "gamma":
        shape, rate = parameters
        return family, parameters, (lgamma(shape) - shape * log(rate)) / 2
    return family, parameters, _log_beta(parameters) / 2


def hellinger(a: RoundedPosterior, b: RoundedPosterior) -> float:
    """Hellinger distance of two members of one family."""
    family, x, first = a
    _, y, second = b
    if family == "normal":
        s, t, gap = x[1], y[1], x[0] - y[0]
        coefficient = sqrt(2 * sqrt(s * t) / (s + t)) * exp(-gap * gap / (4 * (s + t)))
    elif family == "gamma":
        shape, rate = (x[0] + y[0]) / 2, (x[1] + y[1]) / 2
        coefficient = exp(lgamma(shape) - shape * log(rate) - first - second)
    else:
        between = [(u + v) / 2 for u, v in zip(x, y, strict=True)]
        coefficient = exp(_log_beta(between) - first - second)
    return sqrt(max(1 - coefficient, 0.0))


def _log_beta(parameters: Sequence[float]) -> float:
    return sum(lgamma(parameter) for parameter in parameters) - lgamma(sum(parameters))


@lru_cache(maxsize=20_000)
def distance_at_least(a: ConjugatePosterior, b: ConjugatePosterior) -> Fraction:
    """A lower bound of the Hellinger distance as a fraction, within 1e-25 of it."""
    from flint import arb, ctx, fmpq

    ctx.prec = max(ctx.prec, 128)

    def ball(value: Fraction) -> arb:
        return arb(fmpq(value.numerator, value.denominator))

    if a[0] == "normal":
        s, t, gap = a[1][1], b[1][1], a[1][0] - b[1][0]
        coefficient = (2 * (ball(s * t)).sqrt() / ball(s + t)).sqrt() * (
            -ball(gap * gap / (4 * (s + t)))
        ).exp()
    elif a[0] == "gamma":
        (x, r), (y, q) = a[1], b[1]
        middle = ball((x + y) / 2)
        coefficient = (
            middle.lgamma() - (ball(x).lgamma() + ball(y).lgamma()) / 2
            + (ball(x) * ball(r).log() + ball(y) * ball(q).log()) / 2
            - middle * ball((r + q) / 2).log()
        ).exp()  # fmt: skip
    else:

        def log_beta(parameters: Sequence[Fraction]) -> arb:
            parts = [ball(parameter).lgamma() for parameter in parameters]
            return sum(parts, arb(0)) - ball(sum(parameters, Fraction(0))).lgamma()

        middle_of = [(u + v) / 2 for u, v in zip(a[1], b[1], strict=True)]
        coefficient = (log_beta(middle_of) - (log_beta(a[1]) + log_beta(b[1])) / 2).exp()
    scale = 10**30
    least = ((1 - coefficient).max(arb(0)).sqrt() * scale).lower().floor().unique_fmpz()
    return max(Fraction(int(least), scale), Fraction(0)) if least is not None else Fraction(0)


def log_density(family: str, parameters: Sequence[Fraction], at: float) -> float:
    """The prior's log-density up to a constant; minus infinity outside its support."""
    a, b = (float(parameter) for parameter in parameters)
    if family == "normal":
        return -((at - a) ** 2) / (2 * b * b)
    if family == "gamma":
        return (a - 1) * log(at) - b * at if at > 0 else float("-inf")
    return (a - 1) * log(at) + (b - 1) * log(1 - at) if 0 < at < 1 else float("-inf")
