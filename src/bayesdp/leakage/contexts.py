"""Order-k chains of two states, any adversary: the recursion over contexts.

See `bayesdp.theorems.markov_contexts` for the statement and the proof. Tuples of k records are
numbered with the oldest record as the highest bit, so the tuple after `u` and a new record `y` is
`(2 u + y) mod 2^k`. A *context* is a word over `0`, `1` and `*`: what the adversary knows of the
next records, the nearest first; `*` is a record that is not known. All levels are rounded up.

Arrays have one axis or two for the tuples, and the contexts on the last axis: every operation is
the same for all contexts, and is quick on numbers that lie side by side.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.closing import closed
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.stationary import elimination_error, limit_error, stationary_law
from bayesdp.leakage.tuples import tuple_kernel
from bayesdp.numbers import UNIT, UpperBound, largest, up

Indices = NDArray[np.intp]

SYMBOLS = "01*"
MOST_ORDER = 4
"""The largest order for which contexts are formed."""
TOLERANCE = 0.02
"""A context is split while the odds of the next record, given older ones, are known to less."""
MOST_NUMBERS = 16_000
"""So many numbers may prove one level: they are written on the certificate."""
MOST_CONTEXTS = 1000
"""The most contexts of one side; with fewer the level is higher."""
LARGEST_COST = 50.0
"""Larger products of the order and the cost are refused: ratios could leave the doubles."""
LEAST_TRANSITION = 1e-8
"""Smaller transition probabilities are refused, for the same reason."""

_ROUNDS = 5_000
"""The most steps up to a closed matrix, and down from one."""
_ROUNDING = 128.0 * UNIT
"""More than the relative error of one step: some thirty operations on positive numbers."""
_BATCH = 256
"""So many pairs of contexts are split at once. Speed only."""
_FEWER = (60, 200)
"""So many contexts are tried first; the second is what there is when the time is out."""
_LITTLE = 1e-7
"""The way down ends where a step changes the logarithms by less than this share: stopping earlier
leaves the level higher."""
_LARGEST_RATIO = 1e60
"""A matrix with larger entries is given up: the level is refused."""
_PLACES = 7
"""So many places of the logarithms are written for a cost of 1 nat, more for smaller ones."""
_NEAR = 1e-4
"""How far the level may lie above the largest pair of contexts, relative to it."""


class _Steps(NamedTuple):
    """One more symbol before contexts: `beyond[first[i] : first[i + 1]]` come after `here[i]`."""

    beyond: Indices
    here: Indices
    first: Indices

    def largest(self, matrices: Floats) -> Floats:
        """For each context `here` the largest entries of those beyond."""
        beyond = matrices.take(self.beyond, axis=-1)
        largest: Floats = np.maximum.reduceat(beyond, self.first, axis=-1)
        return largest


@dataclass(frozen=True)
class Side:
    """One side of the attacked record: the chain that leads away from it, and its contexts.

    `rows[u, y]` is the probability of the next record `y` after the tuple `u`. `cones[u, v, c]` is
    the largest ratio of the evidence for tuple `u` to that for tuple `v` which contexts allow that
    begin with `words[c]`. `slack` is the relative error of `rows`.
    """

    rows: Floats
    slack: float
    words: tuple[str, ...]
    cones: Floats

    @property
    def margin(self) -> float:
        """The factor by which the result of a step is raised."""
        return 1.0 + 8.0 * self.slack + _ROUNDING

    @cached_property
    def unknown_first(self) -> Indices:
        """The places of the words that begin with an unknown record."""
        return np.array([i for i, word in enumerate(self.words) if word[0] == "*"])

    def within(self, coarser: Side) -> Indices:
        """For each word that begins with `*`, the place of its beginning among the coarser's."""
        words = [coarser.words[place] for place in coarser.unknown_first]
        places = {word: place for place, word in enumerate(words)}
        return np.array(
            [
                next(places[word[:n]] for n in range(1, len(word) + 1) if word[:n] in places)
                for word in (self.words[place] for place in self.unknown_first)
            ]
        )

    @cached_property
    def tolerance(self) -> float:
        """The largest log ratio of what a context allows for the odds of the next record."""
        even = np.arange(0, len(self.rows), 2)
        return float(np.log(_odds_width(self.cones, even)).max())

    @cached_property
    def steps(self) -> dict[str, _Steps]:
        """For each nearest symbol: the contexts that begin with it, and those beyond it.

        All pairs that agree as far as both are said.
        """
        places = {word: place for place, word in enumerate(self.words)}
        extended: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            for length in range(1, len(word)):
                extended.setdefault(word[:length], []).append(place)
        steps = {}
        for symbol in SYMBOLS:
            pairs = []
            for beyond, word in enumerate(self.words):
                longer = symbol + word
                prefixes = (longer[:length] for length in range(1, len(longer) + 1))
                shorter = [places[prefix] for prefix in prefixes if prefix in places]
                pairs += [(beyond, here) for here in shorter or extended[longer]]
            pairs.sort(key=lambda pair: pair[1])
            beyond_, here_ = np.array(pairs).T
            steps[symbol] = _Steps(beyond_, *np.unique(here_, return_index=True))
        return steps


def _odds_width(cones: Floats, even: Indices) -> Floats:
    """For each last k - 1 records and each context: the odds' largest over their smallest."""
    width: Floats = cones[even, even + 1] * cones[even + 1, even]
    return width


# -- contexts and what they allow ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of an attacked record, and the stationary law of its tuple.

    Each side with few contexts, with more, and with all.
    """

    right: tuple[Side, ...]
    left: tuple[Side, ...]
    law: Floats


def sides_of(table: Floats) -> Sides | None:
    """Both sides of a stationary chain with positive transitions; `None` where it forgets too late.

    `table` has k + 1 axes of length 2.
    """
    order = table.ndim - 1
    rows = table.reshape(-1, 2) / table.reshape(-1, 2).sum(axis=1, keepdims=True)
    kernel = tuple_kernel(rows.reshape(table.shape))
    law = stationary_law(kernel)
    slack = min(limit_error(kernel, law), elimination_error(len(kernel)))
    if law is None or not math.isfinite(slack) or law.min() <= 0.0:
        return None
    backwards = np.empty_like(rows)
    turned = reversed_tuples(order)
    for here, new in product(range(len(rows)), range(2)):
        before = (new << (order - 1)) | (here >> 1)
        backwards[turned[here], new] = law[before] * rows[before, here & 1] / law[here]
    right = _side(rows, 8.0 * UNIT)
    left = _side(backwards, 2.0 * slack + 8.0 * UNIT)
    return None if right is None or left is None else Sides(right, left, law)


def reversed_tuples(order: int) -> Indices:
    """For each tuple of k records the tuple of the same records in the other order."""
    return np.array(
        [sum((t >> i & 1) << (order - 1 - i) for i in range(order)) for t in range(2**order)]
    )


def _side(rows: Floats, slack: float) -> tuple[Side, ...] | None:
    """The widest context is split until all are narrow or there are as many as may be."""
    count = len(rows)
    most = min(MOST_CONTEXTS, 3 * MOST_NUMBERS // (2 * count * count))
    margin = 1.0 + 2.0 * slack + _ROUNDING
    known = {"": _any_evidence(rows, margin)}
    widths: dict[str, float] = {}
    even = np.arange(0, count, 2)
    leaves: list[tuple[float, str]] = []

    def learn(wanted: Iterable[str]) -> None:
        """The cones of these words and of their endings, all of one length at once."""
        missing: set[str] = set()
        for word in wanted:
            while word not in known and word not in missing:
                missing.add(word)
                word = word[1:]
        alike = sorted(missing, key=lambda word: (len(word), word[0]))
        for (_, symbol), group in itertools.groupby(alike, lambda word: (len(word), word[0])):
            words = list(group)
            cones = pushed(
                _contexts_last([known[word[1:]] for word in words]), symbol, rows, margin
            )
            known.update(zip(words, _contexts_first(cones), strict=True))
            widest = np.log(_odds_width(cones, even)).max(axis=0)
            widths.update(zip(words, widest.tolist(), strict=True))

    def split(word: str) -> None:
        if word + "*" not in known:
            # All that are too wide are split sooner or later, unless there are too many.
            wide = (
                leaf for width, leaf in leaves if -width > TOLERANCE and leaf + "*" not in known
            )
            following = itertools.islice(wide, max(0, most - len(leaves)) // 2)
            learn(leaf + symbol for leaf in (word, *following) for symbol in SYMBOLS)
        for longer in (word + symbol for symbol in SYMBOLS):
            heapq.heappush(leaves, (-widths[longer], longer))

    def side() -> Side:
        words = tuple(sorted(word for _, word in leaves))
        return Side(rows, slack, words, _contexts_last([known[word] for word in words]))

    split("")
    sides = []
    for contexts in (*_FEWER, most):
        while -leaves[0][0] > TOLERANCE and len(leaves) + 2 <= contexts:
            split(heapq.heappop(leaves)[1])
        sides.append(side())
    return tuple(sides) if all(np.isfinite(side.cones).all() for side in sides) else None


def _contexts_last(matrices: Sequence[Floats] | Floats) -> Floats:
    """One array of these matrices, which are numbered by its last axis."""
    return np.ascontiguousarray(np.array(matrices).transpose(1, 2, 0))


def _contexts_first(matrices: Floats) -> Floats:
    """The same numbered by the first axis."""
    return np.ascontiguousarray(matrices.transpose(2, 0, 1))


def _any_evidence(rows: Floats, margin: float) -> Floats:
    """The cone of all evidence: a mean over the next k records, then narrowed step by step."""
    count = len(rows)
    blocks = np.ones((count, count))
    for block, place in product(range(count), range(count.bit_length() - 1)):
        here = (np.arange(count) << place | block >> (count.bit_length() - 1 - place)) % count
        blocks[:, block] *= rows[here, block >> (count.bit_length() - 2 - place) & 1]
    cone = (blocks[:, None, :] / blocks[None, :, :]).max(axis=2) * margin**count
    np.fill_diagonal(cone, 1.0)
    for _ in range(50):
        wider = cone
        narrower = np.max([pushed(cone, symbol, rows, margin) for symbol in SYMBOLS], axis=0)
        cone = np.minimum(cone, narrower)
        if (cone == wider).all():
            break
    result: Floats = cone
    return result


def pushed(cone: Floats, symbol: str, rows: Floats, margin: float) -> Floats:
    """The cone of the evidence with `symbol` before it; or the cones of many contexts.

    `rows` are the transitions; entries are raised by the factor `margin`, for rounding.
    """
    count = len(rows)
    first, second = _pairs(count)
    result = np.ones_like(cone)
    if symbol == "*":
        values = _ratio_of_sums(rows, cone, first, second)
    else:
        new = int(symbol)
        values = _for_each(rows[first, new] / rows[second, new], cone)
        values = values * cone[(2 * first + new) % count, (2 * second + new) % count]
    result[first, second] = values * margin
    return shortest(result)


@cache
def _pairs(count: int) -> tuple[Indices, Indices]:
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    return first, second


def _for_each(values: Floats, cone: Floats) -> Floats:
    """These values for one cone; where there are the cones of many contexts, for each the same."""
    return values if cone.ndim == 2 else values[..., None]


def shortest(ratios: Floats) -> Floats:
    """The ratios that follow from these: products along the best way."""
    shorter = ratios.copy()
    for middle in range(len(shorter)):
        through = shorter[:, middle, None] * shorter[middle]
        through *= 1.0 + 2.0 * UNIT
        np.minimum(shorter, through, out=shorter)
    diagonal = np.arange(len(shorter))
    shorter[diagonal, diagonal] = 1.0
    return shorter


def _ratio_of_sums(rows: Floats, cone: Floats, first: Indices, second: Indices) -> Floats:
    """The largest `sum_y rows[u, y] h(uy) / sum_y rows[u', y] h(u'y)` over evidence in the cone."""
    count = len(rows)
    top, bottom = ([_for_each(rows[u].T, cone)] for u in (first, second))
    return _largest_ratio(top, bottom, cost=cone, u0=2 * first % count, v0=2 * second % count)


def _largest_ratio(
    top: Sequence[Floats], bottom: Sequence[Floats], cost: Floats, u0: Indices, v0: Indices
) -> Floats:
    """The largest ratio of two weighted sums of `phi` over all `phi` that the costs allow.

    The sums are over `phi(u0), phi(u0 + 1)` and `phi(v0), phi(v0 + 1)`. The weights of the first
    are anything between those in `top` up to a common factor, those of the second anything between
    those in `bottom` (first those at `u0` and `v0`); the costs are closed under products. With
    `phi(v0) = 1` and `phi(v0 + 1) = x` the numerator is at most a concave function of `x` with a
    break for each of its values, and the largest ratio is at a break or an end.
    """
    u1, v1 = u0 + 1, v0 + 1
    zero_zero, zero_one, one_zero, one_one = cost[u0, v0], cost[u0, v1], cost[u1, v0], cost[u1, v1]
    least, most = 1.0 / cost[v0, v1], cost[v1, v0]
    best = np.zeros_like(least)
    for x in (
        least,
        most,
        np.clip(zero_zero / zero_one, least, most),
        np.clip(one_zero / one_one, least, most),
    ):
        of_zero = np.minimum(zero_zero, zero_one * x)
        of_one = np.minimum(one_zero, one_one * x)
        sums = [p_zero * of_zero + p_one * of_one for p_zero, p_one in top]
        means = [p_zero + p_one * x for p_zero, p_one in bottom]
        ratio = reduce(np.maximum, sums) / reduce(np.minimum, means)
        np.maximum(best, ratio, out=best)
    return best


# -- the recursion on one side ------------------------------------------------------------------


def _weights(odds_low: Floats, odds_high: Floats) -> tuple[Floats, Floats]:
    """The laws of a record with two values whose odds are at the ends of an interval."""
    low, high = (
        np.stack([1.0 / (1.0 + odds), odds / (1.0 + odds)]) for odds in (odds_low, odds_high)
    )
    return low, high


class _Recursion:
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
        first, second = _pairs(count)
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
        stepped[self.apart] = np.maximum(self._apart(cost), 1.0) * self.raised
        stepped[self.alike] = np.maximum(self._alike(cost), 1.0) * self.raised
        return self.side.steps["*"].largest(stepped)

    def _apart(self, cost: Floats) -> Floats:
        """`F_*` of tuples that differ in a record which the next tuples keep."""
        u0, v0 = (2 * tuples % self.count for tuples in self.apart)
        return _largest_ratio(self.top, self.bottom, cost, u0, v0)

    def _alike(self, cost: Floats) -> Floats:
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
    first, count = _Recursion(sides[0], dp_epsilon, raised, deadline), len(sides[0].rows)
    least = np.ones((len(sides[0].unknown_first), count, count))
    matrices = closed(
        least, lambda given: _contexts_first(first(_contexts_last(given))), _ROUNDS, _LARGEST_RATIO
    )
    if matrices is None:
        return None
    above = _contexts_last(matrices)
    for few, more in itertools.pairwise(sides):
        recursion = _Recursion(more, dp_epsilon, raised, deadline)
        above = _lowered(above.take(more.within(few), axis=-1), recursion)
    exact = _Recursion(sides[-1], dp_epsilon)
    written = rounded_up(np.log(above), places)
    for logs in (written, np.log(above) * (1.0 + 4.0 * UNIT)):
        matrices = np.exp(logs)
        if (exact(matrices) <= matrices).all():
            return logs
    return None


def _lowered(above: Floats, recursion: _Recursion) -> Floats:
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
        _Recursion(side[-1], dp_epsilon).known(np.exp(logs) * (1.0 + 4.0 * UNIT))
        for side, logs in ((sides.right, right), (sides.left, left))
    ]
    return ContextLevel(
        UpperBound(up(_Target(sides, matrices, dp_epsilon).level(deadline), 8)),
        (sides.right[-1].words, sides.left[-1].words),
        [_contexts_first(side).reshape(side.shape[-1], -1).tolist() for side in (right, left)],
        largest(sides.right[-1].tolerance, sides.left[-1].tolerance),
    )


class _Prefixes:
    """The beginnings of a side's words, each with the largest entries of its words."""

    def __init__(self, side: Side, matrices: Floats, places: Indices) -> None:
        beginnings = sorted({w[:n] for w in side.words for n in range(len(w))}, key=len)
        words = [*beginnings, *side.words]
        self.places = {word: place for place, word in enumerate(words)}
        self.matrices, self.cones = (
            np.concatenate([np.empty((*kept.shape[:2], len(beginnings))), kept], axis=-1)
            for kept in (matrices[places[:, None], places], side.cones[places[:, None], places])
        )
        for _, alike in itertools.groupby(reversed(beginnings), len):
            group = list(alike)
            here = [self.places[word] for word in group]
            longer = [[self.places[word + symbol] for word in group] for symbol in SYMBOLS]
            for kept in (self.matrices, self.cones):
                kept[..., here] = kept[..., longer].max(axis=-2)
        self.longer = [
            [self.places[word + s] for s in SYMBOLS] if word + "*" in self.places else [place]
            for place, word in enumerate(words)
        ]

    def is_word(self, place: int) -> bool:
        """Whether nothing longer begins with it."""
        return len(self.longer[place]) == 1


class _Target:
    """The attacked record `x_i` and the tuple `x_i ... x_(i+k-1)`, between both sides."""

    def __init__(self, sides: Sides, matrices: list[Floats], dp_epsilon: float) -> None:
        count = len(sides.law)
        turned = reversed_tuples(count.bit_length() - 1)
        self.right = _Prefixes(sides.right[-1], matrices[0], np.arange(count))
        self.left = _Prefixes(sides.left[-1], matrices[1], turned)
        self.margin = 1.0 + 4.0 * sides.left[-1].slack + _ROUNDING
        self.law = (sides.law[:, None] / sides.law)[:, :, None]
        self.dp_epsilon = dp_epsilon
        self.factor = math.exp(dp_epsilon) * (1.0 + 4.0 * UNIT)

    def level(self, deadline: Deadline) -> float:
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
                return max(-pairs[0][0], worst_word) if pairs else worst_word
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
        first, second = _pairs(half)
        zero = 2 * np.arange(half)
        laws = _weights(1.0 / evidence[zero, zero + 1], evidence[zero + 1, zero])
        top, bottom = ([law[:, u] for law in laws] for u in (first, second))
        averaged, weights = np.ones((2, half, half, *values.shape[2:]))
        averaged[first, second] = self.margin * np.maximum(
            1.0, _largest_ratio(top, bottom, cost, 2 * first, 2 * second)
        )
        weights[first, second] = self.margin * _largest_ratio(
            _BOTH, _BOTH, evidence, 2 * first, 2 * second
        )
        branches = [(values[z::2, z::2], evidence[z::2, z::2]) for z in range(2)]
        branches.append((averaged, shortest(weights)))
        worst = np.max([self._given_first(v, e) for v, e in branches], axis=0)
        return worst


_BOTH: Sequence[Floats] = [np.ones(2)]
"""Values at 0 and at 1 that count alike."""
