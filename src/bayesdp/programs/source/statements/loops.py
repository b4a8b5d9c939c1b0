"""Loops: static ones are unrolled, and may stop: `if test: break` on a public or released value.

The rest of the loop stands on the other side of the condition, with the same body in each of its
steps: so a loop that may stop is a branch in a branch, and costs what it costs to its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import Data, LoweredValue, Parted, PersonRows
from bayesdp.programs.source.expressions.conditions import truth
from bayesdp.programs.source.expressions.sequences import assign, pieces, sequence
from bayesdp.programs.source.statements.branches import branch
from bayesdp.programs.source.syntax.diagnostics import refuse

MOST_STOPS = 40
"""The most steps of a loop that may stop: branches are nested so deep."""
IN_LOOPS = "if noisy > 100: break"


def stopping_loop(statement: ast.For, context: Context) -> None:
    """A `for` statement, with or without a `break`."""
    breaks = list(_breaks(statement.body))
    if not breaks:
        _whole_loop(statement, context)
        return
    if statement.orelse:
        raise refuse("construct", statement, "A loop has no else here.", "Write it after it.")
    over = sequence(statement.iter, context)
    if not isinstance(over, tuple):
        raise refuse(
            "construct",
            breaks[0],
            "A loop over private rows or over pieces goes to its end.",
            "Use a range or a tuple for a loop that may stop.",
        )
    if len(over) > MOST_STOPS:
        raise refuse(
            "size",
            statement,
            f"A loop that may stop has at most {MOST_STOPS} steps.",
            "Take fewer steps; or search by above_threshold(queries, threshold=, epsilon=), which "
            "has one cost for all.",
        )
    stops = [part for part in statement.body if _stops(part)]
    if len(stops) != 1 or len(breaks) != 1:
        raise refuse(
            "construct",
            breaks[-1] if len(breaks) > 1 else breaks[0],
            "A `break` stands last in an `if` of the loop itself, and there is one.",
            f"{IN_LOOPS}; join two conditions by `or`.",
        )
    _run(statement, stops[0], over, context)


def _whole_loop(statement: ast.For, context: Context) -> None:
    """A `for` statement without a `break`: its body once for each entry, or for each piece."""
    if statement.orelse:
        raise refuse("construct", statement, "A loop has no else here.", "Write it after it.")
    over = sequence(statement.iter, context)
    if isinstance(over, Data | PersonRows):
        raise refuse(
            "private-control",
            statement.iter,
            "A loop over private rows would let each of them do anything.",
            "Use sum(...), count(...) or fold(...) over a generator.",
        )
    if isinstance(over, Parted):
        pieces(over, statement.target, statement, context, lambda: context.run(statement.body))
        return
    for entry in over:
        context.draft.tick(statement)
        assign(statement.target, entry, context)
        context.run(statement.body)


def _breaks(statements: Sequence[ast.stmt]) -> Iterator[ast.Break]:
    """Every `break` that leaves this loop."""
    for statement in statements:
        if isinstance(statement, ast.Break):
            yield statement
        elif isinstance(statement, ast.If):
            yield from _breaks((*statement.body, *statement.orelse))


def _stops(statement: ast.stmt) -> bool:
    """Whether this is a condition that ends in a `break` on one side."""
    if not isinstance(statement, ast.If):
        return False
    return any(side and isinstance(side[-1], ast.Break) for side in _sides(statement))


def _sides(statement: ast.If) -> tuple[list[ast.stmt], list[ast.stmt]]:
    return statement.body, statement.orelse


def _run(
    statement: ast.For, stop: ast.stmt, steps: Sequence[LoweredValue], context: Context
) -> None:
    """The steps that are left: up to the condition `stop`, and the rest where it lets it run."""
    assert isinstance(stop, ast.If)
    at = statement.body.index(stop)
    if not steps:
        return
    context.draft.tick(statement)
    assign(statement.target, steps[0], context)
    context.run(statement.body[:at])
    test = truth(stop.test, context)

    def side(body: Sequence[ast.stmt], inner: Context) -> None:
        if body and isinstance(body[-1], ast.Break):
            inner.run(body[:-1])
            return
        inner.run(body)
        inner.run(statement.body[at + 1 :])
        _run(statement, stop, steps[1:], inner)

    if test.level == "static":
        side(_sides(stop)[0 if test.expr.data[0] else 1], context)
        return
    branch(stop, test, [partial(side, body) for body in _sides(stop)], context)


def misplaced_break(statement: ast.Break, context: Context) -> None:
    """Refuse a `break` that is not the last statement of a condition in a loop."""
    raise refuse("construct", statement, "A `break` stands last in an `if` of a loop.", IN_LOOPS)
