"""Curators and analysts of a ledger on a server: what each may do, tried by each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Ledger, Reading
from bayesdp.accounting.stores import verified
from bayesdp.accounting.stores.roles import grants
from bayesdp.cli import app
from bayesdp.errors import BudgetExceededError, InputError, LedgerError, Refusal
from tests.accounting.helpers import DP, debit, ledger, spend
from tests.accounting.office import Office, insert
from tests.golden.cases import PEOPLE, PEOPLE_CSV
from tests.postgres_server import PASSWORD, Server


@pytest.fixture
def office(postgres: Server) -> Office:
    return Office(postgres)


# -- what is permitted -----------------------------------------------------------------------------


def test_an_analyst_releases_and_reads(office: Office) -> None:
    ada = office.analyst("ada")
    assert ada.faults() == []
    release = debit(ada, 0.25)
    ada.store(release, {"value": 7, "ü😀\x7f": "\x01"})
    with pytest.raises(BudgetExceededError):
        debit(ada, 0.75)
    ada.refused("d ü😀\x7f\t'\"\\", "s.toml", "table", spends=[spend()])
    ada.ensure("d", "row", DP, private=["x", "y"], public=["town"])
    assert ada.release(release)["result"] == {"value": 7, "ü😀\x7f": "\x01"}
    (shown,) = ada.show()
    assert shown["spent"] == 0.5
    whose = [row["analyst"] for row in shown["releases"]]
    assert whose == ["curator", office.names["bo"], office.names["ada"]]
    assert {row["analyst"] for row in ada.refusals()} == {office.names["ada"]}
    assert ada.preview("d", "row", DP, [spend(0.75)]).refusal is not None
    assert office.curator.faults() == []
    assert office.curator.export() == ada.export()


def test_a_curator_registers_freezes_shares_and_imports(office: Office, tmp_path: Path) -> None:
    book, ada = office.curator, office.analyst("ada")
    book.register("ü😀", "person", Reading("dp", 2.0), private=["z"])
    book.share("d", office.names["ada"], 0.25)
    with pytest.raises(BudgetExceededError, match="has no share"):
        debit(office.analyst("bo"), 0.125)
    book.freeze("d", "consent")
    with pytest.raises(Refusal, match="was frozen by curator"):
        debit(ada, 0.125)
    book.store(office.bos, {})  # a curator may write what an analyst could not
    book.freeze("d", frozen=False)
    debit(ada, 0.125)
    assert book.faults() == []
    office.grant()  # again
    assert book.faults() == []
    copy = ledger(tmp_path / "copy.db")
    copy.restore(book.export())
    assert copy.show() == book.show()


def test_a_member_of_the_owner_is_a_curator(office: Office) -> None:
    office.server.run(
        f"CREATE ROLE keeper{office.number} LOGIN PASSWORD '{PASSWORD}'",
        f"CREATE ROLE keepers{office.number}",
        f"ALTER SCHEMA {office.schema} OWNER TO keepers{office.number}",
        *(
            f"ALTER TABLE {office.schema}.{table} OWNER TO keepers{office.number}"
            for table in ("meta", "entries", "results")
        ),
        *(
            f"ALTER FUNCTION {office.schema}.{name}() OWNER TO keepers{office.number}"
            for name in ("rule_entry", "rule_text", "rule_whole", "rule_never")
        ),
        f"GRANT keepers{office.number} TO keeper{office.number}",
    )
    keeper = ledger(office.server.ledger(office.schema, f"keeper{office.number}"))
    assert keeper.faults() == []
    keeper.register("e", "row", DP)
    with pytest.raises(Exception, match="is a curator of this ledger"):
        office.server.run(grants(office.schema, [f"keeper{office.number}"]))
    assert office.analyst("ada").faults() == []


# -- what is forbidden, through bayesdp ------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda book: book.register("d", "row", Reading("dp", 2.0, delta=1e-6)), "not a .*reading"),
        (lambda book: book.register("e", "row", DP), "not a .*dataset"),
        (lambda book: book.ensure("e", "row", DP), "ledger register STUDY"),
        (lambda book: book.ensure("d", "row", DP, public=["age"]), "columns that are private"),
        (lambda book: book.freeze("d"), "not a .*frozen"),
        (lambda book: book.share("d", "ada", 1.0), "not a .*share"),
        (lambda book: book.refused("d", "s", "table", analyst="Bo"), r"Write analyst = .*ada\d+"),
    ],
)
def test_an_analyst_is_told_what_is_the_curators(
    office: Office, call: Callable[[Ledger], object], words: str
) -> None:
    before = office.curator.export()
    with pytest.raises(LedgerError, match=words):
        call(office.analyst("ada"))
    assert office.curator.export() == before


def test_an_analyst_debits_under_the_own_name_only(office: Office) -> None:
    ada = office.analyst("ada")
    for name in ("Ada", "curator", office.names["bo"], office.names["ada"] + " "):
        with pytest.raises(LedgerError, match="the login, as the name of the analyst"):
            ada.debit("d", "row", [spend()], study="s", request={}, analyst=name)
    with pytest.raises(LedgerError, match="of the same analyst"):
        ada.store(office.bos, {"value": 7})
    office.analyst("bo").store(office.bos, {"value": 7})
    assert office.curator.faults() == []


def test_an_analyst_whose_clock_is_wrong(office: Office) -> None:
    for year in (2001, 2099):
        book = office.analyst("ada", clock=lambda year=year: datetime(year, 1, 1, tzinfo=UTC))
        with pytest.raises(LedgerError, match="Set the clock of this machine"):
            debit(book)


# -- the rules themselves --------------------------------------------------------------------------

ODD = {
    "a rule less": ("DROP TRIGGER rule_text ON results", "rule_text: the table results has other"),
    "a rule that is off": ("ALTER TABLE entries DISABLE TRIGGER rule_entry", "rule_entry: on the"),
    "a rule not for replicas": ("ALTER TABLE entries ENABLE TRIGGER rule_entry", "rule_entry: on"),
    "a rule for others": (
        "CREATE OR REPLACE TRIGGER rule_entry BEFORE INSERT ON entries FOR EACH ROW "
        "WHEN (NEW.kind <> 'reading') EXECUTE FUNCTION rule_entry(); "
        "ALTER TABLE entries ENABLE ALWAYS TRIGGER rule_entry",
        "rule_entry: on the table",
    ),
    "another function": (
        "CREATE OR REPLACE FUNCTION rule_entry() RETURNS trigger LANGUAGE plpgsql "
        "SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN NEW; END'",
        "rule_entry: on the table entries it is not as",
    ),
    "another path": ("ALTER FUNCTION rule_entry() RESET search_path", "rule_entry: on the table"),
    "a definer": ("ALTER FUNCTION rule_entry() SECURITY DEFINER", "rule_entry: on the table"),
    "a trigger more": (
        "CREATE TRIGGER t BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION rule_never()",
        "trigger t: a ledger has none",
    ),
    "a rule elsewhere": (
        "CREATE TRIGGER rule_entry BEFORE INSERT ON meta FOR EACH ROW "
        "EXECUTE FUNCTION rule_entry()",
        "trigger rule_entry: a ledger has none on the table meta",
    ),
    "another index": (
        "DROP INDEX rule_kinds; CREATE INDEX rule_kinds ON entries (time)",
        "index rule_kinds: a ledger has none",
    ),
    "an index that keeps rows out": (
        "DROP INDEX rule_kinds; CREATE UNIQUE INDEX rule_kinds ON entries (dataset, kind)",
        "index rule_kinds: a ledger has none",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_rules_that_are_other_ones_are_found(office: Office, name: str) -> None:
    statement, expected = ODD[name]
    if "UNIQUE" in statement:
        statement = statement.replace("(dataset, kind)", "(sequence, kind)")
    office.server.run(f'SET search_path TO "{office.schema}"; {statement}')
    for book in (office.curator, office.analyst("ada")):
        assert expected in "; ".join(fault.words() for fault in book.faults())
        with pytest.raises(LedgerError, match="damaged"):
            debit(book)
    if "rule_" in expected.partition(":")[0] and "elsewhere" not in name and "index" not in name:
        office.grant()
        assert office.curator.faults() == []


def test_the_owner_can_do_anything_and_certificates_show_it(office: Office) -> None:
    certificate = {"release": office.bos, "ledger": {}}
    head = office.curator.debited(office.bos)
    certificate["ledger"] = {"sequence": head.sequence, "head": head.hash}
    office.server.run(
        f'SET search_path TO "{office.schema}"; '
        "ALTER TABLE entries DISABLE TRIGGER rule_never; "
        f"DELETE FROM entries WHERE sequence >= {head.sequence}; "
        "ALTER TABLE entries ENABLE ALWAYS TRIGGER rule_never"
    )
    fresh = ledger(office.url)
    assert "cut off" in fresh.faults()[0].problem  # this process has seen it
    verified.forget()
    assert fresh.faults() == []
    (fault,) = fresh.faults({"c": certificate})
    assert "were cut off" in fault.problem


# -- the text that the curator runs ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "a\x1b[31m", "a" * 64, "public", "PUBLIC", "none"])
def test_names_that_no_login_has(name: str) -> None:
    with pytest.raises(InputError):
        grants("s", [name])


def test_odd_logins(office: Office) -> None:
    """Names that would be SQL are names."""
    signs = ["o'", 'q"', "b\\'", "$bayesdp$", "x; DROP TABLE entries; --"]
    odd = [f"{letters}{office.number}" for letters in signs]
    for name in odd:
        quoted = '"' + name.replace('"', '""') + '"'
        office.server.run(f"CREATE ROLE {quoted} LOGIN PASSWORD '{PASSWORD}'")
    office.server.run(grants(office.schema, odd))
    for name in odd:
        with office.connect(name) as connection:
            said = {"analyst": name, "study": "s", "reason": "table"}
            insert(connection, office.entry("refusal", said))
    assert office.curator.faults() == []


def test_nobody_who_could_get_around_the_rules_is_an_analyst(office: Office) -> None:
    with pytest.raises(Exception, match="the login curator is a curator of this ledger"):
        office.server.run(grants(office.schema, ["curator"]))
    with pytest.raises(Exception, match="does not exist"):
        office.server.run(grants(office.schema, ["nobody at all"]))
    ada = office.names["ada"]
    for right in (
        f"GRANT CREATE ON SCHEMA {office.schema} TO",
        f"GRANT DELETE ON {office.schema}.entries TO",
        f"GRANT INSERT ON {office.schema}.meta TO",
        "GRANT pg_write_all_data TO",
    ):
        group = f"group{office.number}{right.split()[1].lower()}"
        office.server.run(f"CREATE ROLE {group}", f"{right} {group}", f'GRANT {group} TO "{ada}"')
        with pytest.raises(Exception, match="may do more with this ledger than an analyst"):
            office.grant()
        office.server.run(f'REVOKE {group} FROM "{ada}"')
    office.grant()
    assert office.curator.faults() == []


def test_the_command_prints_it(office: Office, tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["ledger", "grants", *arguments])

    done = run("ada", "bo", "--ledger", office.url)
    assert done.exit_code == 0
    assert done.output == grants(office.schema, ["ada", "bo"])
    assert PASSWORD not in done.output
    refused = run("ada", "--ledger", str(tmp_path / "ledger.db"))
    assert refused.exit_code == 2
    assert "a file has no roles" in refused.output


def test_a_study_of_an_analyst(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that an analyst needs, from a study that the curator has registered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    Path("people.csv").write_text(PEOPLE_CSV)
    ada = office.server.ledger(office.schema, office.names["ada"])
    for file, url in (("curator.toml", office.url), ("s.toml", ada)):
        Path(file).write_text(PEOPLE.replace("[budget]", f'[budget]\nledger = "{url}"'))

    def ask(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == code, result.output
        assert PASSWORD not in result.output
        return result.output

    refused = ask("release", "s.toml", code=2)
    assert "Registering, sharing and freezing are the curator's" in refused
    ask("ledger", "register", "curator.toml")
    ask("check", "s.toml")
    ask("release", "s.toml", "--key", "june")
    assert "Nothing was spent now" in ask("release", "s.toml", "--key", "june")
    ask("ledger", "show", "--ledger", ada)
    ask("ledger", "trail", "--ledger", ada)
    ask("ledger", "verify", "--ledger", ada, "--against", ".")
    ask("ledger", "export", "backup.jsonl", "--ledger", ada)
    Path("t.toml").write_text(
        Path("s.toml").read_text().replace("[budget]", '[budget]\nanalyst = "Bo"')
    )
    assert f'Write analyst = "{office.names["ada"]}" below [budget]' in ask(
        "release", "t.toml", code=2
    )
