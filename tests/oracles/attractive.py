"""Exact levels of attractive two-state models, by enumeration and without a linear program.

Spins `s` of -1 and 1, a law proportional to `exp(sum J_uv s_u s_v + sum h_v s_v)`, all `J_uv >= 0`,
`h` of any sign (a record that is known is a field on its neighbours). Then the worst eps-DP
mechanism, for each attack, is the one whose outcome has the probability `C e^(eps N)` or `C
e^(-eps N)`, `N` the number of ones: a count.

Proof. Let `F_u`, `u = -1, 1`, be the likelihood of an outcome given `s_i = u` and the other unknown
spins. Scale the couplings of `i` by `t`, from 0 to 1. At `t = 0` the other spins have one law,
so `ln E_1 F_1 / E_-1 F_-1 <= eps`, with equality for `G = e^(eps N)`. The derivative in `t` is

    sum over v of J_vi [(E_(1,F) s_v - E_1 s_v) + (E_(-1,F) s_v - E_-1 s_v)],

`E_(u,F)` the law tilted by `F_u`. Tilted by `G_u` it is attractive too, so that increasing
functions are positively correlated (FKG), and `F_u / G_u` decreases in each spin by DP: hence
`E_(u,F) s_v <= E_(u,G) s_v`, and the derivative is largest for `G`. For the other order of the two
values turn all spins. ∎

Nothing here knows a theorem of the package.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np


def spins(records: int) -> np.ndarray:
    """All configurations, a row each."""
    return np.array(list(itertools.product((-1, 1), repeat=records)))


def weights(couplings: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """The law, as `spins` lists it. `couplings` is symmetric with a zero diagonal."""
    s = spins(len(fields))
    energy = np.einsum("ka,ab,kb->k", s, couplings, s) / 2 + s @ fields
    law = np.exp(energy - energy.max())
    return law / law.sum()


def grid(rows: int, columns: int, coupling: float) -> np.ndarray:
    """The couplings of a grid: records row by row, the same coupling of all neighbours."""
    places = list(itertools.product(range(rows), range(columns)))
    apart = np.array([[abs(a - c) + abs(b - d) for c, d in places] for a, b in places])
    return coupling * (apart == 1)


def level(
    couplings: np.ndarray, fields: np.ndarray, record: int, known: np.ndarray, epsilon: float
) -> float:
    """What a mechanism can leak about `record` at most; `known` has -1, 1, or 0 for not known."""
    assert (couplings >= 0.0).all()
    assert known[record] == 0
    s, law = spins(len(fields)), weights(couplings, fields)
    possible = ((known == 0) | (s == known)).all(axis=1)
    s, law = s[possible], law[possible]
    up, ones = s[:, record] > 0, (s > 0).sum(axis=1)

    def leak(sign: int) -> float:
        tilted = law * np.exp(sign * epsilon * ones)
        higher = tilted[up].sum() / law[up].sum()
        return sign * float(np.log(higher / (tilted[~up].sum() / law[~up].sum())))

    return max(leak(1), leak(-1))


def adversaries(records: int, record: int) -> Iterator[np.ndarray]:
    """Everything that may be known of the other records."""
    for other in itertools.product((0, -1, 1), repeat=records - 1):
        yield np.insert(np.array(other, dtype=int), record, 0)
