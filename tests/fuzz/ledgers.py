"""Ledgers to start from, as exports and as files, and their damage: most of it is chained anew.

A hash that doesn't fit is found before anything else is looked at; so the entries that lie here
mostly have hashes that fit.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.log.entries import hash_of
from bayesdp.accounting.log.exchange import FIELDS
from bayesdp.accounting.log.schema import result_content
from tests.accounting.chains import chain_anew
from tests.fuzz import seeds
from tests.fuzz.mutations import NUMBERS, TEXTS, bytes_damaged, damaged, text_damaged

VERSION_2 = seeds.ROOT / "tests" / "accounting" / "version_2.sql"

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ledger", "verify"),
    ("ledger", "verify", "--against", "kept.json", "--json"),
    ("ledger", "show"),
    ("ledger", "show", "--json"),
    ("ledger", "trail", "--since", "2026-01-01"),
    ("ledger", "export"),
)
"""What reads a ledger, by its usual name."""

WRITING: tuple[tuple[str, ...], ...] = (
    ("ledger", "share", "people", "Ada", "0.5"),
    ("ledger", "freeze", "people", "--reason", "why"),
    ("ledger", "thaw", "people"),
    ("ledger", "register", "people.toml"),
    ("release", "people.toml", "--json"),
    ("release", "people.toml", "--key", "first", "--certificate", "out.json"),
)
"""What writes into it."""


@cache
def ledger() -> tuple[bytes, str, str]:
    """A ledger with entries of each kind: its file, its export, and one of its certificates."""
    from typer.testing import CliRunner

    from bayesdp.cli import app

    before = Path.cwd()
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        os.chdir(folder)
        try:
            for name, text in seeds.TABLES.items():
                Path(name).write_text(text)
            Path("a.toml").write_text(seeds.studies()[0].replace("[budget]", _ADA))
            Path("b.toml").write_text(seeds.studies()[3].replace("[budget]", _ADA))
            Path("days.toml").write_text(seeds.studies()[2])
            for command in (
                "ledger register a.toml",
                "ledger share people Ada 0.75",
                "release a.toml --key first --certificate kept.json",
                "release days.toml",
                "ledger register b.toml",
                "release b.toml --key second",
                "ledger freeze people --reason asked",
                "release a.toml",
                "ledger thaw people",
                "release a.toml",
            ):
                CliRunner().invoke(app, command.split())
            CliRunner().invoke(app, ["ledger", "export", "all.jsonl"])
            made = Path("ledger.db").read_bytes(), Path("all.jsonl").read_text()
            return *made, Path("kept.json").read_text()
        finally:
            os.chdir(before)


_ADA = '[budget]\nanalyst = "Ada"'


@cache
def old_file() -> bytes:
    """A ledger of version 2."""
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        path = Path(folder, "ledger.db")
        connection = sqlite3.connect(path)
        connection.executescript(VERSION_2.read_text(encoding="utf-8"))
        connection.close()
        return path.read_bytes()


# -- exports ---------------------------------------------------------------------------------------


def export(random: Random) -> bytes:
    """An export in which something was changed."""
    text = ledger()[1]
    way = random.random()
    if way < 0.1:
        return bytes_damaged(text.encode(), random)
    if way < 0.2:
        return text_damaged(text, random).encode("utf-8", "replace")
    entries: list[Any] = [json.loads(line) for line in text.splitlines()]
    if way < 0.3:
        changed = damaged(entries, random)
        entries = changed if isinstance(changed, list) else [changed]
    else:
        for _ in range(random.choice([1, 1, 2])):
            _lie(random.choice(entries), random)
        if random.random() < 0.15:
            random.shuffle(entries)
        elif random.random() < 0.15:
            entries.insert(random.randrange(len(entries)), dict(random.choice(entries)))
    lines = chained(entries)
    return "\n".join(lines).encode("utf-8", "replace")


def _lie(entry: dict[str, Any], random: Random) -> None:
    if "result" in entry and random.random() < 0.5:
        with contextlib.suppress(ValueError):
            document = damaged(json.loads(entry["result"]), random)
            entry["result"] = json.dumps(document)
        if random.random() < 0.2:
            entry["result"] = text_damaged(entry["result"], random)
        return
    if random.random() < 0.25:
        name = random.choice(["kind", "dataset", "release", "time"])
        entry[name] = random.choice([*TEXTS, *NUMBERS, *_KINDS])
        return
    entry["content"] = damaged(entry["content"], random)


_KINDS = ("dataset", "columns", "reading", "release", "result", "refusal", "share", "frozen")


def chained(entries: list[Any]) -> list[str]:
    """The lines of entries with numbers and hashes that fit, as far as they have any."""
    lines, previous = list[str](), ""
    for number, entry in enumerate(entries, 1):
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            entry["sequence"], entry["previous"] = number, previous
            if isinstance(entry.get("result"), str):
                entry["content"] = json.loads(result_content(entry["result"]))
            said = entry | {"content": canonical_json(entry["content"])}
            previous = entry["hash"] = hash_of([said[name] for name in FIELDS[:-1]])
        with contextlib.suppress(ValueError, RecursionError):
            lines.append(json.dumps(entry))
    return lines


def chained_anew(content: bytes) -> list[str]:
    """The lines of a damaged export whose hashes are made to fit, as far as they can be read."""
    entries = []
    for line in content.decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            entries.append(json.loads(line))
    return chained(entries)


# -- files -----------------------------------------------------------------------------------------


def file(random: Random) -> bytes:
    """A ledger's file in which bytes, cells or tables were changed."""
    content = old_file() if random.random() < 0.2 else ledger()[0]
    if random.random() < 0.25:
        return bytes_damaged(content, random, most=8)
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        path = Path(folder, "ledger.db")
        path.write_bytes(content)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for _ in range(random.randint(1, 3)):
                with contextlib.suppress(sqlite3.Error, UnicodeError, OverflowError):
                    _change(connection, random)
        finally:
            connection.close()
        if random.random() < 0.7:
            with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
                chain_anew(path)
        return path.read_bytes()


def _change(connection: sqlite3.Connection, random: Random) -> None:
    there = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    table = random.choice([name for (name,) in there] or ["meta"])
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall()]
    columns = columns or ["key"]
    column = random.choice(columns)
    rows = connection.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchall()
    row, cell = random.choice(rows) if rows else (0, "")
    action = random.randrange(10)
    if action == 0:
        connection.execute(random.choice(_STATEMENTS).format(table=table, column=column))
    elif action == 1:
        connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (row,))
    else:
        put = _cell(cell, random)
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (put, row))


_STATEMENTS = (
    'DROP TABLE "{table}"',
    'ALTER TABLE "{table}" DROP COLUMN "{column}"',
    'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO other',
    'ALTER TABLE "{table}" RENAME TO other',
    "CREATE VIEW seen AS SELECT 1",
    'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM "{table}"; END',
    'CREATE INDEX i ON "{table}" ("{column}")',
    "CREATE TABLE more (a)",
    "PRAGMA user_version = 99",
    "PRAGMA journal_mode = WAL",
)


def _cell(cell: Any, random: Random) -> Any:
    """Another cell: a document or a text is damaged, or something stands in its place."""
    way = random.random()
    if isinstance(cell, str) and way < 0.6:
        with contextlib.suppress(ValueError):
            document = json.loads(cell)
            if isinstance(document, dict | list):
                return canonical_json(damaged(document, random))
        return text_damaged(cell, random)
    if way < 0.7:
        return bytes_damaged(str(cell).encode("utf-8", "replace"), random)
    return random.choice([*NUMBERS, *TEXTS, *_KINDS])


def certificate(random: Random) -> bytes:
    """A certificate that the ledger's releases are held against, changed."""
    text = ledger()[2]
    if random.random() < 0.2:
        return text_damaged(text, random).encode("utf-8", "replace")
    document = json.loads(text)
    part = random.choice(["ledger", "release", "data", None])
    if part in document and isinstance(document[part], dict):
        document[part] = damaged(document[part], random)
    else:
        document = damaged(document, random)
    return json.dumps(document).encode("utf-8", "replace")
