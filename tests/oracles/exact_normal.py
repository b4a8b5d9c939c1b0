"""What one given mechanism leaks about Gaussian records (theory 3.8 e, 3.9).

Two mechanisms. *Gaussian noise on a linear query* `w . X + N(0, sigma^2)`, nothing clipped: given a
secret and what is known, the outcome is normal, with a variance that does not depend on the secret,
so the whole `(epsilon, delta)` curve is that of Gaussian noise whose sensitivity is the distance of
the two means. *Laplace noise on the sum of two or three clipped records*: the density of the
outcome is an expectation over one or two normal variables, one of them in closed form and the other
by adaptive quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from bayesdp.errors import InputError
from bayesdp.leakage.normal_curve import normal_delta
from bayesdp.notions import Adversary
from bayesdp.numbers import UNIT, Exact, largest, up

Floats = NDArray[np.float64]

MOST_RECORDS = 14
_SIGMAS = 9.5
"""A normal variable is cut here; less than 3e-21 of its mass lies beyond."""


@dataclass(frozen=True, slots=True)
class NormalCurve:
    """The exact curve of a pair of normal outcomes: `distance` apart, in standard deviations.

    `record` and `known` are the attack with the largest distance. `error` bounds the relative
    error of `distance`.
    """

    distance: float
    error: float
    record: int = 0
    known: tuple[int, ...] = ()

    def delta(self, bdp_epsilon: float) -> Exact:
        """The least `delta` at this epsilon: `Phi(d/2 - e/d) - e^e Phi(-d/2 - e/d)`."""
        middle = normal_delta(self.distance, bdp_epsilon)
        # The curve grows by at most phi(0) for each unit of distance.
        return Exact(middle, 0.4 * self.distance * self.error + 1e-10 * middle + 1e-300)

    def epsilon(self, bdp_delta: float) -> Exact:
        """The least epsilon at this `delta`, by bisection."""
        if not 0.0 < bdp_delta < 1.0:
            raise InputError("bdp_delta", bdp_delta, expected="a probability between 0 and 1")
        ends = [self._epsilon(bdp_delta, 1.0 + sign * (self.error + 1e-13)) for sign in (-1, 1)]
        middle = sum(ends) / 2.0
        return Exact(middle, (ends[1] - ends[0]) / 2.0 + 1e-11 * (1.0 + middle))

    def _epsilon(self, bdp_delta: float, widened: float) -> float:
        distance = self.distance * widened
        if normal_delta(distance, 0.0) <= bdp_delta:
            return 0.0
        low, high = 0.0, 1.0
        while normal_delta(distance, high) > bdp_delta:
            low, high = high, 2.0 * high
        while high - low > 1e-12 * (1.0 + high):
            middle = (low + high) / 2.0
            if normal_delta(distance, middle) > bdp_delta:
                low = middle
            else:
                high = middle
        return high


def linear_query_curve(
    covariance: Sequence[Sequence[float]],
    weights: Sequence[float],
    sigma: float,
    difference: float,
    *,
    adversary: Adversary = "any",
) -> NormalCurve:
    """`sum_j weights[j] X_j + N(0, sigma^2)`, secrets `difference` apart (theory 3.8 e).

    Nothing is clipped: the means matter only by their distance, so neither the secrets themselves
    nor the values of known records enter. All adversaries of the class are tried, up to 14 records.
    `difference` is in the records' unit, `sigma` in that of the query.

    >>> curve = linear_query_curve([[1.0, 0.5], [0.5, 1.0]], [1.0, 1.0], sigma=2.0, difference=1.0)
    >>> round(curve.distance, 6), curve.known
    (0.688247, ())

    **Exactly, nothing clipped** (`linear_query_curve` in `tests/oracles/exact_normal.py`, against
    which bounds are tested). Let `Y = w . X + N(0, sigma^2)` and attack record `i` knowing `x_K`.
    Given these, `Y` is normal with a variance `v` that does not depend on the secret, and between
    the secrets `x_i` and `x_i'` its mean moves by `(w_i + w_U . beta) (x_i - x_i')`, `beta` the
    regression of the unknown on `i` given `K`. So the least `delta` for each `epsilon` is the
    expression above with `d` that distance over `sqrt(v)`, and the worst adversary is the one with
    the largest `d`: all of them are tried (up to 14 records). *By hand:* two records of variance 1
    and correlation 0.5, `w = (1, 1)`, `sigma = 2`, secrets one apart. Knowing nothing: `d = 1.5 /
    sqrt(0.75 + 4) = 0.6882`. Knowing the other record: `d = 1/2`.
    """
    matrix, loads = np.asarray(covariance, dtype=float), np.asarray(weights, dtype=float)
    size = len(loads)
    if matrix.shape != (size, size):
        raise InputError("covariance", matrix.shape, expected=f"{size} rows and columns")
    if size > MOST_RECORDS:
        raise InputError("weights", size, expected=f"at most {MOST_RECORDS} records")
    if not (sigma > 0.0 and math.isfinite(sigma)):
        raise InputError("sigma", sigma, expected="a finite number above 0")
    spread = np.sqrt(np.diag(matrix))
    condition = float(np.linalg.cond(matrix / np.outer(spread, spread)))
    best = NormalCurve(-1.0, 0.0)
    for record in range(size):
        others = [j for j in range(size) if j != record]
        for known in _known(others, adversary):
            moved, variance = _linear(matrix, loads, record, known)
            distance = abs(moved * difference) / math.hypot(sigma, math.sqrt(max(variance, 0.0)))
            if distance > best.distance:
                scale = float(np.abs(loads * spread).sum()) * abs(difference) / spread[record]
                relative = scale / max(abs(moved * difference), 1e-300)
                error = 64.0 * size * size * UNIT * condition * max(relative, 1.0)
                best = NormalCurve(float(distance), float(error), record, tuple(known))
    return best


def _known(others: Sequence[int], adversary: Adversary) -> list[tuple[int, ...]]:
    if adversary == "uninformed":
        return [()]
    if adversary == "informed":
        return [tuple(others)]
    return [known for count in range(len(others) + 1) for known in combinations(others, count)]


def _linear(
    matrix: Floats, loads: Floats, record: int, known: Sequence[int]
) -> tuple[float, float]:
    """How far the query's mean moves with the target, and its variance, given the known records."""
    given = [record, *known]
    unknown = [j for j in range(len(loads)) if j not in given]
    if not unknown:
        return float(loads[record]), 0.0
    slopes = np.linalg.solve(matrix[np.ix_(given, given)], matrix[np.ix_(given, unknown)]).T
    left = matrix[np.ix_(unknown, unknown)] - slopes @ matrix[np.ix_(given, unknown)]
    tail = loads[unknown]
    return float(loads[record] + tail @ slopes[:, 0]), float(tail @ left @ tail)


# -- Laplace noise on a clipped sum ---------------------------------------------------------------


def clipped_sum_level(
    covariance: Sequence[Sequence[float]],
    mean: Sequence[float],
    bounds: tuple[float, float],
    dp_epsilon: float,
    *,
    record: int,
    secrets: tuple[float, float],
    known: Mapping[int, float] | None = None,
) -> Exact:
    """The leakage of `sum_j clip(X_j) + Laplace((hi - lo) / dp_epsilon)` for a stated attack.

    Told apart are the two values `secrets` of `record`, in both directions, given the `known`
    values of other records; at most two records are unknown. The level is the sup over all
    outcomes: the log ratio is `2 / b`-Lipschitz in the outcome and constant outside the sums'
    range, so a grid that is refined where a higher value is possible bounds it. `error` contains
    that and the change under the last halving of the quadrature's panels (an estimate, no proof).
    Theory 3.8 e. Errors: `InputError`.

    **Exactly, Laplace noise on the clipped sum of two or three records** (`clipped_sum_level`,
    there too), for a stated attack: the outcome's density is an expectation over the unknown
    records, one of them in closed form and a second by Gauss-Legendre panels that are halved until
    nothing changes. The log ratio is `2/b`-Lipschitz in the outcome and constant outside the sums'
    range, so bisecting where a larger value is possible bounds the sup. The stated error contains
    the quadrature's own estimate of its error, which is not a proof. The values above, 1.3196,
    1.4388 and 2.2404, come out.
    """
    fixed = dict(known or {})
    size = len(mean)
    unknown = [j for j in range(size) if j != record and j not in fixed]
    if len(unknown) > 2:
        raise InputError("known", sorted(fixed), expected="at most two records left unknown")
    low, high = bounds
    if not (low < high and dp_epsilon > 0.0):
        raise InputError("bounds", bounds, expected="lower below upper, and a cost above 0")
    scale = (high - low) / dp_epsilon
    sides = [
        _Outcome.given(covariance, mean, bounds, scale, record, value, fixed, unknown)
        for value in secrets
    ]
    own = [min(max(value, low), high) for value in secrets]
    start, stop = min(own) + len(unknown) * low, max(own) + len(unknown) * high
    search = _Search(sides, own, scale)
    return search.run(start, stop, rounds=40 if len(unknown) < 2 else 6)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The unknown records given one secret, and the noise."""

    centre: tuple[float, ...]
    factor: tuple[tuple[float, ...], ...]
    bounds: tuple[float, float]
    scale: float

    @classmethod
    def given(
        cls,
        covariance: Sequence[Sequence[float]],
        mean: Sequence[float],
        bounds: tuple[float, float],
        scale: float,
        record: int,
        value: float,
        known: Mapping[int, float],
        unknown: Sequence[int],
    ) -> _Outcome:
        if not unknown:
            return cls((), (), bounds, scale)
        matrix, means = np.asarray(covariance, dtype=float), np.asarray(mean, dtype=float)
        given = [record, *known]
        seen = np.array([value, *known.values()]) - means[given]
        slopes = np.linalg.solve(matrix[np.ix_(given, given)], matrix[np.ix_(given, unknown)]).T
        left = matrix[np.ix_(unknown, unknown)] - slopes @ matrix[np.ix_(given, unknown)]
        factor = np.linalg.cholesky(left)
        centre = means[list(unknown)] + slopes @ seen
        return cls(
            tuple(float(x) for x in centre),
            tuple(tuple(float(x) for x in row) for row in factor),
            bounds,
            scale,
        )

    def log_density(self, place: float) -> tuple[float, float]:
        """`ln E exp(-|place - sum of clipped unknown| / b)`, and its error."""
        if not self.centre:
            return -abs(place) / self.scale, 4 * UNIT * (1.0 + abs(place) / self.scale)
        if len(self.centre) == 1:
            spread = self.factor[0][0]
            item = self._one(np.array([place]), np.array([self.centre[0]]), spread)
            return float(item[0]), 1e-12
        return self._two(place)

    def _two(self, place: float) -> tuple[float, float]:
        """Gauss-Legendre between the corners of the integrand, panels halved until it stands."""
        spread = self.factor[0][0]
        corners = [(end - self.centre[0]) / spread for end in self.bounds]
        ends = [-_SIGMAS, *(z for z in corners if -_SIGMAS < z < _SIGMAS), _SIGMAS]
        before = self._panels(place, ends, 4)
        for count in (8, 16, 32, 64, 128):
            now = self._panels(place, ends, count)
            error = abs(now - before)
            if error <= 1e-11:
                break
            before = now
        # What is cut off weighs at most the kernel's largest ratio times its mass.
        width = self.bounds[1] - self.bounds[0]
        cut = math.exp(min(2.0 * width / self.scale - _SIGMAS**2 / 2.0, 700.0))
        return now, error + cut + 1e-12

    def _panels(self, place: float, ends: Sequence[float], count: int) -> float:
        nodes, weights = _rule()
        grid = np.concatenate(
            [np.linspace(a, b, count + 1)[:-1] for a, b in pairwise(ends)] + [ends[-1:]]
        )
        half = np.diff(grid)[:, None] / 2.0
        z = (grid[:-1, None] + half * (1.0 + nodes[None, :])).ravel()
        (spread, _), (slope, rest) = self.factor
        clipped = np.clip(self.centre[0] + spread * z, *self.bounds)
        logs = self._one(place - clipped, self.centre[1] + slope * z, rest) - 0.5 * z * z
        peak = float(logs.max())
        total = float(((half * weights[None, :]).ravel() * np.exp(logs - peak)).sum())
        return peak + math.log(total) - 0.5 * math.log(2.0 * math.pi)

    def _one(self, place: Floats, mean: Floats, spread: float) -> Floats:
        """One clipped normal record: two atoms and two truncated exponential moments."""
        from scipy.special import log_ndtr

        low, high = self.bounds
        cut, tilt = np.clip(place, low, high), spread / self.scale
        a, b, c = (low - mean) / spread, (high - mean) / spread, (cut - mean) / spread
        away = (place - mean) / self.scale
        parts = np.stack(
            [
                log_ndtr(a) - np.abs(place - low) / self.scale,
                log_ndtr(-b) - np.abs(place - high) / self.scale,
                -away + tilt * tilt / 2.0 + _log_mass(a - tilt, c - tilt),
                away + tilt * tilt / 2.0 + _log_mass(c + tilt, b + tilt),
            ]
        )
        top = parts.max(axis=0)
        total: Floats = top + np.log(np.exp(parts - top).sum(axis=0))
        return total


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(16)
    return nodes, weights


def _log_mass(low: Floats, high: Floats) -> Floats:
    """`ln (Phi(high) - Phi(low))`, without cancellation in either tail; -inf for nothing."""
    from scipy.special import log_ndtr

    flip = low > 0.0
    below, above = np.where(flip, -high, low), np.where(flip, -low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, tops = log_ndtr(below), log_ndtr(above)
        mass: Floats = np.where(
            above > below, tops + np.log(-np.expm1(np.minimum(logs - tops, 0.0))), -np.inf
        )
    return mass


class _Search:
    """The sup over outcomes of a `2 / b`-Lipschitz log ratio, by bisecting where it may be."""

    def __init__(self, sides: Sequence[_Outcome], own: Sequence[float], scale: float) -> None:
        self.sides, self.own, self.slope = sides, own, 2.0 / scale
        self.error = 0.0

    def value(self, outcome: float) -> float:
        """The log ratio at this outcome, in the worse direction."""
        actual = [
            side.log_density(outcome - value)
            for side, value in zip(self.sides, self.own, strict=True)
        ]
        self.error = largest(self.error, actual[0][1] + actual[1][1])
        return abs(actual[0][0] - actual[1][0])

    def run(self, start: float, stop: float, pieces: int = 64, rounds: int = 40) -> Exact:
        import heapq

        width = (stop - start) / pieces
        values = [self.value(start + k * width) for k in range(pieces + 1)]
        best = largest(*values)
        # Between two points a Lipschitz function stays below the meeting of the two slopes.
        queue = [
            (-(a + b + self.slope * width) / 2.0, start + k * width, width, a, b)
            for k, (a, b) in enumerate(pairwise(values))
        ]
        heapq.heapify(queue)
        for _ in range(pieces * rounds):
            if -queue[0][0] <= best + 1e-9:
                break
            _, left, size, a, b = heapq.heappop(queue)
            half, middle = size / 2.0, self.value(left + size / 2.0)
            best = largest(best, middle)
            for place, item, two in ((left, a, middle), (left + half, middle, b)):
                heapq.heappush(
                    queue, (-(item + two + self.slope * half) / 2.0, place, half, item, two)
                )
        top = max(-queue[0][0], best)
        middle = (best + top) / 2.0
        return Exact(middle, up((top - best) / 2.0 + self.error, 4))
