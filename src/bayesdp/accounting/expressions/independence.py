"""Which records a population declares to be independent of each other: proved from its spec alone.

Blocks of records are mutually independent if no two of them hold records of one dependent group:
a cluster, a series, a connected part of a graph. Nothing is computed from probabilities, so a law
that happens to factorise isn't seen to, and no rounding can declare two records independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

from bayesdp.errors import InputError
from bayesdp.populations import (
    Family,
    Gaussian,
    Graph,
    Independent,
    Network,
    Population,
    Tree,
    Unknown,
)

RecordId = int | tuple[Hashable, int]
"""A record: its number in the one cluster or series, or `(which cluster or series, number)`."""


def dependence(population: Population, blocks: Sequence[frozenset[RecordId]]) -> str | None:
    """Why these blocks of records may depend on each other, in words; `None` if they can't.

    Under a family they must be independent for every member. Raises `InputError` for a record that
    the population doesn't have.
    """
    if isinstance(population, Family):
        reasons = (dependence(member, blocks) for member in population.members)
        return next((reason for reason in reasons if reason is not None), None)
    groups = [{group_of(population, record) for record in block} for block in blocks]
    for first, second in combinations(range(len(blocks)), 2):
        shared = groups[first] & groups[second]
        if shared:
            return (
                f"blocks {first + 1} and {second + 1} have records that may depend on each other: "
                f"{population.describe()}"
            )
    return None


def group_of(population: Population, record: RecordId) -> Hashable:
    """The dependent group of a record: records of different groups are independent.

    Raises `InputError` for a record that the population doesn't have.
    """
    if isinstance(population, Independent):
        return record
    if isinstance(population, Unknown):
        return "all"
    which, index = record if isinstance(record, tuple) else ("the only one", record)
    if not 0 <= index < population.table_size:
        raise InputError(
            "records",
            record,
            expected=f"a record of the population, 0 to {population.table_size - 1}",
        )
    if isinstance(population, Tree | Graph | Network):
        # One graph speaks of all records, so there are no further clusters of them.
        labels = _labels(population)
        return ("part", labels[index])
    if population.structure == "all":
        return "all"
    if (
        isinstance(population, Gaussian)
        and population.covariance is not None
        and population.size is None
    ):
        return (which, _uncorrelated_part(population.covariance, index))
    return which


@lru_cache(maxsize=32)
def _labels(population: Tree | Graph | Network) -> tuple[int, ...]:
    from bayesdp.populations.joint import component_labels

    return tuple(component_labels(population.factor_graph).tolist())


@lru_cache(maxsize=256)
def _uncorrelated_part(covariance: Any, index: int) -> int:
    """The least record that is tied to this one by covariances other than 0."""
    reached, waiting = {index}, [index]
    while waiting:
        row = covariance[waiting.pop()]
        neighbours = {j for j, value in enumerate(row) if value != 0.0} - reached
        reached |= neighbours
        waiting += neighbours
    return min(reached)
