"""Gaussian noise: its delta by other routes, and which law a release takes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction as F
from itertools import product
from math import exp, pi, sqrt

import numpy as np
import pytest

from bayesdp.programs.check.noise import FINE, counts_delta, fine_delta, gaussian_delta
from bayesdp.programs.run.draws.gaussian import (
    counts_scale,
    fine_unit,
    law_of,
    multiple,
    number_scale,
    root_above,
    sigma_of,
)
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.values.public import PublicValues
from tests.programs.run.helpers import accepted, seen


def direct(sigma: float, shift: tuple[int, ...], epsilon: float) -> float:
    """Sum over all outcomes of max(P(x) - e^epsilon P(x - shift), 0), entry by entry."""
    reach = int(14 * sigma) + 6
    x = np.arange(-reach, reach + 1)
    norm = sum(exp(-(k**2) / (2 * sigma**2)) for k in range(-3 * reach, 3 * reach + 1))
    here, there = np.ones(1), np.ones(1)
    for item in shift:
        p = np.exp(-(x**2) / (2 * sigma**2)) / norm
        q = np.exp(-((x - item) ** 2) / (2 * sigma**2)) / norm
        here, there = np.outer(here, p).ravel(), np.outer(there, q).ravel()
    return float(np.maximum(here - exp(epsilon) * there, 0.0).sum())


@pytest.mark.parametrize("sigma", [0.4, 0.7, 1.3, 1.99, 2.0, 5.28, 9.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_a_record_that_changes_its_cell(sigma: float, epsilon: float) -> None:
    actual = float(counts_delta(F(sigma), 2, F(epsilon)))
    true = direct(sigma, (1, -1), epsilon)
    assert actual >= true * (1 - 1e-9)
    assert actual <= true * (1 + 1e-6) + 1e-12
    # Who only enters or leaves, or enters from nowhere, costs less.
    assert actual >= direct(sigma, (1, 0), epsilon) * (1 - 1e-9)
    item = float(counts_delta(F(sigma), 1, F(epsilon)))
    assert item >= direct(sigma, (0, 1), epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("sigma", [30, 80])
@pytest.mark.parametrize("shift", [(1,), (7,), (1, 1), (3, -4), (0, 5)])
def test_fine_grids_are_bounded_by_the_continuous_curve(sigma: int, shift: tuple[int, ...]) -> None:
    squared = sum(item * item for item in shift)
    for times in (0.2, 1.0, 2.5):
        epsilon = times * sqrt(squared) / sigma
        actual = float(fine_delta(F(sigma), F(squared), F(epsilon), len(shift)))
        true = direct(float(sigma), shift, epsilon)
        assert true <= actual
        # The bound's own price on such a coarse grid, and no more than that.
        assert actual <= true * exp(len(shift) * 11 / sigma) * 1.6 + 1e-9


def test_the_finer_the_grid_the_closer() -> None:
    """On 2^24 steps in the move: the analytic multiple 3.7306 at (1, 1e-5), to 5 digits."""
    actual = [
        float(fine_delta(F("3.73063") * 2**k, F(4**k), F(1), 4)) / 1e-5 for k in (8, 16, 24, 32)
    ]
    assert actual == sorted(actual, reverse=True)
    assert 1.0 < actual[-2] < 1.0001
    assert multiple(F(1), F(1, 10**5), 1) == pytest.approx(3.73063, rel=1e-5)
    assert multiple(F(1, 10), F(1, 10**5), 50) == pytest.approx(30.7496, rel=1e-5)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-10"])
def test_scales_reach_their_delta_and_no_more(epsilon: str, delta: str) -> None:
    eps, goal, less = F(epsilon), F(delta), F(999, 1000)
    item = F(number_scale(F(1), eps, goal))
    assert gaussian_delta(item, F(1), eps, True) <= goal
    assert gaussian_delta(item * less, F(1), eps, True) > goal
    two = F(counts_scale(2, eps, goal))
    assert counts_delta(two, 2, eps) <= goal < counts_delta(two * less, 2, eps)
    fine = F(multiple(eps, goal, 3)) * 2**FINE
    move = F(4**FINE)
    assert fine_delta(fine, move, eps, 3) <= goal < fine_delta(fine * less, move, eps, 3)
    loose = F(multiple(eps, goal, None))
    assert gaussian_delta(loose, F(1), eps, False) <= goal
    assert fine < loose * 2**FINE


def test_tiny_deltas_and_large_costs_fall_back() -> None:
    """Below 1e-80 the curve's remainder is too large, and the conversion is taken."""
    tiny = F(1, 10**100)
    assert multiple(F(1), tiny, 5) == multiple(F(1), tiny, None)
    assert gaussian_delta(F(multiple(F(900), F(1, 10**6), 5)), F(1), F(900), False) <= F(1, 10**6)


def test_units_of_fine_grids() -> None:
    for lattice, root in product((F(0), F(1), F(1, 3), F(1, 2**40)), (F(1), F(1, 1000), F(77, 3))):
        unit = fine_unit(lattice, root)
        assert root / unit >= 2**FINE
        if lattice and root / lattice <= 2**40:
            assert (lattice / unit).denominator == 1
    assert root_above(F(2)) ** 2 >= 2


RECORD = """
@record
class R:
    x: Real[-1, 1]
    k: Int[0, 9]
    b: Bool
    c: Category["u", "v", "w"]
    y: Public[Real[0, 1]]
@program
def f(db: Database[R], *, eps: Public[Real[0.1, 5]] = 1) -> Private[{kind}]:
    return gaussian({value}, epsilon=eps, delta=1e-5{more})
"""
LAWS: Mapping[str, tuple[str, str, str]] = {
    "count": ("Int", "count(r for r in db if r.b)", "number"),
    "whole sum": ("Int", "sum(r.k for r in db) + 3 * count(r for r in db if r.b)", "number"),
    "table": ("Vector", "sum(onehot(r.c) for r in db)", "counts"),
    "two tables": ("Vector", "(sum(r.b for r in db), sum(r.k for r in db))", "whole"),
    "doubled table": ("Vector", "2 * sum(onehot(r.c) for r in db)", "whole"),
    "real": ("Real", "sum(r.x for r in db)", "fine"),
    "reals and counts": ("Vector", "(sum(r.x for r in db), sum(r.b for r in db))", "fine"),
    "mean": ("Real", "sum(r.x for r in db) / db.size", "fine"),
    "public part": ("Real", "sum(r.k for r in db) + sum(r.y for r in db)", "fine"),
}


@pytest.mark.parametrize("name", LAWS)
def test_which_law_a_release_takes(name: str) -> None:
    kind, value, law = LAWS[name]
    core, verdict = accepted(RECORD.format(kind=kind, value=value, more=""))
    (release, node) = core.body[0], verdict.derivation["sequence"][0]
    empty = {column: np.zeros(0) for column, _ in core.record}
    values = PublicValues(core, Rows(empty, 1))
    assert law_of(release, node, values).name == law
    rows = [
        {"x": x, "k": k, "b": b, "c": c, "y": 0.5}
        for x, k, b, c in ((-1.0, 0, False, "u"), (1.0, 9, True, "v"), (0.1, 3, True, "w"))
    ]
    actual = [seen(core, verdict, [row])[0] for row in rows]
    delta = F(1, 10**5)
    for a, b in product(actual, repeat=2):
        squared = sum((x - y) ** 2 for x, y in zip(a[1], b[1], strict=True))
        if not squared:
            continue
        scale = F(a[2])
        if law == "number":
            reached = gaussian_delta(scale, F(squared), F(1), True)
        elif law == "counts":
            reached = counts_delta(scale, squared, F(1))
        elif law == "fine":
            reached = fine_delta(scale, F(squared), F(1), len(a[1]))
        else:
            reached = gaussian_delta(scale, F(squared), F(1), False)
        assert reached <= delta
    # What the ledger is told is the noise that is drawn, but for the grid's slack.
    sigma = float(sigma_of(release, node, values))
    drawn = actual[0][2] * float(_unit(actual, name))
    assert drawn >= sigma * (1 - 1e-9)
    assert drawn <= sigma * (1 + 1e-6)


def _unit(actual: list[tuple[str, tuple[int, ...], float]], name: str) -> F:
    """The grid's step: that of whole numbers, or from the first entry's known move."""
    if LAWS[name][2] != "fine":
        return F(2) if name == "doubled table" else F(1)
    move = {"mean": 2, "public part": 9}.get(name, 2)
    return F(move, actual[1][1][0] - actual[0][1][0])


def test_an_asserted_sigma_has_its_own_law() -> None:
    value = "(sum(r.x for r in db), sum(r.b for r in db))"
    core, verdict = accepted(RECORD.format(kind="Vector", value=value, more=", sigma=100"))
    node = verdict.derivation["sequence"][0]
    values = PublicValues(core, Rows({column: np.zeros(0) for column, _ in core.record}, 1))
    assert law_of(core.body[0], node, values).name == "whole"
    assert sigma_of(core.body[0], node, values) == 100


def test_poissons_formula_is_on_the_safe_side() -> None:
    """The masses of parities that are used from sigma 2 on, against sums."""
    from bayesdp.programs.check.noise import _parities

    for sigma in (0.5, 1.99, 2.0, 2.5, 7.0):
        norm = sum(exp(-(k**2) / (2 * sigma**2)) for k in range(-200, 201))
        for place, c in zip(_parities(F(sigma)), (0.0, 0.5), strict=True):
            true = sum(exp(-((k - c) ** 2) / sigma**2) for k in range(-200, 201)) / norm**2
            assert true * (1 - 1e-12) <= float(place.upper()) <= true * (1 + 1e-6)
    assert float(_parities(F(9))[1].upper()) == pytest.approx(1 / (2 * 9 * sqrt(pi)))


def test_where_nothing_is_known_delta_is_1() -> None:
    """A ball that swells beyond all numbers is answered at once, and is not a small delta."""
    assert fine_delta(F(1, 10**30), F(1), F(1), 10**6) == 1
    assert counts_delta(F(1, 100), 2, F(1)) == 1
