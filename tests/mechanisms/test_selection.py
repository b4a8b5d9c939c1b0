"""Quantiles: scores, how far a record moves them, the laws of the choice, and its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, log

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms.selection import (
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    rank_scores,
)
from bayesdp.release.queries.quantiles import Choice
from tests.chance import Chance
from tests.oracles import selection as oracle

HALF = Fraction(1, 2)
PROBABILITIES = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(2, 3)]
Counts = tuple[int, ...]
LAWS = pytest.mark.parametrize(
    ("law", "kind"),
    [
        (oracle.permute_and_flip, PermuteAndFlip),
        (oracle.softmax, ExponentialMechanism),
    ],
    ids=["permute-and-flip", "exponential"],
)
LawOf = Callable[[Sequence[int]], oracle.Law]


def ranks_by_hand(values: Sequence[int], candidates: int, p: Fraction) -> list[Fraction]:
    """How many rows the rank `p N` is away from those that a candidate may have."""
    away = []
    for candidate in range(candidates):
        below = sum(value < candidate for value in values)
        upto = sum(value <= candidate for value in values)
        places = [below + (upto - below) * Fraction(i, 10) for i in range(11)]
        places.append(min(max(p * len(values), Fraction(below)), Fraction(upto)))
        away.append(min(abs(place - p * len(values)) for place in places))
    return away


def counts_of(values: Sequence[int], candidates: int) -> Counts:
    return tuple(sum(value == candidate for value in values) for candidate in range(candidates))


@pytest.mark.parametrize("p", PROBABILITIES)
def test_scores_are_distances_of_ranks(p: Fraction) -> None:
    for rows in range(6):
        for values in combinations_with_replacement(range(3), rows):
            scores = rank_scores(counts_of(values, 3), p)
            away = ranks_by_hand(values, 3, p)
            assert scores == [-p.denominator * distance for distance in away]
            assert max(scores) == 0, "some candidate is a quantile"


def test_a_median_by_hand() -> None:
    """Of 1, 1, 2, 4 every number from 1 to 2 is a median; 4 is one row off."""
    assert rank_scores([0, 2, 1, 0, 1], HALF) == [-4, 0, 0, -2, -2]
    assert rank_scores([7], HALF) == [0]
    assert rank_scores([0, 0], HALF) == [0, 0]


# -- how far a record moves the scores -------------------------------------------------------------

OUT = -1
"""The value of a row that does not count."""
Rows = tuple[tuple[int, int], ...]
"""The group and the value of each row of a record."""


@cache
def scores_by_group(rows: Rows, groups: int, p: Fraction) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(rank_scores(counts_of([v for g, v in rows if g == group], 3), p))
        for group in range(groups)
    )


def records(most: int, groups: int) -> list[Rows]:
    """All records of at most so many rows."""
    kinds = [(group, value) for group in range(groups) for value in (OUT, 0, 1, 2)]
    return [rows for many in range(most + 1) for rows in combinations_with_replacement(kinds, many)]


def moves(before: Rows, after: Rows, others: Rows, groups: int, p: Fraction) -> list[int]:
    """How far the scores of each group move, at most, when a record is replaced."""
    old, new = (scores_by_group(others + mine, groups, p) for mine in (before, after))
    return [
        max(abs(a - b) for a, b in zip(first, second, strict=True))
        for first, second in zip(old, new, strict=True)
    ]


OTHERS: list[Rows] = [(), ((0, 0),), ((0, 1), (1, 1)), ((0, 0), (0, 2), (1, 2)), ((0, 2),) * 3]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_no_record_moves_scores_further(p: Fraction) -> None:
    """All records of up to two rows, which may count or not, in one group or in several."""
    choice = Choice(p, (0.0, 1.0, 2.0), None, (0, 1, 2))
    for rows, groups in ((1, 1), (2, 1), (2, 2)):
        moves_between_groups = groups > 1
        furthest, squared = 0, 0
        for before, after in product(records(rows, groups), repeat=2):
            for others in OTHERS:
                held = tuple((group % groups, value) for group, value in others)
                moved = moves(before, after, held, groups, p)
                furthest = max(furthest, sum(moved))
                squared = max(squared, sum(move * move for move in moved))
        assert (furthest, squared) == choice.moves(
            rows, rows, moves_between_groups=moves_between_groups
        ), (rows, groups)


def test_moves_by_hand() -> None:
    """A median in half rows, and the 0.9-quantile in tenths: one row, and two in several groups."""
    median = Choice(HALF, (0.0, 1.0), None, (0, 1))
    assert median.moves(1, 1, moves_between_groups=False) == (2, 4)
    assert median.moves(2, 2, moves_between_groups=True) == (4, 16)
    high = Choice(Fraction(9, 10), (0.0, 1.0), None, (0, 1))
    assert high.moves(3, 3, moves_between_groups=False) == (30, 900)
    assert high.moves(3, 3, moves_between_groups=True) == (54, 9 * 162)


# -- what a choice costs ---------------------------------------------------------------------------


@cache
def permute_and_flip(scores: tuple[int, ...]) -> oracle.Law:
    return oracle.permute_and_flip(scores)


def neighbours(p: Fraction) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The scores of all tables of up to four rows, each with those where one row is replaced."""
    for rows in range(1, 5):
        for values in combinations_with_replacement((OUT, 0, 1, 2), rows):
            for place, new in product(range(rows), (OUT, 0, 1, 2)):
                pair = (values, (*values[:place], new, *values[place + 1 :]))
                first, second = (tuple(rank_scores(counts_of(table, 3), p)) for table in pair)
                yield first, second


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_pure_cost_bounds_the_exact_law(p: Fraction) -> None:
    """With noise of scale 1 / ln 2 everything is a fraction; e^(2 S / scale) is 2^(2 S)."""
    largest = Fraction(1)
    for first, second in neighbours(p):
        laws = permute_and_flip(first), permute_and_flip(second)
        largest = max(largest, *(a / b for a, b in zip(*laws, strict=True)))
    assert largest <= Fraction(2) ** (2 * p.denominator)
    assert largest >= Fraction(2) ** p.denominator, "less than half of it would not be enough"


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_zcdp_cost_bounds_every_divergence(p: Fraction) -> None:
    """At a scale where one row moves the law a little, and at one where it moves it much."""
    for half, reached in ((Fraction(99, 100), 0.1), (HALF, 0.02)):
        scale = -1 / log(half)
        rho = ExponentialMechanism(scale, 3).cost(p.denominator**2)
        closest = 0.0
        for pair in set(neighbours(p)):
            a, b = (np.array(oracle.softmax(scores, half), dtype=float) for scores in pair)
            for alpha in (1.01, 2.0, 8.0):
                moment = np.logaddexp.reduce(alpha * np.log(a) + (1 - alpha) * np.log(b))
                divergence = float(moment) / (alpha - 1)
                assert divergence <= rho * alpha * (1 + 1e-9)
                closest = max(closest, divergence / (rho * alpha))
        assert closest > reached


def test_two_definitions_of_one_law() -> None:
    """Permute-and-flip is the largest score with exponential noise."""
    for scores in product((0, -1, -3), repeat=4):
        law = oracle.permute_and_flip(scores)
        assert sum(law) == 1
        assert law == oracle.largest_with_exponential_noise(scores)


@pytest.mark.parametrize("cost", [0.01, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("move", [1, 2, 30, 10**7])
def test_costs_are_exact_and_kept(move: int, cost: float) -> None:
    pure = PermuteAndFlip.for_cost(move, cost, 50)
    assert pure.cost(move) <= cost
    assert pure.scale == pytest.approx(2 * move / cost, rel=1e-15)
    assert Fraction(pure.scale) >= 2 * move / Fraction(cost)
    zcdp = ExponentialMechanism.for_cost(move**2, cost, 50)
    assert zcdp.cost(move**2) <= cost
    assert zcdp.scale == pytest.approx(move / (2 * cost) ** 0.5, rel=1e-15)
    for chosen, exact in (
        (pure, 2 * move / Fraction(pure.scale)),
        (zcdp, move**2 / (2 * Fraction(zcdp.scale) ** 2)),
    ):
        stated = chosen.cost(move if chosen is pure else move**2)
        assert exact <= Fraction(stated) <= exact * (1 + Fraction(1, 2**52))


def test_opendp_certifies_the_same_costs() -> None:
    """Its privacy maps say what the module proves, up to the rounding of doubles."""
    from bayesdp.mechanisms.selection import _noisy_max

    for scale in (0.7, 3.0, 1234.5):
        for move in (1, 2, 30):
            pure = PermuteAndFlip(scale, 9).cost(move)
            assert _noisy_max(PermuteAndFlip, scale).map(move) == pytest.approx(pure, rel=1e-15)
            zcdp = ExponentialMechanism(scale, 9).cost(move**2)
            theirs = _noisy_max(ExponentialMechanism, scale).map(move)
            assert theirs == pytest.approx(zcdp, rel=1e-15)


# -- error -----------------------------------------------------------------------------------------


@LAWS
def test_the_error_covers(law: LawOf, kind: type[NoisyMax]) -> None:
    """By the exact law of all tables of up to four rows for each candidate, and of a bad one."""
    scale = 1 / log(2)
    for confidence in (0.6, 0.9, 0.99):
        k = kind(scale, 3).quantile(confidence)
        tables = [(a, b, c) for a, b, c in product(range(5), repeat=3) if a + b + c > 0]
        for scores in [*(rank_scores(table, HALF) for table in tables), [0, -k - 1, -k - 1]]:
            parts = zip(law(scores), scores, strict=True)
            missed = sum(chance for chance, score in parts if k < -score)
            assert missed <= 1 - Fraction(confidence)


def test_the_error_of_the_exponential_mechanism_is_the_least() -> None:
    """All others just below what is allowed: one step less would be missed too often."""
    scale = 1 / log(2)
    for confidence in (0.9, 0.99):
        k = ExponentialMechanism(scale, 5).quantile(confidence)
        law = oracle.softmax([0, -k, -k, -k, -k])
        assert sum(law[1:]) > 1 - Fraction(confidence)


@LAWS
@pytest.mark.parametrize("scale", [0.3, 2.0, 1e5, 2.0**50])
def test_scale_and_error_are_inverse(law: LawOf, kind: type[NoisyMax], scale: float) -> None:
    for candidates in (2, 50, 2000):
        k = kind(scale, candidates).quantile(0.95)
        reached = kind.scale_for_error(k, 0.95, candidates)
        assert reached >= scale * (1 - 1e-9)
        assert kind(reached, candidates).quantile(0.95) <= k
        assert kind(reached * (1 + 1e-6), candidates).quantile(0.95) > k
    assert kind(scale, 2).quantile(0.95) <= kind(scale, 3).quantile(0.95)


# -- the sampler -----------------------------------------------------------------------------------

DRAWS, SCALE, SCORES = 6000, 3.5, (-7, 0, -2)


def real_law(kind: type[NoisyMax], scale: float) -> dict[int, float]:
    weights = [exp(score / scale) for score in SCORES]
    if kind is ExponentialMechanism:
        return {place: weight / sum(weights) for place, weight in enumerate(weights)}
    law = dict.fromkeys(range(3), 0.0)
    for place, weight in enumerate(weights):
        a, b = (w for other, w in enumerate(weights) if other != place)
        law[place] = weight * (1 - (a + b) / 2 + a * b / 3)
    return law


@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
def test_choices_have_their_law_and_no_other(kind: type[NoisyMax], chance: Chance) -> None:
    chosen = kind(SCALE, 3)
    sample = [chosen.choose(SCORES) for _ in range(DRAWS)]
    true = real_law(kind, SCALE)
    assert sum(true.values()) == pytest.approx(1.0)
    chance.expect_law(sample, true)
    for factor in (1.7, 0.6):
        chance.expect_other(sample, real_law(kind, factor * SCALE), true)
    (other,) = {PermuteAndFlip, ExponentialMechanism} - {kind}
    chance.expect_other(sample, real_law(other, SCALE), true)
    assert set(Counter(sample)) == {0, 1, 2}


def test_what_cannot_be_chosen_is_refused() -> None:
    with pytest.raises(InputError, match="values"):
        PermuteAndFlip(1.0, 2).choose([0, -(2**63) - 1])
    with pytest.raises(InputError, match="scale"):
        PermuteAndFlip.for_cost(10**9, 1e-30, 2)
    with pytest.raises(InputError, match="scale"):
        PermuteAndFlip.for_cost(1, 1e-320, 2)
    with pytest.raises(InputError, match="sensitivity"):
        PermuteAndFlip.for_cost(0, 1.0, 2)
    with pytest.raises(InputError, match="confidence"):
        PermuteAndFlip(1.0, 2).quantile(1.0)
    with pytest.raises(InputError, match="error"):
        PermuteAndFlip.scale_for_error(-1, 0.95, 2)
