"""The audit trail: every entry of a ledger in one line, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from bayesdp.accounting.costs.spend import total_cost
from bayesdp.accounting.log.chosen import time_of
from bayesdp.accounting.log.contents import Book, decoded, reading_of, refusal_in, said_in
from bayesdp.accounting.log.entries import Entry
from bayesdp.errors import unknown_name

EVENTS = {
    "ledger": "ledger begun",
    "dataset": "data set added",
    "columns": "columns declared",
    "reading": "reading registered",
    "release": "debited",
    "result": "result stored",
    "refusal": "refused",
    "share": "share given",
    "frozen": "frozen",
    "people": "people shared",
}
"""What an entry of each kind is called."""


def trail_of(
    entries: Sequence[Entry],
    book: Book,
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
) -> list[dict[str, Any]]:
    """Every entry as plain data: `sequence`, `time`, `event`, `dataset`, `analyst`, `study` ...

    `dp_epsilon`, `dp_rho` and `dp_delta` are what a debit costs, or a refused attempt would have;
    `release` is the release's name and `detail` what more there is to say. What an entry doesn't
    have is `None`. `entries` are those of the `book`, of which those of a `dataset`, of an
    `analyst`, and from `since` `until` a time are chosen. Raises `UnknownNameError` for a name of
    no entry, `InputError` for a time that is none.
    """
    first = None if since is None else time_of(since, "since")
    last = None if until is None else time_of(until, "until")
    lines = [decoded(_line, entry, book) for entry in entries]
    for key, name in (("dataset", dataset), ("analyst", analyst)):
        known = [line[key] for line in lines if line[key] is not None]
        if name is not None and name not in known:
            raise unknown_name(key, name, known)
    return [
        line
        for line in lines
        if dataset in (None, line["dataset"])
        and analyst in (None, line["analyst"])
        and (first is None or _time(line) >= first)
        and (last is None or _time(line) <= last)
    ]


def _time(line: Mapping[str, Any]) -> datetime:
    """When a line's entry was written; the first one of a ledger may not say it."""
    text = line["time"]
    return datetime.fromisoformat(text) if text else datetime.min.replace(tzinfo=UTC)


def _line(entry: Entry, book: Book) -> dict[str, Any]:
    content = refusal_in(entry) if entry.kind == "refusal" else said_in(entry)
    debit = book.debits[entry.release] if entry.kind in ("release", "result") else None
    who = debit.said["analyst"] if debit is not None else content.get("analyst")
    line = {
        "sequence": entry.sequence,
        "time": entry.time,
        "event": EVENTS[entry.kind],
        "dataset": entry.dataset or None,
        "analyst": content.get("by", who),
        "study": content.get("study") if debit is None else debit.said["study"],
        "dp_epsilon": content.get("dp_epsilon"),
        "dp_rho": content.get("dp_rho"),
        "dp_delta": None,
        "release": entry.release or None,
        "detail": _detail(entry, content, book),
    }
    if entry.kind == "frozen" and not content["frozen"]:
        line["event"] = "thawed"
    if entry.kind == "release":
        cost = total_cost(book.datasets[entry.dataset].spends(book.debits[entry.release]))
        costs = {"dp_epsilon": cost.dp_epsilon, "dp_rho": cost.rho, "dp_delta": cost.dp_delta}
        line |= costs
    return line


def _detail(entry: Entry, content: Mapping[str, Any], book: Book) -> str:
    """What more an entry of the `book` says, in words; `said` is its content."""
    match entry.kind:
        case "dataset":
            return f"one record: {content['unit']}"
        case "columns":
            words = {True: "private", False: "public"}
            return ", ".join(f"{name} {words[flag]}" for name, flag in content["columns"].items())
        case "reading":
            return reading_of(entry).words()
        case "release":
            return ", ".join(dict.fromkeys(str(spend["query"]) for spend in content["spends"]))
        case "refusal":
            return f"because of: {content['reason']}"
        case "share":
            people = book.datasets[entry.dataset].people
            whose = "its budget" if people is None else f"the budget of the people '{people}'"
            return f"{content['analyst']} may spend {content['share']:g} of {whose}"
        case "frozen":
            return str(content["reason"])
        case "people":
            return f"one budget with all data sets of the people '{content['people']}'"
    return ""
