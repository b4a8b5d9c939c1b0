"""A ledger, for people at a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bayesdp.accounting.rounded import left_words
from bayesdp.accounting.spend import Spend, total_cost
from bayesdp.report.layout import item, say, show_table
from bayesdp.report.numbers import budget_words, level_words
from bayesdp.report.words import at_delta


def show_ledger(
    console: Console,
    datasets: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Every data set's budget, and how often a table was refused."""
    if not datasets and not refusals:
        say(console, "The ledger is empty.")
    for dataset in datasets:
        _show_dataset(console, dataset)
    for name, count in Counter(refusal["dataset"] for refusal in refusals).items():
        times = "once" if count == 1 else f"{count} times"
        say(console, f"Refused {times} because of what is in the table: {name}")


def _show_dataset(console: Console, dataset: Mapping[str, Any]) -> None:
    rows = [("DP spent", level_words(dataset["spent"]), "", "")]
    spends = [Spend.from_dict(spend) for done in dataset["releases"] for spend in done["spends"]]
    rho = total_cost(spends).rho
    if rho > 0.0:
        rows.append(("zCDP spent (Gaussian noise)", level_words(rho), "", ""))
    rows += [
        (
            reading["words"],
            level_words(reading["level"]),
            budget_words(reading["total"]),
            left_words(reading["total"], reading["left"]),
        )
        for reading in dataset["readings"]
    ]
    title = f"{dataset['dataset']} (one record: {dataset['unit']})"
    show_table(console, title, ("reading", "level", "total", "left"), rows)
    for release in dataset["releases"]:
        item(
            console, f"{release['time']}  {release['status']:9} {release['study']}  {release['id']}"
        )


def show_readings(console: Console, readings: Sequence[Mapping[str, Any]]) -> None:
    """The budget of one data set before and after a release."""
    show_table(
        console,
        "Budget of the data set, now and after a release",
        ("notion", "now", "after", "total"),
        [
            (
                reading["notion"] + at_delta(reading.get("delta", 0.0)),
                level_words(reading["level"]),
                level_words(reading["level_after"]),
                budget_words(reading["total"]),
            )
            for reading in readings
        ],
    )
