"""Files of statistics programs: Stata (`.dta`), SPSS (`.sav`, `.zsav`), SAS (`.sas7bdat`, `.xpt`).

They state the type of each column. Missing values of all kinds are missing: the program's own, `.a`
to `.z`, and those that a file of SPSS declares; so is an empty text. Dates and times are dates and
times, and clocks are durations, which may have 24 hours and more. A column with value labels has
codes, and its labels are kept beside it (`value_labels`).

Public names: `SUFFIXES`, `read_statistics`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import time
from pathlib import Path
from typing import Any

from bayesdp.errors import TableError, UnsupportedError
from bayesdp.tables.files.frames import to_arrow
from bayesdp.tables.files.value_labels import ValueLabels
from bayesdp.tables.refusals import UnreadableCellsError, check_header

_KEY = "data.source"
SUFFIXES = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""How a file's name ends, and the function of pyreadstat that reads it."""
MOST_CELLS = 50_000_000
"""They are held in memory; a compressed file may be small and have many."""


def read_statistics(path: str, source: str) -> tuple[Any, frozenset[str], dict[str, ValueLabels]]:
    """The Arrow table, the columns whose types depend on cells, and value labels by column.

    Raises `TableError` for a file that can't be read, `UnreadableCellsError` where its cells can't,
    and `UnsupportedError` where the library is not installed.
    """
    reader = _reader(path, source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = ""
        try:
            _, about = reader(path, metadataonly=True)
        except Exception as error:  # foreign code: the types that it raises have no common base
            kind = type(error).__name__
        else:
            kind = "" if all(about.column_names) else "a column without a name"
        if kind:
            raise TableError(
                _KEY,
                source,
                expected=f"a {Path(path).suffix} file that can be read",
                remedy=f"Reading it failed with {kind}: look for a damaged file.",
            )
        check_header(about.column_names, source)
        if (about.number_rows or 0) * len(about.column_names) > MOST_CELLS:
            raise UnreadableCellsError(
                "too-large",
                f"{Path(path).name} has more than {MOST_CELLS:,} cells: write it as Parquet.",
            )
        try:
            frame, about = reader(path)
            frame = frame.assign(**_durations(reader, path, _clocks(frame)))
        except Exception as error:  # as above
            kind = type(error).__name__
    if kind:
        raise UnreadableCellsError(
            "unreadable", f"Reading {Path(path).name} failed with {kind}: look for a damaged file."
        )
    data, inferred = to_arrow(_as_stored(frame, about))
    labels = {
        name: _labels(about.variable_value_labels.get(name, {}), data.schema.field(name).type)
        for name in data.column_names
    }
    return data, inferred, {name: texts for name, texts in labels.items() if texts}


def _reader(path: str, source: str) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise UnsupportedError(
            _KEY,
            source,
            expected="the library pyreadstat, which reads Stata, SPSS and SAS files",
            remedy="Install it: pip install 'bayesdp[formats]'. Or export the table to Parquet.",
        ) from None
    return getattr(pyreadstat, SUFFIXES[Path(path).suffix.lower()])


def _clocks(frame: Any) -> list[str]:
    """The columns that the library reads as times of day: it drops whole days."""
    dated = [name for name in frame.columns if str(frame[name].dtype) == "object"]
    known = {name: frame[name].dropna() for name in dated}
    return [name for name, cells in known.items() if cells.map(type).eq(time).any()]


def _durations(read: Any, path: str, names: list[str]) -> dict[str, Any]:
    """These columns as durations, from the numbers that are stored: Stata counts milliseconds."""
    if not names:
        return {}
    stored, _ = read(path, usecols=names, disable_datetime_conversion=True)
    unit = 1e3 if path.lower().endswith(".dta") else 1e6
    micro = {name: (stored[name] * unit).round() for name in names}
    return {name: micro[name].astype("Int64").astype("timedelta64[us]") for name in names}


def _as_stored(frame: Any, about: Any) -> Any:
    """The frame with empty texts as missing values, and with Stata's floats as such."""
    columns = {}
    for name in frame.columns:
        cells = frame[name]
        if str(cells.dtype) in ("str", "string", "object"):
            cells = cells.where(cells != "")
        elif about.readstat_variable_types.get(name) == "float":
            cells = cells.astype("float32")
        columns[name] = cells
    return frame.assign(**columns)


def _labels(stated: Mapping[Any, str], kind: Any) -> dict[float | str, str]:
    """The labels of codes that a column of this type has, without spaces around them.

    Stata also labels `.a` to `.z`, which are missing values.
    """
    import pyarrow

    types = pyarrow.types
    text = types.is_string(kind) or types.is_large_string(kind)
    if not text and not types.is_integer(kind) and not types.is_floating(kind):
        return {}
    return {
        code.strip() if isinstance(code, str) else float(code): label.strip()
        for code, label in stated.items()
        if isinstance(code, str) == text and label.strip()
    }
