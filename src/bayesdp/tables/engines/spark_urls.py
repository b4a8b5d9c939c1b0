"""URLs of tables behind Spark Connect, and their tokens, which are never shown.

    sc://host:15002/;use_ssl=true;token=${SPARK_TOKEN}?table=catalog.schema.name

What stands between the place and `?` is Spark's own connection string. A secret is not written in
it: `${NAME}` stands for a variable of the environment.

Files on this machine, relative to the study (four slashes: absolute), have no secrets:

    pyspark:///readings/*.parquet

Public names: `ConnectAddress`, `parse_connect`, `parse_local`, `shown`, `LOCAL`, `CONNECT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl

from bayesdp.errors import TableError
from bayesdp.server_urls import VARIABLE, expanded
from bayesdp.tables.engines.postgres_urls import unset, without_password

LOCAL, CONNECT = "pyspark://", "sc://"
_KEY = "data.source"
_FORM = "sc://host:15002/;token=${NAME}?table=catalog.schema.name"
_PLAIN = "use_ssl", "user_id", "user_agent"
"""Parameters of a connection string that are not secrets; all others may be."""


@dataclass(frozen=True)
class ConnectAddress:
    """Where a table is: Spark's `connection` string as written, and the table's name."""

    connection: str
    table: str

    def url(self) -> str:
        """The connection string with the values of its variables: a secret.

        Raises `TableError` for a variable that the environment doesn't have.
        """
        return expanded(self.connection, unset)


def parse_connect(source: str) -> ConnectAddress:
    """The address that a URL says. Nothing is looked up.

    Raises `TableError`, also for a secret that is written in the URL.
    """
    connection, _, query = source.partition("?")
    place, _, parameters = connection.removeprefix(CONNECT).partition("/")
    before, *pairs = parameters.split(";")
    if not place or "@" in place or before or not all("=" in pair for pair in filter(None, pairs)):
        raise _wrong(source, f"a host and its port, as in {_FORM}", "")
    for name, _, value in (pair.partition("=") for pair in filter(None, pairs)):
        if name not in _PLAIN and not VARIABLE.fullmatch(value):
            raise _wrong(
                source,
                f"no value of '{name}' in the URL, which others read",
                "Write ${NAME} in its place, for the environment's variable NAME.",
            )
    options = parse_qsl(query, keep_blank_values=True)
    named = [name for name, _ in options] == ["table"] and options[0][1].strip()
    if not named or ";" in options[0][1]:
        raise _wrong(source, f"the name of a table and no other options, as in {_FORM}", "")
    return ConnectAddress(connection, options[0][1])


def parse_local(source: str) -> str:
    """The name or pattern of the files. Raises `TableError` for other files than Parquet."""
    name = source.removeprefix(f"{LOCAL}/")
    if name == source or not name.lower().endswith((".parquet", ".pq")):
        raise TableError(
            _KEY,
            without_password(source),
            expected="Parquet files, such as pyspark:///readings/*.parquet",
            remedy="Leave out 'pyspark:///' for other files, which DuckDB reads.",
        )
    return name


def shown(source: str) -> str:
    """A URL as it may be shown: what may be a secret in it is hidden, unless it is a variable."""
    connection, mark, query = source.partition("?")
    query = without_password(f"{mark}{query}")
    place, slash, parameters = connection.removeprefix(CONNECT).partition("/")
    user, at, host = place.rpartition("@")
    parts = (_hidden(parameter) for parameter in parameters.split(";"))
    return f"{CONNECT}{'***' if user else ''}{at}{host}{slash}{';'.join(parts)}{query}"


def _hidden(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not parameter or name in _PLAIN or VARIABLE.fullmatch(value):
        return parameter
    return f"{name}=***" if equals else "***"


def _wrong(source: str, expected: str, remedy: str) -> TableError:
    return TableError(_KEY, shown(source), expected=expected, remedy=remedy)
