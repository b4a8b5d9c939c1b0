"""Clusters by role: published values, exact intervals, and the level over the region."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import fit_roles
from bayesdp.fitting.roles import largest_sum
from tests.effort import runs
from tests.oracles import gaussian

TRIO = np.array([[4.0, 1.5, 0.3], [1.5, 1.0, 0.2], [0.3, 0.2, 9.0]])


def sample(rng: np.random.Generator, covariance: np.ndarray, clusters: int) -> np.ndarray:
    root = np.linalg.cholesky(covariance)
    return rng.normal(size=(clusters, len(covariance))) @ root.T


def long(records: np.ndarray, roles: str = "abc") -> pd.DataFrame:
    rows = [
        (f"c{i}", roles[j], float(x)) for i, row in enumerate(records) for j, x in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["family", "role", "x"])


def test_the_interval_of_one_coefficient_is_that_of_a_regression() -> None:
    """A pair has two coefficients, so each interval has half of the error."""
    from scipy.stats import linregress, t

    records = sample(np.random.default_rng(3), np.array([[1.0, 0.6], [0.6, 4.0]]), 40)
    ends = []
    for x, y in (records.T, records.T[::-1]):
        line = linregress(x, y)
        ends.append(abs(line.slope) + t.isf(0.05 / 4.0, 38) * line.stderr)
    bound = largest_sum(np.cov(records, rowvar=False), 40, 0.95)
    assert bound == pytest.approx(max(min(end, 1.0) for end in ends), rel=1e-8)


@pytest.mark.prove
@pytest.mark.parametrize(("covariance", "clusters"), [(TRIO, 6), (TRIO, 60), (TRIO[:2, :2], 5)])
def test_the_region_holds_the_truth_as_often_as_said(covariance: np.ndarray, clusters: int) -> None:
    rng, tried = np.random.default_rng(4), runs(2000)
    truth, missed = gaussian.shift_factor(covariance) - 1.0, 0
    for _ in range(tried):
        drawn = np.cov(sample(rng, covariance, clusters), rowvar=False)
        missed += largest_sum(drawn, clusters, 0.9) < truth
    assert missed <= binom.isf(1e-6, tried, 0.1)


def test_the_bound_comes_down_to_the_truth() -> None:
    """With many clusters nothing is left but the factor of the true law."""
    rng, truth = np.random.default_rng(5), gaussian.shift_factor(TRIO) - 1.0
    drawn = np.cov(sample(rng, TRIO, 400_000), rowvar=False)
    assert truth < largest_sum(drawn, 400_000, 0.999) < truth * 1.02


def test_incomplete_clusters_are_left_out() -> None:
    records = sample(np.random.default_rng(6), TRIO, 50)
    table = long(records)
    whole = fit_roles(table, "x", "family", "role")
    extra = pd.DataFrame({"family": ["d1", "d2", "d2"], "role": ["a", "b", None], "x": [9.0] * 3})
    fitted = fit_roles(pd.concat([table, extra]), "x", "family", "role", roles=["a", "b", "c"])
    assert (fitted.clusters, fitted.incomplete, fitted.dropped) == (50, 2, 1)
    assert fitted.population.max_regression_sum == whole.population.max_regression_sum
    np.testing.assert_allclose(fitted.estimate.covariance, np.cov(records, rowvar=False))
    assert fitted.estimate.roles == ("a", "b", "c")
    # Of fewer roles the others are not asked for.
    pairs = fit_roles(table, "x", "family", "role", roles=["c", "a"])
    assert pairs.population.size == 2
    assert pairs.correlations[0, 1] == pytest.approx(np.corrcoef(records.T)[0, 2])


def test_levels_are_those_of_the_region() -> None:
    weak = TRIO * np.array([[1.0, 0.2, 1.0], [0.2, 1.0, 1.0], [1.0, 1.0, 1.0]])
    fitted = fit_roles(long(sample(np.random.default_rng(7), weak, 900)), "x", "family", "role")
    report = fitted.population.leakage(0.5, kind="lipschitz")
    assert report.best.theorem == "gaussian-regression"
    stated = fitted.population.max_regression_sum
    assert report.best.epsilon == pytest.approx(0.5 * (1.0 + stated))
    assert "with confidence 0.95" in (fitted.population.source or "")
    estimated = fitted.estimate.leakage(0.5, kind="lipschitz").best.epsilon
    assert 0.5 < estimated < report.best.epsilon


def test_what_cannot_be_fitted_says_why() -> None:
    table = long(sample(np.random.default_rng(8), TRIO, 9))
    with pytest.raises(InputError, match="some cluster has two"):
        fit_roles(pd.concat([table, table.head(1)]), "x", "family", "role")
    with pytest.raises(InputError, match="role that the column 'role' holds"):
        fit_roles(table, "x", "family", "role", roles=["a", "z"])
    with pytest.raises(UnsupportedError, match="4 clusters with all roles"):
        fit_roles(table.head(12), "x", "family", "role")
    with pytest.raises(UnsupportedError, match="between 2 and 10"):
        fit_roles(table[table.role == "a"], "x", "family", "role")
    with pytest.raises(InputError, match="confidence"):
        fit_roles(table, "x", "family", "role", confidence=1.0)


def test_published_correlations(shared_data: Callable[[str], Path]) -> None:
    """The correlations in the READMEs of the data sets."""
    table = shared_data("family_iq") / "family_iq_long.csv"
    fitted = fit_roles(table, "iq", "pair", "role")
    assert fitted.estimate.roles == ("child", "mother")
    assert fitted.clusters == 434
    assert fitted.correlations[0, 1] == pytest.approx(0.44828, abs=5e-6)
    # A child's score is expected to move by 0.61 with the mother's, and by 0.33 the other way.
    truth = gaussian.shift_factor(np.array(fitted.estimate.covariance)) - 1.0
    assert truth == pytest.approx(0.60997, abs=1e-4)
    assert fitted.population.max_regression_sum == pytest.approx(0.7412, abs=2e-3)
    children = pd.read_csv(shared_data("galton_heights") / "galton_children.csv")
    pairs = children.melt("row", ["height_in", "father_in"], "role", "height")
    fitted = fit_roles(pairs, "height", "row", "role")
    assert fitted.correlations[0, 1] == pytest.approx(0.2754, abs=5e-5)


def test_a_bound_is_told_no_smaller_than_it_is() -> None:
    rng = np.random.default_rng(11)
    for _ in range(5):
        frame = pd.DataFrame({"a": rng.normal(size=60)}).assign(b=lambda x: x["a"] / 3)
        frame["b"] += rng.normal(size=60)
        rows = frame.rename_axis("c").reset_index().melt("c", var_name="role")
        population = fit_roles(rows, "value", "c", "role", confidence=0.9999999).population
        bound, _, rest = population.source.partition("at most ")[2].partition(" ")
        assert float(bound) >= (population.max_regression_sum or 0.0)
        assert rest.startswith("with confidence 0.9999999,")
