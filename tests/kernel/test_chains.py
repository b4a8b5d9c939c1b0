"""Long chains: their tails are closed, and nobody waits for those whose tails can't be."""

from __future__ import annotations

import copy
import json
from time import process_time

import pytest

from bayesdp.kernel import chains, check
from bayesdp.populations import MarkovChain
from bayesdp.release.certify import conversion_certificate
from tests.kernel.test_keys import verdict


def chain(rows: list[list[float]], length: int) -> MarkovChain:
    return MarkovChain(transition=rows, length=length)


def test_the_tail_of_a_long_chain_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever precision balls had when the kernel was imported."""
    monkeypatch.setattr(chains, "MOST_WORK", 4_000)
    population = chain([[0.88241, 0.11759], [0.30471, 0.69529]], 17_568)
    for adversary in ("any", "uninformed"):
        found = population.leakage(0.5, adversary=adversary)
        document = json.loads(conversion_certificate(population, found).to_json())
        assert document["derivation"]["rule"] == "markov-recursion"
        assert check(document).verdict == "VALID ASSUMING"


def test_a_chain_is_followed_for_so_many_steps_only() -> None:
    population = chain([[0.2, 0.6, 0.2], [0.4, 0.3, 0.3], [0.4, 0.2, 0.4]], 30)
    document = json.loads(conversion_certificate(population, population.leakage(0.5)).to_json())
    for rule in ("markov-recursion", "markov-threshold"):
        forged = copy.deepcopy(document)
        forged["derivation"]["rule"] = rule
        evidence = forged["derivation"]["evidence"]
        # So the tail is never closed.
        evidence["details"] = {"steps": 10**9, "closed": [[[0.0] * 3] * 3] * 2}
        for one in (forged["population"], evidence["population"]):
            one["length"] = 10**15
        started = process_time()
        assert verdict(forged).verdict == "UNKNOWN"
        assert process_time() - started < 5


def test_a_chain_whose_tail_does_not_close_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_WORK", 4_000)
    population = chain([[1 - 1e-9, 1e-9], [2e-9, 1 - 2e-9]], 30)
    document = json.loads(conversion_certificate(population, population.leakage(0.5)).to_json())
    document["derivation"]["rule"] = "markov-recursion"
    evidence = document["derivation"]["evidence"]
    evidence["details"] = {"steps": 5, "closed": [[[0.0] * 2] * 2] * 2}
    for one in (document["population"], evidence["population"]):
        one["length"] = 10**15
    assert verdict(document).verdict == "UNKNOWN"
    evidence["details"] = {"steps": 5}
    told = verdict(document)
    assert (told.verdict, told.reason) == (
        "INVALID",
        "the chain is long and its tail isn't closed",
    )
