"""Gaussian populations by conditional moments, closed-form integrals and coupled draws.

A mechanism is Lipschitz here when the probability of every outcome changes by at most the factor
`exp(eps/M * l1 distance)` between two databases *after clipping* to `[lo, hi]`, `M = hi - lo`:
Laplace noise of scale `M / eps` on the sum of the clipped records is one. Nothing here uses the
precision matrix.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp

from tests.oracles.finite import known_sets


def conditional(
    cov: np.ndarray, unknown: Sequence[int], given: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Regression matrix of the unknown on the given records, and their conditional covariance."""
    cov = np.asarray(cov, dtype=float)
    unknown, given = list(unknown), list(given)
    slope = np.linalg.solve(cov[np.ix_(given, given)], cov[np.ix_(given, unknown)]).T
    return slope, cov[np.ix_(unknown, unknown)] - slope @ cov[np.ix_(given, unknown)]


def shift_factor(cov: np.ndarray, adversary: str = "any") -> float:
    """`1 + max over (i, K) of sum_j min(|beta_j|, 1)`, `beta` regressing the unknown on i given K.

    It bounds the leakage of every Lipschitz mechanism for secrets inside `[lo, hi]`, and the
    weights `exp(eps/M sum_j +-clip(x_j))` come as near to it as one likes when the interval is wide
    against the spread.
    """
    cov = np.asarray(cov, dtype=float)
    n = len(cov)
    most = 0.0
    for record in range(n):
        for known in known_sets(n, record, adversary):
            unknown = [j for j in range(n) if j != record and j not in known]
            if unknown:
                slope, _ = conditional(cov, unknown, [record, *known])
                most = max(most, float(np.minimum(np.abs(slope[:, 0]), 1.0).sum()))
    return 1.0 + most


# ------------------------------------------------------ Laplace noise on the sum of two records


@dataclass(frozen=True)
class Measured:
    """A leakage that some outcome attains, and a bound that no outcome exceeds; who attains it."""

    level: float
    upper: float
    record: int
    known: tuple[int, ...]
    value: float
    other: float
    outcome: float


def _log_mass(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """ln (Phi(high) - Phi(low)), without cancellation in either tail (-inf where high <= low)."""
    flip = low > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_a, log_b = log_ndtr(a), log_ndtr(b)
        return np.where(b > a, log_b + np.log(-np.expm1(np.minimum(log_a - log_b, 0.0))), -np.inf)


def log_smoothed(
    z: np.ndarray, mean: float, sd: float, lo: float, hi: float, scale: float
) -> np.ndarray:
    """ln E exp(-|z - clip(X)| / scale), X normal: two atoms, two truncated exponential moments."""
    z = np.asarray(z, dtype=float)
    cut = np.clip(z, lo, hi)
    tilt = sd / scale
    a, b, c = (lo - mean) / sd, (hi - mean) / sd, (cut - mean) / sd
    parts = [
        log_ndtr(a) - np.abs(z - lo) / scale,
        log_ndtr(-b) - np.abs(z - hi) / scale,
        -(z - mean) / scale + tilt**2 / 2 + _log_mass(a - tilt + 0 * z, c - tilt),
        (z - mean) / scale + tilt**2 / 2 + _log_mass(c + tilt, b + tilt + 0 * z),
    ]
    return logsumexp(np.stack(np.broadcast_arrays(*parts)), axis=0)


def log_smoothed_by_quadrature(
    z: float, mean: float, sd: float, lo: float, hi: float, scale: float
) -> float:
    """The same by adaptive quadrature over the normal variable (checks the closed form)."""

    def integrand(t: float) -> float:
        kernel = math.exp(-abs(z - min(max(t, lo), hi)) / scale)
        return kernel * math.exp(-0.5 * ((t - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))

    ends = sorted(
        {mean - 12 * sd, mean + 12 * sd, *(t for t in (lo, hi, z, mean) if abs(t - mean) < 12 * sd)}
    )
    pieces = [
        quad(integrand, a, b, epsabs=1e-14, epsrel=1e-12)[0] for a, b in itertools.pairwise(ends)
    ]
    return math.log(sum(pieces))


def laplace_sum_leakage(
    cov: np.ndarray,
    mean: Sequence[float],
    lo: float,
    hi: float,
    eps: float,
    secrets: Sequence[float] | None = None,
    adversary: str = "any",
    step: float = 1e-3,
) -> Measured:
    """Leakage of `clip(X1) + clip(X2) + Laplace((hi - lo)/eps)` over ordered pairs of `secrets`.

    The secrets are the ends of the interval unless given. Both densities are mixtures of Laplace
    kernels, so their logarithms are `1/scale`-Lipschitz in the outcome and parallel outside
    `[2 lo, 2 hi]`: a grid of `step * (hi - lo)` bounds the sup from above too (`upper`).
    """
    cov, scale = np.asarray(cov, dtype=float), (hi - lo) / eps
    values = [lo, hi] if secrets is None else [float(s) for s in secrets]
    spacing = step * (hi - lo)
    outcomes = np.arange(math.floor(2 * lo / spacing), math.ceil(2 * hi / spacing) + 1) * spacing
    best: Measured | None = None
    for record in range(2):
        for known in known_sets(2, record, adversary):
            densities = {}
            for value in values:
                clipped = min(max(value, lo), hi)
                if known:  # only the noise is left; the known value shifts all outcomes
                    densities[value] = -np.abs(outcomes - clipped) / scale
                else:
                    slope, left = conditional(cov, [1 - record], [record])
                    centre = mean[1 - record] + slope[0, 0] * (value - mean[record])
                    sd = math.sqrt(left[0, 0])
                    densities[value] = log_smoothed(outcomes - clipped, centre, sd, lo, hi, scale)
            for value in values:
                for other in values:
                    if value == other:
                        continue
                    loss = densities[value] - densities[other]
                    at = int(np.argmax(loss))
                    upper = float(loss[at]) + spacing / scale + 1e-12
                    if best is None or loss[at] > best.level:
                        best = Measured(
                            float(loss[at]),
                            max(upper, best.upper if best else 0.0),
                            record,
                            known,
                            value,
                            other,
                            float(outcomes[at]),
                        )
    if best is None:
        raise ValueError("secrets must hold two different values")
    return best


# ------------------------------------------------------ more records: weights on coupled draws


def random_weight(
    rng: np.random.Generator, size: int, lo: float, hi: float, rate: float
) -> Callable[[np.ndarray], np.ndarray]:
    """ln g for a random g that is `rate`-log-Lipschitz in l1 of clipped records (one row each).

    Three kinds: a Laplace likelihood of the sum, a tilt with a sign per record (extremal), an
    envelope of cones.
    """
    kind = rng.integers(3)
    if kind == 0:
        outcome = rng.uniform(size * lo - (hi - lo), size * hi + (hi - lo))
        return lambda x: -rate * np.abs(outcome - np.clip(x, lo, hi).sum(axis=1))
    if kind == 1:
        signs = rng.choice([-1.0, 1.0], size=size)
        return lambda x: rate * np.clip(x, lo, hi) @ signs
    centres = rng.uniform(lo, hi, size=(4, size))
    heights = rng.uniform(0, rate * (hi - lo) * size, size=4)

    def envelope(x: np.ndarray) -> np.ndarray:
        far = np.abs(np.clip(x, lo, hi)[:, None, :] - centres[None]).sum(axis=2)
        return np.min(heights + rate * far, axis=1)

    return envelope


@dataclass(frozen=True)
class Trial:
    """One attack with one Lipschitz weight: log ratio of the two conditional expectations."""

    log_ratio: float
    record: int
    known: tuple[int, ...]


def coupled_trial(
    rng: np.random.Generator,
    cov: np.ndarray,
    mean: Sequence[float],
    lo: float,
    hi: float,
    eps: float,
    adversary: str = "any",
    draws: int = 400,
    aligned: bool = False,
) -> Trial:
    """A random attack with secrets in `[lo, hi]` and a random Lipschitz weight, on *coupled* draws.

    The conditional law given `x_i` is a fixed noise around a mean that moves with `x_i`; with the
    same draws on both sides the averages obey every true bound exactly, draw by draw, so no
    sampling error has to be allowed for. With `aligned` the weight and the secrets are the
    extremal ones (tilt along the regression, secrets at the ends, known records such that the
    unknown are centred): near the true supremum when the interval is wide.
    """
    cov, mean = np.asarray(cov, dtype=float), np.asarray(mean, dtype=float)
    n, rate = len(cov), eps / (hi - lo)
    record = int(rng.integers(n))
    choices = list(known_sets(n, record, adversary))
    known = choices[rng.integers(len(choices))]
    unknown = [j for j in range(n) if j != record and j not in known]
    if aligned:
        pairs = ((lo, hi), (hi, lo))
        value, other = pairs[rng.integers(2)]
    else:
        value, other = rng.uniform(lo, hi, size=2)
    beside = mean[list(known)] + rng.normal(size=len(known)) * np.sqrt(np.diag(cov)[list(known)])
    order = [record, *unknown]
    if not unknown:
        databases = [np.array([[side]]) for side in (value, other)]
        slopes = np.zeros(0)
    else:
        slope, left = conditional(cov, unknown, [record, *known])
        slopes = slope[:, 0]
        noise = rng.multivariate_normal(np.zeros(len(unknown)), left, size=draws, method="cholesky")
        if aligned:
            centre = np.full(len(unknown), (lo + hi) / 2) - slopes * (lo + hi) / 2
        else:
            centre = (
                mean[unknown] - slopes * mean[record] + slope[:, 1:] @ (beside - mean[list(known)])
            )
        databases = [
            np.hstack([np.full((draws, 1), side), noise + centre + slopes * side])
            for side in (value, other)
        ]
    if aligned:
        direction = np.sign(value - other) * np.r_[1.0, np.where(slopes < 0, -1.0, 1.0)]
        logs = [rate * np.clip(x, lo, hi) @ direction for x in databases]
    else:
        weight = random_weight(rng, len(order), lo, hi, rate)
        logs = [weight(x) for x in databases]
    return Trial(float(logsumexp(logs[0]) - logsumexp(logs[1])), record, tuple(known))


def integrated_log_ratio(
    log_weight: Callable[[float, float], float],
    slope: float,
    sd: float,
    centre: float,
    value: float,
    other: float,
) -> float:
    """ln E[g(x_i, X_j)] ratio by adaptive quadrature, X_j normal around `centre + slope x_i`."""

    def expectation(side: float) -> float:
        middle = centre + slope * side

        def integrand(t: float) -> float:
            return math.exp(log_weight(side, t) - 0.5 * ((t - middle) / sd) ** 2) / (
                sd * math.sqrt(2 * math.pi)
            )

        cuts = np.linspace(middle - 9 * sd, middle + 9 * sd, 13)
        return sum(quad(integrand, a, b, epsrel=1e-10)[0] for a, b in itertools.pairwise(cuts))

    return math.log(expectation(value) / expectation(other))


# ------------------------------------------------------ records that are vectors


@dataclass(frozen=True)
class Read:
    """A mechanism that reads one column: Lipschitz in it, clipped to `[lo, hi]`, at cost `eps`."""

    column: int
    lo: float
    hi: float
    eps: float


def vector_regression(
    cov: np.ndarray, columns: int, record: int, known: Sequence[int]
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Unknown records, their regression on all columns of the target, and what is left.

    The regression has axes (unknown record, its column, the target's column). Records come one
    after the other in `cov`, `columns` rows each.
    """
    size = len(cov) // columns
    unknown = [j for j in range(size) if j != record and j not in known]

    def rows(records: Sequence[int]) -> list[int]:
        return [j * columns + c for j in records for c in range(columns)]

    slope, left = conditional(cov, rows(unknown), rows([record, *known]))
    return unknown, slope[:, :columns].reshape(len(unknown), columns, columns), left


def vector_level(
    cov: np.ndarray,
    columns: int,
    reads: Sequence[Read],
    widths: Sequence[float],
    adversary: str = "any",
) -> float:
    """max over (i, K) of sum over reads of eps (1 + sum_j min(sum_c |B_jc| width_c / M, 1))."""
    cov, most = np.asarray(cov, dtype=float), sum(read.eps for read in reads)
    size = len(cov) // columns
    for record in range(size):
        for known in known_sets(size, record, adversary):
            if len(known) == size - 1:
                continue
            _, slope, _ = vector_regression(cov, columns, record, known)
            moved = np.abs(slope) @ np.asarray(widths)
            total = sum(
                read.eps * (1 + np.minimum(moved[:, read.column] / (read.hi - read.lo), 1).sum())
                for read in reads
            )
            most = max(most, float(total))
    return most


def vector_trial(
    rng: np.random.Generator,
    cov: np.ndarray,
    columns: int,
    reads: Sequence[Read],
    bounds: Sequence[tuple[float, float]],
    draws: int = 200,
    aligned: bool = False,
) -> float:
    """ln ratio of E[g | x_i, x_K] for secrets in `bounds`, on coupled draws, for a random attack.

    `g` is the product of a random Lipschitz weight for each read: all outputs together. With
    `aligned` the secrets are opposite corners and the weights tilts along the movement.
    """
    cov = np.asarray(cov, dtype=float)
    size = len(cov) // columns
    record = int(rng.integers(size))
    choices = list(known_sets(size, record, "any"))
    known = choices[rng.integers(len(choices))]
    ends = np.asarray(bounds, dtype=float)
    corner = rng.integers(2, size=columns)
    steps = np.arange(columns)
    value, other = ends[steps, corner], ends[steps, 1 - corner]
    if not aligned:
        value, other = rng.uniform(ends[:, 0], ends[:, 1], size=(2, columns))
    unknown: list[int] = []
    if len(known) < size - 1:
        unknown, slope, left = vector_regression(cov, columns, record, known)
        noise = rng.multivariate_normal(np.zeros(len(left)), left, size=draws, method="cholesky")
        noise = noise.reshape(draws, len(unknown), columns)
        shift = slope @ (value - other)
        centre = np.zeros(shift.shape) if aligned else rng.normal(size=shift.shape) * 3
        sides = [noise + centre + shift / 2, noise + centre - shift / 2]
    else:
        shift = np.zeros((0, columns))
        sides = [np.zeros((draws, 0, columns))] * 2
    logs = [np.zeros(draws), np.zeros(draws)]
    for read in reads:
        c, rate = read.column, read.eps / (read.hi - read.lo)
        numbers = [
            np.hstack([np.full((draws, 1), own[c]), side[:, :, c]])
            for own, side in zip((value, other), sides, strict=True)
        ]
        if aligned:
            direction = np.sign(np.r_[value[c] - other[c], shift[:, c]])
            weights = [rate * np.clip(x, read.lo, read.hi) @ direction for x in numbers]
        else:
            weight = random_weight(rng, 1 + len(unknown), read.lo, read.hi, rate)
            weights = [weight(x) for x in numbers]
        logs = [log + more for log, more in zip(logs, weights, strict=True)]
    return float(logsumexp(logs[0]) - logsumexp(logs[1]))
