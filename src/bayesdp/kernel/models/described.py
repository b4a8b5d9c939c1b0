"""Checks the numbers of a population that no rule reads: readers take all for checked.

Against an informed adversary every level is the DP cost, whatever the population, and groups only
count. Its numbers must describe a population all the same: matrices are positive definite, and the
factors of a graph leave some database possible.
"""

from __future__ import annotations

from bayesdp.kernel.arithmetic import TooSlowError, UnknownError
from bayesdp.kernel.models.gaussian import lower_triangle_positive, symmetric, triangle
from bayesdp.kernel.models.graphs import read_model
from bayesdp.kernel.models.populations import Rows, matrix_of
from bayesdp.statements import gaussian, populations
from bayesdp.statements.populations import Population

MOST_ROWS = 100
"""Larger matrices are proved positive definite only by the rules that need it."""

_GRAPHS = ("graph", "tree", "network")


def check_numbers(population: Population) -> None:
    """`InvalidError` for numbers that describe no population; those in files are not at hand."""
    if isinstance(population, populations.Family):
        for member in population.members:
            check_numbers(member)
        return
    try:
        if population.model in _GRAPHS:
            read_model(population)
        elif isinstance(population, gaussian.GaussianCovariance | gaussian.GaussianPrecision):
            _positive_definite(matrix_of(population))
        elif isinstance(population, gaussian.GaussianVectors):
            _positive_definite(population.covariance)
    except TooSlowError:
        raise
    except UnknownError:
        return


def _positive_definite(matrix: Rows) -> None:
    if len(matrix) <= MOST_ROWS:
        lower_triangle_positive(triangle(symmetric(matrix)))
