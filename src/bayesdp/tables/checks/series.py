"""What is wrong with the series of a table: their number, lengths, steps and order.

**Gaps.** A record that is absent at a public position of a series is one that no query reads. `L`
doesn't grow: it is a supremum over all mechanisms, also over those that ignore a record. The order
column needs a declared step so that a gap is seen as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.tables.cells.order_keys import (
    STEP_TOLERANCE,
    holds_dates,
    order_step,
)
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import Finding, counted
from bayesdp.tables.source import Table, constant_column


def series_findings(
    table: Table,
    records: Any,
    columns: Mapping[str, Column],
    keys: Mapping[str, str],
    expected: Structure,
) -> list[Finding]:
    """What differs between the series of the `records` and what is `expected` of them.

    `keys` says which of the declared `columns` has a role (series, order, cluster).
    """
    findings: list[Finding] = []
    length = expected.series_length
    staged = staged_series(records, keys, expected)
    stats: dict[str, Any] = {"size": lambda t: t.count()}
    if "order" in keys:
        stats |= {
            "start": lambda t: t["order"].min(),
            "end": lambda t: t["order"].max(),
            "unreadable": lambda t: t.count(where=t["order"].isnull()),
        }
    series = staged.group_by("series_").aggregate(**stats)
    expressions = [series.count(), series["size"].max()]
    if "order" in keys:
        steps = (series.end - series.start) / literal(order_step(columns[keys["order"]]))
        expressions += [series.unreadable.sum(), steps.round().max()]
    number, longest, *of_order = table.numbers(series, *expressions)
    if number > 1 and not expected.several_series:
        message = f"The table holds {number} series, and the population describes one."
        findings.append(Finding("several-series", message))
    if length is not None and longest > length:
        message = f"A series has {longest} records, and at most {length} are declared."
        findings.append(Finding("series-length", message))
    if "order" in keys:
        column = columns[keys["order"]]
        findings += _order_findings(table, staged, series, column, expected, *of_order)
    return findings


def staged_series(records: Any, keys: Mapping[str, str], expected: Structure) -> Any:
    """The records with columns that tell series apart (`series_`), and what starts together.

    Without a column of series they are one. The series of a cluster of a panel start together:
    their steps are counted from its first record.
    """
    import ibis

    if not expected.panels:
        series = records.series if "series" in keys else constant_column()
        return records.mutate(series_=series, starting_=series)
    return records.mutate(
        series_=ibis.struct({"cluster": records.cluster, "series": records.series}),
        starting_=records.cluster,
    )


def placed_series(staged: Any, column: Column) -> Any:
    """The records with their `place` from the start, and the `exact` number of steps to it."""
    start = staged.group_by("starting_").aggregate(start=lambda t: t["order"].min())
    started = staged.join(start, "starting_")
    exact = (started["order"] - started.start) / literal(order_step(column))
    return started.mutate(exact=exact, place=exact.round())


def _order_findings(
    table: Table,
    staged: Any,
    series: Any,
    column: Column,
    expected: Structure,
    unreadable: int | None,
    span: float | None,
) -> list[Finding]:
    """What is wrong with the order of records.

    `unreadable` of them have no order key, and the longest series spans `span` steps.
    """
    findings: list[Finding] = []
    if unreadable:
        records = counted(unreadable, "record")
        message = f"Column '{column.name}': no readable order key in {records}."
        if holds_dates(table, column):
            message += f' It holds dates, so its step is a text such as "1 day", not {column.step}.'
        findings.append(Finding("order-key", message))
    length = expected.series_length
    longest = (span or 0) + 1
    if length is not None and longest > length:
        message = f"A series spans {int(longest)} steps, and at most {length} are declared."
        findings.append(Finding("series-span", message))
    placed = placed_series(staged, column)
    slots = placed.group_by("series_", "place").aggregate(
        size=lambda t: t.count(),
        off=lambda t: t.count(where=(t.exact - t.place).abs() > STEP_TOLERANCE),
    )
    occupied = slots.filter(slots.place.notnull())
    shared = occupied.count(where=occupied["size"] > 1)
    repeats, off = table.numbers(occupied, shared, occupied.off.sum())
    if repeats:
        message = f"More than one record: at {counted(repeats, 'step')} of a series."
        findings.append(Finding("duplicate-order", message))
    if off:
        records = counted(off, "record")
        message = f"Off the declared step {column.step} of '{column.name}': {records}."
        findings.append(Finding("off-step", message))
    return findings + _misordered(table, staged, expected)


def _misordered(table: Table, staged: Any, expected: Structure) -> list[Finding]:
    """Rows of a series that stand before an earlier row of it, where rows have an order at all."""
    import ibis

    if not (table.ordered or table.order) or expected.unit != "row":
        return []
    numbered = staged if table.order else staged.mutate(position=ibis.row_number())
    window = ibis.window(group_by=numbered.series_, order_by=numbered.position)
    pairs = numbered.select("order", before=numbered["order"].lag().over(window))
    late = table.numbers(pairs, pairs.count(where=pairs["order"] < pairs.before))[0]
    if not late:
        return []
    rows = counted(late, "row")
    message = f"After a row of the same series with a later order key: {rows}."
    return [Finding("misordered", message)]
