"""Sums over a private number of records, for the sum of normal records.

They take the same time whatever the scale of the noise.

Few numbers are summed one by one. Many are summed in blocks of consecutive whole numbers, each by
the Gauss rule of its sum (nodes of the discrete Chebyshev polynomials): exact for polynomials of
degree 23, whatever the block's length, so it is the sum that is approximated, not an integral.
Blocks end where the summand bends: at the released number, where the released sum is that many
times the mean, and, geometrically, towards 0, where the sum's spread is singular.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import AddedNoise

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

FEW = 256
"""The most numbers of records that are summed one by one."""

_DROP = 45.0
_NODES = 12
_TABLE = 512
_FAR = {"laplace": (2.0, 6.0, 16.0, 50.0), "gaussian": (2.0, 4.5, 9.0)}


def log_noisy_sum(z: Floats, variance: float | Floats, noise: AddedNoise) -> Floats:
    """The log-density at z of normal(0, variance) plus the noise, up to a constant."""
    from scipy.special import erfcx, log_ndtr

    if noise.kind == "gaussian":
        v = np.hypot(np.sqrt(variance), noise.scale)
        return np.asarray(-0.5 * (z / v) ** 2 - np.log(v))
    if np.ndim(variance) == 0 and variance == 0.0:
        return np.asarray(noise.log(z))
    s, b = np.sqrt(variance), noise.scale
    lift, peak, parts = (s / b) ** 2 / 2, (z / s) ** 2 / 2, []
    for way in (z, -z):
        # exp(s^2 / 2b^2 + way/b) Phi(-a), in the form that doesn't cancel.
        a = s / b + way / s
        with np.errstate(over="ignore", divide="ignore"):
            logs = np.log(erfcx(np.maximum(a, -5.0) / np.sqrt(2)) / 2) - peak
        far = a <= -5.0
        logs[far] = (lift + way / b)[far] + log_ndtr(-a[far])
        parts.append(logs)
    return np.asarray(np.logaddexp(parts[0], parts[1]))


def log_over_sizes(
    released: tuple[float, float], sd: float, noise: AddedNoise
) -> Callable[[Floats], Floats]:
    """The log-likelihood of a mean, summed over every number n of records with equal weight.

    `released` are the noisy number and the noisy sum of the records; the true sum is normal(n mean,
    n sd^2). Time and memory don't grow with the noise.
    """
    count, total = released
    low, high = _span(count, noise)

    def each(n: float | Floats, x: Floats) -> Floats:
        return np.asarray(noise.log(count - n) + log_noisy_sum(total - n * x, n * sd**2, noise))

    def one_by_one(x: Floats) -> Floats:
        logs = np.full(len(x), -np.inf)
        for n in range(int(low), int(high) + 1):
            logs = np.logaddexp(logs, each(float(n), x))
        return logs

    def in_blocks(x: Floats) -> Floats:
        summed, rows = np.empty(len(x)), 1024
        for start in range(0, len(x), rows):
            part = x[start : start + rows]
            starts = _edges(part, released, sd, noise)
            at, weights = sum_rule(starts[:, :-1], np.diff(starts, axis=1))
            used, peak = weights > 0, each(0.0, part)
            logs = np.full(at.shape, -np.inf)
            wide = np.broadcast_to(part[:, None], at.shape)
            logs[used] = each(at[used], wide[used]) + np.log(weights[used])
            top = np.maximum(peak, logs.max(axis=1))
            sums = np.exp(logs - top[:, None]).sum(axis=1) + np.exp(peak - top)
            summed[start : start + rows] = top + np.log(sums)
        return summed

    return one_by_one if high - low < FEW else in_blocks


def _span(count: float, noise: AddedNoise) -> tuple[float, float]:
    """The numbers of records that the noise allows: all but e^-45 of the likeliest."""
    over = max(-count, 0.0) / noise.scale
    reach = over + _DROP if noise.kind == "laplace" else float(np.sqrt(2 * _DROP + over**2))
    low = max(np.floor(count - reach * noise.scale), 0.0)
    return float(low), float(max(np.ceil(count + reach * noise.scale), 0.0))


def _edges(x: Floats, released: tuple[float, float], sd: float, noise: AddedNoise) -> Floats:
    """The starts of the blocks for each mean, whole numbers from 1 on, and the last block's end."""
    count, total = released
    b, far = noise.scale, np.asarray(_FAR[noise.kind])
    most = max(count, 0.0) + 1e6 * b
    size = np.maximum(np.abs(x), 1e-250)
    with np.errstate(over="ignore"):
        match = np.clip(total / np.where(x < 0, -size, size), -most, most)
    spread = np.sqrt(np.maximum(match, 1.0)) * sd
    own = np.full(len(x), max(count, 0.0))
    core = np.asarray([1.5, 4.0, 8.0])
    places = [(own, np.full(len(x), b), far)]
    with np.errstate(over="ignore"):
        if noise.kind == "laplace":
            places += [(match, spread / size, core), (match, b / size, far)]
        else:
            # Two normal factors: their product lies between them.
            width = np.minimum(np.hypot(spread, b) / size, 1e6 * b)
            share = 1 / (1 + (width / b) ** 2)
            middle = match * share + count * (1 - share)
            places += [(match, width, far), (middle, width * np.sqrt(share), far)]
    ends = [np.ones((len(x), 1)), np.full((len(x), 1), most)]
    with np.errstate(over="ignore"):
        for centre, width, steps in places:
            reach = np.minimum(width, most)[:, None] * steps[None, :]
            ends += [centre[:, None], centre[:, None] - reach, centre[:, None] + reach]
    small = 1e-3 * b / np.maximum(size, 1.0)
    ends.append(small[:, None] * 4.0 ** np.arange(14)[None, :])
    edges = np.floor(np.concatenate(ends, axis=1)) + 1.0
    return np.asarray(np.sort(np.clip(edges, 1.0, np.floor(most) + 1.0), axis=1))


def sum_rule(starts: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """Nodes and weights for the sum over each row's blocks of whole numbers, side by side.

    `starts` are the blocks' first numbers, `lengths` how many numbers they have.
    """
    nodes, shares = _table()
    short = np.minimum(lengths, _TABLE).astype(np.int64)
    # In 1/N^2 the rules for N numbers go to that of an integral.
    left = (short / np.maximum(lengths, 1.0))[..., None] ** 2
    at = nodes[-1] + (nodes[short] - nodes[-1]) * left
    share = shares[-1] + (shares[short] - shares[-1]) * left
    middle = (starts + (lengths - 1) / 2)[..., None]
    shape = (len(starts), -1)
    return (
        np.asarray(middle + at * lengths[..., None] / 2).reshape(shape),
        np.asarray(share * lengths[..., None]).reshape(shape),
    )


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Floats]:
    """Rules for sums over N numbers, scaled to (-1, 1) and to 1; the last is the integral's."""
    nodes, shares = np.zeros((_TABLE + 2, _NODES)), np.zeros((_TABLE + 2, _NODES))
    for many in range(1, _NODES + 1):
        nodes[many, :many] = (2 * np.arange(many) - many + 1) / many
        shares[many, :many] = 1 / many
    for many in range(_NODES + 1, _TABLE + 2):
        k = np.arange(1, _NODES, dtype=np.float64)
        narrow = 0.0 if many > _TABLE else (k / many) ** 2
        side = np.sqrt(k**2 * (1 - narrow) / (4 * k**2 - 1))
        values, vectors = np.linalg.eigh(np.diag(side, 1) + np.diag(side, -1))
        nodes[many], shares[many] = values, vectors[0] ** 2
    return nodes, shares
