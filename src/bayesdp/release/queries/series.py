"""What a series asks: its periods, the strategy of its noise, and the errors of its answers.

Strategies and what they cost stand in `mechanisms.series`, error bars in
`mechanisms.combined_noise`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Literal

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.combined_noise import margin
from bayesdp.mechanisms.series import SeriesStrategy, largest_weight, names_for, series_strategy
from bayesdp.release.spec.parts import OF_SERIES, QuerySpec, refuse_keys
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import MOST_PERIODS, SeriesAnswers, Strategy
from bayesdp.tables.columns.column import Column
from bayesdp.tables.queries.grid import Grid

SeriesNoise = DiscreteLaplace | DiscreteGaussian
_LARGE_NOISE = 2.0**20
"""The scale for a sensitivity of 1 at which `auto` compares the stated errors of strategies."""


_OF_WHAT: dict[SeriesAnswers, str] = {
    "periods": "of that period alone",
    "cumulative": "of all periods up to it",
    "ranges": "of that period alone, and its error is that of any sum of periods in a row",
}
_WITH_NOISE: dict[Strategy, str] = {
    "identity": "each period gets noise",
    "tree": "the sums of a binary tree of the periods get noise",
    "square-root": "the sums of a matrix, the square root of cumulative sums, get noise",
}


@dataclass(frozen=True, slots=True)
class AskedSeries:
    """What a series asks of so many `periods`. `stays`: a record stays in its period.

    `asked` is the strategy that the study names; `strategy` the one that is used, `None` until the
    noise is known.
    """

    periods: int
    answers: SeriesAnswers
    asked: Strategy | Literal["auto"]
    stays: bool
    strategy: SeriesStrategy | None = None

    @property
    def used(self) -> SeriesStrategy:
        """The strategy that is used."""
        assert self.strategy is not None
        return self.strategy

    @property
    def sentence(self) -> str:
        """Of what the numbers are, and which sums get noise: the rest of a sentence."""
        return (
            f"has a number for each of {self.periods} periods, {_OF_WHAT[self.answers]}; "
            f"{_WITH_NOISE[self.used.name]}."
            if self.strategy is not None
            else f"has a number for each of {self.periods} periods, {_OF_WHAT[self.answers]}."
        )

    def moves(
        self, grid: Grid | None, rows: int, in_period: int, *, squared: bool, strategy: Strategy
    ) -> int:
        """How far a record moves what a `strategy` adds up, of which at most so many `rows` count.

        At most `in_period` of them in one period; in l1, or `squared`, its square in l2. On the
        `grid` for sums of values.
        """
        ends = (0, 1)
        if grid is not None:
            masked = (min(grid.least, 0), max(grid.most, 0))
            ends = masked if grid.masked else (0, grid.sensitivity)
        made = series_strategy(strategy, self.periods, self.answers)
        return made.moves(ends, rows, in_period, stays=self.stays, squared=squared)

    def with_noise(self, key: str, rows: int, in_period: int, *, gaussian: bool) -> AskedSeries:
        """The series with its strategy: for `auto` that with the smallest stated error.

        Compared are the largest errors of one answer at 95 %, for much noise at the same cost,
        where each row counts as 1; of equal ones the simplest. `rows` and `in_period` are the most
        of a record that count. Raises `InputError` at `key` for a strategy that isn't one for such
        noise.
        """
        names = names_for(self.answers, gaussian=gaussian)
        if self.asked != "auto":
            if self.asked not in names:
                raise InputError(
                    f"{key}.strategy",
                    self.asked,
                    expected='"identity", "tree" or "auto" with Laplace noise',
                    remedy='Write below [budget]: noise = "gaussian", with a delta.',
                )
            names = (self.asked,)

        def error(name: Strategy) -> float:
            move = self.moves(None, rows, in_period, squared=gaussian, strategy=name)
            made = series_strategy(name, self.periods, self.answers)
            size = math.sqrt(move) if gaussian else float(move)
            law = DiscreteGaussian if gaussian else DiscreteLaplace
            return largest_error(made, law(_LARGE_NOISE), 0.95) * size / made.fineness

        # About equal errors are equal: the simplest strategy comes first.
        best = min(names, key=lambda name: float(f"{error(name):.6g}"))
        return replace(self, strategy=series_strategy(best, self.periods, self.answers))


def check_by(query: QuerySpec, key: str) -> None:
    """`InputError` at `key` for a series by several columns."""
    if query.kind == "series" and isinstance(query.by, tuple):
        raise InputError(
            f"{key}.by",
            list(query.by),
            expected="one column, whose states are the periods",
            remedy="Ask for a series of each part of the table, with its where.",
        )


def private_periods(query: QuerySpec, column: Column, key: str) -> tuple[CellKey, ...]:
    """The states of a private column, in each of which a series counts rows.

    Raises `InputError` for a `query` at `key` of a `column` without states.
    """
    refuse_keys(query, ("bins",), key, "only on a histogram")
    if column.levels is None:
        raise InputError(
            f"{key}.by",
            expected="the public column of the periods",
            remedy=f"Add by = ..., for sums of '{column.name}' in each period; or derive a column "
            "with cuts from it, whose states are then the periods.",
            shown=False,
        )
    return column.levels


def series_of(
    query: QuerySpec,
    key: str,
    keys: tuple[CellKey, ...] | None,
    cells: tuple[CellKey, ...] | None,
    *,
    one_row: bool,
) -> AskedSeries | None:
    """What a series asks, with groups `keys` or `cells` as its periods; `None` for other queries.

    `query` is the series, and `key` where it stands. `one_row`: each record is one row. Raises
    `InputError` for what can't be asked, and for keys that belong to series on other queries.
    """
    if query.kind != "series":
        refuse_keys(query, OF_SERIES, key, "only on a series")
        return None
    periods, named = keys or cells or (), "by" if query.by is not None else "column"
    if not 2 <= len(periods) <= MOST_PERIODS:
        raise InputError(
            f"{key}.{named}",
            getattr(query, named),
            expected=f"from 2 to {MOST_PERIODS} periods",
            remedy=f"There are {len(periods)}: declare other states, such as months for days.",
        )
    numbers = [period for period in periods if isinstance(period, int | float)]
    if len(numbers) == len(periods) and any(a >= b for a, b in pairwise(numbers)):
        raise InputError(
            f"{key}.{named}",
            getattr(query, named),
            expected="periods in their order, and the states of this column are numbers that don't "
            "increase",
            remedy="Declare its states from the first period to the last.",
        )
    answers = query.answers or "cumulative"
    asked = query.strategy or "auto"
    if asked == "square-root" and answers != "cumulative":
        raise InputError(
            f"{key}.strategy",
            asked,
            expected=f'"identity", "tree" or "auto" for answers = "{answers}"',
            remedy='The matrix "square-root" is one for answers = "cumulative".',
        )
    return AskedSeries(len(periods), answers, asked, stays=one_row and keys is not None)


# -- errors ----------------------------------------------------------------------------------------


def answer_error(
    strategy: SeriesStrategy,
    noise: SeriesNoise,
    confidence: float,
    squared_weight: float,
    *,
    answers: int = 1,
) -> float:
    """How far an answer may be off at this confidence, in steps; or so many `answers` at once.

    `squared_weight` is that of the answer. The number of a period with noise of its own has the
    error of that noise alone, a whole number of steps. Raises `InputError` unless `confidence` lies
    between 0 and 1.
    """
    if is_single(strategy) and answers == 1:
        return float(noise.quantile(confidence))
    return margin(noise, confidence, squared_weight, _entries(strategy), answers=answers)


def is_single(strategy: SeriesStrategy) -> bool:
    """Whether each answer has the noise of one sum alone."""
    return strategy.name == "identity" and strategy.answers == "periods"


def _entries(strategy: SeriesStrategy) -> int:
    """At least as many as there are sums with noise."""
    return 2 * strategy.periods + strategy.depth + 1


def largest_error(strategy: SeriesStrategy, noise: SeriesNoise, confidence: float) -> float:
    """The largest error of one answer at this confidence, in steps of the noise.

    Raises `InputError` unless `confidence` lies between 0 and 1.
    """
    return answer_error(strategy, noise, confidence, largest_weight(strategy) ** 2)


def scale_for_error(
    strategy: SeriesStrategy, law: type[SeriesNoise], steps: int, confidence: float
) -> float:
    """About the largest scale for which no answer's error is above so many `steps`.

    `law` is that of the noise; the scale was evaluated. Raises `InputError` unless `confidence`
    lies between 0 and 1, and for errors that no noise keeps to.
    """
    if is_single(strategy):
        return law.scale_for_error(steps, confidence)
    weight = largest_weight(strategy)
    low, high = 2.0**-20, min(2.0**61, max(1.0, steps / weight))
    if largest_error(strategy, law(low), confidence) > steps:
        raise InputError(
            "error",
            steps,
            expected="an error of at least one step, larger than that of hardly any noise",
            remedy="Ask for a larger error, or write weight in its place.",
        )
    if largest_error(strategy, law(high), confidence) <= steps:
        return high
    while high / low > 1.0 + 1e-6:
        middle = math.sqrt(low * high)
        if largest_error(strategy, law(middle), confidence) <= steps:
            low = middle
        else:
            high = middle
    return low


# -- answers ---------------------------------------------------------------------------------------


def answers_of(
    strategy: SeriesStrategy,
    noisy: Sequence[int],
    length: Fraction,
    offsets: Sequence[Fraction],
) -> Iterator[float]:
    """The answers in the query's unit, from noisy sums in steps of this `length`.

    `offsets` are what each period's number is beside its steps.
    """
    add = strategy.answers == "cumulative"
    beside = accumulate(offsets) if add else offsets
    for steps, offset in zip(strategy.answer(noisy), beside, strict=True):
        yield float(offset + length * strategy.fineness * Fraction(steps))
