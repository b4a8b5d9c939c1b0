"""What a study's noise means if records depend on each other more than declared.

The noise is fixed first, by the declared population; the same costs are then converted under
others. Every level is proved as that of a release is; where there is none, the row says so and why.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayesdp import notebook
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.notions import Refused, left_out_for_time
from bayesdp.numbers import UpperBound
from bayesdp.populations import Population
from bayesdp.release.certificates.derivation import proved_report
from bayesdp.release.checking.stronger_dependence import stronger
from bayesdp.release.price.plan import Plan
from bayesdp.release.spec.study import StressSpec
from bayesdp.release.words import cost_words

DECLARED = "declared"
"""The name of the row of the study's own population."""


@dataclass(frozen=True, slots=True)
class StressRow:
    """The level of the study's noise under one population, in nats.

    `change` says in words what this population has in place of the declared one. `level` is proved,
    by `theorem`, and `within` says whether it keeps to the target. Where there is no level all
    three are `None`, and `reason` says why; beside a level, `reason` says which theorem may do
    better, given more time. `is_own` marks the populations of `[[stress]]`.
    """

    name: str
    change: str
    population: Population | None
    level: UpperBound | None = None
    theorem: str | None = None
    within: bool | None = None
    reason: str = ""
    is_own: bool = False

    def __str__(self) -> str:
        if self.level is None:
            said = "level not known"
        else:
            said = f"level {up_words(self.level)}, {'within' if self.within else 'above'} target"
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.name}: {said}; {self.change}{reason}"


@dataclass(frozen=True, slots=True)
class Stress(notebook.Listing[StressRow]):
    """The rows of a stress test, the declared population first, and what they are about.

    `target` is what the study may reach, in nats, at `delta`; `dp_epsilon` and `dp_rho` are the
    cost of its noise, the same in all rows.
    """

    rows: tuple[StressRow, ...]
    target: float
    delta: float
    dp_epsilon: float
    dp_rho: float

    def __str__(self) -> str:
        return "\n".join([self.heading(), *map(str, self.rows)])

    def heading(self) -> str:
        """One line that says which noise and which target the rows are about."""
        delta = f" at delta {self.delta:g}" if self.delta > 0.0 else ""
        cost = cost_words(self.dp_epsilon, self.dp_rho)
        return f"Noise of {cost}, for a target of {self.target:g}{delta}"

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each population."""
        rows = [
            (
                row.name,
                row.change,
                "not known" if row.level is None else up_words(row.level),
                {None: "", True: "within", False: "above"}[row.within],
                row.reason,
            )
            for row in self.rows
        ]
        columns = ("population", "what is changed", "level", "target", "remarks")
        return notebook.table(self.heading(), columns, rows)


def stress(plan: Plan) -> Stress:
    """The level of a priced study's noise under the declared population and under others.

    Raises `InputError` for a study of the notion `dp`.
    """
    study, declared = plan.study, plan.study.population
    if plan.report is None or declared is None:
        raise InputError(
            "budget.notion",
            study.budget.notion,
            expected='"bdp": a stress test compares populations, and dp is about none',
        )
    own = StressRow(
        DECLARED,
        declared.describe(),
        declared,
        plan.level,
        plan.report.best.theorem,
        keeps(plan.level, plan.target, plan.reading.delta),
        _slow(plan.report.refused) if plan.report.best.tight != "exact" else "",
    )
    made = (
        _row(plan, change.name, change.change, change.population, change.reason)
        for change in stronger(declared, plan.n)
    )
    asked = (
        _row(plan, entry.name, _declared_words(entry), entry.population, is_own=True)
        for entry in study.stress
    )
    rows = (own, *made, *asked)
    return Stress(rows, plan.target, plan.reading.delta, plan.dp_epsilon, plan.dp_rho)


def _row(
    plan: Plan,
    name: str,
    change: str,
    population: Population | None,
    reason: str = "",
    is_own: bool = False,
) -> StressRow:
    if population is None:
        return StressRow(name, change, None, reason=reason)
    declared = plan.study.population
    assert declared is not None
    covering = population.model_copy(update={"covers": declared.covers})
    instead = plan.study.model_copy(update={"population": covering})
    try:
        report = proved_report(instead, plan.spends)
    except (Refusal, UnsupportedError) as error:
        return StressRow(name, change, covering, reason=str(error), is_own=is_own)
    best = report.best
    return StressRow(
        name,
        change,
        covering,
        best.epsilon,
        best.theorem,
        keeps(best.epsilon, plan.target, plan.reading.delta),
        _slow(report.refused) if best.tight != "exact" else "",
        is_own,
    )


def _declared_words(entry: StressSpec) -> str:
    """What a population of `[[stress]]` is, and who vouches for it."""
    vouched = f" ({entry.population.source})" if entry.population.source else ""
    return f"from [[stress]]: {entry.population.describe()}{vouched}"


def _slow(refused: tuple[Refused, ...]) -> str:
    """The theorems that were left out for time alone: with more time the level may be lower."""
    slow = left_out_for_time(refused)
    if not slow:
        return ""
    names = ", ".join(answer.theorem for answer in slow)
    slowest = max(slow, key=lambda answer: answer.seconds or 0.0)
    remedy = slowest.more_time("budget.seconds = ")
    return f"it may be lower: {names} left out for time ({remedy})"
