"""The program files that a study names: found beside it, and read when the study is loaded.

What is checked, priced and run is this one text. A file that has changed since is refused, so that
nothing is released but what was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bayesdp.errors import ENCODING, MOST_BYTES, InputError, Refusal
from bayesdp.release.spec.parts import CAPS, OF_QUANTILES, OF_REGRESSIONS, QuerySpec, refuse_keys


class ProgramRefusedError(Refusal):
    """A program that the checker doesn't accept: nothing was read, spent or released."""


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program file as it was read: its `text`, and its path as the study writes it (`stated`)."""

    stated: str
    path: Path
    text: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.name


def named(raw: object) -> object:
    """A query with its `@program` object, if it has one, replaced by the program's file and name.

    Raises `InputError` for a program that was typed at a prompt and so has no file.
    """
    from bayesdp.programs.language_objects import ProgramSource

    program = raw.get("program") if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(program, ProgramSource):
        return raw
    if program.path is None:
        raise InputError(
            "query.program",
            program.name,
            expected="a program that is written in a file",
            remedy="What is typed at a prompt has no file that a study could name: save it.",
        )
    return {**raw, "program": f"{program.path}:{program.name}"}


def check_program_keys(query: QuerySpec, key: str) -> None:
    """Refuse a program's keys on another query, and other keys on a program.

    Raises `InputError` at `key`.
    """
    if query.kind != "program":
        for name in ("program", "parameters", "columns"):
            if getattr(query, name):
                raise InputError(
                    f"{key}.{name}",
                    getattr(query, name),
                    expected='only on a query of kind = "program"',
                    remedy=f'Leave {name} out, or write kind = "program".',
                )
        return
    if query.program is None:
        raise InputError(
            f"{key}.program",
            expected="the program: its file, relative to the study, and its name",
            remedy='Write program = "file.py:name".',
            shown=False,
        )
    stated, _ = file_and_name(query.program)
    if not stated.endswith(".py"):
        raise InputError(
            f"{key}.program",
            query.program,
            expected="a file whose name ends with .py, and the program's name",
            remedy='Write program = "file.py:name".',
        )
    refuse_keys(
        query,
        ("column", *OF_REGRESSIONS, "where", "by", "bins", "group_sizes", *OF_QUANTILES, *CAPS),
        key,
        expected="nothing on a program, which says itself what it reads",
        remedy="To read other columns, write columns = { field = 'column' }.",
    )
    refuse_keys(
        query,
        ("weight", "weighted_by", "error"),
        key,
        expected="nothing on a program, whose cost is what its text says",
        remedy="The other queries share what it leaves of the budget.",
    )
    if query.tightness != "dp":
        raise InputError(
            f"{key}.tightness",
            query.tightness,
            expected='"dp" on a program',
            remedy="Leave tightness out: a program costs what its text says.",
        )


def file_and_name(stated: str) -> tuple[str, str | None]:
    """`"file.py:name"` as file and name; the name is None where only the file is stated."""
    file, colon, name = stated.rpartition(":")
    if colon and name.isidentifier():
        return file, name
    return stated, None


def read_programs(queries: Iterable[QuerySpec], folder: Path) -> dict[str, ProgramFile]:
    """The files of all programs, by their stated paths. Raises `InputError` for unreadable ones."""
    files: dict[str, ProgramFile] = {}
    for position, query in enumerate(queries):
        if query.program is None:
            continue
        stated, _ = file_and_name(query.program)
        if stated not in files:
            path = folder / stated
            text = _read(path, f"query[{position}].program", query.program)
            files[stated] = ProgramFile(stated, path, text)
    return files


def require_unchanged(file: ProgramFile, position: int) -> None:
    """Raises `InputError` unless the file still holds the text that was checked."""
    key = f"query[{position}].program"
    if _read(file.path, key, file.stated) != file.text:
        raise InputError(
            key,
            file.stated,
            expected="the text that was there when the study was loaded and checked",
            remedy="The file has changed since. Nothing was released or spent: load the study "
            "again, and look at its check.",
        )


def _read(path: Path, key: str, stated: str) -> str:
    """The text of a program file; refusals of a program show its lines, so of no other file."""
    if path.suffix != ".py" and path.exists():
        raise InputError(key, stated, expected="a file whose name ends in .py, before the colon")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        return path.read_text(encoding=ENCODING)
    except FileNotFoundError:
        why = f"Looked for {path.name} in {path.parent.resolve()}."
    except UnicodeDecodeError:
        why = "It is not a text in UTF-8."
    except (OSError, ValueError) as error:
        why = f"{error}."
    raise InputError(key, stated, expected="a program file that can be read", remedy=why)
