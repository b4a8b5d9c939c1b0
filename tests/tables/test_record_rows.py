"""Which rows of a record count: against a reference in plain Python, and in any physical order."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import TableError
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.query import Cap, CountQuery, HistogramQuery, SumQuery
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.left_out import left_out
from bayesdp.tables.sums.scan import run
from tests.effort import runs
from tests.tables.far_times import far_times, texts_of_times

COLUMNS: Mapping[str, Column] = parse_columns(
    {
        "who": {"public": True},
        "team": {"public": True, "states": ["red", "blue", "green"]},
        "x": {"bounds": [0, 10]},
        "ill": {"states": [False, True]},
        "high": {"from": "x", "cuts": [5]},
    }
)
Row = tuple[str, str, float, bool]


def people(seed: int = 0, persons: int = 12, rows: int = 150) -> list[Row]:
    """Rows of persons, many of them equal."""
    rng = np.random.default_rng(seed)
    return [
        (
            f"p{rng.integers(persons)}",
            str(rng.choice(["red", "blue", "green"])),
            float(rng.choice([1.0, 2.5, 7.5])),
            bool(rng.integers(2)),
        )
        for _ in range(rows)
    ]


def frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["who", "team", "x", "ill"])


def digest(*texts: str) -> str:
    return hashlib.md5("\x1f".join(texts).encode(), usedforsecurity=False).hexdigest()


def in_order(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each person in the order in which they count: the definition, in Python."""
    ordered = defaultdict(list)
    for row, copies in Counter(rows).items():
        who, team, x, ill = row
        steps = str(int(x * (2.0**40 / 10.0)))
        for copy in range(copies):
            texts = (who, str(copy), who, team, steps, str(int(ill)))
            ordered[who].append((digest("d", "row", *texts), row))
    return {who: [row for _, row in sorted(keyed)] for who, keyed in ordered.items()}


GRID = Grid.plan(0.0, 10.0, 100, dp_epsilon=1.0, masked=True, rows_per_record=20)
ILL = Predicate.parse("ill == True", COLUMNS)


def totals(rows: pd.DataFrame | str, max_rows: int | None, *queries: Any) -> dict[str, Any]:
    expected = Structure(unit="who", rows_per_unit=None, max_rows=max_rows, dataset="d")
    answer = run(open_table(rows), COLUMNS, queries, expected)
    return {query.name: answer[query.name].values for query in queries}


QUERIES = (
    SumQuery("sum", "x", GRID),
    CountQuery("ill", ILL),
    CountQuery("ill by team", ILL, by="team"),
    HistogramQuery("cells", "high", by="team"),
    CountQuery("two ill rows", ILL, cap=Cap(rows=2)),
    CountQuery("in a team", ILL, by="team", cap=Cap(rows_in_group=1)),
    SumQuery("in one team", "x", GRID, by="team", cap=Cap(groups=1, rows_in_group=2)),
)


@pytest.mark.parametrize("max_rows", [1, 4, None])
def test_the_rows_that_count_are_those_of_the_definition(max_rows: int | None) -> None:
    rows = people()
    counted = [row for person in in_order(rows).values() for row in person[:max_rows]]
    values = totals(frame(rows), max_rows, *QUERIES)
    assert values["sum"] == {None: (sum(GRID.index(x) for _, _, x, _ in counted),)}
    assert values["ill"] == {None: (sum(ill for *_, ill in counted),)}
    for team in ("red", "blue", "green"):
        here = [row for row in counted if row[1] == team]
        assert values["ill by team"][team] == (sum(ill for *_, ill in here),)
        cells = tuple(sum((x >= 5) == high for _, _, x, _ in here) for high in (False, True))
        assert values["cells"][team] == cells


def test_a_cap_keeps_the_first_rows_that_match() -> None:
    rows = people(1)
    values = totals(frame(rows), 6, *QUERIES)
    two, of_team, of_one_team = 0, Counter[str](), Counter[str]()
    for who, person in in_order(rows).items():
        matching = [row for row in person[:6] if row[3]]
        two += min(2, len(matching))
        of_team.update({row[1] for row in matching})
        teams = sorted({row[1] for row in person[:6]}, key=lambda t: digest("d", "group", who, t))
        first = [row for row in person[:6] if row[1] == teams[0]][:2]
        of_one_team[teams[0]] += sum(GRID.index(row[2]) for row in first)
    assert values["two ill rows"] == {None: (two,)}
    for team in ("red", "blue", "green"):
        assert values["in a team"][team] == (of_team[team],)
        assert values["in one team"][team] == (of_one_team[team],)


def test_the_physical_order_of_rows_changes_nothing() -> None:
    rows = frame(people(2, persons=4))
    first = totals(rows, 5, *QUERIES)
    for seed in range(runs(20)):
        assert totals(rows.sample(frac=1.0, random_state=seed), 5, *QUERIES) == first


def test_the_kind_of_file_changes_nothing(tmp_path: Path) -> None:
    """Cells that are texts, doubles or truth values: the same rows count."""
    rows, some = frame(people(6)), (QUERIES[0], QUERIES[-1])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    seen = [totals(str(tmp_path / f"rows.{kind}"), 4, *some) for kind in ("csv", "parquet")]
    assert seen[0] == seen[1] == totals(rows, 4, *some)


def test_no_other_person_changes_which_rows_count() -> None:
    """A person's part of every total is the same, whoever else is in the table."""
    rows = people(3)
    alone = [row for row in rows if row[0] == "p1"]
    others = [row for row in rows if row[0] != "p1"]
    whole, own, rest = (totals(frame(part), 3, *QUERIES) for part in (rows, alone, others))
    for name, parts in whole.items():
        for key, numbers in parts.items():
            added = tuple(a + b for a, b in zip(own[name][key], rest[name][key], strict=True))
            assert numbers == added


def test_copies_of_a_row_count_as_often_as_in_a_random_sample() -> None:
    """Of 20 rows with one ill among them, 4 count: the ill one for a fifth of the persons."""
    rows = [(f"p{i}", "red", 1.0, j == 0) for i in range(1000) for j in range(20)]
    (ill,) = totals(frame(rows), 4, CountQuery("ill", ILL))["ill"][None]
    assert 120 < ill < 280  # 200 +- 12.6; beyond 6 of these with a probability below 1e-8


def test_types_of_cells_have_an_order() -> None:
    """Dates, decimals, huge and missing public numbers: the same integers in any order."""
    rows = frame(people(4, persons=3))
    rng = np.random.default_rng(5)
    rows["at"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(3, size=150), "h")
    rows["size"] = rng.choice([1e300, -0.0, 0.0, np.nan, 2.5], 150)
    columns = parse_columns(
        {name: {"public": True} for name in ("at", "size", "who")}
        | {"x": {"bounds": [0, 10]}, "ill": {"states": [False, True]}}
    )
    expected = Structure(unit="who", max_rows=5, dataset="d")
    seen = {
        str(run(open_table(part), columns, [SumQuery("s", "x", GRID)], expected)["s"].values)
        for part in (rows, rows.iloc[::-1], rows.sample(frac=1.0, random_state=1))
    }
    assert len(seen) == 1


def test_a_cap_without_records_of_several_rows_is_refused() -> None:
    with pytest.raises(TableError):
        run(open_table(frame(people())), COLUMNS, [CountQuery("c", ILL, cap=Cap(rows=1))])


def test_the_curator_learns_how_much_is_left_out() -> None:
    rows = [("a", "red", 1.0, True)] * 5 + [("b", "red", 1.0, True), ("b", "blue", 1.0, False)]
    expected = Structure(unit="who", max_rows=3, dataset="d")
    queries = [CountQuery("ill", ILL, cap=Cap(rows=1)), CountQuery("all", ILL)]
    assert left_out(open_table(frame(rows)), COLUMNS, expected, queries) == [
        "max_rows = 3: 1 (50 %) of 2 records have more rows; 2 (28.6 %) of 7 rows are left out.",
        "Query 'ill': of 4 rows that could count, 2 (50 %) are left out.",
    ]


def test_times_of_years_of_four_digits_have_a_text() -> None:
    """Engines write the others in different ways."""
    texts = texts_of_times(open_table(far_times()))
    assert [day for _, day, _, _ in texts] == [
        *("", "", "", "0001-01-01", "1970-01-01", "9999-12-31", "", "", "")
    ]
    for _, day, time, zoned in texts:
        assert time == zoned == (f"{day} 00:00:00.000001" if day else "")
