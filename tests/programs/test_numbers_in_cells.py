"""The rule `cell`: a record's number in its own cell of a table, against all pairs of records."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import pytest

from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.ir import expression
from tests.programs.run.helpers import accepted, seen

RECORD = """
@record
class R:
    x: Real[{low}, {high}]
    c: {c}
    b: Bool

@program{options}
def f(db: Database[R]) -> Private[Vector]:
    k = sum(onehot(r.c) * r.x for r in db{kept})
    return {op}(({entries}), {cost})
"""
LABELS = ("u", "v", "w")
NOISE = {"laplace": "epsilon=1", "gaussian": "epsilon=1, delta=1e-6"}
ENTRIES = {
    "plain": (1, 1, 1),
    "weighted": (1, -5, F(1, 5)),
    "one heavy cell": (1, F(1, 9), F(-1, 9)),
    "one cell": (2,),
}


def contributions(
    low: int, high: int, factors: tuple[F | int, ...], filtered: bool
) -> dict[tuple[str, F], tuple[F, ...]]:
    """What records at the ends, the middle and 0 add, by their label."""
    numbers = {F(low), F(high), F(low + high, 2)} | ({F(0)} if low <= 0 <= high else set())
    added = {
        (label, x): tuple(
            x * factor if label == LABELS[i] else F(0) for i, factor in enumerate(factors)
        )
        for label in LABELS
        for x in numbers
    }
    nothing = {(label, F(-1000)): (F(0),) * len(factors) for label in LABELS} if filtered else {}
    return added | nothing


@pytest.mark.parametrize("bounds", [(0, 10), (-1, 1), (-2, 8), (3, 5), (-7, -3)])
@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("op", NOISE)
@pytest.mark.parametrize("options", ["", '(adjacency="add-remove")'])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_never_below_what_two_records_differ_by(
    bounds: tuple[int, int], entries: str, op: str, options: str, shared: bool, filtered: bool
) -> None:
    factors = ENTRIES[entries]
    labels = 'Category["u", "v", "w"]'
    text = RECORD.format(
        low=bounds[0],
        high=bounds[1],
        c=f"Public[{labels}]" if shared else labels,
        options=options,
        kept=" if r.b" if filtered else "",
        op=op,
        entries=", ".join(f"k[{i}] * ({factor})" for i, factor in enumerate(factors)) + ",",
        cost=NOISE[op],
    )
    core, verdict = accepted(text)
    del core
    value = folded(expression(verdict.derivation["sequence"][0]["sensitivity"]["value"]))
    assert value is not None
    added = contributions(*bounds, factors, filtered)
    pairs = [
        (a, b)
        for (cell, _), a in added.items()
        for (moved, _), b in added.items()
        if cell == moved or not shared or options
    ]
    if options:
        pairs = [(a, (F(0),) * len(factors)) for a in added.values()]
    power = 1 if op == "laplace" else 2
    true = max(sum(abs(x - y) ** power for x, y in zip(a, b, strict=True)) for a, b in pairs)
    assert true <= value
    if bounds[0] <= 0 <= bounds[1] and not shared:
        assert value <= max(
            true,
            sum(sorted(abs(f) ** power for f in factors)[-2:]) * F(max(map(abs, bounds))) ** power,
        )
    if entries == "plain" and not options and not shared:
        assert (
            value == 2 * F(max(map(abs, bounds))) ** power
            or value == F(max(bounds[1], 0) - min(bounds[0], 0)) ** power
        )


@pytest.mark.parametrize("bounds", [("0", "0.3"), ("0.1", "0.7"), ("-0.3", "0.1")])
def test_what_is_summed_keeps_inside_it(bounds: tuple[str, str]) -> None:
    """On the grid itself: numbers that doubles don't hold are rounded inside the interval."""
    low, high = bounds
    core, verdict = accepted(
        RECORD.format(low=low, high=high, c='Category["u", "v", "w"]', options="", kept="",
                      op="laplace", entries="k[0], k[1], k[2]", cost="epsilon=1")
    )  # fmt: skip
    claimed = F(verdict.derivation["sequence"][0]["sensitivity"]["value"][2][0]["number"])
    seen_at = [
        seen(core, verdict, [{"x": float(x), "c": c, "b": True}])[0]
        for x, c in product((low, high), LABELS)
    ]
    scale = F(seen_at[0][2])  # in steps, and epsilon is 1
    worst = max(
        sum(abs(x - y) for x, y in zip(a[1], b[1], strict=True))
        for a, b in product(seen_at, repeat=2)
    )
    assert worst <= scale
    assert worst >= scale * F(9, 10)
    assert claimed > 0
