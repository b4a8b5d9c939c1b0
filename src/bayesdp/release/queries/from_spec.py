"""What a query reads and how it may change: everything but its price.

`asked_query` turns a query of the study file into an `AskedQuery`, or refuses it: a column that the
population does not speak about, a group key that is not declared, a mean over a group whose size is
private.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesdp.errors import UnsupportedError
from bayesdp.populations import MarkovChain
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.queries.asked_rows import (
    AskedRows,
    asked_rows,
    group_rows,
    require_public_part,
)
from bayesdp.release.queries.asked_values import asked_values
from bayesdp.release.queries.crossed_columns import Words, check_numbers, place_words
from bayesdp.release.queries.histogram_cells import clipped_to
from bayesdp.release.queries.products import named_at
from bayesdp.release.queries.public_blocks import block_of
from bayesdp.release.queries.quantiles import Choice, choice
from bayesdp.release.queries.record_rows import check_totals
from bayesdp.release.queries.series import series_of
from bayesdp.release.spec.column_labels import labels
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.columns import CellKey, Value
from bayesdp.statements.queries import AVERAGES, column_names
from bayesdp.statements.spends import THRESHOLDED
from bayesdp.tables.columns.column import Column
from bayesdp.theorems.markov_count import count_mechanism


def asked_query(study: StudySpec, position: int) -> AskedQuery:
    """The study's query at this position, as it is asked: what it reads and how it may change.

    Raises `InputError` saying why the query can't be asked, and `UnsupportedError` for what is not
    supported where a record is several rows, or with `tightness = "mechanism"`.
    """
    query = study.queries[position]
    assert query.kind != "program"
    key = study.query_key(position)
    rows = asked_rows(study, query, key)
    values = asked_values(study, query, key, rows)
    keys, column, cells = rows.keys, values.column, values.cells
    check_numbers(keys, cells, key)
    require_public_part(query, key, rows)
    check_totals(query, column, rows.that_count, key)
    several_rows = study.data.unit != "row"
    series = series_of(query, key, keys, cells, one_row=not several_rows)
    chosen = choice(query, column, key, len(keys or (None,)))
    masked = rows.are_private or (several_rows and not rows.as_many)
    named = _named(query, rows)
    read = {name: named.get(name, "where") for name in {*rows.columns, *named}}
    return AskedQuery(
        spec=query,
        position=position,
        kind="lipschitz" if _is_lipschitz(query, column, masked or several_rows) else "any",
        masked=masked,
        reads=labels(study, set(read), key, read),
        predicate=rows.where,
        column=column,
        counted=values.counted,
        cells=cells,
        bins=query.bins,
        keys=keys,
        moves_between_groups=(cells is not None and not values.products)
        or (several_rows and keys is not None)
        or rows.from_data is not None,
        mechanism=_mechanism(study, query, rows, key),
        block=block_of(study, rows.where),
        group_rows=group_rows(study, query, keys, key),
        rows_each=_rows_each(study, query, chosen, rows),
        group_words=place_words(column_names(query.by), keys, study.columns),
        cell_words=_cell_words(query, column, cells or _cut_states(chosen, column), study.columns),
        cell_bounds=None if column is None else clipped_to(column, study.columns),
        choice=chosen,
        series=series,
        cap=rows.cap,
        rows_that_count=rows.that_count,
        rows_in_group=rows.in_group,
        products=values.products,
        key=key,
        weights=None if query.weighted_by is None else study.columns[query.weighted_by],
        from_data=rows.from_data,
    )


def _rows_each(study: StudySpec, query: QuerySpec, chosen: Choice | None, rows: AskedRows) -> int:
    """How many rows each record has, where the query is about all of them; else 1."""
    all_of_them = query.kind in AVERAGES or (chosen is not None and rows.as_many)
    return study.data.rows_per_record if all_of_them else 1


def _named(query: QuerySpec, rows: AskedRows) -> dict[str, str]:
    """The columns that the query names outside of its condition, and under which of its keys."""
    named = named_at(query)
    if query.weighted_by is not None:
        named |= {query.weighted_by: "weighted_by"}
    if rows.from_data is not None:
        named |= {rows.from_data.column: "by"}
    return named


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


def _mechanism(study: StudySpec, query: QuerySpec, rows: AskedRows, key: str) -> str:
    """The mechanism's name, by which `theorems.markov_count` may use what it is (theory 3.9 b).

    Of the `query` at `key` of the `study`, about these `rows`. Raises `UnsupportedError` where the
    name would say more than is proved.
    """
    if rows.from_data is not None:
        return THRESHOLDED
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
    counts = query.kind in ("count", "proportion") and query.by is None and rows.where is not None
    read = sorted(rows.columns)
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

    **Lipschitz or not.** 3.8 is about sums, means and other linear queries of clipped values. A
    count of a predicate, a proportion or a histogram jumps where the predicate does, a quantile
    where values change their order, a sum under a private `where` too, and so does a value that
    replaces a missing one. On a Gaussian population such a query costs the cluster bound `m eps`,
    and the theorems of 3.8 are listed as refused, with this reason.
    """
    summed = query.kind in ("sum", "mean") or (query.kind == "series" and query.by is not None)
    if not summed or column is None or masked or query.weighted_by:
        return False
    return column.bounds is not None and column.imputed is None
