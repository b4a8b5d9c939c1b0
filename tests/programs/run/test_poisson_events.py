"""The density of a noisy number of Poisson events, against the sum of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.poisson_events import EventTables, log_events, log_tail


def by_definition(y: float, noise: AddedNoise, n: int, means: np.ndarray) -> np.ndarray:
    counts = np.arange(min(n, 40_000) + 1)
    logs = noise.log(y - counts) + stats.poisson(means[:, None]).logpmf(counts)
    return np.asarray(logsumexp(logs, axis=1))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.05, 0.7, 6.0, 300.0])
@pytest.mark.parametrize(
    ("y", "n"),
    [(-900.3, 20_000), (0.0, 20_000), (7.4, 20_000), (2500.6, 20_000), (38.2, 40), (55, 40)],
)
def test_a_density_is_that_of_its_definition(kind: str, scale: float, y: float, n: int) -> None:
    """Wide noise too, where only some true counts are summed."""
    noise = AddedNoise(kind, scale)
    middle = min(max(y, 0.0), n) ** 0.5
    means = np.linspace(max(middle - 5, 0.03), middle + 5, 60) ** 2
    due = by_definition(y, noise, n, means)
    actual = log_events(y, noise, n)(means)
    near = due > due.max() - 25
    assert near.sum() > 5
    assert actual[near] - actual[near][0] == pytest.approx(due[near] - due[near][0], abs=4e-3)


def test_several_counts_are_each_count_for_itself() -> None:
    noise, seen = AddedNoise("laplace", 3.0), [-4.0, 2.5, 80.0, 990.0]
    means = np.asarray([[0.3, 4.0, 70.0, 950.0], [2.0, 1.0, 99.0, 2000.0]])
    whole = EventTables.of(seen, noise, 1000).each(means)
    for place, y in enumerate(seen):
        assert whole[:, place] == pytest.approx(log_events(y, noise, 1000)(means[:, place]))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [0, 3, 400])
def test_tails_below_what_doubles_hold(k: int, upper: bool) -> None:
    """Across the place where the series takes over, and far beyond."""
    edge = np.log(k + 1.0)
    at = np.concatenate([edge + np.linspace(-8, 8, 41), [-600.0, 600.0]])
    terms = np.arange(k + 1, k + 4000) if upper else np.arange(k + 1)
    inside = at < 8 if upper else np.ones(len(at), dtype=bool)
    from scipy.special import gammaln

    due = logsumexp(terms * at[inside, None] - gammaln(terms + 1), axis=1)
    assert log_tail(k, at, upper)[inside] == pytest.approx(due, rel=1e-6, abs=1e-6)
    assert np.all(np.isfinite(log_tail(k, at, upper)))
