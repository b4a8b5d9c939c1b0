"""Bounds of expressions, exact: in which interval a value lies, whatever the data.

Row expressions are bounded by their columns' types, public ones by the admitted sizes. A bound may
be missing (None). Vectors have one interval for each entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from tests.oracles.program_checker.refusals import Rejected


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`; None is not a bound."""

    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def finite(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    @property
    def width(self) -> Fraction | None:
        """The distance of the ends."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def largest(self) -> Fraction | None:
        """The largest absolute value."""
        return None if self.low is None or self.high is None else max(-self.low, self.high)

    def with_zero(self) -> Interval:
        """The smallest interval that holds this one and 0."""
        low = None if self.low is None else min(self.low, Fraction(0))
        high = None if self.high is None else max(self.high, Fraction(0))
        return Interval(low, high)


Bounds = Interval | tuple[Interval, ...]
UNIT = Interval(Fraction(0), Fraction(1))


@dataclass(frozen=True)
class Context:
    """What is known: the columns' types, and where public values lie.

    A name that is not in `public` means nothing at this place; one that is None there is public,
    but no number (a released posterior, a list of noisy answers).
    """

    columns: Mapping[str, Type]
    public: Mapping[str, Bounds | None]

    def knowing(self, name: str, bounds: Bounds | None) -> Context:
        """The same with one more public value."""
        return Context(self.columns, {**self.public, name: bounds})

    @property
    def size(self) -> Interval:
        """The admitted sizes; nothing is known where the size is private."""
        actual = self.public.get("db.size")
        return actual if isinstance(actual, Interval) else Interval()


def of_type(kind: Type) -> Interval:
    """The values of a column. A category counts by its place among the labels."""
    if kind.kind == "bool":
        return UNIT
    return Interval(kind.low, kind.high)


def bounds(expr: Expr, context: Context) -> Bounds:
    """Where the expression's value lies. Raises `Rejected` where it has none."""
    op = expr.op
    if op == "const":
        value = expr.data[0]
        if isinstance(value, str) or value is None:
            return Interval()
        assert isinstance(value, bool | int | Fraction)
        return Interval(Fraction(value), Fraction(value))
    if op == "field":
        return of_type(column_type(expr, context))
    if op == "public":
        return _known(expr, context)
    if op in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"):
        return UNIT
    if op == "tuple":
        return tuple(one_bound(argument, context) for argument in expr.args)
    if op == "onehot":
        size = expr.data[0]
        assert isinstance(size, int | Fraction)
        return (UNIT,) * int(size)
    if op == "moments":
        return _moments(bounds(expr.args[0], context))
    if op == "item":
        index = expr.data[0]
        assert isinstance(index, int | Fraction)
        whole = bounds(expr.args[0], context)
        if not isinstance(whole, tuple) or not 0 <= int(index) < len(whole):
            raise Rejected("type", "There is no such entry.", expr)
        return whole[int(index)]
    if op in ("cross", "acc", "sum", "count", "fold"):
        return _of_data(expr, context)
    if op in ("add", "sub", "mul", "div", "neg"):
        return _arithmetic(expr, context)
    return _shaped(expr, context)


def column_type(expr: Expr, context: Context) -> Type:
    """The type of the column that `field` reads."""
    actual = context.columns.get(str(expr.data[0]))
    if actual is None:
        raise Rejected("attribute", f"The record has no column '{expr.data[0]}'.", expr)
    return actual


def _known(expr: Expr, context: Context) -> Bounds:
    name = str(expr.data[0])
    if name not in context.public:
        raise Rejected("name", f"'{name}' has no value here.", expr)
    actual = context.public[name]
    if actual is None:
        raise Rejected("type", "A released distribution is not a number.", expr)
    return actual


def one_bound(expr: Expr, context: Context) -> Interval:
    """The bounds of a single number."""
    actual = bounds(expr, context)
    if isinstance(actual, tuple):
        raise Rejected("type", "A vector stands where one number is wanted.", expr)
    return actual


def _of_data(expr: Expr, context: Context) -> Bounds:
    if expr.op == "count":
        return Interval(Fraction(0), context.size.high)
    if expr.op == "sum":
        size = context.size
        each = bounds(expr.args[0].args[1], context)
        plain = expr.args[0].args[0] == TRUE and not expr.args[0].data[0]
        lowest = size.low if plain and size.low is not None else Fraction(0)
        if isinstance(each, tuple):
            return tuple(_repeated(case, lowest, size.high) for case in each)
        return _repeated(each, lowest, size.high)
    return Interval()


TRUE = Expr("const", (), (True,))


def _repeated(each: Interval, least: Fraction, most: Fraction | None) -> Interval:
    """The sum of between `least` and `most` values of an interval."""

    def end(value: Fraction | None, low: bool) -> Fraction | None:
        if value is None:
            return None
        growing = (value < 0) if low else (value > 0)
        if not growing:
            return value * least
        return None if most is None else value * most

    return Interval(end(each.low, True), end(each.high, False))


def _moments(entries: Bounds) -> Bounds:
    if not isinstance(entries, tuple):
        raise Rejected("type", "Moments are of a tuple.")
    return tuple(
        _square(entries[i]) if i == j else _product(entries[i], entries[j])
        for i in range(len(entries))
        for j in range(i, len(entries))
    )


def _arithmetic(expr: Expr, context: Context) -> Bounds:
    parts = [bounds(argument, context) for argument in expr.args]
    longest = max((len(part) for part in parts if isinstance(part, tuple)), default=0)
    if not longest:
        return _combined(expr, [part for part in parts if isinstance(part, Interval)])
    spread = [part if isinstance(part, tuple) else (part,) * longest for part in parts]
    if any(len(item) != longest for item in spread):
        raise Rejected("type", "Two vectors of different lengths.", expr)
    return tuple(_combined(expr, [item[i] for item in spread]) for i in range(longest))


def _combined(expr: Expr, parts: list[Interval]) -> Interval:
    op = expr.op
    if op == "neg":
        return _negated(parts[0])
    left, right = parts
    if op == "add":
        return Interval(_sum(left.low, right.low), _sum(left.high, right.high))
    if op == "sub":
        other = _negated(right)
        return Interval(_sum(left.low, other.low), _sum(left.high, other.high))
    if op == "mul":
        return _square(left) if expr.args[0] == expr.args[1] else _product(left, right)
    return _product(left, _inverse(right))


def _sum(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _negated(interval: Interval) -> Interval:
    return Interval(
        None if interval.high is None else -interval.high,
        None if interval.low is None else -interval.low,
    )


def _square(interval: Interval) -> Interval:
    if interval.low is None or interval.high is None:
        return Interval(Fraction(0), None)
    ends = (interval.low * interval.low, interval.high * interval.high)
    low = Fraction(0) if interval.low <= 0 <= interval.high else min(ends)
    return Interval(low, max(ends))


def _product(a: Interval, b: Interval) -> Interval:
    zero = Interval(Fraction(0), Fraction(0))
    if zero in (a, b):
        return zero
    if a.finite and b.finite:
        ends = [
            x * y
            for x in (a.low, a.high)
            for y in (b.low, b.high)
            if x is not None and y is not None
        ]
        return Interval(min(ends), max(ends))
    low = high = None
    if _at_least_zero(a) and _at_least_zero(b):
        assert a.low is not None
        assert b.low is not None
        low = a.low * b.low
    return Interval(low, high)


def _at_least_zero(interval: Interval) -> bool:
    return interval.low is not None and interval.low >= 0


def _inverse(interval: Interval) -> Interval:
    """1/x. Unknown where 0 may be among the values (see `nonzero`)."""
    if interval.low is not None and interval.low > 0:
        high = 1 / interval.low
        return Interval(Fraction(0) if interval.high is None else 1 / interval.high, high)
    if interval.high is not None and interval.high < 0:
        return _negated(_inverse(_negated(interval)))
    return Interval()


def nonzero(interval: Interval) -> bool:
    """Whether 0 is certainly not in the interval."""
    return (interval.low is not None and interval.low > 0) or (
        interval.high is not None and interval.high < 0
    )


def _shaped(expr: Expr, context: Context) -> Interval:
    op = expr.op
    parts = [one_bound(argument, context) for argument in expr.args]
    if op == "abs":
        (item,) = parts
        if item.low is not None and item.low >= 0:
            return item
        if item.high is not None and item.high <= 0:
            return _negated(item)
        return Interval(Fraction(0), item.largest)
    if op == "if":
        return Interval(_least(parts[1:]), _most(parts[1:]))
    if op == "clip":
        value, low, high = parts
        return _clipped(value, low, high)
    if op == "min":
        highs = [part.high for part in parts if part.high is not None]
        return Interval(_least(parts), min(highs) if highs else None)
    if op == "max":
        lows = [part.low for part in parts if part.low is not None]
        return Interval(max(lows) if lows else None, _most(parts))
    raise Rejected("construct", f"'{op}' has no bounds.", expr)


def _clipped(value: Interval, low: Interval, high: Interval) -> Interval:
    """min(max(value, low), high), where the ends themselves may be uncertain."""
    raised = Interval(
        max((item for item in (value.low, low.low) if item is not None), default=None),
        None if value.high is None or low.high is None else max(value.high, low.high),
    )
    lowest = None
    if raised.low is not None and high.low is not None:
        lowest = min(raised.low, high.low)
    tops = [item for item in (raised.high, high.high) if item is not None]
    return Interval(lowest, min(tops) if tops else None)


def _least(parts: list[Interval]) -> Fraction | None:
    lows = [part.low for part in parts]
    return None if any(low is None for low in lows) else min(x for x in lows if x is not None)


def _most(parts: list[Interval]) -> Fraction | None:
    highs = [part.high for part in parts]
    return None if any(high is None for high in highs) else max(x for x in highs if x is not None)
