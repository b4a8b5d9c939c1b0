"""Queries as certificates state them: of a table, or by a program."""

from __future__ import annotations

import collections.abc
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    Interval,
    Line,
    Name,
    Number,
    Sequence,
    Statement,
    distinct,
    exact_text,
    listed,
)
from bayesdp.statements.conditions import ConditionText


def _edges(bins: tuple[float, ...]) -> tuple[float, ...]:
    if any(left >= right for left, right in pairwise(bins)):
        raise ValueError("edges of bins that don't increase")
    return bins


MOST_COMBINATIONS = 2000
"""The most combinations of states of several columns: of the groups of a query, or of its cells."""

NumberKind = Literal[
    "count",
    "sum",
    "mean",
    "variance",
    "covariance",
    "regression",
    "proportion",
    "histogram",
]
"""Kinds of queries whose numbers each have noise of their own."""

AVERAGES = ("mean", "proportion", "variance", "covariance", "regression")
"""Kinds of queries whose totals are divided by a public number of rows."""

SUMMED = ("sum", "mean", "variance")
"""Kinds of queries that add up values, or squares of them, on a grid."""

PRODUCTS = ("covariance", "regression")
"""Kinds of queries that add up products of the values of several columns, on a grid for each."""

OF_MATCHING = ("mean", "variance", *PRODUCTS)
"""Averages over the rows that match their condition, which is on public columns."""

MOST_MOMENTS_OF = 20
"""The most columns of a regression, its outcome among them: they have 230 moments."""

Crossed = Annotated[tuple[Name, ...], Sequence, Field(min_length=2), AfterValidator(distinct)]
"""Columns whose combinations of states are groups or cells: of a table of two or more ways."""


ColumnNames = Annotated[
    Annotated[Name, Tag("single")] | Annotated[Crossed, Tag("list")], Discriminator(listed)
]
"""A column, or several that are crossed."""


def squared_unit(unit: str) -> str:
    """The unit of a variance; of no unit none.

    >>> squared_unit("kg"), squared_unit("km/h"), squared_unit("")
    ('kg^2', '(km/h)^2', '')
    """
    return f"{unit}^2" if unit.isalnum() else f"({unit})^2" if unit else ""


def product_unit(first: str, second: str) -> str:
    """The unit of a covariance: that of the product of two numbers in these units.

    >>> product_unit("kg", "cm"), product_unit("kg", "kg"), product_unit("km/h", "")
    ('kg*cm', 'kg^2', 'km/h')
    """
    if first == second:
        return squared_unit(first)
    both = [unit if unit.isalnum() else f"({unit})" for unit in (first, second)]
    return "*".join(both) if first and second else first or second


def moment_names(names: collections.abc.Sequence[str]) -> tuple[str, ...]:
    """What a regression releases: the mean of each column, and of each product of two of them.

    Of the columns in this order, the outcome last, each scaled to the range from -1 to 1.

    >>> moment_names(["x", "y"])
    ('x', 'y', 'x * x', 'x * y', 'y * y')
    """
    pairs = combinations_with_replacement(names, 2)
    return (*names, *(f"{first} * {second}" for first, second in pairs))


def column_names(named: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The columns that a query names at one key: none, one, or several that are crossed.

    >>> column_names(None), column_names("sex"), column_names(("region", "sex"))
    ((), ('sex',), ('region', 'sex'))
    """
    if named is None:
        return ()
    return (named,) if isinstance(named, str) else named


def names_of_values(
    column: str | tuple[str, ...] | None, on: str | tuple[str, ...] | None, outcome: str | None
) -> tuple[str, ...]:
    """The columns whose values a query reads, by its keys `column`, `on` and `outcome`.

    >>> names_of_values(None, ("age", "height"), "weight")
    ('age', 'height', 'weight')
    """
    return (*column_names(column), *column_names(on), *column_names(outcome))


def interval_of_products(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float]:
    """Between which doubles a product of two doubles lies, each in its interval.

    Rounding never reverses an order, so the ends are products of ends, rounded as the products are.

    >>> interval_of_products((0.5, 2.0), (-1.0, 3.0))
    (-2.0, 6.0)
    """
    ends = [float(left) * float(right) for left in first for right in second]
    return min(ends), max(ends)


MOST_PARTS = 10**6
"""The largest denominator of a quantile's probability: six decimals."""


Strategy = Literal["identity", "tree", "square-root"]
"""Which sums of a series get noise: of each period, of a binary tree, of a matrix factorisation."""

SeriesAnswers = Literal["periods", "cumulative", "ranges"]
"""Which sums of a series have a stated error: single periods, the first ones, any in a row."""

MOST_PERIODS = 10_000
"""The most periods of a series."""

ROOT_BITS = 16
"""Entries of the matrix `square-root` are whole multiples of `2^-16`."""


def _candidates(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if any(left >= right for left, right in pairwise(numbers)):
        raise ValueError("candidates that don't increase")
    return numbers


def _probability(probability: float) -> float:
    if decimal_of(probability).denominator > MOST_PARTS:
        raise ValueError("a probability with more than six decimals")
    return probability


def decimal_of(probability: float) -> Fraction:
    """The shortest decimal that names the double: 0.1 is one tenth, exactly."""
    return Fraction(repr(float(probability)))


def cell_labels(edges: tuple[float, ...], bounds: tuple[float, float]) -> tuple[str, ...]:
    """What each bin of a histogram contains, of values that are clipped to the bounds.

    What lies outside of the edges counts in the outer bins: they say so where the bounds go beyond
    the edges, and an upper bound that is the last edge counts in the last bin. A bin alone contains
    all values. Labels of different bins are different, because edges are written without loss.

    >>> cell_labels((20.0, 60.0, 100.0), (0.0, 120.0))
    ('below 60', '60 and above')
    >>> cell_labels((0.0, 20.0, 100.0), (0.0, 100.0))
    ('[0, 20)', '[20, 100]')
    """
    low, high = map(float, bounds)
    if len(edges) == 2:
        return (f"[{exact_text(low)}, {exact_text(high)}]",)
    texts = [exact_text(float(edge)) for edge in edges]
    labels = [f"[{left}, {right})" for left, right in pairwise(texts)]
    if low < edges[0]:
        labels[0] = f"below {texts[1]}"
    if high > edges[-1]:
        labels[-1] = f"{texts[-2]} and above"
    elif high == edges[-1]:
        labels[-1] = f"[{texts[-2]}, {texts[-1]}]"
    return tuple(labels)


def cut_labels(
    cuts: tuple[float, ...], bounds: tuple[float, float] | None = None
) -> tuple[str, ...]:
    """What each state of a column derived by `cuts` contains, of the values that it is read from.

    State `k` holds the values that reach `k` of the cuts, so that a cut belongs to the state above
    it. Values are clipped to the `bounds` of the column that they are read from, if it has any:
    both ends are then values, and values beyond them count in the outer states.

    >>> cut_labels((8000.0, 12000.0))
    ('below 8000', '[8000, 12000)', '12000 and above')
    >>> cut_labels((8000.0,), (0.0, 40000.0))
    ('[0, 8000)', '[8000, 40000]')
    """
    if bounds is not None and bounds[0] < cuts[0] and cuts[-1] < bounds[1]:
        return cell_labels((bounds[0], *cuts, bounds[1]), bounds)
    texts = [exact_text(float(cut)) for cut in cuts]
    inner = [f"[{left}, {right})" for left, right in pairwise(texts)]
    return (f"below {texts[0]}", *inner, f"{texts[-1]} and above")


class TableQuery(Statement):
    """A query of a table: one number, or one for each group (`by`) or cell of a histogram.

    Where `by` names several columns, the groups are the combinations of their states; where a
    histogram is of several columns, its cells are: a contingency table.

    A variance is the mean squared deviation from the mean, both over the same public rows.

    A covariance is of two columns. A regression of the `outcome` `on` other columns is released as
    its moments, the means of these columns and of their products (`moment_names`).

    A quantile is one of the `candidates`, or of the states of a column that has no bounds; its
    `probability` is the share of rows below it, 0.5 for a median. Of each record at most `max_rows`
    of the rows that match count; or in at most `max_groups` groups at most `max_rows_per_group`
    rows each. The total of a record is clipped to `total_bounds` before records are added up. A sum
    may be of the products of its column with that of its weights, `weighted_by`.

    A series is a count or a sum for each period: for each group of a public column `by`, or a count
    for each state of a private `column`, both in the order in which they are declared. Its noise is
    that of the `strategy`, and what is released are its `answers`.
    """

    name: Name
    kind: Literal[NumberKind, "quantile", "series"]
    column: ColumnNames | None = None
    on: ColumnNames | None = None
    outcome: Name | None = None
    where: ConditionText | None = None
    by: ColumnNames | None = None
    bins: (
        Annotated[tuple[Number, ...], Sequence, Field(min_length=3), AfterValidator(_edges)] | None
    ) = None
    probability: Annotated[Number, Field(gt=0, lt=1), AfterValidator(_probability)] | None = None
    candidates: (
        Annotated[tuple[Number, ...], Sequence, Field(min_length=2), AfterValidator(_candidates)]
        | None
    ) = None
    tightness: Literal["dp", "mechanism"] = "dp"
    max_rows: Count | None = None
    max_groups: Count | None = None
    max_rows_per_group: Count | None = None
    total_bounds: Interval | None = None
    weighted_by: Name | None = None
    strategy: Strategy | None = None
    answers: SeriesAnswers | None = None

    @model_validator(mode="after")
    def _a_series(self) -> TableQuery:
        series = self.kind == "series"
        if series != (self.strategy is not None) or series != (self.answers is not None):
            raise ValueError("a series has a strategy and answers, and nothing else has them")
        if series and isinstance(self.by, tuple):
            raise ValueError("periods of several columns")
        if series and self.by is None and self.column is None:
            raise ValueError("a series without periods")
        if self.strategy == "square-root" and self.answers != "cumulative":
            raise ValueError("the matrix of cumulative sums for other answers")
        return self

    @model_validator(mode="after")
    def _goes_together(self) -> TableQuery:
        counts = self.kind in ("count", "proportion")
        regression = self.kind == "regression"
        if {regression} != {self.on is not None, self.outcome is not None}:
            raise ValueError("an outcome and what it is regressed on belong to regressions")
        if len(set(self.value_columns)) < len(self.value_columns):
            raise ValueError("an outcome that is regressed on itself")
        if len(self.value_columns) > MOST_MOMENTS_OF and regression:
            raise ValueError(f"a regression of more than {MOST_MOMENTS_OF} columns")
        if self.kind == "series":
            counts = self.column is None
        if (counts or regression) != (self.column is None):
            raise ValueError(
                "a count or proportion is of a condition, every other query of a column"
            )
        if counts and self.where is None:
            raise ValueError("a count or proportion without a condition")
        crossed = len(column_names(self.column)) > 1
        if self.kind == "covariance" and len(column_names(self.column)) != 2:
            raise ValueError("a covariance of other than two columns")
        if (
            crossed
            and self.kind != "covariance"
            and (self.kind != "histogram" or self.bins is not None)
        ):
            raise ValueError("several columns of what is not a histogram of their states")
        if self.bins is not None and self.kind != "histogram":
            raise ValueError("bins on a query that is not a histogram")
        if (self.probability is not None) != (self.kind == "quantile"):
            raise ValueError("a probability belongs to quantiles, and each quantile has one")
        if self.candidates is not None and self.kind != "quantile":
            raise ValueError("candidates on a query that is not a quantile")
        if self.max_rows_per_group is not None and self.by is None:
            raise ValueError("rows of each group on a query without groups")
        if self.max_groups is not None and self.max_rows_per_group is None:
            raise ValueError("a number of groups without a number of rows in each")
        if self.max_rows is not None and self.max_rows_per_group is not None:
            raise ValueError("a number of rows of all groups beside one of each group")
        if self.total_bounds is not None and (self.kind != "sum" or self.by is not None):
            raise ValueError("totals of records on a query that is not one sum")
        if self.total_bounds is not None and self.total_bounds[0] >= self.total_bounds[1]:
            raise ValueError("bounds of totals that don't increase")
        if self.weighted_by is not None and (self.kind != "sum" or self.total_bounds is not None):
            raise ValueError("weights on a query that is not a sum of all rows' values")
        return self

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The columns whose values it reads: of a regression the outcome last."""
        return names_of_values(self.column, self.on, self.outcome)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, but for those of its condition."""
        return (*self.value_columns, *column_names(self.by), *column_names(self.weighted_by))

    @property
    def is_sum(self) -> bool:
        """Whether it adds up values, or squares of them, on a grid."""
        by_period = self.kind == "series" and self.by is not None and self.column is not None
        return self.kind in SUMMED or by_period

    @property
    def is_capped(self) -> bool:
        """Whether some rows that match may not count."""
        return self.max_rows is not None or self.max_rows_per_group is not None

    def rows_that_count(self, rows: int, groups: int) -> tuple[int, int]:
        """Of a record of at most so many `rows`: the most that count, and the most in one group.

        `groups` is how many there are.
        """
        each = min(rows, self.max_rows_per_group or rows)
        most = min(rows, self.max_rows or rows, min(groups, self.max_groups or groups) * each)
        return most, min(each, most)

    @property
    def exact_probability(self) -> Fraction | None:
        """The probability of a quantile, as the decimal that it is written as."""
        return None if self.probability is None else decimal_of(self.probability)


class ProgramQuery(Statement):
    """A query that a program of the language answers; `parameters` are its public arguments."""

    name: Name
    kind: Literal["program"]
    program: Name
    parameters: dict[Name, bool | int | float | Line] = Field(default_factory=dict)


RANDOMIZED_RESPONSE = "randomized_response"
"""The kind of a query of perturbed answers."""

MOST_COLLECTED = 100.0
"""The largest epsilon of collection, in nats: beyond it no answer is ever another one."""


class CollectedQuery(Statement):
    """How many records hold each state of a column, from answers that were perturbed one by one.

    Each answer is the record's state with the probability `e^epsilon / (e^epsilon + k - 1)`, and
    else one of the other `k - 1` states, all equally likely.
    """

    name: Name
    kind: Literal["randomized_response"]
    column: Name
    epsilon: Annotated[Number, Field(gt=0, le=MOST_COLLECTED)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that it names."""
        return (self.column,)


FOUND_GROUPS = "found_groups"
"""The kind of a count by groups that are found in the data."""


class FoundGroupsQuery(Statement):
    """How many rows that match `where` each group has, of groups that are found in a column.

    Each count gets noise, and a group is shown where its noisy count reaches a threshold. That
    depends on `delta`: with at most this probability any of the groups is shown that a record is
    alone in. Rows of a record count as in a `TableQuery`.
    """

    name: Name
    kind: Literal["found_groups"]
    by: Name
    delta: Annotated[Number, Field(gt=0, lt=1)]
    where: ConditionText | None = None
    max_rows: Count | None = None
    max_groups: Count | None = None
    max_rows_per_group: Count | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> FoundGroupsQuery:
        if self.max_groups is not None and self.max_rows_per_group is None:
            raise ValueError("a number of groups without a number of rows in each")
        if self.max_rows is not None and self.max_rows_per_group is not None:
            raise ValueError("a number of rows of all groups beside one of each group")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that it names, but for those of its condition."""
        return (self.by,)

    def reach(self, rows: int) -> tuple[int, int, int]:
        """Of a record of at most so many `rows`: the most that count, in all and in one group.

        And the most groups that they are in. Nobody declares how many groups there are.
        """
        each = min(rows, self.max_rows_per_group or rows)
        most = min(rows, self.max_rows or rows, (self.max_groups or rows) * each)
        return most, min(each, most), min(self.max_groups or most, most)


def _form_of_query(plain: object) -> str:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    return str(kind) if kind in ("program", RANDOMIZED_RESPONSE, FOUND_GROUPS) else "table"


Query = Annotated[
    Annotated[TableQuery, Tag("table")]
    | Annotated[ProgramQuery, Tag("program")]
    | Annotated[CollectedQuery, Tag(RANDOMIZED_RESPONSE)]
    | Annotated[FoundGroupsQuery, Tag(FOUND_GROUPS)],
    Discriminator(_form_of_query),
]
