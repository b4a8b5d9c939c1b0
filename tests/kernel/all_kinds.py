"""One certificate of every kind, by name: what forgers and mutations start from."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from bayesdp.kernel import check
from bayesdp.notions import Cost
from bayesdp.populations import parse
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check as check_program
from bayesdp.programs.source import core_of, read_text
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.theorems import Question
from bayesdp.theorems.relations.search import implied
from bayesdp.theorems.with_delta import report_with_delta
from tests.kernel.test_forged_people import released as people_released
from tests.kernel.test_keys import ASKED, CHAIN, CLUSTERS, COLUMNS, FAMILY, LAW, TABLE, released
from tests.release.program_studies import HEAD, PEOPLE, asks
from tests.release.program_studies import study as program_study
from tests.release.test_blocks import study as blocks_study
from tests.release.test_gaussian import people as vector_study

Document = dict[str, Any]

TABLE_OF_TWO = [[2.0, 1.0], [1.0, 2.0]]
POPULATIONS: dict[str, Document] = {
    "independent": {"model": "independent", "source": "us"},
    "clusters": {"model": "clusters", "size": 3},
    "unknown": {"model": "unknown", "records": 4},
    "chain": {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 9},
    "interval chain": {
        "model": "markov",
        "transition_lower": [[0.8, 0.1], [0.2, 0.6]],
        "transition_upper": [[0.9, 0.2], [0.4, 0.8]],
        "length": 9,
    },
    "order 2": {
        "model": "markov",
        "order": 2,
        "transition": [[[0.52, 0.48], [0.5, 0.5]], [[0.51, 0.49], [0.49, 0.51]]],
        "length": 9,
    },
    "autoregressive": {"model": "autoregressive", "coefficient": 0.4, "length": 7},
    "panel": {
        "model": "panel",
        "series": 2,
        "length": 9,
        "own_previous": 3.0,
        "others_previous": 1.2,
        "others_now": 1.5,
        "shared_previous": 2.0,
        "shared_now": 1.5,
    },
    "covariance": {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
    "precision": {"model": "gaussian", "precision": [[2.0, -0.5], [-0.5, 2.0]]},
    "max correlation": {"model": "gaussian", "size": 3, "max_correlation": 0.2},
    "regressions": {"model": "gaussian", "size": 3, "max_regression_sum": 0.4},
    "law": LAW,
    "family": FAMILY,
    "tree": {
        "model": "tree",
        "nodes": [
            {"name": "a", "law": [0.5, 0.5]},
            {"name": "b", "parent": "a", "transition": [[0.8, 0.2], [0.3, 0.7]]},
        ],
    },
    "graph": {
        "model": "graph",
        "records": 3,
        "states": 2,
        "factors": [{"between": [0, 1], "table": TABLE_OF_TWO}],
    },
    "grid": {"model": "graph", "grid": [1, 3], "states": 2, "table": TABLE_OF_TWO},
    "edges": {
        "model": "graph",
        "records": 4,
        "states": 2,
        "edges": [[0, 1], [1, 2]],
        "table": TABLE_OF_TWO,
    },
    "network": {
        "model": "network",
        "nodes": [
            {"name": "a", "states": 2, "table": [0.4, 0.6]},
            {"name": "b", "states": 2, "parents": ["a"], "table": [[0.8, 0.2], [0.3, 0.7]]},
        ],
    },
}
ORDER = {"day": {"role": "order", "step": 1}, "ill": {"states": [0, 1]}}
DELTA = {"epsilon": 4.0, "delta": 1e-6, "spend": 1.0, "noise": "gaussian"}
WIDE: Document = {
    "pair": {"role": "cluster"},
    "ill": {"states": [0, 1], "missing": {"impute": 0, "codes": [9]}},
    "x": {"bounds": [0.0, 5.0], "unit": "cm"},
    "old": {"from": "x", "cuts": [2.5]},
    "day": {"public": True, "states": [1, 2, 3, 4]},
    "late": {"from": "day", "cuts": [3.0]},
}
WIDELY = [
    {"name": "by", "kind": "count", "where": "ill == 1", "by": "day"},
    {"name": "bins", "kind": "histogram", "column": "x", "bins": [0.0, 1.0, 2.5, 5.0]},
    {"name": "mean", "kind": "mean", "column": "x", "where": "day != 2"},
    {"name": "share", "kind": "proportion", "where": "ill == 1 and day in [1, 2]"},
    {"name": "part", "kind": "sum", "column": "x", "where": "ill == 1"},
]
TABLES: list[Document] = [
    {"name": "cells", "kind": "histogram", "column": ["ill", "old"], "by": "day"},
    {"name": "groups", "kind": "sum", "column": "x", "by": ["day", "late"], "where": "ill == 1"},
    {"name": "spread", "kind": "variance", "column": "x", "where": "day != 2"},
]
PRODUCTS: list[Document] = [
    {"name": "both", "kind": "covariance", "column": ["x", "ill"], "by": "day"},
    {"name": "line", "kind": "regression", "outcome": "x", "on": ["ill", "old"], "by": "day"},
]
QUANTILES = [
    {"name": "median", "kind": "median", "column": "x", "step": 1.25, "where": "ill == 1"},
    {"name": "high", "kind": "quantile", "probability": 0.9, "column": "old", "by": "day"},
]
ANSWERED: Document = {
    "columns": COLUMNS | {"smokes": {"states": ["no", "yes"]}},
    "population": CLUSTERS | {"covers": ["ill", "x", "smokes"]},
    "queries": [
        ASKED[1],
        {"name": "answers", "kind": "randomized_response", "column": "smokes", "epsilon": 0.125},
        {"name": "ill", "kind": "randomized_response", "column": "ill", "epsilon": 0.25},
    ],
    "times": 2,
}
SERIES = [
    {"name": "ill so far", "kind": "series", "by": "day", "where": "ill == 1", "strategy": "tree"},
    {"name": "x so far", "kind": "series", "by": "day", "column": "x"},
    {"name": "any days", "kind": "series", "column": "old", "answers": "ranges"},
    {"name": "days", "kind": "series", "by": "day", "column": "x", "answers": "periods"},
]
PERSONS: Document = {
    "unit": "pair",
    "rows_per_unit": 2,
    "n": 2,
    "columns": {"pair": {"public": True}, "ill": {"states": [0, 1]}, "x": COLUMNS["x"]},
    "population": {"model": "independent", "covers": ["ill", "x"], "source": "us"},
}
CAPPED: Document = PERSONS | {
    "rows_per_unit": None,
    "max_rows": 3,
    "columns": PERSONS["columns"] | {"day": WIDE["day"]},
    "queries": [
        {"name": "all", "kind": "sum", "column": "x"},
        {"name": "any", "kind": "count", "where": "ill == 1", "max_rows": 1},
        {"name": "totals", "kind": "sum", "column": "x", "total_bounds": [0.0, 6.0]},
        {
            "name": "days",
            "kind": "histogram",
            "column": "ill",
            "by": "day",
            "max_groups": 2,
            "max_rows_per_group": 1,
        },
    ],
}
GROUPS: Document = {
    "times": 2,
    "population": None,
    "budget": {
        "notion": "dp",
        "epsilon": 270.0,
        "spend": 120.0,
        "delta": 1e-6,
        "mechanism_delta": 5e-7,
    },
    "columns": COLUMNS | {"smokes": {"groups": "from data"}, "who": {"groups": "from data"}},
    "queries": [
        {"name": "people", "kind": "count", "by": "who", "delta": 1e-7},
        ASKED[0],
        {
            "name": "well",
            "kind": "count",
            "by": "smokes",
            "where": "ill == 0",
            "delta": 1e-7,
        },
    ],
}
"""Groups of two rows and more are shown, since noise is small."""

RELEASES: dict[str, Document] = {
    "laplace release": {"times": 2},
    "gaussian release": {"times": 2, "budget": DELTA},
    "dp release": {"budget": {"epsilon": 4.0, "spend": 1.0, "notion": "dp"}, "times": 2},
    "dp delta release": {"budget": DELTA | {"notion": "dp"}, "population": None},
    "chain release": {"columns": ORDER, "population": CHAIN, "queries": ASKED[:1]},
    "covariance release": {
        "population": POPULATIONS["covariance"] | {"covers": ["x"]},
        "queries": ASKED[1:],
    },
    "wide release": {"columns": WIDE, "queries": WIDELY},
    "table release": {"columns": WIDE, "queries": TABLES},
    "product release": {"columns": WIDE, "queries": PRODUCTS},
    "gaussian product release": {"budget": DELTA, "columns": WIDE, "queries": PRODUCTS[1:]},
    "weighted release": {
        "columns": COLUMNS | {"w": {"bounds": [0.5, 2.0]}},
        "population": {"model": "clusters", "size": 2, "covers": ["ill", "x", "w"]},
        "queries": [
            {"name": "weighted", "kind": "sum", "column": "x", "weighted_by": "w"},
            {"name": "part", "kind": "count", "where": "ill == 1", "weighted_by": "w"},
            {
                "name": "of those",
                "kind": "sum",
                "column": "x",
                "weighted_by": "w",
                "where": "ill == 1",
            },
        ],
    },
    "series release": {"columns": WIDE, "queries": SERIES},
    "gaussian series release": {"columns": WIDE, "budget": DELTA, "queries": SERIES[:2]},
    "quantile release": {"columns": WIDE, "queries": QUANTILES},
    "gaussian quantile release": {"budget": DELTA, "queries": QUANTILES[:1]},
    "groups release": GROUPS,
    "answered release": ANSWERED,
    "gaussian answered release": ANSWERED | {"budget": DELTA},
    "person release": PERSONS,
    "balanced release": PERSONS
    | {
        "balanced": True,
        "queries": [
            {"name": "share", "kind": "proportion", "where": "ill == 1"},
            {"name": "mean", "kind": "mean", "column": "x"},
            {"name": "sum", "kind": "sum", "column": "x"},
        ],
    },
    "capped release": CAPPED,
    "gaussian capped release": CAPPED | {"budget": DELTA},
    "panel release": {
        "columns": ORDER | {"pair": {"role": "cluster"}, "who": {"role": "series"}},
        "population": POPULATIONS["panel"] | {"covers": ["ill"]},
        "queries": ASKED[:1],
    },
}


def _plain(certificate: Any) -> Document:
    document: Document = json.loads(certificate.to_json())
    return document


def _made(name: str) -> Document:
    folder = Path(mkdtemp(prefix="bayesdp-kinds-"))
    if name in RELEASES:
        return released(folder, "people", **RELEASES[name])
    if name in POPULATIONS:
        population = parse(POPULATIONS[name])
        return _plain(conversion_certificate(population, population.leakage(1.0)))
    if name == "delta conversion":
        population = parse(POPULATIONS["clusters"])
        report = report_with_delta(Question(population), Cost(any=0.1, rho_any=0.01), 1e-6)
        return _plain(conversion_certificate(population, report))
    if name == "vector release":
        return _plain(vector_study(folder).release().certificate)
    if name == "blocks release":
        parts = ("region == 'north'", "region == 'south'")
        made = blocks_study(folder / "ledger.db", *parts)
        made.release()
        return _plain(made.release(again=True).certificate)
    if name == "people release":
        return people_released("answers")
    if name == "program release":
        asked = [asks("height"), asks("both")]
        budget = {"epsilon": 9.0, "delta": 1e-4}
        return _plain(program_study(folder, *asked, budget=budget).release().certificate)
    if name == "program":
        program = core_of(read_text(HEAD + PEOPLE, "people.py"), "height", {})
        return _plain(program_certificate(program, check_program(program)))
    law = parse(LAW)
    return _plain(implications_certificate(implied({"dp": 0.7}, law, (), size=2, default=0)))


OTHERS = (
    "delta conversion", "vector release", "blocks release", "people release", "program release",
    "program", "relations",
)  # fmt: skip
KINDS = (*POPULATIONS, *RELEASES, *OTHERS)


@cache
def _text(name: str) -> str:
    document = _made(name)
    verdict = check(document)
    assert verdict.verdict == "VALID ASSUMING", (name, verdict)
    return json.dumps(document)


def certificate(name: str) -> Document:
    """A fresh copy of the certificate of this kind, which is VALID ASSUMING."""
    document: Document = json.loads(_text(name))
    return document


def rows() -> int:
    """The number of rows of the table that most releases are of."""
    return len(TABLE)
