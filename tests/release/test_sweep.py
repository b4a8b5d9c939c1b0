"""A study at several levels, before any data are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bayesdp as bdp

MEAN = {"name": "mean", "kind": "mean", "column": "height"}
TALL = {"name": "tall", "kind": "count", "where": "height > 170"}
WANTED = {"name": "wanted", "kind": "count", "where": "height > 180", "error": 20}
BY = {"name": "by sex", "kind": "mean", "column": "height", "by": "sex"}


def study(folder: Path, *queries: dict[str, Any], table: Any = None, **budget: Any) -> bdp.Study:
    """Without a table, unless one is given: a sweep can't read what isn't there."""
    return bdp.Study(
        table,
        dataset="pairs",
        n=6,
        columns={
            "pair": {"role": "cluster"},
            "height": {"bounds": [120, 220], "unit": "cm"},
            "sex": {"public": True, "states": ["f", "m"]},
        },
        population=bdp.Clusters(2, covers=["height"]),
        budget={"epsilon": 1.0} | budget,
        queries=list(queries) or [MEAN],
        ledger=str(folder / "ledger.db"),
    )


@pytest.mark.parametrize("noise", [{}, {"delta": 1e-6}])
def test_each_row_is_what_a_check_says_that_spends_the_target(
    noise: dict[str, Any], tmp_path: Path
) -> None:
    targets = [0.1, 0.3, 1, 3]
    swept = study(tmp_path, MEAN, TALL, BY, epsilon=2.0, spend=0.7, **noise).sweep(targets)
    assert [row.target for row in swept] == targets
    assert len(swept) == 4
    for row in swept:
        total = max(2.0, row.target)
        alone = study(tmp_path, MEAN, TALL, BY, epsilon=total, spend=row.target, **noise).check()
        assert row.check is not None
        plan = row.check.plan
        assert plan.study.budget == alone.plan.study.budget
        assert plan.level == alone.plan.level <= row.target
        assert (plan.dp_epsilon, plan.dp_rho) == (alone.plan.dp_epsilon, alone.plan.dp_rho)
        for query, other in zip(plan.queries, alone.plan.queries, strict=True):
            assert query.error(0.95, 6) == other.error(0.95, 6)
    errors = [row.check.plan.queries[0].error(0.95, 6) for row in swept if row.check]
    assert errors == sorted(errors, reverse=True)
    # What the data set's declared total of 2 allows, it says too.
    assert [bool(row.refusal) for row in swept] == [False, False, False, True]
    assert "it would rise to 3; 2 of 2 is left" in swept.rows[3].refusal
    assert not (tmp_path / "ledger.db").exists()


def test_the_price_by_hand(tmp_path: Path) -> None:
    """In clusters of 2 the level is twice the DP cost; a count with cost 1/4 has Laplace noise."""
    (row,) = study(tmp_path, TALL).sweep([0.5])
    assert row.check is not None
    assert row.check.plan.dp_epsilon == pytest.approx(0.25, rel=1e-6)
    # P(|noise| > 11) = 2 q^12 / (1 + q) for q = e^(-1/4), the first below 5 %: 0.056, then 0.0436.
    assert row.check.plan.queries[0].error(0.95, 6) == 12
    assert str(row) == "0.5: level 0.5, DP cost 0.25; tall +- 12"


def test_a_notebook_shows_a_row_for_each_level(tmp_path: Path) -> None:
    page = study(tmp_path, TALL, MEAN).sweep([0.5, 3])._repr_html_()
    assert page.count("<tr>") == 3
    for text in ("level asked for", ">tall (95 %)<", ">0.5<", "is left"):
        assert text in page, text


def test_a_target_that_cannot_be_met_is_a_row_that_says_why(tmp_path: Path) -> None:
    low, high = study(tmp_path, WANTED, MEAN).sweep([0.1, 1])
    assert low.check is None
    assert "The wanted errors alone reach the level" in low.refusal
    assert str(low).startswith("0.1: refused: The wanted errors")
    assert high.check is not None
    assert high.refusal == ""
    # The levels of a sweep are what it may spend: that a study might spend more is no advice.
    low, lower = study(tmp_path, WANTED, MEAN, epsilon=2.0, spend=0.5).sweep([0.1, 0.01])
    assert "Ask for larger errors" in low.refusal
    assert "budget.spend" not in low.refusal + lower.refusal
    with pytest.raises(bdp.BudgetExceededError, match=r"or raise budget\.spend"):
        study(tmp_path, WANTED, MEAN, epsilon=2.0, spend=0.1).check()
    tiny, item = study(tmp_path, MEAN).sweep([1e-300, 1])
    assert tiny.check is None
    assert "Use weights closer to each other, or a larger budget" in tiny.refusal
    assert item.refusal == ""


def test_what_is_spent_counts_and_nothing_is_written(tmp_path: Path) -> None:
    import pandas as pd

    table = pd.DataFrame(
        {"pair": list("aabbcc"), "height": [150.0, 165, 182, 121, 168, 171], "sex": ["f", "m"] * 3}
    )
    made = study(tmp_path, MEAN, table=table, spend=0.6)
    made.release()
    before = (tmp_path / "ledger.db").read_bytes()
    swept = made.sweep([0.3, 0.5])
    assert [bool(row.refusal) for row in swept] == [False, True]
    assert "now at 0.6, it would rise to 1.1" in swept.rows[1].refusal
    assert (tmp_path / "ledger.db").read_bytes() == before
    with pytest.raises(bdp.InputError, match="total"):  # as a check says: another total
        study(tmp_path, MEAN, epsilon=5.0).sweep([0.3])


@pytest.mark.parametrize(
    "targets", [[], "1", [0.0], [-1], [float("nan")], [float("inf")], [1, 2e6], [None], ["1"]]
)
def test_what_is_not_a_level_is_refused(targets: Any, tmp_path: Path) -> None:
    with pytest.raises(bdp.InputError, match="targets"):
        study(tmp_path).sweep(targets)


def test_a_study_that_is_wrong_at_every_level_is_wrong(tmp_path: Path) -> None:
    wrong = study(tmp_path, {**BY, "error": 1})
    with pytest.raises(bdp.InputError, match=r"query\[0\]\.error"):
        wrong.sweep([0.1, 1])
