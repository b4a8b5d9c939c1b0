"""Where the values of rows lie, and how they are scaled into [-1, 1]."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.programs.ranges import ANY, AdjacencyContext, Range
from bayesdp.kernel.programs.reading import Program
from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import Data, constant
from bayesdp.programs.source.records.rows import ONE, is_public_data
from bayesdp.programs.source.syntax.diagnostics import place, refuse


def lies(value: Expr, context: Context, node: ast.AST) -> tuple[Fraction, Fraction]:
    """Where a row's value lies, by its columns' types. Refused where it has no bounds."""
    columns: Any = context.draft.columns  # kinds and bounds are all that ranges read
    about = Program("replace-one", columns, (), (), (), None, None, "", "", {}, ())
    one_row = Range(Fraction(1), Fraction(1))
    try:
        within = AdjacencyContext(about, one_row, "replace-one").range(value)
    except (InvalidError, UnknownError):
        within = ANY
    if isinstance(within.low, Fraction) and isinstance(within.high, Fraction):
        return within.low, within.high
    raise refuse(
        "bounds",
        node,
        "This likelihood needs rows between two numbers that are known beforehand.",
        "clip(value, 0, 100), for example.",
    )


def unit(value: Expr, middle: Fraction, reach: Fraction, node: ast.AST) -> Expr:
    """A row's value as (value - middle) / reach."""
    moved = Expr("sub", (value, constant(middle)), (), place(node)) if middle else value
    return Expr("mul", (moved, constant(1 / reach)), (), place(node))


def check_public_size(family: str, data: Data, node: ast.AST, context: Context) -> None:
    """Refuse a model of a private number of records; `family` is its likelihood's name."""
    if is_public_data(data, ONE, context):
        return
    raise refuse(
        "prior",
        node,
        f"How many records {family} observes must be public, and here it is private.",
        "Filter by public columns only, and leave adjacency= out of @program.",
    )
