"""Compare a table with what the study declares. The findings are for the curator only.

`inspect` returns findings with counts but no cells. Nobody but the curator may see them: they
depend on private values. A release raises `mismatch()`, whose message is the same whatever was
found. The order of records is that of the order column; rows of one series that stand in another
order in the file are a finding, because one of the two is then wrong.

Public names: `Structure`, `Finding`, `inspect`, `mismatch`, `count_records`. Keys of the order
column are in `order_keys`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bayesdp.errors import InputError, did_you_mean
from bayesdp.statements.conditions import Reads
from bayesdp.statements.queries import column_names
from bayesdp.tables.cells import reading
from bayesdp.tables.cells.order_keys import (
    offset_findings,
    order_key,
    order_step,
)
from bayesdp.tables.cells.stored import is_missing, key_of
from bayesdp.tables.cells.text_numbers import comma_remedy
from bayesdp.tables.checks.series import placed_series, series_findings, staged_series
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.checks.supports import support_findings
from bayesdp.tables.columns.column import Column
from bayesdp.tables.literals import literal
from bayesdp.tables.queries.query import TableQueries
from bayesdp.tables.refusals import Finding, UnreadableCellsError, counted, mismatch
from bayesdp.tables.source import Table, constant_column

__all__ = ["Finding", "Structure", "count_records", "inspect", "mismatch", "structure_findings"]


_WORDS = {
    reading.MISSING: "missing values that are not imputed",
    reading.NOT_A_NUMBER: "text that is not a number",
    reading.NOT_A_DURATION: "no duration such as 1:30:00, 2 days 01:30:00 or PT1H30M",
    reading.NOT_A_TIME: "no date or time of the years 1 to 9999",
    reading.NOT_FINITE: "NaN or an infinity",
    reading.UNDECLARED: "values that are not declared states",
    reading.UNLABELLED: "codes without a value label",
}


def inspect(
    table: Table, columns: Mapping[str, Column], expected: Structure, plan: TableQueries = ()
) -> list[Finding]:
    """Everything in which the table differs from the declared columns and structure.

    `plan` adds the plain public columns that its queries read. Raises
    `TableError` where a column is of another type (that much is in the table's schema). The
    findings hold counts and no cells; an empty list is a table as declared.
    """
    findings = _missing_columns(table, columns, expected)
    if findings:
        return findings
    try:
        for part in _checks(table, columns, expected, plan):
            findings += part
    except UnreadableCellsError as error:
        findings.append(error.finding)
    return findings


def _missing_columns(
    table: Table, columns: Mapping[str, Column], expected: Structure
) -> list[Finding]:
    """Columns that are not there, with similar names of the table: nothing else shows those."""
    names = [name for name, column in columns.items() if column.cells == (name,)]
    cells = [cell for column in columns.values() for cell in column.cells]
    names += [name for name in cells if name not in columns]
    if expected.unit != "row":
        names.append(expected.unit)
    return [
        Finding("no-column", f"Column '{name}' is not there. {did_you_mean(name, table.names)}")
        for name in dict.fromkeys(names)
        if name not in table.names
    ]


def _checks(
    table: Table, columns: Mapping[str, Column], expected: Structure, plan: TableQueries
) -> Iterator[list[Finding]]:
    readings = checked_columns(table, columns, plan)
    faults = [(mark.words, mark.code, table.expression[mark.column]) for mark in table.marks]
    faults += [
        (name, code, mark)
        for name, column in readings.items()
        for code, mark in column.faults.items()
    ]
    query = table.expression.select(
        **{f"f{i}": mark for i, (_, _, mark) in enumerate(faults)}, row_=constant_column()
    )
    marked = [query.count(where=query[f"f{i}"]) for i in range(len(faults))]
    counts = table.numbers(query, query.count(), *marked)
    yield [
        Finding(
            code,
            f"{_about(name, code)}{counted(count, 'row')}.{_remedy(table, columns, name, code)}",
        )
        for (name, code, _), count in zip(faults, counts[1:], strict=True)
        if count
    ]
    yield structure_findings(table, columns, expected, counts[0])[0]


def _remedy(table: Table, columns: Mapping[str, Column], name: str, code: str) -> str:
    """What to declare instead, where cells show it."""
    if code == reading.UNLABELLED:
        return " Declare as states the codes themselves, or label all codes in the file."
    if code != reading.NOT_A_NUMBER:
        return ""
    return comma_remedy(table, table.expression[columns[name].cells[0]])


def _about(name: str, code: str) -> str:
    """What is wrong with a column, or with a row as a whole: `name` then says it."""
    return f"Column '{name}': {_WORDS[code]} in " if code in _WORDS else f"{name}: "


def count_records(table: Table, unit: str = "row") -> int:
    """The number of records: rows, or values of the column `unit`. The table isn't checked."""
    records: Any = table.expression
    if unit != "row":
        key = key_of(table.require(unit, "data.unit"))
        records = records.select(unit_=key).distinct()
    count: int = table.numbers(records, records.count())[0]
    return count


def checked_columns(
    table: Table, columns: Mapping[str, Column], plan: TableQueries = ()
) -> dict[str, reading.ReadColumn]:
    """The readings of all columns whose cells are checked, by name.

    `columns` are the declared ones of the table; `plan` adds what its queries read. A row has a
    fault exactly where one of their values is NULL, or one of the table's marks is set.
    """
    reads = reads_of(plan)
    readings = {}
    for name, column in columns.items():
        if column.is_derived and column.source in columns:
            continue  # its source is checked
        if column.kind == "public" and name not in reads:
            continue  # the study declares nothing about it
        readings[name] = reading.read(table, columns, name, reads.get(name))
    return readings


def any_missing(values: Iterable[Any], marks: Iterable[Any] = ()) -> Any:
    """Whether any of these values is NULL, or any of the marks is set, as an expression."""
    import ibis

    marks = [*marks, *(value.isnull() for value in values)]
    return functools.reduce(lambda x, y: x | y, marks) if marks else ibis.literal(False)


def reads_of(plan: TableQueries) -> dict[str, Reads | None]:
    """The columns that a plan reads, with the type that its predicates compare them as.

    Raises `InputError` for a column that two predicates compare as different types.
    """
    reads: dict[str, Reads | None] = {}
    for query in plan:
        weights = getattr(query, "weighted_by", None)
        for named in (getattr(query, "column", None), query.by, weights):
            for name in column_names(named):
                reads.setdefault(name, None)
        for name, kind in query.where.reads if query.where else ():
            if reads.setdefault(name, kind) not in (None, kind):
                raise InputError(
                    f"query.{query.name}.where",
                    query.where.text if query.where else "",
                    expected=f"'{name}' to be compared with one type throughout the study",
                )
            reads[name] = kind
    return reads


def structure_findings(
    table: Table, columns: Mapping[str, Column], expected: Structure, rows: int
) -> tuple[list[Finding], int]:
    """What is wrong with the number of records or with their arrangement, and that number.

    `columns` are declared, `expected` is the arrangement that the study states, and the table has
    so many `rows`.
    Raises `InputError` where two columns have the same role.
    """
    keys: dict[str, str] = {c.role: name for name, c in columns.items() if c.role is not None}
    if len(keys) < sum(column.role is not None for column in columns.values()):
        raise InputError(
            "data.columns",
            keys,
            expected="each role for one column at most",
            remedy="Leave the role out of all other columns.",
        )
    findings: list[Finding] = []
    records, count = _records(table, columns, keys, expected, rows, findings)
    if expected.n is not None and count != expected.n:
        records_text = counted(count, "record")
        message = f"The table holds {records_text}, and n = {expected.n} is declared."
        if table.parts > 1 and expected.unit == "row":
            message += f" [data.wide] makes {table.parts} records of each row."
        findings.append(Finding("n", message))
    for column in columns.values():
        if column.is_dated or column.is_date:
            findings += offset_findings(table, column)
    if "member" in keys:
        findings += _member_findings(table, records, "cluster" in keys)
    if expected.panels:
        findings += _panel_findings(table, records, columns[keys["order"]], expected)
    if expected.cluster_size is not None:
        findings += _cluster_findings(table, records, "cluster" in keys, count, expected)
    if expected.series_length is not None or keys.keys() & {"series", "order"}:
        findings += series_findings(table, records, columns, keys, expected)
    if expected.ruled_out is not None and not findings:
        if "order" in keys:
            staged = staged_series(records, keys, expected)
            records = placed_series(staged, columns[keys["order"]])
        findings += support_findings(table, records, "cluster" in keys, columns, expected.ruled_out)
    return findings, count


def _records(
    table: Table,
    columns: Mapping[str, Column],
    keys: Mapping[str, str],
    expected: Structure,
    rows: int,
    findings: list[Finding],
) -> tuple[Any, int]:
    """One row per record with its cluster, series, order key and state, and their number.

    Populations that rule anything out are about records of one row.
    """
    source = table.expression
    keys_read: dict[str, Any] = {
        role: key_of(source[name]) for role, name in keys.items() if role != "order"
    }
    if "order" in keys:
        keys_read["order"] = order_key(table, columns[keys["order"]])
    if "member" in keys:  # as read: the texts 1 and 1.0 may be the same state
        keys_read["member"] = reading.read(table, columns, keys["member"]).value
    state: Any = constant_column()
    if expected.ruled_out is not None:
        state = expected.ruled_out.state_of(table, columns)
    if expected.unit == "row":
        if table.order is not None:
            keys_read["position"] = source[table.order]
        return source.select(**keys_read, state=state), rows
    unit = key_of(table.require(expected.unit, "data.unit"))
    grouped = source.select(unit_=unit, state=state, **keys_read).group_by("unit_")
    records = grouped.aggregate(
        rows_=lambda t: t.count(),
        state=lambda t: t.state.min(),
        **{role: lambda t, role=role: t[role].min() for role in keys_read},
        **{f"{role}_max": lambda t, role=role: t[role].max() for role in keys_read},
    )
    mixed = [records.count(where=records[role] != records[f"{role}_max"]) for role in keys_read]
    count, without, most, least, *split = table.numbers(
        records,
        records.count(),
        records.count(where=is_missing(table, records.unit_)),
        records.rows_.max(),
        records.rows_.min(),
        *mixed,
    )
    if without:
        findings.append(Finding("unit-missing", "Some rows have no value of the record's column."))
    if expected.rows_per_unit is not None and (most or 0) > expected.rows_per_unit:
        message = f"A record has {most} rows, and at most {expected.rows_per_unit} are declared."
        findings.append(Finding("unit-rows", message))
    elif expected.max_rows is not None and expected.balanced and (least or 0) < expected.max_rows:
        least_text = counted(least or 0, "row")
        message = f"A record has {least_text}, and at least {expected.max_rows} are declared."
        findings.append(Finding("unit-rows", message))
    elif (
        expected.max_rows is None
        and expected.balanced
        and least != expected.rows_per_unit
        and count
    ):
        least_text = counted(least, "row")
        message = f"A record has {least_text}, and exactly {expected.rows_per_unit} are declared."
        findings.append(Finding("unit-rows", message))
    for role, number in zip(keys_read, split, strict=True):
        if number:
            message = f"In more than one {role}: {counted(number, 'record')}."
            findings.append(Finding(f"unit-{role}", message))
    return records, count


def _cluster_findings(
    table: Table, records: Any, declared: bool, count: int, expected: Structure
) -> list[Finding]:
    size = expected.cluster_size or 0
    if declared:
        sizes = records.group_by("cluster").aggregate(size=lambda t: t.count())
        above = sizes.count(where=sizes["size"] > size)
        largest, number = table.numbers(sizes, sizes["size"].max(), above)
    else:
        largest, number = count, int(count > size)
    if not number:
        return []
    above = counted(number, "cluster")
    message = f"Above the declared size of {size}: {above}; the largest has {largest} records."
    if not declared:
        message = f"The table is one cluster of {count} records, and at most {size} are declared."
    return [Finding("cluster-size", message)]


def _panel_findings(
    table: Table, records: Any, column: Column, expected: Structure
) -> list[Finding]:
    """Clusters with more series, or over more steps, than any of the declared panels has."""
    clusters = records.group_by("cluster").aggregate(
        series=lambda t: t.series.nunique(),
        span=lambda t: t["order"].max() - t["order"].min(),
    )
    steps = (clusters.span / literal(order_step(column))).round() + 1
    beyond = [
        clusters.count(where=(clusters.series > series) | (steps > length))
        for series, length in expected.panels
    ]
    most, longest, *numbers = table.numbers(clusters, clusters.series.max(), steps.max(), *beyond)
    if not all(numbers):
        return []
    choices = " or ".join(
        f"{series} series over {length} steps" for series, length in expected.panels
    )
    message = (
        f"Above the declared size of {choices}: {counted(min(numbers), 'cluster')}; the largest "
        f"number of series in a cluster is {most}, that of steps {int(longest or 0)}."
    )
    return [Finding("panel-size", message)]


def largest_cluster(table: Table, columns: Mapping[str, Column], expected: Structure) -> int | None:
    """How many records the largest cluster of a table has; private, as findings are.

    `None` where no column has the role "cluster", or the table has fewer than two records. The
    table is as `inspect` finds it without fault.
    """
    keys: dict[str, str] = {c.role: name for name, c in columns.items() if c.role is not None}
    if "cluster" not in keys:
        return None
    records, _ = _records(table, columns, keys, expected, 0, [])
    sizes = records.group_by("cluster").aggregate(size=lambda t: t.count())
    largest, count = table.numbers(sizes, sizes["size"].max(), sizes["size"].sum())
    return largest if count and count > 1 else None


def _member_findings(table: Table, records: Any, clustered: bool) -> list[Finding]:
    """Records of a cluster that are the same member; without clusters the table is a cluster."""
    groups = ["cluster", "member"] if clustered else ["member"]
    places = records.filter(records.member.notnull()).group_by(groups)
    sizes = places.aggregate(size=lambda t: t.count())
    repeated = table.numbers(sizes, sizes.count(where=sizes["size"] > 1))[0]
    if not repeated:
        return []
    times = "Once" if repeated == 1 else f"{repeated} times"
    message = f"{times}, two or more records of a cluster are the same member."
    return [Finding("duplicate-member", message)]
