"""A certificate that says more than follows is never VALID, even with a digest made anew."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.certificate import content_of, digest
from bayesdp.release import Study
from bayesdp.verification import verify

HEIGHTS = pd.DataFrame(
    {
        "family": list("aaabbb"),
        "role": ["child", "mother", "father"] * 2,
        "height": [150.0, 165, 182, 121, 168, 171],
        "smokes": ["no", "yes", "no"] * 2,
        "shoes": [36.0, 39, 44, 30, 40, 42],
    }
)
CHAIN = pd.DataFrame({"person": list("pppqqq"), "day": [1, 2, 3] * 2, "active": [0, 1, 1, 0, 0, 1]})


def heights(ledger: Path, **other: Any) -> Study:
    made: dict[str, Any] = {
        "dataset": "heights",
        "n": 6,
        "columns": {
            "family": {"role": "cluster"},
            "role": {"public": True, "states": ["child", "mother", "father"]},
            "height": {"bounds": [120, 220], "unit": "cm"},
            "smokes": {"states": ["yes", "no"], "independent": True},
            "shoes": {"bounds": [20, 50], "independent": True},
        },
        "population": {
            "model": "gaussian",
            "size": 3,
            "max_correlation": 0.275,
            "covers": ["height"],
            "source": "Galton",
        },
        "budget": {"epsilon": 2.0, "spend": 0.9},
        "queries": [
            {"name": "mean", "kind": "mean", "column": "height"},
            {"name": "by role", "kind": "mean", "column": "height", "by": "role"},
            {"name": "tall", "kind": "proportion", "where": "height > 170"},
            {"name": "sum", "kind": "sum", "column": "height", "where": "smokes == 'yes'"},
            {
                "name": "cells",
                "kind": "histogram",
                "column": "height",
                "bins": [120, 150, 180, 220],
            },
        ],
        "ledger": str(ledger),
    }
    return Study(HEIGHTS, **(made | other))


def plain(study: Study, releases: int = 1) -> dict[str, Any]:
    for _ in range(releases):
        certificate = study.release(again=True).certificate
    document: dict[str, Any] = json.loads(certificate.to_json())
    assert verdict(document) == "VALID ASSUMING"
    return document


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("ledgers")
    gauss = heights(folder / "gauss.db")
    only_means = heights(
        folder / "means.db", queries=[{"name": "mean", "kind": "mean", "column": "height"}]
    )
    chain = Study(
        CHAIN,
        dataset="days",
        n=6,
        columns={
            "person": {"role": "series"},
            "day": {"role": "order", "step": 1},
            "active": {"states": [0, 1]},
        },
        population={
            "model": "markov",
            "transition": [[0.9, 0.1], [0.3, 0.7]],
            "length": 3,
            "covers": ["active"],
        },
        budget={"epsilon": 1.0, "adversary": "uninformed"},
        queries=[{"name": "active", "kind": "count", "where": "active == 1"}],
        ledger=str(folder / "chain.db"),
    )
    rows = heights(
        folder / "rows.db",
        unit="family",
        rows_per_unit=3,
        n=2,
        columns={
            "family": {"public": True},
            "height": {"bounds": [120, 220]},
        },
        population={"model": "independent", "covers": ["height"]},
        queries=[
            {"name": "sum", "kind": "sum", "column": "height"},
            {"name": "tall", "kind": "count", "where": "height > 170"},
        ],
    )
    dp = heights(folder / "dp.db", population=None, budget={"notion": "dp", "epsilon": 1.0})
    return {
        "gauss": plain(gauss, 2),
        "means": plain(only_means),
        "chain": plain(chain),
        "rows": plain(rows),
        "dp": plain(dp),
    }


def verdict(document: dict[str, Any]) -> str:
    """The verdict on a document whose digest is made anew: only its content speaks."""
    return verify(document | {"digest": digest(content_of(document))}).verdict


def query(document: dict[str, Any], i: int) -> dict[str, Any]:
    return composed(document)["premises"][i]


def composed(document: dict[str, Any]) -> dict[str, Any]:
    return document["derivation"]["premises"][0]["premises"][0]


def conversion(document: dict[str, Any]) -> dict[str, Any]:
    return document["derivation"]["premises"][0]


def each_population(document: dict[str, Any], **change: Any) -> None:
    document["population"] |= change
    conversion(document)["evidence"]["population"] |= change


def scaled(document: dict[str, Any], i: int, share: float) -> None:
    """Everywhere less noise than the cost that is claimed."""
    scale = query(document, i)["evidence"]["scale"] * share
    query(document, i)["evidence"]["scale"] = scale
    name = query(document, i)["evidence"]["query"]["name"]
    for result in document["results"]:
        if result["query"] == name:
            result["noise"]["scale"] = scale


def claimed(document: dict[str, Any], share: float) -> None:
    """A lower level everywhere that it is stated."""
    document["claim"]["epsilon"] *= share
    document["derivation"]["conclusion"]["epsilon"] *= share
    conversion(document)["conclusion"]["epsilon"] *= share


def cheaper(document: dict[str, Any], i: int, share: float) -> None:
    """A query that says it costs less, up to the top."""
    step = query(document, i)
    saved = step["conclusion"]["epsilon"] * (1 - share)
    step["conclusion"]["epsilon"] -= saved
    step["evidence"]["spend"]["dp_epsilon"] -= saved
    composed(document)["conclusion"]["epsilon"] -= saved
    document["claim"]["dp_epsilon"] -= saved


def lipschitz(document: dict[str, Any], i: int) -> None:
    """A count that passes for Lipschitz."""
    query(document, i)["conclusion"]["kind"] = "lipschitz"
    query(document, i)["evidence"]["spend"] |= {
        "kind": "lipschitz",
        "column": "height",
        "interval": [120.0, 220.0],
    }


def spend(i: int, **change: Any) -> Any:
    return lambda d: query(d, i)["evidence"]["spend"].update(change)


def evidence(i: int, **change: Any) -> Any:
    return lambda d: query(d, i)["evidence"].update(change)


def grid(i: int, **change: Any) -> Any:
    return lambda d: query(d, i)["evidence"]["grid"].update(change)


def asked(i: int, **change: Any) -> Any:
    return lambda d: query(d, i)["evidence"]["query"].update(change)


def claim(**change: Any) -> Any:
    return lambda d: d["claim"].update(change)


def body(**change: Any) -> Any:
    return lambda d: d.update(change)


def result(i: int, part: str | None = None, **change: Any) -> Any:
    return lambda d: (d["results"][i][part] if part else d["results"][i]).update(change)


def rule(name: str) -> Any:
    return lambda d: conversion(d).update(rule=name)


def column(name: str, **change: Any) -> Any:
    return lambda d: d["columns"][name].update(change)


WIDE = {"kind": "bounded", "interval": [0.0, 250.0]}
ANY = {"kind": "any values that the population gives a positive probability"}
INFORMED = "informed"

TAMPERED: dict[str, tuple[str, Any]] = {
    # levels
    "claim": ("gauss", claim(epsilon=0.5)),
    "claim a millionth": ("gauss", lambda d: claimed(d, 1 - 1e-6)),
    "claim everywhere": ("gauss", lambda d: claimed(d, 0.9)),
    "claim everywhere, chain": ("chain", lambda d: claimed(d, 0.5)),
    "claim NaN": ("gauss", claim(epsilon=None)),
    "claim true": ("gauss", claim(epsilon=True)),
    "delta": ("gauss", claim(delta=1e-6)),
    "dp cost of the claim": ("gauss", claim(dp_epsilon=0.1)),
    "dp claim": ("dp", claim(epsilon=0.5)),
    "a query's cost": ("gauss", lambda d: cheaper(d, 0, 0.5)),
    "a query's cost, dp": ("chain", lambda d: cheaper(d, 0, 0.9)),
    "composition": ("gauss", lambda d: composed(d)["conclusion"].update(epsilon=0.1)),
    "nothing composed": ("gauss", lambda d: composed(d).update(premises=[])),
    "a query left out": ("gauss", lambda d: composed(d)["premises"].pop()),
    "adjacency": ("gauss", lambda d: composed(d)["evidence"].update(adjacency="add or remove")),
    "notion dp": ("gauss", claim(notion="dp")),
    "notion bdp": ("dp", claim(notion="bdp")),
    "notion unheard of": ("gauss", claim(notion="zcdp")),
    "scope": ("gauss", claim(scope="all populations")),
    "above its budget": ("gauss", lambda d: d["derivation"]["evidence"].update(total=0.1)),
    "rounding": ("gauss", body(rounding="ball arithmetic")),
    # the theorem
    "theorem exact": ("gauss", rule("independent")),
    "theorem refused": ("gauss", rule("gaussian-covariance")),
    "theorem weaker": ("gauss", rule("cluster-size")),
    "theorem unheard of": ("gauss", rule("gaussian-miracle")),
    "theorem of another model": ("gauss", rule("markov-recursion")),
    "theorem of the chain": ("chain", rule("markov-ratio")),
    "query rule unheard of": ("gauss", lambda d: query(d, 0).update(rule="gaussian-noise")),
    "cost in the conversion": (
        "gauss",
        lambda d: conversion(d)["evidence"]["cost"].update(any=0.0),
    ),
    # the population
    "population in one place": ("gauss", lambda d: d["population"].update(max_correlation=0.1)),
    "population in the other": (
        "gauss",
        lambda d: conversion(d)["evidence"]["population"].update(size=2),
    ),
    "population stronger": ("gauss", lambda d: each_population(d, max_correlation=0.4)),
    "population weaker": ("gauss", lambda d: each_population(d, max_correlation=0.2)),
    "population smaller": ("gauss", lambda d: each_population(d, size=2)),
    "population's chain": (
        "chain",
        lambda d: each_population(d, transition=[[0.95, 0.05], [0.05, 0.95]]),
    ),
    "population's source": ("gauss", lambda d: d["population"].update(source="the census")),
    "population with a typing error": ("gauss", lambda d: each_population(d, sise=3)),
    "population covers more": (
        "gauss",
        lambda d: d["population"].update(covers=["height", "shoes"]),
    ),
    # the adversary and the secrets
    "adversary in the claim": ("chain", claim(adversary="any")),
    "adversary everywhere": (
        "chain",
        lambda d: (
            claim(adversary="any")(d),
            conversion(d)["conclusion"].update(adversary="any"),
        ),
    ),
    "adversary weaker": (
        "gauss",
        lambda d: (
            claim(adversary=INFORMED)(d),
            conversion(d)["conclusion"].update(adversary=INFORMED),
        ),
    ),
    "secrets wider": ("gauss", claim(secrets=WIDE)),
    "secrets any": ("gauss", claim(secrets=ANY)),
    "secrets of the data set": ("gauss", lambda d: d["data_set"].update(secrets=ANY)),
    "secrets unbounded": (
        "gauss",
        lambda d: conversion(d)["evidence"].update(secrets="unbounded"),
    ),
    # queries
    "sensitivity": ("gauss", lambda d: evidence(0, sensitivity=1)(d)),
    "sensitivity of a histogram": ("gauss", evidence(4, sensitivity=1)),
    "sensitivity of many rows, count": ("rows", evidence(1, sensitivity=1)),
    "sensitivity of many rows, sum": (
        "rows",
        lambda d: evidence(0, sensitivity=query(d, 0)["evidence"]["sensitivity"] // 3)(d),
    ),
    "rows per record": ("rows", body(rows_per_unit=1)),
    "sensitivity no integer": ("chain", evidence(0, sensitivity=1.5)),
    "scale": ("gauss", lambda d: scaled(d, 0, 0.5)),
    "scale of a count": ("chain", lambda d: scaled(d, 0, 0.99)),
    "scale and all claims": (
        "chain",
        lambda d: (scaled(d, 0, 0.5), cheaper(d, 0, 0.999), claimed(d, 0.999)),
    ),
    "step": ("gauss", evidence(0, step=[1, 1])),
    "grid narrower": ("gauss", grid(0, hi=200.0)),
    "grid coarser": ("gauss", grid(0, bits=3)),
    "grid unmasked": ("gauss", grid(3, masked=False)),
    "slack": ("means", spend(0, slack=0.0)),
    "kind": ("gauss", lambda d: lipschitz(d, 2)),
    "kind of a masked sum": ("gauss", lambda d: lipschitz(d, 3)),
    "kind in one place": (
        "gauss",
        lambda d: query(d, 2)["conclusion"].update(kind="lipschitz"),
    ),
    "reads nothing": ("gauss", spend(3, reads=[])),
    "reads one of two": ("gauss", spend(3, reads=["height"])),
    "reads another": ("gauss", spend(0, reads=["shoes"])),
    "spend's interval": ("gauss", spend(0, interval=[0.0, 300.0])),
    "spend's column": ("gauss", spend(0, column="shoes")),
    "spend's data set": ("gauss", spend(0, dataset="others")),
    "spend's unit": ("gauss", spend(0, unit="family")),
    "spend's delta": ("gauss", spend(0, dp_delta=1e-9)),
    "spend's mechanism": ("gauss", spend(0, mechanism="none")),
    "where left out": ("gauss", lambda d: query(d, 3)["evidence"]["query"].pop("where")),
    "where public": ("gauss", asked(3, where="role == 'child'")),
    "by a private column": ("gauss", asked(1, by="smokes")),
    "mean is a sum": ("gauss", asked(0, kind="sum")),
    "a column made public": ("gauss", column("smokes", public=True, independent=False)),
    "a column made independent": ("gauss", column("smokes", independent=False)),
    "bounds widened": ("gauss", column("height", bounds=[0, 300])),
    "bounds narrowed": ("gauss", column("height", bounds=[150, 190])),
    "unknown column key": ("gauss", column("height", boundz=[0, 1])),
    # the data set and n
    "n": ("gauss", body(n=600)),
    "n of a mean": ("means", body(n=12)),
    "n is not a number": ("chain", body(n="6")),
    "n beyond all room": ("chain", body(n=2**63)),
    "data set": ("gauss", body(dataset="others")),
    "unit": ("gauss", body(unit="family", rows_per_unit=1)),
    "earlier spends dropped": ("gauss", lambda d: d["data_set"].update(earlier_spends=[])),
    "an earlier spend dropped": ("gauss", lambda d: d["data_set"]["earlier_spends"].pop()),
    "an earlier spend cheaper": (
        "gauss",
        lambda d: d["data_set"]["earlier_spends"][0].update(dp_epsilon=1e-6),
    ),
    "an earlier spend of others": (
        "gauss",
        lambda d: d["data_set"]["earlier_spends"][0].update(dataset="others"),
    ),
    "level of the data set": ("gauss", lambda d: d["data_set"].update(level=1.0)),
    "dp cost of the data set": ("gauss", lambda d: d["data_set"].update(dp_epsilon=0.1)),
    "total of the data set": ("gauss", lambda d: d["data_set"].update(total=1.0)),
    # prose, and keys that nobody reads
    "nothing unprotected": ("gauss", body(not_protected=[])),
    "other things unprotected": ("gauss", body(not_protected=["nothing: all is protected"])),
    "not_protected left out": ("gauss", lambda d: d.pop("not_protected")),
    "words of one's own": ("gauss", body(in_words=["no record depends on another"])),
    "a note": ("gauss", body(note="certified by the regulator")),
    "a note, dp": ("dp", body(note="certified by the regulator")),
    "a note in the claim": ("gauss", claim(note="proven for all populations")),
    "a note in a result": ("gauss", result(0, note="exact")),
    "a note in a query": ("gauss", asked(0, note="of everybody")),
    "a note in the data set": ("gauss", lambda d: d["data_set"].update(note="fresh")),
    # states
    "states cut": ("chain", column("active", states=[1])),
    "states cut to another": ("chain", column("active", states=[0])),
    "states added": ("chain", column("active", states=[0, 1, 2])),
    "a condition on no state": ("chain", asked(0, where="active == 2")),
    "a condition on no public state": (
        "gauss",
        asked(3, where="smokes == 'yes' and not (role in ['aunt'])"),
    ),
    # assumptions and results
    "assumptions dropped": ("gauss", body(assumptions=[])),
    "an assumption dropped": ("gauss", lambda d: d["assumptions"].pop(0)),
    "result's scale": ("gauss", result(0, "noise", scale=1.0)),
    "result's step": ("gauss", result(0, "noise", step=1e-9)),
    "result's distribution": ("gauss", result(0, "noise", distribution="none")),
    "result's error": ("gauss", result(0, "error", value=0.001)),
    "result's confidence": ("gauss", result(0, "error", confidence=0.999)),
    "result's value": ("gauss", result(0, value=None)),
    "result between two counts": ("chain", result(0, value=382.37)),
    "result between two counts of a cell": ("gauss", result(-1, value=0.5)),
    "result between two shares": ("gauss", lambda d: result(4, value=0.25)(d)),
    "result beyond 64 bits": ("chain", result(0, value=1e300)),
    "result's unit": ("gauss", result(0, unit="inch")),
    "result's unit, a count": ("chain", result(0, unit="people")),
    "result's cost": ("gauss", result(0, dp_epsilon=0.01)),
    "result's rows": ("gauss", result(0, rows=5)),
    "result's group": ("gauss", result(1, group="aunt")),
    "result of another query": ("gauss", result(0, query="tall")),
    "a result too many": ("gauss", lambda d: d["results"].append(d["results"][0])),
    "a result left out": ("gauss", lambda d: d["results"].pop()),
    "no results": ("gauss", lambda d: d.pop("results")),
    "no claim": ("gauss", lambda d: d.pop("claim")),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered(name: str, documents: dict[str, dict[str, Any]]) -> None:
    which, tamper = TAMPERED[name]
    document = copy.deepcopy(documents[which])
    tamper(document)
    assert document != documents[which]
    assert verdict(document) in ("INVALID", "UNKNOWN")
    if "unheard of" in name and "notion" not in name:
        assert verdict(document) == "UNKNOWN"


def test_enough_ways_to_tamper() -> None:
    assert len(TAMPERED) >= 60


def test_a_weaker_claim_is_true(documents: dict[str, dict[str, Any]]) -> None:
    """More is promised than claimed: that is not a lie."""
    document = copy.deepcopy(documents["means"])
    document["claim"]["epsilon"] = 0.9
    assert verdict(document) == "VALID ASSUMING"
    document["results"][0]["error"]["value"] *= 2  # a number that is shown is the right one
    assert verdict(document) != "VALID ASSUMING"


def test_every_number_of_a_derivation_matters(documents: dict[str, dict[str, Any]]) -> None:
    """Any number on the way to the level, made smaller, is found out."""
    skipped = {"total", "value", "n"}

    def numbers(node: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if isinstance(node, dict):
            return [p for key, item in node.items() for p in numbers(item, (*path, key))]
        if isinstance(node, list):
            return [p for i, item in enumerate(node) for p in numbers(item, (*path, i))]
        return [path] if isinstance(node, int | float) and not isinstance(node, bool) else []

    document = documents["gauss"]
    paths = [
        path
        for part in ("claim", "derivation", "data_set", "results")
        for path in numbers(document[part], (part,))
        if not skipped & set(path) and "details" not in path and "secrets" not in path
    ]
    assert len(paths) > 100
    accepted = []
    for path in paths:
        changed = copy.deepcopy(document)
        place = changed
        for key in path[:-1]:
            place = place[key]
        old = place[path[-1]]
        place[path[-1]] = old - 1 if isinstance(old, int) else old * 0.99
        if changed != document and verdict(changed).startswith("VALID"):
            accepted.append(path)
    # What is left: of earlier spends a wider interval than the common one and a slack beyond the
    # last digit.
    assert not [path for path in accepted if "earlier_spends" not in path], accepted
    earlier = {p[3] for p in accepted if "earlier_spends" in p}
    assert earlier <= {"interval", "slack"}, accepted


def test_secrets_are_those_of_the_covered_column(tmp_path: Path) -> None:
    """A sum of another column has its own interval, in other units: it limits no secrets."""
    study = heights(
        tmp_path / "l.db",
        queries=[
            {"name": "height", "kind": "sum", "column": "height"},
            {"name": "shoes", "kind": "sum", "column": "shoes"},
        ],
    )
    document = plain(study)
    assert document["claim"]["secrets"] == {"kind": "bounded", "interval": [120.0, 220.0]}
    alone = plain(
        heights(tmp_path / "m.db", queries=[{"name": "s", "kind": "sum", "column": "shoes"}])
    )
    assert alone["claim"]["secrets"] == ANY
    assert conversion(alone)["rule"] == "cluster-size"
