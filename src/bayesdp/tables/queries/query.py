"""What is summed over a table: queries as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids, centred_moments, codeviation


@dataclass(frozen=True)
class Cap:
    """How many of the rows of a record that match a query count, where it has several.

    At most `rows`; or in at most `groups` groups at most `rows_in_group` rows each. `None`: all.
    The sum over them is clipped to `total_bounds`, for each record.
    """

    rows: int | None = None
    groups: int | None = None
    rows_in_group: int | None = None
    total_bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class SumQuery:
    """The sum of `column` in steps of `grid` over the rows where `where` holds, per `by` key.

    With `weighted_by` the sum of the products with that column, on the grid of the products.
    """

    name: str
    column: str
    grid: Grid
    where: Predicate | None = None
    by: str | tuple[str, ...] | None = None
    cap: Cap | None = None
    weighted_by: str | None = None


@dataclass(frozen=True)
class DeviationQuery:
    """The sum of squared deviations of `column` from its mean, over the rows where `where` holds.

    In squared steps of the plain `grid`, rounded down, per `by` key. The condition is on public
    columns, so that the number of rows is public.
    """

    name: str
    column: str
    grid: Grid
    where: Predicate | None = None
    by: str | tuple[str, ...] | None = None
    cap: Cap | None = None


@dataclass(frozen=True)
class ProductQuery:
    """Sums of products of the values of several columns, over the rows where `where` holds.

    In steps of the columns' `grids`, per `by` key. Of two columns the sum of products of their
    deviations from their means, rounded down (a covariance); or `moments`: the sums of all columns
    and of their products, about the middles of the grids (`grids.centred_moments`). The condition
    is on public columns, so that the number of rows is public.
    """

    name: str
    column: tuple[str, ...]
    grids: Grids
    moments: bool
    where: Predicate | None = None
    by: str | tuple[str, ...] | None = None
    cap: Cap | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the columns whose products are added up."""
        places = range(len(self.column))
        return list(combinations_with_replacement(places, 2)) if self.moments else [(0, 1)]

    def integers(self, rows: int, sums: Sequence[int], products: Sequence[int]) -> tuple[int, ...]:
        """What gets noise, of so many `rows`, from the `sums` of steps and those of `products`."""
        if self.moments:
            return centred_moments(rows, sums, products, self.grids.sensitivity)
        return (codeviation(rows, sums, products[0]),)


@dataclass(frozen=True)
class CountQuery:
    """The number of rows where `where` holds, for each `by` key.

    With several columns in `by` the keys are the combinations of their states, as tuples.
    """

    name: str
    where: Predicate | None = None
    by: str | tuple[str, ...] | None = None
    cap: Cap | None = None


@dataclass(frozen=True)
class FoundGroupsQuery:
    """The number of rows where `where` holds, for each group that is found in the column `by`.

    Of groups that have such rows; those of a missing cell, or of one that names no group, have
    none.
    """

    name: str
    by: str
    where: Predicate | None = None
    cap: Cap | None = None


@dataclass(frozen=True)
class HistogramQuery:
    """Rows per declared state of `column`, or per bin `[e0, e1), [e1, e2), ...` of its values.

    With several columns: rows per combination of their states.

    Values below the first edge fall into the first bin, those at or above the last into the last.
    """

    name: str
    column: str | tuple[str, ...]
    edges: tuple[float, ...] | None = None
    where: Predicate | None = None
    by: str | tuple[str, ...] | None = None
    cap: Cap | None = None


DataQuery = (
    SumQuery | DeviationQuery | ProductQuery | CountQuery | FoundGroupsQuery | HistogramQuery
)
TableQueries = Sequence[DataQuery]
