"""DuckDB, in this process: the engine of files and of tables in memory, and the reference.

Public names: `DuckDBEngine`, `connect`.
"""

from __future__ import annotations

import math
import os
import uuid
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesdp.tables.engines.engine import Engine
from bayesdp.tables.files.csv_files import escaped

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types as ir

PLACE = "file_row_number"
"""The name that the engine gives to the numbers of a file's rows."""
_PLACED = "bayesdp_source_with_places"
_ROWS_AT_ONCE = 100_000
_MOST_COMPARISONS = 63
"""Up to so many edges of bins a tree of comparisons takes less time than a list of them."""


class DuckDBEngine(Engine):
    """DuckDB with a connection of its own; `description` is that of the table, for errors."""

    name = "DuckDB"

    def __init__(self, connection: Any, description: str) -> None:
        import duckdb

        self.connection = connection
        self.errors = (duckdb.Error,)
        self._description = description

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        rows: list[tuple[Any, ...]] = self.connection.con.execute(sql).fetchall()
        self.require_unchanged()
        return rows

    def fetch_each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Run a query and fetch its rows in pieces. They end where another query runs."""
        cursor = self.connection.con
        self.reading(lambda: cursor.execute(sql))
        while rows := self.reading(lambda: cursor.fetchmany(_ROWS_AT_ONCE)):
            yield from rows
        self.require_unchanged()

    def arrow(self, query: ir.Table) -> Any:
        """The rows of a query as an Arrow table."""
        rows = self.reading(lambda: self.connection.to_pyarrow(query))
        self.require_unchanged()
        return rows

    def kept(self, query: ir.Table) -> ir.Table:
        """The rows of the query in a table in memory, which lasts as long as the connection."""
        name, sql = f"bayesdp_kept_{uuid.uuid4().hex}", self.compiled(query)
        self.reading(lambda: self.connection.con.execute(f"CREATE TEMP TABLE {name} AS {sql}"))
        self.require_unchanged()
        return self.bound(name)

    def beside(self, data: Any) -> ir.Table:
        """An Arrow table in the same engine."""
        name = f"bayesdp_public_{uuid.uuid4().hex}"
        self.reading(lambda: self.connection.con.register(name, data))
        return self.bound(name)

    @property
    def numbers_rows(self) -> bool:
        """Rows are numbered in the order of the file."""
        return True

    @property
    def threads(self) -> int:
        """On how many processors a query runs."""
        return int(self.fetch("SELECT current_setting('threads')")[0][0])

    def numbered(self, file: str) -> ir.Table:
        """The rows of a Parquet file, with the column `PLACE` that numbers them from 0."""
        relation = self.connection.con.read_parquet(escaped(file), file_row_number=True)
        self.opening(lambda: relation.create_view(_PLACED), self._description)
        return self.bound(_PLACED)

    def side_by_side(self, query: ir.Table, borders: Sequence[int], reach: int) -> ir.Table:
        """A query over `numbered` rows in ranges: see `Table.side_by_side`."""
        name, sql = f"bayesdp_ranges_{uuid.uuid4().hex}", self.compiled(query)
        ranges = [
            # Within its range the query reads these rows in place of the table of the same name.
            f"SELECT * FROM (WITH {_PLACED} AS (SELECT * FROM main.{_PLACED} "
            f"WHERE {PLACE} >= {start - reach} AND {PLACE} < {end}) {sql}) "
            f"WHERE {PLACE} >= {start} AND {PLACE} < {end}"
            for start, end in pairwise(borders)
        ]
        union = " UNION ALL ".join(ranges)
        self.reading(lambda: self.connection.con.execute(f"CREATE TEMP VIEW {name} AS {union}"))
        return self.bound(name)

    def bin_index(self, value: Any, edges: tuple[float, ...]) -> Any:
        """The number of `edges` that are at most `value`, as an expression.

        Many edges are a list that the engine searches in one expression: a tree of comparisons for
        a thousand takes it four times as long, and seconds to plan.
        """
        import ibis

        if len(edges) <= _MOST_COMPARISONS:
            return super().bin_index(value, edges)
        steps = [2**power for power in reversed(range(len(edges).bit_length()))]
        beyond = [math.nan] * (2 * steps[0] - 1 - len(edges))  # above all numbers here
        listed = ", ".join(f"'{edge!r}'::DOUBLE" for edge in (*edges, *beyond))
        name = f"bayesdp_bins_{uuid.uuid4().hex}"
        self.connection.con.execute(
            f"CREATE TEMP MACRO {name}(x) AS list_reduce({steps}, lambda place, step: "
            f"CASE WHEN ([{listed}])[place + step] <= x THEN place + step ELSE place END, 0)"
            "::SMALLINT"
        )

        @ibis.udf.scalar.builtin(name=name, signature=(("float64",), "int16"))
        def bins(x): ...  # type: ignore[no-untyped-def]  # the engine's macro

        return bins(value)

    def bound(self, name: str) -> ir.Table:
        """The Ibis table of this name."""
        import ibis

        with warnings.catch_warnings():
            # Ibis 12 asks DuckDB 2 for schemas through a name that DuckDB calls deprecated.
            warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
            table: ir.Table = self.opening(lambda: self.connection.table(name), self._description)
        zoned = [
            column
            for column, kind in table.schema().items()
            if str(getattr(kind, "raw_type", "")) == "TIMESTAMPTZ_NS"  # unknown to Ibis
        ]
        microseconds = ibis.dtype("timestamp('UTC')")
        return table.mutate({column: table[column].cast(microseconds) for column in zoned})


def connect(path: Path | None = None) -> ibis.backends.duckdb.Backend:
    """A connection that never fetches or loads code, whatever a file or its views ask for."""
    import ibis

    return ibis.duckdb.connect(
        path or ":memory:",
        read_only=path is not None,
        autoinstall_known_extensions=False,
        autoload_known_extensions=False,
        custom_extension_repository=os.devnull,  # Ibis installs one where it sees a GEOMETRY
    )
