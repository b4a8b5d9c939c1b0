"""How many records a population has, and which of them may depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

from bayesdp.kernel.arithmetic import UnknownError
from bayesdp.kernel.models.components import Components
from bayesdp.statements import chains, gaussian, graphs, networks, panels, populations
from bayesdp.statements.base import InFile
from bayesdp.statements.populations import Population
from bayesdp.statements.tables import shape

Rows = Sequence[Sequence[float]]
"""The numbers of a matrix, as declared."""
TIES_IN_FILE = "the ties are in a file that the kernel does not read"
"""The reason for UNKNOWN where a graph or a network is declared by a file."""
MOST_RECORDS = 1_000_000
"""Of a graph that is built record by record; a larger one is UNKNOWN."""


def group_size(population: Population) -> int:
    """The most records that may depend on each other."""
    if isinstance(population, populations.Family):
        return max(map(group_size, population.members))
    if isinstance(population, populations.Independent):
        return 1
    if isinstance(population, chains.Chain | chains.Autoregressive):
        return population.length
    if isinstance(population, panels.Panel):
        return population.series * population.length
    if isinstance(population, graphs.Finite):
        return len(shape(population.probabilities))
    if isinstance(population, gaussian.GaussianCovariance):
        return len(population.covariance)
    if isinstance(population, gaussian.GaussianPrecision):
        return len(matrix_of(population))
    if isinstance(population, populations.Unknown):
        return population.records
    if isinstance(
        population,
        populations.Clusters
        | gaussian.GaussianVectors
        | gaussian.GaussianCorrelation
        | gaussian.GaussianRegression,
    ):
        return population.size
    return _largest_component(population)


def matrix_of(population: gaussian.GaussianCovariance | gaussian.GaussianPrecision) -> Rows:
    """The declared numbers; `UnknownError` where they stand in a file."""
    if isinstance(population, gaussian.GaussianCovariance):
        covariance: Rows = population.covariance
        return covariance
    if isinstance(population.precision, InFile):
        raise UnknownError("the matrix is in a file that the kernel does not read")
    precision: Rows = population.precision
    return precision


def members_of_factors(population: Population) -> tuple[int, list[list[int]]]:
    """The number of records, and the records that each factor ties together."""
    if isinstance(population, networks.Tree | networks.NetworkNodes):
        place = {node.name: number for number, node in enumerate(population.nodes)}
        families = [
            [*(place[parent] for parent in node.parents), place[node.name]]
            for node in population.nodes
        ]
        # The root of a tree is tied to nothing; a network lists all families.
        whole = isinstance(population, networks.NetworkNodes)
        return len(place), [family for family in families if whole or len(family) > 1]
    if isinstance(population, graphs.GraphGrid):
        return _grid(*population.grid)
    if isinstance(population, graphs.GraphFactors):
        return population.records, [list(factor.between) for factor in population.factors]
    if isinstance(population, graphs.GraphEdges) and not isinstance(population.edges, InFile):
        return population.records, [list(pair) for pair in population.edges]
    raise UnknownError(TIES_IN_FILE)


def _grid(rows: int, columns: int) -> tuple[int, list[list[int]]]:
    if rows * columns > MOST_RECORDS:
        raise UnknownError(f"a grid of more than {MOST_RECORDS} records")
    ties = []
    for place in range(rows * columns):
        if place % columns + 1 < columns:
            ties.append([place, place + 1])
        if place + columns < rows * columns:
            ties.append([place, place + columns])
    return rows * columns, ties


def _largest_component(population: Population) -> int:
    _, ties = members_of_factors(population)
    # Only records that are tied to others: how many there are besides is a number, and no list.
    tied = Components({place: None for tie in ties for place in tie}, ties)
    return max(map(len, tied.groups()), default=1)


def records_described(population: Population) -> int:
    """How many records a model of all records of the table describes."""
    if isinstance(population, populations.Unknown | gaussian.GaussianPrecision):
        return group_size(population)
    return members_of_factors(population)[0]
