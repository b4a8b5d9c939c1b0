"""Graphical models: the influence matrix (theory 3.7b).

The level is at most `eps max_i sum_j S_ij / S_ii`, `S = (I - kappa)^-1`, `kappa_jk = tanh(ln R_jk /
4)`, where `R_jk` is the largest cross ratio of the records `j` and `k` given all others. `kappa` is
symmetric, so `S` is as in `walks`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.graphs import Model, WeightTable, cross_ratio, live_cells, read_model
from bayesdp.kernel.steps.walks import WITNESS, SparseRows, largest_row
from bayesdp.statements.graphs import GraphEdges, GraphFactors, GraphGrid
from bayesdp.statements.populations import Population

LARGEST = 20_000
"""Certificates about more records or ties are UNKNOWN."""


_last: tuple[Population, str, arb] | None = None
"""The population of the last proof, the details it read as text, and the factor that it proved.

Kept for speed: the factor is the same for every cost, and proving it again would give it again.
"""


def bound(conversion: Conversion) -> arb:
    """The total cost times the largest total influence on a record."""
    global _last
    population = conversion.population
    if _ties(population) > LARGEST:
        raise UnknownError(f"a matrix of influences of more than {LARGEST} records or ties")
    text, last = repr(conversion.details.get(WITNESS)), _last
    if last is None or last[0] is not population or last[1] != text:
        _last = last = (population, text, _largest_influence(population, conversion.details))
    return last[2] * ball(conversion.total)


def _largest_influence(population: Population, details: Mapping[str, Any]) -> arb:
    """`max_i sum_j S_ij / S_ii`; the cross ratios of all factors of two records are multiplied."""
    model = read_model(population)
    ratios: dict[frozenset[int], arb | None] = {}
    ratios_of: dict[Hashable, list[tuple[int, int, arb | None]]] = {}
    for tie, table in model.factors:
        key = (id(table), *(model.possible[record] for record in tie))
        if key not in ratios_of:
            ratios_of[key] = _pair_ratios(model, tie, table)
        for first, second, ratio in ratios_of[key]:
            pair = frozenset((tie[first], tie[second]))
            if pair in ratios:
                before = ratios[pair]
                ratio = None if ratio is None or before is None else before * ratio
            ratios[pair] = ratio
    # A record without ties has no influence: its row is that of the identity.
    place = {record: i for i, record in enumerate(sorted({r for pair in ratios for r in pair}))}
    rows: SparseRows = [{i: arb(1)} for i in range(len(place))]
    entries: dict[int, arb] = {}
    for (first, second), ratio in ratios.items():
        if id(ratio) not in entries:  # most factors of a large model have one table
            root = None if ratio is None else ratio.sqrt()
            entries[id(ratio)] = arb(-1) if root is None else (1 - root) / (1 + root)
        entry, i, j = entries[id(ratio)], place[first], place[second]
        rows[i][j] = rows[j][i] = entry
    return largest_row(rows, details, clipped=False) if rows else arb(1)


def _ties(population: Population) -> int:
    """How many factors there are, or records on a grid; networks and trees are not counted."""
    if isinstance(population, GraphGrid):
        return math.prod(population.grid)
    if isinstance(population, GraphFactors):
        return len(population.factors)
    if isinstance(population, GraphEdges) and isinstance(population.edges, tuple):
        return len(population.edges)
    return 0


def _pair_ratios(
    model: Model, tie: tuple[int, ...], table: WeightTable
) -> list[tuple[int, int, arb | None]]:
    """The places of each two members of a factor, and their largest cross ratio."""
    ratios: list[tuple[int, int, arb | None]] = []
    for first, second in combinations(range(len(tie)), 2):
        largest = _pair_ratio(model, tie, table, first, second)
        ratios.append((first, second, None if largest is None else ball(largest)))
    return ratios


def _pair_ratio(
    model: Model, tie: tuple[int, ...], table: WeightTable, first: int, second: int
) -> Fraction | None:
    """The largest cross ratio of two members over the settings of the others.

    Infinite (`None`) unless, for each setting, all possible pairs of values have weight, or none.
    """
    given: dict[Hashable, dict[int, dict[int, Fraction]]] = {}
    for setting, weight in live_cells(tie, table, model.possible):
        rest = tuple(v for k, v in enumerate(setting) if k not in (first, second))
        rows = given.setdefault(rest, {})
        rows.setdefault(setting[first], {})[setting[second]] = weight
    values, others = model.possible[tie[first]], model.possible[tie[second]]
    largest = Fraction(1)
    for rows in given.values():
        if rows.keys() != values or any(row.keys() != others for row in rows.values()):
            return None
        largest = max(largest, cross_ratio(list(rows.values())) or largest)
    return largest
