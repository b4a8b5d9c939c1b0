"""Made-up tables, many at once, and their way to what a release says of them.

The way is that of a release: the engine reads cells, clips, caps and adds up, and the noise is
drawn where a release draws it. What is different is that one scan has thousands of tables, each in
groups of its own: a public column tells them apart, and every query is asked by that column too.
Nothing of the study's own table is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.audit.contents import Content, DeclaredRecords
from bayesdp.errors import UnsupportedError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release.drawing.study_drawing import noisy
from bayesdp.release.price.plan import Plan, structure_of
from bayesdp.release.price.planned_query import PlannedQuery
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import column_names
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import Total, run

MOST_ROWS = 400_000
"""The most rows of one scan."""


@dataclass(frozen=True)
class Databases:
    """Tables, one a row of `slots`: for each record the number of its content in `contents`.

    The first records are the attacked group, of `grouped` records that depend on each other; the
    others are the same in all tables. `values` are cells of the column `valued` for the records of
    the group, where these are numbers of their own.
    """

    contents: tuple[Content, ...]
    slots: Ints
    grouped: int
    valued: str = ""
    values: Floats | None = None

    def __len__(self) -> int:
        return len(self.slots)

    def part(self, start: int, stop: int) -> Databases:
        """The tables from `start` up to `stop`."""
        values = None if self.values is None else self.values[start:stop]
        return replace(self, slots=self.slots[start:stop], values=values)

    def distinct(self) -> tuple[Databases, Ints]:
        """The different ones, and for each table the place of its like among them."""
        if self.values is not None:
            return self, np.arange(len(self))
        slots, places = np.unique(self.slots, axis=0, return_inverse=True)
        return replace(self, slots=slots), places.reshape(-1)


@dataclass(frozen=True)
class ExactIntegers:
    """The integers of many tables before noise: for each query a `Total` of each table."""

    totals: tuple[tuple[Total, ...], ...]

    def __len__(self) -> int:
        return len(self.totals[0]) if self.totals else 0


@dataclass(frozen=True)
class MadeUp:
    """The tables of a study, made up, with the plan of its release."""

    declared: DeclaredRecords
    plan: Plan

    @property
    def fillers(self) -> tuple[int, ...]:
        """The slots of the group's companions: a row of each place, so that no group is empty."""
        return tuple(range(len(self.declared.places)))

    def exact(self, databases: Databases) -> ExactIntegers:
        """The integers of each query and table of `databases`.

        Raises `UnsupportedError` for an average over a group that the tables have no row of.
        """
        per_table = max(1, sum(len(databases.contents[i]) for i in databases.slots[0].tolist()))
        step = max(1, MOST_ROWS // (per_table + 1))
        parts: list[list[Total]] = [[] for _ in self.plan.queries]
        for start in range(0, len(databases), step):
            part = databases.part(start, min(start + step, len(databases)))
            for known, totals in zip(parts, self._scan(part), strict=True):
                known += totals
        return ExactIntegers(tuple(map(tuple, parts)))

    def _scan(self, databases: Databases) -> list[list[Total]]:
        import pyarrow as pa

        data, columns = self._table(databases)
        queries, named, groups = [], dict(self.declared.spec.columns), {}
        for query in self.plan.queries:
            table_query = query.table_query()
            by = column_names(table_query.by)
            keys = self._keys(by)
            name = "table_" + "_".join(by)
            if name not in groups:
                groups[name] = keys
                place = self._key_of_place(by, keys)
                data[name] = pa.array(columns.table * len(keys) + place[columns.place])
                named[name] = _TableNumber.model_construct(
                    name=name, public=True, count=len(databases) * len(keys)
                )
            queries.append(replace(table_query, by=name))
        totals = run(open_table(pa.table(data), Path()), named, queries, self._structure())
        for query in self.plan.queries:
            if query.asked.averaged and not all(totals[query.name].sizes.values()):
                raise UnsupportedError(
                    query.asked.key,
                    query.name,
                    expected="rows in each group, to average over",
                    remedy="A release refuses an average of no rows.",
                )
        return [
            _apart(totals[table_query.name], groups[str(table_query.by)], len(databases))
            for table_query in queries
        ]

    def _keys(self, by: Sequence[str]) -> list[CellKey | None]:
        levels = [self.declared.spec.columns[name].levels or () for name in by]
        if not by:
            return [None]
        return [key if len(by) > 1 else key[0] for key in product(*levels)]

    def _key_of_place(self, by: Sequence[str], keys: list[CellKey | None]) -> Ints:
        at = [self.declared.public.index(name) for name in by]
        numbers = {key: number for number, key in enumerate(keys)}
        places = []
        for cells in self.declared.places:
            key = tuple(cells[i] for i in at)
            places.append(numbers[key if len(by) > 1 else key[0] if by else None])
        return np.asarray(places, dtype=np.int64)

    def _structure(self) -> Structure | None:
        """What is held against the tables: which rows form a record, where it is not one row."""
        spec = self.declared.spec
        if spec.data.unit == "row":
            return None
        return replace(
            structure_of(spec),
            n=None,
            cluster_size=None,
            series_length=None,
            panels=(),
            ruled_out=None,
        )

    def _table(self, databases: Databases) -> tuple[dict[str, Any], _Places]:
        """The columns of all tables below each other, and where each row belongs."""
        import pyarrow as pa

        rows = [row for content in databases.contents for row in content]
        sizes = np.array([len(content) for content in databases.contents])
        starts = np.cumsum(sizes) - sizes
        flat = databases.slots.reshape(-1)
        width = databases.slots.shape[1]
        many = sizes[flat]
        record = np.repeat(np.arange(len(flat)), many)
        within = np.arange(len(record)) - np.repeat(np.cumsum(many) - many, many)
        row_places = starts[flat[record]] + within
        table, slot = record // width, record % width
        own = np.array([row.place for row in rows])[row_places]
        place = np.where(own >= 0, own, slot % len(self.declared.places))
        data: dict[str, Any] = {}
        for name in self.declared.numbers:
            options = pa.array([row.cells[name] for row in rows])
            data[name] = options.take(pa.array(row_places))
        if databases.values is not None:
            grouped = slot < databases.grouped
            cells = data[databases.valued].to_numpy(zero_copy_only=False).astype(float)
            cells[grouped] = databases.values[table[grouped], slot[grouped]]
            data[databases.valued] = pa.array(cells)
        for position, name in enumerate(self.declared.public):
            options = pa.array([cells[position] for cells in self.declared.places])
            data[name] = options.take(pa.array(place))
        self._arrange(data, databases, table, slot, record)
        return data, _Places(table, place)

    def _arrange(
        self, data: dict[str, Any], databases: Databases, table: Ints, slot: Ints, record: Ints
    ) -> None:
        """The columns that say which rows belong together, and in which order."""
        import pyarrow as pa

        width = databases.slots.shape[1]
        group = np.where(slot < databases.grouped, 0, slot + 1)
        spec = self.declared.spec
        for name, column in spec.columns.items():
            if column.is_private or name in data:
                continue
            if column.role in ("cluster", "series"):
                cells = table * (width + 2) + group
            elif column.role == "order":
                step = column.step if isinstance(column.step, int | float) else 1
                cells = slot * step
            elif column.levels is not None:
                levels = pa.array(list(column.levels))
                data[name] = levels.take(pa.array(slot % len(levels)))
                continue
            else:
                cells = slot
            data[name] = pa.array(cells)
        if spec.data.unit != "row":
            data[spec.data.unit] = pa.array(record)


class _TableNumber(Column):
    """A public column of whole numbers below `count`, made here: no cell is held against them."""

    count: int

    @property
    def levels(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.count))


@dataclass(frozen=True)
class _Places:
    """For each row the number of its table, and the place of its public cells."""

    table: Ints
    place: Ints


def _apart(total: Total, keys: list[CellKey | None], tables: int) -> list[Total]:
    """The total of each table."""
    width = len(keys)
    return [
        Total(
            {key: total.values[table * width + i] for i, key in enumerate(keys)},
            {key: total.sizes[table * width + i] for i, key in enumerate(keys)},
        )
        for table in range(tables)
    ]


# -- what gets noise, and with it ------------------------------------------------------------------


def noised(query: PlannedQuery, total: Total) -> Ints:
    """The integers that get noise, in one row; of a quantile the scores of its candidates."""
    groups = list(total.values.values())
    if query.asked.series is not None:
        return np.array(query.asked.series.used.sums([n for group in groups for n in group]))
    if query.asked.choice is not None:
        groups = [tuple(query.asked.choice.scores(group)) for group in groups]
    return np.array([number for group in groups for number in group], dtype=np.int64)


def distance(query: PlannedQuery, first: Total, second: Total) -> float:
    """How far two tables are apart for a query: what the ratio of likelihoods may reach.

    `first` and `second` are the totals of the `query` in each. In nats for Laplace noise and
    choices, the square of standard deviations for Gaussian noise.
    """
    moved = np.abs(noised(query, first) - noised(query, second)).astype(float)
    if query.asked.choice is not None:
        groups = moved.reshape(len(first.values), -1)
        return float(2.0 * groups.max(axis=1).sum() / query.noise.scale)
    if isinstance(query.noise, DiscreteGaussian):
        return float((moved / query.noise.scale) @ (moved / query.noise.scale))
    return float(moved.sum() / query.noise.scale)


def released(plan: Plan, exact: ExactIntegers, places: Ints) -> Floats:
    """What releases say of the tables at these `places`, one row of numbers each.

    The noise is drawn where the releases of a `plan` draw it. For each number that gets noise on
    its own all tables are one draw; series and quantiles are drawn table by table.
    """
    columns = [
        _drawn(query, [totals[i] for i in places.tolist()])
        for query, totals in zip(plan.queries, exact.totals, strict=True)
    ]
    return np.concatenate(columns, axis=1)


def like_released(plan: Plan, exact: ExactIntegers, places: Ints) -> Floats:
    """The same in law, where noise does what it should: sooner made, to compare attacks by.

    `plan`, `exact` and `places` are as in `released`. Numbers with noise of their own are made at
    once from what they are without it.
    """
    if any(query.asked.series or query.asked.choice for query in plan.queries):
        return released(plan, exact, places)
    values, scales, laws = centres(plan, exact)
    columns = []
    for column, noise in enumerate(laws):
        drawn = np.array(noise.release([0] * len(places)), dtype=float) / noise.scale
        # Rounded: the last digits of such a sum in doubles would tell its parts.
        sums = np.round(values[places, column] / scales[column] + drawn, 6)
        columns.append(sums * scales[column])
    return np.stack(columns, axis=1)


def _drawn(query: PlannedQuery, totals: Sequence[Total]) -> Floats:
    if query.asked.series is not None or query.asked.choice is not None:
        rows = [[float(result.value) for result in noisy(query, total)] for total in totals]
        return np.array(rows)
    values = [row for total in totals for row in total.values.values()]
    sizes = [size for total in totals for size in total.sizes.values()]
    together = Total(dict(enumerate(values)), dict(enumerate(sizes)))
    plain = replace(query, asked=replace(query.asked, group_words=_NoWords()))
    drawn = [result.value for result in noisy(plain, together)]
    return np.array(drawn, dtype=float).reshape(len(totals), -1)


class _NoWords(Mapping[Any, tuple[str, ...]]):
    """No words for any group: what is shown of results is of no use here."""

    def __getitem__(self, key: Any) -> tuple[str, ...]:
        return ()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


def centres(plan: Plan, exact: ExactIntegers) -> tuple[Floats, Floats, list[DiscreteLaplace | Any]]:
    """Where numbers with noise of their own lie without it, for each table; and their noise.

    Their scales in the numbers' unit come second, their laws third, one for each number. Columns of
    series and quantiles have an infinite scale: nothing is said of them.
    """
    values: list[list[float]] = [[] for _ in range(len(exact))]
    scales: list[float] = []
    laws: list[Any] = []
    for query, totals in zip(plan.queries, exact.totals, strict=True):
        shared = query.asked.series is not None or query.asked.choice is not None
        for table, total in enumerate(totals):
            numbers = [
                (total.sizes[key], integer) for key, row in total.values.items() for integer in row
            ]
            if not shared:
                values[table] += [query.value(integer, rows) for rows, integer in numbers]
            else:
                values[table] += [0.0] * _width(query, total)
            if table == 0:
                averaged = query.asked.averaged
                steps = [float(query.step / (rows if averaged else 1)) for rows, _ in numbers]
                own = [query.noise.scale * step for step in steps]
                own = own if not shared else [np.inf] * _width(query, total)
                scales += own
                laws += [query.noise] * len(own)
    return np.array(values), np.array(scales), laws


def _width(query: PlannedQuery, total: Total) -> int:
    """How many numbers are released of a series or of quantiles."""
    if query.asked.choice is not None:
        return len(total.values)
    return sum(map(len, total.values.values()))
