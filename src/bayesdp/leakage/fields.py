"""Graphs of two states: contraction where the odds of each record are known (theory 3.7c).

A message for each pair of records that depend on each other, each direction and each order of the
two values: `ln C[u, u']`, the influence that record `i` has through its neighbour `k` when it
changes from `u'` to `u`. Apart from the changed factor the log odds of `k` lie in an interval
`[lo, hi]`, whatever the adversary knows. With `r(u)` the log odds that the factor adds to `k`, and
`s` the log cost of changing `k`, a step is

    ln(1 + (1 - e^-s)(1 - e^-rho) / ((1 + e^-a)(e^-s + e^b))),   a = L + r(u),  b = L + r(u'),

`rho = r(u) - r(u') >= 0`, at the `L` in `[lo, hi]` that is nearest to `-(r(u) + r(u') + s) / 2`.
Where `rho < 0`, the two values of `k` change their roles. A zero of a table is an infinite `r`.

The step is increasing, but not concave: `rising` has the search.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from bayesdp.arrays import Bools, Floats, Ints
from bayesdp.leakage.binary_pairs import Pairs, pairs_of
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.rising import HAIR, MOST_ROUNDS, RisingMessages
from bayesdp.numbers import UNIT, UpperBound, up
from bayesdp.populations.factors import FactorGraph

MOST_PAIRS = 5_000
"""With more pairs a certificate has no number for each message, but two for all of them."""

TINY = 1e-280
"""Up to this cost in nats messages would be lost in doubles: the size of a component is used."""
_FARTHEST = 340.0
"""Beyond it `e^x` is held: products of two still fit, and what is left out lowers no message."""


@dataclass(frozen=True, eq=False)
class BoundedSteps:
    """What each message does with the log cost `s` of its target.

    `high` and `low` are `r(u)` and `r(u')`, with their signs turned where the values of the target
    change their roles, and 0 where they are infinite (`certain_high`, `certain_low`: the target has
    one value left). `least` and `most` bound `L`; `error` is by how much a step is raised for its
    rounding, `weight` is `1 - e^-rho`.
    """

    high: Floats
    low: Floats
    least: Floats
    most: Floats
    middle: Floats
    weight: Floats
    error: Floats
    certain_high: Bools
    certain_low: Bools

    @classmethod
    def of(
        cls, high: Floats, low: Floats, least: Floats, most: Floats, ratio: Floats
    ) -> BoundedSteps:
        """The steps for odds `high` and `low`, possibly infinite; `ratio` is `rho`, rounded up."""
        certain_high, certain_low = high == np.inf, low == -np.inf
        both = certain_high & certain_low
        most = np.where(certain_high, least, most)  # the least L is the worst
        least = np.where(certain_low, most, least)
        least, most = np.where(both, 0.0, least), np.where(both, 0.0, most)
        high, low = np.where(certain_high, 0.0, high), np.where(certain_low, 0.0, low)
        size = np.abs(high) + np.abs(low)
        for end in (least, most):
            size += np.where(np.isfinite(end), np.abs(end), 0.0)
        weight = -np.expm1(-ratio) * (1.0 + 8.0 * UNIT)
        error = 1.0 + (64.0 + 8.0 * size) * UNIT
        middle = -0.5 * (high + low)
        return cls(high, low, least, most, middle, weight, error, certain_high, certain_low)

    def at(self, places: Ints) -> BoundedSteps:
        """The steps of the messages at these places."""
        return BoundedSteps(*(getattr(self, field.name)[places] for field in fields(self)))

    @cached_property
    def zeros(self) -> bool:
        """Whether some table has a zero."""
        return bool((self.certain_high | self.certain_low).any())

    def passed(self, s: Floats) -> Floats:
        """`ln C` for the log costs `s` of the targets, rounded up."""
        place = self.middle - 0.5 * s
        np.maximum(place, self.least, out=place)
        np.minimum(place, self.most, out=place)
        beside = np.exp(np.minimum(place + self.low, _FARTHEST))
        place += self.high
        np.negative(place, out=place)
        against = np.exp(np.minimum(place, _FARTHEST, out=place), out=place)
        if self.zeros:
            against[self.certain_high], beside[self.certain_low] = 0.0, 0.0
        fallen = -s
        beside += np.exp(fallen)
        against += 1.0
        beside *= against
        lost = beside < 1e-290  # s and rho are beyond what doubles can tell
        beside[lost] = 1.0
        step = np.expm1(fallen, out=fallen)
        step *= self.weight
        step /= beside
        step *= self.error + (8.0 * UNIT) * s
        np.subtract(1e-300, step, out=step)
        step[lost] = np.inf
        np.log1p(step, out=step)
        step *= 1.0 + 8.0 * UNIT
        np.minimum(step, s, out=step)
        return step


class FieldMessages(RisingMessages):
    """The messages of one graph, and how they follow from each other.

    Pairs that depend on nothing have none. With `E` pairs, edge `e < E` goes from the smaller
    record to the larger, `e + E` back; message `d 2E + e` is that of edge `e` for the values `u, u'
    = 1, 0` (`d = 0`) or `0, 1` (`d = 1`).
    """

    def __init__(self, pairs: Pairs) -> None:
        super().__init__()
        self.graph = pairs.graph
        self.pairs = pairs
        records = self.graph.records
        ends, logs = pairs.ends, pairs.logs
        source = np.concatenate([ends[:, 0], ends[:, 1]])
        target = np.concatenate([ends[:, 1], ends[:, 0]])
        adds = np.concatenate([logs[:, :, 1] - logs[:, :, 0], logs[:, 1, :] - logs[:, 0, :]])
        low, high, error = self._intervals(target, adds)
        self.live = np.nonzero(~pairs.lone)[0]
        source, target, adds, low, high, error = (
            entries[np.tile(~pairs.lone, 2)] for entries in (source, target, adds, low, high, error)
        )
        self.source, self.edges = source, len(source)
        self.degree = np.bincount(source, minlength=records)
        falls = adds[:, 1] < adds[:, 0]
        turned = np.concatenate([falls, ~falls])
        sign = np.where(turned, -1.0, 1.0)
        first = np.concatenate([adds[:, 1], adds[:, 0]]) * sign
        second = np.concatenate([adds[:, 0], adds[:, 1]]) * sign
        low, high = np.tile(low, 2), np.tile(high, 2)
        self.ratio = first - second
        self.ratio += np.where(np.isfinite(self.ratio), np.tile(error, 2), 0.0)
        least, most = np.where(turned, -high, low), np.where(turned, -low, high)
        self.steps = BoundedSteps.of(first, second, least, most, self.ratio)
        reverse = np.roll(np.arange(self.edges), self.edges // 2)
        order = turned.astype(np.int64)
        self.total_at = order * records + np.tile(target, 2)
        self.back_at = order * self.edges + np.tile(reverse, 2)
        self.size = 2 * self.edges

    def _intervals(self, target: Ints, adds: Floats) -> tuple[Floats, Floats, Floats]:
        """For each edge the least and largest log odds of its target without it, and their error.

        Rounded outward by enough for a table's own rounding too.
        """
        records = self.graph.records
        count = np.bincount(target, minlength=records)
        sizes = np.tile(self.pairs.sizes, 2)
        size = np.bincount(target, weights=sizes, minlength=records) + self.pairs.own_sizes
        error = ((count + 8) * (8.0 * UNIT) * size)[target]
        least, most = adds.min(axis=1), adds.max(axis=1)
        low = self._without(target, least) - error
        high = self._without(target, most) + error
        return low, high, error

    def _without(self, target: Ints, ends: Floats) -> Floats:
        """The odds and all other entries with the same target, summed; entries may be infinite."""
        records = self.graph.records
        finite = np.isfinite(ends)
        plain = np.where(finite, ends, 0.0)
        total = self.pairs.odds + np.bincount(target, weights=plain, minlength=records)
        unbounded = np.bincount(target, weights=~finite, minlength=records)[target] - ~finite
        sign = 1.0 if bool((ends > -np.inf).all()) else -1.0
        without: Floats = np.where(unbounded > 0, sign * np.inf, total[target] - plain)
        return without

    def step(self, y: Floats, dp_epsilon: float, ceiling: Floats) -> Floats:
        """`min(Phi(y), ceiling)`, rounded up."""
        s = self._totals(y, dp_epsilon).ravel()[self.total_at]
        s -= y[self.back_at]
        return np.minimum(self.steps.passed(s), ceiling)

    def _totals(self, y: Floats, dp_epsilon: float) -> Floats:
        """`eps` and all messages out of each record, by order of values: rounded up, `(2, n)`."""
        records = self.graph.records
        out = [
            np.bincount(self.source, weights=part, minlength=records)
            for part in (y[: self.edges], y[self.edges :])
        ]
        total: Floats = np.stack(out).astype(np.float64, copy=False) + dp_epsilon
        total += total * ((self.degree + 8) * (2.0 * UNIT))
        return total

    def ceiling(self, dp_epsilon: float) -> Floats:
        """`min(rho, eps for each other record of the component)`: itself a super-solution."""
        others = (self.graph.component_sizes - 1) * dp_epsilon * (1.0 + 4.0 * UNIT)
        least: Floats = np.minimum(self.ratio, np.tile(others[self.source], 2))
        return least

    def above(self, dp_epsilon: float, ceiling: Floats) -> Floats:
        """The ceiling, or two numbers above all messages where they are lower."""
        component = int(self.graph.component_sizes.max())
        both = np.repeat(self.uniform(dp_epsilon, component)[0], self.edges)
        least: Floats = np.minimum(ceiling, both)
        return least

    def levels(self, y: Floats, dp_epsilon: float) -> Floats:
        """For each record `eps` and its messages; capped by `eps` for all of its component."""
        total = np.where(self.degree == 0, dp_epsilon, self._totals(y, dp_epsilon).max(axis=0))
        sizes = self.graph.component_sizes
        whole = np.where(sizes == 1, dp_epsilon, sizes * dp_epsilon * (1.0 + 4.0 * UNIT))
        least: Floats = np.minimum(total, whole)
        return least

    @cached_property
    def _kinds(self) -> Ints:
        """A message of each kind that there is: the same step, order of values and degree."""
        steps = self.steps
        parts = (steps.high, steps.low, steps.least, steps.most, self._fewer, self._orders)
        key = np.zeros(self.size, dtype=np.uint64)
        for part in parts:
            key *= np.uint64(0x9E3779B97F4A7C15)
            key += np.asarray(part, dtype=np.float64).view(np.uint64)
            key ^= key >> np.uint64(29)
        places, kind = np.unique(key, return_index=True, return_inverse=True)[1:]
        alike = all(np.array_equal(part, part[places[kind]]) for part in parts)
        kinds: Ints = places if alike else np.arange(self.size)  # where two kinds have one key
        return kinds

    @property
    def _fewer(self) -> Ints:
        """How many messages a step sums up."""
        fewer: Ints = self.degree[self.total_at % self.graph.records] - 1
        return fewer

    @property
    def _orders(self) -> Ints:
        """The order of values of each message, and of those that its step sums up."""
        order: Ints = np.repeat([0, 2], self.edges) + (self.total_at >= self.graph.records)
        return order

    def uniform(self, dp_epsilon: float, component: int) -> tuple[Floats, int]:
        """Two numbers, one for each order of values, that bound all messages; and the rounds.

        Verified, for components of at most so many records. From 0 up as in `solve`; their caps
        where that does not end.
        """
        kinds = self._kinds
        steps, more = self.steps.at(kinds), self._fewer[kinds].astype(float)
        orders = self._orders[kinds]
        ceiling = up((component - 1) * dp_epsilon, 4)
        y = np.zeros(2)
        for rounds in range(MOST_ROUNDS):
            passed = steps.passed((dp_epsilon + more * y[orders % 2]) * (1.0 + 4.0 * UNIT))
            following = np.array([passed[orders // 2 == d].max() for d in (0, 1)])
            following = np.minimum(following, ceiling)
            if bool((following <= y).all()):
                return y, rounds
            y = np.minimum(np.maximum(y, following * (1.0 + HAIR)), ceiling)
        return np.full(2, ceiling), MOST_ROUNDS


@dataclass(frozen=True, slots=True)
class FieldsLevel:
    """A level in nats, rounded up, and how many rounds the search for its messages took."""

    epsilon: UpperBound
    rounds: int


_KNOWN: WeakKeyDictionary[FactorGraph, FieldMessages | str] = WeakKeyDictionary()


def field_messages(graph: FactorGraph) -> FieldMessages | str:
    """The messages of a graph, prepared once; in words why it has none."""
    if graph not in _KNOWN:
        pairs = pairs_of(graph)
        _KNOWN[graph] = pairs if isinstance(pairs, str) else FieldMessages(pairs)
    return _KNOWN[graph]


def fields_level(
    messages: FieldMessages, dp_epsilon: float, deadline: Deadline = NEVER
) -> FieldsLevel:
    """`eps + max over i and u, u' of sum_k ln C_(i -> k)[u, u']`, in nats, rounded up.

    `messages` are those of the graph, `dp_epsilon` is the DP cost in nats. At the `deadline` by
    messages that are proven, only not the least. Source: theory 3.7c.
    """
    size = int(messages.graph.component_sizes.max())
    if dp_epsilon <= TINY or messages.size == 0:
        return level_of_size(dp_epsilon, size if messages.size else 1)
    y, rounds = messages.solve(dp_epsilon, deadline)
    level = up(float(np.max(messages.levels(y, dp_epsilon))), 1)
    return FieldsLevel(UpperBound(level), rounds)


def uniform_level(messages: FieldMessages, dp_epsilon: float, component: int) -> FieldsLevel:
    """The same by two numbers for all messages, for components of at most so many records.

    What a certificate of a large graph proves. The messages may be those of a part of the graph
    that has every kind of place.
    """
    if dp_epsilon <= TINY or messages.size == 0:
        return level_of_size(dp_epsilon, component if messages.size else 1)
    y, rounds = messages.uniform(dp_epsilon, component)
    most = up(dp_epsilon + int(messages.degree.max()) * float(y.max()), 4)
    return FieldsLevel(UpperBound(min(most, up(component * dp_epsilon, 4))), rounds)


def level_of_size(dp_epsilon: float, size: int) -> FieldsLevel:
    """`eps` for each of so many records."""
    level = dp_epsilon if size == 1 else up(size * dp_epsilon, 4)
    return FieldsLevel(UpperBound(level), 0)
