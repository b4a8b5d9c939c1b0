"""A ledger on a server with a curator and two analysts, and entries that somebody makes by hand."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from typing import Any

from bayesdp.accounting import Ledger
from bayesdp.accounting.log.entries import Entry, following
from bayesdp.accounting.stores.roles import grants
from tests.accounting.helpers import DP, debit, ledger, spend
from tests.postgres_server import PASSWORD, PORT, Server

ID = "0123456789abcdef" * 2


NUMBERS = itertools.count()


class Office:
    """A ledger with a curator and two analysts, `ada` and `bo`."""

    def __init__(self, server: Server) -> None:
        self.server, self.number = server, next(NUMBERS)
        self.url = server.ledger()
        self.schema = self.url.partition("schema=")[2]
        self.curator = ledger(self.url)
        self.curator.register("d", "row", DP, private=["x"], public=["town"])
        self.names = {name: f"{name}{self.number}" for name in ("ada", "bo")}
        for name in self.names.values():
            server.run(f"CREATE ROLE \"{name}\" LOGIN PASSWORD '{PASSWORD}'")
        self.grant()
        debit(self.curator, 0.125)
        self.bos = debit(self.analyst("bo"), 0.125)

    def grant(self) -> None:
        self.server.run(grants(self.schema, list(self.names.values())))

    def analyst(self, name: str, **other: object) -> Ledger:
        return ledger(self.server.ledger(self.schema, self.names[name]), **other)

    def connect(self, name: str) -> Any:
        import psycopg

        connection = psycopg.connect(
            host=str(self.server.folder),
            port=PORT,
            user=self.names.get(name, name),
            password=PASSWORD,
            dbname="postgres",
            autocommit=True,
        )
        connection.execute(f'SET search_path TO "{self.schema}"')
        return connection

    def last(self) -> Entry:
        with self.curator._store.reading() as log:
            return log.head

    def entry(
        self, kind: str, content: dict[str, Any] | str, *, dataset: str = "d", release: str = ""
    ) -> Entry:
        """An entry that follows, as somebody makes it who knows the code."""
        text = content if isinstance(content, str) else json.dumps(content)
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        return following(
            self.last(),
            kind,
            dataset=dataset,
            release=release,
            time=now,
            content=text,  # type: ignore[arg-type]
        )


def insert(connection: Any, *new: Entry) -> None:
    for entry in new:
        fields = [getattr(entry, name) for name in Entry.__slots__]
        connection.execute("INSERT INTO entries VALUES (%s,%s,%s,%s,%s,%s,%s,%s)", fields)


def release_said(name: str, **other: object) -> dict[str, Any]:
    plain = spend(0.25).to_dict()
    del plain["dataset"], plain["unit"]
    return {"analyst": name, "study": "s", "request": {}, "spends": [plain], **other}
