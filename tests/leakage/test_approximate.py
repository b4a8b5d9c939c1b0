"""Affine maps: by hand, by the largest hockey-stick divergence, and against all events."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayesdp.leakage.approximate import best_order, chain, chain_level, group, influence
from bayesdp.theorems.markov_contraction import contraction_level, cross_ratio
from tests.effort import runs
from tests.oracles import chains, finite


def test_chains_of_two_by_hand() -> None:
    """`G <= 2 G' + .1` and `G' <= 3 G'' + .01`: `.1 + 2 * .01`, or `.01 + 3 * .1`."""
    logs, delta = chain((math.log(2), 0.1), (math.log(3), 0.01))
    assert math.exp(logs) == pytest.approx(6)
    assert delta == pytest.approx(0.12)
    assert delta >= 0.12
    assert chain((math.log(3), 0.01), (math.log(2), 0.1)) == pytest.approx((math.log(6), 0.12))
    assert chain((800.0, 0.0), (1.0, 1e-310))[1] == pytest.approx(1e-310, rel=1e-6)
    assert chain((800.0, 1e-310), (800.0, 1e-310))[1] == math.inf


def test_three_changes_in_the_best_order() -> None:
    pairs = ((math.log(2), 0.1), (math.log(3), 0.01), (math.log(5), 0.002))
    totals = []
    for order in itertools.permutations(pairs):
        factor, delta = 1.0, 0.0
        for log_c, d in order:
            delta += factor * d
            factor *= math.exp(log_c)
        totals.append(delta)
    assert best_order(pairs)[1] == pytest.approx(min(totals))
    assert math.exp(best_order(pairs)[0]) == pytest.approx(30)


def test_groups_by_hand() -> None:
    eps, delta = group(3, 0.5, 1e-3)
    assert eps == pytest.approx(1.5)
    assert delta == pytest.approx(1e-3 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert group(4, 0.0, 0.01) == pytest.approx((0.0, 0.04))
    assert group(10**6, 1.0, 1e-300) == (pytest.approx(1e6), math.inf)
    assert group(10**6, 1.0, 0.0) == (pytest.approx(1e6), 0.0)


def test_groups_are_attained() -> None:
    """Identical records: the search over all events finds the group's delta."""
    joint = np.zeros((2, 2))
    joint[0, 0] = joint[1, 1] = 0.5
    eps, delta = group(2, 0.3, 0.02)
    worst, _ = finite.delta_violation(joint, 0.3, 0.02, eps, 0.0, "uninformed")
    assert worst == pytest.approx(delta, abs=1e-7)


def test_an_influence_is_the_worst_reweighting() -> None:
    """Odds `q` and `R q`; a function between `m` and `c m + d`: nothing exceeds `C G' + D`."""
    rng = np.random.default_rng(1)
    for _ in range(runs(1000)):
        ratio, c = np.exp(10 ** rng.uniform(-2, 1, size=2))
        d = float(10 ** rng.uniform(-6, 0))
        log_c, delta = influence((math.log(c), d), ratio)
        q = np.concatenate([rng.random(300), 10 ** rng.uniform(-9, 0, 300)])
        p = ratio * q / (1 - q + ratio * q)
        excess = p - math.exp(log_c) * q
        assert delta >= d * float(excess.max()) * (1 - 1e-9)
        low = rng.random(600)
        high = c * low + d
        gap = (low + p * (high - low)) - math.exp(log_c) * (low + q * (high - low))
        assert delta >= float(gap.max()) - 1e-9
        # the largest hockey-stick divergence of a reweighting is attained at some odds
        root, big = math.sqrt(ratio), math.exp(log_c / 2)
        at = (root - big) / (big * (ratio - 1))
        assert 0 <= at <= 1
        h = ratio * at / (1 - at + ratio * at) - big**2 * at
        assert delta <= d * max(h, 0.0) * (1 + 1e-6) + d * 1e-9


def test_influences_at_the_ends() -> None:
    assert influence((0.3, 0.1), math.inf) == (0.3, 0.1)
    assert influence((0.3, 0.1), 1.0) == (0.0, 0.0)
    assert influence((0.0, 0.0), 5.0) == (0.0, 0.0)
    logs, delta = influence((0.0, 0.1), 9.0)
    assert logs == pytest.approx(0.0, abs=1e-12)
    assert delta == pytest.approx(0.1 * 0.5)  # (3 - 1) / (3 + 1)
    logs, delta = influence((900.0, 0.1), 9.0)
    assert logs == pytest.approx(math.log(9.0))
    assert delta < 1e-12


def test_without_delta_it_is_the_contraction_bound() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        ratio, eps = float(np.exp(rng.uniform(0.01, 4))), float(10 ** rng.uniform(-3, 1))
        found = chain_level(ratio, eps, 0.0, 10**6)
        assert found is not None
        assert found[0] == pytest.approx(contraction_level(ratio, eps), rel=1e-8)
        assert found[0] >= contraction_level(ratio, eps) * (1 - 1e-12)
        assert found[1] == 0.0


def test_delta_stays_bounded_where_a_step_shrinks_it() -> None:
    """`h e^eps < 1` (theory 3.10): bounded in the length; else it grows out of range."""
    weak, strong = 2.0, 400.0
    short, long = chain_level(weak, 0.1, 1e-6, 50), chain_level(weak, 0.1, 1e-6, 10**9)
    assert short is not None
    assert long is not None
    assert short[1] <= long[1] <= short[1] * (1 + 1e-6)
    grown = [chain_level(strong, 1.0, 1e-6, n) for n in (2, 5, 9)]
    assert all(one is not None for one in grown)
    assert grown[0][1] < grown[1][1] < grown[2][1]
    assert (
        chain_level(strong, 0.3, 1e-6, 10**6) is None
        or chain_level(strong, 0.3, 1e-6, 10**6)[1] < 1.0
    )
    assert chain_level(1e12, 3.0, 1e-3, 10**5) is None


@pytest.mark.prove
def test_chains_against_all_events_of_all_mechanisms() -> None:
    rng = np.random.default_rng(3)
    for _ in range(runs(150)):
        states = int(rng.choice([2, 2, 3]))
        kernel = rng.dirichlet(np.ones(states), size=states) + 0.02
        kernel /= kernel.sum(axis=1, keepdims=True)
        length = int(rng.integers(1, 5 if states == 2 else 4))
        eps, delta = float(10 ** rng.uniform(-2, 0.3)), float(10 ** rng.uniform(-4, -0.7))
        ratio = cross_ratio(tuple(map(tuple, kernel.tolist())))
        found = chain_level(ratio, eps, delta, length)
        if found is None:
            continue
        start = rng.dirichlet(np.ones(states))
        joint = chains.joint(kernel, start, length)
        worst, attack = finite.delta_violation(joint, eps, delta, *found, "any")
        assert worst <= 1e-8, (kernel, start, length, eps, delta, found, attack)


def test_two_records_are_hardly_overpaid() -> None:
    """Target and one neighbour: delta' within a factor of three of what all events reach."""
    kernel = np.array([[0.8, 0.2], [0.3, 0.7]])
    found = chain_level(cross_ratio(((0.8, 0.2), (0.3, 0.7))), 0.2, 0.01, 2)
    assert found is not None
    joint = chains.joint(kernel, "stationary", 2)
    worst, _ = finite.delta_violation(joint, 0.2, 0.01, found[0], 0.0, "any")
    assert worst <= found[1] <= 3 * worst
