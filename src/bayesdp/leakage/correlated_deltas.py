"""Delta under correlation: one formula for every population (theory 3.10).

If `L` is a level of every eps-DP mechanism, then every `(eps, delta)`-DP mechanism has the level
`(L, delta')`, `delta' = delta (e^L - 1) / (e^eps - 1)`.

### 3.10 Approximate DP: delta in one line (new)

**Statement.** Let `L` be a level of every `eps`-DP mechanism, `eps > 0`, by whatever theorem about
mechanisms of any kind. Then an `(eps, delta)`-DP mechanism satisfies, for every set `A` of outputs,
all values and every adversary `(i, K)` that `L` is about,

```text
P[Y in A | x_i, x_K] <= e^L P[Y in A | x_i', x_K] + delta (e^L - 1) / (e^eps - 1).
```

**Proof.** Let `g(x) = P[Y in A | x]` and `t = delta / (e^eps - 1)`. For adjacent databases `g(x) +
t <= e^eps g(x') + delta + t = e^eps (g(x') + t)`: so `g + t` is log-Lipschitz with `eps`, and by
2.1 its means for two secrets are within a factor of `e^L`. That is `E[g | x_i, x_K] + t <= e^L
(E[g | x_i', x_K] + t)`. Subtract `t`. ∎

No population, recursion or graph needs a form of its own: clusters of at most m get `delta (e^(m
eps) - 1) / (e^eps - 1)`, independent records and informed adversaries `delta` itself, and a family
the level and the delta of its worst member. At an `eps` of 0 the delta of a cluster is `m delta`. A
delta of 1 or more says nothing and is refused. What needs more than 2.1 doesn't convert: the
factors of Gaussian populations are for mechanisms that are Lipschitz in the values, and
`markov-count` is about one mechanism. For a given theorem the delta need not grow with `eps`, as
`L` may grow more slowly.

*Where it is exact.* Let `L` be the exact level of n records and `delta <= (e^eps - 1) / (e^(n
eps) + e^((n - 1) eps) - 2)`. Scale the worst log-Lipschitz function `h` so that its least value is
`t`: then `h <= t e^(n eps)`, and `g = h - t` is an event's probability under an `(eps, delta)`-DP
mechanism. It is at least 0 and at most 1; `g(x) <= e^eps g(x') + delta` by what `t` is; and for the
complement `e^eps h(x') - h(x) <= (e^eps - e^-eps) t e^(n eps) <= e^eps - 1 + 2 delta`. For larger
deltas the formula is loose.

*With zCDP costs* `(E, R)` of 2.5, sharper than through a pair; in 2.5 and 2.6 put `tau` for `E +
alpha R`:

* *Clusters* of at most m: `tau = m E + alpha m^2 R`.
* *Independent records*, and *informed* adversaries of any population: `tau = E + alpha R`.
* *Gaussian populations:* 3.8 e.

**Proof of these.** Given what the adversary knows, the laws of the outputs for two secrets are
mixtures, with the same weights, of the laws for pairs of databases `(x, x')`: draw the unknown
records for one secret and, coupled with them, for the other. If each such pair has `D_alpha <=
tau`, each has `P(S) <= e^epsilon Q(S) + delta` by 2.5, and so have the mixtures: the inequality is
linear. (Rényi divergences are jointly quasi-convex too, so the mixtures have `D_alpha <= tau`
themselves.) Pairs in a cluster differ in `m` records. A pure step then has `z <= m eps`, and one of
cost `rho` has `D_alpha <= alpha m^2 rho` (Bun & Steinke, Proposition 1.9; for Gaussian noise at
once, since m shifts of `D` are one of at most `m D`). Compose along the answers as in 2.5, for this
pair. ∎ For every other theorem a point of the DP curve of `(E, R)` is converted. Which one is
searched: levels grow with the point's epsilon, so it is the point with the largest delta that,
converted, keeps to the level's.

**Why it matters.** Gaussian noise, zCDP and the accountants of privacy loss distributions become
usable under correlation: account in DP, convert the resulting pair once. Their whole curve
`delta(eps)` is at one's disposal, so `bayesdp calibrate --delta` searches the point from which the
conversion needs the least noise. The curve is that of the *discrete* Gaussian: for an integer shift
`s` it is the sum, over integers `x`, of the positive part of `P[X = x - s] - e^eps P[X = x]`,
computed as `P[X = x - s] (1 - e^(eps - loss(x)))` with the loss rounded up, since a difference of
two nearly equal laws would lose its digits. It grows with the shift: the best sets are half-lines,
and `P[X > a - s]` grows with `s`. The continuous curve (Balle and Wang, ICML 2018) is not a bound
for it: at sensitivity 1 and eps 1 it asks for `sigma = 3.73063` at `delta = 1e-5`, where integers
have 1.03457e-5.

*Checked:* against the linear program over all events of all `(eps, delta)`-DP mechanisms, on 500
random models of every kind, and against random channels that aren't pure: never below
([tests](../tests/theorems/test_delta.py)).
"""

from __future__ import annotations

import math

from bayesdp.notions import ApproxDP
from bayesdp.numbers import ZERO, UpperBound, times_above, up

_LARGEST_EXPONENT = 700.0
"""Levels above it have an infinite growth factor: their exponential is beyond the doubles."""


def growth(level: float, dp_epsilon: float) -> UpperBound:
    """`(e^L - 1) / (e^eps - 1)`, rounded up: the factor by which correlation enlarges a delta.

    `level`, in nats, is a level of all mechanisms of cost `dp_epsilon > 0`; 1 where it is not above
    that cost. Infinite if too large for a double.
    """
    if level <= dp_epsilon:
        return UpperBound(1.0)
    if not level <= _LARGEST_EXPONENT:
        return UpperBound(math.inf)
    return UpperBound(up(math.expm1(level) / math.expm1(dp_epsilon), 16))


def converted_delta(level: float, cost: ApproxDP, group_size: int) -> UpperBound:
    """The delta of the level of mechanisms of this cost, rounded up.

    `level` is as in `growth`. At an epsilon of 0 the delta adds up over the `group_size`
    records that may depend on each other. May exceed 1, and then says nothing; infinite for a level
    that is NaN. Source: theory 3.10.
    """
    if cost.delta == 0.0:
        return ZERO
    if cost.epsilon == 0.0:
        return times_above(group_size, cost.delta)
    if level <= cost.epsilon:
        return cost.delta
    return UpperBound(up(growth(level, cost.epsilon) * cost.delta, 1))


def group(size: int, cost: ApproxDP) -> ApproxDP:
    """The cost of a group of `size` records: `(m eps, delta (e^(m eps) - 1) / (e^eps - 1))`.

    `m` is `size`, `(eps, delta)` is `cost`. Rounded up. Source: theory 3.10.
    """
    level = times_above(size, cost.epsilon)
    return ApproxDP(level, converted_delta(level, cost, size))
