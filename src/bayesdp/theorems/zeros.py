"""What zeros in the tables of a graphical model do to its theorems, and what can be done."""

from __future__ import annotations

import numpy as np

from bayesdp.leakage.contraction import messages_of
from bayesdp.populations import Family, Graph, Network, Population, Tree

PLACE = "docs/populations.md, under 'tree': Zeros"
"""Where the documentation tells it at length."""

ZEROS = f"a table makes values impossible beside others, so no influence is finite ({PLACE})"
"""Why `graph-influence` doesn't apply to such a model."""

HINT = (
    "The tables hold zeros, as Mendel's do: graph-influence doesn't apply, graph-contraction "
    "counts all records that are tied as one, and graph-fields is high. Small families have the "
    "exact level (finite-law); in larger ones allow for misread values or mutations, so that no "
    f"entry is 0 ({PLACE})."
)


def has_zeros(population: Population) -> bool:
    """Whether a table makes some value of a record impossible beside one of another record.

    Of a graph, tree or network; of a family, whether one of its members is so.
    """
    if isinstance(population, Family):
        return any(map(has_zeros, population.members))
    if not isinstance(population, Graph | Tree | Network):
        return False
    return bool(np.isinf(messages_of(population.factor_graph).log_ratio).any())


def zeros_hint(population: Population | None, theorem: str) -> str:
    """What to do about zeros in the tables of a population; empty where there is nothing to do.

    `theorem` is the one with the lowest level: one that zeros don't raise needs no help.
    """
    if (
        theorem not in ("cluster-size", "graph-contraction", "graph-fields", "family")
        or population is None
    ):
        return ""
    return HINT if has_zeros(population) else ""
