"""The price of a study, known before any data are touched.

Queries with a wanted error fix their own DP cost; the others share, by weight, what is left of the
study's budget. The DP costs are the largest for which the reading of the study's own spends stays
within what the study may spend (theory 2.2, 4). Noise scales are then rounded so that OpenDP's own
privacy map certifies each cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayesdp.accounting.composition import SecretsInterval, converted, level, secrets_needed
from bayesdp.accounting.spend import Reading, Spend, float_above, total_cost
from bayesdp.calibration import largest_within
from bayesdp.errors import BudgetExceededError, InputError
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.populations import Autoregressive, Gaussian
from bayesdp.release.queries import Shape, covered_labels, independent_labels, label, shape
from bayesdp.release.spec import FROM_DATA, StudySpec
from bayesdp.tables.checks import Structure
from bayesdp.tables.grid import Grid, check_room
from bayesdp.tables.sums import CountQuery, HistogramQuery, Query, SumQuery
from bayesdp.theorems import LeakageReport

CONFIDENCE = 0.95
SMALLEST_COST = 1e-100
"""Below it no noise fits, and messages should say which query is meant."""
_PROVISIONAL_RECORDS = 2**20


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its noise. `sensitivity` is in integer steps, `step` the length of one of them.

    `dp_epsilon` is the cost that OpenDP certifies for the noise at this sensitivity.
    """

    shape: Shape
    noise: DiscreteLaplace
    sensitivity: int
    step: Fraction
    grid: Grid | None
    dp_epsilon: float
    spend: Spend

    def error(self, confidence: float, rows: int | None) -> float | None:
        """The error at this confidence, rounded up; `None` while the number of rows is unknown.

        It is the noise's own: clipping and the grid are not counted. In the query's unit.
        """
        scale = self._divisor(rows)
        if scale is None:
            return None
        return float_above(self.noise.quantile(confidence) * self.step / scale)

    def value(self, total: int, rows: int) -> float:
        """What the (noisy) integer `total` over `rows` rows stands for."""
        exact = self.grid.value(total, rows) if self.grid is not None else Fraction(total)
        divisor = self._divisor(rows)
        assert divisor is not None
        return float(exact / divisor)

    def is_finite(self, rows: int) -> bool:
        """Whether value, error and noise are finite doubles, whatever noise is drawn.

        `rows` is the most that there can be; an average may be over fewer. Totals are 64-bit.
        """
        averaged = self.shape.spec.kind in ("mean", "proportion")
        try:
            ends = [self.value(total, n) for total in (-(2**63), 2**63) for n in (1, rows)]
            errors = [self.error(c, 1) for c in (CONFIDENCE, self.shape.spec.confidence)]
            unit = float(self.step / (rows if averaged else 1))
        except OverflowError:
            return False
        return unit > 0.0 and all(e is not None and math.isfinite(e) for e in (*ends, *errors))

    def _divisor(self, rows: int | None) -> int | None:
        if self.shape.spec.kind in ("mean", "proportion"):
            return rows
        return 1

    def table_query(self) -> Query:
        """The integers that the data engine computes for it."""
        spec, predicate = self.shape.spec, self.shape.predicate
        if self.grid is not None:
            assert self.shape.column is not None
            return SumQuery(
                spec.name, self.shape.column.name, self.grid, where=predicate, by=spec.by
            )
        if self.shape.cells is not None:
            assert self.shape.column is not None
            return HistogramQuery(
                spec.name,
                self.shape.column.name,
                edges=self.shape.bins,
                where=predicate,
                by=spec.by,
            )
        return CountQuery(spec.name, where=predicate, by=spec.by)


@dataclass(frozen=True, slots=True)
class Plan:
    """A priced study. `report` is the conversion of its own spends; `None` for the notion `dp`."""

    study: StudySpec
    n: int | None
    reading: Reading
    queries: tuple[PlannedQuery, ...]
    report: LeakageReport | None
    level: float
    target: float

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What a release of the whole study spends."""
        return tuple(query.spend for query in self.queries)

    @property
    def dp_epsilon(self) -> float:
        """The DP sum of the study, rounded up."""
        return total_cost(self.spends).dp_epsilon

    @property
    def secrets_interval(self) -> SecretsInterval | None:
        """Where secret values must lie, if a theorem about Lipschitz mechanisms was used."""
        return secrets_needed(self.reading, self.spends)


def reading_of(study: StudySpec) -> Reading:
    """The reading of the data set's DP sum that the study declares."""
    budget, population = study.budget, study.population
    if budget.notion == "dp" or population is None:
        return Reading("dp", budget.epsilon)
    spec = {k: v for k, v in population.spec().items() if k not in ("source", "covers")}
    return Reading(
        "bdp",
        budget.epsilon,
        population=spec,
        adversary=budget.adversary,
        secrets=budget.secrets,
        covers=covered_labels(study),
        independent=independent_labels(study),
        interval=_secrets_interval(study),
    )


def declared_columns(study: StudySpec) -> dict[str, list[str]]:
    """The columns of the table that are declared `private` and `public`, a role being public.

    A derived column counts as the one that it is derived from, whether that is declared or not.
    """
    columns = study.columns.values()
    return {
        "private": sorted({one.source or one.name for one in columns if one.is_private}),
        "public": sorted({one.source or one.name for one in columns if one.is_public}),
    }


def _secrets_interval(study: StudySpec) -> tuple[float, float] | None:
    """Where secret values lie, for theorems about Lipschitz mechanisms of one covered column."""
    population = study.population
    if not isinstance(population, Gaussian | Autoregressive) or len(population.covers) != 1:
        return None
    if study.budget.secrets != "bounded":
        return None
    if isinstance(population, Gaussian) and population.columns is not None:
        return None  # vectors: the population itself declares their bounds
    return study.columns[population.covers[0]].bounds


def structure_of(study: StudySpec) -> Structure:
    """What the table is held against."""
    population = study.population
    kind = population.structure if population is not None else "none"
    size = population.group_size if population is not None else None
    clustered = any(column.role == "cluster" for column in study.columns.values())
    if kind == "cluster" and size == 1 and not clustered:
        kind = "none"  # clusters of one record: nothing in the table says so, nor has to
    if population is not None and kind == "all":
        size = population.table_size
    return Structure(
        n=study.data.n if isinstance(study.data.n, int) else None,
        unit=study.data.unit,
        rows_per_unit=study.data.rows_per_unit,
        cluster_size=size if kind in ("cluster", "all") else None,
        series_length=size if kind == "series" else None,
    )


def make_plan(study: StudySpec, n: int | None = None, *, within: float | None = None) -> Plan:
    """Price the study. `n` is the number of records where the study takes it from the data.

    `within` is a level below the study's budget to stay within, if the whole of it is not to be
    used.

    Raises `InputError` for a query that can't be asked, `BudgetExceededError` if the wanted errors
    alone cost more than the study may spend.
    """
    if study.data.n != FROM_DATA:
        n = int(study.data.n)
    shapes = [shape(study, position) for position in range(len(study.queries))]
    reading = reading_of(study)
    _check_unknown(study, n)
    target = study.budget.spend or study.budget.epsilon
    pricing = _Pricing(study, shapes, n, reading, min(target, within or target))
    queries = pricing.solve()
    spends = [query.spend for query in queries]
    report = converted(reading, spends) if reading.notion == "bdp" else None
    reached = level(reading, spends)
    if not reached <= target:
        raise BudgetExceededError(
            f"The study would reach the level {reached:.6g}, above its budget of {target:.6g}."
        )
    return Plan(study, n, reading, tuple(queries), report, reached, target)


def _check_unknown(study: StudySpec, n: int | None) -> None:
    population = study.population
    if population is None or population.structure != "all" or n is None:
        return
    if n > population.table_size:
        raise InputError(
            f"population.{'records' if population.model == 'unknown' else population.model}",
            population.table_size,
            expected=f"at least data.n = {n} records",
        )


class _Pricing:
    """Two passes: costs without the grid's slack, then grids, then costs with it."""

    def __init__(
        self, study: StudySpec, shapes: list[Shape], n: int | None, reading: Reading, target: float
    ) -> None:
        self.study = study
        self.shapes = shapes
        self.rows = (n or _PROVISIONAL_RECORDS) * (study.data.rows_per_unit or 1)
        self.n = n
        self.reading = reading
        self.target = target
        self.per_record = study.data.rows_per_unit or 1
        self.weights = [0.0 if s.spec.error is not None else (s.spec.weight or 1.0) for s in shapes]

    def solve(self) -> list[PlannedQuery]:
        weighted = sum(self.weights)
        fixed: list[float | None] = [
            None if s.spec.error is None else self._cost_of_error(s) for s in self.shapes
        ]
        grids: list[Grid | None] = [None] * len(self.shapes)
        for _ in range(2):
            total = self._weighted_total(fixed, grids, weighted)
            costs = [
                known if known is not None else total * weight / weighted
                for known, weight in zip(fixed, self.weights, strict=True)
            ]
            for position, cost in enumerate(costs):
                self._check_cost(position, cost)
            grids = [self._grid(s, c) for s, c in zip(self.shapes, costs, strict=True)]
        priced = [
            self._priced(s, cost, grid)
            for s, cost, grid in zip(self.shapes, costs, grids, strict=True)
        ]
        for query in priced:
            self._check_shown(query)
        return priced

    def _check_cost(self, position: int, cost: float) -> None:
        """A weight far below the others leaves nothing, and a tiny error costs too much."""
        spec = self.shapes[position].spec
        if SMALLEST_COST <= cost < math.inf:
            return
        value = spec.weight if spec.error is None else spec.error
        part = "" if value is None else ".weight" if spec.error is None else ".error"
        raise InputError(
            f"query[{position}]{part}",
            value,
            shown=value is not None,
            expected=f"a DP cost of at least {SMALLEST_COST:g} nats for the query '{spec.name}', "
            f"and its share would be {cost:g}",
            remedy="Use weights closer to each other, or a larger budget.",
        )

    def _check_shown(self, query: PlannedQuery) -> None:
        if query.is_finite(self.rows):
            return
        column = query.shape.column
        raise InputError(
            f"data.columns.{column.name}.bounds" if column is not None else "data.n",
            list(column.bounds or ()) if column is not None else self.n,
            expected=f"bounds for which the query '{query.shape.spec.name}' and its error are "
            "finite doubles",
            remedy="Use another unit.",
        )

    def _weighted_total(
        self, fixed: list[float | None], grids: list[Grid | None], weighted: float
    ) -> float:
        """The DP budget that the weighted queries share."""

        def spends(total: float) -> list[Spend]:
            made = []
            for position, known in enumerate(fixed):
                cost = known if known is not None else total * self.weights[position] / weighted
                if cost > 0.0:
                    made.append(self._spend(self.shapes[position], cost, grids[position]))
            return made

        alone = level(self.reading, spends(0.0)) if any(k is not None for k in fixed) else 0.0
        if not alone <= self.target:
            raise BudgetExceededError(
                f"The wanted errors alone reach the level {alone:.6g}, above the study's budget of "
                f"{self.target:.6g}. Ask for larger errors; nothing was released or spent."
            )
        if weighted == 0.0:
            return 0.0
        total = largest_within(lambda x: level(self.reading, spends(x)), self.target)
        if total <= 0.0:
            raise BudgetExceededError(
                "The wanted errors use up the study's budget: nothing is left for the queries with "
                "a weight. Ask for larger errors; nothing was released or spent."
            )
        # A hair less, so that no rounding, here or in the kernel, can push the sum over the budget.
        return total * (1.0 - 1e-9)

    def _spend(self, shape: Shape, cost: float, grid: Grid | None) -> Spend:
        lipschitz = shape.kind == "lipschitz" and shape.column is not None
        column = shape.column
        slack = math.nextafter(cost * grid.slack, math.inf) if grid is not None else 0.0
        return Spend(
            dataset=self.study.data.dataset,
            unit=self.study.data.unit,
            query=shape.spec.name,
            kind=shape.kind,
            dp_epsilon=cost,
            column=label(column) if column is not None else None,
            interval=column.bounds if lipschitz and column is not None else None,
            slack=slack if lipschitz else 0.0,
            reads=shape.reads,
            mechanism=shape.mechanism,
        )

    def _grid(self, shape: Shape, cost: float) -> Grid | None:
        if shape.integer_valued:
            check_room(self.rows, self._count_sensitivity(shape), cost)
            return None
        assert shape.column is not None
        assert shape.column.bounds is not None
        low, high = shape.column.bounds
        population = self.study.population
        return Grid.plan(
            low,
            high,
            -(-self.rows // self.per_record),
            dp_epsilon=cost,
            masked=shape.masked,
            dependents=population.group_size if population and shape.kind == "lipschitz" else 1,
            rows_per_record=self.per_record,
            key=f"data.columns.{shape.column.name}.bounds",
        )

    def _count_sensitivity(self, shape: Shape) -> int:
        """Replace one record: a count moves by its rows, two cells of a histogram by theirs."""
        return self.per_record * (2 if shape.cells is not None else 1)

    def _priced(self, shape: Shape, cost: float, grid: Grid | None) -> PlannedQuery:
        if grid is None:
            sensitivity, step = self._count_sensitivity(shape), Fraction(1)
        else:
            sensitivity, step = grid.sensitivity * self.per_record, grid.step
        noise = DiscreteLaplace.for_cost(sensitivity, cost)
        certified = noise.cost(sensitivity)
        return PlannedQuery(
            shape, noise, sensitivity, step, grid, certified, self._spend(shape, certified, grid)
        )

    def _cost_of_error(self, shape: Shape) -> float:
        """The DP cost of the wanted error: the noise with the largest scale that keeps to it."""
        spec = shape.spec
        assert spec.error is not None
        key = f"query[{self.shapes.index(shape)}].error"
        error = Fraction(spec.error)
        if spec.kind in ("mean", "proportion"):
            if self.n is None or spec.by is not None or (spec.kind == "mean" and spec.where):
                raise InputError(
                    key,
                    spec.error,
                    expected="a weight here, since how many rows the average is over is known only "
                    "from the data",
                    remedy="State data.n, or use weight.",
                )
            error *= self.n
        grid: Grid | None = None
        if not shape.integer_valued:
            rough = self._rough_cost(shape, error)
            self._check_cost(self.shapes.index(shape), rough)
            grid = self._grid(shape, rough)
        step = grid.step if grid is not None else Fraction(1)
        sensitivity = (
            grid.sensitivity * self.per_record
            if grid is not None
            else self._count_sensitivity(shape)
        )
        scale = DiscreteLaplace.scale_for_error(math.floor(error / step), spec.confidence)
        return DiscreteLaplace(scale).cost(sensitivity)

    @staticmethod
    def _rough_cost(shape: Shape, error: Fraction) -> float:
        """About what it will cost: it decides how much room the grid leaves for noise."""
        assert shape.column is not None
        assert shape.column.bounds is not None
        low, high = shape.column.bounds
        width = max(high - low, abs(low), abs(high)) if shape.masked else high - low
        return max(width * 3.0 / float(error), 1e-9)


def describe_query(query: PlannedQuery) -> dict[str, Any]:
    """A planned query as plain data, for `check --json` and certificates."""
    spec = query.shape.spec
    given: dict[str, Any] = {
        "name": spec.name,
        "kind": spec.kind,
        "column": spec.column,
        "where": spec.where,
    }
    given |= {"by": spec.by, "bins": list(spec.bins) if spec.bins else None}
    given["tightness"] = spec.tightness if spec.tightness != "dp" else None
    return {key: value for key, value in given.items() if value is not None}
