"""The fast route for chains without zeros: never below the truth, and equal to the general one."""

from __future__ import annotations

from itertools import pairwise

import flint
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bayesdp.leakage import chain
from bayesdp.leakage.chain import ChainLevel, two_state_level
from bayesdp.leakage.positive_chain import fits
from tests.effort import runs

Kernel = tuple[tuple[float, float], tuple[float, float]]

rates = st.one_of(
    st.floats(1e-3, 1 - 1e-3),
    st.floats(-3.0, -0.5).map(lambda power: 10.0**power),
    st.floats(-3.0, -0.5).map(lambda power: 1.0 - 10.0**power),
)
kernels = st.tuples(rates, rates).map(lambda ab: ((1 - ab[0], ab[0]), (ab[1], 1 - ab[1])))
costs = st.floats(-5.0, 1.9).map(lambda power: 10.0**power)


def stationary(kernel: Kernel, length: int, cost: float, uninformed: bool) -> ChainLevel | None:
    total = kernel[0][1] + kernel[1][0]
    start = (kernel[1][0] / total, kernel[0][1] / total)
    return two_state_level(
        kernel, start, stationary=True, length=length, dp_epsilon=cost, uninformed=uninformed
    )


def in_balls(kernel: Kernel, length: int, cost: float, uninformed: bool) -> flint.arb:
    """The recursion as theory 3.5 states it, in 300-bit balls, every combination of ends."""
    before = flint.ctx.prec
    flint.ctx.prec = 300
    try:
        t = [[flint.arb(x) for x in row] for row in kernel]
        growth = flint.arb(cost).exp()
        item = flint.arb(1)
        free = _run(t, growth, [item, item], length, known=False)
        ends = [] if uninformed else [[t[0][b], t[1][b]] for b in (0, 1)]
        known = [_run(t, growth, h, length, known=True) for h in ends]
        best = item
        for place in range(length):
            left, right = place, length - 1 - place
            for i in (0, 1):
                sides = []
                for records in (left, right):
                    fitting = [free[records], *(run[k] for run in known for k in range(records))]
                    sides.append(_largest([pair[i] for pair in fitting]))
                best = _largest([best, sides[0] * sides[1]])
        return flint.arb(cost) + best.log()
    finally:
        flint.ctx.prec = before


def _run(t, growth, h, length, *, known):
    """`(C[0, 1], C[1, 0])` after 0, 1, 2, ... unknown records."""
    values = [(flint.arb(1), flint.arb(1))]
    for _ in range(length):
        rows = [[t[u][w] * h[w] for w in (0, 1)] for u in (0, 1)]
        p, q = ([x / (row[0] + row[1]) for x in row] for row in rows)
        ends = (growth * values[-1][0], 1 / (growth * values[-1][1]))
        ratios = [(p[0] * g + p[1]) / (q[0] * g + q[1]) for g in ends]
        values.append((_largest(ratios), _largest([1 / r for r in ratios])))
        if known:
            h = [t[u][0] * h[0] + t[u][1] * h[1] for u in (0, 1)]
    return values


def _largest(numbers):
    best = numbers[0]
    for number in numbers[1:]:
        best = number if number > best else best
    return best


@settings(max_examples=runs(600), deadline=None)
@given(kernels, st.integers(1, 40), costs, st.booleans())
@example(((0.9, 0.1), (0.1, 0.9)), 2, 1.0, False)
@example(((0.95, 0.05), (0.05, 0.95)), 17, 0.16, True)
@example(((0.05, 0.95), (0.95, 0.05)), 40, 0.16, True)
@example(((0.999, 0.001), (0.001, 0.999)), 40, 1e-5, False)
@example(((0.999, 0.001), (0.001, 0.999)), 40, 75.0, False)
def test_short_chains_in_balls(kernel: Kernel, length: int, cost: float, uninformed: bool) -> None:
    """A chain that can be followed record by record: at least the truth, and hardly more."""
    actual = stationary(kernel, length, cost, uninformed)
    assert actual is not None
    truth = in_balls(kernel, length, cost, uninformed)
    assert truth <= flint.arb(actual.epsilon)
    assert flint.arb(actual.epsilon) <= truth * (1 + 1e-8)
    assert flint.arb(actual.attained) <= truth  # what is called exact rests on it
    assert actual.attained >= actual.epsilon * (1 - 1e-8)


@settings(max_examples=runs(400), deadline=None)
@given(kernels, st.sampled_from([1, 2, 9, 30, 100, 300, 1000, 10**6]), costs, st.booleans())
@example(((0.99, 0.01), (0.05, 0.95)), 1000, 1.0, True)
def test_both_routes_agree(kernel: Kernel, length: int, cost: float, uninformed: bool) -> None:
    fast = stationary(kernel, length, cost, uninformed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "fits", lambda *_: False)
        slow = stationary(kernel, length, cost, uninformed)
    assert fast is not None
    assert slow is not None
    if fits(kernel, cost):
        # The closed tail of either may lie about 1e-12 nats too high.
        assert fast.epsilon == pytest.approx(slow.epsilon, rel=1e-9, abs=1e-10)


def test_a_longer_chain_costs_no_less_and_tends_to_the_limit() -> None:
    kernel = ((0.97, 0.03), (0.06, 0.94))
    levels = [stationary(kernel, n, 0.4, False) for n in (2, 10, 40, 300, 10**4, 10**9)]
    numbers = [level.epsilon for level in levels if level is not None]
    assert len(numbers) == 6
    assert all(low <= high * (1 + 1e-11) for low, high in pairwise(numbers))
    assert numbers[-1] == pytest.approx(numbers[-2], rel=1e-11)


def test_two_free_ends_share_the_records() -> None:
    """Seventeen records don't hold two long runs: the bound for long chains is a third too high."""
    kernel = ((0.95, 0.05), (0.05, 0.95))
    short = stationary(kernel, 17, 0.16, True)
    long = stationary(kernel, 10**6, 0.16, True)
    assert short is not None
    assert long is not None
    assert short.epsilon < 0.75 * long.epsilon


def test_where_the_fast_route_does_not_go() -> None:
    assert fits(((0.9, 0.1), (0.2, 0.8)), 1.0)
    assert not fits(((1.0, 0.0), (0.2, 0.8)), 1.0)
    assert not fits(((0.5, 0.5), (0.5, 0.5)), 1.0)
    assert not fits(((0.9, 0.1), (0.2, 0.8)), 101.0)
