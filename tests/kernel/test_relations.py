"""Certificates of what follows: honest ones verify, those that say more than follows never do."""

from __future__ import annotations

import contextlib
import copy
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayesdp.certificate import content_of, digest
from bayesdp.kernel import InvalidError, relation_assumptions
from bayesdp.kernel.conversions.hypotheses import NAMES as KERNEL_NAMES
from bayesdp.kernel.conversions.hypotheses import Facts
from bayesdp.kernel.conversions.relations import ABSOLUTE, RELATIVE, TABLE
from bayesdp.kernel.reading import same
from bayesdp.notions.catalogue import CATALOGUE
from bayesdp.populations import MarkovChain, Population, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.statements import read_population
from bayesdp.theorems.relations.hypotheses import HYPOTHESES, facts
from bayesdp.theorems.relations.search import implied
from bayesdp.verification import check, read
from tests.effort import runs
from tests.kernel import honest
from tests.theorems.test_implied import CHAIN, SUPPORT, TWINS

Document = dict[str, Any]
FREE = ("downward-scalable-family", "record-secrets", "causal-structure", "every-population")
MALFORMED = (InvalidError, LookupError, TypeError, ValueError, AttributeError)
MODELS = (
    honest.any_chain,
    honest.pairs_chain,
    honest.graph,
    honest.network,
    honest.tree,
    honest.finite,
    honest.covariance,
    honest.max_correlation,
    honest.autoregressive,
    honest.independent,
    honest.clusters,
)


def certificate(rng: np.random.Generator) -> Document:
    population = parse(MODELS[int(rng.integers(len(MODELS)))](rng)) if rng.random() < 0.8 else None
    chosen = [str(chosen) for chosen in rng.choice(list(CATALOGUE), int(rng.integers(1, 3)), False)]
    given = {
        item: float(rng.uniform(0.05, 0.9 if item in ("sp", "bsp") else 2.0)) for item in chosen
    }
    known = facts(population, (), 0, 2)
    names = [name for name in HYPOTHESES if name not in known.holds | dict.fromkeys(known.refuted)]
    assume = [name for name in names if rng.random() < 0.5]
    consequence = implied(given, population, assume, seconds=1.0, size=2, default=0)
    return read_back(implications_certificate(consequence, seconds=1.0).to_json())


def read_back(text: str) -> Document:
    document = read(text)
    assert isinstance(document, dict)
    return document


def sealed(document: Document, *, assumptions: bool = True) -> Document:
    if assumptions:
        with contextlib.suppress(*MALFORMED):  # what derives nothing keeps its list
            document["assumptions"] = relation_assumptions(document)
    return document | {"digest": digest(content_of(document))}


def steps(document: Document) -> list[dict[str, Any]]:
    actual, waiting = [], list(document["derivation"]["premises"])
    while waiting:
        actual.append(waiting.pop())
        waiting += actual[-1]["premises"]
    return actual


@pytest.mark.prove
@pytest.mark.usefixtures("few_contexts")
def test_honest_certificates_verify():
    rng = np.random.default_rng(41)
    used: Counter[str] = Counter()
    for _ in range(runs(200, least=20)):
        document = certificate(rng)
        verdict = check(document)
        assert verdict.verdict == "VALID ASSUMING", (verdict, document)
        used.update(step["rule"] for step in steps(document))
    assert len(used) > (20 if runs(200) > 100 else 10)


def lower_everywhere(rng: np.random.Generator, document: Document) -> None:
    """A level a little lower wherever it stands, but for the given ones."""
    share = float(rng.choice([0.9, 0.999, 1 - 1e-9]))
    above = [step for step in steps(document) if step["rule"] != "given"]
    chosen = above[int(rng.integers(len(above)))]
    chosen["conclusion"]["level"] *= share
    for chain, *places in zip(
        document["derivation"]["premises"],
        document["claim"]["claims"],
        document["derivation"]["conclusion"]["claims"],
        strict=True,
    ):
        for place in places:
            place["level"] = chain["conclusion"]["level"]


def lower_claim(rng: np.random.Generator, document: Document) -> None:
    claims = document["claim"]["claims"]
    number = int(rng.integers(len(claims)))
    for place in (claims, document["derivation"]["conclusion"]["claims"]):
        place[number]["level"] *= 0.99


def other_notion(rng: np.random.Generator, document: Document) -> None:
    chosen = steps(document)[int(rng.integers(len(steps(document))))]
    others = [item for item in (*CATALOGUE, "zcdp") if item != chosen["conclusion"]["notion"]]
    chosen["conclusion"]["notion"] = others[int(rng.integers(len(others)))]


def other_relation(rng: np.random.Generator, document: Document) -> None:
    above = [step for step in steps(document) if step["rule"] != "given"]
    chosen = above[int(rng.integers(len(above)))]
    others = [name for name in TABLE if f"relation:{name}" != chosen["rule"]]
    name = others[int(rng.integers(len(others)))]
    chosen["rule"] = f"relation:{name}"
    chosen["evidence"]["hypotheses"] = list(TABLE[name].hypotheses)


def no_hypotheses(rng: np.random.Generator, document: Document) -> None:
    needing = [step for step in steps(document) if step["evidence"].get("hypotheses")]
    needing[int(rng.integers(len(needing)))]["evidence"]["hypotheses"] = []


def smaller_conversion(rng: np.random.Generator, document: Document) -> None:
    actual = [step["evidence"] for step in steps(document) if "conversion" in step["evidence"]]
    cost = actual[int(rng.integers(len(actual)))]["conversion"]["evidence"]["cost"]
    cost["any"] *= 0.9


def other_population(rng: np.random.Generator, document: Document) -> None:
    actual = [step["evidence"] for step in steps(document) if "conversion" in step["evidence"]]
    inside = actual[int(rng.integers(len(actual)))]["conversion"]["evidence"]
    assert not same(inside["population"], {"model": "independent"})
    inside["population"] = {"model": "independent"}


def loose_ends(rng: np.random.Generator, document: Document) -> None:
    chain = document["derivation"]["premises"]
    options = [
        lambda: chain.pop(),
        lambda: document["claim"]["parameters"].update(size=0),
        lambda: document["claim"]["parameters"].update(default="first"),
        lambda: document.update(declared=["astrology"]),
        lambda: document.update(rounding="to the nearest"),
        lambda: document["derivation"].update(evidence={"more": 1}),
        lambda: chain[0].update(premises=chain[0]["premises"] * 2 or copy.deepcopy(chain[:1])),
        lambda: document["claim"].update(claims=[]),
        lambda: steps(document)[0]["conclusion"].update(level=None),
        lambda: steps(document)[0]["conclusion"].update(level=-1.0),
        lambda: steps(document)[0].pop("rule"),
        lambda: document.pop("population"),
    ]
    options[int(rng.integers(len(options)))]()


CHANGES = (
    lower_everywhere,
    lower_claim,
    other_notion,
    other_relation,
    no_hypotheses,
    smaller_conversion,
    other_population,
    loose_ends,
)


@pytest.mark.prove
@pytest.mark.usefixtures("few_contexts")
def test_mutated_certificates_do_not_verify():
    rng = np.random.default_rng(42)
    done: Counter[str] = Counter()
    pool = [certificate(rng) for _ in range(runs(100, least=10))]
    pool += [honest_document({"dp": 0.5 + 0.1 * k}, CHAIN, "causal-structure") for k in range(3)]
    for number in range(runs(2000, least=104)):  # each change of each certificate, once
        made = pool[number % len(pool)]
        change = CHANGES[number % len(CHANGES)]
        document = copy.deepcopy(made)
        try:
            change(rng, document)
        except (ValueError, AssertionError):
            continue  # there is nothing of this kind in it
        if document == made:
            continue
        verdict = check(sealed(document))
        assert verdict.verdict in ("INVALID", "UNKNOWN"), (change.__name__, made, document)
        assert verdict.step != "digest"
        done[change.__name__] += 1
    assert len(done) == len(CHANGES), done


def honest_document(given: dict[str, float], population: Population | None, *assume: str, **more):
    consequence = implied(given, population, assume, **({"size": 2, "default": 0} | more))
    return read_back(implications_certificate(consequence).to_json())


def test_undeclared_hypotheses_are_found():
    document = honest_document({"bdp": 1.0}, None, "full-support")
    assert check(document).verdict == "VALID ASSUMING"
    assert any("full-support" in said for said in check(document).assuming)
    document["declared"] = []
    verdict = check(sealed(document))
    assert verdict.verdict == "INVALID"
    assert verdict.step == "hypotheses"


def test_declarations_that_the_population_refutes():
    document = honest_document({"bdp": 1.0}, None, "full-support")
    document["population"] = json.loads(json.dumps(TWINS.spec()))
    verdict = check(sealed(document))
    assert verdict.verdict == "INVALID"
    assert "refutes full-support" in verdict.reason


def test_a_derived_hypothesis_of_another_population():
    document = honest_document({"bdp": 1.0}, CHAIN)
    assert check(document).verdict == "VALID ASSUMING"
    assert not any("declared, not shown" in said for said in check(document).assuming)
    document["population"]["transition"] = [[1.0, 0.0], [0.1, 0.9]]
    document["population"]["initial"] = [0.5, 0.5]
    assert check(sealed(document)).verdict == "INVALID"


def test_no_free_lunch_from_one_population():
    """dp => bdp-uninformed by a conversion, then "for every population": never."""
    document = honest_document({"dp": 0.01}, CHAIN, "every-population")
    converted = next(
        chain
        for chain in document["derivation"]["premises"]
        if chain["conclusion"]["notion"] == "bdp-uninformed"
    )
    level = converted["conclusion"]["level"]
    step = {
        "rule": "relation:bdp-uninformed-to-group-dp",
        "conclusion": {"notion": "group-dp", "level": level},
        "evidence": {"hypotheses": ["every-population"]},
        "premises": [converted],
    }
    document["derivation"]["premises"] = [step]
    for place in (document["claim"], document["derivation"]["conclusion"]):
        place["claims"] = [{"notion": "group-dp", "level": level}]
    verdict = check(sealed(document))
    assert verdict.verdict == "INVALID"
    assert "one population" in verdict.reason


def test_assumptions_must_be_those_needed():
    document = honest_document({"bdp": 1.0}, CHAIN, "causal-structure")
    document["assumptions"] = document["assumptions"][:-1]
    assert check(sealed(document, assumptions=False)).verdict == "INVALID"


def test_a_distance_of_one_promises_nothing():
    document = honest_document({"sp": 0.9}, CHAIN)
    for step in steps(document):
        if step["rule"] == "given":
            step["conclusion"]["level"] = 1.0
    assert check(sealed(document)).verdict == "INVALID"


def test_the_kernel_knows_the_same_notions_and_hypotheses():
    assert set(ABSOLUTE) == {key for key, item in CATALOGUE.items() if not item.relative}
    assert set(RELATIVE) == {key for key, item in CATALOGUE.items() if item.relative}
    assert set(KERNEL_NAMES) == set(HYPOTHESES)


def kernel_facts(population: Population, default: int, size: int) -> dict[str, bool | None]:
    bare = {k: v for k, v in json.loads(json.dumps(population.spec())).items() if k != "source"}
    known = Facts(read_population(bare), (), Fraction(default), size)
    return {name: known._shown(name) for name in KERNEL_NAMES}


def test_both_derive_the_same_hypotheses():
    rng = np.random.default_rng(43)
    populations = [population for population, _ in SUPPORT]
    populations += [parse(MODELS[number % len(MODELS)](rng)) for number in range(runs(300))]
    for population in populations:
        for default, size in ((0, 2), (1, 1), (2, 4)):
            ours = facts(population, (), default, size)
            for name, answer in kernel_facts(population, default, size).items():
                derived = HYPOTHESES[name].derive
                derived_answer = None if derived is None else derived(population, default, size)
                assert derived_answer == answer, (name, population.spec(), default, size)
            assert set(ours.refuted) == {
                name
                for name, answer in kernel_facts(population, default, size).items()
                if answer is False
            }


def replaced_conversion(population: Population, adversary: str) -> Document:
    """A certificate of CHAIN for everybody, with another honest conversion in its place."""
    document = honest_document({"dp": 0.5}, CHAIN)
    chain = next(
        item for item in document["derivation"]["premises"] if item["conclusion"]["notion"] == "bdp"
    )
    report = population.leakage(0.5, adversary=adversary)  # type: ignore[arg-type]
    other = json.loads(conversion_certificate(population, report).to_json())["derivation"]
    chain["evidence"]["conversion"] = other
    chain["conclusion"]["level"] = level = other["conclusion"]["epsilon"]
    document["derivation"]["premises"] = [chain]
    for place in (document["claim"], document["derivation"]["conclusion"]):
        place["claims"] = [{"notion": "bdp", "level": level}]
    return sealed(document)


def test_a_conversion_is_of_this_population_and_of_this_adversary():
    assert check(replaced_conversion(CHAIN, "any")).verdict == "VALID ASSUMING"
    calm = MarkovChain(transition=((0.6, 0.4), (0.4, 0.6)), length=100)
    verdict = check(replaced_conversion(calm, "any"))
    reason = "population: the conversion is about another one than is declared"
    assert (verdict.verdict, verdict.reason) == ("INVALID", reason)
    verdict = check(replaced_conversion(CHAIN, "uninformed"))
    reason = "adversary: 'uninformed' is stated, 'any' is due"
    assert (verdict.verdict, verdict.reason) == ("INVALID", reason)
