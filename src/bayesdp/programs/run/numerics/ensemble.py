"""Draws from a density of a few numbers that is known up to a constant, by moves of many walkers.

An ensemble's walkers stretch towards each other (Goodman & Weare 2010, "Ensemble samplers with
affine invariance"), so that no scale needs to be known. Several ensembles run apart from each
other, and `diagnosed` says whether they agree. What is drawn is about released numbers only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.results.diagnostics import diagnosed, effective
from bayesdp.programs.run.results.distributions import Samples

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

ENSEMBLES = 4
STRETCH = 2.0
KEPT = 64
"""Steps that are kept of each walker."""


def drawn(
    log_density: Callable[[Floats], Floats],
    start: Floats,
    spread: Floats,
    rng: np.random.Generator,
    thin: int = 12,
) -> Floats:
    """Draws as an array (ensemble, walker, step, entry).

    `log_density` takes a row for each point; the walkers begin around `start` (or its rows), about
    `spread` away from it, and every `thin`-th step is kept. A third of the steps goes before.
    """
    starts = np.atleast_2d(start)
    size = starts.shape[1]
    each = max(24, 4 * size)
    half = ENSEMBLES * each
    walkers = [
        starts[rng.integers(len(starts), size=half)] + spread * rng.normal(size=(half, size))
        for _ in range(2)
    ]
    heights = [log_density(side) for side in walkers]
    first = each * (np.arange(half) // each)  # of a walker's ensemble
    recorded_walkers = np.empty((KEPT, 2, half, size))
    warm = KEPT * thin // 2
    for step in range(-warm, KEPT * thin):
        for side in (0, 1):
            near = walkers[1 - side][first + rng.integers(each, size=half)]
            # The density of a stretch z is 1 / sqrt z on [1 / STRETCH, STRETCH].
            z = (1 + (STRETCH - 1) * rng.random(half)) ** 2 / STRETCH
            there = near + z[:, None] * (walkers[side] - near)
            height = log_density(there)
            with np.errstate(invalid="ignore"):
                ratio = (size - 1) * np.log(z) + height - heights[side]
            taken = np.log(rng.random(half)) < ratio
            walkers[side] = np.where(taken[:, None], there, walkers[side])
            heights[side] = np.where(taken, height, heights[side])
        if step >= 0 and step % thin == 0:
            recorded_walkers[step // thin] = walkers
    by_walker = recorded_walkers.reshape(KEPT, 2, ENSEMBLES, each, size).transpose(2, 1, 3, 0, 4)
    return np.asarray(by_walker.reshape(ENSEMBLES, 2 * each, KEPT, size))


def samples(
    family: str, names: tuple[str, ...], chains: Floats, notes: tuple[str, ...] = ()
) -> Samples:
    """Draws (ensemble, walker, step, entry) as one table, with ESS and R-hat of each entry.

    R-hat compares ensembles, and their first halves with their second halves. The effective size
    is that of the walkers, one by one.
    """
    size = chains.shape[-1]
    in_time = chains.transpose(0, 2, 1, 3).reshape(len(chains), -1, size)
    table = diagnosed(family, names, in_time, notes)
    walkers = chains.reshape(-1, chains.shape[2], size)
    about = {
        name: {**table.diagnostics[name], "ess": effective(walkers[:, :, j])}
        for j, name in enumerate(names)
    }
    return Samples(table.family, names, np.array(table.draws), about, table.notes)
