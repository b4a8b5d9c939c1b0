"""The samplers: what is drawn has the law that was asked for, and no other.

Each test compares counts of draws with the law by Pearson's statistic. False alarms: at most 1e-9
each (the quantile below). With the scale 30 % off the statistic lies far beyond it: that is tested.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp
from sys import float_info

import numpy as np
import pytest
from scipy import stats

from bayesdp.errors import InputError
from bayesdp.programs.run import OpenDP, load
from bayesdp.programs.run.noise import Calibration, in_units, response
from bayesdp.programs.run.result import shown
from tests.programs.run.helpers import accepted, run_on

FALSE_ALARM = 1e-9


def _statistic(counts: np.ndarray, law: np.ndarray) -> tuple[float, float]:
    """Pearson's statistic over cells with at least 10 expected, and its critical value."""
    expected = law * counts.sum()
    kept = expected >= 10
    folded = np.append(counts[kept], counts[~kept].sum())
    wanted = np.append(expected[kept], expected[~kept].sum())
    if wanted[-1] < 10:
        folded[-2] += folded[-1]
        wanted[-2] += wanted[-1]
        folded, wanted = folded[:-1], wanted[:-1]
    found = float(((folded - wanted) ** 2 / wanted).sum())
    return found, float(stats.chi2.isf(FALSE_ALARM, len(wanted) - 1))


def _right_and_wrong(counts: np.ndarray, laws: list[np.ndarray]) -> None:
    right, critical = _statistic(counts, laws[0])
    assert right < critical
    for one in laws[1:]:
        wrong, critical = _statistic(counts, one)
        assert wrong > critical


def _noise_law(kind: str, scale: float) -> np.ndarray:
    z = np.arange(-40, 41)
    w = np.exp(-np.abs(z) / scale) if kind == "laplace" else np.exp(-(z**2) / (2 * scale**2))
    return np.asarray(w / w.sum())


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_noise_on_whole_numbers(kind: str) -> None:
    draw = getattr(OpenDP(), kind)
    drawn = np.asarray(draw([7] * 20_000, 2.0)) - 7
    counts = np.bincount(np.clip(drawn, -40, 40) + 40, minlength=81)
    _right_and_wrong(counts, [_noise_law(kind, s) for s in (2.0, 1.4, 2.6)])


def test_a_program_s_noise_has_the_scale_of_its_cost() -> None:
    """From the text to the number: 20,000 cells of one release."""
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Vector]:
    total = count(db)
    return laplace(tuple(total for _ in range(1000)), epsilon=500)
""")
    drawn: list[int] = []
    for _ in range(20):
        drawn += run_on(core, verdict, load(core, [True] * 50)).value
    counts = np.bincount(np.clip(np.asarray(drawn) - 50, -40, 40) + 40, minlength=81)
    _right_and_wrong(counts, [_noise_law("laplace", s) for s in (2.0, 1.4, 2.6)])


def test_choices_are_softmax_draws() -> None:
    scores, many = [0, 40, 25, 90, 60], 4000
    drawn = np.asarray([OpenDP().choose(scores, 30.0) for _ in range(many)])
    counts = np.bincount(drawn, minlength=5)
    laws = [np.asarray([exp(s / scale) for s in scores]) for scale in (30.0, 21.0, 39.0)]
    _right_and_wrong(counts, [one / one.sum() for one in laws])


def test_answers_are_k_ary_randomized_response() -> None:
    drawn = np.asarray(OpenDP().respond([2] * 6000, 3, 1.0))
    counts = np.bincount(drawn, minlength=3)
    laws = []
    for epsilon in (1.0, 0.7, 1.3):
        kept = exp(epsilon) / (exp(epsilon) + 2)
        laws.append(np.asarray([(1 - kept) / 2, (1 - kept) / 2, kept]))
    _right_and_wrong(counts, laws)
    assert response(3, 1.0).cost() <= 1.0


def test_scales_are_rounded_up() -> None:
    third = Fraction(1, 3)
    found = Calibration(third, Fraction(1))
    assert Fraction(found.laplace(Fraction(1), Fraction(0))) == 3
    assert Fraction(found.laplace(Fraction(1, 7), Fraction(1, 10))) >= 3 * 7 * Fraction(11, 10)
    assert Fraction(found.choice(Fraction(1), Fraction(0))) == 6
    half = Calibration(third, Fraction(2), Fraction(1, 6))
    # A record that enters moves half as far, so the slack weighs twice as much.
    assert half.factor(Fraction(1, 10)) == 1 + Fraction(1, 10)


def test_noise_beyond_the_doubles_is_refused() -> None:
    assert in_units(0.5, Fraction(10) ** 200) == 5e199
    with pytest.raises(InputError, match="noise"):
        in_units(2.0**20, Fraction(10) ** 299)


def test_a_released_value_beyond_the_doubles_is_shown_as_the_largest() -> None:
    assert shown(Fraction(10**400 + 1, 3)) == float_info.max
    assert shown((-Fraction(10**400 + 1, 3), Fraction(1, 2))) == (-float_info.max, 0.5)
