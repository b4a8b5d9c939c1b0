"""The likelihood of a rate given noisy successes and failures whose total is private.

With s successes and f failures, of any total with equal weight, and a rate theta,

    L(theta) = sum over s, f of C(s + f, s) theta^s (1 - theta)^f noise(y - s) noise(z - f).

There is no need to go over all pairs. As n! = (integral over l > 0 of l^n e^-l), the sum is

    L(theta) = integral over l > 0 of A(l theta) B(l (1 - theta)),

where A(m) is the mean of noise(y - S) for S of the Poisson law with mean m, and B that of the
failures: a sum for each, and an integral over one number. A sum is taken by Gauss rules for sums
(as in `sizes`), the integral by Gauss rules between the places where it bends; neither takes longer
if the noise or the counts are larger. Poisson laws keep the concavity of the logarithm (their
kernel is totally positive), so the integrand has one peak, which bisection finds. A and B are kept
as cubic pieces, each checked in its middle, and so is L.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.errors import InputError
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.interpolated import TOLERANCE, Pieces, interpolated
from bayesdp.programs.run.numerics.private_sizes import sum_rule

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

MOST_SCALE = 2.0**24
"""The largest scale of noise for which this is computed."""

_LEAST = -60.0
"""The logarithm of the least mean that is told from 0."""
_LOGIT = 42.0
"""Rates beyond this logit have the likelihood of 0 or 1."""
_NEVER = 1e3
"""Noise of so many scales is not drawn: e^-1000 and less."""
_ALL = 2.0**30
"""More than the records that a private total may have (see `private`)."""
_LEVELS = np.asarray([0.7, 3.0, 9.0, 20.0, 45.0])
"""How far below the peak the blocks of a sum or an integral end. The rest is left out."""
_CORE = np.asarray([-8.0, -4.0, -1.5, 0.0, 1.5, 4.0, 8.0])
"""Blocks around a bend, in units of its width."""
_NODES = 12


def require_scale(noise: AddedNoise) -> None:
    """Refuse noise of a larger scale than is computed, which is known before anything is spent.

    Raises `InputError`.
    """
    if noise.scale > MOST_SCALE:
        raise InputError(
            "epsilon",
            expected="for noise_aware of counts with a private total, noise of a scale below "
            f"{int(MOST_SCALE)}",
            remedy="Spend more on this release, use plug_in, or make the total public.",
            shown=False,
        )


def log_likelihood(
    released: Sequence[float], noise: AddedNoise
) -> tuple[Callable[[Floats], Floats], float]:
    """The logarithm of L as a function of a rate, up to a constant, and how far it may be off.

    `released` are the noisy numbers of successes and failures, `noise` the law of both.
    """
    y, z = (min(max(x, -_NEVER * noise.scale), _ALL + _NEVER * noise.scale) for x in released)
    most = float(np.log(2 * (max(y, 0.0) + max(z, 0.0)) + _NEVER * (noise.scale + 1.0)))
    parts = [
        interpolated(partial(noisy_poisson, y=x, noise=noise), _LEAST, most, np.log(max(x, 1.0)))
        for x in (y, z)
    ]
    whole = interpolated(
        partial(_integral, parts=parts, released=(y, z), most=most), -_LOGIT, _LOGIT,
        float(np.log(max(y, 0.5)) - np.log(max(z, 0.5))),
    )  # fmt: skip

    def logs(rate: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            logit = np.log(rate) - np.log1p(-rate)
        return whole(np.clip(logit, -_LOGIT, _LOGIT))

    return logs, TOLERANCE * sum(part.error for part in (*parts, whole))


def noisy_poisson(u: Floats, y: float, noise: AddedNoise) -> tuple[Floats, Floats]:
    """The logarithm of A at the means e^u, up to a constant, and its derivative in `u`.

    `y` is the released number, `noise` its law. The derivative is the mean of S given what was
    released, less e^u.
    """
    mean = np.exp(u)

    def log_term(s: Floats) -> Floats:
        return _log_poisson(s, mean[:, None]) + _log_noise(s, y, noise)

    peak = _peak(mean, y, noise)[:, None]
    ends = _ends(log_term, peak, 0.0)
    low = np.minimum(np.ceil(ends[:, :1]), np.floor(peak))
    high = np.maximum(np.floor(ends[:, -1:]), np.floor(peak) + 1.0) + 1.0
    bend = np.full(peak.shape, np.floor(max(y, 0.0)) + 1.0)
    starts = np.concatenate([low, np.floor(ends), bend, high], axis=1)
    starts = np.sort(np.clip(starts, low, high), axis=1)
    at, weights = sum_rule(starts[:, :-1], np.diff(starts, axis=1))
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + log_term(np.maximum(at, 0.0))
    top = logs.max(axis=1)
    shares = np.exp(logs - top[:, None])
    total = shares.sum(axis=1)
    return top + np.log(total), (shares * (at - mean[:, None])).sum(axis=1) / total


def _ends(log_term: Callable[[Floats], Floats], peak: Floats, least: float) -> Floats:
    """Where terms have fallen by each level on either side of the peak, in rising order.

    Roughly, but never nearer to the peak than that; not below `least`.
    """
    goal = log_term(peak) - _LEVELS
    sides = []
    for way in (-1.0, 1.0):
        near, far = np.zeros_like(goal), np.ones_like(goal)
        for _ in range(80):
            short = (log_term(np.maximum(peak + way * far, least)) > goal) & (
                peak + way * far > least
            )
            if not short.any():
                break
            near, far = np.where(short, far, near), np.where(short, 2 * far, far)
        for _ in range(12):
            middle = (near + far) / 2
            short = log_term(np.maximum(peak + way * middle, least)) > goal
            near, far = np.where(short, middle, near), np.where(short, far, middle)
        sides.append(np.maximum(peak + way * far, least))
    return np.concatenate([sides[0][:, ::-1], peak, sides[1]], axis=1)


def _log_noise(s: Floats, y: float, noise: AddedNoise) -> Floats:
    """The noise's exponent at y - s up to a constant, without loss where y is far below 0."""
    b = noise.scale
    if noise.kind == "laplace":
        return np.asarray(-(np.abs(s - y) if y > 0 else s) / b)
    return np.asarray(-0.5 * ((s - y) / b) ** 2 if y > 0 else -0.5 * (s / b) * ((s - 2 * y) / b))


def _log_poisson(s: Floats, mean: Floats) -> Floats:
    """The logarithm of the Poisson law, without the loss of large terms that cancel."""
    from scipy.special import gammaln

    with np.errstate(all="ignore"):
        off = (s - mean) / mean
        bent = np.where(np.abs(off) < 1e-3, _bent(off), (1 + off) * np.log1p(off) - off)
        stirling = 1 / (12 * s) - 1 / (360 * s**3) + 1 / (1260 * s**5)
        large = -mean * bent - 0.5 * np.log(2 * np.pi * s) - stirling
        small = s * np.log(mean) - mean - gammaln(s + 1.0)
    return np.asarray(np.where(s > 12, large, small))


def _bent(off: Floats) -> Floats:
    """(1 + x) log(1 + x) - x near 0."""
    return np.asarray(off * off * (0.5 - off * (1 / 6 - off * (1 / 12 - off * (0.05 - off / 30)))))


def _peak(mean: Floats, y: float, noise: AddedNoise) -> Floats:
    """About the likeliest s for each mean: between that of the Poisson law and the released one."""
    b = noise.scale
    if noise.kind == "laplace":
        with np.errstate(over="ignore"):
            up = mean * np.exp(min(1 / b, 700.0))
        return np.asarray(np.clip(max(y, 0.0), mean * np.exp(-1 / b), up))
    low, high = np.minimum(mean, max(y, 0.0)), np.maximum(mean, max(y, 0.0))
    for _ in range(60):
        middle = (low + high) / 2
        rising = np.log(mean) - np.log(middle + 0.5) + (y - middle) / b / b > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.asarray((low + high) / 2)


def _integral(
    t: Floats, parts: Sequence[Pieces], released: tuple[float, float], most: float
) -> tuple[Floats, Floats]:
    """The logarithm of L at rates with the logits `t`, and its derivative in `t`.

    `parts` are log A and log B as functions of a mean's logarithm, which is at most `most`;
    `released` tells where they bend. The integral is over the logarithm of l.
    """
    rates = np.stack([-np.logaddexp(0.0, -t), -np.logaddexp(0.0, t)], axis=1)

    def both(at: Floats) -> list[tuple[Floats, Floats]]:
        return [part.with_slopes(at + rates[:, i, None]) for i, part in enumerate(parts)]

    def log_term(at: Floats) -> Floats:
        (first, _), (second, _) = both(at)
        return first + second + at

    low, high = np.full((len(t), 1), 2 * _LEAST), np.full((len(t), 1), most)
    for _ in range(48):
        middle = (low + high) / 2
        (_, first), (_, second) = both(middle)
        rising = first + second + 1.0 > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    ends = _ends(log_term, (low + high) / 2, -np.inf)
    edges = [ends]
    for i, y in enumerate(released):
        if y > 1.0:
            bend = np.log(y) - rates[:, i, None] + np.log1p(np.maximum(_CORE / np.sqrt(y), -0.999))
            edges.append(np.clip(bend, ends[:, :1], ends[:, -1:]))
    edge = np.sort(np.concatenate(edges, axis=1), axis=1)
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edge, axis=1)[..., None] / 2
    at = (edge[:, :-1, None] + half * (1 + nodes)).reshape(len(t), -1)
    (first, slope), (second, fall) = both(at)
    with np.errstate(divide="ignore"):
        logs = first + second + at + np.log((half * shares).reshape(len(t), -1))
    top = logs.max(axis=1)
    weight = np.exp(logs - top[:, None])
    total = weight.sum(axis=1)
    # A rate's logarithm moves with its logit by 1 - rate, that of the failures by -rate.
    moved = slope * np.exp(rates[:, 1, None]) - fall * np.exp(rates[:, 0, None])
    return top + np.log(total), (weight * moved).sum(axis=1) / total
