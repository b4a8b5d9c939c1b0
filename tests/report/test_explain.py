"""What `explain` says is what the numbers say, and never more. Whole texts are golden."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesdp
from bayesdp import explain
from bayesdp.accounting.costs.composition import level
from bayesdp.certificate import Certificate, Step, content_of, digest
from bayesdp.cli import app
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.populations import MarkovChain, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.report.circumstances import counted
from bayesdp.report.explain import Explanation
from bayesdp.report.explain import explain as dispatcher
from bayesdp.report.numbers import level_words
from bayesdp.report.promise import PromiseStatus, of_document
from bayesdp.report.reach import LevelAtDelta
from tests.golden.packed import Packed
from tests.kernel import honest
from tests.report.explained import chain_study, dp_study, family_study, gaussian_study

GOLDEN = Packed("explained")
STUDIES = {
    "dp": dp_study,
    "family": family_study,
    "chain": chain_study,
    "gaussian": gaussian_study,
}
PRIORS = (0.01, 0.1, 0.5)


def lines(explanation: Explanation) -> str:
    """The text on one line, so that line breaks don't matter."""
    return " ".join(explanation.text().split())


def certificate(name: str, folder: Path) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(STUDIES[name](folder).release().certificate.to_json())
    return plain


def resealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """With the digest of its content, as somebody who lies would write it."""
    return {**document, "digest": digest(content_of(document))}


# -- certificates and studies ----------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_the_texts_are_golden(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path)
    if name == "chain":
        study.release()
    text = explain(study if name == "dp" else study.release(again=True)).text()
    GOLDEN.compare(name, text)
    assert set(GOLDEN.texts()) == set(STUDIES)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", STUDIES)
def test_numbers_are_those_of_the_claim(name: str, tmp_path: Path) -> None:
    document = certificate(name, tmp_path)
    explanation = explain(document)
    facts, epsilon = explanation.facts, document["claim"]["epsilon"]
    assert explanation.verdict == "VALID ASSUMING"
    assert explanation.holds
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
    words = lines(explanation)
    assert f"at most {math.ceil(1000 * ten['at_most']) / 10:g} % likely" in words
    assert f"at least {math.floor(1000 * ten['at_least']) / 10:g} % likely" in words
    assert f"adversary '{facts['adversary']}'" in words or name == "dp"
    if name != "dp":
        cost = level_words(document["data_set"]["dp_epsilon"])
        assert f"the level {cost} (odds" in words


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_explained_as_its_certificate_will_be(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, spend=0.4)
    for earlier in range(2):
        before, certified = explain(study), explain(study.release(again=True))
        assert before.verdict == "BEFORE RELEASE"
        assert ("repeats" in before.facts) == (earlier == 1)
        before.facts.pop("repeats", None)
        differ = {key for key in before.facts if before.facts[key] != certified.facts[key]}
        assert differ == {"subject", "verdict", "assumptions"}
        more = set(certified.facts["assumptions"]) - set(before.facts["assumptions"])
        assert {" ".join(item.split()[:2]) for item in more} == {"the release", "its debit"}
    assert certified.facts["earlier_queries"] == 1


@pytest.mark.parametrize("name", STUDIES)
def test_all_releases_of_the_data_set_are_counted(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path, spend=0.4)
    first, second = explain(study.release()), explain(study.release(again=True))
    facts = second.facts
    assert facts["this_release"] == first.facts["this_release"]
    assert facts["this_release"]["level"] <= 0.4 < facts["level"]
    assert facts["if_independent"]["level"] == pytest.approx(
        2 * first.facts["if_independent"]["level"]
    )
    words = lines(second)
    assert "1 earlier query of the same data set" in words
    assert "This release alone has the level" in words
    assert "now and before" in words
    most = max(row["at_most"] for row in facts["beliefs"])
    assert f"{math.ceil(1000 * most) / 10:g} %" in words
    assert "Before it nothing was released" in lines(first)


@pytest.mark.parametrize("study", [gaussian_study, dp_study])
def test_a_spent_budget_with_a_delta_leaves_nothing(study: Any, tmp_path: Path) -> None:
    """A release alone has a lower level than the ledger counts, which has nothing left."""
    made = study(tmp_path, noise="gaussian", delta=1e-6)
    document = json.loads(made.release().certificate.to_json())
    (reading,) = made.ledger().show()[0]["readings"]
    assert document["data_set"]["level"] < reading["total"] * (1.0 - 1e-4)
    assert reading["left"] < 1e-6
    paragraph = " ".join(explain(document).section("counted").paragraphs)
    assert "used up: this program refuses further ones" in paragraph
    assert "Once later" not in paragraph
    # A mixture, whose pure part may have been counted in two ways, isn't judged from here.
    promise = of_document(document, PromiseStatus("VALID ASSUMING"))
    (text,) = counted(replace(promise, counted=None)).paragraphs[1:]
    assert "little or nothing of that may be left" in text
    larger = counted(replace(promise, limit=LevelAtDelta(10.0, 1e-6)))
    assert "Once later releases have used that up" in larger.paragraphs[1]


def test_a_family_may_have_no_level_beyond_what_its_ledger_was_fixed_for(tmp_path: Path) -> None:
    """A ledger fixes its orders for its total: a little more has no level, though some is left."""
    made = family_study(tmp_path, noise="gaussian", delta=1e-6)
    plan = made.check().plan
    assert level(plan.reading, plan.spends) < plan.reading.total
    more = [replace(spend, rho=1.02 * spend.rho) for spend in plan.spends]
    assert level(plan.reading, more) == math.inf


def test_a_study_is_explained_without_data_and_without_a_trace(tmp_path: Path) -> None:
    class Guarded:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"the table was touched: {name}")

    study = chain_study(tmp_path)
    study._data = dataclasses.replace(study._data, source=Guarded())
    explanation = explain(study)
    assert "no data were read" in lines(explanation)
    assert list(tmp_path.iterdir()) == []


def test_a_study_over_its_budget_is_not_promised(tmp_path: Path) -> None:
    study = family_study(tmp_path)
    study.release()
    explanation = explain(study)
    assert explanation.verdict == "REFUSED"
    assert not explanation.holds
    assert "NOT PROMISED" in explanation.text()
    assert "(claimed only)" in explanation.section("promise").title


# -- what must be named --------------------------------------------------------------------


def items(explanation: Explanation) -> str:
    return " ".join(explanation.section("not_promised").items)


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
    assert ("in another way than described" in said) == (name != "dp")
    assert ("Which of the possible descriptions" in said) == (name == "family")
    assert ("outside the stated interval" in said) == (name == "gaussian")
    assert ("does not know all the other records" in said) == (name == "dp")
    public = {"dp": "'ward'", "family": "'couple'", "chain": "'day'", "gaussian": "'sex'"}
    assert public[name] in said
    assert ("'weight'" in said) == (name == "gaussian")  # a column that nobody spoke of


def test_a_dp_level_speaks_of_related_records(tmp_path: Path) -> None:
    explanation = explain(dp_study(tmp_path))
    level = explanation.facts["level"]
    for related, size in zip(explanation.facts["related_records"], (2, 5), strict=True):
        assert related["records"] == size
        assert related["level"] == pytest.approx(size * level, rel=1e-12)
        assert related["level"] >= size * level
    assert explanation.facts["scope"] == "all populations"
    assert explanation.facts["adversary"] == "informed"
    # e^2 / (9 + e^2) = 0.4509 and e^5 / (9 + e^5) = 0.9429, up; 1 / (1 + 9 e^2) = 0.0148, down.
    # 1 / (1 + 9 e^5) = 0.000748, down; 1 / (1 + e^2) = 0.1192 and 1 / (1 + e^5) = 0.00669, down.
    assert [row[1:3] for row in explanation.section("related").table[1:]] == [
        ("1.4 % to 45.1 %", "11.9 % to 88.1 %"),
        ("0.074 % to 94.3 %", "0.6 % to 99.4 %"),
    ]
    assert "more than these limits" in lines(explanation)


def test_secrets_outside_the_interval_have_a_level_of_their_own(tmp_path: Path) -> None:
    explanation = explain(gaussian_study(tmp_path).release())
    assert explanation.facts["secrets"] == [
        {"column": "height", "interval": [120.0, 220.0], "unit": "cm"}
    ]
    assert "from 120 to 220 cm" in lines(explanation)
    outside = explanation.facts["outside"]["level"]
    assert outside == pytest.approx(3 * explanation.facts["if_independent"]["level"], rel=1e-12)
    most = math.exp(outside) / (9 + math.exp(outside))
    assert f"at most {math.ceil(1000 * most) / 10:g} %" in " ".join(
        explanation.section("secrets").paragraphs
    )


def test_unbounded_secrets_need_no_interval(tmp_path: Path) -> None:
    explanation = explain(gaussian_study(tmp_path, secrets="unbounded").release())
    assert explanation.facts["secrets"] == []
    assert explanation.facts["outside"] is None
    assert "of one record, whatever its value" in lines(explanation)
    assert "secrets" not in [section.key for section in explanation.sections]


def test_vectors_have_an_interval_for_each_column() -> None:
    rng = np.random.default_rng(2)
    made = honest.conversion_by(rng, "gaussian-vector")
    while made.document["claim"]["adversary"] == "informed":
        made = honest.conversion_by(rng, "gaussian-vector")
    facts = explain(made.document).facts
    assert [fact["interval"] for fact in facts["secrets"]] == [[0.0, 2.0], [1.0, 6.5]]
    size = made.document["population"]["size"]
    assert facts["outside"]["level"] == pytest.approx(
        size * made.document["claim"]["dp_epsilon"], rel=1e-12
    )


def test_facts_about_a_whole_series_have_a_level(tmp_path: Path) -> None:
    explanation = explain(chain_study(tmp_path).release())
    assert explanation.facts["related_at_most"] == 7
    assert explanation.facts["joint"]["level"] == pytest.approx(
        7 * explanation.facts["if_independent"]["level"], rel=1e-12
    )
    for key in ("protected", "short"):
        said = " ".join(explanation.section(key).paragraphs)
        assert "all rows with the same 'patient' (at most 7 rows)" in said
    # e^(7 * 0.5227...) at the DP level: the person's own figures stand in the summary.
    joint = math.exp(explanation.facts["joint"]["level"])
    assert f"10 % can become at most {math.ceil(1000 * joint / (9 + joint)) / 10:g} %" in said


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
    explanation = explain(chain_study(tmp_path, adversary=adversary))
    assert explanation.facts["adversary"] == adversary
    assert words in " ".join(explanation.section("attackers").paragraphs)
    said = items(explanation)
    for item in ("knows one or more of the other records", "does not know all the other records"):
        assert (item in said) == (item == missing)


@pytest.mark.parametrize("name", STUDIES)
def test_the_summary_says_what_it_depends_on(name: str, tmp_path: Path) -> None:
    short = " ".join(explain(STUDIES[name](tmp_path)).section("short").paragraphs)
    assert ("if records have nothing to do with each other" in short) == (name == "dp")
    assert ("takes records to be related as" in short) == (name != "dp")
    assert ("unsure which is right may learn more" in short) == (name == "family")
    assert "people in general are different from what they thought" in short
    assert short.startswith("One record is one row of the table")
    assert ("one 'day' of one 'patient'" in short) == (name == "chain")
    assert ("not for the person" in short) == (name == "dp")
    assert ("from 120 to 220 cm" in short) == (name == "gaussian")


def test_the_family_is_a_family(tmp_path: Path) -> None:
    explanation = explain(family_study(tmp_path))
    assert explanation.facts["scope"] == "a family of 2 populations"
    assert "sure of one of them, whichever that is" in lines(explanation)
    assert "no/no 56 %, no/yes 14 %, yes/no 14 %, yes/yes 16 %" in lines(explanation)
    single = explain(chain_study(tmp_path))
    assert single.facts["scope"] == "this population"


def test_who_vouches_is_quoted_as_one_line(tmp_path: Path) -> None:
    study = family_study(tmp_path)
    population = dict(study.spec.population.spec())
    source = "me\x1b[2J\nVERIFIED <b>by</b> 'God'" + "x" * 1000
    with pytest.raises(InputError, match="one line of visible letters"):
        parse({**population, "source": source})
    # What comes past that check is quoted in one line all the same.
    changed = study.spec.population.model_copy(update={"source": source})
    study.spec = study.spec.model_copy(update={"population": changed})
    explanation = explain(study)
    text = explanation.text()
    assert "\x1b" not in text
    assert '"me?[2J VERIFIED <b>by' in lines(explanation)
    assert "x" * 400 not in text.replace("\n", "")
    assert "<b>" not in explanation.html()
    assert "&lt;b&gt;" in explanation.html()
    study.spec = study.spec.model_copy(update={"population": parse({**population, "source": ""})})
    assert "Nobody is named who stated this" in lines(explain(study))


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
    explanation = explain(mutate(document))
    assert explanation.verdict == "INVALID"
    assert not explanation.holds
    assert set(explanation.facts) == {"verdict", "step", "reason"}
    assert [section.key for section in explanation.sections] == ["status"]
    assert "does not hold" in lines(explanation)
    for words in ("%", "at most", "odds", "What is promised"):
        assert words not in explanation.text()


def test_a_certificate_in_memory_is_checked_too(tmp_path: Path) -> None:
    document = certificate("chain", tmp_path)
    loaded = Certificate.from_dict(document)
    assert explain(loaded).holds
    body = dict(loaded.body) | {"claim": loaded.body["claim"] | {"adversary": "informed"}}
    assert explain(Certificate(body, loaded.derivation)).verdict == "INVALID"
    assert explain(Certificate({"claim": math.nan}, Step("release", {}))).verdict == "INVALID"


def test_an_unknown_certificate_is_a_claim_only(tmp_path: Path) -> None:
    document = certificate("chain", tmp_path)
    explanation = explain(resealed(document | {"rounding": "by hand"}))
    assert explanation.verdict == "UNKNOWN"
    assert not explanation.holds
    assert "NOT CHECKED" in explanation.text()
    assert "claims to promise" in explanation.title
    for key in ("short", "promise"):
        assert "(claimed only)" in explanation.section(key).title
    assert "was checked just now" not in lines(explanation)


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
    explanation = explain(resealed(document))
    assert not explanation.holds
    assert explanation.verdict in ("UNKNOWN", "INVALID")


def test_other_kinds_of_claims_are_refused_and_not_misread(monkeypatch: Any) -> None:
    chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=3)
    document = conversion_certificate(chain, chain.leakage(0.5)).to_dict()
    document["claim"]["notion"] = "bsp"
    valid = bayesdp.Verification("VALID ASSUMING")
    monkeypatch.setattr("bayesdp.report.promise.check", lambda document: valid)
    with pytest.raises(UnsupportedError, match="explain"):
        explain(document)


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
    for name, verdict in (
        ("bad", "INVALID"),
        ("twice", "INVALID"),
        ("unknown", "UNKNOWN"),
        ("other", "INVALID"),
    ):
        outcome = run(f"{name}.json", "--json")
        assert outcome.exit_code == 1
        assert json.loads(outcome.stdout)["verdict"] == verdict
        assert run(f"{name}.json").exit_code == 1
    for name in ("missing.json", "missing.toml"):
        outcome = run(name, "--json")
        assert outcome.exit_code == 2
        assert json.loads(outcome.stdout)["status"] == 2
        assert outcome.stderr.startswith("Error: ")


def test_a_program_file_is_checked_before_it_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "heights.py"
    path.write_text("import bayesdp\n")
    outcome = CliRunner().invoke(app, ["explain", str(path), "--json"])
    assert outcome.exit_code == 2
    remedy = f"`bayesdp program check {path} --certificate OUT`, then `bayesdp explain OUT`"
    assert remedy in json.loads(outcome.stdout)["error"]


def test_a_study_file_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(
        '[data]\nsource = "nowhere.csv"\ndataset = "d"\nn = 10\n'
        "[data.columns]\nill = { states = [0, 1] }\n"
        '[population]\nmodel = "independent"\ncovers = ["ill"]\n[budget]\nepsilon = 0.5\n'
        '[[query]]\nname = "ill"\nkind = "count"\nwhere = "ill == 1"\n'
    )
    outcome = CliRunner().invoke(app, ["explain", "study.toml", "--json"])
    assert outcome.exit_code == 0
    plain = json.loads(outcome.stdout)
    assert plain["verdict"] == "BEFORE RELEASE"
    assert plain["facts"]["level"] == pytest.approx(0.5, rel=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
