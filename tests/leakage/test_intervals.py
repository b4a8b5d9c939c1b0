"""Two-state chains between bounds: against chains inside, by 3.5 and by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesdp.leakage.chain import two_state_level
from bayesdp.leakage.deadline import Deadline, OutOfTimeError
from bayesdp.leakage.intervals import Box, _Kind, _Recursion, box_level
from bayesdp.theorems.markov_contraction import contraction_level
from tests.effort import runs
from tests.oracles import chains, finite

BELOW = 1e-9
LONG = 10**6


def member_level(
    a: float, b: float, dp_epsilon: float, uninformed: bool, length: int = LONG
) -> float:
    """What some mechanism certainly leaks about one chain, by the recursion that is exact."""
    level = two_state_level(
        ((1.0 - a, a), (b, 1.0 - b)),
        (b / (a + b), a / (a + b)),
        stationary=True,
        length=length,
        dp_epsilon=dp_epsilon,
        uninformed=uninformed,
    )
    assert level is not None
    return level.attained


def random_box(rng: np.random.Generator) -> Box:
    """Of either kind, or with independent records inside; some narrow, some nearly all chains."""
    lows = rng.normal(size=2) * 2.0
    highs = lows + np.exp(rng.uniform(-4.0, 1.0, 2))
    low, high = (1.0 / (1.0 + np.exp(-logits)) for logits in (lows, highs))
    return Box(low[0], high[0], low[1], high[1])


def member(rng: np.random.Generator, box: Box) -> tuple[float, float]:
    """A chain of the box: inside, on an edge or a corner."""
    a, b = (
        float(rng.choice([low, high, rng.uniform(low, high)])) for low, high in (box[:2], box[2:])
    )
    return a, b


def worst_corner(box: Box, dp_epsilon: float, uninformed: bool) -> float:
    """The level of the two corners that are farthest from independent records."""
    corners = [(box.low_a, box.low_b), (box.high_a, box.high_b)]
    return max(member_level(*corner, dp_epsilon, uninformed) for corner in corners)


def test_no_chain_of_a_box_is_above_its_level_and_one_is_near() -> None:
    rng = np.random.default_rng(12)
    for _ in range(runs(600)):
        box, uninformed = random_box(rng), bool(rng.integers(2))
        dp_epsilon = math.exp(rng.uniform(-5.0, 2.0))
        level = box_level(box, dp_epsilon, uninformed=uninformed)
        assert level is not None
        for _ in range(8):
            chain, length = member(rng, box), int(rng.choice([2, 3, 5, 10, LONG]))
            truth = member_level(*chain, dp_epsilon, uninformed, length)
            assert level >= truth * (1 - BELOW), (box, dp_epsilon, uninformed, chain, length)
        assert level <= worst_corner(box, dp_epsilon, uninformed) * (1 + 2e-5), (box, dp_epsilon)


def test_never_below_the_search_over_all_mechanisms() -> None:
    rng = np.random.default_rng(13)
    for _ in range(runs(300, least=10)):
        box, adversary = random_box(rng), str(rng.choice(["any", "uninformed"]))
        (a, b), dp_epsilon = member(rng, box), math.exp(rng.uniform(-4.0, 1.5))
        level = box_level(box, dp_epsilon, uninformed=adversary == "uninformed")
        joint = chains.joint([[1 - a, a], [b, 1 - b]], "stationary", int(rng.integers(2, 6)))
        truth = finite.worst_case(joint, dp_epsilon, adversary).level
        assert level is not None
        assert level >= truth - BELOW, (box, dp_epsilon, adversary, a, b)


def test_the_strongest_corner_has_the_steepest_slope_and_the_farthest_evidence() -> None:
    """The two facts of the proof, each by itself: one step, and the odds of every run."""
    rng = np.random.default_rng(14)
    for _ in range(runs(4000)):
        box = random_box(rng)
        a, b = member(rng, box)
        positive = a + b <= 1.0
        kind = next(kind for kind in box.kinds() if kind.positive == positive)
        own = _Recursion(_Kind(positive, (a, b), (a, b)), 1.0, False, Deadline(math.inf))
        corner = _Recursion(kind, 1.0, False, Deadline(math.inf))
        odds, excess = np.exp(rng.normal(size=2) * 2.0)
        assert own._growth(excess, odds, odds) <= corner._growth(excess, odds, odds) * (1 + 1e-12)
        (c, d), (e, f) = kind.strongest, kind.weakest or (a, b)
        kernels = [np.array([[1 - x, x], [y, 1 - y]]) for x, y in ((e, f), (a, b), (c, d))]
        for value in (0, 1):
            columns = [np.eye(2)[value]] * 3
            for _ in range(6):
                columns = [k @ h for k, h in zip(kernels, columns, strict=True)]
                near, logs, far = (math.log(h[0] / h[1]) for h in columns)
                assert logs * far >= -1e-20
                assert abs(near) - 1e-12 <= abs(logs) <= abs(far) + 1e-12


@pytest.mark.parametrize("dp_epsilon", [1e-9, 0.3, 6.0])
@pytest.mark.parametrize("chain", [(0.06, 0.12), (0.9, 0.85), (0.02, 0.5)])
def test_equal_bounds_are_the_chain(chain: tuple[float, float], dp_epsilon: float) -> None:
    a, b = chain
    for uninformed in (False, True):
        level = box_level(Box(a, a, b, b), dp_epsilon, uninformed=uninformed)
        truth = member_level(a, b, dp_epsilon, uninformed)
        assert level is not None
        assert truth * (1 - 1e-12) <= level <= truth * (1 + 2e-5)


def test_symmetric_chains_by_hand() -> None:
    """`2 asinh(gamma sinh(eps / 2))` at the corner of the longest stays, flip .1 to .2 or .8."""
    expected = 2.0 * math.asinh(9.0 * math.sinh(0.25))
    for box in (Box(0.1, 0.2, 0.1, 0.2), Box(0.8, 0.9, 0.8, 0.9), Box(0.1, 0.8, 0.1, 0.8)):
        assert box_level(box, 0.5, uninformed=True) == pytest.approx(expected, rel=2e-5)


def test_a_matrix_that_changes_between_steps_is_not_covered() -> None:
    """The example of the theorem: why a population between bounds has one table at all steps."""
    steps = [np.array([[0.95, 0.05], [b, 1.0 - b]]) for b in (0.5, 0.05, 0.05, 0.5)]
    joint = np.array([10.0, 1.0]) / 11.0  # the stationary law of the first
    for step in steps:
        joint = joint[..., None] * step
    level = box_level(Box(0.05, 0.05, 0.05, 0.5), 3.0, uninformed=True)
    truth = finite.worst_case(joint, 3.0, "uninformed").level
    assert level == pytest.approx(8.7871, abs=1e-4)
    assert truth == pytest.approx(9.6048, abs=1e-4)
    assert truth <= contraction_level(0.95**2 / 0.05**2, 3.0)  # 3.6 lets matrices change


def test_independent_records_leak_nothing_more() -> None:
    level = box_level(Box(0.25, 0.25, 0.75, 0.75), 0.7, uninformed=False)
    assert level is not None
    assert 0.7 <= level <= 0.7 * (1.0 + 1e-9)


def test_a_wider_box_is_never_better() -> None:
    levels = [
        box_level(Box(0.06 / w, 0.06 * w, 0.12 / w, 0.12 * w), 0.5, uninformed=False)
        for w in (1.0, 1.1, 1.5, 3.0)
    ]
    assert levels == sorted(levels)


def test_large_costs_saturate() -> None:
    """The level is the cost and what both sides can tell: the largest cross ratio at most."""
    levels = [box_level(Box(0.01, 0.02, 0.5, 0.7), e, uninformed=False) for e in (30.0, 200.0)]
    assert None not in levels
    first, second = (level - e for level, e in zip(levels, (30.0, 200.0), strict=True) if level)
    assert first == pytest.approx(second, rel=1e-3)
    assert second <= 2.0 * math.log(0.99 * 0.5 / (0.01 * 0.5))


def test_no_time_is_no_level_and_what_fades_too_slowly_has_none() -> None:
    with pytest.raises(OutOfTimeError):
        box_level(Box(0.1, 0.2, 0.1, 0.2), 1.0, uninformed=False, deadline=Deadline(0.0))
    assert box_level(Box(1e-7, 2e-7, 1e-7, 2e-7), 1e-3, uninformed=False) is None


@pytest.mark.parametrize(("target", "noise"), [(0.5, 4.2124), (1.0, 4.2991), (5.0, 3.0623)])
def test_the_region_of_the_activity_series(target: float, noise: float) -> None:
    """A cost of `target / noise` stays within the target, one of a thousandth more doesn't."""
    region = Box(0.11070836286, 0.12446824660, 0.28888064881, 0.32053111590)
    costs = target / (noise * 1.0001), target / (noise * 0.999)
    within, above = (box_level(region, cost, uninformed=False) for cost in costs)
    assert within is not None
    assert above is not None
    assert within <= target < above
