"""The kernel's rule for two-state chains between bounds: what it proves and what it refuses."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from bayesdp.kernel import InvalidError, certified_level
from bayesdp.kernel.arithmetic import ball
from bayesdp.kernel.rules import markov_intervals as rule
from bayesdp.leakage.deadline import NEVER
from bayesdp.leakage.intervals import _Kind, _Recursion
from bayesdp.notions import Cost
from bayesdp.populations import MarkovChain
from bayesdp.theorems import Question, report
from tests.effort import runs
from tests.kernel.steps import bare, make_step
from tests.leakage.test_intervals import LONG, member, member_level, random_box

RULE = "markov-intervals"
BOXES = {
    "positive": (0.05, 0.055, 0.11, 0.12),
    "negative": (0.8, 0.85, 0.7, 0.9),
    "both": (0.3, 0.8, 0.2, 0.9),
}

STAYS = [0.125, 0.875]


@pytest.fixture(autouse=True)
def _few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is refused sooner."""
    monkeypatch.setattr(rule, "MOST_CELLS", 130)


def between(box: tuple[float, ...]) -> MarkovChain:
    low_a, high_a, low_b, high_b = box
    return MarkovChain(
        transition_lower=[[1 - high_a, low_a], [low_b, 1 - high_b]],
        transition_upper=[[1 - low_a, high_a], [high_b, 1 - low_b]],
        length=1000,
    )


def honest(box: tuple[float, ...], dp_epsilon: float, adversary: Any = "any") -> dict[str, Any]:
    population, cost = between(box), Cost(any=dp_epsilon)
    bounds = report(Question(population, adversary, seconds=60.0), cost).bounds
    bound = next(bound for bound in bounds if bound.theorem == RULE)
    details = dict(bound.evidence)
    return make_step(
        RULE,
        bare(population),
        cost,
        adversary=adversary,
        epsilon=bound.epsilon,
        details=details,
    )


def with_target(step: dict[str, Any], level: float) -> dict[str, Any]:
    changed = copy.deepcopy(step)
    changed["evidence"]["details"]["target"] = level
    return changed


@pytest.mark.parametrize("adversary", ["any", "uninformed"])
@pytest.mark.parametrize("dp_epsilon", [1e-6, 0.5, 3.0])
@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_the_engine_s_level_is_proved_and_no_lower_one(
    box: tuple[float, ...], dp_epsilon: float, adversary: str
) -> None:
    step = honest(box, dp_epsilon, adversary)
    claimed = step["conclusion"]["epsilon"]
    assert certified_level(step) == pytest.approx(claimed, rel=1e-12)
    with pytest.raises(InvalidError, match="may be above it"):
        certified_level(with_target(step, claimed * (1 - 3e-5)))


def test_nothing_below_a_chain_of_the_box_is_proved() -> None:
    """By the exact level of chains inside: whatever target lies below them is refused."""
    rng = np.random.default_rng(15)
    for _ in range(runs(200)):
        box, uninformed = random_box(rng), bool(rng.integers(2))
        dp_epsilon = math.exp(rng.uniform(-4.0, 1.5))
        truth = max(
            member_level(*member(rng, box), dp_epsilon, uninformed, int(rng.choice([3, 10, LONG])))
            for _ in range(4)
        )
        step = make_step(
            RULE,
            bare(between(box)),
            Cost(any=dp_epsilon),
            adversary="uninformed" if uninformed else "any",
            details={"target": truth * (1 - 1e-6)},
        )
        with pytest.raises(InvalidError, match="may be above it"):
            certified_level(step)


def test_a_target_below_the_cost_or_none_is_refused() -> None:
    step = honest(BOXES["positive"], 0.5)
    for level in (0.0, 0.4, 0.5):
        with pytest.raises(InvalidError, match="may be above it"):
            certified_level(with_target(step, level))
    del step["evidence"]["details"]["target"]
    with pytest.raises(InvalidError, match="not a finite number"):
        certified_level(step)


def test_a_level_for_uninformed_adversaries_is_not_one_for_all() -> None:
    step = honest(BOXES["positive"], 1.0, "uninformed")
    step["conclusion"]["adversary"] = "any"
    with pytest.raises(InvalidError, match="may be above it"):
        certified_level(step)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"initial": [0.5, 0.5]}, "starts otherwise"),
        ({"transition_lower": [[0.2] * 3] * 3, "transition_upper": [[0.5] * 3] * 3}, "3 states"),
        (
            {"transition_lower": [[0.5, 0.0], STAYS], "transition_upper": [[1.0, 0.5], STAYS]},
            "probability 0",
        ),
        (
            {"transition_lower": [[0.5, 0.01], STAYS], "transition_upper": [[0.99, 0.5], STAYS]},
            "may be above it",
        ),
        (
            {
                "order": 2,
                "transition_lower": [[[0.4] * 2] * 2] * 2,
                "transition_upper": [[[0.6] * 2] * 2] * 2,
            },
            "order 1",
        ),
    ],
)
def test_other_populations_are_refused(changes: dict[str, Any], match: str) -> None:
    step = honest(BOXES["positive"], 0.5)
    step["evidence"]["population"] |= changes
    with pytest.raises(InvalidError, match=match):
        certified_level(step)


def test_a_chain_of_one_law_is_refused() -> None:
    chain = MarkovChain(transition=[[0.9, 0.1], [0.2, 0.8]], length=9)
    step = make_step(RULE, bare(chain), Cost(any=0.5), details={"target": 100.0})
    with pytest.raises(InvalidError, match="between bounds"):
        certified_level(step)


def test_a_run_above_the_pair_that_closes_is_not_closed() -> None:
    """Of negative chains each entry comes from the other, so both of a run must lie below."""
    kind = rule._Kind((Fraction(9, 10), Fraction(3, 5)), None, ball(Fraction(1)))
    bound, below = arb(6), (arb(0), arb(0))
    assert kind._closes(bound, [below, below], arb(1))
    for above in ((bound, bound), (bound * 2, arb(0)), (arb(0), bound * 2)):
        assert not kind._closes(bound, [below, above], arb(1))
        engine = _Recursion(_Kind(False, (0.9, 0.6), None), math.log(2.0), False, NEVER)
        assert engine._closes(6.0, (0.0, 0.0), 1.0)
        assert not engine._closes(6.0, (float(above[0]), float(above[1])), 1.0)
