"""What a certificate states beside its level: costs, assumptions, columns; each has one form."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.kernel import reading
from bayesdp.populations import parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.verification import check
from tests.kernel.all_kinds import certificate
from tests.kernel.leaves import at, leaves
from tests.kernel.test_forgeries import (
    CHAIN,
    COUNT,
    GRAPH,
    ROOMS,
    SERIES,
    everywhere,
    refused,
    released,
    renewed,
    set_,
)

Document = dict[str, Any]
ALONE = {"model": "clusters", "size": 1}


def cost_of(document: Document) -> Document:
    cost: Document = document["derivation"]["premises"][0]["evidence"]["cost"]
    return cost


def as_any(cost: Document) -> Document:
    """The same cost as one of mechanisms of which nothing is known."""
    alike = dict.fromkeys(cost, 0.0) | {"by_column": []}
    alike["any"] = cost["any"] + cost["lipschitz"]
    if "rho_any" in cost:
        alike["rho_any"] = cost["rho_any"] + cost["rho_lipschitz"]
    return alike


@pytest.mark.parametrize("kind", ["laplace release", "gaussian release"])
def test_a_cost_is_stated_by_the_kinds_of_its_spends_or_as_one(kind: str) -> None:
    document = certificate(kind)
    cost = cost_of(document)
    moved, slack = (
        ("rho_lipschitz", "rho_slack") if kind == "gaussian release" else ("lipschitz", "slack")
    )
    still = "rho_any" if kind == "gaussian release" else "any"
    assert cost[moved] > 0 < cost[slack]
    for change in (
        {slack: 0.0},
        {slack: cost[slack] / 2},
        {still: cost[still] + cost[moved] / 2, moved: cost[moved] / 2},
        {still: 0.0, moved: cost[still] + cost[moved]},
        as_any(cost) | {slack: cost[slack]},
    ):
        forged = certificate(kind)
        cost_of(forged).update(change)
        refused(renewed(forged), "cluster-size", "not the sum")
    without = certificate(kind)
    del cost_of(without)[slack]
    assert not kernel.check(renewed(without))
    alike = certificate(kind)
    cost_of(alike).update(as_any(cost))
    assert kernel.check(renewed(alike))


@pytest.mark.parametrize("kind", ["program", "relations", "law", "laplace release"])
def test_assumptions_are_a_list(kind: str) -> None:
    document = certificate(kind)
    document["assumptions"] = dict.fromkeys(document["assumptions"])
    sealed = document | {"digest": digest(content_of(document))}
    assert kernel.check(sealed).verdict == "INVALID"


@pytest.mark.parametrize("public", [1, 1.0, "true"])
@pytest.mark.parametrize("column", ["g", "fam"])
def test_a_public_column_is_declared_so_by_true(column: str, public: Any) -> None:
    """1 would be public for some readers, and not be named among what nobody protects."""
    document = released(ROOMS | {"g": {"public": True}}, ALONE, COUNT)
    document["columns"][column]["public"] = public
    refused(renewed(document), "columns", "true is due")


def test_a_law_that_asks_for_too_much_work_is_refused_at_once() -> None:
    """Eight binary records would take most of a minute; the package states another theorem's."""
    document = certificate("law")
    law = np.full((2,) * 8, 1 / 256).tolist()
    for holder in (document, document["derivation"]["evidence"]):
        holder["population"]["probabilities"] = law
    refused(renewed(document), "finite-law", "too large")


TOGETHER: dict[str, tuple[Document, Document, Callable[[Document], object], str]] = {
    "a series without an order": (
        SERIES, CHAIN, lambda d: d["columns"].update(fam={"role": "cluster"}), "which order",
    ),
    "more rows than one series has": (
        SERIES, CHAIN, lambda d: d.update(n=9), "more records than one series",
    ),
    "more rows than clusters have room for": (
        ROOMS, ALONE, lambda d: d["columns"]["fam"].update(states=[1, 2, 3]), "room for",
    ),
    "clusters of several that nobody names": (
        ROOMS, ALONE, lambda d: d["columns"].update(fam={"public": True}) or grown(d), "cluster",
    ),
    "a covered public column": (
        ROOMS, ALONE, lambda d: d["columns"]["s"].update(public=True), "",
    ),
    "states that the model doesn't have": (
        SERIES, CHAIN, lambda d: d["columns"]["s"].update(states=[0, 1, 2]), "states that",
    ),
    "a complete series of another length": (
        SERIES, CHAIN, lambda d: everywhere(d, set_(complete=True)) or d.update(n=7),
        "not one complete series",
    ),
    "more records than a graph has": (
        ROOMS, GRAPH, lambda d: d.update(n=9), "more records than the population describes",
    ),
    "more records than each member of a family has": (
        ROOMS, {"model": "family", "members": [GRAPH, GRAPH]}, lambda d: d.update(n=9),
        "more records than the population describes",
    ),
    "a graph of more records than are read": (
        ROOMS, GRAPH, lambda d: everywhere(d, set_(records=10**8)), "graphs of more than",
    ),
    "a condition on another column": (
        ROOMS, ALONE, lambda d: d["columns"].update(old={"from": "x", "where": "s == 1"}),
        "declared column is due",
    ),
    "a record that has no name in the model": (
        ROOMS, ALONE,
        lambda d: d["columns"].update(m={"role": "member", "states": ["a", "z"]}) or named(d),
        "isn't named",
    ),
    "a unit that is private": (
        ROOMS, ALONE, lambda d: as_unit(d, "s"), "not a declared public",
    ),
}  # fmt: skip


def grown(document: Document) -> None:
    for step in [document, *(s["evidence"] for s in document["derivation"]["premises"])]:
        step["population"]["size"] = 2


def named(document: Document) -> None:
    def alone(population: Document) -> None:
        kept = {key: population[key] for key in ("source", "covers") if key in population}
        population.clear()
        population.update(kept | {"model": "finite", "probabilities": [0.5, 0.5], "roles": ["a"]})

    everywhere(document, alone)


def as_unit(document: Document, column: str) -> None:
    document.update(unit=column, rows_per_unit=1)
    (step,) = document["derivation"]["premises"][0]["premises"]
    step["premises"][0]["evidence"]["spend"]["unit"] = column


@pytest.mark.parametrize("name", TOGETHER)
def test_parts_of_a_declaration_that_cannot_all_be_so(name: str) -> None:
    columns, population, change, reason = TOGETHER[name]
    document = released(columns, population, COUNT)
    change(document)
    refused(renewed(document), "", reason)


# -- numbers that stand beside others ------------------------------------------------------------

Change = Callable[[Document], object]
DERIVED: dict[str, tuple[str, Change, str, str]] = {
    "more is concluded than is claimed": (
        "law", lambda d: d["derivation"]["conclusion"].update(epsilon=9.0), "claim", "concluded",
    ),
    "a conversion concludes more than its relation": (
        "relations",
        lambda d: d["derivation"]["premises"][3]["evidence"]["conversion"]["conclusion"].update(
            epsilon=9.0
        ),
        "conversion", "concluded",
    ),
    "a data set's level above that of its derivation": (
        "gaussian release", lambda d: d["data_set"].update(level=2.0), "data_set", "2.0 is stated",
    ),
    "another digest": ("law", lambda d: None, "digest", "content"),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVED)
def test_numbers_beside_the_level_are_those_derived(name: str) -> None:
    kind, change, step, reason = DERIVED[name]
    document = certificate(kind)
    change(document)
    if name == "another digest":
        document["claim"]["epsilon"] *= 2
    else:
        document["digest"] = digest(content_of(document))
    verdict = check(document)
    assert (verdict.verdict, verdict.step.startswith(step)) == ("INVALID", True), verdict
    assert reason in verdict.reason


def test_the_budgets_delta_stands_among_the_assumptions() -> None:
    document = certificate("gaussian release")
    document["derivation"]["evidence"]["delta"] = 1e-5
    verdict = kernel.check(document | {"digest": digest(content_of(document))})
    assert (verdict.verdict, verdict.step) == ("INVALID", "assumptions")


@pytest.mark.parametrize("kind", ["laplace release", "gaussian release", "relations", "law"])
def test_no_number_is_a_truth_value(kind: str) -> None:
    """Where 0 or 1 stands, false or true doesn't."""
    places = [path for path in leaves(certificate(kind)) if path[0] not in ("results", "columns")]
    tried = 0
    for path in places:
        document = certificate(kind)
        value = at(document, path)
        if type(value) in (int, float) and value in (0, 1):
            at(document, path[:-1])[path[-1]] = bool(value)
            assert not kernel.check(renewed(document)), path
            tried += 1
    assert tried > 0


def test_what_a_verdict_has_read_does_not_change_in_the_callers_hands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Populations are kept for the steps that repeat them: as copies, not as the caller's lists."""

    def stated(*, tied: bool) -> dict[str, Any]:
        table = [[2.0, 1.0], [1.0, 2.0]] if tied else [[1.0, 1.0], [1.0, 1.0]]
        graph = parse({"model": "graph", "records": 3, "edges": [[0, 1], [1, 2]], "table": table})
        report = graph.leakage(0.5)
        bound = next(b for b in report.bounds if b.theorem == "graph-contraction")
        made = conversion_certificate(graph, replace(report, bounds=(bound,)))
        plain: dict[str, Any] = json.loads(made.to_json())
        return plain

    def populations(document: dict[str, Any]) -> list[dict[str, Any]]:
        return [document["population"], document["derivation"]["evidence"]["population"]]

    tied, untied = stated(tied=True), stated(tied=False)
    forged = copy.deepcopy(untied)
    forged["population"], forged["derivation"]["evidence"]["population"] = populations(tied)
    text = json.dumps(renewed(forged))
    monkeypatch.setattr(reading, "_READ", {})  # as in a process that has read nothing yet
    changed = copy.deepcopy(tied)
    assert check(changed)
    for population in populations(changed):
        population["table"][0][0] = population["table"][1][1] = 1.0
    assert check(untied)
    assert not check(json.loads(text))
