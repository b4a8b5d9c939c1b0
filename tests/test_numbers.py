"""Rounding goes where its name says, by as little as it may, and against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesdp.numbers import (
    Exact,
    NotANumberError,
    down,
    float_above,
    float_below,
    largest,
    times_above,
    up,
)

POSITIVE = st.floats(min_value=1e-300, max_value=1e300)


@given(st.fractions())
def test_the_nearest_doubles_on_either_side(exact: Fraction) -> None:
    above, below = float_above(exact), float_below(exact)
    assert Fraction(below) <= exact <= Fraction(above)
    assert Fraction(math.nextafter(above, -math.inf)) < exact
    assert Fraction(math.nextafter(below, math.inf)) > exact


def test_no_double_is_above_what_is_beyond_all() -> None:
    with pytest.raises(OverflowError):
        float_above(Fraction(10) ** 400)


@given(st.lists(st.floats(min_value=1e-30, max_value=1e30), min_size=2, max_size=5))
def test_sums_are_within_their_rounded_operations(values: list[float]) -> None:
    exact, rounded = sum(map(Fraction, values)), 0.0
    for value in values:
        rounded += value
    above, below = up(rounded, len(values)), down(rounded, len(values))
    assert Fraction(below) < exact < Fraction(above)
    assert above <= rounded * (1.0 + 2e-15)


@given(POSITIVE)
def test_widening_moves_a_number_even_where_its_share_is_too_small(value: float) -> None:
    assert down(value, 0) < value < up(value, 0)
    assert up(0.0, 4) == 5e-324


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_what_is_infinite_stays_so(value: float) -> None:
    assert up(value, 4) == down(value, 4) == value
    assert math.isnan(up(math.nan, 4))


def test_products_are_rounded_up_by_one_step_at_most() -> None:
    for count in (2, 3, 7, 591, 10**6):
        for value in (0.1, 0.3, 1 / 3, math.pi, 5e-324, 1e300):
            exact = Fraction(value) * count
            product = times_above(count, value)
            assert Fraction(product) >= exact
            assert Fraction(math.nextafter(product, 0.0)) < exact
    assert times_above(3, 1e308) == math.inf
    assert times_above(3, math.inf) == math.inf


def test_the_largest_bound_is_never_a_lost_one() -> None:
    assert largest(1, 2.5, np.array([0.0, 7.0])) == 7.0
    assert largest(1.0, math.inf) == math.inf
    for bounds in ((math.nan, 1.0), (1.0, math.nan), (1.0, np.array([2.0, math.nan]))):
        with pytest.raises(NotANumberError, match="not a number"):
            largest(*bounds)
    with pytest.raises(ValueError, match="zero-size"):
        largest(np.array([]))


def test_a_number_up_to_an_error_is_below_its_upper_end() -> None:
    assert Fraction(Exact(0.1, 0.2).upper) >= Fraction(0.1) + Fraction(0.2)
    assert Exact(0.0, 1e-12).upper == 1e-12
    assert Exact(math.inf, 0.0).upper == math.inf
