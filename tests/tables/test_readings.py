"""A value is missing exactly where a fault marks the row: sums learn from values what is sound."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bayesdp.errors import InputError
from bayesdp.tables.cells import reading
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import Table, open_table

NUMBERS = [None, 0.0, -0.0, 1.0, 2.0, 0.5, 5e-324, 1e308, 2.0**53, math.nan, math.inf, -math.inf]
WHOLE = [None, 0, 1, 2, 3, -1, 2**53, 2**53 + 1, 2**62]
TEXTS = [None, "", "NA", " ", "a", " a", "b", "c", "0", "1", "1.0", "1e0", "1_0", "nan", "inf"]
TEXTS += ["-inf", "1e400", "9007199254740993", "true", "True", "t", "2024-02-30", "2024-02-29"]
TEXTS += ["2024-02-29T12:00:00+02:00", "0000-01-01", "1:30:00", "PT1H", "é"]
TIMES = [None, dt.datetime(2024, 2, 29, 12), dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)]
DECLARED: dict[str, dict[str, Any]] = {
    "bounds": {"bounds": [0, 1]},
    "imputed": {"bounds": [0, 1], "missing": {"impute": 0.5}},
    "numbers": {"states": [0, 1, 2]},
    "imputed numbers": {"states": [0, 1, 2], "missing": {"impute": 2}},
    "texts": {"states": ["a", "b", "NA"]},
    "imputed texts": {"states": ["a", "b"], "missing": {"impute": "b"}},
    "booleans": {"states": [True, False]},
    "dates": {"bounds": ["2024-01-01", "2024-12-31"]},
    "durations": {"bounds": ["0 hours", "2 hours"]},
    "public": {"public": True},
    "cluster": {"role": "cluster"},
    "order": {"role": "order", "step": "1 day"},
}
CELLS: dict[str, pa.Array] = {
    "double": pa.array(NUMBERS, pa.float64()),
    "float": pa.array(NUMBERS, pa.float32()),
    "int8": pa.array([None, 0, 1, 2, 3, -1], pa.int8()),
    "uint32": pa.array([None, 0, 1, 2, 3, 2**32 - 1], pa.uint32()),
    "int64": pa.array(WHOLE, pa.int64()),
    "decimal": pa.array(WHOLE, pa.int64()).cast(pa.decimal128(38, 2)),
    "text": pa.array(TEXTS, pa.string()),
    "boolean": pa.array([None, True, False]),
    "time": pa.array(TIMES, pa.timestamp("us")),
    "duration": pa.array([None, 0, 3_600_000_000], pa.duration("us")),
}


LONGEST = max(map(len, CELLS.values()))
TABLE = pa.table(
    {
        name: pa.concat_arrays([cells, pa.nulls(LONGEST - len(cells), cells.type)])
        for name, cells in CELLS.items()
    }
)


def marked_and_missing(
    table: Table, column: str, declared: dict[str, Any]
) -> list[tuple[bool, bool]]:
    """For each row whether a fault marks it, and whether the value is NULL."""
    read = reading.read(table, parse_columns({column: declared}), column)
    marks = {f"m{i}": mark for i, mark in enumerate(read.faults.values())}
    query = table.expression.select(value=read.value, **marks)
    rows = table.rows(query.select(*marks, empty=query.value.isnull()))
    return [(any(row[:-1]), row[-1]) for row in rows]


@pytest.mark.parametrize("declared", DECLARED)
def test_a_value_is_null_exactly_where_there_is_a_fault(declared: str) -> None:
    table, refused = open_table(TABLE), []
    for column in CELLS:
        try:
            answers = marked_and_missing(table, column, DECLARED[declared])
        except InputError:  # a column of this type
            refused.append(column)
            continue
        assert all(marked == missing for marked, missing in answers), column
    assert len(refused) < len(CELLS)


@pytest.mark.parametrize("declared", DECLARED)
def test_also_in_files_of_texts(declared: str, tmp_path: Path) -> None:
    lines = ['"' + text + '"' for text in TEXTS if text is not None]
    (tmp_path / "t.csv").write_text("\n".join(["x", *lines]) + "\n", encoding="utf-8")
    answers = marked_and_missing(open_table("t.csv", tmp_path), "x", DECLARED[declared])
    assert all(marked == missing for marked, missing in answers)
    assert len(answers) == len(lines)
