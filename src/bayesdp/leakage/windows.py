"""Order-k chains, any adversary: a changed record and the windows that hold it.

See `bayesdp.theorems.markov_window` for the statement and the proof. All quantities are logarithms,
rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.numbers import UNIT, UpperBound, largest, up

MOST_CELLS = 2_000_000
"""The most cells of the law of two tuples and a record that are enumerated."""
_ROUNDS = 20_000
"""The most steps to a fixed point; without one the level does without it, and is higher."""


@dataclass(frozen=True, slots=True)
class WindowRatios:
    """Log cross ratios of one record with others, given the rest of the window.

    `right[j]`: a record of age `j` in a tuple against the next `k - j` records; `left[j]` the same
    backwards; `full`: a record against all 2k records around it; `block`: whole blocks.
    """

    right: tuple[float, ...]
    left: tuple[float, ...]
    full: float
    block: float


def window_ratios(table: Floats, block: float) -> WindowRatios:
    """The ratios of a chain, from its table of k + 1 axes, older records first.

    `block` is the cross ratio of its blocks of k records, as `tuples.block_ratio` has it.
    """
    order = table.ndim - 1
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    right, left = [], []
    for age in range(order):
        length = 2 * order - age
        total = _product(logs, length)
        new = list(range(order, length))
        right.append(_cross(total, order - 1 - age, new))
        left.append(_cross(total, order, list(range(order - age))))
    around = [place for place in range(2 * order + 1) if place != order]
    full = _cross(_product(logs, 2 * order + 1), order, around)
    return WindowRatios(tuple(right), tuple(left), full, math.log(block) * (1 + 4 * UNIT))


def _product(logs: Floats, length: int) -> Floats:
    """The log of the product of all transitions inside a window of `length` records."""
    order, states = logs.ndim - 1, logs.shape[-1]
    total = np.zeros((states,) * length)
    for last in range(order, length):
        total = total + logs.reshape(
            (1,) * (last - order) + logs.shape + (1,) * (length - 1 - last)
        )
    return total


def _cross(total: Floats, place: int, others: list[int]) -> float:
    """The largest log cross ratio of the record at `place` with `others`, given the rest."""
    states = total.shape[0]
    rest = [axis for axis in range(total.ndim) if axis != place and axis not in others]
    rows = np.transpose(total, [*rest, place, *others]).reshape(-1, states, states ** len(others))
    widest = 0.0
    for first, second in product(range(states), repeat=2):
        if first < second:
            with np.errstate(invalid="ignore"):
                gaps = rows[:, first] - rows[:, second]
            if np.isnan(gaps).any() or np.isinf(gaps).any():
                return math.inf
            widest = largest(widest, gaps.max(axis=1) - gaps.min(axis=1))
    size = float(np.abs(total).max())
    return widest + 64.0 * (total.ndim + 2) * UNIT * (1.0 + size)


def contracted(log_c: float, log_ratio: float) -> float:
    """`ln f(c; R)`, rounded up; never above `ln c` or `ln R`."""
    if log_c <= 0.0 or log_ratio <= 0.0:
        return 0.0
    if math.isinf(log_ratio):
        return log_c
    shrunk, root = math.exp(-log_c / 2.0), math.exp(-log_ratio / 2.0)
    # ln f = 2 ln(1 + (sqrt c - 1)(sqrt R - 1) / (sqrt c + sqrt R)), divided through by both roots.
    grown = -math.expm1(-log_c / 2.0) * -math.expm1(-log_ratio / 2.0) / (shrunk + root)
    return min(up(2.0 * math.log1p(grown), 64), log_c, log_ratio)


@dataclass(frozen=True, slots=True)
class WindowLevel:
    """The level, rounded up, and the logs of its three fixed points: blocks, right, left.

    A fixed point is `None` where the search failed: the level doesn't need it.
    """

    epsilon: UpperBound
    closed: tuple[float | None, float | None, float | None]


def window_level(ratios: WindowRatios, dp_epsilon: float) -> WindowLevel:
    """The level at this DP cost, in nats, by the theorem `markov-window` (theory 3.5w)."""
    order = len(ratios.right)
    closed = (
        _fixed_point([ratios.block], order * dp_epsilon),
        _fixed_point(list(ratios.right), dp_epsilon),
        _fixed_point(list(ratios.left), dp_epsilon),
    )
    block = ratios.block if closed[0] is None else closed[0]
    right = _single(ratios.right, dp_epsilon, block, closed[1])
    left = _single(ratios.left, dp_epsilon, block, closed[2])
    inside = largest(*(right[age] + left[order - 1 - age] for age in range(order)))
    step = inside
    for _ in range(order - 1):
        step = up(contracted(dp_epsilon + step, ratios.full) + step, 2)
    at_once = contracted((order - 1) * dp_epsilon + 2.0 * block, ratios.full) + inside
    return WindowLevel(UpperBound(up(dp_epsilon + min(step, at_once), 4)), closed)


def _single(
    ratios: tuple[float, ...], dp_epsilon: float, block: float, newest: float | None
) -> list[float]:
    """`ln E_j`: how far a change of one record of age `j` reaches, for each age."""
    order = len(ratios)
    at_once = contracted(order * dp_epsilon + block, ratios[0])
    newest = at_once if newest is None else min(newest, at_once)
    reach = [0.0] * (order + 1)
    for age in reversed(range(order)):
        one_by_one = up(contracted(dp_epsilon + newest, ratios[age]) + reach[age + 1], 2)
        blockwise = contracted((order - age) * dp_epsilon + block, ratios[age])
        reach[age] = min(one_by_one, blockwise)
    return reach[:order]


def _fixed_point(ratios: list[float], dp_epsilon: float) -> float | None:
    """A verified `E >= sum_j ln f(e^(eps + E); R_j)`; `None` where the search finds none."""
    reached = 0.0
    for _ in range(_ROUNDS):
        following = up(sum(contracted(dp_epsilon + reached, ratio) for ratio in ratios), 8)
        if following <= reached:
            return reached
        reached = following * (1.0 + 1e-12)
        if reached > 700.0:
            return None
    return None
