"""The samplers that are really run: the right law, and nobody would take it for another."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.chance import OFF, Chance, discrete_gaussian, discrete_laplace, follows, within

Noise = type[DiscreteGaussian | DiscreteLaplace]
LawOf = Callable[[float], dict[int, float]]
KINDS = pytest.mark.parametrize(
    ("noise", "law"),
    [(DiscreteLaplace, discrete_laplace), (DiscreteGaussian, discrete_gaussian)],
    ids=["laplace", "gaussian"],
)
SCALE, DRAWS = 50.0, 20_000


@KINDS
def test_the_noise_has_its_scale_and_no_other(noise: Noise, law: LawOf, chance: Chance) -> None:
    sample = noise(SCALE).release([0] * DRAWS)
    inside = sum(abs(z) <= SCALE for z in sample)
    true = within(law(SCALE), SCALE)
    chance.expect(inside, DRAWS, true)
    for factor in OFF:
        chance.expect_not(inside, DRAWS, within(law(factor * SCALE), SCALE), true)


@KINDS
@pytest.mark.parametrize("factor", OFF)
def test_a_sampler_of_another_scale_is_seen(
    noise: Noise, law: LawOf, factor: float, chance: Chance
) -> None:
    sample = noise(factor * SCALE).release([0] * DRAWS)
    inside = sum(abs(z) <= SCALE for z in sample)
    true = within(law(factor * SCALE), SCALE)
    chance.expect_not(inside, DRAWS, within(law(SCALE), SCALE), true)


@KINDS
def test_the_noise_has_its_law_on_the_whole_numbers(
    noise: Noise, law: LawOf, chance: Chance
) -> None:
    sample = noise(1.0).release([0] * 60_000)
    chance.expect_law(sample, law(1.0))
    for factor in OFF:
        chance.expect_other(sample, law(factor), law(1.0))


@KINDS
def test_other_laws_on_the_whole_numbers_are_seen(noise: Noise, law: LawOf) -> None:
    """Rounded continuous noise (wrong mass at zero), even noise and shifted noise all fail."""
    rng = random.Random(3)
    if noise is DiscreteLaplace:
        continuous = [rng.expovariate(1.0) * rng.choice((-1, 1)) for _ in range(60_000)]
        other = [rng.gauss(0.0, 1.0) for _ in range(60_000)]
    else:
        continuous = [rng.gauss(0.0, 1.0) for _ in range(60_000)]
        other = [rng.expovariate(1.4) * rng.choice((-1, 1)) for _ in range(60_000)]
    for values in (
        [round(z) for z in continuous],
        [2 * round(z / 2) for z in continuous],
        [math.floor(z) for z in continuous],
        [round(z) for z in other],
    ):
        assert not follows(Counter(values), law(1.0))


@KINDS
def test_noise_is_centred_on_the_value_and_independent_between_calls(
    noise: Noise, law: LawOf, chance: Chance
) -> None:
    scale, values = 1e6, [2**40, -(2**40)]
    first, second = noise(scale).release(values), noise(scale).release(values)
    chance.takes(1e-11)  # both draws of a pair are equal: below (1 / (3 scale))^2
    assert first != second
    chance.takes(8 * math.exp(-45.0))  # four draws beyond 45 scales, or beyond 9.5 of a normal law
    most = 45.0 * scale if noise is DiscreteLaplace else 9.5 * scale
    for released in (first, second):
        assert all(abs(z - value) < most for z, value in zip(released, values, strict=True))
    assert noise(scale).release([]) == []
