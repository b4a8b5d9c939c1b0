"""Divisors of public and released values: where they are proved not to be 0.

Such a division tells nothing about anybody, so after the releases it is not a matter of privacy.
But noise may bring a released count to 0, and the program then fails when it is paid for: a note
says so. In what a release reads, a divisor that may be 0 is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayesdp.kernel.programs.ranges import AdjacencyContext
from bayesdp.programs.check.refusals import Rejected
from bayesdp.programs.ir import Expr

Fact = tuple[str, Expr, Expr]
"""A comparison that holds: its operation, and both sides."""

NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def facts(test: Expr, holds: bool = True) -> tuple[Fact, ...]:
    """The comparisons that hold where the test holds, or where it doesn't (`holds`)."""
    if test.op == "not":
        return facts(test.args[0], not holds)
    if test.op == ("and" if holds else "or"):
        return tuple(fact for part in test.args for fact in facts(part, holds))
    if test.op not in NEGATED:
        return ()
    left, right = test.args
    op = test.op if holds else NEGATED[test.op]
    return (op, left, right), (TURNED[op], right, left)


_INSTEAD = "Write total / max(n, 1), or divide where `if n > 0:` holds."


def check_divisor(divisor: Expr, context: AdjacencyContext, known: Iterable[Fact]) -> None:
    """Raise `Rejected` for a public divisor that may be 0, given what is known to hold."""
    if not _not_zero(divisor, context, tuple(known)):
        raise Rejected(
            "division",
            "The divisor may be 0: noise can bring a released count there, and a group may be "
            "empty.",
            divisor,
            _INSTEAD,
        )


def divisor_note(divisor: Expr, context: AdjacencyContext, known: Iterable[Fact]) -> str | None:
    """A note about a divisor that may be 0 after the releases; None where it can't be."""
    if _not_zero(divisor, context, tuple(known)):
        return None
    place = "" if divisor.where is None else f" in line {divisor.where.line}"
    return (
        f"A divisor{place} may be 0: noise can bring a released count there, and a group may be "
        f"empty. Then there is no result, and what was released is all that you get. {_INSTEAD}"
    )


def _not_zero(divisor: Expr, context: AdjacencyContext, known: tuple[Fact, ...]) -> bool:
    if all(place.nonzero for place in context.ranges(divisor)):
        return True
    if divisor.op in ("neg", "abs") or divisor.op == "div":
        return _not_zero(divisor.args[0], context, known)
    if divisor.op == "mul":
        return all(_not_zero(part, context, known) for part in divisor.args)
    return any(_keeps_from_zero(divisor, fact, context) for fact in known)


def _keeps_from_zero(divisor: Expr, fact: Fact, context: AdjacencyContext) -> bool:
    """Whether a comparison keeps the divisor away from 0."""
    op, left, right = fact
    if divisor == Expr("sub", (left, right)):
        return op in ("gt", "lt", "ne")
    places = context.ranges(right) if left == divisor else ()
    if len(places) != 1:
        return False
    low, high = places[0].low, places[0].high
    if op in ("gt", "ge"):
        return low > 0 or (op == "gt" and low == 0)
    if op in ("lt", "le"):
        return high < 0 or (op == "lt" and high == 0)
    return (op == "ne" and low == high == 0) or (op == "eq" and places[0].nonzero)
