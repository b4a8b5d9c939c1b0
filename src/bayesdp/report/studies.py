"""A study's price list and what it released, for people at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bayesdp.accounting.spend import Spend
from bayesdp.release.plan import CONFIDENCE, Plan, PlannedQuery
from bayesdp.release.results import Release
from bayesdp.release.study import Check
from bayesdp.report.layout import say, show_table
from bayesdp.report.ledgers import show_readings
from bayesdp.report.levels import level_sentence, show_leakage, show_left_out
from bayesdp.report.numbers import budget_words, error_words, level_words, rough
from bayesdp.report.phrases import several_rows
from bayesdp.report.programs import show_answers, show_planned
from bayesdp.report.promise import of_declarations, planned
from bayesdp.report.words import at_delta, cost_words, delta_sentence


def show_check(
    console: Console, check: Check, *, before: Sequence[Spend] = (), verbose: bool = False
) -> None:
    """The price list of a study: why it would be refused, the level, then what each query costs.

    `before` is what the data set has spent so far. `verbose` adds what every theorem says of the
    level.
    """
    plan = check.plan
    if check.preview.refusal:
        say(console, f"A release would be refused: {check.preview.refusal}")
    say(
        console,
        f"Together: DP cost {_spent(plan)}, {plan.reading.notion.upper()} level "
        f"{level_words(plan.level)} of {budget_words(plan.target)}{at_delta(plan.reading.delta)} "
        "that this study may spend.",
    )
    if plan.report is not None:
        say(console, level_sentence(plan.report))
    for warning in warnings(check, before):
        say(console, warning)
    show_left_out(console, plan.left_out)
    if plan.unproved:
        say(
            console,
            "Its certificate would verify as UNKNOWN: nothing but the theorem itself vouches for "
            f"the level ({plan.unproved}).",
        )
    show_planned(console, plan.programs)
    if plan.queries:
        _show_queries(console, plan)
    show_readings(console, check.preview.readings)
    if plan.report is not None and verbose:
        show_leakage(console, plan.report)


def warnings(check: Check, before: Sequence[Spend] = ()) -> list[str]:
    """What the author of a study may not have meant: the level is about records as declared."""
    roles = {column.role for column in check.plan.study.columns.values()}
    about_rows = _about_rows(planned(check.plan, before)) if roles & STEPS else []
    return [*about_rows, *check.warnings]


def release_warnings(release: Release) -> list[str]:
    """The same of a release."""
    body = release.certificate.body
    roles = {column.get("role") for column in body["columns"].values()}
    return _about_rows(body) if roles & STEPS else []


STEPS = {"series", "order"}
"""Roles of columns that make a record a step of a series."""


def _about_rows(document: Mapping[str, Any]) -> list[str]:
    warning = several_rows(of_declarations(document))
    return [warning] if warning else []


def _show_queries(console: Console, plan: Plan) -> None:
    """The queries that release numbers with noise."""
    others = plan.choice.other_errors if plan.choice is not None else ()
    show_table(
        console,
        "Queries",
        (
            "query",
            "kind",
            "zCDP cost" if plan.noise == "gaussian" else "DP cost",
            "noise scale",
            f"error at {CONFIDENCE:.0%}",
            *(["with the other noise"] if others else []),
            "unit",
        ),
        [
            (
                query.shape.spec.name,
                query.shape.spec.kind,
                level_words(query.dp_rho or query.dp_epsilon),
                _scale(query, plan),
                _error(query, plan),
                *([_other(others[position])] if others else []),
                _unit(query),
            )
            for position, query in enumerate(plan.queries)
        ],
    )
    if plan.choice is not None:
        say(console, plan.choice.words())


def _error(query: PlannedQuery, plan: Plan) -> str:
    """The error of one number, divided by the count of rows where only the data tell that."""
    error = query.error(CONFIDENCE, _rows(query, plan))
    if error is not None:
        return error_words(error)
    rows = "the rows of the group" if query.shape.spec.by else "n"
    return f"{error_words(query.error(CONFIDENCE, 1))} / {rows}"


def _scale(query: PlannedQuery, plan: Plan) -> str:
    """The noise's scale on the released number, in the query's unit like the error beside it."""
    scale = query.noise_scale(_rows(query, plan))
    if scale is not None:
        return rough(scale, 4)
    return f"{rough(query.noise_scale(1) or 0.0, 4)} / rows"


def _rows(query: PlannedQuery, plan: Plan) -> int | None:
    """How many rows an average is over, where that is known before the data are read."""
    return None if query.shape.spec.by else plan.n


def _other(error: float | None) -> str:
    return error_words(error) if error is not None else "depends on the number of rows"


def _spent(plan: Plan) -> str:
    """The study's DP cost: with Gaussian noise rho, and the epsilon that it is at the delta."""
    cost = cost_words(plan.dp_epsilon, plan.dp_rho)
    if plan.dp_rho == 0.0:
        return cost
    dp = f"({level_words(plan.dp_level)}, {level_words(plan.reading.delta)})-DP"
    return f"{cost} in zCDP, which is {dp}"


def _unit(query: PlannedQuery) -> str:
    column = query.shape.column
    return (column.unit or "") if column is not None and query.grid is not None else ""


def show_release(console: Console, release: Release, notion: str) -> None:
    """The released numbers, and what programs returned."""
    show_answers(console, release.programs)
    if release.results:
        _show_numbers(console, release)
    cost = cost_words(release.dp_epsilon, release.dp_rho)
    level = f"{level_words(release.level)}{at_delta(release.delta)}"
    note = "The error is the noise's; clipping to the bounds may add to it."
    say(
        console,
        f"DP cost {cost}, {notion.upper()} level {level}. "
        f"{note if release.results else ''}".rstrip(),
    )
    if release.delta > 0.0:
        say(console, delta_sentence(release.level, release.delta))
    for warning in release_warnings(release):
        say(console, warning)


def _show_numbers(console: Console, release: Release) -> None:
    show_table(
        console,
        "Released",
        ("query", "group", "value", "+- at 95 %", "unit"),
        [
            (
                result.query,
                ", ".join(str(part) for part in (result.group, result.cell) if part is not None),
                rough(result.value, 7),
                error_words(result.error(0.95)),
                result.unit,
            )
            for result in release.results
        ],
    )
