"""Noise on numbers, and one noisy answer for each record."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.arguments import (
    BoundArguments,
    asserted,
    bind,
    epsilon_of,
    fixed_number,
)
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    REAL,
    Data,
    LoweredValue,
    ModelObject,
    Scalar,
    check_numeric,
    scalar,
    static,
    whole_or_real,
)
from bayesdp.programs.source.models.noisy_sums import released_sum
from bayesdp.programs.source.records.rows import check_all_rows, data_expr, private_data, row_value
from bayesdp.programs.source.syntax.diagnostics import refuse


def _private_number(node: ast.expr, context: Context) -> Scalar:
    """The private number or vector that gets noise."""
    argument = context.value(node)
    if isinstance(argument, ModelObject) and argument.kind in ("model", "posterior"):
        raise refuse(
            "type",
            node,
            f"A {argument.kind} is not a number.",
            "Release statistics(model) or parameters(posterior).",
        )
    if isinstance(argument, Data):
        raise refuse(
            "type", node, "Private data is not a number.", "Release sum(...), count(...) of it."
        )
    value = scalar(argument, node)
    check_numeric(value, node)
    if value.level == "row":
        raise refuse(
            "type", node, "This is the value of one record.", "Release a sum over all of them."
        )
    return value


def call_laplace(node: ast.Call, context: Context) -> LoweredValue:
    """`laplace(value, epsilon=[, sensitivity=])`: the value with Laplace noise."""
    bound = bind(node, ["value"], needed=1, keyword=["epsilon", "sensitivity"])
    options = {"epsilon": epsilon_of(bound, context)}
    options |= asserted(bound, "sensitivity", context)
    return _noised("laplace", bound, context, options)


def call_gaussian(node: ast.Call, context: Context) -> LoweredValue:
    """`gaussian(value, epsilon=, delta=[, sigma=])`: the value with Gaussian noise."""
    bound = bind(node, ["value"], needed=1, keyword=["epsilon", "delta", "sigma"])
    if "delta" not in bound.given:
        raise refuse(
            "arguments", node, "Gaussian noise has no cost without a delta.", "delta=1e-6."
        )
    options = {
        "epsilon": epsilon_of(bound, context),
        "delta": fixed_number(bound, "delta", context),
    }
    delta = options["delta"].data[0]
    assert isinstance(delta, Fraction)
    if delta >= 1:
        raise refuse("arguments", bound.given["delta"], "delta is below 1.", "1e-6, for example.")
    options |= asserted(bound, "sigma", context)
    return _noised("gaussian", bound, context, options)


def _noised(
    op: str, bound: BoundArguments, context: Context, options: dict[str, Expr]
) -> LoweredValue:
    at = bound.given["value"]
    value = _private_number(at, context)
    name = context.draft.emit(op, bound.node, [value.expr], options)
    kind = _noisy_type(value.type, str(name.data[0]) in context.draft.whole)
    held = released_sum(value, context)
    if held is not None:
        context.draft.sums[str(name.data[0])] = held
    if value.model is not None:
        context.draft.models[str(name.data[0])] = value.model
    return Scalar("public", name, kind, released=True)


def _noisy_type(kind: Type, whole: bool) -> Type:
    """Noise on a vector has one step for all entries: they are whole only if all of them are."""
    entries = kind.items if kind.kind == "vector" else (kind,)
    number = whole_or_real(*entries) if whole else REAL
    return Type("vector", items=(number,) * len(entries)) if kind.kind == "vector" else number


def call_randomized_response(node: ast.Call, context: Context) -> LoweredValue:
    """`randomized_response(data, epsilon=)`: a noisy answer for each record."""
    bound = bind(node, ["data"], needed=1, keyword=["epsilon"])
    data = private_data(bound.given["data"], context)
    mapped, kind = row_value(data, bound.given["data"])
    check_all_rows(data, node, context)
    if kind.kind not in ("bool", "category"):
        raise refuse(
            "type",
            bound.given["data"],
            "Randomized response answers about Bool or Category values.",
            "For numbers use laplace(sum(...)) or per_record_exponential.",
        )
    options = {"epsilon": epsilon_of(bound, context)}
    name = context.draft.emit("randomized-response", node, [data_expr(data, mapped, node)], options)
    family = "categorical" if kind.kind == "category" else "bernoulli"
    labels = tuple(static(label) for label in (kind.labels or ("False", "True")))
    return ModelObject("noisy-data", name, family, labels, True)
