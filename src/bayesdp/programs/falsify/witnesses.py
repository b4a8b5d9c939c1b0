"""Witnesses: a few values of each column, and the small databases made of them.

A number's witnesses are its ends, 0, one value inside, and where the program's own clips and
comparisons turn, with a value on either side. Labels and truth values are all there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import ceil, floor
from typing import TypeVar

from bayesdp.programs.falsify.values import RecordValues
from bayesdp.programs.ir import (
    Branch,
    Command,
    Constant,
    Derive,
    Expr,
    Parts,
    Program,
    Release,
    Type,
    columns,
    flat,
    nodes,
)

MOST_ROWS = 1000
COMPARED = ("lt", "le", "gt", "ge", "eq", "ne", "min", "max")


def expressions(commands: Iterable[Command]) -> Iterator[Expr]:
    """All expressions of commands, options aside."""
    for command in flat(commands):
        if isinstance(command, Release):
            yield from command.args
        elif isinstance(command, Derive):
            yield command.value
        elif isinstance(command, Branch):
            yield command.test


def read_columns(program: Program) -> tuple[str, ...]:
    """The columns that the program reads, in the record's order."""
    names = {command.column for command in flat(program.body) if isinstance(command, Parts)}
    names.update(*(columns(expr) for expr in (*expressions(program.body), *program.returns)))
    return tuple(name for name, _ in program.record if name in names)


@dataclass(frozen=True)
class WitnessRows:
    """The witness rows, and whether they are all combinations of their columns' witnesses."""

    rows: tuple[RecordValues, ...]
    all: bool


def witness_rows(program: Program, most: int = MOST_ROWS) -> WitnessRows:
    """The rows that databases are made of."""
    kinds, names = dict(program.record), read_columns(program)
    turns = turning_points(program)
    lists = [_values(kinds[name], turns.get(name, set())) for name in names]
    whole = True
    while _size(lists) > most:
        longest = max(lists, key=len)
        longest.pop()  # the last is the least telling
        whole = False
    places = sorted(product(*(range(len(listed)) for listed in lists)), key=sum)  # ends first
    rows = (
        {name: held[i] for name, held, i in zip(names, lists, at, strict=True)} for at in places
    )
    return WitnessRows(tuple(rows), whole)


def _size(lists: list[list[Constant]]) -> int:
    size = 1
    for listed in lists:
        size *= len(listed)
    return size


def _values(kind: Type, turns: set[Fraction]) -> list[Constant]:
    if kind.kind == "bool":
        return [False, True]
    if kind.kind == "category":
        return list(kind.labels)
    low, high = kind.low, kind.high
    assert low is not None
    assert high is not None
    inside = sorted(turn for turn in turns if low < turn < high)
    values = [low, high, *inside, Fraction(0)]
    if kind.kind == "int":
        for turn in inside:
            values += [Fraction(floor(turn)), Fraction(ceil(turn)), turn - 1, turn + 1]
        values.append(Fraction(floor(low + (high - low) * Fraction(3, 8))))
        values = [value for value in values if value.denominator == 1]
    else:
        values.append(low + (high - low) * Fraction(3, 8))
        for turn in inside:
            values += [(low + turn) / 2, (turn + high) / 2]
    return list(dict.fromkeys(value for value in values if low <= value <= high))


def turning_points(program: Program) -> dict[str, set[Fraction]]:
    """For each column the values at which comparisons of linear expressions turn."""
    turns: dict[str, set[Fraction]] = {}
    for expr in expressions(program.body):
        for part in nodes(expr):
            pairs: list[tuple[Expr, Expr | None]] = []
            if part.op in COMPARED or part.op == "clip":
                pairs = [(part.args[0], other) for other in part.args[1:]]
            elif part.op == "abs" or (part.op == "mul" and part.args[0] == part.args[1]):
                pairs = [(part.args[0], None)]
            for left, right in pairs:
                _meet(left, right, turns)
            if part.op == "transitions":
                _follow(str(part.args[1].data[0]), dict(program.record), turns)
    return turns


def _follow(column: str, kinds: Mapping[str, Type], turns: dict[str, set[Fraction]]) -> None:
    """Steps that follow each other: the first few, and where they end."""
    low = kinds[column].low
    assert low is not None
    turns.setdefault(column, set()).add(low + 1)


def _meet(left: Expr, right: Expr | None, turns: dict[str, set[Fraction]]) -> None:
    a, b = _line(left), _line(right) if right is not None else (None, Fraction(0), Fraction(0))
    if a is None or b is None:
        return
    read = {line[0] for line in (a, b) if line[0] is not None}
    slope, at = a[1] - b[1], b[2] - a[2]
    if len(read) == 1 and slope:
        turns.setdefault(read.pop(), set()).add(at / slope)


LinearTerm = tuple[str | None, Fraction, Fraction]


def _line(expr: Expr) -> LinearTerm | None:
    """(column, slope, offset) of a linear expression in one column; no column if constant."""
    if expr.op == "const":
        value = expr.data[0]
        if not isinstance(value, bool | int | Fraction):
            return None
        return None, Fraction(0), Fraction(value)
    if expr.op == "field":
        return str(expr.data[0]), Fraction(1), Fraction(0)
    if expr.op == "clip":
        return _line(expr.args[0])  # inside its ends
    parts = [_line(arg) for arg in expr.args]
    known = [line for line in parts if line is not None]
    if not known or len(known) != len(parts):
        return None
    if expr.op == "neg":
        return known[0][0], -known[0][1], -known[0][2]
    if len(known) != 2:
        return None
    (c, a, b), (d, e, f) = known
    if c is not None and d is not None and c != d:
        return None
    column = d if c is None else c
    if expr.op in ("add", "sub"):
        sign = 1 if expr.op == "add" else -1
        return column, a + sign * e, b + sign * f
    if expr.op == "mul" and not (a and e):
        return column, a * f + e * b, b * f
    if expr.op == "div" and not e and f:
        return column, a / f, b / f
    return None


# -- databases -----------------------------------------------------------------------------------

Database = tuple[int, ...]
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring databases: `rest` with the record `here` or `there` at place `at`.

    Where `there` is None the second database has no such record.
    """

    rest: Database
    at: int
    here: int
    there: int | None

    @property
    def left(self) -> Database:
        """The database with the first record."""
        return (*self.rest[: self.at], self.here, *self.rest[self.at :])

    @property
    def right(self) -> Database:
        """The database with the second record, or without a record."""
        new = () if self.there is None else (self.there,)
        return (*self.rest[: self.at], *new, *self.rest[self.at :])


def rests(
    rows: int, size: int, *, ordered: bool, alike: bool, most: int
) -> tuple[list[Database], bool]:
    """The other records of a pair, and whether these are all that there are.

    `ordered`: their order counts (folds). `alike`: they don't matter, and a single choice is
    enough. More than three records are copies of a single one, and three free ones.
    """
    if alike:
        return [(0,) * size], True
    free = min(size, 3)
    fixed = size - free
    if ordered:
        choices = [(0,) * fixed + others for others in product(range(rows), repeat=free)]
    else:
        choices = [
            tuple(sorted((base,) * fixed + others))
            for base in (range(rows) if fixed else (0,))
            for others in combinations_with_replacement(range(rows), free)
        ]
    return evenly(choices, most), fixed == 0 and len(choices) <= most


def evenly(items: list[_Item], most: int) -> list[_Item]:
    """The items, or `most` of them at even distances where there are more."""
    if len(items) <= most:
        return items
    step = len(items) / most
    return [items[int(i * step)] for i in range(most)]


def pairs(
    rows: tuple[RecordValues, ...],
    public: Mapping[str, Type],
    kind_of: Sequence[int],
    *,
    entering: bool,
) -> list[tuple[int, int | None]]:
    """The pairs of records that may replace each other, early ones first.

    Rows of the same number in `kind_of` are not told apart, and one pair stands for all of the same
    two numbers. With `entering`, each record with `None`: it enters or leaves.
    """
    if entering:
        first: dict[int, int] = {}
        for place, kind in enumerate(kind_of):
            first.setdefault(kind, place)
        return [(place, None) for place in first.values()]
    shared = [name for name, kind in public.items() if kind.public]
    alike: dict[tuple[Constant | None, ...], dict[int, int]] = {}
    for place, row in enumerate(rows):
        key = tuple(row.get(name) for name in shared)
        alike.setdefault(key, {}).setdefault(kind_of[place], place)
    choices: dict[frozenset[int], tuple[int, int]] = {}
    for first in alike.values():
        for i, j in combinations(first.values(), 2):
            choices.setdefault(frozenset((kind_of[i], kind_of[j])), (i, j))
    return [*sorted(choices.values(), key=sum)]
