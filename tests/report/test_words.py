"""Sentences about levels stay true after rounding."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from bayesdp.notions.catalogue import CATALOGUE, NotionClaim
from bayesdp.report import beliefs
from bayesdp.report.numbers import (
    budget_words,
    error_up,
    error_words,
    level_words,
    percent_down,
    percent_up,
    with_error,
)
from bayesdp.report.words import (
    at_delta,
    cost_words,
    delta_sentence,
    level_sentences,
    not_promised,
)


@given(st.floats(0.0, 1.0))
def test_percents_round_outward(probability: float) -> None:
    low = float(percent_down(probability).split()[0])
    high = float(percent_up(probability).split()[0])
    assert low <= 100 * probability + 1e-9
    assert high >= 100 * probability - 1e-9
    assert high - low <= 0.1 + 1e-9


def test_levels_and_errors_round_up() -> None:
    assert level_words(0.1000001) == "0.100001"
    assert level_words(0.1) == "0.1"
    assert level_words(0.30000000000000004) == "0.300001"
    assert level_words(math.inf) == "unlimited"
    assert level_words(0.0) == "0"
    assert level_words(12_345_678.0) == "12345700"
    assert level_words(1e-6) == "1e-06"
    assert error_up(0.0541) == "0.055"
    assert error_up(1234.2) == "1\N{NARROW NO-BREAK SPACE}235"
    assert with_error(-3.0, 30.0) == "\N{MINUS SIGN}3"
    assert with_error(-0.0001, 0.5) == "0.00"
    assert with_error(169.3149, 1.37) == "169.3"


def test_only_what_is_known_up_to_an_error_may_be_shown_within_it() -> None:
    assert level_words(3.0000000000000004) == "3.00001"
    assert level_words(3.0000000000000004, 1e-12) == "3"
    assert level_words(3.0 + 1e-9, 1e-12) == "3.00001"
    assert level_words(2.9999999999, 1e-9) == "3"
    assert level_words(math.log(3), 1e-12) == "1.09862"


@given(st.floats(1e-9, 1e9))
@example(0.9999999999999999)
@example(999999.5)
@example(1000.0000000000001)
def test_levels_are_never_below_and_budgets_never_above(value: float) -> None:
    exact = Fraction(repr(value))
    assert exact <= Fraction(level_words(value)) <= exact * (1 + Fraction(1, 10**5))
    assert exact * (1 - Fraction(1, 10**5)) <= Fraction(budget_words(value)) <= exact
    assert exact <= Fraction(error_words(value)) <= exact * (1 + Fraction(1, 10**3))
    assert exact * (1 - Fraction(1, 10**9)) <= Fraction(budget_words(value, 10)) <= exact


def test_a_cost_is_told_in_one_way() -> None:
    assert cost_words(0.5) == "0.5"
    assert cost_words(0.0) == "0"
    assert cost_words(0.0, 0.1) == "rho = 0.1"
    assert cost_words(0.30000000000000004, 0.1000001) == "0.300001 and rho = 0.100001"
    assert at_delta(0.0) == ""
    assert at_delta(1.0000001e-5) == " at delta = 1.00001e-05"


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
    assert f"except with a chance of at most {beliefs.exception_words(delta)}." in text
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
