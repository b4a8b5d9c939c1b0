"""What `explain` says is what the numbers say, and never more.

Texts are golden. After a deliberate change of words: BAYESDP_REFRESH_GOLDEN=1, run this file, and
read the difference.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayesdp
from bayesdp import explain
from bayesdp.certificate import Certificate, Step, content_of, digest
from bayesdp.cli import app
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.notions import Cost
from bayesdp.populations import MODELS, MarkovChain, parse
from bayesdp.release.certify import conversion_certificate
from bayesdp.report import beliefs
from bayesdp.report.explain import Explanation
from bayesdp.report.explain import explain as dispatcher
from bayesdp.theorems import Question, approximate
from bayesdp.theorems.with_delta import report_with_delta, stated_report
from tests.effort import runs
from tests.kernel import honest
from tests.report.explained import chain_study, dp_study, family_study, gaussian_study

GOLDEN = Path(__file__).parents[1] / "golden" / "explained"
REFRESH = os.environ.get("BAYESDP_REFRESH_GOLDEN") == "1"
STUDIES = {
    "dp": dp_study,
    "family": family_study,
    "chain": chain_study,
    "gaussian": gaussian_study,
}
PRIORS = (0.01, 0.1, 0.5)


def lines(found: Explanation) -> str:
    """The text on one line, so that line breaks don't matter."""
    return " ".join(found.text().split())


def certificate(name: str, folder: Path) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(STUDIES[name](folder).release().certificate.to_json())
    return plain


def resealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """With the digest of its content, as somebody who lies would write it."""
    return {**document, "digest": digest(content_of(document))}


# -- beliefs -----------------------------------------------------------------------------


@given(st.sampled_from(PRIORS), st.floats(0.0, 30.0))
@example(0.1, 0.0)
@example(0.5, 1e-300)
@example(0.1, math.log(9.0))
def test_limits_are_never_sharper_than_true(prior: float, level: float) -> None:
    """Against balls that contain the truth: shown and stored limits lie outside."""
    ctx.prec = 400
    (row,) = beliefs.beliefs(level, priors=(Decimal(str(prior)),))
    b = arb(Decimal(str(prior)).as_integer_ratio()[0]) / Decimal(str(prior)).as_integer_ratio()[1]
    factor = arb(level).exp()
    most, least = b * factor / (1 - b + b * factor), b / (b + (1 - b) * factor)
    before, low, high = row.words()
    assert before == f"{100 * prior:g} %"
    low_shown, high_shown = (
        arb(Decimal(shown.split()[0]).scaleb(1).to_integral_value().__int__()) / 1000
        for shown in (low, high)
    )
    assert not low_shown > least
    assert not high_shown < most
    assert high_shown - most < 0.0011
    assert least - low_shown < 0.0011
    told = row.to_dict()
    assert not arb(told["at_least"]) > least
    assert not arb(told["at_most"]) < most
    assert told["at_most"] == pytest.approx(float(most.mid()), rel=1e-12)
    assert told["at_least"] == pytest.approx(float(least.mid()), rel=1e-12)
    shown = beliefs.factor_words(beliefs.odds_factor(level))
    if factor < 10**6:
        number = Decimal(shown.replace(" ", ""))
        assert not arb(int(number * 100)) / 100 < factor
        assert number <= Decimal(float(factor.mid())) * Decimal("1.011") + Decimal("0.01")
    else:
        assert shown == "more than a million"


def test_nothing_changes_at_level_0() -> None:
    for row in beliefs.beliefs(0.0):
        assert row.before == row.at_least == row.at_most
        assert len(set(row.words())) == 1
    assert beliefs.factor_words(beliefs.odds_factor(0.0)) == "1"


@pytest.mark.parametrize("level", [9_999.0, 1e5, math.inf])
def test_levels_beyond_all_bounds_promise_nothing(level: float) -> None:
    for row in beliefs.beliefs(level):
        assert row.words()[1:] == ("0 %", "100 %")
        assert 0.0 <= row.to_dict()["at_least"] < 1e-300
        assert row.to_dict()["at_most"] == 1.0


@pytest.mark.parametrize("level", [-1e-9, math.nan])
def test_what_is_no_level_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="expected a number of nats"):
        beliefs.odds_factor(level)


def test_small_chances_round_up() -> None:
    assert beliefs.chance_words(Decimal("0.000003")) == "1 in 330 000"
    assert beliefs.chance_words(Decimal("0.3")) == "1 in 3"
    assert beliefs.chance_words(Decimal("0.6")) == "60 %"
    assert beliefs.chance_words(Decimal("3e-40")) == "1 in 10^39"
    for chance in (0.49, 0.01234, 3e-5, 7e-9, 2e-15):
        of = beliefs.chance_words(Decimal(chance)).removeprefix("1 in ").replace(" ", "")
        assert chance <= 1 / float(of) <= chance * 1.5


def test_a_delta_is_what_the_table_says() -> None:
    """Random pairs of laws at their own delta: the odds leave the limits as rarely as stated."""
    rng = np.random.default_rng(5)
    close = 0.0
    for _ in range(runs(2000)):
        size = int(rng.integers(2, 7))
        p, q = rng.dirichlet(rng.uniform(0.05, 2, size)), rng.dirichlet(rng.uniform(0.05, 2, size))
        if rng.random() < 0.5:
            q = 0.9 * p + 0.1 * q
        epsilon = float(rng.uniform(0.0, 2.0))
        delta = max(
            np.maximum(p - math.exp(epsilon) * q, 0).sum(),
            np.maximum(q - math.exp(epsilon) * p, 0).sum(),
        )
        if delta < 1e-12:
            continue
        factor = float(beliefs.odds_factor(epsilon, delta)) * (1 + 1e-12)
        left = (p > factor * q) | (q > factor * p)
        allowed = float(beliefs.exception(delta)) + 1e-12
        assert max(p[left].sum(), q[left].sum()) <= allowed
        close = max(close, max(p[left].sum(), q[left].sum()) / allowed)
    assert close > 0.3  # the statement is not idle


# -- certificates and studies ----------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_the_texts_are_golden(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path)
    if name == "chain":
        study.release()
    text = explain(study if name == "dp" else study.release()).text()
    golden = GOLDEN / f"{name}.txt"
    if REFRESH:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", STUDIES)
def test_numbers_are_those_of_the_claim(name: str, tmp_path: Path) -> None:
    document = certificate(name, tmp_path)
    found = explain(document)
    facts, epsilon = found.facts, document["claim"]["epsilon"]
    assert found.verdict == "VALID ASSUMING"
    assert found.holds
    assert facts["level"] == facts["this_release"]["level"] == epsilon
    assert facts["odds_factor"] == pytest.approx(math.exp(epsilon), rel=1e-12)
    for row, b in zip(facts["beliefs"], PRIORS, strict=True):
        assert row["before"] == b
        odds = b / (1 - b)
        most, least = odds * math.exp(epsilon), odds / math.exp(epsilon)
        assert row["at_most"] == pytest.approx(most / (1 + most), rel=1e-12)
        assert row["at_least"] == pytest.approx(least / (1 + least), rel=1e-12)
    assert facts["if_independent"]["level"] == document["data_set"]["dp_epsilon"]
    assert facts["limit"]["level"] == document["data_set"]["total"]
    assert facts["limit"]["delta"] == 0.0
    assert facts["assumptions"] == document["assumptions"]
    ten = facts["beliefs"][1]
    words = lines(found)
    assert f"at most {math.ceil(1000 * ten['at_most']) / 10:g} % likely" in words
    assert f"at least {math.floor(1000 * ten['at_least']) / 10:g} % likely" in words
    assert f"adversary '{facts['adversary']}'" in words or name == "dp"


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_explained_as_its_certificate_will_be(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, spend=0.4)
    for _ in range(2):
        before, certified = explain(study), explain(study.release())
        assert before.verdict == "BEFORE RELEASE"
        differ = {key for key in before.facts if before.facts[key] != certified.facts[key]}
        assert differ == {"subject", "verdict"}
    assert certified.facts["earlier_queries"] == 1


@pytest.mark.parametrize("name", STUDIES)
def test_all_releases_of_the_data_set_are_counted(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, spend=0.4)
    first, second = explain(study.release()), explain(study.release())
    facts = second.facts
    assert facts["this_release"] == first.facts["this_release"]
    assert facts["this_release"]["level"] <= 0.4 < facts["level"]
    assert facts["if_independent"]["level"] == pytest.approx(
        2 * first.facts["if_independent"]["level"]
    )
    words = lines(second)
    assert "1 earlier query of the same data set" in words
    assert "now and before" in words
    most = max(row["at_most"] for row in facts["beliefs"])
    assert f"{math.ceil(1000 * most) / 10:g} %" in words
    assert "Before it nothing was released" in lines(first)


def test_a_study_is_explained_without_data_and_without_a_trace(tmp_path: Path) -> None:
    class Guarded:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"the table was touched: {name}")

    study = chain_study(tmp_path)
    study._table = Guarded()
    found = explain(study)
    assert "no data were read" in lines(found)
    assert list(tmp_path.iterdir()) == []


def test_a_study_over_its_budget_is_not_promised(tmp_path: Path) -> None:
    study = family_study(tmp_path)
    study.release()
    found = explain(study)
    assert found.verdict == "REFUSED"
    assert not found.holds
    assert "NOT PROMISED" in found.text()
    assert "(claimed only)" in found.section("promise").title


# -- what must be named --------------------------------------------------------------------


def items(found: Explanation) -> str:
    return " ".join(found.section("not_promised").items)


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_not_promised_is_said(name: str, tmp_path: Path) -> None:
    said = items(explain(STUDIES[name](tmp_path)))
    for word in (
        "record is in the table is not hidden",
        "Facts about the group",
        "without your record",
        "several records at once",
        "Public columns",
    ):
        assert word in said
    assert ("in another way than stated" in said) == (name != "dp")
    assert ("Which of the possible descriptions" in said) == (name == "family")
    assert ("outside the stated interval" in said) == (name == "gaussian")
    assert ("does not know all the other records" in said) == (name == "dp")
    public = {"dp": "'ward'", "family": "'couple'", "chain": "'day'", "gaussian": "'sex'"}
    assert public[name] in said
    assert ("'weight'" in said) == (name == "gaussian")  # a column that nobody spoke of


def test_a_dp_level_speaks_of_related_records(tmp_path: Path) -> None:
    found = explain(dp_study(tmp_path))
    level = found.facts["level"]
    for told, size in zip(found.facts["related_records"], (2, 5), strict=True):
        assert told["records"] == size
        assert told["level"] == pytest.approx(size * level, rel=1e-12)
        assert told["level"] >= size * level
    assert found.facts["scope"] == "all populations"
    assert found.facts["adversary"] == "informed"
    # e^2 / (9 + e^2) = 0.4509 and e^5 / (9 + e^5) = 0.9429, up; 1 / (1 + 9 e^2) = 0.0148, down.
    assert [row[1:3] for row in found.section("related").table[1:]] == [
        ("1.4 %", "45.1 %"),
        ("0 %", "94.3 %"),
    ]
    assert "may learn more than these limits" in lines(found)


def test_secrets_outside_the_interval_have_a_level_of_their_own(tmp_path: Path) -> None:
    found = explain(gaussian_study(tmp_path).release())
    assert found.facts["secrets"] == [
        {"column": "height", "interval": [120.0, 220.0], "unit": "cm"}
    ]
    assert "from 120 to 220 cm" in lines(found)
    outside = found.facts["outside"]["level"]
    assert outside == pytest.approx(3 * found.facts["if_independent"]["level"], rel=1e-12)
    most = math.exp(outside) / (9 + math.exp(outside))
    assert f"at most {math.ceil(1000 * most) / 10:g} %" in " ".join(
        found.section("secrets").paragraphs
    )


def test_unbounded_secrets_need_no_interval(tmp_path: Path) -> None:
    found = explain(gaussian_study(tmp_path, secrets="unbounded").release())
    assert found.facts["secrets"] == []
    assert found.facts["outside"] is None
    assert "Whatever value a record has" in lines(found)


def test_vectors_have_an_interval_for_each_column() -> None:
    rng = np.random.default_rng(2)
    made = honest.conversion_by(rng, "gaussian-vector")
    while made.document["claim"]["adversary"] == "informed":
        made = honest.conversion_by(rng, "gaussian-vector")
    facts = explain(made.document).facts
    assert [one["interval"] for one in facts["secrets"]] == [[0.0, 2.0], [1.0, 6.5]]
    size = made.document["population"]["size"]
    assert facts["outside"]["level"] == pytest.approx(
        size * made.document["claim"]["dp_epsilon"], rel=1e-12
    )


def test_facts_about_a_whole_series_have_a_level(tmp_path: Path) -> None:
    found = explain(chain_study(tmp_path).release())
    assert found.facts["related_at_most"] == 7
    assert found.facts["joint"]["level"] == pytest.approx(
        7 * found.facts["if_independent"]["level"], rel=1e-12
    )
    assert "at most 7" in " ".join(found.section("protected").paragraphs)


@pytest.mark.parametrize(
    ("adversary", "words", "missing"),
    [
        ("any", "none, some or all", None),
        ("uninformed", "not a single one", "knows one or more of the other records"),
        ("informed", "knows every other record exactly", "does not know all the other records"),
    ],
)
def test_adversaries_in_words(
    adversary: str, words: str, missing: str | None, tmp_path: Path
) -> None:
    found = explain(chain_study(tmp_path, adversary=adversary))
    assert found.facts["adversary"] == adversary
    assert words in " ".join(found.section("attackers").paragraphs)
    said = items(found)
    for one in ("knows one or more of the other records", "does not know all the other records"):
        assert (one in said) == (one == missing)


@pytest.mark.parametrize("name", STUDIES)
def test_the_summary_says_what_it_depends_on(name: str, tmp_path: Path) -> None:
    short = " ".join(explain(STUDIES[name](tmp_path)).section("short").paragraphs)
    assert ("not a limit for everybody" in short) == (name == "dp")
    assert ("holds if they are related as described below" in short) == (name != "dp")
    assert "What is learnt about people in general is not limited" in short
    assert ("from 120 to 220 cm" in short) == (name == "gaussian")


def test_the_family_is_a_family(tmp_path: Path) -> None:
    found = explain(family_study(tmp_path))
    assert found.facts["scope"] == "a family of 2 populations"
    assert "whichever is the right one" in lines(found)
    single = explain(chain_study(tmp_path))
    assert single.facts["scope"] == "this population"


def test_who_vouches_is_quoted_as_one_line(tmp_path: Path) -> None:
    study = family_study(tmp_path)
    population = dict(study.spec.population.spec())
    population["source"] = "me\x1b[2J\nVERIFIED <b>by</b> 'God'" + "x" * 1000
    study.spec = study.spec.model_copy(update={"population": parse(population)})
    found = explain(study)
    text = found.text()
    assert "\x1b" not in text
    assert '"me?[2J VERIFIED <b>by' in lines(found)
    assert "x" * 400 not in text.replace("\n", "")
    assert "<b>" not in found.html()
    assert "&lt;b&gt;" in found.html()
    study.spec = study.spec.model_copy(update={"population": parse({**population, "source": ""})})
    assert "Nobody is named who vouches for it" in lines(explain(study))


# -- certificates that don't hold -----------------------------------------------------------


def lie(document: dict[str, Any]) -> dict[str, Any]:
    """A claim of half the level."""
    claim = document["claim"] | {"epsilon": document["claim"]["epsilon"] / 2}
    return resealed(document | {"claim": claim})


def damage(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"dataset": "another"}


def empty(document: dict[str, Any]) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("mutate", [lie, damage, empty])
@pytest.mark.parametrize("name", STUDIES)
def test_an_invalid_certificate_is_not_explained(
    name: str, mutate: Callable[[dict[str, Any]], dict[str, Any]], tmp_path: Path
) -> None:
    document = certificate(name, tmp_path)
    found = explain(mutate(document))
    assert found.verdict == "INVALID"
    assert not found.holds
    assert set(found.facts) == {"verdict", "step", "reason"}
    assert [section.key for section in found.sections] == ["status"]
    assert "does not hold" in lines(found)
    for words in ("%", "at most", "odds", "What is promised"):
        assert words not in found.text()


def test_a_certificate_in_memory_is_checked_too(tmp_path: Path) -> None:
    document = certificate("chain", tmp_path)
    loaded = Certificate.from_dict(document)
    assert explain(loaded).holds
    body = dict(loaded.body) | {"claim": loaded.body["claim"] | {"adversary": "informed"}}
    assert explain(Certificate(body, loaded.derivation)).verdict == "INVALID"
    assert explain(Certificate({"claim": math.nan}, Step("release", {}))).verdict == "INVALID"


def test_an_unknown_certificate_is_a_claim_only(tmp_path: Path) -> None:
    document = certificate("chain", tmp_path)
    found = explain(resealed(document | {"rounding": "by hand"}))
    assert found.verdict == "UNKNOWN"
    assert not found.holds
    assert "NOT CHECKED" in found.text()
    assert "claims to promise" in found.title
    for key in ("short", "promise"):
        assert "(claimed only)" in found.section(key).title
    assert "was checked just now" not in lines(found)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"version": 99, "claim": None},
        {"version": 99, "data_set": []},
        {"rounding": "by hand", "claim": {"notion": "dp"}},
        {"version": 99, "derivation": {}},
    ],
)
def test_an_unknown_certificate_may_say_anything(change: dict[str, Any], tmp_path: Path) -> None:
    document = certificate("family", tmp_path) | change
    found = explain(resealed(document))
    assert not found.holds
    assert found.verdict in ("UNKNOWN", "INVALID")


def test_other_kinds_of_claims_are_refused_and_not_misread(monkeypatch: Any) -> None:
    chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=3)
    document = conversion_certificate(chain, chain.leakage(0.5)).to_dict()
    document["claim"]["notion"] = "bsp"
    valid = bayesdp.Verification("VALID ASSUMING")
    monkeypatch.setattr("bayesdp.kernel.check", lambda document: valid)
    with pytest.raises(UnsupportedError, match="explain"):
        explain(document)


# -- conversions, of every population -----------------------------------------------------------

KINDS = {kind.__name__: kind for kinds in honest.ABOUT.values() for kind in kinds}


def test_every_model_is_among_the_kinds() -> None:
    rng = np.random.default_rng(1)
    found = {kind(rng)["model"] for kind in KINDS.values() for _ in range(20)}
    assert found == set(MODELS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_conversions_of_every_population(name: str) -> None:
    rng = np.random.default_rng(7)
    population = parse(KINDS[name](rng))
    for adversary in ("any", "uninformed", "informed"):
        gaussian = population.model in ("gaussian", "autoregressive", "family")
        for kind in ("any", "lipschitz") if gaussian else ("any",):
            report = population.leakage(0.25, adversary=adversary, kind=kind, seconds=1.0)
            document = json.loads(conversion_certificate(population, report).to_json())
            found = explain(document)
            assert found.verdict == "VALID ASSUMING"
            epsilon = document["claim"]["epsilon"]
            assert found.facts["level"] == epsilon >= 0.25 == found.facts["if_independent"]["level"]
            assert found.facts["odds_factor"] == pytest.approx(math.exp(epsilon), rel=1e-12)
            assert "population of the model" not in lines(found)  # the words of last resort
            # Theorems about secrets in an interval are the Gaussian ones, wherever they are used.
            rules = {document["derivation"]["rule"]}
            rules |= {one["rule"] for one in document["derivation"]["premises"]}
            bounded = any(r.startswith("gaussian-") or r == "autoregressive" for r in rules)
            assert bool(found.facts["secrets"]) == (bounded and adversary != "informed")
            if found.facts["secrets"]:
                size = population.group_size
                assert found.facts["outside"]["level"] == pytest.approx(size * 0.25, rel=1e-9)
            same = explain(report, population=population)
            assert same.verdict == "COMPUTED"
            assert same.facts["level"] == pytest.approx(epsilon, rel=1e-6)
            assert same.facts["secrets"] == found.facts["secrets"]
            assert same.facts["outside"] == found.facts["outside"]


def test_no_assumption_is_left_out() -> None:
    """Each is said in a section of its own, in plain words, or verbatim."""
    rng = np.random.default_rng(3)
    made = honest.conversion_by(rng, "gaussian-covariance")
    document = dict(made.document)
    elsewhere = ("the adversary is", "secret values lie", "adjacency is", "a record is", "not prot")
    for said in document["assumptions"]:
        assert said.startswith(elsewhere) or explain(document).section("assumptions").items
    from bayesdp.report.fine_print import rests_on
    from bayesdp.report.promise import Standing, of_document

    new = document | {"assumptions": [*document["assumptions"], "the moon is made of cheese"]}
    section = rests_on(of_document(new, Standing("VALID ASSUMING")))
    assert "The moon is made of cheese." in section.items
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
    found = explain(approximate(Question(chain), 0.5, 1e-6), population=chain)
    facts = found.facts
    assert facts["level"] == pytest.approx(1.0, rel=1e-12)
    delta = 1e-6 * (math.exp(1.0) - 1) / (math.exp(0.5) - 1)
    assert facts["delta"] == pytest.approx(delta, rel=1e-9)
    assert facts["exception"] == pytest.approx(3 * delta, rel=1e-9)
    # Twice the factor: odds 1/9 become 2 e / 9.
    odds = 2 * math.e / 9
    assert facts["beliefs"][1]["at_most"] == pytest.approx(odds / (1 + odds), rel=1e-9)
    assert facts["if_independent"]["delta"] == 1e-6
    words = lines(found)
    assert "except with a chance of at most 1 in 120 000" in words  # 1 / (3 delta) = 125 846
    assert "give away the whole record" in " ".join(found.section("chance").paragraphs)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_with_gaussian_noise(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, delta=1e-6, noise="gaussian", epsilon=2.0, spend=0.8)
    for round in range(2):
        before, document = explain(study), json.loads(study.release().certificate.to_json())
        found = explain(document)
        assert found.verdict == "VALID ASSUMING"
        differ = {key for key in before.facts if before.facts[key] != found.facts[key]}
        assert differ == {"subject", "verdict"}
        facts, level = found.facts, document["data_set"]["level"]
        assert facts["level"] == level
        assert facts["delta"] == document["data_set"].get("delta", 0) == 1e-6
        assert facts["odds_factor"] == pytest.approx(2 * math.exp(level), rel=1e-9)
        assert facts["if_independent"]["level"] <= level * (1 + 1e-9)
        assert facts["if_independent"]["delta"] == 1e-6
        assert facts["earlier_queries"] == round
        assert "except with a chance of at most 1 in 330 000" in lines(found)
        assert facts["limit"] == {
            "level": 2.0,
            "delta": 1e-6,
            "odds_factor": pytest.approx(2 * math.exp(2.0)),
            "exception": pytest.approx(3e-6),
        }
        assert "When the limits may be broken" in found.text()
        assert (facts["outside"] is not None) == (name == "gaussian")


def test_later_releases_may_have_a_delta_where_this_one_has_none(tmp_path: Path) -> None:
    study = chain_study(tmp_path, delta=1e-6, noise="laplace", epsilon=2.0, spend=0.8)
    found = explain(study.release())
    if found.facts["delta"] == 0.0:
        assert "When the limits may be broken" not in found.text()
    assert found.facts["limit"]["delta"] == 1e-6
    assert "1 in 330 000" in " ".join(found.section("counted").paragraphs)


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
    found = explain(report, population=population)
    assert found.facts["delta"] == report.best.delta > 0.0
    assert found.facts["exception"] == pytest.approx(3 * report.best.delta, rel=1e-12)
    assert found.facts["odds_factor"] == pytest.approx(2 * math.exp(report.best.epsilon), rel=1e-9)
    assert found.facts["if_independent"]["delta"] > 0.0
    assert found.facts["if_independent"]["level"] <= report.best.epsilon
    assert "delta = 0.000001" in lines(found)
    document = json.loads(conversion_certificate(population, report).to_json())
    certified = explain(document)
    assert certified.verdict == "VALID ASSUMING"
    for key in ("delta", "exception", "secrets", "if_independent"):
        assert certified.facts[key] == found.facts[key]
    assert bool(found.facts["secrets"]) == (name != "markov" and kind == "lipschitz")


def test_a_stated_delta_is_explained_from_its_certificate() -> None:
    pairs = parse({"model": "clusters", "size": 2})
    report = stated_report(Question(pairs), 0.5, 1e-6)
    document = json.loads(conversion_certificate(pairs, report).to_json())
    found, certified = explain(report, population=pairs), explain(document)
    assert certified.verdict == "VALID ASSUMING"
    assert certified.facts["delta"] == document["claim"]["delta"] > 2e-6
    assert certified.facts["if_independent"] == found.facts["if_independent"]
    assert found.facts["if_independent"]["delta"] == 1e-6


def test_a_large_delta_promises_almost_nothing() -> None:
    chain = parse({"model": "independent"})
    for delta, words in ((0.02, "weak promise"), (0.2, "almost nothing"), (0.9, "almost nothing")):
        found = explain(approximate(Question(chain), 0.1, delta), population=chain)
        assert words in " ".join(found.section("short").paragraphs)
    none = approximate(Question(parse({"model": "clusters", "size": 50})), 1.0, 1e-3)
    assert none.bounds == ()
    found = explain(none)
    assert found.facts["level"] is None
    assert found.facts["odds_factor"] is None
    assert "almost nothing" in lines(found)


def test_a_table_of_levels_without_its_population() -> None:
    gaussian = parse({"model": "gaussian", "size": 3, "max_correlation": 0.275})
    found = explain(gaussian.leakage(0.5, kind="lipschitz"))
    assert found.facts["outside"] is None
    assert "times the number of records" in lines(found)
    assert "isn't at hand" in lines(found)


# -- the machinery ---------------------------------------------------------------------------


def test_other_things_are_refused_and_new_kinds_can_be_added() -> None:
    with pytest.raises(InputError, match="explain"):
        explain(3)

    class Program:
        pass

    dispatcher.register(Program, lambda subject, population=None: Explanation("p", "x", (), {}))
    assert explain(Program()).title == "p"


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = certificate("family", tmp_path)
    Path("good.json").write_text(json.dumps(document))
    Path("bad.json").write_text(json.dumps(lie(document)))
    Path("twice.json").write_text('{"claim": 1, ' + json.dumps(document)[1:])
    Path("unknown.json").write_text(json.dumps(resealed(document | {"rounding": "by hand"})))
    Path("other.json").write_text("{}")

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["explain", *arguments])

    good = run("good.json")
    assert good.exit_code == 0
    assert good.stdout == explain(document).text()
    plain = run("good.json", "--json")
    assert json.loads(plain.stdout) == json.loads(json.dumps(explain(document).to_dict()))
    for name, verdict in (("bad", "INVALID"), ("twice", "INVALID"), ("unknown", "UNKNOWN")):
        found = run(f"{name}.json", "--json")
        assert found.exit_code == 1
        assert json.loads(found.stdout)["verdict"] == verdict
        assert run(f"{name}.json").exit_code == 1
    for name in ("other.json", "missing.json", "missing.toml"):
        found = run(name, "--json")
        assert found.exit_code == 2
        assert json.loads(found.stdout)["status"] == 2
        assert found.stderr.startswith("Error: ")


def test_a_study_file_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(
        '[data]\nsource = "nowhere.csv"\ndataset = "d"\nn = 10\n'
        "[data.columns]\nill = { states = [0, 1] }\n"
        '[population]\nmodel = "independent"\ncovers = ["ill"]\n[budget]\nepsilon = 0.5\n'
        '[[query]]\nname = "ill"\nkind = "count"\nwhere = "ill == 1"\n'
    )
    found = CliRunner().invoke(app, ["explain", "study.toml", "--json"])
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert told["verdict"] == "BEFORE RELEASE"
    assert told["facts"]["level"] == pytest.approx(0.5, rel=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
