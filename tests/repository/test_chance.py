"""What may fail by chance: declared, in all below one in a million, and counted honestly."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from tests.chance import (
    ALARM,
    FALSE_ALARMS,
    MOST,
    Chance,
    discrete_gaussian,
    discrete_laplace,
    fits,
    follows,
    missed,
    within,
)

TESTS = Path(__file__).parents[1]


def test_all_of_them_together_fail_less_than_once_in_a_million_runs() -> None:
    declared = [each for listed in FALSE_ALARMS.values() for each in listed.values()]
    assert all(test.runs > 0 and test.each > 0.0 for test in declared)
    assert sum(test.runs * test.each for test in declared) < MOST


def test_the_list_is_that_of_the_tests_that_keep_an_account() -> None:
    accounts = {
        file.relative_to(TESTS).as_posix(): {
            node.name
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef)
            and node.name.startswith("test_")
            and "chance" in {argument.arg for argument in node.args.args}
        }
        for file in TESTS.rglob("test_*.py")
        if file != Path(__file__)
    }
    assert {file: names for file, names in accounts.items() if names} == {
        file: set(listed) for file, listed in FALSE_ALARMS.items()
    }


@pytest.mark.parametrize(("draws", "probability"), [(50, 0.3), (20_000, 0.632), (8_000, 1e-4)])
@pytest.mark.parametrize("alarm", [0.01, ALARM])
def test_the_right_probability_is_refused_as_rarely_as_said(
    draws: int, probability: float, alarm: float
) -> None:
    hits = np.arange(draws + 1)
    law = binom.pmf(hits, draws, probability)
    likely = hits[law > 1e-25]  # all others together have less than a millionth of the alarm
    refused = sum(law[k] for k in likely if not fits(int(k), draws, probability, alarm))
    assert refused <= alarm * (1.0 + 1e-6)
    assert refused > 0.0


@pytest.mark.parametrize("true", [0.3, 0.35, 0.6])
def test_how_often_a_wrong_probability_is_missed_is_never_understated(true: float) -> None:
    draws, claimed, alarm = 300, 0.45, 1e-4
    law = binom.pmf(np.arange(draws + 1), draws, true)
    fitting = sum(law[k] for k in range(draws + 1) if fits(k, draws, claimed, alarm))
    assert fitting <= missed(draws, claimed, true, alarm)


def test_laws_are_normalised_and_reach_far_enough() -> None:
    for law in (discrete_laplace(2.0), discrete_gaussian(2.0), discrete_laplace(0.3)):
        assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
        assert law[max(law)] < 1e-17
        assert within(law, 1) == pytest.approx(law[-1] + law[0] + law[1])
    a = np.exp(-0.5)
    assert discrete_laplace(2.0)[3] == pytest.approx((1 - a) / (1 + a) * a**3, rel=1e-12)


def test_an_account_that_is_overdrawn_fails_whatever_was_drawn() -> None:
    account = Chance(2.5 * ALARM)
    account.expect(500, 1000, 0.5)
    account.expect_law([0, 1] * 500, {0: 0.5, 1: 0.5})
    with pytest.raises(AssertionError, match="declares"):
        account.expect(500, 1000, 0.5)
    with pytest.raises(AssertionError, match="declares"):  # too few draws to tell the two
        Chance(1e-8).expect_not(100, 1000, 0.5, 0.45)


def test_wrong_draws_fail_and_right_ones_where_wrong_ones_are_due() -> None:
    coin = {0: 0.5, 1: 0.5}
    loaded = {0: 0.9, 1: 0.1}
    with pytest.raises(AssertionError):
        Chance(1.0).expect(900, 1000, 0.5)
    with pytest.raises(AssertionError):
        Chance(1.0).expect_not(500, 1000, 0.5, 0.9)
    with pytest.raises(AssertionError):
        Chance(1.0).expect_law([0] * 900 + [1] * 100, coin)
    with pytest.raises(AssertionError):
        Chance(1.0).expect_other([0, 1] * 500, coin, loaded)
    assert not follows(Counter([0, 1, 2] * 300), coin)
