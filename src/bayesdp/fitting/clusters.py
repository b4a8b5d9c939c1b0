"""Exchangeable Gaussian clusters from public or past data, with an exact interval.

The model: clusters are independent; the rows of a cluster are jointly Gaussian with one mean, one
variance and one correlation, the intraclass correlation `rho`.

**The interval is exact for clusters of any sizes** (Wald 1940). Let cluster `i` have `n_i` rows and
the mean `y_i`, `theta = rho / (1 - rho)` and `w_i = n_i / (1 + theta n_i)`. Then
`sum w_i (y_i - y_w)^2 / (N - 1)`, `y_w` the mean with weights `w_i`, over the mean square within
clusters has the F law with `N - 1` and `n - N` degrees of freedom, also for negative `rho`: cluster
means have the variances `sigma^2 (1 - rho) / w_i` and are independent of the differences within.
The sum is the least over `c` of `sum w_i (y_i - c)^2`, and every `w_i` falls with `theta`, so the
statistic falls, and the values of `rho` that it accepts are an interval.

**The largest level over the interval** is that of the end which is larger in size. With `s` records
known, the target among them, each unknown one moves by `rho / (1 + (s - 1) rho)` (theory 3.8 b).
The sum of the sizes over the `m - s` unknown ones is largest at `s = 1`, for negative `rho` because
`|rho| < 1 / (m - 1)`. So the factor of 3.8 b is `1 + (m - 1) |rho|`: it grows with `|rho|`. Other
theorems about Gaussian clusters bound this factor from above, and the cluster bound does not depend
on `rho`. So a level of the population with the correlation `max |rho|` holds for the whole region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.arrays import Ints
from bayesdp.errors import UnsupportedError, whole_number
from bayesdp.fitting.comparing import SIGNIFICANT, FitCheck, dropped_rows, p_words
from bayesdp.fitting.diagnosing import (
    OTHER_MODEL,
    check_file_order,
    check_normal,
    check_places,
    check_spread,
    place_p_value,
)
from bayesdp.fitting.numbers_of import (
    Numbers,
    between_words,
    check_columns,
    check_confidence,
    complete_rows,
    confidence_words,
    numbered_clusters,
)
from bayesdp.populations import Gaussian

OUTWARD = 1e-9
"""By how much the ends of an interval are moved outward, for the errors of root and quantile."""

LARGEST_MATRIX = 200
"""Larger clusters are declared by size and largest correlation: the kernel reads no such matrix."""


@dataclass(frozen=True)
class ExchangeableFit:
    """Exchangeable Gaussian clusters: the estimate, its interval, and the population.

    `correlation` is the analysis-of-variance estimate of the intraclass correlation, `lower` and
    `upper` hold the true one with the stated `confidence`, `population` has the level of the worst
    correlation between them. `clusters` and `rows` were used, `dropped` rows have a missing cell,
    and `size` is the most rows of a cluster. `place_p_value` is that of a test whether means differ
    by place in the cluster; `None` where clusters differ in size. `checks` are the other tests of
    the model.
    """

    population: Gaussian
    correlation: float
    lower: float
    upper: float
    confidence: float
    clusters: int
    rows: int
    dropped: int
    size: int
    place_p_value: float | None = None
    checks: tuple[FitCheck, ...] = ()

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """The estimate with its interval in words, tests of the model, and what was left out."""
        text = (
            f"The intraclass correlation is about {self.correlation:.4g}, and "
            f"{between_words(self.lower, self.upper)} with confidence "
            f"{confidence_words(self.confidence)}. That clusters are independent, and the rows of "
            "one jointly Gaussian and equal in rank (no trend, no roles, one spread), is assumed."
        )
        checks = (FitCheck("correlation", text), *self._about_places(), *self.checks)
        return (*checks, *dropped_rows(self.dropped))

    def _about_places(self) -> tuple[FitCheck, ...]:
        """What the means by place in the cluster say, where clusters have one size."""
        p_value = self.place_p_value
        if p_value is None:
            return ()
        if p_value >= SIGNIFICANT:
            text = f"Means by place in the cluster don't differ ({p_words(p_value)})."
            return (FitCheck("places", text, p_value=p_value),)
        text = (
            f"Means by place in the cluster differ ({p_words(p_value)}): rows have roles, or there "
            "is a trend. The correlation is then understated, and a level from this population is "
            "too low. Use --model gaussian-roles with the column that tells the rows of a cluster "
            "apart."
        )
        return (FitCheck("places", text, fits=False, p_value=p_value),)

    def estimated(self) -> dict[str, Any]:
        """The correlation and its interval as plain data."""
        return {"correlation": self.correlation, "lower": self.lower, "upper": self.upper}


def fit_exchangeable(
    table: object, value: str, cluster: str, *, confidence: float = 0.95, size: int | None = None
) -> ExchangeableFit:
    """Fit exchangeable Gaussian clusters to the numbers of the column `value`.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. Rows with the same `cluster` belong together; rows in which either cell is
    missing are dropped. `size` is the most rows that a cluster of the study may have, at least the
    largest one here (the default). Raises `InputError` for arguments and cells that can't be read,
    and `UnsupportedError` where the table says nothing of the correlation.
    """
    check_confidence(confidence)
    check_columns(value=value, cluster=cluster)
    (names, values), dropped = complete_rows(table, {cluster: "text", value: "number"})
    _, members = numbered_clusters(names)
    sizes = np.bincount(members).astype(float)
    most = int(sizes.max(initial=0))
    if size is not None:
        size = whole_number("size", size, least=max(most, 2))
    numbers = values.astype(float)
    if len(sizes) < 2 or most < 2:
        raise UnsupportedError(
            "cluster",
            cluster,
            expected="at least two clusters, one of them with two rows",
            remedy="Name the column whose equal values mark the rows that belong together.",
        )
    means = np.bincount(members, numbers) / sizes
    within = float(((numbers - means[members]) ** 2).sum())
    if not within > 0.0:
        raise UnsupportedError(
            "value",
            value,
            expected="rows of a cluster that differ",
            remedy='Declare clusters in which anything is possible: model = "clusters".',
        )
    lower, upper = intraclass_interval(sizes, means, within, confidence)
    cluster_size = size or most
    worst = max(abs(lower), upper)
    if worst >= 1.0:
        raise UnsupportedError(
            "confidence",
            confidence,
            expected="an interval below 1, and it reaches 1",
            remedy='Use more clusters, or declare model = "clusters".',
        )
    source = (
        f"fitted to {len(sizes)} clusters of {len(numbers)} rows: intraclass correlation "
        f"{between_words(lower, upper)} with confidence {confidence_words(confidence)}, "
        "if clusters are independent and exchangeable Gaussian; the population has the worst "
        "correlation between them"
    )
    p_value = place_p_value(numbers, members)
    if p_value is not None and p_value < SIGNIFICANT:
        source += "; means by place in the cluster differ, so the correlation is understated"
    correlation = intraclass_correlation(sizes, means, within)
    return ExchangeableFit(
        population=_exchangeable(cluster_size, worst, source),
        correlation=correlation,
        lower=lower,
        upper=upper,
        confidence=confidence,
        clusters=len(sizes),
        rows=len(numbers),
        dropped=dropped,
        size=cluster_size,
        place_p_value=p_value,
        checks=_checks(numbers, members, correlation),
    )


def _checks(values: Numbers, members: Ints, correlation: float) -> tuple[FitCheck, ...]:
    """Tests of the model. `members` are the numbers of clusters, in the order of the table."""
    sizes = np.bincount(members).astype(float)
    means = np.bincount(members, values) / sizes
    within, owners = contrasts(values, members)
    variances = np.maximum(correlation + (1.0 - correlation) / sizes, 1e-9)
    levels = (means - np.average(means, weights=1.0 / variances)) / np.sqrt(variances)
    middle = len(sizes) // 2
    halves = [
        (within[owners < middle], within[owners >= middle]),
        (levels[:middle], levels[middle:]),
    ]
    remedy = "fit the part that is like what will be released"
    return (
        check_normal(within, "differences within clusters", OTHER_MODEL),
        check_normal(levels, "cluster means", OTHER_MODEL),
        check_places(values, members),
        check_spread(halves, "table", remedy),
        check_file_order(levels),
    )


def contrasts(values: Numbers, members: Ints) -> tuple[Numbers, Ints]:
    """Each row of a cluster but the first against the mean of those before, and its cluster.

    With the weights of Helmert: under the model they are independent of each other and of cluster
    means, and have one variance.
    """
    order = np.argsort(members, kind="stable")
    owners, rows = members[order], values[order] - values.mean()
    first = np.r_[True, owners[1:] != owners[:-1]]
    starts = np.flatnonzero(first)[owners]
    before = np.arange(len(rows)) - starts
    sums = np.r_[0.0, np.cumsum(rows)]
    later = before > 0
    seats, counts = np.flatnonzero(later), before[later]
    means = (sums[seats] - sums[starts[later]]) / counts
    return (rows[later] - means) * np.sqrt(counts / (counts + 1.0)), owners[later]


def _exchangeable(size: int, correlation: float, source: str) -> Gaussian:
    if size > LARGEST_MATRIX:
        return Gaussian(size=size, max_correlation=correlation, source=source)
    matrix = np.full((size, size), correlation)
    np.fill_diagonal(matrix, 1.0)
    rows = tuple(map(tuple, matrix.tolist()))
    return Gaussian(covariance=rows, source=source)


def intraclass_correlation(sizes: Numbers, means: Numbers, within: float) -> float:
    """The analysis-of-variance estimate of the intraclass correlation.

    `sizes` and `means` are those of the clusters, `within` the sum of squares within them.
    """
    rows, count = sizes.sum(), len(sizes)
    center = (sizes * means).sum() / rows
    between = (sizes * (means - center) ** 2).sum() / (count - 1)
    inside = within / (rows - count)
    usual = (rows - (sizes**2).sum() / rows) / (count - 1)
    return float((between - inside) / (between + (usual - 1.0) * inside))


def intraclass_interval(
    sizes: Numbers, means: Numbers, within: float, confidence: float
) -> tuple[float, float]:
    """Wald's exact interval with equal tails, moved outward by 1e-9.

    `sizes` and `means` are those of the clusters, `within` is the sum of squares within them, and
    the interval holds the intraclass correlation with this `confidence`.

    The lower end is at least `-1 / (n - 1)`, `n` the largest size, where correlations begin.
    """
    from scipy.optimize import brentq
    from scipy.stats import f

    freedom = len(sizes) - 1, sizes.sum() - len(sizes)
    inside = within / freedom[1]

    def statistic(rho: float) -> float:
        weights = sizes * (1.0 - rho) / (1.0 + (sizes - 1.0) * rho)
        center = (weights * means).sum() / weights.sum()
        return float((weights * (means - center) ** 2).sum() / freedom[0] / inside)

    least = -1.0 / (float(sizes.max()) - 1.0)
    first, last = least * (1.0 - 1e-12), 1.0 - 1e-12

    def crossing(quantile: float) -> float:
        """Where the statistic falls to the quantile, or the end beyond which it does."""
        if statistic(first) <= quantile:
            return least
        if statistic(last) >= quantile:
            return 1.0
        return float(brentq(lambda rho: statistic(rho) - quantile, first, last, xtol=1e-13))

    tail = (1.0 - confidence) / 2.0
    lower, upper = crossing(f.isf(tail, *freedom)), crossing(f.ppf(tail, *freedom))
    return max(least, lower - OUTWARD), min(1.0, upper + OUTWARD)
