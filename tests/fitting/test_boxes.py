"""The laws that stand for a box: never below a law in it, and all of them between its bounds."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from bayesdp.fitting.boxes import OUTWARD, largest_laws, number_of_laws
from tests.effort import runs
from tests.oracles.finite import ADVERSARIES, worst_case

CASES = [(2, 2, False), (2, 2, True), (2, 3, False), (3, 2, False), (3, 2, True), (2, 3, True)]
"""Records, states, exchangeable."""


def symmetric(table: np.ndarray) -> np.ndarray:
    """The mean over all orders of the axes."""
    orders = list(permutations(range(table.ndim)))
    return sum(table.transpose(order) for order in orders) / len(orders)


def box(
    rng: np.random.Generator, records: int, states: int, exchangeable: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Random bounds; some lower ones are 0."""
    shape = (states,) * records
    center, width = rng.random(shape) ** 2, rng.random(shape) * rng.choice([0.1, 1.0])
    if exchangeable:
        center, width = symmetric(center), symmetric(width)
    lower = np.maximum(center - width, 0.0)
    return lower, center + width


def between(
    rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray, exchangeable: bool
) -> np.ndarray:
    """Random weights between the bounds, often at their ends, as a law."""
    share = np.clip(rng.random(lower.shape) * 3.0 - 1.0, 1e-6, 1.0)
    if exchangeable:
        index = np.sort(np.indices(lower.shape), axis=0)
        share = share[tuple(index)]
    weights = lower + share * (upper - lower)
    return weights / weights.sum()


@pytest.mark.prove
@pytest.mark.parametrize(("records", "states", "exchangeable"), CASES)
def test_no_law_of_a_box_has_a_larger_level(records: int, states: int, exchangeable: bool) -> None:
    rng = np.random.default_rng(1)
    closest = np.inf
    for _ in range(runs(40, 2)):
        lower, upper = box(rng, records, states, exchangeable)
        laws = list(largest_laws(lower, upper, exchangeable=exchangeable))
        assert len(laws) <= number_of_laws(states, records, exchangeable=exchangeable)
        epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        for adversary in ADVERSARIES[:2]:
            bound = max(worst_case(law, epsilon, adversary).upper for law in laws)
            for _ in range(6):
                law = between(rng, lower, upper, exchangeable)
                level = worst_case(law, epsilon, adversary).level
                assert level <= bound + 1e-9
                closest = min(closest, bound - level)
    assert closest < 0.5


@pytest.mark.parametrize(("records", "states", "exchangeable"), CASES)
def test_the_laws_lie_in_the_box(records: int, states: int, exchangeable: bool) -> None:
    """So that the level of the family is that of the box, and not above it."""
    rng = np.random.default_rng(2)
    lower, upper = box(rng, records, states, exchangeable)
    laws = list(largest_laws(lower, upper, exchangeable=exchangeable))
    assert len({law.tobytes() for law in laws}) == len(laws)
    for law in laws:
        largest = (law / upper).max()
        least = (law[lower > 0] / lower[lower > 0]).min(initial=np.inf)
        # Some scale puts all weights between the bounds.
        assert largest <= least * (1 + 4 * OUTWARD)
    assert number_of_laws(2, 2, exchangeable=True) == 2
    assert number_of_laws(2, 3, exchangeable=True) == 12


@pytest.mark.parametrize(("records", "states"), [(2, 3), (3, 2)])
def test_no_corner_of_a_box_has_a_larger_level(records: int, states: int) -> None:
    """All corners where there are few, of bounds under which no two records are alike."""
    rng = np.random.default_rng(3)
    shape = (states,) * records
    lower = rng.random(shape) * np.arange(1, states + 1)
    upper = lower * (1.0 + 3.0 * rng.random(shape))
    laws = largest_laws(lower, upper, exchangeable=False)
    bound = max(worst_case(law, 1.0, "uninformed").upper for law in laws)
    highest = 0.0
    for marks in product((0, 1), repeat=states**records):
        corner = np.where(np.reshape(marks, shape) == 1, upper, lower)
        highest = max(highest, worst_case(corner / corner.sum(), 1.0, "uninformed").level)
    assert highest == pytest.approx(bound, abs=1e-7)


def test_corners_of_a_region_of_laws_are_not_enough() -> None:
    """A mixture of two laws of independent records is one of dependent records."""
    corners = [np.outer([1 - p, p], [1 - p, p]) for p in (0.01, 0.99)]
    levels = [worst_case(law, 1.0, "any").upper for law in corners]
    assert max(levels) == pytest.approx(1.0)
    assert worst_case((corners[0] + corners[1]) / 2, 1.0, "any").level > 1.9


def test_the_ends_of_a_box_count() -> None:
    """A pair of two states: the two laws with the strongest dependence of either sign."""
    lower, upper = np.full((2, 2), 0.1), np.full((2, 2), 0.4)
    strong = np.array([[0.4, 0.1], [0.1, 0.4]])
    laws = sorted(largest_laws(lower, upper, exchangeable=True), key=lambda law: law[0, 0])
    np.testing.assert_allclose(laws, [strong[::-1], strong], rtol=1e-8)
