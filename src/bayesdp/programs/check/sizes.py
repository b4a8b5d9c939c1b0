"""Whether the preconditions admit any number of records at all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from bayesdp.kernel.programs.ranges import Range, folded
from bayesdp.programs.ir import Expr

SizeBound = tuple[str, Fraction]
TURNED = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt", "eq": "eq"}


def about_size(expr: Expr) -> tuple[list[SizeBound], bool]:
    """The bounds on the size that a precondition plainly states, and whether it states no more."""
    if expr.op == "and":
        parts = [about_size(part) for part in expr.args]
        return [bound for some, _ in parts for bound in some], all(whole for _, whole in parts)
    if expr.op == "const":
        return [], expr.data[0] is True
    if expr.op not in TURNED:
        return [], False
    left, right = expr.args
    for side, other, op in ((left, right, expr.op), (right, left, TURNED[expr.op])):
        bound = folded(other)
        if side.op == "public" and side.data == ("db.size",) and bound is not None:
            return [(op, bound)], True
    return [], False


def some_size(requires: Sequence[Expr], size: Range) -> bool | None:
    """Whether some whole number is admitted; None where comparisons with numbers don't tell."""
    low, high = Fraction(max(size.low, 1)), size.high
    for precondition in requires:
        bounds, whole = about_size(precondition)
        if not whole:
            return None
        for op, bound in bounds:
            if op in ("ge", "gt", "eq"):
                least = Fraction(floor(bound) + 1 if op == "gt" else ceil(bound))
                low = max(low, least)
            if op in ("le", "lt", "eq"):
                most = Fraction(ceil(bound) - 1 if op == "lt" else floor(bound))
                high = min(high, most)
    return not isinstance(high, Fraction) or ceil(low) <= floor(high)
