"""Factor graphs under (epsilon, delta): affine messages (theory 3.10).

A change of a record passes through a factor as the map `G <= C G' + D`: `C` is the message of
`bayesdp.leakage.contraction`, and `D = h d`, where `(c, d)` chains the maps of the factor's other
members and `h` is the largest hockey-stick divergence at `C` of a reweighting with ratio `R`.
Chaining `(C1, D1)` and `(C2, D2)` gives `(C1 C2, D1 + C1 D2)`.

Order. In a chain, the map `i` may stand before or after its neighbour `j`: before is no worse iff
`D_i + C_i D_j <= D_j + C_j D_i`, that is `D_j (C_i - 1) <= D_i (C_j - 1)`. Sorting by `(C - 1) / D`
makes that true of all neighbours at once, and any order reaches the sorted one by exchanging
neighbours, so the sorted chain has the least `D`. Any order is valid, so ties and rounding in the
comparison do no harm.

For given `C` the messages `D` solve an increasing system that is linear in `(D, delta)`; as for
`C`, a guess from below is scaled up until `Psi(D) <= D` holds with outward rounding. A `D` above 1
says nothing, since probabilities are at most 1, so all are capped there.
"""

from __future__ import annotations

import math

import numpy as np

from bayesdp.leakage.contraction import Messages, hockey_stick, messages_of
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UNIT, up
from bayesdp.populations.factors import FactorGraph, Floats, Ints

_ERROR = 32.0 * UNIT
_MOST_ROUNDS = 400
_LARGEST_LOG = 690.0
_TINY = 1e-280


def approximate_graph_level(
    graph: FactorGraph, dp_epsilon: float, dp_delta: float, deadline: Deadline = NEVER
) -> tuple[float, float]:
    """The `(epsilon, delta)` that an `(dp_epsilon, dp_delta)`-DP mechanism has for every record.

    `P[Y in S | x_i, x_K] <= e^epsilon P[Y in S | x_i', x_K] + delta` for every adversary.
    `epsilon` is the contraction level of theory 3.7, or that of the largest component as a cluster
    where it is no lower; `delta` is at most 1, where it says nothing. On a chain it stays bounded
    in the length iff `h e^dp_epsilon < 1`. Both rounded up. Source: theory 3.10.
    """
    cluster = _cluster(int(graph.component_sizes.max()), dp_epsilon, dp_delta)
    messages = messages_of(graph)
    if messages.size == 0 or dp_epsilon <= _TINY:
        return (dp_epsilon, dp_delta) if messages.size == 0 else cluster
    solution = messages.solve(dp_epsilon, capped=False, deadline=deadline)
    if solution is None:
        return cluster
    levels = messages.levels(solution.y, dp_epsilon, capped=False)
    level = float(np.nextafter(np.max(levels), np.inf))
    if level >= cluster[0]:
        return cluster
    if dp_delta == 0.0:
        return level, 0.0
    delta = _Maps(messages, solution.y, dp_epsilon, dp_delta).delta(deadline)
    return cluster if delta >= 1.0 > cluster[1] else (level, delta)


def _cluster(size: int, dp_epsilon: float, dp_delta: float) -> tuple[float, float]:
    """`(m eps, delta (e^(m eps) - 1) / (e^eps - 1))`, rounded up: the chain of `m` own changes."""
    if size == 1:
        return dp_epsilon, dp_delta
    if size * dp_epsilon > _LARGEST_LOG:
        return up(size * dp_epsilon), 1.0 if dp_delta > 0.0 else 0.0
    if dp_epsilon <= _TINY:
        return up(size * dp_epsilon), min(1.0, up(size * dp_delta * math.exp(size * dp_epsilon)))
    growth = math.expm1(size * dp_epsilon) / math.expm1(dp_epsilon)
    return up(size * dp_epsilon), min(1.0, up(dp_delta * growth, 64))


class _Maps:
    """The affine maps of one graph at one cost: `ln C` is fixed, the `D` are sought."""

    def __init__(self, messages: Messages, y: Floats, dp_epsilon: float, dp_delta: float) -> None:
        self.messages = messages
        self.log_c = y
        self.own_log_c = dp_epsilon
        self.own_d = dp_delta
        self.hockey = hockey_stick(np.minimum(y, messages.log_ratio), messages.log_ratio)
        records = messages.graph.records
        # One item for each message and, last, one for each record's own change.
        self.record: Ints = np.concatenate([messages.record, np.arange(records)])
        self.item_log_c = np.concatenate([y, np.full(records, dp_epsilon)])
        self.count = np.bincount(self.record, minlength=records)
        self.first = np.concatenate([[0], np.cumsum(self.count)[:-1]])
        self.error = 1.0 + (self.count + 8) * (4.0 * UNIT)
        totals = np.bincount(messages.record, weights=y, minlength=records) + dp_epsilon
        self.onward_log_c = np.maximum((totals * self.error)[messages.record] - y, dp_epsilon)

    def delta(self, deadline: Deadline = NEVER) -> float:
        """The largest `delta` of a record, from verified messages `D`; at most 1.

        At the deadline messages on their way down are taken as they are.
        """
        d = np.zeros(self.messages.size)
        change = np.inf
        for _ in range(_MOST_ROUNDS):
            if deadline.passed:
                break
            following = self.step(d)
            change = float(np.max(np.abs(following - d)) / max(np.max(following), _TINY))
            d = following
            if change <= 1e-13:
                break
        verified = self._verify(d, change)
        if verified is None:
            verified = np.ones(self.messages.size)
            for _ in range(_MOST_ROUNDS):
                verified = np.minimum(self.step(verified), verified)
                if deadline.passed:
                    break
        whole, _ = self._chains(verified)
        return float(min(1.0, np.max(whole) * (1.0 + _ERROR)))

    def _verify(self, d: Floats, change: float) -> Floats | None:
        inflation, following = 0.0, max(4.0 * change, 1e-13)
        while inflation < 2.0:
            raised = np.minimum(d * (1.0 + inflation), 1.0)
            if bool(np.all(self.step(raised) <= raised)):
                return raised
            inflation, following = following, following * 6.0
        return None

    def step(self, d: Floats) -> Floats:
        """`min(Psi(D), 1)`, rounded up."""
        _, onward = self._chains(d)
        result = np.empty_like(d)
        for block in self.messages.blocks:
            stop = block.start + block.count * block.arity
            shape = (block.arity, block.count)
            log_c = self.onward_log_c[block.start : stop].reshape(shape)
            inner = onward[block.start : stop].reshape(shape)
            out = result[block.start : stop].reshape(shape)
            for position in range(block.arity):
                rest = [p for p in range(block.arity) if p != position]
                out[position] = _chained(log_c[rest], inner[rest])
        result *= self.hockey * (1.0 + _ERROR)
        # A change beyond the doubles times nothing passed on is a NaN: a probability of 1 at most.
        least: Floats = np.where(np.isnan(result), 1.0, np.minimum(result, 1.0))
        return least

    def _chains(self, d: Floats) -> tuple[Floats, Floats]:
        """For each record the `D` of all its maps chained; for each message without its own."""
        records = self.messages.graph.records
        item_d = np.concatenate([d, np.full(records, self.own_d)])
        order = np.lexsort((_rank(self.item_log_c, item_d), self.record))
        log_c, inner = self.item_log_c[order], item_d[order]
        before_c, before_d = np.zeros(len(order)), np.zeros(len(order))
        total_c, total_d = np.zeros(records), np.zeros(records)
        deepest = int(self.count.max())
        for place in range(deepest):
            here = np.flatnonzero(self.count > place)
            item = self.first[here] + place
            before_c[item], before_d[item] = total_c[here], total_d[here]
            total_d[here] += _grown(total_c[here] * self.error[here], inner[item])
            total_c[here] += log_c[item]
        after = np.zeros(records)
        without = np.zeros(len(order))
        for place in range(deepest - 1, -1, -1):
            here = np.flatnonzero(self.count > place)
            item = self.first[here] + place
            without[item] = before_d[item] + _grown(before_c[item] * self.error[here], after[here])
            after[here] = inner[item] + _grown(log_c[item], after[here])
        slack = self.error[self.record[order]]
        unsorted = np.empty_like(without)
        unsorted[order] = without * slack
        return total_d * self.error, unsorted[: self.messages.size]


def _rank(log_c: Floats, d: Floats) -> Floats:
    """The key by which chained maps are best sorted: `(C - 1) / D`, smallest first."""
    excess = np.expm1(np.minimum(log_c, _LARGEST_LOG))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(d > 0.0, excess / d, np.where(excess > 0.0, np.inf, 0.0))


def _grown(log_c: Floats, d: Floats) -> Floats:
    """`C D`, rounded up; infinite where `C` is beyond the range of doubles, unless `D` is 0."""
    size = np.exp(np.minimum(log_c, _LARGEST_LOG)) * (1.0 + _ERROR)
    size = np.where(log_c > _LARGEST_LOG, np.inf, size)
    with np.errstate(invalid="ignore"):
        grown: Floats = np.where(d > 0.0, size * d, 0.0)
        return grown


def _chained(log_c: Floats, d: Floats) -> Floats:
    """The `D` of the maps along the first axis, chained in the best order."""
    if len(log_c) == 1:
        only: Floats = d[0]
        return only
    order = np.argsort(_rank(log_c, d), axis=0)
    log_c, d = np.take_along_axis(log_c, order, 0), np.take_along_axis(d, order, 0)
    total = np.zeros(d.shape[1])
    for place in range(len(d) - 1, -1, -1):
        total = d[place] + _grown(log_c[place], total)
    grown: Floats = total * (1.0 + len(d) * _ERROR)
    return grown
