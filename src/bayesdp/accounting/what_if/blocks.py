"""The blocks of the releases that `compose` reads.

Two blocks are different only where nobody can take their values for one another: 1 and 1.0 are one
value, and texts that differ in case, spaces or accents alone are refused, as is naming some records
by number and others by the cluster that they lie in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bayesdp.accounting.costs.blocks import Block, CellValue, cell
from bayesdp.errors import InputError

RecordName = int | tuple[str | int, int]
"""A record: its number, or the name of its cluster and its number inside it."""

MOST_NAMED = 10_000
"""The most records and values that all blocks name together."""

BlockCell = tuple[str, tuple[str, Any]]
"""The axis (records, a public or a private column) and the value on it."""
Spelling = tuple[tuple[str, Any], object]
"""A value as it is compared, and the text that must be spelt alike wherever it stands."""


class _Cells(ABC):
    """What the three forms of a block share: equal values are equal cells."""

    __slots__ = ()

    @property
    def cells(self) -> frozenset[tuple[str, Any]]:
        """The values on the block's axis, as they are compared."""
        return frozenset(value for value, _ in self.spelt())

    @abstractmethod
    def spelt(self) -> Iterator[Spelling]:
        """Each value with its spelling."""


@dataclass(frozen=True, slots=True)
class RecordBlock(_Cells):
    """Records by their numbers, or by their cluster and the number inside it."""

    records: tuple[RecordName, ...]
    axis: ClassVar[str] = "records"

    def spelt(self) -> Iterator[Spelling]:
        """Each record; a cluster's name must be spelt alike."""
        for record in self.records:
            if isinstance(record, tuple):
                cluster, number = record
                yield ("pair", (cell(cluster), number)), cluster
            else:
                yield ("number", record), record

    def words(self) -> str:
        """The block for people."""
        return f"records {', '.join(map(str, self.to_dict()['records']))}"

    def to_dict(self) -> dict[str, Any]:
        """The block as the document states it."""
        return {
            "records": [list(name) if isinstance(name, tuple) else name for name in self.records]
        }


@dataclass(frozen=True, slots=True)
class PublicBlock(_Cells):
    """The records with these values of a public column, in the document's order."""

    column: str
    values: tuple[CellValue, ...]

    @property
    def axis(self) -> str:
        """The name of the public column, as the axis of the cells."""
        return f"column {self.column}"

    @property
    def kept(self) -> Block:
        """The block in the form in which a ledger keeps it."""
        return Block(self.column, self.values)

    def spelt(self) -> Iterator[Spelling]:
        """Each value; different spellings of a text count as one value."""
        for value in self.values:
            yield cell(value), None

    def words(self) -> str:
        """The block for people."""
        return f"{self.column} in {', '.join(map(str, self.values))}"

    def to_dict(self) -> dict[str, Any]:
        """The block as the document states it."""
        return {"column": self.column, "values": list(self.values)}


@dataclass(frozen=True, slots=True)
class PrivateBlock(_Cells):
    """The records with one value of a private column."""

    column: str
    value: CellValue

    @property
    def axis(self) -> str:
        """The name of the private column, as the axis of the cells."""
        return f"private {self.column}"

    def spelt(self) -> Iterator[Spelling]:
        """The value, which must be spelt alike."""
        yield cell(self.value), self.value

    def words(self) -> str:
        """The block for people."""
        return f"{self.column} = {self.value} (private)"

    def to_dict(self) -> dict[str, Any]:
        """The block as the document states it."""
        return {"private": self.column, "value": self.value}


ReleaseBlock = RecordBlock | PublicBlock | PrivateBlock


def parse_block(raw: Any, place: str) -> ReleaseBlock | None:
    """The block that a release names. Raises `InputError` naming the `place` in the document."""
    if raw is None:
        return None
    forms = ({"records"}, {"column", "values"}, {"private", "value"})
    if not isinstance(raw, Mapping) or set(raw) not in forms:
        raise InputError(
            place,
            raw,
            expected='{"records": [0, 1]}, {"column": "region", "values": ["north"]} (public), or '
            '{"private": "illness", "value": "flu"}',
        )
    for key in ("records", "values"):
        if key in raw and (not isinstance(raw[key], list) or not raw[key]):
            raise InputError(f"{place}.{key}", raw[key], expected="a list that isn't empty")
    if "records" in raw:
        return RecordBlock(tuple(_record(entry, f"{place}.records") for entry in raw["records"]))
    if "column" in raw:
        _check_values(raw["column"], raw["values"], f"{place}.column", f"{place}.values")
        return PublicBlock(raw["column"], tuple(raw["values"]))
    _check_values(raw["private"], [raw["value"]], f"{place}.private", f"{place}.value")
    return PrivateBlock(raw["private"], raw["value"])


def _record(entry: Any, place: str) -> RecordName:
    if _is_number(entry):
        return int(entry)
    if isinstance(entry, list) and len(entry) == 2 and _is_number(entry[1]):
        cluster, number = entry
        if isinstance(cluster, str | int) and not isinstance(cluster, bool):
            return cluster, number
    raise InputError(place, entry, expected='numbers from 0, or pairs such as ["family A", 0]')


def _is_number(entry: Any) -> bool:
    return isinstance(entry, int) and not isinstance(entry, bool) and entry >= 0


def _check_values(column: Any, values: list[Any], column_place: str, place: str) -> None:
    """Values must be such as a public column has; a private one is compared in the same way."""
    if not isinstance(column, str) or not column.strip():
        raise InputError(column_place, column, expected="a column's name")
    try:
        Block(column, tuple(values))
    except InputError as error:
        raise InputError(place, error.value, expected=error.expected) from None


def cells_of(block: ReleaseBlock) -> frozenset[BlockCell]:
    """The block's cells, each with its axis."""
    return frozenset((block.axis, value) for value in block.cells)


def check_together(blocks: Sequence[ReleaseBlock | None]) -> None:
    """Refuse blocks whose values may be the same though they are not spelt alike.

    Raises `InputError` naming the value, or the axis on which kinds of values are mixed.
    """
    kinds: dict[str, str] = {}
    spellings: dict[BlockCell, object] = {}
    count = 0
    for number, block in enumerate(blocks):
        place = f"releases[{number}].block"
        if block is None:
            continue
        for (kind, value), spelling in block.spelt():
            count += 1
            if count > MOST_NAMED:
                raise InputError(
                    "releases",
                    "blocks that name more records and values",
                    expected=f"at most {MOST_NAMED} in all blocks together",
                    remedy="Ask about fewer releases, or merge blocks.",
                )
            # A pair's cluster must be of one kind, too, and its name spelt alike.
            name_kind, name = (
                (str((kind, value[0][0])), value[0]) if kind == "pair" else (kind, value)
            )
            if kinds.setdefault(block.axis, name_kind) != name_kind:
                raise InputError(
                    place,
                    block.to_dict(),
                    expected="values of one kind, or names of one kind for records: all numbers or "
                    "all texts",
                    remedy="Else two of them may be the same.",
                )
            named: BlockCell = (block.axis, (kind, name))
            if isinstance(spelling, str) and spellings.setdefault(named, spelling) != spelling:
                raise InputError(
                    place,
                    spelling,
                    expected=f"'{spellings[named]}', or something that differs from it in more "
                    "than case, spaces and accents",
                )
    names = {axis.partition(" ")[2] for axis in kinds if axis.startswith("column ")}
    for axis in kinds:
        if axis.startswith("private ") and axis.partition(" ")[2] in names:
            raise InputError("releases", axis, expected="a column that is public or private")
