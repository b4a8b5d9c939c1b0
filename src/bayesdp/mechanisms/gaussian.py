"""Discrete Gaussian noise: its exact privacy curve.

`delta(eps)` of integer-valued discrete Gaussian noise of parameter `sigma` at an integer shift `s`
is `P[X > t - s/2] - e^eps P[X > t + s/2]` with `t = sigma^2 eps / s` (Canonne, Kamath & Steinke,
NeurIPS 2020, Theorem 7). It is the discrete law's own curve: at small `sigma` the continuous one
(Balle & Wang, ICML 2018) is not an upper bound for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bayesdp.errors import InputError

MOST_TERMS = 4_000_000
_REACH = 39.0
UNIT = 2.0**-53


def discrete_gaussian_delta(sigma: float, sensitivity: int, dp_epsilon: float) -> float:
    """The least `delta` for which the noise is `(dp_epsilon, delta)`-DP, rounded up.

    `sigma` and the integer `sensitivity` (the change of one released integer when one record is
    replaced) are in the same steps. Errors: `InputError` naming the argument.
    """
    import numpy as np

    if not (math.isfinite(sigma) and sigma > 0.0):
        raise InputError("sigma", sigma, expected="a finite number above 0")
    if not dp_epsilon >= 0.0:
        raise InputError("dp_epsilon", dp_epsilon, expected="a number of nats, at least 0")
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or sensitivity < 1:
        raise InputError("sensitivity", sensitivity, expected="a whole number of at least 1")
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
    # What exceeds eps is raised by its rounding; a difference of two laws would lose all digits.
    loss = (2.0 * points - sensitivity) * sensitivity / twice
    beyond = loss - dp_epsilon + 16.0 * UNIT * (np.abs(loss) + dp_epsilon)
    shifted = np.exp(-((points - sensitivity) ** 2) / twice)
    excess = shifted * -np.expm1(-np.maximum(beyond, 0.0))
    # An exponent of at most _REACH^2 / 2 is off by 4 units, and what it cuts off weighs nothing.
    error = 16.0 * UNIT * _REACH * _REACH + 4.0 * len(points) * UNIT
    return min(1.0, float(excess.sum()) / float(weights.sum()) * (1.0 + error) + 2.0**-100)


def smallest_sigma(
    sensitivity: int, dp_epsilon: float, dp_delta: float, *, precision: float = 1e-9
) -> float:
    """The smallest `sigma` found with `discrete_gaussian_delta <= dp_delta`; it was evaluated.

    Infinite where it has too many steps for an exact sum.
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
