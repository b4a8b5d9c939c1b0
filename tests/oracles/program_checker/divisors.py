"""Divisors of public and released values: where they are proved not to be 0.

Such a division tells nothing about anybody, so after the releases it is not a matter of privacy.
But noise may bring a released count to 0, and the program then fails when it is paid for: a note
says so. In what a release reads, a divisor that may be 0 is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayesdp.programs.ir import Expr
from tests.oracles.program_checker.intervals import Context, Interval, bounds, nonzero
from tests.oracles.program_checker.refusals import Rejected

Fact = tuple[str, Expr, Expr]
"""A comparison that holds: its operation, and both sides."""

NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def facts(test: Expr, holds: bool = True) -> tuple[Fact, ...]:
    """The comparisons that hold where the test does, or where it doesn't."""
    if test.op == "not":
        return facts(test.args[0], not holds)
    if test.op == ("and" if holds else "or"):
        return tuple(fact for argument in test.args for fact in facts(argument, holds))
    if test.op not in NEGATED:
        return ()
    left, right = test.args
    op = test.op if holds else NEGATED[test.op]
    return (op, left, right), (TURNED[op], right, left)


_INSTEAD = "Write total / max(n, 1), or divide where `if n > 0:` holds."


def check_divisor(divisor: Expr, context: Context, known: Iterable[Fact]) -> None:
    """Raise `Rejected` for a public divisor that may be 0, given what is known to hold."""
    if not _not_zero(divisor, context, tuple(known)):
        raise Rejected(
            "division",
            "The divisor may be 0: noise can bring a released count there, and a group may be "
            "empty.",
            divisor,
            _INSTEAD,
        )


def divisor_note(divisor: Expr, context: Context, known: Iterable[Fact]) -> str | None:
    """What is said of a divisor after the releases that may be 0; None where it can't be."""
    if _not_zero(divisor, context, tuple(known)):
        return None
    place = "" if divisor.where is None else f" in line {divisor.where.line}"
    return (
        f"A divisor{place} may be 0: noise can bring a released count there, and a group may be "
        f"empty. Then there is no result, and what was released is all that you get. {_INSTEAD}"
    )


def _not_zero(divisor: Expr, context: Context, known: tuple[Fact, ...]) -> bool:
    actual = bounds(divisor, context)
    if all(nonzero(item) for item in ((actual,) if isinstance(actual, Interval) else actual)):
        return True
    if divisor.op in ("neg", "abs") or divisor.op == "div":
        return _not_zero(divisor.args[0], context, known)
    if divisor.op == "mul":
        return all(_not_zero(argument, context, known) for argument in divisor.args)
    return any(_apart(divisor, item, context) for item in known)


def _apart(divisor: Expr, fact: Fact, context: Context) -> bool:
    """Whether a comparison keeps the divisor away from 0."""
    op, left, right = fact
    if divisor == Expr("sub", (left, right)):
        return op in ("gt", "lt", "ne")
    other = bounds(right, context) if left == divisor else None
    if not isinstance(other, Interval):
        return False
    low, high = other.low, other.high
    if op in ("gt", "ge"):
        return low is not None and (low > 0 or (op == "gt" and low == 0))
    if op in ("lt", "le"):
        return high is not None and (high < 0 or (op == "lt" and high == 0))
    return (op == "ne" and low == high == 0) or (op == "eq" and nonzero(other))
