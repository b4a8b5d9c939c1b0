"""What values the columns of a table can have, as far as released queries tell them apart.

An attribute is a column of the table itself, with finitely many *atoms*. A column with states has
its states. Numbers are cut where a bin, a cut or a number in a condition tells them apart, and
neighbouring pieces that no query tells apart are one atom: an interval. Columns derived from a
column of the table are functions of its atoms.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from bayesdp.statements.base import exact_text
from bayesdp.statements.column_sets import operand
from bayesdp.statements.columns import Columns, Condition, Cut, Numeric, Position, Value, kind_of
from bayesdp.statements.conditions import (
    ORDERED,
    Comparison,
    ConditionTree,
    against,
    comparisons,
    holds,
    parse,
)

ANY_OTHER = "(any other)"
"""The atom of all texts that no condition names, of a column whose states are not declared."""

Test = Callable[[Value], Hashable]
"""What a query sees of a value: values of the same outcome in all queries are one atom."""


class NotReadableError(Exception):
    """A query that can't be read as a sum over atoms; its message says why."""


@dataclass(frozen=True)
class Interval:
    """The numbers between two ends, which may be infinite; `closed` says which ends belong."""

    low: float
    high: float
    closed: tuple[bool, bool]

    def __str__(self) -> str:
        """The interval as it is shown, like the bins of a histogram."""
        low, high = exact_text(self.low), exact_text(self.high)
        if self.low == self.high:
            return low
        if self.low == -math.inf:
            return f"{'up to' if self.closed[1] else 'below'} {high}"
        if self.high == math.inf:
            return f"{low} and above" if self.closed[0] else f"above {low}"
        return f"{'(['[self.closed[0]]}{low}, {high}{')]'[self.closed[1]]}"

    @property
    def finite(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Attribute:
    """A column of the table with its atoms.

    `values` has a value of each atom, which stands for all of them; `intervals` the atoms of
    numbers, empty for a column of states.
    """

    name: str
    values: tuple[Value, ...]
    intervals: tuple[Interval, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


def source_of(name: str, columns: Columns) -> str:
    """The column of the table that a column is, or is computed from."""
    return str(getattr(columns[name], "source", name))


def value_of(name: str, value: Value, columns: Columns) -> Value:
    """The value of the column `name` in rows where its source has this `value`.

    Its source is itself, unless it is derived; `columns` are the declared ones.
    """
    column = columns[name]
    if isinstance(column, Cut):
        return sum(cut <= float(value) for cut in column.cuts)
    if isinstance(column, Condition):
        return int(holds(_own_tree(column, columns), {column.source: value}))
    return value


def condition_on(text: str, columns: Columns) -> ConditionTree:
    """A condition of a verified certificate, on its columns."""
    operands = {name: operand(column) for name, column in columns.items()}
    return against(parse(text), operands)[0]


def _own_tree(column: Condition, columns: Columns) -> ConditionTree:
    """The condition that defines a column, on its source."""
    if column.source in columns:
        return condition_on(column.where, {column.source: columns[column.source]})
    return parse(column.where)


class Uses:
    """What queries see of the columns of the table: tests of their values, and where to cut them.

    `columns` are the declared ones. Columns are entered by `column`, `bins` and `condition`.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.tests: dict[str, list[Test]] = {}
        self.literals: dict[str, list[Value]] = {}
        self.ordered: set[str] = set()

    def column(self, name: str) -> None:
        """A query has a number for each state of this column."""
        column, source = self.columns[name], source_of(name, self.columns)
        if isinstance(column, Cut):
            self.literals.setdefault(source, []).extend(column.cuts)
        if isinstance(column, Condition):
            self._compared(comparisons(_own_tree(column, self.columns)), source)
        self.tests.setdefault(source, []).append(lambda v: value_of(name, v, self.columns))

    def bins(self, name: str, edges: tuple[float, ...]) -> None:
        """A query has a number for each of the bins between these edges."""
        self.literals.setdefault(name, []).extend(edges)
        self.tests.setdefault(name, []).append(lambda v: bin_of(float(v), edges))

    def condition(self, tree: ConditionTree) -> None:
        """A query counts the rows where this condition holds."""
        for part in comparisons(tree):
            source = source_of(part.column, self.columns)
            if source == part.column:
                self._compared([part], source)
            else:
                self.column(part.column)
            self.tests.setdefault(source, []).append(
                lambda v, part=part: holds(  # type: ignore[misc]  # bound now, not when called
                    part, {part.column: value_of(part.column, v, self.columns)}
                )
            )

    def _compared(self, parts: Iterable[Comparison], source: str) -> None:
        for part in parts:
            self.literals.setdefault(source, []).extend(part.values)
            if part.operator in ORDERED:
                self.ordered.add(source)

    def attribute(self, source: str) -> Attribute:
        """The column of the table with its atoms.

        Raises `NotReadableError` for dates and times whose states are not declared.
        """
        column = self.columns.get(source)
        levels = column.levels if column is not None else None
        if levels is not None:
            return Attribute(source, levels)
        literals = self.literals.get(source, [])
        if isinstance(column, Numeric):
            return self._numbers(source, literals, column.bounds)
        if literals and all(kind_of(value) == "number" for value in literals):
            return self._numbers(source, literals, (-math.inf, math.inf))
        if isinstance(column, Position) or source in self.ordered or not literals:
            raise NotReadableError(f"the values of '{source}' are not declared")
        return Attribute(source, (*dict.fromkeys(literals), ANY_OTHER))

    def _numbers(
        self, source: str, literals: Iterable[Value], bounds: tuple[float, float]
    ) -> Attribute:
        def seen(value: float) -> tuple[Hashable, ...]:
            return tuple(test(value) for test in self.tests.get(source, ()))

        merged: list[tuple[float, Interval, tuple[Hashable, ...]]] = []
        for value, piece in _pieces([float(mark) for mark in literals], bounds):
            if merged and merged[-1][2] == seen(value):
                first, before, outcome = merged.pop()
                joined = Interval(before.low, piece.high, (before.closed[0], piece.closed[1]))
                merged.append((first, joined, outcome))
            else:
                merged.append((value, piece, seen(value)))
        values = tuple(value for value, _, _ in merged)
        return Attribute(source, values, tuple(interval for _, interval, _ in merged))


def bin_of(value: float, edges: tuple[float, ...]) -> int:
    """The bin of a histogram that a value counts in: one beyond the edges in an outer bin."""
    return bisect_right(edges, value, 1, len(edges) - 1) - 1


def _pieces(marks: list[float], bounds: tuple[float, float]) -> Iterator[tuple[float, Interval]]:
    """The bounds, the marks between them and what lies between those, each with a value of it."""
    low, high = bounds
    points = sorted({*bounds, *(mark for mark in marks if low < mark < high)})
    for left, right in pairwise(points):
        if math.isfinite(left):
            yield left, Interval(left, left, (True, True))
        middle = _between(left, right)
        if left < middle < right:
            yield middle, Interval(left, right, (False, False))
    if math.isfinite(high):
        yield high, Interval(high, high, (True, True))


def _between(left: float, right: float) -> float:
    """A number between two others, of which an infinite one stands for no limit."""
    if not math.isfinite(left):
        return right - 1.0 - abs(right)
    if not math.isfinite(right):
        return left + 1.0 + abs(left)
    return left / 2 + right / 2
