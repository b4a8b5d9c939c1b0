"""What a debit costs beside the length of its ledger, and how many a second processes make.

    python benchmarks/ledgers.py                       a file
    python benchmarks/ledgers.py --server URL          on a PostgreSQL server too, in new schemas
    python benchmarks/ledgers.py --seconds 60 --processes 32

A debit in a process that knows the ledger reads what came since; one in a new process reads the
whole. Times are of this process's own processor, in ratios within one run. Exit status 1 if a debit
in a ledger of 10,000 entries takes more than `LIMIT` times one in a ledger of 100.

Throughput is counted as in the stress test: processes that debit and store as fast as they can,
of which one is killed every fifth of a second or so. It depends on the disk, and claims nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from functools import partial
from pathlib import Path

from bayesdp.accounting import Ledger, Reading, Spend
from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.log.contents import release_content
from bayesdp.accounting.stores import verified

LIMIT = 6.0
SHORT, LONG = 100, 10_000
ROOT = Path(__file__).resolve().parent.parent


def spend(dp_epsilon: float) -> Spend:
    return Spend("d", "row", "q", "any", dp_epsilon)


def filled(url: str, entries: int) -> Ledger:
    """A ledger with so many entries: half of them debits, half of them results."""
    book = Ledger(url, level=partial(level, seconds=1.0))
    book.ensure("d", "row", Reading("dp", 1e6))
    said = release_content(analyst="a", study="s", request={}, spends=[spend(0.25)])
    with book._store.writing(create=False) as log:
        while log.head.sequence < entries:
            release, now = uuid.uuid4().hex, book._now()
            log.append("release", now, said, dataset="d", release=release)
            log.append_result(now, f'"{"x" * 5000}"', dataset="d", release=release)
    return book


def milliseconds(book: Ledger, turns: int, *, new: bool) -> float:
    """The processor time of a debit, the median of some; in a `new` process each time."""
    taken = []
    for _ in range(turns):
        if new:
            verified.forget()
        begin = time.process_time()
        book.debit("d", "row", [spend(0.001)], study="s", request={})
        taken.append(time.process_time() - begin)
    return 1000 * statistics.median(taken)


def lengths(name: str, urls: dict[int, str], turns: int) -> bool:
    """Print what debits cost in ledgers of different lengths; whether that is as claimed."""
    books = {number: filled(url, number) for number, url in urls.items()}
    known, new = (
        {number: milliseconds(book, turns, new=way) for number, book in books.items()}
        for way in (False, True)
    )
    for number in books:
        print(f"{name}, {number:,} entries: {known[number]:.1f} ms, {new[number]:.1f} ms at first")
    ratio, first = known[LONG] / known[SHORT], new[LONG] / new[SHORT]
    print(f"{name}: {ratio:.1f} times as much for 100 times the entries, {first:.1f} at first")
    return ratio <= LIMIT


def throughput(name: str, url: str, seconds: str, processes: str) -> None:
    """Print how many releases a second processes make that are killed at random."""
    words = ["-m", "tests.accounting.stress", url, seconds, processes]
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, *words, folder],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": search},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        lines = [line for log in Path(folder).iterdir() for line in log.read_text().split("\n")]
    kinds = [line.partition(" ")[0] for line in lines]
    killed = json.loads(done.stdout.splitlines()[-1])["killed"]
    rate = kinds.count("debited") / float(seconds)
    print(
        f"{name}: {rate:.0f} debits and {kinds.count('stored') / float(seconds):.0f} results a "
        f"second by {processes} processes, {killed} killed, {kinds.count('error')} errors"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", help="postgresql://...; ledgers are made beside its schema")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", default="10")
    parser.add_argument("--processes", default="6")
    asked = parser.parse_args()
    tag = uuid.uuid4().hex[:8]
    with tempfile.TemporaryDirectory() as folder:
        holds = lengths("file", {n: f"{folder}/{n}.db" for n in (SHORT, LONG)}, asked.turns)
        throughput("file", f"{folder}/stress.db", asked.seconds, asked.processes)
    if asked.server:
        base = asked.server.partition("?")[0]
        urls = {n: f"{base}?schema=bench{tag}_{n}" for n in (SHORT, LONG)}
        holds = lengths("server", urls, asked.turns) and holds
        throughput("server", f"{base}?schema=bench{tag}", asked.seconds, asked.processes)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
