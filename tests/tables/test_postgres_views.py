"""Views in PostgreSQL whose rows may differ from query to query are refused before the debit."""

from __future__ import annotations

import pytest

from bayesdp.errors import TableError
from bayesdp.tables.source import open_table
from tests.postgres_server import Server

CALLS = {
    "drawn": "SELECT x, random() AS u FROM calls",
    "of_view": "SELECT u FROM calls_drawn",
    "clock": "SELECT x, extract(epoch FROM clock_timestamp()) AS u FROM calls",
    "statement": "SELECT x, statement_timestamp() AS u FROM calls",
    "sequence": "SELECT nextval('calls_numbers') AS u FROM calls",
    "sentence": "SELECT x FROM calls WHERE x > random()",
    "subquery": "SELECT x FROM calls WHERE EXISTS (SELECT 1 WHERE random() < 0.5)",
    "list": "SELECT x FROM calls WHERE x IN (SELECT (9 * random())::int)",
    "with": "WITH w AS MATERIALIZED (SELECT x + random() AS u FROM calls) SELECT u FROM w",
    "union": "SELECT x::float8 FROM calls UNION ALL SELECT random()",
    "series": "SELECT g AS u FROM calls, generate_series(1, (3 * random())::int) AS g",
    "ordered": "SELECT x FROM calls ORDER BY random() LIMIT 1",
    "window": "SELECT sum(x) OVER (ORDER BY random()) AS u FROM calls",
    "filtered": "SELECT count(*) FILTER (WHERE random() < 0.5) AS u FROM calls",
    "of_ours": "SELECT calls_guess(x) AS u FROM calls",
    "operator": "SELECT x |?| x AS u FROM calls",
    "any": "SELECT x |<?| ANY (ARRAY[1, 2]) AS u FROM calls",
    "aggregate": "SELECT calls_mix(x) AS u FROM calls",
    "moving": "SELECT calls_mix(x) OVER () AS u FROM calls",
    "joined": "SELECT a.x FROM calls a JOIN calls b ON a.x = b.x AND a.x |<?| b.x",
    "same_kind": "SELECT coalesce(nullif(x, (2 * random())::int), 1) AS u FROM calls",
}
STEADY = {
    "time": "SELECT x, now() AS t, current_date AS d, current_timestamp AS u FROM calls",
    "names": "SELECT x AS \":funcid 1598 \", ':funcid 1598 ' AS random FROM calls",
    "of_stable": "SELECT calls_read(x) AS u, md5(x::text) AS v, upper('random()') AS w FROM calls",
    "of_stored": "SELECT u FROM calls_stored",
    "counted": "SELECT count(*), sum(x), string_agg(x::text, ',' ORDER BY x) AS u FROM calls",
}


def test_views_that_call_volatile_functions_are_refused(postgres: Server) -> None:
    """Built-in functions are not dependencies in the catalog; ours are volatile if undeclared."""
    integers = "(x int, y int) RETURNS"
    postgres.run(
        "CREATE TABLE calls (x int)",
        "INSERT INTO calls VALUES (1), (2)",
        "CREATE SEQUENCE calls_numbers",
        "CREATE FUNCTION calls_guess(x int) RETURNS int AS 'SELECT $1' LANGUAGE sql",
        "CREATE FUNCTION calls_read(x int) RETURNS int AS 'SELECT $1' LANGUAGE sql STABLE",
        f"CREATE FUNCTION calls_both{integers} int AS 'SELECT $1 + $2' LANGUAGE sql",
        f"CREATE FUNCTION calls_less{integers} bool AS 'SELECT $1 < $2' LANGUAGE sql",
        "CREATE OPERATOR |?| (LEFTARG = int, RIGHTARG = int, FUNCTION = calls_both)",
        "CREATE OPERATOR |<?| (LEFTARG = int, RIGHTARG = int, FUNCTION = calls_less)",
        "CREATE AGGREGATE calls_mix(int) (SFUNC = calls_both, STYPE = int, INITCOND = '0')",
        *(f"CREATE VIEW calls_{name} AS {query}" for name, query in CALLS.items()),
        "CREATE MATERIALIZED VIEW calls_stored AS SELECT u FROM calls_drawn",
        *(f"CREATE VIEW calls_{name} AS {query}" for name, query in STEADY.items()),
    )
    for name in CALLS:
        with pytest.raises(TableError, match="volatile functions"):
            open_table(postgres.url(f"calls_{name}"))
    for name in STEADY:
        table = open_table(postgres.url(f"calls_{name}"))
        assert table.rows(table.expression) == table.rows(table.expression)
        table.close()
