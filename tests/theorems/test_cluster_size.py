"""The `cluster-size` bound is the exact product, rounded up: no hair more, and never less."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from bayesdp.notions import Cost
from bayesdp.numbers import times
from bayesdp.populations import Clusters
from bayesdp.theorems import Question
from bayesdp.theorems.cluster_size import ClusterSize


@pytest.mark.parametrize(
    ("size", "cost", "level"), [(2, 0.5, 1.0), (4, 1.0, 4.0), (3, 0.25, 0.75), (1, 0.3, 0.3)]
)
def test_what_doubles_hold_is_not_rounded(size: int, cost: float, level: float) -> None:
    found = ClusterSize().bound(Question(Clusters(size=size)), Cost(cost))
    assert found.epsilon == level


def test_anything_else_is_rounded_up_by_one_step_at_most() -> None:
    for count in (2, 3, 7, 591, 10**6):
        for value in (0.1, 0.3, 1 / 3, math.pi, 5e-324, 1e300):
            exact = Fraction(value) * count
            found = times(count, value)
            assert Fraction(found) >= exact
            assert Fraction(math.nextafter(found, 0.0)) < exact
    assert times(3, 1e308) == math.inf
    assert times(3, math.inf) == math.inf
