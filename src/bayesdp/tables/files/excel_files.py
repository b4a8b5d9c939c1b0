"""Excel files (`.xlsx`): the cells of a sheet as texts, as a CSV file would have them.

The first row names the columns; a row without anything is not a row. Numbers are written so that
they are read as the same double, whole ones without decimals; dates as `2026-02-01`, with the clock
if it isn't midnight; durations as `30:15:00`; truth values as `true` and `false`. So a column may
mix types: each cell is held against the declaration, as in a CSV file. Of a formula the stored
result is read, and a formula without one is refused: nothing is computed. Macros and links to other
files are not looked at.

Public name: `read_excel`.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

from bayesdp.errors import TableError, UnsupportedError, did_you_mean
from bayesdp.tables.refusals import UnreadableCellsError, check_header

_KEY = "data.source"
MOST_BYTES = 1 << 30
"""Of all parts of a file together, unpacked: a small file may be packed so that it fills a disk."""
_MOST_ROWS = 1 << 20
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_OVERLAP = 64  # a prefix and a tag are shorter


def read_excel(path: str, sheet: str | None, source: str) -> Any:
    """The Arrow table of texts of this sheet; of the first one, if it has no name.

    Raises `TableError` for a file that is none, a sheet that is not there or a first row that names
    no columns, `UnreadableCellsError` for cells that can't be read, and `UnsupportedError` where
    the library is not installed.
    """
    formulas = _check_parts(path)
    with (
        _unreadable_otherwise(path),
        warnings.catch_warnings(),
        open(path, "rb") as file,
        open(path, "rb") as same,
    ):
        warnings.simplefilter("ignore")  # about styles, and dates that Excel doesn't have
        results = _rows_of(file, sheet, source, results=True)
        written = _rows_of(same, sheet, source, results=False) if formulas else None
        return _as_table(_texts(results, written), source)


def _check_parts(path: str) -> bool:
    """Whether some sheet has formulas. Refuses a file that is not packed XML, or too large."""
    try:
        with zipfile.ZipFile(path) as parts:
            sizes = [part.file_size for part in parts.infolist()]
            sheets = [name for name in parts.namelist() if name.startswith("xl/worksheets/")]
            if sum(sizes) <= MOST_BYTES:
                return any(_has_formulas(parts, name) for name in sheets)
    except Exception as error:  # damaged files: also errors of unpacking and of names
        kind = type(error).__name__
    else:
        raise UnreadableCellsError(
            "too-large",
            f"{Path(path).name} has more than {MOST_BYTES >> 20} MB when it is unpacked: save the "
            "sheet as CSV.",
        )
    raise TableError(
        _KEY,
        Path(path).name,
        expected="an Excel file (.xlsx) without a password",
        remedy=f"Reading it failed with {kind}: save it anew as .xlsx, or as CSV.",
    )


def _has_formulas(parts: zipfile.ZipFile, name: str) -> bool:
    with parts.open(name) as file:
        end = b""
        while piece := file.read(1 << 20):
            if _FORMULA.search(end + piece):
                return True
            end = piece[-_OVERLAP:]
    return False


@contextmanager
def _unreadable_otherwise(path: str) -> Iterator[None]:
    """Errors of the library become `UnreadableCellsError`, for they may quote cells."""
    try:
        yield
    except (TableError, UnsupportedError, UnreadableCellsError):
        raise
    except Exception as error:  # foreign code: the types that it raises have no common base
        kind = type(error).__name__
    else:
        return
    raise UnreadableCellsError(
        "unreadable",
        f"Reading {Path(path).name} failed with {kind}: save it anew as .xlsx, or as CSV.",
    )


def _rows_of(file: BinaryIO, name: str | None, source: str, *, results: bool) -> Iterator[Any]:
    """The rows of the sheet, with the results of formulas or the formulas themselves."""
    try:
        import openpyxl
    except ImportError:
        raise UnsupportedError(
            _KEY,
            source,
            expected="the library openpyxl, which reads Excel files",
            remedy="Install it: pip install 'bayesdp[formats]'. Or save the sheet as CSV.",
        ) from None
    book = openpyxl.load_workbook(file, read_only=True, data_only=results, keep_links=False)
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name is not None and name not in sheets:
        expected = f"a sheet of {Path(source.partition('::')[0]).name}"
        raise TableError(_KEY, name, expected=expected, remedy=did_you_mean(name, sheets))
    sheet = next(iter(sheets.values())) if name is None else sheets[name]
    sheet.reset_dimensions()  # what a file says of its size may be too small
    rows: Iterator[Any] = sheet.iter_rows()
    return rows


def _texts(results: Iterator[Any], written: Iterator[Any] | None) -> Iterator[list[Any]]:
    """The texts of each row of the sheet, `None` for cells without anything.

    `written` are the same rows with formulas; `None` where there are none.
    """
    behind = repeat(None) if written is None else written
    for number, (row, formulas) in enumerate(zip(results, behind, strict=False), 1):
        if number > _MOST_ROWS:
            raise UnreadableCellsError("too-large", f"The sheet has more than {_MOST_ROWS} rows.")
        for cell, formula in zip(row, formulas or (), strict=False):
            # A result that is an empty text has the type "str".
            if formula.data_type == "f" and cell.value is None and cell.data_type != "str":
                raise UnreadableCellsError(
                    "no-result",
                    f"Row {number} has a formula without a stored result: open the file in a "
                    "spreadsheet program, which computes it, and save it.",
                )
        yield [_text(cell.value) for cell in row]


def _text(value: Any) -> str | None:
    """The text of a cell, as a CSV file has it."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return value.date().isoformat() if midnight else value.isoformat(" ")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(value, timedelta(minutes=1))
        return f"{minutes // 60}:{minutes % 60:02}:{seconds.total_seconds():09.6f}"
    return str(value)


def _as_table(rows: Iterator[list[Any]], source: str) -> Any:
    import pyarrow

    names = [name or f"column{i}" for i, name in enumerate(_cut(next(rows, [])))]
    if not names or len(set(names)) < len(names):
        raise TableError(
            _KEY,
            source,
            expected="a first row that names each column once",
            remedy="Write the columns' names in the first row of the sheet, and nothing above.",
        )
    check_header(names, source)
    columns: list[list[str | None]] = [[] for _ in names]
    for number, row in enumerate(rows, 2):
        cells = _cut(row)
        if len(cells) > len(names):
            raise UnreadableCellsError(
                "unreadable", f"Row {number} has cells beside the columns that the first row names."
            )
        if cells:
            for i, column in enumerate(columns):
                column.append(cells[i] if i < len(cells) else None)
    text = pyarrow.string()
    return pyarrow.table([pyarrow.array(column, text) for column in columns], names=names)


def _cut(row: list[Any]) -> list[Any]:
    """The row without cells at its end that hold nothing."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]
