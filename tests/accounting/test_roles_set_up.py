"""Curators and analysts, set up for the first time on a server as the page on ledgers says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.errors import LedgerError
from tests.accounting.helpers import DP, ledger
from tests.golden.cases import PEOPLE, PEOPLE_CSV
from tests.postgres_server import PASSWORD, PORT, Server

psycopg = pytest.importorskip("psycopg")
PAGE = (Path(__file__).parents[2] / "docs" / "ledgers.md").read_text(encoding="utf-8")
LOGINS = ("carol", "dan", "ada", "bo")


@pytest.fixture
def research(postgres: Server) -> Iterator[Server]:
    """A server with an empty database, and no login but that of the administrator."""
    postgres.run("CREATE DATABASE research")
    yield postgres
    postgres.run("DROP DATABASE research WITH (FORCE)")
    postgres.run(*(f"DROP ROLE IF EXISTS {name}" for name in (*LOGINS, "curators")))


def run(server: Server, user: str, text: str) -> list[str]:
    """What `psql` does with a file; the notices that it shows."""
    said: list[str] = []
    with psycopg.connect(
        host=str(server.folder),
        port=PORT,
        user=user,
        password=PASSWORD,
        dbname="research",
        autocommit=True,
    ) as connection:
        connection.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        connection.execute(text)
    return said


def place(server: Server, user: str) -> str:
    return server.ledger("bayesdp_ledger", user).replace("/postgres?", "/research?")


def the_first_step(server: Server) -> None:
    """As the page has it, with passwords, and one curator more."""
    (text,) = re.findall(r"```sql\n(.*?)```", PAGE, re.S)
    run(server, "curator", text + "CREATE ROLE dan LOGIN IN ROLE curators;")
    server.run(*(f"ALTER ROLE {name} PASSWORD '{PASSWORD}'" for name in LOGINS))


def test_the_steps_of_the_page(
    research: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    Path("people.csv").write_text(PEOPLE_CSV)
    for name in LOGINS:
        url = place(research, name)
        Path(f"{name}.toml").write_text(PEOPLE.replace("[budget]", f'[budget]\nledger = "{url}"'))

    def ask(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == code, done.output
        assert PASSWORD not in done.output
        return done.output

    def grant(name: str) -> None:
        run(research, name, ask("ledger", "grants", "ada", "bo", "--ledger", place(research, name)))

    # Before the first step, and out of the order of steps.
    research.run(f"CREATE ROLE carol LOGIN PASSWORD '{PASSWORD}'")
    refused = ask("ledger", "register", "carol.toml", code=2)
    assert 'CREATE SCHEMA "bayesdp_ledger" AUTHORIZATION' in refused
    research.run("DROP ROLE carol")
    the_first_step(research)
    with pytest.raises(psycopg.Error, match="no ledger in the schema bayesdp_ledger yet") as early:
        grant("carol")
    assert "bayesdp ledger register STUDY" in str(early.value)
    ask("ledger", "register", "carol.toml")
    assert "`bayesdp ledger grants LOGIN`" in ask("release", "ada.toml", code=2)
    with pytest.raises(psycopg.Error, match="permission denied"):
        grant("ada")
    grant("dan")  # the other curator, and not the one who made the ledger
    ask("release", "ada.toml")
    ask("ledger", "freeze", "people", "--ledger", place(research, "dan"))
    assert "was frozen by dan" in ask("release", "bo.toml", code=1)
    ask("ledger", "thaw", "people", "--ledger", place(research, "carol"))
    assert "or `share`, `people`, `freeze`" in ask(
        "ledger", "share", "people", "ada", "1", "--ledger", place(research, "ada"), code=2
    )
    grant("carol")  # again
    assert "as it was written" in ask("ledger", "verify", "--ledger", place(research, "ada"))
    run(research, "carol", "REVOKE ALL ON SCHEMA bayesdp_ledger FROM ada")
    assert "permission denied" in ask("release", "ada.toml", code=2)
    shown = ask("ledger", "show", "--ledger", place(research, "bo"))
    assert "released  ada" in shown
    assert "1 attempt refused" in shown


def test_who_owns_the_schema_owns_the_ledger(research: Server) -> None:
    """Also where the administrator makes the ledger in it; a schema of strangers is left alone."""
    the_first_step(research)
    ledger(place(research, "curator")).register("d", "row", DP)
    ledger(place(research, "dan")).freeze("d")
    with pytest.raises(LedgerError, match="permission denied for schema"):
        ledger(place(research, "ada")).register("e", "row", DP)
    with pytest.raises(LedgerError, match="permission denied for schema"):
        ledger(place(research, "ada")).ensure("d", "row", DP)


def test_what_is_printed_says_nothing_else(research: Server) -> None:
    """No notice of what isn't there yet, of a psql that somebody looks at for the first time."""
    the_first_step(research)
    ledger(place(research, "carol")).register("d", "row", DP)
    printed = CliRunner().invoke(
        app, ["ledger", "grants", "ada", "--ledger", "postgresql:///research"]
    )
    assert run(research, "carol", printed.output) == []
    assert run(research, "carol", printed.output) == []
