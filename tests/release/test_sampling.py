"""Intervals for the population that rows are a sample of: how often they hold, and refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release.derived.sampling import _beyond, _laplace_and_normal, sampling_interval
from bayesdp.release.price.noise import Noise
from bayesdp.release.results.result import Result
from tests.effort import runs
from tests.release.test_crossed import COLUMNS, study
from tests.release.test_derived import draws

ROWS = 600
NOISES = [
    DiscreteLaplace(2.0),
    DiscreteLaplace(25.0),
    DiscreteGaussian(3.0),
    DiscreteGaussian(40.0),
]


def number(kind: str, value: float, noise: Noise, step: float = 1.0) -> Result:
    return Result("q", kind, value, noise, step, 1.0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("kind", ["count", "proportion", "private rows"])
def test_counts_and_shares_hold_as_often_as_said(noise: Noise, share: float, kind: str) -> None:
    """Fresh samples and fresh noise; not much oftener either, where the approximation is good."""
    rng, count = np.random.default_rng(8), runs(10_000)
    added = draws(rng, noise, count)
    counted = rng.binomial(ROWS, share, count)
    inside = 0
    for c, x in zip(counted, added, strict=True):
        step = 1.0 / ROWS if kind == "proportion" else 1.0
        asked = "proportion" if kind == "proportion" else "count"
        rows = None if kind == "private rows" else ROWS
        low, high = sampling_interval(
            number(asked, float(c + x) * step, noise, step), 0.9, rows=rows, effect=1.0
        )
        inside += low <= share * ROWS * step <= high
    spread = 4.0 * math.sqrt(0.09 / count)
    most = 0.99 if kind == "private rows" or share < 0.1 else 0.95
    assert 0.9 - 0.015 - spread <= inside / count <= most + spread


@pytest.mark.parametrize("noise", NOISES[1:3])
@pytest.mark.parametrize("spread_noise", [DiscreteLaplace(1.0), DiscreteLaplace(300.0)])
def test_means_hold_as_often_as_said(noise: Noise, spread_noise: Noise) -> None:
    """The released variance has noise too, which the interval allows for."""
    rng, count = np.random.default_rng(9), runs(4000)
    first, second = draws(rng, noise, count), draws(rng, spread_noise, count)
    inside = 0
    for x, y in zip(first, second, strict=True):
        values = rng.uniform(0.0, 10.0, ROWS)
        made = number("mean", values.mean() + x * 0.01, noise, 0.01)
        spread = number("variance", max(values.var() + y * 0.01, 0.0), spread_noise, 0.01)
        low, high = sampling_interval(made, 0.9, rows=ROWS, effect=1.0, spread=spread)
        inside += low <= 5.0 <= high
    band = 4.0 * math.sqrt(0.09 / count)
    assert 0.9 - 0.01 - band <= inside / count
    assert inside / count <= 0.97 + band or spread_noise.scale > 100


def test_noise_alone_covers_far_less_often() -> None:
    """The test above would see an interval without the sampling error."""
    rng, noise = np.random.default_rng(10), DiscreteLaplace(2.0)
    counted = rng.binomial(ROWS, 0.5, 4000) + draws(rng, noise, 4000)
    assert (np.abs(counted - 300) <= noise.quantile(0.9)).mean() < 0.5


@pytest.mark.parametrize("deviation", [0.0, 0.3, 2.0, 50.0])
@pytest.mark.parametrize("scale", [2.0, 25.0])
def test_the_sum_of_noise_and_a_normal_error(deviation: float, scale: float) -> None:
    """Against many draws of both; never less often than they say."""
    rng = np.random.default_rng(11)
    noise = DiscreteLaplace(scale)
    both = np.abs(draws(rng, noise, 200_000) + rng.normal(0.0, 1.0, 200_000) * deviation)
    for distance in (1.0, 5.0, 30.0, 120.0):
        due = _beyond(number("count", 0.0, noise), distance, deviation)
        seen = (both > distance).mean()
        band = 5.0 * math.sqrt(max(seen * (1 - seen), 1e-5) / both.size)
        assert seen - band <= due
        assert due <= min(1.0, 2.5 * seen + band)  # a step of noise of scale 2 is that much


@pytest.mark.parametrize("share", [0.01, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("distance", [0.0, 0.4, 2.0, 6.0])
def test_the_formula_is_the_integral(share: float, distance: float) -> None:
    """Against the normal density integrated over Laplace tails, in fine steps."""
    z = (np.arange(400_000) + 0.5) * 5e-5 - 10.0
    left = share * (distance - z)
    tails = np.where(left >= 0, 0.5 * np.exp(-abs(left)), 1.0 - 0.5 * np.exp(-abs(left)))
    due = 2.0 * float((np.exp(-0.5 * z * z) * tails).sum()) * 5e-5 / math.sqrt(2.0 * math.pi)
    assert _laplace_and_normal(distance, share) == pytest.approx(due, rel=1e-6)


def test_dependent_rows_have_a_wider_interval() -> None:
    made = number("count", 300.0, DiscreteLaplace(1.0))
    single = sampling_interval(made, 0.95, rows=ROWS, effect=1.0)
    fourfold = sampling_interval(made, 0.95, rows=ROWS, effect=4.0)
    assert 1.8 < (fourfold[1] - fourfold[0]) / (single[1] - single[0]) < 2.1


def test_numbers_outside_of_what_is_possible() -> None:
    """A count below 0, or above the number of rows, by noise."""
    for value in (-40.0, 640.0):
        low, high = sampling_interval(
            number("count", value, DiscreteLaplace(25.0)), 0.95, rows=ROWS, effect=1.0
        )
        assert 0.0 <= low <= high <= ROWS


# -- in studies ------------------------------------------------------------------------------------

MEAN: dict[str, Any] = {"name": "mean", "kind": "mean", "column": "age"}
VARIANCE = MEAN | {"name": "spread", "kind": "variance"}
ILL = {"name": "ill", "kind": "count", "where": "ill == 1"}
SHARE = ILL | {"name": "share", "kind": "proportion"}
CELLS = {"name": "cells", "kind": "histogram", "column": "ill"}
SAMPLING: dict[str, Any] = {"name": "all", "kind": "sampling", "query": "mean"}


def test_a_study_asks_for_it(tmp_path: Path) -> None:
    derived = [
        SAMPLING | {"variance": "spread"},
        SAMPLING | {"name": "all ill", "query": "ill"},
        SAMPLING | {"name": "all shares", "query": "share"},
        SAMPLING | {"name": "by sex", "query": "ill by sex"},
    ]
    by_sex = ILL | {"name": "ill by sex", "by": "sex"}
    made = study(tmp_path, MEAN, VARIANCE, ILL, SHARE, by_sex, derived=derived)
    assert "all: 'mean' with its sampling error, if rows were drawn at random" in str(made.check())
    release = made.release()
    (mean,) = release["all"]
    expected = 1.96 * math.sqrt(525.0 / 7.0)  # ages 20 to 90: mean 55, of variance 525
    assert mean.high - mean.value == pytest.approx(expected, rel=0.1)
    (ill,) = release["all ill"]
    assert 0.0 < ill.low < 2.5 < 5.5 < ill.high < 8.0
    (share,) = release["all shares"]
    assert share.low == pytest.approx(ill.low / 8.0, abs=0.01)
    assert len(release["by sex"]) == 3
    assert "(about 95 %, sampling included)" in str(release)


@pytest.mark.parametrize(
    ("changes", "other", "said"),
    [
        ({}, {}, r"derived\[0\]\.variance: expected a query of kind variance"),
        ({"variance": "ill"}, {}, r"derived\[0\]\.variance is 'ill'"),
        ({"variance": "spread by sex"}, {}, r"derived\[0\]\.variance is 'spread by sex'"),
        ({"query": "ill", "variance": "spread"}, {}, "nothing for a count"),
        ({"query": "cells"}, {}, r"derived\[0\]\.query is 'cells'"),
        ({"query": "ill", "design_effect": 0.5}, {}, "design_effect is 0.5"),
        (
            {"query": "ill"},
            {"population": {"model": "clusters", "size": 2, "covers": ["ill", "smokes", "age"]}},
            r"design_effect: expected how many times larger.*at most m related rows",
        ),
    ],
)
def test_what_has_no_sampling_interval(
    changes: dict[str, Any], other: dict[str, Any], said: str, tmp_path: Path
) -> None:
    columns = COLUMNS | {"region": {"role": "cluster"}} if other else COLUMNS
    by_sex = VARIANCE | {"name": "spread by sex", "by": "sex"}
    queries = (MEAN, VARIANCE, ILL, SHARE, CELLS, by_sex)
    with pytest.raises(InputError, match=said):
        study(tmp_path, *queries, derived=[SAMPLING | changes], columns=columns, **other)


def test_dependent_records_state_their_design_effect(tmp_path: Path) -> None:
    clusters = {"model": "clusters", "size": 4, "covers": ["ill", "smokes", "age"]}
    columns = COLUMNS | {"region": {"role": "cluster"}}
    derived = [SAMPLING | {"query": "ill", "design_effect": 4}]
    made = study(tmp_path, ILL, derived=derived, population=clusters, columns=columns)
    assert len(made.release()["all"]) == 1
