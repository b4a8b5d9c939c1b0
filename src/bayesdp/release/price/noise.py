"""The two kinds of noise that a study may have, and what each needs to be priced.

Discrete Laplace noise is priced in `dp_epsilon` at a sensitivity in l1; discrete Gaussian noise in
`rho`, the cost in zero-concentrated DP, at the square of a sensitivity in l2. Both sensitivities
are whole numbers of (squared) steps. Quantiles are chosen: by permute-and-flip at a pure cost, or
by the exponential mechanism at a cost in zCDP, each at the move of the candidates' scores.

**Replace-one costs** (sensitivity in l1), by which a study is priced (`release/price/noise.py`),
and which the kernel derives again (`sensitivity` in `kernel/costs/queries.py`):

* count of a private predicate: 1 (one record more or less)
* proportion: 1/n (n is public)
* sum clipped to `[a, b]`: `b - a`
* the same with a private predicate in `where`: `max(abs(a), abs(b), b - a)` (the record may also
  come or go)
* mean over public n: `(b - a) / n`
* sum and mean over all rows of records that have exactly r rows each (`balanced`): `r (b - a)` and
  `(b - a) / n` (r n rows, a public number)
* series over public periods, in l1 (`s` for one row): `s` times the levels of the tree; `s` for
  noise on each period (4, "Series")
* variance over public n: `(b - a)^2 / n` (4, "Variances")
* covariance over public n: the product of both widths, over n (4, "Covariances")
* moments of a regression of d columns scaled to `[-1, 1]`, over public n: `d (d + 2)^2 / (2 (d + 1)
  n)`; in l2 `(d + 1) / n` (4, "Regressions")
* histogram over a private column: 2 (one cell loses a record, another gains it)
* counts of groups that are found in a private column: 2 (a group loses a row, another one gains it;
  a delta comes with the threshold: 4, "Groups that are found in the data")
* histogram of several private columns: 2 (the same: its cells are the combinations of their states)
* one cell of it, or a histogram over a public column: 1, or 0 (a public value can't be replaced)
* quantile of probability a / b, as the move of any score: b steps of 1/b row (4, "Quantiles"; it
  costs twice its move)
* any of these `by` a public column, a cluster, a series or a position: the largest over the groups
  (2.3 (a))
* any of these where at most r rows of a record count: as below
* sum over records of totals clipped to `[c, d]`: `d - c` (a record has one total, whatever its
  rows)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Literal

from bayesdp.errors import InputError
from bayesdp.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    PermuteAndFlip,
)
from bayesdp.numbers import float_above
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.queries.products import moments_move, moments_move_squared
from bayesdp.release.queries.quantiles import Choice
from bayesdp.release.queries.series import AskedSeries, scale_for_error
from bayesdp.statements.spends import EXPONENTIAL, GAUSSIAN, LAPLACE, PERMUTE_AND_FLIP
from bayesdp.tables.queries.grid import Grid, check_noise, check_room
from bayesdp.tables.queries.grids import Grids

NoiseName = Literal["laplace", "gaussian"]
Noise = DiscreteLaplace | DiscreteGaussian | PermuteAndFlip | ExponentialMechanism


class NoiseKind(ABC):
    """How noise of one kind is priced. `power` is that of the noise in the cost: 1 or 2."""

    name: ClassVar[NoiseName]
    power: ClassVar[int]

    @abstractmethod
    def for_query(self, asked: AskedQuery) -> NoiseKind:
        """The kind of this query: itself for numbers, and that of choices for a quantile."""

    @abstractmethod
    def sensitivity(self, asked: AskedQuery, grid: Grid | Grids | None) -> int:
        """The most that replacing a record moves the integers.

        What a certificate claims; `kernel/costs/queries.py` derives what is due, and checks it.
        """

    @abstractmethod
    def for_cost(self, sensitivity: int, cost: float) -> Noise:
        """The least noise whose cost is at most this."""

    @abstractmethod
    def for_error(self, steps: int, confidence: float) -> Noise:
        """The most noise whose error is at most this."""

    @abstractmethod
    def grid_options(self, cost: float) -> dict[str, Any]:
        """The cost as the argument by which `Grid.plan` takes it."""

    @abstractmethod
    def check_room(self, rows: int, sensitivity: int, cost: float) -> None:
        """Raises `InputError` where counts of so many rows and their noise don't fit 64 bits."""

    @abstractmethod
    def rough_cost(self, width: float, error: float) -> float:
        """The approximate cost of a sum over an interval of this width, for this error."""

    @abstractmethod
    def spent(self, cost: float, slack: float) -> dict[str, Any]:
        """The cost as the arguments of a `Spend`. `slack` is the grid's, relative to the width."""

    @abstractmethod
    def mechanism(self, asked: AskedQuery) -> str:
        """The mechanism's name in the ledger."""


class _Laplace(NoiseKind):
    name = "laplace"
    power = 1

    def for_query(self, asked: AskedQuery) -> NoiseKind:
        if asked.series is not None:
            return _LaplaceSeries(asked.series)
        return self if asked.choice is None else _PermuteAndFlip(asked, asked.choice)

    def sensitivity(self, asked: AskedQuery, grid: Grid | Grids | None) -> int:
        if asked.products and asked.cells is not None:
            return moments_move(len(asked.products), asked.rows_that_count, _steps(grid))
        # A number moves by all rows of a record; two cells or groups by the old and the new rows.
        return _largest_move(asked, grid) * (2 if asked.moves_between_groups else 1)

    def for_cost(self, sensitivity: int, cost: float) -> Noise:
        return DiscreteLaplace.for_cost(sensitivity, cost)

    def for_error(self, steps: int, confidence: float) -> Noise:
        return DiscreteLaplace(DiscreteLaplace.scale_for_error(steps, confidence))

    def grid_options(self, cost: float) -> dict[str, Any]:
        return {"dp_epsilon": cost}

    def check_room(self, rows: int, sensitivity: int, cost: float) -> None:
        check_room(rows, sensitivity, cost)

    def rough_cost(self, width: float, error: float) -> float:
        return max(width * 3.0 / error, 1e-9)

    def spent(self, cost: float, slack: float) -> dict[str, Any]:
        return {
            "dp_epsilon": cost,
            "slack": math.nextafter(cost * slack, math.inf) if slack else 0.0,
        }

    def mechanism(self, asked: AskedQuery) -> str:
        return asked.mechanism


class _Gaussian(NoiseKind):
    name = "gaussian"
    power = 2

    def for_query(self, asked: AskedQuery) -> NoiseKind:
        if asked.series is not None:
            return _GaussianSeries(asked.series)
        return self if asked.choice is None else _Exponential(asked, asked.choice)

    def sensitivity(self, asked: AskedQuery, grid: Grid | Grids | None) -> int:
        if asked.products and asked.cells is not None:
            return moments_move_squared(len(asked.products), asked.rows_that_count, _steps(grid))
        # What leaves some cells or groups and what enters others: of m rows, at most g in a group,
        # the sum of squares is at most m * g, once for each.
        most, rows = _largest_move(asked, grid), asked.rows_that_count
        return most * most * asked.rows_in_group // rows * (2 if asked.moves_between_groups else 1)

    def for_cost(self, sensitivity: int, cost: float) -> Noise:
        return DiscreteGaussian.for_cost(sensitivity, cost)

    def for_error(self, steps: int, confidence: float) -> Noise:
        return DiscreteGaussian(DiscreteGaussian.scale_for_error(steps, confidence))

    def grid_options(self, cost: float) -> dict[str, Any]:
        return {"dp_rho": cost}

    def check_room(self, rows: int, sensitivity: int, cost: float) -> None:
        check_noise(rows, DiscreteGaussian.for_cost(sensitivity, cost))

    def rough_cost(self, width: float, error: float) -> float:
        share = width / error
        return max(2.0 * share * share, 1e-18)

    def spent(self, cost: float, slack: float) -> dict[str, Any]:
        extra = float_above(Fraction(cost) * Fraction(slack) ** 2)
        return {"dp_epsilon": 0.0, "rho": cost, "slack": extra}

    def mechanism(self, asked: AskedQuery) -> str:
        return GAUSSIAN


class _Choosing(NoiseKind):
    """How the choice of a quantile is priced: by the moves of its candidates' scores."""

    law: ClassVar[type[PermuteAndFlip] | type[ExponentialMechanism]]

    def __init__(self, asked: AskedQuery, choice: Choice) -> None:
        self.asked = asked
        self.choice = choice
        self.candidates = len(choice.candidates)

    def sensitivity(self, asked: AskedQuery, grid: Grid | Grids | None) -> int:
        rows = asked.rows_that_count, asked.rows_in_group
        move, squared = self.choice.moves(*rows, moves_between_groups=asked.moves_between_groups)
        return move if self.power == 1 else squared

    def for_cost(self, sensitivity: int, cost: float) -> Noise:
        return self.law.for_cost(sensitivity, cost, self.candidates)

    def for_error(self, steps: int, confidence: float) -> Noise:
        scale = self.law.scale_for_error(steps, confidence, self.candidates)
        return self.law(scale, self.candidates)

    def check_room(self, rows: int, sensitivity: int, cost: float) -> None:
        if rows * self.choice.probability.denominator >= 2**62:
            raise InputError(
                f"{self.asked.key}.probability",
                self.asked.spec.probability,
                expected="fewer decimals: ranks of so many rows don't fit 64-bit integers",
                remedy="Round it.",
            )

    def mechanism(self, asked: AskedQuery) -> str:
        return _DISTRIBUTIONS[self.law]


class _PermuteAndFlip(_Choosing, _Laplace):
    law = PermuteAndFlip


class _Exponential(_Choosing, _Gaussian):
    law = ExponentialMechanism


class _OfSeries(NoiseKind):
    """How a series is priced: by the moves of its strategy's sums."""

    law: ClassVar[type[DiscreteLaplace] | type[DiscreteGaussian]]

    def __init__(self, series: AskedSeries) -> None:
        self.series = series

    def sensitivity(self, asked: AskedQuery, grid: Grid | Grids | None) -> int:
        assert not isinstance(grid, Grids)
        return self.series.moves(
            grid,
            asked.rows_that_count,
            asked.rows_in_group,
            squared=self.power == 2,
            strategy=self.series.used.name,
        )

    def for_error(self, steps: int, confidence: float) -> Noise:
        return self.law(scale_for_error(self.series.used, self.law, steps, confidence))


class _LaplaceSeries(_OfSeries, _Laplace):
    law = DiscreteLaplace

    def for_query(self, asked: AskedQuery) -> NoiseKind:
        return self


class _GaussianSeries(_OfSeries, _Gaussian):
    law = DiscreteGaussian

    def for_query(self, asked: AskedQuery) -> NoiseKind:
        return self


def _steps(grid: Grid | Grids | None) -> int:
    assert isinstance(grid, Grids)
    return grid.sensitivity


def _largest_move(asked: AskedQuery, grid: Grid | Grids | None) -> int:
    """The most steps that a record moves numbers by, when its rows leave, enter or are replaced.

    A sum of squared deviations, or of products of them, whose rows are only replaced, moves by a
    square of the grid's steps for each (theory 4, "Variances", "Covariances").
    """
    if grid is None:
        return asked.rows_that_count
    if asked.squares or isinstance(grid, Grids):
        return asked.rows_that_count * int(grid.sensitivity**2)
    return grid.move(asked.rows_that_count, asked.cap.total_bounds if asked.cap else None)


NOISES: dict[NoiseName, NoiseKind] = {"laplace": _Laplace(), "gaussian": _Gaussian()}
"""Both kinds, by name."""


def distribution_of(noise: Noise) -> str:
    """The name of its law, as certificates have it, which is that of the rule about its cost."""
    return _DISTRIBUTIONS[type(noise)]


_DISTRIBUTIONS: dict[type[Noise], str] = {
    DiscreteLaplace: LAPLACE,
    DiscreteGaussian: GAUSSIAN,
    PermuteAndFlip: PERMUTE_AND_FLIP,
    ExponentialMechanism: EXPONENTIAL,
}
