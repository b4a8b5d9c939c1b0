"""How long a fit of a chain takes beside the plain grouped aggregate of the same columns.

    python benchmarks/fits.py                  ten million rows, about two minutes
    python benchmarks/fits.py --rows 1000000

Four things run in turn in one process, and of each the best of several turns counts:

- plain: how often each state occurs in each series, in one grouped aggregate;
- by hand: how often states follow each other, as one would write it in SQL;
- counted: the same by bayesdp, which also looks for cells, times and an order that are wrong;
- fit: the whole of `fit_chain`, which tests the order, both halves of the time, and the series.

Processor time is that of all cores. The engine looks at rows in their order on one core, unless it
is told where to begin, as bayesdp does for a Parquet file. Exit status 1 if with ten million rows
or more counting takes more than 3 times the processor time of plain (twice is the aim), or the
whole fit more than 2.5 times that of what is written by hand. With fewer rows most of a fit is the
tenth of a second that it takes to write its queries.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesdp.fitting import fit_chain
from bayesdp.fitting.counting import Chains
from bayesdp.fitting.states import read_states
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import open_table

COUNTED_LIMIT = 3.0
"""Processor time of counting, in times that of the plain aggregate; twice is the aim."""
FIT_LIMIT = 2.5
"""Processor time of the whole fit, in times that of the windows by hand."""
LEAST_ROWS = 10_000_000
"""Nothing is claimed for fewer rows."""
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
    table = open_table(str(path)).with_places()
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


def by_hand(path: Path, layout: dict[str, Any], shuffled: bool) -> Callable[[], object]:
    """How often each state follows the two before it, within a series and one step later."""
    import duckdb

    def before(number: int) -> str:
        lagged = f"lag(value > 0.7, {number}) OVER w"
        together = f"who = lag(who, {number}) OVER w"
        if "time" in layout:
            together += f" AND minute - lag(minute, {number}) OVER w = {number}"
        return f"CASE WHEN {together} THEN {lagged} END" if layout else lagged

    window = "PARTITION BY who ORDER BY minute" if shuffled else ""
    seen = (
        f"SELECT value > 0.7 AS state, {before(1)} AS before_1, {before(2)} AS before_2 "
        f"FROM read_parquet('{path}') WINDOW w AS ({window})"
    )
    query = f"SELECT state, before_1, before_2, count(*) FROM ({seen}) GROUP BY ALL"
    connection = duckdb.connect()
    return lambda: connection.execute(query).fetchall()


class Seconds(NamedTuple):
    """How long something took: by the clock, and on all processors."""

    wall: float
    processor: float


def best(turns: int, *actions: Callable[[], object]) -> list[Seconds]:
    """The least seconds of each action, which run in turn."""
    measured: list[list[Seconds]] = [[] for _ in actions]
    for _ in range(turns):
        for action, seconds in zip(actions, measured, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            action()
            seconds.append(Seconds(time.perf_counter() - wall, time.process_time() - processor))
    return [Seconds(*map(min, zip(*seconds, strict=True))) for seconds in measured]


def ratios(seconds: list[Seconds], column: str) -> list[float]:
    """By hand, counted and fit in times plain, and fit in times by hand."""
    aggregate, hand, counted, fit = (float(getattr(action, column)) for action in seconds)
    return [hand / aggregate, counted / aggregate, fit / aggregate, fit / hand]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ratios; 1 if one is above its limit."""
    parser = argparse.ArgumentParser(description="Fits beside the plain grouped aggregate.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args(arguments)
    failures = 0
    heads = ("plain", "by hand", "counted", "fit", "fit to by hand")
    print(f"{given.rows} rows".ljust(36) + "".join(f"{head:>15}" for head in heads))
    with tempfile.TemporaryDirectory() as folder:
        paths = {shuffled: Path(folder) / f"{shuffled}.parquet" for shuffled in (False, True)}
        for shuffled, path in paths.items():
            write(path, given.rows, shuffled)
        for name, layout in LAYOUTS.items():
            shuffled = name == "shuffled"
            path = paths[shuffled]
            chains = chains_of(path, layout)
            options = {**layout, "step": 1} if "time" in layout else layout
            fit = partial(fit_chain, str(path), "value", where="value > 0.7", length=9, **options)
            turns = min(given.turns, 2) if shuffled else given.turns
            hand = by_hand(path, layout, shuffled)
            # Afresh, for the chains keep what they have sorted.
            seconds = best(
                turns, plain(chains), hand, lambda afresh=chains: replace(afresh).count(2), fit
            )
            for column in Seconds._fields:
                plain_seconds = f"{getattr(seconds[0], column):.2f} s"
                times = ratios(seconds, column)
                claimed = column == "processor" and not shuffled and given.rows >= LEAST_ROWS
                fails = claimed and (times[1] > COUNTED_LIMIT or times[3] > FIT_LIMIT)
                failures += fails
                line = f"{plain_seconds:>15}" + "".join(f"{ratio:>13.2f} x" for ratio in times)
                print(f"{name}, {column}".ljust(36) + line + ("  FAILS" if fails else ""))
            sys.stdout.flush()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
