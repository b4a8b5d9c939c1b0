"""What noisy reports of a series say of each period, under the declared chain or AR(1).

Post-processing: reports that were released cost nothing more, whatever is made of them. The result
is about the *model*: it is as good as the declared chain, and has no guarantee of its own.

**The method** is forward-backward on the last `k` records, `k` the order. Let `x_t` be the state of
period `t` and `l_t(v)` the probability of its report if the state is `v`; given the states, reports
are independent. `f_t`, the law of the last `k` states given the reports up to `t`, follows from
`f_(t-1)` by one transition and a product with `l_t`; `b_t`, up to a factor the probability of all
later reports given these states, from `b_(t+1)` likewise. Their product is the law of the states
given all reports. Each message is divided by its sum, so that long series don't underflow.

For an AR(1) series of numbers it is the Kalman filter and its smoother: the law of a period given
the reports up to it is Gaussian, and so is that given all reports.

*Checked:* against sums over all paths of short series, for orders 1 to 3; for AR(1) against the
conditional law of a Gaussian vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from bayesdp.errors import InputError, UnsupportedError, finite_number, inner_probability
from bayesdp.fitting.numbers_of import Numbers
from bayesdp.populations import Autoregressive, MarkovChain
from bayesdp.theorems.markov import first_records, table_of


def posterior_states(population: MarkovChain, likelihood: Any) -> Numbers:
    """The probability of each state in each period, given all reports of a series.

    `likelihood[t][v]` is the probability (or density) of the report of period `t` if its state is
    `v`, up to a factor for each period; a row of ones is a period without a report. It has as many
    rows as there are periods, at most the population's `length`. The result has the same shape, and
    rows that sum to 1. Of randomized response the rows are the columns of the channel that belong
    to the answers. Raises `InputError` for other arrays and for reports that the chain excludes,
    and `UnsupportedError` for a population with bounds in place of transitions.
    """
    if population.transition is None:
        raise UnsupportedError(
            "population",
            expected="a chain with given transitions",
            remedy="Fit the most likely ones (confidence=None, or --point).",
            shown=False,
        )
    rows = _checked(population, likelihood)
    table, order, periods = table_of(population), population.order, len(rows)
    start = first_records(population)
    assert start is not None, "a stationary start has one law"
    padded = np.vstack([rows, np.ones((max(order - periods, 0), rows.shape[1]))])
    forward = [_normalised(_with_reports(start, padded[:order]))]
    for row in padded[order:]:
        forward.append(_normalised((forward[-1][..., None] * table).sum(axis=0) * row))
    backward = np.ones_like(start)
    laws = np.empty_like(padded)
    for place in reversed(range(len(forward))):
        joint = _normalised(forward[place] * backward)
        for back in range(order if place == 0 else 1):
            others = tuple(axis for axis in range(order) if axis != order - 1 - back)
            laws[place + order - 1 - back] = joint.sum(axis=others)
        later = padded[place + order - 1] * backward
        backward = _normalised((table * later[None, ...]).sum(axis=-1))
    return laws[:periods]


@dataclass(frozen=True)
class SmoothedValues:
    """The value of each period given all reports: posterior means and standard deviations.

    In the unit of the reports. Model-based: as good as the declared AR(1), its mean and `sd`.
    """

    means: Numbers
    sds: Numbers

    def interval(self, p: float = 0.95) -> tuple[Numbers, Numbers]:
        """Lower and upper ends of the central interval that holds each value with probability p.

        Raises `InputError` unless p is above 0 and below 1.
        """
        from scipy.stats import norm

        inner_probability("p", p)
        reach = float(norm.ppf(0.5 + p / 2.0)) * self.sds
        return self.means - reach, self.means + reach


def posterior_values(
    population: Autoregressive,
    reports: Sequence[float] | Numbers,
    noise_sd: float | Sequence[float] | Numbers,
    *,
    mean: float,
    sd: float,
) -> SmoothedValues:
    """The value of each period given all noisy reports of a series, under a declared AR(1).

    `reports` has a number for each period, at most the population's `length`, or NaN for a period
    without a report. `noise_sd` is the standard deviation of the noise, of all reports or of each;
    of Laplace noise it is its scale times the square root of 2. `mean` and `sd` are those of the
    values themselves, public or fitted. Post-processing: costs nothing. For Gaussian noise the
    posterior is exact; for other noise the means are the best linear estimates, and intervals are
    approximate. Raises `InputError` for other arrays and numbers.
    """
    values, noise = _reported(population, reports, noise_sd)
    if not (isinstance(mean, Real) and math.isfinite(mean)):
        raise InputError("mean", mean, expected="a finite number")
    variance = finite_number("sd", sd, expected="a finite number above 0") ** 2
    phi = float(population.coefficient)
    predicted, filtered = np.empty((2, len(values))), np.empty((2, len(values)))
    center, spread = float(mean), variance
    for t, (report, added) in enumerate(zip(values, noise, strict=True)):
        if t:
            center = mean + phi * (center - mean)
            spread = phi * phi * spread + (1.0 - phi * phi) * variance
        predicted[:, t] = center, spread
        if not math.isnan(report):
            gain = spread / (spread + added * added)
            center, spread = center + gain * (report - center), (1.0 - gain) * spread
        filtered[:, t] = center, spread
    means, variances = filtered[0].copy(), filtered[1].copy()
    for t in reversed(range(len(values) - 1)):
        gain = phi * filtered[1, t] / predicted[1, t + 1]
        means[t] += gain * (means[t + 1] - predicted[0, t + 1])
        variances[t] += gain * gain * (variances[t + 1] - predicted[1, t + 1])
    return SmoothedValues(means, np.sqrt(np.maximum(variances, 0.0)))


def _reported(
    population: Autoregressive, reports: object, noise_sd: object
) -> tuple[Numbers, Numbers]:
    """Reports and the noise of each, as arrays of one length."""
    try:
        values = np.asarray(reports, dtype=float)
        noise = np.asarray(noise_sd, dtype=float)
    except (TypeError, ValueError):
        values = noise = np.empty((0, 0))
    if values.ndim != 1 or len(values) == 0 or np.isinf(values).any():
        raise InputError(
            "reports",
            f"an array of shape {values.shape}",
            expected="a finite number for each period, or NaN where there is none",
        )
    if len(values) > population.length:
        raise InputError(
            "reports",
            f"{len(values)} periods",
            expected=f"at most {population.length}, the length",
            remedy="Give each series its own reports, or declare a larger length.",
        )
    if noise.shape not in ((), values.shape) or not np.isfinite(noise).all() or (noise < 0.0).any():
        raise InputError(
            "noise_sd",
            f"an array of shape {noise.shape}",
            expected="a number of at least 0, or one for each period",
        )
    return values, np.broadcast_to(noise, values.shape)


def _checked(population: MarkovChain, likelihood: Any) -> Numbers:
    try:
        rows = np.asarray(likelihood, dtype=float)
    except (TypeError, ValueError):
        rows = np.empty(0)
    good = rows.ndim == 2 and rows.shape[1] == population.states and len(rows) > 0
    if not good or not np.isfinite(rows).all() or rows.min() < 0.0 or not rows.any(axis=1).all():
        raise InputError(
            "likelihood",
            f"an array of shape {rows.shape}",
            expected=f"rows of {population.states} numbers of at least 0, not all 0, a row for "
            "each period",
        )
    if len(rows) > population.length:
        raise InputError(
            "likelihood",
            f"{len(rows)} rows",
            expected=f"at most {population.length}, the length",
            remedy="Give each series its own rows, or declare a larger length.",
        )
    scaled: Numbers = rows / rows.max(axis=1, keepdims=True)
    return scaled


def _with_reports(law: Numbers, rows: Numbers) -> Numbers:
    """The law of the first records, times the likelihood of each, oldest first."""
    for axis, row in enumerate(rows):
        law = law * row.reshape([-1 if i == axis else 1 for i in range(law.ndim)])
    return law


def _normalised(message: Numbers) -> Numbers:
    total = float(message.sum())
    if not total > 0.0:
        raise InputError(
            "likelihood",
            expected="reports that are possible for the chain, and these have probability 0",
            remedy="Look at the order of the periods, and at the zeros of the transitions.",
            shown=False,
        )
    scaled: Numbers = message / total
    return scaled
