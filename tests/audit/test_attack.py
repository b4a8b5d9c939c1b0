"""Exact attacks against enumeration of all databases, against theory, and against simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bayesdp as bdp
from bayesdp.audit import RecordAttack, Responses, SumWithNoise, attack, believe, membership
from bayesdp.audit.draws import draw_states
from bayesdp.audit.laws import Evidence, law_of_sum
from bayesdp.audit.models import ChainLaw, ForestLaw, JointLaw, law_of
from bayesdp.audit.observed import outcomes
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace, RandomizedResponse
from bayesdp.populations import Population
from tests.effort import runs

Rng = np.random.Generator


def rows(rng: Rng, *shape: int, zeros: float = 0.0) -> Any:
    """Random laws along the last axis, some of whose entries are 0."""
    table = rng.random(shape) ** 2 + 0.02
    dead = rng.random(shape) < zeros
    dead[..., 0] = False
    table = np.where(dead, 0.0, table)
    return table / table.sum(axis=-1, keepdims=True)


def chain(rng: Rng) -> tuple[Population, np.ndarray]:
    """A chain of any order, perhaps shorter than its order, and its joint law by enumeration."""
    states, order = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    length = int(rng.integers(1, 6))
    table = rows(rng, *(states,) * (order + 1), zeros=0.2)
    start = rows(rng, states**order).reshape((states,) * order)
    joint = np.zeros((states,) * length)
    for cells in itertools.product(range(states), repeat=max(length, order)):
        mass = start[cells[:order]]
        for place in range(order, length):
            mass *= table[cells[place - order : place + 1]]
        joint[cells[:length]] += mass
    population = bdp.MarkovChain(table, order=order, initial=start.tolist(), length=length)
    return population, joint


def tree(rng: Rng) -> tuple[Population, np.ndarray]:
    """A tree, or several, over records of different numbers of states."""
    count = int(rng.integers(2, 6))
    sizes = [int(rng.integers(2, 4)) for _ in range(count)]
    nodes: list[dict[str, Any]] = []
    parents: list[int] = []
    for place, size in enumerate(sizes):
        parent = int(rng.integers(-1, place)) if place else -1
        parents.append(parent)
        if parent < 0:
            nodes.append({"name": f"n{place}", "law": rows(rng, size).tolist()})
            continue
        table = rows(rng, sizes[parent], size, zeros=0.2)
        nodes.append({"name": f"n{place}", "parent": f"n{parent}", "transition": table.tolist()})
    joint = np.zeros(sizes)
    for cells in np.ndindex(*sizes):
        mass = 1.0
        for place, parent in enumerate(parents):
            node = nodes[place]
            row = node["law"] if parent < 0 else node["transition"][cells[parent]]
            mass *= row[cells[place]]
        joint[cells] = mass
    return bdp.Tree(nodes), joint


def graph(rng: Rng) -> tuple[Population, np.ndarray]:
    """A graph, mostly with loops, and with a factor of three records."""
    count = int(rng.integers(3, 6))
    triples = list(itertools.combinations(range(count), 3))
    pairs = list(itertools.combinations(range(count), 2))
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[: int(rng.integers(1, len(pairs)))]]
    members = [*chosen, *([triples[0]] if rng.random() < 0.5 else [])]
    joint = np.ones((2,) * count)
    factors = []
    for between in members:
        table = rng.random((2,) * len(between)) + 0.1
        factors.append({"between": list(between), "table": table.tolist()})
        shape = [2 if place in between else 1 for place in range(count)]
        joint = joint * table.reshape(shape)
    return bdp.Graph(records=count, states=2, factors=factors), joint / joint.sum()


def finite(rng: Rng) -> tuple[Population, np.ndarray]:
    joint = rows(rng, 12).reshape(2, 3, 2)
    return bdp.Finite(joint.tolist()), joint


MAKERS = [chain, tree, graph, finite]


def cases(number: int) -> Iterator[tuple[Population, np.ndarray, Rng]]:
    for seed in range(number):
        rng = np.random.default_rng(seed)
        yield (*MAKERS[seed % len(MAKERS)](rng), rng)


def adds_of(sizes: tuple[int, ...], rng: Rng) -> list[list[int]]:
    return [rng.integers(-2, 3, size).tolist() for size in sizes]


def known_of(joint: np.ndarray, record: int, rng: Rng) -> dict[int, int]:
    """States of some other records that are possible together."""
    cells = np.argwhere(joint > 0.0)
    possible = cells[int(rng.integers(len(cells)))]
    others = [j for j in range(joint.ndim) if j != record and rng.random() < 0.3]
    return {j: int(possible[j]) for j in others}


def by_hand(joint: np.ndarray, record: int, adds: Any, known: dict[int, int]) -> dict[Any, float]:
    """The law of (state, sum) given the known records, database by database."""
    law: dict[Any, float] = {}
    for cells in np.ndindex(*joint.shape):
        if any(cells[j] != state for j, state in known.items()):
            continue
        key = cells[record], sum(adds[j][x] for j, x in enumerate(cells))
        law[key] = law.get(key, 0.0) + joint[cells]
    total = sum(law.values())
    return {key: mass / total for key, mass in law.items()}


@pytest.mark.prove
def test_the_law_of_a_sum_is_that_of_enumeration() -> None:
    kinds = set()
    for population, joint, rng in cases(runs(800, least=40)):
        law = law_of(population)
        kinds.add(type(law))
        assert law.sizes == joint.shape
        record = int(rng.integers(joint.ndim))
        adds, known = adds_of(joint.shape, rng), known_of(joint, record, rng)
        evidence = SumWithNoise(adds, DiscreteLaplace(1.0)).evidence(law.sizes).knowing(known)
        sums = law_of_sum(law, record, evidence)
        due = by_hand(joint, record, adds, known)
        for (state, place), mass in np.ndenumerate(sums.weights):
            hand = due.pop((state, sums.first + place), 0.0)
            assert mass == pytest.approx(hand, rel=1e-9, abs=1e-14)
        assert not any(due.values())
    assert kinds == {ChainLaw, ForestLaw, JointLaw}


@pytest.mark.prove
def test_beliefs_after_answers_are_those_of_enumeration() -> None:
    for population, joint, rng in cases(runs(400, least=30)):
        if len(set(joint.shape)) > 1:
            continue
        record = int(rng.integers(joint.ndim))
        known = known_of(joint, record, rng)
        channel = rows(rng, joint.shape[0], 3)
        answers = rng.integers(-1, 3, joint.ndim).tolist()
        prior, weights = np.zeros(joint.shape[0]), np.zeros(joint.shape[0])
        for cells in np.ndindex(*joint.shape):
            if all(cells[j] == state for j, state in known.items()):
                likely = [channel[x, y] for x, y in zip(cells, answers, strict=True) if y >= 0]
                prior[cells[record]] += joint[cells]
                weights[cells[record]] += joint[cells] * math.prod(likely)
        seen = believe(population, Responses(channel.tolist()), answers, record, known=known)
        assert seen.prior == pytest.approx((prior / prior.sum()).tolist(), abs=1e-12)
        assert seen.posterior == pytest.approx((weights / weights.sum()).tolist(), abs=1e-12)


def density(noise: Any, distance: int) -> float:
    scaled = abs(distance) / noise.scale
    return math.exp(-scaled if isinstance(noise, DiscreteLaplace) else -(scaled**2) / 2)


def far_away(due: Any, states: list[int], prior: Any, scale: float) -> float:
    """The log ratio of likelihoods at releases far from all sums; infinite where it still grows."""

    def gap(release: int) -> float:
        logs = []
        for state in states:
            parts = [
                math.log(weight) - (release - total) ** 2 / (2 * scale**2)
                for (its, total), weight in due.items()
                if its == state and weight > 0.0
            ]
            logs.append(float(np.logaddexp.reduce(parts)) - math.log(prior[state]))
        return max(logs) - min(logs)

    grows = any(gap(2000 * side) > gap(1000 * side) + 1.0 for side in (-1, 1))
    return math.inf if grows else max(gap(2000), gap(-2000))


@pytest.mark.prove
@pytest.mark.parametrize("noise", [DiscreteLaplace(1.7), DiscreteGaussian(1.4)])
def test_success_and_level_are_those_of_enumeration(noise: Any) -> None:
    reach = 90
    mass = np.array([density(noise, z) for z in range(-reach, reach + 1)])
    mass /= mass.sum()
    for population, joint, rng in cases(runs(200, least=20)):
        record = int(rng.integers(joint.ndim))
        adds, known = adds_of(joint.shape, rng), known_of(joint, record, rng)
        due = by_hand(joint, record, adds, known)
        states = sorted({state for state, _ in due if due[state, _] > 0.0})
        if len(states) < 2:
            continue
        table = np.zeros((joint.shape[record], 2 * reach + 41))
        for (state, total), weight in due.items():
            table[state, 20 + total : 20 + total + len(mass)] += weight * mass
        prior = table.sum(axis=1)
        hand = table.max(axis=0).sum()
        seen = attack(population, SumWithNoise(adds, noise), record, known=known)
        assert seen.without == pytest.approx(prior.max(), rel=1e-9)
        assert seen.success == pytest.approx(hand, rel=1e-9)
        assert seen.success >= seen.without * (1 - 1e-12)
        if isinstance(noise, DiscreteGaussian):
            assert seen.level == pytest.approx(
                far_away(due, states, prior, noise.scale), rel=1e-9, abs=1e-9
            )
            continue
        laws = table[states][:, reach - 40 : reach + 81] / prior[states, None]
        gaps = np.log(laws.max(axis=0)) - np.log(laws.min(axis=0))
        assert seen.level == pytest.approx(gaps.max(), rel=1e-7, abs=1e-9)
        release = int(rng.integers(-8, 9))
        after = believe(population, SumWithNoise(adds, noise), release, record, known=known)
        hand_after = table[:, 20 + reach + release] / table[:, 20 + reach + release].sum()
        assert after.posterior == pytest.approx(hand_after.tolist(), abs=1e-9)
        assert after.level <= seen.level * (1 + 1e-9) + 1e-9
        value = states[0]
        member = membership(population, SumWithNoise(adds, noise), record, value, known=known)
        target, stranger = table[value] / prior[value], table.sum(axis=0)
        hand_gap = 0.5 * np.abs(target - stranger).sum()
        assert member.advantage == pytest.approx(hand_gap, abs=1e-9)
        assert member.level <= seen.level * (1 + 1e-9) + 1e-9


def test_gaussian_noise_bounds_ratios_where_states_allow_the_same_sums() -> None:
    """A record that adds nothing itself: its state only says how likely the other's part is."""
    pair = bdp.Finite(probabilities=[[0.4, 0.1], [0.1, 0.4]])
    other_only = SumWithNoise([[0, 0], [0, 1]], DiscreteGaussian(3.0))
    seen = attack(pair, other_only, 0)
    assert seen.level == pytest.approx(math.log(4.0))
    assert {seen.value, seen.other} == {0, 1}
    assert membership(pair, other_only, 0, 1).level == pytest.approx(math.log(2.5))
    assert attack(pair, SumWithNoise([0, 1], DiscreteGaussian(3.0)), 0).level == math.inf
    # The sums at both ends are too unlikely for doubles: which there are is not looked up.
    long = bdp.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=1200)
    assert attack(long, SumWithNoise([0, 1], DiscreteGaussian(3.0)), 600).level == math.inf


@pytest.mark.parametrize("dp_epsilon", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    "transition", [[[0.9, 0.1], [0.1, 0.9]], [[0.88241, 0.11759], [0.30471, 0.69529]]]
)
def test_a_count_attains_the_level_of_two_states(transition: Any, dp_epsilon: float) -> None:
    """Where two states attract each other, a noisy count is the worst mechanism there is."""
    population = bdp.MarkovChain(transition, length=31)
    count = SumWithNoise([0, 1], DiscreteLaplace(1.0 / dp_epsilon))
    reached = max(attack(population, count, record).level for record in range(31))
    level = population.leakage(dp_epsilon, adversary="uninformed").best
    assert level.tight == "exact"
    assert reached == pytest.approx(level.epsilon, rel=1e-9)
    knowing = attack(population, count, 15, known={10: 0, 20: 1}).level
    assert dp_epsilon < knowing <= population.leakage(dp_epsilon).best.epsilon


@pytest.mark.prove
def test_no_attack_exceeds_a_level() -> None:
    for population, joint, rng in cases(runs(200, least=16)):
        record = int(rng.integers(joint.ndim))
        adds, known = adds_of(joint.shape, rng), known_of(joint, record, rng)
        spread = max(max(row) - min(row) for row in adds)
        if spread == 0:
            continue
        cost = float(rng.choice([0.1, 1.0]))
        noise = DiscreteLaplace.for_cost(spread, cost)
        try:
            seen = attack(population, SumWithNoise(adds, noise), record, known=known)
        except InputError:
            continue  # the known records determine it
        level = population.leakage(cost).best.epsilon
        assert seen.level <= level * (1 + 1e-9), population


def test_success_is_that_of_simulated_attacks() -> None:
    """Databases and noise are drawn, the posterior belief guesses: as often right as computed."""
    rng, number = np.random.default_rng(3), 4000
    population = bdp.MarkovChain([[0.9, 0.1], [0.15, 0.85]], length=12)
    for cost, record in ((0.3, 6), (1.0, 0)):
        count = SumWithNoise([0, 1], DiscreteLaplace(1.0 / cost))
        drawn = draw_states(law_of(population), number, {}, rng)
        p = -math.expm1(-cost)
        releases = drawn.sum(axis=1) + rng.geometric(p, number) - rng.geometric(p, number)
        guesses = {
            int(y): believe(population, count, int(y), record).guess for y in set(releases.tolist())
        }
        right = sum(guesses[int(y)] == x for y, x in zip(releases, drawn[:, record], strict=True))
        due = attack(population, count, record)
        sigma = math.sqrt(due.success * (1 - due.success) / number)
        assert abs(right / number - due.success) < 4 * sigma
        assert due.success > due.without + 0.01  # and more often than without a release


def test_draws_follow_the_law() -> None:
    rng = np.random.default_rng(5)
    for population, joint, _ in cases(12):
        law, number = law_of(population), 20_000
        given = known_of(joint, 0, rng)
        due = joint.copy()
        for record, state in given.items():
            other = np.delete(np.arange(joint.shape[record]), state)
            due[(slice(None),) * record + (other,)] = 0.0
        due = due / due.sum()
        drawn = draw_states(law, number, given, rng)
        seen = np.zeros(joint.shape)
        np.add.at(seen, tuple(drawn.T), 1.0)
        assert not seen[due == 0.0].any()
        sigma = np.sqrt(due * (1 - due) / number)
        assert (np.abs(seen / number - due) <= 5 * sigma + 1e-12).all()


@pytest.mark.parametrize("order", [1, 2])
def test_draws_look_ahead(order: int) -> None:
    """Of a chain whose last record is known, all before it have their law given that."""
    rng, number = np.random.default_rng(order), 20_000
    table = rows(rng, *(2,) * (order + 1))
    start = rows(rng, 2**order).reshape((2,) * order)
    population = bdp.MarkovChain(table, order=order, initial=start.tolist(), length=5)
    law = law_of(population)
    drawn = draw_states(law, number, {4: 1}, rng)
    assert (drawn[:, 4] == 1).all()
    count = SumWithNoise([0, 1], DiscreteLaplace(1.0))
    for record in range(4):
        due = law_of_sum(law, record, count.evidence(law.sizes).knowing({4: 1})).prior[1]
        assert drawn[:, record].mean() == pytest.approx(due, abs=5 * math.sqrt(0.25 / number))
    pairs = (drawn[:, 0] == drawn[:, 3]).mean()
    given = [
        law_of_sum(law, 0, count.evidence(law.sizes).knowing({4: 1, 3: x})).prior for x in (0, 1)
    ]
    third = law_of_sum(law, 3, count.evidence(law.sizes).knowing({4: 1})).prior
    due = float(third[0] * given[0][0] + third[1] * given[1][1])
    assert pairs == pytest.approx(due, abs=5 * math.sqrt(0.25 / number))


def test_laws_of_classes_are_members() -> None:
    equal = law_of(bdp.Clusters(3))
    assert isinstance(equal, ChainLaw)
    drawn = draw_states(equal, 50, {}, np.random.default_rng(1))
    assert (drawn == drawn[:, :1]).all()
    assert set(drawn[:, 0].tolist()) == {0, 1}
    three = attack(bdp.Clusters(3), SumWithNoise([0, 1], DiscreteLaplace(2.0)), 0)
    assert three.level == pytest.approx(1.5)
    bounds = bdp.MarkovChain(
        transition_lower=[[0.6, 0.1], [0.2, 0.5]],
        transition_upper=[[0.8, 0.3], [0.4, 0.9]],
        initial=[0.5, 0.5],
        length=4,
    )
    between = law_of(bounds)
    assert isinstance(between, ChainLaw)
    table = between.table
    assert table.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert (table >= np.array(bounds.transition_lower) - 1e-12).all()
    assert (table <= np.array(bounds.transition_upper) + 1e-12).all()
    long = law_of(bdp.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=10**9), records=7)
    assert long.sizes == (2,) * 7


def test_membership_of_a_cluster_of_copies() -> None:
    """By hand: three copies of a fair bit move a count by 3, half of the strangers have it too."""
    count = SumWithNoise([0, 1], DiscreteLaplace(2.0))
    seen = membership(bdp.Clusters(3), count, 0, 1)
    decay = math.exp(-1 / 2)
    # The law of noise at 3 against that at 0: the best test is y >= 2.
    true = (1 - decay) / (1 + decay) * (1 + decay + decay / (1 - decay))
    false = (1 - decay) / (1 + decay) * decay**2 / (1 - decay)
    assert seen.advantage == pytest.approx((true - false) / 2)
    assert seen.success == pytest.approx(0.5 + (true - false) / 4)
    assert seen.level == pytest.approx(
        max(math.log(2 / (1 + decay**3)), math.log((1 + decay**-3) / 2))
    )
    with pytest.raises(InputError, match="value"):
        membership(bdp.Clusters(3), count, 0, 2)


def test_answers_of_everybody_tell_about_neighbours() -> None:
    """Forward-backward: the others' answers alone, by hand for two records."""
    response = RandomizedResponse((0, 1), 0.2)
    pair = bdp.Finite([[0.4, 0.1], [0.1, 0.4]])
    seen = believe(pair, Responses.by(response), [-1, 1], 0)
    kept = response.channel()[1][1]
    due = 0.1 * (1 - kept) + 0.4 * kept
    other = 0.4 * (1 - kept) + 0.1 * kept
    assert seen.posterior[1] == pytest.approx(due / (due + other))
    assert seen.guess == 1
    assert seen.level == pytest.approx(math.log(due / other))


def test_outcomes_add_up_and_tails_are_one_column() -> None:
    masses = np.array([[0.2, 0.0, 0.3], [0.0, 0.5, 0.0]])
    law = outcomes(masses, DiscreteLaplace(1.3))
    assert law.shape == (2, 5)
    assert law.sum() == pytest.approx(1.0)
    assert outcomes(masses, DiscreteGaussian(2.0)).sum(axis=1) == pytest.approx([0.5, 0.5])
    with pytest.raises(UnsupportedError, match=r"noise\.scale"):
        outcomes(masses, DiscreteGaussian(1e6))


CHAIN = bdp.MarkovChain([[0.9, 0.1], [0.1, 0.9]], length=5)
COUNT = SumWithNoise([0, 1], DiscreteLaplace(1.0))
WRONG = [
    (lambda: attack(CHAIN, COUNT, 5), "record is 5: expected a record of the population: 0 to 4"),
    (lambda: attack(CHAIN, COUNT, 1, known={1: 0}), r"known\[1\] is 0"),
    (lambda: attack(CHAIN, COUNT, 1, known={2: 2}), r"known\[2\] is 2"),
    (lambda: attack(CHAIN, SumWithNoise([0, 1, 2], DiscreteLaplace(1.0)), 1), "adds: expected"),
    (lambda: attack(CHAIN, SumWithNoise([0.5, 1.0], DiscreteLaplace(1.0)), 1), "adds: expected"),  # type: ignore[list-item]
    (lambda: believe(CHAIN, COUNT, [1], 1), "release is"),
    (lambda: believe(CHAIN, Responses([[0.9, 0.1], [0.1, 0.9]]), 3, 1), "release is 3"),
    (lambda: believe(CHAIN, Responses([[0.9, 0.1], [0.1, 0.9]]), [0, 1], 1), "release: expected 5"),
    (
        lambda: believe(CHAIN, Responses([[0.9, 0.1], [0.1, 0.9]]), [0, 1, 2, 0, 0], 1),
        "release: expected answers of the channel",
    ),
    (
        lambda: attack(bdp.Clusters(3), COUNT, 0, known={1: 0}),
        "record is 0: expected a record with",
    ),
]


@pytest.mark.parametrize(("act", "message"), WRONG)
def test_wrong_arguments_are_named(act: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        act()


def test_impossible_knowledge_is_refused() -> None:
    stuck = bdp.MarkovChain([[1.0, 0.0], [0.5, 0.5]], initial=[0.5, 0.5], length=4)
    with pytest.raises(InputError, match="known: expected states that the records can have"):
        attack(stuck, COUNT, 3, known={1: 0, 2: 1})
    with pytest.raises(InputError, match="known: expected states that the records can have"):
        draw_states(law_of(stuck), 2, {1: 0, 2: 1}, np.random.default_rng(1))


def test_what_is_not_attacked_is_refused() -> None:
    grid = bdp.Graph(grid=[5, 5], states=2, table=[[2.0, 1.0], [1.0, 2.0]])
    with pytest.raises(UnsupportedError, match="no loops, or a joint law of at most"):
        attack(grid, COUNT, 0)
    with pytest.raises(UnsupportedError, match="finitely many states"):
        attack(bdp.Autoregressive(0.5, 4), COUNT, 0)
    with pytest.raises(UnsupportedError, match="multiplications"):
        attack(bdp.MarkovChain(CHAIN.transition, length=90_000), COUNT, 0)
    with pytest.raises(UnsupportedError, match="at most 100000 records"):
        attack(bdp.MarkovChain(CHAIN.transition, length=10**6), COUNT, 0)


def test_known_records_of_a_long_chain_count_for_nothing() -> None:
    """What they add is known, so the sum is as short as the unknown part."""
    known = {j: j % 2 for j in range(3000) if not 1480 < j < 1520}
    seen = attack(bdp.MarkovChain(CHAIN.transition, length=3000), COUNT, 1500, known=known)
    short = attack(bdp.MarkovChain(CHAIN.transition, length=41), COUNT, 20, known={0: 0, 40: 0})
    assert isinstance(seen, RecordAttack)
    assert seen.level == pytest.approx(short.level)


def test_evidence_is_counted() -> None:
    evidence = Evidence([np.ones(2)] * 2, [np.array([-1, 3]), np.array([0, 2])])
    assert (evidence.first, evidence.width) == (-1, 7)
    assert evidence.knowing({1: 1}).width == 5
