"""The kernel's rule for order-k chains against any adversary: what its witness must be."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from bayesdp import kernel
from bayesdp.kernel import InvalidError, certified_level
from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.models.chains import stationary
from bayesdp.kernel.models.orders import tuple_kernel
from bayesdp.kernel.rules import markov_contexts as rule
from bayesdp.leakage import context_levels, contexts
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems import Question, report
from tests.effort import in_full, runs
from tests.kernel.steps import bare, make_step

MILD = [[[0.6, 0.4], [0.45, 0.55]], [[0.5, 0.5], [0.3, 0.7]]]
DEEP = [[[[0.55, 0.45], [0.5, 0.5]], [[0.5, 0.5], [0.45, 0.55]]]] * 2
RULE = "markov-contexts"


def honest(transition: Any = MILD, order: int = 2, dp_epsilon: float = 0.5) -> dict[str, Any]:
    population = MarkovChain(transition=transition, order=order, length=1000)
    cost = Cost(any=dp_epsilon)
    bounds = report(Question(population, seconds=60.0), cost).bounds
    bound = next(bound for bound in bounds if bound.theorem == RULE)
    details = {name: bound.evidence[name] for name in kernel.DETAILS[RULE]}
    details = json.loads(json.dumps(details))
    return make_step(RULE, bare(population), cost, epsilon=bound.epsilon, details=details)


@pytest.fixture(scope="module")
def step() -> dict[str, Any]:
    return honest()


@pytest.mark.parametrize(("transition", "order"), [(MILD, 2), (DEEP, 3)])
@pytest.mark.parametrize("dp_epsilon", [1e-6, 0.5, 3.0])
def test_the_honest_witness_proves_the_level(
    transition: Any, order: int, dp_epsilon: float
) -> None:
    honest_step = honest(transition, order, dp_epsilon)
    claimed = honest_step["conclusion"]["epsilon"]
    assert certified_level(honest_step) == pytest.approx(claimed, rel=1e-12)


def refused(step: dict[str, Any], change: Callable[[dict[str, Any]], None], match: str) -> None:
    changed = copy.deepcopy(step)
    change(changed)
    with pytest.raises(InvalidError, match=match):
        certified_level(changed)


def details_of(step: dict[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = step["evidence"]["details"]
    return details


def test_a_lower_target_is_refused(step: dict[str, Any]) -> None:
    def lower(changed: dict[str, Any]) -> None:
        details_of(changed)["target"] *= 0.999

    refused(step, lower, "are above it")


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("side", [0, 1])
def test_lower_matrices_are_refused(step: dict[str, Any], side: int, factor: float) -> None:
    def lower(changed: dict[str, Any]) -> None:
        closed = details_of(changed)["closed"]
        closed[side] = [[entry * factor for entry in matrix] for matrix in closed[side]]

    refused(step, lower, "a step raises it")


@pytest.mark.prove
@pytest.mark.parametrize("side", [0, 1])
def test_every_matrix_counts(side: int, request: pytest.FixtureRequest) -> None:
    """One matrix of zeros says that beyond this context nothing depends on the tuple."""
    if not in_full():
        request.getfixturevalue("very_few_contexts")
    step = honest()
    count = len(details_of(step)["closed"][side])
    assert count >= 3
    for place in range(count):

        def lower(changed: dict[str, Any], place: int = place) -> None:
            closed = details_of(changed)["closed"]
            closed[side][place] = [0.0] * len(closed[side][place])

        refused(step, lower, "a step raises it|are above it")


def test_contexts_must_cover_what_can_be_known_once(step: dict[str, Any]) -> None:
    def with_words(words: Callable[[list[str]], list[str]]) -> Callable[[dict[str, Any]], None]:
        def change(changed: dict[str, Any]) -> None:
            details = details_of(changed)
            details["contexts"][0] = words(details["contexts"][0])

        return change

    known = [word for word in details_of(step)["contexts"][0] if word[0] != "*"]
    for word in known:
        refused(step, with_words(lambda w, x=word: [v for v in w if v != x]), "cover")
    refused(step, with_words(lambda w: [*w, w[-1] + "0"]), "cover")
    refused(step, with_words(lambda w: [*w, w[-1]]), "there twice")
    refused(step, with_words(lambda w: []), "cover")


@pytest.mark.parametrize("name", ["contexts", "closed"])
@pytest.mark.parametrize("sides", [0, 1, 3])
def test_a_witness_says_something_of_both_sides(
    step: dict[str, Any], name: str, sides: int
) -> None:
    def fewer(changed: dict[str, Any]) -> None:
        details_of(changed)[name] = (details_of(changed)[name] * 2)[:sides]

    refused(step, fewer, f"{sides} lists")


@pytest.mark.parametrize("name", ["contexts", "closed", "target"])
def test_a_part_of_the_witness_that_is_not_there_is_refused(
    step: dict[str, Any], name: str
) -> None:
    def without(changed: dict[str, Any]) -> None:
        del details_of(changed)[name]

    refused(step, without, "0 lists|not a finite number")


def test_intervals_are_refused(step: dict[str, Any]) -> None:
    def between(changed: dict[str, Any]) -> None:
        population = changed["evidence"]["population"]
        table = population.pop("transition")
        population |= {"transition_lower": table, "transition_upper": table}

    refused(step, between, "higher order")


def test_a_level_at_a_higher_cost_or_of_a_stickier_chain_is_refused(step: dict[str, Any]) -> None:
    def dearer(changed: dict[str, Any]) -> None:
        changed["evidence"]["cost"]["any"] *= 1.05

    def stickier(changed: dict[str, Any]) -> None:
        changed["evidence"]["population"]["transition"][1][1] = [0.2, 0.8]

    refused(step, dearer, "a step raises it|are above it")
    refused(step, stickier, "a step raises it|are above it")


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("initial", [[0.25, 0.25], [0.25, 0.25]], "starts otherwise"),
        ("transition", [[[0.6, 0.4], [0.45, 0.55]], [[0.5, 0.5], [0.0, 1.0]]], "is 0"),
        ("transition", [[[0.25, 0.25, 0.5]] * 3] * 3, "3 states"),
    ],
)
def test_other_chains_are_refused(step: dict[str, Any], key: str, value: Any, match: str) -> None:
    def other(changed: dict[str, Any]) -> None:
        changed["evidence"]["population"][key] = value

    refused(step, other, match)


def test_too_many_tuples_are_not_tried(step: dict[str, Any]) -> None:
    def longer(changed: dict[str, Any]) -> None:
        table = np.full((2,) * 9, 0.5).tolist()
        changed["evidence"]["population"] |= {"transition": table, "order": 8}

    refused(step, longer, "256 tuples would take too long")


def test_a_chain_of_order_1_is_refused(step: dict[str, Any]) -> None:
    def first(changed: dict[str, Any]) -> None:
        changed["evidence"]["population"] |= {"transition": [[0.6, 0.4], [0.3, 0.7]], "order": 1}

    refused(step, first, "higher order")


# ------------------------------------------------------ beside the engine, which uses doubles


def random_rows(rng: np.random.Generator, order: int) -> np.ndarray:
    ones = rng.uniform(0.2, 0.8, 2**order)
    return np.stack([1.0 - ones, ones], axis=-1).reshape((2,) * (order + 1))


def both_sides(table: np.ndarray, factor: arb) -> tuple[contexts.Sides, list[rule.Side]]:
    """The sides of a chain by the engine and by the rule, with the same contexts."""
    sides = contexts.sides_of(table)
    assert sides is not None
    rows = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in table.reshape(-1, 2)]
    law = stationary(tuple_kernel(rows))
    tables = rows, rule.backwards(rows, law)
    words = (list(side[-1].words) for side in (sides.right, sides.left))
    return sides, [rule.Side(t, w, factor) for t, w in zip(tables, words, strict=True)]


@pytest.fixture
def very_few_contexts(few_contexts: None) -> Iterator[None]:
    """Put back before `few_contexts` is: the fixture `monkeypatch` may be undone later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "MOST_CONTEXTS", 13)
        patch.setattr(contexts, "_FEWER", (9,))
        yield


@pytest.mark.usefixtures("very_few_contexts")
@pytest.mark.parametrize("order", [2, 3])
def test_a_step_and_a_pair_of_contexts_are_those_of_the_engine(order: int) -> None:
    """Every entry of a step from any matrices, and the level of every pair of beginnings."""
    rng = np.random.default_rng(order)
    for _ in range(runs(40, least=3)):
        table = random_rows(rng, order)
        dp_epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        factor = ball(Fraction(dp_epsilon)).exp()
        sides, ruled = both_sides(table, factor)
        count = 2**order
        known = []
        for (*_, engine), side in zip((sides.right, sides.left), ruled, strict=True):
            size = len(side.unknown_first)
            assert size == len(engine.unknown_first)
            logs = rng.uniform(0.0, 1.5, (size, count, count)) * (1.0 - np.eye(count))
            recursion = context_levels.Recursion(engine, dp_epsilon)
            given = np.moveaxis(np.exp(logs), 0, -1)  # the engine's contexts are on the last axis
            expected = np.moveaxis(np.log(recursion(given)), -1, 0)
            step = side.step([ball(Fraction(x)) for x in logs.ravel()])
            assert np.array([float(x.mid()) for x in step]).reshape(logs.shape) == pytest.approx(
                expected, abs=1e-11
            )
            for word, cone in zip(engine.words, np.moveaxis(engine.cones, -1, 0), strict=True):
                ours = np.array([[float(x.mid()) for x in row] for row in side.cone(word)])
                # The engine narrows its cone of all evidence further.
                assert (ours >= cone * (1.0 - 1e-11)).all()
                if len(word.rstrip("*")) >= order:
                    assert ours == pytest.approx(cone, rel=1e-11)
            side.matrices = side._known([ball(Fraction(x)) for x in logs.ravel()])
            known.append(recursion.known(given))
        pair = context_levels.Target(sides, known, dp_epsilon)
        law = [Fraction(x) for x in sides.law]
        target = rule.Target(ruled, law, factor)
        pairs = list(product(pair.right.places, pair.left.places))
        for right, left in (
            pairs if in_full() else pairs[::3]
        ):  # of 3 s + 1 on either side, so each occurs
            level = pair._levels([(pair.right.places[right], pair.left.places[left])])[0]
            ratio = target.ratio(right, left) * factor
            assert float(ratio.log().mid()) == pytest.approx(level, abs=1e-9)
