"""One factor of a graph of any values: the steps of its messages, before any cost (theory 3.7c).

A member changes from `u'` to `u`; some others are known, the rest are in one of several settings
`z`. For the evidence `nu(z)` about them `nu(z) / nu(w)` is at most `apart(z, w)`. At each threshold
of `phi(u, z) / phi(u', z)` the settings fall into those above, `A`, and those below. The odds of
`A` are `P` at `u` and `Q` at `u'`: bounds of `P`, `Q` and `P / Q` make a step. A zero is a number
that tends to 0: this orders settings, and where nothing else decides, a bound is infinite.

The engine takes the same steps in doubles, by intent: its witness is made of them. What reads the
factors, bounds evidence, solves and rounds is written anew here, in fractions and balls. Neither is
the other's proof: random evidence and random mechanisms are held against the steps and the levels
of this file too (tests/kernel/test_rules_states.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from flint import arb

from bayesdp.kernel.arithmetic import ball, watched
from bayesdp.kernel.models.graphs import WeightTable
from bayesdp.kernel.steps.odds_steps import Bound, Step

MOST_SETTINGS = 27
"""Of a factor whose other members have more settings, only the largest cross ratio is used."""

Change = tuple[int, int, int]
"""A member of a factor, by its place, and two values: it changes to the first of them."""
Ratios = dict[tuple[int, int], Bound]
"""For two values the most times that other factors make the first likelier than the second."""


@dataclass(frozen=True, eq=False)
class ThresholdStep:
    """The step of a change; its cost is the sum, over members, of the largest of their changes."""

    change: Change
    others: list[list[Change]]
    step: Step


def value_ratios(table: WeightTable, place: int) -> dict[tuple[int, int], Fraction | None]:
    """For two values of a member the largest quotient of their weights; of two zeros it is 1."""
    rows = _rows(table, place)
    return {
        (v, w): _largest_quotient(rows[v], rows[w]) for v, w in permutations(range(len(rows)), 2)
    }


def _rows(table: WeightTable, place: int) -> list[list[Fraction]]:
    """For each value of a member its weights, by what the others do, in the order of tables."""
    rows: list[list[Fraction]] = [[] for _ in range(table.sizes[place])]
    for setting, weight in table.cells():
        rows[setting[place]].append(weight)
    return rows


def _largest_quotient(first: list[Fraction], second: list[Fraction]) -> Fraction | None:
    largest = Fraction(0)
    for a, b in zip(first, second, strict=True):
        if a and not b:
            return None
        largest = max(largest, a / b if b else Fraction(1))
    return largest


def thresholds(table: WeightTable, evidence: list[Ratios]) -> Iterator[ThresholdStep]:
    """All of a factor; `evidence` is, for each member, by its other factors."""
    for place in range(len(table.sizes)):
        others = [p for p in range(len(table.sizes)) if p != place]
        sizes, rows = [table.sizes[p] for p in others], _rows(table, place)
        settings = list(product(*map(range, sizes)))
        changes = list(permutations(range(len(rows)), 2))
        if len(settings) > MOST_SETTINGS:
            for u, v in changes:
                yield from _without_thresholds((place, u, v), rows[u], rows[v], others, sizes)
            continue
        for known in product(*([None, *range(size)] for size in sizes)):
            free = [p for p, slot in zip(others, known, strict=True) if slot is None]
            live = [z for z, setting in enumerate(settings) if _agrees(setting, known)]
            named = [
                [value for value, slot in zip(settings[z], known, strict=True) if slot is None]
                for z in live
            ]
            apart = _evidence_ratios(named, [evidence[p] for p in free])
            for u, v in changes:
                pair = _Pair([rows[u][z] for z in live], [rows[v][z] for z in live], apart)
                for above, below in pair.parts():
                    step = pair.step(above, below)
                    if step is not None:
                        among = _changes(free, [named[z] for z in above], [named[z] for z in below])
                        yield ThresholdStep((place, u, v), among, step)


def _agrees(setting: tuple[int, ...], known: tuple[int | None, ...]) -> bool:
    return all(slot in (None, value) for value, slot in zip(setting, known, strict=True))


def _evidence_ratios(settings: list[list[int]], evidence: list[Ratios]) -> list[list[Bound]]:
    """How many times as likely evidence makes one setting as another at most."""
    return [
        [
            _product(
                [
                    ratios[pair]
                    for ratios, pair in zip(evidence, zip(z, w, strict=True), strict=True)
                    if pair[0] != pair[1]
                ]
            )
            for w in settings
        ]
        for z in settings
    ]


def _product(bounds: list[Bound]) -> Bound:
    watched()
    finite = [bound for bound in bounds if bound is not None]
    return math.prod(finite, start=arb(1)) if len(finite) == len(bounds) else None


def _changes(free: list[int], above: list[list[int]], below: list[list[int]]) -> list[list[Change]]:
    """For each free member its changes, from a value among those below to one among those above."""
    changes = []
    for place, member in enumerate(free):
        highs, lows = ({setting[place] for setting in part} for part in (above, below))
        changes.append([(member, v, w) for v in highs for w in lows if v != w])
    return [part for part in changes if part]


Order = tuple[int, Fraction]
"""`a / b` where a zero is a small number: how many more zeros are below, and what remains."""


def _order(a: Fraction, b: Fraction) -> Order:
    return (not b) - (not a), (a or Fraction(1)) / (b or Fraction(1))


def _gap(high: Order, low: Order) -> Bound:
    return ball(high[1] / low[1]) if high[0] == low[0] else None


def _without_thresholds(
    change: Change,
    first: list[Fraction],
    second: list[Fraction],
    others: list[int],
    sizes: list[int],
) -> Iterator[ThresholdStep]:
    """The step of a factor of too many settings: by its largest cross ratio."""
    orders = [_order(a, b) for a, b in zip(first, second, strict=True)]
    if min(orders) < max(orders):
        among = [
            [(p, v, w) for v, w in permutations(range(size), 2)]
            for p, size in zip(others, sizes, strict=True)
        ]
        yield ThresholdStep(change, among, _step(None, None, _gap(max(orders), min(orders))))


class _Pair:
    """Two rows of a factor. What has weight 0 in both is left out where evidence bounds it."""

    def __init__(
        self, first: list[Fraction], second: list[Fraction], apart: list[list[Bound]]
    ) -> None:
        self.first, self.second = [*map(ball, first)], [*map(ball, second)]
        self.most = apart
        self.least = [
            [arb(0) if bound is None else 1 / bound for bound in bounds] for bounds in apart
        ]
        alive = [[z for z, weight in enumerate(row) if weight] for row in (first, second)]
        self.order = {
            z: _order(first[z], second[z])
            for z in range(len(first))
            if first[z] or second[z] or any(all(apart[z][w] is None for w in row) for row in alive)
        }

    def parts(self) -> Iterator[tuple[list[int], list[int]]]:
        """The settings above each threshold and below it, both from the highest to the lowest."""
        falling = sorted(self.order, key=self.order.__getitem__, reverse=True)
        for cut in range(1, len(falling)):
            if self.order[falling[cut - 1]] != self.order[falling[cut]]:
                yield falling[:cut], falling[cut:]

    def step(self, above: list[int], below: list[int]) -> Step | None:
        """By bounds of `P`, of `1 / Q`, and of `P / Q`; `None` where `P` or `1 / Q` is 0."""
        most = self._odds(self.first, above, below)
        inverse = self._odds(self.second, below, above)
        if most == 0 or inverse == 0:
            return None
        gap = _gap(self.order[above[0]], self.order[below[-1]])
        means = _times(
            self._mean(self.first, self.second, above),
            self._mean(self.second, self.first, below[::-1]),
        )
        return _step(most, inverse, gap if means == 0 else _least(gap, means))

    def _odds(self, row: list[arb], above: list[int], below: list[int]) -> Bound:
        """The largest odds of the settings above against those below, by the weights of `row`.

        Each of them against all below, and each below against all above: the smaller of both.
        """
        by_above: Bound = arb(0)
        for z in above:
            against = sum((row[w] * self.least[z][w] for w in below), arb(0))
            by_above = _plus(by_above, row[z] / against if against > 0 else None)
        by_below = arb(0)
        for w in below:
            watched()
            reached: Bound = arb(0)
            for z in above:
                reached = _plus(reached, _times(row[z], self.most[z][w]))
            if row[w] > 0 and reached is not None:
                if reached == 0:
                    return reached
                by_below += row[w] / reached
        return _least(by_above, 1 / by_below if by_below > 0 else None)

    def _mean(self, row: list[arb], other: list[arb], falling: list[int]) -> Bound:
        """The largest quotient of both rows' sums here, for any evidence: `M_A` of the theorem.

        The lower settings, in equal shares, are added to each of the higher ones.
        """
        best: Bound = None
        for cut in range(1, len(falling) + 1):
            worst: Bound = arb(0)
            for z in falling[cut : cut + 1]:  # with more of it the quotient tends to its own
                worst = row[z] / other[z] if other[z] > 0 else None
            for z in falling[:cut]:
                watched()
                up, down = (
                    weights[z]
                    + sum((weights[w] * self.least[z][w] for w in falling[cut:]), arb(0)) / cut
                    for weights in (row, other)
                )
                worst = worst.max(up / down) if worst is not None and down > 0 else None
            best = _least(best, worst)
        return best


def _times(first: Bound, second: Bound) -> Bound:
    return None if first is None or second is None else first * second


def _plus(first: Bound, second: Bound) -> Bound:
    return None if first is None or second is None else first + second


def _least(first: Bound, second: Bound) -> Bound:
    if first is None or second is None:
        return second if first is None else first
    return first.min(second)


def _step(most: Bound, inverse: Bound, ratio: Bound) -> Step:
    """The step for `P <= most`, `1 / Q <= inverse` and `P / Q <= ratio`; `None` is unbounded."""
    upper, lower = (None if bound is None else bound.log() for bound in (most, inverse))
    lower = None if lower is None else -lower
    widest = _least(ratio, _times(most, inverse))
    if widest is None:
        certain = None if most is None else arb(0), None if inverse is None else arb(0)
        return Step.of(*certain, lower, upper)
    half = widest.log() / 2
    ends = (None if lower is None else lower + half, None if upper is None else upper - half)
    return Step.of(half, -half, *ends)
