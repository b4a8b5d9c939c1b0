"""The price of a study, known before any data are touched.

A study with a delta is priced with both kinds of noise, and has the kind that gives less error for
the study as a whole, unless it names one: Gaussian noise where the geometric mean over the released
numbers of (error with Gaussian noise / error with Laplace noise), each at the confidence of its
query, is below 1. An error of 0 counts as half a step. Queries with a wanted error have that error
either way, and count as 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayesdp.accounting.costs.composition import (
    SecretsInterval,
    converted,
    dp_bound,
    keep_population,
    secrets_of,
)
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import keeps
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.transaction import LedgerEntry
from bayesdp.certificate import Step
from bayesdp.errors import BudgetExceededError, InputError
from bayesdp.notions import LeakageReport, Refused, left_out_for_time
from bayesdp.numbers import UpperBound, up_words
from bayesdp.populations import Autoregressive, Family, Gaussian, Panel, Population
from bayesdp.populations.support import supports
from bayesdp.release.price.noise import NOISES, NoiseName
from bayesdp.release.price.planned_query import CONFIDENCE, PlannedQuery
from bayesdp.release.price.pricing import Pricing, own_level
from bayesdp.release.programs.planned import PlannedProgram, plan_programs
from bayesdp.release.queries.collected import PlannedCollected, plan_collected
from bayesdp.release.queries.found_groups import is_found
from bayesdp.release.queries.from_spec import asked_query
from bayesdp.release.spec.column_labels import covered_labels, independent_labels
from bayesdp.release.spec.parts import CAPS, NO_NOISE
from bayesdp.release.spec.study import FROM_DATA, StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.populations import law_of
from bayesdp.statements.queries import FOUND_GROUPS
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.checks.supports import RuledOut
from bayesdp.tables.queries.query import DataQuery

__all__ = [
    "CONFIDENCE",
    "NoiseChoice",
    "Plan",
    "PlannedQuery",
    "declared_columns",
    "describe_query",
    "make_plan",
    "reading_of",
    "structure_of",
]


@dataclass(frozen=True, slots=True)
class NoiseChoice:
    """The noise of a study with a delta, and why it was chosen.

    `ratio` is the geometric mean of (error with Gaussian noise / error with Laplace noise), `None`
    where only one of them can be priced: `refusal` then says why not the other. `other_errors` are
    the errors with the other noise, by query; `None` while the number of rows is unknown.
    """

    noise: NoiseName
    ratio: float | None
    refusal: str | None
    other_errors: tuple[float | None, ...] = ()

    def words(self) -> str:
        """The choice as a sentence."""
        other: NoiseName = "laplace" if self.noise == "gaussian" else "gaussian"
        if self.ratio is None:
            return f"Noise: {self.noise}. With {other} noise: {self.refusal}"
        times = 1.0 / self.ratio if self.noise == "gaussian" else self.ratio
        return (
            f"Noise: {self.noise}. With {other} noise the errors would be {times:.3g} times as "
            "large for the study as a whole (geometric mean over the released numbers)."
        )


MOST_GROWTH = 2.0
"""How many times larger a release lets the noise be because a proof took too long."""


@dataclass(frozen=True, slots=True)
class TooSlow:
    """Theorems that the kernel had no time to prove, and how many times larger the noise is."""

    theorems: tuple[str, ...]
    growth: float

    @property
    def is_refused(self) -> bool:
        """Whether a release with so much more noise is refused."""
        return self.growth > MOST_GROWTH

    def words(self) -> str:
        """What was left out, what it costs, and what helps."""
        growth = f"{self.growth:.3g} times larger" if self.growth >= 1.005 else "no larger"
        return (
            f"Not proved in the time that a verdict may take on this machine: "
            f"{', '.join(self.theorems)}. Without {'it' if len(self.theorems) == 1 else 'them'} "
            f"the noise is {growth}. A faster or less busy machine helps, or a smaller population."
            + (" A release is refused: nothing would be spent." if self.is_refused else "")
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A priced study.

    `level` is what its spends reach on their own and `target` what they may reach, both in nats of
    the reading's notion. `report` is the conversion of its own spends; `None` for the notion `dp`.
    `queries` are those that release numbers with noise, `collected` those of perturbed answers,
    `programs` the others. `left_out` are the
    theorems that time alone kept out: with more seconds (`budget.seconds`) there may be less noise.
    `unproved` says why the kernel has no say about the level, so that a certificate of it verifies
    as UNKNOWN; it is empty where the kernel proves it. `too_slow` are theorems with lower levels
    that the kernel had no time to prove. `proof` is the step that states the level, without what is
    under it.
    """

    study: StudySpec
    n: int | None
    reading: Reading
    queries: tuple[PlannedQuery, ...]
    report: LeakageReport | None
    level: UpperBound
    target: float
    noise: NoiseName = "laplace"
    choice: NoiseChoice | None = None
    programs: tuple[PlannedProgram, ...] = ()
    collected: tuple[PlannedCollected, ...] = ()
    left_out: tuple[Refused, ...] = ()
    unproved: str = ""
    too_slow: TooSlow | None = None
    proof: Step | None = None

    @property
    def table_queries(self) -> list[DataQuery]:
        """What the data engine computes for its numbers and its perturbed answers."""
        queries = [query.table_query() for query in self.queries]
        return [*queries, *(asked.table_query() for asked in self.collected)]

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The spends of a release of the whole study: its numbers first, its programs last."""
        numbers = [query.spend for query in self.queries]
        numbers += [query.spend for query in self.collected]
        return (*numbers, *(spend for program in self.programs for spend in program.spends))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What more time may buy: for each theorem that was left out, the seconds it takes."""
        late = () if self.too_slow is None else (self.too_slow.words(),)
        return late + tuple(
            f"Left out for time: {refused.theorem} ({refused.more_time('budget.seconds = ')}). "
            "With more time the noise may be less."
            for refused in self.left_out
        )

    @property
    def dp_epsilon(self) -> UpperBound:
        """The pure DP sum of the study, rounded up."""
        return UpperBound(total_cost(self.spends).dp_epsilon)

    @property
    def dp_rho(self) -> UpperBound:
        """The sum of the study's costs in zCDP, rounded up; 0 without Gaussian noise."""
        return UpperBound(total_cost(self.spends).rho)

    @property
    def dp_delta(self) -> UpperBound:
        """The sum of the deltas that its mechanisms have of their own, rounded up."""
        return UpperBound(total_cost(self.spends).dp_delta)

    @property
    def dp_level(self) -> UpperBound:
        """The study's cost under DP: its epsilon at the study's delta, rounded up."""
        reading = self.reading
        aside = reading.mechanism_delta
        as_dp = Reading("dp", reading.total, delta=reading.delta, mechanism_delta=aside)
        return own_level(as_dp, self.spends)

    @property
    def delta(self) -> float:
        """The delta at which the level holds; 0 where it holds without one.

        Under the notion `dp`, where no other delta is needed, it is the sum of the mechanisms' own.
        """
        best = self.report.best if self.report else dp_bound(self.reading, self.spends, fixed=True)
        if self.report is None and not best.proof:
            return best.delta
        return self.reading.delta if best.delta > 0.0 else 0.0

    @property
    def secrets_interval(self) -> SecretsInterval | None:
        """Where secret values must lie, if a theorem about Lipschitz mechanisms was used."""
        return None if self.report is None else secrets_of(self.reading, self.report)


def reading_of(study: StudySpec) -> Reading:
    """The reading that the study declares of the data set's DP sum."""
    budget, population = study.budget, study.population
    if budget.notion == "dp" or population is None:
        aside = budget.mechanism_delta
        return Reading("dp", budget.epsilon, delta=budget.delta, mechanism_delta=aside)
    reading = Reading(
        "bdp",
        budget.epsilon,
        population=law_of(population.spec()),
        adversary=budget.adversary,
        secrets=budget.secrets,
        covers=covered_labels(study),
        independent=independent_labels(study),
        interval=_secrets_interval(study),
        delta=budget.delta,
        dataset=study.data.dataset if study.data.people is not None else "",
    )
    keep_population(reading, population)
    return reading


def declared_columns(study: StudySpec) -> dict[str, list[str]]:
    """The names of the table's `private` and `public` columns; those with a role are public.

    A derived column is replaced by the columns that it is read from, declared or not.
    """
    columns = study.columns.values()
    return {
        "private": sorted(
            {cell for column in columns if column.is_private for cell in column.cells}
        ),
        "public": sorted({cell for column in columns if column.is_public for cell in column.cells}),
    }


def ledger_entry(
    study: StudySpec,
    reading: Reading,
    spends: Sequence[Spend],
    *,
    name: str,
    request: Mapping[str, Any],
) -> LedgerEntry:
    """What the ledger records before anything is drawn for a study of this `name`.

    `reading` is the study's, `spends` what is debited, and `request` what was asked for.
    """
    data, columns = study.data, declared_columns(study)
    return LedgerEntry(
        data.dataset,
        data.protected_unit,
        reading,
        spends,
        study=name,
        request=request,
        analyst=study.budget.analyst,
        private=columns["private"],
        public=columns["public"],
        people=data.people,
    )


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
    """The structure that the study declares, which the table is held against."""
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
        max_rows=study.data.max_rows,
        dataset=study.data.dataset,
        balanced=study.data.balanced,
        cluster_size=size if kind in ("cluster", "all") else None,
        series_length=size if kind == "series" else None,
        panels=_panels(population),
        ruled_out=_ruled_out(population),
    )


def _panels(population: Population | None) -> tuple[tuple[int, int], ...]:
    """The most series of a cluster and the most steps: of a panel, or each of a family of them."""
    members = population.members if isinstance(population, Family) else (population,)
    return tuple((panel.series, panel.length) for panel in members if isinstance(panel, Panel))


def _ruled_out(population: Population | None) -> RuledOut | None:
    """What the population gives the probability 0; `None` where it rules nothing out."""
    excluded = supports(population) if population is not None and population.covers else ()
    return RuledOut(population.covers, excluded) if population and excluded else None


def make_plan(
    study: StudySpec,
    n: int | None = None,
    *,
    within: float | None = None,
    noise: NoiseName | None = None,
    reading: Reading | None = None,
) -> Plan:
    """Price the study. `n` is the number of records where the study takes it from the data.

    `within` is a level below the study's budget to stay within, if the whole of it is not to be
    used; `noise` the kind of noise, where it was chosen before; `reading` that of the study, where
    it is at hand: its population may be long.

    Raises `InputError` for a query that can't be asked, `BudgetExceededError` if the wanted errors
    alone cost more than the study may spend.
    """
    reading = reading or reading_of(study)
    if noise is not None:
        return _plan(study, n, within, noise, reading)
    numbers = any(query.kind not in NO_NOISE for query in study.queries)
    thresholds = any(is_found(study, query) for query in study.queries)
    if study.budget.delta == 0.0 or not numbers or thresholds:
        return _plan(study, n, within, "laplace", reading)
    if study.budget.noise != "auto":
        return _plan(study, n, within, study.budget.noise, reading)
    return _chosen(study, n, within, reading)


def _chosen(study: StudySpec, n: int | None, within: float | None, reading: Reading) -> Plan:
    """The plan with the noise that gives less error for the study as a whole."""
    try:
        laplace = _plan(study, n, within, "laplace", reading)
    except BudgetExceededError as refusal:
        try:
            plan = _plan(study, n, within, "gaussian", reading)
        except (BudgetExceededError, InputError):
            raise refusal from None
        return replace(plan, choice=NoiseChoice("gaussian", None, str(refusal)))
    try:
        gaussian = _plan(study, n, within, "gaussian", reading)
    except (BudgetExceededError, InputError) as refusal:
        return replace(laplace, choice=NoiseChoice("laplace", None, str(refusal)))
    ratio = error_ratio(gaussian, laplace)
    chosen, other = (gaussian, laplace) if ratio < 1.0 else (laplace, gaussian)
    errors = tuple(query.wanted_error(other.n) for query in other.queries)
    return replace(chosen, choice=NoiseChoice(chosen.noise, ratio, None, errors))


def error_ratio(plan: Plan, other: Plan) -> float:
    """The geometric mean over the released numbers of (error in `plan` / error in `other`).

    1 where no numbers are released with noise.

    **Which noise.** A study with a delta has Gaussian noise if the geometric mean, over the
    released numbers, of (error with Gaussian noise) / (error with Laplace noise) is below 1, each
    at its query's confidence. The choice depends on the study file alone, never on data.
    """
    logs, numbers = 0.0, 0
    for first, second in zip(plan.queries, other.queries, strict=True):
        spec = first.asked.spec
        numbers += first.numbers
        if spec.error is None:
            sizes = [
                max(query.error(spec.confidence, 1) or 0.0, 0.5 * float(query.step))
                for query in (first, second)
            ]
            logs += first.numbers * (math.log(sizes[0]) - math.log(sizes[1]))
    return math.exp(logs / numbers) if numbers else 1.0


def _plan(
    study: StudySpec, n: int | None, within: float | None, noise: NoiseName, reading: Reading
) -> Plan:
    if study.data.n != FROM_DATA:
        n = int(study.data.n)
    asked_queries = [
        asked_query(study, position)
        for position, query in enumerate(study.queries)
        if query.kind not in NO_NOISE
    ]
    asked_queries.sort(
        key=lambda asked: asked.from_data is not None
    )  # they come last, as in certificates
    programs = plan_programs(study, n)
    fields = {name for program in programs for name in program.fields.values()}
    collected = plan_collected(study, n, fields)
    _check_unknown(study, n)
    target = study.budget.spend or study.budget.epsilon
    aim = min(target, within or target)
    others = [query.spend for query in collected]
    others += [spend for program in programs for spend in program.spends]
    pricing = Pricing(study, asked_queries, n, reading, aim, NOISES[noise], others)
    queries, seconds = pricing.solve(), study.budget.seconds
    spends = [*(query.spend for query in queries), *others]
    report = (
        converted(reading, spends, fixed=True, seconds=seconds) if reading.notion == "bdp" else None
    )
    reached = report.best.epsilon if report else own_level(reading, spends, seconds)
    if not keeps(reached, target, reading.delta):
        raise BudgetExceededError(
            f"The study would reach the level {up_words(reached)}, above its budget of "
            f"{exact_text(target)}. Ask for larger errors, or spend more; nothing was released "
            "or spent."
        )
    return Plan(
        study,
        n,
        reading,
        tuple(queries),
        report,
        reached,
        target,
        noise,
        programs=programs,
        collected=collected,
        left_out=_left_out(report, pricing.refused),
    )


def _left_out(report: LeakageReport | None, refused: Sequence[Refused]) -> tuple[Refused, ...]:
    """The theorems that only time kept out of the search, or out of a report that isn't exact."""
    if report is None:
        return ()
    last = report.refused if report.best.tight != "exact" else ()
    return left_out_for_time([*refused, *last])


def _check_unknown(study: StudySpec, n: int | None) -> None:
    population = study.population
    if population is None or population.structure != "all" or n is None:
        return
    if n > population.table_size:
        raise InputError(
            f"population.{'records' if population.model == 'unknown' else population.model}",
            population.table_size,
            expected=f"at least data.n = {n} records",
            remedy="Declare a population of all records of the table.",
        )


def describe_query(query: PlannedQuery) -> dict[str, Any]:
    """A planned query as plain data, for `check --json` and certificates."""
    spec, groups = query.asked.spec, query.asked.from_data
    if groups is not None:
        plain = {
            "name": spec.name,
            "kind": FOUND_GROUPS,
            "by": groups.column,
            "delta": groups.delta,
        }
        plain["where"] = spec.where
        plain |= {key: getattr(spec, key) for key in CAPS}
        return {key: value for key, value in plain.items() if value is not None}
    given: dict[str, Any] = {
        "name": spec.name,
        "kind": spec.kind,
        "column": _plain_names(spec.column),
        "on": _plain_names(spec.on),
        "outcome": spec.outcome,
        "where": spec.where,
    }
    given |= {"by": _plain_names(spec.by), "bins": list(spec.bins) if spec.bins else None}
    if query.asked.choice is not None:
        given["probability"] = spec.probability
        with_bounds = query.asked.choice.edges is not None
        given["candidates"] = list(query.asked.choice.candidates) if with_bounds else None
    if query.asked.series is not None:
        given["strategy"] = query.asked.series.used.name
        given["answers"] = query.asked.series.answers
    given["tightness"] = spec.tightness if spec.tightness != "dp" else None
    given |= {key: getattr(spec, key) for key in CAPS if key != "total_bounds"}
    given["weighted_by"] = spec.weighted_by
    given["total_bounds"] = list(spec.total_bounds) if spec.total_bounds else None
    return {key: value for key, value in given.items() if value is not None}


def _plain_names(named: str | tuple[str, ...] | None) -> str | list[str] | None:
    return list(named) if isinstance(named, tuple) else named
