"""Which series of values a Markov chain allows, under all laws that its declaration allows.

Tuples have the oldest value first. For rows between bounds, `wide` has the values that some row
allows and `sure` the values that all rows allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from typing import Any

import numpy as np

from bayesdp.populations import MarkovChain

Past = tuple[int, ...]
StateNumbers = frozenset[int]

ROUNDING = 1e-9
"""Numbers within this relative distance may be equal but for rounding."""

MOST_TRIED = 64
"""The most laws between bounds for which the default is tried."""


@dataclass(frozen=True)
class Series:
    """The possible moves of a chain; `rows` are laws, `None` where bounds leave several."""

    states: int
    order: int
    length: int
    wide: dict[Past, StateNumbers]
    sure: dict[Past, StateNumbers | None]
    rows: dict[Past, tuple[float, ...] | None]
    begin: dict[Past, float] | None

    @cached_property
    def starts(self) -> frozenset[Past]:
        """The possible values of the first `order` records."""
        if self.begin is not None:
            return frozenset(past for past, weight in self.begin.items() if weight > 0.0)
        return self._returning()

    def _returning(self) -> frozenset[Past]:
        """The tuples that a stationary chain can be in."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        place = {past: number for number, past in enumerate(self.wide)}
        moves = [
            (place[past], place[(*past, value)[1:]])
            for past, values in self.wide.items()
            for value in values
        ]
        here, there = np.asarray(moves).T
        links = coo_array((np.ones(len(moves)), (here, there)), (len(place),) * 2)
        _, label = connected_components(links, directed=True, connection="strong")
        left = set(label[here[label[here] != label[there]]].tolist())
        return frozenset(past for past, number in place.items() if int(label[number]) not in left)

    def after(self, pasts: frozenset[Past]) -> frozenset[Past]:
        """The tuples one record later."""
        return frozenset((*past, value)[1:] for past in pasts for value in self.wide[past])


def series(chain: MarkovChain) -> Series:
    """The moves of a chain."""
    order, states = chain.order, chain.states
    pasts = list(product(range(states), repeat=order))
    begin = None if chain.initial == "stationary" else {p: _at(chain.initial, p) for p in pasts}
    sizes = (states, order, chain.length)
    if chain.transition is not None:
        rows = {past: _at(chain.transition, past) for past in pasts}
        wide = {past: frozenset(np.flatnonzero(row).tolist()) for past, row in rows.items()}
        return Series(*sizes, wide, dict(wide), rows, begin)
    ends = {p: _ends(_at(chain.transition_lower, p), _at(chain.transition_upper, p)) for p in pasts}
    return Series(
        *sizes,
        {past: end[0] for past, end in ends.items()},
        {past: end[1] for past, end in ends.items()},
        {past: end[2] for past, end in ends.items()},
        begin,
    )


def _at(table: Any, past: Past) -> Any:
    for value in past:
        table = table[value]
    return table


def _ends(
    low: tuple[float, ...], high: tuple[float, ...]
) -> tuple[StateNumbers, StateNumbers | None, tuple[float, ...] | None]:
    """Values that some row has, that all have (`None` if rounding hides it), and the only row."""
    lows, highs = [Fraction(x) for x in low], [Fraction(x) for x in high]
    if low == high or sum(lows) >= 1:
        only = frozenset(v for v, x in enumerate(low) if x > 0.0)
        return only, only, low
    if sum(highs) <= 1:
        only = frozenset(v for v, x in enumerate(high) if x > 0.0)
        return only, only, high
    wide = frozenset(v for v, x in enumerate(high) if x > 0.0)
    least = {v: lows[v] or 1 - sum(highs) + highs[v] for v in wide}
    if any(lows[v] == 0 and 0 < share <= Fraction(1, 10**9) for v, share in least.items()):
        return wide, None, None
    return wide, frozenset(v for v, share in least.items() if share > 0), None


def every_series(moves: Series) -> bool | None:
    """Whether all series of values are possible."""
    if moves.length <= moves.order:
        begun = {past[: moves.length] for past in moves.starts}
        if len(begun) < moves.states**moves.length:
            return False
        return True if moves.begin is not None or moves.sure == moves.wide else None
    widths = {None if values is None else len(values) for values in moves.sure.values()}
    if widths - {None, moves.states}:
        return False
    if moves.begin is not None and len(moves.starts) < len(moves.wide):
        return False
    return None if None in widths else True


def default_anywhere(moves: Series, default: int) -> bool | None:
    """Whether the default can take the place of any record of a possible series."""
    one_support = moves.sure == moves.wide
    if one_support or moves.begin is not None:
        stuck = _stuck(moves, default)
        if one_support or not stuck:
            return not stuck
    laws = islice(_laws(moves), 1 + MOST_TRIED)
    return False if any(_stuck(law, default) for law in laws) else None


def _laws(moves: Series) -> Iterator[Series]:
    """The law with most moves, and each law that lacks one of its moves that isn't forced."""
    yield replace(moves, sure=dict(moves.wide))
    for past, values in moves.sure.items():
        for value in () if values is None else sorted(moves.wide[past] - values):
            wide = moves.wide | {past: moves.wide[past] - {value}}
            yield replace(moves, wide=wide, sure=dict(wide))


def _stuck(moves: Series, default: int) -> bool:
    """Whether a record of some possible series can't be the default.

    A walk over the tuples of a series, paired with the same tuples with the default in place of a
    record. It is stuck where the first tuple may move on and the second may be unable to follow.
    """
    size = min(moves.order, moves.length)
    begun = {past[:size] for past in moves.starts}
    if any((*p[:i], default, *p[i + 1 :]) not in begun for p in begun for i in range(size)):
        return True
    if moves.length <= moves.order:
        return False
    if all(values is not None and len(values) == moves.states for values in moves.sure.values()):
        return False
    pairs = {(p, (*p[:i], default, *p[i + 1 :])) for p in begun for i in range(size)}
    layer = {(past, past) for past in begun} | pairs
    seen = set(layer)
    for _ in range(moves.length - moves.order):
        further = set()
        for real, other in layer:
            certain = moves.sure[other] or frozenset()
            if real == other and default not in certain:
                return True
            if real != other and not moves.wide[real] <= certain:
                return True
            for value in moves.wide[real]:
                new = (*real, value)[1:]
                further.add((new, (*other, value)[1:]))
                if real == other:
                    further.add((new, (*real, default)[1:]))
        layer = further - seen
        seen |= layer
        if not layer:
            break
    return False
