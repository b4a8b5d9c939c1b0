"""Regressions of truth values (`logistic`) and of counts (`poisson_regression`): their moments.

Columns are scaled into [-1, 1] here by the bounds of their types, so nobody needs to do it by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import REAL, Data, Scalar, constant
from bayesdp.programs.source.records.bounded import lies, unit
from bayesdp.programs.source.records.rows import row_value, summed
from bayesdp.programs.source.syntax.diagnostics import place, refuse

ZERO = Fraction(0)
GENERALIZED = ("logistic", "poisson_regression")
MOST_COUNT, MOST_FEATURES, MOST_LEVELS = 1000, 4, 7
EXAMPLES = {
    "logistic": "((1, p.age, p.ill) for p in people)",
    "poisson_regression": "((1, p.age, p.visits) for p in people)",
}


@dataclass(frozen=True)
class Feature:
    """A feature of a regression: its value in a row, where that lies, and how many values it has.

    `levels` is 0 for a feature with many values.
    """

    value: Expr
    low: Fraction
    high: Fraction
    levels: int

    @property
    def constant(self) -> bool:
        """Whether it is the same number in every row."""
        return self.low == self.high


def features_of(family: str, data: Data, node: ast.AST, context: Context) -> tuple[Feature, ...]:
    """The features of a regression's rows; and of the response, which is last."""
    mapped, kind = row_value(data, node)
    if mapped.op != "tuple":
        raise refuse("type", node, "A regression's rows are tuples.", EXAMPLES[family])
    features = []
    for value, type_ in zip(mapped.args, kind.items, strict=True):
        low, high = lies(value, context, node)
        few = type_.kind in ("int", "bool") and high - low < MOST_LEVELS
        features.append(Feature(value, low, high, int(high - low) + 1 if few else 0))
    *inputs, response = features
    counts = kind.items[-1].kind == ("bool" if family == "logistic" else "int")
    if not counts or response.low != 0 or response.constant or response.high > MOST_COUNT:
        raise refuse("type", node, *_RESPONSES[family])
    fixed = [feature for feature in inputs if feature.constant]
    if len(fixed) > 1 or any(feature.low == 0 for feature in fixed) or not inputs:
        raise refuse(
            "type",
            node,
            "The features are columns, and at most one number that is the same in all rows, such "
            "as the 1 of an intercept.",
            EXAMPLES[family],
        )
    if len(inputs) - len(fixed) > MOST_FEATURES:
        raise refuse(
            "size",
            node,
            f"A {family} model takes at most {MOST_FEATURES} features beside its intercept.",
            "Leave some out, or merge them: p.a + p.b.",
        )
    return tuple(features)


_RESPONSES = {
    "logistic": (
        "The last entry of a logistic model's rows is a truth value.",
        "(1, p.age, p.visits > 0), for example.",
    ),
    "poisson_regression": (
        f"The last entry of a poisson_regression's rows is a whole number from 0 to at most "
        f"{MOST_COUNT}.",
        "(1, p.age, clip(p.visits, 0, 10)), for example.",
    ),
}


def about_features(features: Sequence[Feature]) -> tuple[Expr, ...]:
    """What the interpreter must know of a regression's rows, as parameters of the likelihood."""
    numbers: list[Fraction] = [features[-1].high]
    for feature in features[:-1]:
        numbers += [feature.low, feature.high, Fraction(feature.levels)]
    return tuple(constant(number) for number in numbers)


def moments_of(features: Sequence[Feature], data: Data, node: ast.AST, context: Context) -> Scalar:
    """The sums that a regression of truth values or counts is fitted to.

    They are the moments of (1, u, ..., w): u is a varying feature, moved and scaled into [-1, 1],
    and w the response, scaled so. Without an intercept there is no 1, and u is only scaled.
    """

    def scaled(feature: Feature, shifted: bool) -> Expr:
        middle = (feature.low + feature.high) / 2 if shifted else ZERO
        reach = max(feature.high - middle, middle - feature.low)
        return unit(feature.value, middle, reach, node)

    *inputs, response = features
    shifted = any(feature.constant for feature in inputs)
    rows = [constant(Fraction(1), node)] if shifted else []
    rows += [scaled(feature, shifted) for feature in inputs if not feature.constant]
    rows.append(scaled(response, shifted=True))
    kind = Type("vector", items=(REAL,) * (len(rows) * (len(rows) + 1) // 2))
    moments = Expr("moments", (Expr("tuple", tuple(rows), (), place(node)),), (), place(node))
    return summed(data, moments, kind, node, context)
