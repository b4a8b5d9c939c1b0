"""What the time and the size of a release's outputs tell about private values.

    python benchmarks/side_channels.py [--rows 200000] [--turns 15]

One study is released on tables of the same shape whose private values differ: all at one end, all
beyond the bounds, all different, sorted, all in one state. They are run in turn, in one process; a
table stands beside the first one by its median processor time, and by how often a release of it
took longer than one of the first (a half, where time tells nothing). Tables in memory have values
of one width; `text` is a CSV file, where longer numbers take longer to read.

Exit status 1 if the bytes of a certificate or of the document on standard output, without the
digits of noisy numbers, depend on the table, or if a table in memory takes `CLAIMED` times as long
as another: half as much again is what a query's own work may differ by. What remains is printed,
and stands in SECURITY.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import bayesdp as bdp

CLAIMED = 1.5
Made = Callable[[np.random.Generator, int], tuple[Any, Any]]

TABLES: dict[str, Made] = {
    "mixed": lambda rng, rows: (rng.uniform(0, 100, rows), rng.integers(0, 2, rows)),
    "mixed again": lambda rng, rows: (rng.uniform(0, 100, rows), rng.integers(0, 2, rows)),
    "all 0": lambda rng, rows: (np.zeros(rows), np.zeros(rows, int)),
    "all at the end": lambda rng, rows: (np.full(rows, 100.0), np.ones(rows, int)),
    "all beyond": lambda rng, rows: (np.full(rows, 1e300), np.ones(rows, int)),
    "sorted": lambda rng, rows: (
        np.sort(rng.uniform(0, 100, rows)),
        np.sort(rng.integers(0, 2, rows)),
    ),
    "a record apart": lambda rng, rows: (np.r_[100.0, np.zeros(rows - 1)], np.zeros(rows, int)),
}
QUERIES: tuple[dict[str, Any], ...] = (
    {"name": "mean", "kind": "mean", "column": "x"},
    {"name": "sum", "kind": "sum", "column": "x", "where": "ill == 1"},
    {"name": "count", "kind": "count", "where": "ill == 1 and x > 50"},
    {"name": "bins", "kind": "histogram", "column": "x", "bins": [0, 25, 50, 75, 100]},
    {"name": "median", "kind": "median", "column": "x", "step": 5},
    {"name": "variance", "kind": "variance", "column": "x"},
)


def study(source: Any, rows: int, ledger: Path) -> bdp.Study:
    return bdp.Study(
        source,
        dataset="side channels",
        n=rows,
        columns={"x": {"bounds": [0, 100]}, "ill": {"states": [0, 1]}},
        population={"model": "independent", "covers": ["x", "ill"], "source": "made up"},
        budget={"epsilon": 1.0},
        queries=list(QUERIES),
        ledger=str(ledger),
    )


def shape(document: Any) -> str:
    """A document without the digits of its numbers, names of releases, times and digests."""
    text = json.dumps(document, sort_keys=True)
    return re.sub(r"[0-9a-f]{16,}|-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", "#", text)


def released(source: Any, rows: int, folder: Path) -> tuple[float, str, int]:
    """Processor seconds of a release, and the shape and the size of what it hands out."""
    ledger = folder / "ledger.db"
    ledger.unlink(missing_ok=True)
    made = study(source, rows, ledger)
    gc.collect()
    start = time.process_time()
    done = made.release()
    taken = time.process_time() - start
    outputs = [done.to_dict(), json.loads(done.certificate.to_json())]
    return taken, shape(outputs), len(json.dumps(outputs))


def measure(
    sources: dict[str, Any], rows: int, turns: int, folder: Path
) -> dict[str, list[tuple[float, str, int]]]:
    """The releases of each table, in turn, after one that is not counted."""
    seen: dict[str, list[tuple[float, str, int]]] = {name: [] for name in sources}
    for turn in range(turns + 1):
        for name, source in sources.items():
            if (answer := released(source, rows, folder)) and turn:
                seen[name].append(answer)
    return seen


def longer(first: Sequence[float], second: Sequence[float]) -> float:
    """How often a number of `second` is above one of `first`, of all pairs."""
    return sum(b > a for a in first for b in second) / (len(first) * len(second))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=15)
    given = parser.parse_args(arguments)
    fails = False
    with tempfile.TemporaryDirectory(prefix="bayesdp-side-") as name:
        folder = Path(name)
        frames = {}
        for i, (title, make) in enumerate(TABLES.items()):
            x, ill = make(np.random.default_rng(i), given.rows)
            frames[title] = pd.DataFrame({"x": x, "ill": ill})
        texts = {}
        for title in ("mixed", "mixed again", "all 0"):
            texts[title] = folder / f"{title.replace(' ', '-')}.csv"
            frames[title].to_csv(texts[title], index=False)
        for kind, sources in (("in memory", frames), ("text", texts)):
            fails |= report(kind, measure(sources, given.rows, given.turns, folder))
    return int(fails)


def report(kind: str, seen: dict[str, list[tuple[float, str, int]]]) -> bool:
    """Print a line for each table; whether a claim fails."""
    first = [taken for taken, _, _ in next(iter(seen.values()))]
    shapes = {shape for answers in seen.values() for _, shape, _ in answers}
    fails = len(shapes) > 1
    print(f"{kind}: {len(first)} releases each")
    for name, answers in seen.items():
        times = [taken for taken, _, _ in answers]
        ratio = median(times) / median(first)
        sizes = [size for _, _, size in answers]
        slow = kind == "in memory" and not 1 / CLAIMED < ratio < CLAIMED
        fails |= slow
        print(
            f"  {name:15} {1000 * median(times):7.1f} ms  x {ratio:.3f}  longer "
            f"{longer(first, times):.2f}  bytes {min(sizes)} to {max(sizes)}"
            + ("  FAILS" if slow else "")
        )
    print("  outputs of one shape" if len(shapes) == 1 else "  outputs of several shapes: FAILS")
    return fails


if __name__ == "__main__":
    sys.exit(main())
