"""Witnesses of graphs whose records are not all alike: in ratios, components, or signs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from flint import arb

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.conversions.conversion import certified_level
from bayesdp.kernel.steps.walks import LARGEST_DENSE, SparseRows, largest_row
from bayesdp.notions import Cost
from tests.kernel.steps import make_step, refused

EPSILON = 0.3
COST = Cost(any=EPSILON)
WEAK, STRONG = 1.44, 4.0
"""Cross ratios of two factors."""


def coupled(ratio: float) -> list[list[float]]:
    """The table of two binary records with this cross ratio."""
    return [[math.sqrt(ratio), 1.0], [1.0, math.sqrt(ratio)]]


def graph(records: int, *ties: tuple[int, int, Any]) -> dict[str, Any]:
    factors = [{"between": [first, second], "table": table} for first, second, table in ties]
    return {"model": "graph", "records": records, "states": 2, "factors": factors}


def passed_on(ratio: float) -> float:
    """`y = ln f(e^(y + eps); R)`: no message of a path is larger, `R` the largest ratio."""
    y = 0.0
    for _ in range(200):
        root = math.exp((y + EPSILON) / 2)
        y = 2 * math.log((1 + root * math.sqrt(ratio)) / (root + math.sqrt(ratio)))
    return y


def by_messages(population: dict[str, Any], *messages: float) -> dict[str, Any]:
    return make_step("graph-contraction", population, COST, details={"messages": list(messages)})


def test_one_number_is_above_the_messages_of_the_largest_ratio() -> None:
    path = graph(3, (0, 1, coupled(WEAK)), (1, 2, coupled(STRONG)))
    most = passed_on(STRONG)
    level = certified_level(by_messages(path, most * (1 + 1e-12)))
    assert level == pytest.approx(EPSILON + 2 * most, rel=1e-9)
    weaker = by_messages(path, passed_on(WEAK) * (1 + 1e-12))
    assert "a step raises it" in refused(weaker)


def test_the_largest_component_is_the_most_that_depends() -> None:
    """Equal records in a pair and in a path of three: the level is that of the path."""
    equal = [[1.0, 0.0], [0.0, 1.0]]
    both = graph(5, (0, 1, equal), (2, 3, equal), (3, 4, equal))
    level = certified_level(make_step("graph-contraction", both, COST))
    assert level == pytest.approx(3 * EPSILON, rel=1e-12)


def triangles(ratio: float) -> dict[str, Any]:
    """More records than a matrix is inverted for, each tied to two others."""
    groups = [range(first, first + 3) for first in range(0, LARGEST_DENSE + 3, 3)]
    ties = [(*pair, coupled(ratio)) for group in groups for pair in combinations(group, 2)]
    return graph(LARGEST_DENSE + 3, *ties)


def row_sums(population: dict[str, Any], *entries: float) -> dict[str, Any]:
    witness = [*entries] * (population["records"] // len(entries))
    return make_step("graph-influence", population, COST, details={"row_sums": witness})


def test_a_vector_of_row_sums_is_positive() -> None:
    calm = triangles(1.2)
    assert certified_level(row_sums(calm, 1.0, 1.0, 1.0)) > EPSILON
    assert "no vector" in refused(row_sums(calm, 1e-3, 1.0, 1.0))
    for entries in ((-1.0, -1.0, -1.0), (0.0, 1.0, 1.0)):
        assert "greater than 0" in refused(row_sums(calm, *entries))


def test_a_factor_that_is_kept_is_of_its_population_and_its_witness_alone() -> None:
    calm, wild = triangles(1.2), triangles(1.4)
    low = certified_level(row_sums(calm, 1.0, 1.0, 1.0))
    assert certified_level(row_sums(wild, 1.0, 1.0, 1.0)) > low * 1.01
    assert certified_level(row_sums(calm, 1.0, 1.0, 1.0)) == low
    assert certified_level(row_sums(calm, 1.0, 1.5, 1.5)) > low * 1.01
    assert certified_level(row_sums(calm, 1.0, 1.0, 1.0)) == low
    assert "number" in refused(row_sums(calm, True, 1.0, 1.0))  # equal to what is kept
    twice = make_step(
        "graph-influence",
        calm,
        Cost(any=2 * EPSILON),
        details={"row_sums": [1.0] * calm["records"]},
    )
    assert certified_level(twice) == pytest.approx(2 * low, rel=1e-12)


def test_a_vector_with_a_negative_entry_proves_nothing() -> None:
    """`C s > 0` for some `s < 0` too where `C` is not an M-matrix: its inverse has signs."""
    size = LARGEST_DENSE + 2
    strong: SparseRows = [{i: arb(1), i ^ 1: arb(-2)} for i in range(size)]
    weak: SparseRows = [{i: arb(1), i ^ 1: arb(1) / -4} for i in range(size)]
    assert bool(largest_row(weak, {"row_sums": [1.0] * size}, clipped=False) >= 5 / 4)
    for rows, entry in ((strong, -1.0), (strong, 1.0), (weak, -1.0)):
        with pytest.raises(InvalidError, match="no vector"):
            largest_row(rows, {"row_sums": [entry] * size}, clipped=False)
    for odd in (math.inf, math.nan, True, "1"):
        with pytest.raises(InvalidError, match="not a finite number"):
            largest_row(weak, {"row_sums": [odd] * size}, clipped=False)
    exactly = largest_row(weak, {"row_sums": [0.1] * size}, clipped=False)
    tenth = [Fraction(0.1)] * size  # read as a fraction, and not as a double
    assert exactly.overlaps(largest_row(weak, {"row_sums": tenth}, clipped=False))
    mixed = [-1e-3, *[1.0] * (size - 1)]
    lone: SparseRows = [{0: arb(-1)}, *({i: arb(1)} for i in range(1, size))]
    with pytest.raises(InvalidError, match="no vector"):
        largest_row(lone, {"row_sums": mixed}, clipped=False)
