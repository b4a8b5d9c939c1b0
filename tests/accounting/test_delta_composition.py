"""Composition of (epsilon, delta) mechanisms, against closed forms and exact processes."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
import pytest

from bayesdp.accounting.costs import delta_composition as composing
from bayesdp.accounting.costs.delta_composition import (
    Approximate,
    Curve,
    DiscreteGaussianEvent,
    GaussianEvent,
    advanced,
    basic,
    converted_curve,
    optimal,
)
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta
from bayesdp.notions import ApproxDP
from bayesdp.populations import Clusters, Gaussian, Independent, MarkovChain
from bayesdp.theorems import Question
from bayesdp.theorems import approximate as at_theorems
from tests.accounting.random_compositions import attacks
from tests.effort import runs
from tests.oracles.finite import product_channel
from tests.oracles.mechanisms import random_channel, random_joint

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def best_composition(eps: float, delta: float, times: int) -> list[tuple[float, float]]:
    """Kairouz, Oh & Viswanath 2017, Theorem 3.3: the exact curve at `(times - 2i) eps`."""
    points = []
    for i in range(times // 2 + 1):
        terms = (
            math.comb(times, j)
            * (math.exp((times - j) * eps) - math.exp((times - 2 * i + j) * eps))
            for j in range(i)
        )
        excess = math.fsum(terms) / (1.0 + math.exp(eps)) ** times
        points.append(((times - 2 * i) * eps, 1.0 - (1.0 - delta) ** times * (1.0 - excess)))
    return points


@pytest.mark.parametrize(
    ("eps", "delta", "times"), [(0.1, 1e-6, 20), (0.5, 0.0, 7), (1.0, 1e-3, 4)]
)
def test_optimal_composition_is_the_exact_one(eps: float, delta: float, times: int) -> None:
    pytest.importorskip("dp_accounting")
    curve = optimal([Approximate(eps, delta, times)])
    split = optimal([Approximate(eps, delta, times - 2), *[Approximate(eps, delta)] * 2])
    for epsilon, exact in best_composition(eps, delta, times):
        assert exact <= curve.delta(epsilon) <= exact * 1.01 + 1e-11
        assert split.delta(epsilon) == pytest.approx(curve.delta(epsilon), rel=1e-6, abs=1e-11)


def test_the_rules_in_their_order() -> None:
    pytest.importorskip("dp_accounting")
    events = [Approximate(0.1, 1e-8, 50), Approximate(0.2, 0.0, 10)]
    summed, slacked = basic(events), advanced(events, 1e-6)
    assert (summed.epsilon, summed.delta) == pytest.approx((7.0, 5e-7))
    assert summed.epsilon >= 7.0
    assert summed.delta >= 50 * 1e-8
    drift = 50 * 0.1 * math.tanh(0.05) + 10 * 0.2 * math.tanh(0.1)
    spread = math.sqrt(2 * math.log(1e6) * (50 * 0.01 + 10 * 0.04))
    assert slacked.epsilon == pytest.approx(drift + spread)
    assert slacked.delta == pytest.approx(1.5e-6, rel=1e-5)
    exact = optimal(events).epsilon(slacked.delta)
    assert exact < slacked.epsilon < summed.epsilon
    # Where the sum of the costs is smaller, it is told instead.
    assert advanced([Approximate(1.0)], 1e-6).epsilon == 1.0


def test_gaussian_noise() -> None:
    pytest.importorskip("dp_accounting")
    curve = optimal([DiscreteGaussianEvent(4.0)])
    for epsilon in (0.1, 0.5, 1.0):
        own = discrete_gaussian_delta(4.0, 1, epsilon)
        assert own * (1 - 1e-9) <= curve.delta(epsilon) <= own * 1.02
    # Four answers of scale 8 are one of scale 4 (Gaussian noise adds in squares).
    four, item = optimal([GaussianEvent(8.0, 4)]), optimal([GaussianEvent(4.0)])
    for epsilon in (0.2, 1.0):
        assert four.delta(epsilon) == pytest.approx(item.delta(epsilon), rel=1e-3)


def test_conversion_once_beats_conversion_of_each() -> None:
    pytest.importorskip("dp_accounting")
    curve = optimal([GaussianEvent(20.0, 8)])
    for population in (
        Clusters(size=3),
        MarkovChain(transition=((0.6, 0.4), (0.3, 0.7)), length=9),
    ):
        actual = converted_curve(curve, Question(population), 1e-5)
        assert actual.bdp_delta <= 1e-5
        assert actual.dp_delta < 1e-5
        assert actual.bdp_epsilon > actual.dp_epsilon > curve.epsilon(1e-5)
        # The first point that fits is not the best one.
        assert curve.delta(actual.dp_epsilon) == actual.dp_delta
    alone = converted_curve(curve, Question(Independent()), 1e-5)
    assert alone.bdp_epsilon == pytest.approx(curve.epsilon(1e-5), rel=1e-3)


def hockey_stick(joint: np.ndarray, process: np.ndarray, epsilon: float) -> float:
    """The largest `P[S | x_i, x_K] - e^epsilon P[S | x_i', x_K]`."""
    events, group = attacks(joint.shape, "any")
    weighted = events * joint.ravel()
    mass = weighted.sum(axis=1)
    laws, kept = (weighted @ process)[mass > 0] / mass[mass > 0, None], group[mass > 0]
    worst = 0.0
    for number in set(kept.tolist()):
        rows = laws[kept == number]
        gaps = np.maximum(rows[:, None, :] - math.exp(epsilon) * rows[None, :, :], 0.0)
        worst = max(worst, float(gaps.sum(axis=2).max()))
    return worst


def leaky(rng: np.random.Generator, shape: tuple[int, ...], eps: float, delta: float) -> np.ndarray:
    """An eps-DP channel that with probability delta tells the whole database instead."""
    private = random_channel(rng, shape, eps)
    whole = np.eye(math.prod(shape)).reshape(*shape, -1)
    return np.concatenate([(1 - delta) * private, delta * whole], axis=-1)


def test_converted_compositions_hold() -> None:
    """Two mechanisms on a cluster: the level is above the truth whatever rule composed them."""
    pytest.importorskip("dp_accounting")
    rng = np.random.default_rng(8)
    nearest = 0.0
    for _ in range(runs(150)):
        shape = (2, 2) if rng.random() < 0.7 else (2, 2, 2)
        joint = random_joint(rng, shape, zeros=0.3)
        events = [Approximate(float(rng.uniform(0.1, 0.6)), float(rng.uniform(0, 0.004)))] * 2
        process = product_channel(*[leaky(rng, shape, e.dp_epsilon, e.dp_delta) for e in events])
        flat = process.reshape(joint.size, -1)
        question, target = Question(Clusters(size=len(shape))), 0.4
        summed = basic(events)
        exact = best_composition(events[0].dp_epsilon, events[0].dp_delta, 2)
        assert summed.epsilon == pytest.approx(exact[0][0])
        curve = optimal(events)
        actual = converted_curve(curve, question, target)
        truth = hockey_stick(joint, flat, actual.bdp_epsilon)
        assert truth <= actual.bdp_delta + 1e-9 <= target + 1e-9
        nearest = max(nearest, truth / actual.bdp_delta)
        for epsilon in (summed.epsilon, summed.epsilon / 2):
            grown = converted_point(curve, question, epsilon)
            if grown is not None:
                assert hockey_stick(joint, flat, grown[0]) <= grown[1] + 1e-9
    assert nearest > 0.02


def converted_point(curve: Curve, question: Question, epsilon: float) -> Any:
    bounds = at_theorems(question, curve.at(epsilon)).bounds
    return (bounds[0].epsilon, bounds[0].delta) if bounds else None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any) -> Any:
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *others)

    monkeypatch.setattr(composing.importlib, "import_module", missing)
    with pytest.raises(UnsupportedError, match=r"bayesdp\[accounting\]"):
        optimal([Approximate(1.0)])
    assert basic([Approximate(1.0)]) == ApproxDP(1.0, 0.0)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Approximate(-1.0),
        lambda: Approximate(math.inf),
        lambda: Approximate(1.0, 1.0),
        lambda: Approximate(1.0, 0.0, 0),
        lambda: Approximate(1.0, 0.0, 1.5),
        lambda: GaussianEvent(0.0),
        lambda: DiscreteGaussianEvent(1.0, 0),
        lambda: advanced([Approximate(1.0)], 0.0),
        lambda: optimal([]),
        lambda: converted_curve(Curve(lambda _: 0.0, ""), Question(Independent()), 0.0),
    ],
)
def test_malformed(build: Any) -> None:
    with pytest.raises(InputError):
        build()


def test_a_delta_that_nothing_reaches() -> None:
    certain = Curve(lambda epsilon: 1.0 if epsilon < 1e7 else 0.0, "")
    with pytest.raises(UnsupportedError, match="some conversion reaches"):
        converted_curve(certain, Question(Independent()), 0.5)
    precise = Gaussian(precision=[[1.0, 0.9], [0.9, 1.0]])
    with pytest.raises(UnsupportedError):
        converted_curve(Curve(lambda _: 0.9, ""), Question(precise), 1e-9)
