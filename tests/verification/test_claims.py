"""What a valid certificate claims is told with its verdict, and differs where the claim differs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import bayesdp
from bayesdp.certificate import content_of, digest
from bayesdp.kernel import assumptions
from bayesdp.populations import Clusters, Finite
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.statements.populations import MOST_SHOWN, in_short
from tests.kernel.test_keys import released


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return released(tmp_path_factory.mktemp("ledger"), "people")


def test_a_release(document: dict[str, Any]) -> None:
    verification = bayesdp.verify(document)
    claim, claimed = verification.claim, document["claim"]
    assert claim["level"] == claimed["epsilon"]
    assert claim["delta"] == claimed["delta"]
    assert claim["dp_epsilon"] == claimed["dp_epsilon"]
    assert claim["adversary"] == claimed["adversary"]
    assert claim["dataset"] == document["dataset"]
    assert claim["data_set"]["level"] == document["data_set"]["level"]
    assert claim["theorem"] == document["derivation"]["premises"][0]["rule"]
    assert claim["population"]["declares"] == in_short(document["population"])
    assert verification.to_dict()["claim"] == claim
    for shown in (str(verification), verification._repr_html_()):
        for words in (claim["theorem"], claim["adversary"], claim["dataset"], document["digest"]):
            assert words in shown


def smaller(claimed: float, size: int) -> dict[str, Any]:
    """A certificate of another level, for clusters of another size: it is as valid."""
    population = Clusters(size=size)
    return dict(conversion_certificate(population, population.leakage(claimed)).to_dict())


def test_another_claim_is_shown_as_another() -> None:
    """The same DP cost for clusters of 15 and of 1: levels 4.5 and 0.3."""
    large, small = (bayesdp.verify(smaller(0.3, size)) for size in (15, 1))
    assert large
    assert small
    assert "BDP level 4.5" in str(large)
    assert "BDP level 0.3" in str(small)
    assert "declares (size 15)" in str(large)
    assert "declares (size 1)" in str(small)
    assert large.claim["population"] == {"model": "clusters", "declares": "size 15"}


def test_numbers_of_the_population_are_among_the_assumptions(document: dict[str, Any]) -> None:
    """And the kernel derives that line: another one is not a certificate's."""
    (line,) = (line for line in document["assumptions"] if "as the population of" in line)
    assert f"({in_short(document['population'])})" in line
    for other in (
        line.replace(" (", " (of size 1, "),
        line.replace(in_short(document["population"]), ""),
    ):
        changed = content_of(document)
        changed["assumptions"] = [
            other if said == line else said for said in changed["assumptions"]
        ]
        changed["digest"] = digest(changed)
        assert bayesdp.verify(changed).step == "assumptions"
    backwards = dict(reversed(document["population"].items()))
    assert assumptions(document | {"population": backwards}) == document["assumptions"]


def test_levels_of_several_notions() -> None:
    population = Finite(probabilities=[[0.4, 0.1], [0.1, 0.4]])
    implications = bayesdp.implied({"bdp": 0.3}, population)
    verification = bayesdp.verify(implications_certificate(implications).to_dict())
    levels = {level["notion"]: level["level"] for level in verification.claim["levels"]}
    assert levels["bdp"] == 0.3
    assert "bdp at the level 0.3" in str(verification)


def test_nothing_is_repeated_of_what_is_not_valid(document: dict[str, Any]) -> None:
    verification = bayesdp.verify(document | {"dataset": "another"})
    assert not verification
    assert verification.claim == {}
    assert "claims" not in str(verification)
    assert "another" not in verification._repr_html_()


@pytest.mark.parametrize(
    ("spec", "short"),
    [
        ({"model": "independent"}, ""),
        ({"model": "clusters", "size": 2, "source": "x"}, "size 2"),
        ({"model": "gaussian", "size": 2, "max_correlation": 0.1}, "max_correlation 0.1, size 2"),
        ({"model": "tree", "nodes": [{"a": 1}, {"b": [2] * MOST_SHOWN}]}, "nodes (10 entries)"),
        ({"model": "x", "covers": ["a" * 200]}, "covers (1 entries)"),
        ({"model": "x", "covers": ['a"; size 1']}, 'covers ["a\\"; size 1"]'),
        ({"model": "x", "list": list(range(MOST_SHOWN))}, "list [0, 1, 2, 3, 4, 5, 6, 7, 8]"),
    ],
)
def test_in_short(spec: dict[str, Any], short: str) -> None:
    assert in_short(spec) == short
    assert in_short(json.loads(json.dumps(spec))) == short
