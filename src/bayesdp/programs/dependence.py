"""How much wider a mean's posterior is where a population says that records depend on each other.

**What a factor says.** Let records have the standard deviation s and correlations r(i, j), and let
`R` be the largest sum over j of |r(i, j)|, of any record i (its own 1 included). The sum of any n
of them has the variance

    s^2 sum_i sum_j r(i, j) <= s^2 sum_i R = n s^2 R,

so the sum of n dependent records is no wider than that of n independent ones with the standard
deviation `s sqrt(R)`: n / R of them are worth as much as n. That is what a model with
`dependence="declared"` takes; for clusters of m records with equal correlations r, of which all
records are observed, it is the exact variance, `1 + (m - 1) r`. It is a statement about posteriors,
which follow from what was released; it changes no cost.

**R of a population.** Gaussian clusters: the largest sum of a row's absolute correlations, or
`1 + (m - 1) max_correlation`. AR(1): `|a|^k` for records k apart, summed from the middle of a
series. Clusters about whose law nothing is said: m, their size. Independent records: 1.

**Functions of a record.** A model may observe a function of what the population covers, clipped
heights for example. For jointly Gaussian x and y no functions f(x), g(y) are more correlated than
|r| (Gebelein 1941; Lancaster 1957), so `R` bounds theirs too. What else a record holds, independent
of other records, makes no correlation larger: with g(x) = E[f | x], the covariance of f and f' is
that of g and g', and g has no larger variance.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.errors import UnsupportedError
from bayesdp.numbers import float_above

if TYPE_CHECKING:
    from bayesdp.populations import Population
    from bayesdp.programs.ir import Expr

DIGITS = 9
"""The decimals to which a factor is rounded up."""

COUNTED = (
    "The declared dependence of records counts: the posterior is as wide as their largest sum of "
    "correlations makes it."
)
IGNORED = (
    "The posterior takes records for independent, and the declared population says that they are "
    "not: its intervals may be too narrow."
)

CHAIN = "The declared population is a chain, as the posterior takes it for."
OTHER = (
    "The posterior takes records for a chain, and the declared population is another one: its "
    "intervals may be too narrow."
)


def of_a_chain(population: Population | None) -> str:
    """The note on a chain's posterior in a study with this population; none if it has no say."""
    if not is_dependent(population):
        return ""
    return CHAIN if is_chain(population) else OTHER


def is_of_chain(derived: Expr) -> bool:
    """Whether what is derived is a chain's posterior."""
    models = (part for part in derived.args if part.op == "observe")
    return any(model.args[1].data == ("markov_chain",) for model in models)


def is_chain(population: Population | None) -> bool:
    """Whether a population is a Markov chain of order 1."""
    from bayesdp.populations import MarkovChain

    return isinstance(population, MarkovChain) and population.order == 1


def inflation(population: Population | None) -> Fraction:
    """The factor of a record's standard deviation, sqrt(R), rounded up.

    Raises `UnsupportedError` for populations about which no R is known.
    """
    largest = largest_row_sum(population)
    scale = 10**DIGITS
    root = isqrt(largest.numerator * scale**2 // largest.denominator)
    exact = Fraction(root, scale)
    return exact if exact * exact >= largest else exact + Fraction(1, scale)


def largest_row_sum(population: Population | None) -> Fraction:
    """R: the largest sum of a record's absolute correlations with all records, rounded up.

    Raises `UnsupportedError` for populations about which no R is known.
    """
    from bayesdp.populations import Autoregressive, Clusters, Gaussian, Independent

    if isinstance(population, Independent):
        return Fraction(1)
    if isinstance(population, Clusters):
        return Fraction(population.size)
    if isinstance(population, Autoregressive):
        return _of_series(population.coefficient, population.length)
    if isinstance(population, Gaussian):
        if population.max_correlation is not None:
            assert population.size is not None
            return 1 + (population.size - 1) * Fraction(population.max_correlation)
        if population.covariance is not None and population.columns is None:
            return _of_covariance(np.asarray(population.covariance, dtype=np.float64))
    raise UnsupportedError(
        "population",
        "none" if population is None else population.describe(),
        expected='for dependence="declared" one that bounds correlations: gaussian with a '
        "covariance or max_correlation, autoregressive, clusters, or independent",
        remedy='Leave dependence="declared" out of the program: its posterior takes records for '
        "independent, and says so.",
    )


def _of_series(coefficient: float, length: int) -> Fraction:
    """1 + the sum of |a|^k on both sides of the middle of a series."""
    a = abs(Fraction(coefficient))
    if length > 2 * MOST_TERMS:
        return (1 + a) / (1 - a)
    sides = ((length - 1) // 2, length // 2)
    total = 1.0 + sum(float(a) ** k for side in sides for k in range(1, side + 1))
    return min(Fraction(float_above(Fraction(total) * (1 + ROUNDING))), (1 + a) / (1 - a))


def _of_covariance(covariance: np.ndarray) -> Fraction:
    spread = np.sqrt(np.diag(covariance))
    sums = np.abs(covariance / np.outer(spread, spread)).sum(axis=1)
    return Fraction(float(sums.max())) * (1 + ROUNDING)


MOST_TERMS = 1000
"""The most powers that are summed; of longer series the limit is taken."""
ROUNDING = Fraction(1, 10**12)
"""Above what sums of doubles may be off, relative to them."""


def is_dependent(population: Population | None) -> bool:
    """Whether a population lets records depend on each other."""
    from bayesdp.populations import Independent

    return population is not None and not isinstance(population, Independent)
