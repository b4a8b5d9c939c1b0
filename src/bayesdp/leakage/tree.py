"""Trees against uninformed adversaries: the recursion along edges (theory 3.5r).

For neighbours `i` and `k` let `C[u, u']` be the largest ratio, over functions that are
log-Lipschitz in the records of the branch at `k`, of the means given `x_i = u` and `x_i = u'`.
Given `x_i` the record `k` follows its transition, or the reversed one if `k` is the parent; given
`x_k` its further branches are independent, so one step has the costs `e^eps` times the product of
their `C`. One pass up and one pass down give the `C` of every edge in both directions.

Two states: the step is the Moebius map of `bayesdp.leakage.chain`. More: one small linear program
for each pair of values, certified by its dual (`bayesdp.leakage.lipschitz`), or the threshold bound
where there would be too many of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from operator import mul
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats, Ints
from bayesdp.leakage.chain import grow
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.lipschitz import LipschitzRatios, threshold_bound
from bayesdp.numbers import NOT_NEGATIVE, UNIT, ZERO, LowerBound, UpperBound, down, largest, up
from bayesdp.populations.factors import FactorGraph
from bayesdp.populations.tree import Tree

MOST_PROGRAMS = 6000
"""With more linear programs than this in one evaluation, thresholds are used instead."""

MOST_CELLS = 50_000_000
"""The largest number of records times states squared that is followed."""

_LARGEST_LOG = 600.0
"""Messages with a larger logarithm are bounded by the largest cost instead."""
_ASK_EVERY = 1024
"""The deadline is checked once in so many records."""


def tree_level(tree: Tree, dp_epsilon: float, deadline: Deadline = NEVER) -> UpperBound:
    """`L(dp_epsilon)` against uninformed adversaries, rounded up; exact if all have two states.

    In nats. Raises `OutOfTimeError` at the deadline, and `BeyondDoublesError` for a tree that
    doesn't pass `marginals_fit`. Source: theory 3.5r.
    """
    if dp_epsilon == 0.0:
        return ZERO
    deadline.check()
    return _engine(tree).level(dp_epsilon, deadline)


def tree_attained(tree: Tree, dp_epsilon: float, deadline: Deadline = NEVER) -> LowerBound:
    """What some mechanism certainly leaks, in nats, rounded down.

    Close to `tree_level` where all records have two states, else 0. Raises `OutOfTimeError` at the
    deadline, and as `tree_level` does `BeyondDoublesError`.
    """
    engine = _engine(tree)
    if dp_epsilon == 0.0 or not isinstance(engine, _TwoStates):
        return NOT_NEGATIVE
    return engine.attained(dp_epsilon, deadline)


def _engine(tree: Tree) -> _TwoStates | _ManyStates:
    key = tree.factor_graph
    if key not in _KNOWN:
        _KNOWN[key] = _TwoStates.of(tree) if set(tree.sizes) == {2} else _ManyStates.of(tree)
    return _KNOWN[key]


TINY = 1e-290
"""A possible probability below it has lost digits: the tree is refused."""


class BeyondDoublesError(ArithmeticError):
    """A possible value is so rare that its probability may round to 0."""


def marginals_fit(tree: Tree) -> bool:
    """Whether every possible value has a probability that a double can hold."""
    try:
        _marginals(tree)
    except BeyondDoublesError:
        return False
    return True


def _marginals(tree: Tree) -> list[tuple[float, ...]]:
    """The law of each record."""
    laws: list[tuple[float, ...]] = [()] * tree.records
    for node in tree.order:
        own = tree.nodes[node]
        if own.transition is None:
            laws[node] = own.law or ()
            continue
        above = laws[tree.parents[node]]
        here = [sum(map(mul, above, column)) for column in zip(*own.transition, strict=True)]
        for value, column in zip(here, zip(*own.transition, strict=True), strict=True):
            if value < TINY and any(
                a > 0.0 and b > 0.0 for a, b in zip(above, column, strict=True)
            ):
                raise BeyondDoublesError
        total = sum(here)
        laws[node] = tuple(value / total for value in here)
    return laws


def _depths(tree: Tree) -> list[int]:
    depths = [0] * tree.records
    for node in tree.order:
        if tree.parents[node] >= 0:
            depths[node] = depths[tree.parents[node]] + 1
    return depths


# --------------------------------------------------------------------------- two states

_Step = tuple[float, float, float, float, float, int, float, float]
"""`(gap, p0, p1, q0, q1, sign, error, least)`: the two rows of a step and how far apart they are.

`gap = |p0 q1 - p1 q0|`, rounded up, and `least` the same, rounded down; `sign` is that of
`p0 q1 - p1 q0`, 0 where rounding hides it.
"""


def _step_of(a: float, b: float, c: float, d: float, error: float) -> _Step | None:
    """The step with rows proportional to `(a, b)` and `(c, d)`; `None` if its rows are the same."""
    p, q = a + b, c + d
    if p <= 0.0 or q <= 0.0:
        return None
    rounding = 6.0 * UNIT * (a * d + b * c)
    determinant = a * d - b * c
    gap = (abs(determinant) + rounding) / (p * q)
    if gap == 0.0:
        return None
    sign = 0 if abs(determinant) <= rounding else int(math.copysign(1.0, determinant))
    least = max(abs(determinant) - rounding, 0.0) / (p * q)
    return (gap, a / p, b / p, c / q, d / q, sign, 5.0 * error + 44.0 * UNIT, least)


def _take(step: _Step, high: float, low: float, upper: bool = True) -> tuple[float, float]:
    """`(ln C[0, 1], ln C[1, 0])` from the log costs `c(0, 1)` and `c(1, 0)` of the next record."""
    gap, p0, p1, q0, q1, sign, error, least = step
    if not upper:
        gap = least
    first = second = 0.0
    if sign >= 0:
        first, second = grow(gap, high, q0, q1), grow(gap, low, p1, p0)
    if sign <= 0:
        first = largest(first, grow(gap, low, q1, q0))
        second = largest(second, grow(gap, high, p0, p1))
    widening = 1.0 + error + 4.0 * UNIT * max(high, low)
    if not upper:
        widening = max(0.0, 2.0 - widening)
    return first * widening, second * widening


@dataclass(frozen=True)
class _TwoStates:
    """The steps of all edges, made once; `_worst` is two loops over them."""

    order: list[int]
    parents: list[int]
    children: list[int]
    secret: list[bool]
    upward: list[_Step | None]
    downward: list[_Step | None]

    @classmethod
    def of(cls, tree: Tree) -> _TwoStates:
        laws = _marginals(tree)
        depths = _depths(tree)
        children = [0] * tree.records
        upward: list[_Step | None] = [None] * tree.records
        downward: list[_Step | None] = [None] * tree.records
        for node, parent in enumerate(tree.parents):
            if parent < 0:
                continue
            children[parent] += 1
            (a, b), (c, d) = tree.nodes[node].transition or ()
            upward[node] = _step_of(a, b, c, d, 4.0 * UNIT)
            low, high = laws[parent]
            error = (12.0 * depths[node] + 8.0) * UNIT
            downward[node] = _step_of(low * a, high * c, low * b, high * d, error)
        secret = [first > 0.0 and second > 0.0 for first, second in laws]
        return cls(list(tree.order), list(tree.parents), children, secret, upward, downward)

    def level(self, dp_epsilon: float, deadline: Deadline = NEVER) -> UpperBound:
        """The level, every step rounded up."""
        return UpperBound(up(dp_epsilon + self._worst(dp_epsilon, deadline, upper=True), 4))

    def attained(self, dp_epsilon: float, deadline: Deadline = NEVER) -> LowerBound:
        """The level, every step rounded down: every step is increasing."""
        return down(dp_epsilon + self._worst(dp_epsilon, deadline, upper=False), 4)

    def _worst(self, dp_epsilon: float, deadline: Deadline, *, upper: bool) -> float:
        """The most that arrives at a record, before its own cost; `upper` says how it's rounded."""
        records = len(self.order)
        outward = 1.0 if upper else -1.0
        first, second = [0.0] * records, [0.0] * records
        sent_first, sent_second = [0.0] * records, [0.0] * records
        for count, node in enumerate(reversed(self.order)):
            if count % _ASK_EVERY == 0:
                deadline.check()
            step, parent = self.upward[node], self.parents[node]
            if step is not None:
                terms = self.children[node] + 4
                to_first, to_second = _take(
                    step,
                    dp_epsilon + first[node] * (1.0 + outward * terms * UNIT),
                    dp_epsilon + second[node] * (1.0 + outward * terms * UNIT),
                    upper,
                )
                sent_first[node], sent_second[node] = to_first, to_second
                first[parent] += to_first
                second[parent] += to_second
        best = 0.0
        for count, node in enumerate(self.order):
            if count % _ASK_EVERY == 0:
                deadline.check()
            step, parent = self.downward[node], self.parents[node]
            if step is not None:
                terms = self.children[parent] + (self.parents[parent] >= 0)
                to_first, to_second = _take(
                    step,
                    dp_epsilon + _without(first[parent], sent_first[node], terms, outward),
                    dp_epsilon + _without(second[parent], sent_second[node], terms, outward),
                    upper,
                )
                first[node] += to_first
                second[node] += to_second
            if self.secret[node]:
                terms = self.children[node] + 2
                widest = largest(first[node], second[node])
                best = largest(best, widest * (1.0 + outward * terms * UNIT))
        return best


def _without(total: float, own: float, terms: int, outward: float) -> float:
    """A sum of so many terms without the term `own`, rounded up; down where `outward` is -1."""
    if terms <= 1:
        return 0.0
    return largest(total - own + outward * (2.0 * terms + 4.0) * UNIT * total, 0.0)


# --------------------------------------------------------------------------- more states


@dataclass(frozen=True)
class _Edges:
    """Edges at one depth, of one shape. A row is for a value of the record that is passed on to."""

    nodes: Ints
    parents: Ints
    upward: Floats
    downward: Floats
    errors: Floats
    solvers: dict[str, LipschitzRatios] = field(default_factory=dict)


@dataclass(frozen=True)
class _ManyStates:
    """The recursion for more states, in arrays: all edges of a depth and shape at once."""

    records: int
    possible: NDArray[np.bool_]
    terms: Ints
    levels: list[list[_Edges]]
    programs: bool

    @classmethod
    def of(cls, tree: Tree) -> _ManyStates:
        laws, depths = _marginals(tree), _depths(tree)
        widest = max(tree.sizes)
        possible = np.zeros((tree.records, widest), dtype=bool)
        for node, law in enumerate(laws):
            possible[node, : len(law)] = np.asarray(law) > 0.0
        terms = np.array([int(parent >= 0) for parent in tree.parents])
        shapes: dict[tuple[int, int, int], list[int]] = {}
        for node, parent in enumerate(tree.parents):
            if parent >= 0:
                terms[parent] += 1
                shape = (depths[node], tree.sizes[parent], tree.sizes[node])
                shapes.setdefault(shape, []).append(node)
        levels: list[list[_Edges]] = [[] for _ in range(max(depths) + 1)]
        programs = 0
        for (depth, above, below), nodes in sorted(shapes.items()):
            levels[depth].append(_edges(tree, laws, nodes, depth))
            programs += len(nodes) * (above * (above - 1) + below * (below - 1))
        return cls(tree.records, possible, terms, levels, programs <= MOST_PROGRAMS)

    def level(self, dp_epsilon: float, deadline: Deadline) -> UpperBound:
        """The level, every step rounded up."""
        widest = self.possible.shape[1]
        total = np.zeros((self.records, widest, widest))
        sent = np.zeros_like(total)
        for depth in reversed(self.levels):
            for edges in depth:
                above, below = edges.upward.shape[1:]
                inner = total[edges.nodes, :below, :below]
                passed = self._step(edges, "upward", inner, edges.parents, dp_epsilon, deadline)
                sent[edges.nodes, :above, :above] = passed
                np.add.at(total[:, :above, :above], edges.parents, passed)
        for depth in self.levels:
            for edges in depth:
                above, below = edges.upward.shape[1:]
                whole = total[edges.parents, :above, :above]
                terms = self.terms[edges.parents][:, None, None]
                inner = np.maximum(whole - sent[edges.nodes, :above, :above], 0.0)
                inner = np.where(terms > 1, inner + (2.0 * terms + 4.0) * UNIT * whole, 0.0)
                passed = self._step(edges, "downward", inner, edges.nodes, dp_epsilon, deadline)
                total[edges.nodes, :below, :below] += passed
        both = self.possible[:, :, None] & self.possible[:, None, :]
        total = total * (1.0 + (self.terms[:, None, None] + 2.0) * UNIT)
        return UpperBound(up(dp_epsilon + largest(0.0, np.where(both, total, 0.0)), 4))

    def _step(
        self,
        edges: _Edges,
        way: str,
        inner: Floats,
        onto: Ints,
        dp_epsilon: float,
        deadline: Deadline,
    ) -> Floats:
        """`ln C` for each edge and pair of values of the record passed on to."""
        rows: Floats = getattr(edges, way)
        count, values, states = rows.shape
        passed = np.zeros((count, values, values))
        if values < 2 or states < 2:
            return passed
        pairs = list(itertools.permutations(range(values), 2))
        p = np.concatenate([rows[:, u] for u, _ in pairs])
        q = np.concatenate([rows[:, v] for _, v in pairs])
        logs = inner + dp_epsilon
        logs *= 1.0 + 4.0 * UNIT
        logs[:, np.arange(states), np.arange(states)] = 0.0
        largest = np.tile(logs.max(axis=(1, 2)), len(pairs))
        cost = np.exp(np.minimum(logs, _LARGEST_LOG)) * (1.0 + 16.0 * UNIT)
        cost[:, np.arange(states), np.arange(states)] = 1.0
        cost = np.tile(cost, (len(pairs), 1, 1))
        if self.programs:
            if way not in edges.solvers:
                edges.solvers[way] = LipschitzRatios(len(p), states)
            ratio = edges.solvers[way].upper(p, q, cost, 0, deadline)
        else:
            deadline.check()
            ratio = threshold_bound(p, q, cost)
        errors = np.tile(edges.errors, len(pairs))
        log = np.log1p(np.maximum(ratio - 1.0, 0.0)) * (1.0 + 16.0 * UNIT) + errors
        same = np.all(p == q, axis=1)
        log = np.where(same, 0.0, np.minimum(log, largest))
        log = np.where(largest > _LARGEST_LOG, np.where(same, 0.0, largest), log)
        for (u, v), ratios in zip(pairs, log.reshape(len(pairs), count), strict=True):
            passed[:, u, v] = ratios
        return _fill(passed, self.possible[onto, :values])


def _edges(tree: Tree, laws: list[tuple[float, ...]], nodes: list[int], depth: int) -> _Edges:
    parents = [tree.parents[node] for node in nodes]
    upward = np.stack([np.asarray(tree.nodes[node].transition) for node in nodes])
    weights = np.stack([laws[parent] for parent in parents])
    downward = upward.transpose(0, 2, 1) * weights[:, None, :]
    states = max(upward.shape[1:])
    error = 4.0 * (depth + 2) * (states + 4) * UNIT
    return _Edges(
        np.asarray(nodes),
        np.asarray(parents),
        _rescaled(upward),
        _rescaled(downward),
        np.full(len(nodes), 4.0 * error),
    )


def _rescaled(rows: Floats) -> Floats:
    """Rows that sum to 1; a row without weight (an impossible value) becomes uniform."""
    sums = rows.sum(axis=-1, keepdims=True)
    uniform = 1.0 / rows.shape[-1]
    return np.where(sums > 0.0, rows / np.where(sums > 0.0, sums, 1.0), uniform)


def _fill(logs: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Pairs with an impossible value get the largest other entry, and so restrict nothing.

    At an impossible value a function may be given the value that it has at a possible value.
    """
    both = possible[:, :, None] & possible[:, None, :]
    if both.all():
        return logs
    largest = np.max(np.where(both, logs, 0.0), axis=(1, 2), keepdims=True)
    filled = np.where(both, logs, largest)
    states = np.arange(logs.shape[1])
    filled[:, states, states] = 0.0
    return filled


_KNOWN: WeakKeyDictionary[FactorGraph, _TwoStates | _ManyStates] = WeakKeyDictionary()
