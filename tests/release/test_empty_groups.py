"""Declared groups without rows: `inspect` and `release` say the same of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.release import Study
from bayesdp.verification import verify

TABLE = pd.DataFrame({"g": ["a", "a", "c"], "x": [1.0, 2.0, 3.0]})


def study(folder: Path, table: Any = TABLE, **query: Any) -> Study:
    return Study(
        table,
        dataset="groups",
        n=3,
        columns={
            "g": {"public": True, "states": ["a", "b", "c"]},
            "x": {"bounds": [0, 4]},
            "late": {"from": "g", "where": "g == 'b'"},
        },
        population={"model": "independent", "covers": ["x"]},
        budget={"epsilon": 1.0},
        queries=[{"name": "q", **query}],
        ledger=str(folder / "ledger.db"),
    )


def test_counts_sums_and_histograms_of_no_rows_are_released(tmp_path: Path) -> None:
    queries: list[dict[str, Any]] = [
        {"kind": "count", "where": "x > 1", "by": "g"},
        {"kind": "count", "where": "x > 1 and g == 'b'"},
        {"kind": "sum", "column": "x", "by": "g"},
        {"kind": "sum", "column": "x", "where": "g == 'b'"},
        {"kind": "histogram", "column": "x", "bins": [0, 2, 4], "by": "g"},
    ]
    for number, query in enumerate(queries):
        made = study(tmp_path / str(number), **query)
        (tmp_path / str(number)).mkdir()
        assert made.inspect() == []
        assert verify(made.release().certificate).verdict == "VALID ASSUMING"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"kind": "mean", "column": "x", "by": "g"}, "no rows in the group 'b' of 'g', so there"),
        ({"kind": "mean", "column": "x", "where": "g == 'b'"}, "no rows where g == 'b', so there"),
        (
            {"kind": "mean", "column": "x", "where": "g != 'a'", "by": "g"},
            "no rows in the group 'a' of 'g' where g != 'a', so there",
        ),
        (
            {"kind": "proportion", "where": "x > 1", "by": "g"},
            "no rows in the group 'b' of 'g', so there is no proportion of them.",
        ),
    ],
)
def test_an_average_of_no_rows_is_refused_by_its_name(
    tmp_path: Path, query: dict[str, Any], words: str
) -> None:
    made = study(tmp_path, **query)
    finding = made.inspect()[0]
    assert finding.code == "empty-group"
    assert words in finding.message
    with pytest.raises(TableMismatchError) as error:
        made.release()
    assert str(error.value) == f"{finding.message} Nothing was released and nothing was spent."
    assert made.spends() == []


def test_the_remedy_for_a_condition_without_rows_can_be_followed(tmp_path: Path) -> None:
    """Its groups are 0 and 1: there are no states to leave one out of."""
    made = study(tmp_path, kind="mean", column="x", by="late")
    with pytest.raises(TableMismatchError, match="of no rows, or leave out by = 'late'"):
        made.release()


def test_what_is_private_is_not_told_beside_it(tmp_path: Path) -> None:
    """An unreadable cell is refused in the words for all of them, whatever groups there are."""
    words = []
    for groups in (["a", "b", "c"], ["a", "a", "c"]):
        table = TABLE.assign(g=groups, x=[1.0, None, 3.0])
        with pytest.raises(TableMismatchError) as error:
            study(tmp_path, table, kind="mean", column="x", by="g").release()
        words.append(str(error.value))
    assert words[0] == words[1]
    assert "curator only" in words[0]


@pytest.mark.parametrize("source", ["x.ods", "x.rds", "sqlite:///x.db?table=t", "x.duckdb::", " "])
def test_sources_that_no_release_reads_are_refused_at_once(tmp_path: Path, source: str) -> None:
    with pytest.raises(InputError, match=r"data\.source"):
        study(tmp_path, source, kind="sum", column="x")
    assert study(tmp_path, "not-there.parquet", kind="sum", column="x").check().plan.queries
