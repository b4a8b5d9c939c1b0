"""The `cluster-size` bound is the exact product, where doubles hold it: no hair more."""

from __future__ import annotations

import pytest

from bayesdp.notions import Cost
from bayesdp.populations import Clusters
from bayesdp.theorems import Question
from bayesdp.theorems.cluster_size import ClusterSize


@pytest.mark.parametrize(
    ("size", "cost", "level"), [(2, 0.5, 1.0), (4, 1.0, 4.0), (3, 0.25, 0.75), (1, 0.3, 0.3)]
)
def test_what_doubles_hold_is_not_rounded(size: int, cost: float, level: float) -> None:
    bound = ClusterSize().bound(Question(Clusters(size=size)), Cost(cost))
    assert bound.epsilon == level
