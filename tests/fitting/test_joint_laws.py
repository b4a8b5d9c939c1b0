"""Joint laws of clusters: counts, bounds that hold the law, and the level of what is declared."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import fit_finite
from bayesdp.fitting.regions import probability_interval
from tests.effort import runs
from tests.oracles.finite import worst_case

PAIR = np.array([[0.7, 0.05], [0.05, 0.2]])
ROLES = np.array([[0.6, 0.15, 0.05], [0.02, 0.08, 0.1]])


def clusters(rng: np.random.Generator, law: np.ndarray, count: int) -> pd.DataFrame:
    """Clusters of this law, a row for each record, in some order of the rows."""
    drawn = rng.choice(law.size, size=count, p=law.ravel())
    cells = np.stack(np.unravel_index(drawn, law.shape), axis=1)
    frame = pd.DataFrame(
        {
            "cluster": np.repeat([f"c{i}" for i in range(count)], law.ndim),
            "role": np.tile(list("abcdef"[: law.ndim]), count),
            "x": cells.ravel(),
        }
    )
    return frame.sample(frac=1.0, random_state=1)


def test_a_cluster_counts_by_its_states() -> None:
    rng = np.random.default_rng(1)
    frame = clusters(rng, PAIR, 200)
    wide = frame.pivot(index="cluster", columns="role", values="x")
    by_role = fit_finite(frame, "x", "cluster", states=[0, 1], role="role")
    for i in (0, 1):
        for j in (0, 1):
            assert by_role.counts[i, j] == ((wide.a == i) & (wide.b == j)).sum()
    exchangeable = fit_finite(frame, "x", "cluster", states=[0, 1])
    both = by_role.counts[0, 1] + by_role.counts[1, 0]
    assert exchangeable.counts.tolist() == [[by_role.counts[0, 0], both], [0, by_role.counts[1, 1]]]
    assert exchangeable.law[0, 1] == exchangeable.law[1, 0] == both / 400
    alpha = Fraction("0.05") / 3
    lower, upper = probability_interval(int(both), int(200 - both), alpha)
    assert (exchangeable.lower[0, 1], exchangeable.upper[1, 0]) == (lower / 2, upper / 2)
    turned = fit_finite(frame, "x", "cluster", states=[1, 0], role="role", roles=["b", "a"])
    assert turned.counts.tolist() == by_role.counts[::-1, ::-1].T.tolist()
    cut = fit_finite(frame, "x", "cluster", where="x > 0", role="role")
    assert cut.counts.tolist() == by_role.counts.tolist()


def test_what_is_left_out_is_said() -> None:
    rng = np.random.default_rng(2)
    frame = clusters(rng, PAIR, 100).astype({"x": float})
    extra = pd.DataFrame(
        {
            "cluster": ["d", "e", "e", "e", "f", "f", None],
            "role": ["a", "a", "b", "c", "a", "b", "a"],
            "x": [0, 0, 1, 1, None, 1, 1],
        }
    )
    table = pd.concat([frame, extra])
    fitted = fit_finite(table, "x", "cluster", states=[0, 1])
    assert (fitted.clusters, fitted.incomplete, fitted.others, fitted.nameless) == (100, 1, 2, 1)
    by_role = fit_finite(table, "x", "cluster", states=[0, 1], role="role", roles=["a", "b"])
    # Of other roles nothing is asked: the cluster of three is a pair with one more.
    assert (by_role.clusters, by_role.incomplete, by_role.others) == (101, 2, 0)
    said = " ".join(check.sentence for check in fitted.diagnostics)
    for words in ("1 clusters lack a value", "2 clusters have another size than 2", "1 rows"):
        assert words in said
    assert "so many clusters: 1 of 1, 101 of 2, 1 of 3." in said
    assert "A study with clusters of more than 2 rows refuses this population." in said
    assert 'model = "clusters" with size = 3' in said
    (sizes,) = [check for check in fitted.diagnostics if check.name == "other sizes"]
    assert not sizes.fits
    smaller = table[table.cluster != "e"]
    fitted = fit_finite(smaller, "x", "cluster", states=[0, 1])
    (sizes,) = [check for check in fitted.diagnostics if check.name == "other sizes"]
    assert sizes.fits
    assert sizes.sentence.endswith("their law must be what that of 2 says of fewer records.")
    threes = fit_finite(table, "x", "cluster", states=[0, 1], size=3)
    assert (threes.clusters, threes.law[0, 1, 1]) == (1, 1 / 3)


@pytest.mark.prove
@pytest.mark.parametrize(("law", "role"), [(PAIR, None), (ROLES[:, :2] / 0.85, "role")])
def test_the_region_holds_the_truth_as_often_as_said(law: np.ndarray, role: str | None) -> None:
    rng, tried, missed = np.random.default_rng(3), runs(100), 0
    for _ in range(tried):
        frame = clusters(rng, law, 40)
        fitted = fit_finite(frame, "x", "cluster", states=[0, 1], role=role, confidence=0.8)
        missed += not bool(((fitted.lower <= law) & (law <= fitted.upper)).all())
    assert missed <= binom.isf(1e-6, tried, 0.2)


@pytest.mark.parametrize("role", [None, "role"])
def test_the_level_is_that_of_the_worst_law_of_the_region(role: str | None) -> None:
    rng = np.random.default_rng(4)
    fitted = fit_finite(clusters(rng, PAIR, 300), "x", "cluster", states=[0, 1], role=role)
    best = fitted.population.leakage(0.5).best
    assert best.theorem == "family"
    level = worst_case(PAIR, 0.5).level
    assert level < best.epsilon < 1.3 * level
    for _ in range(20):
        share = rng.random(PAIR.shape)
        if role is None:
            share = (share + share.T) / 2
        law = fitted.lower + share * (fitted.upper - fitted.lower)
        assert worst_case(law / law.sum(), 0.5).level <= best.epsilon
    for words in ("with confidence 0.95", "300 clusters of 2", "all cells of the joint law"):
        assert words in fitted.population.source
    point = fit_finite(
        clusters(rng, PAIR, 300), "x", "cluster", states=[0, 1], role=role, confidence=None
    )
    assert "without an allowance for chance" in point.population.source
    assert point.population.leakage(0.5).best.epsilon < best.epsilon


def test_records_of_more_states_and_larger_clusters() -> None:
    rng = np.random.default_rng(5)
    three = np.einsum("i,ij,ik->ijk", [0.7, 0.3], PAIR / 0.75, PAIR / 0.75)
    frame = clusters(rng, three / three.sum(), 400)
    fitted = fit_finite(frame, "x", "cluster", states=[0, 1])
    assert len(fitted.population.members) == 12
    level = fitted.population.leakage(0.5).best.epsilon
    assert worst_case(fitted.law, 0.5).level <= level < 1.5
    with pytest.raises(
        UnsupportedError, match="111 laws can stand for, and 3 records of 3 states need 1806"
    ):
        fit_finite(frame.assign(x=frame.x * 2), "x", "cluster", states=[0, 1, 2])
    assert fit_finite(frame, "x", "cluster", states=[0, 1, 2], confidence=None).clusters == 400


def test_cells_that_were_never_seen() -> None:
    """They may be impossible, for all that the data say: zeros are among the members."""
    frame = pd.DataFrame({"c": np.repeat(range(50), 2), "x": [0, 0] * 30 + [0, 1] * 20})
    fitted = fit_finite(frame, "x", "c", states=[0, 1])
    assert fitted.lower[1, 1] == 0.0
    assert 0.0 < fitted.upper[1, 1] < 0.5
    (unseen,) = [check for check in fitted.diagnostics if not check.fits]
    assert unseen.name == "unseen cells"
    assert "1 kind of cluster was never seen" in unseen.sentence
    assert any(min(min(row) for row in m.probabilities) == 0.0 for m in fitted.population.members)


def test_what_cannot_be_fitted_says_why() -> None:
    frame = clusters(np.random.default_rng(6), PAIR, 20)
    with pytest.raises(InputError, match="another column"):
        fit_finite(frame, "x", "x", states=[0, 1])
    with pytest.raises(InputError, match="one way to say"):
        fit_finite(frame, "x", "cluster")
    with pytest.raises(InputError, match="every cell is empty or has a state"):
        fit_finite(frame, "x", "cluster", states=[0, 2])
    with pytest.raises(InputError, match="some cluster has two"):
        fit_finite(frame.assign(role="a"), "x", "cluster", states=[0, 1], role="role", roles="ab")
    with pytest.raises(InputError, match="size is 3"):
        fit_finite(frame, "x", "cluster", states=[0, 1], role="role", size=3)
    with pytest.raises(InputError, match="roles beside"):
        fit_finite(frame, "x", "cluster", states=[0, 1], roles=["a", "b"])
    with pytest.raises(UnsupportedError, match="different ones"):
        fit_finite(frame.assign(role="a"), "x", "cluster", states=[0, 1], role="role")
    with pytest.raises(UnsupportedError, match="a state for each of"):
        fit_finite(frame, "x", "cluster", states=[0, 1], size=3)
    with pytest.raises(UnsupportedError, match="2 to 8 rows"):
        fit_finite(frame.drop_duplicates("cluster"), "x", "cluster", states=[0, 1])
