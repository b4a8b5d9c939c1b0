"""Tables that have probability 0 under the declared population: no level is about them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import TableMismatchError
from bayesdp.release import Study
from bayesdp.tables.refusals import BY_CALL, BY_COMMAND, mismatch
from tests.effort import runs

DIES = {
    "model": "markov",
    "transition": [[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]],
    "initial": [0.9, 0.1, 0.0],
    "length": 4,
}
SERIES: dict[str, Any] = {
    "who": {"role": "series"},
    "day": {"role": "order", "step": 1},
    "state": {"states": ["well", "ill", "dead"]},
}
GOOD = pd.DataFrame(
    {
        "who": [1, 1, 1, 2, 2],
        "day": [3, 4, 6, 1, 3],
        "state": ["well", "ill", "dead", "ill", "dead"],
    }
)


def study(folder: Path, table: pd.DataFrame, population: dict[str, Any], **columns: Any) -> Study:
    covers = list(columns)[-1:]
    states = columns[covers[0]].get("states", [0, 1])
    return Study(
        table,
        dataset="impossible",
        n=len(table),
        columns=columns,
        population={**population, "covers": covers},
        budget={"epsilon": 1.0},
        queries=[{"name": "q", "kind": "count", "where": f"{covers[0]} == {states[-1]!r}"}],
        ledger=str(folder / "ledger.db"),
    )


def refusal(made: Study) -> str:
    """What everybody is told."""
    with pytest.raises(TableMismatchError) as error:
        made.release()
    assert made.spends() == []
    return str(error.value)


def findings(made: Study) -> str:
    """What the curator is told, of a table that everybody else is refused in the usual words."""
    (finding,) = made.inspect()
    assert finding.code == "impossible"
    assert refusal(made) == str(mismatch()).replace(BY_COMMAND, BY_CALL)
    return finding.message


def test_a_possible_table_is_released_with_its_gaps(tmp_path: Path) -> None:
    made = study(tmp_path, GOOD, DIES, **SERIES)
    assert made.inspect() == []
    made.release()


@pytest.mark.parametrize(
    ("row", "state", "words"),
    [
        (0, "dead", "'dead' in the first record of a series (1 time); 'ill' 1 step after 'dead'"),
        (2, "well", "'well' 2 steps after 'ill' (1 time)"),
        (4, "well", "'well' 2 steps after 'ill' (1 time)"),
    ],
)
def test_what_a_chain_excludes(tmp_path: Path, row: int, state: str, words: str) -> None:
    table = GOOD.copy()
    table.loc[row, "state"] = state
    assert words in findings(study(tmp_path, table, DIES, **SERIES))


def test_the_order_column_counts_and_not_that_of_the_file(tmp_path: Path) -> None:
    table = GOOD.assign(who=1, day=[1, 2, 4, 5, 6], **{"state": ["well"] * 3 + ["ill", "dead"]})
    for days, possible in (([1, 2, 4, 5, 6], True), ([6, 5, 4, 2, 1], False)):
        made = study(tmp_path, table.assign(day=days), DIES | {"length": 6}, **SERIES)
        codes = [finding.code for finding in made.inspect()]
        assert codes == ([] if possible else ["misordered"])
        backwards = table.assign(day=days).sort_values("day")
        made = study(tmp_path, backwards, DIES | {"length": 6}, **SERIES)
        assert [finding.code for finding in made.inspect()] == ([] if possible else ["impossible"])


def test_states_that_are_derived_of_two_columns_and_of_persons(tmp_path: Path) -> None:
    table = GOOD.assign(who=["a", "a", "a", "b", "b"], steps=[0.0, 3.0, 9.0, 4.0, 8.0])
    level = {"from": "steps", "cuts": [2, 7]}
    columns = {key: SERIES[key] for key in ("who", "day")} | {"steps": {"bounds": [0, 10]}}
    assert study(tmp_path, table, DIES, **columns, level=level).inspect() == []
    down = table.assign(steps=[0.0, 3.0, 1.0, 4.0, 8.0])
    assert "0 2 steps after 1" in findings(study(tmp_path, down, DIES, **columns, level=level))

    turns = {"model": "markov", "length": 4, "transition": np.eye(4)[[3, 0, 1, 2]].tolist()}
    both = pd.DataFrame({"id": [7, 8, 9], "day": [1, 2, 3], "x": [0, 1, 1], "y": ["b", "b", "a"]})
    for values, possible in ((["b", "b", "a"], False), (["a", "b", "a"], True)):
        made = Study(
            both.assign(y=values),
            dataset="two", n=3, unit="id", rows_per_unit=1,
            columns={"id": {"public": True}, "day": {"role": "order", "step": 1},
                     "x": {"states": [0, 1]}, "y": {"states": ["a", "b"]}},
            population={**turns, "covers": ["x", "y"]},
            budget={"epsilon": 1.0}, queries=[{"name": "q", "kind": "count", "where": "x == 1"}],
            ledger=str(tmp_path / "ledger.db"),
        )  # fmt: skip
        assert (made.inspect() == []) == possible


TWINS = {"model": "finite", "probabilities": [[0.4, 0.1], [0.0, 0.5]]}
FAMILY = {"f": {"role": "cluster"}}
COUPLE = pd.DataFrame({"f": [1, 1, 2], "m": ["a", "b", "b"], "s": [0, 1, 0]})


def test_what_a_finite_law_excludes(tmp_path: Path) -> None:
    state = {"s": {"states": [0, 1]}}
    named = TWINS | {"roles": ["a", "b"]}
    member = {"m": {"role": "member", "states": ["b", "a"]}}
    swapped = COUPLE.assign(m=["b", "a", "b"])
    assert study(tmp_path, COUPLE, named, **FAMILY, **member, **state).inspect() == []
    words = findings(study(tmp_path, swapped, named, **FAMILY, **member, **state))
    assert "population: the states of 1 cluster together." in words
    # Without names the records of the table may stand for those of the law either way.
    assert study(tmp_path, swapped, TWINS, **FAMILY, **state).inspect() == []
    alike = {"model": "finite", "probabilities": [[0.5, 0.0], [0.0, 0.5]]}
    assert "1 cluster together" in findings(study(tmp_path, COUPLE, alike, **FAMILY, **state))
    same = COUPLE.assign(s=[1, 1, 0])
    assert study(tmp_path, same, alike, **FAMILY, **state).inspect() == []
    alone = {"model": "finite", "probabilities": [1.0, 0.0]}
    assert "1 cluster together" in findings(study(tmp_path, COUPLE, alone, **state))
    assert study(tmp_path, COUPLE.assign(s=0), alone, **state).inspect() == []


def test_what_a_graph_excludes(tmp_path: Path) -> None:
    tree = {
        "model": "tree",
        "nodes": [
            {"name": "root", "law": [1.0, 0.0]},
            {"name": "left", "parent": "root", "transition": [[0.5, 0.5], [0.5, 0.5]]},
            {"name": "right", "parent": "root", "transition": [[0.5, 0.5], [0.5, 0.5]]},
        ],
    }
    state = {"s": {"states": ["no", "yes"]}}
    table = pd.DataFrame({"s": ["yes", "no", "yes"]})
    assert study(tmp_path, table, tree, **state).inspect() == []
    words = findings(study(tmp_path, table.assign(s="yes"), tree, **state))
    assert "'yes', which 2 records can have (3 times)" in words
    grid = {"model": "graph", "grid": [1, 3], "table": [[1, 0], [0, 0]]}
    words = findings(study(tmp_path, table, grid, **state))
    assert "'yes', which no records can have (2 times)" in words


def test_a_family_is_left_only_where_all_its_members_are(tmp_path: Path) -> None:
    revives = DIES | {"transition": [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.5, 0.0, 0.5]]}
    family = {"model": "family", "members": [DIES, revives]}
    back = GOOD.assign(**{"state": ["well", "ill", "well", "ill", "ill"]})
    assert study(tmp_path, back, family, **SERIES).inspect() == []
    mixed = GOOD.assign(**{"state": ["well", "ill", "well", "ill", "dead"]})
    assert "every member of the family" in findings(study(tmp_path, mixed, family, **SERIES))


def test_other_faults_come_first(tmp_path: Path) -> None:
    """Where records are not in the declared order, nothing is said of what can follow what."""
    table = GOOD.assign(day=[3, 4, 4, 1, 3], **{"state": ["dead", "ill", "dead", "ill", "dead"]})
    codes = [finding.code for finding in study(tmp_path, table, DIES, **SERIES).inspect()]
    assert codes == ["duplicate-order"]
    unknown = GOOD.assign(**{"state": ["well", "gone", "dead", "ill", "dead"]})
    codes = [finding.code for finding in study(tmp_path, unknown, DIES, **SERIES).inspect()]
    assert codes == ["undeclared"]


def test_every_table_of_a_random_chain(tmp_path: Path) -> None:
    """From the table to the refusal, compared with all paths of the chain."""
    rng = np.random.default_rng(5)
    for number in range(runs(40)):
        moves = rng.random((2, 2, 2)) < 0.6
        moves[..., 0] |= ~moves.any(axis=-1)
        start = rng.random((2, 2)) < 0.5
        start[0, 0] = True
        chain = {
            "model": "markov",
            "order": 2,
            "transition": (moves / moves.sum(axis=-1, keepdims=True)).tolist(),
            "initial": (start / start.sum()).tolist(),
            "length": 5,
        }
        paths = [
            path
            for path in itertools.product((0, 1), repeat=5)
            if start[path[:2]] and all(moves[path[i : i + 3]] for i in range(3))
        ]
        days = sorted([0, *(rng.choice(4, 3, replace=False) + 1)])
        values = [int(v) for v in rng.integers(0, 2, 4)]
        table = pd.DataFrame({"day": days, "s": values})
        columns = {"day": SERIES["day"], "s": {"states": [0, 1]}}
        made = study(tmp_path, table, chain, **columns)
        possible = any(
            all(path[d] == v for d, v in zip(days, values, strict=True)) for path in paths
        )
        assert (made.inspect() == []) == possible, number
