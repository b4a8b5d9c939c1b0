"""Studies on parts of a table: what disjoint public blocks cost together, from query to kernel."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp import kernel
from bayesdp.certificate import digest
from bayesdp.errors import LedgerError
from bayesdp.release import Study
from bayesdp.release.price.plan import make_plan
from tests.kernel.test_forgeries import renewed

ROWS = 40


def study(ledger: Path, *wheres: str | None, total: float = 1.0, **other: Any) -> Study:
    """One sum for each condition, under clusters of two."""
    frame = pd.DataFrame(
        {
            "family": [i // 2 for i in range(ROWS)],
            "region": [["north", "south", "west"][(i // 2) % 3] for i in range(ROWS)],
            "person": [i // 2 for i in range(ROWS)],
            "x": [float(i % 7) for i in range(ROWS)],
        }
    )
    columns = {
        "family": {"role": "cluster"},
        "region": {"public": True, "states": ["north", "south", "west"]},
        "x": {"bounds": [0.0, 10.0]},
    } | other.pop("columns", {})
    queries = [
        {"name": f"q{i}", "kind": "sum", "column": "x"} | ({"where": item} if item else {})
        for i, item in enumerate(wheres)
    ]
    population = {"model": "clusters", "size": 2, "covers": ["x"], "source": "made up"}
    return Study(
        frame,
        **{
            "dataset": "parts",
            "n": ROWS,
            "columns": columns,
            "population": population,
            "budget": {"notion": "bdp", "epsilon": total, "spend": total / 2},
            "queries": queries,
            "ledger": str(ledger),
        }
        | other,
    )


def costs(made: Study) -> list[float]:
    return [query.spend.dp_epsilon for query in make_plan(made.spec).queries]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def test_disjoint_blocks_in_one_study_cost_the_largest(ledger: Path) -> None:
    (alone,) = costs(study(ledger, "region == 'north'"))
    both = costs(study(ledger, "region == 'north'", "region == 'south'"))
    assert both == pytest.approx([alone, alone], rel=1e-6)
    wheres = [f"region == '{item}'" for item in ("north", "south", "west")]
    assert costs(study(ledger, *wheres)) == pytest.approx([alone] * 3, rel=1e-6)
    shared = costs(study(ledger, "region == 'north'", "region in ['north', 'south']"))
    assert shared == pytest.approx([alone / 2, alone / 2], rel=1e-6)
    whole = costs(study(ledger, "region == 'north'", "region == 'south'", None))
    assert whole == pytest.approx([alone / 2] * 3, rel=1e-6)


def test_disjoint_blocks_of_two_studies_cost_the_largest(ledger: Path) -> None:
    north = study(ledger, "region == 'north'").release()
    south = study(ledger, "region == 'south'").release()
    west = study(ledger, "not (region in ['north', 'south'])").release()
    (shown,) = study(ledger, None).ledger().show()
    assert shown["spent"] == pytest.approx(0.25, rel=1e-6)
    assert shown["readings"][0]["level"] == pytest.approx(0.5, rel=1e-6)
    assert len(shown["releases"]) == 3
    for release in (north, south, west):
        verdict = kernel.check(release.certificate.to_dict())
        assert verdict.verdict == "VALID ASSUMING", verdict
        assert any("disjoint values" in assumption for assumption in verdict.assuming)
    assert west.certificate.body["data_set"]["level"] == pytest.approx(0.5, rel=1e-6)
    # Everybody pays for a query on all records.
    everyone = study(ledger, None).release()
    assert everyone.certificate.body["data_set"]["level"] == pytest.approx(1.0, rel=1e-6)
    assert kernel.check(everyone.certificate.to_dict()).verdict == "VALID ASSUMING"


def test_a_study_that_protects_the_column_is_refused(ledger: Path) -> None:
    study(ledger, "region == 'north'").release()
    private = {"region": {"states": ["north", "south", "west"], "independent": True}}
    with pytest.raises(LedgerError, match="public"):
        study(ledger, None, columns=private).release()


@pytest.mark.parametrize(
    ("region", "where"),
    [
        ({"states": ["north", "south", "west"], "independent": True}, "region == '{}'"),
        ({"public": True}, "region == '{}'"),
        (
            {"public": True, "states": ["north", "south", "west"], "missing": {"impute": "west"}},
            "region == '{}'",
        ),
        ({"public": True, "states": ["north", "south", "west"]}, "region == '{}' or x > 3"),
    ],
)
def test_where_in_doubt_costs_add_up(ledger: Path, region: dict, where: str) -> None:
    """Private, without declared states, imputed, or not decided by the column: no blocks."""
    wheres = [where.format(item) for item in ("north", "south")]
    made = study(ledger, *wheres, columns={"region": region})
    assert [query.spend.block for query in make_plan(made.spec).queries] == [None, None]
    assert sum(costs(made)) == pytest.approx(0.25, rel=1e-6)


def test_a_record_of_several_rows_has_no_block(ledger: Path) -> None:
    other = {
        "unit": "person",
        "rows_per_unit": 2,
        "n": ROWS // 2,
        "columns": {"person": {"public": True}, "family": {"public": True}},
        "population": {"model": "independent", "covers": ["x"], "source": "made up"},
    }
    made = study(ledger, "region == 'north'", "region == 'south'", **other)
    assert [query.spend.block for query in make_plan(made.spec).queries] == [None, None]
    assert sum(costs(made)) == pytest.approx(0.5, rel=1e-6)


STATES = ["north", "south", "west"]
NORTH, SOUTH = "region == 'north'", "region == 'south'"
ZONES = {"table": "zones.csv", "on": "region", "columns": ["zone"]}
TEXTS = {"public": True, "states": STATES}
DAYS = {"role": "order", "step": "1 day", "states": ["2024-01-02", "2024-02-01"]}
READ_BY_THE_STUDY: dict[str, Any] = {
    "another table": (
        ("zone == 1", "zone == 2"),
        {"join": ZONES, "columns": {"region": TEXTS, "zone": {"public": True, "states": [1, 2]}}},
    ),
    "parts of rows": (
        ("part == 1", "part == 2"),
        {
            "wide": {
                "records": {"y": ["x", "z"]},
                "position": {"name": "part", "values": [1, 2]},
            },
            "columns": {
                "x": None,
                "y": {"bounds": [0.0, 10.0]},
                "part": {"public": True, "states": [1, 2]},
            },
        },
    ),
    "a format of dates": (
        ("day == '2024-01-02'", "day == '2024-02-01'"),
        {"columns": {"day": DAYS | {"format": "%d/%m/%Y"}}},
    ),
    "the bytes of a file": ((NORTH, SOUTH), {"csv": {"encoding": "latin-1"}}),
    "the numbers of a file": (
        ("zone == 1", "zone == 2"),
        {"csv": {"decimal": ","}, "columns": {"zone": {"public": True, "states": [1, 2]}}},
    ),
}


@pytest.mark.parametrize("kind", READ_BY_THE_STUDY)
def test_cells_that_the_next_study_may_read_in_another_way_divide_nothing(
    kind: str, tmp_path: Path
) -> None:
    """Else a record could lie in one block for one study, in another for the next, and pay once."""
    wheres, other = READ_BY_THE_STUDY[kind]
    declared = {
        "family": {"role": "cluster"},
        "x": {"bounds": [0.0, 10.0]},
        **other.get("columns", {}),
    }
    columns = {name: column for name, column in declared.items() if column is not None}
    if kind.startswith("the bytes"):
        columns["region"] = TEXTS
    summed = "x" if "x" in columns else "y"
    made = Study(
        None,
        dataset="parts",
        n=ROWS,
        population={"model": "independent", "covers": [summed], "source": "made up"},
        budget={"epsilon": 1.0, "spend": 0.5},
        queries=[
            {"name": f"q{i}", "kind": "sum", "column": summed, "where": where}
            for i, where in enumerate(wheres)
        ],
        ledger=str(tmp_path / "ledger.db"),
        **(other | {"columns": columns}),
    )
    assert [query.spend.block for query in make_plan(made.spec).queries] == [None, None]
    assert sum(costs(made)) == pytest.approx(0.5, rel=1e-6)


def test_how_numbers_are_written_changes_no_text(ledger: Path) -> None:
    made = study(ledger, NORTH, SOUTH, csv={"decimal": ",", "separator": ";"})
    assert all(query.spend.block is not None for query in make_plan(made.spec).queries)


@pytest.mark.parametrize(
    "declared",
    [
        {"joined": [{"table": "zones.csv", "by": ["family"], "columns": ["region"]}]},
        {"parts": {"position": "part", "number": 2}},
    ],
)
def test_the_kernel_divides_by_cells_of_the_table_alone(
    declared: dict[str, Any], ledger: Path
) -> None:
    document = study(ledger, NORTH).release().certificate.to_dict()
    assert kernel.check(document)
    document |= declared
    if "parts" in declared:
        _own(document)["unit"] = "part of a row = part"
    verdict = kernel.check(renewed(document))
    assert verdict.verdict == "INVALID"
    assert "does not keep to this block" in verdict.reason


def _own(document: dict) -> dict:
    composition = document["derivation"]["premises"][0]["premises"][0]
    return composition["premises"][0]["evidence"]["spend"]


def _earlier(document: dict) -> dict:
    return document["data_set"]["earlier_spends"][0]


MUTATIONS: dict[str, Callable[[dict], object]] = {
    "another block": lambda d: _own(d)["block"].update({"values": ["west"]}),
    "another column": lambda d: _own(d)["block"].update({"column": "family"}),
    "a block that is none": lambda d: _own(d).update({"block": {"column": "region"}}),
    "an empty block": lambda d: _own(d)["block"].update({"values": []}),
    "a private column": lambda d: d["columns"]["region"].update({"public": False}),
    "no states": lambda d: d["columns"]["region"].pop("states"),
    "an imputed column": lambda d: d["columns"]["region"].update({"missing": {"impute": "south"}}),
    "a column that nobody names": lambda d: d.update({"public_blocks": []}),
    "a column that divides nothing": lambda d: d.update({"public_blocks": ["family", "region"]}),
    "no such key": lambda d: d.pop("public_blocks"),
    "an earlier spend on the same block": lambda d: _earlier(d)["block"].update(
        {"values": ["south"]}
    ),
    "an earlier spend on all records": lambda d: _earlier(d).update({"block": None}),
    "an earlier spend on a private column": lambda d: (
        _earlier(d)["block"].update({"column": "x"}),
        d.update({"public_blocks": ["region", "x"]}),
    ),
    "an earlier spend on a block that is none": lambda d: _earlier(d).update({"block": 7}),
    "the query reads more": lambda d: d["derivation"]["premises"][0]["premises"][0]["premises"][0][
        "evidence"
    ]["query"].update({"where": "region != 'north'"}),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_what_a_certificate_may_not_say(ledger: Path, mutation: str) -> None:
    study(ledger, "region == 'north'").release()
    honest = study(ledger, "region == 'south'").release().certificate.to_dict()
    assert kernel.check(honest).verdict == "VALID ASSUMING"
    wrong = copy.deepcopy(json.loads(json.dumps(honest)))
    MUTATIONS[mutation](wrong)
    content = {key: value for key, value in wrong.items() if key not in ("digest", "signature")}
    content["assumptions"] = kernel.assumptions(content)
    wrong = content | {"digest": digest(content)}
    assert kernel.check(wrong).verdict == "INVALID", mutation
