"""Files that a population names, such as a Matrix Market file.

A relative path is looked for in the current directory, then beside the study and population files
that this process has read. Which of them is taken can't matter where a spec holds a digest.
"""

from __future__ import annotations

from pathlib import Path

from bayesdp.errors import InputError

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
        except OSError:  # a name that no file can have
            continue
    raise InputError(
        key,
        name,
        expected="a file",
        remedy="It is looked for in the current directory and beside the study.",
    )
