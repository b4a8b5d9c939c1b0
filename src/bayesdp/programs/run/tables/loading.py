"""From a table to columns that are as the program's record declares them.

Int and Real cells are clamped to their bounds; NaN, infinities and missing cells are refused, but
missing cells of a Category with the label "missing" become that label. Bool cells are truth values
or 0 and 1. What is refused because of cells is private: everybody is told the same, and the curator
learns more from `inspect_table`. The types of columns are private too, for most libraries infer
them from cells. A table without rows is treated like any other, whatever its engine: under
add-remove its neighbour has a row, and nothing may tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.arrays import Bools, Floats, Ints
from bayesdp.errors import TableError, TableMismatchError, UnsupportedError
from bayesdp.programs.ir import Persons, Program, Type
from bayesdp.programs.run.tables.columns import CellValues, Rows, inside
from bayesdp.programs.run.tables.persons import grouped, placed
from bayesdp.tables.cells.stored import SPACES, missing_texts
from bayesdp.tables.refusals import Finding, UnreadableCellsError, engine
from bayesdp.tables.sums.rows import UNIT

if TYPE_CHECKING:
    from bayesdp.tables.source import Table

MISSING = "missing"
MOST_WHOLE = 2**53
_WORDS = (
    "The table is not as the program declares it: nothing was released and nothing was spent. "
    "What was found depends on private values and is told to the curator only, "
    "by bayesdp.programs.run.inspect_table(program, table)."
)
_TRUE, _FALSE = ("true", "1"), ("false", "0")


class _BadCells(Exception):
    """What is wrong with a column's cells: for the curator."""

    def __init__(self, code: str, message: str) -> None:
        self.finding = Finding(code, message)
        super().__init__(code)


def load(program: Program, source: object, base_dir: Path | str = ".", dataset: str = "") -> Rows:
    """The rows of a table, held against the program's record.

    Where a record is several rows, which of them count depends on the name of the `dataset`.

    `source` is a pandas or Polars data frame, an Arrow or Ibis table, a path, a list of records
    (mappings, or plain values where a record is one scalar), or a mapping of columns. Raises
    `TableError` for what the names of its columns show (and under replace-one for a table without
    rows), and `TableMismatchError`, always with the same words, for what its cells do.
    """
    rows, findings = _load(program, source, base_dir, dataset)
    if findings or rows is None:
        raise TableMismatchError(_WORDS)
    return rows


def inspect_table(program: Program, source: object, base_dir: Path | str = ".") -> list[Finding]:
    """The faults of the cells that a program would read. Private: for the curator only.

    Raises `TableError` for a table that can't be read at all.
    """
    return _load(program, source, base_dir)[1]


def _load(
    program: Program, source: object, base_dir: Path | str, dataset: str = ""
) -> tuple[Rows | None, list[Finding]]:
    if program.persons is not None:
        return _load_persons(program, program.persons, source, base_dir, dataset)
    return _load_rows(program, source, base_dir)[:2]


def _load_persons(
    program: Program, persons: Persons, source: object, base_dir: Path | str, dataset: str
) -> tuple[Rows | None, list[Finding]]:
    """One row of columns for each person."""
    from bayesdp.tables.sums.rows import PLACE, UNIT

    rows, findings, table = _load_rows(replace(program, record=persons.rows), source, base_dir)
    if findings or rows is None:
        return None, findings
    assert table is not None
    if PLACE in table.column_names:
        keys, places = table.column(UNIT), table.column(PLACE).to_numpy()
    else:
        try:
            keys = _keys(table, persons.by)
        except _BadCells as error:
            return None, [error.finding]
        places = None
    if keys is None or keys.null_count:
        return None, [Finding("unit-missing", f"{persons.by}: some rows name no person.")]
    if places is None:
        keys, places = placed(persons, rows, keys, dataset)
    made = grouped(program, persons, rows, keys, places)
    if made is None:
        return None, [Finding("shared", "A public column has several values in one person's rows.")]
    return made, []


def _keys(table: Any, name: str) -> Any:
    """The column that tells persons apart; a cell of blanks, or "NA" between blanks, is missing."""
    import pyarrow
    import pyarrow.compute as pc

    held = table.column(name).combine_chunks()
    if isinstance(held, pyarrow.ChunkedArray):
        held = held.chunk(0) if held.num_chunks else pyarrow.array([], held.type)
    if pyarrow.types.is_dictionary(held.type):
        held = held.dictionary_decode()
    if pyarrow.types.is_floating(held.type):
        held = pyarrow.array(np.asarray(held.to_numpy(zero_copy_only=False)), from_pandas=True)
    types = pyarrow.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    if any(is_text(held.type) for is_text in texts):
        held = held.cast(pyarrow.string())
        bare = pc.utf8_trim(held, characters=SPACES)
        return pc.if_else(
            pc.is_in(bare, value_set=_texts(missing_texts())), _texts([None])[0], held
        )
    if types.is_nested(held.type) or types.is_float16(held.type):
        raise _wrong_type(held, name, "texts, whole numbers or times")
    return held


def _load_rows(
    program: Program, source: object, base_dir: Path | str
) -> tuple[Rows | None, list[Finding], Any]:
    """The rows as they are in the table, what is wrong with them, and the table."""
    try:
        table, text = _arrow(program, source, Path(base_dir))
    except UnreadableCellsError as error:
        return None, [error.finding], None
    except _BadCells as error:
        return None, [error.finding], None
    if program.persons is not None and UNIT not in table.column_names:
        _column(table, program.persons.by, program)
    if program.adjacency == "replace-one" and table.num_rows == 0:
        raise TableError("table", expected="at least one row", shown=False)
    columns: dict[str, CellValues] = {}
    findings: list[Finding] = []
    for name, kind in program.record:
        held = _column(table, name, program)
        column_words = name or "the values"
        try:
            columns[name] = _converted(held, kind, column_words, text)
        except _BadCells as error:
            findings.append(error.finding)
    return Rows(columns, table.num_rows), findings, table


_KEPT_AS: dict[str, Any] = {"bool": np.bool_, "category": np.int64}


# -- the table as Arrow ------------------------------------------------------------------------


def _arrow(program: Program, source: Any, base: Path) -> tuple[Any, bool]:
    """The Arrow table, and whether its cells are texts that stand for values."""
    import pyarrow

    library = type(source).__module__.partition(".")[0]
    if isinstance(source, str | Path):
        return _from_path(program, source, base)
    if library == "ibis":
        return engine(source.to_pyarrow), False
    if library == "numpy":
        source = source.tolist()
    columns = _plain_columns(program, source)
    if columns is not None:
        try:
            made = {name: pyarrow.array(cells) for name, cells in columns.items()}
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
            raise _BadCells("mixed-cells", "A column mixes types.") from None
        if len({len(cells) for cells in made.values()}) > 1:
            raise _BadCells("lengths", "The columns are of different lengths.")
        return pyarrow.table(made), False
    if library in ("polars", "pandas") and hasattr(source, "to_frame") and program.scalar:
        source = source.to_frame(program.database)  # a series
    from bayesdp.tables.files.frames import ForeignTypesError, to_arrow

    try:
        return to_arrow(source)[0], False
    except ForeignTypesError as error:
        raise _BadCells("type", str(error)) from None


def _from_path(program: Program, source: str | Path, base: Path) -> tuple[Any, bool]:
    from bayesdp.tables.source import open_table

    opened = open_table(source, base, empty=True)
    names = [name for name, _ in program.record if name] or list(opened.names)
    if program.persons is not None and program.persons.by not in names:
        names.append(program.persons.by)
    for name in names:
        opened.require(name, f"record.{name}")
    kinds = {name or program.database: kind.kind for name, kind in program.record}
    query = opened.expression.select(
        **{name: _stored(opened, name, kinds.get(name)) for name in names}
    )
    return opened.arrow(query), opened.text_cells


def _stored(opened: Table, name: str, kind: str | None) -> Any:
    """The cells of a column; of a category with value labels, the labels."""
    from bayesdp.tables.files.value_labels import label_of, require_distinct

    raw: Any = opened.expression[name]
    if kind != "category" or name not in opened.labels:
        return raw
    require_distinct(opened.labels[name], f"record.{name}")
    # A code without a label is not missing: no label of the program reads like this.
    without = "a code without a label: " + raw.cast("string")
    return label_of(raw, opened.labels[name]).fill_null(without)


def _plain_columns(program: Program, source: Any) -> dict[str, list[Any]] | None:
    if isinstance(source, Mapping):
        return {str(name): list(cells) for name, cells in source.items()}
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        return None
    rows = list(source)
    if program.scalar:
        return {program.database: rows}
    names = [name for name, _ in program.record]
    if program.persons is not None and program.persons.by not in names:
        names.append(program.persons.by)
    strange = sum(not (isinstance(row, Mapping) and set(names) <= set(row)) for row in rows)
    if strange:
        raise _BadCells("record", f"{strange} records are not mappings with {', '.join(names)}.")
    return {name: [row[name] for row in rows] for name in names}


def _column(table: Any, name: str, program: Program) -> Any:
    names = table.column_names
    if not name:
        if len(names) == 1:
            return table.column(0)
        name = program.database
    if name not in names:
        raise TableError(
            "table",
            name,
            expected="a column of the table"
            + (" (or a table with one column)" if program.scalar else ""),
            remedy="Name the columns of the table as the program's record does.",
        )
    return table.column(name)


# -- cells --------------------------------------------------------------------------------------


def _converted(held: Any, kind: Type, name: str, text: bool) -> CellValues:
    import pyarrow

    if not len(held):  # whatever its type, which no cell has given it
        return np.zeros(0, dtype=_KEPT_AS.get(kind.kind, np.float64))
    if hasattr(held, "combine_chunks"):
        held = held.combine_chunks()
    if isinstance(held, pyarrow.ChunkedArray):
        held = held.chunk(0) if held.num_chunks else pyarrow.array([], held.type)
    if pyarrow.types.is_dictionary(held.type):
        held = held.dictionary_decode()
    if text:
        held = _without_blanks(held, kind)
    if kind.kind == "category":
        return _category(held, kind, name)
    if held.null_count:
        raise _BadCells("missing", f"{name}: {held.null_count} cells are missing.")
    if kind.kind == "bool":
        return _bool(held, name, text)
    return _number(held, kind, name, text)


def _without_blanks(held: Any, kind: Type) -> Any:
    import pyarrow.compute as pc

    blank = _texts(missing_texts(kind.labels))
    return pc.if_else(pc.is_in(held, value_set=blank), _texts([None])[0], held)


def _texts(values: Sequence[str | None]) -> Any:
    import pyarrow

    return pyarrow.array(values, pyarrow.string())


def _wrong_type(held: Any, name: str, expected: str) -> _BadCells:
    return _BadCells("type", f"{name}: its cells are {held.type}, and {expected} are declared.")


def _category(held: Any, kind: Type, name: str) -> Ints:
    import pyarrow
    import pyarrow.compute as pc

    # Before the type, for a missing cell makes doubles of whole numbers in pandas.
    if held.null_count and MISSING not in kind.labels:
        raise _BadCells(
            "missing",
            f"{name}: {held.null_count} cells are missing, and '{MISSING}' is not a label of it.",
        )
    types = pyarrow.types
    if types.is_floating(held.type):
        held = _whole_numbers(held, name)
    if types.is_null(held.type) or types.is_integer(held.type) or types.is_large_string(held.type):
        held = held.cast(pyarrow.string())
    if not (types.is_string(held.type) or str(held.type) == "string_view"):
        raise _wrong_type(held, name, "texts")
    held = pc.fill_null(held.cast(pyarrow.string()), MISSING)
    codes = pc.index_in(held, value_set=_texts(list(kind.labels)))
    if codes.null_count:
        raise _BadCells("label", f"{name}: {codes.null_count} cells hold no declared label.")
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def _whole_numbers(held: Any, name: str) -> Any:
    """Doubles that hold whole numbers, as whole numbers."""
    import pyarrow

    try:
        return held.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        raise _BadCells(
            "label", f"{name}: some cells are not whole numbers, and no labels."
        ) from None


def _bool(held: Any, name: str, text: bool) -> Bools:
    import pyarrow
    import pyarrow.compute as pc

    if text:
        lower = pc.utf8_lower(held)
        true = pc.is_in(lower, value_set=_texts(_TRUE)).to_numpy(zero_copy_only=False)
        false = pc.is_in(lower, value_set=_texts(_FALSE)).to_numpy(zero_copy_only=False)
        strange = int((~(true | false)).sum())
        if strange:
            raise _BadCells("bool", f"{name}: {strange} cells are neither true nor false.")
        return np.asarray(true, dtype=np.bool_)
    if pyarrow.types.is_boolean(held.type):
        return np.asarray(held.to_numpy(zero_copy_only=False), dtype=np.bool_)
    if not (pyarrow.types.is_integer(held.type) or pyarrow.types.is_floating(held.type)):
        raise _wrong_type(held, name, "truth values (or 0 and 1)")
    values = held.to_numpy(zero_copy_only=False)
    strange = int(((values != 0) & (values != 1)).sum())
    if strange:
        raise _BadCells("bool", f"{name}: {strange} cells are neither 0 nor 1.")
    return np.asarray(values == 1, dtype=np.bool_)


def _number(held: Any, kind: Type, name: str, text: bool) -> Floats:
    import pyarrow

    types = pyarrow.types
    if text:
        try:
            held = held.cast(pyarrow.float64())
        except pyarrow.ArrowInvalid:
            raise _BadCells("number", f"{name}: some cells are not numbers.") from None
    if types.is_decimal(held.type) or types.is_float16(held.type):
        held = held.cast(pyarrow.float64())
    if not (types.is_integer(held.type) or types.is_floating(held.type)):
        raise _wrong_type(held, name, "numbers")
    values = np.asarray(held.to_numpy(zero_copy_only=False))
    if values.dtype.kind == "f":
        strange = int((~np.isfinite(values)).sum())
        if strange:
            raise _BadCells("number", f"{name}: {strange} cells are NaN or infinite.")
        values = values.astype(np.float64)
        if kind.kind == "int":
            broken = int((values != np.rint(values)).sum())
            if broken:
                raise _BadCells("whole", f"{name}: {broken} cells are not whole numbers.")
    low, high = inside(kind)
    # Whole numbers beyond 2^53 round on the way, and are clamped to smaller bounds afterwards.
    return np.clip(values.astype(np.float64), low, high)


def check_types(program: Program) -> None:
    """Refuse columns that doubles can't hold exactly. Raises `UnsupportedError`."""
    rows = () if program.persons is None else program.persons.rows
    for name, kind in (*rows, *program.record):
        if kind.kind == "int":
            assert kind.low is not None
            assert kind.high is not None
            if max(abs(kind.low), abs(kind.high)) > MOST_WHOLE:
                raise UnsupportedError(
                    f"record.{name}",
                    str(kind.high),
                    expected="bounds within 2^53",
                    remedy="Use narrower bounds, or Real.",
                )
        if kind.kind in ("int", "real"):
            inside(kind)
