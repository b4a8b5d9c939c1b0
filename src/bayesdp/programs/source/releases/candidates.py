"""What is chosen among: lists, ranges, grids and posteriors that are fixed without the data."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import BoundArguments, bind, needed, public_number
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Data,
    Items,
    LoweredValue,
    ModelObject,
    RecordVariable,
    Scalar,
    constant,
    described,
    scalar,
    static,
    static_of,
)
from bayesdp.programs.source.expressions.labels import MOST_TEXTS
from bayesdp.programs.source.models.models import model_object
from bayesdp.programs.source.syntax.diagnostics import place, refuse
from bayesdp.programs.source.syntax.literals import Literal

BY_STATISTICS = (
    "A Dirichlet posterior is chosen among posteriors_of(dirichlet(...), n=people.size), or "
    "released through its statistics: noise_aware(laplace(statistics(model), epsilon=...))."
)


def candidates_of(bound: BoundArguments, context: Context) -> ModelObject:
    """The argument `candidates=`, which is fixed without the data."""
    node = needed(bound, "candidates")
    candidates = context.value(node)
    if isinstance(candidates, ModelObject) and candidates.kind == "candidates":
        return candidates
    if isinstance(candidates, Items):
        _fixed_entries(candidates, node)
        values = static_of(candidates)
        if isinstance(values, tuple) and values and _texts(values):
            return _labels(values, node)
        if (
            isinstance(values, tuple)
            and values
            and all(isinstance(number, Fraction) for number in values)
        ):
            numbers = [number for number in values if isinstance(number, Fraction)]
            whole = all(number.denominator == 1 for number in numbers)
            parts = tuple(map(constant, numbers))
            expr = Expr("values", parts, (), place(node))
            return ModelObject("candidates", expr, "int" if whole else "real")
    if isinstance(candidates, Scalar | Items | Data | ModelObject):
        raise refuse(
            "private-parameter" if isinstance(candidates, Data) else "type",
            node,
            f"Candidates are fixed without the data; here stands {described(candidates)}.",
            "posteriors_of(prior, n=db.size), grid_of(...), linspace(lo, hi, k), or numbers.",
        )
    raise refuse("type", node, "Candidates are wanted here.")


def _fixed_entries(listed: Items, node: ast.expr) -> None:
    """Point at the entry of a list of candidates that is not known beforehand."""
    places: list[ast.expr] = [node] * len(listed.items)
    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(places):
        places = node.elts
    for entry, at in zip(listed.items, places, strict=True):
        private = isinstance(entry, Data | RecordVariable)
        private = private or (isinstance(entry, Scalar) and entry.of_records)
        if private:
            raise refuse(
                "private-parameter",
                at,
                "This candidate depends on private data, and the list would tell about them.",
                "Use literals; linspace(lo, hi, k) may have public or released ends.",
            )
        if not isinstance(entry, Scalar) or entry.level != "static":
            raise refuse(
                "static",
                at,
                f"Listed candidates are literals; here stands {described(entry)}.",
                "linspace(lo, hi, k) may have public or released ends.",
            )


def call_posteriors_of(node: ast.Call, context: Context) -> LoweredValue:
    """`posteriors_of(prior, n=)`: every posterior that n public records can give."""
    bound = bind(node, ["prior", "n"], needed=2)
    prior = model_object(bound.given["prior"], context, "prior")
    if prior.family not in ("beta", "dirichlet"):
        raise refuse(
            "type",
            node,
            "posteriors_of is for beta and dirichlet priors.",
            f"Use grid_of({prior.family}, ...).",
        )
    if prior.family == "dirichlet" and prior.expr.op != "prior":
        raise refuse(
            "prior",
            node,
            "Candidates of several numbers are the posteriors of a prior that is written out.",
            "posteriors_of(dirichlet(1, 1, 1), n=people.size)",
        )
    size = _public_size(bound.given["n"], context)
    expr = Expr("posteriors-of", (prior.expr, size), (), place(node))
    return ModelObject("candidates", expr, prior.family)


def _public_size(node: ast.expr, context: Context) -> Expr:
    size = scalar(context.value(node), node)
    if size.of_records:
        raise refuse(
            "private-parameter",
            node,
            "This number of records is private, and the list of candidates would tell it.",
            "Use the size of a database under replace-one, or a literal.",
        )
    if size.type.kind != "int":
        raise refuse("type", node, "A number of records is a whole number.")
    return size.expr


def call_linspace(node: ast.Call, context: Context) -> LoweredValue:
    """`linspace(lo, hi, k)`: k evenly spaced numbers."""
    bound = bind(node, ["low", "high", "k"], needed=3)
    parts = [public_number(bound.given[name], context, "A grid") for name in ("low", "high", "k")]
    count = static_of(parts[2])
    if count is not None and (
        not isinstance(count, Fraction) or count.denominator != 1 or count < 2
    ):
        raise refuse("arguments", bound.given["k"], "k is a whole number of at least 2.")
    if parts[2].type.kind != "int":
        raise refuse(
            "type",
            bound.given["k"],
            "k is a whole number, and this may be another.",
            "Use the size of a database, a released count, or a literal.",
        )
    lower, upper = (static_of(part) for part in parts[:2])
    if isinstance(lower, Fraction) and isinstance(upper, Fraction) and not lower < upper:
        raise refuse("arguments", node, "The grid's lower end lies below its upper one.")
    expr = Expr("linspace", tuple(part.expr for part in parts), (), place(node))
    return ModelObject("candidates", expr, "real")


def call_grid_of(node: ast.Call, context: Context) -> LoweredValue:
    """`grid_of(family, a=range, b=range)`: distributions of a family on a grid of parameters."""
    bound = bind(node, ["family", "a", "b"], needed=3)
    at = bound.given["family"]
    family = at.id.lower() if isinstance(at, ast.Name) else ""
    if family not in ("beta", "gamma", "normal"):
        raise refuse(
            "arguments",
            node,
            "grid_of takes beta, gamma or normal.",
            BY_STATISTICS if family == "dirichlet" else "grid_of(beta, ...)",
        )
    axes = []
    for name in ("a", "b"):
        at = bound.given[name]
        axis = context.value(at)
        if isinstance(axis, Items):
            axis = candidates_of(BoundArguments(node, {"candidates": at}), context)
        if not isinstance(axis, ModelObject) or axis.family not in ("int", "real"):
            raise refuse("arguments", at, f"{name} is a range, a linspace or a tuple of numbers.")
        axes.append(axis.expr)
    return ModelObject("candidates", Expr("grid-of", tuple(axes), (family,), place(node)), family)


def _labels(texts: tuple[Literal, ...], node: ast.expr) -> ModelObject:
    """Texts as candidates: their places, with the labels in `about`."""
    if len(set(texts)) != len(texts) or len(texts) > MOST_TEXTS:
        raise refuse(
            "arguments", node, f"Texts to choose from are at most {MOST_TEXTS}, each of them once.",
            "List those that matter.",
        )  # fmt: skip
    parts = tuple(constant(Fraction(i)) for i in range(len(texts)))
    about = tuple(static(text, node) for text in texts)
    return ModelObject("candidates", Expr("values", parts, (), place(node)), "text", about)


def _texts(values: tuple[Literal, ...]) -> bool:
    return all(isinstance(value, str) for value in values)


def among(name: Expr, candidates: Expr) -> Expr:
    """The picked value, clipped to where candidates lie: this changes nothing, and gives bounds."""
    listed = candidates.args[:2] if candidates.op in ("linspace", "range") else candidates.args
    numbers = [entry.data[0] for entry in listed if entry.op == "const"]
    ends = [number for number in numbers if isinstance(number, Fraction)]
    if not ends or len(ends) != len(listed):
        return name
    low, high = (constant(number) for number in (min(ends), max(ends)))
    return Expr("clip", (name, low, high), (), name.where)
