"""A law of records is one of states that a record can have: covered columns against the model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.consistency import check_together
from bayesdp.release import Study
from bayesdp.statements import StatementError, read_columns, read_population
from bayesdp.statements.column_sets import check_law

PAIR: dict[str, Any] = {"pair": {"role": "cluster"}}
NUMBERS: dict[str, Any] = {"x": {"bounds": [0.0, 5.0]}}
STATES: dict[str, Any] = {"s": {"states": [0, 1, 2]}}


def law(states: int) -> dict[str, Any]:
    return {"model": "finite", "probabilities": [[1 / states**2] * states] * states}


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], str]] = {
    "records of 2 and of 3 values, and a column of numbers": (
        NUMBERS,
        {"model": "finite", "probabilities": [[0.125, 0.25, 0.125], [0.125, 0.25, 0.125]]},
        ["x"],
        "different numbers of states",
    ),
    "a column of numbers": (NUMBERS, law(2), ["x"], "have states that the model doesn't have"),
    "two cuts of one column": (
        NUMBERS | {"a": {"from": "x", "cuts": [1.0]}, "b": {"from": "x", "cuts": [2.0]}},
        law(4),
        ["a", "b"],
        "values of 'x', and a law of both",
    ),
    "a column and its cut": (
        STATES | {"a": {"from": "s", "cuts": [2.0]}},
        law(6),
        ["s", "a"],
        "values of 's', and a law of both",
    ),
    "a cut and a condition": (
        NUMBERS | {"a": {"from": "x", "cuts": [2.0]}, "b": {"from": "x", "where": "x >= 2"}},
        law(4),
        ["a", "b"],
        "values of 'x', and a law of both",
    ),
    "a cut that nothing reaches": (
        NUMBERS | {"a": {"from": "x", "cuts": [100.0]}},
        law(2),
        ["a"],
        "no value of 'x' has the state 1",
    ),
}


FOUR_ROWS = SimpleNamespace(unit="row", n=4, rows_per_record=1, max_rows=None, people=None)


@pytest.mark.parametrize("name", WRONG)
def test_the_kernel_and_studies_refuse_a_law_of_other_states(name: str, tmp_path: Path) -> None:
    columns, spec, covers, reason = WRONG[name]
    population = spec | {"covers": covers, "source": "made up"}
    with pytest.raises(InvalidError, match=reason):
        check_together(FOUR_ROWS, read_population(population), read_columns(PAIR | columns))
    table = pd.DataFrame({"pair": [1, 1, 2, 2], "x": 1.0, "s": 0})
    with pytest.raises(InputError, match=r"population\.covers"):
        Study(
            table,
            dataset="people",
            n=4,
            columns=PAIR | columns,
            population=population,
            budget={"notion": "bdp", "epsilon": 1.0},
            queries=[{"name": "all", "kind": "histogram", "column": covers[-1]}],
            ledger=str(tmp_path / "ledger.db"),
        ).check()


def test_one_column_with_all_cuts_is_covered() -> None:
    columns = read_columns(PAIR | NUMBERS | {"a": {"from": "x", "cuts": [1.0, 2.0]}})
    population = read_population(law(3) | {"covers": ["a"]})
    check_together(FOUR_ROWS, population, columns)


@pytest.mark.parametrize(
    ("source", "derived", "missed"),
    [
        ({"bounds": [0, 5]}, {"cuts": [100.0]}, 1),
        ({"bounds": [0, 5]}, {"cuts": [0.0]}, 0),
        ({"bounds": [0, 5]}, {"cuts": [-1.0, 2.0]}, 0),
        ({"bounds": [0, 5]}, {"cuts": [5.0]}, None),
        ({"bounds": [0, 5]}, {"where": "x > 100"}, 1),
        ({"bounds": [0, 5]}, {"where": "x > 3 and x < 1"}, 1),
        ({"bounds": [0, 5]}, {"where": "x >= 0"}, 0),
        ({"bounds": [0, 5]}, {"where": "x == 5"}, None),
        ({"bounds": [0, 5]}, {"where": "x > 4.999999"}, None),
        ({"bounds": [0, 5]}, {"where": "not (x in [1, 2])"}, None),
        ({"states": [0, 1, 2]}, {"cuts": [0.5, 1.5]}, None),
        ({"states": [0, 1, 2]}, {"cuts": [0.5, 0.7]}, 1),
        ({"states": ["a", "b"]}, {"where": "x in ['a', 'b']"}, 0),
        ({"states": [True, False]}, {"where": "x == True"}, None),
    ],
)
def test_every_state_of_a_covered_column_is_reached(
    source: dict[str, Any], derived: dict[str, Any], missed: int | None
) -> None:
    columns = read_columns({"x": source, "d": {"from": "x"} | derived})
    if missed is None:
        check_law(("d",), columns, "covers")
        return
    with pytest.raises(StatementError, match=f"no value of 'x' has the state {missed}"):
        check_law(("d",), columns, "covers")


TABLE = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
ROWS = [[0.5, 0.25, 0.25]] * 3
OF_THREE_STATES: dict[str, dict[str, Any]] = {
    "cells": law(3),
    "a chain": {"model": "markov", "transition": ROWS, "length": 4},
    "a chain between bounds": {
        "model": "markov",
        "transition_lower": [[0.2] * 3] * 3,
        "transition_upper": [[0.6] * 3] * 3,
        "length": 4,
    },
    "a tree": {
        "model": "tree",
        "nodes": [
            {"name": "a", "law": ROWS[0]},
            {"name": "b", "parent": "a", "transition": ROWS},
        ],
    },
    "a network": {"model": "network", "nodes": [{"name": "a", "states": 3, "table": ROWS[0]}]},
    "factors": {
        "model": "graph",
        "records": 2,
        "states": 3,
        "factors": [{"between": [0, 1], "table": TABLE}],
    },
    "edges": {"model": "graph", "records": 2, "edges": [[0, 1]], "table": TABLE},
    "a grid": {"model": "graph", "grid": [2, 2], "table": TABLE},
}


@pytest.mark.parametrize("form", OF_THREE_STATES)
def test_each_form_of_a_law_has_the_states_of_its_column(form: str) -> None:
    population = read_population(OF_THREE_STATES[form] | {"covers": ["s"]})
    order: dict[str, Any] = {"t": {"role": "order", "step": 1}} | PAIR
    roles = order if form.startswith("a chain") else PAIR
    three, two = (read_columns(roles | {"s": {"states": list(range(n))}}) for n in (3, 2))
    stated: Any = SimpleNamespace(unit="row", n=1, rows_per_record=1, max_rows=None, people=None)
    check_together(stated, population, three)
    with pytest.raises(InvalidError, match="states that the model doesn't have"):
        check_together(stated, population, two)
