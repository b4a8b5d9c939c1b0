"""Order-k chains of two states, any adversary: the recursion over contexts, and the level.

See `bayesdp.theorems.markov_contexts` for the statement and the proof, and `contexts` for contexts
and what they allow. All levels are rounded up. Arrays have one axis or two for the tuples, and the
contexts on the last axis.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.closing import closed
from bayesdp.leakage.contexts import (
    STEP_ERROR,
    SYMBOLS,
    Indices,
    Side,
    Sides,
    all_pairs,
    contexts_first,
    contexts_last,
    largest_ratio,
    reversed_tuples,
    shortest,
)
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.numbers import UNIT, UpperBound, largest, up

LARGEST_COST = 50.0
"""Larger products of the order and the cost are refused: ratios could leave the doubles."""
LEAST_TRANSITION = 1e-8
"""Smaller transition probabilities are refused, for the same reason."""

_ROUNDS = 5_000
"""The most steps up to a closed matrix, and down from one."""
_BATCH = 256
"""So many pairs of contexts are split at once. Speed only."""
_LITTLE = 1e-7
"""The way down ends where a step changes the logarithms by less than this share: stopping earlier
leaves the level higher."""
_LARGEST_RATIO = 1e60
"""A matrix with larger entries is given up: the level is refused."""
_PLACES = 7
"""So many places of the logarithms are written for a cost of 1 nat, more for smaller ones."""
_NEAR = 1e-4
"""How far the level may lie above the largest pair of contexts, relative to it."""


def _weights(odds_low: Floats, odds_high: Floats) -> tuple[Floats, Floats]:
    """The laws of a record with two values whose odds are at the ends of an interval."""
    low, high = (
        np.stack([1.0 / (1.0 + odds), odds / (1.0 + odds)]) for odds in (odds_low, odds_high)
    )
    return low, high


class Recursion:
    """`F` of the theorem at one cost: matrices of the words that begin with `*` are stepped."""

    def __init__(
        self, side: Side, dp_epsilon: float, raised: float = 1.0, deadline: Deadline = NEVER
    ) -> None:
        count = len(side.rows)
        self.side, self.count = side, count
        self.raised, self.deadline = raised * side.margin, deadline
        last = np.arange(count) % 2
        own = np.where(last[:, None] != last, math.exp(dp_epsilon) * (1.0 + 4.0 * UNIT), 1.0)
        self.own = own[:, :, None]
        zero = 2 * np.arange(count) % count
        odds = (side.rows[:, 1] / side.rows[:, 0])[:, None]
        laws = _weights(odds / side.cones[zero, zero + 1], odds * side.cones[zero + 1, zero])
        first, second = all_pairs(count)
        alike = (first - second) % (count // 2) == 0
        self.apart, self.alike = (first[~alike], second[~alike]), (first[alike], second[alike])
        self.top, self.bottom = ([law[:, u] for law in laws] for u in self.apart)
        self.odds = odds[self.alike[0]], odds[self.alike[1]]

    def known(self, unknown_first: Floats) -> Floats:
        """The matrices of all words: a known record moves the window on and costs nothing."""
        side, count = self.side, self.count
        matrices = np.ones((count, count, len(side.words)))
        matrices[..., side.unknown_first] = unknown_first
        for _ in range(count.bit_length() - 2):
            for new in range(2):
                step = side.steps[str(new)]
                moved = (2 * np.arange(count) + new) % count
                values = step.largest(matrices[moved[:, None], moved])
                matrices[..., step.here] = np.maximum(matrices[..., step.here], values)
        return matrices

    def __call__(self, unknown_first: Floats) -> Floats:
        """One more record: `F` applied to the matrices of the words that begin with `*`."""
        self.deadline.check()
        matrices = self.known(unknown_first)
        cost = shortest(self.own * matrices)
        stepped = np.ones_like(matrices)
        stepped[self.apart] = np.maximum(self._kept_record_differs(cost), 1.0) * self.raised
        stepped[self.alike] = np.maximum(self._oldest_record_differs(cost), 1.0) * self.raised
        return self.side.steps["*"].largest(stepped)

    def _kept_record_differs(self, cost: Floats) -> Floats:
        """`F_*` of tuples that differ in a record which the next tuples keep."""
        u0, v0 = (2 * tuples % self.count for tuples in self.apart)
        return largest_ratio(self.top, self.bottom, cost, u0, v0)

    def _oldest_record_differs(self, cost: Floats) -> Floats:
        """`F_*` of tuples that differ in the oldest record alone.

        The same evidence is in both laws, so the ratio is largest at one point of it.
        """
        (a, b), cones = self.odds, self.side.cones
        zero = 2 * self.alike[0] % self.count
        ends = np.where(a > b, cost[zero + 1, zero], 1.0 / cost[zero, zero + 1])
        rho = np.clip(
            1.0 / np.sqrt(a * b * ends), 1.0 / cones[zero, zero + 1], cones[zero + 1, zero]
        )
        a_rho, b_rho = a * rho, b * rho
        ratio: Floats = (
            (1.0 + a_rho * ends) * (1.0 + b_rho) / ((1.0 + a_rho) * (1.0 + b_rho * ends))
        )
        return ratio


def _closed_side(sides: Sequence[Side], dp_epsilon: float, deadline: Deadline) -> Floats | None:
    """Logarithms of the words' matrices that begin with `*`, which a step does not raise.

    `sides` are the same side with more and more contexts: what few close is closed for all that
    begin with them, and is lowered from there.
    """
    places = _PLACES - min(0, math.floor(math.log10(dp_epsilon)))
    # By more than rounding to so many places may need.
    raised = 1.0 + 8.0 * 10.0**-places
    first, count = Recursion(sides[0], dp_epsilon, raised, deadline), len(sides[0].rows)
    least = np.ones((len(sides[0].unknown_first), count, count))
    matrices = closed(
        least, lambda given: contexts_first(first(contexts_last(given))), _ROUNDS, _LARGEST_RATIO
    )
    if matrices is None:
        return None
    above = contexts_last(matrices)
    for few, more in itertools.pairwise(sides):
        recursion = Recursion(more, dp_epsilon, raised, deadline)
        above = _lowered(above.take(more.within(few), axis=-1), recursion)
    exact = Recursion(sides[-1], dp_epsilon)
    written = rounded_up(np.log(above), places)
    for logs in (written, np.log(above) * (1.0 + 4.0 * UNIT)):
        matrices = np.exp(logs)
        if (exact(matrices) <= matrices).all():
            return logs
    return None


def _lowered(above: Floats, recursion: Recursion) -> Floats:
    """Lower matrices that a step doesn't raise, after steps until they change but little."""
    for _ in range(_ROUNDS):
        following = np.minimum(above, recursion(above))
        change = float(np.log(above / following).max())
        above = following
        if change <= _LITTLE * float(np.log(above).max()):
            break
    return above


def rounded_up(values: Floats, places: int) -> Floats:
    """Numbers from 0 on with so many places after the point, none below what is given."""
    shorter: Floats = np.ceil(values * 10.0**places * (1.0 + 4.0 * UNIT)) / 10.0**places
    return shorter


# -- the attacked record ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContextLevel:
    """An upper bound on the level, and what proves it.

    `words` are the contexts of the right side and of the left. `closed` has, for each side and each
    of its words that begins with `*`, the logarithms of its matrix, row by row. `tolerance` is
    the largest of both sides.
    """

    epsilon: UpperBound
    words: tuple[tuple[str, ...], tuple[str, ...]]
    closed: list[list[list[float]]]
    tolerance: float


def fewer(sides: Sides) -> Sides:
    """The same without the step to all contexts: a level that is quick, and a little higher."""
    return Sides(sides.right[:-1], sides.left[:-1], sides.law)


def context_level(
    sides: Sides, dp_epsilon: float, deadline: Deadline = NEVER
) -> ContextLevel | None:
    """An upper bound for every length and every adversary; `None` where it can't be closed.

    `dp_epsilon` is above 0 and at most `LARGEST_COST` divided by the order. Stops at the deadline,
    with `OutOfTimeError`.
    """
    right = _closed_side(sides.right, dp_epsilon, deadline)
    left = None if right is None else _closed_side(sides.left, dp_epsilon, deadline)
    if right is None or left is None:
        return None
    matrices = [
        Recursion(side[-1], dp_epsilon).known(np.exp(logs) * (1.0 + 4.0 * UNIT))
        for side, logs in ((sides.right, right), (sides.left, left))
    ]
    return ContextLevel(
        Target(sides, matrices, dp_epsilon).level(deadline),
        (sides.right[-1].words, sides.left[-1].words),
        [contexts_first(side).reshape(side.shape[-1], -1).tolist() for side in (right, left)],
        largest(sides.right[-1].tolerance, sides.left[-1].tolerance),
    )


class _Prefixes:
    """The beginnings of a side's words, each with the largest entries of its words."""

    def __init__(self, side: Side, matrices: Floats, places: Indices) -> None:
        beginnings = sorted({w[:n] for w in side.words for n in range(len(w))}, key=len)
        words = [*beginnings, *side.words]
        self.places = {word: place for place, word in enumerate(words)}
        self.matrices, self.cones = (
            np.concatenate([np.empty((*stack.shape[:2], len(beginnings))), stack], axis=-1)
            for stack in (matrices[places[:, None], places], side.cones[places[:, None], places])
        )
        for _, alike in itertools.groupby(reversed(beginnings), len):
            group = list(alike)
            here = [self.places[word] for word in group]
            longer = [[self.places[word + symbol] for word in group] for symbol in SYMBOLS]
            for stack in (self.matrices, self.cones):
                stack[..., here] = stack[..., longer].max(axis=-2)
        self.longer = [
            [self.places[word + s] for s in SYMBOLS] if word + "*" in self.places else [place]
            for place, word in enumerate(words)
        ]

    def is_word(self, place: int) -> bool:
        """Whether nothing longer begins with it."""
        return len(self.longer[place]) == 1


class Target:
    """The attacked record `x_i` and the tuple `x_i ... x_(i+k-1)`, between both sides."""

    def __init__(self, sides: Sides, matrices: list[Floats], dp_epsilon: float) -> None:
        count = len(sides.law)
        turned = reversed_tuples(count.bit_length() - 1)
        self.right = _Prefixes(sides.right[-1], matrices[0], np.arange(count))
        self.left = _Prefixes(sides.left[-1], matrices[1], turned)
        self.margin = 1.0 + 4.0 * sides.left[-1].slack + STEP_ERROR
        self.law = (sides.law[:, None] / sides.law)[:, :, None]
        self.dp_epsilon = dp_epsilon
        self.factor = math.exp(dp_epsilon) * (1.0 + 4.0 * UNIT)

    def level(self, deadline: Deadline) -> UpperBound:
        """The largest level of a pair of contexts, or a little more.

        Pairs of beginnings are split, the worst first: a beginning is at least as bad as all words
        with it.
        """
        pairs = [(-self._levels([(0, 0)])[0], 0, 0)]
        worst_word = 0.0
        while True:
            deadline.check()
            split: list[tuple[int, int]] = []
            while pairs and len(split) < _BATCH:
                value, right, left = pairs[0]
                if -value <= worst_word * (1.0 + _NEAR):
                    break
                heapq.heappop(pairs)
                split.append((right, left))
            if not split:
                worst = max(-pairs[0][0], worst_word) if pairs else worst_word
                return UpperBound(up(worst, 8))
            longer = list(self._longer(split))
            for value, (right, left) in zip(self._levels(longer), longer, strict=True):
                if self.right.is_word(right) and self.left.is_word(left):
                    worst_word = max(worst_word, value)
                else:
                    heapq.heappush(pairs, (-value, right, left))

    def _longer(self, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for right, left in pairs:
            yield from product(self.right.longer[right], self.left.longer[left])

    def _levels(self, pairs: list[tuple[int, int]]) -> list[float]:
        right, left = np.array(pairs).T
        values = self.right.matrices.take(right, axis=-1) * self.left.matrices.take(left, axis=-1)
        evidence = self.law * self.right.cones.take(right, axis=-1)
        evidence = evidence * self.left.cones.take(left, axis=-1) * self.margin
        worst = self._given_first(values, shortest(evidence))
        levels: list[float] = (self.dp_epsilon + np.log(worst) * (1.0 + 4.0 * UNIT)).tolist()
        return levels

    def _given_first(self, values: Floats, evidence: Floats) -> Floats:
        """What the first record of the tuple changes; the others become known or average out.

        `values[t, t', c]` is how far the mean of what is read beyond a part of the tuple differs
        between two such parts, `evidence[t, t', c]` how far their weights do. The last record of
        the part is either known or not, until the part is the attacked record alone.
        """
        count = len(values)
        if count == 2:
            worst: Floats = np.maximum(values[0, 1], values[1, 0])
            return worst
        last = np.arange(count) % 2
        paid = np.where(last[:, None] != last, self.factor, 1.0)
        cost = shortest(paid[:, :, None] * values)
        half = count // 2
        first, second = all_pairs(half)
        zero = 2 * np.arange(half)
        laws = _weights(1.0 / evidence[zero, zero + 1], evidence[zero + 1, zero])
        top, bottom = ([law[:, u] for law in laws] for u in (first, second))
        averaged, weights = np.ones((2, half, half, *values.shape[2:]))
        averaged[first, second] = self.margin * np.maximum(
            1.0, largest_ratio(top, bottom, cost, 2 * first, 2 * second)
        )
        weights[first, second] = self.margin * largest_ratio(
            _BOTH, _BOTH, evidence, 2 * first, 2 * second
        )
        branches = [(values[z::2, z::2], evidence[z::2, z::2]) for z in range(2)]
        branches.append((averaged, shortest(weights)))
        worst = np.max([self._given_first(v, e) for v, e in branches], axis=0)
        return worst


_BOTH: Sequence[Floats] = [np.ones(2)]
"""Values at 0 and at 1 that count alike."""
