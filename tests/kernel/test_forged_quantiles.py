"""Forged releases of quantiles: what agrees with itself, and not with what the kernel derives."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.steps.tails import choice_tail
from bayesdp.mechanisms import ExponentialMechanism, PermuteAndFlip
from bayesdp.numbers import float_above
from bayesdp.release import Study
from tests.kernel.test_forgeries import refused, renewed

Document = dict[str, Any]
Change = Callable[[Document], object]
TABLE = pd.DataFrame(
    {
        "who": [1, 1, 2, 2, 3, 4],
        "x": [1.0, 2.5, 4.0, 9.0, 3.0, 0.0],
        "s": [3, 1, 2, 2, 3, 1],
        "g": ["a", "b"] * 3,
    }
)
COLUMNS: Document = {
    "x": {"bounds": [0.0, 10.0], "unit": "kg"},
    "s": {"states": [3, 1, 2]},
    "g": {"public": True, "states": ["a", "b"]},
}
QUERIES = [
    {"name": "median", "kind": "median", "column": "x", "step": 2.5},
    {
        "name": "high",
        "kind": "quantile",
        "column": "s",
        "probability": 0.9,
        "by": "g",
        "where": "x > 1",
    },
]
PERSONS = {"unit": "who", "rows_per_unit": 2, "n": 4}
STUDIES: dict[str, Document] = {
    "pure": {"budget": {"epsilon": 4.0}},
    "zcdp": {"budget": {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}},
    "dp": {
        "budget": {"epsilon": 4.0, "notion": "dp"},
        "population": None,
        "queries": [QUERIES[1] | {"where": None, "by": None}],
    },
    "persons": {"budget": {"epsilon": 4.0}, **PERSONS},
    "persons zcdp": {"budget": {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}, **PERSONS},
}


@cache
def _released(name: str) -> str:
    columns = COLUMNS | ({"who": {"public": True}} if "persons" in name else {})
    declared: Document = {
        "dataset": "d",
        "n": 6,
        "columns": columns,
        "population": {"model": "independent", "covers": ["x", "s"], "source": "us"},
        "queries": QUERIES,
        "ledger": str(Path(mkdtemp(prefix="bayesdp-quantiles-")) / "ledger.db"),
    }
    document = json.loads(
        Study(TABLE, **(declared | STUDIES[name])).release().certificate.to_json()
    )
    return json.dumps(document)


def released(name: str = "pure") -> Document:
    """A certificate of two quantiles, the second one by groups."""
    document: Document = json.loads(_released(name))
    return document


@pytest.mark.parametrize("name", STUDIES)
def test_honest_ones_are_valid(name: str) -> None:
    verdict = kernel.check(released(name))
    assert verdict.verdict == "VALID ASSUMING", verdict


def steps(document: Document) -> list[Document]:
    (step,) = document["derivation"]["premises"]
    while step["rule"] != "sequential-composition":
        (step,) = step["premises"]
    premises: list[Document] = step["premises"]
    return premises


def evidence(document: Document, number: int = 0) -> Document:
    stated: Document = steps(document)[number]["evidence"]
    return stated


def query(number: int = 0, **keys: Any) -> Change:
    return lambda document: evidence(document, number)["query"].update(keys)


def result(place: int = 0, **keys: Any) -> Change:
    return lambda document: document["results"][place].update(keys)


def sensitivity(share: Fraction, number: int = 0) -> Change:
    """A smaller move of the scores, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        squared = "sensitivity_squared" in stated
        name = "sensitivity_squared" if squared else "sensitivity"
        before = stated[name]
        stated[name] = math.floor(before * (share**2 if squared else share))
        factor = math.sqrt(stated[name] / before) if squared else stated[name] / before
        less_noise(factor, number)(document)

    return change


def less_noise(factor: float, number: int = 0) -> Change:
    """A smaller scale in the step and its results, whose errors are as small as that scale's."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        scale = math.nextafter(stated["scale"] * factor, math.inf)
        stated["scale"] = scale
        pure = steps(document)[number]["rule"] == "permute-and-flip"
        law = PermuteAndFlip if pure else ExponentialMechanism
        for shown in document["results"]:
            if shown["query"] == stated["query"]["name"]:
                many = len(stated["query"].get("candidates") or (1, 2, 3))
                error = law(scale, many).quantile(0.95) * Fraction(*stated["step"])
                shown["noise"]["scale"] = scale
                shown["rank_error"]["rows"] = float(error)

    return change


def asked_again(document: Document, share: float) -> None:
    """Another probability of the first quantile, with everything that follows from it."""
    stated, (shown, *_) = evidence(document), document["results"]
    parts = Fraction(str(share)).denominator
    stated["query"]["probability"] = share
    factor = parts // stated["sensitivity"]
    stated |= {"sensitivity": parts, "step": [1, parts], "scale": stated["scale"] * factor}
    k = PermuteAndFlip(stated["scale"], len(stated["query"]["candidates"])).quantile(0.95)
    shown["noise"] |= {"scale": stated["scale"], "step": 1 / parts}
    shown["rank_error"]["rows"] = float_above(Fraction(k, parts))


def test_another_probability_is_valid_with_what_follows() -> None:
    """What is asked is the statement itself: only the largest ranks have no room."""
    document = released()
    asked_again(document, 0.123457)
    assert kernel.check(renewed(document))
    document["n"] = 2**45
    refused(renewed(document), "", "64-bit")
    document = released()
    document["n"] = 2**45
    assert kernel.check(renewed(document))


def squared_move(value: int, number: int) -> Change:
    """The square of a move, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        factor = math.sqrt(value / stated["sensitivity_squared"])
        stated["sensitivity_squared"] = value
        less_noise(factor, number)(document)

    return change


def _other_scale(document: Document) -> None:
    """The result's own noise is less, and so is its error."""
    shown = document["results"][0]
    scale = shown["noise"]["scale"] / 2
    shown["noise"]["scale"] = scale
    shown["rank_error"]["rows"] = PermuteAndFlip(scale, 5).quantile(0.95) / 2


def _pure_result(document: Document) -> None:
    shown = document["results"][0]
    shown["noise"]["distribution"] = "permute-and-flip"
    shown["dp_epsilon"] = shown.pop("dp_rho")


def _public_states(document: Document) -> None:
    document["columns"]["s"]["public"] = True
    for stated in (evidence(document)["spend"],):
        stated["reads"] = []


def probability(value: float, number: int = 0) -> Change:
    """Another quantile was asked, whose steps are as they are for the true one."""
    return query(number, probability=value)


def finer_candidates(document: Document) -> None:
    """More candidates than the error is about."""
    many = [0.0, 1.0, 2.5, 5.0, 6.0, 7.5, 8.0, 9.0, 10.0]
    evidence(document)["query"]["candidates"] = many


def more_groups(document: Document) -> None:
    evidence(document, 1)["query"].pop("by")


def number_instead(document: Document) -> None:
    """A count's step about the quantile, at the same cost."""
    step = steps(document)[0]
    step["rule"] = "discrete-laplace"
    step["evidence"]["spend"]["mechanism"] = "discrete-laplace"


def choice_of_a_count(document: Document) -> None:
    """A quantile's step about a count."""
    asked = evidence(document)["query"]
    for key in ("column", "probability", "candidates"):
        del asked[key]
    asked |= {"kind": "count", "where": "x > 1"}
    document["results"][0] |= {"kind": "count", "unit": ""}


def spend(number: int = 0, **keys: Any) -> Change:
    return lambda document: evidence(document, number)["spend"].update(keys)


def _rows(more: float) -> Change:
    def change(document: Document) -> None:
        document["results"][0]["rank_error"]["rows"] += more

    return change


def _half_a_step(document: Document) -> None:
    evidence(document)["step"] = [1, 4]
    document["results"][0]["noise"]["step"] = 0.25
    document["results"][0]["rank_error"]["rows"] /= 2


def _kinds(document: Document) -> None:
    steps(document)[0]["conclusion"]["kind"] = "lipschitz"
    spend(kind="lipschitz", interval=[0.0, 10.0], reads=["x"], column="x")(document)


FORGED: dict[str, tuple[str, Change, str]] = {
    "smaller-move": ("pure", sensitivity(Fraction(1, 2)), "is due"),
    "smaller-move-of-a-group": ("pure", sensitivity(Fraction(9, 10), 1), "is due"),
    "smaller-move-zcdp": ("zcdp", sensitivity(Fraction(1, 2)), "is due"),
    "smaller-move-of-persons": ("persons", sensitivity(Fraction(1, 2)), "is due"),
    "not-divided": ("persons", sensitivity(Fraction(10, 18), 1), "is due"),
    "not-divided-zcdp": ("persons zcdp", squared_move(400, 1), "648 is due"),
    "less-noise": ("pure", less_noise(0.5), "is what follows"),
    "a-hair-less-noise": ("pure", less_noise(1 - 1e-9), "is what follows"),
    "less-noise-zcdp": ("zcdp", less_noise(0.9, 1), "is what follows"),
    "another-probability": ("pure", probability(0.25), "is due"),
    "probability-of-one": ("pure", probability(1.0), "less than 1"),
    "probability-of-many-digits": ("pure", probability(0.12345678), "six decimals"),
    "no-probability": ("pure", lambda d: evidence(d)["query"].pop("probability"), "probability"),
    "candidate-above": ("pure", query(candidates=[0.0, 2.5, 5.0, 7.5, 11.0]), "outside"),
    "candidate-below": ("pure", query(candidates=[-1.0, 2.5, 5.0, 7.5, 10.0]), "outside"),
    "candidates-in-disorder": ("pure", query(candidates=[0.0, 5.0, 2.5, 7.5, 10.0]), "increase"),
    "one-candidate": ("pure", query(candidates=[5.0]), "at least 2"),
    "no-candidates": ("pure", lambda d: evidence(d)["query"].pop("candidates"), "candidate"),
    "candidates-beside-states": ("pure", query(1, candidates=[1.0, 2.0]), "beside the states"),
    "more-candidates": ("pure", finer_candidates, "understated"),
    "value-between": ("pure", result(value=3.0), "not a candidate"),
    "value-of-no-state": ("pure", result(1, value=2.5), "not a candidate"),
    "rank-less": ("pure", _rows(-0.5), "understated"),
    "rank-more": ("pure", _rows(0.5), "overstated"),
    "rank-between-steps": ("pure", _rows(0.2), "number of steps"),
    "finer-steps": ("pure", _half_a_step, "step"),
    "other-unit": ("pure", result(unit="g"), "unit"),
    "other-group": ("pure", result(1, group="c"), "stands where"),
    "fewer-groups": ("pure", more_groups, "number of results"),
    "a-cell": ("pure", result(cell=1.0), "does not belong"),
    "an-error": ("pure", result(error={"confidence": 0.95, "value": 1.0}), "does not belong"),
    "other-noise": (
        "pure",
        lambda d: d["results"][0]["noise"].update(distribution="exponential-mechanism"),
        "another kind",
    ),
    "result-of-less-noise": ("pure", _other_scale, "scale"),
    "result-of-other-steps": (
        "pure",
        lambda d: d["results"][0]["noise"].update(step=0.25),
        "step of the noise",
    ),
    "pure-result": ("zcdp", _pure_result, "distribution"),
    "states-of-texts": (
        "pure",
        lambda d: d["columns"]["s"].update(states=["3", "1", "2"]),
        "not one of numbers",
    ),
    "public-states": ("dp", _public_states, "public column"),
    "noise-of-a-count": ("pure", number_instead, "chosen"),
    "choice-of-a-count": ("pure", choice_of_a_count, ""),
    "cost-lower": ("pure", result(dp_epsilon=1.0), "DP cost"),
    "spend-lower": ("pure", spend(dp_epsilon=1.0), ""),
    "spend-of-other-mechanism": ("pure", spend(mechanism="discrete-laplace"), "mechanism"),
    "spend-without-condition": ("pure", spend(1, reads=["s"]), "reads"),
    "lipschitz": ("pure", _kinds, "Lipschitz"),
    "public-column": ("pure", query(column="g"), ""),
    "sharper-mechanism": ("pure", query(tightness="mechanism"), "tightness"),
    "pure-cost-of-zcdp": (
        "zcdp",
        lambda d: steps(d)[0]["conclusion"].update(epsilon=0.1),
        "pure cost",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_quantiles_are_refused(name: str) -> None:
    study, change, reason = FORGED[name]
    document = released(study)
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    refused(renewed(document), "", reason)


def test_mixed_noise_is_refused() -> None:
    """A pure choice in a release whose other noise is Gaussian."""
    document = released("zcdp")
    document["derivation"]["premises"][0]["premises"][0]["premises"][0] = steps(released())[0]
    refused(renewed(document), "", "noise of two kinds")


@pytest.mark.parametrize("law", [PermuteAndFlip, ExponentialMechanism])
def test_the_kernel_s_tail_is_that_of_the_tool(law: Any) -> None:
    """The tool writes the least error that the kernel's bound allows."""
    name = {PermuteAndFlip: "permute-and-flip"}.get(law, "exponential-mechanism")
    allowed = ball(1 - Fraction(0.95))
    for scale in (0.25, 1.0, 7.3, 1234.5, 2.0**40 / 3):
        for candidates in (2, 17, 2000):
            k = law(scale, candidates).quantile(0.95)
            exact = Fraction(scale)
            assert bool(choice_tail(name, candidates, exact, k) <= allowed)
            assert k == 0 or not bool(choice_tail(name, candidates, exact, k - 1) <= allowed)
