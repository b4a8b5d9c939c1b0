"""From Rényi divergences to (epsilon, delta), rounded up (theory 2.5).

`reserve(alpha, delta)` is the `k` of one order below, so that `epsilon = tau + reserve`. A zCDP
cost `rho` beside a pure one `eps` has `tau = eps + alpha rho` for every `alpha`.

### 2.5 Gaussian noise: zCDP beside pure costs

A Gaussian mechanism has no pure cost. It has a zCDP cost `rho` (Bun & Steinke 2016): for adjacent
databases the Rényi divergence of every order `alpha > 1` is at most `alpha rho`. Discrete Gaussian
noise of parameter `sigma` on integers that move by at most `D` in l2 when one record is replaced
has `rho = D^2 / (2 sigma^2)` (Canonne, Kamath & Steinke, NeurIPS 2020, Theorem 4 and its form for
vectors; here CKS). A data set therefore keeps two sums, `(E, R)`: of the pure costs and of the zCDP
costs.

**Conversion of one order** (CKS, Proposition 12). If `D_alpha(P || Q) <= tau`, then `P(S) <=
e^epsilon Q(S) + delta` for all `S`, with

```text
delta = e^((alpha - 1)(tau - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha,   that is
epsilon = tau + k(alpha, delta),   k = (ln(1/delta) - ln alpha) / (alpha - 1) + ln(1 - 1/alpha).
```

**Proof.** With `z = ln P/Q` the least `delta` is `E_P[(1 - e^(epsilon - z))+]`, and
`E_P[e^((alpha - 1) z)] <= e^((alpha - 1) tau)`. Put `w = e^(epsilon - z)` in `(0, 1)`: `(1 - w) =
(1 - w) w^(alpha - 1) e^((alpha - 1)(z - epsilon))`, and `(1 - w) w^(alpha - 1)` is largest at `w =
1 - 1/alpha`, where it is `(1 - 1/alpha)^alpha / (alpha - 1)`. ∎ The bound is attained by two points
for each single `alpha`. bayesdp raises `k` to 0 where it would be negative (a delta above about
`1/(e alpha)`).

**Composition.** Mechanisms with sums `(E, R)`, each chosen in view of earlier answers but with
costs fixed beforehand, have `D_alpha <= E + alpha R` for every `alpha`: so together they are `(E +
e, delta)`-DP for every point `(e, delta)` of the curve of `R`. *Proof.* Condition on the earlier
answers: a step's `E[e^((alpha - 1) z)]` is at most `e^((alpha - 1) eps)` if it is pure, since `z <=
eps`, and `e^((alpha - 1) alpha rho)` otherwise; multiply from the last step backwards. ∎ A pure
mechanism is also `eps^2/2`-zCDP (Bun & Steinke, Proposition 1.4), which is less once `alpha <
2/eps`: the level is the lower of the two counts, `(E, R)` and `(0, R + sum of eps^2/2)`. Any
`alpha` may be chosen, since costs are fixed. Those that reach a given epsilon are an interval,
because `ln delta` is convex in `alpha`, so a golden section finds the best one. The certificate
names it, and the kernel evaluates the formula there in balls.

*Checked:* against the privacy loss distributions of Google's dp-accounting for the same noise:
never below, and within 30 %; against random pairs of laws, which come within 10 % of the `delta` of
one order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bayesdp.notions import Cost
from bayesdp.numbers import UNIT, Estimate, UpperBound, largest, up

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_SMALLEST_ORDER, _LARGEST_ORDER = math.log(1e-6), math.log(1e15)
"""The logarithms of `alpha - 1` between which the best order is searched."""
_ROUNDS = 50
"""The steps of a golden section; any order proves a level, the best one the least."""


def reserve(alpha: float, delta: float) -> float:
    """How far `epsilon` must lie above `D_alpha` for this `delta`, rounded up; at least 0.

    `alpha > 1`, `0 < delta < 1`; in nats. Source: Canonne, Kamath & Steinke, NeurIPS 2020,
    Proposition 12; theory 2.5. It could be negative only where `delta > 1/(e alpha)`; 0 keeps a
    level above that of its pure part.
    """
    excess = alpha - 1.0
    above, below = -math.log(delta), math.log(alpha)
    value = (above - below) / excess - math.log1p(1.0 / excess)
    error = 16.0 * UNIT * ((above + below) / excess + math.log1p(1.0 / excess))
    return largest(0.0, math.nextafter(value + error, math.inf))


@dataclass(frozen=True, slots=True)
class LevelAtOrder:
    """An `epsilon`, rounded up, and the Rényi order `alpha` that shows it."""

    epsilon: UpperBound
    alpha: float


@dataclass(frozen=True, slots=True)
class CostAtOrder:
    """About the largest zCDP cost `rho` that is allowed, and the Rényi order `alpha` for it."""

    rho: Estimate
    alpha: float


def least_epsilon(tau: Callable[[float], UpperBound], delta: float) -> LevelAtOrder:
    """The least `tau(alpha) + reserve(alpha, delta)` found, rounded up, and its `alpha`.

    `tau` is a bound on `D_alpha`, rounded up, such that `(alpha - 1) tau(alpha)` is convex: then
    the `alpha` that reach a given `epsilon` are an interval, and a golden section finds it.
    """
    alpha = least(lambda order: tau(order) + reserve(order, delta))
    return LevelAtOrder(UpperBound(up(tau(alpha) + reserve(alpha, delta), 1)), alpha)


def largest_rho(epsilon: float, delta: float) -> CostAtOrder:
    """About the largest zCDP cost that is `(epsilon, delta)`-DP, and the `alpha` that shows it.

    Nothing is proved by it: whoever spends it computes its level anew. Source: theory 2.5.
    """
    alpha = least(lambda order: (reserve(order, delta) - epsilon) / order)
    return CostAtOrder(Estimate((epsilon - reserve(alpha, delta)) / alpha), alpha)


def least(value: Callable[[float], float]) -> float:
    """The `alpha` of the least value found, for a function that falls and then rises."""
    low, high = _SMALLEST_ORDER, _LARGEST_ORDER
    first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_first, at_second = value(1.0 + math.exp(first)), value(1.0 + math.exp(second))
    for _ in range(_ROUNDS):
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first = high - _GOLDEN * (high - low)
            at_first = value(1.0 + math.exp(first))
        else:
            low, first, at_first = first, second, at_second
            second = low + _GOLDEN * (high - low)
            at_second = value(1.0 + math.exp(second))
    return 1.0 + math.exp(first if at_first <= at_second else second)


def shifted(factor: float, rho: float, others: int, slack: float) -> UpperBound:
    """The zCDP cost where all records together move `factor` times as far as one does, rounded up.

    `slack` is what the grid's extra steps of one record cost on their own, `others` how many
    records beside the target move. Noise of variance `s2` costs `shift^2 / (2 s2)`, so square roots
    add, and for several mechanisms at once by Minkowski's inequality: costs may be summed before.
    """
    if slack == 0.0:
        return UpperBound(up(factor * factor * rho, 2))
    root = factor * math.sqrt(rho) + others * math.sqrt(slack)
    return UpperBound(up(root * root, 12))


def group_renyi(size: int, cost: Cost, alpha: float) -> UpperBound:
    """`m eps + alpha m^2 rho`: the Rényi divergence of order `alpha` where `m` records change.

    `size` is `m`; the cost is pure and zCDP. Rounded up.
    """
    return UpperBound(up(size * cost.dp_epsilon + alpha * (size * size * cost.rho), 5))
