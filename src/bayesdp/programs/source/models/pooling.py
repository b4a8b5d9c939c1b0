"""Partial pooling over the groups of a public column: one level of hierarchy.

Each group has a number of its own (a chance's logit, a rate's logarithm, a mean), and these come
from one normal law whose centre and spread are unknown. A record moves the sum of its own group
alone, because the column is public; the groups' sizes are public too.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.errors import did_you_mean
from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import bind, needed, positive_number
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Data,
    LoweredValue,
    ModelObject,
    Scalar,
    static,
    static_of,
    whole_or_real,
)
from bayesdp.programs.source.records.bounded import check_public_size
from bayesdp.programs.source.records.rows import ONE, data_expr, row_value, summed
from bayesdp.programs.source.syntax.diagnostics import place, refuse

POOLED = {
    "bernoulli": "pooled_bernoulli",
    "poisson": "pooled_poisson",
    "normal": "pooled_normal",
}
"""Likelihoods of one number that may be pooled, and what a model of groups is called."""
EXAMPLE = 'partial_pooling(normal(0, sd=2), spread=1, by="site")'


def call_partial_pooling(node: ast.Call, context: Context) -> LoweredValue:
    """`partial_pooling(normal(m, sd=), spread=, by="column")`: a prior of the groups' numbers."""
    bound = bind(node, ["center"], needed=1, keyword=["spread", "by"])
    center = context.value(bound.given["center"])
    written = isinstance(center, ModelObject) and center.expr.op == "prior"
    if not isinstance(center, ModelObject) or center.family != "normal" or not written:
        raise refuse(
            "prior",
            bound.given["center"],
            "The centre of the groups has a normal prior that is written out.",
            EXAMPLE,
        )
    spread = positive_number(needed(bound, "spread"), context, "The spread")
    by = static_of(context.value(needed(bound, "by")))
    columns = context.draft.columns
    if not isinstance(by, str) or by not in columns or not by:
        raise refuse(
            "attribute",
            bound.given["by"],
            "by= is the name of a column of the record.",
            did_you_mean(str(by), sorted(filter(None, columns))) or EXAMPLE,
        )
    public = by in context.draft.public_columns and context.draft.adjacency == "replace-one"
    if not public or columns[by].kind not in ("category", "bool"):
        raise refuse(
            "private-parameter",
            bound.given["by"],
            f"The groups are those of a public column of labels, and {by} is not one.",
            'Public[Category["s1", "s2"]], and no adjacency= of @program.',
        )
    parts = (*center.expr.args, spread.expr)
    expr = Expr("prior", parts, ("partial_pooling",), place(node))
    released = center.released or spread.released
    return ModelObject("prior", expr, "partial_pooling", (static(by, node),), released)


def pooled(
    likelihood: ModelObject, prior: ModelObject, data: Data, node: ast.expr, context: Context
) -> ModelObject:
    """The likelihood of groups: the sizes of all groups stand among its parameters.

    `likelihood` is that of one record, `prior` a `partial_pooling`.
    """
    family = POOLED[likelihood.family]
    check_public_size("partial_pooling", data, node, context)
    sizes = []
    for label in _labels(by_of(prior), context):
        group = replace(data, pieces=(*data.pieces, (by_of(prior), label)))
        sizes.append(Expr("count", (data_expr(group, ONE, node),), (), place(node)))
    expr = Expr("likelihood", (*likelihood.expr.args, *sizes), (family,), likelihood.expr.where)
    return ModelObject("likelihood", expr, family, likelihood.about, likelihood.released)


def by_of(prior: ModelObject) -> str:
    """The column whose labels are the groups."""
    return str(static_of(prior.about[0]))


def sums_of_groups(prior: ModelObject, data: Data, node: ast.AST, context: Context) -> Scalar:
    """The sum of each group, as a vector: one number in the cell of the record's group."""
    mapped, kind = row_value(data, node)
    by = by_of(prior)
    labels = len(_labels(by, context))
    column = Expr("field", (), (by,), place(node))
    cell = Expr("onehot", (column,), (Fraction(labels),), place(node))
    sums = Expr("mul", (cell, mapped), (), place(node))
    items = (whole_or_real(kind),) * labels
    return summed(data, sums, Type("vector", items=items), node, context)


def _labels(by: str, context: Context) -> tuple[str, ...]:
    return context.draft.columns[by].labels or ("False", "True")
