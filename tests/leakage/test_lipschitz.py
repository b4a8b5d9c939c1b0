"""Ratios of averages of log-Lipschitz functions: by hand, by another solver, and in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from bayesdp.leakage.lipschitz import (
    LipschitzRatios,
    certified,
    threshold_bound,
)
from tests.effort import runs


def largest_ratios(p: np.ndarray, q: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Certified upper bounds for one batch, solved once."""
    return LipschitzRatios(len(p), p.shape[1]).upper(p, q, cost)


def by_linprog(p: np.ndarray, q: np.ndarray, cost: np.ndarray) -> float:
    """The largest `p . g / q . g` over all states with probability, by a general solver."""
    alive = (p > 0) | (q > 0)
    p, q, cost = p[alive], q[alive], cost[np.ix_(alive, alive)]
    rows = []
    for v, w in itertools.permutations(range(len(p)), 2):
        row = np.zeros(len(p))
        row[v], row[w] = 1.0, -cost[v, w]
        rows.append(row)
    solution = linprog(
        -p,
        A_ub=np.array(rows) if rows else None,
        b_ub=np.zeros(len(rows)) if rows else None,
        A_eq=q[None, :],
        b_eq=[1.0],
        method="highs-ds",
    )
    assert solution.status == 0
    return -float(solution.fun)


def closed_costs(rng: np.random.Generator, states: int, spread: float) -> np.ndarray:
    """Random costs that obey `c(u, w) <= c(u, v) c(v, w)`."""
    logs = spread * rng.uniform(0.1, 1.0, size=(states, states))
    np.fill_diagonal(logs, 0.0)
    for v in range(states):
        logs = np.minimum(logs, logs[:, v : v + 1] + logs[v : v + 1, :])
    return np.exp(logs)


def random_law(rng: np.random.Generator, states: int, zeros: bool) -> np.ndarray:
    law = rng.dirichlet(np.full(states, 0.7))
    if zeros:
        law *= rng.random(states) < 0.6
        if law.sum() == 0.0:
            law[rng.integers(states)] = 1.0
    return law / law.sum()


def test_two_states_by_hand() -> None:
    """`g` doubles at the state that `p` favours: (.8 * 2 + .2) / (.3 * 2 + .7) = 1.8 / 1.3."""
    p, q = np.array([[0.8, 0.2]]), np.array([[0.3, 0.7]])
    actual = largest_ratios(p, q, np.array([[1.0, 2.0], [5.0, 1.0]]))
    assert actual[0] == pytest.approx(1.8 / 1.3, rel=1e-12)
    assert actual[0] >= 1.8 / 1.3
    other_way = largest_ratios(q, p, np.array([[1.0, 2.0], [5.0, 1.0]]))
    assert other_way[0] == pytest.approx((0.3 + 0.7 * 5) / (0.8 + 0.2 * 5), rel=1e-12)


def test_three_states_by_hand() -> None:
    """Costs 2 along a line: `g = 4, 2, 1` is the best where `p / q` falls along it."""
    p, q = np.array([[0.6, 0.3, 0.1]]), np.array([[0.1, 0.3, 0.6]])
    cost = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 2.0], [4.0, 2.0, 1.0]])
    assert largest_ratios(p, q, cost)[0] == pytest.approx(3.1 / 1.6, rel=1e-12)
    # One cost of 4 for all pairs allows g = 4, 4, 1 or 4, 1, 1: more.
    assert threshold_bound(p, q, cost[None])[0] == pytest.approx(
        max((4 * 0.9 + 0.1) / (4 * 0.4 + 0.6), (4 * 0.6 + 0.4) / (4 * 0.1 + 0.9)), rel=1e-12
    )


def test_equal_laws_and_disjoint_ones() -> None:
    same = np.array([[0.2, 0.5, 0.3]])
    cost = closed_costs(np.random.default_rng(1), 3, 2.0)
    assert largest_ratios(same, same, cost)[0] == pytest.approx(1.0, abs=1e-14)
    apart = largest_ratios(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]]), cost)
    assert apart[0] == pytest.approx(cost[0, 1], rel=1e-12)
    assert apart[0] >= cost[0, 1] * (1 - 1e-15)


@pytest.mark.parametrize("zeros", [False, True])
def test_against_another_solver(zeros: bool) -> None:
    rng = np.random.default_rng([2, zeros])
    for _ in range(runs(1500)):
        states = int(rng.integers(2, 7))
        p, q = random_law(rng, states, zeros), random_law(rng, states, zeros)
        cost = closed_costs(rng, states, float(10 ** rng.uniform(-2, 0.8)))
        truth = by_linprog(p, q, cost)
        actual = float(largest_ratios(p[None], q[None], cost)[0])
        assert truth * (1 - 1e-7) <= actual <= truth * (1 + 1e-6), (p, q, cost)
        bound = float(threshold_bound(p[None], q[None], cost[None])[0])
        assert actual <= bound


def test_two_states_in_fractions() -> None:
    """Never below the true optimum, not even by the last digit."""
    rng = np.random.default_rng(3)
    for _ in range(runs(4000)):
        # Multiples of 2^-40, so that a and 1 - a are both exact.
        a, b = np.maximum(np.floor(rng.random(2) ** rng.choice([1, 8]) * 2**40), 1) / 2**40
        p, q = np.array([[a, 1 - a]]), np.array([[b, 1 - b]])
        c = 1 + 10 ** rng.uniform(-12, 3, size=2)
        cost = np.array([[1.0, c[0]], [c[1], 1.0]])
        (pa, pb), (qa, qb) = (map(Fraction, law[0].tolist()) for law in (p, q))
        first, second = Fraction(float(c[0])), Fraction(float(c[1]))
        truth = max((pa * first + pb) / (qa * first + qb), (pa + pb * second) / (qa + qb * second))
        assert Fraction(float(largest_ratios(p, q, cost)[0])) >= truth
        assert Fraction(float(threshold_bound(p, q, cost[None])[0])) >= truth


def test_threshold_is_the_best_set() -> None:
    rng = np.random.default_rng(4)
    for _ in range(runs(500)):
        states = int(rng.integers(2, 7))
        p, q = random_law(rng, states, True), random_law(rng, states, True)
        c = 1 + float(10 ** rng.uniform(-3, 2))
        best = 1.0
        for inside in itertools.product([False, True], repeat=states):
            mask = np.array(inside)
            best = max(best, (1 + (c - 1) * p[mask].sum()) / (1 + (c - 1) * q[mask].sum()))
        cost = np.where(np.eye(states, dtype=bool), 1.0, c)
        assert threshold_bound(p[None], q[None], cost[None])[0] == pytest.approx(best, rel=1e-12)
        assert threshold_bound(p[None], q[None], cost[None])[0] >= best * (1 - 1e-15)


def test_any_flows_prove_a_bound() -> None:
    """Weak duality does not trust where the flows come from."""
    rng = np.random.default_rng(5)
    for _ in range(runs(1000)):
        states = int(rng.integers(2, 6))
        p, q = random_law(rng, states, True), random_law(rng, states, True)
        cost = closed_costs(rng, states, 1.5)
        alive = np.flatnonzero((p > 0) | (q > 0))
        if len(alive) < 2:
            continue
        edges = rng.choice(alive, size=(states - 1, 2))
        edges[edges[:, 0] == edges[:, 1]] = [alive[0], alive[1]]
        flows = rng.exponential(0.3, size=states - 1) * (rng.random(states - 1) < 0.7)
        proved = certified(p[None], q[None], cost[None], edges[None], flows[None])
        assert proved[0] >= by_linprog(p, q, cost) * (1 - 1e-7)


def test_drifting_programs_are_solved_from_kept_trees() -> None:
    """The bounds are those of a fresh solution, and few programs are solved again."""
    rng = np.random.default_rng(6)
    batch, states, steps = 5, 4, 40
    p = np.array([random_law(rng, states, False) for _ in range(batch)])
    q = np.array([random_law(rng, states, False) for _ in range(batch)])
    cost = closed_costs(rng, states, 0.5)
    keeper = LipschitzRatios(batch, states)
    for step in range(steps):
        share = 0.5 * 0.8**step
        moving = (1 - share) * p + share * q[::-1]
        grown = cost ** (2 - 0.8**step)
        actual = keeper.upper(moving, q, grown, step)
        fresh = largest_ratios(moving, q, grown)
        np.testing.assert_allclose(actual, fresh, rtol=3e-8)
        for row in range(batch):
            assert actual[row] >= by_linprog(moving[row], q[row], grown) * (1 - 1e-7)
    assert keeper.solved < batch * steps / 4


def test_no_proof_goes_through_a_state_without_probability() -> None:
    """A kept tree 0 - 1 - 2, and then nobody is in state 1 and its costs mean nothing."""
    e = math.exp(0.5)
    cost = np.array([[1.0, e, e**5], [e, 1.0, e], [e**5, e, 1.0]])
    p, q = np.array([[0.9, 0.0, 0.1]]), np.array([[0.1, 0.0, 0.9]])
    truth = (0.9 * e**5 + 0.1) / (0.1 * e**5 + 0.9)
    keeper = LipschitzRatios(1, 3)
    keeper.trees = np.array([[[0, 1], [1, 2]]])
    assert keeper.upper(p, q, cost)[0] >= truth * (1 - 1e-15)
    assert largest_ratios(p, q, cost)[0] == pytest.approx(truth, rel=1e-12)


def test_one_state() -> None:
    assert largest_ratios(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))[0] >= 1.0
