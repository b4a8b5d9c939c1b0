"""Times in PostgreSQL that engines write in different ways have the same place in an order."""

from __future__ import annotations

from bayesdp.tables.source import open_table
from tests.postgres_server import Server
from tests.tables.far_times import DAYS, far_times, texts_of_times


def test_far_times_have_the_same_texts(postgres: Server) -> None:
    moment = "(date '1970-01-01' + {0})::timestamp + interval '1 microsecond'"
    row = f"{{1}}, date '1970-01-01' + {{0}}, {moment}, ({moment}) AT TIME ZONE 'UTC'"
    postgres.run(
        "CREATE TABLE far_times (i int8, day date, time timestamp, zoned timestamptz)",
        *(f"INSERT INTO far_times SELECT {row.format(day, i)}" for i, day in enumerate(DAYS[:-1])),
        f"INSERT INTO far_times VALUES ({len(DAYS) - 1}, NULL, NULL, NULL)",
        "CREATE TABLE endless (i int8, day date, time timestamp, zoned timestamptz)",
        "INSERT INTO endless VALUES (0, 'infinity', '-infinity', 'infinity')",
    )
    there = open_table(postgres.url("far_times"))
    assert texts_of_times(there) == texts_of_times(open_table(far_times()))
    assert texts_of_times(open_table(postgres.url("endless"))) == [(0, "", "", "")]
