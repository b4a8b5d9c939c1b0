"""Quantiles: one of public candidates, chosen by the ranks of the values, at an exact cost.

**What is chosen.** Let the candidates be `c_1 < ... < c_m`. Each value counts as the nearest of
them (halfway between two, as the upper one), so that a table is `m` counts. Of `N` rows let `L` be
those that count as less than a candidate `c`, and `U` those that count as at most `c`. With the
probability `p = a / b`, in lowest terms, the score of `c` is the whole number

```text
u(c) = -max(0, b L - a N, a N - b U).
```

`-u(c) / b` is how many rows the rank `p N` lies outside of `[L, U]`, the ranks of `c`. It is 0
exactly if `c` is a `p`-quantile of the values as they count, which some candidate is: the intervals
`[L, U]` cover `[0, N]`. Rounding to candidates keeps the order of values, so it is then the
candidate nearest to a `p`-quantile of the values themselves.

**How far a record moves it.** Let a record have `r` rows at most, `s` of which count among the `N`
before it is replaced, and `t` after it. One row that counts and is replaced by another moves `L`
and `U` by at most 1 and `N` not at all, so each of the three terms by at most `b`. A row that comes
or goes moves `b L - a N` and `a N - b U` by `a` or by `b - a`, at most by `h = max(a, b - a)`. A
maximum moves by no more than the largest of its terms, so all scores move by at most

```text
f(s, t) = b min(s, t) + h |s - t| = max(h s + (b - h) t, (b - h) s + h t),        b / 2 <= h <= b.
```

With one group (or a record of one row, which stays in its group) the move is `S = f(r, r) = r b`,
since `f` grows with both. Where a record's rows may lie in any of several groups, its `s_g` and
`t_g` add up to at most `r` each. `f` is convex and not negative, so the sum of `f(s_g, t_g)` and
that of their squares are convex, and largest at corners: all `s` in one group and all `t` in the
same one (`r b`), or in another (`r h` twice). So the moves add up to at most `2 r h`, which is no
less than `r b`, and their squares to at most `r^2 max(b^2, 2 h^2)`. A condition `where` on private
columns changes nothing: it decides which rows count, before and after.

**The mechanisms.** With a scale `z`, in steps of 1/b row:

*Permute-and-flip* (McKenna & Sheldon, NeurIPS 2020), here as the largest score with exponential
noise of mean `z` (the same law: Ding, Kifer et al., 2021), costs `eps = 2 S / z`. *Proof.* Fix the
noise of all candidates but `c`. Then `c` is chosen if its noise is at least some `v`. Where scores
move by at most `S`, so does the largest of the others, and `v` by at most `2 S`; and `P[noise >= v
+ 2 S] >= e^(-2 S / z) P[noise >= v]` for every real `v`. ∎

*The exponential mechanism* chooses `c` with a probability proportional to `e^(u(c) / z)` (here as
the largest score with Gumbel noise), and costs `rho = S^2 / (2 z^2)` in zCDP, a quarter of what its
pure cost `eta = 2 S / z` would be counted as. *Proof.* Let `P`, `P'` be its laws at two neighbours
and `Y = ln(P' / P)`. `Y(c)` is `(u'(c) - u(c)) / z` and a constant, so it lies in an interval of
the length `eta`. Let `K(x) = ln E_P[e^(x Y)]`, so that `K(0) = K(1) = 0`. `K''(x)` is the variance
of `Y` under some law, at most `eta^2 / 4` (Popoviciu). So `K(x) - eta^2 x (x - 1) / 8` is concave
and 0 at 0 and 1, and for `x > 1` it is not above 0: the Rényi divergence `K(x) / (x - 1)` is at
most `x eta^2 / 8 = x S^2 / (2 z^2)`. ∎ (Dong, Durfee & Rogers, ICML 2020; Cesar & Rogers, ALT
2021.)

Groups are drawn independently of each other, so their costs add up: `S` stands for the sum of the
moves, and `S^2` for the sum of their squares.

**Error.** The rank of the answer is off by more than `k / b` rows with a probability of at most

```text
(m - 1) e^(-(k + 1) / z) / 2                                        for permute-and-flip,
w / (1 + w),   w = (m - 1) e^(-(k + 1) / z),                        for the exponential mechanism.
```

*Proof.* Some candidate has the score 0. For permute-and-flip, any other whose score is at most `-(k
+ 1)` is only chosen if its noise exceeds that of the best by `k + 1`; the difference of two
exponential laws does so with the probability `e^(-(k + 1) / z) / 2`, and there are at most `m - 1`
such candidates. For the exponential mechanism the weights of these are at most `e^(-(k + 1) / z)`
each, that of the best is 1, and `w / (1 + w)` grows with `w`. ∎ The bound reads no data. How far
the answer is off in the column's unit depends on how close together the values lie, which is
private; nothing is said of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bayesdp.errors import whole_number
from bayesdp.mechanisms.gaussian import DiscreteGaussian
from bayesdp.mechanisms.laplace import (
    INT64_MAX,
    MAX_SCALE,
    allowed_failure,
    check_scale,
    check_values,
    least_integer,
)
from bayesdp.numbers import UpperBound, float_above


def rank_scores(counts: Sequence[int], probability: Fraction) -> list[int]:
    """The scores of a quantile's candidates, in steps of 1/b row for the probability a / b.

    `counts` are the rows that count as each candidate, in increasing order of the candidates. A
    score of 0 is that of a quantile, and others are below 0.

    >>> rank_scores([2, 1, 0, 1], Fraction(1, 2))
    [0, 0, -2, -2]
    """
    share, whole = probability.numerator, probability.denominator
    rows, below, scores = sum(counts), 0, []
    for count in counts:
        outside = max(whole * below - share * rows, share * rows - whole * (below + count))
        scores.append(-max(0, outside))
        below += count
    return scores


@dataclass(frozen=True)
class NoisyMax(ABC):
    """A choice among so many `candidates` by their scores, with noise of the given `scale`.

    The scale is in steps of the scores. Raises `InputError` unless `2**-20 <= scale <= 2**62`.
    """

    scale: float
    candidates: int

    def __post_init__(self) -> None:
        """Refuse scales outside the range in which the law and its cost make sense."""
        check_scale(self.scale)

    @abstractmethod
    def cost(self, sensitivity: int) -> UpperBound:
        """The DP cost at this sensitivity, as the class defines both; rounded up."""

    @classmethod
    @abstractmethod
    def odds(cls, beta: Fraction) -> Fraction:
        """The largest `w = (m - 1) e^(-(k + 1) / scale)` at which `beta` bounds the probability.

        `beta` is a probability, and the bounds are the module's.
        """

    def quantile(self, confidence: float) -> int:
        """The error in ranks: with this probability the chosen score is at least minus this.

        In steps of the scores; the least number for which the module's bound shows it. Raises
        `InputError` unless `0 < confidence < 1`.
        """
        ratio = (self.candidates - 1) / self.odds(allowed_failure(confidence))
        guess = math.ceil(self.scale * math.log(ratio)) - 1 if ratio > 1 else 0
        return least_integer(lambda k: _reaches(self.scale, k, ratio), max(guess, 0))

    @classmethod
    def scale_for_error(cls, error_steps: int, confidence: float, candidates: int) -> float:
        """The largest scale found whose `quantile(confidence)` is at most `error_steps`.

        Raises `InputError` unless `0 < confidence < 1` and `0 <= error_steps < 2^63`.
        """
        error_steps = whole_number(
            "error",
            error_steps,
            expected="between 0 and 2^63 steps",
            least=0,
            most=INT64_MAX,
        )
        ratio = (candidates - 1) / cls.odds(allowed_failure(confidence))
        if ratio <= 1:
            return MAX_SCALE
        scale = min((error_steps + 1) / math.log(ratio) * (1 + 1e-12), MAX_SCALE)
        while not _reaches(scale, error_steps, ratio):
            scale *= 1 - 1e-13
        check_scale(scale)
        return scale

    def choose(self, scores: Sequence[int]) -> int:
        """The place of the chosen candidate, drawn by OpenDP; there is no seed.

        Raises `InputError`, which shows no value, unless all scores fit into 64 bits.
        """
        check_values(scores)
        return int(_noisy_max(type(self), self.scale)([int(score) for score in scores]))


class PermuteAndFlip(NoisyMax):
    """The candidate with the largest score after exponential noise; its cost is pure.

    `sensitivity` is the move `S` of scores, and `2 S / scale` the cost in nats.

    >>> PermuteAndFlip.for_cost(2, 0.5, 100).scale
    8.0
    """

    @classmethod
    def for_cost(cls, sensitivity: int, dp_epsilon: float, candidates: int) -> PermuteAndFlip:
        """The smallest scale whose cost is at most `dp_epsilon`, in nats, above 0.

        Raises `InputError` for a scale out of range.
        """
        exact = Fraction(2 * _move(sensitivity)) / Fraction(dp_epsilon)
        return cls(_scale_above(exact), candidates)

    def cost(self, sensitivity: int) -> UpperBound:
        """The pure cost `2 S / scale` in nats, rounded up; `InputError` for an `S` below 1."""
        return float_above(Fraction(2 * _move(sensitivity)) / Fraction(self.scale))

    @classmethod
    def odds(cls, beta: Fraction) -> Fraction:
        """`w / 2` bounds the probability."""
        return 2 * beta


class ExponentialMechanism(NoisyMax):
    """A candidate with a probability proportional to `e^(score / scale)`; its cost is in zCDP.

    `sensitivity` is the square of the move, `S^2`, and `S^2 / (2 scale^2)` the cost: as that of
    Gaussian noise of this scale on numbers that move by `S`.
    """

    @classmethod
    def for_cost(
        cls, sensitivity_squared: int, dp_rho: float, candidates: int
    ) -> ExponentialMechanism:
        """The smallest scale whose cost in zCDP is at most `dp_rho`, above 0.

        Raises `InputError` for a scale out of range.
        """
        return cls(DiscreteGaussian.for_cost(sensitivity_squared, dp_rho).scale, candidates)

    def cost(self, sensitivity: int) -> UpperBound:
        """The cost `S^2 / (2 scale^2)` in zCDP, rounded up; `sensitivity` is `S^2`.

        Raises `InputError` for a `sensitivity` below 1.
        """
        return DiscreteGaussian(self.scale).cost(sensitivity)

    @classmethod
    def odds(cls, beta: Fraction) -> Fraction:
        """`w / (1 + w)` bounds the probability."""
        return beta / (1 - beta)


def _move(sensitivity: int) -> int:
    steps = "a whole number of steps between 1 and 2^63 - 1"
    return whole_number("sensitivity", sensitivity, expected=steps, most=INT64_MAX)


def _scale_above(exact: Fraction) -> UpperBound:
    """The least double that is not below the exact scale; `InputError` where none is allowed."""
    try:
        scale = float_above(exact)
    except OverflowError:
        scale = UpperBound(math.inf)
    check_scale(scale)
    return scale


def _reaches(scale: float, k: int, ratio: Fraction) -> bool:
    """Whether `e^((k + 1) / scale) >= ratio`, decided with as many bits as it takes.

    Equality can't happen: `e` to the power of a rational number other than 0 is not rational.
    """
    import flint

    bits, precision = flint.ctx.prec, 128
    exponent = Fraction(k + 1) / Fraction(scale)
    try:
        while True:
            flint.ctx.prec = precision
            power = flint.arb(flint.fmpq(exponent.numerator, exponent.denominator))
            least = flint.arb(flint.fmpq(ratio.numerator, ratio.denominator)).log()
            if power > least:
                return True
            if power < least:
                return False
            precision *= 2
    finally:
        flint.ctx.prec = bits


@lru_cache(maxsize=64)
def _noisy_max(law: type[NoisyMax], scale: float) -> Any:
    """OpenDP's noisy max of 64-bit integers: with exponential noise, or with Gumbel's."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    measure = max_divergence() if law is PermuteAndFlip else zero_concentrated_divergence()
    domain = vector_domain(atom_domain(T="i64"))
    return make_noisy_max(domain, linf_distance(T="i64"), measure, scale=scale)
