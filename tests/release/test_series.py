"""Series of a study: from the table to sums with noise, and what people are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesdp as bdp
from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release import Study

Document = dict[str, Any]
MONTHS = [f"2024-{month:02}" for month in range(1, 13)]
RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "month": RNG.choice(MONTHS, 300),
        "ill": RNG.integers(0, 2, 300),
        "cost": RNG.uniform(-2.0, 9.0, 300),
        "stage": RNG.integers(1, 6, 300),
    }
)
COLUMNS: Document = {
    "month": {"public": True, "states": MONTHS},
    "ill": {"states": [0, 1]},
    "cost": {"bounds": [-1.0, 8.0], "unit": "EUR"},
    "stage": {"states": [1, 2, 3, 4, 5]},
}
COUNT: Document = {"kind": "series", "by": "month", "where": "ill == 1"}
COST: Document = {"kind": "series", "by": "month", "column": "cost"}
STAGES: Document = {"kind": "series", "column": "stage"}
GAUSSIAN = {"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"}


def study(folder: Path, *queries: Document, **other: Any) -> Study:
    made: Document = {
        "dataset": "d",
        "n": len(TABLE),
        "columns": COLUMNS,
        "population": {"model": "independent", "covers": ["ill", "cost", "stage"], "source": "us"},
        "budget": {"epsilon": 4.0},
        "ledger": str(folder / "ledger.db"),
    }
    named = [{"name": f"q{i}"} | query for i, query in enumerate(queries)]
    return Study(TABLE, **(made | other), queries=named)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("strategy", ["auto", "identity", "tree"])
def test_they_are_those_of_pandas(
    gaussian: bool, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without noise, from the table to each number; the certificate is valid all the same."""
    law = DiscreteGaussian if gaussian else DiscreteLaplace
    scales: list[float] = []

    def exact(noise: DiscreteGaussian | DiscreteLaplace, values: list[int]) -> list[int]:
        scales.append(noise.scale)
        return list(values)

    monkeypatch.setattr(law, "release", exact)
    asked = [COUNT, COST, STAGES | {"answers": "ranges"}, COST | {"where": "ill == 1"}]
    made = [query | {"strategy": strategy} for query in asked]
    budget = GAUSSIAN if gaussian else {"epsilon": 4.0}
    release = study(tmp_path, *made, budget=budget).release()
    clipped = TABLE.assign(cost=TABLE.cost.clip(-1.0, 8.0))
    ill = clipped[clipped.ill == 1]
    due = [
        ill.groupby("month").size().cumsum(),
        clipped.groupby("month").cost.sum().cumsum(),
        clipped.groupby("stage").size(),
        ill.groupby("month").cost.sum().cumsum(),
    ]
    for name, numbers in zip(("q0", "q1", "q2", "q3"), due, strict=True):
        assert [result.value for result in release[name]] == pytest.approx(list(numbers), abs=1e-3)
    steps = release.certificate.to_dict()["derivation"]["premises"][0]
    while steps["rule"] != "sequential-composition":
        (steps,) = steps["premises"]
    assert scales == [step["evidence"]["scale"] for step in steps["premises"]]
    assert bdp.verify(release.certificate).verdict == "VALID ASSUMING"
    shown = release["q1", "2024-03"]
    assert shown.unit == "EUR"
    assert 0 < shown.error(0.5) < shown.error() < shown.simultaneous_error()


def test_auto_takes_the_smallest_stated_error(tmp_path: Path) -> None:
    for budget in ({"epsilon": 4.0}, GAUSSIAN):
        for answers in ("periods", "cumulative", "ranges"):
            root = budget == GAUSSIAN and answers == "cumulative"
            names = ["auto", "identity", "tree", *(["square-root"] if root else [])]
            errors = {}
            for name in names:
                query = COUNT | {"answers": answers, "strategy": name}
                (planned,) = study(tmp_path, query, budget=budget).check().plan.queries
                errors[name] = planned.error()
            least = min(error for name, error in errors.items() if name != "auto")
            assert errors["auto"] == pytest.approx(least, rel=0.05)


@pytest.mark.parametrize("budget", [{"epsilon": 40.0}, GAUSSIAN | {"epsilon": 40.0}])
def test_a_wanted_error_is_kept(budget: Document, tmp_path: Path) -> None:
    for query, error in ((COUNT, 40.0), (COST, 400.0), (STAGES | {"answers": "ranges"}, 50.0)):
        (planned,) = study(tmp_path, query | {"error": error}, budget=budget).check().plan.queries
        found_error = planned.error()
        assert found_error is not None
        assert 0.9 * error < found_error <= error


@pytest.mark.parametrize(
    ("query", "columns", "said"),
    [
        (COUNT | {"strategy": "square-root"}, {}, "strategy"),
        (COUNT | {"strategy": "square-root", "answers": "ranges"}, {}, 'answers = "ranges"'),
        (COUNT | {"by": ["month", "month"]}, {}, "by"),
        (COUNT | {"where": "month == '2024-01'"}, {}, "private column"),
        ({"kind": "series", "by": "month"}, {}, "where"),
        ({"kind": "series", "column": "cost"}, {}, "the public column of the periods"),
        ({"kind": "series", "where": "ill == 1"}, {}, ""),
        (STAGES, {"stage": {"states": [5, 1, 2, 3, 4]}}, "in their order"),
        (COUNT, {"month": {"public": True, "states": ["2024-01"]}}, ""),
        ({"kind": "count", "where": "ill == 1", "strategy": "tree"}, {}, "series"),
        ({"kind": "count", "where": "ill == 1", "answers": "ranges"}, {}, "series"),
    ],
)
def test_what_is_refused(query: Document, columns: Document, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        study(tmp_path, query, columns=COLUMNS | columns).check()
    assert said in str(refused.value)


def test_too_many_periods_are_refused_with_their_number(tmp_path: Path) -> None:
    many = {"month": {"public": True, "states": list(range(10_001))}}
    with pytest.raises(InputError, match="There are 10001"):
        study(tmp_path, COUNT, columns=COLUMNS | many).check()


@pytest.mark.parametrize(
    ("refused", "query", "budget"),
    [
        (COUNT | {"strategy": "square-root"}, COUNT | {"strategy": "square-root"}, GAUSSIAN),
        (
            COUNT | {"strategy": "square-root", "answers": "ranges"},
            COUNT | {"strategy": "square-root", "answers": "cumulative"},
            GAUSSIAN,
        ),
        ({"kind": "series", "column": "cost"}, COST, {"epsilon": 4.0}),
    ],
)
def test_remedies_help(
    refused: Document, query: Document, budget: Document, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        study(tmp_path, refused).check()
    assert study(tmp_path, query, budget=budget).check().plan.queries
