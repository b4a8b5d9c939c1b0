"""The released numbers of a series: answers from sums with noise, each with its own error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.series import SeriesStrategy, series_strategy
from bayesdp.numbers import float_above
from bayesdp.release.queries.series import answer_error, answers_of
from bayesdp.release.results.result import Result
from bayesdp.tables.queries.grids import Grids
from bayesdp.tables.sums.scan import Total

if TYPE_CHECKING:
    from bayesdp.release.price.planned_query import PlannedQuery


_SIMPLEST = series_strategy("identity", 2, "periods")


@dataclass(frozen=True, slots=True)
class SeriesResult(Result):
    """A released number of a series: of a period, or of all periods up to it (`cumulative`).

    With `answers = "ranges"` it is that of a period, and the error that of any sum of periods in a
    row. The numbers of a series share their noise: `error` is that of this number alone, and
    `simultaneous_error` holds for all of them at once. `noise` is the law of each of the sums that
    the `strategy` adds up. `squared_weight` is the sum of squares of their weights in this number,
    and `step` the exact length of a step of the noise.
    """

    strategy: SeriesStrategy = _SIMPLEST
    squared_weight: float = 1.0
    step: Fraction = Fraction(1)

    def error(self, confidence: float = 0.95) -> float:
        """The noise moves the value by more than this with probability at most 1 - confidence.

        In the value's unit, rounded up. For ranges: any sum of periods in a row. Raises
        `InputError` unless `confidence` lies between 0 and 1.
        """
        return self._error(confidence, 1)

    def simultaneous_error(self, confidence: float = 0.95) -> float:
        """The error of this number where those of the whole series hold at once.

        With a probability of at least `confidence` no answer of the series is off by more than its
        own. In the value's unit, rounded up. Raises `InputError` unless `confidence` lies between 0
        and 1.
        """
        return self._error(confidence, self.strategy.answered)

    def _error(self, confidence: float, answers: int) -> float:
        assert isinstance(self.noise, DiscreteLaplace | DiscreteGaussian)
        steps = answer_error(
            self.strategy, self.noise, confidence, self.squared_weight, answers=answers
        )
        return float_above(Fraction(steps) * self.step)

    def _plain_error(self) -> dict[str, Any]:
        confidence = self.confidence
        return {
            "error": {"confidence": confidence, "value": self.error(confidence)},
            "simultaneous": {
                "confidence": confidence,
                "value": self.simultaneous_error(confidence),
            },
        }


def series_results(query: PlannedQuery, total: Total) -> list[SeriesResult]:
    """The answers of a series: its strategy's sums get noise in one draw of the mechanism."""
    spec, asked, noise = query.asked.spec, query.asked, query.noise
    grid = query.grid
    assert not isinstance(grid, Grids)
    assert asked.series is not None
    assert isinstance(noise, DiscreteLaplace | DiscreteGaussian)
    strategy = asked.series.used
    keys = asked.keys or (None,)
    numbers = [number for key in keys for number in total.values[key]]
    noisy = noise.release(strategy.sums(numbers))
    plain = grid is None or grid.masked
    offsets = [
        Fraction(0) if plain or grid is None else grid.value(0, total.sizes[key])
        for key in keys
        for _ in total.values[key]
    ]
    values = answers_of(strategy, noisy, query.step, offsets)
    places = [(key, cell) for key in keys for cell in (asked.cells or (None,))]
    return [
        SeriesResult(
            query=spec.name,
            kind=spec.kind,
            value=value,
            noise=noise,
            noise_unit=float(query.step),
            dp_epsilon=query.dp_epsilon,
            dp_rho=query.dp_rho,
            group=key,
            cell=cell,
            unit=asked.unit,
            confidence=spec.confidence,
            group_words=asked.group_words[key] if key is not None else (),
            cell_words=asked.cell_words[cell] if cell is not None else (),
            strategy=strategy,
            squared_weight=weight,
            step=query.step,
        )
        for (key, cell), value, weight in zip(places, values, strategy.squared_weights, strict=True)
    ]
