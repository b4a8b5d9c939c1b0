"""Sums of correlations on grids without fields: against enumeration, and known values."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from bayesdp.leakage import ferromagnet
from bayesdp.leakage.ferromagnet import susceptibility
from tests.oracles import attractive


def ratio(coupling: float) -> Fraction:
    return Fraction(math.exp(4.0 * coupling))


def value(grid: tuple[int, int], coupling: float) -> float:
    bound = susceptibility(grid, ratio(coupling))
    assert bound is not None
    return bound.value


def actual(grid: tuple[int, int], coupling: float) -> float:
    """The largest sum of correlations by enumeration."""
    couplings = attractive.grid(*grid, coupling)
    s, law = (
        attractive.spins(len(couplings)),
        attractive.weights(couplings, np.zeros(len(couplings))),
    )
    return float((s.T * law @ s).sum(axis=1).max())


@pytest.mark.parametrize("coupling", [0.0, 0.05, 0.3, 0.6, 2.0])
@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_small_grids_are_summed_exactly(grid: tuple[int, int], coupling: float) -> None:
    truth = actual(grid, coupling)
    assert truth - 1e-13 <= value(grid, coupling) <= truth * (1 + 1e-11)


@pytest.mark.parametrize("grid", [(1, 12), (2, 6), (3, 4), (6, 2)])
def test_boxes_that_are_smaller_than_the_grid_are_above_it(
    grid: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for coupling in (0.01, 0.1, 0.2, 0.3):
        truth = actual(grid, coupling)
        for radius in (1, 2):
            bound = ferromagnet._Box.of(grid, radius).bound(math.exp(-2.0 * coupling))
            assert bound >= truth - 1e-12, (grid, coupling, radius)
        assert truth - 1e-12 <= value(grid, coupling) <= 1.03 * truth


@pytest.mark.parametrize(
    ("coupling", "radius", "due"),
    [
        (0.05, 2, 1.2350), (0.2, 2, 2.917), (0.2, 3, 2.876), (0.2, 5, 2.861),
        (0.3, 2, 9.54), (0.3, 4, 7.69), (0.3, 5, 7.47),
        (0.35, 2, 204.0), (0.35, 3, 32.3), (0.35, 4, 22.7), (0.35, 5, 19.4), (0.4, 5, math.inf),
    ],
)  # fmt: skip
def test_boxes_of_a_large_grid(coupling: float, radius: int, due: float) -> None:
    """From another program: couplings as they are, a column at a time, in plain doubles."""
    bound = ferromagnet._Box.of((10**4, 10**4), radius).bound(math.exp(-2.0 * coupling))
    assert bound == pytest.approx(due, rel=4e-3)


def test_chains_in_closed_form() -> None:
    """`(1 + t) / (1 - t)`, `t = tanh J`, and a little for the ends of the box."""
    for coupling in (0.05, 0.3):
        t = math.tanh(coupling)
        due = (1 + t - 2 * t**6) / (1 - t) / (1 - 2 * t**6)
        bound = ferromagnet._Box.of((1, 10**6), 5).bound(math.exp(-2.0 * coupling))
        assert due - 1e-13 <= bound <= due * (1 + 1e-11)


def test_stronger_couplings_and_larger_grids_have_higher_sums() -> None:
    """Up to 0.2 %, which is left to smaller boxes."""
    for grid in ((1, 2), (3, 5), (40, 50)):
        values = [value(grid, coupling) for coupling in np.linspace(0.0, 0.35, 15)]
        assert all(after >= 0.998 * before for before, after in pairwise(values))
    for coupling in (0.1, 0.3):
        values = [value((side, side), coupling) for side in (1, 2, 3, 5, 8, 10, 13, 100)]
        assert all(after >= 0.998 * before for before, after in pairwise(values))


def test_couplings_that_are_too_strong_have_no_bound_unless_the_grid_is_small() -> None:
    assert susceptibility((100, 100), ratio(0.4)) is None
    assert value((6, 6), 0.4) < 12
    assert 36 * 0.999 <= value((6, 6), 5.0) <= 36 * (1 + 1e-9)


def test_grids_of_too_many_sums_count_as_parts_of_larger_ones() -> None:
    box = ferromagnet._Box
    assert box.of((8, 8), 5) == box(8, 8, False, False)
    assert box.of((100, 8), 5) == box(8, 11, False, True)
    assert box.of((9, 9), 4) == box.of((100, 100), 4) == box(9, 9, True, True)
    assert box.of((9, 9), 5) == box.of((100, 100), 5) == box(11, 11, True, True)
    assert box.of((1, 9), 5) == box(1, 9, False, False)
