"""How many candidates a release chooses among: enough for a choice, and no more than can be listed.

A run must not stop after it has paid. So what is derived from a released value, which may be
anything, is held by its bounds; what depends on the number of records is held when the program
runs, before anything is spent.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from bayesdp.programs.ir import Expr, names_of
from tests.oracles.program_checker.intervals import Context, Interval, one_bound
from tests.oracles.program_checker.refusals import Rejected
from tests.oracles.program_checker.sensitivity import constant_of

MOST_CANDIDATES = 2**20
"""No release chooses among more: they are listed, and each has a score."""


def check_candidates(candidates: Expr, context: Context) -> Interval:
    """How many there are; `Rejected` where there may be none, or too many to be listed."""
    many = _how_many(candidates, context)
    if many.low is None or many.low < 1:
        raise Rejected(
            "arguments",
            "There is nothing to choose from here.",
            candidates,
            "A choice is among at least one candidate.",
        )
    most = many.high if _later(candidates) and many.high is not None else many.low
    if most > MOST_CANDIDATES:
        raise Rejected(
            "size",
            f"These are {int(most)} candidates, and a choice is among at most {MOST_CANDIDATES}.",
            candidates,
            "Take a coarser grid.",
        )
    return many


def range_size(start: Fraction, stop: Fraction, step: Fraction) -> int:
    """How many numbers a range has."""
    return max(0, ceil((stop - start) / step)) if step else 0


def sizes_of(candidates: Expr) -> list[tuple[str, Expr, int]]:
    """Public numbers that say how many there are: their names, and what they are at least."""
    if candidates.op == "posteriors-of":
        return [("n", candidates.args[1], 0)]
    if candidates.op == "linspace":
        return [("k", candidates.args[2], 2)]
    if candidates.op == "grid-of":
        return [item for axis in candidates.args for item in sizes_of(axis)]
    return []


def fixed_size(axis: Expr) -> int:
    """How many points an axis of a grid has that is written out; 1 where `sizes_of` says it."""
    if axis.op == "range":
        return range_size(*(_whole_end(argument, axis) for argument in axis.args))
    return len(axis.args) if axis.op == "values" else 1


def _how_many(candidates: Expr, context: Context) -> Interval:
    op = candidates.op
    if op == "grid-of":
        return _grid(candidates, context)
    if op in ("values", "range"):
        many = fixed_size(candidates)
    elif op in ("linspace", "posteriors-of"):
        ((name, size, least),) = sizes_of(candidates)
        actual = _held(name, size, least, candidates, context)
        if op == "linspace":
            return actual
        return Interval(*(None if end is None else end + 1 for end in (actual.low, actual.high)))
    else:
        raise Rejected("type", "Candidates are wanted here.", candidates)
    return Interval(Fraction(many), Fraction(many))


def _held(name: str, size: Expr, least: int, candidates: Expr, context: Context) -> Interval:
    """A whole number of at least `least`; one that depends on a released value has an upper end."""
    actual, value, later = one_bound(size, context), constant_of(size), _later(size)
    at = size if size.where is not None else candidates
    if value is not None and value.denominator != 1:
        raise Rejected("arguments", f"{name} is a whole number.", at)
    if actual.low is None or actual.low < least:
        said = "is" if value is not None else "may be"
        ways = f"{name}=max(..., {least})"
        if later:
            ways = f"{name}=clip(..., {least}, 1000) of a released whole number"
        elif value is None:
            ways = f"require(people.size >= ...) before the first release, or {ways}"
        raise Rejected(
            "arguments", f"{name} {said} below {least} here.", at, f"Hold it above: {ways}."
        )
    if later and actual.high is None:
        raise Rejected(
            "size",
            f"{name} depends on a released value, and noise has no upper end.",
            at,
            f"Write {name}=clip(..., {least}, 1000).",
        )
    return actual


def _whole_end(end: Expr, candidates: Expr) -> Fraction:
    value = constant_of(end)
    if value is None or value.denominator != 1:
        raise Rejected("static", "A range is of whole numbers, known beforehand.", candidates)
    return value


def _grid(candidates: Expr, context: Context) -> Interval:
    """Points that are not parameters of the family are left out: some point must stay."""
    axes = [check_candidates(argument, context) for argument in candidates.args]
    family = str(candidates.data[0])
    for axis, name in zip(candidates.args, "ab", strict=True):
        if (name == "b" or family != "normal") and not _some_positive(axis, context):
            raise Rejected(
                "arguments",
                f"{name} of {family} is above 0, and no point of this grid needs to be.",
                axis if axis.where is not None else candidates,
                "linspace(1, 10, 10), for example.",
            )
    low, high = (_product(ends) for ends in zip(*((ax.low, ax.high) for ax in axes), strict=True))
    if high is None and any(_later(size) for _, size, _ in sizes_of(candidates)):
        raise Rejected(
            "size",
            "One axis of this grid depends on a released value, and the other has no upper end.",
            candidates,
            "Write min(..., 1000) for the number of its points.",
        )
    return Interval(low, high)


def _some_positive(axis: Expr, context: Context) -> bool:
    """Whether some point is certainly above 0; also where that is known before anything is spent.

    The ends are among the points.
    """
    if axis.op == "range":
        start, _, step = (_whole_end(argument, axis) for argument in axis.args)
        return max(start, start + (fixed_size(axis) - 1) * step) > 0
    ends = axis.args if axis.op == "values" else axis.args[:2]
    if any((one_bound(end, context).low or 0) > 0 for end in ends):
        return True
    return not any(_later(end) for end in ends) and any(constant_of(end) is None for end in ends)


def _product(ends: tuple[Fraction | None, ...]) -> Fraction | None:
    first, second = ends
    return None if first is None or second is None else first * second


def _later(expr: Expr) -> bool:
    """Whether a released value is read: what it is, is known after it has been paid for only."""
    return not names_of(expr) <= {"db.size"}
