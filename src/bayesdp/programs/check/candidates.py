"""How many candidates a release chooses among: enough for a choice, and no more than can be listed.

A run must not stop after it has paid. So what is derived from a released value, which may be
anything, is held by its bounds; what depends on the number of records is held when the program
runs, before anything is spent.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, folded
from bayesdp.programs.check.refusals import Rejected
from bayesdp.programs.ir import Expr, names_of

MOST_CANDIDATES = 2**20
"""No release chooses among more: they are listed, and each has a score."""


def check_candidates(candidates: Expr, context: AdjacencyContext) -> Range:
    """The number of candidates, as a range.

    Raises `Rejected` where there may be none, or too many to be listed.
    """
    many = _how_many(candidates, context)
    if many.low < 1:
        raise Rejected(
            "arguments",
            "There is nothing to choose from here.",
            candidates,
            "A choice is among at least one candidate.",
        )
    most = many.high if _later(candidates) and many.finite else many.low
    if most > MOST_CANDIDATES:
        raise Rejected(
            "size",
            f"These are {int(most)} candidates, and a choice is among at most {MOST_CANDIDATES}.",
            candidates,
            "Take a coarser grid.",
        )
    return many


def range_size(start: Fraction, stop: Fraction, step: Fraction) -> int:
    """The count of numbers in a range."""
    return max(0, ceil((stop - start) / step)) if step else 0


def how_many_posteriors(candidates: Expr, n: Fraction | float) -> Fraction | float:
    """The ways to share n records among the labels of `posteriors_of`: that many posteriors.

    Of more records than candidates are ever listed, at least that many.
    """
    labels = labels_in(candidates)
    if not isinstance(n, Fraction) or n > MOST_CANDIDATES:
        return n + 1
    return Fraction(comb(int(n) + labels - 1, labels - 1))


def labels_in(candidates: Expr) -> int:
    """Among how many labels the records of `posteriors_of` are shared; two of a released prior."""
    prior = candidates.args[0]
    return len(prior.args) if prior.op == "prior" else 2


def sizes_of(candidates: Expr) -> list[tuple[str, Expr, int]]:
    """The numbers that the count of candidates depends on: name, expression, least value."""
    if candidates.op == "posteriors-of":
        return [("n", candidates.args[1], 0)]
    if candidates.op == "linspace":
        return [("k", candidates.args[2], 2)]
    if candidates.op == "grid-of":
        return [size for axis in candidates.args for size in sizes_of(axis)]
    return []


def fixed_size(axis: Expr) -> int:
    """The points of a grid's axis that its text alone decides; 1 where `sizes_of` decides them."""
    if axis.op == "range":
        return range_size(*(_whole_end(end, axis) for end in axis.args))
    return len(axis.args) if axis.op == "values" else 1


def _how_many(candidates: Expr, context: AdjacencyContext) -> Range:
    op = candidates.op
    if op == "grid-of":
        return _grid(candidates, context)
    if op in ("values", "range"):
        many = fixed_size(candidates)
    elif op in ("linspace", "posteriors-of"):
        ((name, size, least),) = sizes_of(candidates)
        number = _held(name, size, least, candidates, context)
        if op == "linspace":
            return number
        ends = (number.low, number.high)
        low, high = (how_many_posteriors(candidates, end) for end in ends)
        return Range(low, high)
    else:
        raise Rejected("type", "Candidates are wanted here.", candidates)
    return Range(Fraction(many), Fraction(many))


def _held(name: str, size: Expr, least: int, candidates: Expr, context: AdjacencyContext) -> Range:
    """The range of a count of candidates. Raises `Rejected` unless it is whole, and >= `least`.

    A number that depends on a released value must have an upper end too.
    """
    place, value, later = context.range(size), folded(size), _later(size)
    at = size if size.where is not None else candidates
    if value is not None and value.denominator != 1:
        raise Rejected("arguments", f"{name} is a whole number.", at)
    if place.low < least:
        verb = "is" if value is not None else "may be"
        ways = f"{name}=max(..., {least})"
        if later:
            ways = f"{name}=clip(..., {least}, 1000) of a released whole number"
        elif value is None:
            ways = f"require(people.size >= ...) before the first release, or {ways}"
        raise Rejected(
            "arguments", f"{name} {verb} below {least} here.", at, f"Hold it above: {ways}."
        )
    if later and not place.finite:
        raise Rejected(
            "size",
            f"{name} depends on a released value, and noise has no upper end.",
            at,
            f"Write {name}=clip(..., {least}, 1000).",
        )
    return place


def _whole_end(end: Expr, candidates: Expr) -> Fraction:
    value = folded(end)
    if value is None or value.denominator != 1:
        raise Rejected("static", "A range is of whole numbers, known beforehand.", candidates)
    return value


def _grid(candidates: Expr, context: AdjacencyContext) -> Range:
    """Points that are not parameters of the family are left out: some point must stay."""
    axes = [check_candidates(axis, context) for axis in candidates.args]
    family = str(candidates.data[0])
    for axis, name in zip(candidates.args, "ab", strict=True):
        if (name == "b" or family != "normal") and not _some_positive(axis, context):
            raise Rejected(
                "arguments",
                f"{name} of {family} is above 0, and no point of this grid needs to be.",
                axis if axis.where is not None else candidates,
                "linspace(1, 10, 10), for example.",
            )
    first, second = axes
    many = Range(first.low * second.low, first.high * second.high)
    if not many.finite and any(_later(size) for _, size, _ in sizes_of(candidates)):
        raise Rejected(
            "size",
            "One axis of this grid depends on a released value, and the other has no upper end.",
            candidates,
            "Write min(..., 1000) for the number of its points.",
        )
    return many


def _some_positive(axis: Expr, context: AdjacencyContext) -> bool:
    """Whether some point is certainly above 0; also where that is known before anything is spent.

    The ends are among the points.
    """
    if axis.op == "range":
        start, _, step = (_whole_end(end, axis) for end in axis.args)
        return max(start, start + (fixed_size(axis) - 1) * step) > 0
    ends = axis.args if axis.op == "values" else axis.args[:2]
    if any(context.range(end).low > 0 for end in ends):
        return True
    return not any(_later(end) for end in ends) and any(folded(end) is None for end in ends)


def _later(expr: Expr) -> bool:
    """Whether it reads a released value, which is known only after it has been paid for."""
    return not names_of(expr) <= {"db.size"}
