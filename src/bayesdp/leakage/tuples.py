"""Order-k Markov chains: kernels on tuples and blocks, and the influence of a record.

The transitions of a chain of order k are a table with k + 1 axes, older records first:
`table[x_1, ..., x_k, y]` is the probability that `y` follows. Tuples are numbered in the order of
`numpy.ravel`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.closing import closed
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.lipschitz import LipschitzRatios
from bayesdp.leakage.stationary import elimination_error, limit_error, stationary_law
from bayesdp.numbers import UNIT, UpperBound, largest, up

MOST_TUPLES = 64
"""The most tuples of states that the recursion follows."""
_MOST_ROUNDS = 5_000
"""The most steps to a closed matrix; without one the level is refused."""
_WINDOW = 400
"""Influences of a long line are solved for this many records to each side; what lies beyond is
covered by a raise."""


def tuple_kernel(table: Floats) -> Floats:
    """The first-order chain on tuples of the last k records: shape `(S^k, S^k)`."""
    states, order = table.shape[-1], table.ndim - 1
    count = states**order
    flat = table.reshape(count, states)
    kernel = np.zeros((count, count))
    for here in range(count):
        for new in range(states):
            kernel[here, (here * states + new) % count] = flat[here, new]
    return kernel


def _block_logs(table: Floats) -> Floats:
    """The log probability of each block of the next k records after each tuple.

    Shape `(S^k, S^k)`: tuples are rows, blocks are columns. Not rounded in any direction; the log
    of 0 is `-inf`. The "probabilities" may be bounds, which don't sum to 1.
    """
    states, order = table.shape[-1], table.ndim - 1
    count = states**order
    logs = np.zeros((count, count))
    with np.errstate(divide="ignore"):
        log_table = np.log(table.reshape(count, states))
    for here, block in product(range(count), repeat=2):
        current = here
        for position in reversed(range(order)):
            new = block // states**position % states
            logs[here, block] += log_table[current, new]
            current = (current * states + new) % count
    return logs


def block_ratio(table: Floats) -> UpperBound:
    """The largest cross ratio of two rows of the chain on blocks of k records, rounded up.

    Infinite where one row has a zero that another has not.
    """
    order = table.ndim - 1
    count = table.shape[-1] ** order
    logs = _block_logs(table)
    widest = 0.0
    for first, second in product(range(count), repeat=2):
        if first >= second:
            continue
        dead = np.isneginf(logs[first]), np.isneginf(logs[second])
        if (dead[0] != dead[1]).any():
            return UpperBound(math.inf)
        gaps = logs[first][~dead[0]] - logs[second][~dead[0]]
        widest = largest(widest, gaps.max() - gaps.min())
    size = float(np.abs(logs[np.isfinite(logs)]).max())
    widened = widest + 64.0 * order * (1.0 + size) * UNIT
    return UpperBound(up(math.exp(widened), 8) if widened <= 700.0 else math.inf)


def block_interval_ratio(low: Floats, high: Floats) -> UpperBound:
    """The largest cross ratio of block rows over all tables between the bounds, rounded up.

    A block row is a product of k transitions, so its bounds are the products of theirs. The
    ratio is infinite if a block is certainly excluded by a row and possibly by another (0/0 in the
    bounds), or possibly by both.
    """
    count = low.shape[-1] ** (low.ndim - 1)
    bounds = [_block_logs(table) for table in (low, high)]
    widest = 0.0
    for first, second in product(range(count), repeat=2):
        if first == second:
            continue
        alive = ~(np.isneginf(bounds[1][first]) & np.isneginf(bounds[1][second]))
        if np.isneginf([bounds[0][row][alive] for row in (first, second)]).any():
            return UpperBound(math.inf)
        ups = bounds[1][first][alive] - bounds[0][second][alive]
        downs = bounds[1][second][alive] - bounds[0][first][alive]
        widest = largest(widest, ups.max() + downs.max())
    return UpperBound(math.inf if widest > 700.0 else up(math.exp(widest + 1e-12), 8))


# -- uninformed adversaries: the recursion on tuples (theory 3.5k) ------------------------------


LEAST_COST = 1e-9
"""Smaller costs count as this cost: ratios so near 1 are beyond double precision."""


@dataclass(frozen=True, slots=True)
class TupleLevel:
    """An upper bound on the level, and the logarithms that close the right side and the left.

    Matrices over pairs of tuples, as plain lists.
    """

    epsilon: UpperBound
    closed: list[list[list[float]]]


def uninformed_tuple_level(
    table: Floats, dp_epsilon: float, deadline: Deadline = NEVER
) -> TupleLevel | None:
    """An upper bound for every length of a stationary chain; `None` where it can't be closed.

    `table` has k + 1 axes, older records first; the level is in nats. Raises `OutOfTimeError` at
    the deadline. Source: theory 3.5k.
    """
    states, order = table.shape[-1], table.ndim - 1
    kernel = tuple_kernel(table)
    law = stationary_law(kernel)
    mixing = limit_error(kernel, law)
    slack = min(mixing, elimination_error(len(kernel)))
    if law is None or not math.isfinite(mixing) or (order + 1) * dp_epsilon > 500.0:
        return None
    count = len(kernel)
    digits = np.array(list(product(range(states), repeat=order)))
    backward = (kernel * law[:, None] / law[None, :]).T
    cost = math.exp(dp_epsilon) * (1.0 + 4 * UNIT)
    widening = 1.0 + 4.0 * (slack + 4.0 * (count + 4) * UNIT)
    half = deadline.within(deadline.left / 2.0)
    right = _closed(kernel, np.where(_differ(digits[:, -1]), cost, 1.0), widening, half)
    left = _closed(backward, np.where(_differ(digits[:, 0]), cost, 1.0), widening, deadline)
    if right is None or left is None:
        return None
    changed = (digits[:, None, :] != digits[None, :, :]).sum(axis=2)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.exp(dp_epsilon * changed) * (1.0 + 8.0 * order * UNIT) * right * left
    if not (np.isfinite(total).all() and total.max() < 1e280):
        return None
    target = [np.where(digits[:, 0] == value, law, 0.0) for value in range(states)]
    pairs = [(u, v) for u in range(states) for v in range(states) if u != v]
    p = np.array([target[u] / target[u].sum() for u, _ in pairs])
    q = np.array([target[v] / target[v].sum() for _, v in pairs])
    ratios = LipschitzRatios(len(pairs), count).upper(p, q, total)
    if not np.isfinite(ratios).all():
        return None
    logs = [np.log(side) * (1.0 + 4 * UNIT) for side in (right, left)]
    level = UpperBound(up(math.log(largest(1.0, ratios.max() * widening)), 8))
    return TupleLevel(level, [side.tolist() for side in logs])


def _differ(digit: NDArray[np.int64]) -> NDArray[np.bool_]:
    different: NDArray[np.bool_] = digit[:, None] != digit[None, :]
    return different


def _closed(kernel: Floats, own: Floats, widening: float, deadline: Deadline) -> Floats | None:
    """`C >= C_l` for every `l`: iterated from 1 upwards until `F(C) <= C` is verified."""
    count = len(kernel)
    pairs = np.array([(u, v) for u in range(count) for v in range(count) if u != v])
    p, q = kernel[pairs[:, 0]], kernel[pairs[:, 1]]
    solver = LipschitzRatios(len(pairs), count)

    def step(inner: Floats) -> Floats:
        values = solver.upper(p, q, own * inner, 0, deadline) * widening
        following = np.ones_like(inner)
        following[pairs[:, 0], pairs[:, 1]] = values
        return following

    return closed(np.ones((count, count)), step, _MOST_ROUNDS, 1e120)


# -- any adversary: influences between single records (theory 3.7k) ------------------------------


def influences(table: Floats, start: Floats, start_error: float = 0.0) -> list[float]:
    """`kappa_d = tanh(ln R_d / 4)` for distances `d = 1..k`, rounded up.

    `R_d` is the largest cross ratio of `(x_j, x_(j+d))` given all other records, over all positions
    `j`, ends included; `start` is the law of the first k records, with k axes, off by at most
    `start_error` in relative terms.
    """
    order = table.ndim - 1
    with np.errstate(divide="ignore"):
        log_table, log_start = np.log(table), np.log(start)
    size = max(float(np.abs(log[np.isfinite(log)]).max()) for log in (log_table, log_start))
    kappa = []
    for distance in range(1, order + 1):
        widest = 0.0
        for kept in range(order - distance + 1):
            # Factors t = j + distance .. j + distance + kept contain both records.
            widest = largest(widest, _widest(log_table, None, 0, distance, kept + 1))
        for position in range(order - distance):
            # The first k records have a joint law; both records may be among them.
            for kept in range(position + 2):
                widest = largest(widest, _widest(log_table, log_start, position, distance, kept))
        error = 64.0 * (order + 2) * UNIT * (1.0 + size) + 4.0 * start_error
        kappa.append(math.tanh((widest + error) / 4.0) if math.isfinite(widest) else 1.0)
    return [min(1.0, value * (1.0 + 8 * UNIT)) for value in kappa]


def _widest(
    log_table: Floats, log_start: Floats | None, position: int, distance: int, factors: int
) -> float:
    """The largest log cross ratio of two records under a product of consecutive factors."""
    order, states = log_table.ndim - 1, log_table.shape[-1]
    if log_start is not None:
        length = order + factors
        total = np.zeros((states,) * length)
        total = total + log_start.reshape(log_start.shape + (1,) * factors)
        first, second = position, position + distance
    else:
        # Records j + distance - k .. j + distance + factors - 1; the target is record j.
        length = order + factors
        total = np.zeros((states,) * length)
        first, second = order - distance, order
    for shift in range(factors):
        before, after = shift, length - order - 1 - shift
        total = total + log_table.reshape((1,) * before + log_table.shape + (1,) * after)
    moved = np.moveaxis(total, (first, second), (0, 1)).reshape(states, states, -1)
    return _cross(moved)


def _cross(logs: Floats) -> float:
    widest = 0.0
    states = len(logs)
    for u, v in product(range(states), repeat=2):
        if u >= v:
            continue
        with np.errstate(invalid="ignore"):
            gaps = logs[u] - logs[v]
        dead = np.isneginf(logs[u]), np.isneginf(logs[v])
        if (dead[0] != dead[1]).any():
            return math.inf
        # Cells that are impossible for both values carry no evidence.
        high = np.where(dead[0], -math.inf, gaps).max(axis=0)
        low = np.where(dead[0], math.inf, gaps).min(axis=0)
        alive = np.isfinite(high)
        widest = largest(widest, (high - low)[alive].max(initial=0.0))
    return widest


def influence_level(kappa: list[float], length: int) -> UpperBound | None:
    """`max_i sum_j S_ij / S_ii` for `S = (I - kappa)^-1` on a line; `None` where it is infinite.

    `S_ij / S_ii` solves `x = kappa_Ui + kappa_UU x` over the records `U` other than `i`; it grows
    with the set `U`, so an inner record of a longer line is the worst. The solution is computed on
    a window around it, and raised until `x >= kappa_Ui + kappa_UU x` holds, which proves it an
    upper bound. A line longer than the window is raised by `_fading`, so that the bound doesn't
    grow with the length; a shorter one by a constant, or by `_verified` where its row sums reach 1.
    """
    # The first k records have a joint law, so unread records among them carry paths as well.
    length = max(length, len(kappa))
    reach = min(length - 1, _WINDOW)
    places = [d for d in range(-reach, reach + 1) if d != 0]
    size = len(places)
    if size == 0:
        return UpperBound(1.0)
    offsets = np.array(places)
    distance = np.abs(offsets[:, None] - offsets[None, :])
    weights = np.zeros(2 * reach + 1)
    weights[1 : len(kappa) + 1] = kappa[: 2 * reach]
    matrix = weights[distance]
    np.fill_diagonal(matrix, 0.0)
    source = weights[np.abs(offsets)]
    solution = np.linalg.solve(np.eye(size) - matrix, source)
    if not np.isfinite(solution).all() or solution.min() < 0.0:
        return None
    next_levels = matrix @ solution + source
    rounding = 8.0 * (size + 4) * UNIT * (1.0 + float(next_levels.max()))
    missing = largest(0.0, next_levels - solution) + rounding
    room = 1.0 - 2.0 * math.fsum(kappa) * (1.0 + 16 * UNIT)
    if length - 1 > reach:
        if room <= 0.0:
            return None
        edge = float(solution[: len(kappa)].max() + solution[-len(kappa) :].max())
        extra = _fading(kappa, largest(missing, edge + rounding), room, reach + len(kappa))
        if extra is None:
            return None
        return UpperBound(up(1.0 + float(solution.sum()) + extra, size))
    row_sums = matrix.sum(axis=1)
    if row_sums.max() < 1.0:
        raised = missing / (1.0 - float(row_sums.max()))
        return UpperBound(up(1.0 + float(solution.sum()) + raised * size, size))
    return _verified(matrix, source, solution, rounding)


def _fading(kappa: list[float], missing: float, room: float, reach: int) -> float | None:
    """The sum of `r theta^|j|` over a line, which covers what is missing within `reach`.

    One step loses at least half of the room, if `theta` is close enough to 1; beyond `reach`
    nothing is missing.
    """
    for power in range(8, 45):
        theta = 1.0 - 2.0**-power
        grown = math.fsum(
            value * (theta**d + theta**-d - 2.0) for d, value in enumerate(kappa, start=1)
        )
        if grown <= 0.49 * room:
            height = missing / (0.5 * room * theta**reach)
            return 2.0 * height * 2.0**power * (1.0 + 2.0**-20)
    return None


def _verified(
    matrix: Floats, source: Floats, solution: Floats, rounding: float
) -> UpperBound | None:
    """`1 + sum x` for the solution raised by a multiple of the one whose source is all ones.

    `None` where the raised solution fails the check `x >= source + matrix x`.
    """
    lift = np.linalg.solve(np.eye(len(matrix)) - matrix, np.ones(len(matrix)))
    if lift.min() <= 0.0 or (lift - matrix @ lift).min() <= 0.5:
        return None
    raised = solution + 4.0 * rounding * lift
    if (raised - matrix @ raised - source).min() < rounding:
        return None
    return UpperBound(up(1.0 + float(raised.sum()), len(matrix)))
