"""Open a table in a file, in PostgreSQL or in memory; always through Ibis.

Sources, relative to the study:

- `heights.csv` (also `.csv.gz`, `.tsv`), `readings/*.parquet`: files or globs. A CSV file is UTF-8
  with a header line, unless a `CsvDialect` says otherwise; its cells are read as text and declared
  numbers are cast one by one, so that nothing is guessed. An empty cell is missing, and so is `NA`
  (unless it is a declared state).
  Several files are put together by the names in their headers, which must be the same;
- `survey.xlsx` (its first sheet) or `survey.xlsx::Sheet`, read as a CSV file is (`excel_files`);
- `survey.dta`, `.sav`, `.zsav`, `.sas7bdat` or `.xpt`: one file, with value labels
  (`statistics_files`);
- `duckdb:///file.db?table=name` (relative; four slashes: absolute) or `file.duckdb::name`;
- `postgresql://user@host:5432/database?table=schema.name`: see `postgres_urls`;
- `pyspark:///readings/*.parquet`: the same files, read by Spark on this machine;
- `sc://host:15002/?table=catalog.schema.name`: a table behind Spark Connect, see `spark_urls`;
- a data frame of Spark (`pyspark.sql.DataFrame`);
- a pandas or Polars data frame or an Arrow table. In pandas NaN means missing.

Public names: `Table`, `Mark`, `open_table`, `check_source`, `require_columns`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from bayesdp.errors import TableError, UnsupportedError, did_you_mean
from bayesdp.server_urls import SCHEME
from bayesdp.statements.columns import Value
from bayesdp.tables.columns.column import Column
from bayesdp.tables.engines.duckdb_engine import PLACE, DuckDBEngine, connect
from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.engines.postgres_engine import open_postgres
from bayesdp.tables.engines.postgres_urls import parse, without_password
from bayesdp.tables.engines.spark_engine import SparkEngine, open_connect, open_files, open_frame
from bayesdp.tables.engines.spark_urls import CONNECT, LOCAL, parse_connect, parse_local, shown
from bayesdp.tables.files.csv_dialect import SUFFIXES_OF_CSV, USUAL, CsvDialect
from bayesdp.tables.files.csv_files import read_csv
from bayesdp.tables.files.excel_files import read_excel
from bayesdp.tables.files.frames import to_arrow
from bayesdp.tables.files.other_files import remedy_for
from bayesdp.tables.files.parquet_files import check_cells, durations_of, of_type, read_parquet
from bayesdp.tables.files.statistics_files import SUFFIXES, read_statistics
from bayesdp.tables.files.value_labels import ValueLabels
from bayesdp.tables.refusals import BY_COMMAND, UnreadableCellsError, opening

if TYPE_CHECKING:
    import ibis.expr.types as ir

_PARQUET = (".parquet", ".pq")
_EXCEL = ".xlsx"
_STATISTICS = tuple(SUFFIXES)
_KEY = "data.source"
_NAME = "bayesdp_source"


@dataclass(frozen=True)
class Mark:
    """Rows that are refused: those where a boolean `column` of the expression holds.

    `code` and `words` are those of the finding. It is not a column of the table.
    """

    code: str
    column: str
    words: str


@dataclass(frozen=True)
class Table:
    """An opened table: the Ibis expression, its engine, and how to read its cells.

    `text_cells` is true for CSV, whose cells are all texts, with numbers as `csv` says; `ordered`
    where rows have an order; `inferred` are the columns whose types depend on what their cells
    hold, and `hollow` those that have no type because no cell holds anything. `durations` are
    columns of durations, which the engine would read as whole numbers, with how many of these a
    second has. `file` is the path of a table that is one Parquet file, and `place` names a column
    of the expression, not of the table, that numbers its rows from 0. `labels` are the value labels
    of columns that have some, and `codes` the codes of missing values in columns of public data,
    which no study declares. `marks` are rows that a release refuses. Where the table was made long,
    `parts` is the number of records in a row of the source. `order` names a column of the
    expression, not of the table, that numbers its rows where the engine does not keep their order;
    `numbered` is a column of the table that numbers the rows of the source.
    """

    expression: ir.Table
    engine: Engine
    description: str
    text_cells: bool = False
    csv: CsvDialect = USUAL
    ordered: bool = True
    inferred: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    durations: Mapping[str, int] = field(default_factory=dict)
    file: str | None = None
    place: str | None = None
    labels: Mapping[str, ValueLabels] = field(default_factory=dict)
    codes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    parts: int = 1
    order: str | None = None
    numbered: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        hidden = {self.place, self.order, *(mark.column for mark in self.marks)}
        return tuple(name for name in self.expression.columns if name not in hidden)

    @property
    def connection(self) -> Any:
        """The engine's Ibis connection."""
        return self.engine.connection

    @property
    def threads(self) -> int:
        """On how many processors `side_by_side` counts."""
        return self.engine.threads

    def with_places(self) -> Table:
        """The same table with a `place`, if it is one Parquet file; else this one."""
        if self.file is None or self.place or PLACE in map(str.lower, self.names):
            return self
        expression = self.engine.numbered(self.file)
        if expression.drop(PLACE).schema() != self.expression.schema():  # it was read with casts
            return self
        return replace(self, expression=expression, place=PLACE)

    def side_by_side(self, query: ir.Table, borders: Sequence[int], reach: int) -> ir.Table:
        """The rows of a query that has the `place` of each, computed in ranges of places.

        The engine looks at rows in their order on one processor; ranges between two `borders` run
        on as many as there are. Each row of the query may depend on the `reach` rows before it.
        """
        return self.engine.side_by_side(query, borders, reach)

    def require(self, name: str, key: str) -> ir.Column:
        """The column of this name. Raises `TableError` where the table has none, naming `key`.

        The error never tells the table's own names: without a header line they are a record.
        """
        if name not in self.names:
            raise TableError(
                key,
                name,
                expected=f"a column of {self.description}",
                remedy=f"For the columns that there are, {BY_COMMAND}.",
            )
        return self.expression[name]

    def rows(self, query: ir.Table, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values (integers of any size stay exact)."""
        return self.engine.rows(query if limit is None else query.limit(limit))

    def each_row(self, query: ir.Table) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one, for as many as a table may have.

        They end where another query runs. The engine's errors are raised as in `rows`.
        """
        return self.engine.each_row(query)

    def arrow(self, query: ir.Table) -> Any:
        """The rows of a query as an Arrow table."""
        return self.engine.arrow(query)

    def close(self) -> None:
        """Give back what a connection to another process holds. Nothing more can be read."""
        self.engine.close()

    def kept(self, query: ir.Table) -> ir.Table:
        """A query whose rows are computed once, if the engine can keep them in memory."""
        return self.engine.kept(query)

    def beside(self, data: Any) -> ir.Table:
        """An Arrow table that is public, in the same engine, to be joined with this one."""
        return self.engine.beside(data)

    def numbers(self, query: ir.Table, *aggregates: Any) -> tuple[Any, ...]:
        """The values of these aggregates over a query, from its only row."""
        return self.rows(query.aggregate(**{f"a{i}": a for i, a in enumerate(aggregates)}))[0]


def open_table(
    source: object,
    base_dir: Path | str = ".",
    *,
    empty: bool = False,
    csv: CsvDialect = USUAL,
    read: Collection[str] | None = None,
) -> Table:
    """Open `source`. Raises `TableError` where it is missing, or not of its format.

    `csv` is how CSV files are written; other sources have none. What depends on cells is refused
    with `UnreadableCellsError`, and so is a table without rows. With `empty` such a table is
    admitted: where the number of rows is private, an error must not show that it is 0. `read` are
    the columns that will be read: an engine that copies a table leaves the others out. Raises
    `UnsupportedError` for other engines.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, Path):
        source = str(source)
    if isinstance(source, str):
        table = _open_text(source, Path(base_dir), csv, read)
    else:
        _require_usual(csv, type(source).__name__)
        table = _open_memory(source, read)
    if not table.names:
        raise TableError(
            _KEY,
            table.description,
            expected="a table with columns",
            remedy="Name the table that has the columns that the study declares.",
        )
    if not (empty or table.rows(table.expression.select(row_=constant_column()), limit=1)):
        raise UnreadableCellsError("empty", "The table has no rows.")
    return table


def constant_column() -> Any:
    """A column that holds 1 in each row: rows are counted by it."""
    import ibis

    return ibis.literal(1, "int8")


def require_columns(table: Table, columns: Mapping[str, Column]) -> None:
    """Raises `TableError` unless every declared column, or its source, is in the table."""
    for name, column in columns.items():
        if column.cells == (name,):
            table.require(name, f"data.columns.{name}")
            continue
        for cell in column.cells:
            if cell not in columns:
                table.require(cell, f"data.columns.{name}.from")


def require_free(table: Table, names: Iterable[str]) -> None:
    """Raises `TableError` where the table has a column with a name that queries need."""
    there = {name.lower() for name in table.expression.columns}
    for name in names:
        if name in there:
            raise TableError(
                _KEY,
                table.description,
                expected=f"no column with the name '{name}', which is needed",
                remedy="Rename it in the table.",
            )


def check_source(source: str, csv: CsvDialect = USUAL) -> None:
    """Refuse a text that names no source of a form that is read. Nothing is opened.

    Raises `TableError`, and `UnsupportedError` for other engines than those that are read.
    """
    if not source.lower().endswith(SUFFIXES_OF_CSV):
        is_connect = source.startswith(CONNECT)
        _require_usual(csv, shown(source) if is_connect else without_password(source))
    if source.startswith(SCHEME):
        parse(source)
        return
    if source.startswith((LOCAL, CONNECT)):
        _ = parse_local(source) if source.startswith(LOCAL) else parse_connect(source)
        return
    path, separator, sheet = source.partition("::")
    if _is_foreign(source):
        _check_part(path, sheet if separator else None, source)
        return
    if "::" in source or "://" in source:
        _split(source)
        return
    if not source.strip():
        raise TableError(_KEY, source, expected="a file, a glob or an engine URL")
    if not source.lower().endswith(SUFFIXES_OF_CSV + _PARQUET):
        raise TableError(
            _KEY,
            without_password(source),
            expected="a name that ends in .csv, .tsv, .csv.gz, .parquet, .xlsx, "
            + ", ".join(_STATISTICS),
            remedy=remedy_for(source),
        )


def _is_foreign(source: str) -> bool:
    """Whether it names a file of a spreadsheet or statistics program, or a sheet of one."""
    path = source.partition("::")[0]
    return path.lower().endswith((_EXCEL, *_STATISTICS)) and "://" not in source


def _check_part(path: str, sheet: str | None, source: str) -> None:
    """Refuse a sheet of a file that has none, and one without a name."""
    if sheet is not None and (not sheet or not path.lower().endswith(_EXCEL)):
        raise TableError(
            _KEY,
            without_password(source),
            expected="the name of a sheet behind .xlsx::, and nothing behind other files",
            remedy=f"Write {path} alone for its first or only table.",
        )


def _require_usual(csv: CsvDialect, source: str) -> None:
    if csv != USUAL:
        raise TableError(
            "data.csv",
            source,
            expected="a source of CSV files (.csv, .tsv, .csv.gz)",
            remedy="Leave [data.csv] out: other sources say how they are to be read.",
        )


def _split(source: str) -> tuple[str, str]:
    """The path of a DuckDB file, and the name of the table in it."""
    if "::" in source:
        path, _, name = source.partition("::")
    else:
        try:
            parts = urlsplit(source)
        except ValueError:
            raise TableError(
                _KEY,
                without_password(source),
                expected="a URL such as duckdb:///file.db?table=name",
            ) from None
        if parts.scheme != "duckdb":
            raise UnsupportedError(
                _KEY,
                without_password(source),
                expected="a file, a glob, duckdb:///file.db?table=name, "
                "postgresql://user@host/database?table=schema.name, pyspark:///file.parquet, or "
                "sc://host:port/?table=schema.name",
                remedy="Export the table to Parquet.",
            )
        options = parse_qsl(parts.query, keep_blank_values=True)
        name = options[0][1] if [key for key, _ in options] == ["table"] else ""
        path = parts.path[1:] if parts.netloc == "" else parts.netloc + parts.path
    if not name:
        raise TableError(
            _KEY,
            without_password(source),
            expected="the name of a table, and no other options",
            remedy="Write duckdb:///file.db?table=name or file.duckdb::name.",
        )
    return path, name


def _open_text(source: str, base: Path, csv: CsvDialect, read: Collection[str] | None) -> Table:
    check_source(source, csv)
    if source.startswith(SCHEME):
        expression, engine = open_postgres(source)
        return Table(expression, engine, source, ordered=False)
    if source.startswith((LOCAL, CONNECT)):
        return _open_spark(source, base, read)
    path, _, sheet = source.partition("::")
    if _is_foreign(source):
        return _open_foreign(base, path, sheet or None, source)
    if "::" in source or "://" in source:
        path, name = _split(source)
        return _open_duckdb(base / path, name, source)
    return _open_files(source, base, csv, read)


def _open_spark(source: str, base: Path, read: Collection[str] | None) -> Table:
    if source.startswith(CONNECT):
        return _of_spark(open_connect(parse_connect(source), source), source, read)
    engine, types = open_files(_paths(parse_local(source), base), source)
    table = _of_spark(engine, source, read)
    return replace(table, durations=durations_of(types))


def _of_spark(engine: SparkEngine, description: str, read: Collection[str] | None) -> Table:
    if read is not None:
        engine.opening(lambda: engine.keep(read), description)
    expression = engine.opening(engine.table, description)
    hollow = frozenset(name for name, kind in expression.schema().items() if kind.is_null())
    return Table(expression, engine, description, ordered=False, hollow=hollow)


def _open_files(source: str, base: Path, csv: CsvDialect, read: Collection[str] | None) -> Table:
    paths = _paths(source, base)
    lowered = source.lower()
    if not lowered.endswith(SUFFIXES_OF_CSV):
        return _read_parquet(paths, source, read)
    engine = DuckDBEngine(connect(), source)
    engine.watch(paths)
    read_csv(engine.connection, paths, _NAME, csv, tabs=lowered.endswith((".tsv", ".tsv.gz")))
    return Table(engine.bound(_NAME), engine, source, text_cells=True, csv=csv)


def _paths(source: str, base: Path) -> list[str]:
    """The files of a name or a pattern."""
    exact = base / source
    if os.path.isdir(exact):
        raise TableError(_KEY, source, expected="a file", remedy=f"Did you mean '{source}/*'?")
    paths = [str(exact)]
    if not os.path.isfile(exact):
        paths = [path for path in sorted(_matching(str(exact))) if os.path.isfile(path)]
    if not paths:
        pattern = any(letter in source for letter in "*?[")
        raise _absent(source, base, "files that match this pattern" if pattern else _A_FILE)
    return paths


_A_FILE = "a file that exists"


def _absent(source: str, base: Path, expected: str) -> TableError:
    return TableError(_KEY, source, expected=expected, remedy=f"Looked in {base.resolve()}.")


def _open_foreign(base: Path, path: str, sheet: str | None, source: str) -> Table:
    """A sheet of an Excel file, whose cells are texts, or the file of a statistics program."""
    file = str(base / path)
    if not os.path.isfile(file):
        several = any(letter in path for letter in "*?[")
        raise _absent(source, base, "one file, not a pattern" if several else _A_FILE)
    if path.lower().endswith(_EXCEL):
        cells = _of_arrow(read_excel(file, sheet, source), frozenset(), source)
        return replace(cells, text_cells=True)
    data, inferred, labels = read_statistics(file, source)
    return replace(_of_arrow(data, inferred, source), labels=labels)


def _matching(pattern: str) -> list[str]:
    try:
        return glob.glob(pattern, recursive=True)
    except (OSError, ValueError, re.error):  # a name that a file can't have
        return []


def _read_parquet(paths: list[str], source: str, read: Collection[str] | None) -> Table:
    engine = DuckDBEngine(connect(), source)
    engine.watch(paths)
    hollow, durations = read_parquet(engine.connection, paths, _NAME, source)
    check_cells(engine.connection, paths, _NAME, read)
    return Table(
        engine.bound(_NAME),
        engine,
        source,
        hollow=hollow,
        durations=durations,
        file=paths[0] if len(paths) == 1 else None,
    )


def _open_duckdb(path: Path, name: str, source: str) -> Table:
    if not os.path.isfile(path):
        raise TableError(
            _KEY,
            without_password(source),
            expected="a file that exists",
            remedy=f"Looked for {path.name} in {path.parent}.",
        )
    engine = DuckDBEngine(opening(lambda: connect(path), _KEY, source), source)
    known = [row[0] for row in engine.reading(lambda: engine.fetch("SHOW TABLES"))]
    if name not in known:
        raise TableError(
            _KEY, name, expected=f"a table of {path.name}", remedy=did_you_mean(name, known)
        )
    expression = engine.bound(name)
    if name in {view for (view,) in engine.fetch("SELECT view_name FROM duckdb_views()")}:
        # A view may read other files, or draw at random: its rows are computed once.
        expression = engine.kept(expression)
    return Table(expression, engine, source, ordered=False)


def _open_memory(source: object, read: Collection[str] | None) -> Table:
    if type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "sparkSession"):
        return _of_spark(open_frame(source), "the data frame of Spark", read)
    data, inferred = to_arrow(source)
    return _of_arrow(data, inferred, "the table in memory")


def _of_arrow(data: Any, inferred: frozenset[str], description: str) -> Table:
    """The table of an Arrow table; the types of the `inferred` columns depend on their cells."""
    types = {field.name: str(field.type) for field in data.schema}
    durations = durations_of(types)
    for name in durations:  # as in Parquet: the engine fails where one is missing
        place = data.column_names.index(name)
        data = data.set_column(place, name, data.column(place).cast("int64"))
    engine = DuckDBEngine(connect(), description)
    engine.opening(lambda: engine.connection.con.register(_NAME, data), description)
    return Table(
        engine.bound(_NAME),
        engine,
        description,
        inferred=inferred,
        hollow=of_type(types, "null"),
        durations=durations,
    )
