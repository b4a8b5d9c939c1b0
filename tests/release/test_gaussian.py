"""Studies of Gaussian populations: named members, a precision of all rows, several columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from bayesdp import Study, verify
from bayesdp.accounting.costs.composition import cost_for
from bayesdp.certificate import Certificate
from bayesdp.errors import BayesdpError, InputError, TableMismatchError
from bayesdp.tables.checks.findings import inspect
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.source import open_table
from tests.kernel.mutations import sealed

FAMILY = [[50.0, 20.0, 20.0], [20.0, 45.0, 0.0], [20.0, 0.0, 40.0]]
ROLES = ["child", "father", "mother"]
TABLE = pd.DataFrame(
    {
        "family": ["a", "a", "a", "b", "b", "c"],
        "who": ["child", "father", "mother", "child", "mother", "father"],
        "height": [170.0, 180.0, 165.0, 150.0, 170.0, 175.0],
        "weight": [70.0, 80.0, 60.0, 45.0, 65.0, 90.0],
    }
)


def family(table: pd.DataFrame = TABLE, folder: Path | None = None, **changes: Any) -> Study:
    columns = {
        "family": {"role": "cluster"},
        "who": {"role": "member", "states": ROLES},
        "height": {"bounds": [120, 220]},
        "weight": {"bounds": [30, 130]},
    }
    population = {
        "model": "gaussian",
        "covariance": FAMILY,
        "roles": ROLES,
        "covers": ["height"],
    }
    return Study(
        table,
        dataset="families",
        n=len(table),
        columns=columns | changes.pop("columns", {}),
        population=population | changes.pop("population", {}),
        budget={"epsilon": 1.0},
        queries=changes.pop("queries", [{"name": "mean", "kind": "mean", "column": "height"}]),
        ledger=None if folder is None else str(folder / "ledger.db"),
    )


def codes(table: pd.DataFrame) -> set[str]:
    return {finding.code for finding in family(table).inspect()}


# ------------------------------------------------------ members


def test_families_may_lack_members_and_no_member_comes_twice(tmp_path):
    assert codes(TABLE) == set()
    twice = TABLE.assign(who=["child", "father", "father", "child", "mother", "father"])
    assert codes(twice) == {"duplicate-member"}
    stranger = TABLE.assign(who=["child", "father", "uncle", "child", "mother", "father"])
    assert codes(stranger) == {"undeclared"}
    nobody = TABLE.assign(who=["child", "father", None, "child", "mother", "father"])
    assert codes(nobody) == {"missing"}
    for wrong in (twice, stranger, nobody):
        with pytest.raises(TableMismatchError):
            family(wrong, tmp_path).release()


def test_the_same_member_written_in_two_ways(tmp_path):
    columns = parse_columns(
        {"family": {"role": "cluster"}, "who": {"role": "member", "states": [1, 2]}}
    )
    for second, actual in (("2", set()), ("1.0", {"duplicate-member"})):
        (tmp_path / "t.csv").write_text(f"family,who\na,1\na,{second}\nb,1\n")
        table = open_table("t.csv", tmp_path)
        assert {problem.code for problem in inspect(table, columns, Structure(n=3))} == actual


def test_members_are_released_verified_and_told(tmp_path):
    study = family(folder=tmp_path)
    release = study.release()
    assert release.certificate.derivation.premises[0].rule == "gaussian-covariance"
    assert "child, father, mother" in study.spec.population.describe()
    assert any("which row is which" in said for said in release.certificate.body["assumptions"])
    again = Certificate.from_dict(json.loads(release.certificate.to_json()))
    assert verify(again).verdict == "VALID ASSUMING"


def test_members_and_roles_go_together():
    with pytest.raises(InputError, match='role "member"'):
        family(columns={"who": {"public": True, "states": ROLES}})
    with pytest.raises(InputError, match=r"population\.roles"):
        family(population={"roles": None})
    with pytest.raises(InputError, match="mother"):
        family(columns={"who": {"role": "member", "states": ["child", "moter"]}})
    with pytest.raises(InputError, match="names of the members"):
        family(columns={"who": {"role": "member"}})


def test_without_roles_the_certificate_says_what_it_assumes():
    study = family(population={"roles": None}, columns={"who": {"public": True, "states": ROLES}})
    assert study.spec.population is not None
    assert any("every such assignment" in said for said in study.spec.population.assumptions())


# ------------------------------------------------------ a precision of all rows


def field(tmp_path: Path, records: int, sites: int) -> Path:
    side = np.full(sites - 1, -0.4)
    matrix = sp.diags_array([side, np.full(sites, 1.16), side], offsets=[-1, 0, 1])
    mmwrite(tmp_path / "field.mtx", matrix, symmetry="symmetric")
    pd.DataFrame({"x": np.linspace(0, 1, records)}).to_csv(tmp_path / "field.csv", index=False)
    (tmp_path / "study.toml").write_text(
        f"""
[data]
source = "field.csv"
dataset = "field"
n = {records}
[data.columns]
x = {{ bounds = [0, 1] }}
[population]
model = "gaussian"
precision = "field.mtx"
covers = ["x"]
[budget]
epsilon = 1.0
[[query]]
name = "mean"
kind = "mean"
column = "x"
"""
    )
    return tmp_path / "study.toml"


def test_a_precision_of_all_records(tmp_path):
    release = Study.load(field(tmp_path, 50, 60)).release()  # ten sites are absent
    assert release.certificate.derivation.premises[0].rule == "gaussian-walk-summable"
    assert 1 / 2.5 < release.dp_epsilon < 1 / 2.3
    assert any("which row is which" in said for said in release.certificate.body["assumptions"])
    verdict = verify(
        release.certificate
    )  # the kernel reads no files: it says so, and proves nothing
    assert (verdict.verdict, "file" in verdict.reason) == ("UNKNOWN", True)


def test_more_records_than_the_precision_has_rows(tmp_path):
    with pytest.raises(BayesdpError, match=r"at least data\.n = 61"):
        Study.load(field(tmp_path, 61, 60)).check()


# ------------------------------------------------------ several columns

VECTOR = {
    "model": "gaussian",
    "size": 2,
    "covers": ["weight", "height"],
    "bounds": [[30, 130], [120, 220]],
    "covariance": np.kron([[1, 0.5], [0.5, 1]], [[100, 30], [30, 50]]).tolist(),
}


def people(folder: Path | None = None, queries: Any = None) -> Study:
    table = TABLE[TABLE.who != "father"].reset_index(drop=True)
    return Study(
        table,
        dataset="people",
        n=len(table),
        columns={
            "family": {"role": "cluster"},
            "height": {"bounds": [120, 220]},
            "weight": {"bounds": [30, 130]},
        },
        population=VECTOR,
        budget={"epsilon": 1.0},
        queries=queries
        or [
            {"name": "height", "kind": "mean", "column": "height"},
            {"name": "weight", "kind": "mean", "column": "weight"},
        ],
        ledger=None if folder is None else str(folder / "ledger.db"),
    )


def test_two_columns_are_priced_released_and_verified(tmp_path):
    study = people(tmp_path)
    plan = study.check().plan
    # Kronecker: the regression of one record on another is half the identity in each column.
    assert plan.dp_epsilon == pytest.approx(1 / 1.5, rel=1e-3)
    cost = cost_for(plan.reading, plan.spends)
    assert {item.column for item in cost.by_column} == {"height", "weight"}
    assert cost.lipschitz == 0.0
    assert plan.level <= 1.0
    release = study.release()
    body = release.certificate.body
    assert body["claim"]["secrets"] == {
        "kind": "bounded",
        "intervals": {"weight": [30.0, 130.0], "height": [120.0, 220.0]},
    }
    assert any("between 120 and 220 (height)" in said for said in body["assumptions"])
    assert verify(release.certificate).verdict == "VALID ASSUMING"


@pytest.mark.parametrize(
    "tamper",
    [
        lambda data: data["claim"]["secrets"]["intervals"].update(height=[0.0, 400.0]),
        lambda data: data["claim"].update(secrets={"kind": "any"}),
        lambda data: data["population"].update(columns=["height", "weight"]),
        lambda data: data["derivation"]["premises"][0]["evidence"]["cost"].update(by_column=[]),
    ],
)
def test_tampered_certificates_of_vectors_are_invalid(tmp_path, tamper):
    data = json.loads(people(tmp_path).release().certificate.to_json())
    tamper(data)
    assert verify(sealed(data)).verdict == "INVALID"


def test_the_level_of_two_studies_together(tmp_path):
    """A second release on the other column is counted in the same sum."""
    first = [{"name": "h", "kind": "mean", "column": "height", "error": 400}]
    second = [{"name": "w", "kind": "mean", "column": "weight", "error": 400}]
    item = people(tmp_path, first).release()
    two = people(tmp_path, second).release()
    level = two.certificate.body["data_set"]["level"]
    assert level == pytest.approx(1.5 * (item.dp_epsilon + two.dp_epsilon), rel=1e-3)


@pytest.mark.parametrize(
    ("query", "missing", "kind"),
    [
        ({"kind": "sum"}, None, "lipschitz"),
        ({"kind": "mean"}, None, "lipschitz"),
        ({"kind": "sum", "where": "who == 'child'"}, None, "lipschitz"),
        ({"kind": "sum", "where": "height > 160"}, None, "any"),
        ({"kind": "sum"}, {"impute": 170}, "any"),
        ({"kind": "quantile", "probability": 0.5, "step": 1.0}, None, "any"),
        ({"kind": "variance"}, None, "any"),
        ({"kind": "histogram", "bins": [120, 160, 220]}, None, "any"),
    ],
)
def test_only_sums_and_means_of_clipped_values_are_lipschitz(
    query: dict[str, Any], missing: dict[str, int] | None, kind: str
) -> None:
    """What jumps when a value moves a little costs the bound of the whole family (theory 7)."""
    height = {"bounds": [120, 220]} | ({"missing": missing} if missing else {})
    study = family(columns={"height": height}, queries=[{"name": "q", "column": "height"} | query])
    plan = study.check().plan
    (spend,) = plan.spends
    assert spend.kind == kind
    dearer = 3.0 if kind == "any" else 1.0 + 20 / 50 + 20 / 50  # the child moves both
    assert plan.level == pytest.approx(dearer * spend.dp_epsilon, rel=1e-3)
