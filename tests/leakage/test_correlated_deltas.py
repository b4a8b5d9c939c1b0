"""What correlation makes of a delta: by hand, at the ends, and attained."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from bayesdp.leakage.correlated_deltas import converted_delta, group, growth
from bayesdp.notions import ApproxDP
from tests.effort import runs
from tests.oracles import finite


def test_growth_by_hand() -> None:
    assert growth(math.log(4), math.log(2)) == pytest.approx(3.0, rel=1e-14)
    assert growth(math.log(4), math.log(2)) >= 3.0
    assert converted_delta(math.log(4), ApproxDP(math.log(2), 0.01), 2) == pytest.approx(0.03)
    # Activity at eps .25: level 1.0011 takes 1e-6 to 6.06e-6.
    assert converted_delta(1.0011, ApproxDP(0.25, 1e-6), 9) == pytest.approx(6.06e-6, rel=1e-3)


def test_growth_at_the_ends() -> None:
    assert growth(0.3, 0.3) == 1.0  # independent records: nothing grows
    assert growth(0.0, 0.3) == 1.0
    assert growth(800.0, 1.0) == math.inf
    assert growth(math.nan, 1.0) == math.inf
    assert growth(3e-300, 1e-300) == pytest.approx(3.0)
    assert converted_delta(800.0, ApproxDP(1.0, 0.0), 3) == 0.0
    assert converted_delta(0.0, ApproxDP(0.0, 0.01), 4) == 0.04
    assert converted_delta(0.3, ApproxDP(0.3, 0.01), 4) == pytest.approx(0.01, rel=1e-15)


def test_growth_is_rounded_up_and_monotone_in_the_level() -> None:
    rng = np.random.default_rng(1)
    ctx.prec = 200
    for _ in range(runs(2000)):
        eps = float(10 ** rng.uniform(-8, 2))
        levels = np.sort(eps * (1.0 + 10 ** rng.uniform(-9, 1.5, size=3))).tolist()
        actual = [growth(level, eps) for level in levels]
        assert actual == sorted(actual)
        for level, value in zip(levels, actual, strict=True):
            exact = (_ball(level).expm1() / _ball(eps).expm1()).upper()
            if value < math.inf:
                assert arb(value) >= exact
                assert value <= float(exact) * (1 + 1e-14)


def _ball(value: float) -> arb:
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def test_groups_by_hand() -> None:
    three = group(3, ApproxDP(0.5, 1e-3))
    assert three.epsilon == pytest.approx(1.5)
    assert three.delta == pytest.approx(1e-3 * (1 + math.exp(0.5) + math.exp(1.0)))
    four, many, pure = (
        group(4, ApproxDP(0.0, 0.01)),
        group(10**6, ApproxDP(1.0, 1e-300)),
        group(10**6, ApproxDP(1.0, 0.0)),
    )
    assert (four.epsilon, four.delta) == (0.0, pytest.approx(0.04))
    assert (many.epsilon, many.delta) == (pytest.approx(1e6), math.inf)
    assert (pure.epsilon, pure.delta) == (pytest.approx(1e6), 0.0)


def test_groups_are_attained() -> None:
    """Identical records: the search over all events finds the group's delta."""
    joint = np.zeros((2, 2))
    joint[0, 0] = joint[1, 1] = 0.5
    both = group(2, ApproxDP(0.3, 0.02))
    worst, _ = finite.delta_violation(joint, 0.3, 0.02, both.epsilon, 0.0, "uninformed")
    assert worst == pytest.approx(both.delta, abs=1e-7)
