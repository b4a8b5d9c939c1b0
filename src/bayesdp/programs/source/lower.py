"""From a program's syntax tree to the intermediate representation.

Statements are run once, with names standing for what they mean: private values are substituted,
helpers inlined, static loops unrolled, static conditions decided. What is left is a list of
commands. Nothing of the program's own code is ever executed on data.

What each kind of syntax means is in the table of `handlers.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from bayesdp.programs.ir import (
    Adjacency,
    Dependence,
    Expr,
    Program,
    columns_read,
)
from bayesdp.programs.source.drafts.context import Context, Draft
from bayesdp.programs.source.drafts.scope import FunctionScope
from bayesdp.programs.source.drafts.values import TRUE, Data, RecordVariable, Scalar, static
from bayesdp.programs.source.expressions.helpers import body_value, global_names
from bayesdp.programs.source.handlers import HANDLERS
from bayesdp.programs.source.records.group_by import grouping_of
from bayesdp.programs.source.statements.results import returns
from bayesdp.programs.source.syntax.annotations import read_results
from bayesdp.programs.source.syntax.diagnostics import ProgramError, refuse
from bayesdp.programs.source.syntax.literals import Literal
from bayesdp.programs.source.syntax.signature import database_of, parameters_of
from bayesdp.programs.source.syntax.source_file import SourceFile
from bayesdp.programs.source.syntax.whitelist import check_syntax


def lower(
    source: SourceFile,
    name: str,
    parameters: Mapping[str, Literal] | None = None,
    inflation: Fraction | None = None,
) -> Program:
    """The program in the intermediate representation.

    `parameters` fixes its public arguments, `inflation` the factor by which a study's population
    widens models of dependent records. `name` is a program of `source`.
    """
    function = source.programs[name]
    try:
        return _lowered(source, function, parameters or {}, inflation)
    except ProgramError as error:
        raise source.located(error) from None
    except RecursionError:
        refusal = refuse("size", function, "This program is nested too deeply.")
        raise source.located(refusal) from None


def _lowered(
    source: SourceFile,
    function: ast.FunctionDef,
    arguments: Mapping[str, Literal],
    inflation: Fraction | None,
) -> Program:
    options = source.options.get(function.name, {})
    adjacency: Adjacency = (
        "add-remove" if options.get("adjacency") == "add-remove" else "replace-one"
    )
    database, fields, is_scalar = database_of(source, function)
    names = global_names(source)
    parameters = parameters_of(source, function, arguments)
    names |= {argument.arg: static(value, argument) for argument, _, value in parameters}
    row: RecordVariable | Scalar = RecordVariable(fields)
    if is_scalar:
        row = Scalar("row", Expr("field", (), ("",)), fields[0][1])
    check_syntax(function, source.surface)
    public = {argument.arg: value for argument, _, value in parameters}
    grouping = grouping_of(source, function, database, fields, public)
    if grouping is None:
        names[database] = Data((), TRUE, row)
    announced = read_results(function.returns, function, source.surface)
    known = dict(fields) if grouping is None else {}
    draft = Draft(source, function, adjacency, database, known, inflation)
    draft.grouping = grouping
    context = Context(draft, FunctionScope(names), HANDLERS)
    value = body_value(function, context)
    returned, types = returns(value, announced, function, context)
    if grouping is not None and draft.dependent:
        raise refuse(
            "type",
            function,
            'dependence="declared" is about records that are one row, not about several rows.',
            "Leave it out.",
        )
    if grouping is not None:
        fields = grouping.record(columns_read(draft.commands, [*returned, *draft.requires]))
    return Program(
        function.name,
        adjacency,
        database,
        fields,
        is_scalar,
        tuple((argument.arg, kind, value) for argument, kind, value in parameters),
        tuple(draft.requires),
        tuple(draft.commands),
        returned,
        types,
        _declared(options, "epsilon"),
        _declared(options, "delta"),
        source.digest,
        _dependence(draft, inflation),
        None if grouping is None else grouping.persons(),
    )


def _dependence(draft: Draft, inflation: Fraction | None) -> Dependence:
    """Whether models count on a population's dependence, and whether one gave its factor."""
    if draft.chained:
        return "chain"
    if not draft.dependent:
        return "ignored"
    if inflation is None:
        return "missing"
    return "partly" if draft.apart_from_dependence else "declared"


def _declared(options: Mapping[str, Literal], name: str) -> Fraction | None:
    """The budget that the decorator declares, or None."""
    value = options.get(name)
    return value if isinstance(value, Fraction) else None
