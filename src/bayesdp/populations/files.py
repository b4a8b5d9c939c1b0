"""What is read from files: JSON and TOML documents, and files that a population names.

A relative path is looked for in the current directory, then beside the study and population files
that this process has read. If the spec holds the file's digest, any other file is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.errors import InputError, check_keys, text_of_file

MOST_PARTS = 100
"""The most parts of a dotted key."""
MOST_LETTERS = 1 << 24
"""The most letters of a TOML document."""
MOST_DIGITS = 300
"""The most digits of a whole number: longer ones do not fit into a double."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A decimal number in a file of text, and no other that Python or a library would read."""

_folders: list[Path] = []


def search_in(folder: Path) -> None:
    """Look for files in this folder too, from now on."""
    resolved = folder.resolve()
    if resolved not in _folders:
        _folders.append(resolved)


def find(name: str, key: str) -> Path:
    """The file of this name, or `InputError` at `key`. The latest folder comes first."""
    path = Path(name)
    for folder in (Path(), *reversed(_folders)):
        candidate = folder / path
        try:
            if candidate.is_file():
                return candidate
        except OSError:  # a name that a file can't have
            continue
    raise InputError(
        key,
        name,
        expected="a file",
        remedy="It is looked for in the current directory and beside the study.",
    )


@dataclass(frozen=True)
class NamedFile:
    """A file that a population names: the name as it was given, and the digest of its bytes."""

    name: str
    content: bytes
    sha256: str


def named_file(given: Any, key: str, what: str, *options: str) -> NamedFile | None:
    """The file, where its path or `{ file, sha256 }` is given; `None` for anything else.

    `options` are keys that may stand beside these two, for others to read. Errors: `InputError` at
    `key` for a file that can't be read, and for another digest than the one that is given.
    """
    if isinstance(given, str | Path):
        return _read_named(str(given), None, key)
    if not isinstance(given, Mapping):
        return None
    check_keys(key, given, ("file", "sha256", *options))
    if not isinstance(given.get("file"), str):
        raise InputError(f"{key}.file", given.get("file"), expected=f"the path of {what}")
    return _read_named(given["file"], given.get("sha256"), key)


def _read_named(name: str, digest: Any, key: str) -> NamedFile:
    try:
        content = find(name, key).read_bytes()
    except OSError as error:
        raise InputError(key, name, expected=f"a readable file ({error})") from None
    actual = hashlib.sha256(content).hexdigest()
    if digest is not None and digest != actual:
        raise InputError(
            f"{key}.sha256",
            digest,
            expected=f"{actual}, the digest of {name}",
            remedy="The file is another one than the population was declared with.",
        )
    return NamedFile(name, content, actual)


def read_json(text: str) -> Any:
    """A JSON document, else `ValueError`.

    A key that occurs twice in an object is refused (JSON leaves open which counts), and so are
    whole numbers too large for doubles.
    """
    return json.loads(text, object_pairs_hook=_unique, parse_int=_whole)


def json_object_in(path: Path, key: str, expected: str) -> dict[str, Any]:
    """The JSON object in a file; `InputError` at `key`, with what was `expected`, for others."""
    text = text_of_file(path, key)
    try:
        content = read_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(key, str(path), expected=f"a JSON document ({error})") from None
    if not isinstance(content, dict):
        raise InputError(key, str(path), expected=expected)
    return content


def read_toml(text: str) -> dict[str, Any]:
    """A TOML document. `ValueError` for anything else and for whole numbers beyond doubles."""
    document = parse_toml(text)
    _check_numbers(document)
    return document


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document with numbers of any size.

    Keys have at most `MOST_PARTS` parts, else `ValueError`: the reader's time grows with the square
    of their number. It reads a million letters in half a second: there are at most `MOST_LETTERS`.
    """
    if len(text) > MOST_LETTERS:
        raise ValueError(
            f"TOML of at most {MOST_LETTERS >> 20} million letters, and there are {len(text)}. "
            "Write a population in JSON, or let it name files of its own"
        )
    for part in re.split(r"[^\w\-.\"' \t]", text):
        if part.count(".") >= MOST_PARTS:
            raise ValueError(f"a key of more than {MOST_PARTS} parts")
    return tomllib.loads(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return table


def _whole(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > MOST_DIGITS:
        raise ValueError(f"a whole number of {digits} digits, at most {MOST_DIGITS} are read")
    return int(text)


def _check_numbers(part: Any) -> None:
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            _check_numbers(inner)
    elif isinstance(part, int) and abs(part) >= 10**MOST_DIGITS:
        raise ValueError(f"a whole number of more than {MOST_DIGITS} digits")
