"""Graphical models: influences through factors, contracted by cross ratios (theory 3.7).

`y_(a -> i)` bounds `ln F_(a -> i)`, how far factor `a` passes a change of record `i` on, for all
factors at once, if `Phi(y) <= y`: `Phi(y) = ln f(e^s; R)`, `s` the sum over the other members of
the factor of `eps` and of what their other factors pass on; nowhere more than `ln R`, or than `eps`
for each other record of the component. The witness is such a `y`: a number for each factor of two
or more members and each member, factors in the order of their members, or one number for all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, contracted, largest, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.graphs import (
    Model,
    components,
    cross_ratio,
    live_cells,
    read_model,
    read_table,
    rows_of,
)
from bayesdp.kernel.steps.fixed_points import logarithms, super_solution
from bayesdp.statements.graphs import GraphGrid

WITNESS = "messages"


def bound(conversion: Conversion) -> arb:
    """`eps + max_i sum_a y_(a -> i)`, never more than `eps` for each record of the component."""
    epsilon, population = conversion.total, conversion.population
    witness = conversion.details.get(WITNESS, [])
    if isinstance(population, GraphGrid) and len(witness) < 2:
        return _grid(population, epsilon, witness)
    messages = _Messages(read_model(population), epsilon)
    return messages.uniform(witness) if len(witness) < 2 else messages.level(witness)


def _grid(grid: GraphGrid, epsilon: Fraction, witness: Sequence[float]) -> arb:
    """One number for all, without going through records; impossible values may raise ratios."""
    table = read_table(grid.table)
    cells = live_cells((0, 1), table, [frozenset(range(table.sizes[0]))] * 2)
    ratios = [cross_ratio(rows_of(cells, place)) for place in (0, 1)]
    degree = sum(min(side - 1, 2) for side in grid.grid)
    return _uniform(ratios, degree, max(degree - 1, 0), 1, math.prod(grid.grid), epsilon, witness)


def _uniform(
    ratios: Collection[Fraction | None],
    degree: int,
    most: int,
    others: int,
    component: int,
    epsilon: Fraction,
    witness: Sequence[float],
) -> arb:
    """The level if no message is above one number.

    A message sums over at most `most` messages and `others` records; a record has `degree` at most.
    """
    unbounded = None in ratios
    ratio = None if unbounded else max((r for r in ratios if r is not None), default=Fraction(1))
    cap = _cap(ratio, component, epsilon)
    value = cap
    if witness:
        around = others * ball(epsilon)

        def step(y: list[arb]) -> list[arb]:
            return [_passed(most * y[0] + around, ratio, cap)]

        guess = logarithms(witness, 1, WITNESS, 2 * component * epsilon)
        value = super_solution(guess, step, WITNESS)[0].min(cap)
    return (ball(epsilon) + degree * value).min(ball(component * epsilon))


def _cap(ratio: Fraction | None, component: int, epsilon: Fraction) -> arb:
    """What a message never exceeds: caps are a solution, and stay one when `Phi` is applied."""
    others = ball((component - 1) * epsilon)
    return others if ratio is None else ball(ratio).log().min(others)


def _passed(s: arb, ratio: Fraction | None, cap: arb) -> arb:
    """`min(ln f(e^s; R), cap)`."""
    return contracted(s, None if ratio is None else ball(ratio)).min(cap)


class _Messages:
    """A message for each factor of two or more members and each member, in the witness's order.

    `into` has those into each record, without factors whose ratios are all 1: they pass on nothing.
    """

    def __init__(self, model: Model, epsilon: Fraction) -> None:
        self.epsilon = epsilon
        self.component = components(model.records, [tie for tie, _ in model.factors])
        self.record: list[int] = []
        self.ratio: list[Fraction | None] = []
        self.others: list[list[int]] = []
        self.into: list[list[int]] = [[] for _ in range(model.records)]
        ratios_of: dict[Hashable, list[Fraction | None]] = {}
        tied = (factor for factor in model.factors if len(factor[0]) > 1)
        for tie, table in sorted(tied, key=lambda factor: factor[0]):
            key = (id(table), *(model.possible[record] for record in tie))
            if key not in ratios_of:
                cells = live_cells(tie, table, model.possible)
                ratios_of[key] = [cross_ratio(rows_of(cells, place)) for place in range(len(tie))]
            numbers = range(len(self.record), len(self.record) + len(tie))
            self.record += tie
            self.ratio += ratios_of[key]
            self.others += [[n for n in numbers if n != m] for m in numbers]
            if any(ratio != 1 for ratio in ratios_of[key]):
                for number, record in zip(numbers, tie, strict=True):
                    self.into[record].append(number)

    def uniform(self, witness: Sequence[float]) -> arb:
        """The level by one number that is above all messages."""
        degree = [len(into) for into in self.into]
        passing = [others for m, others in enumerate(self.others) if self.ratio[m] != 1]
        most = max(
            (sum(degree[self.record[o]] - 1 for o in others) for others in passing), default=0
        )
        return _uniform(
            set(self.ratio),
            max(degree),
            most,
            max(map(len, passing), default=0),
            max(self.component),
            self.epsilon,
            witness,
        )

    def level(self, witness: Sequence[float]) -> arb:
        """The level by a number for each message."""
        epsilon = ball(self.epsilon)
        caps = [
            _cap(ratio, self.component[record], self.epsilon)
            for record, ratio in zip(self.record, self.ratio, strict=True)
        ]

        def arriving(y: Sequence[arb]) -> list[arb]:
            return [sum((y[m] for m in into), epsilon) for into in self.into]

        def step(y: list[arb]) -> list[arb]:
            total, following = arriving(y), []
            for m, others in enumerate(self.others):
                watched()
                s = sum((total[self.record[o]] - y[o] for o in others), arb(0))
                unit = self.ratio[m] == 1
                following.append(arb(0) if unit else _passed(s, self.ratio[m], caps[m]))
            return following

        farthest = 2 * max(self.component) * self.epsilon
        guess = logarithms(witness, len(self.record), WITNESS, farthest)
        y = super_solution(guess, step, WITNESS)
        totals = arriving([entry.min(cap) for entry, cap in zip(y, caps, strict=True)])
        most = zip(totals, self.component, strict=True)
        return largest([total.min(ball(size * self.epsilon)) for total, size in most])
