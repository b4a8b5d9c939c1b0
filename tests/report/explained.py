"""Studies that are explained: one for each kind of promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from bayesdp.release import Study

CHAIN: dict[str, Any] = {
    "model": "markov",
    "transition": [[0.75, 0.25], [0.4, 0.6]],
    "length": 7,
    "covers": ["migraine"],
    "source": "Ruiz (2019), diaries of 400 patients",
}
COUPLES: dict[str, Any] = {
    "model": "family",
    "members": [
        {"model": "finite", "probabilities": [[0.56, 0.14], [0.14, 0.16]]},
        {"model": "finite", "probabilities": [[0.64, 0.16], [0.16, 0.04]]},
    ],
    "covers": ["smokes"],
    "source": "two surveys of couples, of 2015 and 2021",
}
FAMILIES: dict[str, Any] = {
    "model": "gaussian",
    "size": 3,
    "max_correlation": 0.275,
    "covers": ["height"],
    "source": "correlations published by Galton (1886)",
}


def dp_study(folder: Path, **budget: Any) -> Study:
    frame = pd.DataFrame({"infected": [0, 1] * 100, "ward": ["a", "a", "b", "b"] * 50})
    return Study(
        frame,
        dataset="clinic",
        n=200,
        columns={"infected": {"states": [0, 1]}, "ward": {"public": True, "states": ["a", "b"]}},
        budget={"notion": "dp", "epsilon": 1.0} | budget,
        queries=[{"name": "infected", "kind": "count", "where": "infected == 1", "by": "ward"}],
        ledger=str(folder / "ledger.db"),
    )


def family_study(folder: Path, **budget: Any) -> Study:
    frame = pd.DataFrame({"couple": list(range(50)) * 2, "smokes": ["yes", "no"] * 50})
    return Study(
        frame,
        dataset="couples",
        n=100,
        columns={"couple": {"role": "cluster"}, "smokes": {"states": ["no", "yes"]}},
        population=COUPLES,
        budget={"epsilon": 1.0} | budget,
        queries=[{"name": "smokers", "kind": "count", "where": "smokes == 'yes'"}],
        ledger=str(folder / "ledger.db"),
    )


def chain_study(folder: Path, days: int = 7, **budget: Any) -> Study:
    patients = [f"p{number}" for number in range(20) for _ in range(days)]
    ill = [0, 1, 1, 0, 0, 0, 1][:days] * 20
    frame = pd.DataFrame({"patient": patients, "day": list(range(days)) * 20, "migraine": ill})
    return Study(
        frame,
        dataset="migraine-diary",
        n=20 * days,
        columns={
            "patient": {"role": "series"},
            "day": {"role": "order", "step": 1},
            "migraine": {"states": [0, 1]},
        },
        population=CHAIN | {"length": days},
        budget={"epsilon": 3.0, "spend": 1.0} | budget,
        queries=[{"name": "days", "kind": "count", "where": "migraine == 1"}],
        ledger=str(folder / "ledger.db"),
    )


def gaussian_study(folder: Path, **budget: Any) -> Study:
    frame = pd.DataFrame(
        {
            "family": list(range(40)) * 3,
            "height": [150.0 + i % 50 for i in range(120)],
            "weight": [60.0] * 120,
            "sex": ["f", "m"] * 60,
        }
    )
    return Study(
        frame,
        dataset="heights",
        n=120,
        columns={
            "family": {"role": "cluster"},
            "height": {"bounds": [120, 220], "unit": "cm"},
            "weight": {"bounds": [20, 200], "unit": "kg"},
            "sex": {"public": True, "states": ["f", "m"]},
        },
        population=FAMILIES,
        budget={"epsilon": 2.0} | budget,
        queries=[{"name": "mean height", "kind": "mean", "column": "height"}],
        ledger=str(folder / "ledger.db"),
    )
