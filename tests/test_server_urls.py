"""What a URL says of a server: once, for tables and ledgers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from bayesdp.accounting.stores import server_addresses
from bayesdp.errors import BayesdpError, LedgerError, TableError
from bayesdp.server_urls import parse_server
from bayesdp.tables.engines import postgres_urls

READERS = {
    "table": (lambda url: postgres_urls.parse(f"{url}?table=t"), TableError),
    "ledger": (server_addresses.parse, LedgerError),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> tuple:
    return READERS[request.param]


def test_a_password_is_refused_and_not_shown(reader: tuple) -> None:
    parse, error = reader
    for url in ("postgresql://u:canary@h/d", "postgresql://u:${A}canary@h/d"):
        with pytest.raises(error, match="no password in the URL") as caught:
            parse(url)
        assert "canary" not in f"{caught.value} {caught.value!r}"


def test_variables_are_read_when_connecting(reader: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    parse, error = reader
    address = parse("postgresql://u:${BAYESDP_WORD}@h:${BAYESDP_PORT}/d")
    with pytest.raises(error, match="Set BAYESDP_"):
        address.arguments()
    monkeypatch.setenv("BAYESDP_WORD", "p@ss")
    monkeypatch.setenv("BAYESDP_PORT", "5433")
    known = address.arguments()
    assert (known["password"], known["port"]) == ("p@ss", "5433")
    assert "BAYESDP_WORD" not in repr(address)


def test_the_keyring_has_passwords_of_both(reader: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    parse, _ = reader
    kept = {("postgresql://h:5432/d", "u"): "from the keyring"}
    library = SimpleNamespace(
        get_password=lambda place, user: kept.get((place, user)),
        errors=SimpleNamespace(KeyringError=OSError),
        __spec__=SimpleNamespace(),
    )
    monkeypatch.setitem(sys.modules, "keyring", library)
    monkeypatch.delenv("PGPASSWORD", raising=False)
    assert parse("postgresql://u@h/d").arguments()["password"] == "from the keyring"
    assert "password" not in parse("postgresql://v@h/d").arguments()
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    assert "password" not in parse("postgresql://u@h/d").arguments()


@pytest.mark.parametrize("query", ["x=1", "table=a&table=b", "sslmode=require&sslmode=require"])
def test_options_are_known_and_stand_once(query: str) -> None:
    def wrong(expected: str, remedy: str) -> BayesdpError:
        return TableError("key", expected=expected, remedy=remedy)

    with pytest.raises(TableError, match="no options but 'table' and 'sslmode', each once"):
        parse_server(f"postgresql://h/d?{query}", "table", wrong)
    assert parse_server("postgresql://h/d", "table", wrong).option is None
    assert parse_server("postgresql://h/d?table=", "table", wrong).option == ""
