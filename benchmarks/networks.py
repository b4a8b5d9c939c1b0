"""Large networks, from the study to the certificate: how long each command takes beside `leakage`.

    python benchmarks/networks.py [RECORDS ...]

A pedigree of 2,983 people and a larger one of 28,081, made by a fixed rule: everybody is ill or
not, and more often if their parents are. Each command is a process of its own, and its processor
time is compared with that of `bayesdp leakage` on the same population, in the time that a theorem
has in studies (`--seconds 1`). As it is typed, `leakage` gives each theorem 30 seconds: that is the
row `leakage, 30 s`. Prints a table, and exits with 1 if a command takes more times as long than is
claimed. Three times is the aim.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CLAIMED = {
    "check": 3.0,
    "check --data": 3.3,
    "release": 3.7,
    "verify": 2.5,
    "explain": 2.5,
    "release --report": 4.5,
}
"""How many times as long as `leakage` a command may take."""
SIZES = (2_983, 28_081)
TURNS = 3
ROOT = Path(__file__).resolve().parents[1]
LAWS = [[[0.92, 0.08], [0.85, 0.15]], [[0.85, 0.15], [0.75, 0.25]]]
"""Whether somebody is ill, by whether each parent is."""


def pedigree(records: int) -> list[dict[str, Any]]:
    """Generations of couples with one to three children each; half of the partners marry in."""
    rng = random.Random(1)
    people: list[dict[str, Any]] = []

    def born(*parents: int) -> int:
        known = {"parents": [f"p{parent}" for parent in parents]} if parents else {}
        table = LAWS if parents else [0.9, 0.1]
        people.append({"name": f"p{len(people)}", "states": 2, **known, "table": table})
        return len(people) - 1

    generation = [born() for _ in range(records // 8)]
    while True:
        children: list[int] = []
        for person in rng.sample(generation, len(generation)):
            if len(people) + 4 > records:
                while len(people) < records:
                    born()
                return people
            partner = born() if rng.random() < 0.5 else rng.choice(generation)
            if partner != person and rng.random() < 0.75:
                children += [born(person, partner) for _ in range(rng.choice((1, 2, 2, 3)))]
        generation = children


STUDY = """
[data]
source = "people.csv"
dataset = "pedigree"
n = {records}

[data.columns]
ill = {{ states = [0, 1] }}

[population]
model = "network"
nodes = "nodes.json"
covers = ["ill"]
source = "a benchmark"

[budget]
epsilon = 40.0
spend = 2.0

[[query]]
name = "ill"
kind = "count"
where = "ill == 1"

[[query]]
name = "well"
kind = "count"
where = "ill == 0"
"""


def seconds(folder: Path, *arguments: str) -> float:
    """The processor time of one command; `SystemExit` where it fails."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled once
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "bayesdp.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"bayesdp {' '.join(arguments)}: {done.stdout[:500]}{done.stderr[:500]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(records: int, turns: int, place: Path) -> dict[str, float]:
    """The least time of each command over some turns, in a folder of its own."""
    rng = random.Random(2)
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        (folder / "nodes.json").write_text(json.dumps(pedigree(records)))
        rows = "".join(f"{int(rng.random() < 0.12)}\n" for _ in range(records))
        (folder / "people.csv").write_text("ill\n" + rows)
        (folder / "study.toml").write_text(STUDY.format(records=records))
        least: dict[str, float] = {}
        for _ in range(turns):
            for what, arguments in COMMANDS.items():
                taken = seconds(folder, *arguments)
                least[what] = min(taken, least.get(what, taken))
        return least


COMMANDS = {
    "leakage": ("leakage", "study.toml", "--epsilon", "0.2", "--seconds", "1"),
    "leakage, 30 s": ("leakage", "study.toml", "--epsilon", "0.2"),
    "check": ("check", "study.toml"),
    "check --data": ("check", "study.toml", "--data"),
    "release": ("release", "study.toml", "--certificate", "certificate.json"),
    "verify": ("verify", "certificate.json"),
    "explain": ("explain", "certificate.json"),
    "release --report": ("release", "study.toml", "--report", "report.html"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a command takes longer than is claimed."""
    parser = argparse.ArgumentParser(description="Large networks beside their leakage.")
    parser.add_argument("records", nargs="*", type=int, default=SIZES)
    parser.add_argument("--turns", type=int, default=TURNS)
    given = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        measured(60, 1, Path(place))  # after it every module is compiled
        for records in given.records:
            least = measured(records, given.turns, Path(place))
            for what, taken in least.items():
                ratio = taken / least["leakage"]
                most = CLAIMED.get(what, math.inf)
                failed += ratio > most
                mark = f"   FAILS: at most {most:g} x" if ratio > most else ""
                print(f"{records:>8,} {what:<18}{taken:>8.2f} s{ratio:>8.2f} x{mark}", flush=True)
    if failed:
        print(f"{failed} claims fail", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
