"""Posteriors over finitely many hypotheses, each of which gives every value a chance.

Given a hypothesis with chances p the counts s of n records are multinomial. They are known with
noise, y = s + noise, so the likelihood of the hypothesis is

    L = sum over all s with s_1 + ... + s_J = n of  n! prod_j p_j^s_j / s_j!  noise(y_j - s_j):

the coefficient of x^n in a product of J power series, one for each value. Their coefficients are
log-concave, so each is known from a window around its peak. The series are tilted (x becomes
e^t x, which moves the coefficient by e^(t n)) until their peaks add up to n: then the coefficient
is near the largest one, and the windows lose nothing that doubles would hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.accounting.costs.rounded import value_words
from bayesdp.errors import inner_probability
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise, CountLaw, convolved
from bayesdp.programs.run.numerics.observed import Answers
from bayesdp.programs.run.results.distributions import Univariate

if TYPE_CHECKING:
    from bayesdp.arrays import Bools, Floats, Ints
    from bayesdp.programs.run.numerics.observed import Source

LEAST = 1e-300
"""A chance below is taken for this one, where counts are taken as true."""
NO_NOISE = 0.01
"""Noise of a smaller scale doesn't move a count."""
NEVER = 1e3
"""Noise of so many scales is not drawn."""
DROP = 50.0
"""How far below their peak, in logarithms, coefficients are left out."""


@dataclass(frozen=True, eq=False)
class PosteriorOfHypotheses(Univariate):
    """Probabilities of hypotheses that lie at `points`, in the order of the program."""

    points: Floats
    weights: Floats
    family: str = "hypotheses"
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{len(self.weights)} hypotheses, mean {value_words(self.mean, self.sd)}>"

    @property
    def mean(self) -> float:
        """The mean of the points."""
        return float(self.weights @ self.points)

    @property
    def sd(self) -> float:
        """The standard deviation of the points."""
        return float(np.sqrt(self.weights @ (self.points - self.mean) ** 2))

    def quantile(self, p: float) -> float:
        """The least point that is not exceeded with probability p or more."""
        inner_probability("p", p)
        order = np.argsort(self.points)
        below = np.cumsum(self.weights[order])
        place = int(np.searchsorted(below, p * below[-1] * (1 - 1e-12)))
        return float(self.points[order][min(place, len(order) - 1)])

    def density(self, x: Any) -> Any:
        """The probability of a point, and 0 elsewhere."""
        held = (np.asarray(x)[..., None] == self.points) @ self.weights
        return float(held) if np.ndim(x) == 0 else held

    def cdf(self, x: Any) -> Any:
        """The probability of all points up to x."""
        held = (np.asarray(x)[..., None] >= self.points) @ self.weights
        return float(held) if np.ndim(x) == 0 else held

    def samples(self, k: int, rng: np.random.Generator | None = None) -> Floats:
        """Independent draws of points."""
        rng = rng if rng is not None else np.random.default_rng()
        return np.asarray(rng.choice(self.points, size=k, p=self.weights))

    def to_dict(self) -> dict[str, Any]:
        """The probabilities as plain data for JSON."""
        return {"value": self.weights.tolist()}


def prior_of(weights: Sequence[float]) -> PosteriorOfHypotheses:
    """A prior with these weights; where its hypotheses lie stands in the likelihood."""
    held = np.asarray(weights)
    return PosteriorOfHypotheses(np.arange(len(held), dtype=np.float64), held / held.sum())


def posterior(
    op: str, source: Source, about: Sequence[float], prior: PosteriorOfHypotheses
) -> PosteriorOfHypotheses:
    """The probabilities of the hypotheses given what was released.

    `op` is "plug-in" or "noise-aware", `about` the likelihood's parameters: how many hypotheses
    there are, where they lie, and the chances of all values under each.
    """
    many = int(about[0])
    points = np.asarray(about[1 : many + 1])
    chances = np.asarray(about[many + 1 :]).reshape(many, -1)
    if isinstance(source, Answers):
        if op != "plug-in":
            chances = source.other + chances * (source.kept - source.other)
        logs = _of_true(source.counts.astype(np.float64), chances)
    elif not source.size:
        logs = np.zeros(many)
    elif op == "plug-in" or source.noise.scale < NO_NOISE:
        counts = np.maximum(np.asarray(source.floats), 0.0)
        if len(counts) == 1:
            true = np.minimum(counts, float(source.size))
            counts = np.concatenate([source.size - true, true])
        logs = _of_true(counts, chances)
    else:
        logs = log_likelihoods(source.floats, source.noise, chances, source.size)
    with np.errstate(divide="ignore"):
        logs = logs + np.log(prior.weights)
    weights = np.exp(logs - logs.max())
    return PosteriorOfHypotheses(points, weights / weights.sum())


def _of_true(counts: Floats, chances: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(chances, LEAST)) @ counts)


def log_likelihoods(
    released: Sequence[float], noise: AddedNoise, chances: Floats, n: int
) -> Floats:
    """The logarithm of L for each row of `chances`, up to a constant that all share.

    `released` are the noisy counts of all values; or one number: that of the second of two.
    """
    both = len(released) == 1
    seen = np.asarray([0.0, *released] if both else released)
    series = _Series(seen, noise, chances, n, np.asarray([not both] + [True] * (len(seen) - 1)))
    tilts = series.tilts()
    laws, heights = series.laws(tilts)
    logs = np.empty(len(chances))
    for k, row in enumerate(laws):
        *first, last = row
        rest = reduce(convolved, first)
        among = float(last.mass @ rest.at(n - last.support))
        logs[k] = np.log(max(among, LEAST)) + heights[k] - tilts[k] * n
    return logs


class _Series:
    """The coefficients of all series: of each hypothesis (row) and each value (column)."""

    def __init__(
        self, seen: Floats, noise: AddedNoise, chances: Floats, n: int, noisy: Bools
    ) -> None:
        """`seen` are the released counts of n records; those not `noisy` are not known at all."""
        self.seen = np.clip(seen, -NEVER * noise.scale, n + NEVER * noise.scale)
        self.noise, self.n, self.noisy = noise, n, noisy
        self.possible = chances > 0
        self.top = np.where(self.possible, n, 0).astype(np.int64)
        self.rates = np.log(n * np.where(self.possible, chances, 1.0))

    def logs(self, s: Ints, tilt: Floats) -> Floats:
        """The logarithms of the tilted coefficients at the counts `s`."""
        from scipy.special import gammaln

        known = np.where(self.noisy, self.noise.log(self.seen - s), 0.0)
        return np.asarray((self.rates + tilt[:, None]) * s - gammaln(s + 1.0) + known)

    def slopes(self, s: Ints) -> Floats:
        """How the logarithm of a coefficient rises from `s` to the next count, without a tilt."""
        known = self.noise.log(self.seen - s - 1) - self.noise.log(self.seen - s)
        return np.asarray(self.rates - np.log(s + 1.0) + np.where(self.noisy, known, 0.0))

    def peaks(self, tilt: Floats) -> Ints:
        """The counts where the tilted coefficients are largest."""
        return _first(
            lambda s: self.slopes(s) + tilt[:, None] <= 0, np.zeros_like(self.top), self.top
        )

    def tilts(self) -> Floats:
        """For each hypothesis the tilt with which the peaks add up to about n."""
        reach = 1.0 + np.abs(
            np.stack([self.slopes(np.zeros_like(self.top)), self.slopes(self.top)])
        )
        most = reach.max(axis=(0, 2))
        low, high = -most, most
        for _ in range(80):
            middle = (low + high) / 2
            short = self.peaks(middle).sum(axis=1) < self.n
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray(high)

    def laws(self, tilts: Floats) -> tuple[list[list[CountLaw]], Floats]:
        """The tilted coefficients around their peaks, and the logarithm of what they were before.

        Of each hypothesis a law for each value, and one number.
        """
        from scipy.special import gammaln

        peaks = self.peaks(tilts)
        most = self.logs(peaks, tilts)
        enough = most - DROP
        left = _first(lambda s: self.logs(s, tilts) >= enough, np.zeros_like(peaks), peaks)
        right = _first(lambda s: self.logs(s, tilts) < enough, peaks, self.top + 1)
        heights, rows = most.sum(axis=1), []
        for k, tilt in enumerate(tilts):
            row = []
            for j, y in enumerate(self.seen):
                s = np.arange(left[k, j], max(right[k, j], left[k, j] + 1), dtype=np.int64)
                logs = (self.rates[k, j] + tilt) * s - gammaln(s + 1.0)
                if self.noisy[j]:
                    logs = logs + self.noise.log(y - s)
                mass = np.exp(logs - most[k, j])
                heights[k] += np.log(mass.sum())
                row.append(CountLaw(int(s[0]), mass / mass.sum()))
            rows.append(row)
        return rows, heights


def _first(holds: Callable[[Ints], Bools], low: Ints, high: Ints) -> Ints:
    """The least counts from `low` on for which something `holds`, which once true stays so.

    `high` where it holds nowhere below.
    """
    low, high = low.copy(), high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        there = holds(middle)
        open_ = low < high
        low, high = np.where(open_ & ~there, middle + 1, low), np.where(open_ & there, middle, high)
    return low
