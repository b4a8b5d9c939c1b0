"""A ledger in a notebook: by data set, what was spent, what is left, and each release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayesdp import notebook
from bayesdp.accounting.rounded import left_words, spent, up_words
from bayesdp.accounting.spend import Spend, total_cost
from bayesdp.notions import Cost

Datasets = Iterable[Mapping[str, Any]]
"""As `Ledger.show` has them."""


def spent_html(datasets: Datasets) -> str:
    """Two tables for each data set: its budget, and its releases in the order of time."""
    parts = [part for dataset in datasets for part in (_budget(dataset), _releases(dataset))]
    return "".join(parts) or notebook.paragraph("The ledger is empty: nothing was released.")


def _budget(dataset: Mapping[str, Any]) -> str:
    cost = spent(Cost(any=dataset["spent"], rho_any=dataset["spent_rho"]))
    title = f"{dataset['dataset']} (one record: {dataset['unit']}), DP cost {cost}"
    rows = [
        (
            reading["words"],
            up_words(reading["level"]),
            f"{reading['total']:.12g}",
            left_words(reading["total"], reading["left"]),
        )
        for reading in dataset["readings"]
    ]
    return notebook.table(title, ("reading", "level", "total", "left"), rows)


def _releases(dataset: Mapping[str, Any]) -> str:
    rows = [
        (
            release["time"],
            release["status"],
            release["analyst"],
            release["study"],
            spent(total_cost([Spend.from_dict(spend) for spend in release["spends"]])),
            release["id"],
        )
        for release in dataset["releases"]
    ]
    columns = ("time", "status", "analyst", "study", "DP cost", "release")
    return notebook.table(f"Releases of {dataset['dataset']}", columns, rows)
