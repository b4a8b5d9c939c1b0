"""The results of a release: that they are what was asked for, with the noise and error derived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from flint import arb

from bayesdp.kernel.arithmetic import agree, ball, require
from bayesdp.kernel.costs.queries import AskedQuery
from bayesdp.kernel.costs.series import PeriodSums, due_multiple, share
from bayesdp.kernel.reading import same
from bayesdp.kernel.steps.tails import choice_tail, gaussian_tail, laplace_tail
from bayesdp.statements.columns import Columns
from bayesdp.statements.costs import (
    ExponentialStep,
    GaussianStep,
    LaplaceStep,
    PermuteAndFlipStep,
)
from bayesdp.statements.queries import TableQuery, column_names, product_unit, squared_unit
from bayesdp.statements.results import ErrorMargin, NumberResult, QuantileResult, SeriesResult

NOISES = {"discrete-laplace": laplace_tail, "discrete-gaussian": gaussian_tail}
"""The rules about a query's noise, each with its law's tail."""


_SEARCHED = arb(2) ** -26
"""How much larger an error may be than what is due: more than searches are off by."""

NoiseStep = LaplaceStep | GaussianStep | PermuteAndFlipStep | ExponentialStep
ShownResult = NumberResult | QuantileResult | SeriesResult
ShownNumber = tuple[TableQuery, object, int]
"""A query, the group that a result is about, and over how many rows it is."""


def check_results(
    results: Sequence[ShownResult],
    table_rows: int,
    steps: Sequence[NoiseStep],
    asked_queries: Sequence[AskedQuery],
    columns: Columns,
) -> list[ShownNumber]:
    """`InvalidError` unless each result was noised as its query's step says.

    Gives the numbers of rows that are shown, which are for `row_counts` to check.
    """
    return _Results(results, table_rows, steps, asked_queries, columns).check()


class _Results:
    """Each released number was noised as derived, and its error is that of the noise."""

    def __init__(
        self,
        results: Sequence[ShownResult],
        table_rows: int,
        steps: Sequence[NoiseStep],
        asked_queries: Sequence[AskedQuery],
        columns: Columns,
    ) -> None:
        self.results, self.table_rows, self.columns = results, table_rows, columns
        self.steps, self.asked_queries = steps, asked_queries
        self.weighted: tuple[NoiseStep | None, list[arb]] = (None, [])
        self.multiples: dict[tuple[object, ...], arb] = {}

    def check(self) -> list[ShownNumber]:
        due = [
            (step, asked, key, cell, place)
            for step, asked in zip(self.steps, self.asked_queries, strict=True)
            for place, (key, cell) in enumerate(
                product(asked.keys or (None,), asked.cells or (None,))
            )
        ]
        agree(len(self.results), len(due), "number of results", "results")
        shown: list[ShownNumber] = []
        for result, (step, asked, key, cell, place) in zip(self.results, due, strict=True):
            query = step.evidence.query
            where = f"result: {query.name}"
            named = (query.name, query.kind, key, cell)
            labelled = (result.query, result.kind, result.group, getattr(result, "cell", None))
            require(same(labelled, named), f"{labelled!r} stands where {named!r} is due", where)
            agree(result.unit, self.unit(query), "unit", where)
            conclusion = step.conclusion
            cost = conclusion.rho if is_zcdp(step) else conclusion.epsilon
            agree(result.cost, cost, "DP cost", where)
            if isinstance(result, QuantileResult):
                self.choice(result, step, asked, where)
                continue
            if isinstance(result, SeriesResult):
                self.answer(result, step, asked, place, where)
                continue
            self.value(result, step, asked, where)
            self.noise(result, step, where)
            if result.rows is not None and (asked.cells is None or cell == asked.cells[0]):
                shown.append((query, key, result.rows))
            elif result.rows is not None:
                agree(result.rows, shown[-1][2], "rows of the other moments", where)
        return shown

    def unit(self, query: TableQuery) -> str:
        """The unit of what is released: a column's, of a variance its square; none of counts.

        Of a covariance that of both columns; none of a regression's moments, which are scaled.
        """
        if query.kind == "covariance":
            units = (self.columns[name].unit or "" for name in query.value_columns)
            return product_unit(*units)
        if not query.is_sum and query.kind != "quantile":
            return ""
        unit = self.columns[column_names(query.column)[0]].unit or ""
        return squared_unit(unit) if query.kind == "variance" else unit

    def value(self, result: NumberResult, step: NoiseStep, asked: AskedQuery, where: str) -> None:
        """A whole number of steps, in 64 bits: no noise gives anything in between.

        Sums of values that don't start at 0 are over public numbers of rows, which a certificate
        tells of the whole table only.
        """
        query, grid = step.evidence.query, step.evidence.grid
        length, offset = Fraction(*step.evidence.step), Fraction(0)
        rows = result.rows or 1
        if asked.squares:
            require(result.value >= 0, "its variance is below 0", where)
        elif grid is not None and not asked.masked:
            part = query.where is not None or query.by is not None
            if result.rows is None and part:
                return
            offset = Fraction(grid.lo) * (self.table_rows if result.rows is None else rows)
        near = round((Fraction(result.value) * rows - offset) / length)
        whole = (total for total in (near - 1, near, near + 1) if abs(total) <= 2**63)
        on_grid = any(float((offset + length * total) / rows) == result.value for total in whole)
        require(on_grid, f"{result.value!r} is not a whole number of steps", where)

    def noise(self, result: NumberResult, step: NoiseStep, where: str) -> None:
        noise, error = result.noise, result.error
        self.law(result, step, Fraction(*step.evidence.step) / (result.rows or 1), where)
        margin, length = Fraction(error.value), Fraction(noise.step)
        tail = partial(NOISES[step.rule], Fraction(noise.scale))
        self.margin(margin, length, tail, error.confidence, where)

    def choice(
        self, result: QuantileResult, step: NoiseStep, asked: AskedQuery, where: str
    ) -> None:
        """One of the candidates, and the error of its rank: what the number of them bounds."""
        candidates = asked.candidates
        assert candidates is not None
        require(result.value in candidates, f"{result.value!r} is not a candidate", where)
        length = Fraction(*step.evidence.step)
        self.law(result, step, length, where)
        error, scale = result.rank_error, Fraction(result.noise.scale)
        tail = partial(choice_tail, step.rule, len(candidates), scale)
        self.margin(Fraction(error.rows), length, tail, error.confidence, where)

    def answer(
        self, result: SeriesResult, step: NoiseStep, asked: AskedQuery, place: int, where: str
    ) -> None:
        """The number of a series at this place: its error alone, and that of all at once.

        Without a tree or a matrix it is a whole number of steps, unless it is over a public number
        of rows. Else it is a linear function of sums with noise, and any number may be one.
        """
        series = asked.series
        assert series is not None
        length = Fraction(*step.evidence.step)
        self.law(result, step, length, where)
        grid = step.evidence.grid
        if series.strategy == "identity" and (grid is None or grid.masked):
            whole = round(Fraction(result.value) / length)
            on_grid = any(float(length * k) == result.value for k in (whole - 1, whole, whole + 1))
            require(on_grid, f"{result.value!r} is not a whole number of steps", where)
        scale, confidence = Fraction(step.evidence.scale), result.error.confidence
        margins = [(result.error, 1), (result.simultaneous, series.answered)]
        if series.is_single:
            tail = partial(NOISES[step.rule], scale)
            self.margin(Fraction(result.error.value), length, tail, confidence, where)
            margins = margins[1:]
        if place == 0 or step is not self.weighted[0]:
            self.weighted = (step, series.weights())
        weight = self.weighted[1][place].sqrt()
        for margin, answers in margins:
            allowed = (1 - Fraction(confidence)) / answers
            due = weight * ball(length) * self.multiple(step, series, allowed, weight)
            self.follows(margin, due, where)

    def multiple(self, step: NoiseStep, series: PeriodSums, allowed: Fraction, weight: arb) -> arb:
        """How many times its weight an answer may be off, but for an allowed share of cases."""
        largest = share(weight)
        key = (step.rule, step.evidence.scale, allowed, largest.mid().str(), series.entries)
        if key not in self.multiples:
            scale = Fraction(step.evidence.scale)
            self.multiples[key] = due_multiple(step.rule, scale, allowed, largest, series.entries)
        return self.multiples[key]

    def follows(self, margin: ErrorMargin, due: arb, where: str) -> None:
        """An error that is due, or hardly more: the tool searches for it as well, in doubles."""
        value = ball(Fraction(margin.value))
        require(bool(value >= due), "its error is understated", where)
        require(bool(value <= due * (1 + _SEARCHED)), "its error is overstated", where)

    def law(self, result: ShownResult, step: NoiseStep, length: Fraction, where: str) -> None:
        """The noise that a result shows is that of the query's step, in steps of this length."""
        noise = result.noise
        agree(noise.distribution, step.rule, "distribution", where)
        agree(noise.scale, step.evidence.scale, "scale of the noise", where)
        agree(noise.step, float(length), "step of the noise", where)

    def margin(
        self,
        margin: Fraction,
        length: Fraction,
        tail: Callable[[int], arb],
        confidence: float,
        where: str,
    ) -> None:
        """An error is the least number of steps that the tail allows at the confidence."""
        k = round(margin / length)
        on_grid = k >= 0 and abs(k * length - margin) <= margin / 2**52
        require(on_grid, "its error is not a number of steps", where)
        # Steps that a double doesn't tell apart are unseen.
        allowed, unseen = ball(1 - Fraction(confidence)), k >> 51
        require(bool(tail(k + unseen) <= allowed), "its error is understated", where)
        # Both tails are the same function in the tool, which writes the least such number.
        least = k == 0 or not bool(tail(k - 1 - unseen) <= allowed)
        require(least, "its error is overstated", where)


def is_zcdp(step: NoiseStep) -> bool:
    """Whether a step's cost is in zCDP."""
    return isinstance(step, GaussianStep | ExponentialStep)
