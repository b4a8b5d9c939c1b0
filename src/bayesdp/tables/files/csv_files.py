"""CSV files as texts: what a file's cells mean is decided by its header line alone.

The engine would guess the dialect from cells, so it isn't asked: the separator is that of
`, ; | tab` which cuts the header line into most names (a tab for `.tsv`), a cell is quoted by `"`,
and a quote within is doubled. Several files are put together by the names in their headers. A line
without anything is not a row; in a file of one column an empty cell is written `""`.

A study may declare another separator and encoding (`csv_dialect`). Python's decoders read other
encodings than UTF-8, since they refuse what is not of the encoding; the engine then keeps the cells
in memory, and the file in UTF-8 that it reads them from is deleted at once.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from bayesdp.errors import TableError
from bayesdp.tables.files.csv_dialect import CsvDialect
from bayesdp.tables.refusals import UnreadableCellsError, check_header, engine

_KEY = "data.source"
_SEPARATORS = ",;\t|"
_MOST_HEADER = 1 << 20

Header = tuple[str, tuple[str, ...]]
"""The separator and the names of the columns."""


def read_csv(
    connection: Any, paths: list[str], table: str, dialect: CsvDialect, *, tabs: bool
) -> None:
    """Create the view, or the table, of all files, every cell a text.

    Raises `TableError` for files that can't be read, without a header, or with different names in
    their headers, and `UnreadableCellsError` where a file is not of the declared encoding.
    """
    separators = dialect.separator or ("\t" if tabs else _SEPARATORS)
    if dialect.is_utf8:
        relation = _of_files(connection, paths, separators)
        for path in paths:
            for _ in _decoded(path, dialect):
                pass
        engine(lambda: relation.create_view(table))
        return
    with tempfile.TemporaryDirectory(prefix="bayesdp-") as folder:
        copies = [_in_utf8(path, dialect, Path(folder) / str(i)) for i, path in enumerate(paths)]
        relation = _of_files(connection, copies, separators)
        engine(lambda: relation.create(table))


def _of_files(connection: Any, paths: list[str], separators: str) -> Any:
    """The cells of all files, which are in UTF-8."""
    headers = [(_header(path, separators), path) for path in paths]
    (_, names), first = headers[0]
    for (_, others), path in headers[1:]:
        if set(others) != set(names):
            raise TableError(
                _KEY,
                [Path(first).name, Path(path).name],
                expected="files with the same names in their header lines",
                remedy="Read files of other columns as tables of their own.",
            )
    relation: Any = None
    for header, group in groupby(headers, key=lambda pair: pair[0]):
        part = _relation(connection, header, [path for _, path in group], names)
        relation = part if relation is None else relation.union(part)
    return relation


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


def _in_utf8(path: str, dialect: CsvDialect, folder: Path) -> str:
    """The path of a copy in UTF-8, in a folder of its own, so that errors name the file."""
    folder.mkdir()
    name = Path(path).name
    copy = folder / (name[:-3] if name.lower().endswith(".gz") else name)
    with open(copy, "w", encoding="utf-8", newline="") as file:
        for text in _decoded(path, dialect):
            file.write(text)
    return os.fspath(copy)


def _decoded(path: str, dialect: CsvDialect) -> Iterator[str]:
    """The text of a file, in pieces. Only the curator learns which line is not of its encoding."""
    decoder = codecs.getincrementaldecoder(dialect.codec)()
    line = 1
    with _opened(path) as file:
        if dialect.codec == "utf-16":
            _require_mark(path, _readable(path, lambda: file.read(2)))
            _readable(path, lambda: file.seek(0))
        while True:
            piece = _readable(path, lambda: file.read(1 << 20))
            before = decoder.getstate()
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                decoder.setstate(before)
                sound = piece[: max(error.start - len(before[0]), 0)]
                line += decoder.decode(sound).count("\n")
                break
            line += text.count("\n")
            yield text
            if not piece:
                return
    raise UnreadableCellsError(
        "not-utf8" if dialect.is_utf8 else "not-decodable",
        f"{Path(path).name} is not {dialect.encoding.upper()} text: line {line} is not. "
        'Declare its encoding, such as "windows-1252" ([data.csv] of a study, --encoding of a '
        "fit), or save the file as UTF-8.",
    )


def _require_mark(path: str, start: bytes) -> None:
    """`TableError` for UTF-16 that doesn't say the order of its bytes."""
    if start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise TableError(
            "data.csv.encoding",
            "utf-16",
            expected=f"a byte order mark at the start of {Path(path).name}",
            remedy='Declare the order of its bytes: "utf-16-le" (of Windows) or "utf-16-be".',
        )
