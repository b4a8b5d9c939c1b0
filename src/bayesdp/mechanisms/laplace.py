"""Discrete Laplace noise on exact integers: law, cost, error, and OpenDP's sampler.

The law with scale `b` gives the integer `z` the mass `(1-a)/(1+a) * a^|z|`, `a = e^(-1/b)`
(theory 4). Scales are in steps of the integer grid (theory 6). The cost is what OpenDP's own
privacy map certifies, the noise is what OpenDP draws; there is no seed.

**Noise.** Integers are released with discrete Laplace noise of scale `b`: `P[Z = z] = (1 - a) /
(1 + a) * a^|z|`, `a = e^(-1/b)`. A sensitivity of `D` steps in l1 costs `eps = D / b`.

**Error.** The error at confidence `1 - beta` is the smallest integer `k` with `P[|Z| > k] <= beta`,
where `P[|Z| > k] = 2 a^(k+1) / (1 + a)` (sum the geometric series). The formula `b ln(1 / beta)` of
the continuous Laplace law is wrong here: `b = 1`, `beta = 0.04979` gives 3.0000 and suggests that
larger errors have probability 0.0498, but `P[|Z| > 2.9999] = P[|Z| >= 3] = 0.0728`. The error
speaks of the noise alone: clipping and the grid come on top, and neither is a sampling error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bayesdp.errors import InputError, finite_number, inner_probability, whole_number
from bayesdp.numbers import UpperBound

INT64_MAX = 2**63 - 1
MAX_SCALE = 2.0**62
MIN_SCALE = 2.0**-20


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise of the given `scale`, in integer steps.

    Raises `InputError` unless `2**-20 <= scale <= 2**62`: smaller noise would always be 0,
    and larger noise doesn't fit the 64-bit integers that it is added to.
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse scales outside the range in which the law and its cost make sense."""
        check_scale(self.scale)

    @classmethod
    def for_cost(cls, sensitivity: int, dp_epsilon: float) -> DiscreteLaplace:
        """The smallest scale whose certified DP cost is at most `dp_epsilon`.

        `sensitivity` is the largest change of the released integers in l1 when one record is
        replaced. "Certified" means by OpenDP's privacy map, which rounds up. Raises `InputError`
        unless `1 <= sensitivity < 2^63` and `dp_epsilon` is finite and above 0, in nats, and for a
        scale out of range.
        """
        sensitivity = _whole(sensitivity)
        finite_number("dp_epsilon", dp_epsilon, expected="a finite number above 0")
        scale = sensitivity / dp_epsilon
        check_scale(scale)
        while scale <= MAX_SCALE and cls(scale).cost(sensitivity) > dp_epsilon:
            scale = math.nextafter(scale, math.inf)
        while (smaller := math.nextafter(scale, 0.0)) >= MIN_SCALE:
            if cls(smaller).cost(sensitivity) > dp_epsilon:
                break
            scale = smaller
        return cls(scale)

    def cost(self, sensitivity: int) -> UpperBound:
        """The DP cost at this l1 `sensitivity`: an upper bound, from OpenDP's privacy map.

        In nats. Raises `InputError` for a sensitivity as in `for_cost`.
        """
        return UpperBound(_measurement(self.scale).map(_whole(sensitivity)))

    def quantile(self, confidence: float) -> int:
        """The error at this confidence: the least integer `k` with `P(|Z| > k) <= 1-confidence`.

        In steps. `P(|Z| > k) = 2 a^(k+1) / (1+a)`. Decided in ball arithmetic, so it is exact at
        the boundary too (theory 4). Raises `InputError` unless `0 < confidence < 1`.
        """
        beta = allowed_failure(confidence)
        a = math.exp(-1.0 / self.scale)
        guess = math.ceil(self.scale * math.log(2.0 / ((1.0 + a) * float(beta)))) - 1
        return least_integer(lambda k: _tail_at_most(self.scale, k, beta), max(guess, 0))

    def threshold(self, rows: int, allowed: Fraction) -> int:
        """The least integer `k > rows` with `P(rows + Z >= k) <= allowed`, `Z` the noise.

        It is `rows + t` for the least `t >= 1` with `P(Z >= t) = a^t / (1 + a) <= allowed`, decided
        in ball arithmetic (theory 4, "Groups that are found in the data"). Raises `InputError`
        unless `allowed` is above 0, and where the threshold leaves no room in 64 bits.
        """
        if not allowed > 0:
            raise InputError("allowed", float(allowed), expected="a probability above 0")
        steps = math.ceil(self.scale * -math.log(float(allowed)))
        # P(|Z| > k) is twice P(Z >= k + 1), so it asks for a chance of twice as much.
        beta = min(2 * allowed, Fraction(2))
        least = 1 + least_integer(lambda k: _tail_at_most(self.scale, k, beta), max(steps - 1, 0))
        if rows + least > MAX_SCALE:
            raise InputError(
                "threshold",
                rows + least,
                expected="a threshold below 2^62",
                remedy="Ask for a larger DP cost or delta.",
            )
        return rows + least

    @classmethod
    def scale_for_error(cls, error_steps: int, confidence: float) -> float:
        """The largest scale whose `quantile(confidence)` is at most `error_steps`.

        Raises `InputError` unless `0 < confidence < 1` and `0 <= error_steps < 2^63`.
        """
        beta = allowed_failure(confidence)
        error_steps = whole_number(
            "error",
            error_steps,
            expected="between 0 and 2^63 steps of the grid",
            least=0,
            most=INT64_MAX,
        )
        # From a^(k+1) = beta (1+a) / 2, which lies between beta/2 and beta.
        low = (error_steps + 1) / math.log(2.0 / float(beta)) * (1 - 1e-9)
        high = min((error_steps + 1) / -math.log(float(beta)) * (1 + 1e-9), 2 * MAX_SCALE)
        while True:
            middle = (low + high) / 2
            if not low < middle < high:
                return cls(min(low, MAX_SCALE)).scale
            if _tail_at_most(middle, error_steps, beta):
                low = middle
            else:
                high = middle

    def release(self, values: Sequence[int]) -> list[int]:
        """`values` plus independent noise, drawn by OpenDP. Results saturate at 64 bits.

        Raises `InputError`, which shows no value, unless all values fit into 64 bits.
        """
        check_values(values)
        return [int(value) for value in _measurement(self.scale)([int(v) for v in values])]


def check_scale(scale: float) -> None:
    """Raises `InputError` unless noise of this scale can be drawn and its cost computed."""
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise InputError(
            "scale",
            scale,
            expected="a noise scale between 2^-20 and 2^62 steps",
            remedy="Ask for a DP cost or an error that is less extreme.",
        )


def check_values(values: Sequence[int]) -> None:
    """Raises `InputError` unless all fit into 64 bits. The values are private, so none is shown."""
    for value in values:
        if not -INT64_MAX <= value <= INT64_MAX:
            raise InputError("values", expected="integers that fit in 64 bits", shown=False)


def _whole(sensitivity: int) -> int:
    steps = "a whole number of steps between 1 and 2^63 - 1"
    return whole_number("sensitivity", sensitivity, expected=steps, most=INT64_MAX)


def allowed_failure(confidence: float) -> Fraction:
    """`1 - confidence`, exactly; raises `InputError` outside (0, 1)."""
    inner_probability("confidence", confidence)
    return 1 - Fraction(confidence)


def _tail_at_most(scale: float, k: int, beta: Fraction) -> bool:
    """Whether `2 a^(k+1) / (1+a) <= beta`, decided with as many bits as it takes.

    Equality can't happen (`a` is transcendental and the equation would make it algebraic), so the
    loop ends.
    """
    import flint

    bits = flint.ctx.prec
    b = Fraction(scale)
    try:
        precision = 128
        while True:
            flint.ctx.prec = precision
            rate = flint.arb(flint.fmpq(-b.denominator, b.numerator))
            tail = 2 * (rate * (k + 1)).exp() / (1 + rate.exp())
            bound = flint.arb(flint.fmpq(beta.numerator, beta.denominator))
            if tail < bound:
                return True
            if tail > bound:
                return False
            precision *= 2
    finally:
        flint.ctx.prec = bits


def least_integer(holds: Callable[[int], bool], guess: int) -> int:
    """The least integer `k >= 0` for which the monotone `holds(k)` is true, from a guess."""
    stride = 1
    if holds(guess):
        high = guess
        while high > 0 and holds(max(high - stride, 0)):
            high = max(high - stride, 0)
            stride *= 2
        low = max(high - stride, -1)
    else:
        low = guess
        while not holds(low + stride):
            low += stride
            stride *= 2
        high = low + stride
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=256)
def _measurement(scale: float) -> Any:
    """OpenDP's measurement on vectors of 64-bit integers in l1."""
    # Not by `opendp.prelude`, which imports scikit-learn: that takes seconds.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale)
