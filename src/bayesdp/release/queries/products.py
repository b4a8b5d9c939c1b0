"""Queries of products of columns: covariances, and the moments of linear regressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayesdp.errors import InputError, toml_text
from bayesdp.release.spec.parts import OF_REGRESSIONS, QuerySpec, refuse_keys
from bayesdp.statements.queries import MOST_MOMENTS_OF, PRODUCTS, column_names, moment_names
from bayesdp.tables.columns.column import Column

_MOST_SLOPE = 1e200
"""How much larger an outcome's range may be than that of a column which it is regressed on."""


@dataclass(frozen=True, slots=True)
class Design:
    """The columns of a regression, the outcome last: names, bounds and units."""

    names: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    units: tuple[str, ...]

    def words(self) -> str:
        """What is regressed on what."""
        on = ", ".join(f"'{name}'" for name in self.names[:-1])
        return f"'{self.names[-1]}' on {on}"


def check_product_keys(query: QuerySpec, key: str) -> None:
    """`InputError` for what a covariance or regression at `key` lacks, or another `query` has."""
    if query.kind != "regression":
        refuse_keys(
            query,
            OF_REGRESSIONS,
            key,
            expected="only on a regression",
            remedy='Leave it out, or write kind = "regression".',
        )
    if query.kind == "covariance":
        expected = "only on a histogram"
        refuse_keys(query, ("bins",), key, expected)
        _check_two(query, f"{key}.column")
    if query.kind == "regression":
        _check_regression(query, key)


def _check_two(query: QuerySpec, key: str) -> None:
    named = column_names(query.column)
    if len(named) == 2:
        return
    expected, remedy = "the two columns whose covariance is wanted", 'Write column = ["x", "y"].'
    if not named:
        raise InputError(key, expected=expected, remedy=remedy, shown=False)
    if len(named) == 1:
        remedy = f'Write column = [{toml_text(named[0])}, ...], or kind = "variance".'
    else:
        remedy = 'Ask for each pair, or write kind = "regression", whose moments are of all pairs.'
    raise InputError(key, list(named), expected=expected, remedy=remedy)


def _check_regression(query: QuerySpec, key: str) -> None:
    expected = "nothing on a regression, whose columns are its outcome and those it is on"
    refuse_keys(query, ("column", "bins"), key, expected)
    for name, words in (("outcome", "the column to explain"), ("on", "the columns to explain it")):
        if not getattr(query, name):
            raise InputError(
                f"{key}.{name}",
                expected=words,
                remedy='Write outcome = "y" and on = ["x1", "x2"].',
                shown=False,
            )
    names = query.value_columns
    if query.outcome in names[:-1] or len(set(names)) < len(names):
        raise InputError(
            f"{key}.on",
            list(names[:-1]),
            expected="columns other than the outcome, each of them once",
            remedy="A column explains itself.",
        )
    if len(names) > MOST_MOMENTS_OF:
        raise InputError(
            f"{key}.on",
            list(names[:-1]),
            expected=f"at most {MOST_MOMENTS_OF - 1} columns",
            remedy="The noise grows with their number: leave out those that matter least.",
        )
    refuse_keys(
        query,
        ("error",),
        key,
        expected="nothing on a regression: how far its noise moves a coefficient is private",
        remedy="Use weight, which shares the budget between queries.",
    )


def named_at(query: QuerySpec) -> dict[str, str]:
    """The columns whose values a query reads, each with the key that names it."""
    keys = {name: "column" for name in column_names(query.column)}
    keys |= {name: "on" for name in column_names(query.on)}
    return keys | ({query.outcome: "outcome"} if query.outcome is not None else {})


def products_of(query: QuerySpec, declared: Callable[[str], Column]) -> tuple[Column, ...]:
    """The columns whose values a `query` multiplies, by `declared`; none of another kind."""
    if query.kind not in PRODUCTS:
        return ()
    return tuple(declared(name) for name in query.value_columns)


def regression_cells(query: QuerySpec, key: str) -> tuple[str, ...] | None:
    """The moments that a regression releases; `None` for a query of another kind.

    Raises `InputError` below the query's `key` where two of them have one name.
    """
    if query.kind != "regression":
        return None
    cells = moment_names(query.value_columns)
    if len(set(cells)) < len(cells):
        raise InputError(
            f"{key}.on",
            list(query.value_columns[:-1]),
            expected="columns whose names are not those of products, such as 'x * y'",
            remedy="Name the column otherwise.",
        )
    return cells


def check_slopes(query: QuerySpec, products: Sequence[Column], key: str) -> None:
    """`InputError` at `key` where coefficients of a regression may not be doubles.

    For a `query` of the columns `products`, the outcome last: they are computed for columns that
    are scaled to the range from -1 to 1, and then turned into the columns' units.
    """
    if query.kind != "regression":
        return
    bounds = [column.interval or (0.0, 1.0) for column in products]
    *widths, outcome = (high - low for low, high in bounds)
    for width, (low, high) in zip(widths, bounds[:-1], strict=True):
        slope = outcome / width if width > 0.0 else math.inf
        if slope > _MOST_SLOPE or slope * max(abs(low), abs(high)) > _MOST_SLOPE:
            raise InputError(
                f"{key}.on",
                list(query.value_columns[:-1]),
                expected="columns with bounds for which coefficients are doubles",
                remedy="Declare the columns or the outcome in other units.",
            )


def moments_move(columns: int, rows: int, steps: int) -> int:
    """How far `rows` replaced rows move the moments of d `columns`, in l1, on grids of K `steps`.

    By `d (d + 2)^2 K^2 / (2 (d + 1))` for each row, rounded down, since all are whole numbers.
    Source: theory 4, "Regressions".
    """
    return rows * (columns * (columns + 2) ** 2 * steps * steps // (2 * (columns + 1)))


def moments_move_squared(columns: int, rows: int, steps: int) -> int:
    """The square of how far `rows` replaced rows move the moments of d `columns` in l2.

    `(d + 1) K^2` for each row, on grids of K `steps`. Source: theory 4, "Regressions".
    """
    return (rows * (columns + 1) * steps * steps) ** 2
