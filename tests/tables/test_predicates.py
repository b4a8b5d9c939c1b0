"""The language of `where`: what it accepts means the same in the engine and in Python."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.query import CountQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run

COLUMNS = parse_columns(
    {
        "x": {"bounds": [-5, 5]},
        "role": {"states": ["child", "it's", 'say "hi"']},
        "grade": {"states": [1, 2, 3]},
        "ok": {"states": [True, False]},
        "high": {"from": "x", "where": "x > 1"},
        "site": {"public": True},
    }
)
ROWS = [
    {"x": float(x), "role": role, "grade": grade, "ok": ok, "high": int(x > 1), "site": site}
    for x, role, grade, ok, site in itertools.product(
        (-5, -0.0, 0.1, 1, 2.5), ("child", "it's", 'say "hi"'), (1, 3), (True, False), ("a", "b")
    )
]
ACCEPTED = [
    "x > 0",
    "0 < x <= 2.5",
    "1 >= x",
    "x == 0.1",
    "x == -5 or x == +2.5",
    "x in [0.1, 1]",
    "x not in (0.1, -5)",
    "role == 'child'",
    'role == "it\'s"',
    "role != 'say \"hi\"'",
    "role in ['child', \"it's\"] and not (grade >= 2)",
    "grade == 3 or ok == False and x < 1",
    "ok == True",
    "high == 1",
    "high == True and x > 0",
    "site == 'a' and site != 'b'",
    "not not x >= 1",
    "grade in {1, 2}",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_engine_and_python_agree(text: str) -> None:
    predicate = Predicate.parse(text, COLUMNS)
    table = open_table(pd.DataFrame(ROWS).drop(columns="high"))
    total = run(table, COLUMNS, [CountQuery("q", predicate)])
    count = sum(predicate.holds(row) for row in ROWS)
    assert total["q"].values[None] == (count,)
    assert 0 < count < len(ROWS)


def test_columns_read() -> None:
    assert Predicate.parse("x > 0 or site == 'a'", COLUMNS).columns == {"x", "site"}


REFUSED = [
    ("", "comparisons"),
    ("x >", "comparisons"),
    ("x", "Write x == 1"),
    ("5", "comparisons"),
    ("x > y", "a literal"),
    ("x > role", "a literal"),
    ("1 < 2", "a column on one side"),
    ("x + 1 > 2", "a column on one side"),
    ("x > 1 + 1", "a literal"),
    ("abs(x) > 1", "a column on one side"),
    ("x is 1", "comparisons"),
    ("x > 1 if x else 0", "comparisons"),
    ("__import__('os')", "comparisons"),
    ("x.real > 1", "a column on one side"),
    ("x in 'abc'", "a list of literals"),
    ("x in []", "a list of literals"),
    ("x in [[1]]", "a literal"),
    ("heigt > 1", "a declared column"),
    ("x == 'child'", "number"),
    ("role == 1", "text"),
    ("role == True", "text"),
    ("role == 'chld'", "Did you mean 'child'"),
    ("role in ['child', 'nobody']", "a declared state"),
    ("role < 'child'", "expected ==, != or in, because 'role' is read as a text"),
    ("site >= '2026-02-01'", 'role = "order", step = "1 day"'),
    ("grade == 4", "a declared state"),
    ("ok == 1", "boolean"),
    ("site == 'a' or site == 1", "text"),
    ("x > 1e999", "a finite number"),
    ("x > 9007199254740993", "at most 2"),
    ("x > -'a'", "a literal number"),
    ("x > None", "a literal"),
    ("x > 1j", "a literal"),
    ("not " * 60 + "x > 1", "levels of nesting"),
    ("x > 1 or " * 2000 + "x > 1", "characters"),
    ("(" * 500 + "x > 1" + ")" * 500, "comparisons"),
    ("x > 1\0", "comparisons"),
    ("x > 1; x > 2", "comparisons"),
    ("(x := 1) > 0", "a column on one side"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[text[:30] for text, _ in REFUSED])
def test_everything_else_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        Predicate.parse(text, COLUMNS, key="query.q.where")
    assert error.value.key == "query.q.where"
