"""From a finished release to its part of the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayesdp.accounting.costs.composition import dp_bound
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.numbers import UpperBound
from bayesdp.release.checking.check import plan_warnings
from bayesdp.release.queries.crossed_columns import quoted
from bayesdp.release.results.release import Release
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.study import StudySpec
from bayesdp.release.study import Study
from bayesdp.report import dependence
from bayesdp.report.circumstances import secrets
from bayesdp.report.levels import best_by_theorem
from bayesdp.report.passages import all_sections
from bayesdp.report.phrases import Section, one_record, several_rows
from bayesdp.report.programs import program_row
from bayesdp.report.promise import Promise, PromiseStatus, of_document
from bayesdp.report.study_section import BoundRow, DerivedRow, RefusedRow, ResultRow, StudySection
from bayesdp.statements.assumptions import secrets_place
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import column_names


def study_section(study: Study, release: Release, certificate_path: str) -> StudySection:
    """The report's section on a release, with a link to its certificate at `certificate_path`."""
    spec = study.spec
    plan = study.plan_of(release)
    report, interval = plan.report, plan.secrets_interval
    data_set = release.certificate.body["data_set"]
    promise = of_document(release.certificate.to_dict(), PromiseStatus("VALID ASSUMING"))
    values = secrets(promise)
    return StudySection(
        title=spec.data.dataset,
        population_words=spec.population.describe() if spec.population else "not declared (DP)",
        population_source=spec.population.source if spec.population else "",
        bounds=[BoundRow(b.theorem, b.epsilon, b.tight, b.source) for b in best_by_theorem(report)]
        if report
        else [],
        refused=[RefusedRow(r.theorem, r.reason) for r in report.refused] if report else [],
        results=result_rows(release),
        programs=[program_row(answer) for answer in release.programs],
        dp_epsilon=plan.dp_level if release.dp_rho > 0.0 else UpperBound(release.dp_epsilon),
        delta=max(release.delta, data_set.get("delta", 0.0)),
        level=release.level,
        # A DP cost is a level only against somebody who knows all the other records.
        adversary=spec.budget.adversary if spec.budget.notion == "bdp" else "informed",
        dataset=spec.data.dataset,
        total=spec.budget.epsilon,
        certificate_path=certificate_path,
        notes=release.certificate.body["assumptions"],
        secrets="bounded" if interval is not None else None,
        interval=secrets_place(interval) if interval is not None else None,
        dataset_level=UpperBound(float(data_set["level"])),
        dataset_dp_epsilon=_dp_level(plan.reading, data_set, plan.spends),
        time=release.time,
        n=promise.n,
        record=one_record(promise),
        rows=several_rows(promise),
        outside=values.paragraphs[-1] if values is not None else "",
        relations=_relations(promise),
        questions=[
            *(question(query, spec) for query in spec.queries if query.program is None),
            *release.cells,
            *plan_warnings(plan),
        ],
        explained=_explained(promise),
        derived=derived_rows(release),
    )


FOR_A_BOARD = (
    "protected",
    "chance",
    "attackers",
    "counted",
    "not_promised",
    "assumptions",
    "check",
)
"""The sections of an explanation that a report adds to its own.

How records are related it says itself, but for a promise that is about no population.
"""


def _explained(promise: Promise) -> list[Section]:
    paragraphs = {*FOR_A_BOARD, *(("related",) if promise.notion == "dp" else ())}
    return [section for section in all_sections(promise) if section.key in paragraphs]


def result_rows(release: Release) -> list[ResultRow]:
    """The released numbers, each with its error at the confidence of its query."""
    return [
        ResultRow(
            result.query,
            ", ".join(result.places) or None,
            result.value,
            result.margin(result.confidence),
            result.unit,
            result.confidence,
            result.value_text(),
            result.error_text(),
        )
        for result in release.results
    ]


def derived_rows(release: Release) -> list[DerivedRow]:
    """What was computed from released numbers, with its intervals."""
    return [DerivedRow(*row) for derived in release.derived for row in derived.rows()]


_COUNTED = {
    "count": "how many records there are",
    "sum": "the sum of {column}",
    "mean": "the mean of {column}",
    "variance": "the variance of {column}, its mean squared deviation from its mean",
    "covariance": "the covariance of {column}, the mean product of deviations from their means",
    "regression": "the moments of a linear regression of {outcome} on {on}",
    "proportion": "the share of records",
    "histogram": "how many records have each value of {column}",
    "contingency table": "how many records have each combination of values of {column}",
    "randomized_response": "how many records hold each state of {column}, by answers that were "
    "perturbed when they were collected",
    "series": "how many records there are, period by period",
    "series of states": "how many records have each value of {column}, in their order",
    "series of sums": "the sum of {column}, period by period",
    "quantile": "the quantile of {column} that has the share {probability:g} of the rows below it",
}


def question(query: QuerySpec, spec: StudySpec) -> str:
    """What a query counts or adds up, of which records, in one sentence."""
    names = column_names(query.column)
    column = spec.columns.get(names[0]) if len(names) == 1 else None
    kind: str = query.kind
    if kind == "histogram" and len(names) > 1:
        kind = "contingency table"
    elif kind == "series" and names:
        kind = "series of sums" if query.by else "series of states"
    text = _COUNTED[kind].format(
        column=quoted(query.column),
        probability=query.probability or 0.5,
        outcome=quoted(query.outcome),
        on=quoted(query.on),
    )
    if column is not None and column.bounds is not None:
        low, high = map(exact_text, column.bounds)
        unit = f" {column.unit}" if column.unit else ""
        text += f", values counted as at least {low} and at most {high}{unit}"
    if query.weighted_by:
        text += f", each value multiplied by its row's {quoted(query.weighted_by)}"
    if query.where:
        text += f", where {query.where}"
    if query.by:
        values = "value" if isinstance(query.by, str) else "combination of values"
        text += f", for each {values} of {quoted(query.by)}"
    return f"{query.name}: {text}."


def _relations(promise: Promise) -> list[str]:
    """The numbers that the population declares, as sentences."""
    spec = promise.population
    if spec is None:
        return []
    groups = dependence.grouping(promise.columns, spec.get("covers") or ())
    numbers = [dependence.in_numbers(member, groups) for member in dependence.members(spec)]
    if numbers and all(numbers):
        numbers = [f"Description {i}: {words}" for i, words in enumerate(numbers, start=1)]
    numbers += [dependence.in_numbers(spec, groups), dependence.correlations(spec)]
    return [words for words in numbers if words]


def _dp_level(reading: Reading, data_set: Mapping[str, Any], own: Sequence[Spend]) -> UpperBound:
    """The DP epsilon, at the reading's delta, of everything released from the data set."""
    if data_set.get("dp_rho", 0.0) == 0.0:
        return UpperBound(float(data_set["dp_epsilon"]))
    spends = [*map(Spend.from_dict, data_set["earlier_spends"]), *own]
    aside = reading.mechanism_delta
    as_dp = Reading("dp", reading.total, delta=reading.delta, mechanism_delta=aside)
    return dp_bound(as_dp, spends, fixed=not data_set["earlier_spends"]).epsilon
