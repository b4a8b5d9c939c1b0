"""Whether chains of draws agree: effective sample size and R-hat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.results.distributions import Distribution, Samples

if TYPE_CHECKING:
    from bayesdp.arrays import Floats


def diagnosed(
    family: str, names: tuple[str, ...], drawn: Floats, notes: tuple[str, ...] = ()
) -> Samples:
    """The draws of chains (chain, step, entry) as one table, with ESS and R-hat of each entry."""
    by_name = {
        name: {"ess": effective(drawn[:, :, j]), "r_hat": split_r_hat(drawn[:, :, j])}
        for j, name in enumerate(names)
    }
    worst = max(measured["r_hat"] for measured in by_name.values())
    if not worst < 1.05:
        notes = (*notes, f"The chains don't agree: R-hat is {worst:.3f}. Ask for more draws.")
    table = drawn.reshape(-1, drawn.shape[2])
    return Samples(family, names, np.array(table), by_name, notes)


def exact_samples(posterior: Distribution, k: int, names: Sequence[str]) -> Samples:
    """Independent draws of a posterior that is known."""
    draws = posterior.samples(k)
    table = draws.reshape(k, -1)
    numbers = {name: {"ess": float(k), "r_hat": 1.0} for name in names}
    return Samples(posterior.family, tuple(names), np.array(table), numbers, posterior.notes)


def split_r_hat(chains: Floats) -> float:
    """R-hat of chains cut in halves (Gelman et al. 2013): near 1 where they agree."""
    half = chains.shape[1] // 2
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective(chains: Floats) -> float:
    """The effective sample size (Geyer's initial monotone sequence over the mean of chains)."""
    many, length = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=1)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), size, axis=1)[:, :length] / length
    within = float(chains.var(axis=1, ddof=1).mean())
    pooled = within * (length - 1) / length + float(chains.mean(axis=1).var(ddof=1)) * (many > 1)
    if pooled == 0.0:
        return float(many * length)
    rho = 1.0 - (within - covariance.mean(axis=0)) / pooled
    total, last = 0.0, np.inf
    for t in range(0, length - 1, 2):
        pair = float(rho[t] + rho[t + 1])
        if pair < 0.0:
            break
        last = min(last, pair)
        total += last
    return float(min(many * length / max(2.0 * total - 1.0, 1e-9), many * length * 2.0))
