"""All queries of a study as exact integers, from one scan of the table where they have room.

`run` computes integer sums on the grid, counts of predicates and histogram cells, grouped by public
columns, and checks every cell in the same scan. Nothing here is noised: what it returns is private,
except `Total.sizes` and `Totals.rows` (theory 6, 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from bayesdp.errors import InputError
from bayesdp.statements.columns import CellKey, Value, is_group_name
from bayesdp.statements.queries import column_names
from bayesdp.tables.cells import reading
from bayesdp.tables.checks.findings import (
    any_missing,
    checked_columns,
    mismatch,
    reads_of,
    structure_findings,
)
from bayesdp.tables.checks.record_rows import RowOrder, here_of, total_of
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column, group_keys
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.literals import literal
from bayesdp.tables.queries.checks import require_answerable
from bayesdp.tables.queries.query import (
    DataQuery,
    DeviationQuery,
    FoundGroupsQuery,
    HistogramQuery,
    ProductQuery,
    SumQuery,
    TableQueries,
)
from bayesdp.tables.source import Table, require_columns

_TINY = 2.0**-500
"""Factors of products that are closer to 0 than this count as 0."""
_MOST_GROUPS = 50_000
"""The most groups of a scan with several queries; each further scan reads the table again."""


@dataclass(frozen=True)
class Total:
    """The exact integers of one query for each group key (None where there is no `by`).

    The keys of several columns are tuples.

    `values` is private: one integer, or one per cell of a histogram. `sizes` is public: the rows of
    the group, those where `where` holds if it reads public columns only. Of groups that are found
    in the data the keys are private too, and have no sizes.
    """

    values: Mapping[CellKey | None, tuple[int, ...]]
    sizes: Mapping[CellKey | None, int]


@dataclass(frozen=True)
class Totals:
    """The totals of a plan by query name, with the table's number of rows and of records."""

    rows: int
    records: int
    totals: Mapping[str, Total]

    def __getitem__(self, name: str) -> Total:
        """The total of the query of this name."""
        return self.totals[name]


def run(
    table: Table,
    columns: Mapping[str, Column],
    plan: TableQueries,
    expected: Structure | None = None,
) -> Totals:
    """The exact integers of every query. They are private, but for sizes of public groups.

    Raises `InputError` for a query that can't be asked, before any query runs; `TableError` where a
    column is missing or of another type; `TableMismatchError`, always with the same words, where a
    cell or the `expected` structure is not as declared.
    """
    for query in plan:
        require_answerable(query, columns)
    if len({query.name for query in plan}) < len(plan):
        raise InputError(
            "query", [q.name for q in plan], expected="a name of its own for each query"
        )
    require_columns(table, columns)
    totals: dict[str, Total] = {}
    counts = set()
    for queries in queries_by_scan(columns, plan):
        scan = _Scan(table, columns, queries, expected)
        answer = scan.rows()
        counts.add(sum(row[len(scan.dimensions)] for row in answer))
        if len(counts) > 1 or any(row[len(scan.dimensions) + 1] for row in answer):
            raise mismatch()
        totals |= {query.name: scan.total(query, answer) for query in queries}
    rows = records = counts.pop()
    if expected is not None:
        findings, records = structure_findings(table, columns, expected, rows)
        if findings:
            raise mismatch()
    return Totals(rows, records, totals)


def queries_by_scan(columns: Mapping[str, Column], plan: TableQueries) -> list[list[DataQuery]]:
    """The queries of each scan: they share one while it has at most `_MOST_GROUPS` groups."""
    scans: list[tuple[dict[Any, int], list[DataQuery]]] = [({}, [])]
    by_found = [query for query in plan if isinstance(query, FoundGroupsQuery)]
    for query in plan:
        if isinstance(query, FoundGroupsQuery):
            continue  # nobody knows how many groups there are
        labels = {name: columns[name].levels or () for name in column_names(query.by)}
        if isinstance(query, HistogramQuery):
            labels |= _cell_labels(query, columns)
        sizes = {key: len(those) + 1 for key, those in labels.items()}
        for known, queries in scans:
            if not queries or math.prod((known | sizes).values()) <= _MOST_GROUPS:
                break
        else:
            known, queries = {}, []
            scans.append((known, queries))
        known |= sizes
        queries.append(query)
    shared = [queries for _, queries in scans if queries or not by_found]
    alone: list[list[DataQuery]] = [[query] for query in by_found]
    return [*shared, *alone]


def _cell_labels(
    query: HistogramQuery, columns: Mapping[str, Column]
) -> dict[Any, tuple[Value, ...]]:
    """By what a histogram's cells are told apart, bins or columns, with the labels of each."""
    if query.edges is not None:
        return {(query.column, query.edges): tuple(range(len(query.edges) - 1))}
    return {name: columns[name].levels or () for name in column_names(query.column)}


def counted_and_matching(
    table: Table, columns: Mapping[str, Column], plan: TableQueries, expected: Structure
) -> dict[str, tuple[int, int]]:
    """For each capped query of `plan`: how many rows count, and how many would without its cap.

    They are private. The `table` has the `columns` and the structure that are `expected`.
    """
    capped = [query for query in plan if query.cap is not None]
    if not capped:
        return {}
    scan = _Scan(table, columns, capped, expected)
    marks = [
        scan.staged.count(where=scan.staged[name])
        for query in capped
        for name in (scan.marks[query.name], here_of(scan.marks[query.name]))
    ]
    counts = table.numbers(scan.staged, *marks)
    pairs = zip(counts[::2], counts[1::2], strict=True)
    return {query.name: pair for query, pair in zip(capped, pairs, strict=True)}


@dataclass(frozen=True)
class _Dimension:
    """One column of the GROUP BY: an expression and the labels that it may take."""

    expression: Any
    labels: tuple[Value, ...]


class _Scan:
    """The one query behind a plan, or a part of it.

    Public `by` columns and the cells of histograms become the GROUP BY, everything else is an
    aggregate. Totals are put together from the groups afterwards, in Python's integers.
    """

    def __init__(
        self,
        table: Table,
        columns: Mapping[str, Column],
        plan: TableQueries,
        expected: Structure | None = None,
    ) -> None:
        self.table, self.columns = table, columns
        self.order: RowOrder | None = None
        capped = any(query.cap is not None for query in plan)
        structure = expected or Structure()
        if structure.max_rows is not None or capped:  # refused where a record is a row
            self.order = RowOrder(table, columns, structure)
        reads = reads_of(plan)
        cells = checked_columns(table, columns, plan)
        checked = list(cells)
        for name, kind in reads.items():
            if name not in cells:
                cells[name] = reading.read(table, columns, name, kind)
        names = {name: f"v{i}" for i, name in enumerate(cells)}
        marks = {f"m{i}": table.expression[mark.column] for i, mark in enumerate(table.marks)}
        values = {names[name]: cells[name].value for name in cells}
        ordering = self.order.cells() if self.order is not None else {}
        staged = table.expression.select(**values, **marks, **ordering)
        # The engine reads each cell once for its value, and learns from that whether it is sound.
        faulty = any_missing(
            (staged[names[name]] for name in checked), (staged[mark] for mark in marks)
        )
        staged = staged.mutate(faulty=faulty)
        bins = {
            (query.column, query.edges): table.engine.bin_index(
                staged[names[query.column]], query.edges[1:-1]
            )
            for query in plan
            if isinstance(query, HistogramQuery)
            and query.edges is not None
            and isinstance(query.column, str)
        }
        places = {key: f"b{i}" for i, key in enumerate(bins)}
        staged = staged.mutate(**{places[key]: index for key, index in bins.items()})
        staged = self._marked(staged, plan, names)
        self.staged = staged
        self.values: dict[Any, Any] = {name: staged[names[name]] for name in reads}
        self.values |= {key: staged[place] for key, place in places.items()}
        self.dimensions: dict[Any, _Dimension] = {}
        self.aggregates: list[Any] = []
        self.outputs: list[tuple[int, Predicate | None]] = []
        """What a row of the answer says: the place of an aggregate, and for which groups."""
        self.places: dict[tuple[str, str], int] = {}
        self._output(staged.count())
        self._output(staged.count(where=staged.faulty))
        for query in plan:
            for name in column_names(query.by):
                labels = columns[name].levels or ()
                self.dimensions.setdefault(name, _Dimension(self.values[name], labels))
        for query in plan:
            if isinstance(query, HistogramQuery):
                self.dimensions |= self._cells(query)
        for query in plan:
            self._add(query)

    def _marked(self, staged: Any, plan: TableQueries, names: Mapping[str, str]) -> Any:
        """The query with a mark for each query of the plan that some rows don't count for."""
        self.marks: dict[str, str] = {}
        if self.order is None:
            return staged
        staged = self.order.with_order(staged)
        for query in plan:
            if query.cap is not None:
                self.marks[query.name] = f"mark{len(self.marks)}_"
                values = {name: staged[place] for name, place in names.items()}
                where = _matching(query, values)
                groups = [values[name] for name in column_names(query.by)]
                mark = self.marks[query.name]
                staged = self.order.with_mark(staged, mark, where, query.cap, groups)
                if isinstance(query, SumQuery) and query.cap.total_bounds is not None:
                    steps = query.grid.to_ibis(staged[names[query.column]])
                    ends = query.grid.ends(query.cap.total_bounds)
                    staged = self.order.with_total(staged, mark, steps, ends)
        return staged

    def _counted(self, query: DataQuery) -> Any:
        """Whether a row counts for the query; `None` where all rows do."""
        if query.name in self.marks:
            return self.staged[self.marks[query.name]]
        where = _matching(query, self.values)
        if self.order is None:
            return where
        return self.staged.counts_ if where is None else where & self.staged.counts_

    def _is_of_groups(self, condition: Predicate | None) -> bool:
        """Whether rows of one group of the scan agree on a condition.

        Then the aggregate of all rows serves, where the group's key meets the condition: it is
        the engine that decides this too, once for each group.
        """
        if condition is None or self.order is not None:
            return False
        return set(condition.columns) <= self.dimensions.keys()

    def _add(self, query: DataQuery) -> None:
        self.places[query.name, "size"] = 0
        if isinstance(query, FoundGroupsQuery):  # rows that name no group don't count either
            self._aggregate(query, "value", self.staged.count(where=self._counted(query)))
            return
        groups = query.where if self._is_of_groups(query.where) else None
        where = None if groups else self._counted(query)
        if self.order is not None:
            self._aggregate(query, "size", self.staged.count(where=self.staged.counts_))
        if query.where and all(self.columns[name].is_public for name in query.where.columns):
            self._aggregate(query, "size", self.staged.count(where=where), groups)
        if isinstance(query, ProductQuery):
            self._add_products(query, where, groups)
            return
        if isinstance(query, SumQuery | DeviationQuery):
            values = self.values[query.column]
            if isinstance(query, SumQuery) and query.weighted_by is not None:
                values = _product(values, self.values[query.weighted_by])
            steps = query.grid.to_ibis(values)
            if query.cap is not None and query.cap.total_bounds is not None:
                total = self.staged[total_of(self.marks[query.name])]
                self._aggregate(query, "value", total.sum())
                return
            self._aggregate(query, "value", steps.sum(where=where), groups)
            if isinstance(query, DeviationQuery):
                self._aggregate(query, "squares", (steps * steps).sum(where=where), groups)
            return
        self._aggregate(query, "value", self.staged.count(where=where), groups)

    def _add_products(self, query: ProductQuery, where: Any, groups: Predicate | None) -> None:
        """The sums of steps of each column, and those of their products."""
        steps = [
            grid.to_ibis(self.values[name])
            for name, grid in zip(query.column, query.grids.parts, strict=True)
        ]
        for i, each in enumerate(steps):
            self._aggregate(query, f"sum {i}", each.sum(where=where), groups)
        for i, j in query.pairs:
            product_sum = (steps[i] * steps[j]).sum(where=where)
            self._aggregate(query, f"product {i} {j}", product_sum, groups)

    def _aggregate(
        self, query: DataQuery, part: str, expression: Any, groups: Predicate | None = None
    ) -> None:
        """Have a part of a query's answer be an aggregate, in the groups that meet a condition."""
        self.places[query.name, part] = self._output(expression, groups)

    def _output(self, expression: Any, groups: Predicate | None = None) -> int:
        """The place of an aggregate in the rows of the answer: queries share what is equal."""
        known = next((i for i, a in enumerate(self.aggregates) if a.equals(expression)), None)
        if known is None:
            known = len(self.aggregates)
            self.aggregates.append(expression)
        if (known, groups) not in self.outputs:
            self.outputs.append((known, groups))
        return self.outputs.index((known, groups))

    def _cells(self, query: HistogramQuery) -> dict[Any, _Dimension]:
        """By which values a histogram's cells are told apart: one, or one for each column."""
        return {
            key: _Dimension(self.values[key], labels)
            for key, labels in _cell_labels(query, self.columns).items()
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Run the query: one row per group, its keys first, then the outputs."""
        import ibis

        places = {key: f"g{i}" for i, key in enumerate(self.dimensions)}
        dimensions = {places[key]: d.expression for key, d in self.dimensions.items()}
        aggregates = {f"a{i}": value for i, value in enumerate(self.aggregates)}
        groups = self.staged.aggregate(by=dimensions, **aggregates)
        keys = {key: groups[place] for key, place in places.items()}
        outputs = {}
        for i, (place, condition) in enumerate(self.outputs):
            value = groups[f"a{place}"]
            if condition is not None:
                value = ibis.ifelse(condition.to_ibis(keys), value, 0)
            outputs[f"o{i}"] = value
        return self.table.rows(groups.select(*places.values(), **outputs))

    def total(self, query: DataQuery, answer: list[tuple[Any, ...]]) -> Total:
        """The totals of one query, added up over the groups of all others."""
        order = list(self.dimensions)
        offset = len(order)
        if isinstance(query, FoundGroupsQuery):
            return _found(order.index(query.by), offset + self.places[query.name, "value"], answer)
        keys: tuple[CellKey | None, ...] = (None,)
        if query.by is not None:
            keys = group_keys(self.columns, query.by)
        group = [order.index(name) for name in column_names(query.by)]
        if isinstance(query, ProductQuery):
            return self._products(query, answer, keys, group)
        labels: list[tuple[Value, ...]] = [(0,)]
        cell: list[int] = []
        if isinstance(query, HistogramQuery):
            cells = self._cells(query)
            labels = _combined(cells)
            cell = [order.index(key) for key in cells]
        sums = {key: [0] * len(labels) for key in keys}
        places = {label: place for place, label in enumerate(labels)}
        sizes = dict.fromkeys(keys, 0)
        squares = dict.fromkeys(keys, 0)
        value = offset + self.places[query.name, "value"]
        for row in answer:
            key = _place([row[i] for i in group])
            sums[key][places[tuple(row[i] for i in cell)] if cell else 0] += int(row[value] or 0)
            sizes[key] += row[offset + self.places[query.name, "size"]]
            if isinstance(query, DeviationQuery):
                squares[key] += int(row[offset + self.places[query.name, "squares"]] or 0)
        if isinstance(query, DeviationQuery):
            sums = {
                key: [squared_deviations(sizes[key], total, squares[key])]
                for key, (total,) in sums.items()
            }
        return Total({key: tuple(cells) for key, cells in sums.items()}, sizes)

    def _products(
        self,
        query: ProductQuery,
        answer: list[tuple[Any, ...]],
        keys: tuple[CellKey | None, ...],
        group: list[int],
    ) -> Total:
        """The totals of a query of products for each of the `keys`.

        `answer` are the rows of the scan, the places `group` of which tell the key.
        """
        parts = [
            *(f"sum {i}" for i in range(len(query.column))),
            *(f"product {i} {j}" for i, j in query.pairs),
        ]
        names = ["size", *parts]
        offset = len(self.dimensions)
        places = [offset + self.places[query.name, name] for name in names]
        added = {key: [0] * len(names) for key in keys}
        for row in answer:
            line = added[_place([row[i] for i in group])]
            for i, place in enumerate(places):
                line[i] += int(row[place] or 0)
        width = 1 + len(query.column)
        values = {
            key: query.integers(line[0], line[1:width], line[width:]) for key, line in added.items()
        }
        return Total(values, {key: line[0] for key, line in added.items()})


def _matching(query: DataQuery, values: Mapping[Any, Any]) -> Any:
    """Whether a row matches the query's condition, as an expression of the `values`; or `None`.

    For groups that are found in the data: and names one.
    """
    where = query.where.to_ibis(values) if query.where else None
    if not isinstance(query, FoundGroupsQuery):
        return where
    named = values[query.by] != literal("")
    return named if where is None else where & named


def _found(name: int, value: int, answer: list[tuple[Any, ...]]) -> Total:
    """The counts of groups that are found in the data, above 0, in the order of their names.

    The places `name` and `value` of a row of the `answer` are those of a group and of its count.
    """
    counts = {str(row[name]): int(row[value] or 0) for row in answer}
    there = sorted(group for group, count in counts.items() if count and is_group_name(group))
    return Total({group: (counts[group],) for group in there}, {})


def _product(value: Any, weight: Any) -> Any:
    """The product of two columns of numbers in their bounds, of which none below `_TINY` counts.

    So no product is too small for a double, which is an error on some engines. None is too large,
    because that of their bounds is not. It is clipped to the grid, whatever its last bits are.
    """
    import ibis

    doubles = [raw.cast("float64") for raw in (value, weight)]
    tiny, zero = literal(_TINY), literal(0.0)
    sizes = [ibis.ifelse(raw.abs() < tiny, zero, raw) for raw in doubles]
    return sizes[0] * sizes[1]


def squared_deviations(rows: int, total: int, squares: int) -> int:
    """The sum of squared deviations from the mean, of so many `rows`, rounded down; 0 of no rows.

    From the exact `total` of their integers, and that of their `squares`.

    >>> squared_deviations(4, 1 + 2 + 3 + 6, 1 + 4 + 9 + 36), squared_deviations(2, 1, 1)
    (14, 0)
    """
    return (rows * squares - total * total) // rows if rows else 0


def _combined(cells: Mapping[Any, _Dimension]) -> list[tuple[Value, ...]]:
    """The cells of a histogram: all combinations of labels, the last one fastest."""
    return list(product(*(cell.labels for cell in cells.values())))


def _place(values: list[Any]) -> Any:
    """The group of a row: nothing, a value, or the values of several columns."""
    return tuple(values) if len(values) > 1 else next(iter(values), None)
