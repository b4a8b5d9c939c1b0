"""CSV files as texts: what a file's cells mean is decided by its header line alone.

The engine would guess the dialect from cells, so it isn't asked: the separator is that of
`, ; | tab` which cuts the header line into most names (a tab for `.tsv`), a cell is quoted by `"`,
and a quote within is doubled. Several files are put together by the names in their headers. A line
without anything is not a row; in a file of one column an empty cell is written `""`.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from bayesdp.errors import TableError
from bayesdp.tables.refusals import UnreadableCellsError, check_header, engine

_KEY = "data.source"
_SEPARATORS = ",;\t|"
_MOST_HEADER = 1 << 20

Header = tuple[str, tuple[str, ...]]
"""The separator and the names of the columns."""


def read_csv(connection: Any, paths: list[str], view: str, tabs: bool) -> None:
    """Create the view of all files, every cell a text.

    Raises `TableError` for files that can't be read, without a header, or with different names in
    their headers, and `UnreadableCellsError` where a file is not UTF-8.
    """
    headers = [(_header(path, "\t" if tabs else _SEPARATORS), path) for path in paths]
    (_, names), first = headers[0]
    for (_, others), path in headers[1:]:
        if set(others) != set(names):
            raise TableError(
                _KEY,
                [Path(first).name, Path(path).name],
                expected="files with the same names in their header lines",
                remedy="Read files of other columns as tables of their own.",
            )
    for path in paths:
        _check_utf8(path)
    relation: Any = None
    for header, group in groupby(headers, key=lambda pair: pair[0]):
        part = _relation(connection, header, [path for _, path in group], names)
        relation = part if relation is None else relation.union(part)
    engine(lambda: relation.create_view(view))


def _relation(connection: Any, header: Header, paths: list[str], names: tuple[str, ...]) -> Any:
    """The cells of files with this header, in the order of `names`."""
    import duckdb

    separator, columns = header
    relation = engine(
        lambda: connection.con.read_csv(
            [escaped(path) for path in paths],
            auto_detect=False,
            header=True,
            columns=dict.fromkeys(columns, "VARCHAR"),
            sep=separator,
            quotechar='"',
            escapechar='"',
            allow_quoted_nulls=False,
        )
    )
    if len(columns) == 1:  # of several columns the engine skips empty lines itself
        relation = relation.filter(duckdb.ColumnExpression(columns[0]).isnotnull())
    if columns == names:
        return relation
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return relation.project(", ".join(quoted))


def escaped(path: str) -> str:
    """The path with DuckDB's glob letters taken literally: our own glob is expanded already."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _header(path: str, separators: str) -> Header:
    """The header of a file, read with the separator that gives most names."""
    with _opened(path) as file:
        text = _readable(path, lambda: file.read(_MOST_HEADER)).decode("utf-8-sig", "replace")
    headers = [(separator, _first_row(text, separator)) for separator in separators]
    separator, cells = max(headers, key=lambda pair: len(pair[1]))
    names = [name or f"column{i}" for i, name in enumerate(cells)]
    if not names or len(set(names)) < len(names):
        raise TableError(
            _KEY,
            Path(path).name,
            expected="a header line that names each column once",
            remedy="Write the columns' names in the first line of the file.",
        )
    check_header(names, Path(path).name)
    return separator, tuple(names)


def _first_row(text: str, separator: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return next(rows, [])
    except csv.Error:
        return []


def _opened(path: str) -> IO[bytes]:
    unzip = gzip.open if path.lower().endswith(".gz") else open
    file: IO[bytes] = _readable(path, lambda: unzip(path, "rb"))
    return file


def _readable(path: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except (OSError, EOFError, zlib.error) as error:
        kind = type(error).__name__
    raise TableError(
        _KEY,
        Path(path).name,
        expected="a readable file",
        remedy=f"Reading it failed: {kind}.",
    )


def _check_utf8(path: str) -> None:
    """Read the file once as UTF-8, in pieces. Only the curator learns which line is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with _opened(path) as file:
        while piece := _readable(path, lambda: file.read(1 << 20)):
            if (wrong := _undecodable(decoder, piece)) is not None:
                line += piece[:wrong].count(b"\n")
                break
            line += piece.count(b"\n")
        else:
            if _undecodable(decoder, b"") is None:
                return
    raise UnreadableCellsError(
        "not-utf8",
        f"{Path(path).name} is not UTF-8 text: line {line} is not. Save the file as UTF-8.",
    )


def _undecodable(decoder: codecs.IncrementalDecoder, piece: bytes) -> int | None:
    """The position from which the piece is not UTF-8, or None. An empty piece ends the file."""
    pending = len(decoder.getstate()[0])
    try:
        decoder.decode(piece, final=not piece)
    except UnicodeDecodeError as error:
        return max(error.start - pending, 0)
    return None
