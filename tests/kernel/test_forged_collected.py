"""Forged releases of perturbed answers: what agrees with itself, and not with what follows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.release import Study
from bayesdp.release.queries.collected import CollectedAnswers
from tests.kernel.test_forgeries import refused, renewed

Document = dict[str, Any]
Change = Callable[[Document], object]
TABLE = pd.DataFrame(
    {
        "s": ["no"] * 70 + ["yes"] * 20 + ["often"] * 10,
        "b": [True, False] * 50,
        "x": [float(i % 7) for i in range(100)],
        "g": ["a", "b"] * 50,
    }
)
COLUMNS: Document = {
    "s": {"states": ["no", "yes", "often"]},
    "b": {"states": [True, False]},
    "x": {"bounds": [0.0, 10.0]},
    "g": {"public": True, "states": ["a", "b"]},
}
ASKED: list[Document] = [
    {"name": "smokers", "kind": "randomized_response", "column": "s", "epsilon": 2.0},
    {"name": "again", "kind": "randomized_response", "column": "s", "epsilon": 2.0},
    {"name": "truths", "kind": "randomized_response", "column": "b", "epsilon": 1.0},
]
NUMBER = {"name": "total", "kind": "sum", "column": "x"}
STUDIES: dict[str, Document] = {
    "alone": {"queries": ASKED},
    "with noise": {"queries": [NUMBER, *ASKED[1:]], "times": 2},
    "zcdp": {"queries": [NUMBER, ASKED[0]], "budget": {"epsilon": 30.0, "delta": 1e-6,
             "noise": "gaussian"}},
    "dp": {"queries": ASKED[:1], "population": None, "budget": {"epsilon": 9.0, "notion": "dp"}},
}  # fmt: skip


@cache
def _released(name: str) -> str:
    declared: Document = {
        "dataset": "d",
        "n": 100,
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["s", "b", "x"], "source": "us"},
        "budget": {"epsilon": 20.0, "spend": 9.0},
    }
    made = declared | STUDIES[name]
    asked = {key: made[key] for key in made if key != "times"}
    with TemporaryDirectory() as folder:
        study = Study(TABLE, **asked, ledger=str(Path(folder) / "ledger.db"))
        for _ in range(made.get("times", 1)):
            certificate = study.release(again=True).certificate
    return str(certificate.to_json())


def released(name: str = "alone") -> Document:
    """A certificate of a release that reads perturbed answers."""
    document: Document = json.loads(_released(name))
    return document


@pytest.mark.parametrize("name", STUDIES)
def test_honest_ones_are_valid(name: str) -> None:
    verdict = kernel.check(released(name))
    assert verdict.verdict == "VALID ASSUMING", verdict


def steps(document: Document) -> list[Document]:
    step = document["derivation"]["premises"][0]
    while step["rule"] != "sequential-composition":
        step = step["premises"][0]
    premises: list[Document] = step["premises"]
    return premises


def query(number: int = 0, **keys: Any) -> Change:
    return lambda document: steps(document)[number]["evidence"]["query"].update(keys)


def spend(number: int = 0, **keys: Any) -> Change:
    return lambda document: steps(document)[number]["evidence"]["spend"].update(keys)


def concluded(number: int = 0, **keys: Any) -> Change:
    return lambda document: steps(document)[number]["conclusion"].update(keys)


def result(place: int = 0, **keys: Any) -> Change:
    return lambda document: document["results"][place].update(keys)


def between(place: int = 0, **moved: int) -> Change:
    """An interval whose ends are moved by so many records."""

    def change(document: Document) -> None:
        stated = document["results"][place]["between"]
        stated |= {name: stated[name] + by for name, by in moved.items()}

    return change


def column(name: str = "s", **keys: Any) -> Change:
    return lambda document: document["columns"][name].update(keys)


def both(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for each in changes:
            each(document)

    return change


def weaker_answers(document: Document) -> None:
    """A smaller epsilon everywhere but in what the estimates are made with."""
    for number in (0, 1):
        both(
            query(number, epsilon=1.5),
            spend(number, dp_epsilon=1.5),
            concluded(number, epsilon=1.5),
        )(document)
    for shown in document["results"][:6]:
        shown["dp_epsilon"] = 1.5
    document["collected"][1]["epsilon"] = 1.5
    (level,) = document["derivation"]["premises"]
    level["premises"][0]["conclusion"]["epsilon"] = 2.5
    level["evidence"]["cost"]["any"] = 2.5
    for holder in (document["claim"], document["data_set"]):
        holder["dp_epsilon"] = 2.5


def others_epsilon(document: Document) -> None:
    """Two queries of the same answers say other things of how these were perturbed."""
    both(query(1, epsilon=1.5), spend(1, dp_epsilon=1.5), concluded(1, epsilon=1.5))(document)
    (level,) = document["derivation"]["premises"]
    level["premises"][0]["conclusion"]["epsilon"] = 4.5
    level["evidence"]["cost"]["any"] = 4.5
    for holder in (level["conclusion"], document["derivation"]["conclusion"], document["claim"]):
        holder["epsilon"] = 4.5
    for holder in (document["claim"], document["data_set"]):
        holder["dp_epsilon"] = 4.5
    document["data_set"]["level"] = 4.5
    for shown in document["results"][3:6]:
        made = CollectedAnswers(shown["answers"], 100, 3, 1.5)
        low, high = made.interval(0.95)
        shown |= {"dp_epsilon": 1.5, "value": made.estimate, "share": made.estimate / 100}
        shown["between"] |= {"low": low, "high": high}


def another_answer(document: Document) -> None:
    """One more answer, with the estimate and the interval that follow."""
    _answers(document, 0, 1)


def _answers(document: Document, place: int, more: int) -> None:
    shown = document["results"][place]
    made = CollectedAnswers(shown["answers"] + more, 100, 3, 2.0)
    low, high = made.interval(0.95)
    shown |= {"answers": made.answers, "value": made.estimate, "share": made.estimate / 100}
    shown["between"] |= {"low": low, "high": high}


def other_answers(document: Document) -> None:
    """The same answers, counted otherwise by a second query."""
    _answers(document, 3, 1)
    _answers(document, 4, -1)


def free(document: Document) -> None:
    """Answers that cost nothing."""
    document["derivation"]["premises"][0]["conclusion"]["epsilon"] = 0.0
    spend(dp_epsilon=0.0)(document)
    concluded(epsilon=0.0)(document)


def later_noise(document: Document) -> None:
    premises = steps(document)
    premises.append(premises.pop(0))


def persons(document: Document) -> None:
    document["columns"]["g"] = {"public": True}
    document |= {"unit": "g", "rows_per_unit": 1}
    for step in steps(document):
        step["evidence"]["spend"]["unit"] = "g"


def _cut(document: Document) -> None:
    """A column derived from numbers."""
    document["columns"]["s"] = {"from": "x", "cuts": [2.0, 5.0]}
    spend(column="x", reads=["x"])(document)
    for state, shown in enumerate(document["results"]):
        shown["cell"] = state


FORGED: dict[str, tuple[str, Change, str]] = {
    "smaller-epsilon": ("alone", weaker_answers, "estimate"),
    "two-epsilons": ("alone", others_epsilon, "epsilon of the same answers"),
    "no-cost": ("alone", free, "not exactly one cost"),
    "spend-lower": ("alone", spend(dp_epsilon=1.0), "cost"),
    "concluded-lower": ("alone", concluded(epsilon=1.0), "conclusion"),
    "zcdp-beside": ("zcdp", concluded(1, rho=0.1), "zCDP"),
    "lipschitz": ("alone", concluded(kind="lipschitz"), "kind"),
    "other-column": ("alone", spend(column="b", reads=["b"]), "column"),
    "other-data-set": ("alone", spend(dataset="e"), "dataset"),
    "other-unit": ("alone", spend(unit="g"), "unit"),
    "other-name": ("alone", spend(query="answers"), "query"),
    "other-mechanism": ("alone", spend(mechanism="discrete-laplace"), "another mechanism"),
    "of-no-column": ("alone", spend(column=None), "of one column"),
    "reads-nothing": ("alone", spend(reads=[]), "of one column"),
    "part-of-the-records": (
        "alone",
        spend(block={"column": "g", "values": ["a"]}),
        "of one column, of all records",
    ),
    "undeclared": ("alone", query(column="t"), "not declared"),
    "numbers": ("alone", query(column="x"), "declared states"),
    "cut": ("dp", _cut, "declared states"),
    "public": ("dp", column(public=True), "private column"),
    "imputed": ("alone", column(missing={"impute": "no"}), "nobody answered"),
    "others": ("alone", column(other="often"), "nobody answered"),
    "one-state": ("dp", column(states=["no"]), ""),
    "persons": ("dp", persons, "several rows"),
    "epsilon-too-large": ("alone", query(epsilon=101.0), "100"),
    "estimate": ("alone", result(value=70.0, share=0.7), "estimate"),
    "share": ("alone", result(share=0.7), "share"),
    "answers": ("alone", result(answers=71), "estimate"),
    "one-more-answer": ("dp", another_answer, "number of answers"),
    "counted-otherwise": ("alone", other_answers, "answers of the same column"),
    "low-higher": ("alone", between(low=1), "too narrow"),
    "high-lower": ("alone", between(high=-1), "too narrow"),
    "low-lower": ("alone", between(low=-1), "wider"),
    "high-higher": ("alone", between(1, high=1), "wider"),
    "beyond-all": ("alone", between(high=100), "no number of records"),
    "surer": ("alone", lambda d: d["results"][0]["between"].update(confidence=0.999), "narrow"),
    "cost-of-a-result": ("alone", result(dp_epsilon=1.0), "DP cost"),
    "other-state": ("alone", result(cell="yes"), "state"),
    "number-for-truth": ("alone", result(6, cell=1), "state"),
    "other-query": ("alone", result(query="again"), "state"),
    "no-result": ("alone", lambda d: d["results"].pop(), "number of estimates"),
    "fewer-described": ("alone", lambda d: d["collected"].pop(), "perturbed answers"),
    "described-otherwise": (
        "alone",
        lambda d: d["collected"][0].update(epsilon=0.5),
        "perturbed answers",
    ),
    "noise-after-answers": ("with noise", later_noise, "after all noise"),
    "result-before": ("with noise", lambda d: d["results"].insert(0, d["results"].pop()), "first"),
    "many-records": ("alone", lambda d: d.update(n=2**40), "more states and records than are"),
    "more-records": ("alone", lambda d: d.update(n=101), ""),
    "paid-by-nobody": ("with noise", lambda d: d["claim"].update(dp_epsilon=1.0), "claim"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_answers_are_refused(name: str) -> None:
    study, change, reason = FORGED[name]
    document = released(study)
    before = json.dumps(document)
    change(document)
    assert json.dumps(document) != before
    refused(renewed(document), "", reason)


def test_answers_are_paid_for_once() -> None:
    """Two queries and two releases of the same answers, and the sums on the certificate."""
    document = released("with noise")
    (noise, *_), state = steps(document), document["data_set"]
    own = noise["conclusion"]["epsilon"]
    assert document["claim"]["dp_epsilon"] == pytest.approx(own + 3.0, rel=1e-9)
    assert len(state["earlier_spends"]) == 3
    assert state["dp_epsilon"] == pytest.approx(2 * own + 3.0, rel=1e-9)


@pytest.mark.parametrize("change", [{"column": "b", "reads": ["b"]}, {"dp_epsilon": 1.5}])
def test_other_answers_are_paid_for_too(change: Document) -> None:
    """An earlier spend on answers of another column, or at another cost, adds to the sum."""
    document = released("with noise")
    earlier = next(
        spend for spend in document["data_set"]["earlier_spends"] if spend["column"] == "s"
    )
    earlier |= change
    if "column" in change:
        earlier["dp_epsilon"] = 1.25
    refused(renewed(document), "", "")


def test_noise_is_not_paid_for_once() -> None:
    """Equal spends of another mechanism are two."""
    document = released("with noise")
    for name in ("claim", "data_set"):
        stated = copy.deepcopy(document)
        stated[name]["dp_epsilon"] -= 0.5
        refused(renewed(stated), "", "")
