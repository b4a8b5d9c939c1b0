"""Tables for people at a terminal. Programs use `--json` instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesdp.accounting.rounded import left_words, up
from bayesdp.accounting.spend import Spend, total_cost
from bayesdp.calibration import Calibration, GaussianCalibration
from bayesdp.leakage.channel import ChannelLeakage, record_namer
from bayesdp.notions import ADVERSARY_MEANING, ROUNDING, Cost
from bayesdp.release.plan import CONFIDENCE, Plan, PlannedQuery
from bayesdp.release.results import Release
from bayesdp.release.study import Check
from bayesdp.report.beliefs import factor_words, odds_factor
from bayesdp.report.programs import show_answers, show_planned
from bayesdp.report.words import delta_sentence
from bayesdp.theorems import REGISTRY, ApproximateReport, Bound, LeakageReport
from bayesdp.theorems.advice import Advice


def number(value: float | None, digits: int = 6) -> str:
    """A number for people; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}g}"


def _table(title: str, *columns: str, headed: bool = True) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="",
        show_header=headed,
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def show_leakage(console: Console, report: LeakageReport, offers: Sequence[Advice] = ()) -> None:
    """The table of theorems: what each proves, knows and ignores, which are refused and why.

    `offers` are shown below it: what more knowledge would buy.
    """
    at_delta = f", at delta = {number(report.delta)}" if report.delta > 0.0 else ""
    table = _table(
        f"What a DP cost of {cost_words(report.cost)} means here{at_delta}",
        "theorem",
        "BDP level",
        "what it says and knows",
    )
    for position, bound in enumerate(best_by_theorem(report)):
        note = (
            "exact: some mechanism of this cost leaks it"
            if bound.tight == "exact"
            else "upper bound"
        )
        if report.delta > 0.0:
            note += f" at delta = {number(report.delta)}" if bound.delta > 0.0 else " without delta"
        if position == 0:
            note += "; the lowest, so this one counts"
        extra = bound.evidence.get("note")
        table.add_row(
            bound.theorem,
            _level(bound.epsilon),
            escape(note + (f"; {extra}" if extra else "")) + _knows(bound),
        )
    for refused in report.refused:
        table.add_row(refused.theorem, "doesn't apply", escape(refused.reason))
    console.print(table)
    console.print(_in_odds(report), highlight=False)
    console.print(
        f"The attacker is '{report.adversary}': {ADVERSARY_MEANING[report.adversary]}. "
        f"Levels: {ROUNDING}.",
        style="dim",
        highlight=False,
    )
    if offers:
        console.print("What more knowledge would buy, at the same level:")
    for offer in offers:
        console.print(f"  - {escape(offer.words())}", highlight=False)


def best_by_theorem(report: LeakageReport) -> list[Bound]:
    """Each theorem's lowest bound: at a delta it may have several, counting costs differently."""
    best: dict[str, Bound] = {}
    for bound in report.bounds:
        best.setdefault(bound.theorem, bound)
    return list(best.values())


def cost_words(cost: Cost) -> str:
    """The pure sum, the sum in zCDP, or both."""
    parts = [up(cost.dp_epsilon)] if cost.dp_epsilon > 0.0 or cost.rho == 0.0 else []
    return " and ".join([*parts, *([f"rho = {up(cost.rho)}"] if cost.rho > 0.0 else [])])


def _level(value: float) -> str:
    """Six digits, rounded up; a millionth of a millionth more is not shown."""
    short = number(value)
    return short if value <= float(short) * (1.0 + 1e-12) else up(value)


def _in_odds(report: LeakageReport) -> str:
    """What the best level promises, in odds, and what it rests on."""
    level, cost = report.best.epsilon, cost_words(report.cost)
    rests = "If the declared population is right"
    if report.best.delta > 0.0:
        return f"{rests}: {delta_sentence(level, report.delta)}"
    if level > 700.0:
        return f"{rests}, a DP cost of {cost} promises nothing that counts."
    return (
        f"{rests}, a DP cost of {cost} protects a record as {_level(level)} would if records were "
        "independent: seeing the results changes the odds between two possible values of one "
        f"record by a factor of at most e^{_level(level)} = {factor_words(odds_factor(level))}."
    )


def _knows(bound: Bound) -> str:
    """What a theorem knows, and what it ignores if that may cost something; small."""
    theorem = next(one for one in REGISTRY if one.name == bound.theorem)
    left = "" if bound.tight == "exact" else f"; leaves out {escape(theorem.ignores)}"
    return f"\n[dim]uses {escape(theorem.uses)}{left}[/dim]"


def show_exact(console: Console, exact: ChannelLeakage) -> None:
    """What one given mechanism leaks: no bound, but the number itself."""
    table = _table("What this mechanism leaks, exactly", "notion", "level")
    table.add_row("DP", number(exact.tensor.dp))
    for adversary, level in exact.tensor.levels.items():
        chosen = " (asked for)" if adversary == exact.adversary else ""
        table.add_row(f"BDP, adversary '{adversary}'{chosen}", number(level.bdp))
    console.print(table)
    name = record_namer(exact.population)
    records = ", ".join(f"{name(i)} {number(v, 4)}" for i, v in enumerate(exact.level.by_record))
    console.print(f"By record: {records}.", highlight=False, markup=False)
    if exact.words():
        console.print(f"Most is told by {exact.words()}.", highlight=False, markup=False)


def show_approximate(console: Console, report: ApproximateReport) -> None:
    """The table of theorems with a delta."""
    table = _table(
        f"What ({number(report.dp_epsilon)}, {number(report.dp_delta)})-DP means here",
        "theorem",
        "epsilon",
        "delta",
    )
    for bound in report.bounds:
        table.add_row(bound.theorem, _level(bound.epsilon), _level(bound.delta))
    for refused in report.refused:
        table.add_row(refused.theorem, "refused", escape(refused.reason))
    console.print(table)


def show_gaussian(console: Console, noise: GaussianCalibration) -> None:
    """Discrete Gaussian noise for an (epsilon, delta) target."""
    table = _table("Discrete Gaussian noise for the target", "", "", headed=False)
    table.add_row("target", f"({number(noise.target)}, {number(noise.target_delta)})")
    table.add_row(f"sigma, at sensitivity {noise.sensitivity}", number(noise.sigma))
    table.add_row(
        "point of its DP curve", f"({number(noise.dp_epsilon)}, {number(noise.dp_delta)})"
    )
    table.add_row(
        "certified level", f"({number(noise.certified_epsilon)}, {number(noise.certified_delta)})"
    )
    table.add_row("times the noise for independent records", number(noise.noise_multiplier))
    table.add_row("by the theorem", noise.theorem)
    console.print(table)


def show_calibration(console: Console, calibration: Calibration) -> None:
    """The DP budget for a target."""
    table = _table("DP budget for the target", "", "", headed=False)
    table.add_row("BDP target", number(calibration.target))
    table.add_row("DP budget (dp_epsilon)", number(calibration.dp_epsilon, 10))
    table.add_row("noise multiplier (target / DP budget)", number(calibration.noise_multiplier))
    table.add_row("certified level of that budget", number(calibration.certified_epsilon, 10))
    table.add_row("by the theorem", calibration.theorem)
    console.print(table)


def show_check(console: Console, check: Check) -> None:
    """The price list of a study."""
    plan = check.plan
    if plan.report is not None:
        show_leakage(console, plan.report)
    show_planned(console, plan.programs)
    if plan.queries:
        _show_queries(console, plan)
    at_delta = f" at delta = {number(plan.reading.delta)}" if plan.reading.delta > 0.0 else ""
    console.print(
        f"Together: DP cost {_spent(plan)}, {plan.reading.notion.upper()} level "
        f"{up(plan.level)} of {number(plan.target)}{at_delta} that this study may spend.",
        highlight=False,
    )
    _show_readings(console, check.preview.readings)
    if check.preview.refusal:
        console.print(f"A release would be refused: {escape(check.preview.refusal)}")


def _show_queries(console: Console, plan: Plan) -> None:
    """The queries that release numbers with noise."""
    others = plan.choice.other_errors if plan.choice is not None else ()
    table = _table(
        "Queries",
        "query",
        "kind",
        "zCDP cost" if plan.noise == "gaussian" else "DP cost",
        "noise scale",
        f"error at {CONFIDENCE:.0%}",
        *(["with the other noise"] if others else []),
        "unit",
    )
    for position, query in enumerate(plan.queries):
        table.add_row(
            escape(query.shape.spec.name),
            query.shape.spec.kind,
            up(query.dp_rho or query.dp_epsilon),
            number(float(query.noise.scale * query.step), 4),
            _error(query, plan),
            *([_other(others[position])] if others else []),
            escape(_unit(query)),
        )
    console.print(table)
    if plan.choice is not None:
        console.print(escape(plan.choice.words()), highlight=False)


def _error(query: PlannedQuery, plan: Plan) -> str:
    """The error of one number. That of an average goes with its rows, where only data tell them."""
    error = query.error(CONFIDENCE, None if query.shape.spec.by else plan.n)
    if error is not None:
        return number(error, 4)
    rows = "the rows of the group" if query.shape.spec.by else "n"
    return f"{number(query.error(CONFIDENCE, 1), 4)} / {rows}"


def _other(error: float | None) -> str:
    return number(error, 4) if error is not None else "depends on the number of rows"


def _spent(plan: Plan) -> str:
    """The study's DP cost: with Gaussian noise rho, and the epsilon that it is at the delta."""
    if plan.dp_rho == 0.0:
        return up(plan.dp_epsilon)
    dp = f"({up(plan.dp_level)}, {number(plan.reading.delta)})-DP"
    pure = f"{up(plan.dp_epsilon)} and " if plan.dp_epsilon > 0.0 else ""
    return f"{pure}rho = {up(plan.dp_rho)} in zCDP, which is {dp}"


def _unit(query: PlannedQuery) -> str:
    column = query.shape.column
    return (column.unit or "") if column is not None and query.grid is not None else ""


def _show_readings(console: Console, readings: Sequence[Mapping[str, Any]]) -> None:
    table = _table(
        "Budget of the data set, now and after a release", "notion", "now", "after", "total"
    )
    for reading in readings:
        table.add_row(
            reading["notion"] + _at_delta(reading),
            up(reading["level"]),
            up(reading["level_after"]),
            number(reading["total"]),
        )
    console.print(table)


def show_release(console: Console, release: Release, notion: str) -> None:
    """The released numbers, and what programs returned."""
    show_answers(console, release.programs)
    if release.results:
        _show_numbers(console, release)
    cost = cost_words(Cost(any=release.dp_epsilon, rho_any=release.dp_rho))
    at_delta = f" at delta = {number(release.delta)}" if release.delta > 0.0 else ""
    said = "The error is the noise's; clipping to the bounds may add to it."
    console.print(
        f"DP cost {cost}, {notion.upper()} level {up(release.level)}{at_delta}. "
        f"{said if release.results else ''}".rstrip(),
        highlight=False,
    )
    if release.delta > 0.0:
        console.print(delta_sentence(release.level, release.delta), highlight=False)


def _show_numbers(console: Console, release: Release) -> None:
    table = _table("Released", "query", "group", "value", "+- at 95 %", "unit")
    for result in release.results:
        parts = [str(part) for part in (result.group, result.cell) if part is not None]
        table.add_row(
            escape(result.query),
            escape(", ".join(parts)),
            number(result.value, 7),
            number(result.error(0.95), 4),
            escape(result.unit),
        )
    console.print(table)


def show_ledger(
    console: Console,
    datasets: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Every data set's budget, and how often a table was refused."""
    if not datasets and not refusals:
        console.print("The ledger is empty.")
    for dataset in datasets:
        title = f"{dataset['dataset']} (one record: {dataset['unit']})"
        table = _table(escape(title), "reading", "level", "total", "left")
        table.add_row("DP spent", up(dataset["spent"]), "", "")
        spends = [Spend.from_dict(one) for done in dataset["releases"] for one in done["spends"]]
        rho = total_cost(spends).rho
        if rho > 0.0:
            table.add_row("zCDP spent (Gaussian noise)", up(rho), "", "")
        for reading in dataset["readings"]:
            table.add_row(
                escape(reading["words"]),
                up(reading["level"]),
                number(reading["total"]),
                left_words(reading["total"], reading["left"]),
            )
        console.print(table)
        for release in dataset["releases"]:
            console.print(
                f"  {release['time']}  {release['status']:9} {escape(release['study'])}  "
                f"{release['id']}",
                highlight=False,
            )
    for dataset, count in Counter(one["dataset"] for one in refusals).items():
        times = "once" if count == 1 else f"{count} times"
        console.print(
            f"Refused {times} because of what is in the table: {escape(dataset)}", highlight=False
        )


def _at_delta(reading: Mapping[str, Any]) -> str:
    delta = reading.get("delta", 0.0)
    return f" at delta = {number(delta)}" if delta > 0.0 else ""
