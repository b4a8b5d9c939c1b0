"""Graphs: contraction where the odds of each record are known (theory 3.7c).

With a witness `state_fields` reads it, for records of any values and factors of any size. What
follows is for two values and pairs, where no witness is needed.

A factor of records `i` and `k` adds `r(u)` to the log odds of `k` where `x_i = u`; by all its other
factors they are `L`, in an interval whatever the adversary knows. `y` bounds the influences
`ln C_(i -> k)[u, u']`, how far `k` passes a change of `i` from `u'` to `u` on, all of them at once,
if `Phi(y) <= y`. `Phi` is the largest, over `L`, of

    ln(1 + 2 sinh(rho / 2) sinh(s / 2) / (cosh t + cosh((s - rho) / 2)))

with `rho = r(u) - r(u') >= 0`, `s` the sum of `eps` and of what `k` passes on to its other
neighbours, and `t = L + (r(u) + r(u') + s) / 2`. Where `rho < 0`, the values of `k` change their
names. `y` is found in doubles, and one step in balls proves it. A graph of many pairs has one
number for each order of values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

from flint import arb

from bayesdp.kernel.arithmetic import ball, largest, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.graphs import (
    Model,
    WeightTable,
    components,
    merged,
    read_model,
    read_table,
)
from bayesdp.kernel.models.state_fields import WITNESS, StateFields
from bayesdp.kernel.steps.fixed_points import ascended, super_solution
from bayesdp.kernel.steps.odds_steps import Bound, Number, Step
from bayesdp.statements.graphs import GraphGrid
from bayesdp.statements.populations import Population

MOST_PAIRS = 5_000
"""With more pairs, or on a grid of more records, no message has a number of its own."""
LARGEST_GRID = 400
"""The same for a grid of records of three or more values."""


def bound(conversion: Conversion) -> arb:
    """`eps + max_i max_(u, u') sum_a y_(a -> i)`, never more than `eps` for each of a component."""
    epsilon, population = conversion.total, conversion.population
    witness = conversion.details.get(WITNESS)
    if witness is not None:
        return _of_states(population, epsilon, witness)
    if isinstance(population, GraphGrid) and math.prod(population.grid) > MOST_PAIRS:
        return _grid(population, epsilon)
    model = read_model(population)
    if any(len(tie) > 2 for tie, _ in model.factors) or max(map(len, model.possible)) > 2:
        return StateFields(model, epsilon, []).level()
    sizes = components(model.records, [tie for tie, _ in model.factors])
    fields = _Fields(merged(model), sizes, epsilon)
    return fields.level(each=len(fields.messages) <= 4 * MOST_PAIRS)


def _of_states(population: Population, epsilon: Fraction, witness: list[float]) -> arb:
    """By a witness: of a large grid one of 4 x 4, which has every kind of pair."""
    whole = None
    if isinstance(population, GraphGrid) and math.prod(population.grid) > LARGEST_GRID:
        positive = min(read_table(population.table).weights) > 0
        require(positive, "a large grid of records of several values has a zero among its weights")
        population, whole = _corner(population, 4), math.prod(population.grid)
    return StateFields(read_model(population), epsilon, witness, whole).level()


def _corner(grid: GraphGrid, most: int) -> GraphGrid:
    return grid.model_copy(update={"grid": tuple(min(side, most) for side in grid.grid)})


def _grid(grid: GraphGrid, epsilon: Fraction) -> arb:
    """One number for each order of values.

    A grid of 3 x 3 has every kind of place, and zeros exclude no value there that they allow on a
    larger one: where they allow fewer, there are fewer messages, and odds between the same ends.
    """
    model, whole = read_model(_corner(grid, 3)), math.prod(grid.grid)
    return _Fields(merged(model), [whole] * model.records, epsilon).level(each=False)


@dataclass(frozen=True, eq=False)
class _Pull:
    """What a factor adds to the log odds of a member: from `least` to `most`.

    `rises` says whether the other member's second value adds more; `None` where both add the same.
    """

    least: Bound
    most: Bound
    rises: bool | None

    @classmethod
    def of(cls, first: Sequence[Fraction], second: Sequence[Fraction]) -> _Pull:
        """From the weights of the member's two values, each by what the other member may be."""
        adds = [ball(b / a).log() if a and b else None for a, b in zip(first, second, strict=True)]
        behind, ahead = second[0] * first[-1], second[-1] * first[0]
        if ahead == behind:
            return cls(adds[0], adds[0], None)
        least, most = adds if ahead > behind else adds[::-1]
        return cls(least, most, ahead > behind)


def _both_steps(pull: _Pull, within: tuple[Bound, Bound]) -> tuple[Step, Step]:
    """For a factor and the bounds of `L`: as they are, and with the record's values renamed."""
    ends = (pull.most, pull.least, *within)
    turned = (pull.least, pull.most, *within[::-1])
    return Step.of(*ends), Step.of(*(None if end is None else -end for end in turned))


class _Odds:
    """One end of the log odds of a record by all its factors, or by all but one."""

    def __init__(self) -> None:
        self.sum, self.unbounded = arb(0), 0

    def add(self, end: Bound) -> None:
        """Add the odds of one more factor."""
        self.unbounded += end is None
        self.sum += 0 if end is None else end

    def without(self, end: Bound) -> Bound:
        """The odds by all factors but the one that added `end`."""
        if self.unbounded > (end is None):
            return None
        return self.sum if end is None else self.sum - end


@dataclass(frozen=True)
class _Message:
    """Its step, and what that sums up: messages out of `target` of one order of values."""

    source: int
    target: int
    step: Step
    order: int
    back: int


class _MessageStep(Protocol):
    """What the messages `y` become in one step, at the cost `epsilon`."""

    def __call__(self, y: list[Number], epsilon: Number) -> list[Number]: ...


class _Fields:
    """The messages of a model of single records and pairs: four for each pair that is dependent.

    `component` has, for each record that they are from, the size of its component.
    """

    def __init__(self, model: Model, component: list[int], epsilon: Fraction) -> None:
        few = all(len(values) < 3 for values in model.possible)
        require(few, "records have three or more possible values, and there is no witness")
        short = all(len(tie) < 3 for tie, _ in model.factors)
        require(short, "a factor has three or more records, and there is no witness")
        self.epsilon = epsilon
        odds = [(_Odds(), _Odds()) for _ in component]
        pairs, kind = _pulls(model, odds)
        place = {
            record: i for i, record in enumerate(dict.fromkeys(r for tie, _ in pairs for r in tie))
        }
        self.component = [component[record] for record in place]
        self.degree = [0] * len(place)
        self.messages: list[_Message] = []
        steps: dict[Hashable, tuple[Step, Step]] = {}
        for (first, second), (into_first, into_second) in pairs:
            for source, target, pull in ((first, second, into_second), (second, first, into_first)):
                key = (id(pull), kind[target])
                if key not in steps:
                    least, most = odds[target]
                    within = least.without(pull.least), most.without(pull.most)
                    steps[key] = _both_steps(pull, within)
                self.degree[place[source]] += 1
                back = len(self.messages) + (2 if target == second else -2)
                for order in (0, 1):
                    summed = order if pull.rises else 1 - order
                    ends = place[source], place[target]
                    step = steps[key][summed]
                    self.messages.append(_Message(*ends, step, summed, back + summed))

    def level(self, each: bool) -> arb:
        """The level by a number for each message, or by one for each order of values."""
        epsilon, whole = ball(self.epsilon), max(self.component, default=1)
        y = (
            self._solved(self._step, [self.component[m.source] for m in self.messages])
            if each
            else None
        )
        if y is None:
            y = self._solved(self._uniform(), [whole, whole]) or [ball((whole - 1) * self.epsilon)]
            most = max(self.degree, default=0) * largest(y)
            return (epsilon + most).min(ball(whole * self.epsilon))
        ends = zip(self._leaving(y, epsilon), self.component, strict=True)
        levels = [largest(total).min(ball(size * self.epsilon)) for total, size in ends]
        return largest([epsilon, *levels])

    def _leaving(self, y: list[Number], epsilon: Number) -> list[list[Number]]:
        """For each record and order of values `eps` and the messages from it."""
        total = [[epsilon, epsilon] for _ in self.component]
        for number, message in enumerate(self.messages):
            total[message.source][number % 2] += y[number]
        return total

    def _step(self, y: list[Number], epsilon: Number) -> list[Number]:
        total = self._leaving(y, epsilon)
        return [m.step.passed(total[m.target][m.order] - y[m.back]) for m in self.messages]

    def _uniform(self) -> _MessageStep:
        """A step of one number for each order of values, above all messages of it."""
        kinds = [
            {(m.step, m.order, self.degree[m.target] - 1) for m in self.messages[order::2]}
            for order in (0, 1)
        ]

        def step(y: list[Number], epsilon: Number) -> list[Number]:
            passed = (
                [step.passed(epsilon + more * y[order]) for step, order, more in kind]
                for kind in kinds
            )
            return [reduce(_larger, values, 0 * epsilon) for values in passed]

        return step

    def _solved(self, step: _MessageStep, sizes: list[int]) -> list[arb] | None:
        """`y` with `min(step(y), cap) <= y`, the cap `eps` for each other record of `sizes`.

        `None` where the search is given up.
        """
        caps = [ball((size - 1) * self.epsilon) for size in sizes]
        in_doubles, epsilon = float(self.epsilon), ball(self.epsilon)
        guess = ascended(lambda y: step(y, in_doubles), [float(cap.mid()) for cap in caps])
        if guess is None:
            return None

        def capped(y: list[arb]) -> list[arb]:
            return [new.min(cap) for new, cap in zip(step(y, epsilon), caps, strict=True)]

        return super_solution([arb(entry) for entry in guess], capped, "messages")


def _pulls(
    model: Model, odds: list[tuple[_Odds, _Odds]]
) -> tuple[list[tuple[tuple[int, ...], list[_Pull]]], list[int]]:
    """The pairs that are dependent, with what their factor does to each; adds all up in `odds`.

    And a number for each record, the same for records whose odds are made of the same factors.
    """
    pull_of: dict[Hashable, _Pull] = {}
    factor_keys: list[list[Any]] = [[] for _ in odds]
    pairs = []
    for tie, table in model.factors:
        values = [sorted(model.possible[record]) for record in tie]
        pulls = []
        for place, record in enumerate(tie):
            if len(values[place]) < 2:
                continue
            key = (id(table), place, *map(tuple, values))
            if key not in pull_of:
                pull_of[key] = _Pull.of(*_weights(table, values, place))
            pulls.append(pull_of[key])
            factor_keys[record].append(key)
            for total, end in zip(odds[record], (pulls[-1].least, pulls[-1].most), strict=True):
                total.add(end)
        if len(pulls) == 2 and pulls[0].rises is not None:
            pairs.append((tie, pulls))
    kinds: dict[Hashable, int] = {}
    return pairs, [kinds.setdefault(tuple(sorted(keys)), len(kinds)) for keys in factor_keys]


def _larger(first: Number, second: Number) -> Number:
    return max(first, second) if isinstance(first, float) else first.max(second)


def _weights(table: WeightTable, values: list[list[int]], place: int) -> list[list[Fraction]]:
    """For each value of the member at `place` the weights, by what the other member may be."""
    rows: dict[int, list[Fraction]] = {value: [] for value in values[place]}
    for setting, weight in table.cells():
        if all(value in allowed for value, allowed in zip(setting, values, strict=True)):
            rows[setting[place]].append(weight)
    return list(rows.values())
