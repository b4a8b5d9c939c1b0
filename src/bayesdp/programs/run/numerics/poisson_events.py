"""Noisy counts of Poisson events: the density of what was released, at any mean.

With Laplace noise of scale b the sum over the true counts e is one of two tails. Up to k, the whole
number below the released y, it is exp(-y/b) times the sum of (m e^(1/b))^e / e!, a Poisson law's
lower tail; above k it is exp(y/b) times the sum of (m e^(-1/b))^e / e!, an upper one. Otherwise it
is summed. At most n events come. Either is held in a table, in steps of the mean's square root,
where the density bends alike everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import DROP, AddedNoise

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

TABLE = 2001
"""Entries of a table, and the most true counts that are summed."""
BEYOND = 12.0
"""How far a table goes above the largest count, in roots: at least 24 standard deviations."""


@dataclass(frozen=True)
class EventTables:
    """The densities of several noisy counts, each at a mean of its own."""

    rows: Floats
    """The log-density plus the mean, a row of entries for each count."""
    most: Floats
    """The largest mean in each table."""
    high: Floats
    """The largest true count that is looked at."""

    @classmethod
    def of(cls, seen: Sequence[float], noise: AddedNoise, n: float) -> EventTables:
        """Tables of noisy counts `seen`, of which each is at most n before the noise."""
        reach = (DROP if noise.kind == "laplace" else (2 * DROP) ** 0.5) * noise.scale
        counts = np.asarray(seen, dtype=float)
        low = np.floor(np.clip(counts - reach, 0.0, n))
        high = np.ceil(np.clip(counts + reach, 0.0, n))
        most = (high**0.5 + BEYOND) ** 2
        share = np.linspace(0.0, 1.0, TABLE)
        share[0] = 1e-8
        rows = []
        for y, first, last, top in zip(counts, low, high, most, strict=True):
            log_means = 2 * np.log(share * top**0.5)
            if noise.kind == "laplace" and last < n:
                rows.append(_by_tails(float(y), noise.scale, log_means))
            else:
                rows.append(_by_sum(float(y), noise, (float(first), float(last)), log_means))
        return cls(np.stack(rows), most, high)

    def each(self, means: Floats) -> Floats:
        """The log-density of each count, up to a constant, in rows of means."""
        held = np.minimum(means, self.most)
        place = np.sqrt(held / self.most) * (TABLE - 1)
        whole = np.minimum(place.astype(np.int64), TABLE - 2)
        at = whole + TABLE * np.arange(len(self.most))
        flat = self.rows.ravel()
        below = flat[at]
        lifted = below + (place - whole) * (flat[at + 1] - below)
        # Above a table one number of events counts, the largest: the end grows with it.
        with np.errstate(divide="ignore"):
            above = self.high * np.log(np.maximum(means, self.most) / self.most)
        return np.asarray(lifted + above - means)


def log_events(seen: float, noise: AddedNoise, n: float) -> Callable[[Floats], Floats]:
    """The log-density, up to a constant, of the noisy number of events at a mean."""
    tables = EventTables.of([seen], noise, n)

    def at(means: Floats) -> Floats:
        return tables.each(means[..., None])[..., 0]

    return at


def _by_sum(y: float, noise: AddedNoise, ends: tuple[float, float], log_means: Floats) -> Floats:
    from scipy.special import gammaln, logsumexp

    events, stands_for = _summed(*ends, noise.scale)
    logs = noise.log(y - events) - gammaln(events + 1) + np.log(stands_for)
    parts = [
        logsumexp(logs + events * part[:, None], axis=1) for part in np.array_split(log_means, 32)
    ]
    return np.concatenate(parts)


def _summed(low: float, high: float, scale: float) -> tuple[Floats, Floats]:
    """The true counts that are summed, and how many each stands for.

    All, or where they are too many, some: apart by at most a quarter of a Poisson law's standard
    deviation there, and by an eighth of the noise's scale.
    """
    if high - low < TABLE:
        events = np.arange(low, high + 1)
        return events, np.ones(len(events))
    turn = min(max((scale / 4) ** 2, low), high)
    many = int(min(8 * (turn**0.5 - low**0.5), 2 * TABLE)) + 2
    near = np.linspace(low**0.5, turn**0.5, many) ** 2
    far = np.linspace(turn, high, int((high - turn) / max(scale / 8, 1.0)) + 2)
    events = np.unique(np.concatenate([near, far]).round())
    middles = np.concatenate([[low - 0.5], (events[1:] + events[:-1]) / 2, [high + 0.5]])
    return events, np.diff(middles)


def _by_tails(y: float, b: float, log_means: Floats) -> Floats:
    """The logarithm of the sum of exp(-|y - e| / b) m^e / e! over all e from 0."""
    k = np.floor(y)
    above = y / b + log_tail(k, log_means - 1 / b, True)
    if k < 0:
        return above
    return np.asarray(np.logaddexp(-y / b + log_tail(k, log_means + 1 / b, False), above))


def log_tail(k: float, log_mean: Floats, upper: bool) -> Floats:
    """The logarithm of the sum of m^e / e! over the whole numbers e up to k, or above it.

    Where a tail is below what doubles hold, its largest term and a geometric series stand for it.
    """
    from scipy.special import gammainc, gammaincc, gammaln

    mean = np.exp(np.minimum(log_mean, 700.0))
    if k < 0:
        return mean
    with np.errstate(divide="ignore"):
        logs = mean + np.log((gammainc if upper else gammaincc)(k + 1, mean))
    rare = ~np.isfinite(logs)
    if rare.any():
        edge = k + 1 if upper else k
        ratio = mean[rare] / (k + 2) if upper else k / mean[rare]
        logs[rare] = edge * log_mean[rare] - gammaln(edge + 1) - np.log1p(-ratio)
    return np.asarray(logs)
