"""How many rows do not count, where a record may have more than are to count: for the curator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.tables.cells.stored import key_of
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.queries.query import TableQueries
from bayesdp.tables.refusals import counted
from bayesdp.tables.source import Table
from bayesdp.tables.sums.scan import counted_and_matching


def left_out(
    table: Table, columns: Mapping[str, Column], expected: Structure, plan: TableQueries
) -> list[str]:
    """A sentence on the rows that `max_rows` leaves out, and one for each query that is capped.

    They are private: for the curator, who chooses the numbers. The `table` has the `columns` and
    the structure that are `expected`, and `plan` is what is asked of it.
    """
    sentences = []
    if expected.max_rows is not None:
        sentences.append(_of_records(table, expected.unit, expected.max_rows))
    for name, (counting, matching) in counted_and_matching(table, columns, plan, expected).items():
        sentences.append(
            f"Query '{name}': of {counted(matching, 'row')} that could count, "
            f"{_share(matching - counting, matching)} are left out."
        )
    return sentences


def _of_records(table: Table, unit: str, most: int) -> str:
    key: Any = key_of(table.require(unit, "data.unit"))
    records = (
        table.expression.select(unit_=key).group_by("unit_").aggregate(rows_=lambda t: t.count())
    )
    above = records.rows_ > most
    beyond = (records.rows_ - most).sum(where=above)
    count, rows, longer, rest = table.numbers(
        records, records.count(), records.rows_.sum(), records.count(where=above), beyond
    )
    return (
        f"max_rows = {most}: {_share(longer, count)} of {counted(count, 'record')} have more rows; "
        f"{_share(rest or 0, rows)} of {counted(rows, 'row')} are left out."
    )


def _share(part: int, whole: int) -> str:
    """A number with its share of the whole."""
    return f"{part:,} ({100.0 * part / whole:.3g} %)" if whole else f"{part:,}"
