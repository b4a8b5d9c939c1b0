"""A ledger in a notebook: by data set, what was spent and is left, each release and analyst."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayesdp import notebook
from bayesdp.accounting.accounts.account import to_the_second
from bayesdp.accounting.costs.rounded import left_words, spent, up_words
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.log.contents import claim_in
from bayesdp.notions import Cost
from bayesdp.statements.base import exact_text


def level_of(release: Mapping[str, Any]) -> tuple[str, float, float] | None:
    """The notion, level and delta that a release has on its own; `None` where no entry knows it.

    `release` is as in `Ledger.show`: its result has the level, and its certificate the notion. A
    release without a result has neither, nor has a program that was run without a study.
    """
    result = release.get("result") or {}
    level, notion = result.get("level"), claim_in(result).get("notion")
    if not isinstance(level, float | int) or not isinstance(notion, str):
        return None
    return notion.upper(), float(level), float(result.get("delta") or 0.0)


MOST_QUERIES = 3
"""The most queries of a release that a list of releases names."""


def asked_words(release: Mapping[str, Any]) -> str:
    """The names of a release's queries: the first three, and how many more there are."""
    names = list(dict.fromkeys(str(spend["query"]) for spend in release["spends"]))
    more = len(names) - MOST_QUERIES
    return ", ".join(names[:MOST_QUERIES]) + (f" and {more} more" if more > 0 else "")


Datasets = Iterable[Mapping[str, Any]]
"""As `Ledger.show` has them."""


def spent_html(datasets: Datasets) -> str:
    """For each data set its budget, its releases in the order of time, and its analysts."""
    parts = [
        _budget(dataset) + _releases(dataset) + _analysts(dataset["analysts"])
        for dataset in datasets
    ]
    return "".join(parts) or notebook.paragraph("The ledger is empty: nothing was released.")


def _budget(dataset: Mapping[str, Any]) -> str:
    own_deltas = dataset["spent_delta"]
    cost = spent(Cost(any=dataset["spent"], rho_any=dataset["spent_rho"], dp_delta=own_deltas))
    people = (
        f", with all data sets of the people '{dataset['people']}'" if dataset["people"] else ""
    )
    title = (
        f"{dataset['dataset']} (one record: {dataset['unit']}{people}), DP cost {cost}; "
        f"{dataset['counted']}"
    )
    rows = [
        (
            reading["words"],
            up_words(reading["level"]),
            f"{exact_text(reading['total'])}",
            left_words(reading["total"], reading["left"]),
        )
        for reading in dataset["readings"]
    ]
    return notebook.table(title, ("reading", "level", "total", "left"), rows)


def _level(release: Mapping[str, Any]) -> str:
    """The level of a release on its own, where it is known."""
    known = level_of(release)
    if known is None:
        return ""
    notion, level, delta = known
    return f"{notion} {up_words(level)}" + (f" at delta {exact_text(delta)}" if delta > 0.0 else "")


def _releases(dataset: Mapping[str, Any]) -> str:
    rows = [
        (
            to_the_second(release["time"]),
            release["status"],
            release["analyst"],
            release["study"],
            asked_words(release),
            spent(total_cost([Spend.from_dict(spend) for spend in release["spends"]])),
            _level(release),
            release["id"],
        )
        for release in dataset["releases"]
    ]
    columns = ("time", "status", "analyst", "study", "queries", "DP cost", "level", "release")
    return notebook.table(f"Releases of {dataset['dataset']}", columns, rows)


def _analysts(analysts: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            row["analyst"],
            row["releases"],
            spent(Cost(any=row["dp_epsilon"], rho_any=row["dp_rho"], dp_delta=row["dp_delta"])),
            row["refused"],
        )
        for row in analysts
    ]
    title = (
        "Analysts. A cost is that of somebody's own releases; the costs of several may add up to "
        "more than was spent, as of releases about disjoint groups of records the dearest counts."
    )
    columns = ("analyst", "releases", "DP cost of these releases", "refused attempts")
    return notebook.table(title, columns, rows)
