"""Randomized response: the channel that runs, its cost, its estimates, its calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from bayesdp.calibration import calibrate_randomized_response
from bayesdp.errors import InputError
from bayesdp.kernel.costs.collected import chances
from bayesdp.mechanisms.randomized_response import RandomizedResponse, collect
from bayesdp.populations import MarkovChain
from tests.chance import OFF
from tests.oracles.exact_chain import local_level


def channel_of(states, flip):
    """The law of the answer for each true value, by hand."""
    size = len(states)
    return {
        true: {state: 1 - flip if state == true else flip / (size - 1) for state in states}
        for true in states
    }


@pytest.mark.parametrize(
    ("states", "flip", "draws"), [((0, 1), 0.2, 50_000), (("a", "b", "c"), 0.5, 10_000)]
)
def test_the_artefact_that_runs_has_the_stated_channel(states, flip, draws, chance):
    mechanism, laws = RandomizedResponse(states, flip), channel_of(states, flip)
    for row, true in enumerate(states):
        answers = mechanism.release([true] * draws)
        chance.expect_law(answers, laws[true])
        for factor in OFF:
            chance.expect_other(answers, channel_of(states, factor * flip)[true], laws[true])
        assert mechanism.channel()[row] == pytest.approx(list(laws[true].values()), abs=1e-15)


def test_cost():
    assert RandomizedResponse((0, 1), 0.25).cost() == pytest.approx(math.log(3), rel=1e-14)
    three = RandomizedResponse((0, 1, 2), 0.4)
    assert three.cost() == pytest.approx(math.log(0.6 / 0.2), rel=1e-14)
    assert three.cost() >= math.log(0.6 / 0.2) * (1 - 1e-15)
    for size in (2, 3, 7):
        for eps in (0.01, 0.5, 3.0):
            actual = RandomizedResponse.for_cost(tuple(range(size)), eps)
            assert actual.cost() <= eps
            assert actual.cost() == pytest.approx(eps, rel=1e-9)
    assert RandomizedResponse((0, 1), 0.5).cost() < 1e-14


@pytest.mark.parametrize(
    ("target", "theta", "adversary", "flip"),
    [
        (1.0, 0.1, "uninformed", 0.471099),
        (1.0, 0.1, "any", 0.471140),
        (4.0, 0.1, "uninformed", 0.313112),
        (4.0, 0.1, "any", 0.343653),
        (2.0, 0.21, "uninformed", 0.350908),
        (2.0, 0.21, "any", 0.354052),
    ],
)
def test_calibrated_through_the_recursion(target, theta, adversary, flip):
    transition = ((1 - theta, theta), (theta, 1 - theta))
    chain = MarkovChain(transition=transition, length=1_000_000)
    actual = calibrate_randomized_response(chain, target, (0, 1), adversary=adversary)
    assert actual.flip == pytest.approx(flip, abs=5.1e-7)
    level = local_level(
        transition, [0.5, 0.5], actual.channel(), length=1_000_000, adversary=adversary
    )
    assert level is not None
    assert level.exact.value == pytest.approx(target, abs=1e-8)
    assert level.lower <= target


@pytest.mark.parametrize("states", [(0, 1), ("a", "b", "c", "d")])
def test_estimates_are_unbiased_and_intervals_cover(states):
    """The exact law of the number of answers, summed over: no simulation."""
    mechanism, n, true = RandomizedResponse(states, 0.3), 60, 17
    kept, other = 0.7, 0.3 / (len(states) - 1)
    law = np.convolve(
        binom.pmf(np.arange(true + 1), true, kept),
        binom.pmf(np.arange(n - true + 1), n - true, other),
    )
    mean = covered = 0.0
    variance = 0.0
    for seen, mass in enumerate(law):
        answers = [states[0]] * seen + [states[1]] * (n - seen)
        item = mechanism.estimate(answers, 0.9)[0]
        mean += mass * item.estimate.value
        variance += mass * (item.estimate.value - true) ** 2
        covered += mass * (item.low <= true <= item.high)
    assert mean == pytest.approx(true, abs=1e-9)
    assert 0.9 <= covered < 0.99
    due = true * kept * (1 - kept) + (n - true) * other * (1 - other)
    assert variance == pytest.approx(due / (kept - other) ** 2, rel=1e-9)


def test_a_collected_answer_has_the_stated_law(chance):
    """One answer at a time: `e^eps` times as likely to be the true state as any other."""
    states, eps, draws = ("a", "b", "c"), 1.2, 8_000

    def law(cost):
        total = math.exp(cost) + 2
        return {"b": math.exp(cost) / total, "a": 1 / total, "c": 1 / total}

    answers = [collect("b", states, dp_epsilon=eps) for _ in range(draws)]
    chance.expect_law(answers, law(eps))
    for factor in (1.4, 0.7):
        chance.expect_other(answers, law(factor * eps), law(eps))


@pytest.mark.parametrize("size", [2, 3, 17, 1000])
def test_the_law_is_the_kernel_s_but_for_the_rounding_of_a_double(size):
    """What the kernel's intervals allow for: `2^-48`, and no more cost than was asked for."""
    for eps in (1e-3, 0.1, 0.7, 1.0, 3.3, 8.0, 20.0, 36.0, 60.0, 100.0):
        mechanism = RandomizedResponse.for_cost(tuple(range(size)), eps)
        kept, _ = chances(eps, size)
        assert abs(float(kept - mechanism._probability)) <= 2.0**-50
        assert mechanism.cost() <= eps


def test_what_is_collected_is_a_state_and_no_more_is_said():
    with pytest.raises(InputError) as refused:
        collect("a secret", ["yes", "no"], dp_epsilon=1.0)
    assert "secret" not in str(refused.value)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InputError, match="dp_epsilon"):
            collect("yes", ["yes", "no"], dp_epsilon=wrong)
    with pytest.raises(InputError, match="states"):
        collect("yes", ["yes"], dp_epsilon=1.0)


def test_wrong_input():
    for states, flip in (((0,), 0.1), ((0, 0), 0.1), ((0, 1), 0.6), ((0, 1), 0.0), ((0, 1), True)):
        with pytest.raises(InputError):
            RandomizedResponse(states, flip)
    mechanism = RandomizedResponse(("yes", "no"), 0.2)
    with pytest.raises(InputError) as refused:
        mechanism.release(["yes", "a secret"])
    assert "secret" not in str(refused.value)
    with pytest.raises(InputError):
        mechanism.estimate([])
    with pytest.raises(InputError, match="still tell"):
        RandomizedResponse((0, 1), 0.5).estimate([0, 1])


def test_many_answers_at_once_are_those_of_one_after_the_other(chance) -> None:
    """Vectors of bits: in their places, and flipped with the probability that single ones are."""
    rng = np.random.default_rng(3)
    chance.takes(1300 * 2.0**-60)  # one of the bits is flipped
    sure = RandomizedResponse(("no", "yes"), 2.0**-60)
    for size in (9, 16, 17, 100, 1001):
        values = [("no", "yes")[bit] for bit in rng.integers(0, 2, size)]
        assert sure.release(values) == values
    size, flip = 80_000, 0.25
    held = rng.integers(0, 2, size)
    answers = np.asarray(RandomizedResponse((0, 1), flip).release(held.tolist()))
    flipped = answers != held
    for value in (0, 1):
        part = flipped[held == value]
        chance.expect(int(part.sum()), len(part), flip)
        for factor in OFF:
            chance.expect_not(int(part.sum()), len(part), factor * flip, flip)
    pairs = flipped[:-1:2] & flipped[1::2]  # neighbours, each in a single pair
    chance.expect(int(pairs.sum()), len(pairs), flip**2)
    chance.expect_not(int(pairs.sum()), len(pairs), flip, flip**2)  # as if they flipped together
