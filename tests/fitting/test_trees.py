"""Trees: counts of edges, bounds on the table, and what the population doesn't cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import fit_tree
from bayesdp.fitting.trees import with_a_half
from tests.effort import runs

KERNEL = np.array([[0.9, 0.1], [0.4, 0.6]])


def pedigrees(rng: np.random.Generator, trees: int, memory: float = 0.0) -> pd.DataFrame:
    """Trees of a root, two children and three grandchildren; `memory` of the grandparent."""
    rows: list[tuple[str, str | None, int]] = []
    for t in range(trees):
        states = {"": int(rng.random() < 0.3)}
        rows.append((f"t{t}", None, states[""]))
        for name, above in (("a", ""), ("b", ""), ("aa", "a"), ("ab", "a"), ("ba", "b")):
            chance = KERNEL[states[above], 1]
            if len(name) == 2:
                chance = (1 - memory) * chance + memory * states[""]
            states[name] = int(rng.random() < chance)
            rows.append((f"t{t}{name}", f"t{t}{above}", states[name]))
    frame = pd.DataFrame(rows, columns=["name", "mother", "ill"])
    return frame.sample(frac=1.0, random_state=1)


def test_edges_are_counted_by_the_states_of_their_ends() -> None:
    frame = pedigrees(np.random.default_rng(1), 50)
    fitted = fit_tree(frame, "ill", "name", "mother", states=[0, 1])
    state = dict(zip(frame.name, frame.ill, strict=True))
    counts = np.zeros((2, 2), dtype=int)
    for name, mother in zip(frame.name, frame.mother, strict=True):
        if isinstance(mother, str):
            counts[state[mother], state[name]] += 1
    assert fitted.counts.tolist() == counts.tolist()
    assert (fitted.counts.sum(), fitted.windows.sum(), fitted.roots) == (250, 150, 50)
    np.testing.assert_allclose(fitted.transition, (counts + 0.5) / (counts.sum(1)[:, None] + 1))
    assert (fitted.bounds.lower < fitted.transition).all()
    assert (fitted.transition < fitted.bounds.upper).all()
    assert len(fitted.population.nodes) == 300
    assert {len(n.law or ()) for n in fitted.population.nodes} == {0, 2}
    by_node = {node.name: node for node in fitted.population.nodes}
    assert by_node["t0ab"].parent == "t0a"
    np.testing.assert_allclose(by_node["t0ab"].transition, fitted.transition)


def test_the_population_does_not_cover_its_uncertainty_and_says_so() -> None:
    fitted = fit_tree(
        pedigrees(np.random.default_rng(2), 60), "ill", "name", "mother", states=[0, 1]
    )
    assert "without an allowance for chance" in fitted.population.source
    bounds, grandparents = fitted.diagnostics
    assert not bounds.fits
    assert "no population holds their uncertainty" in bounds.sentence
    assert grandparents.fits
    remembering = pedigrees(np.random.default_rng(3), 300, memory=0.5)
    seen = fit_tree(remembering, "ill", "name", "mother", states=[0, 1]).diagnostics[1]
    assert not seen.fits
    assert "may be too low" in seen.sentence


def test_the_study_has_a_tree_of_its_own() -> None:
    frame = pedigrees(np.random.default_rng(4), 50)
    own = pd.DataFrame({"name": ["x", "y", "z"], "mother": [None, "x", "x"]})
    fitted = fit_tree(frame, "ill", "name", "mother", edges=own, states=[0, 1])
    assert [(n.name, n.parent) for n in fitted.population.nodes] == [
        ("x", None),
        ("y", "x"),
        ("z", "x"),
    ]
    assert fitted.counts.sum() == 250
    assert fitted.population.leakage(0.5).best.epsilon > 0.5


def test_missing_states_are_not_counted() -> None:
    frame = pedigrees(np.random.default_rng(5), 40).astype({"ill": float}).set_index("name")
    whole = fit_tree(frame.reset_index(), "ill", "name", "mother", states=[0, 1])
    frame.loc["t0a", "ill"] = None
    fitted = fit_tree(frame.reset_index(), "ill", "name", "mother", states=[0, 1])
    assert whole.counts.sum() - fitted.counts.sum() == 3
    frame.loc["t1", "ill"] = None
    again = fit_tree(frame.reset_index(), "ill", "name", "mother", where="ill > 0")
    assert (again.counts.sum(), again.roots) == (fitted.counts.sum() - 2, 39)


@pytest.mark.prove
def test_the_bounds_hold_the_table_as_often_as_said() -> None:
    rng, tried, missed = np.random.default_rng(6), runs(60), 0
    for _ in range(tried):
        frame = pedigrees(rng, 20)
        bounds = fit_tree(frame, "ill", "name", "mother", states=[0, 1], confidence=0.8).bounds
        missed += not bool(((bounds.lower <= KERNEL) & (bounds.upper >= KERNEL)).all())
    assert missed <= binom.isf(1e-6, tried, 0.2)


def test_what_cannot_be_fitted_says_why() -> None:
    frame = pedigrees(np.random.default_rng(7), 5)
    with pytest.raises(InputError, match="another column"):
        fit_tree(frame, "ill", "name", "name", states=[0, 1])
    with pytest.raises(InputError, match="a name of its own"):
        fit_tree(pd.concat([frame, frame.head(1)]), "ill", "name", "mother", states=[0, 1])
    with pytest.raises(InputError, match="has a state: "):
        fit_tree(frame, "ill", "name", "mother", states=[0, 2])
    with pytest.raises(UnsupportedError, match="two ends"):
        fit_tree(frame[frame.mother.isna()], "ill", "name", "mother", states=[0, 1])
    lost = frame.replace({"mother": {"t0a": "nobody"}})
    with pytest.raises(InputError, match="the name of a node"):
        fit_tree(lost, "ill", "name", "mother", states=[0, 1])


def test_no_value_is_taken_for_impossible() -> None:
    assert with_a_half(np.array([[3, 0], [0, 0]])).tolist() == [[0.875, 0.125], [0.5, 0.5]]
