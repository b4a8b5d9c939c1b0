"""Regressions of truth values (logistic) and counts (Poisson) from noisy moments.

The released numbers are the upper triangle of the moments of (1, u..., w): features u and response
w are scaled into [-1, 1]. Given the features, X'w is sufficient for the coefficients b, and

    X'w given X and b is about normal(sum of u E[w], sum of u u' Var[w]),

where E and Var are those of the likelihood at x'b, of counts after their clip. Both sums go over
the features' values. What is known of these is their noisy moments; so their law is taken as the
one of largest entropy with such moments, on a grid of their bounds: p(u) is proportional to
exp(t'M(u)), M being the moments. Their prior is flat. Released numbers have noise of known law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run import distributions as d
from bayesdp.programs.run.ensemble import drawn, samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesdp.arrays import Floats
    from bayesdp.programs.run.observed import Noisy

LAW = "The features' law is the one of largest entropy with the released moments, up to noise."
POINTS = {1: 15, 2: 9, 3: 5, 4: 4}
"""How many points each feature has on the grid, by the number of features."""
FAR = 30.0
"""Beyond that a likelihood's predictor x'b is held: chances and rates are at their ends there."""


@dataclass(frozen=True)
class RegressionRows:
    """A regression's rows, as the likelihood's parameters state them."""

    family: str
    most: float
    """The largest response."""
    features: tuple[tuple[float, float, int], ...]
    """The least and largest value of each feature, and how many it has (0: many)."""

    @classmethod
    def of(cls, family: str, about: Sequence[float]) -> RegressionRows:
        """Read the parameters of a `logistic` or `poisson_regression` likelihood."""
        triples = zip(about[1::3], about[2::3], about[3::3], strict=True)
        return cls(family, about[0], tuple((low, high, int(many)) for low, high, many in triples))

    @property
    def names(self) -> tuple[str, ...]:
        """The coefficients' names."""
        return tuple(
            "intercept" if not i and low == high else f"b{i}"
            for i, (low, high, _) in enumerate(self.features)
        )

    @property
    def intercept(self) -> bool:
        """Whether a feature is the same in all rows."""
        return any(low == high for low, high, _ in self.features)

    @cached_property
    def grid(self) -> tuple[Floats, Floats]:
        """The features on a grid: as they are, and with the 1 first, scaled."""
        varying = [feature for feature in self.features if feature[0] < feature[1]]
        axes = []
        for low, high, levels in varying:
            axes.append(np.linspace(low, high, levels or POINTS[len(varying)]))
        points = np.asarray(list(product(*axes)), dtype=float).reshape(-1, len(varying))
        scaled = np.empty_like(points)
        for i, (low, high, _) in enumerate(varying):
            middle = (low + high) / 2 if self.intercept else 0.0
            scaled[:, i] = (points[:, i] - middle) / max(high - middle, middle - low)
        columns = iter(points.T)
        whole = [
            np.full(len(points), low) if low == high else next(columns)
            for low, high, _ in self.features
        ]
        first = [np.ones((len(points), 1))] if self.intercept else []
        return np.stack(whole, axis=1), np.concatenate([*first, scaled], axis=1)

    def response(self, predictor: Floats) -> tuple[Floats, Floats]:
        """The mean and the variance of the scaled response at values of x'b."""
        from scipy.special import expit, gammaincc

        held = np.clip(predictor, -FAR, FAR)
        if self.family == "logistic":
            mean = expit(held)
            return 2 * mean - 1, 4 * mean * (1 - mean)
        rate, top = np.exp(held), self.most

        def at_most(k: float) -> Floats | float:
            return gammaincc(k + 1, rate) if k >= 0 else 0.0

        over = 1 - at_most(top - 1)
        mean = rate * at_most(top - 2) + top * over
        second = rate**2 * at_most(top - 3) + rate * at_most(top - 2) + top**2 * over
        variance = np.maximum(second - mean**2, 1e-12)
        return 2 * mean / top - 1, 4 * variance / top**2


class NoisyRegression:
    """The log-density of the features' law (t), the coefficients, and with Laplace noise of X'w."""

    def __init__(
        self,
        source: Noisy,
        design: RegressionRows,
        mean: Floats,
        spread: Floats,
        noise: float | None,
    ) -> None:
        """`noise` stands for the released numbers' own noise where it is not None."""
        self.design, self.mean, self.spread = design, mean, spread
        self.n = float(source.size or 0)
        self.laplace = source.noise.kind == "laplace" and noise is None
        self.scale = source.noise.scale if noise is None else noise
        self.points, self.scaled = design.grid
        whole = unfolded(source.floats)
        width = self.scaled.shape[1]
        self.seen = whole[:width, -1]
        pairs = [(i, j) for i in range(width) for j in range(i, width)]
        columns = [self.scaled[:, i] * self.scaled[:, j] for i, j in pairs]
        varying = [np.ptp(column) > 1e-9 for column in columns]
        self.moments = np.stack(
            [np.zeros(len(self.points))]
            + [column for column, keep in zip(columns, varying, strict=True) if keep],
            axis=1,
        )[:, 1:]
        self.of_features = np.asarray(
            [whole[pair] for pair, keep in zip(pairs, varying, strict=True) if keep]
        )
        self.sizes = (len(self.of_features), len(mean), width if self.laplace else 0)

    def __call__(self, at: Floats) -> Floats:
        """The log-density, up to a constant, of a row for each point."""
        tilts, many, _ = self.sizes
        t, b, z = at[:, :tilts], at[:, tilts : tilts + many], at[:, tilts + many :]
        law = self.law(t)
        logs = -0.5 * (((b - self.mean) / self.spread) ** 2).sum(axis=1)
        if tilts:
            means = law @ self.moments
            centred = self.moments[None] - means[:, None, :]
            spread = np.einsum("bk,bki,bkj->bij", law, centred, centred)
            sign, volume = np.linalg.slogdet(spread)
            logs = logs + np.where(sign > 0, volume, -np.inf)  # flat in the moments
            logs = logs + self.noise_at(self.of_features - self.n * means)
        centre, covariance = self.sums(law, b)
        size = centre.shape[1]
        root = np.linalg.cholesky(
            covariance + (1e-9 if self.laplace else self.scale**2) * np.eye(size)
        )
        if self.laplace:
            true = centre + np.einsum("bij,bj->bi", root, z)
            return np.asarray(logs + self.noise_at(self.seen - true) - 0.5 * (z**2).sum(axis=1))
        off = np.linalg.solve(root, (self.seen - centre)[..., None])[..., 0]
        heights = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(logs - 0.5 * (off**2).sum(axis=1) - heights)

    def law(self, t: Floats) -> Floats:
        """The probability of each point of the grid."""
        logs = t @ self.moments.T
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def noise_at(self, off: Floats) -> Floats:
        """The noise's log-density where released and true numbers are so far apart."""
        each = -np.abs(off) / self.scale if self.laplace else -0.5 * (off / self.scale) ** 2
        return np.asarray(each.sum(axis=1))

    def sums(self, law: Floats, b: Floats) -> tuple[Floats, Floats]:
        """The mean and covariance of X'w."""
        mean, variance = self.design.response(b @ self.points.T)
        u = self.scaled
        centre = self.n * (law * mean) @ u
        return centre, self.n * np.einsum("bk,ki,kj->bij", law * variance, u, u)

    def start(self) -> tuple[Floats, Floats]:
        """A point that fits, and about how far the density reaches around it."""
        from scipy.optimize import minimize

        size = sum(self.sizes)

        def height(at: Floats) -> float:
            value = float(self(at[None])[0])
            return -value if np.isfinite(value) else 1e12

        begin = np.zeros(size)
        begin[self.sizes[0] : self.sizes[0] + self.sizes[1]] = self.mean
        best = minimize(height, begin, method="BFGS", options={"maxiter": 60})
        reach = np.sqrt(np.maximum(np.diag(best.hess_inv), 1e-12))
        return np.asarray(best.x), np.asarray(np.clip(reach, 1e-6, 3.0))


def unfolded(values: tuple[float, ...]) -> Floats:
    """The symmetric matrix with this upper triangle."""
    size = int((np.sqrt(8 * len(values) + 1) - 1) / 2)
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = values
    return matrix + np.triu(matrix, 1).T


def posterior(
    source: Noisy,
    family: str,
    about: Sequence[float],
    prior: d.Distribution,
    aware: bool = True,
) -> d.Distribution:
    """The coefficients given noisy moments, as draws; without records it is their prior.

    `aware`: the noise counts; else the released numbers are taken as true.
    """
    design = RegressionRows.of(family, about)
    size = len(design.features)
    mean = np.broadcast_to(np.asarray(prior.mean, dtype=float), (size,))
    spread = np.broadcast_to(np.asarray(prior.sd, dtype=float), (size,))
    rng = np.random.default_rng()
    if source.size == 0:
        parts = zip(mean.tolist(), spread.tolist(), strict=True)
        marginals = tuple(d.single("normal", m, s) for m, s in parts)

        def draw(k: int, rng: np.random.Generator) -> Floats:
            return np.asarray(rng.normal(mean, spread, size=(k, size)))

        return d.Joint("normal", design.names, marginals, draw)
    little = None if aware else 0.02 * float(source.size or 1) ** 0.5
    target = NoisyRegression(source, design, mean, spread, little)
    start, reach = target.start()
    first = target.sizes[0]
    chains = drawn(target, start, reach, rng)[..., first : first + size]
    return samples("regression", design.names, chains, (LAW,))
