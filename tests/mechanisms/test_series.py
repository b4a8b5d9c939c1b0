"""Strategies of a series: their matrices, how far a record moves them, least squares, errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.mechanisms.combined_noise import margin, multiple, share_of, tail
from bayesdp.mechanisms.series import SeriesStrategy, names_for
from bayesdp.statements.queries import SeriesAnswers, Strategy
from tests.oracles.series import estimates_of, furthest, matrix_of

STRATEGIES: tuple[Strategy, ...] = ("identity", "tree", "square-root")
PERIODS = (2, 3, 4, 5, 7, 8, 12, 13, 33)
ASKED: tuple[tuple[SeriesAnswers, Strategy], ...] = tuple(
    (answers, name)
    for answers in ("periods", "cumulative", "ranges")
    for name in names_for(answers, gaussian=True)
)
Noise = DiscreteLaplace | DiscreteGaussian


def unit(periods: int, place: int) -> list[int]:
    return [int(i == place) for i in range(periods)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_sums_are_those_of_the_matrix(name: Strategy) -> None:
    for periods in PERIODS:
        made = SeriesStrategy(name, periods, "cumulative")
        columns = [made.sums(unit(periods, place)) for place in range(periods)]
        assert np.array(columns).T.tolist() == matrix_of(name, periods)
        numbers = [(-1) ** i * 2**40 + i for i in range(periods)]
        exact = np.array(matrix_of(name, periods), dtype=object) @ np.array(numbers, dtype=object)
        assert made.sums(numbers) == exact.tolist()


def test_the_square_of_the_matrix_adds_up_the_first_periods() -> None:
    matrix = np.array(matrix_of("square-root", 200), dtype=float) / 2**16
    assert np.abs(matrix @ matrix - np.tril(np.ones((200, 200)))).max() < 1e-2


@pytest.mark.parametrize(("answers", "name"), ASKED)
def test_answers_are_those_of_least_squares(answers: SeriesAnswers, name: Strategy) -> None:
    rng = np.random.default_rng(3)
    for periods in PERIODS:
        made = SeriesStrategy(name, periods, answers)
        weights = estimates_of(name, periods, answers)
        noisy = [int(number) for number in rng.integers(-999, 999, weights.shape[1])]
        of_each = weights if answers == "cumulative" else estimates_of(name, periods, "periods")
        assert np.allclose(made.answer(noisy), of_each @ noisy, atol=1e-7)
        squares = (weights**2).sum(axis=1) * made.fineness**2
        if answers == "ranges":
            (bound,) = set(made.squared_weights)
            assert squares.max() <= bound * (1 + 1e-9)
            assert bound <= 1.25 * squares.max()
        else:
            assert np.allclose(made.squared_weights, squares)
        # `combined_noise` takes no weight for larger than 1, but for the matrix.
        assert name == "square-root" or np.abs(weights).max() <= 1 + 1e-9


def test_exact_numbers_come_back() -> None:
    numbers = [3, 0, 7, 2**30, 5, 5, -9]
    for answers, name in ASKED:
        made = SeriesStrategy(name, 7, answers)
        due = np.cumsum(numbers) if answers == "cumulative" else numbers
        assert np.allclose(made.answer(made.sums(numbers)), due, rtol=1e-12, atol=1e-5)


MOVED = [
    (periods, rows, in_period, stays, ends)
    for periods in (2, 3, 4, 5, 8)
    for rows, in_period, stays in ((1, 1, True), (1, 1, False), (2, 1, False), (2, 2, False))
    for ends in ((0, 1), (0, 3), (-2, 3), (-3, 0))
    if rows == 1 or periods < 5 or ends == (0, 1)
] + [(3, 3, 2, False, (0, 1)), (4, 3, 1, False, (0, 1))]


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_record_moves_further(name: Strategy) -> None:
    """By trying all neighbours; of records of one row it is exactly as far."""
    for periods, rows, in_period, stays, ends in MOVED:
        made = SeriesStrategy(name, periods, "cumulative")
        most, most_squared = furthest(name, periods, ends, rows, in_period, stays)
        squared = made.moves(ends, rows, in_period, stays=stays, squared=True)
        moves = [(squared, most_squared)]
        if name != "square-root":
            moves.append((made.moves(ends, rows, in_period, stays=stays), most))
        for bound, true in moves:
            assert true <= bound, (periods, rows, in_period, stays, ends)
            assert rows > 1 or bound == true, (periods, rows, in_period, stays, ends)
            assert bound <= 2.5 * true


def test_a_person_in_every_period() -> None:
    """One row in each of T periods: as far as the tree counts them, and not T times a row."""
    for periods in (4, 12, 64):
        tree = SeriesStrategy("tree", periods, "ranges")
        ones = sum(number**2 for number in tree.sums([1] * periods))
        bound = tree.moves((0, 1), periods, 1, squared=True)
        assert ones <= bound <= 2 * ones < periods**2 * tree.moves((0, 1), squared=True)
        root = SeriesStrategy("square-root", periods, "cumulative")
        ones = sum(number**2 for number in root.sums([1] * periods))
        assert ones <= root.moves((0, 1), periods, 1, squared=True) == 2 * ones


# -- error bars ------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, noise: Noise, size: tuple[int, int]) -> np.ndarray:
    """Independent of OpenDP's samplers, so that runs have a seed."""
    if isinstance(noise, DiscreteLaplace):
        p = 1.0 - math.exp(-1.0 / noise.scale)
        return rng.geometric(p, size).astype(float) - rng.geometric(p, size)
    reach = math.ceil(12 * noise.scale) + 2
    points = np.arange(-reach, reach + 1)
    mass = np.exp(-(points**2) / (2.0 * noise.scale**2))
    return rng.choice(points, size, p=mass / mass.sum()).astype(float)


TOO_SMALL = {
    DiscreteLaplace(0.7): 3.0,
    DiscreteLaplace(9.0): 2.2,
    DiscreteGaussian(0.8): 2.3,
    DiscreteGaussian(40.0): 1.3,
}
"""By how much smaller an error is surely too small: how close to the law the bounds are."""
NOISES = tuple(TOO_SMALL)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("answers", "name"), ASKED)
def test_errors_cover(answers: SeriesAnswers, name: Strategy, noise: Noise) -> None:
    """10,000 runs: of each answer alone and of all at once; and a smaller error doesn't cover."""
    if name == "square-root" and isinstance(noise, DiscreteLaplace):
        return
    rng, runs, periods = np.random.default_rng(11), 10_000, 9
    made = SeriesStrategy(name, periods, answers)
    weights = estimates_of(name, periods, answers) * made.fineness
    z = drawn(rng, noise, (runs, weights.shape[1]))
    off = np.abs(z @ weights.T)
    squares = made.squared_weights
    if answers == "ranges":
        squares = (max(squares),) * len(weights)
    for many in (1, made.answered):
        each = np.array([margin(noise, 0.95, w, 19, answers=many) for w in squares])
        missed = off > each
        misses = int(missed.sum(axis=0).max() if many == 1 else missed.any(axis=1).sum())
        assert misses <= 0.05 * runs + 6 * math.sqrt(0.05 * 0.95 * runs)
    each = np.array([margin(noise, 0.95, w, 19) for w in squares])
    assert (off > each / TOO_SMALL[noise]).mean(axis=0).max() > 0.05


def test_gaussian_errors_are_nearly_those_of_a_normal_law() -> None:
    assert multiple(DiscreteGaussian(1e6), Fraction(1, 20), 1.0, 100) == pytest.approx(
        1.95996e6, rel=1e-3
    )
    assert multiple(DiscreteGaussian(50.0), Fraction(1, 20), 1.0, 100) < 1.04 * 1.96 * 50.0


def test_tails_are_above_exact_ones() -> None:
    """Of sums of a few entries, whose law is a convolution."""
    for noise, count in product(NOISES[:3], (1, 2, 5)):
        reach = math.ceil(60 * noise.scale)
        points = np.arange(-reach, reach + 1)
        if isinstance(noise, DiscreteLaplace):
            mass = np.exp(-np.abs(points) / noise.scale)
        else:
            mass = np.exp(-(points**2) / (2.0 * noise.scale**2))
        mass /= mass.sum()
        law = mass
        for _ in range(count - 1):
            law = np.convolve(law, mass)
        sums = np.abs(np.arange(len(law)) - len(law) // 2)
        norm = math.sqrt(count)
        for x in np.linspace(0.5, 12.0, 40) * noise.scale:
            exact = law[sums > x * norm].sum()
            assert exact <= tail(noise, x, share_of(norm), count) * (1 + 1e-9) + 1e-13


def test_a_confidence_is_between_0_and_1() -> None:
    with pytest.raises(InputError, match="confidence"):
        margin(DiscreteLaplace(1.0), 1.0, 1.0, 2)
