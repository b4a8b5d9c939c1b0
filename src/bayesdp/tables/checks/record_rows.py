"""Which rows of a record count, where it may have more of them than are to count.

The rows of each record are in an order that looks random and is fixed: by a hash of the data set's
name, of the record's own cells, and of which copy of the same cells a row is. Equal hashes are
ordered by the cells. Rows that are equal in all declared cells are interchangeable, so which rows
count is a function of the record's own rows: of no other record, no place in a file, no engine.
Numbers of the rows of a wide table are not cells of a record: one more row before it changes them.
No query reads them.
Replacing a record therefore changes the rows of this record alone: at most as many as count before,
and as many after. Copies have hashes of their own, so that a value that a record has often is kept
as often as in a simple random sample of its rows.

Public names: `RowOrder`, `here_of`, `text_of`, `total_of`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from typing import Any

from bayesdp.tables.cells import reading
from bayesdp.tables.cells.stored import key_of
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.queries.query import Cap
from bayesdp.tables.source import Table

_BETWEEN = "\x1f"
"""Stands between the texts that are hashed."""
_STEPS = 2.0**40
"""A number is hashed as the number of such parts of its column's range that it is above its end."""
_FINE = 1024.0
_MOST = 2.0**42
"""A number without bounds is hashed in steps of 1 / _FINE; as nothing if it is this large."""


class RowOrder:
    """The order of the rows of each record of a table, and marks for the rows that count.

    `cells()` are expressions over the table, by the names under which a query must select them;
    everything else is about that query.
    """

    def __init__(self, table: Table, columns: Mapping[str, Column], expected: Structure) -> None:
        self.unit = key_of(table.require(expected.unit, "data.unit"))
        self.max_rows, self.dataset = expected.max_rows, expected.dataset
        self._cells: dict[str, Any] = {}
        self._texts: dict[str, Any] = {}
        for name, column in columns.items():
            derived = column.is_derived and column.source in columns  # its source has its cells
            if not derived and name != table.numbered:
                place, cell = f"cell{len(self._cells)}_", _cell(table, columns, name)
                self._cells[place] = cell
                self._texts[f"{place}text_"] = text_of(cell, column.bounds)

    def cells(self) -> dict[str, Any]:
        """What a query over the table has to select for the order of its rows."""
        return {"unit_": self.unit, **self._cells, **self._texts}

    def with_order(self, staged: Any) -> Any:
        """The query with the columns of the order, and `counts_`: whether a row counts at all."""
        import ibis

        cells = [staged[name] for name in self._cells]
        alike = ibis.window(group_by=[staged.unit_, *cells], order_by=cells[0])
        copied = staged.mutate(copy_=ibis.row_number().over(alike))
        texts = [copied[name] for name in self._texts]
        turn = self._hash(["row", text_of(copied.unit_), copied.copy_.cast("string"), *texts])
        ordered = copied.mutate(turn_=turn)
        placed = ordered.mutate(place_=self._place(ordered, [ordered.unit_]))
        counts: Any = ibis.literal(True)
        if self.max_rows is not None:
            counts = placed.place_ < self.max_rows
        return placed.mutate(counts_=counts, first_=placed.place_ == 0)

    def with_mark(
        self, staged: Any, name: str, where: Any, cap: Cap, groups: Sequence[Any] = ()
    ) -> Any:
        """The query with a column `name`: whether a row is among those that count under the `cap`.

        `where` is the condition of a query, or `None`; `groups` the expressions of the columns of
        its groups, if it has any.
        """
        import ibis

        here, turn = here_of(name), f"{name}turn_"
        by = [f"{name}group{i}_" for i in range(len(groups))]
        matched = staged.counts_ if where is None else (staged.counts_ & where).fill_null(False)
        staged = staged.mutate(**{here: matched, **dict(zip(by, groups, strict=True))})
        parts = [staged.unit_, staged[here]]
        if cap.rows_in_group is None:
            few = True if cap.rows is None else self._place(staged, parts) < cap.rows
            return staged.mutate(**{name: staged[here] & few})
        few = self._place(staged, [*parts, *(staged[part] for part in by)]) < cap.rows_in_group
        if cap.groups is None:
            return staged.mutate(**{name: staged[here] & few})
        hashed = self._hash(
            ["group", text_of(staged.unit_), *(text_of(staged[part]) for part in by)]
        )
        staged = staged.mutate(**{name: staged[here] & few, turn: hashed})
        order = [staged[turn], *(staged[part] for part in by)]
        ranks = ibis.window(group_by=[staged.unit_, staged[here]], order_by=order)
        return staged.mutate(**{name: staged[name] & (ibis.dense_rank().over(ranks) < cap.groups)})

    def with_total(self, staged: Any, mark: str, steps: Any, ends: tuple[int, int]) -> Any:
        """The query with the clipped totals of the records, each on the first of its rows, else 0.

        `steps` are whole numbers, so totals are exact; those of the rows with the `mark` are added
        up, and clipped to the `ends`.
        """
        import ibis

        kept_steps = ibis.ifelse(staged[mark], steps, 0)
        total = kept_steps.sum().over(ibis.window(group_by=[staged.unit_]))
        clipped = ibis.least(ibis.greatest(total, ends[0]), ends[1])
        return staged.mutate(**{total_of(mark): ibis.ifelse(staged.first_, clipped, 0)})

    def _place(self, staged: Any, groups: Sequence[Any]) -> Any:
        """The place of a row among those of its group, from 0, in the order of the rows."""
        import ibis

        order = [staged.turn_, *(staged[name] for name in self._cells), staged.copy_]
        return ibis.row_number().over(ibis.window(group_by=groups, order_by=order))

    def _hash(self, texts: Sequence[Any]) -> Any:
        """A text that looks random, of the data set's name and these texts."""
        import ibis

        between = ibis.literal(_BETWEEN)
        named = [ibis.literal(f"{self.dataset}{_BETWEEN}{texts[0]}"), *texts[1:]]
        return _md5()(reduce(lambda x, y: x + between + y, named))


def here_of(mark: str) -> str:
    """The name of the column that says whether a row would count without the cap of a mark."""
    return f"{mark}here_"


def total_of(mark: str) -> str:
    """The name of the column of clipped totals of the rows with a mark."""
    return f"{mark}total_"


def _cell(table: Table, columns: Mapping[str, Column], name: str) -> Any:
    """The cells of a declared column, so that equal ones are read alike by every query."""
    column = columns[name]
    if column.kind in ("public", "cluster", "series") and column.states is None:
        return table.require(name, f"data.columns.{name}")  # queries may read it as several types
    return reading.read(table, columns, name).value


def text_of(value: Any, bounds: tuple[float, float] | None = None) -> Any:
    """A text of a cell that all engines write alike, empty for a missing one.

    Engines write doubles in different ways, so of those it is a whole number of steps: numbers that
    are closer together than a step have the same text. They also write years of more or fewer than
    four digits in different ways, so such times have no text, and are ordered as cells are.
    """
    import ibis

    kind = value.type()
    if kind.is_boolean():
        value = ibis.cases((value, "1"), (~value, "0"))
    elif kind.is_floating() or kind.is_decimal():
        low, steps = 0.0, _FINE
        if bounds is not None and 0.0 < _STEPS / (bounds[1] - bounds[0]) < float("inf"):
            low, steps = bounds[0], _STEPS / (bounds[1] - bounds[0])
        number = (value.cast("float64") - literal(low)) * literal(steps)
        whole = reading.is_finite(number) & (number.abs() < literal(_MOST * _FINE))
        value = ibis.cases((whole, number.floor().cast("int64").cast("string")))
    elif kind.is_timestamp():
        time = value.try_cast("timestamp")
        value = _if_usual(time, time.strftime("%Y-%m-%d %H:%M:%S.%f"))
    elif kind.is_date():
        value = _if_usual(value, value.cast("string"))
    elif not kind.is_string():
        value = value.cast("string")
    return value.fill_null("")


def _if_usual(time: Any, text: Any) -> Any:
    """The text of a time in the years 1 to 9999; else NULL."""
    import ibis

    year = time.year()
    return ibis.cases(((year >= 1) & (year <= 9999), text))


@cache
def _md5() -> Any:
    """The function of this name that all engines have: 32 digits of a text in UTF-8."""
    import ibis

    @ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))
    def md5(text):  # type: ignore[no-untyped-def]  # the engine's own function
        """The MD5 hash of a text."""

    return md5
