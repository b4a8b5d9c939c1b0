"""Where ledgers on a PostgreSQL server are, as their URLs say it.

    postgresql://user@host:5432/database?schema=bayesdp_ledger

What a URL says of the server, and where its password comes from, is in `server_urls`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bayesdp.errors import LedgerError
from bayesdp.server_urls import SCHEME, ServerUrl, parse_server

SCHEMA = "bayesdp_ledger"
_FORM = f"{SCHEME}user@host:5432/database?schema={SCHEMA}"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class LedgerAddress:
    """Where a ledger is: the server as its URL says it, and the schema that is the ledger."""

    server: ServerUrl
    schema: str

    @property
    def place(self) -> str:
        """The address as it may be shown: without a password, and without its variable."""
        server = self.server
        user = f"{server.user}@" if server.user else ""
        port = f":{server.port}" if server.port else ""
        return f"{SCHEME}{user}{server.host}{port}/{server.database}?schema={self.schema}"

    def arguments(self) -> dict[str, str]:
        """What a connection needs, with the variables' values; parts that are left out are too.

        Raises `LedgerError` for a variable that the environment doesn't have.
        """
        return self.server.arguments(_unset)


def parse(url: str) -> LedgerAddress:
    """The address that a URL says. Nothing is looked up.

    Raises `LedgerError`, which shows nothing of the URL: a password may be anywhere in it.
    """
    server = parse_server(url, "schema", _wrong)
    schema = SCHEMA if server.option is None else server.option
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise _wrong("a schema of small letters, digits and _", f"Such as schema={SCHEMA}.")
    database, odd = server.database, "#" in url or "\0" in url or "@" in server.user
    if odd or not server.has_port or not database or "/" in database:
        raise _wrong(f"a database on a server: {_FORM}", "")
    return LedgerAddress(server, schema)


def _unset(name: str) -> LedgerError:
    return LedgerError(
        "ledger",
        f"${{{name}}}",
        expected="a variable of the environment",
        remedy=f"Set {name} where bayesdp runs.",
    )


def _wrong(expected: str, remedy: str) -> LedgerError:
    return LedgerError("ledger", expected=expected, remedy=remedy, shown=False)
