"""Ledgers that somebody edits: what to edit them with, and how to chain them anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bayesdp.accounting import Ledger
from bayesdp.accounting.log.entries import hash_of
from bayesdp.accounting.stores import verified
from bayesdp.errors import BudgetExceededError
from tests.accounting.helpers import BDP, DP, debit, ledger


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    verified.forget()  # as the next command finds it


def filled(path: Path) -> Ledger:
    """A ledger with an entry of each kind, and five releases."""
    book = ledger(path)
    book.refused("d", "s.toml", "table", analyst="Bo")
    book.ensure("d", "row", DP, private=["x"], public=["town"])
    for _ in range(5):
        book.store(debit(book, 0.125), {"value": 7})
    try:
        debit(book, 0.5)
    except BudgetExceededError:
        book.register("e", "person", BDP)
    return book


def chain_anew(path: Path) -> None:
    """What somebody who knows the code can do: numbers and hashes that fit whatever is there."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()
    texts = dict(connection.execute("SELECT * FROM results").fetchall())
    previous = ""
    with connection:
        connection.execute("DELETE FROM entries")
        connection.execute("DELETE FROM results")
        for number, row in enumerate(rows, 1):
            parts = (number, *row[1:-2], previous)
            previous = hash_of(parts)
            connection.execute("INSERT INTO entries VALUES (?,?,?,?,?,?,?,?)", (*parts, previous))
            if row[0] in texts:
                connection.execute("INSERT INTO results VALUES (?,?)", (number, texts[row[0]]))
    connection.close()
    verified.forget()
