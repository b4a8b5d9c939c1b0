"""Long chains: their tails are closed, and nobody waits for those whose tails can't be."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from bayesdp.kernel import check
from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.models import chains
from bayesdp.kernel.rules import markov_influence
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.release.certificates.certify import conversion_certificate
from tests.kernel.steps import bare, make_step
from tests.kernel.test_keys import verdict


def chain(rows: list[list[float]], length: int) -> MarkovChain:
    return MarkovChain(transition=rows, length=length)


def test_the_tail_of_a_long_chain_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever precision balls had when the kernel was imported."""
    monkeypatch.setattr(chains, "MOST_WORK", 4_000)
    population = chain([[0.88241, 0.11759], [0.30471, 0.69529]], 17_568)
    for adversary in ("any", "uninformed"):
        report = population.leakage(0.5, adversary=adversary)
        document = json.loads(conversion_certificate(population, report).to_json())
        assert document["derivation"]["rule"] == "markov-recursion"
        assert check(document).verdict == "VALID ASSUMING"


def test_influences_of_long_lines_do_not_grow_with_the_length() -> None:
    """The kernel's window is shorter than the engine's, and what lies beyond it fades."""
    rows = [[[0.55, 0.45], [0.45, 0.55]], [[0.55, 0.45], [0.45, 0.55]]]
    levels = []
    for length in (120, 121, 122, 10**6, 2**53):
        population = MarkovChain(transition=rows, order=2, length=length)
        (bound,) = [
            bound for bound in population.leakage(0.5).bounds if bound.theorem == "markov-influence"
        ]
        step = make_step("markov-influence", bare(population), Cost(any=0.5))
        levels.append(certified_level(step))
        assert levels[-1] == pytest.approx(bound.epsilon, rel=1e-6)
    assert max(levels) <= levels[0] * (1 + 1e-6)


def test_what_fades_beyond_the_window_holds_on_a_line() -> None:
    """`x >= kappa_i + kappa x` at each record, the window's solution with what is added to it."""
    for weights in ([0.2, 0.25], [0.3, 0.15], [0.02, 0.45], [0.46]):
        kappa = [ball(Fraction(weight)) for weight in weights]
        whole = float(markov_influence._total(kappa, 10**6).upper())
        places = 500  # to each side, where next to nothing is left
        size = 2 * places + 1
        matrix = np.zeros((size, size))
        for distance, weight in enumerate(weights, start=1):
            matrix += weight * (np.eye(size, k=distance) + np.eye(size, k=-distance))
        rest = np.delete(np.arange(size), places)
        inner = np.eye(size - 1) - matrix[np.ix_(rest, rest)]
        truth = 1.0 + np.linalg.solve(inner, matrix[rest, places]).sum()
        assert truth * (1 - 1e-12) <= whole <= truth * 1.05


def test_a_chain_is_followed_for_so_many_steps_only() -> None:
    population = chain([[0.2, 0.6, 0.2], [0.4, 0.3, 0.3], [0.4, 0.2, 0.4]], 30)
    document = json.loads(conversion_certificate(population, population.leakage(0.5)).to_json())
    for rule in ("markov-recursion", "markov-threshold"):
        forged = copy.deepcopy(document)
        forged["derivation"]["rule"] = rule
        evidence = forged["derivation"]["evidence"]
        # So the tail is never closed.
        evidence["details"] = {"steps": 10**9, "closed": [[[0.0] * 3] * 3] * 2}
        for item in (forged["population"], evidence["population"]):
            item["length"] = 10**15
        answer = verdict(forged)
        assert answer.verdict == "UNKNOWN"
        assert "would have to be computed" in answer.reason


def test_a_chain_whose_tail_does_not_close_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_WORK", 4_000)
    population = chain([[1 - 1e-9, 1e-9], [2e-9, 1 - 2e-9]], 30)
    document = json.loads(conversion_certificate(population, population.leakage(0.5)).to_json())
    document["derivation"]["rule"] = "markov-recursion"
    evidence = document["derivation"]["evidence"]
    evidence["details"] = {"steps": 5, "closed": [[[0.0] * 2] * 2] * 2}
    for item in (document["population"], evidence["population"]):
        item["length"] = 10**15
    assert verdict(document).verdict == "UNKNOWN"
    evidence["details"] = {"steps": 5}
    answer = verdict(document)
    assert (answer.verdict, answer.reason) == (
        "INVALID",
        "the chain is long and its tail isn't closed",
    )
