"""How often states follow each other in a table: counted by the data engine, in one pass.

A window of `j + 1` records counts if they are neighbours: of one series, and, where there are
times, each a step after the one before, or a whole number of steps where gaps are bridged. Times
that are off the step are refused, as in a study. Rows are looked at in the order of the file; where
that is not the order of series and times (each series a block, blocks in rising order), they are
sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.errors import InputError
from bayesdp.fitting.regions import Counts
from bayesdp.fitting.states import States
from bayesdp.tables.columns import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.order_keys import STEP_TOLERANCE, offset_findings, order_key, order_step
from bayesdp.tables.reading import is_missing
from bayesdp.tables.source import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

MOST_CELLS = 1_000_000
"""The most cells of a table of counts."""

NO_SERIES, NO_TIME, LATE, UNORDERED, OFF_STEP = range(-32000, -31995)
"""Codes of rows for which nothing can be counted, or not in this order."""


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
        """The windows of up to `depth + 1` neighbours.

        Raises `InputError` for cells that can't be read, for two rows at one time of a series, and
        for rows that are not a whole number of steps after the one before.
        """
        return self._counted(depth, None)[()]

    def unbridged(self, depth: int) -> WindowCounts | None:
        """The windows without a gap between their records, nor a row that was left out.

        `None` where all windows are so by construction. Raises `InputError` as `count` does.
        """
        if not self.bridge and not (self.drop and self.time is None):
            return None
        return replace(self, bridge=False, drop=False).count(depth)

    def by_series(self, depth: int) -> list[WindowCounts]:
        """The same for each series. Raises `InputError` as `count` does."""
        return list(self._counted(depth, "series").values())

    def halves(self, depth: int) -> list[WindowCounts]:
        """The same for the first half of the time (without times: of the rows), and the second.

        Raises `InputError` as `count` does.
        """
        split = self._counted(depth, "half")
        return [split[key] for key in sorted(split)]

    def number_of_series(self) -> int:
        """How many series there are."""
        if not self.series:
            return 1
        columns = [f"series{i}" for i in range(len(self.series))]
        distinct = self._cells.select(*columns).distinct()
        count: int = self.table.numbers(distinct, distinct.count())[0]
        return count

    def _counted(self, depth: int, split: str | None) -> dict[tuple[Any, ...], WindowCounts]:
        attempts = (False, True) if self.table.ordered else (True,)
        for in_order in attempts:
            rows = self._base(split, in_order)
            groups = [name for name in rows.columns if name.startswith("group")]
            answer = self.table.rows(self._grouped(rows, depth, groups, in_order))
            codes = {row[len(groups)] for row in answer}
            if not codes & {LATE, UNORDERED}:
                break
        self._refuse(answer, len(groups))
        parts: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {} if groups else {(): []}
        for row in answer:
            parts.setdefault(tuple(row[: len(groups)]), []).append(row[len(groups) :])
        missing = 0
        if self.drop or None in codes:
            missing = self._number_missing
        states = len(self.states.levels)
        return {
            key: WindowCounts(_tables(np.array(part, dtype=object), depth, states), missing)
            for key, part in parts.items()
        }

    @cached_property
    def _cells(self) -> Any:
        """The number of each row's state, from 1 on, its series and its time.

        A row without a number has no state, or it is `unreadable`. Cells of a CSV file are texts:
        they are read once and kept.
        """
        import ibis

        table = self.table
        states = self.states
        chosen: dict[str, Any] = {"value": states.reading.value, "missing": states.missing}
        for i, name in enumerate(self.series):
            raw: Any = table.require(name, "series")
            known = ibis.cases((~is_missing(table, raw), raw)) if table.text_cells else raw
            chosen[f"series{i}"] = known
        if self.time is not None:
            chosen["time"] = order_key(table, self.time)
        cells = table.expression.select(**chosen)
        unreadable = cells.value.isnull() & ~cells.missing
        kept = [name for name in chosen if name not in ("value", "missing")]
        cells = cells.select(*kept, state=states.number(cells.value), unreadable=unreadable)
        return table.kept(cells) if table.text_cells else cells

    def _base(self, split: str | None, in_order: bool) -> Any:
        """A row for each record that counts, with its place where needed, and its group."""
        import ibis

        rows = self._cells
        if self.time is None and (in_order or split == "half"):
            rows = rows.mutate(place=ibis.row_number())
        if self.drop:
            rows = rows.filter(rows.state.notnull())
        if split == "series":
            return rows.mutate(**{f"group{i}": rows[f"series{i}"] for i in range(len(self.series))})
        if split == "half":
            key = rows["time" if self.time is not None else "place"]
            first, last = self.table.numbers(rows, key.min(), key.max())
            middle = literal((float(first) + float(last)) / 2.0)
            return rows.mutate(group0=key.cast("float64") > middle)
        return rows

    def _grouped(self, rows: Any, depth: int, groups: list[str], in_order: bool) -> Any:
        """How many rows have each code, and codes before it; `in_order`: after sorting."""
        import ibis

        keys = [f"series{i}" for i in range(len(self.series))]
        place = "time" if self.time is not None else "place"

        def window(rows: Any) -> Any:
            if not in_order:
                return ibis.window()
            return ibis.window(group_by=[rows[key] for key in keys], order_by=rows[place])

        kept = [*keys, place] if in_order else []
        coded = self._coded(rows, keys, window(rows), [*kept, *groups])
        over = window(coded)
        lags = {f"code{i}": coded.code.lag(i).over(over) for i in range(1, depth + 1)}
        seen = coded.select(*groups, code0=coded.code, **lags)
        names = [*groups, *(f"code{i}" for i in range(depth + 1))]
        return seen.group_by(names).aggregate(rows=seen.count())

    def _coded(self, rows: Any, keys: list[str], over: Any, kept: list[str]) -> Any:
        """The code of each row: its state's number beside a neighbour, minus that at a new run."""
        import ibis

        lagged: dict[str, Any] = {f"before_{key}": rows[key].lag(1).over(over) for key in keys}
        if self.time is not None:
            lagged["since"] = rows.time - rows.time.lag(1).over(over)
        times = ["time"] if self.time is not None else []
        carried = dict.fromkeys(["state", *keys, *times, *kept])
        beside = rows.select(*carried, **lagged)
        state = beside.state
        faults: list[tuple[Any, Any]] = [(beside[key].isnull(), _code(NO_SERIES)) for key in keys]
        together: list[Any] = [beside[key] == beside[f"before_{key}"] for key in keys]
        for i, key in enumerate(keys):
            falls = [*together[:i], beside[f"before_{key}"] > beside[key]]
            faults.append((reduce(and_, falls), _code(UNORDERED)))
        if self.time is not None:
            faults.append((beside.time.isnull(), _code(NO_TIME)))
            faults.append((reduce(and_, [*together, beside.since <= 0]), _code(LATE)))
            steps = beside.since / literal(order_step(self.time))
            whole = ((steps - steps.round()).abs() <= STEP_TOLERANCE) & (steps.round() >= 1)
            faults.append((reduce(and_, [*together, ~whole]), _code(OFF_STEP)))
            # Most rows are one step later: no other question is asked about these.
            next_step = (steps - 1).abs() <= STEP_TOLERANCE
            together.append(next_step | whole if self.bridge else next_step)
        if not together:
            return beside.select(*kept, code=state)
        neighbours = (reduce(and_, together), state)
        return beside.select(*kept, code=ibis.cases(neighbours, *faults, else_=-state))

    @cached_property
    def _number_missing(self) -> int:
        """How many rows of the table have no state. Raises `InputError` where cells are wrong."""
        cells = self._cells
        empty = cells.count(where=cells.state.isnull())
        without, unreadable = self.table.numbers(cells, empty, cells.count(where=cells.unreadable))
        if unreadable:
            raise _refusal(
                "column",
                self.states.column,
                "a column in which every cell is empty or has a state",
                unreadable,
                "Correct these cells or leave them empty; list all states.",
            )
        return int(without)

    def _refuse(self, answer: list[tuple[Any, ...]], at: int) -> None:
        """Raise the `InputError` of rows that can't be read."""
        count: dict[int, int] = {}
        for row in answer:
            count[row[at]] = count.get(row[at], 0) + row[-1]
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
            if code in count:
                raise _refusal(key, value, expected, count[code], remedy)


def _refusal(key: str, value: object, expected: str, number: int, remedy: str) -> InputError:
    rows = "1 row is not so" if number == 1 else f"{number} rows are not so"
    return InputError(key, value, expected=f"{expected}: {rows}", remedy=remedy)


def _code(number: int) -> ir.Scalar:
    import ibis

    return ibis.literal(number, "int16")


def _tables(rows: NDArray[Any], depth: int, states: int) -> tuple[Counts, ...]:
    """Counts of windows from rows of codes, the newest first, and the number of such rows."""
    rows = rows.reshape(-1, depth + 2)
    number = rows[:, -1].astype(np.int64)
    codes = [np.array([code or 0 for code in rows[:, i]], dtype=np.int64) for i in range(depth + 1)]
    whole = codes[0] != 0
    tables: list[Counts] = []
    window: list[Counts] = []
    for length in range(depth + 1):
        if length > 0:
            whole = whole & (codes[length - 1] > 0) & (codes[length] != 0)
        window.insert(0, np.abs(codes[length]) - 1)
        table = np.zeros((states,) * (length + 1), dtype=np.int64)
        np.add.at(table, tuple(part[whole] for part in window), number[whole])
        tables.append(table)
    return tuple(tables)
