"""A law of records is one of states that a record can have: covered columns against the model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.stated import check_together
from bayesdp.release import Study
from bayesdp.statements import StatementError, read_columns, read_population
from bayesdp.statements.columns import check_law

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
    "a column of numbers": (NUMBERS, law(2), ["x"], "states that the model doesn't have"),
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


FOUR_ROWS = SimpleNamespace(unit="row", n=4, rows_per_unit=None)


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
