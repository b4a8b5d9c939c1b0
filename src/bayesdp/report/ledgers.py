"""A ledger, for people at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bayesdp.accounting.accounts.account import to_the_second
from bayesdp.accounting.accounts.analysts import by_analyst
from bayesdp.accounting.costs.rounded import left_words
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.log.entries import Head, LedgerFault
from bayesdp.accounting.log.shown import asked_words, level_of
from bayesdp.errors import as_shown
from bayesdp.notions import Cost
from bayesdp.report.layout import item, say, show_table
from bayesdp.report.numbers import budget_words, level_words
from bayesdp.report.words import at_delta, cost_words
from bayesdp.statements.base import exact_text
from bayesdp.tables.refusals import counted


def show_ledger(
    console: Console,
    datasets: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]] = (),
    *,
    only: str = "",
) -> None:
    """Every data set's budget, then who released what at which cost, and whose attempt was refused.

    `datasets` are as in `Ledger.show`, `refusals` as in `Ledger.refusals`. `only` says which
    entries were asked for, if not all.

    Releases and refused attempts stand in the order of time.
    """
    datasets, refusals = _letters(datasets), _letters(refusals)
    if not datasets and not refusals:
        say(console, "No such entry is in the ledger." if only else "The ledger is empty.")
    elif only:
        say(
            console,
            f"Of releases and attempts only those {only}; tables are of all releases until now.",
        )
    refused: dict[str, list[Mapping[str, Any]]] = {}
    for refusal in refusals:
        refused.setdefault(refusal["dataset"], []).append(refusal)
    for dataset in datasets:
        _show_budget(console, dataset, now=" now" if only else "")
        attempts = refused.pop(dataset["dataset"], ())
        of_level = any(reading["notion"] != "dp" for reading in dataset["readings"])
        _show_attempts(console, dataset["releases"], attempts, not_dp=of_level)
    for name, attempts in refused.items():
        say(console, f"{name}: nothing was released", style="bold")
        _show_attempts(console, (), attempts)


def _show_budget(console: Console, dataset: Mapping[str, Any], *, now: str) -> None:
    """The budget as it is; `now` says so in the heads, where the entries below are not all."""
    rows = [("DP spent", level_words(dataset["spent"]), "", "")]
    if dataset["spent_rho"] > 0.0:
        rows.append(("zCDP spent (Gaussian noise)", level_words(dataset["spent_rho"]), "", ""))
    if dataset["spent_delta"] > 0.0:
        rows.append(("deltas of mechanisms", level_words(dataset["spent_delta"]), "", ""))
    rows += [
        (
            reading["words"],
            level_words(reading["level"]),
            budget_words(reading["total"]),
            left_words(reading["total"], reading["left"]),
        )
        for reading in dataset["readings"]
    ]
    people = (
        f", with all data sets of the people '{dataset['people']}'" if dataset["people"] else ""
    )
    title = f"{dataset['dataset']} (one record: {dataset['unit']}{people}): {dataset['counted']}"
    show_table(console, title, ("reading", f"level{now}", "total", f"left{now}"), rows)
    frozen, shares = dataset.get("frozen"), dataset.get("shares") or {}
    if frozen is not None:
        why = f" ({frozen['reason']})" if frozen["reason"] else ""
        since = to_the_second(frozen["time"])
        say(console, f"Frozen by {frozen['by']} at {since}{why}: nothing is released from it.")
        if dataset["people"]:
            say(console, "Other data sets of these people are frozen by themselves only.")
    if shares:
        parts = ", ".join(f"{name} {exact_text(share)}" for name, share in shares.items())
        whose = f" of the people '{dataset['people']}'" if dataset["people"] else ""
        where = " from any of their data sets" if whose else ""
        say(console, f"Shares of the budget{whose}: {parts}; nobody else may release{where}.")


def show_trail(console: Console, lines: Sequence[Mapping[str, Any]]) -> None:
    """Every entry of a ledger as in `Ledger.trail`, a line each."""
    for line in _letters(lines):
        cells = [
            f"{line['sequence']}  {to_the_second(line['time'])}  {line['event']}",
            *(line[key] for key in ("dataset", "analyst", "study") if line[key] is not None),
        ]
        if line["dp_epsilon"] is not None:
            cost = cost_words(line["dp_epsilon"], line["dp_rho"], line["dp_delta"] or 0.0)
            cells.append(f"DP cost {cost}")
        cells += [line["detail"]] if line["detail"] else []
        item(console, "  ".join(cells))


def _show_attempts(
    console: Console,
    releases: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]],
    *,
    not_dp: bool = False,
) -> None:
    """A line for each release and each refused attempt; then how often the table was refused.

    `not_dp` says that the budget is a level, which the DP costs of analysts don't add up to.
    """
    lines = [
        *(
            (release["time"], _line(release, release["status"], _paid(release)))
            for release in releases
        ),
        *(
            (r["time"], _line(r, "refused", f"because of {_reason(r)}{_asked(r)}"))
            for r in refusals
        ),
    ]
    for _, line in sorted(lines):
        item(console, line)
    analysts = by_analyst(releases, refusals)
    for analyst in analysts:
        say(console, _sum_of(analyst))
    for sentence in _of_all_analysts(analysts, releases, not_dp):
        say(console, sentence)
    count = sum(refusal["reason"] == "table" for refusal in refusals)
    if count:
        times = "once" if count == 1 else f"{count} times"
        say(
            console,
            f"Refused {times} because of {_REASONS['table']}: {refusals[0]['dataset']}",
        )


_REASONS = {
    "table": "what is in the table",
    "budget": "the budget",
    "share": "the analyst's share",
    "frozen": "the data set, which was frozen",
}


def _reason(refusal: Mapping[str, Any]) -> str:
    """Why an attempt was refused, in words; an import may bring other reasons than these."""
    return _REASONS.get(refusal["reason"], str(refusal["reason"]))


def _letters(plain: Any) -> Any:
    """Plain data whose texts show as letters: who wrote a ledger, or its import, chose the names.

    Neither colours nor marks of direction act, and no name has a line of its own.
    """
    if isinstance(plain, str):
        return as_shown(plain)
    if isinstance(plain, Mapping):
        return {_letters(key): _letters(value) for key, value in plain.items()}
    if isinstance(plain, Sequence):
        return [_letters(value) for value in plain]
    return plain


def _asked(refusal: Mapping[str, Any]) -> str:
    """What a refused release would have cost, where that is known."""
    if refusal["dp_epsilon"] is None:
        return ""
    return f" (it asked for DP cost {cost_words(refusal['dp_epsilon'], refusal['dp_rho'])})"


def _sum_of(analyst: Mapping[str, Any]) -> str:
    """What one analyst has spent, and asked for in vain."""
    releases, refused = analyst["releases"], analyst["refused"]
    spent = cost_words(analyst["dp_epsilon"], analyst["dp_rho"], analyst["dp_delta"])
    words = f"{analyst['analyst']}: {counted(releases, 'release', 'releases')}, DP cost {spent}"
    if refused:
        words += f"; {counted(refused, 'attempt', 'attempts')} refused"
    if analyst["refused_dp_epsilon"] is not None:
        refused_cost = cost_words(analyst["refused_dp_epsilon"], analyst["refused_dp_rho"])
        each = " together" if refused > 1 else ""
        words += f", which asked for DP cost {refused_cost}{each}"
    return f"{words}."


def _of_all_analysts(
    analysts: Sequence[Mapping[str, Any]], releases: Sequence[Mapping[str, Any]], not_dp: bool
) -> list[str]:
    """What the analysts have spent together, and what a level has to do with it."""
    sentences = []
    if sum(analyst["releases"] > 0 for analyst in analysts) > 1:
        spends = [Spend.from_dict(spend) for row in releases for spend in row["spends"]]
        together = total_cost(spends)
        cost = cost_words(together.dp_epsilon, together.rho, together.dp_delta)
        words = f"Together: DP cost {cost}"
        if _is_less(together, analysts):
            words += (
                ", which is less than the sum of the analysts' costs: of releases about disjoint "
                "groups of records the dearest counts"
            )
        sentences.append(f"{words}.")
    if analysts and not_dp:
        sentences.append(
            "These are DP costs, each that of an analyst's own releases. A level is of the DP cost "
            "of all analysts together: the table above converts it for each population."
        )
    return sentences


def _is_less(together: Cost, analysts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all pay less together than the sum of their costs, by more than rounding."""
    summed = sum(row["dp_epsilon"] for row in analysts), sum(row["dp_rho"] for row in analysts)
    parts = zip((together.dp_epsilon, together.rho), summed, strict=True)
    return any(part < of_all * (1.0 - 1e-9) for part, of_all in parts)


def _line(entry: Mapping[str, Any], status: str, detail: str) -> str:
    time = to_the_second(entry["time"])
    return f"{time}  {status:8}  {entry['analyst']}  {entry['study']}  {detail}"


def _paid(release: Mapping[str, Any]) -> str:
    """The cost of a release, its level on its own where that is known, its queries and its name."""
    cost = total_cost([Spend.from_dict(spend) for spend in release["spends"]])
    known = level_of(release)
    level = ""
    if known is not None and known[0] != "DP":
        notion, alone, delta = known
        level = f", {notion} level {level_words(alone)}{at_delta(delta)}"
    words = f"DP cost {cost_words(cost.dp_epsilon, cost.rho, cost.dp_delta)}{level}"
    return f"{words} ({asked_words(release)})  {release['id']}"


def show_faults(
    console: Console, faults: Sequence[LedgerFault], head: Head | None, certificates: int = 0
) -> None:
    """What is wrong with a ledger, a line each; or that nothing is, and its `head`.

    `console` is where to; the `faults` are those of the ledger held against so many `certificates`.
    """
    for fault in faults:
        say(console, as_shown(fault.words()))
    if faults:
        say(
            console,
            "Restore the ledger from a copy, and count what was released since the copy as spent.",
        )
    if head is not None:
        number = counted(head.sequence, "entry", "entries")
        say(console, f"The ledger is as it was written: {number}, head {head.hash}")
        if certificates:
            words = counted(certificates, "certificate", "certificates")
            say(console, f"It has the debits of {words}.")


def show_readings(
    console: Console,
    dataset: str,
    readings: Sequence[Mapping[str, Any]],
    counted: str,
    people: str | None = None,
) -> None:
    """The budget of a data set before and after a release, a paragraph for each reading.

    `counted` says which releases the readings are about: those of all data sets of the `people`,
    where it shares some.
    """
    whose = f"the data set '{dataset}'" if people is None else f"the people '{people}'"
    for reading in readings:
        later = reading["level_after"]
        after = "none" if later is None else level_words(later)
        say(
            console,
            f"Budget of {whose} ({counted}): {reading['notion'].upper()} level "
            f"{level_words(reading['level'])} now, {after} after a "
            f"release, of {budget_words(reading['total'])}{at_delta(reading.get('delta', 0.0))}; "
            f"{left_words(reading['total'], reading['left'])} is left now.",
        )
