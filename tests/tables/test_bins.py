"""The bin of a value, whatever the number of edges and however the engine searches them."""

from __future__ import annotations

import bisect
import math
import random

import pyarrow as pa
import pytest

from bayesdp.tables.source import open_table


@pytest.mark.parametrize("number", [1, 2, 63, 64, 127, 128, 129, 2000])
def test_bins_at_and_beside_their_edges(number: int) -> None:
    rng = random.Random(number)
    kinds = [
        lambda: rng.uniform(-5, 5),
        lambda: rng.gauss(0, 1e-300),
        lambda: rng.uniform(0, 1e308),
    ]
    edges = sorted({rng.choice(kinds)() for _ in range(number)})
    beside = [math.nextafter(edge, side) for edge in edges for side in (math.inf, -math.inf)]
    values = [*edges, *beside, 0.0, -0.0, 5e-324, 1e308, -1e308, math.inf, -math.inf]
    table = open_table(pa.table({"x": values}))
    bins = table.engine.bin_index(table.expression.x, tuple(edges))
    rows = table.rows(table.expression.select(bin=bins))
    assert [row[0] for row in rows] == [bisect.bisect_right(edges, x) for x in values]
