"""What relations between notions need to know of a population, re-derived from its declaration.

An answer is `True`, `False`, or `None` where the declaration decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, ball, law, require
from bayesdp.kernel.gaussian import lower_triangle_positive, symmetric
from bayesdp.kernel.graphs import read_model
from bayesdp.kernel.populations import group_size, matrix_of
from bayesdp.statements.chains import STATIONARY, Autoregressive, MarkovChain, MarkovIntervals
from bayesdp.statements.gaussian import GaussianCorrelation, GaussianVectors
from bayesdp.statements.graphs import Finite
from bayesdp.statements.populations import Family
from bayesdp.statements.tables import cells, shape

Population = Any
Cell = tuple[int, ...]
MOST_CELLS = 2**12
LARGEST_MATRIX = 200

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
        require(len(set(self.declared)) == len(self.declared), "a hypothesis is declared twice")
        for name in self.declared:
            require(name in NAMES, f"no hypothesis {name!r}", "declared")
            require(self._shown(name) is not False, f"the population refutes {name}", "declared")

    def rests_on(self, name: str) -> frozenset[str]:
        """The declarations that a hypothesis rests on; `InvalidError` where it isn't known."""
        if self._shown(name):
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
            return _all(self._answer(name, member) for member in population.members)
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
        if not isinstance(population, Finite):
            return True if full_support(population) else None
        possible = {cell for cell, weight in finite_law(population).items() if weight > 0}
        value = int(self.default)
        return all(
            (*cell[:i], value, *cell[i + 1 :]) in possible
            for cell in possible
            for i in range(len(cell))
        )


def full_support(population: Population) -> bool | None:
    """Whether every database is possible."""
    model = population.model
    if isinstance(population, Finite):
        return all(weight > 0 for weight in finite_law(population).values())
    if model == "markov":
        return _chain_support(population)
    if model in ("tree", "graph", "network"):
        tables = [table for _, table in read_model(population).factors]
        return all(weight > 0 for table in tables for weight in table.weights)
    if model == "gaussian":
        return _gaussian_support(population)
    return True if model == "autoregressive" else None


def _chain_support(population: MarkovChain | MarkovIntervals) -> bool | None:
    order, length = population.order, population.length
    if population.initial != STATIONARY and not all(w > 0 for w in cells(population.initial)):
        return False if length >= order else None
    if isinstance(population, MarkovChain):
        positive = all(weight > 0 for weight in cells(population.transition))
        return True if positive else False if length > order else None
    return True if all(weight > 0 for weight in cells(population.transition_lower)) else None


def _gaussian_support(population: Any) -> bool | None:
    """Positive definite, so that the density is positive."""
    if isinstance(population, GaussianCorrelation):
        rho = Fraction(population.max_correlation)
        return True if rho * (population.size - 1) < 1 else None
    vectors = isinstance(population, GaussianVectors)
    rows = symmetric(population.covariance if vectors else matrix_of(population))
    if len(rows) > LARGEST_MATRIX:
        raise UnknownError(f"a matrix of more than {LARGEST_MATRIX} rows", "full-support")
    lower_triangle_positive([list(map(ball, row[: i + 1])) for i, row in enumerate(rows)])
    return True


def mutual_independence(population: Population) -> bool | None:
    """Whether all records are mutually independent."""
    if group_size(population) == 1:
        return True
    if isinstance(population, Autoregressive):
        return population.coefficient == 0
    if not isinstance(population, Finite):
        return None
    joint = finite_law(population)
    margins: list[dict[int, Fraction]] = [{} for _ in next(iter(joint))]
    for cell, weight in joint.items():
        for axis, value in enumerate(cell):
            margins[axis][value] = margins[axis].get(value, Fraction(0)) + weight
    off = Fraction(0)
    for cell, weight in joint.items():
        expected = Fraction(1)
        for axis, value in enumerate(cell):
            expected *= margins[axis][value]
        off = max(off, abs(weight - expected))
    return True if off == 0 else False if off > Fraction(1, 10**6) else None


def finite_law(population: Finite) -> dict[Cell, Fraction]:
    """The cells of a finite law, rescaled to sum to 1."""
    sizes = shape(population.probabilities)
    places = list(product(*map(range, sizes)))
    if len(places) > MOST_CELLS:
        raise UnknownError(f"a law of more than {MOST_CELLS} cells", "hypotheses")
    weights = law(list(cells(population.probabilities)), "probabilities")
    return dict(zip(places, weights, strict=True))


def fewest_states(population: Any) -> int | None:
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


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    require(len(found) > 0, "a family without members")
    if all(found):
        return True
    return False if any(answer is False for answer in found) else None
