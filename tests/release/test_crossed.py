"""Tables of several ways: groups by several public columns, cells of several private ones."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.errors import InputError, TableMismatchError, UnknownNameError
from bayesdp.release import Study
from bayesdp.release.price.plan import PlannedQuery
from bayesdp.report.plain import check_document
from bayesdp.tables.source import open_table
from bayesdp.tables.sums import scan
from bayesdp.tables.sums.scan import run

Document = dict[str, Any]
COLUMNS: Document = {
    "region": {"public": True, "states": ["north", "south"]},
    "sex": {"public": True, "states": ["f", "m", "x"]},
    "ill": {"states": [0, 1]},
    "smokes": {"states": ["no", "yes"]},
    "age": {"bounds": [0.0, 100.0], "unit": "years"},
    "old": {"from": "age", "cuts": [65.0]},
}
TABLE = pd.DataFrame(
    [
        ("north", "f", 0, "no", 30.0),
        ("north", "f", 1, "yes", 70.0),
        ("north", "m", 1, "yes", 80.0),
        ("north", "x", 0, "yes", 20.0),
        ("south", "f", 0, "no", 40.0),
        ("south", "m", 1, "no", 90.0),
        ("south", "m", 0, "no", 50.0),
        ("south", "x", 1, "yes", 60.0),
    ],
    columns=["region", "sex", "ill", "smokes", "age"],
)
BY = ["region", "sex"]
ILL: Document = {"kind": "count", "where": "ill == 1", "by": BY}
CELLS: Document = {"kind": "histogram", "column": ["ill", "smokes"]}


def study(folder: Path, *queries: Document, table: pd.DataFrame = TABLE, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(table),
        "columns": COLUMNS,
        "population": {
            "model": "independent",
            "covers": ["ill", "smokes", "age"],
            "source": "us",
        },
        "budget": {"epsilon": 1e6},
        "ledger": str(folder / "ledger.db"),
    }
    folder.mkdir(exist_ok=True)
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(table, **(made | other), queries=named)


# -- what is counted -------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [scan._MOST_GROUPS, 5])
def test_numbers_are_those_of_plain_loops(
    groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So little noise that there is none; cells are counted by groups, and by filters."""
    monkeypatch.setattr(scan, "_MOST_GROUPS", groups)
    release = study(
        tmp_path,
        ILL,
        CELLS | {"where": "age < 75"},
        CELLS | {"column": ["smokes", "ill", "old"], "by": BY},
        {"kind": "sum", "column": "age", "by": list(reversed(BY))},
        {"kind": "median", "column": "age", "step": 10.0, "by": BY},
        {"kind": "histogram", "column": "ill"},
        {"kind": "mean", "column": "age", "by": ["sex", "region"]},
    ).release()
    rows = TABLE.assign(old=(TABLE.age >= 65).astype(int)).to_dict("records")
    places = list(product(["north", "south"], ["f", "m", "x"]))
    inside = {place: [r for r in rows if (r["region"], r["sex"]) == place] for place in places}
    assert [result.group for result in release["q0"]] == places
    for (region, sex), there in inside.items():
        assert release["q0", region, sex].value == sum(r["ill"] for r in there)
        assert release["q3", sex, region].value == pytest.approx(sum(r["age"] for r in there), 0.01)
        ages = [r["age"] for r in there]
        mean = release["q6", sex, region]
        assert mean.value == pytest.approx(sum(ages) / len(ages), 0.01)
        assert (mean.group, mean.rows) == ((sex, region), len(ages))
        assert min(ages) <= release["q4", region, sex].value <= max(ages)
        cells = Counter((r["smokes"], r["ill"], r["old"]) for r in there)
        for cell in product(["no", "yes"], [0, 1], [0, 1]):
            words = (cell[0], cell[1], ("[0, 65)", "[65, 100]")[cell[2]])
            assert release["q2", region, sex, *words].value == cells[cell]
            assert release["q2", region, sex, *cell].cell == cell
    young = Counter((r["ill"], r["smokes"]) for r in rows if r["age"] < 75)
    assert {result.cell: result.value for result in release["q1"]} == {
        cell: young[cell] for cell in product([0, 1], ["no", "yes"])
    }
    assert [result.value for result in release["q5"]] == [4.0, 4.0]
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"


def test_empty_groups_and_cells_are_0(tmp_path: Path) -> None:
    """Also those that no row of the table has: they are declared."""
    release = study(tmp_path, ILL, CELLS, table=TABLE.head(2)).release()
    assert [result.value for result in release["q0"]] == [1, 0, 0, 0, 0, 0]
    assert [result.value for result in release["q1"]] == [1, 0, 0, 1]
    asked = {"kind": "mean", "column": "age", "by": BY}
    message = "in the group 'north, m' of 'region' x 'sex'.*or name fewer columns in by"
    with pytest.raises(TableMismatchError, match=message):
        study(tmp_path / "mean", asked, table=TABLE.head(2)).release()


# -- what it costs ---------------------------------------------------------------------------------


def counted(made: Study, query: PlannedQuery, table: pd.DataFrame) -> list[int]:
    totals = run(open_table(table, Path()), made.spec.columns, [query.table_query()])
    return [n for group in totals[query.name].values.values() for n in group]


def moves(before: list[int], after: list[int]) -> tuple[int, int]:
    steps = [abs(a - b) for a, b in zip(before, after, strict=True)]
    return sum(steps), sum(step * step for step in steps)


@pytest.mark.parametrize("where", [None, "age > 50"])
def test_no_neighbour_s_cells_are_further_than_priced(where: str | None, tmp_path: Path) -> None:
    """All tables of two rows and all their neighbours, through the engine."""
    asked = CELLS if where is None else CELLS | {"where": where}
    ages = [10.0] if where is None else [10.0, 90.0]
    possible = list(product([0, 1], ["no", "yes"], ages))
    budget = {"epsilon": 2.0, "delta": 1e-6, "noise": "gaussian"}
    two_rows = TABLE.head(2)
    (pure,) = study(tmp_path, asked, table=two_rows).check().plan.queries
    made = study(tmp_path / "zcdp", asked, table=two_rows, budget=budget)
    (zcdp,) = made.check().plan.queries
    cells = {
        rows: counted(
            made, pure, pd.DataFrame(rows, columns=["ill", "smokes", "age"]).assign(region="north")
            .assign(sex="f"),
        )
        for rows in combinations_with_replacement(possible, 2)
    }  # fmt: skip
    far = [
        moves(cells[rows], cells[tuple(sorted((kept, new)))])
        for rows in cells
        for kept in rows
        for new in possible
    ]
    assert max(l1 for l1, _ in far) == pure.sensitivity == 2
    assert max(squared for _, squared in far) == zcdp.sensitivity == 2


def test_no_person_moves_groups_further_than_priced(tmp_path: Path) -> None:
    """Persons of at most two rows, which may lie in any groups of a table of two ways."""
    shape = {"columns": COLUMNS | {"who": {"public": True}}, "unit": "who", "rows_per_unit": 2}
    kinds = [(*place, ill) for place in (("north", "f"), ("south", "m")) for ill in (0, 1)]
    persons = [p for many in (1, 2) for p in combinations_with_replacement(kinds, many)]
    made = study(tmp_path, ILL, CELLS | {"by": BY}, **shape, n=2)
    for query in made.check().plan.queries:
        totals = {}
        for person in persons:
            rows = pd.DataFrame([("north", "f", 1), *person], columns=["region", "sex", "ill"])
            table = rows.assign(who=[1, *([2] * len(person))], smokes="no", age=1.0)
            totals[person] = counted(made, query, table)
        furthest = max(moves(a, b)[0] for a in totals.values() for b in totals.values())
        assert furthest == query.sensitivity == 4


def test_groups_of_several_columns_cost_what_one_of_them_costs(tmp_path: Path) -> None:
    by_one = ILL | {"by": "sex"}
    (alone, several) = (study(tmp_path, q, budget={"epsilon": 1.0}) for q in (by_one, ILL))
    assert alone.check().plan.queries[0].noise == several.check().plan.queries[0].noise


# -- what is said ----------------------------------------------------------------------------------


def test_results_are_found_and_shown_by_each_value(tmp_path: Path) -> None:
    made = study(tmp_path, ILL | {"name": "ill"}, CELLS | {"name": "cells", "by": "sex"})
    release = made.release()
    result = release["ill", "north", "f"]
    assert str(result) == "ill, north, f: 1 +- 0 (95 %)"
    assert [r.group for r in release["ill", "north"]] == list(product(["north"], ["f", "m", "x"]))
    assert release["ill"]["south"]["m"].value == 1
    assert release["cells", "f", 1, "yes"].cell == (1, "yes")
    assert release["ill"].errors()["north, f"] == 0
    with pytest.raises(UnknownNameError, match="south"):
        release["ill", "east"]
    plain = release.to_dict()["results"]
    assert plain[0]["group"] == ["north", "f"]
    assert plain[6]["cell"] == [0, "no"]
    frame = release.to_pandas()
    assert frame.loc[0, "group"] == "north, f"
    assert frame.loc[6, ["group", "cell"]].to_list() == ["f", "0, no"]
    page = bdp.write_report(tmp_path / "report.html", made, release).read_text()
    assert "north, f" in page
    assert "each combination of values of &#x27;ill&#x27; x &#x27;smokes&#x27;" in page
    assert "for each combination of values of &#x27;region&#x27; x &#x27;sex&#x27;" in page
    shown = check_document(made.check())["queries"]
    assert shown[0]["by"] == BY
    assert shown[1]["column"] == ["ill", "smokes"]
    query = json.loads(release.certificate.to_json())["derivation"]
    assert '"by": ["region", "sex"]' in json.dumps(query)


def test_sizes_of_groups_are_named_by_all_values(tmp_path: Path) -> None:
    sizes = {"north, f": 2, "north, m": 1, "north, x": 1}
    sizes |= {"south, f": 1, "south, m": 2, "south, x": 1}
    asked = {"kind": "mean", "column": "age", "by": BY, "group_sizes": sizes, "error": 1.0}
    made = study(tmp_path, asked)
    (query,) = made.check().plan.queries
    assert list(query.group_errors()) == list(sizes)
    assert query.error(rows=1) <= 1.0
    assert made.release()["q0", "north", "f"].rows == 2
    assert "north, f " in str(made.check())
    other = asked | {"group_sizes": sizes | {"north, f": 1, "north, m": 2}}
    with pytest.raises(TableMismatchError):
        study(tmp_path / "other", other).release()
    with pytest.raises(InputError, match=r"'north, f' = \.\.\.|\"north, f\" = \.\.\."):
        study(tmp_path / "none", {k: v for k, v in asked.items() if k != "group_sizes"}).check()


def test_a_list_of_one_column_is_the_column(tmp_path: Path) -> None:
    made = study(tmp_path, ILL | {"by": ["sex"]}, CELLS | {"column": ["ill"]})
    by, column = made.spec.queries[0].by, made.spec.queries[1].column
    assert (by, column) == ("sex", "ill")
    assert made.release()["q0", "f"].value == 1


# -- what is refused -------------------------------------------------------------------------------

MANY = {"public": True, "states": [f"s{i}" for i in range(1000)]}
REFUSED: dict[str, tuple[Document, str]] = {
    "private group": (ILL | {"by": ["region", "smokes"]}, r"by is 'smokes'.*column = \[\.\.\.\]"),
    "undeclared": (ILL | {"by": ["region", "sx"]}, "'sex'"),
    "twice": (ILL | {"by": ["sex", "sex"]}, "each of them once"),
    "no columns": (ILL | {"by": []}, "names of columns"),
    "a number": (ILL | {"by": ["sex", 1]}, r"query\[0\]\.by is .*a list of names"),
    "too many groups": (ILL | {"by": ["many", "sex"]}, "1000 x 3 = 3000: name fewer"),
    "too many cells": (CELLS | {"column": ["lots", "ill"]}, "1001 x 2 = 2002: name fewer"),
    "too many numbers": (CELLS | {"by": ["half", "sex"], "column": ["tens", "ill"]}, "1500 groups"),
    "public cell": (CELLS | {"column": ["ill", "sex"]}, r'by = "sex", and leave it out'),
    "numbers": (CELLS | {"column": ["ill", "age"]}, r'from = "age", cuts'),
    "unknown cell": (CELLS | {"column": ["ill", "smoke"]}, "'smokes'"),
    "bins": (CELLS | {"column": ["ill", "age"], "bins": [0, 50, 100]}, "bins is .*cuts"),
    "sum of two": ({"kind": "sum", "column": ["age", "ill"]}, "column is .*one column"),
    "median of two": ({"kind": "median", "column": ["age", "ill"], "step": 1.0}, "a quantile is"),
    "count of two": (ILL | {"column": ["smokes", "ill"]}, "column is .*nothing on a count"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    query, words = REFUSED[name]
    columns = COLUMNS | {
        "many": MANY,
        "half": MANY | {"states": MANY["states"][:500]},
        "lots": {"states": list(range(1001)), "independent": True},
        "tens": {"states": list(range(20)), "independent": True},
    }
    with pytest.raises(InputError, match=words):
        study(tmp_path, query, columns=columns).check()


def test_groups_of_the_same_name_have_no_sizes(tmp_path: Path) -> None:
    columns = {
        "a": {"public": True, "states": ["u", "u, v"]},
        "b": {"public": True, "states": ["v, w", "w"]},
        "age": COLUMNS["age"],
    }
    table = pd.DataFrame({"a": ["u"], "b": ["w"], "age": [1.0]})
    asked = {"kind": "mean", "column": "age", "by": ["a", "b"], "group_sizes": {"u, w": 1}}
    population = {"model": "independent", "covers": ["age"], "source": "us"}
    with pytest.raises(InputError, match="two groups have the same name"):
        study(tmp_path, asked, columns=columns, table=table, population=population).check()
