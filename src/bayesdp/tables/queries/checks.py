"""What the columns of a query must be: numbers to sum, states or bins to count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from bayesdp.errors import InputError
from bayesdp.statements.queries import column_names, interval_of_products
from bayesdp.tables.columns.column import Column, group_keys
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import (
    CountQuery,
    DataQuery,
    DeviationQuery,
    FoundGroupsQuery,
    HistogramQuery,
    ProductQuery,
    SumQuery,
)


def require_answerable(query: DataQuery, columns: Mapping[str, Column]) -> None:
    """Raises `InputError`, with the query's key, unless the `columns` are what the query needs."""
    key = f"query.{query.name}"
    if isinstance(query, FoundGroupsQuery):
        if query.by not in columns or columns[query.by].groups is None:
            raise InputError(
                f"{key}.by", query.by, expected="a column whose groups are found in the data"
            )
        return
    if query.by is not None:
        group_keys(columns, query.by, f"{key}.by")
    if isinstance(query, CountQuery):
        return
    for name in column_names(query.column):
        if name not in columns:
            raise InputError(f"{key}.column", name, expected="a declared column")
        if isinstance(query, HistogramQuery):
            _validate_cells(query, columns[name], key)
    if isinstance(query, SumQuery | DeviationQuery):
        interval = columns[query.column].interval
        if isinstance(query, SumQuery) and query.weighted_by is not None:
            weights = columns[query.weighted_by].interval
            interval = interval_of_products(interval, weights) if interval and weights else None
        _require_grid(interval, query.column, query.grid, key)
    if isinstance(query, ProductQuery):
        for name, grid in zip(query.column, query.grids.parts, strict=True):
            _require_grid(columns[name].interval, name, grid, key)


def _require_grid(interval: Any, column: str, grid: Grid, key: str) -> None:
    """Raises `InputError` unless the values of the `column` lie in an interval that the grid has.

    `interval` is that of the values, and `key` is that of the query.
    """
    if interval != (grid.lo, grid.hi):
        raise InputError(
            f"{key}.column",
            column,
            expected="a column of numbers whose bounds are those of the grid",
            remedy=f"Declare data.columns.{column} = {{ bounds = [lower, upper] }}.",
        )


def _validate_cells(query: HistogramQuery, column: Column, key: str) -> None:
    """Raises `InputError` for a column without the cells that a histogram counts."""
    if query.edges is None:
        if column.levels is None:
            raise InputError(
                f"{key}.column",
                column.name,
                expected="declared states, or bins",
                remedy=f"Give bins, or states in data.columns.{column.name}.",
            )
        return
    edges = query.edges
    sound = len(edges) >= 2 and all(map(math.isfinite, edges))
    if not sound or any(left >= right for left, right in pairwise(edges)):
        raise InputError(f"{key}.bins", edges, expected="at least two strictly increasing edges")
    if column.reads != "number":
        raise InputError(f"{key}.column", column.name, expected="numbers to put into bins")
