"""Persons of any number of rows, of which some count: what it costs, and what is held."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import chain, combinations_with_replacement
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study, verify
from bayesdp.errors import InputError, TableMismatchError, UnsupportedError
from bayesdp.kernel import check
from bayesdp.release.price.plan import make_plan, structure_of
from bayesdp.report.explain import explain
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.effort import in_full
from tests.kernel.test_forgeries import composed, renewed

ILL = "ill == 1"
TOTAL = {"name": "total", "kind": "sum", "column": "x"}
BY_TEAM = {"name": "by team", "kind": "count", "where": ILL, "by": "team"}
EVER = {"name": "ever ill", "kind": "count", "where": ILL, "max_rows": 1}
ONE_TEAM = {
    "name": "one team",
    "kind": "sum",
    "column": "x",
    "by": "team",
    "max_groups": 1,
    "max_rows_per_group": 2,
}
A_ROW_A_TEAM = BY_TEAM | {"name": "a row a team", "max_rows_per_group": 1}
CELLS = {"name": "cells", "kind": "histogram", "column": "ill", "max_rows": 2}
CLIPPED = {"name": "clipped", "kind": "sum", "column": "x", "total_bounds": [-0.5, 1.25]}
ILL_HOURS = CLIPPED | {"name": "ill hours", "where": ILL, "max_rows": 2, "total_bounds": [0, 3]}
AS_ONE_ROW = CLIPPED | {"name": "as one row", "total_bounds": [-1, 2]}
HIGH = {
    "name": "high",
    "kind": "quantile",
    "probability": 0.8,
    "column": "x",
    "candidates": [-1, 0, 2],
    "by": "team",
    "max_groups": 2,
    "max_rows_per_group": 1,
}
QUERIES = [TOTAL, BY_TEAM, EVER, ONE_TEAM, A_ROW_A_TEAM, CELLS, HIGH, CLIPPED, ILL_HOURS]
TEAMS = ["red", "blue", "green"]
DELTA = {"epsilon": 3.0, "delta": 1e-6, "noise": "gaussian"}


def study(
    rows: pd.DataFrame, folder: Any, queries: Any = QUERIES, budget: Any = None, **of_record: Any
) -> Study:
    return Study(
        rows,
        dataset="visits",
        n="from data",
        columns={
            "person": {"public": True},
            "team": {"public": True, "states": TEAMS},
            "x": {"bounds": [-1, 2], "unit": "h"},
            "ill": {"states": [0, 1]},
        },
        population={"model": "independent", "covers": ["x", "ill"]},
        budget=budget or {"epsilon": 3.0},
        queries=list(queries),
        ledger=f"{folder}/ledger.db",
        **({"unit": "person", "max_rows": 3} | of_record),
    )


def table(seed: int = 1, persons: int = 20, rows: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": np.concatenate([np.arange(persons), rng.integers(persons, size=rows)]),
            "team": rng.choice(TEAMS, persons + rows),
            "x": rng.uniform(-1.0, 2.0, persons + rows).round(1),
            "ill": rng.integers(2, size=persons + rows),
        }
    )


def test_a_release_verifies_and_says_what_counts(tmp_path: Any) -> None:
    asked = study(table(), tmp_path)
    assert asked.inspect() == []
    release = asked.release()
    assert verify(release.certificate)
    said = " ".join(release.certificate.to_dict()["assumptions"])
    assert "same person, of which at most 3 count" in said
    assert release.certificate.body["max_rows"] == 3
    assert asked.check().released  # the same study is known again
    assert "'person'; at most 3 of them count." in " ".join(
        explain(release.certificate).text().split()
    )


def test_what_each_cap_costs(tmp_path: Any) -> None:
    """By hand: rows that count, twice where they may change groups or cells."""
    pure = {
        query.name: query.sensitivity for query in study(table(), tmp_path).check().plan.queries
    }
    assert pure["total"] == pytest.approx(3 * 2**40)  # a row from -1 to 2, in steps of 3 / 2^40
    assert pure["one team"] == pytest.approx(4 * 2**40)
    assert pure["clipped"] == pytest.approx(1.75 / 3 * 2**40)  # the length of the interval
    assert pure["ill hours"] == pytest.approx(2**40)
    counts = {name: pure[name] for name in ("by team", "ever ill", "a row a team", "cells")}
    assert counts == {"by team": 6, "ever ill": 1, "a row a team": 6, "cells": 4}
    assert pure["high"] == 2 * 2 * 4  # two rows, in steps of a fifth: four fifths each way
    squared = study(table(), tmp_path, budget=DELTA).check().plan.queries
    counts = {query.name: query.sensitivity for query in squared}
    names = ("by team", "a row a team", "ever ill", "cells", "high")
    assert [counts[name] for name in names] == [2 * 3**2, 2 * 3, 1, 2 * 2**2, 2 * 2 * 4**2]


KINDS_OF_ROWS = [("red", 2.0, 1), ("red", -1.0, 0), ("blue", 2.0, 1), ("green", 0.0, 1)]


def persons(most: int) -> Iterator[tuple[int, ...]]:
    """Everything that a person's rows may be, up to so many, by their kinds."""
    sizes = range(1, most + 1)
    kinds = range(len(KINDS_OF_ROWS))
    return chain.from_iterable(combinations_with_replacement(kinds, size) for size in sizes)


def integers(spec: Any, rows: list[tuple[Any, ...]]) -> dict[str, np.ndarray[Any, Any]]:
    """The integers of each query by the real path from a table; of a quantile, the scores."""
    frame = pd.DataFrame(rows, columns=["person", "team", "x", "ill"])
    plan = make_plan(spec, 2)
    queries = [query.table_query() for query in plan.queries]
    totals = run(open_table(frame), spec.columns, queries, structure_of(spec))
    return {
        query.name: np.array(
            [
                counts if query.asked.choice is None else query.asked.choice.scores(counts)
                for counts in totals[query.name].values.values()
            ],
            dtype=object,
        )
        for query in plan.queries
    }


@pytest.mark.parametrize("of_record", [{"max_rows": 2}, {"max_rows": None, "rows_per_unit": 4}])
def test_no_replaced_person_moves_the_integers_by_more_than_is_paid_for(
    of_record: Any, tmp_path: Any
) -> None:
    """All persons of up to four rows (some of them in `make test`), in the place of each other.

    What a choice pays for is the largest move of any score, group by group.
    """
    asked = study(table(), tmp_path, **of_record)
    plans = [make_plan(asked.spec, 2)]
    with_delta = study(table(), tmp_path, budget=DELTA, **of_record)
    plans.append(make_plan(with_delta.spec, 2))
    some = [(0, 0, 0, 0), (2, 2), (1,), (0, 2, 3, 1)]
    if in_full():
        some = list(persons(4))
    other = [("other", *KINDS_OF_ROWS[i]) for i in (0, 0, 2)]
    seen = [
        integers(asked.spec, [*other, *(("person", *KINDS_OF_ROWS[kind]) for kind in kinds)])
        for kinds in some
    ]
    largest = {}
    for query in plans[0].queries:
        numbers = np.array([of_person[query.name] for of_person in seen])
        moved = abs(numbers[:, None] - numbers[None])
        in_group = moved.max(axis=-1) if query.asked.choice else moved
        in_group = in_group.reshape(len(seen), len(seen), -1)
        largest[query.name] = in_group.sum(axis=-1).max(), (in_group**2).sum(axis=-1).max()
    for plan, norm in zip(plans, (0, 1), strict=True):
        for query in plan.queries:
            assert largest[query.name][norm] <= query.sensitivity, query.name
    assert largest["ever ill"][0] == 1  # and no more is paid than what can move


def test_means_are_over_records_that_all_have_enough_rows(tmp_path: Any) -> None:
    """Each person then has exactly three rows that count: a public number."""
    mean = {"name": "mean", "kind": "mean", "column": "x"}
    rows = pd.concat([table(seed) for seed in (1, 2, 3)])
    release = study(rows, tmp_path, [mean, TOTAL], balanced=True).release()
    assert verify(release.certificate)
    assert release.results[0].rows == 60
    with pytest.raises(UnsupportedError, match=r"at least 3 rows.*balanced = true.*ratio"):
        study(rows, tmp_path, [mean])
    (tmp_path / "short").mkdir()
    short = study(table(), tmp_path / "short", [mean], balanced=True)
    assert [finding.code for finding in short.inspect()] == ["unit-rows"]
    with pytest.raises(TableMismatchError):
        short.release()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows_per_unit": 3}, r"data\.max_rows.*nothing beside rows_per_unit"),
        ({"unit": "row"}, r'data\.max_rows.*nothing where unit is "row"'),
        ({"max_rows": None}, r"data\.rows_per_unit.*write max_rows instead"),
        ({"max_rows": 0}, r"data\.max_rows"),
    ],
)
def test_keys_that_do_not_belong_are_refused(changes: Any, message: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=message):
        study(table(), tmp_path, [TOTAL], **changes)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (TOTAL | {"max_groups": 1, "max_rows_per_group": 1}, r"max_groups.*without groups"),
        (BY_TEAM | {"max_groups": 1}, r"max_groups.*to stand with max_rows_per_group"),
        (BY_TEAM | {"max_rows": 1, "max_rows_per_group": 1}, r"nothing beside max_rows_per_group"),
        (TOTAL | {"max_rows": 0}, r"max_rows"),
        (BY_TEAM | {"total_bounds": [0, 1]}, r"total_bounds.*on a sum without by"),
        (TOTAL | {"by": "team", "total_bounds": [0, 1]}, r"total_bounds.*on a sum without by"),
        (TOTAL | {"total_bounds": [0, 7]}, r"total_bounds.*between -3 and 6"),
        (TOTAL | {"total_bounds": [2, 1]}, r"total_bounds.*between -3 and 6"),
        (TOTAL | {"max_rows": 1, "total_bounds": [0, 4]}, r"total_bounds.*between -1 and 2"),
    ],
)
def test_caps_that_do_not_belong_are_refused(query: Any, message: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=message):
        study(table(), tmp_path, [query])


def test_a_cap_needs_records_of_several_rows(tmp_path: Any) -> None:
    with pytest.raises(InputError, match=r'max_rows.*nothing where unit is "row"'):
        study(table(), tmp_path, [EVER], unit="row", max_rows=None)


def test_an_average_has_no_cap(tmp_path: Any) -> None:
    share = {"name": "share", "kind": "proportion", "where": ILL, "max_rows": 1}
    with pytest.raises(UnsupportedError, match=r"max_rows.*over all rows"):
        study(table(), tmp_path, [share], balanced=True)


def test_no_model_of_single_values_is_about_rows_that_are_left_out(tmp_path: Any) -> None:
    """Also with one row that counts: which one it is depends on the values."""
    chain_of_days = {"model": "markov", "transition": [[0.9, 0.1], [0.1, 0.9]], "length": 9}
    with pytest.raises(InputError, match=r"data\.max_rows.*independent, clusters or unknown"):
        Study(
            table(),
            dataset="visits",
            n=20,
            unit="person",
            max_rows=1,
            columns={"person": {"role": "series"}, "ill": {"states": [0, 1]}}
            | {"day": {"role": "order", "step": 1}},
            population=chain_of_days | {"covers": ["ill"]},
            budget={"epsilon": 1.0},
            queries=[EVER],
            ledger=f"{tmp_path}/ledger.db",
        )


def of_query(document: Any, name: str) -> Any:
    steps = composed(document)["premises"]
    return next(s["evidence"]["query"] for s in steps if s["evidence"]["query"]["name"] == name)


LIES: dict[str, Any] = {
    "more rows count": lambda d: d.update({"max_rows": 6}),
    "nothing said": lambda d: d.pop("max_rows"),
    "both limits": lambda d: d.update({"rows_per_unit": 3}),
    "rows as records": lambda d: d.update({"unit": "row"}),
    "a cap that was not priced": lambda d: of_query(d, "ever ill").update({"max_rows": 2}),
    "a cap taken away": lambda d: of_query(d, "ever ill").pop("max_rows"),
    "more groups": lambda d: of_query(d, "one team").update({"max_groups": 2}),
    "any groups": lambda d: of_query(d, "one team").pop("max_groups"),
    "groups alone": lambda d: of_query(d, "one team").pop("max_rows_per_group"),
    "more rows in each group": lambda d: of_query(d, "one team").update({"max_rows_per_group": 3}),
    "groups of a query without": lambda d: of_query(d, "total").update({"max_rows_per_group": 1}),
    "two limits of a query": lambda d: of_query(d, "one team").update({"max_rows": 1}),
    "wider totals": lambda d: of_query(d, "clipped").update({"total_bounds": [-0.5, 1.5]}),
    "totals of two rows": lambda d: of_query(d, "as one row").update({"total_bounds": [-1, 5]}),
    "totals of any size": lambda d: of_query(d, "clipped").pop("total_bounds"),
    "totals the wrong way": lambda d: of_query(d, "clipped").update({"total_bounds": [1.25, -0.5]}),
    "totals of a count": lambda d: of_query(d, "ever ill").update({"total_bounds": [0, 1]}),
    "balanced": lambda d: d.update({"balanced": True}),
    "a law of single values": lambda d: d["population"].update(
        {"model": "gaussian", "covariance": [[1.0]], "covers": ["x"]}
    ),
}


@pytest.fixture(scope="module", params=["laplace", "gaussian"])
def certified(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("capped")
    budget = DELTA if request.param == "gaussian" else None
    asked = study(table(), folder, [TOTAL, EVER, ONE_TEAM, CLIPPED, AS_ONE_ROW], budget)
    document = asked.release().certificate.to_dict()
    assert check(document)
    return document


def forged() -> Iterator[Any]:
    """Certificates of capped queries that lie, for the tests of the kernel's own rules."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as of_rows:
        asked = study(table(), folder, [TOTAL, EVER, ONE_TEAM, CLIPPED, AS_ONE_ROW])
        certificate = asked.release().certificate.to_dict()
        rows = study(table(), of_rows, [TOTAL], unit="row", max_rows=None).release()
    for lie in LIES.values():
        document = copy.deepcopy(certificate)
        lie(document)
        yield renewed(document)
    document = rows.certificate.to_dict()
    of_query(document, "total")["total_bounds"] = [0.0, 0.5]
    yield renewed(document)


@pytest.mark.parametrize("lie", LIES)
def test_the_kernel_counts_rows_by_itself(lie: str, certified: Any) -> None:
    document = copy.deepcopy(certified)
    LIES[lie](document)
    verdict = check(renewed(document))
    assert verdict.verdict == "INVALID"
    assert verdict.step not in ("digest", "assumptions")


def test_a_row_has_no_total_for_the_kernel(tmp_path: Any) -> None:
    """A sum of rows is Lipschitz in their values: one of clipped totals moves in another way."""
    made = study(table(), tmp_path, [TOTAL], unit="row", max_rows=None).release()
    document = made.certificate.to_dict()
    assert check(document)
    of_query(document, "total")["total_bounds"] = [0.0, 0.5]
    verdict = check(renewed(document))
    assert verdict.verdict == "INVALID"
    assert "each record is one row" in verdict.reason


def test_one_row_of_many_is_no_single_value_for_the_kernel(tmp_path: Any) -> None:
    made = study(table(), tmp_path, [EVER], max_rows=1).release().certificate.to_dict()
    assert check(made)
    law = {"model": "markov", "transition": [[0.5, 0.5], [0.5, 0.5]], "length": 20}
    made["population"] = law | {"covers": ["ill"]}
    verdict = check(renewed(made))
    assert verdict.verdict == "INVALID"
    assert "records have several rows" in verdict.reason


def test_the_curator_learns_what_is_left_out(tmp_path: Any) -> None:
    """And nobody else: a release says nothing of it."""
    asked = study(table(), tmp_path)
    assert asked.hints()[0].startswith("max_rows = 3: ")
    assert "left out" not in str(asked.release().to_dict())
