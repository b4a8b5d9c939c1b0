"""Records of several rows: one line of columns for each person, computed from their rows alone.

Which rows count is decided as in studies (`bayesdp.tables.checks.record_rows`), whatever is
computed is held inside the bounds that the columns have, and rows are read in their order, so that
not even a rounded sum depends on anybody else's rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.programs.ir import Persons, Program, RowFold, Type
from bayesdp.programs.run.tables.columns import CellValues, Rows, inside
from bayesdp.programs.run.tables.rows import Labels, RowValues
from bayesdp.tables.columns.column import Column
from bayesdp.tables.sums.rows import PLACE, UNIT, Wanted, read_columns

_KEY, _NUMBER = "key", "number"


def placed(persons: Persons, rows: Rows, keys: Any, dataset: str) -> tuple[Any, Ints]:
    """The key of each row, without spaces around it, and the row's place among its person's.

    `keys` are those of the `rows` as the table has them; the order depends on the `dataset`.
    """
    import pyarrow

    from bayesdp.tables.checks.structure import Structure
    from bayesdp.tables.source import open_table

    cells = {f"c{i}": _cells(rows, name, kind) for i, (name, kind) in enumerate(persons.rows)}
    columns = {f"c{i}": _declared(f"c{i}", kind) for i, (_, kind) in enumerate(persons.rows)}
    numbers = np.arange(rows.size, dtype=np.int64)
    table = open_table(pyarrow.table({_KEY: keys, _NUMBER: numbers, **cells}), empty=True)
    records = Structure(unit=_KEY, max_rows=persons.most, dataset=dataset)
    wanted: dict[str, tuple[str, Wanted]] = {_NUMBER: (_NUMBER, "number")}
    public = Column(name=_NUMBER, public=True)
    with_number = {**columns, _NUMBER: public}
    answer = read_columns(table, with_number, wanted, records, numbers=_NUMBER)
    order = np.argsort(answer.column(_NUMBER).to_numpy(), kind="stable")
    key = answer.column(UNIT).take(pyarrow.array(order))
    return key, np.asarray(answer.column(PLACE).to_numpy()[order], dtype=np.int64)


def _cells(rows: Rows, name: str, kind: Type) -> Any:
    import pyarrow

    held = rows.columns[name]
    if kind.kind == "category":
        return pyarrow.array([kind.labels[code] for code in held.tolist()], pyarrow.string())
    return pyarrow.array(held.astype(np.int64) if kind.kind == "int" else held)


def _declared(name: str, kind: Type) -> Column:
    if kind.kind == "category":
        return Column(name=name, states=kind.labels)
    if kind.kind == "bool":
        return Column(name=name, states=(False, True))
    low, high = inside(kind)
    return Column(name=name, bounds=(low, high)) if low < high else Column(name=name, public=True)


def grouped(program: Program, persons: Persons, rows: Rows, keys: Any, places: Ints) -> Rows | None:
    """One line for each person of `rows`, in the order of their keys.

    `keys` and `places` are those of the rows; at most `persons.most` of each person count. `None`
    where rows of one person differ in what they share as the `program` says.
    """
    coded = _one_zero(keys).dictionary_encode()
    codes = np.asarray(coded.indices.to_numpy(), dtype=np.int64)
    names = coded.dictionary.to_pylist()
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    units = ranks[codes]
    shared = [name for name, fold in persons.folds if fold.op == "same"]
    order = np.lexsort((places, units))
    for name in shared:
        held, by_unit = rows.columns[name][order], units[order]
        if np.any((held[1:] != held[:-1]) & (by_unit[1:] == by_unit[:-1])):
            return None
    order = order[places[order] < persons.most]
    counted = Rows({name: held[order] for name, held in rows.columns.items()}, order.size)
    folding = _Folding(RowValues(counted, dict(persons.rows)), units[order], len(names))
    kinds = dict(program.record)
    return Rows(
        {name: folding.column(fold, kinds[name]) for name, fold in persons.folds}, len(names)
    )


def _one_zero(keys: Any) -> Any:
    """The keys as an array; 0.0 and -0.0 are one key, as they are for engines."""
    import pyarrow

    held = keys.combine_chunks() if hasattr(keys, "combine_chunks") else keys
    if not pyarrow.types.is_floating(held.type):
        return held
    return pyarrow.array(held.to_numpy(zero_copy_only=False) + 0.0, held.type)


class _Folding:
    """Folds of the rows that count, which stand person by person in their order."""

    def __init__(self, values: RowValues, units: Ints, size: int) -> None:
        self.values, self.units, self.size = values, units, size

    def column(self, fold: RowFold, kind: Type) -> CellValues:
        """A column of the record, held inside its bounds."""
        if fold.op in ("first", "last", "same"):
            return self._held(self._of_row(fold), kind)
        row_mask = self.values.truths(fold.filter)
        units = self.units[row_mask]
        if fold.op == "count":
            return self._held(np.bincount(units, minlength=self.size), kind)
        numbers = np.nan_to_num(self.values.numbers(fold.value)[row_mask])
        if fold.op in ("any", "all"):
            wrong = (numbers != 0) == (fold.op == "any")
            some = np.bincount(units[wrong], minlength=self.size) > 0
            return np.asarray(some if fold.op == "any" else ~some)
        if fold.op in ("sum", "mean"):
            # One row after the other, so that a person's sum depends on their own rows alone.
            total = np.asarray(np.bincount(units, weights=numbers, minlength=self.size))
            rows = np.bincount(units, minlength=self.size) if fold.op == "mean" else 1
            return self._held(total / rows, kind)
        return self._held(self._extreme(fold, units, numbers), kind)

    def _extreme(self, fold: RowFold, units: Ints, numbers: Floats) -> Floats:
        start = np.inf if fold.op == "min" else -np.inf
        extremes = np.full(self.size, start)
        (np.minimum if fold.op == "min" else np.maximum).at(extremes, units, numbers)
        if fold.extra is not None:
            default = self.values.numbers(fold.extra)
            none = np.bincount(units, minlength=self.size) == 0
            extremes[none] = default[0] if default.size else 0.0
        return extremes

    def _of_row(self, fold: RowFold) -> CellValues:
        """The value of one row of each person: the first where several have the same key."""
        rows = np.arange(self.units.size)
        if fold.extra is not None:
            key = np.nan_to_num(self.values.numbers(fold.extra))
            rows = np.lexsort((rows, key if fold.op == "first" else -key, self.units))
        starts = np.searchsorted(self.units[rows], np.arange(self.size))
        value = self.values.value(fold.value)
        first_rows = rows[starts]
        if isinstance(value, Labels):
            return np.asarray(value.codes[first_rows], dtype=np.int64)
        return np.asarray(self.values.numbers(fold.value)[first_rows], dtype=np.float64)

    def _held(self, values: Any, kind: Type) -> CellValues:
        if kind.kind == "bool":
            return np.asarray(values != 0, dtype=np.bool_)
        if kind.kind == "category":
            return np.asarray(np.clip(values, 0, len(kind.labels) - 1), dtype=np.int64)
        numbers = np.nan_to_num(np.asarray(values, dtype=np.float64))
        if kind.kind == "int":
            numbers = np.rint(numbers)
        low, high = inside(kind)
        return np.asarray(np.clip(numbers, low, high), dtype=np.float64)


__all__ = ["grouped", "placed"]
