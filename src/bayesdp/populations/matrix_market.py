"""Matrix Market files: SciPy reads them, after each line was seen to be an entry and nothing else.

SciPy takes what a line starts with and drops the rest: of `2 1 0x1p-1` and of `2 1 0,5` it takes 0.
A population in which these records are not related would have too low a level.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import math
import re
import zlib
from typing import Any

from bayesdp.errors import InputError
from bayesdp.populations.files import NUMBER

_UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress}
_HEAD = re.compile(
    rb"%%?MatrixMarket[ \t]+matrix[ \t]+(\w+)[ \t]+(\S+)[^\n]*\n"
    rb"(?:[ \t]*(?:%[^\n]*|\r?)\n)*([^\n]*)\n?",
    re.IGNORECASE,
)
_FLOAT = NUMBER.pattern.encode()
_INTEGER = rb"[+-]?[0-9]+"
_VALUES = {
    b"real": [_FLOAT],
    b"double": [_FLOAT],
    b"integer": [_INTEGER],
    b"unsigned-integer": [_INTEGER],
    b"complex": [_FLOAT] * 2,
    b"pattern": [],
}
"""The numbers of an entry, by the field that the header names."""
_PLACES = {b"coordinate": [rb"[0-9]+"] * 2, b"array": []}
"""What stands before them, by the layout."""


def read_matrix(content: bytes, name: str, key: str) -> Any:
    """The matrix as SciPy gives it, sparse or dense.

    `name` is that of the file, whose ending says how `content` is packed. Raises `InputError` at
    `key` with the line that is wrong.
    """
    from scipy.io import mmread

    try:
        for suffix, unpack in _UNPACK.items():
            content = unpack(content) if name.lower().endswith(suffix) else content
        content = content.removeprefix(codecs.BOM_UTF8)
        _check_lines(content, name, key)
        return mmread(io.BytesIO(content))
    except (ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        raise InputError(key, name, expected=f"a Matrix Market file: {error}") from None


def _check_lines(content: bytes, name: str, key: str) -> None:
    """`InputError` for a line that is not an entry, and where fewer stand there than announced."""
    head = _HEAD.match(content)
    layout, field, sizes = (part.lower() for part in head.groups()) if head else (b"",) * 3
    if head is None or layout not in _PLACES or field not in _VALUES:
        raise ValueError("its first line names no matrix of coordinates or an array")
    announced = [int(size) for size in re.findall(rb"[0-9]{1,18}", sizes)]
    # SciPy makes room for what is announced. Each row has an entry on the diagonal at least.
    entries = math.prod(announced) if layout == b"array" else max(announced, default=0)
    if max([entries, *announced]) > len(content):
        size_line = sizes[:80].decode(errors="replace").strip()
        expected = f"a Matrix Market file with as many entries as it announces, {size_line}"
        raise InputError(key, name, expected=expected)
    entry = rb"[ \t]+".join([*_PLACES[layout], *_VALUES[field]])
    other = re.compile(rb"^(?![ \t]*(?:%s)?[ \t]*\r?$)[^\n]*" % entry, re.MULTILINE)
    wrong = other.search(content, head.end())
    if wrong is not None:
        line = content.count(b"\n", 0, wrong.start()) + 1
        wrong_text = wrong.group()[:80].decode(errors="replace").rstrip()
        kind = "row, column and value" if layout == b"coordinate" else "one value"
        raise InputError(key, wrong_text, expected=f"{kind} of an entry in line {line} of {name}")
