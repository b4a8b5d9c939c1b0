"""Order-k chains, any adversary: the recursion over contexts against brute force and vectors."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from bayesdp.leakage import contexts
from bayesdp.leakage.context_levels import context_level
from bayesdp.leakage.contexts import SYMBOLS, Side, pushed, sides_of
from bayesdp.leakage.deadline import Deadline, OutOfTimeError
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems import REGISTRY, Question
from tests.effort import in_full, runs
from tests.oracles import chains, finite
from tests.theorems.test_vectors import vectors

ANY = vectors("order2_any.json")
ACTIVITY = next(v for v in ANY if v["name"] == "activity")["population"]["transition"]
MILD = [[[0.6, 0.4], [0.45, 0.55]], [[0.5, 0.5], [0.3, 0.7]]]
BELOW = 1e-9


def random_table(rng: np.random.Generator, order: int) -> np.ndarray:
    logits = rng.normal(size=2**order) * rng.choice([0.5, 1.5, 4.0])
    ones = np.clip(1.0 / (1.0 + np.exp(-logits)), 1e-3, 1.0 - 1e-3)
    return np.stack([1.0 - ones, ones], axis=-1).reshape((2,) * (order + 1))


def side(table: Any) -> Side:
    sides = sides_of(np.array(table))
    assert sides is not None
    return sides.right[-1]


def likelihoods(rows: np.ndarray, known: str) -> np.ndarray:
    """The probability of the known records after each tuple, by sums over all next records."""
    count = len(rows)
    if not known:
        return np.ones(count)
    beyond = likelihoods(rows, known[1:])
    values = [int(known[0])] if known[0] != "*" else [0, 1]
    return np.array(
        [sum(rows[u, y] * beyond[(2 * u + y) % count] for y in values) for u in range(count)]
    )


@pytest.mark.parametrize("name", sorted({v["name"] for v in ANY}))
def test_the_reference_values(name: str) -> None:
    cases = [v for v in ANY if v["name"] == name]
    sides = sides_of(np.array(cases[0]["population"]["transition"]))
    assert sides is not None
    for vector in cases:
        level = context_level(sides, vector["dp_epsilon"])
        assert level is not None
        # The recursion is solved from above, so nothing sharp is far below the reference either.
        assert 0.99 * vector["contexts"] <= level.epsilon <= vector["at_most"], vector["dp_epsilon"]


@pytest.mark.parametrize(("order", "longest", "full"), [(2, 5, 200), (3, 5, 60)])
def test_never_below_the_search_over_all_mechanisms(
    order: int, longest: int, full: int, request: pytest.FixtureRequest
) -> None:
    if not in_full():
        request.getfixturevalue("few_contexts")
    rng = np.random.default_rng(order)
    for _ in range(runs(full, least=4)):
        table, length = random_table(rng, order), int(rng.integers(order + 1, longest + 1))
        dp_epsilon = math.exp(rng.uniform(-4.0, 1.5))
        sides = sides_of(table)
        level = None if sides is None else context_level(sides, dp_epsilon)
        if level is None:
            continue
        joint = chains.joint(table, "stationary", length)
        truth = finite.worst_case(joint, dp_epsilon, "any").level
        assert level.epsilon >= truth - BELOW, (table.tolist(), length, dp_epsilon)


def test_independent_records_leak_nothing_more() -> None:
    sides = sides_of(np.full((2, 2, 2), 0.5))
    assert sides is not None
    level = context_level(sides, 0.7)
    assert level is not None
    assert 0.7 <= level.epsilon <= 0.7 * (1 + 1e-6)


@pytest.mark.parametrize("table", [MILD, ACTIVITY])
def test_every_evidence_lies_in_the_cone_of_its_context(table: Any) -> None:
    here = side(table)
    rng = np.random.default_rng(5)
    for word in rng.choice(here.words, 12):
        cone = here.cones[..., here.words.index(word)]
        for _ in range(10):
            beyond = "".join(rng.choice(list(SYMBOLS), rng.integers(0, 6)))
            h = likelihoods(here.rows, word + beyond)
            assert (h[:, None] / h <= cone * (1 + 1e-12)).all(), (word, beyond)


def test_contexts_cover_all_that_can_be_known_once() -> None:
    here = side(ACTIVITY)
    words = set(here.words)
    longest = max(map(len, words))
    rng = np.random.default_rng(6)
    for _ in range(200):
        known = "".join(rng.choice(list(SYMBOLS), longest))
        assert sum(known.startswith(word) for word in words) == 1
    assert here.tolerance <= contexts.TOLERANCE


def test_a_known_record_before_evidence_is_weighed_with_its_probability() -> None:
    rows = np.array(MILD).reshape(4, 2)
    free = np.ones((4, 4))
    for y, (u, v) in product(range(2), product(range(4), repeat=2)):
        expected = rows[u, y] / rows[v, y]
        assert pushed(free, str(y), rows, 1.0)[u, v] == pytest.approx(expected, rel=1e-12)
    assert pushed(free, "*", rows, 1.0) == pytest.approx(np.ones((4, 4)))


def test_a_chain_that_remembers_gets_no_level_and_no_time_is_no_level() -> None:
    assert sides_of(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])) is None
    sides = sides_of(np.array(MILD))
    assert sides is not None
    with pytest.raises(OutOfTimeError):
        context_level(sides, 1.0, Deadline(0.0))


def test_without_time_there_are_fewer_contexts_and_nothing_worse_than_ten_percent() -> None:
    chain = MarkovChain(ACTIVITY, order=2, length=1000)
    (theorem,) = (theorem for theorem in REGISTRY if theorem.name == "markov-contexts")
    cost = Cost.of(0.3, "any")
    quick = theorem.bound(Question(chain, deadline=Deadline(0.0)), cost)
    whole = theorem.bound(Question(chain), cost)
    assert whole.epsilon < quick.epsilon < 1.1 * whole.epsilon
    assert len(quick.evidence["contexts"][0]) <= 200 < len(whole.evidence["contexts"][0])
    third = MarkovChain(np.full((2,) * 4, 0.5).tolist(), order=3, length=1000)
    with pytest.raises(OutOfTimeError):
        theorem.bound(Question(third, deadline=Deadline(0.0)), cost)
    # What was answered in a hurry is not kept for those who have time.
    assert theorem.bound(Question(chain), cost).epsilon == whole.epsilon


def test_a_finer_tolerance_is_never_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = []
    for tolerance in (0.5, 0.1, 0.02):
        monkeypatch.setattr(contexts, "TOLERANCE", tolerance)
        sides = sides_of(np.array(ACTIVITY))
        assert sides is not None
        level = context_level(sides, 1.0)
        assert level is not None
        assert level.tolerance <= tolerance
        levels.append(level.epsilon)
    assert levels[0] > levels[1] > levels[2]
