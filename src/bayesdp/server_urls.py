"""URLs of PostgreSQL servers, for tables and ledgers alike, and passwords that are never shown.

    postgresql://user@host:5432/database?sslmode=require

A password is not written in the URL. It comes from `${NAME}` in its place, which stands for a
variable of the environment, from `PGPASSWORD`, from the `keyring` library if it is installed, or
from what PostgreSQL's own library reads (its password file).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import parse_qsl, unquote

from bayesdp.errors import BayesdpError

SCHEME = "postgresql://"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

Wrong = Callable[[str, str], BayesdpError]
"""The error of whoever reads a URL, given what was expected and a remedy."""

Unset = Callable[[str], BayesdpError]
"""The error for a variable, given its name, that the environment doesn't have."""


@dataclass(frozen=True)
class ServerUrl:
    """What a URL says of a server. Parts are as written, with variables by their names.

    `option` is the value of the option that its reader has of its own.
    """

    user: str
    password: str = field(repr=False)
    host: str
    port: str
    database: str
    sslmode: str
    option: str | None

    @property
    def has_port(self) -> bool:
        """Whether the port is a number, a variable, or left out."""
        return not self.port or self.port.isdigit() or VARIABLE.fullmatch(self.port) is not None

    def arguments(self, unset: Unset) -> dict[str, str]:
        """What a connection needs, with the variables' values; parts that are left out are too.

        Raises the error that `unset` makes for a variable that the environment doesn't have.
        """
        parts = {
            "user": self.user,
            "password": self.password,
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            "sslmode": self.sslmode,
        }
        known = {name: expanded(part, unset) for name, part in parts.items() if part}
        if "password" not in known and "PGPASSWORD" not in os.environ:
            password = _from_keyring(known)
            known |= {"password": password} if password else {}
        return known


def parse_server(url: str, own: str, wrong: Wrong) -> ServerUrl:
    """What a URL says of a server. Nothing is looked up.

    `own` is the name of the option that the URL may have beside `sslmode`. Raises the error that
    `wrong` makes, also for a password that is written in the URL.
    """
    before, _, query = url.removeprefix(SCHEME).partition("?")
    authority, _, database = before.partition("/")
    user_and_password, _, place = authority.rpartition("@")
    user, _, password = user_and_password.partition(":")
    if password and not VARIABLE.fullmatch(password):
        raise wrong(
            "no password in the URL, which others read",
            "Write ${NAME} in its place, for the environment's variable NAME, or leave it out and "
            "set PGPASSWORD.",
        )
    host, port = _host_and_port(place)
    given = parse_qsl(query, keep_blank_values=True)
    options = dict(given)
    if len(options) < len(given) or not {own, "sslmode"}.issuperset(options):
        raise wrong(
            f"no options but '{own}' and 'sslmode', each once",
            "Other options are those of the environment, such as PGSSLROOTCERT and PGPASSFILE.",
        )
    if options.get("sslmode", _MODES[0]) not in _MODES:
        raise wrong(f"an sslmode that is one of {', '.join(_MODES)}", "")
    return ServerUrl(
        user=unquote(user),
        password=password,
        host=unquote(host),
        port=port,
        database=unquote(database),
        sslmode=options.get("sslmode", ""),
        option=options.get(own),
    )


def expanded(part: str, unset: Unset) -> str:
    """A part with the values of its variables.

    Raises the error that `unset` makes for a variable that the environment doesn't have.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise unset(match[1])
        return os.environ[match[1]]

    return VARIABLE.sub(value, part)


def _host_and_port(place: str) -> tuple[str, str]:
    """The host, without the brackets of an address of IPv6, and the port."""
    if place.startswith("["):
        host, _, port = place[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = place.partition(":")
    return host, port


def _from_keyring(known: Mapping[str, str]) -> str | None:
    """The password that the system's keyring keeps for this database and user, if it does."""
    if find_spec("keyring") is None or "user" not in known:
        return None
    import keyring  # type: ignore[import-not-found,unused-ignore]  # it need not be installed

    place = f"{known.get('host', '')}:{known.get('port', '5432')}/{known.get('dbname', '')}"
    try:
        password: str | None = keyring.get_password(f"{SCHEME}{place}", known["user"])
    except keyring.errors.KeyringError:  # there is none that works
        return None
    return password
