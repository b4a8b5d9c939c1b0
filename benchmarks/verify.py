"""How long `bayesdp.verify` takes, for each kind of certificate and for larger ones.

    python benchmarks/verify.py                       everything, in milliseconds
    python benchmarks/verify.py markov tree           only kinds with these words in their names
    python benchmarks/verify.py --against ../other    beside another checkout, with ratios

Certificates are made anew by each checkout, out of the same populations, studies and programs:
their format may differ. Both are asked in turn for each kind, in processes of their own, and keep
nothing from one verdict to the next. Times are of the processor, the least of several: a busy
machine only ever adds to them. A kind that the other checkout can't make has a dash.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TIMES, TURNS, MORE_TURNS = 5, 3, 12
"""So often a certificate is verified in one turn at least, and so many turns each checkout has."""
SHORT, LONG = 0.05, 1.0
"""Seconds of which a turn has at least the first, and after which it ends in any case.

A small certificate takes less time than whatever else the machine does now and then, and has more
turns.
"""
SLOW = 1.5
"""Claimed of a checkout against the one before it: no kind takes so many times as long."""
NOTICED = 0.0005
"""Seconds: what adds less than that to a verdict is not counted as slower."""

Plain = dict[str, Any]


# -- what is verified --------------------------------------------------------------------------


def chain(stay: float, length: int, **other: Any) -> Plain:
    rows = [[stay, 1 - stay], [1 - stay, stay]]
    return {"model": "markov", "transition": rows, "length": length, **other}


def states_chain(states: int, length: int) -> Plain:
    """A chain that stays with probability 1/2, and else goes anywhere."""
    rows = [[0.5 * (u == v) + 0.5 / states for v in range(states)] for u in range(states)]
    return {"model": "markov", "transition": rows, "length": length}


def order_two(length: int) -> Plain:
    table = [[[0.8, 0.2], [0.6, 0.4]], [[0.5, 0.5], [0.3, 0.7]]]
    return {"model": "markov", "order": 2, "transition": table, "length": length}


def calm_order_two(length: int) -> Plain:
    table = [[[0.6, 0.4], [0.5, 0.5]], [[0.5, 0.5], [0.4, 0.6]]]
    return {"model": "markov", "order": 2, "transition": table, "length": length}


def correlated(size: int, rho: float) -> list[list[float]]:
    return [[1.0 if i == j else rho for j in range(size)] for i in range(size)]


def binary_tree(nodes: int) -> Plain:
    rows = [[0.8, 0.2], [0.3, 0.7]]
    named = [{"name": "n0", "law": [0.5, 0.5]}]
    named += [
        {"name": f"n{i}", "parent": f"n{(i - 1) // 2}", "transition": rows} for i in range(1, nodes)
    ]
    return {"model": "tree", "nodes": named}


def grid(rows: int, columns: int, coupling: float) -> Plain:
    table = [[coupling, 1.0], [1.0, coupling]]
    return {"model": "graph", "grid": [rows, columns], "states": 2, "table": table}


def table_law(records: int) -> Plain:
    """Every combination of binary records, the likelier the more of them agree."""

    def nested(so_far: tuple[int, ...]) -> Any:
        if len(so_far) == records:
            return (1.0 + abs(2 * sum(so_far) - records)) / total
        return [nested((*so_far, value)) for value in (0, 1)]

    ones = [bin(cell).count("1") for cell in range(2**records)]
    total = sum(1.0 + abs(2 * item - records) for item in ones)
    return {"model": "finite", "probabilities": nested(())}


NETWORK: Plain = {
    "model": "network",
    "nodes": [
        {"name": "a", "states": 2, "table": [0.4, 0.6]},
        {"name": "b", "states": 2, "parents": ["a"], "table": [[0.8, 0.2], [0.3, 0.7]]},
        {"name": "c", "states": 2, "parents": ["a"], "table": [[0.6, 0.4], [0.5, 0.5]]},
    ],
}
INTERVALS: Plain = {
    "model": "markov",
    "transition_lower": [[0.8, 0.1], [0.2, 0.6]],
    "transition_upper": [[0.9, 0.2], [0.4, 0.8]],
    "length": 1000,
}
PANEL: Plain = {
    "model": "panel",
    "series": 4,
    "length": 365,
    "own_previous": 4.0,
    "others_previous": 1.0,
    "others_now": 1.2,
    "shared_previous": 2.0,
    "shared_now": 1.1,
}
CONVERSIONS: dict[str, tuple[str, Plain]] = {
    "independent": ("independent", {"model": "independent"}),
    "cluster-size": ("cluster-size", {"model": "clusters", "size": 5}),
    "family": ("family", {"model": "family", "members": [chain(0.7, 50), chain(0.6, 80)]}),
    "finite-law, 3 records": ("finite-law", table_law(3)),
    "finite-law, 6 records": ("finite-law", table_law(6)),
    "finite-law of a network": ("finite-law", NETWORK),
    "markov-recursion, 9 records": ("markov-recursion", chain(0.8, 9)),
    "markov-recursion, 10^6 records": ("markov-recursion", chain(0.8, 10**6)),
    "markov-recursion, 3 states": ("markov-recursion", states_chain(3, 10**6)),
    "markov-recursion, another start": (
        "markov-recursion", chain(0.8, 60, initial=[0.9, 0.1])),
    "markov-threshold": ("markov-threshold", states_chain(4, 10**6)),
    "markov-contraction": ("markov-contraction", chain(0.8, 10**6)),
    "markov-contraction of intervals": ("markov-contraction", INTERVALS),
    "markov-ratio": ("markov-ratio", chain(0.6, 1000)),
    "markov-window": ("markov-window", order_two(1000)),
    "markov-contexts": ("markov-contexts", order_two(1000)),
    "markov-influence": ("markov-influence", calm_order_two(1000)),
    "tree-recursion, 31 nodes": ("tree-recursion", binary_tree(31)),
    "tree-recursion, 255 nodes": ("tree-recursion", binary_tree(255)),
    "graph-contraction of a tree": ("graph-contraction", binary_tree(63)),
    "graph-contraction, 3 x 4": ("graph-contraction", grid(3, 4, 1.3)),
    "graph-contraction, 12 x 12": ("graph-contraction", grid(12, 12, 1.3)),
    "graph-ferromagnet, 12 x 12": ("graph-ferromagnet", grid(12, 12, 1.3)),
    "graph-fields, 12 x 12": ("graph-fields", grid(12, 12, 1.3)),
    "graph-influence, 3 x 4": ("graph-influence", grid(3, 4, 1.1)),
    "graph-influence, 12 x 12": ("graph-influence", grid(12, 12, 1.1)),
    "panel-contraction": ("panel-contraction", PANEL),
    "panel-blocks": ("panel-blocks", PANEL),
    "autoregressive": (
        "autoregressive", {"model": "autoregressive", "coefficient": 0.4, "length": 1000}),
    "gaussian-covariance, 10 records": (
        "gaussian-covariance", {"model": "gaussian", "covariance": correlated(10, 0.1)}),
    "gaussian-regression": (
        "gaussian-regression", {"model": "gaussian", "size": 10, "max_regression_sum": 0.5}),
    "gaussian-equal-variances": (
        "gaussian-equal-variances", {"model": "gaussian", "covariance": correlated(10, 0.05)}),
    "gaussian-max-correlation": (
        "gaussian-max-correlation", {"model": "gaussian", "size": 5, "max_correlation": 0.1}),
    "gaussian-walk-summable": (
        "gaussian-walk-summable", {"model": "gaussian", "precision": correlated(12, -0.05)}),
}  # fmt: skip
"""By name: the theorem and its population, at a DP cost of 1.

For adversaries of class `any`, where the theorem speaks of them.
"""

WITH_DELTA: dict[str, tuple[str, Plain]] = {
    "at a delta, clusters": ("cluster-size", {"model": "clusters", "size": 3}),
    "at a delta, chain": ("markov-contraction", chain(0.7, 40)),
}
PEOPLE = [
    {"pair": i // 2, "ill": i % 3 == 0, "x": float(i % 5), "day": i, "area": "ns"[i % 2]}
    for i in range(40)
]
PAIRS = {"model": "clusters", "size": 2, "covers": ["ill", "x"], "source": "a benchmark"}
SICK = {"name": "n", "kind": "count", "where": "ill == True"}
TOTAL = {"name": "s", "kind": "sum", "column": "x"}
BASE: Plain = {
    "columns": {
        "pair": {"role": "cluster"},
        "ill": {"states": [False, True]},
        "x": {"bounds": [0.0, 5.0]},
        "area": {"public": True, "states": ["n", "s"]},
    },
    "population": PAIRS,
    "budget": {"epsilon": 40.0, "spend": 1.0},
    "queries": [SICK, TOTAL],
}
BY_AREA = [
    {"name": "by", "kind": "count", "where": "ill == True", "by": "area"},
    {"name": "bins", "kind": "histogram", "column": "x", "bins": [0.0, 1.0, 2.5, 5.0]},
    {"name": "mean", "kind": "mean", "column": "x", "where": "area == 'n'"},
]
GAUSSIAN_NOISE = {"epsilon": 40.0, "delta": 1e-6, "spend": 1.0, "noise": "gaussian"}
STUDIES: dict[str, tuple[int, Plain]] = {
    "release": (1, {}),
    "release, the tenth": (10, {}),
    "release, groups and bins": (1, {"queries": BY_AREA}),
    "release, Gaussian noise": (2, {"budget": GAUSSIAN_NOISE}),
    "release, DP alone": (1, {"budget": {"epsilon": 40.0, "spend": 1.0, "notion": "dp"}}),
    "release, parts of a table": (
        1,
        {"queries": [TOTAL | {"name": area, "where": f"area == '{area}'"} for area in "ns"]},
    ),
    "release of a chain": (
        1,
        {
            "columns": {"day": {"role": "order", "step": 1}, "ill": {"states": [False, True]}},
            "population": chain(0.8, 40) | {"covers": ["ill"], "source": "a benchmark"},
            "queries": [SICK],
        },
    ),
}
"""By name: how many releases the study makes, and how it differs from `BASE`."""

NAMES = "Bool, Database, Int, Private, Real, clip, laplace, program, record"
PROGRAM = (
    f"from bayesdp.programs import {NAMES}\n"
    + """

@record
class Person:
    height: Real[100, 230]
    smokes: Bool


@program
def both(people: Database[Person]) -> Private[tuple[Real, Int]]:
    total = laplace(sum(clip(p.height, 150, 190) for p in people), epsilon=1)
    return total, laplace(sum(1 if p.smokes else 0 for p in people), epsilon=1 / 4)
"""
)


def conversion(theorem: str, spec: Plain) -> str:
    """The certificate of this theorem's bound alone, whether or not it is the best."""
    from bayesdp.notions import Cost
    from bayesdp.populations import parse
    from bayesdp.theorems import Question, report

    population = parse(spec)
    moves = spec["model"] in ("gaussian", "autoregressive")
    cost = Cost(lipschitz=1.0) if moves else Cost(any=1.0)
    adversary: Any = "uninformed" if theorem == "tree-recursion" else "any"
    full = report(Question(population, adversary), cost)
    return by_theorem(theorem, population, full)


def with_delta(theorem: str, spec: Plain) -> str:
    """The same at a delta, of pure noise and Gaussian noise together."""
    from bayesdp.notions import Cost
    from bayesdp.populations import parse
    from bayesdp.theorems import Question
    from bayesdp.theorems.with_delta import report_with_delta

    population = parse(spec)
    full = report_with_delta(Question(population), Cost(any=0.1, rho_any=0.01), 1e-6)
    return by_theorem(theorem, population, full)


def by_theorem(theorem: str, population: Any, full: Any) -> str:
    from dataclasses import replace

    from bayesdp.release.certificates.certify import conversion_certificate

    bounds = tuple(bound for bound in full.bounds if bound.theorem == theorem)
    assert bounds, f"{theorem} doesn't apply"
    return conversion_certificate(population, replace(full, bounds=bounds)).to_json()


def released(times: int, other: Plain) -> str:
    import pandas as pd

    import bayesdp as bdp

    with tempfile.TemporaryDirectory() as folder:
        ledger = str(Path(folder) / "ledger.db")
        data = {"dataset": "people", "n": len(PEOPLE), "ledger": ledger}
        study = bdp.Study(pd.DataFrame(PEOPLE), **(BASE | data | other))
        newer = "again" in inspect.signature(study.release).parameters
        keys = {"again": True} if newer else {}
        releases = [study.release(**keys) for _ in range(times)]
    return releases[-1].certificate.to_json()


def of_program() -> str:
    from bayesdp.programs.certificate import program_certificate
    from bayesdp.programs.check.checker import check
    from bayesdp.programs.source import core_of, read_text

    program = core_of(read_text(PROGRAM, "people.py"), "both", {})
    return program_certificate(program, check(program)).to_json()


def relations() -> str:
    from bayesdp.populations import parse
    from bayesdp.release.certificates.implications import implications_certificate
    from bayesdp.theorems.relations.search import implied

    law = parse(table_law(2))
    return implications_certificate(implied({"dp": 0.7}, law, (), size=2, default=0)).to_json()


CASES: dict[str, Callable[[], str]] = {
    **{name: lambda given=given: conversion(*given) for name, given in CONVERSIONS.items()},
    **{name: lambda given=given: with_delta(*given) for name, given in WITH_DELTA.items()},
    **{name: lambda given=given: released(*given) for name, given in STUDIES.items()},
    "program": of_program,
    "relations": relations,
}


# -- one checkout, in a process of its own -----------------------------------------------------


def serve() -> None:
    """For each name that is read, a line: the least processor time of a verdict, in seconds."""
    import bayesdp as bdp

    print(json.dumps(bdp.__file__), flush=True)
    documents: dict[str, Plain] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in documents:
                document = json.loads(CASES[name]())
                verdict = bdp.verify(document)
                assert verdict.verdict == "VALID ASSUMING", verdict
                documents[name] = document
            print(json.dumps(_least(documents[name])), flush=True)
        except Exception as error:  # another checkout may lack anything: said, and left out
            print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)


def _least(document: Plain) -> float:
    import bayesdp as bdp

    taken: list[float] = []
    while sum(taken) <= LONG and (len(taken) < TIMES or sum(taken) < SHORT):
        forget()
        began = time.process_time()
        bdp.verify(document)
        taken.append(time.process_time() - began)
    return min(taken)


def forget() -> None:
    """Clear what either kernel keeps of certificates before: somebody verifies one for once."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(("bayesdp.kernel", "bayesdp.statements")):
            continue
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
        if hasattr(module, "_last"):
            module._last = None  # type: ignore[attr-defined]
        if hasattr(module, "_READ"):
            module._READ.clear()  # type: ignore[attr-defined]


class Checkout:
    """A process that verifies with the package of one checkout."""

    def __init__(self, root: Path) -> None:
        source = root.resolve() / "src"
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )
        used = Path(self._answer())
        if source not in used.parents:
            raise SystemExit(f"{used} was imported, which is not in {source}")

    def seconds(self, name: str) -> float | str:
        """The time of a verdict, or why there is none."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        answer: float | str = self._answer()
        return answer

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a checkout's process has ended")
        return json.loads(line)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


# -- the table ---------------------------------------------------------------------------------


def measured(checkouts: Sequence[Checkout], name: str) -> list[float | str]:
    """For each checkout its least time over all turns, or why it has none."""
    actual: list[float | str] = [checkout.seconds(name) for checkout in checkouts]
    small = isinstance(actual[0], float) and actual[0] < SHORT / TIMES
    for _ in range(MORE_TURNS if small else TURNS - 1):
        for place, checkout in enumerate(checkouts):
            before = actual[place]
            if isinstance(before, float):
                now = checkout.seconds(name)
                assert isinstance(now, float), now
                actual[place] = min(before, now)
    return actual


def is_slower(ours: float, theirs: float) -> bool:
    """Whether anybody would notice."""
    return ours > SLOW * theirs and ours - theirs > NOTICED


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a kind is slower than in the other checkout, or can't be verified."""
    parser = argparse.ArgumentParser(description="How long verify takes.")
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        serve()
        return 0
    names = [name for name in CASES if not given.words or any(w in name for w in given.words)]
    if not names:
        parser.error(f"no kind has these words in its name: {', '.join(CASES)}")
    roots = [ROOT] if given.against is None else [ROOT, given.against]
    checkouts = [Checkout(root) for root in roots]
    failed = 0
    for name in names:
        ours, *others = measured(checkouts, name)
        if isinstance(ours, str):
            failed += 1
            print(f"{name:<36}   FAILS: {ours}", flush=True)
            continue
        line = f"{name:<36}{ours * 1e3:>10.1f} ms"
        for theirs in others:
            if isinstance(theirs, str):
                line += f"{'-':>13}   {theirs[:80]}"
                continue
            line += f"{theirs * 1e3:>10.1f} ms{ours / theirs:>9.2f} x"
            if is_slower(ours, theirs):
                failed += 1
                line += f"   FAILS: at most {SLOW:g} x"
        print(line, flush=True)
    for checkout in checkouts:
        checkout.close()
    if failed:
        print(f"{failed} claims fail", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
