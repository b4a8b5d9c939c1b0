"""Bounds that hold all transition probabilities of a chain at once, from its counts.

**Statement.** Series are independent Markov chains of order `k` with the same transition
probabilities, and whether a transition is counted is decided before the record that it leads to is
seen. Of the counted transitions from a context `c`, the `k` records before, let `s` lead to the
state `v` and `f` to others. For `0 <= p <= 1` and `q = 1 - p` let

```text
M(p) = B(a p + b + s, a q + b + f) / (B(a p + b, a q + b) p^s q^f),      a = 32, b = 1/2
```

`B` the beta function. Then `{p : M(p) < 1 / alpha}` is an interval with `s / (s + f)` in it, and
holds `P(v | c)` with a probability of at least `1 - alpha`, whatever the number of transitions, and
also where that number depends on what was seen. With `alpha` divided by the number of cells `(c,
v)` all intervals hold at once; of two states one cell of a context counts, as the other has the
same interval, turned over. A context that never occurred has the interval `[0, 1]`.

**Proof.** *A martingale.* Put the series one after the other. Given all records so far, the next
one is `v` with probability `p = P(v | c)` wherever `c` is the context: series are independent, and
chains of order `k`. Let `M` be 1 before the first transition from `c`. If `i` of the `j` counted so
far lead to `v`, then the next multiplies `M(p)` by `(a p + b + i) / (a + 2 b + j) / p` if it leads
to `v`, and by `(a q + b + j - i) / (a + 2 b + j) / q` if not; the product is the quotient above.
These numbers have the mean 1 given the past, or less where `p` is 0 or 1, so `M(p)` is a
nonnegative supermartingale that starts at 1. By Ville's inequality it ever reaches `1 / alpha` with
a probability of at most `alpha`. Before that, the interval holds `p`. Bonferroni's inequality gives
all cells.

*An interval.* Up to a constant,

```text
ln M(p) = sum of ln(a + (b + i) / p) over i < s + sum of ln(a + (b + i) / q) over i < f,
```

and each term is convex. At the largest likelihood, `p = s / (s + f)`, `M` is a mean of likelihoods
over the largest: at most 1. ∎

**Counts known up to an interval.** Let `L(s, f)` and `U(s, f)` be the ends. If `s` lies in `[s1,
s2]` and `f` in `[f1, f2]`, then the union of all their intervals is `[L(s1, f2), U(s2, f1)]`, for
`alpha` of at most 1/2. *Proof.* `M(p)` after `(s + 1, f)` is `(a p + b + s) / ((a + 2 b + s + f)
p)` times that after `(s, f)`: at least as much where `p` is at most `m = (s + b) / (s + f + 2
b)`, and at most as much above. At `m` itself `ln M` is at most the largest log-likelihood less
that at `m`, so at most `(s + f) (s / (s + f) - m)^2 / (m (1 - m)) = b^2 (s - f)^2 / ((s + f) (s +
b) (f + b))`, which is at most `b`, as `(s + b) (f + b)` is at least `b (s + f)`. So `M(m)` is at
most `e^(1/2)`, less than `1 / alpha`, and `L(s, f)` is below `m`. Whatever lies below `L(s, f)`
is outside for `(s + 1, f)` too: `L` does not fall with `s`. In the same way, what lies between
`L(s, f)` and `m` is inside for `(s, f + 1)`: `L` does not rise with `f`. `U` is `1 - L` with `s`
and `f` exchanged. ∎

*The constants* were chosen before any data were seen. They put the mixture near `p`. With 10,000
transitions of a context the intervals are 1.6 times as wide as the usual approximate ones, which
hold at a number of records that was fixed beforehand. *Rounding:* the ends are found in doubles,
rounded outward to six digits, and each is proved to lie outside in ball arithmetic.

*What it doesn't cover:* transitions that change over time or from series to series, a memory longer
than `k`, and an attacker who is unsure of the transitions. Such a belief is a mixture of chains, in
which records far apart depend on each other.

*Checked:* the true transitions lie within no less often than stated, for two and three states and
orders 1 and 2, from 100 to 100,000 records.

*Source:* Ville (1939) for the inequality, Robbins (1970) for mixtures; the mixture near `p` is new.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bayesdp.errors import InputError
from bayesdp.fitting.numbers_of import Numbers, check_confidence

WEIGHT = 32
FLOOR = Fraction(1, 2)
"""The constants `a` and `b` of the mixture."""

DIGITS = 6
"""The significant digits of an end, or of its distance from 1 where that is less."""

LARGEST_FAILURE = Fraction(1, 2)
"""The largest `alpha` for which the union over counts within an interval is proved."""

BITS = 128
"""The precision of the balls."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TransitionBounds:
    """Arrays with `order + 1` axes: the true transitions lie between them with this confidence."""

    lower: Numbers
    upper: Numbers
    confidence: float


def transition_bounds(counts: Counts, confidence: float) -> TransitionBounds:
    """The bounds that hold all transition probabilities at once with this confidence.

    `counts[u, ..., v]` says how often the state `v` followed the states `u, ...`, older ones first:
    whole numbers of at least 0, with as many entries along each axis as there are states. Raises
    `InputError` for other counts, and for a confidence that is not between 0 and 1.
    """
    check_confidence(confidence)
    states = counts.shape[-1]
    if counts.ndim < 2 or set(counts.shape) != {states} or states < 2 or counts.min() < 0:
        raise InputError(
            "counts",
            f"an array of shape {counts.shape}",
            expected="counts of at least 0, with two or more axes, each as long as there are "
            "states",
        )
    misses = counts.sum(axis=-1, keepdims=True) - counts
    known = CountRange(counts, counts, misses, misses)
    return bounds_within(known, confidence, failure_of(confidence))


@dataclass(frozen=True, eq=False)
class CountRange:
    """What is known of the counts of a chain: for each cell `[u, ..., v]` two intervals.

    After the context `u, ...` the state `v` followed between `least_hits` and `most_hits` times,
    and others between `least_misses` and `most_misses` times. Whole numbers of at least 0.
    """

    least_hits: Counts
    most_hits: Counts
    least_misses: Counts
    most_misses: Counts


def failure_of(confidence: float) -> Fraction:
    """The probability with which bounds of this confidence may miss: 1 minus its decimal digits."""
    return 1 - Fraction(repr(float(confidence)))


def bounds_within(known: CountRange, confidence: float, failure: Fraction) -> TransitionBounds:
    """The bounds of `transition_bounds` for all counts within a range: the union of theirs.

    `failure` is the probability with which they may miss although the range holds; `confidence` is
    what the bounds are said to hold with. Raises `InputError` where the counts have a range and the
    failure of a cell is above 1/2, for which the union is not proved.
    """
    shape = known.least_hits.shape
    states = shape[-1]
    contexts = known.least_hits.size // states
    alpha = failure / (contexts * (1 if states == 2 else states))
    exact = known.least_hits is known.most_hits and known.least_misses is known.most_misses
    if not exact and alpha > LARGEST_FAILURE:
        raise InputError(
            "confidence",
            confidence,
            expected=f"bounds of which each may miss with a probability of at most 1/2, and here "
            f"it is {float(alpha):.3g}",
            remedy="Ask for a larger confidence.",
        )
    cells = zip(
        known.least_hits.ravel().tolist(),
        known.most_hits.ravel().tolist(),
        known.least_misses.ravel().tolist(),
        known.most_misses.ravel().tolist(),
        strict=True,
    )
    ends = np.array(
        [
            (
                probability_interval(least, most_others, alpha)[0],
                probability_interval(most, least_others, alpha)[1],
            )
            for least, most, least_others, most_others in cells
        ]
    )
    lower, upper = (ends[:, side].reshape(shape) for side in (0, 1))
    return TransitionBounds(lower, upper, confidence)


@lru_cache(maxsize=100_000)
def probability_interval(hits: int, misses: int, alpha: Fraction) -> tuple[float, float]:
    """The ends of `{p : M(p) < 1 / alpha}`, rounded outward: 0 without hits, 1 without misses.

    Of the visits to a context so many were followed by the state, `hits`, and by others, `misses`.
    """
    lower = _lower_end(hits, misses, alpha, turned=False)
    upper = _lower_end(misses, hits, alpha, turned=True)
    return lower, upper


def _lower_end(hits: int, misses: int, alpha: Fraction, *, turned: bool) -> float:
    """The lower end; `turned`: that of 1 - p, from which the upper end of p is returned."""
    outermost = 1.0 if turned else 0.0
    if hits == 0:
        return outermost
    distance = _near_end(hits, misses, -math.log(alpha))
    for step in (0.0, 1e-6, 1e-4, 1e-2, 0.5):
        digits = _fewer_digits(distance * (1.0 - step))
        end = float(1 - digits) if turned else float(digits)
        exact = 1 - Fraction(end) if turned else Fraction(end)
        if exact > 0 and _outside(exact, hits, misses, alpha):
            return end
    return outermost


def _near_end(hits: int, misses: int, threshold: float) -> float:
    """About where `ln M` falls to the threshold, below the largest likelihood, by bisection."""
    outside, inside = 0.0, hits / (hits + misses)
    while True:
        middle = (outside + inside) / 2.0
        near = inside - outside < 1e-8 * min(inside, 1.0 - outside)
        if near or not outside < middle < inside:
            return outside
        if log_martingale(middle, hits, misses) > threshold:
            outside = middle
        else:
            inside = middle


def log_martingale(p: float, hits: int, misses: int) -> float:
    """`ln M(p)` in doubles, for `0 < p < 1`, after so many `hits` and `misses`."""
    weight, floor = float(WEIGHT), float(FLOOR)
    q = 1.0 - p
    gained = math.lgamma(weight * p + floor + hits) - math.lgamma(weight * p + floor)
    gained += math.lgamma(weight * q + floor + misses) - math.lgamma(weight * q + floor)
    total = weight + 2.0 * floor
    gained += math.lgamma(total) - math.lgamma(total + hits + misses)
    return gained - hits * math.log(p) - misses * math.log1p(-p)


def _outside(p: Fraction, hits: int, misses: int, alpha: Fraction) -> bool:
    """Whether balls prove that `M(p) > 1 / alpha`, for `0 < p < 1`."""
    from flint import arb, ctx, fmpq

    def ball(value: Fraction) -> arb:
        return arb(fmpq(value.numerator, value.denominator))

    def gained(prior: Fraction, seen: int) -> arb:
        return ball(prior + seen).lgamma() - ball(prior).lgamma()

    with ctx.workprec(BITS):
        q = 1 - p
        mixed = gained(WEIGHT * p + FLOOR, hits) + gained(WEIGHT * q + FLOOR, misses)
        mixed -= gained(WEIGHT + 2 * FLOOR, hits + misses)
        logarithm = mixed - hits * ball(p).log() - misses * ball(q).log()
        return bool(logarithm + ball(alpha).log() > 0)


def _fewer_digits(value: float) -> Decimal:
    """A number between 0 and 1, rounded down so that it and its distance from 1 have few digits."""
    exact = Decimal(value)
    least = min(exact, 1 - exact)
    if least == 0:
        return exact
    step = Decimal(1).scaleb(least.adjusted() - DIGITS + 1)
    return (exact / step).to_integral_value(ROUND_FLOOR) * step
