"""Results that were VALID once: counts that no table has, and programs' outputs that none returns.

Each is a change of a certificate that is made and valid today, with all else derived anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.errors import InputError
from bayesdp.kernel.arithmetic import InvalidError, ball
from bayesdp.kernel.reading import stated_columns, stated_population
from bayesdp.kernel.releases.results import NOISES
from bayesdp.kernel.releases.row_counts import check_row_counts
from bayesdp.programs import dependence
from bayesdp.programs.run.posteriors import chains as of_chains
from bayesdp.programs.run.posteriors import (
    from_releases,
    generalized_regression,
    linear_regression,
    mixtures,
    perturbed_answers,
    waiting_times,
)
from bayesdp.programs.run.results import diagnostics
from bayesdp.release import Study
from bayesdp.statements.outputs import NOTES, read_output
from tests.kernel.statements import read_query
from tests.kernel.test_forgeries import composed, refused, renewed
from tests.release.program_studies import asks
from tests.release.program_studies import study as program_study

Document = dict[str, Any]
ROWS = pd.DataFrame(
    {
        "pair": [1, 1, 2, 2],
        "who": ["c", "f", "c", "f"],
        "t": [1, 2, 3, 4],
        "g": ["n", "s", "s", "s"],
        "s": [0, 1, 0, 0],
        "x": [1.0, 2.0, 3.0, 1.0],
    }
)
PAIR = {"role": "cluster", "states": [1, 2]}
X, S = {"bounds": [0.0, 4.0]}, {"states": [0, 1]}
PUBLIC = {"public": True, "states": ["n", "s"]}
PAIRS = {"model": "clusters", "size": 2}
MEAN = {"kind": "mean", "column": "x"}
SHARE = {"kind": "proportion", "where": "s == 1"}


@cache
def _released(columns: str, population: str, queries: str) -> str:
    study = Study(
        ROWS,
        dataset="d",
        n=4,
        columns=json.loads(columns),
        population=json.loads(population),
        budget={"epsilon": 4.0},
        queries=[{"name": f"q{i}"} | item for i, item in enumerate(json.loads(queries))],
        ledger=str(Path(mkdtemp(prefix="bayesdp-results-")) / "ledger.db"),
    )
    document = json.loads(study.release().certificate.to_json())
    verdict = kernel.check(document)
    assert verdict, verdict
    return json.dumps(document)


def released(columns: Document, population: Document, *queries: Document) -> Document:
    declared = {"source": "us", "covers": [c for c in ("s", "x") if c in columns], **population}
    document: Document = json.loads(
        _released(json.dumps(columns), json.dumps(declared), json.dumps(queries))
    )
    return document


def said_over(document: Document, *rows: int) -> None:
    """Results over other numbers of rows: steps, values and errors go with them."""
    steps = {item["evidence"]["query"]["name"]: item["evidence"] for item in composed_all(document)}
    for result, many in zip(document["results"], rows, strict=True):
        evidence = steps[result["query"]]
        length = Fraction(*evidence["step"])
        low = Fraction(evidence["grid"]["lo"]) if "grid" in evidence else Fraction(0)
        near = round((Fraction(result["value"]) - low) * many / length)
        steps_of_error = round(result["error"]["value"] / result["noise"]["step"])
        step = float(length / many)
        result |= {"rows": many, "value": float((low * many + length * near) / many)}
        result["noise"]["step"] = step
        result["error"]["value"] = steps_of_error * step


def composed_all(document: Document) -> list[Document]:
    actual: list[Document] = composed(document)["premises"]
    return actual


# -- public counts of rows -------------------------------------------------------------------------

CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 9}
ORDER = {"role": "order", "step": 1, "states": [1, 2, 3, 4]}
LAW = {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]], "roles": ["c", "f"]}
MEMBER = {"role": "member", "states": ["c", "f"]}
Counts = tuple[Document, Document, list[Document], tuple[int, ...], tuple[int, ...], str]
PAIRED = {"pair": PAIR, "g": PUBLIC, "x": X}
COUNTS: dict[str, Counts] = {
    "cluster-rows-above-size": (
        PAIRED, PAIRS, [MEAN | {"by": "pair"}], (2, 2), (1, 3), "than the groups have",
    ),
    "rows-disagree": (
        PAIRED, PAIRS, [MEAN | {"by": "g"}, MEAN | {"by": "g"}], (1, 3, 1, 3), (1, 3, 2, 2),
        "another result says",
    ),
    "rows-too-few": (PAIRED, PAIRS, [MEAN | {"by": "g"}], (1, 3), (1, 2), "another result says"),
    "where-disagrees": (
        PAIRED, PAIRS, [MEAN | {"by": "g"}, MEAN | {"where": "g == 's'"}], (1, 3, 3), (1, 3, 2),
        "another result says",
    ),
    "where-not-disagrees": (
        PAIRED, PAIRS, [MEAN | {"by": "g"}, MEAN | {"where": "not g == 'n'"}], (1, 3, 3),
        (1, 3, 4), "another result says",
    ),
    "where-two-parts": (
        PAIRED, PAIRS, [MEAN | {"where": "g == 'n'"}, MEAN | {"where": "g == 's'"}], (1, 3),
        (2, 3), "more rows than there are",
    ),
    "where-cluster": (
        PAIRED, PAIRS, [MEAN | {"where": "pair == 1"}], (2,), (3,), "than the groups have",
    ),
    "where-above-n": (
        PAIRED, PAIRS, [MEAN | {"where": "g != 'n'"}], (3,), (5,), "than the groups have",
    ),
    "where-by-above": (
        PAIRED, PAIRS, [MEAN | {"by": "pair", "where": "g == 's'"}, MEAN | {"where": "g == 's'"}],
        (1, 2, 3), (2, 2, 3), "another result says",
    ),
    "where-free": (
        PAIRED | {"t": {"public": True}}, PAIRS,
        [MEAN | {"where": "t > 1"}, MEAN | {"by": "pair", "where": "t > 1"}], (3, 1, 2), (3, 2, 2),
        "another result says",
    ),
    "where-a-part-of-a-part": (
        PAIRED | {"t": {"public": True, "states": [1, 2, 3, 4]}}, PAIRS,
        [MEAN | {"where": "t <= 2"}, MEAN | {"where": "t <= 3"}], (2, 3), (4, 3), "a part has",
    ),
    "where-the-rest": (
        PAIRED | {"t": {"public": True, "states": [1, 2, 3, 4]}}, PAIRS,
        [MEAN | {"where": "t <= 2"}, MEAN | {"where": "t > 2"}], (2, 2), (2, 1), "make up a whole",
    ),
    "where-and-by": (
        PAIRED | {"t": {"public": True, "states": [1, 2, 3, 4]}}, PAIRS,
        [MEAN | {"by": "t"}, MEAN | {"where": "t > 2"}], (1, 1, 1, 1, 2), (1, 1, 1, 1, 3),
        "make up 3 rows",
    ),
    "derived-cluster": (
        PAIRED | {"late": {"from": "pair", "cuts": [2], "public": True}}, PAIRS,
        [MEAN | {"by": "late"}], (2, 2), (1, 3), "than the groups have",
    ),
    "member-rows": (
        {"pair": PAIR, "who": MEMBER, "s": S}, LAW, [SHARE | {"by": "who"}], (2, 2), (1, 3),
        "than the groups have",
    ),
    "order-two-rows-at-one-position": (
        {"t": ORDER, "s": S}, CHAIN, [SHARE | {"by": "t"}], (1, 1, 1, 1), (2, 1, 1, 0),
        "than the groups have",
    ),
    "whole-table": ({"pair": PAIR, "s": S}, PAIRS, [SHARE], (4,), (3,), "another result says"),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_counts_that_no_table_has(name: str) -> None:
    columns, population, queries, honest, forged, reason = COUNTS[name]
    document = released(columns, population, *queries)
    assert tuple(item["rows"] for item in document["results"]) == honest
    said_over(document, *honest)
    assert kernel.check(renewed(document))
    said_over(document, *(max(rows, 1) for rows in forged))
    refused(renewed(document), "", reason)


def test_counts_of_random_tables_agree() -> None:
    """What a table has is never refused, however it is divided; one row more seldom isn't."""
    rng = np.random.default_rng(5)
    refused_tables, seen = 0, 0
    for _ in range(150):
        clusters = rng.integers(1, 4)
        size = int(rng.integers(1, 4))
        rows = [
            {"k": int(k), "m": m, "g": int(rng.integers(3)), "h": "ab"[int(rng.integers(2))]}
            for k in range(clusters)
            for m in range(size)
            if m == 0 or rng.random() < 0.7
        ]
        table = pd.DataFrame(rows)
        columns = stated_columns(
            {
                "k": {"role": "cluster", "states": [0, 1, 2, 3]},
                "m": {"role": "member", "states": list(map(str, range(size)))},
                "g": {"public": True, "states": [0, 1, 2]},
                "h": {"public": True, "states": ["a", "b"]},
                "c": {"from": "g", "cuts": [1.5], "public": True},
                "free": {"public": True},
            }
        )
        table["m"], table["c"] = table["m"].astype(str), (table["g"] >= 1.5).astype(int)
        table["free"] = rng.integers(0, 2, len(table))
        conditions = [
            "g == 1", "g in [0, 1]", "g > 0", "h == 'a'", "g != 2 and h == 'b'", "k == 0",
            "g == 1 or h == 'a'", "free == 1", "free == 1 and g == 0", "c == 1", "m == '0'",
            "not (g == 0)", "0 < g < 2",
        ]  # fmt: skip
        shown = []
        for number in range(int(rng.integers(1, 6))):
            query: Document = {"name": f"q{number}", "kind": "mean"}
            kept = table
            if rng.random() < 0.7:
                query["where"] = conditions[int(rng.integers(len(conditions)))]
                kept = table.query(query["where"])
            if rng.random() < 0.6:
                query["by"] = "kmghc"[int(rng.integers(5))]
                counts = kept[query["by"]].value_counts()
                asked = read_query(query | {"column": "y"})
                shown += [
                    (asked, key, int(counts.get(key, 0))) for key in columns[query["by"]].levels
                ]
            else:
                shown.append((read_query(query | {"column": "y"}), None, len(kept)))
        # No result is over no rows; here a part without rows is shown to be one.
        population = stated_population({"model": "clusters", "size": size})
        if any(rows == 0 for _, _, rows in shown):
            continue
        seen += 1
        check_row_counts(shown, len(table), columns, population)
        query, key, rows_of = shown[0]
        if query.where is not None and len(shown) == 1:
            continue
        forged = [(query, key, rows_of + 1), *shown[1:]]
        try:
            check_row_counts(forged, len(table), columns, population)
        except InvalidError:
            refused_tables += 1
    assert seen > 20
    assert refused_tables > seen / 3


# -- numbers ---------------------------------------------------------------------------------------


def result(**keys: Any) -> Callable[[Document], None]:
    return lambda document: document["results"][0].update(keys)


def error(**keys: Any) -> Callable[[Document], None]:
    return lambda document: document["results"][0]["error"].update(keys)


def steps_of_error(more: int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        item = document["results"][0]
        item["error"]["value"] += more * item["noise"]["step"]

    return change


def bins(document: Document) -> None:
    composed(document)["premises"][0]["evidence"]["query"]["bins"] = [5.0, 6.0, 7.0]
    for item, cell in zip(document["results"], ("[5, 6)", "[6, 7)"), strict=True):
        item["cell"] = cell


def booleans(document: Document) -> None:
    spend = composed(document)["premises"][0]["evidence"]["spend"]
    spend |= {"dp_delta": False}


def totals(document: Document) -> None:
    document["data_set"]["total"], document["derivation"]["evidence"]["total"] = 4.0, 50.0


BINS = {"kind": "histogram", "column": "x", "bins": [0.0, 2.0, 5.0]}
NUMBERS: dict[str, tuple[Document, Callable[[Document], None], str, str]] = {
    "result-dp-overstated": (BINS, result(dp_epsilon=1e308), "result", "DP cost"),
    "result-dp-larger": (BINS, result(dp_epsilon=4.0 + 1e-9), "result", "DP cost"),
    "result-dp-smaller": (BINS, result(dp_epsilon=1e-9), "result", "DP cost"),
    "result-error-huge": (BINS, error(value=1e9), "result", "overstated"),
    "result-error-a-step-more": (BINS, steps_of_error(1), "result", "overstated"),
    "result-error-a-step-less": (BINS, steps_of_error(-1), "result", "understated"),
    "result-error-between-steps": (BINS, error(value=1.5), "result", "number of steps"),
    "result-confidence-tiny": (
        BINS, error(value=0.0, confidence=5e-324), "result", "greater than or equal to 0.5",
    ),
    "bins-outside": (BINS, bins, "q0", "no value between the bounds"),
    "group-true": (MEAN | {"by": "pair"}, result(group=True), "result", "stands where"),
    "spend-booleans": (BINS, booleans, "", "truth value"),
    "totals-disagree": (BINS, totals, "release", "than the ledger allows"),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_nothing_gives(name: str) -> None:
    query, change, step, reason = NUMBERS[name]
    document = released(PAIRED, PAIRS, query)
    change(document)
    refused(renewed(document), step, reason)


def test_the_tool_makes_no_bins_beyond_the_bounds() -> None:
    for edges in ([5.0, 6.0, 7.0], [-2.0, -1.0, 0.0]):
        with pytest.raises(InputError, match="between the bounds"):
            released(PAIRED, PAIRS, BINS | {"bins": edges})
    released(PAIRED, PAIRS, BINS | {"bins": [-1.0, 0.0, 4.0, 5.0, 6.0]})


@pytest.mark.parametrize("noise", ["discrete-laplace", "discrete-gaussian"])
def test_the_tool_writes_the_least_error(noise: str) -> None:
    """As the kernel computes tails: an error is neither under- nor overstated."""
    from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace

    law = {"discrete-laplace": DiscreteLaplace, "discrete-gaussian": DiscreteGaussian}[noise]
    rng = np.random.default_rng(3)
    for scale in [15.99, 16.0, 16.01, *(10 ** rng.uniform(-1, 8, 60))]:
        k = law(float(scale)).quantile(0.95)
        exact, allowed = Fraction(float(scale)), ball(1 - Fraction(0.95))
        assert bool(NOISES[noise](exact, k) <= allowed)
        assert k == 0 or not bool(NOISES[noise](exact, k - 1) <= allowed)


# -- programs --------------------------------------------------------------------------------------


@cache
def _of_programs() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-outputs-"))
    made = program_study(
        folder, asks("smokers"), asks("northern"), asks("both"), asks("tall"), asks("new_people"),
        budget={"epsilon": 9.0, "delta": 1e-6},
    )  # fmt: skip
    text: str = made.release().certificate.to_json()
    assert kernel.check(renewed(json.loads(text)))
    return text


def output(place: int, number: int = 0, **keys: Any) -> Callable[[Document], None]:
    return lambda document: document["results"][place]["outputs"][number].update(keys)


def answer(place: int, **keys: Any) -> Callable[[Document], None]:
    return lambda document: document["results"][place].update(keys)


def path(file: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        query = composed_all(document)[1]["evidence"]["query"]
        query["program"] = document["programs"][1]["program"] = f"{file}:northern"

    return change


def place_shown(place: Any) -> Callable[[Document], None]:
    """Another place of the first query above a threshold."""

    def change(document: Document) -> None:
        answered = document["results"][3]
        (name,) = answered["releases"]
        answered["releases"][name] = answered["outputs"][0]["value"] = place

    return change


def other_form(place: int, number: int = 0, **keys: Any) -> Callable[[Document], None]:
    """An output with other keys beside its type and name."""

    def change(document: Document) -> None:
        outputs = document["results"][place]["outputs"]
        kept = {key: part for key, part in outputs[number].items() if key in ("type", "name")}
        outputs[number] = kept | keys

    return change


A_BETA = {"family": "beta", "mean": 0.5, "sd": 0.1, "interval95": [0.3, 0.7]}
TWO_SHARES: dict[str, Any] = {
    "family": "beta",
    "mean": [0.5, 0.5],
    "sd": [0.1, 0.1],
    "interval95": [[0.3, 0.7], [0.3, 0.7]],
    "names": ["a", "b"],
}
PROGRAMS: dict[str, Callable[[Document], None]] = {
    "place-beyond": place_shown(4),
    "place-between": place_shown(0.5),
    "place-below": place_shown(-1),
    "draws-beyond-their-labels": output(4, 1, labels=["False"], answers=[1] * 20),
    "released-answers": answer(0, releases={"laplace_1": {"answers": [1.0], "labels": []}}),
    "released-posterior": answer(0, releases={"laplace_1": A_BETA}),
    "output-confidence": output(1, error={"confidence": 7, "value": 1.0}),
    "output-confidence-tiny": output(1, error={"confidence": 5e-324, "value": 0.0}),
    "output-error-text": output(1, error={"confidence": 0.95, "value": "none at all"}),
    "output-error-infinite": output(1, error={"confidence": 0.95, "value": -1.0}),
    "output-errors": output(1, error={"confidence": 0.95, "value": [1.0, 2.0]}),
    "output-name": output(1, name="x\n\u202e level 0"),
    "output-name-own": output(1, name="northern, all checked"),
    "output-name-of-another": output(2, 0, name="both, 2"),
    "output-unit": output(1, unit="kg"),
    "output-unit-hidden": output(1, unit="kg\n"),
    "output-cells": output(1, cells=["a", "b"]),
    "output-key": output(1, checked=True),
    "output-value-text": output(1, value="12 \u202e"),
    "dp-false": answer(1, dp_rho=5.0),
    "dp-overstated": answer(1, dp_epsilon=77.0),
    "dp-a-little-larger": answer(1, dp_epsilon=0.25 + 1e-10),
    "dp-understated": answer(1, dp_epsilon=0.2),
    "query-path2": path("reads nothing"),
    "query-folder": path("a/people.py"),
    "query-path-hidden": path("safe\u202e.py"),
    "distribution-mean": output(0, mean="nothing"),
    "distribution-interval": output(0, interval95=[0.9, 0.1]),
    "distribution-interval-outside": output(0, interval95=[0.1, 1.5]),
    "distribution-note": output(0, notes=["the level is 0"]),
    "distribution-family": output(0, family="proof"),
    "distribution-of-another-family": output(0, family="normal"),
    "distribution-pooled": output(0, family="pooled"),
    "distribution-of-several": other_form(0, **TWO_SHARES),
    "distribution-is-a-number": other_form(4, 0, value=0.5),
    "distribution-is-answers": other_form(4, 0, answers=[1.0], labels=[]),
    "draws-are-a-number": other_form(4, 1, value=0.5),
    "a-number-is-a-distribution": other_form(3, 0, **A_BETA),
    "distribution-sd": output(0, sd=-0.1),
    "distribution-true": output(0, mean=True),
    "distribution-names": output(0, names=["a"]),
    "distribution-draws": output(0, draws=10),
    "distribution-parameters": output(0, parameters=[-1.0, 2.0]),
    "distribution-components": output(0, components=0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_outputs_that_no_program_returns(name: str) -> None:
    document: Document = json.loads(_of_programs())
    PROGRAMS[name](document)
    refused(renewed(copy.deepcopy(document)), "")


def test_a_failure_has_the_words_that_it_has() -> None:
    """A program that handed over what it had released, and why there is no more."""
    document: Document = json.loads(_of_programs())
    answered = document["results"][1]
    (value,) = answered["releases"].values()
    (name,) = answered["releases"]
    words = "{} What it released until then has been paid for, and is kept."
    failed = {"type": "failure", "value": words.format("The rest of the program failed (X).")}
    answered["outputs"] = [
        {"type": "released", "value": value, "name": f"northern, {name}"},
        failed,
    ]
    assert kernel.check(renewed(document))
    for words_shown in ("all is well", words.format("The rest of the program failed (X\n).")):
        answered["outputs"][1] = failed | {"value": words_shown}
        refused(renewed(document), "result")
    answered["outputs"][1] = failed | {"unit": "cm"}
    refused(renewed(document), "result")


def test_notes_of_posteriors_are_known() -> None:
    said = {
        from_releases.FLAT_SIZE,
        from_releases.CLIP,
        from_releases.MATCHED,
        linear_regression.FIXED,
    }
    said |= {dependence.COUNTED, dependence.IGNORED, dependence.CHAIN, dependence.OTHER}
    said |= {
        of_chains.ORDER,
        of_chains.APART,
        perturbed_answers.HISTOGRAM,
        from_releases.TRUE_ANSWERS,
    }
    said |= {generalized_regression.LAW, mixtures.INDEPENDENT, waiting_times.FLAT_TIME}
    assert said | set(linear_regression.CHOICES) == NOTES
    chains = np.concatenate([np.zeros((1, 50, 1)), np.ones((1, 50, 1))]) + np.linspace(
        0, 0.1, 50
    ).reshape(1, 50, 1)
    actual = diagnostics.diagnosed("normal", ("a",), chains)
    assert actual.notes
    assert read_output({"type": "Samples", **actual.to_dict()}).notes == actual.notes


def test_one_series_has_one_row_at_each_position() -> None:
    """Eight records of one series at four positions, two at each."""
    document = released({"t": ORDER, "s": S}, CHAIN, SHARE | {"by": "t"})
    columns = stated_columns(document["columns"])
    query = read_query(composed(document)["premises"][0]["evidence"]["query"])
    population = stated_population(document["population"])
    check_row_counts([(query, place, 1) for place in (1, 2, 3, 4)], 4, columns, population)
    with pytest.raises(InvalidError, match="than the groups have"):
        check_row_counts([(query, place, 2) for place in (1, 2, 3, 4)], 8, columns, population)
