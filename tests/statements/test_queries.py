"""The labels of a histogram's bins: they say what the bins contain."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from bayesdp.statements.queries import cell_labels


@pytest.mark.parametrize(
    ("edges", "bounds", "labels"),
    [
        ((20, 60, 100), (0, 120), ("below 60", "60 and above")),
        ((20, 60, 100), (20, 100), ("[20, 60)", "[60, 100]")),
        ((0, 20, 60, 100), (0, 120), ("[0, 20)", "[20, 60)", "60 and above")),
        ((-10, 20, 60, 200), (0, 120), ("[-10, 20)", "[20, 60)", "[60, 200)")),
        ((1, 2, 3), (math.nextafter(1.0, 0.0), 3), ("below 2", "[2, 3]")),
        ((0.1, 1234567, 1234567.5), (0.1, 2e6), ("[0.1, 1234567)", "1234567 and above")),
        ((20, 60), (20, 60), ("[20, 60]",)),
        ((20, 60), (0, 120), ("[0, 120]",)),
        ((20, 60), (0, 60), ("[0, 60]",)),
        ((20, 60), (30, 40.5), ("[30, 40.5]",)),
    ],
)
def test_labels_say_what_the_bins_contain(
    edges: tuple[float, ...], bounds: tuple[float, float], labels: tuple[str, ...]
) -> None:
    assert cell_labels(edges, bounds) == labels


def contains(label: str, value: float) -> bool:
    """What a reader takes the label to mean."""
    if label.startswith("below "):
        return value < float(label.removeprefix("below "))
    if label.endswith(" and above"):
        return value >= float(label.removesuffix(" and above"))
    left, right = map(float, label[1:-1].split(", "))
    return left <= value <= right if label.endswith("]") else left <= value < right


def test_each_clipped_value_is_in_its_bin_and_in_no_other() -> None:
    """A value's bin is decided by the inner edges alone; ends and edges are tried themselves."""
    rng = np.random.default_rng(77)
    for _ in range(300):
        edges = tuple(np.cumsum(rng.integers(1, 4, size=rng.integers(2, 6))) * 0.37)
        low, high = np.sort(rng.choice([*edges, edges[0] - 1.0, edges[-1] + 1.0], 2, replace=False))
        if not (low < edges[-1] and edges[0] <= high):
            continue
        labels = cell_labels(edges, (low, high))
        assert len(set(labels)) == len(labels) == len(edges) - 1
        between = [(a + b) / 2 for a, b in pairwise(sorted({low, high, *edges}))]
        for value in np.clip([low, high, *edges, *between], low, high):
            place = sum(edge <= value for edge in edges[1:-1])
            assert [contains(label, value) for label in labels].index(True) == place
            assert sum(contains(label, value) for label in labels) == 1
