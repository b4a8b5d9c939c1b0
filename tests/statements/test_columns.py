"""Columns: what states one, what states nothing or two things, and how a set hangs together."""

from __future__ import annotations

from typing import Any

import pytest

from bayesdp.errors import InputError
from bayesdp.statements import StatementError, label, read_columns
from bayesdp.tables.columns.declarations import parse_columns

GOOD: list[dict[str, Any]] = [
    {"height": {"bounds": [120, 220], "unit": "cm", "missing": {"impute": 170}}},
    {"ill": {"states": [0, 1], "missing": "refuse"}, "sex": {"states": ["f", "m"]}},
    {"ok": {"states": [True, False]}, "n": {"states": [0.5, 1, 2]}},
    {"steps": {"bounds": [0, 1e5]}, "active": {"from": "steps", "cuts": [0.5, 8000]}},
    {"active": {"from": "steps", "where": "steps > 0"}, "low": {"from": "steps", "cuts": [3]}},
    {"day": {"role": "order", "step": 1}, "weekend": {"from": "day", "cuts": [5], "public": True}},
    {"family": {"role": "cluster", "states": ["a", "b"]}, "who": {"role": "member", "states": [1]}},
    {"day": {"role": "order", "step": "15 minutes", "states": ["2026-02-01"], "unit": "UTC"}},
    {"series": {"role": "series", "public": True}, "region": {"public": True, "states": ["n"]}},
    {"x": {"bounds": [0, 9], "missing": {"codes": [-9, "k.A.", 5], "impute": 1}}},
    {"s": {"states": ["a", "b"], "missing": {"codes": ["c"]}}},
    {"x": {"bounds": [0, 1], "public": True}, "y": {"bounds": [0, 1], "independent": True}},
]


@pytest.mark.parametrize("plain", GOOD)
def test_columns_that_the_package_takes_are_statements(plain: dict[str, Any]) -> None:
    parse_columns(plain)
    assert set(read_columns(plain)) == set(plain)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"a": {"states": ["n"] * 10}}, "twice"),
    ({"a": {"states": [0, 1, 1.0]}}, "twice"),
    ({"a": {"states": [0, True]}}, "kinds"),
    ({"a": {"states": ["x", "y\u001b[2J"]}}, "shown"),
    ({"a": {"states": [""]}}, "empty"),
    ({"a": {"states": []}}, "at least 1"),
    ({"a": {"states": [2**53 + 2]}}, "exact"),
    ({"a": {"bounds": [1, 0]}}, "below"),
    ({"a": {"bounds": [0, True]}}, "truth value"),
    ({"a": {"bounds": None}}, "a list, not null"),
    ({"a": {"bounds": [0, float("inf")]}}, "finite"),
    ({"a": {"bounds": [0, 10**400]}}, "a"),
    ({"a": {"bounds": [0, 1], "states": [0, 1]}}, "belong"),
    ({"a": {"bounds": [0, 1], "unit": "cm\n  - all checked"}}, "shown"),
    ({"a": {"bounds": [0, 1], "missing": {"impute": 2}}}, "outside"),
    ({"a": {"bounds": [0, 1], "missing": []}}, "missing"),
    ({"a": {"states": [0, 1], "missing": {"impute": True}}}, "not a state"),
    ({"a": {"states": [0, 1], "missing": {"codes": [1]}}}, "the code of a missing value"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [1.0], "impute": 1}}}, "one of the codes"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": []}}}, "at least 1"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [9, 9.0]}}}, "twice"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [True]}}}, "exact"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [2**53]}}}, "exact"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [float("nan")]}}}, "codes"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [" "]}}}, "empty"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": ["k\u202e"]}}}, "shown"),
    ({"a": {"bounds": [0, 1], "missing": {"codes": [9], "values": [8]}}}, "belong"),
    ({"a": {"role": "cluster", "missing": {"codes": [9]}}}, "refuse"),
    ({"a": {"public": True, "missing": {"codes": [9]}}}, "refuse"),
    ({"a": {"from": "b", "cuts": [1, 1]}}, "increase"),
    ({"a": {"from": "b", "cuts": [1], "where": "b > 1"}}, "belong"),
    ({"a": {"from": "a", "cuts": [1]}}, "another"),
    ({"a": {"from": "b", "cuts": [1]}, "b": {"from": "c", "cuts": [1]}}, "derived"),
    ({"a": {"from": "b", "cuts": [1]}, "b": {"states": ["x"]}}, "not numbers"),
    ({"h": {"bounds": [0, 9]}, "tall": {"from": "h", "cuts": [5], "public": True}}, "private one"),
    ({"h": {"public": True}, "tall": {"from": "h", "cuts": [5]}}, "public one"),
    (
        {"tall": {"from": "h", "cuts": [5], "public": True}, "short": {"from": "h", "cuts": [4]}},
        "one column",
    ),
    ({"act = steps cut at [8000.0]": {"states": [0, 1]}}, "definition"),
    ({"a": {"role": "order", "step": -1}}, "step"),
    ({"a": {"role": "order", "step": True}}, "step"),
    ({"a": {"role": "order", "step": "0 days"}}, "step"),
    ({"a": {"role": "order"}}, "missing"),
    ({"a": {"role": "order", "step": 1, "states": ["mon"]}}, "another kind"),
    ({"a": {"role": "cluster", "step": 1}}, "belong"),
    ({"a": {"role": "cluster", "public": False}}, "True"),
    ({"a": {"role": "member"}}, "missing"),
    ({"a": {"role": "chief"}}, "role"),
    ({"a": {"role": "cluster"}, "b": {"role": "cluster"}}, "one role"),
    ({"a": {"public": True, "independent": True}}, "not protected"),
    ({"a": {"public": "yes"}}, "true is due"),
    ({"a": {"public": 1}}, "true is due"),
    ({"a": {"role": "cluster", "public": 1}}, "true is due"),
    ({"a": {"role": "cluster", "public": 1.0}}, "true is due"),
    ({"a": {"bounds": [0, 1], "independent": 1}}, "true or false, not 1"),
    ({"a": {}}, "missing"),
    ({"a\u202e": {"public": True}}, "shown"),
    ({"": {"public": True}}, "at least 1"),
    ({"a": {"colour": "red", "public": True}}, "belong"),
    ({"a": {"source": "b", "cuts": [1]}}, "missing"),
]


@pytest.mark.parametrize(("plain", "reason"), BAD)
def test_what_states_nothing_or_two_things_is_refused(plain: dict[str, Any], reason: str) -> None:
    with pytest.raises(StatementError, match=reason):
        read_columns(plain)


@pytest.mark.parametrize("plain", [plain for plain, _ in BAD])
def test_the_package_refuses_it_too(plain: dict[str, Any]) -> None:
    """All but two columns of one role, which a study is held to, and what becomes public."""
    if "b" in plain and "role" in plain["b"]:
        return
    if "h" in plain and plain["h"] == {"public": True}:
        assert parse_columns(plain)["tall"].is_public
        return
    with pytest.raises(InputError):
        parse_columns(plain)


def test_labels_tell_all_columns_apart() -> None:
    columns = read_columns(GOOD[4] | {"steps": {"bounds": [0, 9]}})
    labels = {label(name, column) for name, column in columns.items()}
    assert labels == {"active = (steps > 0) of steps", "low = steps cut at [3.0]", "steps"}
