"""What a query reads, and how far replacing one record moves its integers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, exact, require, whole
from bayesdp.statements import conditions
from bayesdp.statements.conditions import Tree, columns_of
from bayesdp.statements.queries import cell_labels

Columns = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Shape:
    """A query: its kind, whether rows may count as 0, the private columns read, its cells."""

    kind: str
    masked: bool
    reads: tuple[str, ...]
    column: str | None
    interval: tuple[float, float] | None
    sums: bool
    cells: tuple[Any, ...] | None
    keys: tuple[Any, ...] | None
    public_part: bool


def shape(
    query: Mapping[str, Any], columns: Columns, unit: str, covers: list[str], independent: list[str]
) -> Shape:
    """The shape of a query over declared columns; `InvalidError` for one that may not be asked."""
    asked: str = query["kind"]
    name: Any = query.get("column")
    compared = columns_of(condition(query["where"])) if "where" in query else frozenset()
    for column in compared | ({name} if name is not None else set()):
        require(column in columns, f"column {column!r} is not declared")
    private = any(_is_private(columns[c]) for c in compared)
    several = unit != "row"
    sums, cells = asked in ("sum", "mean"), None
    if asked in ("count", "proportion"):
        require(name is None and private, "a count needs a condition on a private column")
    elif sums:
        require("bounds" in columns[name] and _is_private(columns[name]), "no private numbers")
        require(not (asked == "mean" and private), "a mean over rows of a private number")
    elif asked == "histogram":
        require(_is_private(columns[name]), "a histogram of a public column")
        cells = _cells(query, columns[name])
    else:
        raise InvalidError(f"no query of the kind {asked!r}")
    require(not (several and asked in ("mean", "proportion")), "an average over private rows")
    keys = None
    if "by" in query:
        group = columns[query["by"]]
        require(not several and not _is_private(group), "grouping by a private column")
        keys = tuple(_levels(group))
    masked = private or several
    lipschitz = sums and not masked and not isinstance(columns[name].get("missing"), Mapping)
    return Shape(
        kind="lipschitz" if lipschitz else "any",
        masked=masked,
        reads=labels(columns, compared | ({name} - {None}), covers, independent),
        column=label(name, columns[name]) if name is not None else None,
        interval=tuple(columns[name]["bounds"]) if sums else None,
        sums=sums,
        cells=cells,
        keys=keys,
        public_part=asked == "mean" and "where" in query,
    )


def condition(text: str) -> Tree:
    """A condition as it is read; `InvalidError` for a text that is none."""
    try:
        return conditions.parse(text)
    except conditions.ConditionError as error:
        raise InvalidError(str(error)) from None


def label(name: str, column: Mapping[str, Any]) -> str:
    """How spends name a column: with its definition, where it is derived."""
    if "cuts" in column:
        return f"{name} = {column['from']} cut at {[float(cut) for cut in column['cuts']]}"
    if "where" in column:
        return f"{name} = ({column['where']}) of {column['from']}"
    return name


def _is_private(column: Mapping[str, Any]) -> bool:
    return not (column.get("public") is True or "role" in column)


def states_of(column: Mapping[str, Any]) -> list[Any] | None:
    """What a discrete column may hold; None for one of numbers between bounds."""
    if "cuts" in column:
        return list(range(len(column["cuts"]) + 1))
    return [0, 1] if "where" in column else column.get("states")


def _levels(column: Mapping[str, Any]) -> list[Any]:
    found = states_of(column)
    require(found is not None, "the groups or cells are not declared")
    return list(found or ())


def _cells(query: Mapping[str, Any], column: Mapping[str, Any]) -> tuple[Any, ...]:
    if "bins" not in query:
        return tuple(_levels(column))
    edges = query["bins"]
    require(len(edges) >= 3 and all(a < b for a, b in pairwise(edges)), "bins")
    require("bounds" in column, "bins of a column without bounds")
    return cell_labels(tuple(edges), tuple(column["bounds"]))


def labels(
    columns: Columns, names: Collection[Any], covers: list[str], independent: list[str]
) -> tuple[str, ...]:
    """Labels of the private columns read; a derived one may stand for the one it comes from."""
    found = set()
    for name in names:
        column = columns[name]
        if not _is_private(column):
            continue
        spoken = label(name, column) in covers or label(name, column) in independent
        source: Any = column.get("from")
        if not spoken and source in columns:
            name, column = source, columns[source]
        found.add(label(name, column))
    return tuple(sorted(found))


def moved(asked: Shape, grid: Grid | None, rows: int, *, squared: bool) -> int:
    """How far replacing one record of at most so many rows moves the query's integers.

    In l1; or `squared`, the square of it in l2. A histogram loses and gains up to `rows` each.
    """
    most = rows * (grid.sensitivity if grid is not None else 1)
    if squared:
        return most * most * (2 if asked.cells is not None else 1)
    return most * (2 if asked.cells is not None else 1)


# -- the grid ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """The integer grid of a sum: the same arithmetic as in the data engine, in doubles."""

    low: float
    high: float
    bits: int
    masked: bool

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Grid:
        """From a step's evidence."""
        low, high = float(exact(plain["lo"])), float(exact(plain["hi"]))
        require(low < high and isinstance(plain["masked"], bool), "no such grid")
        bits = whole(plain["bits"], "bits")
        require(bits <= 62, "no such grid")
        return cls(low, high, bits, plain["masked"])

    @property
    def factor(self) -> float:
        """Steps per unit."""
        if self.masked:
            return float(2.0**self.bits / (max(self.high, 0.0) - min(self.low, 0.0)))
        return float(2.0**self.bits / (self.high - self.low))

    @property
    def step(self) -> Fraction:
        """The length of a step in the column's unit."""
        return 1 / Fraction(self.factor)

    @property
    def sensitivity(self) -> int:
        """Most steps that one row moves the sum by, when it is replaced or leaves."""
        if not self.masked:
            return int(2**self.bits)
        least, most = math.floor(self.low * self.factor), math.floor(self.high * self.factor)
        return max(abs(least), abs(most), most - least)

    @property
    def slack(self) -> Fraction:
        """What the grid adds for each record that moves, relative to the width: two steps."""
        return Fraction(2, 2**self.bits)
