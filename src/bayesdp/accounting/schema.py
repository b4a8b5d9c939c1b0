"""The ledger's tables, and rows to objects and back. Nothing here knows which database it is.

Every table only grows: a result is a row of its own rather than a change to its release, so no
statement of the ledger ever updates or deletes what is written.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    null,
    select,
)

from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.spend import Reading, Spend
from bayesdp.errors import LedgerError
from bayesdp.notions import Cost

FORMAT = "bayesdp-ledger"
VERSION = "2"

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
datasets = Table(
    "datasets",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("unit", String(255), nullable=False),
    Column("time", String(40), nullable=False),
)
readings = Table(
    "readings",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("dataset", ForeignKey("datasets.name"), nullable=False),
    Column("key", String(64), nullable=False),
    Column("reading", Text, nullable=False),
    Column("time", String(40), nullable=False),
    UniqueConstraint("dataset", "key"),
)
releases = Table(
    "releases",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("dataset", ForeignKey("datasets.name"), nullable=False),
    Column("analyst", Text, nullable=False),
    Column("study", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("time", String(40), nullable=False),
)
spends = Table(
    "spends",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("release", ForeignKey("releases.id"), nullable=False),
    Column("query", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("dp_epsilon", Double, nullable=False),
    Column("column", Text),
    Column("lower", Double),
    Column("upper", Double),
    Column("slack", Double, nullable=False),
    Column("mechanism", Text, nullable=False),
    Column("dp_delta", Double, nullable=False),
    Column("reads", Text, nullable=False),
)
# What is known of few spends. A ledger from before this table has none of it.
extras = Table(
    "extras",
    metadata,
    Column("spend", ForeignKey("spends.sequence"), primary_key=True),
    Column("fields", Text, nullable=False),
)
results = Table(
    "results",
    metadata,
    Column("release", ForeignKey("releases.id"), primary_key=True),
    Column("result", Text, nullable=False),
    Column("time", String(40), nullable=False),
)
columns = Table(
    "columns",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("dataset", ForeignKey("datasets.name"), nullable=False),
    Column("name", Text, nullable=False),
    Column("private", Boolean, nullable=False),
    Column("time", String(40), nullable=False),
    UniqueConstraint("dataset", "name"),
)
# A data set whose first release is refused has no row of its own yet.
refusals = Table(
    "refusals",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("dataset", Text, nullable=False),
    Column("analyst", Text, nullable=False),
    Column("study", Text, nullable=False),
    Column("reason", String(32), nullable=False),
    Column("time", String(40), nullable=False),
)
# What a refused release would have cost. A ledger from before this table has none of it.
refused_costs = Table(
    "refused_costs",
    metadata,
    Column("refusal", ForeignKey("refusals.sequence"), primary_key=True),
    Column("dp_epsilon", Double, nullable=False),
    Column("rho", Double, nullable=False),
)


def create(connection: Connection) -> None:
    """Make the tables of an empty ledger."""
    metadata.create_all(connection)
    rows = [{"key": "format", "value": FORMAT}, {"key": "version", "value": VERSION}]
    connection.execute(meta.insert(), rows)


def check(connection: Connection, where: str) -> None:
    """Refuse a database that is not a ledger, or is of another version.

    Raises `LedgerError`; `where` names the file in its message.
    """
    kept: dict[str, str] = {}
    if inspect(connection).has_table("meta"):
        kept = {str(key): str(value) for key, value in connection.execute(select(meta))}
    if kept.get("format") != FORMAT:
        raise LedgerError(
            "ledger",
            where,
            expected="a bayesdp ledger; this database is something else",
            remedy="Name the ledger's own file, or one that doesn't exist yet.",
        )
    if kept.get("version") != VERSION:
        raise LedgerError(
            "ledger",
            where,
            expected=f"a ledger of version {VERSION}; this one has {kept.get('version')!r}",
            remedy="Use the version of bayesdp that wrote it. Nothing was changed.",
        )


EXTRA: dict[str, Any] = {"rho": 0.0, "block": None}
"""Fields of a spend that are kept in `extras`, and only where they differ from this.

A spend that would be misread without one has no valid row without it: `dp_epsilon` is 0 beside a
`rho`, which no version takes for a cost. Without its block a spend counts for all records.
"""


def insert_spend(connection: Connection, spend: Spend, release: str) -> None:
    """Write a spend of the release with the id `release`; unusual values of fields to `extras`."""
    row = spend.to_dict()
    del row["dataset"], row["unit"]
    row["lower"], row["upper"] = row.pop("interval") or (None, None)
    extra = {name: row.pop(name) for name in EXTRA}
    extra = {name: value for name, value in extra.items() if value != EXTRA[name]}
    row |= {"release": release, "reads": canonical_json(row["reads"])}
    written = connection.execute(spends.insert(), row)
    if extra:
        extras.create(connection, checkfirst=True)
        (sequence,) = written.inserted_primary_key or (None,)
        kept = {"spend": sequence, "fields": canonical_json(extra)}
        connection.execute(extras.insert(), kept)


def insert_refusal(connection: Connection, row: dict[str, Any], cost: Cost | None) -> None:
    """Write a refused attempt: its `row`, and the `cost` that it would have had where it is known.

    `connection` is in a transaction of the ledger.
    """
    written = connection.execute(refusals.insert(), row)
    if cost is not None:
        refused_costs.create(connection, checkfirst=True)
        (sequence,) = written.inserted_primary_key or (None,)
        kept = {"refusal": sequence, "dp_epsilon": cost.dp_epsilon, "rho": cost.rho}
        connection.execute(refused_costs.insert(), kept)


def names_in(connection: Connection) -> list[str]:
    """The names of all data sets, sorted."""
    return list(connection.scalars(select(datasets.c.name).order_by(datasets.c.name)))


def refusals_in(connection: Connection) -> list[dict[str, Any]]:
    """Every refused attempt, as `Ledger.refusals` lists them."""
    named = [refusals.c[name] for name in ("dataset", "analyst", "study", "reason", "time")]
    if inspect(connection).has_table("refused_costs"):
        costs = refused_costs.c
        query = select(*named, costs.dp_epsilon, costs.rho.label("dp_rho")).select_from(
            refusals.join(refused_costs, isouter=True)
        )
    else:
        unknown = [null().label(name) for name in ("dp_epsilon", "dp_rho")]
        query = select(*named, *unknown).select_from(refusals)
    rows = connection.execute(query.order_by(refusals.c.sequence))
    return [dict(row) for row in rows.mappings()]


def spend_rows(connection: Connection) -> Select[Any]:
    """The query for every spend's row, with its entry in `extras` as `extra_fields`."""
    if not inspect(connection).has_table("extras"):
        return select(spends, null().label("extra_fields")).select_from(spends)
    joined = spends.outerjoin(extras, extras.c.spend == spends.c.sequence)
    return select(spends, extras.c.fields.label("extra_fields")).select_from(joined)


def spend_of(row: Row[Any], dataset: str, unit: str) -> Spend:
    """The spend of a row of `spend_rows`, which has no columns for its `dataset` and its `unit`."""
    extra = {} if row.extra_fields is None else json.loads(row.extra_fields)
    return Spend(
        **extra,
        dataset=dataset,
        unit=unit,
        query=row.query,
        kind=row.kind,
        dp_epsilon=row.dp_epsilon,
        column=row.column,
        interval=None if row.lower is None else (row.lower, row.upper),
        slack=row.slack,
        mechanism=row.mechanism,
        dp_delta=row.dp_delta,
        reads=tuple(json.loads(row.reads)),
    )


def release_row(connection: Connection, release_id: str) -> Any:
    """The row of a release. Raises `LedgerError` for a release that isn't in the ledger."""
    row = connection.execute(select(releases).where(releases.c.id == release_id)).one_or_none()
    if row is None:
        raise LedgerError("release", release_id, expected="the id of a release in this ledger")
    return row


def unit_of(connection: Connection, dataset: str) -> str | None:
    """The protected unit of a data set; `None` for a data set that isn't in the ledger."""
    return connection.scalar(select(datasets.c.unit).where(datasets.c.name == dataset))


def result_of(connection: Connection, release: str) -> str | None:
    """The text of a release's result; `None` before it is stored."""
    return connection.scalar(select(results.c.result).where(results.c.release == release))


def reading_row(dataset: str, reading: Reading, time: str) -> dict[str, Any]:
    """The row that keeps a reading of `dataset`, registered at `time` (a text in ISO 8601)."""
    text, key = reading.text(), reading.key()
    _WRITTEN[:] = [(text, key, reading)]
    return {"dataset": dataset, "key": key, "reading": text, "time": time}


def reading_of(row: Row[Any]) -> Reading:
    """The reading of a row. Raises `ValueError` if the row's key is not that of the reading."""
    return _read(row.reading, row.key)


_WRITTEN: list[tuple[str, str, Reading]] = []
"""The reading that was written last, with its text and key: it may be long, and is read next."""


@lru_cache(maxsize=64)
def _read(text: str, key: str) -> Reading:
    for written_text, written_key, written in _WRITTEN:
        if (text, key) == (written_text, written_key):
            return written
    reading = Reading.from_dict(json.loads(text))
    if reading.key() != key:
        raise ValueError("a reading doesn't match its key")
    return reading
