"""Correlations of released covariances and variances: the interval holds, and wrong parts fail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.release import Study
from bayesdp.release.derived.correlations import correlation
from bayesdp.release.results.release import Release
from tests.effort import runs


def release(folder: Path, epsilon: float) -> Release:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, 500)
    y = x + rng.uniform(0, 0.6, 500)
    frame = pd.DataFrame({"x": x, "y": y, "g": np.resize(["a", "b"], 500)})
    spread = {"kind": "variance"}
    return Study(
        frame,
        dataset="d",
        n=500,
        columns={
            "x": {"bounds": [0.0, 1.0]},
            "y": {"bounds": [0.0, 2.0], "unit": "m"},
            "g": {"public": True, "states": ["a", "b"]},
        },
        population={"model": "independent", "covers": ["x", "y"], "source": "us"},
        budget={"epsilon": epsilon},
        ledger=str(folder / "ledger.db"),
        queries=[
            {"name": "c", "kind": "covariance", "column": ["x", "y"]},
            {"name": "vx", "column": "x"} | spread,
            {"name": "vy", "column": "y"} | spread,
            {"name": "by", "column": "y", "by": "g"} | spread,
            {"name": "m", "kind": "mean", "column": "x"},
        ],
    ).release()


def test_it_is_that_of_numpy(tmp_path: Path) -> None:
    made = release(tmp_path, 1e6)
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, 500)
    true = np.corrcoef(x, x + rng.uniform(0, 0.6, 500))[0, 1]
    for parts in (("vx", "vy"), ("vy", "vx")):
        result = made["c"].correlation(*(made[name] for name in parts))
        assert result.value == pytest.approx(true, rel=1e-3)
        assert result.low <= true <= result.high
        assert str(result).endswith("(95 %)")


def test_other_parts_are_refused(tmp_path: Path) -> None:
    made = release(tmp_path, 1e3)
    c, vx, vy = made["c"], made["vx"], made["vy"]
    with pytest.raises(InputError, match="a result of kind covariance"):
        vx.correlation(c, vy)
    with pytest.raises(InputError, match="a result of kind variance"):
        c.correlation(made["m"], vy)
    with pytest.raises(InputError, match="the variances of x and y"):
        c.correlation(vx, vx)
    with pytest.raises(InputError, match="of the same rows"):
        c.correlation(vx, made["by", "a"])
    with pytest.raises(InputError, match="of the same rows"):  # as many, but others
        c.correlation(vx, replace(vy, rows_of=("team == 'red'", None)))


@dataclass(frozen=True)
class Number:
    kind: str
    columns: tuple[str, ...]
    value: float
    scale: float
    query: str = "q"
    group: None = None
    rows: int = 9

    def error(self, confidence: float = 0.95) -> float:
        return float(-self.scale * np.log(1.0 - confidence))


def parts(values: list[float], scales: list[float]) -> list[Number]:
    kinds = [("covariance", ("x", "y")), ("variance", ("x",)), ("variance", ("y",))]
    return [Number(*kind, v, s) for kind, v, s in zip(kinds, values, scales, strict=True)]


def test_by_hand() -> None:
    """Errors of 1 at 1 - 0.05 / 3: ends are (c -+ 1) / sqrt((v +- 1) (w +- 1))."""
    scale = 1.0 / np.log(60.0)
    result = correlation(*parts([4.0, 5.0, 10.0], [scale] * 3))
    assert result.low == pytest.approx(3 / np.sqrt(66.0))
    assert result.high == pytest.approx(5 / 6)
    result = correlation(*parts([-4.0, 5.0, 10.0], [scale] * 3))
    assert (result.low, result.high) == pytest.approx((-5 / 6, -3 / np.sqrt(66.0)))
    result = correlation(*parts([0.5, 5.0, 10.0], [scale] * 3))
    assert (result.low, result.high) == pytest.approx((-0.5 / 6, 1.5 / 6))
    result = correlation(*parts([9.0, 5.0, 0.5], [scale] * 3))
    assert (result.value, result.high) == (1.0, 1.0)
    with pytest.raises(InputError, match="variances above 0"):
        correlation(*parts([1.0, 0.0, 10.0], [scale] * 3))


@pytest.mark.prove
def test_the_interval_holds_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    for covariance in (-3.0, 0.0, 3.9):
        true, hits, shown = covariance / 4.0, 0, 0
        for _ in range(runs(10_000)):
            noise = rng.laplace(0.0, 0.2, 3)
            values = [covariance + noise[0], 4.0 + noise[1], 4.0 + noise[2]]
            result = correlation(*parts(values, [0.2] * 3))
            hits, shown = hits + (result.low <= true <= result.high), shown + 1
        assert hits >= 0.95 * shown
