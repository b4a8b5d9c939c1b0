"""Discrete Gaussian noise on exact integers: law, cost, error, OpenDP's sampler, privacy curve.

The law with scale `sigma` gives the integer `z` a mass proportional to `e^(-z^2 / (2 sigma^2))`.
Integers that move by at most `D` in l2 when one record is replaced are released with a cost of
`rho = D^2 / (2 sigma^2)` in zero-concentrated DP (Canonne, Kamath & Steinke, NeurIPS 2020,
Theorem 14): `D^2` and the double `sigma` are exact fractions, so `rho` is exact as well.
The noise is what OpenDP draws; there is no seed.

`delta(eps)` of integer-valued discrete Gaussian noise of parameter `sigma` at an integer shift `s`
is `P[X > t - s/2] - e^eps P[X > t + s/2]` with `t = sigma^2 eps / s` (Canonne, Kamath & Steinke,
NeurIPS 2020, Theorem 7). It is the discrete law's own curve: at small `sigma` the continuous one
(Balle & Wang, ICML 2018) is not an upper bound for it.

**Gaussian noise.** In studies with a delta, integers may be released with discrete Gaussian noise
of scale `sigma`: `P[Z = z]` is proportional to `e^(-z^2 / (2 sigma^2))`. If replacing a record
moves the released integers by at most `D` in l2, the cost is `rho = D^2 / (2 sigma^2)` in zCDP
(Canonne, Kamath and Steinke, NeurIPS 2020, Theorem 4 and its extension to several integers). `D^2`
is a whole number and `sigma` a double, so `rho` is an exact fraction, rounded up once. A count of
records of at most r rows has `D^2 = r^2`, a sum on the grid `D^2 = (r s)^2` with the sensitivity
`s` of one row. A histogram has `D^2 = 2 r^2`: the record's old rows leave their cells and its new
ones enter others, two vectors of counts `u, v >= 0` that each sum to at most r, and `|v - u|^2
<= |u|^2 + |v|^2 <= 2 r^2`. Groups of a public column are one vector in which one part moves, so
they cost what one of them costs.

*Its error.* For `sigma < 16` the tail is summed in balls; what the sum leaves out is a geometric
series. Above that,

```text
P[|Z| > k] <= erfc((k + 1/2) / (sigma sqrt 2)) + 4 e^(-2 pi^2 sigma^2).
```

*Proof.* Let `w(z) = e^(-z^2 / (2 sigma^2))`, concave for `|z| <= sigma` and convex beyond. By
Poisson's formula the sum of `w` over all integers is `N = sigma sqrt(2 pi) (1 + 2 sum_j e^(-2 pi^2
sigma^2 j^2))`, so at least `sigma sqrt(2 pi)`, and at most that times `1 + 4 e^(-2 pi^2 sigma^2)`.
If `k + 1/2 >= sigma`, each `w(z)`, `|z| > k`, is at most its integral over `[z - 1/2, z + 1/2]` by
convexity; so the tail is at most the integral of `w` beyond `k + 1/2` on both sides, over `N`. If
`k + 1/2 <= sigma`, each `w(z)`, `|z| <= k`, is at least its integral by concavity; so `P[|Z| <= k]`
is at least `erf(...) / (1 + 4 e^(-2 pi^2 sigma^2))`. ∎ The error that is stated is the least `k`
for which this bound, or the sum, is at most `beta`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from bayesdp.errors import InputError, finite_number, whole_number
from bayesdp.mechanisms.laplace import (
    INT64_MAX,
    MAX_SCALE,
    MIN_SCALE,
    allowed_failure,
    check_scale,
    check_values,
    least_integer,
)
from bayesdp.numbers import UpperBound, float_above

MOST_TERMS = 4_000_000
_REACH = 39.0
UNIT = 2.0**-53
MOST_SENSITIVITY_SQUARED = INT64_MAX**2
_SUMMED_BELOW = 16.0
"""Tails are summed term by term for scales below this, and bounded by an integral above."""
_BITS = 192


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise of the given `scale` (the law's `sigma`), in integer steps.

    Raises `InputError` unless `2**-20 <= scale <= 2**62`.

    >>> noise = DiscreteGaussian.for_cost(2, 0.01)
    >>> noise.scale, noise.cost(2), noise.quantile(0.95)
    (10.0, 0.01, 20)
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse scales outside the range in which the law and its cost make sense."""
        check_scale(self.scale)

    @classmethod
    def for_cost(cls, sensitivity_squared: int, dp_rho: float) -> DiscreteGaussian:
        """The smallest scale whose cost in zCDP is at most `dp_rho`.

        `sensitivity_squared` is the square of the largest change of the released integers in l2
        when one record is replaced: a whole number even if the sensitivity itself is not. Raises
        `InputError` unless `1 <= sensitivity_squared <= (2^63 - 1)^2` and `dp_rho` is finite and
        above 0, and for a scale out of range.
        """
        sensitivity_squared = _squared(sensitivity_squared)
        finite_number("dp_rho", dp_rho, expected="a finite number above 0")
        scale = math.sqrt(sensitivity_squared / 2.0) / math.sqrt(dp_rho)
        check_scale(scale)
        while scale <= MAX_SCALE and cls(scale).cost(sensitivity_squared) > dp_rho:
            scale = math.nextafter(scale, math.inf)
        while (smaller := math.nextafter(scale, 0.0)) >= MIN_SCALE:
            if cls(smaller).cost(sensitivity_squared) > dp_rho:
                break
            scale = smaller
        return cls(scale)

    @property
    def variance_parameter(self) -> Fraction:
        """`sigma^2`, exactly. The variance of the discrete law is at most this."""
        return Fraction(self.scale) ** 2

    def cost(self, sensitivity_squared: int) -> UpperBound:
        """The cost `D^2 / (2 sigma^2)` in zCDP, rounded up to a double.

        `sensitivity_squared` is `D^2`, as in `for_cost`; errors as there (`InputError`).
        """
        exact = Fraction(_squared(sensitivity_squared)) / (2 * self.variance_parameter)
        return float_above(exact)

    def quantile(self, confidence: float) -> int:
        """The error at this confidence: an integer `k` with `P(|Z| > k) <= 1 - confidence`.

        In steps. The least `k`, decided in ball arithmetic, for scales below 16. Above, the tail is
        bounded by an integral and `k` may be one more than the least. Raises `InputError` unless
        `0 < confidence < 1`.
        """
        beta = allowed_failure(confidence)
        guess = math.ceil(self.scale * _normal_quantile(beta) - 0.5)
        return least_integer(lambda k: _tail_at_most(self.scale, k, beta), max(guess, 0))

    @classmethod
    def scale_for_error(cls, error_steps: int, confidence: float) -> float:
        """The largest scale found whose `quantile(confidence)` is at most `error_steps`.

        Raises `InputError` unless `0 < confidence < 1` and `0 <= error_steps < 2^63`.
        """
        beta = allowed_failure(confidence)
        if isinstance(error_steps, bool) or not 0 <= error_steps <= INT64_MAX:
            raise InputError("error", error_steps, expected="between 0 and 2^63 steps of the grid")

        def fits(scale: float) -> bool:
            return _tail_at_most(scale, error_steps, beta)

        high = min(max((error_steps + 1.0) / _normal_quantile(beta), 2 * MIN_SCALE), MAX_SCALE)
        while high < MAX_SCALE and fits(high):
            high = min(2.0 * high, MAX_SCALE)
        if fits(high):
            return high
        low = high / 2.0
        while low > MIN_SCALE and not fits(low):
            high, low = low, low / 2.0
        while low < (middle := (low + high) / 2.0) < high:
            if fits(middle):
                low = middle
            else:
                high = middle
        return cls(low).scale

    def release(self, values: Sequence[int]) -> list[int]:
        """`values` plus independent noise, drawn by OpenDP. Results saturate at 64 bits.

        Raises `InputError`, which shows no value, unless all values fit into 64 bits.
        """
        check_values(values)
        return [int(value) for value in _measurement(self.scale)([int(v) for v in values])]


def _squared(sensitivity_squared: int) -> int:
    return whole_number(
        "sensitivity_squared",
        sensitivity_squared,
        expected="a whole number of squared steps between 1 and (2^63 - 1)^2",
        most=MOST_SENSITIVITY_SQUARED,
    )


def _normal_quantile(beta: Fraction) -> float:
    """About how many scales the error is: where a search starts."""
    return max(-NormalDist().inv_cdf(max(float(beta) / 2.0, 1e-300)), 1e-9)


def _tail_at_most(scale: float, k: int, beta: Fraction) -> bool:
    """Whether `P(|Z| > k) <= beta` for certain.

    *The integral.* `e^(-z^2 / (2 sigma^2))` is concave up to `sigma` and convex beyond. Where it is
    convex, each term is at most its integral over the unit interval around it, so the terms beyond
    `k >= sigma - 1/2` sum to at most the integral from `k + 1/2`, while all terms together are at
    least `sigma sqrt(2 pi)` (Poisson summation). Where it is concave, the terms up to `k` are at
    least their integrals, and all together at most `sigma sqrt(2 pi)` times
    `1 + 4 e^(-2 pi^2 sigma^2)`. Either way the tail is at most
    `erfc((k + 1/2) / (sigma sqrt 2)) + 4 e^(-2 pi^2 sigma^2)`.
    """
    import flint

    bits = flint.ctx.prec
    flint.ctx.prec = _BITS
    try:
        sigma = flint.arb(scale)
        bound = flint.arb(flint.fmpq(beta.numerator, beta.denominator))
        if scale >= _SUMMED_BELOW:
            reach = (flint.arb(k) + 0.5) / (sigma * flint.arb(2).sqrt())
            missed = 4 * (-2 * (flint.arb.pi() * sigma) ** 2).exp()
            return bool(reach.erfc() + missed <= bound)
        tail = 2 * _summed(sigma, k + 1) / (1 + 2 * _summed(sigma, 1))
        return bool(tail <= bound)
    finally:
        flint.ctx.prec = bits


def _summed(sigma: Any, first: int) -> Any:
    """A ball around the sum of `e^(-z^2 / (2 sigma^2))` over the integers from `first` on."""
    import flint

    rate = -1 / (2 * sigma**2)
    terms = 8 + math.ceil(_SUMMED_BELOW * float(sigma.mid()))
    last = first + terms
    total = sum(((rate * z * z).exp() for z in range(first, last)), flint.arb(0))
    # From `last` on each term is at most this share of the one before.
    rest = (rate * last * last).exp() / (1 - (rate * (2 * last + 1)).exp())
    return total + rest * flint.arb(0.5, 0.5)


@lru_cache(maxsize=256)
def _measurement(scale: float) -> Any:
    """OpenDP's measurement on vectors of 64-bit integers in l2."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale)


def discrete_gaussian_delta(sigma: float, sensitivity: int, dp_epsilon: float) -> UpperBound:
    """The least `delta` for which the noise is `(dp_epsilon, delta)`-DP, rounded up.

    `sigma` and the integer `sensitivity` (the change of one released integer when one record is
    replaced) are in the same steps; `dp_epsilon` is in nats and may be infinite. Raises
    `InputError` naming the argument, also for a `sigma` with too many steps for an exact sum.
    Source: Canonne, Kamath & Steinke, NeurIPS 2020, Theorem 7.
    """
    import numpy as np

    finite_number("sigma", sigma, expected="a finite number above 0")
    if not dp_epsilon >= 0.0:
        raise InputError("dp_epsilon", dp_epsilon, expected="a number of nats, at least 0")
    sensitivity = whole_number("sensitivity", sensitivity)
    reach = math.ceil(_REACH * sigma) + sensitivity + 2
    if reach > MOST_TERMS:
        raise InputError(
            "sigma",
            sigma,
            expected=f"at most about {MOST_TERMS / _REACH:.3g} steps for an exact sum",
            remedy="Use a coarser grid.",
        )
    points = np.arange(-reach, reach + 1, dtype=np.float64)
    twice = 2.0 * sigma * sigma
    weights = np.exp(-(points**2) / twice)
    # The privacy loss at x is (2 x s - s^2) / (2 sigma^2), for noise around s against noise at 0.
    # The excess over eps is rounded up; a difference of two laws would lose all digits.
    loss = (2.0 * points - sensitivity) * sensitivity / twice
    beyond = loss - dp_epsilon + 16.0 * UNIT * (np.abs(loss) + dp_epsilon)
    shifted = np.exp(-((points - sensitivity) ** 2) / twice)
    excess = shifted * -np.expm1(-np.maximum(beyond, 0.0))
    # An exponent of at most _REACH^2 / 2 is off by 4 units; the mass beyond it is negligible.
    error = 16.0 * UNIT * _REACH * _REACH + 4.0 * len(points) * UNIT
    delta = float(excess.sum()) / float(weights.sum()) * (1.0 + error) + 2.0**-100
    return UpperBound(min(1.0, delta))


def smallest_sigma(
    sensitivity: int, dp_epsilon: float, dp_delta: float, *, precision: float = 1e-9
) -> float:
    """About the smallest `sigma` with `discrete_gaussian_delta <= dp_delta`, which was evaluated.

    In steps, to a relative `precision`, and not below a thousandth of a step. Infinite where it has
    too many steps for an exact sum. Arguments and `InputError` as in `discrete_gaussian_delta`.
    """

    def fits(sigma: float) -> bool:
        return discrete_gaussian_delta(sigma, sensitivity, dp_epsilon) <= dp_delta

    high = max(0.2, sensitivity / max(dp_epsilon, 1e-9) * 0.1)
    while _REACH * high + sensitivity + 3 <= MOST_TERMS and not fits(high):
        high *= 2.0
    if _REACH * high + sensitivity + 3 > MOST_TERMS:
        return math.inf
    return _bisected(fits, high, precision)


def _bisected(fits: Callable[[float], bool], high: float, precision: float) -> float:
    low = high / 2.0
    while low > 1e-3 and fits(low):
        high, low = low, low / 2.0
    while high - low > precision * high:
        middle = (low + high) / 2.0
        if fits(middle):
            high = middle
        else:
            low = middle
    return high
