"""Column declarations: everything that can be meant, and everything that can't."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.statements.times import TimeStep
from bayesdp.tables.cells import reading
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column, group_keys
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import open_table


def test_every_kind_is_read() -> None:
    columns = parse_columns(
        {
            "family": {"role": "cluster"},
            "person": {"role": "series"},
            "t": {"role": "order", "step": 1},
            "day": {"role": "order", "step": "15 minutes"},
            "height": {"bounds": [120, 220.5], "unit": "cm", "missing": "refuse"},
            "weight": {"bounds": [0, 200], "missing": {"impute": 70}, "independent": True},
            "sick": {"states": ["yes", "no"], "missing": {"impute": "no"}},
            "level": {"from": "height", "cuts": [150, 180]},
            "tall": {"from": "height", "where": "height > 180"},
            "sex": {"public": True, "states": ["f", "m"]},
            "site": {"public": True},
            "north": {"from": "site", "where": "site == 'n'"},
        }
    )
    kinds = "cluster series order order numeric numeric discrete cuts where discrete public where"
    assert [column.kind for column in columns.values()] == kinds.split()
    private = {name for name, column in columns.items() if column.is_private}
    assert private == {"height", "weight", "sick", "level", "tall"}
    assert columns["level"].levels == (0, 1, 2)
    assert columns["tall"].levels == (0, 1)
    assert columns["weight"].imputed == 70
    assert columns["height"].imputed is None
    assert columns["day"].time_step == TimeStep(900)
    assert columns["t"].time_step is None
    assert columns["height"].bounds == (120.0, 220.5)
    assert columns["weight"].independent
    assert columns["north"].is_public, "what is computed from a public column is public"
    assert group_keys(columns, "sex") == ("f", "m")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"bound": [0, 1]}, "c.bound"),
    ({"bounds": [math.nan, 1]}, "c.bounds"),
    ({"bounds": [0, math.inf]}, "c.bounds"),
    ({"bounds": [1, 1]}, "c.bounds"),
    ({"bounds": [2, 1]}, "c.bounds"),
    ({"bounds": [0, 10**400]}, "c.bounds"),
    ({"bounds": [0, 1, 2]}, "c.bounds"),
    ({"bounds": ["0", "1"]}, "c.bounds"),
    ({"bounds": [False, True]}, "c.bounds"),
    ({"bounds": 5}, "c.bounds"),
    ({"states": []}, "c.states"),
    ({"states": ["a", "a"]}, "c.states"),
    ({"states": [1, 1.0]}, "c.states"),
    ({"states": ["a", 1]}, "c.states"),
    ({"states": [""]}, "c.states"),
    ({"states": [math.nan]}, "c.states"),
    ({"states": [2**60]}, "c.states"),
    ({"states": [["a"]]}, "c.states"),
    ({"states": "ab"}, "c.states"),
    ({"states": ["a"], "bounds": [0, 1]}, "c.states"),
    ({"from": "x", "cuts": [2, 1]}, "c.cuts"),
    ({"from": "x", "cuts": [1, 1]}, "c.cuts"),
    ({"from": "x", "cuts": []}, "c.cuts"),
    ({"from": "x", "cuts": [math.inf]}, "c.cuts"),
    ({"from": "x"}, "c.from"),
    ({"from": "x", "cuts": [1], "where": "x > 1"}, "c.from"),
    ({"from": "c", "cuts": [1]}, "c.from"),
    ({"from": "d", "cuts": [1]}, "c.from"),
    ({"from": "", "cuts": [1]}, "c.from"),
    ({"cuts": [1], "public": True}, "c.cuts"),
    ({"from": "x", "where": "y > 1"}, "c.where"),
    ({"from": "x", "where": "x >"}, "c.where"),
    ({"from": "x", "cuts": [1], "public": True}, "c.public"),
    ({"from": "x", "cuts": [1], "missing": {"impute": 1}}, "c.missing"),
    ({"from": "s", "cuts": [1]}, "c.cuts"),
    ({"role": "clusters"}, "c.role"),
    ({"role": ["cluster"]}, "c.role"),
    ({"role": "order"}, "c.step"),
    ({"role": "order", "step": 0}, "c.step"),
    ({"role": "order", "step": math.nan}, "c.step"),
    ({"role": "order", "step": "soon"}, "c.step"),
    ({"role": "cluster", "step": 1}, "c.step"),
    ({"role": "cluster", "public": False}, "c.public"),
    ({"role": "cluster", "independent": True}, "c.independent"),
    ({"public": True, "independent": True}, "c.independent"),
    ({"public": 1}, "c.public"),
    ({"independent": "yes", "bounds": [0, 1]}, "c.independent"),
    ({"bounds": [0, 1], "unit": 3}, "c.unit"),
    ({"bounds": [0, 1], "missing": "drop"}, "c.missing"),
    ({"bounds": [0, 1], "missing": {"impute": 2}}, "c.missing.impute"),
    ({"bounds": [0, 1], "missing": {"impute": math.nan}}, "c.missing.impute"),
    ({"bounds": [0, 1], "missing": {"impute": "x"}}, "c.missing.impute"),
    ({"states": ["a"], "missing": {"impute": "b"}}, "c.missing.impute"),
    ({"public": True, "missing": {"impute": "b"}}, "c.missing"),
    ({"name": "x", "bounds": [0, 1]}, "c.name"),
    ({"source": "x", "cuts": [1]}, "c.source"),
    ({}, "c"),
    ({"bounds": [0, 1], "unit": "cm\x1b[2J"}, "c.unit"),  # a terminal would obey
    ({"states": ["a", "b\x1b[2J"]}, "c.states"),
]


@pytest.mark.parametrize(("spec", "key"), WRONG, ids=[str(spec)[:50] for spec, _ in WRONG])
def test_wrong_declarations_name_the_key(spec: dict[str, Any], key: str) -> None:
    others = {
        "x": {"bounds": [0, 10]},
        "s": {"states": ["a"]},
        "d": {"from": "x", "cuts": [1]},
    }
    with pytest.raises(InputError) as error:
        parse_columns({**others, "c": spec})
    assert error.value.key == f"data.columns.{key}"


def test_did_you_mean() -> None:
    with pytest.raises(InputError, match="Did you mean 'bounds'"):
        parse_columns({"c": {"bound": [0, 1]}})


@pytest.mark.parametrize("raw", [3, {"c": 3}, {"c": [0, 1]}])
def test_not_a_table(raw: Any) -> None:
    with pytest.raises(InputError):
        parse_columns(raw)


def test_columns_are_frozen() -> None:
    column = Column(name="c", bounds=(0.0, 1.0))
    with pytest.raises(ValueError, match="frozen"):
        column.public = True  # type: ignore[misc]


@pytest.mark.parametrize(
    ("by", "words"),
    [("x", "is private"), ("nothing", "declared public column"), ("site", "group keys")],
)
def test_group_keys_are_refused_with_the_remedy(by: str, words: str) -> None:
    columns = parse_columns({"x": {"states": ["a"]}, "site": {"public": True}})
    with pytest.raises(InputError, match=words) as error:
        group_keys(columns, by, "query.q.by")
    assert error.value.key == "query.q.by"
    assert error.value.remedy


@pytest.mark.parametrize("states", [[0, 1], [1, 0], [1], [True, False]])
def test_booleans_are_states_0_and_1_too(states: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"b": [True, False, True, None]}).astype({"b": "boolean"})
    frame.to_parquet(tmp_path / "b.parquet")
    columns = parse_columns({"b": {"states": states}})
    for source in (frame, "b.parquet"):
        table = open_table(source, tmp_path)
        value = reading.read(table, columns, "b")
        shown = value.value.name("b").as_table().to_pyarrow()["b"].to_pylist()
        assert shown == [1, None if states == [1] else 0, 1, None]
        actual = {finding.code for finding in inspect(table, columns, Structure())}
        assert actual == {"missing"} | ({"undeclared"} if states == [1] else set())


def test_booleans_are_no_other_numbers() -> None:
    table = open_table(pd.DataFrame({"b": [True, False]}))
    for declared in ({"states": [0, 2]}, {"bounds": [0, 1]}, {"states": ["0", "1"]}):
        with pytest.raises(InputError, match="declare states = \\[true, false\\] or \\[0, 1\\]"):
            inspect(table, parse_columns({"b": declared}), Structure())
