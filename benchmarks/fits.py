"""How long a fit of a chain takes beside the plain grouped aggregate of the same columns.

    python benchmarks/fits.py                  ten million rows, about three minutes
    python benchmarks/fits.py --rows 1000000

The data engine counts how often each state follows each other, in the order of the file; the plain
aggregate counts how often each state occurs, and looks at the same columns. Both run in turn in one
process, and the best of several turns counts. A fit also tests the chain (the next order, halves,
series), by further passes: that is only told. Exit status 1 if counting takes more than 6 times
as long; twice is the aim.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesdp.fitting import fit_chain
from bayesdp.fitting.counting import Chains
from bayesdp.fitting.states import read_states
from bayesdp.tables.declarations import parse_columns
from bayesdp.tables.source import open_table

LIMIT = 6.0
"""Twice is the aim. The plain aggregate runs on all cores, and counting on one."""
SERIES = 1000
LAYOUTS: dict[str, dict[str, Any]] = {
    "in the order of the file": {},
    "series": {"series": ("who",)},
    "series and times": {"series": ("who",), "time": "minute"},
    "shuffled": {"series": ("who",), "time": "minute"},
}
"""What tells neighbours; a shuffled file has to be sorted, and has no limit."""


def write(path: Path, rows: int, shuffled: bool) -> None:
    """Readings of series of equal length, each beside the next."""
    import pyarrow
    import pyarrow.parquet

    length = max(rows // SERIES, 1)
    order = np.arange(rows)
    if shuffled:
        order = np.random.default_rng(2).permutation(rows)
    columns = {
        "value": np.random.default_rng(1).random(rows)[order],
        "who": order // length,
        "minute": order % length,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def chains_of(path: Path, layout: dict[str, Any]) -> Chains:
    """The table as chains of two states."""
    table = open_table(str(path))
    states = read_states(table, "value", {"where": "value > 0.7"})
    order = parse_columns({"minute": {"role": "order", "step": 1}})["minute"]
    time_column = order if "time" in layout else None
    return Chains(table, states, layout.get("series", ()), time_column)


def plain(chains: Chains) -> Callable[[], object]:
    """How often each state occurs in each series, and the last time, in one grouped aggregate."""
    rows: Any = chains.table.expression.select(
        state=chains.states.reading.value, who="who", minute="minute"
    )
    numbers = {"rows": rows.count()}
    if chains.time is not None:
        numbers["last"] = rows.minute.max()
    query = rows.group_by(["state", *chains.series]).aggregate(**numbers)
    return lambda: chains.table.rows(query)


def best(turns: int, *actions: Callable[[], object]) -> list[float]:
    """The least seconds of each action, which run in turn."""
    seconds = [float("inf")] * len(actions)
    for _ in range(turns):
        for i, action in enumerate(actions):
            begin = time.perf_counter()
            action()
            seconds[i] = min(seconds[i], time.perf_counter() - begin)
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ratios; 1 if one is above the limit."""
    parser = argparse.ArgumentParser(description="Counting beside the plain grouped aggregate.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args(arguments)
    failures = 0
    print(f"{given.rows} rows, seconds{'plain':>22}{'counted':>10}{'ratio':>8}{'whole fit':>11}")
    with tempfile.TemporaryDirectory() as folder:
        paths = {shuffled: Path(folder) / f"{shuffled}.parquet" for shuffled in (False, True)}
        for shuffled, path in paths.items():
            write(path, given.rows, shuffled)
        for name, layout in LAYOUTS.items():
            path = paths[name == "shuffled"]
            chains = chains_of(path, layout)
            aggregate, counted = best(given.turns, plain(chains), partial(chains.count, 2))
            options = {**layout, "step": 1} if "time" in layout else layout
            whole_fit = partial(
                fit_chain, str(path), "value", where="value > 0.7", length=9, **options
            )
            (whole,) = best(1, whole_fit)
            ratio = counted / aggregate
            fails = name != "shuffled" and ratio > LIMIT
            failures += fails
            columns = f"{aggregate:>15.2f}{counted:>10.2f}{ratio:>8.2f}{whole:>11.2f}"
            print(f"{name:<28}{columns}{'  FAILS' if fails else ''}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
