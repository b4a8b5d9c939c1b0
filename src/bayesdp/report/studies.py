"""A study's price list and what it released, for people at a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rich.console import Console

from bayesdp.accounting.costs.spend import Spend
from bayesdp.notions import ADVERSARY_MEANING
from bayesdp.release.checking.check import Check
from bayesdp.release.checking.proposals import Proposals
from bayesdp.release.checking.stress import Stress, StressRow
from bayesdp.release.checking.sweep import Sweep
from bayesdp.release.checking.usefulness import useless
from bayesdp.release.drawing.repeats import released_words
from bayesdp.release.price.plan import Plan, PlannedQuery
from bayesdp.release.results.collected import CollectedResult
from bayesdp.release.results.release import Release
from bayesdp.release.results.result import QuantileResult, Result
from bayesdp.release.words import confidence_words
from bayesdp.report.layout import bullet, item, say, show_table
from bayesdp.report.ledgers import show_readings
from bayesdp.report.levels import level_sentence, show_leakage, show_left_out
from bayesdp.report.numbers import budget_words, error_words, level_words, rough
from bayesdp.report.phrases import several_rows
from bayesdp.report.programs import show_answers, show_planned
from bayesdp.report.promise import of_declarations, planned
from bayesdp.report.words import at_delta, cost_words, delta_sentence
from bayesdp.statements.assumptions import secrets_place


def show_check(
    console: Console, check: Check, *, before: Sequence[Spend] = (), verbose: bool = False
) -> None:
    """Print a study's price: its level, each query's error and cost, what is left.

    Before that, whether it was released, and why a release would be refused. `before` is what the
    data set has spent so far; `verbose` adds the noise, what programs release, and what every
    theorem says of the level.
    """
    plan = check.plan
    if check.preview.refusal:
        another = "Another" if check.released else "A"
        say(console, f"{another} release would be refused: {check.preview.refusal}")
    if check.released:
        refused = check.preview.refusal is not None
        say(console, released_words(check.released) if refused else check.repeat)
    say(
        console,
        f"Together: DP cost {_spent(plan)}, {plan.reading.notion.upper()} level "
        f"{level_words(plan.level)} of {budget_words(plan.target)}{at_delta(plan.reading.delta)} "
        "that this study may spend.",
    )
    if plan.report is not None:
        say(
            console,
            level_sentence(plan.report, in_odds=check.preview.refusal is None, verbose=verbose),
        )
    for warning in warnings(check, before):
        say(console, warning)
    for remark in plan.remarks:
        say(console, remark)
    if plan.unproved:
        say(
            console,
            "Its certificate would verify as UNKNOWN: nothing but the theorem itself vouches for "
            f"the level ({plan.unproved}).",
        )
    _show_queries(console, plan)
    for sentence in check.groups_and_cells():
        say(console, sentence)
    if plan.choice is not None:
        say(console, plan.choice.words())
    if check.inaccurate:
        large = "" if useless(plan) else "Some error is above a tenth of its range. "
        pointer = "" if verbose else "--verbose looks for what would help."
        if large or pointer:
            say(console, f"{large}{pointer}".rstrip())
    preview = check.preview
    data = plan.study.data
    show_readings(console, data.dataset, preview.readings, preview.counted, data.people)
    if verbose:
        _show_details(console, plan)


def warnings(check: Check, before: Sequence[Spend] = ()) -> list[str]:
    """Warnings about what the author of a study may not have meant."""
    roles = {column.role for column in check.plan.study.columns.values()}
    about_rows = _about_rows(planned(check.plan, before)) if roles & STEPS else []
    return [*about_rows, *check.warnings]


def release_warnings(release: Release) -> list[str]:
    """Warnings about what the author of a release may not have meant."""
    body = release.certificate.body
    roles = {column.get("role") for column in body["columns"].values()}
    return _about_rows(body) if roles & STEPS else []


STEPS = {"series", "order"}
"""Roles of columns that make a record a step of a series."""


def _about_rows(document: Mapping[str, Any]) -> list[str]:
    warning = several_rows(of_declarations(document))
    return [warning] if warning else []


def _show_queries(console: Console, plan: Plan) -> None:
    """What each query costs, and the errors of those that release numbers with noise."""
    show_table(
        console,
        "Queries",
        ("query", "kind", _cost_name(plan), _error_head(plan.queries), "unit"),
        [
            *(
                (
                    query.asked.spec.name,
                    query.asked.spec.kind,
                    level_words(query.dp_rho or query.dp_epsilon),
                    _error(query, plan) + _other_confidence(query, plan.queries),
                    _unit(query),
                )
                for query in plan.queries
            ),
            *(
                (
                    collected.spec.name,
                    collected.spec.kind,
                    f"{level_words(collected.dp_epsilon)}, at collection",
                    "?"
                    if (error := collected.error(plan.n)) is None
                    else f"about {rough(error, 3)}",
                    "records",
                )
                for collected in plan.collected
            ),
            *(
                (
                    program.spec.name,
                    f"{program.shown} {program.verdict.verdict}",
                    cost_words(program.dp_epsilon, program.dp_rho),
                    "its own",
                    "",
                )
                for program in plan.programs
            ),
        ],
    )


def _show_details(console: Console, plan: Plan) -> None:
    """What does not fit one screen."""
    others = plan.choice.other_errors if plan.choice is not None else ()
    if plan.queries:
        show_table(
            console,
            "Noise",
            ("query", "noise scale", *(["error with the other noise"] if others else []), "unit"),
            [
                (
                    query.asked.spec.name,
                    _scale(query, plan),
                    *([_other(others[position])] if others else []),
                    _unit(query),
                )
                for position, query in enumerate(plan.queries)
            ],
        )
    show_planned(console, plan.programs)
    show_left_out(console, plan.left_out)
    if plan.report is not None:
        show_leakage(console, plan.report)


def _cost_name(plan: Plan) -> str:
    return "zCDP cost" if plan.noise == "gaussian" else "DP cost"


def show_sweep(console: Console, sweep: Sweep) -> None:
    """Print a study at several levels: cost and errors side by side, and why some are refused."""
    priced = [row.check.plan for row in sweep if row.check is not None]
    if priced:
        _show_levels(console, sweep, priced[0])
    for remark in sweep.remarks:
        say(console, remark)
    for refusal, levels in sweep.refusals().items():
        *others, last = map(budget_words, levels)
        at = f"{', '.join(others)} and {last}" if others else last
        say(console, f"At {at} a release would be refused: {refusal}")


def show_proposals(console: Console, proposals: Proposals) -> None:
    """Print what would help, each change with its price, or that nothing was found."""
    if not proposals:
        say(console, "Nothing was found that would help.")
        return
    say(console, "What would help, each on its own (errors at 95%):", style="bold")
    for row in proposals:
        bullet(console, f"{row.name}: {row.price()}")
        item(console, f"change: {row.change}", depth=2)
        item(console, f"it rests on: {row.condition}", depth=2)


def show_stress(console: Console, stress: Stress) -> None:
    """Print a stress test: the level under each population, and what each of them is."""
    cost = cost_words(stress.dp_epsilon, stress.dp_rho)
    show_table(
        console,
        f"The same noise (DP cost {cost}) under other populations, for a target of "
        f"{budget_words(stress.target)}{at_delta(stress.delta)}; no data were read",
        ("population", "BDP level", "target", "what it is"),
        [
            (
                row.name,
                level_words(row.level) if row.level is not None else "not known",
                target_words(row),
                row.change,
            )
            for row in stress
        ],
    )
    for row in stress:
        if row.reason:
            say(console, f"{row.name}: {row.reason}")


def target_words(row: StressRow) -> str:
    """Whether the level of a row keeps to the target."""
    return {None: "-", True: "within", False: "above"}[row.within]


def _show_levels(console: Console, sweep: Sweep, like: Plan) -> None:
    heads = [
        f"{query.asked.spec.name} ({unit})" if (unit := _unit(query)) else query.asked.spec.name
        for query in like.queries
    ]
    rows = []
    for row in sweep:
        cells = ["-"] * (2 + len(heads))
        if row.check is not None:
            plan = row.check.plan
            errors = [_error(query, plan, rows="rows") for query in plan.queries]
            cells = [level_words(plan.level), cost_words(plan.dp_epsilon, plan.dp_rho), *errors]
        rows.append((budget_words(row.target), *cells, "refused" if row.refusal else "fits"))
    show_table(
        console,
        f"{like.reading.notion.upper()} levels{at_delta(like.reading.delta)}, with the "
        f"{_error_head(like.queries)} of each query; no data were read",
        ("target", "level", "DP cost", *heads, "budget"),
        rows,
    )


def _error_head(queries: Sequence[PlannedQuery | Result]) -> str:
    """The head of a column of errors, with the confidence where all have the same."""
    confidence = _common_confidence(queries)
    return "error" if confidence is None else f"error at {confidence_words(confidence)}"


def _common_confidence(queries: Sequence[PlannedQuery | Result]) -> float | None:
    confidences = {query.confidence for query in queries}
    return confidences.pop() if len(confidences) == 1 else None


def _other_confidence(
    query: PlannedQuery | Result, queries: Sequence[PlannedQuery | Result]
) -> str:
    """The confidence beside an error where queries have different ones, else nothing."""
    if _common_confidence(queries) is not None:
        return ""
    return f" at {confidence_words(query.confidence)}"


def _error(query: PlannedQuery, plan: Plan, rows: str = "") -> str:
    """The largest error of a query's numbers, in words.

    To be divided by the count of rows where only the data tell that.
    """
    error = query.wanted_error(plan.n)
    if error is not None:
        return error_words(error)
    rows = rows or query.asked.words_of_rows()
    return f"{error_words(query.error(query.confidence, 1))} / {rows}"


def _scale(query: PlannedQuery, plan: Plan) -> str:
    """The noise's scale on the released number, in the query's unit like the error beside it."""
    scale = query.noise_scale(query.asked.rows(plan.n))
    if scale is not None:
        return rough(scale, 4)
    return f"{rough(query.noise_scale(1) or 0.0, 4)} / rows"


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
    if query.asked.choice is not None:
        return "ranks"
    return query.asked.unit


def show_release(
    console: Console, release: Release, notion: str, printed_before: Collection[str] = ()
) -> None:
    """Print the released numbers, what programs returned, and the cost; `notion` is its level's.

    `printed_before` are remarks that were printed before.
    """
    show_answers(console, release.programs)
    if release.results:
        _show_numbers(console, release)
    if release.derived:
        _show_derived(console, release)
    for sentence in release.cells:
        say(console, sentence)
    cost = cost_words(release.dp_epsilon, release.dp_rho)
    level = f"{level_words(release.level)}{at_delta(release.delta)}"
    note = "The error is the noise's; clipping to the bounds may add to it."
    if all(isinstance(result, QuantileResult | CollectedResult) for result in release.results):
        note = ""
    say(
        console,
        f"DP cost {cost}, {notion.upper()} level {level}. "
        f"{note if release.results else ''}".rstrip(),
    )
    say(console, level_scope(release.certificate.body))
    if release.delta > 0.0:
        say(console, delta_sentence(release.level, release.delta))
    for warning in (*release_warnings(release), *release.remarks):
        if warning not in printed_before:
            say(console, warning)


def level_scope(body: Mapping[str, Any]) -> str:
    """For whom the level of a release holds, in one sentence, from the body of its certificate."""
    claim, unit = body["claim"], body["unit"]
    part = "part of a row" if body.get("parts") else "row"
    rows = "parts of rows" if body.get("parts") else "rows"
    record = f"one {part}" if unit == "row" else f"all {rows} with the same '{unit}'"
    if claim["notion"] == "dp":
        return (
            f"The level is for each single record ({record}), against somebody who knows all "
            "other records."
        )
    secrets = claim["secrets"]
    interval = secrets.get("interval") or secrets.get("intervals")
    values = f" while its value lies {secrets_place(interval)}" if interval else ""
    knows = ADVERSARY_MEANING[claim["adversary"]]
    return (
        f"The level is for each single record ({record}){values}, against adversaries of class "
        f"'{claim['adversary']}' ({knows}), if records are related as declared."
    )


def _show_numbers(console: Console, release: Release) -> None:
    show_table(
        console,
        "Released",
        ("query", "group", "value", _error_head(release.results), "unit"),
        [
            (
                result.query,
                ", ".join(result.places),
                result.value_text(),
                f"{_error_of_result(result)}{_other_confidence(result, release.results)}",
                result.unit,
            )
            for result in release.results
        ],
    )


def _show_derived(console: Console, release: Release) -> None:
    """What was computed from the numbers, with intervals."""
    show_table(
        console,
        "Computed from these numbers, at no cost",
        ("name", "group", "value", "interval", "unit"),
        [row for derived in release.derived for row in derived.rows()],
    )


def _error_of_result(result: Result) -> str:
    """The error of a released number at its query's confidence, in words."""
    error = result.margin(result.confidence)
    return result.error_text() if error is None else f"+- {error_words(error)}"
