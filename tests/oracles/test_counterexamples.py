"""Counterexamples to adding and to maximising BDP levels, re-proved in exact fractions.

Nothing of the package is used: no floating-point number decides anything here. Logarithms are
compared through enclosures of the exponential function between fractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import pytest

Database = tuple[int, ...]
Law = Mapping[Database, Fraction]
Channel = Callable[[Database], Mapping[object, Fraction]]

THEORY = Path(__file__).resolve().parents[2] / "docs" / "theory.md"


def worst_ratio(law: Law, channel: Channel) -> Fraction:
    """e to the level against any adversary: the definition, case by case."""
    possible = [x for x, weight in law.items() if weight > 0]
    for x in possible:
        outcomes = channel(x)
        assert sum(outcomes.values()) == 1
        assert min(outcomes.values()) >= 0
    records = range(len(possible[0]))
    worst = Fraction(1)
    for attacked in records:
        others = [j for j in records if j != attacked]
        for size in range(len(others) + 1):
            for known in combinations(others, size):
                for first, second in product(possible, repeat=2):
                    if all(first[j] == second[j] for j in known):
                        fixed = (attacked, *known)
                        item = given(law, channel, {j: first[j] for j in fixed})
                        other = given(law, channel, {j: second[j] for j in fixed})
                        worst = max(worst, *(item[y] / other[y] for y in item if item[y] > 0))
    return worst


def given(law: Law, channel: Channel, values: Mapping[int, int]) -> dict[object, Fraction]:
    """The law of the outcome, given these values of these records."""
    actual: dict[object, Fraction] = {}
    mass = Fraction(0)
    for x, weight in law.items():
        if all(x[j] == value for j, value in values.items()):
            mass += weight
            for y, chance in channel(x).items():
                actual[y] = actual.get(y, Fraction(0)) + weight * chance
    return {y: chance / mass for y, chance in actual.items()}


def twice(channel: Channel) -> Channel:
    """Two runs with independent noise."""
    return both(channel, channel)


def both(channel: Channel, other: Channel) -> Channel:
    def run(x: Database) -> dict[object, Fraction]:
        pairs = product(channel(x).items(), other(x).items())
        return {(y, z): p * q for (y, p), (z, q) in pairs}

    return run


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions below and above e^x, x >= 0: the series, its rest below a geometric one."""
    total = term = Fraction(1)
    for k in range(1, 60):
        term = term * x / k
        total += term
    share = x / 60
    assert 0 <= share < 1
    return total, total + term * share / (1 - share)


def test_the_enclosure_of_the_exponential():
    below, above = exponential(Fraction(1))
    assert Fraction("2.7182818284590452353602874713526624977") < below
    assert above < Fraction("2.7182818284590452353602874713526624978")
    assert above - below < Fraction(1, 10**60)


def prints(level: str, ratio: Fraction) -> bool:
    """Whether ln ratio is this number, rounded to the digits that it has."""
    half = Fraction(1, 2 * 10 ** len(level.partition(".")[2]))
    low, high = exponential(Fraction(level) - half)[1], exponential(Fraction(level) + half)[0]
    return low < ratio < high


def one_answer(base: Fraction, scale: Fraction) -> Channel:
    """`P[Y = 1 | x] = base^(x1 + x2) / scale`."""

    def run(x: Database) -> dict[object, Fraction]:
        chance = base ** sum(x) / scale
        return {1: chance, 0: 1 - chance}

    return run


def test_levels_do_not_add_up():
    """Theory 2.2, the first counterexample: ln 22 for one run, ln 1573 > 2 ln 22 for two."""
    law = {(0, 0): 9, (0, 1): 9, (1, 1): 1, (1, 0): 0}
    weights = {x: Fraction(weight, 19) for x, weight in law.items()}
    run = one_answer(Fraction(11), Fraction(242))
    item, two = worst_ratio(weights, run), worst_ratio(weights, twice(run))
    assert item == 22
    assert two == 1573
    assert two > item**2 == 484
    assert prints("3.0910", item)
    assert prints("7.3607", two)
    assert prints("6.1821", item**2)


def test_small_levels_do_not_add_up_either():
    """Theory 2.2, the second: 0.50078 for one run, 1.03407 for two, more than 1.00155."""
    a, mu = Fraction(1, 5), Fraction(9, 10)
    parts = {(0, 0): 1 - mu, (0, 1): mu, (1, 1): mu * a / (1 - a), (1, 0): Fraction(0)}
    law = {x: part / sum(parts.values()) for x, part in parts.items()}
    run = one_answer(Fraction(3, 2), Fraction(9, 2))
    item, two = worst_ratio(law, run), worst_ratio(law, twice(run))
    assert item == Fraction(33, 20)
    assert two > item**2
    assert prints("0.50078", item)
    assert prints("1.03407", two)
    assert prints("1.00155", item**2)


@pytest.mark.parametrize("odds", [Fraction(101, 100), Fraction(3), Fraction(50)])
def test_the_largest_level_is_not_that_of_separate_records(odds: Fraction):
    """Theory 2.3: one fair bit in two records, randomized response on each; odds are e^eps."""
    law = {(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 2)}

    def response(record: int) -> Channel:
        def run(x: Database) -> dict[object, Fraction]:
            return {x[record]: odds / (1 + odds), 1 - x[record]: 1 / (1 + odds)}

        return run

    assert worst_ratio(law, response(0)) == odds
    assert worst_ratio(law, response(1)) == odds
    assert worst_ratio(law, both(response(0), response(1))) == odds**2 > odds


def test_independent_records_compose():
    """The same brute force finds no such thing where the theory says that there is none."""
    law = {x: Fraction(1, 4) for x in product((0, 1), repeat=2)}
    run = one_answer(Fraction(11), Fraction(242))
    assert worst_ratio(law, twice(run)) == worst_ratio(law, run) ** 2


def test_the_theory_page_shows_them():
    page = re.sub(r"\s+", " ", THEORY.read_text(encoding="utf-8"))
    for shown in (
        "weights 9, 9, 1, 0 on (0,0), (0,1), (1,1), (1,0), and `P[Y = 1 | x] = 11^(x1 + x2) / 242`",
        "level ln 22 = 3.0910, two independent runs ln 1573 = 7.3607, which is more than 6.1821",
        "`1 - mu, mu, mu a / (1 - a), 0` on the same databases, `a = 0.2`, `mu = 0.9`",
        "1.5^(x1 + x2) / 4.5`, the level is 0.50078 for one run and 1.03407 for two",
        "`X1 = X2` a fair bit, randomized response on each: each is eps-BDP, the pair is",
        "the pair is `2 eps`-BDP",
    ):
        assert shown in page, shown
