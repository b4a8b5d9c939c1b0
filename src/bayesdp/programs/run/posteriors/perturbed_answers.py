"""Posteriors from answers that each record perturbed by itself, with a law that is known.

A record with the value v answers c with the probability K(c | v), and v lies in a column whose
cells are held between two bounds. If v has the density of a model with parameter theta,

    P(c | theta) = integral of K(c | v) over the law of v,

and answers of different records are independent, so the likelihood is the product over answers.
The column is cut into cells: of a `whole` column one for each number (normal laws are rounded to
them), else many of one width, with a point at either end for what the bounds hold. What is clipped
is thus a part of the model.

A line's feature has a law of its own, which nobody states: a histogram whose shares have a flat
prior. Feature and response answer separately, given their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.ensemble import drawn, samples
from bayesdp.programs.run.numerics.observed import AnswerChannel, Answers
from bayesdp.programs.run.numerics.peaks import climbed
from bayesdp.programs.run.numerics.quadrature import by_quadrature
from bayesdp.programs.run.results.distributions import Density, Samples, Univariate

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.results.distributions import CredibleInterval

CELLS, LINE_CELLS, BINS = 300, 36, 6
"""Cells of a column for one number, and for a line; bins of a feature's histogram."""
HISTOGRAM = "The feature's law is a histogram whose shares have a flat prior."
MEANS, FAR = 4001, 8.0
"""Means of a response in a table, and how many standard deviations beyond its bounds they end."""
AUGMENTED = (4, 500, 2500)
"""Of labels: chains, steps to warm up, steps kept (of each chain)."""
LEAST = 1e-290
LARGEST_MEAN = 1e12


class _Cells:
    """A column in cells: their middles, and the edges between them, the outer ones infinite."""

    def __init__(self, channel: AnswerChannel, many: int) -> None:
        low, high = channel.low, channel.high
        if channel.whole:
            self.middles = np.arange(low, high + 1)
            inner = self.middles[1:] - 0.5
        else:
            inner = np.linspace(low, high, many + 1)
            self.middles = np.concatenate([[low], (inner[1:] + inner[:-1]) / 2, [high]])
        self.edges = np.concatenate([[-np.inf], inner, [np.inf]])
        self.channel = channel.law(self.middles)

    def normal(self, means: Floats, sd: float) -> Floats:
        """The mass of each cell (last axis) under normal laws with these means."""
        from scipy.special import ndtr

        at = (self.edges - means[..., None]) / sd
        # From the nearer tail, so that small masses are not lost in differences near 1.
        tails, above = ndtr(-np.abs(at)), at > 0
        apart = np.abs(np.diff(tails, axis=-1))
        across = above[..., 1:] & ~above[..., :-1]
        return np.asarray(np.where(across, 1.0 - tails[..., 1:] - tails[..., :-1], apart))

    def poisson(self, means: Floats) -> Floats:
        """The mass of each cell under Poisson laws with these means; the last holds the rest."""
        from scipy.special import pdtr

        below = pdtr(np.floor(self.edges[1:-1]), np.minimum(means[..., None], LARGEST_MEAN))
        first = np.zeros((*means.shape, 1))
        whole = np.concatenate([first, below, first + 1.0], axis=-1)
        return np.asarray(np.maximum(np.diff(whole, axis=-1), 0.0))


def counts_of(answers: Answers, channel: AnswerChannel) -> Floats:
    """How often each answer was given."""
    places = np.searchsorted(channel.answers, answers.values)
    held = np.clip(places, 0, len(channel.answers) - 1)
    return np.bincount(held, minlength=len(channel.answers)).astype(np.float64)


def posterior(
    answers: Answers, family: str, about: Sequence[float], prior: Univariate,
    space: tuple[str, CredibleInterval],
) -> Density:  # fmt: skip
    """The mean of numbers, or a rate of counts, given noisy answers.

    `family` is normal or poisson, `about` the likelihood's parameter: the standard deviation, or
    the exposure of all records together. `space` is where the prior lies.
    """
    channel = answers.channel
    assert channel is not None
    cells, counts = _Cells(channel, CELLS), counts_of(answers, channel)
    share = about[0] / max(len(answers.values), 1)

    def logs(x: Floats) -> Floats:
        log_likelihood = np.empty(len(x))
        for start in range(0, len(x), 512):
            part = x[start : start + 512]
            mass = (
                cells.normal(part, about[0]) if family == "normal" else cells.poisson(part * share)
            )
            seen = mass @ cells.channel
            log_likelihood[start : start + 512] = np.log(np.maximum(seen, LEAST)) @ counts
        return np.asarray(log_likelihood + prior.log_density(x))

    return by_quadrature("normal" if family == "normal" else "gamma", logs, *space)


# -- lines -----------------------------------------------------------------------------------------


class _Line:
    """The log-density of a line's coefficients, and of the shares of its feature's histogram.

    Entries: the coefficients, then log-ratios of the shares to the last one.
    """

    def __init__(
        self, feature: Answers, response: Answers, about: Sequence[float], prior: Univariate
    ) -> None:
        """`about` are the response's noise, and 1 for a line with an intercept."""
        assert feature.channel is not None
        assert response.channel is not None
        self.sd, intercept = about
        self.size = 2 if intercept else 1
        self.prior = prior
        self.x, self.y = _Cells(feature.channel, LINE_CELLS), _Cells(response.channel, LINE_CELLS)
        # The law of the response's answer, by the mean of the response.
        beyond = (self.y.middles[0] - FAR * self.sd, self.y.middles[-1] + FAR * self.sd)
        self.means = np.linspace(*beyond, MEANS)
        self.answered = self.y.normal(self.means, self.sd) @ self.y.channel
        self.design = np.stack([np.ones_like(self.x.middles), self.x.middles])[-self.size :]
        bins = min(BINS, len(self.x.middles))
        reach = feature.channel.high - feature.channel.low
        place = (self.x.middles - feature.channel.low) / reach * bins
        self.bin = np.clip(place.astype(int), 0, bins - 1)
        # Within a bin the cells are alike; the points at the ends count as one cell each.
        self.within = 1 / np.bincount(self.bin, minlength=bins)[self.bin]
        codes = [
            np.searchsorted(channel.answers, part.values)
            for channel, part in ((feature.channel, feature), (response.channel, response))
        ]
        shape = (self.x.channel.shape[1], self.y.channel.shape[1])
        flat = np.ravel_multi_index(codes, shape, mode="clip")
        self.counts = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)

    def __call__(self, at: Floats) -> Floats:
        """The log-density, up to a constant, of a row for each point."""
        from scipy.special import log_softmax

        coefficients = at[:, : self.size]
        ratios = np.concatenate([at[:, self.size :], np.zeros((len(at), 1))], axis=1)
        shares = log_softmax(ratios, axis=1)
        # The prior of the shares is uniform; in log-ratios its density is their product.
        logs = self.prior.log_density(coefficients).sum(axis=1) + shares.sum(axis=1)
        weights = np.exp(shares)[:, self.bin] * self.within
        low, step = self.means[0], self.means[1] - self.means[0]
        place = np.clip((coefficients @ self.design - low) / step, 0, MEANS - 1.001)
        first = place.astype(np.int64)
        part = (place - first)[..., None]
        answered = (1 - part) * self.answered[first] + part * self.answered[first + 1]
        seen = (self.x.channel.T[None] * weights[:, None, :]) @ answered
        logs = logs + (np.log(np.maximum(seen, LEAST)) * self.counts).sum(axis=(1, 2))
        return np.asarray(np.nan_to_num(logs, nan=-np.inf, posinf=-np.inf))

    def starts(self, rng: np.random.Generator) -> Floats:
        """The highest of many points of the prior, moved uphill."""
        many = 2000
        tried = np.concatenate(
            [
                self.prior.samples(many * self.size, rng).reshape(many, self.size),
                rng.logistic(size=(many, self.bin.max())),
            ],
            axis=1,
        )
        heights = np.concatenate([self(tried[i : i + 100]) for i in range(0, many, 100)])
        best = tried[np.argsort(-heights)[:3]]
        peaks = [climbed(self, at, "Nelder-Mead", 300) for at in best]
        return np.asarray(min(peaks, key=lambda peak: float(peak.fun)).x)


def line(feature: Answers, response: Answers, about: Sequence[float], prior: Univariate) -> Samples:
    """Draws of a line's coefficients, of which the prior is the same for each.

    `feature` and `response` answered for the same records, in the same order. `about` are the
    response's noise, and 1 for a line with an intercept.
    """
    rng = np.random.default_rng()
    target = _Line(feature, response, about, prior)
    start = target.starts(rng)
    reach = np.full(len(start), 0.05)
    reach[: target.size] *= float(prior.sd)
    chains = drawn(target, start, reach, rng, thin=10)[..., : target.size]
    names = ("intercept", "b1") if target.size == 2 else ("b0",)
    return samples("regression", names, chains, (HISTOGRAM,))


def categorical(source: Answers, alpha: Floats, notes: tuple[str, ...]) -> Samples:
    """Answers of labels, with a Dirichlet prior `alpha`; `notes` are said of the posterior.

    True labels and chances are drawn in turn, each given the other.
    """
    from bayesdp.programs.run.results.diagnostics import diagnosed

    rng = np.random.default_rng()
    k, counts = len(alpha), source.counts
    channel = np.full((k, k), source.other) + np.eye(k) * (source.kept - source.other)
    chains, warm, keep = AUGMENTED
    drawn = np.empty((chains, keep, k))
    for chain in range(chains):
        chances = rng.dirichlet(alpha)
        for step in range(warm + keep):
            weights = chances[:, None] * channel
            weights /= weights.sum(axis=0, keepdims=True)
            true = sum(rng.multinomial(int(counts[j]), weights[:, j]) for j in range(k))
            chances = rng.dirichlet(alpha + true)
            if step >= warm:
                drawn[chain, step - warm] = chances
    return diagnosed("dirichlet", source.labels, drawn, notes)
