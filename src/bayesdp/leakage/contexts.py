"""Order-k chains of two states, any adversary: contexts, and the evidence that they allow.

See `bayesdp.theorems.markov_contexts` for the statement and the proof. Tuples of k records are
numbered with the oldest record as the highest bit, so the tuple after `u` and a new record `y` is
`(2 u + y) mod 2^k`. A *context* is a word over `0`, `1` and `*`: what the adversary knows of the
next records, the nearest first; `*` is a record that is not known. All levels are rounded up.

Arrays have one axis or two for the tuples, and the contexts on the last axis: every operation is
the same for all contexts, and is quick on numbers that lie side by side. The recursion over
contexts is in `context_levels`.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.stationary import elimination_error, limit_error, stationary_law
from bayesdp.leakage.tuples import tuple_kernel
from bayesdp.numbers import UNIT

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

STEP_ERROR = 128.0 * UNIT
"""More than the relative error of one step: some thirty operations on positive numbers."""
_FEWER = (60, 200)
"""So many contexts are tried first; the second is what there is when the time is out."""


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
        return 1.0 + 8.0 * self.slack + STEP_ERROR

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
    margin = 1.0 + 2.0 * slack + STEP_ERROR
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
            cones = pushed(contexts_last([known[word[1:]] for word in words]), symbol, rows, margin)
            known.update(zip(words, contexts_first(cones), strict=True))
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
        return Side(rows, slack, words, contexts_last([known[word] for word in words]))

    split("")
    sides = []
    for contexts in (*_FEWER, most):
        while -leaves[0][0] > TOLERANCE and len(leaves) + 2 <= contexts:
            split(heapq.heappop(leaves)[1])
        sides.append(side())
    return tuple(sides) if all(np.isfinite(side.cones).all() for side in sides) else None


def contexts_last(matrices: Sequence[Floats] | Floats) -> Floats:
    """One array of these matrices, which are numbered by its last axis."""
    return np.ascontiguousarray(np.array(matrices).transpose(1, 2, 0))


def contexts_first(matrices: Floats) -> Floats:
    """The matrices of `contexts_last`, numbered by the first axis."""
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
    first, second = all_pairs(count)
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
def all_pairs(count: int) -> tuple[Indices, Indices]:
    """All ordered pairs of `count` different tuples: the first ones, and the second ones."""
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
    return largest_ratio(top, bottom, cost=cone, u0=2 * first % count, v0=2 * second % count)


def largest_ratio(
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
