"""Times that engines write in different ways, for the tests of every engine."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bayesdp.tables.checks.record_rows import text_of
from bayesdp.tables.source import Table

DAYS = [-800_000, -719_529, -719_163, -719_162, 0, 2_932_896, 2_932_897, 10_000_000, None]
"""Days since 1970: before and in the year 0, the ends of the years 1 to 9999, and beyond them."""


def far_times() -> Any:
    """An Arrow table of these days, and of the times a microsecond after they begin."""
    moments = pa.array([None if day is None else day * 86_400 * 10**6 + 1 for day in DAYS])
    return pa.table(
        {
            "i": list(range(len(DAYS))),
            "day": pa.array(DAYS, pa.int32()).cast(pa.date32()),
            "time": moments.cast(pa.timestamp("us")),
            "zoned": moments.cast(pa.timestamp("us", "UTC")),
        }
    )


def texts_of_times(table: Table) -> list[tuple[Any, ...]]:
    """The texts by which rows of a record are ordered, of each row."""
    cells = table.expression
    names = ("day", "time", "zoned")
    texts = {name: text_of(cells[name]) for name in names}
    return table.rows(cells.select(cells.i, **texts).order_by("i"))
