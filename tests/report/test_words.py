"""Sentences about levels stay true after rounding."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayesdp.notions.catalogue import CATALOGUE, NotionClaim
from bayesdp.report.words import (
    belief_table,
    delta_sentence,
    error_up,
    highest_belief,
    level_sentences,
    level_up,
    lowest_belief,
    not_promised,
    number,
    percent_down,
    percent_up,
)

LEVELS = st.floats(0.0, 40.0)
BELIEFS = st.floats(1e-6, 1.0 - 1e-6)


def test_a_case_by_hand() -> None:
    # Odds 1/9 times e^(ln 9) are odds 1; odds 1/9 divided by 9 are odds 1/81.
    assert highest_belief(0.1, math.log(9.0)) == pytest.approx(0.5, abs=1e-12)
    assert lowest_belief(0.1, math.log(9.0)) == pytest.approx(1 / 82, abs=1e-12)


@given(BELIEFS, LEVELS)
def test_beliefs_are_bayes_rule_at_the_extremes(prior: float, level: float) -> None:
    odds = prior / (1 - prior)
    most, least = highest_belief(prior, level), lowest_belief(prior, level)
    assert 0.0 <= least <= prior * (1 + 1e-12)
    assert prior * (1 - 1e-12) <= most <= 1.0
    assert most == pytest.approx(odds * math.exp(level) / (1 + odds * math.exp(level)), rel=1e-9)
    assert least == pytest.approx(odds / (odds + math.exp(level)), rel=1e-9)


def test_extreme_levels_are_answered() -> None:
    assert highest_belief(0.1, 0.0) == pytest.approx(0.1)
    assert highest_belief(0.5, 10_000.0) == 1.0
    assert lowest_belief(0.5, 10_000.0) == 0.0
    assert highest_belief(0.0, 3.0) == 0.0
    assert highest_belief(0.5, math.inf) == 1.0


@pytest.mark.parametrize(("prior", "level"), [(-0.1, 1.0), (1.1, 1.0), (0.5, -1.0)])
def test_what_is_no_belief_or_level_is_refused(prior: float, level: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        highest_belief(prior, level)
    with pytest.raises(ValueError, match="expected"):
        lowest_belief(prior, level)


def test_a_nan_level_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a level"):
        highest_belief(0.5, math.nan)


def test_the_table_has_the_three_beliefs() -> None:
    rows = belief_table(1.0)
    assert [row.prior for row in rows] == [0.01, 0.10, 0.50]
    assert rows[2].at_most == pytest.approx(math.e / (1 + math.e))


@given(st.floats(0.0, 1.0))
def test_percents_round_outward(probability: float) -> None:
    low = float(percent_down(probability).split()[0])
    high = float(percent_up(probability).split()[0])
    assert low <= 100 * probability + 1e-9
    assert high >= 100 * probability - 1e-9
    assert high - low <= 0.1 + 1e-9


def test_levels_and_errors_round_up() -> None:
    assert level_up(0.10001) == "0.1001"
    assert level_up(0.1) == "0.1000"
    assert level_up(math.inf) == "unlimited"
    assert error_up(0.0541) == "0.055"
    assert error_up(1234.2) == "1\N{NARROW NO-BREAK SPACE}235"
    assert number(-3.0, 30.0) == "\N{MINUS SIGN}3"
    assert number(-0.0001, 0.5) == "0.00"
    assert number(169.3149, 1.37) == "169.3"


def test_the_sentences_name_what_must_be_named() -> None:
    text = " ".join(level_sentences(1.0, "uninformed", "between 120 and 220 cm"))
    assert "at most 23.2 %" in text
    assert "at least 3.9 %" in text
    assert "uninformed" in text
    assert "declared population" in text
    assert "between 120 and 220 cm" in text


def test_limits_mention_presence_and_the_interval_where_it_applies() -> None:
    assert any("replace one record" in text for text in not_promised())
    assert not any("interval" in text for text in not_promised())
    assert any("interval" in text for text in not_promised("bounded"))


@given(st.floats(1e-12, 0.3), st.floats(0.0, 9.0))
@example(0.2000001 / 6, 1.0)
@example(0.012345674, 2.0000004)
def test_a_delta_is_never_shown_smaller_than_true(delta: float, level: float) -> None:
    text = " ".join(level_sentences(level, "any", delta=delta))
    chance = text.split("with a probability of at most ")[1].split(". This")[0].split(". For")[0]
    assert Fraction(chance) >= 3 * Fraction(repr(delta))
    assert float(chance) <= 3 * delta * 1.00002
    power = delta_sentence(level, delta).split("e^")[1].split(" times")[0]
    assert Fraction(power) >= Fraction(repr(level))
    allowance = delta_sentence(level, delta).split("delta = ")[1].rstrip(".")
    assert Fraction(allowance) >= Fraction(repr(delta))


@given(st.floats(0.0, 800.0), st.floats(1e-12, 0.5))
@example(0.0, 1e-6)
@example(51.00049, 0.00123449)
def test_the_words_of_notions_round_outward(level: float, delta: float) -> None:
    said = CATALOGUE["bdp"].in_words(level)
    shown = said.split("by at most ")[1].split(":")[0]
    exact = Decimal(level).exp()
    if shown.startswith("e^"):
        assert Decimal(shown[2:]) >= Decimal(level)
    else:
        assert Decimal(shown) >= exact * (1 - Decimal("1e-25"))
    most = Decimal(said.split("becomes at most ")[1].split(" %")[0]) / 100
    assert most >= exact / (9 + exact) * (1 - Decimal("1e-25"))
    assert most <= exact / (9 + exact) + Decimal("0.00101")
    allowed = NotionClaim("dp", level, "all", delta=delta).in_words()
    assert Fraction(allowed.split("allowance of ")[1].split(" in")[0]) >= Fraction(repr(delta))


@given(st.floats(0.0, 1.0, exclude_max=True))
def test_distances_of_notions_round_up(level: float) -> None:
    said = CATALOGUE["sp"].in_words(level)
    points = Fraction(said.split("at most ")[1].split(" percentage")[0])
    assert points >= 100 * Fraction(level) * (1 - Fraction(1, 10**15))
