"""What each query of a study costs, and how much noise that buys.

Queries with a wanted error fix their own cost; the others share, by weight, what is left of the
study's budget. The costs are the largest for which the reading of the study's own spends stays
within what the study may spend (theory 2.2, 4). All queries of a study have noise of one kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from bayesdp.accounting.costs.composition import SECONDS, converted, dp_bound
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.accounting.costs.spend import Spend
from bayesdp.calibration import MOST_LEVELS, largest_within
from bayesdp.errors import BudgetExceededError, InputError
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.notions import Refused
from bayesdp.numbers import ZERO, UpperBound
from bayesdp.release.price.noise import NoiseKind
from bayesdp.release.price.planned_query import PlannedQuery
from bayesdp.release.price.size_remedies import size_remedy
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.queries.products import moments_move, moments_move_squared
from bayesdp.release.spec.column_labels import label
from bayesdp.release.spec.parts import BudgetSpec
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.spends import COLLECTED
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids
from bayesdp.theorems.zeros import zeros_hint

SMALLEST_COST = 1e-100
"""Below it no noise fits, and messages should say which query is meant."""
_MOST_COST = 1e100
_TRIES = 60
_NEARLY_ALL = 1.0 - 1e-6
"""Of the largest cost: errors that are shown are rounded, and must fit all the same."""
_PROVISIONAL_RECORDS = 2**20


def own_level(reading: Reading, spends: Sequence[Spend], seconds: float = SECONDS) -> UpperBound:
    """The level that a study's spends reach on their own, fixed before anything was seen.

    Without a delta it is the ledger's level; with a delta it may be lower, since a ledger counts
    with later studies whose costs depend on earlier answers (theory 2.6).
    """
    if reading.notion == "dp":
        return dp_bound(reading, spends, fixed=True).epsilon
    return converted(reading, spends, fixed=True, seconds=seconds).best.epsilon


def raise_spend(budget: BudgetSpec) -> str:
    """The end of a refusal's advice where a study may spend more of its total; else empty."""
    if budget.spend is None or budget.spend >= budget.epsilon:
        return ""
    spend, total = exact_text(budget.spend), exact_text(budget.epsilon)
    return f", or raise budget.spend (it is {spend}, of {total})"


class Pricing:
    """Prices the queries in two passes: first without the grids' slack, then with it.

    `others` are spends of the same study that are fixed already: its programs'. `advises`: whether
    a refusal says which errors would fit.
    """

    def __init__(
        self,
        study: StudySpec,
        asked_queries: list[AskedQuery],
        n: int | None,
        reading: Reading,
        target: float,
        noise: NoiseKind,
        others: Sequence[Spend] = (),
    ) -> None:
        self.study = study
        self.others = list(others)
        self.noise = noise
        self.asked_queries = [_with_strategy(asked, noise) for asked in asked_queries]
        self.rows = (n or _PROVISIONAL_RECORDS) * study.data.rows_per_record
        self.n = n
        self.reading = reading
        self.target = target
        self.search = NEVER
        self.advises = True
        self.seconds = study.budget.seconds
        self.refused: list[Refused] = []
        self.best = ""  # the theorem of the level that was asked for last
        self.per_record = study.data.rows_per_record
        self.weights = [
            0.0 if asked.spec.error is not None else (asked.spec.weight or 1.0)
            for asked in asked_queries
        ]

    def solve(self) -> list[PlannedQuery]:
        """The queries with their noise.

        Raises `InputError` and `BudgetExceededError` as `make_plan` does.

        The search may take `MOST_LEVELS` (60) times the seconds of one level; then only quick
        theorems are asked, and it answers with the largest costs found so far. `refused` then has
        the theorems that were refused at any of the levels, unless it was exact.
        """
        weighted = sum(self.weights)
        fixed: list[float | None] = [
            None if asked.spec.error is None else self._cost_of_error(asked)
            for asked in self.asked_queries
        ]
        grids: list[Grid | Grids | None] = [None] * len(self.asked_queries)
        self.search = Deadline(MOST_LEVELS * self.seconds)
        for _ in range(2):
            before = grids
            total = self._weighted_total(fixed, grids, weighted)
            costs = [
                known if known is not None else total * weight / weighted
                for known, weight in zip(fixed, self.weights, strict=True)
            ]
            for position, cost in enumerate(costs):
                self._check_cost(position, cost)
            grids = [
                self._grid(asked, cost)
                for asked, cost in zip(self.asked_queries, costs, strict=True)
            ]
            if grids == before:  # the same question would have the same answer
                break
        priced = [
            self._priced(asked, cost, grid)
            for asked, cost, grid in zip(self.asked_queries, costs, grids, strict=True)
        ]
        for query in priced:
            self._check_shown(query)
        return priced

    def _check_cost(self, position: int, cost: float) -> None:
        """A weight far below the others leaves nothing, and a tiny error costs too much."""
        spec = self.asked_queries[position].spec
        if SMALLEST_COST <= cost < math.inf:
            return
        value = spec.weight if spec.error is None else spec.error
        part = "" if value is None else ".weight" if spec.error is None else ".error"
        raise InputError(
            f"{self.asked_queries[position].key}{part}",
            value,
            shown=value is not None,
            expected=f"a DP cost of at least {SMALLEST_COST:g} nats for the query '{spec.name}', "
            f"and its share would be {cost:g}",
            remedy="Use weights closer to each other, or a larger budget.",
        )

    def _check_shown(self, query: PlannedQuery) -> None:
        if query.is_finite(self.rows):
            return
        column = query.asked.column
        raise InputError(
            f"data.columns.{column.name}.bounds" if column is not None else "data.n",
            list(column.interval or ()) if column is not None else self.n,
            expected=f"bounds for which the query '{query.asked.spec.name}' and its error are "
            "finite doubles",
            remedy="Use another unit.",
        )

    def _weighted_total(
        self, fixed: list[float | None], grids: list[Grid | Grids | None], weighted: float
    ) -> float:
        """The DP budget that the weighted queries share."""

        def spends(total: float) -> list[Spend]:
            made = list(self.others)
            for position, known in enumerate(fixed):
                cost = known if known is not None else total * self.weights[position] / weighted
                if cost > 0.0:
                    made.append(self._spend(self.asked_queries[position], cost, grids[position]))
            return made

        known = [*self.others, *(cost for cost in fixed if cost is not None)]
        alone = self._level(spends(0.0)) if known else 0.0
        allowed = self.study.budget.spend or self.study.budget.epsilon
        if self.target < alone <= allowed and weighted > 0.0:
            raise self._nothing_left()  # less than all may be spent, as the kernel proves more
        if not keeps(alone, self.target, self.reading.delta):
            raise BudgetExceededError(
                f"{self._fixed_costs()} alone reach the level {up_words(alone)}, above the study's "
                f"budget of {exact_text(self.target)} for one release. {self._ask()}; nothing was "
                "released or spent."
            )
        if weighted == 0.0:
            return 0.0
        total = self._largest(lambda x: self._level(spends(x)))
        if total <= 0.0 and not known:
            raise BudgetExceededError(
                f"No {self.noise.name} noise has a level for this population within the budget of "
                f"{exact_text(self.target)}" + self._at_delta() + "; nothing was released or spent."
            )
        if total <= 0.0:
            raise self._nothing_left()
        # A hair less, so that no rounding, here or in the kernel, can push the sum over the budget.
        return total * (1.0 - 1e-9)

    def _nothing_left(self) -> BudgetExceededError:
        return BudgetExceededError(
            f"{self._fixed_costs()} use up the study's budget: nothing is left for the queries "
            f"with a weight. {self._ask()}; nothing was released or spent."
        )

    def _fixed_costs(self) -> str:
        """In words: what has a fixed cost, before the weighted queries share the rest."""
        if any(spend.mechanism == COLLECTED for spend in self.others):
            more = len(self.others) > sum(s.mechanism == COLLECTED for s in self.others)
            more = more or any(asked.spec.error is not None for asked in self.asked_queries)
            rest = ", the programs and the wanted errors" if more else ""
            return f"The costs that were paid when answers were perturbed{rest}"
        wanted = any(asked.spec.error is not None for asked in self.asked_queries)
        if not self.others:
            return "The wanted errors"
        return "The programs and the wanted errors" if wanted else "The programs"

    def _ask(self) -> str:
        ask = "Ask for larger errors" + self._larger_errors()
        if any(spend.mechanism == COLLECTED for spend in self.others):
            ask = "Allow the study more: answers are paid for at collection"
        elif self.others:
            ask = "Write smaller epsilons in the programs, or allow the study more"
        ask += raise_spend(self.study.budget)
        hint = zeros_hint(self.study.population, self.best) if self.reading.notion == "bdp" else ""
        return f"{ask}. {hint.removesuffix('.')}" if hint else ask

    def _larger_errors(self) -> str:
        """Errors that the queries could have within the budget, if all were larger alike.

        They are tried, as a study that asks for them would be. Empty where weights or programs
        share the budget, and where no errors fit.
        """
        wanted = [
            float(asked.spec.error) for asked in self.asked_queries if asked.spec.error is not None
        ]
        if not self.advises or self.others or len(wanted) < len(self.asked_queries):
            return ""
        costs = [self._cost_of_error(asked) for asked in self.asked_queries]
        whole = sum(costs)

        def shared(total: float) -> list[float]:
            return [cost * total / whole for cost in costs]

        def level(total: float) -> float:
            parts = zip(self.asked_queries, shared(total), strict=True)
            return self._level([self._spend(asked, cost, None) for asked, cost in parts])

        most = self._largest(level) * _NEARLY_ALL
        if most <= 0.0:
            return ""
        try:
            priced = [
                self._priced(asked, cost, self._grid(asked, cost)).wanted_error(self.n)
                for asked, cost in zip(self.asked_queries, shared(most), strict=True)
            ]
        except InputError:  # so much noise has no room in a total
            return ""
        errors = [up_words(error) for error in priced if error is not None]
        if len(errors) < len(priced) or not self._fits_with(list(map(float, errors))):
            return ""
        return ", such as " + ", ".join(
            f"error = {error} for '{asked.spec.name}' ({asked.unit_words()})"
            for asked, error in zip(self.asked_queries, errors, strict=True)
        )

    def _fits_with(self, errors: Sequence[float]) -> bool:
        """Whether the queries fit within the budget with these errors in the place of theirs."""
        larger = [
            replace(asked, spec=asked.spec.model_copy(update={"error": error}))
            for asked, error in zip(self.asked_queries, errors, strict=True)
        ]
        changed = Pricing(self.study, larger, self.n, self.reading, self.target, self.noise)
        changed.advises = False
        try:
            changed.solve()
        except (BudgetExceededError, InputError):
            return False
        return True

    def _level(self, spends: Sequence[Spend]) -> float:
        """The study's own level, raised where else the data set's total would not be kept."""
        kept = self._ledger_level(spends)
        if self.reading.delta == 0.0 or self.target >= self.reading.total:
            return kept  # which the study's own level doesn't exceed
        kept = math.nextafter(kept * (self.target / self.reading.total), math.inf)
        own = own_level(self.reading, spends, self.seconds)
        return kept if kept > self.target else max(kept, own)

    def _ledger_level(self, spends: Sequence[Spend]) -> float:
        """The level that a ledger counts with, within the time of the search."""
        if self.reading.notion == "dp":
            return dp_bound(self.reading, spends).epsilon
        answer = converted(self.reading, spends, search=self.search, seconds=self.seconds)
        self.best = answer.best.theorem
        if answer.best.tight != "exact":  # else no theorem could have done better
            self.refused += answer.refused
        return answer.best.epsilon

    def _at_delta(self) -> str:
        return f" at delta {exact_text(self.reading.delta)}" if self.reading.delta > 0.0 else ""

    def _largest(self, level_of: Callable[[float], float]) -> float:
        """The largest total found whose level is within the target; it was evaluated."""
        if self.reading.delta == 0.0:
            # On disjoint blocks the largest counts, so all together may be above their level: up to
            # as many times as there are queries.
            blocks = any(asked.block is not None for asked in self.asked_queries)
            most = len(self.asked_queries) if blocks else 1
            return most * largest_within(lambda x: level_of(most * x), self.target, self.search)
        # At a delta a level may lie below the total, and there may be none for large totals: the
        # search starts from where there is one, above the target.
        low, high, power = 0.0, self.target, self.noise.power
        while (value := level_of(high)) <= self.target and high < _MOST_COST:
            low, high = high, 4.0 * high
        for _ in range(_TRIES):
            if math.isfinite(value):
                break
            middle = math.sqrt(low * high) if low > 0.0 else high / 8.0
            if (at_middle := level_of(middle)) <= self.target:
                low = middle
            else:
                high, value = middle, at_middle
        if not math.isfinite(value):
            return low

        def total(x: float) -> float:
            return float(high * (x / self.target) ** power)

        return total(largest_within(lambda x: level_of(total(x)), self.target, self.search))

    def _spend(self, asked: AskedQuery, cost: float, grid: Grid | Grids | None) -> Spend:
        lipschitz = asked.kind == "lipschitz" and asked.column is not None
        column = asked.column
        slack = grid.slack if lipschitz and isinstance(grid, Grid) else 0.0
        return Spend(
            dataset=self.study.data.dataset,
            unit=self.study.data.protected_unit,
            people=self.study.data.people,
            query=asked.spec.name,
            kind=asked.kind,
            column=label(column) if column is not None else None,
            interval=column.bounds if lipschitz and column is not None else None,
            reads=asked.reads,
            mechanism=self.noise.for_query(asked).mechanism(asked),
            block=asked.block,
            dp_delta=UpperBound(asked.from_data.delta) if asked.from_data is not None else ZERO,
            **self.noise.spent(cost, slack),
        )

    def _grid(self, asked: AskedQuery, cost: float) -> Grid | Grids | None:
        if asked.products:
            return self._grids(asked, cost)
        if asked.integer_valued:
            noise = self.noise.for_query(asked)
            sensitivity = noise.sensitivity(asked, None)
            noise.check_room(self.rows * asked.fineness, sensitivity, cost)
            return None
        assert asked.column is not None
        assert asked.interval is not None
        low, high = asked.interval
        population = self.study.population
        return Grid.plan(
            low,
            high,
            -(-self.rows // self.per_record) * asked.fineness,
            masked=asked.masked,
            dependents=population.group_size if population and asked.kind == "lipschitz" else 1,
            rows_per_record=self.per_record,
            moves_between_groups=asked.moves_between_groups,
            squares=asked.squares,
            key=f"data.columns.{asked.column.name}.bounds",
            **self.noise.grid_options(cost / self._more_noise(asked)),
        )

    def _more_noise(self, asked: AskedQuery) -> float:
        """How many times the cost of one sum the same noise on a series costs, for its room."""
        if asked.series is None:
            return 1.0
        power, parts = self.noise.power, 1 + asked.moves_between_groups
        due = self.noise.for_query(asked).sensitivity(asked, None)
        return float(due) / float(parts * self.per_record**power)

    def _grids(self, asked: AskedQuery, cost: float) -> Grids:
        """A grid for each column that is multiplied, all with room for the products and noise."""
        moves = 1
        if asked.cells is not None:
            linear = self.noise.power == 1
            moves = (moments_move if linear else moments_move_squared)(
                len(asked.products), 1, 1
            ) + 1
        grids = [
            Grid.plan(
                *column.interval,
                -(-self.rows // self.per_record),
                rows_per_record=self.per_record,
                squares=True,
                moves=moves,
                key=f"data.columns.{column.name}.bounds",
                **self.noise.grid_options(cost),
            )
            for column in asked.products
            if column.interval is not None
        ]
        return Grids.alike(grids)

    def _priced(self, asked: AskedQuery, cost: float, grid: Grid | Grids | None) -> PlannedQuery:
        kind = self.noise.for_query(asked)
        sensitivity = kind.sensitivity(asked, grid)
        noise = kind.for_cost(sensitivity, cost)
        spend = self._spend(asked, noise.cost(sensitivity), grid)
        if asked.from_data is not None:
            assert isinstance(noise, DiscreteLaplace)
            asked.from_data.threshold(noise)  # one beyond 64 bits is refused here
        return PlannedQuery(asked, noise, sensitivity, asked.step(grid), grid, spend)

    def _cost_of_error(self, asked: AskedQuery) -> float:
        """The DP cost of the wanted error: the noise with the largest scale that keeps to it."""
        spec = asked.spec
        assert spec.error is not None
        key = f"{asked.key}.error"
        error = Fraction(spec.error)
        if asked.averaged:
            rows = asked.rows(self.n)
            if rows is None:
                raise InputError(
                    key,
                    spec.error,
                    expected="a weight here, since how many rows the average is over is known only "
                    "from the data",
                    remedy=size_remedy(asked),
                )
            error *= rows
        grid: Grid | Grids | None = None
        if not asked.integer_valued:
            rough = self._rough_cost(asked, error)
            self._check_cost(self.asked_queries.index(asked), rough)
            grid = self._grid(asked, rough)
        kind = self.noise.for_query(asked)
        noise = kind.for_error(math.floor(error / asked.step(grid)), spec.confidence)
        return noise.cost(kind.sensitivity(asked, grid))

    def _rough_cost(self, asked: AskedQuery, error: Fraction) -> float:
        """About what it will cost: it decides how much room the grid leaves for noise."""
        if asked.products:
            ends = [column.interval or (0.0, 0.0) for column in asked.products]
            return self.noise.rough_cost(math.prod(high - low for low, high in ends), float(error))
        assert asked.column is not None
        assert asked.interval is not None
        low, high = asked.interval
        width = max(high - low, abs(low), abs(high)) if asked.masked else high - low
        return self.noise.rough_cost(width * width if asked.squares else width, float(error))


def _with_strategy(asked: AskedQuery, noise: NoiseKind) -> AskedQuery:
    """The query, with the strategy of its series for noise of this kind, if it is one."""
    if asked.series is None:
        return asked
    rows = asked.rows_that_count, asked.rows_in_group
    gaussian = noise.name == "gaussian"
    return replace(asked, series=asked.series.with_noise(asked.key, *rows, gaussian=gaussian))
