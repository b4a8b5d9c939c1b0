"""What a certificate says beside its level: nothing of it is unread, overstated or hidden."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.errors import InputError
from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.models.populations import MOST_RECORDS, group_size
from bayesdp.kernel.programs.noise import delta_at_most
from bayesdp.kernel.programs.reading import number
from bayesdp.kernel.reading import stated_population
from bayesdp.populations import parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements import read_population
from tests.kernel.test_keys import Document, plain, released, verdict

GRAPH: dict[str, Any] = {
    "model": "graph",
    "records": 4,
    "states": 2,
    "factors": [{"between": [0, 1], "table": [[2.0, 1.0], [1.0, 2.0]]}],
    "source": "made up",
}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return released(tmp_path_factory.mktemp("ledgers"), "laplace", 2)


def conversion(document: Document) -> Any:
    return document["derivation"]["premises"][0]


def query_of(document: Document) -> Any:
    return conversion(document)["premises"][0]["premises"][0]["evidence"]["query"]


def keyed(holder: Any, name: str) -> None:
    """An object with the same keys, whose values nobody would look at."""
    holder[name] = {item: "whatever stands here" for item in holder[name]}


DETAILS: dict[str, Any] = {
    "a right-to-left text": lambda d: d.update(software="bayesdp \u202e0.1"),
    "a hidden character": lambda d: d.update(release="a\u200bb"),
    "two lines": lambda d: d.update(dataset="people\nno assumptions"),
    "a bell": lambda d: d.update(unit="row\x07"),
    "a source of two lines": lambda d: d["population"].update(source="us\n\nVALID"),
    "a member's source that turns": lambda d: d.update(
        population={"model": "family", "members": [d["population"] | {"source": "\u202e"}]}
    ),
    "a query of two lines": lambda d: query_of(d).update(name="n\nnothing assumed"),
    "a query that turns": lambda d: query_of(d).update(name="n\u202e"),
    "no time": lambda d: d.update(time="yesterday"),
    "a time of no text": lambda d: d.update(time=7),
    "assumptions with more to them": lambda d: keyed(d, "assumptions"),
    "columns that are covered": lambda d: keyed(conversion(d)["evidence"], "covers"),
    "a cost above the spends": lambda d: d["claim"].update(dp_epsilon=99.0),
    "a zCDP cost of nothing": lambda d: d["claim"].update(dp_rho=0.5),
    "slack above the spends'": lambda d: conversion(d)["evidence"]["cost"].update(slack=0.5),
    "slack of Gaussian noise": lambda d: conversion(d)["evidence"]["cost"].update(rho_slack=0.5),
}


@pytest.mark.parametrize("lie", DETAILS)
def test_details(document: Document, lie: str) -> None:
    changed = copy.deepcopy(document)
    DETAILS[lie](changed)
    assert changed != document
    assert verdict(changed).verdict == "INVALID"


@pytest.mark.parametrize("version", [True, 1.0, "1", 2, None])
def test_a_version_is_a_whole_number(document: Document, version: Any) -> None:
    assert verdict(document | {"version": version}).verdict in ("UNKNOWN", "INVALID")


@pytest.mark.parametrize("text", ["2/4", "01", "-0", "4/1", "0/5", "1/02"])
def test_fractions_are_in_lowest_terms(text: str) -> None:
    with pytest.raises(InvalidError):
        number(text)


def test_a_whole_number_moves_by_whole_squares() -> None:
    from fractions import Fraction as F

    assert delta_at_most(F(39, 10), F(1), F(1), F(1, 10**5), True)
    assert not delta_at_most(F(39, 10), F(3, 2), F(1), F(1, 10**5), True)


LARGE_GRID = {"model": "graph", "grid": [10**6, 10**6], "table": [[2.0, 1.0], [1.0, 2.0]]}


def huge(records: int) -> kernel.Verdict:
    population = parse(GRAPH)
    made = plain(conversion_certificate(population, population.leakage(1.0)))
    for item in (made["population"], made["derivation"]["evidence"]["population"]):
        item["records"] = records
    made["assumptions"] = kernel.assumptions(made)
    return verdict(made)


def test_records_without_ties_are_not_built() -> None:
    """One by one they would take the machine's memory."""
    assert huge(5000).verdict == "VALID ASSUMING"
    said = huge(10**9)
    assert said.verdict == "UNKNOWN"
    assert str(MOST_RECORDS) in said.reason
    assert group_size(read_population(GRAPH | {"records": 10**12})) == 2
    with pytest.raises(UnknownError):
        group_size(read_population(LARGE_GRID))


def test_graphs_of_a_family_are_counted_together() -> None:
    grid = {"model": "graph", "grid": [700, 700], "states": 2, "table": [[2.0, 1.0], [1.0, 2.0]]}
    half = GRAPH | {"records": MOST_RECORDS // 2}
    stated_population({"model": "family", "members": [half, half]})
    for members in ([half, half, GRAPH], [grid, grid, grid], [half, grid, grid]):
        with pytest.raises(UnknownError, match="together"):
            stated_population({"model": "family", "members": members})


NO_POPULATION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a law that sums to 3": (
        {"model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 9},
        {"transition": [[0.9, 2.1], [0.2, 0.8]]},
    ),
    "a series that explodes": (
        {"model": "autoregressive", "coefficient": 0.5, "length": 9},
        {"coefficient": 7.5},
    ),
    "a correlation of 3": (
        {"model": "gaussian", "size": 3, "max_correlation": 0.3},
        {"max_correlation": 3.0},
    ),
    "a sum of regressions below 0": (
        {"model": "gaussian", "size": 3, "max_regression_sum": 0.3},
        {"max_regression_sum": -0.3},
    ),
    "a correlation beside a sum of regressions": (
        {"model": "gaussian", "size": 3, "max_regression_sum": 0.3},
        {"max_correlation": 0.1},
    ),
    "a matrix that is not symmetric": (
        {"model": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]},
        {"covariance": [[1.0, 0.5], [0.1, 1.0]]},
    ),
    "a tie to a record that isn't there": (
        GRAPH,
        {"factors": [{"between": [0, 9], "table": [[2.0, 1.0], [1.0, 2.0]]}]},
    ),
    "a negative probability": (
        {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]},
        {"probabilities": [[-0.4, 0.9], [0.1, 0.4]]},
    ),
}


@pytest.mark.parametrize("lie", NO_POPULATION)
def test_a_population_is_read_whoever_attacks(lie: str) -> None:
    """Its numbers decide nothing against an informed adversary, and are shown all the same."""
    spec, change = NO_POPULATION[lie]
    population = parse({"source": "made up", **spec})
    made = plain(conversion_certificate(population, population.leakage(1.0, adversary="informed")))
    for item in (made["population"], made["derivation"]["evidence"]["population"]):
        item.update(change)
    assert verdict(made).verdict == "INVALID"


@pytest.mark.parametrize("text", ["a\nb", "می\u200cشود", "👩\u200d🔬", "a\u00adb", "\u2028", "\t"])
def test_texts_are_refused_before_the_release_that_no_certificate_may_have(
    text: str, tmp_path: Path
) -> None:
    hidden = {
        "data.unit": {"unit": text, "rows_per_unit": 2},
        "query[0].name": {"queries": [{"name": text, "kind": "count"}]},
    }
    for key, other in hidden.items():
        with pytest.raises(InputError, match=re.escape(key)):
            released(tmp_path, "d", **other)
    for population in ({"model": "clusters", "size": 2}, {"model": "independent"}):
        with pytest.raises(InputError, match=r"population\.source"):
            parse(population | {"source": text})
        member = {"model": "family", "members": [population | {"source": text}]}
        with pytest.raises(InputError, match="source"):
            parse(member)


@pytest.mark.parametrize("text", ["Größe", "身長", "🎈", "größe der Person", "می\u00a0شود"])
def test_names_in_any_script_are_names(text: str, tmp_path: Path) -> None:
    asked = [{"name": text, "kind": "count", "where": "ill == 1"}]
    population = {"model": "clusters", "size": 2, "covers": ["ill", "x"], "source": text}
    released(tmp_path, "d", queries=asked, population=population)


def test_what_hides_is_shown_by_its_escape() -> None:
    from bayesdp.errors import as_shown

    assert as_shown("Größe 🎈\n\u202ea\x1b[31m") == "Größe 🎈\\n\\u202ea\\x1b[31m"
