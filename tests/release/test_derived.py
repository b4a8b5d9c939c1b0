"""What follows from released numbers: how often the stated errors hold, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bayesdp.errors import InputError
from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
from bayesdp.release.derived.numbers import _Fieller, _projected, _sum_of_laplace
from bayesdp.release.price.noise import Noise
from bayesdp.release.results.result import Result, ResultList
from tests.effort import runs
from tests.release.test_crossed import CELLS, study

LAPLACE, GAUSSIAN = DiscreteLaplace(30.0), DiscreteGaussian(40.0)


def released(value: float, noise: Noise = LAPLACE, step: float = 1.0, name: str = "a") -> Result:
    return Result(name, "sum", value, noise, step, 1.0)


def draws(rng: np.random.Generator, noise: Noise, count: int) -> np.ndarray:
    """Seeded noise of the same law: a difference of two geometric numbers, or by its weights."""
    if isinstance(noise, DiscreteLaplace):
        stop = -math.expm1(-1.0 / noise.scale)
        return rng.geometric(stop, count) - rng.geometric(stop, count)
    reach = np.arange(-int(12 * noise.scale), int(12 * noise.scale) + 1)
    weights = np.exp(-(reach**2) / (2.0 * noise.scale**2))
    return rng.choice(reach, count, p=weights / weights.sum())


# -- ratios ----------------------------------------------------------------------------------------

TRUTHS = [(2000.0, 900.0), (0.0, 400.0), (-70.0, 300.0), (50_000.0, 250.0), (8.0, -500.0)]


@pytest.mark.parametrize(
    ("over", "under", "most"),
    [(LAPLACE, LAPLACE, 0.97), (GAUSSIAN, GAUSSIAN, 0.995), (LAPLACE, GAUSSIAN, 0.998)],
)
def test_ratios_are_in_their_intervals_as_often_as_said(
    over: Noise, under: Noise, most: float
) -> None:
    """At 95 %, where the denominator is near 0 and where it isn't; and Laplace hardly more."""
    rng, count = np.random.default_rng(5), runs(10_000) // len(TRUTHS)
    inside = total = 0
    for top, bottom in TRUTHS:
        noises = zip(draws(rng, over, count), draws(rng, under, count), strict=True)
        for x, y in noises:
            try:
                ratio = released(top + x, over).over(released(bottom + y, under, name="b"))
            except InputError:
                inside += 1  # nothing is said
            else:
                inside += ratio.low <= top / bottom <= ratio.high
            total += 1
    spread = 4.0 * math.sqrt(0.05 * 0.95 / total)
    assert 0.95 - spread <= inside / total <= most + spread


def test_an_interval_of_a_wrong_scale_would_be_seen() -> None:
    """Half the noise in the formula covers far less often: the test above has the power to see."""
    rng = np.random.default_rng(6)
    small = DiscreteLaplace(15.0)
    inside = sum(
        ratio.low <= 2.0 <= ratio.high
        for x, y in zip(draws(rng, LAPLACE, 300), draws(rng, LAPLACE, 300), strict=True)
        for ratio in [released(1800 + x, small).over(released(900 + y, small, name="b"))]
    )
    assert inside / 300 < 0.88


def test_a_ratio_by_hand() -> None:
    """A denominator without noise: the interval is the numerator's, divided."""
    sharp = DiscreteLaplace(1e-3)
    ratio = released(100.0, step=0.5).over(released(8.0, sharp, name="b"), 0.9)
    error = LAPLACE.quantile(0.9) * 0.5
    assert ratio.value == 12.5
    assert ratio.high == pytest.approx((100 + error) / 8, rel=0.08)
    assert ratio.low == pytest.approx((100 - error) / 8, rel=0.08)
    assert ratio.high >= (100 + error) / 8
    assert (
        str(replace(ratio, low=-1.0000001, high=2.0000001)) == "12.5 in [-1.00001, 2.00001] (90 %)"
    )


@pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 0.3), (0.2, 5.0), (1.0, 0.99995), (2.0, 0.0)])
def test_the_sum_of_two_laplace_noises(scales: tuple[float, float]) -> None:
    """Against numerical integration of the convolution."""
    first, second = scales
    z = _sum_of_laplace(first, second, 0.05)
    x = np.linspace(-60 * first, 60 * first, 400_001)
    weights = np.exp(-np.abs(x) / first)
    weights /= weights.sum()
    if second:
        beyond = np.where(
            np.abs(x) > z,
            1.0 - 0.5 * np.exp(-(np.abs(x) - z) / second),
            0.5 * np.exp(-(z - np.abs(x)) / second),
        ) + 0.5 * np.exp(-(z + np.abs(x)) / second)
    else:
        beyond = (np.abs(x) > z).astype(float)
    assert float((weights * beyond).sum()) == pytest.approx(0.05, rel=1e-3)


def test_no_ratio_is_left_out() -> None:
    """What the set allows, tried ratio by ratio, is in the interval; and it reaches the ends."""
    for top, bottom in ((500.0, 300.0), (-40.0, 250.0), (3.0, 900.0)):
        over, under = released(top), released(bottom, DiscreteLaplace(20.0), name="b")
        fieller = _Fieller(over, under, 0.95, top, bottom)
        ratio = over.over(under)
        tried = np.linspace(ratio.low - 1.0, ratio.high + 1.0, 4001)
        allowed = [r for r in tried if abs(top - r * bottom) <= fieller.noise(abs(r))]
        assert ratio.low <= min(allowed)
        assert max(allowed) <= ratio.high
        width = ratio.high - ratio.low
        assert max(allowed) - min(allowed) >= width - 0.01 * width - 2 * (tried[1] - tried[0])


def test_what_has_no_ratio() -> None:
    good = released(100.0, name="b")
    error = LAPLACE.quantile(0.95)
    for near in (0.0, error - 1.0, 1.0 - error):
        with pytest.raises(InputError, match="no interval of the ratio holds"):
            good.over(released(near))
    with pytest.raises(InputError, match=r"denominator .*another number"):
        good.over(good)
    with pytest.raises(InputError, match="numerator is 'variance'"):
        replace(good, kind="variance").over(released(900.0))
    with pytest.raises(InputError, match="denominator is 'quantile'"):
        good.over(replace(released(900.0), kind="quantile"))
    with pytest.raises(InputError, match="confidence"):
        good.over(released(9e9), 1.0)


# -- the largest, and what adds up -----------------------------------------------------------------


def cells(values: list[float], noise: Noise = LAPLACE) -> ResultList:
    made = [replace(released(v, noise), kind="histogram", cell=i) for i, v in enumerate(values)]
    return ResultList(made)


def test_what_is_largest(tmp_path: Path) -> None:
    release = study(tmp_path, CELLS, CELLS | {"by": "sex"}).release()
    top = release["q0"].largest(2)
    assert [result.cell for result in top] == [(0, "no"), (1, "yes")]
    assert [result.value for result in top] == [3.0, 3.0]
    assert [result.cell for result in release["q1", "m"].largest(1)] == [(0, "no")]
    assert top["0", "no"].value == 3.0
    with pytest.raises(InputError, match="from 1 to 4"):
        release["q0"].largest(5)
    mixed = ResultList([released(1.0), released(2.0, step=0.5)])
    with pytest.raises(InputError, match="the same noise"):
        mixed.separation()
    with pytest.raises(InputError, match=r"results is .quantile.: expected results of kind count"):
        ResultList([replace(released(1.0), kind="quantile")]).largest(1)


def test_errors_of_all_numbers_at_once_hold_as_often_as_said() -> None:
    """Of what is left out, and of counts that were made to add up: 12 cells, at 95 %."""
    rng, count = np.random.default_rng(7), runs(10_000)
    truth = np.array([400, 395, 390, 200, 60, 5, 3, 1, 1, 0, 0, 0], dtype=float)
    separation = cells(list(truth)).separation()
    ranked = kept = 0
    close = np.zeros(count)
    for i in range(count):
        values = truth + draws(rng, LAPLACE, len(truth))
        order = np.argsort(-values, kind="stable")
        worst = max(truth[order[j]] - truth[order[i]] for i in range(12) for j in range(i, 12))
        ranked += worst <= separation
        answer = cells(list(values)).consistent(float(truth.sum()))
        moved = np.array(list(answer.values.values()))
        assert moved.min() >= 0.0
        assert moved.sum() == pytest.approx(truth.sum())
        assert np.linalg.norm(moved - truth) <= np.linalg.norm(values - truth) + 1e-9
        close[i] = np.abs(moved - truth).max()
        kept += close[i] <= answer.error
    spread = 4.0 * math.sqrt(0.05 * 0.95 / count)
    assert ranked / count >= 0.95 - spread
    assert kept / count >= 0.95 - spread
    # All noises at once are within half of it with 95 %, and hardly more.
    assert separation / 2 == pytest.approx(LAPLACE.quantile(1 - 0.05 / 12), rel=1e-6)
    assert answer.error == separation


def test_the_closest_counts_that_add_up() -> None:
    """Against all points of a fine grid."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        values, total = rng.normal(2, 4, 3), float(rng.integers(0, 8))
        answer = np.array(_projected(list(values), total))
        assert answer.min() >= 0.0
        assert answer.sum() == pytest.approx(total)
        distance = np.linalg.norm(answer - values)
        for a, b in product(np.linspace(0.0, total, 41), repeat=2):
            if a + b <= total:
                assert np.linalg.norm(np.array([a, b, total - a - b]) - values) >= distance - 1e-9


def test_counts_add_up_to_the_number_of_rows(tmp_path: Path) -> None:
    release = study(tmp_path, CELLS, budget={"epsilon": 0.5}).release()
    answer = release["q0"].consistent(total=8)
    assert list(answer.values) == ["0, no", "0, yes", "1, no", "1, yes"]
    assert sum(answer.values.values()) == pytest.approx(8)
    assert answer.error == pytest.approx(2 * release["q0", 0, "no"].error(1 - 0.05 / 4), rel=1e-6)
    with pytest.raises(InputError, match="total"):
        release["q0"].consistent(total=-1)
    with pytest.raises(InputError, match="counts"):
        ResultList([released(1.0)]).consistent(total=3)
