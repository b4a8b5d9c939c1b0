"""Levels with a delta: one formula for every population, against all events (theory 3.10).

The truth is the linear program over all events of all (eps, delta)-DP mechanisms, and the exact
hockey-stick divergence of random channels; both know the definitions only.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayesdp.notions import ADVERSARIES, ApproxDP, Cost
from bayesdp.populations import MarkovChain, Population, parse
from bayesdp.theorems import Question, approximate, report
from bayesdp.theorems.with_delta import report_with_delta
from tests.effort import runs
from tests.oracles import chains, finite
from tests.oracles.mechanisms import random_channel, random_joint

Rng = np.random.Generator
Model = tuple[dict[str, Any], np.ndarray]
"""A declaration, and the law that is true."""
MOST_CELLS = 16


def rows(rng: Rng, *shape: int) -> np.ndarray:
    table = rng.dirichlet(np.full(shape[-1], 1.5), size=shape[:-1]) + 0.02
    made: np.ndarray = table / table.sum(axis=-1, keepdims=True)
    return made


def declared(spec: dict[str, Any]) -> Model:
    return spec, chains.from_spec(copy.deepcopy(spec))


def markov(rng: Rng) -> Model:
    states = int(rng.choice([2, 2, 3]))
    length = int(rng.integers(1, 5 if states == 2 else 4))
    spec: dict[str, Any] = {"model": "markov", "length": length}
    spec["transition"] = rows(rng, states, states).tolist()
    if rng.random() < 0.3:
        spec["initial"] = rows(rng, states).tolist()
    return declared(spec)


def higher_order(rng: Rng) -> Model:
    order = int(rng.choice([2, 2, 3]))
    table = rows(rng, *(2,) * (order + 1))
    if rng.random() < 0.5:  # influences that die out, so that more theorems apply
        table = 0.2 * table + 0.4
    length = int(rng.integers(2, 6 if order == 2 else 5))
    spec = {"model": "markov", "order": order, "transition": table.tolist(), "length": length}
    return spec, chains.joint(table, "stationary", length)


def intervals(rng: Rng) -> Model:
    """A chain whose transitions are only known to lie between bounds."""
    spec, _ = markov(rng)
    table = np.array(spec["transition"])
    start = spec.get("initial", "stationary")
    width = float(rng.uniform(0.0, 0.05))
    spec = {
        "model": "markov",
        "length": spec["length"],
        "transition_lower": np.maximum(table - width, 0.0).tolist(),
        "transition_upper": np.minimum(table + width, 1.0).tolist(),
    }
    return spec, chains.joint(table, start, spec["length"])


def graph(rng: Rng) -> Model:
    records = int(rng.integers(2, 5))
    factors = [
        {"between": [j, (j + 1) % records], "table": np.exp(rng.normal(size=(2, 2))).tolist()}
        for j in range(records if records > 2 and rng.random() < 0.5 else records - 1)
    ]
    return declared({"model": "graph", "records": records, "states": 2, "factors": factors})


def tree(rng: Rng) -> Model:
    sizes = [int(rng.integers(2, 4)), *[2] * int(rng.integers(0, 3))]
    nodes: list[dict[str, Any]] = [{"name": "r0", "law": rows(rng, sizes[0]).tolist()}]
    for number, size in enumerate(sizes[1:], start=1):
        parent = int(rng.integers(number))
        table = rows(rng, sizes[parent], size).tolist()
        nodes.append({"name": f"r{number}", "parent": f"r{parent}", "transition": table})
    return declared({"model": "tree", "nodes": nodes})


def network(rng: Rng) -> Model:
    nodes = [
        {"name": "a", "states": 2, "table": rows(rng, 2).tolist()},
        {"name": "b", "states": 2, "parents": ["a"], "table": rows(rng, 2, 2).tolist()},
        {"name": "c", "states": 2, "parents": ["a", "b"], "table": rows(rng, 2, 2, 2).tolist()},
    ]
    return declared({"model": "network", "nodes": nodes})


def finite_law(rng: Rng) -> Model:
    shape = tuple(rng.integers(2, 4, size=rng.integers(1, 4)).tolist())
    joint = random_joint(rng, shape, zeros=float(rng.choice([0.0, 0.4])))
    return {"model": "finite", "probabilities": joint.tolist()}, joint


def clusters(rng: Rng) -> Model:
    """Of their law nothing is declared but the size."""
    joint = random_joint(rng, (2,) * int(rng.integers(1, 5)), zeros=float(rng.choice([0.0, 0.4])))
    model = str(rng.choice(["clusters", "unknown"]))
    return {"model": model, "size" if model == "clusters" else "records": joint.ndim}, joint


def independent(rng: Rng) -> Model:
    parts = [rows(rng, 2) for _ in range(int(rng.integers(1, 4)))]
    return {"model": "independent"}, chains.product(*parts)


def family(rng: Rng) -> Model:
    """Any member may be the true one."""
    kinds = (markov, higher_order) if rng.random() < 0.5 else (finite_law, finite_law)
    members = [kind(rng) for kind in kinds]
    spec = {"model": "family", "members": [member[0] for member in members]}
    return spec, members[int(rng.integers(2))][1]


KINDS: tuple[Callable[[Rng], Model], ...] = (
    markov, higher_order, intervals, graph, tree, network, finite_law, clusters, independent,
    family,
)  # fmt: skip


def small(rng: Rng, kind: Callable[[Rng], Model]) -> tuple[Population, np.ndarray]:
    while True:
        spec, joint = kind(rng)
        if joint.size <= MOST_CELLS:
            return parse(spec), joint


def leaky(rng: Rng, shape: tuple[int, ...], eps: float, delta: float) -> np.ndarray:
    """An eps-DP channel that with probability delta tells the whole database instead."""
    whole = np.eye(math.prod(shape)).reshape(*shape, -1)
    return np.concatenate([(1 - delta) * random_channel(rng, shape, eps), delta * whole], axis=-1)


def truncated(rng: Rng, shape: tuple[int, ...], eps: float, delta: float) -> np.ndarray:
    """The mean of the records with noise that ends: outcomes at the ends give records away."""
    sums = np.add.reduce(np.indices(shape), axis=0)
    width = max(sum(shape), math.ceil(math.log(1 / delta) / eps))
    points = np.arange(-width - sum(shape), width + 2 * sum(shape))
    away = np.abs(points - sums[..., None])
    law = np.where(away <= width, np.exp(-eps * away / max(max(shape) - 1, 1)), 0.0)
    channel: np.ndarray = law / law.sum(axis=-1, keepdims=True)
    return channel


def dp_delta_of(channel: np.ndarray, eps: float) -> float:
    """The least delta with which a channel is (eps, delta)-DP."""
    flat = channel.reshape(-1, channel.shape[-1])
    first, second = finite.adjacent_pairs(channel.shape[:-1])
    over = np.maximum(flat[first] - math.exp(eps) * flat[second], 0.0).sum(axis=1)
    return float(over.max(initial=0.0))


def hockey_stick(joint: np.ndarray, channel: np.ndarray, epsilon: float, adversary: str) -> float:
    """The largest `P[S | x_i, x_K] - e^epsilon P[S | x_i', x_K]` over all events of a channel."""
    n, worst = joint.ndim, 0.0
    for record in range(n):
        for known in finite.known_sets(n, record, adversary):
            unknown = tuple(k for k in range(n) if k != record and k not in known)
            mass = joint.sum(axis=unknown, keepdims=True)
            both = (joint[..., None] * channel).sum(axis=unknown, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                laws = np.moveaxis(both / mass[..., None], record, 0)
            over = np.maximum(laws[:, None] - math.exp(epsilon) * laws[None, :], 0.0).sum(axis=-1)
            worst = max(worst, float(np.nan_to_num(over, nan=0.0).max()))
    return worst


@pytest.mark.prove
def test_never_below_the_program_over_all_events() -> None:
    """Random models of every kind; somewhere a hair less delta would be false."""
    rng = np.random.default_rng(310)
    nearest: dict[str, float] = {}
    for number in range(runs(500)):
        kind = KINDS[number % len(KINDS)]
        population, joint = small(rng, kind)
        eps, delta = float(10 ** rng.uniform(-2, 0.4)), float(10 ** rng.uniform(-6, -0.7))
        adversary: Any = ADVERSARIES[int(rng.choice(3, p=(0.6, 0.3, 0.1)))]
        actual = approximate(Question(population, adversary), ApproxDP(eps, delta))
        for bound in actual.bounds:
            assert bound.epsilon >= eps or bound.epsilon == 0.0
            assert bound.delta >= delta
            if bound is not actual.best and rng.random() < 0.9:
                continue  # a weaker level with a larger delta follows from the best
            over, attack = finite.delta_violation(
                joint, eps, delta, bound.epsilon, bound.delta, adversary
            )
            assert over <= 1e-9, (bound, population.spec(), joint, eps, delta, attack)
            share = (over + bound.delta) / bound.delta
            nearest[kind.__name__] = max(nearest.get(kind.__name__, 0.0), share)
    if runs(500) == 500:
        assert min(nearest.values()) > 0.5, nearest
    assert max(nearest.values()) > 0.999, nearest


def test_where_delta_is_small_an_exact_level_has_the_exact_delta() -> None:
    """The worst function, less `delta / (e^eps - 1)`, is then an event's probability."""
    rng = np.random.default_rng(311)
    for _ in range(runs(60)):
        population, joint = small(rng, finite_law)
        eps = float(10 ** rng.uniform(-1, 0.3))
        # (At `(e^eps - 1) / (e^(n eps) - 1)` it is at most 1, but the complement is too unlikely.)
        rise = math.exp(joint.ndim * eps) * (1 + math.exp(-eps))
        delta = math.expm1(eps) / (rise - 2.0)
        truth = finite.worst_case(joint, eps).level
        if truth <= eps * (1 + 1e-6):
            continue
        best = approximate(Question(population), ApproxDP(eps, delta)).best
        over, _ = finite.delta_violation(joint, eps, delta, best.epsilon, 0.0)
        assert over == pytest.approx(best.delta, rel=1e-5)


@pytest.mark.prove
def test_random_channels_keep_to_it() -> None:
    rng = np.random.default_rng(312)
    nearest = 0.0
    for number in range(runs(500)):
        population, joint = small(rng, KINDS[number % len(KINDS)])
        adversary: Any = ADVERSARIES[int(rng.choice(3, p=(0.6, 0.3, 0.1)))]
        eps, delta = float(10 ** rng.uniform(-1, 0.3)), float(10 ** rng.uniform(-5, -1))
        made = leaky if rng.random() < 0.5 else truncated
        channel = made(rng, joint.shape, eps, delta)
        eps *= float(rng.choice([1.0, 0.7, 1.3]))
        dp_delta = dp_delta_of(channel, eps)
        if not 0.0 < dp_delta < 1.0:
            continue
        for bound in approximate(Question(population, adversary), ApproxDP(eps, dp_delta)).bounds:
            truth = hockey_stick(joint, channel, bound.epsilon, adversary)
            assert truth <= bound.delta * (1 + 1e-9) + 1e-12, (population.spec(), bound)
            nearest = max(nearest, truth / bound.delta)
    assert nearest > 0.3


# -- every theorem -------------------------------------------------------------------------------


def test_each_pure_level_is_a_level_with_a_delta() -> None:
    rng = np.random.default_rng(313)
    for kind in KINDS:
        population, joint = small(rng, kind)
        for adversary in ADVERSARIES:
            question = Question(population, adversary)
            pure, actual = (
                report(question, Cost(any=0.4)),
                approximate(question, ApproxDP(0.4, 1e-9)),
            )
            for bound in actual.bounds:
                growth = math.expm1(bound.epsilon) / math.expm1(0.4) if bound.epsilon else 1.0
                assert bound.delta == pytest.approx(1e-9 * max(growth, 1.0), rel=1e-9)
            levels = {bound.theorem: bound.epsilon for bound in pure.bounds}
            actual_levels = {bound.theorem: bound.epsilon for bound in actual.bounds}
            assert actual_levels == pytest.approx(levels, rel=1e-9)
            if adversary == "informed" or joint.ndim == 1:
                assert actual.best.delta == pytest.approx(1e-9, rel=1e-12)


def test_a_larger_point_is_never_better() -> None:
    rng = np.random.default_rng(314)
    for number in range(runs(200)):
        population, _ = small(rng, KINDS[number % len(KINDS)])
        question = Question(population)
        eps, delta = float(10 ** rng.uniform(-2, 0)), float(10 ** rng.uniform(-9, -3))
        less = approximate(question, ApproxDP(eps, delta))
        more_delta = approximate(question, ApproxDP(eps, 2.0 * delta))
        more_epsilon = approximate(question, ApproxDP(1.3 * eps, delta))
        for larger in (more_delta, more_epsilon):
            due = {bound.theorem: bound for bound in less.bounds}
            for bound in larger.bounds:
                if bound.theorem in due:
                    assert bound.epsilon >= due[bound.theorem].epsilon * (1 - 1e-9)
        # At the same epsilon delta is linear; at a larger one it may even be smaller.
        for bound, other in zip(less.bounds, more_delta.bounds, strict=False):
            assert other.delta == pytest.approx(2.0 * bound.delta, rel=1e-9)


ACTIVITY = MarkovChain(
    transition=[[[0.90954, 0.09046], [0.37915, 0.62085]], [[0.67876, 0.32124], [0.27208, 0.72792]]],
    order=2,
    length=15264,
)


def test_gaussian_noise_gets_the_sharp_theorems() -> None:
    """Each level by a point, and the best no worse than by the theorems with one before."""
    actual = report_with_delta(Question(ACTIVITY, "uninformed"), Cost(rho_any=2e-4), 1e-5)
    levels = {bound.theorem: bound for bound in actual.bounds}
    assert actual.best.theorem == "markov-recursion"
    assert actual.best.epsilon < 0.55 * levels["markov-contraction"].epsilon
    for bound in actual.bounds:
        if bound.proof["way"] == "point":
            proof = bound.proof
            growth = math.expm1(bound.epsilon) / math.expm1(proof["dp_epsilon"])
            # The point leaves nothing of delta unused.
            assert 0.9995 * 1e-5 <= proof["dp_delta"] * growth <= 1e-5


@pytest.mark.usefixtures("few_contexts")
def test_levels_of_noise_are_monotone() -> None:
    before = 0.0
    for rho in (1e-5, 1e-2):
        levels = [
            report_with_delta(Question(ACTIVITY), Cost(rho_any=rho), delta).best.epsilon
            for delta in (1e-3, 1e-6, 1e-9)
        ]
        assert levels == sorted(levels)
        assert levels[0] > before
        before = levels[0]
