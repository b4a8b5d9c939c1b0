"""What is read as it stands: literals, names, tuples, attributes and entries."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Data,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    PersonRows,
    RecordVariable,
    Scalar,
    described,
    scalar,
    static,
    static_of,
)
from bayesdp.programs.source.expressions.dictionaries import entry_for
from bayesdp.programs.source.posteriors.distributions import law_of
from bayesdp.programs.source.posteriors.over_hypotheses import entry_of, is_finite
from bayesdp.programs.source.posteriors.summaries import is_summary, number_about
from bayesdp.programs.source.records.person_rows import column_of_chosen
from bayesdp.programs.source.records.rows import column_of, size_of
from bayesdp.programs.source.syntax.diagnostics import place, refuse, written
from bayesdp.programs.source.syntax.literals import number

RESULT = "Return it as it is: the result has its mean, sd, interval and samples."
ATTRIBUTES = "Attributes are the columns of a row (row.height) and a database's size (db.size)."


def literal_value(node: ast.Constant, context: Context) -> LoweredValue:
    """A number, text or truth value."""
    if isinstance(node.value, bool | str):
        return static(node.value, node)
    if isinstance(node.value, int | float):
        return static(number(node), node)
    raise refuse("type", node, f"{written(node)} is not a value of the language.")


def name(node: ast.Name, context: Context) -> LoweredValue:
    """The value that a name stands for."""
    return _placed(context.scope.look_up(node), node)


def _placed(value: LoweredValue, node: ast.Name) -> LoweredValue:
    """The value, with the place of its use where it is public: messages point there.

    Private values stay the same objects, for `Scalar.model` knows them by that.
    """
    named = isinstance(value, ModelObject) and value.expr.op == "public"
    known = isinstance(value, Scalar) and value.level in ("static", "public")
    if named or known:
        assert isinstance(value, Scalar | ModelObject)
        return replace(value, expr=replace(value.expr, where=place(node)))
    return value


def tuple_or_list(node: ast.Tuple | ast.List, context: Context) -> LoweredValue:
    """A tuple or a list of values."""
    entries: list[LoweredValue] = []
    for entry in node.elts:  # a loop, for a generator would take a second frame at each depth
        entries.append(context.value(entry))
    return Items(tuple(entries), isinstance(node, ast.List))


def misplaced_lambda(node: ast.Lambda, context: Context) -> LoweredValue:
    """Refuse a lambda outside score=, where the release itself reads it."""
    raise refuse("construct", node, "A lambda stands only in score=.", "Write a @helper.")


def attribute(node: ast.Attribute, context: Context) -> LoweredValue:
    """A column of a row, or the size of data."""
    owner = context.value(node.value)
    if isinstance(owner, PersonRows):
        return column_of_chosen(owner, node.attr, node, context)
    if isinstance(owner, RecordVariable):
        return _column(owner, node.attr, node)
    if isinstance(owner, ModelObject) and is_summary(owner, node.attr):
        return number_about(law_of(owner, node, context), node, context)
    if isinstance(owner, Data) and node.attr == "size":
        return size_of(owner, node, context)
    if isinstance(owner, Data):
        return _column(owner, node.attr, node)
    raise refuse(
        "attribute",
        node,
        f"'.{node.attr}' of {described(owner)} is not part of the language.",
        RESULT
        if isinstance(owner, ModelObject) and owner.kind in ("released-posterior", "samples")
        else ATTRIBUTES,
    )


def _column(owner: Data | RecordVariable, name: str, node: ast.AST) -> LoweredValue:
    """A column of a row, or of all rows: `people.height` is (p.height for p in people)."""
    if isinstance(owner, RecordVariable):
        return column_of(owner, name, node)
    if isinstance(owner.row, RecordVariable) and name in dict(owner.row.fields):
        return replace(owner, row=column_of(owner.row, name, node))
    raise refuse(
        "attribute",
        node,
        f"Private data has no '.{name}'.",
        "It has its columns (people.height) and `.size`.",
    )


def entry(node: ast.Subscript, context: Context) -> LoweredValue:
    """An entry of a tuple or vector."""
    owner = context.value(node.value)
    if isinstance(owner, Data | RecordVariable):
        column = static_of(context.value(node.slice))
        if isinstance(column, str):
            return _column(owner, column, node)
        raise refuse(
            "private-output",
            node,
            f"{described(owner).capitalize()} has no entries: one record is never taken out.",
            "Records are reached by sum, count and generators, columns by row.height.",
        )
    if isinstance(owner, ModelObject) and is_finite(owner):
        return entry_of(owner, context.value(node.slice), node)
    if isinstance(owner, Dictionary):
        return entry_for(owner, scalar(context.value(node.slice), node.slice, "a key"), node)
    place_in = _index(node.slice, context)
    if isinstance(owner, Items):
        if not -len(owner.items) <= place_in < len(owner.items):
            raise refuse("type", node, f"There are {len(owner.items)} entries.", "")
        return owner.items[place_in]
    if isinstance(owner, Scalar) and owner.type.kind == "vector":
        items = owner.type.items
        if not -len(items) <= place_in < len(items):
            raise refuse("type", node, f"The vector has {len(items)} entries.", "")
        taken = place_in % len(items)
        if owner.expr.op == "tuple":
            return replace(owner, expr=owner.expr.args[taken], type=items[taken])
        expr = Expr("item", (owner.expr,), (Fraction(taken),), place(node))
        return replace(owner, expr=expr, type=items[taken])
    raise refuse("type", node, f"{described(owner).capitalize()} has no entries.".strip())


def _index(node: ast.expr, context: Context) -> int:
    value = context.value(node)
    if isinstance(value, Scalar) and value.of_records:
        raise refuse(
            "private-control",
            node,
            "This index is private: which entry is taken would tell about the data.",
            "Release it first; then choose by a condition: a if k > 1 else b.",
        )
    if isinstance(value, Scalar) and value.released:
        raise refuse(
            "static",
            node,
            "This index depends on a released value, and an index is known beforehand.",
            "Choose by a condition on it: a if k > 1 else b.",
        )
    index = static_of(value)
    if not isinstance(index, Fraction) or index.denominator != 1:
        raise refuse("static", node, "An index is a whole number known beforehand.")
    return int(index)
