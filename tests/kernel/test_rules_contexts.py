"""The kernel's rule for order-k chains against any adversary: what its witness must be."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.kernel import InvalidError, certified_level
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems import Question, report
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


@pytest.mark.parametrize("side", [0, 1])
def test_every_matrix_counts(step: dict[str, Any], side: int) -> None:
    """One matrix of zeros says that beyond this context nothing depends on the tuple."""
    for place in range(len(details_of(step)["closed"][side])):

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
    refused(step, with_words(lambda w: [*w, w[-1]]), "not words")
    refused(step, with_words(lambda w: []), "cover|empty|not")


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
        ("initial", [[0.25, 0.25], [0.25, 0.25]], "another start"),
        ("transition", [[[0.6, 0.4], [0.45, 0.55]], [[0.5, 0.5], [0.0, 1.0]]], "is 0"),
        ("transition", [[[0.25, 0.25, 0.5]] * 3] * 3, "3 states"),
    ],
)
def test_other_chains_are_refused(step: dict[str, Any], key: str, value: Any, match: str) -> None:
    def other(changed: dict[str, Any]) -> None:
        changed["evidence"]["population"][key] = value

    refused(step, other, match)


def test_a_chain_of_order_1_is_refused(step: dict[str, Any]) -> None:
    def first(changed: dict[str, Any]) -> None:
        changed["evidence"]["population"] |= {"transition": [[0.6, 0.4], [0.3, 0.7]], "order": 1}

    refused(step, first, "higher order")
