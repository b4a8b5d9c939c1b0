"""Chains of any number of states: against brute force, the two-state engine and longer runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from bayesdp.leakage import states as states_module
from bayesdp.leakage.chain import two_state_level
from bayesdp.leakage.states import StateChain
from bayesdp.leakage.stationary import (
    elimination_error,
    limit_error,
    second_eigenvalue,
    stationary_law,
)
from tests.effort import in_full, runs
from tests.oracles import chains, finite

METHODS = ("program", "threshold")


def positive(rng: np.random.Generator, states: int, sharpness: float = 1.0) -> np.ndarray:
    kernel = rng.dirichlet(np.full(states, sharpness), size=states) + 0.01
    return kernel / kernel.sum(axis=1, keepdims=True)


def with_zeros(rng: np.random.Generator, states: int) -> np.ndarray:
    kernel = positive(rng, states) * (rng.random((states, states)) < 0.65)
    kernel += np.diag(np.where(kernel.sum(axis=1) == 0.0, 1.0, 0.0))
    return kernel / kernel.sum(axis=1, keepdims=True)


def engine(kernel, length, *, start=None, uninformed=False) -> StateChain:
    kernel = np.asarray(kernel, dtype=float)
    law = stationary_law(kernel) if start is None else np.asarray(start, dtype=float)
    assert law is not None
    return StateChain(kernel, law, stationary=start is None, length=length, uninformed=uninformed)


def level(kernel, length, eps, method="program", **options) -> float:
    reached = engine(kernel, length, **options).level(eps, method)
    assert reached is not None
    return reached.epsilon


# -- one level by hand, and by brute force -------------------------------------------------------


def test_independent_records_leak_eps() -> None:
    rows = np.array([[0.2, 0.5, 0.3]] * 3)
    for length in (1, 2, 9, 10**6):
        for method in METHODS:
            assert level(rows, length, 0.4, method) == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("length", [2, 3, 5])
def test_a_cycle_gives_all_records_away(length: int) -> None:
    """A permutation: one record tells all others, so the level is `n eps`."""
    cycle = np.roll(np.eye(3), 1, axis=1)
    for method in METHODS:
        for uninformed in (False, True):
            reached = level(cycle, length, 0.3, method, uninformed=uninformed)
            assert reached == pytest.approx(length * 0.3, rel=1e-12)


def test_two_records_by_hand() -> None:
    """Target record 1, record 2 unknown: eps plus the largest ratio of two rows."""
    kernel = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    e = math.exp(0.7)
    # one cost for all pairs: the best set is {u}, or all but u'
    step = max((0.8 * e + 0.2) / (0.1 * e + 0.9), (0.9 * e + 0.1) / (0.2 * e + 0.8))
    for method in METHODS:
        assert level(kernel, 2, 0.7, method) == pytest.approx(0.7 + math.log(step), rel=1e-12)


@pytest.mark.prove
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("uninformed", [False, True])
def test_three_states_against_the_search_over_all_mechanisms(zeros, uninformed) -> None:
    rng = np.random.default_rng([1, zeros, uninformed])
    for _ in range(runs(250)):
        kernel = with_zeros(rng, 3) if zeros else positive(rng, 3, float(rng.choice([0.4, 2.0])))
        start = rng.dirichlet(np.ones(3)) * (rng.random(3) < 0.7)
        if rng.random() < 0.4 and stationary_law(kernel) is not None:
            given, initial = None, "stationary"
        else:
            given = start / start.sum() if start.sum() > 0 else np.array([0.0, 1.0, 0.0])
            initial = given
        length, eps = int(rng.integers(1, 5)), float(10 ** rng.uniform(-1.5, 0.6))
        joint = chains.joint(kernel, initial, length)
        truth = finite.worst_case(joint, eps, "uninformed" if uninformed else "any")
        bounds = [
            level(kernel, length, eps, method, start=given, uninformed=uninformed)
            for method in METHODS
        ]
        case = (kernel, given, length, eps, truth, bounds)
        assert truth.level - 1e-9 <= bounds[0] <= bounds[1] + 1e-12, case
        assert bounds[0] >= eps, case
        if length <= 2:  # one step on one side is exact
            assert bounds[0] <= max(truth.level, eps) + 1e-6, case
        assert bounds[0] <= max(truth.level, eps) * 1.36 + 1e-9, case


@pytest.mark.parametrize("uninformed", [False, True])
def test_two_states_agree_with_their_own_engine(uninformed: bool) -> None:
    rng = np.random.default_rng([2, uninformed])
    for _ in range(runs(300)):
        rates = rng.choice([0.0, 1.0, rng.random(), 10 ** rng.uniform(-3, -1)], size=2)
        kernel = ((1 - rates[0], rates[0]), (rates[1], 1 - rates[1]))
        first = float(rng.choice([0.0, 1.0, rng.random()]))
        length, eps = int(rng.integers(1, 30)), float(10 ** rng.uniform(-2, 0.7))
        start = (1 - first, first)
        item = two_state_level(
            kernel, start, stationary=False, length=length, dp_epsilon=eps, uninformed=uninformed
        )
        assert item is not None
        program, threshold = (
            level(kernel, length, eps, method, start=start, uninformed=uninformed)
            for method in METHODS
        )
        assert program == pytest.approx(item.epsilon, rel=1e-7), (kernel, start, length, eps)
        assert threshold >= program * (1 - 1e-12)


def test_long_symmetric_chain_in_closed_form() -> None:
    """Uninformed, two states: 2 asinh(gamma sinh(eps / 2))."""
    kernel = [[0.9, 0.1], [0.1, 0.9]]
    for eps in (0.001, 0.3, 2.0):
        due = 2 * math.asinh(9 * math.sinh(eps / 2))
        for method in METHODS:
            reached = level(kernel, 10**7, eps, method, uninformed=True)
            assert due * (1 - 1e-12) <= reached <= due * (1 + 1e-7)


def test_lumped_states_make_no_difference() -> None:
    """States 1 and 2 have equal rows and split one state: the two-state level is a lower bound."""
    kernel = np.array([[0.9, 0.06, 0.04], [0.2, 0.5, 0.3], [0.2, 0.5, 0.3]])
    two = [[0.9, 0.1], [0.2, 0.8]]
    for eps in (0.1, 1.0):
        assert level(kernel, 10**5, eps) >= level(two, 10**5, eps) - 1e-9


# -- the tail --------------------------------------------------------------------------------------


def slow(rng: np.random.Generator) -> np.ndarray:
    return 0.9 * np.eye(3) + 0.1 * positive(rng, 3)


def nearly_periodic(rng: np.random.Generator) -> np.ndarray:
    return 0.88 * np.roll(np.eye(3), 1, axis=1) + 0.12 * positive(rng, 3)


def four(rng: np.random.Generator) -> np.ndarray:
    return positive(rng, 4)


TAILS = list(product([slow, nearly_periodic, four], [1e-6, 0.02, 0.5, 6.0]))
"""Each family of chains at each cost."""
FEW_TAILS = [
    *[(slow, 0.02), (slow, 6.0), (nearly_periodic, 1e-6), (nearly_periodic, 0.5)],
    *[(four, 0.02), (four, 0.5)],
]
"""Each family twice, and each cost."""


@pytest.mark.prove
@pytest.mark.parametrize(("family", "eps"), TAILS if in_full() else FEW_TAILS)
def test_a_closed_tail_covers_all_lengths_and_is_their_limit(family, eps: float) -> None:
    rng = np.random.default_rng([3, len(family.__name__)])
    for _ in range(runs(10)):
        kernel = family(rng)
        for uninformed in (False, True):
            for method in METHODS:
                closed = engine(kernel, 10**9, uninformed=uninformed).level(eps, method)
                assert closed is not None
                assert closed.settled
                assert closed.steps < states_module.MAX_STEPS
                lengths = (2, 7, 20, 61)
                short = [level(kernel, n, eps, method, uninformed=uninformed) for n in lengths]
                assert max(short) <= closed.epsilon * (1 + 1e-12)
                assert all(a <= b * (1 + 1e-12) for a, b in pairwise(short))
                if second_eigenvalue(kernel) < 0.6:
                    assert closed.epsilon <= short[-1] * (1 + 1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_tail_closed_early_covers_what_the_evidence_still_does(method: str) -> None:
    """After one to three steps, while the evidence is still far from its limit."""
    rng = np.random.default_rng(13)
    for _ in range(runs(200 if method == "threshold" else 40)):
        kernel = float(rng.choice([0.3, 0.6, 0.8])) * np.eye(3)
        kernel += (1 - kernel.sum(axis=1, keepdims=True)) * rng.dirichlet([0.5] * 3, size=3)
        kernel = np.maximum(kernel, 1e-3)
        chain = engine(kernel / kernel.sum(axis=1, keepdims=True), 10**6)
        cost, last = math.exp(10 ** rng.uniform(-3, 0.5)), int(rng.integers(1, 4))
        current = np.ones((len(chain.right) + len(chain.left), 3, 3))
        for step in range(1, last + 1):
            current = chain._step(current, chain._extend(step), cost, method, ("run", step))
        tail = chain._close(current, cost, method, last + 1)
        assert tail is not None
        for step in range(last + 1, last + 25):
            current = chain._step(current, chain._extend(step), cost, method, ("run", step))
            for side, closed in zip(chain._sides(np.log(current)), tail, strict=True):
                assert (side.max(axis=0) <= closed + 1e-12).all(), (kernel, cost, last, step)


def test_runs_that_have_not_settled_are_followed_to_the_end() -> None:
    rng = np.random.default_rng(4)
    kernel = 0.995 * np.eye(3) + 0.005 * positive(rng, 3)
    short = engine(kernel, 40).level(0.1, "threshold")
    assert short is not None
    assert (short.steps, short.settled) == (39, True)
    assert short.epsilon <= level(kernel, 10**6, 0.1, "threshold")


def test_a_slow_chain_is_closed_where_it_stands(monkeypatch) -> None:
    """The evidence is still a little off its limit after MAX_STEPS: an upper bound all the same."""
    monkeypatch.setattr(states_module, "MAX_STEPS", 240)
    kernel = 0.9 * np.eye(3) + (0.1 / 3) * np.ones((3, 3))
    reached = engine(kernel, 10**6).level(1e-4, "threshold")
    assert reached is not None
    assert reached.steps == 240
    assert not reached.settled
    assert reached.epsilon >= level(kernel, 230, 1e-4, "threshold")


def test_a_long_chain_that_never_forgets_has_no_level() -> None:
    cycle = np.roll(np.eye(3), 1, axis=1)
    absorbing = np.array([[1.0, 0.0, 0.0], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]])
    assert engine(cycle, 10**5).level(1e-6, "threshold") is None
    assert engine(absorbing, 10**5, start=[0.3, 0.3, 0.4]).level(1e-6, "threshold") is None
    assert not engine(cycle, 10).mixes
    assert engine(slow(np.random.default_rng(1)), 10).mixes


def test_evidence_that_underflows_is_not_taken_for_impossible() -> None:
    """State 1 stays with 1e-9 and goes to 0 for good: after 40 steps that has probability 1e-360.

    It is still possible, and tells apart; a double can't hold it next to a state that stays.
    """
    kernel = np.array([[1 - 1e-9, 1e-9, 0.0], [0.0, 1e-9, 1 - 1e-9], [0.0, 0.0, 1.0]])
    start = [0.5, 0.4, 0.1]
    assert engine(kernel, 8, start=start).level(0.1, "threshold") is not None
    assert engine(kernel, 60, start=start).level(0.1, "threshold") is None


def test_a_cost_beyond_doubles_has_no_level() -> None:
    kernel = positive(np.random.default_rng(1), 3)
    assert engine(kernel, 100).level(80.0, "program") is None


# -- starts and reversal ---------------------------------------------------------------------------


def test_the_stationary_law_as_a_given_start() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        kernel = positive(rng, 3)
        law = stationary_law(kernel)
        for uninformed in (False, True):
            item = level(kernel, 12, 0.4, uninformed=uninformed)
            other = level(kernel, 12, 0.4, start=law, uninformed=uninformed)
            assert item == pytest.approx(other, rel=1e-9)


def test_a_chain_and_its_reversal_leak_the_same() -> None:
    rng = np.random.default_rng(6)
    for _ in range(5):
        kernel = positive(rng, 3)
        law = stationary_law(kernel)
        backward = (kernel * law[:, None] / law[None, :]).T
        backward /= backward.sum(axis=1, keepdims=True)
        for length in (5, 10**6):
            assert level(kernel, length, 0.6) == pytest.approx(
                level(backward, length, 0.6), rel=1e-7
            )


def test_reversible_chains_need_one_side_only() -> None:
    rng = np.random.default_rng(7)
    flow = rng.random((3, 3)) + 0.05
    flow = flow + flow.T
    kernel = flow / flow.sum(axis=1, keepdims=True)
    both = engine(kernel, 50)
    assert both.reversible
    assert both.left == []
    assert not engine(positive(rng, 3), 50).reversible
    law = stationary_law(kernel)
    given = level(kernel, 50, 0.5, start=law)  # follows both sides
    reached = both.level(0.5, "program")
    assert reached is not None
    assert reached.epsilon == pytest.approx(given, rel=1e-7)


def test_a_value_that_is_hardly_ever_seen_is_still_protected() -> None:
    """A birth and death chain whose last state has probability 3.6e-17: 1.2e-33 with rates 1e-16.

    A law solved with subtractions has a zero there, and the pair that leaks most is skipped.
    """
    d = 1e-9
    kernel = np.array([[1 - d, d, 0.0], [0.5, 0.5 - d, d], [0.0, 0.5, 0.5]])
    law = stationary_law(kernel)
    assert law is not None
    exact = [Fraction(1), 2 * Fraction(d), 4 * Fraction(d) ** 2]
    total = sum(exact)
    for mine, true in zip(law, exact, strict=True):
        assert mine == pytest.approx(float(true / total), rel=1e-12)
    for length in (2, 3):
        truth = finite.worst_case(chains.joint(kernel, "stationary", length), 0.5, "any")
        assert level(kernel, length, 0.5) >= truth.level - 1e-9


def test_stationary_laws() -> None:
    assert stationary_law(np.eye(2)) is None
    absorbing = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(stationary_law(absorbing), [0.0, 0.0, 1.0])
    rng = np.random.default_rng(8)
    for _ in range(runs(300)):
        states = int(rng.integers(2, 8))
        kernel = positive(rng, states, 0.3)
        law = stationary_law(kernel)
        assert law is not None
        np.testing.assert_allclose(law @ kernel, law, rtol=1e-12)
        np.testing.assert_allclose(law, chains.stationary(kernel), rtol=1e-12)


def in_fractions(kernel: np.ndarray) -> list[Fraction]:
    """The stationary law of the chain with these off-diagonal rates, exactly."""
    rates = [[Fraction(float(x)) for x in row] for row in kernel]
    size = len(rates)
    for last in range(size - 1, 0, -1):
        away = sum(rates[last][:last])
        for u in range(last):
            rates[u][last] /= away
            for v in range(last):
                rates[u][v] += rates[u][last] * rates[last][v]
    weights = [Fraction(1)]
    for v in range(1, size):
        weights.append(sum((weights[u] * rates[u][v] for u in range(v)), Fraction(0)))
    total = sum(weights)
    return [w / total for w in weights]


def test_the_elimination_is_as_exact_as_it_says() -> None:
    rng = np.random.default_rng(9)
    for _ in range(runs(200)):
        states = int(rng.integers(2, 7))
        kernel = 10 ** rng.uniform(-12, 0, size=(states, states))
        kernel /= kernel.sum(axis=1, keepdims=True)
        law = stationary_law(kernel)
        assert law is not None
        for mine, true in zip(law, in_fractions(kernel), strict=True):
            assert abs(Fraction(float(mine)) / true - 1) <= elimination_error(states)


def test_the_error_of_a_limit_is_bounded_from_its_residual() -> None:
    """A law that is off by a known amount: the bound is at least that, and not far above."""
    rng = np.random.default_rng(10)
    for _ in range(runs(200)):
        kernel = positive(rng, 4) if rng.random() < 0.5 else slow(rng)
        law = stationary_law(kernel)
        assert law is not None
        off = law * np.exp(rng.uniform(-1, 1, size=len(law)) * 10 ** rng.uniform(-9, -3))
        gaps = np.log(off / law)
        distance = float(gaps.max() - gaps.min())
        assert distance * (1 - 1e-6) - 1e-13 <= limit_error(kernel, off) <= 4 * distance + 1e-10


def test_limits_of_chains_that_do_not_mix_are_unknown() -> None:
    cycle = np.roll(np.eye(3), 1, axis=1)
    assert limit_error(cycle, stationary_law(cycle)) == math.inf
    assert limit_error(np.eye(2), None) == math.inf


# -- speed and monotonicity ------------------------------------------------------------------------


def test_levels_grow_with_the_cost_the_knowledge_and_the_length() -> None:
    kernel = positive(np.random.default_rng(11), 3)
    for method in METHODS:
        for length in (4, 10**6):
            for uninformed in (False, True):
                item = engine(kernel, length, uninformed=uninformed)
                actual = [item.level(eps, method) for eps in (1e-9, 1e-3, 0.1, 0.5, 2.0, 20.0)]
                numbers = [f.epsilon for f in actual if f is not None]
                assert len(numbers) == 6
                assert numbers == sorted(numbers)
            assert level(kernel, length, 0.5, method, uninformed=True) <= level(
                kernel, length, 0.5, method
            )
        assert level(kernel, 4, 0.5, method) <= level(kernel, 10**6, 0.5, method)


def test_the_estimate_of_the_time_is_the_same_everywhere_and_grows() -> None:
    rng = np.random.default_rng(12)
    small, large = engine(positive(rng, 3), 100), engine(positive(rng, 10), 10**6)
    for method in METHODS:
        assert small.seconds(method) == small.seconds(method)
        assert small.seconds(method) < large.seconds(method)
    assert large.seconds("threshold") < large.seconds("program")
