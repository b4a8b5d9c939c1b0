"""Stationary Gaussian AR(1) series.

#### d. Stationary AR(1) (new)

**Statement** (theorem `autoregressive`). Under the hypotheses of 3.8 (a mechanism that is Lipschitz
in the clipped values, secrets in the clipping interval), for a stationary series with `X_(t+1) =
phi X_t + noise`, `|phi| < 1`, `L(eps) <= eps (1 + |phi|) / (1 - |phi|)`, for every length, also
with gaps. A series of `n` records has the smaller factor `max_i sum_j |phi|^|i - j|`.

**Proof.** Let `j` be an unknown record at distance `d` to the right of `i`. If the nearest known
record to the right is at distance `D > d`, the coefficient of `x_i` in the regression of `X_j` is
`phi^d (1 - phi^(2(D - d))) / (1 - phi^(2D))`; if there is none it is `phi^d`. Either is at most
`|phi|^d` in size. A record beyond a known one has coefficient 0. A stationary AR(1) is reversible,
so the left-hand side is the same. By 3.8 b the factor is at most `1 + 2 (|phi| + |phi|^2 + ...)`.
Records that are absent only remove terms. ∎

*Not for other starts:* with `phi = 0.1` and `X_1` of variance 10,000 the leakage at eps 1 is 1.9964
(secret values of `X_2` at the ends of [-3, 3]) where 1.2222 would be claimed, because `X_2` tells
almost everything about `X_1`. Such series go to 3.8 b.
"""

from __future__ import annotations

from typing import Any

from bayesdp.leakage.normal import autoregressive_factor
from bayesdp.numbers import UpperBound
from bayesdp.populations import Autoregressive
from bayesdp.theorems.gaussian import FactorTheorem


class AutoregressiveSeries(FactorTheorem[Autoregressive]):
    """Factor `(1 + |phi|) / (1 - |phi|)`, less for short series (theory 3.8 d)."""

    name = "autoregressive"
    statement = "a stationary AR(1) series: at most (1 + |phi|)/(1 - |phi|) eps, less if short"
    source = "bayesdp; theory 3.8 d"
    uses = "the coefficient and the length"
    ignores = "nothing but the shape of the mechanism"
    models = (Autoregressive,)

    def factor(self, population: Autoregressive) -> tuple[UpperBound, dict[str, Any]]:
        """The largest sum of `|phi|^|i - j|`. The start is stationary by declaration."""
        return autoregressive_factor(population.coefficient, population.length), {}
