"""A refusal for the budget says what a study may spend instead, and that then works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bayesdp.errors import BudgetExceededError
from bayesdp.release import Study
from tests.release.test_in_python import MEAN, TALL, study


def remedy(text: str) -> float:
    (number,) = re.findall(r"With budget\.spend = (\S+) in the study it would fit\.", text)
    return float(number)


@pytest.mark.parametrize("delta", [{}, {"delta": 1e-6, "noise": "gaussian"}])
def test_the_level_that_is_named_fits_and_uses_what_is_left(
    delta: dict[str, Any], tmp_path: Path
) -> None:
    study(tmp_path, MEAN, TALL, spend=0.7, **delta).release()
    again: Study = study(tmp_path, MEAN, spend=0.9, **delta)
    refusal = again.check().preview.refusal
    assert refusal is not None
    with pytest.raises(BudgetExceededError) as caught:
        again.release()
    assert str(caught.value) == f"{refusal} Nothing was released and nothing was spent."
    less = remedy(refusal)
    assert less > (0.29 if not delta else 0.05)
    release = study(tmp_path, MEAN, spend=less, **delta).release()
    assert release.level <= less


def test_nothing_is_named_where_nothing_fits(tmp_path: Path) -> None:
    study(tmp_path, MEAN).release()
    refusal = study(tmp_path, TALL).check().preview.refusal
    assert refusal is not None
    assert "budget.spend" not in refusal


def test_no_level_is_named_that_was_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(tmp_path, MEAN, TALL, spend=0.7).release()
    monkeypatch.setattr("bayesdp.release.checking.smaller_spend.own_level", lambda *asked: 0.9)
    refusal = study(tmp_path, MEAN, spend=0.9).check().preview.refusal
    assert refusal is not None
    assert "budget.spend" not in refusal


def test_nothing_is_named_where_a_wanted_error_costs_more(tmp_path: Path) -> None:
    study(tmp_path, MEAN, spend=0.7).release()
    wanted = TALL | {"error": 8}
    refusal = study(tmp_path, wanted, spend=0.9).check().preview.refusal
    assert refusal is not None
    assert "budget.spend" not in refusal


def test_a_study_that_spends_less_than_its_total_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(BudgetExceededError, match=r"raise budget\.spend \(it is 0\.1, of 1\)"):
        study(tmp_path, TALL | {"error": 8}, spend=0.1).check()
