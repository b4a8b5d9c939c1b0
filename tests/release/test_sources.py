"""Studies of wide and of joined tables: what they may declare, what they price, what they say."""

from __future__ import annotations

import copy
import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp import Study, explain, verify
from bayesdp.errors import BayesdpError, InputError, LedgerError, TableMismatchError
from bayesdp.kernel import check
from bayesdp.release.price.plan import structure_of
from bayesdp.release.private_fits.private_fit import count_windows
from bayesdp.report.studies import level_scope
from bayesdp.tables.refusals import mismatch
from bayesdp.tables.source import open_table
from bayesdp.tables.sums.scan import run
from tests.effort import runs
from tests.release import program_studies

Frame = pd.DataFrame
PAIRS = Frame(
    {
        "pair": [7, 8, 9],
        "height_a": [171.0, 158, 182],
        "height_b": [168.0, 175, 180],
        "ill_a": [0, 1, 0],
        "ill_b": [1, 0, 0],
        "zip": [1, 2, 1],
        "job_a": [1, 2, 2],
        "job_b": [2, 2, 1],
    }
)
ZIPS = Frame({"zip": [1, 2], "region": ["n", "s"]})
JOBS = Frame({"job": [1, 2], "risk": [0, 1]})
WIDE: dict[str, Any] = {
    "records": {
        "height": ["height_a", "height_b"],
        "ill": ["ill_a", "ill_b"],
        "job": ["job_a", "job_b"],
    },
    "position": {"name": "member", "values": ["a", "b"]},
}
REGION = {"table": "zips.csv", "on": "zip", "columns": ["region"]}
RISK = {"table": "jobs.csv", "on": "job", "columns": ["risk"]}
CM = {"bounds": [120, 220], "unit": "cm"}
COLUMNS: dict[str, Any] = {
    "pair": {"role": "cluster"},
    "member": {"public": True, "states": ["a", "b"]},
    "height": CM,
    "ill": {"states": [0, 1]},
    "zip": {"public": True},
    "region": {"public": True, "states": ["n", "s"]},
    "risk": {"states": [0, 1]},
}
QUERIES: list[dict[str, Any]] = [
    {"name": "sum", "kind": "sum", "column": "height", "by": "region"},
    {"name": "mean", "kind": "mean", "column": "height", "by": "member"},
    {"name": "ill", "kind": "count", "where": "ill == 1 and region == 'n'"},
    {"name": "ill here", "kind": "count", "where": "ill == 1 and region == 's'"},
    {"name": "risks", "kind": "histogram", "column": "risk"},
    {"name": "median", "kind": "median", "column": "height", "step": 5.0},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    PAIRS.to_csv("pairs.csv", index=False)
    ZIPS.to_csv("zips.csv", index=False)
    JOBS.to_csv("jobs.csv", index=False)
    return tmp_path


def given(**changes: Any) -> dict[str, Any]:
    covers = ["height", "ill", "risk"]
    made: dict[str, Any] = {
        "dataset": "pairs",
        "n": 6,
        "wide": WIDE,
        "join": [REGION, RISK],
        "columns": COLUMNS,
        "population": {"model": "clusters", "size": 2, "covers": covers, "source": "us"},
        "budget": {"epsilon": 8.0, "spend": 2.0},
        "queries": QUERIES,
        "ledger": "ledger.db",
    } | changes
    return {key: value for key, value in made.items() if value is not None}


def study(table: Any = PAIRS, **changes: Any) -> Study:
    return Study(table, **given(**changes))


def by_hand() -> Frame:
    """The long and joined table that the study makes, by pandas."""
    parts = []
    for member in ("a", "b"):
        names = {f"{name}_{member}": name for name in ("height", "ill", "job")}
        part = PAIRS[["pair", "zip", *names]].rename(columns=names).assign(member=member)
        parts.append(part)
    long = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    return long.merge(ZIPS, on="zip").merge(JOBS, on="job").sort_values(["pair", "member"])


@pytest.mark.usefixtures("folder")
def test_all_queries_are_those_of_the_table_made_by_hand() -> None:
    made, hand = study("pairs.csv"), study(by_hand(), wide=None, join=None)
    assert made.inspect() == hand.inspect() == made.hints() == []
    plan = made._plan()
    assert [query.table_query() for query in plan.queries if query.grid is None] == [
        query.table_query() for query in hand._plan().queries if query.grid is None
    ]
    assert made._data.totals(made._data.open(), plan) == hand._data.totals(hand._data.open(), plan)
    # What costs more: another study may look up other regions, so these are not blocks.
    assert all(query.spend.block is None for query in plan.queries)
    assert any(query.spend.block is not None for query in hand._plan().queries)


@pytest.mark.usefixtures("folder")
def test_a_release_says_what_a_record_is() -> None:
    release = study().release()
    assert verify(release.certificate)
    said = release.certificate.body["assumptions"]
    assert (
        "a record is one part of a row of the table, which has 2 parts, told apart by member"
        in said
    )
    assert (
        "the table 'zips.csv', in which region is looked up by zip, is public: nothing in it "
        "depends on the records" in said
    )
    text = explain(release.certificate).text(120)
    assert "One record is one of the 2 parts of a row of the table." in " ".join(text.split())
    assert "the table 'zips.csv', in which region is looked up by zip, is public" in text
    assert "told apart by member" not in text  # it is said above, in plain words
    assert "(one part of a row)" in level_scope(release.certificate.body)
    assert explain(release.certificate).to_dict()["facts"]["parts"] == 2


@pytest.mark.usefixtures("folder")
def test_a_whole_row_may_be_the_record() -> None:
    wide = {**WIDE, "row": "home"}
    columns = {**COLUMNS, "home": {"public": True}}
    whole = {"unit": "home", "rows_per_unit": 2, "n": 3, "wide": wide, "columns": columns}
    queries = [QUERIES[0], QUERIES[4]]
    made = study(**whole, queries=queries)
    assert made.inspect() == []
    release = made.release()
    assert verify(release.certificate)
    assert (
        "a record is all parts of rows with the same home, at most 2 parts; a row of the table has "
        "2 parts, told apart by member" in release.certificate.body["assumptions"]
    )
    text = " ".join(explain(release.certificate).text(120).split())
    assert (
        "One record is all parts of rows of the table with the same 'home', at most 2 parts."
        in text
    )
    assert "told apart by member" not in text
    assert "(all parts of rows with the same 'home')" in level_scope(release.certificate.body)


@pytest.mark.usefixtures("folder")
def test_parts_of_rows_and_rows_are_two_protected_units() -> None:
    whole = study(
        join=None,
        wide=None,
        n=3,
        columns={"pair": {"role": "cluster"}, "height_a": CM, "height_b": CM},
        population=None,
        budget={"epsilon": 8.0, "spend": 2.0, "notion": "dp"},
        queries=[{"name": "sum", "kind": "sum", "column": "height_a"}],
    )
    part = study(population=None, budget=whole.spec.budget)
    part.release()
    with pytest.raises(LedgerError, match="'part of a row = member', the protected unit"):
        whole.release()
    other = study(ledger="other.db", wide={**WIDE, "position": {"name": "twin", "values": [1, 2]}},
                  columns={k: v for k, v in COLUMNS.items() if k != "member"},
                  queries=QUERIES[:1])  # fmt: skip
    other.release()
    with pytest.raises(LedgerError, match="'part of a row = twin', the protected unit"):
        study(ledger="other.db").release()


# -- one record moves the integers by no more than is paid for ------------------------------


@pytest.mark.usefixtures("folder")
def test_replacing_one_part_moves_each_integer_as_a_row_does() -> None:
    """A record of a table is replaced by any other, and so is what is looked up by its own key."""
    queries = [QUERIES[0], *QUERIES[2:5]]
    made = study(queries=queries)
    plan = made._plan()
    asked = [query.table_query() for query in plan.queries]

    def integers(frame: Frame) -> list[int]:
        made._data = replace(made._data, source=frame)
        totals = run(made._data.open(), made.spec.columns, asked)
        return [v for query in asked for cells in totals[query.name].values.values() for v in cells]

    due = [2 ** plan.queries[0].grid.bits] * 2 + [1, 1, 1, 1]  # type: ignore[union-attr]
    start = integers(PAIRS)
    assert len(start) == len(due)
    values = itertools.product((100.0, 250.0), (0, 1), (1, 2))
    others = list(itertools.product(((row, part) for row in (0, 1) for part in "ab"), values))
    for (row, part), cells in random.Random(4).sample(others, runs(len(others), least=5)):
        moved = PAIRS.copy()
        moved.loc[row, [f"height_{part}", f"ill_{part}", f"job_{part}"]] = cells
        distances = [abs(x - y) for x, y in zip(start, integers(moved), strict=True)]
        assert any(distances) or moved.equals(PAIRS)
        assert all(d <= most for d, most in zip(distances, due, strict=True))


@pytest.mark.usefixtures("folder")
def test_rows_of_a_person_move_no_rows_of_others() -> None:
    """Numbers of rows are others with one more row before them; which rows count must not be."""
    columns = {"who": {"public": True}, "home": {"public": True}, "ill": {"states": [0, 1]}}
    made = study(
        None,
        n="from data",
        unit="who",
        max_rows=1,
        wide={
            "records": {"ill": ["ill_a", "ill_b"]},
            "position": {"name": "member", "values": ["a", "b"]},
            "row": "home",
        },
        join=None,
        columns=columns | {"member": {"public": True}},
        population={"model": "independent", "covers": ["ill"]},
        queries=[{"name": "ill", "kind": "count", "where": "ill == 1"}],
    )
    (query,) = made._plan(41).queries
    assert query.sensitivity == 1
    counts = set()
    for rows in (1, 2, 3):
        who = ["first"] * rows + [f"other {i}" for i in range(40)]
        ill = [int(name != "first") for name in who]
        made._data = replace(made._data, source=Frame({"who": who, "ill_a": 0, "ill_b": ill}))
        totals = run(
            made._data.open(), made.spec.columns, [query.table_query()], structure_of(made.spec)
        )
        counts |= set(totals["ill"].values[None])
    assert len(counts) == 1


# -- what is refused before any data are read -----------------------------------------------


def without(*names: str) -> dict[str, Any]:
    return {name: column for name, column in COLUMNS.items() if name not in names}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a column that is gone": (
        {"columns": COLUMNS | {"height_a": CM}},
        r"data\.columns\.height_a: .*'height_a' is made into 'height' by \[data\.wide\]",
    ),
    "a column read from one that is gone": (
        {"columns": COLUMNS | {"tall": {"from": "height_a", "cuts": [170]}}},
        r"data\.columns\.tall: .*'height_a' is made into 'height'",
    ),
    "a private column of the row": (
        {"columns": COLUMNS | {"income": {"bounds": [0, 9]}}},
        r"data\.columns\.income: expected a column of data\.wide\.records",
    ),
    "a private column read from one of the row": (
        {"columns": COLUMNS | {"rich": {"from": "income", "cuts": [5]}}},
        r"data\.columns\.rich: expected a column of data\.wide\.records",
    ),
    "a private column looked up by one of the row": (
        {
            "columns": without("zip", "region") | {"region": {"states": ["n", "s"]}},
            "queries": QUERIES[1:2],
        },
        r"data\.columns\.region: expected a column of data\.wide\.records",
    ),
    "rows of a unit that is each record's own": (
        {
            "wide": {**WIDE, "records": {**WIDE["records"], "id": ["id_a", "id_b"]}},
            "unit": "id",
            "rows_per_unit": 1,
            "columns": COLUMNS | {"id": {"public": True}, "income": {"bounds": [0, 9]}},
            "queries": QUERIES[:1],
        },
        r"data\.columns\.income: expected a column of data\.wide\.records",
    ),
    "a number of rows": ({"n": 3}, r"data\.n is 3: expected a multiple of 2: \[data\.wide\] makes"),
    "years out of order": (
        {
            "wide": {**WIDE, "position": {"name": "member", "values": [2, 1]}},
            "columns": COLUMNS | {"member": {"role": "order", "step": 1}},
            "queries": QUERIES[:1],
        },
        r"data\.wide\.position\.values is \[2, 1\]: expected increasing numbers",
    ),
    "values of rows": (
        {
            "wide": {**WIDE, "row": "home"},
            "columns": COLUMNS | {"home": {"public": True, "states": [0, 1]}},
        },
        r"data\.columns\.home\.states: expected nothing that is made from 'home'",
    ),
    "a column read from rows": (
        {
            "wide": {**WIDE, "row": "home"},
            "columns": COLUMNS | {"first": {"from": "home", "cuts": [1], "public": True}},
        },
        r"data\.columns\.first\.from: expected nothing that is made from 'home'",
    ),
    "a condition on rows": (
        {
            "wide": {**WIDE, "row": "home"},
            "columns": COLUMNS | {"home": {"public": True}},
            "queries": [{"name": "q", "kind": "count", "where": "ill == 1 and home < 2"}],
        },
        r"query\[0\]\.where is .*: expected a condition without 'home'",
    ),
    "cells looked up by rows": (
        {
            "wide": {**WIDE, "row": "home"},
            "columns": COLUMNS | {"home": {"public": True}},
            "join": [REGION | {"on": {"left": "home", "right": "zip"}}, RISK],
        },
        r"data\.join\[0\]\.on is 'home': expected other keys than 'home', which numbers the rows",
    ),
    "a public column by a private key": (
        {"columns": COLUMNS | {"risk": {"public": True, "states": [0, 1]}},
         "population": {"model": "independent", "covers": ["height", "ill"]}},
        r"data\.columns\.risk\.public is True: expected a private column, unless job is",
    ),
    "a role by a private key": (
        {"columns": without("pair") | {"risk": {"role": "cluster"}},
         "population": {"model": "clusters", "size": 9, "covers": ["height", "ill"]},
         "queries": QUERIES[:1]},
        r"data\.columns\.risk\.public is True: expected a private column, unless job is",
    ),
    "a private column by a public key": (
        {"columns": COLUMNS | {"region": {"states": ["n", "s"]}}, "queries": QUERIES[1:2]},
        r"data\.columns\.region: expected a public column: everybody can look it up by zip",
    ),
    "a column that nobody declares": (
        {"columns": without("risk"), "queries": QUERIES[:1],
         "population": {"model": "independent", "covers": ["height", "ill"]}},
        r"data\.join\[1\]\.columns is 'risk': expected a column that the study declares",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_together(name: str) -> None:
    changes, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        study(None, **changes)


def test_what_does() -> None:
    """Near what is refused: nothing but what has to be."""
    own = {**WIDE, "row": "home"}
    columns = COLUMNS | {"home": {"public": True}, "income": {"bounds": [0, 9]}}
    whole = {"unit": "home", "rows_per_unit": 2, "n": 3, "wide": own, "queries": QUERIES[:1]}
    study(None, columns=columns, **whole)  # the row is the record
    study(None, n=5, wide={**WIDE, "empty": "skip"})
    study(None, columns=COLUMNS | {"tall": {"from": "height", "cuts": [170]}})
    both = {"table": "t.csv", "on": ["zip", "job"], "columns": ["risk"]}
    study(None, join=[REGION, both])  # by a public and by a private key
    chain = {"table": "t.csv", "on": "region", "columns": ["area"]}
    study(None, join=[REGION, RISK, chain], columns=COLUMNS | {"area": {"public": True}})


# -- what is refused at a release, in the same words whatever the cells hold ----------------


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (PAIRS.assign(zip=[1, 3, 1]), "unmatched"),
        (PAIRS.assign(job_b=[2, None, 1]), "unmatched"),
        (
            PAIRS.assign(height_b=[1, None, 1], ill_b=[1, None, 1], job_b=[1, None, 1]),
            "empty-record",
        ),
        (PAIRS.head(2), "n"),
        (PAIRS.drop(columns="ill_b"), "no-column"),
        (PAIRS.drop(columns="zip"), "no-column"),
    ],
)
def test_refusals_tell_nothing_of_cells(frame: Frame, code: str) -> None:
    made = study(frame)
    assert code in [finding.code for finding in made.inspect()]
    with pytest.raises(TableMismatchError) as caught:
        made.release()
    assert str(caught.value).split(":")[0] == str(mismatch()).split(":")[0]
    assert made.spends() == []
    if code == "n":
        (finding,) = made.inspect()
        assert finding.message == (
            "The table holds 4 records, and n = 6 is declared. [data.wide] makes 2 records of each "
            "row."
        )


@pytest.mark.usefixtures("folder")
def test_a_public_table_with_a_key_twice_is_told_to_everybody(folder: Path) -> None:
    pd.concat([ZIPS, ZIPS]).to_csv(folder / "zips.csv", index=False)
    made = study()
    with pytest.raises(BayesdpError, match=r"data\.join\[0\]\.on is 1: .*several have it"):
        made.release()
    assert made.spends() == []


# -- the rest of a study --------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_program_reads_the_long_table(folder: Path) -> None:
    table = Frame(program_studies.TABLE)
    pairs = table.iloc[::2].reset_index(drop=True).add_suffix("_a")
    pairs = pairs.join(table.iloc[1::2].reset_index(drop=True).add_suffix("_b"))
    pairs = pairs.rename(columns={"home_a": "home"}).drop(columns="home_b")
    long = program_studies.study(folder, program_studies.asks("smokers"))
    names = ("height", "smokes", "region")
    wide = {
        "records": {name: [f"{name}_a", f"{name}_b"] for name in names},
        "position": {"name": "member", "values": ["a", "b"]},
    }
    raw = long.spec
    made = Study(
        pairs,
        dataset="other",
        n=8,
        wide=wide,
        columns=program_studies.COLUMNS,
        population=raw.population,
        budget={"epsilon": 9.0},
        queries=[query.model_copy() for query in raw.queries],
        ledger="programs.db",
    )
    release = made.release()
    assert verify(release.certificate)
    assert {spend.unit for spend in made.spends()} == {"part of a row = member"}
    document = json.loads(release.certificate.to_json())
    assert check(document).verdict == "VALID ASSUMING"
    step = document["derivation"]["premises"][0]
    while step["rule"] != "sequential-composition":
        step = step["premises"][0]
    step["premises"][0]["evidence"]["spends"][0]["unit"] = "row"
    assert check(document).verdict == "INVALID"


YEARS = Frame({"who": ["x", "y"], "y19": [0, 1], "y20": [1, 1], "y21": [1, 0], "y23": [0, None]})


@pytest.mark.usefixtures("folder")
def test_years_of_a_person_are_a_series() -> None:
    wide = {
        "records": {"ill": ["y19", "y20", "y21", "y23"]},
        "position": {"name": "year", "values": [2019, 2020, 2021, 2023]},
        "empty": "skip",
    }
    chain = {"model": "markov", "transition": [[0.8, 0.2], [0.4, 0.6]], "length": 5}
    changes: dict[str, Any] = {
        "n": 7,
        "join": None,
        "columns": {
            "who": {"role": "series"},
            "year": {"role": "order", "step": 1, "states": [2019, 2020, 2021, 2023]},
            "ill": {"states": [0, 1]},
        },
        "population": chain | {"covers": ["ill"]},
        "queries": [{"name": "ill", "kind": "count", "where": "ill == 1", "by": "year"}],
        "budget": {"epsilon": 200.0},
    }
    made = study(YEARS, wide=wide, **changes)
    assert made.inspect() == []
    long = YEARS.melt("who", var_name="year", value_name="ill").dropna()
    long = long.assign(year=2000 + long.year.str[1:].astype(int)).sort_values(["who", "year"])
    hand = study(long, wide=None, **changes)
    assert made._data.totals(made._data.open(), made._plan()) == hand._data.totals(
        hand._data.open(), hand._plan()
    )
    fits = [s.plan_fit(dp_epsilon=90.0) for s in (made, hand)]
    assert fits[0].digest() != fits[1].digest()  # what one has drawn is not an answer to the other
    counts = [count_windows(f, s._data.open()) for f, s in zip(fits, (made, hand), strict=True)]
    assert (counts[0].tables[1] == counts[1].tables[1]).all()
    assert counts[0].tables[1].sum() == 4  # 2021 and 2023 are not neighbours
    assert verify(made.release().certificate)


def test_a_study_file(folder: Path) -> None:
    (folder / "study.toml").write_text(
        """[data]
source = "pairs.csv"
dataset = "pairs"
n = 6
[data.wide]
records = { height = ["height_a", "height_b"], ill = ["ill_a", "ill_b"], job = ["job_a", "job_b"] }
position = { name = "member", values = ["a", "b"] }
row = "home"
[[data.join]]
table = "zips.csv"
on = "zip"
columns = ["region"]
[[data.join]]
table = "jobs.csv"
on = { left = "job", right = "job" }
columns = ["risk"]
[data.columns]
home = { role = "cluster" }
height = { bounds = [120, 220] }
ill = { states = [0, 1] }
zip = { public = true }
region = { public = true, states = ["n", "s"] }
risk = { states = [0, 1] }
[population]
model = "clusters"
size = 2
covers = ["height", "ill", "risk"]
[budget]
epsilon = 1.0
[[query]]
name = "h"
kind = "mean"
column = "height"
by = "region"
"""
    )
    made = Study.load(folder / "study.toml")
    assert made.inspect() == []
    assert verify(made.release().certificate)
    (folder / "once").mkdir()
    text = (folder / "study.toml").read_text()
    first, _, rest = text.partition("[[data.join]]\n")
    single = first + "[data.join]\n" + rest.partition("[[data.join]]\n")[0] + "[data.columns]\n"
    columns = rest.partition("[data.columns]\n")[2].replace("risk = { states = [0, 1] }\n", "")
    (folder / "one.toml").write_text(single + columns.replace(', "risk"', ""))
    assert Study.load(folder / "one.toml").inspect() == []


@pytest.mark.usefixtures("folder")
def test_another_look_up_is_another_study() -> None:
    made = study()
    made.release()
    assert made.check().released
    renamed = copy.deepcopy(WIDE) | {"position": {"name": "member", "values": ["b", "a"]}}
    other = study(wide=renamed)
    assert other.check().released  # the same declaration, as a certificate states it
    other.release()  # and another study of this process
    ZIPS.to_csv("places.csv", index=False)
    assert not study(join=[{**REGION, "table": "places.csv"}, RISK]).check().released


def test_a_table_that_is_open_is_made_long_too(folder: Path) -> None:
    made = study(open_table("pairs.csv", folder))
    assert made.inspect() == []
