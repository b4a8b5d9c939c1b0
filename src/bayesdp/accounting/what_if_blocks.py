"""The blocks of the releases that `compose` reads: checked, and told apart as a ledger does.

Two blocks are different only where nobody can take their values for one another: 1 and 1.0 are one
value, and texts that differ in case, spaces or accents alone are refused, as is naming some records
by number and others by the cluster that they lie in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .blocks import Block, cell

MOST_NAMED = 10_000
"""The most records and values that all blocks name together."""

Plain = Mapping[str, Any]
Cell = tuple[str, tuple[str, Any]]
"""The axis (records, a public or a private column) and the value on it."""

_RECORDS = "records"


def checked_block(raw: Any, place: str) -> Plain | None:
    """A block as it stands in a release, or `InputError`."""
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
    for one in raw.get("records", []):
        if not _is_record(one):
            raise InputError(
                f"{place}.records",
                one,
                expected='numbers from 0, or pairs such as ["family A", 0]',
            )
    if "records" not in raw:
        _check_values(raw, place)
    return raw


def _is_record(one: Any) -> bool:
    if isinstance(one, list):
        named = len(one) == 2 and isinstance(one[0], str | int) and not isinstance(one[0], bool)
        return named and _is_number(one[1])
    return _is_number(one)


def _is_number(one: Any) -> bool:
    return isinstance(one, int) and not isinstance(one, bool) and one >= 0


def _check_values(raw: Plain, place: str) -> None:
    """Values must be such as a public column has; a private one is compared in the same way."""
    key = "column" if "column" in raw else "private"
    if not isinstance(raw[key], str) or not raw[key].strip():
        raise InputError(f"{place}.{key}", raw[key], expected="a column's name")
    try:
        Block(raw[key], tuple(raw["values"] if key == "column" else [raw["value"]]))
    except InputError as error:
        where = f"{place}.{'values' if key == 'column' else 'value'}"
        raise InputError(where, error.value, expected=error.expected) from None


def cells_of(block: Plain) -> frozenset[Cell]:
    """What the block covers, in a form in which equal values are equal."""
    return frozenset(where for where, _ in _spelt(block))


def _spelt(block: Plain) -> Iterator[tuple[Cell, Any]]:
    """Each cell with what stands there."""
    if "records" in block:
        for one in block["records"]:
            if isinstance(one, list):
                yield (_RECORDS, ("pair", (cell(one[0]), one[1]))), one[0]
            else:
                yield (_RECORDS, ("number", one)), one
    elif "column" in block:
        for one in block["values"]:
            yield (f"column {block['column']}", cell(one)), None  # folded: counted as one value
    else:
        yield (f"private {block['private']}", cell(block["value"])), block["value"]


def check_together(blocks: Sequence[Plain | None]) -> None:
    """`InputError` where values of two blocks may be the same though they are not spelt alike."""
    kinds: dict[str, str] = {}
    spellings: dict[Cell, Any] = {}
    count = 0
    for number, block in enumerate(blocks):
        place = f"releases[{number}].block"
        for (axis, (kind, value)), spelt in () if block is None else _spelt(block):
            count += 1
            if count > MOST_NAMED:
                raise InputError(
                    "releases",
                    "blocks that name more records and values",
                    expected=f"at most {MOST_NAMED} in all blocks together",
                )
            told = (kind, value[0][0]) if kind == "pair" else kind
            if kinds.setdefault(axis, str(told)) != str(told):
                raise InputError(
                    place,
                    block,
                    expected="values of one kind, or names of one kind for records: all numbers or "
                    "all texts",
                    remedy="Else two of them may be the same.",
                )
            first = value[0] if kind == "pair" else value
            whose: Cell = (axis, (kind, first))
            if isinstance(spelt, str) and spellings.setdefault(whose, spelt) != spelt:
                raise InputError(
                    place,
                    spelt,
                    expected=f"'{spellings[whose]}', or something that differs from it in more "
                    "than case, spaces and accents",
                )
    names = {axis.partition(" ")[2] for axis in kinds if axis.startswith("column ")}
    for axis in kinds:
        if axis.startswith("private ") and axis.partition(" ")[2] in names:
            raise InputError("releases", axis, expected="a column that is public or private")
