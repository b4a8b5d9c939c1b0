"""What an analyst of a ledger on a server tries in SQL, past bayesdp."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayesdp.accounting import Reading
from bayesdp.accounting.log.entries import Entry, following
from bayesdp.errors import BudgetExceededError
from tests.accounting.helpers import debit
from tests.accounting.office import ID, Office, insert, release_said
from tests.postgres_server import Server


@pytest.fixture
def office(postgres: Server) -> Office:
    return Office(postgres)


# -- what is forbidden, in SQL ---------------------------------------------------------------------

STATEMENTS = {
    "change": "UPDATE entries SET content = '{}'",
    "change a number": "UPDATE entries SET sequence = 99 WHERE sequence = 1",
    "erase": "DELETE FROM entries",
    "erase a result": "DELETE FROM results",
    "change a result": "UPDATE results SET result = '7'",
    "empty": "TRUNCATE entries",
    "empty the results": "TRUNCATE results",
    "drop": "DROP TABLE entries",
    "drop all": "DROP SCHEMA SCHEMA CASCADE",
    "drop the rule": "DROP TRIGGER rule_entry ON entries",
    "drop the function": "DROP FUNCTION rule_entry CASCADE",
    "switch the rule off": "ALTER TABLE entries DISABLE TRIGGER rule_entry",
    "switch all off": "ALTER TABLE entries DISABLE TRIGGER ALL",
    "a column": "ALTER TABLE entries ADD COLUMN x text",
    "another name": "ALTER TABLE entries RENAME TO hidden",
    "another owner": "ALTER TABLE entries OWNER TO SESSION_USER",
    "hide rows": "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
    "a trigger": (
        "CREATE TRIGGER t BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION rule_never()"
    ),
    "a rule": "CREATE RULE r AS ON INSERT TO entries DO INSTEAD NOTHING",
    "a function": (
        "CREATE OR REPLACE FUNCTION rule_entry() RETURNS trigger LANGUAGE plpgsql "
        "AS 'BEGIN RETURN NEW; END'"
    ),
    "a table": "CREATE TABLE more (x int)",
    "an index": "CREATE INDEX i ON entries (time)",
    "a policy": "CREATE POLICY p ON entries",
    "an heir": "CREATE TEMP TABLE heir () INHERITS (entries)",
    "become the curator": "SET ROLE curator",
    "become the curator at the login": "SET SESSION AUTHORIZATION curator",
    "become the other": "SET ROLE \"OTHER\"",
    "rights": "GRANT curator TO SESSION_USER",
    "a replica": "SET session_replication_role = replica",
    "another version": "UPDATE meta SET value = '2' WHERE key = 'version'",
    "more versions": "INSERT INTO meta VALUES ('x', 'y')",
    "lock": "BEGIN; LOCK TABLE entries IN ACCESS EXCLUSIVE MODE",
    "lock rows": "SELECT * FROM entries FOR UPDATE",
    "write over": (
        "INSERT INTO entries SELECT * FROM entries ON CONFLICT (sequence) DO UPDATE "
        "SET content = '{}'"
    ),
    "merge": (
        "MERGE INTO entries e USING (SELECT 1 AS n) s ON e.sequence = s.n "
        "WHEN MATCHED THEN DELETE"
    ),
    "copy in": "COPY entries FROM '/etc/passwd'",
    "copy in from a program": "COPY entries FROM PROGRAM 'id'",
    "a definer": (
        "CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE sql SECURITY DEFINER AS "
        "'DELETE FROM entries'; ALTER FUNCTION pg_temp.f() OWNER TO curator"
    ),
    "a definer of the own": (
        "CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE sql SECURITY DEFINER AS "
        "'DELETE FROM entries'; SELECT pg_temp.f()"
    ),
    "an untrusted language": "DO LANGUAGE plpython3u 'pass'",
    "raw data": "SELECT * FROM raw.people",
    "raw data through an entry": "INSERT INTO results SELECT 99, x FROM raw.people",
    "raw data through a file": "SELECT pg_read_file('/etc/passwd')",
    "raw data through a view": (
        "CREATE TEMP VIEW v AS SELECT * FROM raw.people; SELECT * FROM v"
    ),
    "a result of nothing": "INSERT INTO results VALUES (99, '7')",
    "a result of a debit": "INSERT INTO results VALUES (3, '7')",
}  # fmt: skip


@pytest.fixture
def raw(postgres: Server) -> None:
    postgres.run(
        "CREATE SCHEMA IF NOT EXISTS raw",
        "CREATE TABLE IF NOT EXISTS raw.people AS SELECT 'canary'::text AS x",
    )


@pytest.mark.usefixtures("raw")
def test_statements_that_an_analyst_may_not_make(office: Office) -> None:
    before = office.curator.export()
    with office.connect("ada") as connection:
        connection.execute("GRANT ALL ON entries TO SESSION_USER")  # a warning: there are none
        for name, statement in STATEMENTS.items():
            text = statement.replace("SCHEMA SCHEMA", f"SCHEMA {office.schema}")
            with pytest.raises(Exception) as refused:  # noqa: PT011
                connection.execute(text.replace("OTHER", office.names["bo"]))
            code = str(getattr(refused.value, "sqlstate", None))
            # No right, a rule, not found (a language, a procedure), or not in this version.
            assert code in ("42501", "BDP01", "0A000", "42704"), f"{name}: {refused.value!r}"
            assert "canary" not in str(refused.value), name
            connection.execute("ROLLBACK")
            connection.execute(f'SET search_path TO "{office.schema}"')
    assert office.curator.export() == before
    assert office.curator.faults() == []


def forged(office: Office) -> dict[str, Entry]:
    """Entries that an analyst who knows the code would like to add."""
    me, other, raised = office.names["ada"], office.names["bo"], Reading("dp", 9.0)
    reading = f'{{"by":"{me}","key":"{raised.key()}","reading":{raised.text()}}}'
    good = office.entry("release", release_said(me), release=ID)
    changed = {name: getattr(good, name) for name in Entry.__slots__}
    later = office.entry("release", release_said(me), release=ID)
    sha = '{"sha256":"' + "0" * 64 + '"}'

    def dated(time: str) -> Entry:
        return following(
            office.last(), "release", dataset="d", release=ID, time=time,
            content=json.dumps(release_said(me)),
        )  # fmt: skip

    twice = json.dumps(release_said(me))[:-1] + f', "analyst": "{other}"}}'
    return {
        "a raised budget": office.entry("reading", reading),
        "a raised budget of another kind of letters": office.entry("Reading", reading),
        "a share": office.entry("share", {"analyst": me, "by": me, "share": 1.0}),
        "a thaw": office.entry("frozen", {"by": me, "frozen": False, "reason": ""}),
        "a data set": office.entry("dataset", {"by": me, "unit": "row"}, dataset="f"),
        "a ledger": office.entry("ledger", "{}"),
        "a public column": office.entry("columns", {"by": me, "columns": {"age": False}}),
        "a column that was public": office.entry("columns", {"by": me, "columns": {"town": True}}),
        "columns by another": office.entry("columns", {"by": other, "columns": {"age": True}}),
        "columns that are none": office.entry("columns", {"by": me, "columns": 7}),
        "another's debit": office.entry("release", release_said(other), release=ID),
        "another's debit, with the own name first": office.entry("release", twice, release=ID),
        "nobody's debit": office.entry("release", {"study": "s"}, release=ID),
        "a number's debit": office.entry("release", release_said(me, analyst=7), release=ID),
        "a debit with a second name": office.entry(
            "release", release_said(me, by=other), release=ID
        ),
        "a debit of nothing": office.entry("release", release_said(me, spends=[]), release=ID),
        "a debit of no list": office.entry("release", release_said(me, spends=7), release=ID),
        "a debit of another's name": office.entry(
            "release", release_said(me), release=office.bos
        ),
        "a debit without a name": office.entry("release", release_said(me)),
        "a debit of no data set": office.entry(
            "release", release_said(me), release=ID, dataset="g"
        ),
        "a debit that is not JSON": office.entry("release", "{", release=ID),
        "a debit that is a list": office.entry("release", "[]", release=ID),
        "a debit with other letters": office.entry(
            "release", json.dumps(release_said(me, study="ü"), ensure_ascii=False), release=ID
        ),
        "a result of another's": office.entry("result", sha, release=office.bos),
        "a result of none": office.entry("result", sha, release=ID),
        "a result of no hash": office.entry("result", "{}", release=office.bos),
        "another's attempt": office.entry(
            "refusal", {"analyst": other, "study": "s", "reason": "table"}
        ),
        "an attempt for no reason": office.entry(
            "refusal", {"analyst": me, "study": "s", "reason": "fun"}
        ),
        "an attempt with half a cost": office.entry(
            "refusal", {"analyst": me, "study": "s", "reason": "table", "dp_rho": 1}
        ),
        "an attempt of a release": office.entry(
            "refusal", {"analyst": me, "study": "s", "reason": "table"}, release=ID
        ),
        "a wrong hash": Entry(**{**changed, "hash": "0" * 64}),
        "a hash of other letters": Entry(**{**changed, "hash": good.hash.upper()}),
        "a wrong hash before": Entry(**{**changed, "previous": "0" * 64}),
        "a number twice": Entry(**{**changed, "sequence": good.sequence - 1}),
        "a number left out": Entry(**{**changed, "sequence": good.sequence + 1}),
        "number 0": Entry(**{**changed, "sequence": 0}),
        "a chain of its own": following(
            None, "release", dataset="d", release=ID, time=good.time, content=good.content
        ),
        "a gap": following(
            later, "release", dataset="d", release=ID, time=good.time, content=good.content
        ),
        "last year": dated("2025-11-30T12:00:00.000000+00:00"),
        "some time": dated("infinity"),
        "now": dated("now"),
        "another offset": dated(good.time.replace("+00:00", "+01:00")),
    }  # fmt: skip


def test_entries_that_an_analyst_may_not_add(office: Office) -> None:
    """All but a debit that is too large: only bayesdp knows levels, and `verify` finds it."""
    before = office.curator.export()
    with office.connect("ada") as connection:
        for name, entry in forged(office).items():
            with pytest.raises(Exception) as refused:  # noqa: PT011
                insert(connection, entry)
            code = str(getattr(refused.value, "sqlstate", None))
            assert code in ("BDP01", "22P02"), f"{name}: {refused.value!r}"
    assert office.curator.export() == before


def test_the_same_entry_in_the_own_name_is_taken(office: Office) -> None:
    """So the ones above were refused for what was wrong with them."""
    with office.connect("ada") as connection:
        insert(connection, office.entry("release", release_said(office.names["ada"]), release=ID))
        said = {"by": office.names["ada"], "columns": {"age": True}}
        insert(connection, office.entry("columns", said))
        said = {"analyst": office.names["ada"], "study": "s", "reason": "table"}
        insert(connection, office.entry("refusal", said))
    assert office.curator.faults() == []
    assert office.curator.release(ID)["analyst"] == office.names["ada"]


def test_nothing_is_added_to_a_frozen_data_set(office: Office) -> None:
    me = office.names["ada"]
    columns = {"by": me, "columns": {"age": True}}
    office.curator.freeze("d", "consent")
    with office.connect("ada") as connection:
        for entry in (
            office.entry("release", release_said(me), release=ID),
            office.entry("columns", columns),
        ):
            with pytest.raises(Exception, match="a data set that is not frozen"):
                insert(connection, entry)
    office.curator.freeze("d", frozen=False)
    with office.connect("ada") as connection:
        insert(connection, office.entry("columns", columns))


def test_a_debit_by_hand_that_is_too_large_is_found(office: Office) -> None:
    plain = release_said(office.names["ada"])["spends"][0] | {"dp_epsilon": 5.0}
    with office.connect("ada") as connection:
        said = release_said(office.names["ada"], spends=[plain])
        insert(connection, office.entry("release", said, release=ID))
    (fault,) = office.curator.faults()
    assert "the releases are at 5.25" in fault.problem
    with pytest.raises(BudgetExceededError):
        debit(office.analyst("bo"), 0.125)


def test_a_result_needs_its_text(office: Office) -> None:
    release = debit(office.analyst("ada"))
    entry = office.entry("result", '{"sha256":"' + "0" * 64 + '"}', release=release)

    def both(connection: Any, entry: Entry) -> None:
        insert(connection, entry)
        connection.execute("COMMIT")

    for statement in ("", "SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED"):
        with office.connect("ada") as connection:
            connection.execute("BEGIN")
            connection.execute(statement)
            with pytest.raises(Exception, match="the text of a result beside its entry"):
                both(connection, entry)
            connection.execute("ROLLBACK")
        with office.connect("ada") as connection:
            connection.execute("BEGIN")
            insert(connection, entry)
            with pytest.raises(Exception, match="that its entry has the hash of"):
                connection.execute("INSERT INTO results VALUES (%s, '7')", (entry.sequence,))
    assert office.curator.faults() == []


def test_names_in_other_schemas_change_nothing(office: Office) -> None:
    """Tables and functions that an analyst may make, before those of the ledger in the path."""
    own = f"own{office.number}"
    office.server.run(f'CREATE SCHEMA {own} AUTHORIZATION "{office.names["ada"]}"')
    with office.connect("ada") as connection:
        for statement in (
            f"CREATE TABLE {own}.pg_class AS SELECT 1 AS oid, 1 AS relowner",
            f"CREATE FUNCTION {own}.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql "
            "AS 'SELECT true'",
            f"CREATE FUNCTION {own}.clock_timestamp() RETURNS timestamptz LANGUAGE sql "
            "AS 'SELECT now()'",
            f"CREATE FUNCTION {own}.yes(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
            f"CREATE OPERATOR {own}.= (LEFTARG = text, RIGHTARG = text, FUNCTION = {own}.yes)",
            f"CREATE TEMP TABLE entries (LIKE {office.schema}.entries)",
            "CREATE TEMP TABLE pg_class AS SELECT 1 AS oid, 1 AS relowner",
            f"SET search_path TO {own}, pg_temp, pg_catalog",
        ):
            connection.execute(statement)
        name = office.names["bo"]
        for entry in (
            office.entry("release", release_said(name), release=ID),
            office.entry("share", {"analyst": name, "by": name, "share": 1.0}),
        ):
            fields = [getattr(entry, field) for field in Entry.__slots__]
            with pytest.raises(Exception, match=r"the login, as|not a"):
                connection.execute(
                    f"INSERT INTO {office.schema}.entries VALUES (%s,%s,%s,%s,%s,%s,%s,%s)", fields
                )


def test_an_analyst_who_is_a_member_of_others(office: Office) -> None:
    """The login counts, whatever role it takes on."""
    ada, bo = office.names["ada"], office.names["bo"]
    office.server.run(f'GRANT "{bo}" TO "{ada}"', f'GRANT pg_write_all_data TO "{ada}"')
    with office.connect("ada") as connection:
        connection.execute(f'SET ROLE "{bo}"')
        with pytest.raises(Exception, match="the login, as the name"):
            insert(connection, office.entry("release", release_said(bo), release=ID))
        connection.execute("RESET ROLE")
        for statement in (
            "UPDATE entries SET content = '{}'",
            "DELETE FROM results",
            "UPDATE meta SET value = '2'",
        ):
            with pytest.raises(Exception, match="a ledger that only grows"):
                connection.execute(statement)
    assert office.curator.faults() == []


def test_two_analysts_at_the_same_time(office: Office) -> None:
    """Who doesn't wait for the lock is refused, at every level of isolation."""
    with office.connect("ada") as first, office.connect("bo") as second:
        for level in ("READ COMMITTED", "REPEATABLE READ"):
            for connection in (first, second):
                connection.execute(f"BEGIN ISOLATION LEVEL {level}")
                connection.execute("SELECT * FROM entries")
            names = office.names
            identifier = f"{len(level):032x}"
            insert(first, office.entry("release", release_said(names["ada"]), release=identifier))
            late = office.entry("release", release_said(names["bo"]), release=identifier)
            first.execute("COMMIT")
            with pytest.raises(Exception, match=r"follows from|duplicate key"):
                insert(second, late)
            second.execute("ROLLBACK")
    assert office.curator.faults() == []
