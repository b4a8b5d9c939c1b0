"""What is called exact: attained, and within 1e-9 of that, by one rule for all theorems."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from bayesdp.certificate import Certificate, content_of, digest
from bayesdp.populations import Family, Finite, MarkovChain, Tree
from bayesdp.populations.joint import joint_of
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.theorems.base import tightness
from bayesdp.theorems.secret import has_secret
from bayesdp.verification import verify
from tests.effort import runs
from tests.oracles import finite

ADVERSARIES = ("any", "uninformed", "informed")


def test_the_rule() -> None:
    assert tightness(1.0, 1.0 - 0.9e-9) == "exact"
    assert tightness(1.0, 1.0 - 1.1e-9) == "upper"
    assert tightness(1e-12, 1e-12 * (1 - 1.1e-9)) == "upper"
    assert tightness(0.0, 0.0) == "exact"
    assert tightness(math.inf, 0.0) == "upper"
    assert tightness(math.inf, math.inf) == "upper"


def test_a_tiny_cost_is_exact_by_the_theorem_that_keeps_its_digits() -> None:
    chain = MarkovChain(transition=[[0.8, 0.2], [0.4, 0.6]], length=8)
    bounds = {b.theorem: b for b in chain.leakage(1e-8, adversary="uninformed").bounds}
    recursion, law = bounds["markov-recursion"], bounds["finite-law"]
    assert (recursion.tight, f"{recursion.epsilon:.9e}") == ("exact", "2.273600003e-08")
    assert law.tight == "upper"
    assert recursion.epsilon < law.epsilon < recursion.epsilon * 1.001


CONSTANT = [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_where_nothing_is_in_doubt_the_level_is_0(adversary) -> None:
    """Every record has one possible value. The certificate says the same number."""
    constant = MarkovChain(transition=CONSTANT, initial=[1.0, 0.0], length=8)
    given = Finite(probabilities=[[0.0, 0.0], [1.0, 0.0]])
    for population in (constant, given):
        assert has_secret(population, adversary) is False
        report = population.leakage(1.0, adversary=adversary)
        assert (report.best.theorem, report.best.epsilon) == ("finite-law", 0.0)
        for bound in report.bounds:
            assert (bound.tight == "exact") == (bound.epsilon == 0.0)
        certificate = conversion_certificate(population, report)
        assert certificate.body["claim"]["epsilon"] == 0.0
        assert verified(certificate) == "VALID ASSUMING"


def test_long_or_many_constant_records_have_an_upper_bound() -> None:
    long = MarkovChain(transition=CONSTANT, initial=[1.0, 0.0], length=1000)
    assert has_secret(long, "any") is False
    assert {b.tight for b in long.leakage(1.0).bounds} == {"upper"}
    short = MarkovChain(transition=CONSTANT, initial=[1.0, 0.0], length=2)
    both = Family(members=(long, short))
    assert has_secret(both, "any") is False
    assert both.leakage(1.0).best.tight == "upper"


def test_copies_tell_an_informed_adversary_nothing() -> None:
    copies = Finite(probabilities=[[0.5, 0.0], [0.0, 0.5]])
    assert has_secret(copies, "informed") is False
    assert copies.leakage(1.0, adversary="informed").best.epsilon == 0.0
    assert has_secret(copies, "any") is True
    assert copies.leakage(1.0).best.epsilon == pytest.approx(2.0)
    # A claim of less than the DP cost holds for such populations only.
    certificate = conversion_certificate(copies, copies.leakage(1.0, adversary="informed"))
    assert verified(certificate) == "VALID ASSUMING"
    body = json.loads(certificate.to_json())
    for place in (body["population"], body["derivation"]["evidence"]["population"]):
        place["probabilities"] = [[0.5, 0.1], [0.0, 0.4]]
    forged = body | {"digest": digest(content_of(body))}
    verdict = verify(json.dumps(forged))
    assert (verdict.verdict, verdict.step) == ("INVALID", "finite-law")


def verified(certificate: Certificate) -> str:
    fresh = Certificate(certificate.body, certificate.derivation)
    return verify(Certificate.from_dict(json.loads(fresh.to_json()))).verdict


def random_population(rng: np.random.Generator):
    zeros = rng.random() < 0.4
    states, length = int(rng.integers(2, 4)), int(rng.integers(1, 5))

    def row(size: int) -> list[float]:
        weights = rng.dirichlet(np.full(size, 0.7))
        if zeros:
            weights = np.where(rng.random(size) < 0.5, 0.0, weights)
            weights[int(rng.integers(size))] += 0.01
        return (weights / weights.sum()).tolist()

    kind = rng.integers(3)
    if kind == 0:
        rows = [row(states) for _ in range(states)]
        return MarkovChain(transition=rows, length=length, initial=row(states))
    if kind == 1:
        shape = (2,) * int(rng.integers(1, 4))
        return Finite(probabilities=np.reshape(row(2 ** len(shape)), shape).tolist())
    nodes = [{"name": "0", "law": row(2)}]
    for j in range(1, length):
        parent = str(int(rng.integers(j)))
        nodes.append({"name": str(j), "parent": parent, "transition": [row(2), row(2)]})
    return Tree(nodes=nodes)


@pytest.mark.prove
def test_exact_bounds_agree_with_each_other_and_with_brute_force() -> None:
    rng = np.random.default_rng(905)
    exact = silent = 0
    for _ in range(runs(400)):
        population = random_population(rng)
        try:
            joint = joint_of(population, 200)
        except ValueError:
            continue
        adversary = str(rng.choice(ADVERSARIES))
        eps = float(10.0 ** rng.uniform(-8, 0.6))
        truth = finite.worst_case(joint, eps, adversary)
        level = 0.0 if truth.attack is None else truth.level
        assert has_secret(population, adversary) in (None, truth.attack is not None)
        silent += truth.attack is None
        report = population.leakage(eps, adversary=adversary)
        case = (population.spec(), eps, adversary, truth)
        exact_bounds = [bound for bound in report.bounds if bound.tight == "exact"]
        for bound in exact_bounds:
            exact += 1
            # the oracle's own levels are right up to 1e-9
            assert abs(bound.epsilon - level) <= 1e-9 * level + 2e-9, (bound, case)
            assert abs(bound.epsilon - exact_bounds[0].epsilon) <= 1e-9 * exact_bounds[0].epsilon, (
                exact_bounds,
                case,
            )
    assert exact > runs(400)
    assert silent > 0


@pytest.mark.parametrize("length", [2, 7, 40, 3000, 10**7])
@pytest.mark.parametrize("flip", [0.3, 0.05, 0.001])
def test_an_exact_recursion_against_the_closed_form(flip: float, length: int) -> None:
    """Two symmetric states, uninformed: long chains have `2 asinh(gamma sinh(eps / 2))`."""
    chain = MarkovChain(transition=[[1 - flip, flip], [flip, 1 - flip]], length=length)
    for eps in (1e-12, 1e-6, 1e-3, 0.3, 4.0):
        bounds = chain.leakage(eps, adversary="uninformed").bounds
        (bound,) = (bound for bound in bounds if bound.theorem == "markov-recursion")
        limit = 2 * math.asinh((1 - flip) / flip * math.sinh(eps / 2))
        assert bound.epsilon <= limit * (1 + 1e-9)
        if length * flip > 40:
            assert bound.epsilon >= limit * (1 - 1e-9)
        # What rounding adds to thousands of steps that hardly forget is more than that.
        assert bound.tight == "exact" or flip == 0.001
