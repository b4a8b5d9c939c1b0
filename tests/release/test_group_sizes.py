"""Declared sizes of groups: the errors of averages are known before the data are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.release import Study
from bayesdp.report.plain import check_document

ROWS = {"a": 60, "b": 30, "c": 10}
MEAN: dict[str, Any] = {"name": "m", "kind": "mean", "column": "x", "by": "g"}


def study(folder: Path, *queries: dict[str, Any], rows: dict[str, int] = ROWS) -> Study:
    groups = [group for group, count in rows.items() for _ in range(count)]
    frame = pd.DataFrame({"g": groups, "x": [float(i % 7) for i in range(len(groups))]})
    return Study(
        frame,
        dataset="d",
        n=100,
        columns={
            "g": {"public": True, "states": ["a", "b", "c"]},
            "x": {"bounds": [0, 10], "unit": "kg"},
        },
        population={"model": "independent", "covers": ["x"]},
        budget={"epsilon": 50.0},
        queries=list(queries),
        ledger=str(folder / "ledger.db"),
    )


def test_a_wanted_error_is_kept_in_the_smallest_group(tmp_path: Path) -> None:
    made = study(tmp_path, MEAN | {"group_sizes": ROWS, "error": 0.5, "confidence": 0.9})
    check = made.check()
    (query,) = check.plan.queries
    wanted = query.wanted_error(100)
    assert wanted is not None
    assert 0.4 < wanted <= 0.5
    assert wanted == query.error(0.9, 10)
    assert str(check).startswith("m: +- 0.")
    assert " kg (90 %)" in str(check)
    (plain,) = check_document(check)["queries"]
    assert plain["error"] == {"confidence": 0.9, "value": wanted}
    assert plain["errors"] == {group: query.error(0.9, size) for group, size in ROWS.items()}
    release = made.release()
    for result in release:
        assert result.error(0.9) <= plain["errors"][result.group]
        assert result.confidence == 0.9
        assert str(result).endswith("kg (90 %)")


def test_the_table_must_have_the_declared_sizes(tmp_path: Path) -> None:
    sizes = {"a": 59, "b": 31, "c": 10}
    made = study(tmp_path, MEAN | {"group_sizes": sizes})
    assert [finding.message for finding in made.inspect()] == [
        "The query 'm' declares 59 rows of the group 'a', and the table has 60.",
        "The query 'm' declares 31 rows of the group 'b', and the table has 30.",
    ]
    message = "declares 59 rows of the group 'a', and the table has 60. Nothing was released"
    with pytest.raises(TableMismatchError, match=message):
        made.release()
    assert made.spends() == []
    assert study(tmp_path, MEAN | {"group_sizes": ROWS}).inspect() == []


@pytest.mark.parametrize(
    ("changed", "key", "words"),
    [
        ({"group_sizes": {"a": 60, "b": 40}}, "group_sizes", "Add c"),
        ({"group_sizes": ROWS | {"A": 1}}, "group_sizes.A", "Known: a, b, c"),
        ({"group_sizes": ROWS | {"c": 0}}, "group_sizes.c", "at least 1"),
        ({"group_sizes": ROWS | {"c": 11}}, "group_sizes", "add up to data.n = 100"),
        ({"group_sizes": ROWS | {"c": 9}}, "group_sizes", "They add up to 99"),
        ({"group_sizes": {"a": 100}, "by": None}, "group_sizes", "by"),
        ({"error": 0.5}, "error", "group_sizes = { a = ..., b = ..., c = ... }"),
        ({"error": {"a": 0.5}}, "error", "one number"),
        ({"error": 0.5, "by": None, "where": "g == 'a'"}, "error", "the rows that match"),
    ],
)
def test_what_is_wrong_is_said(
    changed: dict[str, Any], key: str, words: str, tmp_path: Path
) -> None:
    query = {name: value for name, value in (MEAN | changed).items() if value is not None}
    with pytest.raises(InputError) as caught:
        study(tmp_path, query).check()
    assert caught.value.key == f"query[0].{key}"
    assert words in str(caught.value)


def test_a_condition_may_match_fewer_rows_than_there_are(tmp_path: Path) -> None:
    some = MEAN | {"where": "g != 'c'", "group_sizes": {"a": 60, "b": 30, "c": 1}}
    study(tmp_path, some).check()


def test_a_mean_of_some_rows_is_not_priced_as_one_of_all(tmp_path: Path) -> None:
    some = {"name": "some", "kind": "mean", "column": "x", "where": "g == 'c'"}
    made = study(tmp_path, some)
    check = made.check()
    (query,) = check.plan.queries
    assert query.wanted_error(100) is None
    assert " / rows kg (95 %)" in str(check)
    (result,) = made.release()
    assert result.error() == pytest.approx(query.error(0.95, 10))
