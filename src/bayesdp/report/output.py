"""Files that a command writes: it replaces only a file that a command wrote before.

A certificate, report, figure, fitted population, synthetic table or export may stand where an older
one stood. Any other file is left alone, and that is found out before anything is spent: a
ledger that is overwritten has forgotten its budget.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tomllib
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bayesdp.certificate import FORMAT
from bayesdp.errors import InputError
from bayesdp.synthetic.note import NOTE_FORMAT

FileKind = Literal[
    "certificate", "report", "figure", "population", "synthetic table", "note", "export"
]

FITTED = "fitted to "
"""How the source of a fitted population begins, which tells its file from others."""

GENERATOR = '<meta name="generator" content="bayesdp">'
"""Marks a page as a report of bayesdp."""

FIGURE = '<svg xmlns="http://www.w3.org/2000/svg" data-generator="bayesdp"'
"""The first characters of every figure that bayesdp writes."""


def check_target(path: Path, kind: FileKind, *, reserved: Sequence[Path] = ()) -> None:
    """Refuse a file that must not be overwritten, or can't be written.

    `reserved` are files that `path` must not name, whether they exist yet or not. Raises
    `InputError` about the option that names the file.
    """
    key = f"--{kind}" if kind in ("certificate", "report", "figure") else "--out"
    try:
        target = Path(os.path.realpath(path))
        reserved_paths = {os.path.realpath(other) for other in reserved}
        mode = _mode(target)
    except (OSError, ValueError) as error:
        raise InputError(key, str(path), expected=f"a file to write to ({error})") from None
    folder = target.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            key,
            str(path),
            expected="a file in a folder that exists and can be written to",
            remedy="Nothing was released and nothing was spent.",
        )
    ours = mode is None or (stat.S_ISREG(mode) and _is_ours(target, kind))
    if str(target) in reserved_paths or not ours:
        raise InputError(
            key,
            str(path),
            expected=f"a file that isn't there yet, or an older {kind} of bayesdp",
            remedy="Nothing was overwritten, released or spent: name another file.",
        )


def replace_file(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one: the text goes to a file beside it first.

    Raises `OSError`, or `ValueError` for text that isn't UTF-8.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".bayesdp-{uuid.uuid4().hex}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


EXPORT = '{"sequence": 1, "kind": "ledger"'
"""How the export of a ledger begins."""


def note_beside(path: Path) -> Path:
    """The file of the note about a synthetic table in the file `path`."""
    return path.with_name(f"{path.stem}.note.json")


def digest_of(text: str) -> str:
    """The SHA-256 of a text's UTF-8, in hex: by it a note names the table that it is about."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _is_ours(path: Path, kind: FileKind) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        if kind == "report":
            return text.startswith("<!doctype html>") and GENERATOR in text[:1000]
        if kind == "figure":
            return text.startswith(FIGURE)
        if kind == "export":
            return text.startswith(EXPORT)
        if kind == "synthetic table":
            note = json.loads(note_beside(path).read_text(encoding="utf-8"))
            return bool(note["table"] == digest_of(text))
        if kind == "population" and path.suffix == ".toml":
            document = tomllib.loads(text).get("population")
        else:
            document = json.loads(text)
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return False
    if not isinstance(document, dict):
        return False
    if kind == "population":
        return "model" in document and str(document.get("source")).startswith(FITTED)
    return document.get("format") == (NOTE_FORMAT if kind == "note" else FORMAT)
