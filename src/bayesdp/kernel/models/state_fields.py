"""Graphs of any values and factors: contraction where evidence is bounded (theory 3.7c).

A message for each factor, each member of it and each ordered pair of the member's values: how far
the factor passes a change of the member on. They bound what they should, all at once, if the step
of each threshold is at most its message. The witness has them, factors being merged and in order of
their members; or one number for all messages that are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import prod

from flint import arb

from bayesdp.kernel.arithmetic import ball, largest
from bayesdp.kernel.models.factors import merged_factors
from bayesdp.kernel.models.graphs import Model, WeightTable, components
from bayesdp.kernel.models.thresholds import Change, Ratios, ThresholdStep, thresholds, value_ratios
from bayesdp.kernel.steps.fixed_points import logarithms, super_solution

WITNESS = "messages"


class StateFields:
    """The messages of a model. `whole` is the size of every component, where it is a part of one.

    Messages of equal factors, about records that have equal factors, are one number where `whole`
    is said, and where the witness has not one for each.
    """

    def __init__(
        self, model: Model, epsilon: Fraction, witness: Sequence[float], whole: int | None = None
    ) -> None:
        self.epsilon, self.model = epsilon, merged_factors(model)
        self.several = [factor for factor in self.model.factors if len(factor[0]) > 1]
        self.component = components(self.model.records, [tie for tie, _ in self.several])
        if whole is not None:
            self.component = [whole] * self.model.records
        count = sum(len(_changes(table)) for _, table in self.several)
        self.shared = whole is not None or len(witness) != count
        self._number()
        self.y = self._solved(witness)

    def _number(self) -> None:
        """Which number each message of each factor is, and what bounds it."""
        self.beside: list[Counter[tuple[int, int]]] = [Counter() for _ in self.component]
        for tie, table in self.model.factors:
            for place, record in enumerate(tie):
                self.beside[record][id(table), place] += 1
        self.alike = [frozenset(factors.items()) for factors in self.beside]
        self.numbers: list[dict[Change, int]] = []
        self.member: list[list[tuple[int, int]]] = [[] for _ in self.component]
        number_of: dict[Hashable, int] = {}
        sizes: dict[int, int] = {}
        for factor, (tie, table) in enumerate(self.several):
            numbers = {}
            for place, v, w in _changes(table):
                record = tie[place]
                kind = (id(table), self.alike[record]) if self.shared else factor
                number = number_of.setdefault((kind, place, v, w), len(number_of))
                numbers[place, v, w] = number
                sizes[number] = max(sizes.get(number, 1), self.component[record])
            self.numbers.append(numbers)
            for place, record in enumerate(tie):
                self.member[record].append((factor, place))
        self.caps = [ball((size - 1) * self.epsilon) for size in sizes.values()]

    def _solved(self, witness: Sequence[float]) -> list[arb]:
        """The witness, once each step is at most its message or the cap."""
        farthest = 2 * max(self.component) * self.epsilon
        guess = logarithms(witness, len(self.caps), WITNESS, farthest)
        steps = self._steps()
        y = super_solution(guess, lambda y: self._step(y, steps), WITNESS)
        passing = {self.numbers[factor][threshold.change] for factor, threshold in steps}
        return [
            entry.min(cap) if number in passing else arb(0)
            for number, (entry, cap) in enumerate(zip(y, self.caps, strict=True))
        ]

    def _step(self, y: list[arb], steps: list[tuple[int, ThresholdStep]]) -> list[arb]:
        """For each number the largest of its steps, or its cap."""
        following = [arb(0)] * len(y)
        totals: dict[Change, arb] = {}
        for factor, threshold in steps:
            tie, numbers, s = self.several[factor][0], self.numbers[factor], arb(0)
            for changes in threshold.others:
                costs = []
                for place, v, w in changes:
                    key = (tie[place], v, w)
                    if key not in totals:
                        totals[key] = self._total(y, *key)
                    costs.append(totals[key] - y[numbers[place, v, w]])
                s += largest(costs)
            message = numbers[threshold.change]
            following[message] = following[message].max(threshold.step.passed(s))
        return [new.min(cap) for new, cap in zip(following, self.caps, strict=True)]

    def _total(self, y: list[arb], record: int, v: int, w: int) -> arb:
        """`eps` and all messages of a change of the record from `w` to `v`."""
        messages = (y[self.numbers[factor][place, v, w]] for factor, place in self.member[record])
        return sum(messages, ball(self.epsilon))

    def _steps(self) -> list[tuple[int, ThresholdStep]]:
        """The thresholds of each factor; where equal factors share numbers, of each kind."""
        ratios = {
            (id(table), place): value_ratios(table, place)
            for _, table in self.model.factors
            for place in range(len(table.sizes))
        }
        kinds: dict[Hashable, list[ThresholdStep]] = {}
        steps = []
        for number, (tie, table) in enumerate(self.several):
            kind = (id(table), *(self.alike[record] for record in tie))
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
        seen: set[Hashable] = set()
        for record, size in enumerate(self.component):
            kind = (size, self.alike[record]) if self.shared else record
            if kind not in seen:
                seen.add(kind)
                changes = permutations(range(self.model.states[record]), 2)
                totals = [self._total(self.y, record, v, w) for v, w in changes]
                levels += [total.min(ball(size * self.epsilon)) for total in totals]
        return largest(levels)


def _changes(table: WeightTable) -> list[Change]:
    """The changes of a factor's members: by member, new value and old value."""
    return [
        (place, *pair)
        for place, size in enumerate(table.sizes)
        for pair in permutations(range(size), 2)
    ]


def _evidence(
    others: Counter[tuple[int, int]],
    ratios: Mapping[tuple[int, int], Mapping[tuple[int, int], Fraction | None]],
    size: int,
) -> Ratios:
    """For two values the most times that these factors make the first likelier than the second."""
    bounds: Ratios = {}
    for pair in permutations(range(size), 2):
        factors = [(ratios[key][pair], times) for key, times in others.items()]
        finite = [ball(ratio) ** times for ratio, times in factors if ratio is not None]
        bounds[pair] = prod(finite, start=arb(1)) if len(finite) == len(factors) else None
    return bounds
