"""Bounds on transitions: the martingale in exact fractions, coverage, and outward rounding."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import binom

from bayesdp.errors import InputError
from bayesdp.fitting import regions
from bayesdp.fitting.regions import (
    DIGITS,
    FLOOR,
    WEIGHT,
    log_martingale,
    probability_interval,
    transition_bounds,
)
from tests.effort import in_full, runs

ALPHA = Fraction(1, 20)
COUNTS = [(0, 0), (1, 0), (0, 7), (3, 7), (250, 250), (12, 15_000), (1, 10**7), (4 * 10**8, 10**9)]


def step_by_step(p: Fraction, sequence: tuple[int, ...]) -> Fraction:
    """The wealth of a gambler who bets by the mixture, transition after transition."""
    wealth, hits = Fraction(1), 0
    for before, hit in enumerate(sequence):
        seen, prior, law = (hits, p, p) if hit else (before - hits, 1 - p, 1 - p)
        wealth *= (WEIGHT * prior + FLOOR + seen) / (WEIGHT + 2 * FLOOR + before) / law
        hits += hit
    return wealth


@pytest.mark.parametrize("p", [Fraction(1, 50), Fraction(3, 10), Fraction(9, 10)])
def test_the_martingale_has_mean_one_and_the_closed_form(p: Fraction) -> None:
    mean = Fraction(0)
    for sequence in itertools.product((0, 1), repeat=6):
        hits, wealth = sum(sequence), step_by_step(p, sequence)
        mean += p**hits * (1 - p) ** (6 - hits) * wealth
        assert log_martingale(float(p), hits, 6 - hits) == pytest.approx(math.log(wealth))
    assert mean == 1


@pytest.mark.parametrize("p", [0.003, 0.2, 0.5, 0.93])
def test_whoever_stops_when_the_truth_is_left_out_rarely_can(p: float) -> None:
    """The exact probability that the truth ever lies outside within 300 transitions."""
    inside, left_out = {0: 1.0}, 0.0
    for number in range(1, 301):
        moved: dict[int, float] = {}
        for hits, weight in inside.items():
            moved[hits] = moved.get(hits, 0.0) + weight * (1.0 - p)
            moved[hits + 1] = moved.get(hits + 1, 0.0) + weight * p
        inside = {}
        for hits, weight in moved.items():
            if log_martingale(p, hits, number - hits) >= -math.log(ALPHA):
                left_out += weight
            else:
                inside[hits] = weight
    assert 0.0 < left_out <= ALPHA


def by_betaln(p: float, q: float, hits: int, misses: int) -> float:
    a, b = float(WEIGHT), float(FLOOR)
    mixed = betaln(a * p + b + hits, a * q + b + misses) - betaln(a * p + b, a * q + b)
    return float(mixed - hits * math.log(p) - misses * math.log(q))


@pytest.mark.parametrize(("hits", "misses"), COUNTS)
def test_ends_are_where_the_martingale_reaches_its_threshold(hits: int, misses: int) -> None:
    lower, upper = probability_interval(hits, misses, ALPHA)
    assert (lower > 0.0, upper < 1.0) == (hits > 0, misses > 0)
    threshold = -math.log(ALPHA)
    if hits:
        assert by_betaln(lower, 1.0 - lower, hits, misses) >= threshold - 1e-5
        inner = lower + 2e-5 * min(lower, 1.0 - lower)
        assert by_betaln(inner, 1.0 - inner, hits, misses) < threshold
    if misses:
        assert by_betaln(upper, 1.0 - upper, hits, misses) >= threshold - 1e-5
        inner = upper - 2e-5 * min(upper, 1.0 - upper)
        assert by_betaln(inner, 1.0 - inner, hits, misses) < threshold
    assert probability_interval(misses, hits, ALPHA)[0] == pytest.approx(1.0 - upper, abs=1e-15)
    for end in {lower, upper} - {0.0, 1.0}:
        least = min(Fraction(repr(end)), 1 - Fraction(repr(end)))
        assert least == Fraction(f"{float(least):.{DIGITS}g}")


def test_no_end_is_taken_from_doubles_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    probability_interval.cache_clear()
    right = probability_interval(30, 70, ALPHA)
    for factor in (1.00002, 1.3, 2.0):  # the search ends inside of the region
        near = regions._near_end
        monkeypatch.setattr(regions, "_near_end", lambda *given: near(*given) * factor)  # noqa: B023
        probability_interval.cache_clear()
        lower, upper = probability_interval(30, 70, ALPHA)
        assert lower <= right[0]
        assert upper >= right[1]
        monkeypatch.undo()
    monkeypatch.setattr(regions, "_outside", lambda *given: False)
    probability_interval.cache_clear()
    assert probability_interval(30, 70, ALPHA) == (0.0, 1.0)
    probability_interval.cache_clear()


@pytest.mark.parametrize(("hits", "misses"), COUNTS[1:])
def test_the_logarithm_is_convex_so_that_the_region_is_an_interval(hits: int, misses: int) -> None:
    grid = np.linspace(0.001, 0.999, 999)
    values = np.array([log_martingale(float(p), hits, misses) for p in grid])
    scale = 1e-9 * (1.0 + np.abs(values).max())
    assert (np.diff(values, 2) >= -scale).all()
    if hits + misses:
        share = hits / (hits + misses)
        assert log_martingale(min(max(share, 1e-12), 1 - 1e-12), hits, misses) <= 1e-6


def test_all_cells_hold_at_once_and_those_never_reached_are_free() -> None:
    counts = np.array([[40, 60, 0], [0, 0, 0], [5, 5, 90]])
    bounds = transition_bounds(counts, 0.9)
    for place in itertools.product(range(3), repeat=2):
        row = counts[place[0]]
        ends = probability_interval(
            int(counts[place]), int(row.sum() - counts[place]), Fraction(1, 90)
        )
        assert (bounds.lower[place], bounds.upper[place]) == ends
    assert bounds.lower[1].tolist() == [0.0] * 3
    assert bounds.upper[1].tolist() == [1.0] * 3
    two = transition_bounds(np.array([[40, 60], [5, 95]]), 0.9)
    assert (two.lower[0, 0], two.upper[0, 0]) == probability_interval(40, 60, Fraction(1, 20))
    assert transition_bounds(np.full((2, 2, 2), 9), 0.9).lower.shape == (2, 2, 2)


def test_a_confidence_means_its_decimal_digits() -> None:
    bounds = transition_bounds(np.array([[30, 70], [1, 1]]), 0.95)
    assert bounds.lower[0, 0] == probability_interval(30, 70, Fraction(1, 40))[0]


@pytest.mark.parametrize(
    "counts", [np.ones(3), np.ones((2, 3)), np.ones((1, 1)), np.array([[1, -1], [0, 1]])]
)
def test_counts_that_are_none(counts: np.ndarray) -> None:
    with pytest.raises(InputError, match="counts"):
        transition_bounds(counts.astype(np.int64), 0.9)
    with pytest.raises(InputError, match="confidence"):
        transition_bounds(np.ones((2, 2), dtype=np.int64), 1.0)


LAWS = {
    (2, 1): [[0.97, 0.03], [0.4, 0.6]],
    (3, 1): [[0.8, 0.15, 0.05], [0.01, 0.49, 0.5], [0.3, 0.3, 0.4]],
    (2, 2): [[[0.95, 0.05], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]]],
    (3, 2): [[[0.5 + 0.1 * i, 0.3 - 0.1 * i, 0.2]] * 3 for i in range(3)],
}


def simulated(law: np.ndarray, length: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of `number` chains, each of this length, that begin anywhere."""
    states, order = law.shape[-1], law.ndim - 1
    cumulated, rows = law.reshape(-1, states).cumsum(axis=1)[:, :-1], np.arange(number)
    context = rng.integers(states**order, size=number)
    counts = np.zeros((number, states**order, states), dtype=np.int64)
    for _ in range(length):
        after = (rng.random(number)[:, None] > cumulated[context]).sum(axis=1)
        counts[rows, context, after] += 1
        context = (context * states + after) % states**order
    return counts.reshape((number, *law.shape))


@pytest.mark.prove
@pytest.mark.parametrize("length", [100, 1_000, 10_000, 100_000])
@pytest.mark.parametrize(("states", "order"), LAWS)
def test_the_truth_is_inside_as_often_as_said(states: int, order: int, length: int) -> None:
    tried = runs(2000)
    if length > 1_000 and not in_full():
        length, tried = 400, 20
    law, rng = np.array(LAWS[states, order]), np.random.default_rng(length + states + order)
    counts = simulated(law, length, tried, rng)
    alpha = Fraction(1, 5) / (states**order * (1 if states == 2 else states))
    held = (martingales(law, counts) < -math.log(alpha)).all(axis=tuple(range(1, law.ndim + 1)))
    assert (~held).sum() <= binom.isf(1e-6, tried, 0.2)
    for inside, seen in zip(held[:20], counts[:20], strict=True):  # as the intervals say
        bounds = transition_bounds(seen, 0.8)
        assert inside == ((bounds.lower <= law) & (law <= bounds.upper)).all()


def martingales(law: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """`ln M` of the true transitions, for each cell of each run."""
    a, b = float(WEIGHT), float(FLOOR)
    misses = counts.sum(axis=-1, keepdims=True) - counts
    mixed = betaln(a * law + b + counts, a * (1.0 - law) + b + misses)
    mixed -= betaln(a * law + b, a * (1.0 - law) + b)
    return np.asarray(mixed - counts * np.log(law) - misses * np.log1p(-law))
