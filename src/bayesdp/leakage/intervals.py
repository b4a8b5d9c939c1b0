"""Two-state chains between bounds: the sharp recursion for all of them at once (theory 3.5i).

A chain `[[1 - a, a], [b, 1 - b]]` is `positive` where `a + b <= 1`. Odds are those of the evidence
for 0 to that for 1. `excess` is what a ratio has beyond 1; nothing small is a difference of numbers
that were rounded, so small levels keep their relative precision. All results are rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UNIT, UpperBound, up

LARGEST_COST = 300.0
"""Higher costs are refused: ratios could leave the doubles."""
MOST_CELLS = 120
"""The box is cut into so many cells at most."""

_SLACKS = (1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3)
"""How far above its worst corner the box may be found, in turn: the wider, the fewer cells."""
_MOST_STEPS = 5_000
"""A run is followed for so many records at most; a box that does not close by then is cut, or
refused."""
_ROUNDING = 64.0 * UNIT
"""More than the relative error of one step: some twenty operations on positive numbers."""
_NEAR = 1e-12
"""Evidence this near to none does not fade any further in doubles: the box is not covered."""
_LARGEST_EXCESS = 1e250
"""The first guess of the excess ends here; guesses are checked."""
_BISECTIONS = 60
"""The bisections of the first guess of the excess, which is checked."""
_FADED = 1e-7
"""The first guess ends where the evidence is this near to none."""
_HAIR = 1e-12
"""A closed tail is checked a little above itself: the level is higher by about this share."""


class Box(NamedTuple):
    """All chains with `a` from `low_a` to `high_a` and `b` from `low_b` to `high_b`."""

    low_a: float
    high_a: float
    low_b: float
    high_b: float

    def halves(self) -> tuple[Box, Box]:
        """Cut where the ratio of the bounds is largest."""
        low_a, high_a, low_b, high_b = self
        if high_a * low_b >= high_b * low_a:
            middle = low_a + (high_a - low_a) / 2.0
            return self._replace(high_a=middle), self._replace(low_a=middle)
        middle = low_b + (high_b - low_b) / 2.0
        return self._replace(high_b=middle), self._replace(low_b=middle)

    def kinds(self) -> list[_Kind]:
        """Its positive chains and its negative ones, where it has such."""
        lowest, highest = (self.low_a, self.low_b), (self.high_a, self.high_b)
        kinds = []
        # Where rounding hides on which side of independent records a corner is, it is on both.
        if sum(lowest) < 1.0 + 4.0 * UNIT:
            weakest = highest if sum(highest) < 1.0 - 4.0 * UNIT else None
            kinds.append(_Kind(True, lowest, weakest))
        if sum(highest) > 1.0 - 4.0 * UNIT:
            weakest = lowest if sum(lowest) > 1.0 + 4.0 * UNIT else None
            kinds.append(_Kind(False, highest, weakest))
        return kinds


class _Kind(NamedTuple):
    """The positive or the negative chains of a box.

    `strongest` is the corner farthest from independence. `weakest` is the nearest corner, `None`
    where the box has independent records.
    """

    positive: bool
    strongest: tuple[float, float]
    weakest: tuple[float, float] | None

    @property
    def is_single(self) -> bool:
        """Whether it is one chain."""
        return self.strongest == self.weakest


def box_level(
    box: Box, dp_epsilon: float, *, uninformed: bool, deadline: Deadline = NEVER
) -> UpperBound | None:
    """A level in nats that no stationary chain of the box exceeds, whatever its length.

    All bounds lie strictly between 0 and 1, `dp_epsilon` is above 0 and at most `LARGEST_COST`.
    `None` where the evidence takes too long to fade. Raises `OutOfTimeError` at the deadline.
    """
    corners = [
        _Recursion(_Kind(kind.positive, corner, corner), dp_epsilon, uninformed, deadline)
        for kind in box.kinds()
        for corner in (kind.strongest,)
    ]
    worst = max((corner.reached() for corner in corners), default=0.0)
    if worst == 0.0:
        return UpperBound(up(dp_epsilon, 4))
    for slack in _SLACKS:
        bound = worst * (1.0 + slack)
        possible = all(corner.stays_within(bound) for corner in corners)
        if possible and _covered(box, bound, dp_epsilon, uninformed, deadline):
            return UpperBound(up(dp_epsilon + 2.0 * math.log1p(bound), 16))
    return None


def _covered(
    box: Box, bound: float, dp_epsilon: float, uninformed: bool, deadline: Deadline
) -> bool:
    """Whether no chain of the box exceeds the bound: shown for it as a whole, or for its halves."""
    cells = [box]
    for _ in range(MOST_CELLS):
        if not cells:
            return True
        cell = cells.pop()
        recursions = (_Recursion(k, dp_epsilon, uninformed, deadline) for k in cell.kinds())
        if not all(recursion.stays_within(bound) for recursion in recursions):
            if any(k.is_single for k in cell.kinds()):
                return False
            cells += cell.halves()
    return not cells


@dataclass(frozen=True, slots=True)
class _Recursion:
    """Bounds on the ratios of all chains of one kind, record by record."""

    kind: _Kind
    dp_epsilon: float
    uninformed: bool
    deadline: Deadline

    def reached(self) -> float:
        """About the largest excess of its runs, where it is one chain; only a first guess."""
        low, high = 0.0, min(1.0, math.expm1(self.dp_epsilon))
        while not self._closes(high, (0.0, 0.0), 1.0) and high < _LARGEST_EXCESS:
            low, high = high, 4.0 * high
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2.0
            free = self._closes(middle, (0.0, 0.0), 1.0)
            low, high = (low, middle) if free else (middle, high)
        if self.uninformed:
            return high
        odds, runs, most = _first_odds(self.kind.strongest), [(0.0, 0.0), (0.0, 0.0)], high
        for _ in range(_MOST_STEPS):
            self.deadline.check()
            runs = [self._step(run, here, here) for run, here in zip(runs, odds, strict=True)]
            most = max(most, *runs[0], *runs[1])
            odds = _next_odds(self.kind.strongest, odds)
            if max(max(here, 1.0 / here) for here in odds) < 1.0 + _FADED:
                break
        return most

    def stays_within(self, bound: float) -> bool:
        """Whether no run of unknown records has a ratio with more excess than the bound."""
        free = self._closes(bound, (0.0, 0.0), 1.0)
        if self.uninformed or not free:
            return free
        strong = _first_odds(self.kind.strongest)
        weak = (1.0, 1.0) if self.kind.weakest is None else _first_odds(self.kind.weakest)
        runs = [(0.0, 0.0), (0.0, 0.0)]
        for step in range(_MOST_STEPS):
            self.deadline.check()
            off = 1.0 + (8.0 * step + 16.0) * UNIT
            widest = max(max(odds, 1.0 / odds) for odds in strong) * off
            if step % 4 == 0:
                reached = max(run[0] for run in runs), max(run[1] for run in runs)
                if self._closes(bound, reached, widest):
                    return True
                if widest < 1.0 + _NEAR:
                    return False
            for end, (first, second) in enumerate(zip(strong, weak, strict=True)):
                low, high = min(first, second) / off, max(first, second) * off
                runs[end] = self._step(runs[end], low, high)
                if max(runs[end]) > bound:
                    return False
            strong = _next_odds(self.kind.strongest, strong)
            if self.kind.weakest is not None:
                weak = _next_odds(self.kind.weakest, weak)
        return False

    def _closes(self, bound: float, reached: tuple[float, float], widest: float) -> bool:
        """Whether all longer runs stay within it, the odds no farther from 1 than `widest`."""
        above = bound, bound
        # A hair above one step of the bound, so that rounding can't raise it in the next.
        first, second = (e * (1.0 + _HAIR) for e in self._step(above, 1.0 / widest, widest))
        above = min(bound, first), min(bound, second)
        if above[0] < reached[0] or above[1] < reached[1]:
            return False
        following = self._step(above, 1.0 / widest, widest)
        return following[0] <= above[0] and following[1] <= above[1]

    def _step(self, excess: tuple[float, float], low: float, high: float) -> tuple[float, float]:
        """One more record, whose evidence has odds from `low` to `high`.

        The excess of the ratio for 0 to 1, and of that for 1 to 0.
        """
        raised = math.expm1(self.dp_epsilon) * (1.0 + 4.0 * UNIT)
        up_, down_ = (raised + e + raised * e for e in excess)
        rise = self._growth(up_, low, high)
        fall = self._growth(down_, low / (1.0 + down_), high / (1.0 + down_))
        return (rise, fall) if self.kind.positive else (fall, rise)

    def _growth(self, excess: float, low: float, high: float) -> float:
        """How much of it a step leaves, at the worst odds of an interval."""
        a, b = self.kind.strongest
        ratio = 1.0 + excess
        odds = math.sqrt(a * (1.0 - b) / ((1.0 - a) * b)) / math.sqrt(ratio)
        odds = min(max(odds, low), high)
        gap = abs(1.0 - a - b) + 2.0 * UNIT
        left = gap * odds * excess
        # The means of 0 and of 1, at the larger value of a function or at the smaller.
        of_0, of_1 = (odds, odds * ratio) if self.kind.positive else (odds * ratio, odds)
        left /= ((1.0 - a) * of_0 + a) * (b * of_1 + (1.0 - b))
        return min(left * (1.0 + _ROUNDING), excess)


def _first_odds(chain: tuple[float, float]) -> tuple[float, float]:
    """The odds of the record before a known one, if that is 1 and if it is 0."""
    a, b = chain
    return a / (1.0 - b), (1.0 - a) / b


def _next_odds(chain: tuple[float, float], odds: tuple[float, float]) -> tuple[float, float]:
    """The odds one record further from the known one, given those of the record in between."""
    a, b = chain
    first, second = (((1.0 - a) * s + a) / (b * s + (1.0 - b)) for s in odds)
    return first, second
