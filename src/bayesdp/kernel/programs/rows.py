"""What one row adds: exact values of row expressions, and private numbers as sums of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from bayesdp.kernel.programs.effort import bounded
from bayesdp.kernel.programs.functions import FUNCTIONS, function_value
from bayesdp.kernel.programs.ranges import AdjacencyContext, folded
from bayesdp.kernel.programs.reading import ONE, TRUE, ColumnType, Node, Values, columns_of, pieces

RowValue = Fraction | bool | str | tuple[Fraction, ...]
RowValues = Mapping[str, RowValue]
MOST_WHOLE, MOST_SETTINGS = 256, 200
"""The interpreter looks a sum up if each of its columns has at most so many values, and all of them
have at most so many settings together."""


class NotExactError(Exception):
    """A value depends on something that is not in the row."""


@dataclass(frozen=True, slots=True)
class Term:
    """Entry `index` of `value` where a row lies in the pieces and passes the filter, else 0."""

    pieces: tuple[tuple[str, str], ...]
    filter: Node
    value: Node
    index: int
    group: Node
    """What the whole sum adds up, in one way: `value`, or a vector that it is an entry of."""

    @property
    def deciding(self) -> frozenset[str]:
        """The columns that decide whether a row counts."""
        return columns_of(self.filter) | {column for column, _ in self.pieces}

    @property
    def columns(self) -> frozenset[str]:
        """All columns that decide what a row adds."""
        return self.deciding | columns_of(self.group)


Entry = Mapping[Term, Fraction]
"""A number that is a sum over rows: of each term, times its factor."""


# -- private numbers as sums over rows -------------------------------------------------------


def linear(node: Node, context: AdjacencyContext) -> list[Entry] | None:
    """The entries of a private value as sums over rows, but for public values that are added.

    None where an entry is something else.
    """
    if not context.moved(node):
        return [{} for _ in context.ranges(node)]
    op = node.op
    if op in ("sum", "count"):
        return _terms(node, context)
    if op not in ("tuple", "item", "add", "sub", "neg", "mul", "div"):
        return None
    parts = [linear(arg, context) for arg in node.args]
    known = [part for part in parts if part is not None]
    if op in ("mul", "div"):
        return _by_number(node, parts)
    if len(known) < len(parts):
        return None
    if op == "tuple":
        return [entry for entries in known for entry in entries]
    if op == "item":
        place = node.data[0]
        assert isinstance(place, Fraction)
        return [known[0][int(place)]]
    if op == "neg":
        return _times(known[0], Fraction(-1))
    return _together(known[0], known[1], Fraction(1 if op == "add" else -1))


def _terms(node: Node, context: AdjacencyContext) -> list[Entry]:
    data = node.args[0]
    if node.op == "count":
        return [{Term(pieces(data), data.args[0], ONE, 0, ONE): Fraction(1)}]
    value = data.args[1]
    places = [(value, i) for i in range(len(context.ranges(value)))]
    if value.op == "tuple":
        places = [(part, 0) for part in value.args]
    return [{Term(pieces(data), data.args[0], part, i, value): Fraction(1)} for part, i in places]


def _by_number(node: Node, parts: list[list[Entry] | None]) -> list[Entry] | None:
    left, right = node.args
    number = folded(right)
    if number is not None and parts[0] is not None:
        if node.op == "div":
            return None if number == 0 else _times(parts[0], 1 / number)
        return _times(parts[0], number)
    number = folded(left)
    if node.op == "mul" and number is not None and parts[1] is not None:
        return _times(parts[1], number)
    return None


def _times(entries: list[Entry], factor: Fraction) -> list[Entry]:
    return [{term: factor * weight for term, weight in entry.items()} for entry in entries]


def _together(first: list[Entry], second: list[Entry], sign: Fraction) -> list[Entry]:
    length = max(len(first), len(second))
    a, b = (part * length if len(part) == 1 else part for part in (first, second))
    entries: list[Entry] = []
    for x, y in zip(a, b, strict=True):
        summed = dict(x)
        for term, factor in y.items():
            summed[term] = summed.get(term, Fraction(0)) + sign * factor
        entries.append({term: factor for term, factor in summed.items() if factor})
    return entries


# -- exact values ------------------------------------------------------------------------------


def values_of(column: Values) -> tuple[RowValue, ...] | None:
    """All values of a column, where these are few."""
    if column.kind == "bool":
        return (False, True)
    if column.kind == "category":
        return column.labels
    if column.kind != "int" or column.low is None or column.high is None:
        return None
    if column.high - column.low >= MOST_WHOLE:
        return None
    return tuple(Fraction(number) for number in range(int(column.low), int(column.high) + 1))


def settings(columns: Mapping[str, Values], names: Iterable[str]) -> Iterator[RowValues]:
    """All settings of these columns, in the order of their names; none where values are many."""
    names = sorted(names)
    lists = [values_of(columns[name]) or () for name in names]
    return (dict(zip(names, row, strict=True)) for row in product(*lists))


def rows(columns: Mapping[str, ColumnType], names: frozenset[str]) -> list[RowValues] | None:
    """All settings of these columns, if there are at most `MOST_SETTINGS`."""
    total = 1
    for name in names:
        values = values_of(columns[name])
        total *= MOST_SETTINGS + 1 if values is None else len(values)
    return None if total > MOST_SETTINGS else list(settings(columns, names))


def added(entries: list[Entry], row: RowValues, context: AdjacencyContext) -> tuple[Fraction, ...]:
    """What a row adds to each entry."""
    seen: dict[Node, RowValue] = {}

    def evaluated(node: Node) -> RowValue:
        if node not in seen:
            seen[node] = evaluate(node, row, context.program.columns)
        return seen[node]

    def contribution(term: Term) -> Fraction:
        if any(_word(row[column]) != label for column, label in term.pieces):
            return Fraction(0)
        if term.filter != TRUE and not evaluated(term.filter):
            return Fraction(0)
        value = evaluated(term.value)
        return value[term.index] if isinstance(value, tuple) else _number(value)

    return tuple(
        sum((factor * contribution(term) for term, factor in entry.items()), Fraction(0))
        for entry in entries
    )


def evaluate(node: Node, row: RowValues, columns: Mapping[str, Values]) -> RowValue:
    """The value of a row expression at one row."""
    op = node.op
    if op == "const":
        constant = node.data[0]
        assert isinstance(constant, bool | Fraction | str)
        return constant
    if op == "field":
        return row[str(node.data[0])]
    if op == "if":
        chosen = node.args[1 if evaluate(node.args[0], row, columns) else 2]
        return evaluate(chosen, row, columns)
    if op in ("public", "acc", "sum", "count"):
        raise NotExactError
    if op == "onehot":
        place, size = _place(node.args[0], row, columns), node.data[0]
        assert isinstance(size, Fraction)
        return tuple(Fraction(i == place) for i in range(int(size)))
    args = [evaluate(arg, row, columns) for arg in node.args]
    result: RowValue = _OPERATIONS[op](node, args)
    return result


def _place(node: Node, row: RowValues, columns: Mapping[str, Values]) -> int:
    """The place of the 1 in the one-hot vector of a category, truth value or whole number."""
    if node.op == "cross":
        place = 0
        for part in node.args:
            labels = labels_of(part, columns)
            place = place * len(labels) + _place(part, row, columns)
        return place
    value = evaluate(node, row, columns)
    return labels_of(node, columns).index(value) if isinstance(value, str) else int(_number(value))


def labels_of(node: Node, columns: Mapping[str, Values]) -> tuple[str, ...]:
    """The labels of a category expression."""
    if node.op == "field":
        return columns[str(node.data[0])].labels or ("False", "True")
    if node.op == "cross":
        parts = [labels_of(part, columns) for part in node.args]
        return tuple("|".join(words) for words in product(*parts))
    return ("False", "True")


def _word(value: RowValue) -> str:
    return value if isinstance(value, str) else str(bool(value))


def _number(value: RowValue) -> Fraction:
    if isinstance(value, bool | Fraction):
        return Fraction(value)
    raise NotExactError


def _moments(args: list[RowValue]) -> tuple[Fraction, ...]:
    (entries,) = args
    assert isinstance(entries, tuple)
    return tuple(x * y for i, x in enumerate(entries) for y in entries[i:])


def _equal(args: list[RowValue]) -> bool:
    if any(isinstance(arg, str) for arg in args):
        return _word(args[0]) == _word(args[1])
    return _number(args[0]) == _number(args[1])


def _entrywise(args: list[RowValue], combine: Callable[..., Fraction]) -> RowValue:
    """Numbers combined, or vectors entry by entry."""
    lengths = [len(arg) for arg in args if isinstance(arg, tuple)]
    if not lengths:
        return bounded(Fraction(combine(*(_number(arg) for arg in args))))
    spread = [arg if isinstance(arg, tuple) else (_number(arg),) * lengths[0] for arg in args]
    return tuple(bounded(Fraction(combine(*numbers))) for numbers in zip(*spread, strict=True))


def _item(node: Node, args: list[RowValue]) -> RowValue:
    place, entries = node.data[0], args[0]
    assert isinstance(place, Fraction)
    assert isinstance(entries, tuple)
    return entries[int(place)]


def _numbers(args: list[RowValue]) -> Iterator[Fraction]:
    return (_number(arg) for arg in args)


_OPERATIONS: Mapping[str, Callable[[Node, list[RowValue]], Any]] = {
    "and": lambda node, args: all(args),
    "or": lambda node, args: any(args),
    "not": lambda node, args: not args[0],
    "eq": lambda node, args: _equal(args),
    "ne": lambda node, args: not _equal(args),
    "lt": lambda node, args: _number(args[0]) < _number(args[1]),
    "le": lambda node, args: _number(args[0]) <= _number(args[1]),
    "gt": lambda node, args: _number(args[0]) > _number(args[1]),
    "ge": lambda node, args: _number(args[0]) >= _number(args[1]),
    "min": lambda node, args: min(_numbers(args)),
    "max": lambda node, args: max(_numbers(args)),
    "clip": lambda node, args: min(max(_number(args[0]), _number(args[1])), _number(args[2])),
    "abs": lambda node, args: abs(_number(args[0])),
    **{name: lambda node, args: function_value(node.op, _number(args[0])) for name in FUNCTIONS},
    "neg": lambda node, args: _entrywise(args, lambda x: -x),
    "add": lambda node, args: _entrywise(args, lambda x, y: x + y),
    "sub": lambda node, args: _entrywise(args, lambda x, y: x - y),
    "mul": lambda node, args: _entrywise(args, lambda x, y: x * y),
    "div": lambda node, args: _entrywise(args, lambda x, y: x / y),
    "tuple": lambda node, args: tuple(_numbers(args)),
    "cross": lambda node, args: "|".join(_word(arg) for arg in args),
    "moments": lambda node, args: _moments(args),
    "item": _item,
}
