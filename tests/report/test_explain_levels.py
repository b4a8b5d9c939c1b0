"""Levels of every kind of population, and levels with a delta, in words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp import explain
from bayesdp.notions import ApproxDP, Cost
from bayesdp.populations import MODELS, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.report.dependence import grouping, in_numbers, sentences
from bayesdp.report.explain import Explanation
from bayesdp.theorems import REGISTRY, Question, approximate
from bayesdp.theorems.with_delta import report_with_delta, stated_report
from tests.kernel import honest
from tests.report.explained import chain_study, dp_study, family_study, gaussian_study

STUDIES = {
    "dp": dp_study,
    "family": family_study,
    "chain": chain_study,
    "gaussian": gaussian_study,
}


def lines(explanation: Explanation) -> str:
    """The text on one line, so that line breaks don't matter."""
    return " ".join(explanation.text().split())


KINDS = {kind.__name__: kind for kinds in honest.ABOUT.values() for kind in kinds}


def test_every_model_is_among_the_kinds() -> None:
    rng = np.random.default_rng(1)
    actual = {kind(rng)["model"] for kind in KINDS.values() for _ in range(20)}
    assert actual == set(MODELS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_conversions_of_every_population(name: str) -> None:
    rng = np.random.default_rng(7)
    population = parse(KINDS[name](rng))
    for adversary in ("any", "uninformed", "informed"):
        gaussian = population.model in ("gaussian", "autoregressive", "family")
        for kind in ("any", "lipschitz") if gaussian else ("any",):
            report = population.leakage(0.25, adversary=adversary, kind=kind, seconds=1.0)
            document = json.loads(conversion_certificate(population, report).to_json())
            explanation = explain(document)
            assert explanation.verdict == "VALID ASSUMING"
            epsilon = document["claim"]["epsilon"]
            assert (
                explanation.facts["level"]
                == epsilon
                >= 0.25
                == explanation.facts["if_independent"]["level"]
            )
            assert explanation.facts["odds_factor"] == pytest.approx(math.exp(epsilon), rel=1e-12)
            assert "population of the model" not in lines(explanation)  # the words of last resort
            # Theorems about secrets in an interval are the Gaussian ones, wherever they are used.
            rules = {document["derivation"]["rule"]}
            rules |= {item["rule"] for item in document["derivation"]["premises"]}
            bounded = any(r.startswith("gaussian-") or r == "autoregressive" for r in rules)
            assert bool(explanation.facts["secrets"]) == (bounded and adversary != "informed")
            if explanation.facts["secrets"]:
                size = population.group_size
                assert explanation.facts["outside"]["level"] == pytest.approx(size * 0.25, rel=1e-9)
            same = explain(report, population=population)
            assert same.verdict == "COMPUTED"
            assert same.facts["level"] == pytest.approx(epsilon, rel=1e-6)
            assert same.facts["secrets"] == explanation.facts["secrets"]
            assert same.facts["outside"] == explanation.facts["outside"]


def test_no_assumption_is_left_out() -> None:
    """Each is said in a section of its own, in plain words, or verbatim."""
    rng = np.random.default_rng(3)
    made = honest.conversion_by(rng, "gaussian-covariance")
    document = dict(made.document)
    elsewhere = ("the adversary is", "secret values lie", "adjacency is", "a record is", "not prot")
    for said in document["assumptions"]:
        assert said.startswith(elsewhere) or explain(document).section("assumptions").items
    from bayesdp.report.fine_print import rests_on
    from bayesdp.report.promise import PromiseStatus, of_document

    new = document | {"assumptions": [*document["assumptions"], "the moon is made of cheese"]}
    section = rests_on(of_document(new, PromiseStatus("VALID ASSUMING")))
    assert "the moon is made of cheese" in section.items
    assert len(section.items) == 1 + sum(
        not said.startswith(elsewhere) for said in document["assumptions"]
    )


# -- levels without a certificate, and with a delta ------------------------------------------------


def test_strength_in_plain_words() -> None:
    chain = parse({"model": "unknown", "records": 100})

    def short(dp_epsilon: float) -> str:
        explained = explain(chain.leakage(dp_epsilon), population=chain)
        return " ".join(explained.section("short").paragraphs)

    alone = parse({"model": "independent"})
    nothing = explain(alone.leakage(0.0), population=alone)
    assert "nothing can be learnt" in lines(nothing)
    assert "No belief changes at all" in lines(nothing)
    for silent in (0.01, 0.045):
        assert "weak" not in short(silent)
        assert "almost nothing" not in short(silent)
    # A belief of 1 % may become 50 % at level ln 99 = 4.595, and 90 % at ln 891 = 6.792.
    assert "weak promise" in short(0.046)
    assert "weak promise" in short(0.067)
    assert "almost nothing" in short(0.068)
    assert "almost nothing" in short(1e6)
    assert "more than a million" in lines(explain(chain.leakage(1.0), population=chain))


def test_a_level_with_a_delta() -> None:
    chain = parse({"model": "clusters", "size": 2})
    explanation = explain(approximate(Question(chain), ApproxDP(0.5, 1e-6)), population=chain)
    facts = explanation.facts
    assert facts["level"] == pytest.approx(1.0, rel=1e-12)
    delta = 1e-6 * (math.exp(1.0) - 1) / (math.exp(0.5) - 1)
    assert facts["delta"] == pytest.approx(delta, rel=1e-9)
    assert facts["exception"] == pytest.approx(3 * delta, rel=1e-9)
    # Twice the factor: odds 1/9 become 2 e / 9.
    odds = 2 * math.e / 9
    assert facts["beliefs"][1]["at_most"] == pytest.approx(odds / (1 + odds), rel=1e-9)
    assert facts["if_independent"]["delta"] == 1e-6
    words = lines(explanation)
    assert "except with a chance of at most 1 in 120 000" in words  # 1 / (3 delta) = 125 846
    assert "give away the whole record" in " ".join(explanation.section("chance").paragraphs)
    with pytest.raises(KeyError, match=r"section is 'chances': .*Known: .*chance"):
        explanation.section("chances")


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_with_gaussian_noise(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, delta=1e-6, noise="gaussian", epsilon=2.0, spend=0.8)
    for round in range(2):
        before, document = (
            explain(study),
            json.loads(study.release(again=True).certificate.to_json()),
        )
        explanation = explain(document)
        assert explanation.verdict == "VALID ASSUMING"
        before.facts.pop("repeats", None)
        differ = {key for key in before.facts if before.facts[key] != explanation.facts[key]}
        assert differ == {"subject", "verdict", "assumptions"}
        more = set(explanation.facts["assumptions"]) - set(before.facts["assumptions"])
        assert {" ".join(line.split()[:2]) for line in more} == {"the release", "its debit"}
        facts, level = explanation.facts, document["data_set"]["level"]
        assert facts["level"] == level
        assert facts["delta"] == document["data_set"].get("delta", 0) == 1e-6
        assert facts["odds_factor"] == pytest.approx(2 * math.exp(level), rel=1e-9)
        assert facts["if_independent"]["level"] <= level * (1 + 1e-9)
        assert facts["if_independent"]["delta"] == 1e-6
        assert facts["earlier_queries"] == round
        assert "except with a chance of at most 1 in 330 000" in lines(explanation)
        assert facts["limit"] == {
            "level": 2.0,
            "delta": 1e-6,
            "odds_factor": pytest.approx(2 * math.exp(2.0)),
            "exception": pytest.approx(3e-6),
        }
        assert "When the limits may be broken" in explanation.text()
        assert (facts["outside"] is not None) == (name == "gaussian")


def test_later_releases_may_have_a_delta_where_this_one_has_none(tmp_path: Path) -> None:
    study = chain_study(tmp_path, delta=1e-6, noise="laplace", epsilon=2.0, spend=0.8)
    explanation = explain(study.release())
    if explanation.facts["delta"] == 0.0:
        assert "When the limits may be broken" not in explanation.text()
    assert explanation.facts["limit"]["delta"] == 1e-6
    assert "1 in 330\N{NARROW NO-BREAK SPACE}000" in " ".join(
        explanation.section("counted").paragraphs
    )


@pytest.mark.parametrize("kind", ["any", "lipschitz"])
@pytest.mark.parametrize("name", ["markov", "gaussian", "family"])
def test_gaussian_noise_is_never_explained_as_pure(name: str, kind: Any) -> None:
    specs: dict[str, dict[str, Any]] = {
        "markov": {"model": "markov", "transition": [[0.7, 0.3], [0.4, 0.6]], "length": 9},
        "gaussian": {"model": "gaussian", "size": 3, "max_correlation": 0.275},
    }
    specs["family"] = {"model": "family", "members": [specs["gaussian"]] * 2}
    population = parse(specs[name])
    report = report_with_delta(Question(population), Cost.of(0.0, kind, rho=0.01), 1e-6)
    explanation = explain(report, population=population)
    assert explanation.facts["delta"] == report.best.delta > 0.0
    assert explanation.facts["exception"] == pytest.approx(3 * report.best.delta, rel=1e-12)
    assert explanation.facts["odds_factor"] == pytest.approx(
        2 * math.exp(report.best.epsilon), rel=1e-9
    )
    assert explanation.facts["if_independent"]["delta"] > 0.0
    assert explanation.facts["if_independent"]["level"] <= report.best.epsilon
    assert "delta = 1e-06" in lines(explanation)
    document = json.loads(conversion_certificate(population, report).to_json())
    certified = explain(document)
    assert certified.verdict == "VALID ASSUMING"
    for key in ("delta", "exception", "secrets", "if_independent"):
        assert certified.facts[key] == explanation.facts[key]
    assert bool(explanation.facts["secrets"]) == (name != "markov" and kind == "lipschitz")


def test_a_stated_delta_is_explained_from_its_certificate() -> None:
    pairs = parse({"model": "clusters", "size": 2})
    report = stated_report(Question(pairs), ApproxDP(0.5, 1e-6))
    document = json.loads(conversion_certificate(pairs, report).to_json())
    actual, certified = explain(report, population=pairs), explain(document)
    assert certified.verdict == "VALID ASSUMING"
    assert certified.facts["delta"] == document["claim"]["delta"] > 2e-6
    assert certified.facts["if_independent"] == actual.facts["if_independent"]
    assert actual.facts["if_independent"]["delta"] == 1e-6


def test_a_large_delta_promises_almost_nothing() -> None:
    chain = parse({"model": "independent"})
    for delta, words in ((0.02, "weak promise"), (0.2, "almost nothing"), (0.9, "almost nothing")):
        explanation = explain(approximate(Question(chain), ApproxDP(0.1, delta)), population=chain)
        assert words in " ".join(explanation.section("short").paragraphs)
    none = approximate(Question(parse({"model": "clusters", "size": 50})), ApproxDP(1.0, 1e-3))
    assert none.bounds == ()
    explanation = explain(none)
    assert explanation.facts["level"] is None
    assert explanation.facts["odds_factor"] is None
    assert "almost nothing" in lines(explanation)


def test_a_table_of_levels_without_its_population() -> None:
    gaussian = parse({"model": "gaussian", "size": 3, "max_correlation": 0.275})
    explanation = explain(gaussian.leakage(0.5, kind="lipschitz"))
    assert explanation.facts["outside"] is None
    assert "times the number of records" in lines(explanation)
    assert "isn't at hand" in lines(explanation)


# -- vague knowledge, and numbers of descriptions --------------------------------------------------


def test_vague_knowledge_is_promised_where_it_is_proved_only() -> None:
    independent = {"model": "independent"}
    pairs = {"model": "clusters", "size": 2}
    chain = {"model": "markov", "transition": [[0.7, 0.3], [0.4, 0.6]], "length": 9}
    cases = [
        (independent, "any", True),
        (pairs, "any", True),
        (pairs, "uninformed", False),
        (chain, "any", False),
        ({"model": "family", "members": [independent, pairs]}, "any", True),
        ({"model": "family", "members": [independent, chain]}, "any", False),
    ]
    for spec, adversary, covered in cases:
        population = parse(spec)
        report = population.leakage(0.5, adversary=adversary)
        document = json.loads(conversion_certificate(population, report).to_json())
        for actual in (explain(report, population=population), explain(document)):
            words = lines(actual)
            assert ("such as a guess, is covered too" in words) == (covered and adversary == "any")
            assert ("a good guess at some of them" in words) == (not covered)
    delta = explain(
        approximate(Question(parse(pairs)), ApproxDP(0.5, 1e-6)), population=parse(pairs)
    )
    assert "is covered too" not in lines(delta)


def test_what_vague_knowledge_can_do() -> None:
    """Weights on single records, as guesses are: the theorems that are said to cover them do."""
    rng = np.random.default_rng(8)
    vague = {theorem.name for theorem in REGISTRY if theorem.covers_vague_knowledge}
    exceeded = 0
    for _ in range(25):
        rows = rng.dirichlet(np.full(2, 0.8), 2) * 0.98 + 0.01
        chain = parse({"model": "markov", "transition": rows.tolist(), "length": 4})
        bounds = {bound.theorem: bound.epsilon for bound in chain.leakage(0.5).bounds}
        start = np.array([rows[1, 0], rows[0, 1]]) / (rows[1, 0] + rows[0, 1])
        law = np.einsum("a,ab,bc,cd->abcd", start, rows, rows, rows)
        for axis in range(4):
            weight = np.exp(rng.uniform(-4, 4, 2))
            law = law * weight.reshape([2 if place == axis else 1 for place in range(4)])
        guessed = parse({"model": "finite", "probabilities": (law / law.sum()).tolist()})
        report = guessed.leakage(0.5)
        exact = next(bound.epsilon for bound in report.bounds if bound.theorem == "finite-law")
        for theorem in vague & set(bounds):
            assert exact <= bounds[theorem] + 1e-9
        exceeded += exact > bounds["markov-recursion"] + 1e-6
    assert exceeded > 0  # so it's for a reason that the recursion doesn't say so


def test_small_descriptions_are_told_with_their_numbers() -> None:
    def in_words(spec: dict[str, Any], states: Any) -> str:
        columns = {"ill": {"states": states}, "day": {"role": "order"}}
        return in_numbers(spec, grouping(columns, ["ill"]))

    chain = {"model": "markov", "transition": [[0.9, 0.1], [1 / 3, 2 / 3]], "length": 3}
    assert in_words(chain, ["no", "yes"]) == (
        "For 'ill': after no comes no with 90 %, yes with 10 %; "
        "after yes comes no with about 33.33 %, yes with about 66.67 %."
    )
    limits = {
        "model": "markov",
        "transition_lower": [[0.8, 0.1], [0.3, 0.5]],
        "transition_upper": [[0.9, 0.2], [0.3, 0.7]],
    }
    assert "after 0 comes 0 with 80 % to 90 %, 1 with 10 % to 20 %" in in_words(limits, [0, 1])
    assert "after 1 comes 0 with 30 %, 1" in in_words(limits, [0, 1])
    series = grouping({"ill": {"states": [0, 1]}, "day": {"role": "order"}}, ["ill"])
    unchanging = "Within a series the probabilities of what follows what don't change."
    assert unchanging in sentences(limits | {"length": 3}, series)
    assert unchanging not in sentences(chain, series)
    second = {"model": "markov", "order": 2, "transition": [[[0.5, 0.5]] * 2] * 2}
    wide = {"model": "markov", "transition": [[0.25] * 4] * 4}
    for spec, states in ((second, [0, 1]), (wide, [0, 1, 2, 3]), (chain, None), (chain, [0])):
        assert in_words(spec, states) == ""
    assert in_words({"model": "finite", "probabilities": [[0.5, 0.2], [0.2, 0.1]]}, [0, 1]) == (
        "'ill' of such records together: 0/0 50 %, 0/1 20 %, 1/0 20 %, 1/1 10 %."
    )


def test_a_panel_in_words() -> None:
    panel = {
        "model": "panel",
        "series": 4,
        "length": 28,
        "own_previous": 6.5,
        "others_previous": 1.0,
    }
    columns = {"home": {"role": "cluster"}, "person": {"role": "series"}, "day": {"role": "order"}}
    assert sentences(panel, grouping(columns)) == [
        "Records with the same 'home' belong together: at most 4 members over at most 28 steps.",
        "The odds of any two values of a record change at most 6.5-fold with the record of the "
        "same 'person' one step before or after, not at all with another member's record then, "
        "and in any way with another member's record at the same step.",
        "Records of different groups have nothing to do with each other.",
    ]
    weather = panel | {"others_now": 1, "shared_previous": 5, "shared_now": 1.5}
    _, among_members, state, _ = sentences(weather, grouping({}))
    assert "with the record of the same member one step before or after" in among_members
    assert "and not at all with another member's record at the same step" in among_members
    assert state == (
        "Members of a group also share a state that nobody records. With it the odds of their "
        "records change at most 1.5-fold, and those of its next value at most 5-fold."
    )
