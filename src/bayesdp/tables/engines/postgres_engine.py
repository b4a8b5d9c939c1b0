"""PostgreSQL: a table where it lives, read only, in one snapshot.

All queries of a table run in one transaction, `REPEATABLE READ` and `READ ONLY`: checks and sums
see the same rows, and nothing is written. Names are looked up in `pg_catalog` alone, so that nobody
can put another function in the place of one that is meant. A policy that would hide rows is an
error, not a smaller table.

Public names: `PostgresEngine`, `open_postgres`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from bayesdp.errors import TableError, UnsupportedError, did_you_mean
from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.engines.postgres_urls import Address, parse
from bayesdp.tables.engines.public_rows import sendable
from bayesdp.tables.refusals import MOST_COLUMNS, UnreadableCellsError

if TYPE_CHECKING:
    import ibis.expr.types as ir

T = TypeVar("T")

_KEY = "data.source"
_ROWS_AT_ONCE = 10_000
_OLDEST = 140_000  # before it, parts of times are rounded
_SECONDS_TO_CONNECT = 20
_SETTINGS = (
    ("search_path", "pg_catalog"),
    ("timezone", "UTC"),
    ("datestyle", "ISO, YMD"),
    ("intervalstyle", "postgres"),
    ("bytea_output", "hex"),
    ("standard_conforming_strings", "on"),
    ("extra_float_digits", "1"),
    ("row_security", "off"),
    ("jit", "off"),  # it takes longer than the queries, which are long and read the table once
    ("lock_timeout", "60s"),
)
"""For the transaction only, so that a pooled connection is given back as it was."""
_LIMIT = "SELECT set_config('statement_timeout', '2h', true) WHERE {} = '0'".format(
    "current_setting('statement_timeout')"
)
_TYPES: Mapping[str, str] = {
    "bool": "boolean",
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "float4": "float32",
    "float8": "float64",
    "numeric": "decimal",
    "text": "string",
    "varchar": "string",
    "bpchar": "string",
    "uuid": "string",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp('UTC')",
}
"""By the name of a type in PostgreSQL, how it is read; others are columns that can't be."""
_COLUMNS = """
WITH RECURSIVE columns AS (
  SELECT a.attnum, a.attname, a.atttypid AS type
  FROM pg_catalog.pg_attribute a
  WHERE a.attrelid = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
), plain AS (
  SELECT attnum, attname, type FROM columns
  UNION ALL
  SELECT p.attnum, p.attname, t.typbasetype
  FROM plain p JOIN pg_catalog.pg_type t ON t.oid = p.type WHERE t.typtype = 'd'
)
SELECT p.attname, t.typname, t.typtype = 'e' OR n.nspname = 'pg_catalog', t.typtype
FROM plain p
JOIN pg_catalog.pg_type t ON t.oid = p.type
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype <> 'd'
ORDER BY p.attnum"""
_TABLE = """
SELECT c.oid, c.relkind FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(table)s"""
_CHANGES = r"""
WITH RECURSIVE used AS (
  SELECT %(table)s::oid AS oid
  UNION
  SELECT below.oid
  FROM used
  JOIN pg_catalog.pg_class c ON c.oid = used.oid
  CROSS JOIN LATERAL (
    SELECT d.refobjid AS oid
    FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.objid = r.oid
    WHERE r.ev_class = used.oid AND c.relkind = 'v'
      AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    UNION ALL
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = used.oid
  ) below
)
SELECT EXISTS (
  SELECT FROM used JOIN pg_catalog.pg_class c ON c.oid = used.oid
  WHERE c.relkind = 'f' OR (c.relkind = 'v'
    AND pg_catalog.pg_get_viewdef(c.oid) ~* '\mtablesample\M')
), EXISTS (
  SELECT FROM used
  JOIN pg_catalog.pg_class c ON c.oid = used.oid AND c.relkind = 'v'
  JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
  CROSS JOIN LATERAL pg_catalog.regexp_matches(
    r.ev_action::pg_catalog.text, ':(funcid|aggfnoid|winfnoid|opno) ([0-9]+)', 'g'
  ) AS called(parts)
  LEFT JOIN pg_catalog.pg_operator o
    ON called.parts[1] = 'opno' AND o.oid = called.parts[2]::pg_catalog.oid
  LEFT JOIN pg_catalog.pg_aggregate a
    ON called.parts[1] <> 'opno' AND a.aggfnoid = called.parts[2]::pg_catalog.oid
  JOIN pg_catalog.pg_proc p ON p.oid IN (
    CASE WHEN called.parts[1] = 'opno' THEN o.oprcode ELSE called.parts[2]::pg_catalog.oid END,
    a.aggtransfn, a.aggfinalfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn, a.aggcombinefn
  )
  WHERE p.provolatile = 'v' OR p.oid = 'pg_catalog.statement_timestamp()'::pg_catalog.regprocedure
)"""
"""Whether it is, holds, or is a view of a foreign table or a sample; and whether of a view, also of
views of views, that calls a function whose answers may differ from query to query.

Built-in functions are not dependencies in the catalog, so all that a view calls is read from the
tree of its query, where names and constants can't be taken for a function's number. The time of
the transaction (`now()`) is the same in all of its queries."""
_TABLES = """
SELECT c.relname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relkind IN ('r', 'p', 'v', 'm')"""


class PostgresEngine(Engine):
    """A connection of its own to PostgreSQL; `description` is that of the table, for errors."""

    name = "PostgreSQL"

    def __init__(self, connection: Any, description: str) -> None:
        import psycopg

        self.connection = connection
        self.errors = (psycopg.Error,)
        self._description = description
        self._cursors = itertools.count()
        weakref.finalize(self, connection.con.close)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        with self.connection.con.cursor() as cursor:
            rows: list[tuple[Any, ...]] = cursor.execute(sql).fetchall()
        return rows

    def fetch_each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Run a query, whose rows stay with the server until they are fetched."""
        cursor = self.connection.con.cursor(name=f"bayesdp_{next(self._cursors)}")
        with closing(cursor):
            self.reading(lambda: cursor.execute(sql))
            while rows := self.reading(lambda: cursor.fetchmany(_ROWS_AT_ONCE)):
                yield from rows

    def arrow(self, query: ir.Table) -> Any:
        """The rows of a query as an Arrow table; decimals without a scale as doubles."""
        import pyarrow

        loose = [
            name
            for name, kind in query.schema().items()
            if kind.is_decimal() and kind.precision is None
        ]
        if loose:
            query = query.mutate({name: query[name].cast("float64") for name in loose})
        rows = self.each_row(query)
        kind = query.schema().as_struct().to_pyarrow()
        pieces = [
            pyarrow.RecordBatch.from_struct_array(pyarrow.array(piece, type=kind))
            for piece in iter(lambda: list(itertools.islice(rows, _ROWS_AT_ONCE)), [])
        ]
        return pyarrow.Table.from_batches(pieces, schema=query.schema().to_pyarrow())

    def beside(self, data: Any) -> ir.Table:
        """An Arrow table as literal arrays in each query: nothing can be written here."""
        rows = sendable(data, self.name)
        return self.opening(lambda: _literal_rows(self.connection, rows), "the public table")

    def close(self) -> None:
        """End the transaction, which keeps others from changing the table's columns."""
        self.connection.con.close()

    @property
    def keeps_order(self) -> bool:
        """No: rows have an order only in a window that states it."""
        return False

    def reading(self, action: Callable[[], T]) -> T:
        """Run an action that reads cells.

        Raises `UnreadableCellsError` for the database's errors, but `TableError` where the
        connection is lost, and `UnsupportedError` where the study is too long for the database.
        """
        import psycopg

        try:
            return action()
        except psycopg.Error as error:
            state, kind = error.sqlstate or "", type(error).__name__
        if self.connection.con.closed:
            raise TableError(
                _KEY,
                self._description,
                expected="a connection that lasts until the table is read",
                remedy="It was lost. Run the command again.",
            )
        if state in _TOO_LONG:
            raise UnsupportedError(
                _KEY,
                self._description,
                expected=f"a study that fits in PostgreSQL's limits ({kind})",
                remedy="Ask for fewer cells in one study, or export the table to Parquet.",
            )
        raise UnreadableCellsError(
            "unreadable",
            f"The data engine gave up ({kind}): look for a number beyond its type, a view that "
            "fails, a policy that hides rows, or a query that took too long.",
        )


_TOO_LONG = {"54001", "54011", "54023"}
"""A statement too complex, with too many columns, or too many arguments: a matter of the study."""


def open_postgres(source: str) -> tuple[ir.Table, PostgresEngine]:
    """The expression of the table that a URL names, and its engine.

    Raises `TableError` where there is no such table or connection, and `UnsupportedError` without
    the library that connects.
    """
    address = parse(source)
    engine = PostgresEngine(_connected(address, source), source)
    return engine.opening(lambda: _table(engine, address, source), source), engine


def _connected(address: Address, source: str) -> Any:
    """An Ibis connection in the one transaction that reads."""
    try:
        import ibis.backends.postgres
        import psycopg
    except ImportError:
        raise UnsupportedError(
            _KEY,
            source,
            expected="the library that connects to PostgreSQL",
            remedy="Install it: pip install 'bayesdp[postgresql]'.",
        ) from None
    from bayesdp.tables.engines.postgres_compiler import COMPILER

    connection = None
    arguments: dict[str, Any] = dict(address.arguments())
    try:
        connection = psycopg.connect(
            **arguments,
            autocommit=True,
            connect_timeout=_SECONDS_TO_CONNECT,
            client_encoding="UTF8",
            application_name="bayesdp",
        )
        backend = ibis.backends.postgres.Backend.from_connection(connection)
        backend.compiler = COMPILER
        connection.autocommit = False
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.prepare_threshold = None  # a plan that is made once may be another's in a pool
        for name, value in _SETTINGS:
            connection.execute("SELECT pg_catalog.set_config(%s, %s, true)", (name, value))
        connection.execute(_LIMIT)
        encoding = connection.info.parameter_status("server_encoding")
        version = connection.info.server_version
    except psycopg.Error as error:
        kind = type(error).__name__
    else:
        if encoding == "UTF8" and version >= _OLDEST:
            return backend
        connection.close()
        raise TableError(
            _KEY,
            source,
            expected="a database of PostgreSQL 14 or newer whose encoding is UTF8",
            remedy="Export the table to Parquet.",
        )
    if connection is not None:
        connection.close()
    raise TableError(
        _KEY,
        source,
        expected="a database that can be reached",
        remedy=f"Connecting failed with {kind}: look at the host, the port, the database, the user "
        "and the password (PGPASSWORD).",
    )


def _table(engine: PostgresEngine, address: Address, source: str) -> ir.Table:
    import ibis.expr.datatypes as dt

    connection = engine.connection.con
    names = {"schema": address.schema, "table": address.table}
    known = connection.execute(_TABLE, names).fetchone()
    if known is None:
        tables = [name for (name,) in connection.execute(_TABLES, names)]
        raise TableError(
            _KEY,
            f"{address.schema}.{address.table}",
            expected="a table of this database",
            remedy=did_you_mean(address.table, tables),
        )
    changes, volatile = connection.execute(_CHANGES, {"table": known[0]}).fetchone()
    if known[1] not in ("r", "p", "v", "m") or changes:
        raise TableError(
            _KEY,
            source,
            expected="a table or a view whose rows are the same in all queries, and none of "
            "foreign tables or samples",
            remedy="Copy it into a table first: CREATE TABLE ... AS, or a materialized view.",
        )
    if volatile:
        raise TableError(
            _KEY,
            source,
            expected="a view whose rows are the same in all queries, and none that calls volatile "
            "functions, such as random() or clock_timestamp()",
            remedy="Make it a materialized view, or a table; a function of your own that depends "
            "on its arguments and on tables alone is declared STABLE or IMMUTABLE.",
        )
    columns = connection.execute(_COLUMNS, {"table": known[0]}).fetchall()
    if len(columns) > MOST_COLUMNS:
        raise TableError(
            _KEY,
            source,
            expected=f"at most {MOST_COLUMNS} columns",
            remedy="Name a view with the columns that the study declares.",
        )
    schema, parts = {}, []
    for name, kind, builtin, how in columns:
        read_as = "string" if how == "e" else _TYPES.get(kind) if builtin else None
        schema[name] = dt.dtype(read_as) if read_as else dt.Unknown(raw_type=kind)
        parts.append(_column(name, kind, read_as))
    selected = ", ".join(parts)
    table = f"{_quoted(address.schema)}.{_quoted(address.table)}"
    query: ir.Table = engine.connection.sql(f"SELECT {selected} FROM {table}", schema=schema)
    return query


def _literal_rows(connection: Any, data: Any) -> ir.Table:
    """The rows of an Arrow table of `sendable` types, as a query without a table."""
    import ibis
    from psycopg import sql

    schema = ibis.Schema.from_pyarrow(data.schema)
    names: list[str] = []
    arrays, chosen = [], []
    for name, kind in schema.items():
        stored = _STORED.get(str(kind.copy(nullable=True)), "numeric")
        values = data.column(name).to_pylist()
        if kind.is_string() and any(value is not None and "\0" in value for value in values):
            raise TableError(
                "data.join.columns",
                name,
                expected="texts without a character of number 0, which PostgreSQL doesn't have",
                remedy="Write the texts anew.",
            )
        literal = sql.Literal([_shortest(value) for value in values])
        arrays.append(f"CAST({literal.as_string(connection.con)} AS {stored}[])")
        names.append(f"c{len(names)}")
        collation = ' COLLATE "C"' if kind.is_string() else ""
        chosen.append(f"{names[-1]}{collation} AS {_quoted(name)}")
    rows = f"unnest({', '.join(arrays)}) AS public_rows({', '.join(names)})"
    query: ir.Table = connection.sql(f"SELECT {', '.join(chosen)} FROM {rows}", schema=schema)
    return query


_STORED = {
    "boolean": "boolean",
    "int64": "bigint",
    "float64": "float8",
    "string": "text",
    "date": "date",
    "timestamp(6)": "timestamp",
    "timestamp('UTC', 6)": "timestamptz",
}
"""By the type of a column that is sent, the type that holds it; decimals are numeric."""


def _shortest(value: Any) -> Any:
    """A value as a parameter of a query: doubles as the shortest text that names them."""
    return repr(value) if isinstance(value, float) else value


def _column(name: str, kind: str, read_as: str | None) -> str:
    """A column of a plain type; texts are told apart and sorted by their bytes."""
    quoted = _quoted(name)
    if read_as is None:
        return quoted
    if read_as == "string":
        return f'CAST({quoted} AS text) COLLATE "C" AS {quoted}'
    return f"CAST({quoted} AS {kind}) AS {quoted}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
