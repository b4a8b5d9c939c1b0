"""URLs of PostgreSQL: what they say, and that a password in one is never shown."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from bayesdp.errors import InputError, TableError, UnsupportedError
from bayesdp.tables.engines.postgres_urls import parse, without_password
from bayesdp.tables.source import check_source, open_table

SECRET = "hunter2-canary"


def test_a_url_says_where_the_table_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("DB_PASSWORD", "p@ss:w/rd?")
    address = parse(
        "postgresql://ann%40x:${DB_PASSWORD}@[::1]:5433/health?table=s.t&sslmode=require"
    )
    assert address.arguments() == {
        "user": "ann@x",
        "password": "p@ss:w/rd?",
        "host": "::1",
        "port": "5433",
        "dbname": "health",
        "sslmode": "require",
    }
    assert (address.schema, address.table) == ("s", "t")
    assert parse("postgresql:///d?table=t").schema == "public"
    assert parse("postgresql://%2FTmp%2Fpg/d?table=t").server.host == "/Tmp/pg"


@pytest.mark.parametrize(
    "source",
    [
        f"postgresql://ann:{SECRET}@host/d?table=t",
        f"postgresql://ann:x${{A}}{SECRET}@host/d?table=t",
        f"postgresql://ann@host/d?table=t&password={SECRET}",
        f"postgresql://ann:{SECRET}@host/d",
        f"mysql://ann:{SECRET}@host/d?table=t",
        f"postgres://ann:{SECRET}@host/d?table=t",
        f"postgresql+psycopg://ann:{SECRET}@host/d?table=t",
        f"duckdb://ann:{SECRET}@host/d",
        f"mysql://ann:{SECRET}@[host/d",
        # passwords with signs that end them in a URL
        f"postgresql://ann:{SECRET}/x@host/d?table=t",
        f"postgresql://ann:x?{SECRET}#@host/d?table=t",
        f"postgresql://ann:x@y/{SECRET}@host/d?table=t",
        f"postgres://ann:x/{SECRET}@host/d?table=t",
        # what is no URL that is read
        f"postgresql:/ann:{SECRET}@host/d?table=t",
        f"ann:{SECRET}@host/d",
        f"host=h password={SECRET} dbname=d",
        f"https://host/x.csv?sv=1&sig={SECRET}",
        f"duckdb:///d.db?table=t&motherduck_token={SECRET}",
        f"md:d?motherduck_token={SECRET}",
        f"sc://host:1/?table=t;token={SECRET}",
        f"sc://host:1/?table=t&token={SECRET}",
        f"pyspark:///x?token={SECRET}",
    ],
)
def test_a_password_is_refused_and_not_shown(source: str) -> None:
    for action in (check_source, open_table):
        with pytest.raises((TableError, UnsupportedError)) as caught:
            action(source)
        assert SECRET not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://ann@host/d",
        "postgresql://ann@host/d?table=",
        "postgresql://ann@host/d?table=.t",
        "postgresql://ann@host/d?table=t&table=u",
        "postgresql://ann@host/d?table=t&options=-c%20x",
        "postgresql://ann@host:x/d?table=t",
        "postgresql://ann@host/d?table=t&sslmode=no",
        "postgresql://ann@host/d?table=${T}",
        "postgresql://ann@host/d?table=t#u",
    ],
)
def test_other_urls_are_refused(source: str) -> None:
    with pytest.raises(TableError):
        check_source(source)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DB_PASSWORD", raising=False)
    with pytest.raises(InputError, match="Set DB_PASSWORD"):
        parse("postgresql://ann:${DB_PASSWORD}@host/d?table=t").arguments()


def test_the_keyring_is_asked_where_nothing_else_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class KeyringError(Exception):
        pass

    def get_password(service: str, user: str) -> str:
        asked.append((service, user))
        if len(asked) > 1:
            raise KeyringError
        return SECRET

    errors = SimpleNamespace(KeyringError=KeyringError)
    keyring = SimpleNamespace(get_password=get_password, errors=errors, __spec__=SimpleNamespace())
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setenv("PGPASSWORD", "other")
    address = parse("postgresql://ann@host:5433/d?table=t")
    assert "password" not in address.arguments()
    monkeypatch.delenv("PGPASSWORD")
    assert address.arguments()["password"] == SECRET
    assert asked == [("postgresql://host:5433/d", "ann")]
    assert "password" not in address.arguments()
    assert SECRET not in repr(address)


def test_only_passwords_are_hidden() -> None:
    for plain in (
        "heights.csv",
        "year=2026/part?.csv",
        "duckdb:///a.db?table=t",
        "postgresql://a:${B}@h:5432/d?table=t@u&sslmode=require",
    ):
        assert without_password(plain) == plain
    assert without_password("x://a:b@c@h/d") == "x://a:***@h/d"
