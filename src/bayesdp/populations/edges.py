"""Pairs of records that share a factor: read from CSV and Parquet files, or given in memory."""

from __future__ import annotations

import csv
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.populations.files import named_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_INLINE_EDGES = 100_000
"""Up to this many edges given in memory are kept in the spec; more belong in a file."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of records, an integer array of shape `(edges, 2)`. Made by `read_edges`.

    `sha256` is over the file's bytes, or over the numbers if they were given in memory.
    """

    pairs: NDArray[np.int64]
    sha256: str
    file: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edges) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def to_spec(self) -> Any:
        """Plain data that reads back as these edges: the file and its digest, or all pairs.

        Raises `UnsupportedError` for many pairs that were given in memory.
        """
        if self.file is not None:
            return {"file": self.file, "sha256": self.sha256}
        if len(self.pairs) > MOST_INLINE_EDGES:
            raise UnsupportedError(
                "population.edges",
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
        once = "List it once. For a stronger dependence state a table with its entries squared."
        for wrong, expected, remedy in (
            (bad, f"two records from 0 to {records - 1}", ""),
            (same, "two different records", ""),
            (repeated, "a pair that was not listed before, in either order", once),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                raise InputError(
                    f"population.edges[{row}]",
                    self.pairs[row].tolist(),
                    expected=expected,
                    remedy=remedy,
                )


def read_edges(raw: Any) -> Edges:
    """Edges from a path, `{ file, sha256 }`, or pairs of integers; `InputError` for others."""
    import numpy as np

    key = "population.edges"
    file = named_file(raw, key, "a file of pairs")
    if file is not None:
        return Edges(_pairs_in(file.content, file.name), file.sha256, file.name)
    try:
        pairs = np.asarray(raw)
    except ValueError:
        pairs = np.asarray(None)
    if pairs.size == 0:
        pairs = np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(key, raw, expected="pairs of record numbers, or a Parquet or CSV file")
    fixed = np.ascontiguousarray(pairs, dtype="<i8")
    return Edges(fixed.astype(np.int64), hashlib.sha256(fixed.tobytes()).hexdigest())


_PAIRS = "a Parquet or CSV file of two integer columns, record numbers from 0"


def _pairs_in(content: bytes, name: str) -> NDArray[np.int64]:
    """The two integer columns of a Parquet or CSV file (CSV: with or without a header)."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    if content[:4] != b"PAR1":
        return _pairs_in_csv(content, name)
    try:
        table = parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError("population.edges", name, expected=f"{_PAIRS} ({error})") from None
    if table.num_columns != 2 or not all(pa.types.is_integer(field.type) for field in table.schema):
        fields = ", ".join(f"{field.name} ({field.type})" for field in table.schema)
        raise InputError("population.edges", name, expected=_PAIRS, remedy=f"It has {fields}.")
    if any(column.null_count for column in table.columns):
        raise InputError("population.edges", name, expected=f"{_PAIRS}, none missing")
    columns = [column.to_numpy().astype(np.int64) for column in table.columns]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _pairs_in_csv(content: bytes, name: str) -> NDArray[np.int64]:
    """Every line is a pair, except a first line of two names, which is a header.

    A byte order mark, quotes and spaces around numbers, and empty lines, are not part of a pair.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content = content.removeprefix(b"\xef\xbb\xbf")
    line_end = re.search(rb"[\r\n]", content)
    start = line_end.start() if line_end else len(content)
    cells = _cells(_text(content[:start], name))
    has_header = len(cells) == 2 and all(map(_is_name, cells))
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(
                column_names=["first", "second"], skip_rows=has_header
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={"first": pa.int64(), "second": pa.int64()}
            ),
        )
        after = start if has_header else 0  # Arrow would read hexadecimal numbers
        is_plain = max(content.find(b"x", after), content.find(b"X", after)) < 0
    except pa.ArrowInvalid:
        is_plain = False
    if is_plain and len(table) and not any(column.null_count for column in table.columns):
        columns = [column.to_numpy().astype(np.int64) for column in table.columns]
        return np.ascontiguousarray(np.stack(columns, axis=1))
    return _pairs_line_by_line(_text(content, name), name, has_header)


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("population.edges", name, expected=f"{_PAIRS} ({error})") from None


def _pairs_line_by_line(text: str, name: str, has_header: bool) -> NDArray[np.int64]:
    """The same, slowly, to name the line that is wrong."""
    import numpy as np

    pairs: list[tuple[int, int]] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if not line.strip() or (has_header and number == 1):
            continue
        cells = _cells(line)
        if len(cells) != 2 or not all(_WHOLE.fullmatch(cell) for cell in cells):
            raise InputError(
                "population.edges",
                line[:80],
                expected=f"two record numbers, with a comma between them, in line {number} of "
                f"{name}",
                remedy="Only the first line may be a header: two names, not numbers.",
            )
        pairs.append((int(cells[0]), int(cells[1])))
    if not pairs:
        raise InputError("population.edges", name, expected=_PAIRS, remedy="It has no pair.")
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _cells(line: str) -> list[str]:
    """The cells of a line; none where it can't be divided into cells."""
    try:
        return [cell.strip() for row in csv.reader([line], skipinitialspace=True) for cell in row]
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
