"""The cells of histograms, and groups and cells as they are shown: cuts and bins as intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bayesdp.errors import InputError
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import Value
from bayesdp.statements.queries import cell_labels, cut_labels
from bayesdp.tables.columns.column import Column

MOST_CELLS = 2000
"""The most cells of a histogram: each is a column of the data engine's query."""


def check_not_found(column: Column, key: str) -> None:
    """`InputError` below a query's `key` for a column whose groups are found in the data."""
    if column.groups is not None:
        raise InputError(
            f"{key}.column",
            column.name,
            expected="a column with bounds or with declared states: nobody declares what stands in "
            "this one",
            remedy=f'Ask for kind = "count" with by = "{column.name}" in the place of column, '
            "which shows the groups above a threshold.",
        )


def cells_of(query: QuerySpec, column: Column, key: str) -> tuple[Value, ...]:
    """The cells of a histogram: the states of its `column`, or the labels of the `query`'s bins.

    Raises `InputError` below the query's `key` for bins that can't be, and for too many cells.
    """
    check_not_found(column, key)
    if query.bins is None:
        if column.levels is None:
            raise InputError(
                f"{key}.bins",
                expected="the edges of the bins, since the column has no declared states",
                remedy="Write bins = [lower, ..., upper].",
                shown=False,
            )
        _check_cells(len(column.levels), f"data.columns.{column.name}.states")
        return column.levels
    edges = query.bins
    if column.bounds is None:
        raise InputError(
            f"{key}.bins",
            list(edges),
            expected="bins on a column with bounds",
            remedy="Leave bins out: each declared state is a cell already.",
        )
    if len(edges) < 3 or any(low >= high for low, high in pairwise(edges)):
        raise InputError(
            f"{key}.bins",
            list(edges),
            expected="at least three increasing edges",
            remedy="A bin lies between two edges, and a single bin counts all records.",
        )
    low, high = column.bounds
    span = f"{exact_text(low)} and {exact_text(high)}"
    if not (low < edges[-1] and edges[0] <= high):
        raise InputError(
            f"{key}.bins",
            list(edges),
            expected=f"bins that values between the bounds {span} reach",
            remedy="Values are clipped to the bounds: all of these bins would be empty.",
        )
    _check_cells(len(edges) - 1, f"{key}.bins")
    return cell_labels(edges, column.bounds)


def _check_cells(count: int, key: str) -> None:
    if count > MOST_CELLS:
        raise InputError(
            key,
            count,
            expected=f"at most {MOST_CELLS} cells of a histogram",
            remedy="Use fewer and wider ones: each has noise of its own.",
        )


_MOST_INTERVALS = 6
"""A sentence that lists intervals leaves out those between the first ones and the last."""


def intervals_sentence(intervals: Sequence[str], bounds: tuple[float, float] | None) -> str:
    """The end of a sentence about these intervals, as `cell_labels` and `cut_labels` have them.

    A label of the form `[0, 20)` contains its first end and not its second. `bounds` are those that
    values are clipped to before they are counted, if there are any.
    """
    shown = list(intervals)
    if len(shown) > _MOST_INTERVALS:
        shown = [*shown[: _MOST_INTERVALS - 2], "...", shown[-1]]
    first = ""
    if bounds is not None:
        low, high = map(exact_text, bounds)
        first = f"; values are clipped to [{low}, {high}] first"
    return f"{', '.join(shown)}{first}."


def level_words(column: Column, columns: Mapping[str, Column]) -> dict[Value, str]:
    """What each value of a column with states means, as it is shown: of cuts their intervals.

    `columns` are those of the study, among which the source of a derived column may be.
    """
    levels = column.levels or ()
    if column.cuts is None:
        return {level: str(level) for level in levels}
    return dict(zip(levels, cut_labels(column.cuts, clipped_to(column, columns)), strict=True))


def clipped_to(column: Column, columns: Mapping[str, Column]) -> tuple[float, float] | None:
    """The bounds that the column's values are clipped to, or those of the column it comes from."""
    source = columns.get(column.source or "")
    return column.bounds if source is None else source.bounds
