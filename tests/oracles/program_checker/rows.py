"""Row functions: what one record adds to a private value, as one exact vector.

Linear combinations of sums over one database are one sum of a combined row function, so that joint
sensitivity is taken over one pair of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from bayesdp.programs.ir import ROW, Constant, Expr, Type, columns
from bayesdp.programs.number_text import decimal
from tests.oracles.program_checker.intervals import (
    TRUE,
    Context,
    Interval,
    bounds,
    nonzero,
    one_bound,
)
from tests.oracles.program_checker.refusals import Rejected

ZERO = Expr("const", (), (Fraction(0),))
ONE = Expr("const", (), (Fraction(1),))
Setting = Mapping[str, Constant]


@dataclass(frozen=True)
class Part:
    """One entry of a row function: `factor` times `value` where the row is kept, else 0.

    `group` is the vector that the entry is one of, `index` its place there: entries of one group
    stand together (onehot, moments).
    """

    pieces: tuple[tuple[str, str], ...]
    filter: Expr
    group: Expr
    index: int
    factor: Fraction


Entry = tuple[Part, ...]
"""The sum of parts that make one number of a release."""


def part_columns(part: Part) -> frozenset[str]:
    """The columns that decide what a part adds."""
    return columns(part.filter) | columns(part.group) | {c for c, _ in part.pieces}


def condition_columns(part: Part) -> frozenset[str]:
    """The columns that decide whether a row is kept."""
    return columns(part.filter) | {c for c, _ in part.pieces}


def part_bounds(part: Part, context: Context) -> Interval:
    """Where the value lies in rows that are kept, the factor included."""
    whole = bounds(part.group, context)
    item = whole[part.index] if isinstance(whole, tuple) else whole
    if item.low is None or item.high is None:
        raise Rejected(
            "bounds",
            "One record can change this without limit.",
            part.group,
            "Clip it: clip(value, low, high).",
        )
    ends = (part.factor * item.low, part.factor * item.high)
    return Interval(min(ends), max(ends))


def check_row(expr: Expr, context: Context, *, step: bool = False) -> None:
    """A row expression has row operations only, and none of them can fail whatever the row.

    Divisors are bounded away from 0, clips ordered, names known, and no two cells of a cross have
    one name. An exception would be a channel. `step`: the step of a fold, which may read `acc`.
    """
    if expr.op not in ROW or (expr.op == "acc" and not step):
        raise Rejected("type", f"'{expr.op}' is not an operation on one record.", expr)
    if expr.op in ("field", "public", "item", "moments"):
        bounds(expr, context)
    if expr.op == "cross":
        labels = label_lists(expr, context.columns)
        if len(set(labels)) != len(labels):
            raise Rejected(
                "type", "Two cells of this cross would have one name.", expr, "Rename the labels."
            )
    if expr.op == "div" and not nonzero(one_bound(expr.args[1], context)):
        raise Rejected(
            "division",
            "The divisor may be 0.",
            expr.args[1],
            "Divide by a literal, a public column whose bounds leave out 0, or a public value that "
            "require(...) keeps away from 0.",
        )
    if expr.op == "clip":
        low, high = (one_bound(item, context) for item in expr.args[1:])
        if low.high is None or high.low is None or low.high > high.low:
            raise Rejected(
                "bounds",
                "The lower end of this clip may lie above the upper one.",
                expr,
                "clip(value, low, high) with low <= high.",
            )
    for argument in expr.args:
        check_row(argument, context, step=step)
    if expr.op == "onehot":
        _check_place(expr, context)


def _check_place(expr: Expr, context: Context) -> None:
    """A category or truth value has its cell; a number is a whole one that has."""
    (value,), size = expr.args, expr.data[0]
    assert isinstance(size, int | Fraction)
    at = expr if value.where is None else value
    if value.op == "cross" or (value.op == "field" and _labelled(value, context)):
        return
    place = one_bound(value, context)
    if not whole_row(value, context):
        raise Rejected(
            "type",
            "This is not shown to be a whole number, and it is the number of a cell.",
            at,
            "Use Int columns, whole literals, + - *, comparisons and conditions.",
        )
    if place.low is None or place.low < 0 or place.high is None or place.high >= size:
        ends = ["any number" if item is None else decimal(item) for item in (place.low, place.high)]
        raise Rejected(
            "bounds",
            f"The cells are 0 to {int(size) - 1}, and this number lies in {ends[0]} to {ends[1]}.",
            at,
            f"Hold it: clip(value, 0, {int(size) - 1}).",
        )


def _labelled(field: Expr, context: Context) -> bool:
    kind = context.columns.get(str(field.data[0]))
    return kind is not None and kind.kind == "category"


def whole_row(expr: Expr, context: Context) -> bool:
    """Whether a row's value is a whole number whatever the row."""
    if expr.op == "field":
        kind = context.columns.get(str(expr.data[0]))
        return kind is not None and kind.kind in ("bool", "int")
    if expr.op == "const":
        value = expr.data[0]
        return isinstance(value, bool | int | Fraction) and Fraction(value).denominator == 1
    if expr.op in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "onehot"):
        return True
    if expr.op in ("add", "sub", "mul", "neg", "abs", "min", "max", "clip"):
        return all(whole_row(argument, context) for argument in expr.args)
    return expr.op == "if" and all(whole_row(argument, context) for argument in expr.args[1:])


# -- exact evaluation, for finite columns ----------------------------------------------------


def values_of(kind: Type) -> tuple[Constant, ...] | None:
    """All values of a finite column, or None."""
    if kind.kind == "bool":
        return (False, True)
    if kind.kind == "category":
        return kind.labels
    if kind.kind != "int" or kind.low is None or kind.high is None or kind.high - kind.low >= 256:
        return None
    return tuple(Fraction(item) for item in range(int(kind.low), int(kind.high) + 1))


def settings(kinds: Mapping[str, Type]) -> Iterator[dict[str, Constant]]:
    """All settings of finite columns."""
    names = sorted(kinds)
    lists = [values_of(kinds[name]) or () for name in names]
    for values in product(*lists):
        yield dict(zip(names, values, strict=True))


class NotExact(Exception):
    """The expression needs a public value that is not known."""


Plain = Fraction | bool | str | tuple[Fraction, ...]


def evaluate(expr: Expr, row: Setting, kinds: Mapping[str, Type]) -> Plain:
    """The exact value of a row expression."""
    op = expr.op
    if op == "const":
        value = expr.data[0]
        if isinstance(value, bool | str):
            return value
        assert isinstance(value, int | Fraction)
        return Fraction(value)
    if op == "field":
        actual = row[str(expr.data[0])]
        assert isinstance(actual, bool | str | Fraction)
        return actual
    if op == "if":
        return evaluate(expr.args[1 if evaluate(expr.args[0], row, kinds) else 2], row, kinds)
    if op in ("public", "acc"):
        raise NotExact
    args = [evaluate(argument, row, kinds) for argument in expr.args]
    if op == "tuple":
        return tuple(_number(argument) for argument in args)
    if op in ("eq", "ne"):
        return _same(args[0], args[1]) == (op == "eq")
    if op == "cross":
        return "|".join(
            argument if isinstance(argument, str) else str(bool(argument)) for argument in args
        )
    if op == "onehot":
        size = expr.data[0]
        assert isinstance(size, int | Fraction)
        at = _place(expr.args[0], args[0], kinds)
        return tuple(Fraction(int(i == at)) for i in range(int(size)))
    if op == "moments":
        entries = args[0]
        assert isinstance(entries, tuple)
        return tuple(
            entries[i] * entries[j] for i in range(len(entries)) for j in range(i, len(entries))
        )
    if op == "item":
        index = expr.data[0]
        assert isinstance(index, int | Fraction)
        assert isinstance(args[0], tuple)
        return args[0][int(index)]
    longest = max((len(argument) for argument in args if isinstance(argument, tuple)), default=0)
    if longest:
        spread = [
            argument if isinstance(argument, tuple) else (_number(argument),) * longest
            for argument in args
        ]
        return tuple(_number(_computed(op, list(item))) for item in zip(*spread, strict=True))
    return _computed(op, args)


def _computed(op: str, args: list[Plain]) -> Plain:
    if op == "and":
        return all(args)
    if op == "or":
        return any(args)
    if op == "not":
        return not args[0]
    numbers = [_number(argument) for argument in args]
    if op in ("min", "max"):
        return min(numbers) if op == "min" else max(numbers)
    if op == "clip":
        return min(max(numbers[0], numbers[1]), numbers[2])
    if op == "neg":
        return -numbers[0]
    if op == "abs":
        return abs(numbers[0])
    a, b = numbers
    if op == "div":
        return a / b
    actual: dict[str, Plain] = {
        "add": a + b, "sub": a - b, "mul": a * b, "lt": a < b, "le": a <= b, "gt": a > b,
        "ge": a >= b,
    }  # fmt: skip
    return actual[op]


def _number(value: Plain) -> Fraction:
    if isinstance(value, bool | Fraction):
        return Fraction(value)
    raise NotExact


def _same(a: Plain, b: Plain) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return _number(a) == _number(b)


def label_lists(expr: Expr, kinds: Mapping[str, Type]) -> tuple[str, ...]:
    """The labels of a category expression."""
    if expr.op == "field":
        kind = kinds.get(str(expr.data[0]))
        return (kind.labels if kind is not None else ()) or ("False", "True")
    if expr.op == "cross":
        labels = [""]
        for argument in expr.args:
            labels = [f"{a}|{b}" if a else b for a in labels for b in label_lists(argument, kinds)]
        return tuple(labels)
    return ("False", "True")


def _place(expr: Expr, value: Plain, kinds: Mapping[str, Type]) -> int:
    if isinstance(value, str):
        return label_lists(expr, kinds).index(value)
    return int(_number(value))


def kept(part: Part, row: Setting, kinds: Mapping[str, Type]) -> bool:
    """Whether a row counts for a part."""
    for column, label in part.pieces:
        value = row[column]
        if (value if isinstance(value, str) else str(bool(value))) != label:
            return False
    return part.filter == TRUE or bool(evaluate(part.filter, row, kinds))


def entry_value(entry: Entry, row: Setting, kinds: Mapping[str, Type]) -> Fraction:
    """What a row adds to one number of a release."""
    total = Fraction(0)
    for part in entry:
        if kept(part, row, kinds):
            whole = evaluate(part.group, row, kinds)
            value = whole[part.index] if isinstance(whole, tuple) else _number(whole)
            total += part.factor * value
    return total
