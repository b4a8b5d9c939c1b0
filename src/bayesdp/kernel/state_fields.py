"""Graphs of any values and factors: contraction where evidence is bounded (theory 3.7c).

A message for each factor, each member of it and each ordered pair of the member's values: how far
the factor passes a change of the member on. They bound what they should, all at once, if the step
of each threshold is at most its message. The witness has them, or one number for equal factors;
factors are merged and in the order of their members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import ball, largest
from bayesdp.kernel.factors import merged_factors
from bayesdp.kernel.fixed_points import logarithms, super_solution
from bayesdp.kernel.graphs import Model, WeightTable, components
from bayesdp.kernel.thresholds import Change, Ratios, Threshold, thresholds, value_ratios

WITNESS = "messages"

Beside = frozenset[tuple[tuple[int, int], int]]
"""The factors of a record, by table and its place there, and how many there are of each."""


class StateFields:
    """The messages of a model. `whole` is the size of every component, where it is a part of one.

    Equal factors have one number each where `whole` is said, and where the witness is that short.
    """

    def __init__(
        self, model: Model, epsilon: Fraction, witness: Sequence[float], whole: int | None = None
    ) -> None:
        self.epsilon, self.model = epsilon, merged_factors(model)
        self.several = [factor for factor in self.model.factors if len(factor[0]) > 1]
        self.component = components(self.model.records, [tie for tie, _ in self.several])
        if whole is not None:
            self.component = [whole] * self.model.records
        self.places = {id(table): _places(table) for _, table in self.several}
        count = sum(len(self.places[id(table)]) for _, table in self.several)
        self.shared = whole is not None or len(witness) != count
        self._number()
        self.y = self._solved(witness)

    def _number(self) -> None:
        """Where the numbers of each factor begin, what bounds each, and who is a member of what."""
        self.begins: list[int] = []
        sizes: list[int] = []
        known: dict[int, int] = {}
        self.beside: list[Counter[tuple[int, int]]] = [Counter() for _ in self.component]
        self.member: list[list[tuple[int, int]]] = [[] for _ in self.component]
        for number, (tie, table) in enumerate(self.several):
            begin = known.setdefault(id(table), len(sizes)) if self.shared else len(sizes)
            self.begins.append(begin)
            own = self.places[id(table)]
            sizes += [1] * (begin + len(own) - len(sizes))
            for (place, *_), message in own.items():
                sizes[begin + message] = max(sizes[begin + message], self.component[tie[place]])
            for place, record in enumerate(tie):
                self.member[record].append((number, place))
        for tie, table in self.model.factors:
            for place, record in enumerate(tie):
                self.beside[record][id(table), place] += 1
        self.caps = [ball((size - 1) * self.epsilon) for size in sizes]

    def _solved(self, witness: Sequence[float]) -> list[arb]:
        """The witness, once each step is at most its message or the cap."""
        farthest = 2 * max(self.component) * self.epsilon
        guess = logarithms(witness, len(self.caps), WITNESS, farthest)
        steps = self._steps()

        def step(y: list[arb]) -> list[arb]:
            following = [arb(0)] * len(y)
            totals: dict[Any, arb] = {}
            for number, threshold in steps:
                tie, begin = self.several[number][0], self.begins[number]
                places = self.places[id(self.several[number][1])]
                s = arb(0)
                for changes in threshold.others:
                    costs = []
                    for place, v, w in changes:
                        key = (tie[place], v, w)
                        if key not in totals:
                            totals[key] = self._total(y, *key)
                        costs.append(totals[key] - y[begin + places[place, v, w]])
                    s += largest(costs)
                message = begin + places[threshold.change]
                following[message] = following[message].max(threshold.step.passed(s))
            return [new.min(cap) for new, cap in zip(following, self.caps, strict=True)]

        y = super_solution(guess, step, WITNESS)
        return [entry.min(cap) for entry, cap in zip(y, self.caps, strict=True)]

    def _total(self, y: list[arb], record: int, v: int, w: int) -> arb:
        """`eps` and all messages of a change of the record from `w` to `v`."""
        messages = (
            y[self.begins[number] + self.places[id(self.several[number][1])][place, v, w]]
            for number, place in self.member[record]
        )
        return sum(messages, ball(self.epsilon))

    def _steps(self) -> list[tuple[int, Threshold]]:
        """The thresholds of each factor; where equal factors share numbers, of each kind."""
        ratios = {
            (id(table), place): value_ratios(table, place)
            for _, table in self.model.factors
            for place in range(len(table.sizes))
        }
        kinds: dict[Any, list[Threshold]] = {}
        steps = []
        for number, (tie, table) in enumerate(self.several):
            kind = (id(table), *(frozenset(self.beside[record].items()) for record in tie))
            new = kind not in kinds
            if new:
                evidence = [
                    _evidence(self.beside[record] - Counter([(id(table), place)]), ratios, size)
                    for (place, record), size in zip(enumerate(tie), table.sizes, strict=True)
                ]
                kinds[kind] = list(thresholds(table, evidence))
            if new or not self.shared:
                steps += [(number, threshold) for threshold in kinds[kind]]
        return steps

    def level(self) -> arb:
        """`eps` and the messages into a record, never more than `eps` for all of its component."""
        levels = [ball(self.epsilon)]
        known: set[Any] = set()
        for record, size in enumerate(self.component):
            kind = record if not self.shared else (size, frozenset(self.beside[record].items()))
            if kind not in known:
                known.add(kind)
                changes = permutations(range(self.model.states[record]), 2)
                totals = [self._total(self.y, record, v, w) for v, w in changes]
                levels += [total.min(ball(size * self.epsilon)) for total in totals]
        return largest(levels)


def _places(table: WeightTable) -> dict[Change, int]:
    """The number of each change of a factor: by member, new value and old value."""
    changes = [
        (place, *pair)
        for place, size in enumerate(table.sizes)
        for pair in permutations(range(size), 2)
    ]
    return {change: number for number, change in enumerate(changes)}


def _evidence(others: Counter[tuple[int, int]], ratios: Any, size: int) -> Ratios:
    """For two values how many times as likely these factors make the first at most."""
    bounds: Ratios = {}
    for pair in permutations(range(size), 2):
        of = [(ratios[key][pair], times) for key, times in others.items()]
        unbounded = any(ratio is None for ratio, _ in of)
        bounds[pair] = (
            None if unbounded else prod((ball(r) ** times for r, times in of), start=arb(1))
        )
    return bounds
