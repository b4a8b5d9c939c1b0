"""The small language of `where`: comparisons of declared columns with literals.

    role == 'child' and 150 <= height < 180
    not (steps > 0 or day in ['sat', 'sun'])

A predicate reads values as the sums do: after imputation and clipping. Texts are compared with
texts and numbers with numbers; a value compared with a column of declared states must be one of
them. An order column whose step is a time is compared with dates and times, such as '2026-02-01' or
'2026-02-01 08:15:00'. Everything else is refused with `InputError`. A derived `where` column reads
as 0 and 1.

Public name: `Predicate`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesdp.errors import InputError, did_you_mean
from bayesdp.statements import conditions
from bayesdp.statements.columns import Value
from bayesdp.statements.conditions import COMPARE, ORDERED, ConditionTree, Joined, Reads, holds
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Predicate:
    """A checked predicate: its `text`, and `reads`, its columns with their types.

    The text is as written; where it compares dates that are numbers, it is written with numbers.
    """

    text: str
    reads: tuple[tuple[str, Reads], ...]
    _tree: ConditionTree

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the predicate reads."""
        return frozenset(name for name, _ in self.reads)

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Column], key: str = "where") -> Predicate:
        """The predicate that `text` spells over the declared `columns`.

        Raises `InputError` at `key`: unknown column, undeclared state, text against number,
        anything outside the language.
        """
        operands = {name: _operand(column) for name, column in columns.items()}
        try:
            written = conditions.parse(text)
            tree, reads = conditions.against(written, operands)
        except conditions.ConditionError as error:
            remedy = error.remedy
            if error.choices is not None:
                remedy = did_you_mean(str(error.shown), error.choices)
            elif remedy == conditions.BACKTICKS:
                remedy = _with_backticks(text, columns) or remedy
            raise InputError(key, error.shown, expected=error.expected, remedy=remedy) from None
        from_dates = any(columns[name].is_date for name in reads) and tree != written
        return cls(
            conditions.text_of(tree) if from_dates else text, tuple(sorted(reads.items())), tree
        )

    def to_ibis(self, values: Mapping[str, ir.Value]) -> ir.BooleanValue:
        """The predicate as an expression over the read `values` of its columns."""
        return _to_ibis(self._tree, values)

    def possible(self, column: str, values: Sequence[Value]) -> tuple[Value, ...]:
        """Those of the column's `values` with which the predicate can hold."""
        return tuple(value for value in values if _truth(self._tree, column, value) is not False)

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether the predicate holds for a row of plain Python values (the tests' reference)."""
        return holds(self._tree, row)


def _with_backticks(text: str, names: Iterable[str]) -> str:
    """The remedy for the longest of these names that needs backticks and stands there without."""
    bare = _QUOTED.sub("", text)
    for name in sorted(names, key=len, reverse=True):
        stands = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", bare)
        if stands and not conditions.is_plain_word(name):
            return f"Write `{name}`: a name that is not a plain word stands between backticks."
    return ""


_QUOTED = re.compile("`[^`]*`")


def _operand(column: Column) -> conditions.Operand:
    return conditions.Operand(
        column.reads,
        column.levels,
        dated=column.is_dated or column.is_date,
        indicator=column.kind == "where",
    )


def _truth(tree: ConditionTree, column: str, value: Value) -> bool | None:
    """Whether the tree holds where the column has this value; `None` where others decide.

    Texts are never ordered here, because the kernel doesn't order them.
    """
    if not isinstance(tree, Joined):
        if isinstance(value, str) and tree.operator in ORDERED:
            return None
        return holds(tree, {column: value}) if tree.column == column else None
    parts = [_truth(part, column, value) for part in tree.parts]
    if tree.how == "not":
        return None if parts[0] is None else not parts[0]
    decides = tree.how == "or"
    if decides in parts:
        return decides
    return None if None in parts else not decides


def _to_ibis(tree: ConditionTree, values: Mapping[str, Any]) -> Any:
    if isinstance(tree, Joined):
        parts = [_to_ibis(part, values) for part in tree.parts]
        if tree.how == "not":
            return ~parts[0]
        return functools.reduce((lambda x, y: x & y) if tree.how == "and" else _or, parts)
    read = values[tree.column]
    if tree.operator in ("in", "not in"):
        member = read.isin([literal(value) for value in tree.values])
        return member if tree.operator == "in" else ~member
    return COMPARE[tree.operator](read, literal(tree.values[0]))


def _or(x: Any, y: Any) -> Any:
    return x | y
