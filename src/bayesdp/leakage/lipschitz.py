"""The largest ratio of two averages of a log-Lipschitz function, many at once (theory 3.5m).

For laws `p` and `q` on `S` states and costs `c(v, w) >= 1`,

    sup { p . g / q . g  :  g > 0,  g(v) <= c(v, w) g(w) for all v, w }.

It is a linear program (normalise `q . g = 1`). Its optimum is a vertex at which `S - 1` of the
constraints are tight and form a spanning tree, so one optimal tree often stays optimal while `p`,
`q` and `c` drift: trees are kept and re-solved for the whole batch at once, and only where a tree
fails the check of optimality does HiGHS solve the program again.

No solver is trusted. Any `y >= 0` proves, by weak duality, that the ratio is at most

    max over v of ( p(v) - sum_w y(v, w) + sum_w c(w, v) y(w, v) ) / q(v),

and that is what is reported, rounded up; never more than the threshold bound of theory 3.6t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UNIT

_FEW_DIGITS = 1e-290
"""Probabilities below it have lost digits and count as 0 where that can only raise the bound."""
_CLOSE = 1e-9
"""A proved bound this close to what is attained, relative to its excess over 1, is kept; other
pairs go to the solver."""
_CLOSE_FLOOR = 1e-13
"""How far the bound of a kept tree may lie above what a feasible `g` attains."""


class LipschitzRatios:
    """A batch of such programs, solved again and again while their numbers drift.

    `upper` returns certified upper bounds, shape `(batch,)`. States with `p = q = 0` don't matter,
    and neither do their costs.
    """

    def __init__(self, batch: int, states: int) -> None:
        self.batch = batch
        self.states = states
        self.trees: NDArray[np.int64] | None = None
        self.kept: dict[int, NDArray[np.int64]] = {}
        self.solved = 0

    def upper(
        self, p: Floats, q: Floats, cost: Floats, step: int = 0, deadline: Deadline = NEVER
    ) -> Floats:
        """Upper bounds on the ratios, shape `(batch,)`, rounded up.

        `p`, `q` of shape `(batch, S)` sum to 1; `cost` of shape `(batch, S, S)` or `(S, S)`, with
        a diagonal of ones and `c(u, w) <= c(u, v) c(v, w)`. Trees are tried in this order: the last
        ones, those of an earlier call with the same `step`, and then HiGHS is asked. Raises
        `OutOfTimeError` at the deadline, between two programs.
        """
        cost = _without_shortcuts(
            p, q, np.broadcast_to(cost, (self.batch, self.states, self.states))
        )
        limit = threshold_bound(p, q, cost)
        if self.states == 1:
            return limit
        if self.trees is None:
            self.trees = np.zeros((self.batch, self.states - 1, 2), dtype=np.int64)
        flows = np.zeros((self.batch, self.states - 1))
        todo = np.flatnonzero((p != q).any(axis=1))  # else the ratio is 1, and needs no proof
        for trees in (self.trees, self.kept.get(step)):
            if trees is not None and len(todo):
                reused, good = _reuse(p[todo], q[todo], cost[todo], trees[todo])
                self.trees[todo[good]] = trees[todo[good]]
                flows[todo[good]] = reused[good]
                todo = todo[~good]
        deadline.check()
        for index in todo:
            deadline.check()
            self.trees[index], flows[index] = _solve(p[index], q[index], cost[index])
        self.solved += len(todo)
        self.kept[step] = self.trees.copy()
        return np.minimum(limit, certified(p, q, cost, self.trees, flows))


def _without_shortcuts(p: Floats, q: Floats, cost: Floats) -> Floats:
    """Costs with which no proof can go through a state that has no probability.

    Costs of such a state are meaningless, and a kept tree may use them. With the largest cost of
    all to and from it, every admissible `g` on the other states extends to it, by its smallest
    value: so the constraints through it are true.
    """
    dead = (p <= 0.0) & (q <= 0.0)
    rows = np.flatnonzero(dead.any(axis=1))
    if not len(rows):
        return cost
    cost = cost.copy()
    part = cost[rows]
    through = dead[rows][:, :, None] | dead[rows][:, None, :]
    part = np.where(through, part.max(axis=(1, 2))[:, None, None], part)
    diagonal = np.arange(cost.shape[1])
    part[:, diagonal, diagonal] = 1.0
    cost[rows] = part
    return cost


def _reuse(
    p: Floats, q: Floats, cost: Floats, trees: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """The dual flows of given trees, and which trees are still as good as optimal."""
    batch, states = p.shape
    rows = np.arange(batch)[:, None]
    edges = np.arange(states - 1)[None, :]
    tail, head = trees[:, :, 0], trees[:, :, 1]
    matrix = np.zeros((batch, states, states))
    matrix[rows, tail, edges] = 1.0
    matrix[rows, head, edges] -= cost[rows, tail, head]
    matrix[:, :, -1] = q
    broken = (tail == head).any(axis=1)
    matrix[broken] = np.eye(states)
    unit = np.zeros((batch, states, 1))
    unit[:, -1, 0] = 1.0
    try:
        dual = np.linalg.solve(matrix, p[:, :, None])[:, :, 0]
        primal = np.linalg.solve(matrix.transpose(0, 2, 1), unit)[:, :, 0]
    except np.linalg.LinAlgError:
        return np.zeros((batch, states - 1)), np.zeros(batch, dtype=bool)
    flows = np.maximum(np.nan_to_num(dual[:, :-1], posinf=0.0), 0.0)
    upper = certified(p, q, cost, trees, flows)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # With closed costs one pass makes any `g > 0` feasible: what it attains is a lower bound.
        feasible = (cost * primal[:, None, :]).min(axis=2)
        lower = (p * feasible).sum(axis=1) / (q * feasible).sum(axis=1)
        close = upper - lower <= _CLOSE * (lower - 1.0) + _CLOSE_FLOOR
    return flows, ~broken & (primal > 0.0).all(axis=1) & np.isfinite(lower) & close


def threshold_bound(p: Floats, q: Floats, cost: Floats) -> Floats:
    """The bound if every cost is replaced by the largest cost: a set of states against the rest.

    `max over A of (1 + (c - 1) p(A)) / (1 + (c - 1) q(A))`, attained at a threshold of `p / q`.
    Rounded up.
    """
    largest = cost.max(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p > 0.0, p / q, np.where(q > 0.0, 0.0, -1.0))
    order = np.argsort(-ratio, axis=-1)
    up_p = np.cumsum(np.take_along_axis(p, order, -1), axis=-1)
    up_q = np.cumsum(np.take_along_axis(q, order, -1), axis=-1)
    return threshold_value(up_p, up_q, largest)


def threshold_value(up_p: Floats, up_q: Floats, largest: Floats) -> Floats:
    """The threshold bound from cumulated laws, sorted by falling `p / q`; `largest` the cost."""
    excess = (largest - 1.0)[..., None]
    growth = excess * (up_p - up_q) / (1.0 + excess * up_q)
    best = np.maximum(growth.max(axis=-1), 0.0)
    states = up_p.shape[-1]
    error = 8.0 * (states + 4) * UNIT
    above = (1.0 + best * (1.0 + error) + error * excess[..., 0]) * (1.0 + 4.0 * UNIT)
    widened: Floats = np.minimum(above, largest)
    return widened


def certified(
    p: Floats, q: Floats, cost: Floats, trees: NDArray[np.int64], flows: Floats
) -> Floats:
    """The bound that non-negative flows on edges prove, rounded up; infinite if they prove none.

    Probabilities under `q` so small that doubles have lost digits of them count as 0: with less of
    `q` the bound is not lower.
    """
    q = np.where(q < _FEW_DIGITS, 0.0, q)
    batch, states = p.shape
    rows = np.arange(batch)
    flow_out = np.zeros((batch, states))
    flow_in = np.zeros((batch, states))
    for edge in range(trees.shape[1]):
        tail, head, flow = trees[:, edge, 0], trees[:, edge, 1], flows[:, edge]
        flow_out[rows, tail] += flow
        flow_in[rows, head] += cost[rows, tail, head] * flow
    error = 4.0 * (states + 2) * UNIT
    need = p - flow_out * (1.0 - error) + flow_in * (1.0 + error) + error * p
    need = _pay_for_impossible(need, q, cost, error)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(q > 0.0, need / q, np.where(need > 0.0, np.inf, 0.0))
    ratio[np.isnan(need)] = np.inf  # costs times flows that are too large for doubles prove nothing
    proved: Floats = np.maximum(ratio.max(axis=1) * (1.0 + error), 1.0)
    return proved


def _pay_for_impossible(need: Floats, q: Floats, cost: Floats, error: float) -> Floats:
    """States that `q` excludes must need nothing: move their need to the cheapest other state."""
    owing = (q <= 0.0) & (need > 0.0)
    if not owing.any():
        return need
    need = need.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = np.where(q[:, None, :] > 0.0, cost / q[:, None, :], np.inf)
    for row, state in zip(*np.nonzero(owing), strict=True):
        other = int(np.argmin(price[row, state]))
        need[row, other] += cost[row, state, other] * need[row, state] * (1.0 + error)
        need[row, state] = 0.0
    return need


def _solve(p: Floats, q: Floats, cost: Floats) -> tuple[NDArray[np.int64], Floats]:
    """An optimal tree and its flows, from HiGHS; zero flows where it finds no solution."""
    states = len(p)
    alive = np.flatnonzero((p > 0.0) | (q > 0.0))
    tree = np.zeros((states - 1, 2), dtype=np.int64)
    flow = np.zeros(states - 1)
    constraints = _highs(p[alive], q[alive], cost[np.ix_(alive, alive)])
    position = 0
    for tail, head, amount in constraints:
        if position < states - 1:
            tree[position] = alive[tail], alive[head]
            flow[position] = amount
            position += 1
    # States without probability are tied to the tree by an edge without flow.
    for state in range(states):
        if p[state] <= 0.0 and q[state] <= 0.0 and position < states - 1:
            tree[position] = state, alive[0]
            position += 1
    return tree, flow


def _highs(p: Floats, q: Floats, cost: Floats) -> list[tuple[int, int, float]]:
    """The tight constraints of an optimal vertex, each with its dual value."""
    import highspy

    states = len(p)
    if states <= 1:
        return []
    # `g` rises with p / q, so only a state of smaller p / q ever bounds a state of larger p / q.
    with np.errstate(over="ignore"):
        ratio = np.where(q > 0.0, p / np.where(q > 0.0, q, 1.0), np.inf)
    rank = np.argsort(np.argsort(-ratio))
    pairs = [(v, w) for v in range(states) for w in range(states) if rank[v] < rank[w]]
    model = highspy.HighsLp()
    model.num_col_ = states
    model.num_row_ = len(pairs) + 1
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = p
    model.col_lower_ = np.zeros(states)
    model.col_upper_ = np.full(states, highspy.kHighsInf)
    model.row_lower_ = np.append(np.full(len(pairs), -highspy.kHighsInf), 1.0)
    model.row_upper_ = np.append(np.zeros(len(pairs)), 1.0)
    count = len(pairs)
    tails = np.array([v for v, _ in pairs])
    heads = np.array([w for _, w in pairs])
    starts = 2 * np.arange(count + 1)
    index = np.empty(2 * count + states, dtype=np.int32)
    value = np.empty(2 * count + states)
    index[0 : 2 * count : 2], index[1 : 2 * count : 2] = tails, heads
    value[0 : 2 * count : 2], value[1 : 2 * count : 2] = 1.0, -cost[tails, heads]
    index[2 * count :], value[2 * count :] = np.arange(states), q
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.append(starts, 2 * count + states)
    model.a_matrix_.index_ = index
    model.a_matrix_.value_ = value
    solver = quiet_solver()
    solver.clearModel()
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return []
    status = list(solver.getBasis().row_status)
    dual = list(solver.getSolution().row_dual)
    tight = [i for i in range(count) if status[i] != highspy.HighsBasisStatus.kBasic]
    return [(int(tails[i]), int(heads[i]), max(0.0, float(dual[i]))) for i in tight]


_SOLVERS: dict[str, Any] = {}


def quiet_solver(method: str = "simplex") -> Any:
    """The process's quiet HiGHS solver of this method ("simplex" or "ipm")."""
    if method not in _SOLVERS:
        import highspy

        class Quiet(highspy.Highs):
            """Without the callbacks, whose registration prints a banner to standard output."""

            def __init__(self) -> None:
                super(highspy.Highs, self).__init__()

        solver = Quiet()
        for option, setting in (
            ("log_to_console", False),
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", method),
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
            ("threads", 1),
        ):
            solver.setOptionValue(option, setting)
        _SOLVERS[method] = solver
    return _SOLVERS[method]
