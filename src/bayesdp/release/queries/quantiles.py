"""What a quantile is chosen among: candidates between bounds, or the states of a column.

How they are scored, and what a choice costs, stands in `mechanisms.selection`.

**Quantiles.** A quantile of a column, a median among them, is chosen and not blurred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from bayesdp.errors import InputError
from bayesdp.mechanisms.selection import rank_scores
from bayesdp.numbers import shortest
from bayesdp.release.spec.parts import OF_QUANTILES, QuerySpec, refuse_keys
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import MOST_PARTS, decimal_of
from bayesdp.tables.columns.column import Column

MOST_CANDIDATES = 2000
"""The most candidates of a quantile: each is a cell that the data engine counts."""

MOST_IN_GROUPS = 40_000
"""The most candidates of all groups together: more would be counted far more slowly."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates of a quantile, in the column's unit, increasing, and its exact probability.

    `edges` are those of the bins that the data engine counts: one for each candidate, with all
    values that are nearest to it, of two as near those halfway and above. They are `None` for a
    column with states, whose counts come in the order of the states: `places` says where that of
    each candidate is.
    """

    probability: Fraction
    candidates: tuple[float, ...]
    edges: tuple[float, ...] | None
    places: tuple[int, ...]

    @property
    def step(self) -> Fraction:
        """The length of a step of the scores, in rows."""
        return Fraction(1, self.probability.denominator)

    @property
    def largest_error(self) -> Fraction:
        """The largest error that a rank can have, as a share of the rows."""
        return max(self.probability, 1 - self.probability)

    def scores(self, counts: Sequence[int]) -> list[int]:
        """The score of each candidate, in steps, from the data engine's counts. Private."""
        return rank_scores([counts[place] for place in self.places], self.probability)

    def moves(self, rows: int, in_group: int, *, moves_between_groups: bool) -> tuple[int, int]:
        """How far replacing a record of so many rows moves any score, in steps: S, and S squared.

        At most `in_group` of the rows are in one group. Summed over groups where its rows may move
        to others (`moves_between_groups`), of a record that leaves one and enters another; the
        square is that of the sum of squares, which may be smaller.
        """
        replaced = self.probability.denominator
        enters = max(self.probability.numerator, replaced - self.probability.numerator)
        if not moves_between_groups:
            return rows * replaced, (rows * replaced) ** 2
        return 2 * rows * enters, rows * in_group * max(replaced**2, 2 * enters**2)


def choice(query: QuerySpec, column: Column | None, key: str, groups: int = 1) -> Choice | None:
    """What a quantile is chosen among in each of so many `groups`; `None` for other queries.

    Raises `InputError` for candidates that can't be, and for keys that belong to quantiles on other
    queries.
    """
    if query.kind != "quantile" or column is None:
        refuse_keys(query, OF_QUANTILES, key, "only on a quantile or median")
        return None
    if query.probability is None:
        raise InputError(
            f"{key}.probability",
            expected="the share of rows that the quantile has below it, such as 0.9",
            remedy='For 0.5 write kind = "median".',
            shown=False,
        )
    probability = decimal_of(query.probability)
    if probability.denominator > MOST_PARTS:
        raise InputError(
            f"{key}.probability",
            query.probability,
            expected="a probability of at most six decimals",
            remedy="Its costs are computed exactly: round it.",
        )
    if column.bounds is None:
        where = f"nothing, as the states of '{column.name}' are the candidates"
        refuse_keys(query, ("candidates", "step"), key, where)
        states = tuple(float(level) for level in column.levels or ())
        _require_few(len(states), f"data.columns.{column.name}.states", states, groups)
        places = tuple(sorted(range(len(states)), key=states.__getitem__))
        return Choice(probability, tuple(states[place] for place in places), None, places)
    candidates = _candidates(query, column.bounds, key, groups)
    middles = [float((Fraction(low) + Fraction(high)) / 2) for low, high in pairwise(candidates)]
    edges = (candidates[0], *middles, candidates[-1])
    if any(low >= high for low, high in pairwise(edges)):
        raise InputError(
            f"{key}.candidates",
            expected="candidates with a double in between",
            remedy="They are as close to each other as doubles are: use fewer.",
            shown=False,
        )
    return Choice(probability, candidates, edges, tuple(range(len(candidates))))


def _candidates(
    query: QuerySpec, bounds: tuple[float, float], key: str, groups: int
) -> tuple[float, ...]:
    low, high = bounds
    ends = tuple(map(exact_text, bounds))
    if (query.candidates is None) == (query.step is None):
        raise InputError(
            f"{key}.candidates",
            expected="either candidates or a step: what the answer may be is chosen before the "
            "data are read",
            remedy=f"Write step = {_round_step(low, high):g} for the grid from {ends[0]} to "
            f"{ends[1]}, or candidates = [...].",
            shown=False,
        )
    if query.candidates is None:
        assert query.step is not None
        return _grid(bounds, query.step, key, groups)
    given = query.candidates
    if len(given) < 2 or any(left >= right for left, right in pairwise(given)):
        raise InputError(
            f"{key}.candidates",
            list(given),
            expected="at least two increasing numbers",
            remedy="The answer is one of them.",
        )
    outside = [candidate for candidate in given if not low <= candidate <= high]
    if outside:
        raise InputError(
            f"{key}.candidates",
            outside[0],
            expected=f"numbers between the bounds {ends[0]} and {ends[1]}",
            remedy="Values are clipped to the bounds.",
        )
    _require_few(len(given), f"{key}.candidates", given, groups)
    return given


def _grid(bounds: tuple[float, float], step: float, key: str, groups: int) -> tuple[float, ...]:
    """The numbers a step apart, from the lower bound on, each the double nearest to its decimal."""
    low, high = map(shortest, bounds)
    count = math.floor((high - low) / shortest(step)) + 1
    if count < 2:
        raise InputError(
            f"{key}.step",
            step,
            expected=f"at most {exact_text(float(high - low))}, so that there are two candidates",
            remedy="Use a smaller one.",
        )
    _require_few(count, f"{key}.step", step, groups)
    grid = tuple(float(low + i * shortest(step)) for i in range(count))
    if any(left >= right for left, right in pairwise(grid)):
        raise InputError(
            f"{key}.step", step, expected="a step that doubles of this size can tell apart"
        )
    return grid


def _require_few(count: int, key: str, value: object, groups: int) -> None:
    """`InputError` for more candidates than can be counted in each of so many groups."""
    most = min(MOST_CANDIDATES, MOST_IN_GROUPS // groups)
    if count > most:
        of_groups = "" if groups == 1 else f" in each of {groups} groups"
        raise InputError(
            key,
            value if isinstance(value, float) else count,
            expected=f"at most {most} candidates{of_groups}",
            remedy=f"There are {count}: use fewer. Errors hardly depend on how many there are.",
        )


def _round_step(low: float, high: float) -> float:
    """A power of ten for about 100 candidates or more."""
    return float(10.0 ** math.floor(math.log10((high - low) / 100.0)))
