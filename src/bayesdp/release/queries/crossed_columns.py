"""Tables of two ways or more: groups and cells that are combinations of several columns' states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesdp.errors import InputError
from bayesdp.release.queries.histogram_cells import check_not_found, level_words
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import column_names
from bayesdp.tables.columns.column import Column, combinations_of

Words = tuple[str, ...]
"""A group or cell as it is shown: one text for each column that it is told by."""

MOST_NUMBERS = 40_000
"""The most numbers that a query of crossed columns releases: cells times groups."""


def crossed(query: QuerySpec, position: int) -> QuerySpec:
    """The query at this position of the study; a list of one column is the column itself.

    Raises `InputError` for lists without a column, or with one twice, and for several columns of a
    query that is not a histogram of their states.
    """
    changes = {}
    for key in ("by", "column", "on"):
        named = getattr(query, key)
        if not isinstance(named, tuple):
            continue
        place = f"query[{position}].{key}"
        if not named or len(set(named)) < len(named):
            raise InputError(
                place,
                list(named),
                expected="names of columns, each of them once",
                remedy="Write a single column as a text.",
            )
        if len(named) == 1:
            changes[key] = named[0]
        elif key == "column":
            _check_contingency(query, place)
    return query.model_copy(update=changes)


def _check_contingency(query: QuerySpec, place: str) -> None:
    if query.kind in ("count", "proportion"):
        return  # which are of no column: that is said with what a count needs
    if query.kind == "covariance":
        return
    if query.kind != "histogram":
        raise InputError(
            place,
            list(column_names(query.column)),
            expected=f"one column, of which a {query.kind} is",
            remedy='Write kind = "histogram" for the counts of all combinations of their states, '
            "or a query for each column.",
        )
    if query.bins is not None:
        raise InputError(
            place.replace(".column", ".bins"),
            list(query.bins),
            expected="nothing on a histogram of several columns, whose states are counted",
            remedy="Declare a column with the cuts and name it: "
            'age_group = { from = "age", cuts = [18, 65] }.',
        )


def contingency_cells(columns: Sequence[Column], key: str) -> tuple[CellKey, ...]:
    """The cells of a histogram of several columns: all combinations of their states.

    Raises `InputError` below the query's `key` for a column without states, and for too many.
    """
    for column in columns:
        check_not_found(column, key)
        if column.levels is None:
            raise InputError(
                f"{key}.column",
                column.name,
                expected="columns with declared states",
                remedy="Declare a column with cuts of it, and name that: "
                f'{{ from = "{column.name}", cuts = [...] }}.',
            )
    levels = [column.levels or () for column in columns]
    return combinations_of(levels, [column.name for column in columns], f"{key}.column")


def check_numbers(
    groups: Sequence[CellKey] | None, cells: Sequence[CellKey] | None, key: str
) -> None:
    """`InputError` at the query's `key` for more numbers than a query of crossed columns has."""
    sizes = [len(groups or (None,)), len(cells or (None,))]
    crossed_any = any(isinstance(next(iter(part or ()), None), tuple) for part in (groups, cells))
    if crossed_any and sizes[0] * sizes[1] > MOST_NUMBERS:
        raise InputError(
            f"{key}.by",
            expected=f"at most {MOST_NUMBERS} numbers: {sizes[0]} groups with {sizes[1]} cells "
            f"each are {sizes[0] * sizes[1]}",
            remedy="Name fewer columns, or columns of fewer states.",
            shown=False,
        )


def place_words(
    names: tuple[str, ...], places: Sequence[CellKey] | None, columns: Mapping[str, Column]
) -> dict[CellKey, Words]:
    """How each group, or cell of states, of the columns `names` is shown: of cuts as intervals."""
    words = [level_words(columns[name], columns) for name in names]
    return {
        place: tuple(
            words[i].get(value, str(value))
            for i, value in enumerate(place if isinstance(place, tuple) else (place,))
        )
        for place in places or ()
    }


def place_text(place: CellKey) -> str:
    """A group as the keys of `group_sizes` name it: `north`, or `north, f` of several columns."""
    return ", ".join(map(str, place)) if isinstance(place, tuple) else str(place)


def quoted(named: str | tuple[str, ...] | None) -> str:
    """The columns that a query names, each in quotes: 'region' x 'sex'."""
    return " x ".join(f"'{name}'" for name in column_names(named))
