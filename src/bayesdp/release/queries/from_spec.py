"""What a query reads and how it may change: everything but its price.

`shape` turns a query of the study file into a `Shape`, or refuses it: a column that the population
does not speak about, a group key that is not declared, a mean over a group whose size is private.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesdp.errors import InputError, UnsupportedError, did_you_mean, first_names, toml_text
from bayesdp.populations import MarkovChain
from bayesdp.release.queries.crossed_columns import (
    Words,
    check_numbers,
    contingency_cells,
    place_text,
    place_words,
    quoted,
)
from bayesdp.release.queries.found_groups import found_groups, is_found
from bayesdp.release.queries.histogram_cells import cells_of, clipped_to
from bayesdp.release.queries.products import check_slopes, named_at, products_of, regression_cells
from bayesdp.release.queries.public_blocks import block_of
from bayesdp.release.queries.quantiles import Choice, choice
from bayesdp.release.queries.record_rows import (
    cap_of,
    check_totals,
    require_public_rows,
    rows_that_count,
)
from bayesdp.release.queries.series import check_by, private_periods, series_of
from bayesdp.release.queries.shape import Shape
from bayesdp.release.spec.column_labels import labels
from bayesdp.release.spec.parts import QuerySpec, refuse_keys
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.columns import CellKey, Value
from bayesdp.statements.queries import (
    AVERAGES,
    OF_MATCHING,
    PRODUCTS,
    SUMMED,
    column_names,
)
from bayesdp.statements.spends import THRESHOLDED
from bayesdp.tables.columns.column import Column, group_keys
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.theorems.markov_count import count_mechanism


def shape(study: StudySpec, position: int) -> Shape:
    """The shape of the study's query at this position: what it reads and how it may change.

    Raises `InputError` saying why the query can't be asked, and `UnsupportedError` for what is not
    supported where a record is several rows, or with `tightness = "mechanism"`.
    """
    query = study.queries[position]
    assert query.kind != "program"
    key = study.query_key(position)
    where = _predicate(study, query, key)
    cap = cap_of(study, query, key)
    from_data = found_groups(study, query, cap)
    keys = _groups(study, query, key) if from_data is None else None
    private_where = where is not None and any(
        study.columns[name].is_private for name in where.columns
    )
    several_rows = study.data.unit != "row"
    averaged = query.kind in AVERAGES
    if several_rows and averaged:
        require_public_rows(study, query, key)
    # Each record then has as many rows among those that count as any other.
    some = query.by is not None or cap is not None or (where is not None and not averaged)
    as_many = study.data.balanced and not some
    most_rows, most_in_group = rows_that_count(study.data.rows_per_record, cap, keys)
    if from_data is not None:
        most_rows, most_in_group = from_data.rows, from_data.rows_in_group
    column, cells = _column_and_cells(study, query, key, private_where)
    counted = column_names(query.column) if column is None and query.kind not in PRODUCTS else ()
    products = products_of(query, lambda name: _value_column(study, query, key, name))
    check_slopes(query, products, key)
    cells = regression_cells(query, key) or cells
    check_numbers(keys, cells, key)
    named = named_at(query)
    if query.weighted_by is not None:
        named |= {query.weighted_by: "weighted_by"}
    if from_data is not None:
        named |= {from_data.column: "by"}
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
        divided=(cells is not None and not products)
        or (several_rows and keys is not None)
        or from_data is not None,
        mechanism=_mechanism(study, query, where, key) if from_data is None else THRESHOLDED,
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
        from_data=from_data,
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
    if is_found(study, query):
        return None, None
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
        expected="only on a histogram",
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
            expected="only with by, on an average: a mean, proportion, variance, covariance "
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
