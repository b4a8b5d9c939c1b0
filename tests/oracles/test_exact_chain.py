"""Exact leakage of given mechanisms on chains: against enumeration, and against theory 3.5."""

from __future__ import annotations

import csv
import itertools
import math

import numpy as np
import pytest

from bayesdp.leakage.chain import two_state_level
from tests.effort import runs
from tests.oracles import chains, finite, mechanisms
from tests.oracles.exact_chain import Ends, LocalChain, local_level
from tests.oracles.exact_sums import _Sums, sum_level

ADVERSARIES = ("any", "uninformed", "informed")


def random_chain(rng, states):
    """Transitions with and without zeros, and a start of any kind."""
    transition = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0, 4.0])), size=states)
    if rng.random() < 0.25:
        transition[int(rng.integers(states))] = np.eye(states)[int(rng.integers(states))]
    kind = rng.choice(["stationary", "given", "point"])
    if kind == "point":
        return transition, np.eye(states)[int(rng.integers(states))]
    if kind == "given":
        return transition, rng.dirichlet(np.ones(states))
    try:
        return transition, chains.stationary(transition)
    except ValueError:
        return transition, np.full(states, 1.0 / states)


def noisy_sum(states, n, scores, scale, between=False):
    """`P[y | x]` up to a factor at integers, and in between: only ratios count here."""
    sums = np.zeros((states,) * n)
    for cell in itertools.product(range(states), repeat=n):
        sums[cell] = sum(scores[x] for x in cell)
    step = 0.25 if between else 1.0
    outcomes = np.arange(sums.min() - 1.5, sums.max() + 1.6, step) + (0.0 if between else 0.5)
    return np.exp(-np.abs(sums[..., None] - outcomes) / scale)


def answered(states, n, channel):
    """All sequences of answers as outcomes."""
    answers = channel.shape[1]
    table = np.zeros((states,) * n + (answers**n,))
    for cell in itertools.product(range(states), repeat=n):
        table[cell] = [
            math.prod(channel[x, y] for x, y in zip(cell, ys, strict=True))
            for ys in itertools.product(range(answers), repeat=n)
        ]
    return table


def agrees(actual, level):
    assert actual is not None
    assert actual.lower - 1e-12 <= level <= actual.upper + 1e-12, (actual, level)
    assert actual.upper - actual.lower < 1e-10


@pytest.mark.prove
def test_sums_by_enumeration():
    rng = np.random.default_rng(31)
    for _ in range(runs(600)):
        states = int(rng.integers(2, 4))
        n = int(rng.integers(1, 6 if states == 2 else 5))
        transition, start = random_chain(rng, states)
        scores = rng.integers(-2, 3, states) if states > 2 else rng.permutation([0, 1])
        scale = float(rng.uniform(0.25, 4.0))
        law = chains.joint(transition, start, n)
        channel = noisy_sum(states, n, scores, scale, between=bool(rng.random() < 0.3))
        for adversary in ADVERSARIES:
            reached = sum_level(
                transition, start, length=n, scores=scores, scale=scale, adversary=adversary
            )
            agrees(reached, finite.leakage(law, channel, adversary)[0])


@pytest.mark.prove
def test_local_answers_by_enumeration():
    rng = np.random.default_rng(32)
    for _ in range(runs(600)):
        states = int(rng.integers(2, 4))
        n = int(rng.integers(1, 5 if states == 2 else 4))
        transition, start = random_chain(rng, states)
        channel = rng.dirichlet(np.full(int(rng.integers(2, 4)), 2.0), size=states)
        law = chains.joint(transition, start, n)
        table = answered(states, n, channel)
        for adversary in ADVERSARIES:
            actual = local_level(transition, start, channel, length=n, adversary=adversary)
            agrees(actual, finite.leakage(law, table, adversary)[0])


def recursion(transition, length, eps, uninformed=False, start=None):
    reached = two_state_level(
        tuple(map(tuple, transition)),
        tuple(chains.stationary(np.array(transition)) if start is None else start),
        stationary=start is None,
        length=length,
        dp_epsilon=eps,
        uninformed=uninformed,
    )
    assert reached is not None
    return reached.epsilon


def two_states(rng, positive):
    a, b = sorted(rng.uniform(0.03, 0.97, 2))
    return np.array([[1 - a, a], [1 - b, b]]) if positive else np.array([[1 - b, b], [1 - a, a]])


@pytest.mark.prove
def test_two_states_against_the_recursion():
    """Acceptance 3: never above 3.5; equal for positive correlation, and by RR for negative."""
    rng = np.random.default_rng(33)
    for _ in range(runs(300)):
        positive = bool(rng.random() < 0.5)
        transition = two_states(rng, positive)
        law = chains.stationary(transition)
        length = int(rng.choice([1, 2, 5, 30, 300, 10**6]))
        eps = float(10 ** rng.uniform(-1.5, 0.7))
        kept = 1.0 / (1.0 + math.exp(-eps))
        answers = [[kept, 1.0 - kept], [1.0 - kept, kept]]
        for adversary in ("any", "uninformed"):
            sharp = recursion(transition, length, eps, adversary == "uninformed")
            rr = local_level(transition, law, answers, length=length, adversary=adversary)
            assert rr is not None
            assert rr.lower <= sharp + 1e-9
            assert rr.upper == pytest.approx(sharp, abs=1e-9)
            count = sum_level(
                transition, law, length=length, scores=(0, 1), scale=1.0 / eps, adversary=adversary
            )
            assert count is not None
            assert count.lower <= sharp + 1e-9
            if positive:
                assert count.upper == pytest.approx(sharp, abs=1e-9)
            else:
                assert count.upper <= eps * (1 + 1e-12) + 1e-12
                assert adversary == "uninformed" or count.lower >= eps - 1e-9


def test_how_much_less_a_count_leaks_on_alternating_chains():
    """The numbers of docs/theory.md 3.9 b: eps 1, symmetric, 200 records."""
    for flip, any_level, uninformed, sharp in (
        (0.8, 1.0, 0.629908, 3.136150),
        (0.9, 1.0, 0.557867, 5.220732),
    ):
        transition = [[1 - flip, flip], [flip, 1 - flip]]
        levels = [
            sum_level(transition, [0.5, 0.5], length=200, scores=(0, 1), scale=1.0, adversary=who)
            for who in ("any", "uninformed")
        ]
        assert [round(level.exact.value, 6) for level in levels] == [any_level, uninformed]
        assert recursion(transition, 200, 1.0) == pytest.approx(sharp, abs=1e-6)


def test_outcomes_inside_the_range_matter():
    """Three records that alternate for certain: the extreme counts can't tell the values apart."""
    transition = [[0.0, 1.0], [1.0, 0.0]]
    law = chains.joint(transition, [0.5, 0.5], 3)
    reached = sum_level(
        transition, [0.5, 0.5], length=3, scores=(0, 1), scale=1.0, adversary="uninformed"
    )
    agrees(reached, finite.leakage(law, noisy_sum(2, 3, (0, 1), 1.0), "uninformed")[0])
    assert reached.lower == pytest.approx(1.0)


@pytest.mark.prove
def test_shortcuts_for_two_states_against_all_outcomes():
    """Long runs by their whole law, every outcome, as for more states."""
    rng = np.random.default_rng(34)
    for _ in range(runs(30)):
        transition = two_states(rng, bool(rng.random() < 0.5))
        law, length, eps = chains.stationary(transition), int(rng.integers(6, 20)), 0.7
        short = sum_level(transition, law, length=length, scores=(0, 1), scale=1 / eps)
        whole = _Sums(Ends(transition, law, length), np.array([0, 1]), eps)
        reached = whole.level("any", length - 1, 0.0)
        assert reached is not None
        assert short.exact.value == pytest.approx(reached.exact.value, abs=1e-11)


@pytest.mark.prove
def test_every_mechanism_on_an_alternating_count_costs_no_more_than_its_dp_cost():
    """The coupling behind `markov-count`, for mechanisms that see the count only."""
    rng = np.random.default_rng(35)
    for _ in range(runs(300)):
        n = int(rng.integers(1, 6))
        transition, start = two_states(rng, False), rng.dirichlet(np.ones(2))
        if rng.random() < 0.2:
            transition[0] = 0.0, 1.0
        eps = float(rng.uniform(0.1, 3.0))
        steps = np.cumsum(rng.choice([-1, 1], size=n + 1) * eps)
        weight = np.zeros((2,) * n)
        for cell in itertools.product(range(2), repeat=n):
            weight[cell] = math.exp(steps[sum(cell)])
        channel = mechanisms.two_outcomes(weight, eps)
        assert finite.leakage(chains.joint(transition, start, n), channel, "any")[0] <= eps + 1e-12


def test_the_least_informed_adversary_is_not_the_worst():
    """Theory 3.9 c: published as optimal for level 4."""
    flip, kept = 0.313112, 1 - 0.313112
    chain = LocalChain([[0.9, 0.1], [0.1, 0.9]], [0.5, 0.5], [[kept, flip], [flip, kept]], 2000)
    nothing, everything = chain.level("uninformed"), chain.level("any")
    assert round(nothing.exact.value, 4) == 4.0
    assert round(chain.between(8, 8).exact.value, 4) == 4.5237
    assert everything.exact.value == pytest.approx(chain.between(8, 8).exact.value, abs=1e-9)


def test_more_states_short_exact_long_bounded():
    transition = [[0.6, 0.2, 0.2], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    law = chains.stationary(np.array(transition))
    kept, other = 0.6, 0.2
    channel = [[kept if u == v else other for v in range(3)] for u in range(3)]
    long = local_level(transition, law, channel, length=10**6)
    assert long is not None
    short = local_level(transition, law, channel, length=9)
    assert short.upper - short.lower < 1e-11
    # With 8 records on a side almost nothing is left to learn further out.
    assert short.lower <= long.upper
    assert long.upper - long.lower < 5e-3
    from bayesdp.populations import MarkovChain

    top = MarkovChain(transition=transition, length=10**6).leakage(math.log(kept / other))
    assert long.lower <= top.best.epsilon


def test_what_never_forgets_has_no_level():
    assert local_level([[0, 1], [1, 0]], [0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], length=10**6) is None
    assert local_level([[0.5, 0.5]] * 2, [0.5, 0.5], [[1.0, 0.0], [0.4, 0.6]], length=3) is None


@pytest.mark.parametrize(("name", "column", "cut"), [("activity", "steps", 0.5)])
def test_real_chains(shared_data, name, column, cut):
    """A chain fitted to real series: the count leaks what 3.5 says, as does randomized response."""
    with (shared_data(name) / f"{name}.csv").open() as file:
        rows = [row.get(column, "") for row in csv.DictReader(file)]
    states = [int(float(value) > cut) for value in rows if value not in ("", "NA")]
    assert len(states) > 1000
    counts = np.zeros((2, 2))
    for item, following in itertools.pairwise(states):
        counts[item, following] += 1
    transition = counts / counts.sum(axis=1, keepdims=True)
    law = chains.stationary(transition)
    for eps in (0.1, 1.0):
        sharp = recursion(transition, 288, eps)
        count = sum_level(transition, law, length=288, scores=(0, 1), scale=1 / eps)
        kept = 1 / (1 + math.exp(-eps))
        rr = local_level(transition, law, [[kept, 1 - kept], [1 - kept, kept]], length=288)
        assert count.upper == pytest.approx(sharp, abs=1e-9)
        assert rr.upper == pytest.approx(sharp, abs=1e-9)
        if name == "activity":  # the first-order model of theory 3.5k, seen on the whole series
            assert sharp == pytest.approx({0.1: 0.3903, 1.0: 3.4819}[eps], abs=2e-3)
