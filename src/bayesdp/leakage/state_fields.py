"""Graphs of any states and factors: contraction where evidence is bounded (theory 3.7c).

A message for each factor, each member of it and each ordered pair of the member's values. The steps
are those of `thresholds`; a message is the largest of its own. Where there are too many for a
certificate, messages about records that are alike are one number.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.fields import TINY, BoundedSteps, FieldsLevel, level_of_size
from bayesdp.leakage.merged_factors import MergedFactors, Weights, merged_factors
from bayesdp.leakage.rising import RisingMessages
from bayesdp.leakage.thresholds import MOST_SETTINGS, ThresholdStep, log_ratios, thresholds
from bayesdp.numbers import UNIT, UpperBound, up
from bayesdp.populations.factors import FactorGraph

MOST_CELLS = 200_000
"""Graphs whose factors have more weights in all are refused."""
MOST_THRESHOLDS = 60_000
"""With more thresholds a certificate has one number for all messages that are alike."""


@dataclass(frozen=True, eq=False)
class _Kind:
    """Factors of one table whose members have the same other factors, so that steps are the same.

    `first` has, for each of them, the number of its first message.
    """

    table: Weights
    steps: list[ThresholdStep]
    first: list[int]


class StateMessages(RisingMessages):
    """The messages of one graph, and how they follow from each other.

    With `shared` those of equal factors about a change of records that have equal factors are one
    number; if it is not said, where they are many.
    `size` is how many numbers there are, `component` stands for the size of every component.
    """

    def __init__(
        self,
        merged: MergedFactors,
        shared: bool | None = None,
        component: int | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        super().__init__()
        self.merged = merged
        self.components = (
            merged.components if component is None else np.full(len(merged.values), component)
        )
        kinds = _kinds(merged, deadline)
        self.thresholds = sum(len(kind.first) * len(kind.steps) for kind in kinds)
        self.shared = self.thresholds > MOST_THRESHOLDS if shared is None else shared
        self._place_messages(merged)
        self._place_steps(kinds)

    def _place_messages(self, merged: MergedFactors) -> None:
        """Where each message is summed up, and which number it is."""
        pairs = np.array(merged.values) * (np.array(merged.values) - 1)
        self.pairs_from = np.concatenate([[0], np.cumsum(pairs)])
        alike = _Alike(merged)
        slots: list[int] = []
        numbers: list[int] = []
        number_of: dict[Hashable, int] = {}
        for tie, table in merged.factors.items():
            for place, record in enumerate(tie if len(tie) > 1 else ()):
                pairs_here = range(table.shape[place] * (table.shape[place] - 1))
                slots += [int(self.pairs_from[record]) + pair for pair in pairs_here]
                key = (id(table), place, alike.kind[record])
                numbers += [
                    number_of.setdefault((*key, pair), len(number_of)) for pair in pairs_here
                ]
        self.slot = np.array(slots, dtype=np.int64)
        self.number = np.array(numbers if self.shared else range(len(slots)), dtype=np.int64)
        self.size = int(self.number.max(initial=-1)) + 1
        self.degree = np.bincount(self.slot, minlength=int(self.pairs_from[-1]))

    def _place_steps(self, kinds: list[_Kind]) -> None:
        """The steps of all messages, and the messages whose costs each of them sums up."""
        message, at, lengths, parts = ([np.zeros(0, dtype=np.int64)] for _ in range(4))
        bounds = [np.zeros((3, 0))]
        for kind in kinds:
            if not kind.steps:
                continue
            places, first = _places(kind.table), np.array(kind.first)[:, None]
            own = np.array([places[step.place, step.new, step.old] for step in kind.steps])
            costs = [[[places[c] for c in part] for part in step.changes] for step in kind.steps]
            flat = np.array([c for step in costs for part in step for c in part])
            message.append((first + own).ravel())
            at.append((first + flat).ravel())
            lengths.append(np.tile([len(part) for step in costs for part in step], len(first)))
            parts.append(np.tile([len(step) for step in costs], len(first)))
            of_steps = np.array([(step.most, step.least, step.ratio) for step in kind.steps]).T
            bounds.append(np.tile(of_steps, len(first)))
        self.steps, ratio = _steps(*np.concatenate(bounds, axis=1))
        self.costs_at = np.concatenate(at)
        self.members_from = _starts(np.concatenate(lengths))
        self.steps_from = _starts(np.concatenate(parts))
        self.count = np.concatenate(parts)
        target = self.number[np.concatenate(message)]
        self._order = np.argsort(target, kind="stable")
        self.targets, self._targets_from = np.unique(target[self._order], return_index=True)
        self.ratio = self._largest(ratio)

    def _largest(self, of_steps: Floats) -> Floats:
        """For each number the largest of its steps, 0 where it has none."""
        largest = np.zeros(self.size)
        if len(self.targets):
            largest[self.targets] = np.maximum.reduceat(of_steps[self._order], self._targets_from)
        return largest

    def step(self, y: Floats, dp_epsilon: float, ceiling: Floats) -> Floats:
        """`min(Phi(y), ceiling)`, rounded up."""
        each = y[self.number]
        cost = self._totals(each, dp_epsilon)[self.slot] - each
        if not len(self.targets):
            return np.zeros(self.size)
        members = np.maximum.reduceat(cost[self.costs_at], self.members_from)
        s = np.add.reduceat(members, self.steps_from)
        s *= 1.0 + (2.0 * UNIT) * self.count
        return np.minimum(self._largest(self.steps.passed(s)), ceiling)

    def _totals(self, each: Floats, dp_epsilon: float) -> Floats:
        """`eps` and all messages into each record, by pair of values: rounded up."""
        into = np.bincount(self.slot, weights=each, minlength=len(self.degree))
        total: Floats = into.astype(np.float64, copy=False) + dp_epsilon
        total += np.where(into > 0.0, total, 0.0) * ((self.degree + 8) * (2.0 * UNIT))
        return total

    @cached_property
    def _component(self) -> Ints:
        """For each number the size of the largest component of its messages."""
        record = np.searchsorted(self.pairs_from, self.slot, side="right") - 1
        largest = np.ones(self.size, dtype=np.int64)
        np.maximum.at(largest, self.number, self.components[record])
        return largest

    def ceiling(self, dp_epsilon: float) -> Floats:
        """The largest cross ratio, or `eps` for each other record: itself a super-solution."""
        others = (self._component - 1) * dp_epsilon * (1.0 + 4.0 * UNIT)
        least: Floats = np.minimum(self.ratio, others)
        return least

    def levels(self, y: Floats, dp_epsilon: float) -> Floats:
        """For each record `eps` and its messages; capped by `eps` for all of its component."""
        levels = np.full(len(self.merged.values), dp_epsilon)
        several = np.nonzero(np.diff(self.pairs_from))[0]
        if len(several):
            total = self._totals(y[self.number], dp_epsilon)
            levels[several] = np.maximum.reduceat(total, self.pairs_from[several])
        sizes = self.components
        whole = np.where(sizes == 1, dp_epsilon, sizes * dp_epsilon * (1.0 + 4.0 * UNIT))
        least: Floats = np.minimum(levels, whole)
        return least


def _kinds(merged: MergedFactors, deadline: Deadline) -> list[_Kind]:
    """All kinds of factors of two or more members. Messages are numbered in the order of factors.

    Of one factor they are in the order of members, new values and old values.
    """
    tables = {id(table): table for table in merged.factors.values()}
    ratios: dict[tuple[int, int], Floats] = {}
    steps_of: dict[Hashable, list[ThresholdStep]] = {}
    kinds: dict[Hashable, _Kind] = {}
    number = 0
    alike = _Alike(merged)
    for tie, table in merged.factors.items():
        if len(tie) == 1:
            continue
        key = alike.key(tie, table)
        if key not in kinds:
            beside = alike.others(tie, table)
            for pair in {pair for others in beside for pair in others} - ratios.keys():
                ratios[pair] = log_ratios(tables[pair[0]], pair[1])
            evidence = [
                _evidence(size, others, ratios)
                for size, others in zip(table.shape, beside, strict=True)
            ]
            kinds[key] = _Kind(table, [], [])
            for place, part in enumerate(_parts(key)):
                if part not in steps_of:
                    steps_of[part] = thresholds(table, place, evidence, deadline)
                kinds[key].steps.extend(steps_of[part])
        kinds[key].first.append(number)
        number += sum(size * (size - 1) for size in table.shape)
    return list(kinds.values())


class _Alike:
    """Which records have equal factors: `kind` numbers each record by its tables and places there.

    `factors` has, for each kind, how many of each table and place.
    """

    def __init__(self, merged: MergedFactors) -> None:
        at: list[list[tuple[int, int]]] = [[] for _ in merged.values]
        for tie, table in merged.factors.items():
            for place, record in enumerate(tie):
                at[record].append((id(table), place))
        numbers: dict[tuple[tuple[int, int], ...], int] = {}
        self.kind = [numbers.setdefault(tuple(sorted(own)), len(numbers)) for own in at]
        self.factors = [Counter(own) for own in numbers]

    def key(self, tie: tuple[int, ...], table: Weights) -> tuple[int, ...]:
        """The same for factors of one table whose members have the same other factors."""
        return (id(table), *(self.kind[record] for record in tie))

    def others(self, tie: tuple[int, ...], table: Weights) -> list[Counter[tuple[int, int]]]:
        """Each member's other factors."""
        return [
            self.factors[self.kind[record]] - Counter([(id(table), place)])
            for place, record in enumerate(tie)
        ]


def _parts(key: tuple[int, ...]) -> list[Hashable]:
    """What the steps of each member's changes depend on: the kinds of the other members."""
    table, *kinds = key
    return [(table, place, *kinds[:place], *kinds[place + 1 :]) for place in range(len(kinds))]


def preparation_seconds(graph: FactorGraph, laws: bool = False) -> float:
    """About how long `state_messages` takes to find the steps of a graph, on a quiet machine.

    Steps are worked out once for equal factors whose other members have equal factors besides.
    """
    seconds = _SECONDS.setdefault(graph, {})
    if laws not in seconds:
        merged = _merged(graph, laws)
        compared = 0 if isinstance(merged, str) else _settings_compared(merged)
        seconds[laws] = _SECONDS_OF_A_SETTING * compared
    return seconds[laws]


def _settings_compared(merged: MergedFactors) -> int:
    """How many pairs of settings `thresholds` compares for all kinds of factors."""
    alike = _Alike(merged)
    parts: dict[Hashable, int] = {}
    for key, table in {
        alike.key(tie, table): table for tie, table in merged.factors.items()
    }.items():
        if table.ndim > 1:
            for place, part in enumerate(_parts(key)):
                parts.setdefault(part, _settings(table.shape, place))
    return sum(parts.values())


def _settings(shape: tuple[int, ...], place: int) -> int:
    """How many pairs of settings of other members are compared, for all changes of this one."""
    size, others = shape[place], [*shape[:place], *shape[place + 1 :]]
    few = math.prod(others) <= MOST_SETTINGS
    compared = math.prod(n * (n + 1) for n in others) if few else math.prod(others)
    return size * (size - 1) * compared


def _evidence(
    size: int, others: Counter[tuple[int, int]], ratios: dict[tuple[int, int], Floats]
) -> Floats:
    """For two values of a record the largest log ratio by all these factors, rounded up."""
    total, sizes, count = np.zeros((size, size)), np.zeros((size, size)), 8
    for pair, times in others.items():
        total = total + times * ratios[pair]
        sizes = sizes + times * np.abs(np.where(np.isfinite(ratios[pair]), ratios[pair], 0.0))
        count += times
    return total + sizes * (count * 4.0 * UNIT)


def _places(table: Weights) -> dict[tuple[int, int, int], int]:
    """The number of each message of a factor, by member, new value and old value."""
    changes = (
        (place, *pair)
        for place, size in enumerate(table.shape)
        for pair in itertools.permutations(range(size), 2)
    )
    return {change: number for number, change in enumerate(changes)}


def _starts(lengths: Ints) -> Ints:
    """Where each segment begins."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)[:-1]])[: len(lengths)]


def _steps(most: Floats, least: Floats, ratio: Floats) -> tuple[BoundedSteps, Floats]:
    """The steps of odds `P <= e^most` and `Q >= e^least` with `P / Q <= e^ratio`; the last bound.

    Where it is finite, `ln P` is `L + ratio / 2` and `ln Q` is `L - ratio / 2`.
    """
    with np.errstate(invalid="ignore"):
        widest = (most - least) * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * (np.abs(most) + np.abs(least))
        ratio = np.minimum(ratio, np.where(np.isfinite(widest), widest, np.inf))
    finite = np.isfinite(ratio)
    half = np.where(finite, 0.5 * ratio, 0.0)
    high = np.where(finite, half, np.where(np.isposinf(most), np.inf, 0.0))
    low = np.where(finite, -half, np.where(np.isneginf(least), -np.inf, 0.0))
    lower, upper = least + half, most - half
    # Where both bounds are met at once, the ends of the interval of L are the same up to rounding.
    crossed = finite & (lower > upper)
    middle = 0.5 * (np.where(crossed, lower, 0.0) + np.where(crossed, upper, 0.0))
    lower, upper = np.where(crossed, middle, lower), np.where(crossed, middle, upper)
    return BoundedSteps.of(high, low, lower, upper, ratio), ratio


_SECONDS_OF_A_SETTING = 5e-5
"""About what comparing two settings of a factor takes."""
_MERGED: WeakKeyDictionary[FactorGraph, dict[bool, MergedFactors | str]] = WeakKeyDictionary()


def _merged(graph: FactorGraph, laws: bool) -> MergedFactors | str:
    merged = _MERGED.setdefault(graph, {})
    if laws not in merged:
        merged[laws] = merged_factors(graph, laws, MOST_CELLS)
    return merged[laws]


_SECONDS: WeakKeyDictionary[FactorGraph, dict[bool, float]] = WeakKeyDictionary()
_Prepared = dict[tuple[bool, int | None], StateMessages | str]
_KNOWN: WeakKeyDictionary[FactorGraph, _Prepared] = WeakKeyDictionary()
"""By the graph and the size of its component: all large grids of one table have one corner."""


def state_messages(
    graph: FactorGraph,
    laws: bool = False,
    component: int | None = None,
    deadline: Deadline = NEVER,
) -> StateMessages | str:
    """The messages of a graph, prepared once; in words why it has none.

    With `laws` the rows of every table are laws. With `component` the graph is a part that has
    every kind of factor of a graph of so many records, and like messages are one number. Raises
    `OutOfTimeError` at the deadline.
    """
    prepared = _KNOWN.setdefault(graph, {})
    if (laws, component) not in prepared:
        merged = _merged(graph, laws)
        prepared[laws, component] = (
            merged
            if isinstance(merged, str)
            else StateMessages(merged, None if component is None else True, component, deadline)
        )
    return prepared[laws, component]


def states_level(
    messages: StateMessages, dp_epsilon: float, deadline: Deadline = NEVER
) -> tuple[FieldsLevel, list[float]]:
    """`eps + max over i and u, u' of sum_a y_(a -> i)[u, u']`, in nats, rounded up; the messages.

    `dp_epsilon` is the DP cost in nats. At the `deadline` by messages that are proven, only not the
    least. Source: theory 3.7c.
    """
    if dp_epsilon <= TINY or len(messages.targets) == 0:
        size = int(messages.components.max()) if len(messages.targets) else 1
        ceiling = np.full(messages.size, up((size - 1) * dp_epsilon, 4))
        return level_of_size(dp_epsilon, size), ceiling.tolist()
    y, rounds = messages.solve(dp_epsilon, deadline)
    level = up(float(np.max(messages.levels(y, dp_epsilon))), 1)
    return FieldsLevel(UpperBound(level), rounds), y.tolist()
