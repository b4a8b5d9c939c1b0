"""Rows and statistics of likelihoods that say more of them than a sum or counts.

A statistic is written out in the operations of rows that there are, so that no rule of its own is
needed to know how far a record moves it. What the interpreter must know of the rows' bounds stands
among the likelihood's parameters.

**Statistics of models.** What `statistics(model)` stands for is written out, with what is released,
in the operations of 8.3; no likelihood has a rule of its own. With `[lo, hi]` where the rules say
that a row's value lies, `u = (x - m) / r` for the middle `m` and half the width `r` of that
interval (where a regression has no constant: `m = 0`, `r = max(|lo|, |hi|)`), and `w` a response
scaled so:

| likelihood | summed of each row | moves by, in the l1 norm |
|---|---|---|
| `logistic`, `poisson_regression` | moments of `(1, u, ..., w)` in `[-1, 1]^D` | `D (D + 1) / 2` |
| `normal` with unknown spread | moments of `(1, u)` | 3 |
| `exponential_time` | `t / hi` in `[0, 1]`; where censored also whether the event came | 1; 2 |
| `geometric`, `negative_binomial` | the failures | `hi - lo` |
| `categorical(exposure=)`, `mixture` | a one-hot vector: of the label; of the row's bin | 2 |
| `partial_pooling` | the row's value in a public column's cell | its interval's width, with 0 |

*Proof.* The first two are the rule for moments, the third and fourth the widths, entry by entry; a
bin is `min(floor(k (x - lo) / (hi - lo)), k - 1)` in `0` to `k - 1`, so the fifth is the rule for
one-hot vectors, the last the rule for one cell, whose column two neighbours share. Everything else
that a posterior of these models reads is public: bounds and numbers of bins stand in the program,
and the numbers of records (of all, and of groups) are counts over public columns under replace-one,
where a private filter is refused. So the posterior is a function of what was released and of what
neighbours share, and costs nothing more. ∎ Scaling only chooses units: the bound is on the scaled
numbers that are summed, which the interpreter holds inside `[-1, 1]`.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    REAL,
    Data,
    ModelObject,
    Scalar,
    constant,
    indicators,
    static_of,
)
from bayesdp.programs.source.models.pooling import POOLED
from bayesdp.programs.source.models.regressions import (
    GENERALIZED,
    about_features,
    features_of,
    moments_of,
)
from bayesdp.programs.source.records.bounded import check_public_size, lies, unit
from bayesdp.programs.source.records.rows import row_value, summed
from bayesdp.programs.source.syntax.diagnostics import place, refuse

BARE = (
    *("bernoulli", "categorical", "normal", "geometric", "exponential_time", "markov_chain"),
    *GENERALIZED,
)
"""Likelihoods without a parameter of their own: `geometric` and `geometric()` are the same."""
OWN = ("negative_binomial", "exponential_time", "normal_unknown", "mixture", *GENERALIZED)
"""Likelihoods whose rows and statistics are this file's."""
SEVERAL = (
    *("linear_model", "answered_line", "normal_unknown", "mixture", "markov_chain"),
    *GENERALIZED,
    *POOLED.values(),
)
"""Likelihoods whose posterior is of several numbers, though no Dirichlet one."""
NAMES = {
    "negative_binomial": "negative_binomial(r=)",
    "normal_unknown": "normal without sd=",
    "categorical_exposed": "categorical(exposure=)",
}
"""What likelihoods are called in a program, where it is not the name of their family."""


def name_of(family: str) -> str:
    """What a program calls a likelihood of this family."""
    return NAMES.get(family, family)


def posterior_of(family: str) -> str:
    """The posterior of a model that is released through its statistics, in words."""
    if family in ("linear_model", *GENERALIZED):
        return "A regression's posterior"
    if family == "chances":
        return "A posterior over hypotheses"
    if family in POOLED.values():
        return "A posterior with partial pooling"
    return f"The posterior of {name_of(family)}"


def about_rows(
    likelihood: ModelObject, data: Data, node: ast.expr, context: Context
) -> ModelObject:
    """The likelihood with what is publicly known of the rows; they must be such as it observes."""
    family = likelihood.family
    if family == "categorical_exposed":
        check_public_size(name_of(family), data, node, context)
    if family not in OWN:
        return likelihood
    if family in GENERALIZED:
        parameters = about_features(features_of(family, data, node, context))
    elif family == "normal_unknown":
        low, high = _numbers(family, data, node, context)
        parameters = (constant((low + high) / 2), constant((high - low) / 2))
    elif family == "mixture":
        low, high = _numbers(family, data, node, context)
        width = (high - low) / bins_of(likelihood)
        parameters = (constant(low), constant(width), *likelihood.expr.args)
    elif family == "exponential_time":
        _, time = _times(data, node, context)
        parameters = (constant(time[1]),)
    else:
        _numbers(family, data, node, context)
        parameters = likelihood.expr.args
    check_public_size(name_of(family), data, node, context)
    expr = Expr("likelihood", parameters, (family,), likelihood.expr.where)
    return replace(likelihood, expr=expr)


def bins_of(likelihood: ModelObject) -> int:
    """How many bins a mixture's histogram has."""
    many = static_of(likelihood.about[0])
    assert isinstance(many, Fraction)
    return int(many)


def _histogram(likelihood: ModelObject, data: Data, node: ast.AST, context: Context) -> Scalar:
    """The counts of the bins: the last one holds the upper end too."""
    mapped, _ = row_value(data, node)
    low, high = lies(mapped, context, node)
    bins = Fraction(bins_of(likelihood))
    where = place(node)
    share = unit(Expr("sub", (mapped, constant(low)), (), where), Fraction(0), high - low, node)
    number = Expr("floor", (Expr("mul", (share, constant(bins)), (), where),), (), where)
    held = Expr("min", (number, constant(bins - 1)), (), where)
    return summed(
        data, Expr("onehot", (held,), (bins,), where), indicators(int(bins)), node, context
    )


def own_statistics(likelihood: ModelObject, data: Data, node: ast.AST, context: Context) -> Scalar:
    """The statistics of a likelihood in `OWN`, as sums over its rows."""
    family = likelihood.family
    if family == "mixture":
        return _histogram(likelihood, data, node, context)
    if family in GENERALIZED:
        return moments_of(features_of(family, data, node, context), data, node, context)
    mapped, kind = row_value(data, node)
    if family == "negative_binomial":
        return summed(data, mapped, kind, node, context)
    if family == "normal_unknown":
        low, high = lies(mapped, context, node)
        u = unit(mapped, (low + high) / 2, (high - low) / 2, node)
        pair = Expr("tuple", (constant(Fraction(1), node), u), (), place(node))
        squares = Expr("moments", (pair,), (), place(node))
        return summed(data, squares, Type("vector", items=(INT, REAL, REAL)), node, context)
    events, (time, longest) = _times(data, node, context)
    share = unit(time, Fraction(0), longest, node)
    if events is None:
        return summed(data, share, REAL, node, context)
    both = Expr("tuple", (events, share), (), place(node))
    return summed(data, both, Type("vector", items=(INT, REAL)), node, context)


def _numbers(
    family: str, data: Data, node: ast.expr, context: Context
) -> tuple[Fraction, Fraction]:
    """The bounds of rows that are single numbers."""
    mapped, kind = row_value(data, node)
    counts = family == "negative_binomial"
    if kind.kind not in (("int",) if counts else ("real", "int")):
        raise refuse(
            "type",
            node,
            f"{name_of(family)} observes {'whole numbers' if counts else 'numbers'}.",
            "Declare the column Int[0, high]." if counts else "Take a column of numbers.",
        )
    low, high = lies(mapped, context, node)
    if counts and low < 0:
        raise refuse("type", node, "Failures before a success are 0 or more.", "Int[0, 100]")
    if low == high:
        raise refuse("type", node, "These rows are the same number everywhere.", "")
    return low, high


def _times(
    data: Data, node: ast.AST, context: Context
) -> tuple[Expr | None, tuple[Expr, Fraction]]:
    """Whether the event came (None: always), and the time, with the longest that there is."""
    mapped, kind = row_value(data, node)
    events = None
    if mapped.op == "tuple" and len(kind.items) == 2 and kind.items[1].kind == "bool":
        mapped, events = mapped.args
        kind = kind.items[0]
    if kind.kind not in ("real", "int"):
        raise refuse(
            "type",
            node,
            "exponential_time observes times, or tuples (time, whether the event came).",
            "((p.months, p.died) for p in people), for example.",
        )
    low, high = lies(mapped, context, node)
    if low < 0 or low == high:
        raise refuse("type", node, "Times are 0 or more, and not all the same.", "Real[0, 60]")
    return events, (mapped, high)
