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
from bayesdp.release.plan import make_plan

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
