"""Forged releases of tables of several ways: of what agrees with itself, and doesn't follow."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.kernel.test_forgeries import refused, renewed
from tests.release.test_crossed import BY, CELLS, COLUMNS, ILL, TABLE, study

Document = dict[str, Any]
Change = Callable[[Document], object]
MEANS: Document = {"kind": "mean", "column": "age", "by": BY}
PERSONS = {"unit": "who", "rows_per_unit": 2, "n": 4}
STUDIES: dict[str, Document] = {
    "pure": {"budget": {"epsilon": 4.0}},
    "zcdp": {"budget": {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}},
    "persons": {"budget": {"epsilon": 4.0}, **PERSONS},
}


@cache
def _released(name: str) -> str:
    folder = Path(mkdtemp(prefix="bayesdp-tables-"))
    persons = "persons" in name
    table = TABLE.assign(who=[1, 1, 2, 2, 3, 3, 4, 4]) if persons else TABLE
    columns = COLUMNS | ({"who": {"public": True}} if persons else {})
    asked = [CELLS, ILL] if persons else [CELLS, ILL, MEANS]
    made = study(folder, *asked, table=table, **({"columns": columns} | STUDIES[name]))
    return made.release().certificate.to_json()


def released(name: str = "pure") -> Document:
    """A certificate of a contingency table, and of a count and a mean by two columns."""
    document: Document = json.loads(_released(name))
    return document


@pytest.mark.parametrize("name", STUDIES)
def test_honest_ones_are_valid(name: str) -> None:
    verdict = kernel.check(released(name))
    assert verdict.verdict == "VALID ASSUMING", verdict


def evidence(document: Document, number: int = 0) -> Document:
    (step,) = document["derivation"]["premises"]
    while step["rule"] != "sequential-composition":
        (step,) = step["premises"]
    stated: Document = step["premises"][number]["evidence"]
    return stated


def query(number: int = 0, **keys: Any) -> Change:
    return lambda document: evidence(document, number)["query"].update(keys)


def result(place: int, **keys: Any) -> Change:
    return lambda document: document["results"][place].update(keys)


def sensitivity(share: Fraction, number: int = 0) -> Change:
    """A smaller sensitivity, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        squared = "sensitivity_squared" in stated
        name = "sensitivity_squared" if squared else "sensitivity"
        stated[name] = math.floor(stated[name] * share)
        factor = math.sqrt(share) if squared else float(share)
        scale = math.nextafter(stated["scale"] * factor, math.inf)
        stated["scale"] = scale
        law = DiscreteGaussian if squared else DiscreteLaplace
        for shown in document["results"]:
            if shown["query"] == stated["query"]["name"]:
                shown["noise"]["scale"] = scale
                shown["error"]["value"] = float(law(scale).quantile(0.95))

    return change


def exchanged(key: str, first: int, second: int) -> Change:
    """Two results change places by name: what is said of one group was drawn for another."""

    def change(document: Document) -> None:
        a, b = (document["results"][place] for place in (first, second))
        a[key], b[key] = b[key], a[key]

    return change


def states(column: str, values: list[Any]) -> Change:
    return lambda document: document["columns"][column].update(states=values)


def _public_cells(document: Document) -> None:
    evidence(document)["query"]["column"] = ["region", "smokes"]
    evidence(document)["spend"]["reads"] = ["smokes"]
    for shown in document["results"][:4]:
        shown["cell"][0] = ("north", "south")[shown["cell"][0]]


def _private_groups(document: Document) -> None:
    """Groups of as many states as the declared ones, which somebody protects."""
    document["columns"]["sex"] = {"states": ["f", "m", "x"], "independent": True}


def _no_bins(document: Document) -> None:
    evidence(document)["query"] |= {"bins": [0.0, 1.0, 2.0]}


def _more_rows(document: Document) -> None:
    shown = document["results"][10]
    shown["rows"] += 8


FORGED: dict[str, tuple[str, Change, str]] = {
    "smaller-move": ("pure", sensitivity(Fraction(1, 2)), "is due"),
    "smaller-move-zcdp": ("zcdp", sensitivity(Fraction(1, 2)), "is due"),
    "smaller-move-of-persons": ("persons", sensitivity(Fraction(1, 2)), "is due"),
    "smaller-move-of-groups": ("persons", sensitivity(Fraction(1, 2), 1), "is due"),
    "columns-in-other-order": ("pure", query(column=["smokes", "ill"]), "stands where"),
    "groups-in-other-order": ("pure", query(1, by=BY[::-1]), "stands where"),
    "cells-exchanged": ("pure", exchanged("cell", 0, 3), "stands where"),
    "groups-exchanged": ("pure", exchanged("group", 5, 6), "stands where"),
    "a-group-as-text": ("pure", result(4, group="north, f"), "stands where"),
    "a-group-of-one": ("pure", result(4, group=["north"]), "at least 2|valid|no such"),
    "a-group-of-three": ("pure", result(4, group=["north", "f", "f"]), "stands where"),
    "a-truth-value": ("pure", result(2, cell=[True, "no"]), "stands where"),
    "fewer-groups": ("pure", query(1, by="sex"), "number of results"),
    "fewer-cells": ("pure", query(column="ill"), "column"),
    "a-column-twice": ("pure", query(column=["ill", "ill"]), "twice"),
    "a-column-of-none": ("pure", query(column=["ill", "smoke"]), "not declared"),
    "a-group-of-none": ("pure", query(1, by=["region", "sx"]), "not declared"),
    "a-list-of-one": ("pure", query(1, by=["sex"]), ""),
    "public-cells": ("pure", _public_cells, "public column"),
    "private-groups": ("pure", _private_groups, "groups are those of a private column"),
    "bins-of-several": ("pure", _no_bins, "several columns"),
    "a-sum-of-several": ("pure", query(2, column=["age", "ill"]), "several columns"),
    "states-without-end": ("pure", states("smokes", list(map(str, range(1001)))), "combinations"),
    "groups-without-end": ("pure", states("sex", list(map(str, range(1001)))), "combinations"),
    "fewer-reads": (
        "pure",
        lambda document: evidence(document)["spend"].update(reads=["ill"]),
        "reads",
    ),
    "a-column-of-the-spend": (
        "pure",
        lambda document: evidence(document)["spend"].update(column="ill"),
        "column",
    ),
    "more-rows-than-there-are": ("pure", _more_rows, ""),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_tables_are_refused(name: str) -> None:
    study_name, change, reason = FORGED[name]
    document = released(study_name)
    before = copy.deepcopy(document)
    change(document)
    assert json.dumps(document) != json.dumps(before)  # True is 1, and is not the same
    refused(renewed(document), "", reason)


def test_groups_have_no_more_rows_than_the_table() -> None:
    """The sizes of the groups add up to at most all rows, and those of a mean are on its steps."""
    document = released()
    last = document["results"][10]
    assert (last["kind"], last["group"]) == ("mean", ["north", "f"])
    value, rows = Fraction(last["value"]), last["rows"]
    for more in (1, 8):
        last["rows"] = rows + more
        last["value"] = float(value * rows / (rows + more))
        for part in ("noise", "error"):
            key = {"noise": "step", "error": "value"}[part]
            last[part][key] = float(Fraction(last[part][key]) * rows / (rows + more))
        refused(renewed(document), "")
