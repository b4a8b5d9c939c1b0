"""What a program returns: everything in it has been released, and is of the announced type."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Items,
    LoweredValue,
    ModelObject,
    Scalar,
    described,
    entries_of,
    scalar,
)
from bayesdp.programs.source.models.models import POSTERIOR
from bayesdp.programs.source.posteriors.distributions import is_law, law_of
from bayesdp.programs.source.posteriors.over_hypotheses import as_items, is_finite
from bayesdp.programs.source.syntax.annotations import Announced
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse


def returns(
    value: LoweredValue,
    wanted: tuple[Announced, ...],
    function: ast.FunctionDef,
    context: Context,
) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
    """The returned expressions and their types; those of tuples in tuples one after the other."""
    last = function.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    many = wanted[-1:] == ("...",) or len(wanted) > 1
    parts = _parts(value, wanted, last.value) if many else [(value, wanted[0], last.value)]
    listed = list(_listed(parts))
    results = tuple(_result(_named(part, node, context), kind, node) for part, kind, node in listed)
    return results, tuple(kind for _, kind, _ in listed)


def _named(value: LoweredValue, node: ast.expr, context: Context) -> LoweredValue:
    """A distribution of released numbers gets a name; any other value stays as it is."""
    if isinstance(value, ModelObject) and value.released and is_law(value):
        return law_of(value, node, context)
    if isinstance(value, ModelObject) and is_finite(value):
        return as_items(value, node)
    return value


def _listed(
    parts: Sequence[tuple[LoweredValue, Announced, ast.expr]],
) -> Iterator[tuple[LoweredValue, str, ast.expr]]:
    for part, kind, node in parts:
        if isinstance(kind, str):
            yield part, kind, node
        else:
            yield from _listed(_parts(part, kind, node))


def _parts(
    value: LoweredValue, wanted: tuple[Announced, ...], whole: ast.expr
) -> list[tuple[LoweredValue, Announced, ast.expr]]:
    """The entries of a returned tuple, each with its announced type and place."""
    parts: tuple[LoweredValue, ...] = (value,)
    if isinstance(value, ModelObject) and is_finite(value) and wanted[-1:] == ("...",):
        value = as_items(value, whole)
    if isinstance(value, Items):
        parts = value.items
    elif isinstance(value, Scalar) and wanted[0] not in ("Vector", "Matrix"):
        parts = entries_of(value, place(whole)) or parts
    types = wanted
    if wanted[-1:] == ("...",):
        types = (wanted[0],) * len(parts)
    if not parts:
        raise refuse("type", whole, "Nothing is returned.", "Return released values.")
    if len(parts) != len(types):
        raise refuse(
            "type",
            whole,
            f"{len(parts)} values are returned, and {len(types)} announced.",
            "Name each in Private[tuple[...]].",
        )
    at: list[ast.expr] = [whole] * len(parts)
    if isinstance(whole, ast.Tuple) and len(whole.elts) == len(parts):
        at = whole.elts
    return list(zip(parts, types, at, strict=True))


def _matrix(value: Items, node: ast.expr) -> Expr:
    """Rows of one length, each released: one vector, row after row."""
    rows = [scalar(item, node) for item in value.items]
    for row in rows:
        if row.of_records:
            raise refuse(
                "private-output", node, "A private value is returned as it is.", "Release it."
            )
    if not rows or len({len(row.type.items) for row in rows}) > 1 or not rows[0].type.items:
        raise refuse("type", node, "A Matrix has rows of one length.", "")
    where = place(node)
    entries = tuple(entry.expr for row in rows for entry in entries_of(row, where))
    return Expr("tuple", entries, (), where)


def _public_object(value: ModelObject, node: ast.expr) -> ProgramError:
    """The refusal of a prior and the like as a result: it is public, but nothing to return."""
    if value.kind != "prior":
        return refuse(
            "type",
            node,
            f"{described(value).capitalize()} is not a result: it is public as it stands.",
            "Return what has been released with it.",
        )
    numbers = ", ".join(["Real"] * len(value.about))
    return refuse(
        "type",
        node,
        "A prior of public numbers is not a result: it is known as it stands.",
        f"Return its numbers, as Private[tuple[{numbers}]]; a posterior to return comes from "
        "noise_aware(laplace(statistics(model), epsilon=...)).",
    )


_KINDS = {
    "Bool": ("bool",),
    "Int": ("int", "bool"),
    "Real": ("real", "int", "bool"),
    "Vector": ("vector",),
    "Matrix": ("vector",),
    "Category": ("text", "category"),
}
"""The kinds of value that may be returned as each announced type."""


def _result(value: LoweredValue, wanted: str, node: ast.expr) -> Expr:
    """The value as it is returned: `wanted` is the type that the program announces."""
    if isinstance(value, ModelObject):
        return _model_result(value, wanted, node)
    if isinstance(value, Items) and wanted == "Matrix":
        return _matrix(value, node)
    number = scalar(value, node) if isinstance(value, Items | Scalar) else None
    if number is None:
        raise refuse(
            "private-output",
            node,
            f"{described(value).capitalize()} is returned.",
            "Release it.",
        )
    if number.of_records:
        raise refuse(
            "private-output",
            node,
            "A private value is returned as it is.",
            "Release it: laplace(value, epsilon=...), for example.",
        )
    if any(entry.kind not in ("int", "real", "bool") for entry in number.type.items):
        raise refuse("type", node, "A vector is of numbers.", "Return texts one by one.")
    if number.type.kind not in _KINDS.get(wanted, ()):
        right = [announced for announced, kinds in _KINDS.items() if number.type.kind in kinds]
        raise refuse(
            "type",
            node,
            f"A value of kind {number.type.kind} is returned as {wanted}.",
            f"Announce Private[{right[0]}], or return another value.",
        )
    return number.expr


def _model_result(value: ModelObject, wanted: str, node: ast.expr) -> Expr:
    """A released posterior, its samples, or noisy data as they are returned."""
    announced = {
        "released-posterior": (POSTERIOR.get(value.family),),
        "samples": ("Samples",),
        "noisy-data": ("Vector", "Samples"),
    }.get(value.kind, ())
    if wanted in announced:
        return value.expr
    if value.kind in ("prior", "likelihood", "candidates"):
        raise _public_object(value, node)
    if not value.released or value.kind in ("model", "posterior", "score"):
        raise refuse(
            "private-output",
            node,
            f"A {value.kind} is returned that has not been released.",
            "Release it: exponential(...), or laplace(statistics(model), ...).",
        )
    right = announced[0] if announced else None
    raise refuse(
        "type",
        node,
        f"{described(value).capitalize()} is returned as {wanted}.",
        f"Announce Private[{right}], or return another value." if right else "",
    )
