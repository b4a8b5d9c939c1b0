"""Forged counts by groups that are found in the data: their costs, thresholds and results."""

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

import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.kernel.costs.found_groups import reached
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release import Study
from tests.effort import runs
from tests.kernel.test_forgeries import refused, renewed

Document = dict[str, Any]
Change = Callable[[Document], object]
COLUMNS: Document = {
    "who": {"public": True},
    "shop": {"groups": "from data"},
    "ill": {"states": [0, 1]},
    "x": {"bounds": [0.0, 5.0]},
    "day": {"public": True, "states": [1, 2]},
}
BUDGET: Document = {
    "notion": "dp",
    "epsilon": 9.0,
    "spend": 4.0,
    "delta": 1e-2,
    "mechanism_delta": 8e-3,
}
VISITS: Document = {"name": "visits", "kind": "count", "by": "shop", "delta": 1e-3}
ILL: Document = VISITS | {"name": "ill visits", "where": "ill == 1"}
OTHERS = [
    {"name": "n", "kind": "count", "where": "ill == 1"},
    {"name": "s", "kind": "sum", "column": "x"},
]
FEW: Document = {"max_groups": 2, "max_rows_per_group": 1}
STUDIES: dict[str, Document] = {
    "rows": {"queries": [VISITS, *OTHERS, ILL], "times": 2},
    "persons": {"queries": [VISITS | FEW, ILL], "unit": "who", "n": 150, "max_rows": 3},
}
TABLE = pd.DataFrame(
    {
        "who": [i // 2 for i in range(300)],
        "shop": [["a", "b", "c"][i % 3] for i in range(300)],
        "ill": [i % 2 for i in range(300)],
        "x": [i % 5 for i in range(300)],
        "day": [1 + i % 2 for i in range(300)],
    }
)


@cache
def _released(name: str) -> str:
    folder = Path(mkdtemp(prefix="bayesdp-groups-"))
    wanted = dict(STUDIES[name])
    times = wanted.pop("times", 1)
    made = Study(
        TABLE,
        dataset="people",
        columns=COLUMNS,
        budget=BUDGET,
        ledger=str(folder / "ledger.db"),
        **({"n": 300} | wanted),
    )
    releases = [made.release(again=True) for _ in range(times)]
    return releases[-1].certificate.to_json()


def released(name: str = "rows") -> Document:
    """A certificate of two counts by groups from data: after other numbers, or of persons."""
    document: Document = json.loads(_released(name))
    return document


def number_of(document: Document, name: str) -> int:
    """The place of a query's step."""
    return [step["evidence"]["query"]["name"] for step in steps(document)].index(name)


def steps(document: Document) -> list[Document]:
    """The steps of the queries."""
    composition = document["derivation"]["premises"][0]
    while composition["rule"] != "sequential-composition":
        composition = composition["premises"][0]
    inside: list[Document] = composition["premises"]
    return inside


def visits(document: Document) -> Document:
    """The step of the query `visits`."""
    return steps(document)[number_of(document, "visits")]


def shown(document: Document) -> list[Document]:
    """The results of the query `visits`."""
    return [result for result in document["results"] if result["query"] == "visits"]


def query(**keys: Any) -> Change:
    return lambda document: visits(document)["evidence"]["query"].update(keys)


def spend(**keys: Any) -> Change:
    return lambda document: visits(document)["evidence"]["spend"].update(keys)


def result(place: int, **keys: Any) -> Change:
    return lambda document: shown(document)[place].update(keys)


def without(*keys: str) -> Change:
    """A query without these keys."""

    def change(document: Document) -> None:
        for key in keys:
            del visits(document)["evidence"]["query"][key]

    return change


def threshold(value: int) -> Change:
    """Another threshold, also where groups are shown."""

    def change(document: Document) -> None:
        visits(document)["evidence"]["threshold"] = value
        for group in shown(document):
            group["threshold"] = value
            group["value"] = max(group["value"], float(value))

    return change


def lower_by_one(document: Document) -> None:
    threshold(visits(document)["evidence"]["threshold"] - 1)(document)


def less_noise(document: Document) -> None:
    """Half the sensitivity, with the noise that the stated cost then has."""
    stated = visits(document)["evidence"]
    stated["sensitivity"] //= 2
    stated["scale"] = math.nextafter(stated["scale"] / 2, math.inf)
    law = DiscreteLaplace(stated["scale"])
    for group in shown(document):
        group["noise"]["scale"] = stated["scale"]
        group["error"]["value"] = float(law.quantile(0.95))


def half_of_its_cost(document: Document) -> None:
    step = visits(document)
    half = step["conclusion"]["epsilon"] / 2
    _cost(document, half, half)


def _cost(document: Document, spent: float, concluded: float) -> None:
    """Another cost of the query, and the sums that follow from it."""
    step = visits(document)
    less = step["evidence"]["spend"]["dp_epsilon"] - spent
    step["evidence"]["spend"]["dp_epsilon"] = spent
    step["conclusion"]["epsilon"] = concluded
    for group in shown(document):
        group["dp_epsilon"] = concluded
    composition, *others = document["derivation"]["premises"]
    for place in (composition["conclusion"], *(other["conclusion"] for other in others)):
        place["epsilon"] -= less
    document["derivation"]["conclusion"]["epsilon"] -= less
    document["claim"]["epsilon"] -= less
    document["claim"]["dp_epsilon"] -= less
    document["data_set"]["level"] -= less
    document["data_set"]["dp_epsilon"] -= less


def _no_delta_spent(document: Document) -> None:
    """The ledger is told of less delta than the query has, and everything adds up to that."""
    step, part = visits(document), 5e-4
    step["evidence"]["spend"]["dp_delta"] = part
    step["conclusion"]["delta"] = part
    composition, *others = document["derivation"]["premises"]
    for place in (composition["conclusion"], *(other["conclusion"] for other in others)):
        place["delta"] -= part
    document["derivation"]["conclusion"]["delta"] -= part
    document["claim"]["delta"] -= part
    document["claim"]["dp_delta"] -= part
    document["data_set"]["delta"] -= part
    document["data_set"]["dp_delta"] -= part


def _concluded_delta(document: Document) -> None:
    visits(document)["conclusion"]["delta"] *= 2


def _more_delta(document: Document) -> None:
    query(delta=2e-3)(document)
    lower_by_one(document)


def _in_another_order(document: Document) -> None:
    results = document["results"]
    first, second = (results.index(group) for group in shown(document)[:2])
    results[first], results[second] = results[second], results[first]


def _queries_in_another_order(document: Document) -> None:
    of_ill = [result for result in document["results"] if result["query"] == "ill visits"]
    document["results"] = [r for r in document["results"] if r not in of_ill]
    document["results"] += of_ill
    document["results"][-len(of_ill) :], rest = [], document["results"]
    first = rest.index(shown(document)[0])
    document["results"] = [*rest[:first], *of_ill, *rest[first:]]


def _before_numbers(document: Document) -> None:
    document["results"] = [*shown(document), *document["results"]][: len(document["results"])]


def _steps_in_another_order(document: Document) -> None:
    inside = steps(document)
    inside.insert(0, inside.pop(number_of(document, "visits")))


def _twice(document: Document) -> None:
    group = shown(document)[0]
    document["results"].insert(document["results"].index(group), copy.deepcopy(group))


def _many_rows(document: Document) -> None:
    document |= {"n": 2**50, "max_rows": 2**12}
    ill = steps(document)[number_of(document, "ill visits")]["evidence"]
    ill["query"]["max_rows"] = 2


def _of_a_day(document: Document) -> None:
    """The spend is said to be on the records of a day, and all are counted."""
    spend(block={"column": "day", "values": [1]})(document)
    document["public_blocks"] = ["day"]


def _public_groups(document: Document) -> None:
    document["columns"]["shop"]["public"] = True


def _error(change: float) -> Change:
    def changed(document: Document) -> None:
        shown(document)[0]["error"]["value"] += change

    return changed


FORGED: dict[str, tuple[str, Change, str]] = {
    "a-lower-threshold": ("rows", lower_by_one, "more than its delta"),
    "a-lower-threshold-of-persons": ("persons", lower_by_one, "more than its delta"),
    "a-threshold-of-one": ("rows", threshold(1), "more than its delta"),
    "no-threshold": ("rows", threshold(0), "greater than or equal to 1"),
    "a-threshold-of-nobody": ("rows", threshold(2**63), "not a count"),
    "a-threshold-of-one-result": ("rows", result(0, threshold=3), "threshold"),
    "less-noise": ("rows", less_noise, "is due"),
    "less-noise-for-persons": ("persons", less_noise, "is due"),
    "half-of-its-cost": ("rows", half_of_its_cost, "claimed"),
    "less-is-concluded": (
        "rows",
        lambda d: _cost(d, visits(d)["conclusion"]["epsilon"], 0.5),
        "concluded cost",
    ),
    "more-is-concluded": (
        "rows",
        lambda d: visits(d)["conclusion"].update(epsilon=2.0),
        "concluded cost",
    ),
    "a-delta-that-nobody-spends": ("rows", _no_delta_spent, "delta"),
    "a-delta-that-is-not-spent": ("rows", _concluded_delta, "concluded delta"),
    "more-delta": ("rows", _more_delta, "delta"),
    "no-delta": ("rows", query(delta=0.0), "greater than 0"),
    "all-delta": ("rows", query(delta=1.0), "less than 1"),
    "declared-groups": ("rows", query(by="ill"), "groups are declared"),
    "declared-groups-that-are-read": (
        "rows",
        lambda d: [query(by="ill")(d), spend(reads=["ill"])(d)],
        "groups are declared",
    ),
    "groups-of-nothing": ("rows", query(by="shops"), "not declared"),
    "public-groups": ("rows", _public_groups, "not protected"),
    "another-kind": ("rows", query(kind="count"), ""),
    "a-condition-on-nothing": ("rows", query(where="age > 3"), "declared column"),
    "a-condition-that-is-none": ("rows", query(where="ill =="), ""),
    "a-condition-that-is-not-read": ("rows", query(where="ill == 1"), "reads"),
    "a-group-that-is-left-out": ("rows", query(where="shop != 'a'"), "leaves out"),
    "groups-that-are-not-listed": ("rows", query(where="shop in ['a', 'b']"), "leaves out"),
    "a-number-for-a-name": ("rows", query(where="shop == 3"), "text"),
    "another-query": ("rows", spend(query="visit"), "query"),
    "another-data-set": ("rows", spend(dataset="animals"), "dataset"),
    "another-unit": ("rows", spend(unit="who"), "unit"),
    "another-column": ("rows", spend(column="shop"), "column"),
    "other-reads": ("rows", spend(reads=["ill"]), "reads"),
    "a-part-of-the-records": ("rows", _of_a_day, "block"),
    "a-block": ("rows", spend(block={"column": "who", "values": [1]}), ""),
    "another-mechanism": ("rows", spend(mechanism="discrete-laplace"), "another mechanism"),
    "another-rule": ("rows", lambda d: visits(d).update(rule="discrete-laplace"), ""),
    "a-zcdp-cost": ("rows", lambda d: visits(d)["conclusion"].update(rho=0.5), "zCDP"),
    "of-kind-lipschitz": ("rows", lambda d: visits(d)["conclusion"].update(kind="lipschitz"), ""),
    "more-groups": ("persons", query(max_groups=3, max_rows_per_group=1), "is due|delta"),
    "more-rows-of-a-group": ("persons", query(max_rows_per_group=2), "is due"),
    "any-groups": ("persons", without("max_groups", "max_rows_per_group"), "is due"),
    "groups-and-no-rows": ("persons", without("max_rows_per_group"), "without a number of rows"),
    "rows-twice": ("persons", query(max_rows=1), "beside one of each"),
    "more-rows": ("persons", lambda d: d.update(max_rows=4), "is due"),
    "as-many-rows-as-none": ("persons", _many_rows, "64-bit|is due"),
    "numbers-after-groups": ("rows", _steps_in_another_order, "other noise after"),
    "results-before-numbers": ("rows", _before_numbers, ""),
    "groups-in-another-order": ("rows", _in_another_order, "out of order"),
    "queries-in-another-order": ("rows", _queries_in_another_order, "out of order"),
    "a-group-twice": ("rows", _twice, "twice"),
    "of-another-query": ("rows", result(0, query="n"), "nobody asked"),
    "of-no-query": ("rows", result(0, query="n!"), "nobody asked"),
    "a-group-without-a-name": ("rows", result(0, group=""), "names no group"),
    "a-group-with-a-space": ("rows", result(0, group=" a"), "names no group"),
    "a-hidden-letter": ("rows", result(0, group="a\u202eb"), "names no group"),
    "a-long-name": ("rows", result(0, group="a" * 101), "names no group"),
    "a-number-of-a-group": ("rows", result(0, group=1), ""),
    "below-the-threshold": ("rows", result(0, value=5.0), "not a count"),
    "half-a-row": ("rows", result(0, value=99.5), "not a count"),
    "beyond-64-bits": ("rows", result(0, value=2.0**63), "not a count"),
    "another-cost-of-a-result": ("rows", result(0, dp_epsilon=0.5), "DP cost"),
    "a-smaller-error": ("rows", _error(-1.0), "understated"),
    "a-larger-error": ("rows", _error(1.0), "overstated"),
    "half-an-error": ("rows", _error(0.5), "not a number of rows"),
    "another-scale": ("rows", lambda d: shown(d)[0]["noise"].update(scale=1.0), "scale"),
    "another-step": ("rows", lambda d: shown(d)[0]["noise"].update(step=2.0), "step"),
    "another-law": (
        "rows",
        lambda d: shown(d)[0]["noise"].update(distribution="discrete-gaussian"),
        "distribution",
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_honest_ones_are_valid(name: str) -> None:
    document = released(name)
    verdict = kernel.check(document)
    assert verdict.verdict == "VALID ASSUMING", verdict
    assert [group["group"] for group in shown(document)] == ["a", "b", "c"]


@pytest.mark.parametrize("name", FORGED)
def test_forged_groups_are_refused(name: str) -> None:
    study_name, change, reason = FORGED[name]
    document = released(study_name)
    before = json.dumps(document)
    change(document)
    assert json.dumps(document) != before
    refused(renewed(document), "", reason)


@pytest.mark.parametrize("where", ["shop in ['a', 'b', 'c']", "shop != 'd'", "not shop == 'A'"])
def test_a_condition_that_names_may_meet(where: str) -> None:
    """Some engines take A and a for one name: then the kernel leaves it open."""
    document = released()
    query(where=where)(document)
    assert kernel.check(renewed(document)).verdict == "VALID ASSUMING"


def test_fewer_groups_may_be_shown_and_thresholds_may_be_higher() -> None:
    document = released()
    document["results"].remove(shown(document)[1])
    threshold(visits(document)["evidence"]["threshold"] + 7)(document)
    assert kernel.check(renewed(document)).verdict == "VALID ASSUMING"


def test_the_kernel_and_the_tool_have_one_threshold() -> None:
    for number in range(runs(300)):
        noise = DiscreteLaplace(1.5 ** (number % 40 - 6))
        rows, allowed = 1 + number % 7, Fraction(1, 3 ** (1 + number % 50))
        least = noise.threshold(rows, allowed)
        scale = Fraction(noise.scale)
        assert bool(reached(scale, rows, least) * allowed.denominator <= 1)
        below = reached(scale, rows, least - 1) * allowed.denominator
        assert least == rows + 1 or not bool(below <= 1)
