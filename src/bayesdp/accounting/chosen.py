"""Parts of a ledger: the entries of one data set, of one analyst, or since a time.

Only entries are left out. What is spent and left of a data set always counts all of its releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bayesdp.accounting.analysts import by_analyst
from bayesdp.errors import InputError, unknown_name

Entry = Mapping[str, Any]
"""A release as in `Ledger.show`, or a refused attempt as in `Ledger.refusals`."""


def since_time(text: str, key: str) -> datetime:
    """A time in ISO 8601; in UTC where it has no offset, and at midnight where it is a date.

    Raises `InputError` at `key` for any other text.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            key,
            text,
            expected="a date or time in ISO 8601, such as 2026-11-01 or 2026-11-01T09:30:00+01:00",
            remedy="Without an offset it is in UTC.",
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def chosen(
    datasets: Sequence[Mapping[str, Any]],
    refusals: Sequence[Entry],
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    since: datetime | None = None,
) -> tuple[list[dict[str, Any]], list[Entry]]:
    """The data sets and refused attempts of a ledger that were asked for, in the same form.

    `datasets` are as in `Ledger.show` and `refusals` as in `Ledger.refusals`. Of a data set the
    releases of other analysts, or from before `since`, are left out, and `analysts` are about the
    entries that are left. Raises `UnknownNameError` for a data set that isn't in the ledger, and
    for an analyst of none of its entries.
    """
    named = [shown["dataset"] for shown in datasets] + [row["dataset"] for row in refusals]
    if dataset is not None and dataset not in named:
        raise unknown_name("dataset", dataset, named)
    datasets = [shown for shown in datasets if dataset in (None, shown["dataset"])]
    refusals = [row for row in refusals if dataset in (None, row["dataset"])]
    made = [release for shown in datasets for release in shown["releases"]]
    analysts = {entry["analyst"] for entry in (*made, *refusals)}
    if analyst is not None and analyst not in analysts:
        raise unknown_name("analyst", analyst, analysts)

    def kept(entries: Iterable[Entry]) -> list[Entry]:
        return [
            entry
            for entry in entries
            if analyst in (None, entry["analyst"])
            and (since is None or datetime.fromisoformat(entry["time"]) >= since)
        ]

    attempts = kept(refusals)
    rows = []
    for shown in datasets:
        releases = kept(shown["releases"])
        own = [row for row in attempts if row["dataset"] == shown["dataset"]]
        changes = {"releases": releases, "refusals": len(own)}
        rows.append({**shown, **changes, "analysts": by_analyst(releases, own)})
    return rows, attempts
