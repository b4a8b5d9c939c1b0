"""Semantic privacy, and its Bayesian form: how a record changes posteriors (theory 5.1 d, e).

A belief meets two mechanisms: the real one, with likelihood `P_0`, and the one in which record `i`
is replaced by the default, with `P_i`. One posterior is the other reweighted by `r = P_0 / P_i`, so
a level is a range of `ln r`.

#### d. Semantic privacy (`sp`)

**Lemma (reweighting).** Let `p` be a law on finitely many points, `r >= 0` weights with `m =
E_p[r] > 0`, `q = r p / m`, and `R = r_max / r_min` over the points that `p` can have. Then `TV(p,
q) <= tanh(ln(R) / 4)`, and the supremum over `p` is that number. **Proof.** `TV(p, q) = q(A) -
p(A)` for `A = {r > m}`. With `a = p(A)`: `q(A) <= a r_max / m` and `q(not A) >= (1 - a) r_min / m`,
so `q(A) / q(not A) <= R a / (1 - a)` and the distance is at most `R a / (R a + 1 - a) - a`. This is
largest at `a = 1 / (1 + sqrt R)`, where it is `(sqrt R - 1) / (sqrt R + 1) = tanh(ln(R) / 4)`. All
steps are equalities if `p` sits on a point of weight `r_max`, with probability `a`, and one of
weight `r_min`. If `r_min = 0` the bound is 1, approached as `a` tends to 0. ∎

Beliefs `b` are all laws on databases. Two posteriors after output `y`: `b_0 ~ b(x) P[y | x]`, and
`b_i ~ b(x) P[y | x_-i, d]`, from the mechanism run on the table with record `i` replaced by the
default `d`. The level is the largest total variation distance between them, over beliefs, records
and outputs. Let `r(x) = P[y | x] / P[y | x_-i, d]`, leaving out databases where both are 0, which
neither posterior contains. Then

    level = max over i, y of tanh( ( max over x of ln r(x)  -  min over x of ln r(x) ) / 4 ),

`x` ranging over *all* databases: the two extremes may differ in the other records too. **Proof.**
If the default's likelihood is positive, `b_i` can be any law `p` on these databases (take `b ~ p /
P[y | x_-i, d]`), and `b_0` is `p` reweighted by `r`: the lemma. If `P[y | u] > 0 = P[y | u_-i, d]`
for some `u`, and `v` has a positive default likelihood, beliefs that put nearly everything on `u`
and the rest on `v` have `b_i` on `v` and `b_0` nearly all on `u`: level 1, which is what the
formula says with `r(u)` infinite. ∎ *An output that the default makes impossible* whatever the
other records are, while some real database does not, has no second posterior. We say level 1.
Leaving such outputs out would make "SP implies DP" false: one record, `P[. | d] = (0, 1)`, `P[. |
a] = (1/2, 1/2)`, where the second output alone has level `tanh(ln(2) / 4) = 0.1716`, and the DP
level is infinite. `d` is given, or the level is the largest over all values.

#### e. Bayesian semantic privacy (`bsp`)

For a record `i` and a set `S` of others, beliefs are all laws on `(x_i, x_S)` where `pi` is
positive; the records outside follow `pi` given `(x_i, x_S)`. The comparison posterior is the one
for a record `i` that *is* the default: likelihood `P[y | d, x_S]`, the rest under `pi( . | d,
x_S)`; so `pi(d, x_S) > 0` is required. As in d, the level is `tanh(range / 4)` for the range of

    ln r(x_i, x_S) = ln P[y | x_i, x_S] - ln P[y | d, x_S]

over all `(x_i, x_S)` at once, for the worst `i`, `S`, `y`. The extended tensor of 3.9 a holds all
terms; subtracting the default's slice along axis `i` and collapsing every other axis to two slots
(extremes over its values; the sum's slot) gives every `S` at once. If the default is impossible
beside some `x_S`, nothing is said about this `x_S`, and the profile says so; a default that record
`i` never has is refused. *If `x_S` is known* the range is taken over `x_i` alone, the default
cancels, and the level is `tanh(e / 4)` for the BDP level `e`, exactly (`bsp_known`). *Another
reading* replaces the record in the table and keeps the rest under `pi( . | x_i, x_S)`. Its weights
are quotients of averages under one law, so every eps-DP mechanism has level at most `tanh(eps / 2)`
there whatever `pi` is, and no BDP level can follow from it.
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
