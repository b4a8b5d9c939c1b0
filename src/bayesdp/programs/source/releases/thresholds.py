"""The first of several queries that is above a threshold: all of them at the price of one."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Expr
from bayesdp.programs.source.drafts.arguments import (
    asserted,
    bind,
    check_not_private,
    epsilon_of,
    needed,
    public_number,
)
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    INT,
    Items,
    LoweredValue,
    Scalar,
    check_numeric,
    constant,
    described,
    entries_of,
    scalar,
)
from bayesdp.programs.source.syntax.diagnostics import place, refuse

MOST_QUERIES = 1024
EXAMPLE = "(count(p for p in people if p.age >= a) for a in (20, 40, 60))"


def call_above_threshold(node: ast.Call, context: Context) -> LoweredValue:
    """`above_threshold(queries, threshold=, epsilon=[, sensitivity=])`: the place of the first.

    Places begin at 0; where no query is found above, it is the number of queries.
    """
    bound = bind(node, ["queries"], needed=1, keyword=["threshold", "epsilon", "sensitivity"])
    at = bound.given["queries"]
    queries = _queries(context.value(at), at)
    check_not_private(needed(bound, "threshold"), context, "The threshold")
    threshold = public_number(bound.given["threshold"], context, "The threshold")
    options = {"epsilon": epsilon_of(bound, context)}
    options |= asserted(bound, "sensitivity", context)
    listed = Expr("tuple", tuple(query.expr for query in queries), (), place(at))
    name = context.draft.emit("above-threshold", node, [listed, threshold.expr], options)
    ends = constant(Fraction(0)), constant(Fraction(len(queries)))
    # A clip that changes nothing says where the place lies.
    held = Expr("clip", (name, *ends), (), place(node))
    return Scalar("public", held, INT, released=True)


def _queries(value: LoweredValue, node: ast.expr) -> list[Scalar]:
    """The queries, each one private number."""
    if isinstance(value, Scalar) and value.type.kind == "vector":
        listed: tuple[LoweredValue, ...] = entries_of(value, place(node))
    elif isinstance(value, Items):
        listed = value.items
    else:
        raise refuse(
            "type",
            node,
            f"Queries are a tuple or list of private numbers; here stands {described(value)}.",
            EXAMPLE,
        )
    if not 1 <= len(listed) <= MOST_QUERIES:
        raise refuse("size", node, f"There are 1 to {MOST_QUERIES} queries.", EXAMPLE)
    queries = [scalar(query, node) for query in listed]
    for query in queries:
        check_numeric(query, node)
        if query.level == "row" or query.type.kind == "vector":
            raise refuse("type", node, "A query is one number about all records.", EXAMPLE)
    return queries
