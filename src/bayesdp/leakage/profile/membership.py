"""Positive membership privacy: how the probability of a value can change (theory 5.1 f).

The two conditions at a level, `P[x_i | y] <= e^level P[x_i]` and `P[not x_i | y] >= e^-level
P[not x_i]`, are bounds on `rho = P[y | x_i] / P[y | not x_i]`.

#### f. Membership privacy (`mp`, positive)

With `b = P[x_i]` and `rho = P[y | x_i] / P[y | not x_i]`, all given `x_S`: `P[x_i | y] <= e^e b`
says `rho <= e^e (b rho + 1 - b)`, which is `rho <= (1 - b) / (e^-e - b)` for `b < e^-e` and nothing
above; `P[not x_i | y] >= e^-e (1 - b)` says `b rho + 1 - b <= e^e`, which is `rho <= (e^e - 1 + b)
/ b`. The two bounds meet at `b = 1 / (1 + e^e)`, below which the first is the smaller one. So
(Lemma 1 of Zhao 2019) the level is `e` if and only if `rho <= g(b)`,

    g(b) = (1 - b) / (e^-e - b)  for  b <= 1 / (1 + e^e),    (e^e - 1 + b) / b  above,

and one belief has level `max( ln(rho / m), ln m )`, `m = b rho + 1 - b` (`mp_of_prior` takes `pi`'s
own beliefs, every known `x_S` included). *Over all beliefs on `x_i`, given a known `x_S`*, the rest
under `pi`: `g(b) >= e^e` always, with the limit `e^e` as `b` tends to 0 or 1, and `rho` is at most
the largest quotient `P[y | x_i, x_S] / P[y | x_i', x_S]`, which beliefs on those two values reach.
So the level is that of BDP (any adversary), as a limit. *Beliefs on `(x_i, x_S)` jointly* would be
another notion, which BDP does not imply: under `pi` two fair independent bits, both published
through randomized response with eps = 1, have BDP level 1; a believer in `X_1 = X_2` has `rho =
e^2`, hence level 1.9381 at `b = 0.01`, and 2 in the limit. We take the first reading, because the
belief's `x_S` is what the adversary knows, and because Zhao's "e-BDP implies e-MP" is false in the
second.
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


def membership_privacy(model: LawAndChannel) -> AttainedLevel:
    """The level over all beliefs on the attacked record, given any known others.

    At belief b -> 0 in one value against one other value the first condition tends to
    `rho <= e^level`, so the level is the range of `ln P[y | x_i, x_K]`: that of BDP, as a limit.
    """
    largest = NOTHING
    for i in range(model.records):
        logs = model.values_of(model.logs, i)
        spread = gap(*extremes(logs, i))
        place = pick(spread)
        if not worse(float(spread[place]), largest):
            continue
        line = np.moveaxis(logs, i, -1)[place]
        known, values = model.known_at((*place[:i], 0, *place[i:]), i)
        by = Witness(
            place[-1],
            record=i,
            known=known,
            known_values=values,
            records=(i,),
            likely=(int(np.nanargmax(line)),),
            unlikely=(int(np.nanargmin(line)),),
            belief=0.0,
            limit=bool(spread[place] > 0.0),
        )
        largest = model.attained(float(spread[place]), by)
    return largest


def membership_privacy_of_prior(model: LawAndChannel) -> AttainedLevel:
    """The level for the population's own belief, given any known others. It is attained."""
    largest = NOTHING
    for i in range(model.records):
        logs = np.moveaxis(model.logs, i, 0)
        mass = np.moveaxis(model.mass, i, 0)
        size = model.sizes[i]
        for value in range(size):
            others = np.array([v for v in range(size) if v != value], dtype=int)
            against = _mixed(logs[others], mass[others])
            with np.errstate(invalid="ignore"):
                up, down = logs[value] - logs[size], logs[size] - against
            # A certain or excluded value can't be learned: NaN in either difference.
            levels = np.where(np.isnan(up) | np.isnan(down), -1.0, np.maximum(up, down))
            place = pick(levels)
            if not worse(float(levels[place]), largest):
                continue
            belief = float(mass[(value, *place[:-1])] / mass[(size, *place[:-1])])
            known, values = model.known_at((*place[:i], 0, *place[i:]), i)
            by = Witness(place[-1], i, None, known, values, (i,), (value,), belief=belief)
            largest = model.attained(float(levels[place]), by)
    return largest


def _mixed(logs: Floats, mass: Floats) -> Floats:
    """`ln P[y | not x_i, x_K]` from those of the other values; NaN if none is possible."""
    total = mass.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.fmax.reduce(logs, axis=0, initial=-np.inf)
        shift = np.where(np.isfinite(top), top, 0.0)
        parts = np.where(mass[..., None] > 0.0, mass[..., None] * np.exp(logs - shift), 0.0)
        out: Floats = np.log(parts.sum(axis=0) / total[..., None]) + shift
    return np.where(total[..., None] > 0.0, out, np.nan)
