"""Networks of a given structure: counts by family, bounds, arrows, and what isn't covered."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, chi2

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.fitting import fit_network
from bayesdp.fitting.regions import probability_interval
from tests.effort import runs

STRUCTURE = {"smokes": (), "dust": (), "ill": ("smokes", "dust"), "coughs": ("ill",)}
ILL = np.array([[0.05, 0.2], [0.3, 0.6]])
"""By smokes and dust."""


def cases(rng: np.random.Generator, count: int, direct: float = 0.0) -> pd.DataFrame:
    """Cases; `direct` is what smoking adds to the cough of those who aren't ill."""
    smokes, dust = rng.random(count) < 0.4, rng.random(count) < 0.3
    ill = rng.random(count) < ILL[smokes.astype(int), dust.astype(int)]
    coughs = rng.random(count) < np.where(ill, 0.8, 0.1 + direct * smokes)
    frame = pd.DataFrame({"smokes": smokes, "dust": dust, "ill": ill, "coughs": coughs})
    return frame.replace({True: "yes", False: "no"}).astype(object)


def test_each_family_is_counted() -> None:
    frame = cases(np.random.default_rng(1), 300)
    fitted = fit_network(frame, STRUCTURE)
    yes = frame == "yes"
    for i in (0, 1):
        for j in (0, 1):
            for k in (0, 1):
                where = (yes.smokes == bool(i)) & (yes.dust == bool(j)) & (yes.ill == bool(k))
                assert fitted.counts["ill"][i, j, k] == where.sum()
    nodes = {node.name: node for node in fitted.population.nodes}
    assert list(nodes) == list(STRUCTURE)
    assert nodes["ill"].states == ("no", "yes")
    counts = fitted.counts["coughs"]
    expected = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_allclose(nodes["coughs"].table, expected)
    for name, lower in fitted.lower.items():
        table = np.array(nodes[name].table)
        assert ((lower < table) & (table < fitted.upper[name])).all()
    # One interval for each of eight laws of two states, with its share of the error.
    hits, misses = fitted.counts["coughs"][1, 1], fitted.counts["coughs"][1, 0]
    ends = probability_interval(int(hits), int(misses), Fraction("0.05") / 8)
    assert (fitted.lower["coughs"][1, 1], fitted.upper["coughs"][1, 1]) == ends


def test_structures_from_files(tmp_path: Path) -> None:
    frame = cases(np.random.default_rng(2), 100)
    arrows = tmp_path / "arrows.csv"
    arrows.write_text("parent,child\nsmokes,ill\ndust,ill\nill,coughs\n")
    listed = fit_network(frame, STRUCTURE).population.spec()["nodes"]
    read = fit_network(frame, str(arrows)).population.spec()["nodes"]
    assert sorted(read, key=lambda n: n["name"]) == sorted(listed, key=lambda n: n["name"])
    bif = tmp_path / "one.bif"
    bif.write_text(
        "network x {}\n"
        "variable ill { type discrete [ 3 ] { yes, no, maybe }; }\n"
        "variable coughs { type discrete [ 2 ] { yes, no }; }\n"
        "probability ( ill ) { table 0.2, 0.3, 0.5; }\n"
        "probability ( coughs | ill ) { (yes) 0.5, 0.5; (no) 0.5, 0.5; (maybe) 0.5, 0.5; }\n"
    )
    fitted = fit_network(frame, str(bif))
    ill, coughs = fitted.population.nodes
    assert ill.states == ("yes", "no", "maybe")
    assert fitted.counts["ill"].tolist() == [(frame.ill == v).sum() for v in ill.states]
    assert coughs.table[2] == (0.5, 0.5)
    assert "1 settings of parents never occurred" in " ".join(
        check.sentence for check in fitted.diagnostics
    )
    with pytest.raises(InputError, match="a state of 'ill'"):
        fit_network(frame.replace({"ill": {"no": "never"}}), str(bif))


def test_the_population_does_not_cover_its_uncertainty_and_says_so() -> None:
    fitted = fit_network(cases(np.random.default_rng(3), 2000), STRUCTURE)
    bounds, arrows = fitted.diagnostics
    assert "without an allowance for chance" in fitted.population.source
    assert not bounds.fits
    assert "no population holds their uncertainty" in bounds.sentence
    assert arrows.fits, arrows.sentence
    # Three pairs are tested: dust and smokes, and either of them with the cough.
    item = chi2.sf(arrows.statistic, arrows.degrees)
    assert arrows.p_value == pytest.approx(min(1.0, 3.0 * item))
    assert fitted.population.leakage(0.5).best.epsilon > 0.5


def test_an_arrow_that_is_missing_is_seen() -> None:
    frame = cases(np.random.default_rng(4), 2000, direct=0.3)
    arrows = fit_network(frame, STRUCTURE).diagnostics[-1]
    assert not arrows.fits
    assert "Add an arrow from smokes to coughs" in arrows.sentence
    whole = fit_network(frame, {**STRUCTURE, "coughs": ("ill", "smokes")})
    assert whole.diagnostics[-1].fits


def test_missing_cells_are_left_out_by_family() -> None:
    frame = cases(np.random.default_rng(5), 100)
    frame.loc[:9, "dust"] = None
    fitted = fit_network(frame, STRUCTURE)
    sums = {name: int(counts.sum()) for name, counts in fitted.counts.items()}
    assert sums == {"smokes": 100, "dust": 90, "ill": 90, "coughs": 100}


@pytest.mark.prove
def test_the_bounds_hold_the_tables_as_often_as_said() -> None:
    rng, tried, missed = np.random.default_rng(6), runs(60), 0
    for _ in range(tried):
        fitted = fit_network(cases(rng, 60), STRUCTURE, confidence=0.8)
        lower, upper = (side["ill"][..., 1] for side in (fitted.lower, fitted.upper))
        missed += not bool(((lower <= ILL) & (upper >= ILL)).all())
    assert missed <= binom.isf(1e-6, tried, 0.2)


def test_what_cannot_be_fitted_says_why() -> None:
    frame = cases(np.random.default_rng(7), 30)
    with pytest.raises(InputError, match="structure is 'fever'"):
        fit_network(frame, {"ill": ("fever",)})
    with pytest.raises(InputError, match="cycle"):
        fit_network(frame, {"ill": ("coughs",), "coughs": ("ill",)})
    with pytest.raises(InputError, match="it has 1"):
        fit_network(frame.assign(ill="no"), STRUCTURE)
    apart = frame.assign(ill=[None] * 15 + ["yes", "no", "no"] * 5)
    apart["dust"] = ["a", "b", "b"] * 5 + [None] * 15
    with pytest.raises(UnsupportedError, match="cases with values of 'ill'"):
        fit_network(apart, STRUCTURE)
