"""What a table needs of the engine that holds it.

Expressions are the same on all engines: where one computes another value than DuckDB for the same
expression, its Ibis compiler is mended (see `postgres_compiler`), so that nothing else knows of it.

Public name: `Engine`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from bayesdp.errors import UnsupportedError
from bayesdp.tables.literals import literal
from bayesdp.tables.refusals import UnreadableCellsError, engine, opening

if TYPE_CHECKING:
    import ibis.expr.types as ir

T = TypeVar("T")

_KEY = "data.source"


class Engine(ABC):
    """An engine with its Ibis `connection`. What it raises is of the types `errors`.

    Each table has an engine of its own, which holds one state of the table for as long as it lives:
    checks and sums see the same rows.
    """

    connection: Any
    errors: tuple[type[Exception], ...]
    name: str
    _files: Sequence[str] = ()
    _states: Sequence[object] = ()

    def watch(self, files: Sequence[str]) -> None:
        """These are the files of the table, which may not change from now on."""
        self._files, self._states = files, _states(files)

    def require_unchanged(self) -> None:
        """Raises `UnreadableCellsError` where a file of the table is not as it was."""
        if _states(self._files) != self._states:
            raise UnreadableCellsError(
                "changed", "A file of the table changed while it was read: run the command again."
            )

    def rows(self, query: ir.Table) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values. Whole numbers of any size are exact.

        Raises `UnreadableCellsError` where a whole number comes as anything but a Python integer,
        and for the engine's own errors; `UnsupportedError` for a query that the engine has no
        words for.
        """
        sql = self.compiled(query)
        return list(_exact(self.reading(lambda: self.fetch(sql)), query))

    def each_row(self, query: ir.Table) -> Iterator[tuple[Any, ...]]:
        """The same rows, one by one, for as many as a table may have.

        They may end where another query runs. Raises `UnreadableCellsError` and `UnsupportedError`
        as `rows` does.
        """
        return _exact(self.fetch_each(self.compiled(query)), query)

    @abstractmethod
    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query. The engine's own errors are raised."""

    @abstractmethod
    def fetch_each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Run a query and fetch its rows in pieces. Errors are those of `reading`."""

    @abstractmethod
    def arrow(self, query: ir.Table) -> Any:
        """The rows of a query as an Arrow table of the query's types."""

    def close(self) -> None:  # noqa: B027  # an engine in this process holds nothing of others
        """Give back what a connection to another process holds."""

    def kept(self, query: ir.Table) -> ir.Table:
        """The same rows, computed once where the engine can keep them; else the query itself."""
        return query

    @abstractmethod
    def beside(self, data: Any) -> ir.Table:
        """An Arrow table that is public, in this engine, to be joined with the engine's own.

        Raises `UnsupportedError` where the engine can't hold it: see `public_rows`.
        """

    @property
    def numbers_rows(self) -> bool:
        """Whether rows can be numbered as they are stored, each with a number of its own."""
        return False

    @property
    def keeps_order(self) -> bool:
        """Whether rows that were sorted keep their order in a window that states none."""
        return True

    @property
    def threads(self) -> int:
        """On how many processors `side_by_side` may count; 1 where there is no such way."""
        return 1

    def numbered(self, file: str) -> ir.Table:
        """The rows of a Parquet file with their place in it.

        Raises `NotImplementedError` but for DuckDB, which alone reads files.
        """
        raise NotImplementedError(self.name)

    def side_by_side(self, query: ir.Table, borders: Sequence[int], reach: int) -> ir.Table:
        """See `Table.side_by_side`. Raises `NotImplementedError` but for DuckDB, as `numbered`."""
        raise NotImplementedError(self.name)

    def bin_index(self, value: Any, edges: tuple[float, ...]) -> Any:
        """The number of `edges` that are at most `value`, found by bisection, as an expression."""
        import ibis

        def between(low: int, high: int) -> Any:
            if low == high:
                return ibis.literal(low, "int16")
            middle = (low + high) // 2
            below = value < literal(edges[middle])
            return ibis.ifelse(below, between(low, middle), between(middle + 1, high))

        return between(0, len(edges))

    def compiled(self, query: ir.Table) -> str:
        """The query in the engine's SQL.

        Raises `UnsupportedError` where it has no words for it, which depends on types only.
        """
        from ibis.common.exceptions import IbisError

        try:
            return str(self.connection.compile(query))
        except IbisError as error:
            reason = str(error).partition("\n")[0]
        raise UnsupportedError(
            _KEY,
            self.name,
            expected=f"a study whose columns can be computed there: it has no {reason}",
            remedy="Store columns as numbers, texts, dates or truth values, or export the table "
            "to Parquet.",
        )

    def reading(self, action: Callable[[], T]) -> T:
        """Run an action that reads cells. The engine's errors become `UnreadableCellsError`."""
        return engine(action, self.errors)

    def opening(self, action: Callable[[], T], description: str) -> T:
        """Run an action that reads names and types. The engine's errors become `TableError`."""
        return opening(action, _KEY, description, self.errors)


def _states(files: Sequence[str]) -> Sequence[object]:
    """What changes where a file does."""
    return tuple(map(_state, files))


def _state(file: str) -> tuple[int, ...] | None:
    try:
        state = os.stat(file)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _exact(rows: Iterable[tuple[Any, ...]], query: ir.Table) -> Iterator[tuple[Any, ...]]:
    """The rows, in which columns of whole numbers hold Python integers and nothing else."""
    schema = query.schema()
    whole = [i for i, kind in enumerate(schema.types) if kind.is_integer()]
    for row in rows:
        for i in whole:
            if type(row[i]) is not int and row[i] is not None:
                raise UnreadableCellsError(
                    "inexact",
                    f"The data engine answered a whole number as {type(row[i]).__name__}, which "
                    "may be rounded.",
                )
        yield row
