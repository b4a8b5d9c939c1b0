"""Texts that are no declared state count as one of them, where the column says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.errors import InputError, TableMismatchError
from bayesdp.release import Study
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.kernel.test_forgeries import refused, renewed

Document = dict[str, Any]
REGION: Document = {"states": ["north", "else", "south"], "other": "else"}
TEXTS = ["north", "south", "west", " north", "North", "else", "Ünder", "ålt'", "west"]
COUNTS = [1.0, 7.0, 1.0]  # texts are compared letter by letter


def study(
    folder: Path, source: Any, texts: list[str | None] = TEXTS, column: Document = REGION
) -> Study:
    return Study(
        source,
        dataset="d",
        n=len(texts),
        columns={"region": column, "old": {"bounds": [0, 1], "missing": {"impute": 0}}},
        population={"model": "independent", "covers": ["region"], "source": "us"},
        budget={"epsilon": 1e4},
        queries=[
            {"name": "cells", "kind": "histogram", "column": "region"},
            {"name": "else", "kind": "count", "where": "region == 'else'"},
            {"name": "north", "kind": "count", "where": "region in ['north', 'south']"},
        ],
        ledger=str(folder / "ledger.db"),
    )


def frame(texts: list[str | None] = TEXTS) -> pd.DataFrame:
    return pd.DataFrame({"region": texts, "old": 1.0})


def as_csv(folder: Path) -> str:
    frame().to_csv(folder / "table.csv", index=False)
    return str(folder / "table.csv")


def as_parquet(folder: Path) -> str:
    frame().to_parquet(folder / "table.parquet")
    return str(folder / "table.parquet")


@pytest.mark.parametrize("write", [lambda folder: frame(), as_csv, as_parquet])
def test_other_texts_are_counted(write: Callable[[Path], Any], tmp_path: Path) -> None:
    release = study(tmp_path, write(tmp_path)).release()
    assert [result.value for result in release["cells"]] == COUNTS
    assert [result.cell for result in release["cells"]] == ["north", "else", "south"]
    assert release["else"].value == COUNTS[1]
    assert release["north"].value == COUNTS[0] + COUNTS[2]
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    assert release.certificate.body["columns"]["region"]["other"] == "else"


def test_missing_values_are_no_other_texts(tmp_path: Path) -> None:
    texts: list[str | None] = [*TEXTS, None]
    with pytest.raises(TableMismatchError):
        study(tmp_path, frame(texts), texts).release()
    imputed = REGION | {"missing": {"impute": "south", "codes": ["west"]}}
    release = study(tmp_path, frame(texts), texts, imputed).release()
    assert [result.value for result in release["cells"]] == [1.0, 5.0, 4.0]


def test_no_neighbour_s_counts_are_further_than_priced(tmp_path: Path) -> None:
    """Whatever a record's text is, it counts in one cell."""
    made = study(tmp_path, frame(), ["north", "west"])
    (query, *_) = made.check().plan.queries
    counts = {
        texts: run(open_table(frame(list(texts))), made.spec.columns, [query.table_query()])[
            "cells"
        ].values[None]
        for texts in product(["north", "west", "east", "else", "south"], repeat=2)
    }
    assert all(sum(counted) == 2 for counted in counts.values())
    far = max(
        sum(abs(a - b) for a, b in zip(counts[x, y], counts[x, z], strict=True))
        for x, y, z in product(["north", "west", "east", "else", "south"], repeat=3)
    )
    assert far == query.sensitivity == 2


REFUSED: dict[str, tuple[Document, str]] = {
    "no state": (REGION | {"other": "west"}, "one of the states"),
    "numbers": ({"states": [1, 2], "other": "2"}, "states that are texts"),
    "a number": (REGION | {"other": 1}, "states that are texts"),
    "no states": ({"bounds": [0, 1], "other": "else"}, "states that are texts"),
    "public": (REGION | {"public": True}, "not protected"),
    "a role": (REGION | {"role": "member"}, "not protected"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    column, words = REFUSED[name]
    with pytest.raises(InputError, match=f"other.*{words}"):
        parse_columns({"region": column})


def test_what_the_kernel_refuses(tmp_path: Path) -> None:
    document = json.loads(study(tmp_path, frame()).release().certificate.to_json())
    declared = document["columns"]["region"]
    for changed in ({"other": "west"}, {"public": True}, {"other": 1}):
        forged = document | {"columns": document["columns"] | {"region": declared | changed}}
        refused(renewed(forged), "columns")
