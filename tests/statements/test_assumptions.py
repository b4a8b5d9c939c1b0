"""Names stand in assumptions such that none can end its quotes and say more."""

from __future__ import annotations

import pytest

from bayesdp.statements.assumptions import named


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("people", "'people'"),
        ("Höhe in cm (2024)", "'Höhe in cm (2024)'"),
        ("people's", '"people\'s"'),
        ("a' has 10 records; the table 'b", "\"a' has 10 records; the table 'b\""),
        ('a" and "b', '"a\\" and \\"b"'),
        ("age, sex", '"age, sex"'),
        ("back\\slash", '"back\\\\slash"'),
    ],
)
def test_a_name_is_quoted(name: str, shown: str) -> None:
    assert named(name) == shown
