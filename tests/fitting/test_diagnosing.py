"""Tests of Gaussian models: quiet where the model is right, and heard where it is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesdp.fitting import fit_autoregressive, fit_exchangeable, fit_roles
from bayesdp.fitting.autoregressive import _checks, _observed
from bayesdp.fitting.clusters import contrasts
from bayesdp.fitting.comparing import SIGNIFICANT, FitCheck
from tests.effort import runs

Rng = np.random.Generator


def by_cluster(rows: np.ndarray) -> pd.DataFrame:
    """A row of the table for each entry, one cluster after the other."""
    names = np.repeat(np.arange(len(rows))[::-1], rows.shape[1])
    roles = np.tile(list("abcdef"[: rows.shape[1]]), len(rows))
    return pd.DataFrame({"cluster": names, "role": roles, "x": rows.ravel()})


def clusters(rng: Rng, count: int = 200, size: int = 3) -> np.ndarray:
    return rng.normal(size=(count, size)) + rng.normal(size=(count, 1))


def series(rng: Rng, count: int = 500, second: float = 0.0) -> np.ndarray:
    x = np.zeros(count + 100)
    for t in range(2, len(x)):
        x[t] = 0.5 * x[t - 1] + second * x[t - 2] + rng.normal()
    return x[100:]


def timed(x: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"t": np.arange(len(x)), "x": x})


def speaking(checks: tuple[FitCheck, ...]) -> set[str]:
    return {check.name for check in checks if not check.fits}


def of_clusters(rows: np.ndarray) -> tuple[FitCheck, ...]:
    return fit_exchangeable(by_cluster(rows), "x", "cluster").diagnostics


def of_roles(rows: np.ndarray) -> tuple[FitCheck, ...]:
    return fit_roles(by_cluster(rows), "x", "cluster", "role").diagnostics


def of_series(x: np.ndarray) -> tuple[FitCheck, ...]:
    """What `fit_autoregressive` looks at, without the region, which takes longer."""
    times = np.arange(float(len(x)))
    observed, _ = _observed(times, x, np.zeros(len(x), dtype=str), "t", 1.0)
    best = max(np.linspace(-0.95, 0.95, 39), key=observed.log_density)
    return _checks(observed, float(best))


@pytest.mark.prove
@pytest.mark.parametrize(
    ("diagnostics", "draw"), [(of_clusters, clusters), (of_roles, clusters), (of_series, series)]
)
def test_a_right_model_is_seldom_spoken_against(
    diagnostics: Callable[[np.ndarray], tuple[FitCheck, ...]], draw: Callable[[Rng], np.ndarray]
) -> None:
    rng, tried = np.random.default_rng(1), runs(100)
    alarms: dict[str, int] = {}
    for _ in range(tried):
        for check in diagnostics(draw(rng)):
            if check.p_value is not None:
                alarms[check.name] = alarms.get(check.name, 0) + (not check.fits)
    assert len(alarms) >= 3
    # The laws are those for many records: for some hundreds twice the share is allowed.
    most = binom.isf(1e-6, tried, 2 * SIGNIFICANT)
    assert all(number <= most for number in alarms.values()), alarms


def test_clusters_that_are_not_as_the_model_says() -> None:
    rng = np.random.default_rng(2)
    rows = clusters(rng)
    assert not speaking(of_clusters(rows))
    assert not speaking(of_roles(rows))
    skewed = speaking(of_clusters(np.exp(rows)))
    assert {"normality of differences within clusters", "normality of cluster means"} <= skewed
    means_only = rng.normal(size=(200, 3)) + 3 * rng.exponential(size=(200, 1))
    assert speaking(of_clusters(means_only)) == {"normality of cluster means"}
    assert "joint normality" in speaking(of_roles(np.exp(rows)))
    places = rng.normal(size=(200, 3)) * [1.0, 1.0, 2.0]
    assert "spread by place" in speaking(of_clusters(places))
    # Roles may differ in spread, halves of the table may not.
    assert not speaking(of_roles(places))
    louder = rows * np.linspace(1.0, 3.0, 200)[:, None]
    assert "spread over the table" in speaking(of_clusters(louder))
    assert "covariance over the table" in speaking(of_roles(louder))
    turned = rng.normal(size=(400, 2))
    turned[200:, 1] += turned[200:, 0]
    turned[200:, 1] /= np.sqrt(2.0)
    assert "covariance over the table" in speaking(of_roles(turned))
    village = np.repeat(rng.normal(size=40), 5)[:, None]
    for diagnostics in (of_clusters, of_roles):
        assert speaking(diagnostics(rows + village)) == {"clusters in the order of the table"}


def test_a_joint_law_with_gaussian_margins_is_not_enough() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    rows = np.stack([x, x * rng.choice([-1.0, 1.0], size=600)], axis=1)
    assert "joint normality" in speaking(of_roles(rows))


def test_series_that_are_not_as_the_model_says() -> None:
    rng = np.random.default_rng(4)
    x = series(rng)
    assert not speaking(of_series(x))
    assert "lag 2 against lag 1" in speaking(of_series(series(rng, second=0.3)))
    week = np.sin(2 * np.pi * np.arange(500) / 7)
    checks = of_series(x + 1.5 * week)
    assert "seasons" in speaking(checks)
    assert any("Shocks" in c.sentence and "steps apart" in c.sentence for c in checks)
    daily = series(rng, 2000) + 3 * np.tile(rng.normal(size=24), 84)[:2000]
    assert any("Shocks 24 steps" in c.sentence for c in of_series(daily))
    louder = x * np.where(np.arange(500) < 250, 1.0, 2.0)
    assert "spread over the time" in speaking(of_series(louder))
    assert any(name.startswith("normality") for name in speaking(of_series(np.exp(x))))


def test_gaps_and_series_are_not_neighbours() -> None:
    """Lags are counted in steps of time, within a series."""
    rng = np.random.default_rng(5)
    parts = [timed(series(rng, 300)).assign(who=who) for who in ("a", "b")]
    table = pd.concat(parts).sample(frac=0.7, random_state=6)
    assert not speaking(fit_autoregressive(table, "x", "t", series="who").diagnostics)
    season = np.sin(2 * np.pi * table["t"] / 5)
    checks = fit_autoregressive(table.assign(x=table.x + 3 * season), "x", "t", series="who")
    assert "seasons" in speaking(checks.diagnostics)


def test_few_records_are_not_tested() -> None:
    rng = np.random.default_rng(7)
    for checks in (of_clusters(clusters(rng, 8)), of_roles(clusters(rng, 8))):
        assert not speaking(checks)
        assert sum("was not tested" in check.sentence for check in checks) >= 3
    unequal = by_cluster(clusters(rng)).iloc[:-1]
    sentences = [c.sentence for c in fit_exchangeable(unequal, "x", "cluster").diagnostics]
    assert any("clusters differ in size" in sentence for sentence in sentences)


def test_contrasts_are_independent_and_of_one_variance() -> None:
    sizes = [3, 1, 2]
    members = np.repeat(np.arange(3), sizes)
    rows = np.eye(6)
    columns = np.stack([contrasts(row, members)[0] for row in rows])
    assert contrasts(rows[0], members)[1].tolist() == [0, 0, 2]
    assert columns.T @ columns == pytest.approx(np.eye(3))
    for cluster in range(3):
        assert columns[members == cluster].sum(axis=0) == pytest.approx(0.0)
