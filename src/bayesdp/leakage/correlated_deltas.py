"""Delta under correlation: one formula for every population (theory 3.10).

If `L` is a level of every eps-DP mechanism, then every `(eps, delta)`-DP mechanism has the level
`(L, delta')`, `delta' = delta (e^L - 1) / (e^eps - 1)`.
"""

from __future__ import annotations

import math

from bayesdp.notions import ApproxDP
from bayesdp.numbers import ZERO, UpperBound, times_above, up

_LARGEST_EXPONENT = 700.0
"""Levels above it have an infinite growth factor: their exponential is beyond the doubles."""


def growth(level: float, dp_epsilon: float) -> UpperBound:
    """`(e^L - 1) / (e^eps - 1)`, rounded up: the factor by which correlation enlarges a delta.

    `level`, in nats, is a level of all mechanisms of cost `dp_epsilon > 0`; 1 where it is not above
    that cost. Infinite if too large for a double.
    """
    if level <= dp_epsilon:
        return UpperBound(1.0)
    if not level <= _LARGEST_EXPONENT:
        return UpperBound(math.inf)
    return UpperBound(up(math.expm1(level) / math.expm1(dp_epsilon), 16))


def converted_delta(level: float, cost: ApproxDP, group_size: int) -> UpperBound:
    """The delta of the level of mechanisms of this cost, rounded up.

    `level` is as in `growth`. At an epsilon of 0 the delta adds up over the `group_size`
    records that may depend on each other. May exceed 1, and then says nothing; infinite for a level
    that is NaN. Source: theory 3.10.
    """
    if cost.delta == 0.0:
        return ZERO
    if cost.epsilon == 0.0:
        return times_above(group_size, cost.delta)
    if level <= cost.epsilon:
        return cost.delta
    return UpperBound(up(growth(level, cost.epsilon) * cost.delta, 1))


def group(size: int, cost: ApproxDP) -> ApproxDP:
    """The cost of a group of `size` records: `(m eps, delta (e^(m eps) - 1) / (e^eps - 1))`.

    `m` is `size`, `(eps, delta)` is `cost`. Rounded up. Source: theory 3.10.
    """
    level = times_above(size, cost.epsilon)
    return ApproxDP(level, converted_delta(level, cost, size))
