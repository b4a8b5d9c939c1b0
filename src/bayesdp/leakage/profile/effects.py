"""The effect of setting a record by intervention, while all others keep their law.

The simple reading for a finite law (theory 5.1 g). Structural models are in `bayesdp.causal`.

#### g. Setting a record (`causal-do`)

Setting `X_i = v` by intervention leaves the others at their own law: `P[y | do(v)] = sum over x_-i
of pi(x_-i) P[y | v, x_-i]`. The level is the largest `ln P[y | do(v)] - ln P[y | do(v')]`, over all
values, possible or not: at most the DP level, as in c. Learning instead of setting gives
`bdp-uninformed`.
"""

from __future__ import annotations

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.profile.model import (
    NOTHING,
    AttainedLevel,
    LawAndChannel,
    Witness,
    extremes,
    gap,
    pick,
    worse,
)


def intervened(model: LawAndChannel, record: int) -> Floats:
    """`P[y | do(X_i = v)]` for every value v (rows) and outcome y (columns)."""
    others = model.joint.sum(axis=record, keepdims=True)
    axes = tuple(j for j in range(model.records) if j != record)
    out: Floats = (others[..., None] * model.channel).sum(axis=axes)
    return out


def causal_effect(model: LawAndChannel) -> AttainedLevel:
    """The largest `ln P[y | do(v)] - ln P[y | do(v')]`, over all values, possible or not."""
    largest = NOTHING
    for i in range(model.records):
        with np.errstate(divide="ignore"):
            logs = np.log(intervened(model, i))
        spread = gap(*extremes(logs, 0))
        (outcome,) = pick(spread)
        if not worse(float(spread[outcome]), largest):
            continue
        high, low = int(np.argmax(logs[:, outcome])), int(np.argmin(logs[:, outcome]))
        by = Witness(outcome, record=i, records=(i,), likely=(high,), unlikely=(low,))
        largest = model.attained(float(spread[outcome]), by)
    return largest
