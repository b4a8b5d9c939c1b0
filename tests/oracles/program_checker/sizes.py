"""Which numbers of records the preconditions admit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from bayesdp.programs.ir import Expr
from tests.oracles.program_checker.intervals import Interval
from tests.oracles.program_checker.sensitivity import constant_of

Bound = tuple[str, Fraction]
TURNED = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt", "eq": "eq"}


def admitted(requires: Sequence[Expr]) -> Interval:
    """The sizes that the preconditions admit, at least as wide; 1 row is the least."""
    low, high = Fraction(1), None
    for requirement in requires:
        for op, bound in about_size(requirement)[0]:
            if op in ("ge", "eq"):
                low = max(low, bound)
            elif op == "gt":
                low = max(low, bound + 1 if bound.denominator == 1 else bound)
            if op in ("le", "eq", "lt"):
                high = bound if high is None else min(high, bound)
    return Interval(low, high)


def about_size(expr: Expr) -> tuple[list[Bound], bool]:
    """What a precondition says of the size plainly, and whether that is all that it says."""
    if expr.op == "and":
        parts = [about_size(argument) for argument in expr.args]
        return [actual for some, _ in parts for actual in some], all(whole for _, whole in parts)
    if expr.op == "const":
        return [], expr.data[0] is True
    if expr.op not in TURNED:
        return [], False
    left, right = expr.args
    for item, other, op in ((left, right, expr.op), (right, left, TURNED[expr.op])):
        bound = constant_of(other)
        if item.op == "public" and item.data == ("db.size",) and bound is not None:
            return [(op, bound)], True
    return [], False


def some_size(requires: Sequence[Expr], size: Interval) -> bool | None:
    """Whether some whole number is admitted; None where comparisons with numbers don't say it."""
    low, high = size.low, size.high
    for requirement in requires:
        actual, whole = about_size(requirement)
        if not whole:
            return None
        for op, bound in actual:
            if op in ("ge", "gt", "eq"):
                least = Fraction(floor(bound) + 1 if op == "gt" else ceil(bound))
                low = least if low is None else max(low, least)
            if op in ("le", "lt", "eq"):
                most = Fraction(ceil(bound) - 1 if op == "lt" else floor(bound))
                high = most if high is None else min(high, most)
    return low is None or high is None or ceil(low) <= floor(high)
