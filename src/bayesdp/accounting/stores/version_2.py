"""Ledgers of version 2, brought up to the present one.

Version 2 had a table for each kind of row, and no chain: what was edited before can't be told any
more. Its rows become entries in the order of their times. A transaction that only reads makes
these entries in memory; the first one that writes puts them into the file and takes the old tables
out, in one transaction, so that a crash leaves one version or the other.

Alembic is no help here: it changes the tables of a server, by scripts that an administrator runs,
and here any process that opens a file may be the first to do so. There are few versions, each is
one function, and rows have to be hashed one after the other in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, inspect, text

from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.log.contents import (
    columns_content,
    dataset_content,
    ledger_content,
    reading_content,
    refusal_content,
    release_content,
)
from bayesdp.accounting.log.entries import EntryKind, following
from bayesdp.accounting.log.schema import (
    DEFINITIONS,
    FORMAT,
    MIGRATED,
    VERSION,
    Log,
    definition,
    insert,
    result_content,
)
from bayesdp.notions import Cost

TABLES = (
    "extras", "results", "spends", "releases", "readings", "columns", "refused_costs", "refusals",
    "datasets",
)  # fmt: skip
"""The tables that version 2 had and this one hasn't, each before those that it refers to."""


@dataclass(frozen=True, slots=True)
class _Row:
    """What becomes of a row of an old ledger."""

    time: str
    kind: EntryKind
    content: str
    dataset: str = ""
    release: str = ""
    result: str | None = None


def read(connection: Connection, ledger: str) -> Log:
    """The entries of a ledger of version 2, written nowhere; the first has the name `ledger`.

    Raises `ValueError` for rows that no ledger has written.
    """
    others = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    for (name,) in _all(connection, others):
        raise ValueError(f"no ledger has a trigger or a view, such as {name}")
    rows = sorted(_rows(connection), key=lambda row: row.time)  # stable
    time = rows[0].time if rows else ""
    first = ledger_content(ledger, migrated=MIGRATED)
    entries = [following(None, "ledger", time=time, content=first)]
    texts: dict[int, str] = {}
    for row in rows:
        entry = following(
            entries[-1],
            row.kind,
            dataset=row.dataset,
            release=row.release,
            time=row.time,
            content=row.content,
        )
        entries.append(entry)
        if row.result is not None:
            texts[entry.sequence] = row.result
    return Log(connection, entries, texts)


def migrate(connection: Connection, ledger: str) -> Log:
    """The same, written in the place of the old tables. `connection` is in a transaction."""
    log = read(connection, ledger)
    for table in TABLES:
        connection.exec_driver_sql(f'DROP TABLE IF EXISTS "{table}"')
    for table in DEFINITIONS:
        if table != "meta":
            connection.exec_driver_sql(definition(table))
    insert(connection, log.entries, log.texts)
    connection.exec_driver_sql("DROP TABLE meta")
    connection.exec_driver_sql(definition("meta"))
    meta_values = {"format": FORMAT, "version": VERSION}
    for key, value in meta_values.items():
        connection.execute(
            text("INSERT INTO meta VALUES (:key, :value)"), {"key": key, "value": value}
        )
    return Log(connection, log.entries)


def _rows(connection: Connection) -> Iterator[_Row]:
    """All rows as what they become, each after those that it needs, with a time not before theirs.

    Clocks of several machines differ: a time may be before that of what was there already.
    """
    units: dict[str, str] = {}
    since: dict[str, str] = {}
    for row in _all(connection, "SELECT name, unit, time FROM datasets"):
        units[row.name], since[row.name] = row.unit, _text(row.time)
        yield _Row(row.time, "dataset", dataset_content(row.unit), row.name)
    for row in _all(connection, "SELECT * FROM columns ORDER BY sequence"):
        time = max(row.time, since[row.dataset])
        content = columns_content({row.name: _flag(row.private)})
        yield _Row(time, "columns", content, row.dataset)
    for row in _all(connection, "SELECT * FROM readings ORDER BY sequence"):
        time = since[row.dataset] = max(row.time, since[row.dataset])
        reading = Reading.from_dict(json.loads(row.reading))
        if reading.key() != row.key:
            raise ValueError("a reading doesn't match its key")
        yield _Row(time, "reading", reading_content(reading), row.dataset)
    yield from _releases(connection, units, since)
    yield from _refusals(connection)


def _releases(
    connection: Connection, units: dict[str, str], since: dict[str, str]
) -> Iterator[_Row]:
    """Debits and their results. `since` has for each data set the time of its last row so far."""
    spends = _spends(connection)
    results_of = {
        row.release: row for row in _all(connection, "SELECT release, result, time FROM results")
    }
    for row in _all(connection, "SELECT * FROM releases ORDER BY sequence"):
        unit = units[row.dataset]
        paid = [
            Spend.from_dict({**plain, "dataset": row.dataset, "unit": unit})
            for plain in spends.pop(row.id, [])
        ]
        time = since[row.dataset] = max(row.time, since[row.dataset])
        request = json.loads(row.request)
        if not isinstance(request, dict):
            raise ValueError("what a release asked for is not an object")
        content = release_content(
            analyst=row.analyst, study=row.study, request=request, spends=paid
        )
        yield _Row(time, "release", content, row.dataset, row.id)
        result = results_of.pop(row.id, None)
        if result is not None:
            json.loads(result.result)  # a ValueError where no ledger has written it
            later = max(time, result.time)
            result_text = result_content(result.result)
            yield _Row(later, "result", result_text, row.dataset, row.id, result.result)
    if spends or results_of:
        raise ValueError(f"rows of a release that is not there: {min([*spends, *results_of])}")


def _spends(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """The spends of each release, in their order."""
    extras = {}
    if inspect(connection).has_table("extras"):  # not in a ledger from before that table
        extras = {row.spend: row.fields for row in _all(connection, "SELECT * FROM extras")}
    spends: dict[str, list[dict[str, Any]]] = {}
    for row in _all(connection, "SELECT * FROM spends ORDER BY sequence"):
        extra = json.loads(extras.pop(row.sequence, "{}"))
        plain = {
            "query": row.query,
            "kind": row.kind,
            "dp_epsilon": row.dp_epsilon,
            "column": row.column,
            "interval": None if row.lower is None else [row.lower, row.upper],
            "slack": row.slack,
            "mechanism": row.mechanism,
            "dp_delta": row.dp_delta,
            "reads": json.loads(row.reads),
        }
        spends.setdefault(row.release, []).append(plain | extra)
    if extras:
        raise ValueError(f"what more is known of a spend that is not there: {min(extras)}")
    return spends


def _refusals(connection: Connection) -> Iterator[_Row]:
    """Refused attempts, with what they would have cost where that is known."""
    costs = {}
    if inspect(connection).has_table("refused_costs"):
        costs = {row.refusal: row for row in _all(connection, "SELECT * FROM refused_costs")}
    for row in _all(connection, "SELECT * FROM refusals ORDER BY sequence"):
        refused_cost = costs.get(row.sequence)
        cost = (
            None
            if refused_cost is None
            else Cost(any=refused_cost.dp_epsilon, rho_any=refused_cost.rho)
        )
        content = refusal_content(
            analyst=row.analyst, study=row.study, reason=row.reason, cost=cost
        )
        yield _Row(row.time, "refusal", content, row.dataset)


def _all(connection: Connection, statement: str) -> list[Any]:
    return list(connection.exec_driver_sql(statement))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a time that is not a text")
    return value


def _flag(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError("a column that is neither private nor public")
    return bool(value)
