"""Calls: the language's functions by their names, helpers written out."""

from __future__ import annotations

import ast

from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Dictionary,
    LoweredValue,
    ModelObject,
    Named,
    PersonVariable,
    described,
)
from bayesdp.programs.source.expressions.dictionaries import VIEWS, viewed
from bayesdp.programs.source.expressions.helpers import inlined
from bayesdp.programs.source.posteriors.distributions import drawn, law_of
from bayesdp.programs.source.posteriors.over_hypotheses import is_finite, view_of
from bayesdp.programs.source.posteriors.summaries import METHODS, NUMBERS, called_number, is_summary
from bayesdp.programs.source.records.person_rows import first_or_last
from bayesdp.programs.source.syntax.diagnostics import refuse, written


def call(node: ast.Call, context: Context) -> LoweredValue:
    """The value of a call: of a function of the language, or of a helper."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in (*NUMBERS, *METHODS, "samples"):
        owner = context.value(node.func.value)
        if isinstance(owner, ModelObject) and is_summary(owner, node.func.attr):
            owner = law_of(owner, node, context)
            if node.func.attr == "samples" and not is_finite(owner):
                return drawn(owner, node, context)
            return called_number(owner, node.func.attr, node, context)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("first", "last"):
        person = context.value(node.func.value)
        if isinstance(person, PersonVariable):
            return first_or_last(node, person, node.func.attr, context)
    if isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
        table = context.value(node.func.value)
        if isinstance(table, Dictionary):
            return viewed(table, node, node.func.attr)
        if isinstance(table, ModelObject) and is_finite(table):
            return view_of(table, node, node.func.attr)
    if not isinstance(node.func, ast.Name):
        grown = isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "extend")
        name = written(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        raise refuse(
            "attribute",
            node.func,
            "Values have no methods here.",
            f"Write {name} = {name} + (value,)."
            if grown and name.isidentifier()
            else "Call a function of bayesdp.programs or a @helper by its name.",
        )
    function = context.scope.look_up(node.func)
    if not isinstance(function, Named):
        raise refuse("type", node.func, f"'{node.func.id}' is {described(function)}.", "")
    if function.kind == "helper":
        return inlined(function.name, node, context)
    handler = context.handlers.calls.get(function.name)
    if handler is None:
        raise refuse("type", node.func, f"'{function.name}' is not called.", "")
    return handler(node, context)
