"""Parquet files as one table: each column has one type, whatever file a cell is in.

The engine would give the columns of all files the types that they have in the first: 6.5 would
become 6 beside whole numbers, a time would lose its clock beside dates, and a time without a zone
would pass for UTC beside others with one. So numbers of several types are read as doubles (whole
ones as whole), times as the engine's own, and everything else that differs is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from bayesdp.errors import TableError
from bayesdp.tables.files.csv_files import escaped
from bayesdp.tables.refusals import UnreadableCellsError, check_header, engine, opening

_KEY = "data.source"

Types = Mapping[str, str]
"""The type of each column, as the engine calls it, or as the file does."""

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_ALIKE = {
    "BIGINT": _WHOLE,
    "DOUBLE": _WHOLE | {"UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"},
    "TIMESTAMP": {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"},
    "TIMESTAMP WITH TIME ZONE": {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"},
}
"""By the type that they are read as, types that may stand for each other in several files."""


def read_parquet(
    connection: Any, paths: Sequence[str], view: str, source: str
) -> tuple[frozenset[str], dict[str, int]]:
    """Create the view of all files; the columns without any value, and the `durations_of` them.

    Raises `TableError` for files that can't be read, that lack a column of the first one, or in
    which a column has different types.
    """
    schemas = [stated_types(path, source) for path in paths]
    files = [escaped(path) for path in paths]

    def read(some: list[str]) -> Any:
        return opening(lambda: connection.con.read_parquet(some), _KEY, source)

    relation, alone = read(files), [read([path]) for path in files]
    engine_types = [dict(zip(part.columns, map(str, part.types), strict=True)) for part in alone]
    casts = _casts(paths, schemas, engine_types)
    if casts:
        selected = ", ".join(_cast(name, casts.get(name)) for name in relation.columns)
        typed = groupby(zip(files, engine_types, strict=True), key=itemgetter(1))
        parts = [read([path for path, _ in group]) for _, group in typed]

        def united() -> Any:
            return reduce(lambda above, below: above.union(below), map(projected, parts))

        def projected(part: Any) -> Any:
            return part.project(selected)

        relation = opening(united, _KEY, source)
    opening(lambda: relation.create_view(view), _KEY, source)
    return (
        frozenset.intersection(*(of_type(schema, "null") for schema in schemas)),
        {name: number for schema in schemas for name, number in durations_of(schema).items()},
    )


MOST_BYTES_OF_A_CELL = 2_000_000
"""As in a CSV file. A small file may hold one text of a gigabyte, in each of a million rows."""


def check_cells(
    connection: Any, paths: Sequence[str], view: str, read: Collection[str] | None
) -> None:
    """Raises `UnreadableCellsError` where a text of the `view` has more than 2 MB.

    The view is of the files at these `paths`; `read` are the columns that will be read, `None`
    where all may be. Only columns of which some part of a file is as large can hold such a text.
    """
    files, con = [escaped(path) for path in paths], connection.con
    kinds = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE {view}").fetchall()}

    def looked() -> list[str]:
        large = con.execute(
            "SELECT DISTINCT path_in_schema FROM parquet_metadata(?) "
            "WHERE type = 'BYTE_ARRAY' AND total_uncompressed_size > ?",
            [files, MOST_BYTES_OF_A_CELL],
        )
        return [name for (name,) in large.fetchall() if longest(name) > MOST_BYTES_OF_A_CELL]

    def longest(name: str) -> int:
        length = {"VARCHAR": "strlen", "BLOB": "octet_length"}.get(kinds.get(name, ""))
        if length is None or (read is not None and name not in read):
            return 0
        quoted = '"' + name.replace('"', '""') + '"'
        ((most,),) = con.execute(f"SELECT max({length}({quoted})) FROM {view}").fetchall()
        return most or 0

    for name in sorted(engine(looked)):
        message = f"Column '{name}' holds a text above 2 MB. Leave it out, or shorten it."
        raise UnreadableCellsError("unreadable", message)


def durations_of(types: Types) -> dict[str, int]:
    """The columns of durations, with the number of their units in a second.

    Such a type is "duration[us]", say.
    """
    durations = of_type(types, "duration")
    return {name: _IN_A_SECOND[types[name][9:-1]] for name in durations}


_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _casts(
    paths: Sequence[str], schemas: Sequence[Types], engine_types: Sequence[Types]
) -> dict[str, str]:
    """The type to read a column as, for each whose type is not the same in all files.

    Raises `TableError` where types differ that can't stand for each other.
    """
    casts = {}
    for name in dict.fromkeys(name for types in engine_types for name in types):
        if any(name not in types for types in engine_types):
            raise _unlike(
                paths,
                f"files with the same columns: one has no '{name}'",
                "Read files of other columns as tables of their own.",
            )
        files = {  # a column without any value has no type of its own
            _kind(schema[name], types[name]): Path(path).name
            for path, schema, types in zip(paths, schemas, engine_types, strict=True)
            if schema[name] != "null"
        }
        file_types = {schema[name] for schema in schemas}
        if len(files) > 1 or (files and "null" in file_types):
            casts[name] = _common(name, files, paths)
    return casts


def _kind(stated: str, engine_type: str) -> str:
    """The engine's type, but for durations, of which it sees the whole numbers only."""
    return stated.upper() if stated.startswith("duration") else engine_type


def _common(name: str, files: Mapping[str, str], paths: Sequence[str]) -> str:
    """The type to read a column as; `files` has one that holds it as each type."""
    if len(files) == 1:
        return next(iter(files))
    plain = {kind.partition("(")[0] for kind in files}
    for kind, alike in _ALIKE.items():
        if plain <= alike:
            return kind
    listed = sorted(files.items(), key=itemgetter(1))[:2]
    words = ", ".join(f"{kind} in {file}" for kind, file in listed)
    raise _unlike(
        paths,
        f"files whose columns have the same types, and '{name}' is {words}",
        "Write the files anew with one type for each column.",
    )


def _unlike(paths: Sequence[str], expected: str, remedy: str) -> TableError:
    return TableError(
        _KEY, [Path(path).name for path in paths[:2]], expected=expected, remedy=remedy
    )


def _cast(name: str, kind: str | None) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    if kind is None:
        return quoted
    # The engine has whole numbers in the place of durations.
    return f"CAST({quoted} AS {'BIGINT' if kind.startswith('DURATION') else kind}) AS {quoted}"


def stated_types(path: str, source: str) -> dict[str, str]:
    """The type of each column as the file states it: the engine forgets some.

    Raises `TableError` at the `source` for a file that is not Parquet.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        schema = pyarrow.parquet.read_schema(path)
        types = {field.name: str(field.type) for field in schema}
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as error:  # names are texts, too
        kind = type(error).__name__
        raise TableError(
            _KEY,
            source,
            expected="a Parquet file that can be read",
            remedy=f"Reading it failed with {kind}: look for a damaged file.",
        ) from None
    check_header(schema.names, source)
    return types


def of_type(types: Types, start: str) -> frozenset[str]:
    """The columns whose type starts with this text."""
    return frozenset(name for name, written_type in types.items() if written_type.startswith(start))
