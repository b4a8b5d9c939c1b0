"""Certificates of data sets that share people: costs of all of them add up, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bayesdp.kernel import check
from bayesdp.release import Study
from tests.kernel.test_forgeries import everywhere, renewed
from tests.kernel.test_keys import CLUSTERS, COLUMNS, TABLE, plain

Document = dict[str, Any]
PUBLIC = {"day": {"public": True, "states": [1, 2, 3, 4]}}
EARLY: Document = {"name": "early", "kind": "count", "where": "ill == 1 and day in [1, 2]"}
LATE: Document = {"name": "late", "kind": "count", "where": "ill == 1 and day in [3, 4]"}
ANSWERS: Document = {
    "name": "answers",
    "kind": "randomized_response",
    "column": "smokes",
    "epsilon": 0.125,
}
SUM: Document = {"name": "s", "kind": "sum", "column": "x"}
STUDIES: dict[str, Document] = {
    "blocks": {"columns": COLUMNS | PUBLIC, "queries": [[EARLY], [EARLY], [LATE]]},
    "answers": {
        "columns": COLUMNS | {"smokes": {"states": ["no", "yes"]}},
        "population": CLUSTERS | {"covers": ["ill", "x", "smokes"]},
        "queries": [[ANSWERS, SUM]] * 2,
    },
    "others": {
        "columns": COLUMNS | {"w": {"bounds": [0.5, 2.0]}},
        "queries": [[SUM], [{"name": "w", "kind": "sum", "column": "w"}]],
        "covers": [["ill", "x"], ["w"]],
    },
    "persons": {
        "unit": "pair",
        "rows_per_unit": 2,
        "n": 2,
        "columns": COLUMNS | {"pair": {"role": "series"}},
        "population": {"model": "independent", "covers": ["ill", "x"]},
        "queries": [[SUM]] * 2,
    },
    "dp": {
        "population": None,
        "budget": {"notion": "dp", "epsilon": 6.0, "spend": 1.0, "delta": 1e-6},
        "queries": [[SUM]] * 2,
    },
}
"""The queries of one release after the other: the last one is of `feb`, the others of `jan`."""


@cache
def _released(name: str) -> str:
    other = dict(STUDIES[name])
    *earlier, last = other.pop("queries")
    covers = other.pop("covers", [None] * (len(earlier) + 1))
    ledger = str(Path(mkdtemp(prefix="bayesdp-people-")) / "ledger.db")
    made: Document = {
        "n": 4,
        "columns": COLUMNS,
        "population": CLUSTERS,
        "budget": {"epsilon": 6.0, "spend": 1.0},
        "people": "cohort",
        "ledger": ledger,
    }

    def study(dataset: str, queries: Any, covered: Any) -> Study:
        own = made | other
        if covered is not None:
            own["population"] = own["population"] | {"covers": covered}
        return Study(TABLE, **own, dataset=dataset, queries=queries)

    for queries, covered in zip(earlier, covers, strict=False):
        study("jan", queries, covered).release(again=True)
    return json.dumps(plain(study("feb", last, covers[-1]).release().certificate))


def released(name: str) -> Document:
    """The certificate of a release of `feb`, after others of `jan` with the same people."""
    document: Document = json.loads(_released(name))
    return document


def test_the_data_set_has_the_sum_of_all_of_its_people() -> None:
    document = released("blocks")
    state = document["data_set"]
    assert document["people"] == "cohort"
    assert [spend["dataset"] for spend in state["earlier_spends"]] == ["jan", "jan"]
    assert state["dp_epsilon"] == pytest.approx(3 * 0.5)  # though days are disjoint
    assert state["level"] == pytest.approx(3 * 1.0)
    answered = released("answers")
    paid = [0.125, answered["claim"]["dp_epsilon"] - 0.125]
    assert answered["data_set"]["dp_epsilon"] == pytest.approx(2 * sum(paid))


def test_what_is_read_elsewhere_is_assumed() -> None:
    said = released("answers")["assumptions"]
    assert "of the data set 'jan' the same is declared, and it speaks of smokes, x there" in said
    (of_people,) = [line for line in said if "shares the people" in line]
    assert "at most one record in each" in of_people
    (clusters,) = [line for line in said if line.startswith("different clusters")]
    assert clusters.endswith("a cluster has at most 2 records in each")
    of_dp = released("dp")["assumptions"]
    assert not [line for line in of_dp if "speaks of" in line or "different" in line]


def _total(document: Document, dp: float) -> None:
    """Another cost of everything, wherever it stands."""
    last = document["derivation"]["premises"][-1]
    last["evidence"]["cost"] |= {"any": dp}
    last["conclusion"]["epsilon"] = 2 * dp
    document["data_set"] |= {"dp_epsilon": dp, "level": 2 * dp}


def _largest_block(document: Document) -> None:
    """Of the days of two data sets the dearest, as if a person were in one of them only."""
    _total(document, 1.0 * (1 + 1e-12))


def _answers_once(document: Document) -> None:
    _total(document, document["data_set"]["dp_epsilon"] - 0.125)


def _named(people: object) -> Callable[[Document], None]:
    """Everybody calls the people so, but for the release's own queries."""

    def change(document: Document) -> None:
        document["people"] = people
        for spend in document["data_set"]["earlier_spends"]:
            spend["people"] = people

    return change


def _nobody(document: Document) -> None:
    """No people, though there is another data set."""
    del document["people"]
    _own(document, "people", None)
    for spend in document["data_set"]["earlier_spends"]:
        del spend["people"]


def _own(document: Document, key: str, value: object) -> None:
    """Another field of what its own queries spend."""
    (first, *_) = document["derivation"]["premises"]
    composition = first if first["rule"] == "sequential-composition" else first["premises"][0]
    for step in composition["premises"]:
        step["evidence"]["spend"][key] = value


def _parts(document: Document) -> None:
    document["parts"] = {"position": "day", "number": 2}


def _events(document: Document) -> None:
    document["columns"]["day"] = {"role": "order", "step": 1}


def _series(document: Document) -> None:
    document["columns"]["pair"] = {"role": "series"}


def _earlier(number: int, **parts: Any) -> Callable[[Document], None]:
    return lambda document: document["data_set"]["earlier_spends"][number].update(parts)


def _everybody(document: Document) -> None:
    """A law of one table: all of its records may depend on each other."""
    everywhere(document, lambda population: population.pop("size"))
    everywhere(document, lambda population: population.update(model="unknown", records=4))
    for step in document["derivation"]["premises"]:
        cost = step["evidence"]["cost"]
        level = 4 * (cost["any"] + cost["lipschitz"])
        step["conclusion"]["epsilon"] = level * (1 + 1e-12)
        step["rule"], step["evidence"]["details"] = "cluster-size", {}
    first, last = document["derivation"]["premises"]
    document["claim"]["epsilon"] = first["conclusion"]["epsilon"]
    document["derivation"]["conclusion"]["epsilon"] = first["conclusion"]["epsilon"]
    document["derivation"]["evidence"]["total"] = 100.0
    document["data_set"] |= {"level": last["conclusion"]["epsilon"], "total": 100.0}


FORGED: dict[str, tuple[str, Callable[[Document], Any], str]] = {
    "the dearest block of two data sets": ("blocks", _largest_block, "sum"),
    "answers of two data sets once": ("answers", _answers_once, "sum"),
    "other people": ("blocks", _named("others"), "people"),
    "others' people in an earlier spend": ("blocks", _earlier(1, people="others"), "people"),
    "nobody in an earlier spend": ("blocks", _earlier(0, people=None), "people"),
    "no people and two data sets": ("blocks", _nobody, "dataset"),
    "two units of one data set": ("blocks", _earlier(1, unit="person", block=None), "unit"),
    "another unit of its own": (
        "blocks",
        _earlier(0, dataset="feb", unit="person", block=None),
        "unit",
    ),
    "its own earlier columns": (
        "blocks",
        _earlier(0, dataset="feb", reads=["y"], block=None),
        "says nothing",
    ),
    "parts of rows": ("dp", _parts, "people"),
    "rows in order": ("dp", _events, "people"),
    "rows of series": ("dp", _series, "people"),
    "a law of one table": ("answers", _everybody, "people"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged(name: str) -> None:
    study, change, words = FORGED[name]
    document = released(study)
    change(document)
    answer = check(renewed(document))
    assert answer.verdict == "INVALID", answer
    assert words in answer.reason


def test_a_certificate_from_before_people_has_none() -> None:
    from tests.kernel.all_kinds import certificate

    document = certificate("laplace release")
    assert "people" not in document
    assert all("people" not in spend for spend in document["data_set"]["earlier_spends"])
