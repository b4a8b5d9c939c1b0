"""Lower bounds hold as often as they say, and find what is there to be found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from bayesdp.audit import EmpiricalBound, lower_bound
from bayesdp.audit.bound import OutcomeEvent, Outcomes, choose_event, estimate, level_of_hits
from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteLaplace
from tests.chance import Chance
from tests.effort import runs

Rng = np.random.Generator


def discrete(rng: Rng, scale: float, exact: int) -> Any:
    p = -math.expm1(-1.0 / scale)
    return lambda count: exact + rng.geometric(p, count) - rng.geometric(p, count)


@pytest.mark.parametrize("hits", [0, 1, 7, 50])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_the_ends_are_those_of_clopper_and_pearson(hits: int, confidence: float) -> None:
    """By their definition: at each end the tail of the binomial law is the allowed one."""
    tried, others_tried, others, tail = 50, 80, 80 - hits, (1.0 - confidence) / 2.0
    level = level_of_hits(
        np.array([hits]), tried, np.array([others]), others_tried, confidence, 0.0
    )
    if hits == 0:
        assert level[0] == -math.inf
        return
    most = 1.0
    if others < others_tried:
        low, high = others / others_tried, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if binom.cdf(others, others_tried, middle) > tail else (low, middle)
            )
        most = low
    least_level = math.log(most) + level[0]
    assert binom.sf(hits - 1, tried, math.exp(least_level)) == pytest.approx(tail, rel=1e-6)


@pytest.mark.prove
def test_bounds_hold_as_often_as_they_say() -> None:
    """The true level is 1; at a confidence of 0.8 bounds exceed it in at most a fifth of runs."""
    rng, number = np.random.default_rng(1), runs(2000, least=100)
    missed = sum(
        lower_bound(
            discrete(rng, 1.0, 1), discrete(rng, 1.0, 0), samples=2000, confidence=0.8
        ).exceeds(1.0)
        for _ in range(number)
    )
    assert missed <= 0.2 * number + 4 * math.sqrt(0.16 * number)
    assert missed <= 0.12 * number  # it takes both ends at once to be off


def test_choosing_and_estimating_on_the_same_samples_would_not_hold() -> None:
    """Why there are two halves: of no difference at all, the best event of 200 looks like one."""
    rng = np.random.default_rng(2)
    alarms = {"same": 0, "apart": 0}
    for _ in range(60):
        sides = [rng.normal(size=(400, 20)) for _ in range(4)]
        event, _ = choose_event(sides[0], sides[1], 0.8, 0.0)
        alarms["same"] += estimate(event, sides[0], sides[1], 0.8, 0.0).exceeds(0.0)
        alarms["apart"] += estimate(event, sides[2], sides[3], 0.8, 0.0).exceeds(0.0)
    assert alarms["same"] > 50
    assert alarms["apart"] <= 15


def test_the_level_of_a_count_is_nearly_found() -> None:
    rng = np.random.default_rng(3)
    bound = lower_bound(discrete(rng, 1.0, 1), discrete(rng, 1.0, 0), samples=100_000)
    assert 0.93 < bound.epsilon <= 1.0
    assert bound.samples == 50_000
    assert bound.hits[0] > bound.hits[1]
    weak = lower_bound(discrete(rng, 0.8, 1), discrete(rng, 0.8, 0), samples=20_000)
    assert weak.exceeds(1.0)


def test_a_sampler_of_release_noise(chance: Chance) -> None:
    """OpenDP's own noise, at a confidence that leaves no false alarm."""
    chance.takes(1e-9)
    noise = DiscreteLaplace.for_cost(1, 1.0)
    bound = lower_bound(
        lambda count: noise.release([1] * count),
        lambda count: noise.release([0] * count),
        samples=20_000,
        confidence=1.0 - 1e-9,
    )
    assert not bound.exceeds(1.0)
    # Chernoff: one half has more than 2,500 of 10,000 hits at least, and the other below 5,500.
    assert bound.epsilon > 0.5


def test_either_side_may_be_the_likelier() -> None:
    rng = np.random.default_rng(4)
    rare = lower_bound(
        lambda count: (rng.random(count) < 0.001).astype(int),
        lambda count: (rng.random(count) < 0.3).astype(int),
    )
    assert rare.towards == "second"
    assert rare.epsilon > 4.0


def test_a_delta_is_taken_off() -> None:
    """A value is shown with probability 0.01, and otherwise nothing: (0, 0.01)-DP."""
    rng = np.random.default_rng(5)

    def shows(value: float) -> Any:
        return lambda count: np.where(rng.random(count) < 0.01, value, 0.0)

    assert lower_bound(shows(1.0), shows(2.0)).epsilon > 1.0
    assert lower_bound(shows(1.0), shows(2.0), delta=0.012).epsilon == 0.0


def test_texts_and_rows_are_outcomes_too() -> None:
    rng = np.random.default_rng(6)

    def says(share: float) -> Any:
        return lambda count: ["yes" if u < share else "no" for u in rng.random(count)]

    bound = lower_bound(says(0.75), says(0.25))
    assert 0.9 < bound.epsilon < math.log(3)
    rows = lower_bound(
        lambda count: [(a, b) for a, b in np.round(rng.normal(10, 10, (count, 2))) + 8.0],
        lambda count: np.round(rng.normal(10, 10, (count, 2))),
    )
    assert "weighted sum" in rows.event


def test_the_odds_of_few_outcomes_need_no_order() -> None:
    """Middle values are likelier on one side: no threshold on the number says so."""
    rng = np.random.default_rng(7)
    first, second = [0.1, 0.4, 0.4, 0.1], [0.4, 0.1, 0.1, 0.4]
    bound = lower_bound(
        lambda count: rng.choice(4, count, p=first), lambda count: rng.choice(4, count, p=second)
    )
    assert bound.epsilon > 1.2
    assert "odds" in bound.event


def test_last_bits_give_floating_point_noise_away() -> None:
    """Mironov's attack: noise in doubles is finer around 0 than around 1."""
    rng = np.random.default_rng(8)

    def noisy(exact: float) -> Any:
        return lambda count: exact + rng.laplace(scale=1.0, size=count)

    bound = lower_bound(noisy(1.0), noisy(0.0))
    assert bound.epsilon > 2.0
    assert "last bit" in bound.event


def test_an_event_of_ones_own() -> None:
    rng = np.random.default_rng(9)
    bound = lower_bound(
        lambda count: rng.normal(size=count) * 3.0,
        lambda count: rng.normal(size=count),
        scores=[("the distance from 0", lambda outcomes: np.abs(outcomes[:, 0]))],
    )
    assert bound.event.startswith("the distance from 0 >= ")
    assert isinstance(bound, EmpiricalBound)
    assert bound.epsilon > 3.0


def test_nothing_to_see_is_a_bound_of_nothing() -> None:
    bound = lower_bound(np.zeros, np.zeros)
    assert (bound.epsilon, bound.event) == (0.0, "any outcome >= 0")
    assert bound.hits == (10_000, 10_000)


def test_events_are_what_their_words_say() -> None:
    above = OutcomeEvent("x", lambda rows: rows[:, 0], 2.0, True, True)
    below = OutcomeEvent("x", lambda rows: rows[:, 0], 2.0, False, True)
    rows = np.array([[1.0], [2.0], [3.0]])
    assert (above.hits(rows), below.hits(rows)) == (2, 2)
    assert (above.words(), below.words()) == ("x >= 2", "x <= 2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 10}, "samples is 10"),
        ({"confidence": 1.0}, "confidence is 1"),
        ({"delta": 1.0}, "delta is 1"),
        ({"first": lambda count: [0.0] * 3}, "sampler is 3: expected 10000 outcomes"),
    ],
)
def test_wrong_arguments_are_named(changes: dict[str, Any], message: str) -> None:
    given = {"first": np.zeros, "second": np.zeros} | changes
    with pytest.raises(InputError, match=message):
        lower_bound(given.pop("first"), given.pop("second"), **given)


def test_the_same_outcome_has_the_same_number() -> None:
    table = Outcomes()
    first = table.of(lambda count: [("a", 1), ("b", 2)][:count], 2)
    second = table.of(lambda count: [("b", 2), ("a", 1)][:count], 2)
    assert first[::-1].tolist() == second.tolist()
