"""One factor of a graph of any states: the steps of its messages, before any cost (theory 3.7c).

A member changes from `u'` to `u`; some other members are known, the rest are in one of several
settings `z`. The evidence `nu(z)` about them is bounded: `ln nu(z) / nu(w) <= H(z, w)`. For each
threshold of `phi(u, z) / phi(u', z)` the settings fall into those above, `A`, and those below, `B`.
The odds of `A` are then `P` at `u` and `Q` at `u'`, and

    P <= e^most,   Q >= e^least,   P / Q <= e^ratio

whatever the evidence is. All three are worked out here, rounded outward. A zero is a number that
tends to 0: this decides about the order of settings, and where nothing else does, a bound is
infinite.

The kernel takes the same steps in balls (`kernel/models/thresholds.py`), by intent: a certificate's
witness is made of them, so both order settings and bound odds by the same formulas, those of
theory 3.7c. A test compares them step by step (tests/kernel/test_rules_states.py). That the
formulas hold is tested without them: random evidence in tests/leakage/test_state_fields.py, all
mechanisms of small graphs by brute force there and in tests/kernel/test_rules_states.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.merged_factors import Weights
from bayesdp.numbers import UNIT

MOST_SETTINGS = 27
"""Of a factor whose other members have more settings, only the largest cross ratio is used."""

Changes = tuple[tuple[tuple[int, int, int], ...], ...]
"""For each member that may change, its place and the values `v, w` of the changes to `v`."""
Apart = list[list[float]]
"""For two settings `z, w` the largest `ln nu(z) / nu(w)`."""


@dataclass(frozen=True, slots=True)
class ThresholdStep:
    """What a change of the member at `place` from `old` to `new` does at one threshold.

    `changes` are those of other members from below it to above: their costs are the largest of each
    member, summed. `most`, `least` and `ratio` bound `ln P`, `ln Q` and `ln P / Q`.
    """

    place: int
    new: int
    old: int
    changes: Changes
    most: float
    least: float
    ratio: float


def log_ratios(table: Weights, place: int) -> Floats:
    """For values `v, w` of a member the largest `ln phi(v, .) / phi(w, .)`, rounded up.

    Of two zeros it is 0.
    """
    rows = np.moveaxis(table, place, 0).reshape(table.shape[place], -1).tolist()
    largest = np.zeros((len(rows), len(rows)))
    for v, w in itertools.permutations(range(len(rows)), 2):
        pairs = zip(rows[v], rows[w], strict=True)
        largest[v, w] = max(_log(a, b) for a, b in pairs)
    return largest


def _log(a: Fraction, b: Fraction) -> float:
    """`ln a / b`, rounded up; of two zeros 0."""
    if a == b:
        return 0.0
    if not a or not b:
        return math.inf if a else -math.inf
    return _raised(_log_of(a / b))


def _log_of(ratio: Fraction) -> float:
    """A logarithm, near 1 as exact as elsewhere; up to rounding."""
    twos = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    twos = 0 if Fraction(1, 2) < ratio < 2 else twos
    return twos * math.log(2.0) + math.log1p(float(ratio / Fraction(2) ** twos - 1))


def _raised(value: float, size: float = 0.0) -> float:
    """A little more: by the rounding of numbers of this size."""
    return value + 256.0 * UNIT * (abs(value) + size)


def thresholds(
    table: Weights, place: int, evidence: Sequence[Floats], deadline: Deadline = NEVER
) -> list[ThresholdStep]:
    """All thresholds of the changes of the member at `place`.

    `evidence` has, for every member, the largest `ln nu(v) / nu(w)` by other factors: rounded up.
    Raises `OutOfTimeError` at the deadline.
    """
    others = [p for p in range(table.ndim) if p != place]
    rows = np.moveaxis(table, place, 0)
    changes = list(itertools.permutations(range(len(rows)), 2))
    if rows[0].size > MOST_SETTINGS:
        return [t for new, old in changes for t in _without_thresholds(rows, place, new, old)]
    steps = []
    for slots in _slices(rows.shape[1:]):
        deadline.check()
        free = [p for p, slot in zip(others, slots, strict=True) if slot is None]
        index = tuple(slice(None) if slot is None else slot for slot in slots)
        part = rows[(slice(None), *index)]
        settings = list(itertools.product(*map(range, part.shape[1:])))
        apart = _log_evidence_ratios(settings, [evidence[p] for p in free])
        flat = part.reshape(len(part), -1).tolist()
        for new, old in changes:
            pair = _Pair(flat[new], flat[old], settings, apart)
            steps += [
                ThresholdStep(place, new, old, pair.changes(free, *parts), *pair.bounds_at(*parts))
                for parts in pair.parts()
            ]
    return _needed(steps)


def _slices(shape: tuple[int, ...]) -> Iterator[tuple[int | None, ...]]:
    """Every choice of known members, not all, and of their values; `None` is not known."""
    for slots in itertools.product(*([None, *range(size)] for size in shape)):
        if None in slots:
            yield slots


def _log_evidence_ratios(settings: list[tuple[int, ...]], evidence: list[Floats]) -> Apart:
    """The largest `ln nu(z) / nu(w)` for two settings, rounded up."""
    among = np.zeros((len(settings), len(settings)))
    for place, largest in enumerate(evidence):
        values = [setting[place] for setting in settings]
        among += largest[np.ix_(values, values)]
    rounding = np.where(np.isfinite(among), np.abs(among), 0.0) * (8.0 * UNIT)
    apart: Apart = (among + rounding).tolist()
    return apart


def _without_thresholds(rows: Weights, place: int, new: int, old: int) -> list[ThresholdStep]:
    """The step of a factor of too many settings: by its largest cross ratio."""
    orders = [_order(a, b) for a, b in zip(rows[new].flat, rows[old].flat, strict=True)]
    if len(set(orders)) == 1:
        return []
    changes = tuple(
        tuple((p + (p >= place), v, w) for v, w in itertools.permutations(range(size), 2))
        for p, size in enumerate(rows.shape[1:])
    )
    ratio = _gap(max(orders), min(orders))
    return [ThresholdStep(place, new, old, changes, math.inf, -math.inf, ratio)]


Order = tuple[int, Fraction]
"""`a / b` where a zero is a small number: how many more zeros are below, and what remains."""


def _order(a: Fraction, b: Fraction) -> Order:
    return (b == 0) - (a == 0), (a or Fraction(1)) / (b or Fraction(1))


def _gap(high: Order, low: Order) -> float:
    """The logarithm of the quotient, rounded up."""
    return _raised(_log_of(high[1] / low[1])) if high[0] == low[0] else math.inf


class _Pair:
    """Two rows of a factor, by the settings of other members that are not known.

    Settings that are impossible in both rows are left out where others are certain to be more
    likely: `apart` has the largest `ln nu(z) / nu(w)`.
    """

    def __init__(
        self,
        first: list[Fraction],
        second: list[Fraction],
        settings: list[tuple[int, ...]],
        apart: Apart,
    ) -> None:
        self.settings, self.apart = settings, apart
        self.first, self.second = [*map(_weight, first)], [*map(_weight, second)]
        alive = [[z for z, weight in enumerate(row) if weight] for row in (first, second)]
        self.order = {
            z: _order(first[z], second[z])
            for z in range(len(settings))
            if first[z]
            or second[z]
            or any(all(apart[z][w] == math.inf for w in row) for row in alive)
        }
        numbers = [*self.first, *self.second, *itertools.chain.from_iterable(apart)]
        size = max(abs(number) for number in numbers if math.isfinite(number))
        self.size = (len(settings) + 4) * (1.0 + size)

    def parts(self) -> Iterator[tuple[list[int], list[int]]]:
        """The settings above each threshold and below it, both from the highest to the lowest."""
        falling = sorted(self.order, key=lambda z: self.order[z], reverse=True)
        for cut in range(1, len(falling)):
            if self.order[falling[cut]] != self.order[falling[cut - 1]]:
                yield falling[:cut], falling[cut:]

    def bounds_at(self, above: list[int], below: list[int]) -> tuple[float, float, float]:
        """`most`, `least` and `ratio` of a threshold."""
        most = self._odds(self.first, above, below)
        least = -self._odds(self.second, below, above)
        ratio = _gap(self.order[above[0]], self.order[below[-1]])
        means = (
            self._mean(self.first, self.second, above),
            self._mean(self.second, self.first, below[::-1]),
        )
        if all(math.isfinite(mean) for mean in means):
            ratio = min(ratio, _raised(sum(means), self.size))
        return most, least, ratio

    def _odds(self, row: list[float], above: list[int], below: list[int]) -> float:
        """The largest `ln` of the sum of `row nu` over the first settings by that over the second.

        Two bounds: each setting above against all below, and each below against all above.
        """
        by_above, by_below = [], []
        for z in above:
            against = _log_sum([row[w] - self.apart[z][w] for w in below])
            by_above.append(math.inf if against == -math.inf else row[z] - against)
        for w in below:
            endless = any(self.apart[z][w] == math.inf for z in above)
            if row[w] > -math.inf and not endless:
                by_below.append(row[w] - _log_sum([row[z] + self.apart[z][w] for z in above]))
        least = min(_log_sum(by_above), -_log_sum(by_below))
        return _raised(least, self.size) if math.isfinite(least) else least

    def _mean(self, row: list[float], other: list[float], falling: list[int]) -> float:
        """The largest `ln` of the sum of `row nu` by that of `other nu`, over these settings.

        The lower ones, in equal shares, are added to each of the higher ones.
        """
        best = math.inf
        for cut in range(1, len(falling) + 1):
            lower = falling[cut:]
            # With more and more of a lower setting the quotient tends to that setting's own.
            quotients = [_quotient(row[w], other[w]) for w in lower[:1]]
            for z in falling[:cut]:
                shares = [-self.apart[z][w] - math.log(cut) for w in lower]
                up, down = (
                    _log_sum(
                        [weights[z], *(weights[w] + s for w, s in zip(lower, shares, strict=True))]
                    )
                    for weights in (row, other)
                )
                quotients.append(_quotient(up, down))
            best = min(best, max(quotients))
        return best

    def changes(self, free: list[int], above: list[int], below: list[int]) -> Changes:
        """The changes of each member from a value that it has below to one that it has above."""
        changes = []
        for place, member in enumerate(free):
            highs, lows = (
                sorted({self.settings[z][place] for z in part}) for part in (above, below)
            )
            of_member = tuple((member, v, w) for v in highs for w in lows if v != w)
            changes += [of_member] if of_member else []
        return tuple(changes)


def _weight(weight: Fraction) -> float:
    return _log_of(weight) if weight else -math.inf


def _quotient(up: float, down: float) -> float:
    """The logarithm of a quotient from those of its parts; with 0 below infinite."""
    return math.inf if down == -math.inf else up - down


def _log_sum(logs: list[float]) -> float:
    """`ln sum e^logs`; infinities are allowed, and nothing is summed to 0."""
    top = max(logs, default=-math.inf)
    if not math.isfinite(top):
        return top
    return top + math.log(math.fsum(math.exp(entry - top) for entry in logs))


def _needed(made: list[ThresholdStep]) -> list[ThresholdStep]:
    """The thresholds that may raise a message, without those whose bounds another one contains.

    Only thresholds of the same changes are compared.
    """
    by_change: dict[tuple[int, int, Changes], list[ThresholdStep]] = {}  # of one member
    for threshold in made:
        if not threshold.most > threshold.least:
            continue
        alike = by_change.setdefault((threshold.new, threshold.old, threshold.changes), [])
        if not any(_within(threshold, other) for other in alike):
            alike[:] = [other for other in alike if not _within(other, threshold)] + [threshold]
    return [threshold for alike in by_change.values() for threshold in alike]


def _within(threshold: ThresholdStep, other: ThresholdStep) -> bool:
    """Whether the other bounds are nowhere tighter."""
    return (
        threshold.most <= other.most
        and threshold.least >= other.least
        and threshold.ratio <= other.ratio
    )
