"""What a rule's refusal says to the author of a program: a message and a remedy for each code."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.programs.ranges import AdjacencyContext, folded
from bayesdp.kernel.programs.reading import Node, Parts, Release, pieces
from bayesdp.kernel.programs.refusals import RefusedError, UnprovedError
from bayesdp.programs.check.refusals import Rejected, Stopped, Undecided
from bayesdp.programs.number_text import decimal

Message = tuple[str, str, str]
"""The public code of the refusal, the message and the remedy."""

NOT_ZERO = "require(people.size > 1) for sizes, max(x, 1) for released values."
MESSAGES: dict[str, Message] = {
    "vector": ("type", "A vector stands where one number is wanted.", ""),
    "entry": ("type", "There is no such entry.", ""),
    "lengths": ("type", "Two vectors of different lengths.", ""),
    "cross": ("type", "Two cells of this cross would have one name.", "Rename the labels."),
    "labels": ("type", "A partition has each label once.", ""),
    "limit": (
        "bounds",
        "One record can change this without limit.",
        "Clip it: clip(value, low, high).",
    ),
    "clip": (
        "bounds",
        "The lower end of this clip may lie above the upper one.",
        "clip(value, low, high) with low <= high.",
    ),
    "factor": (
        "bounds",
        "A private value is scaled by a public one without bounds.",
        "Scale after the release: the noise then doesn't depend on it.",
    ),
    "counts": ("bounds", "Counts are at least 0.", "clip(value, 0, high)"),
    "record-bounds": ("bounds", "A record's value has no bounds.", "Clip it."),
    "cell": (
        "type",
        "This is not shown to be a whole number, and it is the number of a cell.",
        "Use Int columns, whole literals, + - *, comparisons and conditions.",
    ),
    "row-divisor": (
        "division",
        "The divisor may be 0.",
        "Divide by a literal, by a column whose bounds leave out 0, or by max(p.n, 1); a public "
        "value may be kept away from 0 by require(...).",
    ),
    "unreleased": ("private-output", "A private value is used without a release.", "Release it."),
    "answers": (
        "private-output",
        "One answer for each record tells how many records there are.",
        "Leave adjacency out of @program: the number of records is then public.",
    ),
    "clip-private": (
        "private-parameter",
        "The ends of a clip depend on private data.",
        "Use literals, public or released values.",
    ),
    "private-product": (
        "nonlinear",
        "A product of two private values.",
        "Release one of them first, or multiply inside the row.",
    ),
    "private-divisor": (
        "nonlinear",
        "This divides by a private value.",
        "Divide by a public or released value, or release both and divide afterwards.",
    ),
    "fold-enters": (
        "unproved",
        "How far a fold moves when a record enters or leaves is not known.",
        "sum(...) of a clipped value.",
    ),
    "transitions": (
        "arguments",
        "These are not transitions: rows of states, a step, and at most a unit.",
        'transition_counts(people.state, order="month", by="person")',
    ),
    "transitions-order": (
        "private-parameter",
        "A record would change which records follow which.",
        "Steps and units are public columns: Public[Int[low, high]].",
    ),
    "transitions-step": ("type", "Steps are whole numbers.", "Public[Int[low, high]]"),
    "transitions-filter": (
        "private-parameter",
        "A private value decides which records are here, and so which follow which.",
        "Count all transitions, and take the entries that matter; or filter by public columns.",
    ),
    "transitions-enter": (
        "unproved",
        "How far transitions move when a record enters or leaves is not known.",
        "transition_counts over all records, outside of pieces of a private column.",
    ),
    "prior-unknown": (
        "unproved",
        "How far the posterior moves is known for a prior that is written out only.",
        "Write its numbers: beta(1, 1); or release laplace(statistics(model), epsilon=...), "
        "which takes any prior.",
    ),
    "sd-unknown": ("unproved", "The standard deviation is not known.", ""),
    "solver-vector": ("unproved", "Solvers are not asked about vectors.", ""),
    "solver-label": ("unproved", "A label stands where no column says its place.", ""),
    "solver-labels": ("unproved", "Labels are compared that have no common places.", ""),
}


def _name(at: Node, context: AdjacencyContext) -> Message:
    return "name", f"'{at.data[0]}' has no value here.", ""


def _column(at: Node, context: AdjacencyContext) -> Message:
    return "attribute", f"The record has no column '{at.data[0]}'.", ""


def _partition(at: Parts, context: AdjacencyContext) -> Message:
    return "attribute", f"The record has no column '{at.column}'.", ""


def _taken(at: Node, context: AdjacencyContext) -> Message:
    return "name", f"'{at.data[0]}' already has a value here.", ""


def _twice(at: Release, context: AdjacencyContext) -> Message:
    return "name", f"'{at.name}' already has a value.", ""


def _row_op(at: Node, context: AdjacencyContext) -> Message:
    return "type", f"'{at.op}' is not an operation on one record.", ""


def _divisor(at: Node, context: AdjacencyContext) -> Message:
    if folded(at) == 0:
        return "division", "This divides by 0.", ""
    return "division", "The divisor may be 0.", NOT_ZERO


def _ends(node: Node, context: AdjacencyContext) -> str:
    """Where a number lies, in words; empty where released values decide it.

    `context` has no released values: a message is made after the rules have stopped.
    """
    try:
        place = context.range(node)
    except InvalidError:
        return ""
    low, high = (
        "any number" if isinstance(end, float) else decimal(end) for end in (place.low, place.high)
    )
    return "" if (low, high) == ("any number", "any number") else f"{low} to {high}"


def _cells(at: Node, context: AdjacencyContext) -> Message:
    cells, ends = at.data[0], _ends(at.args[0], context)
    assert isinstance(cells, Fraction)
    last = int(cells) - 1
    return (
        "bounds",
        f"The cells are 0 to {last}, and this number lies in {ends or 'other places, too'}.",
        f"Hold it: clip(value, 0, {last}).",
    )


def _public(at: Parts, context: AdjacencyContext) -> Message:
    return (
        "type",
        f"The partition and the column disagree about whether '{at.column}' is public.",
        "",
    )


def _moving(at: Parts, context: AdjacencyContext) -> Message:
    return (
        "type",
        f"'{at.column}' is private: a record that changes it leaves one piece and enters another, "
        "and what that costs here is not known.",
        "Declare the column Public[...], or release counts and sums of each piece.",
    )


def _domain(at: Node, context: AdjacencyContext) -> Message:
    ends = _ends(at.args[0], context)
    where = f"{at.op} is not defined everywhere where this may lie{f': {ends}' if ends else ''}."
    remedy = {
        "sqrt": "sqrt(max(value, 0))",
        "exp": "exp(clip(value, -700, 700)), or narrower ends",
    }.get(at.op, f"{at.op}(max(value, 1)), or another number above 0")
    if at.op == "log" and at.args[0].op == "div":
        remedy = "log(a) - log(b) for log(a / b)"
    return "bounds", where, f"Write {remedy}."


def _no_rule(at: Node, context: AdjacencyContext) -> Message:
    return "unproved", f"No rule bounds how far '{at.op}' moves.", ""


def _family(at: Node, context: AdjacencyContext) -> Message:
    return (
        "unproved",
        f"No bound is known on how far a {at.args[1].data[0]} posterior moves when the number of "
        "its records is private.",
        "",
    )


def _piece(at: Node, context: AdjacencyContext) -> Message:
    column, _ = pieces(at.args[0])[-1]
    return (
        "unproved",
        "A fold over a piece of a partition is not derived.",
        f"Fold over the rows of one label: (r for r in people if r.{column} == ...).",
    )


def _solver(at: Node, context: AdjacencyContext) -> Message:
    if at.op not in ("sum", "count"):
        return "unproved", f"Solvers are not asked about '{at.op}'.", ""
    return (
        "unproved",
        "Preconditions and sensitivities are proved from numbers, public arguments and db.size "
        "only; this is a sum over a public column.",
        "",
    )


_SAID: dict[str, Callable[[Any, AdjacencyContext], Message]] = {
    "name": _name,
    "column": _column,
    "partition": _partition,
    "taken": _taken,
    "twice": _twice,
    "row-op": _row_op,
    "divisor": _divisor,
    "cells": _cells,
    "public-parts": _public,
    "moving": _moving,
    "domain": _domain,
    "no-rule": _no_rule,
    "family": _family,
    "fold-piece": _piece,
    "solver-op": _solver,
}
"""Messages that name what is refused."""


def explained(error: RefusedError | UnprovedError, context: AdjacencyContext) -> Stopped | None:
    """The refusal in words; `None` for a code without words."""
    if error.code in _SAID:
        code, message, remedy = _SAID[error.code](error.at, context)
    elif error.code in MESSAGES:
        code, message, remedy = MESSAGES[error.code]
    else:
        return None
    at = error.at
    if error.code in ("cell", "cells") and isinstance(at, Node) and at.args[0].where is not None:
        at = at.args[0]
    kind = Undecided if isinstance(error, UnknownError) else Rejected
    return kind(code, message, getattr(at, "where", None), remedy)
