"""URLs of tables in PostgreSQL, and sources as they may be shown.

    postgresql://user@host:5432/database?table=schema.name

What a URL says of the server, and where its password comes from, is in `server_urls`. Public names:
`Address`, `parse`, `without_password`, `unset`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bayesdp.errors import TableError
from bayesdp.server_urls import SCHEME, VARIABLE, ServerUrl, parse_server

_KEY = "data.source"
_FORM = f"{SCHEME}user@host:5432/database?table=schema.name"
_PASSWORD = re.compile(r"((?:^|:/+)[^:/?#@]*):(?!/)(.*)@", re.DOTALL)
"""A password as people write it may hold any of the signs that end one in a URL."""
_SECRET = re.compile(r"(?i)((?:password|passwd|pwd|secret|token|key)[^=&]*=)[^&]*")
_OPTION = re.compile(r"(?<=[?&;])([^=&;]*)=([^&;]*)")
_KEYS = ("table", "sslmode")


@dataclass(frozen=True)
class Address:
    """Where a table is: the server as its URL says it, and the table's schema and name."""

    server: ServerUrl
    schema: str
    table: str

    def arguments(self) -> dict[str, str]:
        """What a connection needs, with the variables' values; parts that are left out are too.

        Raises `TableError` for a variable that the environment doesn't have.
        """
        return self.server.arguments(unset)


def parse(source: str) -> Address:
    """The address that a URL says. Nothing is looked up.

    Raises `TableError`, also for a password that is written in the URL.
    """

    def wrong(expected: str, remedy: str) -> TableError:
        return TableError(_KEY, without_password(source), expected=expected, remedy=remedy)

    server = parse_server(source, "table", wrong)
    schema, dot, table = (server.option or "").rpartition(".")
    if not table or (dot and not schema) or "#" in source:
        raise wrong(f"the name of a table, as in {_FORM}", "")
    if "${" in table + schema or not server.has_port:
        raise wrong(f"a port that is a number, and a plain name of a table: {_FORM}", "")
    return Address(server, schema or "public", table)


def without_password(source: str) -> str:
    """A source as it may be shown, also one that is no URL that is read.

    What may be a password or a token is hidden, unless it is a variable's name: what stands before
    an `@`, and the values of all options but those of tables here.
    """

    def password(match: re.Match[str]) -> str:
        first = match[2].partition("@")[0]
        return match[0] if VARIABLE.fullmatch(first) else f"{match[1]}:***@"

    def option(match: re.Match[str]) -> str:
        plain = match[1] in _KEYS or VARIABLE.fullmatch(match[2])
        return match[0] if plain else f"{match[1]}=***"

    before, mark, options = _PASSWORD.sub(password, source).partition("?")
    options = _OPTION.sub(option, f"{mark}{options}")
    return _SECRET.sub(r"\1***", before) + options


def unset(name: str) -> TableError:
    """The error for a variable of a source that the environment doesn't have."""
    return TableError(
        _KEY,
        f"${{{name}}}",
        expected="a variable of the environment",
        remedy=f"Set {name} where bayesdp runs.",
    )
