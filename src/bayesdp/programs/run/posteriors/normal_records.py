"""The mean and standard deviation of normal records, both unknown, from noisy sums.

The released numbers are the moments of (1, u), u being the record scaled into [-1, 1]. Given the
mean m and the variance v of n records, their sum S is normal and their squared deviations Q, v
times chi-squared with n - 1 degrees, are independent of it; so the density of (S, Q) is
proportional to Q^((n - 3) / 2) v^(-n / 2) exp(-(Q + n (S / n - m)^2) / 2 v), and the prior
normal-inverse-gamma integrates m and v out. What is left is a density of S and Q alone, times that
of the noise: it is drawn from on a grid, and then v and m given both. The draws are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.run.results.diagnostics import exact_samples

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.numerics.observed import Noisy

CLIP = "The clip of the records is not part of the model."
NAMES = ("mean", "sd")
DRAWS = 20_000
_FAR = {"laplace": 25.0, "gaussian": 8.0}
_POINTS = 401


class InverseGamma:
    """The prior's numbers, updated by sums: mean m, strength k, and shape and scale of v."""

    def __init__(self, prior: Sequence[float], n: float) -> None:
        self.mean, self.strength, self.shape, self.scale = prior
        self.n = n

    def updated(self, average: Floats, deviations: Floats) -> tuple[Floats, float, float, Floats]:
        """The same four given the records' average and their sum of squared deviations."""
        k = self.strength + self.n
        mean = (self.strength * self.mean + self.n * average) / k
        off = self.strength * self.n * (average - self.mean) ** 2 / (2 * k)
        return mean, k, self.shape + self.n / 2, self.scale + deviations / 2 + off


def prior_of(numbers: Sequence[float]) -> d.Joint:
    """The prior: its mean, strength, shape and scale are its parameters."""
    mean, strength, shape, scale = numbers

    def draw(many: int, rng: np.random.Generator) -> Floats:
        variance = _held(scale / np.maximum(rng.gamma(shape, size=many), 1e-140))
        both = [rng.normal(mean, np.sqrt(variance / strength)), np.sqrt(variance)]
        return np.stack(both, axis=1)

    return d.Joint("normal", NAMES, (), draw, (), tuple(numbers))


def _held(variance: Floats) -> Floats:
    """Variances whose squares are doubles: a shape near 0 has others."""
    return np.asarray(np.clip(variance, 1e-150, 1e150))


def posterior(
    source: Noisy,
    about: list[float],
    prior: d.Distribution,
    aware: bool = True,
) -> d.Samples:
    """Draws of the mean and the standard deviation; `prior` is one of `prior_of`.

    `about` is the middle and the reach of the records' bounds; `aware`: the noise counts.
    """
    assert isinstance(prior, d.Joint)
    assert prior.parameters is not None
    n = float(source.size or 0)
    rng, law = np.random.default_rng(), InverseGamma(prior.parameters, n)
    average, deviations = _sums(source, about, law, aware, rng)
    mean, k, shape, scale = law.updated(average, deviations)
    variance = _held(scale / np.maximum(rng.gamma(shape, size=DRAWS), 1e-140))
    draws = np.stack([rng.normal(mean, np.sqrt(variance / k)), np.sqrt(variance)], axis=1)

    def draw(many: int, _: np.random.Generator) -> Floats:
        return draws[:many]

    whole = d.Joint("normal", NAMES, (), draw, (CLIP,) if n else ())
    return exact_samples(whole, DRAWS, NAMES)


def _sums(
    source: Noisy,
    about: list[float],
    law: InverseGamma,
    aware: bool,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Draws of the records' average and squared deviations, given the noisy sums of u and u^2."""
    n, (middle, reach) = law.n, about
    if not n:
        return np.zeros(DRAWS), np.zeros(DRAWS)
    first, second = source.floats[1] / n, source.floats[2] / n
    if not aware:
        share = np.full(DRAWS, min(max(first, -1.0), 1.0))
        off = np.maximum(min(max(second, 0.0), 1.0) - share**2, 0.0)
        return middle + reach * share, reach**2 * n * off
    width = _FAR[source.noise.kind] * source.noise.scale / n
    shares = _around(first, width, -1.0, 1.0)
    squares = second - shares**2  # the mean squared deviation, as it was released
    lows, highs = (np.clip(end, 0.0, 1.0) for end in (squares - width, squares + width))
    # Even steps where the noise is narrow; in the logarithm where it reaches down to 0.
    steps = np.linspace(0.0, 1.0, _POINTS)
    top = np.maximum(highs, 1e-9)
    bottom = np.maximum(lows, 1e-9 * top)
    narrow = bottom > 0.5 * top
    even = bottom[:, None] + (top - bottom)[:, None] * steps
    curved = bottom[:, None] * (top / bottom)[:, None] ** steps
    off = np.where(narrow[:, None], even, curved)
    wide = np.log(np.maximum(top / bottom, 1.0001))
    slope = np.where(narrow[:, None], (top - bottom)[:, None], off * wide[:, None])
    average, deviations = middle + reach * shares[:, None], reach**2 * n * off
    _, _, shape, scale = law.updated(average, deviations)
    logs = (
        max(n - 3.0, -1.0) / 2 * np.log(off)
        - shape * np.log(scale)
        + source.noise.log(source.floats[1] - n * shares)[:, None]
        + source.noise.log(source.floats[2] - n * (off + shares[:, None] ** 2))
        + np.log(slope)
    )
    weights = np.exp(logs - logs.max()).ravel()
    drawn_cells = rng.choice(len(weights), size=DRAWS, p=weights / weights.sum())
    return np.broadcast_to(average, off.shape).ravel()[drawn_cells], deviations.ravel()[drawn_cells]


def _around(middle: float, width: float, low: float, high: float) -> Floats:
    """Points around a number, inside two ends."""
    left, right = min(max(middle - width, low), high), min(max(middle + width, low), high)
    if right - left < 1e-12:
        return np.full(1, left)
    return np.linspace(left, right, _POINTS)
