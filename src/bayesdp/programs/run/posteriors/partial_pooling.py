"""Partial pooling: groups whose numbers come from one normal law with unknown centre and spread.

A group's number t is the logit of a chance, the logarithm of a rate, or a mean. Given centre m and
spread s, groups are independent, and the noisy sum of a group is about its t alone; so t is summed
out on a fine grid of its own, whose cells weigh what normal(m, s) gives them, and then m and s are
summed over on a grid. Their priors are normal, and half-normal. All draws are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import DROP, AddedNoise
from bayesdp.programs.run.numerics.private_sizes import log_noisy_sum
from bayesdp.programs.run.results.distributions import Joint, Samples

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints
    from bayesdp.programs.run.numerics.observed import Noisy

DRAWS = 8000
CELLS, COARSE = 301, 1001
CENTERS, SPREADS = 61, 48
MOST_SUMS = 1500
"""The most true sums of a group that are looked at; of more, an even selection."""


@dataclass(frozen=True)
class GroupCells:
    """Cells of a group's number: their edges, and the likelihood inside each, up to a factor."""

    edges: Floats
    likelihood: Floats

    def weights(self, center: Floats, spread: Floats) -> Floats:
        """The weight of each cell under normal laws, times its likelihood: a row for each law."""
        from scipy.special import ndtr

        inner = ndtr((self.edges[None, 1:-1] - center[:, None]) / spread[:, None])
        ends = np.zeros((len(center), 1)), np.ones((len(center), 1))
        return np.asarray(np.diff(np.hstack([ends[0], inner, ends[1]]), axis=1) * self.likelihood)


def _on_its_scale(family: str, t: Floats) -> Floats:
    """A group's chance, rate or mean."""
    from scipy.special import expit

    if family == "pooled_bernoulli":
        return np.asarray(expit(t))
    return np.asarray(t if family == "pooled_normal" else np.exp(np.clip(t, -300, 300)))


def log_likelihood(
    family: str, seen: float, size: tuple[float, float], noise: AddedNoise, t: Floats, aware: bool
) -> Floats:
    """The log-likelihood of a group's number t given its noisy sum.

    `size` is the number of records with the exposure, or the spread, of all of them. `aware`: the
    noise counts, else the released number is the true one.
    """
    from scipy.special import gammaln, log_expit, logsumexp

    n, about = size
    if not n or (family == "pooled_poisson" and not about):
        return np.zeros(len(t))
    if family == "pooled_normal":
        if not aware:
            return np.asarray(-0.5 * (seen - n * t) ** 2 / (n * about**2))
        return log_noisy_sum(seen - n * t, n * about**2, noise)
    most = n if family == "pooled_bernoulli" else np.inf
    middle = min(max(seen, 0.0), most)
    sums = np.asarray([middle])
    if aware:
        reach = (DROP if noise.kind == "laplace" else (2 * DROP) ** 0.5) * noise.scale
        low, high = max(np.floor(middle - reach), 0.0), min(np.ceil(middle + reach), most)
        sums = np.unique(np.linspace(low, high, int(min(high - low + 1, MOST_SUMS))).round())
    logs = noise.log(seen - sums) if aware else np.zeros(1)
    if family == "pooled_bernoulli":
        logs = logs - gammaln(sums + 1) - gammaln(n - sums + 1)
        each = sums * log_expit(t)[:, None] + (n - sums) * log_expit(-t)[:, None]
    else:
        mean = about * np.exp(np.clip(t, -300, 300))
        logs = logs - gammaln(sums + 1)
        each = sums * (np.log(about) + t[:, None]) - mean[:, None]
    return np.asarray(logsumexp(logs + each, axis=1))


def _cells(
    family: str,
    seen: float,
    size: tuple[float, float],
    noise: AddedNoise,
    prior: Sequence[float],
    aware: bool,
) -> GroupCells:
    """The cells of one group, narrow where its number can be."""
    mean, sd, spread = prior
    reach = 6 * float(np.hypot(sd, 4 * spread))
    low, high = mean - reach, mean + reach
    wide = -0.5 / float(np.hypot(sd, 4 * spread)) ** 2

    def at(t: Floats) -> Floats:
        return log_likelihood(family, seen, size, noise, t, aware)

    for _ in range(8):
        t = np.linspace(low, high, COARSE)
        logs = at(t) + wide * (t - mean) ** 2
        near = np.flatnonzero(logs >= logs.max() - 30)
        left, right = t[max(near[0] - 1, 0)], t[min(near[-1] + 1, COARSE - 1)]
        if right - left > 0.5 * (high - low):
            break
        low, high = float(left), float(right)
    edges = np.linspace(low, high, CELLS + 1)
    logs = at((edges[1:] + edges[:-1]) / 2)
    return GroupCells(edges, np.exp(logs - logs.max()))


def prior_of(numbers: Sequence[float]) -> Joint:
    """The prior of centre and spread: its mean and standard deviation, and the spread's scale."""
    mean, sd, scale = numbers

    def draw(many: int, rng: np.random.Generator) -> Floats:
        both = [rng.normal(mean, sd, many), np.abs(rng.normal(0.0, scale, many))]
        return np.stack(both, axis=1)

    return Joint("pooled", ("center", "spread"), (), draw, (), tuple(numbers))


def posterior(
    source: Noisy, family: str, about: Sequence[float], prior: Sequence[float], aware: bool = True
) -> Samples:
    """Draws of each group's chance, rate or mean, and of the centre and spread they come from.

    `about` are the likelihood's parameters, the groups' sizes among them; `prior` is the mean and
    the standard deviation of the centre, and the scale of the spread. `aware`: the noise counts.
    """
    rng = np.random.default_rng()
    sizes = list(about) if family == "pooled_bernoulli" else list(about[1:])
    whole = max(sum(sizes), 1.0)
    cells = []
    for seen, n in zip(source.floats, sizes, strict=True):
        of_all = 0.0 if family == "pooled_bernoulli" else about[0]
        each = of_all * n / whole if family == "pooled_poisson" else of_all
        cells.append(_cells(family, seen, (n, each), source.noise, prior, aware))
    mean, sd, scale = prior
    spreads = scale * (np.arange(SPREADS) + 0.5) * 4.0 / SPREADS
    low, high = mean - 6 * sd, mean + 6 * sd
    for _ in range(3):
        centers = np.linspace(low, high, CENTERS)
        m, s = (grid.ravel() for grid in np.meshgrid(centers, spreads, indexing="ij"))
        logs = -0.5 * ((m - mean) / sd) ** 2 - 0.5 * (s / scale) ** 2
        for group in cells:
            logs = logs + np.log(np.maximum(group.weights(m, s).sum(axis=1), 1e-300))
        by_center = logs.reshape(CENTERS, SPREADS).max(axis=1)
        near = np.flatnonzero(by_center >= by_center.max() - 14)
        left, right = centers[max(near[0] - 1, 0)], centers[min(near[-1] + 1, CENTERS - 1)]
        if right - left > 0.6 * (high - low):
            break
        low, high = float(left), float(right)
    weight = np.exp(logs - logs.max())
    drawn_cells = rng.choice(len(weight), size=DRAWS, p=weight / weight.sum())
    width = centers[1] - centers[0]
    columns = [_drawn(group, m, s, drawn_cells, rng, family) for group in cells]
    columns.append(m[drawn_cells] + width * (rng.random(DRAWS) - 0.5))
    columns.append(s[drawn_cells] + (spreads[1] - spreads[0]) * (rng.random(DRAWS) - 0.5))
    labels = source.labels or tuple(f"group {i}" for i in range(len(cells)))
    names = (*labels, *_free(labels))
    diagnostics = {name: {"ess": float(DRAWS), "r_hat": 1.0} for name in names}
    return Samples("pooled", names, np.stack(columns, axis=1), diagnostics)


def _free(labels: Sequence[str]) -> tuple[str, str]:
    """Names for centre and spread that no group has."""
    center, spread = "center", "spread"
    while {center, spread} & set(labels):
        center, spread = f"{center} of groups", f"{spread} of groups"
    return center, spread


def _drawn(
    group: GroupCells,
    m: Floats,
    s: Floats,
    drawn_cells: Ints,
    rng: np.random.Generator,
    family: str,
) -> Floats:
    """Draws of a group's number on its own scale, for the chosen centres `m` and spreads `s`."""
    distinct, which = np.unique(drawn_cells, return_inverse=True)
    weights = np.cumsum(group.weights(m[distinct], s[distinct]), axis=1)
    heights = rng.random(DRAWS) * weights[which, -1]
    cell = np.minimum((weights[which] < heights[:, None]).sum(axis=1), CELLS - 1)
    inside = group.edges[cell] + rng.random(DRAWS) * (group.edges[1] - group.edges[0])
    return _on_its_scale(family, inside)
