"""Open a table: CSV, Parquet, a DuckDB file, or one in memory; always through Ibis on DuckDB.

Sources, relative to the study:

- `heights.csv` (also `.csv.gz`, `.tsv`), `readings/*.parquet`: files or globs. A CSV file is UTF-8
  with a header line; its cells are read as text and declared numbers are cast one by one, so that
  nothing is guessed. An empty cell is missing, and so is `NA` (unless it is a declared state);
- `duckdb:///file.db?table=name` (relative; four slashes: absolute) or `file.duckdb::name`;
- a pandas or Polars data frame or an Arrow table. In pandas NaN means missing.

Public names: `Table`, `open_table`.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from bayesdp.errors import TableError, UnsupportedError, did_you_mean
from bayesdp.tables.columns import Column

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types as ir

_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_KEY = "data.source"
_NAME = "bayesdp_source"


@dataclass(frozen=True)
class Table:
    """An opened table: the Ibis expression, its connection, and how to read its cells.

    `text_cells` is true for CSV, whose cells are all texts; `ordered` where rows have an order.
    """

    expression: ir.Table
    connection: Any
    description: str
    text_cells: bool = False
    ordered: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(self.expression.columns)

    def require(self, name: str, key: str) -> ir.Column:
        """The column of this name; `TableError` with a did-you-mean where there is none."""
        if name not in self.names:
            raise TableError(
                key,
                name,
                expected=f"a column of {self.description}",
                remedy=did_you_mean(name, self.names),
            )
        return self.expression[name]

    def rows(self, query: ir.Table, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values (integers of any size stay exact)."""
        if limit is not None:
            query = query.limit(limit)
        return _run(self.connection, self.connection.compile(query), self.description)

    def numbers(self, query: ir.Table, *aggregates: Any) -> tuple[Any, ...]:
        """The one row of these aggregates over a query."""
        return self.rows(query.aggregate(**{f"a{i}": a for i, a in enumerate(aggregates)}))[0]


def open_table(source: object, base_dir: Path | str = ".") -> Table:
    """Open `source`. Raises `TableError` where it is missing, empty or unreadable."""
    if isinstance(source, Table):
        return source
    if isinstance(source, Path):
        source = str(source)
    table = _open_text(source, Path(base_dir)) if isinstance(source, str) else _open_memory(source)
    if not table.names or not table.rows(table.expression, limit=1):
        raise TableError(_KEY, table.description, expected="at least one row", remedy=_EMPTY)
    return table


_EMPTY = "The table is empty."


def require_columns(table: Table, columns: Mapping[str, Column]) -> None:
    """Every declared column (or what it is derived from) is in the table; else `TableError`."""
    for name, column in columns.items():
        if not column.is_derived:
            table.require(name, f"data.columns.{name}")
        elif column.source not in columns:
            table.require(str(column.source), f"data.columns.{name}.from")


def _open_text(source: str, base: Path) -> Table:
    if "::" in source:
        path, _, name = source.partition("::")
        return _open_duckdb(base / path, name, source)
    if "://" in source:
        parts = urlsplit(source)
        if parts.scheme != "duckdb":
            raise UnsupportedError(
                _KEY,
                source,
                expected="a file, a glob, or duckdb:///file.db?table=name",
                remedy="Export the table to Parquet.",
            )
        name = parse_qs(parts.query).get("table", [""])[0]
        path = parts.path[1:] if parts.netloc == "" else parts.netloc + parts.path
        return _open_duckdb(base / path, name, source)
    return _open_files(source, base)


def _open_files(source: str, base: Path) -> Table:
    if not source.strip():
        raise TableError(_KEY, source, expected="a file, a glob or an engine URL")
    lowered = source.lower()
    csv, parquet = lowered.endswith(_CSV), lowered.endswith(_PARQUET)
    if not (csv or parquet):
        raise TableError(
            _KEY,
            source,
            expected="a name that ends in .csv, .tsv, .csv.gz or .parquet",
            remedy="A DuckDB table is written file.duckdb::table.",
        )
    exact = base / source
    if exact.is_dir():
        raise TableError(_KEY, source, expected="a file", remedy=f"Did you mean '{source}/*'?")
    paths = [str(exact)] if exact.is_file() else sorted(glob.glob(str(exact), recursive=True))
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        pattern = any(letter in source for letter in "*?[")
        raise TableError(
            _KEY,
            source,
            expected="files that match this pattern" if pattern else "a file that exists",
            remedy=f"Looked in {base.resolve()}.",
        )
    return _read_csv(paths, source) if csv else _read_parquet(paths, source)


def _read_csv(paths: list[str], source: str) -> Table:
    for path in paths:
        _check_utf8(path)
    connection = _connect()
    with _duckdb_errors(source):
        relation = connection.con.read_csv(
            [_escaped(path) for path in paths],
            all_varchar=True,
            header=True,
            **({"sep": "\t"} if source.lower().endswith((".tsv", ".tsv.gz")) else {}),
        )
        relation.create_view(_NAME)
    return Table(_bound(connection, _NAME), connection, source, text_cells=True)


def _read_parquet(paths: list[str], source: str) -> Table:
    connection = _connect()
    with _duckdb_errors(source):
        connection.con.read_parquet([_escaped(path) for path in paths]).create_view(_NAME)
    return Table(_bound(connection, _NAME), connection, source)


def _escaped(path: str) -> str:
    """The path with DuckDB's glob letters taken literally: our own glob has done its work."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _open_duckdb(path: Path, name: str, source: str) -> Table:
    if not name:
        raise TableError(
            _KEY,
            source,
            expected="the name of a table",
            remedy="Write duckdb:///file.db?table=name or file.duckdb::name.",
        )
    if not path.is_file():
        raise TableError(
            _KEY, source, expected="a file that exists", remedy=f"Looked for {path.resolve()}."
        )
    with _duckdb_errors(source):
        connection = _connect(path)
    known = [row[0] for row in _run(connection, "SHOW TABLES", source)]
    if name not in known:
        raise TableError(
            _KEY, name, expected=f"a table of {path.name}", remedy=did_you_mean(name, known)
        )
    return Table(_bound(connection, name), connection, source, ordered=False)


def _open_memory(source: object) -> Table:
    """Through Arrow, recognised by the module of its type: none of the libraries is imported."""
    library = type(source).__module__.partition(".")[0]
    data: Any = source
    if library == "polars":
        data = data.collect() if type(source).__name__ == "LazyFrame" else data
        data = data.to_arrow() if hasattr(data, "to_arrow") else None
    elif library == "pandas":
        data = _arrow_from_pandas(data)
    elif library != "pyarrow":
        data = None
    if type(data).__name__ == "RecordBatch":
        import pyarrow

        data = pyarrow.Table.from_batches([data])
    if type(data).__name__ != "Table":
        raise TableError(
            "data.source",
            type(source).__name__,
            expected="a path, an engine URL, a pandas or Polars data frame, or an Arrow table",
        )
    if data.num_columns == 0:
        raise TableError(_KEY, "the table in memory", expected="at least one column")
    connection = _connect()
    with _duckdb_errors("the table in memory"):
        connection.con.register(_NAME, data)
    return Table(_bound(connection, _NAME), connection, "the table in memory")


def _arrow_from_pandas(frame: Any) -> Any:
    import pyarrow

    if not hasattr(frame, "columns"):
        return None
    if not all(isinstance(name, str) for name in frame.columns):
        raise TableError(_KEY, list(frame.columns)[:5], expected="columns named by texts")
    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        raise TableError(
            _KEY,
            "the pandas data frame",
            expected="one type per column",
            remedy="A column of type object mixes texts and numbers.",
        ) from None


def _connect(path: Path | None = None) -> ibis.backends.duckdb.Backend:
    import ibis

    if path is not None:
        return ibis.duckdb.connect(path, read_only=True)
    connection = ibis.duckdb.connect()
    connection.con.execute("SET autoinstall_known_extensions = false")
    return connection


def _bound(connection: Any, name: str) -> ir.Table:
    """The Ibis table of this name."""
    with warnings.catch_warnings():
        # Ibis 12 asks DuckDB 2 for schemas through a name that DuckDB calls deprecated.
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        table: ir.Table = connection.table(name)
    return table


def _check_utf8(path: str) -> None:
    """Read the file once as UTF-8, in pieces; the line is named, its contents are not."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    try:
        with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
            while piece := file.read(1 << 20):
                try:
                    decoder.decode(piece)
                except UnicodeDecodeError as error:
                    line += piece[: max(error.start, 0)].count(b"\n")
                    raise TableError(
                        _KEY,
                        Path(path).name,
                        expected=f"UTF-8 text, and line {line} is not",
                        remedy="Save the file as UTF-8.",
                    ) from None
                line += piece.count(b"\n")
            decoder.decode(b"", final=True)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise TableError(
            _KEY,
            Path(path).name,
            expected="a readable UTF-8 file",
            remedy=f"Reading it failed: {type(error).__name__}.",
        ) from None


class _duckdb_errors:
    """Turn DuckDB's errors into `TableError` without their text, which may quote private cells."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            return
        import duckdb

        if issubclass(kind, duckdb.Error):
            raise TableError(
                _KEY,
                self.description,
                expected="a table that can be read",
                remedy=f"The data engine gave up with {kind.__name__}; look for a damaged file, "
                "a line with too many cells, or another process that holds the file.",
            ) from None


def _run(connection: Any, sql: str, description: str) -> list[tuple[Any, ...]]:
    with _duckdb_errors(description):
        rows: list[tuple[Any, ...]] = connection.con.execute(sql).fetchall()
    return rows
