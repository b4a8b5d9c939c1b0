"""One study, by its source alone on another engine: the same integers before noise."""

from __future__ import annotations

import random
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bayesdp import Study
from bayesdp.kernel import check
from tests.postgres_server import Server

ROWS = 60
QUERIES: list[dict[str, Any]] = [
    {"name": "weighted", "kind": "sum", "column": "x", "weighted_by": "w"},
    {"name": "ill", "kind": "proportion", "where": "ill == 1", "weighted_by": "w"},
    {"name": "together", "kind": "covariance", "column": ["x", "w"], "by": "g"},
    {"name": "line", "kind": "regression", "outcome": "x", "on": ["w"]},
    {"name": "spread", "kind": "variance", "column": "x"},
    {"name": "by group", "kind": "series", "by": "g", "column": "x", "answers": "cumulative"},
    {"name": "states", "kind": "series", "column": "ill", "answers": "ranges"},
    {"name": "middle", "kind": "quantile", "column": "x", "probability": 0.5,
     "candidates": [-1.0, 0.25, 2.0]},
]  # fmt: skip
COLUMNS = {
    "x": {"bounds": [-1.0, 2.0]},
    "w": {"bounds": [0.0, 3.0], "missing": {"impute": 1.0}},
    "ill": {"states": [0, 1]},
    "g": {"public": True, "states": [1, 2, 3]},
}
OF_A_RELEASE = {"results", "release", "time", "ledger", "assumptions"}
"""The noise, name, time and debit of the release, and the assumptions that name these."""
NAMED = "the release ", "its debit is "
TYPES = {"x": "float8", "w": "float8", "ill": "int8", "g": "int8"}


def cells() -> dict[str, list[Any]]:
    rng = random.Random(11)
    tiny = [5e-324, -5e-324, 1e-200, -1e-200, 1e308, -1e308, 0.5, -0.0, 2.0**-537]
    return {
        "x": [rng.choice([*tiny, rng.uniform(-2, 3)]) for _ in range(ROWS)],
        "w": [rng.choice([*tiny, None, rng.uniform(-1, 4)]) for _ in range(ROWS)],
        "ill": [rng.randrange(2) for _ in range(ROWS)],
        "g": [1 + i % 3 for i in range(ROWS)],
    }


def study(source: Any, name: str, **other: Any) -> Study:
    made: dict[str, Any] = {
        "dataset": "engines",
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["x", "w", "ill"], "source": "us"},
        "budget": {"epsilon": 8.0, "adversary": "informed"},
        "queries": QUERIES,
        "ledger": f"{name}.db",
    }
    return Study(source, **(made | other))


GROUPS: dict[str, Any] = {
    "dataset": "visits",
    "columns": {
        "who": {"public": True},
        "shop": {"groups": "from data"},
        "code": {"groups": "from data"},
        "ill": {"states": [0, 1]},
    },
    "population": None,
    "unit": "who",
    "max_rows": 5,
    "budget": {"notion": "dp", "epsilon": 4.0, "delta": 1e-3, "mechanism_delta": 9e-4},
    "queries": [
        {"name": "shops", "kind": "count", "by": "shop"},
        {"name": "well", "kind": "count", "by": "shop", "where": "ill == 0 and shop != 'b'",
         "max_groups": 2, "max_rows_per_group": 2},
        {"name": "codes", "kind": "count", "by": "code", "max_rows": 2},
        {"name": "one each", "kind": "count", "by": "shop", "max_rows_per_group": 1},
    ],
}  # fmt: skip
"""Persons of several rows, whose groups are found in the data."""
GROUP_TYPES = {"who": "int8", "shop": "text", "code": "int8", "ill": "int8"}
NAMES = [
    "a",
    " a",
    "a\u2003",
    "A",
    "b",
    "ä",
    "a\u0308",
    "🙂",
    "",
    "NA",
    None,
    "x" * 101,
    "c\td",
    "a b",
]
"""Texts that are names, with spaces around them, and that are none."""


def visits() -> dict[str, list[Any]]:
    rng = random.Random(13)
    rows = 8 * ROWS
    return {
        "who": [rng.randrange(ROWS) for _ in range(rows)],
        "shop": [rng.choice(NAMES) for _ in range(rows)],
        "code": [rng.choice([None, 0, -7, 12, 2**62]) for _ in range(rows)],
        "ill": [rng.randrange(2) for _ in range(rows)],
    }


def same_in(source: Any, frame: pl.DataFrame, **other: Any) -> None:
    """The integers of a table at `source` are those of the `frame`, and so is what is paid."""
    here, there = study(frame, "here", **other), study(source, "there", **other)
    totals = [made._exact(made.ledger(), [])[1].totals for made in (here, there)]
    assert totals[0] == totals[1]
    known, again = (made.release().certificate for made in (here, there))
    assert check(again.to_dict()).verdict == "VALID ASSUMING"
    differ = {part for part in known.body if known.body[part] != again.body.get(part)}
    assert known.body.keys() == again.body.keys()
    assert differ <= OF_A_RELEASE, differ
    assumed = [set(made.body["assumptions"]) for made in (known, again)]
    assert all(text.startswith(NAMED) for text in assumed[0] ^ assumed[1])


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    monkeypatch.chdir(tmp_path)
    return pl.DataFrame(cells())


def test_a_file_is_as_a_frame(frame: pl.DataFrame) -> None:
    frame.write_parquet("table.parquet")
    same_in("table.parquet", frame)


def test_groups_of_a_file_are_those_of_a_frame(frame: pl.DataFrame) -> None:
    assert len(frame) == ROWS
    shops = pl.DataFrame(visits())
    shops.write_parquet("table.parquet")
    same_in("table.parquet", shops, **GROUPS)


def test_postgresql_is_as_a_frame(frame: pl.DataFrame, postgres: Server) -> None:
    same_in(postgres.load(TYPES, cells()), frame)
    same_in(postgres.load(GROUP_TYPES, visits()), pl.DataFrame(visits()), **GROUPS)


@pytest.mark.filterwarnings("ignore:.*socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="needs Java and pip install -r requirements-spark.lock (as .ci/run does)",
)
def test_spark_is_as_a_frame(frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_parquet("table.parquet")
    same_in(f"pyspark:///{tmp_path}/table.parquet", frame)
    shops = pl.DataFrame(visits())
    shops.write_parquet("visits.parquet")
    same_in(f"pyspark:///{tmp_path}/visits.parquet", shops, **GROUPS)
