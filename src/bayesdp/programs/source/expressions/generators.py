"""Generators: over private rows they are data, over a static sequence a tuple."""

from __future__ import annotations

import ast
from dataclasses import replace

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.scope import FunctionScope
from bayesdp.programs.source.drafts.values import (
    TRUE,
    Data,
    Items,
    LoweredValue,
    Parted,
    PersonRows,
    RecordVariable,
    Scalar,
    scalar,
)
from bayesdp.programs.source.expressions.conditions import truth
from bayesdp.programs.source.expressions.sequences import assign, entries, pairs, pieces, sequence
from bayesdp.programs.source.syntax.diagnostics import place, refuse

PERSON_ROW_ENDED = "is one row of a person, inside its generator only."
ROW_ENDED = "is one row, inside its generator only: no record is taken out of the data."


def generator(node: ast.GeneratorExp | ast.ListComp, context: Context) -> LoweredValue:
    """The value of a generator: over data it is data, over a static sequence a tuple."""
    first = node.generators[0]
    over = sequence(first.iter, context)
    if isinstance(over, PersonRows):
        return _mapped_person_rows(node, over, context)
    if isinstance(over, Data):
        if len(node.generators) != 1:
            raise pairs(node)
        rows = _mapped_rows(node, first, over, context)
        context.scope.ended(first.target, ROW_ENDED)
        return rows
    return _listed(node, over, context)


def _mapped_rows(
    node: ast.GeneratorExp | ast.ListComp,
    part: ast.comprehension,
    data: Data,
    context: Context,
) -> Data:
    inner = context.inside(_row_scope(part.target, data, context))
    tests = [data.filter] if data.filter != TRUE else []
    with context.draft.without_release(
        node,
        "A release inside a generator would be made anew for each record.",
        "Release before it, and use the released value inside.",
    ):
        for condition in part.ifs:
            test = truth(condition, inner)
            if test.level != "static" or not test.expr.data[0]:
                tests.append(test.expr)
        value = inner.value(node.elt)
    filtered = TRUE if not tests else tests[0]
    if len(tests) > 1:
        filtered = Expr("and", tuple(tests), (), place(node))
    if isinstance(value, RecordVariable):
        return Data(data.pieces, filtered, value)
    row = scalar(value, node.elt, "a value of the row")
    if row.level == "private":
        raise refuse(
            "nonlinear",
            node.elt,
            "A private value of all records stands inside one record's value.",
            "Release it first.",
        )
    if isinstance(value, Items):
        return Data(data.pieces, filtered, value)
    return Data(data.pieces, filtered, replace(row, level="row"))


def _mapped_person_rows(
    node: ast.GeneratorExp | ast.ListComp, over: PersonRows, context: Context
) -> PersonRows:
    """A generator over a person's rows, or some of them."""
    part = node.generators[0]
    if len(node.generators) != 1:
        raise refuse("construct", node, "One `for` over a person's rows.", "")
    if not isinstance(part.target, ast.Name):
        raise refuse("construct", part.target, "A generator names one row at a time.")
    inner = context.inside(context.scope.inside_rows({part.target.id: over.row}))
    tests = [over.filter] if over.filter != TRUE else []
    with context.draft.without_release(node, "A release inside a generator is not possible."):
        for condition in part.ifs:
            test = truth(condition, inner)
            if test.level != "static" or not test.expr.data[0]:
                tests.append(test.expr)
        value = inner.value(node.elt)
    context.scope.ended(part.target, PERSON_ROW_ENDED)
    row_filter = TRUE if not tests else tests[0]
    if len(tests) > 1:
        row_filter = Expr("and", tuple(tests), (), place(node))
    if not isinstance(value, Scalar | RecordVariable | Items):
        raise refuse("type", node.elt, "A row's value is a number or a truth value.", "")
    return PersonRows(row_filter, value)


def _row_scope(target: ast.expr, data: Data, context: Context) -> FunctionScope:
    """The scope in which a generator's names stand for one row."""
    if isinstance(target, ast.Name):
        return context.scope.inside_rows({target.id: data.row})
    if not isinstance(target, ast.Tuple) or not isinstance(data.row, Items | Scalar):
        raise refuse("construct", target, "A generator names one row at a time.")
    parts = entries(data.row, target)
    names = [name.id for name in target.elts if isinstance(name, ast.Name)]
    if len(names) != len(target.elts) or len(names) != len(parts):
        raise refuse("construct", target, f"A row here has {len(parts)} entries.")
    return context.scope.inside_rows(dict(zip(names, parts, strict=True)))


def _listed(
    node: ast.GeneratorExp | ast.ListComp,
    over: Parted | tuple[LoweredValue, ...],
    context: Context,
) -> LoweredValue:
    """A generator over a static sequence: a tuple."""
    collected: list[LoweredValue] = []
    _each(node, over, 0, context.inside(context.scope.copied()), collected)
    return Items(tuple(collected), isinstance(node, ast.ListComp))


def _each(
    node: ast.GeneratorExp | ast.ListComp,
    over: Parted | tuple[LoweredValue, ...],
    depth: int,
    context: Context,
    collected: list[LoweredValue],
) -> None:
    part = node.generators[depth]

    def run_entry() -> None:
        truths = [truth(test, context) for test in part.ifs]
        if any(test.level != "static" for test in truths):
            raise refuse(
                "static",
                node,
                "Which entries are kept must be known beforehand.",
                "Test literals and public parameters only.",
            )
        if not all(test.expr.data[0] for test in truths):
            return
        if depth + 1 == len(node.generators):
            collected.append(context.value(node.elt))
            context.draft.weigh(Items(tuple(collected[-1:])), node)
            return
        within = sequence(node.generators[depth + 1].iter, context)
        if isinstance(within, Data | PersonRows):
            raise pairs(node)
        _each(node, within, depth + 1, context, collected)

    if isinstance(over, Parted):
        pieces(over, part.target, node, context, run_entry)
        return
    for entry in over:
        context.draft.tick(node)
        assign(part.target, entry, context)
        run_entry()
