"""Apache Spark, for tables that outgrow one machine: local files, Spark Connect, and data frames.

Integers before noise are those of DuckDB: each table has a Spark session of its own, whose settings
make an overflow an error and times UTC, and `spark_compiler` mends the words of Ibis. One state of
the table is read: files that change meanwhile are refused, and every other table is copied once
into the executors' storage (`DataFrame.localCheckpoint`), because its rows may differ each time
that Spark computes them. Rows have no order.

Public names: `SparkEngine`, `open_files`, `open_connect`, `open_frame`.
"""

from __future__ import annotations

import logging
import os
import subprocess
import uuid
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from bayesdp.errors import TableError, UnsupportedError
from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.engines.public_rows import sendable
from bayesdp.tables.engines.spark_urls import ConnectAddress
from bayesdp.tables.files.parquet_files import Types, stated_types
from bayesdp.tables.refusals import check_header

if TYPE_CHECKING:
    import ibis.expr.types as ir

T = TypeVar("T")

_KEY = "data.source"
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # a sum that overflows is an error
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",  # ${...} in a text of the study is that text
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # days as DuckDB reads them
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
"""What expressions mean depends on these."""
_LOCAL = {
    "spark.master": "local[*]",
    "spark.app.name": "bayesdp",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOGGERS = "SQLQueryContextLogger", "DataFrameQueryContextLogger"
"""Spark's library prints errors through these, which may quote cells."""
_MOST_RETRIES = 4
_FOREIGN = "timestamp[ns", "time32", "time64", "decimal256", "null"
"""Types of Parquet files that Spark can't read, or reads as something else."""


class SparkEngine(Engine):
    """A Spark session of its own for one table, which has the name `view` there."""

    name = "Spark"

    def __init__(
        self, session: Any, frame: Any, description: str, files: Sequence[str] = ()
    ) -> None:
        """A data `frame` of the `session`, read from `files` only, if there are any."""
        import ibis

        from bayesdp.tables.engines.spark_compiler import COMPILER

        self.errors = _errors()
        self._session, self._frame, self._description = session, frame, description
        self._view = f"bayesdp_source_{uuid.uuid4().hex}"
        self.watch(files)
        self._is_fixed = bool(files)
        with _quiet():
            self.connection = ibis.pyspark.connect(session)
            self.connection.compiler = COMPILER
            frame.createOrReplaceTempView(self._view)

    def keep(self, names: Collection[str]) -> None:
        """From now on the table has these of its columns only: others would be copied in vain.

        Files are not copied, and keep all columns; so does a table that has none of these.
        """
        kept_names = [name for name in self._frame.columns if name in names]
        if kept_names and not self._is_fixed:
            quoted = ["`" + name.replace("`", "``") + "`" for name in kept_names]
            with _quiet():
                self._frame = self._frame.select(*quoted)
                self._frame.createOrReplaceTempView(self._view)

    def table(self) -> ir.Table:
        """The table's Ibis expression."""
        expression: ir.Table = self.connection.table(self._view)
        return expression

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query. Raises `UnreadableCellsError` where the files are others by now."""
        with self._fixed():
            return [tuple(row) for row in self._session.sql(sql).collect()]

    def fetch_each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Run a query and fetch its rows in pieces.

        Raises `UnreadableCellsError` as `fetch` does.
        """
        rows = self._each(sql)
        while (row := self.reading(lambda: next(rows, None))) is not None:
            yield tuple(row)

    def _each(self, sql: str) -> Iterator[Any]:
        with self._fixed():
            yield from self._session.sql(sql).toLocalIterator()

    def arrow(self, query: ir.Table) -> Any:
        """The rows of a query as an Arrow table of the query's types."""
        sql, schema = self.compiled(query), query.schema().to_pyarrow()

        def fetched() -> Any:
            with self._fixed():
                return self._session.sql(sql).toArrow().cast(schema)

        return self.reading(fetched)

    def beside(self, data: Any) -> ir.Table:
        """An Arrow table that is sent to Spark, as a view of this session."""
        rows, view = sendable(data, self.name), f"bayesdp_public_{uuid.uuid4().hex}"

        def sent() -> ir.Table:
            with _quiet():
                self._session.createDataFrame(rows).createOrReplaceTempView(view)
                table: ir.Table = self.connection.table(view)
                return table

        return self.opening(sent, "the public table")

    @property
    def keeps_order(self) -> bool:
        """No: rows have an order only in a window that states it."""
        return False

    @contextmanager
    def _fixed(self) -> Iterator[None]:
        """A query that runs in here reads the one state of the table; files are looked at again."""
        with _quiet():
            if not self._is_fixed:
                with _active(self._session):
                    self._frame = self._frame.localCheckpoint()
                self._frame.createOrReplaceTempView(self._view)
                self._is_fixed = True
            yield
        self.require_unchanged()


def open_files(paths: Sequence[str], source: str) -> tuple[SparkEngine, Types]:
    """Parquet files on this machine, read by Spark on its processors; and the types of columns.

    Raises `TableError` for files that can't be read or whose columns are not all of the same types,
    `UnsupportedError` without Spark or Java.
    """
    paths = [os.path.abspath(path) for path in paths]
    types = stated_types(paths[0], source)
    if any(stated_types(path, source) != types for path in paths[1:]):
        raise TableError(
            _KEY,
            source,
            expected="files whose columns have the same names and types, in the same order",
            remedy="Write the files anew with one type for each column, or read them with DuckDB: "
            "leave out 'pyspark:///'.",
        )
    foreign = sorted({kind for kind in types.values() if kind.startswith(_FOREIGN)})
    if foreign:
        raise TableError(
            _KEY,
            source,
            expected=f"columns of types that Spark can read, and not {', '.join(foreign)}",
            remedy="Write the files anew (times in microseconds), or read them with DuckDB: leave "
            "out 'pyspark:///'.",
        )
    session = _local_session(source)

    def opened() -> SparkEngine:
        with _quiet():
            frame = session.read.parquet(*(f"file://{path}" for path in paths))
            read = {unquote(urlsplit(file).path) for file in frame.inputFiles()}
        if read != set(paths):
            raise TableError(
                _KEY,
                source,
                expected="files that Spark reads",
                remedy="It passes over names that start with _ or a dot, and takes *, ?, [, { and "
                "\\ in a name for a pattern: rename the file.",
            )
        return SparkEngine(session, _readable(frame, source), source, paths)

    return _opening(opened, source, "a file that Spark can read"), types


def open_connect(address: ConnectAddress, source: str) -> SparkEngine:
    """A table of a server of Spark Connect.

    Raises `TableError` where there is no such table or server, and `UnsupportedError` without the
    library that connects.
    """
    _require_library(source)
    url = address.url()

    def opened() -> SparkEngine:
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession

        with _quiet():
            session = SparkSession(url)
            session.client.set_retry_policies([DefaultPolicy(max_retries=_MOST_RETRIES)])
            _set(session, source)
            frame = _readable(session.table(address.table), source)
            engine = SparkEngine(session, frame, source)
        weakref.finalize(engine, _stopped, session)
        return engine

    return _opening(
        opened, source, "a table of a server of Spark Connect, with a token that it knows"
    )


def open_frame(frame: Any) -> SparkEngine:
    """A data frame of Spark, whose rows are copied once.

    Raises `TableError` for a frame that can't be read, and `UnsupportedError` for one of Spark
    Connect, whose session has no second one with settings of its own.
    """
    description = "the data frame of Spark"
    session = frame.sparkSession
    if not hasattr(session, "newSession") or type(session).__module__.startswith(
        "pyspark.sql.connect"
    ):
        raise UnsupportedError(
            _KEY,
            description,
            expected="a data frame of a session of its own, not of Spark Connect",
            remedy="Save it as a table, and give its URL: sc://host:15002/?table=schema.name.",
        )

    def opened() -> SparkEngine:
        shared = f"bayesdp_frame_{uuid.uuid4().hex}"
        with _quiet():
            own = session.newSession()
            _set(own, description)
            frame.createGlobalTempView(shared)
            try:
                place = own.conf.get("spark.sql.globalTempDatabase")
                copied = _readable(own.table(f"{place}.{shared}"), description)
                return SparkEngine(own, copied, description)
            finally:
                session.catalog.dropGlobalTempView(shared)

    return _opening(opened, description, "a data frame that can be computed")


def _readable(frame: Any, description: str) -> Any:
    """The columns of types that Ibis knows, texts told apart by their bytes."""
    from ibis.backends.pyspark.datatypes import PySparkType
    from ibis.common.exceptions import IbisError

    check_header(frame.columns, description)
    chosen = []
    for field in frame.schema.fields:
        quoted = "`" + field.name.replace("`", "``") + "`"
        with suppress(NotImplementedError, IbisError):
            PySparkType.to_ibis(field.dataType)
            if getattr(field.dataType, "collation", "UTF8_BINARY") != "UTF8_BINARY":
                chosen.append(f"COLLATE({quoted}, 'UTF8_BINARY') AS {quoted}")
            else:
                chosen.append(quoted)
    return frame.selectExpr(*chosen)


def _local_session(source: str) -> Any:
    """A new session of Spark on this machine, which is started if it does not run."""
    _require_library(source)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None:
        context = _opening(_started, source, "a machine that Spark can start on", _NO_JAVA)
    elif not context.master.startswith("local"):
        raise UnsupportedError(
            _KEY,
            source,
            expected="Spark on this machine, and it runs on a cluster",
            remedy="Give the data frame itself: Study(spark.read.parquet(...), ...).",
        )
    session = _opening(lambda: SparkSession(context).newSession(), source, "Spark that runs")
    _set(session, source)
    return session


_NO_JAVA = "Spark needs Java 17 or 21: install it, or set JAVA_HOME."


def _started() -> Any:
    """Spark on this machine, which prints nothing: what it says may quote cells.

    The library keeps its first Java process when Spark is stopped, and starts in it again.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    settings = SparkConf().setAll(list(_LOCAL.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    kept = SparkContext._gateway
    return SparkContext(conf=settings, gateway=kept or launch_gateway(settings, silent))


def _set(session: Any, source: str) -> None:
    """Give a session the settings that expressions need."""
    for name, value in _SETTINGS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some may go in a later version
            if not _is_set(session, name, value):
                with suppress(*_errors()):
                    session.conf.set(name, value)
            is_set = _is_set(session, name, value)
        if not is_set:
            raise UnsupportedError(
                _KEY,
                source,
                expected=f"a session of Spark that can be set to {name} = {value}",
                remedy="Ask who runs the server, or export the table to Parquet.",
            )


def _is_set(session: Any, name: str, value: str) -> bool:
    """Whether a setting has this value."""
    return str(session.conf.get(name, None)).upper() == value.upper()


def _require_library(source: str) -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            _KEY,
            source,
            expected="the library of Spark",
            remedy="Install it: pip install 'bayesdp[spark]'.",
        ) from None


def _opening(action: Callable[[], T], source: str, expected: str, remedy: str = "") -> T:
    """Run an action that reads names and types. Spark's errors become `TableError`."""
    try:
        return action()
    except _errors() as error:
        kind = type(error).__name__
    raise TableError(
        _KEY, source, expected=expected, remedy=f"Spark gave up with {kind}. {remedy}".strip()
    )


def _errors() -> tuple[type[Exception], ...]:
    """What Spark, its two connections and Arrow raise."""
    import pyarrow
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    errors: list[type[Exception]] = [PySparkException, Py4JError, OSError, pyarrow.ArrowException]
    with suppress(ImportError):
        from grpc import RpcError

        errors.append(RpcError)
    return tuple(errors)


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is printed in here about errors."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def _active(session: Any) -> Iterator[None]:
    """Make a session of Spark Connect the active one: its library takes copies for that one's."""
    active: Any = getattr(type(session), "_active_session", None)
    if active is None:
        yield
        return
    before = getattr(active, "session", None)
    active.session = session
    try:
        yield
    finally:
        active.session = before


def _stopped(session: Any) -> None:
    """Give a session back to its server."""
    with suppress(Exception):  # it may be gone, and its errors have no common base
        session.stop()
