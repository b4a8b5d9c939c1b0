"""How often states follow each other in a table: counted by the data engine, in one pass.

One grouped query counts the windows of records, of the whole table and of its parts (halves of the
time, series) at once.

A window of `j + 1` records counts if they are neighbours: of one series, and, where there are
times, each a step after the one before, or a whole number of steps where gaps are bridged. Times
that are off the step are refused, as in a study. Rows are looked at in the order of the file; where
that is not the order of series and times (each series a block, blocks in rising order), they are
sorted once, and kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesdp.errors import InputError
from bayesdp.fitting.regions import Counts
from bayesdp.fitting.states import States
from bayesdp.tables.cells.order_keys import (
    STEP_TOLERANCE,
    offset_findings,
    order_key,
    order_step,
    stored_ends,
)
from bayesdp.tables.cells.stored import is_missing, key_of
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.source import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_CELLS = 1_000_000
"""The most cells of a table of counts."""

NO_SERIES, NO_TIME, LATE, UNORDERED, OFF_STEP = range(-32000, -31995)
"""Codes of rows for which nothing can be counted, or not in this order."""
UNREADABLE = 0
"""The number of a state that can't be read: states are numbered from 1 on."""
OVER_GAP = 1000
"""Added to the code of a record that is a neighbour over a gap which is bridged."""

ROWS_OF_A_RANGE = 1_000_000
MOST_RANGES = 8
"""A file is counted in ranges side by side: the least rows of each, and the most of them."""

Part = Literal["half", "series"]
"""What windows are counted for: the first and the second half of the time, or each series."""


@dataclass(frozen=True, eq=False)
class WindowCounts:
    """`tables[j]`, with `j + 1` axes, counts the windows of `j + 1` neighbours, older ones first.

    `missing` rows of the table have no state.
    """

    tables: tuple[Counts, ...]
    missing: int = 0

    @property
    def records(self) -> int:
        """The rows that have a state."""
        return int(self.tables[0].sum())

    @property
    def runs(self) -> int:
        """The runs of neighbours into which series are broken."""
        return self.records - int(self.tables[1].sum())


@dataclass(frozen=True, eq=False)
class GroupedWindows:
    """The rows of one grouped query: how many records have these codes, in which parts.

    `codes` are those of a record and of the `depth` rows before it, the newest first, 0 where there
    is no state; `number` says how many records have them; all arrays are as long. `parts` has for
    each kind of part the number of the part, from 0 on. `missing` rows of the table have no state.
    """

    codes: NDArray[np.int64]
    number: NDArray[np.int64]
    parts: Mapping[Part, NDArray[np.int64]]
    states: int
    missing: int

    @property
    def whole(self) -> WindowCounts:
        """The windows of the whole table."""
        return self._windows(np.zeros_like(self.number), over_gaps=True)[0]

    @property
    def unbridged(self) -> WindowCounts:
        """The windows in which no gap was bridged."""
        return self._windows(np.zeros_like(self.number), over_gaps=False)[0]

    def each(self, part: Part) -> list[WindowCounts]:
        """The windows that end in each half or series, the first half first."""
        return self._windows(self.parts[part], over_gaps=True)

    def _windows(self, part: NDArray[np.int64], *, over_gaps: bool) -> list[WindowCounts]:
        """The windows of all rows that have the same number of their `part`."""
        state = np.abs(self.codes)
        state[state > OVER_GAP] -= OVER_GAP
        neighbour = self.codes > 0 if over_gaps else (self.codes > 0) & (self.codes < OVER_GAP)
        kinds, part = np.unique(part, return_inverse=True)
        whole = state[:, 0] > 0
        tables: list[Counts] = []
        for length in range(self.codes.shape[1]):
            if length > 0:
                whole = whole & neighbour[:, length - 1] & (state[:, length] > 0)
            window = [state[whole, i] - 1 for i in range(length, -1, -1)]
            table = np.zeros((max(len(kinds), 1), *(self.states,) * (length + 1)), dtype=np.int64)
            np.add.at(table, (part[whole], *window), self.number[whole])
            tables.append(table)
        return [WindowCounts(each, self.missing) for each in zip(*tables, strict=True)]


@dataclass(frozen=True, eq=False)
class Chains:
    """A table as chains: how a row's state, its series and its time are read.

    Without `time` the order is that of the file. `bridge`: rows of a series are neighbours however
    many steps lie between their times. `drop`: rows without a state are left out as if they were
    not there, else they end a run.
    """

    table: Table
    states: States
    series: tuple[str, ...] = ()
    time: Column | None = None
    bridge: bool = False
    drop: bool = False

    def check(self) -> None:
        """Raises `InputError` where the order of rows is not known."""
        if self.time is None and not self.table.ordered:
            raise InputError(
                "time",
                None,
                expected="a column of times: the rows of a database table have no order",
                shown=False,
            )
        if self.time is None:
            return
        for finding in offset_findings(self.table, self.time):
            raise InputError("time", self.time.name, expected=f"one kind. {finding.message}")

    def count(self, depth: int) -> WindowCounts:
        """The windows of up to `depth + 1` neighbours. Raises `InputError` as `windows` does."""
        return self.windows(depth).whole

    def windows(self, depth: int, parts: Collection[Part] = ()) -> GroupedWindows:
        """The windows of up to `depth + 1` neighbours, told apart by the `parts` that they end in.

        Without times, halves are those of the rows. Raises `InputError` for cells that can't be
        read, for two rows at one time of a series, and for rows that are not a whole number of
        steps after the one before.
        """
        attempts = (False, True) if self.table.ordered else (True,)
        for in_order in attempts:
            answer = self.table.rows(self._grouped(depth, parts, in_order))
            by_code: Counter[int | None] = Counter()
            for row in answer:
                by_code[row[0]] += row[depth + 1]
            if not by_code.keys() & {LATE, UNORDERED}:
                break
        self._refuse(by_code)
        filled = [[cell or 0 for cell in row] for row in answer]
        whole = np.array(filled, dtype=np.int64).reshape(-1, depth + 2 + len(parts))
        return GroupedWindows(
            codes=whole[:, : depth + 1],
            number=whole[:, depth + 1],
            parts={part: whole[:, depth + 2 + i] for i, part in enumerate(parts)},
            states=len(self.states.levels),
            missing=self._number_missing if self.drop else by_code[None],
        )

    def every_row(self) -> Chains:
        """The same table, in which gaps and rows without a state end a run."""
        return replace(self, bridge=False, drop=False)

    @cached_property
    def number_of_series(self) -> int:
        """How many series there are."""
        if not self.series:
            return 1
        distinct = self._cells.select(*self._keys).distinct()
        count: int = self.table.numbers(distinct, distinct.count())[0]
        return count

    @property
    def _keys(self) -> list[str]:
        return [f"series{i}" for i in range(len(self.series))]

    @property
    def _by(self) -> str:
        """What orders the rows of a series."""
        return "place" if self.time is None else "time"

    @cached_property
    def _cells(self) -> Any:
        """The number of each row's state, from 1 on, its series and its time, and its place.

        A row without a number has no state, or has the number `UNREADABLE`. Cells of a CSV file are
        texts: they are read once and kept.
        """
        import ibis

        table, states = self.table, self.states
        expressions: dict[str, Any] = {}
        for key, name in zip(self._keys, self.series, strict=True):
            raw: Any = table.require(name, "series")
            known = key_of(raw)
            expressions[key] = (
                ibis.cases((~is_missing(table, raw), known)) if table.text_cells else known
            )
        if self.time is not None:
            expressions["time"] = order_key(table, self.time)
        if table.place is not None:
            expressions["place"] = table.expression[table.place]
        state_cells = {"value": states.reading.value, "missing": states.missing}
        cells = table.expression.select(**expressions, **state_cells)
        readable = (cells.value.notnull(), states.number(cells.value))
        state = ibis.cases(readable, (~cells.missing, _code(UNREADABLE)))
        cells = cells.select(*expressions, state=state)
        return table.kept(cells) if table.text_cells else cells

    def _rows(self, *, placed: bool) -> Any:
        """A row for each record that counts; `placed`: also its place in the file."""
        import ibis

        rows = self._cells
        if placed and "place" not in rows.columns:
            rows = rows.mutate(place=ibis.row_number())
        return rows.filter(rows.state > 0) if self.drop else rows

    @cached_property
    def _sorted(self) -> Any:
        """The rows in the order of series and times, kept so that they are sorted once."""
        rows = self._rows(placed=self.time is None)
        return self.table.kept(rows.order_by([*self._keys, self._by]))

    @cached_property
    def _middle(self) -> float | None:
        """The middle of the time, or of the places in the file. `None` without rows."""
        if self.time is None and not self.drop:
            return (self._number_of_rows - 1) / 2.0
        ends = None
        if self.time is not None and not self.drop:
            ends = stored_ends(self.table, self.time)
        if ends is None:
            rows = self._rows(placed=self.time is None)
            by = rows[self._by]
            ends = self.table.numbers(rows, by.min(), by.max())
        first, last = ends
        return None if first is None else (float(first) + float(last)) / 2.0

    @cached_property
    def _number_of_rows(self) -> int:
        rows = self.table.expression
        number: int = self.table.numbers(rows, rows.count())[0]
        return number

    def _grouped(self, depth: int, parts: Collection[Part], in_order: bool) -> Any:
        """How many rows have each code, and codes before it, in each part; `in_order`: sorted."""
        import ibis

        if in_order:
            rows = self._sorted
        else:
            rows = self._rows(placed=self.time is None and "half" in parts)
        if "half" in parts:
            middle = self._middle
            later = ibis.literal(False) if middle is None else rows[self._by] > literal(middle)
            rows = rows.mutate(half=later)
        named = {"half": ["half"], "series": self._keys}
        groups = [name for part in parts for name in named[part]]
        windows = self._windows(rows, depth, groups, in_order)
        codes = [f"code{i}" for i in range(depth + 1)]
        grouped = windows.group_by([*groups, *codes]).aggregate(rows=windows.count())
        if "series" in parts:
            order = ibis.window(order_by=[grouped[key] for key in self._keys])
            grouped = grouped.mutate(series=ibis.dense_rank().over(order))
        return grouped.select(*codes, "rows", *parts)

    def _windows(self, rows: Any, depth: int, kept_columns: list[str], in_order: bool) -> Any:
        """The code of each row, and those of the rows before it."""
        import ibis

        # Where rows are left out, those that depend on each other may lie far apart.
        place = None if in_order or self.drop else self.table.place
        borders = _borders(self._number_of_rows, self.table.threads) if place is not None else []
        ranges = len(borders) > 2
        order = self._order(in_order)
        over = ibis.window(order_by=order)
        coded = self._coded(
            rows, [*kept_columns, "place"] if ranges else [*kept_columns, *order], order
        )
        lags = {f"code{i}": coded.code.lag(i).over(over) for i in range(1, depth + 1)}
        placed = {str(place): coded.place} if ranges else {}
        windows = coded.select(*kept_columns, code0=coded.code, **lags, **placed)
        if not ranges:
            return windows
        # The oldest of a row's codes depends on the row before that.
        return self.table.side_by_side(windows, borders, reach=depth + 1)

    def _order(self, in_order: bool) -> list[str]:
        """What windows state as the order of rows; nothing where it is that of the rows before."""
        has_order = in_order and not self.table.engine.keeps_order
        return [*self._keys, self._by] if has_order else []

    def _coded(self, rows: Any, kept_columns: list[str], order: list[str]) -> Any:
        """The code of each row: its state's number beside a neighbour, minus that at a new run."""
        import ibis

        keys, over = self._keys, ibis.window(order_by=order)
        lagged: dict[str, Any] = {f"before_{key}": rows[key].lag(1).over(over) for key in keys}
        if self.time is not None:
            lagged["since"] = rows.time - rows.time.lag(1).over(over)
        times = ["time"] if self.time is not None else []
        kept_columns = list(dict.fromkeys(kept_columns))
        beside = rows.select(*dict.fromkeys(["state", *keys, *times, *kept_columns]), **lagged)
        state = beside.state
        faults: list[tuple[Any, Any]] = [(beside[key].isnull(), _code(NO_SERIES)) for key in keys]
        together: list[Any] = [beside[key] == beside[f"before_{key}"] for key in keys]
        for i, key in enumerate(keys):
            falls = [*together[:i], beside[f"before_{key}"] > beside[key]]
            faults.append((reduce(and_, falls), _code(UNORDERED)))
        neighbours = []
        if self.time is not None:
            faults.append((beside.time.isnull(), _code(NO_TIME)))
            faults.append((reduce(and_, [*together, beside.since <= 0]), _code(LATE)))
            steps = beside.since / literal(order_step(self.time))
            whole = ((steps - steps.round()).abs() <= STEP_TOLERANCE) & (steps.round() >= 1)
            faults.append((reduce(and_, [*together, ~whole]), _code(OFF_STEP)))
            if self.bridge:
                over_gap = (reduce(and_, [*together, whole]), state + _code(OVER_GAP))
                neighbours.append(over_gap)
            # Most rows are one step later: no other question is asked about these.
            together.append((steps - 1).abs() <= STEP_TOLERANCE)
        if not together:
            return beside.select(*kept_columns, code=state)
        neighbours.insert(0, (reduce(and_, together), state))
        return beside.select(*kept_columns, code=ibis.cases(*neighbours, *faults, else_=-state))

    @cached_property
    def _number_missing(self) -> int:
        """How many rows of the table have no state. Raises `InputError` where cells are wrong."""
        cells = self._cells
        aggregates = cells.count(where=cells.state.isnull()), cells.count(where=cells.state == 0)
        without, unreadable = self.table.numbers(cells, *aggregates)
        if unreadable:
            raise self._unreadable(unreadable)
        return int(without)

    def _unreadable(self, number: int) -> InputError:
        return _refusal(
            "column",
            self.states.column,
            "a column in which every cell is empty or has a state",
            number,
            "Correct these cells or leave them empty; list all states.",
        )

    def _refuse(self, numbers: Mapping[int | None, int]) -> None:
        """Raise the `InputError` of rows that can't be read: how many have each code."""
        time = self.time.name if self.time is not None else ""
        refusals = {
            NO_SERIES: ("series", list(self.series), "columns without empty cells", ""),
            NO_TIME: (
                "time",
                time,
                "a column with a time in every cell",
                'The step is a number where times are numbers, a text such as "1 day" for dates.',
            ),
            LATE: (
                "time",
                time,
                "a column with one row of a series at each time",
                "Name the columns that tell series apart.",
            ),
            OFF_STEP: (
                "step",
                "" if self.time is None else self.time.step,
                "the time between two records of a series, of which longer gaps are multiples",
                "State the step at which the table was recorded, or move the times to the step. "
                "Without time and step, rows follow each other as in the file.",
            ),
        }
        for code, (key, value, expected, remedy) in refusals.items():
            if code in numbers:
                raise _refusal(key, value, expected, numbers[code], remedy)
        if unreadable := numbers.get(UNREADABLE, 0) + numbers.get(OVER_GAP, 0):
            raise self._unreadable(unreadable)


def _refusal(key: str, value: object, expected: str, number: int, remedy: str) -> InputError:
    rows = "1 row is not so" if number == 1 else f"{number} rows are not so"
    return InputError(key, value, expected=f"{expected}: {rows}", remedy=remedy)


def _code(number: int) -> ir.Scalar:
    import ibis

    return ibis.literal(number, "int16")


def _borders(rows: int, threads: int) -> list[int]:
    """Where the ranges begin and end in which so many rows are counted side by side."""
    ranges = max(1, min(threads, MOST_RANGES, rows // ROWS_OF_A_RANGE))
    return [rows * i // ranges for i in range(ranges + 1)]
