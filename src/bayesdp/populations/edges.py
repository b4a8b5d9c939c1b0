"""Pairs of records that share a factor: read from CSV and Parquet files, or given in memory."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesdp.errors import ENCODING, InputError, UnsupportedError
from bayesdp.populations.base import require_numbers
from bayesdp.populations.files import NamedFile, named_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_INLINE_EDGES = 100_000
"""Up to this many edges given in memory are kept in the spec; more belong in a file."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of records, an integer array of shape `(edges, 2)`. Made by `read_edges`.

    `sha256` is over the file's bytes, or over the numbers if they were given in memory. Where a
    file lists each pair `both_ways`, `pairs` has it once.
    """

    pairs: NDArray[np.int64]
    sha256: str
    file: str | None = None
    both_ways: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edges) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def to_spec(self) -> Any:
        """Plain data that reads back as these edges: the file and its digest, or all pairs.

        Raises `UnsupportedError` for many pairs that were given in memory.
        """
        if self.file is not None:
            both = {"both_ways": True} if self.both_ways else {}
            return {"file": self.file, "sha256": self.sha256, **both}
        if len(self.pairs) > MOST_INLINE_EDGES:
            raise UnsupportedError(
                _KEY,
                f"{len(self.pairs)} pairs in memory",
                expected=f"a file where there are more than {MOST_INLINE_EDGES}, since studies, "
                "ledgers and certificates keep the population as plain data",
                remedy="Write them to a Parquet file of two integer columns and give its path.",
            )
        return self.pairs.tolist()

    def require_within(self, records: int) -> None:
        """`InputError` for a record that isn't there, one paired with itself, and a pair twice.

        Each pair applies the shared table once, so a pair that is also listed the other way round
        would apply it twice.
        """
        import numpy as np

        bad = ((self.pairs < 0) | (self.pairs >= records)).any(axis=1)
        same = self.pairs[:, 0] == self.pairs[:, 1]
        repeated = np.ones(len(self.pairs), dtype=bool)
        repeated[np.unique(np.sort(self.pairs, axis=1), axis=0, return_index=True)[1]] = False
        for wrong, expected, remedy in (
            (bad, f"two records from 0 to {records - 1}", _FROM_0),
            (same, "two different records", ""),
            (repeated, "a pair that was not listed before, in either order", self._listed_once),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                pair = self.pairs[row].tolist()
                raise InputError(
                    _KEY if self.file is not None else f"{_KEY}[{row}]",
                    pair,
                    expected=f"{expected}{self._place(pair)}",
                    remedy=remedy,
                )

    def _place(self, pair: list[int]) -> str:
        """Where in the file the pair stands, in either order, in words."""
        if self.file is None:
            return ""
        file = named_file({"file": self.file, "sha256": self.sha256}, _KEY, _PAIRS)
        assert file is not None
        return f" ({_lines_of(file, pair)} of {self.file})"

    @property
    def _listed_once(self) -> str:
        both = "" if self.file is None else f" {_both_ways(self.file)}"
        return (
            "List it once. For a stronger dependence state a table with its entries squared." + both
        )


_KEY = "population.edges"
_PAIRS = "a Parquet or CSV file of two integer columns, record numbers from 0"
_FROM_0 = "Records are numbered from 0."


def _both_ways(file: str) -> str:
    """The remedy for a file that lists each pair in both orders."""
    return (
        "If the file lists each pair both ways, as tables of neighbours do, write "
        f'edges = {{ file = "{file}", both_ways = true }}.'
    )


def read_edges(raw: Any) -> Edges:
    """Edges from a path, `{ file, sha256, both_ways }`, or pairs of integers.

    With `both_ways` the file has to list each pair twice, once in each order, and it counts once.
    Raises `InputError` for others.
    """
    import numpy as np

    file = named_file(raw, _KEY, "a file of pairs", "both_ways")
    if file is not None:
        both = raw.get("both_ways", False) if isinstance(raw, Mapping) else False
        if not isinstance(both, bool):
            raise InputError(f"{_KEY}.both_ways", both, expected="true or false")
        pairs = _pairs_in(file)
        pairs = _of_both_ways(pairs, file) if both else pairs
        return Edges(pairs, file.sha256, file.name, both)
    require_numbers(raw, _KEY)
    try:
        pairs = np.asarray(raw)
    except ValueError:
        pairs = np.asarray(None)
    if pairs.size == 0:
        pairs = np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(_KEY, raw, expected="pairs of record numbers, or a Parquet or CSV file")
    fixed = np.ascontiguousarray(pairs, dtype="<i8")
    return Edges(fixed.astype(np.int64), hashlib.sha256(fixed.tobytes()).hexdigest())


def _of_both_ways(pairs: NDArray[np.int64], file: NamedFile) -> NDArray[np.int64]:
    """The pairs whose smaller record comes first; `InputError` unless each stands there both ways.

    A record that is paired with itself is kept, to be refused.
    """
    import numpy as np

    rising, same = pairs[:, 0] < pairs[:, 1], pairs[:, 0] == pairs[:, 1]
    distinct, number, times = np.unique(
        np.sort(pairs, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    upwards = np.bincount(number.ravel(), weights=rising, minlength=len(distinct))
    wrong = ((times != 2) | (upwards != 1)) & (distinct[:, 0] != distinct[:, 1])
    if wrong.any():
        pair = distinct[int(np.argmax(wrong))].tolist()
        raise InputError(
            _KEY,
            pair,
            expected="a pair that is listed once in each order, since both_ways is true "
            f"({_lines_of(file, pair)} of {file.name})",
            remedy="List it in both orders, or each pair once and without both_ways.",
        )
    return np.ascontiguousarray(pairs[rising | same])


def _pairs_in(file: NamedFile) -> NDArray[np.int64]:
    """The two integer columns of a Parquet or CSV file (CSV: with or without a header)."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    if not _is_parquet(file):
        return _pairs_in_csv(file)
    try:
        table = parquet.read_table(pa.BufferReader(file.content))
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise InputError(_KEY, file.name, expected=f"{_PAIRS} ({error})") from None
    if table.num_columns != 2 or not all(pa.types.is_integer(field.type) for field in table.schema):
        fields = ", ".join(f"{field.name} ({field.type})" for field in table.schema)
        raise InputError(_KEY, file.name, expected=_PAIRS, remedy=f"It has {fields}.")
    if any(column.null_count for column in table.columns):
        raise InputError(_KEY, file.name, expected=f"{_PAIRS}, none missing")
    columns = [column.to_numpy().astype(np.int64) for column in table.columns]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _is_parquet(file: NamedFile) -> bool:
    return file.content[:4] == b"PAR1"


def _lines_of(file: NamedFile, pair: list[int]) -> str:
    """The lines of a CSV file, or rows of a Parquet file, that have the pair in either order."""
    what, both_ends = "line", set(pair)
    if _is_parquet(file):
        what = "row"
        listed = enumerate(_pairs_in(file).tolist(), start=1)
        places = [str(row) for row, ends in listed if set(ends) == both_ends]
    else:
        places = [str(line) for line, a, b in _Csv(file).pairs() if {a, b} == both_ends]
    *first, last = places
    return f"{what}s {', '.join(first)} and {last}" if first else f"{what} {last}"


# ------------------------------------------------------------------------------- CSV files


def _pairs_in_csv(file: NamedFile) -> NDArray[np.int64]:
    """Every line is a pair, except a first line of two names, which is a header.

    A byte order mark, quotes and spaces around numbers, and empty lines, are not part of a pair.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    lines = _Csv(file)
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(lines.content),
            read_options=arrow_csv.ReadOptions(
                column_names=["first", "second"], skip_rows=lines.has_header
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=lines.separator),
            convert_options=arrow_csv.ConvertOptions(
                column_types={"first": pa.int64(), "second": pa.int64()}
            ),
        )
        after = lines.first_end if lines.has_header else 0  # Arrow would read hexadecimal numbers
        is_plain = max(lines.content.find(b"x", after), lines.content.find(b"X", after)) < 0
    except pa.ArrowInvalid:
        is_plain = False
    if is_plain and len(table) and not any(column.null_count for column in table.columns):
        columns = [column.to_numpy().astype(np.int64) for column in table.columns]
        return np.ascontiguousarray(np.stack(columns, axis=1))
    slowly = [(first, second) for _, first, second in lines.pairs()]
    if not slowly:
        raise InputError(_KEY, file.name, expected=_PAIRS, remedy="It has no pair.")
    return np.array(slowly, dtype=np.int64).reshape(-1, 2)


class _Csv:
    """A CSV file as lines: the first one says what separates cells, and whether it is a header."""

    def __init__(self, file: NamedFile) -> None:
        self.name = file.name
        self.content = file.content
        line_end = re.search(rb"[\r\n]", self.content)
        self.first_end = line_end.start() if line_end else len(self.content)
        first = self._text(self.content[: self.first_end])
        two = (mark for mark in _SEPARATORS if len(_cells(first, mark)) == 2)
        self.separator = next(two, _SEPARATORS[0])
        cells = _cells(first, self.separator)
        self.has_header = len(cells) == 2 and all(map(_is_name, cells))

    def _text(self, content: bytes) -> str:
        try:
            return content.decode(ENCODING)
        except UnicodeDecodeError as error:
            raise InputError(
                _KEY, self.name, expected=f"{_PAIRS} ({error})", remedy="Save it in UTF-8."
            ) from None

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """The number of each line with a pair, and the pair. `InputError` for any other line."""
        for number, line in enumerate(_LINE_END.split(self._text(self.content)), start=1):
            if not line.strip() or (self.has_header and number == 1):
                continue
            cells = _cells(line, self.separator)
            if len(cells) != 2 or not all(_WHOLE.fullmatch(cell) for cell in cells):
                raise InputError(
                    _KEY,
                    line[:80],
                    expected="two record numbers, with a comma, a semicolon or a tab between them, "
                    f"in line {number} of {self.name}",
                    remedy="Write one pair in each line. Only the first may be a header: two "
                    "names, not numbers.",
                )
            yield number, int(cells[0]), int(cells[1])


_SEPARATORS = (",", ";", "\t")


def _cells(line: str, separator: str) -> list[str]:
    """The cells of a line; none where it can't be divided into cells."""
    try:
        rows = csv.reader([line], delimiter=separator, skipinitialspace=True)
        return [cell.strip() for row in rows for cell in row]
    except csv.Error:
        return []


def _is_name(cell: str) -> bool:
    """Whether a cell has a letter and can't be meant as a number, in whatever notation.

    A pair that is taken for a header is lost: what could be a number is refused instead.
    """
    bare = cell.lstrip("+-.")
    is_number = bare[:1].isnumeric() or bare.casefold() in _NUMBERS
    return any(map(str.isalpha, cell)) and not is_number


_NUMBERS = ("nan", "inf", "infinity", "na", "n/a", "null", "none")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
