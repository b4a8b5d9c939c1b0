"""The grid: the prescribed arithmetic, its sensitivity, its room and its slack."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.tables.queries.grid import ROOM, Grid, check_room
from tests.effort import runs

INTERVALS = [(0.0, 1.0), (120.0, 220.0), (-3.0, 7.5), (-9.0, -2.0), (0.1, 0.3), (1e-16, 1e16)]


def floats_in(lo: float, hi: float, rng: random.Random) -> float:
    """Values with trouble in them: ends, neighbours of ends, tiny and huge ones."""
    special = [lo, hi, math.nextafter(lo, hi), math.nextafter(hi, lo), -0.0, 1e-16, 1e16, -1e308]
    return rng.choice([*special, rng.uniform(lo, hi), lo + (hi - lo) * rng.random() ** 40])


@pytest.mark.prove
@pytest.mark.parametrize(("lo", "hi"), INTERVALS)
@pytest.mark.parametrize("masked", [False, True])
def test_index_is_within_two_steps_and_within_the_sensitivity(
    lo: float, hi: float, masked: bool
) -> None:
    rng = random.Random(1)
    grid = Grid.plan(lo, hi, 1000, dp_epsilon=0.3, masked=masked)
    for _ in range(runs(3000)):
        x = floats_in(lo, hi, rng)
        index = grid.index(x)
        assert grid.least <= index <= grid.most
        clipped = Fraction(min(max(x, lo), hi))
        assert abs(grid.value(index, 1) - clipped) <= 2 * grid.step
    least, most = grid.index(lo), grid.index(hi)
    assert grid.sensitivity >= most - least
    if masked:
        assert grid.sensitivity >= max(abs(least), abs(most))


def test_sensitivity_of_a_masked_sum_counts_a_row_that_leaves() -> None:
    """[100, 110]: leaving changes the sum by up to 110, not by 10 (theory 2.3 c)."""
    grid = Grid.plan(100.0, 110.0, 50, dp_epsilon=1.0, masked=True)
    assert grid.sensitivity * grid.step == pytest.approx(110, rel=1e-6)
    both = Grid.plan(-1.0, 1.0, 50, dp_epsilon=1.0, masked=True)
    assert both.sensitivity * both.step == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("n", [1, 591, 10**6, 10**9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 50.0])
def test_the_largest_grid_with_room_is_chosen(n: int, epsilon: float) -> None:
    grid = Grid.plan(0.0, 1.0, n, dp_epsilon=epsilon)

    def fits(bits: int) -> bool:
        noise = DiscreteLaplace.for_cost(2**bits, epsilon).quantile(1 - 1e-12)
        return n * 2**bits + noise < ROOM

    assert fits(grid.bits)
    assert grid.bits == 40 or not fits(grid.bits + 1)
    assert grid.slack == 2 * 2.0**-grid.bits


def test_doubles_must_be_finer_than_a_step() -> None:
    grid = Grid.plan(1e15, 1e15 + 256, 10, dp_epsilon=1.0)
    assert math.ulp(1e15) <= grid.step < 2 * math.ulp(1e15 + 256)
    with pytest.raises(InputError):
        Grid.plan(1e16, 1e16 + 64, 10, dp_epsilon=1.0)


@pytest.mark.parametrize(
    ("lo", "hi", "n", "epsilon", "options"),
    [
        (0.0, 1.0, 2**62, 1.0, {}),
        (0.0, 1.0, 10**30, 1.0, {}),
        (0.0, 1.0, 2**60, 1.0, {}),
        (0.0, 1.0, 10, 1e-18, {}),
        (0.0, 1.0, 10, 1e-300, {}),
        (0.0, 1.0, 10**9, 1.0, {"dependents": 10**9}),
        (0.0, 1.0, 10**9, 1.0, {"rows_per_record": 10**9}),
        (-1e308, 1e308, 10, 1.0, {}),
        (0.0, 5e-324, 10, 1.0, {}),
        (0.0, math.nan, 10, 1.0, {}),
        (1.0, 1.0, 10, 1.0, {}),
        (0.0, 1.0, 0, 1.0, {}),
        (0.0, 1.0, 10, 0.0, {}),
        (0.0, 1.0, 10, math.nan, {}),
    ],
)
def test_no_room_or_too_much_slack_is_refused(
    lo: float, hi: float, n: int, epsilon: float, options: dict[str, int]
) -> None:
    with pytest.raises(InputError):
        Grid.plan(lo, hi, n, dp_epsilon=epsilon, **options)


def test_slack_is_refused_above_one_percent_only() -> None:
    Grid.plan(0.0, 1.0, 10**6, dp_epsilon=1.0, dependents=10**6)
    with pytest.raises(InputError, match="1 %"):
        Grid.plan(0.0, 1.0, 10**9, dp_epsilon=1.0, dependents=10**8)


def test_room_of_counts() -> None:
    check_room(10**12, 1, 0.1)
    with pytest.raises(InputError, match="2\\^62"):
        check_room(2**62, 1, 0.1)
    with pytest.raises(InputError, match="2\\^62"):
        check_room(2**62 - 10, 1, 0.1)


@pytest.mark.parametrize("n", [1, 591, 10**9])
@pytest.mark.parametrize("rho", [1e-12, 0.01, 50.0])
def test_the_largest_grid_with_room_for_gaussian_noise(n: int, rho: float) -> None:
    grid = Grid.plan(0.0, 1.0, n, dp_rho=rho)

    def fits(bits: int) -> bool:
        noise = DiscreteGaussian.for_cost(4**bits, rho).quantile(1 - 1e-12)
        return n * 2**bits + noise < ROOM

    assert fits(grid.bits)
    assert grid.bits == 40 or not fits(grid.bits + 1)
    with pytest.raises(InputError, match="dp_rho"):
        Grid.plan(0.0, 1.0, n, dp_rho=0.0)
    with pytest.raises(InputError, match="dp_epsilon"):
        Grid.plan(0.0, 1.0, n)
