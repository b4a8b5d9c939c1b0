"""Random studies replayed with one record replaced: nothing moves by more than is paid for.

From tables through the real path to the integers that get noise. What is paid for is what the plan
says and, more strictly, what the kernel computes for itself from the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study
from bayesdp.kernel import check
from bayesdp.kernel.releases import noise_steps
from bayesdp.release.price.plan import Plan, structure_of
from bayesdp.statements.queries import FoundGroupsQuery
from bayesdp.tables.sums.scan import Total, run
from tests.effort import in_full, runs

Row = dict[str, Any]
Spec = dict[str, Any]
Rng = np.random.Generator

CELLS: dict[str, list[Any]] = {
    "team": ["red", "blue"],
    "site": [1, 2],
    "x": [-7.0, -1.0, 0.25, 2.0, 1e9],
    "y": [-9.0, 0.5, 3.0],
    "ill": [0, 1],
    "kind": ["a", "b", "z", "c"],
    "job": [1, 2, 3],
    "shop": ["k", " k", "l", "m", "", None, "x" * 101],
}
"""Extreme cells: beyond the bounds, a code of missing values, texts that are no state or name."""

PLACE = ["team", "site"]
OWN = ["x", "y", "ill", "kind", "job", "shop"]
COLUMNS: Spec = {
    "team": {"public": True, "states": ["red", "blue"]},
    "site": {"public": True, "states": [1, 2]},
    "x": {"bounds": [-1.0, 2.0]},
    "y": {"bounds": [0.5, 3.0], "missing": {"codes": [-9], "impute": 1.0}},
    "ill": {"states": [0, 1]},
    "kind": {"states": ["a", "b", "rest"], "other": "rest"},
    "band": {"from": "x", "cuts": [0.0, 1.0]},
    "tall": {"from": "x", "where": "x > 1"},
    "risk": {"states": [0, 1, 2], "missing": {"impute": 2}},
    "dose": {"bounds": [-4.0, -1.0], "missing": {"impute": -1.5}},
    "shop": {"groups": "from data"},
}
GROUPS: Spec = {"notion": "dp", "epsilon": 4.0, "delta": 1e-6, "mechanism_delta": 5e-7}
"""The budget of a study with groups that are found in the data."""
JOIN = {"table": "jobs.csv", "on": "job", "columns": ["risk", "dose"], "unmatched": "missing"}
WIDE = {
    "records": {name: [f"{name}_a", f"{name}_b"] for name in OWN},
    "position": {"name": "part", "values": ["a", "b"]},
}
PERSON = {"who": {"public": True}}
PART = {"part": {"public": True, "states": ["a", "b"]}}
LINE = {"line": {"public": True}}

RECORDS: dict[str, Spec] = {
    "wide rows": {
        "wide": WIDE | {"row": "line"},
        "unit": "who",
        "max_rows": 3,
        "columns": PERSON | PART | LINE,
    },
    "any rows": {"unit": "who", "max_rows": 2, "columns": PERSON},
    "a row": {},
    "a part": {"wide": WIDE, "columns": PART},
    "two and more": {"unit": "who", "max_rows": 2, "balanced": True, "columns": PERSON},
    "few rows": {"unit": "who", "rows_per_unit": 3, "columns": PERSON},
    "two rows": {"unit": "who", "rows_per_unit": 2, "balanced": True, "columns": PERSON},
    "a wide row": {
        "wide": WIDE | {"row": "line"},
        "unit": "line",
        "rows_per_unit": 2,
        "columns": PART | LINE,
    },
}
"""What a record is; the kinds with the most to go wrong come first."""

NUMBERS = ["x", "y", "dose", "tall", "ill", "band"]
STATES = ["ill", "kind", "band", "tall", "risk"]
PRIVATE = [
    "ill == 1",
    "kind == 'rest' and x > 0",
    "risk != 1",
    "not (tall == 1) or team == 'red'",
    "shop != 'k'",
]
PUBLIC = ["team == 'red'", "site in [1]"]


def some(rng: Rng, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


# -- what is asked ---------------------------------------------------------------------------------


def query(rng: Rng, record: str, name: str) -> Spec:
    """A random query of records of this kind, with all that may stand in it."""
    data = RECORDS[record]
    several, balanced = "unit" in data, "balanced" in data
    products = ["covariance", "regression"]
    averages = ["mean", "variance", *products, "proportion"] if balanced or not several else []
    if not several and rng.random() < 0.15:
        return weighted(rng, name)
    kind = some(rng, ["sum", "count", "histogram", "quantile", "series", *averages])
    made: Spec = {"name": name, "kind": kind}
    if kind == "series":
        return made | series(rng, several)
    average = kind in averages
    if kind in ("sum", "mean", "variance"):
        made["column"] = some(rng, NUMBERS)
    if kind == "covariance":
        made["column"] = some(rng, [["x", "y"], ["ill", "dose"], ["tall", "x"]])
    if kind == "regression":
        made |= {"outcome": some(rng, ["x", "ill"]), "on": some(rng, ["y", ["dose", "band"]])}
    if kind == "histogram":
        made["column"] = some(rng, [*STATES, ["ill", "kind"], ["risk", "ill", "band"], "x"])
        if made["column"] == "x":
            made["bins"] = [-1.0, 0.0, 2.0]
    if kind == "quantile":
        asked = [{"probability": 0.5}, {"probability": 0.9}, {"probabilities": [0.25, 0.5, 0.875]}]
        made |= {"column": some(rng, ["x", "risk", "ill", "dose"]), **some(rng, asked)}
        if made["column"] == "x":
            made["candidates"] = [-1.0, 0.25, 2.0]
        if made["column"] == "dose":
            made["step"] = 0.75
    if kind in ("count", "proportion"):
        made["where"] = some(rng, PRIVATE)
    elif not (average and several) and rng.random() < 0.5:
        made["where"] = some(rng, PUBLIC if average else PRIVATE + PUBLIC)
    if kind == "sum" and rng.random() < 0.3:
        made["weighted_by"] = "y"
    # A part of the table without rows has no average or quantile.
    may_be_empty = kind in (*averages, "quantile") and made.get("where") in PUBLIC
    if not (average and several) and not may_be_empty and rng.random() < 0.5:
        made["by"] = some(rng, ["team", ["team", "site"], ["site", "team"]])
    if several and not average and rng.random() < 0.7:
        made |= caps(rng, made)
    return made


def weighted(rng: Rng, name: str) -> Spec:
    """A random sum, count or ratio with the weights of a survey, on all rows or in groups."""
    kind = some(rng, ["sum", "count", "mean", "proportion"])
    made: Spec = {"name": name, "kind": kind, "weighted_by": "y"}
    if kind in ("sum", "mean"):
        made["column"] = some(rng, NUMBERS)
    if kind in ("count", "proportion") or rng.random() < 0.5:
        made["where"] = some(rng, PRIVATE)
    if rng.random() < 0.5:
        made["by"] = some(rng, ["team", ["team", "site"]])
    return made


def by_shop(rng: Rng, record: str, name: str) -> Spec:
    """A random count by groups that are found in the data."""
    made: Spec = {"name": name, "kind": "count", "by": "shop"}
    if rng.random() < 0.5:
        made["where"] = some(rng, PRIVATE + PUBLIC)
    if "unit" in RECORDS[record] and rng.random() < 0.7:
        made |= caps(rng, made)
    return made


def series(rng: Rng, several: bool) -> Spec:
    """A count or a sum by period, or a count for each state of a private column."""
    made: Spec = {"answers": some(rng, ["periods", "cumulative", "ranges"])}
    made["strategy"] = some(rng, ["auto", "tree", "identity"])
    form = some(rng, ["count", "sum", "states"])
    if form == "states":
        made["column"] = some(rng, STATES)
    else:
        made["by"] = some(rng, ["team", "site"])
    if form == "sum":
        made["column"] = some(rng, NUMBERS)
    if form == "count" or rng.random() < 0.5:
        made["where"] = some(rng, PRIVATE if form == "count" else PRIVATE + PUBLIC)
    return made | (caps(rng, made | {"kind": "series"}) if several and rng.random() < 0.7 else {})


def caps(rng: Rng, asked: Spec) -> Spec:
    """Which rows of a record count, and how far their total goes."""
    if "by" in asked and rng.random() < 0.7:
        groups = {"max_groups": some(rng, [1, 2])} if rng.random() < 0.6 else {}
        return groups | {"max_rows_per_group": some(rng, [1, 2])}
    totals = {"x": [-0.5, 1.75], "y": [1.0, 2.5], "ill": [0.0, 1.0], "dose": [-3.5, -0.5]}
    made = {"max_rows": some(rng, [1, 2])} if rng.random() < 0.6 else {}
    plain = asked["kind"] == "sum" and "weighted_by" not in asked
    if plain and "by" not in asked and asked["column"] in totals:
        made["total_bounds"] = totals[asked["column"]]
    return made


def study(
    rng: Rng,
    record: str,
    number: int,
    frame: pd.DataFrame | None = None,
    changed: Callable[[list[Spec]], list[Spec]] = list,
) -> Study:
    """A random study of a `frame`, or of a table of its own, whose queries are `changed`."""
    budget: Spec = {"epsilon": 4.0, "adversary": "informed"}
    asked = [query(rng, record, f"q{i}") for i in range(4 if in_full() else 2)]
    if rng.random() < 0.4:
        budget = GROUPS
        asked.append(by_shop(rng, record, "shops"))
    elif rng.random() < 0.5:
        budget |= {"delta": 1e-6, "noise": "gaussian"}
    given = RECORDS[record]
    columns = COLUMNS | given.get("columns", {})
    private = [name for name, column in COLUMNS.items() if "public" not in column]
    return Study(
        table(rng, record, random_rows(rng, record)) if frame is None else frame,
        dataset="replayed",
        join=JOIN,
        population={"model": "independent", "covers": private, "source": "us"},
        budget=budget,
        queries=changed(asked),
        ledger=f"{number}.db",
        **(given | {"columns": columns}),
    )


# -- tables that differ in one record --------------------------------------------------------------


def row(rng: Rng, names: list[str]) -> Row:
    return {name: some(rng, CELLS[name]) for name in names}


def wide_row(rng: Rng) -> Row:
    """Two records in a row, which stand in one place."""
    parts = {f"{name}_{part}": some(rng, CELLS[name]) for name in OWN for part in "ab"}
    return row(rng, PLACE) | parts


def random_rows(rng: Rng, record: str) -> list[Row]:
    """The rows of one record; of a record that is a row or a part of one, its own cells."""
    if record == "a row":
        return [row(rng, OWN)]
    if record == "a part":
        return [{f"{name}_a": cell for name, cell in row(rng, OWN).items()}]
    if record in ("a wide row", "wide rows"):
        return [wide_row(rng) for _ in range(1 if record == "a wide row" else some(rng, [1, 2, 3]))]
    sizes = {"few rows": [1, 2, 3, 3], "any rows": [1, 2, 4, 5], "two rows": [2]}
    size = some(rng, sizes.get(record, [2, 3, 5]))
    alike = row(rng, PLACE + OWN)
    return [alike if rng.random() < 0.4 else row(rng, PLACE + OWN) for _ in range(size)]


OTHERS = [
    {"who": f"other {i // 2}", "team": team, "site": site}
    for i, (team, site) in enumerate(
        (t, s) for _ in range(2) for t in ("red", "blue") for s in (1, 2)
    )
]
"""Two rows of each of four other persons, so that no group is empty."""


def table(rng: Rng, record: str, own: list[Row]) -> pd.DataFrame:
    """The table with these rows of the first record; all others are always the same."""
    fixed = np.random.default_rng(7)
    first = {"who": "first", "team": "red", "site": 2}
    if "wide" in RECORDS[record]:
        others = [{**wide_row(fixed), **place} for place in OTHERS]
        kept = {f"{name}_b": some(fixed, CELLS[name]) for name in OWN}
    else:
        others, kept = [{**row(fixed, OWN), **place} for place in OTHERS], {}
    rows = [*({**first, **kept, **cells} for cells in own), *others]
    frame = pd.DataFrame(rows)
    if "line" in RECORDS[record].get("columns", {}):
        return frame  # the numbers of rows are those of a table in this order
    return frame.sample(frac=1.0, random_state=int(rng.integers(2**31)))


def integers(made: Study, plan: Plan, frame: pd.DataFrame) -> list[np.ndarray[Any, Any]]:
    """The integers of each query, a line for each group; of a quantile, its candidates' scores.

    Of groups that are found in the data the counts of all names that a cell may have.
    """
    return integers_of(plan, totals_of(made, plan, frame))


def totals_of(made: Study, plan: Plan, frame: pd.DataFrame) -> list[Total]:
    """What the engine answers to each query of a release."""
    made._data = replace(made._data, source=frame)
    asked = [query.table_query() for query in plan.queries]
    totals = run(made._data.open(), made.spec.columns, asked, structure_of(made.spec))
    return [totals[query.name] for query in plan.queries]


def integers_of(plan: Plan, totals: list[Total]) -> list[np.ndarray[Any, Any]]:
    """What gets noise of these totals, as `integers` has it."""
    return [
        np.array(noised(query, counts_of(query, total.values)), dtype=object)
        for query, total in zip(plan.queries, totals, strict=True)
    ]


def counts_of(query: Any, values: Any) -> list[Any]:
    """The counts by group, or those of all groups that may be found."""
    if query.asked.from_data is None:
        return list(values.values())
    assert values.keys() <= set("klm")
    return [values.get(name, (0,)) for name in "klm"]


def check_alone(query: Any, first: Any, second: Any) -> None:
    """Groups of one table alone are no more, and have no more rows, than the threshold is for."""
    for here, there in ((first, second), (second, first)):
        alone = here[(here > 0) & (there == 0)]
        assert len(alone) <= query.asked.from_data.groups
        assert alone.max(initial=0) <= query.asked.from_data.rows_in_group


def noised(query: Any, counts: list[Any]) -> list[Any]:
    """What gets noise, by group: the counts or sums, scores of a quantile, the sums of a series."""
    if query.asked.series is not None:
        return [query.asked.series.used.sums([number for group in counts for number in group])]
    choice = query.asked.choice
    return [group if choice is None else choice.scores(group) for group in counts]


def distance(query: Any, first: Any, second: Any, *, squared: bool) -> int:
    """How far they are from each other, in l1 or l2 squared; of scores, the largest of a group."""
    moved = abs(first - second)
    if query.asked.choice is not None:
        moved = moved.max(axis=1)
    return int((moved**2).sum() if squared else moved.sum())


# -- the replay ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"job": [1, 2], "risk": [0, 1], "dose": [-9.0, -1.0]}).to_csv("jobs.csv")
    return tmp_path


@pytest.fixture
def due(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far the kernel lets the integers of each query move that it has checked."""
    due: list[int] = []

    def noted(*given: Any, **keys: Any) -> int:
        due.append(sensitivity(*given, **keys))
        return due[-1]

    sensitivity = noise_steps.sensitivity

    def reached(self: FoundGroupsQuery, rows: int) -> tuple[int, int, int]:
        reaches = reach(self, rows)
        due.append(2 * reaches[0])
        return reaches

    reach = FoundGroupsQuery.reach
    monkeypatch.setattr(noise_steps, "sensitivity", noted)
    monkeypatch.setattr(FoundGroupsQuery, "reach", reached)
    return due


def paid(made: Study, due: list[int]) -> Plan:
    """The plan of a release of this study whose certificate is valid; its bounds are in `due`."""
    release = made.release()
    due.clear()
    assert check(release.certificate.to_dict()).verdict == "VALID ASSUMING", made.spec.queries
    plan = made._plan(release.certificate.body["n"])
    assert len(due) == len(plan.queries)
    return plan


@pytest.mark.prove
@pytest.mark.usefixtures("folder")
def test_no_replaced_record_moves_more_than_is_paid_for(due: list[int]) -> None:
    rng = np.random.default_rng(2026)
    records = list(RECORDS)
    for number in range(runs(60, least=2)):
        record = records[number % len(records)]
        made = study(rng, record, number)
        case = (record, made.spec.queries, made.spec.budget)
        plan = paid(made, due)
        squared = plan.dp_rho > 0.0
        seen = [
            integers(made, plan, table(rng, record, random_rows(rng, record)))
            for _ in range(8 if in_full() else 3)
        ]
        for query, kernels, *tables in zip(plan.queries, due, *seen, strict=True):
            pairs = list(combinations(tables, 2))
            if query.asked.from_data is not None:
                for pair in pairs:
                    check_alone(query, *pair)
            furthest = max(distance(query, *pair, squared=squared) for pair in pairs)
            assert furthest <= kernels <= query.sensitivity, (query.name, case)
