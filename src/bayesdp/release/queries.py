"""What a query reads and how it may change: everything but its price.

`shape` turns a query of the study file into a `Shape`, or refuses it: a column that the population
does not speak about, a group key that is not declared, a mean over a group whose size is private.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from bayesdp.accounting import Block
from bayesdp.errors import InputError, UnsupportedError, did_you_mean, first_names, toml_text
from bayesdp.notions import Kind
from bayesdp.populations import MarkovChain
from bayesdp.release.blocks import block_of
from bayesdp.release.cells import cells_of, clipped_to, intervals_sentence
from bayesdp.release.crossed import (
    Words,
    check_numbers,
    contingency_cells,
    place_text,
    place_words,
    quoted,
)
from bayesdp.release.labels import labels
from bayesdp.release.products import check_slopes, named_at, products_of, regression_cells
from bayesdp.release.quantiles import Choice, choice
from bayesdp.release.record_rows import (
    cap_of,
    check_totals,
    require_public_rows,
    rows_that_count,
)
from bayesdp.release.regressions import Design
from bayesdp.release.series import AskedSeries, check_by, private_periods, series_of
from bayesdp.release.spec import StudySpec
from bayesdp.release.spec_parts import QuerySpec, refuse_keys
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import CellKey, Value
from bayesdp.statements.queries import (
    AVERAGES,
    OF_MATCHING,
    PRODUCTS,
    SUMMED,
    column_names,
    interval_of_products,
    product_unit,
    squared_unit,
)
from bayesdp.tables.columns import Column, group_keys
from bayesdp.tables.grid import Grid
from bayesdp.tables.grids import Grids
from bayesdp.tables.predicates import Predicate
from bayesdp.tables.queries import Cap
from bayesdp.theorems.markov_count import count_mechanism


@dataclass(frozen=True, slots=True)
class Shape:
    """A query that may be asked, with the facts that its price depends on.

    `kind` is `lipschitz` for sums and means of clipped values. `masked` says that a row may count
    as exactly 0, depending on private values. `reads` labels the private columns that it reads.
    `block` is the block of a public column in which every record that it reads lies, if any does.
    `cells` are the cells of a histogram, `keys` the declared groups of `by`; those of several
    columns are tuples of their values. `counted` are the names of the columns of which a histogram
    is, where these are several; it has no `column` then. `divided` says that
    replacing a record may move rows from some cells or groups to others; the groups of a record
    that is one row are public, so it stays in its own. `mechanism` is what the ledger records: more
    than the noise where `tightness = "mechanism"`. `group_rows` are the declared numbers of rows
    of the groups, `rows_each` is how many rows each record has, where an average is over them.
    `choice` says what a quantile is chosen among, and by which scores; `series` what a series asks
    of its periods, which are its groups or cells.
    `group_words` and `cell_words` are the groups and cells as they are shown, a text for each
    column, those of columns with cuts as intervals; `cell_bounds` are those that values are
    clipped to before cells are told. Of a record's rows at most `rows_that_count` count, at most
    `rows_in_group` of them in a group, and `cap` says which rows are left out, if any are.
    `products` are the columns whose values a covariance or regression multiplies; the cells of a
    regression are its moments. `key` is where the study declares it. `weights` is the column that
    its values are multiplied by.
    """

    spec: QuerySpec
    position: int
    kind: Kind
    masked: bool
    reads: tuple[str, ...]
    predicate: Predicate | None = None
    column: Column | None = None
    counted: tuple[str, ...] = ()
    cells: tuple[CellKey, ...] | None = None
    bins: tuple[float, ...] | None = None
    keys: tuple[CellKey, ...] | None = None
    divided: bool = False
    mechanism: str = "discrete-laplace"
    block: Block | None = None
    group_rows: Mapping[CellKey, int] | None = None
    rows_each: int = 1
    group_words: Mapping[CellKey, Words] = field(default_factory=dict)
    cell_words: Mapping[CellKey, Words] = field(default_factory=dict)
    cell_bounds: tuple[float, float] | None = None
    choice: Choice | None = None
    series: AskedSeries | None = None
    cap: Cap | None = None
    rows_that_count: int = 1
    rows_in_group: int = 1
    products: tuple[Column, ...] = ()
    key: str = ""
    weights: Column | None = None

    @property
    def cells_sentence(self) -> str:
        """Which intervals a histogram counts, and what values are clipped to before.

        For a quantile: what it is chosen among, and how; for a series: of what its numbers are.
        Empty for other queries, and for a histogram of states that are no intervals.
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


def shape(study: StudySpec, position: int) -> Shape:
    """The shape of the study's query at this position: what it reads and how it may change.

    Raises `InputError` saying why the query can't be asked, and `UnsupportedError` for what is not
    supported where a record is several rows, or with `tightness = "mechanism"`.
    """
    query = study.queries[position]
    assert query.kind != "program"
    key = study.query_key(position)
    where = _predicate(study, query, key)
    keys = _groups(study, query, key)
    private_where = where is not None and any(
        study.columns[name].is_private for name in where.columns
    )
    several_rows = study.data.unit != "row"
    averaged = query.kind in AVERAGES
    cap = cap_of(study, query, key)
    if several_rows and averaged:
        require_public_rows(study, query, key)
    # Each record then has as many rows among those that count as any other.
    some = query.by is not None or cap is not None or (where is not None and not averaged)
    as_many = study.data.balanced and not some
    most_rows, most_in_group = rows_that_count(study.data.rows_per_record, cap, keys)
    column, cells = _column_and_cells(study, query, key, private_where)
    counted = column_names(query.column) if column is None and query.kind not in PRODUCTS else ()
    products = products_of(query, lambda name: _value_column(study, query, key, name))
    check_slopes(query, products, key)
    cells = regression_cells(query, key) or cells
    check_numbers(keys, cells, key)
    named = named_at(query)
    if query.weighted_by is not None:
        named |= {query.weighted_by: "weighted_by"}
    read = set(where.columns if where is not None else ()) | named.keys()
    if query.kind in OF_MATCHING and private_where:
        raise InputError(
            f"{key}.where",
            query.where,
            expected=f"a condition on public columns only, for a {query.kind}",
            remedy=f"How many rows match is private. Ask for the {query.kind} of all rows, or of "
            "those that a public condition names."
            if query.kind != "mean"
            else 'How many rows match is private. Write kind = "sum" instead, and a second '
            "[[query]] with the same where = "
            f'{toml_text(query.where or "")} and kind = "count"; the mean is about their ratio.',
        )
    check_totals(query, column, most_rows, key)
    series = series_of(query, key, keys, cells, one_row=not several_rows)
    chosen = choice(query, column, key, len(keys or (None,)))
    masked = private_where or (several_rows and not as_many)
    return Shape(
        spec=query,
        position=position,
        kind="lipschitz" if _is_lipschitz(query, column, masked or several_rows) else "any",
        masked=masked,
        reads=labels(study, read, key, {name: named.get(name, "where") for name in read}),
        predicate=where,
        column=column,
        counted=counted,
        cells=cells,
        bins=query.bins,
        keys=keys,
        divided=(cells is not None and not products) or (several_rows and keys is not None),
        mechanism=_mechanism(study, query, where, key),
        block=block_of(study, where),
        group_rows=_group_rows(study, query, keys, key),
        rows_each=study.data.rows_per_record if averaged or (chosen and as_many) else 1,
        group_words=place_words(column_names(query.by), keys, study.columns),
        cell_words=_cell_words(query, column, cells or _cut_states(chosen, column), study.columns),
        cell_bounds=None if column is None else clipped_to(column, study.columns),
        choice=chosen,
        series=series,
        cap=cap,
        rows_that_count=most_rows,
        rows_in_group=most_in_group,
        products=products,
        key=key,
        weights=None if query.weighted_by is None else study.columns[query.weighted_by],
    )


def _cut_states(chosen: Choice | None, column: Column | None) -> tuple[Value, ...] | None:
    """The states that a quantile of a column with cuts is one of; `None` for other queries."""
    cut = chosen is not None and column is not None and column.cuts is not None
    return column.levels if cut and column is not None else None


def _cell_words(
    query: QuerySpec,
    column: Column | None,
    cells: tuple[CellKey, ...] | None,
    columns: Mapping[str, Column],
) -> dict[CellKey, Words]:
    """The cells of a histogram, or the states of cuts, as they are shown; else none."""
    names = column_names(query.column)
    if query.kind == "regression" or (column is not None and query.bins is not None):
        return {cell: (str(cell),) for cell in cells or ()}
    return place_words(names, cells, columns)


def _column_and_cells(
    study: StudySpec, query: QuerySpec, key: str, private_where: bool
) -> tuple[Column | None, tuple[CellKey, ...] | None]:
    """The column whose values are summed or counted by cell, and the cells of a histogram.

    A histogram of several columns has no single one.
    """
    if query.kind in ("count", "proportion") or (query.kind == "series" and not query.column):
        _require_predicate(query, key, private_where)
        return None, None
    names = column_names(query.column)
    if query.kind in PRODUCTS:
        return None, None
    if len(names) > 1:
        return None, contingency_cells(
            [_value_column(study, query, key, name) for name in names], key
        )
    column = _value_column(study, query, key, *names)
    if query.kind == "series" and query.by is None:
        return column, private_periods(query, column, key)
    if query.kind == "histogram":
        return column, cells_of(query, column, key)
    refuse_keys(
        query,
        ("bins",),
        key,
        expected="nothing but on a histogram",
        remedy='Leave bins out, or write kind = "histogram".',
    )
    return column, None


def _mechanism(study: StudySpec, query: QuerySpec, where: Predicate | None, key: str) -> str:
    """The mechanism's name, by which `theorems.markov_count` may use what it is (theory 3.9 b)."""
    if query.tightness == "dp":
        return "discrete-laplace"
    population, name = study.population, f"{key}.tightness"
    if not isinstance(population, MarkovChain) or study.budget.notion != "bdp":
        raise UnsupportedError(
            name,
            query.tightness,
            expected='"dp", unless the population is a Markov chain and the notion "bdp"',
            remedy="For other populations the level is that of any mechanism.",
        )
    if not population.complete:
        raise UnsupportedError(
            name,
            query.tightness,
            expected="a chain whose series has no gap, since what a count leaks depends on gaps",
            remedy="Write below [population]: complete = true if there is one series without gaps.",
        )
    counts = query.kind in ("count", "proportion") and query.by is None and where is not None
    read = sorted(where.columns) if where is not None else []
    if not counts or population.states != 2 or read != sorted(population.covers):
        raise UnsupportedError(
            name,
            query.tightness,
            expected="a count or proportion of one state of the covered two-state column, over all "
            "records (no groups, no other column in where)",
            remedy='Leave tightness out: other queries are priced at the DP level ("dp").',
        )
    column = study.columns[read[0]]
    behind = [column, study.columns.get(column.source or "", column)]
    if len(read) != 1 or any(declared.imputed is not None for declared in behind):
        raise UnsupportedError(
            name, query.tightness, expected="one covered column without imputed values"
        )
    return count_mechanism(population.length)


def _is_lipschitz(query: QuerySpec, column: Column | None, masked: bool) -> bool:
    """Sums and means of clipped values, every row of them always counted as it is.

    A value that may be missing, and is then replaced, jumps: that is not clipping. Nor are states.
    """
    summed = query.kind in ("sum", "mean") or (query.kind == "series" and query.by is not None)
    if not summed or column is None or masked or query.weighted_by:
        return False
    return column.bounds is not None and column.imputed is None


def _predicate(study: StudySpec, query: QuerySpec, key: str) -> Predicate | None:
    if query.where is None:
        return None
    return Predicate.parse(query.where, study.columns, key=f"{key}.where")


def _groups(study: StudySpec, query: QuerySpec, key: str) -> tuple[CellKey, ...] | None:
    if query.by is None:
        return None
    check_by(query, key)
    return group_keys(study.columns, query.by, key=f"{key}.by")


def _group_rows(
    study: StudySpec, query: QuerySpec, keys: tuple[CellKey, ...] | None, key: str
) -> dict[CellKey, int] | None:
    """The declared size of each group. Raises `InputError` for sizes that can't be."""
    sizes = query.group_sizes
    if sizes is None:
        return None
    key = f"{key}.group_sizes"
    if keys is None or query.kind not in AVERAGES:
        raise InputError(
            key,
            sizes,
            expected="nothing but with by on an average: a mean, proportion, variance, covariance "
            "or regression",
            remedy="Leave it out.",
        )
    names = {place_text(group): group for group in keys}
    if len(names) < len(keys):
        raise InputError(
            key,
            sizes,
            expected="nothing where two groups have the same name, as here",
            remedy="Rename states that hold a comma, or leave it out.",
        )
    for name, size in sizes.items():
        if name not in names:
            raise InputError(
                f"{key}.{name}",
                size,
                expected=f"a declared group of {quoted(query.by)}",
                remedy=did_you_mean(name, names),
            )
        if size < 1:
            raise InputError(f"{key}.{name}", size, expected="a number of rows, at least 1")
    missing = [name for name in names if name not in sizes]
    if missing:
        raise InputError(
            key, sizes, expected="the size of every group", remedy=f"Add {first_names(missing)}."
        )
    n, total = study.data.n, sum(sizes.values())
    some = query.kind in OF_MATCHING and query.where is not None
    if isinstance(n, int) and (total > n or (total < n and not some)):
        raise InputError(
            key,
            sizes,
            expected=f"sizes that add up to {'at most ' if some else ''}data.n = {n}",
            remedy=f"They add up to {total}.",
        )
    return {group: sizes[name] for name, group in names.items()}


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


ABOUT_RANKS = (
    "The error of a quantile is that of its rank, in rows; how far its value is off depends on "
    "private values."
)
"""What errors in ranks mean, said once beside all quantiles of a study."""


def cells_sentences(shapes: Iterable[Shape]) -> list[str]:
    """What the queries' cells and candidates are, and what an error in ranks is."""
    shapes = list(shapes)
    quantiles = any(shape.choice is not None for shape in shapes)
    about = [ABOUT_RANKS] if quantiles else []
    return [*filter(None, (shape.cells_sentence for shape in shapes)), *about]
