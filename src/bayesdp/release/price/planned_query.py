"""A query with its noise: what it costs, and how far its numbers may be off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from bayesdp.accounting.costs.spend import Spend
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.numbers import float_above
from bayesdp.release.price.noise import Noise
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.queries.series import largest_error
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids
from bayesdp.tables.queries.query import (
    CountQuery,
    DataQuery,
    DeviationQuery,
    FoundGroupsQuery,
    HistogramQuery,
    ProductQuery,
    SumQuery,
)

CONFIDENCE = 0.95
"""With this probability numbers are off by no more than the error that is shown beside them."""


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its noise. `step` is the length of an integer step, in the query's unit.

    For a quantile, steps, noise and error are those of ranks, in rows, and never of its value.
    `sensitivity` is in steps for Laplace noise; for Gaussian noise it is the square of the l2
    sensitivity. The cost of the noise at this sensitivity is `dp_epsilon` (what OpenDP certifies)
    or `dp_rho`, in zCDP; the other one is 0.
    """

    asked: AskedQuery
    noise: Noise
    sensitivity: int
    step: Fraction
    grid: Grid | Grids | None
    spend: Spend

    @property
    def name(self) -> str:
        """The name of the query in the study."""
        return self.asked.spec.name

    @property
    def dp_epsilon(self) -> float:
        """Its pure DP cost."""
        return self.spend.dp_epsilon

    @property
    def dp_rho(self) -> float:
        """Its cost in zCDP."""
        return self.spend.rho

    @property
    def threshold(self) -> int | None:
        """The least noisy count that is shown of groups found in the data; `None` for others."""
        if self.asked.from_data is None:
            return None
        assert isinstance(self.noise, DiscreteLaplace)
        return self.asked.from_data.threshold(self.noise)

    @property
    def numbers(self) -> int:
        """The count of numbers that it releases: one for each group and cell."""
        return len(self.asked.keys or (None,)) * len(self.asked.cells or (None,))

    def error(self, confidence: float = CONFIDENCE, rows: int | None = None) -> float | None:
        """The error at this confidence, rounded up; `None` while the number of rows is unknown.

        `rows` is how many rows a mean or proportion is over: without it their error is `None`. The
        error is the noise's own: clipping and the grid are not counted. In the query's unit. Of
        a series it is the largest error of one answer.
        """
        scale = self._divisor(rows)
        if scale is None:
            return None
        if self.asked.series is not None:
            assert isinstance(self.noise, DiscreteLaplace | DiscreteGaussian)
            steps = largest_error(self.asked.series.used, self.noise, confidence)
            return float_above(Fraction(steps) * self.step)
        return float_above(self.noise.quantile(confidence) * self.step / scale)

    def group_errors(self, confidence: float = CONFIDENCE) -> dict[str, float | None]:
        """The error of each group's number at this confidence, in the query's unit, rounded up.

        By the groups as they are shown, as `release[name].errors()` has them; empty for a query
        without `by`. `None` where only the data tell how many rows a mean or proportion is over:
        state `group_sizes`, or ask `error(confidence, rows)` for a size.
        """
        sizes = self.asked.group_rows or {}
        return {
            ", ".join(self.asked.group_words[key]): self.error(
                confidence, sizes.get(key) if self.asked.averaged else 1
            )
            for key in self.asked.keys or ()
        }

    def wanted_error(self, n: int | None) -> float | None:
        """The error of its numbers at the query's own confidence, in its unit, rounded up.

        Of the smallest group's, where groups have sizes. `n` is the number of records; `None` where
        only the data tell how many rows a number is over.
        """
        return self.error(self.confidence, self.asked.rows(n))

    @property
    def confidence(self) -> float:
        """The confidence at which the query's error is wanted."""
        return self.asked.spec.confidence

    def noise_scale(self, rows: int | None) -> float | None:
        """The noise's scale on the released number, in its unit; `None` while rows are unknown."""
        divisor = self._divisor(rows)
        return None if divisor is None else float(self.noise.scale * self.step / divisor)

    def value(self, total: int, rows: int) -> float:
        """The released value that the noisy integer `total` over `rows` rows stands for.

        A variance is at least 0, which can only bring it closer to the exact one.
        """
        exact = self.step * total
        if self.asked.squares:
            exact = self.step * max(total, 0)
        elif isinstance(self.grid, Grid):
            exact = self.grid.value(total, rows)
        elif self.grid is None:
            exact = Fraction(total)
        divisor = self._divisor(rows)
        assert divisor is not None
        return float(exact / divisor)

    def is_finite(self, rows: int) -> bool:
        """Whether value, error and noise are finite doubles, whatever noise is drawn.

        `rows` is the most that there can be; an average may be over fewer. Totals are 64-bit.
        """
        averaged = self.asked.averaged
        try:
            ends = [self.value(total, n) for total in (-(2**63), 2**63) for n in (1, rows)]
            errors = [self.error(c, 1) for c in (CONFIDENCE, self.asked.spec.confidence)]
            unit = float(self.step / (rows if averaged else 1))
        except OverflowError:
            return False
        return unit > 0.0 and all(e is not None and math.isfinite(e) for e in (*ends, *errors))

    def _divisor(self, rows: int | None) -> int | None:
        return rows if self.asked.averaged else 1

    def table_query(self) -> DataQuery:
        """The integers that the data engine computes for it."""
        spec, predicate = self.asked.spec, self.asked.predicate
        if self.asked.from_data is not None:
            return FoundGroupsQuery(
                spec.name, self.asked.from_data.column, predicate, self.asked.cap
            )
        if isinstance(self.grid, Grids):
            return ProductQuery(
                spec.name,
                spec.value_columns,
                self.grid,
                moments=self.asked.cells is not None,
                where=predicate,
                by=spec.by,
                cap=self.asked.cap,
            )
        if self.grid is not None:
            assert self.asked.column is not None
            if self.asked.weights is not None:
                return SumQuery(
                    spec.name,
                    self.asked.column.name,
                    self.grid,
                    where=predicate,
                    by=spec.by,
                    cap=self.asked.cap,
                    weighted_by=self.asked.weights.name,
                )
            of_values = DeviationQuery if self.asked.squares else SumQuery
            return of_values(
                spec.name,
                self.asked.column.name,
                self.grid,
                where=predicate,
                by=spec.by,
                cap=self.asked.cap,
            )
        if self.asked.counted:
            return HistogramQuery(
                spec.name, self.asked.counted, where=predicate, by=spec.by, cap=self.asked.cap
            )
        if self.asked.cells is not None or self.asked.choice is not None:
            assert self.asked.column is not None
            choice = self.asked.choice
            return HistogramQuery(
                spec.name,
                self.asked.column.name,
                edges=self.asked.bins if choice is None else choice.edges,
                where=predicate,
                by=spec.by,
                cap=self.asked.cap,
            )
        return CountQuery(spec.name, where=predicate, by=spec.by, cap=self.asked.cap)
