"""Semantic privacy, and its Bayesian form: how a record changes posteriors (theory 5.1 d, e).

A belief `b` about some records meets two mechanisms: the real one, with likelihood `P_0`, and the
one in which record `i` is replaced by the default, with `P_i`. The second posterior can be any law
`p` where `P_i > 0`, and the first is `p` reweighted by `r = P_0 / P_i`. The largest change of a
total variation distance by weights between `r_min` and `r_max` is `tanh(ln(r_max / r_min) / 4)`,
at two points. So a level is a range of `ln r`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    pick_high,
    pick_low,
    worse,
)

Defaults = Sequence[Sequence[int]]
"""For each record the values that are tried as the default; the level is the largest."""


def level_of(log_range: float) -> float:
    """The largest total variation of a reweighting whose weights have this range of logarithms."""
    return math.tanh(log_range / 4.0)


def belief_of(log_range: float) -> float:
    """The comparison posterior of the point with the larger weight, at the optimum."""
    return 1.0 / (1.0 + math.exp(min(log_range / 2.0, 700.0)))


def semantic_privacy(model: LawAndChannel, defaults: Defaults) -> AttainedLevel:
    """SP: beliefs are all laws on databases, possible under the population or not.

    An outcome that the default makes impossible whatever the other records are, while the real
    record doesn't, has level 1: there is no posterior to compare with.
    """
    logs = model.log_channel
    largest = NOTHING
    for i in range(model.records):
        for default in defaults[i]:
            ratio = _ratio(logs, i, default)
            flat = ratio.reshape(-1, ratio.shape[-1])
            spread = gap(*extremes(flat, 0))
            outcome = int(np.argmax(spread))
            widest = float(spread[outcome])
            if not worse(widest, largest):
                continue
            by = Witness(
                outcome,
                record=i,
                default=default,
                records=tuple(range(model.records)),
                likely=pick_high(ratio[..., outcome]),
                unlikely=pick_low(ratio[..., outcome]),
                belief=belief_of(widest),
                limit=math.isinf(widest),
            )
            largest = model.attained(widest, by)
    return model.attained(level_of(largest.level), largest.by)


def bayesian_semantic_privacy(model: LawAndChannel, defaults: Defaults) -> AttainedLevel:
    """BSP: beliefs on `(x_i, x_S)` wherever the population allows it, also across values of `x_S`.

    In the extended tensor, subtract the default's slice along axis i; then collapse every other
    axis to two slots, "in S" (extremes over the values) and "unknown" (the sum's slot).
    """
    largest = NOTHING
    for i in range(model.records):
        logs = model.values_of(model.logs, i)
        for default in defaults[i]:
            ratio = _ratio(logs, i, default)
            spread = gap(_collapsed(model, ratio, i, "high"), _collapsed(model, ratio, i, "low"))
            place = pick(spread)
            if worse(float(spread[place]), largest):
                largest = model.attained(
                    float(spread[place]), _points(model, ratio, i, default, place)
                )
    return model.attained(level_of(largest.level), largest.by)


def known_semantic_privacy(model: LawAndChannel, defaults: Defaults) -> AttainedLevel:
    """BSP where `x_S` is known: beliefs on the attacked record alone.

    The default cancels, so the level is `tanh(epsilon / 4)` for the BDP level `epsilon` exactly,
    if some default is possible beside every `x_S` (theory 5.1 e).
    """
    largest = NOTHING
    for i in range(model.records):
        logs = model.values_of(model.logs, i)
        for default in defaults[i]:
            ratio = _ratio(logs, i, default)
            spread = gap(*extremes(ratio, i))
            place = pick(spread)
            if not worse(float(spread[place]), largest):
                continue
            whole = (*place[:i], 0, *place[i:])
            known, values = model.known_at(whole, i)
            line = np.moveaxis(ratio, i, -1)[place]
            by = Witness(
                place[-1],
                record=i,
                default=default,
                known=known,
                known_values=values,
                records=(i,),
                likely=(int(np.nanargmax(line)),),
                unlikely=(int(np.nanargmin(line)),),
                belief=belief_of(float(spread[place])),
                limit=math.isinf(spread[place]),
            )
            largest = model.attained(float(spread[place]), by)
    return model.attained(level_of(largest.level), largest.by)


def _ratio(logs: Floats, record: int, default: int) -> Floats:
    """`ln P_0 - ln P_i`; NaN where the condition is impossible, or the outcome under both."""
    with np.errstate(invalid="ignore"):
        out: Floats = logs - np.take(logs, [default], axis=record)
    return out


def _collapsed(model: LawAndChannel, ratio: Floats, record: int, side: str) -> Floats:
    """Extremes over `x_i` and, for every set S at once, over `x_S`; without NaN."""
    best = np.fmax if side == "high" else np.fmin
    with np.errstate(invalid="ignore"):
        out = best.reduce(ratio, axis=record, keepdims=True)
        for j in range(model.records):
            if j != record:
                values, unknown = np.split(out, [model.sizes[j]], axis=j)
                out = np.concatenate([best.reduce(values, axis=j, keepdims=True), unknown], axis=j)
    return np.asarray(out)


def _points(
    model: LawAndChannel, ratio: Floats, record: int, default: int, place: tuple[int, ...]
) -> Witness:
    """The two points at a place of the collapsed array."""
    inside: list[int | slice] = [
        slice(None) if j == record else slice(0, model.sizes[j]) if place[j] == 0 else -1
        for j in range(model.records)
    ]
    ratio_here = ratio[(*inside, place[-1])]
    high, low = pick_high(ratio_here), pick_low(ratio_here)
    widest = float(gap(ratio_here[high], ratio_here[low]))
    return Witness(
        place[-1],
        record=record,
        default=default,
        records=tuple(j for j in range(model.records) if j == record or place[j] == 0),
        likely=high,
        unlikely=low,
        belief=belief_of(widest),
        limit=math.isinf(widest),
    )
