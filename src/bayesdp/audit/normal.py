"""Attacks on Gaussian records: a sum with noise, and two values that a record may have.

Given a record's value `a` and the known records, the sum of jointly Gaussian records is normal; its
mean moves by `1 + sum of b_j` for each unit of `a` (with `b` the regressions of the unknown records
on this one), and its variance doesn't depend on `a`. Noise is added to it, so the two laws of the
release are one law, shifted, and that law is log-concave: the best guess is the value on whose side
of the middle the release lies.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import InputError, UnsupportedError, finite_number
from bayesdp.populations import Autoregressive, Gaussian, Population

MOST_RECORDS = 2000
"""The largest Gaussian cluster or series whose covariance is written out."""


@dataclass(frozen=True)
class NormalAttack:
    """The attack on whether a Gaussian record has the one value or the other, both as likely.

    `shift` is how far the mean of the sum moves from one to the other, `spread` the standard
    deviation of the sum given either. The best guess is right with the probability `success`, and
    without a release with 1/2. `level` is the largest log ratio of likelihoods at any release, in
    nats: `shift / scale` for Laplace noise, and infinite for Gaussian noise, whose ratios have no
    bound.
    """

    record: int
    shift: float
    spread: float
    success: float
    level: float


def covariance_of(population: Population, *, records: int | None = None) -> Floats:
    """The covariance of the records of one cluster or series, or of its first `records`.

    Of `size` with `max_correlation` the member of the class whose correlations are all equal to it.
    Raises `UnsupportedError` for populations that are not Gaussian, with several columns, with
    bounds on regressions alone, or of more than `MOST_RECORDS` records.
    """
    if not isinstance(population, Gaussian | Autoregressive):
        raise UnsupportedError("population", population.model, expected="a Gaussian population")
    size = min(population.group_size, records or population.group_size)
    if size > MOST_RECORDS:
        raise UnsupportedError(
            "population",
            f"{size} records",
            expected=f"at most {MOST_RECORDS} Gaussian records that depend on each other",
            remedy="Attack a smaller population of the same kind.",
        )
    if isinstance(population, Autoregressive):
        places = np.arange(size)
        series: Floats = population.coefficient ** np.abs(places[:, None] - places[None, :])
        return series
    if population.columns is not None or population.max_regression_sum is not None:
        raise UnsupportedError(
            "population",
            population.model,
            expected="records of one column with a covariance, a precision or max_correlation",
        )
    if population.max_correlation is not None:
        equal = np.full((size, size), population.max_correlation)
        np.fill_diagonal(equal, 1.0)
        return equal
    if population.precision is not None:
        inverse: Floats = np.linalg.inv(population.precision.matrix.toarray())
        return inverse[:size, :size]
    return np.asarray(population.covariance, dtype=float)[:size, :size]


def attack_normal(
    population: Population,
    record: int,
    values: tuple[float, float],
    *,
    scale: float,
    noise: Literal["laplace", "gaussian"] = "laplace",
    known: Collection[int] = (),
    weights: Sequence[float] | None = None,
) -> NormalAttack:
    """The Bayes-optimal attack on a Gaussian record, when a weighted sum is released with noise.

    `record` is the attacked record, `values` are the two that it may have, in the column's unit.
    The noise has this `scale`: that of Laplace noise, or the standard deviation of Gaussian
    `noise`. The records `known` are known exactly; `weights` are 1 if left out. Nothing is
    clipped: `values` and the others lie within bounds. Raises `InputError` for records that are
    not there, and `UnsupportedError` as `covariance_of` does for the `population`.

    >>> import bayesdp as bdp
    >>> from bayesdp.audit import attack_normal
    >>> pairs = bdp.Gaussian([[1.0, 0.5], [0.5, 1.0]])
    >>> attack_normal(pairs, 0, (0.0, 2.0), scale=2.0).level
    1.5
    """
    covariance = covariance_of(population)
    size = len(covariance)
    scale = finite_number("scale", scale, expected="a finite number above 0")
    if not 0 <= record < size:
        raise InputError("record", record, expected=f"a record of the population: 0 to {size - 1}")
    if any(not 0 <= other < size or other == record for other in known):
        raise InputError("known", list(known), expected="other records of the population")
    factor = np.ones(size) if weights is None else np.asarray(weights, dtype=float)
    if factor.shape != (size,):
        raise InputError("weights", shown=False, expected=f"{size} numbers, one for each record")
    unknown = [j for j in range(size) if j != record and j not in set(known)]
    slope, rest = _given(covariance, record, unknown, sorted(set(known)))
    shift = float(abs(factor[record] + factor[unknown] @ slope)) * abs(values[1] - values[0])
    spread = math.sqrt(max(float(factor[unknown] @ rest @ factor[unknown]), 0.0))
    if noise == "gaussian":
        success = _normal(0.5 * shift / math.hypot(spread, scale))
        return NormalAttack(record, shift, spread, success, math.inf if shift > 0.0 else 0.0)
    return NormalAttack(
        record, shift, spread, _with_laplace(shift / 2, spread, scale), shift / scale
    )


def _given(
    covariance: Floats, record: int, unknown: list[int], known: list[int]
) -> tuple[Floats, Floats]:
    """Regressions of the unknown records on this one, and what is left of their covariance."""
    from scipy.linalg import cho_factor, cho_solve

    known_records = [record, *known]
    factor = cho_factor(covariance[np.ix_(known_records, known_records)])
    slopes = cho_solve(factor, covariance[np.ix_(known_records, unknown)])
    rest = (
        covariance[np.ix_(unknown, unknown)] - covariance[np.ix_(unknown, known_records)] @ slopes
    )
    return slopes[0], rest


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _with_laplace(x: float, spread: float, scale: float) -> float:
    """The probability that a normal number plus Laplace noise is at most `x >= 0`."""
    from scipy.special import log_ndtr

    if spread == 0.0:
        return 1.0 - 0.5 * math.exp(-x / scale)
    tilt = 0.5 * (spread / scale) ** 2
    up = math.exp(tilt - x / scale + float(log_ndtr(x / spread - spread / scale)))
    down = math.exp(tilt + x / scale + float(log_ndtr(-x / spread - spread / scale)))
    return _normal(x / spread) - 0.5 * (up - down)
