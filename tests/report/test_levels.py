"""Tables of levels and budgets: a level is never shown lower than it is, a budget never higher."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from bayesdp.calibration import calibrate, calibrate_gaussian
from bayesdp.leakage.profile import profile
from bayesdp.notions import ApproxDP, Cost
from bayesdp.populations import Finite, parse
from bayesdp.report.levels import (
    level_sentence,
    show_approximate,
    show_calibration,
    show_exact,
    show_gaussian,
    show_leakage,
)
from bayesdp.report.numbers import notion_level
from bayesdp.report.profiles import show_profile
from bayesdp.theorems import Question, approximate
from bayesdp.theorems.with_delta import report_with_delta

TRIPLES = parse({"model": "clusters", "size": 3})
CHANNEL = [[[0.8, 0.2], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.8]]]
HOUSEHOLD = Finite(probabilities=[[0.45, 0.05], [0.05, 0.45]])


def printed(show: Callable[..., None], *about: object) -> str:
    """On one line, without the lines of tables."""
    file = io.StringIO()
    show(Console(file=file, width=160), *about)
    return " ".join(file.getvalue().replace("│", " ").split())


def test_levels_of_a_cost_are_rounded_up() -> None:
    text = printed(show_leakage, TRIPLES.leakage(0.1))  # 0.30000000000000004
    assert "cluster-size 0.300001" in text
    assert "protects a record as well as a DP cost of 0.300001 would" in text
    assert "at most e^0.300001 = 1.35." in text


def test_verbose_is_named_where_it_was_not_given() -> None:
    report = HOUSEHOLD.leakage(0.1)
    assert "asked; --verbose shows them). If" in level_sentence(report)
    assert "asked; all are shown below). If" in level_sentence(report, verbose=True)


def test_levels_with_a_delta_are_rounded_up() -> None:
    report = report_with_delta(Question(TRIPLES), Cost.of(0.0, "any", rho=0.1000001), 1.0000001e-5)
    text = printed(show_leakage, report)
    assert "What a DP cost of rho = 0.100001 means here, at delta = 1.00001e-05" in text
    assert "plus delta = 1.00001e-05." in text
    text = printed(show_approximate, approximate(Question(TRIPLES), ApproxDP(0.1, 1e-6)))
    assert "(0.1, 1e-06)-DP" in text
    assert "cluster-size 0.300001" in text


def test_what_a_mechanism_leaks() -> None:
    from bayesdp.leakage.channel import channel_leakage

    text = printed(show_exact, channel_leakage(HOUSEHOLD, CHANNEL))
    assert "DP 0.916291 " in text  # ln(.5 / .2) = 0.9162907...
    assert "adversary 'any' (asked for) 1.20832 " in text


def test_a_budget_is_rounded_down_and_its_level_up() -> None:
    actual = replace(
        calibrate(TRIPLES, 1.0),
        dp_epsilon=0.33333333339,
        certified_epsilon=0.9999991,
        target=1.0000009,
    )
    text = printed(show_calibration, actual)
    assert "(dp_epsilon) 0.3333333333 " in text
    assert "BDP target 1 " in text
    assert "certified level of that budget 1 " in text


def test_noise_is_rounded_up() -> None:
    actual = replace(calibrate_gaussian(TRIPLES, 1.0, 1e-5), sigma=10.000001)
    assert "sigma, at sensitivity 1 10.0001 " in printed(show_gaussian, actual)


def test_every_notion_has_its_own_level() -> None:
    actual = profile(HOUSEHOLD, CHANNEL)
    text = printed(show_profile, actual, actual.delta(0.5))
    for key, item in actual.levels.items():
        assert f"{key} {notion_level(key, item.level, actual.error)}" in text, key
    assert "sp 0.225149 (distance)" in text
    assert f"Delta at epsilon 0.5: DP {math.ceil(1e6 * actual.delta(0.5).dp) / 1e6}," in text
