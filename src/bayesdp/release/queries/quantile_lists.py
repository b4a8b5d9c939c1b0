"""A query of several quantiles: one of the study file, and one for each probability when priced.

Each is chosen and paid for by itself, so that costs add up. What is released together is put in
order: a quantile of a larger probability is never below one of a smaller one.

**Quantiles in order.** For a rank error `e` the answer for the probability `p` lies, unless with
the stated probability, among the candidates from `l(p)` to `u(p)`: those nearest to the
`q`-quantiles with `|q - p| N <= e`, an interval of quantiles whose ends only rise with `p`. If all
answers `v_1, ..., v_m` for increasing probabilities lie there, then so do they sorted: all of `v_i,
..., v_m` are at least `l(p_i)`, so the `i`-th smallest is, and likewise `u`. With m answers `e` is
the largest of their errors at `1 - beta / m`. ∎
"""

from __future__ import annotations

from itertools import pairwise

from bayesdp.errors import InputError
from bayesdp.release.spec.derived import OwnDerivedSpec
from bayesdp.release.spec.parts import LaterPart, QuerySpec
from bayesdp.statements.base import exact_text

MOST_PROBABILITIES = 100
"""The most quantiles of one query: each is paid for."""


def part_name(name: str, probability: float) -> str:
    """The name of one quantile of several.

    >>> part_name("heights", 0.25)
    'heights at 0.25'
    """
    return f"{name} at {exact_text(probability)}"


def one_each(query: QuerySpec, position: int) -> tuple[QuerySpec, ...]:
    """The query, or one for each of its probabilities. They share its weight equally.

    `position` is that in the study file. Raises `InputError` for probabilities that are not
    increasing numbers between 0 and 1, and for one probability beside them.
    """
    listed, key = query.probabilities, f"query[{position}].probabilities"
    if query.kind != "quantile" or listed is None:
        return (query,)
    if query.probability is not None:
        raise InputError(
            key,
            list(listed),
            expected="nothing beside probability, which a median has",
            remedy='Leave probability out, and write kind = "quantile".',
        )
    rising = all(low < high for low, high in pairwise(listed))
    if not listed or not rising or not all(0.0 < each < 1.0 for each in listed):
        raise InputError(
            key,
            list(listed),
            expected="increasing numbers between 0 and 1, such as [0.25, 0.5, 0.75]",
            remedy="Each is the share of rows that a quantile has below it.",
        )
    if len(listed) > MOST_PROBABILITIES:
        raise InputError(
            key,
            len(listed),
            expected=f"at most {MOST_PROBABILITIES} of them",
            remedy="Each is paid for: leave some out, or release a histogram.",
        )
    share = None if query.error is not None else (query.weight or 1.0) / len(listed)
    first, *later = (
        query.model_copy(
            update={"name": part_name(query.name, each), "probability": each, "weight": share}
        )
        for each in listed
    )
    return (first, *map(LaterPart.of, later))


def in_order(queries: tuple[QuerySpec, ...]) -> tuple[OwnDerivedSpec, ...]:
    """What is derived of the queries with several quantiles, under their own names: the order."""
    return tuple(
        OwnDerivedSpec(
            name=query.name,
            kind="quantiles",
            queries=tuple(part_name(query.name, each) for each in query.probabilities),
            confidence=query.confidence,
        )
        for query in queries
        if query.kind == "quantile" and query.probabilities is not None
    )
