"""Mixtures of normal laws with known standard deviations, from a noisy histogram.

Each part has a mean of its own, all with one prior, and the shares have a uniform one. A record is
counted in a bin; its first and last bin hold what was clipped as well, so the clip is part of the
model. Given the parameters the counts are multinomial; they are taken as independent Poisson
numbers with the same means, whose sum over all counts with the noise's law is in a table for each
bin. Without noise this is exact: the means add up to the number of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.ensemble import drawn, samples
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.peaks import climbed
from bayesdp.programs.run.numerics.poisson_events import EventTables
from bayesdp.programs.run.results.distributions import Samples, Univariate

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.numerics.observed import Noisy

INDEPENDENT = "The counts of the histogram are taken as independent, given their means."
TRIED, IMPROVED = 4000, 5
"""How many parameters from the prior are tried, and of how many the next peak is looked for."""


class NoisyMixture:
    """The log-density of the parts' means and of their shares, as log-ratios to the last one."""

    def __init__(
        self, source: Noisy, about: Sequence[float], prior: Univariate, aware: bool
    ) -> None:
        """`about` is the likelihood's: least value, width of a bin, standard deviations."""
        low, width, *deviations = about
        self.n, self.prior = float(source.size or 0), prior
        self.deviations = np.asarray(deviations)
        bins = len(source.values)
        self.inner = low + width * np.arange(1, bins)
        noise = source.noise if aware else AddedNoise("gaussian", 1e-6)
        seen = source.floats
        if not aware:
            counts_from_zero = np.maximum(np.asarray(seen), 0.0)
            whole = counts_from_zero * self.n / max(float(counts_from_zero.sum()), 1e-9)
            seen = tuple(float(count) for count in whole.round())
        self.counts = EventTables.of(seen, noise, self.n)

    def __call__(self, at: Floats) -> Floats:
        """The log-density, up to a constant, of a row for each point."""
        from scipy.special import ndtr

        parts = len(self.deviations)
        means = at[:, :parts]
        ratios = np.concatenate([at[:, parts:], np.zeros((len(at), 1))], axis=1)
        ratios -= ratios.max(axis=1, keepdims=True)
        shares = ratios - np.log(np.exp(ratios).sum(axis=1, keepdims=True))
        # The prior of the shares is uniform; in log-ratios its density is their product.
        logs = self.prior.log_density(means).sum(axis=1) + shares.sum(axis=1)
        below = ndtr((self.inner[None, :, None] - means[:, None, :]) / self.deviations)
        within = (below @ np.exp(shares)[:, :, None])[:, :, 0]
        ends = np.zeros((len(at), 1)), np.ones((len(at), 1))
        expected = self.n * np.maximum(np.diff(np.hstack([ends[0], within, ends[1]])), 1e-300)
        return np.asarray(logs + self.counts.each(expected).sum(axis=1))

    def starts(self, rng: np.random.Generator) -> Floats:
        """Peaks of the density, each as often as it is high."""
        parts = len(self.deviations)
        tried = np.concatenate(
            [
                self.prior.samples(TRIED * parts, rng).reshape(TRIED, parts),
                rng.logistic(size=(TRIED, parts - 1)),
            ],
            axis=1,
        )
        best = tried[np.argsort(-self(tried))[:IMPROVED]]
        peaks = [climbed(self, at, "Nelder-Mead", 400) for at in best]
        heights = np.asarray([-peak.fun for peak in peaks])
        weights = np.exp(heights - heights.max())
        drawn_places = rng.choice(len(peaks), size=64, p=weights / weights.sum())
        return np.stack([peaks[i].x for i in drawn_places])


def posterior(
    source: Noisy, about: Sequence[float], prior: Univariate, aware: bool = True
) -> Samples:
    """Draws of the parts' means, and of their shares; parts with one deviation by their means.

    `about` are the likelihood's parameters; `aware`: the noise counts.
    """
    from scipy.special import softmax

    rng = np.random.default_rng()
    law = NoisyMixture(source, about, prior, aware)
    parts = len(law.deviations)
    reach = np.asarray([0.05 * float(prior.sd)] * parts + [0.05] * (parts - 1))
    chains = drawn(law, law.starts(rng), reach, rng, thin=8)
    means, ratios = chains[..., :parts], chains[..., parts:]
    shares = softmax(np.concatenate([ratios, np.zeros((*ratios.shape[:-1], 1))], axis=-1), axis=-1)
    for deviation in np.unique(law.deviations):
        same = np.flatnonzero(law.deviations == deviation)
        order = np.argsort(means[..., same], axis=-1)
        means[..., same] = np.take_along_axis(means[..., same], order, axis=-1)
        shares[..., same] = np.take_along_axis(shares[..., same], order, axis=-1)
    names = tuple(f"{what} {i + 1}" for what in ("mean", "share") for i in range(parts))
    whole = np.concatenate([means, shares], axis=-1)
    return samples("mixture", names, whole, (INDEPENDENT,))
