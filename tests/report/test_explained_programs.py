"""What explain says of a program holds of what the program does."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.source import read_text
from bayesdp.report.explain import explain
from bayesdp.report.explained_programs import _promise
from tests.golden.corpus import EXAMPLES


def odds(text: str) -> float:
    actual = re.search(r"by a factor of at most ([\d.]*\d)", " ".join(text.split()))
    assert actual is not None
    return float(actual.group(1))


def test_a_value_that_moves_leaves_and_enters() -> None:
    verdict = verdict_in(read_text(EXAMPLES["add_remove_partition"].text), "sizes", None, {})
    assert verdict.adjacency == "add-remove"
    epsilon = float(verdict.dp_epsilon)
    # One person in another group: one count falls by 1, another rises by 1, each with noise of
    # scale 1 / epsilon. The likeliest outcome's probability changes by e^(2 epsilon).
    noise = math.exp(-epsilon)
    exact = (1.0 / noise) * (1.0 / noise)
    assert odds(explain(verdict).text()) >= exact > math.exp(epsilon)


@pytest.mark.parametrize(("adjacency", "steps"), [("replace-one", 1), ("add-remove", 2)])
def test_with_a_delta_nothing_is_said_of_single_results(adjacency: str, steps: int) -> None:
    sections = _promise("f", Fraction(1), Fraction("1.2345641e-6"), adjacency, None, [])
    said = " ".join(" ".join(section.paragraphs) for section in sections)
    assert "no result" not in said
    assert "plus delta = 1.23457e-06" in said
    # Twice the factor is broken with a chance of at most 3 delta (theory 3.10b).
    assert odds(said) >= 2.0 * math.exp(steps)
