"""Limits of beliefs are never sharper than what is true."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from bayesdp.report import beliefs
from bayesdp.report.numbers import THOUSANDS
from tests.effort import runs

PRIORS = (0.01, 0.1, 0.5)


@given(st.sampled_from(PRIORS), st.floats(0.0, 30.0))
@example(0.1, 0.0)
@example(0.5, 1e-300)
@example(0.1, math.log(9.0))
def test_limits_are_never_sharper_than_true(prior: float, level: float) -> None:
    """Against balls that contain the truth: shown and stored limits lie outside."""
    ctx.prec = 400
    (row,) = beliefs.beliefs(level, priors=(Decimal(str(prior)),))
    b = arb(Decimal(str(prior)).as_integer_ratio()[0]) / Decimal(str(prior)).as_integer_ratio()[1]
    factor = arb(level).exp()
    most, least = b * factor / (1 - b + b * factor), b / (b + (1 - b) * factor)
    before, low, high = row.words()
    assert before == f"{100 * prior:g} %"
    exact = [Decimal(shown.split()[0]).as_integer_ratio() for shown in (low, high)]
    low_shown, high_shown = (arb(top) / (100 * bottom) for top, bottom in exact)
    assert not low_shown > least
    assert not high_shown < most
    assert high_shown - most < 0.0011
    assert least - low_shown < 0.0011
    plain = row.to_dict()
    assert not arb(plain["at_least"]) > least
    assert not arb(plain["at_most"]) < most
    assert plain["at_most"] == pytest.approx(float(most.mid()), rel=1e-12)
    assert plain["at_least"] == pytest.approx(float(least.mid()), rel=1e-12)
    shown = beliefs.factor_words(beliefs.odds_factor(level))
    if factor < 10**6:
        number = Decimal(shown.replace(THOUSANDS, ""))
        assert not arb(int(number * 100)) / 100 < factor
        assert number <= Decimal(float(factor.mid())) * Decimal("1.011") + Decimal("0.01")
    else:
        assert shown == "more than a million"


def test_digits_near_0_and_100_percent() -> None:
    # Odds 1/9 over e^8 are 1 to 26 828: 0.003727 %. Odds 1 times e^8: 1 - 0.00033535.
    ten, even = beliefs.beliefs(8.0)[1:]
    assert ten.words()[1:] == ("0.0037 %", "99.7 %")
    assert even.words()[1:] == ("0.033 %", "99.967 %")
    assert beliefs.beliefs(20.0)[2].words()[1:] == ("0 %", "100 %")


def test_nothing_changes_at_level_0() -> None:
    for row in beliefs.beliefs(0.0):
        assert row.before == row.at_least == row.at_most
        assert len(set(row.words())) == 1
    assert beliefs.factor_words(beliefs.odds_factor(0.0)) == "1"


@pytest.mark.parametrize("level", [9_999.0, 1e5, math.inf])
def test_levels_beyond_all_bounds_promise_nothing(level: float) -> None:
    for row in beliefs.beliefs(level):
        assert row.words()[1:] == ("0 %", "100 %")
        assert 0.0 <= row.to_dict()["at_least"] < 1e-300
        assert row.to_dict()["at_most"] == 1.0


@pytest.mark.parametrize("level", [-1e-9, math.nan])
def test_what_is_no_level_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="expected a number of nats"):
        beliefs.odds_factor(level)


def test_small_chances_round_up() -> None:
    assert beliefs.chance_words(Decimal("0.000003")) == "1 in 330\N{NARROW NO-BREAK SPACE}000"
    assert beliefs.chance_words(Decimal("0.3")) == "1 in 3"
    assert beliefs.chance_words(Decimal("0.6")) == "60 %"
    assert beliefs.chance_words(Decimal("3e-40")) == "1 in 10^39"
    for chance in (0.49, 0.01234, 3e-5, 7e-9, 2e-15):
        words = beliefs.chance_words(Decimal(chance)).removeprefix("1 in ").replace(THOUSANDS, "")
        assert chance <= 1 / float(words) <= chance * 1.5


def test_a_delta_is_what_the_table_says() -> None:
    """Random pairs of laws at their own delta: the odds leave the limits as rarely as stated."""
    rng = np.random.default_rng(5)
    close = 0.0
    for _ in range(runs(2000)):
        size = int(rng.integers(2, 7))
        p, q = rng.dirichlet(rng.uniform(0.05, 2, size)), rng.dirichlet(rng.uniform(0.05, 2, size))
        if rng.random() < 0.5:
            q = 0.9 * p + 0.1 * q
        epsilon = float(rng.uniform(0.0, 2.0))
        delta = max(
            np.maximum(p - math.exp(epsilon) * q, 0).sum(),
            np.maximum(q - math.exp(epsilon) * p, 0).sum(),
        )
        if delta < 1e-12:
            continue
        factor = float(beliefs.odds_factor(epsilon, delta)) * (1 + 1e-12)
        left = (p > factor * q) | (q > factor * p)
        allowed = float(beliefs.exception(delta)) + 1e-12
        assert max(p[left].sum(), q[left].sum()) <= allowed
        close = max(close, max(p[left].sum(), q[left].sum()) / allowed)
    assert close > 0.3  # the statement is not idle
