"""Gaussian clusters whose records have roles, from public or past data, with exact intervals.

The model: clusters are independent and have one law, a jointly Gaussian one of the records by role
(child, father, mother); variances and correlations may differ. Clusters that lack a role are left
out, which is right where what is missing doesn't depend on the values.

**What is bounded.** The level of such a population depends on its regressions alone (theory 3.8 b):
on the coefficient of each unknown record `j` on a record `i`, given any set `K` of known ones. For
given regressors, least squares is Gaussian about the true coefficient, and its standard error has
`N - |K| - 2` degrees of freedom, `N` the number of clusters: the interval by Student's t is exact.
There are `m (m - 1) 2^(m - 2)` coefficients, each with that share of the error (Bonferroni, which
holds whatever ties the estimates), so the confidence holds for all of them at once. The largest sum
over `j` of the ends that are larger in size, at most 1 each, is the `R` of theory 3.8 b2: the
population that is declared holds every covariance of the region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting.comparing import FitCheck, dropped_rows
from bayesdp.fitting.diagnosing import check_covariances, check_file_order, check_jointly_normal
from bayesdp.fitting.numbers_of import (
    Numbers,
    check_columns,
    check_confidence,
    complete_rows,
    confidence_words,
    numbered_clusters,
)
from bayesdp.populations import Gaussian
from bayesdp.statements.conditions import Reads

MOST_ROLES = 10
"""All sets of known records are gone through: 23,040 coefficients for ten roles."""

OUTWARD = 1e-9
"""By how much a bound is moved outward, for the errors of a quantile and of least squares."""


@dataclass(frozen=True)
class RolesFit:
    """Gaussian clusters by role: the estimate, and the population that holds the truth.

    `estimate` has the sample covariance, with a row for each of its `roles`; nothing is promised
    about it. `population` declares the size and `max_regression_sum`, and holds the true law with
    the stated `confidence`. `clusters` have all roles, `incomplete` ones lack some and were left
    out with their rows, and `dropped` rows have a missing cell. `checks` are tests of the model.
    """

    population: Gaussian
    estimate: Gaussian
    confidence: float
    clusters: int
    incomplete: int
    dropped: int
    checks: tuple[FitCheck, ...] = ()

    @property
    def correlations(self) -> Numbers:
        """The sample correlations, a row and a column for each role."""
        covariance = np.array(self.estimate.covariance)
        spread = np.sqrt(np.diag(covariance))
        correlations: Numbers = covariance / np.outer(spread, spread)
        return correlations

    @property
    def diagnostics(self) -> tuple[FitCheck, ...]:
        """The correlations and the bound in words, tests of the model, and what was left out."""
        roles, matrix = self.estimate.roles or (), self.correlations
        pairs = ", ".join(
            f"{roles[i]} and {roles[j]} {matrix[i, j]:.4g}"
            for i, j in combinations(range(len(roles)), 2)
        )
        largest = up_words(self.population.max_regression_sum or 0.0)
        text = (
            f"Correlations are about: {pairs}. The regressions on a record sum to at most "
            f"{largest} with confidence {confidence_words(self.confidence)}. That clusters are "
            "independent and jointly Gaussian with one law is assumed."
        )
        left_out = f"{self.incomplete} clusters lack a role and were left out."
        incomplete = (FitCheck("incomplete clusters", left_out),) if self.incomplete else ()
        left = (*incomplete, *dropped_rows(self.dropped))
        return (FitCheck("correlations", text), *self.checks, *left)

    def estimated(self) -> dict[str, Any]:
        """The roles, and the sample's covariance and correlations, as plain data."""
        return {
            "roles": list(self.estimate.roles or ()),
            "covariance": self.estimate.spec()["covariance"],
            "correlations": self.correlations.tolist(),
        }


def fit_roles(
    table: object,
    value: str,
    cluster: str,
    role: str,
    *,
    roles: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> RolesFit:
    """Fit jointly Gaussian clusters, a covariance by role, to the numbers of the column `value`.

    `table` is what a study can name as its source, of public or past data: nothing is spent and
    nothing is protected. It has a row for each record, and rows with the same `cluster` belong
    together. `roles` are those of the population, in its order: by default all that the column
    `role` holds, sorted. Raises `InputError` for arguments and cells that can't be read, and
    `UnsupportedError` where there are too few clusters or too many roles.
    """
    check_confidence(confidence)
    check_columns(value=value, cluster=cluster, role=role)
    reads: dict[str, Reads] = {cluster: "text", role: "text", value: "number"}
    (names, parts, values), dropped = complete_rows(table, reads)
    known = sorted(set(parts.tolist())) if roles is None else list(roles)
    if not 2 <= len(known) <= MOST_ROLES or len(set(known)) < len(known):
        raise UnsupportedError(
            "roles",
            f"{len(known)} roles",
            expected=f"between 2 and {MOST_ROLES} different ones",
            remedy="For clusters of records without roles there is fit_exchangeable.",
        )
    for name in known:
        if name not in parts:
            raise InputError("roles", name, expected=f"a role that the column '{role}' holds")
    records, incomplete = _by_cluster(names, parts, values.astype(float), known)
    if len(records) <= len(known) + 1:
        raise UnsupportedError(
            "cluster",
            f"{len(records)} clusters with all roles",
            expected=f"more than {len(known) + 1}",
            remedy="Use more clusters, or declare clusters in which anything is possible: model = "
            '"clusters".',
        )
    covariance = np.cov(records, rowvar=False)
    largest = largest_sum(covariance, len(records), confidence)
    source = (
        f"fitted to {len(records)} clusters of {', '.join(known)}: the regressions sum to at most "
        f"{up_words(largest)} with confidence {confidence_words(confidence)}, if clusters are "
        "independent and jointly Gaussian with one law"
    )
    matrix = ((covariance + covariance.T) / 2.0).tolist()
    return RolesFit(
        population=Gaussian(size=len(known), max_regression_sum=largest, source=source),
        estimate=Gaussian(covariance=tuple(map(tuple, matrix)), roles=tuple(known)),
        confidence=confidence,
        clusters=len(records),
        incomplete=incomplete,
        dropped=dropped,
        checks=_checks(records),
    )


def _checks(records: Numbers) -> tuple[FitCheck, ...]:
    """Tests of the model; `records` has a row for each cluster, in the order of the table."""
    standard = (records - records.mean(axis=0)) / records.std(axis=0)
    return (
        check_jointly_normal(records),
        check_covariances(records),
        check_file_order(standard.mean(axis=1)),
    )


def _by_cluster(
    names: Numbers, parts: Numbers, values: Numbers, known: Sequence[str]
) -> tuple[Numbers, int]:
    """The values of complete clusters, shape `(clusters, roles)`, and how many lack a role."""
    clusters, rows = numbered_clusters(names)
    places = {name: place for place, name in enumerate(known)}
    columns = np.array([places.get(part, -1) for part in parts.tolist()])
    present = columns >= 0
    seats = rows[present] * len(known) + columns[present]
    if len(np.unique(seats)) < len(seats):
        raise InputError(
            "role",
            expected="one row for each role of a cluster, and some cluster has two",
            remedy="Number them (child 1, child 2), or use fit_exchangeable.",
            shown=False,
        )
    cells = np.full(clusters * len(known), np.nan)
    cells[seats] = values[present]
    records = cells.reshape(clusters, len(known))
    complete = ~np.isnan(records).any(axis=1)
    return records[complete], int((~complete).sum())


def largest_sum(covariance: Numbers, clusters: int, confidence: float) -> float:
    """A bound on the sums of regressions, `R`, of the true law, rounded up.

    `covariance` is the sample's, of that many independent clusters (with `clusters - 1` in its
    denominator); more of them than records in a cluster and one are needed.
    """
    from scipy.stats import t

    size = len(covariance)
    coefficients = size * (size - 1) * 2 ** (size - 2)
    best = 0.0
    for regressors, unknown in _splits(size):
        freedom = clusters - len(regressors) - 1
        quantile = t.isf((1.0 - confidence) / (2.0 * coefficients), freedom)
        within = covariance[np.ix_(regressors, regressors)]
        across = covariance[np.ix_(regressors, unknown)]
        inverse = np.linalg.inv(within)
        slopes = inverse @ across
        left = covariance[unknown, unknown] - (across * slopes).sum(axis=0)
        errors = np.sqrt(np.outer(np.diag(inverse), np.maximum(left, 0.0)) / freedom)
        ends = np.minimum(np.abs(slopes) + quantile * errors, 1.0)
        best = max(best, float(ends.sum(axis=1).max()))
    return min(best * (1.0 + OUTWARD) + OUTWARD, size - 1.0)


def _splits(size: int) -> Iterator[tuple[list[int], list[int]]]:
    """Every set of regressors (a record and those that are known), and the unknown records."""
    for count in range(1, size):
        for first_part in combinations(range(size), count):
            yield list(first_part), [j for j in range(size) if j not in first_part]
