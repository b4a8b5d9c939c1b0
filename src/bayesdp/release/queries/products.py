"""Queries of products of columns: covariances, and the moments of linear regressions.

**Variances.** The variance of a column over `N` rows, a public number, is `V / N` with `V` the sum
of squared deviations from their mean. On the grid values are whole numbers `u` from 0 to `K = 2^k`,
and what gets noise is the integer part of `V = sum u^2 - (sum u)^2 / N`, which is computed
exactly. *A replaced row moves it by at most `K^2`*, whatever `N` is and in l2 as well, since it is
one number.

*Proof.* Let one row go from `p` to `q >= p` and the others sum to `S`, `0 <= S <= (N - 1) K`. Then
`V' - V = (q - p) ((1 - 1/N) (p + q) - 2 S / N)`. The bracket is at most `(1 - 1/N) (p + q)` and at
least `(1 - 1/N) (p + q - 2 K)`, and with `d = q - p` both are at most `(1 - 1/N) (2 K - d)` in
size. So `|V' - V| <= (1 - 1/N) d (2 K - d) <= (1 - 1/N) K^2`, attained by `p = 0`, `q = K` beside
`S = 0`. Integer parts of two numbers that differ by at most a whole number differ by at most that.
∎ Where each record has r rows, replacing one takes r such steps: `r K^2`. A group's size is public,
and a record that is one row stays in its group, so each group has its own `N`.

A negative answer is shown as 0, which is closer to the truth. The error is that of the noise: `K^2
/ eps` squared steps are `(b - a)^2 / eps` of `V`. Two noisy sums, of `u` and of `u^2` about the
middle, would have less noise where the mean is near the middle of the bounds (half as much at best)
and more than twice as much where it is near an end, and their error would depend on the mean, which
is private.

A variance is priced like a count, and not by its slopes, though it is smooth. As a function of
clipped values `V` has slopes of up to `2 (1 - 1/N) K` in each, twice its largest move `K^2` over
the width `K`. So as a Lipschitz mechanism it costs twice what it costs as any mechanism, before
dependence is counted: less in large Gaussian clusters of weak correlations, more for pairs and
wherever else the factor of any mechanism is below twice that of a Lipschitz one. A query has one
price here, and a covariance has slopes in two columns, so neither has it: on Gaussian populations
their levels are valid and may be far from the least.

**Covariances.** The covariance of two columns over `N` rows, a public number, is `C / N` with `C =
sum u v - (sum u) (sum v) / N`, where `u` and `v` are whole numbers from 0 to `K`, the values on a
grid for each column. *A replaced row moves it by at most `K^2`*, and its integer part as well.

*Proof.* `C` is the sum over all pairs of rows of `(u_i - u_j) (v_i - v_j) / N`. A replaced row
changes the `N - 1` terms that it is in, each from one value of `f = (u - a) (v - b)` to another,
`(a, b)` being the other row's values. `f` is affine in `u` and in `v`, so it is largest and least
at corners of the square from 0 to `K`. It is at least 0 in the corners `(0, 0)` and `(K, K)` and at
most 0 in the two others. Each of the first is joined to each of the others by an edge, along which
one factor is fixed, at most `K` in size, and the other one moves by `K`. So `f` moves by at most
`K^2`, and `C` by at most `(1 - 1/N) K^2`. ∎ It is attained like the variance's, which is the
covariance of a column with itself. Persons of r rows: `r K^2`; groups: as for variances.
"""

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

    **Regressions.** Let `d` columns, the outcome among them, have values on grids of `K = 2^k`
    steps. With `w = 2 u - K`, from `-K` to `K`, what gets noise is the vector of all `sum K w_j`
    and all `sum w_j w_k`, `j <= k`: in units of `K^2` the moments of columns scaled to `[-1, 1]`.
    Their number of rows, which is the moment of the constant 1, is public. *A replaced row moves it
    by at most `d (d + 2)^2 / (2 (d + 1)) K^2` in l1 and by at most `(d + 1) K^2` in l2.*

    *Proof*, in units of `K`, for a row `w` that becomes `w'`. *l1.* With `p = (w + w') / 2` and
    `q = (w - w') / 2` it is `|p_j| + |q_j| <= 1`. Let `t_j = |q_j|`. The entry of `w_j` moves by `2
    t_j`, that of its square by `4 |p_j q_j| <= 4 t_j (1 - t_j)`, that of a product by `2 |p_j q_k +
    q_j p_k| <= 2 (t_j + t_k - 2 t_j t_k)`. Let `T` be the sum of the `t_j` and `S` that of their
    squares, which is at least `T^2 / d`. Then all of it adds up to `2 (d + 2) T - 2 T^2 - 2 S <= 2
    (d + 2) T - 2 T^2 (1 + 1/d)`, which is largest at `T = d (d + 2) / (2 (d + 1))`: the bound. (It
    is attained: all `w_j = 1`, all `w'_j = -1 / (d + 1)`.) *l2.* Let `a` and `b` be the squared
    lengths of `w` and `w'`, and `s` their inner product. The square of the distance is `a + b - 2
    s + (a^2 + b^2 - 2 s^2) / 2 + D / 2` with `D` the sum of all `(w_j^2 - w'_j^2)^2`: each product
    counts once, and a square, which counts twice in `a^2 + b^2 - 2 s^2`, by the half that is added.
    Now `-2 s - s^2 <= 1`. What is left is convex in the squares `w_j^2` and `w'_j^2`, each between
    0 and 1, so it is largest where these are 0 or 1: for sets `A` and `B` of ones it is
    `|A| + |B| + (|A|^2 + |B|^2) / 2` and half of how many elements are in one set alone. A further
    element of `A` adds `1 + (2 |A| + 1) / 2` and takes away at most 1/2, so full sets are the
    largest: `2 d + d^2`. Together `(d + 1)^2`. ∎ (It is attained for odd `d`: `(d + 1) / 2` signs
    change.) All entries are whole numbers, so the l1 bound is rounded down. r rows of a person
    count r times.

    Products about the middles of the bounds have less noise than products of deviations where means
    are near the middles, and together they are cheaper than one by one: for a line of one column,
    16/3 in place of the 8 that five entries alone would cost.
    """
    return rows * (columns * (columns + 2) ** 2 * steps * steps // (2 * (columns + 1)))


def moments_move_squared(columns: int, rows: int, steps: int) -> int:
    """The square of how far `rows` replaced rows move the moments of d `columns` in l2.

    `(d + 1) K^2` for each row, on grids of K `steps`. Source: theory 4, "Regressions".
    """
    return (rows * (columns + 1) * steps * steps) ** 2
