"""Parts of a ledger: the entries of one data set, of one analyst, since or until a time.

Only entries are left out. What is spent and left of a data set always counts all of its releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any, TypedDict, TypeVar

from bayesdp.accounting.accounts.analysts import by_analyst
from bayesdp.errors import InputError, unknown_name

EntryT = TypeVar("EntryT", bound=Mapping[str, Any])
"""A release as in `Ledger.show`, or a refused attempt as in `Ledger.refusals`."""


def time_of(day_or_time: str | date, key: str) -> datetime:
    """A date or time, as a text in ISO 8601 or as Python has it; in UTC where it has no offset.

    A date is the beginning of that day, and its end where `key` is `until`. Raises `InputError` at
    `key` for anything else.
    """
    when: object = day_or_time
    if isinstance(when, str):
        try:
            when = date.fromisoformat(when)
        except ValueError:
            with suppress(ValueError):
                when = datetime.fromisoformat(str(when))
    if isinstance(when, datetime) and when == when:  # pandas has a time that is none
        return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    if isinstance(when, date) and not isinstance(when, datetime):
        return datetime.combine(when, time.max if key == "until" else time.min, UTC)
    raise InputError(
        key,
        when,
        expected="a date or time in ISO 8601, such as 2026-11-01 or 2026-11-01T09:30:00+01:00",
        remedy="Without an offset it is in UTC.",
    )


class EntryFilter(TypedDict, total=False):
    """Which entries are asked for, as in `chosen`."""

    dataset: str | None
    analyst: str | None
    since: str | date | None
    until: str | date | None


def chosen(
    datasets: Sequence[Mapping[str, Any]],
    refusals: Sequence[dict[str, Any]],
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The data sets and refused attempts of a ledger that were asked for, in the same form.

    `datasets` are as in `Ledger.show` and `refusals` as in `Ledger.refusals`. Of a data set the
    releases of other analysts, from before `since` or from after `until` (both as in `time_of`),
    are left out, and `analysts` are about the entries that are left. Raises `UnknownNameError` for
    a data set that isn't in the ledger, and for an analyst of none of its entries; `InputError` for
    a time that is none, and for an `until` before `since`.
    """
    first = None if since is None else time_of(since, "since")
    last = None if until is None else time_of(until, "until")
    if first is not None and last is not None and last < first:
        raise InputError("until", str(until), expected=f"a time after {since}, the first one")
    named = [listing["dataset"] for listing in datasets] + [row["dataset"] for row in refusals]
    if dataset is not None and dataset not in named:
        raise unknown_name("dataset", dataset, named)
    datasets = [listing for listing in datasets if dataset in (None, listing["dataset"])]
    refusals = [row for row in refusals if dataset in (None, row["dataset"])]
    listed = [release for listing in datasets for release in listing["releases"]]
    analysts = {entry["analyst"] for entry in (*listed, *refusals)}
    if analyst is not None and analyst not in analysts:
        raise unknown_name("analyst", analyst, analysts)

    def kept(entries: Iterable[EntryT]) -> list[EntryT]:
        return [
            entry
            for entry in entries
            if analyst in (None, entry["analyst"])
            and (first is None or datetime.fromisoformat(entry["time"]) >= first)
            and (last is None or datetime.fromisoformat(entry["time"]) <= last)
        ]

    attempts = kept(refusals)
    rows = []
    for listing in datasets:
        releases = kept(listing["releases"])
        own = [row for row in attempts if row["dataset"] == listing["dataset"]]
        changes = {"releases": releases, "refusals": len(own)}
        rows.append({**listing, **changes, "analysts": by_analyst(releases, own)})
    return rows, attempts
