"""AR(1): the density against dense matrices, coverage with gaps, and the level over the region."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting.autoregressive import (
    FAR,
    FAR_SHARE,
    NEAR_SHARE,
    _observed,
    fit_autoregressive,
)
from tests.effort import runs

TIMES = {"a": np.arange(25.0), "b": np.r_[0:8, 11:20, 25].astype(float)}


def drawn(rng, phi, times=TIMES):
    rows = []
    for name, at in times.items():
        cov = phi ** np.abs(at[:, None] - at)
        values = 5.0 + 2.0 * np.linalg.cholesky(cov) @ rng.normal(size=len(at))
        rows += [(name, t, x) for t, x in zip(at, values, strict=True)]
    return pd.DataFrame(rows, columns=["series", "t", "x"])


def observed(frame):
    columns = (frame[name].to_numpy() for name in ("t", "x", "series"))
    times, values, names = columns
    return _observed(times, values, names.astype(str), "t", 1.0)[0]


def dense(frame, phi):
    same = frame["series"].to_numpy()[:, None] == frame["series"].to_numpy()
    t, x = frame["t"].to_numpy(), frame["x"].to_numpy()
    cov = np.where(same, phi ** np.abs(t[:, None] - t), 0.0)
    inverse, ones = np.linalg.inv(cov), np.ones(len(x))
    total = ones @ inverse @ ones
    rest = x @ inverse @ x - (ones @ inverse @ x) ** 2 / total
    logs = np.linalg.slogdet(cov)[1] + np.log(total) + (len(x) - 1) * np.log(rest)
    return -0.5 * logs


def test_the_density_is_that_of_dense_matrices():
    frame = drawn(np.random.default_rng(1), 0.6)
    series = observed(frame)
    for phi in (-0.7, -0.1, 0.0, 0.4, 0.95):
        ratio = series.log_density(phi) - series.log_density(0.3)
        assert ratio == pytest.approx(dense(frame, phi) - dense(frame, 0.3), abs=1e-8)


@pytest.mark.prove
@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.6, 0.95])
def test_the_region_holds_the_truth_as_often_as_said(phi):
    rng, tried = np.random.default_rng(2), runs(2000)
    missed = sum(not observed(drawn(rng, phi)).allows(phi, 0.8) for _ in range(tried))
    assert missed <= binom.isf(1e-6, tried, 0.2)


def test_the_region_is_not_everything_and_its_worst_end_is_declared():
    rng = np.random.default_rng(3)
    for phi in (-0.6, 0.6):
        frame = drawn(rng, phi, {"a": np.arange(600.0)})
        fitted = fit_autoregressive(frame, "x", "t")
        assert fitted.lower < fitted.coefficient < fitted.upper
        assert fitted.upper - fitted.lower < 0.25
        ends = (abs(fitted.lower), abs(fitted.upper))
        assert abs(fitted.population.coefficient) == max(ends)
        assert (fitted.population.length, fitted.records) == (600, 600)


def test_gaps_series_and_missing_cells():
    frame = drawn(np.random.default_rng(4), 0.2, {"a": np.arange(300.0), "b": np.arange(200.0)})
    frame.loc[5, "x"] = None
    fitted = fit_autoregressive(frame, "x", "t", series="series", length=365)
    assert (fitted.series, fitted.records, fitted.dropped) == (2, 499, 1)
    assert fitted.population.length == 365
    with pytest.raises(InputError, match="step"):
        fit_autoregressive(frame, "x", "t")
    with pytest.raises(InputError, match="step"):
        fit_autoregressive(frame, "x", "t", series="series", step=2.0)
    with pytest.raises(InputError, match="at least 300"):
        fit_autoregressive(frame, "x", "t", series="series", length=10)
    with pytest.raises(UnsupportedError, match="reaches an end"):
        fit_autoregressive(frame.head(6), "x", "t")
    with pytest.raises(UnsupportedError, match="differ"):
        fit_autoregressive(frame.assign(x=1.0), "x", "t", series="series")


def test_the_shares_sum_to_one():
    assert 2 * NEAR_SHARE + len(FAR) * FAR_SHARE == pytest.approx(1.0)


def test_dates_and_times_are_read_as_chains_read_them() -> None:
    frame = drawn(np.random.default_rng(6), 0.4, {"a": np.r_[0:120, 125:200].astype(float)})
    numbers = fit_autoregressive(frame, "x", "t")
    begin = pd.Timestamp("2023-02-25")
    days = frame.assign(t=[str((begin + pd.Timedelta(days=t)).date()) for t in frame.t])
    quarters = frame.assign(t=[begin + pd.Timedelta(minutes=15 * t) for t in frame.t])
    months = [pd.Timestamp(year=2000 + int(t) // 12, month=1 + int(t) % 12, day=1) for t in frame.t]
    for table, step in (
        (days, "1 day"),
        (quarters, "15 minutes"),
        (frame.assign(t=months), "1 month"),
    ):
        fitted = fit_autoregressive(table, "x", "t", step=step)
        assert (fitted.lower, fitted.upper) == (numbers.lower, numbers.upper)
        assert fitted.population.length == numbers.population.length == 200
    german = frame.assign(t=[f"{day:%d.%m.%Y}" for day in pd.to_datetime(days.t)])
    written = fit_autoregressive(german, "x", "t", step="1 day", time_format="%d.%m.%Y")
    assert (written.lower, written.upper) == (numbers.lower, numbers.upper)
    with pytest.raises(InputError, match=r"time is '[0-9]+ cells'"):  # there is no month 13
        fit_autoregressive(german, "x", "t", step="1 day", time_format="%m.%d.%Y")
    with pytest.raises(InputError, match=r"^time_format is '%d\.%m'"):
        fit_autoregressive(german, "x", "t", step="1 day", time_format="%d.%m")
    days.loc[3, "t"] = None
    assert fit_autoregressive(days, "x", "t", step="1 day").dropped == 1
    for table, step in ((days, 1.0), (frame, "1 day"), (days.assign(t="?"), "1 day")):
        with pytest.raises(InputError, match="step"):
            fit_autoregressive(table, "x", "t", step=step)
    mixed = [f"2023-03-01T00:{m:02}" + "Z" * (m % 2) for m in range(60)]
    with pytest.raises(InputError, match="one kind"):
        fit_autoregressive(frame.head(60).assign(t=mixed), "x", "t", step="1 minute")
    with pytest.raises(InputError, match="step"):
        fit_autoregressive(days, "x", "t", step="2 days")
