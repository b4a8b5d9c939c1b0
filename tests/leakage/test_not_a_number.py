"""A bound that is not a number is never dropped: it raises, or counts as infinite."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bayesdp.leakage import windows
from bayesdp.leakage.chain import two_state_level
from bayesdp.leakage.correlated_deltas import converted_delta
from bayesdp.leakage.lipschitz import certified
from bayesdp.leakage.tree import _take
from bayesdp.leakage.tuples import block_interval_ratio, block_ratio, influence_level
from bayesdp.leakage.worst_case import _Best
from bayesdp.notions import ApproxDP
from bayesdp.numbers import NotANumberError, largest
from bayesdp.theorems.markov import interval_ratio
from bayesdp.theorems.markov_contraction import cross_ratio
from tests.oracles import exact_sums
from tests.oracles.exact_chain import Ends, LocalChain, local_level
from tests.oracles.exact_sums import sum_level

NAN, INF = math.nan, math.inf
PAIR = np.array([[[NAN, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])


def test_the_largest_of_numbers_and_arrays() -> None:
    assert largest(1.0, np.array([[2.0, -INF], [0.5, 1.0]]), 1) == 2.0
    assert largest(0.0, INF) == INF
    assert largest(0.0, np.array([-INF])) == 0.0
    with pytest.raises(NotANumberError):
        largest(NAN)
    with pytest.raises(NotANumberError):
        largest(3.0, NAN)
    with pytest.raises(NotANumberError):
        largest(np.array([1.0, NAN, INF]))
    with pytest.raises(ValueError, match="zero-size"):
        largest(0.0, np.array([]))


def _window() -> float:
    return windows.window_level(windows.WindowRatios((NAN, 0.1), (0.1, 0.1), 0.1, 0.1), 1.0)


def _answers() -> object:
    local = LocalChain([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], 3)
    local.own = np.full((2, 2), NAN)
    return local.level("any")


BROKEN: dict[str, Callable[[], object]] = {
    "blocks": lambda: block_ratio(PAIR),
    "blocks between bounds": lambda: block_interval_ratio(PAIR, np.ones_like(PAIR)),
    "rows": lambda: cross_ratio(((0.5, NAN), (0.5, 0.5))),
    "rows between bounds": lambda: interval_ratio(PAIR[0], np.ones((2, 2))),
    "windows": _window,
    "a step of a tree": lambda: _take((0.1, 0.5, 0.5, 0.5, 0.5, 0, NAN, 0.1), 1.0, NAN),
    "a finite law": lambda: _Best(1.0, 1.0).take(NAN, 1.0, None, 0),  # type: ignore[arg-type]
    "noisy answers": _answers,
}


@pytest.mark.parametrize("engine", BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_engine_raises(engine: str) -> None:
    with pytest.raises(NotANumberError):
        BROKEN[engine]()


def test_a_delta_counts_as_infinite() -> None:
    assert converted_delta(0.2, ApproxDP(0.1, NAN), 3) == INF


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_unknown_step_of_two_states_passes_everything_on() -> None:
    """A determinant that is not a number has no sign: both ways count, each at its most."""
    reached = two_state_level(
        ((NAN, 0.5), (0.5, 0.5)),
        (0.5, 0.5),
        stationary=False,
        length=3,
        dp_epsilon=1.0,
        uninformed=True,
    )
    assert reached is None or reached.epsilon >= 3.0


ANSWERS = [[1 / (1 + math.exp(-1)), 1 / (1 + math.e)], [1 / (1 + math.e), 1 / (1 + math.exp(-1))]]


@pytest.mark.parametrize("length", [700, 760, 1400])
@pytest.mark.parametrize("sure", [[[0, 1], [1, 0]], [[1, 0], [0, 1]]])
def test_records_that_are_all_sure_leak_together(sure: list[list[int]], length: int) -> None:
    """Randomized response at eps 1 on records that one fixes: as many nats, beyond e^709."""
    level = local_level(sure, [0.5, 0.5], ANSWERS, length=length, adversary="uninformed")
    assert level is not None
    assert level.lower <= length <= level.upper
    assert level.upper - level.lower < 1e-6


def test_a_count_over_a_chain_with_a_sure_step_is_not_understated() -> None:
    """Value 1 stays. Given `x_760 = 0` all are 0, given 1 they may all be 1: was 745.93 at most."""
    half = [[0.5, 0.5], [0.0, 1.0]]
    level = sum_level(
        half, [0.5, 0.5], length=760, scores=(0, 1), scale=1.0, adversary="uninformed"
    )
    assert level is not None
    # the outcome far above all counts, the sum over the first 1: e^760 of the whole with 1/2
    assert level.upper >= 760.0 + math.log(0.5 / (1 - 2.0**-760))
    longer = sum_level(
        half, [0.5, 0.5], length=1400, scores=(0, 1), scale=1.0, adversary="uninformed"
    )
    assert longer is None or longer.upper >= 1400.0 + math.log(0.5)


def test_evidence_below_the_doubles_is_not_impossible() -> None:
    """`x_2 = 0` has a probability of 1e-329: two records depend on it, and leak 2 eps."""
    reached = two_state_level(
        ((1e-50, 1.0), (0.0, 1.0)),
        (1e-279, 1.0),
        stationary=False,
        length=2,
        dp_epsilon=1.0,
        uninformed=True,
    )
    assert reached is None or reached.epsilon >= 2.0 - 1e-9


def test_influences_that_are_no_numbers_have_no_level() -> None:
    assert influence_level([NAN], 3) is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_flows_beyond_the_doubles_prove_nothing() -> None:
    """An infinite cost times no flow into a state that only `p` has."""
    p, q = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    cost = np.array([[[1.0, INF], [INF, 1.0]]])
    tree = np.array([[[0, 1]]])
    assert certified(p, q, cost, tree, np.zeros((1, 1)))[0] == INF


def test_densities_below_the_doubles_are_not_left_out() -> None:
    """One value's outcomes are too rare for a double, so nothing finite can be said."""
    ends = Ends(np.full((2, 2), 0.5), np.full(2, 0.5), 3)
    sums = exact_sums._Sums(ends, np.array([0, 1]), 1.0)
    smooth, right = np.ones((2, 6)), np.full((1, 2, 2), 0.5)
    smooth[1] = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    actual = sums._compare(smooth, right)
    assert actual is not None
    assert actual[0] == INF
    assert sums._rounded(actual[0], 0.0, 3, {}) is None


def test_values_that_a_run_excludes_are_not_compared() -> None:
    ends = Ends(np.full((2, 2), 0.5), np.full(2, 0.5), 3)
    sums = exact_sums._Sums(ends, np.array([0, 1]), 1.0)
    right = np.full((2, 2, 2), 0.5)
    right[1, 1] = 0.0
    actual = sums._compare(np.ones((2, 6)), right)
    assert actual is not None
    assert actual[:2] == (0.0, 0)
