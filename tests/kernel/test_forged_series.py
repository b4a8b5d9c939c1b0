"""Forged releases of series: what agrees with itself, and not with what the kernel derives."""

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
from bayesdp.kernel.costs.series import PeriodSums, due_multiple, share, tail
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.combined_noise import multiple, share_of
from bayesdp.mechanisms.series import SeriesStrategy, names_for, root_column, series_strategy
from bayesdp.release import Study
from bayesdp.release.queries.series import answer_error
from tests.kernel.test_forged_quantiles import evidence, query, spend, steps
from tests.kernel.test_forgeries import refused, renewed
from tests.oracles.series import furthest

Document = dict[str, Any]
Change = Callable[[Document], object]
DAYS = list("abcdefg")
TABLE = pd.DataFrame(
    {
        "who": [1, 1, 1, 2, 2, 3, 4, 5],
        "x": [1.0, -2.5, 4.0, 9.0, 3.0, 0.0, 2.0, 7.0],
        "s": [3, 1, 2, 2, 3, 1, 4, 5],
        "g": [*DAYS, "a"],
    }
)
COLUMNS: Document = {
    "x": {"bounds": [-2.0, 8.0], "unit": "kg"},
    "s": {"states": [1, 2, 3, 4, 5]},
    "g": {"public": True, "states": DAYS},
}
FAR = {"name": "far", "kind": "series", "by": "g", "where": "s > 2"}
QUERIES = [
    FAR | {"strategy": "tree"},
    FAR | {"name": "sums", "column": "x", "answers": "ranges", "strategy": "tree"},
    {"name": "states", "kind": "series", "column": "s", "strategy": "tree"},
    FAR | {"name": "each", "answers": "periods", "strategy": "identity"},
    FAR | {"name": "kept", "column": "x", "where": None, "strategy": "identity"},
]
ROOTS = [
    QUERIES[0] | {"strategy": "square-root"},
    QUERIES[2] | {"name": "root", "strategy": "square-root"},
]
GAUSSIAN = {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}
CAPPED = {"unit": "who", "max_rows": 3, "n": 5}
TWO_DAYS = {"max_rows_per_group": 1, "max_groups": 2}
STUDIES: dict[str, Document] = {
    "pure": {},
    "zcdp": {"budget": GAUSSIAN, "queries": [*ROOTS, *QUERIES[1:]]},
    "persons": CAPPED | {"queries": [QUERIES[0] | {"max_rows_per_group": 1}, *QUERIES[1:3]]},
    "persons zcdp": CAPPED | {"budget": GAUSSIAN, "queries": [ROOTS[0] | TWO_DAYS, *QUERIES[1:3]]},
    "alone": {"queries": QUERIES[3:4]},
}


@cache
def _released(name: str) -> str:
    columns = COLUMNS | ({"who": {"public": True}} if "persons" in name else {})
    declared: Document = {
        "dataset": "d",
        "n": 8,
        "columns": columns,
        "population": {"model": "independent", "covers": ["x", "s"], "source": "us"},
        "queries": QUERIES,
        "budget": {"epsilon": 4.0},
        "ledger": str(Path(mkdtemp(prefix="bayesdp-series-")) / "ledger.db"),
    }
    document = json.loads(
        Study(TABLE, **(declared | STUDIES[name])).release().certificate.to_json()
    )
    return json.dumps(document)


def released(name: str = "pure") -> Document:
    """A certificate of several series."""
    document: Document = json.loads(_released(name))
    return document


@pytest.mark.parametrize("name", STUDIES)
def test_honest_ones_are_valid(name: str) -> None:
    verdict = kernel.check(released(name))
    assert verdict.verdict == "VALID ASSUMING", verdict


def less_noise(number: int, factor: float, strategy: SeriesStrategy | None = None) -> Change:
    """A smaller scale in the step and its results, with the errors that this scale has."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        scale = math.nextafter(stated["scale"] * factor, math.inf)
        stated["scale"] = scale
        rule = steps(document)[number]["rule"]
        noise = (DiscreteLaplace if rule == "discrete-laplace" else DiscreteGaussian)(scale)
        asked = stated["query"]
        shown = [item for item in document["results"] if item["query"] == asked["name"]]
        made = strategy or series_strategy(asked["strategy"], len(shown), asked["answers"])
        for item, weight in zip(shown, made.squared_weights, strict=True):
            item["noise"]["scale"] = scale
            for key, many in (("error", 1), ("simultaneous", made.answered)):
                off = answer_error(made, noise, 0.95, weight, answers=many)
                item[key]["value"] = float(off * Fraction(*stated["step"]))

    return change


def sensitivity(number: int, lower: int = 1) -> Change:
    """A smaller move of the sums, with the noise that the stated cost then has."""

    def change(document: Document) -> None:
        stated = evidence(document, number)
        squared = "sensitivity_squared" in stated
        name = "sensitivity_squared" if squared else "sensitivity"
        before = stated[name]
        stated[name] -= lower
        ratio = stated[name] / before
        less_noise(number, math.sqrt(ratio) if squared else ratio)(document)

    return change


def result(query_name: str, place: int, key: str, factor: float) -> Change:
    def change(document: Document) -> None:
        shown = [item for item in document["results"] if item["query"] == query_name]
        shown[place][key]["value"] *= factor

    return change


def _between(query_name: str) -> Change:
    def change(document: Document) -> None:
        (shown, *_) = [item for item in document["results"] if item["query"] == query_name]
        shown["value"] += shown["noise"]["step"] / 2

    return change


def _other_strategy(number: int, name: str) -> Change:
    """The cheaper strategy's errors, with the noise of the dearer one."""

    def change(document: Document) -> None:
        asked = evidence(document, number)["query"]
        asked["strategy"] = name
        less_noise(number, 1.0)(document)

    return change


def _coarser(document: Document) -> None:
    stated = evidence(document)
    top, bottom = stated["step"]
    stated["step"] = [top, bottom * 2]


def shown(place: int, **noise: Any) -> Change:
    return lambda document: document["results"][place]["noise"].update(noise)


def _one_period(document: Document) -> None:
    """All that follows from one period alone."""
    document["columns"]["g"]["states"] = ["a"]
    (result, *_) = document["results"]
    noise = DiscreteLaplace(result["noise"]["scale"])
    alone = SeriesStrategy("identity", 1, "cumulative")
    result["simultaneous"]["value"] = answer_error(alone, noise, 0.95, 1.0)
    document["results"] = [result]


FORGED: dict[str, tuple[str, Change, str]] = {
    **{
        f"smaller-move-{name}-{number}": (name, sensitivity(number), "is due")
        for name, moved_by_more in (
            ("pure", (0, 1, 2, 4)),
            ("zcdp", (0, 1, 2, 3, 5)),
            ("persons", (0, 1, 2)),
            ("persons zcdp", (0, 1, 2)),
        )
        for number in moved_by_more
    },
    "understated-last": ("pure", result("far", -1, "error", 0.999), "understated"),
    "understated-first": ("pure", result("far", 0, "error", 1 - 1e-7), "understated"),
    "overstated": ("pure", result("far", 2, "error", 1.001), "overstated"),
    "understated-range": ("pure", result("sums", 0, "error", 0.999), "understated"),
    "understated-state": ("pure", result("states", 1, "error", 0.999), "understated"),
    "understated-alone": ("pure", result("each", 0, "error", 0.5), "its error is"),
    "overstated-alone": ("pure", result("each", 0, "error", 2.0), "overstated"),
    "understated-together": ("pure", result("far", 1, "simultaneous", 0.999), "understated"),
    "overstated-together": ("pure", result("kept", 1, "simultaneous", 1.001), "overstated"),
    "understated-each": ("pure", result("each", 1, "simultaneous", 0.999), "understated"),
    "understated-root": ("zcdp", result("far", -1, "error", 0.999), "understated"),
    "overstated-root": ("zcdp", result("far", 3, "simultaneous", 1.001), "overstated"),
    "other-scale": ("pure", shown(0, scale=1.0), "scale of the noise"),
    "other-step": ("pure", shown(0, step=2.0), "step of the noise"),
    "other-law": ("pure", shown(0, distribution="discrete-gaussian"), ""),
    "one-period": ("alone", _one_period, "periods"),
    "between-steps": ("pure", _between("each"), "whole number of steps"),
    "step-of-the-matrix": ("zcdp", _coarser, "step"),
    "more-rows": ("persons zcdp", query(0, max_groups=3), "is due"),
    "periods-instead": ("pure", query(0, answers="periods"), "its error"),
    "ranges-instead": ("pure", query(0, answers="ranges"), "its error"),
    "tree-as-identity": ("pure", _other_strategy(0, "identity"), ""),
    "identity-as-tree": ("pure", _other_strategy(4, "tree"), "is due"),
    "root-of-laplace": ("pure", query(0, strategy="square-root"), ""),
    "root-of-periods": ("zcdp", query(0, answers="periods"), ""),
    "no-strategy": ("pure", query(0, strategy=None), ""),
    "no-answers": ("pure", query(0, answers=None), ""),
    "of-several-columns": ("pure", query(0, by=["g", "s"]), ""),
    "no-periods": ("pure", lambda d: evidence(d)["query"].pop("by"), ""),
    "a-count": ("pure", query(0, kind="count"), ""),
    "other-mechanism": ("pure", spend(mechanism="discrete-gaussian"), ""),
    "other-confidence": (
        "pure",
        lambda d: d["results"][0]["simultaneous"].update(confidence=0.9),
        "",
    ),
    "unit": ("pure", lambda d: d["results"][0].update(unit="kg"), "unit"),
    "no-unit": ("pure", lambda d: d["results"][8].update(unit=""), "unit"),
    "other-period": ("pure", lambda d: d["results"][0].update(group="b"), ""),
    "private-periods": ("pure", lambda d: d["columns"]["g"].pop("public"), ""),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_ones_are_refused(name: str) -> None:
    study, change, reason = FORGED[name]
    document = released(study)
    before = copy.deepcopy(document)
    change(document)
    assert document != before
    refused(renewed(document), "", reason)


def test_sums_of_the_matrix_need_more_room() -> None:
    """Its numbers are 2^16 times as large: so many rows fit otherwise."""
    document = released("zcdp")
    document["n"] = 2**45
    refused(renewed(document), "", "64-bit")


# -- what the kernel derives -----------------------------------------------------------------------


def test_moves_are_those_of_all_neighbours() -> None:
    for strategy in ("identity", "tree", "square-root"):
        for periods, rows, in_period, stays in (
            (2, 1, 1, True), (5, 1, 1, False), (5, 1, 1, True), (4, 2, 1, False), (3, 2, 2, False),
        ):  # fmt: skip
            for low, high in ((0, 1), (0, 4), (-3, 2)):
                made = PeriodSums(strategy, periods, "cumulative", stays)
                most = furthest(strategy, periods, (low, high), rows, in_period, stays)
                for squared in (False, True):
                    if squared or strategy != "square-root":
                        due = made.sensitivity(low, high, rows, in_period, squared=squared)
                        assert most[squared] <= due
                        assert rows > 1 or most[squared] == due
                        tool = series_strategy(strategy, periods, "cumulative")
                        keys = {"stays": stays, "squared": squared}
                        assert due == tool.moves((low, high), rows, in_period, **keys)


@pytest.mark.parametrize("periods", [2, 3, 5, 8, 12, 100, 777])
def test_weights_are_those_of_the_tool(periods: int) -> None:
    """Which are those of least squares by numpy."""
    assert kernel_column(periods) == root_column(periods)
    for answers in ("periods", "cumulative", "ranges"):
        for strategy in names_for(answers, gaussian=True):
            made = PeriodSums(strategy, periods, answers, stays=True)
            tool = series_strategy(strategy, periods, answers)
            assert [float(weight) for weight in made.weights()] == pytest.approx(
                tool.squared_weights, rel=1e-11
            )
            assert (made.answered, made.fineness) == (tool.answered, tool.fineness)


def kernel_column(periods: int) -> tuple[int, ...]:
    from bayesdp.kernel.costs.series import matrix_column

    return matrix_column(periods)


def test_multiples_are_those_of_the_tool() -> None:
    from flint import arb

    for scale in (0.3, 2.0, 37.5, 1e7):
        for noise, rule in (
            (DiscreteLaplace(scale), "discrete-laplace"),
            (DiscreteGaussian(scale), "discrete-gaussian"),
        ):
            for weight, failure in ((1.0, 0.05), (3.0, 1e-5)):
                largest, allowed = share(arb(weight)), Fraction(failure)
                due = due_multiple(rule, Fraction(scale), allowed, largest, 99)
                tool = multiple(noise, allowed, share_of(weight), 99)
                assert 0 < tool / float(due) - 1 < 1e-9
                assert bool(tail(rule, Fraction(scale), due * 0.999, largest, 99) > float(failure))
