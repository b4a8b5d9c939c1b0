"""Gaussian clusters with equal variances and a largest correlation.

Statement (theory 3.8 a; Lange et al., PVLDB 2025, corrected). Clusters of `m` jointly Gaussian
records with **equal variances** and no |correlation| above `rho`, `rho (m - 2) < 1`: the level is
at most `eps (1 + m^2 / (4 (1/rho - m + 2)))`, for mechanisms that are Lipschitz in the clipped
values and secrets inside the clipping interval.

The equal variances are missing in the publication, and without them the bound is false:
correlation 0.3 and variances 1 and 100 would give the factor 1.3, but leak 1.6243 at eps = 1,
because the second record moves by 3 units when the first moves by one.

Proof. By `gaussian_equal_variances` the sum of the |regression coefficients| of the unknown records
is at most `(m - s) / (1/rho - s + 1)` with `s` conditioning records. That is monotone in `s`, so at
most the larger of `(m - 1) rho` and `1 / (1/rho - m + 2)`, and both are at most the constant: the
second because `m >= 2`, the first because `-v (m - 2)^2 <= 4 (m - 1)(m - 2)` with `v = 1/rho`.
"""

from __future__ import annotations

from typing import Any

from bayesdp.leakage.normal import max_correlation_factor
from bayesdp.populations import Gaussian, Population
from bayesdp.theorems.base import Question
from bayesdp.theorems.gaussian import GaussianTheorem

EQUAL_VARIANCES = 1e-12


class GaussianMaxCorrelation(GaussianTheorem):
    """Factor `1 + m^2 / (4 (1/rho - m + 2))` for equal variances (theory 3.8 a)."""

    name = "gaussian-max-correlation"
    statement = "equal variances, |correlation| <= rho: at most (1 + m^2/(4(1/rho - m + 2))) eps"
    source = "Lange et al., PVLDB 2025, with the missing hypothesis; theory 3.8 a"
    uses = "the size of a cluster and its largest correlation"
    ignores = "all other correlations, and who is known"

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this model at all."""
        return isinstance(population, Gaussian) and population.columns is None

    def hypothesis(self, question: Question) -> str | None:
        """Equal variances, and `rho (m - 2) < 1`."""
        population = question.population
        assert isinstance(population, Gaussian)
        if population.precision is not None:
            return "the precision is declared, not the correlations"
        size, rho, equal = largest_correlation(population)
        if not equal:
            return "the variances differ: the published bound is false then (theory 3.8 a)"
        if max_correlation_factor(size, rho) is None:
            return (
                f"the largest correlation {rho:.6g} is not below 1/(m - 2) = {1 / (size - 2):.6g}"
            )
        return None

    def factor(self, question: Question) -> tuple[float, dict[str, Any]]:
        """The constant, and the `rho` in it."""
        population = question.population
        assert isinstance(population, Gaussian)
        size, rho, _ = largest_correlation(population)
        factor = max_correlation_factor(size, rho)
        assert factor is not None
        return factor, {"max_correlation": rho}


def largest_correlation(population: Gaussian) -> tuple[int, float, bool]:
    """The cluster's size, its largest |correlation| (rounded up), and whether variances agree."""
    if population.covariance is None:
        return population.group_size, population.max_correlation or 0.0, True
    rows = population.covariance
    variances = [rows[i][i] for i in range(len(rows))]
    equal = max(variances) <= min(variances) * (1.0 + EQUAL_VARIANCES)
    smallest = min(variances)
    off = [abs(rows[i][j]) for i in range(len(rows)) for j in range(len(rows)) if i != j]
    largest = max(off, default=0.0) / smallest
    return len(rows), largest, equal
