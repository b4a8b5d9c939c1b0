"""Released posteriors over hypotheses: numbers about them, and what they are returned as."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import pairwise

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.values import (
    REAL,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
    constant,
    static_of,
)
from bayesdp.programs.source.expressions.dictionaries import VIEWS, viewed
from bayesdp.programs.source.models.hypotheses import (
    CHANCES,
    HYPOTHESES,
    hypothesis_words,
    keys_of,
    points,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse


def check_after(op: str, model: Expr, node: ast.AST) -> None:
    """Refuse what a finite model has no posterior for. `op` is what is asked for, of `model`."""
    likelihood = model.args[1]
    if likelihood.data[0] != CHANCES:
        return
    if op == "nuts":
        raise refuse(
            "type", node, "The posterior of a finite model is exact.", "noise_aware(noisy)"
        )
    many = int(Fraction(likelihood.args[0].data[0]))  # type: ignore[arg-type]  # a number's constant
    if op == "plug-in" and any(part.data[0] == 0 for part in likelihood.args[many + 1 :]):
        raise refuse(
            "prior",
            node,
            "A value is impossible under a hypothesis, and noise would seem to rule it out.",
            "noise_aware(noisy) knows of the noise.",
        )


def is_finite(owner: LoweredValue) -> bool:
    """Whether a value is a released posterior over hypotheses."""
    if not isinstance(owner, ModelObject) or owner.kind != "released-posterior":
        return False
    return owner.family == HYPOTHESES


def probabilities(owner: ModelObject, node: ast.AST) -> Dictionary:
    """A released posterior as a dictionary: the probability of each hypothesis."""
    keys = keys_of(owner, node)
    places = points(keys)
    reach = min(b - a for a, b in pairwise(sorted(places))) / 2
    values = [_near(owner, point - reach, point + reach, node) for point in places]
    return Dictionary(tuple(keys), tuple(values))


def _near(owner: ModelObject, low: Fraction, high: Fraction, node: ast.AST) -> Scalar:
    expr = Expr("summary", (owner.expr,), ("probability", low, high), place(node))
    ends = constant(Fraction(0)), constant(Fraction(1))
    return Scalar("public", Expr("clip", (expr, *ends), (), place(node)), REAL, released=True)


def entry_of(owner: ModelObject, key: LoweredValue, node: ast.Subscript) -> LoweredValue:
    """`posterior["fair"]`: the probability of one hypothesis."""
    known, table = static_of(key), probabilities(owner, node)
    for held, chance in zip(table.keys, table.values, strict=True):
        if type(held) is type(known) and held == known:
            return chance
    some = ", ".join(map(hypothesis_words, table.keys[:4])) + (
        ", ..." if len(table.keys) > 4 else ""
    )
    raise refuse("type", node, "This is none of the hypotheses.", f"They are {some}.")


def view_of(owner: ModelObject, node: ast.Call, name: str) -> LoweredValue:
    """`posterior.items()`, `.keys()` and `.values()`, as of a dictionary.

    `owner` is the posterior, `name` the method that `node` calls.
    """
    assert name in VIEWS
    return viewed(probabilities(owner, node), node, name)


def check_numbered(owner: ModelObject, what: str, node: ast.AST) -> None:
    """Refuse `what` (a mean, for example) of hypotheses that are not single numbers."""
    if what == "samples" or not all(isinstance(key, Fraction) for key in keys_of(owner, node)):
        raise refuse(
            "type",
            node,
            f"These hypotheses have no {what}."
            if what != "samples"
            else "Hypotheses are not drawn.",
            'posterior["fair"] is the probability of one, and posterior.items() are all.',
        )


def as_items(owner: ModelObject, node: ast.AST) -> Items:
    """The probabilities of all hypotheses in their order, as they are returned."""
    return Items(probabilities(owner, node).values)
