"""Where a ledger is kept, as the rest of the package sees it: a file, or a schema on a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from bayesdp.accounting.log.entries import LedgerFault
from bayesdp.accounting.log.schema import Log
from bayesdp.errors import LedgerError
from bayesdp.server_urls import SCHEME


class Store(Protocol):
    """A place of a ledger. Each transaction sees one state of it, and writers come one by one."""

    @property
    def place(self) -> str:
        """The ledger's name for people, without any secret."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that nothing else may be written to; none on a server."""

    @property
    def path(self) -> Path | None:
        """The ledger's file; `None` on a server."""

    @property
    def user(self) -> str | None:
        """The login on a server, where that is known; `None` for a file."""

    def exists(self) -> bool:
        """Whether the ledger is there. Raises `LedgerError` where that can't be told."""

    def reading(self, *, whole: bool = False) -> AbstractContextManager[Log]:
        """A consistent view in which nothing can be written.

        With `whole` all of it is verified, though this process may have done so before.
        """

    def writing(self, *, create: bool) -> AbstractContextManager[Log]:
        """A transaction that is durable once it was left without an exception.

        With `create` a ledger is made where there is none.
        """

    def restore(self, fill: Callable[[Connection], None]) -> None:
        """Make the ledger with what `fill` writes, or nothing where that raises.

        Nor where this process has seen more of the same ledger there.
        """

    def faults(self) -> list[LedgerFault]:
        """Everything that is wrong with the tables and the chain."""

    def damaged(self, problem: str) -> LedgerError:
        """The error for content that no ledger writes."""


def store_of(url: str | os.PathLike[str], *, busy_seconds: float, now: Callable[[], str]) -> Store:
    """The place that a URL names.

    `busy_seconds` is how long to wait for another process, `now` the time of a new ledger. Raises
    `UnsupportedError` and `LedgerError` as `LedgerFile` and `LedgerServer` do.
    """
    from bayesdp.accounting.stores.server import LedgerServer
    from bayesdp.accounting.stores.storage import LedgerFile

    text = os.fspath(url)
    if text.startswith(SCHEME):
        return LedgerServer(text, busy_seconds=busy_seconds, now=now)
    return LedgerFile(url, busy_seconds=busy_seconds, now=now)
