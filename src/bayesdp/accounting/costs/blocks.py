"""Public blocks: spends on disjoint ones cost the largest of them, not the sum (theory 2.3 a).

A block is a set of values of one public column. Replacing a record leaves its public values as they
are, so each record lies in one cell of each such column, and pays what is spent on that cell. Where
a record is several rows this holds for no column of rows, and spends have no block there.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from bayesdp.errors import InputError

CellValue = bool | int | float | str
"""A value of a public column."""

MOST_EXACT = 2**53
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( (?!00:00:00)[0-9]{2}:[0-9]{2}:[0-9]{2})?")


@dataclass(frozen=True, slots=True)
class Block:
    """The records whose public `column` has one of these `values`.

    Values are numbers (at most 2^53), texts or truth values; each is kept once. Raises `InputError`
    for others, for an empty list and for an empty name.
    """

    column: str
    values: tuple[CellValue, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column.strip():
            raise InputError("block.column", self.column, expected="a column's name")
        values = self.values
        if not isinstance(values, list | tuple) or not values:
            raise InputError("block.values", values, expected="at least one value of the column")
        for value in values:
            if isinstance(value, bool | str):
                continue
            if not isinstance(value, int | float):
                raise InputError("block.values", value, expected="numbers, texts, True or False")
            if not (math.isfinite(value) and abs(value) <= MOST_EXACT):
                raise InputError(
                    "block.values",
                    value,
                    expected="numbers of at most 2^53",
                    remedy="Give the values smaller numbers.",
                )
        # True and 1 are different values of a column, though equal here.
        ordered = sorted({(type(value).__name__, value) for value in values}, key=repr)
        object.__setattr__(self, "values", tuple(value for _, value in ordered))

    @property
    def axis(self) -> str:
        """The column, as the axis that the block's cells lie on."""
        return self.column

    @property
    def cells(self) -> frozenset[tuple[str, Any]]:
        """The values as they are compared with those of other blocks."""
        return frozenset(cell(value) for value in self.values)

    def words(self) -> str:
        """The block as a condition of a study, for people."""
        if len(self.values) == 1:
            return f"{self.column} == {self.values[0]!r}"
        return f"{self.column} in {list(self.values)!r}"

    def to_dict(self) -> dict[str, Any]:
        """The block as plain data for JSON."""
        return {"column": self.column, "values": list(self.values)}

    @classmethod
    def from_dict(cls, data: object) -> Block:
        """The inverse of `to_dict`. Raises `InputError` for other keys and values."""
        if not isinstance(data, Mapping) or set(data) != {"column", "values"}:
            raise InputError("block", data, expected='{"column": ..., "values": [...]}')
        return cls(data["column"], data["values"])


def cell(value: CellValue) -> tuple[str, Any]:
    """The cell of a value: its kind, and a form that is the same for equal values.

    Texts that some engine may take for equal are one cell. The standard text of a date or time is a
    kind of its own: one study may read a column's values as times, and another as the texts that
    they are written as.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    if _TIME.fullmatch(value):
        return ("time", value)
    plain = unicodedata.normalize("NFKD", value).casefold()
    letters = (c for c in plain if not unicodedata.combining(c) and not c.isspace())
    return ("text", "".join(letters))


class Cells(Protocol):
    """Records by their cells on one axis, such as a public column: each record is in one cell."""

    @property
    def axis(self) -> str:
        """The name of the axis."""

    @property
    def cells(self) -> frozenset[tuple[str, Any]]:
        """The cells, each with the kind of its value."""


class Blocked(Protocol):
    """A cost, perhaps with the block of records that pays it; without a block all records pay."""

    @property
    def block(self) -> Cells | None:
        """The block that is read; `None` for all records."""


T = TypeVar("T", bound=Blocked)


def usable_axes(blocks: Iterable[Cells | None]) -> frozenset[str]:
    """The axes on which different cells are different values: all values are of one kind.

    The text "1" and the number 1 may be the same cell of a CSV file, read in two ways.
    """
    kinds: dict[str, set[str]] = {}
    for block in blocks:
        if block is not None:
            kinds.setdefault(block.axis, set()).update(kind for kind, _ in block.cells)
    return frozenset(axis for axis, its_kinds in kinds.items() if len(its_kinds) == 1)


def heaviest(spends: Sequence[T], amount: Callable[[T], Fraction]) -> Fraction:
    """The largest sum of `amount` over the spends that read one record, exactly.

    What has no block counts for every record. A record is in one cell of each axis, so the
    axes' largest cells add up.
    """
    axes = usable_axes(spend.block for spend in spends)
    total = Fraction(0)
    by_cell: dict[str, dict[tuple[str, Any], Fraction]] = {axis: {} for axis in axes}
    for spend in spends:
        block, cost = spend.block, amount(spend)
        if block is None or block.axis not in axes:
            total += cost
            continue
        cells = by_cell[block.axis]
        for value in block.cells:
            cells[value] = cells.get(value, Fraction(0)) + cost
    return total + sum((max(cells.values()) for cells in by_cell.values()), Fraction(0))
