"""How fits read columns of a table of public or past data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.accounting.rounded import up_words
from bayesdp.errors import InputError
from bayesdp.statements.conditions import Reads
from bayesdp.tables.columns import Column
from bayesdp.tables.reading import MISSING, read
from bayesdp.tables.source import open_table

Numbers = NDArray[np.float64]


def complete_rows(
    source: object, reads: Mapping[str, Reads]
) -> tuple[tuple[NDArray[Any], ...], int]:
    """The columns of the rows in which none of them is missing, and how many others there are.

    `reads` says whether each column holds numbers or texts. Raises `InputError` for cells that
    can't be read as such.
    """
    table = open_table(source)
    columns = {name: Column(name=name, public=True) for name in reads}
    readings = {name: read(table, columns, name, kind) for name, kind in reads.items()}
    for name, reading in readings.items():
        for fault, rows in reading.faults.items():
            wrong = 0 if fault == MISSING else table.numbers(table.expression, rows.sum())[0]
            if wrong:
                raise InputError(
                    name,
                    f"{wrong} cells",
                    expected=f"a column of finite {reads[name]}s",
                    remedy="Correct these cells, or leave them empty.",
                )
    chosen = table.expression.select(**{f"c{i}": r.value for i, r in enumerate(readings.values())})
    rows = table.rows(chosen)
    complete = [row for row in rows if None not in row]
    arrays = tuple(np.array([row[i] for row in complete]) for i in range(len(reads)))
    return arrays, len(rows) - len(complete)


def between_words(lower: float, upper: float) -> str:
    """Both ends of a region in six digits, rounded outward."""
    return f"between {-float(up_words(-lower)):g} and {up_words(upper)}"


def check_confidence(confidence: float) -> None:
    """Raises `InputError` unless it lies between 0 and 1."""
    if isinstance(confidence, bool) or not 0.0 < confidence < 1.0:
        raise InputError(
            "confidence", confidence, expected="a number between 0 and 1, such as 0.95"
        )
