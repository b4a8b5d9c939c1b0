"""Models: likelihoods, priors, what is observed, posteriors and their statistics."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import BoundArguments, bind, single
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    REAL,
    Data,
    Items,
    LoweredValue,
    ModelObject,
    Named,
    Scalar,
    described,
    indicators,
    scalar,
    whole_or_real,
)
from bayesdp.programs.source.expressions.arithmetic import calculated
from bayesdp.programs.source.models.dependence import with_dependence
from bayesdp.programs.source.models.families import (
    BARE,
    OWN,
    about_rows,
    name_of,
    own_statistics,
    posterior_of,
)
from bayesdp.programs.source.models.hypotheses import (
    CHANCES,
    counts_of,
    values_of,
    with_answers,
    with_table,
)
from bayesdp.programs.source.models.noisy_sums import observed_sum
from bayesdp.programs.source.models.perturbed_answers import is_line, line_through
from bayesdp.programs.source.models.pooling import POOLED, pooled, sums_of_groups
from bayesdp.programs.source.models.standard import NEEDS
from bayesdp.programs.source.records.rows import ONE, data_expr, is_public_data, row_value, summed
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.suggestions import LIKELIHOODS, PRIORS
from bayesdp.statements import program_models

POSTERIOR = {
    "beta": "Beta",
    "dirichlet": "Dirichlet",
    "normal": "Normal",
    "normal_inverse_gamma": "Normal",
    "gamma": "Gamma",
    "partial_pooling": "Samples",
    "markov_chain": "Samples",
}


def call_observe(node: ast.Call, context: Context) -> LoweredValue:
    """`observe(data, likelihood, prior=)`: a model of private rows, or of noisy ones.

    With `dependence="declared"` it counts on what a study's population says.
    """
    bound = bind(node, ["data", "likelihood", "prior"], needed=3, keyword=["dependence"])
    likelihood = model_object(bound.given["likelihood"], context, "likelihood")
    likelihood = with_dependence(likelihood, bound, context)
    prior = model_object(bound.given["prior"], context, "prior")
    grouped = prior.family == "partial_pooling" and likelihood.family in POOLED
    if not grouped:
        _check_exact(likelihood, prior, bound)
    _check_prior_of_one(likelihood, prior, bound.given["prior"], context)
    data = context.value(bound.given["data"])
    if isinstance(data, ModelObject) and data.kind == "noisy-data" and not grouped:
        _fits_noisy(likelihood, prior, data, bound.given["data"])
        likelihood = with_answers(likelihood, prior, data, bound.given["data"])
        expr = Expr("observe", (data.expr, likelihood.expr, prior.expr), (), place(node))
        return ModelObject("noisy-model", expr, likelihood.family, (data, likelihood, prior), True)
    if isinstance(data, Items) and is_line(data):
        return line_through(data, likelihood, prior, node)
    if isinstance(data, Scalar) and data.released:
        return observed_sum(data, likelihood, prior, node, context)
    if not isinstance(data, Data):
        raise refuse(
            "type",
            bound.given["data"],
            f"observe takes data, and here stands {described(data)}.",
            "Give it the database, a generator over it, or what randomized_response returns.",
        )
    return _model_of_rows(data, likelihood, prior, bound, context)


def _check_exact(likelihood: ModelObject, prior: ModelObject, bound: BoundArguments) -> None:
    """Refuse a prior with which the likelihood has no exact posterior."""
    if likelihood.family == "normal_unknown" and prior.family == "normal":
        raise refuse(
            "arguments",
            bound.given["likelihood"],
            "normal needs sd: normal(sd=...).",
            "Where it is not known, prior=normal_inverse_gamma(mean, strength, shape, scale).",
        )
    if prior.family != program_models.LIKELIHOODS[likelihood.family][0]:
        raise refuse(
            "prior",
            bound.given["prior"],
            f"{name_of(likelihood.family)} with a {prior.family} prior has no exact posterior.",
            f"Its prior is {program_models.LIKELIHOODS[likelihood.family][0]}.",
        )


def _model_of_rows(
    data: Data,
    likelihood: ModelObject,
    prior: ModelObject,
    bound: BoundArguments,
    context: Context,
) -> ModelObject:
    """The model of private rows `data`, where observe is called with the arguments `bound`."""
    at = bound.given["data"]
    if likelihood.family == "markov_chain":
        raise refuse(
            "type",
            at,
            "A chain is observed through noisy counts of its transitions.",
            "noisy = laplace(transition_counts(rows, order=...), epsilon=...), then "
            "noise_aware(observe(noisy, markov_chain, prior=...)).",
        )
    likelihood = about_rows(likelihood, data, at, context)
    if likelihood.family == CHANCES:
        likelihood = with_table(likelihood, prior, values_of(data, at, context), at)
    mapped, kind = row_value(data, at)
    _fits(likelihood, prior, kind, at)
    if prior.family == "partial_pooling":
        likelihood = pooled(likelihood, prior, data, at, context)
    observed = data_expr(data, mapped, bound.node)
    expr = Expr("observe", (observed, likelihood.expr, prior.expr), (), place(bound.node))
    return ModelObject("model", expr, likelihood.family, (data, likelihood, prior), prior.released)


def _check_prior_of_one(
    likelihood: ModelObject, prior: ModelObject, node: ast.expr, context: Context
) -> None:
    """Refuse a released posterior of several numbers as the prior of another model than its own."""
    if prior.expr.op != "public" or str(prior.expr.data[0]) not in context.draft.several:
        return
    if likelihood.family == "linear_model":
        return
    raise refuse(
        "prior",
        node,
        f"This is a posterior of several numbers, and no prior of {name_of(likelihood.family)}.",
        "Use a prior that is written out, or the posterior of a model of one number.",
    )


def model_object(node: ast.expr, context: Context, kind: str) -> ModelObject:
    """An argument that is a likelihood or a prior (`kind`)."""
    argument = context.value(node)
    if isinstance(argument, Named) and kind == "likelihood" and argument.name in BARE:
        called = ast.Call(ast.Name(argument.name, ast.Load()), [], [])
        for part in ast.walk(called):
            ast.copy_location(part, node)
        argument = context.handlers.calls[argument.name](called, context)
    if isinstance(argument, Named) and kind == "likelihood" and argument.name in NEEDS:
        needs = NEEDS[argument.name]
        raise refuse(
            "arguments", node, f"{argument.name} needs {needs}: {argument.name}({needs}=...)."
        )
    if isinstance(argument, ModelObject) and argument.kind == kind:
        return argument
    if (
        isinstance(argument, ModelObject)
        and kind == "prior"
        and argument.kind == "released-posterior"
    ):
        return ModelObject("prior", argument.expr, argument.family, argument.about, True)
    if isinstance(argument, ModelObject) and argument.kind == "posterior":
        raise refuse(
            "private-parameter",
            node,
            "A posterior that has not been released is private, and so is a prior made of it.",
            "Release it first: exponential(...), or laplace(statistics(model), ...).",
        )
    remedy = {"likelihood": LIKELIHOODS, "prior": PRIORS}.get(kind, "")
    message = f"Here stands {described(argument)}, and a {kind} is wanted."
    raise refuse("type", node, message, remedy)


def _fits_noisy(
    likelihood: ModelObject, prior: ModelObject, data: ModelObject, node: ast.AST
) -> None:
    fitting: tuple[str, ...] = (data.family, "categorical", CHANCES)
    if data.family == "number":
        fitting = ("normal", "poisson")
    if likelihood.family not in fitting:
        raise refuse(
            "type",
            node,
            f"{name_of(likelihood.family)} does not observe these noisy answers.",
            "Answers of randomized_response are observed as what they are about: Bool by "
            "bernoulli, Category by categorical; those of per_record_exponential by "
            "normal(sd=) or poisson(exposure=).",
        )
    labels = len(data.about)
    if likelihood.family == "categorical" and prior.about and len(prior.about) != labels:
        raise _miscounted(labels, len(prior.about), node)


def _fits(likelihood: ModelObject, prior: ModelObject, kind: Type, node: ast.AST) -> None:
    family = likelihood.family
    wanted = {
        "bernoulli": ("bool",),
        "categorical": ("category", "bool"),
        "categorical_exposed": ("category", "bool"),
        "normal": ("real", "int"),
        "poisson": ("int",),
        "linear_model": ("vector",),
    }.get(family)
    if wanted is None:
        return  # `about_rows` has looked at the rows
    if kind.kind not in wanted:
        raise refuse(
            "type",
            node,
            f"{name_of(family)} observes {' or '.join(_ROWS[name] for name in wanted)}, and these "
            f"rows are {_ROWS.get(kind.kind, kind.kind)}.",
            _instead(family, kind),
        )
    if family == "categorical_exposed" and len(likelihood.about) != (len(kind.labels) or 2):
        raise refuse(
            "arguments",
            node,
            f"There are {len(kind.labels) or 2} categories and {len(likelihood.about)} exposures.",
            "Give one for each.",
        )
    if family in ("categorical", "categorical_exposed") and prior.about:
        labels = len(kind.labels) or 2
        if len(prior.about) != labels:
            raise _miscounted(labels, len(prior.about), node)


def call_infer(node: ast.Call, context: Context) -> LoweredValue:
    """`infer(model)`: the exact posterior, private until it is released."""
    model = context.value(single(node, "model"))
    if isinstance(model, ModelObject) and model.kind == "noisy-model":
        raise refuse("type", node, "This model is of noisy data.", "Use noise_aware(model).")
    if not isinstance(model, ModelObject) or model.kind != "model":
        raise refuse("type", node, f"infer takes a model, and here stands {described(model)}.")
    if model.family in ("linear_model", "categorical_exposed", CHANCES, *OWN, *POOLED.values()):
        raise refuse(
            "prior",
            node,
            f"{posterior_of(model.family)} is released through its statistics.",
            "nuts(gaussian(statistics(model), epsilon=, delta=), draws=)."
            if model.family == "linear_model"
            else "noise_aware(laplace(statistics(model), epsilon=...)).",
        )
    _, prior = parts_of(model)
    expr = Expr("posterior", (model.expr,), (), place(node))
    return ModelObject("posterior", expr, prior.family, (model,), model.released)


def model_of(node: ast.expr, context: Context, function: str) -> ModelObject:
    """An argument that is a model of private data; `function` is who takes it, for messages."""
    model = context.value(node)
    if isinstance(model, ModelObject) and model.kind == "model":
        return model
    raise refuse("type", node, f"{function} takes a model, and here stands {described(model)}.")


def parts_of(model: ModelObject) -> tuple[ModelObject, ModelObject]:
    """A model's likelihood and prior."""
    _, likelihood, prior = model.about
    assert isinstance(likelihood, ModelObject)
    assert isinstance(prior, ModelObject)
    return likelihood, prior


def _observed(model: ModelObject) -> Data:
    """The private data that a model observes."""
    data = model.about[0]
    assert isinstance(data, Data)
    return data


def call_statistics(node: ast.Call, context: Context) -> LoweredValue:
    """`statistics(model)`: the minimal sufficient statistics, given what is public."""
    model = model_of(single(node, "model"), context, "statistics")
    sums = statistics_of(model, node, context)
    return replace(sums, statistics=(sums.expr, model))


def statistics_of(model: ModelObject, node: ast.AST, context: Context) -> Scalar:
    """The sufficient statistics of a model, as sums over its data."""
    data = _observed(model)
    mapped, kind = row_value(data, node)
    if model.family in ("categorical", "categorical_exposed"):
        labels = len(kind.labels) or 2
        hot = Expr("onehot", (mapped,), (Fraction(labels),), place(node))
        return summed(data, hot, indicators(labels), node, context)
    if model.family == CHANCES:
        return counts_of(data, node, context)
    if model.family in POOLED.values():
        return sums_of_groups(parts_of(model)[1], data, node, context)
    if model.family in OWN:
        return own_statistics(parts_of(model)[0], data, node, context)
    if model.family == "linear_model":
        d = len(kind.items)
        items = (REAL,) * (d * (d + 1) // 2)
        moments = Expr("moments", (mapped,), (), place(node))
        return summed(data, moments, Type("vector", items=items), node, context)
    total = summed(data, mapped, kind, node, context)
    if model.family == "poisson" or is_public_data(data, ONE, context):
        return total
    if model.family == "bernoulli":
        rows = _both_truths(mapped, node)
    else:
        rows = Expr("tuple", (ONE, mapped), (), place(node))
    items = (INT, INT if model.family == "bernoulli" else whole_or_real(kind))
    return summed(data, rows, Type("vector", items=items), node, context)


def call_parameters(node: ast.Call, context: Context) -> LoweredValue:
    """`parameters(posterior)`: all its parameters, as a private vector."""
    posterior = context.value(single(node, "posterior"))
    if not isinstance(posterior, ModelObject) or posterior.kind != "posterior":
        released = isinstance(posterior, ModelObject) and posterior.kind == "released-posterior"
        raise refuse(
            "type",
            node,
            "parameters takes infer(model).",
            "Return this posterior as it is: the result has its mean, interval and parameters."
            if released
            else "",
        )
    model = posterior.about[0]
    assert isinstance(model, ModelObject)
    data, (_, prior) = _observed(model), parts_of(model)
    if prior.family not in ("beta", "dirichlet") or not prior.about:
        raise refuse(
            "nonlinear",
            node,
            f"The parameters of a {prior.family} posterior are not plain sums.",
            "Release statistics(model), and derive the posterior by noise_aware.",
        )
    mapped, kind = row_value(data, node)
    if model.family == "bernoulli":
        hot, labels = _both_truths(mapped, node), 2
    else:
        labels = len(kind.labels) or 2
        hot = Expr("onehot", (mapped,), (Fraction(labels),), place(node))
    total = summed(data, hot, indicators(labels), node, context)
    start = scalar(Items(prior.about), node)
    return calculated("add", node, start, total, context)


def _both_truths(mapped: Expr, node: ast.AST) -> Expr:
    """Of each row whether it is true, and whether it is false."""
    return Expr("tuple", (mapped, Expr("not", (mapped,), (), place(node))), (), place(node))


def _miscounted(labels: int, numbers: int, node: ast.AST) -> ProgramError:
    return refuse(
        "prior",
        node,
        f"There are {labels} categories and {numbers} prior numbers.",
        "Give one for each.",
    )


_ROWS = {
    "bool": "truth values",
    "category": "labels",
    "int": "whole numbers",
    "real": "numbers",
    "vector": "tuples of numbers",
}


def _instead(family: str, kind: Type) -> str:
    """How to write rows that a likelihood can observe, for a message."""
    if family == "bernoulli" and kind.kind == "category":
        label = "..." if len(kind.labels) < 2 else kind.labels[-1]
        return f'Compare them with a label: (p.column == "{label}" for p in people).'
    if family == "bernoulli" and kind.kind in ("int", "real"):
        return "Compare them with a number: (p.column > 0 for p in people)."
    if family == "poisson" and kind.kind == "real":
        return "Declare the column Int[low, high]."
    if family == "categorical" and kind.kind == "int":
        return _labels(kind)
    if family == "linear_model":
        return "Write (features, response) of each row, scaled into [-1, 1]."
    return ""


def _labels(kind: Type) -> str:
    """The call that turns whole numbers into categories, as it is written in a message."""
    if kind.low is None or kind.high is None:
        return "Declare the column as a Category."
    low, high = int(kind.low), int(kind.high)
    minus = f" - {low}" if low > 0 else f" + {-low}" if low else ""
    between = "..., " if high - low > 1 else ""
    return (
        f'Declare the column Category["{low}", {between}"{high}"] (whole numbers are read as '
        f"labels), or release the counts: laplace(sum(onehot(x{minus}, {high - low + 1}) for x in "
        "...), epsilon=...)."
    )
