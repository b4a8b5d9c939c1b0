"""What a query of a study asks, once it was read: everything but its price. See `from_spec`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from bayesdp.accounting import Block
from bayesdp.notions import Kind
from bayesdp.release.queries.crossed_columns import Words
from bayesdp.release.queries.found_groups import FoundGroups
from bayesdp.release.queries.histogram_cells import intervals_sentence
from bayesdp.release.queries.products import Design
from bayesdp.release.queries.quantiles import Choice
from bayesdp.release.queries.series import AskedSeries
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import (
    AVERAGES,
    OF_MATCHING,
    interval_of_products,
    product_unit,
    squared_unit,
)
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids
from bayesdp.tables.queries.query import Cap


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query that may be asked, with the facts that its price depends on.

    * Its place: `spec` is the query as the study declares it, at `key`. Its `position` among the
      study's queries counts from 0.
    * How it moves: `kind` is `lipschitz` for sums and means of clipped values. `masked`: a row may
      count as exactly 0, depending on private values. `moves_between_groups`: replacing a record
      may move rows from some cells or groups to others (a record that is one row stays in its
      group, which is public). `reads` labels the private columns that it reads. `mechanism` is what
      the ledger records: more than the noise where `tightness = "mechanism"`.
    * Rows: those that match the `predicate`; all of them in `block`, if they lie in one block of a
      public column. Of a record's rows at most `rows_that_count` count, at most `rows_in_group` of
      them in a group, and `cap` says which are left out, if any are. `rows_each` is how many rows
      each record has, where an average is over them.
    * Values: of one `column`, each multiplied by that of the column `weights`; or of the columns
      `products`, whose values a covariance or regression multiplies.
    * Cells of a histogram: `cells`, made by `bins` if it has some; of several columns these are
      `counted`, and there is no `column`. The cells of a regression are its moments. `cell_bounds`
      are those that values are clipped to before cells are told. `cell_words` show the cells.
    * Groups: `keys` are the declared groups of `by`, `group_rows` their declared numbers of rows,
      and `group_words` show them. `from_data` is what a count asks whose groups are found in the
      data.
    * Other kinds: `choice` says what a quantile is chosen among, and by which scores; `series` what
      a series asks of its periods, which are its groups or cells.

    Cells and groups of several columns are tuples of values. They are shown as a text for each
    column, those of columns with cuts as intervals.
    """

    spec: QuerySpec
    position: int
    kind: Kind
    masked: bool
    reads: tuple[str, ...]
    moves_between_groups: bool = False
    mechanism: str = "discrete-laplace"
    key: str = ""
    # -- rows --
    predicate: Predicate | None = None
    block: Block | None = None
    cap: Cap | None = None
    rows_that_count: int = 1
    rows_in_group: int = 1
    rows_each: int = 1
    # -- values --
    column: Column | None = None
    weights: Column | None = None
    products: tuple[Column, ...] = ()
    # -- cells --
    cells: tuple[CellKey, ...] | None = None
    bins: tuple[float, ...] | None = None
    counted: tuple[str, ...] = ()
    cell_bounds: tuple[float, float] | None = None
    cell_words: Mapping[CellKey, Words] = field(default_factory=dict)
    # -- groups --
    keys: tuple[CellKey, ...] | None = None
    group_rows: Mapping[CellKey, int] | None = None
    group_words: Mapping[CellKey, Words] = field(default_factory=dict)
    from_data: FoundGroups | None = None
    # -- other kinds --
    choice: Choice | None = None
    series: AskedSeries | None = None

    @property
    def cells_sentence(self) -> str:
        """Which intervals a histogram counts, and what values are clipped to before.

        For a quantile: what it is chosen among, and how; for a series: of what its numbers are.
        Empty for other queries, and for a histogram of states that are not intervals.
        """
        column = self.column
        if self.series is not None:
            return f"{self.spec.name} {self.series.sentence}"
        if self.choice is not None and column is not None:
            return f"{self.spec.name} {self._chosen_among(column)}"
        if self.cells is None or column is None or (column.cuts is None and self.bins is None):
            return ""
        cells = [", ".join(self.cell_words[cell]) for cell in self.cells]
        return f"{self.spec.name} counts {intervals_sentence(cells, self.cell_bounds)}"

    def _chosen_among(self, column: Column) -> str:
        """How a quantile is chosen, as the rest of a sentence."""
        assert self.choice is not None
        candidates, unit = self.choice.candidates, f" {column.unit}" if column.unit else ""
        among = (
            f"is one of {len(candidates)} numbers from {exact_text(candidates[0])} to "
            f"{exact_text(candidates[-1])}{unit}"
        )
        if column.cuts is not None:
            words = [", ".join(interval) for interval in self.cell_words.values()]
            return f"is one of the intervals {intervals_sentence(words, self.cell_bounds)}"
        counts = "" if self.choice.edges is None else "; each value counts as the nearest of them"
        return f"{among}{counts}."

    @property
    def integer_valued(self) -> bool:
        """Whether the query counts rows, and does not sum values."""
        if self.products:
            return False
        return self.column is None or self.cells is not None or self.choice is not None

    def step(self, grid: Grid | Grids | None) -> Fraction:
        """The length of an integer step in the query's unit; of a quantile's scores, in rows."""
        if self.choice is not None:
            return self.choice.step
        if isinstance(grid, Grids):
            steps = math.prod(part.step for part in grid.parts)
            return Fraction(1, 4**grid.bits) if self.cells is not None else Fraction(steps)
        length = grid.step ** (2 if self.squares else 1) if grid is not None else Fraction(1)
        return length / self.fineness

    @property
    def fineness(self) -> int:
        """How many steps of what gets noise one step of a number is: more than 1 for a matrix."""
        return self.series.used.fineness if self.series is not None else 1

    @property
    def interval(self) -> tuple[float, float] | None:
        """Between which numbers the values lie that it adds up: those of a column, or products."""
        interval = None if self.column is None else self.column.interval
        if interval is None or self.weights is None or self.weights.interval is None:
            return interval
        return interval_of_products(interval, self.weights.interval)

    @property
    def squares(self) -> bool:
        """Whether its integers are sums of squared deviations, in squared steps of the grid."""
        return self.spec.kind == "variance"

    @property
    def unit(self) -> str:
        """The unit of its numbers: the column's, or its square; none of counts and quantiles."""
        if self.products:
            units = [column.unit or "" for column in self.products]
            return product_unit(*units) if self.cells is None else ""
        unit = "" if self.column is None or self.integer_valued else self.column.unit or ""
        return squared_unit(unit) if self.squares else unit

    @property
    def design(self) -> Design | None:
        """The columns of a regression; `None` for queries of other kinds."""
        if self.spec.kind != "regression":
            return None
        return Design(
            self.spec.value_columns,
            tuple(column.interval or (0.0, 0.0) for column in self.products),
            tuple(column.unit or "" for column in self.products),
        )

    @property
    def averaged(self) -> bool:
        """Whether totals are divided by the number of rows that they are over."""
        return self.spec.kind in AVERAGES

    def rows(self, n: int | None) -> int | None:
        """The fewest rows that a number of the query is over; `None` where only the data tell.

        `n` is the number of records. The sizes of groups are declared or not known. A mean with a
        condition is over the rows that match, a proportion over all.
        """
        if self.group_rows is not None:
            return min(self.group_rows.values())
        if self.averaged and (self.spec.by is not None or self._matching_only):
            return None
        return None if n is None else n * self.rows_each

    @property
    def _matching_only(self) -> bool:
        return self.spec.kind in OF_MATCHING and self.spec.where is not None

    def unit_words(self) -> str:
        """What an error of the query is of, with its unit: of a mean, of a total, of a count."""
        if self.choice is not None:
            return "ranks"
        unit = f"{self.unit} " if self.unit else ""
        noun_of = {
            "mean": "the mean",
            "sum": "the total",
            "variance": "the variance",
            "covariance": "the covariance",
            "regression": "each moment",
            "proportion": "the share",
            "series": "the count" if self.integer_valued else "the total",
        }
        return f"{unit}of {noun_of.get(self.spec.kind, 'the count')}"

    def words_of_rows(self) -> str:
        """The rows that a number of the query is over, in words."""
        if self._matching_only:
            return "the rows that match"
        return "the rows of the group" if self.spec.by is not None else "n"


ABOUT_RANKS = (
    "The error of a quantile is that of its rank, in rows; how far its value is off depends on "
    "private values."
)
"""What errors in ranks mean, said once beside all quantiles of a study."""


def cells_sentences(asked_queries: Iterable[AskedQuery]) -> list[str]:
    """What the queries' cells and candidates are, and what an error in ranks is."""
    asked_queries = list(asked_queries)
    quantiles = any(asked.choice is not None for asked in asked_queries)
    about = [ABOUT_RANKS] if quantiles else []
    return [*filter(None, (asked.cells_sentence for asked in asked_queries)), *about]
