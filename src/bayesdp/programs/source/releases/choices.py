"""Releases that choose by a score: the exponential mechanism, for all records or for each one."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import (
    BoundArguments,
    asserted,
    bind,
    epsilon_of,
    fixed_number,
    needed,
    single,
)
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.scope import FunctionScope
from bayesdp.programs.source.drafts.values import (
    INT,
    REAL,
    LoweredValue,
    ModelObject,
    Scalar,
    check_numeric,
    constant,
    described,
    scalar,
    static_of,
)
from bayesdp.programs.source.expressions.labels import choice_among, chosen_label
from bayesdp.programs.source.models.models import POSTERIOR, model_of
from bayesdp.programs.source.models.perturbed_answers import answered_column
from bayesdp.programs.source.records.rows import ONE, check_all_rows, data_expr, private_data
from bayesdp.programs.source.releases.candidates import among, candidates_of
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.signature import has_plain_parameters

NO_CONDITION = (
    "A score is computed without: -abs(c - s), min and max; or with the condition inside the "
    "count, count(p for p in people if p.group == g and g != first)."
)
SILENT = "A score releases nothing itself."
CANDIDATE_ENDED = "is a candidate, inside its score only."


def call_exponential(node: ast.Call, context: Context) -> LoweredValue:
    """`exponential(score=, candidates=, epsilon=[, sensitivity=])`: a candidate, by its score."""
    bound = bind(node, [], needed=0, keyword=["score", "candidates", "epsilon", "sensitivity"])
    candidates = candidates_of(bound, context)
    at = needed(bound, "score")
    options = {"epsilon": epsilon_of(bound, context)}
    options |= asserted(bound, "sensitivity", context)
    if isinstance(at, ast.Lambda):
        score = _scored(at, candidates, context)
    else:
        score_value = context.value(at)
        if not isinstance(score_value, ModelObject) or score_value.kind != "score":
            raise refuse(
                "type",
                at,
                f"Here stands {described(score_value)}, and a score is wanted.",
                "hellinger(posterior), or a lambda of one candidate.",
            )
        if candidates.family != score_value.family:
            raise refuse(
                "type",
                bound.given["candidates"],
                f"The score is of {score_value.family} candidates, and these are others.",
                "posteriors_of(prior, n=...) or grid_of(...).",
            )
        score = score_value
    name = context.draft.emit("exponential", node, [score.expr, candidates.expr], options)
    if candidates.family in POSTERIOR:
        return ModelObject("released-posterior", name, candidates.family, (), True)
    if candidates.family == "text":
        return chosen_label(_labels(candidates), name, node, context)
    kind = INT if candidates.family == "int" else REAL
    return Scalar("public", among(name, candidates.expr), kind, released=True)


def _scored(score: ast.Lambda, candidates: ModelObject, context: Context) -> ModelObject:
    parameters = _lambda_parameters(score)
    if len(parameters) != 1:
        raise refuse("arguments", score, "The score is a lambda of one candidate.")
    if candidates.family in POSTERIOR:
        raise refuse("type", score, "A score of distributions is hellinger(posterior).", "")
    variable = context.draft.fresh("candidate")
    kind = INT if candidates.family == "int" else REAL
    candidate_value = Scalar("public", Expr("public", (), (variable,), place(score)), kind)
    if candidates.family == "text":
        candidate_value = choice_among(_labels(candidates), candidate_value.expr)
    inner = FunctionScope(
        {**context.scope.names, parameters[0].arg: candidate_value}, context.scope.gone
    )
    with context.draft.without_release(score, SILENT):
        body = scalar(_score_of(score.body, context.inside(inner)), score.body)
    context.scope.ended(parameters[0], CANDIDATE_ENDED)
    check_numeric(body, score.body)
    if body.level == "row" or body.type.kind == "vector":
        raise refuse("type", score.body, "A score is one number.")
    return ModelObject("score", Expr("score", (body.expr,), (variable,), place(score)), "number")


def _labels(candidates: ModelObject) -> tuple[str, ...]:
    return tuple(str(static_of(text)) for text in candidates.about)


def _score_of(body: ast.expr, context: Context) -> LoweredValue:
    try:
        return context.value(body)
    except ProgramError as error:
        diagnostic = error.diagnostic
        if diagnostic.code != "private-control":
            raise
        raise ProgramError(replace(diagnostic, accepted=NO_CONDITION)) from None


def call_hellinger(node: ast.Call, context: Context) -> LoweredValue:
    """`hellinger(posterior)`: a score for candidates; the closer, the better."""
    posterior = context.value(single(node, "posterior"))
    if isinstance(posterior, ModelObject) and posterior.kind == "model":
        raise refuse("type", node, "hellinger takes a posterior.", "hellinger(infer(model))")
    if not isinstance(posterior, ModelObject) or posterior.kind != "posterior":
        raise refuse("type", node, f"hellinger takes infer(model), not {described(posterior)}.")
    return ModelObject(
        "score", Expr("hellinger", (posterior.expr,), (), place(node)), posterior.family
    )


def call_per_record_exponential(node: ast.Call, context: Context) -> LoweredValue:
    """`per_record_exponential(data, score=, candidates=, epsilon=)`: a choice for each record."""
    bound = bind(node, ["data"], needed=1, keyword=["score", "candidates", "epsilon"])
    data = private_data(bound.given["data"], context)
    check_all_rows(data, node, context)
    candidates = candidates_of(bound, context)
    if candidates.family not in ("int", "real"):
        raise refuse("type", node, "Candidates for records are numbers.", "linspace(0, 1, 11).")
    score = needed(bound, "score")
    if not isinstance(score, ast.Lambda) or len(score.args.args) != 2:
        raise refuse(
            "arguments",
            score,
            "score is a lambda of one row's value and one candidate.",
            "score=lambda x, c: -abs(x - c)",
        )
    row, candidate = (parameter.arg for parameter in _lambda_parameters(score))
    variable = context.draft.fresh("candidate")
    candidate_value = Scalar("public", Expr("public", (), (variable,), place(score)), REAL)
    inner = context.inside(context.scope.inside_rows({row: data.row, candidate: candidate_value}))
    with context.draft.without_release(score, SILENT):
        body = scalar(inner.value(score.body), score.body)
    for parameter in score.args.args:
        context.scope.ended(parameter, CANDIDATE_ENDED)
    check_numeric(body, score.body)
    if body.level == "private" or body.type.kind == "vector":
        raise refuse("type", score.body, "A record's score is one number of its own values.")
    scored = Expr("row-score", (body.expr,), (variable,), place(score))
    rows = data_expr(data, ONE, node)
    options = {"epsilon": epsilon_of(bound, context)}
    name = context.draft.emit(
        "per-record-exponential", node, [rows, scored, candidates.expr], options
    )
    about = answered_column(data, body.expr, context)
    return ModelObject("noisy-data", name, "number", about, True)


def call_posterior_sample(node: ast.Call, context: Context) -> LoweredValue:
    """`posterior_sample(model, grid=, log_likelihood=(lo, hi), power=1)`: a draw on a grid."""
    names = ["grid", "log_likelihood", "power"]
    bound = bind(node, ["model"], needed=1, keyword=names)
    model = model_of(bound.given["model"], context, "posterior_sample")
    if model.family not in ("bernoulli", "normal", "poisson"):
        raise refuse(
            "type",
            node,
            "posterior_sample draws one number.",
            "It takes bernoulli, normal and poisson models.",
        )
    if model.family == "poisson" and context.draft.adjacency != "replace-one":
        raise refuse(
            "type",
            node,
            "Records of a poisson model share its exposure, and how many share it is private "
            "under add-remove.",
            "Write noise_aware(laplace(statistics(model), epsilon=...)), or leave out "
            "adjacency= (then the number of records is public).",
        )
    grid = candidates_of(BoundArguments(node, {"candidates": needed(bound, "grid")}), context)
    if grid.family not in ("int", "real"):
        raise refuse("type", bound.given["grid"], "The grid is of numbers: linspace(lo, hi, k).")
    ends = static_of(context.value(needed(bound, "log_likelihood")))
    if not (
        isinstance(ends, tuple)
        and len(ends) == 2
        and isinstance(ends[0], Fraction)
        and isinstance(ends[1], Fraction)
        and ends[0] < ends[1]
    ):
        raise refuse(
            "bounds",
            bound.given["log_likelihood"],
            "One record's log-likelihood is held between two numbers, known beforehand.",
            "log_likelihood=(-3, 0)",
        )
    options = {
        "low": constant(ends[0]),
        "high": constant(ends[1]),
        "power": ONE,
    }
    if "power" in bound.given:
        options["power"] = fixed_number(bound, "power", context)
    name = context.draft.emit("posterior-sample", node, [model.expr, grid.expr], options)
    return Scalar("public", among(name, grid.expr), REAL, released=True)


def _lambda_parameters(node: ast.Lambda) -> list[ast.arg]:
    signature = node.args
    if not has_plain_parameters(signature):
        raise refuse("construct", node, "A score's lambda has plain parameters only.")
    return signature.args
