"""Reads a population whose numbers a level doesn't need: a reader takes all of them for checked.

Against an informed adversary every level is the DP cost, whatever the population. Its declaration
must be one all the same: laws that sum to 1, matrices that are symmetric, records that are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import UnknownError, ball, exact, require, whole
from bayesdp.kernel.gaussian import lower_triangle_positive, symmetric
from bayesdp.kernel.graphs import read_model, read_table
from bayesdp.kernel.orders import first_law, read_rows
from bayesdp.kernel.populations import group_size

MOST_ROWS = 100
"""Larger matrices are read, and only rules that need it prove them positive definite."""

OFF = Fraction(1, 10**9)
"""Sums of decimals are seldom 1 as doubles: the package holds laws and bounds to this too."""


def read_population(population: Mapping[str, Any]) -> None:
    """`InvalidError` for numbers that describe no population; files are not at hand to be read."""
    try:
        require(group_size(population) >= 1, "no records", "population")
        _READ.get(population["model"], _nothing)(population)
    except UnknownError:
        return


def _nothing(_: Mapping[str, Any]) -> None:
    """Sizes are all that is declared."""


def _family(population: Mapping[str, Any]) -> None:
    for member in population["members"]:
        read_population(member)


def _markov(population: Mapping[str, Any]) -> None:
    order = whole(population.get("order", 1), "order", 1)
    if "transition" in population:
        first_law(population, read_rows(population["transition"], order), order)
        return
    ends = (population["transition_lower"], population["transition_upper"])
    low, high = (read_rows(one, order, normalise=False) for one in ends)
    require(len(low) == len(high), "bounds of different shapes", "population")
    for under, over in zip(low, high, strict=True):
        pairs = zip(under, over, strict=True)
        require(all(0 <= a <= b <= 1 for a, b in pairs), "no bounds", "population")
        meets = sum(under) - OFF <= 1 <= sum(over) + OFF
        require(meets, "bounds of no law", "population")


def _autoregressive(population: Mapping[str, Any]) -> None:
    phi = exact(population["coefficient"], "coefficient")
    require(abs(phi) < 1, "the series is not stationary", "population")


def _gaussian(population: Mapping[str, Any]) -> None:
    if "max_correlation" in population:
        most = exact(population["max_correlation"], "max_correlation")
        require(0 <= most <= 1, "no correlation", "population")
        return
    matrix = symmetric(population["covariance" if "covariance" in population else "precision"])
    if len(matrix) <= MOST_ROWS:
        lower_triangle_positive(
            [[ball(row[j]) for j in range(i + 1)] for i, row in enumerate(matrix)]
        )


def _finite(population: Mapping[str, Any]) -> None:
    total = sum(read_table(population["probabilities"]).weights, Fraction(0))
    require(abs(total - 1) * 10**9 <= 1, "the law doesn't sum to 1", "population")


def _graph(population: Mapping[str, Any]) -> None:
    read_model(population)


_READ = {
    "family": _family, "markov": _markov, "autoregressive": _autoregressive,
    "gaussian": _gaussian, "finite": _finite, "graph": _graph, "tree": _graph, "network": _graph,
}  # fmt: skip
