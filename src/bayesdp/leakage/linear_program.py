"""The largest ratio of two averages of a log-Lipschitz function on a product domain (theory 3.3).

    sup { p . h / q . h  :  h > 0,  h(v) <= e^eps h(w) for adjacent cells v, w }

The optimum is a vertex `h = C e^(eps k)` with an integer function `k` (theory 3.3). Short lists of
vertices are tried out; otherwise HiGHS solves the dual program.

No solver is trusted. Its `h` is rounded to a function `k`, which gives a lower bound; and any
flows `y >= 0` along edges prove for every `lam`, by weak duality, that the ratio is at most

    lam + sum over v of max(0, p(v) - lam q(v) - out(v) + e^eps in(v)) / Q(v),

where `out` and `in` sum the flows that leave and enter `v`, and `Q(v) = sum_w q(w) e^(-eps d(v,
w))`: what is left over at `v` is paid at the largest value that `h(v)` can have when `q . h = 1`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.domain import Domain
from bayesdp.leakage.lipschitz import quiet_solver, threshold_value
from bayesdp.numbers import UNIT, UpperBound, up

_ROUNDS = 4
"""The most times that a linear program is solved anew; each solution is certified."""
_CLOSE = 1e-10
"""Solving ends where the proved bound is within this share of what is attained."""
_INTERIOR_POINT = 512
"""From so many cells on, HiGHS uses its interior point method."""
_BLOCK = 4_000_000
"""The most numbers in one block of an enumeration. Memory only."""


@dataclass(frozen=True, eq=False)
class DualSolution:
    """A certified bound, the ratio that `k` attains, and the flows that prove the bound.

    `flows` holds one number for each edge of the domain; `multiplier` is `lam`. `upper` is rounded
    up; `attained` is what `k` has up to rounding.
    """

    upper: UpperBound
    attained: float
    heights: Ints
    flows: Floats
    multiplier: float


def one_record(p: Floats, q: Floats, dp_epsilon: float) -> Floats:
    """The sup for laws of a single record, or a bound for any domain if given its diameter in nats.

    `p`, `q` of shape `(batch, cells)`. A threshold of `p / q` attains it. Rounded up.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p > 0.0, p / q, np.where(q > 0.0, 0.0, -1.0))
    order = np.argsort(-ratio, axis=-1, kind="stable")
    up_p = np.cumsum(np.take_along_axis(p, order, -1), axis=-1)
    up_q = np.cumsum(np.take_along_axis(q, order, -1), axis=-1)
    largest = math.exp(dp_epsilon)
    plain = (1.0 + (largest - 1.0) * up_p) / (1.0 + (largest - 1.0) * up_q)
    widened: Floats = plain.max(axis=-1) * (1.0 + (6.0 * p.shape[-1] + 40.0) * UNIT)
    # The first formula is precise for ratios near 1, the second for large costs.
    return np.minimum(threshold_value(up_p, up_q, np.full(len(p), largest)), widened)


def by_enumeration(p: Floats, q: Floats, domain: Domain, dp_epsilon: float) -> Floats:
    """The sup for a batch of laws, as the best of all vertices; correct up to rounding.

    `p` and `q` have one law in a row, over the cells of `domain`: shape `(laws, cells)`. The answer
    has one ratio for each row, at the cost `dp_epsilon` in nats.
    """
    weights = np.exp(dp_epsilon * domain.vertices)
    best = np.empty(len(p))
    block = max(1, _BLOCK // len(weights))
    for start in range(0, len(p), block):
        part = slice(start, start + block)
        best[part] = ((p[part] @ weights.T) / (q[part] @ weights.T)).max(axis=1)
    return best


def by_program(
    p: Floats, q: Floats, domain: Domain, dp_epsilon: float, deadline: Deadline = NEVER
) -> DualSolution:
    """The sup for one pair of laws, by the dual linear program; `OutOfTimeError` at the deadline.

    Each round writes the program in the units of the last solution, so that all numbers are of
    order one near the optimum and the solver's tolerances don't matter.
    """
    heights = np.zeros(domain.cells, dtype=np.int64)
    flows = np.zeros(len(domain.edges[0]))
    upper, multiplier = prove(p, q, domain, dp_epsilon, flows, 1.0)
    best = DualSolution(upper, 1.0, heights, flows, multiplier)
    for _ in range(_ROUNDS):
        solution = _solve(p, q, domain, dp_epsilon, heights, deadline.left)
        deadline.check()
        if solution is None:
            break
        h, flows, level = solution
        upper, multiplier = prove(p, q, domain, dp_epsilon, flows, level)
        heights = _integers(h, domain, dp_epsilon)
        weights = np.exp(dp_epsilon * (heights - heights.max()))
        value = float(p @ weights) / float(q @ weights)
        if value > best.attained:
            best = DualSolution(best.upper, value, heights, best.flows, best.multiplier)
        if upper < best.upper:
            best = DualSolution(upper, best.attained, best.heights, flows, multiplier)
        if best.upper - best.attained <= _CLOSE * best.upper:
            break
    return best


def prove(
    p: Floats, q: Floats, domain: Domain, dp_epsilon: float, flows: Floats, level: float
) -> tuple[UpperBound, float]:
    """The best bound that flows prove for some `lam` near `level`, rounded up, and that `lam`."""
    tails, heads = domain.edges
    leaving = np.bincount(tails, flows, domain.cells)
    entering = np.bincount(heads, flows, domain.cells) * math.exp(dp_epsilon)
    degree = sum(domain.shape)
    error = 4.0 * (degree + 4) * UNIT
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = (1.0 + error) / domain.smallest_mean(q, dp_epsilon)
    need = p - leaving + entering
    slack = error * (p + leaving + entering)
    best, multiplier = math.inf, level
    ratios = need[q > 0.0] / q[q > 0.0]
    for candidate in (level, *(level * (1.0 + step) for step in _STEPS), float(ratios.max())):
        if not candidate > 0.0:
            continue
        left = np.maximum(need - candidate * q + slack + error * candidate * q, 0.0)
        with_remainder = left > 0.0
        paid = candidate + float((left[with_remainder] * price[with_remainder]).sum()) * (
            1.0 + domain.cells * UNIT
        )
        if paid < best:
            best, multiplier = paid, candidate
    return UpperBound(up(best, 1)), multiplier


_STEPS = (1e-14, 1e-13, 1e-12, 1e-11, 1e-10)
"""How far above the level of the solution multipliers are tried; each of them gives a proof, and
the best is kept."""


def _integers(h: Floats, domain: Domain, dp_epsilon: float) -> Ints:
    """The integers nearest to `ln h / eps`, lowered where they change by more than 1."""
    if dp_epsilon == 0.0:
        return np.zeros(h.shape, dtype=np.int64)
    logs = np.log(np.maximum(h, 1e-300)) / dp_epsilon
    far = 2 * len(domain.shape)
    rounded = np.rint(np.maximum(logs - logs.max(), -far)).astype(np.int64)
    return domain.lower_envelope(rounded)


def _solve(
    p: Floats, q: Floats, domain: Domain, dp_epsilon: float, heights: Ints, seconds: float
) -> tuple[Floats, Floats, float] | None:
    """`h`, flows and `lam` from HiGHS, with cells in units of `e^(eps heights)`."""
    import highspy

    tails, heads = domain.edges
    cells, count = domain.cells, len(tails)
    unit = np.exp(dp_epsilon * (heights - heights.max()))
    unit /= float(unit @ q)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count + 1, cells
    model.sense_ = highspy.ObjSense.kMinimize
    model.col_cost_ = np.append(np.zeros(count), 1.0)
    model.col_lower_ = np.zeros(count + 1)
    model.col_upper_ = np.full(count + 1, highspy.kHighsInf)
    model.row_lower_ = p * unit
    model.row_upper_ = np.full(cells, highspy.kHighsInf)
    index = np.empty(2 * count + cells, dtype=np.int32)
    value = np.empty(2 * count + cells)
    index[0 : 2 * count : 2], index[1 : 2 * count : 2] = tails, heads
    value[0 : 2 * count : 2] = 1.0
    value[1 : 2 * count : 2] = -np.exp(dp_epsilon * (1 + heights[heads] - heights[tails]))
    index[2 * count :], value[2 * count :] = np.arange(cells), q * unit
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.append(2 * np.arange(count + 1), 2 * count + cells)
    model.a_matrix_.index_ = index
    model.a_matrix_.value_ = value
    solver = quiet_solver("ipm" if cells >= _INTERIOR_POINT else "simplex")
    solver.clearModel()
    solver.passModel(model)
    # The solver's clock is never reset, and other programs share it.
    solver.setOptionValue("time_limit", min(solver.getRunTime() + seconds, highspy.kHighsInf))
    solver.run()
    solver.setOptionValue("time_limit", highspy.kHighsInf)
    solution: Any = solver.getSolution()
    columns, rows = np.array(solution.col_value), np.array(solution.row_dual)
    if len(columns) != count + 1 or len(rows) != cells or not columns[-1] > 0.0:
        return None
    # A row's variable is scaled by `unit[v]`, so a flow out of `v` is divided by it.
    flows = np.maximum(columns[:-1], 0.0) / unit[tails]
    return np.maximum(rows, 0.0) * unit, flows, float(columns[-1])
