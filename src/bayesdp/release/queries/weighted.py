"""Survey weights: what a weighted query is read as, before it is priced.

A weighted count is the sum of the weights of the rows that match, a weighted sum that of products.
A weighted mean or proportion is the ratio of two of these: neither is public, so both have noise.

**Weighted sums.** A row with weight `w` in `[a, b]` and value `x` in `[l, h]` counts as `q(w x)`,
where `q` is the integer of the grid on `[p, P]`, the least and the largest of `a l`, `a h`, `b l`,
`b h`. A product that is linear in each factor has its extremes at the corners, and rounding to
doubles keeps the order, so that the rounded products lie between the rounded corners, which are the
grid's ends. The integers are clamped to those of the ends, whatever the product: replacing a
record, weight and value, moves the sum by at most the sensitivity of a plain sum on that grid, and
by that of a masked one where rows may count as 0. ∎
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesdp.errors import InputError, did_you_mean, toml_key, toml_text
from bayesdp.release.spec.derived import OwnDerivedSpec
from bayesdp.release.spec.parts import LaterPart, QuerySpec
from bayesdp.tables.columns.column import Column

_RATIOS = ("mean", "proportion")


def by_weights(
    query: QuerySpec, position: int, columns: Mapping[str, Column]
) -> tuple[QuerySpec, ...]:
    """The query, or the sums that it is read as where rows have weights.

    `position` is that in the study file, `columns` are the declared ones. Raises `InputError` for
    weights that are not a private column of numbers from 0 on, and for queries that can't have any.
    """
    if query.weighted_by is None:
        return (query,)
    _check_asked(query, f"query[{position}]", columns)
    if query.kind == "sum":
        return (query,)
    if query.kind == "count":
        return (_sum_of_weights(query),)
    return _parts_of_ratio(query)


def _check_asked(query: QuerySpec, key: str, columns: Mapping[str, Column]) -> None:
    """`InputError` for a weighted query at `key` that can't be asked, or with a key too many."""
    assert query.weighted_by is not None
    _require_weights(query.weighted_by, f"{key}.weighted_by", columns)
    if query.kind not in ("count", "sum", *_RATIOS):
        raise InputError(
            f"{key}.weighted_by",
            query.weighted_by,
            expected=f"nothing on a {query.kind}: a count, sum, mean or proportion may be weighted",
            remedy="For the cells of a histogram ask for a weighted count each, with its where.",
        )
    if query.total_bounds is not None:
        raise InputError(
            f"{key}.total_bounds",
            list(query.total_bounds),
            expected="nothing on a weighted query",
            remedy="Leave total_bounds out: products are within the bounds of both columns.",
        )
    counts = query.kind in ("count", "proportion")
    if counts and query.column is not None:
        raise InputError(
            f"{key}.column",
            query.column,
            expected=f"nothing on a {query.kind}, which counts the rows that match where",
            remedy="Leave column out.",
        )
    if counts and query.where is None:
        raise InputError(
            f"{key}.where",
            expected=f"the condition whose weighted {query.kind} is wanted",
            remedy='For the sum of all weights write kind = "sum" with column = '
            f"{toml_text(query.weighted_by)}, and leave weighted_by out.",
            shown=False,
        )
    if query.kind not in _RATIOS:
        return
    for name in ("error", "group_sizes"):
        value = getattr(query, name)
        if value is not None:
            raise InputError(
                f"{key}.{name}",
                value,
                expected=f"nothing on a weighted {query.kind}, which is a ratio of two numbers",
                remedy=f"Leave {name} out: the interval is known with the numbers.",
            )


def _parts_of_ratio(query: QuerySpec) -> tuple[QuerySpec, ...]:
    """The two sums whose ratio a weighted mean or proportion is, each with half of its share."""
    half = (query.weight or 1.0) / 2.0
    whole = query.model_copy(update={"weight": half})
    over = whole.model_copy(update={"kind": "sum"}) if query.kind == "mean" else whole
    if query.kind == "proportion":
        over = _sum_of_weights(whole)
    under = whole if query.kind == "mean" else whole.model_copy(update={"where": None})
    first, second = part_names(query)
    return (
        over.model_copy(update={"name": first}),
        LaterPart.of(_sum_of_weights(under).model_copy(update={"name": second})),
    )


def _sum_of_weights(query: QuerySpec) -> QuerySpec:
    """The sum of the weights of the rows that match."""
    return query.model_copy(
        update={"kind": "sum", "column": query.weighted_by, "weighted_by": None}
    )


def part_names(query: QuerySpec) -> tuple[str, str]:
    """The names of the two sums whose ratio a weighted mean or proportion is."""
    return f"{query.name}, weighted sum", f"{query.name}, sum of weights"


def ratios(queries: tuple[QuerySpec, ...]) -> tuple[OwnDerivedSpec, ...]:
    """What is derived of weighted means and proportions, under their own names: the ratio."""
    return tuple(
        OwnDerivedSpec(
            name=query.name,
            kind="ratio",
            numerator=part_names(query)[0],
            denominator=part_names(query)[1],
            confidence=query.confidence,
        )
        for query in queries
        if query.weighted_by is not None and query.kind in _RATIOS
    )


def _require_weights(name: str, key: str, columns: Mapping[str, Column]) -> None:
    column = columns.get(name)
    if column is None:
        private = [other for other, known in columns.items() if known.is_private]
        raise InputError(
            key, name, expected="a declared column", remedy=did_you_mean(name, private)
        )
    if column.bounds is None or column.bounds[0] < 0.0 or not column.is_private:
        raise InputError(
            key,
            name,
            expected="a column with bounds from 0 on, that is not declared public",
            remedy=f"Write below [data.columns], with its largest weight: {toml_key(name)} = "
            "{ bounds = [0, 10] }. It is then protected with the values.",
        )
