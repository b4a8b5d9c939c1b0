"""Fuzz for a while: `python -m tests.fuzz --minutes 120 [--target NAME] [--seed N] [--out DIR]`.

What goes wrong is written to DIR, one file for each kind of problem, with the traceback beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz.targets import TARGETS, prepare, run


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--target", action="append", choices=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz-out"))
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    names = given.target or list(TARGETS)
    tried, problems = Counter[str](), Counter[str]()
    end, seed = time.monotonic() + 60 * given.minutes, given.seed
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        os.chdir(folder)
        prepare()
        while time.monotonic() < end:
            name = names[seed % len(names)]
            content = TARGETS[name].make(Random(f"{name} {seed}"))
            problem = run(TARGETS[name], content)
            tried[name] += 1
            if problem is not None:
                last = problem.strip().splitlines()[-3:]
                kind = hashlib.sha256("\n".join(last).encode()).hexdigest()[:8]
                problems[f"{name} {kind}"] += 1
                if problems[f"{name} {kind}"] == 1:
                    stem = out / f"{name.replace(' ', '-')}-{kind}"
                    stem.with_suffix(".input").write_bytes(content)
                    stem.with_suffix(".txt").write_text(problem, encoding="utf-8")
                    print(f"{name} (seed {seed}): {last}", flush=True)
            seed += 1
        os.chdir(out)
    print(f"tried {tried.total()}: {dict(tried)}; problems {dict(problems)}")
    print(f"{time.process_time() / 60:.1f} minutes of processor time")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
