"""Regressions of truth values (logistic) and counts (Poisson) from noisy moments.

The released numbers are the upper triangle of the moments of (1, u..., w): features u and response
w are scaled into [-1, 1]. Given the features, X'w is sufficient for the coefficients b, and

    X'w given X and b is about normal(sum of u E[w], sum of u u' Var[w]),

where E and Var are those of the likelihood at x'b, of counts after their clip. Both sums go over
the features' values. What is known of these is their noisy moments; so their law is taken as the
one of largest entropy with such moments: p(u) is proportional to exp(t'M(u)), M being the moments.
The n records' features are a sample of it that has these moments: the sum of u E[w] then still
varies, by n times the part of Cov[u E[w]] that isn't linear in M, and this is added. (Without it
intervals of Poisson coefficients far from 0 were too narrow, however many records.)
Sums over it go over a grid; of a feature with many values it is that of a Gauss-Lobatto rule, whose
weights are those of an even law, and which has the bounds, where clipped values are. The moments'
prior is flat. Released numbers have noise of known law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.ensemble import drawn, samples
from bayesdp.programs.run.numerics.peaks import climbed
from bayesdp.programs.run.results import distributions as d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesdp.arrays import Floats
    from bayesdp.programs.run.numerics.observed import Noisy

LAW = "The features' law is the one of largest entropy with the released moments, up to noise."
POINTS = {1: 15, 2: 9, 3: 5, 4: 4}
"""How many points each feature has on the grid, by the number of features."""
FAR = 30.0
"""Beyond that a likelihood's predictor x'b is held: chances and rates are at their ends there."""
STEPS = 120
"""Entries of a unit of the predictor in tables of responses; of up to k they bend as its root."""

RIDGE = 1e-9
"""Added to the covariance of moments before it is inverted: laws of a single point have none."""


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
            nodes, _ = _axis(levels, len(varying))
            axes.append(low + (high - low) * nodes)
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

    @cached_property
    def even(self) -> Floats:
        """The logarithm of each point's probability under even laws of the features."""
        varying = [levels for low, high, levels in self.features if low < high]
        each = [_axis(levels, len(varying))[1] for levels in varying]
        return np.asarray([np.log(weights).sum() for weights in product(*each)])

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

    @cached_property
    def table(self) -> Floats:
        """The response's mean and variance at predictors from -FAR to FAR, in equal steps."""
        many = 2 * int(FAR * STEPS * min(self.most, 1e6) ** 0.25)
        return np.stack(self.response(np.linspace(-FAR, FAR, many + 1)))

    def looked_up(self, predictor: Floats) -> tuple[Floats, Floats]:
        """`response` between the entries of its table: within 1e-5 of each rate, and faster."""
        if self.family == "logistic":
            return self.response(predictor)
        last = self.table.shape[1] - 1
        place = (np.clip(predictor, -FAR, FAR) + FAR) * (last / (2 * FAR))
        whole = np.minimum(place.astype(np.int64), last - 1)
        below = self.table[:, whole]
        mean, variance = below + (place - whole) * (self.table[:, whole + 1] - below)
        return mean, variance


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
        whole = source.moments
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
        self.middle = self.moments.mean(axis=0)
        self.products = _products(self.moments - self.middle)
        self.squares = _products(self.scaled)
        wide, about = self.scaled[:, :, None], (self.moments - self.middle)[:, None, :]
        self.mixed = (wide * about).reshape(len(self.points), -1)
        own = 1e-9 if self.laplace else self.scale**2
        self.own = own * np.eye(width)

    def __call__(self, at: Floats) -> Floats:
        """The log-density, up to a constant, of a row for each point."""
        tilts, many, _ = self.sizes
        t, b, z = at[:, :tilts], at[:, tilts : tilts + many], at[:, tilts + many :]
        law = self.law(t)
        logs = -0.5 * (((b - self.mean) / self.spread) ** 2).sum(axis=1)
        off = law @ self.moments - self.middle
        spread = (law @ self.products).reshape(-1, tilts, tilts) - off[:, :, None] * off[:, None, :]
        if tilts:
            logs = logs + _log_volume(spread)
            logs = logs + self.noise_at(self.of_features - self.n * (off + self.middle))
        centre, covariance = self.sums(law, b, off, spread)
        root = np.asarray(np.linalg.cholesky(covariance + self.own), dtype=np.float64)
        if self.laplace:
            true = centre + np.einsum("bij,bj->bi", root, z)
            return np.asarray(logs + self.noise_at(self.seen - true) - 0.5 * (z**2).sum(axis=1))
        off = _solved(root, self.seen - centre)
        heights = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(logs - 0.5 * (off**2).sum(axis=1) - heights)

    def law(self, t: Floats) -> Floats:
        """The probability of each point of the grid."""
        logs = t @ self.moments.T + self.design.even
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def noise_at(self, off: Floats) -> Floats:
        """The noise's log-density where released and true numbers are so far apart."""
        each = -np.abs(off) / self.scale if self.laplace else -0.5 * (off / self.scale) ** 2
        return np.asarray(each.sum(axis=1))

    def sums(self, law: Floats, b: Floats, off: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """The mean and covariance of X'w.

        `law` are probabilities of the grid's points, `b` the coefficients, a row for each point;
        `off` and `spread` the mean (less `middle`) and covariance of the features' moments.
        """
        mean, variance = self.design.looked_up(b @ self.points.T)
        width, tilts = self.scaled.shape[1], off.shape[1]
        weighted = law * mean
        centre = weighted @ self.scaled
        varies = (law * (variance + mean**2)) @ self.squares
        covariance = varies.reshape(-1, width, width) - centre[:, :, None] * centre[:, None, :]
        if tilts:  # the part of u E[w] that is linear in the moments does not vary
            shared = (weighted @ self.mixed).reshape(-1, width, tilts)
            shared = shared - centre[:, :, None] * off[:, None, :]
            held = spread + RIDGE * np.eye(tilts)
            linear = np.linalg.solve(held, np.swapaxes(shared, 1, 2))
            covariance = covariance - shared @ linear
        return self.n * centre, self.n * covariance

    def start(self) -> tuple[Floats, Floats]:
        """A point that fits, and about how far the density reaches around it."""
        begin = np.zeros(sum(self.sizes))
        begin[self.sizes[0] : self.sizes[0] + self.sizes[1]] = self.mean
        best = climbed(self, begin, "BFGS", 60)
        reach = np.sqrt(np.maximum(np.diag(best.hess_inv), 1e-12))
        return np.asarray(best.x), np.asarray(np.clip(reach, 1e-6, 3.0))


@lru_cache(maxsize=64)
def _axis(levels: int, features: int) -> tuple[Floats, Floats]:
    """The grid of a feature that lies in [0, 1], and each point's probability under an even law.

    `levels` is how many values it has (0: many), `features` the number of features.
    """
    if levels:
        return np.linspace(0.0, 1.0, levels), np.full(levels, 1 / levels)
    many = POINTS[features]
    law = np.polynomial.Legendre.basis(many - 1)
    nodes = np.concatenate([[-1.0], np.sort(law.deriv().roots().real), [1.0]])
    weights = 1 / (many * (many - 1) * law(nodes) ** 2)
    return (1 + nodes) / 2, weights


def _products(rows: Floats) -> Floats:
    """The products of each row's entries with one another, side by side."""
    return np.asarray((rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1))


def _log_volume(spread: Floats) -> Floats:
    """The log-determinant of each matrix: the law is flat in the moments. -inf where it is 0."""
    if spread.shape[1] > 2:
        sign, volume = np.linalg.slogdet(spread)
    else:  # by hand, for speed
        even = spread.shape[1] == 2
        crossed = spread[:, 0, 1] ** 2 if even else 0.0
        size = spread[:, 0, 0] * spread[:, -1, -1] - crossed if even else spread[:, 0, 0]
        sign, volume = size > 0, np.log(np.maximum(size, 1e-300))
    return np.where(sign > 0, volume, -np.inf)


def _solved(root: Floats, right: Floats) -> Floats:
    """Each lower triangular matrix's solution, entry by entry."""
    off = np.empty_like(right)
    for i in range(right.shape[1]):
        known = (root[:, i, :i] * off[:, :i]).sum(axis=1)
        off[:, i] = (right[:, i] - known) / root[:, i, i]
    return off


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
