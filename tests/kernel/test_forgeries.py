"""Forgeries that were VALID once, each a change of a certificate that is made and valid today.

Every forgery has its own reason to fail: a later change of format can't make its test vacuous.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
import pytest

import bayesdp
from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.release import Study

Document = dict[str, Any]
SHARED = Path(os.environ.get("BAYESDP_SHARED", "../shared")) / "forged"
ROWS = pd.DataFrame(
    {
        "fam": range(1, 9),
        "s": [0, 1, 0, 0, 1, 1, 0, 0],
        "x": [171.5, 160.0, 182.0, 149.0, 168.0, 175.5, 190.0, 166.0],
        "g": ["n", "s"] * 4,
        "m": ["a"] * 8,
        "steps": [100.0, 9000.0, 40.0, 12000.0, 7000.0, 3.0, 8500.0, 39000.0],
    }
)
S, X = {"states": [0, 1]}, {"bounds": [140.0, 200.0], "unit": "cm"}
CLUSTER, ALONE = {"role": "cluster"}, {"model": "clusters", "size": 1}
COUNT = {"kind": "count", "where": "s == 1"}
MEAN = {"kind": "mean", "column": "x"}


@cache
def _released(columns: str, population: str, query: str) -> str:
    study = Study(
        ROWS,
        dataset="d",
        n=8,
        columns=json.loads(columns),
        population=json.loads(population),
        budget={"epsilon": 1.0},
        queries=[{"name": "c"} | json.loads(query)],
        ledger=str(Path(mkdtemp(prefix="bayesdp-forged-")) / "ledger.db"),
    )
    document = json.loads(study.release().certificate.to_json())
    verdict = kernel.check(document)
    assert verdict, verdict
    return json.dumps(document)


def released(
    columns: Document, population: Document, query: Document, covers: str = "s"
) -> Document:
    """A certificate of the day: of eight rows, one query, epsilon 1."""
    declared = {"source": "someone", "covers": [covers], **population}
    texts = (json.dumps(part) for part in (columns, declared, query))
    document: Document = json.loads(_released(*texts))
    return document


def composed(document: Document) -> Document:
    (step,) = document["derivation"]["premises"][0]["premises"]
    return step


def renewed(document: Document) -> Document:
    """With all that a careful forger derives anew: assumptions, where they can be, and digest."""
    document = copy.deepcopy(document)
    try:
        document["assumptions"] = kernel.assumptions(document)
    except Exception:  # a forgery that no assumptions can be derived of keeps its own
        document["assumptions"] = list(document["assumptions"])
    return document | {"digest": digest(content_of(document))}


def everywhere(document: Document, change: Callable[[Document], object]) -> None:
    """A change of the population in the declaration and in the derivation's evidence."""
    change(document["population"])
    for step in document["derivation"]["premises"]:
        change(step["evidence"]["population"])


# -- populations that say two things -----------------------------------------------------------

STRONG = [[1.0 if i == j else 0.99 for j in range(4)] for i in range(4)]
BOUND = [[1000, 1], [1, 1000]]
FAIR = [0.5, 0.5]
COPY = [[1, 0], [0, 1]]
ROOMS = {"fam": CLUSTER, "s": S, "x": X}
SERIES = {"fam": {"role": "order", "step": 1}, "s": S, "x": X}
GAUSSIAN = {"model": "gaussian", "size": 1, "max_correlation": 0.0}
ONE = {"model": "gaussian", "covariance": [[1.0]]}
GRAPH = {"model": "graph", "records": 8, "states": 2, "factors": []}
EDGES = {"model": "graph", "records": 8, "states": 2, "edges": [[0, 1]], "table": [[1, 1], [1, 1]]}
NETWORK = {
    "model": "network",
    "nodes": [{"name": f"a{i}", "states": 2, "table": FAIR} for i in range(8)],
}
TREE = {"model": "tree", "nodes": [{"name": f"a{i}", "law": FAIR} for i in range(8)]}
CHAIN = {"model": "markov", "transition": [FAIR, FAIR], "length": 8}
INTERVALS = {
    "model": "markov",
    "transition_lower": [FAIR, FAIR],
    "transition_upper": [FAIR, FAIR],
    "length": 8,
}
WIDE = {"transition_lower": [[0.01, 0.01]] * 2, "transition_upper": [[0.99, 0.99]] * 2}


def set_(**keys: Any) -> Callable[[Document], None]:
    return lambda population: population.update(copy.deepcopy(keys))


def node(**keys: Any) -> Callable[[Document], None]:
    """Every node but the first says these, too."""
    return lambda population: [item.update(keys) for item in population["nodes"][1:]] and None


Case = tuple[Document, Document, Document, str, Callable[[Document], object], str]
POPULATIONS: dict[str, Case] = {
    "gauss-size1-cov4": (ROOMS, GAUSSIAN, MEAN, "x", set_(covariance=STRONG), "population"),
    "gauss-size1-precision4": (ROOMS, GAUSSIAN, MEAN, "x", set_(precision=STRONG), "population"),
    "gauss-prec-cov": (ROOMS, ONE, MEAN, "x", set_(precision=STRONG), "population"),
    "gauss-size1-vector-4col-cov8": (
        ROOMS, ONE, MEAN, "x",
        set_(covariance=STRONG, size=1, columns=["x"], bounds=[[0, 1000]]), "population",
    ),
    "gauss-asym": (
        ROOMS | {"m": {"role": "member", "states": ["a"]}}, ONE | {"roles": ["a"]}, MEAN, "x",
        set_(roles=["a", "b", "c"]), "population",
    ),
    "gauss-covariance-true": (ROOMS, ONE, MEAN, "x", set_(covariance=[[True]]), "population"),
    "graph-edges-factors": (
        ROOMS, GRAPH, COUNT, "s",
        set_(edges=[], factors=[{"between": [i, i + 1], "table": BOUND} for i in range(7)]),
        "population",
    ),
    "graph-factors-edgesfile": (
        ROOMS, GRAPH, COUNT, "s", set_(edges="edges.csv", table=BOUND), "population",
    ),
    "graph-grid-and-edges": (ROOMS, EDGES, COUNT, "s", set_(grid=[2, 4]), "population"),
    "network-nodes-bif": (ROOMS, NETWORK, COUNT, "s", set_(bif="asia.bif"), "population"),
    "network-noparents-bigtable": (
        ROOMS, NETWORK, COUNT, "s", node(parents=[], table=COPY), "population",
    ),
    "network-parent-key": (
        ROOMS, NETWORK, COUNT, "s", node(parent="a0", table=COPY), "population",
    ),
    "tree-parent-law": (ROOMS, TREE, COUNT, "s", node(Parent="a0"), "population"),
    "tree-parents-key": (
        ROOMS, TREE, COUNT, "s", node(parents=["a0"], transition=COPY), "population",
    ),
    "markov-initial-garbage": (SERIES, CHAIN, COUNT, "s", set_(initial=[0.9, 0.9]), "population"),
    "markov-complete-garbage": (SERIES, CHAIN, COUNT, "s", set_(complete="perhaps"), "population"),
    "markov-interval-initial-nonsense": (
        SERIES, INTERVALS, COUNT, "s", set_(initial="anything"), "population",
    ),
    "markov-transition-interval": (SERIES, CHAIN, COUNT, "s", set_(**WIDE), "population"),
    "markov-transition-interval-recursion": (
        SERIES, INTERVALS, COUNT, "s", set_(transition=[FAIR, FAIR], **WIDE), "population",
    ),
    "markov-length-1-of-8": (SERIES, CHAIN | {"length": 8}, COUNT, "s", set_(length=1), ""),
    "unknown-key-of-another-model": (ROOMS, ALONE, COUNT, "s", set_(records=8), "population"),
}  # fmt: skip


@pytest.mark.parametrize("name", POPULATIONS)
def test_populations_that_say_two_things(name: str) -> None:
    columns, population, query, covers, change, step = POPULATIONS[name]
    document = released(columns, population, query, covers)
    assert kernel.check(renewed(document))
    everywhere(document, change)
    refused(renewed(document), step)


def refused(document: Document, step: str, reason: str = "") -> None:
    """Not VALID for a reason of its own: not its digest, nor words that a forger derives."""
    verdict = kernel.check(document)
    assert not verdict
    assert verdict.step not in ("digest", "format", "version", "assumptions"), verdict
    assert verdict.step.startswith(step), verdict
    assert re.search(reason, verdict.reason), verdict
    assert not bayesdp.verify(json.dumps(document))


# -- states, groups and labels -------------------------------------------------------------------


def ten_groups(document: Document, column: str, states: list[Any]) -> None:
    """One group's results, for every state that the column is said to have."""
    document["columns"][column]["states"] = states
    first = document["results"][0]
    document["results"] = [first | {"group": state} for state in states]


def by_public(document: Document) -> None:
    ten_groups(document, "g", ["n"] * 10)


def by_role(document: Document) -> None:
    ten_groups(document, "fam", ["n"] * 10)


def many_cells(document: Document) -> None:
    states = ["a", *["b"] * 20]
    document["columns"]["s"]["states"] = states
    document["results"] = [document["results"][0] | {"cell": state} for state in states]


def one_and_one(document: Document) -> None:
    document["columns"]["s"]["states"] = [0, 1, 1.0]
    document["results"].append(copy.deepcopy(document["results"][1]) | {"cell": 1.0})


def escapes(document: Document) -> None:
    document["columns"]["x"]["unit"] = "cm\n  - all checked\x1b[2J"
    document["columns"]["y\x1b[2J"] = {"public": True}


def derived_public(document: Document) -> None:
    document["columns"]["tall"] = {"from": "x", "cuts": [170], "public": True}
    composed(document)["premises"][0]["evidence"]["query"]["where"] = "tall == 1"


def colliding(document: Document) -> None:
    """A raw column that is called what the covered, derived one is called in spends."""
    label = "act = steps cut at [8000.0]"
    document["columns"][label] = {"states": [0, 1]}
    composed(document)["premises"][0]["evidence"]["query"]["column"] = label


def undeclared_unit(document: Document) -> None:
    document |= {"unit": "person", "rows_per_unit": 1}
    spend = composed(document)["premises"][0]["evidence"]["spend"]
    spend["unit"] = "person"


def keyed(kind: str, value: Any) -> Callable[[Document], None]:
    return lambda document: document["columns"]["x"].update({kind: value})


HISTOGRAM = {"kind": "histogram", "column": "s"}
GROUPED = ROOMS | {"g": {"public": True, "states": ["n", "s"]}}
ACT = {"fam": CLUSTER, "steps": {"bounds": [0, 40000]}, "act": {"from": "steps", "cuts": [8000]}}
COLUMNS: dict[str, tuple[Document, Document, str, Callable[[Document], None], str]] = {
    "by-dup-keys-x10": (GROUPED, COUNT | {"by": "g"}, "s", by_public, "columns"),
    "by-role-dup-keys-x10": (
        GROUPED | {"fam": CLUSTER | {"states": list(range(1, 9))}},
        COUNT | {"by": "fam"}, "s", by_role, "columns",
    ),
    "histogram-many-cells": (ROOMS, HISTOGRAM, "s", many_cells, "columns"),
    "hist-1-and-1.0": (ROOMS, HISTOGRAM, "s", one_and_one, "columns"),
    "esc-cols": (ROOMS, COUNT, "s", escapes, ""),
    "mean-where-public-derived-from-private": (ROOMS, MEAN, "x", derived_public, "columns"),
    "label-collision": (
        ACT, {"kind": "histogram", "column": "act"}, "act", colliding, "",
    ),
    "unit-column-not-declared": (ROOMS, COUNT, "s", undeclared_unit, ""),
    "bounds-reversed": (ROOMS, COUNT, "s", keyed("bounds", [200.0, 140.0]), "columns"),
    "bounds-null": (ROOMS, COUNT, "s", keyed("bounds", None), "columns"),
    "missing-a-list": (ROOMS, COUNT, "s", keyed("missing", ["refuse"]), "columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_say_two_things(name: str) -> None:
    columns, query, covers, change, step = COLUMNS[name]
    document = released(columns, ALONE, query, covers)
    assert kernel.check(renewed(document))
    change(document)
    refused(renewed(document), step)


def test_an_order_with_a_step_backwards() -> None:
    document = released(SERIES, CHAIN, COUNT)
    document["columns"]["fam"]["step"] = -1
    refused(renewed(document), "columns")


# -- lines that nothing derives ------------------------------------------------------------------


@pytest.mark.parametrize("total", [1e308, 2e6, float("1e7")])
@pytest.mark.parametrize("place", ["data_set", "evidence"])
def test_totals_that_limit_nothing(place: str, total: float) -> None:
    """`data_set.total-1e308` and `evidence.total-1e308`: also with the assumptions made anew."""
    document = released(ROOMS, ALONE, COUNT)
    holder = document["data_set"] if place == "data_set" else document["derivation"]["evidence"]
    holder["total"] = total
    refused(renewed(document), "data_set" if place == "data_set" else "release")
    document["data_set"]["total"] = document["derivation"]["evidence"]["total"] = total
    refused(renewed(document), "data_set", "limits nothing")


ALONE_CHANGED: dict[str, Callable[[Document], object]] = {
    "n": lambda d: d.update(n=16),
    "dataset": lambda d: (
        d.update(dataset="e") or composed(d)["premises"][0]["evidence"]["spend"].update(dataset="e")
    ),
    "release": lambda d: d.update(release="another"),
    "ledger": lambda d: d["ledger"].update(sequence=9),
    "head": lambda d: d["ledger"].update(head="0" * 64),
    "time": lambda d: d.update(time="2020-01-01T00:00:00+00:00"),
    "software": lambda d: d.update(software="bayesdp 99.0"),
    "total": lambda d: d["data_set"].update(total=2.0),
}


@pytest.mark.parametrize("line", ALONE_CHANGED)
def test_lines_that_nothing_derives_stand_among_the_assumptions(line: str) -> None:
    document = released(ROOMS, ALONE, COUNT)
    ALONE_CHANGED[line](document)
    kept = kernel.check(document | {"digest": digest(content_of(document))})
    assert (kept.verdict, kept.step) == ("INVALID", "assumptions")
    said = kernel.check(renewed(document))
    assert said  # of other records, or another release: true of those, and a reader sees which
    assert set(said.assuming) != set(document["assumptions"])


def test_other_software_is_not_named() -> None:
    document = released(ROOMS, ALONE, COUNT)
    refused(renewed(document | {"software": "certified by the regulator"}), "software")


@pytest.mark.parametrize("scale", [1e300, 1e308])
def test_errors_beyond_everything_take_no_time(scale: float) -> None:
    """Beside little noise: a sum over so many steps would never end."""
    document = released(ROOMS, ALONE, COUNT)
    document["results"][0]["error"]["value"] = scale
    refused(renewed(document), "result", "overstated")


@pytest.mark.parametrize(
    "path", sorted(SHARED.glob("*.json")) or [None], ids=lambda p: p.stem if p else "none"
)
def test_no_shared_forgery_is_valid(path: Path | None) -> None:
    if path is None:
        pytest.skip("the shared folder of forgeries is not here")
    assert not bayesdp.verify(path)
    assert not bayesdp.verify(path.read_text(encoding="utf-8"))
