"""Two-state chains between bounds: the sharp recursion for all of them at once (theory 3.5i).

A chain is the pair `(a, b)` of its probabilities to leave 0 and to leave 1. The witness is
`target`: the box of all chains is halved until every part stays within it. What a ratio has beyond
1 is called its excess.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, exact, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import check_stationary
from bayesdp.kernel.models.orders import interval_rows
from bayesdp.statements.chains import MarkovIntervals

MOST_STEPS = 20_000
"""A chain is followed for so many steps at most; if no tail has closed by then, none is proved."""
MOST_CELLS = 300
"""More than the engine cuts; each takes many steps."""
NEAR = 40
"""Evidence within so many bits of none has faded: a part that isn't closed then is cut."""

_HAIR = 1 + arb(2) ** -100
"""A pair is raised by so much, so that rounding can't raise it in the next step."""

Chain = tuple[Fraction, Fraction]
Ends = tuple[Fraction, Fraction]
Pair = tuple[arb, arb]


def bound(conversion: Conversion) -> arb:
    """The target, once no chain between the bounds is above it."""
    reason = "the population is not a chain of order 1 between bounds"
    population = conversion.declared(MarkovIntervals, reason)
    require(population.order == 1, reason)
    uninformed = conversion.adversary == "uninformed"
    check_stationary(population)
    low, high = interval_rows(population)
    require(len(low) == 2, f"the chain has {len(low)} states, not two")
    leaving = [
        (min(low[u][1 - u], 1 - high[u][u]), max(high[u][1 - u], 1 - low[u][u])) for u in (0, 1)
    ]
    require(all(a > 0 and b < 1 for a, b in leaving), "a transition may have probability 0")
    epsilon = ball(conversion.total)
    target = ball(exact(conversion.details.get("target"), "target"))
    excess = ((target - epsilon) / 2).expm1().lower()
    cells = [(leaving[0], leaving[1])]
    for _ in range(MOST_CELLS):
        if not cells:
            return target
        cell = cells.pop()
        if not all(kind.stays_within(excess, uninformed) for kind in _kinds(cell, epsilon.expm1())):
            cells += _halves(cell)
    require(not cells, "some chain between the bounds may be above it", "target")
    return target


def _halves(cell: tuple[Ends, Ends]) -> list[tuple[Ends, Ends]]:
    """Cut where the ratio of the bounds is largest."""
    a, b = cell
    if a[1] * b[0] >= b[1] * a[0]:
        middle = (a[0] + a[1]) / 2
        return [((a[0], middle), b), ((middle, a[1]), b)]
    middle = (b[0] + b[1]) / 2
    return [(a, (b[0], middle)), (a, (middle, b[1]))]


def _kinds(cell: tuple[Ends, Ends], cost: arb) -> list[_Kind]:
    """The chains of positive and of negative correlation, where the cell has such."""
    (low_a, high_a), (low_b, high_b) = cell
    lowest, highest = (low_a, low_b), (high_a, high_b)
    kinds = []
    if _determinant(lowest) > 0:
        kinds.append(_Kind(lowest, highest if _determinant(highest) > 0 else None, cost))
    if _determinant(highest) < 0:
        kinds.append(_Kind(highest, lowest if _determinant(lowest) < 0 else None, cost))
    return kinds


class _Kind:
    """Chains of one sign of correlation, between the strongest and the weakest of their corners.

    No `weakest`: down to independent records. `cost` is the excess of `e^eps`.
    """

    def __init__(self, strongest: Chain, weakest: Chain | None, cost: arb) -> None:
        self.strongest, self.weakest, self.cost = strongest, weakest, cost
        self.positive = _determinant(strongest) > 0
        self.leaves = ball(strongest[0]), ball(strongest[1])
        self.stays = ball(1 - strongest[0]), ball(1 - strongest[1])
        self.gap = ball(abs(_determinant(strongest)))

    def stays_within(self, bound: arb, uninformed: bool) -> bool:
        """Whether no run of unknown records has a ratio with more excess than the bound."""
        runs = [(arb(0), arb(0))] * 2
        if uninformed:
            return self._closes(bound, runs, arb(1))
        powers = [arb(1) for _ in range(2)]
        for step in range(MOST_STEPS):
            watched()
            powers[0] *= ball(_determinant(self.strongest))
            strong = _odds(self.strongest, powers[0])
            weak = (arb(1), arb(1))
            if self.weakest is not None:
                powers[1] *= ball(_determinant(self.weakest))
                weak = _odds(self.weakest, powers[1])
            widest = arb(1)
            for odds in strong:
                widest = widest.max(odds).max(1 / odds)
            if step % 4 == 0:
                if self._closes(bound, runs, widest.upper()):
                    return True
                if bool(widest < 1 + arb(2) ** -NEAR):
                    return False
            for end, (first, second) in enumerate(zip(strong, weak, strict=True)):
                low, high = first.min(second).lower(), first.max(second).upper()
                runs[end] = self._step(runs[end], low, high)
                if not all(bool(excess <= bound) for excess in runs[end]):
                    return False
        return False

    def _closes(self, bound: arb, runs: list[Pair], widest: arb) -> bool:
        """Whether all longer runs stay within it, the odds no farther from 1 than `widest`."""
        low = (1 / widest).lower()
        first, second = self._step((bound, bound), low, widest)
        above = bound.min(first * _HAIR).upper(), bound.min(second * _HAIR).upper()
        reached = [*runs, self._step(above, low, widest)]
        return all(
            bool(old <= new) for pair in reached for old, new in zip(pair, above, strict=True)
        )

    def _step(self, excess: Pair, low: arb, high: arb) -> Pair:
        """One more record, whose evidence has odds (0 to 1) from `low` to `high`.

        The excess of the ratio for 0 to 1, and of that for 1 to 0.
        """
        up, down = (self.cost + entry + self.cost * entry for entry in excess)
        rise = self._growth(up, low, high)
        fall = self._growth(down, low / (1 + down), high / (1 + down))
        return (rise, fall) if self.positive else (fall, rise)

    def _growth(self, excess: arb, low: arb, high: arb) -> arb:
        """How much of it a step leaves, at the worst odds of an interval."""
        watched()
        (a, b), (stay_0, stay_1) = self.leaves, self.stays
        worst = (a * stay_1 / (stay_0 * b * (1 + excess))).sqrt()
        odds = worst.max(low).min(high)
        raised = odds * (1 + excess)
        of_0, of_1 = (odds, raised) if self.positive else (raised, odds)
        return (self.gap * odds * excess / ((stay_0 * of_0 + a) * (b * of_1 + stay_1))).upper()


def _determinant(chain: Chain) -> Fraction:
    """Of its transitions: above 0 where neighbours are positively correlated."""
    return 1 - chain[0] - chain[1]


def _odds(chain: Chain, power: arb) -> Pair:
    """Those of the evidence that a record is 1, or that it is 0: so many records away.

    `power` is that of the determinant.
    """
    a, b = map(ball, chain)
    return a * (1 - power) / (a + b * power), (b + a * power) / (b * (1 - power))
