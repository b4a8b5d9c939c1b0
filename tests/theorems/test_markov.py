"""Theorems about Markov chains: who answers what, who is refused and why, and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.leakage.stationary import stationary_law
from bayesdp.notions import ApproxDP
from bayesdp.populations import MarkovChain
from bayesdp.theorems import REGISTRY, Question, approximate
from bayesdp.theorems.markov import interval_ratio, tightened
from bayesdp.theorems.markov_contraction import cross_ratio, largest_ratio
from tests.effort import runs
from tests.oracles import chains, finite, sampled

BELOW = 1e-9
ACTIVITY = [[0.09046, 0.62085], [0.32124, 0.72792]]


def binary(ones: object) -> np.ndarray:
    item = np.asarray(ones, dtype=float)
    return np.stack([1 - item, item], axis=-1)


def activity(length: int = 17568) -> MarkovChain:
    return MarkovChain(transition=binary(ACTIVITY).tolist(), order=2, length=length)


def levels(population: MarkovChain, eps: float, adversary: str = "any", **more) -> dict[str, float]:
    report = population.leakage(eps, adversary=adversary, **more)
    return {bound.theorem: bound.epsilon for bound in report.bounds}


def reasons(population: MarkovChain, eps: float = 0.1, adversary: str = "any", **more):
    report = population.leakage(eps, adversary=adversary, **more)
    return {refusal.theorem: refusal.reason for refusal in report.refused}


def random_kernel(rng: np.random.Generator, states: int, zeros: bool = False) -> np.ndarray:
    kernel = rng.dirichlet(np.full(states, float(rng.choice([0.5, 2.0]))), size=states) + 0.005
    if zeros:
        kernel *= rng.random((states, states)) < 0.7
        kernel += np.diag(np.where(kernel.sum(axis=1) == 0.0, 1.0, 0.0))
    return kernel / kernel.sum(axis=1, keepdims=True)


# -- who answers -----------------------------------------------------------------------------------


def test_three_states_are_asked_of_all_theorems() -> None:
    kernel = random_kernel(np.random.default_rng(1), 3)
    reached = levels(MarkovChain(transition=kernel.tolist(), length=10**6), 0.3)
    assert set(reached) == {
        "cluster-size",
        "markov-ratio",
        "markov-contraction",
        "markov-threshold",
        "markov-recursion",
    }
    assert reached["markov-recursion"] <= reached["markov-threshold"] * (1 + 1e-12)
    assert reached["markov-threshold"] <= reached["markov-contraction"] * (1 + 1e-9)
    assert reached["markov-contraction"] <= reached["markov-ratio"]


def test_the_activity_series_for_both_adversaries() -> None:
    for eps, blocks, tuples in ((0.1, 1.2788, 0.5614), (1.0, 7.7375, 3.5913)):
        anybody = levels(activity(), eps)
        assert round(anybody["markov-contraction"], 4) == blocks
        assert "markov-recursion" not in anybody
        nobody = levels(activity(), eps, "uninformed")
        assert round(nobody["markov-recursion"], 4) == tuples
        assert min(nobody.values()) == nobody["markov-recursion"]


def test_weak_order_two_without_contexts_is_decided_by_influences() -> None:
    """Blocks .0149, influences .0127, contexts .0115, five records .0113."""
    weak = MarkovChain(
        transition=binary([[0.45, 0.50], [0.48, 0.56]]).tolist(), order=2, length=100
    )
    reached = levels(weak, 0.01)
    assert min(reached, key=reached.__getitem__) == "markov-contexts"
    del reached["markov-contexts"]
    assert min(reached, key=reached.__getitem__) == "markov-influence"
    assert reached["markov-influence"] < reached["markov-contraction"]
    joint = chains.joint(binary([[0.45, 0.50], [0.48, 0.56]]), "stationary", 5)
    assert reached["markov-influence"] >= finite.worst_case(joint, 0.01, "any").level


def test_informed_adversaries_learn_eps() -> None:
    rng = np.random.default_rng(2)
    for population in (
        activity(),
        MarkovChain(transition=random_kernel(rng, 4).tolist(), length=10**5),
        MarkovChain(
            transition_lower=[[0.0, 0.1], [0.2, 0.3]],
            transition_upper=[[0.9, 1.0], [0.7, 0.8]],
            length=50,
        ),
    ):
        report = population.leakage(0.7, adversary="informed")
        assert report.best.epsilon == 0.7
        assert report.best.tight == "exact"


@pytest.mark.parametrize("theorem", [t for t in REGISTRY if t.name.startswith("markov")])
def test_nothing_for_nothing(theorem) -> None:
    """A cost of 0 has a level of 0, for every theorem that answers."""
    rng = np.random.default_rng(3)
    for population in (
        activity(),
        MarkovChain(transition=random_kernel(rng, 3).tolist(), length=1000),
    ):
        for adversary in ("any", "uninformed"):
            reached = levels(population, 0.0, adversary)
            if theorem.name in reached and theorem.name != "markov-ratio":
                assert reached[theorem.name] <= 1e-12


# -- who is refused, and why -----------------------------------------------------------------------


def test_reasons() -> None:
    cycle = MarkovChain(
        transition=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], length=10**5
    )
    actual = reasons(cycle, 1e-5, seconds=10**6)
    assert "does not forget" in actual["markov-threshold"]
    assert "does not forget" in actual["markov-recursion"]
    assert "R is infinite" in actual["markov-contraction"]
    order = reasons(activity())
    assert "uninformed" in order["markov-recursion"]
    assert "spectral radius" in order["markov-influence"]
    given = MarkovChain(
        transition=binary(ACTIVITY).tolist(),
        order=2,
        length=9,
        initial=[[0.25, 0.25], [0.25, 0.25]],
    )
    assert "stationary" in reasons(given, adversary="uninformed")["markov-recursion"]
    assert "stationary" in reasons(given)["markov-window"]
    zero = MarkovChain(transition=binary([[0.2, 0.3], [0.0, 0.5]]).tolist(), order=2, length=9)
    assert " 0," in reasons(zero)["markov-window"]
    assert "zero" in reasons(zero)["markov-influence"]
    assert "infinite" in reasons(zero)["markov-contraction"]
    assert set(levels(zero, 0.1)) == {"cluster-size"}


def test_with_several_stationary_laws_a_chain_states_its_start() -> None:
    kernel = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(InputError, match="several stationary laws"):
        MarkovChain(transition=kernel, length=20)
    given = MarkovChain(transition=kernel, length=20, initial=[0.2, 0.3, 0.5])
    assert "markov-recursion" in levels(given, 0.1)


def test_seconds_limit_the_work_and_say_how_to_get_more() -> None:
    rng = np.random.default_rng(4)
    population = MarkovChain(transition=random_kernel(rng, 12).tolist(), length=10**6)
    actual = reasons(population, seconds=0.5)
    assert "allowed" in actual["markov-recursion"]
    assert "seconds" in actual["markov-recursion"]
    assert "markov-threshold" in levels(population, 0.1, seconds=10.0)  # the recursion needs more
    assert "allowed" in reasons(population, seconds=1e-6)["markov-threshold"]


# -- intervals -------------------------------------------------------------------------------------


def test_intervals_by_hand() -> None:
    """The extreme pair of rows: .5 .5 against .7 .3, and the other way round."""
    low, high = [[0.4, 0.4], [0.3, 0.3]], [[0.6, 0.6], [0.7, 0.7]]
    population = MarkovChain(transition_lower=low, transition_upper=high, length=10)
    due = (0.6 / 0.3) * (0.7 / 0.4)
    assert largest_ratio(population) == pytest.approx(due)
    assert largest_ratio(population) >= due
    assert set(reasons(population)) == {"markov-ratio", "markov-recursion"}
    assert {"markov-contraction", "markov-intervals"} <= set(levels(population, 1.0, "any"))
    assert "intervals" in reasons(population)["markov-recursion"]


def test_interval_bounds_are_narrowed_by_what_the_row_leaves() -> None:
    population = MarkovChain(
        transition_lower=[[0.0, 0.4], [0.1, 0.1]],
        transition_upper=[[1.0, 0.5], [0.9, 0.9]],
        length=5,
    )
    low, high = tightened(population)
    np.testing.assert_allclose(low, [[0.5, 0.4], [0.1, 0.1]])
    np.testing.assert_allclose(high, [[0.6, 0.5], [0.9, 0.9]])


def test_equal_bounds_are_a_table() -> None:
    kernel = random_kernel(np.random.default_rng(5), 3)
    exact = cross_ratio(tuple(map(tuple, kernel.tolist())))
    assert interval_ratio(kernel, kernel) == pytest.approx(exact, rel=1e-9)
    assert math.isinf(interval_ratio(np.array([[0.0, 0.5]] * 2), np.array([[0.5, 1.0]] * 2)))


@pytest.mark.prove
def test_chains_inside_intervals() -> None:
    rng = np.random.default_rng(6)
    for _ in range(runs(300)):
        states = int(rng.choice([2, 2, 3]))
        middle = random_kernel(rng, states)
        width = rng.uniform(0, 0.15, size=(states, states)) * middle
        low, high = middle - width, np.minimum(middle + width, 1.0)
        length = int(rng.integers(1, 5 if states == 2 else 4))
        population = MarkovChain(
            transition_lower=low.tolist(), transition_upper=high.tolist(), length=length
        )
        # a corner of the box, put back on the simplex inside it
        member = middle + width * rng.choice([-1.0, 1.0], size=(states, states))
        for row in range(states):
            off = member[row].sum() - 1.0
            room = member[row] - low[row] if off > 0 else high[row] - member[row]
            member[row] -= off * room / max(room.sum(), 1e-300)
        assert (member >= low - 1e-12).all()
        assert (member <= high + 1e-12).all()
        eps, adversary = float(10 ** rng.uniform(-1.5, 0.6)), str(rng.choice(["any", "uninformed"]))
        joint = chains.joint(member / member.sum(axis=1, keepdims=True), "stationary", length)
        truth = finite.worst_case(joint, eps, adversary)
        for name, bound in levels(population, eps, adversary).items():
            assert bound >= truth.level - BELOW, (name, population.spec(), member, eps)


# -- brute force -----------------------------------------------------------------------------------


@pytest.mark.prove
def test_order_two_up_to_seven_records() -> None:
    rng = np.random.default_rng(7)
    for number in range(runs(250)):
        table = rng.dirichlet(np.full(2, 1.5), size=(2, 2)) + 0.02
        table /= table.sum(axis=-1, keepdims=True)
        if rng.random() < 0.5:
            table = 0.5 + (table - 0.5) * float(rng.uniform(0.05, 0.6))
        length = int(rng.integers(2, 6))
        stationary = rng.random() < 0.6
        start = rng.dirichlet(np.ones(4)).reshape(2, 2)
        population = MarkovChain(
            transition=table.tolist(),
            order=2,
            length=length,
            initial="stationary" if stationary else start.tolist(),
        )
        joint = chains.joint(table, "stationary" if stationary else start, length)
        eps = float(10 ** rng.uniform(-1.5, 0.6))
        for adversary in ("any", "uninformed"):
            truth = finite.worst_case(joint, eps, adversary)
            for name, bound in levels(population, eps, adversary).items():
                assert bound >= truth.level - BELOW, (number, name, population.spec(), eps)


@pytest.mark.prove
def test_larger_chains_on_sampled_adversaries() -> None:
    rng = np.random.default_rng(8)
    for number in range(runs(100)):
        if number % 2:
            states, order, length = 2, 2, 7
        else:
            states, order, length = int(rng.choice([3, 4])), 1, int(rng.integers(4, 6))
        table = rng.dirichlet(np.full(states, 1.0), size=(states,) * order) + 0.01
        table /= table.sum(axis=-1, keepdims=True)
        population = MarkovChain(transition=table.tolist(), order=order, length=length)
        joint = chains.joint(table, "stationary", length)
        eps = float(10 ** rng.uniform(-1.5, 0.6))
        for adversary in ("any", "uninformed"):
            attained = sampled.worst_of(rng, joint, eps, adversary, attacks=4, cells=130)
            for name, bound in levels(population, eps, adversary).items():
                assert bound >= attained - BELOW, (number, name, population.spec(), eps)


# -- with delta ------------------------------------------------------------------------------------


def test_delta_zero_is_pure() -> None:
    kernel = random_kernel(np.random.default_rng(10), 3)
    population = MarkovChain(transition=kernel.tolist(), length=10**6)
    pure = levels(population, 0.4)
    report = approximate(Question(population), ApproxDP(0.4, 0.0))
    for bound in report.bounds:
        assert bound.delta == 0.0
        assert bound.epsilon == pytest.approx(pure[bound.theorem], rel=1e-8)
    assert {b.theorem for b in report.bounds} == set(pure)


def test_informed_with_delta() -> None:
    report = approximate(Question(activity(), "informed"), ApproxDP(0.4, 1e-6))
    assert (report.best.epsilon, report.best.delta) == (0.4, 1e-6)


# -- monotone --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_contexts")
@pytest.mark.parametrize("adversary", ["any", "uninformed"])
def test_levels_grow_with_the_cost(adversary: str) -> None:
    rng = np.random.default_rng(11)
    weak = MarkovChain(
        transition=binary([[0.45, 0.50], [0.48, 0.56]]).tolist(), order=2, length=100
    )
    for population in (
        activity(),
        weak,
        MarkovChain(transition=random_kernel(rng, 3).tolist(), length=10**6),
        MarkovChain(
            transition=random_kernel(rng, 3, zeros=True).tolist(), length=5, initial=[0.2, 0.3, 0.5]
        ),
    ):
        costs = (1e-9, 1e-4, 0.03, 0.3, 1.0, 4.0)
        actual = [levels(population, eps, adversary) for eps in costs]
        for item, more in itertools.pairwise(actual):
            for name in item.keys() & more.keys():
                assert item[name] <= more[name], name
        for eps, item in zip(costs, actual, strict=True):
            assert all(value >= eps for value in item.values())


@pytest.mark.usefixtures("few_contexts")
def test_a_calibrated_budget_of_an_order_two_chain_meets_its_target() -> None:
    for adversary, due in (("uninformed", 1.0), ("any", 1.0)):
        answer = activity().calibrate(due, adversary=adversary, seconds=60.0)
        assert answer.certified_epsilon <= due
        assert answer.certified_epsilon >= due * (1 - 1e-6)
        more = activity().leakage(answer.dp_epsilon * (1 + 1e-6), adversary=adversary)
        assert more.best.epsilon > due


def test_a_rarely_seen_state_keeps_its_share() -> None:
    """Regression: a stationary probability below 1e-14 was taken for an impossible value."""
    d = 1e-9
    kernel = np.array([[1 - d, d, 0.0], [0.5, 0.5 - d, d], [0.0, 0.5, 0.5]])
    law = stationary_law(kernel)
    assert law is not None
    assert 0 < law[2] < 1e-17
    population = MarkovChain(transition=kernel.tolist(), length=2)
    truth = finite.worst_case(chains.joint(kernel, "stationary", 2), 1.0, "any").level
    assert min(levels(population, 1.0).values()) >= truth - BELOW
    assert population.start == pytest.approx(tuple(law))
