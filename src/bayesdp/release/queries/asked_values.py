"""What a query makes its integers of, by its kind: rows, values of columns, or products of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bayesdp.errors import InputError, did_you_mean, toml_text
from bayesdp.release.queries.asked_rows import AskedRows
from bayesdp.release.queries.crossed_columns import contingency_cells
from bayesdp.release.queries.histogram_cells import cells_of
from bayesdp.release.queries.products import check_slopes, named_at, products_of, regression_cells
from bayesdp.release.queries.series import private_periods
from bayesdp.release.spec.parts import QuerySpec, refuse_keys
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import PRODUCTS, SUMMED, column_names
from bayesdp.tables.columns.column import Column


class AskedValues(NamedTuple):
    """What a query makes its integers of: nothing for a count, which is of rows.

    The values of a `column`, told by `cells` in a histogram; or cells of the `counted` columns; or
    the products of the columns `products`, whose moments are then the cells.
    """

    column: Column | None = None
    cells: tuple[CellKey, ...] | None = None
    counted: tuple[str, ...] = ()
    products: tuple[Column, ...] = ()


class _Asked(NamedTuple):
    """A query of a study, its key there, and the rows that it is about."""

    study: StudySpec
    query: QuerySpec
    key: str
    rows: AskedRows

    def column(self, named: str | None) -> Column:
        """The private column that the query names. Raises `InputError` for another one."""
        return _value_column(self.study, self.query, self.key, named)

    @property
    def columns(self) -> list[Column]:
        """All columns that it names as those of its values; at least one has to be."""
        return [self.column(name) for name in column_names(self.query.column) or (None,)]


def asked_values(study: StudySpec, query: QuerySpec, key: str, rows: AskedRows) -> AskedValues:
    """What the `query` at `key` makes its integers of, by its kind.

    `rows` are those of the `study` that it is about. Raises `InputError` for a column that it can't
    be about.
    """
    if rows.from_data is not None:
        return AskedValues(counted=column_names(query.column))
    return _VALUES[query.kind](_Asked(study, query, key, rows))


def _no_values(asked: _Asked) -> AskedValues:
    """Of a count or proportion: those of the rows that match."""
    _require_predicate(asked.query, asked.key, asked.rows.are_private)
    return AskedValues()


def _values_of_a_column(asked: _Asked) -> AskedValues:
    """Of a sum, average or quantile: those of one column."""
    (column,) = asked.columns
    _refuse_bins(asked)
    return AskedValues(column)


def _values_of_a_series(asked: _Asked) -> AskedValues:
    """Of a series: rows that match, values of a column by group, or rows by private period."""
    if not asked.query.column:
        return _no_values(asked)
    if asked.query.by is not None:
        return _values_of_a_column(asked)
    (column,) = asked.columns
    return AskedValues(column, private_periods(asked.query, column, asked.key))


def _values_of_a_histogram(asked: _Asked) -> AskedValues:
    """Of a histogram: cells of one column, or of several of which each has states."""
    columns = asked.columns
    if len(columns) > 1:
        cells = contingency_cells(columns, asked.key)
        return AskedValues(cells=cells, counted=column_names(asked.query.column))
    return AskedValues(columns[0], cells_of(asked.query, columns[0], asked.key))


def _values_of_products(asked: _Asked) -> AskedValues:
    """Of a covariance or regression: products of columns; of a regression its moments are cells."""
    products = products_of(asked.query, asked.column)
    check_slopes(asked.query, products, asked.key)
    return AskedValues(cells=regression_cells(asked.query, asked.key), products=products)


def _refuse_bins(asked: _Asked) -> None:
    refuse_keys(
        asked.query,
        ("bins",),
        asked.key,
        expected="only on a histogram",
        remedy='Leave bins out, or write kind = "histogram".',
    )


_VALUES: Mapping[str, Callable[[_Asked], AskedValues]] = {
    "count": _no_values,
    "proportion": _no_values,
    "sum": _values_of_a_column,
    "mean": _values_of_a_column,
    "variance": _values_of_a_column,
    "quantile": _values_of_a_column,
    "randomized_response": _values_of_a_column,
    "histogram": _values_of_a_histogram,
    "series": _values_of_a_series,
    "covariance": _values_of_products,
    "regression": _values_of_products,
}
"""What a query of each kind makes its integers of; those of programs are read in `programs`."""


def _require_predicate(query: QuerySpec, key: str, private_where: bool) -> None:
    expected = f"nothing on a {query.kind}, which counts the rows that match where"
    refuse_keys(query, ("column", "bins"), key, expected)
    if query.where is None:
        raise InputError(
            f"{key}.where",
            expected=f"the condition whose {query.kind} is wanted",
            remedy="The number of all records is public.",
            shown=False,
        )
    if not private_where:
        raise InputError(
            f"{key}.where",
            query.where,
            expected="a condition that reads a private column",
            remedy="It reads public columns only: its count is public and needs no noise.",
        )


def _value_column(study: StudySpec, query: QuerySpec, key: str, named: str | None = None) -> Column:
    """The private column `named` by the query."""
    if named is None:
        raise InputError(
            f"{key}.column", expected=f"the column whose {query.kind} is wanted", shown=False
        )
    place = f"{key}.{named_at(query).get(named, 'column')}"
    column = study.columns.get(named)
    if column is None:
        private = [name for name, known in study.columns.items() if known.is_private]
        raise InputError(
            place,
            named,
            expected="a declared private column",
            remedy=did_you_mean(named, private),
        )
    if column.is_public:
        several = query.kind == "histogram" and len(column_names(query.column)) > 1
        raise InputError(
            place,
            named,
            expected="private columns" if several else "a private column",
            remedy=f"Count its groups apart: by = {toml_text(named)}, and leave it out of column."
            if several
            else "A public column needs no noise.",
        )
    series_of_sums = query.kind == "series" and query.by is not None
    numbers = series_of_sums or query.kind in (*SUMMED, *PRODUCTS, "quantile")
    if numbers and column.interval is None:
        raise InputError(
            place,
            named,
            expected="a column of numbers: one with bounds, with cuts, or with states that are "
            "numbers, at least two",
            remedy="Release a histogram or a count.",
        )
    return column
