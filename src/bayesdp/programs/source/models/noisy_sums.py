"""Released sums as what a model observes: `observe(noisy, categorical, prior=...)`.

A noisy sum that is the statistic of a likelihood is as good as `statistics(model)` with noise.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from math import isqrt

from bayesdp.kernel.programs.rows import labels_of
from bayesdp.programs.ir import Expr, Type, columns
from bayesdp.programs.source.drafts.context import Context, ReleasedSum
from bayesdp.programs.source.drafts.values import ModelObject, Scalar
from bayesdp.programs.source.models.hypotheses import CHANCES, with_table
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.literals import Literal
from bayesdp.programs.whole_numbers import is_whole

TRUTHS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))
NEEDS = {
    "bernoulli": "laplace(sum(p.ill for p in people), epsilon=...): how many truth values are true",
    "categorical": "laplace(sum(onehot(p.group) for p in people), epsilon=...)",
    "normal": "laplace(sum(p.height for p in people), epsilon=...)",
    "poisson": "laplace(sum(p.visits for p in people), epsilon=...), of whole numbers",
    CHANCES: "laplace(sum(onehot(p.group) for p in people), epsilon=...)",
    "markov_chain": 'laplace(transition_counts(people.state, order="month"), epsilon=...)',
    "linear_model": "laplace(statistics(observe(rows, linear_model(noise_sd=...), ...)), ...)",
}


def released_sum(value: Scalar, context: Context) -> ReleasedSum | None:
    """What is known of a private value that gets noise, if it is a sum over rows."""
    if value.expr.op == "transitions":
        return ReleasedSum("transitions", isqrt(len(value.type.items)), True)
    if value.expr.op != "sum":
        return None
    data = value.expr.args[0]
    row, pieces = data.args[1], data.data[0]
    assert isinstance(pieces, tuple)
    read = columns(data.args[0]) | {str(piece[0]) for piece in pieces if isinstance(piece, tuple)}
    known = context.draft.adjacency == "replace-one" and read <= context.draft.public_columns
    if row.op == "onehot":
        many = len(value.type.items)
        names: tuple[Literal, ...] = labels_of(row.args[0], context.draft.columns)
        if len(names) != many:
            names = tuple(map(Fraction, range(many)))
        return ReleasedSum("labels", many, known, names)
    if value.type.kind == "vector":
        return None
    kind = "truth" if _is_truth(row, context.draft.columns) else "real"
    if kind == "real" and is_whole(value.expr, context.draft.columns, context.draft.whole):
        kind = "whole"
    return ReleasedSum(kind, 1, known)


def _is_truth(row: Expr, kinds: dict[str, Type]) -> bool:
    return row.op in TRUTHS or (row.op == "field" and kinds[str(row.data[0])].kind == "bool")


def observed_sum(
    data: Scalar, likelihood: ModelObject, prior: ModelObject, node: ast.Call, context: Context
) -> ModelObject:
    """A model of a released sum, which must be the likelihood's statistic.

    `data` is the noisy sum, `likelihood` and `prior` the rest of the model at `node`.
    """
    name = str(data.expr.data[0]) if data.expr.op == "public" else ""
    held = context.draft.sums.get(name)
    fits = held is not None and {
        "bernoulli": held.kind == "truth" and held.known_size,
        "categorical": held.kind == "labels",
        "normal": held.kind in ("truth", "whole", "real") and held.known_size,
        "poisson": held.kind in ("truth", "whole"),
        CHANCES: held.kind in ("truth", "labels") and held.known_size,
        "markov_chain": held.kind == "transitions",
    }.get(likelihood.family, False)
    if not fits or held is None:
        raise _not_the_statistic(likelihood, node)
    if likelihood.family == "categorical" and len(prior.about) not in (0, held.labels):
        raise refuse(
            "prior",
            node,
            f"There are {held.labels} categories and {len(prior.about)} prior numbers.",
            "Give one for each.",
        )
    if likelihood.family == CHANCES:
        values: list[Literal] = [False, True] if held.kind == "truth" else list(held.names)
        likelihood = with_table(likelihood, prior, values, node)
    if likelihood.family == "markov_chain" and len(prior.about) != held.labels:
        raise refuse(
            "prior",
            node,
            f"There are {held.labels} states, and every row of their transitions has this prior.",
            f"Write it out: dirichlet({', '.join(['1'] * min(held.labels, 4))}"
            + (", ...)." if held.labels > 4 else ")."),
        )
    expr = Expr("observe", (data.expr, likelihood.expr, prior.expr), (), place(node))
    return ModelObject("noisy-model", expr, likelihood.family, (data, likelihood, prior), True)


def _not_the_statistic(likelihood: ModelObject, node: ast.Call) -> ProgramError:
    return refuse(
        "type",
        node.args[0] if node.args else node,
        f"These numbers are not a noisy sum that {likelihood.family} observes.",
        f"A release as it stands: {NEEDS[likelihood.family]}; or of a filter, "
        "laplace(statistics(observe(rows, ...)), epsilon=...).",
    )
