"""Priors at the ends of what is admitted: a posterior comes whatever was released, with numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from bayesdp.programs.run.numerics import ensemble
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import (
    exposures,
    generalized_regression,
    mixtures,
    normal_records,
    partial_pooling,
)
from bayesdp.programs.run.posteriors.from_releases import derived
from bayesdp.programs.run.results import distributions
from tests.programs.run.test_likelihoods import NoValues, likelihood

ENDS = (1e-12, 1.0, 1e12)
RELEASED = [(0, -1e7), (0, 2.0), *((3, value) for value in (-1e7, 0.0, 2.0, 1e7))]
"""How many records there are, and what was released; without records that tells nothing."""


def source(values: list[float], n: int) -> Noisy:
    return Noisy(tuple(Fraction(value) for value in values), AddedNoise("laplace", 2.0), n)


def check(law: Any) -> None:
    plain = law.to_dict()
    for key in ("mean", "sd", "interval95"):
        assert np.all(np.isfinite(np.asarray(plain[key], dtype=float))), plain
    for about in plain.get("diagnostics", {}).values():
        assert about["ess"] > 0
        assert np.isfinite(about["r_hat"])


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "KEPT", 4)
    monkeypatch.setattr(mixtures, "TRIED", 50)
    monkeypatch.setattr(mixtures, "IMPROVED", 1)
    monkeypatch.setattr(exposures, "DRAWS", 200)
    for name, many in (("DRAWS", 200), ("CELLS", 101), ("CENTERS", 21), ("SPREADS", 16)):
        monkeypatch.setattr(partial_pooling, name, many)


@pytest.mark.parametrize(("n", "value"), RELEASED)
def test_unknown_spreads(n: int, value: float) -> None:
    for mean, k, shape, scale in product((0.0, 1e12), ENDS, ENDS, ENDS):
        law = normal_records.posterior(
            source([float(n), value, 1.0], n),
            [5, 5],
            normal_records.prior_of((mean, k, shape, scale)),
        )
        check(law)


@pytest.mark.parametrize(("n", "value"), RELEASED)
def test_groups(n: int, value: float) -> None:
    for mean, sd, spread in product((-1e12, 0.0), ENDS, ENDS):
        for family, first in (
            ("pooled_bernoulli", []),
            ("pooled_poisson", [3.0]),
            ("pooled_normal", [1.0]),
        ):
            noisy = source([value, 1.0], 2 * n)
            check(partial_pooling.posterior(noisy, family, [*first, n, n], (mean, sd, spread)))


@pytest.mark.parametrize(("n", "value"), RELEASED)
def test_regressions_and_mixtures(n: int, value: float) -> None:
    for mean, sd in ((0.0, 1e-12), (0.0, 1e12), (1e6, 1.0)):
        prior = distributions.single("normal", mean, sd)
        rows = [1, 1, 1, 1, -1, 1, 0]
        check(generalized_regression.posterior(source([value] * 6, n), "logistic", rows, prior))
        check(mixtures.posterior(source([value] * 4, n), [0, 1, 0.5, 2], prior))


@pytest.mark.parametrize(("n", "value"), RELEASED)
def test_times_failures_and_shares(n: int, value: float) -> None:
    for a, b in product((1e-12, 1.0, 1e6), ENDS):
        gamma, beta = (distributions.single(family, a, b) for family in ("gamma", "beta"))
        for values in ([value], [value, 1.0]):
            about = likelihood("exponential_time", 60)
            check(derived("noise-aware", source(values, n), about, gamma, NoValues()))  # type: ignore[arg-type]
        about = likelihood("negative_binomial", 2)
        check(derived("noise-aware", source([value], n), about, beta, NoValues()))  # type: ignore[arg-type]
    prior = distributions.dirichlet(np.asarray([1.0, 2.0]), ("a", "b"))
    about = likelihood("categorical_exposed", 1e-9, 1e9)
    check(derived("noise-aware", source([value, 1.0], n), about, prior, NoValues()))  # type: ignore[arg-type]
