"""Stationary laws of chains, how far computed ones may be off, and how fast chains forget."""

from __future__ import annotations

import math

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.numbers import UNIT
from bayesdp.populations.markov import eliminated


def stationary_law(transition: Floats) -> Floats | None:
    """The stationary law of a chain, shape `(states,)`; `None` where there are several.

    How far it may be off says `elimination_error`.
    """
    law = eliminated(transition.tolist())
    return None if law is None else np.array(law)


def elimination_error(states: int) -> float:
    """A bound on the relative error of each entry of a law found by elimination of its states.

    Each of the `S` eliminations makes a relative error of at most `(S + 4)` units in every rate of
    the chain that is left; a stationary law is a ratio of sums of products of at most `S - 1` rates
    (Markov chain tree theorem), so it changes by at most twice that, `S` times over.
    """
    return 4.0 * states * states * (states + 4) * UNIT


def limit_error(transition: Floats, limit: Floats | None) -> float:
    """The relative error that the computed stationary law may have.

    A power of the kernel contracts the Hilbert distance by `tanh(ln R / 4)`, `R` its largest cross
    ratio (Birkhoff). So the distance to the fixed point is at most that to the image, divided by
    one minus the contraction. Infinite where no power up to 2^20 contracts by half.
    """
    if limit is None or limit.min() <= 0.0:
        return math.inf
    power, steps = transition, 1
    for _ in range(21):
        if power.min() > 0.0:
            logs = np.log(power)
            gaps = logs[:, None, :] - logs[None, :, :]
            widest = float((gaps.max(axis=2) - gaps.min(axis=2)).max())
            contraction = math.tanh(widest / 4.0)
            if contraction <= 0.5:
                image = np.log(limit @ power) - np.log(limit)
                moved = float(image.max() - image.min())
                rounding = 4.0 * (len(limit) + 4) * steps * UNIT
                return (moved + rounding) / (1.0 - contraction)
        power, steps = power @ power, 2 * steps
        power = power / power.sum(axis=1, keepdims=True)
    return math.inf


def second_eigenvalue(transition: Floats) -> float:
    """The second largest modulus of the eigenvalues: how fast the chain forgets."""
    sizes = np.sort(np.abs(np.linalg.eigvals(transition)))
    return float(sizes[-2]) if len(sizes) > 1 else 0.0
