"""The states of a series given noisy reports: against sums over all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import posterior_states
from bayesdp.mechanisms.randomized_response import RandomizedResponse
from bayesdp.populations import MarkovChain
from bayesdp.theorems.markov import first_records


def random_chain(rng: np.random.Generator, states: int, order: int) -> MarkovChain:
    table = rng.dirichlet(np.ones(states), size=(states,) * order)
    table[rng.random(table.shape) < 0.15] = 0.0
    table += 1e-3 * (table.sum(axis=-1, keepdims=True) == 0.0)
    table /= table.sum(axis=-1, keepdims=True)
    initial = rng.dirichlet(np.ones(states**order)).reshape((states,) * order)
    return MarkovChain(transition=table, order=order, initial=initial, length=9)


def over_all_paths(chain: MarkovChain, likelihood: np.ndarray) -> np.ndarray:
    table, start = np.array(chain.transition), np.array(first_records(chain))
    periods, order = max(len(likelihood), chain.order), chain.order
    laws = np.zeros((periods, chain.states))
    for path in itertools.product(range(chain.states), repeat=periods):
        weight = start[path[:order]]
        for end in range(order, periods):
            weight *= table[path[end - order : end + 1]]
        for state, row in zip(path, likelihood, strict=False):
            weight *= row[state]
        laws[range(periods), path] += weight
    return (laws / laws.sum(axis=1, keepdims=True))[: len(likelihood)]


@pytest.mark.parametrize(
    ("states", "order", "periods"),
    [(2, 1, 7), (3, 1, 5), (2, 2, 6), (3, 2, 4), (2, 3, 6), (2, 3, 2), (2, 2, 1)],
)
def test_against_all_paths(states: int, order: int, periods: int) -> None:
    rng = np.random.default_rng(states + 10 * order + periods)
    for _ in range(5):
        chain = random_chain(rng, states, order)
        likelihood = rng.random((periods, states))
        likelihood[rng.random(periods) < 0.3] = 1.0
        smoothed = posterior_states(chain, 7.0 * likelihood)
        np.testing.assert_allclose(smoothed, over_all_paths(chain, likelihood), atol=1e-12)


def test_neighbours_correct_randomized_response_in_long_series() -> None:
    chain = MarkovChain([[0.97, 0.03], [0.05, 0.95]], length=1_500)
    rng = np.random.default_rng(1)
    states = [0]
    for _ in range(1_499):
        states.append(int(rng.random() < chain.transition[states[-1]][1]))
    response = RandomizedResponse.for_cost((0, 1), 1.0)
    channel = np.array(response.channel())
    answers = (rng.random(1_500) < channel[states, 1]).astype(int)
    smoothed = posterior_states(chain, channel[:, answers].T)
    right = float(((smoothed[:, 1] > 0.5) == np.array(states)).mean())
    assert right > 0.85 > (answers == states).mean() + 0.1
    said = np.abs(smoothed - 0.5).max(axis=1) + 0.5
    assert said.mean() == pytest.approx(right, abs=0.06)


def test_what_can_not_be_smoothed() -> None:
    stays = MarkovChain([[1.0, 0.0], [0.0, 1.0]], initial=[0.5, 0.5], length=3)
    assert posterior_states(stays, [[1, 0], [1, 1], [1, 1]]).tolist() == [[1.0, 0.0]] * 3
    with pytest.raises(InputError, match="possible for the chain"):
        posterior_states(stays, [[1, 0], [0, 1]])
    for wrong in ([[1, 1, 1]], [[1, -1]], [[0, 0]], [[np.nan, 1]], [1, 1], [], "reports"):
        with pytest.raises(InputError, match="rows of 2 numbers"):
            posterior_states(stays, wrong)
    with pytest.raises(InputError, match="at most 3, the length"):
        posterior_states(stays, np.ones((4, 2)))
    between = MarkovChain(
        transition_lower=[[0.7, 0.1], [0.1, 0.7]],
        transition_upper=[[0.9, 0.3], [0.3, 0.9]],
        length=5,
    )
    with pytest.raises(UnsupportedError, match="given transitions"):
        posterior_states(between, np.ones((2, 2)))
