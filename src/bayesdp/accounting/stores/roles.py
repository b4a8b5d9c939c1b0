"""Curators and analysts of a ledger on a PostgreSQL server, as SQL that its curator runs.

The *curators* are who owns the tables, and the members of that role; the server lets them do
anything. An *analyst* may read, and add entries of four kinds under the own login: debits and
their results, refused attempts, and columns that are private. The server itself holds everybody to
the chain, and refuses to change or to erase. What a debit may cost is not among the rules: only
bayesdp computes levels, before it debits, and `ledger verify` afterwards.

The rules are triggers. They are all there, exactly as here, or none of them: `rule_faults` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from bayesdp.accounting.accounts.analysts import checked_analyst
from bayesdp.accounting.log.entries import LedgerFault
from bayesdp.errors import InputError

REFUSED = "BDP01"
"""The code of the error with which a rule refuses; its hint is the remedy."""
CLOCKS_DIFFER = 3600
"""So many seconds an analyst's clock may be off the server's."""
LONGEST_LOGIN = 63

_REFUSE = f"RAISE EXCEPTION USING ERRCODE = '{REFUSED}', MESSAGE ="
_BY_HAND = "HINT = 'Release with bayesdp, which writes entries as they must be.'"

_ENTRY = f"""
DECLARE
  last_number integer;
  last_hash text;
  dataset_text text;
  said jsonb;
  login text := session_user;
  about text;
BEGIN
  SELECT e.sequence, e.hash INTO last_number, last_hash
    FROM LEDGER.entries e ORDER BY e.sequence DESC LIMIT 1;
  -- As Python's json writes a text: everything that is not ASCII is escaped.
  SELECT string_agg(CASE
      WHEN code BETWEEN 32 AND 126 THEN letter
      WHEN code < 65536 THEN '\\u' || lpad(to_hex(code), 4, '0')
      ELSE '\\u' || to_hex(55296 + ((code - 65536) >> 10))
        || '\\u' || to_hex(56320 + ((code - 65536) & 1023)) END, '' ORDER BY place)
    INTO dataset_text
    FROM (SELECT t.letter, ascii(t.letter) AS code, t.place FROM
      regexp_split_to_table(to_json(NEW.dataset)::text, '') WITH ORDINALITY AS t(letter, place)) l;
  IF NEW.sequence IS DISTINCT FROM coalesce(last_number, 0) + 1
    OR NEW.previous IS DISTINCT FROM coalesce(last_hash, '')
    OR NEW.hash IS DISTINCT FROM encode(sha256(convert_to(concat('[', NEW.sequence, ',',
      to_json(NEW.kind), ',', dataset_text, ',', to_json(NEW.release), ',', to_json(NEW.time), ',',
      to_json(NEW.content), ',', to_json(NEW.previous), ']'), 'UTF8')), 'hex') THEN
    {_REFUSE} 'an entry that follows from the last one', {_BY_HAND};
  END IF;
  IF pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
    RETURN NEW;
  END IF;
  IF NEW.kind NOT IN ('columns', 'release', 'result', 'refusal') THEN
    {_REFUSE} format('debits, their results and attempts of an analyst, not a %s',
        to_json(NEW.kind)),
      HINT = 'Registering, sharing and freezing are the curator''s: let the curator run '
        '`bayesdp ledger register STUDY`, or `share`, `people`, `freeze` and `thaw`.';
  END IF;
  IF NEW.time !~ '^\\d{{4}}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{{6}}\\+00:00$'
    OR abs(extract(epoch FROM NEW.time::timestamptz - clock_timestamp())) > {CLOCKS_DIFFER} THEN
    {_REFUSE} format('the time as the server has it, within {CLOCKS_DIFFER} seconds, not %s',
      to_json(NEW.time)), HINT = 'Set the clock of this machine.';
  END IF;
  IF octet_length(NEW.content) <> length(NEW.content) THEN
    {_REFUSE} 'the content of an entry in ASCII', {_BY_HAND};
  END IF;
  said := NEW.content::jsonb;
  IF jsonb_typeof(said) <> 'object' THEN
    {_REFUSE} 'an object as the content of an entry', {_BY_HAND};
  END IF;
  IF NEW.kind <> 'result' THEN
    about := CASE NEW.kind WHEN 'columns' THEN 'by' ELSE 'analyst' END;
    IF said -> about IS DISTINCT FROM to_jsonb(login) THEN
      {_REFUSE} format('%s, the login, as the name of the analyst, not %s', to_json(login),
        coalesce((said -> about)::text, 'none')),
        HINT = format('Write analyst = %s below [budget], or leave it out.', to_json(login));
    END IF;
    IF said ? 'by' AND NEW.kind <> 'columns' THEN
      {_REFUSE} 'one name in an entry', {_BY_HAND};
    END IF;
  END IF;
  IF NEW.kind IN ('columns', 'release') THEN
    IF NOT EXISTS (SELECT FROM LEDGER.entries e WHERE e.kind = 'dataset'
        AND e.dataset = NEW.dataset) THEN
      {_REFUSE} 'a data set that is registered',
        HINT = 'Let the curator run `bayesdp ledger register STUDY`.';
    END IF;
    IF (SELECT e.content::jsonb -> 'frozen' FROM LEDGER.entries e WHERE e.kind = 'frozen'
        AND e.dataset = NEW.dataset ORDER BY e.sequence DESC LIMIT 1) = 'true' THEN
      {_REFUSE} 'a data set that is not frozen',
        HINT = 'The curator ends that with `bayesdp ledger thaw`.';
    END IF;
  END IF;
  IF NEW.kind IN ('release', 'result') AND NEW.release !~ '^[0-9a-f]{{32}}$'
    OR NEW.kind IN ('columns', 'refusal') AND NEW.release <> '' THEN
    {_REFUSE} 'the name of a release', {_BY_HAND};
  END IF;
  CASE NEW.kind
  WHEN 'columns' THEN
    IF jsonb_typeof(said -> 'columns') IS DISTINCT FROM 'object'
      OR EXISTS (SELECT FROM jsonb_each(said -> 'columns') c WHERE c.value <> 'true') THEN
      {_REFUSE} 'columns that are private: which are public is for the curator to say',
        HINT = 'Let the curator run `bayesdp ledger register STUDY`.';
    END IF;
    IF EXISTS (SELECT FROM LEDGER.entries e, jsonb_object_keys(e.content::jsonb -> 'columns') k
        WHERE e.kind = 'columns' AND e.dataset = NEW.dataset
        AND jsonb_exists(said -> 'columns', k)) THEN
      {_REFUSE} 'columns that nobody has declared before', {_BY_HAND};
    END IF;
    IF EXISTS (SELECT FROM LEDGER.entries p JOIN LEDGER.entries q
          ON p.content::jsonb -> 'people' = q.content::jsonb -> 'people'
        JOIN LEDGER.entries e ON e.dataset = q.dataset,
          jsonb_each(e.content::jsonb -> 'columns') c
        WHERE p.kind = 'people' AND p.dataset = NEW.dataset AND q.kind = 'people'
        AND e.kind = 'columns' AND c.value = 'false' AND jsonb_exists(said -> 'columns', c.key))
    THEN
      {_REFUSE} 'columns that are not public in another data set of the same people', {_BY_HAND};
    END IF;
  WHEN 'release' THEN
    IF EXISTS (SELECT FROM LEDGER.entries e WHERE e.release = NEW.release) THEN
      {_REFUSE} 'a release that is new', {_BY_HAND};
    END IF;
    IF jsonb_typeof(said -> 'study') IS DISTINCT FROM 'string'
      OR jsonb_typeof(said -> 'request') IS DISTINCT FROM 'object'
      OR jsonb_typeof(said -> 'spends') IS DISTINCT FROM 'array'
      OR jsonb_array_length(said -> 'spends') = 0 THEN
      {_REFUSE} 'a study, what it asks and what it spends in a debit', {_BY_HAND};
    END IF;
  WHEN 'result' THEN
    IF NEW.content !~ '^\\{{"sha256":"[0-9a-f]{{64}}"\\}}$'
      OR EXISTS (SELECT FROM LEDGER.entries e WHERE e.kind = 'result'
        AND e.release = NEW.release)
      OR NOT EXISTS (SELECT FROM LEDGER.entries e WHERE e.kind = 'release'
        AND e.release = NEW.release AND e.dataset = NEW.dataset
        AND e.content::jsonb -> 'analyst' = to_jsonb(login)) THEN
      {_REFUSE} 'the first result of a debit of the same analyst', {_BY_HAND};
    END IF;
  ELSE  -- a refusal
    IF jsonb_typeof(said -> 'study') IS DISTINCT FROM 'string'
      OR said -> 'reason' IS NULL
      OR said -> 'reason' NOT IN ('"table"', '"budget"', '"share"', '"frozen"')
      OR said ? 'dp_epsilon' <> said ? 'dp_rho'
      OR said ? 'dp_rho' AND (jsonb_typeof(said -> 'dp_epsilon') <> 'number'
        OR jsonb_typeof(said -> 'dp_rho') <> 'number') THEN
      {_REFUSE} 'the study and the reason in an attempt', {_BY_HAND};
    END IF;
  END CASE;
  RETURN NEW;
END
"""
_TEXT = f"""
BEGIN
  IF NOT EXISTS (SELECT FROM LEDGER.entries e WHERE e.sequence = NEW.entry AND e.kind = 'result'
      AND e.content = '{{"sha256":"'
        || encode(sha256(convert_to(NEW.result, 'UTF8')), 'hex') || '"}}') THEN
    {_REFUSE} 'the text of the result that its entry has the hash of', {_BY_HAND};
  END IF;
  RETURN NEW;
END
"""
_WHOLE = f"""
BEGIN
  IF NEW.kind = 'result'
    AND NOT EXISTS (SELECT FROM LEDGER.results r WHERE r.entry = NEW.sequence) THEN
    {_REFUSE} 'the text of a result beside its entry', {_BY_HAND};
  END IF;
  RETURN NULL;
END
"""
_NEVER = f"""
BEGIN
  {_REFUSE} 'a ledger that only grows',
    HINT = 'Nothing is changed in a ledger or taken out.';
END
"""
_BODIES = {
    "rule_entry": _ENTRY,
    "rule_text": _TEXT,
    "rule_whole": _WHOLE,
    "rule_never": _NEVER,
}
"""The functions of the rules. LEDGER stands for the name of the schema."""
_ROW, _BEFORE, _INSERT, _DELETE, _UPDATE, _TRUNCATE = 1, 2, 4, 8, 16, 32  # as in pg_trigger
_CHANGES = _BEFORE | _DELETE | _UPDATE | _TRUNCATE
_TRIGGERS = {
    ("entries", "rule_entry"): (_ROW | _BEFORE | _INSERT, "BEFORE INSERT", "ROW", False),
    ("results", "rule_text"): (_ROW | _BEFORE | _INSERT, "BEFORE INSERT", "ROW", False),
    ("entries", "rule_whole"): (_ROW | _INSERT, "AFTER INSERT", "ROW", True),
    **{
        (table, "rule_never"): (_CHANGES, "BEFORE UPDATE OR DELETE OR TRUNCATE", "STATEMENT", False)
        for table in ("meta", "entries", "results")
    },
}
"""The triggers by table and function: their type as the server has it and in words, for each row
or statement, and whether they look at the end of the transaction."""
_SETTINGS = ["search_path=pg_catalog, pg_temp"]


def _body(name: str, schema: str) -> str:
    return _BODIES[name].replace("LEDGER", f'"{schema}"')


def grants(schema: str, analysts: Sequence[str]) -> str:
    """The SQL with which the owner of a ledger makes the logins of `analysts` analysts of it.

    `schema` is the name of the ledger's schema, which is there. The text may be run again, also
    with other analysts, who are added. It fails, and changes nothing, where an analyst could get
    around the rules: as owner, as member of a role that may do more, or as superuser. Raises
    `InputError` for a name that no login has.
    """
    names = [_checked_login(name) for name in analysts]
    lines = [
        f"-- Curators and analysts of the bayesdp ledger in the schema {schema}.",
        "-- Its owner runs this, as in: bayesdp ledger grants ... | psql -v ON_ERROR_STOP=1 ...",
        "BEGIN;",
        *_as_owner(schema),
        "SET LOCAL client_min_messages = warning;",  # what isn't there yet is no news
    ]
    for name in _BODIES:
        lines += [
            f'CREATE OR REPLACE FUNCTION "{schema}".{name}() RETURNS trigger LANGUAGE plpgsql',
            f"SECURITY INVOKER SET search_path = pg_catalog, pg_temp "
            f"AS $bayesdp${_body(name, schema)}$bayesdp$;",
            f'REVOKE ALL ON FUNCTION "{schema}".{name}() FROM PUBLIC;',
        ]
    for (table, name), (_, when, each, late) in _TRIGGERS.items():
        kind = "CONSTRAINT TRIGGER" if late else "TRIGGER"
        wait = "DEFERRABLE INITIALLY DEFERRED " if late else ""
        lines += [
            f'DROP TRIGGER IF EXISTS {name} ON "{schema}".{table};',
            f'CREATE {kind} {name} {when} ON "{schema}".{table} {wait}'
            f'FOR EACH {each} EXECUTE FUNCTION "{schema}".{name}();',
            # Also for who says that the session is a replica.
            f'ALTER TABLE "{schema}".{table} ENABLE ALWAYS TRIGGER {name};',
        ]
    for index, column in _INDEXES.items():
        lines.append(f'CREATE INDEX IF NOT EXISTS {index} ON "{schema}".entries ({column});')
    logins = ", ".join(["PUBLIC", *map(_quoted, names)])
    tables = ", ".join(f'"{schema}".{table}' for table in ("meta", "entries", "results"))
    lines += [
        f'REVOKE ALL ON SCHEMA "{schema}" FROM {logins};',
        f"REVOKE ALL ON {tables} FROM {logins};",
    ]
    if names:
        logins = ", ".join(map(_quoted, names))
        lines += [
            f'GRANT USAGE ON SCHEMA "{schema}" TO {logins};',
            f"GRANT SELECT ON {tables} TO {logins};",
            f'GRANT INSERT ON "{schema}".entries, "{schema}".results TO {logins};',
        ]
    return "\n".join([*lines, *_checks(schema, names), "COMMIT;", ""])


def _as_owner(schema: str) -> Iterator[str]:
    """Statements that go on as the role that owns the tables, of which curators are members.

    What is made must belong to it. They fail where there is no ledger yet.
    """
    yield "DO $bayesdp$ BEGIN"
    yield f"IF to_regclass('\"{schema}\".entries') IS NULL THEN"
    yield (
        f"  RAISE 'there is no ledger in the schema {schema} yet' USING "
        "HINT = 'First register a study: bayesdp ledger register STUDY.';"
    )
    yield "END IF;"
    yield (
        "EXECUTE format('SET LOCAL ROLE %I', (SELECT pg_get_userbyid(relowner) FROM pg_class "
        f"WHERE oid = to_regclass('\"{schema}\".entries')));"
    )
    yield "END $bayesdp$;"


_INDEXES = {"rule_releases": "release", "rule_kinds": "dataset, kind"}
"""What the rules look entries up by: the names of indexes of `entries`, and their columns."""


def _checks(schema: str, names: Sequence[str]) -> Iterator[str]:
    """Statements that fail where the rules would not hold for the logins of these `names`."""
    yield "DO $bayesdp$ BEGIN"
    yield "IF current_setting('server_encoding') <> 'UTF8' THEN"
    yield "  RAISE 'a bayesdp ledger with analysts needs a database whose encoding is UTF8';"
    yield "END IF;"
    for name in names:
        login = _literal(name)
        yield (
            f"IF EXISTS (SELECT FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid "
            f"WHERE n.nspname = '{schema}' AND (pg_has_role({login}, n.nspowner, 'MEMBER') "
            f"OR pg_has_role({login}, c.relowner, 'MEMBER'))) THEN"
        )
        yield (
            f"  RAISE 'the login % is a curator of this ledger, not an analyst: it owns it, is a "
            f"member of the role that does, or a superuser', {login};"
        )
        yield "END IF;"
        tables = (
            f"has_table_privilege({login}, '\"{schema}\".{table}', '{rights}')"
            for table, rights in [("meta", f"INSERT, {_MORE}"), *_GROW]
        )
        yield (
            f"IF has_schema_privilege({login}, '{schema}', 'CREATE') OR {' OR '.join(tables)} THEN"
        )
        yield (
            f"  RAISE 'the login % may do more with this ledger than an analyst, by a role that it "
            f"is a member of: take that from it first', {login};"
        )
        yield "END IF;"
    yield "END $bayesdp$;"


_MORE = "UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER"
"""What no analyst may do with a table."""
_GROW = [("entries", _MORE), ("results", _MORE)]


def _checked_login(name: str) -> str:
    """The name of a login. Raises `InputError` for one that no server has."""
    checked_analyst(name)
    if len(name.encode()) > LONGEST_LOGIN or name.lower() in ("public", "none"):
        raise InputError(
            "ANALYST",
            name,
            expected=f"the login of an analyst on the server, of at most {LONGEST_LOGIN} bytes",
            remedy="Make it first: CREATE ROLE ada LOGIN.",
        )
    return name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(name: str) -> str:
    # The E form, as a backslash means itself or not depending on a setting; $ would end a body.
    letters = name.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\044")
    return f"E'{letters}'"


_RULES = """
SELECT 'trigger', c.relname, t.tgname, p.proname,
    t.tgtype::int, t.tgdeferrable AND t.tginitdeferred,
    t.tgenabled = 'A' AND t.tgqual IS NULL AND t.tgnargs = 0 AND t.tgattr = ''::int2vector
    AND t.tgoldtable IS NULL AND t.tgnewtable IS NULL AND t.tgparentid = 0
    AND p.pronamespace = c.relnamespace AND NOT p.prosecdef AND l.lanname = 'plpgsql'
    AND p.prokind = 'f' AND p.pronargs = 0 AND p.proconfig = %s AND p.proowner = c.relowner
    AND p.probin IS NULL, p.prosrc
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = t.tgfoid
    JOIN pg_language l ON l.oid = p.prolang
  WHERE n.nspname = %s AND NOT t.tgisinternal
UNION ALL SELECT 'index', c.relname, i.relname, '', x.indisunique::int,
    x.indexprs IS NOT NULL OR x.indpred IS NOT NULL, TRUE, pg_get_indexdef(i.oid)
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = %s AND i.relname LIKE 'rule%%'
ORDER BY 1, 2, 3
"""


def rule_faults(connection: Connection, schema: str) -> tuple[list[LedgerFault], set[str]]:
    """Triggers of a ledger that are not the rules, or some of them only; and its rules' indexes.

    `schema` is the name of the ledger's schema. No triggers at all is a ledger without roles.
    """
    missing, faults, indexes = set(_TRIGGERS), [], set()
    triggers = connection.exec_driver_sql(_RULES, (_SETTINGS, schema, schema))
    for kind, table, name, function, number, late, usual, text in triggers:
        if kind == "index":
            if (table, number, late) == ("entries", 0, False) and text.endswith(
                f" USING btree ({_INDEXES.get(name)})"
            ):
                indexes.add(name)
            continue
        expected = _TRIGGERS.get((table, name))
        if expected is None:
            words = f"a ledger has none on the table {table}: remove it"
            faults.append(LedgerFault(f"trigger {name}", words))
            continue
        missing.discard((table, name))
        as_made = (name, expected[0], expected[3], True, _body(name, schema))
        if (function, number, late, usual, text) != as_made:
            words = f"on the table {table} it is not as `bayesdp ledger grants` makes it"
            faults.append(LedgerFault(f"trigger {name}", f"{words}: {_AGAIN}"))
    if len(missing) < len(_TRIGGERS):
        for table, name in sorted(missing):
            words = f"the table {table} has other rules and not this one: {_AGAIN}"
            faults.append(LedgerFault(f"trigger {name}", words))
    return faults, indexes


_AGAIN = "let its owner run what `bayesdp ledger grants` prints"


__all__ = ["REFUSED", "grants", "rule_faults"]
