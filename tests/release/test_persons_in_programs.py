"""Programs of persons with several rows in studies: the same rows count, and the same record."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp import kernel, verify
from bayesdp.errors import InputError
from bayesdp.release import Study
from bayesdp.release.price.plan import structure_of
from bayesdp.release.programs.runs import program_rows
from bayesdp.tables.source import open_table
from tests.kernel.test_forgeries import composed, renewed
from tests.kernel.test_keys import plain
from tests.programs.run.helpers import IMPORTS

TEXT = (
    IMPORTS
    + """
@record
class Visit:
    day: Int[0, 9]
    cost: Real[0, 100]
    ill: Bool
    site: Public[Category["a", "b"]]

@program
def total(visits: Database[Visit]) -> Private[Real]:
    people = group_by(visits, by="person", most={most})
    return laplace(sum(sum(v.cost for v in p) for p in people), epsilon=1)

@program
def ever(visits: Database[Visit]) -> Private[tuple[Int, ...]]:
    people = group_by(visits, by="person", most={most})
    found = ()
    for site, group in partition(people, by="site"):
        found = found + (laplace(count(p for p in group if any(v.ill for v in p)), epsilon=1),)
    return found

@program
def rows(visits: Database[Visit]) -> Private[Int]:
    return laplace(count(visits), epsilon=1)
"""
)
COLUMNS: dict[str, Any] = {
    "person": {"public": True},
    "day": {"bounds": [0, 9]},
    "cost": {"bounds": [0, 100], "unit": "EUR"},
    "ill": {"states": [False, True]},
    "site": {"public": True, "states": ["a", "b"]},
}
POPULATION = {"model": "independent", "covers": ["day", "cost", "ill"]}
Document = dict[str, Any]


def visits(people: int = 12, most: int = 5) -> pd.DataFrame:
    rng = random.Random(3)
    return pd.DataFrame(
        [
            {
                "person": person,
                "day": rng.randint(0, 9),
                "cost": float(rng.randint(0, 120)),
                "ill": rng.random() < 0.3,
                "site": "ab"[person % 2],
            }
            for person in range(people)
            for _ in range(rng.randint(1, most))
        ]
    )


def study(folder: Path, *names: str, most: int = 3, **data: Any) -> Study:
    (folder / "visits.py").write_text(TEXT.replace("{most}", str(most)))
    given: dict[str, Any] = {"unit": "person", "max_rows": 3, "columns": COLUMNS} | data
    return Study(
        visits(),
        dataset="visits",
        n=12,
        population=POPULATION,
        budget={"epsilon": 1e6},
        queries=[
            {"name": name, "kind": "program", "program": f"{folder / 'visits.py'}:{name}"}
            for name in names
        ]
        + [{"name": "sum", "kind": "sum", "column": "cost", "error": 0.01}],
        ledger=str(folder / "ledger.db"),
        **given,
    )


def test_a_program_counts_the_rows_that_the_studys_own_queries_count(tmp_path: Path) -> None:
    asked = study(tmp_path, "total", "ever")
    release = asked.release()
    verdict = verify(release.certificate)
    assert verdict
    assert "a record is all rows with the same 'person', of which at most 3 count" in str(verdict)
    total, _ = asked.plan_of(release).programs
    assert total.reads == ("cost",)
    records = structure_of(asked.spec)
    rows = program_rows(total, open_table(visits()), asked.spec.columns, records)
    assert rows.size == 12
    assert rows.columns["sum of cost"].sum() == pytest.approx(release.results[0].value, abs=0.2)
    assert release.programs[0].units == ("EUR",)


def test_a_program_may_count_fewer_rows(tmp_path: Path) -> None:
    asked = study(tmp_path, "total", most=1)
    plan = asked.check().plan
    records = structure_of(asked.spec)
    rows = program_rows(plan.programs[0], open_table(visits()), asked.spec.columns, records)
    assert max(rows.columns["sum of cost"]) <= 100


@pytest.mark.parametrize(
    ("name", "most", "data", "said"),
    [
        ("rows", 3, {}, "group_by(visits, by='person', most=3)"),
        ("total", 4, {}, "Write most=3 in the program"),
        ("total", 3, {"unit": "row", "max_rows": None}, 'unit = "person" and max_rows = 3'),
        ("total", 3, {"unit": "site"}, 'unit = "person" and max_rows = 3'),
        (
            "ever",
            3,
            {"columns": COLUMNS | {"site": {"states": ["a", "b"], "independent": True}}},
            "takes 'site' for Public",
        ),
    ],
)
def test_study_and_program_agree_on_what_a_record_is(
    tmp_path: Path, name: str, most: int, data: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as error:
        study(tmp_path, name, most=most, **data).check()
    assert said in str(error.value)


FORGED: dict[str, Callable[[Document], object]] = {
    "another key": lambda persons: persons.update(by="day"),
    "a public column of a private one": lambda persons: dict(persons["rows"])["cost"].update(
        public=True
    ),
}


def test_certificates_with_another_record_are_found_out(tmp_path: Path) -> None:
    honest = plain(study(tmp_path, "total").release().certificate)
    assert kernel.check(honest).verdict == "VALID ASSUMING"

    def forged(change: Callable[[Document], object]) -> str:
        document = copy.deepcopy(json.loads(json.dumps(honest)))
        for step in composed(document)["premises"]:
            if step.get("premises"):
                change(step["premises"][0]["evidence"]["program"])
        assert document != honest
        return kernel.check(renewed(document)).verdict

    fewer = copy.deepcopy(json.loads(json.dumps(honest))) | {"max_rows": 2}
    assert kernel.check(renewed(fewer)).verdict == "INVALID"  # of which the program counts three
    assert forged(lambda program: program.pop("persons")) == "INVALID"
    for change in FORGED.values():
        assert forged(lambda program, change=change: change(program["persons"])) == "INVALID"
