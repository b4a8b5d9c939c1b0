"""What relations between notions need to know of a population, re-derived from its declaration.

An answer is `True`, `False`, or `None` where the declaration decides nothing. Where several laws
meet the declaration, a hypothesis holds if it does under all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require
from bayesdp.kernel.models.dependence import (
    all_of,
    default_among_factors,
    finite_law,
    keeps,
    mutual_independence,
)
from bayesdp.kernel.models.gaussian import lower_triangle_positive, symmetric, triangle
from bayesdp.kernel.models.graphs import read_model
from bayesdp.kernel.models.moves import all_possible, default_possible, read_moves
from bayesdp.kernel.models.populations import group_size, matrix_of
from bayesdp.statements.chains import Chain, MarkovChain, MarkovIntervals
from bayesdp.statements.gaussian import (
    AnyGaussian,
    GaussianCorrelation,
    GaussianRegression,
    GaussianVectors,
)
from bayesdp.statements.graphs import Finite
from bayesdp.statements.populations import Family, Population
from bayesdp.statements.tables import cells, shape

LARGEST_MATRIX = 200
"""A certificate that needs a larger matrix to be inverted is UNKNOWN."""

NAMES = {
    "full-support": "every database is possible under the population",
    "mutual-independence": "all records are mutually independent under the population",
    "default-in-domain": "the default record is a value that the mechanism accepts and its DP "
    "level covers",
    "default-possible": "the default record has positive probability, whatever possible values "
    "the others have",
    "groups-within-size": "no more than that many records depend on each other",
    "downward-scalable-family": "the beliefs for which membership privacy holds may be scaled down "
    "to any two values of a record",
    "record-secrets": "the secrets of Pufferfish are the values of single records, and its family "
    "is the population given any values of any other records",
    "causal-structure": "no record causes another, and records cause nothing but the database",
    "every-population": "the given level holds for every population",
}


class Facts:
    """What a population shows and what is declared about it."""

    def __init__(
        self, population: Population | None, declared: Iterable[str], default: Fraction, size: int
    ) -> None:
        self.population, self.default, self.size = population, default, size
        self.declared = list(declared)
        for name in self.declared:
            require(name in NAMES, f"no hypothesis {name!r}", "declared")
            require(self._shown(name) is not False, f"the population refutes {name}", "declared")

    def rests_on(self, name: str) -> frozenset[str]:
        """The declarations that a hypothesis rests on; `InvalidError` where it isn't known."""
        shown = self._shown(name)
        require(shown is not False, f"the population refutes {name}", "hypotheses")
        if shown:
            return frozenset()
        if name in self.declared:
            return frozenset({name})
        if name == "default-possible":
            return self.rests_on("full-support") | self.rests_on("default-in-domain")
        if name == "default-in-domain" and "default-possible" in self.declared:
            return frozenset({"default-possible"})
        raise InvalidError(f"{name} is neither shown nor declared", "hypotheses")

    def _shown(self, name: str) -> bool | None:
        return None if self.population is None else self._answer(name, self.population)

    def _answer(self, name: str, population: Population) -> bool | None:
        if name == "groups-within-size":
            return group_size(population) <= self.size
        if isinstance(population, Family):
            return all_of(self._answer(name, member) for member in population.members)
        if name == "full-support":
            return full_support(population)
        if name == "mutual-independence":
            return mutual_independence(population)
        if name == "default-in-domain":
            return self._in_domain(population)
        if name == "default-possible":
            return self._possible(population)
        return None

    def _in_domain(self, population: Population) -> bool | None:
        if population.model in ("gaussian", "autoregressive"):
            return True
        states = fewest_states(population)
        if states is None:
            return None
        return self.default.denominator == 1 and 0 <= self.default < states

    def _possible(self, population: Population) -> bool | None:
        inside = self._in_domain(population)
        if not inside:
            return inside
        if population.model in ("gaussian", "autoregressive"):
            return full_support(population)
        default = int(self.default)
        if isinstance(population, Finite):
            return keeps(finite_law(population), default)
        if isinstance(population, Chain):
            return default_possible(read_moves(population), default)
        return default_among_factors(population, default)


def full_support(population: Population) -> bool | None:
    """Whether every database is possible."""
    model = population.model
    if isinstance(population, Finite):
        return all(weight > 0 for weight in cells(population.probabilities))
    if isinstance(population, Chain):
        return all_possible(read_moves(population))
    if model in ("tree", "graph", "network"):
        tables = [table for _, table in read_model(population).factors]
        return all(weight > 0 for table in tables for weight in table.weights)
    if isinstance(population, AnyGaussian):
        return _gaussian_support(population)
    return True if model == "autoregressive" else None


def _gaussian_support(population: AnyGaussian) -> bool | None:
    """Positive definite, so that the density is positive."""
    if isinstance(population, GaussianCorrelation):
        rho = Fraction(population.max_correlation)
        return rho * (population.size - 1) < 1  # at 1 a law may be singular
    if isinstance(population, GaussianRegression):  # likewise: a record that others determine
        return population.size == 1 or population.max_regression_sum < 1
    matrix = (
        population.covariance if isinstance(population, GaussianVectors) else matrix_of(population)
    )
    rows = symmetric(matrix)
    if len(rows) > LARGEST_MATRIX:
        raise UnknownError(f"a matrix of more than {LARGEST_MATRIX} rows", "full-support")
    lower_triangle_positive(triangle(rows))
    return True


def fewest_states(population: Population) -> int | None:
    """The number of values of a discrete record, the smallest of all records."""
    if isinstance(population, Finite):
        return min(shape(population.probabilities))
    if isinstance(population, MarkovChain):
        return len(population.transition)
    if isinstance(population, MarkovIntervals):
        return len(population.transition_lower)
    if population.model in ("tree", "graph", "network"):
        return min(read_model(population).states)
    return None
