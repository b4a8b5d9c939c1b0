"""Studies of panels: members of a household over days, from the table to the verdict."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from bayesdp import Study, verify
from bayesdp.errors import InputError, TableMismatchError

PANEL: dict[str, Any] = {
    "model": "panel",
    "series": 3,
    "length": 4,
    "own_previous": 4.0,
    "others_previous": 1.0,
    "others_now": 1.5,
    "covers": ["ill"],
}
CLUSTERS = {"model": "clusters", "size": 12, "covers": ["ill"]}
ROLES: dict[str, dict[str, Any]] = {
    "household": {"role": "cluster", "states": list(range(20))},
    "person": {"role": "series"},
    "day": {"role": "order", "step": 1, "states": list(range(6))},
}


ILL: dict[str, Any] = {"name": "ill", "kind": "proportion", "where": "ill == 1"}
BY_DAY: dict[str, Any] = {"name": "by day", "kind": "count", "where": "ill == 1", "by": "day"}


def table() -> pd.DataFrame:
    """Twenty households of three persons, who are numbered from 0 in each, over four days."""
    days = [
        (household, person, household % 3 + day, (household * person + day) % 3 // 2)
        for household in range(20)
        for person in range(3)
        for day in range(4)
    ]
    return pd.DataFrame(days, columns=["household", "person", "day", "ill"])


def study(rows: pd.DataFrame, tmp_path: Any, **changes: Any) -> Study:
    columns = ROLES | {"ill": {"states": [0, 1]}} | changes.pop("columns", {})
    return Study(
        rows,
        dataset="illness",
        n=len(rows),
        columns={name: column for name, column in columns.items() if column is not None},
        population=changes.pop("population", PANEL),
        budget={"epsilon": 1.0, "ledger": f"sqlite:///{tmp_path}/ledger.db"},
        queries=changes.pop("queries", [ILL]),
    )


@pytest.mark.parametrize("population", [PANEL, CLUSTERS], ids=["panel", "clusters"])
def test_a_release_is_valid(population: dict[str, Any], tmp_path: Any) -> None:
    """Also that of clusters with several series, which have a record of each on a day."""
    rows = table()
    rows["person"] += 3 * rows.household
    release = study(rows, tmp_path, population=population, queries=[ILL, BY_DAY]).release()
    assert verify(release.certificate)


def test_a_panel_costs_less_than_clusters_of_any_dependence(tmp_path: Any) -> None:
    here, there = (
        study(table(), tmp_path, population=population).check().plan
        for population in (PANEL, CLUSTERS)
    )
    assert here.queries[0].error(0.95, 240) < 0.4 * there.queries[0].error(0.95, 240)


def changed(**cells: Any) -> pd.DataFrame:
    """The table with another first row, or with cells of the second person changed."""
    rows = table()
    for name, value in cells.items():
        if callable(value):
            second = rows.person == 1
            rows[name] = rows[name].astype(float)
            rows.loc[second, name] = rows.loc[second, name].map(value)
        else:
            rows.loc[0, name] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (changed(person=7), "panel-size"),
        (changed(day=lambda day: day + 3), "panel-size"),
        (changed(day=lambda day: day + 0.5), "off-step"),
        (changed(day=1), "duplicate-order"),
    ],
    ids=[
        "a fourth person",
        "a person from a later day",
        "half a day off",
        "two records on one day",
    ],
)
def test_other_tables_are_refused(rows: pd.DataFrame, code: str, tmp_path: Any) -> None:
    """Members of a household share its days: each of them may fit, and the household not."""
    other = study(rows, tmp_path, columns={"day": {"role": "order", "step": 1}})
    assert code in [finding.code for finding in other.inspect()]
    with pytest.raises(TableMismatchError):
        other.release()


def test_persons_may_be_numbered_in_each_household_or_in_all(tmp_path: Any) -> None:
    rows = table()
    rows["person"] += 3 * rows.household
    for named in (table(), rows):
        assert study(named, tmp_path).inspect() == []


def test_a_family_of_panels_is_held_against_each(tmp_path: Any) -> None:
    """One of the panels has to fit all clusters: not the series of one and the steps of another."""

    def family(*shapes: tuple[int, int]) -> dict[str, Any]:
        member = {key: value for key, value in PANEL.items() if key != "covers"}
        members = [member | {"series": series, "length": steps} for series, steps in shapes]
        return {"model": "family", "members": members, "covers": ["ill"]}

    for shapes, codes in (([(2, 6), (3, 3)], ["panel-size"]), ([(2, 6), (3, 4)], [])):
        inspection = study(table(), tmp_path, population=family(*shapes)).inspect()
        assert [finding.code for finding in inspection] == codes


@pytest.mark.parametrize("role", ["household", "person", "day"])
def test_each_role_has_to_be_declared(role: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=rf"with the name of yours: {role} = "):
        study(table(), tmp_path, columns={role: None})


def test_stress_raises_odds_ratios_and_opens_the_step(tmp_path: Any) -> None:
    rows = study(table(), tmp_path).stress().rows
    assert [row.name for row in rows] == [
        "declared",
        "stronger by 10%",
        "stronger by 30%",
        "anything at one step",
        "anything",
    ]
    levels = [row.level for row in rows]
    assert levels[:3] == sorted(levels[:3])
    assert levels[0] < levels[1]
