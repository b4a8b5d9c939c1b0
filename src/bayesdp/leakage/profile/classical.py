"""DP and its relatives that need no population: groups, the strong adversary, independence.

Theory 5.1 b and c.

#### b. The strong adversary, and groups

*Strong adversary*: for every prior and every output, posterior odds between two values of `x_i`,
given all other records, are at most `e^eps` times the prior odds. By Bayes' rule the quotient is
`P[y | x_i, x_-i] / P[y | x_i', x_-i]`, whatever the prior, as long as it gives both databases
positive probability. So the level is that of DP. *Groups of size k*: the largest `ln P[y | x] - ln
P[y | x']` over databases that differ in at most k records. With `h_0 = ln P[y | .]` and `h_j(x)`
the maximum of `h_(j-1)` over databases that differ from `x` in at most one record, `h_k(x)` is the
maximum over all within distance k (change the differing records one at a time), and the level is
`max h_k - h_0`. It is at most k times the DP level, and often less.

#### c. Independent records

`independent-bdp` is BDP (any adversary) over *all* product laws. It equals DP. *At most*: given
`x_K`, the unknown records have the same law for `x_i` and `x_i'`, so `P[y | x_i, x_K]` and `P[y |
x_i', x_K]` are averages, with the same weights, of pairs whose quotient is at most `e^eps`. *At
least*: take any product law that gives every database positive probability, and K all other
records. ∎ So one product law of full support decides, and the uniform one is used.
"""

from __future__ import annotations

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.leakage.profile.model import (
    NOTHING,
    AttainedLevel,
    Index,
    LawAndChannel,
    Witness,
    extremes,
    gap,
    pick,
    pick_high,
    worse,
)
from bayesdp.leakage.tensor import Attained, tensor_leakage
from bayesdp.notions import Adversary


def differential_privacy(model: LawAndChannel) -> AttainedLevel:
    """The DP level on all databases, possible or not: `sup ln P[y | x] / P[y | x']`."""
    largest = NOTHING
    for i in range(model.records):
        high, low = extremes(model.log_channel, i)
        spread = gap(high, low)
        place = pick(spread)
        if not worse(float(spread[place]), largest):
            continue
        line = np.moveaxis(model.log_channel, i, -1)[place]
        by = _pair(model, place, i, int(np.argmax(line)), int(np.argmin(line)))
        largest = model.attained(float(spread[place]), by)
    return largest


def _pair(model: LawAndChannel, place: Index, record: int, value: int, other: int) -> Witness:
    return Witness(
        outcome=place[-1],
        record=record,
        known=tuple(j for j in range(model.records) if j != record),
        known_values=place[:-1],
        records=(record,),
        likely=(value,),
        unlikely=(other,),
    )


def group_privacy(model: LawAndChannel) -> tuple[AttainedLevel, ...]:
    """The level for groups of 1, 2, .., n records: databases that differ in at most so many.

    Moving one record at a time reaches every database within that distance, so the largest
    probability within distance k comes from that within k - 1 by one maximum along each axis.
    """
    logs = model.log_channel
    reach, out = logs, []
    for size in range(1, model.records + 1):
        reach = np.maximum.reduce(
            [
                np.broadcast_to(reach.max(axis=i, keepdims=True), reach.shape)
                for i in range(model.records)
            ]
        )
        spread = gap(reach, logs)
        place = pick(spread)
        if spread[place] < 0.0:
            out.append(NOTHING)
            continue
        near = _within(logs[..., place[-1]], place[:-1], size)
        likely = pick_high(near)
        everyone = tuple(range(model.records))
        by = Witness(place[-1], records=everyone, likely=likely, unlikely=place[:-1])
        out.append(model.attained(float(spread[place]), by))
    return tuple(out)


def _within(logs: Floats, centre: Index, distance: int) -> Floats:
    """NaN outside the databases that differ from the centre in at most `distance` records."""
    grid = np.indices(logs.shape)
    differing = sum((grid[j] != centre[j]).astype(int) for j in range(logs.ndim))
    return np.where(np.asarray(differing) <= distance, logs, np.nan)


def uniform(model: LawAndChannel) -> LawAndChannel:
    """The same channel where every database is equally probable: independent, full support."""
    return LawAndChannel(np.full(model.sizes, 1.0 / model.joint.size), model.channel)


def strong_adversary(model: LawAndChannel) -> AttainedLevel:
    """Posterior odds against prior odds for somebody who knows all other records, any prior.

    The prior cancels, so any prior of full support will do: the uniform prior.
    """
    return by_adversary(uniform(model), "informed")


def independent_records(model: LawAndChannel) -> AttainedLevel:
    """BDP (any adversary) over all product laws.

    Reached by each product law of full support, hence by the uniform one (theory 5.1 c).
    """
    return by_adversary(uniform(model), "any")


def by_adversary(model: LawAndChannel, adversary: Adversary) -> AttainedLevel:
    """BDP for one class of adversaries."""
    return bayesian(model)[adversary]


def bayesian(model: LawAndChannel) -> dict[Adversary, AttainedLevel]:
    """BDP for all classes of adversaries, by the tensor engine (theory 3.9 a)."""
    levels = tensor_leakage(model.joint, model.channel).levels
    return {
        name: model.attained(level.bdp.value, _attack(level.attained))
        for name, level in levels.items()
    }


def _attack(attained: Attained | None) -> Witness | None:
    if attained is None:
        return None
    return Witness(
        outcome=attained.outcome,
        record=attained.record,
        known=attained.known,
        known_values=attained.known_values,
        records=(attained.record,),
        likely=(attained.value,),
        unlikely=(attained.other,),
    )
