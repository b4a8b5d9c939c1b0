"""Studies whose counts synthetic tables are made of, on a table of strong association."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesdp import Study
from bayesdp.release.results.release import Release

Document = dict[str, Any]
ROWS = 3000
COLUMNS: Document = {
    "person": {"role": "series"},
    "region": {"public": True, "states": ["north", "south", "east"]},
    "day": {"role": "order", "step": "1 day", "states": ["2026-01-01", "2026-01-02"]},
    "age": {"bounds": [0.0, 90.0], "unit": "years"},
    "old": {"from": "age", "cuts": [18.0, 65.0]},
    "ill": {"states": [0, 1]},
    "smokes": {"states": ["no", "yes"]},
    "town": {"states": ["Ulm", "Jena", "elsewhere"], "other": "elsewhere"},
    "heavy": {"from": "weight", "where": "weight > 80"},
    "size": {"from": "weight", "cuts": [60.0, 80.0]},
    "blue": {"from": "colour", "where": "colour in ['blue', 'navy']"},
}
PRIVATE = ["age", "ill", "smokes", "town", "heavy", "size", "blue"]
ILL_SMOKES: Document = {"name": "ill, smokes", "kind": "histogram", "column": ["ill", "smokes"]}
AGES: Document = {
    "name": "ages",
    "kind": "histogram",
    "column": "age",
    "bins": [0, 30, 65, 90],
    "by": "region",
}


def table(rows: int = ROWS, seed: int = 1) -> pd.DataFrame:
    """Old people are ill, who are ill smoke, and who smoke are heavy."""
    rng = np.random.default_rng(seed)
    age = np.round(np.clip(rng.normal(45.0, 25.0, rows), -5.0, 99.0))
    ill = (rng.random(rows) < 0.05 + 0.9 * (age >= 65.0)).astype(int)
    smokes = rng.random(rows) < 0.1 + 0.8 * ill
    return pd.DataFrame(
        {
            "person": range(rows),
            "region": rng.choice(["north", "south", "east"], rows, p=[0.6, 0.3, 0.1]),
            "day": rng.choice(["2026-01-01", "2026-01-02"], rows),
            "age": age,
            "ill": ill,
            "smokes": np.where(smokes, "yes", "no"),
            "weight": np.round(rng.normal(70.0, 10.0, rows) + 15.0 * smokes),
            "town": rng.choice(["Ulm", "Jena", "Bonn", "Trier"], rows),
            "colour": rng.choice(["blue", "navy", "red", "green"], rows),
        }
    )


def released(folder: Path, *queries: Document, epsilon: float = 1.0, **other: Any) -> Release:
    """A release of these queries, of the table unless `data` is another."""
    data = other.pop("data", table())
    made: Document = {
        "dataset": "people",
        "n": len(data),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": PRIVATE, "source": "us"},
        "budget": {"epsilon": epsilon},
        "ledger": str(folder / "ledger.db"),
    }
    return Study(data, **(made | other), queries=list(queries)).release()
