"""URLs of tables in PostgreSQL, and their passwords, which are never shown.

    postgresql://user@host:5432/database?table=schema.name

A password is not written in the URL. It comes from `${NAME}` in its place, which stands for a
variable of the environment, from `PGPASSWORD`, from the `keyring` library if it is installed, or
from what PostgreSQL's own library reads (its password file).

Public names: `Address`, `parse`, `without_password`, `VARIABLE`, `expanded`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import parse_qsl, unquote

from bayesdp.errors import TableError

SCHEME = "postgresql://"
_KEY = "data.source"
_FORM = "postgresql://user@host:5432/database?table=schema.name"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PASSWORD = re.compile(r"((?:^|:/+)[^:/?#@]*):(?!/)(.*)@", re.DOTALL)
"""A password as people write it may hold any of the signs that end one in a URL."""
_SECRET = re.compile(r"(?i)((?:password|passwd|pwd|secret|token|key)[^=&]*=)[^&]*")
_OPTION = re.compile(r"(?<=[?&;])([^=&;]*)=([^&;]*)")
_KEYS = ("table", "sslmode")
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


@dataclass(frozen=True)
class Address:
    """Where a table is. Parts are as written, with variables of the environment by their names."""

    user: str
    password: str = field(repr=False)
    host: str
    port: str
    database: str
    schema: str
    table: str
    sslmode: str

    def arguments(self) -> dict[str, str]:
        """What a connection needs, with the variables' values; parts that are left out are too.

        Raises `TableError` for a variable that the environment doesn't have.
        """
        parts = {
            "user": self.user,
            "password": self.password,
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "sslmode": self.sslmode,
        }
        known = {name: expanded(part) for name, part in parts.items() if part}
        if "password" not in known and "PGPASSWORD" not in os.environ:
            password = _from_keyring(known)
            known |= {"password": password} if password else {}
        return known


def parse(source: str) -> Address:
    """The address that a URL says. Nothing is looked up.

    Raises `TableError`, also for a password that is written in the URL.
    """
    rest = source.removeprefix(SCHEME)
    before, _, query = rest.partition("?")
    authority, _, database = before.partition("/")
    user_and_password, _, place = authority.rpartition("@")
    user, _, password = user_and_password.partition(":")
    host, port = _host_and_port(place)
    options = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in options]
    if password and not VARIABLE.fullmatch(password):
        raise _wrong(
            source,
            "no password in the URL, which others read",
            "Write ${NAME} in its place, for the environment's variable NAME, or leave it out and "
            "set PGPASSWORD.",
        )
    if any(name not in _KEYS for name in names) or len(set(names)) < len(names):
        raise _wrong(
            source,
            "no options but 'table' and 'sslmode', each once",
            "Other options are those of the environment, such as PGSSLROOTCERT and PGPASSFILE.",
        )
    given = dict(options)
    schema, dot, table = given.get("table", "").rpartition(".")
    if not table or (dot and not schema) or "#" in source:
        raise _wrong(source, f"the name of a table, as in {_FORM}", "")
    if given.get("sslmode", _MODES[0]) not in _MODES:
        raise _wrong(source, f"an sslmode that is one of {', '.join(_MODES)}", "")
    if "${" in table + schema or not (port.isdigit() or not port or VARIABLE.fullmatch(port)):
        raise _wrong(source, f"a port that is a number, and a plain name of a table: {_FORM}", "")
    return Address(
        user=unquote(user),
        password=password,
        host=unquote(host),
        port=port,
        database=unquote(database),
        schema=schema or "public",
        table=table,
        sslmode=given.get("sslmode", ""),
    )


def _host_and_port(place: str) -> tuple[str, str]:
    """The host, without the brackets of an address of IPv6, and the port."""
    if place.startswith("["):
        host, _, port = place[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = place.partition(":")
    return host, port


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


def expanded(part: str) -> str:
    """A part with the values of its variables."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise TableError(
                _KEY,
                match[0],
                expected="a variable of the environment",
                remedy=f"Set {match[1]} where bayesdp runs.",
            )
        return os.environ[match[1]]

    return VARIABLE.sub(value, part)


def _from_keyring(known: dict[str, str]) -> str | None:
    """The password that the system's keyring keeps for this database and user, if it does."""
    if find_spec("keyring") is None or "user" not in known:
        return None
    import keyring  # type: ignore[import-not-found,unused-ignore]

    place = f"{known.get('host', '')}:{known.get('port', '5432')}/{known.get('dbname', '')}"
    try:
        password: str | None = keyring.get_password(f"{SCHEME}{place}", known["user"])
    except keyring.errors.KeyringError:  # there is none that works
        return None
    return password


def _wrong(source: str, expected: str, remedy: str) -> TableError:
    return TableError(_KEY, without_password(source), expected=expected, remedy=remedy)
