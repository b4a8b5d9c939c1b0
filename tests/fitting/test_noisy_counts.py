"""Bounds from noisy counts: the union over counts, what noise hides, the tail, and coverage."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from bayesdp.errors import InputError
from bayesdp.fitting.noisy_counts import (
    PublicWindows,
    ReleasedCounts,
    VisitsAndExits,
    VisitsAndMoves,
    WindowCells,
    released_counts,
)
from bayesdp.fitting.regions import (
    FLOOR,
    WEIGHT,
    CountRange,
    bounds_within,
    log_martingale,
    probability_interval,
)
from bayesdp.mechanisms import DiscreteLaplace
from tests.effort import in_full, runs
from tests.fitting.test_regions import LAWS, betaln, simulated

KINDS = [
    VisitsAndExits(2, 1),
    VisitsAndMoves(2, 1),
    WindowCells(2, 1),
    WindowCells(3, 1),
    WindowCells(2, 2),
]


def counted(series: list[list[int]], states: int, order: int) -> tuple[np.ndarray, PublicWindows]:
    """The counts of windows, one by one, and what is public of them."""
    counts = np.zeros((states,) * (order + 1), dtype=np.int64)
    for records in series:
        for end in range(order, len(records)):
            counts[tuple(records[end - order : end + 1])] += 1
    return counts, PublicWindows(int(counts.sum()), len(series))


def ids(kind: ReleasedCounts) -> str:
    return f"{kind.name} {kind.states} {kind.order}"


def test_absurd_noise_still_gives_bounds() -> None:
    """Counts that add up to more than there are windows: the bounds are wide, and no fault."""
    rng = np.random.default_rng(31)
    kind, noise = WindowCells(3, 1), DiscreteLaplace.for_cost(4, 0.5)
    for _ in range(20):
        noisy = rng.integers(-50, 400, size=kind.number).tolist()
        bounds = kind.bounds(noisy, noise, PublicWindows(120, 1), 0.95)
        assert (bounds.lower <= bounds.upper).all()


# -- the union over counts that are known up to an interval ----------------------------------


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 5), Fraction(1, 400)])
def test_the_corners_are_the_union_of_all_counts_within(alpha: Fraction) -> None:
    some = range(0, 9, 2)
    boxes = [((s, s + 3), (f, f + 2)) for s, f in itertools.product(some, some)]
    for (s1, s2), (f1, f2) in [*boxes, ((90, 110), (3, 6)), ((0, 40), (0, 900))]:
        within = [
            probability_interval(s, f, alpha)
            for s in {s1, s1 + 1, (s1 + s2) // 2, s2}
            for f in {f1, f1 + 1, (f1 + f2) // 2, f2}
        ]
        lower = probability_interval(s1, f2, alpha)[0]
        upper = probability_interval(s2, f1, alpha)[1]
        assert (lower, upper) == (min(e[0] for e in within), max(e[1] for e in within))


def test_the_middle_is_inside_wherever_the_union_is_proved() -> None:
    """`M` at `(s + b) / (s + f + 2 b)` is at most `e^(1/2)`, which the proof rests on."""
    for hits, misses in itertools.product([0, 1, 2, 5, 30, 1000, 10**6], repeat=2):
        middle = (hits + 0.5) / (hits + misses + 1.0)
        assert log_martingale(middle, hits, misses) <= 0.5


def test_a_failure_for_which_the_union_is_not_proved_is_refused() -> None:
    item = np.ones((2, 2), dtype=np.int64)
    with pytest.raises(InputError, match="larger confidence"):
        bounds_within(CountRange(item, item + 1, item, item), 0.01, Fraction(101, 100))
    bounds_within(CountRange(item, item + 1, item, item), 0.01, Fraction(1))
    bounds_within(
        CountRange(item, item, item, item), 0.01, Fraction(101, 100)
    )  # counts without noise


# -- what noise hides --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_counts_are_known_whatever_noise_within_the_error(kind: ReleasedCounts) -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        lengths = rng.integers(1, 12, rng.integers(1, 7))
        stay = rng.uniform(0.0, 1.0)
        series = []
        for length in lengths:
            records = [int(rng.integers(kind.states))]
            while len(records) < length:
                other = int(rng.integers(kind.states))
                records.append(records[-1] if rng.random() < stay else other)
            series.append(records)
        counts, windows = counted(series, kind.states, kind.order)
        others = counts.sum(axis=-1, keepdims=True) - counts
        for error in (0, 1, 4):
            moved = rng.choice([-error, error], kind.number)
            noisy = [value + int(by) for value, by in zip(kind.values(counts), moved, strict=True)]
            known = kind.known(noisy, error, windows)
            assert (known.least_hits <= counts).all()
            assert (counts <= known.most_hits).all()
            assert (known.least_misses <= others).all()
            assert (others <= known.most_misses).all()
            assert min(known.least_hits.min(), known.least_misses.min()) >= 0
            estimated = kind.counts(noisy, windows)
            assert estimated.min() >= 0.0
            if error == 0 and kind.name != "visits-and-exits":
                assert (estimated == counts).all()
                assert (known.least_hits == known.most_hits).all()


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_noise_and_chance_may_fail_by_half_each(kind: ReleasedCounts) -> None:
    noise, windows = DiscreteLaplace(3.0), PublicWindows(900, 1)
    noisy = [40 + 7 * i for i in range(kind.number)]
    bounds = kind.bounds(noisy, noise, windows, 0.9)
    known = kind.known(noisy, noise.quantile(1.0 - 0.05 / kind.number), windows)
    cells = kind.states**kind.order * (1 if kind.states == 2 else kind.states)
    for place in np.ndindex(known.least_hits.shape):
        least, most = int(known.least_hits[place]), int(known.most_hits[place])
        others = int(known.least_misses[place]), int(known.most_misses[place])
        alpha = Fraction(1, 20) / cells
        assert bounds.lower[place] == probability_interval(least, others[1], alpha)[0]
        assert bounds.upper[place] == probability_interval(most, others[0], alpha)[1]
    assert bounds.confidence == 0.9


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_any_noise_gives_bounds_of_some_chain(kind: ReleasedCounts) -> None:
    """Noise beyond the error is rare, and what comes of it must still be a population."""
    from bayesdp.populations import MarkovChain

    rng = np.random.default_rng(5)
    for size in (3, 300):
        windows = PublicWindows(50, 2)
        noisy = [int(value) for value in rng.integers(-size, size, kind.number)]
        bounds = kind.bounds(noisy, DiscreteLaplace(5.0), windows, 0.9)
        MarkovChain(
            transition_lower=bounds.lower.tolist(),
            transition_upper=bounds.upper.tolist(),
            order=kind.order,
            length=9,
        )
        row = kind.transition(noisy, windows)
        assert np.isnan(row).any() or np.allclose(row.sum(axis=-1), 1.0)


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_the_error_has_the_exact_tail_of_all_integers_together(kind: ReleasedCounts) -> None:
    for scale in (0.3, 2.0, 80.0):
        for confidence in (0.5, 0.95, 0.999):
            error = kind.error(DiscreteLaplace(scale), confidence)
            a = math.exp(-1.0 / scale)
            allowed = (1.0 - confidence) / 2.0 / kind.number
            assert 2.0 * a ** (error + 1) / (1.0 + a) <= allowed * (1.0 + 1e-9)
            assert error == 0 or 2.0 * a**error / (1.0 + a) > allowed * (1.0 - 1e-9)
    for confidence in (0.0, 1.0, -1.0, 1.0 - 1e-16):
        with pytest.raises(InputError, match="confidence"):
            kind.error(DiscreteLaplace(1.0), confidence)


@pytest.mark.parametrize("kind", KINDS[:3], ids=ids)
def test_with_fewer_transitions_some_bound_is_0_however_they_are_distributed(
    kind: ReleasedCounts,
) -> None:
    for error, runs_of_records in itertools.product((0, 1, 2), (0, 1)):
        least = kind.least_transitions(error, runs_of_records)
        for total in (least - 1, least):
            windows, shown = PublicWindows(total, runs_of_records), False
            for leave, enter, stay in itertools.product(range(total + 1), repeat=3):
                out = total - leave - enter - stay
                if out < 0 or (kind.name == "visits-and-exits" and leave != enter):
                    continue
                values = kind.values(np.array([[out, enter], [leave, stay]]))
                shown |= bool((kind.known(values, error, windows).least_hits > 0).all())
            assert shown == (total >= least)
    assert WindowCells(3, 2).least_transitions(5, 9) == 27 * 6


def test_what_is_released_has_the_least_noise() -> None:
    assert isinstance(released_counts(2, 1, many_series=False), VisitsAndExits)
    assert isinstance(released_counts(2, 1, many_series=True), VisitsAndMoves)
    assert isinstance(released_counts(2, 2, many_series=False), WindowCells)
    assert isinstance(released_counts(3, 1, many_series=True), WindowCells)
    assert [kind.sensitivity for kind in KINDS] == [2, 3, 4, 4, 6]
    assert [kind.number for kind in KINDS] == [2, 3, 4, 9, 8]


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_no_record_moves_the_integers_by_more_and_some_by_as_much(kind: ReleasedCounts) -> None:
    """All series that are long enough for every window of a record, and all its neighbours."""
    around = 2 * kind.order + 1
    most = 0
    for length in range(1, around + 1):
        for records in itertools.product(range(kind.states), repeat=length):
            here = kind.values(counted([list(records)], kind.states, kind.order)[0])
            for place, state in itertools.product(range(length), range(kind.states)):
                other = [*records[:place], state, *records[place + 1 :]]
                there = kind.values(counted([other], kind.states, kind.order)[0])
                moved = sum(abs(x - y) for x, y in zip(here, there, strict=True))
                most = max(most, moved)
    assert most == kind.sensitivity


# -- coverage ----------------------------------------------------------------------------------


def outside(law: np.ndarray, known: list[CountRange], alpha: Fraction) -> np.ndarray:
    """Which of the ranges leave the true transitions out, by the formula of the martingale."""
    threshold, a, b = -math.log(alpha), float(WEIGHT), float(FLOOR)

    def below(p: np.ndarray, hits: np.ndarray, misses: np.ndarray) -> np.ndarray:
        """Whether p is below the interval of these counts."""
        mixed = betaln(a * p + b + hits, a * (1.0 - p) + b + misses)
        mixed -= betaln(a * p + b, a * (1.0 - p) + b)
        log_m = mixed - hits * np.log(p) - misses * np.log1p(-p)
        return (log_m >= threshold) & (p * (hits + misses) < hits)

    sides = [
        np.array([getattr(counts, side) for counts in known])
        for side in ("least_hits", "most_hits", "least_misses", "most_misses")
    ]
    least, most, least_others, most_others = sides
    out = below(law, least, most_others) | below(1.0 - law, least_others, most)
    return out.any(axis=tuple(range(1, law.ndim + 1)))


@pytest.mark.prove
@pytest.mark.parametrize("length", [100, 1_000, 10_000, 100_000])
@pytest.mark.parametrize(("states", "order"), LAWS)
def test_the_truth_is_inside_as_often_as_said(states: int, order: int, length: int) -> None:
    tried = runs(2000)
    if length > 1_000 and not in_full():
        length, tried = 400, 20
    true, rng = np.array(LAWS[states, order]), np.random.default_rng(length + states + order)
    counts = simulated(true, length, tried, rng)
    confidence, scale, windows = 0.8, 0.002 * length + 1.0, PublicWindows(length, 1)
    cells = states**order * (1 if states == 2 else states)
    for kind in [*KINDS, WindowCells(3, 2)]:
        if (kind.states, kind.order) != (states, order):
            continue
        error = kind.error(DiscreteLaplace(scale), confidence)
        size, p = (tried, kind.number), 1.0 - math.exp(-1.0 / scale)
        noise = rng.geometric(p, size) - rng.geometric(p, size)  # the discrete Laplace law
        ranges = [
            kind.known((np.array(kind.values(seen)) + drawn).tolist(), error, windows)
            for seen, drawn in zip(counts, noise, strict=True)
        ]
        left_out = outside(true, ranges, Fraction(1, 10) / cells)
        assert left_out.sum() <= binom.isf(1e-6, tried, 1.0 - confidence)
        for inside, known in zip(~left_out[:3], ranges[:3], strict=True):  # as the intervals say
            bounds = bounds_within(known, confidence, Fraction(1, 10))
            assert inside == ((bounds.lower <= true) & (true <= bounds.upper)).all()
