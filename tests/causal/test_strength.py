"""The figure: its numbers, both ends, and its drawing; the examples of the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from bayesdp.causal import CausalModel, Strengths, strengths, weakened
from bayesdp.errors import InputError
from bayesdp.report.figures import seeing_and_doing
from tests.causal.models import random_channel, random_model
from tests.effort import runs

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = ("relatives", "household", "meter")


def test_from_independent_relatives_to_identical_ones() -> None:
    """`do` is 1 throughout, `see` rises from 1 to 3."""
    actual = strengths(CausalModel.load(str(DOCS / "examples" / "relatives.toml")))
    assert actual.dp_epsilon == 1.0
    assert actual.strengths[0] == 0.0
    assert actual.strengths[-1] == 1.0
    assert actual.do == pytest.approx([1.0] * len(actual.do), abs=1e-12)
    assert actual.see[0] == pytest.approx(1.0, abs=1e-12)
    assert actual.see[-1] == pytest.approx(3.0, abs=1e-12)
    assert all(a < b for a, b in zip(actual.see, actual.see[1:], strict=False))


def test_the_figure_of_the_page_is_this_one() -> None:
    model = CausalModel.load(str(DOCS / "examples" / "relatives.toml"))
    drawn = seeing_and_doing(strengths(model))
    assert (DOCS / "seeing-and-doing.svg").read_text(encoding="utf-8") == drawn
    lines = {
        item.get("class"): np.array(
            [[float(c) for c in p.split(",")] for p in item.get("points").split()]
        )
        for item in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}polyline")
    }
    zero = 340.0
    ratio = (zero - lines["see"][-1, 1]) / (zero - lines["do"][-1, 1])
    assert ratio == pytest.approx(3.0, abs=0.01)
    assert lines["see"][0] == pytest.approx(lines["do"][0])
    assert np.ptp(lines["do"][:, 1]) == 0.0
    assert "learning it: 3.000" in drawn
    assert "setting it: 1.000" in drawn


def test_a_figure_keeps_its_labels_apart_and_its_names_harmless() -> None:
    same = Strengths("<b>&" + "x" * 60, 1.0, (0.0, 1.0), (1.0, 1.0), (1.0, 1.0))
    drawn = seeing_and_doing(same)
    assert "<b>" not in drawn
    places = {
        item.get("class"): float(item.get("y"))
        for item in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
        if item.get("class") in ("seen", "done")
    }
    assert abs(places["seen"] - places["done"]) >= 33.0
    seeing_and_doing(Strengths("x", 0.0, (0.0, 1.0), (0.0, 0.0), (0.0, 0.0)))
    with pytest.raises(InputError, match="finite levels"):
        seeing_and_doing(Strengths("x", float("inf"), (0.0,), (1.0,), (1.0,)))


@pytest.mark.prove
def test_weakening_keeps_each_law_and_scales_what_two_share() -> None:
    rng = np.random.default_rng(61)
    for _ in range(runs(100)):
        model = random_model(rng)
        full = model.population().array
        strength = float(rng.random())
        less = weakened(model, strength).population().array
        for i, j in ((0, 1), (1, 2), (0, 2)):
            (rest,) = {0, 1, 2} - {i, j}
            pairs = [joint.sum(axis=rest) for joint in (full, less)]
            products = [np.outer(pair.sum(axis=1), pair.sum(axis=0)) for pair in pairs]
            assert products[1] == pytest.approx(products[0], abs=1e-12)
            assert pairs[1] - products[1] == pytest.approx(
                strength * (pairs[0] - products[0]), abs=1e-12
            )
        channel = random_channel(rng, model.sizes)
        loose = weakened(model, 0.0)
        assert loose.see(channel).epsilon == pytest.approx(loose.do(channel).epsilon, abs=1e-9) or (
            loose.see(channel).impossible
        )
        assert weakened(model, 1.0).population().array == pytest.approx(full, abs=1e-12)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="strength"):
            weakened(model, wrong)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    """Each is a model whose records DP protects, and whose page says the same as its file."""
    model = CausalModel.load(str(DOCS / "examples" / f"{name}.toml"))
    both = model.compare()
    assert [item.epsilon for item in both.do] == pytest.approx([1.0] * len(both.do), abs=1e-10)
    assert all(item.epsilon > 1.5 for item in both.see)
    page = (DOCS / "causality.md").read_text(encoding="utf-8")
    shown = re.search(rf"```toml {name}\.toml\n(.*?)```", page, re.S)
    if shown is not None:
        assert shown.group(1) == (DOCS / "examples" / f"{name}.toml").read_text(encoding="utf-8")
    else:
        assert name == "meter"
        assert model.see(record="activity 12:00").epsilon == pytest.approx(1.8989, abs=5e-5)
        assert model.see(record="reading 12:00").epsilon == pytest.approx(2.0308, abs=5e-5)
