"""The exact delta at a given epsilon: the hockey-stick divergence, for DP and for BDP.

#### i. With delta

The smallest delta with `P[S | a] <= e^epsilon P[S | b] + delta` for every set `S` of outputs is the
sum over `y` of `P[y | a] - e^epsilon P[y | b]` where positive (take that set). DP takes the largest
over adjacent databases, BDP over two values of `x_i` beside the same `x_K`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.errors import InputError
from bayesdp.leakage.profile.model import LawAndChannel
from bayesdp.leakage.tensor import extended
from bayesdp.notions import ADVERSARIES, Adversary


@dataclass(frozen=True, slots=True)
class Deltas:
    """The smallest delta of DP, and of BDP for each class of adversaries, at `epsilon`."""

    epsilon: float
    dp: float
    bdp: dict[Adversary, float]


def deltas(model: LawAndChannel, epsilon: float) -> Deltas:
    """The smallest deltas at `epsilon`, right up to about 1e-13.

    Raises `InputError` for an epsilon below 0.
    """
    if not (epsilon >= 0.0 and math.isfinite(epsilon)):
        raise InputError("epsilon", epsilon, expected="a finite number of nats of at least 0")
    factor = math.exp(min(epsilon, 700.0))
    mass = extended(model.joint[..., None])
    with np.errstate(invalid="ignore", divide="ignore"):
        chances = extended(model.joint[..., None] * model.channel) / mass
    possible = np.where(model.joint[..., None] > 0.0, model.channel, np.nan)
    bdp: dict[Adversary, float] = dict.fromkeys(ADVERSARIES, 0.0)
    dp = 0.0
    for i in range(model.records):
        dp = max(dp, _hockey_stick(model.channel, i, factor))
        inner = model.values_of(chances, i)
        alone = [slice(None) if j == i else -1 for j in range(model.records)]
        bdp["any"] = max(bdp["any"], _hockey_stick(inner, i, factor))
        bdp["uninformed"] = max(bdp["uninformed"], _hockey_stick(inner[tuple(alone)], 0, factor))
        bdp["informed"] = max(bdp["informed"], _hockey_stick(possible, i, factor))
    return Deltas(epsilon, dp, bdp)


def _hockey_stick(chances: Floats, axis: int, factor: float) -> float:
    moved = np.moveaxis(chances, axis, 0)
    worst = 0.0
    for value in range(len(moved)):
        excess = np.maximum(moved[value] - factor * moved, 0.0)  # NaN stays: an excluded condition
        total = np.nan_to_num(excess.sum(axis=-1), nan=0.0)
        worst = max(worst, float(total.max()))
    return min(worst, 1.0)
