"""States and values of a series given noisy reports: against sums over all paths, and matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import posterior_states, posterior_values
from bayesdp.mechanisms.randomized_response import RandomizedResponse
from bayesdp.populations import Autoregressive, MarkovChain
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


@pytest.mark.parametrize("periods", [1, 2, 3, 8, 30])
def test_values_are_those_of_the_gaussian_vector_given_its_reports(periods: int) -> None:
    rng = np.random.default_rng(periods)
    for _ in range(10):
        phi, mean, sd = rng.uniform(-0.98, 0.98), rng.normal() * 5.0, rng.uniform(0.1, 4.0)
        noise = rng.uniform(0.05, 6.0, periods)
        reports = mean + rng.normal(size=periods) * (sd + noise)
        reports[rng.random(periods) < 0.3] = np.nan
        seen = ~np.isnan(reports)
        distances = np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))
        covariance = sd * sd * phi**distances
        read = covariance[:, seen] @ np.linalg.inv(
            covariance[np.ix_(seen, seen)] + np.diag(noise[seen] ** 2)
        )
        smoothed = posterior_values(
            Autoregressive(phi, length=periods), reports, noise, mean=mean, sd=sd
        )
        means = mean + read @ (reports[seen] - mean)
        variances = np.diag(covariance - read @ covariance[seen])
        np.testing.assert_allclose(smoothed.means, means, atol=1e-9)
        np.testing.assert_allclose(smoothed.sds**2, variances, atol=1e-9)


def test_intervals_of_values_hold_as_often_as_they_say() -> None:
    phi, length, sd, noise = 0.8, 4_000, 2.0, 3.0
    rng = np.random.default_rng(7)
    values = [rng.normal(0.0, sd)]
    for _ in range(length - 1):
        values.append(phi * values[-1] + rng.normal(0.0, sd * np.sqrt(1 - phi * phi)))
    truth = 10.0 + np.array(values)
    smoothed = posterior_values(
        Autoregressive(phi, length=length),
        truth + rng.normal(0.0, noise, length),
        noise,
        mean=10.0,
        sd=sd,
    )
    lower, upper = smoothed.interval(0.9)
    assert 0.87 < ((lower <= truth) & (truth <= upper)).mean() < 0.93
    assert smoothed.sds.max() < min(sd, noise)


def test_reports_without_noise_are_the_values() -> None:
    smoothed = posterior_values(
        Autoregressive(0.5, length=3), [1.0, float("nan"), 4.0], 0.0, mean=0.0, sd=1.0
    )
    assert smoothed.means[[0, 2]].tolist() == [1.0, 4.0]
    assert smoothed.sds[[0, 2]].tolist() == [0.0, 0.0]
    assert smoothed.means[1] == pytest.approx(2.0)  # (1 + 4) phi / (1 + phi^2)


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("reports", {"reports": [[1.0]]}),
        ("reports", {"reports": []}),
        ("reports", {"reports": [1.0, float("inf")]}),
        ("reports", {"reports": [1.0] * 5}),
        ("reports", {"reports": ["a"]}),
        ("noise_sd", {"noise_sd": [1.0, 2.0, 3.0]}),
        ("noise_sd", {"noise_sd": -1.0}),
        ("noise_sd", {"noise_sd": float("nan")}),
        ("mean", {"mean": float("nan")}),
        ("sd", {"sd": 0.0}),
    ],
)
def test_values_need_numbers_that_fit(key: str, changed: dict[str, object]) -> None:
    given = {"reports": [1.0, 2.0], "noise_sd": 1.0, "mean": 0.0, "sd": 1.0} | changed
    with pytest.raises(InputError) as caught:
        posterior_values(Autoregressive(0.5, length=4), **given)  # type: ignore[arg-type]
    assert caught.value.key == key
