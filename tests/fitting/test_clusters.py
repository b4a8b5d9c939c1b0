"""Exchangeable clusters: the published values, the exact interval, and the level over it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, f

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import fit_autoregressive, fit_roles
from bayesdp.fitting.clusters import fit_exchangeable, intraclass_interval
from bayesdp.fitting.diagnosing import place_p_value
from bayesdp.fitting.numbers_of import between_words
from tests.effort import runs
from tests.oracles import gaussian

SIZES = (2, 3, 3, 5, 1)


def table(rng, sizes, rho, common=0.0):
    rows = []
    for name, size in enumerate(sizes):
        cov = np.full((size, size), rho) + (1 - rho) * np.eye(size)
        draws = common + 3.0 * np.linalg.cholesky(cov) @ rng.normal(size=size)
        rows += [(f"c{name}", float(x)) for x in draws]
    return pd.DataFrame(rows, columns=["cluster", "x"])


def summaries(frame):
    grouped = frame.groupby("cluster")["x"]
    within = float(((frame["x"] - grouped.transform("mean")) ** 2).sum())
    return grouped.size().to_numpy(float), grouped.mean().to_numpy(), within


@pytest.mark.prove
@pytest.mark.parametrize(("rho", "repeat"), [(-0.15, 4), (0.0, 2), (0.4, 4), (0.9, 20)])
def test_the_interval_holds_the_truth_as_often_as_said(rho, repeat):
    rng, tried = np.random.default_rng(5), runs(2000)
    missed = [0, 0]
    for _ in range(tried):
        lower, upper = intraclass_interval(*summaries(table(rng, SIZES * repeat, rho)), 0.9)
        missed[0] += rho < lower
        missed[1] += rho > upper
    for side in missed:
        assert binom.ppf(1e-6, tried, 0.05) <= side <= binom.isf(1e-6, tried, 0.05)


def test_equal_sizes_have_the_f_interval():
    rng = np.random.default_rng(6)
    sizes, means, within = summaries(table(rng, [4] * 30, 0.3))
    ratio = 4 * means.var(ddof=1) / (within / 90)
    lower, upper = intraclass_interval(sizes, means, within, 0.95)
    for end, quantile in ((lower, f.isf(0.025, 29, 90)), (upper, f.ppf(0.025, 29, 90))):
        theta = (ratio / quantile - 1) / 4
        assert end == pytest.approx(theta / (1 + theta), abs=3e-9)


def test_the_population_has_the_worst_level_of_the_region():
    rng = np.random.default_rng(7)
    fitted = fit_exchangeable(table(rng, [4] * 40, 0.3), "x", "cluster")
    level = fitted.population.leakage(0.5, kind="lipschitz").best.epsilon
    for rho in np.linspace(max(fitted.lower, -0.33), fitted.upper, 9):
        cov = np.full((4, 4), rho) + (1 - rho) * np.eye(4)
        assert level >= 0.5 * gaussian.shift_factor(cov) - 1e-12
    assert level == pytest.approx(0.5 * (1 + 3 * max(fitted.upper, -fitted.lower)), rel=1e-6)


def test_the_factor_depends_on_the_size_of_the_correlation_only():
    for size in range(2, 6):
        for rho in np.linspace(-0.99 / (size - 1), 0.99, 12):
            cov = np.full((size, size), rho) + (1 - rho) * np.eye(size)
            assert gaussian.shift_factor(cov) == pytest.approx(1 + (size - 1) * abs(rho))


def test_one_column_is_not_two_things():
    frame = pd.DataFrame(
        {"cluster": [1.0, 1.0, 2.0], "x": [1.0, 2.0, 3.0], "role": ["a", "b", "a"]}
    )
    for fit, named in (
        (fit_exchangeable, ("x", "x")),
        (fit_roles, ("x", "cluster", "cluster")),
        (fit_roles, ("x", "x", "role")),
        (fit_autoregressive, ("x", "x")),
    ):
        with pytest.raises(InputError, match="another column"):
            fit(frame, *named)
    with pytest.raises(InputError, match="another column"):
        fit_autoregressive(frame, "x", "cluster", series="cluster")


def test_a_large_negative_end_counts():
    rng = np.random.default_rng(8)
    fitted = fit_exchangeable(table(rng, [3] * 60, -0.4), "x", "cluster", size=3)
    assert -fitted.lower > fitted.upper
    assert fitted.population.covariance[0][1] == -fitted.lower


def test_published_values(shared_data):
    iq = shared_data("family_iq") / "family_iq_long.csv"
    measles = shared_data("measles_households") / "measles.csv"
    days = fit_exchangeable(str(measles), "prodrome_day", "family")
    assert days.correlation == pytest.approx(0.4763, abs=5e-5)
    assert (days.clusters, days.rows, days.size) == (69, 188, 7)
    assert days.lower < days.correlation < days.upper
    assert fit_exchangeable(str(iq), "iq", "pair").clusters == 434
    wages = pd.read_csv(shared_data("wage_panel") / "wage_panel.csv")
    wages["log_wage"] = np.log(wages["wage"])
    fitted = fit_exchangeable(wages, "log_wage", "person")
    assert fitted.lower < fitted.correlation < fitted.upper < 1
    wages["log_wage"] -= wages.groupby("year")["log_wage"].transform("mean")
    fitted = fit_exchangeable(wages, "log_wage", "person")
    assert fitted.correlation == pytest.approx(0.8672, abs=5e-5)


def test_what_can_not_be_fitted():
    rng = np.random.default_rng(9)
    frame = table(rng, [3, 3, 2], 0.1)
    with pytest.raises(InputError, match="between 0 and 1"):
        fit_exchangeable(frame, "x", "cluster", confidence=1.0)
    with pytest.raises(InputError, match="at least 3"):
        fit_exchangeable(frame, "x", "cluster", size=2)
    with pytest.raises(UnsupportedError, match="two clusters"):
        fit_exchangeable(frame.head(3), "x", "cluster")
    with pytest.raises(UnsupportedError, match="differ"):
        fit_exchangeable(frame.assign(x=1.0), "x", "cluster")
    with pytest.raises(InputError, match="finite numbers"):
        fit_exchangeable(frame.assign(x=[np.inf, *range(7)]), "x", "cluster")
    gaps = frame.assign(x=[None, *range(7)])
    assert fit_exchangeable(gaps, "x", "cluster", confidence=0.5).dropped == 1


def test_a_region_is_told_no_narrower_than_it_is() -> None:
    for lower, upper in ((-0.12345649, 0.12345641), (0.3333333, 0.6666666)):
        _, low, _, high = between_words(lower, upper).split()
        assert float(low) <= lower
        assert upper <= float(high)
    assert between_words(0.25, 0.5) == "between 0.25 and 0.5"


def test_rows_with_a_trend_are_not_exchangeable():
    """Wages rise with the years: the correlation within a person is then understated."""
    rng = np.random.default_rng(9)
    frame = table(rng, [4] * 60, 0.6)
    level = fit_exchangeable(frame, "x", "cluster")
    assert level.diagnostics[1].fits
    trend = frame.assign(x=frame["x"] + np.tile([0.0, 3.0, 6.0, 9.0], 60))
    fitted = fit_exchangeable(trend, "x", "cluster")
    assert fitted.upper < level.lower
    speaks = fitted.diagnostics[1]
    assert (speaks.name, speaks.fits) == ("places", False)
    assert "gaussian-roles" in speaks.sentence
    assert "understated" in fitted.population.source
    assert "understated" not in level.population.source
    # In another order of rows the places are others, but those of a cluster stay in line.
    again = fit_exchangeable(trend.sort_values("cluster", kind="stable"), "x", "cluster")
    assert again.place_p_value == pytest.approx(fitted.place_p_value)
    unequal = fit_exchangeable(trend.iloc[:-1], "x", "cluster")
    assert unequal.place_p_value is None
    two_and_four = table(rng, [2, 4] * 30, 0.6)
    assert fit_exchangeable(two_and_four, "x", "cluster").place_p_value is None


def test_the_test_of_places_is_that_of_a_two_way_layout():
    rng = np.random.default_rng(10)
    rows = rng.normal(size=(12, 3)) + rng.normal(size=(12, 1)) + [0.0, 0.5, 1.0]
    members = np.repeat(np.arange(12), 3)
    whole = rows.mean()
    places, clusters = rows.mean(axis=0), rows.mean(axis=1)
    rest = rows - places - clusters[:, None] + whole
    ratio = (12 * ((places - whole) ** 2).sum() / 2) / ((rest**2).sum() / 22)
    assert place_p_value(rows.ravel(), members) == pytest.approx(f.sf(ratio, 2, 22))
