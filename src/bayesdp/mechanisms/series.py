"""Strategies of a series: which sums get noise, how far a record moves them, how answers follow.

The numbers of `T` periods in their order are a vector `x` of integers. A strategy is a matrix `A`
of integers: `A x` gets independent noise `z` of one scale, and answers are linear in `A x + z`, so
they cost nothing more. With a weight `w` on each entry of the noise an answer is off by `w z`,
whatever the data are.

* `identity`: each period. A sum of `k` periods adds up `k` of them.
* `tree`: the periods, sums of 2, of 4, ... and of all: each period counts once at each level.
  SeriesAnswers are those of least squares (Hay, Rastogi, Miklau & Suciu, PVLDB 2010).
* `square-root`: the lower-triangular Toeplitz matrix whose square adds up the first periods
  (Fichtenberger, Henzinger & Upadhyay, ICML 2023), for cumulative sums with Gaussian noise. Its
  entries are rounded to whole multiples of `2^-16`, and `A` is that of the whole numbers: all
  sensitivities are those of the rounded matrix. SeriesAnswers follow from its exact inverse.

Error bars are in `combined_noise`.

**Series.** The numbers of `T` periods are whole numbers `x`, on the grid for sums. A strategy is a
matrix `A` of whole numbers; `A x` gets independent discrete noise `z` of one scale. Answers are
linear in `A x + z`, so they cost nothing more, and each is right but for `w z` with known weights
`w`. *Identity*: `A = I`. *Tree*: sums of 1, 2, 4, ... neighbouring periods on levels 0, ..., `d`,
`2^d >= T > 2^(d-1)`, the last of each level over what is left; answers by least squares (Hay,
Rastogi, Miklau & Suciu 2010). *Square root*: lower triangular with the entries `a_(i-j)`, `a_k =
(2k choose k) / 4^k` (Fichtenberger, Henzinger & Upadhyay 2023), rounded down to multiples of
`2^-16` and multiplied by `2^16`. Rounding keeps `a_0 >= a_1 >= ... >= 0`, and everything below is
about the rounded matrix; answers follow from its inverse.

*What a record moves.* A row adds `u` with `l <= u <= h` to its period or nothing, `l <= 0 <= h`.
Let `A_t` be a column. (a) A record of one row that stays in its period moves `A x` by `(h -
l) |A_t|` at most; `|A_0|` is the largest norm, and all of a tree are alike: `d + 1` in l1, and the
square in l2 as well. (b) A row `u` in period `s` for a row `v` in `t`: `|u A_s - v A_t|` is convex
in `(u, v)`, so largest where each is an end or 0. If `u v >= 0`, products of columns, which are not
negative, only bring them closer, so a tree's furthest periods share the root alone: `d
(|u|^p + |v|^p) + |u - v|^p` for `p` = 1, 2. For the square root, `|u| = |v|` and given `t > s`, the
square of the distance `N_s + N_t - 2 C_st` grows as `s` falls, since `N_s` does and `C_st = sum_k
a_k a_(k+t-s)` (over `k < T - t`) falls: `s = 0`. If `u v < 0`, `|u A_s - v A_t|
<= |u| |A_s| + |v| |A_t| <= (h - l) |A_0|`, which is (a). (c) At most `m` rows of a record, at most
`g` in a period: pairs of old and new rows give `m` times (b). In l2 also: the moves are `D = D+ -
D-`, each `h - l` times a vector `c` with `0 <= c <= g`, `sum c <= m`, so `|A D|^2 <= 2 (h - l)^2
max |A c|^2`, products being not negative; at a tree's root `|sum D| <= (h - l) m` once. The maximum
of a convex function is at a corner, a vector of whole numbers. *Tree*: on each level it is at most
that of filling nodes one after the other, and the first periods fill those of all levels at
once. *Square root*: divide the `m` rows by turns into `g` layers; sorted by period, no layer has
two rows in one. `|A c|` is at most `g` times the largest norm of the sum of `ceil(m / g)` different
columns, and that is the first ones': moving `k`-th columns to place `k` lowers places and
distances, so no product falls. ∎

*Weights.* Cumulative sums by the square root have the coefficients of `1 / ((1 - x) a(x))` as
weights. For a tree, let `v` be the variance of a node's total from the sums below it, in variances
of one noise, and let an answer have the variance `s` and the covariance `c` with that total. The
node's own sum makes them `v / (v + 1)`, `s - c^2 / (v + 1)` and `c / (v + 1)`. Variances add up
over neighbouring nodes, so all prefixes follow level by level. A range begins in the left child of
some node and ends in the right one, with `(s, c)` and `(s', c')`: `s + s' - (c + c')^2 / (v + 1)`
at that node, and sums above only lower it. *No weight of a prefix or range is larger than 1*:
raising the sum of a node raises its estimate by `k <= 1` and those of its ancestors by less, so the
nodes beside the path sink by no more than `k` together; what an answer takes of the rise and of the
falls is between `-k` and `k`. ∎
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bayesdp.statements.queries import ROOT_BITS, SeriesAnswers, Strategy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GUARD = 64
"""Bits with which the entries of the matrix are computed, before they are rounded."""


@lru_cache(maxsize=16)
def root_column(periods: int) -> tuple[int, ...]:
    """The first column of the matrix `square-root`, in multiples of `2^-16`; it never increases.

    The entry `k` is `(2k choose k) / 4^k`, rounded down.
    """
    column, entry = [], 1 << _GUARD
    for k in range(periods):
        if k:
            entry = entry * (2 * k - 1) // (2 * k)
        column.append(entry >> (_GUARD - ROOT_BITS))
    return tuple(column)


@dataclass(frozen=True)
class SeriesStrategy:
    """A strategy for so many `periods`, at least 2, and what is asked of them."""

    name: Strategy
    periods: int
    answers: SeriesAnswers

    @property
    def depth(self) -> int:
        """How many levels a tree has above its leaves; 0 for other strategies."""
        return (self.periods - 1).bit_length() if self.name == "tree" else 0

    @property
    def fineness(self) -> int:
        """How many steps of the strategy's sums one step of a period's number is."""
        return 1 << ROOT_BITS if self.name == "square-root" else 1

    @property
    def answered(self) -> int:
        """How many sums have the stated error at once."""
        many = self.periods
        return many * (many + 1) // 2 if self.answers == "ranges" else many

    # -- what gets noise, and how far a record moves it ----------------------------------------

    def sums(self, numbers: Sequence[int]) -> list[int]:
        """The strategy's sums of the periods' integers: exact, and private."""
        if self.name == "square-root":
            from flint import fmpz_poly

            product = fmpz_poly(list(root_column(self.periods))) * fmpz_poly(list(numbers))
            return [int(product[i]) for i in range(self.periods)]
        level = list(numbers)
        sums = list(level)
        for _ in range(self.depth):
            level = [sum(level[i : i + 2]) for i in range(0, len(level), 2)]
            sums += level
        return sums

    def moves(
        self,
        ends: tuple[int, int],
        rows: int = 1,
        in_period: int = 1,
        *,
        stays: bool = False,
        squared: bool = False,
    ) -> int:
        """How far replacing one record moves the sums: in l1, or `squared`, its square in l2.

        A row adds an integer between the `ends` to its period, or nothing: `ends` are around 0. Of
        a record at most so many `rows` count, at most `in_period` in one period. `stays`: it is one
        row, and the one that replaces it lies in the same period. Theory 4, "Series", proves the
        formulas.
        """
        width, power = ends[1] - ends[0], 1 + squared
        if stays:
            return int(width**power) * self._column(power)
        one_row = max(int(width**power) * self._column(power), self._two_periods(ends, power))
        rows = min(rows, self.periods * in_period)
        if rows == 1 or not squared:
            return rows * one_row
        return min(rows * rows * one_row, 2 * width * width * self._packed(rows, in_period))

    def _column(self, power: int) -> int:
        """The sum of a column's entries, each to this power: the largest, of the first column."""
        if self.name == "square-root":
            return sum(int(entry**power) for entry in root_column(self.periods))
        return self.depth + 1

    def _two_periods(self, ends: tuple[int, int], power: int) -> int:
        """How far a row moves the sums that leaves a period while another enters a second one."""
        low, high = ends
        if self.name == "square-root":
            assert power == 2
            return max(-low, high) ** 2 * _furthest_columns(root_column(self.periods))
        apart, together = max(self.depth, 1), min(self.depth, 1)
        values = (low, high, 0)
        return max(
            int(apart * (abs(old) ** power + abs(new) ** power))
            + int(together * abs(old - new) ** power)
            for old in values
            for new in values
        )

    def _packed(self, rows: int, in_period: int) -> int:
        """The largest sum of squares of the sums that so many rows of size 1 add up to.

        At most `in_period` of them are in one period; what they leave counts apart, save at the
        root of a tree, where it cancels: half of the square there.
        """
        if self.name == "square-root":
            layer = -(-rows // in_period)
            ahead = [0, *accumulate(root_column(self.periods))]
            parts = (ahead[i + 1] - ahead[max(i + 1 - layer, 0)] for i in range(self.periods))
            return in_period**2 * sum(part * part for part in parts)
        total = (rows * rows + 1) // 2 if self.depth else 0
        for level in range(self.depth or 1):
            full, rest = divmod(rows, in_period << level)
            total += full * (in_period << level) ** 2 + rest**2
        return total

    # -- answers ---------------------------------------------------------------------------------

    def answer(self, noisy: Sequence[int]) -> list[float] | list[int]:
        """The answers from noisy sums, in steps of a period: one for each period.

        Of a period, of all periods up to it, or, for ranges, of each period, to be added up.
        """
        import numpy as np

        if self.name == "square-root":
            weights = self._root_weights / self.fineness
            values = np.convolve(weights, np.array(noisy, dtype=float))[: self.periods]
            return [float(value) for value in values]
        if self.name == "identity" and self.answers == "cumulative":
            return list(accumulate(noisy))
        if self.name == "identity":
            return list(noisy)
        leaves = self._least_squares(np.array(noisy, dtype=float))
        values = np.cumsum(leaves) if self.answers == "cumulative" else leaves
        return [float(value) for value in values]

    @cached_property
    def _root_weights(self) -> Any:
        """The weights of the last cumulative sum, the latest period first, before `2^-16`."""
        import numpy as np

        column = np.array(root_column(self.periods), dtype=float) / self.fineness
        inverse = np.zeros(self.periods)
        inverse[0] = 1.0
        for k in range(1, self.periods):
            inverse[k] = -np.dot(column[1 : k + 1], inverse[k - 1 :: -1][:k])
        return np.cumsum(inverse)

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """For each level of the tree: variances of the nodes' totals, without and with their own.

        Each from what lies below, in variances of one noise. Without their own sum, and with it.
        """
        import numpy as np

        own: NDArray[np.float64] = np.ones(self.periods)
        levels = [(np.full(self.periods, np.inf), own)]
        for _ in range(self.depth):
            below = own[0::2].copy()
            right = own[1::2]
            below[: len(right)] += right
            own = below / (below + 1.0)
            levels.append((below, own))
        return levels

    def _least_squares(self, noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The leaves' least-squares estimates: once up the tree, and once down again."""
        import numpy as np

        sizes = [len(own) for _, own in self._levels]
        sums = np.split(noisy, np.cumsum(sizes)[:-1])
        up = [sums[0]]
        for (below, own), there in zip(self._levels[1:], sums[1:], strict=True):
            up.append(own * there + (1.0 - own) * _pairs(up[-1], len(there), below))
        down = up[-1]
        for level in range(self.depth - 1, -1, -1):
            below, own = self._levels[level + 1][0], self._levels[level][1]
            missing = down - _pairs(up[level], len(down), below)
            parent = np.arange(sizes[level]) // 2
            down = up[level] + own * (missing / below)[parent]
        return down

    @cached_property
    def squared_weights(self) -> tuple[float, ...]:
        """The sum of squares of the noise's weights in each answer, in steps of a period.

        For `square-root` in multiples of `2^-16` of them. For ranges an upper bound for all of
        them, the same at each period.
        """
        import numpy as np

        count = self.periods
        if self.name == "square-root":
            return tuple(float(w) for w in np.cumsum(self._root_weights**2))
        if self.name == "identity":
            if self.answers == "cumulative":
                return tuple(float(k) for k in range(1, count + 1))
            return (float(count) if self.answers == "ranges" else 1.0,) * count
        prefix = self.answers != "periods"
        variance, shared, largest = np.ones(count), np.ones(count), 0.0
        for level in range(1, self.depth + 1):
            below = self._levels[level][0]
            if self.answers == "ranges":
                largest = max(largest, *self._crossing(level, variance, shared))
            node = np.arange(count) >> level
            if prefix:
                child = np.arange(count) >> (level - 1)
                left = np.where(child % 2 == 1, self._levels[level - 1][1][child - child % 2], 0.0)
                variance, shared = variance + left, shared + left
            share = shared / (below[node] + 1.0)
            variance, shared = variance - shared * share, share
            if level == 1:  # single periods
                leaf = 1.0 - 1.0 / (below + 1.0)
                largest = max(largest, float(leaf.max()))
        if self.answers == "ranges":
            return (largest,) * count
        return tuple(float(v) for v in variance)

    def _crossing(
        self, level: int, variance: NDArray[np.float64], shared: NDArray[np.float64]
    ) -> list[float]:
        """Bounds of the variances of ranges that begin in a left child and end in a right one.

        Of nodes at this `level`, all of which are like the first or the last one. `variance` and
        `shared` are those of the first periods of each child; of its last ones they are the same in
        a child without gaps. Sums above the node only make a variance smaller.
        """
        half = 1 << (level - 1)
        bounds = []
        for node in {0, len(self._levels[level][0]) - 1}:
            first = (2 * node + 1) * half
            if first < self.periods:
                above = float(self._levels[level][0][node]) + 1.0
                parts = (slice(0, half), slice(first, first + half))
                alone = [(variance[part] - shared[part] ** 2 / above).max() for part in parts]
                least = [shared[part].min() for part in parts]
                bounds.append(float(sum(alone) - 2.0 * least[0] * least[1] / above))
        return bounds


def _pairs(
    lower: NDArray[np.float64], count: int, like: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sums of neighbours at the level below, for so many nodes; the last may be alone."""
    import numpy as np

    pairs = np.zeros_like(like)
    pairs[:count] += lower[0::2]
    right = lower[1::2]
    pairs[: len(right)] += right
    return pairs


@lru_cache(maxsize=16)
def _furthest_columns(column: tuple[int, ...]) -> int:
    """The largest squared distance of two columns of the matrix `square-root`.

    Entries don't increase, so the first column is the furthest from any other.
    """
    from flint import fmpz_poly

    many = len(column)
    squares = [0, *accumulate(entry * entry for entry in column)]
    products = fmpz_poly(list(column)) * fmpz_poly(list(reversed(column)))
    # The coefficient many - 1 - t is the sum over k of column[k] * column[k + t].
    return max(
        squares[many] + squares[many - t] - 2 * int(products[many - 1 - t]) for t in range(1, many)
    )


@lru_cache(maxsize=64)
def series_strategy(name: Strategy, periods: int, answers: SeriesAnswers) -> SeriesStrategy:
    """The strategy of this `name` for so many `periods`, of which these `answers` are asked.

    The same object each time, with what was computed of it.
    """
    return SeriesStrategy(name, periods, answers)


def names_for(answers: SeriesAnswers, *, gaussian: bool) -> tuple[Strategy, ...]:
    """The strategies that there are for such answers, with Gaussian or with Laplace noise."""
    root: tuple[Strategy, ...] = ("square-root",) if gaussian and answers == "cumulative" else ()
    return ("identity", "tree", *root)


def largest_weight(strategy: SeriesStrategy) -> float:
    """The norm of the noise's weights in the answer with the most noise."""
    return math.sqrt(max(strategy.squared_weights))
