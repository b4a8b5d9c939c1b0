"""Types as they are written: Bool, Int[lo, hi], Real[lo, hi], Category[...], records, results."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from bayesdp.programs.ir import Type
from bayesdp.programs.source.syntax.diagnostics import refuse, written
from bayesdp.programs.source.syntax.literals import Literal, literal
from bayesdp.statements.base import is_shown

RESULTS = (
    "Beta",
    "Dirichlet",
    "Normal",
    "Gamma",
    "Samples",
    "Bool",
    "Int",
    "Real",
    "Category",
    "Vector",
    "Matrix",
)
"""The names of the types that a program may return."""

MOST_LABELS = 1024


class AnnotationNames(Protocol):
    """What the names in an annotation stand for: those of a file, or of the part that is read."""

    @property
    def surface(self) -> Mapping[str, str]:
        """Names of the language, as they are imported."""

    @property
    def types(self) -> Mapping[str, Type]:
        """Type aliases."""

    @property
    def constants(self) -> Mapping[str, Literal]:
        """Constants, as bounds are written with."""


def read_type(node: ast.expr, names: AnnotationNames) -> Type:
    """A column's or a scalar record's type. Raises `ProgramError`."""
    if isinstance(node, ast.Name) and node.id in names.types:
        return names.types[node.id]
    head, inner = _split(node)
    if head == "Bool" and inner is None and "Bool" in names.surface:
        return Type("bool", Fraction(0), Fraction(1))
    if head in ("Int", "Real") and head in names.surface and inner is not None:
        return _bounded(node, head, inner, names.constants)
    if head == "Category" and head in names.surface and inner is not None:
        return _category(node, inner, names.constants)
    if head == "Public" and head in names.surface and inner is not None:
        return replace(read_type(inner, names), public=True)
    if head in ("Int", "Real") and inner is None:
        raise refuse(
            "bounds",
            node,
            f"{head} has no bounds, so one record could change a result without limit.",
            f"Write {head}[low, high]: values outside are clamped when the table is read.",
        )
    raise refuse(
        "annotation",
        node,
        f"{written(node)} is not a type of the language.",
        'Types are Bool, Int[lo, hi], Real[lo, hi], Category["a", "b"] and Public[...] of those'
        + (f"; import {head} from bayesdp.programs." if head in RESULTS else "."),
    )


def _split(node: ast.expr) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Name):
        return node.id, None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id, node.slice
    return "", None


def _bounded(node: ast.expr, head: str, inner: ast.expr, constants: Mapping[str, Literal]) -> Type:
    ends = literal(inner, constants)
    if not (
        isinstance(ends, tuple)
        and len(ends) == 2
        and all(isinstance(end, Fraction) for end in ends)
    ):
        raise refuse("annotation", node, f"{head} takes two numbers: {head}[low, high].")
    low, high = ends
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    if head == "Int" and (low.denominator != 1 or high.denominator != 1):
        raise refuse("annotation", node, "The bounds of an Int are whole numbers.")
    if not low < high:
        raise refuse(
            "annotation", node, "The lower bound lies below the upper one.", f"{head}[low, high]."
        )
    return Type(head.lower(), low, high)


def _category(node: ast.expr, inner: ast.expr, constants: Mapping[str, Literal]) -> Type:
    written_labels = literal(inner, constants)
    labels = written_labels if isinstance(written_labels, tuple) else (written_labels,)
    if not all(isinstance(label, str) and label for label in labels):
        raise refuse("annotation", node, 'A Category lists texts: Category["a", "b"].')
    texts = tuple(str(label) for label in labels)
    if not all(map(is_shown, texts)):
        raise refuse("annotation", node, "A label is one line of visible letters.")
    if len(set(texts)) != len(texts) or not 2 <= len(texts) <= MOST_LABELS:
        raise refuse(
            "annotation", node, f"A Category has 2 to {MOST_LABELS} labels, each of them once."
        )
    return Type("category", Fraction(0), Fraction(len(texts) - 1), texts)


def record_fields(node: ast.ClassDef, names: AnnotationNames) -> tuple[tuple[str, Type], ...]:
    """The columns of a @record class."""
    fields: list[tuple[str, Type]] = []
    for statement in node.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.Pass):
            continue
        if (
            not isinstance(statement, ast.AnnAssign)
            or not isinstance(statement.target, ast.Name)
            or statement.value is not None
        ):
            raise refuse(
                "annotation",
                statement,
                "A @record lists columns with their types.",
                "Write `height: Real[50, 250]`.",
            )
        name = statement.target.id
        if name in dict(fields):
            raise refuse("name", statement, f"The column '{name}' is listed twice.")
        fields.append((name, read_type(statement.annotation, names)))
    if not fields:
        raise refuse("annotation", node, "A @record has at least one column.")
    return tuple(fields)


Announced = str | tuple["Announced", ...]
"""A type that is returned, or a tuple of those; `(X, "...")` is any number of X."""


def read_results(
    node: ast.expr | None, at: ast.AST, surface: Mapping[str, str]
) -> tuple[Announced, ...]:
    """The names in `Private[...]`, the return annotation; of a tuple in a tuple, a tuple."""
    if node is None:
        raise refuse(
            "signature",
            at,
            "A program says what it returns.",
            "Write `-> Private[Beta]`, for example.",
        )
    head, inner = _split(node)
    if head != "Private" or inner is None or "Private" not in surface:
        raise refuse(
            "signature",
            node,
            "A program returns Private[...]: what is returned has been released.",
            "Private[Beta] or Private[tuple[Beta, Int]], for example.",
        )
    head, parts = _split(inner)
    if head == "tuple" and parts is not None:
        return _tuple(parts, surface)
    return (_result(inner, surface),)


def _tuple(parts: ast.expr, surface: Mapping[str, str]) -> tuple[Announced, ...]:
    items = parts.elts if isinstance(parts, ast.Tuple) else [parts]
    if len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is Ellipsis:
        return (_result(items[0], surface), "...")
    return tuple(_result(item, surface) for item in items)


def _result(node: ast.expr, surface: Mapping[str, str]) -> Announced:
    head, parts = _split(node)
    if head == "tuple" and parts is not None:
        return _tuple(parts, surface)
    if head not in RESULTS or head not in surface:
        raise refuse(
            "annotation",
            node,
            f"{written(node)} is not a type that a program can return.",
            f"It returns {', '.join(RESULTS)} or a tuple of those.",
        )
    return head
