"""URLs of ledgers in PostgreSQL, and their passwords, which are never shown.

    postgresql://user@host:5432/database?schema=bayesdp_ledger

A password is not written in the URL. It comes from `${NAME}` in its place, which stands for a
variable of the environment, or from what PostgreSQL's own library reads: `PGPASSWORD`, or its
password file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from bayesdp.errors import LedgerError

SCHEME = "postgresql://"
SCHEMA = "bayesdp_ledger"
_FORM = f"{SCHEME}user@host:5432/database?schema={SCHEMA}"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


@dataclass(frozen=True)
class ServerAddress:
    """Where a ledger is. Parts are as written, with variables of the environment by their names."""

    user: str
    password: str = field(repr=False)
    host: str
    port: str
    database: str
    schema: str
    sslmode: str

    @property
    def place(self) -> str:
        """The address as it may be shown: without a password, and without its variable."""
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{SCHEME}{user}{self.host}{port}/{self.database}?schema={self.schema}"

    def arguments(self) -> dict[str, str]:
        """What a connection needs, with the variables' values; parts that are left out are too.

        Raises `LedgerError` for a variable that the environment doesn't have.
        """
        parts = {
            "user": self.user,
            "password": self.password,
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "sslmode": self.sslmode,
        }
        return {name: _expanded(part) for name, part in parts.items() if part}


def parse(url: str) -> ServerAddress:
    """The address that a URL says. Nothing is looked up.

    Raises `LedgerError`, which shows nothing of the URL: a password may be anywhere in it.
    """
    before, _, query = url.removeprefix(SCHEME).partition("?")
    authority, _, database = before.partition("/")
    user_and_password, _, place = authority.rpartition("@")
    user, _, password = user_and_password.partition(":")
    if password and not _VARIABLE.fullmatch(password):
        raise _wrong(
            "no password in the URL, which others read",
            "Write ${NAME} in its place, for the environment's variable NAME, or leave it out and "
            "set PGPASSWORD.",
        )
    host, _, port = place.partition(":") if not place.startswith("[") else _bracketed(place)
    given = parse_qsl(query, keep_blank_values=True)
    options = dict(given)
    if len(options) < len(given) or not {"schema", "sslmode"}.issuperset(options):
        raise _wrong(
            "no options but 'schema' and 'sslmode', each once",
            "Other options are those of the environment, such as PGSSLROOTCERT and PGPASSFILE.",
        )
    schema = options.get("schema", SCHEMA)
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise _wrong("a schema of small letters, digits and _", f"Such as schema={SCHEMA}.")
    if options.get("sslmode", _MODES[0]) not in _MODES:
        raise _wrong(f"an sslmode that is one of {', '.join(_MODES)}", f"As in {_FORM}.")
    fine = not port or port.isdigit() or _VARIABLE.fullmatch(port)
    if not fine or "#" in url or "/" in database or not database or "@" in user or "\0" in url:
        raise _wrong(f"a database on a server: {_FORM}", "")
    return ServerAddress(
        user=unquote(user),
        password=password,
        host=unquote(host),
        port=port,
        database=unquote(database),
        schema=schema,
        sslmode=options.get("sslmode", ""),
    )


def _bracketed(place: str) -> tuple[str, str, str]:
    """The host of an address of IPv6, and the port after it."""
    host, bracket, port = place[1:].partition("]")
    return host, bracket, port.removeprefix(":")


def _expanded(part: str) -> str:
    """A part with the values of its variables."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise LedgerError(
                "ledger",
                match[0],
                expected="a variable of the environment",
                remedy=f"Set {match[1]} where bayesdp runs.",
            )
        return os.environ[match[1]]

    return _VARIABLE.sub(value, part)


def _wrong(expected: str, remedy: str) -> LedgerError:
    return LedgerError("ledger", expected=expected, remedy=remedy, shown=False)
