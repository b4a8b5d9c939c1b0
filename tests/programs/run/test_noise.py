"""The samplers: what is drawn has the law that was asked for, and no other."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from sys import float_info

import pytest

from bayesdp.errors import InputError
from bayesdp.programs.run import OpenDP, load
from bayesdp.programs.run.draws.noise import NoiseCalibration, in_units, response
from bayesdp.programs.run.machine.machine import Machine
from bayesdp.programs.run.machine.readiness import ready
from bayesdp.programs.run.results.program_result import display_value
from tests.chance import OFF, Chance, discrete_gaussian, discrete_laplace
from tests.programs.run.helpers import accepted


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_noise_on_whole_numbers(kind: str, chance: Chance) -> None:
    law = discrete_laplace if kind == "laplace" else discrete_gaussian
    drawn = [value - 7 for value in getattr(OpenDP(), kind)([7] * 20_000, 2.0)]
    chance.expect_law(drawn, law(2.0))
    for factor in OFF:
        chance.expect_other(drawn, law(factor * 2.0), law(2.0))


def test_a_program_s_noise_has_the_scale_of_its_cost(chance: Chance) -> None:
    """From the text to the number: 1,000 cells of each release."""
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Vector]:
    total = count(db)
    return laplace(tuple(total for _ in range(1000)), epsilon=500)
""")
    rows = load(core, [True] * 50)
    ready(core, verdict, rows)
    drawn: list[int] = []
    for _ in range(16):
        drawn += Machine(core, verdict, rows, OpenDP()).run().value
    noise = [int(value) - 50 for value in drawn]
    chance.expect_law(noise, discrete_laplace(2.0))
    for factor in OFF:
        chance.expect_other(noise, discrete_laplace(factor * 2.0), discrete_laplace(2.0))


def softmax(scores: list[int], scale: float) -> dict[int, float]:
    weights = [exp(score / scale) for score in scores]
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


def test_choices_are_softmax_draws(chance: Chance) -> None:
    scores, scale = [0, 40, 25, 90, 60], 30.0
    drawn = [OpenDP().choose(scores, scale) for _ in range(16_000)]
    chance.expect_law(drawn, softmax(scores, scale))
    for factor in OFF:
        chance.expect_other(drawn, softmax(scores, factor * scale), softmax(scores, scale))


def k_ary(states: int, true: int, epsilon: float) -> dict[int, float]:
    kept = exp(epsilon) / (exp(epsilon) + states - 1)
    return {k: kept if k == true else (1 - kept) / (states - 1) for k in range(states)}


def test_answers_are_k_ary_randomized_response(chance: Chance) -> None:
    drawn = OpenDP().respond([2] * 14_000, 3, 2.0)
    chance.expect_law(drawn, k_ary(3, 2, 2.0))
    for factor in OFF:
        chance.expect_other(drawn, k_ary(3, 2, factor * 2.0), k_ary(3, 2, 2.0))
    assert response(3, 1.0).cost() <= 1.0


def test_scales_are_rounded_up() -> None:
    third = Fraction(1, 3)
    actual = NoiseCalibration(third, Fraction(1))
    assert Fraction(actual.laplace(Fraction(1), Fraction(0))) == 3
    assert Fraction(actual.laplace(Fraction(1, 7), Fraction(1, 10))) >= 3 * 7 * Fraction(11, 10)
    assert Fraction(actual.choice(Fraction(1), Fraction(0))) == 6
    half = NoiseCalibration(third, Fraction(2), Fraction(1, 6))
    # A record that enters moves half as far, so the slack weighs twice as much.
    assert half.factor(Fraction(1, 10)) == 1 + Fraction(1, 10)


def test_noise_beyond_the_doubles_is_refused() -> None:
    assert in_units(0.5, Fraction(10) ** 200) == 5e199
    with pytest.raises(InputError, match="noise"):
        in_units(2.0**20, Fraction(10) ** 299)


def test_a_released_value_beyond_the_doubles_is_shown_as_the_largest() -> None:
    assert display_value(Fraction(10**400 + 1, 3)) == float_info.max
    assert display_value((-Fraction(10**400 + 1, 3), Fraction(1, 2))) == (-float_info.max, 0.5)
