"""Certificates of what follows from given levels, in words."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from bayesdp import explain
from bayesdp.certificate import content_of, digest
from bayesdp.populations import parse
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.theorems.relations.search import implied

CHAIN = {
    "model": "markov",
    "transition": [[0.9, 0.1], [0.1, 0.9]],
    "length": 9,
    "source": "the diaries of 2019",
}


def certificate(given: dict[str, float], population: Any = None, **options: Any) -> dict[str, Any]:
    consequence = implied(given, None if population is None else parse(population), **options)
    document: dict[str, Any] = json.loads(implications_certificate(consequence).to_json())
    return document


def words(actual: Any) -> str:
    return " ".join(actual.text().split())


def test_claims_and_given_levels_are_told() -> None:
    document = certificate({"bdp": 1.0}, CHAIN, assume=["causal-structure"])
    explanation = explain(document)
    assert explanation.verdict == "VALID ASSUMING"
    assert explanation.holds
    text = words(explanation)
    assert explanation.facts["given"] == [{"notion": "bdp", "level": 1.0}]
    assert explanation.section("given").items == (
        "Bayesian differential privacy, any adversary [bdp], at the level 1.0",
    )
    follows = {item["notion"]: item["level"] for item in document["claim"]["claims"]}
    assert {fact["notion"]: fact["level"] for fact in explanation.facts["claims"]} == follows
    assert len(explanation.section("follows").items) == len(follows)
    # tanh(1/2) = 0.4621171...: rounded up.
    assert follows["bsp"] == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert "[bsp], at the level 0.462118 (distance)" in text
    assert "by at most 46.3 percentage points" in text
    assert 'This was stated by: "the diaries of 2019". It was not checked.' in text
    for said in document["assumptions"]:
        assert said in explanation.section("assumptions").items
    assert max(map(len, explanation.text().splitlines())) <= 80
    json.dumps(explanation.to_dict())


def test_groups_and_no_population() -> None:
    explanation = explain(certificate({"dp": 0.5}, size=3))
    assert "Replacing 3 records at once" in words(explanation)
    assert "related" not in [section.key for section in explanation.sections]
    relative = words(explain(certificate({"bdp": 0.5})))
    assert "the declared population (the one that the given levels are about)" in relative


def test_what_does_not_follow_is_not_explained() -> None:
    document = certificate({"dp": 0.5}, CHAIN)
    document["claim"]["claims"][-1]["level"] /= 2
    explanation = explain(document | {"digest": digest(content_of(document))})
    assert explanation.verdict == "INVALID"
    assert [section.key for section in explanation.sections] == ["status"]
    unknown = document | {"rounding": "by hand", "version": 99}
    explanation = explain(unknown | {"digest": digest(content_of(unknown))})
    assert not explanation.holds
    if explanation.verdict == "UNKNOWN":
        assert "(claimed only)" in explanation.section("follows").title
    for change in ({"claim": None}, {"derivation": {"rule": "relations"}}, {"population": 3}):
        damaged = unknown | change
        assert not explain(damaged | {"digest": digest(content_of(damaged))}).holds
