"""The definitions of the SoK: each arrow on random models, and the arrows that aren't there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bayesdp.causal import CausalModel, weakened
from tests.causal.models import random_channel, random_model, relatives
from tests.effort import runs
from tests.oracles import causal as oracle
from tests.oracles import finite
from tests.oracles.causal_definitions import (
    DEFINITIONS,
    IMPLICATIONS,
    MISSING,
    Implication,
    Missing,
    definition,
    diagram,
    levels,
)

PAGE = Path(__file__).parents[2] / "docs" / "causality.md"
NAMES = [definition.name for definition in DEFINITIONS]


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES)
def test_no_model_exceeds_the_level_and_one_reaches_it(name: str) -> None:
    """So `everywhere` is the sup over all populations: the least level that a definition has."""
    rng = np.random.default_rng(57)
    item = definition(name)
    for _ in range(runs(300)):
        model = random_model(rng, records=int(rng.integers(1, 4)))
        channel = random_channel(rng, model.sizes)
        level = item.everywhere(channel)
        assert item.here(model, channel) <= level + 1e-9
        assert item.here(item.worst(channel), channel) == pytest.approx(level, abs=1e-9)


@pytest.mark.prove
@pytest.mark.parametrize("arrow", IMPLICATIONS, ids=lambda a: f"{a.given}-to-{a.gives}")
def test_an_arrow_holds(arrow: Implication) -> None:
    """In the worst model of what follows, and in random ones, against the level of what is given.

    The given level is taken from the formula in *its* worst model, so both ends are computed by
    seeing and doing and not by the closed forms.
    """
    rng = np.random.default_rng(58)
    given, gives = definition(arrow.given), definition(arrow.gives)
    reached = 0
    for _ in range(runs(300)):
        model = random_model(rng, records=int(rng.integers(1, 4)))
        channel = random_channel(rng, model.sizes)
        factor = len(model.sizes) if arrow.times_records else 1
        level = given.here(given.worst(channel), channel)
        most = max(gives.here(model, channel), gives.here(gives.worst(channel), channel))
        assert most <= factor * level + 1e-9
        reached += level > 0.0 and (most == level or most >= factor * level - 1e-9)
    assert reached  # the arrow's constant can't be lowered


def test_group_privacy_is_reached_by_a_count() -> None:
    model = relatives(3)
    both = levels(model)
    assert both["bayesian0"] == pytest.approx(3 * both["dp"], abs=1e-12)


@pytest.mark.prove
def test_dp_is_what_the_brute_force_says() -> None:
    rng = np.random.default_rng(59)
    for _ in range(runs(100)):
        channel = random_channel(rng, tuple(int(k) for k in rng.integers(1, 4, size=3)))
        for name in ("dp", "strong-adversary", "data-point-intervention"):
            assert definition(name).everywhere(channel) == pytest.approx(
                finite.dp_level(channel), abs=1e-12
            )


@pytest.mark.prove
def test_the_strong_adversary_is_the_informed_one() -> None:
    rng = np.random.default_rng(60)
    item = definition("strong-adversary")
    for _ in range(runs(200)):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        truth = finite.leakage(model.population().array, channel, "informed")[0]
        assert item.here(model, channel) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("gap", MISSING, ids=lambda g: f"{g.given}-not-{g.gives}")
def test_an_arrow_that_is_not_there(gap: Missing) -> None:
    if gap.gives == "bayesian0":
        model = relatives(3)
    else:
        flip = [[0.9, 0.1], [0.1, 0.9]]
        model = CausalModel(
            nodes=[
                {"name": "a", "role": "attribute", "states": 2, "table": [0.5, 0.5]},
                {"name": "b", "role": "attribute", "states": 2, "parents": ["a"], "table": flip},
                {"name": "x", "role": "data", "parents": ["a"]},
                {"name": "y", "role": "data", "parents": ["b"]},
            ],
            mechanism={"count": "1", "epsilon": 1.0},
        )
    reached = levels(model)
    assert reached[gap.given] == pytest.approx(gap.given_level, abs=1e-12)
    assert reached[gap.gives] == pytest.approx(gap.gives_level, abs=1e-12)
    assert gap.gives_level > gap.given_level
    pairs = {(arrow.given, arrow.gives) for arrow in IMPLICATIONS if not arrow.times_records}
    assert (gap.given, gap.gives) not in pairs


def test_independence_given_the_others_is_not_enough() -> None:
    """X1 = X2 = X3 passes the condition as it is printed, and a 1-DP count leaks 3."""
    model = relatives(3)
    joint = model.population().array
    assert oracle.conditionally_independent(joint)
    assert not oracle.mutually_independent(joint)
    assert model.compare().dp_epsilon == 1.0
    assert model.see().epsilon == pytest.approx(3.0, abs=1e-12)
    # Mutual independence is what the implication needs, and what the definition here asks for.
    reached = levels(model)
    assert reached["independent-bayesian0"] == pytest.approx(1.0, abs=1e-12)
    assert oracle.mutually_independent(weakened(model, 0.0).population().array)


def test_one_population_says_nothing_about_others() -> None:
    """Arrows back from one model: none of the levels in one population bounds DP."""
    certain = CausalModel(
        nodes=[
            {"name": "a", "role": "attribute", "states": 2, "table": [1.0, 0.0]},
            {"name": "x", "role": "data", "parents": ["a"]},
            {"name": "y", "role": "data", "states": 2, "table": [0.5, 0.5]},
        ]
    )
    xor = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]
    reached = levels(certain, xor)
    assert reached["dp"] == pytest.approx(math.log(9.0))
    assert certain.see(xor, "x").epsilon == 0.0
    assert certain.do(xor, "x").epsilon == pytest.approx(0.0, abs=1e-12)


def test_every_arrow_is_between_definitions_and_says_why() -> None:
    for arrow in (*IMPLICATIONS, *MISSING):
        assert arrow.given in NAMES
        assert arrow.gives in NAMES
    assert all(arrow.why for arrow in IMPLICATIONS)
    assert len(set(NAMES)) == len(NAMES)
    with pytest.raises(KeyError):
        definition("none")


def test_the_lattice_is_drawn_in_the_documentation() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert diagram() in page
    for item in DEFINITIONS:
        formula = item.formula.replace("|", r"\|")
        assert f"| {item.title} | {item.reading} | `{formula}` |" in page
    for arrow in IMPLICATIONS:
        times = ", at n times the level" if arrow.times_records else ""
        ends = f"| {definition(arrow.given).title} | {definition(arrow.gives).title}{times} |"
        assert f"{ends} {arrow.why} |" in page
    for gap in MISSING:
        ends = f"| {definition(gap.given).title} | {definition(gap.gives).title} |"
        assert f"{ends} {gap.case}: {gap.given_level:g} and {gap.gives_level:.4f} |" in page
