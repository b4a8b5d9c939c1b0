"""The data sets of the benchmarks, and the laws fitted to them.

The real ones are looked for in the folder that BAYESDP_SHARED names, else in ../shared/data beside
the repository. Galton's heights and the wheeze panel come with the package, so they are always
there. A data set that is absent is left out, and that is said.

    python benchmarks/data.py        what is there
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "activity": "activity.csv",
    "electricity_house": "daily.csv",
    "electricity_uci": "daily.csv",
    "family_iq": "kid_iq.csv",
    "galton_heights": "galton_children.csv",
    "glucose": "glucose.csv",
    "measles_households": "measles.csv",
    "smart_meter_panel": "hourly_2013.csv",
    "wage_panel": "wage_panel.csv",
    "wheeze_panel": "wheeze.csv",
}
Columns = dict[str, list[str]]


def folder() -> Path:
    """Where the real data sets are looked for."""
    given = os.environ.get("BAYESDP_SHARED")
    if not given:
        return ROOT.parent / "shared" / "data"
    below = Path(given) / "data"
    return below if below.is_dir() else Path(given)


def load(name: str) -> Columns | None:
    """The columns of a data set as text; `None` where it is absent."""
    path = folder() / name / FILES[name]
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as lines:
        return _columns(lines)


def demo(name: str) -> Columns:
    """A data set that comes with the package: `galton` or `wheeze`."""
    text = files("bayesdp").joinpath("demo_data", f"{name}.csv").read_text(encoding="utf-8")
    return _columns(text.splitlines())


def _columns(lines: Iterable[str]) -> Columns:
    rows = list(csv.DictReader(lines))
    return {key: [row[key] for row in rows] for key in rows[0]}


def numbers(values: Sequence[str]) -> NDArray[np.float64]:
    """Text as numbers; empty is NaN."""
    return np.array([float(value) if value else np.nan for value in values])


def runs(values: NDArray[Any], groups: Sequence[Any]) -> list[NDArray[Any]]:
    """The series of one table: consecutive rows of the same group."""
    ends = [i for i in range(1, len(values)) if groups[i] != groups[i - 1]]
    return list(np.split(values, ends))


def fit_chain(series: Sequence[NDArray[np.int64]], states: int, order: int = 1) -> NDArray[Any]:
    """The maximum-likelihood transitions, with `order + 1` axes, older records first."""
    counts = np.zeros((states,) * (order + 1))
    for run in series:
        window = [run[lag : len(run) - order + lag] for lag in range(order + 1)]
        np.add.at(counts, tuple(window), 1.0)
    return counts / counts.sum(axis=-1, keepdims=True)


def cut(values: NDArray[np.float64], parts: int) -> NDArray[np.int64]:
    """Values as states: cut at the quantiles, about equally many in each."""
    edges = np.quantile(values, np.arange(1, parts) / parts)
    return np.searchsorted(edges, values, side="right")


def main() -> int:
    """Say what is there."""
    for name, file in FILES.items():
        loaded = load(name)
        where = f"absent: {name}/{file} not in the folder" if loaded is None else "found"
        print(f"{name:<22}{where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
