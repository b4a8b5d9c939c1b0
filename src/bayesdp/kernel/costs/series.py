"""A series, from its public shape: how far a record moves what gets noise, and errors of answers.

Nothing of a strategy stands on a certificate but its name: its matrix, the largest move and the
weights of the answers are derived here from the number of periods. Theory 4, "Series", proves the
formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_series, ctx, fmpz_poly

from bayesdp.kernel.arithmetic import ball
from bayesdp.statements.queries import ROOT_BITS, SeriesAnswers, Strategy

_WIDTHS = tuple(Fraction(i, 2) for i in (2, 3, 4))
_SHIFTS = tuple(Fraction(i, 2) for i in (2, 3, 4, 5, 6, 8))
_RATES = tuple(Fraction(i, 32) for i in range(1, 32))
"""What the bounds of tails are tried with: each gives a bound, and the least of them holds."""

_SERIES_BITS = 256
"""Bits of the balls in which the inverse of the matrix is computed."""


@dataclass(frozen=True)
class PeriodSums:
    """So many `periods`, what is asked of them, and the strategy of the noise.

    `stays`: each record is one row, and its replacement lies in the same public period.
    """

    strategy: Strategy
    periods: int
    answers: SeriesAnswers
    stays: bool

    @property
    def levels(self) -> int:
        """How often each period counts: at each level of a tree, from single periods to all."""
        levels = 1
        while self.strategy == "tree" and 2 ** (levels - 1) < self.periods:
            levels += 1
        return levels

    @property
    def fineness(self) -> int:
        """How many steps of what gets noise a step of a period's number is."""
        return 2**ROOT_BITS if self.strategy == "square-root" else 1

    @property
    def entries(self) -> int:
        """At least as many as there are sums with noise: a tree has fewer than `2 T + log2 T`."""
        return 2 * self.periods + self.levels

    @property
    def answered(self) -> int:
        """How many sums the error of all at once is of."""
        periods = self.periods
        return periods * (periods + 1) // 2 if self.answers == "ranges" else periods

    # -- sensitivity ---------------------------------------------------------------------------

    def sensitivity(self, low: int, high: int, rows: int, in_period: int, *, squared: bool) -> int:
        """How far replacing a record moves the sums, in l1, or `squared`, its square in l2.

        Each row adds an integer from `low <= 0` to `high >= 0` to its period. At most so many
        `rows` of a record count, at most `in_period` in one period.
        """
        power = 2 if squared else 1
        within = int((high - low) ** power) * self._size(power)
        if self.stays:
            return within
        pair = max(within, self._pair(low, high, power))
        rows = min(rows, in_period * self.periods)
        by_rows = int(rows**power) * pair
        if power == 1 or rows == 1:
            return by_rows
        return min(by_rows, 2 * (high - low) ** 2 * self._most(rows, in_period))

    def _size(self, power: int) -> int:
        """The largest column of the strategy: the sum of its entries, each to the power."""
        if self.strategy == "square-root":
            return sum(int(entry**power) for entry in matrix_column(self.periods))
        return self.levels

    def _pair(self, low: int, high: int, power: int) -> int:
        """A row leaves a period, and another one enters another period: at the ends, or nothing.

        Sums that hold one of both periods move by that row's number, those that hold both by the
        difference. Of a tree that is the sum of all periods, for the two periods furthest apart.
        """
        if self.strategy == "square-root":
            return int(max(high, -low)) ** 2 * _furthest(self.periods)
        apart, both = (self.levels - 1, 1) if self.strategy == "tree" else (1, 0)
        ends = (low, 0, high)
        return max(
            int(apart * (abs(a) ** power + abs(b) ** power) + both * abs(a - b) ** power)
            for a in ends
            for b in ends
        )

    def _most(self, rows: int, in_period: int) -> int:
        """The most that `rows` rows of size 1 add up to in squares of the strategy's sums.

        That is where they lie in the first periods, at most `in_period` in each. The square of the
        sum of all periods counts half, rounded up: the old rows change it in one direction, and the
        new ones in the other.
        """
        if self.strategy == "square-root":
            column, reach = matrix_column(self.periods), math.ceil(Fraction(rows, in_period))
            window, total = 0, 0
            for period, entry in enumerate(column):
                window += entry - (column[period - reach] if period >= reach else 0)
                total += window * window
            return in_period**2 * total
        total = 0
        for level in range(self.levels):
            if level and level == self.levels - 1:
                return total + math.ceil(Fraction(rows**2, 2))
            room = in_period * 2**level
            total += (rows // room) * room**2 + (rows % room) ** 2
        return total

    # -- errors ----------------------------------------------------------------------------------

    @property
    def is_single(self) -> bool:
        """Whether each answer has the noise of one sum alone."""
        return self.strategy == "identity" and self.answers == "periods"

    def weights(self) -> list[arb]:
        """For each answer, an upper bound of the sum of squares of the noise's weights in it.

        In steps of what gets noise. For ranges one bound for all of them.
        """
        periods = self.periods
        if self.strategy == "square-root":
            return _root_weights(periods)
        if self.strategy == "identity":
            if self.answers == "cumulative":
                return [arb(k + 1) for k in range(periods)]
            return [arb(periods if self.answers == "ranges" else 1)] * periods
        return _tree_weights(periods, self.levels - 1, self.answers)


@lru_cache(maxsize=16)
def matrix_column(periods: int) -> tuple[int, ...]:
    """The first column of the matrix `square-root`; each other one is it, moved down.

    The entry `k` is `(2k choose k) / 4^k` in steps of `2^-16`, rounded down at 64 bits and then to
    whole steps: it never increases. What is exact is the sensitivity of these whole numbers.
    """
    exact, column = 2**64, [2**ROOT_BITS]
    for k in range(1, periods):
        exact -= -(-exact // (2 * k))
        column.append(exact // 2 ** (64 - ROOT_BITS))
    return tuple(column)


@lru_cache(maxsize=16)
def _furthest(periods: int) -> int:
    """The largest squared distance of two columns of the matrix, of which one is the first.

    Entries are not negative and don't increase: for each column the first one has the largest norm
    and the smallest product with it.
    """
    column = matrix_column(periods)
    norms = [0]
    for entry in column:
        norms.append(norms[-1] + entry * entry)
    products = fmpz_poly(list(column)) * fmpz_poly(list(column[::-1]))
    return max(
        norms[periods] + norms[periods - later] - 2 * int(products[periods - 1 - later])
        for later in range(1, periods)
    )


def _root_weights(periods: int) -> list[arb]:
    """Of each cumulative sum: squares of the coefficients of `1 / ((1 - x) a(x))`, added up."""
    bits, cap = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = _SERIES_BITS, periods
        column = arb_series([arb(c) / 2**ROOT_BITS for c in matrix_column(periods)], periods)
        falling = arb_series([1, -1], periods)
        inverse = 1 / (column * falling)
        weights, total = [], arb(0)
        for k in range(periods):
            total += inverse[k] * inverse[k]
            weights.append(total)
        return weights
    finally:
        ctx.prec, ctx.cap = bits, cap


def _tree_weights(periods: int, depth: int, answers: SeriesAnswers) -> list[arb]:
    """Variances of least-squares answers, in variances of one noise: up the tree, level by level.

    At each node: the variance of the node's total from the sums below, then with its own sum; and
    for each answer its variance and its covariance with the total, which a sum of variance 1
    changes by `-c^2 / (v + 1)` and to `c / (v + 1)`. Sums higher up only make it smaller.
    """
    totals = [arb(1)] * periods
    variances, shared = [arb(1)] * periods, [arb(1)] * periods
    largest = arb(0)
    for level in range(1, depth + 1):
        joint = [sum(totals[j : j + 2], arb(0)) for j in range(0, len(totals), 2)]
        if level == 1:
            largest = largest.max(_largest([1 - 1 / (total + 1) for total in joint]))
        if answers == "ranges":
            largest = largest.max(_crossing(level, joint, variances, shared))
        for answer in range(periods):
            child = answer >> (level - 1)
            if answers != "periods" and child % 2:
                variances[answer] += totals[child - 1]
                shared[answer] += totals[child - 1]
            above = joint[answer >> level] + 1
            variances[answer] -= shared[answer] * shared[answer] / above
            shared[answer] /= above
        totals = [total / (total + 1) for total in joint]
    return [largest] * periods if answers == "ranges" else variances


def _crossing(
    level: int, joint: Sequence[arb], variances: Sequence[arb], shared: Sequence[arb]
) -> arb:
    """A bound for all ranges that begin in the left child of a node and end in its right one.

    Of nodes at this `level`, where `joint` is the variance of each one's total from below.
    `variances` and `shared` are of the first periods of each child, and so of its last ones, where
    it has no gap. With `c` and `d` shared by both parts the node's sum takes `(c + d)^2 / (v + 1)`.
    Nodes are like the first one, but for the last.
    """
    half, bound = 2 ** (level - 1), arb(0)
    for node in (0, len(joint) - 1):
        first = (2 * node + 1) * half
        if first >= len(variances):
            continue
        above = joint[node] + 1
        places = (range(half), range(first, min(first + half, len(variances))))
        alone = [_largest([variances[t] - shared[t] ** 2 / above for t in part]) for part in places]
        least = [-_largest([-shared[t] for t in part]) for part in places]
        bound = bound.max(alone[0] + alone[1] - 2 * least[0] * least[1] / above)
    return bound


def _largest(balls: Sequence[arb]) -> arb:
    largest = balls[0]
    for other in balls[1:]:
        largest = largest.max(other)
    return largest


def share(weight: arb) -> arb:
    """At least the largest weight beside their norm, which is `weight`: none is larger than 1."""
    power = 0
    while bool(2 * (power + 1) * arb(2).log() / 4 <= weight.log()):
        power += 1
    return arb(2) ** (-arb(power) / 2)


def tail(rule: str, scale: Fraction, multiple: arb, largest: arb, entries: int) -> arb:
    """An upper bound on `P(|w z| > multiple * W)`, `W` the norm of the weights of `z`.

    `z` has so many `entries` of discrete noise of a `scale`, and no weight is above `largest * W`.
    """
    bounds = _gaussian if rule == "discrete-gaussian" else _laplace
    return bounds(scale, multiple, largest, entries)


def _gaussian(scale: Fraction, x: arb, largest: arb, entries: int) -> arb:
    sigma = ball(scale)
    least = 2 * (-(x * x) / (2 * sigma * sigma)).exp()
    for width in map(ball, _WIDTHS):
        both = sigma * sigma + width * width
        rate = 2 * (arb.pi() * sigma * width) ** 2 / both
        if not bool(rate >= 1):
            continue
        denser = (entries * 4 * (-rate).exp()).exp()
        for shift in map(ball, _SHIFTS):
            above = ((x - shift * width) / (2 * both).sqrt()).erfc()
            stays = 1 - (shift / arb(2).sqrt()).erfc() / 2
            least = least.min(denser * above / stays)
    return least


def _laplace(scale: Fraction, x: arb, largest: arb, entries: int) -> arb:
    b, least = ball(scale), arb(1)
    if bool(x > 1):
        wider = (1 / (2 * b)).coth() / 2
        least = least.min(2 * wider**2 / (3 * (x - 1) ** 2 * (1 - arb(-6).exp())))
    for rate in map(ball, _RATES):
        u = rate / largest
        least = least.min(2 * (-u * x / b + u * u / (1 - rate * rate)).exp())
    return least


def due_multiple(rule: str, scale: Fraction, allowed: Fraction, largest: arb, entries: int) -> arb:
    """A multiple of the norm beyond which an answer is with at most the probability `allowed`.

    Close to the least that the bounds of `tail` give.
    """

    def holds(multiple: Fraction) -> bool:
        return bool(tail(rule, scale, ball(multiple), largest, entries) <= ball(allowed))

    return ball(_least(holds, scale + 1))


def _least(holds: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """A number at which the falling condition holds, `1e-11` of it above one where it doesn't."""
    low, high = Fraction(0), guess
    while not holds(high):
        low, high = high, 2 * high
    while high - low > high / 10**11:
        middle = Fraction(float((low + high) / 2))
        if not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
