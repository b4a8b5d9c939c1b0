"""Means of records that are several rows: each has as many, or there is a way round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study, verify
from bayesdp.errors import InputError, TableMismatchError, UnsupportedError
from bayesdp.kernel import check
from bayesdp.release.price.plan import make_plan, structure_of
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.kernel.test_forgeries import renewed

HEIGHT = {"name": "height", "kind": "mean", "column": "height"}
TALL = {"name": "tall", "kind": "proportion", "where": "height > 170"}
TOTAL = {"name": "total", "kind": "sum", "column": "height"}
BY_TEAM = {"name": "by team", "kind": "sum", "column": "height", "by": "team"}


def table(persons: int = 30, visits: int = 4) -> pd.DataFrame:
    """Persons in households of three, each with as many visits."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"person": np.repeat(np.arange(persons), visits)})
    rows["household"] = rows.person // 3
    rows["team"] = np.where(rows.index % 3 == 0, "red", "blue")
    rows["height"] = rng.uniform(150.0, 190.0, size=len(rows)).round(1)
    return rows


def study(rows: pd.DataFrame, tmp_path: Any, *queries: dict[str, Any], **changes: Any) -> Study:
    of_record = {"unit": "person", "rows_per_unit": 4, "balanced": True} | changes
    return Study(
        rows,
        dataset="visits",
        n=30,
        columns={
            "person": {"public": True},
            "household": {"role": "cluster", "states": list(range(10))},
            "team": {"public": True, "states": ["red", "blue"]},
            "height": {"bounds": [140, 200], "unit": "cm"},
        },
        population={"model": "clusters", "size": 3, "covers": ["height"]},
        budget={"epsilon": 3.0, "ledger": f"sqlite:///{tmp_path}/ledger.db"},
        queries=list(queries or (HEIGHT, TALL, TOTAL, BY_TEAM)),
        **of_record,
    )


def test_means_and_proportions_are_over_all_rows(tmp_path: Any) -> None:
    rows = table()
    release = study(rows, tmp_path).release()
    assert verify(release.certificate)
    mean, tall, total, *_ = release.results
    assert (mean.rows, tall.rows, total.rows) == (120, 120, None)
    assert abs(mean.value - rows.height.mean()) < 5 * mean.error(0.95)
    assert abs(total.value - rows.height.sum()) < 5 * total.error(0.95)
    assert "exactly 4" in " ".join(release.certificate.to_dict()["assumptions"])


def test_errors_are_known_beforehand(tmp_path: Any) -> None:
    """The number of rows is public: thirty persons of four visits."""
    asked = study(table(), tmp_path)
    plan = asked.check().plan
    for query, result in zip(plan.queries[:2], asked.release().results, strict=False):
        assert query.asked.rows(plan.n) == 120
        assert query.wanted_error(plan.n) == pytest.approx(result.error(0.95))
    wanted = study(table(), tmp_path, HEIGHT | {"error": 8.0}).check().plan.queries[0]
    assert wanted.error(0.95, 120) == pytest.approx(8.0, rel=0.01)


def test_each_row_of_a_record_may_cross_the_whole_interval(tmp_path: Any) -> None:
    """By hand: four rows, each 60 cm of 120 rows; a masked sum would move by 200 cm a row."""
    here = study(table(), tmp_path, HEIGHT).check().plan.queries[0]
    assert here.noise_scale(120) == pytest.approx(4 * 60 / 120, rel=0.01)  # at a DP cost of 1
    unequal = study(table(), tmp_path, TOTAL, balanced=False).check().plan.queries[0]
    assert unequal.noise_scale(None) == pytest.approx(4 * 200, rel=0.01)


def test_no_neighbour_moves_a_sum_by_more_than_is_paid_for(tmp_path: Any) -> None:
    rows = table()
    asked = study(rows, tmp_path)
    plan = make_plan(asked.spec)
    columns, structure = asked.spec.columns, structure_of(asked.spec)
    queries = tuple(query.table_query() for query in plan.queries)
    for extreme in (140.0, 200.0):
        other = rows.copy()
        other.loc[other.person == 7, "height"] = extreme
        other.loc[other.person == 7, "team"] = "red" if extreme > 150.0 else "blue"
        first, second = (
            run(open_table(version), columns, queries, structure) for version in (rows, other)
        )
        for query in plan.queries:
            name = query.asked.spec.name
            here, there = first[name].values, second[name].values
            moved = sum(abs(here[key][0] - there[key][0]) for key in here)
            assert moved <= query.sensitivity


@pytest.mark.parametrize("visits", [3, 5])
def test_other_numbers_of_rows_are_refused(visits: int, tmp_path: Any) -> None:
    rows = table()
    first = rows[rows.person == 0]
    changed = rows.drop(index=0) if visits == 3 else pd.concat([rows, first.iloc[:1]])
    asked = study(changed, tmp_path, HEIGHT)
    assert [finding.code for finding in asked.inspect()] == ["unit-rows"]
    with pytest.raises(TableMismatchError):
        asked.release()


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (HEIGHT | {"by": "team"}, "by"),
        (TALL | {"by": "team"}, "by"),
        (HEIGHT | {"where": "team == 'red'"}, "where"),
    ],
)
def test_parts_of_a_record_are_no_public_number(query: Any, key: str, tmp_path: Any) -> None:
    """The remedy is a sum or a count, and these may be asked."""
    what = "sum" if query["kind"] == "mean" else "count"
    with pytest.raises(UnsupportedError, match=rf'{key}.*kind = "{what}"'):
        study(table(), tmp_path, query).check()
    assert verify(study(table(), tmp_path, query | {"kind": what}).release().certificate)


def test_the_remedy_for_unequal_records_works(tmp_path: Any) -> None:
    rows = table().drop(index=[3, 8, 9])
    with pytest.raises(
        UnsupportedError,
        match=r"write below \[data\]: balanced = true.*divide it by the number of rows",
    ):
        study(rows, tmp_path, HEIGHT, balanced=False).check()
    counted = {"name": "rows", "kind": "count", "where": "height >= 0"}
    release = study(rows, tmp_path, TOTAL, counted, balanced=False).release()
    assert verify(release.certificate)
    assert abs(release.results[1].value - 117) <= 5 * release.results[1].error(0.95)


def test_rows_are_not_balanced(tmp_path: Any) -> None:
    with pytest.raises(InputError, match=r"balanced.*leave it out"):
        study(table(), tmp_path, unit="row", rows_per_unit=None)


LIES: dict[str, Any] = {
    "nobody said so": lambda d: d.pop("balanced"),
    "half the rows": lambda d: d.update({"rows_per_unit": 2}),
    "twice the rows": lambda d: d.update({"rows_per_unit": 8}),
    "rows as records": lambda d: d.update({"unit": "row", "rows_per_unit": None}),
    "not true": lambda d: d.update({"balanced": False}),
    "other rows of the mean": lambda d: d["results"][0].update({"rows": 119}),
}


@pytest.mark.parametrize("lie", LIES)
def test_the_kernel_counts_rows_by_itself(lie: str, tmp_path: Any) -> None:
    document = study(table(), tmp_path, HEIGHT).release().certificate.to_dict()
    assert check(document)
    LIES[lie](document)
    verdict = check(renewed(document))
    assert verdict.verdict == "INVALID"
    assert verdict.step not in ("digest", "assumptions")
