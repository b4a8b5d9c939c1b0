"""What a query reads, and how far replacing one record moves its integers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from bayesdp.kernel.arithmetic import InvalidError, require
from bayesdp.kernel.costs.series import PeriodSums
from bayesdp.statements import conditions, costs
from bayesdp.statements.column_sets import label
from bayesdp.statements.columns import AnyColumn, CellKey, Columns, Impute, Numeric, Value
from bayesdp.statements.conditions import ConditionTree, columns_of
from bayesdp.statements.queries import (
    AVERAGES,
    MOST_COMBINATIONS,
    MOST_PERIODS,
    OF_MATCHING,
    PRODUCTS,
    TableQuery,
    cell_labels,
    column_names,
    interval_of_products,
    moment_names,
)


@dataclass(frozen=True)
class AskedQuery:
    """A query: its kind, whether rows may count as 0, the private columns read, its cells.

    What `release/queries/asked_query.py` says of a study's query, derived again from what a
    certificate declares. `moves_between_groups`: a record's rows may be counted in other groups or
    cells than those of its replacement. A quantile has a `probability` and the `candidates` that it
    may be. `squares`: the integers are sums of squared deviations, in squared steps of the grid.
    Sums of products have the `intervals` of the columns that are multiplied; those of a regression
    are its `moments`. A `series` has groups or cells as its periods, in their order.
    """

    kind: str
    masked: bool
    reads: tuple[str, ...]
    column: str | None
    interval: tuple[float, float] | None
    sums: bool
    cells: tuple[CellKey, ...] | None
    keys: tuple[CellKey, ...] | None
    moves_between_groups: bool
    public_part: bool
    probability: Fraction | None
    candidates: tuple[float, ...] | None
    squares: bool
    total_bounds: tuple[float, float] | None
    intervals: tuple[tuple[float, float], ...] = ()
    series: PeriodSums | None = None

    @property
    def moments(self) -> int:
        """How many columns a regression's moments are of; 0 for other queries."""
        return len(self.intervals) if self.cells is not None else 0

    @property
    def power(self) -> int:
        """How many steps of a grid one step of its integers multiplies: 2 for products, else 1."""
        return 2 if self.squares or self.intervals else 1


def asked_query(
    query: TableQuery,
    columns: Columns,
    unit: str,
    covers: list[str],
    independent: list[str],
    *,
    balanced: bool = False,
) -> AskedQuery:
    """A query over declared columns, as it is asked; `InvalidError` for one that may not be.

    `balanced`: all records have the same number of rows.
    """
    names, several = query.value_columns, unit != "row"
    compared = columns_of(condition(query.where)) if query.where is not None else frozenset()
    private = any(columns[name].is_private for name in compared)
    uneven = several and not _as_many(query, balanced=balanced)
    totals = query.total_bounds is not None
    require(several or not totals, "totals of records are clipped, but each record is one row")
    _require_public_number(query, private=private, uneven=uneven)
    values = _values(query, columns, private=private)
    cells, masked = values.cells, private or uneven
    keys = None if query.by is None else _groups(query.by, columns)
    summed = columns[names[0]] if len(names) == 1 else None
    weights = () if query.weighted_by is None else (query.weighted_by,)
    lipschitz = not masked and not several and _moves_with_its_column(query, summed)
    return AskedQuery(
        kind="lipschitz" if lipschitz else "any",
        masked=masked,
        reads=labels(columns, {*compared, *names, *weights}, covers, independent),
        column=None if summed is None else label(names[0], summed),
        interval=values.interval,
        sums=query.is_sum,
        cells=cells,
        keys=keys,
        moves_between_groups=(cells is not None and query.kind not in PRODUCTS)
        or (several and keys is not None),
        public_part=query.kind in OF_MATCHING and query.where is not None,
        probability=query.exact_probability,
        candidates=values.candidates,
        squares=query.kind == "variance",
        total_bounds=query.total_bounds,
        intervals=values.intervals,
        series=_series(query, cells or keys or (), stays=not several and keys is not None),
    )


def _as_many(query: TableQuery, *, balanced: bool) -> bool:
    """Whether the query counts the same number of rows of each record."""
    narrowed = query.by is not None or (query.where is not None and query.kind != "proportion")
    return balanced and not narrowed and not query.is_capped and query.total_bounds is None


def _require_public_number(query: TableQuery, *, private: bool, uneven: bool) -> None:
    """An average is over so many rows, and says how many: a number that must be public.

    It is not where the rows match a `private` condition, or where records have `uneven` numbers of
    them. A proportion is over all rows, whatever its condition.
    """
    matching, averaged = query.kind in OF_MATCHING, query.kind in AVERAGES
    hidden = (matching and private) or (averaged and uneven)
    require(not hidden, "an average is over rows whose number is private")


def _moves_with_its_column(query: TableQuery, summed: AnyColumn | None) -> bool:
    """Whether a record moves the sum by as much as its value in the column moves."""
    numbers = query.is_sum and isinstance(summed, Numeric)
    if not numbers or isinstance(getattr(summed, "missing", None), Impute):
        return False
    return query.kind != "variance" and query.weighted_by is None


def _groups(by: str | tuple[str, ...], columns: Columns) -> tuple[CellKey, ...]:
    """The groups that the query shows: all combinations of the states of public columns."""
    grouped = [columns[name] for name in column_names(by)]
    public = not any(column.is_private for column in grouped)
    require(public, "the groups are those of a private column")
    return _combinations(grouped)


@dataclass(frozen=True)
class _Values:
    """What a query takes from the columns of its values, each as in `AskedQuery`."""

    cells: tuple[CellKey, ...] | None = None
    interval: tuple[float, float] | None = None
    intervals: tuple[tuple[float, float], ...] = ()
    candidates: tuple[float, ...] | None = None


def _values(query: TableQuery, columns: Columns, *, private: bool) -> _Values:
    """The values of the query's kind. `private`: its condition reads a private column."""
    names = query.value_columns
    if query.kind in PRODUCTS:
        return _products(query, columns)
    if len(names) > 1:
        crossed = [columns[name] for name in names]
        private_all = all(column.is_private for column in crossed)
        require(private_all, "a contingency table has a public column")
        return _Values(cells=_combinations(crossed))
    if not names:
        require(private, "a count needs a condition on a private column")
        return _Values()
    column = columns[names[0]]
    require(column.is_private, f"a {query.kind} is of a public column")
    if query.is_sum:
        return _Values(interval=_summed(query, column, columns))
    if query.kind == "quantile":
        return _Values(candidates=_candidates(query.candidates, column))
    return _Values(cells=_levels(column) if query.bins is None else _bins(query.bins, column))


def _products(query: TableQuery, columns: Columns) -> _Values:
    """The intervals of columns whose values are multiplied; of a regression its moments, too."""
    names = query.value_columns
    intervals = [columns[name].interval for name in names if columns[name].is_private]
    bounded = tuple(interval for interval in intervals if interval is not None)
    require(len(bounded) == len(names), "a product is not of private columns of numbers")
    return _Values(cells=_moments(names) if query.kind == "regression" else None, intervals=bounded)


def _moments(names: Sequence[str]) -> tuple[str, ...]:
    cells = moment_names(names)
    require(len(set(cells)) == len(cells), "two moments of a regression have one name")
    return cells


def _summed(query: TableQuery, column: AnyColumn, columns: Columns) -> tuple[float, float]:
    """Where each row's part of a sum lies: its value, times its weight if it has one."""
    require(column.interval is not None, "a sum or mean is not of a column of numbers")
    interval = column.interval
    assert interval is not None
    if query.weighted_by is None:
        return interval
    weights = columns[query.weighted_by]
    bounded = isinstance(weights, Numeric)
    require(bounded, "its weights are not in a column with bounds")
    assert isinstance(weights, Numeric)
    return interval_of_products(interval, weights.bounds)


def _series(query: TableQuery, periods: Sequence[CellKey], *, stays: bool) -> PeriodSums | None:
    """The series that is asked, of these periods; `None` for other queries."""
    if query.strategy is None or query.answers is None:
        return None
    fits = 2 <= len(periods) <= MOST_PERIODS
    require(fits, f"a series has from 2 to {MOST_PERIODS} periods, and this one {len(periods)}")
    return PeriodSums(query.strategy, len(periods), query.answers, stays)


def condition(text: str) -> ConditionTree:
    """A condition as it is read; `InvalidError` for a text that is none."""
    try:
        return conditions.parse(text)
    except conditions.ConditionError as error:
        raise InvalidError(str(error)) from None


def _levels(column: AnyColumn) -> tuple[Value, ...]:
    require(column.levels is not None, "the groups or cells are not declared")
    return column.levels or ()


def _combinations(crossed: Sequence[AnyColumn]) -> tuple[CellKey, ...]:
    """The states of a column, or all combinations of those of several, the last one fastest."""
    levels = [_levels(column) for column in crossed]
    if len(levels) == 1:
        return levels[0]
    many = math.prod(map(len, levels)) > MOST_COMBINATIONS
    require(not many, "it has more combinations of states than a query may have numbers")
    return tuple(product(*levels))


def _bins(edges: tuple[float, ...], column: AnyColumn) -> tuple[Value, ...]:
    require(isinstance(column, Numeric), "its bins are of a column that has no bounds")
    assert isinstance(column, Numeric)
    return cell_labels(edges, column.bounds)


def _candidates(stated: tuple[float, ...] | None, column: AnyColumn) -> tuple[float, ...]:
    """What a quantile may be: candidates between a column's bounds, or its states."""
    if isinstance(column, Numeric):
        low, high = column.bounds
        listed = stated or ()
        inside = all(low <= candidate <= high for candidate in listed)
        require(inside, "a candidate lies outside of the column's bounds")
        return listed
    require(stated is None, "candidates stand beside the states of a column")
    require(column.interval is not None, "it is a quantile of a column that is not one of numbers")
    return tuple(float(level) for level in column.levels or ())


def labels(
    columns: Columns, names: Collection[str], covers: list[str], independent: list[str]
) -> tuple[str, ...]:
    """Labels of the private columns read; a derived one may stand for the one it comes from."""
    read = set()
    for name in names:
        column = columns[name]
        if not column.is_private:
            continue
        spoken = label(name, column) in covers or label(name, column) in independent
        source = getattr(column, "source", None)
        if not spoken and source is not None and source in columns:
            name, column = source, columns[source]
        read.add(label(name, column))
    return tuple(sorted(read))


def sensitivity(
    asked: AskedQuery, grid: Grid | None, rows: int, in_group: int, *, squared: bool
) -> int:
    """How far replacing one record, of which at most so many rows count, moves the integers.

    What is due; `release/price/noise.py` proposes what a certificate claims. In l1; or `squared`,
    the square of it in l2. A query that `moves_between_groups` loses up to `rows` in some parts
    and gains as many in others, at most `in_group` of them in each; the squares of numbers that are
    at most `in_group`, and `rows` together, are at most `rows * in_group` together. For a quantile
    with the probability a / b: how far any score moves, in steps of 1/b row, summed over groups;
    one row moves it by b if it is replaced, and by at most max(a, b - a) if it leaves one group and
    another enters a second one. Of totals that are clipped to an interval: its length. For a
    variance: of `n` rows on a grid of K steps the sum of squared deviations from their mean moves
    by at most K^2 for each row (theory 4 proves it), and so does its integer part; a covariance's
    by as much on two grids of K steps. The moments of a regression: `_moments_move`.
    """
    if asked.series is not None:
        low, high = (0, 1) if grid is None else grid.ends
        return asked.series.sensitivity(low, high, rows, in_group, squared=squared)
    if asked.probability is not None:
        replaced = asked.probability.denominator
        part = max(asked.probability.numerator, replaced - asked.probability.numerator)
        if squared:
            most_squared = (
                max(replaced**2, 2 * part**2) if asked.moves_between_groups else replaced**2
            )
            return rows * in_group * most_squared
        return rows * (2 * part if asked.moves_between_groups else replaced)
    one_row = grid.sensitivity if grid is not None else 1
    if asked.moments:
        return _moments_move(asked.moments, rows, one_row, squared=squared)
    step = one_row**2 if asked.power > 1 else one_row
    if asked.total_bounds is not None and grid is not None:
        low, high = (math.floor(Fraction(end) / grid.step) for end in asked.total_bounds)
        rows, in_group, step = 1, 1, min(high - low, rows * one_row)
    parts = 2 if asked.moves_between_groups else 1
    return rows * in_group * step**2 * parts if squared else rows * step * parts


def _moments_move(columns: int, rows: int, steps: int, *, squared: bool) -> int:
    """How far `rows` replaced rows move the moments of d columns on grids of K steps.

    Each column goes from -1 to 1, in units of K. By at most `d (d + 2)^2 / (2 (d + 1)) K^2` in l1
    and by `(d + 1) K^2` in l2 for each row (theory 4, "Regressions", proves both). All are whole
    numbers, and so is the distance in l1.
    """
    if squared:
        return (rows * (columns + 1) * steps**2) ** 2
    return rows * (columns * (columns + 2) ** 2 * steps**2 // (2 * (columns + 1)))


# -- the grid ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """The integer grid of a sum: the same arithmetic as in the data engine, in doubles."""

    low: float
    high: float
    bits: int
    masked: bool

    @classmethod
    def read(cls, stated: costs.Grid) -> Grid:
        """From a step's evidence."""
        return cls(stated.lo, stated.hi, stated.bits, stated.masked)

    @property
    def factor(self) -> float:
        """Steps per unit."""
        if self.masked:
            return float(2.0**self.bits / (max(self.high, 0.0) - min(self.low, 0.0)))
        return float(2.0**self.bits / (self.high - self.low))

    @property
    def step(self) -> Fraction:
        """The length of a step in the column's unit."""
        return 1 / Fraction(self.factor)

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most that a row adds, in steps: at most 0, and at least 0."""
        if not self.masked:
            return 0, int(2**self.bits)
        return (
            min(math.floor(self.low * self.factor), 0),
            max(math.floor(self.high * self.factor), 0),
        )

    @property
    def sensitivity(self) -> int:
        """Most steps that one row moves the sum by, when it is replaced or leaves."""
        if not self.masked:
            return int(2**self.bits)
        least, most = math.floor(self.low * self.factor), math.floor(self.high * self.factor)
        return max(abs(least), abs(most), most - least)

    @property
    def slack(self) -> Fraction:
        """What the grid adds for each record that moves, relative to the width: two steps."""
        return Fraction(2, 2**self.bits)
